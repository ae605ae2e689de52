// The figures that the program writes for papers beside those of the page: the same names, the same numbers.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { after, before, test } from "node:test";
import { stickslip } from "./browser.mjs";
import { campaign, clean, csv, download, opened } from "./report_kit.mjs";

let report;
before(() => ({ report } = campaign()));
after(clean);

/** Cells of a CSV; numbers are compared as numbers, because JavaScript writes them differently. */
function table(text) {
  const [head, ...rows] = csv(text);
  return {
    head,
    rows: rows.map((row) => row.map((cell) => (cell !== "" && Number.isFinite(Number(cell)) ? Number(cell) : cell))),
  };
}

/** Ratios are powers of two of stored logarithms, which the browser and the C library round in the last bit each in their way. */
function assertSame(one, other, what) {
  const near = (a, b) => a === b || Math.abs(a - b) <= 4 * Number.EPSILON * Math.abs(b);
  const unified = one.rows.map((row, r) => row.map((cell, c) => (near(cell, other.rows[r]?.[c]) ? other.rows[r][c] : cell)));
  assert.deepEqual({ ...one, rows: unified }, other, what);
}

test("every figure has the numbers of the page", async () => {
  const { page } = await opened(report);
  const ids = await page.locator("figure.figure").evaluateAll((figures) => figures.map((figure) => figure.id));
  assert.ok(ids.length >= 12, ids.join(" "));
  const folder = dirname(report);
  const ours = (name) => {
    const path = join(folder, `${name}.csv`);
    stickslip("report", join(folder, "results.db"), "--figure", name, "-o", path, "--quiet");
    return table(readFileSync(path, "utf8"));
  };
  for (const id of ids) {
    const theirs = table((await download(page, id, "csv")).text);
    assert.ok(theirs.rows.length > 0, id);
    assertSame(ours(id), theirs, id);
  }
  for (const id of ["solvers", "scenes", "problems"])
    assertSame(ours(id), table((await download(page, id, "csv")).text), id);
});

test("a run of the report opens in the replay beside it: its frame, its answer, its contact", async () => {
  const folder = dirname(report),
    joined = join(folder, "joined.html");
  stickslip("report", join(folder, "results.db"), "-o", joined, "--replays", join(folder, "re plays"), "--replay-best", "2", "--quiet");
  const { page, problems } = await opened(joined);
  // The energy error of the best method: its runs with their worst contacts.
  await page.locator('#solvers tbody tr:first-child [data-column="energy"] button').click();
  const link = page.locator("dialog a.replay").first();
  const href = await link.getAttribute("href");
  const [, path] = /path=([^&]+)/.exec(href),
    [, solver] = /solver=([^&]+)/.exec(href),
    [, contact] = /contact=(\d+)/.exec(href);
  assert.match(href, /^re%20plays\/[\w.-]+\.html#/);
  await link.click();
  await page.waitForFunction(() => window.stickslip?.ready, null, { timeout: 45000 });
  const state = await page.evaluate(() => [window.stickslip.frame, window.stickslip.solvers, window.stickslip.selection]);
  assert.equal(state[0], Number(/frame=(\d+)/.exec(href)[1]) - 1, path);
  assert.deepEqual(state[1], [decodeURIComponent(solver)]);
  assert.match(JSON.stringify(state[2]), new RegExp(`\\b${contact}\\b`));
  assert.deepEqual(problems, []);
});
