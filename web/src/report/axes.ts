// Scales, lines and tips that the figures share.
import * as Plot from "@observablehq/plot";
import { power, seconds } from "../common/format";
import { look } from "../common/palette";

export interface Point {
  x: number;
  y: number;
  series: number;
  tip: string;
  mark?: boolean;
  run?: number;
}

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
  const digits = high / low > 300 ? null : high / low > 3 ? [1, 2, 5] : [1, 1.2, 1.5, 2, 2.5, 3, 4, 5, 6, 7, 8, 9];
  const fine = digits
    ? Array.from({ length: to - from + 1 }, (_, i) => digits.map((digit) => Number(`${digit}e${from + i}`))).flat()
    : ticks;
  return { domain: [low, high], ticks: fine.filter(within) };
}

export const STYLE = {
  fontSize: "12px",
  fontFamily: "var(--sans)",
  overflow: "visible",
  background: "transparent",
} as unknown as Partial<CSSStyleDeclaration>;

type Axis = { label: string; values: Iterable<number>; time?: boolean; most?: number };

/** Options of a logarithmic scale for Plot. */
export function logScale(axis: Axis): Plot.ScaleOptions {
  const found = decades(axis.values, axis.most);
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

/** Lines of these series, their markers, and the tip under the pointer. */
export function lines(wanted: number[], points: Point[], curve: Plot.Curve = "linear"): Plot.Markish[] {
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
        curve,
        ariaHidden: "true",
      }),
    );
    marks.push(
      Plot.dot(
        mine.filter((point) => point.mark),
        { x: "x", y: "y", symbol: marker, r: 3.4, fill: colour, stroke: "var(--paper)", strokeWidth: 0.7 },
      ),
    );
  }
  marks.push(tip(points));
  return marks;
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
  return Plot.plot({
    style: STYLE,
    marginLeft: 62,
    marginRight: 24,
    marginBottom: 48,
    marginTop: 26,
    ...options,
  }) as SVGSVGElement;
}

export const heightFor = (width: number): number => Math.round(Math.min(400, Math.max(280, 0.45 * width)));
