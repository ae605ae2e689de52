// What the tests of the replay share: reading pages and made-up recordings.
import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { deflateSync, inflateSync } from "node:zlib";
import { address, open, program, scratch, stickslip } from "./browser.mjs";

const build = process.env.SS_BUILD_DIR ?? dirname(program);
export const shell = join(build, "web", "view.html"); // the page without data, as a server gives it

export function block(html, id) {
  const text = new RegExp(`id="${id}">([^<]*)</script>`).exec(html)[1];
  return id === "replay" ? JSON.parse(text) : inflateSync(Buffer.from(text, "base64"));
}

/** The picture as it is once it stands still; without a graphics card it is drawn again with more pixels then. */
export const still = (page) => page.waitForFunction(() => window.stickslip.still);
export const ready = (page) => page.waitForFunction(() => window.stickslip?.ready);

/** One browser for all tests that need nothing special: starting it takes longer than most of them. close() ends it. */
export function sharedBrowser(options = {}) {
  const closing = [];
  let shared = null;
  return {
    async opened(where) {
      if (!shared) shared = await open({ after: (close) => closing.push(close) }, where, { reducedMotion: "reduce", ...options });
      else {
        shared.problems.length = shared.requests.length = 0;
        await shared.page.goto("about:blank"); // another part after "#" alone would not load the page again
        await shared.page.goto(address(where));
      }
      shared.page.setDefaultTimeout(45000);
      return shared;
    },
    async close() {
      for (const end of closing) await end();
    },
  };
}

export const peek = (page, name) => page.evaluate((key) => window.stickslip[key], name);
export const bodies = (page) => page.evaluate(() => window.stickslip.bodies());
export const atFrame = (page, frame) => page.waitForFunction((f) => window.stickslip.frame === f && window.stickslip.ready, frame);
export const number = (text) => Number(text.replaceAll("\u2212", "-").replace(/[^\d.e-].*$/, ""));
export const numbers = (text) => text.replaceAll("\u2212", "-").match(/-?\d[\d.]*(e-?\d+)?/g).map(Number);
export const fact = async (page, key) => (await page.locator(`.selection [data-fact="${key}"]`).innerText()).trim();
export const info = (file, frame) => JSON.parse(stickslip("info", file, "--frame", String(frame), "--full", "--json"));
export function near(shown, exact, what, most = 6e-4) {
  assert.ok(Math.abs(shown - exact) <= most * Math.abs(exact) + 1e-12, `${what}: ${shown} instead of ${exact}`);
}

/** A page or a served answer with other data in it. */
export function htmlWith(description, chunks) {
  const json = JSON.stringify(description).replaceAll("<", "\\u003c");
  const data = [`<script type="application/json" id="replay">${json}</script>`,
    ...chunks.map((bytes, k) => `<script type="application/octet-stream" id="chunk-${k}">${bytes.toString("base64")}</script>`)];
  return readFileSync(shell, "utf8").replace("<!--stickslip:data-->", () => data.join("\n"));
}
export function pageWith(t, description, chunks) {
  const path = join(scratch(t), "page.html");
  writeFileSync(path, htmlWith(description, chunks));
  return path;
}

/** Bodies in a grid, and contacts below them; every frame another place. */
export function madeUp(bodyCount, frameCount, contactCount, perChunk) {
  const frames = Array.from({ length: frameCount }, (_x, i) => ({
    path: `/simulation_000001/mbs_frame${i + 1}`, time: 0.02 * i, h: 0.02, bodies: bodyCount, scenery: 0, contacts: contactCount,
  }));
  const kinds = ["box", "sphere", "capsule", "cylinder"], sizes = [[0.7, 0.7, 0.7], [0.4, 0, 0], [0.25, 0.4, 0], [0.3, 0.6, 0]];
  const shape = (kind, id, size) => ({ kind, id, scenery: -1, size, position: [0, 0, 0], quaternion: [1, 0, 0, 0], colour: 0, mesh: -1 });
  const description = {
    stickslip: "0", title: "made up", file: "made.h5", simulation: "/", toolkit: null, description: null, gravity: [0, 0, -9.81],
    total: frameCount, frames, chunks: frames.map((_f, i) => i).filter((i) => i % perChunk === 0),
    shapes: [shape("plane", 0, [0, 0, 0]), ...Array.from({ length: bodyCount }, (_x, i) => shape(kinds[i % 4], i + 1, sizes[i % 4]))],
    meshes: [], results: [{ solver: "made", answers: true, series: [{ name: "energy", unit: "J", values: frames.map((_f, i) => 1 + i) }] }],
    series: [], states: ["open", "sticking", "sliding", "driving friction"], decimated: false,
  };
  const side = Math.ceil(Math.cbrt(bodyCount));
  const chunk = (k) => {
    const parts = [];
    for (let f = description.chunks[k]; f < Math.min(frameCount, description.chunks[k] + perChunk); f++) {
      const position = new Float32Array(3 * bodyCount), quaternion = new Int16Array(4 * bodyCount);
      for (let i = 0; i < bodyCount; i++) {
        position.set([i % side, Math.floor(i / side) % side, 0.5 + Math.floor(i / side / side) + 0.1 * Math.sin(f / 9 + i)], 3 * i);
        quaternion.set([32767 * Math.cos(f / 50), 0, 0, 32767 * Math.sin(f / 50)], 4 * i);
      }
      const point = new Float32Array(3 * contactCount), normal = new Float32Array(3 * contactCount), pair = new Int32Array(2 * contactCount);
      const impulse = new Float32Array(contactCount), friction = new Float32Array(3 * contactCount), state = Buffer.alloc(Math.ceil(contactCount / 4) * 4);
      for (let i = 0; i < contactCount; i++) {
        const b = i % bodyCount;
        pair.set([-1, b], 2 * i);
        point.set([position[3 * b] + 0.3 * Math.cos(i), position[3 * b + 1] + 0.3 * Math.sin(i), position[3 * b + 2] - 0.4], 3 * i);
        normal[3 * i + 2] = 1;
        impulse[i] = 1 + Math.sin(i);
        friction[3 * i] = 0.3 * impulse[i];
        state[i] = i % 4;
      }
      parts.push(Int32Array.from({ length: bodyCount }, (_x, i) => i + 1), position, quaternion, new Float32Array(bodyCount).fill(1),
        new Float32Array(6 * bodyCount), pair, point, normal, new Float32Array(contactCount), new Float32Array(contactCount).fill(0.5),
        impulse, friction, new Float32Array(3 * contactCount), new Float32Array(contactCount).fill(1e-6), state);
    }
    return deflateSync(Buffer.concat(parts.map((a) => Buffer.from(a.buffer, a.byteOffset, a.byteLength))), { level: 1 });
  };
  return { description, chunk };
}
