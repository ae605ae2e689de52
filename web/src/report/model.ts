// The report as the page uses it: the data, what the reader has chosen, and who wants to know when that changes.
import { plural, power } from "../common/format";
import { keep, list, unlist } from "./address";
import type { Advice, Metric, Report, Score, Series } from "./data";

export const DEFAULT_SHOWN = 8;

/** How a run is judged at a tolerance: "solved", "too inaccurate" (it ended as it should, above the tolerance), or the outcome. */
export interface Verdict {
  name: string;
  colour: string;
  summary: string;
}

const VERDICTS: Verdict[] = [
  { name: "solved", colour: "var(--o-solved)", summary: "the answer is within the tolerance" },
  {
    name: "too inaccurate",
    colour: "var(--o-inaccurate)",
    summary: "converged by the stop rule, but the answer is above the tolerance",
  },
  { name: "max iterations", colour: "var(--o-limit)", summary: "the iteration limit was reached first" },
  { name: "time limit", colour: "var(--o-time)", summary: "the time limit was reached first" },
  { name: "stalled", colour: "var(--o-stalled)", summary: "no further progress" },
  {
    name: "ray",
    colour: "var(--o-ray)",
    summary: "impulses can grow without bound: there is no solution, or none was found",
  },
  { name: "cancelled", colour: "var(--s7)", summary: "stopped from outside" },
  { name: "failed", colour: "var(--o-failed)", summary: "singular matrix, not a number" },
  { name: "crashed", colour: "var(--o-crashed)", summary: "ended by a signal" },
  { name: "hung", colour: "var(--o-hung)", summary: "did not stop at the time limit" },
  { name: "out of memory", colour: "var(--o-memory)", summary: "exceeded its memory limit" },
  { name: "broken", colour: "var(--o-broken)", summary: "rejected by the library; see the message" },
  { name: "not applicable", colour: "var(--o-refused)", summary: "the solver does not accept this kind of problem" },
  { name: "no run", colour: "var(--o-missing)", summary: "not run yet, or the problem has a fault" },
];
export const SOLVED = 0;
export const INACCURATE = 1;

export class Model {
  readonly live: number[] = []; // runs of series; the others are answers that were recorded
  readonly runsOf: number[][]; // of a series
  readonly runsOn: number[][]; // of a problem
  readonly verdicts: Verdict[];
  readonly refused: number; // index into verdicts
  readonly noRun: number;
  readonly shown: Set<number>;
  tabled: number[] = []; // series that the table shows, after its filters
  tolerance: number;
  private readonly byOutcome: number[];
  private readonly metrics = new Map<string, Metric>();
  private readonly listeners: (() => void)[] = [];

  constructor(readonly data: Report) {
    this.tolerance = data.mainTolerance;
    this.shown = new Set(data.series.slice(0, DEFAULT_SHOWN).keys());
    this.runsOf = data.series.map(() => []);
    this.runsOn = data.problems.map(() => []);
    for (let run = 0; run < data.runs.problem.length; run++) {
      if (data.runs.series[run] < 0) continue;
      this.live.push(run);
      this.runsOf[data.runs.series[run]]?.push(run);
      this.runsOn[data.runs.problem[run]]?.push(run);
    }
    for (const metric of data.metrics) this.metrics.set(metric.name, metric);
    this.verdicts = [...VERDICTS];
    // An outcome of a later program still gets a name and a colour.
    this.byOutcome = data.outcomes.map((name) => {
      const known = this.verdicts.findIndex((verdict) => verdict.name === name);
      return name === "converged" || name === "as recorded"
        ? INACCURATE
        : known >= 0
          ? known
          : this.verdicts.push({ name, colour: "var(--o-failed)", summary: "" }) - 1;
    });
    this.refused = this.verdicts.findIndex((verdict) => verdict.name === "not applicable");
    this.noRun = this.verdicts.findIndex((verdict) => verdict.name === "no run");
    this.keep();
  }

  /** Tolerance and series that are shown are part of the address. */
  private keep(): void {
    const { tolerances, mainTolerance, series } = this.data;
    keep("tolerance", {
      read: () => {
        const value = this.toleranceValue; // 1e-6, not 0.000001
        return this.tolerance === mainTolerance ? null : value < 1e-3 ? value.toExponential() : String(value);
      },
      apply: (value) => {
        const found = value === null ? mainTolerance : tolerances.findIndex((one) => one === Number(value));
        if (found >= 0) this.setTolerance(found);
      },
    });
    const usual = series.slice(0, DEFAULT_SHOWN).map((one) => one.label);
    keep("show", {
      read: () => {
        const labels = this.chosen().map((one) => series[one].label);
        return labels.length === usual.length && labels.every((one, i) => one === usual[i]) ? null : list(labels);
      },
      apply: (value) => {
        const wanted = new Set(value === null ? usual : unlist(value));
        this.showOnly([...series.keys()].filter((one) => wanted.has(series[one].label)));
      },
    });
  }

  get series(): Series[] {
    return this.data.series;
  }
  get runCount(): number {
    return this.live.length;
  }
  get toleranceValue(): number {
    return this.data.tolerances[this.tolerance];
  }

  /** At the tolerance of now. */
  get advice(): Advice {
    return this.data.advice[this.tolerance];
  }
  /** "relative energy error", or the name of another metric. */
  get measureName(): string {
    return this.data.measure === "relative_energy" ? "relative energy error" : this.data.measure.replaceAll("_", " ");
  }

  /** Below the title of a figure on paper: what it is about. */
  subject(): string {
    const usable = this.data.problems.filter((problem) => !problem.fault).length;
    return `${this.measureName} at most ${power(this.toleranceValue)}, ${plural(usable, "problem")}`;
  }
  /** Where a figure comes from. */
  source(): string {
    return `${this.data.title}. Made with stickslip ${this.data.stickslip}.`;
  }

  score(series: number): Score {
    return this.series[series].scores[this.tolerance];
  }
  cost(run: number): number | null {
    return this.data.runs.cost[this.tolerance]?.[run] ?? null;
  }
  metric(name: string, run: number): number | null {
    return this.data.runs.metrics[name]?.[run] ?? null;
  }
  worst(name: string, run: number): number | null {
    return this.data.runs.worst[name]?.[run] ?? null;
  }
  unit(name: string): string {
    return this.metrics.get(name)?.unit ?? "";
  }
  verdict(run: number, tolerance = this.tolerance): number {
    if ((this.data.runs.cost[tolerance]?.[run] ?? null) !== null) return SOLVED;
    const error = this.metric(this.data.measure, run);
    if (this.data.runs.series[run] < 0 && error !== null && Math.abs(error) <= this.data.tolerances[tolerance])
      return SOLVED;
    const verdict = this.byOutcome[this.data.runs.outcome[run]];
    // It converged, and there is nothing to judge: natural_map where nothing touches.
    return verdict === INACCURATE && this.metric(this.data.measure, run) === null ? this.refused : verdict;
  }
  isFailure(verdict: number): boolean {
    return verdict !== SOLVED && verdict !== this.refused && verdict !== this.noRun;
  }

  /** Series that figures show, best first. */
  chosen(): number[] {
    return [...this.shown].sort((a, b) => a - b);
  }

  /** Problems that count: those without a fault. */
  total(series: number): number {
    const { solved, failed, refused, missing } = this.score(series);
    return solved + failed + refused + missing;
  }

  /** Series by rank at the tolerance of now, as the program sorts them: number solved falling, relative cost rising, label. */
  ranking(): number[] {
    return [...this.series.keys()].sort((a, b) => {
      const first = this.score(a),
        second = this.score(b);
      const costs = [first.relative ?? Infinity, second.relative ?? Infinity];
      if (first.solved !== second.solved) return second.solved - first.solved;
      if (costs[0] !== costs[1]) return costs[0] < costs[1] ? -1 : 1;
      return this.series[a].label < this.series[b].label ? -1 : 1;
    });
  }

  onChange(listener: () => void): void {
    this.listeners.push(listener);
  }
  private changed(): void {
    for (const listener of this.listeners) listener();
  }

  setTolerance(index: number): void {
    this.tolerance = index;
    this.changed();
  }
  show(series: number, on: boolean): void {
    if (on) this.shown.add(series);
    else this.shown.delete(series);
    this.changed();
  }
  showOnly(series: Iterable<number>): void {
    this.shown.clear();
    for (const index of series) this.shown.add(index);
    this.changed();
  }
}

/** px beside a drawing, for labels of series; and letters that fit there. */
export const labelRoom = (width: number): number => (width < 600 ? 122 : 200);
export const labelLength = (width: number): number => (width < 600 ? 14 : 25);

/** As many letters as fit, with an ellipsis: a share of them from the beginning, the others from the end. */
export function short(label: string, length = 24, share = 1): string {
  const letters = [...label],
    head = Math.floor(share * (length - 1)),
    tail = length - 1 - head;
  if (letters.length <= length) return label;
  return `${letters.slice(0, head).join("")}\u2026${tail > 0 ? letters.slice(-tail).join("") : ""}`;
}

/** Labels that stand together, so that they fit; the whole of them is in the legend and the table. They are cut in
 * the middle, or as near to it as keeps labels different which are, as far as one cut does. Figures for print have
 * the same rule (share_of in src/figure/layout.c). */
export function shortAll(labels: string[], length: number): string[] {
  const different = new Set(labels).size;
  let best = labels,
    most = 0;
  for (const share of [0.5, 0.6, 0.4, 0.7, 0.3, 0.8, 0.2, 0.9, 0.1, 1, 0]) {
    const cut = labels.map((label) => short(label, length, share)),
      count = new Set(cut).size;
    if (count > most) [best, most] = [cut, count];
    if (most === different) break;
  }
  return best;
}

/** The same for the labels of some series. */
export const shortSeries = (model: Model, series: readonly number[], length: number): string[] =>
  shortAll(
    series.map((one) => model.series[one].label),
    length,
  );
