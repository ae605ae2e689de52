// Who is best in each scene: what is good everywhere is not the best everywhere.
import type { Child } from "../common/dom";
import { foreign, h } from "../common/dom";
import { csv } from "../common/download";
import { NONE, count, plural, power, seconds } from "../common/format";
import { look } from "../common/palette";
import type { Scene, SceneScore } from "./data";
import { costValue, metricValue, runsButton } from "./details";
import { saveMenu } from "./figure";
import type { Model } from "./model";
import type { Column } from "./sortable";
import { sortable } from "./sortable";
import { swatch } from "./swatch";

export function sceneTable(model: Model): HTMLElement {
  const { scenes } = model.data;
  const best = (scene: Scene): SceneScore => scene.best[model.tolerance];
  const first = (scene: Scene): SceneScore => scene.first[model.tolerance];
  const runsOf = (scene: Scene, series: number): number[] =>
    model.runsOf[series].filter((run) => model.data.problems[model.data.runs.problem[run]].scene === scene.name);

  function number(scene: Scene, score: SceneScore, what: "solved" | "cost"): Child {
    if (score.series === null || (what === "cost" && score.costSolved === null)) return NONE;
    const { series } = score;
    return runsButton(
      model,
      what === "solved" ? `${count(score.solved)}/${count(scene.problems)}` : seconds(score.costSolved),
      () => ({
        title: `${scene.name}: ${model.series[series].label}`,
        runs: runsOf(scene, series).filter((run) => what === "solved" || model.cost(run) !== null),
        value: what === "solved" ? metricValue(model, model.data.measure) : costValue(model),
      }),
    );
  }
  function name(score: SceneScore): Child {
    if (score.series === null) return "none";
    return h("span", null, swatch(look(score.series)), " ", foreign(model.series[score.series].label));
  }
  const numeric = (
    key: string,
    title: string,
    of: (scene: Scene) => SceneScore,
    what: "solved" | "cost",
  ): Column<Scene> => ({
    key,
    title,
    numeric: true,
    falling: what === "solved",
    value: (scene) => (what === "solved" ? of(scene).solved / scene.problems : of(scene).cost),
    cell: (scene) => number(scene, of(scene), what),
  });
  const usual = (): string => model.series[model.advice.series ?? 0].label;
  const table = sortable<Scene>(
    [
      { key: "scene", title: "Scene", value: (scene) => scene.name, cell: (scene) => foreign(scene.name) },
      {
        key: "best",
        title: "Best method",
        help: "most problems of the scene solved; ties by cost on common ground",
        value: (scene) => (best(scene).series === null ? null : model.series[best(scene).series!].label),
        cell: (scene) => name(best(scene)),
      },
      numeric("solved", "Solved", best, "solved"),
      numeric("cost", "Cost", best, "cost"),
      numeric("first-solved", "The one to use solves", first, "solved"),
      numeric("first-cost", "its cost", first, "cost"),
    ],
    { id: "scenes", name: "Best method by scene", start: "scene", few: 12, what: "scene" },
  );
  const status = h("p", { class: "read" });
  function fill(): void {
    const more = scenes.filter((scene) => best(scene).solved > first(scene).solved).length;
    status.textContent =
      `The best method of each scene, compared with ${usual()}, the one to use over all scenes at ${power(model.toleranceValue)}. Costs are means over what was solved.` +
      (more > 0 ? ` In ${plural(more, "scene")} another method solves more.` : "");
    table.fill(scenes);
  }
  const labels = (score: SceneScore): string | null =>
    score.series === null ? null : model.series[score.series].label;
  const numbers = (): string =>
    csv(
      [
        "scene",
        "problems",
        "tolerance",
        "best",
        "solved",
        "cost of what it solved [s]",
        "the one to use",
        "solved",
        "cost of what it solved [s]",
      ],
      scenes.map((scene) => [
        scene.name,
        scene.problems,
        model.toleranceValue,
        labels(best(scene)),
        best(scene).solved,
        best(scene).costSolved,
        labels(first(scene)),
        first(scene).solved,
        first(scene).costSolved,
      ]),
    );
  const saving = saveMenu("Best method by scene", { name: "scenes", csv: numbers, text: table.text });
  const element = h("div", { class: "block" }, h("div", { class: "with-save" }, status, saving.element), table.element);
  model.onChange(fill);
  fill();
  return element;
}
