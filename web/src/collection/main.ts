// The collection: families to choose from, a line for --where, a table that sorts, pictures, and a replay per problem. What is
// chosen stands in the address.
import { foreign, h } from "../common/dom";
import { NONE, number, percent, plural } from "../common/format";
import { themeButton } from "../common/theme";
import type { Collection, Row } from "./data";
import { rowsOf } from "./data";
import type { Test } from "./where";
import { readWhere } from "./where";

const FEW = 200; // rows that are drawn at first: thousands make a page slow

interface Shown {
  name: string;
  title: string;
  help: string;
  cell: (row: Row) => string;
}

const whole = (name: string) => (row: Row) => String(row[name] ?? NONE);
const real = (name: string) => (row: Row) => number(row[name] as number | null);
const share = (name: string) => (row: Row) => percent(row[name] as number | null);

const SHOWN: Shown[] = [
  { name: "contacts", title: "contacts", help: "contact points", cell: whole("contacts") },
  { name: "bodies", title: "bodies", help: "bodies that can move", cell: whole("bodies") },
  { name: "rows", title: "joint rows", help: "rows of joints, limits and motors", cell: whole("rows") },
  { name: "mass_ratio", title: "mass ratio", help: "largest over smallest mass", cell: real("mass_ratio") },
  { name: "mu_most", title: "\u00b5", help: "largest coefficient of friction", cell: real("mu_most") },
  { name: "rank", title: "rank", help: "rank of all rows over their number", cell: share("rank") },
  { name: "sliding", title: "sliding", help: "share of the touching contacts that slide", cell: share("sliding") },
  { name: "hardness", title: "hardness", help: "share of the solvers that fail", cell: share("hardness") },
  { name: "relative", title: "relative bound", help: "proved bound over the largest free velocity", cell: real("relative") },
  {
    name: "level",
    title: "certificate",
    help: "what is proved about the answer",
    cell: (row) => (row.solvable === 0 ? "no solution" : String(row.level)),
  },
];

const main = document.getElementById("page")!;
const source = document.getElementById("collection");
if (source) start(JSON.parse(source.textContent ?? "") as Collection);
else main.append(h("p", null, "This page contains no collection. Create one with: stickslip collection build -o FOLDER"));

function start(data: Collection): void {
  const rows = rowsOf(data);
  const files = new Map(data.sequences.map((sequence) => [sequence.file, sequence]));
  const proved = (row: Row): boolean => data.levels.indexOf(String(row.level)) >= data.levels.indexOf("backward");
  const solvable = rows.filter((row) => row.solvable !== 0);
  document.title = `${data.title} ${data.version}`;

  // what is chosen
  const address = new URLSearchParams(location.hash.slice(1));
  let where = address.get("where") ?? "";
  let family = address.get("family") ?? "";
  let sort = address.get("sort") ?? "";
  let all = false;

  const input = h("input", {
    type: "text",
    id: "where",
    spellcheck: "false",
    autocomplete: "off",
    placeholder: "contacts<1000 and sliding>0.3",
    "aria-describedby": "where-help where-fault",
    oninput: () => {
      where = input.value;
      draw();
    },
  });
  input.value = where;
  const fault = h("p", { id: "where-fault", class: "fault", role: "status" });
  const counted = h("p", { id: "counted", role: "status" });
  const chips = h("div", { class: "chips", role: "group", "aria-label": "Families" });
  const about = h("p", { class: "about" });
  const head = h("thead"),
    body = h("tbody");
  const more = h("button", {
    type: "button",
    class: "more-rows",
    onclick: () => {
      all = true;
      draw();
    },
  });
  const columnHelp = h(
    "details",
    null,
    h("summary", null, "Columns"),
    h(
      "dl",
      { class: "columns" },
      data.columns.map((column) => [
        h("dt", null, h("code", null, column.name), column.unit ? ` (${column.unit})` : ""),
        h("dd", null, column.meaning),
      ]),
    ),
  );

  document.body.prepend(
    h("a", { class: "skip", href: "#problems" }, "To the problems"),
    h("div", { class: "bar" }, themeButton()),
  );
  main.append(
    h(
      "header",
      { class: "masthead" },
      h("p", { class: "kicker" }, `${data.collection} ${data.version}${data.part ? `, ${data.part}` : ""}`),
      h("h1", null, data.title),
      h(
        "p",
        null,
        `${plural(rows.length, "problem")} in ${plural(data.sequences.length, "sequence")}; `,
        `${percent(solvable.filter(proved).length / Math.max(solvable.length, 1), 1)} of the `,
        `${plural(solvable.length, "problem")} with a solution have a proved answer.`,
      ),
    ),
    h(
      "section",
      { class: "filters", "aria-label": "Filters" },
      chips,
      about,
      h("label", { for: "where" }, "Only problems where"),
      input,
      h(
        "p",
        { id: "where-help", class: "hint" },
        "Columns with < <= > >= = != ~ (contains), and, or, not, brackets, as for stickslip collection --where.",
      ),
      fault,
      columnHelp,
    ),
    counted,
    h(
      "div",
      { class: "scroller", tabindex: "0", role: "region", "aria-label": "Problems, table", id: "problems" },
      h("table", { class: "wide" }, h("caption", { class: "visually-hidden" }, "Problems"), head, body),
    ),
    more,
  );

  for (const name of ["", ...data.families.map((own) => own.name)]) {
    const count = rows.filter((row) => name === "" || row.family === name).length;
    if (count === 0) continue;
    chips.append(
      h(
        "button",
        {
          type: "button",
          "data-family": name,
          onclick: () => {
            family = name;
            draw();
          },
        },
        name || "all",
        " ",
        h("small", null, count),
      ),
    );
  }

  function heading(shown: Shown | null): HTMLElement {
    const name = shown?.name ?? "id";
    const up = sort === name || (sort === "" && name === "id");
    const down = sort === `-${name}`;
    return h(
      "th",
      { scope: "col", class: shown ? "numeric" : null, "aria-sort": up ? "ascending" : down ? "descending" : null },
      h(
        "button",
        {
          type: "button",
          title: shown?.help ?? "family, sequence and number of the frame",
          "data-sort": name,
          onclick: () => {
            sort = up ? `-${name}` : name;
            draw();
            (head.querySelector(`[data-sort="${name}"]`) as HTMLElement | null)?.focus();
          },
        },
        shown?.title ?? "problem",
        up ? " \u25b4" : down ? " \u25be" : "",
      ),
    );
  }

  function order(a: Row, b: Row): number {
    const name = sort.replace(/^-/, "");
    const value = (row: Row) => (name === "level" ? data.levels.indexOf(String(row.level)) : row[name]);
    const [left, right] = [value(a), value(b)];
    if (left === right) return 0;
    if (left === null || left === undefined) return 1; // what is not known comes last
    if (right === null || right === undefined) return -1;
    return (left < right ? -1 : 1) * (sort.startsWith("-") ? -1 : 1);
  }

  function line(row: Row): HTMLElement {
    const sequence = files.get(String(row.file));
    const id = String(row.id);
    const command = `stickslip view ${row.file} -o replay.html`;
    const picture = sequence?.picture
      ? h("img", { src: sequence.picture, alt: "", width: 96, height: 64, loading: "lazy" })
      : h("span", { class: "no-picture", "aria-hidden": true });
    const name = h(
      "div",
      { class: "name" },
      foreign(id),
      h(
        "small",
        null,
        sequence?.replay ? h("a", { href: `${sequence.replay}#frame=${row.frame}` }, "replay") : null,
        sequence?.replay ? " \u00b7 " : null,
        h("a", { href: String(row.file), download: true, title: String(row.place) }, "file"),
        sequence?.replay || row.frame === -1 ? null : [" \u00b7 ", h("code", null, command)],
      ),
    );
    const good = proved(row);
    return h(
      "tr",
      null,
      h("th", { scope: "row" }, h("div", { class: "problem" }, picture, name)),
      SHOWN.map((shown) =>
        h(
          "td",
          {
            class: `numeric${shown.name === "level" ? (good ? " good" : row.solvable === 0 ? "" : " bad") : ""}`,
            title: shown.name === "level" && row.reason ? String(row.reason) : null,
          },
          shown.cell(row),
        ),
      ),
    );
  }

  let test: Test = () => true, tested = ""; // the last filter without a mistake holds
  function draw(): void {
    fault.textContent = "";
    input.removeAttribute("aria-invalid");
    try {
      test = where.trim() === "" ? () => true : readWhere(where, data.columns, data.levels);
      tested = where;
    } catch (error) {
      fault.textContent = (error as Error).message;
      input.setAttribute("aria-invalid", "true");
    }
    for (const chip of chips.children)
      chip.setAttribute("aria-pressed", String((chip as HTMLElement).dataset.family === family));
    about.textContent = data.families.find((own) => own.name === family)?.about ?? "";

    const found = rows.filter((row) => (family === "" || row.family === family) && test(row));
    if (sort !== "" && sort !== "id") found.sort(order);
    if (sort === "-id") found.reverse();
    counted.textContent = `${plural(found.length, "problem")} of ${rows.length}`;
    head.replaceChildren(h("tr", null, heading(null), SHOWN.map(heading)));
    body.replaceChildren(...(all ? found : found.slice(0, FEW)).map(line));
    more.hidden = all || found.length <= FEW;
    more.textContent = `Show all ${found.length}`;

    const chosen = Object.entries({ family, where: tested, sort }).filter(([, value]) => value !== "");
    history.replaceState(null, "", chosen.length ? `#${new URLSearchParams(chosen)}` : location.pathname);
  }
  draw();
}
