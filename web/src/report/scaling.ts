// Time and error against what makes a problem hard.
import * as Plot from "@observablehq/plot";
import { foreign, h } from "../common/dom";
import { measure, number } from "../common/format";
import { look } from "../common/palette";
import type { Problem, Series } from "./data";
import { menu } from "./address";
import { heightFor, logScale, plot, tip } from "./axes";
import type { Point } from "./axes";
import { showRuns } from "./details";
import type { Figure, Table } from "./figure";
import { figure } from "./figure";
import type { Model } from "./model";
import { swatch } from "./swatch";

interface Feature {
  name: string;
  scaling?: keyof Series["scaling"];
  of: (problem: Problem, unknowns: number) => number | null;
}
const FEATURES: Record<string, Feature> = {
  unknowns: { name: "unknowns", scaling: "unknowns", of: (_problem, unknowns) => unknowns },
  contacts: { name: "contacts", scaling: "contacts", of: (problem) => problem.contacts },
  bodies: { name: "bodies", of: (problem) => problem.bodies },
  massRatio: { name: "mass ratio", scaling: "mass_ratio", of: (problem) => problem.massRatio },
  density: { name: "contact density", scaling: "density", of: (problem) => problem.density },
  rankRatio: { name: "rank ratio", scaling: "rank_ratio", of: (problem) => problem.rankRatio },
};

const LEAST_SIZES = 5; // of a fitted line

interface Measured {
  name: string;
  unit: string;
  of: (model: Model, run: number) => number | null;
}

function measures(model: Model): Record<string, Measured> {
  const metric = (key: string): Measured => ({
    name: key.replaceAll("_", " "),
    unit: model.unit(key),
    of: (m, run) => m.metric(key, run),
  });
  return {
    cost: { name: "cost", unit: "s", of: (m, run) => m.cost(run) },
    seconds: {
      name: "time of the whole run",
      unit: "s",
      of: (m, run) => m.data.runs.best[run] ?? m.data.runs.seconds[run],
    },
    iterations: { name: "iterations", unit: "", of: (m, run) => m.data.runs.iterations[run] },
    memory: { name: "memory", unit: "B", of: (m, run) => m.data.runs.memory[run] },
    ...Object.fromEntries(model.data.metrics.map(({ name }) => [name, metric(name)])),
  };
}

export function scaling(model: Model): Figure {
  const all = measures(model);
  let across = "unknowns",
    up = "cost";
  const own = figure(model, {
    id: "scaling",
    title: "Time and error against size and difficulty",
    read: "Each mark is one run; for the cost at the main tolerance the line is a fitted power law and its slope the exponent, where at least five sizes were solved: 1 means that doubling the size doubles the time. Click on a mark to open its run.",
    legend: "series",
    height: (width) => heightFor(width) + 40,
    controls: [
      menu(
        "scaling.y",
        "y axis",
        Object.entries(all).map(([key, { name }]): [string, string] => [key, name]),
        up,
        (value) => {
          up = value;
          own.redraw();
        },
      ),
      menu(
        "scaling.x",
        "x axis",
        Object.entries(FEATURES).map(([key, { name }]): [string, string] => [key, name]),
        across,
        (value) => {
          across = value;
          own.redraw();
        },
      ),
    ],
    draw(width) {
      const feature = FEATURES[across],
        measured = all[up],
        { runs, problems } = model.data;
      const unit = measured.unit && measured.unit !== "1" && measured.unit !== "mixed" ? ` [${measured.unit}]` : "";
      const table: Table = {
        columns: ["series", "scene", "file", "place", feature.name, measured.name + unit],
        rows: [],
        runs: [],
      };
      const points: Point[] = [];
      for (const series of model.chosen())
        for (const run of model.runsOf[series]) {
          const problem = problems[runs.problem[run]],
            x = feature.of(problem, runs.unknowns[run]),
            y = measured.of(model, run);
          if (x === null || y === null || !(x > 0) || !(y > 0)) continue;
          points.push({
            x,
            y,
            series,
            run,
            tip: `${model.series[series].label}\n${problem.scene} ${problem.place}\n${feature.name} ${number(x)}: ${measure(y, measured.unit)}`,
          });
          table.rows.push([model.series[series].label, problem.scene, problem.file, problem.place, x, y]);
          table.runs!.push(run);
        }
      if (points.length === 0) return { drawing: null, table };
      const fitted = up === "cost" && model.tolerance === model.data.mainTolerance && feature.scaling;
      const fits: Plot.Markish[] = [],
        slopes: HTMLElement[] = [],
        few = new Map<number, string[]>();
      for (const series of fitted ? model.chosen() : []) {
        const { slope, rSquared } = model.series[series].scaling[feature.scaling!];
        if (slope === null) continue;
        // Few sizes are few clusters, and any line goes through those.
        const sizes = new Set(points.filter((point) => point.series === series).map((point) => point.x)).size;
        if (sizes < LEAST_SIZES) {
          few.set(sizes, [...(few.get(sizes) ?? []), model.series[series].label]);
          continue;
        }
        slopes.push(
          h(
            "li",
            null,
            swatch(look(series)),
            " ",
            foreign(model.series[series].label),
            `: slope ${number(slope)}, R\u00b2 ${number(rSquared, 2)}`,
          ),
        );
        fits.push(
          line(
            points.filter((point) => point.series === series),
            slope,
            series,
          ),
        );
      }
      const drawing = plot({
        width,
        height: heightFor(width) + 40,
        x: logScale({ label: feature.name, values: points.map((p) => p.x), width }),
        y: logScale({ label: measured.name + unit, values: points.map((p) => p.y), time: measured.unit === "s" }),
        marks: [
          ...model.chosen().map((series) => {
            const { colour, marker } = look(series);
            return Plot.dot(
              points.filter((point) => point.series === series),
              { x: "x", y: "y", symbol: marker, r: 2.6, stroke: colour, strokeWidth: 1.1, strokeOpacity: 0.75 },
            );
          }),
          ...fits,
          tip(points),
        ],
      });
      drawing.addEventListener("click", () => {
        const point = (drawing as unknown as { value?: Point }).value;
        if (point?.run !== undefined)
          showRuns(model, {
            title: model.series[point.series].label,
            runs: [point.run],
            value: { name: measured.name, unit: measured.unit, of: (run) => measured.of(model, run) },
          });
      });
      for (const [sizes, labels] of few)
        slopes.push(
          h(
            "li",
            null,
            `${sizes} different values: no slope for `,
            labels.flatMap((label, i) => [i > 0 ? ", " : "", foreign(label)]),
          ),
        );
      return { drawing, table, note: slopes.length > 0 ? h("ul", { class: "slopes" }, slopes) : null };
    },
  });
  return own;
}

/** A least squares line goes through the centre of its points, so the slope is all that is needed. */
function line(points: Point[], slope: number, series: number): Plot.Markish {
  const mean = (values: number[]): number => values.reduce((sum, value) => sum + Math.log(value), 0) / values.length;
  const x = mean(points.map((p) => p.x)),
    y = mean(points.map((p) => p.y));
  let low = Infinity,
    high = 0;
  for (const point of points) {
    low = Math.min(low, point.x);
    high = Math.max(high, point.x);
  }
  const { colour, dash } = look(series);
  return Plot.line(
    [low, high].map((at) => ({ x: at, y: Math.exp(y + slope * (Math.log(at) - x)) })),
    { x: "x", y: "y", stroke: colour, strokeWidth: 1.6, strokeDasharray: dash },
  );
}
