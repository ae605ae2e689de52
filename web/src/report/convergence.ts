// How the error falls from iteration to iteration, in one scene; in all of them together only where the error has no unit.
import * as Plot from "@observablehq/plot";
import { number, plural } from "../common/format";
import { look } from "../common/palette";
import type { Band } from "./data";
import { menu } from "./address";
import { chart, heightFor, logScale, markSome } from "./axes";
import type { Point } from "./axes";
import type { Drawn, Figure, Table } from "./figure";
import { figure, seriesKey } from "./figure";
import type { Model } from "./model";
import { short } from "./model";

const COLUMNS = ["mean", "deviation", "median", "low", "high", "most"] as const;
const HEADINGS = ["mean", "standard deviation", "median", "5 % quantile", "95 % quantile", "largest"];

export function convergence(model: Model): Figure {
  const places = (model.series[0]?.bands ?? []).map(({ scene }) => scene);
  let place = Math.max(
    0,
    places.findIndex((scene) => scene !== null),
  );
  let gauge = model.data.gauges.includes("energy") ? "energy" : (model.data.gauges[0] ?? "");
  let who = model.series.length > 0 ? "0" : "shown";
  let which: "mean" | "median" = "median";
  const own = figure(model, {
    id: "convergence",
    title: "Convergence",
    read: "The error on the solver\u2019s own problem after each iteration: methods with their spread over the problems of a scene (band: 5 % to 95 % around the median, or mean \u00b1 one standard deviation), or lines only. From its end on a run counts with its answer. Scenes have energies of their own, so that all of them together have the relative energy error only.",
    reference: "Bands as in Enzenh\u00f6fer, Peiret, Teichmann and K\u00f6vecses 2019.",
    legend: "series",
    height: heightFor,
    controls: [
      menu(
        "convergence.scene",
        "scene",
        places.map((scene, i): [string, string] => [
          String(i),
          scene === null ? "all, relative energy" : short(sceneName(model, i)),
        ]),
        String(place),
        (value) => {
          place = Number(value);
          own.redraw();
        },
        true,
      ),
      menu(
        "convergence.method",
        "method",
        [
          ["shown", "all shown, lines only"],
          ["bands", "all shown, with bands"],
          ...model.series.map((series, i): [string, string] => [String(i), series.label]),
        ],
        who,
        (value) => {
          who = value;
          own.redraw();
        },
        true,
      ),
      menu(
        "convergence.error",
        "error",
        model.data.gauges.map((name): [string, string] => [name, name.replaceAll("_", " ")]),
        gauge,
        (value) => {
          gauge = value;
          own.redraw();
        },
      ),
      menu(
        "convergence.over",
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
      const wanted =
        who === "shown" || who === "bands" ? model.chosen() : model.series[Number(who)] ? [Number(who)] : [];
      return draw(model, width, wanted, shown, which, who !== "shown");
    },
  });
  return own;
}

/** Which bands of a series: an index into them, and a gauge. */
interface Shown {
  place: number;
  gauge: string;
}
const sceneName = (model: Model, place: number): string => {
  const scene = model.series[0]?.bands[place]?.scene ?? null;
  return scene === null ? "all scenes" : (model.data.scenes[scene]?.name ?? "");
};
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

interface Edge {
  x: number;
  low: number;
  high: number;
}

/** Lines of these series, with bands around them; of one alone also its largest values, dotted. */
function draw(
  model: Model,
  width: number,
  wanted: number[],
  shown: Shown,
  which: "mean" | "median",
  banded: boolean,
): Drawn {
  const alone = wanted.length === 1 && banded;
  const table = tableOf(model, wanted, shown);
  const legendOff = alone;
  const all = wanted.flatMap((series) => points(model, series, bandOf(model, series, shown), which));
  if (all.length === 0) return { drawing: null, table, legendOff };
  const positive = (value: number | null | undefined): value is number => typeof value === "number" && value > 0;
  const bands = (banded ? wanted : []).flatMap((series) => {
    const band = bandOf(model, series, shown);
    if (!band) return [];
    const edges = band.iteration.flatMap((x, i): Edge[] => {
      const mean = band.mean[i],
        deviation = band.deviation[i] ?? 0;
      const low = which === "median" ? band.low[i] : mean === null ? null : mean - deviation,
        high = which === "median" ? band.high[i] : mean === null ? null : mean + deviation;
      return positive(high) ? [{ x, low: low ?? 0, high }] : [];
    });
    const most = band.iteration.flatMap((x, i) => (alone && positive(band.most[i]) ? [{ x, y: band.most[i]! }] : []));
    return [{ series, edges, most }];
  });
  // A mean minus its deviation may be negative, which no logarithmic axis shows: the band then goes down to the axis, which
  // ends half a decade below the least value that is drawn.
  const values = [
    ...all.map((point) => point.y),
    ...bands.flatMap(({ edges }) =>
      edges.flatMap(({ low, high }) => (low > 0 && which === "median" ? [low, high] : [high])),
    ),
    ...bands.flatMap(({ most }) => most.map((point) => point.y)),
  ];
  const least = values.reduce((a, b) => Math.min(a, b), Infinity);
  const y = logScale({
    label: yLabel(model, shown.gauge) + (banded ? "" : `, ${which}`),
    values: banded ? [...values, least / 3] : values,
  });
  const floor = (y.domain as [number, number])[0];
  const cut = which === "mean" && bands.some(({ edges }) => edges.some(({ low }) => low <= 0));
  return {
    drawing: chart(
      {
        width,
        height: heightFor(width),
        x: logScale({ label: "iteration", values: all.map((point) => point.x), width }),
        y,
        marks: bands.flatMap(({ series, edges, most }) => [
          Plot.areaY(
            edges.map((edge) => ({ ...edge, low: Math.max(floor, edge.low) })),
            {
              x: "x",
              y1: "low",
              y2: "high",
              fill: look(series).colour,
              fillOpacity: 0.13,
              className: `of-${series}`,
            },
          ),
          Plot.line(most, {
            x: "x",
            y: "y",
            stroke: look(series).colour,
            strokeWidth: 1,
            strokeDasharray: "2 3",
            className: `of-${series}`,
          }),
        ]),
      },
      {
        model,
        wanted,
        points: all,
        lowIsGood: true,
        heading: (iteration) => `iteration ${iteration}, ${which}`,
        value: number,
      },
    ),
    table,
    legendOff,
    key: seriesKey(model, wanted),
    about: `${sceneName(model, shown.place)}: ${which} over problems${banded ? (which === "mean" ? ", \u00b1 one standard deviation" : ", 5 % to 95 %") : ""}`,
    note: banded
      ? `Line: ${which}. Band: ${which === "mean" ? "mean \u00b1 one standard deviation" : "5 % to 95 % of the problems"}${cut ? "; where it reaches the axis, it goes below zero" : ""}.${alone ? " Dotted: the maximum." : ""}`
      : null,
  };
}
