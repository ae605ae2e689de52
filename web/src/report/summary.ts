// The answer first: which method, what it costs, and where these numbers come from.
import * as Plot from "@observablehq/plot";
import type { Child } from "../common/dom";
import { foreign, h } from "../common/dom";
import { NONE, count, number, percent, plural, power, seconds } from "../common/format";
import { look } from "../common/palette";
import { logScale, plot, tip } from "./axes";
import type { Point } from "./axes";
import { use } from "./command";
import { commandLine, costValue, metricValue, runsButton } from "./details";
import type { Machine } from "./data";
import type { Figure, Table } from "./figure";
import { figure } from "./figure";
import type { Model } from "./model";
import { labelLength, labelRoom, short, shortSeries } from "./model";
import { swatch } from "./swatch";

export function summary(model: Model): HTMLElement {
  const answer = h("div"),
    cards = h("div", { class: "cards" }),
    totals = h("div");
  function fill(): void {
    const { advice } = model,
      { series, fastest, mostAccurate } = advice;
    answer.replaceChildren(advised(model, advice.text), series === null ? "" : usage(model, series));
    cards.replaceChildren(
      ...[
        card(
          model,
          advice.reliable ? "Use this" : "Best, not reliable",
          series,
          "most problems solved; ties by cost on common ground",
        ),
        card(model, "Fastest", fastest, fastestWhy(model), fastest === series),
        card(
          model,
          "Most accurate",
          mostAccurate,
          "smallest median error of those with the best success rate",
          mostAccurate === series,
        ),
      ].filter((one) => one !== null),
    );
    totals.replaceChildren(figures(model));
  }
  model.onChange(fill);
  fill();
  return h(
    "div",
    null,
    answer,
    model.series.length > 0 ? h("div", { class: "first-look" }, cards, overview(model).element) : null,
    totals,
  );
}

/** How to solve a file of one's own that way. */
function usage(model: Model, series: number): HTMLElement {
  return h("div", { class: "usage" }, commandLine("Use it:", use(model.data.methods[model.series[series].method])));
}

const MOST = 12; // methods at a glance

/** The best methods at a glance: cost, and what they leave unsolved. */
function overview(model: Model): Figure {
  const shown = (): number[] =>
    model
      .ranking()
      .filter((series) => model.score(series).costSolved !== null)
      .slice(0, MOST);
  return figure(model, {
    id: "overview",
    title: "The best methods",
    read: "Cost per problem of what each solves; hollow: it leaves problems unsolved that another method solves.",
    height: () => 52 + 23 * shown().length,
    draw(width) {
      const series = shown();
      const rows = series.map((one, place) => ({
        one,
        place,
        score: model.score(one),
        whole: model.score(one).solved >= model.score(one).common,
      }));
      const table: Table = {
        columns: ["series", "solved", "of", "cost of what it solved [s]"],
        rows: rows.map(({ one, score }) => [model.series[one].label, score.solved, model.total(one), score.costSolved]),
      };
      if (rows.length === 0) return { drawing: null, table };
      const room = width < 420 ? labelRoom(width) : 160,
        labels = shortSeries(model, series, width < 420 ? labelLength(width) : 20);
      const counts = rows.map(({ one, score }) => `${score.solved}/${model.total(one)}`),
        longest = Math.max(...counts.map((text) => text.length));
      const points = rows.map(({ one, place, score }): Point => ({
        x: score.costSolved!,
        y: place,
        series: one,
        tip: `${model.series[one].label}\n${score.solved} of ${model.total(one)} solved\n${seconds(score.costSolved)} per problem that it solves`,
      }));
      const drawing = plot({
        width,
        height: 52 + 23 * rows.length,
        marginLeft: room,
        marginRight: Math.max(52, 12 + 7 * longest), // a digit is 7 wide
        marginTop: 8,
        marginBottom: 44,
        x: logScale({ label: "cost", values: points.map((point) => point.x), time: true, width: width - room }),
        y: {
          type: "band",
          domain: rows.map(({ place }) => place),
          tickFormat: (place: number) => labels[place],
          label: null,
          tickSize: 0,
        },
        marks: [
          Plot.ruleY(rows, { y: "place", stroke: "var(--line)" }),
          ...rows.map(({ one, place, whole }) => {
            const { colour, marker } = look(one);
            return Plot.dot([points[place]], {
              x: "x",
              y: "y",
              symbol: marker,
              r: 5,
              fill: whole ? colour : "var(--paper)",
              stroke: colour,
              strokeWidth: 1.8,
            });
          }),
          Plot.text(rows, {
            y: "place",
            text: ({ place }: (typeof rows)[number]) => counts[place],
            frameAnchor: "right",
            textAnchor: "start",
            dx: 8,
            fill: "var(--ink-soft)",
          }),
          tip(points),
        ],
      });
      // The one to use stands out.
      const names = drawing.querySelectorAll("[aria-label='y-axis tick label'] text");
      names[series.indexOf(model.advice.series ?? -1)]?.setAttribute("font-weight", "bold");
      return { drawing, table };
    },
  });
}

/** Compared with the one to use, on the problems that both solve: a mean over what each solved rewards failing at the hard ones. */
function fastestWhy(model: Model): string {
  const { series, fastest } = model.advice;
  if (fastest === null || series === null || fastest === series)
    return "no method that solves at least half as many is faster on the problems that both solve";
  const { shared, faster, factor, leader } = model.score(fastest).versus;
  if (leader !== series || factor === null) return "faster on the problems that both solve";
  const unsolved = model.total(fastest) - model.score(fastest).solved;
  return (
    `${number(1 / factor)} times as fast as ${short(model.series[series].label)} on the ${plural(shared, "problem")} that both solve ` +
    `(faster on ${faster})${unsolved > 0 ? `; leaves ${unsolved} unsolved` : ""}`
  );
}

/** The program writes for terminals: here numbers get their units beside them, and powers of ten their own letters. */
export function typeset(model: Model, text: string): string {
  return text
    .replaceAll(`error of ${plainNumber(model.toleranceValue)}`, `error of ${power(model.toleranceValue)}`)
    .replace(/(\d) us\b/g, "$1 \u00b5s")
    .replace(/(\d) (?=(?:%|[mn\u00b5]?s|min|h|J|m\/s)(?![\w/]))/g, "$1\u202f")
    .replace(
      /(\d)e([+-])0*(\d)/g,
      (_all, digit: string, sign: string, rest: string) => `${digit}e${sign === "-" ? "\u2212" : ""}${rest}`,
    );
}
/** As C's %g prints it. */
const plainNumber = (value: number): string =>
  value >= 1e-4 ? String(value) : value.toExponential().replace(/e-(\d)$/, "e-0$1");

/** The first sentence is the answer, the rest explains it. */
function advised(model: Model, text: string): HTMLElement {
  const [, first, rest] = /^([\s\S]*?[.!])\s+(?=\p{Lu})([\s\S]*)$/u.exec(text.trim()) ?? [null, text.trim(), ""];
  return h(
    "div",
    { class: "advice", dir: "auto" },
    h("p", { class: "answer" }, typeset(model, first) || "There are no results to recommend from."),
    rest ? h("p", { class: "reasons" }, typeset(model, rest)) : null,
  );
}

/** again: it is the one to use, whose numbers stand there already. */
function card(model: Model, title: string, series: number | null, why: string, again = false): HTMLElement | null {
  if (series === null || !model.series[series]) return null;
  const one = model.series[series],
    score = model.score(series),
    total = model.total(series);
  const energy = one.metricMedian.energy ?? null,
    relative = one.metricMedian.relative_energy ?? null;
  const fact = (name: string, value: Child, detail: string): HTMLElement =>
    h("div", null, h("dt", null, name), h("dd", null, value, h("small", null, detail)));
  return h(
    "article",
    { class: "card", "data-advice": title },
    h("h3", null, title),
    h("p", { class: "card-name" }, swatch(look(series)), " ", foreign(one.label)),
    h("p", { class: "why" }, why),
    again
      ? null
      : h(
          "dl",
          null,
          fact(
            "solves",
            runsButton(model, `${score.solved} of ${total}`, () => ({
              title: `Problems of ${one.label}`,
              runs: model.runsOf[series],
              value: metricValue(model, model.data.measure),
            })),
            `${percent(score.rate)}${total > score.solved + score.failed ? " of those it accepts" : ""}, ${percent(score.low)} to ${percent(score.high)}`,
          ),
          fact(
            "costs",
            score.costSolved === null
              ? NONE
              : runsButton(model, seconds(score.costSolved), () => ({
                  title: `Cost of ${one.label}`,
                  runs: model.runsOf[series].filter((run) => model.cost(run) !== null),
                  value: costValue(model),
                })),
            `at most ${seconds(score.costMost)}`,
          ),
          fact(
            "median error",
            energy === null
              ? NONE
              : runsButton(model, `${number(energy)} J`, () => ({
                  title: `Energy error of ${one.label}`,
                  runs: model.runsOf[series].filter((run) => model.metric("energy", run) !== null),
                  value: metricValue(model, "energy"),
                })),
            `relative ${number(relative)}`,
          ),
        ),
  );
}

function figures(model: Model): HTMLElement {
  const { data } = model;
  let solved = 0,
    refused = 0;
  for (const run of model.live) {
    const verdict = model.verdict(run);
    if (verdict === 0) solved++;
    else if (verdict === model.refused) refused++;
  }
  const failed = model.runCount - solved - refused;
  const unsolved = data.problems.filter(
    (problem, index) => !problem.fault && !model.runsOn[index].some((run) => model.cost(run) !== null),
  ).length;
  const faulty = data.problems.filter((problem) => problem.fault).length;
  const one = (value: number, name: string, target: string, detail: string): HTMLElement =>
    h(
      "div",
      { "data-figure": name },
      h("dt", null, h("a", { href: target }, name)),
      h("dd", null, count(value)),
      h("dd", { class: "detail" }, detail),
    );
  return h(
    "dl",
    { class: "key-figures" },
    one(
      data.problems.length - faulty,
      "problems",
      "#problems",
      (unsolved > 0 ? `${unsolved} unsolved` : "each solved by at least one method") +
        (faulty > 0 ? `; ${faulty} more cannot be used` : ""),
    ),
    one(
      data.methods.filter((method) => !method.recorded).length,
      "methods",
      "#solvers",
      data.machines.length > 1 ? `on ${data.machines.length} machines` : "formulation, solver, options",
    ),
    one(model.runCount, "runs", "#outcomes", `${count(solved)} solved to ${power(model.toleranceValue)}`),
    one(failed, "failures", "#failure-list", `${count(refused)} more not applicable`),
  );
}

export function provenance(model: Model): HTMLElement {
  const { data } = model;
  const line = (name: string, ...value: Child[]): HTMLElement =>
    h("div", null, h("dt", null, name), h("dd", null, value));
  // Of several ledgers or machines the section has a table.
  const machine = (one: Machine): HTMLElement =>
    line(
      "machine",
      foreign(one.cpu),
      `, ${plural(one.cores, "core")}, `,
      foreign(one.system),
      "; stickslip ",
      foreign(one.version),
      ", ",
      foreign(one.compiler),
      ", ",
      foreign(one.build),
    );
  const files = new Set(data.ledgers.map(({ file }) => file)).size;
  const builds = [...new Set(data.ledgers.map((ledger) => ledger.builds).filter((names) => names))];
  const collections = [...new Set(data.ledgers.map((ledger) => ledger.collections).filter((names) => names))];
  return h(
    "dl",
    { class: "provenance" },
    line("stickslip", foreign(data.stickslip)),
    files > 1
      ? line("ledgers", h("a", { href: "#ledgers" }, `${files} ledgers`), ` of ${plural(data.machines.length, "machine")}`)
      : line("ledger", foreign(data.ledger, "code")),
    line("made", foreign(data.created.replace(/^(\d{4}-\d\d-\d\d)T(\d\d:\d\d)(:\d\d)?Z$/, "$1 $2 UTC"))),
    data.machines.length > 1 && files === 1
      ? line("machines", h("a", { href: "#ledgers" }, plural(data.machines.length, "machine")))
      : data.machines.length === 1
        ? machine(data.machines[0])
        : null,
    builds.length > 1
      ? line("builds", h("a", { href: "#ledgers" }, "several"))
      : builds.length === 1
        ? line(builds[0].includes(",") ? "builds" : "build", foreign(builds[0]))
        : null,
    collections.length > 0 ? line("collection", foreign(collections.join("; "))) : null,
    data.campaign ? line("campaign", h("a", { href: "#campaign" }, "campaign command")) : null,
  );
}
