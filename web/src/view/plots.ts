// Curves under the timeline. Drawn once for a size, a choice and a theme; what moves with the frame is one line and the dots.
import { choice, h, svg } from "../common/dom";
import { csv, save, standalone, type Cell } from "../common/download";
import { number, power, tick as short } from "../common/format";
import { look, STATES } from "../common/palette";
import type { Replay, Series } from "./data";
import type { Watched } from "./watch";

export interface Curves {
  key: string; label: string; unit: string; lines: { name: string; values: Series["values"]; colour?: string }[];
  stacked?: boolean; // areas, one upon another
  selected?: "contact" | "body" | "joint"; // of what is selected; without lines there is nothing of this kind
}

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
  all.push(...replay.results.flatMap((result) => statesOf(replay, result) ?? []));
  return all.filter((c) => c.lines.some((l) => l.values.some((v) => v !== null)));
}

/** Contacts of each state over time, from the metrics that count them. */
function statesOf(replay: Replay, result: Replay["results"][0]): Curves | null {
  const find = (name: string) => result.series.find((s) => s.name === name)?.values;
  const [sticking, sliding, driving] = ["sticking", "sliding", "anomalous_contacts"].map(find), contacts = replay.series.find((s) => s.name === "contacts")?.values;
  if (!sticking || !sliding || !contacts) return null;
  const minus = (a: number | null, b: number | null | undefined) => (a === null ? null : a - (b ?? 0));
  const lines = [
    { name: STATES.bad.name, values: driving ?? sliding.map((v) => (v === null ? null : 0)), colour: STATES.bad.colour },
    { name: STATES.slip.name, values: sliding.map((v, i) => minus(v, driving?.[i])), colour: STATES.slip.colour },
    { name: STATES.stick.name, values: sticking, colour: STATES.stick.colour },
    { name: STATES.open.name, values: contacts.map((v, i) => (sticking[i] === null ? null : minus(minus(v, sticking[i]), sliding[i]))), colour: STATES.open.colour },
  ];
  return { key: `states ${result.solver}`, label: replay.results.length > 1 ? `contact states, ${result.solver}` : "contact states", unit: "", lines, stacked: true };
}

/** What can be plotted of the selection; the lines come when something is selected. */
export const ofSelection = (list: readonly Watched[]): Curves[] =>
  list.map((w) => ({ key: w.key, label: `${w.kind}: ${w.label.toLowerCase()}`, unit: w.unit, lines: [], selected: w.kind }));

const wished = ["energy", "penetration", "creep", "natural map", "iterations", "kinetic energy", "overlap", "contacts"];

/** The three to begin with: of the frames their energy, then errors and effort of the solvers. */
export function firstChoice(all: Curves[]): Curves[] {
  const chosen: Curves[] = [];
  const take = (name: string) => {
    const found = all.find((c) => c.label === name && !chosen.includes(c));
    if (found && chosen.length < 3) chosen.push(found);
  };
  take("largest distance of bodies");
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

/** The part of the time that all plots show. */
export class Span {
  low: number;
  high: number;
  private readonly plots: Plot[] = [];

  constructor(readonly x: ReturnType<typeof abscissa>) {
    [this.low, this.high] = [this.first, this.last];
  }

  get first(): number { return this.x.values[0] ?? 0; }
  get last(): number { return this.x.values[this.x.values.length - 1] ?? 1; }
  get whole(): boolean { return this.low <= this.first && this.high >= this.last; }

  add(plot: Plot): void { this.plots.push(plot); }

  /** Larger than 1: more of it. At most five frames fill the width. */
  zoom(about: number, factor: number): void {
    const all = this.last - this.first, least = Math.min(all, (4 * all) / Math.max(1, this.x.values.length - 1));
    const length = Math.min(all, Math.max(least, factor * (this.high - this.low)));
    this.set(about - ((about - this.low) / (this.high - this.low)) * length, length);
  }

  /** By a share of what is shown. */
  move(share: number): void {
    this.set(this.low + share * (this.high - this.low), this.high - this.low);
  }

  reset(): void {
    this.set(this.first, this.last - this.first);
  }

  private set(low: number, length: number): void {
    this.low = Math.max(this.first, Math.min(this.last - length, low));
    this.high = this.low + length;
    for (const plot of this.plots) plot.draw();
  }
}

/** A frame with a sign on the timeline. */
export interface Mark { frame: number; text: string; own: boolean }

let clips = 0; // for names that are used once

/** Sums of the lines up to each one, of stacked curves. */
function stack(curves: Curves): number[][] {
  const sums: number[][] = [];
  curves.lines.forEach(({ values }, k) => sums.push(values.map((v, i) => (k > 0 ? sums[k - 1][i] : 0) + (v ?? 0))));
  return sums;
}

function rangeOf(curves: Curves, log: boolean): Range {
  if (curves.stacked) return { low: 0, high: Math.max(1, ...(stack(curves).at(-1) ?? [])), log: false };
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
  private readonly x: ReturnType<typeof abscissa>;
  private readonly select: HTMLSelectElement;
  private readonly tip = h("div", { class: "tip", hidden: true });
  private hover: SVGElement | null = null;
  private marks: readonly Mark[] = [];
  private readonly clip = `clip-${++clips}`;

  /** `chosen` is called when another curve is wanted. */
  constructor(private readonly all: Curves[], first: Curves, private readonly span: Span, private readonly title: string,
    number_: number, private readonly seek: (frame: number) => void, private readonly chosen: () => void) {
    this.curves = first;
    this.x = span.x;
    const text = (c: Curves) => (c.unit ? `${c.label} (${c.unit})` : c.label);
    const select = choice(`Plot ${number_}`, all.filter((c) => !c.selected).map((c) => [c.key, text(c)]), first.key, (key) => this.take(key));
    select.querySelector("span")!.className = "visually-hidden";
    this.select = select.querySelector("select")!;
    const selected = all.filter((c) => c.selected);
    if (selected.length) this.select.append(h("optgroup", { label: "Of the selection" }, ...selected.map((c) => h("option", { value: c.key }, text(c)))));
    span.add(this);
    this.element = h("figure", { class: "plot" },
      h("figcaption", null, select, this.now,
        h("label", { class: "tick" }, this.logBox, "log"),
        h("button", { type: "button", class: "small", "aria-label": `Save plot ${number_} as SVG`, title: "Save as SVG",
          onclick: () => this.export() }, "SVG"),
        h("button", { type: "button", class: "small", "aria-label": `Save plot ${number_} as CSV`, title: "Save as CSV",
          onclick: () => save(`${this.title}-${this.curves.label}.csv`, "text/csv", this.table()) }, "CSV")),
      this.box);
    new ResizeObserver(() => this.resize()).observe(this.box);
    this.follow();
    this.choose(first);
  }

  /** Shows the curve with this key. */
  take(key: string): void {
    const found = this.all.find((c) => c.key === key);
    if (!found) return;
    this.select.value = key;
    this.choose(found);
    this.chosen();
  }

  /** What the curve belongs to, if it is one of the selection. */
  get selected(): Curves["selected"] {
    return this.curves.selected;
  }

  /** The lines have changed. */
  renew(): void {
    this.choose(this.curves);
  }

  setMarks(marks: readonly Mark[]): void {
    this.marks = marks;
    this.draw();
  }

  /** The drawing with its title, which on the page is a choice. */
  private export(): void {
    if (!this.drawing) return;
    const copy = this.drawing.cloneNode(true) as SVGSVGElement, head = 20;
    copy.querySelectorAll(".hover").forEach((line) => line.remove());
    copy.setAttribute("viewBox", `0 0 ${this.width} ${this.height + head}`);
    copy.setAttribute("height", String(this.height + head));
    copy.replaceChildren(svg("g", { transform: `translate(0 ${head})` }, ...copy.childNodes));
    copy.append(svg("text", { x: 4, y: 14, "font-size": 12, "font-weight": 600, fill: "var(--ink)" },
      `${this.curves.unit ? `${this.curves.label} (${this.curves.unit})` : this.curves.label} \u2013 ${this.title}`));
    save(`${this.title}-${this.curves.label}.svg`, "image/svg+xml", standalone(copy));
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
    const x = this.toX(this.x.values[frame]), seen = x > LEFT - 1 && x < this.width - RIGHT + 1;
    this.cursor.setAttribute("visibility", seen ? "visible" : "hidden");
    this.cursor.setAttribute("transform", `translate(${x.toFixed(1)} 0)`);
    this.dots.forEach((dot, i) => {
      const y = values[i] === null || !seen || this.curves.stacked ? NaN : this.toY(values[i]!);
      dot.setAttribute("visibility", Number.isFinite(y) ? "visible" : "hidden");
      if (Number.isFinite(y)) dot.setAttribute("transform", `translate(${x.toFixed(1)} ${y.toFixed(1)})`);
    });
  }

  private choose(curves: Curves): void {
    this.curves = curves;
    this.logBox.checked = !curves.stacked && wantsLog(curves);
    this.logBox.disabled = curves.stacked === true;
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
    const { low, high } = this.span;
    return LEFT + (this.width - LEFT - RIGHT) * (high > low ? (value - low) / (high - low) : 0.5);
  }

  private toY(value: number): number {
    const { low, high, log } = this.range, top = this.top(), room = this.height - top - BOTTOM;
    const share = log ? Math.log(Math.max(value, low) / low) / Math.log(high / low) : (value - low) / (high - low);
    return top + room * (1 - Math.min(1, Math.max(0, share)));
  }

  /** Above the curves there is a line for each name. */
  private top(): number {
    return 5 + NAME * (this.curves.stacked ? 2 : Math.min(3, this.curves.lines.length));
  }

  draw(): void {
    const { width, height } = this;
    if (width < 80 || height < 40) return;
    this.tip.hidden = true;
    if (this.curves.lines.length === 0) {
      this.box.replaceChildren(h("p", { class: "hint none" }, `Select a ${this.curves.selected ?? "body"} to see its curve.`));
      this.drawing = this.cursor = this.hover = null;
      this.names = this.dots = [];
      return;
    }
    const range = this.range, unit = this.curves.unit;
    const root = svg("svg", {
      viewBox: `0 0 ${width} ${height}`, width, height, role: "img", "font-size": 10.5,
      "aria-label": `${this.curves.label} over ${this.x.label}, from ${number(range.low)} to ${number(range.high)} ${unit}`,
    }) as SVGSVGElement;
    for (const tick of ticksOf(range, Math.max(2, Math.round((height - this.top()) / 30)))) {
      const y = this.toY(tick).toFixed(1);
      root.append(svg("line", { x1: LEFT, x2: width - RIGHT, y1: y, y2: y, stroke: "var(--line)" }),
        svg("text", { x: LEFT - 6, y, dy: "0.32em", "text-anchor": "end", fill: "var(--ink-soft)" }, range.log ? power(tick) : short(tick)));
    }
    const { low: first, high: last } = this.span;
    const labels = last > first ? ticksOf({ low: first, high: last, log: false }, Math.max(2, Math.round(width / 80))) : [first];
    labels.forEach((tick, i) => {
      const text = i === labels.length - 1 && this.x.unit ? `${short(tick)} ${this.x.unit}` : short(tick);
      const x = this.toX(tick), end = x > width - RIGHT - 24;
      root.append(svg("text", { x: (end ? width - 2 : x).toFixed(1), y: height - 5, "text-anchor": end ? "end" : "middle", fill: "var(--ink-soft)" }, text));
    });
    this.cursor = svg("line", { x1: 0, x2: 0, y1: this.top() - 3, y2: height - BOTTOM, stroke: "var(--ink)", "stroke-opacity": 0.55 });
    this.dots = [];
    this.names = [];
    const lines = svg("g", { "clip-path": `url(#${this.clip})` }), sums = this.curves.stacked ? stack(this.curves) : [];
    root.append(svg("clipPath", { id: this.clip }, svg("rect", { x: LEFT, y: 0, width: width - LEFT - RIGHT, height })), lines);
    this.curves.lines.forEach((line, i) => {
      const style = line.colour ? { colour: line.colour, dash: "" } : look(i);
      if (this.curves.stacked) lines.prepend(svg("path", { d: this.area(sums[i]), fill: style.colour, "fill-opacity": 0.85 }));
      else lines.append(svg("path", { d: this.path(line.values), fill: "none", stroke: style.colour, "stroke-width": 1.5,
        "stroke-linejoin": "round", ...(style.dash ? { "stroke-dasharray": style.dash } : {}) }));
      // Behind the words the paper shows, so that they read over curves.
      const column = this.curves.stacked ? i % 2 : i < 3 ? 0 : 1, row = this.curves.stacked ? i >> 1 : i % 3;
      if (this.curves.stacked) root.append(svg("rect", { x: LEFT + 0.5 * column * (width - LEFT), y: 3 + NAME * row, width: 8, height: 8, fill: style.colour }));
      this.names.push(svg("text", { x: LEFT + 0.5 * column * (width - LEFT) + (this.curves.stacked ? 12 : 0), y: 11 + NAME * row, fill: this.curves.stacked ? "var(--ink)" : style.colour, "font-weight": 600, stroke: "var(--raised)",
        "stroke-width": 3, "paint-order": "stroke", "stroke-linejoin": "round" }));
      this.dots.push(svg("circle", { r: 3.2, fill: style.colour, stroke: "var(--raised)" }));
    });
    for (const mark of this.marks) {
      const x = this.toX(this.x.values[mark.frame]);
      if (x < LEFT || x > width - RIGHT) continue;
      root.append(svg("path", { d: `M${x.toFixed(1)} ${height - BOTTOM}l-3.5 -6h7z`, fill: mark.own ? "var(--accent)" : "var(--c-bad)" }));
    }
    this.hover = svg("line", { class: "hover", x1: 0, x2: 0, y1: this.top() - 3, y2: height - BOTTOM, stroke: "var(--ink)", "stroke-opacity": 0.3, visibility: "hidden" });
    root.append(this.hover, this.cursor, ...this.dots, ...this.names);
    this.box.replaceChildren(root, this.tip);
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

  /** From the bottom up to these values. */
  private area(values: number[]): string {
    const bottom = this.toY(0).toFixed(1), step = Math.max(1, Math.floor(values.length / (2 * this.width)));
    const parts: string[] = [];
    for (let i = 0; i < values.length; i += step) parts.push(`L${this.toX(this.x.values[i]).toFixed(1)} ${this.toY(values[i]).toFixed(1)}`);
    const last = this.x.values[Math.floor((values.length - 1) / step) * step];
    return `M${this.toX(this.x.values[0]).toFixed(1)} ${bottom}${parts.join("")}L${this.toX(last).toFixed(1)} ${bottom}Z`;
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

  /** The value of the abscissa under the pointer, and the frame nearest to it. */
  private under(event: PointerEvent | WheelEvent): { value: number; frame: number } {
    const { values } = this.x, { low: from, high: to } = this.span;
    const share = (event.clientX - this.box.getBoundingClientRect().left - LEFT) / Math.max(1, this.width - LEFT - RIGHT);
    const value = from + Math.min(1, Math.max(0, share)) * (to - from);
    let low = 0, high = values.length - 1;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (values[middle] < value) low = middle + 1;
      else high = middle;
    }
    return { value, frame: low > 0 && value - values[low - 1] < values[low] - value ? low - 1 : low };
  }

  private follow(): void {
    this.box.addEventListener("pointerdown", (event) => {
      this.box.setPointerCapture(event.pointerId);
      this.seek(this.under(event).frame);
    });
    this.box.addEventListener("pointermove", (event) => {
      const { frame } = this.under(event);
      if (event.buttons & 1) this.seek(frame);
      if (event.pointerType !== "touch") this.point(frame);
    });
    this.box.addEventListener("pointerleave", () => {
      this.tip.hidden = true;
      this.hover?.setAttribute("visibility", "hidden");
    });
    this.box.addEventListener("wheel", (event) => {
      if (event.ctrlKey || this.span.last <= this.span.first) return;
      event.preventDefault();
      const lines = event.deltaMode === 1 ? 24 : 1;
      if (event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY)) this.span.move(0.001 * lines * (event.deltaX || event.deltaY));
      else this.span.zoom(this.under(event).value, Math.exp(Math.max(-1, Math.min(1, event.deltaY * lines * 0.0018))));
    }, { passive: false });
    this.box.addEventListener("dblclick", () => this.span.reset());
  }

  /** What the curves are at a frame that is pointed at. */
  private point(frame: number): void {
    if (!this.hover) return;
    const x = this.toX(this.x.values[frame]), unit = this.curves.unit && ` ${this.curves.unit}`, seen = x >= LEFT - 1 && x <= this.width - RIGHT + 1;
    this.hover.setAttribute("visibility", seen ? "visible" : "hidden");
    this.hover.setAttribute("transform", `translate(${x.toFixed(1)} 0)`);
    this.tip.hidden = !seen;
    this.tip.replaceChildren(h("div", null, `${this.x.unit ? `${short(this.x.values[frame])} ${this.x.unit}, ` : ""}frame ${frame + 1}`),
      ...this.curves.lines.map((line) => h("div", null, `${line.name} ${number(line.values[frame] ?? null, 4)}${unit}`.trim())));
    const left = x > 0.55 * this.width;
    this.tip.style.left = left ? "" : `${(x + 8).toFixed(0)}px`;
    this.tip.style.right = left ? `${(this.width - x + 8).toFixed(0)}px` : "";
  }
}
