// The report in Chromium: what a reader does with it.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { dirname, join, resolve } from "node:path";
import { after, before, test } from "node:test";
import { open, program, scratch, stickslip } from "./browser.mjs";
import {
  campaign,
  choose,
  clean,
  cells,
  download,
  findEnergies,
  near,
  numbers,
  of,
  opened,
  settled,
} from "./report_kit.mjs";

let report, data;
before(() => ({ report, data } = campaign()));
after(clean);

test("the reader's hands", async (t) => {
  const { page, problems, requests } = await opened(report);

  await t.test("sorting, by mouse and by keyboard", async () => {
    const head = page.locator('#solvers th[data-column="cost"]');
    await head.locator("button").click();
    assert.equal(await head.getAttribute("aria-sort"), "ascending");
    // By the cost on common ground, not by the one that is shown, which is over what each solved.
    const costs = async () =>
      (await cells(page, "label")).map(
        (label) => data.series.find((one) => one.label === label).scores[data.mainTolerance].cost,
      );
    const rising = (await costs()).filter((one) => one !== null);
    assert.deepEqual(
      rising,
      [...rising].sort((a, b) => a - b),
    );
    await head.locator("button").focus();
    await page.keyboard.press("Enter");
    assert.equal(await head.getAttribute("aria-sort"), "descending");
    const falling = await costs();
    assert.deepEqual(
      falling.filter((one) => one !== null),
      rising.reverse(),
    );
    // What has no cost stays last, whichever way.
    assert.ok(falling.indexOf(null) === -1 || falling.slice(falling.indexOf(null)).every((one) => one === null));
    assert.equal(await page.locator("#solvers th[aria-sort]").count(), 1);
  });

  await t.test("filters", async () => {
    await page.fill("#solver-filter", "PSOR");
    const some = await cells(page, "label");
    assert.deepEqual(
      some.sort(),
      data.series
        .filter((one) => data.methods[one.method].solver === "psor")
        .map((one) => one.label)
        .sort(),
    );
    assert.match(
      await page.locator("#solvers [role=status]").innerText(),
      new RegExp(`^${some.length} of ${data.series.length}`),
    );
    await page.fill("#solver-filter", "");
    await choose(page, "solvers.formulation", "box");
    assert.equal(
      (await cells(page, "label")).length,
      data.series.filter((one) => data.methods[one.method].formulation === "box").length,
    );
    await choose(page, "solvers.formulation", "");
    await choose(page, "solvers.show", "failing");
    assert.equal(
      (await cells(page, "label")).length,
      data.series.filter((one) => one.scores[data.mainTolerance].failed > 0).length,
    );
    await choose(page, "solvers.show", "");
  });

  await t.test("the legend shows and hides, by keyboard too", async () => {
    const button = page.locator('#performance-profile .legend button[data-series="1"]'),
      lines = page.locator('#performance-profile [data-mark="line"] path');
    const before = await lines.count();
    await button.focus();
    await page.keyboard.press("Space");
    await settled(page);
    assert.equal(await button.getAttribute("aria-pressed"), "false");
    assert.equal(await lines.count(), before - 1);
    assert.equal(of(await numbers(page, "performance-profile"), data.series[1]).length, 0);
    assert.equal(
      await page.locator('#work-precision .legend button[data-series="1"]').getAttribute("aria-pressed"),
      "false",
    );
    await button.press("Enter");
    await settled(page);
    assert.equal(await lines.count(), before);
    if (data.series.length > 8) {
      await page.locator("#performance-profile .legend button", { hasText: /more/ }).click();
      const drawer = page.locator("dialog.drawer");
      assert.equal(await drawer.locator("fieldset label").count(), data.series.length);
      await drawer.locator("input[type=search]").fill(data.series[8].label);
      await drawer.getByLabel(data.series[8].label, { exact: true }).check();
      await drawer.locator(".close").click();
      await settled(page);
      assert.equal(await lines.count(), before + 1);
    }
  });

  await t.test("a number opens its runs, and the command gives the number again", async () => {
    const series = data.series[0],
      { runs } = data;
    const row = page.locator("#solvers tbody tr").filter({ has: page.locator("[data-series='0']") });
    await row.locator('[data-column="energy"] button').focus();
    await page.keyboard.press("Enter");
    const dialog = page.locator("dialog[open]");
    assert.ok((await dialog.locator("h2").innerText()).includes(series.label));
    const mine = [...runs.problem.keys()]
      .filter((run) => runs.series[run] === 0 && runs.metrics.energy[run] !== null)
      .sort((a, b) => runs.metrics.energy[b] - runs.metrics.energy[a]);
    const listed = await dialog.locator("li").evaluateAll((all) => all.map((item) => Number(item.dataset.run)));
    assert.deepEqual(
      listed.map((run) => runs.metrics.energy[run]),
      mine.slice(0, 50).map((run) => runs.metrics.energy[run]),
    );
    const run = listed.find((one) => data.problems[runs.problem[one]].file.includes("wall's"));
    const item = dialog.locator(`li[data-run="${run}"]`),
      problem = data.problems[runs.problem[run]];
    assert.ok((await item.innerText()).includes(problem.place));
    const command = await item.locator("[data-command=repeat] code").innerText();
    assert.ok(
      command.startsWith("stickslip solve ") &&
        command.includes(`--frame ${problem.place}`) &&
        command.endsWith("--json"),
    );
    // As it would be typed; only the name of the program is another.
    let printed;
    try {
      printed = execFileSync("sh", ["-c", command.replace(/^stickslip/, '"$PROGRAM"')], {
        encoding: "utf8",
        cwd: dirname(report), // the command may write a trace
        env: { ...process.env, PROGRAM: resolve(program) },
        stdio: ["ignore", "pipe", "pipe"],
      });
    } catch (error) {
      assert.equal(error.status, 1, error.stderr); // 1: the rule was not reached, as in the ledger
      printed = error.stdout;
    }
    assert.ok(
      findEnergies(JSON.parse(printed)).includes(runs.metrics.energy[run]),
      `${command}: ${findEnergies(JSON.parse(printed))} instead of ${runs.metrics.energy[run]}`,
    );
    await item.locator("[data-command=repeat] button.copy").click();
    await item.locator("button.copy", { hasText: "Copied" }).waitFor();
    await page.keyboard.press("Escape");
    assert.equal(await dialog.count(), 0);
    assert.ok(
      await row.locator('[data-column="energy"] button').evaluate((button) => button === document.activeElement),
      "focus returns to the number",
    );
  });

  await t.test("failures open their runs", async () => {
    const kind = page.locator("#failure-list tbody button.number").first();
    const wanted = Number(await kind.innerText());
    await kind.click();
    assert.equal(await page.locator("dialog[open] li").count(), Math.min(50, wanted));
    await page.locator("dialog[open] .close").click();
    const matrix = page.locator("#outcomes .matrix"),
      box = await matrix.boundingBox();
    await matrix.click({ position: { x: box.width - 12, y: 30 } });
    assert.equal(await page.locator("dialog[open] li").count(), 1);
    await page.keyboard.press("Escape");
  });

  await t.test("every figure has a name, a table, an SVG that stands alone", async () => {
    const figures = await page.locator("figure.figure").evaluateAll((all) => all.map((figure) => figure.id));
    assert.ok(figures.length >= 12);
    for (const id of figures) {
      const drawing = page.locator(`#${id} .canvas > svg`);
      assert.equal(await drawing.getAttribute("role"), "img", id);
      assert.ok((await drawing.getAttribute("aria-label")).length > 40, id);
      const { name, text } = await download(page, id, "svg", figures.indexOf(id) % 2 === 0 ? "column" : "page");
      assert.equal(name, `${id}.svg`);
      assert.match(text, figures.indexOf(id) % 2 === 0 ? /<svg width="85mm"/ : /<svg width="175mm"/);
      assert.ok(!/var\(|<script|href=/.test(text), `${id}: the drawing needs the page`);
      const fault = await page.evaluate(
        (xml) =>
          new DOMParser().parseFromString(xml, "image/svg+xml").querySelector("parsererror")?.textContent ?? null,
        text,
      );
      assert.equal(fault, null, id);
    }
    await page.locator("#success-rates .numbers summary").click();
    await page.locator("#success-rates .numbers tbody tr").first().waitFor(); // it is filled after it has opened
    assert.equal(
      await page.locator("#success-rates .numbers tbody tr").count(),
      await page.locator("#success-rates .legend button[aria-pressed=true]").count(),
    );
  });

  await t.test("the tip under the pointer", async () => {
    const mark = page.locator('#performance-profile [data-mark="dot"] path').last();
    await mark.scrollIntoViewIfNeeded();
    const box = await mark.boundingBox();
    await page.mouse.move(box.x + 9, box.y + 9);
    await page.mouse.move(box.x + 1, box.y + 1);
    const tip = page.locator(".tip:not([hidden])");
    await tip.waitFor();
    // All lines at this place, the better ones first.
    assert.match(await tip.locator(".tip-head").innerText(), /^within .* times the best cost$/);
    const shares = (await tip.locator("li b").allInnerTexts()).map(Number.parseFloat);
    assert.equal(shares.length, await page.locator("#performance-profile .legend button[aria-pressed=true]").count());
    assert.deepEqual(
      shares,
      [...shares].sort((a, b) => b - a),
    );
    assert.equal(await tip.locator("li.lit").count(), 1);
    assert.ok((await page.locator("#performance-profile .dim").count()) > 0, "the others step back");
    // A click holds the list, with a button for the runs behind the line: as many as it has solved there.
    await page.mouse.click(box.x + 1, box.y + 1);
    await tip.locator(".tip-open").waitFor();
    const share = Number.parseFloat(await tip.locator("li.lit b").innerText()) / 100;
    await tip.locator(".tip-open").click();
    assert.equal(
      Number.parseInt(await page.locator("dialog.details .read").first().innerText(), 10),
      Math.round(share * data.problems.length),
    );
    await page.keyboard.press("Escape");
    await page.mouse.move(box.x + 1, box.y + 1);
    await page.mouse.move(2, 2);
    await tip.waitFor({ state: "hidden" });
    assert.equal(await page.locator("#performance-profile .dim").count(), 0);
  });

  await t.test("nothing was said on the console, and nothing left the page", () => {
    assert.deepEqual(problems, []);
    assert.deepEqual(requests, []);
  });
});

test("keyboard and screen reader find their way", async (t) => {
  const { page } = await opened(report);
  await page.keyboard.press("Tab");
  assert.equal(await page.evaluate(() => document.activeElement.className), "skip");
  await page.keyboard.press("Enter");
  assert.equal(await page.evaluate(() => document.activeElement.id), "page");
  const seen = new Set();
  for (let i = 0; i < 40; i++) {
    await page.keyboard.press("Tab");
    const here = await page.evaluate(() => {
      const element = document.activeElement,
        style = getComputedStyle(element),
        box = element.getBoundingClientRect();
      element.dataset.seen ??= String(Math.random());
      return {
        key: element.dataset.seen,
        tag: element.tagName,
        outline: style.outlineStyle,
        name: (element.getAttribute("aria-label") ?? element.innerText ?? "") || (element.labels?.[0]?.innerText ?? ""),
        inSight: box.width > 0,
      };
    });
    assert.ok(here.tag !== "BODY" && here.inSight && here.outline !== "none", JSON.stringify(here));
    assert.ok(here.name.trim().length > 0, `nameless ${here.tag}`);
    seen.add(here.key);
  }
  assert.equal(seen.size, 40);
  const levels = await page.locator("h1, h2, h3, h4").evaluateAll((all) => all.map((one) => Number(one.tagName[1])));
  assert.equal(levels[0], 1);
  levels.forEach((level, i) => assert.ok(i === 0 || level <= levels[i - 1] + 1, `heading ${i} skips a level`));
  const unnamed = await page
    .locator("button, select, input")
    .evaluateAll(
      (all) =>
        all.filter(
          (one) => !(one.getAttribute("aria-label") || one.textContent.trim() || one.labels?.[0]?.textContent.trim()),
        ).length,
    );
  assert.equal(unnamed, 0);
  const ids = await page.locator("[id]").evaluateAll((all) => all.map((one) => one.id));
  assert.equal(new Set(ids).size, ids.length);
});

test("methods against the best of others in hindsight have a section, at the tolerance that is chosen", async (t) => {
  const folder = scratch(t),
    file = join(folder, "wall.h5"),
    ledger = join(folder, "results.db"),
    where = join(folder, "report.html");
  stickslip("run", "brick-wall", "--steps", "5", "--record", file, "--every", "2");
  stickslip("bench", file, "-s", "auto,nsgs,psor", "--tol", "1e-2,1e-6", "-o", ledger);
  const { against } = JSON.parse(stickslip("report", ledger, "-o", where, "--against", "auto", "--json"));
  const { page, problems } = await opened(where);
  for (const score of against.scores) {
    await page.locator("#tolerance").selectOption(String(against.scores.indexOf(score)));
    assert.equal(await page.locator("#against tbody tr").count(), score.problems.length);
    const words = await page.locator("#against .read").innerText();
    assert.ok(words.includes(`auto solves ${score.both + score.only} of ${score.problems.length} problem`), words);
    assert.equal(words.includes("geometric mean"), score.both > 0);
    const shown = await page.locator("#against tbody [data-column=ratio]").allInnerTexts();
    score.problems.forEach((row, i) => row.ratio === null || near(Number(shown[i]), row.ratio, "ratio"));
  }
  assert.deepEqual(problems, []);
});

test("answers that were stored in the files stand beside the methods, and judge repeats them", async (t) => {
  const folder = scratch(t),
    file = join(folder, "drop.h5"),
    ledger = join(folder, "results.db"),
    where = join(folder, "report.html");
  stickslip("run", "box-drop", "--steps", "20", "--record", file, "--every", "2");
  stickslip("bench", file, "--recorded", "-s", "nsgs", "-o", ledger);
  const told = JSON.parse(stickslip("report", ledger, "-o", where, "--json"));
  const { page, problems } = await opened(where);
  const [recorded] = told.recorded;
  assert.deepEqual(await page.locator("#recorded tbody [data-column=label]").allInnerTexts(), ["batched-nncg as recorded"]);
  assert.equal(
    (await page.locator("#recorded tbody [data-column=within]").innerText()).trim(),
    `${recorded.within[told.mainTolerance]}/${recorded.tried}`,
  );
  assert.match(
    await page.locator("#recorded tbody [data-column=rules]").innerText(),
    /^cone, gap_term=stabilised gamma=0\.2/,
  );
  assert.deepEqual(await cells(page, "label"), ["nsgs"], "they do not race");

  await page.locator("#recorded tbody [data-column=energy-largest] button").click();
  const code = page.locator("dialog[open] li [data-command=repeat] code").first();
  const run = Number(await page.locator("dialog[open] li").first().getAttribute("data-run"));
  const command = await code.innerText();
  assert.ok(command.startsWith("stickslip judge ") && command.includes("--result batched-nncg"));
  const printed = execFileSync("sh", ["-c", command.replace(/^stickslip/, '"$PROGRAM"')], {
    encoding: "utf8",
    env: { ...process.env, PROGRAM: resolve(program) },
  });
  assert.equal(JSON.parse(printed).answers[0].metrics.energy.value, told.runs.metrics.energy[run]);
  assert.equal(told.runs.metrics.energy[run], recorded.metricMost.energy);
  assert.deepEqual(problems, []);
});

test("dark and light, wide and narrow, screen and paper", async (t) => {
  const { page, problems } = await open(t, report, { colorScheme: "dark", viewport: { width: 700, height: 900 } });
  await settled(page);
  const brightness = (of = "backgroundColor") =>
    page.evaluate((name) => {
      const parts = getComputedStyle(document.body)[name].match(/\d+/g).slice(0, 3).map(Number);
      return (parts[0] + parts[1] + parts[2]) / 3;
    }, of);
  assert.ok((await brightness()) < 60);
  assert.ok((await page.evaluate(() => document.documentElement.scrollWidth)) <= 700, "nothing sticks out at 700 px");
  const pdf = await page.pdf({ preferCSSPageSize: true });
  assert.ok(pdf.length > 50000);
  await page.emulateMedia({ media: "print" });
  assert.ok((await brightness()) > 240 && (await brightness("color")) < 80, "paper is light, ink is dark");
  assert.equal(await page.locator(".bar").isVisible(), false);
  await page.emulateMedia({ media: "screen" });
  await page.locator("button.theme").click();
  assert.ok((await brightness()) > 200);
  assert.deepEqual(problems, []);
});

test("the policy lets only the page's own script run", async (t) => {
  const { page, problems } = await opened(report);
  const policy = await page.locator("meta[http-equiv=Content-Security-Policy]").getAttribute("content");
  for (const part of ["default-src 'none'", "script-src 'sha256-", "connect-src 'none'", "form-action 'none'"])
    assert.ok(policy.includes(part), part);
  const ran = await page.evaluate(() => {
    const script = document.createElement("script");
    script.textContent = "document.title = 'ran'";
    document.body.append(script);
    return document.title;
  });
  assert.notEqual(ran, "ran");
  assert.ok(problems.some((text) => /Content Security Policy/.test(text)));
});
