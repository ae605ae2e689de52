// Who solves how much, and how much later than the best: profiles of Dolan and Moré, pairwise ones, and data profiles.
import { h } from "../common/dom";
import { number, percent, plural, seconds } from "../common/format";
import type { Curve, Pair } from "./data";
import type { RunsRequest } from "./details";
import { menu } from "./address";
import { chart, heightFor, logScale, markSome, shareScale } from "./axes";
import type { Point } from "./axes";
import type { Drawn, Figure, Table } from "./figure";
import { figure, keyList, seriesKey } from "./figure";
import type { Model } from "./model";

/** Points of a step function between `from` and `to`; the corners themselves carry the tips. */
function steps(curve: Curve, series: number, from: number, to: number, tip: (x: number, y: number) => string): Point[] {
  const inside = curve.x.map((x, i) => ({ x: Math.max(x, from), y: curve.y[i], series, tip: tip(x, curve.y[i]) }));
  if (inside.length === 0)
    return [
      { x: from, y: 0, series, tip: tip(from, 0) },
      { x: to, y: 0, series, tip: tip(to, 0) },
    ];
  const first = inside[0],
    last = inside[inside.length - 1];
  const points: Point[] = [...inside, { ...last, x: Math.max(to, last.x) }];
  if (first.x > from) points.unshift({ ...first, x: from, y: 0 });
  return markSome(points);
}

function curveTable(model: Model, name: string, curve: (series: number) => Curve): Table {
  const rows = model
    .chosen()
    .flatMap((series) => curve(series).x.map((x, i) => [model.series[series].label, x, curve(series).y[i]]));
  return { columns: ["series", name, "fraction of problems"], rows };
}

/** What one run has on the x axis of a profile; null where it was not solved. */
interface Effort {
  name: string;
  unit: string;
  of: (run: number) => number | null;
}

/** Cost over the least cost of any method on the same problem and machine. */
function ratioToBest(model: Model): Effort {
  const { runs } = model.data,
    best = new Map<string, number>(),
    key = (run: number): string => `${runs.problem[run]} ${runs.machine[run]}`;
  for (const run of model.live) {
    const cost = model.cost(run);
    if (cost !== null) best.set(key(run), Math.min(cost, best.get(key(run)) ?? Infinity));
  }
  return {
    name: "cost over best",
    unit: "",
    of: (run) => {
      const cost = model.cost(run);
      return cost === null ? null : cost / best.get(key(run))!;
    },
  };
}

/** The runs of a series that a profile counts up to x, the last of them first. */
function within(model: Model, effort: Effort, series: number, x: number, text: string): RunsRequest {
  return {
    title: `${model.series[series].label} within ${text}`,
    runs: model.runsOf[series].filter((run) => (effort.of(run) ?? Infinity) <= x * (1 + 1e-12)),
    value: effort,
  };
}

function curves(
  model: Model,
  width: number,
  name: string,
  label: string,
  curve: (series: number) => Curve,
  format: (x: number) => string,
  base2: boolean,
  time: boolean,
  effort: Effort | null,
): Drawn {
  const table = curveTable(model, name, curve);
  const all = model.chosen().flatMap((series) => curve(series).x);
  if (all.length === 0) return { drawing: null, table };
  let least = Infinity,
    most = 0;
  for (const x of all) {
    least = Math.min(least, x);
    most = Math.max(most, x);
  }
  const from = base2 ? 1 : least,
    to = base2 ? 2 ** Math.max(1, Math.ceil(Math.log2(most) + 0.05)) : most;
  const points = model
    .chosen()
    .flatMap((series) =>
      steps(
        curve(series),
        series,
        from,
        to,
        (x, y) => `${model.series[series].label}\n${percent(y, 1)} within ${format(x)}`,
      ),
    );
  const doublings = Math.log2(to),
    stride = Math.max(1, Math.ceil(doublings / Math.min(10, width / 60)));
  const x = base2
    ? {
        type: "log" as const,
        base: 2,
        domain: [1, to],
        ticks: Array.from({ length: Math.floor(doublings / stride) + 1 }, (_, i) => 2 ** (i * stride)),
        tickFormat: (v: number) => (v < 1e5 ? String(v) : `2^${Math.round(Math.log2(v))}`),
        label:
          width < 480 ? label : `${label} (each step ${stride === 1 ? "doubles" : `is a factor of ${2 ** stride}`})`,
        grid: true,
        labelArrow: "none" as const,
      }
    : logScale({ label, values: all, time, width });
  return {
    drawing: chart(
      { width, height: heightFor(width), x, y: shareScale("fraction of all problems") },
      {
        model,
        wanted: model.chosen(),
        points,
        step: true,
        heading: (at) => `within ${format(at)}`,
        value: (y) => percent(y, 1),
        ...(effort ? { runs: (series: number, at: number) => within(model, effort, series, at, format(at)) } : {}),
      },
    ),
    table,
  };
}

export function performanceProfile(model: Model): Figure {
  return figure(model, {
    id: "performance-profile",
    title: "Performance profile",
    read: "Each line shows the fraction of all problems (y axis) that a method solves within a given multiple of the best method's cost (x axis): the height at 1 is how often it is the best, the height at the right end is the fraction it solves at all.",
    reference: "Performance profile: Dolan and Mor\u00e9, Mathematical Programming 91, 2002.",
    legend: "series",
    height: heightFor,
    draw: (width) =>
      curves(
        model,
        width,
        "cost over best",
        "cost, as a multiple of the best method\u2019s",
        (series) => model.score(series).profile,
        (x) => `${number(x)} times the best cost`,
        true,
        false,
        ratioToBest(model),
      ),
  });
}

export function dataProfile(model: Model): Figure {
  let kind: "perUnknown" | "iterations" = "perUnknown";
  const own = figure(model, {
    id: "data-profile",
    title: "Data profile",
    read: "Each line shows the fraction of all problems that a method solves within a given effort, independently of the other methods.",
    reference: "Data profile: Mor\u00e9 and Wild, SIAM Journal on Optimization 20, 2009.",
    legend: "series",
    height: heightFor,
    controls: [
      menu(
        "data-profile.effort",
        "effort",
        [
          ["perUnknown", "time per unknown"],
          ["iterations", "iterations"],
        ],
        kind,
        (value) => {
          kind = value as typeof kind;
          own.redraw();
        },
      ),
    ],
    draw: (width) =>
      curves(
        model,
        width,
        kind === "iterations" ? "iterations" : "seconds per unknown",
        kind === "iterations" ? "iterations" : "time per unknown",
        (series) => model.score(series)[kind],
        kind === "iterations" ? (x) => plural(x, "iteration") : (x) => `${seconds(x)} per unknown`,
        false,
        kind !== "iterations",
        kind === "iterations"
          ? null
          : {
              name: "time per unknown",
              unit: "s",
              of: (run) => {
                const cost = model.cost(run);
                return cost === null ? null : cost / Math.max(1, model.data.runs.unknowns[run]);
              },
            },
      ),
  });
  return own;
}

/** The profile of two solvers alone: a rank among many may turn round when only two are compared. */
export function pairwiseProfile(model: Model): Figure {
  const paired = [
    ...new Set((model.data.pairs[model.data.mainTolerance] ?? []).flatMap((pair) => [pair.a, pair.b])),
  ].sort((a, b) => a - b);
  let first = paired[0] ?? 0,
    second = paired[1] ?? 0;
  const options = paired.map((series): [string, string] => [String(series), model.series[series].label]);
  const own = figure(model, {
    id: "pairwise-profile",
    title: "Two methods compared",
    read: "The performance profile of only these two methods: the best is the better of the two on each problem.",
    reference: "Pairwise profile: Gould and Scott, ACM Transactions on Mathematical Software 43, 2016.",
    height: heightFor,
    controls:
      options.length < 2
        ? []
        : [
            menu(
              "pairwise-profile.first",
              "first",
              options,
              String(first),
              (value) => {
                first = Number(value);
                own.redraw();
              },
              true,
            ),
            menu(
              "pairwise-profile.second",
              "second",
              options,
              String(second),
              (value) => {
                second = Number(value);
                own.redraw();
              },
              true,
            ),
          ],
    draw(width) {
      const table: Table = { columns: ["series", "cost over the better one", "fraction of problems"], rows: [] };
      const pair = findPair(model, first, second);
      const total = pair ? pair.both + pair.onlyA + pair.onlyB + pair.neither : 0;
      if (!pair || total === 0)
        return {
          drawing: null,
          table,
          note: paired.length > 1 && first === second ? "Choose two different methods." : null,
        };
      const sides = [
        { series: first, alone: pair.onlyA, log: pair.ratio },
        { series: second, alone: pair.onlyB, log: pair.ratio.map((r) => -r) },
      ].map(({ series, alone, log }) => ({ series, curve: profileOf(log, alone, total) }));
      const to = Math.max(2, ...sides.map(({ curve }) => curve.x.at(-1) ?? 1)) * 1.05;
      const points = sides.flatMap(({ series, curve }) =>
        steps(
          curve,
          series,
          1,
          to,
          (x, y) => `${model.series[series].label}\n${percent(y, 1)} within ${number(x)} times the better one`,
        ),
      );
      for (const { series, curve } of sides)
        curve.x.forEach((x, i) => table.rows.push([model.series[series].label, x, curve.y[i]]));
      const faster = pair.ratio.filter((r) => r < 0).length,
        slower = pair.ratio.filter((r) => r > 0).length;
      return {
        drawing: chart(
          {
            width,
            height: heightFor(width),
            x: {
              type: "log",
              base: 2,
              domain: [1, to],
              ticks: Array.from({ length: Math.floor(Math.log2(to)) + 1 }, (_, i) => 2 ** i).filter(
                (_, i, all) => i % Math.ceil(all.length / 11) === 0,
              ),
              tickFormat: (v: number) => number(v),
              label: "cost, as a multiple of the better one\u2019s",
              grid: true,
              labelArrow: "none",
            },
            y: shareScale("fraction of all problems"),
          },
          {
            model,
            wanted: [first, second],
            points,
            step: true,
            heading: (at) => `within ${number(at)} times the better one`,
            value: (y) => percent(y, 1),
          },
        ),
        table,
        key: seriesKey(model, [first, second]),
        note: [
          width < 620 ? keyList(seriesKey(model, [first, second])) : null,
          h(
            "p",
            null,
            `Of ${plural(total, "problem")}, both solve ${pair.both}, only the first ${pair.onlyA}, only the second ${pair.onlyB}, neither ${pair.neither}. Where both do, the first is cheaper on ${faster} and the second on ${slower}.`,
          ),
        ],
      };
    },
  });
  return own;
}

/** The pair seen from `first`, whichever way round it is stored. */
function findPair(model: Model, first: number, second: number): Pair | null {
  for (const pair of model.data.pairs[model.tolerance] ?? []) {
    if (pair.a === first && pair.b === second) return pair;
    if (pair.a === second && pair.b === first)
      return {
        ...pair,
        a: first,
        b: second,
        onlyA: pair.onlyB,
        onlyB: pair.onlyA,
        ratio: pair.ratio.map((r) => -r).reverse(),
      };
  }
  return null;
}

/** Share of `total` problems within a multiple of the better cost: those solved by this one alone count from the start. */
function profileOf(logRatio: number[], alone: number, total: number): Curve {
  const ratios = logRatio.map((r) => 2 ** Math.max(0, r)).sort((a, b) => a - b);
  const x = [1],
    y = [alone / total];
  ratios.forEach((ratio, i) => {
    const share = (alone + i + 1) / total;
    if (ratio === x[x.length - 1]) y[y.length - 1] = share;
    else {
      x.push(ratio);
      y.push(share);
    }
  });
  return { x, y };
}
