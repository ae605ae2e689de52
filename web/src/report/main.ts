// The report: reads the data that the program has put into the page and lays out its sections.
import type { Child } from "../common/dom";
import { choice, foreign, h } from "../common/dom";
import { power } from "../common/format";
import { inflate, streamOf } from "../common/packed";
import { themeButton } from "../common/theme";
import { anchor, follow, moved } from "./address";
import { againstTable } from "./against";
import { ledgerTable, reproductionTable, trustTable, unsolvedTable } from "./board";
import { contactErrors, contactShares } from "./contacts";
import { convergence } from "./convergence";
import { budgets, workPrecision } from "./cost";
import type { Report } from "./data";
import { keepRuns } from "./details";
import { reserveRoom } from "./figure";
import { bpmdFigure } from "./frames";
import { outcomeMatrix } from "./matrix";
import { Model } from "./model";
import { notes } from "./notes";
import { problemTable } from "./problems";
import { dataProfile, pairwiseProfile, performanceProfile } from "./profiles";
import { recordedTable } from "./recorded";
import { failureList, successRates, whyList } from "./reliability";
import { scaling } from "./scaling";
import { sceneTable } from "./scenes";
import { solverTable } from "./solvers";
import { drift, startTable } from "./starts";
import { provenance, summary } from "./summary";

const main = document.getElementById("page")!;
const source = document.getElementById("report");

if (source instanceof HTMLScriptElement && source.type === "application/octet-stream") void startPacked(source);
else if (source) start(new Model(JSON.parse(source.textContent ?? "") as Report));
else
  main.append(
    h(
      "p",
      { class: "nothing" },
      "This page contains no report. Create one with: stickslip report RESULTS.db -o report.html",
    ),
  );

/** Reports of very many runs are deflated. */
async function startPacked(block: Element): Promise<void> {
  const note = h("p", { class: "nothing" }, "Reading the report \u2026");
  main.append(note);
  try {
    const data = (await inflate(streamOf(block)).json()) as Report;
    note.remove();
    start(new Model(data));
  } catch (error) {
    note.textContent = `This report cannot be read: ${error instanceof Error ? error.message : String(error)}.`;
  }
}

function start(model: Model): void {
  const { data } = model;
  document.title = `${data.title} \u2013 stickslip report`;
  const tolerance = choice(
    "Tolerance",
    data.tolerances.map((value, i): [string, string] => [String(i), power(value)]),
    String(model.tolerance),
    (value) => {
      model.setTolerance(Number(value));
      moved();
    },
  );
  tolerance.classList.add("tolerance");
  tolerance.firstElementChild!.append(h("span", { class: "measure" }, ` (${model.measureName}):`));
  const select = tolerance.querySelector("select")!;
  select.id = "tolerance";
  model.onChange(() => (select.value = String(model.tolerance)));

  const sections: [string, string, Child[]][] = [
    ["summary", "Summary", [summary(model)]],
    ["solvers", "Methods", [solverTable(model)]],
    ...(data.against
      ? [["against", "Against the best in hindsight", [againstTable(model, data.against)]] as [string, string, Child[]]]
      : []),
    ...(data.recorded.length > 0
      ? [["recorded", "Answers as recorded", [recordedTable(model)]] as [string, string, Child[]]]
      : []),
    ...(data.scenes.length > 1 ? [["scenes", "By scene", [sceneTable(model)]] as [string, string, Child[]]] : []),
    [
      "reliability",
      "Success and failure",
      [successRates(model).element, whyList(model), outcomeMatrix(model).element, failureList(model)],
    ],
    ...(data.unsolved.some((rows) => rows.length > 0)
      ? [["unsolved", "Problems that no method solves", [unsolvedTable(model)]] as [string, string, Child[]]]
      : []),
    ...(data.reproduction.compared > 0
      ? [["reproduction", "Runs that do not reproduce", [reproductionTable(model)]] as [string, string, Child[]]]
      : []),
    [
      "cost",
      "Cost",
      [
        performanceProfile(model).element,
        pairwiseProfile(model).element,
        dataProfile(model).element,
        workPrecision(model).element,
        budgets(model).element,
      ],
    ],
    ["convergence-section", "Convergence", [convergence(model).element]],
    ...(data.starts.length > 0
      ? [["warm-starts", "Warm starts", [startTable(model), drift(model).element]] as [string, string, Child[]]]
      : []),
    [
      "contacts",
      "Contacts and friction",
      [contactShares(model).element, contactErrors(model).element, bpmdFigure(model).element],
    ],
    ...(data.trust.length > 0
      ? [["trust", "How far metrics can be trusted", [trustTable(model)]] as [string, string, Child[]]]
      : []),
    ["size", "Size and difficulty", [scaling(model).element]],
    ["problems", "Problems", [problemTable(model)]],
    ...(data.ledgers.length > 1 ? [["ledgers", "Ledgers", [ledgerTable(model)]] as [string, string, Child[]]] : []),
    ["notes", "Notes", [notes(model)]],
  ];
  const links = sections.map(([id, title]) => h("li", null, h("a", { href: `#${id}` }, title)));
  document.body.prepend(
    h("a", { class: "skip", href: "#page" }, "Skip to the report"),
    h("div", { class: "bar", role: "region", "aria-label": "Settings" }, tolerance, themeButton()),
    h("nav", { class: "contents", "aria-label": "Sections" }, h("ol", null, links)),
  );
  main.tabIndex = -1;
  main.append(
    h(
      "header",
      { class: "masthead" },
      h("p", { class: "kicker" }, "stickslip report"),
      h("h1", null, foreign(data.title)),
      provenance(model),
    ),
    ...sections.map(([id, title, content]) =>
      h(
        "section",
        { id, class: "part", "aria-labelledby": `${id}-heading` },
        h("div", { class: "title-line" }, h("h2", { id: `${id}-heading` }, title), anchor(id, title)),
        content,
      ),
    ),
  );
  markCurrent(links.map((link) => link.firstElementChild as HTMLAnchorElement));
  keepRuns(model);
  reserveRoom(main.querySelector(".part:last-of-type")!.clientWidth);
  follow();
}

/** Marks the section in sight in the list of sections. */
function markCurrent(links: HTMLAnchorElement[]): void {
  const observer = new IntersectionObserver(
    (entries) => {
      for (const { target, isIntersecting } of entries) {
        if (isIntersecting)
          for (const link of links) {
            if (link.hash === `#${target.id}`) link.setAttribute("aria-current", "true");
            else link.removeAttribute("aria-current");
          }
      }
    },
    { rootMargin: "-15% 0px -75% 0px" },
  );
  for (const part of document.querySelectorAll(".part")) observer.observe(part);
}
