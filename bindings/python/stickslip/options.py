"""Option tables of the library: what a formulation, solver or scene can be told, and how to tell it."""
from __future__ import annotations

import ctypes
from typing import Any, Dict, Iterator, List, NamedTuple, Optional, TypeVar, Union

from . import _abi
from ._library import UsageError, lib, text

_TYPES = ("bool", "int", "real", "choice", "text", "list")


class Option(NamedTuple):
    """One option: its name, type, default, range or choices, and what it means."""

    name: str
    type: str
    default: Optional[str]
    range: Union[str, None]
    help: str

    def __str__(self) -> str:
        allowed = f", {self.range}" if self.range else ""
        return f"{self.name:<18} {self.help} ({self.type}{allowed}; default {self.default})"


Item = TypeVar("Item")


class Listing(List[Item]):
    """A list of things with a name and a summary: prints as a table, and takes names as well as numbers in []."""

    def __getitem__(self, key):  # type: ignore[no-untyped-def]
        if isinstance(key, str):
            for item in self:
                if item.name == key:  # type: ignore[attr-defined]
                    return item
            raise KeyError(f"no '{key}'; there are {', '.join(item.name for item in self)}")  # type: ignore[attr-defined]
        return super().__getitem__(key)

    def __repr__(self) -> str:
        width = max((len(item.name) for item in self), default=0)  # type: ignore[attr-defined]
        return "\n".join(f"{item.name:<{width}}  {item.summary}" for item in self)  # type: ignore[attr-defined]


def described(item: Any) -> str:
    """A record with a name, a summary and options on several lines."""
    lines = [f"{item.name}: {item.summary}"]
    for name, value in zip(item._fields, item):
        if name not in ("name", "summary", "options") and value:
            lines.append(f"  {name:<11}{', '.join(value) if isinstance(value, list) else value}")
    lines += [f"  option     {option}" for option in getattr(item, "options", [])]
    return "\n".join(lines)


def entries(table: Any) -> Iterator[Any]:
    """The ss_option structs of a table, which ends with a nameless one; NULL is empty."""
    index = 0
    while table and table[index].name is not None:
        yield table[index]
        index += 1


def describe(table: Any) -> List[Option]:
    """A table in Python's terms."""
    found = []
    for entry in entries(table):
        limits = text(entry.choices)
        if entry.type in (_abi.SS_OPTION_INT, _abi.SS_OPTION_REAL) and (entry.min, entry.max) != (0, 0):
            limits = f"{entry.min:g} to {entry.max:g}"
        found.append(Option(text(entry.name) or "", _TYPES[entry.type], text(entry.default_value), limits,
                            text(entry.help) or ""))
    return found


def value_text(value: Any) -> str:
    """A value as one would type it on the command line."""
    if isinstance(value, bool):
        return "true" if value else "false"
    return repr(float(value)) if isinstance(value, float) or type(value).__module__ == "numpy" and value.dtype.kind == "f" \
        else str(value)


def assignments(options: Dict[str, Any]) -> Optional[str]:
    """{"omega": 1.3, "sweep": "symmetric"} as "omega=1.3 sweep=symmetric"; None when empty."""
    texts = {name: value_text(value) for name, value in options.items()}
    for name, value in texts.items():
        if any(letter.isspace() for letter in value):
            raise UsageError(f"{name}={value!r}: the value of an option has no blanks")
    return " ".join(f"{name}={value}" for name, value in texts.items()) or None


class Filled:
    """The struct of options that a table describes: defaults, then the given values, checked by the library."""

    def __init__(self, table: Any, size: int, options: Dict[str, Any]):
        self.buffer = ctypes.create_string_buffer(max(size, 1))
        self._texts = []  # the struct points into them
        if table:
            lib.ss_options_defaults(table, self.buffer)
        for name, value in options.items():
            if not table:
                raise TypeError(f"no option '{name}': there are no options")
            typed = value_text(value).encode()
            self._texts.append(typed)
            lib.ss_options_set(table, self.buffer, name.encode(), typed)

    @property
    def address(self) -> int:
        return ctypes.addressof(self.buffer)
