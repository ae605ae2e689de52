// Every run as one cell: problems across, methods down; coloured by outcome, error, cost or iterations.
import { svg } from "../common/dom";
import { count, number, power, seconds } from "../common/format";
import { HEAT } from "../common/palette";
import { menu } from "./address";
import { floatingTip, placeTip } from "./crosshair";
import { metricValue, showRuns } from "./details";
import type { Figure, Table } from "./figure";
import { figure } from "./figure";
import type { Model } from "./model";
import { SOLVED, labelLength, labelRoom, short, shortAll, shortSeries } from "./model";
import { BOX } from "./swatch";

/** Limits are hatched: a run that was cut off may have been right. */
const HATCHED = ["max iterations", "time limit"];
const SPACING = 5; // px
const NOT_APPLICABLE = "not applicable"; // a dash

const hatchLine = (which: number, from: number, size: number): SVGElement =>
  svg("line", {
    x1: from,
    x2: from + (which === 0 ? size : -size),
    y1: size,
    y2: 0,
    stroke: "var(--paper)",
    "stroke-width": 1.2,
    "stroke-opacity": 0.75,
  });

/** The sign of an outcome beside its name. */
function overlay(name: string): (() => SVGElement) | undefined {
  const which = HATCHED.indexOf(name);
  if (name === NOT_APPLICABLE)
    return () => svg("rect", { x: 3, y: BOX / 2 - 0.6, width: BOX - 6, height: 1.2, fill: "var(--ink-faint)" });
  if (which < 0) return undefined;
  return () => {
    const group = svg("svg", { width: BOX, height: BOX, viewBox: `0 0 ${BOX} ${BOX}` });
    for (let at = -BOX; at < 2 * BOX; at += SPACING) group.append(hatchLine(which, at, BOX));
    return group;
  };
}

/** What cells may be coloured by. */
interface Quantity {
  name: string;
  of: (run: number) => number | null;
  text: (value: number | null) => string;
}

export function outcomeMatrix(model: Model): Figure {
  const present = new Set<number>([SOLVED]);
  for (const run of model.live)
    for (let t = 0; t < model.data.tolerances.length; t++) present.add(model.verdict(run, t));
  if (model.runCount < model.series.length * model.data.problems.length) present.add(model.noRun);
  const kinds = [...present].sort((a, b) => a - b);
  const scenes = [...new Set(model.data.problems.filter((problem) => !problem.fault).map((problem) => problem.scene))];
  const { runs } = model.data;
  const quantities: Record<string, Quantity> = {
    error: {
      name: model.measureName,
      of: (run) => model.metric(model.data.measure, run),
      text: (value) => number(value),
    },
    cost: { name: "cost", of: (run) => model.cost(run), text: (value) => seconds(value) },
    iterations: { name: "iterations", of: (run) => runs.iterations[run], text: (value) => count(value) },
  };
  let by = "outcome",
    scene = "";
  const rowHeight = (): number => (model.series.length > 30 ? 13 : 18);
  const sceneMenu =
    scenes.length < 2
      ? null
      : menu(
          "outcomes.scene",
          "scene",
          [["", "all"], ...scenes.map((name): [string, string] => [name, short(name, 60)])],
          scene,
          (value) => {
            scene = value;
            own.redraw();
          },
        );
  function chooseScene(name: string): void {
    const select = sceneMenu?.querySelector("select");
    if (!select) return;
    select.value = select.value === name ? "" : name;
    select.dispatchEvent(new Event("change"));
  }

  const own = figure(model, {
    id: "outcomes",
    title: "Outcome of every run",
    read: "One cell is one run, problems from left to right and methods from top to bottom, best first; the stronger its colour, the worse. Click on a cell to open its run, on a method for all of its runs, on a scene to see it alone.",
    legend: kinds.map((kind) => ({
      key: model.verdicts[kind].name,
      label: model.verdicts[kind].name,
      colour: kind === model.refused || kind === model.noRun ? "var(--paper)" : model.verdicts[kind].colour,
      title: model.verdicts[kind].summary,
      overlay: overlay(model.verdicts[kind].name),
    })),
    height: () => 28 + model.series.length * rowHeight(),
    controls: [
      menu(
        "outcomes.colour",
        "colour by",
        [["outcome", "outcome"], ...Object.entries(quantities).map(([key, { name }]): [string, string] => [key, name])],
        by,
        (value) => {
          by = value;
          own.redraw();
        },
      ),
      ...(sceneMenu ? [sceneMenu] : []),
    ],
    draw(width, hidden) {
      const rows = model.ranking(),
        { problems } = model.data;
      const columns = [...problems.keys()].filter((index) => !scene || problems[index].scene === scene);
      const quantity = quantities[by] ?? null;
      const table: Table = {
        columns: [
          "series",
          "scene",
          "file",
          "place",
          "outcome",
          model.measureName,
          "cost [s]",
          "iterations",
          "message",
        ],
        rows: [],
        runs: [],
      };
      if (rows.length === 0 || columns.length === 0) return { drawing: null, table };
      const top = quantity ? 58 : 20,
        left = labelRoom(width),
        cellHeight = rowHeight();
      const cell = (width - left - 8) / columns.length,
        inset = cell > 6 ? 1 : 0;
      const height = top + rows.length * cellHeight + 8;
      const rowOf = new Map(rows.map((series, row) => [series, row])),
        columnOf = new Map(columns.map((problem, column) => [problem, column]));
      const grid = new Int32Array(rows.length * columns.length).fill(-1);
      for (const run of model.live) {
        const column = columnOf.get(runs.problem[run]);
        if (column !== undefined) grid[rowOf.get(runs.series[run])! * columns.length + column] = run;
      }

      // The range of a quantity, in equal ratios.
      let low = Infinity,
        high = 0;
      if (quantity)
        for (const run of grid) {
          const value = run < 0 ? null : quantity.of(run);
          if (value !== null && value > 0) {
            low = Math.min(low, value);
            high = Math.max(high, value);
          }
        }
      // Below 1e-12 all is rounding, and an error of 1 is what doing nothing has.
      if (by === "error" && model.data.measure === "relative_energy") {
        low = Math.min(Math.max(low, 1e-12), 0.1);
        high = 1;
      }
      if (!(high > low)) high = low * 10;
      const level = (value: number): number =>
        value > low
          ? Math.min(HEAT.length - 1, Math.floor((HEAT.length * Math.log(value / low)) / Math.log(high / low)))
          : 0;

      const drawing = svg("svg", {
        width,
        height,
        viewBox: `0 0 ${width} ${height}`,
        class: "matrix",
        "font-size": cellHeight > 14 ? 12 : 10.5,
      }) as SVGSVGElement;
      const paths = new Map<string, { colour: string; verdict: string; pieces: string[] }>();
      for (let row = 0; row < rows.length; row++)
        for (let column = 0; column < columns.length; column++) {
          const run = grid[row * columns.length + column],
            kind = run < 0 ? model.noRun : model.verdict(run),
            { name, colour } = model.verdicts[kind];
          if (!quantity && hidden.has(name)) continue;
          if (run >= 0) {
            const problem = problems[columns[column]];
            table.rows.push([
              model.series[rows[row]].label,
              problem.scene,
              problem.file,
              problem.place,
              name,
              model.metric(model.data.measure, run),
              model.cost(run),
              runs.iterations[run],
              runs.message[run],
            ]);
            table.runs!.push(run);
          }
          const x = left + column * cell,
            y = top + row * cellHeight + 1,
            value = quantity && run >= 0 ? quantity.of(run) : null;
          // What does not apply is a dash, what was not run is empty: neither is good or bad.
          const dash = quantity ? value === null : kind === model.refused;
          if (run < 0) continue;
          const key = dash ? "dash" : quantity ? String(level(value!)) : name;
          let found = paths.get(key);
          if (!found)
            paths.set(
              key,
              (found = {
                colour: dash ? "var(--line-strong)" : quantity ? HEAT[level(value!)] : colour,
                verdict: dash && quantity ? "no value" : quantity ? "" : name,
                pieces: [],
              }),
            );
          found.pieces.push(
            dash
              ? `M${round(x + 0.3 * cell)},${y + cellHeight / 2 - 1.6}h${round(0.4 * cell)}v1.2h${round(-0.4 * cell)}z`
              : `M${round(x)},${y}h${round(cell - inset)}v${cellHeight - 2}h${round(inset - cell)}z`,
          );
        }
      const patterns = svg("defs");
      HATCHED.forEach((name, which) => {
        const pattern = svg("pattern", {
          id: `hatch-${which}`,
          width: SPACING,
          height: SPACING,
          patternUnits: "userSpaceOnUse",
        });
        for (const from of [-SPACING, 0, SPACING, 2 * SPACING]) pattern.append(hatchLine(which, from, SPACING));
        if (!quantity && paths.has(name)) patterns.append(pattern);
      });
      if (patterns.childNodes.length > 0) drawing.append(patterns);
      for (const { colour, verdict, pieces } of paths.values()) {
        drawing.append(
          svg("path", { d: pieces.join(""), fill: colour, ...(verdict ? { "data-verdict": verdict } : {}) }),
        );
        const which = HATCHED.indexOf(verdict);
        if (which >= 0) drawing.append(svg("path", { d: pieces.join(""), fill: `url(#hatch-${which})` }));
      }
      const names = shortSeries(model, rows, labelLength(width) + (cellHeight > 14 ? 0 : 5));
      rows.forEach((_, row) =>
        drawing.append(
          svg(
            "text",
            {
              x: left - 8,
              y: top + (row + 0.5) * cellHeight,
              dy: "0.35em",
              "text-anchor": "end",
              fill: "currentColor",
            },
            names[row],
          ),
        ),
      );
      const shortScenes = shortAll(scenes, 11);
      let last = "",
        edge = -Infinity;
      columns.forEach((index, column) => {
        const problem = problems[index];
        if (problem.scene === last) return;
        last = problem.scene;
        const x = left + column * cell;
        if (column > 0)
          drawing.append(
            svg("line", { x1: x, x2: x, y1: top - 6, y2: height - 8, stroke: "var(--ink-faint)", "stroke-width": 0.6 }),
          );
        if (x - edge > 70 && !problem.fault) {
          drawing.append(
            svg("text", { x: x + 3, y: top - 7, fill: "var(--ink-soft)", "font-size": 11 }, shortScenes[scenes.indexOf(last)]),
          );
          edge = x;
        }
      });
      if (quantity) drawing.append(...colourBar(quantity, low, high, left, width - 8));

      const place = (event: MouseEvent): { row: number; column: number } => {
        const box = drawing.getBoundingClientRect(),
          scale = width / box.width;
        return {
          column: Math.floor(((event.clientX - box.left) * scale - left) / cell),
          row: Math.floor(((event.clientY - box.top) * scale - top) / cellHeight),
        };
      };
      const within = (value: number, end: number): boolean => value >= 0 && value < end;
      const runAt = ({ row, column }: { row: number; column: number }): number =>
        within(row, rows.length) && within(column, columns.length) ? grid[row * columns.length + column] : -1;
      drawing.addEventListener("pointermove", (event) => {
        const at = place(event),
          run = runAt(at),
          tip = floatingTip();
        const name =
          (at.column < 0 && within(at.row, rows.length)) ||
          (at.row < 0 && within(at.column, columns.length) && scenes.length > 1);
        drawing.style.cursor = run >= 0 || name ? "pointer" : "default";
        tip.hidden = run < 0;
        if (run < 0) return;
        const problem = problems[runs.problem[run]],
          lines = [
            short(model.series[runs.series[run]].label, 60),
            `${short(problem.scene, 40)} ${problem.place}`,
            `${model.verdicts[model.verdict(run)].name}${runs.message[run] ? `: ${short(runs.message[run]!, 80)}` : ""}`,
            ...Object.values(quantities).map((one) => `${one.name} ${one.text(one.of(run))}`),
          ];
        tip.textContent = lines.join("\n");
        placeTip(event);
      });
      drawing.addEventListener("pointerleave", () => (floatingTip().hidden = true));
      drawing.addEventListener("click", (event) => {
        const at = place(event),
          run = runAt(at);
        floatingTip().hidden = true;
        const value = quantity
          ? { name: quantity.name, unit: by === "cost" ? "s" : "", of: quantity.of }
          : metricValue(model, model.data.measure);
        if (run >= 0) showRuns(model, { title: model.series[runs.series[run]].label, runs: [run], value });
        else if (at.column < 0 && within(at.row, rows.length)) {
          const series = rows[at.row];
          showRuns(model, { title: `Runs of ${model.series[series].label}`, runs: model.runsOf[series], value });
        } else if (at.row < 0 && within(at.column, columns.length)) chooseScene(problems[columns[at.column]].scene);
      });
      return {
        drawing,
        table,
        legendOff: quantity !== null,
        note: quantity
          ? `From quiet, ${quantity.text(low)} or less, to strong, ${quantity.text(high)} or more. A dash: no value${by === "cost" ? `, not solved to ${power(model.toleranceValue)}` : ""}.`
          : null,
      };
    },
  });
  return own;
}

/** What the colours of a quantity mean, above the cells. */
function colourBar(quantity: Quantity, low: number, high: number, left: number, right: number): SVGElement[] {
  const width = Math.min(320, right - left),
    step = width / HEAT.length;
  return [
    ...HEAT.map((colour, i) => svg("rect", { x: left + i * step, y: 12, width: step + 0.5, height: 9, fill: colour })),
    svg("text", { x: left, y: 7, "font-size": 11, fill: "var(--ink-soft)" }, quantity.name),
    ...[0, 4, 8].map((i) =>
      svg(
        "text",
        {
          x: left + i * step,
          y: 32,
          "font-size": 10.5,
          fill: "var(--ink-soft)",
          "text-anchor": i === 0 ? "start" : i === 4 ? "middle" : "end",
        },
        Number.isFinite(low) ? quantity.text(low * (high / low) ** (i / HEAT.length)) : "",
      ),
    ),
  ];
}

const round = (value: number): number => Math.round(100 * value) / 100;
