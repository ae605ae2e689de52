// Scales of arrows and colours. They are taken from the frames around, and colours only grow: a picture that plays does not
// flicker, and two solvers beside each other share them.
import type { FrameData } from "./data";
import { scaleTo, type Scale } from "./palette";
import { bodyQuantities, quantile, type Quantity } from "./quantities";
import { quantityOf, worstQuantity, type Measure, type Settings } from "./stage";

/** At most this many frames, evenly spread. */
export function sample(frames: readonly FrameData[], most: number): FrameData[] {
  if (frames.length <= most) return [...frames];
  return Array.from({ length: most }, (_x, i) => frames[Math.round((i * (frames.length - 1)) / (most - 1))]);
}

const LONG = 0.26; // of the size of the scene: an arrow that only one in twenty exceeds; in crowds
const CROWDED = 2.6; // times the usual reach of a body, if that is less

/** Of a bar of force, m: it reaches into both bodies, but not through them. */
export const lengthOfBars = (size: number, reach: number) => (reach > 0 ? Math.min(0.25 * size, 0.9 * reach) : 0.15 * size);

/** How long arrows may be so that they do not hide each other. */
export const roomForArrows = (size: number, reach: number) => (reach > 0 ? Math.min(LONG * size, CROWDED * reach) : LONG * size);

/** Arrow lengths; null while no frame has an impulse. */
export function arrowScales(frames: readonly FrameData[], size: number, long: number, gravity: number): { force: number; slide: number } | null {
  let room = 0;
  for (const frame of frames) for (const r of frame.results) room += r.impulse.length + r.jointImpulse.length / 3;
  const forces = new Float32Array(room), speeds = new Float32Array(room);
  let n = 0;
  for (const frame of frames) {
    for (const r of frame.results) {
      for (let i = 0; i < r.impulse.length; i++) {
        const size_ = Math.hypot(r.impulse[i], r.friction[3 * i], r.friction[3 * i + 1], r.friction[3 * i + 2]);
        if (!(size_ > 0)) continue;
        forces[n] = size_;
        speeds[n++] = Math.hypot(r.sliding[3 * i], r.sliding[3 * i + 1], r.sliding[3 * i + 2]);
      }
      for (let k = 0; k < r.jointImpulse.length; k += 3) {
        const size_ = Math.hypot(r.jointImpulse[k], r.jointImpulse[k + 1], r.jointImpulse[k + 2]);
        if (size_ > 0) forces[n++] = size_;
      }
    }
  }
  if (n === 0) return null;
  const force = quantile(forces, n, 0.95), speed = quantile(speeds, n, 0.95);
  // What creeps should not look as if it ran: the speed of a fall from a thousandth of the scene is the least full scale.
  const least = 0.045 * Math.sqrt(2 * gravity * size);
  return { force: long / force, slide: long / Math.max(speed, least, 1e-12) };
}

interface Seen { low: number; high: number }

function widen(seen: Seen, value: number): void {
  if (!Number.isFinite(value)) return;
  seen.low = Math.min(seen.low, value);
  seen.high = Math.max(seen.high, value);
}

const finish = (seen: Seen, quantity: Quantity, log: boolean): Scale => {
  if (quantity.key === "cone") return { low: 0, high: 1, log: false };
  if (!(seen.high >= seen.low)) return scaleTo(1, 0, false);
  if (quantity.key === "gap") return { ...scaleTo(seen.high, seen.low, false), down: true };
  return scaleTo(seen.high, 0, log);
};

export class ColourScales {
  private key = "";
  private contact: Seen = { low: Infinity, high: -Infinity };
  private body: Seen = { low: Infinity, high: -Infinity };

  /** Takes a frame into account, and its neighbours when the choice of colours is new. */
  feed(frame: FrameData, around: readonly FrameData[], results: number[], set: Settings, measure: Measure): void {
    const key = `${set.colour} ${set.body} ${results.join(",")}`;
    const fresh = key !== this.key;
    if (fresh) {
      this.key = key;
      this.contact = { low: Infinity, high: -Infinity };
      this.body = { low: Infinity, high: -Infinity };
      for (const other of sample(around, 8)) this.take(other, results, set);
    }
    this.take(frame, results, set);
    const answers = frame.results.length > 0, quantity = quantityOf(set.colour, answers);
    if (quantity) measure.contact = finish(this.contact, quantity, set.log);
    const own = bodyQuantities.find((q) => q.key === set.body);
    if (own) measure.body = finish(this.body, own, own.key === "kinetic");
    else if (set.body === "worst") {
      const worst = worstQuantity(set, frame);
      measure.body = finish(this.body, worst, quantity ? set.log : true);
    }
  }

  private take(frame: FrameData, results: number[], set: Settings): void {
    const quantity = quantityOf(set.colour, frame.results.length > 0);
    const worst = set.body === "worst" ? worstQuantity(set, frame) : null;
    for (const r of results) {
      for (let i = 0; i < frame.gap.length; i++) {
        if (quantity) widen(this.contact, quantity.of(frame, r, i));
        if (worst) widen(this.body, worst.of(frame, r, i));
      }
    }
    const own = bodyQuantities.find((q) => q.key === set.body);
    if (own) for (let i = 0; i < frame.id.length; i++) widen(this.body, own.of(frame, 0, i));
  }
}
