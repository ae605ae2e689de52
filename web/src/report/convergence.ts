// How the error falls from iteration to iteration, in one scene; in all of them together only where the error has no unit.
import * as Plot from "@observablehq/plot";
import { choice } from "../common/dom";
import { number, plural } from "../common/format";
import { look } from "../common/palette";
import type { Band } from "./data";
import { heightFor, lines, logScale, markSome, plot, tip } from "./axes";
import type { Point } from "./axes";
import type { Drawn, Figure, Table } from "./figure";
import { figure } from "./figure";
import type { Model } from "./model";
import { short } from "./model";

const COLUMNS = ["mean", "deviation", "median", "low", "high", "most"] as const;
const HEADINGS = ["mean", "standard deviation", "median", "5 % quantile", "95 % quantile", "largest"];

export function convergence(model: Model): Figure {
  const places = (model.series[0]?.bands ?? []).map(({ scene }) => scene);
  let place = Math.max(0, places.findIndex((scene) => scene !== null));
  let gauge = model.data.gauges.includes("energy") ? "energy" : (model.data.gauges[0] ?? "");
  let who = model.series.length > 0 ? "0" : "shown";
  let which: "mean" | "median" = "median";
  const own = figure(model, {
    id: "convergence",
    title: "Convergence",
    read: "The error on the solver\u2019s own problem after each iteration: one solver with its spread over the problems of a scene (band: 5 % to 95 % around the median, or mean \u00b1 one standard deviation), or all that are shown. From its end on a run counts with its answer. Scenes have energies of their own, so that all of them together have the relative energy error only.",
    legend: "series",
    controls: [
      choice(
        "scene",
        places.map((scene, i): [string, string] => [
          String(i),
          scene === null ? "all, relative energy" : short(model.data.scenes[scene]?.name ?? ""),
        ]),
        String(place),
        (value) => {
          place = Number(value);
          own.redraw();
        },
      ),
      choice(
        "solver",
        [
          ["shown", "all shown, lines only"],
          ...model.series.map((series, i): [string, string] => [String(i), series.label]),
        ],
        who,
        (value) => {
          who = value;
          own.redraw();
        },
      ),
      choice(
        "error",
        model.data.gauges.map((name): [string, string] => [name, name.replaceAll("_", " ")]),
        gauge,
        (value) => {
          gauge = value;
          own.redraw();
        },
      ),
      choice(
        "over problems",
        [
          ["median", "median, 5 % to 95 %"],
          ["mean", "mean \u00b1 deviation"],
        ],
        which,
        (value) => {
          which = value as typeof which;
          own.redraw();
        },
      ),
    ],
    draw: (width) => {
      const shown: Shown = { place, gauge: places[place] === null ? "relative_energy" : gauge };
      return who === "shown" ? compare(model, width, shown, which) : one(model, width, Number(who), shown, which);
    },
  });
  return own;
}

/** Which bands of a series: an index into them, and a gauge. */
interface Shown {
  place: number;
  gauge: string;
}
const bandOf = (model: Model, series: number, { place, gauge }: Shown): Band | undefined =>
  model.series[series]?.bands[place]?.gauges[gauge];

function tableOf(model: Model, wanted: number[], shown: Shown): Table {
  const rows = wanted.flatMap((series) => {
    const band = bandOf(model, series, shown);
    return band
      ? band.iteration.map((iteration, i) => [
          model.series[series].label,
          iteration,
          band.count[i],
          ...COLUMNS.map((name) => band[name][i]),
        ])
      : [];
  });
  return { columns: ["series", "iteration", "runs", ...HEADINGS], rows };
}

function points(model: Model, series: number, band: Band | undefined, which: "mean" | "median"): Point[] {
  const found = (band?.iteration ?? []).flatMap((x, i): Point[] => {
    const y = band![which][i];
    return y !== null && y > 0
      ? [
          {
            x,
            y,
            series,
            tip: `${model.series[series].label}\niteration ${x}: ${which} ${number(y)}\n${plural(band!.count[i], "run")}`,
          },
        ]
      : [];
  });
  return markSome(found);
}

const yLabel = (model: Model, gauge: string): string => {
  const unit = model.unit(gauge);
  return gauge.replaceAll("_", " ") + (unit && unit !== "1" && unit !== "mixed" ? ` [${unit}]` : "");
};

function compare(model: Model, width: number, shown: Shown, which: "mean" | "median"): Drawn {
  const all = model.chosen().flatMap((series) => points(model, series, bandOf(model, series, shown), which));
  const table = tableOf(model, model.chosen(), shown);
  if (all.length === 0) return { drawing: null, table };
  return {
    drawing: plot({
      width,
      height: heightFor(width),
      x: logScale({ label: "iteration", values: all.map((p) => p.x) }),
      y: logScale({ label: `${yLabel(model, shown.gauge)}, ${which}`, values: all.map((p) => p.y) }),
      marks: lines(model.chosen(), all),
    }),
    table,
  };
}

function one(model: Model, width: number, series: number, shown: Shown, which: "mean" | "median"): Drawn {
  const band = bandOf(model, series, shown);
  const line = points(model, series, band, which);
  const table = tableOf(model, model.series[series] ? [series] : [], shown);
  if (!band || line.length === 0) return { drawing: null, table, legendOff: true };
  const rows = band.iteration.map((x, i) => {
    const mean = band.mean[i],
      deviation = band.deviation[i] ?? 0;
    return which === "mean"
      ? {
          x,
          low: mean === null ? null : mean - deviation,
          high: mean === null ? null : mean + deviation,
          most: band.most[i],
        }
      : { x, low: band.low[i], high: band.high[i], most: band.most[i] };
  });
  const positive = (value: number | null): value is number => value !== null && value > 0;
  // A mean minus its deviation may be negative, which no logarithmic axis shows: the band then goes down to the axis, which
  // ends a decade below the least value that is drawn.
  const values = [
    ...line.map((p) => p.y),
    ...rows.map((row) => row.high).filter(positive),
    ...rows.map((row) => row.most).filter(positive),
    ...(which === "median" ? rows.map((row) => row.low).filter(positive) : []),
  ];
  const y = logScale({ label: yLabel(model, shown.gauge), values: [...values, Math.min(...values) / 3] });
  const floor = (y.domain as [number, number])[0];
  const { colour } = look(series);
  const area = rows
    .filter((row) => positive(row.high))
    .map((row) => ({ x: row.x, low: Math.max(floor, row.low ?? floor), high: row.high as number }));
  return {
    drawing: plot({
      width,
      height: heightFor(width),
      x: logScale({ label: "iteration", values: band.iteration }),
      y,
      marks: [
        Plot.areaY(area, { x: "x", y1: "low", y2: "high", fill: colour, fillOpacity: 0.13 }),
        Plot.line(
          rows.filter((row) => positive(row.most)),
          { x: "x", y: "most", stroke: colour, strokeWidth: 1, strokeDasharray: "2 3" },
        ),
        Plot.line(line, { x: "x", y: "y", stroke: colour, strokeWidth: 2 }),
        tip(line),
      ],
    }),
    table,
    legendOff: true,
    note:
      "Line: " +
      which +
      ". Band: " +
      (which === "mean" ? "mean \u00b1 one standard deviation" : "5 % to 95 % of the problems") +
      ". Dotted: the maximum.",
  };
}
