"""What a reader, a check or a conversion has to report: faults, warnings, repairs, losses."""
from __future__ import annotations

from typing import Any, Iterator, List, NamedTuple, Sequence, overload

from . import _abi
from ._library import lib, text

KINDS = tuple(lib.ss_finding_kind_name(kind).decode() for kind in range(4))


class Finding(NamedTuple):
    """One thing to report: what kind ("fault", "warning", "repair", "loss"), where, and what."""

    kind: str
    place: str
    message: str

    def __str__(self) -> str:
        return f"{self.kind}: {self.place}: {self.message}"


class Findings(Sequence[Finding]):
    """A list of findings that prints as one line each."""

    def __init__(self, items: Sequence[Finding] = ()):
        self._items: List[Finding] = list(items)

    @overload
    def __getitem__(self, index: int) -> Finding: ...
    @overload
    def __getitem__(self, index: slice) -> "Findings": ...

    def __getitem__(self, index):  # type: ignore[no-untyped-def]
        return Findings(self._items[index]) if isinstance(index, slice) else self._items[index]

    def __len__(self) -> int:
        return len(self._items)

    def __iter__(self) -> Iterator[Finding]:
        return iter(self._items)

    def of(self, kind: str) -> "Findings":
        """Those of one kind."""
        return Findings([item for item in self if item.kind == kind])

    @property
    def faults(self) -> "Findings":
        return self.of("fault")

    @property
    def ok(self) -> bool:
        """No faults: the data may go to a solver."""
        return not self.faults

    def __repr__(self) -> str:
        return "\n".join(map(str, self)) if self else "no findings"


class Collector:
    """An ss_findings to pass to the library, and its contents afterwards.

    `limit` keeps at most that many of each kind; 0 = all."""

    def __init__(self, limit: int = 0):
        self.struct: Any = _abi.ss_findings()
        self.struct.limit = limit

    def __del__(self, free: Any = lib.ss_findings_free) -> None:
        free(self.struct)

    def taken(self) -> Findings:
        return read(self.struct)


def read(struct: Any) -> Findings:
    """The contents of an ss_findings that someone else owns."""
    return Findings([Finding(KINDS[item.kind], text(item.place) or "", text(item.message) or "")
                     for item in struct.items[:struct.count]])
