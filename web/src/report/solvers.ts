// The table of solvers. Every number is a button that opens the runs behind it.
import type { Child } from "../common/dom";
import { foreign, h } from "../common/dom";
import { csv } from "../common/download";
import { count, measure, number, percent, plural, power, seconds } from "../common/format";
import { look } from "../common/palette";
import { keep, menu, moved } from "./address";
import { badge, costValue, metricValue, runsButton, showRuns } from "./details";
import type { RunsRequest } from "./details";
import { saveMenu } from "./figure";
import type { Model } from "./model";
import { SOLVED } from "./model";
import type { Column } from "./sortable";
import { sortable } from "./sortable";
import { swatch } from "./swatch";

interface Row {
  series: number;
  rank: number;
}

/** Median of the iterations of the runs that were solved. */
function iterations(model: Model, series: number): number | null {
  const values = model.runsOf[series]
    .filter((run) => model.cost(run) !== null)
    .map((run) => model.data.runs.iterations[run])
    .sort((a, b) => a - b);
  const middle = (values.length - 1) / 2;
  return values.length === 0 ? null : (values[Math.floor(middle)] + values[Math.ceil(middle)]) / 2;
}

export function solverTable(model: Model): HTMLElement {
  let text = "",
    formulation = "",
    state = "",
    errors: "energy" | "metricMedian" | "metricMost" = "energy";
  const status = h("p", { class: "read", role: "status" });
  const key = h("p", { class: "key" });

  const open = (content: Child, request: () => RunsRequest, label: string): HTMLElement =>
    runsButton(model, content, request, label);
  const name = ({ series }: Row): string => model.series[series].label;

  function metricCell(row: Row, metric: string, which: "metricMedian" | "metricMost"): Child {
    const value = model.series[row.series][which][metric] ?? null;
    if (value === null) return number(null);
    const shown = number(value);
    const word = which === "metricMedian" ? "median" : "largest";
    return open(
      shown,
      () => ({
        title: `${metric.replaceAll("_", " ")} of ${name(row)}`,
        about: `${word}: ${measure(value, model.unit(metric))}. ${model.data.metrics.find((one) => one.name === metric)?.summary ?? ""}`,
        runs: model.runsOf[row.series].filter((run) => model.metric(metric, run) !== null),
        value: metricValue(model, metric),
      }),
      `${shown}, ${word} ${metric.replaceAll("_", " ")}`,
    );
  }
  const unitOf = (metric: string): string =>
    ["", "1", "mixed"].includes(model.unit(metric)) ? "" : ` [${model.unit(metric)}]`;
  const metricColumn = (metric: string, title: string, fixed: "metricMedian" | "metricMost"): Column<Row> => ({
    key: metric === "energy" && fixed === "metricMost" ? "energy-most" : metric,
    title: title + unitOf(metric),
    short: (fixed === "metricMost" && metric === "energy" ? "largest" : title.split(",")[0]) + unitOf(metric),
    numeric: true,
    help: `${model.data.metrics.find((one) => one.name === metric)?.summary ?? metric}, over the runs where it applies`,
    group: "Error",
    value: ({ series }) => model.series[series][fixed][metric] ?? null,
    cell: (row) => metricCell(row, metric, fixed),
  });

  const columns = (): Column<Row>[] => [
    {
      key: "rank",
      title: "Rank",
      short: "", // the rows are in this order
      numeric: true,
      help: "by number solved, then by cost on common ground, at this tolerance",
      value: (row) => row.rank,
      cell: (row) => String(row.rank),
    },
    {
      key: "label",
      title: "Method",
      head: true,
      value: name,
      cell: (row) => {
        const shown = model.shown.has(row.series);
        return h(
          "span",
          { class: "series-cell" },
          h(
            "button",
            {
              type: "button",
              class: "show",
              "aria-pressed": shown,
              "data-series": row.series,
              title: "Show in the figures",
              "aria-label": `Show ${name(row)} in the figures`,
              onclick: () => {
                model.show(row.series, !model.shown.has(row.series));
                moved();
              },
            },
            swatch(look(row.series)),
          ),
          foreign(name(row)),
        );
      },
    },
    {
      key: "solved",
      title: "Solved",
      group: "Success",
      numeric: true,
      falling: true,
      help: "of all problems; bar: the rate among those that the method accepts, with its 95 % interval",
      value: ({ series }) => model.score(series).solved,
      cell: (row) => {
        const score = model.score(row.series),
          total = model.total(row.series);
        return [
          open(
            `${score.solved}/${total}`,
            () => ({
              title: `Problems of ${name(row)}`,
              about: `${score.solved} of ${total} solved to ${power(model.toleranceValue)}; ${score.refused} not applicable, ${score.missing} not run.${score.why ? ` It ${score.why}.` : ""}`,
              runs: model.runsOf[row.series],
              value: metricValue(model, model.data.measure),
            }),
            `${score.solved}/${total} solved`,
          ),
          interval(score.rate, score.low, score.high),
        ];
      },
    },
    {
      key: "failures",
      title: "Not solved",
      group: "Success",
      falling: true,
      help: "by kind, at this tolerance",
      value: ({ series }) => model.score(series).failed,
      cell: (row) => failures(model, row.series),
      // On paper there is room for numbers only.
      text: ({ series }) => {
        const { failed, refused } = model.score(series);
        return refused > 0 ? `${failed} (${refused} n/a)` : String(failed);
      },
    },
    {
      key: "cost",
      title: "Cost",
      group: "Cost",
      numeric: true,
      help: `shifted geometric mean over the problems it solved, shift ${seconds(model.data.shift)}; sorted by the mean over all that any method solves, an unsolved one counted as ${model.data.penalty} times the slowest success`,
      value: ({ series }) => model.score(series).cost,
      cell: (row) => {
        const score = model.score(row.series);
        if (score.costSolved === null) return seconds(null);
        const part = score.solved < score.common;
        const button = open(
          seconds(score.costSolved),
          () => ({
            title: `Cost of ${name(row)}`,
            about: `Shifted geometric mean ${seconds(score.costSolved)} over the ${plural(score.solved, "problem")} it solved, largest ${seconds(score.costMost)}. Over all ${score.common} that some method solves: mean ${seconds(score.cost)}, unsolved ones penalised; median ${seconds(score.costMedian)}.${model.series[row.series].timed ? "" : " Some of these runs were timed once, without --repeats: the times are approximate."}${model.series[row.series].unsteady ? ` ${plural(model.series[row.series].unsteady, "run")} gave other bits when repeated.` : ""}`,
            runs: model.runsOf[row.series].filter((run) => model.cost(run) !== null),
            value: costValue(model),
          }),
          `${seconds(score.costSolved)} cost${part ? `, on ${score.solved}` : ""}`,
        );
        return part ? h("span", { class: "partial" }, button, h("small", null, ` on ${score.solved}`)) : button;
      },
    },
    {
      key: "factor",
      title: "Factor",
      group: "Cost",
      numeric: true,
      help: "cost over that of the best method, geometric mean over the problems that both solve: below 1 it is faster there",
      value: ({ series }) => model.score(series).versus.factor,
      cell: (row) => {
        const { leader, shared, faster, factor } = model.score(row.series).versus;
        if (leader === null || factor === null) return number(null);
        const best = model.series[leader].label,
          solvedThere = new Set(
            model.runsOf[leader].filter((run) => model.cost(run) !== null).map((run) => model.data.runs.problem[run]),
          );
        return open(
          number(factor),
          () => ({
            title: `${name(row)} compared with ${best}`,
            about: `On the ${plural(shared, "problem")} that both solve it costs ${number(factor)} times as much as ${best}, and less on ${faster}.`,
            runs: model.runsOf[row.series].filter(
              (run) => model.cost(run) !== null && solvedThere.has(model.data.runs.problem[run]),
            ),
            value: costValue(model),
          }),
          `${number(factor)} times the cost of the best`,
        );
      },
    },
    {
      key: "iterations",
      title: "Iterations",
      group: "Cost",
      numeric: true,
      help: "median over the problems it solved",
      value: ({ series }) => iterations(model, series),
      cell: (row) => {
        const value = iterations(model, row.series);
        return value === null
          ? number(null)
          : open(
              count(value),
              () => ({
                title: `Iterations of ${name(row)}`,
                about: `Median ${count(value)} over the problems it solved.`,
                runs: model.runsOf[row.series].filter((run) => model.cost(run) !== null),
                value: { name: "iterations", unit: "", of: (run) => model.data.runs.iterations[run] },
              }),
              `${count(value)} iterations`,
            );
      },
    },
    metricColumn("energy", "Energy, median", "metricMedian"),
    metricColumn("energy", "Energy, largest", "metricMost"),
    ...(errors === "energy"
      ? []
      : [
          metricColumn("natural_map", "Natural map", errors),
          metricColumn("creep", "Creep", errors),
          metricColumn("penetration", "Overlap", errors),
        ]),
  ];
  const table = sortable(columns(), { id: "solvers", name: "Methods", start: "rank", few: 12, what: "method" });

  const filter = h("input", {
    type: "search",
    id: "solver-filter",
    placeholder: "nsgs, omega \u2026",
    oninput: () => {
      text = filter.value.trim().toLowerCase();
      fill();
      moved(true);
    },
  });
  keep("solvers.filter", {
    read: () => filter.value.trim() || null,
    apply: (value) => {
      filter.value = value ?? "";
      text = filter.value.trim().toLowerCase();
      fill();
    },
  });
  const formulations = [...new Set(model.data.methods.map((method) => method.formulation))].sort();
  function wanted(): Row[] {
    return model
      .ranking()
      .map((series, i) => ({ series, rank: i + 1 }))
      .filter(({ series }) => {
        const one = model.series[series],
          method = model.data.methods[one.method],
          score = model.score(series);
        const words = `${one.label} ${method.formulation} ${method.solver} ${method.set} ${method.with}`.toLowerCase();
        return (
          text.split(/\s+/).every((word) => words.includes(word)) &&
          (!formulation || method.formulation === formulation) &&
          (state !== "clean" || (score.failed === 0 && score.solved > 0)) &&
          (state !== "some" || score.solved > 0) &&
          (state !== "failing" || score.failed > 0)
        );
      });
  }
  function fill(): void {
    const rows = wanted();
    model.tabled = rows.map(({ series }) => series);
    table.fill(rows);
    const kinds = new Set<number>();
    for (const { series } of rows) for (const run of model.runsOf[series]) kinds.add(model.verdict(run));
    kinds.delete(SOLVED);
    key.replaceChildren(
      ...[...kinds].sort((a, b) => b - a).map((kind) => badge(model.verdicts[kind].colour, model.verdicts[kind].name)),
    );
    status.textContent =
      rows.length === model.series.length
        ? plural(rows.length, "method")
        : `${rows.length} of ${plural(model.series.length, "method")}`;
  }
  function numbers(): string {
    const heads = [
      "rank",
      "series",
      "tolerance",
      "solved",
      "not solved",
      "not applicable",
      "missing",
      "rate",
      "low",
      "high",
      "common",
      "cost, unsolved penalised [s]",
      "cost of what it solved [s]",
      "cost median [s]",
      "cost largest [s]",
      "factor",
      "shared",
      "faster",
      ...model.data.metrics.flatMap(({ name: metric }) => [`${metric} median`, `${metric} largest`]),
    ];
    return csv(
      heads,
      wanted().map(({ series, rank }) => {
        const one = model.series[series],
          score = model.score(series);
        return [
          rank,
          one.label,
          model.toleranceValue,
          score.solved,
          score.failed,
          score.refused,
          score.missing,
          score.rate,
          score.low,
          score.high,
          score.common,
          score.cost,
          score.costSolved,
          score.costMedian,
          score.costMost,
          score.versus.factor,
          score.versus.shared,
          score.versus.faster,
          ...model.data.metrics.flatMap(({ name: metric }) => [
            one.metricMedian[metric] ?? null,
            one.metricMost[metric] ?? null,
          ]),
        ];
      }),
    );
  }
  model.onChange(fill);
  fill();
  return h(
    "div",
    { class: "block" },
    h(
      "div",
      { class: "controls" },
      h("label", { class: "choice" }, h("span", null, "filter"), filter),
      menu(
        "solvers.formulation",
        "formulation",
        [["", "all"], ...formulations.map((one): [string, string] => [one, one])],
        formulation,
        (value) => {
          formulation = value;
          fill();
        },
      ),
      menu(
        "solvers.show",
        "show",
        [
          ["", "all"],
          ["clean", "without failures"],
          ["some", "that solved a problem"],
          ["failing", "with failures"],
        ],
        state,
        (value) => {
          state = value;
          fill();
        },
      ),
      menu(
        "solvers.errors",
        "errors",
        [
          ["energy", "energy"],
          ["metricMedian", "all, median"],
          ["metricMost", "all, largest"],
        ],
        errors,
        (value) => {
          errors = value as typeof errors;
          table.columns(columns());
        },
      ),
      h("span", { class: "saves" }, saveMenu("Methods", { name: "solvers", csv: numbers, text: table.text }).element),
    ),
    status,
    table.element,
    key,
  );
}

function interval(rate: number | null, low: number, high: number): HTMLElement {
  const range = h("span", { class: "range" }),
    mark = h("span", { class: "mark" });
  range.style.left = percentage(low);
  range.style.width = percentage(high - low);
  if (rate !== null) mark.style.left = percentage(rate);
  return h(
    "span",
    {
      class: "interval",
      role: "img",
      "aria-label": rate === null ? "no rate" : `${percent(rate)}, between ${percent(low)} and ${percent(high)}`,
    },
    range,
    rate === null ? null : mark,
  );
}
const percentage = (share: number): string => `${(100 * share).toFixed(2)}%`;

/** Runs that did not solve their problem, by verdict, worst first. */
function unsolved(model: Model, series: number): Map<number, number[]> {
  const kinds = new Map<number, number[]>();
  for (const run of model.runsOf[series]) {
    const verdict = model.verdict(run);
    if (verdict === SOLVED) continue;
    const list = kinds.get(verdict);
    if (list) list.push(run);
    else kinds.set(verdict, [run]);
  }
  return new Map([...kinds].sort((a, b) => b[0] - a[0]));
}

function failures(model: Model, series: number): Child {
  const kinds = unsolved(model, series);
  if (kinds.size === 0) return h("span", { class: "aside" }, "none");
  return h(
    "span",
    { class: "kinds" },
    [...kinds].map(([verdict, runs]) => {
      const { name, colour, summary } = model.verdicts[verdict];
      return h(
        "button",
        {
          type: "button",
          class: model.isFailure(verdict) ? "kind" : "kind faint",
          title: `${name}: ${summary}`,
          "aria-label": `${count(runs.length)} ${name}`,
          onclick: () =>
            showRuns(model, {
              title: `${name}: ${model.series[series].label}`,
              about: summary,
              runs,
              value: metricValue(model, model.data.measure),
            }),
        },
        badge(colour, count(runs.length)),
      );
    }),
  );
}
