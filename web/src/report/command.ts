// Commands that a reader may type: to repeat a run, to watch it, to use a method.
import type { Method, Problem } from "./data";

/** One word for a POSIX shell. */
export function quote(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}

/** A path that begins with a dash would be taken for an option. */
const path = (problem: Problem): string => quote(problem.file.startsWith("-") ? `./${problem.file}` : problem.file);

const join = (...words: string[]): string => words.filter(Boolean).join(" ");

/** Repeats a run. method.options is quoted already, by the program. */
export function command(problem: Problem, method: Method): string {
  const where =
    problem.format === "fclib" ? ["--problem", problem.place.replace(/^\/(fclib_)?/, "")] : ["--frame", problem.place];
  return join(
    "stickslip",
    method.recorded ? "judge" : "solve",
    path(problem),
    ...where.map(quote),
    method.options,
    "--json",
  );
}

/** Makes a replay of a run; null where there is nothing to see, as in FCLIB problems, which have no bodies. After a run that missed
 * its stop rule `solve` reports failure, and there is something to see all the same: hence no "&&". */
export function watch(problem: Problem, method: Method): string | null {
  if (problem.format !== "bpmd") return null;
  const [, simulation] = /^\/simulation_0*(\d+)\//.exec(problem.place) ?? [null, "1"];
  if (method.recorded)
    return simulation === "1"
      ? join(
          "stickslip view",
          path(problem),
          `--frame ${problem.index}`,
          `--results ${quote(method.solver)}`,
          "-o watch.html",
        )
      : join(
          "stickslip view",
          path(problem),
          `--simulation ${simulation}`,
          `--results ${quote(method.solver)}`,
          "-o watch.html",
        );
  return join(
    "stickslip solve",
    path(problem),
    `--frame ${quote(problem.place)}`,
    method.options,
    "-o watch.h5; stickslip view watch.h5",
    `--results ${quote(method.solver)}`,
    "-o watch.html",
  );
}

/** The place of a run in a replay that lies beside the report; null for an address that leaves this folder's scheme. */
export function replayLink(page: string, problem: Problem, method: Method, contact: number | null): string | null {
  if (/^[a-z][a-z\d+.-]*:/i.test(page) || page.startsWith("//")) return null;
  const words = [
    ["frame", String(problem.index + 1)],
    ["path", problem.place],
    ...(method.replay === null ? [] : [["solver", method.replay ?? method.solver]]),
    ...(contact === null ? [] : [["contact", String(contact)]]),
  ];
  return `${page}#${words.map(([key, value]) => `${key}=${encodeURIComponent(value).replaceAll("%2F", "/")}`).join("&")}`;
}

/** Solves a file of the reader's own with a method: formulation, solver, options and stop rule. */
export const use = (method: Method): string => join("stickslip solve FILE.h5", method.use);
