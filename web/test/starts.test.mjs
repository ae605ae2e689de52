// Warm starts on the page of a report: the numbers of the program, and nothing that axe would complain about.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { complaints, open, scratch, stickslip } from "./browser.mjs";
import { choose, csv, download } from "./report_kit.mjs";

test("what starts save and how errors drift is what the program says", async (t) => {
  const folder = scratch(t),
    path = (name) => join(folder, name);
  stickslip("run", "sliding-block", "--steps", "4", "--record", path("block.h5"));
  stickslip("bench", path("block.h5"), "-s", "nsgs,pgs", "--start", "cold,warm,own,shifted", "-o", path("r.db"), "--quiet");
  stickslip("report", path("r.db"), "-o", path("r.html"), "--quiet");
  const { page, problems, requests } = await open(t, path("r.html"), { colorScheme: "dark" });
  await page.waitForSelector("#drift svg");
  for (const id of ["warm-starts", "drift"]) {
    stickslip("report", path("r.db"), "--figure", id, "-o", path(`${id}.csv`), "--quiet");
    const cells = (text) => csv(text).map((row) => row.map((cell) => (cell !== "" && Number.isFinite(Number(cell)) ? Number(cell) : cell)));
    assert.deepEqual(cells(readFileSync(path(`${id}.csv`), "utf8")), cells((await download(page, id, "csv")).text), id);
  }
  const drawn = await page.locator("#drift svg").first().evaluate((svg) => ({
    ends: [...svg.querySelectorAll(".end-name")].map((name) => name.textContent).sort(),
    frames: [...svg.querySelectorAll('[data-mark="x-axis tick label"] text')].map((tick) => tick.textContent),
  }));
  assert.deepEqual(drawn.ends, ["from zero", "own", "shifted", "warm"], "what its lines differ in");
  assert.deepEqual(drawn.frames, ["0", "1", "2", "3"], "there is no frame between two frames");
  await choose(page, "drift.method", "pgs");
  await page.waitForFunction(() => /pgs \(start=own\)/.test(document.querySelector("#drift").textContent));
  assert.deepEqual(await complaints(page, "#warm-starts"), []);
  assert.deepEqual(problems, []);
  assert.deepEqual(requests, []);
});
