// Methods against the best of others in hindsight, problem by problem: report --against.
import type { Child } from "../common/dom";
import { foreign, h } from "../common/dom";
import { csv } from "../common/download";
import { NONE, count, number, plural, power, seconds } from "../common/format";
import type { Against, AgainstSide } from "./data";
import { saveMenu } from "./figure";
import type { Model } from "./model";
import type { Column } from "./sortable";
import { sortable } from "./sortable";

type Row = Against["scores"][number]["problems"][number];

export function againstTable(model: Model, against: Against): HTMLElement {
  const { problems, methods, machines } = model.data;
  const others = against.bestOf ?? "the others";
  const score = (): Against["scores"][number] => against.scores[model.tolerance];
  const nameOf = (row: Row): string => {
    const { file, index } = problems[row.problem];
    const stem = file.slice(file.lastIndexOf("/") + 1).replace(/\.[^.]*$/, "");
    const machine = machines.length > 1 ? ` @ ${machines[row.machine].name}` : "";
    return `${stem}${index < 0 ? "" : ` ${index}`}${machine}`;
  };
  // Solver and options: at one tolerance the stop rule is not what tells methods apart.
  const method = (side: AgainstSide | null): string | null =>
    side === null ? null : `${methods[side.method].solver} ${methods[side.method].set}`.trim();
  const ratio = (row: Row): Child => {
    if (row.ratio !== null) return number(row.ratio);
    return row.against ? "only" : row.best ? "not solved" : NONE;
  };

  const side = (key: string, title: string, of: (row: Row) => AgainstSide | null): Column<Row>[] => [
    { key, title, value: (row) => method(of(row)), cell: (row) => foreign(method(of(row)) ?? NONE) },
    {
      key: `${key}-cost`,
      title: "its cost",
      numeric: true,
      value: (row) => of(row)?.cost ?? null,
      cell: (row) => seconds(of(row)?.cost ?? null),
    },
  ];
  const table = sortable<Row>(
    [
      { key: "problem", title: "Problem", value: nameOf, cell: (row) => foreign(nameOf(row)) },
      ...side("best", `Best of ${others}`, (row) => row.best),
      ...side("method", `Best of ${against.methods}`, (row) => row.against),
      {
        key: "ratio",
        title: "Ratio",
        help: `cost over that of the best of ${others}; below 1 it is faster`,
        numeric: true,
        falling: true,
        value: (row) => row.ratio,
        cell: ratio,
      },
    ],
    { id: "against", name: "Against the best in hindsight", start: "problem", few: 12, what: "problem" },
  );

  const status = h("p", { class: "read" });
  function fill(): void {
    const { both, only, onlyBest, slower, twiceAsSlow, geometricMean, worst } = score();
    const solved = `${against.methods} solves ${count(both + only)} of ${plural(score().problems.length, "problem")}`;
    const ratios =
      `Cost over that of the best of ${others} in hindsight, on the ${count(both)} that both solve: ` +
      `geometric mean ${number(geometricMean)}, above 1 on ${count(slower)}, above 2 on ${count(twiceAsSlow)}, ` +
      `at worst ${number(worst)}.`;
    const refused = `Left out: ${plural(against.refused, "problem")} that no method of one side accepts.`;
    status.textContent = [
      `At ${power(model.toleranceValue)}, ${solved}, at least one of ${others} ${count(both + onlyBest)}.`,
      ...(both > 0 ? [ratios] : []),
      ...(against.refused > 0 ? [refused] : []),
    ].join(" ");
    table.fill(score().problems);
  }
  const numbers = (): string =>
    csv(
      ["problem", "tolerance", "best", "its cost [s]", "method", "its cost [s]", "ratio"],
      score().problems.map((row) => [
        nameOf(row),
        model.toleranceValue,
        method(row.best),
        row.best?.cost ?? null,
        method(row.against),
        row.against?.cost ?? null,
        row.ratio,
      ]),
    );
  const saving = saveMenu("Against the best in hindsight", { name: "against", csv: numbers, text: table.text });
  const element = h("div", { class: "block" }, h("div", { class: "with-save" }, status, saving.element), table.element);
  model.onChange(fill);
  fill();
  return element;
}
