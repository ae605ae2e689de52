// What is selected. A body is known by its id; a contact or a joint by the ids of its pair and where it was, so that the nearest
// one of the same pair is meant in another frame.
import type { FrameData } from "./data";

export interface Pick { kind: "none" | "body" | "contact" | "joint"; body: number; pair: [number, number]; point: [number, number, number] }

const sideOf = (frame: FrameData, pairs: Int32Array, i: number, side: 0 | 1) => {
  const body = pairs[2 * i + side];
  return body < 0 ? 0 : frame.id[body];
};

/** 0 = world. */
export const idOf = (frame: FrameData, contact: number, side: 0 | 1) => sideOf(frame, frame.pair, contact, side);
export const jointIdOf = (frame: FrameData, joint: number, side: 0 | 1) => sideOf(frame, frame.jointPair, joint, side);

/** The contact or joint of a pair that is nearest to a place; -1 = there is none. */
export function nearest(frame: FrameData, kind: "contact" | "joint", [a, b]: readonly number[], [x, y, z]: readonly number[]): number {
  const [pairs, points] = kind === "contact" ? [frame.pair, frame.point] : [frame.jointPair, frame.jointPoint];
  let best = -1, least = Infinity;
  for (let i = 0; 2 * i < pairs.length; i++) {
    const c = sideOf(frame, pairs, i, 0), d = sideOf(frame, pairs, i, 1);
    if (!((c === a && d === b) || (c === b && d === a))) continue;
    const away = (points[3 * i] - x) ** 2 + (points[3 * i + 1] - y) ** 2 + (points[3 * i + 2] - z) ** 2;
    if (away < least) [best, least] = [i, away];
  }
  return best;
}

export class Choice {
  pick: Pick = { kind: "none", body: 0, pair: [0, 0], point: [0, 0, 0] };
  index = -1; // of the contact or joint in the frame it was last found in; -1 = not there

  /** The index of the contact that is selected; -1 = none, or not in this frame. */
  get contact(): number {
    return this.pick.kind === "contact" ? this.index : -1;
  }

  get joint(): number {
    return this.pick.kind === "joint" ? this.index : -1;
  }

  clear(): void {
    this.pick.kind = "none";
    this.index = -1;
  }

  body(id: number): void {
    this.pick.kind = "body";
    this.pick.body = id;
    this.index = -1;
  }

  between(frame: FrameData, kind: "contact" | "joint", i: number): void {
    const id = kind === "contact" ? idOf : jointIdOf;
    this.pick.kind = kind;
    this.pick.pair = [id(frame, i, 0), id(frame, i, 1)];
    this.index = i;
    this.remember(frame);
  }

  /** Finds the contact or joint again in a frame. */
  find(frame: FrameData): void {
    const { kind, pair, point } = this.pick;
    if (kind !== "contact" && kind !== "joint") return;
    this.index = nearest(frame, kind, pair, point);
    if (this.index >= 0) this.remember(frame);
  }

  private remember(frame: FrameData): void {
    const points = this.pick.kind === "joint" ? frame.jointPoint : frame.point;
    for (let k = 0; k < 3; k++) this.pick.point[k] = points[3 * this.index + k];
  }
}
