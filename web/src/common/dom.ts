// Elements from values. Text is always text: nothing here, or in the pages, parses HTML.

export type Child = Node | string | number | null | undefined | false | Child[];
type Handler = (event: never) => void;
type Value = string | number | boolean | null | undefined | Handler;

/** h("button", { type: "button", onclick: f, "aria-pressed": true }, "text"). Properties that begin with "on" are listeners;
 * true and false become "true" and "false" for aria-*, and the presence of the attribute otherwise. */
export function h<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  values?: Record<string, Value> | null,
  ...children: Child[]
): HTMLElementTagNameMap[K] {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(values ?? {})) {
    if (value === null || value === undefined) continue;
    if (typeof value === "function") element.addEventListener(name.slice(2), value as EventListener);
    else if (name === "class") element.className = String(value);
    else if (typeof value === "boolean" && !name.startsWith("aria-")) element.toggleAttribute(name, value);
    else element.setAttribute(name, String(value));
  }
  append(element, children);
  return element;
}

export function append(parent: Node, children: Child[]): void {
  for (const child of children) {
    if (Array.isArray(child)) append(parent, child);
    else if (child instanceof Node) parent.appendChild(child);
    else if (child !== null && child !== undefined && child !== false)
      parent.appendChild(document.createTextNode(String(child)));
  }
}

/** Text from a file: isolated, so that its direction and length do not disturb what stands beside it. */
export function foreign(text: string, tag: "bdi" | "code" = "bdi"): HTMLElement {
  return h(tag, { class: "foreign", dir: "auto" }, text);
}

/** A select with a label. Options are [value, text]. */
export function choice(
  label: string,
  options: [string, string][],
  value: string,
  change: (value: string) => void,
): HTMLLabelElement {
  const select = h("select", { onchange: () => change(select.value) });
  for (const [key, text] of options) select.append(h("option", { value: key }, text));
  select.value = value;
  return h("label", { class: "choice" }, h("span", null, label), select);
}

export function svg(tag: string, values?: Record<string, string | number>, ...children: (Node | string)[]): SVGElement {
  const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(values ?? {})) element.setAttribute(name, String(value));
  element.append(...children);
  return element;
}
