// The page around the picture: what there is to press, and where things are shown.
import { choice, foreign, h, svg } from "../common/dom";
import type { Replay } from "./data";
import { bodyQuantities, contactQuantities } from "./quantities";
import { mostContacts } from "./shapes";
import type { Settings } from "./stage";

export interface Layout {
  header: HTMLElement;
  canvas: HTMLCanvasElement;
  picture: HTMLElement;
  labels: HTMLElement; // names of solvers above the pictures
  legend: HTMLElement;
  notice: HTMLElement; // what is missing or wrong
  live: HTMLElement;
  play: HTMLButtonElement;
  scrubber: HTMLInputElement;
  clock: HTMLOutputElement;
  selection: HTMLElement;
  contacts: HTMLElement;
  plots: HTMLElement;
  compare: HTMLElement;
  side: HTMLElement;
  show: HTMLElement; // holds the controls
  curvesButton: HTMLElement; panelButton: HTMLElement;
  marks: HTMLElement; // on the timeline
  scale: HTMLElement; // how long arrows and how wide bars are
  joints: HTMLElement;
}

export interface Commands {
  toggle(): void; step(by: number): void; seek(frame: number): void;
  speed(value: number): void; loop(on: boolean): void; interpolate(on: boolean): void;
  view(name: "angle" | "top" | "front" | "side"): void; fit(): void; approach(): void; png(): void; film(): void; help(): void;
  changed(): void; autoScale(): void; worst(): void; csv(): void; worstFrame(): void; bookmark(): void; panel(on?: boolean): void; plain(on?: boolean): void;
}

// Drawn, because not every machine has letters for them. In a square of 16.
const icons = {
  play: "M4 2.5v11l9-5.5z", pause: "M4 2.5h3v11H4zM9 2.5h3v11H9z",
  back: "M11.5 3v10L4.5 8z", on: "M4.5 3v10l7-5z",
  first: "M3 3h2v10H3zM13 3v10L6 8z", last: "M11 3h2v10h-2zM3 3v10l7-5z",
  near: "M7 1.5a5.5 5.5 0 1 0 3.3 9.9l3 3 1.1-1.1-3-3A5.5 5.5 0 0 0 7 1.5zm0 1.6a3.9 3.9 0 1 1 0 7.8 3.9 3.9 0 0 1 0-7.8zM6.2 4.8v1.4H4.8v1.6h1.4v1.4h1.6V7.8h1.4V6.2H7.8V4.8z",
  fit: "M2 2h5v1.6H3.6V7H2zM14 14H9v-1.6h3.4V9H14zM14 2v5h-1.6V3.6H9V2zM2 14V9h1.6v3.4H7V14z",
};

export function icon(name: keyof typeof icons): SVGElement {
  return svg("svg", { viewBox: "0 0 16 16", width: 14, height: 14, "aria-hidden": "true", class: "icon" }, svg("path", { d: icons[name], fill: "currentColor" }));
}

export function button(label: string, content: Node | string, act: () => void, keys = ""): HTMLButtonElement {
  return h("button", { type: "button", "aria-label": label, title: keys ? `${label} (${keys})` : label, onclick: act }, content);
}

function tick(text: string, on: boolean, change: (on: boolean) => void, name: string): HTMLElement {
  // After a click of the mouse the space bar plays again; people who came by keyboard stay where they are.
  let mouse = false;
  const box = h("input", { type: "checkbox", name, onkeydown: () => (mouse = false), onchange: () => {
    if (mouse) box.blur();
    mouse = false;
    change(box.checked);
  } });
  box.checked = on;
  return h("label", { class: "tick", onpointerdown: () => (mouse = true) }, box, text);
}

function slider(text: string, low: number, high: number, step: number, value: number, change: (value: number) => void, say: (value: number) => string): HTMLElement {
  const shown = h("output", null, say(value));
  const range = h("input", { type: "range", min: low, max: high, step, value, oninput: () => {
    shown.textContent = say(Number(range.value));
    change(Number(range.value));
  } });
  return h("label", { class: "slider" }, h("span", null, text), range, shown);
}

/** [text, factor], slow to fast. */
const speeds: [string, number][] = [
  ["1/1000", 0.001], ["1/200", 0.005], ["1/50", 0.02], ["1/20", 0.05], ["1/10", 0.1], ["1/4", 0.25], ["1/2", 0.5], ["1", 1],
  ["2", 2], ["4", 4], ["10", 10], ["50", 50],
];

/** As in life if that takes between one second and two minutes, else so that it takes about ten seconds. */
export function usualSpeed(duration: number): number {
  if (!(duration > 0) || (duration >= 1 && duration <= 120)) return 1;
  return speeds.reduce((best, [, s]) => (Math.abs(Math.log(duration / s / 10)) < Math.abs(Math.log(duration / best / 10)) ? s : best), 1);
}

/** How many of the worst contacts are marked; the last is all. */
const counts = [10, 20, 50, 100, 200, 500, 1000, Infinity];

export function controls(set: Settings, answers: boolean, replay: Replay, act: Commands): HTMLElement {
  const quantities = contactQuantities.filter((q) => answers || !q.answer);
  const change = (write: () => void) => {
    write();
    act.changed();
  };
  const log = tick("log colours", set.log, (on) => change(() => (set.log = on)), "log");
  const logBox = log.querySelector("input")!;
  const colour = choice("Contact colour", [["state", answers ? "state" : "plain"], ...quantities.map((q): [string, string] => [q.key, q.label])],
    set.colour, (key) => change(() => {
      set.colour = key;
      logBox.checked = set.log = ["energy", "sliding", "impulse", "friction"].includes(key);
      log.hidden = ["state", "cone", "gap"].includes(key);
    }));
  log.hidden = ["state", "cone", "gap"].includes(set.colour);
  const body = choice("Body colour", [["own", "by body"], ...bodyQuantities.filter((q) => q.key !== "apart" || replay.other).map((q): [string, string] => [q.key, q.label]), ["worst", "worst contact"]],
    set.body, (key) => change(() => (set.body = key)));
  const percent = (v: number) => `${Math.round(100 * v)} %`;
  return h("div", { class: "controls" },
    h("div", { class: "ticks" },
      tick("contacts", set.contacts, (on) => change(() => (set.contacts = on)), "contacts"),
      answers && replay.frames.some((f) => f.alternatives) &&
        tick("other alternatives", set.others, (on) => change(() => (set.others = on)), "others"),
      tick("normals", set.normals, (on) => change(() => (set.normals = on)), "normals"),
      answers && tick("forces", set.forces, (on) => change(() => (set.forces = on)), "forces"),
      answers && tick("split forces", set.split, (on) => change(() => (set.split = on)), "split"),
      answers && tick("sliding", set.sliding, (on) => change(() => (set.sliding = on)), "sliding"),
      tick("cones", set.cones, (on) => change(() => (set.cones = on)), "cones"),
      tick("X-ray", set.through, (on) => change(() => (set.through = on)), "through"),
      replay.frames.some((f) => f.joints) && tick("joints", set.joints, (on) => change(() => (set.joints = on)), "joints"),
      replay.other !== undefined && tick("ghost", set.ghost, (on) => change(() => (set.ghost = on)), "ghost"),
      tick("shadows", set.shadows, (on) => change(() => (set.shadows = on)), "shadows"),
      tick("ground", set.grid, (on) => change(() => (set.grid = on)), "ground")),
    colour, log, body,
    slider(replay.boxes ? "Boxes" : "Bodies", 0, 1, 0.05, set.opacity, (v) => change(() => (set.opacity = v)), percent),
    mostContacts(replay) > counts[0] && slider("Marks", 0, counts.length - 1, 1, Math.max(0, counts.findIndex((n) => n >= set.most)),
      (v) => change(() => (set.most = counts[v])), (v) => (counts[v] === Infinity ? "all" : `worst ${counts[v]}`)),
    answers && h("div", { class: "line" },
      slider("Forces", -2, 3, 0.1, Math.log10(set.stretch), (v) => change(() => (set.stretch = 10 ** v)), (v) => `\u00d7${Number((10 ** v).toPrecision(2))}`),
      h("button", { type: "button", class: "small", title: "Scale bars and arrows to this frame", onclick: () => act.autoScale() }, "rescale")),
    replay.boxes && h("p", { class: "hint" },
      "The file has no shapes: each body is drawn as the box with its mass and inertia. Sizes may be wrong, positions are correct."));
}

function section(title: string, open: boolean, ...children: (Node | false)[]): HTMLElement {
  return h("details", { class: "section", open }, h("summary", null, h("h2", null, title)), ...children);
}

export function layout(root: HTMLElement, replay: Replay, set: Settings, answers: boolean, duration: number, themeSwitch: HTMLElement,
  solvers: HTMLElement[], act: Commands): Layout {
  const last = Math.max(0, replay.frames.length - 1);
  const canvas = h("canvas", { tabindex: 0, role: "img", "aria-label": "3-D view of the frame" });
  const labels = h("div", { class: "labels", "aria-hidden": true });
  const legend = h("div", { class: "legend" });
  const notice = h("p", { class: "notice", role: "alert", hidden: true });
  const views = h("div", { class: "views", role: "group", "aria-label": "Camera" },
    button("Fit the scene", icon("fit"), () => act.fit(), "F"), button("Zoom to the selection", icon("near"), () => act.approach(), "Z"),
    ...(["angle", "top", "front", "side"] as const).map((name, i) =>
      h("button", { type: "button", title: `View: ${name} (${i + 1})`, onclick: () => act.view(name) }, name)),
    h("button", { type: "button", title: "Save the picture as PNG", onclick: () => act.png() }, "PNG"),
    h("button", { type: "button", title: "Make a film or a series of pictures", onclick: () => act.film() }, "Film"));
  const scale = h("div", { class: "scale", hidden: true });
  const picture = h("section", { class: "picture", "aria-label": "Picture" },
    h("div", { class: "stage" }, canvas, labels, scale, views, notice), legend);

  const play = h("button", { type: "button", class: "play", "aria-label": "Play", title: "Play (space)", onclick: () => act.toggle() }, icon("play"));
  const scrubber = h("input", {
    type: "range", class: "scrubber", min: 0, max: last, step: 1, value: 0, "aria-label": "Frame", disabled: last === 0,
    oninput: () => act.seek(Number(scrubber.value)),
  });
  const marks = h("div", { class: "marks" });
  const clock = h("output", { class: "clock", "aria-live": "off" });
  const usual = usualSpeed(duration);
  const curvesButton = h("button", { type: "button", class: "small", title: "Show or hide the curves (U)", onclick: () => act.plain() }, "Curves");
  const panelButton = h("button", { type: "button", class: "small", title: "Show or hide numbers and settings (P)", onclick: () => act.panel() }, "Panel");
  const transport = h("div", { class: "transport", role: "group", "aria-label": "Playback" },
    button("First frame", icon("first"), () => act.seek(0), "Home"), button("Previous frame", icon("back"), () => act.step(-1), "left arrow"),
    play, button("Next frame", icon("on"), () => act.step(1), "right arrow"), button("Last frame", icon("last"), () => act.seek(last), "End"),
    h("div", { class: "track" }, scrubber, marks), clock,
    h("button", { type: "button", class: "small", title: "Go to the next of the worst frames (N)", onclick: () => act.worstFrame() }, "Next worst"),
    h("button", { type: "button", class: "small", title: "Mark this frame, or take its mark away (M)", onclick: () => act.bookmark() }, "Mark"),
    choice("Speed", speeds.map(([text, s]): [string, string] => [String(s), `\u00d7${text}`]), String(usual), (v) => act.speed(Number(v))),
    tick("loop", true, (on) => act.loop(on), "loop"),
    tick("smooth", false, (on) => act.interpolate(on), "smooth"), curvesButton, panelButton);
  const selection = h("div", { class: "selection" });
  const contacts = h("div"), joints = h("div"), show = h("div", null, controls(set, answers, replay, act));
  const compare = h("div", { class: "compare" });
  const plots = h("div", { class: "plots" });
  const live = h("p", { class: "visually-hidden", role: "status", "aria-live": "polite" });
  const header = h("header", { class: "top" },
    h("div", { class: "names" }, h("h1", null, foreign(replay.title)),
      h("p", { class: "hint" }, foreign(replay.file), " ", foreign(replay.simulation),
        replay.other ? [", with ", foreign(replay.other.file), " as a ghost"] : null,
        replay.toolkit ? [" \u00b7 ", foreign(replay.toolkit)] : null,
        replay.decimated ? ` \u00b7 ${replay.frames.length} of ${replay.total} frames` : null)),
    h("div", { class: "line" }, ...solvers, themeSwitch, button("Help", "?", () => act.help(), "?")));
  const side = h("aside", { "aria-label": "Numbers and settings" },
    section("Show", true, show),
    section("Selected", true, selection),
    section("Contacts", true, compare, h("div", { class: "line" },
      h("button", { type: "button", class: "small", title: "Select the first contact of the table (W)", onclick: () => act.worst() }, "Worst contact"),
      h("button", { type: "button", class: "small", title: "Save the contacts of this frame", onclick: () => act.csv() }, "CSV")), contacts),
    replay.frames.some((f) => f.joints) && section("Joints", true, joints));
  root.classList.add("replay");
  root.replaceChildren(header, picture, side,
    h("section", { class: "bottom", "aria-label": "Timeline" }, divider(root), transport, plots), live);
  return { header, canvas, picture, labels, legend, notice, live, play, scrubber, clock, selection, contacts, plots, compare, side, show, scale, joints, marks, curvesButton, panelButton };
}

const LEAST = 60, MOST = 0.6; // height of curves: pixels, share of the window

/** Between the picture and the curves: drag it, or move it by the arrow keys. */
function divider(root: HTMLElement): HTMLElement {
  const height = () => root.querySelector(".curve")?.clientHeight ?? LEAST;
  const set = (pixels: number | null) => {
    if (pixels === null) root.style.removeProperty("--curve");
    else root.style.setProperty("--curve", `${Math.round(Math.max(LEAST, Math.min(MOST * innerHeight, pixels)))}px`);
    line.setAttribute("aria-valuenow", String(Math.round(height())));
  };
  const line = h("div", { class: "divider", role: "separator", tabindex: 0, "aria-orientation": "horizontal", "aria-label": "Height of the curves",
    title: "Drag to change the height of the curves", "aria-valuemin": LEAST, "aria-valuemax": 1000, "aria-valuenow": 100 });
  let from = 0, tall = 0;
  line.addEventListener("pointerdown", (event) => {
    line.setPointerCapture(event.pointerId);
    [from, tall] = [event.clientY, height()];
  });
  line.addEventListener("pointermove", (event) => {
    if (line.hasPointerCapture(event.pointerId)) set(tall + from - event.clientY);
  });
  line.addEventListener("dblclick", () => set(null));
  line.addEventListener("keydown", (event) => {
    const by = event.key === "ArrowUp" ? 20 : event.key === "ArrowDown" ? -20 : 0;
    if (by === 0) return;
    event.preventDefault();
    event.stopPropagation();
    set(height() + by);
  });
  return line;
}

const helpRows: [string, string][] = [
  ["space", "play or pause"], ["\u2190 \u2192", "previous, next frame; with Shift ten frames"], ["Home End", "first, last frame"],
  ["drag", "rotate the view"], ["Shift drag, right drag", "move the view"], ["wheel, pinch", "zoom in, out"],
  ["A D, R V", "rotate left, right; up, down"], ["+ \u2212", "zoom in, out"], ["I J K L", "move the view"],
  ["1 2 3 4", "from an angle, top, front, side"], ["F", "fit the scene"], ["Z", "zoom to the selection"], ["C", "follow the selected body, or stop"],
  ["N", "next of the worst frames"], ["M", "mark this frame, or take its mark away"],
  ["wheel on curves", "zoom time; with Shift move; double click shows all"], ["U P", "show or hide the curves; numbers and settings"],
  ["W", "zoom to the worst contact, by the order of the table"], ["[ ]", "previous, next contact of the frame"], ["B", "next body"],
  ["T", "make bodies transparent or solid"], ["Esc", "select nothing"], ["?", "this help"],
];

export function helpDialog(): HTMLDialogElement {
  const table = h("table", null, h("tbody", null, ...helpRows.map(([keys, text]) =>
    h("tr", null, h("th", { scope: "row" }, h("kbd", null, keys)), h("td", null, text)))));
  const dialog: HTMLDialogElement = h("dialog", { class: "help", "aria-label": "Help" }, h("h2", null, "Keys and mouse"), table,
    h("p", null, "Click a body or a contact for its numbers. Points show contacts: \u25cb open, \u25cf sticking, \u25c6 sliding, ",
      "\u25b2 driving friction: it drives the motion, which Coulomb\u2019s law forbids. A bar is the impulse of a contact: it lies along the force, and is as wide as the force is large. ",
      "Arrows point into the selected body; at a selected contact they act on the second body of the pair. A break in a bar or arrow means that it is longer or wider than shown. ",
      "The cone is what Coulomb\u2019s law allows for the normal impulse."),
    h("button", { type: "button", onclick: () => dialog.close() }, "Close"));
  dialog.addEventListener("click", (event) => {
    if (event.target === dialog) dialog.close();
  });
  return dialog;
}
