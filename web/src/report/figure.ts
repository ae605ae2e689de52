// The frame around every drawing: number and title, how to read it, selectors, legend, the numbers as a table, what can be saved.
import { append, foreign, h } from "../common/dom";
import type { Child } from "../common/dom";
import { csv, save } from "../common/download";
import type { Cell } from "../common/download";
import { NONE, number, plural } from "../common/format";
import { look } from "../common/palette";
import { anchor, keep, list, moved, unlist } from "./address";
import { light } from "./crosshair";
import { showRuns } from "./details";
import { openDrawer } from "./drawer";
import { DEFAULT_SHOWN, Model } from "./model";
import type { KeyItem } from "./paper";
import { WIDTHS, asText, latex, markdown, onPaper, savePng } from "./paper";
import type { TextTable } from "./paper";
import { schedule } from "./schedule";
import { box, swatch } from "./swatch";

/** What is drawn, as numbers: the CSV and the table of the figure. runs: what stands behind a row. */
export interface Table {
  columns: string[];
  rows: Cell[][];
  runs?: number[];
}

/** drawing null: there is nothing to draw, `note` says why. legendOff: the legend has no part in it. key: what a saved drawing
 * explains, where that is not its legend. about: what stands below its title, where that is not the tolerance. */
export interface Drawn {
  drawing: SVGSVGElement | null;
  table: Table;
  note?: Child;
  legendOff?: boolean;
  key?: KeyItem[];
  about?: string;
}

export interface LegendItem extends KeyItem {
  key: string;
  title?: string;
}

export interface FigureSpec {
  id: string;
  title: string;
  read: string; // how to read it, one sentence
  reference?: string; // where this kind of figure comes from
  controls?: HTMLElement[];
  legend?: "series" | LegendItem[];
  /** px, of the drawing at this width, as well as it is known before it is drawn. */
  height(width: number): number;
  /** hidden: keys of legend items that are switched off. */
  draw(width: number, hidden: Set<string>): Drawn;
}

/** What a figure has to know of its page: what it is about and where it comes from, on paper, and when to draw again. */
export interface Host {
  subject(): string;
  source(): string;
  onChange(redraw: () => void): void;
}

export interface Figure {
  element: HTMLElement;
  redraw(): void;
}

const LEGEND_MOST = 12; // series above a figure; all of them are in the drawer
const TABLE_LIMIT = 2000; // rows on the page; the CSV has all

let figures = 0;
const reserves: ((width: number) => void)[] = [];

/** Gives all figures the room that they will need, so that links to what is below them land. */
export function reserveRoom(width: number): void {
  for (const reserve of reserves) reserve(width);
}

/** The colours of a series, for a key on paper. */
export const seriesKey = (model: Model, wanted: number[]): KeyItem[] =>
  wanted.map((series) => ({ label: model.series[series].label, colour: "", look: look(series) }));

/** A legend that is only read, below a drawing. */
export const keyList = (items: KeyItem[]): HTMLElement =>
  h(
    "ul",
    { class: "slopes" },
    items.map((item) =>
      h("li", null, item.look ? swatch(item.look) : box(item.colour, item.overlay), " ", foreign(item.label)),
    ),
  );

/** A figure of a report, or of another page: there it has no series of methods and no runs behind its numbers. */
export function figure(host: Host, spec: FigureSpec): Figure {
  const model = host instanceof Model ? host : null;
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
  const legend =
    spec.legend === "series" && model
      ? seriesLegend(model, (series) => light(canvas, series))
      : spec.legend && spec.legend !== "series"
        ? itemLegend(spec.id, spec.legend, hidden, () => redraw())
        : null;
  const heading = h(
    "h3",
    { id: `${spec.id}-title` },
    h("span", { class: "figure-number" }, `Figure ${++figures}`),
    " ",
    spec.title,
  );
  const saving = saveMenu(spec.title, {
    drawing: paperDrawing,
    csv: () => csv(current().table.columns, current().table.rows),
    text: () => asText(spec.title, current().table.columns, current().table.rows),
    name: spec.id,
  });
  const element = h(
    "figure",
    { id: spec.id, class: "figure", "aria-labelledby": `${spec.id}-title` },
    h(
      "figcaption",
      null,
      h("div", { class: "title-line" }, heading, anchor(spec.id, spec.title), saving.element),
      h("p", { class: "read" }, spec.read),
    ),
    spec.controls?.length ? h("div", { class: "controls" }, spec.controls) : null,
    legend,
    canvas,
    note,
    table,
  );

  let drawn: Drawn | null = null;
  let stale = true;
  let width = 0;

  function current(): Drawn {
    draw();
    return drawn!;
  }
  function draw(): void {
    const room = Math.round(canvas.clientWidth) || 900;
    if (!stale && room === width) return;
    stale = false;
    width = room;
    drawn = spec.draw(Math.max(320, room), hidden);
    canvas.style.minHeight = "";
    if (drawn.drawing) {
      named(drawn.drawing);
      drawn.drawing.setAttribute("role", "img");
      drawn.drawing.setAttribute(
        "aria-label",
        `${spec.title}. ${spec.read} ${plural(drawn.table.rows.length, "row")} of numbers below.`,
      );
      canvas.replaceChildren(drawn.drawing);
    } else canvas.replaceChildren(h("p", { class: "nothing" }, "No data for this figure."));
    if (legend) legend.hidden = drawn.legendOff ?? false;
    saving.allow(drawn.drawing !== null);
    note.replaceChildren();
    append(note, [drawn.note]);
    if (table.open) fillTable();
  }

  /** The figure for a column of a printed page, as an SVG file. */
  function paperDrawing(which: keyof typeof WIDTHS): string | null {
    const { millimetres, pixels } = WIDTHS[which],
      { drawing, key, legendOff, about } = spec.draw(pixels, hidden);
    if (!drawing) return null;
    const items =
      key ??
      (legendOff
        ? []
        : spec.legend === "series"
          ? model
            ? seriesKey(model, model.chosen())
            : []
          : (spec.legend ?? []).filter((item) => !hidden.has(item.key)));
    return onPaper(
      drawing,
      {
        title: spec.title,
        subtitle: about ?? host.subject(),
        key: items,
        description: spec.read,
        source: [...(spec.reference ? [spec.reference] : []), host.source()],
      },
      millimetres,
    );
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
        runs && model
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
            runs && model ? h("th", { scope: "col" }, "run") : null,
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
  reserves.push((room) => {
    if (stale) canvas.style.minHeight = `${Math.round(spec.height(Math.max(320, room)))}px`;
  });
  new ResizeObserver(() => {
    if (Math.abs(canvas.clientWidth - width) > 1 && canvas.clientWidth > 0) schedule(element, draw);
  }).observe(canvas);
  host.onChange(redraw);
  schedule(element, draw);
  return { element, redraw };
}

/** The parts of a drawing are no landmarks: their names are for the style and for tests, the drawing as a whole has the name. */
function named(drawing: SVGSVGElement): void {
  for (const part of drawing.querySelectorAll("[aria-label]")) {
    part.setAttribute("data-mark", part.getAttribute("aria-label")!);
    part.removeAttribute("aria-label");
  }
}

export interface Savable {
  name: string; // of the file, without its ending
  csv: () => string;
  text: () => TextTable;
  drawing?: (width: keyof typeof WIDTHS) => string | null;
}

let paperWidth: keyof typeof WIDTHS = "column"; // the same for all figures, as in one document

/** A menu with all the ways in which a figure or a table leaves the page. */
export function saveMenu(title: string, what: Savable): { element: HTMLElement; allow: (drawing: boolean) => void } {
  const button = (kind: string, label: string, act: () => void): HTMLButtonElement =>
    h(
      "button",
      {
        type: "button",
        "data-save": kind,
        "aria-label": `${label}: save ${title}`,
        onclick: () => {
          menu.open = false;
          menu.querySelector("summary")!.focus();
          act();
        },
      },
      label,
    );
  const svgFile = (done: (text: string) => void): void => {
    const text = what.drawing!(paperWidth);
    if (text !== null) done(text);
  };
  const drawings = what.drawing
    ? [
        button("svg", "SVG", () => svgFile((text) => save(`${what.name}.svg`, "image/svg+xml", text))),
        button("png", "PNG", () =>
          svgFile((text) => void savePng(`${what.name}.png`, text, WIDTHS[paperWidth].millimetres)),
        ),
      ]
    : [];
  const widths = what.drawing
    ? h(
        "select",
        {
          "data-save-width": true,
          "aria-label": `Width of ${title} on paper`,
          onchange: () => (paperWidth = widths!.value),
        },
        Object.entries(WIDTHS).map(([key, { name }]) => h("option", { value: key }, name)),
      )
    : null;
  const menu: HTMLDetailsElement = h(
    "details",
    { class: "save", ontoggle: () => opened() },
    h("summary", { "aria-label": `Save ${title}` }, "Save"),
    h(
      "div",
      { class: "save-panel" },
      drawings.length > 0 ? h("p", null, h("span", null, "Figure, "), widths, drawings) : null,
      h(
        "p",
        null,
        h("span", null, drawings.length > 0 ? "Numbers" : "Table"),
        button("csv", "CSV", () => save(`${what.name}.csv`, "text/csv", what.csv())),
        button("tex", "LaTeX", () => save(`${what.name}.tex`, "application/x-tex", latex(what.text()))),
        button("md", "Markdown", () => save(`${what.name}.md`, "text/markdown", markdown(what.text()))),
      ),
    ),
  );
  const away = (event: Event): void => {
    if (!menu.contains(event.target as Node)) menu.open = false;
  };
  const escape = (event: KeyboardEvent): void => {
    if (event.key !== "Escape") return;
    menu.open = false;
    menu.querySelector("summary")!.focus();
  };
  function opened(): void {
    const act = menu.open ? addEventListener : removeEventListener;
    act("pointerdown", away as EventListener);
    act("keydown", escape as EventListener);
    if (menu.open && widths) widths.value = paperWidth;
  }
  return {
    element: menu,
    allow(drawing) {
      for (const one of drawings) one.disabled = !drawing;
    },
  };
}

function itemLegend(id: string, items: LegendItem[], hidden: Set<string>, changed: () => void): HTMLElement {
  const buttons = new Map<string, HTMLButtonElement>();
  const element = h(
    "div",
    { class: "legend", role: "group", "aria-label": "Legend: show or hide" },
    items.map((item) => {
      const button = h(
        "button",
        {
          type: "button",
          "aria-pressed": true,
          title: item.title,
          onclick: () => {
            toggle(item.key, !hidden.has(item.key));
            changed();
            moved();
          },
        },
        item.look ? swatch(item.look) : box(item.colour, item.overlay),
        h("span", null, item.label),
      );
      buttons.set(item.key, button);
      return button;
    }),
  );
  function toggle(key: string, off: boolean): void {
    if (off) hidden.add(key);
    else hidden.delete(key);
    buttons.get(key)?.setAttribute("aria-pressed", String(!off));
  }
  keep(`${id}.hide`, {
    read: () => (hidden.size > 0 ? list([...hidden]) : null),
    apply: (value) => {
      const wanted = new Set(unlist(value ?? ""));
      for (const { key } of items) toggle(key, wanted.has(key));
      changed();
    },
  });
  return element;
}

/** One choice of series for all figures: those that are shown, the best ones, and a drawer with all. */
function seriesLegend(model: Model, lit: (series: number | null) => void): HTMLElement {
  const buttons = new Map<number, HTMLButtonElement>();
  const items = h("span", { class: "legend-items" });
  const more = h("button", {
    type: "button",
    class: "quiet",
    "aria-haspopup": "dialog",
    onclick: () => openDrawer(model),
  });
  const element = h(
    "div",
    { class: "legend", role: "group", "aria-label": "Legend: show or hide methods" },
    items,
    h(
      "span",
      { class: "legend-tools" },
      more,
      h(
        "button",
        {
          type: "button",
          class: "quiet",
          onclick: () => {
            model.showOnly([...model.series.keys()].slice(0, DEFAULT_SHOWN));
            moved();
          },
        },
        model.series.length > DEFAULT_SHOWN ? `Best ${DEFAULT_SHOWN}` : "All",
      ),
    ),
  );

  function add(series: number): void {
    const button = h(
      "button",
      {
        type: "button",
        "aria-pressed": false,
        "data-series": series,
        title: model.series[series].label,
        onpointerenter: () => lit(model.shown.has(series) ? series : null),
        onpointerleave: () => lit(null),
        onclick: () => {
          model.show(series, !model.shown.has(series));
          moved();
        },
      },
      swatch(look(series)),
      foreign(model.series[series].label),
    );
    const next = [...buttons.keys()].filter((other) => other > series).sort((a, b) => a - b)[0];
    items.insertBefore(button, next === undefined ? null : buttons.get(next)!);
    buttons.set(series, button);
  }
  function update(): void {
    for (const series of model.series.keys())
      if ((series < DEFAULT_SHOWN || model.shown.has(series)) && !buttons.has(series)) add(series);
    let room = LEGEND_MOST;
    for (const [series, button] of [...buttons].sort(([a], [b]) => a - b)) {
      const on = model.shown.has(series);
      button.setAttribute("aria-pressed", String(on));
      button.hidden = (room <= 0 || (!on && series >= DEFAULT_SHOWN)) && button !== document.activeElement;
      if (!button.hidden) room--;
    }
    const rest = model.series.length - [...buttons.values()].filter((button) => !button.hidden).length;
    more.hidden = model.series.length <= DEFAULT_SHOWN;
    more.textContent = rest > 0 ? `${rest} more \u2026` : "Choose \u2026";
    more.title = `${model.shown.size} of ${plural(model.series.length, "method")} shown`;
  }
  model.onChange(update);
  update();
  return element;
}
