// What one does with a replay: send its address, look closer, read crowds and forces, take pictures and films home.
import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { stickslip } from "./browser.mjs";
import { atFrame, block, faults, madeUp, pageWith, peek, ready, sharedBrowser } from "./view_kit.mjs";

const { opened, close } = sharedBrowser();
let folder, wall, wallPage, replay;

before(() => {
  folder = mkdtempSync(join(tmpdir(), "stickslip-view-"));
  const one = join(folder, "wall.h5");
  wall = join(folder, "two.h5");
  stickslip("run", "brick-wall", "--steps", "20", "--record", one);
  stickslip("solve", one, "-s", "pgs", "--iterations", "30", "--stop", "none", "-o", wall);
  wallPage = join(folder, "wall.html");
  stickslip("view", wall, "-o", wallPage);
  replay = block(readFileSync(wallPage, "utf8"), "replay");
});
after(async () => {
  await close();
  rmSync(folder, { recursive: true, force: true });
});

const hash = (page) => page.evaluate(() => location.hash);
const hashHas = (page, part) => page.waitForFunction((text) => location.hash.includes(text), part);

test("the address", async (t) => {
  await t.test("leads to frame, solver and contact, and near them", async () => {
    const { page, problems } = await opened(`${wallPage}#frame=12&solver=pgs&contact=5`);
    await ready(page);
    await atFrame(page, 11);
    assert.deepEqual(await peek(page, "solvers"), ["pgs"]);
    const { kind, index } = await peek(page, "selection");
    assert.deepEqual([kind, index], ["contact", 5]);
    const camera = await peek(page, "camera"), point = (await page.evaluate(() => window.stickslip.contacts()))[5];
    assert.ok(Math.hypot(...camera.map((c, k) => c - point[k])) < 1.5, "the camera went there");
    assert.deepEqual(faults(problems), []);
  });

  await t.test("follows what is shown, and brings it back", async () => {
    const { page } = await opened(wallPage);
    await ready(page);
    await page.locator("canvas").focus();
    for (const key of ["ArrowRight", "ArrowRight", "a", "r", "+", "b"]) await page.keyboard.press(key);
    await page.locator("input[name=cones]").check();
    await page.locator("input[name=forces]").uncheck();
    await page.locator(".controls select").first().selectOption("energy");
    await page.locator("label.solver select").nth(1).selectOption("-1");
    await hashHas(page, "colour=energy");
    await page.waitForFunction(() => /solver=coloured(&(?!solver)|$)/.test(location.hash));
    const state = () => page.evaluate(() => [window.stickslip.frame, window.stickslip.solvers, window.stickslip.selection,
      [...document.querySelectorAll(".controls input[type=checkbox]")].map((box) => [box.name, box.checked]),
      [...document.querySelectorAll(".controls select, .solver select")].map((select) => select.value)]);
    const before_ = await state(), camera = await peek(page, "camera"), text = await hash(page);
    for (const part of ["frame=3", "body=", "show=cones", "hide=forces", "camera="]) assert.ok(text.includes(part), `${part} in ${text}`);
    await opened(`${wallPage}${text}`);
    await ready(page);
    await atFrame(page, 2);
    assert.deepEqual(await state(), before_);
    (await peek(page, "camera")).forEach((c, k) => assert.ok(Math.abs(c - camera[k]) < 1e-3 * Math.hypot(...camera), "the same view"));
  });

  await t.test("can be changed by hand, and nonsense in it does no harm", async () => {
    const { page, problems } = await opened(`${wallPage}#frame=7&solver=nobody&contact=99999&camera=1,2&colour=<b>&show=everything&worst=-3`);
    await ready(page);
    await atFrame(page, 6);
    assert.deepEqual(await peek(page, "solvers"), replay.results.map((r) => r.solver));
    assert.equal((await peek(page, "selection")).kind, "none");
    await page.evaluate(() => (location.hash = "#frame=3&body=4&hide=contacts"));
    await atFrame(page, 2);
    assert.deepEqual(await peek(page, "selection"), { kind: "body", id: 4 });
    assert.equal(await page.locator("input[name=contacts]").isChecked(), false);
    await page.evaluate(() => (location.hash = "#path=mbs_frame000009"));
    await atFrame(page, 8);
    assert.deepEqual(faults(problems), []);
  });
});
