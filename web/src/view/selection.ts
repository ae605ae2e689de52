// What is selected. A body is known by its id; a contact by the ids of its pair and where it was, so that the nearest contact of
// the same pair is meant in another frame.
import type { FrameData } from "./data";

export interface Pick { kind: "none" | "body" | "contact"; body: number; pair: [number, number]; point: [number, number, number] }

/** 0 = world. */
export const idOf = (frame: FrameData, contact: number, side: 0 | 1) => {
  const body = frame.pair[2 * contact + side];
  return body < 0 ? 0 : frame.id[body];
};

export class Choice {
  pick: Pick = { kind: "none", body: 0, pair: [0, 0], point: [0, 0, 0] };
  contact = -1; // index in the frame it was last found in; -1 = not there

  clear(): void {
    this.pick.kind = "none";
    this.contact = -1;
  }

  body(id: number): void {
    this.pick.kind = "body";
    this.pick.body = id;
    this.contact = -1;
  }

  ofContact(frame: FrameData, i: number): void {
    this.pick.kind = "contact";
    this.pick.pair = [idOf(frame, i, 0), idOf(frame, i, 1)];
    this.contact = i;
    this.remember(frame);
  }

  /** Finds the contact again in a frame. */
  find(frame: FrameData): void {
    if (this.pick.kind !== "contact") return;
    const [a, b] = this.pick.pair, [x, y, z] = this.pick.point;
    let best = -1, least = Infinity;
    for (let i = 0; i < frame.gap.length; i++) {
      const c = idOf(frame, i, 0), d = idOf(frame, i, 1);
      if (!((c === a && d === b) || (c === b && d === a))) continue;
      const away = (frame.point[3 * i] - x) ** 2 + (frame.point[3 * i + 1] - y) ** 2 + (frame.point[3 * i + 2] - z) ** 2;
      if (away < least) [best, least] = [i, away];
    }
    this.contact = best;
    if (best >= 0) this.remember(frame);
  }

  private remember(frame: FrameData): void {
    const at = 3 * this.contact;
    for (let k = 0; k < 3; k++) this.pick.point[k] = frame.point[at + k];
  }
}
