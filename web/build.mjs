// node build.mjs OUTDIR   bundles each page into one HTML file that needs nothing else, and those of the program into pages.c.
// A page is src/NAME/{page.html,page.css,main.ts}; common.css is shared.
import { createHash } from "node:crypto";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const here = dirname(fileURLToPath(import.meta.url));
const out = process.argv[2] ?? join(here, "dist");
const pages = ["report", "view", "paper", "collection"];
const others = ["engines"]; // filled by tools
// A study looks like a report, and so does a race.
const styles = { paper: ["report"], engines: ["report"], collection: ["report"] };
// Where the program puts the data of a page: what stands in its place is never part of a script.
const DATA = "<!--stickslip:data-->";

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
  const script = await bundle(name);
  const style = ["common/common.css", ...(styles[name] ?? []).concat(name).map((page) => `${page}/page.css`)]
    .map((file) => read("src", file))
    .join("");
  const hash = createHash("sha256").update(script).digest("base64");
  // Nothing leaves the page; a replay that is served asks its own server for data.
  const connect = name === "view" ? "'self'" : "'none'";
  // A study shows replays that lie beside it.
  const frames = name === "paper" ? "'self' file:" : "'none'";
  const policy =
    `default-src 'none'; script-src 'sha256-${hash}'; style-src 'unsafe-inline'; img-src data: blob:; ` +
    `connect-src ${connect}; frame-src ${frames}; base-uri 'none'; form-action 'none'`;
  const html = read("src", name, "page.html")
    .replace("<!--policy-->", () => `<meta http-equiv="Content-Security-Policy" content="${policy}">`)
    .replace("<!--style-->", () => `<style>${style}</style>`)
    .replace("<!--script-->", () => `<script>${script}</script>`);
  if (html.split(DATA).length !== 2) throw new Error(`${name}: page.html must hold ${DATA} once`);
  return html;
}

function asArray(name, bytes) {
  const rows = [];
  for (let i = 0; i < bytes.length; i += 32) rows.push(Array.from(bytes.subarray(i, i + 32)).join(","));
  return `static const unsigned char ${name}_bytes[] = {\n${rows.join(",\n")}};\n`;
}

mkdirSync(out, { recursive: true });
let source = '/* Made by web/build.mjs. */\n#include "report/page.h"\n\n';
for (const name of pages) {
  const html = await page(name);
  writeFileSync(join(out, `${name}.html`), html);
  const [before, after] = html.split(DATA).map((text) => Buffer.from(text));
  source += asArray(`${name}_before`, before) + asArray(`${name}_after`, after);
  source +=
    `const ss_page ss_page_${name} = {${name}_before_bytes, sizeof ${name}_before_bytes, ` +
    `${name}_after_bytes, sizeof ${name}_after_bytes};\n\n`;
}
for (const name of others) writeFileSync(join(out, `${name}.html`), await page(name));
writeFileSync(join(out, "pages.c"), source);
