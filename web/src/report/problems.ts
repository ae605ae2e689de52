// The problems, and what is known of them.
import { foreign, h } from "../common/dom";
import { csv } from "../common/download";
import { count, number, plural } from "../common/format";
import { keep, menu, moved } from "./address";
import type { Problem } from "./data";
import { metricValue, runsButton } from "./details";
import { saveMenu } from "./figure";
import type { Model } from "./model";
import { schedule } from "./schedule";
import type { Column } from "./sortable";
import { sortable } from "./sortable";

interface Row {
  problem: Problem;
  index: number;
}

export function problemTable(model: Model): HTMLElement {
  let text = "",
    state = "";
  const status = h("p", { class: "read", role: "status" });
  const plain = (key: keyof Problem, title: string, help?: string): Column<Row> => ({
    key,
    title,
    help,
    numeric: true,
    value: ({ problem }) => problem[key] as number | null,
    cell: ({ problem }) => number(problem[key] as number | null),
  });
  const solved = (row: Row): number => model.runsOn[row.index].filter((run) => model.cost(run) !== null).length;
  const columns: Column<Row>[] = [
    {
      key: "scene",
      title: "Scene",
      value: ({ problem }) => problem.scene,
      cell: ({ problem }) => foreign(problem.scene),
    },
    {
      key: "place",
      title: "File and place",
      value: ({ problem }) => problem.file + problem.place,
      cell: ({ problem }) =>
        h(
          "span",
          { class: "place" },
          foreign(problem.file),
          h("span", { class: "aside block-aside" }, foreign(problem.place)),
        ),
    },
    {
      key: "solved",
      title: "Solved by",
      numeric: true,
      help: "runs that solved it at this tolerance; click to open all of its runs",
      value: solved,
      cell: (row) =>
        row.problem.fault
          ? number(null)
          : runsButton(model, `${solved(row)}/${model.runsOn[row.index].length}`, () => ({
              title: `${row.problem.scene} ${row.problem.place}`,
              runs: model.runsOn[row.index],
              value: metricValue(model, model.data.measure),
            })),
    },
    plain("bodies", "Bodies"),
    plain("joints", "Joints"),
    plain("contacts", "Contacts"),
    plain("rows", "Rows"),
    plain("massRatio", "Mass ratio", "largest over smallest mass"),
    plain("density", "Density", "contact rows over degrees of freedom"),
    plain(
      "rankRatio",
      "Rank ratio",
      "rank of the contact and joint rows over their number; below 1 impulses are not unique",
    ),
    {
      key: "mu",
      title: "Friction",
      numeric: true,
      value: ({ problem }) => problem.muMost,
      cell: ({ problem: { muLeast, muMost } }) =>
        muLeast === muMost ? number(muMost) : `${number(muLeast)} to ${number(muMost)}`,
    },
    plain("h", "Step [s]"),
    plain("time", "Time [s]"),
  ];
  if (model.data.problems.some((problem) => problem.fault))
    columns.push({
      key: "fault",
      title: "Fault",
      value: ({ problem }) => problem.fault,
      cell: ({ problem }) => (problem.fault ? foreign(problem.fault) : ""),
    });
  const table = sortable(columns, { id: "problems", name: "Problems", start: "scene", few: 12, what: "problem" });
  const filter = h("input", {
    type: "search",
    id: "problem-filter",
    placeholder: "scene, file, frame \u2026",
    oninput: () => {
      text = filter.value.trim().toLowerCase();
      fill();
      moved(true);
    },
  });
  keep("problems.filter", {
    read: () => filter.value.trim() || null,
    apply: (value) => {
      filter.value = value ?? "";
      text = filter.value.trim().toLowerCase();
      fill();
    },
  });
  function wanted(): Row[] {
    return model.data.problems
      .map((problem, index) => ({ problem, index }))
      .filter((row) => {
        const { problem } = row,
          words = `${problem.scene} ${problem.file} ${problem.place}`.toLowerCase();
        return (
          text.split(/\s+/).every((word) => words.includes(word)) &&
          (state !== "unsolved" || (!problem.fault && solved(row) === 0)) &&
          (state !== "fault" || problem.fault !== null)
        );
      });
  }
  function fill(): void {
    const rows = wanted();
    table.fill(rows);
    const faulty = model.data.problems.filter((problem) => problem.fault).length;
    status.textContent = `${count(rows.length)} of ${plural(model.data.problems.length, "problem")}${faulty ? `; ${faulty} cannot be solved because of a fault and do not count` : ""}`;
  }
  function numbers(): string {
    const keys: (keyof Problem)[] = [
      "scene",
      "file",
      "format",
      "index",
      "place",
      "hash",
      "time",
      "h",
      "bodies",
      "joints",
      "contacts",
      "rows",
      "massRatio",
      "density",
      "rankRatio",
      "muLeast",
      "muMost",
      "fault",
    ];
    return csv(
      [...keys, "runs", "solved"],
      wanted().map((row) => [...keys.map((key) => row.problem[key]), model.runsOn[row.index].length, solved(row)]),
    );
  }
  const element = h(
    "div",
    { class: "block tall" },
    h(
      "div",
      { class: "controls" },
      h("label", { class: "choice" }, h("span", null, "filter"), filter),
      menu(
        "problems.show",
        "show",
        [
          ["", "all"],
          ["unsolved", "unsolved"],
          ["fault", "with a fault"],
        ],
        state,
        (value) => {
          state = value;
          fill();
        },
      ),
      h("span", { class: "saves" }, saveMenu("Problems", { name: "problems", csv: numbers, text: table.text }).element),
    ),
    status,
    table.element,
  );
  model.onChange(() => schedule(element, fill));
  schedule(element, fill);
  return element;
}
