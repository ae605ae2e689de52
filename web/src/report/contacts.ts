// What the answers do at contacts: shares of states, errors contact by contact, and the figure of the BPMD paper.
import * as Plot from "@observablehq/plot";
import { choice, svg } from "../common/dom";
import type { Cell } from "../common/download";
import { STATES as COMMON } from "../common/palette";
import type { State } from "../common/palette";
import { count, measure, number, percent } from "../common/format";
import { decades, heightFor, lines, logScale, markSome, plot, shareScale, tip } from "./axes";
import type { Point } from "./axes";
import type { Figure, LegendItem, Table } from "./figure";
import { figure } from "./figure";
import type { Model } from "./model";
import { LABEL_ROOM, short } from "./model";

const state = (key: StateItem["key"], { name, colour, summary }: State): StateItem => ({ key, label: name, colour, title: summary });
type StateItem = LegendItem & { key: "slidingBad" | "slidingGood" | "sticking" | "open" };
const STATES: StateItem[] = [
  state("slidingBad", COMMON.bad),
  state("slidingGood", COMMON.slip),
  state("sticking", COMMON.stick),
  state("open", COMMON.open),
];

export function contactShares(model: Model): Figure {
  return figure(model, {
    id: "contact-states",
    title: "States of contacts",
    read: "The fraction of contacts, over all judged runs, that stick, slide, are driven by friction (which Coulomb\u2019s law forbids), or are open; if several contacts share a load, correct answers may share it differently.",
    legend: STATES,
    draw(width, hidden) {
      const shown = model.ranking().filter((series) => model.shown.has(series));
      const table: Table = {
        columns: ["series", ...STATES.map((state) => state.label)],
        rows: shown.map((series) => [
          model.series[series].label,
          ...STATES.map((state) => model.series[series].contacts[state.key]),
        ]),
      };
      const bars: { place: number; x1: number; x2: number; colour: string }[] = [];
      const points: Point[] = [];
      shown.forEach((series, place) => {
        let x = 0;
        for (const state of STATES) {
          const share = model.series[series].contacts[state.key];
          if (share === null || hidden.has(state.key)) continue;
          bars.push({ place, x1: x, x2: x + share, colour: state.colour });
          if (share > 0)
            points.push({
              x: x + share / 2,
              y: place,
              series,
              tip: `${model.series[series].label}\n${state.label}: ${percent(share, 1)}`,
            });
          x += share;
        }
      });
      if (bars.length === 0) return { drawing: null, table };
      return {
        drawing: plot({
          width,
          height: 56 + 24 * shown.length,
          marginLeft: LABEL_ROOM,
          marginTop: 10,
          x: { ...shareScale("fraction of contacts") },
          y: {
            type: "band",
            domain: shown.map((_, place) => place),
            tickFormat: (place: number) => short(model.series[shown[place]].label),
            label: null,
            tickSize: 0,
            padding: 0.25,
          },
          marks: [Plot.barX(bars, { x1: "x1", x2: "x2", y: "place", fill: "colour" }), tip(points)],
        }),
        table,
        note: "The solvers shown are those selected in the legends above.",
      };
    },
  });
}

/** Lower edge of a bin, J. */
const edge = (bin: number): number => 10 ** (bin / 2);

export function contactErrors(model: Model): Figure {
  let kind: "above" | "share" = "above";
  const own = figure(model, {
    id: "contact-errors",
    title: "Errors contact by contact",
    read: "The energy error of individual contacts, over all runs of a solver: the fraction of contacts with at least this error (lower and further left is better), or the fraction in each half decade.",
    legend: "series",
    controls: [
      choice(
        "show",
        [
          ["above", "cumulative fraction"],
          ["share", "fraction per half decade"],
        ],
        kind,
        (value) => {
          kind = value as typeof kind;
          own.redraw();
        },
      ),
    ],
    draw(width) {
      const table: Table = {
        columns: ["series", "energy error from [J]", "to [J]", "contacts", "share", "cumulative fraction"],
        rows: [],
      };
      const points: Point[] = [];
      for (const series of model.chosen()) {
        const { bins, leastBin, label } = model.series[series];
        const total = bins.reduce((sum, { count: n }) => sum + n, 0);
        const filled = new Map(bins.map(({ bin, count: n }) => [bin, n]));
        if (total === 0) continue;
        const sorted = [...filled.keys()].sort((a, b) => a - b);
        let above = total;
        const mine: Point[] = [];
        for (let bin = sorted[0]; bin <= sorted[sorted.length - 1] + 1; bin++) {
          const n = filled.get(bin) ?? 0,
            share = n / total,
            from = bin === leastBin ? 0 : edge(bin);
          if (n > 0) table.rows.push([label, from, edge(bin + 1), n, share, above / total]);
          mine.push({
            x: edge(bin),
            y: kind === "above" ? above / total : share,
            series,
            tip:
              kind === "above"
                ? `${label}\n${percent(above / total, 2)} of contacts at ${number(edge(bin))} J or more`
                : `${label}\n${count(n)} contacts (${percent(share, 1)})\n${number(from)} to ${number(edge(bin + 1))} J`,
          });
          above -= n;
        }
        points.push(...markSome(mine, 7));
      }
      if (points.length === 0) return { drawing: null, table };
      const y =
        kind === "above"
          ? shareScale("fraction of contacts")
          : {
              label: "fraction of contacts",
              grid: true,
              labelArrow: "none" as const,
              tickFormat: (v: number) => `${number(100 * v)} %`,
              zero: true,
            };
      return {
        drawing: plot({
          width,
          height: heightFor(width),
          x: logScale({ label: "energy error of a contact [J]", values: points.map((p) => p.x) }),
          y,
          marks: lines(model.chosen(), points, kind === "above" ? "linear" : "step-after"),
        }),
        table,
        note: points.length > 0 ? "The leftmost bin also holds all smaller errors and exact zeros." : null,
      };
    },
  });
  return own;
}

const CURVES = [
  { key: "alignment", colour: "var(--s0)", dash: "", marker: "circle" },
  { key: "creep", colour: "var(--s4)", dash: "7 3", marker: "square" },
  { key: "cone", colour: "var(--s2)", dash: "2 2.5", marker: "triangle" },
] as const;

/** The figure of Lacoursière 2015: states of contacts frame by frame, and below it what is wrong with friction. */
export function bpmdFigure(model: Model): Figure {
  const { problems, runs } = model.data;
  const scenes = [...new Set(problems.filter((problem) => problem.format === "bpmd").map((problem) => problem.scene))];
  // Begin where there is most to see.
  const frames = (scene: string): number =>
    problems.filter((problem) => problem.scene === scene && !problem.fault).length;
  let scene = [...scenes].sort((a, b) => frames(b) - frames(a))[0] ?? "";
  let series = model.advice.series ?? 0;
  const curveName = (key: string): string => `${key} [${model.unit(key)}]`;
  const own = figure(model, {
    id: "bpmd",
    title: "Friction, frame by frame",
    read: "Bars count the resting contacts of each frame by state; the curves below, on a logarithmic axis whose bottom line includes zero, show the errors of friction: in direction (alignment), at contacts that should stick (creep), and beyond its limit (cone).",
    legend: [
      ...STATES.slice(0, 3),
      ...CURVES.map(({ key, colour, dash, marker }) => ({
        key,
        label: curveName(key),
        colour,
        look: { colour, dash, marker },
      })),
    ],
    controls:
      scenes.length === 0
        ? []
        : [
            choice(
              "scene",
              scenes.map((name): [string, string] => [name, short(name, 60)]),
              scene,
              (value) => {
                scene = value;
                own.redraw();
              },
            ),
            choice(
              "solver",
              model.series.map((one, i): [string, string] => [String(i), short(one.label, 60)]),
              String(series),
              (value) => {
                series = Number(value);
                own.redraw();
              },
            ),
          ],
    draw(width, hidden) {
      const table: Table = {
        columns: [
          "frame",
          "place",
          "time [s]",
          ...STATES.slice(0, 3).map(({ label }) => label),
          ...CURVES.map(({ key }) => curveName(key)),
        ],
        rows: [],
        runs: [],
      };
      const mine = new Map((model.runsOf[series] ?? []).map((run) => [runs.problem[run], run]));
      const bars: { x1: number; x2: number; y1: number; y2: number; colour: string }[] = [];
      const tips: Point[] = [];
      const curves: Record<string, (Point & { zero: boolean })[]> = {};
      let column = 0;
      problems.forEach((problem, index) => {
        if (problem.scene !== scene || problem.format !== "bpmd") return;
        column++;
        const run = mine.get(index);
        if (run === undefined) return;
        const sliding = model.metric("sliding", run),
          sticking = model.metric("sticking", run),
          bad = model.metric("anomalous_contacts", run) ?? 0;
        const counts: Record<string, number | null> = {
          slidingBad: sliding === null ? null : bad,
          slidingGood: sliding === null ? null : sliding - bad,
          sticking,
        };
        const wrong = CURVES.map(({ key }) => model.metric(key, run));
        const row: Cell[] = [
          problem.index,
          problem.place,
          problem.time,
          counts.slidingBad,
          counts.slidingGood,
          counts.sticking,
          ...wrong,
        ];
        table.rows.push(row);
        table.runs!.push(run);
        let y = 0;
        for (const state of STATES.slice(0, 3)) {
          const n = counts[state.key];
          if (n === null || hidden.has(state.key)) continue;
          bars.push({ x1: column - 0.44, x2: column + 0.44, y1: y, y2: y + n, colour: state.colour });
          y += n;
        }
        const text = `${problem.place}${problem.time === null ? "" : `, ${number(problem.time)} s`}\n${STATES.slice(
          0,
          3,
        )
          .map((state) => `${state.label} ${count(counts[state.key])}`)
          .join(", ")}\n${CURVES.map(({ key }, i) => `${key} ${measure(wrong[i], model.unit(key))}`).join(", ")}`;
        tips.push({ x: column, y, series, tip: text, run });
        CURVES.forEach(({ key }, i) => {
          const value = wrong[i];
          if (value !== null && !hidden.has(key))
            (curves[key] ??= []).push({ x: column, y: value, series, tip: text, run, zero: value <= 0 });
        });
      });
      const values = Object.values(curves).flat();
      if (bars.length + values.length === 0)
        return {
          drawing: null,
          table,
          note: scenes.length === 0 ? "None of the problems is a frame of a BPMD file." : null,
        };
      const x = {
        domain: [0.4, column + 0.6],
        label: null,
        ticks: column > 12 ? undefined : Array.from({ length: column }, (_, i) => i + 1),
        tickFormat: (v: number) => (Number.isInteger(v) ? String(v) : ""),
      };
      const upper = plot({
        width,
        height: 250,
        marginBottom: 26,
        x,
        y: { label: "resting contacts", grid: true, labelArrow: "none", zero: true },
        marks: [
          Plot.rectY(bars, { x1: "x1", x2: "x2", y1: "y1", y2: "y2", fill: "colour" }),
          Plot.ruleY([0]),
          tip(tips),
        ],
      });
      const range = decades(values.map((point) => point.y));
      const panels = [upper];
      if (values.length > 0) {
        const bottom = (range?.domain[0] ?? 1e-12) / 10,
          top = range?.domain[1] ?? 1e-11;
        for (const point of values) if (point.zero) point.y = bottom;
        panels.push(
          plot({
            width,
            height: 220,
            marginTop: 30,
            x: { ...x, label: "frame of the scene, in order", labelArrow: "none" },
            y: { ...logScale({ label: "alignment, creep, cone", values: [bottom, top], most: 6 }) },
            marks: [
              ...CURVES.flatMap(({ key, colour, dash, marker }) => [
                Plot.line(curves[key] ?? [], {
                  x: "x",
                  y: "y",
                  stroke: colour,
                  strokeWidth: 1.6,
                  strokeDasharray: dash,
                }),
                ...(column <= 60
                  ? [Plot.dot(curves[key] ?? [], { x: "x", y: "y", fill: colour, symbol: marker, r: 2.8 })]
                  : []),
              ]),
              tip(values),
            ],
          }),
        );
      }
      return { drawing: stack(panels, width), table };
    },
  });
  return own;
}

/** Drawings one below another, as one. */
function stack(parts: SVGSVGElement[], width: number): SVGSVGElement {
  const whole = svg("svg", { width, fill: "currentColor", style: "overflow: visible" }) as SVGSVGElement;
  let y = 0;
  for (const part of parts) {
    const height = Number(part.getAttribute("height"));
    part.setAttribute("y", String(y));
    // An inner drawing feels the pointer only where something is painted.
    part.prepend(svg("rect", { width, height, fill: "none", "pointer-events": "all" }));
    y += height;
    whole.append(part);
  }
  whole.setAttribute("height", String(y));
  whole.setAttribute("viewBox", `0 0 ${width} ${y}`);
  return whole;
}
