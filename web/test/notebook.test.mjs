// A tutorial as a notebook: executed, turned into HTML by nbconvert, opened. Its frames must live without the notebook.
import test from "node:test";
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { join, resolve } from "node:path";
import { open, scratch } from "./browser.mjs";

const source = resolve(process.env.SS_SOURCE_DIR ?? ".."), build = resolve(process.env.SS_BUILD_DIR ?? "../build/release");
const python = "/usr/bin/python3";

function has(...modules) {
  try {
    execFileSync(python, ["-c", modules.map((name) => `import ${name}`).join("; ")], { stdio: "ignore" });
    return true;
  } catch {
    return false;
  }
}

test("a_notebook_shows_a_picture_first_3d_on_click_and_a_report", {
  skip: !has("nbconvert", "nbclient", "ipykernel", "matplotlib", "pandas") && process.env.STICKSLIP_REQUIRE_TOOLS !== "1"
    && "jupyter is not installed",
}, async (t) => {
  const folder = scratch(t);
  execFileSync(python, [join(source, "tools/notebook"), join(source, "docs/tutorials/first_solver.py"), "-o", folder]);
  execFileSync(python, ["-m", "nbconvert", "--execute", "--to", "html", "first_solver.ipynb"], {
    cwd: folder, stdio: "ignore", env: { ...process.env, PYTHONPATH: join(build, "python") },
  });
  const { page, problems } = await open(t, join(folder, "first_solver.html"));
  const errors = () => problems.filter((line) => !/ERR_|Failed to load/.test(line)); // nbconvert's MathJax is elsewhere

  const replay = page.frameLocator("iframe").first();
  assert.equal(await replay.locator("canvas").count(), 0, "3-D starts on click only");
  const picture = replay.locator("#start img");
  assert.ok((await picture.evaluate((image) => image.naturalWidth)) > 100);
  await picture.click();
  await replay.locator("canvas").first().waitFor({ timeout: 20000 });
  await replay.getByText("22 contacts", { exact: true }).waitFor({ state: "attached" }); // the panel has no room in a cell
  const [scene, cell] = await Promise.all([replay.locator("canvas").first().boundingBox(),
    page.locator("iframe").first().boundingBox()]);
  assert.ok(scene.height > 0.6 * cell.height && scene.width > 0.9 * cell.width, "the scene fills the cell");

  const report = page.frameLocator("iframe").nth(1);
  await report.getByRole("heading", { name: "My first solver" }).waitFor({ timeout: 20000 });
  await report.getByRole("link", { name: "Cost", exact: true }).click(); // a link inside the page stays inside
  await page.waitForTimeout(300);
  assert.equal(await report.getByRole("heading", { name: "My first solver" }).count(), 1);
  assert.deepEqual(errors(), []);
  if (process.env.SS_SCREENSHOT) await page.screenshot({ path: process.env.SS_SCREENSHOT, fullPage: true });
});
