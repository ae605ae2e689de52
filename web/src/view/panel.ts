// The numbers beside the picture: of what is selected, and the table of contacts.
import { h } from "../common/dom";
import { csv, type Cell } from "../common/download";
import { count, number } from "../common/format";
import type { FrameData, FrameInfo } from "./data";
import { NOT_CHOSEN, stateSigns, stateStyle } from "./palette";
import { coneUse, contactQuantities, kineticEnergyOf, speedOf, withUnit, type Quantity } from "./quantities";
import { readPose } from "./bodies";
import { idOf, jointIdOf, type Choice } from "./selection";

/** What is a millionth of the largest component, or less than 1e-12, is rounding. */
export function clean(a: ArrayLike<number>, at: number, count = 3): number[] {
  const list = Array.from({ length: count }, (_x, k) => a[at + k]), least = Math.max(1e-12, 1e-6 * Math.max(...list.map(Math.abs)));
  return list.map((v) => (Math.abs(v) < least ? 0 : v));
}
const vector = (a: ArrayLike<number>, at: number) => `(${clean(a, at).map((v) => number(v, 4)).join(", ")})`;
export const nameOf = (id: number) => (id === 0 ? "world" : `body ${id}`);

export interface Shown { frame: FrameData; info: FrameInfo; results: { name: string; index: number }[]; states: string[] }

type Row = [string, Node | string, string?];

function rows(list: Row[]): HTMLElement {
  const dl = h("dl", { class: "facts" });
  for (const [name, value, key] of list) {
    dl.append(h("dt", null, name), h("dd", key ? { "data-fact": key } : null, value));
  }
  return dl;
}

function link(text: string, act: () => void): HTMLElement {
  return h("button", { type: "button", class: "link", onclick: act }, text);
}

export function stateTag(state: number, states: string[]): HTMLElement {
  const sign = h("span", { class: "sign", "aria-hidden": true }, stateSigns[state] ?? "?");
  sign.style.color = stateStyle(state);
  return h("span", { class: "state" }, sign, states[state] ?? `state ${state}`);
}

export interface Acts { body: (id: number) => void; contact: (i: number) => void; joint: (j: number) => void; follow: (id: number) => void; followed: () => number; plot: () => void }

export function selectionPanel(shown: Shown, choice: Choice, acts: Acts): HTMLElement {
  const { pick } = choice, panel = numbersOf(shown, choice, acts);
  if (pick.kind !== "none" && !(pick.kind === "body" && pick.body === 0)) {
    panel.append(h("button", { type: "button", class: "small", title: "Curves of what is selected", onclick: acts.plot }, "Plot over time"));
  }
  return panel;
}

function numbersOf(shown: Shown, choice: Choice, acts: Acts): HTMLElement {
  const { frame } = shown, { pick } = choice;
  if (pick.kind === "body") return bodyPanel(shown, pick.body, acts);
  if (pick.kind === "contact") {
    if (choice.contact >= 0) return contactPanel(shown, choice.contact, acts);
    return h("p", { class: "hint" }, `No contact between ${nameOf(pick.pair[0])} and ${nameOf(pick.pair[1])} in this frame.`);
  }
  if (pick.kind === "joint") return choice.joint >= 0 ? jointPanel(shown, choice.joint, acts) : h("p", { class: "hint" }, "It is not in this frame.");
  return h("p", { class: "hint" }, frame.gap.length > 0
    ? "Click a body or a contact point, or choose one in the table below."
    : "Click a body to see its numbers.");
}

function bodyPanel(shown: Shown, id: number, acts: Acts): HTMLElement {
  const { frame } = shown, i = frame.id.indexOf(id);
  const panel = h("div", null, h("h3", null, id === 0 ? "Scenery" : `Body ${id}`));
  if (id === 0) {
    panel.append(h("p", { class: "hint" }, "Static body."));
    return panel;
  }
  if (i < 0) {
    panel.append(h("p", { class: "hint" }, "It is not in this frame."));
    return panel;
  }
  const pose = new Float64Array(7);
  readPose(frame.position, frame.quaternion, i, pose);
  panel.append(rows([
    ["Mass", withUnit(frame.mass[i], "kg"), "mass"],
    ["Position (m)", vector(frame.position, 3 * i), "position"],
    ["Quaternion", `(${[3, 4, 5, 6].map((k) => number(Math.round(pose[k] * 1e4) / 1e4, 4)).join(", ")})`, "quaternion"],
    ["Velocity (m/s)", vector(frame.velocity, 6 * i), "velocity"],
    ["Angular velocity (rad/s)", vector(frame.velocity, 6 * i + 3), "spin"],
    ["Speed", withUnit(clean([speedOf(frame, i)], 0, 1)[0], "m/s"), "speed"],
    ["Energy \u00bdmv\u00b2", withUnit(speedOf(frame, i) < 1e-12 ? 0 : kineticEnergyOf(frame, i), "J"), "kinetic"],
    ...(frame.apart ? [["Distance to the ghost", withUnit(frame.apart[i], "m"), "apart"] as Row] : []),
  ]));
  const followed = acts.followed() === id;
  panel.append(h("button", { type: "button", class: "small", "aria-pressed": followed, onclick: () => acts.follow(followed ? 0 : id) }, "Follow"));
  const mine: number[] = [];
  for (let c = 0; c < frame.gap.length; c++) if (frame.pair[2 * c] === i || frame.pair[2 * c + 1] === i) mine.push(c);
  const list = h("ul", { class: "links" });
  for (const c of mine.slice(0, 60)) {
    const other = idOf(frame, c, frame.pair[2 * c] === i ? 1 : 0);
    list.append(h("li", null, link(`${c} with ${nameOf(other)}`, () => acts.contact(c))));
  }
  panel.append(h("h4", null, mine.length === 1 ? "1 contact" : `${count(mine.length)} contacts`), list);
  if (mine.length > 60) panel.append(h("p", { class: "hint" }, `and ${count(mine.length - 60)} more`));
  const joined: HTMLElement[] = [];
  for (let j = 0; 2 * j < frame.jointPair.length; j++) {
    if (frame.jointPair[2 * j] !== i && frame.jointPair[2 * j + 1] !== i) continue;
    const other = jointIdOf(frame, j, frame.jointPair[2 * j] === i ? 1 : 0);
    joined.push(h("li", null, link(`${j} with ${nameOf(other)}`, () => acts.joint(j))));
  }
  if (joined.length) panel.append(h("h4", null, joined.length === 1 ? "1 joint" : `${count(joined.length)} joints`), h("ul", { class: "links" }, ...joined));
  return panel;
}

const lengthOf = (a: ArrayLike<number>, i: number) => Math.hypot(a[3 * i], a[3 * i + 1], a[3 * i + 2]);

function jointPanel({ frame, info, results }: Shown, j: number, acts: Acts): HTMLElement {
  const who = (side: 0 | 1) => {
    const id = jointIdOf(frame, j, side);
    return id === 0 ? "world" : link(nameOf(id), () => acts.body(id));
  };
  const axis = lengthOf(frame.jointAxis, j) > 0;
  const list: Row[] = [
    ["Between", h("span", null, who(0), " and ", who(1)), "pair"],
    ["Point (m)", vector(frame.jointPoint, 3 * j), "point"],
    ...(axis ? [["Axis", vector(frame.jointAxis, 3 * j), "axis"] as Row] : []),
    ["Position error", withUnit(frame.jointError[2 * j], "m"), "error"],
    ["Angle error", withUnit(frame.jointError[2 * j + 1], "rad"), "turn"],
  ];
  for (const r of results) {
    const impulse = frame.results[r.index].jointImpulse, of = results.length > 1 ? `, ${r.name}` : "";
    list.push([`Impulse on b${of} (N s)`, vector(impulse, 3 * j), "impulse"], [`Impulse${of}`, withUnit(lengthOf(impulse, j), "N s"), "size"]);
    if (info.h > 0) list.push([`Force${of}`, withUnit(lengthOf(impulse, j) / info.h, "N"), "force"]);
  }
  return h("div", null, h("h3", null, `Joint ${j}`), rows(list));
}

/** All joints that have a place, the one with the largest error first. */
export function jointTable({ frame, results }: Shown, selected: number, act: (joint: number) => void): HTMLElement {
  const n = frame.jointPair.length / 2, order = Array.from({ length: n }, (_x, j) => j).sort((a, b) => frame.jointError[2 * b] - frame.jointError[2 * a] || a - b);
  if (n === 0) return h("p", { class: "hint" }, "No joints in this frame.");
  const head = h("tr", null, ...["#", "Pair", "error m", "error rad"].map((text) => h("th", { scope: "col" }, text)),
    ...results.map((r) => h("th", { scope: "col" }, results.length > 1 ? `${r.name} N s` : "impulse N s")));
  const body = h("tbody", null, ...order.slice(0, ROWS).map((j) => h("tr", { "aria-selected": j === selected },
    h("td", null, h("button", { type: "button", class: "link", "aria-label": `Joint ${j}`, onclick: () => act(j) }, String(j))),
    h("td", null, `${jointIdOf(frame, j, 0) || "world"}\u2013${jointIdOf(frame, j, 1) || "world"}`),
    h("td", null, number(frame.jointError[2 * j])), h("td", null, number(frame.jointError[2 * j + 1])),
    ...results.map((r) => h("td", null, number(lengthOf(frame.results[r.index].jointImpulse, j)))))));
  return h("div", null, h("div", { class: "scroll" }, h("table", { class: "contacts joints" },
    h("caption", { class: "visually-hidden" }, "Joints of this frame"), h("thead", null, head), body)),
    n > ROWS && h("p", { class: "hint" }, `The first ${ROWS} of ${count(n)}.`));
}

/** "2 of 3, not chosen": chosen or not by every solver that is shown. */
function alternativeRow({ frame, results, states }: Shown, i: number): Row[] {
  const number = frame.alternative?.[2 * i] ?? 0;
  if (number === 0) return [];
  const words = results.map((r) => {
    const state = frame.results[r.index].state[i];
    const word = state === NOT_CHOSEN || states[state] === "unknown" ? states[state] : "chosen";
    return results.length > 1 ? `${word} by ${r.name}` : word;
  });
  return [["Alternative", [`${number} of ${frame.alternative![2 * i + 1]}`, ...words].join(", "), "alternative"]];
}

function contactPanel(shown: Shown, i: number, acts: Acts): HTMLElement {
  const { frame, info, results, states } = shown;
  const ids = [idOf(frame, i, 0), idOf(frame, i, 1)];
  const who = (id: number) => (id === 0 ? "world" : link(nameOf(id), () => acts.body(id)));
  const panel = h("div", null, h("h3", null, `Contact ${i}`), rows([
    ["Between", h("span", null, who(ids[0]), " and ", who(ids[1])), "pair"],
    ["Point (m)", vector(frame.point, 3 * i), "point"],
    ["Normal", vector(frame.normal, 3 * i), "normal"],
    ["Gap", withUnit(frame.gap[i], "m"), "gap"],
    ["Friction coefficient", number(frame.mu[i], 4), "mu"],
    ...alternativeRow(shown, i),
  ]));
  if (results.length === 0) return panel;
  const table = h("table", { class: "numbers" });
  const head = h("tr", null, h("td"));
  for (const r of results) head.append(h("th", { scope: "col" }, r.name));
  if (results.length === 2) head.append(h("th", { scope: "col" }, "difference"));
  table.append(h("thead", null, head));
  const body = h("tbody");
  const line = (key: string, name: string, unit: string, of: (r: number) => number) => {
    const values = results.map((r) => of(r.index));
    const row = h("tr", { "data-fact": key }, h("th", { scope: "row" }, unit ? `${name}, ${unit}` : name));
    for (const v of values) row.append(h("td", null, withUnit(v, "")));
    if (values.length === 2) row.append(h("td", null, withUnit(values[1] - values[0], "")));
    body.append(row);
  };
  const size = (a: Float32Array) => Math.hypot(a[3 * i], a[3 * i + 1], a[3 * i + 2]);
  const kinds = h("tr", { "data-fact": "state" }, h("th", { scope: "row" }, "State"));
  for (const r of results) kinds.append(h("td", null, stateTag(frame.results[r.index].state[i], states)));
  if (results.length === 2) {
    const [a, b] = results.map((r) => frame.results[r.index].state[i]);
    kinds.append(h("td", null, a === b ? "same" : "differs"));
  }
  body.append(kinds);
  line("impulse", "Impulse", "N s", (r) => frame.results[r].impulse[i]);
  if (info.h > 0) line("force", "Force", "N", (r) => frame.results[r].impulse[i] / info.h);
  line("friction", "Friction", "N s", (r) => size(frame.results[r].friction));
  line("cone", "|f|/(\u00b5n)", "", (r) => coneUse(frame, r, i));
  line("sliding", "Sliding", "m/s", (r) => size(frame.results[r].sliding));
  line("energy", "Energy error", "J", (r) => frame.results[r].energy[i]);
  table.append(body);
  panel.append(h("div", { class: "wide", role: "region", tabindex: 0, "aria-label": "Answers" }, table));
  for (const r of results) {
    const data = frame.results[r.index];
    panel.append(rows([
      [results.length > 1 ? `Friction on b, ${r.name} (N s)` : "Friction on b (N s)", vector(data.friction, 3 * i)],
      [results.length > 1 ? `Sliding of b, ${r.name} (m/s)` : "Sliding of b (m/s)", vector(data.sliding, 3 * i)],
    ]));
  }
  return panel;
}

/** All contacts of a frame, with the answers that are shown. */
export function contactsCsv(frame: FrameData, answers: Shown["results"], states: string[]): string {
  const columns = ["contact", "a", "b", "x (m)", "y (m)", "z (m)", "nx", "ny", "nz", "gap (m)", "mu"];
  const numbers = contactQuantities.filter((q) => q.answer);
  for (const a of answers) columns.push(`${a.name} state`, ...numbers.map((q) => `${a.name} ${q.label}${q.unit && ` (${q.unit})`}`));
  const list: Cell[][] = [];
  for (let i = 0; i < frame.gap.length; i++) {
    const row: Cell[] = [i, idOf(frame, i, 0), idOf(frame, i, 1), ...frame.point.subarray(3 * i, 3 * i + 3),
      ...frame.normal.subarray(3 * i, 3 * i + 3), frame.gap[i], frame.mu[i]];
    for (const a of answers) row.push(states[frame.results[a.index].state[i]] ?? "", ...numbers.map((q) => q.of(frame, a.index, i)));
    list.push(row);
  }
  return csv(columns, list);
}

const ROWS = 100;

/** The contacts with the largest values first (gaps: the smallest). One tab stop; arrows move in it. */
export class ContactTable {
  readonly element: HTMLElement;
  private readonly body = h("tbody");
  private readonly note = h("p", { class: "hint" });
  private readonly heads = new Map<string, HTMLElement>();
  private order = new Uint32Array(0);
  private values = new Float32Array(0);
  sort: string;
  private at = -1; // contact that has the tab stop

  constructor(private readonly answers: boolean, private readonly act: (contact: number) => void, private readonly sorted: () => void) {
    this.sort = answers ? "energy" : "gap";
    const head = h("tr", null, h("th", { scope: "col" }, "#"), h("th", { scope: "col" }, "Pair"));
    for (const [key, text] of this.columns()) {
      const th = h("th", { scope: "col" }, h("button", { type: "button", class: "head", onclick: () => this.by(key) }, text));
      this.heads.set(key, th);
      head.append(th);
    }
    const caption = h("caption", { class: "visually-hidden" }, "Contacts of this frame");
    this.element = h("div", null, h("div", { class: "scroll" }, h("table", { class: "contacts" }, caption, h("thead", null, head), this.body)), this.note);
    this.body.addEventListener("keydown", (event) => this.keys(event));
  }

  private columns(): [string, string][] {
    return this.answers
      ? [["energy", "error J"], ["impulse", "normal N s"], ["cone", "cone use"], ["sliding", "slip m/s"]]
      : [["gap", "gap m"], ["mu", "\u00b5"]];
  }

  by(key: string): void {
    this.sort = key;
    this.sorted();
  }

  private quantity(): Quantity {
    return contactQuantities.find((q) => q.key === this.sort) ?? contactQuantities[6];
  }

  /** The contact that comes first in the order of the table; -1 = none. */
  worst(frame: FrameData, result: number): number {
    this.arrange(frame, result);
    return frame.gap.length > 0 ? this.order[0] : -1;
  }

  private arrange(frame: FrameData, result: number): void {
    const n = frame.gap.length, quantity = this.quantity(), down = this.sort === "gap" ? -1 : 1;
    if (this.order.length !== n) {
      this.order = new Uint32Array(n);
      this.values = new Float32Array(n);
    }
    for (let i = 0; i < n; i++) {
      const v = quantity.of(frame, result, i);
      this.values[i] = Number.isNaN(v) ? -Infinity : down * v;
      this.order[i] = i;
    }
    this.order.sort((a, b) => (this.values[b] > this.values[a] ? 1 : this.values[b] < this.values[a] ? -1 : a - b));
  }

  show(shown: Shown, result: number, selected: number): void {
    const { frame, states } = shown, focused = this.body.contains(document.activeElement);
    this.arrange(frame, result);
    for (const [key, th] of this.heads) {
      th.setAttribute("aria-sort", key === this.sort ? (key === "gap" ? "ascending" : "descending") : "none");
    }
    const list: HTMLElement[] = [], n = Math.min(ROWS, this.order.length);
    this.at = selected >= 0 && this.order.subarray(0, n).includes(selected) ? selected : n > 0 ? this.order[0] : -1;
    for (let k = 0; k < n; k++) {
      const i = this.order[k];
      const button = h("button", { type: "button", class: "link", tabindex: i === this.at ? 0 : -1, "data-contact": i,
        "aria-label": `Contact ${i}` }, String(i));
      const first = h("td", null, button);
      if (frame.results[result]) {
        const state = frame.results[result].state[i];
        const sign = h("span", { class: "sign", title: states[state] ?? "" }, ` ${stateSigns[state] ?? "?"}`);
        sign.style.color = stateStyle(state);
        first.append(sign, h("span", { class: "visually-hidden" }, states[state] ?? ""));
      }
      const row = h("tr", { "aria-selected": i === selected }, first, h("td", null, `${idOf(frame, i, 0) || "world"}\u2013${idOf(frame, i, 1) || "world"}`));
      for (const [key] of this.columns()) {
        const v = contactQuantities.find((q) => q.key === key)!.of(frame, result, i);
        row.append(h("td", null, v === Infinity ? "\u221e" : key === "cone" && !Number.isNaN(v) ? v.toFixed(3) : number(v)));
      }
      row.addEventListener("click", () => this.act(i));
      list.push(row);
    }
    this.body.replaceChildren(...list);
    this.note.textContent = frame.gap.length === 0 ? "No contacts in this frame."
      : frame.gap.length > n ? `The first ${n} of ${count(frame.gap.length)}.` : "";
    if (focused) this.focus(this.at);
  }

  private focus(contact: number): void {
    this.body.querySelector<HTMLElement>(`[data-contact="${contact}"]`)?.focus({ preventScroll: false });
  }

  private keys(event: KeyboardEvent): void {
    const buttons = [...this.body.querySelectorAll<HTMLButtonElement>("button[data-contact]")];
    const at = buttons.indexOf(document.activeElement as HTMLButtonElement);
    const to = event.key === "ArrowDown" ? at + 1 : event.key === "ArrowUp" ? at - 1 : -1;
    if (at < 0 || to < 0 || to >= buttons.length) return;
    event.preventDefault();
    event.stopPropagation();
    buttons[at].tabIndex = -1;
    buttons[to].tabIndex = 0;
    buttons[to].focus();
  }
}
