// The command that repeats a run.
import type { Method, Problem } from "./data";

/** One word for a POSIX shell. */
export function quote(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}

/** method.options is quoted already, by the program. */
export function command(problem: Problem, method: Method): string {
  // A path that begins with a dash would be taken for an option.
  const file = problem.file.startsWith("-") ? `./${problem.file}` : problem.file;
  const where =
    problem.format === "fclib" ? ["--problem", problem.place.replace(/^\/(fclib_)?/, "")] : ["--frame", problem.place];
  return ["stickslip", method.recorded ? "judge" : "solve", quote(file), ...where.map(quote), method.options, "--json"].filter(Boolean).join(" ");
}
