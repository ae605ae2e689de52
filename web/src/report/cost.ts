// What accuracy costs: work against precision, and precision at a fixed budget of time.
import * as Plot from "@observablehq/plot";
import { foreign, h } from "../common/dom";
import { number, plural, power, seconds } from "../common/format";
import { menu } from "./address";
import { chart, heightFor, logScale } from "./axes";
import type { Point } from "./axes";
import type { Figure, Table } from "./figure";
import { figure } from "./figure";
import type { Model } from "./model";
import { short } from "./model";

/** Series that a figure draws, and a sentence about those that it cannot. */
function withoutHistory(model: Model, text: string): HTMLElement | null {
  const names = model
    .chosen()
    .filter((series) => !model.series[series].followed)
    .map((series) => foreign(short(model.series[series].label)));
  if (names.length === 0) return null;
  return h(
    "p",
    null,
    `${text}: `,
    names.flatMap((name, i) => (i > 0 ? [", ", name] : [name])),
    ".",
  );
}

export function workPrecision(model: Model): Figure {
  let which: "mean" | "median" = "mean";
  const names = { mean: "shifted geometric mean, unsolved penalised", median: "median, unsolved infinite" };
  const own = figure(model, {
    id: "work-precision",
    title: "Work and precision",
    read: `Each mark is one tolerance: further right is more accurate, further down is cheaper. The time until solved, over the same problems at every tolerance: those that any method solves at the loosest one. In the mean an unsolved problem counts as ${model.data.penalty} times the slowest success.`,
    legend: "series",
    height: heightFor,
    controls: [
      menu("work-precision.time", "time", Object.entries(names), which, (value) => {
        which = value as typeof which;
        own.redraw();
      }),
    ],
    draw(width) {
      const points: Point[] = [];
      const table: Table = { columns: ["series", "tolerance", `time [s], ${names[which]}`, "solved", "of"], rows: [] };
      for (const series of model.chosen())
        model.data.tolerances.forEach((tolerance, i) => {
          const { work, solved } = model.series[series].scores[i],
            time = work[which];
          table.rows.push([model.series[series].label, tolerance, time, solved, work.problems]);
          if (time !== null && time > 0)
            points.push({
              x: tolerance,
              y: time,
              series,
              mark: true,
              tip: `${model.series[series].label}\nto ${power(tolerance)}: ${seconds(time)}\n${solved} of ${work.problems} solved`,
            });
        });
      const note = withoutHistory(model, "Not drawn, because only the time of the whole run is known");
      if (points.length === 0) return { drawing: null, table, note };
      return {
        drawing: workDrawing(model, width, `time (${names[which]})`, points),
        table,
        note,
      };
    },
  });
  return own;
}

/** Lines from tolerance to tolerance: the list under the pointer is of times at one of them. */
function workDrawing(model: Model, width: number, label: string, points: Point[]): SVGSVGElement {
  return chart(
    {
      width,
      height: heightFor(width),
      x: {
        ...logScale({ label: model.measureName, values: model.data.tolerances }),
        ticks: model.data.tolerances,
        reverse: true,
      },
      y: logScale({ label, values: points.map((p) => p.y), time: true }),
      marks: [Plot.ruleX([model.toleranceValue], { stroke: "var(--line-strong)", strokeDasharray: "3 3" })],
    },
    {
      model,
      wanted: model.chosen(),
      points,
      lowIsGood: true,
      heading: (tolerance) => `to ${power(tolerance)}`,
      value: seconds,
    },
  );
}

export function budgets(model: Model): Figure {
  let which: "median" | "high" = "median";
  const names = { median: "median", high: "90 % quantile" };
  const own = figure(model, {
    id: "budget-error",
    title: "Error at a fixed budget of time",
    read: `If the method is stopped after this much time, this is the ${model.measureName} of the best iterate it has by then, over all problems. One without anything to show by then counts as doing nothing${model.data.measure === "relative_energy" ? ": an error of 1" : ""}.`,
    legend: "series",
    height: heightFor,
    controls: [
      menu("budget-error.over", "over problems", Object.entries(names), which, (value) => {
        which = value as typeof which;
        own.redraw();
      }),
    ],
    draw(width) {
      const points: Point[] = [];
      const table: Table = {
        columns: ["series", "budget [s]", `${model.measureName}, ${names[which]}`, "problems with something to show"],
        rows: [],
      };
      for (const series of model.chosen())
        model.series[series].budgets.forEach((error, i) => {
          const budget = model.data.budgets[i],
            value = error[which];
          table.rows.push([model.series[series].label, budget, value, error.count]);
          if (value !== null && value > 0)
            points.push({
              x: budget,
              y: value,
              series,
              mark: true,
              tip: `${model.series[series].label}\nafter ${seconds(budget)}: ${number(value)}\n${plural(error.count, "problem")} with something to show`,
            });
        });
      const note = withoutHistory(model, "Judged at the end of each run only");
      if (points.length === 0) return { drawing: null, table, note };
      return {
        drawing: chart(
          {
            width,
            height: heightFor(width),
            x: logScale({ label: "budget", values: model.data.budgets, time: true, width }),
            y: logScale({ label: `${model.measureName} (${names[which]})`, values: points.map((p) => p.y) }),
          },
          {
            model,
            wanted: model.chosen(),
            points,
            lowIsGood: true,
            heading: (budget) => `after ${seconds(budget)}`,
            value: number,
          },
        ),
        table,
        note,
      };
    },
  });
  return own;
}
