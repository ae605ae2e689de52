// The figure of Lacoursière 2015: states of contacts frame by frame, and below it what is wrong with friction; for two methods, as
// there, beside each other.
import * as Plot from "@observablehq/plot";
import { svg } from "../common/dom";
import { count, measure, number, tick } from "../common/format";
import { menu } from "./address";
import { decades, logScale, plot, tip } from "./axes";
import type { Point } from "./axes";
import { STATES as ALL_STATES } from "./contacts";
import type { Figure, Table } from "./figure";
import { figure } from "./figure";
import type { Model } from "./model";
import { short, shortSeries } from "./model";

const STATES = ALL_STATES.slice(0, 3); // resting contacts
const ERRORS = [
  { key: "alignment", colour: "var(--s0)", marker: "circle" },
  { key: "creep", colour: "var(--s4)", marker: "square" },
  { key: "cone", colour: "var(--s2)", marker: "triangle" },
] as const;
const NONE = "-1";
const BARS = 190, // px, heights of the strips
  STRIP = 92,
  AXIS = 34;

/** One frame as one method answers it. */
interface Frame {
  x: number;
  problem: number;
  run: number;
  counts: (number | null)[]; // of STATES
  errors: (number | null)[]; // of ERRORS
}

export function bpmdFigure(model: Model): Figure {
  const { problems, runs } = model.data;
  const scenes = [...new Set(problems.filter((problem) => problem.format === "bpmd").map((problem) => problem.scene))];
  const driven = (run: number): number => model.metric("anomalous_contacts", run) ?? 0;

  // Begin where friction drives the motion most, with the method that does it beside the one to use.
  const found = new Map<string, Map<number, number>>();
  for (const run of model.live) {
    const { scene, format } = problems[runs.problem[run]];
    if (format !== "bpmd") continue;
    let bySeries = found.get(scene);
    if (!bySeries) found.set(scene, (bySeries = new Map()));
    bySeries.set(runs.series[run], (bySeries.get(runs.series[run]) ?? 0) + driven(run));
  }
  const most = (scene: string): [number, number] =>
    [...(found.get(scene) ?? [])].reduce((best, one) => (one[1] > best[1] ? one : best), [-1, 0] as [number, number]);
  const frames = (scene: string): number =>
    problems.filter((problem) => problem.scene === scene && !problem.fault).length;
  let scene = [...scenes].sort((a, b) => most(b)[1] - most(a)[1] || frames(b) - frames(a))[0] ?? "";
  let first = model.data.advice[model.data.mainTolerance]?.series ?? 0;
  let second = most(scene)[0] !== first ? most(scene)[0] : -1;
  let axis: "time" | "frame" = "time";
  const errorName = (key: string): string => `${key} [${model.unit(key)}]`;
  const methods = model.series.map((one, i): [string, string] => [String(i), short(one.label, 60)]);
  const own = figure(model, {
    id: "bpmd",
    title: "Friction, frame by frame",
    read: "Bars count the resting contacts of each frame by state. The strips below show the errors of friction, each on its own logarithmic axis whose bottom line includes zero: in direction (alignment), at contacts that should stick (creep), and beyond its limit (cone).",
    reference: "As in Lacoursi\u00e8re, Linde, Lu and Trinkle 2015.",
    legend: STATES,
    height: () => BARS + ERRORS.length * STRIP + AXIS,
    controls:
      scenes.length === 0
        ? []
        : [
            menu(
              "bpmd.scene",
              "scene",
              scenes.map((name): [string, string] => [name, short(name, 60)]),
              scene,
              (value) => {
                scene = value;
                own.redraw();
              },
            ),
            menu(
              "bpmd.method",
              "method",
              methods,
              String(first),
              (value) => {
                first = Number(value);
                own.redraw();
              },
              true,
            ),
            menu(
              "bpmd.beside",
              "compare with",
              [[NONE, "none"], ...methods],
              String(second),
              (value) => {
                second = Number(value);
                own.redraw();
              },
              true,
            ),
            menu(
              "bpmd.x",
              "x axis",
              [
                ["time", "time"],
                ["frame", "recorded frame"],
              ],
              axis,
              (value) => {
                axis = value as typeof axis;
                own.redraw();
              },
            ),
          ],
    draw(width, hidden) {
      const members = problems
        .map((problem, index) => ({ problem, index }))
        .filter(({ problem }) => problem.scene === scene && problem.format === "bpmd");
      // Frames of several files may share their times; then only their order is left.
      const times = new Set(members.map(({ problem }) => problem.time)),
        places = new Set(members.map(({ problem }) => problem.index));
      const timed = axis === "time" && times.size === members.length && !times.has(null),
        counted = !timed && places.size === members.length;
      const label = timed ? "time [s]" : counted ? "recorded frame, from 0" : "frame of the scene, in order";
      const x = new Map(
        members.map(({ problem, index }, order) => [
          index,
          timed ? problem.time! : counted ? problem.index : order + 1,
        ]),
      );
      const wanted = [first, second].filter(
        (series, i, all) => series >= 0 && model.series[series] && all.indexOf(series) === i,
      );
      const answers = wanted.map((series) => ({
        series,
        frames: model.runsOf[series].flatMap((run): Frame[] => {
          const problem = runs.problem[run],
            at = x.get(problem);
          if (at === undefined) return [];
          const sliding = model.metric("sliding", run);
          return [
            {
              x: at,
              problem,
              run,
              counts: [
                sliding === null ? null : driven(run),
                sliding === null ? null : sliding - driven(run),
                model.metric("sticking", run),
              ],
              errors: ERRORS.map(({ key }) => model.metric(key, run)),
            },
          ];
        }),
      }));
      const table: Table = {
        columns: [
          "series",
          "frame",
          "place",
          "time [s]",
          ...STATES.map((state) => state.label),
          ...ERRORS.map(({ key }) => errorName(key)),
        ],
        rows: answers.flatMap(({ series, frames: list }) =>
          list.map(({ problem, counts, errors }) => [
            model.series[series].label,
            problems[problem].index,
            problems[problem].place,
            problems[problem].time,
            ...counts,
            ...errors,
          ]),
        ),
        runs: answers.flatMap(({ frames: list }) => list.map(({ run }) => run)),
      };
      const all = answers.flatMap(({ frames: list }) => list);
      if (all.every(({ counts, errors }) => [...counts, ...errors].every((value) => value === null)))
        return {
          drawing: null,
          table,
          note: scenes.length === 0 ? "None of the problems is a frame of a BPMD file." : null,
        };
      const positions = [...new Set(x.values())].sort((a, b) => a - b);
      const gap = positions.reduce(
          (least, at, i) => (i > 0 ? Math.min(least, at - positions[i - 1]) : least),
          Infinity,
        ),
        bar = Number.isFinite(gap) ? gap : 1;
      const domain = [positions[0] - 0.6 * bar, positions[positions.length - 1] + 0.6 * bar];
      const height = (frame: Frame): number =>
        frame.counts.reduce<number>((sum, n, i) => sum + (hidden.has(STATES[i].key) ? 0 : (n ?? 0)), 0);
      const highest = Math.max(1, ...all.map(height));
      const ranges = ERRORS.map((_, i) => decades(all.map(({ errors }) => errors[i] ?? 0)));

      // Side by side where there is room, else one below the other.
      const beside = answers.length === 2 && width >= 640,
        panelWidth = beside ? Math.floor((width - 12) / 2) : width;
      const parts: Placed[] = [];
      const names = shortSeries(
        model,
        answers.map(({ series }) => series),
        34,
      );
      answers.forEach(({ series, frames: list }, place) => {
        const left = beside ? place * (panelWidth + 12) : 0;
        let top = beside ? 0 : place * (BARS + ERRORS.length * STRIP + AXIS);
        const put = (drawing: SVGSVGElement, tall: number): void => {
          parts.push({ drawing, x: left, y: top });
          top += tall;
        };
        const text = (frame: Frame): string => {
          const problem = problems[frame.problem];
          return `${model.series[series].label}\n${problem.place}${problem.time === null ? "" : `, ${number(problem.time)} s`}\n${STATES.map(
            (state, i) => `${state.label} ${count(frame.counts[i])}`,
          ).join(
            ", ",
          )}\n${ERRORS.map(({ key }, i) => `${key} ${measure(frame.errors[i], model.unit(key))}`).join("\n")}`;
        };
        const scaleX = {
          domain,
          label: null,
          ticks: positions.length <= (panelWidth < 500 ? 5 : 10) ? positions : panelWidth < 500 ? 4 : 8,
          tickFormat: tick,
        };
        const bars = list.flatMap((frame) => {
          let y = 0;
          return STATES.flatMap((state, i) => {
            const n = frame.counts[i];
            if (n === null || hidden.has(state.key)) return [];
            y += n;
            return [{ x1: frame.x - 0.43 * bar, x2: frame.x + 0.43 * bar, y1: y - n, y2: y, colour: state.colour }];
          });
        });
        put(
          plot({
            width: panelWidth,
            height: BARS,
            marginBottom: 8,
            marginTop: 34,
            x: { ...scaleX, axis: null },
            y: { label: "resting contacts", grid: true, labelArrow: "none", domain: [0, highest], ticks: 4 },
            marks: [
              Plot.rectY(bars, { x1: "x1", x2: "x2", y1: "y1", y2: "y2", fill: "colour" }),
              Plot.ruleY([0]),
              Plot.text([names[place]], {
                frameAnchor: "top-right",
                dy: -28,
                fontWeight: "bold",
              }),
              tip(
                list.map((frame): Point => ({
                  x: frame.x,
                  y: height(frame),
                  series,
                  tip: text(frame),
                  run: frame.run,
                })),
              ),
            ],
          }),
          BARS,
        );
        ERRORS.forEach(({ key, colour, marker }, i) => {
          const last = i === ERRORS.length - 1,
            range = ranges[i],
            bottom = (range?.domain[0] ?? 1e-12) / 10,
            points = list.flatMap((frame): Point[] => {
              const value = frame.errors[i];
              return value === null
                ? []
                : [{ x: frame.x, y: value > 0 ? value : bottom, series, tip: text(frame), run: frame.run }];
            });
          const tall = STRIP + (last ? AXIS : 0);
          put(
            plot({
              width: panelWidth,
              height: tall,
              marginTop: 22,
              marginBottom: last ? 10 + AXIS : 10,
              x: { ...scaleX, ...(last ? { label, labelArrow: "none" as const } : { axis: null }) },
              y: logScale({ label: errorName(key), values: [bottom, range?.domain[1] ?? 1e-11], most: 3 }),
              marks: [
                Plot.line(points, { x: "x", y: "y", stroke: colour, strokeWidth: 1.5 }),
                ...(list.length <= 60
                  ? [Plot.dot(points, { x: "x", y: "y", fill: colour, symbol: marker, r: 2.6 })]
                  : []),
                tip(points),
              ],
            }),
            tall,
          );
        });
      });
      return {
        drawing: together(parts, width),
        table,
        about: `${scene}, ${wanted.map((series) => model.series[series].label).join(" and ")}`,
      };
    },
  });
  return own;
}

interface Placed {
  drawing: SVGSVGElement;
  x: number;
  y: number;
}

/** Several drawings as one. */
function together(parts: Placed[], width: number): SVGSVGElement {
  const whole = svg("svg", { width, fill: "currentColor", style: "overflow: visible" }) as SVGSVGElement;
  let bottom = 0;
  for (const { drawing, x, y } of parts) {
    const height = Number(drawing.getAttribute("height"));
    drawing.setAttribute("x", String(x));
    drawing.setAttribute("y", String(y));
    // An inner drawing feels the pointer only where something is painted.
    drawing.prepend(
      svg("rect", { width: drawing.getAttribute("width")!, height, fill: "none", "pointer-events": "all" }),
    );
    bottom = Math.max(bottom, y + height);
    whole.append(drawing);
  }
  whole.setAttribute("height", String(bottom));
  whole.setAttribute("viewBox", `0 0 ${width} ${bottom}`);
  return whole;
}
