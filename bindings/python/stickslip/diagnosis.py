"""What is wrong with a problem, in words."""
from __future__ import annotations

import ctypes
import math
from typing import TYPE_CHECKING, List, NamedTuple, Optional, Sequence

import numpy as np

from . import _abi
from ._library import lib, text
from ._memory import address_of

if TYPE_CHECKING:
    from .problem import Problem


class Complaint(NamedTuple):
    """One thing that is wrong or worth knowing: how bad ("note", "warning", "fatal"), what, how much, where, what to do."""

    severity: str
    defect: str
    message: str
    advice: str
    affected: int  # contacts, equations or unknowns it is about
    value: Optional[float]
    contact: Optional[int]
    constraint: Optional[int]

    def __str__(self) -> str:
        return f"{self.severity}: {self.message}: {self.advice}"


class Diagnosis(List[Complaint]):
    """The complaints about a problem, and the rank of its matrix (None: not computed). Prints as one line each."""

    rank: Optional[int] = None

    @property
    def is_fatal(self) -> bool:
        """There is no solution, or the problem is invalid."""
        return any(item.severity == "fatal" for item in self)

    def __repr__(self) -> str:
        return "\n".join(map(str, self)) if self else "nothing to complain about"


def diagnose(problem: "Problem", ray: Optional[Sequence[float]] = None) -> Diagnosis:
    options = _abi.ss_diagnosis_options(ray_search=300)
    if ray is not None:
        impulse = np.ascontiguousarray(ray, np.float64)
        options.ray = ctypes.pointer(_abi.ss_ray(impulse=address_of(impulse)))
    raw = _abi.ss_diagnosis()
    try:
        lib.ss_problem_diagnose(ctypes.byref(problem._struct), options, raw)
        found = Diagnosis(Complaint(
            lib.ss_severity_name(item.severity).decode(), lib.ss_defect_name(item.defect).decode(), text(item.message) or "",
            text(item.advice) or "", item.count, None if math.isnan(item.value) else item.value,
            item.contact if item.contact >= 0 else None, item.constraint if item.constraint >= 0 else None)
            for item in raw.items[:raw.count])
        found.rank = raw.rank if raw.rank >= 0 else None
        return found
    finally:
        lib.ss_diagnosis_free(raw)
