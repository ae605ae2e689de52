// The report in Chromium: its numbers are the ledger's, whatever the ledger holds.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { after, before, test } from "node:test";
import {
  campaign,
  choose,
  clean,
  cells,
  copy,
  download,
  near,
  numbers,
  of,
  opened,
  pageWith,
  settled,
  value,
} from "./report_kit.mjs";

let report, data;
before(() => ({ report, data } = campaign()));
after(clean);

test("a report that was deflated is the same page", async (t) => {
  const { page, problems } = await opened(pageWith(t, copy(), true));
  assert.equal(await page.locator("h1").innerText(), "Walls & slopes");
  const text = await page.locator("#page").innerText();
  assert.equal(text, await (await opened(pageWith(t, copy()))).page.locator("#page").innerText());
  assert.deepEqual(problems, []);
});

test("the page shows the ledger's numbers", async (t) => {
  const { page, problems, requests } = await opened(report);

  await t.test("it holds exactly what the program prints", async () => {
    assert.ok(
      data.runs.problem.length >= 40 && data.series.length > 8,
      `${data.runs.problem.length} runs, ${data.series.length} series`,
    );
    assert.deepEqual(JSON.parse(await page.locator("#report").evaluate((node) => node.textContent)), data);
    assert.equal(await page.locator("h1").innerText(), "Walls & slopes");
    for (const machine of data.machines)
      assert.ok((await page.locator(".provenance").innerText()).includes(machine.cpu));
  });

  await t.test("the summary gives advice and counts", async () => {
    // The program writes for terminals; the page has other letters for powers, prefixes and the minus sign.
    const plain = (text) => text.trim().replace(/\s+/g, " ").replaceAll("10\u207b\u2074", "0.0001").replaceAll("\u00b5s", "us")
      .replaceAll("\u2212", "-").replace(/e-0(?=\d)/g, "e-");
    assert.equal(plain(await page.locator(".advice").innerText()), plain(data.advice[data.mainTolerance].text));
    const card = page.locator("[data-advice='Use this']"),
      best = data.series[data.advice[data.mainTolerance].series],
      score = best.scores[data.mainTolerance];
    assert.equal((await card.locator(".card-name").innerText()).trim(), best.label);
    assert.deepEqual(
      await card.locator("button.number").first().innerText(),
      `${score.solved} of ${data.problems.length}`,
    );
    near(value(await card.locator("button.number").nth(1).innerText()), score.costSolved, "cost on the card");
    const refused = data.outcomes.indexOf("not applicable");
    const failures = data.runs.outcome.filter(
      (outcome, run) => data.runs.cost[data.mainTolerance][run] === null && outcome !== refused,
    ).length;
    const figures = await page.locator(".key-figures dd:not(.detail)").allInnerTexts();
    assert.deepEqual(
      figures.map((text) => Number(text.replace(/\D/g, ""))),
      [data.problems.length, data.methods.length, data.runs.problem.length, failures],
    );
  });

  await t.test("every line about failures is shown with its methods", async () => {
    const shown = (await page.locator("#why").innerText()).replace(/\s+/g, " ");
    const lines = data.series.filter((series) => series.scores[data.mainTolerance].why);
    assert.equal(await page.locator("#why").isVisible(), lines.length > 0);
    for (const { label, scores } of lines)
      assert.ok(shown.includes(label) && shown.includes(scores[data.mainTolerance].why), `${label} in: ${shown}`);
  });

  await t.test("every scene has its best", async () => {
    assert.equal(data.scenes.length, 2);
    for (const scene of data.scenes) {
      const best = scene.best[data.mainTolerance],
        first = scene.first[data.mainTolerance];
      const row = page.locator("#scenes tbody tr", { has: page.locator("th", { hasText: scene.name }) });
      const texts = (await row.locator("th, td").allInnerTexts()).map((text) => text.trim());
      assert.deepEqual(
        [texts[0], texts[1], texts[2], texts[4]],
        [
          scene.name,
          data.series[best.series].label,
          `${best.solved}/${scene.problems}`,
          `${first.solved}/${scene.problems}`,
        ],
      );
      near(value(texts[3]), best.costSolved, `cost in ${scene.name}`);
      await row.locator("button.number").first().click();
      assert.equal(await page.locator("dialog .runs > li").count(), scene.problems);
      await page.keyboard.press("Escape");
    }
  });

  async function checkTable(tolerance) {
    await choose(page, "solvers.errors", "metricMedian");
    const labels = await cells(page, "label"),
      solved = await cells(page, "solved"),
      cost = await cells(page, "cost"),
      factor = await cells(page, "factor");
    const energy = await cells(page, "energy"),
      most = await cells(page, "energy-most"),
      creep = await cells(page, "creep");
    assert.deepEqual([...labels].sort(), data.series.map((one) => one.label).sort());
    labels.forEach((label, i) => {
      const series = data.series.find((one) => one.label === label),
        score = series.scores[tolerance];
      assert.equal(solved[i].trim(), `${score.solved}/${data.problems.length}`, label);
      near(value(cost[i].replace(/ on \d+$/, "")), score.costSolved, `cost of ${label}`);
      assert.equal(/ on \d+$/.test(cost[i]), score.solved > 0 && score.solved < score.common, `${label}: ${cost[i]}`);
      near(value(factor[i]), score.versus.factor, `factor of ${label}`);
      near(value(energy[i]), series.metricMedian.energy, `energy of ${label}`);
      near(value(most[i]), series.metricMost.energy, `largest energy of ${label}`);
      near(value(creep[i]), series.metricMedian.creep, `creep of ${label}`);
    });
    return labels;
  }

  await t.test("the table of solvers, best first", async () => {
    assert.deepEqual(
      await checkTable(data.mainTolerance),
      data.series.map((one) => one.label),
    );
  });

  await t.test("another tolerance changes table and figures", async () => {
    const other = data.tolerances.length - 1;
    await page.selectOption("#tolerance", String(other));
    await settled(page);
    await checkTable(other);
    const rows = await numbers(page, "performance-profile");
    for (const series of data.series.slice(0, 8))
      assert.deepEqual(
        of(rows, series).map((row) => row["cost over best"]),
        series.scores[other].profile.x,
      );
    await page.selectOption("#tolerance", String(data.mainTolerance));
    await settled(page);
  });

  await t.test("every figure's CSV holds its numbers, all digits", async () => {
    const main = data.mainTolerance,
      shown = data.series.slice(0, 8);
    const profile = await numbers(page, "performance-profile"),
      effort = await numbers(page, "data-profile"),
      precision = await numbers(page, "work-precision");
    const budget = await numbers(page, "budget-error"),
      rates = await numbers(page, "success-rates"),
      states = await numbers(page, "contact-states"),
      errors = await numbers(page, "contact-errors"),
      marks = await numbers(page, "scaling");
    for (const series of shown) {
      const score = series.scores[main];
      assert.deepEqual(
        of(profile, series).map((row) => row["fraction of problems"]),
        score.profile.y,
      );
      assert.deepEqual(
        of(effort, series).map((row) => row["seconds per unknown"]),
        score.perUnknown.x,
      );
      assert.deepEqual(
        of(precision, series).map((row) => row["time [s], shifted geometric mean, unsolved penalised"]),
        series.scores.map((one) => one.work.mean),
      );
      assert.deepEqual(
        of(budget, series).map((row) => row["relative energy error, median"]),
        series.budgets.map((one) => one.median),
      );
      const [rate] = of(rates, series);
      assert.deepEqual(
        [rate.solved, rate["not solved"], rate.low, rate.high],
        [score.solved, score.failed, score.low, score.high],
      );
      assert.equal(of(states, series)[0].sticking, series.contacts.sticking);
      assert.deepEqual(
        of(errors, series).map((row) => row.contacts),
        series.bins.map((one) => one.count),
      );
      const costs = data.runs.cost[main].filter(
        (cost, run) => cost !== null && data.series[data.runs.series[run]] === series,
      );
      assert.deepEqual(
        of(marks, series).map((row) => row["cost [s]"]),
        costs,
      );
    }
    await choose(page, "convergence.error", "natural_map");
    // The largest scene at first; all together have no gauge but the relative energy.
    for (const [place, gauge] of [
      [1, "natural_map"],
      [0, "relative_energy"],
      [2, "natural_map"],
    ]) {
      if (place !== 1) await choose(page, "convergence.scene", String(place));
      await settled(page);
      const rows = of(await numbers(page, "convergence"), data.series[0]),
        band = data.series[0].bands[place].gauges[gauge];
      assert.deepEqual(
        rows.map((row) => [row.iteration, row.mean, row["standard deviation"], row["95 % quantile"]]),
        band.iteration.map((iteration, i) => [iteration, band.mean[i], band.deviation[i], band.high[i]]),
      );
    }
    const unknown = data.series.slice(0, 8).filter((series) => !series.followed);
    const note = await page.locator("#work-precision .note").innerText();
    for (const series of unknown)
      assert.ok(note.includes(series.label.slice(0, 23)), `${series.label} in: ${note}`);
    assert.equal((await numbers(page, "outcomes")).length, data.runs.problem.length);
  });

  await t.test("two solvers alone: the profile of the pair", async () => {
    const pair = data.pairs[data.mainTolerance].find((one) => one.a === 0 && one.b === 1);
    const rows = of(await numbers(page, "pairwise-profile"), data.series[0]),
      total = pair.both + pair.onlyA + pair.onlyB + pair.neither;
    const slowest = Math.max(0, ...pair.ratio);
    assert.equal(rows.at(-1)["fraction of problems"], (pair.onlyA + pair.both) / total);
    assert.ok(Math.abs(Math.log2(rows.at(-1)["cost over the better one"]) - slowest) < 1e-12);
    assert.equal(rows[0]["fraction of problems"], (pair.onlyA + pair.ratio.filter((ratio) => ratio <= 0).length) / total);
  });

  await t.test("the figure of frames counts contacts by state", async () => {
    const scene = data.problems[0].scene;
    await choose(page, "bpmd.scene", scene);
    await choose(page, "bpmd.method", "0");
    await settled(page);
    await choose(page, "bpmd.beside", "-1");
    await settled(page);
    const rows = await numbers(page, "bpmd"),
      { runs } = data;
    const mine = [...runs.problem.keys()].filter(
      (run) => runs.series[run] === 0 && data.problems[runs.problem[run]].scene === scene,
    );
    assert.deepEqual(
      rows.map((row) => [row.sliding + row["driving friction"], row.sticking, row["creep [m/s]"]]),
      mine.map((run) => [runs.metrics.sliding[run], runs.metrics.sticking[run], runs.metrics.creep[run]]),
    );
    // Heights of bars are counts: pixels per contact are the same everywhere.
    const bars = await page
      .locator('#bpmd [data-mark="rect"] rect')
      .evaluateAll((all) => all.map((bar) => Number(bar.getAttribute("height"))));
    const counts = mine.flatMap((run) => [
      runs.metrics.anomalous_contacts[run] ?? 0,
      runs.metrics.sliding[run] - (runs.metrics.anomalous_contacts[run] ?? 0),
      runs.metrics.sticking[run],
    ]);
    const scale = Math.max(...bars) / Math.max(...counts);
    const drawn = bars
      .filter((height) => height > 0.01)
      .map((height) => Math.round(height / scale))
      .sort((a, b) => a - b);
    assert.deepEqual(
      drawn,
      counts.filter((count) => count > 0).sort((a, b) => a - b),
    );
  });

  await t.test("a line ends where its number is", async () => {
    const ends = await page.locator("#performance-profile").evaluate((figure) => {
      const ticks = [...figure.querySelectorAll('[data-mark="y-axis tick label"] text')].map((text) => [
        text.textContent,
        Number(/translate\([^,]+,([\d.]+)\)/.exec(text.getAttribute("transform"))[1]),
      ]);
      const zero = ticks.find(([text]) => text === "0 %")[1],
        full = ticks.find(([text]) => text === "100 %")[1];
      return [...figure.querySelectorAll('[data-mark="line"] path')].map(
        (path) =>
          (zero -
            Number(
              path
                .getAttribute("d")
                .match(/-?[\d.]+/g)
                .at(-1),
            )) /
          (zero - full),
      );
    });
    const exact = data.series.slice(0, 8).map((series) => series.scores[data.mainTolerance].profile.y.at(-1) ?? 0);
    assert.equal(ends.length, exact.length);
    ends.forEach((end, i) =>
      assert.ok(Math.abs(end - exact[i]) < 0.01, `series ${i} ends at ${end} instead of ${exact[i]}`),
    );
  });

  await t.test("nothing was said on the console, and nothing left the page", () => {
    assert.deepEqual(problems, []);
    assert.deepEqual(requests, []);
  });
});

test("files and frames that cannot be used are shown as failures are", async (t) => {
  const changed = copy();
  changed.problems.push({ ...changed.problems[0], file: "gone.h5", place: "/", format: "", index: -1, fault: "no such file" });
  const { page, problems } = await opened(pageWith(t, changed));
  assert.deepEqual(await page.locator("#faults tbody td").allInnerTexts(), ["gone.h5", "the whole file", "no such file"]);
  assert.match(await page.locator("[data-figure=problems]").innerText(), /1 more cannot be used/);
  assert.deepEqual(problems, []);
});

test("text of strangers stays text", async (t) => {
  const bad = copy();
  const image = `<img src=x onerror="document.title='broken in'"></script><script>document.title='broken in'</script>`;
  bad.title = image;
  bad.advice.text = image;
  bad.campaign = image;
  bad.series[0].label = image;
  bad.series[1].label = "x".repeat(400);
  bad.series[2].label = "\u05e9\u05dc\u05d5\u05dd \u202eevil";
  bad.series[3].label = `=HYPERLINK("http://example.org")`;
  for (const problem of bad.problems)
    Object.assign(problem, { scene: `<b>${problem.scene}`, file: `-a'b"c $(touch x) \`y\`.h5` });
  bad.runs.message = bad.runs.message.map(() => `<svg onload="document.title='broken in'">`);
  bad.machines[0].cpu = image;
  const { page, problems, requests } = await opened(pageWith(t, bad));
  await page.locator('#solvers tbody [data-column="solved"] button').first().click();
  const command = await page.locator("dialog[open] code").first().innerText();
  const words = execFileSync("sh", ["-c", `set -- ${command.slice(command.indexOf("solve"))}; printf '%s\\n' "$2"`], {
    encoding: "utf8",
  });
  assert.equal(words, `./${bad.problems[0].file}\n`);
  await page.keyboard.press("Escape");
  assert.ok((await page.title()).startsWith("<img src=x"));
  assert.equal(await page.locator("img, main b, main script, svg[onload]").count(), 0);
  assert.equal(await page.locator("h1").innerText(), image);
  assert.ok(
    (await page.evaluate(() => document.documentElement.scrollWidth)) <= 1280,
    "long labels do not widen the page",
  );
  const table = (await download(page, "success-rates", "csv")).text;
  assert.ok(table.includes(`"'=HYPERLINK(""http`), "a spreadsheet must not run a label");
  assert.deepEqual([problems, requests], [[], []]);
});

test("little, nothing, only failures, one frame", async (t) => {
  const keepRuns = (from, wanted) => {
    const kept = [...from.runs.problem.keys()].filter(wanted),
      pick = (column) => kept.map((run) => column[run]);
    for (const [name, column] of Object.entries(from.runs)) {
      if (name === "cost") from.runs.cost = column.map(pick);
      else if (name === "metrics" || name === "worst")
        for (const metric of Object.keys(column)) column[metric] = pick(column[metric]);
      else from.runs[name] = pick(column);
    }
  };
  const nothing = copy();
  keepRuns(nothing, () => false);
  Object.assign(nothing, {
    unsolved: nothing.tolerances.map(() => []),
    series: [],
    pairs: nothing.tolerances.map(() => []),
    scenes: [],
    machines: [],
    ledgers: [],
    campaign: null,
    advice: nothing.tolerances.map(() => ({ series: null, reliable: false, fastest: null, mostAccurate: null, text: "" })),
  });
  const one = copy();
  keepRuns(one, (run) => run === 0);
  one.runs.series = [0];
  Object.assign(one, {
    unsolved: one.tolerances.map(() => []),
    problems: one.problems.slice(0, 1),
    series: [one.series[data.runs.series[0]]],
    methods: one.methods.slice(0, data.runs.method[0] + 1),
    pairs: one.tolerances.map(() => []),
    scenes: [],
    advice: one.tolerances.map(() => ({ series: 0, reliable: true, fastest: 0, mostAccurate: 0, text: "One." })),
  });
  const failed = copy();
  failed.runs.outcome = failed.runs.outcome.map((_, run) =>
    failed.outcomes.indexOf(["crashed", "hung", "out of memory", "broken"][run % 4]),
  );
  failed.runs.cost = failed.runs.cost.map((column) => column.map(() => null));
  for (const column of Object.values(failed.runs.metrics)) column.fill(null);
  for (const series of failed.series) {
    series.scores = series.scores.map((score) => ({
      ...score,
      solved: 0,
      failed: failed.problems.length,
      rate: 0,
      low: 0,
      high: 0.1,
      cost: null,
      costSolved: null,
      costMedian: null,
      costMost: null,
      why: null,
      versus: { leader: null, shared: 0, faster: 0, factor: null },
      work: { problems: 0, mean: null, median: null },
      profile: { x: [], y: [] },
      iterations: { x: [], y: [] },
      perUnknown: { x: [], y: [] },
    }));
    Object.assign(series, {
      bins: [],
      bands: [],
      contacts: { sticking: null, slidingGood: null, slidingBad: null, open: null },
      metricMedian: {},
      metricMost: {},
      budgets: series.budgets.map(() => ({ median: null, high: null, count: 0 })),
    });
  }
  const nobody = failed.tolerances.map(() => ({ series: null, solved: 0, cost: null, costSolved: null }));
  failed.scenes = failed.scenes.map((scene) => ({ ...scene, best: nobody, first: nobody }));
  failed.advice = nothing.advice.map((advice) => ({ ...advice, text: "No method solves any problem." }));
  for (const [name, changed] of Object.entries({ nothing, one, failed }))
    await t.test(name, async (inner) => {
      const { page, problems } = await opened(pageWith(inner, changed));
      const parts = changed.scenes.length > 1 ? 10 : 9;
      assert.equal(await page.locator("section.part").count(), parts);
      if (name === "failed")
        for (const kind of ["crashed", "hung", "out of memory", "broken"])
          assert.ok((await page.locator("#failure-list").innerText()).includes(kind), kind);
      if (name === "one") assert.equal(await page.locator("#outcomes .matrix path[data-verdict]").count(), 1);
      assert.deepEqual(problems, []);
    });
});

test("60 series on 300 problems open quickly", async (t) => {
  const big = copy(),
    { runs } = big,
    size = data.runs.problem.length;
  big.problems = Array.from({ length: 300 }, (_, i) => ({
    ...data.problems[i % data.problems.length],
    place: `/simulation_000001/mbs_frame${String(i).padStart(6, "0")}`,
  }));
  big.series = Array.from({ length: 60 }, (_, i) => ({
    ...data.series[i % data.series.length],
    label: `${i} ${data.series[i % data.series.length].label}`,
  }));
  const rows = Array.from({ length: 18000 }, (_, i) => i % size);
  for (const name of [
    "method",
    "machine",
    "outcome",
    "message",
    "started",
    "unknowns",
    "iterations",
    "keptIteration",
    "seconds",
    "best",
    "samples",
    "memory",
  ])
    runs[name] = rows.map((row) => data.runs[name][row]);
  runs.problem = rows.map((_, i) => i % 300);
  runs.series = rows.map((_, i) => Math.floor(i / 300));
  runs.cost = data.runs.cost.map((column) => rows.map((row) => column[row]));
  for (const group of ["metrics", "worst"])
    for (const name of Object.keys(runs[group])) runs[group][name] = rows.map((row) => data.runs[group][name][row]);
  const path = pageWith(t, big),
    start = Date.now();
  const { page, problems } = await opened(path);
  const shown = await page.evaluate(() => performance.getEntriesByType("navigation")[0].domInteractive);
  t.diagnostic(`readable after ${Math.round(shown)} ms, all drawn after ${Date.now() - start} ms`);
  // 1.2 s on two idle cores; the rest is room for a busy machine.
  assert.ok(shown < 6000, `${shown} ms`);
  assert.equal(await page.locator("#solvers tbody tr").count(), 60);
  assert.equal(await page.locator('#performance-profile [data-mark="line"]').count(), 8);
  assert.deepEqual(problems, []);
});
