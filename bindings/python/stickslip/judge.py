"""Judging answers: every metric with its value, unit and worst contact."""
from __future__ import annotations

import ctypes
import math
from typing import TYPE_CHECKING, Any, Dict, Iterator, Mapping, NamedTuple, Optional

import numpy as np

from . import _abi
from ._library import all_of, lib, text
from .answer import Answer
from .options import Listing, described

if TYPE_CHECKING:
    from .frame import Frame


class MetricInfo(NamedTuple):
    """A metric as such: name, unit, one line about it, and its formula."""

    name: str
    unit: str
    summary: str
    definition: str

    def __repr__(self) -> str:
        return described(self)


class Metric(NamedTuple):
    """A metric of one answer. `value` is NaN where it does not apply, for the reason `why`."""

    name: str
    value: float
    unit: str
    worst_contact: Optional[int]
    worst_constraint: Optional[int]
    why: Optional[str]

    @property
    def applies(self) -> bool:
        return self.why is None

    def __float__(self) -> float:
        return self.value

    def __str__(self) -> str:
        if not self.applies:
            return f"n/a: {self.why}"
        worst = f", worst at contact {self.worst_contact}" if self.worst_contact is not None else ""
        unit = f" {self.unit}" if self.unit not in ("", "1") else ""
        return f"{self.value:.4g}{unit}{worst}"

    def __repr__(self) -> str:
        return f"<Metric {self.name}: {self}>"


def metrics() -> Listing[MetricInfo]:
    """Every metric there is; metrics()["energy"] is one of them."""
    return Listing([MetricInfo(text(item.name) or "", text(item.unit) or "", text(item.summary) or "", text(item.definition) or "")
            for item in all_of(lib.ss_metric_count, lib.ss_metric_at)])


class Metrics(Mapping[str, Metric]):
    """All metrics of one answer, by name: `metrics["energy"].value`, `metrics.energy`; prints as a table.

    `contacts` has the state of each contact."""

    def __init__(self, values: Any, count: int, contacts: Any = None, contact_count: int = 0):
        self._values: Dict[str, Metric] = {}
        for index in range(count):
            info, raw = lib.ss_metric_at(index).contents, values[index]
            name = text(info.name) or ""
            self._values[name] = Metric(
                name, raw.value if raw.applies else math.nan, text(info.unit) or "",
                raw.worst_contact if raw.worst_contact >= 0 else None,
                raw.worst_constraint if raw.worst_constraint >= 0 else None,
                None if raw.applies else text(raw.why) or "not applicable")
        self.contacts = ContactStates(contacts, contact_count) if contacts is not None else None

    def __getitem__(self, name: str) -> Metric:
        return self._values[name]

    def __getattr__(self, name: str) -> float:
        try:
            return self.__dict__["_values"][name].value
        except KeyError:
            raise AttributeError(f"no metric '{name}'") from None

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)

    def values_only(self) -> Dict[str, float]:
        """{name: value}, a plain record that pandas takes."""
        return {name: metric.value for name, metric in self._values.items()}

    def __repr__(self) -> str:
        return "\n".join(f"{name:<20} {metric}" for name, metric in self._values.items())


_STATUS = tuple(lib.ss_contact_status_name(status).decode() for status in range(_abi.SS_CONTACT_STATUS_COUNT))
_REPORT = np.dtype({"names": ["status", "sliding", "energy"], "formats": ["<i4", ("<f8", (3,)), "<f8"],
                    "offsets": [getattr(_abi.ss_contact_report, name).offset for name in ("status", "sliding", "energy")],
                    "itemsize": ctypes.sizeof(_abi.ss_contact_report)})


class ContactStates:
    """State of each contact: `status` (texts), `sliding` (m/s, n x 3), `energy` (J)."""

    names = _STATUS

    def __init__(self, reports: Any, count: int):
        size = count * ctypes.sizeof(_abi.ss_contact_report)
        data = ctypes.string_at(reports, size) if count else b""
        self._table = np.frombuffer(data, _REPORT)

    @property
    def status(self) -> np.ndarray:
        """"open", "stick", "slip" or "negative friction" of each contact."""
        return np.array(_STATUS)[self._table["status"]]

    @property
    def sliding(self) -> np.ndarray:
        return self._table["sliding"]

    @property
    def energy(self) -> np.ndarray:
        return self._table["energy"]

    def __len__(self) -> int:
        return len(self._table)

    def __repr__(self) -> str:
        counts = np.bincount(self._table["status"], minlength=len(_STATUS))
        return f"<{len(self)} contacts: " + ", ".join(f"{n} {name}" for n, name in zip(counts, _STATUS) if n) + ">"


def must_fit(frame: "Frame", answer: Any) -> None:
    """Raises an error if the answer is not one to this frame, by type or by size."""
    if not isinstance(answer, Answer):
        raise TypeError(f"expected an Answer to the frame, not a {type(answer).__name__}")
    if answer.sizes != (len(frame.bodies), frame.constraints.row_count, len(frame.contacts)):
        raise ValueError(f"the answer has {answer.sizes} bodies, joint rows and contacts, but the frame has "
                         f"{(len(frame.bodies), frame.constraints.row_count, len(frame.contacts))}")
    alternatives = answer._struct.groups, answer._struct.subcontacts
    if alternatives[0] and alternatives != (frame._struct.subcontacts.groups, frame._struct.subcontacts.count):
        raise ValueError(f"the answer has {alternatives} groups and further rows of alternatives, which the frame has not")


def judge_frame(frame: "Frame", answer: "Answer", formulation: Optional[str], options: Dict[str, Any]) -> Metrics:
    frame.must_be_valid()
    must_fit(frame, answer)
    step: Any = answer._step
    if formulation is not None or options:
        from .problem import step_options
        step = step_options(formulation or "cone", options)
    values = (_abi.ss_metric_value * lib.ss_metric_count())()
    contacts = (_abi.ss_contact_report * max(len(frame.contacts), 1))()
    lib.ss_judge_frame(frame._struct, step, answer._struct, values, contacts)
    return Metrics(values, len(values), contacts, len(frame.contacts))
