// Frames that deserve a look: where to begin, and the worst ones.
import type { Replay, Series } from "./data";

/** Errors, most telling first; relative ones compare between frames. */
const errors = ["relative_energy", "energy", "natural_map", "error"];
const BAD = 1e-4; // relative energy error from which an answer is worth beginning with

/** How wrong the answers of these solvers are: the largest of them, for each frame; null = no solver says. */
export function errorSeries(replay: Replay, solvers: readonly string[]): { name: string; values: Series["values"] } | null {
  const results = replay.results.filter((r) => solvers.includes(r.solver));
  for (const name of errors) {
    const found = results.flatMap((r) => r.series.find((s) => s.name === name) ?? []);
    if (found.length === 0) continue;
    const values = replay.frames.map((_f, i) => {
      const here = found.map((s) => s.values[i]).filter((v): v is number => v !== null && Number.isFinite(v));
      return here.length ? Math.max(...here) : null;
    });
    // Rounding is not an error.
    if (values.some((v) => v !== null)) return { name, values: name === "relative_energy" ? values.map((v) => (v !== null && v < 1e-9 ? 0 : v)) : values };
  }
  return null;
}

/** The frame to begin with: that of the largest error if a solver failed, else the first one, unless there is little to see
 * in it: then the first with nearly the most contacts. */
export function firstFrame(replay: Replay, solvers: readonly string[]): number {
  const error = errorSeries(replay, solvers);
  if (error?.name === "relative_energy") {
    const most = error.values.reduce<number>((m, v) => Math.max(m, v ?? 0), 0);
    if (most > BAD) return error.values.indexOf(most);
  }
  const contacts = replay.frames.map((f) => f.contacts), most = Math.max(0, ...contacts);
  return 3 * contacts[0] >= most ? 0 : contacts.findIndex((n) => n >= 0.9 * most);
}

/** Frames with the largest errors, worst first: peaks that lie apart and are at least a hundredth of the worst, at most `count`. */
export function worstFrames(values: Series["values"], count: number): number[] {
  const apart = Math.max(1, Math.round(values.length / 25)), chosen: number[] = [];
  const at = (i: number) => values[i] ?? 0, most = values.reduce<number>((m, v) => Math.max(m, v ?? 0), 0);
  // Of a plateau the beginning; rounding is not a peak.
  const peak = (i: number) => at(i) > 0 && at(i) >= 0.01 * most && !(at(i - 1) >= at(i) * (1 - 1e-6)) && !(at(i + 1) > at(i) * (1 + 1e-6));
  const order = values.map((_v, i) => i).filter(peak).sort((a, b) => at(b) - at(a) || a - b);
  if (order.length === 0 && most > 0) order.push(values.indexOf(most));
  for (const i of order) {
    if (chosen.length >= count) break;
    if (chosen.every((c) => Math.abs(c - i) >= apart)) chosen.push(i);
  }
  return chosen;
}
