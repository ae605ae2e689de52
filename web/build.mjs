// node build.mjs OUTDIR   bundles each page into one HTML file that needs nothing else, and those of the program into pages.c.
// A page is src/NAME/{page.css,main.ts} in the frame of src/common/page.html; common.css is shared.
import { createHash } from "node:crypto";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const here = dirname(fileURLToPath(import.meta.url));
const out = process.argv[2] ?? join(here, "dist");
// Where the program puts the data of a page: what stands in its place is never part of a script.
const DATA = "<!--stickslip:data-->";

// What pages do not share. `after`: the page whose style comes before its own. `connect`, `frames`: what the policy allows; nothing
// leaves a page, but a replay that is served asks its own server for data, and a study shows replays that lie beside it.
const drawn =
  '<main id="page"></main>\n<noscript>This page is drawn by its own script, which needs nothing from the network. ' +
  `Please allow scripts for this file.</noscript>\n${DATA}`;
const written = `<div class="bar" id="bar"></div>\n<main id="page">\n${DATA}\n</main>`;
const pages = {
  report: { title: "stickslip report" },
  view: { title: "stickslip view", connect: "'self'" },
  paper: { title: "stickslip paper", after: ["report"], frames: "'self' file:", body: written },
  collection: { title: "stickslip collection", after: ["report"] },
  engines: { title: "stickslip beside other engines", after: ["report"], is_filled_by_tools: true },
};

const read = (...path) => readFileSync(join(here, ...path), "utf8");

async function bundle(name) {
  const result = await build({
    entryPoints: [join(here, "src", name, "main.ts")],
    bundle: true,
    minify: true,
    write: false,
    format: "iife",
    target: ["es2022"],
    charset: "ascii",
    legalComments: "none",
    logLevel: "warning",
  });
  return result.outputFiles[0].text.replaceAll("</script", "<\\/script");
}

async function page(name) {
  const { title, after = [], connect = "'none'", frames = "'none'", body = drawn } = pages[name];
  const script = await bundle(name);
  const style = ["common/common.css", ...[...after, name].map((page) => `${page}/page.css`)].map((file) => read("src", file)).join("");
  const hash = createHash("sha256").update(script).digest("base64");
  const policy =
    `default-src 'none'; script-src 'sha256-${hash}'; style-src 'unsafe-inline'; img-src data: blob:; ` +
    `connect-src ${connect}; frame-src ${frames}; base-uri 'none'; form-action 'none'`;
  return read("src", "common", "page.html")
    .replace("<!--policy-->", () => `<meta http-equiv="Content-Security-Policy" content="${policy}">`)
    .replace("<!--title-->", () => `<title>${title}</title>`)
    .replace("<!--style-->", () => `<style>${style}</style>`)
    .replace("<!--body-->", () => body)
    .replace("<!--script-->", () => `<script>${script}</script>`);
}

function asArray(name, bytes) {
  const rows = [];
  for (let i = 0; i < bytes.length; i += 32) rows.push(Array.from(bytes.subarray(i, i + 32)).join(","));
  return `static const unsigned char ${name}_bytes[] = {\n${rows.join(",\n")}};\n`;
}

mkdirSync(out, { recursive: true });
let source = '/* Made by web/build.mjs. */\n#include "report/page.h"\n\n';
for (const name of Object.keys(pages)) {
  const html = await page(name);
  writeFileSync(join(out, `${name}.html`), html);
  if (pages[name].is_filled_by_tools) continue; // no part of the program
  const [before, after] = html.split(DATA).map((text) => Buffer.from(text));
  source += asArray(`${name}_before`, before) + asArray(`${name}_after`, after);
  source +=
    `const ss_page ss_page_${name} = {${name}_before_bytes, sizeof ${name}_before_bytes, ` +
    `${name}_after_bytes, sizeof ${name}_after_bytes};\n\n`;
}
writeFileSync(join(out, "pages.c"), source);
