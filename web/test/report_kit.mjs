// A small campaign of the real program, the page that it writes, and ways to read the page.
import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { pathToFileURL } from "node:url";
import { deflateSync } from "node:zlib";
import { open, program, scratch, stickslip } from "./browser.mjs";

const build = process.env.SS_BUILD_DIR ?? dirname(program);
const closing = [];
let folder, report, data, shared;

/** Runs the campaign: two scenes, five solvers, three formulations. */
export function campaign() {
  folder = mkdtempSync(join(tmpdir(), "stickslip-report-"));
  // Names with what a shell would take apart.
  const wall = join(folder, "the wall's $HOME.h5"),
    slope = join(folder, "slope.h5"),
    ledger = join(folder, "results.db");
  stickslip("run", "brick-wall", "--steps", "24", "--record", wall, "--every", "6");
  stickslip("run", "sliding-block", "--steps", "30", "--record", slope, "--every", "6");
  stickslip(
    "bench",
    wall,
    slope,
    "-s",
    "nsgs,pgs,psor,projected-fixed-point,lemke",
    "-f",
    "cone,box,stewart-trinkle",
    "--iterations",
    "300",
    "--time-limit",
    "30.3",
    "--repeats",
    "1",
    "-o",
    ledger,
  );
  report = join(folder, "report.html");
  data = JSON.parse(stickslip("report", ledger, "-o", report, "--title", "Walls & slopes", "--json"));
  return { report, data };
}

export async function clean() {
  for (const close of closing) await close();
  rmSync(folder, { recursive: true, force: true });
}

/** The page with other data in it; packed: as the program does when there is very much of it. */
export function pageWith(t, changed, packed = false) {
  const path = join(scratch(t), "report.html");
  const json = JSON.stringify(changed).replaceAll("<", "\\u003c");
  const block = packed
    ? `<script type="application/octet-stream" id="report">${deflateSync(json).toString("base64")}</script>`
    : `<script type="application/json" id="report">${json}</script>`;
  writeFileSync(
    path,
    readFileSync(join(build, "web", "report.html"), "utf8").replace(
      "<!--stickslip:data-->",
      () => block,
    ),
  );
  return path;
}
export const copy = () => structuredClone(data);

/** One browser for all that do not ask for another: starting it takes longer than most of these tests. hash: of the address. */
export async function opened(where, hash = "") {
  if (!shared) shared = await open({ after: (close) => closing.push(close) }, where, { reducedMotion: "reduce" });
  else shared.problems.length = shared.requests.length = 0;
  // A page that is already there would only be told of another hash.
  await shared.page.goto("about:blank");
  await shared.page.goto(pathToFileURL(where).href + hash);
  shared.page.setDefaultTimeout(45000);
  await settled(shared.page);
  return shared;
}
export const settled = (page) => page.waitForSelector("html[data-ready]", { timeout: 30000 });

/** "399 µs" -> 0.000399, "3.8e−19" -> 3.8e-19, "–" -> null. */
export function value(text) {
  const found = /^([\d.]+(?:e[\u2212-]?\d+)?)\s*([GMkm\u00b5npf]?)(s|min|h)?$/.exec(
    text
      .trim()
      .replace(/^\u2212/, "-")
      .replace(/[\u202f ]/g, " "),
  );
  if (!found) return null;
  const scale =
    { G: 1e9, M: 1e6, k: 1e3, "": 1, m: 1e-3, "\u00b5": 1e-6, n: 1e-9, p: 1e-12, f: 1e-15 }[found[2]] *
    ({ min: 60, h: 3600 }[found[3]] ?? 1);
  return Number(found[1].replace("\u2212", "-")) * scale;
}
export function near(shown, exact, what) {
  if (exact === null) assert.equal(shown, null, what);
  else
    assert.ok(
      shown !== null && Math.abs(shown - exact) <= 0.0051 * Math.abs(exact),
      `${what}: ${shown} instead of ${exact}`,
    );
}

/** RFC 4180 with quotes. */
export function csv(text) {
  const rows = [[]];
  for (const [, quoted, plain, end] of text.matchAll(/(?:"((?:[^"]|"")*)"|([^,"\r\n]*))(,|\r\n|$)/g)) {
    rows.at(-1).push(quoted === undefined ? plain : quoted.replaceAll('""', '"'));
    if (end === "\r\n") rows.push([]);
    if (end === "") break;
  }
  return rows.filter((row) => row.length > 1 || row[0] !== "");
}
/** A choice in the menu that is called so in the address. */
export const choose = (page, menu, value) => page.locator(`[data-menu="${menu}"]`).selectOption(value);
/** What the menu beside a title saves: "svg", "png", "csv", "tex" or "md". Where the browser has too little time, the page may move
 * under the mouse: it is pressed again. */
export async function download(page, id, kind, width) {
  const menu = page.locator(`#${id} details.save`).first();
  for (let left = 5; ; left--) {
    const waiting = page.waitForEvent("download", { timeout: 8000 }).catch((error) => error);
    await menu.evaluate((node) => (node.open = true));
    if (width) await menu.locator("[data-save-width]").selectOption(width);
    await menu
      .locator(`[data-save=${kind}]`)
      .click({ timeout: 8000 })
      .catch(() => {});
    const file = await waiting;
    if (!(file instanceof Error)) {
      const bytes = readFileSync(await file.path());
      return { name: file.suggestedFilename(), bytes, text: bytes.toString("utf8") };
    }
    if (left === 0) throw file;
  }
}
/** Rows of a figure's CSV by column name; numbers as numbers, empty as null. */
export async function numbers(page, id) {
  const [head, ...rows] = csv((await download(page, id, "csv")).text);
  return rows.map((row) =>
    Object.fromEntries(
      head.map((name, i) => [
        name,
        row[i] === "" ? null : /^-?[\d.]+(e[+-]?\d+)?$/.test(row[i]) ? Number(row[i]) : row[i],
      ]),
    ),
  );
}
export const cells = (page, column) => page.locator(`#solvers tbody [data-column="${column}"]`).allInnerTexts();
export const of = (rows, series) => rows.filter((row) => row.series === series.label);

/** Every number under the name "energy", wherever it stands in what solve prints. */
export function findEnergies(node) {
  if (typeof node !== "object" || node === null) return [];
  return Object.entries(node).flatMap(([key, child]) => [
    ...(key === "energy" ? [typeof child === "number" ? child : child?.value] : []),
    ...findEnergies(child),
  ]);
}
