// What the colours mean, with the counts of the frame.
import { h } from "../common/dom";
import { count, number } from "../common/format";
import type { FrameData, Result } from "./data";
import { isDark } from "../common/theme";
import { colours, css, notChosenHex, valueAt, type Scale } from "./palette";
import { stateTag } from "./panel";
import { bodyQuantities } from "./quantities";
import { legendColours, quantityOf, worstQuantity, type Measure, type Settings } from "./stage";

/** Contacts of each state. */
export function countStates(frame: FrameData, result: number, states: number): number[] {
  const counts = new Array<number>(states).fill(0);
  const answer = frame.results[result];
  if (answer) for (const s of answer.state) if (s < states) counts[s]++;
  return counts;
}

/** Numbers that are shown as colours. */
export interface Bar { label: string; low: number; high: number; colours: string[] }

/** The colour bars of a picture: of contacts, and of bodies. */
export function barsOf(frame: FrameData, answers: boolean, set: Settings, { contact, body }: Measure): Bar[] {
  const table = colours().heat.hex, list: Bar[] = [];
  const put = (title: string, unit: string, scale: Scale) => list.push({
    label: `${unit ? `${title} (${unit})` : title}${scale.log ? ", log" : ""}`, low: valueAt(scale, 0), high: valueAt(scale, 1),
    colours: Array.from({ length: 17 }, (_x, i) => css(table[Math.round((255 * (scale.down ? 16 - i : i)) / 16)])),
  });
  const quantity = quantityOf(set.colour, answers), own = bodyQuantities.find((q) => q.key === set.body);
  if (quantity && set.contacts) put(quantity.label, quantity.unit, contact);
  if (own) put(`Bodies: ${own.label.toLowerCase()}`, own.unit, body);
  else if (set.body === "worst") {
    const worst = worstQuantity(set, frame);
    put(`Bodies: worst ${worst.label.toLowerCase()}`, worst.unit, body);
  }
  return list;
}

function barElement({ label, low, high, colours: stops }: Bar): HTMLElement {
  const strip = h("div", { class: "strip" });
  strip.style.background = `linear-gradient(to right, ${stops.join(", ")})`;
  return h("div", { class: "bar" }, h("span", null, label), h("span", null, number(low)), strip, h("span", null, number(high)));
}

function swatch(colour: number, text: string): HTMLElement {
  const line = h("span", { class: "swatch" });
  line.style.background = css(colour);
  return h("span", { class: "key" }, line, text);
}

export class Legend {
  private key = "";
  private cells: HTMLElement[] = [];
  private readonly total = h("span");

  /** ghost: the name of a second recording; "" = there is none. */
  constructor(private readonly element: HTMLElement, private readonly states: string[], private readonly ghost: string) {}

  show(frame: FrameData, results: { name: string; index: number }[], set: Settings, measure: Measure): void {
    const { contact, body } = measure;
    const key = JSON.stringify([set.colour, set.body, set.contacts, set.forces, set.normals, set.others, frame.alternative !== null, set.sliding, set.split, set.ghost, isDark(), results,
      set.colour !== "state" && [contact.low, contact.high, contact.log], set.body !== "own" && [body.low, body.high, body.log]]);
    if (key !== this.key) this.build(frame, results, set, measure);
    this.key = key;
    this.total.textContent = frame.gap.length === 1 ? "1 contact" : `${count(frame.gap.length)} contacts`;
    const counts = results.flatMap((r) => countStates(frame, r.index, this.states.length));
    this.cells.forEach((cell, i) => {
      const text = count(counts[i]);
      if (cell.textContent !== text) cell.textContent = text;
      // Beyond the four of Coulomb's law there is "unknown", which is rarely met.
      const state = i % this.states.length;
      if (state >= 4) cell.parentElement!.hidden = counts[i] === 0;
    });
  }

  private build(frame: FrameData, results: { name: string; index: number }[], set: Settings, measure: Measure): void {
    const parts: HTMLElement[] = [this.total];
    this.cells = [];
    for (const result of results) {
      const list = h("ul", { class: "states", "aria-label": `States of contacts, ${result.name}` });
      if (results.length > 1) list.append(h("li", { class: "who" }, result.name));
      this.states.forEach((_s, i) => {
        const cell = h("b", { "data-state": i });
        this.cells.push(cell);
        list.append(h("li", null, stateTag(i, this.states), " ", cell));
      });
      parts.push(list);
    }
    if (results.length === 0) parts.push(h("span", { class: "hint" }, "no solver\u2019s answer"));
    const answers = results.length > 0, { ghost } = this;
    parts.push(...barsOf(frame, answers, set, measure).map(barElement));
    const keys = [set.normals && swatch(legendColours.normalColour, "normal"),
      set.normals && set.others && answers && frame.alternative !== null && swatch(notChosenHex, "normal, not chosen"),
      ghost !== "" && set.ghost && swatch(legendColours.ghostColour, `ghost: ${ghost}`),
      set.forces && set.split && answers && swatch(legendColours.frictionColour, "friction"),
      set.sliding && answers && swatch(legendColours.slidingColour, "sliding velocity")]
      .filter((k): k is HTMLElement => k !== false);
    if (keys.length) parts.push(h("div", { class: "keys" }, ...keys));
    this.element.replaceChildren(...parts);
  }
}

/** By which rules the answers of a solver are judged, and who says so. */
export function rulesOf(results: Result[], name: string, named: boolean): HTMLElement[] {
  const result = results.find((r) => r.solver === name && r.answers);
  if (!result?.rules) return [];
  const source = result.rulesGiven
    ? "as given"
    : result.rulesStored
      ? "as stored"
      : "assumed: the file does not say";
  // Numbers as people write them: 0.1 is not 0.10000000000000001.
  const rules = result.rules.replace(/\d+\.\d{7,}(e-?\d+)?/g, (digits) => String(Number(Number(digits).toPrecision(6))));
  const text = `judged by ${rules}, ${source}${result.rulesDiffer ? " (first answer; others differ)" : ""}`;
  return [h("p", { class: "hint rules" }, named ? `${name}: ${text}` : text)];
}

/** How two answers to the same frame differ. */
export function difference(frame: FrameData, results: { name: string; index: number }[]): HTMLElement {
  const [a, b] = results.map((r) => frame.results[r.index]), n = frame.gap.length;
  let states = 0, most = 0, at = -1, sum = 0;
  const energy = [0, 0];
  for (let i = 0; i < n; i++) {
    if (a.state[i] !== b.state[i]) states++;
    let square = (a.impulse[i] - b.impulse[i]) ** 2;
    for (let c = 3 * i; c < 3 * i + 3; c++) square += (a.friction[c] - b.friction[c]) ** 2;
    sum += square;
    if (square > most) [most, at] = [square, i];
    energy[0] += a.energy[i];
    energy[1] += b.energy[i];
  }
  const row = (name: string, ...values: string[]) =>
    h("tr", null, h("th", { scope: "row" }, name), ...values.map((v) => h("td", values.length === 1 ? { colspan: 2 } : null, v)));
  return h("table", { class: "numbers difference" },
    h("thead", null, h("tr", null, h("td"), ...results.map((r) => h("th", { scope: "col" }, r.name)))),
    h("tbody", null, row("Energy error of contacts (J)", number(energy[0], 4), number(energy[1], 4)),
      row("States that differ", `${count(states)} of ${count(n)}`),
      row("Difference of impulses, rms (N s)", n > 0 ? number(Math.sqrt(sum / n), 4) : "\u2013"),
      row("Largest difference (N s)", at >= 0 ? `${number(Math.sqrt(most), 4)}, contact ${at}` : "\u2013")));
}
