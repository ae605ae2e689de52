// The frame around every drawing: number and title, how to read it, selectors, legend, the numbers as a table, downloads.
import { append, foreign, h, svg } from "../common/dom";
import type { Child } from "../common/dom";
import { csv, save, standalone } from "../common/download";
import type { Cell } from "../common/download";
import { NONE, number, plural } from "../common/format";
import { look } from "../common/palette";
import type { Look } from "../common/palette";
import { showRuns } from "./details";
import type { Model } from "./model";
import { DEFAULT_SHOWN } from "./model";
import { schedule } from "./schedule";

/** What is drawn, as numbers: the CSV and the table of the figure. runs: what stands behind a row. */
export interface Table {
  columns: string[];
  rows: Cell[][];
  runs?: number[];
}

/** drawing null: there is nothing to draw, `note` says why. legendOff: the choice of series has no part in it. */
export interface Drawn {
  drawing: SVGSVGElement | null;
  table: Table;
  note?: Child;
  legendOff?: boolean;
}

export interface LegendItem {
  key: string;
  label: string;
  colour: string;
  look?: Look;
  title?: string;
}

export interface FigureSpec {
  id: string;
  title: string;
  read: string; // how to read it, one sentence
  controls?: HTMLElement[];
  legend?: "series" | LegendItem[];
  /** hidden: keys of legend items that are switched off. */
  draw(width: number, hidden: Set<string>): Drawn;
}

export interface Figure {
  element: HTMLElement;
  redraw(): void;
}

const TABLE_LIMIT = 2000; // rows on the page; the CSV has all

let figures = 0;

export function saveButton(title: string, kind: "SVG" | "CSV", onclick: () => void): HTMLButtonElement {
  const label = `${title}: save as ${kind}`;
  return h(
    "button",
    { type: "button", class: "quiet", "data-save": kind.toLowerCase(), "aria-label": label, onclick },
    kind,
  );
}

export function figure(model: Model, spec: FigureSpec): Figure {
  const hidden = new Set<string>();
  const canvas = h("div", { class: "canvas" });
  const note = h("div", { class: "note" });
  const tableHolder = h("div", {
    class: "scroller",
    tabindex: "0",
    role: "region",
    "aria-label": `${spec.title}: numbers`,
  });
  const table = h(
    "details",
    { class: "numbers", ontoggle: () => table.open && fillTable() },
    h("summary", null, "Numbers"),
    tableHolder,
  );
  const saveSvg = saveButton(spec.title, "SVG", () => {
    if (drawn?.drawing) save(`${spec.id}.svg`, "image/svg+xml", standalone(drawn.drawing));
  });
  const saveCsv = saveButton(spec.title, "CSV", () => {
    draw();
    if (drawn) save(`${spec.id}.csv`, "text/csv", csv(drawn.table.columns, drawn.table.rows));
  });
  const legend =
    spec.legend === "series"
      ? seriesLegend(model)
      : spec.legend
        ? itemLegend(spec.legend, hidden, () => redraw())
        : null;
  const heading = h(
    "h3",
    { id: `${spec.id}-title` },
    h("span", { class: "figure-number" }, `Figure ${++figures}`),
    " ",
    spec.title,
  );
  const element = h(
    "figure",
    { id: spec.id, class: "figure", "aria-labelledby": `${spec.id}-title` },
    h("figcaption", null, heading, h("p", { class: "read" }, spec.read)),
    spec.controls?.length ? h("div", { class: "controls" }, spec.controls) : null,
    h("span", { class: "saves" }, saveSvg, saveCsv),
    legend,
    canvas,
    note,
    table,
  );

  let drawn: Drawn | null = null;
  let stale = true;
  let width = 0;

  function draw(): void {
    const room = Math.round(canvas.clientWidth) || 900;
    if (!stale && room === width) return;
    stale = false;
    width = room;
    drawn = spec.draw(Math.max(320, room), hidden);
    if (drawn.drawing) {
      drawn.drawing.setAttribute("role", "img");
      drawn.drawing.setAttribute(
        "aria-label",
        `${spec.title}. ${spec.read} ${plural(drawn.table.rows.length, "row")} of numbers below.`,
      );
      canvas.replaceChildren(drawn.drawing);
    } else canvas.replaceChildren(h("p", { class: "nothing" }, "No data for this figure."));
    if (legend) legend.hidden = drawn.legendOff ?? false;
    saveSvg.disabled = !drawn.drawing;
    note.replaceChildren();
    append(note, [drawn.note]);
    if (table.open) fillTable();
  }

  function fillTable(): void {
    draw();
    if (!drawn) return;
    const { columns, rows, runs } = drawn.table;
    const body = rows.slice(0, TABLE_LIMIT).map((row, index) =>
      h(
        "tr",
        null,
        row.map((cell) =>
          typeof cell === "string"
            ? h("td", null, foreign(cell))
            : h("td", { class: "n" }, cell === null ? NONE : number(cell, 4)),
        ),
        runs
          ? h(
              "td",
              null,
              h(
                "button",
                {
                  type: "button",
                  class: "quiet",
                  onclick: () => showRuns(model, { title: spec.title, runs: [runs[index]] }),
                },
                "Run",
              ),
            )
          : null,
      ),
    );
    tableHolder.replaceChildren(
      h(
        "table",
        null,
        h("caption", { class: "visually-hidden" }, spec.title),
        h(
          "thead",
          null,
          h(
            "tr",
            null,
            columns.map((name) => h("th", { scope: "col" }, name)),
            runs ? h("th", { scope: "col" }, "run") : null,
          ),
        ),
        h("tbody", null, body),
      ),
    );
    if (rows.length > TABLE_LIMIT)
      tableHolder.append(
        h("p", { class: "read" }, `The first ${TABLE_LIMIT} of ${rows.length} rows; the CSV has all.`),
      );
  }

  function redraw(): void {
    stale = true;
    schedule(element, draw);
  }
  new ResizeObserver(() => {
    if (Math.abs(canvas.clientWidth - width) > 1 && canvas.clientWidth > 0) schedule(element, draw);
  }).observe(canvas);
  model.onChange(redraw);
  schedule(element, draw);
  return { element, redraw };
}

/** A piece of line with its marker, as it is in the drawing. */
export function swatch({ colour, dash, marker }: Look): SVGElement {
  return svg(
    "svg",
    { width: 26, height: 12, viewBox: "0 0 26 12", "aria-hidden": "true", focusable: "false" },
    svg("line", { x1: 1, x2: 25, y1: 6, y2: 6, stroke: colour, "stroke-width": 2, "stroke-dasharray": dash }),
    svg("path", { d: MARKER_PATHS[marker], fill: colour, stroke: colour, transform: "translate(13,6)" }),
  );
}
const MARKER_PATHS: Record<Look["marker"], string> = {
  circle: "M-3.4,0a3.4,3.4 0 1,0 6.8,0a3.4,3.4 0 1,0 -6.8,0Z",
  square: "M-3,-3h6v6h-6Z",
  triangle: "M0,-3.8L3.6,2.8H-3.6Z",
  diamond: "M0,-4.4L3,0L0,4.4L-3,0Z",
  cross: "M-4,-1.3h2.7v-2.7h2.6v2.7h2.7v2.6h-2.7v2.7h-2.6v-2.7h-2.7Z",
  star: "M0,-4.5L1.1,-1.4H4.3L1.8,0.5L2.7,3.6L0,1.8L-2.7,3.6L-1.8,0.5L-4.3,-1.4H-1.1Z",
  wye: "M-1.1,4.2V0.6L-4.2,-1.2L-3,-3.1L0,-1.3L3,-3.1L4.2,-1.2L1.1,0.6V4.2Z",
};

function itemLegend(items: LegendItem[], hidden: Set<string>, changed: () => void): HTMLElement {
  return h(
    "div",
    { class: "legend", role: "group", "aria-label": "Legend: show or hide" },
    items.map((item) => {
      const box = item.look
        ? swatch(item.look)
        : svg(
            "svg",
            { width: 14, height: 14, viewBox: "0 0 14 14", "aria-hidden": "true" },
            svg("rect", {
              x: 0.5,
              y: 0.5,
              width: 13,
              height: 13,
              rx: 2,
              fill: item.colour,
              stroke: "var(--line-strong)",
            }),
          );
      const button = h(
        "button",
        {
          type: "button",
          "aria-pressed": true,
          title: item.title,
          onclick: () => {
            const off = !hidden.has(item.key);
            if (off) hidden.add(item.key);
            else hidden.delete(item.key);
            button.setAttribute("aria-pressed", String(!off));
            changed();
          },
        },
        box,
        h("span", null, item.label),
      );
      return button;
    }),
  );
}

/** One choice of series for all figures: with many of them, those that were shown once and the rest behind a button. */
function seriesLegend(model: Model): HTMLElement {
  const buttons = new Map<number, HTMLButtonElement>();
  const list = h("span", { class: "legend-items" });
  let open = false;
  const more = h("button", {
    type: "button",
    class: "quiet",
    "aria-expanded": false,
    onclick: () => {
      open = !open;
      update();
    },
  });
  const element = h(
    "div",
    { class: "legend", role: "group", "aria-label": "Legend: show or hide series" },
    list,
    h(
      "span",
      { class: "legend-tools" },
      more,
      h(
        "button",
        {
          type: "button",
          class: "quiet",
          onclick: () => model.showOnly([...model.series.keys()].slice(0, DEFAULT_SHOWN)),
        },
        model.series.length > DEFAULT_SHOWN ? `Best ${DEFAULT_SHOWN}` : "All",
      ),
      h("button", { type: "button", class: "quiet", onclick: () => model.showOnly([]) }, "None"),
    ),
  );

  function add(series: number): void {
    const button = h(
      "button",
      {
        type: "button",
        "aria-pressed": false,
        "data-series": series,
        onclick: () => model.show(series, !model.shown.has(series)),
      },
      swatch(look(series)),
      foreign(model.series[series].label),
    );
    const next = [...buttons.keys()].filter((other) => other > series).sort((a, b) => a - b)[0];
    list.insertBefore(button, next === undefined ? null : buttons.get(next)!);
    buttons.set(series, button);
  }
  function update(): void {
    for (const series of model.series.keys())
      if ((open || series < DEFAULT_SHOWN || model.shown.has(series)) && !buttons.has(series)) add(series);
    for (const [series, button] of buttons) {
      const on = model.shown.has(series);
      button.setAttribute("aria-pressed", String(on));
      button.hidden = !open && !on && series >= DEFAULT_SHOWN && button !== document.activeElement;
    }
    const rest = model.series.length - [...buttons.values()].filter((button) => !button.hidden).length;
    more.hidden = model.series.length <= DEFAULT_SHOWN;
    more.textContent = open ? "Fewer" : `${rest} more`;
    more.setAttribute("aria-expanded", String(open));
  }
  model.onChange(update);
  update();
  return element;
}
