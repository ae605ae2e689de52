"""Time stepping: simulations, user functions at the stages of a step, replaced parts, recording, and `run`."""
from __future__ import annotations

import ctypes
import math
import os
import time
import weakref
from typing import TYPE_CHECKING, Any, Callable, Dict, Iterable, List, Mapping, NamedTuple, Optional, Sequence, Tuple, \
    Union

import numpy as np

from . import _abi
from ._library import Error, PathLike, UsageError, encoded, error_of, lib, path_bytes, raw, text, variable
from ._memory import Owner
from .answer import Answer
from .frame import WORLD, Frame
from .judge import Metrics
from .model import Body, World
from .options import Filled, describe, value_text
from .plugins import STATUSES, Solver, raise_failures, solver as make_solver
from .session import Result

if TYPE_CHECKING:
    from .catalogue import Scene

STAGES = tuple(name[len("SS_"):].lower() for name in ("SS_BEFORE_COLLISION", "SS_AFTER_CONTACTS", "SS_BEFORE_SOLVE",
                                                      "SS_AFTER_STEP"))
_AFTER_CONTACTS, _BEFORE_SOLVE = _abi.SS_AFTER_CONTACTS, _abi.SS_BEFORE_SOLVE

_step = raw("ss_sim_step")
# As in the headers, but errors as addresses: a pointer object for each call would cost a microsecond.
_USER_FUNCTION = ctypes.CFUNCTYPE(ctypes.c_bool, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p)


def _contact_type() -> np.dtype:
    """ss_contact for NumPy; the numbers of its material are fields of their own."""
    places: Dict[str, Tuple[str, int]] = {}
    for name, kind in (("shape_a", "<i4"), ("shape_b", "<i4"), ("body_a", "<i4"), ("body_b", "<i4"), ("point", "(3,)<f8"),
                       ("normal", "(3,)<f8"), ("gap", "<f8"), ("surface_velocity", "(3,)<f8"), ("key", "<u8")):
        places[name] = (kind, getattr(_abi.ss_contact, name).offset)
    for name in ("mu", "mu_static", "restitution", "mu_rolling", "mu_torsion", "stiffness", "damping", "adhesion",
                 "mu_across"):
        places[name] = ("<f8", _abi.ss_contact.material.offset + getattr(_abi.ss_material_pair, name).offset)
    places["spin_coupling"] = ("<i4", _abi.ss_contact.material.offset + _abi.ss_material_pair.spin_coupling.offset)
    return np.dtype({"names": list(places), "formats": [kind for kind, _ in places.values()],
                     "offsets": [offset for _, offset in places.values()], "itemsize": ctypes.sizeof(_abi.ss_contact)})


CONTACT = _contact_type()


def contact_table(contacts: Union[np.ndarray, Iterable[Dict[str, Any]]]) -> np.ndarray:
    """Contacts for a simulation, from dictionaries with body_a, body_b (bodies, numbers, or ss.WORLD), point, normal (unit,
    from a to b), gap (m), mu, and optionally mu_static, restitution, mu_rolling, mu_torsion, stiffness, damping, adhesion,
    spin_coupling (0 independent, 1 ellipsoid), mu_across (with shapes that have a grain), surface_velocity, shape_a, shape_b
    and key.

    A `key` that stays the same from step to step lets the solver start where it ended; without it the contacts of a pair of
    bodies are numbered."""
    if isinstance(contacts, np.ndarray):
        if contacts.dtype != CONTACT:
            raise TypeError("an array of contacts has the type stickslip.CONTACT")
        return np.ascontiguousarray(contacts)
    rows = list(contacts)
    table = np.zeros(len(rows), CONTACT)
    seen: Dict[Tuple[int, int], int] = {}
    for entry, row in zip(table, rows):
        entry["shape_a"] = entry["shape_b"] = -1
        unknown = set(row) - set(CONTACT.names or ())
        if unknown:
            raise TypeError(f"a contact has no '{unknown.pop()}'; it has {', '.join(CONTACT.names or ())}")
        for name, value in row.items():
            entry[name] = value.number if isinstance(value, Body) else value
        pair = (int(entry["body_a"]), int(entry["body_b"]))
        seen[pair] = seen.get(pair, 0) + 1
        if "key" not in row:
            entry["key"] = seen[pair]
    return table


class StepReport(NamedTuple):
    """Cost and accuracy of the last step. m, J, s; the seconds of the stages add up to `seconds`."""

    contacts: int
    rows: int
    islands: int
    largest_island: int
    touching: int
    status: str
    iterations: int
    finished: int
    relative_energy: float
    energy_error: float
    penetration: float
    worst_contact: Optional[int]
    joint_error: float
    kinetic: float
    potential: float
    seconds: float
    broad: float
    narrow: float
    assembly: float
    solve: float
    integration: float


class _Borrowed:
    """The owner of a frame that exists during one call only."""

    __slots__ = ("pointer", "keep", "__weakref__")

    def __init__(self, pointer: Any, keep: Any):
        self.pointer, self.keep = pointer, keep


UserFunction = Callable[["Sim"], Any]
CollisionFunction = Callable[["Sim"], Any]
DynamicsFunction = Callable[["Sim", Frame], Any]

_SIM_TABLE, _COLLISION_TABLE = variable("ss_sim_option_table"), variable("ss_collision_option_table")


def _option_struct(options: Dict[str, Any], prepare: Optional[Callable[[Any], None]] = None) -> Tuple[Any, List[Any]]:
    """ss_sim_options from defaults, the scene and keywords, and what it points at."""
    struct, kept = _abi.ss_sim_options(), []
    address = ctypes.addressof(struct)
    collision = address + _abi.ss_sim_options.collision.offset
    lib.ss_options_defaults(_SIM_TABLE, address)
    lib.ss_options_defaults(_COLLISION_TABLE, collision)
    if prepare is not None:
        prepare(struct)
    of_collision = {option.name for option in describe(_COLLISION_TABLE)}
    for name, value in options.items():
        if isinstance(value, dict):  # of the formulation, of the solver
            for key, item in value.items():
                kept.append(f"{key}={value_text(item)}".encode())
                lib.ss_options_set(_SIM_TABLE, address, name.encode(), kept[-1])
            continue
        typed = value_text(value).encode()
        kept.append(typed)
        if name in of_collision:
            lib.ss_options_set(_COLLISION_TABLE, collision, name.encode(), typed)
        else:
            lib.ss_options_set(_SIM_TABLE, address, name.encode(), typed)
    return struct, kept


class Sim:
    """A simulation of a world.

    Options are those of `stickslip run`: h (s), substeps, formulation, solver, finisher, stop, iterations, gyro, joints,
    warm_start, threads, seed, margin, ...; `with_` are options of the formulation, `set` those of the solver. The solver may
    be a Python function (`stickslip.solver`).

    >>> import stickslip as ss
    >>> world = ss.World()
    >>> world.fixed(ss.plane())
    >>> ball = world.body(ss.sphere(0.1), position=(0, 0, 0.3))
    >>> sim = ss.Sim(world, h=0.005)
    >>> heights = []
    >>> @sim.at("after_step")
    ... def note(sim):
    ...     heights.append(ball.position[2])
    >>> sim.run(time=1.0)
    >>> len(heights), round(heights[-1], 4), sim
    (200, 0.1, <Sim: 200 steps, 1 s, 1 contact>)
    """

    def __init__(self, world: World, *, solver: Union[str, Solver, Callable[..., Any], None] = None,
                 with_: Optional[Dict[str, Any]] = None, set: Optional[Dict[str, Any]] = None,
                 scene: Optional["Scene"] = None, **options: Any):
        if "h" in options:
            options["dt"] = options.pop("h")
        if world.model is not None and scene is None:  # as `stickslip run FILE` has it
            options = {"dt": world.model.h or 0.002, "joints": "impulse", **options}
        own = None
        if solver is not None and not isinstance(solver, str):
            own = solver if isinstance(solver, Solver) else make_solver(solver)
        elif solver is not None:
            options["solver"] = solver
        if with_:
            options["with"] = with_
        if set and own is None:
            options["set"] = set
        self.world, self.scene = world, scene
        if scene is not None:
            self._options, self._texts = _option_struct(options, scene._set_options)
        else:
            self._options, self._texts = _option_struct(options)
        self._owner = Owner(lib.ss_sim_create(world._pointer, self._options), lib.ss_sim_destroy, world._owner, self._texts,
                            world._motions)
        self._pointer = self._owner.pointer
        world._changed = False
        self._err = _abi.ss_error()
        self._failure: Optional[BaseException] = None
        self._functions: List[List[UserFunction]] = [[] for _ in STAGES]
        self._callbacks: Dict[str, Any] = {}
        self._replaced: Dict[str, Any] = {"collision": None, "dynamics": None}
        self._stage = -1
        self._borrowed: Any = None
        self._own: List[Solver] = []
        self._contacts: Any = None  # what the library looks at during a step
        self._recordings: List["Recording"] = []
        if own is not None:
            self.use_solver(own, **(set or {}))

    # ---- stepping

    def step(self, count: int = 1) -> None:
        """Makes steps. A step that fails raises, and the world is as before that step; so does a step in which a user
        function raises."""
        if count < 0:
            raise UsageError(f"{count} steps: must not be negative")
        pointer, err, recordings = self._pointer, self._err, self._recordings
        for _ in range(count):
            if self.world._changed:
                self.world._finish()
            if self._own or self.world._motions:
                self._careful_step()
            elif not _step(pointer, err):
                self._raise("ss_sim_step")
            if recordings:
                for recording in recordings:
                    recording._after_step()

    def _raise(self, name: str) -> None:
        failure, self._failure = self._failure, None
        if failure is not None:
            raise failure
        raise_failures(of_any_thread=True)  # of a formulation
        raise error_of(self._err, name)

    def _careful_step(self) -> None:
        """Own solvers and motions cannot stop a step. If one has raised, the state before the step is put back."""
        before = self.save()
        good = _step(self._pointer, self._err)
        raised = self.world.failure is not None or any(solver._failures for solver in self._own)
        if good and not raised:
            return
        if good:
            self.restore(before)
        self._raise_failures()
        self._raise("ss_sim_step")

    def _raise_failures(self) -> None:
        self.world.raise_failure()
        for solver in self._own:
            solver.raise_failure(of_any_thread=True)

    def run(self, steps: Optional[int] = None, time: Optional[float] = None, *, record: Optional[PathLike] = None, every: int = 1,
            metrics: bool = True) -> None:
        """Many steps: a number of them, or simulated time (s), or as long as the scene suggests. `record` writes every K-th
        of them to a file (see `record`)."""
        if record is not None:
            with self.record(record, every=every, metrics=metrics):
                return self.run(steps, time)
        if steps is None:
            if time is None and self.scene is None:
                raise TypeError("run needs steps or time")
            length = time if time is not None else self.scene.length  # type: ignore[union-attr]
            steps = math.ceil(length / self.h - 1e-9)
        self.step(steps)

    def prepare(self) -> None:
        """Finds the contacts of the present state, makes its frame and solves it, without moving: see `frame`, `answer`."""
        if self.world._changed:
            self.world._finish()
        if not raw("ss_sim_prepare")(self._pointer, self._err):
            self._raise("ss_sim_prepare")
        self._raise_failures()

    @property
    def h(self) -> float:
        """s, of one step."""
        return float(self._options.h)

    @property
    def time(self) -> float:
        """s"""
        return float(lib.ss_sim_time(self._pointer))

    @property
    def steps(self) -> int:
        return int(lib.ss_sim_steps(self._pointer))

    # ---- looking at the last step

    def _has_frame(self) -> Any:
        pointer = lib.ss_sim_frame(self._pointer)
        if not pointer:
            raise Error("there is no frame: no step yet, or one that has none any more; see prepare()")
        return pointer

    def _has_answer(self) -> Any:
        pointer = lib.ss_sim_answer(self._pointer) if self._has_frame() else None
        if not pointer:
            raise Error("there is no answer: the frame is not solved yet, or its step failed; see prepare()")
        return pointer

    @property
    def frame(self) -> Frame:
        """The frame of the last step (with substeps: of the last of them), a copy.

        In a user function at "before_solve" it is the frame itself, to be changed, and must not be kept."""
        if self._stage == _BEFORE_SOLVE:
            if self._borrowed is None:
                self._borrowed = _Borrowed(lib.ss_sim_frame_edit(self._pointer), self._owner)
            return Frame._of(self._borrowed)
        return Frame._of(Owner(lib.ss_frame_copy(self._has_frame()), lib.ss_frame_destroy))

    @property
    def answer(self) -> Answer:
        """The answer of the last step, a copy that knows the rules by which it is judged."""
        answer = self._has_answer()
        step = lib.ss_assembly_step(lib.ss_sim_assembly(self._pointer)).contents
        rules = _abi.ss_step_options.from_buffer_copy(step)
        return Answer(self._owner, answer.contents, step=rules).copy()

    @property
    def metrics(self) -> Metrics:
        """Every metric of the last step's answer."""
        answer, pointer = self._has_answer(), self._has_frame()
        values = (_abi.ss_metric_value * lib.ss_metric_count())()
        count = pointer.contents.contacts.count
        contacts = (_abi.ss_contact_report * max(count, 1))()
        what = _abi.ss_case()
        what.assembly, what.answer, what.skip_exact = lib.ss_sim_assembly(self._pointer), answer, True
        lib.ss_judge(what, values, contacts)
        return Metrics(values, len(values), contacts, count)

    @property
    def report(self) -> StepReport:
        """Cost and accuracy of the last step, energies of the world now."""
        found = lib.ss_sim_last(self._pointer)
        fields = {name: getattr(found, name) for name in StepReport._fields}
        fields["status"] = STATUSES[found.status]
        fields["worst_contact"] = found.worst_contact if found.worst_contact >= 0 else None
        return StepReport(**fields)

    def frame_body(self, index: int) -> Body:
        """The body of the world behind a body of the frame."""
        return Body(self.world, lib.ss_sim_frame_body(self._pointer, index))

    @property
    def contacts(self) -> np.ndarray:
        """The contacts of the last step as a table of type CONTACT, a copy: contacts["gap"], contacts["body_a"], ...

        In a user function at "after_contacts", assign to change or drop them: `sim.contacts = table[table["gap"] < 0]`."""
        found = lib.ss_sim_contacts(self._pointer).contents
        if not found.count:
            return np.zeros(0, CONTACT)
        return np.frombuffer(ctypes.string_at(found.items, found.count * CONTACT.itemsize), CONTACT).copy()

    @contacts.setter
    def contacts(self, contacts: Any) -> None:
        if self._stage != _AFTER_CONTACTS:
            raise Error('contacts can be changed at "after_contacts" only')
        self._put(contacts, lib.ss_sim_contacts_edit(self._pointer).contents)

    def _put(self, contacts: Any, to: Any) -> None:
        self._contacts = table = contact_table(contacts)
        to.count = len(table)
        to.items = ctypes.cast(table.ctypes.data, type(to.items)) if len(table) else type(to.items)()

    def find_contacts(self) -> np.ndarray:
        """What the library's collision detection finds in the world as it is now, as a table of type CONTACT."""
        if self.world._changed:
            self.world._finish()
        found = _abi.ss_contact_list()
        lib.ss_collision_find(lib.ss_sim_collision(self._pointer), self.h / max(self._options.substeps, 1), None, found)
        if not found.count:
            return np.zeros(0, CONTACT)
        return np.frombuffer(ctypes.string_at(found.items, found.count * CONTACT.itemsize), CONTACT).copy()

    @property
    def figures(self) -> Dict[str, float]:
        """Values that belong to the scene, such as angles, in SI units."""
        return self.scene._figures(self) if self.scene is not None else {}

    # ---- user functions

    def at(self, stage: str, function: Optional[UserFunction] = None) -> Any:
        """Calls function(sim) in every step: at "before_collision" (set forces and motors), "after_contacts" (change
        `contacts`), "before_solve" (change `frame`) or "after_step". Also a decorator: `@sim.at("after_step")`.

        Functions are called in the order of registration; one that raises stops the step, and the exception comes out of
        `step`."""
        if stage not in STAGES:
            raise UsageError(f"unknown stage '{stage}'; there are {', '.join(STAGES)}")
        if function is None:
            return lambda function: self.at(stage, function)
        number = STAGES.index(stage)
        if not self._functions[number]:
            callback = _USER_FUNCTION(_stage_call(weakref.ref(self), self._functions[number], number))
            if stage not in self._callbacks:
                self._callbacks[stage] = callback
                self._owner.keep += (callback,)
                lib.ss_sim_call_at(self._pointer, number, ctypes.cast(callback, _abi.ss_user_function), None)
        self._functions[number].append(function)
        return function

    def remove(self, function: UserFunction) -> None:
        """No longer calls this function, at any stage."""
        for functions in self._functions:
            functions[:] = [item for item in functions if item is not function]

    # ---- replaced parts

    @property
    def collision(self) -> Optional[CollisionFunction]:
        """Your own collision detection, f(sim) -> contacts (see `contact_table`); None: the library's."""
        return self._replaced["collision"]

    @collision.setter
    def collision(self, function: Optional[CollisionFunction]) -> None:
        self._replaced["collision"] = function
        if function is None:
            lib.ss_sim_replace_collision(self._pointer, _abi.ss_contact_source(), None)
            return
        ref = weakref.ref(self)

        def source(_sim: Any, _arena: Any, contacts: Any, _context: Any, err: Any) -> bool:
            sim = ref()
            try:
                sim._put(function(sim), contacts.contents)  # type: ignore[union-attr, arg-type, misc]
                return True
            except BaseException as failure:
                return _stopped(sim, failure, err)

        self._keep_callback("collision", _abi.ss_contact_source(source), lib.ss_sim_replace_collision)

    @property
    def dynamics(self) -> Optional[DynamicsFunction]:
        """Your own formulation and solver together, f(sim, frame) -> velocities (bodies, 6), an Answer, a Result of
        `stickslip.solve`, or a dictionary of the arrays of an Answer; None: the library's. The frame must not be kept."""
        return self._replaced["dynamics"]

    @dynamics.setter
    def dynamics(self, function: Optional[DynamicsFunction]) -> None:
        self._replaced["dynamics"] = function
        if function is None:
            lib.ss_sim_replace_dynamics(self._pointer, _abi.ss_answer_source(), None)
            return
        ref = weakref.ref(self)

        def source(_sim: Any, frame: Any, answer: Any, _context: Any, err: Any) -> bool:
            sim = ref()
            try:
                borrowed = _Borrowed(frame, None)
                found = function(sim, Frame._of(borrowed, frame.contents, writable=False))  # type: ignore[misc, arg-type]
                _fill(Answer(None, answer.contents, writable=True), found)
                del found
                return _returned(borrowed)
            except BaseException as failure:
                return _stopped(sim, failure, err)

        self._keep_callback("dynamics", _abi.ss_answer_source(source), lib.ss_sim_replace_dynamics)

    def _keep_callback(self, name: str, callback: Any, replace: Any) -> None:
        replace(self._pointer, callback, None)
        self._callbacks[name] = callback
        self._owner.keep += (callback,)

    @property
    def solver(self) -> Union[str, Solver]:
        """The solver, by name or as a Python function; assign another one at any time."""
        return self._own[-1] if self._own else text(self._options.solver) or ""

    @solver.setter
    def solver(self, solver: Union[str, Solver, Callable[..., Any]]) -> None:
        self.use_solver(solver)

    def use_solver(self, solver: Union[str, Solver, Callable[..., Any]], **options: Any) -> None:
        """Replaces the solver: a name, or a Python function f(problem, run, option=default); options are its own."""
        if isinstance(solver, str):
            pointer = lib.ss_solver_find(encoded(solver))
            if not pointer:
                raise UsageError(f"unknown solver '{solver}'")
            own: List[Solver] = []
        else:
            own = [solver if isinstance(solver, Solver) else make_solver(solver)]
            pointer = ctypes.pointer(own[0].struct)
        table = pointer.contents
        filled = Filled(table.options, table.options_size, options)
        lib.ss_sim_replace_solver(self._pointer, pointer, filled.address if table.options_size else None)
        self._owner.keep += (own, filled)
        self._own = own
        if not own:
            self._texts.append(encoded(solver))  # type: ignore[arg-type]
            self._options.solver = self._texts[-1]

    # ---- state and recording

    def save(self) -> bytes:
        """Everything the next step depends on, except the structure of the world."""
        snapshot = _abi.ss_snapshot()
        lib.ss_sim_save(self._pointer, snapshot)
        try:
            return ctypes.string_at(snapshot.bytes, snapshot.size)
        finally:
            lib.ss_snapshot_free(snapshot)

    def restore(self, state: bytes) -> None:
        """Puts back what `save` returned. Of user functions, those at "after_step" alone may do so."""
        buffer = ctypes.create_string_buffer(state, len(state))
        snapshot = _abi.ss_snapshot(len(state), ctypes.addressof(buffer))
        lib.ss_sim_restore(self._pointer, snapshot)

    @property
    def hash(self) -> str:
        """Of time, poses and velocities, bit for bit: 32 hex digits."""
        buffer = ctypes.create_string_buffer(33)
        lib.ss_sim_hash(self._pointer, buffer)
        return buffer.value.decode()

    def record(self, path: PathLike, *, every: int = 1, metrics: bool = True, layout: str = "canonical",
               survive: float = 5.0, flight: Optional[Mapping[str, Any]] = None, **texts: str) -> "Recording":
        """Records every K-th step to a BPMD file from now on: frame, shapes, answer, and metrics. In `with`, or until
        `close()`; the file appears then. What was recorded more than `survive` seconds ago can be recovered (`recover`) if
        the program dies; 0 = nothing. `flight` makes it a flight recorder, as in Recorder: {"ring": 500, "trip": "nan"}."""
        return Recording(self, path, every, metrics, layout, survive, flight, texts)

    def __repr__(self) -> str:
        contacts = lib.ss_sim_contacts(self._pointer).contents.count
        scene = f" {self.scene.name}" if self.scene is not None else ""
        steps = self.steps
        return (f"<Sim{scene}: {steps} step{'s' if steps != 1 else ''}, {self.time:.6g} s, "
                f"{contacts} contact{'s' if contacts != 1 else ''}>")


def _stage_call(ref: "weakref.ref[Sim]", functions: List[UserFunction], number: int) -> Callable[..., bool]:
    """What the library calls at a stage."""
    if number not in (_AFTER_CONTACTS, _BEFORE_SOLVE):
        def call(_sim: Any, _context: Any, _err: Any) -> bool:
            sim = ref()
            try:
                for function in functions:
                    function(sim)  # type: ignore[arg-type]
                return True
            except BaseException as failure:
                sim._failure = failure  # type: ignore[union-attr]
                return False
        return call

    def call_with_stage(_sim: Any, _context: Any, _err: Any) -> bool:
        sim = ref()
        try:
            sim._stage = number  # type: ignore[union-attr]
            for function in functions:
                function(sim)  # type: ignore[arg-type]
            borrowed, sim._borrowed = sim._borrowed, None  # type: ignore[union-attr]
            return borrowed is None or _returned(borrowed)
        except BaseException as failure:
            sim._failure = failure  # type: ignore[union-attr]
            return False
        finally:
            sim._stage, sim._borrowed = -1, None  # type: ignore[union-attr]
    return call_with_stage


def _returned(borrowed: _Borrowed) -> bool:
    """No one may look at a borrowed frame when the function has returned: two references are ours."""
    import sys
    if sys.getrefcount(borrowed) > 3:  # the caller's variable, ours, and getrefcount's
        raise BufferError("the frame of a running step, or an array of it, was kept beyond the function; keep a copy() instead")
    return True


def _stopped(sim: Optional[Sim], failure: BaseException, err: Any) -> bool:
    if sim is not None:
        sim._failure = failure
    if err:
        err.contents.code, err.contents.message = _abi.SS_ERROR_USAGE, str(failure).encode()[:900]
    return False


def _fill(answer: Answer, found: Any) -> None:
    """What a function of dynamics returned, into the library's answer."""
    if isinstance(found, Result):
        found = found.answer
    if isinstance(found, Answer):
        if found.sizes != answer.sizes:
            raise ValueError(f"the answer has {found.sizes} bodies, joint rows and contacts, the frame {answer.sizes}")
        found = found.arrays()
    if isinstance(found, dict):
        for name, values in found.items():
            if not isinstance(getattr(Answer, name, None), type(Answer.velocity)):
                raise TypeError(f"an answer has no '{name}'")
            if getattr(answer, name) is not None:
                setattr(answer, name, values)
        return
    if found is None:
        raise TypeError("the function of dynamics returned None; it must return velocities, an Answer or a Result")
    answer.velocity = np.asarray(found, float).reshape(answer.velocity.shape)


class Recording:
    """What `Sim.record` returns: a file that is being written; `frames` counts."""

    def __init__(self, sim: Sim, path: PathLike, every: int, metrics: bool, layout: str, survive: float,
                 flight: Optional[Mapping[str, Any]], texts: Dict[str, str]):
        from .recorder import LAYOUTS, _manifest, configure
        if every < 1:
            raise ValueError("every must be at least 1")
        self.sim, self.path, self.every, self.metrics, self.frames = sim, os.fspath(path), every, metrics, 0
        self._seen = self._tripped = 0
        told: Dict[str, Optional[str]] = {"toolkit": f"stickslip {text(lib.ss_version())}"}
        if sim.scene is not None:
            told.update(keywords=sim.scene.name, description=f"scene {sim.scene.name}: {sim.scene.summary}")
        told.update(texts)
        self._manifest = _manifest(told, tuple(sim.world.gravity), None)
        self._writer: Any = lib.ss_writer_open(path_bytes(path), LAYOUTS[layout], False)
        try:
            configure(self._writer, survive, flight)
            lib.ss_writer_simulation(self._writer, self._manifest[0])
            lib.ss_writer_world(self._writer, sim.world._pointer)
        except BaseException:
            self.discard()
            raise
        sim._recordings.append(self)

    def _after_step(self) -> None:
        self._seen += 1
        if (self._seen - 1) % self.every:
            return
        pointer, assembly = self.sim._pointer, lib.ss_sim_assembly(self.sim._pointer)
        frame = lib.ss_sim_frame(pointer)
        lib.ss_writer_frame(self._writer, frame)
        lib.ss_writer_scenery(self._writer, lib.ss_sim_scenery(pointer))
        count = frame.contents.contacts.count
        values = (_abi.ss_metric_value * lib.ss_metric_count())()
        contacts = (_abi.ss_contact_report * max(count, 1))()
        if self.metrics:
            what = _abi.ss_case()
            what.assembly, what.answer, what.skip_exact = assembly, lib.ss_sim_answer(pointer), True
            lib.ss_judge(what, values, contacts)
        last = lib.ss_sim_last(pointer)
        name = self.sim.solver
        stored = _abi.ss_stored_result()
        stored.solver = encoded(name if isinstance(name, str) else name.name)
        if self.sim.dynamics is not None:
            stored.solver = encoded(getattr(self.sim.dynamics, "__name__", "dynamics").strip("<>"))
        stored.answer = lib.ss_sim_answer(pointer)
        stored.iterations, stored.error, stored.seconds = last.iterations, last.relative_energy, last.solve
        lib.ss_writer_judged_result(self._writer, stored, assembly, values if self.metrics else None, contacts)
        lib.ss_writer_end_frame(self._writer)
        self.frames += 1

    def trip(self, reason: str) -> None:
        """Writes the ring of a flight recorder now; nothing without one."""
        if self._writer is not None:
            lib.ss_writer_trip(self._writer, encoded(reason))

    @property
    def trips(self) -> int:
        """How often the flight recorder has written its ring."""
        return int(lib.ss_writer_trips(self._writer)) if self._writer is not None else self._tripped

    def _stop(self) -> Any:
        self._tripped = self.trips
        writer, self._writer = self._writer, None
        if self in self.sim._recordings:
            self.sim._recordings.remove(self)
        return writer

    def close(self) -> None:
        """Puts the file in its place."""
        writer = self._stop()
        if writer is not None:
            lib.ss_writer_close(writer)

    def discard(self) -> None:
        """Abandons the file; what was there before is unchanged."""
        writer = self._stop()
        if writer is not None:
            lib.ss_writer_discard(writer)

    def __enter__(self) -> "Recording":
        return self

    def __exit__(self, kind: Any, *_: object) -> None:
        self.close()  # what was simulated before a failure is not lost

    def __del__(self) -> None:
        if getattr(self, "_writer", None) is not None:
            self.discard()

    def __repr__(self) -> str:
        return f"<Recording {self.path}: {self.frames} frame{'s' if self.frames != 1 else ''}>"


def run(what: Union[str, "Scene", World, Sim, Callable[..., Any]], steps: Optional[int] = None, time: Optional[float] = None, *,
        parameters: Optional[Dict[str, Any]] = None, record: Optional[PathLike] = None, every: int = 1, metrics: bool = True,
        at: Optional[Dict[str, Union[UserFunction, Sequence[UserFunction]]]] = None,
        collision: Optional[CollisionFunction] = None, dynamics: Optional[DynamicsFunction] = None, **options: Any) -> Sim:
    """Simulates, and returns the simulation: of a scene by name (with `parameters`), a model file (likewise), a World, a function f(world, ...) that
    builds one, or a Sim that continues.

    `at` gives user functions by stage, `record` a file; other keywords are options of Sim.

    >>> import stickslip as ss
    >>> sim = ss.run("card-house", steps=20, parameters={"storeys": 2}, solver="nsgs")
    >>> sim.steps, sim.report.penetration < 1e-3
    (20, True)
    """
    from .catalogue import Scene, scene
    if isinstance(what, Sim):
        if options or parameters:
            raise TypeError("options and parameters of a simulation are set when it is made")
        sim = what
    elif isinstance(what, str) and not lib.ss_scene_find(encoded(what)) and lib.ss_model_is_name(encoded(what)):
        sim = World.read(what, **(parameters or {})).simulate(**options)
    elif isinstance(what, (str, Scene)):
        chosen = scene(what, **(parameters or {})) if isinstance(what, str) else what
        sim = chosen.sim(**options)
    else:
        world = what
        if not isinstance(world, World):
            world = World()
            what(world, **(parameters or {}))  # type: ignore[operator]
        sim = Sim(world, **options)
    for stage, functions in (at or {}).items():
        for function in (functions if isinstance(functions, (list, tuple)) else [functions]):
            sim.at(stage, function)
    if collision is not None:
        sim.collision = collision
    if dynamics is not None:
        sim.dynamics = dynamics
    sim.run(steps, time, record=record, every=every, metrics=metrics)
    return sim
