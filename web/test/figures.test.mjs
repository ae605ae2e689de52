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
    assert.deepEqual(ours(id), theirs, id);
  }
  for (const id of ["solvers", "scenes", "problems"])
    assert.deepEqual(ours(id), table((await download(page, id, "csv")).text), id);
});
