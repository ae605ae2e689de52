// Figures and tables as files for other documents: drawings with title, legend and source at the width of a column, always in light
// colours; tables for LaTeX and Markdown.
import { svg } from "../common/dom";
import { save, standalone } from "../common/download";
import type { Cell } from "../common/download";
import { number } from "../common/format";
import type { Look } from "../common/palette";
import { BOX, SWATCH, box, swatch } from "./swatch";

export interface KeyItem {
  label: string;
  colour: string;
  look?: Look;
  overlay?: () => SVGElement;
}

/** What stands around a drawing on paper. */
export interface Words {
  title: string;
  subtitle: string; // what it is about: tolerance, number of problems
  key: KeyItem[];
  source: string[]; // lines below: where the figure comes from
  description: string; // how to read it, for screen readers
}

/** Widths of columns, and the width at which the page draws for them: letters of 12 px are then 7.6 points on paper. */
export const WIDTHS: Record<string, { name: string; millimetres: number; pixels: number }> = {
  column: { name: "85 mm", millimetres: 85, pixels: 380 },
  page: { name: "175 mm", millimetres: 175, pixels: 782 },
};
const DOTS_PER_INCH = 300;

const FONT = "Helvetica, Arial, 'Liberation Sans', sans-serif";
let measuring: CanvasRenderingContext2D | null = null;

function textWidth(text: string, size: number, bold = false): number {
  measuring ??= document.createElement("canvas").getContext("2d")!;
  measuring.font = `${bold ? "bold " : ""}${size}px ${FONT}`;
  return measuring.measureText(text).width;
}

/** Lines of at most `room` pixels; a word that is longer stands alone. */
function wrap(text: string, size: number, room: number, bold = false): string[] {
  const lines: string[] = [];
  let line = "";
  for (const word of text.split(/\s+/).filter(Boolean)) {
    const longer = line ? `${line} ${word}` : word;
    if (line && textWidth(longer, size, bold) > room) {
      lines.push(line);
      line = word;
    } else line = longer;
  }
  return line ? [...lines, line] : lines;
}

/** The drawing, which is used up, with words around it: an SVG file. */
export function onPaper(drawing: SVGSVGElement, words: Words, millimetres: number): string {
  const width = Number(drawing.getAttribute("width")),
    inner = Number(drawing.getAttribute("height")),
    edge = 4,
    room = width - 2 * edge;
  const whole = svg("svg", { width, class: "paper", "font-size": 12, fill: "currentColor" }) as SVGSVGElement;
  whole.append(svg("title", {}, words.title), svg("desc", {}, words.description));
  let y = edge;
  const write = (lines: string[], size: number, colour: string, bold = false): void => {
    for (const line of lines) {
      y += Math.round(1.3 * size);
      whole.append(
        svg(
          "text",
          { x: edge, y: y - 3, "font-size": size, fill: colour, ...(bold ? { "font-weight": "bold" } : {}) },
          line,
        ),
      );
    }
  };
  write(wrap(words.title, 13, room, true), 13, "var(--ink)", true);
  write(wrap(words.subtitle, 10.5, room), 10.5, "var(--ink-soft)");

  // The legend, in as many lines as it needs.
  let x = edge;
  if (words.key.length > 0) y += 4;
  words.key.forEach((item, i) => {
    const sign = item.look ? swatch(item.look) : box(item.colour, item.overlay),
      signWidth = item.look ? SWATCH.width : BOX,
      itemWidth = signWidth + 5 + textWidth(item.label, 11) + 14;
    if (i === 0 || x + itemWidth - 14 > width - edge) {
      x = edge;
      y += 16;
    }
    sign.setAttribute("x", String(x));
    sign.setAttribute("y", String(y - 4 - (item.look ? SWATCH.height : BOX) / 2));
    whole.append(sign, svg("text", { x: x + signWidth + 5, y, "font-size": 11, fill: "var(--ink)" }, item.label));
    x += itemWidth;
  });
  y += 8;

  for (const tip of drawing.querySelectorAll("[aria-label=tip], [data-mark=tip], .crosshair")) tip.remove();
  drawing.setAttribute("y", String(y));
  drawing.removeAttribute("role");
  whole.append(drawing);
  y += inner + 4;
  write(
    words.source.flatMap((line) => wrap(line, 9, room)),
    9,
    "var(--ink-faint)",
  );
  y += edge;

  const height = Math.ceil(y);
  whole.setAttribute("height", String(height));
  whole.setAttribute("viewBox", `0 0 ${width} ${height}`);
  const file = inLight(() => standalone(whole, FONT, "#ffffff"));
  // The size on paper; what is inside keeps its pixels by the view box.
  return file.replace(
    /^((?:<\?xml[^>]*>\s*)?<svg\b[^>]*?) width="[^"]*"([^>]*?) height="[^"]*"/,
    (_all, before: string, between: string) =>
      `${before} width="${millimetres}mm"${between} height="${((height / width) * millimetres).toFixed(2)}mm"`,
  );
}

/** Paper is light, whatever the screen is. Nothing is painted in between. */
function inLight<T>(work: () => T): T {
  const { dataset } = document.documentElement,
    theme = dataset.theme;
  dataset.theme = "light";
  try {
    return work();
  } finally {
    dataset.theme = theme;
  }
}

/** An SVG file as a picture of 300 dots per inch. */
export async function savePng(name: string, text: string, millimetres: number): Promise<void> {
  const address = URL.createObjectURL(new Blob([text], { type: "image/svg+xml" }));
  try {
    const image = new Image();
    image.src = address;
    await image.decode();
    const canvas = document.createElement("canvas");
    canvas.width = Math.round((millimetres / 25.4) * DOTS_PER_INCH);
    canvas.height = Math.round((canvas.width * image.naturalHeight) / image.naturalWidth);
    canvas.getContext("2d")!.drawImage(image, 0, 0, canvas.width, canvas.height);
    const picture = await new Promise<Blob | null>((done) => canvas.toBlob(done, "image/png"));
    if (picture) save(name, "image/png", picture);
  } finally {
    URL.revokeObjectURL(address);
  }
}

/** A table as it is read: numbers with four digits. */
export interface TextTable {
  title: string;
  columns: string[];
  groups?: string[]; // of columns; neighbours of the same name share it
  rows: string[][];
  numeric: boolean[];
}
export function asText(title: string, columns: string[], rows: Cell[][]): TextTable {
  return {
    title,
    columns,
    rows: rows.map((row) => row.map((cell) => (typeof cell === "string" ? cell : number(cell, 4)))),
    numeric: columns.map((_, i) => rows.some((row) => typeof row[i] === "number")),
  };
}

const LATEX: Record<string, string> = {
  "\\": "\\textbackslash{}",
  "{": "\\{",
  "}": "\\}",
  $: "\\$",
  "&": "\\&",
  "#": "\\#",
  _: "\\_",
  "%": "\\%",
  "^": "\\textasciicircum{}",
  "~": "\\textasciitilde{}",
  "<": "$<$",
  ">": "$>$",
  "|": "$|$",
  "\u2212": "$-$",
  "\u00b5": "\\textmu{}",
  "\u202f": "\\,",
  "\u00a0": "~",
  "\u2013": "--",
  "\u2026": "\\dots{}",
  "\u00d7": "$\\times$",
  "\u00b1": "$\\pm$",
  "\u00b2": "$^2$",
};

/** A number as 1.2e-7 gets a power of ten; everything else is escaped. */
function latexText(text: string): string {
  const tidy = text.replace(/\s*[\r\n]+\s*/g, " ").trim();
  const power = /^(\u2212?[\d.]+)e(\u2212?)(\d+)(.*)$/.exec(tidy);
  if (power)
    return `$${power[1].replace("\u2212", "-")}\\times10^{${power[2] ? "-" : ""}${power[3]}}$${latexText(power[4])}`;
  return [...tidy].map((letter) => LATEX[letter] ?? letter).join("");
}

/** Names of groups above their columns, each with a rule. */
function groupLines(groups: string[]): string[] {
  const cells: string[] = [],
    rules: string[] = [];
  for (let i = 0; i < groups.length;) {
    let end = i + 1;
    while (end < groups.length && groups[end] === groups[i]) end++;
    cells.push(groups[i] ? `\\multicolumn{${end - i}}{c}{${latexText(groups[i])}}` : " & ".repeat(end - i - 1));
    if (groups[i]) rules.push(`\\cmidrule(lr){${i + 1}-${end}}`);
    i = end;
  }
  return [`  ${cells.join(" & ")} \\\\`, `  ${rules.join(" ")}`];
}

/** For \input inside a table of a document that uses booktabs. */
export function latex({ title, columns, groups, rows, numeric }: TextTable): string {
  const line = (cells: string[]): string => `  ${cells.map(latexText).join(" & ")} \\\\`;
  return [
    `% ${title.replace(/[\r\n]+/g, " ")}`,
    "% needs \\usepackage{booktabs}",
    `\\begin{tabular}{@{}${numeric.map((one) => (one ? "r" : "l")).join("")}@{}}`,
    "  \\toprule",
    ...(groups?.some(Boolean) ? groupLines(groups) : []),
    line(columns),
    "  \\midrule",
    ...rows.map(line),
    "  \\bottomrule",
    "\\end{tabular}",
    "",
  ].join("\n");
}

export function markdown({ columns, rows, numeric }: TextTable): string {
  const cell = (text: string): string =>
    text
      .replace(/\s*[\r\n]+\s*/g, " ")
      .trim()
      .replace(/[\\|`*_<>[\]]/g, "\\$&");
  const line = (cells: string[]): string => `| ${cells.map(cell).join(" | ")} |`;
  return [line(columns), `| ${numeric.map((one) => (one ? "---:" : "---")).join(" | ")} |`, ...rows.map(line), ""].join(
    "\n",
  );
}
