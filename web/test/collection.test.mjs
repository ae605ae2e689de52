// The page of a collection in Chromium: the same problems as `collection list`, filters, sorting, pictures, replays.
import assert from "node:assert/strict";
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { complaints, open, scratch, stickslip } from "./browser.mjs";

test("the page of a collection", async (t) => {
  const place = scratch(t), recipes = join(place, "recipes"), folder = join(place, "built");
  mkdirSync(recipes);
  writeFileSync(join(recipes, "collection.recipe"), "collection mine\nversion 7\ntitle My <b>problems</b>\n");
  writeFileSync(join(recipes, "walls.recipe"),
    "family walls\nabout Bricks.\nsequence wall-{rows}\n scene brick-wall rows=1,3 width=2\n frames 2 from 2\n");
  writeFileSync(join(recipes, "slopes.recipe"),
    "family slopes\nabout One block.\nsequence slope-mu{mu}\n scene sliding-block mu=0.1,0.3\n frames 2 from 5\n");
  stickslip("collection", "build", "--recipes", recipes, "-o", folder, "--replays", "--quiet");
  const file = join(folder, "index.html");
  const listed = (where) =>
    JSON.parse(stickslip("collection", "list", folder, "--json", "--where", where)).problems.map((row) => row.id);
  const shown = async (page) => await page.locator("tbody th .foreign").allInnerTexts();

  await t.test("shows every problem with a picture, and nothing of a title is markup", async (t) => {
    const { page, problems, requests } = await open(t, file, { colorScheme: "light" });
    assert.equal(await page.locator("h1").innerText(), "My <b>problems</b>");
    assert.deepEqual(await shown(page), listed("contacts>=0"));
    const widths = await page.locator("tbody img").evaluateAll((images) => images.map((image) => image.naturalWidth));
    assert.ok(widths.length === 8 && widths.every((width) => width === 240));
    const paper = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
    const light = await paper();
    await page.locator("button.theme").click();
    assert.notEqual(await paper(), light);
    assert.deepEqual(await complaints(page), []);
    await page.locator("button.theme").click();
    assert.deepEqual(await complaints(page), []);
    const wide = await page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth);
    assert.ok(wide <= 0, `${wide} px too wide`);
    assert.deepEqual([problems, requests], [[], []]);
  });

  await t.test("understands --where as the program does, and names mistakes", async (t) => {
    const { page } = await open(t, file);
    for (const where of ["contacts<10 or rank<0.4", "not (family=walls) and mu_most!=0.1", "level>=exact", "scene~wall and frame=1",
      "hardness<1", "not hardness<1", "sliding>=0.5 AND contacts==4", "contacts<inf and contacts>-inf", "scene ~ 'wall' or contacts>'3'",
      "scene!=''", "contacts<.5e1", `id!='${"x".repeat(5000)}' and contacts<10`]) {
      await page.locator("#where").fill(where);
      assert.deepEqual(await shown(page), listed(where), where);
    }
    const before = await shown(page);
    for (const [where, message] of [["contacs<3", "unknown column 'contacs'"], ["contacts<", "expected a value"],
      ["family<walls", "which is a text"], ["(contacts<3", "closing bracket"], ["contacts<3 4", "expected and, or, or the end"],
      ["contacts<", "ends too early: expected a value"], ["scene=\"wall", "at \"\"wall\": expected a closing quote"],
      ["scene~'wall or contacts<3", "expected a closing quote"], ["scene='", "expected a closing quote"],
      ["contacts<\"3", "expected a closing quote"], ["contacts<0b11", "a number after contacts"],
      ["contacts<1e999", "a number after contacts"]]) {
      await page.locator("#where").fill(where);
      assert.ok((await page.locator("#where-fault").innerText()).includes(message), where);
      assert.throws(() => stickslip("collection", "list", folder, "--where", where), (error) => String(error.stderr).includes(message), where);
      assert.deepEqual(await shown(page), before);
    }
  });

  await t.test("a mistake in the filter leaves everything else in use", async (t) => {
    const { page, problems } = await open(t, file + "#where=" + encodeURIComponent('scene="wall'));
    assert.deepEqual(await shown(page), listed("contacts>=0"), "no filter held before");
    assert.ok((await page.locator("#where-fault").innerText()).includes("closing quote"));
    await page.locator('[data-family="slopes"]').click();
    assert.deepEqual(await shown(page), listed("family=slopes"));
    await page.locator("#where").fill("frame=0");
    assert.deepEqual(await shown(page), listed("family=slopes and frame=0"));
    await page.locator("#where").fill("frame=0 and");
    await page.locator('[data-family=""]').click();
    assert.deepEqual(await shown(page), listed("frame=0"));
    assert.match(page.url(), /where=frame%3D0$/);
    assert.deepEqual(problems, []);
  });

  await t.test("a heading that is the name of a column is above its numbers", async (t) => {
    const { page } = await open(t, file);
    const columns = Object.keys(JSON.parse(stickslip("collection", "list", folder, "--json")).problems[0]);
    const headings = await page.locator("[data-sort]").evaluateAll((all) => all.map((own) => [own.innerText.trim(), own.dataset.sort]));
    for (const [words, column] of headings) assert.ok(words === column || !columns.includes(words), `${words}: ${column}`);
  });

  await t.test("sorts, filters by family, and keeps it in the address", async (t) => {
    const { page } = await open(t, file);
    await page.locator('[data-sort="contacts"]').click();
    await page.locator('[data-sort="contacts"]').click();
    assert.match((await shown(page))[0], /^walls\/wall-3/);
    await page.locator('[data-family="slopes"]').click();
    assert.equal((await shown(page)).length, 4);
    assert.equal(await page.locator(".about").innerText(), "One block.");
    const address = page.url();
    assert.match(address, /family=slopes/);
    await page.goto("about:blank");
    await page.goto(address);
    assert.equal((await shown(page)).length, 4);
  });

  await t.test("leads to the replay of a problem", async (t) => {
    const { page, problems } = await open(t, file);
    const link = page.locator("tbody tr").last().locator("a", { hasText: "replay" });
    assert.equal(await link.getAttribute("href"), "walls/wall-3.html#frame=1");
    assert.ok(existsSync(join(folder, "walls/wall-3.html")));
    await link.click();
    await page.waitForFunction(() => window.stickslip?.ready);
    assert.deepEqual(problems, []);
  });
});
