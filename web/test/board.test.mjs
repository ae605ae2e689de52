// A leaderboard: the page of several ledgers says what no method solves, what does not reproduce and where the runs come from, with
// the numbers of the program's tables.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { copyFileSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { complaints, open, scratch, stickslip } from "./browser.mjs";
import { csv, download } from "./report_kit.mjs";

const change = (ledger, ...statements) =>
  execFileSync("/usr/bin/python3", [
    "-c",
    "import sqlite3, sys\nwith sqlite3.connect(sys.argv[1]) as base:\n    for one in sys.argv[2:]: base.execute(one)",
    ledger,
    ...statements,
  ]);
const cells = (text) =>
  csv(text).map((row) => row.map((cell) => (cell !== "" && Number.isFinite(Number(cell)) ? Number(cell) : cell)));

test("a page of several ledgers says what the tables of the program say", async (t) => {
  const folder = scratch(t),
    path = (name) => join(folder, name),
    ledgers = [path("here.db"), path("there.db")];
  stickslip("run", "sliding-block", "--steps", "4", "--record", path("block.h5"));
  stickslip("bench", path("block.h5"), "-s", "nsgs,pgs", "--iterations", "1", "--stop", "none", "-o", ledgers[0], "--quiet");
  copyFileSync(ledgers[0], ledgers[1]);
  change(
    ledgers[1],
    "UPDATE machines SET key = 'elsewhere', cpu = 'Another <i>Processor</i>'",
    "UPDATE runs SET answer = 'other' WHERE id = 1",
    "UPDATE runs SET outcome = 'crashed' WHERE id = 2",
    "UPDATE runs SET started = '2031-05-06T07:08:09Z' WHERE id = 3",
    "UPDATE problems SET collection = 'blocks 1.2'",
  );
  const page_of = ["report", ...ledgers, "--tolerance", "1e9", "--main", "1e-14", "--quiet"];
  stickslip(...page_of, "-o", path("board.html"));
  const { page, problems, requests } = await open(t, path("board.html"), { colorScheme: "dark" });
  await page.waitForSelector("#ledgers tbody tr");

  for (const id of ["unsolved", "reproduction", "ledgers"]) {
    stickslip(...page_of, "--figure", id, "-o", path(`${id}.csv`));
    const told = cells(readFileSync(path(`${id}.csv`), "utf8"));
    assert.ok(told.length > 1, id);
    assert.deepEqual(cells((await download(page, id, "csv")).text), told, id);
    assert.equal(await page.locator(`#${id} tbody tr`).count(), told.length - 1, id);
    assert.deepEqual(await complaints(page, `#${id}`), [], id);
  }
  assert.match(await page.locator("#reproduction .read").innerText(), /^Of 8 runs repeated .*, 2 have another/);
  const there = await page.locator("#ledgers tbody tr", { hasText: "there.db" }).innerText();
  for (const words of ["Another <i>Processor</i>", "blocks 1.2", "2031-05-06"]) assert.ok(there.includes(words), there);
  assert.match(await page.locator(".provenance").innerText(), /2 ledgers of 2 machines/);

  // A tolerance that all problems meet leaves nothing to list, and lines whose names fit beside them.
  await page.locator("#tolerance").selectOption("0");
  await page.waitForFunction(() => /at least one method/.test(document.querySelector("#unsolved .read").textContent));
  await page.locator("#performance-profile").scrollIntoViewIfNeeded();
  await page.waitForSelector("#performance-profile .end-name");
  const cut = await page.locator("#performance-profile .end-name").evaluateAll((names) =>
    names
      .filter((name) => name.getBoundingClientRect().right > name.ownerSVGElement.getBoundingClientRect().right)
      .map((name) => name.textContent),
  );
  assert.deepEqual(cut, []);
  assert.equal(await page.locator("#unsolved table").isVisible(), false);
  assert.deepEqual(problems, []);
  assert.deepEqual(requests, []);
});

test("with certified references the page says how far metrics can be trusted", async (t) => {
  const folder = scratch(t),
    path = (name) => join(folder, name),
    page_of = ["report", path("true.db"), "--quiet"];
  stickslip("run", "brick-wall", "--steps", "3", "--record", path("wall.h5"));
  stickslip("bench", path("wall.h5"), "-s", "nsgs,pgs", "--reference", "certified", "-o", path("true.db"), "--quiet");
  stickslip(...page_of, "-o", path("true.html"));
  stickslip(...page_of, "--figure", "trust", "-o", path("trust.csv"));
  const { page, problems } = await open(t, path("true.html"));
  await page.waitForSelector("#trust tbody tr");
  const told = cells(readFileSync(path("trust.csv"), "utf8"));
  assert.ok(told.some((row) => row[0] === "energy" && row[1] === "distance"));
  assert.deepEqual(cells((await download(page, "trust", "csv")).text), told);
  const spreads = told.slice(1).map((row) => row[5] / row[4]);
  const first = told[1 + spreads.indexOf(Math.min(...spreads))][0];
  assert.equal(await page.locator("#trust tbody tr").first().locator("td, th").first().innerText(), first);
  assert.deepEqual(await complaints(page, "#trust"), []);
  assert.deepEqual(problems, []);

  // one that is below zero at some answers orders nothing, and is not the best
  const changed = readFileSync(path("true.html"), "utf8").replace(/("metric":"dissipation_gap"[^}]*"low":)[^,}]+/, "$1-2");
  writeFileSync(path("changed.html"), changed);
  const other = await open(t, path("changed.html"));
  await other.page.waitForSelector("#trust tbody tr");
  const order = await other.page.locator("#trust tbody tr").allInnerTexts();
  assert.ok(order.findIndex((row) => row.startsWith("dissipation_gap")) >= order.length - 2, order.join("\n"));
});

test("what reproduces is said in one sentence", async (t) => {
  const folder = scratch(t),
    path = (name) => join(folder, name);
  stickslip("run", "sliding-block", "--steps", "2", "--record", path("block.h5"));
  stickslip("bench", path("block.h5"), "-s", "nsgs", "-o", path("a.db"), "--quiet");
  copyFileSync(path("a.db"), path("b.db"));
  change(path("b.db"), "UPDATE machines SET key = 'elsewhere'");
  stickslip("report", path("a.db"), path("b.db"), "-o", path("board.html"), "--quiet");
  const { page } = await open(t, path("board.html"));
  await page.waitForSelector("#reproduction");
  assert.match(await page.locator("#reproduction .read").innerText(), /^Of 2 runs repeated .*, all have the same outcome/);
  assert.equal(await page.locator("h1").innerText(), "a.db and 1 more");
});
