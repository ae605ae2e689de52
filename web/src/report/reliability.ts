// What was solved, what was not, and how it failed: as visible as success.
import * as Plot from "@observablehq/plot";
import { foreign, h } from "../common/dom";
import { count, percent, plural, power } from "../common/format";
import { look } from "../common/palette";
import { anchor, menu } from "./address";
import { plot, tip } from "./axes";
import { badge, metricValue, runsButton } from "./details";
import type { Figure, Table } from "./figure";
import { figure } from "./figure";
import type { Model } from "./model";
import { labelLength, labelRoom, shortSeries } from "./model";
import { schedule } from "./schedule";

export function successRates(model: Model): Figure {
  return figure(model, {
    id: "success-rates",
    title: "Success rates",
    read: "The mark is the fraction solved of the problems that the method accepts, the bar its 95 % confidence interval (Wilson): if bars overlap, a difference is not proven.",
    legend: "series",
    height: () => 56 + 24 * model.shown.size,
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
      const names = shortSeries(model, shown, labelLength(width));
      return {
        drawing: plot({
          width,
          height: 56 + 24 * rows.length,
          marginLeft: labelRoom(width),
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
            tickFormat: (place: number) => names[place],
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

/** Files and frames that no method could be given, with what is wrong with them. */
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

/** What goes together with failing, methods with the same line beside each other. */
export function whyList(model: Model): HTMLElement {
  const list = h("ul", { class: "slopes" });
  const block = h(
    "div",
    { class: "block", id: "why" },
    h("div", { class: "title-line" }, h("h3", null, "Where methods fail"), anchor("why", "where methods fail")),
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

/** Failures by kind and message, most frequent first; every line opens its runs. */
export function failureList(model: Model): HTMLElement {
  let kind = "";
  const body = h("tbody");
  const caption = h("p", { class: "read", role: "status" });
  const messages = h("th", { scope: "col" }, "message");
  const kinds = model.verdicts
    .map((verdict, index) => ({ verdict, index }))
    .filter(({ index }) => model.isFailure(index));
  const select = menu(
    "failure-list.kind",
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
    const told = list.some(({ message }) => message !== "");
    messages.hidden = !told;
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
          told ? h("td", null, foreign(message)) : null,
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
      h("caption", { class: "visually-hidden" }, "Failures by kind, method and message"),
      h(
        "thead",
        null,
        h(
          "tr",
          null,
          ["kind", "method", "runs"].map((name) => h("th", { scope: "col" }, name)),
          messages,
        ),
      ),
      body,
    ),
  );
  const element = h(
    "section",
    { id: "failure-list", "aria-labelledby": "failure-list-title" },
    h(
      "div",
      { class: "title-line" },
      h("h3", { id: "failure-list-title" }, "Failures by kind and method"),
      anchor("failure-list", "failures"),
    ),
    caption,
    h("div", { class: "controls" }, select),
    holder,
    faultList(model),
  );
  model.onChange(() => schedule(element, fill));
  schedule(element, fill);
  return element;
}
