"""Campaigns: many methods on many problems, with solvers of the library and of your own, in worker processes."""
from __future__ import annotations

import os
from typing import Any, Dict, Iterable, List, NamedTuple, Optional, Sequence, Union

from . import _program
from ._library import PathLike, UsageError
from .dataset import BpmdFile, FclibFile
from .frame import Frame
from .page import Page, report, write_frames
from .plugins import Solver


class Command(NamedTuple):
    """A solver that is a program of its own, behind the pipe protocol (docs/pipe.md)."""

    name: str
    command: str


def command(line: str, name: Optional[str] = None) -> Command:
    """A solver in any language, by the command that starts it: command("./mine --flag"), or under another name than that of
    the program: command("python3 block_pgs.py", "mine"). Campaigns start it, and end it when it hangs."""
    if name is None:
        words = line.split()
        if not words:
            raise UsageError("the command of a solver is empty")
        name = os.path.splitext(os.path.basename(words[0]))[0]  # as the library does
    return Command(name, line)


Problems = Union[PathLike, Frame, BpmdFile, FclibFile, Iterable[Union[PathLike, Frame, BpmdFile, FclibFile]]]


class Campaign:
    """The results of `bench`, in a ledger (SQLite; docs/ledger.md) at `path`.

    `records()` is a table for pandas, `summary()` a ranking as text, `report()` a page."""

    def __init__(self, path: PathLike, counts: Optional[Dict[str, Any]] = None, folder: Any = None):
        self.path = os.fspath(path)
        self.counts = counts or {}
        self._folder = folder  # temporary: gone when the campaign is

    def query(self, sql: str, *values: Any) -> List[Dict[str, Any]]:
        """Rows of any query on the ledger, as dictionaries."""
        import sqlite3
        ledger = sqlite3.connect(f"file:{_uri(self.path)}?mode=ro", uri=True)
        try:
            ledger.row_factory = sqlite3.Row
            return [dict(row) for row in ledger.execute(sql, values)]
        finally:
            ledger.close()

    def records(self) -> List[Dict[str, Any]]:
        """One flat record per run: problem, method, outcome, cost, and every metric by its name (None: not applicable). The
        errors on the problem of the formulation are named gauge_energy, gauge_natural_map, ... `best_seconds` is the
        smallest of the timed repeats, if there were any."""
        rows = self.query("""SELECT runs.id AS run, problems.scene, problems.file, problems.place, problems.frame,
            problems.contacts, problems.mass_ratio, methods.formulation, methods.formulation_options, methods.solver,
            methods.solver_options, runs.outcome, runs.message, runs.unknowns, runs.iterations, runs.seconds,
            (SELECT min(samples.seconds) FROM samples WHERE samples.run = runs.id) AS best_seconds, runs.memory,
            runs.energy AS gauge_energy, runs.relative_energy AS gauge_relative_energy,
            runs.natural_map AS gauge_natural_map, runs.natural_residual AS gauge_natural_residual,
            runs.fischer_burmeister AS gauge_fischer_burmeister
            FROM runs JOIN problems ON problems.id = runs.problem JOIN methods ON methods.id = runs.method
            ORDER BY problems.scene, problems.file, problems.frame, methods.formulation, methods.solver, methods.id""")
        values: Dict[int, Dict[str, Any]] = {row["run"]: {} for row in rows}
        for run, name, value, why in ((row["run"], row["name"], row["value"], row["why"])
                                      for row in self.query("SELECT run, name, value, why FROM metrics")):
            if run in values:
                values[run][name] = None if why is not None else value
        return [{**row, **values[row["run"]]} for row in rows]

    def history(self) -> List[Dict[str, Any]]:
        """One record per run and stored iteration: solver, problem, iteration, seconds and the gauges. For error curves."""
        return self.query("""SELECT problems.file, problems.frame, methods.formulation, methods.solver, methods.solver_options,
            history.* FROM history JOIN runs ON runs.id = history.run JOIN problems ON problems.id = runs.problem
            JOIN methods ON methods.id = runs.method ORDER BY history.run, history.iteration""")

    @property
    def outcomes(self) -> Dict[str, Dict[str, int]]:
        """How often the runs of each solver ended how: {"pgs": {"converged": 12, "max iterations": 3}}."""
        found: Dict[str, Dict[str, int]] = {}
        for row in self.query("SELECT solver, outcome, count(*) AS runs FROM results GROUP BY 1, 2 ORDER BY 1, 2"):
            found.setdefault(row["solver"], {})[row["outcome"]] = row["runs"]
        return found

    def summary(self, main: Optional[float] = None) -> str:
        """The ranking of the methods and a recommendation, as text."""
        words = _program.words_of({"main": main})
        return _program.call("report", self.path, *words).raise_for().out

    def report(self, output: Optional[PathLike] = None, **options: Any) -> Page:
        """The report as a page; see stickslip.report."""
        return report(self, output, **options)

    def _repr_html_(self) -> str:
        import html
        return f"<pre>{html.escape(self.summary())}</pre>"

    def __repr__(self) -> str:
        runs = self.query("SELECT outcome, count(*) AS runs FROM runs GROUP BY 1 ORDER BY 2 DESC")
        total = sum(row["runs"] for row in runs)
        return f"<Campaign {self.path}: {total} runs: " + ", ".join(f"{row['runs']} {row['outcome']}" for row in runs) + ">"


def _uri(path: str) -> str:
    from urllib.parse import quote
    return quote(os.path.abspath(path))


def _sources(problems: Problems, beside: str) -> List[str]:
    """Paths of files; frames of memory go into one of their own."""
    if isinstance(problems, (str, os.PathLike, Frame, BpmdFile, FclibFile)):
        problems = [problems]
    paths: List[str] = []
    frames: List[Frame] = []
    for item in problems:
        if isinstance(item, Frame):
            frames.append(item)
        elif isinstance(item, (BpmdFile, FclibFile)):
            paths.append(item.path)
        else:
            paths.append(os.fspath(item))
    if frames:
        write_frames(beside, frames, "frames")
        paths.append(beside)
    if not paths:
        raise UsageError("bench needs at least one file or frame")
    return paths


def _options_by_name(options: Optional[Dict[str, Dict[str, Any]]]) -> List[str]:
    from .options import value_text
    return [f"{name}.{key}={value_text(value)}" for name, given in (options or {}).items() for key, value in given.items()]


def bench(problems: Problems, solvers: Union[str, Solver, Command, Sequence[Union[str, Solver, Command]]] = "all",
          formulations: Union[str, Sequence[str]] = "cone", *, output: Optional[PathLike] = None,
          set: Optional[Dict[str, Dict[str, Any]]] = None, with_: Optional[Dict[str, Dict[str, Any]]] = None,
          plugins: Sequence[PathLike] = (), stop: Optional[str] = None, iterations: Optional[int] = None,
          time_limit: Optional[float] = None, keep: Optional[str] = None, seed: Optional[int] = None,
          reference: Union[str, Solver, None] = None, repeats: Optional[int] = None, max_memory: Optional[float] = None,
          jobs: Optional[int] = None, frame: Optional[str] = None, every: Optional[int] = None, peg: Optional[str] = None,
          progress: bool = True, **reading: Any) -> Campaign:
    """Runs every solver on every problem, judges the answers, and stores the results in a ledger.

    `problems` are files (BPMD, FCLIB) or frames. `solvers` are names, Python solvers (`stickslip.solver`) and programs
    (`command`), `plugins` shared objects with more of them. Runs take place in worker processes: one that crashes, hangs
    beyond `time_limit` (s) or needs more than `max_memory` (MB) is a row with that outcome. `output` keeps the ledger, and
    running the same again completes it; without it the ledger lives as long as the returned Campaign.

    set={"psor": {"omega": 1.3}} are options of solvers, with_={"box": {...}} those of formulations; the other options are
    those of `stickslip bench`.

    >>> import stickslip as ss
    >>> sim = ss.run("sliding-block", steps=3)
    >>> results = ss.bench(sim.frame, ["nsgs", "interior-point"], stop="relative_energy<1e-6")
    >>> results.outcomes
    {'interior-point': {'converged': 1}, 'nsgs': {'converged': 1}}
    """
    import json
    import tempfile
    folder = tempfile.TemporaryDirectory(prefix="stickslip-")
    path = os.fspath(output) if output is not None else os.path.join(folder.name, "results.db")
    beside = f"{os.path.splitext(path)[0]}-frames.h5" if output is not None else os.path.join(folder.name, "frames.h5")
    paths = _sources(problems, beside)

    chosen: List[Any] = [solvers] if isinstance(solvers, (str, Solver, Command)) else list(solvers)
    names = [item if isinstance(item, str) else item.name for item in chosen]
    commands = [f"{item.name}={item.command}" for item in chosen if isinstance(item, Command)]
    flags = {"output": path, "formulations": formulations if isinstance(formulations, str) else ",".join(formulations),
             "set": _options_by_name(set), "with": _options_by_name(with_), "plugin": [os.fspath(item) for item in plugins],
             "solver_command": commands, "stop": stop, "iterations": iterations, "time_limit": time_limit, "keep": keep,
             "seed": seed, "reference": reference.name if isinstance(reference, Solver) else reference, "repeats": repeats, "max_memory": max_memory, "jobs": jobs, "frame": frame,
             "every": every, "peg": peg, "json": True, "solvers": ",".join(names), **reading}
    outcome = _program.call("bench", *paths, *_program.words_of(flags), show=progress)
    outcome.raise_for(3) if outcome.out else outcome.raise_for()
    counts = json.loads(outcome.out)
    campaign = Campaign(path, counts, folder if output is None else None)
    if outcome.code == 3:
        import warnings
        warnings.warn(outcome.err.strip() or "files or frames could not be used", stacklevel=2)
    return campaign


class SolverCheck(Dict[str, Any]):
    """What `stickslip solvers NAME --test --json` prints for one solver: counts, `checks` and `results`."""

    def __init__(self, report: Dict[str, Any]):
        super().__init__(report["solvers"][0])
        self.findings: int = report["findings"]

    @property
    def failures(self) -> List[Dict[str, Any]]:
        """Results that failed and were not expected to."""
        return [result for result in self["results"] if result["outcome"] == "failed"]

    def __repr__(self) -> str:
        return (f"<SolverCheck {self['name']}: {self['passed']} passed, {self['failed']} failed, "
                f"{self['expected']} expected to fail, {self['not_applicable']} not applicable>")


def check_solver(solver: Union[str, Solver, Command], *, checks: Union[str, Sequence[str]] = "all", quick: bool = True,
                 expect: Optional[PathLike] = None, output: Optional[PathLike] = None, iterations: Optional[int] = None,
                 time_limit: Optional[float] = None, seed: Optional[int] = None, jobs: Optional[int] = None,
                 plugins: Sequence[PathLike] = (), progress: bool = True) -> SolverCheck:
    """Asks a solver what every solver has to hold, on small problems with known answers, in worker processes.

    It is a name, a Python solver (`stickslip.solver`) or a program (`command`). `checks` chooses by name, `expect` is a list of
    known failures, `output` a page in Markdown; the other options are those of `stickslip solvers --test`.

    >>> import stickslip as ss
    >>> ss.check_solver("pgs", checks=["warm-start", "repeatable"], progress=False)
    <SolverCheck pgs: 96 passed, 0 failed, 0 expected to fail, 6 not applicable>
    """
    import json
    commands = [f"{solver.name}={solver.command}"] if isinstance(solver, Command) else []
    flags = {"check": checks if isinstance(checks, str) else ",".join(checks), "quick": quick or None, "expect": expect,
             "output": output, "iterations": iterations, "time_limit": time_limit, "seed": seed, "jobs": jobs,
             "plugin": [os.fspath(item) for item in plugins], "solver_command": commands, "test": True, "json": True}
    name = solver if isinstance(solver, str) else solver.name
    outcome = _program.call("solvers", name, *_program.words_of(flags), show=progress)
    outcome.raise_for(1)
    return SolverCheck(json.loads(outcome.out))
