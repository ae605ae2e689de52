// The panel behind a number: its runs, and for each the command that repeats it.
import type { Child } from "../common/dom";
import { foreign, h } from "../common/dom";
import { NONE, count, measure, plural, seconds } from "../common/format";
import { keep, moved } from "./address";
import { command, replayLink, watch } from "./command";
import type { Model } from "./model";

export interface RunsRequest {
  title: string;
  about?: string; // one sentence: what the number is
  runs: number[];
  /** The number itself, for each run. Without it: the energy error. */
  value?: { name: string; unit: string; of: (run: number) => number | null; worst?: (run: number) => number | null };
}

const PAGE = 50;
const LONGEST = 2000; // characters of a list in the address
let dialog: HTMLDialogElement | null = null;
let opened: string | null = null; // in the address: "energy:0-17,33", or the run alone

/** Numbers as ranges: 0-17,33. */
function ranges(numbers: number[]): string {
  const sorted = [...numbers].sort((a, b) => a - b),
    parts: string[] = [];
  for (let i = 0; i < sorted.length;) {
    let end = i;
    while (end + 1 < sorted.length && sorted[end + 1] === sorted[end] + 1) end++;
    parts.push(end > i ? `${sorted[i]}-${sorted[end]}` : String(sorted[i]));
    i = end + 1;
  }
  return parts.join(",");
}
function unranges(text: string, most: number): number[] {
  return text.split(",").flatMap((part) => {
    const [, from, to] = /^(\d+)(?:-(\d+))?$/.exec(part) ?? [];
    if (from === undefined) return [];
    const first = Number(from),
      last = Math.min(Number(to ?? from), most - 1);
    return first < most ? Array.from({ length: Math.max(0, last - first + 1) }, (_, i) => first + i) : [];
  });
}

/** Runs that are open are part of the address. */
export function keepRuns(model: Model): void {
  const { runs, methods, problems, metrics, measure: main } = model.data;
  keep("run", {
    read: () => opened,
    apply: (value) => {
      const before = dialog;
      dialog = opened = null;
      before?.close();
      if (value === null) return;
      const [, by, text] = /^(?:(.*):)?([\d,-]+)$/.exec(value) ?? [null, "", ""];
      const wanted = unranges(text, runs.problem.length);
      if (wanted.length === 0) return;
      const same = (column: number[]): boolean => wanted.every((run) => column[run] === column[wanted[0]]);
      const problem = problems[runs.problem[wanted[0]]];
      showRuns(
        model,
        {
          title: same(runs.method)
            ? methods[runs.method[wanted[0]]].label
            : same(runs.problem)
              ? `${problem.scene} ${problem.place}`
              : "Runs",
          runs: wanted,
          value:
            by === "cost"
              ? costValue(model)
              : by === "iterations"
                ? { name: "iterations", unit: "", of: (run) => runs.iterations[run] }
                : metricValue(model, metrics.some(({ name }) => name === by) ? by : main),
        },
        false,
      );
    },
  });
}

export function metricValue(model: Model, name: string): NonNullable<RunsRequest["value"]> {
  return { name, unit: model.unit(name), of: (run) => model.metric(name, run), worst: (run) => model.worst(name, run) };
}

export function costValue(model: Model): NonNullable<RunsRequest["value"]> {
  return { name: "cost", unit: "s", of: (run) => model.cost(run) };
}

/** A number that opens the runs behind it. */
export function runsButton(model: Model, content: Child, request: () => RunsRequest, label?: string): HTMLElement {
  const spoken = label === undefined ? {} : { "aria-label": label };
  return h(
    "button",
    { type: "button", class: "number", ...spoken, onclick: () => showRuns(model, request()) },
    content,
  );
}

/** told: the address changes with it. */
export function showRuns(model: Model, request: RunsRequest, told = true): void {
  const value = request.value ?? metricValue(model, "energy");
  // Worst first; runs without a value, which failed, before all.
  const runs = [...request.runs].sort((a, b) => (value.of(b) ?? Infinity) - (value.of(a) ?? Infinity) || a - b);
  const list = h("ol", { class: "runs" });
  const more = h("button", { type: "button", onclick: () => fill() });
  function fill(): void {
    const first = list.children.length;
    list.append(...runs.slice(first, first + PAGE).map((run) => item(model, run, value)));
    more.hidden = list.children.length >= runs.length;
    more.textContent = `${Math.min(PAGE, runs.length - list.children.length)} more of ${runs.length}`;
    if (first > 0) (list.children[first].querySelector("button") as HTMLElement).focus();
  }
  fill();

  const close = h("button", { type: "button", class: "close", onclick: () => panel.close() }, "Close");
  const panel = h(
    "dialog",
    {
      class: "details",
      "aria-labelledby": "details-title",
      onclose: () => {
        panel.remove();
        if (dialog !== panel) return;
        dialog = null;
        opened = null;
        moved();
      },
    },
    h("header", null, h("h2", { id: "details-title" }, foreign(request.title)), close),
    request.about ? h("p", { class: "read" }, request.about) : null,
    h(
      "p",
      { class: "read" },
      `${plural(runs.length, "run")}${runs.length > 1 ? `, worst first by ${value.name.replaceAll("_", " ")}` : ""}. Contacts are counted from 0.`,
    ),
    list,
    more,
  );
  panel.addEventListener("click", (event) => {
    if (event.target === panel) panel.close();
  });
  dialog?.remove();
  dialog = panel;
  document.body.append(panel);
  panel.showModal();
  const numbers = ranges(runs),
    by = value.name === model.data.measure ? "" : `${value.name}:`;
  opened = numbers.length <= LONGEST ? by + numbers : null;
  if (told) moved();
}

function item(model: Model, run: number, value: NonNullable<RunsRequest["value"]>): HTMLLIElement {
  const { runs, problems, methods, series } = model.data;
  const problem = problems[runs.problem[run]];
  const verdict = model.verdicts[model.verdict(run)];
  const outcome = model.data.outcomes[runs.outcome[run]];
  const worst = value.worst?.(run) ?? null;
  const line = command(problem, methods[runs.method[run]]);
  const watching = watch(problem, methods[runs.method[run]]),
    page = model.data.replays?.[problem.file],
    link = page ? replayLink(page, problem, methods[runs.method[run]], worst) : null;
  const fact = (name: string, text: string): HTMLElement => h("div", null, h("dt", null, name), h("dd", null, text));
  return h(
    "li",
    { "data-run": run },
    h(
      "p",
      { class: "run-name" },
      h("strong", null, foreign(problem.scene)),
      " ",
      foreign(problem.place),
      h(
        "span",
        { class: "aside" },
        " in ",
        foreign(problem.file),
        " by ",
        foreign((series[runs.series[run]] ?? methods[runs.method[run]]).label),
      ),
    ),
    h(
      "dl",
      { class: "facts" },
      h(
        "div",
        null,
        h("dt", null, "outcome"),
        h("dd", null, badge(verdict.colour, verdict.name), outcome !== verdict.name ? ` (${outcome})` : ""),
      ),
      fact(value.name.replaceAll("_", " "), measure(value.of(run), value.unit)),
      fact("worst contact", worst === null ? NONE : String(worst)),
      fact("iterations", count(runs.iterations[run])),
      fact("time", seconds(runs.best[run] ?? runs.seconds[run])),
      fact("contacts", count(problem.contacts)),
    ),
    runs.message[run] ? h("p", { class: "message" }, foreign(runs.message[run]!)) : null,
    methods[runs.method[run]].plugin
      ? h(
          "p",
          { class: "message" },
          "From the plug-in ",
          foreign(methods[runs.method[run]].pluginFile),
          ", with digest ",
          foreign(methods[runs.method[run]].plugin),
        )
      : null,
    commandLine("Repeat it:", line),
    watching || link
      ? commandLine(
          "Watch it:",
          watching,
          link ? h("a", { class: "replay", href: link }, "Open the replay here") : null,
        )
      : null,
  );
}

/** A command with a button that copies it. */
export function commandLine(label: string, line: string | null, before: Child = null): HTMLElement {
  const copy = line
    ? h(
        "button",
        {
          type: "button",
          class: "quiet copy",
          "aria-label": `Copy the command: ${label}`,
          onclick: () => void copyText(line, copy!),
        },
        "Copy",
      )
    : null;
  return h(
    "div",
    { class: "command", "data-command": label.split(" ")[0].toLowerCase() || null },
    label ? h("span", { class: "command-label" }, label) : null,
    before,
    line ? h("code", { tabindex: "0" }, line) : null,
    copy,
  );
}

export function badge(colour: string, text: string): HTMLElement {
  const dot = h("span", { class: "dot", "aria-hidden": true });
  dot.style.background = colour;
  return h("span", { class: "badge" }, dot, text);
}

async function copyText(text: string, button: HTMLButtonElement): Promise<void> {
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    // No clipboard for pages that were opened as files: the old way, from a field of our own.
    const field = h("textarea", { class: "visually-hidden", "aria-hidden": true });
    field.value = text;
    button.after(field);
    field.select();
    document.execCommand("copy");
    field.remove();
    button.focus();
  }
  button.textContent = "Copied";
  setTimeout(() => (button.textContent = "Copy"), 1500);
}
