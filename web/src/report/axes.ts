// Scales, lines and tips that the figures share.
import * as Plot from "@observablehq/plot";
import { svg } from "../common/dom";
import { power, seconds } from "../common/format";
import { look } from "../common/palette";
import { crosshair } from "./crosshair";
import type { Lines } from "./crosshair";
import { shortSeries } from "./model";

export interface Point {
  x: number;
  y: number;
  series: number;
  tip: string;
  mark?: boolean;
  run?: number;
}

const DIGITS = [
  [1, 1.2, 1.5, 2, 2.5, 3, 4, 5, 6, 7, 8, 9],
  [1, 2, 5],
  [1, 3],
];

/** Ends and ticks of a logarithmic axis: decades where there are enough, else 1, 2, 5. Null without positive values. */
export function decades(values: Iterable<number>, most = 9): { domain: [number, number]; ticks: number[] } | null {
  let low = Infinity,
    high = 0;
  for (const value of values)
    if (value > 0 && Number.isFinite(value)) {
      low = Math.min(low, value);
      high = Math.max(high, value);
    }
  if (!(high > 0)) return null;
  const room = Math.max(1.1, (high / low) ** 0.02);
  low /= room;
  high *= room;
  const from = Math.floor(Math.log10(low)),
    to = Math.ceil(Math.log10(high)),
    step = Math.max(1, Math.ceil((to - from) / most));
  const within = (tick: number): boolean => tick >= low && tick <= high;
  const ticks: number[] = [];
  for (let exponent = Math.ceil(from / step) * step; exponent <= to; exponent += step)
    ticks.push(Number(`1e${exponent}`));
  // Between decades, as many as there is room for.
  for (const digits of high / low > 300 ? [] : DIGITS) {
    const fine = Array.from({ length: to - from + 1 }, (_, i) => digits.map((digit) => Number(`${digit}e${from + i}`)));
    const found = fine.flat().filter(within);
    if (found.length <= most) return { domain: [low, high], ticks: found };
  }
  return { domain: [low, high], ticks: ticks.filter(within) };
}

export const STYLE = {
  fontSize: "12px",
  fontFamily: "var(--sans)",
  overflow: "visible",
  background: "transparent",
} as unknown as Partial<CSSStyleDeclaration>;

/** width: of the drawing, px, for the number of ticks of an x axis. */
type Axis = { label: string; values: Iterable<number>; time?: boolean; most?: number; width?: number };

/** Options of a logarithmic scale for Plot. */
export function logScale(axis: Axis): Plot.ScaleOptions {
  const found = decades(
    axis.values,
    axis.most ?? (axis.width ? Math.max(3, Math.min(9, Math.floor(axis.width / 80))) : 9),
  );
  return {
    type: "log",
    domain: found?.domain ?? [0.1, 1],
    ticks: found?.ticks ?? [],
    tickFormat: axis.time
      ? (v: number) =>
          seconds(v)
            .replace(/\.0+(?=\D)/, "")
            .replace(/(\.\d*[1-9])0+(?=\D)/, "$1")
      : power,
    label: axis.label,
    grid: true,
    labelArrow: "none",
    clamp: true,
  };
}

/** An axis of things that are counted, from `first` to `last`: no ticks between whole numbers. */
export function countScale(label: string, first: number, last: number, width: number): Plot.ScaleOptions {
  const most = Math.max(1, width / 80);
  let step = 1;
  for (let k = 1; (last - first) / step > most; k++) step = [1, 2, 5][k % 3] * 10 ** Math.floor(k / 3);
  const from = Math.ceil(first / step);
  const ticks = Array.from({ length: Math.floor(last / step) - from + 1 }, (_, i) => (from + i) * step);
  return { label, labelArrow: "none", ticks, tickFormat: String };
}

export function shareScale(label: string): Plot.ScaleOptions {
  return {
    domain: [0, 1],
    ticks: [0, 0.2, 0.4, 0.6, 0.8, 1],
    tickFormat: (v: number) => `${Math.round(100 * v)} %`,
    label,
    grid: true,
    labelArrow: "none",
  };
}

/** Lines of these series and their markers; each carries its series, so that one can be lit. */
function lineMarks({ wanted, points, step }: Lines): Plot.Markish[] {
  const marks: Plot.Markish[] = [];
  for (const series of wanted) {
    const mine = points.filter((point) => point.series === series);
    if (mine.length === 0) continue;
    const { colour, dash, marker } = look(series);
    marks.push(
      Plot.line(mine, {
        x: "x",
        y: "y",
        stroke: colour,
        strokeWidth: 1.8,
        strokeDasharray: dash,
        curve: step ? "step-after" : "linear",
        className: `of-${series}`,
      }),
      Plot.dot(
        mine.filter((point) => point.mark),
        {
          x: "x",
          y: "y",
          symbol: marker,
          r: 3.4,
          fill: colour,
          stroke: "var(--paper)",
          strokeWidth: 0.7,
          className: `of-${series}`,
        },
      ),
    );
  }
  return marks;
}

const END_ROOM = 168; // px to the right of a drawing, for names at the ends of lines
const END_LENGTH = 21; // letters that fit there, in the widest of the usual fonts
const END_HEIGHT = 14; // px from one name to the next

/** Lines with their names at the right end, where there is room, and a crosshair. */
export function chart(options: Plot.PlotOptions & { width: number; height: number }, lines: Lines): SVGSVGElement {
  const named = lines.ends !== false && options.width >= 620;
  const drawing = plot({
    ...options,
    ...(named ? { marginRight: END_ROOM } : {}),
    marks: [...(options.marks ?? []), ...lineMarks(lines)],
  });
  if (named) nameEnds(drawing, lines, options);
  crosshair(drawing, lines);
  return drawing;
}

type Scaled = SVGSVGElement & { scale(name: string): { apply(value: number): number } };

/** Names beside the last points, moved apart; those that do not fit are left to the legend. */
function nameEnds(drawing: SVGSVGElement, lines: Lines, { width, height }: { width: number; height: number }): void {
  const x = (drawing as Scaled).scale("x"),
    y = (drawing as Scaled).scale("y");
  const ends = lines.wanted
    .flatMap((series) => {
      const last = lines.points.findLast((point) => point.series === series);
      return last ? [{ series, x: x.apply(last.x), y: y.apply(last.y), at: 0 }] : [];
    })
    .sort((a, b) => a.y - b.y || a.series - b.series);
  const top = 20,
    bottom = height - 44,
    most = Math.floor((bottom - top) / END_HEIGHT) + 1;
  // With too many lines, the best of them keep their names.
  const chosen = ends.length <= most ? ends : ends.filter(({ series }) => lines.wanted.indexOf(series) < most);
  // Downwards no closer than a line of text, then upwards again from the end of the room.
  chosen.forEach((end, i) => (end.at = Math.max(end.y, i === 0 ? top : chosen[i - 1].at + END_HEIGHT)));
  for (let i = chosen.length - 1; i >= 0; i--)
    chosen[i].at = Math.min(chosen[i].at, i === chosen.length - 1 ? bottom : chosen[i + 1].at - END_HEIGHT);
  const left = width - END_ROOM + 20;
  const named = chosen.map(({ series }) => series);
  const names = lines.endName ? named.map(lines.endName) : shortSeries(lines.model, named, END_LENGTH);
  chosen.forEach((end, i) => {
    const { colour } = look(end.series);
    drawing.append(
      svg("path", {
        class: `of-${end.series} leader`,
        d: `M${end.x + 5},${end.y}H${left - 12}L${left - 4},${end.at}`,
        fill: "none",
        stroke: colour,
        "stroke-opacity": 0.5,
      }),
      svg(
        "text",
        {
          class: `of-${end.series} end-name`,
          x: left,
          y: end.at,
          dy: "0.34em",
          fill: colour,
          "font-size": 11,
          "text-anchor": "start",
        },
        names[i],
      ),
    );
  });
}

export function tip(points: Point[]): Plot.Markish {
  return Plot.tip(
    points,
    Plot.pointer({
      x: "x",
      y: "y",
      title: "tip",
      maxRadius: 120,
      fill: "var(--raised)",
      stroke: "var(--line-strong)",
      textPadding: 8,
      lineWidth: 44,
      lineHeight: 1.3,
      fontSize: 12,
    }),
  );
}

/** Marks about `wanted` of a series' points, the first and the last among them. */
export function markSome(points: Point[], wanted = 6): Point[] {
  const step = Math.max(1, Math.ceil(points.length / wanted));
  points.forEach((point, index) => (point.mark = index % step === 0 || index === points.length - 1));
  return points;
}

export function plot(options: Plot.PlotOptions): SVGSVGElement {
  const drawing = Plot.plot({
    style: STYLE,
    marginLeft: 62,
    marginRight: 24,
    marginBottom: 48,
    marginTop: 26,
    ...options,
    ...(options.x ? { x: { labelAnchor: "center", ...options.x } } : {}),
  }) as SVGSVGElement;
  // Of logarithmic axes the library leaves out labels that it thinks too many; these were counted.
  for (const axis of ["x", "y"] as const) {
    const scale = options[axis];
    if (scale?.type !== "log" || !Array.isArray(scale.ticks) || typeof scale.tickFormat !== "function") continue;
    const labels = drawing.querySelectorAll(`[aria-label="${axis}-axis tick label"] text`);
    if (labels.length === scale.ticks.length)
      scale.ticks.forEach(
        (value, i) => (labels[i].textContent = (scale.tickFormat as (v: number) => string)(value as number)),
      );
  }
  return drawing;
}

export const heightFor = (width: number): number => Math.round(Math.min(400, Math.max(280, 0.45 * width)));
