// Curves under the timeline. Drawn once for a size, a choice and a theme; what moves with the frame is one line and the dots.
import { choice, h, svg } from "../common/dom";
import { csv, save, standalone, type Cell } from "../common/download";
import { number, power } from "../common/format";
import { look } from "../common/palette";
import type { Replay, Series } from "./data";

export interface Curves { key: string; label: string; unit: string; lines: { name: string; values: Series["values"] }[] }

const readable = (name: string) => name.replaceAll("_", " ");
const unitless = (unit: string) => (unit === "1" ? "" : unit);

/** All that can be plotted: series of the frames, and of results, where each result is a line. */
export function catalogue(replay: Replay): Curves[] {
  const all: Curves[] = replay.series.map((s) => ({
    key: `frame ${s.name}`, label: readable(s.name), unit: unitless(s.unit), lines: [{ name: "", values: s.values }],
  }));
  const byName = new Map<string, Curves>();
  for (const result of replay.results) {
    for (const s of result.series) {
      let entry = byName.get(s.name);
      if (!entry) {
        entry = { key: `result ${s.name}`, label: readable(s.name), unit: unitless(s.unit), lines: [] };
        byName.set(s.name, entry);
        all.push(entry);
      }
      entry.lines.push({ name: result.solver, values: s.values });
    }
  }
  return all.filter((c) => c.lines.some((l) => l.values.some((v) => v !== null)));
}

const wished = ["energy", "penetration", "creep", "natural map", "iterations", "kinetic energy", "overlap", "contacts"];

/** The three to begin with: of the frames their energy, then errors and effort of the solvers. */
export function firstChoice(all: Curves[]): Curves[] {
  const chosen: Curves[] = [];
  const take = (name: string) => {
    const found = all.find((c) => c.label === name && !chosen.includes(c));
    if (found && chosen.length < 3) chosen.push(found);
  };
  take("kinetic energy");
  wished.forEach(take);
  for (const c of all) if (chosen.length < 3 && !chosen.includes(c)) chosen.push(c);
  return chosen;
}

/** Time where every frame has one and it rises, else numbers of frames. */
export function abscissa(replay: Replay): { values: Float64Array; label: string; unit: string } {
  const values = new Float64Array(replay.frames.length);
  let timed = true;
  replay.frames.forEach((frame, i) => {
    if (frame.time === null || (i > 0 && !(frame.time > values[i - 1]))) timed = false;
    values[i] = frame.time ?? 0;
  });
  if (!timed) values.forEach((_v, i) => (values[i] = i + 1));
  return timed ? { values, label: "time", unit: "s" } : { values, label: "frame", unit: "" };
}

const LEFT = 54, RIGHT = 10, BOTTOM = 18, NAME = 13;

interface Range { low: number; high: number; log: boolean }

function rangeOf(curves: Curves, log: boolean): Range {
  let low = Infinity, high = -Infinity, least = Infinity;
  for (const { values } of curves.lines) {
    for (const v of values) {
      if (v === null || !Number.isFinite(v)) continue;
      low = Math.min(low, v);
      high = Math.max(high, v);
      if (v > 0) least = Math.min(least, v);
    }
  }
  if (log && high > 0) {
    // Zeros of rounding would stretch the axis beyond use: eighteen powers of ten are enough.
    const bottom = Math.max(least, high * 1e-18);
    const [a, b] = [Math.floor(Math.log10(bottom) + 1e-9), Math.ceil(Math.log10(high) - 1e-9)];
    return { low: 10 ** a, high: 10 ** Math.max(b, a + 1), log: true };
  }
  if (!(high >= low)) return { low: 0, high: 1, log: false };
  if (low > 0 && low < 0.6 * high) low = 0;
  if (high === low) [low, high] = low === 0 ? [0, 1] : [low - 0.5 * Math.abs(low), high + 0.5 * Math.abs(high)];
  return { low, high, log: false };
}

/** Values over several powers of ten, as errors are, are better seen on a logarithmic axis. */
function wantsLog(curves: Curves): boolean {
  const positive: number[] = [];
  for (const { values } of curves.lines) {
    for (const v of values) {
      if (v === null) continue;
      if (v < 0) return false;
      if (v > 0) positive.push(v);
    }
  }
  positive.sort((a, b) => a - b);
  return positive.length > 2 && positive[positive.length - 1] > 1000 * positive[positive.length >> 1]
    || (positive.length > 0 && positive[positive.length - 1] < 1e-4 && positive[positive.length - 1] > 30 * positive[0]);
}

function ticksOf(range: Range, room: number): number[] {
  const ticks: number[] = [];
  if (range.log) {
    const from = Math.round(Math.log10(range.low)), to = Math.round(Math.log10(range.high));
    const step = Math.max(1, Math.ceil((to - from) / room));
    for (let e = from; e <= to; e += step) ticks.push(10 ** e);
    return ticks;
  }
  const raw = (range.high - range.low) / room, size = 10 ** Math.floor(Math.log10(raw));
  const step = size * ([1, 2, 5, 10].find((m) => m * size >= raw) ?? 10);
  for (let v = Math.ceil(range.low / step - 1e-9) * step; v <= range.high + 1e-9 * step; v += step) {
    ticks.push(Math.abs(v) < 1e-9 * step ? 0 : Number(v.toPrecision(12)));
  }
  return ticks;
}

export class Plot {
  readonly element: HTMLElement;
  private readonly box = h("div", { class: "curve" });
  private readonly now = h("output", { class: "visually-hidden", "aria-live": "off" });
  private readonly logBox = h("input", { type: "checkbox", onchange: () => this.setLog(this.logBox.checked) });
  private curves: Curves;
  private range: Range = { low: 0, high: 1, log: false };
  private drawing: SVGSVGElement | null = null;
  private cursor: SVGElement | null = null;
  private dots: SVGElement[] = [];
  private names: SVGElement[] = []; // of the lines, with their values
  private width = 0;
  private height = 0;
  private frame = 0;

  constructor(private readonly all: Curves[], first: Curves, private readonly x: ReturnType<typeof abscissa>, title: string,
    number_: number, private readonly seek: (frame: number) => void) {
    this.curves = first;
    const select = choice(`Plot ${number_}`, all.map((c) => [c.key, c.unit ? `${c.label} (${c.unit})` : c.label]), first.key,
      (key) => this.choose(this.all.find((c) => c.key === key)!));
    select.querySelector("span")!.className = "visually-hidden";
    this.element = h("figure", { class: "plot" },
      h("figcaption", null, select, this.now,
        h("label", { class: "tick" }, this.logBox, "log"),
        h("button", { type: "button", class: "small", "aria-label": `Save plot ${number_} as SVG`, title: "Save as SVG",
          onclick: () => this.drawing && save(`${title}-${this.curves.label}.svg`, "image/svg+xml", standalone(this.drawing)) }, "SVG"),
        h("button", { type: "button", class: "small", "aria-label": `Save plot ${number_} as CSV`, title: "Save as CSV",
          onclick: () => save(`${title}-${this.curves.label}.csv`, "text/csv", this.table()) }, "CSV")),
      this.box);
    new ResizeObserver(() => this.resize()).observe(this.box);
    this.follow();
    this.choose(first);
  }

  /** The key of what is shown. */
  get key(): string {
    return this.curves.key;
  }

  show(frame: number): void {
    this.frame = frame;
    const values = this.curves.lines.map((line) => line.values[frame] ?? null);
    const unit = this.curves.unit && ` ${this.curves.unit}`;
    const texts = values.map((v, i) => `${this.curves.lines[i].name} ${number(v, 4)}${unit}`.trim());
    this.now.textContent = texts.join(", ");
    this.names.forEach((name, i) => (name.textContent = texts[i]));
    if (!this.cursor) return;
    const x = this.toX(this.x.values[frame]);
    this.cursor.setAttribute("transform", `translate(${x.toFixed(1)} 0)`);
    this.dots.forEach((dot, i) => {
      const y = values[i] === null ? NaN : this.toY(values[i]!);
      dot.setAttribute("visibility", Number.isFinite(y) ? "visible" : "hidden");
      if (Number.isFinite(y)) dot.setAttribute("transform", `translate(${x.toFixed(1)} ${y.toFixed(1)})`);
    });
  }

  private choose(curves: Curves): void {
    this.curves = curves;
    this.logBox.checked = wantsLog(curves);
    this.range = rangeOf(curves, this.logBox.checked);
    this.draw();
  }

  private setLog(log: boolean): void {
    this.range = rangeOf(this.curves, log);
    this.draw();
  }

  private resize(): void {
    const { clientWidth, clientHeight } = this.box;
    if (clientWidth === this.width && clientHeight === this.height) return;
    this.width = clientWidth;
    this.height = clientHeight;
    this.draw();
  }

  private toX(value: number): number {
    const { values } = this.x, first = values[0], last = values[values.length - 1];
    return LEFT + (this.width - LEFT - RIGHT) * (last > first ? (value - first) / (last - first) : 0.5);
  }

  private toY(value: number): number {
    const { low, high, log } = this.range, top = this.top(), room = this.height - top - BOTTOM;
    const share = log ? Math.log(Math.max(value, low) / low) / Math.log(high / low) : (value - low) / (high - low);
    return top + room * (1 - Math.min(1, Math.max(0, share)));
  }

  /** Above the curves there is a line for each name. */
  private top(): number {
    return 5 + NAME * Math.min(3, this.curves.lines.length);
  }

  private draw(): void {
    const { width, height } = this;
    if (width < 80 || height < 40) return;
    const range = this.range, unit = this.curves.unit;
    const root = svg("svg", {
      viewBox: `0 0 ${width} ${height}`, width, height, role: "img", "font-size": 10.5,
      "aria-label": `${this.curves.label} over ${this.x.label}, from ${number(range.low)} to ${number(range.high)} ${unit}`,
    }) as SVGSVGElement;
    for (const tick of ticksOf(range, Math.max(2, Math.round((height - this.top()) / 30)))) {
      const y = this.toY(tick).toFixed(1);
      root.append(svg("line", { x1: LEFT, x2: width - RIGHT, y1: y, y2: y, stroke: "var(--line)" }),
        svg("text", { x: LEFT - 6, y, dy: "0.32em", "text-anchor": "end", fill: "var(--ink-soft)" }, range.log ? power(tick) : number(tick)));
    }
    const { values } = this.x, first = values[0], last = values[values.length - 1];
    const labels = last > first ? ticksOf({ low: first, high: last, log: false }, Math.max(2, Math.round(width / 80))) : [first];
    labels.forEach((tick, i) => {
      const text = i === labels.length - 1 && this.x.unit ? `${number(tick)} ${this.x.unit}` : number(tick);
      const x = this.toX(tick), end = x > width - RIGHT - 24;
      root.append(svg("text", { x: (end ? width - 2 : x).toFixed(1), y: height - 5, "text-anchor": end ? "end" : "middle", fill: "var(--ink-soft)" }, text));
    });
    this.cursor = svg("line", { x1: 0, x2: 0, y1: this.top() - 3, y2: height - BOTTOM, stroke: "var(--ink)", "stroke-opacity": 0.55 });
    this.dots = [];
    this.names = [];
    this.curves.lines.forEach((line, i) => {
      const style = look(i);
      root.append(svg("path", { d: this.path(line.values), fill: "none", stroke: style.colour, "stroke-width": 1.5,
        "stroke-linejoin": "round", ...(style.dash ? { "stroke-dasharray": style.dash } : {}) }));
      // Behind the words the paper shows, so that they read over curves.
      this.names.push(svg("text", { x: LEFT + (i < 3 ? 0 : 0.5 * (width - LEFT)), y: 11 + NAME * (i % 3), fill: style.colour, "font-weight": 600, stroke: "var(--raised)",
        "stroke-width": 3, "paint-order": "stroke", "stroke-linejoin": "round" }));
      this.dots.push(svg("circle", { r: 3.2, fill: style.colour, stroke: "var(--raised)" }));
    });
    root.append(this.cursor, ...this.dots, ...this.names);
    this.box.replaceChildren(root);
    this.drawing = root;
    this.show(this.frame);
  }

  /** A path with no more corners than pixels tell apart: the least and the largest value of each column. */
  private path(values: Series["values"]): string {
    const parts: string[] = [];
    const many = values.length > 3 * this.width;
    let open = false, column = -1, low = 0, high = 0;
    const put = (x: number, y: number) => {
      parts.push(`${open ? "L" : "M"}${x.toFixed(1)} ${y.toFixed(1)}`);
      open = true;
    };
    const flush = () => {
      if (column < 0) return;
      put(column, low);
      if (high !== low) put(column, high);
      column = -1;
    };
    for (let i = 0; i < values.length; i++) {
      const v = values[i];
      if (v === null || !Number.isFinite(v)) {
        flush();
        open = false;
        continue;
      }
      const x = this.toX(this.x.values[i]), y = this.toY(v);
      if (!many) {
        put(x, y);
        // A value alone between gaps would have no line.
        if ((i === 0 || values[i - 1] === null) && (i + 1 >= values.length || values[i + 1] === null)) put(x + 0.6, y);
      } else if (Math.round(x) === column) {
        low = Math.min(low, y);
        high = Math.max(high, y);
      } else {
        flush();
        column = Math.round(x);
        low = high = y;
      }
    }
    if (many) flush();
    return parts.join("");
  }

  private table(): string {
    const names = this.curves.lines.map((line) => [this.curves.label, line.name, this.curves.unit && `(${this.curves.unit})`]
      .filter(Boolean).join(" "));
    const rows: Cell[][] = [];
    for (let i = 0; i < this.x.values.length; i++) {
      rows.push([i + 1, this.x.values[i], ...this.curves.lines.map((line) => line.values[i] ?? null)]);
    }
    return csv(["frame", this.x.unit ? `${this.x.label} (${this.x.unit})` : this.x.label, ...names], rows);
  }

  private follow(): void {
    const go = (event: PointerEvent) => {
      const { values } = this.x, first = values[0], last = values[values.length - 1];
      const share = (event.clientX - this.box.getBoundingClientRect().left - LEFT) / Math.max(1, this.width - LEFT - RIGHT);
      const value = first + Math.min(1, Math.max(0, share)) * (last - first);
      let low = 0, high = values.length - 1;
      while (low < high) {
        const middle = (low + high) >> 1;
        if (values[middle] < value) low = middle + 1;
        else high = middle;
      }
      this.seek(low > 0 && value - values[low - 1] < values[low] - value ? low - 1 : low);
    };
    this.box.addEventListener("pointerdown", (event) => {
      this.box.setPointerCapture(event.pointerId);
      go(event);
    });
    this.box.addEventListener("pointermove", (event) => {
      if (event.buttons & 1) go(event);
    });
  }
}
