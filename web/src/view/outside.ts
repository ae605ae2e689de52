// What scripts and tests may read as window.stickslip; they cannot change anything by it.
import type { FrameData, Replay } from "./data";
import { countStates } from "./legend";
import type { Picture } from "./picture";
import type { Choice } from "./selection";

export interface Inside {
  readonly replay: Replay; readonly frame: number; readonly playing: boolean; readonly data: FrameData | null;
  readonly picture: Picture | null; readonly choice: Choice; readonly shown: readonly { name: string; index: number }[];
}

export function outside(app: Inside): object {
  return Object.freeze({
    get frame() { return app.frame; },
    get frames() { return app.replay.frames.length; },
    get time() { return app.replay.frames[app.frame]?.time ?? null; },
    /** The frame is at hand, and shown. */
    get ready() { return app.data !== null; },
    get playing() { return app.playing; },
    /** Pictures a second, and pictures since the beginning. */
    get fps() { return app.picture?.rate ?? 0; },
    get drawn() { return app.picture?.drawn ?? 0; },
    /** Nothing moves, and the picture is drawn in full. */
    get still() { return app.picture?.still ?? true; },
    get picture() { return app.picture !== null; },
    get selection() {
      const { pick, index } = app.choice;
      return pick.kind === "body" ? { kind: "body", id: pick.body }
        : pick.kind === "none" ? { kind: "none" } : { kind: pick.kind, index, pair: [...pick.pair] };
    },
    get solvers() { return app.shown.map((a) => a.name); },
    /** For each solver that is shown, contacts of each state. */
    get counts() {
      return app.data ? app.shown.map((a) => countStates(app.data!, a.index, app.replay.states.length)) : [];
    },
    /** Contacts that have a mark in the first picture. */
    get marked() { return app.picture?.markedContacts() ?? []; },
    get camera() { return app.picture ? app.picture.orbit.camera.position.toArray() : null; },
    /** [id, x, y, z] of every body. */
    bodies: () => (app.data ? Array.from(app.data.id, (id, i) => [id, ...app.data!.position.subarray(3 * i, 3 * i + 3)]) : []),
    /** [x, y, z] of every contact. */
    contacts: () => (app.data ? Array.from(app.data.gap, (_g, i) => [...app.data!.point.subarray(3 * i, 3 * i + 3)]) : []),
    /** [x, y, z] of every joint that has a place. */
    joints: () => (app.data ? Array.from({ length: app.data.jointPair.length / 2 }, (_j, i) => [...app.data!.jointPoint.subarray(3 * i, 3 * i + 3)]) : []),
    /** Where a point of the scene is on the page. */
    locate: (x: number, y: number, z: number) => app.picture?.locate(x, y, z) ?? null,
  });
}
