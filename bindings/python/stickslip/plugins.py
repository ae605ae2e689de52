"""Solvers: those of the library, and your own in Python."""
from __future__ import annotations

import ctypes
import inspect
from typing import Any, Callable, Dict, List, NamedTuple, Optional, Sequence, Union, overload

import numpy as np

from . import _abi
from ._library import Error, UsageError, all_of, encoded, lib, text
from ._memory import address_of, view
from .options import Option, describe
from .problem import LAW_BITS, LAWS, Problem, law_names

STATUSES = tuple(lib.ss_status_name(status).decode() for status in range(len(_abi.enums["ss_status"])))
_TRAITS = {"matrix_free": _abi.SS_MATRIX_FREE, "needs_symmetric": _abi.SS_NEEDS_SYMMETRIC,
           "needs_diagonal": _abi.SS_NEEDS_DIAGONAL, "exact": _abi.SS_EXACT, "warm_starts": _abi.SS_WARM_STARTS}


class SolverInfo(NamedTuple):
    """A solver: what it is, where it comes from, when it fails, which laws it accepts, what it can be told."""

    name: str
    summary: str
    reference: str
    weakness: str
    laws: List[str]
    traits: List[str]
    options: List[Option]


def solvers() -> List[SolverInfo]:
    """Every solver there is."""
    return [SolverInfo(text(item.name) or "", text(item.summary) or "", text(item.reference) or "", text(item.weakness) or "",
                       law_names(item.laws), [name for name, bit in _TRAITS.items() if item.traits & bit],
                       describe(item.options))
            for item in all_of(lib.ss_solver_count, lib.ss_solver_at)]


class Run:
    """One run of a Python solver: what it is given besides the problem.

    `x` is the start on entry and must be the answer on return; `iteration(x)` is called once per iteration and is false when
    the run must end: the stop rule holds, time or iterations are up, or someone pressed Ctrl-C."""

    def __init__(self, pointer: Any, x: np.ndarray):
        self._pointer, self.x = pointer, x
        self.max_iterations: int = pointer.contents.max_iterations
        self.seed: int = pointer.contents.seed

    def iteration(self, x: Optional[np.ndarray] = None, w: Optional[np.ndarray] = None) -> bool:
        """Reports the iterate x (None: self.x) and, if you have it, w = A x + b. False: return."""
        x = self.x if x is None else np.ascontiguousarray(x, np.float64)
        w = None if w is None else np.ascontiguousarray(w, np.float64)
        if x.shape != self.x.shape or (w is not None and w.shape != self.x.shape):
            raise ValueError(f"the problem has {len(self.x)} unknowns, x has the shape {x.shape}")
        return bool(_iteration(self._pointer, address_of(x), address_of(w)))

    @property
    def late(self) -> bool:
        """The time is up, or the caller wants to stop: to be asked in the middle of long iterations."""
        return bool(lib.ss_run_late(self._pointer))

    @property
    def status(self) -> str:
        """Why the run ended."""
        return STATUSES[lib.ss_run_status(self._pointer)]

    def note(self, line: str) -> None:
        """A line about a decision, kept with `explain=True`."""
        lib.ss_run_note(self._pointer, b"%s", ctypes.c_char_p(line.encode()))

    def ray(self, y: np.ndarray) -> bool:
        """Can impulses grow along y without bound? Judged from the problem; return "ray" then."""
        return bool(lib.ss_run_ray(self._pointer, address_of(np.ascontiguousarray(y, np.float64))))


_iteration: Any = lib.ss_run_iteration


class Solver:
    """A Python function as a solver like any other. Made by the decorator `solver`."""

    def __init__(self, function: Callable[..., Any], name: Optional[str], laws: Union[str, Sequence[str]], summary: Optional[str],
                 reference: str, weakness: str, traits: Dict[str, bool]):
        self.function = function
        self.name = name or function.__name__.replace("_", "-")
        self.__name__, self.__doc__ = self.name, function.__doc__
        lines = (function.__doc__ or "").strip().splitlines()
        self.summary = summary or (lines[0] if lines else "a Python function")
        self.failure: Optional[BaseException] = None  # what the function raised in its last run
        laws = [laws] if isinstance(laws, str) else list(laws)
        unknown = [law for law in laws if law not in LAW_BITS]
        if unknown:
            raise UsageError(f"unknown law '{unknown[0]}'; there are {', '.join(LAWS.values())}")

        parameters = list(inspect.signature(function).parameters.values())[2:]
        self._options = _Options(parameters, function.__name__)
        self._texts = [part.encode() for part in (self.name, self.summary, reference, weakness)]
        self._callback = dict(_abi.ss_solver._fields_)["solve"](self._solve)  # type: ignore[attr-defined]
        struct = _abi.ss_solver()
        struct.abi = _abi.SS_ABI
        struct.name, struct.summary, struct.reference, struct.weakness = self._texts
        struct.laws = sum(LAW_BITS[law] for law in set(laws))
        struct.traits = sum(bit for trait, bit in _TRAITS.items() if traits.get(trait))
        struct.options, struct.options_size = self._options.table, self._options.size
        struct.solve = self._callback
        self._struct = struct
        self._is_exact = bool(traits.get("exact"))

    def _solve(self, problem: Any, options: Any, run: Any, x: int) -> int:
        """What the library calls. Nothing may be raised through it: the exception is kept and raised by the caller."""
        try:
            struct = problem.contents
            array = view(None, x, (struct.size,), writable=True)
            state = Run(run, array)
            outcome = self.function(Problem(None, struct), state, **self._options.read(options))
            status = None
            if isinstance(outcome, str):
                status = outcome
            elif outcome is not None:
                array[:] = outcome
                if self._is_exact:
                    state.iteration(array)
                    return _abi.SS_CONVERGED
            if status is None:
                found = lib.ss_run_status(run)
                return found
            if status not in STATUSES:
                raise ValueError(f"a solver returns an array, None or one of {', '.join(STATUSES)}, not '{status}'")
            return STATUSES.index(status)
        except BaseException as failure:
            self.failure = failure
            return _abi.SS_FAILED

    def raise_failure(self) -> None:
        """Raises what the function raised in its last run, once."""
        failure, self.failure = self.failure, None
        if failure is not None:
            raise failure

    def __call__(self, *arguments: Any, **options: Any) -> Any:
        """The function itself."""
        return self.function(*arguments, **options)

    def __repr__(self) -> str:
        return f"<Solver {self.name}: {self.summary}>"


class _Options:
    """Keyword parameters with defaults as a table of options and its struct."""

    _TYPES = {bool: (_abi.SS_OPTION_BOOL, ctypes.c_bool), int: (_abi.SS_OPTION_INT, ctypes.c_int),
              float: (_abi.SS_OPTION_REAL, ctypes.c_double), str: (_abi.SS_OPTION_TEXT, ctypes.c_char_p)}

    def __init__(self, parameters: Sequence[inspect.Parameter], function: str):
        from .options import value_text
        fields, self._texts = [], []
        for parameter in parameters:
            kind = self._TYPES.get(type(parameter.default))
            if kind is None:
                raise TypeError(f"{function}: the option '{parameter.name}' needs a default that is a number, True, False or a "
                                "text, such as omega=1.0")
            fields.append((parameter.name, kind[1]))
        self.struct = type("Options", (ctypes.Structure,), {"_fields_": fields}) if fields else None
        self.names = [name for name, _ in fields]
        self.size = ctypes.sizeof(self.struct) if self.struct else 0
        self.table: Any = None
        if not self.struct:
            return
        self.table = (_abi.ss_option * (len(fields) + 1))()
        for entry, parameter in zip(self.table, parameters):
            entry.name = self._keep(parameter.name)
            entry.type = self._TYPES[type(parameter.default)][0]
            entry.offset = getattr(self.struct, parameter.name).offset
            entry.default_value = self._keep(value_text(parameter.default))
            entry.help = self._keep(f"of the Python function {function}")

    def _keep(self, value: str) -> bytes:
        self._texts.append(value.encode())
        return self._texts[-1]

    def read(self, address: Optional[int]) -> Dict[str, Any]:
        if not self.struct or not address:
            return {}
        values = self.struct.from_address(address)
        raw = {name: getattr(values, name) for name in self.names}
        return {name: value.decode() if isinstance(value, bytes) else value for name, value in raw.items()}


@overload
def solver(function: Callable[..., Any]) -> Solver: ...
@overload
def solver(*, name: Optional[str] = ..., laws: Union[str, Sequence[str]] = ..., summary: Optional[str] = ...,
           reference: str = ..., weakness: str = ..., **traits: bool) -> Callable[[Callable[..., Any]], Solver]: ...


def solver(function: Optional[Callable[..., Any]] = None, *, name: Optional[str] = None,
           laws: Union[str, Sequence[str]] = ("free", "box", "coupled", "cone", "convex"), summary: Optional[str] = None,
           reference: str = "", weakness: str = "", **traits: bool) -> Any:
    """Makes a solver of a Python function f(problem, run, option=default, ...).

    `laws` says which problems it accepts (default: all). Traits: exact=True for a method that returns the solution itself;
    needs_symmetric, needs_diagonal, warm_starts, matrix_free as in the library.

    >>> import stickslip as ss
    >>> @ss.solver(laws=["free", "box", "coupled", "cone"])
    ... def projected_jacobi(problem, run, omega=0.6):
    ...     "Every contact at once, then back onto the laws."
    ...     x, step = run.x, omega / problem.block_diagonal
    ...     while run.iteration(x):
    ...         x[:] = problem.project(x - step * problem.dual(problem.apply(x)))
    >>> problem = ss.Problem.from_arrays([[2.0, 1.0], [1.0, 2.0]], [-5.0, -6.0])
    >>> ss.solve(problem, projected_jacobi, stop="energy<1e-20").x.round(6)
    array([1.333333, 2.333333])
    """
    for trait in traits:
        if trait not in _TRAITS:
            raise TypeError(f"unknown trait '{trait}'; there are {', '.join(_TRAITS)}")

    def make(function: Callable[..., Any]) -> Solver:
        return Solver(function, name, laws, summary, reference, weakness, traits)

    return make if function is None else make(function)
