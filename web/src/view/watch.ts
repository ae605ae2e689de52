// Curves of what is selected: one walk over all frames, from the one that is shown to the end and then back to the beginning, so
// that a contact is followed from frame to frame as the nearest one of its pair.
import type { FrameData } from "./data";
import type { Frames } from "./load";
import { contactQuantities, kineticEnergyOf, speedOf } from "./quantities";
import { nearest, type Pick } from "./selection";

type Kind = "contact" | "body" | "joint";

export interface Watched {
  key: string; kind: Kind; label: string; unit: string;
  answer: boolean; // one line for each solver
  of: (frame: FrameData, result: number, i: number) => number;
}

const size3 = (a: Float32Array, i: number) => Math.hypot(a[3 * i], a[3 * i + 1], a[3 * i + 2]);
const ofContact = ["impulse", "cone", "sliding", "energy", "friction", "gap"].map((key): Watched => {
  const quantity = contactQuantities.find((q) => q.key === key)!;
  return { key: `contact ${key}`, kind: "contact", label: quantity.label, unit: quantity.unit, answer: quantity.answer, of: quantity.of };
});

/** The first of each kind is what one sees first. */
export const watchable = (up: readonly number[]): Watched[] => [
  ...ofContact,
  { key: "body speed", kind: "body", label: "Speed", unit: "m/s", answer: false, of: (f, _r, i) => speedOf(f, i) },
  { key: "body kinetic", kind: "body", label: "Kinetic energy (translation)", unit: "J", answer: false, of: (f, _r, i) => kineticEnergyOf(f, i) },
  { key: "body spin", kind: "body", label: "Angular speed", unit: "rad/s", answer: false, of: (f, _r, i) => Math.hypot(...f.velocity.subarray(6 * i + 3, 6 * i + 6)) },
  { key: "body height", kind: "body", label: "Height", unit: "m", answer: false, of: (f, _r, i) => up.reduce((sum, u, k) => sum + u * f.position[3 * i + k], 0) },
  { key: "joint impulse", kind: "joint", label: "Impulse", unit: "N s", answer: true, of: (f, r, i) => size3(f.results[r].jointImpulse, i) },
  { key: "joint error", kind: "joint", label: "Position error", unit: "m", answer: false, of: (f, _r, i) => f.jointError[2 * i] },
];

export interface Line { name: string; values: (number | null)[] }

const PAUSE = 120; // ms between two times that the curves are shown while they grow

export class Watch {
  private walk = 0; // number of the walk; an older one ends
  lines = new Map<string, Line[]>();

  constructor(private readonly frames: Frames, private readonly grown: () => void) {}

  stop(): void {
    this.walk++;
    this.lines.clear();
  }

  /** Fills the lines of these quantities for what is selected. */
  async start(pick: Pick, from: number, results: readonly { name: string; index: number }[], wanted: readonly Watched[]): Promise<void> {
    const number = ++this.walk, count = this.frames.count, { kind, body } = pick, pair = [...pick.pair];
    this.lines = new Map(wanted.map((w) => [w.key, (w.answer ? results : [{ name: "", index: 0 }])
      .map((r): Line => ({ name: r.name, values: new Array<number | null>(count).fill(null) }))]));
    let shown = performance.now();
    for (const [begin, step] of [[from, 1], [from - 1, -1]]) {
      let point: number[] = [...pick.point];
      for (let i = begin; i >= 0 && i < count; i += step) {
        const frame = await this.frames.get(i).catch(() => null);
        if (number !== this.walk) return;
        if (!frame) continue;
        const at = kind === "body" ? frame.id.indexOf(body) : kind === "none" ? -1 : nearest(frame, kind, pair, point);
        if (at < 0) continue;
        if (kind !== "body") point = [...(kind === "joint" ? frame.jointPoint : frame.point).subarray(3 * at, 3 * at + 3)];
        for (const w of wanted) {
          this.lines.get(w.key)!.forEach((line, k) => {
            const value = w.of(frame, w.answer ? results[k].index : 0, at);
            line.values[i] = Number.isFinite(value) ? value : null;
          });
        }
        if (performance.now() - shown < PAUSE) continue;
        shown = performance.now();
        this.grown();
        await new Promise((done) => setTimeout(done));
        if (number !== this.walk) return;
      }
    }
    this.grown();
  }
}
