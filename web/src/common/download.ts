// Files that a page hands to its reader.

export function save(name: string, type: string, content: BlobPart): void {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([content], { type }));
  link.download = fileName(name);
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(link.href), 10000);
}

/** Letters, digits, dot, dash: safe on every system. */
export function fileName(text: string): string {
  return (
    text
      .normalize("NFKD")
      .replace(/[^A-Za-z0-9.]+/g, "-")
      .replace(/^[-.]+|-+$/g, "")
      .slice(0, 120) || "stickslip"
  );
}

export type Cell = string | number | null;

/** RFC 4180. Numbers keep all their digits; null is an empty field. Text that a spreadsheet would take for a formula gets an
 * apostrophe in front. */
export function csv(columns: string[], rows: Cell[][]): string {
  const field = (cell: Cell): string => {
    if (cell === null || (typeof cell === "number" && !Number.isFinite(cell))) return "";
    if (typeof cell === "number") return String(cell);
    const text = /^[=+@\t\r-]/.test(cell) ? `'${cell}` : cell;
    return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
  };
  return [columns, ...rows].map((row) => row.map(field).join(",")).join("\r\n") + "\r\n";
}

const SVG_SPACE = "http://www.w3.org/2000/svg";

/** A drawing of the page as a file of its own: colours of the theme written out, its background behind it. */
export function standalone(drawing: SVGSVGElement, font = "system-ui, sans-serif", paper?: string): string {
  const copy = drawing.cloneNode(true) as SVGSVGElement;
  const style = getComputedStyle(document.documentElement);
  const colour = (text: string): string =>
    text.replace(/var\((--[\w-]+)(?:,[^)]*)?\)/g, (_all, name: string) =>
      name === "--sans" ? font : style.getPropertyValue(name).trim() || "none",
    );
  for (const element of [copy, ...copy.querySelectorAll("*")]) {
    for (const { name, value } of [...element.attributes])
      if (value.includes("var(")) element.setAttribute(name, colour(value));
    if (element.tagName === "style") element.textContent = colour(element.textContent ?? "");
  }
  const background = document.createElementNS(SVG_SPACE, "rect");
  for (const [name, value] of [
    ["width", "100%"],
    ["height", "100%"],
    ["fill", paper ?? style.getPropertyValue("--paper").trim()],
  ])
    background.setAttribute(name, value);
  copy.insertBefore(background, copy.firstChild);
  copy.setAttribute("xmlns", SVG_SPACE);
  copy.setAttribute("color", style.getPropertyValue("--ink").trim());
  copy.setAttribute("style", `font-family: ${font}`);
  return `<?xml version="1.0" encoding="UTF-8"?>\n${new XMLSerializer().serializeToString(copy)}\n`;
}
