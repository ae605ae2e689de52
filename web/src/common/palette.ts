// How series look: eight colours that the common kinds of colour blindness keep apart, five dashes, seven markers. Series i
// gets number i of each, so no two of the first 280 look the same. The colours themselves are in common.css.

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

/** The value of a colour of common.css in the theme of now. */
export function resolve(colour: string): string {
  const name = /^var\((--[\w-]+)\)$/.exec(colour)?.[1];
  return name ? getComputedStyle(document.documentElement).getPropertyValue(name).trim() : colour;
}
