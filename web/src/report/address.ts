// The state of the page in its address, "#place&tolerance=1e-6&show=cone/auto": a link shows what its sender saw, and the
// browser's back and forward undo choices. Only what differs from the beginning is in it.
import { choice } from "../common/dom";
import { whenDrawn } from "./schedule";

/** One thing that can be chosen. "" in the address is a value too, so what has not been chosen is null. */
export interface Kept {
  read(): string | null; // null: as at the beginning
  apply(value: string | null): void; // null: back to the beginning; what is not understood is ignored
}

const kept = new Map<string, Kept>();
let place = ""; // id of the element that was jumped to

/** Adds one thing to the address; after it has changed, `moved` has to be called. */
export function keep(key: string, one: Kept): void {
  kept.set(key, one);
}

/** Signs that are legible in an address and mean nothing there stay as they are. */
const escape = (text: string): string =>
  encodeURIComponent(text).replace(/%(2F|3A|40|20|3D)/gi, (code) => (code === "%20" ? "+" : decodeURIComponent(code)));
const unescape = (text: string): string => {
  try {
    return decodeURIComponent(text.replaceAll("+", " "));
  } catch {
    return "";
  }
};
/** Several texts as one value: commas between them, those inside them doubly escaped. */
export const list = (texts: string[]): string =>
  texts.map((text) => text.replaceAll("%", "%25").replaceAll(",", "%2C")).join(",");
export const unlist = (value: string): string[] =>
  value === "" ? [] : value.split(",").map((text) => text.replaceAll("%2C", ",").replaceAll("%25", "%"));

function parse(hash: string): { place: string; values: Map<string, string> } {
  const values = new Map<string, string>();
  let found = "";
  for (const part of hash.replace(/^#/, "").split("&")) {
    const at = part.indexOf("=");
    if (at > 0) values.set(unescape(part.slice(0, at)), unescape(part.slice(at + 1)));
    else if (part) found = unescape(part);
  }
  return { place: found, values };
}

/** The address of this state, at `where`. */
export function addressOf(where: string): string {
  const parts = where ? [where] : [];
  for (const [key, one] of kept) {
    const value = one.read();
    if (value !== null) parts.push(`${escape(key)}=${escape(value).replaceAll("%2C", ",")}`);
  }
  return `#${parts.join("&")}`;
}

/** Something was chosen. Typing replaces the address, all else can be undone by "back". */
export function moved(typing = false): void {
  const address = addressOf(place);
  if (address === (location.hash || "#")) return;
  try {
    if (typing) history.replaceState(null, "", address);
    else history.pushState(null, "", address);
  } catch {
    /* a page in a frame without an address of its own: the choice is made all the same */
  }
}

/** Brings an element into view, and keeps it there while figures above it get their height, until the reader moves. */
function land(id: string): void {
  const target = id ? document.getElementById(id) : null;
  if (!target) return;
  const show = (): void => target.scrollIntoView({ block: "start", behavior: "instant" });
  show();
  const release = whenDrawn(show);
  for (const kind of ["wheel", "touchstart", "keydown", "pointerdown"])
    addEventListener(kind, release, { once: true, passive: true });
}

/** Takes the state from the address. */
function open(): void {
  const { place: wanted, values } = parse(location.hash),
    before = place;
  place = document.getElementById(wanted) ? wanted : "";
  for (const [key, one] of kept) {
    const value = values.get(key) ?? null;
    if (value !== one.read()) one.apply(value);
  }
  // Undoing a choice leaves the reader where they are.
  if (place !== before) land(place);
}

/** After everything has been laid out. Links within the page keep the state. */
export function follow(): void {
  history.scrollRestoration = location.hash.length > 1 ? "manual" : "auto";
  open();
  addEventListener("popstate", open);
  document.addEventListener("click", (event) => {
    const link = (event.target as Element).closest?.("a[href^='#']");
    if (!link || event.defaultPrevented || event.button !== 0 || event.ctrlKey || event.metaKey || event.shiftKey)
      return;
    const id = link.getAttribute("href")!.slice(1),
      target = document.getElementById(id);
    if (!target) return;
    event.preventDefault();
    place = id;
    moved();
    land(id);
    // The keyboard continues from there.
    if (!target.matches("a, button, input, select, [tabindex]")) target.tabIndex = -1;
    target.focus({ preventScroll: true });
  });
}

/** A link to a place, beside its title. */
export function anchor(id: string, title: string): HTMLAnchorElement {
  const link = document.createElement("a");
  link.className = "anchor";
  link.href = `#${id}`;
  link.textContent = "#";
  link.setAttribute("aria-label", `Link to ${title}`);
  return link;
}

/** A choice that is part of the address, by the value of its option or, where values are mere numbers, by its text. */
export function menu(
  key: string,
  label: string,
  options: [string, string][],
  value: string,
  change: (value: string) => void,
  byText = false,
): HTMLLabelElement {
  const element = choice(label, options, value, (chosen) => {
    change(chosen);
    moved();
  });
  const select = element.querySelector("select")!;
  select.dataset.menu = key;
  const word = ([key, text]: [string, string]): string => (byText ? text : key);
  keep(key, {
    read: () => {
      const option = options.find(([one]) => one === select.value);
      return option === undefined || option[0] === value ? null : word(option);
    },
    apply: (wanted) => {
      const option =
        wanted === null ? options.find(([one]) => one === value) : options.find((one) => word(one) === wanted);
      if (!option || option[0] === select.value) return;
      select.value = option[0];
      change(option[0]);
    },
  });
  return element;
}
