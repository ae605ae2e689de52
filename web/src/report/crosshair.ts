// What a figure of lines shows under the pointer: a vertical rule, the values of all lines there, sorted, and the nearest line lit.
import { foreign, h, svg } from "../common/dom";
import { plural } from "../common/format";
import { look } from "../common/palette";
import type { Point } from "./axes";
import { showRuns } from "./details";
import type { RunsRequest } from "./details";
import type { Model } from "./model";
import { swatch } from "./swatch";

export interface Lines {
  model: Model;
  endName?: (series: number) => string; // at the end of a line; else the label of the series
  wanted: number[];
  points: Point[];
  step?: boolean; // a value holds until the next one; else the values are those of the nearest points
  ends?: boolean; // names at the ends of lines
  lowIsGood?: boolean; // the list begins with the least value
  heading: (x: number) => string;
  value: (y: number) => string;
  runs?: (series: number, x: number) => RunsRequest; // what a pinned list opens for the line that is lit
}

const MOST = 14; // lines in the list

let floating: HTMLElement | null = null;

/** The one window beside the pointer. */
export function floatingTip(): HTMLElement {
  if (!floating) {
    floating = h("div", { class: "tip", "aria-hidden": true, hidden: true });
    document.body.append(floating);
  }
  return floating;
}

export function placeTip(event: MouseEvent): void {
  const tip = floatingTip(),
    box = tip.getBoundingClientRect();
  const right = event.clientX + 18 + box.width < innerWidth;
  tip.style.left = `${Math.max(4, right ? event.clientX + 18 : event.clientX - 18 - box.width)}px`;
  tip.style.top = `${Math.max(4, Math.min(event.clientY + 16, innerHeight - box.height - 4))}px`;
}

/** A list that is held can be used, so screen readers hear of it. */
function hold(pinned: boolean): void {
  floatingTip().classList.toggle("pinned", pinned);
  floatingTip().setAttribute("aria-hidden", String(!pinned));
}

/** Lights the lines of one series, all of them with null. */
export function light(drawing: Element, series: number | null): void {
  for (const one of drawing.querySelectorAll("[class*='of-']"))
    one.classList.toggle("dim", series !== null && !one.classList.contains(`of-${series}`));
}

type Scaled = SVGSVGElement & {
  scale(name: string): { apply(value: number): number; invert(value: number): number; range: number[] };
};

/** The point of a sorted line that counts at x: the last one before it, or the nearest by the position on the screen. */
function pointAt(mine: Point[], x: number, step: boolean, at: (x: number) => number): Point | null {
  let low = 0,
    high = mine.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (mine[middle].x <= x) low = middle + 1;
    else high = middle;
  }
  const before = mine[low - 1] ?? null,
    after = mine[low] ?? null;
  if (step) return before;
  if (!before || !after) return before ?? after;
  return Math.abs(at(x) - at(before.x)) <= Math.abs(at(after.x) - at(x)) ? before : after;
}

export function crosshair(drawing: SVGSVGElement, lines: Lines): void {
  const x = (drawing as Scaled).scale("x"),
    y = (drawing as Scaled).scale("y");
  const left = Math.min(...x.range),
    right = Math.max(...x.range),
    top = Math.min(...y.range),
    bottom = Math.max(...y.range);
  const bySeries = lines.wanted
    .map((series) => ({ series, points: lines.points.filter((point) => point.series === series) }))
    .filter(({ points }) => points.length > 0);
  for (const { points } of bySeries) points.sort((a, b) => a.x - b.x);
  const rule = svg("line", {
    class: "crosshair",
    y1: top,
    y2: bottom,
    stroke: "var(--ink-faint)",
    "stroke-width": 1,
    visibility: "hidden",
  });
  drawing.append(rule);
  let pinned = false;

  function opener(series: number, at: number): HTMLElement | string {
    const request = lines.runs!(series, at);
    if (request.runs.length === 0) return "";
    return h(
      "button",
      {
        type: "button",
        class: "tip-open",
        onclick: () => {
          unpin();
          showRuns(lines.model, request);
        },
      },
      `Open ${plural(request.runs.length, "run")}`,
    );
  }
  function show(event: MouseEvent, pinning = false): void {
    const box = drawing.getBoundingClientRect(),
      scale = drawing.width.baseVal.value / box.width;
    const px = (event.clientX - box.left) * scale,
      py = (event.clientY - box.top) * scale;
    if (px < left - 6 || px > right + 6 || py < top - 10 || py > bottom + 10) return hide();
    let at = x.invert(Math.min(right, Math.max(left, px)));
    // Lines of single values: the rule stands where the nearest line has one.
    const nearest = (where: number): { series: number; point: Point; distance: number } | null => {
      let best: { series: number; point: Point; distance: number } | null = null;
      for (const { series, points } of bySeries) {
        const point = pointAt(points, where, lines.step ?? false, x.apply);
        if (!point) continue;
        const distance = Math.abs(y.apply(point.y) - py);
        if (!best || distance < best.distance) best = { series, point, distance };
      }
      return best;
    };
    const lit = nearest(at);
    if (!lit) return hide();
    if (!lines.step) at = lit.point.x;
    const rows = bySeries
      .flatMap(({ series, points }) => {
        const point = pointAt(points, at, lines.step ?? false, x.apply);
        return point && (lines.step || Math.abs(x.apply(point.x) - x.apply(at)) < 2) ? [{ series, y: point.y }] : [];
      })
      .sort((a, b) => (lines.lowIsGood ? a.y - b.y : b.y - a.y) || a.series - b.series);
    const tip = floatingTip(),
      mine = rows.findIndex(({ series }) => series === lit.series),
      first = Math.max(0, Math.min(mine - Math.floor(MOST / 2), rows.length - MOST));
    tip.replaceChildren(
      h("p", { class: "tip-head" }, lines.heading(at)),
      first > 0 ? h("p", { class: "tip-more" }, `${first} above`) : "",
      h(
        "ul",
        null,
        rows
          .slice(first, first + MOST)
          .map((row) =>
            h(
              "li",
              { class: row.series === lit.series ? "lit" : null },
              swatch(look(row.series)),
              foreign(lines.model.series[row.series].label),
              h("b", null, lines.value(row.y)),
            ),
          ),
      ),
      rows.length > first + MOST ? h("p", { class: "tip-more" }, `${rows.length - first - MOST} below`) : "",
      pinning && lines.runs ? opener(lit.series, at) : "",
    );
    tip.hidden = false;
    placeTip(event);
    rule.setAttribute("x1", String(x.apply(at)));
    rule.setAttribute("x2", String(x.apply(at)));
    rule.setAttribute("visibility", "visible");
    light(drawing, lit.series);
  }
  function hide(): void {
    floatingTip().hidden = true;
    rule.setAttribute("visibility", "hidden");
    light(drawing, null);
  }
  drawing.addEventListener("pointermove", (event) => {
    if (!pinned) show(event);
  });
  drawing.addEventListener("pointerleave", () => {
    if (!pinned) hide();
  });
  function unpin(): void {
    pinned = false;
    hide();
    hold(false);
    removeEventListener("keydown", unpin);
    removeEventListener("scroll", unpin);
    removeEventListener("pointerdown", away);
  }
  function away(event: Event): void {
    if (!drawing.contains(event.target as Node) && !floatingTip().contains(event.target as Node)) unpin();
  }
  drawing.addEventListener("click", (event) => {
    if (pinned) return unpin();
    show(event, true);
    if (floatingTip().hidden) return;
    pinned = true;
    hold(true);
    addEventListener("keydown", unpin);
    addEventListener("scroll", unpin, { passive: true });
    addEventListener("pointerdown", away);
  });
}
