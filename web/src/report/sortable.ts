// A table that sorts by a click on a heading, with the arrow keys where they belong: headings are buttons. A long one begins with
// its first rows.
import type { Child } from "../common/dom";
import { h } from "../common/dom";
import { plural } from "../common/format";
import { keep, moved } from "./address";
import type { TextTable } from "./paper";

export interface Column<Row> {
  key: string;
  title: string;
  group?: string; // heading above the headings; neighbours of the same name share it
  help?: string;
  numeric?: boolean;
  falling?: boolean; // first click: largest first
  head?: boolean; // names the row; without any, the first column does
  value: (row: Row) => number | string | null; // null always comes last
  cell: (row: Row) => Child;
  text?: (row: Row) => string; // on paper; without it: the words of the cell
  short?: string; // title on paper; "" leaves the column out
}

export interface SortableTable<Row> {
  element: HTMLElement;
  fill(rows: Row[]): void;
  /** Other columns than before. */
  columns(wanted: Column<Row>[]): void;
  /** The table as it is read, all rows of it. */
  text(): TextTable;
}

export interface SortableOptions {
  id: string; // of the table in the address
  name: string;
  start: string; // key of the column that sorts at first
  few?: number; // rows at first
  what?: string; // what a row is: "method"
}

export function sortable<Row>(all: Column<Row>[], options: SortableOptions): SortableTable<Row> {
  const { id, name, start, few = Infinity, what = "row" } = options;
  let columns = all;
  const risesAtFirst = (wanted: string): boolean => !columns.find((column) => column.key === wanted)?.falling;
  let key = start,
    up = risesAtFirst(start),
    whole = false;
  let rows: Row[] = [];
  const head = h("thead"),
    body = h("tbody");
  const scroller = h(
    "div",
    { class: "scroller", tabindex: "0", role: "region", "aria-label": `${name}, table` },
    h("table", { class: "wide" }, h("caption", { class: "visually-hidden" }, name), head, body),
  );
  const more = h("button", {
    type: "button",
    class: "more-rows",
    "aria-expanded": false,
    onclick: () => {
      whole = !whole;
      draw();
      moved();
      if (!whole) scroller.scrollIntoView({ block: "nearest", behavior: "instant" });
    },
  });
  const element = h("div", { class: "sortable" }, scroller, more);

  keep(`${id}.sort`, {
    read: () => (key === start && up === risesAtFirst(start) ? null : (up ? "" : "-") + key),
    apply: (value) => {
      const wanted = (value ?? start).replace(/^-/, "");
      if (!columns.some((column) => column.key === wanted)) return;
      key = wanted;
      up = value === null ? risesAtFirst(start) : !value.startsWith("-");
      draw();
    },
  });
  keep(`${id}.rows`, {
    read: () => (whole ? "all" : null),
    apply: (value) => {
      whole = value === "all";
      draw();
    },
  });

  function sortBy(column: Column<Row>): void {
    up = key === column.key ? !up : !column.falling;
    key = column.key;
    draw();
    (head.querySelector(`[data-column="${column.key}"] button`) as HTMLElement).focus();
    moved();
  }
  function sorted(): Row[] {
    const column = columns.find((one) => one.key === key) ?? columns[0];
    const values = new Map(rows.map((row) => [row, column.value(row)]));
    return [...rows].sort((a, b) => {
      const first = values.get(a) ?? null,
        second = values.get(b) ?? null;
      if (first === null || second === null) return Number(first === null) - Number(second === null);
      const order =
        typeof first === "string"
          ? first.localeCompare(String(second), "en", { numeric: true })
          : first - Number(second);
      return up ? order : -order;
    });
  }
  function headings(): HTMLElement[] {
    const groups: HTMLElement[] = [];
    for (let i = 0; i < columns.length;) {
      let end = i + 1;
      while (end < columns.length && columns[end].group === columns[i].group) end++;
      const { group } = columns[i];
      groups.push(
        group
          ? h("th", { scope: "colgroup", colspan: end - i }, h("span", null, group))
          : h("td", { colspan: end - i }),
      );
      i = end;
    }
    const titles = columns.map((column, i) =>
      h(
        "th",
        {
          scope: "col",
          class:
            [column.numeric ? "n" : "", column.group !== columns[i - 1]?.group && i > 0 ? "edge" : ""]
              .join(" ")
              .trim() || null,
          "data-column": column.key,
          "aria-sort": column.key === key ? (up ? "ascending" : "descending") : null,
          title: column.help,
        },
        h(
          "button",
          { type: "button", class: "sort", onclick: () => sortBy(column) },
          column.title,
          h("span", { class: "arrow", "aria-hidden": true }),
        ),
      ),
    );
    return [
      ...(columns.some((column) => column.group) ? [h("tr", { class: "groups" }, groups)] : []),
      h("tr", null, titles),
    ];
  }
  function draw(): void {
    const names = Math.max(
      0,
      columns.findIndex((column) => column.head),
    );
    // A few rows more are cheaper than a button.
    const short = rows.length > few + 3;
    head.replaceChildren(...headings());
    body.replaceChildren(
      ...sorted().map((row, place) =>
        h(
          "tr",
          { class: short && !whole && place >= few ? "beyond" : null },
          columns.map((one, i) =>
            h(
              i === names ? "th" : "td",
              {
                scope: i === names ? "row" : null,
                class:
                  [one.numeric ? "n" : "", one.group !== columns[i - 1]?.group && i > 0 ? "edge" : ""]
                    .join(" ")
                    .trim() || null,
                "data-column": one.key,
              },
              one.cell(row),
            ),
          ),
        ),
      ),
    );
    more.hidden = !short;
    more.textContent = whole ? `First ${few} only` : `All ${plural(rows.length, what)}`;
    more.setAttribute("aria-expanded", String(whole));
    scroller.classList.toggle("whole", short && whole);
  }
  return {
    element,
    fill(wanted) {
      rows = wanted;
      draw();
    },
    columns(wanted) {
      columns = wanted;
      draw();
    },
    text: () => {
      const printed = columns.filter((column) => column.short !== "");
      return {
        title: name,
        columns: printed.map((column) => column.short ?? column.title),
        groups: printed.map((column) => column.group ?? ""),
        rows: sorted().map((row) =>
          printed.map((column) => column.text?.(row) ?? h("span", null, column.cell(row)).textContent ?? ""),
        ),
        numeric: printed.map((column) => column.numeric ?? false),
      };
    },
  };
}
