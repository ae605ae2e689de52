// The language of colours, the same on all pages: what has a colour, under which name, with which sign. The colours themselves
// are in common.css, for light and for dark.

/** How a series looks: eight colours that the common kinds of colour blindness keep apart, five dashes, seven markers. Series i
 * gets number i of each, so no two of the first 280 look the same. */
export interface Look {
  colour: string;
  dash: string;
  marker: Marker;
}
export type Marker = "circle" | "square" | "triangle" | "diamond" | "cross" | "star" | "wye";

const DASHES = ["", "7 3", "2 2.5", "9 3 2 3", "4 2"];
const MARKERS: Marker[] = ["circle", "square", "triangle", "diamond", "cross", "star", "wye"];

export function look(index: number): Look {
  return {
    colour: `var(--s${index % 8})`,
    dash: DASHES[index % DASHES.length],
    marker: MARKERS[index % MARKERS.length],
  };
}

/** States of contacts. Quiet: nothing to see; strong: friction drives the motion, which Coulomb's law forbids. The sign stands
 * for the colour where there is none. */
export interface State {
  name: string;
  sign: string;
  colour: string;
  summary: string;
}
export const STATES: Record<"open" | "stick" | "slip" | "bad", State> = {
  open: { name: "open", sign: "\u25cb", colour: "var(--c-open)", summary: "no normal impulse" },
  stick: { name: "sticking", sign: "\u25cf", colour: "var(--c-stick)", summary: "friction holds the contact" },
  slip: {
    name: "sliding",
    sign: "\u25c6",
    colour: "var(--c-slip)",
    summary: "friction is at its limit and opposes the motion",
  },
  bad: {
    name: "driving friction",
    sign: "\u25b2",
    colour: "var(--c-bad)",
    summary: "friction drives the motion, which Coulomb\u2019s law forbids",
  },
};

/** Numbers as colours: from quiet (nothing, good) to strong (worst), eight of them. */
export const HEAT = Array.from({ length: 8 }, (_, i) => `var(--h${i})`);

/** The value of a colour of common.css in the theme of now: "#rrggbb". */
export function resolve(colour: string): string {
  const name = /^var\((--[\w-]+)\)$/.exec(colour)?.[1];
  return name ? getComputedStyle(document.documentElement).getPropertyValue(name).trim() : colour;
}

/** The same as a number: 0xrrggbb. */
export const hexOf = (colour: string): number => Number.parseInt(resolve(colour).slice(1), 16);
