"""Solving and judging, in one call or with a session that is used again and again."""
from __future__ import annotations

import ctypes
import threading
import weakref
from typing import Any, Callable, Dict, List, Optional, Union

import numpy as np

from . import _abi, _interrupt, findings
from ._library import Error, UsageError, encoded, error_of, lib, printed, raw, text
from ._memory import Owner, address_of, as_doubles, view
from .answer import Answer
from .dataset import FclibProblem
from .findings import Findings
from .frame import Frame
from .judge import Metrics, must_fit
from .options import assignments
from .problem import GAUGES, Problem
from .plugins import STATUSES, Formulation, Solver, metric_count, raise_failures, registered

_solve_frame = raw("ss_session_solve")
_solve_problem = raw("ss_session_solve_problem")
_solve_frame.restype = _solve_problem.restype = ctypes.c_void_p


class Iterate:
    """What a callback sees of one iteration: its `number` (from 1), `x` (a copy), and every gauge by name: `.energy`."""

    def __init__(self, number: int, x: int, size: int, gauges: int):
        self.number, self._x, self._size = number, x, size
        self.gauges: Dict[str, float] = dict(zip(GAUGES, (ctypes.c_double * len(GAUGES)).from_address(gauges)))

    @property
    def x(self) -> np.ndarray:
        if not self._x:
            raise Error("x of an iterate exists during the callback only; keep a copy")
        return view(None, self._x, (self._size,))

    def __getattr__(self, name: str) -> float:
        try:
            return self.__dict__["gauges"][name]
        except KeyError:
            raise AttributeError(f"no gauge '{name}'; there are {', '.join(GAUGES)}") from None

    def __repr__(self) -> str:
        return f"<Iterate {self.number}: " + ", ".join(f"{name} {value:.3g}" for name, value in self.gauges.items()) + ">"


class _Watcher:
    """A Python function as an ss_watcher. What it raises ends the run and is raised again after it."""

    def __init__(self, function: Callable[[Iterate], Any]):
        self.function, self.size = function, lambda: 0  # size: unknowns of the problem that is solved
        self.failure: Optional[BaseException] = None
        self._callback = dict(_abi.ss_watcher._fields_)["see"](self._see)
        self.struct = _abi.ss_watcher(self._callback, None)

    def _see(self, number: int, x: int, gauges: int, _: Any) -> bool:
        try:
            iterate = Iterate(number, x, self.size(), gauges)
            goes_on = self.function(iterate) is not False
            iterate._x = 0
            return goes_on
        except BaseException as failure:
            self.failure = failure
            return False

    def raise_failure(self) -> None:
        failure, self.failure = self.failure, None
        if failure is not None:
            raise failure


class History:
    """Every gauge at every iteration: `history.energy`, `history["natural_map"]`, `history.seconds`."""

    def __init__(self, struct: Any):
        count = struct.count
        self.seconds = view(None, struct.seconds, (count,))
        self._gauges = {name: view(None, struct.gauge[index], (count,)) for index, name in enumerate(GAUGES)}

    def __len__(self) -> int:
        return len(self.seconds)

    def __getitem__(self, name: str) -> np.ndarray:
        return self._gauges[name]

    def __getattr__(self, name: str) -> np.ndarray:
        try:
            return self.__dict__["_gauges"][name]
        except KeyError:
            raise AttributeError(f"no gauge '{name}'; there are {', '.join(GAUGES)}") from None

    def records(self) -> Dict[str, np.ndarray]:
        """Columns, as pandas.DataFrame takes them."""
        return {"seconds": self.seconds, **self._gauges}

    def plot(self, *gauges: str, against: str = "iterations", axes: Any = None) -> Any:
        """Draws the gauges (default: all that apply) over iterations or seconds, and returns the matplotlib axes."""
        if axes is None:
            import matplotlib.pyplot
            axes = matplotlib.pyplot.subplots()[1]
        across = self.seconds if against == "seconds" else np.arange(1, len(self) + 1)
        for name in gauges or [name for name in GAUGES if not np.all(np.isnan(self[name]))]:
            axes.semilogy(across, self[name], label=name)
        axes.set_xlabel("s" if against == "seconds" else "iterations")
        axes.legend()
        axes.grid(True, which="major", alpha=0.3)
        return axes

    def __repr__(self) -> str:
        return f"<History: {len(self)} iterations>"


def _with_addresses(kind: Any) -> Any:
    """The same struct with plain addresses in the place of pointers to structs: cheaper to read and to change."""
    plain = [(name, ctypes.c_void_p if issubclass(of, ctypes._Pointer) else of)
             for name, of in kind._fields_]
    return type(kind.__name__, (ctypes.Structure,), {"_fields_": plain})


class _ss_answer(ctypes.Structure):
    """ss_answer with its arrays in one list: velocity, row, normal, friction and rolling impulses."""

    _fields_ = [("bodies", ctypes.c_int), ("rows", ctypes.c_int), ("contacts", ctypes.c_int), ("arrays", ctypes.c_void_p * 5),
                ("groups", ctypes.c_int), ("subcontacts", ctypes.c_int), ("more", ctypes.c_void_p * 4),
                ("coordinates", ctypes.c_int), ("generalized", ctypes.c_void_p)]


assert (ctypes.sizeof(_ss_answer), _ss_answer.arrays.offset, _ss_answer.more.offset) == (  # a change of the header is seen here
    ctypes.sizeof(_abi.ss_answer), _abi.ss_answer.velocity.offset, _abi.ss_answer.selection.offset)
_ss_result = _with_addresses(_abi.ss_result)
_METRIC_BYTES = ctypes.sizeof(_abi.ss_metric_value)
_REPORT_BYTES = ctypes.sizeof(_abi.ss_contact_report)
_memmove = ctypes.memmove


class Result:
    """How a run ended, and what it found: `status`, `iterations`, `velocity`, `normal_impulse`, `friction_impulse`,
    `metrics`, `gauges`, `history`, `answer`, `x`."""

    # A session overwrites its arrays at the next solve. So they are copied, in one block, when they are first looked at or
    # when the next solve begins, whichever comes first. A session that will not be used again needs no copies.

    def __init__(self, session: "Session", struct: Any, subject: Any, alone: bool):
        run = struct.run
        self.status: str = STATUSES[run.status]
        self.iterations: int = run.iterations
        self.seconds: float = run.seconds
        self._session, self._struct, self._subject = session, struct, subject
        self._owner: Any = session._owner if alone else None  # of the arrays; None: not copied yet
        self._metric_count = metric_count[0]
        self._kept: Dict[str, Any] = {}

    def _keep(self) -> None:
        if self._owner is not None:
            return
        old, kept = self._struct, self._kept
        run = old.run
        size = kept["size"] = _abi.ss_problem.from_address(old.problem).size
        addresses = [old.metrics, old.contacts, old.x]
        sizes = [self._metric_count * _METRIC_BYTES, old.contact_count * _REPORT_BYTES, 8 * size]
        answer = None
        if old.answer:
            answer = _ss_answer.from_buffer_copy(_ss_answer.from_address(old.answer))
            bodies, rows, contacts = answer.bodies, answer.rows, answer.contacts
            addresses += answer.arrays
            sizes += (48 * bodies, 8 * rows, 8 * contacts, 24 * contacts, 24 * contacts)
            if answer.groups:
                addresses += answer.more
                sizes += (4 * answer.groups, 8 * answer.subcontacts, 24 * answer.subcontacts, 24 * answer.subcontacts)
            if answer.coordinates:
                addresses += [answer.generalized]
                sizes += [8 * answer.coordinates]
        block = np.empty(sum(sizes) // 8 + len(sizes), np.float64)
        places: List[Optional[int]] = []
        at = block.__array_interface__["data"][0]
        for address, bytes_ in zip(addresses, sizes):
            if address is None:
                places.append(None)
                continue
            _memmove(at, address, bytes_)
            places.append(at)
            at += (bytes_ + 7) & ~7

        # What is rarely there is not worth a place in the block.
        if run.history.count or run.notes or run.ray.impulse or old.refusal or old.peg or _abi.ss_findings.from_address(old.losses).count:
            kept.update({name: getattr(self, name) for name in _NOTHING})
        else:
            kept.update(_NOTHING)
        self._struct = new = _ss_result.from_buffer_copy(old)
        new.metrics, new.contacts, new.x = places[:3]
        if answer is not None:
            answer.arrays[:] = places[3:8]
            if answer.groups:
                answer.more[:] = places[8:12]
            if answer.coordinates:
                answer.generalized = places[-1]
            new.answer = ctypes.addressof(answer)
        self._owner = (block, answer)

    @property
    def converged(self) -> bool:
        """The stop rule holds."""
        return self.status == "converged"

    @property
    def answer(self) -> Optional[Answer]:
        """Velocities and impulses, with the rules by which they are judged; None for a problem without bodies."""
        kept = self._kept
        if "answer" not in kept:
            self._keep()
            address = self._struct.answer
            kept["answer"] = Answer(self._owner, _abi.ss_answer.from_address(address), step=self._session.step) \
                if address else None
        return kept["answer"]

    def _of_answer(self, name: str) -> np.ndarray:
        answer = self.answer
        if answer is None:
            raise Error(f"a problem without bodies has no {name}; see x")
        return getattr(answer, name)

    @property
    def velocity(self) -> np.ndarray:
        """m/s and rad/s of every body, after the step."""
        return self._of_answer("velocity")

    @property
    def normal_impulse(self) -> np.ndarray:
        """N s of every contact."""
        return self._of_answer("normal_impulse")

    @property
    def friction_impulse(self) -> np.ndarray:
        """N s of every contact, on body b, world."""
        return self._of_answer("friction_impulse")

    @property
    def row_impulse(self) -> np.ndarray:
        """Of every joint row."""
        return self._of_answer("row_impulse")

    @property
    def _size(self) -> int:
        return self._kept["size"] if "size" in self._kept else _abi.ss_problem.from_address(self._struct.problem).size

    @property
    def x(self) -> np.ndarray:
        """The unknowns of the problem as the solver left them."""
        self._keep()
        return view(self._owner, self._struct.x, (self._size,))

    @property
    def metrics(self) -> Metrics:
        """Every metric of the answer, and the state of each contact in `metrics.contacts`."""
        if "metrics" not in self._kept:
            self._keep()
            values = (_abi.ss_metric_value * self._metric_count).from_address(self._struct.metrics)
            self._kept["metrics"] = Metrics(values, self._metric_count, self._struct.contacts, self._struct.contact_count)
        return self._kept["metrics"]

    @property
    def gauges(self) -> Dict[str, float]:
        """Gauges of the returned x, recomputed from the problem."""
        self._keep()
        return dict(zip(GAUGES, self._struct.run.gauge))

    @property
    def history(self) -> History:
        """Every gauge at every iteration; empty without solve(..., history=True)."""
        if "history" not in self._kept:
            self._kept["history"] = History(self._struct.run.history)
        return self._kept["history"]

    @property
    def losses(self) -> Findings:
        """What the formulation does not model."""
        if "losses" not in self._kept:
            self._kept["losses"] = findings.read(_abi.ss_findings.from_address(self._struct.losses))
        return self._kept["losses"]

    @property
    def refusal(self) -> Optional[str]:
        """Why the solver does not accept the problem, which is then not solved."""
        return self._kept["refusal"] if "refusal" in self._kept else text(self._struct.refusal)

    @property
    def notes(self) -> Optional[str]:
        """What the solver noted about its decisions, with explain=True."""
        return self._kept["notes"] if "notes" in self._kept else text(self._struct.run.notes)

    @property
    def elapsed(self) -> float:
        """s, from the start to the kept iterate, measuring included."""
        self._keep()
        return self._struct.run.elapsed

    @property
    def kept_iteration(self) -> int:
        """The iteration that made what was returned; 0: the start."""
        self._keep()
        return self._struct.run.kept_iteration

    @property
    def formulation(self) -> str:
        return self._session.formulation

    @property
    def formulation_options(self) -> str:
        """The options of the formulation, all of them: "gap_term=zero mu_max=1 ..."."""
        return self._session.formulation_options

    @property
    def ray(self) -> Optional[np.ndarray]:
        """With status "ray": impulses that can grow without bound, if the solver gave them."""
        if "ray" not in self._kept:
            address = self._struct.run.ray.impulse
            self._kept["ray"] = view(None, address, (self._size,)) if address else None
        return self._kept["ray"]

    @property
    def peg(self) -> Optional[Dict[str, Any]]:
        """Frames with alternatives: how they were selected (status, solves, switched, consistent); else None. Which one each
        group has is in answer.selection."""
        if "peg" not in self._kept:
            address = self._struct.peg
            found = _abi.ss_peg_result.from_address(address) if address else None
            self._kept["peg"] = None if found is None else {
                "status": text(lib.ss_peg_status_name(found.status)), "solves": found.solves, "switched": found.switched,
                "consistent": found.consistent}
        return self._kept["peg"]

    def plot(self, *gauges: str, **options: Any) -> Any:
        """The history as a figure; see History.plot."""
        if not len(self.history):
            raise Error("no history was recorded; use solve(..., history=True)")
        return self.history.plot(*gauges, **options)

    def record(self) -> Dict[str, Any]:
        """One flat record: status, iterations, seconds and metrics; a list of them is a table for pandas."""
        return {"status": self.status, "iterations": self.iterations, "seconds": self.seconds, **self.metrics.values_only()}

    def __repr__(self) -> str:
        if self.refusal:
            return f"<Result: not applicable: {self.refusal}>"
        energy = self.metrics["energy"] if "energy" in self.metrics else None
        error = f", energy error {energy}" if energy is not None and energy.applies else ""
        return (f"<Result: {self.status} after {self.iterations} iteration{'s' if self.iterations != 1 else ''}, "
                f"{1e3 * self.seconds:.3g} ms{error}>")


_NOTHING: Dict[str, Any] = {"history": History(_abi.ss_history()), "notes": None, "ray": None, "losses": Findings(),
                            "refusal": None, "peg": None}


class Session:
    """A formulation, a solver and rules, to solve many frames; it keeps its memory from frame to frame.

    >>> import stickslip as ss
    >>> session = ss.Session("pgs", formulation="box", stop="energy<1e-9", iterations=200)
    >>> ball = ss.Frame.from_arrays(
    ...     h=0.01, bodies={"mass": [1.0], "inertia": [[[0.1, 0, 0], [0, 0.1, 0], [0, 0, 0.1]]],
    ...                     "force": [[0, 0, -9.81, 0, 0, 0]]},
    ...     contacts={"pair": [[ss.WORLD, 0]], "point": [[0, 0, -0.5]], "normal": [[0, 0, 1]], "mu": 0.5})
    >>> for step in range(3):
    ...     result = session.solve(ball)
    >>> result.normal_impulse.round(4)
    array([0.0981])
    """

    def __init__(self, solver: Union[str, Solver] = "auto", *, formulation: Union[str, Formulation] = "cone",
                 stop: Optional[str] = None, time_limit: float = 0.0, iterations: Optional[int] = None, keep: Optional[str] = None, seed: int = 1,
                 history: bool = False, explain: bool = False, exact: bool = False,
                 reference: Union[str, Solver, None] = None, threads: int = 1, check: bool = True,
                 with_: Optional[Dict[str, Any]] = None, peg: Optional[str] = None, callback: Optional[Callable[[Iterate], Any]] = None,
                 **options: Any):
        """`with_` are options of the formulation, all other keywords options of the solver. `exact` adds the metric
        energy_exact, which costs a dense inverse per frame. threads=0: one per core. `peg` says what is done about alternatives
        of a frame: "select" (the default), "enumerate", "off" or "all". check=False: frames are known to be
        valid. iterations=0 judges the start. `callback` sees every Iterate; when it returns False the run ends as "cancelled"."""
        for given in (solver, reference):
            if given is not None and not isinstance(given, (str, Solver)):
                raise TypeError("a solver is a name or a function with the decorator @ss.solver, not a "
                                f"{type(given).__name__}")
        if iterations is not None and not 0 <= iterations <= 10**9:
            raise UsageError(f"iterations={iterations}: expected a whole number from 0 to 1000000000")
        if not 0 <= time_limit <= 1e9:
            raise UsageError(f"time_limit={time_limit}: expected seconds from 0 (no limit) to 1000000000")
        formulation = formulation.name if isinstance(formulation, Formulation) else formulation
        self.formulation = formulation
        request = _abi.ss_request()
        request.formulation = encoded(formulation)
        setattr(request, "with", encoded(assignments(with_ or {})))
        self._own = [item for item in (solver, reference) if isinstance(item, Solver)]
        if isinstance(solver, Solver):
            request.own_solver = ctypes.pointer(solver.struct)
        else:
            request.solver = encoded(solver)
        if isinstance(reference, Solver):
            request.own_reference = ctypes.pointer(reference.struct)
        else:
            request.reference = encoded(reference)
        request.set = encoded(assignments(options))
        request.iterations = 0 if iterations is None else iterations or -1  # C: 0 is the default, -1 none at all
        request.time_limit = time_limit
        request.stop, request.keep, request.peg = encoded(stop), encoded(keep), encoded(peg)
        request.seed, request.history, request.explain, request.skip_exact = seed, history, explain, not exact
        self._team = Owner(lib.ss_team_create(threads), lib.ss_team_destroy) if threads != 1 else None
        if self._team is not None:
            request.team = self._team.pointer
        self._cancel = ctypes.c_int(0)
        self._request = request
        # The session reads names and options once, but points at own solvers and the team.
        self._owner = Owner(lib.ss_session_create(request), lib.ss_session_destroy, self._own, self._team, self._cancel)
        self._pointer = pointer = self._owner.pointer
        lib.ss_session_watch(pointer, ctypes.byref(self._cancel))
        self._watcher = _Watcher(callback) if callback is not None else None
        if self._watcher is not None:
            self._watcher.size = lambda: lib.ss_assembly_problem(lib.ss_session_assembly(pointer)).contents.size
            lib.ss_session_follow(pointer, self._watcher.struct)
        self._err = _abi.ss_error()
        self._watched: List[Any] = [*self._own, *([self._watcher] if self._watcher is not None else [])]  # what may have raised
        self._check, self._alone = check, False
        self._last: Optional["weakref.ref[Result]"] = None
        self._subject: Any = None
        self._busy = threading.Lock()
        self._with: Optional[str] = None
        self._step: Any = None

    def solve(self, what: Union[Frame, Problem, FclibProblem], start: Union[Answer, np.ndarray, None] = None) -> Result:
        """Solves and judges a frame (start: an Answer), or a problem without bodies or of an FCLIB file (start: x)."""
        if not self._busy.acquire(False):
            raise Error("this session is solving already, in another thread or around this call: use one for each")
        cancel, before = self._cancel, None
        try:
            last = self._last() if self._last is not None else None
            if last is not None:
                last._keep()
            before = _interrupt.begin(cancel)
            if isinstance(what, FclibProblem):
                what = what.problem()
            if isinstance(what, Frame):
                if self._check:
                    what.must_be_valid()
                if start is not None:
                    must_fit(what, start)
                found = _solve_frame(self._pointer, what._struct, None if start is None else start._struct,  # type: ignore
                                     self._err)
            elif isinstance(what, Problem):
                x = None if start is None else as_doubles(start, (len(what),), "start")
                if self._watcher is not None:
                    self._watcher.size = what.__len__
                found = _solve_problem(self._pointer, what._struct, address_of(x), self._err)
            else:
                raise TypeError(f"solve takes a Frame or a Problem, not a {type(what).__name__}")
        finally:
            _interrupt.end(cancel, before)
            self._busy.release()
        for watched in self._watched:
            watched.raise_failure()
        if registered:
            raise_failures()
        if not found:
            raise error_of(self._err, "ss_session_solve")
        self._subject = what  # the session looks at it until the next one
        result = Result(self, _ss_result.from_address(found), what, self._alone)
        self._last = weakref.ref(result)
        return result

    @property
    def solver(self) -> str:
        return lib.ss_session_solver(self._pointer).contents.name.decode()

    @property
    def options(self) -> str:
        """The options of the solver, all of them: "omega=1.3 sweep=symmetric"."""
        return printed(lib.ss_session_set, self._pointer, True)

    @property
    def step(self) -> Any:
        """The rules about gaps and joints, by which answers are judged."""
        if self._step is None:
            rules = lib.ss_assembly_step(lib.ss_session_assembly(self._pointer)).contents
            self._step = _abi.ss_step_options.from_buffer_copy(rules)
        return self._step

    @property
    def formulation_options(self) -> str:
        """The options of the formulation, all of them."""
        if self._with is None:
            self._with = printed(lib.ss_session_with, self._pointer, True)
        return self._with

    def __repr__(self) -> str:
        return f"<Session: {self.solver} {self.options}>".replace(" >", ">")


def solve(what: Union[Frame, Problem, FclibProblem], solver: Union[str, Solver] = "auto", *, start: Union[Answer, np.ndarray, None] = None,
          **rules: Any) -> Result:
    """Solves a frame, or a problem without bodies or of an FCLIB file, and judges the answer.

    Rules are those of Session: stop="energy<1e-6", time_limit (s), iterations, keep="best:energy", history=True, ...;
    other keywords are options of the solver. A status other than "converged" is a result, not an exception.

    >>> import numpy as np, stickslip as ss
    >>> brick = ss.Frame.from_arrays(
    ...     h=0.01, bodies={"mass": [2.0], "inertia": [np.eye(3)], "velocity": [[0.1, 0, 0, 0, 0, 0]],
    ...                     "force": [[0, 0, -19.62, 0, 0, 0]]},
    ...     contacts={"pair": [[ss.WORLD, 0]], "point": [[0, 0, 0]], "normal": [[0, 0, 1]], "mu": 0.5})
    >>> result = ss.solve(brick)
    >>> result.status, result.velocity[0].round(5), result.normal_impulse.round(5)
    ('converged', array([0.05095, 0.     , 0.     , 0.     , 0.     , 0.     ]), array([0.1962]))
    """
    session = Session(solver, **rules)
    session._alone = True  # no second solve: the result may look at its memory instead of copying
    return session.solve(what, start)
