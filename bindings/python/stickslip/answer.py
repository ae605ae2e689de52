"""The physical answer of one step: velocities and impulses, by any solver."""
from __future__ import annotations

import ctypes
from typing import TYPE_CHECKING, Any, Dict, Optional, Tuple

import numpy as np

from . import _abi
from ._library import UsageError, lib
from ._memory import Lent, Owner, field_view

if TYPE_CHECKING:
    from .frame import Frame

_COUNTS = {"velocity": "bodies", "row_impulse": "rows", "normal_impulse": "contacts", "friction_impulse": "contacts",
           "rolling_impulse": "contacts", "selection": "groups", "sub_normal_impulse": "subcontacts",
           "sub_friction_impulse": "subcontacts", "sub_rolling_impulse": "subcontacts",
           "generalized_velocity": "coordinates"}


class _Part:
    """An array of an answer: reading gives a view, assigning fills it."""

    def __init__(self, doc: str):
        self.__doc__ = doc

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    def __get__(self, answer: Optional["Answer"], owner: Optional[type] = None) -> np.ndarray:
        if answer is None:
            return self  # type: ignore[return-value]
        count = getattr(answer._struct, _COUNTS[self.name])
        return field_view(answer._owner, answer._struct, self.name, count, answer._writable)  # type: ignore[return-value]

    def __set__(self, answer: "Answer", values: Any) -> None:
        array = self.__get__(answer)
        if array is None:
            raise ValueError(f"this answer has no {self.name}")
        array[...] = values


class Answer(Lent):
    """Velocities after the step and impulses, as arrays: `velocity` (bodies, 6), `normal_impulse` (contacts,),
    `friction_impulse` (contacts, 3) on body b in the world frame, `row_impulse` (joint rows,), and `rolling_impulse`
    (contacts, 3) or None. SI units: m/s, rad/s, N s, N m s.

    `step` says how the answer treats gaps and joints, if that is known: the rules by which it must be judged."""

    def __init__(self, owner: Any, struct: Any, writable: bool = False, step: Any = None):
        self._owner, self._struct, self._writable, self._step = owner, struct, writable, step

    @classmethod
    def for_frame(cls, frame: "Frame", rolling: Optional[bool] = None) -> "Answer":
        """All zero and writable, of the sizes of a frame."""
        moments = frame.contacts.mu_rolling is not None or frame.contacts.mu_torsion is not None
        rolling = moments if rolling is None else rolling
        owner = Owner(lib.ss_answer_create(frame._struct, rolling), lib.ss_answer_destroy)
        return cls(owner, owner.pointer.contents, True)

    @classmethod
    def from_arrays(cls, frame: "Frame", **arrays: Any) -> "Answer":
        """An answer with copies of these arrays, the others zero."""
        answer = cls.for_frame(frame, rolling=arrays.get("rolling_impulse") is not None or None)
        answer.fill(arrays)
        return answer

    def fill(self, arrays: Dict[str, Any]) -> None:
        """Assigns arrays by their names."""
        for name, values in arrays.items():
            if name not in _COUNTS:
                raise UsageError(f"an answer has no '{name}'; there are {', '.join(_COUNTS)}")
            if values is not None:
                setattr(self, name, values)

    velocity = _Part("m/s and rad/s of every body, after the step")
    row_impulse = _Part("of every joint row")
    normal_impulse = _Part("N s, on body b along the normal")
    friction_impulse = _Part("N s, on body b, world")
    rolling_impulse = _Part("N m s, moment of rolling friction on body b; None if not modelled")
    selection = _Part("frames with alternatives: the alternative of every group; else None")
    sub_normal_impulse = _Part("frames with alternatives: N s of every further point")
    sub_friction_impulse = _Part("frames with alternatives: N s of every further point, on body b")
    sub_rolling_impulse = _Part("frames with alternatives: N m s of every further point; None if not modelled")
    generalized_velocity = _Part("frames with generalised coordinates: after the step; NaN = not known")

    def arrays(self) -> Dict[str, np.ndarray]:
        """Those that are there, by name, as views."""
        found = {name: getattr(self, name) for name in _COUNTS}
        return {name: array for name, array in found.items() if array is not None}

    def copy(self) -> "Answer":
        """A writable copy with memory of its own."""
        sizes = _abi.ss_frame()
        sizes.bodies.count, sizes.constraints.row_count, sizes.contacts.count = self.sizes
        sizes.subcontacts.groups, sizes.subcontacts.count = self._struct.groups, self._struct.subcontacts
        sizes.generalized.count = self._struct.coordinates
        owner = Owner(lib.ss_answer_create(sizes, self._struct.rolling_impulse is not None), lib.ss_answer_destroy)
        copy = Answer(owner, owner.pointer.contents, True, self._step)
        for name, array in self.arrays().items():
            setattr(copy, name, array)
        return copy

    @property
    def sizes(self) -> Tuple[int, int, int]:
        """Bodies, joint rows, contacts."""
        return self._struct.bodies, self._struct.rows, self._struct.contacts

    @property
    def is_complete(self) -> bool:
        """Everything is known; what a file leaves out is NaN."""
        return bool(lib.ss_answer_is_complete(ctypes.byref(self._struct)))

    def __repr__(self) -> str:
        if "_struct" not in self.__dict__:
            return "<Answer of a call that is over>"
        bodies, rows, contacts = self.sizes
        touching = int(np.count_nonzero(self.normal_impulse)) if self._struct.normal_impulse else 0
        joints = f", {rows} joint rows" if rows else ""
        return f"<Answer: {bodies} bodies, {contacts} contacts, {touching} of them with an impulse{joints}>"
