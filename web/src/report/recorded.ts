// Answers as recorded: what engines stored in the files, judged by the rules they were made with. They have errors like the
// methods above, but no time that compares: it is unknown on which machine they were made.
import { foreign, h } from "../common/dom";
import { csv } from "../common/download";
import { number, plural, power } from "../common/format";
import type { Recorded } from "./data";
import { metricValue, runsButton } from "./details";
import { saveMenu } from "./figure";
import type { Model } from "./model";
import type { Column } from "./sortable";
import { sortable } from "./sortable";

export function recordedTable(model: Model): HTMLElement {
  const { recorded, methods, measure, metrics } = model.data;
  const label = (row: Recorded): string => methods[row.method].label;
  const metricColumn = (metric: string, which: "metricMedian" | "metricMost"): Column<Recorded> => {
    const unit = model.unit(metric),
      word = which === "metricMedian" ? "median" : "largest",
      name = metric.replaceAll("_", " ");
    return {
      key: `${metric}-${word}`,
      title: `${name}, ${word}${["1", "mixed"].includes(unit) ? "" : ` [${unit}]`}`,
      numeric: true,
      help: metrics.find((one) => one.name === metric)?.summary,
      value: (row) => row[which][metric] ?? null,
      cell: (row) =>
        runsButton(
          model,
          number(row[which][metric] ?? null),
          () => ({ title: `${name} of ${label(row)}`, runs: row.runs, value: metricValue(model, metric) }),
          `${word} ${name} ${number(row[which][metric] ?? null)}`,
        ),
    };
  };
  const columns: Column<Recorded>[] = [
    { key: "label", title: "Answers", value: label, cell: (row) => foreign(label(row)) },
    {
      key: "within",
      title: "Solved",
      numeric: true,
      falling: true,
      help: "answers within the tolerance, of those that were judged",
      value: (row) => row.within[model.tolerance],
      cell: (row) =>
        runsButton(
          model,
          `${row.within[model.tolerance]}/${row.tried}`,
          () => ({
            title: `Answers of ${label(row)}`,
            about: `${row.within[model.tolerance]} of ${row.tried} within ${power(model.toleranceValue)}${row.incomplete > 0 ? `; ${plural(row.incomplete, "incomplete answer")} not judged` : ""}.`,
            runs: row.runs,
            value: metricValue(model, measure),
          }),
          `${row.within[model.tolerance]}/${row.tried} solved`,
        ),
    },
    metricColumn("energy", "metricMedian"),
    metricColumn("energy", "metricMost"),
    metricColumn("natural_map", "metricMedian"),
    metricColumn("creep", "metricMedian"),
    metricColumn("penetration", "metricMedian"),
    {
      key: "rules",
      title: "Judged by",
      help: "how gaps and joint errors were treated when the answers were made",
      value: (row) => methods[row.method].with,
      cell: (row) => [
        foreign(`${methods[row.method].formulation}, ${methods[row.method].with}`),
        row.assumed > 0 ? h("span", { class: "aside" }, ` (assumed for ${row.assumed}: the file does not say)`) : null,
      ],
    },
  ];
  const table = sortable(columns, {
    id: "recorded",
    name: "Answers as recorded",
    start: "label",
    few: 12,
    what: "result",
  });
  const fill = (): void => table.fill(recorded);
  model.onChange(fill);
  fill();
  const numbers = (): string =>
    csv(
      [
        ...["label", "formulation", "rules", "answers", "incomplete", "assumed", "tried", "within"],
        ...metrics.flatMap(({ name }) => [`${name} median`, `${name} largest`]),
      ],
      recorded.map((row) => [
        label(row),
        methods[row.method].formulation,
        methods[row.method].with,
        row.answers,
        row.incomplete,
        row.assumed,
        row.tried,
        row.within[model.tolerance],
        ...metrics.flatMap(({ name }) => [row.metricMedian[name] ?? null, row.metricMost[name] ?? null]),
      ]),
    );
  return h(
    "div",
    { class: "block" },
    h(
      "div",
      { class: "with-save" },
      h(
        "p",
        { class: "read" },
        "Stored in the files by an engine or an earlier run, and judged here without solving, by the rules they were made with. They have no cost: where and how they were computed is not known.",
      ),
      saveMenu("Answers as recorded", { name: "recorded", csv: numbers, text: table.text }).element,
    ),
    table.element,
  );
}
