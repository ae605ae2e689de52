// The answer first: which solver, what it costs, and where these numbers come from.
import type { Child } from "../common/dom";
import { foreign, h } from "../common/dom";
import { NONE, count, number, percent, plural, power, seconds } from "../common/format";
import { look } from "../common/palette";
import { costValue, metricValue, runsButton } from "./details";
import { swatch } from "./figure";
import type { Model } from "./model";
import { short } from "./model";

export function summary(model: Model): HTMLElement {
  const holder = h("div");
  function fill(): void {
    const { advice } = model;
    const cards = [
      card(
        model,
        advice.reliable ? "Use this" : "Best, not reliable",
        advice.series,
        "most problems solved; ties by cost on common ground",
      ),
      card(model, "Fastest", advice.fastest, fastestWhy(model)),
      card(model, "Most accurate", advice.mostAccurate, "smallest median error of those with the best success rate"),
    ].filter((one) => one !== null);
    holder.replaceChildren(
      advised(advice.text),
      cards.length > 0 ? h("div", { class: "cards" }, cards) : "",
      figures(model),
    );
  }
  model.onChange(fill);
  fill();
  return holder;
}

/** Beside the one to use, on the problems that both solve: the mean over what each solved would praise who fails at the hard ones. */
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

/** The first sentence is the answer, the rest explains it. */
function advised(text: string): HTMLElement {
  const [, first, rest] = /^([\s\S]*?[.!])\s+(?=\p{Lu})([\s\S]*)$/u.exec(text.trim()) ?? [null, text.trim(), ""];
  return h(
    "div",
    { class: "advice", dir: "auto" },
    h("p", { class: "answer" }, first || "There are no results to recommend from."),
    rest ? h("p", null, rest) : null,
  );
}

function card(model: Model, title: string, series: number | null, why: string): HTMLElement | null {
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
    h(
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
        `per problem that it solves; at most ${seconds(score.costMost)}`,
      ),
      fact(
        "error",
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
  const figure = (value: number, name: string, target: string, detail: string): HTMLElement =>
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
    figure(
      data.problems.length - faulty,
      "problems",
      "#problems",
      (unsolved > 0 ? `${unsolved} unsolved` : "each solved by at least one method") +
        (faulty > 0 ? `; ${faulty} more cannot be used` : ""),
    ),
    figure(
      data.methods.filter((method) => !method.recorded).length,
      "methods",
      "#solvers",
      data.machines.length > 1 ? `on ${data.machines.length} machines` : "formulation, solver, options",
    ),
    figure(model.runCount, "runs", "#outcomes", `${count(solved)} solved to ${power(model.toleranceValue)}`),
    figure(failed, "failures", "#failure-list", `${count(refused)} more not applicable`),
  );
}

export function provenance(model: Model): HTMLElement {
  const { data } = model;
  const line = (name: string, ...value: Child[]): HTMLElement =>
    h("div", null, h("dt", null, name), h("dd", null, value));
  return h(
    "dl",
    { class: "provenance" },
    line("stickslip", foreign(data.stickslip)),
    line("ledger", foreign(data.ledger, "code")),
    line("made", foreign(data.created.replace(/^(\d{4}-\d\d-\d\d)T(\d\d:\d\d)(:\d\d)?Z$/, "$1 $2 UTC"))),
    data.machines.map((machine) =>
      line(
        data.machines.length > 1 ? `machine ${short(machine.name)}` : "machine",
        foreign(machine.cpu),
        `, ${plural(machine.cores, "core")}, `,
        foreign(machine.system),
        "; stickslip ",
        foreign(machine.version),
        ", ",
        foreign(machine.compiler),
        ", ",
        foreign(machine.build),
        data.machines.length > 1 ? `, key ${machine.key.slice(0, 8)}` : "",
      ),
    ),
    data.campaign ? line("campaign", h("a", { href: "#campaign" }, "campaign command")) : null,
  );
}

/** What the words mean, and the campaign command. */
export function notes(model: Model): HTMLElement {
  const { data } = model;
  return h(
    "div",
    { class: "notes" },
    h(
      "p",
      null,
      `A run is solved at a tolerance if its ${model.measureName}, judged on the true Coulomb problem whatever the formulation, is at most the tolerance. Its cost is ${data.clock === "until solved" ? "the time until then" : "the time of the whole run, because the time until then is not known of every formulation"}. Means of costs are geometric, shifted by ${seconds(data.shift)}. Ranks and ties compare them over all problems that at least one method solves, an unsolved one counted as ${data.penalty} times the slowest success; a factor compares two methods on the problems that both solve. \u201cNot applicable\u201d is neither success nor failure, but stays unsolved in profiles and means.`,
    ),
    h("h3", null, "Measures"),
    h(
      "div",
      { class: "scroller", tabindex: "0", role: "region", "aria-label": "Measures" },
      h(
        "table",
        null,
        h("caption", { class: "visually-hidden" }, "Measures"),
        h(
          "thead",
          null,
          h(
            "tr",
            null,
            ["measure", "unit", "what", "definition"].map((one) => h("th", { scope: "col" }, one)),
          ),
        ),
        h(
          "tbody",
          null,
          data.metrics.map((metric) =>
            h(
              "tr",
              null,
              h("th", { scope: "row" }, foreign(metric.name, "code")),
              h("td", null, foreign(metric.unit)),
              h("td", null, foreign(metric.summary)),
              h("td", { class: "definition" }, foreign(metric.definition)),
            ),
          ),
        ),
      ),
    ),
    data.campaign
      ? [h("h3", { id: "campaign" }, "Campaign"), h("pre", { class: "campaign foreign", tabindex: "0" }, data.campaign)]
      : null,
  );
}
