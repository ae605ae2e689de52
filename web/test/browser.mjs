// A page in the real Chromium, watched: whatever it says on the console and every request that would leave it is kept.
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { execFileSync } from "node:child_process";
import { chromium } from "playwright-core";

/** The address of a file, with what follows "#"; other addresses stay. */
export function address(where) {
  if (/^https?:/.test(where)) return where;
  const [path, ...rest] = where.split("#");
  return pathToFileURL(path).href + (rest.length ? `#${rest.join("#")}` : "");
}

export const program = process.env.SS_PROGRAM ?? "build/release/stickslip";

/** Runs the program under test and returns what it printed. */
export function stickslip(...words) {
  return execFileSync(program, words, { encoding: "utf8", maxBuffer: 1 << 28, stdio: ["ignore", "pipe", "pipe"] });
}

/** A folder for files of one test, removed at the end of it. */
export function scratch(t) {
  const folder = mkdtempSync(join(tmpdir(), "stickslip-page-"));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** Opens a file or address. The result: {page, problems: [text], requests: [address]}; closed after the test. */
export async function open(t, where, options = {}) {
  const browser = await chromium.launch({
    executablePath: process.env.SS_CHROMIUM ?? "/usr/bin/chromium",
    args: ["--no-sandbox", "--disable-gpu", "--use-gl=angle", "--use-angle=swiftshader", "--enable-unsafe-swiftshader",
      "--disable-quic", "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync"],
  });
  t.after(() => browser.close());
  const context = await browser.newContext({ viewport: { width: 1280, height: 900 }, acceptDownloads: true, ...options });
  const page = await context.newPage();
  const problems = [], requests = [];
  page.on("console", (message) => {
    // Software rendering tells how slow it is: not a fault of the page.
    const ofPage = ["error", "warning"].includes(message.type()) && !/GL Driver Message/.test(message.text());
    if (ofPage) problems.push(`${message.type()}: ${message.text()}`);
  });
  page.on("pageerror", (error) => problems.push(String(error)));
  page.on("request", (request) => {
    if (!/^(file|data|blob):/.test(request.url())) requests.push(request.url());
  });
  await page.goto(address(where));
  return { page, problems, requests };
}

const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

/** What axe finds on the page as it is now, or in a part of it, one line for each rule that is broken. */
export async function complaints(page, part = "html") {
  await page.evaluate(axe);
  const { violations } = await page.evaluate((root) => globalThis.axe.run(root, { resultTypes: ["violations"] }), part);
  return violations.map(({ id, nodes }) => `${id}, ${nodes.length} times: ${nodes[0].html.slice(0, 200)}`);
}
