"""Files: BPMD (frames of simulations) and FCLIB (single problems)."""
from __future__ import annotations

import ctypes
import os
import threading
from typing import Any, Dict, Iterator, List, NamedTuple, Optional, Sequence, Tuple, Union, overload

import numpy as np

from . import _abi
from ._library import Error, InputError, PathLike, UsageError, encoded, lib, path_bytes, text, variable
from ._memory import Owner, field_view, view
from .answer import Answer
from .findings import Collector, Findings
from .frame import Frame
from .options import Filled
from .problem import Problem, sparse_matrix

DIALECTS = tuple(lib.ss_dialect_name(dialect).decode() for dialect in range(_abi.SS_DIALECT_AUTO))


def open(path: PathLike, *, limits: Optional[Dict[str, Any]] = None, **reading: Any) -> "Union[BpmdFile, FclibFile]":
    """Opens a BPMD or FCLIB file, whichever it is. Nothing but its table of contents is read before it is asked for.

    `limits` are the limits for files of strangers ({"max_contacts": 1000}), the other options say how BPMD is read
    ({"dialect": "gazebo", "flip_world_normals": True})."""
    found = ctypes.c_int()
    lib.ss_format_of_file(path_bytes(path), ctypes.byref(found))
    if found.value == _abi.SS_FORMAT_FCLIB:
        if reading:
            raise UsageError(f"{os.fspath(path)}: an FCLIB file has no {', '.join(reading)}")
        return FclibFile(path, limits)
    return BpmdFile(path, limits, reading)


def _limits(limits: Optional[Dict[str, Any]]) -> Any:
    filled = Filled(variable("ss_limits_table"), ctypes.sizeof(_abi.ss_limits), limits or {})
    return _abi.ss_limits.from_buffer_copy(filled.buffer)


class Manifest(NamedTuple):
    """What a simulation says about itself; everything is optional."""

    toolkit: Optional[str]
    title: Optional[str]
    description: Optional[str]
    author: Optional[str]
    date: Optional[str]
    url: Optional[str]
    keywords: Optional[str]
    gravity: Optional[Tuple[float, float, float]]
    image: Optional[np.ndarray]  # height x width x 3, RGB

    def __repr__(self) -> str:
        lines = [f"{name:<12} {value}" for name, value in zip(self._fields, self) if value is not None and name != "image"]
        return "\n".join(lines) or "(no manifest)"


class Simulation(Sequence[Frame]):
    """The frames of one simulation of a file, read when they are asked for."""

    def __init__(self, file: "BpmdFile", number: int, first: int, count: int):
        self._file, self.number, self._first, self._count = file, number, first, count
        self.path: str = lib.ss_bpmd_simulation_path(file._pointer, number).decode()

    @property
    def manifest(self) -> Manifest:
        """Title, author, keywords, picture."""
        raw = _abi.ss_manifest()
        lib.ss_bpmd_manifest(self._file._pointer, self.number, raw)
        try:
            gravity: Any = tuple(raw.gravity)
            image = None
            if raw.image:
                image = view(None, raw.image, (raw.image_height, raw.image_width, 3), "u1")
            texts = {name: text(getattr(raw, name)) for name in Manifest._fields[:7]}
            return Manifest(gravity=None if gravity[0] != gravity[0] else gravity, image=image, **texts)
        finally:
            lib.ss_manifest_free(raw)

    def __len__(self) -> int:
        return self._count

    @overload
    def __getitem__(self, index: int) -> Frame: ...
    @overload
    def __getitem__(self, index: slice) -> List[Frame]: ...

    def __getitem__(self, index):  # type: ignore[no-untyped-def]
        if isinstance(index, slice):
            return [self[i] for i in range(*index.indices(self._count))]
        number = index + self._count if index < 0 else index
        if not 0 <= number < self._count:
            raise IndexError(f"{self.path} has {self._count} frames, not one number {index}")
        return self._file._read(self._first + number)

    def __iter__(self) -> Iterator[Frame]:
        return (self[index] for index in range(self._count))

    def __repr__(self) -> str:
        return f"<Simulation {self.path}: {self._count} frame{'s' if self._count != 1 else ''}>"


class StoredResult(NamedTuple):
    """A result stored with a frame: the answer of a solver, and what was noted about it."""

    solver: str
    formulation: Optional[str]
    options: Optional[str]
    answer: Optional[Answer]
    errors: np.ndarray
    iterations: Optional[int]
    error: float
    seconds: float
    measures: Dict[str, np.ndarray]

    def __repr__(self) -> str:
        made = f" by {self.formulation}" if self.formulation else ""
        steps = f", {self.iterations} iterations" if self.iterations is not None else ""
        return f"<StoredResult of {self.solver}{made}{steps}: {self.answer if self.answer is not None else 'no answer'}>"


class Results(Dict[str, StoredResult]):
    """Results by the name of their solver; those of a solver that was renamed are found under both names."""

    def __missing__(self, solver: str) -> StoredResult:
        meant = lib.ss_solver_name(encoded(solver))
        for name, result in self.items():
            if lib.ss_solver_name(encoded(name)) == meant:
                return result
        raise KeyError(solver)


class BpmdFile(Sequence[Frame]):
    """An open BPMD file: a sequence of frames, and of `simulations`. Usable in `with`; closed when dropped."""

    format = "bpmd"

    def __init__(self, path: PathLike, limits: Optional[Dict[str, Any]] = None, reading: Optional[Dict[str, Any]] = None):
        self.path = os.fspath(path)
        options = Filled(variable("ss_read_option_table"), ctypes.sizeof(_abi.ss_read_options), reading or {})
        options_struct = _abi.ss_read_options.from_buffer_copy(options.buffer)
        self._owner = Owner(lib.ss_bpmd_open(path_bytes(path), _limits(limits), options_struct), lib.ss_bpmd_close)
        self._count: int = lib.ss_bpmd_frame_count(self._pointer)
        self._one_at_a_time = threading.Lock()

    @property
    def _pointer(self) -> int:
        if self._owner.pointer is None:
            raise ValueError(f"{self.path} is closed")
        return self._owner.pointer

    @property
    def simulations(self) -> List[Simulation]:
        """The simulations of the file; frames that lie in its root count as one."""
        found, first = [], 0
        for number in range(lib.ss_bpmd_simulation_count(self._pointer)):
            count = lib.ss_bpmd_simulation_frames(self._pointer, number)
            found.append(Simulation(self, number, first, count))
            first += count
        return found

    def __len__(self) -> int:
        return self._count

    @overload
    def __getitem__(self, index: Union[int, str]) -> Frame: ...
    @overload
    def __getitem__(self, index: slice) -> List[Frame]: ...

    def __getitem__(self, index):  # type: ignore[no-untyped-def]
        """A frame by number or by path ("/simulation_000001/mbs_frame000017"); a slice gives a list."""
        if isinstance(index, slice):
            return [self._read(i) for i in range(*index.indices(self._count))]
        if isinstance(index, str):
            number = lib.ss_bpmd_find_frame(self._pointer, encoded(index))
            if number < 0:
                raise KeyError(f"{self.path} has no frame {index}")
            return self._read(number)
        number = index + self._count if index < 0 else index
        if not 0 <= number < self._count:
            raise IndexError(f"{self.path} has {self._count} frames, not one number {index}")
        return self._read(number)

    def __iter__(self) -> Iterator[Frame]:
        return (self._read(index) for index in range(self._count))

    def frame_path(self, index: int) -> str:
        buffer = ctypes.create_string_buffer(1024)
        if not lib.ss_bpmd_frame_path(self._pointer, index, buffer, len(buffer)):
            raise Error(f"{self.path}: the path of frame {index} is too long")
        return buffer.value.decode()

    def _read(self, index: int) -> Frame:
        findings = Collector()
        with self._one_at_a_time:
            owner = Owner(lib.ss_bpmd_read(self._pointer, index, findings.struct), lib.ss_frame_destroy)
        frame = Frame._of(owner)
        frame.place, frame.repairs, frame._file = self.frame_path(index), findings.taken(), self
        return frame

    def dialect(self, index: int = 0) -> str:
        """Which program wrote a frame: "canonical", "gazebo", ..."""
        err = _abi.ss_error()
        from ._library import error_of, raw
        found = raw("ss_bpmd_dialect")(self._pointer, index, err)
        if found == _abi.SS_DIALECT_AUTO:
            raise error_of(err, "ss_bpmd_dialect")
        return DIALECTS[found]

    def _results_of(self, frame: Frame) -> Results:
        index = lib.ss_bpmd_find_frame(self._pointer, encoded(frame.place))
        found = Results()
        for number in range(lib.ss_bpmd_result_count(self._pointer, index)):
            raw = _abi.ss_stored_result()
            with self._one_at_a_time:
                lib.ss_bpmd_result(self._pointer, index, number, raw)
            owner = Owner(raw, lib.ss_stored_result_free)
            answer = None
            if raw.answer:
                step = _abi.ss_step_options()
                lib.ss_stored_result_step(raw, step)
                answer = Answer(owner, raw.answer.contents, step=step)
            measures = {text(item.name) or "": view(owner, item.values, (item.count,))
                        for item in raw.measures[:raw.measure_count]}
            result = StoredResult(text(raw.solver) or "", text(raw.formulation), text(getattr(raw, "with")), answer,
                                  view(owner, raw.errors, (raw.error_count,)), raw.iterations if raw.iterations >= 0 else None,
                                  raw.error, raw.seconds, measures)
            found[result.solver] = result
        return found

    def check(self, limit: int = 0) -> Findings:
        """Faults, warnings and repairs of every frame; at most `limit` of each kind per frame, 0 = all."""
        found: List[Any] = []
        for frame in self:
            found += [*frame.repairs, *frame.check(limit)]
        return Findings(found)

    def close(self) -> None:
        """Closes the file; frames that were read stay."""
        self._owner.free()

    def __enter__(self) -> "BpmdFile":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        if self._owner.pointer is None:
            return f"<BpmdFile {self.path}, closed>"
        count = lib.ss_bpmd_simulation_count(self._pointer)
        return (f"<BpmdFile {self.path}: {self._count} frame{'s' if self._count != 1 else ''} in "
                f"{count} simulation{'s' if count != 1 else ''}>")


class ConePoint(NamedTuple):
    """A point of an FCLIB problem: velocities u and impulses r at the contacts, v of the bodies, l of the equations."""

    u: Optional[np.ndarray]
    r: Optional[np.ndarray]
    v: Optional[np.ndarray]
    l: Optional[np.ndarray]


class FclibProblem:
    """One problem of an FCLIB file, local (W, q) or global (M, H, f, w), with its matrices as scipy.sparse."""

    def __init__(self, path: PathLike, kind: int, limits: Optional[Dict[str, Any]]):
        self.path = os.fspath(path)
        self.kind: str = lib.ss_fclib_kind_name(kind).decode()
        findings = Collector()
        self._owner = Owner(lib.ss_fclib_read(path_bytes(path), kind, _limits(limits), findings.struct), lib.ss_fclib_destroy)
        self._struct = self._owner.pointer.contents
        self._cone = self._struct.cone.contents
        self.findings = findings.taken()
        info = self._struct.info
        self.title, self.description, self.math_info = text(info.title), text(info.description), text(info.math_info)
        cone = self._cone
        self.form = "local" if cone.form == _abi.SS_CONE_LOCAL else "global"
        self.dimension, self.contact_count, self.dofs, self.equations = (cone.dimension, cone.contacts, cone.dofs,
                                                                         cone.equations)

    def _matrix(self, name: str) -> Any:
        pointer = getattr(self._cone, name)
        return sparse_matrix(self._owner, pointer.contents) if pointer else None

    def _vector(self, name: str, count: int) -> np.ndarray:
        return field_view(self._owner, self._cone, name, count)  # type: ignore[return-value]

    @property
    def _components(self) -> int:
        return self.contact_count * self.dimension

    mu = property(lambda self: self._vector("mu", self.contact_count), doc="friction of each contact")
    mu_rolling = property(lambda self: self._vector("mu_rolling", self.contact_count), doc="m, dimension 5 only, else None")
    W = property(lambda self: self._matrix("W"), doc="local form, u = W r + V l + q; None in the global form")
    V = property(lambda self: self._matrix("V"), doc="local form, None without equations")
    R = property(lambda self: self._matrix("R"), doc="local form, 0 = V' r + R l + s; None without equations")
    q = property(lambda self: self._vector("q", self._components), doc="local form")
    s = property(lambda self: self._vector("s", self.equations), doc="local form")
    M = property(lambda self: self._matrix("M"), doc="global form, M v = H r + G l + f; None in the local form")
    H = property(lambda self: self._matrix("H"), doc="global form, u = H' v + w: one column per contact component")
    G = property(lambda self: self._matrix("G"), doc="global form, 0 = G' v + b; None without equations")
    f = property(lambda self: self._vector("f", self.dofs), doc="global form")
    w = property(lambda self: self._vector("w", self._components), doc="global form")
    b = property(lambda self: self._vector("b", self.equations), doc="global form")

    def _point(self, raw: Any) -> ConePoint:
        m = self.contact_count * self.dimension
        sizes = {"u": m, "r": m, "v": self.dofs, "l": self.equations}
        return ConePoint(*(view(self._owner, getattr(raw, name), (count,)) if getattr(raw, name) else None
                           for name, count in sizes.items()))

    @property
    def solution(self) -> Optional[ConePoint]:
        """The stored one, as it is; None if there is none."""
        return self._point(self._struct.solution) if self._struct.has_solution else None

    @property
    def guesses(self) -> List[ConePoint]:
        return [self._point(item) for item in self._struct.guesses[:self._struct.guess_count]]

    def problem(self) -> Problem:
        """As a problem for solvers, in impulses: cones, and free unknowns for the equations."""
        owner = Owner(lib.ss_problem_from_cone(self._struct.cone), lib.ss_problem_destroy)
        return Problem(owner, owner.pointer.contents)

    def frame(self, h: float) -> Frame:
        """A rigid global problem back as a frame of step h (which FCLIB does not store); raises with the reason where the
        problem is not one of rigid bodies. `frame.repairs` lists what is not exact."""
        findings = Collector()
        owner = Owner(lib.ss_frame_from_cone(self._struct.cone, h, findings.struct), lib.ss_frame_destroy)
        frame = Frame._of(owner)
        frame.repairs = findings.taken()
        return frame

    def check(self) -> Findings:
        """Faults of sizes and values, and oddities of the file."""
        collector = Collector()
        lib.ss_cone_check(self._struct.cone, b"/fclib_" + self.kind.encode(), collector.struct)
        return Findings([*self.findings, *collector.taken()])

    def write_matrix_market(self, prefix: PathLike) -> None:
        """Writes PREFIX_W.mtx, PREFIX_q.mtx ... : every matrix and vector."""
        lib.ss_matrix_market_write(path_bytes(prefix), self._struct.cone)

    def __repr__(self) -> str:
        equations = f", {self.equations} equations" if self.equations else ""
        return (f"<FclibProblem {self.kind}: {self.contact_count} contacts of dimension {self.dimension}{equations}"
                f"{', with solution' if self._struct.has_solution else ''}>")


class FclibFile(Sequence[FclibProblem]):
    """An FCLIB file: a sequence of its problems, at most one of each kind (global, local, global_rolling)."""

    format = "fclib"

    def __init__(self, path: PathLike, limits: Optional[Dict[str, Any]] = None):
        self.path, self._limits = os.fspath(path), limits
        kinds = (ctypes.c_int * 3)()
        count = lib.ss_fclib_kinds(path_bytes(path), kinds)
        self._kinds = list(kinds[:count])

    @property
    def kinds(self) -> List[str]:
        return [lib.ss_fclib_kind_name(kind).decode() for kind in self._kinds]

    def __len__(self) -> int:
        return len(self._kinds)

    def __getitem__(self, index):  # type: ignore[no-untyped-def]
        if isinstance(index, slice):
            return [self[i] for i in range(*index.indices(len(self)))]
        if isinstance(index, str):
            if index not in self.kinds:
                raise KeyError(f"{self.path} has {', '.join(self.kinds)}, no {index}")
            index = self.kinds.index(index)
        return FclibProblem(self.path, self._kinds[index], self._limits)

    def check(self) -> Findings:
        return Findings([item for problem in self for item in problem.check()])

    def close(self) -> None:
        """Nothing stays open between calls."""

    def __enter__(self) -> "FclibFile":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<FclibFile {self.path}: {', '.join(self.kinds) or 'empty'}>"
