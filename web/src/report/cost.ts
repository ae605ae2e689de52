// What accuracy costs: work against precision, and precision at a fixed budget of time.
import * as Plot from "@observablehq/plot";
import { choice } from "../common/dom";
import { number, plural, power, seconds } from "../common/format";
import { heightFor, lines, logScale, plot } from "./axes";
import type { Point } from "./axes";
import type { Figure, Table } from "./figure";
import { figure } from "./figure";
import type { Model } from "./model";

export function workPrecision(model: Model): Figure {
  let which: "cost" | "costMedian" | "costMost" = "cost";
  const names = { cost: "shifted geometric mean", costMedian: "median", costMost: "largest" };
  const own = figure(model, {
    id: "work-precision",
    title: "Work and precision",
    read: "Each mark is one tolerance: further left is cheaper, further down is more accurate; costs are means over the solved problems only, so compare the success rates too.",
    legend: "series",
    controls: [
      choice("cost", Object.entries(names), which, (value) => {
        which = value as typeof which;
        own.redraw();
      }),
    ],
    draw(width) {
      const points: Point[] = [];
      const table: Table = { columns: ["series", "tolerance", `cost [s], ${names[which]}`, "solved", "of"], rows: [] };
      for (const series of model.chosen())
        model.data.tolerances.forEach((tolerance, i) => {
          const score = model.series[series].scores[i],
            cost = score[which];
          table.rows.push([model.series[series].label, tolerance, cost, score.solved, score.solved + score.failed]);
          if (cost !== null && cost > 0)
            points.push({
              x: cost,
              y: tolerance,
              series,
              mark: true,
              tip: `${model.series[series].label}\nto ${power(tolerance)}: ${seconds(cost)}\n${score.solved} of ${score.solved + score.failed} solved`,
            });
        });
      if (points.length === 0) return { drawing: null, table };
      return {
        drawing: plot({
          width,
          height: heightFor(width),
          x: logScale({ label: `cost (${names[which]})`, values: points.map((p) => p.x), time: true }),
          y: {
            ...logScale({ label: "relative energy error", values: model.data.tolerances }),
            ticks: model.data.tolerances,
          },
          marks: [
            Plot.ruleY([model.toleranceValue], { stroke: "var(--line-strong)", strokeDasharray: "3 3" }),
            ...lines(model.chosen(), points),
          ],
        }),
        table,
      };
    },
  });
  return own;
}

export function budgets(model: Model): Figure {
  let which: "median" | "high" = "median";
  const names = { median: "median", high: "90 % quantile" };
  const own = figure(model, {
    id: "budget-error",
    title: "Error at a fixed time budget",
    read: "The relative energy error of the best iterate found within this time, over all problems the solver accepts.",
    legend: "series",
    controls: [
      choice("over problems", Object.entries(names), which, (value) => {
        which = value as typeof which;
        own.redraw();
      }),
    ],
    draw(width) {
      const points: Point[] = [];
      const table: Table = {
        columns: ["series", "budget [s]", `relative energy error, ${names[which]}`, "problems with an iterate"],
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
              tip: `${model.series[series].label}\nafter ${seconds(budget)}: ${number(value)}\n${plural(error.count, "problem")}`,
            });
        });
      if (points.length === 0) return { drawing: null, table };
      return {
        drawing: plot({
          width,
          height: heightFor(width),
          x: logScale({ label: "budget", values: model.data.budgets, time: true }),
          y: logScale({ label: `relative energy error (${names[which]})`, values: points.map((p) => p.y) }),
          marks: lines(model.chosen(), points),
        }),
        table,
      };
    },
  });
  return own;
}
