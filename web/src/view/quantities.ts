// What can be told of a contact or a body by one number: for colours, the table and the panel.
import { number } from "../common/format";
import type { FrameData } from "./data";

export interface Quantity {
  key: string;
  label: string;
  unit: string;
  answer: boolean; // needs a result with impulses
  of: (frame: FrameData, result: number, i: number) => number;
}

const length3 = (a: Float32Array, i: number) => Math.hypot(a[3 * i], a[3 * i + 1], a[3 * i + 2]);

/** |f| / (mu n): 1 at the edge of the cone. NaN where no impulse presses. */
export function coneUse(frame: FrameData, result: number, i: number): number {
  const r = frame.results[result], allowed = frame.mu[i] * r.impulse[i];
  const friction = length3(r.friction, i);
  if (!(allowed > 0)) return friction > 0 ? Infinity : NaN;
  return friction / allowed;
}

/** Of contacts; the first four need a solver's answer. */
export const contactQuantities: Quantity[] = [
  { key: "energy", label: "Energy error", unit: "J", answer: true, of: (f, r, i) => f.results[r].energy[i] },
  { key: "impulse", label: "Normal impulse", unit: "N s", answer: true, of: (f, r, i) => f.results[r].impulse[i] },
  { key: "friction", label: "Friction impulse", unit: "N s", answer: true, of: (f, r, i) => length3(f.results[r].friction, i) },
  { key: "sliding", label: "Sliding speed", unit: "m/s", answer: true, of: (f, r, i) => length3(f.results[r].sliding, i) },
  { key: "cone", label: "Cone use |f|/(\u00b5n)", unit: "", answer: true, of: coneUse },
  { key: "penetration", label: "Penetration", unit: "m", answer: false, of: (f, _r, i) => Math.max(0, -f.gap[i]) },
  { key: "gap", label: "Gap", unit: "m", answer: false, of: (f, _r, i) => f.gap[i] },
  { key: "mu", label: "Friction coefficient", unit: "", answer: false, of: (f, _r, i) => f.mu[i] },
];

export const speedOf = (f: FrameData, i: number) =>
  Math.hypot(f.velocity[6 * i], f.velocity[6 * i + 1], f.velocity[6 * i + 2]);

/** Of the motion of the centre; the frames for the page carry no inertia. */
export const kineticEnergyOf = (f: FrameData, i: number) => 0.5 * f.mass[i] * speedOf(f, i) ** 2;

export const bodyQuantities: Quantity[] = [
  { key: "speed", label: "Speed", unit: "m/s", answer: false, of: (f, _r, i) => speedOf(f, i) },
  { key: "kinetic", label: "Kinetic energy (translation)", unit: "J", answer: false, of: (f, _r, i) => kineticEnergyOf(f, i) },
  { key: "apart", label: "Distance to the ghost", unit: "m", answer: false, of: (f, _r, i) => f.apart?.[i] ?? NaN },
  { key: "mass", label: "Mass", unit: "kg", answer: false, of: (f, _r, i) => f.mass[i] },
];

/** The largest value of a contact quantity at each body, into `worst`; NaN: no contact. */
export function worstOfBodies(frame: FrameData, result: number, quantity: Quantity, worst: Float32Array): void {
  worst.fill(NaN);
  for (let i = 0; i < frame.gap.length; i++) {
    const value = quantity.of(frame, result, i);
    if (Number.isNaN(value)) continue;
    for (let side = 0; side < 2; side++) {
      const body = frame.pair[2 * i + side];
      if (body >= 0 && !(worst[body] >= value)) worst[body] = value;
    }
  }
}

/** With its unit; infinite values of cone use have no other place to be told. */
export function withUnit(value: number | null | undefined, unit: string): string {
  if (value === Infinity) return "\u221e";
  return unit ? `${number(value, 4)} ${unit}` : number(value, 4);
}

/** The q-quantile of the first n of `values`, which are sorted in place. */
export function quantile(values: Float32Array, n: number, q: number): number {
  if (n === 0) return 0;
  const part = values.subarray(0, n).sort();
  return part[Math.min(n - 1, Math.floor(q * n))];
}
