// What readers ask before they believe a ledger: what does no method solve, what does not reproduce, how far do metrics tell the truth,
// and where do the runs come from. The tables of `report --figure unsolved`, `reproduction`, `trust` and `ledgers`.
import type { Child } from "../common/dom";
import { foreign, h } from "../common/dom";
import { csv } from "../common/download";
import { NONE, count, number, percent, plural, power } from "../common/format";
import { look } from "../common/palette";
import type { Differing, Ledger, Trust, Unsolved } from "./data";
import { metricValue, runsButton } from "./details";
import { saveMenu } from "./figure";
import type { Model } from "./model";
import type { Column, SortableTable } from "./sortable";
import { sortable } from "./sortable";
import { swatch } from "./swatch";

/** A sentence, the table, and its numbers to save. */
function block<Row>(name: string, id: string, status: Child, table: SortableTable<Row>, numbers: () => string): HTMLElement {
  const saving = saveMenu(name, { name: id, csv: numbers, text: table.text });
  return h("div", { class: "block" }, h("div", { class: "with-save" }, status, saving.element), table.element);
}

/** Which problem, in two columns. */
function problemColumns<Row>(model: Model, of: (row: Row) => number): Column<Row>[] {
  const { problems } = model.data;
  return [
    {
      key: "scene",
      title: "Scene",
      value: (row) => problems[of(row)].scene,
      cell: (row) => foreign(problems[of(row)].scene),
    },
    {
      key: "place",
      title: "File and place",
      value: (row) => problems[of(row)].file + problems[of(row)].place,
      cell: (row) =>
        h(
          "span",
          { class: "place" },
          foreign(problems[of(row)].file),
          h("span", { class: "aside block-aside" }, foreign(problems[of(row)].place)),
        ),
    },
  ];
}
/** ... and in three cells of CSV. */
function problemCells(model: Model, index: number): (string | number | null)[] {
  const problem = model.data.problems[index];
  return [problem.scene, problem.file, problem.index < 0 ? null : problem.index];
}

export function unsolvedTable(model: Model): HTMLElement {
  const { problems, runs, measure } = model.data;
  const rows = (): Unsolved[] => model.data.unsolved[model.tolerance];
  const error = (row: Unsolved): number | null => (row.nearest === null ? null : model.metric(measure, row.nearest));
  const nearest = (row: Unsolved): string | null =>
    row.nearest === null ? null : model.series[runs.series[row.nearest]].label;
  const table = sortable<Unsolved>(
    [
      ...problemColumns<Unsolved>(model, (row) => row.problem),
      {
        key: "contacts",
        title: "Contacts",
        numeric: true,
        value: (row) => problems[row.problem].contacts,
        cell: (row) => count(problems[row.problem].contacts),
      },
      {
        key: "tried",
        title: "Runs",
        help: "of methods that accept the problem",
        numeric: true,
        falling: true,
        value: (row) => row.tried,
        cell: (row) =>
          runsButton(model, count(row.tried), () => ({
            title: `${problems[row.problem].scene} ${problems[row.problem].place}`,
            runs: model.runsOn[row.problem],
            value: metricValue(model, measure),
          })),
      },
      {
        key: "nearest",
        title: "Nearest",
        help: "the method with the least error",
        value: nearest,
        cell: (row) =>
          row.nearest === null
            ? NONE
            : h("span", null, swatch(look(runs.series[row.nearest])), " ", foreign(nearest(row)!)),
      },
      {
        key: "error",
        title: "Its error",
        help: model.measureName,
        numeric: true,
        falling: true,
        value: error,
        cell: (row) => number(error(row)),
      },
    ],
    { id: "unsolved", name: "Problems that no method solves", start: "error", few: 12, what: "problem" },
  );
  const status = h("p", { class: "read", role: "status" });
  function fill(): void {
    const left = rows().length;
    status.textContent =
      left === 0
        ? `At ${power(model.toleranceValue)} each problem is solved by at least one method.`
        : `At ${power(model.toleranceValue)} no method solves ${left === 1 ? "this problem" : `these ${count(left)} problems`}; ` +
          "the nearest answer is the one with the least error.";
    table.element.hidden = left === 0;
    table.fill(rows());
  }
  const numbers = (): string =>
    csv(
      ["Scene", "File", "Frame", "Contacts", "Runs", "Nearest", "Error"],
      rows().map((row) => [
        ...problemCells(model, row.problem),
        problems[row.problem].contacts,
        row.tried,
        nearest(row),
        error(row),
      ]),
    );
  model.onChange(fill);
  fill();
  return block("Problems that no method solves", "unsolved", status, table, numbers);
}

export function reproductionTable(model: Model): HTMLElement {
  const { runs, machines, methods, outcomes, measure, reproduction } = model.data;
  const { compared, differing } = reproduction;
  const method = (row: Differing): string => methods[runs.method[row.run]].label;
  const version = (row: Differing): string => machines[runs.machine[row.run]].version;
  const machine = (run: number): string => machines[runs.machine[run]].name;
  const outcome = (run: number): string => outcomes[runs.outcome[run]];
  const side = (key: "first" | "run", group: string): Column<Differing>[] => [
    {
      key: `${key}-machine`,
      title: "Machine",
      group,
      value: (row) => machine(row[key]),
      cell: (row) => foreign(machine(row[key])),
    },
    {
      key: `${key}-outcome`,
      title: "Outcome",
      group,
      value: (row) => outcome(row[key]),
      cell: (row) => outcome(row[key]),
    },
    {
      key: `${key}-error`,
      title: "Error",
      group,
      help: model.measureName,
      numeric: true,
      falling: true,
      value: (row) => model.metric(measure, row[key]),
      cell: (row) =>
        runsButton(model, number(model.metric(measure, row[key])), () => ({
          title: method(row),
          runs: [row.first, row.run],
          value: metricValue(model, measure),
        })),
    },
  ];
  const table = sortable<Differing>(
    [
      ...problemColumns<Differing>(model, (row) => runs.problem[row.run]),
      { key: "method", title: "Method", value: method, cell: (row) => foreign(method(row)) },
      { key: "version", title: "Version", value: version, cell: (row) => foreign(version(row)) },
      ...side("first", "First"),
      ...side("run", "Again"),
    ],
    { id: "reproduction", name: "Runs that do not reproduce", start: "scene", few: 12, what: "run" },
  );
  table.fill(differing);
  table.element.hidden = differing.length === 0;
  const again = `${plural(compared, "run")} repeated with the same version on another machine`;
  const status = h(
    "p",
    { class: "read" },
    differing.length === 0
      ? `Of ${again}, all have the same outcome and, bit by bit, the same answer.`
      : `Of ${again}, ${count(differing.length)} ${differing.length === 1 ? "has" : "have"} another outcome or another answer, by its bits.`,
  );
  const sides = ["Machine", "Outcome", "Error"];
  const numbers = (): string =>
    csv(
      ["Scene", "File", "Frame", "Method", "Version", ...sides, ...sides],
      differing.map((row) => [
        ...problemCells(model, runs.problem[row.run]),
        method(row),
        version(row),
        ...[row.first, row.run].flatMap((run) => [machine(run), outcome(run), model.metric(measure, run)]),
      ]),
    );
  return block("Runs that do not reproduce", "reproduction", status, table, numbers);
}

export function trustTable(model: Model): HTMLElement {
  const { trust } = model.data;
  const ratio = (key: string, title: string, help: string, value: (row: Trust) => number): Column<Trust> => ({
    key,
    title,
    help,
    numeric: true,
    value,
    cell: (row) => number(value(row)),
  });
  const table = sortable<Trust>(
    [
      { key: "metric", title: "Metric", value: (row) => row.metric, cell: (row) => h("code", null, row.metric) },
      {
        key: "over",
        title: "Over",
        help: "the true error that it estimates, in the same unit",
        value: (row) => row.over,
        cell: (row) => h("code", null, row.over),
      },
      { key: "runs", title: "Runs", numeric: true, falling: true, value: (row) => row.runs, cell: (row) => count(row.runs) },
      ratio("median", "Median", "1: the metric is the true error", (row) => row.median),
      ratio("low", "5 %", "of the runs have a smaller ratio", (row) => row.low),
      ratio("high", "95 %", "of the runs have a smaller ratio", (row) => row.high),
      // a metric that is zero or below it at answers with an error orders nothing: it stands last
      ratio("spread", "Spread", "95 % over 5 %: the smaller, the better the metric orders answers", (row) =>
        row.low > 0 ? row.high / row.low : Infinity),
      {
        key: "below",
        title: "Below 1",
        help: "runs whose error the metric understates",
        numeric: true,
        falling: true,
        value: (row) => row.below,
        cell: (row) => percent(row.below),
      },
    ],
    { id: "trust", name: "How far metrics can be trusted", start: "spread", what: "metric" },
  );
  table.fill(trust);
  const numbers = (): string =>
    csv(
      ["Metric", "Over", "Runs", "Median", "5 %", "95 %", "Below 1"],
      trust.map((row) => [row.metric, row.over, row.runs, row.median, row.low, row.high, row.below]),
    );
  const status = h(
    "p",
    { class: "read" },
    "Each metric that estimates an error, over the true error of the same answer against the reference of its problem. Where most " +
      "ratios lie within a small spread, the metric orders answers as the truth does, whatever the median is.",
  );
  return block("How far metrics can be trusted", "trust", status, table, numbers);
}

export function ledgerTable(model: Model): HTMLElement {
  const { machines, ledgers } = model.data;
  const of = (row: Ledger) => machines[row.machine];
  const built = (row: Ledger): string => `${of(row).compiler}, ${of(row).build}`;
  const words = (key: string, title: string, text: (row: Ledger) => string): Column<Ledger> => ({
    key,
    title,
    value: text,
    cell: (row) => foreign(text(row) || NONE),
  });
  const amount = (key: string, title: string, value: (row: Ledger) => number): Column<Ledger> => ({
    key,
    title,
    numeric: true,
    falling: true,
    value,
    cell: (row) => count(value(row)),
  });
  const day = (time: string): string => time.slice(0, 10);
  const table = sortable<Ledger>(
    [
      { ...words("file", "Ledger", (row) => row.file), cell: (row) => foreign(row.file, "code") },
      words("machine", "Machine", (row) => of(row).name),
      words("cpu", "Processor", (row) => of(row).cpu),
      amount("cores", "Cores", (row) => of(row).cores),
      words("system", "System", (row) => of(row).system),
      words("version", "stickslip", (row) => of(row).version),
      words("build", "Built by", built),
      {
        ...words("source", "Source", (row) => row.builds),
        help: "the build of stickslip that made the runs, by the digest of its source that stickslip --version prints",
      },
      {
        ...words("dates", "Dates", (row) => row.first),
        help: "when the first and the last run were started, UTC",
        cell: (row) => {
          if (!row.first) return NONE;
          const whole = day(row.first) === day(row.last) ? day(row.first) : `${day(row.first)} to ${day(row.last)}`;
          return h("span", { class: "date", title: `${row.first} to ${row.last}` }, foreign(whole));
        },
      },
      amount("runs", "Runs", (row) => row.runs),
      {
        ...words("collections", "Collection", (row) => row.collections),
        help: "name and version of the collections that its problems are of",
      },
    ],
    { id: "ledgers", name: "Ledgers", start: "file", few: 24, what: "ledger" },
  );
  table.fill(ledgers);
  const numbers = (): string =>
    csv(
      ["Ledger", "Machine", "Processor", "Cores", "System", "Version", "Build", "Source", "First", "Last", "Runs", "Collection"],
      ledgers.map((row) => [
        row.file,
        of(row).name,
        of(row).cpu,
        of(row).cores,
        of(row).system,
        of(row).version,
        built(row),
        row.builds,
        row.first,
        row.last,
        row.runs,
        row.collections,
      ]),
    );
  const status = h(
    "p",
    { class: "read" },
    "Each ledger, and where several machines wrote to it, each of them. Runs that several ledgers have count once above.",
  );
  return block("Ledgers", "ledgers", status, table, numbers);
}
