// The end of the page: what the words mean, how to make all this again, and what to cite.
import { foreign, h } from "../common/dom";
import { seconds } from "../common/format";
import { anchor } from "./address";
import { commandLine } from "./details";
import type { Model } from "./model";

const REFERENCES = [
  "E. D. Dolan, J. J. Mor\u00e9: Benchmarking optimization software with performance profiles. Mathematical Programming 91, 2002.",
  "N. Gould, J. Scott: A note on performance profiles for benchmarking software. ACM Transactions on Mathematical Software 43, 2016.",
  "J. J. Mor\u00e9, S. M. Wild: Benchmarking derivative-free optimization algorithms. SIAM Journal on Optimization 20, 2009.",
  "E. B. Wilson: Probable inference, the law of succession, and statistical inference. Journal of the American Statistical Association 22, 1927.",
  "C. Lacoursi\u00e8re, J. Linde, Y. Lu, J. C. Trinkle: Benchmark problems for multibody dynamics (BPMD): data exchange format and metrics. 2015.",
  "A. Enzenh\u00f6fer, A. Peiret, M. Teichmann, J. K\u00f6vecses: A unit-consistent error measure for mixed linear complementarity problems in multibody dynamics with contact. 2019.",
];

/** What the cost of a run is, by the report's clock. */
const COSTS = {
  "until solved": "the time until then",
  "whole run": "the time of the whole run, because the time until then is not known of every formulation",
  "whole call": "the time of the whole call of the solver, with what its stop rule measures on the way",
};

const titled = (id: string, title: string): HTMLElement =>
  h("div", { class: "title-line", id }, h("h3", null, title), anchor(id, title));

export function notes(model: Model): HTMLElement {
  const { data } = model;
  const year = /^\d{4}/.exec(data.created)?.[0] ?? "";
  return h(
    "div",
    { class: "notes" },
    h(
      "p",
      null,
      `A run is solved at a tolerance if its ${model.measureName}, judged on the true Coulomb problem whatever the formulation, is at most the tolerance. Its cost is ${COSTS[data.clock]}. Means of costs are geometric, shifted by ${seconds(data.shift)}. Ranks and ties compare them over all problems that at least one method solves, an unsolved one counted as ${data.penalty} times the slowest success; a factor compares two methods on the problems that both solve. \u201cNot applicable\u201d is neither success nor failure, but stays unsolved in profiles and means.`,
    ),
    h(
      "p",
      null,
      "The address of this page holds everything you choose (tolerance, methods, menus, filters, open runs): a copied link shows what you see.",
    ),
    titled("measures", "Measures"),
    h(
      "div",
      { class: "scroller", tabindex: "0", role: "region", "aria-label": "Measures, table" },
      h(
        "table",
        { class: "measures" },
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
    data.campaign ? [titled("campaign", "Campaign"), campaign(data.campaign)] : null,
    titled("references", "References"),
    h(
      "ul",
      { class: "references" },
      REFERENCES.map((text) => h("li", null, text)),
    ),
    titled("cite", "How to cite"),
    h(
      "p",
      null,
      "If these results go into published work, please cite stickslip, and the works it stands on; CITATION.cff beside its source lists them.",
    ),
    commandLine(
      "",
      `@software{stickslip, author = {{The stickslip developers}}, title = {stickslip}, version = {${data.stickslip}}, year = {${year}}}`,
    ),
  );
}

/** One command to copy; a campaign from a file is shown as it was written. */
function campaign(text: string): HTMLElement {
  const one = text.trim();
  return /^bench [^\n]*$/.test(one)
    ? commandLine("", `stickslip ${one}`)
    : h("pre", { class: "campaign foreign", tabindex: "0" }, text);
}
