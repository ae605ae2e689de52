"""Whole files: what is in them, what is wrong with them, and other formats. The program does it, in a child process that reads
files of strangers under the same limits as the command line."""
from __future__ import annotations

import json
import os
from typing import Any, Dict, List, NamedTuple, Optional

from ._library import PathLike
from ._program import Outcome, call, words_of
from .findings import Finding, Findings


def _printed(outcome: Outcome) -> Dict[str, Any]:
    """What it printed. Exit code 3 with something printed means that parts of the file are wrong, and which is in there."""
    outcome.raise_for(*((1, 3) if outcome.out else ()))
    return json.loads(outcome.out)


def info(path: PathLike, **options: Any) -> Dict[str, Any]:
    """What is in a file, as `stickslip info --json` prints it: simulations, frames, sizes, masses, energies, stored results.
    Options are the flags of the command line: frame="3", full=True, dialect="gazebo", max_contacts=1000."""
    return _printed(call("info", path, "--json", *words_of(options)))


class Recovered(NamedTuple):
    """A recording whose program died, and the file that `recover` has made of it."""

    leftover: str
    file: str
    frames: int


def recover(path: PathLike, output: Optional[PathLike] = None) -> List[Recovered]:
    """Makes ordinary files of the recordings that were to become `path` when their programs died (or of one such leftover,
    FILE.PROCESS-N.partial). A file that exists is never replaced: the new one is then FILE.recovered-1.h5 and so on."""
    outcome = call("recover", path, "--json", *words_of({"output": os.fspath(output)} if output is not None else {}))
    outcome.raise_for()
    return [Recovered(**item) for item in json.loads(outcome.out)]


class Check(Findings):
    """What `check` found: findings, `counts`, and `ok` (no faults; with strict=True no warnings either)."""

    counts: Dict[str, int]
    _ok = True

    @property
    def ok(self) -> bool:
        return self._ok


def check(path: PathLike, **options: Any) -> Check:
    """Reads all of a file and lists faults, warnings (mistakes of the recorder included) and repairs. problems=True also
    examines the problems that solvers would be given; strict=True counts warnings as faults."""
    found = _printed(call("check", path, "--json", *words_of({"max_findings": 0, **options})))
    kinds = {"faults": "fault", "warnings": "warning", "repairs": "repair", "notes": "note"}
    result = Check([Finding(kind, item["place"], item["message"]) for key, kind in kinds.items() for item in found.get(key, [])])
    result.counts, result._ok = found["counts"], found["ok"]
    return result


class Conversion(NamedTuple):
    """What `convert` did: the files it wrote, how many frames, which it refused, and what was lost, repaired or doubtful."""

    files: List[str]
    frames: int
    refused: List[Dict[str, Any]]
    losses: List[str]
    repairs: List[str]
    warnings: List[str]

    def __repr__(self) -> str:
        lines = [f"{len(self.files)} file{'s' if len(self.files) != 1 else ''}, {self.frames} frames"]
        for name in ("losses", "repairs", "warnings"):
            lines += [f"  {name}: {text}" for text in getattr(self, name)]
        lines += [f"  refused: {item}" for item in self.refused]
        return "\n".join(lines)


def convert(source: PathLike, target: PathLike, to: str = "auto", **options: Any) -> Conversion:
    """Writes a file in another format: to="bpmd", "bpmd-flat", "fclib-local", "fclib-global", "mtx" or "lcp". Options are the
    flags of the command line: frame="0", formulation="box", with_=["gap_term=zero"], eliminate=True, h=0.005, append=True."""
    if "with_" in options:
        options["with"] = options.pop("with_")
    found = _printed(call("convert", source, target, "--json", "--to", to, *words_of(options)))

    def said(name: str) -> List[str]:
        return [item["what"] if isinstance(item, dict) and "what" in item else str(item) for item in found.get(name, [])]

    return Conversion([os.fspath(name) for name in found["files"]], found["frames"], found["refused"], said("losses"),
                      said("repairs"), said("warnings"))
