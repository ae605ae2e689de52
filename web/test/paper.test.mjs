// A study's page in Chromium: readable as written, in both themes, and without its script.
import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import { open, scratch, stickslip } from "./browser.mjs";

test("the page of a study", async (t) => {
  const folder = scratch(t);
  const { experiments: [study] } = JSON.parse(stickslip("paper", "isolines", "--json", "-o", folder));
  const file = join(folder, "isolines.html");

  await t.test("shows every verdict and every figure, in the colours of the theme", async (t) => {
    const { page, problems, requests } = await open(t, file, { colorScheme: "light" });
    assert.equal(await page.title(), `${study.title} - stickslip`);
    const rows = await page.locator("#verdicts tbody tr").allInnerTexts();
    assert.deepEqual(rows.map((row) => row.split("\t")[0].trim()), study.values.map((value) => value.name));
    assert.equal(await page.locator("figure svg").count(), study.files.filter((name) => name.endsWith(".svg")).length);
    const ink = () => page.locator("figure svg text").first().evaluate((text) => getComputedStyle(text).fill);
    const light = await ink();
    await page.locator("button.theme").click();
    assert.notEqual(await ink(), light);
    // no figure hangs over the edge of the page
    const wide = await page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth);
    assert.ok(wide <= 0, `${wide} px too wide`);
    assert.deepEqual([problems, requests], [[], []]);
  });

  await t.test("can be read without scripts", async (t) => {
    const { page } = await open(t, file, { javaScriptEnabled: false });
    assert.equal(await page.locator("#verdicts tbody tr").count(), study.values.length);
    assert.ok(await page.locator("figure svg").first().isVisible());
  });
});

test("two replays side by side", async (t) => {
  const folder = scratch(t);
  stickslip("paper", "mass-ratio-grasp", "--quick", "--quiet", "-o", folder);
  const { page, problems, requests } = await open(t, join(folder, "mass-ratio-grasp.html"));
  await page.locator(".pair").scrollIntoViewIfNeeded();
  const replays = () => page.frames().filter((frame) => /_(held|lost)\.html$/.test(frame.url()));
  for (let i = 0; replays().length < 2 && i < 100; i++) await page.waitForTimeout(100);
  assert.equal(replays().length, 2);
  for (const replay of replays()) await replay.waitForFunction(() => window.stickslip?.ready);
  const playing = () => Promise.all(replays().map((replay) => replay.evaluate(() => window.stickslip.playing)));
  assert.deepEqual(await playing(), [false, false]);
  await page.locator(".pair button").click();
  for (const replay of replays()) await replay.waitForFunction(() => window.stickslip.playing);
  await page.locator(".pair button").click();
  for (const replay of replays()) await replay.waitForFunction(() => !window.stickslip.playing);
  // arm, palm and six links on eight joints; numbers and settings are left to the replay's own page
  assert.equal(await replays()[0].evaluate(() => window.stickslip.joints().length), 8);
  assert.equal(await replays()[0].locator("aside").isVisible(), false);
  assert.deepEqual([problems, requests], [[], []]);
});
