"""Many small frames in one call, over all cores."""
from __future__ import annotations

import ctypes
from typing import Any, List, Optional, Sequence

import numpy as np

from . import _abi, _interrupt
from ._library import UsageError, lib
from ._memory import Owner
from .answer import Answer
from .frame import Frame
from .judge import must_fit
from .plugins import STATUSES
from .session import Session


class BatchResult:
    """How each frame ended: `status` (a list), `iterations`, `error` and `seconds` (arrays), and `answers`."""

    def __init__(self, items: Any, answers: List[Answer]):
        self.status: List[str] = [STATUSES[item.status] for item in items]
        self.iterations = np.array([item.iterations for item in items], dtype=int)
        self.error = np.array([item.error for item in items])
        self.seconds = np.array([item.seconds for item in items])
        self.answers = answers

    def __len__(self) -> int:
        return len(self.answers)

    def __repr__(self) -> str:
        return f"<BatchResult: {len(self)} frames, {self.status.count('converged')} converged>"


class Batch:
    """A solver and rules, as of Session, for many frames at once. The answers are the same bits for any number of threads.

    >>> import stickslip as ss
    >>> def ball(speed):
    ...     return ss.Frame.from_arrays(
    ...         h=0.01, bodies={"mass": [1.0], "inertia": [[[0.1, 0, 0], [0, 0.1, 0], [0, 0, 0.1]]],
    ...                         "velocity": [[speed, 0, 0, 0, 0, 0]], "force": [[0, 0, -9.81, 0, 0, 0]]},
    ...         contacts={"pair": [[ss.WORLD, 0]], "point": [[0, 0, -0.5]], "normal": [[0, 0, 1]], "mu": 0.5})
    >>> batch = ss.Batch(threads=2)
    >>> result = batch.solve([ball(0.1 * k) for k in range(100)])
    >>> result, result.answers[99].normal_impulse.round(4)
    (<BatchResult: 100 frames, 100 converged>, array([0.0981]))
    """

    def __init__(self, solver: str = "auto", *, threads: int = 0, check: bool = True, **rules: Any):
        """threads=0: one per core. check=False: frames are known to be valid. Rules are those of Session, without history,
        explain, reference and callback; the solver is one of the library or of a plug-in, by name."""
        if not isinstance(solver, str):
            raise TypeError(f"a batch takes a solver by name, not a {type(solver).__name__}")
        for name in ("history", "explain", "reference", "callback", "exact"):
            if rules.get(name):
                raise UsageError(f"a batch has no {name}; use a Session")
        if not 0 <= threads <= 1024:
            raise UsageError(f"threads={threads}: expected 0 (one per core) to 1024")
        self._session, self._check = Session(solver, **rules), check  # which reads the rules, and keeps their memory
        self._cancel = ctypes.c_int(0)
        self._owner = Owner(lib.ss_batch_create(self._session._request, threads), lib.ss_batch_destroy, self._cancel)
        lib.ss_batch_watch(self._owner.pointer, ctypes.byref(self._cancel))

    @property
    def threads(self) -> int:
        return lib.ss_batch_threads(self._owner.pointer)

    def solve(self, frames: Sequence[Frame], starts: Optional[Sequence[Optional[Answer]]] = None) -> BatchResult:
        """Solves every frame, from zero or from its own start (an Answer or None for each)."""
        if starts is not None and len(starts) != len(frames):
            raise UsageError(f"{len(starts)} starts for {len(frames)} frames")
        items = (_abi.ss_batch_item * len(frames))()
        answers: List[Answer] = []
        for k, frame in enumerate(frames):
            if not isinstance(frame, Frame):
                raise TypeError(f"a batch solves frames, not a {type(frame).__name__}")
            if self._check:
                frame.must_be_valid()
            start = starts[k] if starts is not None else None
            if start is not None:
                must_fit(frame, start)
                items[k].guess = ctypes.pointer(start._struct)
            answer = Answer.for_frame(frame)
            answer._step = self._session.step
            answers.append(answer)
            items[k].frame, items[k].answer = ctypes.pointer(frame._struct), ctypes.pointer(answer._struct)
        before = _interrupt.begin(self._cancel)
        try:
            lib.ss_batch_solve(self._owner.pointer, items, len(frames))
        finally:
            _interrupt.end(self._cancel, before)
        return BatchResult(items, answers)

    def __repr__(self) -> str:
        return f"<Batch: {self._session.solver}, {self.threads} thread{'s' if self.threads != 1 else ''}>"
