// The report in Chromium: links land, the state of the page is in its address, figures and tables leave it whole, and everyone can
// use it.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { after, before, test } from "node:test";
import { pathToFileURL } from "node:url";
import { complaints, program, scratch, stickslip } from "./browser.mjs";
import { campaign, cells, choose, clean, copy, download, opened, pageWith, settled } from "./report_kit.mjs";

let report, data;
before(() => ({ report, data } = campaign()));
after(clean);

/** Where the top of an element is in the window, once it stays there. */
async function top(page, id) {
  await settled(page);
  return page.evaluate(
    (name) =>
      new Promise((done) => {
        let last = NaN;
        const look = () => {
          const now = document.getElementById(name).getBoundingClientRect().top;
          if (now === last) done(now);
          else {
            last = now;
            requestAnimationFrame(() => requestAnimationFrame(look));
          }
        };
        look();
      }),
    id,
  );
}
const inAddress = (page, part) => page.waitForFunction((text) => location.hash.includes(text), part);

test("links land, though figures are drawn when they come into view", async (t) => {
  for (const id of ["scaling", "failure-list"]) {
    const { page } = await opened(report, `#${id}`);
    const y = await top(page, id);
    assert.ok(y > 0 && y < 130, `${id} opens at ${y}`);
  }
  const { page } = await opened(report);
  await page.locator(".contents a", { hasText: "Size and difficulty" }).click();
  await inAddress(page, "#size");
  const y = await top(page, "size");
  assert.ok(y > 0 && y < 130, `a click leads to ${y}`);
  assert.ok(
    await page.evaluate(() => document.getElementById("size").contains(document.activeElement)),
    "the keyboard goes along",
  );
  // Every title has a link of its own, to an element that exists.
  const anchors = await page
    .locator("a.anchor")
    .evaluateAll((all) =>
      all.map((link) => [
        link.getAttribute("href"),
        document.getElementById(link.getAttribute("href").slice(1)) !== null,
      ]),
    );
  assert.ok(anchors.length >= 24);
  assert.deepEqual(
    anchors.filter(([, exists]) => !exists),
    [],
  );
});

test("the whole state is in the address, and comes back from it", async (t) => {
  const { page, problems } = await opened(report);
  const other = data.tolerances.length - 1,
    wanted = data.series[2].label;
  await page.selectOption("#tolerance", String(other));
  await page.locator('#performance-profile .legend button[data-series="1"]').click();
  await page.fill("#solver-filter", "cone");
  await choose(page, "solvers.errors", "metricMost");
  await page.locator('#solvers th[data-column="cost"] button').click();
  await page.locator('#solvers th[data-column="cost"] button').click();
  await choose(page, "outcomes.colour", "error");
  await choose(page, "convergence.method", "2");
  await page.locator("#contact-states .legend button").last().click();
  await inAddress(page, "contact-states.hide=open");
  const seen = async (from) => {
    await settled(from);
    return {
      tolerance: await from.locator("#tolerance").inputValue(),
      shown: await from.locator("#performance-profile .legend button[aria-pressed=true]").allInnerTexts(),
      rows: await cells(from, "label"),
      sort: await from.locator('#solvers th[data-column="cost"]').getAttribute("aria-sort"),
      creep: await from.locator('#solvers th[data-column="creep"]').count(),
      colour: await from.locator('[data-menu="outcomes.colour"]').inputValue(),
      method: await from.locator('[data-menu="convergence.method"]').inputValue(),
      hidden: await from.locator("#contact-states .legend button[aria-pressed=false]").allInnerTexts(),
      answer: await from.locator(".answer").innerText(),
    };
  };
  const before = await seen(page),
    address = await page.evaluate(() => location.hash);
  assert.equal(before.tolerance, String(other));
  assert.ok(before.rows.length > 0 && before.rows.length < data.series.length);
  assert.deepEqual([before.sort, before.creep, before.hidden], ["descending", 1, ["open"]]);
  for (const part of [
    `tolerance=${data.tolerances[other]}`,
    "solvers.sort=-cost",
    "solvers.filter=cone",
    wanted.replaceAll(" ", "+"),
  ])
    assert.ok(address.includes(part), `${part} in ${address}`);

  await t.test("in a new window", async () => {
    await opened(report, address);
    assert.deepEqual(await seen(page), before);
    assert.equal(await page.evaluate(() => location.hash), address);
  });
  await t.test("back and forward", async () => {
    await page.selectOption("#tolerance", "0");
    await inAddress(page, `tolerance=${data.tolerances[0]}`);
    await page.locator("#solvers tbody [data-column=solved] button").first().click();
    await page.locator("dialog.details").waitFor();
    await inAddress(page, "run=");
    await page.goBack();
    await page.locator("dialog.details").waitFor({ state: "detached" });
    assert.equal(await page.locator("#tolerance").inputValue(), "0");
    await page.goBack();
    await page.waitForFunction((value) => document.getElementById("tolerance").value === value, String(other));
    assert.deepEqual(await seen(page), before);
    await page.goForward();
    await page.waitForFunction(() => document.getElementById("tolerance").value === "0");
  });
  await t.test("undoing a choice leaves the reader where they are", async () => {
    await opened(report, "#cost");
    await page.evaluate(() => scrollTo(0, 0));
    await page.selectOption("#tolerance", "0");
    await inAddress(page, `tolerance=${data.tolerances[0]}`);
    await page.goBack();
    await page.waitForFunction(
      (value) => document.getElementById("tolerance").value === value,
      String(data.mainTolerance),
    );
    await settled(page);
    assert.ok((await page.evaluate(() => scrollY)) < 100);
  });
  await t.test("an open run", async () => {
    await opened(report, "#outcomes&run=energy:3,5-6");
    const runs = page.locator("dialog.details .runs > li");
    assert.deepEqual((await runs.evaluateAll((all) => all.map((one) => Number(one.dataset.run)))).sort(), [3, 5, 6]);
    await page.keyboard.press("Escape");
    await page.locator("dialog.details").waitFor({ state: "detached" });
    await page.waitForFunction(() => !location.hash.includes("run="));
  });
  await t.test("nonsense is ignored", async () => {
    await opened(
      report,
      "#nowhere&tolerance=7&show=%E0%A4%A&run=99999,x&solvers.sort=-nothing&bpmd.scene=gone&=1&a.b=c",
    );
    assert.equal(await page.locator("#tolerance").inputValue(), String(data.mainTolerance));
    assert.equal(await page.locator("dialog[open]").count(), 0);
    assert.equal((await cells(page, "label")).length, data.series.length);
  });
  assert.deepEqual(problems, []);
});

test("figures leave the page with title, legend and source, in light colours", async (t) => {
  const { page, problems } = await opened(report);
  await page.emulateMedia({ colorScheme: "dark" });
  t.after(() => page.emulateMedia({ colorScheme: null }));
  await page.waitForSelector('html[data-theme="dark"]'); // the page hears of it a little later
  const texts = (xml) =>
    page.evaluate(
      (text) =>
        [...new DOMParser().parseFromString(text, "image/svg+xml").querySelectorAll("text")].map(
          (one) => one.textContent,
        ),
      xml,
    );
  const shown = data.series.slice(0, 8).map((one) => one.label);
  const profile = (await download(page, "performance-profile", "svg", "column")).text;
  const words = await texts(profile);
  for (const word of ["Performance profile", ...shown, "100 %"]) assert.ok(words.includes(word), `${word} in ${words}`);
  assert.ok(
    words.some((word) => /Dolan and Mor\u00e9/.test(word)) && words.some((word) => word.includes("Walls & slopes")),
  );
  assert.match(profile, /<rect width="100%" height="100%" fill="#ffffff"\/>/);
  assert.match(profile, /<svg width="85mm"[^>]* height="[\d.]+mm" viewBox="0 0 380 /);
  const outcomes = await texts((await download(page, "outcomes", "svg", "page")).text);
  for (const word of ["Outcome of every run", "solved", "max iterations", data.problems[0].scene])
    assert.ok(outcomes.includes(word), `${word} in ${outcomes}`);

  // What is hidden on the page is not on paper either.
  await page.locator('#performance-profile .legend button[data-series="1"]').click();
  await settled(page);
  assert.ok(!(await texts((await download(page, "performance-profile", "svg", "page")).text)).includes(shown[1]));

  const { name, bytes } = await download(page, "budget-error", "png", "column");
  assert.equal(name, "budget-error.png");
  assert.deepEqual([...bytes.subarray(0, 8)], [137, 80, 78, 71, 13, 10, 26, 10]);
  assert.equal(bytes.readUInt32BE(16), Math.round((85 / 25.4) * 300), "300 dots per inch");
  assert.deepEqual(problems, []);
});

test("tables leave the page for LaTeX, Markdown and spreadsheets", async (t) => {
  const changed = copy();
  changed.series[0].label = "50 % of_x & {y}|#1\\";
  const { page } = await opened(pageWith(t, changed));
  const { name, text } = await download(page, "solvers", "tex");
  assert.equal(name, "solvers.tex");
  assert.match(text, /\\begin\{tabular\}\{@\{\}lrlr+@\{\}\}\n {2}\\toprule\n {3}& \\multicolumn\{2\}\{c\}\{Success\}/);
  assert.ok(text.includes("50 \\% of\\_x \\& \\{y\\}$|$\\#1\\textbackslash{}"), text);
  const rows = text.split("\\midrule\n")[1].split("  \\bottomrule")[0].trim().split("\n");
  assert.equal(rows.length, data.series.length, "all rows, not only those in sight");
  const width = (row) => row.replaceAll("\\&", "").split("&").length;
  assert.deepEqual(new Set(rows.map(width)), new Set([width(text.split("\n")[6])]));
  assert.ok(rows.every((row) => row.endsWith("\\\\")));
  assert.ok(/\\times10\^\{-\d+\}/.test(text));
  // Failures are counted, whatever their kinds.
  const [first] = data.series.filter((series) => series.scores[data.mainTolerance].failed > 0),
    score = first.scores[data.mainTolerance],
    cell = rows.find((row) => row.trim().split(" & ")[0] === first.label.replaceAll("_", "\\_")).split(" & ")[2];
  assert.equal(cell, score.refused > 0 ? `${score.failed} (${score.refused} n/a)` : String(score.failed));

  const markdown = (await download(page, "solvers", "md")).text.trim().split("\n");
  assert.equal(markdown.length, data.series.length + 2);
  assert.match(markdown[1], /^\| --- \| ---: \| --- \|/);
  assert.ok(markdown[2].includes("50 % of\\_x & {y}\\|#1\\\\"));
  for (const id of ["scenes", "problems", "success-rates"]) {
    assert.ok((await download(page, id, "tex")).text.includes("\\bottomrule"), id);
    assert.ok((await download(page, id, "csv")).text.includes("\r\n"), id);
  }
  // Every formula ends.
  assert.deepEqual(
    rows.filter((row) => (row.match(/(?<!\\)\$/g) ?? []).length % 2 === 1),
    [],
  );
});

test("a run can be watched", async (t) => {
  const { page, problems } = await opened(report);
  await page.locator("#solvers tbody [data-column=solved] button").first().click();
  const item = page.locator("dialog[open] li").first();
  const command = await item.locator("[data-command=watch] code").innerText();
  assert.ok(command.includes(" --time-limit 30.3 "), `numbers are as short as they read back in ${command}`);
  const folder = scratch(t);
  execFileSync("sh", ["-c", command.replaceAll(/(^|; )stickslip/g, '$1"$PROGRAM"')], {
    cwd: folder,
    env: { ...process.env, PROGRAM: resolve(program) },
    stdio: ["ignore", "ignore", "pipe"],
  });
  assert.match(readFileSync(join(folder, "watch.html"), "utf8"), /stickslip replay|<canvas|id="replay"/);
  assert.equal(await item.locator("a.replay").count(), 0, "no link where there is no replay");
  await page.keyboard.press("Escape");

  // Replays that lie beside the report are linked to, at frame, solver and contact.
  const joined = copy(),
    run = [...joined.runs.problem.keys()].find((one) => joined.runs.worst[joined.measure][one] !== null),
    problem = joined.problems[joined.runs.problem[run]],
    method = joined.methods[joined.runs.method[run]];
  joined.replays = Object.fromEntries(joined.problems.map(({ file }) => [file, "replays/the%20wall.html"]));
  await opened(pageWith(t, joined), `#run=${run}`);
  const link = await page.locator("dialog[open] a.replay").getAttribute("href");
  assert.equal(
    link,
    `replays/the%20wall.html#frame=${problem.index + 1}&path=${problem.place}&solver=${method.solver}&contact=${joined.runs.worst[joined.measure][run]}`,
  );
  // Followed to its end: a replay of this file by this solver opens there.
  const answers = join(folder, "answers.h5"),
    replay = join(folder, "replay.html");
  try {
    stickslip("solve", problem.file, "-s", method.solver, "--iterations", "20", "-o", answers);
  } catch (error) {
    assert.equal(error.status, 1, error.stderr); // 1: some frames missed the stop rule
  }
  stickslip("view", answers, "-o", replay);
  joined.replays[problem.file] = pathToFileURL(replay).pathname;
  await opened(pageWith(t, joined), `#run=${run}`);
  await page.locator("dialog[open] a.replay").click();
  await page.waitForFunction(() => window.stickslip?.ready);
  const there = await page.evaluate(() => ({
    ...window.stickslip.selection,
    frame: window.stickslip.frame,
    solvers: window.stickslip.solvers,
  }));
  assert.equal(there.frame, problem.index);
  assert.deepEqual(there.solvers.slice(0, 1), [method.solver]);
  assert.deepEqual(
    [there.kind, there.index],
    ["contact", joined.runs.worst[joined.measure][run]],
    JSON.stringify(there),
  );
  joined.replays[problem.file] = "javascript:alert(1)";
  await opened(pageWith(t, joined), `#run=${run}`);
  assert.equal(await page.locator("dialog[open] a.replay").count(), 0);
  assert.deepEqual(problems, []);
});

test("the matrix shows outcome, error, cost and iterations, and one scene alone", async (t) => {
  const { page, problems } = await opened(report, "#outcomes");
  const matrix = page.locator("#outcomes .matrix");
  for (const by of ["error", "cost", "iterations", "outcome"]) {
    await choose(page, "outcomes.colour", by);
    await settled(page);
    assert.equal(await page.locator("#outcomes .legend").isVisible(), by === "outcome");
    assert.equal((await matrix.innerHTML()).includes("var(--h0)"), by !== "outcome", by);
  }
  const box = await matrix.boundingBox();
  await page.mouse.move(box.x + box.width - 14, box.y + 34);
  await page.mouse.move(box.x + box.width - 12, box.y + 30);
  const tip = page.locator(".tip:not([hidden])");
  await tip.waitFor();
  assert.match(await tip.innerText(), /relative energy error .*\ncost .*\niterations \d+/);
  const named = async () => {
    // shortened to eleven letters, in the middle
    const cut = (name) => (name.length <= 11 ? name : `${name.slice(0, 5)}\u2026${name.slice(-5)}`);
    const words = await page.locator("#outcomes .matrix text").allTextContents();
    return data.scenes.map(({ name }) => name).filter((name) => words.includes(cut(name)));
  };
  assert.equal((await named()).length, 2);
  await choose(page, "outcomes.scene", data.scenes[1].name);
  await settled(page);
  assert.deepEqual(await named(), [data.scenes[1].name]);
  await choose(page, "outcomes.scene", "");
  assert.deepEqual(problems, []);
});

/** Forty-eight methods: the series again under other names. */
function many() {
  const big = copy(),
    size = data.runs.problem.length,
    times = Math.ceil(48 / data.series.length);
  big.series = Array.from({ length: 48 }, (_, i) => ({
    ...data.series[i % data.series.length],
    label: `${data.series[i % data.series.length].label} ${i}`,
  }));
  const rows = Array.from({ length: times * size }, (_, i) => i).filter(
    (i) => data.runs.series[i % size] + Math.floor(i / size) * data.series.length < 48,
  );
  for (const [key, column] of Object.entries(data.runs)) {
    if (key === "cost") big.runs.cost = column.map((one) => rows.map((row) => one[row % size]));
    else if (key === "metrics" || key === "worst")
      for (const metric of Object.keys(column)) big.runs[key][metric] = rows.map((row) => column[metric][row % size]);
    else big.runs[key] = rows.map((row) => column[row % size]);
  }
  big.runs.series = rows.map((row) => data.runs.series[row % size] + Math.floor(row / size) * data.series.length);
  return big;
}

test("48 methods: a short table, names at the ends of lines, a drawer to choose from", async (t) => {
  const big = many();
  const { page, problems } = await opened(pageWith(t, big));
  const visible = () => page.locator("#solvers tbody tr:visible").count();
  assert.equal(await visible(), 12);
  await page.locator("#solvers .more-rows").click();
  assert.equal(await visible(), 48);
  await inAddress(page, "solvers.rows=all");
  assert.equal(await page.locator("#solvers thead").evaluate((head) => getComputedStyle(head).position), "sticky");
  await page.locator("#performance-profile .legend button", { hasText: /40 more/ }).click();
  const drawer = page.locator("dialog.drawer");
  await drawer.locator("button", { hasText: /^All$/ }).click();
  await drawer.locator(".close").click();
  await settled(page);
  const lines = page.locator('#performance-profile [data-mark="line"]');
  assert.equal(await lines.count(), 48);
  assert.equal(
    await page.locator("#performance-profile .legend button[data-series]:visible").count(),
    12,
    "the legend stays short",
  );
  // As many names as fit, none over another.
  const ys = await page
    .locator("#performance-profile .end-name")
    .evaluateAll((all) => all.map((one) => Number(one.getAttribute("y"))).sort((a, b) => a - b));
  assert.ok(ys.length >= 12 && ys.length < 48, `${ys.length} names`);
  ys.forEach((y, i) => assert.ok(i === 0 || y - ys[i - 1] > 11, `${y} after ${ys[i - 1]}`));
  assert.ok((await page.evaluate(() => document.documentElement.scrollWidth)) <= 1280);
  assert.deepEqual(problems, []);
});

test("labels that differ stay different where they are cut", async (t) => {
  const big = many();
  big.series.forEach((series, i) => (series.label = `cone/interior-point (stop=relative_energy<1e-${i})`));
  const { page, problems } = await opened(pageWith(t, big), "#performance-profile");
  await page.locator("#performance-profile .end-name").first().waitFor();
  const words = await page.locator("#performance-profile .end-name").allTextContents();
  assert.ok(words.length >= 6 && words.every((word) => word.includes("\u2026")), words.join(", "));
  assert.equal(new Set(words).size, words.length, words.join(", "));
  assert.deepEqual(problems, []);
});

test("a phone", async (t) => {
  const { page, problems } = await opened(report);
  await page.setViewportSize({ width: 390, height: 844 });
  t.after(() => page.setViewportSize({ width: 1280, height: 900 }));
  await opened(report);
  assert.ok((await page.evaluate(() => document.documentElement.scrollWidth)) <= 390, "nothing sticks out");
  const select = await page.locator("#tolerance").boundingBox();
  assert.ok(select.width >= 60, "the tolerance can be read");
  // Words are not cut into letters, and labels of axes do not run into each other.
  const overlaps = await page.evaluate(() =>
    [...document.querySelectorAll('.canvas [data-mark="x-axis tick label"]')].flatMap((axis) => {
      const boxes = [...axis.querySelectorAll("text")]
        .filter((text) => text.textContent)
        .map((text) => text.getBoundingClientRect());
      const sorted = boxes.sort((a, b) => a.left - b.left);
      return sorted.some((box, i) => i > 0 && box.left < sorted[i - 1].right) ? [axis.closest("figure").id] : [];
    }),
  );
  assert.deepEqual(overlaps, []);
  assert.deepEqual(await complaints(page), []);
  assert.deepEqual(problems, []);
});

test("axe finds nothing", async (t) => {
  const { page } = await opened(report);
  await page.locator("#solvers tbody [data-column=solved] button").first().click();
  await page.locator("dialog.details").waitFor();
  assert.deepEqual(await complaints(page, "dialog"), [], "in an open run");
  await page.keyboard.press("Escape");
  await page.locator("#performance-profile .legend button", { hasText: /more/ }).click();
  assert.deepEqual(await complaints(page, "dialog"), [], "in the drawer");
  await page.keyboard.press("Escape");
  // In light colours the phone was looked at.
  await page.locator("button.theme").click();
  await page.locator("#bpmd details.save").evaluate((menu) => (menu.open = true));
  assert.deepEqual(await complaints(page), [], "in the dark");
  await page.locator("button.theme").click();
});
