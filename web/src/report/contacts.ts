// What the answers do at contacts: shares of states, and errors contact by contact.
import * as Plot from "@observablehq/plot";
import { STATES as COMMON } from "../common/palette";
import type { State } from "../common/palette";
import { count, number, percent } from "../common/format";
import { menu } from "./address";
import { chart, heightFor, logScale, markSome, plot, shareScale, tip } from "./axes";
import type { Point } from "./axes";
import type { Figure, LegendItem, Table } from "./figure";
import { figure } from "./figure";
import type { Model } from "./model";
import { labelLength, labelRoom, shortSeries } from "./model";

const state = (key: StateItem["key"], { name, colour, summary }: State): StateItem => ({
  key,
  label: name,
  colour,
  title: summary,
});
type StateItem = LegendItem & { key: "slidingBad" | "slidingGood" | "sticking" | "open" };
export const STATES: StateItem[] = [
  state("slidingBad", COMMON.bad),
  state("slidingGood", COMMON.slip),
  state("sticking", COMMON.stick),
  state("open", COMMON.open),
];

export function contactShares(model: Model): Figure {
  return figure(model, {
    id: "contact-states",
    title: "States of contacts",
    read: "The fraction of contacts, over all judged runs, that stick, slide, are driven by friction (which Coulomb\u2019s law forbids), or are open; if several contacts share a load, correct answers may share it differently.",
    legend: STATES,
    height: () => 56 + 24 * model.shown.size,
    draw(width, hidden) {
      const shown = model.ranking().filter((series) => model.shown.has(series));
      const table: Table = {
        columns: ["series", ...STATES.map((state) => state.label)],
        rows: shown.map((series) => [
          model.series[series].label,
          ...STATES.map((state) => model.series[series].contacts[state.key]),
        ]),
      };
      const bars: { place: number; x1: number; x2: number; colour: string }[] = [];
      const points: Point[] = [];
      shown.forEach((series, place) => {
        let x = 0;
        for (const state of STATES) {
          const share = model.series[series].contacts[state.key];
          if (share === null || hidden.has(state.key)) continue;
          bars.push({ place, x1: x, x2: x + share, colour: state.colour });
          if (share > 0)
            points.push({
              x: x + share / 2,
              y: place,
              series,
              tip: `${model.series[series].label}\n${state.label}: ${percent(share, 1)}`,
            });
          x += share;
        }
      });
      if (bars.length === 0) return { drawing: null, table };
      const names = shortSeries(model, shown, labelLength(width));
      return {
        drawing: plot({
          width,
          height: 56 + 24 * shown.length,
          marginLeft: labelRoom(width),
          marginTop: 10,
          x: { ...shareScale("fraction of contacts") },
          y: {
            type: "band",
            domain: shown.map((_, place) => place),
            tickFormat: (place: number) => names[place],
            label: null,
            tickSize: 0,
            padding: 0.25,
          },
          marks: [Plot.barX(bars, { x1: "x1", x2: "x2", y: "place", fill: "colour" }), tip(points)],
        }),
        table,
        note: "The methods shown are those selected in the legends above.",
      };
    },
  });
}

/** Lower edge of a bin, J. */
const edge = (bin: number): number => 10 ** (bin / 2);

export function contactErrors(model: Model): Figure {
  let kind: "above" | "share" = "above";
  const own = figure(model, {
    id: "contact-errors",
    title: "Errors contact by contact",
    read: "The energy error of individual contacts, over all runs of a method: the fraction of contacts with at least this error (lower and further left is better), or the fraction in each half decade.",
    legend: "series",
    height: heightFor,
    controls: [
      menu(
        "contact-errors.show",
        "show",
        [
          ["above", "cumulative fraction"],
          ["share", "fraction per half decade"],
        ],
        kind,
        (value) => {
          kind = value as typeof kind;
          own.redraw();
        },
      ),
    ],
    draw(width) {
      const table: Table = {
        columns: ["series", "energy error from [J]", "to [J]", "contacts", "share", "cumulative fraction"],
        rows: [],
      };
      const points: Point[] = [];
      for (const series of model.chosen()) {
        const { bins, leastBin, label } = model.series[series];
        const total = bins.reduce((sum, { count: n }) => sum + n, 0);
        const filled = new Map(bins.map(({ bin, count: n }) => [bin, n]));
        if (total === 0) continue;
        const sorted = [...filled.keys()].sort((a, b) => a - b);
        let above = total;
        const mine: Point[] = [];
        for (let bin = sorted[0]; bin <= sorted[sorted.length - 1] + 1; bin++) {
          const n = filled.get(bin) ?? 0,
            share = n / total,
            from = bin === leastBin ? 0 : edge(bin);
          if (n > 0) table.rows.push([label, from, edge(bin + 1), n, share, above / total]);
          mine.push({
            x: edge(bin),
            y: kind === "above" ? above / total : share,
            series,
            tip:
              kind === "above"
                ? `${label}\n${percent(above / total, 2)} of contacts at ${number(edge(bin))} J or more`
                : `${label}\n${count(n)} contacts (${percent(share, 1)})\n${number(from)} to ${number(edge(bin + 1))} J`,
          });
          above -= n;
        }
        points.push(...markSome(mine, 7));
      }
      if (points.length === 0) return { drawing: null, table };
      const y =
        kind === "above"
          ? shareScale("fraction of contacts")
          : {
              label: "fraction of contacts",
              grid: true,
              labelArrow: "none" as const,
              tickFormat: (v: number) => `${number(100 * v)} %`,
              zero: true,
            };
      return {
        drawing: chart(
          {
            width,
            height: heightFor(width),
            x: logScale({ label: "energy error of a contact [J]", values: points.map((p) => p.x), width }),
            y,
          },
          {
            model,
            wanted: model.chosen(),
            points,
            ends: false, // all of them end at nothing
            step: kind === "share",
            heading: (at) => (kind === "above" ? `${number(at)} J or more` : `from ${number(at)} J on`),
            value: (share) => percent(share, 2),
          },
        ),
        table,
        note: points.length > 0 ? "The leftmost bin also holds all smaller errors and exact zeros." : null,
      };
    },
  });
  return own;
}
