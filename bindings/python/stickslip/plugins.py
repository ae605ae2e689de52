"""Your own solvers, formulations and metrics in Python, and the lists of those there are.

A decorated function is registered with the library under its name (my_solver is "my-solver") and is from then on one like any
other. Defining it again, as notebooks do, replaces it. The library calls the function; what it raises is kept, the library is
told that the call failed, and the exception is raised when the library has returned.
"""
from __future__ import annotations

import ctypes
import hashlib
import inspect
import math
import threading
import traceback
from typing import Any, Callable, Dict, List, NamedTuple, Optional, Sequence, Tuple, Union, overload

import numpy as np

from . import _abi
from ._library import PathLike, UsageError, all_of, encoded, lib, on_failure, path_bytes, raw, text, variable
from ._memory import Lent, Owner, address_of, as_doubles, take_back, view
from .answer import Answer
from .frame import Frame
from .options import Listing, Option, describe, described, entries, value_text
from .problem import LAW_BITS, LAWS, Problem, law_names

STATUSES = tuple(lib.ss_status_name(status).decode() for status in range(len(_abi.enums["ss_status"])))
_TRAITS = {"matrix_free": _abi.SS_MATRIX_FREE, "needs_symmetric": _abi.SS_NEEDS_SYMMETRIC,
           "needs_diagonal": _abi.SS_NEEDS_DIAGONAL, "exact": _abi.SS_EXACT, "warm_starts": _abi.SS_WARM_STARTS,
           "spinning_cones": _abi.SS_SPINNING_CONES}


def callback_type(struct: Any, field: str) -> Any:
    """The ctypes type of a function pointer in a struct."""
    return dict(struct._fields_)[field]


# ---- what there is ---------------------------------------------------------------------------------------

class SolverInfo(NamedTuple):
    """A solver: what it is, where it comes from, when it fails, which laws it accepts, what it can be told."""

    name: str
    summary: str
    reference: str
    weakness: str
    laws: List[str]
    traits: List[str]
    options: List[Option]

    def __repr__(self) -> str:
        return described(self)


class SolverListing(Listing[SolverInfo]):
    """Solvers, by number, name or alias: solvers()["coloured"] is batched-nncg, which was called so before."""

    def __getitem__(self, key):  # type: ignore[no-untyped-def]
        return super().__getitem__(text(lib.ss_solver_name(encoded(key))) if isinstance(key, str) else key)


def solvers() -> SolverListing:
    """Every solver there is, those of your own last; solvers()["nsgs"] is one of them."""
    return SolverListing([SolverInfo(text(item.name) or "", text(item.summary) or "", text(item.reference) or "", text(item.weakness) or "",
                       law_names(item.laws), [name for name, bit in _TRAITS.items() if item.traits & bit],
                       describe(item.options))
            for item in all_of(lib.ss_solver_count, lib.ss_solver_at)])


class Plugin:
    """A plug-in in C: a shared object with solvers, formulations, metrics, scenes. Its code runs in this process."""

    def __init__(self, path: PathLike):
        self._owner = Owner(lib.ss_plugin_open(path_bytes(path)), None)  # stays: what it brought may be in use
        metric_count[0] = lib.ss_metric_count()
        contents = lib.ss_plugin_contents(self._owner.pointer).contents
        self.name = text(contents.name)
        self.solvers = [text(item.contents.name) for item in _until_null(contents.solvers)]

    def __repr__(self) -> str:
        return f"<Plugin {self.name}: {', '.join(filter(None, self.solvers)) or 'no solvers'}>"


def load_plugin(path: PathLike) -> Plugin:
    """Loads a plug-in written in C and registers what it brings."""
    return Plugin(path)


def _until_null(items: Any) -> List[Any]:
    found: List[Any] = []
    while items and items[len(found)]:
        found.append(items[len(found)])
    return found


# ---- registration ----------------------------------------------------------------------------------------

metric_count = [lib.ss_metric_count()]  # changes when something is registered; asking each time would cost a call
registered: Dict[Tuple[str, str], "Extension"] = {}  # by kind ("solvers") and name; keeps them alive
_replaced: List["Extension"] = []                    # sessions may still look at those


class Extension:
    """Something in Python under a name of the library. Subclasses fill `struct` and call `register`.

    `kind` is the list of ss_extension it goes to: "solvers", "formulations", "metrics", "scenes", "hooks"."""

    kind = ""
    struct: Any
    _extension: Any

    def __init__(self, function: Callable[..., Any], name: Optional[str], summary: Optional[str]):
        self.function = function
        self.name = name or function.__name__.strip("_").replace("_", "-")
        self.__name__, self.__doc__, self.__wrapped__ = self.name, function.__doc__, function
        lines = (function.__doc__ or "").strip().splitlines()
        self.summary = summary or (lines[0] if lines else f"the Python function {function.__name__}")
        self._failures: Dict[int, BaseException] = {}  # by thread
        self._texts: List[bytes] = []

    def keep_text(self, value: str) -> bytes:
        """value as bytes that live as long as this object: structs point at them."""
        self._texts.append(value.encode())
        return self._texts[-1]

    def register(self) -> None:
        """Puts it under its name, in the place of an earlier one from Python."""
        old = registered.pop((self.kind, self.name), None)
        if old is not None:
            lib.ss_unregister(old._extension)
            _replaced.append(old)
        extension = _abi.ss_extension()
        extension.abi, extension.name = _abi.SS_ABI, self.keep_text(f"Python function {self.function.__name__}")
        extension.version = self.keep_text(_version_of(self.function))
        pointer = ctypes.pointer(self.struct)
        items = (type(pointer) * 2)(pointer)
        setattr(extension, self.kind, items)
        self._extension, self._items = extension, items  # nothing of it is copied
        try:
            lib.ss_register(extension)
        except Exception:
            if old is not None:
                lib.ss_register(old._extension)
                registered[self.kind, self.name] = _replaced.pop()
            raise
        registered[self.kind, self.name] = self
        metric_count[0] = lib.ss_metric_count()

    def fail(self, failure: BaseException) -> str:
        """Keeps an exception that must not pass through the library; returns it as one line for the library's message."""
        self._failures[threading.get_ident()] = failure
        if isinstance(failure, MemoryError):
            traceback.clear_frames(failure.__traceback__)  # else its local variables keep the memory that is missing
        where = traceback.extract_tb(failure.__traceback__)
        place = f", {where[-1].filename}:{where[-1].lineno}" if where else ""
        return f"{type(failure).__name__}: {failure} (in the Python function {self.function.__name__}{place})"

    def raise_failure(self, of_any_thread: bool = False) -> None:
        """Raises what was kept in this thread, once."""
        failure = self._failures.pop(threading.get_ident(), None)
        if failure is None and of_any_thread and self._failures:
            failure = self._failures.popitem()[1]
        if failure is not None:
            raise failure

    def __call__(self, *arguments: Any, **options: Any) -> Any:
        """The function itself."""
        return self.function(*arguments, **options)

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.name}: {self.summary}>"


def raise_failures(of_any_thread: bool = False) -> None:
    """Raises what a registered function raised in this thread, if any did."""
    for extension in [*registered.values(), *_replaced]:
        if extension._failures:
            extension.raise_failure(of_any_thread)


on_failure.append(raise_failures)


def _code_bytes(code: Any) -> bytes:
    """What a function does, without its source. Functions inside it are among its constants, and print as their address."""
    constants = [_code_bytes(item) if inspect.iscode(item) else repr(item).encode() for item in code.co_consts]
    return b"\0".join([code.co_code, repr(code.co_names).encode(), *constants])


def _version_of(function: Callable[..., Any]) -> str:
    """A text that changes with the function: campaigns keep results of different code apart by it."""
    try:
        source = inspect.getsource(function).encode()
    except (OSError, TypeError):
        source = _code_bytes(function.__code__)
    return hashlib.sha256(source).hexdigest()[:16]


def law_bits(laws: Union[str, Sequence[str]]) -> int:
    names = [laws] if isinstance(laws, str) else list(laws)
    for law in names:
        if law not in LAW_BITS:
            raise UsageError(f"unknown law '{law}'; there are {', '.join(LAWS.values())}")
    return sum(LAW_BITS[law] for law in set(names))


class OptionTable:
    """Keyword parameters with defaults as a table of options and the struct it describes; `before` is a table whose struct
    ours begins with."""

    _TYPES = {bool: (_abi.SS_OPTION_BOOL, ctypes.c_bool), int: (_abi.SS_OPTION_INT, ctypes.c_int),
              float: (_abi.SS_OPTION_REAL, ctypes.c_double), str: (_abi.SS_OPTION_TEXT, ctypes.c_char_p)}

    def __init__(self, function: Callable[..., Any], skip: int, before: Any = None, before_struct: Any = None):
        parameters = list(inspect.signature(function).parameters.values())[skip:]
        fields: List[Any] = [("_before", before_struct)] if before_struct else []
        self._texts: List[bytes] = []
        for parameter in parameters:
            kind = self._TYPES.get(type(parameter.default))
            if kind is None:
                raise TypeError(f"{function.__name__}: the option '{parameter.name}' needs a default that is a number, True, "
                                "False or a text, such as omega=1.0")
            fields.append((parameter.name, kind[1]))
        self.names = [parameter.name for parameter in parameters]
        self.struct: Any = type("Options", (ctypes.Structure,), {"_fields_": fields}) if fields else None
        self.size = ctypes.sizeof(self.struct) if self.struct else 0
        self.table: Any = None
        if not self.struct:
            return
        inherited = list(entries(before)) if before else []
        self.table = (_abi.ss_option * (len(inherited) + len(parameters) + 1))()
        for index, entry in enumerate(inherited):
            ctypes.memmove(ctypes.byref(self.table[index]), ctypes.byref(entry), ctypes.sizeof(entry))
        for index, parameter in enumerate(parameters, len(inherited)):
            entry = self.table[index]
            entry.name = self._keep(parameter.name)
            entry.type = self._TYPES[type(parameter.default)][0]
            entry.offset = getattr(self.struct, parameter.name).offset
            entry.default_value = self._keep(value_text(parameter.default))
            entry.help = self._keep(f"of the Python function {function.__name__}")

    def _keep(self, value: str) -> bytes:
        self._texts.append(value.encode())
        return self._texts[-1]

    def read(self, address: Optional[int]) -> Dict[str, Any]:
        """The values at an address, as keyword arguments."""
        if not self.names or not address:
            return {}
        values = self.struct.from_address(address)
        found = {name: getattr(values, name) for name in self.names}
        return {name: value.decode() if isinstance(value, bytes) else value for name, value in found.items()}


# ---- solvers ---------------------------------------------------------------------------------------------

class Run(Lent):
    """One run of a Python solver: what it is given besides the problem.

    `x` is the start on entry and must be the answer on return; `iteration(x)` is called once per iteration and is false when
    the run must end: the stop rule holds, time or iterations are up, or someone pressed Ctrl-C."""

    def __init__(self, pointer: Any, x: np.ndarray):
        struct = pointer.contents
        self._pointer, self.x = pointer, x
        self.max_iterations: int = struct.max_iterations
        self.time_limit: float = struct.time_limit
        self.seed: int = struct.seed

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


_iteration: Any = raw("ss_run_iteration")


class Solver(Extension):
    """A Python function as a solver like any other. Made by the decorator `solver`."""

    kind = "solvers"

    def __init__(self, function: Callable[..., Any], name: Optional[str], laws: Union[str, Sequence[str]], summary: Optional[str],
                 reference: str, weakness: str, traits: Dict[str, bool]):
        super().__init__(function, name, summary)
        self._options = OptionTable(function, 2)
        self._callback = callback_type(_abi.ss_solver, "solve")(self._solve)
        self._is_exact = bool(traits.get("exact"))
        self.struct = struct = _abi.ss_solver()
        struct.abi, struct.solve = _abi.SS_ABI, self._callback
        struct.name, struct.summary = self.keep_text(self.name), self.keep_text(self.summary)
        struct.reference, struct.weakness = self.keep_text(reference), self.keep_text(weakness)
        struct.laws = law_bits(laws)
        struct.traits = _abi.SS_ONE_THREAD | sum(bit for trait, bit in _TRAITS.items() if traits.get(trait))
        struct.options, struct.options_size = self._options.table, self._options.size
        self.register()

    def _solve(self, problem: Any, options: Any, run: Any, x: int) -> int:
        """What the library calls."""
        seen = state = None
        try:
            struct = problem.contents
            seen, state = Problem(None, struct), Run(run, view(None, x, (struct.size,)))
            outcome = self.function(seen, state, **self._options.read(options))
            is_array = outcome is not None and not isinstance(outcome, str)
            found = state.x if not is_array else as_doubles(outcome, (struct.size,), f"what {self.function.__name__} returned")
            view(None, x, (struct.size,), writable=True)[:] = found
            if isinstance(outcome, str):
                if outcome not in STATUSES:
                    raise ValueError(f"a solver returns an array, None or one of {', '.join(STATUSES)}, not '{outcome}'")
                return STATUSES.index(outcome)
            is_over = lib.ss_run_status(run) != _abi.SS_FAILED
            if is_over and not self._is_exact:
                return lib.ss_run_status(run)

            # A solution, by its own account. The library checks it, which takes an iterate.
            if is_array or self._is_exact:
                _iteration(run, x, None)
                return _abi.SS_CONVERGED
            why = f"{self.function.__name__} returned before run.iteration(x) was false, without a solution or a status"
            return lib.ss_run_fail(run, b"%s", ctypes.c_char_p(why.encode()))
        except BaseException as failure:
            return lib.ss_run_fail(run, b"%s", ctypes.c_char_p(self.fail(failure).encode()))
        finally:
            take_back(seen, state)


_ALL_LAWS = tuple(LAW_BITS)


@overload
def solver(function: Callable[..., Any]) -> Solver: ...
@overload
def solver(*, name: Optional[str] = ..., laws: Union[str, Sequence[str]] = ..., summary: Optional[str] = ...,
           reference: str = ..., weakness: str = ..., exact: bool = ..., needs_symmetric: bool = ..., needs_diagonal: bool = ...,
           warm_starts: bool = ..., matrix_free: bool = ..., spinning_cones: bool = ...) -> Callable[[Callable[..., Any]], Solver]: ...


def solver(function: Optional[Callable[..., Any]] = None, *, name: Optional[str] = None,
           laws: Union[str, Sequence[str]] = _ALL_LAWS, summary: Optional[str] = None, reference: str = "", weakness: str = "",
           exact: bool = False, needs_symmetric: bool = False, needs_diagonal: bool = False, warm_starts: bool = False,
           matrix_free: bool = False, spinning_cones: bool = False) -> Any:
    """Makes a solver of a Python function f(problem, run, option=default, ...).

    `laws` says which problems it accepts (default: all). Traits: exact=True for a method that returns the solution itself;
    needs_symmetric, needs_diagonal, warm_starts, matrix_free as in the library; spinning_cones=True for one that accepts cones
    of four and six unknowns, which have sliding and spinning in one ball.

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
    >>> ss.solve(problem, "projected-jacobi", omega=0.4).status       # by name, like any other
    'converged'
    """
    traits = {"exact": exact, "needs_symmetric": needs_symmetric, "needs_diagonal": needs_diagonal, "warm_starts": warm_starts,
              "matrix_free": matrix_free, "spinning_cones": spinning_cones}

    def make(function: Callable[..., Any]) -> Solver:
        return Solver(function, name, laws, summary, reference, weakness, traits)

    return make if function is None else make(function)


# ---- metrics ---------------------------------------------------------------------------------------------

class OwnMetric(Extension):
    """A Python function as a metric like any other. Made by the decorator `metric`."""

    kind = "metrics"

    def __init__(self, function: Callable[..., Any], name: Optional[str], unit: str, summary: Optional[str], definition: str):
        super().__init__(function, (name or function.__name__), summary)
        self._callback = callback_type(_abi.ss_metric, "measure")(self._measure)
        self.struct = struct = _abi.ss_metric()
        struct.name, struct.unit = self.keep_text(self.name), self.keep_text(unit)
        struct.summary, struct.definition = self.keep_text(self.summary), self.keep_text(definition or self.summary)
        struct.measure = self._callback
        self._whys: Dict[str, bytes] = {}  # reasons that values point at
        self.register()

    def _measure(self, _: Any, case: Any, value: Any, err: Any) -> bool:
        frame = answer = None
        try:
            what = case.contents
            frame = Frame._of(None, lib.ss_assembly_frame(what.assembly).contents, writable=False)
            answer = Answer(None, what.answer.contents)
            outcome = self.function(frame, answer)
            found = value.contents
            if outcome is None or isinstance(outcome, str):
                reason = outcome or "not applicable"
                found.why = self._whys.setdefault(reason, reason.encode())
                return True
            number, worst = outcome if isinstance(outcome, tuple) else (outcome, None)
            found.applies, found.value = True, float(number)
            found.worst_contact = -1 if worst is None else int(worst)
            return True
        except BaseException as failure:
            lib.ss_fail(err, _abi.SS_ERROR_USAGE, b"%s", ctypes.c_char_p(self.fail(failure).encode()))
            return False
        finally:
            take_back(frame, answer)


@overload
def metric(function: Callable[..., Any]) -> OwnMetric: ...
@overload
def metric(*, name: Optional[str] = ..., unit: str = ..., summary: Optional[str] = ...,
           definition: str = ...) -> Callable[[Callable[..., Any]], OwnMetric]: ...


def metric(function: Optional[Callable[..., Any]] = None, *, name: Optional[str] = None, unit: str = "1",
           summary: Optional[str] = None, definition: str = "") -> Any:
    """Makes a metric of a Python function f(frame, answer): smaller is better, 0 is perfect.

    It returns a number, a number and its worst contact, or None or a text where it does not apply. The arrays of frame and
    answer are read-only and must not be kept.

    >>> import stickslip as ss
    >>> @ss.metric(unit="m/s")
    ... def fastest(frame, answer):
    ...     "largest speed of a body"
    ...     return abs(answer.velocity[:, :3]).max() if len(frame.bodies) else "no bodies"
    >>> frame = ss.Frame.from_arrays(h=0.1, bodies={"mass": [1.0], "inertia": [[[1, 0, 0], [0, 1, 0], [0, 0, 1]]],
    ...                                             "force": [[0, 3.0, 0, 0, 0, 0]]})
    >>> print(ss.solve(frame).metrics["fastest"])
    0.3 m/s
    """
    def make(function: Callable[..., Any]) -> OwnMetric:
        return OwnMetric(function, name, unit, summary, definition)

    return make if function is None else make(function)


# ---- formulations ----------------------------------------------------------------------------------------

class Unknown(NamedTuple):
    """One unknown of a contact: an impulse along `direction` (N s on body b, world frame), or a moment about it (`turns`),
    under a law between it and w = direction . velocity + compliance x + offset. Defaults: an LCP row."""

    direction: Any
    law: str = "box"
    lower: float = 0.0
    upper: float = math.inf
    partner: int = 0      # coupled: which unknown of this contact; |x| <= factor |x_partner|
    factor: float = 0.0
    offset: float = 0.0
    compliance: float = 0.0
    turns: bool = False


class ContactView(Lent):
    """A contact as the function of a formulation sees it: `normal`, `tangent` (2 x 3), `mu` (2), `mu_rolling`, `mu_torsion`,
    `spin_coupling` (0 independent, 1 ellipsoid), `gap`, `offset` and
    `compliance` of the normal row, `velocity` before the step, `free_velocity`, `inverse_mass`, `contact` (its number)."""

    def __init__(self, struct: Any):
        self.contact: int = struct.contact
        self.normal, self.tangent = np.array(struct.normal), np.array(struct.tangent)
        self.in_plane, self.mu = tuple(struct.in_plane), np.array(struct.mu)
        self.mu_rolling: float = struct.mu_rolling
        self.mu_torsion: float = struct.mu_torsion
        self.spin_coupling: int = struct.spin_coupling
        self.gap: float = struct.gap
        self.offset: float = struct.offset
        self.compliance: float = struct.compliance
        self.velocity, self.free_velocity = np.array(struct.velocity), np.array(struct.free_velocity)
        self.inverse_mass = np.array(struct.inverse_mass)
        self._frame = struct.frame
        self._reached: List[Any] = []

    @property
    def frame(self) -> Frame:
        """The frame, for the time of the call."""
        if not self._reached:
            self._reached.append(Frame._of(None, self._frame.contents, writable=False))
        return self._reached[0]

    def normal_unknown(self, law: str = "box") -> Unknown:
        """The usual first unknown: along the normal, with the gap term and compliance that the step options ask for."""
        return Unknown(self.normal, law, offset=self.offset, compliance=self.compliance)


class Formulation(Extension):
    """A Python function as a formulation like any other. Made by the decorator `formulation`."""

    kind = "formulations"

    def __init__(self, function: Callable[..., Any], name: Optional[str], laws: Union[str, Sequence[str]], summary: Optional[str],
                 reference: str, models: Sequence[str]):
        super().__init__(function, name, summary)
        first = next(iter(inspect.signature(function).parameters), "")
        self._options = OptionTable(function, 1, variable("ss_step_option_table"), _abi.ss_step_options)
        self._recover: Optional[Callable[..., Any]] = None
        self.struct = struct = _abi.ss_formulation()
        struct.name, struct.summary = self.keep_text(self.name), self.keep_text(self.summary)
        struct.reference, struct.laws = self.keep_text(reference), law_bits(laws)
        struct.options = ctypes.cast(self._options.table, ctypes.POINTER(_abi.ss_option))
        struct.options_size = self._options.size
        bits = {"friction": _abi.SS_MODELS_FRICTION, "rolling": _abi.SS_MODELS_ROLLING, "gaps": _abi.SS_MODELS_GAPS,
                "torsion": _abi.SS_MODELS_TORSION, "spin coupling": _abi.SS_MODELS_SPIN_COUPLING}
        struct.models = sum(bits[model] for model in models)
        if first == "contact":
            self._callbacks: List[Any] = [callback_type(_abi.ss_formulation, "contact")(self._contact)]
            struct.contact = self._callbacks[0]
            self.register()
        elif first == "frame":
            self._callbacks = [callback_type(_abi.ss_formulation, "assemble")(self._assemble),
                               callback_type(_abi.ss_formulation, "recover")(self._call_recover)]
            struct.assemble, struct.recover = self._callbacks  # registered when it has a way back
        else:
            raise TypeError(f"{function.__name__}: the first parameter is called 'contact' (one contact at a time) or 'frame' "
                            f"(the whole problem), not '{first}'")

    def recover(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """Decorator for the way back, f(frame, problem, x): returns the impulses as a dictionary of arrays
        ("normal_impulse", "friction_impulse", "row_impulse"). Velocities are computed from them."""
        self._recover = function
        self.register()
        return function

    def _contact(self, _: Any, options: Any, contact: Any, law: Any, err: Any) -> bool:
        seen = None
        try:
            seen = ContactView(contact.contents)
            outcome = self.function(seen, **self._options.read(options))
            target = law.contents
            unknowns, extra = outcome if isinstance(outcome, tuple) and isinstance(outcome[-1], dict) else (outcome, {})
            for name, value in extra.items():
                if name not in ("mu", "mu_rolling", "impulse"):
                    raise TypeError(f"a contact's law has no '{name}'")
                if name == "impulse":
                    target.impulse[:] = [float(part) for part in value]
                else:
                    setattr(target, name, float(value))
            if not isinstance(unknowns, (list, tuple)) or not all(isinstance(unknown, Unknown) for unknown in unknowns):
                raise TypeError(f"{self.function.__name__} returns a list of ss.Unknown, not {unknowns!r:.60}")
            law_bits([unknown.law for unknown in unknowns])
            target.count = len(unknowns)
            for place, unknown in zip(target.unknown, unknowns):
                place.direction[:] = [float(part) for part in unknown.direction]
                place.law, place.turns = LAW_BITS[unknown.law], unknown.turns
                is_box = unknown.law == "box"
                place.lower, place.upper = (unknown.lower, unknown.upper) if is_box else (0.0, 0.0)
                place.partner, place.factor = unknown.partner, unknown.factor
                place.offset, place.compliance = unknown.offset, unknown.compliance
            return True
        except BaseException as failure:
            lib.ss_fail(err, _abi.SS_ERROR_USAGE, b"%s", ctypes.c_char_p(self.fail(failure).encode()))
            return False
        finally:
            take_back(seen)

    def _assemble(self, _: Any, options: Any, frame: Any, err: Any) -> Optional[int]:
        seen = None
        try:
            seen = Frame._of(None, frame.contents, writable=False)
            problem = self.function(seen, **self._options.read(options))
            if not isinstance(problem, Problem) or problem._assembly is not None or problem._owner is None:
                raise TypeError(f"{self.function.__name__} must return a new Problem, as from Problem.from_arrays")
            address = ctypes.addressof(problem._struct)
            problem._owner._destroy = None  # the library destroys it from now on
            take_back(problem)
            return address
        except BaseException as failure:
            lib.ss_fail(err, _abi.SS_ERROR_USAGE, b"%s", ctypes.c_char_p(self.fail(failure).encode()))
            return None
        finally:
            take_back(seen)

    def _call_recover(self, _: Any, options: Any, frame: Any, problem: Any, x: int, answer: Any) -> None:
        seen = solved = None
        try:
            struct = problem.contents
            seen, solved = Frame._of(None, frame.contents, writable=False), Problem(None, struct)
            impulses = self._recover(seen, solved, view(None, x, (struct.size,)))  # type: ignore[misc]
            if not isinstance(impulses, dict):
                raise TypeError(f"the way back of {self.function.__name__} returns a dictionary of impulses, not a "
                                f"{type(impulses).__name__}")
            Answer(None, answer.contents, True).fill(impulses)
        except BaseException as failure:
            self.fail(failure)
        finally:
            take_back(seen, solved)


@overload
def formulation(function: Callable[..., Any]) -> Formulation: ...
@overload
def formulation(*, name: Optional[str] = ..., laws: Union[str, Sequence[str]] = ..., summary: Optional[str] = ...,
                reference: str = ..., models: Sequence[str] = ...) -> Callable[[Callable[..., Any]], Formulation]: ...


def formulation(function: Optional[Callable[..., Any]] = None, *, name: Optional[str] = None,
                laws: Union[str, Sequence[str]] = ("free", "box"), summary: Optional[str] = None, reference: str = "",
                models: Sequence[str] = ("friction", "gaps")) -> Any:
    """Makes a formulation of a Python function.

    f(contact, option=default, ...) states the law of one contact: a list of Unknown, for cones with {"mu": ...} behind it.
    f(frame, ...) makes the whole problem by Problem.from_arrays; then `@f.recover` turns x into impulses.
    `laws` are those its problems contain, joints ("free", "box") included; `models` says what it models of "friction",
    "rolling", "gaps": the rest is reported as lost.

    >>> import stickslip as ss
    >>> @ss.formulation(models=["gaps"])
    ... def frictionless(contact):
    ...     "normals only"
    ...     return [contact.normal_unknown()]
    >>> ball = ss.Frame.from_arrays(h=0.01, bodies={"mass": [1.0], "inertia": [[[1, 0, 0], [0, 1, 0], [0, 0, 1]]],
    ...                                             "velocity": [[2.0, 0, -1, 0, 0, 0]]},
    ...     contacts={"pair": [[ss.WORLD, 0]], "point": [[0, 0, 0]], "normal": [[0, 0, 1]], "mu": 0.5})
    >>> ss.solve(ball, "lemke", formulation="frictionless").velocity[0, :3].round(6)
    array([2., 0., 0.])
    """
    def make(function: Callable[..., Any]) -> Formulation:
        return Formulation(function, name, laws, summary, reference, models)

    return make if function is None else make(function)
