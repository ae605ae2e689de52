// All series to choose from: a column for each formulation, with a search.
import { foreign, h } from "../common/dom";
import { plural } from "../common/format";
import { look } from "../common/palette";
import { moved } from "./address";
import type { Model } from "./model";
import { DEFAULT_SHOWN } from "./model";
import { swatch } from "./swatch";

export function openDrawer(model: Model): void {
  const boxes = new Map<number, HTMLInputElement>();
  const columns = new Map<string, HTMLElement[]>();
  for (const series of model.ranking()) {
    const one = model.series[series],
      { formulation } = model.data.methods[one.method];
    const tick = h("input", {
      type: "checkbox",
      onchange: () => {
        model.show(series, tick.checked);
        moved();
      },
    });
    boxes.set(series, tick);
    const row = h("label", { "data-words": one.label.toLowerCase() }, tick, swatch(look(series)), foreign(one.label));
    const column = columns.get(formulation);
    if (column) column.push(row);
    else columns.set(formulation, [row]);
  }
  const status = h("p", { class: "read", role: "status" });
  function update(): void {
    for (const [series, tick] of boxes) tick.checked = model.shown.has(series);
    status.textContent = `${model.shown.size} of ${plural(model.series.length, "method")} shown in the figures.`;
  }
  const only = (wanted: Iterable<number>): void => {
    model.showOnly(wanted);
    moved();
    update();
  };
  const search = h("input", {
    type: "search",
    placeholder: "nsgs, omega \u2026",
    "aria-label": "Search methods",
    oninput: () => {
      const words = search.value.toLowerCase().split(/\s+/);
      for (const rows of columns.values())
        for (const row of rows) row.hidden = !words.every((word) => row.dataset.words!.includes(word));
    },
  });
  const tool = (text: string, wanted: () => Iterable<number>): HTMLElement =>
    h("button", { type: "button", onclick: () => only(wanted()) }, text);
  const panel = h(
    "dialog",
    { class: "details drawer", "aria-labelledby": "drawer-title", onclose: () => panel.remove() },
    h(
      "header",
      null,
      h("h2", { id: "drawer-title" }, "Methods in the figures"),
      h("button", { type: "button", class: "close", onclick: () => panel.close() }, "Close"),
    ),
    h(
      "div",
      { class: "controls" },
      search,
      tool(`Best ${Math.min(DEFAULT_SHOWN, model.series.length)}`, () =>
        [...model.series.keys()].slice(0, DEFAULT_SHOWN),
      ),
      tool("What the table shows", () => model.tabled),
      tool("All", () => model.series.keys()),
      tool("None", () => []),
    ),
    status,
    h(
      "div",
      { class: "drawer-columns" },
      [...columns]
        .sort(([a], [b]) => (a < b ? -1 : 1))
        .map(([formulation, rows]) => h("fieldset", null, h("legend", null, foreign(formulation || "other")), rows)),
    ),
  );
  panel.addEventListener("click", (event) => {
    if (event.target === panel) panel.close();
  });
  panel.addEventListener("change", update);
  update();
  document.body.append(panel);
  panel.showModal();
}
