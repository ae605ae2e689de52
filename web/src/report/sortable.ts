// A table that sorts by a click on a heading, with the arrow keys where they belong: headings are buttons.
import type { Child } from "../common/dom";
import { h } from "../common/dom";

export interface Column<Row> {
  key: string;
  title: string;
  help?: string;
  numeric?: boolean;
  falling?: boolean; // first click: largest first
  value: (row: Row) => number | string | null; // null always comes last
  cell: (row: Row) => Child;
}

export interface SortableTable<Row> {
  element: HTMLElement;
  fill(rows: Row[]): void;
}

export function sortable<Row>(name: string, columns: Column<Row>[], start: string): SortableTable<Row> {
  let key = start,
    up = !columns.find((column) => column.key === start)?.falling;
  let rows: Row[] = [];
  const body = h("tbody");
  const heads = columns.map((column) =>
    h(
      "th",
      { scope: "col", class: column.numeric ? "n" : null, "data-column": column.key, title: column.help },
      h(
        "button",
        { type: "button", class: "sort", onclick: () => sortBy(column) },
        column.title,
        h("span", { class: "arrow", "aria-hidden": true }),
      ),
    ),
  );
  const element = h(
    "div",
    { class: "scroller", tabindex: "0", role: "region", "aria-label": name },
    h(
      "table",
      { class: "wide" },
      h("caption", { class: "visually-hidden" }, name),
      h("thead", null, h("tr", null, heads)),
      body,
    ),
  );

  function sortBy(column: Column<Row>): void {
    up = key === column.key ? !up : !column.falling;
    key = column.key;
    draw();
  }
  function draw(): void {
    const column = columns.find((one) => one.key === key)!;
    columns.forEach((one, i) => {
      if (one.key === key) heads[i].setAttribute("aria-sort", up ? "ascending" : "descending");
      else heads[i].removeAttribute("aria-sort");
    });
    const values = new Map(rows.map((row) => [row, column.value(row)]));
    const sorted = [...rows].sort((a, b) => {
      const first = values.get(a) ?? null,
        second = values.get(b) ?? null;
      if (first === null || second === null) return Number(first === null) - Number(second === null);
      const order =
        typeof first === "string"
          ? first.localeCompare(String(second), "en", { numeric: true })
          : first - Number(second);
      return up ? order : -order;
    });
    body.replaceChildren(
      ...sorted.map((row) =>
        h(
          "tr",
          null,
          columns.map((one, i) =>
            h(
              i === 0 ? "th" : "td",
              { scope: i === 0 ? "row" : null, class: one.numeric ? "n" : null, "data-column": one.key },
              one.cell(row),
            ),
          ),
        ),
      ),
    );
  }
  return {
    element,
    fill(wanted) {
      rows = wanted;
      draw();
    },
  };
}
