// Work and precision of engines: for each scene, errors of the motion against processor time per simulated second, one mark for
// each setting of an engine. tools/race-engines puts the measurements into the page.
import * as Plot from "@observablehq/plot";
import { h } from "../common/dom";
import { measure, number, plural, power, seconds } from "../common/format";
import { look } from "../common/palette";
import { themeButton } from "../common/theme";
import { anchor, follow, menu } from "../report/address";
import { heightFor, logScale, plot, tip } from "../report/axes";
import type { Point } from "../report/axes";
import type { Drawn, Host } from "../report/figure";
import { figure, reserveRoom } from "../report/figure";

/** A setting of an engine: seconds of processor time per simulated second, and the errors. */
type Row = { engine: string; setting: string; state: string; cost: number | null } & Record<string, string | number | null>;
type Best = { cost: number; setting: string };
interface Scene {
  name: string;
  title: string;
  command: string;
  time: number;
  limit: number;
  measures: string[];
  rows: Row[];
  levels: Record<string, { level: number; ours: Best | null; peer: Best }[]>;
}
interface Race {
  machine: string;
  cores: number;
  quick: boolean;
  versions: Record<string, string>;
  measures: Record<string, { name: string; unit: string; about: string }>;
  scenes: Scene[];
}

const OURS = "stickslip";
const FINE = "fine";
const LEAST = 1e-12; // errors below are drawn here: zero has no place on a logarithmic axis

const main = document.getElementById("page")!;
const source = document.getElementById("data");
if (source) start(JSON.parse(source.textContent ?? "") as Race);
else main.append(h("p", { class: "nothing" }, "This page contains no measurements. Create one with: make race-engines"));

/** Settings than which none of the same engine is both quicker and better. */
function frontier(points: Point[]): Point[] {
  let best = Infinity;
  return [...points]
    .sort((a, b) => a.x - b.x || a.y - b.y)
    .filter((point) => {
      if (point.y >= best) return false;
      best = point.y;
      return true;
    });
}

function draw(race: Race, scene: Scene, key: string, width: number, hidden: Set<string>): Drawn {
  const { name, unit } = race.measures[key],
    engines = Object.keys(race.versions);
  const points: Point[] = scene.rows
    .filter((row) => row.state === FINE && !hidden.has(row.engine) && typeof row[key] === "number")
    .map((row) => ({
      x: row.cost!,
      y: Math.max(LEAST, row[key] as number),
      series: engines.indexOf(row.engine),
      tip: `${row.engine}: ${row.setting}\n${seconds(row.cost)} per simulated second\n${name} ${measure(row[key] as number, unit)}`,
    }));
  const table = {
    columns: ["engine", "setting", "time per simulated second [s]", ...scene.measures.map((one) => label(race, one)), "state"],
    rows: scene.rows.map((row) => [row.engine, row.setting, row.cost, ...scene.measures.map((one) => row[one]), row.state]),
  };
  const left = scene.rows.filter((row) => row.state !== FINE && !hidden.has(row.engine)).length;
  const note =
    left > 0
      ? h("p", null, `Not drawn: ${plural(left, "setting")} that fell apart, failed, took too long or could not count; the numbers say which.`)
      : null;
  if (points.length === 0) return { drawing: null, table, note };
  const height = heightFor(width) + 40;
  const drawing = plot({
    width,
    height,
    x: logScale({ label: "processor time per simulated second", values: points.map((p) => p.x), time: true, width }),
    y: logScale({ label: label(race, key), values: points.map((p) => p.y) }),
    marks: [
      ...engines.flatMap((engine, series) => {
        const mine = points.filter((point) => point.series === series),
          front = frontier(mine),
          { colour, dash, marker } = look(series);
        return [
          Plot.line(front, {
            x: "x",
            y: "y",
            curve: "step-after",
            stroke: colour,
            strokeWidth: engine === OURS ? 2.8 : 1.6,
            strokeDasharray: dash,
          }),
          Plot.dot(
            mine.filter((point) => !front.includes(point)),
            { x: "x", y: "y", symbol: marker, r: 2.4, stroke: colour, strokeWidth: 1, strokeOpacity: 0.5 },
          ),
          Plot.dot(front, { x: "x", y: "y", symbol: marker, r: 3.8, fill: colour, stroke: "var(--paper)", strokeWidth: 0.7 }),
        ];
      }),
      tip(points),
    ],
  });
  return { drawing, table, note, about: `${scene.command}, ${scene.time} s` };
}

function label(race: Race, key: string): string {
  return `${race.measures[key].name} [${race.measures[key].unit}]`;
}

function sceneFigure(race: Race, host: Host, scene: Scene): HTMLElement {
  let key = scene.measures[0];
  const own = figure(host, {
    id: scene.name,
    title: scene.title,
    read: `Each mark is a setting of an engine: further left is quicker, further down is better. Lines join the settings that no other setting of the same engine beats in both; filled marks are on them. ${scene.command}, ${scene.time} s of motion.`,
    legend: Object.keys(race.versions).map((engine, series) => ({
      key: engine,
      label: `${engine} ${race.versions[engine]}`,
      colour: "",
      look: look(series),
    })),
    controls: [
      menu(
        `${scene.name}.error`,
        "error",
        scene.measures.map((one): [string, string] => [one, `${race.measures[one].name}: ${race.measures[one].about}`]),
        key,
        (value) => {
          key = value;
          own.redraw();
        },
      ),
    ],
    height: (width) => heightFor(width) + 40,
    draw: (width, hidden) => draw(race, scene, key, width, hidden),
  });
  return own.element;
}

/** Our time over the best peer's, by scene, error and level. */
function overview(race: Race): HTMLElement {
  const all = race.scenes.flatMap((scene) =>
    Object.values(scene.levels).flatMap((levels) => levels.map(({ level }) => Math.round(Math.log10(level)))),
  );
  const exponents = [...new Set(all)].sort((a, b) => b - a);
  const kind = (ratio: number): string => (ratio <= 0.5 ? "half" : ratio <= 1 ? "less" : "more");
  const rows = race.scenes.flatMap((scene) =>
    scene.measures.map((key) =>
      h(
        "tr",
        null,
        h("th", { scope: "row" }, h("a", { href: `#${scene.name}` }, scene.name)),
        h("td", null, label(race, key)),
        exponents.map((exponent) => {
          const found = scene.levels[key].find(({ level }) => Math.round(Math.log10(level)) === exponent);
          if (!found) return h("td");
          const { ours, peer } = found,
            says = `${peer.setting}: ${seconds(peer.cost)}; ours: ${ours ? `${ours.setting}, ${seconds(ours.cost)}` : "none"}`;
          return ours
            ? h("td", { class: `ratio-${kind(ours.cost / peer.cost)}`, title: says }, number(ours.cost / peer.cost, 2))
            : h("td", { class: "ratio-none", title: says }, "none");
        }),
      ),
    ),
  );
  return h(
    "div",
    null,
    h(
      "p",
      { class: "read" },
      "Our processor time over that of the best peer, both with the quickest setting whose error is at most the level, at all levels that a peer reaches.",
    ),
    h(
      "p",
      { class: "key-line" },
      h("span", { class: "ratio-half" }, "at most half"),
      h("span", { class: "ratio-less" }, "faster"),
      h("span", { class: "ratio-more" }, "slower"),
      h("span", { class: "ratio-none" }, "not reached by ours"),
    ),
    h(
      "div",
      { class: "scroller", tabindex: "0", role: "region", "aria-label": "Ratios by error level" },
      h(
        "table",
        { class: "wide ratios" },
        h(
          "thead",
          null,
          h(
            "tr",
            null,
            h("th", { scope: "col" }, "scene"),
            h("th", { scope: "col" }, "error"),
            exponents.map((exponent) => h("th", { scope: "col", class: "n" }, power(10 ** exponent))),
          ),
        ),
        h("tbody", null, rows),
      ),
    ),
  );
}

function start(race: Race): void {
  const host: Host = {
    subject: () => "",
    source: () => `make race-engines, ${race.machine}`,
    onChange: () => {},
  };
  const sections: [string, string, HTMLElement[]][] = [
    ["overview", "At every error level", [overview(race)]],
    ["scenes", "Scenes", race.scenes.map((scene) => sceneFigure(race, host, scene))],
  ];
  document.body.prepend(
    h("a", { class: "skip", href: "#page" }, "Skip to the page"),
    h("div", { class: "bar", role: "region", "aria-label": "Settings" }, themeButton()),
  );
  const engines = Object.entries(race.versions).map(([name, version]) => `${name} ${version}`);
  main.tabIndex = -1;
  main.append(
    h(
      "header",
      { class: "masthead" },
      h("p", { class: "kicker" }, "stickslip"),
      h("h1", null, "Work and precision of engines"),
      h(
        "dl",
        { class: "provenance" },
        h("div", null, h("dt", null, "engines"), h("dd", null, engines.join(", "))),
        h("div", null, h("dt", null, "machine"), h("dd", null, `${race.machine}, ${plural(race.cores, "core")}`)),
        race.quick && h("div", null, h("dt", null, "note"), h("dd", null, "a quick look: few settings, short runs")),
      ),
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
  reserveRoom(main.querySelector(".part:last-of-type")!.clientWidth);
  follow();
}
