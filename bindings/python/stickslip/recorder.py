"""Writing frames: from your own engine, or from arrays."""
from __future__ import annotations

import ctypes
import math
import os
from typing import Any, Dict, List, Mapping, Optional, Sequence, Tuple, Union

import numpy as np

from . import _abi
from ._library import PathLike, UsageError, encoded, lib, path_bytes
from ._memory import Owner, address_of
from .answer import Answer
from .frame import Frame
from .options import assignments
from .session import Result

LAYOUTS = {"canonical": _abi.SS_LAYOUT_CANONICAL, "flat": _abi.SS_LAYOUT_FLAT}
_TEXTS = ("toolkit", "title", "description", "author", "date", "url", "keywords")


class FrameBuilder:
    """One frame, body by body and contact by contact. Numbers are returned to name bodies in pairs; -1 is the world."""

    def __init__(self, time: float, h: float):
        self.time, self.h = time, h
        self._bodies: Dict[str, List[Any]] = {name: [] for name in ("mass", "position", "quaternion", "inertia", "velocity",
                                                                    "force")}
        self._joints: Dict[str, List[Any]] = {name: [] for name in ("pair", "rows", "jacobian", "violation", "time_derivative",
                                                                    "bounds")}
        self._contacts: Dict[str, List[Any]] = {name: [] for name in ("pair", "point", "normal", "gap", "mu")}
        self._extras: Dict[str, Dict[int, Any]] = {}
        self._cuts: List[float] = []
        self._group_of: Dict[int, int] = {}
        self._rows: Dict[str, List[Any]] = {name: [] for name in ("group", "alternative", "role", "point", "normal", "gap")}
        self._results: Dict[str, Dict[str, Any]] = {}

    def body(self, mass: float, position: Any = (0, 0, 0), quaternion: Any = (1, 0, 0, 0), inertia: Any = None,
             velocity: Any = (0,) * 6, force: Any = (0,) * 6, *, local_inertia: Any = None) -> int:
        """Adds a body and returns its number. `inertia` is 3 x 3 in the world frame, or three numbers on its diagonal;
        `local_inertia` is in the body's frame and turned with the quaternion. Velocity and force are linear, then angular,
        in the world frame: the velocity before the step, the force with gravity and everything explicit."""
        if (inertia is None) == (local_inertia is None):
            raise TypeError("a body needs inertia (world frame) or local_inertia (body frame), one of them")
        given = inertia if local_inertia is None else local_inertia
        tensor = np.asarray(given, float)
        tensor = np.diag(tensor) if tensor.shape == (3,) else tensor.reshape(3, 3)
        if local_inertia is not None:
            turn = _rotation(quaternion)
            tensor = turn @ tensor @ turn.T
        for name, value in (("mass", mass), ("position", position), ("quaternion", quaternion), ("inertia", tensor),
                            ("velocity", velocity), ("force", force)):
            self._bodies[name].append(value)
        return len(self._bodies["mass"]) - 1

    def joint(self, a: int, b: int, jacobian: Any, violation: Any, time_derivative: Any = None, bounds: Any = None) -> int:
        """Adds a joint: rows x 12 of its Jacobian (columns 0-5 for a, 6-11 for b), and its errors. Returns its number."""
        rows = np.atleast_2d(np.asarray(jacobian, float))
        count = len(rows)
        self._joints["pair"].append((a, b))
        self._joints["rows"].append(count)
        self._joints["jacobian"].extend(rows)
        for name, value, absent in (("violation", violation, 0.0), ("time_derivative", time_derivative, 0.0)):
            self._joints[name].extend(np.broadcast_to(absent if value is None else value, (count,)))
        limits = (-math.inf, math.inf) if bounds is None else bounds
        self._joints["bounds"].extend(np.broadcast_to(limits, (count, 2)))
        return len(self._joints["rows"]) - 1

    def contact(self, a: int, b: int, point: Any, normal: Any, gap: float = 0.0, mu: Any = 0.0, *,
                group: Optional[int] = None, **extras: Any) -> int:
        """Adds a contact with a unit normal from a to b; gap < 0 is an overlap. `group` makes it a point of the first
        alternative of a group. Extras are the optional arrays of Contacts: tangent, restitution, mu_rolling, mu_static,
        compliance, surface_velocity. Returns its number."""
        number = len(self._contacts["gap"])
        if group is not None:
            self._group_of[number] = self._known(group)
        for name, value in (("pair", (a, b)), ("point", point), ("normal", normal), ("gap", gap),
                            ("mu", np.broadcast_to(mu, (2,)))):
            self._contacts[name].append(value)
        for name, value in extras.items():
            if value is not None:
                self._extras.setdefault(name, {})[number] = value
        return number

    def _known(self, group: int) -> int:
        if not 0 <= group < len(self._cuts):
            raise ValueError(f"group {group}: there are {len(self._cuts)} groups")
        return group

    def group(self, cut: float = math.inf) -> int:
        """Adds a group of alternatives (docs/peg.md), one pair of convex pieces, and returns its number. `cut` is how deep the
        straight path of a step may cut, in m; 5 % of the thinner piece is a good choice."""
        self._cuts.append(cut)
        return len(self._cuts) - 1

    def alternative(self, group: int, alternative: int, point: Any, normal: Any, gap: float = 0.0, *, test: bool = False) -> int:
        """Adds a point of a further alternative (1, 2, ...) of a group, or a test point of any of them, which carries no
        impulse. The normal is from a to b of the group's contacts, the same for all points of an alternative. Returns its
        number."""
        for name, value in (("group", self._known(group)), ("alternative", alternative), ("role", int(test)), ("point", point),
                            ("normal", normal), ("gap", gap)):
            self._rows[name].append(value)
        return len(self._rows["gap"]) - 1

    def result(self, solver: str, velocity: Any = None, row_impulse: Any = None, normal_impulse: Any = None,
               friction_impulse: Any = None, **more: Any) -> None:
        """The answer of the engine's own solver to this frame, as far as it is known."""
        self._results[solver] = {"velocity": velocity, "row_impulse": row_impulse, "normal_impulse": normal_impulse,
                                 "friction_impulse": friction_impulse, **more}

    def frame(self) -> Frame:
        """What was added so far, checked."""
        frame = Frame(len(self._bodies["mass"]), len(self._joints["rows"]), len(self._joints["violation"]),
                      len(self._contacts["gap"]), h=self.h, time=self.time)
        for group, values in ((frame.bodies, self._bodies), (frame.constraints, self._joints), (frame.contacts, self._contacts)):
            for name, value in values.items():
                if len(value):
                    setattr(group, name, np.asarray(value))
        for name, given in self._extras.items():
            array = getattr(frame.contacts, name, None)
            if array is None:  # creates it with what its absence meant
                lib.ss_frame_enable(frame._struct, encoded(type(frame.contacts).__dict__[name].optional))
                array = getattr(frame.contacts, name)
            for number, value in given.items():
                array[number] = value
        if self._cuts:
            sub = frame.add_alternatives(len(self._cuts), len(self._rows["gap"]))
            sub.cut = np.asarray(self._cuts, float)
            for number, of in self._group_of.items():
                sub.contact_group[number] = of
            for name, value in self._rows.items():
                if len(value):
                    setattr(sub, name, np.asarray(value))
        frame.must_be_valid()
        return frame


def _rotation(quaternion: Any) -> np.ndarray:
    w, x, y, z = np.asarray(quaternion, float) / np.linalg.norm(quaternion)
    return np.array([[1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
                     [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
                     [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)]])


class _Step:
    """with recorder.frame(time, h) as f: ..."""

    def __init__(self, recorder: "Recorder", time: float, h: float):
        self.recorder, self.builder = recorder, FrameBuilder(time, h)

    def __enter__(self) -> FrameBuilder:
        return self.builder

    def __exit__(self, kind: Any, *_: object) -> None:
        if kind is None:
            frame = self.builder.frame()
            self.recorder.write(frame, self.builder._results)


class Recorder:
    """Writes a BPMD file, in `with`. The file appears when the block ends; after an exception the old one, if any, is as it
    was. A frame with faults raises InputError and never reaches the file.

    >>> import os, tempfile, stickslip as ss
    >>> path = os.path.join(tempfile.mkdtemp(), "ball.h5")
    >>> with ss.Recorder(path, "my engine 1.0", title="a falling ball") as recorder:
    ...     for step in range(3):
    ...         with recorder.frame(time=0.01 * step, h=0.01) as f:
    ...             ball = f.body(1.0, position=(0, 0, 0.5), inertia=(0.1, 0.1, 0.1), force=(0, 0, -9.81, 0, 0, 0))
    ...             touch = f.contact(ss.WORLD, ball, point=(0, 0, 0), normal=(0, 0, 1), mu=0.5)
    >>> ss.open(path).simulations[0].manifest.title
    'a falling ball'

    A whole frame goes in by `recorder.write(frame)`, with answers beside it: `recorder.write(frame, {"mine": answer})`."""

    def __init__(self, path: PathLike, toolkit: Optional[str] = None, *, layout: str = "canonical", append: bool = False,
                 gravity: Optional[Sequence[float]] = None, image: Optional[np.ndarray] = None, survive: float = 5.0,
                 flight: Optional[Mapping[str, Any]] = None, **texts: str):
        """Texts are title, description, author, date, url and keywords; `image` is height x width x 3, uint8. What was
        recorded more than `survive` seconds ago can be recovered (`recover`) if the program dies; 0 = nothing.

        `flight` makes it a flight recorder, which writes only the last steps before something trips:
        flight={"ring": 500, "trip": ["energy>1e-3", "nan"], "after": 20, "trip_signal": "usr1"}; further settings are trips,
        ring_megabytes and no_ring_file (docs/recorder.md). `trip(reason)` trips at once, `trips` counts."""
        if layout not in LAYOUTS:
            raise UsageError(f"unknown layout '{layout}'; there are {', '.join(LAYOUTS)}")
        self.path = os.fspath(path)
        self.frames = 0
        self._manifest = _manifest({"toolkit": toolkit or "stickslip (Python)", **texts}, gravity, image)
        self._pointer: Any = lib.ss_writer_open(path_bytes(path), LAYOUTS[layout], append)
        self._begun = False
        self._discard = lib.ss_writer_discard
        self._tripped = 0
        configure(self._pointer, survive, flight)

    def trip(self, reason: str) -> None:
        """Writes the ring of a flight recorder now; nothing without one."""
        lib.ss_writer_trip(self._writer(), encoded(reason))

    @property
    def trips(self) -> int:
        """How often the flight recorder has written its ring."""
        return int(lib.ss_writer_trips(self._pointer)) if self._pointer is not None else self._tripped

    def _writer(self) -> Any:
        if self._pointer is None:
            raise ValueError(f"{self.path}: the recorder is closed")
        return self._pointer

    def simulation(self, toolkit: Optional[str] = None, *, gravity: Optional[Sequence[float]] = None,
                   image: Optional[np.ndarray] = None, **texts: str) -> None:
        """Begins a new simulation; what comes before the first call is one too."""
        manifest, kept = _manifest({"toolkit": toolkit, **texts}, gravity, image)
        lib.ss_writer_simulation(self._writer(), manifest)
        self._begun = True

    def _begin(self) -> None:
        if not self._begun:
            lib.ss_writer_simulation(self._writer(), self._manifest[0])
            self._begun = True

    def frame(self, time: float, h: float) -> _Step:
        """The next frame piece by piece: `with recorder.frame(time, h) as f:`, then f.body, f.joint, f.contact, f.result."""
        return _Step(self, time, h)

    def write(self, frame: Frame, results: Optional[Mapping[str, Union[Answer, Result, Dict[str, Any]]]] = None, *,
              check: bool = True) -> None:
        """The next frame, and answers to it by the name of their solver: an Answer, a Result of `solve`, or a dictionary of
        arrays (velocity, row_impulse, normal_impulse, friction_impulse; formulation and options say by which rules)."""
        if check:
            frame.must_be_valid()
        self._begin()
        lib.ss_writer_frame(self._writer(), frame._struct)
        self.frames += 1
        for solver, result in (results or {}).items():
            self._result(frame, solver, result)
        lib.ss_writer_end_frame(self._writer())

    def _result(self, frame: Frame, solver: str, result: Any) -> None:
        stored = _abi.ss_stored_result(solver=encoded(solver), iterations=-1, error=math.nan, seconds=math.nan)
        keep: List[Any] = []
        if isinstance(result, Result):
            if result.answer is None:
                raise UsageError("a problem without bodies cannot be stored with a frame")
            stored.iterations, stored.seconds = result.iterations, result.seconds
            stored.formulation = encoded(result.formulation)
            setattr(stored, "with", encoded(result.formulation_options))
            self._measures(stored, result, keep)
            answer = result.answer
        elif isinstance(result, Answer):
            answer = result
        else:
            given = dict(result)
            stored.formulation = encoded(given.pop("formulation", None))
            setattr(stored, "with", encoded(given.pop("options", None)))
            answer = Answer.for_frame(frame, rolling=given.get("rolling_impulse") is not None)
            for name in answer.arrays():
                unknown = -1 if name == "selection" else math.nan
                setattr(answer, name, unknown if given.get(name) is None else given.pop(name))
            given = {name: value for name, value in given.items() if value is not None}
            if given:
                raise TypeError(f"a result has no '{next(iter(given))}'")
        stored.answer = ctypes.pointer(answer._struct)
        lib.ss_writer_result(self._writer(), stored)

    @staticmethod
    def _measures(stored: Any, result: Result, keep: List[Any]) -> None:
        """Every metric that applies, and the energy error of every contact, as the program stores them."""
        metrics = result.metrics
        values = [(name, np.array([metric.value])) for name, metric in metrics.items() if metric.applies]
        if metrics.contacts is not None and len(metrics.contacts):
            values.append(("contact_energy", np.ascontiguousarray(metrics.contacts.energy)))
        table = (_abi.ss_measure * max(len(values), 1))()
        for entry, (name, array) in zip(table, values):
            entry.name, entry.values, entry.count = encoded(name), address_of(array), len(array)
        keep += [table, values]
        stored.measures = ctypes.cast(table, ctypes.POINTER(_abi.ss_measure))
        stored.measure_count = len(values)

    def close(self) -> None:
        """Puts the file in its place."""
        if self._pointer is not None:
            self._begin()
            lib.ss_writer_end_frame(self._pointer)
            self._tripped = self.trips
            pointer, self._pointer = self._pointer, None
            lib.ss_writer_close(pointer)

    def discard(self) -> None:
        """Abandons everything; the target is unchanged."""
        pointer, self._pointer = self._pointer, None
        if pointer is not None:
            self._discard(pointer)

    def __enter__(self) -> "Recorder":
        return self

    def __exit__(self, kind: Any, *_: object) -> None:
        if kind is None:
            self.close()
        else:
            self.discard()

    def __del__(self) -> None:
        if getattr(self, "_pointer", None) is not None:
            self.discard()

    def __repr__(self) -> str:
        state = "closed" if self._pointer is None else "open"
        return f"<Recorder {self.path}: {self.frames} frame{'s' if self.frames != 1 else ''}, {state}>"


def configure(writer: Any, survive: float, flight: Optional[Mapping[str, Any]]) -> None:
    """How a recording is kept, before its first frame: by settings of the library, of which `trip` may be a list."""
    words = [f"survive={float(survive)!r}"]
    for name, value in (flight or {}).items():
        listed = value if isinstance(value, (list, tuple)) else [value]
        words += [assignments({name: item}) or "" for item in listed]
    lib.ss_writer_configure_text(writer, encoded(" ".join(words)))


def _manifest(texts: Mapping[str, Optional[str]], gravity: Optional[Sequence[float]],
              image: Optional[np.ndarray]) -> Tuple[Any, Any]:
    manifest = _abi.ss_manifest()
    for name, value in texts.items():
        if name not in _TEXTS:
            raise TypeError(f"a manifest has no '{name}'; it has {', '.join(_TEXTS)}, gravity and image")
        setattr(manifest, name, encoded(value))
    manifest.gravity[:] = (math.nan,) * 3 if gravity is None else tuple(map(float, gravity))
    picture = None
    if image is not None:
        picture = np.ascontiguousarray(image, np.uint8)
        if picture.ndim != 3 or picture.shape[2] != 3:
            raise ValueError(f"an image is height x width x 3, not {picture.shape}")
        manifest.image_height, manifest.image_width = picture.shape[:2]
        manifest.image = address_of(picture)
    return manifest, picture
