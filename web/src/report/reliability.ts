// What was solved, what was not, and how it failed: as visible as success.
import * as Plot from "@observablehq/plot";
import { choice, foreign, h, svg } from "../common/dom";
import { count, percent, plural, power } from "../common/format";
import { look } from "../common/palette";
import { plot, tip } from "./axes";
import { badge, metricValue, runsButton, showRuns } from "./details";
import type { Figure, Table } from "./figure";
import { figure } from "./figure";
import type { Model } from "./model";
import { LABEL_ROOM, SOLVED, short } from "./model";
import { schedule } from "./schedule";

export function successRates(model: Model): Figure {
  return figure(model, {
    id: "success-rates",
    title: "Success rates",
    read: "The mark is the fraction solved of the problems that the solver accepts, the bar its 95 % confidence interval (Wilson): if bars overlap, a difference is not proven.",
    legend: "series",
    draw(width) {
      const shown = model.ranking().filter((series) => model.shown.has(series));
      const rows = shown.map((series, place) => ({ series, place, score: model.score(series) }));
      const table: Table = {
        columns: ["series", "solved", "not solved", "not applicable", "missing", "rate", "low", "high"],
        rows: rows.map(({ series, score }) => [
          model.series[series].label,
          score.solved,
          score.failed,
          score.refused,
          score.missing,
          score.rate,
          score.low,
          score.high,
        ]),
      };
      if (rows.length === 0) return { drawing: null, table };
      const points = rows.flatMap(({ series, place, score }) =>
        score.rate === null
          ? []
          : [
              {
                x: score.rate,
                y: place,
                series,
                tip: `${model.series[series].label}\n${score.solved} of ${score.solved + score.failed}: ${percent(score.rate, 1)}\nbetween ${percent(score.low, 1)} and ${percent(score.high, 1)}`,
              },
            ],
      );
      return {
        drawing: plot({
          width,
          height: 56 + 24 * rows.length,
          marginLeft: LABEL_ROOM,
          marginTop: 10,
          x: {
            domain: [0, 1],
            tickFormat: (v: number) => `${Math.round(100 * v)} %`,
            grid: true,
            label: `fraction of problems solved to ${power(model.toleranceValue)}`,
            labelArrow: "none",
          },
          y: {
            type: "band",
            domain: rows.map((row) => row.place),
            tickFormat: (place: number) => short(model.series[shown[place]].label),
            label: null,
            tickSize: 0,
          },
          marks: [
            ...rows
              .filter(({ score }) => score.rate !== null)
              .flatMap(({ series, place, score }) => {
                const { colour, marker } = look(series);
                return [
                  Plot.ruleY([place], {
                    y: place,
                    x1: score.low,
                    x2: score.high,
                    stroke: colour,
                    strokeWidth: 5,
                    strokeOpacity: 0.3,
                    strokeLinecap: "round",
                  } as Plot.RuleYOptions),
                  Plot.dot([place], {
                    x: score.rate as number,
                    y: place,
                    symbol: marker,
                    r: 4.5,
                    fill: colour,
                  } as unknown as Plot.DotOptions),
                ];
              }),
            tip(points),
          ],
        }),
        table,
      };
    },
  });
}

/** Every run as one cell: problems across, series down. */
export function outcomeMatrix(model: Model): Figure {
  const present = new Set<number>([SOLVED]);
  for (const run of model.live)
    for (let t = 0; t < model.data.tolerances.length; t++) present.add(model.verdict(run, t));
  if (model.runCount < model.series.length * model.data.problems.length) present.add(model.noRun);
  const kinds = [...present].sort((a, b) => a - b);
  const floating = h("div", { class: "tip", "aria-hidden": true, hidden: true });
  document.body.append(floating);
  return figure(model, {
    id: "outcomes",
    title: "Outcome of every run",
    read: "One cell is one run, problems from left to right and solvers from top to bottom, best first; the stronger its colour, the worse. Click on a cell to open its run.",
    legend: kinds.map((kind) => ({
      key: model.verdicts[kind].name,
      label: model.verdicts[kind].name,
      colour: model.verdicts[kind].colour,
      title: model.verdicts[kind].summary,
    })),
    draw(width, hidden) {
      const rows = model.ranking(),
        { problems, runs } = model.data;
      const rowOf = new Map(rows.map((series, row) => [series, row]));
      const table: Table = { columns: ["series", "scene", "file", "place", "outcome", "message"], rows: [], runs: [] };
      if (rows.length === 0 || problems.length === 0) return { drawing: null, table };
      const top = 20,
        left = width < 600 ? 110 : LABEL_ROOM,
        cellHeight = rows.length > 30 ? 12 : 18;
      const cell = (width - left - 8) / problems.length,
        inset = cell > 6 ? 1 : 0;
      const height = top + rows.length * cellHeight + 8;
      const grid = new Int32Array(rows.length * problems.length).fill(-1);
      for (const run of model.live)
        grid[rowOf.get(runs.series[run])! * problems.length + runs.problem[run]] = run;
      const paths = new Map<number, string[]>();
      for (let row = 0; row < rows.length; row++)
        for (let column = 0; column < problems.length; column++) {
          const run = grid[row * problems.length + column],
            kind = run < 0 ? model.noRun : model.verdict(run);
          if (hidden.has(model.verdicts[kind].name)) continue;
          if (run >= 0) {
            const problem = problems[column];
            table.rows.push([
              model.series[rows[row]].label,
              problem.scene,
              problem.file,
              problem.place,
              model.verdicts[kind].name,
              runs.message[run],
            ]);
            table.runs!.push(run);
          }
          let pieces = paths.get(kind);
          if (!pieces) paths.set(kind, (pieces = []));
          pieces.push(
            `M${round(left + column * cell)},${top + row * cellHeight + 1}h${round(cell - inset)}v${cellHeight - 2}h${round(inset - cell)}z`,
          );
        }
      const drawing = svg("svg", {
        width,
        height,
        viewBox: `0 0 ${width} ${height}`,
        class: "matrix",
        "font-size": cellHeight > 14 ? 12 : 10,
      }) as SVGSVGElement;
      for (const [kind, pieces] of paths)
        drawing.append(
          svg("path", {
            d: pieces.join(""),
            fill: model.verdicts[kind].colour,
            "data-verdict": model.verdicts[kind].name,
          }),
        );
      rows.forEach((series, row) =>
        drawing.append(
          svg(
            "text",
            {
              x: left - 8,
              y: top + (row + 0.5) * cellHeight,
              dy: "0.35em",
              "text-anchor": "end",
              fill: "currentColor",
            },
            short(model.series[series].label, width < 600 ? 15 : cellHeight > 14 ? 24 : 30),
          ),
        ),
      );
      let scene = "",
        edge = -Infinity;
      problems.forEach((problem, column) => {
        if (problem.scene === scene) return;
        scene = problem.scene;
        const x = left + column * cell;
        if (column > 0)
          drawing.append(
            svg("line", { x1: x, x2: x, y1: top - 6, y2: height - 8, stroke: "var(--ink-faint)", "stroke-width": 0.6 }),
          );
        if (x - edge > 70 && !problem.fault) {
          drawing.append(
            svg("text", { x: x + 3, y: top - 7, fill: "var(--ink-soft)", "font-size": 11 }, short(scene, 11)),
          );
          edge = x;
        }
      });
      const runAt = (event: MouseEvent): number => {
        const box = drawing.getBoundingClientRect(),
          scale = width / box.width;
        const column = Math.floor(((event.clientX - box.left) * scale - left) / cell),
          row = Math.floor(((event.clientY - box.top) * scale - top) / cellHeight);
        return column < 0 || column >= problems.length || row < 0 || row >= rows.length
          ? -1
          : grid[row * problems.length + column];
      };
      drawing.addEventListener("pointermove", (event) => {
        const run = runAt(event);
        floating.hidden = run < 0;
        drawing.style.cursor = run < 0 ? "default" : "pointer";
        if (run < 0) return;
        const problem = problems[runs.problem[run]];
        floating.textContent = `${short(model.series[runs.series[run]].label, 60)}\n${short(problem.scene, 40)} ${problem.place}\n${model.verdicts[model.verdict(run)].name}${runs.message[run] ? `: ${short(runs.message[run]!, 80)}` : ""}`;
        floating.style.left = `${Math.min(event.clientX + 14, innerWidth - 330)}px`;
        floating.style.top = `${event.clientY + 16}px`;
      });
      drawing.addEventListener("pointerleave", () => (floating.hidden = true));
      drawing.addEventListener("click", (event) => {
        const run = runAt(event);
        floating.hidden = true;
        if (run >= 0)
          showRuns(model, {
            title: model.series[runs.series[run]].label,
            runs: [run],
            value: metricValue(model, model.data.measure),
          });
      });
      return { drawing, table };
    },
  });
}

const round = (value: number): number => Math.round(100 * value) / 100;

/** Files and frames that could not be solved by anybody, with what is wrong with them. */
function faultList(model: Model): HTMLElement | null {
  const faulty = model.data.problems.filter((problem) => problem.fault);
  if (faulty.length === 0) return null;
  return h(
    "div",
    { id: "faults" },
    h("h3", null, "Files and frames that cannot be used"),
    h(
      "p",
      { class: "read" },
      `${plural(faulty.length, "problem")} could not be given to any solver and are not counted above.`,
    ),
    h(
      "div",
      { class: "scroller failures", tabindex: "0", role: "region", "aria-label": "Faults" },
      h(
        "table",
        null,
        h("caption", { class: "visually-hidden" }, "Files and frames with faults"),
        h(
          "thead",
          null,
          h(
            "tr",
            null,
            ["file", "place", "fault"].map((name) => h("th", { scope: "col" }, name)),
          ),
        ),
        h(
          "tbody",
          null,
          faulty.map((problem) =>
            h(
              "tr",
              null,
              h("td", null, foreign(problem.file)),
              h("td", null, problem.place === "/" ? "the whole file" : foreign(problem.place)),
              h("td", null, foreign(problem.fault!)),
            ),
          ),
        ),
      ),
    ),
  );
}

/** Failures by kind and message, most frequent first; every line opens its runs. */
/** What goes together with failing, methods with the same line beside each other. */
export function whyList(model: Model): HTMLElement {
  const list = h("ul", { class: "slopes" });
  const block = h(
    "div",
    { class: "block", id: "why" },
    h("h3", null, "Where methods fail"),
    h(
      "p",
      { class: "read" },
      "One threshold of one feature, where it parts what a method solves from what it does not. That goes together; it need not be the cause.",
    ),
    list,
  );
  function fill(): void {
    const groups = new Map<string, number[]>();
    model.series.forEach((_, series) => {
      const { why } = model.score(series);
      if (why) groups.set(why, [...(groups.get(why) ?? []), series]);
    });
    list.replaceChildren(
      ...[...groups].map(([why, members]) =>
        h(
          "li",
          null,
          members.flatMap((series, i) => [i > 0 ? ", " : "", foreign(model.series[series].label)]),
          members.length > 1 ? `: each ${why}.` : ` ${why}.`,
        ),
      ),
    );
    block.hidden = groups.size === 0;
  }
  model.onChange(fill);
  fill();
  return block;
}

export function failureList(model: Model): HTMLElement {
  let kind = "";
  const body = h("tbody");
  const caption = h("p", { class: "read", role: "status" });
  const kinds = model.verdicts
    .map((verdict, index) => ({ verdict, index }))
    .filter(({ index }) => model.isFailure(index));
  const select = choice(
    "kind",
    [["", "all kinds"], ...kinds.map(({ verdict }): [string, string] => [verdict.name, verdict.name])],
    kind,
    (value) => {
      kind = value;
      fill();
    },
  );

  function fill(): void {
    const groups = new Map<string, { verdict: number; message: string; runs: number[] }>();
    let failures = 0;
    for (const run of model.live) {
      const verdict = model.verdict(run);
      if (!model.isFailure(verdict)) continue;
      failures++;
      if (kind && model.verdicts[verdict].name !== kind) continue;
      const series = model.data.runs.series[run],
        message = model.data.runs.message[run] ?? "";
      const key = `${verdict} ${series} ${message}`;
      const group = groups.get(key);
      if (group) group.runs.push(run);
      else groups.set(key, { verdict, message, runs: [run] });
    }
    const list = [...groups.values()].sort((a, b) => b.verdict - a.verdict || b.runs.length - a.runs.length);
    body.replaceChildren(
      ...list.map(({ verdict, message, runs }) => {
        const label = model.series[model.data.runs.series[runs[0]]].label;
        return h(
          "tr",
          null,
          h("td", null, badge(model.verdicts[verdict].colour, model.verdicts[verdict].name)),
          h("td", null, foreign(label)),
          h(
            "td",
            { class: "n" },
            runsButton(model, count(runs.length), () => ({
              title: `${model.verdicts[verdict].name}: ${label}`,
              about: model.verdicts[verdict].summary,
              runs,
              value: metricValue(model, model.data.measure),
            })),
          ),
          h("td", null, foreign(message)),
        );
      }),
    );
    caption.textContent =
      model.runCount === 0
        ? "There are no runs."
        : failures === 0
          ? "No run failed at this tolerance."
          : `${plural(failures, "run")} did not reach ${power(model.toleranceValue)}${kind ? `; shown: ${kind}` : ""}.`;
    holder.hidden = list.length === 0;
  }
  const holder = h(
    "div",
    { class: "scroller failures", tabindex: "0", role: "region", "aria-label": "Failures" },
    h(
      "table",
      null,
      h("caption", { class: "visually-hidden" }, "Failures by kind, solver and message"),
      h(
        "thead",
        null,
        h(
          "tr",
          null,
          ["kind", "solver", "runs", "message"].map((name) => h("th", { scope: "col" }, name)),
        ),
      ),
      body,
    ),
  );
  const element = h(
    "section",
    { id: "failure-list", "aria-labelledby": "failure-list-title" },
    h("h3", { id: "failure-list-title" }, "Failures by kind and solver"),
    caption,
    h("div", { class: "controls" }, select),
    holder,
    faultList(model),
  );
  model.onChange(() => schedule(element, fill));
  schedule(element, fill);
  return element;
}
