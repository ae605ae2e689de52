// What the program puts into a report: src/report/report.c writes it, and `stickslip report --json` prints the same.
// null stands for "does not apply" or "not known". All statistics are computed by the program; the page draws them.

export interface Report {
  stickslip: string; // version
  title: string;
  ledger: string; // path
  created: string; // UTC
  campaign: string | null; // text of the campaign that was run last
  measure: string; // metric by which runs are called solved: "relative_energy"
  clock: "until solved" | "whole run" | "whole call"; // what the cost of a run is, the same for all
  penalty: number; // an unsolved problem counts as this many times the slowest success of its machine
  tolerances: number[]; // falling
  mainTolerance: number; // index
  shift: number; // s, of the shifted geometric means
  budgets: number[]; // s
  metrics: Metric[]; // what there is, in order
  gauges: string[]; // ["energy", "relative_energy", ...]
  outcomes: string[]; // names: "converged", ..., "crashed", ...
  machines: Machine[];
  problems: Problem[];
  methods: Method[];
  runs: Runs;
  series: Series[]; // best first; a method on a machine
  recorded: Recorded[]; // answers that were stored in the files
  pairs: Pair[][]; // [tolerance][]
  scenes: Scene[]; // in the order of problems
  starts: StartStanding[]; // methods that do not start from zero, beside themselves from zero
  trust: Trust[]; // metrics that estimate an error, over the true one; none without a reference
  advice: Advice[]; // per tolerance
  replays?: Record<string, string>; // from the file of a problem to the address of its replay, relative to the report
  against?: Against; // report --against
  ledgers: Ledger[];
  unsolved: Unsolved[][]; // [tolerance][]: problems that no method solves
  reproduction: { compared: number; differing: Differing[] }; // runs made again with the same version and build
}

/** What one ledger has of one machine; a report is made of several. */
export interface Ledger {
  file: string; machine: number; runs: number;
  first: string; last: string; // UTC: starts of its runs; "" = not known
  collections: string; // names and versions; "" = none
  builds: string; // digests of the sources of the programs that made the runs, with counts where there are several
}
export interface Unsolved { problem: number; tried: number; nearest: number | null } // tried: runs; nearest: run with the least error
/** A run with another outcome or answer than the first one of the same problem, method and version. */
export interface Differing { first: number; run: number }

/** Methods against the best of others in hindsight. Costs in s; a side is null where none of it solves the problem. */
export interface Against {
  methods: string; bestOf: string | null; // patterns; null: all others
  refused: number; // problems that no method of one side accepts
  scores: {
    tolerance: number; geometricMean: number | null; worst: number | null;
    both: number; slower: number; twiceAsSlow: number; only: number; onlyBest: number; neither: number;
    problems: { problem: number; machine: number; against: AgainstSide | null; best: AgainstSide | null; ratio: number | null }[];
  }[];
}
export interface AgainstSide { method: number; label: string; cost: number }

export interface Metric { name: string; unit: string; summary: string; definition: string }
export interface Machine { name: string; key: string; cpu: string; cores: number; system: string; version: string; compiler: string; build: string }

export interface Problem {
  hash: string; place: string; file: string; format: "bpmd" | "fclib" | ""; // "": a file that cannot be used, place "/"
  index: number; scene: string;
  time: number | null; h: number | null;
  bodies: number; joints: number; rows: number; contacts: number;
  massRatio: number | null; density: number | null; rankRatio: number | null;
  muLeast: number | null; muMost: number | null;
  fault: string | null;
  collection: string | null; // name and version
}

export interface Method {
  label: string; formulation: string; with: string; solver: string; set: string; plugin: string; pluginFile: string;
  start: "cold" | "warm" | "own" | "shifted"; // set begins with it where it is not cold
  stop: string; keep: string; iterations: number; timeLimit: number; seed: number; reference: string;
  clock: "wall" | "cpu"; limitBy: string | null; // what times are counted by; "auto:30:0.1:1": limits follow a solver
  options: string; // command line options that choose this method: "-f cone -s nsgs --set omega=1.3 --stop ..."
  use: string; // the same for files of the reader's own: without what belongs to the campaign, such as its time limit
  recorded: boolean; // answers stored in the files, not a method that was run; options are those of judge
  replay?: string | null; // what its answers are called in the replays; null = they are not there
}

// Columns; row k is one run.
export interface Runs {
  problem: number[]; method: number[]; machine: number[];
  series: number[]; // -1: of none, as answers that were recorded
  outcome: number[]; // index into outcomes
  message: (string | null)[];
  started: string[];
  unknowns: number[]; iterations: number[]; keptIteration: number[];
  seconds: (number | null)[]; // of the run for accuracy
  best: (number | null)[]; // least of the timed samples
  samples: number[][];
  memory: (number | null)[];
  cost: (number | null)[][]; // [tolerance][run], s; null = not solved
  metrics: Record<string, (number | null)[]>;
  worst: Record<string, (number | null)[]>; // contact
}

export interface Curve { x: number[]; y: number[] }

export interface Score {
  solved: number; failed: number; refused: number; missing: number;
  rate: number | null; low: number; high: number;
  common: number; // problems that at least one series of the machine solves: what costs are compared on
  cost: number | null; // s: shifted geometric mean over those, unsolved ones penalised
  relative: number | null; // cost over the least of all series of the machine
  costSolved: number | null; // s: over what it solved; compares only with a series that solved the same
  costMedian: number | null; // over the common problems, unsolved = infinite
  costMost: number | null; // of what it solved
  versus: Versus;
  work: Work;
  why: string | null; // "fails where the mass ratio exceeds 100 (9 of 9 there, 0 of 9 elsewhere)"
  profile: Curve; // step function: y from x on
  iterations: Curve;
  perUnknown: Curve;
}

/** Beside the leader of its machine (most solved, then cheapest), on the problems that both solve. */
export interface Versus { leader: number | null; shared: number; faster: number; factor: number | null }

/** The time until solved on problems that are the same for all tolerances and all followed series of the machine. */
export interface Work {
  problems: number; // solved at the loosest tolerance by any followed series
  mean: number | null; // s: unsolved ones penalised; null = not followed, or it solves nothing
  median: number | null; // s: unsolved ones infinite
}

/** From its end on a run counts with the gauge of its answer. */
export interface Band {
  iteration: number[]; count: number[];
  mean: (number | null)[]; deviation: (number | null)[];
  median: (number | null)[]; low: (number | null)[]; high: (number | null)[]; most: (number | null)[];
}

/** Per gauge; of all scenes together (null) only relative_energy, which has no unit. */
export interface SceneBands { scene: number | null; gauges: Record<string, Band> }

export interface Series {
  label: string; method: number; machine: number;
  outcomes: number[]; // count per outcome
  scores: Score[]; // per tolerance
  followed: boolean; // it is known when its runs reached a tolerance, not only what they ended with
  bands: SceneBands[]; // first all scenes together, where there are several; then those with most problems
  budgets: { median: number | null; high: number | null; count: number }[]; // over all problems; count: with something to show
  scaling: Record<"unknowns" | "contacts" | "mass_ratio" | "density" | "rank_ratio", { slope: number | null; rSquared: number | null }>;
  contacts: { sticking: number | null; slidingGood: number | null; slidingBad: number | null; open: number | null };
  metricMedian: Record<string, number | null>;
  metricMost: Record<string, number | null>;
  metricWorst: Record<string, number | null>; // run
  drift: { x: number[]; y: (number | null)[] }; // with starts: median error against the frame of the simulation
  bins: { bin: number; count: number }[]; // energy error of contacts in [10^(bin/2), 10^((bin+1)/2)) J
  leastBin: number;
  timed: boolean;
  unsteady: number;
}

/** Answers of one stored result, each problem once. They have no cost. */
export interface Recorded {
  method: number;
  answers: number; incomplete: number; // all; those that were not judged
  assumed: number; // those whose rules are not in the file
  tried: number; // those that the measure applies to
  within: number[]; // per tolerance
  metricMedian: Record<string, number | null>;
  metricMost: Record<string, number | null>;
  metricWorst: Record<string, number | null>; // run
  runs: number[];
}

export interface Pair { a: number; b: number; ratio: number[]; both: number; onlyA: number; onlyB: number; neither: number }
/** Per tolerance: which series solves most of the scene's problems, of those the cheapest; and what the one to use does there. */
export interface Scene { name: string; problems: number; best: SceneScore[]; first: SceneScore[] }
export interface SceneScore { series: number | null; solved: number; cost: number | null; costSolved: number | null }
/** A series whose runs start from an answer to the frame before, beside the same method from zero. */
export interface StartStanding { series: number; cold: number; start: string; scores: StartScore[] } // per tolerance
export interface StartScore {
  frames: number; solved: number; coldSolved: number; // frames that both were run on, with something to start from
  both: number; better: number; worse: number; // fewer iterations than from zero or solved where that is not; vice versa
  iterations: number | null; cost: number | null; // geometric means over those from zero, where both solve
}
/** A metric over the true error that it estimates: quantiles (50, 5, 95 %) over the runs, and the fraction where it is below 1. */
export interface Trust { metric: string; over: string; runs: number; median: number; low: number; high: number; below: number }
/** At one tolerance. Not reliable: even the best solves less than half of all problems. */
export interface Advice { series: number | null; reliable: boolean; fastest: number | null; mostAccurate: number | null; text: string }
