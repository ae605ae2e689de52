// What warm starts are worth: each method beside itself from zero, and errors along sequences.
import { foreign, h } from "../common/dom";
import { csv } from "../common/download";
import { NONE, count, number, plural } from "../common/format";
import { look } from "../common/palette";
import { menu } from "./address";
import { chart, countScale, heightFor, logScale } from "./axes";
import type { Point } from "./axes";
import type { StartScore, StartStanding } from "./data";
import { costValue, runsButton } from "./details";
import type { Figure, Table } from "./figure";
import { figure, keyList, saveMenu, seriesKey } from "./figure";
import type { Model } from "./model";
import { sortable } from "./sortable";
import { swatch } from "./swatch";

export function startTable(model: Model): HTMLElement {
  const { starts } = model.data;
  const score = (standing: StartStanding): StartScore => standing.scores[model.tolerance];
  const factor = (value: number | null): string => (value === null ? NONE : number(value));
  const numeric = (key: "frames" | "solved" | "coldSolved" | "better" | "worse", title: string, help: string) => ({
    key,
    title,
    help,
    numeric: true,
    falling: true,
    value: (standing: StartStanding) => score(standing)[key],
    cell: (standing: StartStanding) => count(score(standing)[key]),
  });
  const table = sortable<StartStanding>(
    [
      {
        key: "method",
        title: "Method",
        value: (standing) => model.series[standing.series].label,
        cell: (standing) =>
          h("span", null, swatch(look(standing.series)), " ", foreign(model.series[standing.series].label)),
      },
      { key: "start", title: "Start", value: (standing) => standing.start, cell: (standing) => standing.start },
      {
        ...numeric("frames", "Frames", "frames with something to start from that were also run from zero"),
        cell: (standing) =>
          runsButton(model, count(score(standing).frames), () => ({
            title: model.series[standing.series].label,
            runs: model.runsOf[standing.series],
            value: costValue(model),
          })),
      },
      numeric("solved", "Solved", "of these frames"),
      numeric("coldSolved", "from zero", "of these frames, by the same method from zero"),
      {
        key: "iterations",
        title: "Iterations",
        help: "geometric mean of the iterations until solved over those from zero, where both solve",
        numeric: true,
        value: (standing) => score(standing).iterations,
        cell: (standing) => factor(score(standing).iterations),
      },
      {
        key: "cost",
        title: "Cost",
        help: "the same of the time until solved",
        numeric: true,
        value: (standing) => score(standing).cost,
        cell: (standing) => factor(score(standing).cost),
      },
      numeric("better", "Better", "fewer iterations than from zero, or solved where zero is not"),
      numeric("worse", "Worse", "more iterations than from zero, or not solved where zero is: the start hurts"),
    ],
    { id: "warm-starts", name: "Warm starts", start: "iterations", few: 16, what: "method" },
  );
  const status = h("p", { class: "read" });
  function fill(): void {
    const hurt = starts.filter((standing) => score(standing).worse > score(standing).better).length;
    status.textContent =
      "Each method beside itself from zero, on the frames that have a frame before. Iterations and cost are factors: below 1 the start saves." +
      (hurt > 0 ? ` For ${plural(hurt, "method")} the start hurts more often than it helps.` : "");
    table.fill(starts);
  }
  const numbers = (): string =>
    csv(
      [
        "series",
        "start",
        "from zero",
        "tolerance",
        "frames",
        "solved",
        "solved from zero",
        "fewer iterations",
        "more iterations",
        "iterations over those from zero",
        "cost over that from zero",
      ],
      starts.map((standing) => {
        const own = score(standing);
        return [
          model.series[standing.series].label,
          standing.start,
          model.series[standing.cold].label,
          model.toleranceValue,
          own.frames,
          own.solved,
          own.coldSolved,
          own.better,
          own.worse,
          own.iterations,
          own.cost,
        ];
      }),
    );
  const saving = saveMenu("Warm starts", { name: "warm-starts", csv: numbers, text: table.text });
  const element = h("div", { class: "block" }, h("div", { class: "with-save" }, status, saving.element), table.element);
  model.onChange(fill);
  fill();
  return element;
}

/** The error of the answers from frame to frame, of one method with all its starts. */
export function drift(model: Model): Figure {
  const { starts } = model.data;
  const colds = [...new Set(starts.map((standing) => standing.cold))];
  let cold = colds[0];
  const own = figure(model, {
    id: "drift",
    title: "Errors along the sequence",
    read: "The error of the answers, frame by frame; the median where there are several simulations. A method that starts from its own answers hands its errors on: its line shows whether they grow or shrink.",
    height: heightFor,
    controls: [
      menu(
        "drift.method",
        "method",
        colds.map((series): [string, string] => [model.series[series].label, model.series[series].label]),
        model.series[cold].label,
        (value) => {
          cold = colds.find((series) => model.series[series].label === value) ?? cold;
          own.redraw();
        },
      ),
    ],
    draw(width) {
      const points: Point[] = [];
      const table: Table = {
        columns: ["series", "frame of the simulation", `${model.measureName}, median`],
        rows: [],
      };
      const wanted = [
        cold,
        ...starts.filter((standing) => standing.cold === cold).map((standing) => standing.series),
      ];
      for (const series of wanted) {
        const { label, drift: curve } = model.series[series];
        curve.x.forEach((frame, i) => {
          const error = curve.y[i];
          table.rows.push([label, frame, error]);
          if (error !== null && error > 0)
            points.push({ x: frame, y: error, series, mark: true, tip: `${label}\nframe ${frame}: ${number(error)}` });
        });
      }
      if (points.length === 0) return { drawing: null, table };
      return {
        drawing: chart(
          {
            width,
            height: heightFor(width),
            x: countScale("frame of the simulation", 0, Math.max(...points.map((p) => p.x)), width),
            y: logScale({ label: `${model.measureName} (median)`, values: points.map((p) => p.y) }),
          },
          {
            model,
            wanted,
            points,
            lowIsGood: true,
            heading: (frame) => `frame ${frame}`,
            value: number,
            // All lines are of one method.
            endName: (series) => starts.find((standing) => standing.series === series)?.start ?? "from zero",
          },
        ),
        table,
        note: keyList(seriesKey(model, wanted)),
        key: seriesKey(model, wanted),
      };
    },
  });
  return own;
}
