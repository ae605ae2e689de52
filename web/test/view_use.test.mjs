// What one does with a replay: send its address, look closer, read crowds and forces, take pictures and films home.
import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { deflateSync, inflateSync } from "node:zlib";
import { address, complaints, stickslip } from "./browser.mjs";
import { atFrame, block, madeUp, number, pageWith, peek, ready, sharedBrowser, still } from "./view_kit.mjs";

// Without a graphics card small pictures are quick ones.
const { opened, close } = sharedBrowser({ viewport: { width: 1000, height: 680 } });
let folder, wall, wallPage, replay;

before(() => {
  folder = mkdtempSync(join(tmpdir(), "stickslip-view-"));
  const one = join(folder, "wall.h5");
  wall = join(folder, "two.h5");
  stickslip("run", "brick-wall", "-p", "rows=6", "--steps", "20", "--record", one);
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
    assert.deepEqual(problems, []);
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
    await page.waitForFunction(() => /solver=batched-nncg(&(?!solver)|$)/.test(location.hash));
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
    await page.evaluate(() => (location.hash = "#frame=1&path=/simulation_000001/mbs_frame000009"));
    await atFrame(page, 8);
    await page.evaluate(() => (location.hash = "#path=mbs_frame000099&contact=1")); // as of a page that was thinned out
    await atFrame(page, 19);
    assert.equal((await peek(page, "selection")).kind, "none");
    assert.deepEqual(problems, []);
  });
});

/** Presses a button and reads the file that it gives; pressed again if the page moved away below the mouse. */
async function saved(page, button, timeout = 60000) {
  for (let tries = 3; ; tries--) {
    try {
      const [file] = await Promise.all([page.waitForEvent("download", { timeout }), button.click()]);
      return { name: file.suggestedFilename(), bytes: readFileSync(await file.path()) };
    } catch (error) {
      if (tries === 0) throw error;
    }
  }
}

/** Width, height and the colours [r, g, b] of a PNG of eight bits, without its filters being trusted. */
function readPng(bytes) {
  assert.equal(bytes.subarray(1, 4).toString(), "PNG");
  const width = bytes.readUInt32BE(16), height = bytes.readUInt32BE(20), channels = bytes[25] === 6 ? 4 : 3, data = [];
  for (let at = 8; at < bytes.length; at += 12 + bytes.readUInt32BE(at)) {
    if (bytes.subarray(at + 4, at + 8).toString() === "IDAT") data.push(bytes.subarray(at + 8, at + 8 + bytes.readUInt32BE(at)));
  }
  const raw = inflateSync(Buffer.concat(data)), line = width * channels, out = Buffer.alloc(line * height);
  for (let y = 0; y < height; y++) {
    const filter = raw[y * (line + 1)];
    for (let x = 0; x < line; x++) {
      const a = x >= channels ? out[y * line + x - channels] : 0, b = y > 0 ? out[(y - 1) * line + x] : 0;
      const c = x >= channels && y > 0 ? out[(y - 1) * line + x - channels] : 0, p = a + b - c;
      const nearest = Math.abs(p - a) <= Math.abs(p - b) && Math.abs(p - a) <= Math.abs(p - c) ? a : Math.abs(p - b) <= Math.abs(p - c) ? b : c;
      out[y * line + x] = raw[y * (line + 1) + 1 + x] + [0, a, b, (a + b) >> 1, nearest][filter];
    }
  }
  return { width, height, at: (x, y) => [...out.subarray(y * line + x * channels, y * line + x * channels + 3)] };
}

test("the camera", async (t) => {
  await t.test("sees an arch of hulls at its true size", async () => {
    const file = join(folder, "arch.h5"), path = join(folder, "arch.html");
    stickslip("run", "masonry-arch", "--steps", "2", "--record", file);
    stickslip("view", file, "-o", path);
    const { page } = await opened(path);
    await ready(page);
    const spots = await page.evaluate(() => window.stickslip.bodies().map(([, ...at]) => window.stickslip.locate(...at).y));
    const box = await page.locator("canvas").boundingBox();
    assert.ok(Math.max(...spots) - Math.min(...spots) > 0.4 * box.height, "the stones fill the picture");
  });

  await t.test("flies to the selection by Z and to the worst contact by W", async () => {
    const { page } = await opened(`${wallPage}#frame=5&solver=pgs`);
    await ready(page);
    await page.locator("canvas").focus();
    const box = await page.locator("canvas").boundingBox();
    // What the camera looks at is in the middle of the picture, and larger than before.
    const size = () => page.evaluate(() => {
      const spots = window.stickslip.bodies().map(([, ...at]) => window.stickslip.locate(...at).x);
      return Math.max(...spots) - Math.min(...spots);
    });
    const inTheMiddle = async (point) => {
      const spot = await page.evaluate((at) => window.stickslip.locate(...at), point);
      assert.ok(Math.hypot(spot.x - box.x - box.width / 2, spot.y - box.y - box.height / 2) < 3, JSON.stringify(spot));
    };
    const far = await size();
    await page.keyboard.press("b");
    await page.keyboard.press("z");
    await inTheMiddle((await page.evaluate(() => window.stickslip.bodies()))[0].slice(1));
    const near = await size();
    assert.ok(near > 1.1 * far, `${near} ${far}`);
    await page.keyboard.press("f");
    await page.keyboard.press("w");
    await inTheMiddle((await page.evaluate(() => window.stickslip.contacts()))[(await peek(page, "selection")).index]);
    assert.ok((await size()) > 1.1 * far);
  });

  await t.test("begins where there is something to see, and steps back when bodies leave", async (t) => {
    const { description, chunk } = madeUp(9, 8, 6, 8), raw = inflateSync(chunk(0));
    // No contacts in the first three frames; from the sixth on all bodies are far to the side.
    const size = (f) => 52 * 9 + (f < 3 ? 0 : 40 * 6 + 32 * 6 + 8), whole = 52 * 9 + 40 * 6 + 32 * 6 + 8, parts = [];
    for (let f = 0; f < 8; f++) {
      const frame = Buffer.from(raw.subarray(f * whole, f * whole + size(f)));
      for (let b = 0; f >= 5 && b < 9; b++) frame.writeFloatLE(frame.readFloatLE(36 + 12 * b) + 20, 36 + 12 * b);
      if (f < 3) description.frames[f].contacts = 0;
      parts.push(frame);
    }
    const { page } = await opened(pageWith(t, description, [deflateSync(Buffer.concat(parts))]));
    await ready(page);
    assert.equal(await peek(page, "frame"), 3);
    const inside = () => page.evaluate(() => {
      const box = document.querySelector("canvas").getBoundingClientRect();
      return window.stickslip.bodies().every(([, ...at]) => {
        const spot = window.stickslip.locate(...at);
        return spot && spot.x > box.left && spot.x < box.right && spot.y > box.top && spot.y < box.bottom;
      });
    });
    await page.locator(".scrubber").fill("7");
    await atFrame(page, 7);
    assert.ok(await inside(), "the camera followed");
    await page.locator(".scrubber").fill("3");
    await page.keyboard.press("f");
    await page.keyboard.press("a");
    await page.locator(".scrubber").fill("7");
    await atFrame(page, 7);
    assert.equal(await inside(), false, "but not when the reader has chosen a view");
  });
});

test("crowds of contacts", async (t) => {
  const { description, chunk } = madeUp(200, 2, 400, 2), raw = inflateSync(chunk(0));
  // The error of contact i is (i * 7 % 400) J.
  const energy = 52 * 200 + 40 * 400 + 28 * 400;
  for (let i = 0; i < 400; i++) raw.writeFloatLE((i * 7) % 400, energy + 4 * i);
  const { page, problems } = await opened(pageWith(t, description, [deflateSync(raw)]));
  await ready(page);
  const worst = (n) => Array.from({ length: 400 }, (_x, i) => i).filter((i) => (i * 7) % 400 >= 400 - n);
  assert.match(await page.locator(".legend").innerText(), /Bodies: worst energy error \(J\), log/);
  assert.equal(await page.locator("input[name=through]").isChecked(), false);
  assert.deepEqual(await peek(page, "marked"), worst(50));
  await page.getByRole("slider", { name: "Marks" }).fill("0");
  assert.deepEqual(await peek(page, "marked"), worst(10));
  await page.getByRole("slider", { name: "Marks" }).fill("7");
  assert.equal((await peek(page, "marked")).length, 400);
  await hashHas(page, "worst=all");
  assert.deepEqual(problems, []);
});

test("colours: strong is bad, for contacts and bodies, in both themes", async () => {
  const { page } = await opened(`${wallPage}#colour=energy&bodies=worst`);
  await ready(page);
  const strips = () => page.locator(".legend .strip").evaluateAll((list) => list.map((strip) =>
    getComputedStyle(strip).backgroundImage.match(/rgb\([^)]*\)/g).map((text) => {
      const [r, g, b] = text.match(/\d+/g).map((n) => (Number(n) / 255) ** 2.2);
      return 0.2126 * r + 0.7152 * g + 0.0722 * b;
    })));
  // On a light page the strong end is dark, on a dark one bright; lightness never turns back, so that it reads in grey.
  for (const sign of [-1, 1]) {
    const [contacts, bodies_] = await strips();
    assert.deepEqual(contacts, bodies_);
    for (let i = 1; i < contacts.length; i++) assert.ok(sign * (contacts[i] - contacts[i - 1]) > 0, `step ${i}`);
    await page.locator("button.theme").click();
  }
});

test("forces", async () => {
  const { page, problems } = await opened(`${wallPage}#frame=3&solver=batched-nncg&hide=contacts,shadows&body=8&camera=-0.5,0.3,3,0,0,0.3`);
  await ready(page);
  const rule = page.locator(".scale .rule"), width = async () => (await rule.boundingBox()).width;
  assert.match(await page.locator(".scale").innerText(), /^\d[\d.e\u2212-]* N s$/);
  const before_ = await width(), value = number(await page.locator(".scale").innerText());
  const key = await page.locator(".scale").getAttribute("data-key");
  await page.getByRole("slider", { name: "Forces" }).fill("0.3");
  // Twice as long for the same impulse.
  await page.waitForFunction((old) => document.querySelector(".scale").dataset.key !== old, key);
  const ratio = (await width()) / number(await page.locator(".scale").innerText()) / (before_ / value);
  assert.ok(Math.abs(ratio - 10 ** 0.3) < 0.1, `${ratio}`);
  await still(page);
  const whole = await page.locator("canvas").screenshot(), drawn = await peek(page, "drawn");
  await page.locator("input[name=split]").check();
  assert.match(await page.locator(".legend .keys").innerText(), /friction/);
  await page.waitForFunction((n) => window.stickslip.drawn > n, drawn);
  await still(page);
  assert.notDeepEqual(await page.locator("canvas").screenshot(), whole, "normal and friction are drawn apart");
  await page.locator("input[name=forces]").uncheck();
  await page.locator(".scale").waitFor({ state: "hidden" });
  assert.deepEqual(problems, []);
});

test("bodies of one colour are told apart by their edges", async () => {
  const { page } = await opened(`${wallPage}#frame=3&solver=batched-nncg&hide=contacts,forces,shadows,ground&bodies=mass`);
  await ready(page);
  await page.keyboard.press("3");
  await still(page);
  // Down the middle of the wall, at the height of the bodies: a course ends where it gets darker for a few pixels.
  const spots = await page.evaluate(() => window.stickslip.bodies().map(([, ...at]) => window.stickslip.locate(...at)));
  const box = await page.locator("canvas").boundingBox(), picture = readPng(await page.locator("canvas").screenshot());
  const courses = new Set(spots.map((spot) => Math.round(spot.y))).size, x = Math.round(spots[0].x - box.x) + 3;
  const light = Array.from({ length: picture.height }, (_y, y) => picture.at(x, y).reduce((sum, c) => sum + c, 0));
  const from = Math.round(Math.min(...spots.map((s) => s.y)) - box.y), to = Math.round(Math.max(...spots.map((s) => s.y)) - box.y);
  const usual = light[from];
  let lines = 0;
  for (let y = from + 1; y <= to; y++) if (light[y] < 0.93 * usual && light[y - 1] >= 0.93 * usual) lines++;
  assert.ok(lines >= courses - 2, `${lines} lines between ${courses} courses`);
});

test("joints with errors and impulses", async () => {
  const file = join(folder, "bars.h5"), path = join(folder, "bars.html");
  stickslip("run", "four-bar", "--steps", "8", "--record", file);
  stickslip("view", file, "-o", path);
  const { page, problems } = await opened(path);
  await ready(page);
  const rows = page.locator(".joints tbody tr");
  assert.equal(await rows.count(), (await page.evaluate(() => window.stickslip.joints())).length);
  const spot = await page.evaluate(() => window.stickslip.locate(...window.stickslip.joints()[2]));
  await page.mouse.click(spot.x, spot.y);
  const { kind, index } = await peek(page, "selection");
  assert.deepEqual([kind, index], ["joint", 2]);
  assert.match(await page.locator(".selection").innerText(), /Joint 2[^]*Position error[^]*Impulse on b/);
  await hashHas(page, "joint=2");
  assert.deepEqual(problems, []);
});

test("curves", async (t) => {
  const { page, problems } = await opened(`${wallPage}#solver=pgs&frame=2`);
  await ready(page);
  const curve = page.locator(".curve").first(), box = await curve.boundingBox();
  const labels = () => curve.locator("svg text[text-anchor=middle], svg text[text-anchor=end]").allTextContents();

  await t.test("say what is below the pointer", async () => {
    await page.mouse.move(box.x + 54 + (box.width - 64), box.y + 40);
    const tip = await page.locator(".tip:visible").innerText(), series = replay.series.find((s) => s.name === "kinetic energy");
    assert.match(tip, /frame 20/);
    const shown = number(tip.split("\n")[1]), exact = series.values[19];
    assert.ok(Math.abs(shown - exact) <= 1e-3 * Math.abs(exact), `${shown} instead of ${exact}`);
  });

  await t.test("zoom time by the wheel, all together, and back", async () => {
    const before_ = await labels();
    await page.mouse.wheel(0, -900);
    await page.waitForFunction((old) => [...document.querySelectorAll(".curve")[0].querySelectorAll("svg text[text-anchor=middle], svg text[text-anchor=end]")]
      .map((label) => label.textContent).join() !== old, before_.join());
    assert.deepEqual(await page.locator(".curve").nth(1).locator("svg text[text-anchor=middle]").allTextContents(),
      await curve.locator("svg text[text-anchor=middle]").allTextContents());
    await curve.dblclick({ position: { x: 80, y: 40 } });
    assert.deepEqual(await labels(), before_);
  });

  await t.test("grow when the divider moves", async () => {
    const tall = (await curve.boundingBox()).height;
    await page.locator(".divider").focus();
    await page.keyboard.press("ArrowUp");
    await page.keyboard.press("ArrowUp");
    assert.equal(Math.round((await curve.boundingBox()).height - tall), 40);
  });

  await t.test("of the selected contact and body", async () => {
    await page.locator("canvas").focus();
    await page.keyboard.press("w");
    await page.getByRole("button", { name: "Plot over time" }).click();
    const plot = page.locator(".plot").last(), impulse = await page.locator('.selection tr[data-fact="impulse"] td').first().innerText();
    await page.waitForFunction((text) => document.querySelectorAll(".plot")[2].querySelector("output").textContent.includes(text), impulse);
    assert.equal(await plot.locator("select").inputValue(), "contact impulse");
    // Every frame of a wall that stands has this contact.
    const { bytes } = await saved(page, plot.getByRole("button", { name: "as CSV" }));
    const rows = bytes.toString().trim().split("\r\n").slice(1).map((row) => row.split(","));
    assert.equal(rows.length, 20);
    assert.ok(rows.every((row) => Number(row[2]) >= 0 && row[2] !== ""));
    await page.keyboard.press("b");
    await page.waitForFunction(() => document.querySelectorAll(".plot select")[2].value === "body speed");
  });

  await t.test("of states, upon each other", async () => {
    await page.locator(".plot select").last().selectOption("states pgs");
    const counts = (await peek(page, "counts"))[0], text = await page.locator(".plot").last().locator("output").textContent();
    assert.match(text, new RegExp(`sliding ${counts[2]}, sticking ${counts[1]}, open ${counts[0]}`));
  });

  await t.test("the worst frames have marks, and N goes to them; M marks a frame", async (t) => {
    const { description, chunk } = madeUp(3, 30, 4, 30), values = Array.from({ length: 30 }, (_x, i) => ({ 4: 0.5, 12: 0.9, 20: 0.7, 25: 1e-4 })[i] ?? 1e-6);
    description.results[0].series.push({ name: "relative_energy", unit: "1", values });
    await opened(pageWith(t, description, [chunk(0)]));
    await atFrame(page, 12); // it begins with the worst one
    await page.locator("canvas").focus();
    assert.deepEqual(await page.locator(".mark").evaluateAll((list) => list.map((mark) => mark.getAttribute("aria-label"))), [
      "Worst frame 1: frame 13, relative energy 0.900", "Worst frame 2: frame 21, relative energy 0.700", "Worst frame 3: frame 5, relative energy 0.500"]);
    for (const frame of [20, 4, 12]) {
      await page.keyboard.press("n");
      await atFrame(page, frame);
    }
    await page.keyboard.press("Home");
    await page.keyboard.press("m");
    assert.equal(await page.locator(".mark.own").getAttribute("aria-label"), "Marked: frame 1");
    await hashHas(page, "marks=1");
    await page.keyboard.press("m");
    assert.equal(await page.locator(".mark.own").count(), 0);
  });
  assert.deepEqual(problems, []);
});

/** Times (ms) of the pictures in a WebM file; fails where the elements do not fit into each other. */
function timesOf(bytes) {
  const times = [], enter = new Set([0x18538067, 0x1f43b675, 0xa0]);
  let cluster = 0;
  const vint = (at, keep) => {
    const length = Math.clz32(bytes[at]) - 23;
    assert.ok(length >= 1 && length <= 8, `no element at ${at}`);
    let value = keep ? bytes[at] : bytes[at] & (0xff >> length);
    for (let i = 1; i < length; i++) value = value * 256 + bytes[at + i];
    return [at + length, value];
  };
  for (let at = 0; at < bytes.length;) {
    const [after_, id] = vint(at, true), [content, size] = vint(after_, false);
    if (at === 0) assert.equal(id, 0x1a45dfa3, "an EBML head");
    at = content;
    if (enter.has(id)) continue;
    if (id === 0xe7) cluster = Number(`0x${bytes.subarray(at, at + size).toString("hex")}`);
    if (id === 0xa3 || id === 0xa1) times.push(cluster + bytes.readInt16BE(at + 1));
    at += size;
  }
  return times;
}

test("pictures and films leave the page", async (t) => {
  const { page, problems } = await opened(`${wallPage}#frame=4`);
  await ready(page);
  await page.locator("input[name=shadows]").uncheck();

  await t.test("a picture says what it shows", async () => {
    const { name, bytes } = await saved(page, page.getByRole("button", { name: "PNG", exact: true }));
    assert.match(name, /^brick-wall-.*-frame-4\.png$/);
    const picture = readPng(bytes), box = await page.locator("canvas").boundingBox();
    assert.ok(picture.height >= Math.floor(box.height) + 40, "there is a strip below it");
    const ink = (x0, x1, y0, y1) => {
      let n = 0;
      for (let y = y0; y < y1; y++) for (let x = x0; x < x1; x++) if (Math.max(...picture.at(x, y)) < 110) n++;
      return n;
    };
    const { width, height } = picture;
    assert.ok(ink(0, width / 2, height - 44, height) > 100, "title and file");
    assert.ok(ink(Math.round(0.55 * width), width, height - 44, height) > 100, "states");
    assert.ok(ink(5, 120, 5, 24) > 30 && ink(Math.round(width / 2) + 5, Math.round(width / 2) + 60, 5, 24) > 30, "names of both solvers");
  });

  const film = async (where, kind) => {
    await where.getByRole("button", { name: "Film" }).click();
    await where.locator(".film input").nth(1).fill("6");
    await where.locator(".film select").first().selectOption(kind);
    if (kind === "webm") await where.locator(".film select").nth(1).selectOption("10");
    const made = await saved(where, where.getByRole("button", { name: "Make" }), 120000);
    await where.getByText("Saved.").waitFor();
    await where.getByRole("button", { name: "Close" }).click();
    return made;
  };

  await t.test("a film is a WebM file with every picture in its time, and plays", async (t) => {
    const { name, bytes } = await film(page, "webm");
    assert.match(name, /\.webm$/);
    const times = timesOf(bytes);
    assert.ok(times.length > 5, `${times.length} pictures`);
    times.forEach((time, i) => assert.ok(Math.abs(time - 100 * i) <= 1, `picture ${i} at ${time} ms`));
    assert.equal(await peek(page, "frame"), 3, "the page is where it was");
    const path = join(folder, "film.webm");
    writeFileSync(path, bytes);
    const player = await page.context().newPage();
    t.after(() => player.close());
    await player.goto(address(path));
    await player.waitForFunction(() => document.querySelector("video")?.readyState > 0);
    const seconds = await player.evaluate(() => document.querySelector("video").duration);
    assert.ok(Math.abs(seconds - 0.1 * times.length) < 0.05, `${seconds} s`);
  });

  await t.test("or an archive of pictures", async () => {
    const { name, bytes } = await film(page, "png");
    assert.match(name, /\.zip$/);
    const end = bytes.length - 22;
    assert.equal(bytes.readUInt32LE(end), 0x06054b50);
    assert.equal(bytes.readUInt16LE(end + 10), 6);
    let at = bytes.readUInt32LE(end + 16);
    for (let i = 0; i < 6; i++) {
      assert.equal(bytes.readUInt32LE(at), 0x02014b50);
      const size = bytes.readUInt32LE(at + 20), from = bytes.readUInt32LE(at + 42), long = bytes.readUInt16LE(at + 28);
      assert.equal(bytes.subarray(at + 46, at + 46 + long).toString(), `frame-0000${i + 1}.png`);
      readPng(bytes.subarray(from + 30 + long, from + 30 + long + size));
      at += 46 + long;
    }
  });

  await t.test("browsers without an encoder use their recorder", async () => {
    await page.evaluate(() => delete window.VideoEncoder);
    const { bytes } = await film(page, "webm");
    assert.ok(timesOf(bytes).length > 1);
  });
  assert.deepEqual(problems, []);
});

test("two recordings in step", async () => {
  const files = ["exact", "quick"].map((name) => join(folder, `${name}.h5`)), path = join(folder, "both.html");
  stickslip("run", "box-drop", "--steps", "40", "--record", files[0]);
  stickslip("run", "box-drop", "--steps", "40", "--solver", "pgs", "--iterations", "4", "--record", files[1]);
  stickslip("view", ...files, "-o", path);
  const both = block(readFileSync(path, "utf8"), "replay");
  const { page, problems } = await opened(`${path}#frame=40&hide=contacts,forces,shadows&bodies=apart`);
  await ready(page);
  await atFrame(page, 39);
  assert.match(await page.locator("header").innerText(), /exact.h5 .*with quick.h5 as a ghost/);
  assert.match(await page.locator(".legend").innerText(), /distance to the ghost[^]*ghost: quick.h5/);

  // The largest of what the panel says is what the curve says.
  const largest = both.series.find((s) => s.name === "largest distance of bodies").values[39];
  assert.ok(largest > 1e-6);
  assert.equal(await page.locator(".plot select").first().inputValue(), "frame largest distance of bodies");
  await page.locator("canvas").focus();
  let most = 0;
  for (let i = 0; i < both.frames[39].bodies; i++) {
    await page.keyboard.press("b");
    most = Math.max(most, number(await page.locator('.selection [data-fact="apart"]').innerText()));
  }
  assert.ok(Math.abs(most - largest) < 1e-3 * largest, `${most} instead of ${largest}`);
  await page.keyboard.press("Escape");

  const shown = async () => {
    const drawn = await peek(page, "drawn");
    await page.locator("input[name=ghost]").click();
    await page.waitForFunction((n) => window.stickslip.drawn > n, drawn);
    await still(page);
    return (await page.locator("canvas").screenshot()).toString("base64");
  };
  assert.notEqual(await shown(), await shown(), "the ghost can be hidden");
  await page.locator("input[name=ghost]").uncheck();
  await hashHas(page, "ghost");
  assert.deepEqual(problems, []);
});

test("axe finds nothing, whatever is shown", async () => {
  const { page, problems } = await opened(`${wallPage}#frame=4&contact=3&show=normals,sliding,split&colour=energy&marks=2`);
  await ready(page);
  await page.getByRole("button", { name: "Plot over time" }).click();
  assert.deepEqual(await complaints(page), []);
  await page.locator("button.theme").click();
  assert.deepEqual(await complaints(page), [], "dark");
  await page.getByRole("button", { name: "Film" }).click();
  assert.deepEqual(await complaints(page, ".film"), [], "the dialog");
  await page.keyboard.press("Escape");
  await page.setViewportSize({ width: 390, height: 844 });
  assert.deepEqual(await complaints(page), [], "a phone");
  assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), "nothing sticks out");
  await page.locator("button.theme").click(); // the choice is kept
  await page.setViewportSize({ width: 1000, height: 680 });
  assert.deepEqual(problems, []);
});

test("people who see colours differently tell states and errors apart", async () => {
  const { page } = await opened(`${wallPage}#solver=pgs&colour=energy`);
  await ready(page);
  const session = await page.context().newCDPSession(page);
  for (const type of ["deuteranopia", "protanopia", "tritanopia", "achromatopsia"]) {
    await session.send("Emulation.setEmulatedVisionDeficiency", { type });
    // The strip of the legend as it is seen: from one end to the other it gets darker, step by step.
    const strip = await page.locator(".legend .strip").boundingBox();
    const seen = readPng(await page.screenshot({ clip: { x: strip.x + 4, y: strip.y + 2, width: strip.width - 8, height: strip.height - 4 } }));
    const light = Array.from({ length: 9 }, (_x, i) => {
      const [r, g, b] = seen.at(Math.round((i * (seen.width - 1)) / 8), Math.floor(seen.height / 2));
      return 0.2126 * r + 0.7152 * g + 0.0722 * b;
    });
    for (let i = 1; i < 9; i++) assert.ok(light[i] < light[i - 1] - 3, `${type}: ${light.map(Math.round)}`);
  }
  await session.send("Emulation.setEmulatedVisionDeficiency", { type: "none" });
  // States differ by their signs, not by colour alone.
  assert.deepEqual(await page.locator(".legend .sign").allTextContents(), ["\u25cb", "\u25cf", "\u25c6", "\u25b2"]);
});

test("room: a notebook's frame, little height, and what the space bar does", async (t) => {
  const host = join(folder, "host.html");
  writeFileSync(host, '<!doctype html><title>host</title><body style="margin:0"><iframe src="wall.html" width="900" height="500" style="border:0"></iframe>');
  const { page } = await opened(host);
  await page.setViewportSize({ width: 900, height: 500 });
  const frame = page.frameLocator("iframe"), tall = async () => (await frame.locator("canvas").boundingBox()).height;
  await frame.locator(".play").waitFor();
  assert.ok((await tall()) > 400, "the picture fills the frame");
  await frame.getByRole("button", { name: "Curves" }).click();
  await frame.locator(".curve svg").first().waitFor();
  await frame.getByRole("button", { name: "Curves" }).click();
  await frame.getByRole("button", { name: "Panel" }).click();
  await frame.getByText("Contact colour").waitFor();
  assert.ok((await tall()) > 400);

  await t.test("a low window keeps the curves for later", async () => {
    await opened(wallPage);
    await ready(page);
    assert.equal(await page.locator(".plots").isVisible(), false);
    assert.ok((await page.locator("canvas").boundingBox()).height > 220);
    await page.setViewportSize({ width: 1024, height: 768 });
    await opened(wallPage);
    await ready(page);
    assert.ok((await page.locator("canvas").boundingBox()).height > 400);
  });

  await t.test("the space bar plays after a click on a tick box, and ticks it for those who came by keyboard", async () => {
    const box = page.locator("input[name=cones]");
    await box.click();
    await page.keyboard.press(" ");
    assert.equal(await peek(page, "playing"), true);
    await page.keyboard.press(" ");
    assert.equal(await box.isChecked(), true);
    await box.focus();
    await page.keyboard.press(" ");
    assert.equal(await box.isChecked(), false);
    assert.equal(await peek(page, "playing"), false);
  });

  await t.test("vectors have no noise", async () => {
    await page.keyboard.press("]");
    assert.doesNotMatch(await page.locator(".selection").innerText(), /\(.*(\u22120[,)]|e\u22121[3-9]).*\)/);
  });
  await page.setViewportSize({ width: 1000, height: 680 });
});
