// A series or an item of a legend, as it looks in the drawing.
import { svg } from "../common/dom";
import type { Look } from "../common/palette";

const MARKER_PATHS: Record<Look["marker"], string> = {
  circle: "M-3.4,0a3.4,3.4 0 1,0 6.8,0a3.4,3.4 0 1,0 -6.8,0Z",
  square: "M-3,-3h6v6h-6Z",
  triangle: "M0,-3.8L3.6,2.8H-3.6Z",
  diamond: "M0,-4.4L3,0L0,4.4L-3,0Z",
  cross: "M-4,-1.3h2.7v-2.7h2.6v2.7h2.7v2.6h-2.7v2.7h-2.6v-2.7h-2.7Z",
  star: "M0,-4.5L1.1,-1.4H4.3L1.8,0.5L2.7,3.6L0,1.8L-2.7,3.6L-1.8,0.5L-4.3,-1.4H-1.1Z",
  wye: "M-1.1,4.2V0.6L-4.2,-1.2L-3,-3.1L0,-1.3L3,-3.1L4.2,-1.2L1.1,0.6V4.2Z",
};

export const SWATCH = { width: 26, height: 12 }; // px
export const BOX = 14; // px

/** A piece of line with its marker. */
export function swatch({ colour, dash, marker }: Look): SVGElement {
  const { width, height } = SWATCH;
  return svg(
    "svg",
    { width, height, viewBox: `0 0 ${width} ${height}`, "aria-hidden": "true", focusable: "false" },
    svg("line", { x1: 1, x2: 25, y1: 6, y2: 6, stroke: colour, "stroke-width": 2, "stroke-dasharray": dash || "none" }),
    svg("path", { d: MARKER_PATHS[marker], fill: colour, stroke: colour, transform: "translate(13,6)" }),
  );
}

/** A field of a colour, with an overlay such as hatching. */
export function box(colour: string, overlay?: () => SVGElement): SVGElement {
  return svg(
    "svg",
    { width: BOX, height: BOX, viewBox: `0 0 ${BOX} ${BOX}`, "aria-hidden": "true", focusable: "false" },
    svg("rect", { x: 0.5, y: 0.5, width: BOX - 1, height: BOX - 1, rx: 2, fill: colour, stroke: "var(--line-strong)" }),
    ...(overlay ? [overlay()] : []),
  );
}
