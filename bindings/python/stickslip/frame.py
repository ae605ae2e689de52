"""The frame: one time step's contact problem, as an engine knows it before anything is solved."""
from __future__ import annotations

import ctypes
import operator
from typing import TYPE_CHECKING, Any, Dict, Iterator, List, Optional, Tuple, Union

import numpy as np

from . import _abi
from ._library import Error, InputError, UsageError, encoded, lib
from ._memory import Lent, Owner, field_view
from .answer import Answer
from .findings import Collector, Findings

if TYPE_CHECKING:
    from .judge import Metrics
    from .problem import Problem

WORLD: int = _abi.SS_WORLD


class _Array:
    """An array of a group of the frame. Reading gives a view of the library's memory, assigning fills it; an optional
    array that is absent reads as None and is created by assigning."""

    def __init__(self, doc: str, per: str = "count", shape: Optional[Tuple[int, ...]] = None, optional: str = ""):
        self.per, self.shape, self.optional, self.__doc__ = per, shape, optional, doc

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    def __get__(self, group: Optional["_Group"], owner: Optional[type] = None) -> np.ndarray:
        if group is None:
            return self  # type: ignore[return-value]
        return field_view(group._owner, group._struct, self.name, group._count(self.per),  # type: ignore[return-value]
                          group._writable, self.shape)

    def __set__(self, group: "_Group", values: Any) -> None:
        array = self.__get__(group)
        if array is None:
            if values is None:
                return
            if not self.optional:
                how = ("add_generalized(...)" if isinstance(group, Generalized) else
                       "add_further(blocks)" if self.per == "further_count" else "add_alternatives(groups, rows)")
                raise ValueError(f"{self.name} is not there: use frame.{how} first")
            lib.ss_frame_enable(group._owner.pointer, encoded(self.optional))
            array = self.__get__(group)
        if values is None:
            raise ValueError(f"{self.name} is there and cannot be removed")
        if not array.flags.writeable:
            raise ValueError(f"{self.name} belongs to the library and is read-only; use frame.copy()")
        array[...] = values


class _Group(Lent):
    _struct: Any

    def __init__(self, owner: Any, struct: Any, writable: bool):
        self._owner, self._struct, self._writable = owner, struct, writable

    def _count(self, per: str) -> int:
        return int(getattr(self._struct, per))

    @classmethod
    def names(cls) -> List[str]:
        """The arrays this group can have."""
        return [name for name, value in vars(cls).items() if isinstance(value, _Array)]

    def arrays(self) -> Dict[str, np.ndarray]:
        """Those that are there, as views."""
        found = {name: getattr(self, name) for name in self.names()}
        return {name: array for name, array in found.items() if array is not None}

    def __len__(self) -> int:
        return int(self._struct.count)

    def __setattr__(self, name: str, value: Any) -> None:
        if not name.startswith("_") and name not in self.names():
            raise AttributeError(f"no array '{name}'; there are {', '.join(self.names())}")
        super().__setattr__(name, value)

    def __repr__(self) -> str:
        there = self.arrays()
        lines = [f"  {name:<16} {'x'.join(map(str, array.shape)):<8} {getattr(type(self), name).__doc__}"
                 for name, array in there.items()]
        return f"{len(self)} {type(self).__name__.lower()}\n" + "\n".join(lines)


class Bodies(_Group):
    """The bodies of a frame; `len()` counts them, each array has one row per body."""

    mass = _Array("kg")
    position = _Array("m, centre of mass, world")
    quaternion = _Array("body to world, scalar first (w, x, y, z)")
    velocity = _Array("m/s and rad/s, world, before the step")
    force = _Array("N and N m about the centre of mass, world, gravity included")
    inertia = _Array("kg m^2, world", shape=(3, 3))
    id = _Array("label in files, unique, > 0")
    state = _Array("> 0 live, otherwise asleep or disabled")


class Constraints(_Group):
    """The joints of a frame; `len()` counts joints, `row_count` their equations."""

    pair = _Array("bodies a, b of each joint")
    rows = _Array("equations of each joint")
    jacobian = _Array("per row: linear a, angular a, linear b, angular b", "row_count")
    violation = _Array("per row: m or rad, g(q)", "row_count")
    time_derivative = _Array("per row: m/s or rad/s, dg/dt at rest", "row_count")
    bounds = _Array("per row: N or N m, of the multiplier", "row_count")
    regularization = _Array("per row, optional: C >= 0, velocity per impulse", "row_count",
                            optional="constraints/regularization")
    friction = _Array("per row, optional: |x_i| <= friction |x_friction_row|", "row_count", optional="constraints/friction")
    friction_row = _Array("per row, optional: the row that friction refers to, -1 = none", "row_count",
                          optional="constraints/friction_row")
    holonomic = _Array("per joint, optional: 1 = g is a position error", optional="constraints/holonomic")
    implied = _Array("per joint, optional: 1 = fulfilled by generalised coordinates, 2 = part of their mass",
                     optional="constraints/implied")
    further_row = _Array("per further block: its row, rising; rows on more than two bodies", "further_count")
    further_body = _Array("per further block: its body", "further_count")
    further_jacobian = _Array("per further block: linear, angular", "further_count")

    @property
    def further_count(self) -> int:
        return int(self._struct.further_count)

    @property
    def row_count(self) -> int:
        return int(self._struct.row_count)


class Contacts(_Group):
    """The contacts of a frame; `len()` counts them, each array has one row per contact."""

    pair = _Array("bodies a, b; -1 = world")
    point = _Array("m, world")
    normal = _Array("unit, from a to b")
    gap = _Array("m, < 0 = overlap")
    mu = _Array("friction along the tangents u and v")
    mu_static = _Array("optional: static friction", optional="contacts/mu_s")
    tangent = _Array("optional: unit tangent u", optional="contacts/t_u")
    restitution = _Array("optional: Newton's coefficient, 0..1", optional="contacts/restitution")
    compliance = _Array("optional: C >= 0 of the normal row, velocity per impulse", optional="contacts/compliance")
    damping = _Array("optional: N s/m; a compliance 1/(k h^2) is a spring and damper then", optional="contacts/damping")
    adhesion = _Array("optional: N, the force it can pull with", optional="contacts/adhesion")
    mu_rolling = _Array("optional: m, rolling friction", optional="contacts/mu_r")
    mu_torsion = _Array("optional: m, friction of spinning about the normal", optional="contacts/mu_t")
    spin_coupling = _Array("optional, with mu_torsion: 0 = sliding and spinning are independent, 1 = one ellipsoid",
                           optional="contacts/spin_coupling")
    lever_arm = _Array("optional: m, r_a and r_b", optional="contacts/lever_arms")
    surface_velocity = _Array("optional: m/s, of b's surface minus a's: belts", optional="contacts/surface_velocities")


class Subcontacts(_Group):
    """Alternatives of polyhedral exact geometry (docs/peg.md): a group is a pair of bodies that any one of several faces may
    keep apart. `len()` counts further points; most frames have none, and all arrays are None."""

    contact_group = _Array("group of each contact; -1 = ordinary", "contacts")
    cut = _Array("m, per group: how deep the straight path of a step may cut", "groups")
    group = _Array("of each further point")
    alternative = _Array("of each further point")
    role = _Array("0 force point, 1 test point")
    point = _Array("m, world")
    normal = _Array("unit, from a to b")
    gap = _Array("m, < 0 = overlap")
    surface_velocity = _Array("optional: m/s, of b's surface minus a's", optional="subcontacts/surface_velocities")

    def __init__(self, owner: Any, struct: Any, writable: bool, contacts: int):
        super().__init__(owner, struct, writable)
        self._contacts = contacts

    def _count(self, per: str) -> int:
        return self._contacts if per == "contacts" else super()._count(per)

    @property
    def groups(self) -> int:
        return int(self._struct.groups)


class Generalized(_Group):
    """Generalised coordinates (docs/coordinates.md): body velocities = T v, M v+ = M v + h f + T' J' x. `len()` counts
    coordinates; most frames have none, and all arrays are None."""

    tree = _Array("first coordinate and number of coordinates of each tree", "trees")
    map_start = _Array("T by rows: where each of the 6 rows per body begins, and the end", "map_rows")
    map_column = _Array("T: coordinate of each entry", "map_count")
    map = _Array("T: entries", "map_count")
    mass_start = _Array("M by rows, lower half: where each row begins, and the end", "mass_rows")
    mass_column = _Array("M: coordinate of each entry, up to the diagonal", "mass_count")
    mass = _Array("M: entries", "mass_count")
    velocity = _Array("v, before the step")
    force = _Array("f, everything explicit")

    def __init__(self, owner: Any, struct: Any, writable: bool, bodies: int):
        super().__init__(owner, struct, writable)
        self._bodies = bodies

    def _count(self, per: str) -> int:
        if per == "map_rows":
            return 6 * self._bodies + 1
        return len(self) + 1 if per == "mass_rows" else super()._count(per)

    @property
    def trees(self) -> int:
        return int(self._struct.trees)


class Frame(Lent):
    """One time step's problem: bodies, joints (`constraints`), contacts, and the step `h`.

    A frame comes from a file (`stickslip.open`), from a simulation, or from arrays. Its arrays are NumPy views of the
    library's memory; they stay valid when the frame itself is gone.

    >>> import numpy as np, stickslip as ss
    >>> frame = ss.Frame.from_arrays(
    ...     h=0.01,
    ...     bodies={"mass": [2.0], "inertia": [np.eye(3)], "force": [[0, 0, -19.62, 0, 0, 0]]},
    ...     contacts={"pair": [[ss.WORLD, 0]], "point": [[0, 0, -0.5]], "normal": [[0, 0, 1]], "mu": 0.5})
    >>> frame
    <Frame: 1 body, 1 contact, h = 0.01 s>
    >>> frame.contacts.normal[0]
    array([0., 0., 1.])
    >>> frame.contacts.restitution = 0.8      # an optional array appears when it is assigned
    >>> frame.check()
    no findings
    """

    def __init__(self, bodies: int = 0, constraints: int = 0, rows: Optional[int] = None, contacts: int = 0, *, h: float = 1.0,
                 time: float = float("nan")):
        """An empty frame of these sizes, to be filled: identity quaternions, world pairs, everything else zero."""
        rows = constraints if rows is None else rows
        for name, count in (("bodies", bodies), ("constraints", constraints), ("rows", rows), ("contacts", contacts)):
            if operator.index(count) > 2**31 - 1:
                raise UsageError(f"{name}={count}: at most 2147483647")
        self._adopt(Owner(lib.ss_frame_create(bodies, constraints, rows, contacts), lib.ss_frame_destroy))
        self.h, self.time = h, time

    def _adopt(self, owner: Any, struct: Any = None, writable: bool = True) -> None:
        self._owner = owner
        self._struct = owner.pointer.contents if struct is None else struct
        self._writable = writable
        self.place = ""  # where it comes from: "/simulation_000001/mbs_frame000017"
        self.repairs = Findings()
        self._file: Any = None
        self._reached: List[Any] = []  # of a frame that is lent: what looks at it

    @classmethod
    def _of(cls, owner: Any, struct: Any = None, writable: bool = True) -> "Frame":
        """The frame behind owner.pointer, or a struct inside what the owner keeps alive."""
        frame = cls.__new__(cls)
        frame._adopt(owner, struct, writable)
        return frame

    @classmethod
    def from_arrays(cls, *, h: float, bodies: Dict[str, Any], contacts: Optional[Dict[str, Any]] = None,
                    constraints: Optional[Dict[str, Any]] = None, time: float = float("nan"), check: bool = True) -> "Frame":
        """A frame from dictionaries of arrays, copied; the names are those of Bodies, Constraints and Contacts.

        `bodies["mass"]`, `contacts["gap"]` or `["pair"]` and `constraints["rows"]` set the sizes; single numbers fill a whole
        array. `mu` may have one number per contact. Raises InputError with every fault, unless check=False."""
        contacts, constraints = contacts or {}, constraints or {}

        def length(group: Dict[str, Any], *names: str) -> int:
            for name in (*names, *group):
                if name in group and np.ndim(group[name]) > 0:
                    return len(group[name])
            return 0

        rows = constraints.get("rows")
        joint_count = length(constraints, "rows", "pair")
        row_count = int(np.sum(rows)) if rows is not None else length(constraints, "jacobian") if constraints else 0
        frame = cls(length(bodies, "mass"), joint_count, row_count, length(contacts, "pair", "gap"), h=h, time=time)
        if constraints.get("further_row") is not None:
            frame.add_further(len(constraints["further_row"]))
        for group, values in ((frame.bodies, bodies), (frame.constraints, constraints), (frame.contacts, contacts)):
            for name, value in values.items():
                if name in ("mu", "mu_static") and np.ndim(value) == 1:
                    value = np.asarray(value, float)[:, None]
                setattr(group, name, value)
        if check:
            frame.must_be_valid()
        return frame

    @property
    def h(self) -> float:
        """Time step, s."""
        return float(self._struct.h)

    @h.setter
    def h(self, value: float) -> None:
        self._change()
        self._struct.h = value

    @property
    def time(self) -> float:
        """s, of the simulation; NaN = unknown."""
        return float(self._struct.time)

    @time.setter
    def time(self, value: float) -> None:
        self._change()
        self._struct.time = value

    def _change(self) -> None:
        if not self._writable:
            raise ValueError("this frame belongs to the library and is read-only; use frame.copy()")

    @property
    def bodies(self) -> Bodies:
        return self._part(Bodies(self._owner, self._struct.bodies, self._writable))

    @property
    def constraints(self) -> Constraints:
        return self._part(Constraints(self._owner, self._struct.constraints, self._writable))

    @property
    def contacts(self) -> Contacts:
        return self._part(Contacts(self._owner, self._struct.contacts, self._writable))

    @property
    def subcontacts(self) -> Subcontacts:
        return self._part(Subcontacts(self._owner, self._struct.subcontacts, self._writable, self._struct.contacts.count))

    @property
    def generalized(self) -> Generalized:
        return self._part(Generalized(self._owner, self._struct.generalized, self._writable, self._struct.bodies.count))

    def _part(self, part: Any) -> Any:
        if self._owner is None:
            self._reached.append(part)
        return part

    def add_alternatives(self, groups: int, rows: int) -> Subcontacts:
        """Room for alternatives in a frame without any, to be filled: all contacts ordinary, every cut infinite."""
        self._change()
        lib.ss_frame_add_alternatives(self._struct, groups, rows)
        return self.subcontacts

    def add_further(self, blocks: int) -> Constraints:
        """Room for blocks of rows on more than two bodies in a frame without any, to be filled: all of row 0 and body 0."""
        self._change()
        lib.ss_frame_add_further(self._struct, blocks)
        return self.constraints

    def add_generalized(self, trees: int, coordinates: int, map_entries: int, mass_entries: int) -> Generalized:
        """Room for generalised coordinates in a frame without any, to be filled: every number zero."""
        self._change()
        lib.ss_frame_add_generalized(self._struct, trees, coordinates, map_entries, mass_entries)
        return self.generalized

    def arrays(self) -> Dict[str, np.ndarray]:
        """Every array that is there, by its name: {"bodies.mass": ..., "contacts.gap": ...}, as views."""
        return {f"{name}.{key}": array for name in _GROUPS
                for key, array in getattr(self, name).arrays().items()}

    def copy(self) -> "Frame":
        """A copy with memory of its own, writable."""
        copy = Frame._of(Owner(lib.ss_frame_copy(self._struct), lib.ss_frame_destroy))
        copy.place, copy.repairs, copy._file = self.place, self.repairs, self._file
        return copy

    __copy__ = copy

    def __deepcopy__(self, memo: Any) -> "Frame":
        return self.copy()

    def __reduce__(self) -> Any:
        groups = {name: {key: array.copy() for key, array in getattr(self, name).arrays().items()}
                  for name in _GROUPS}
        sizes = (len(self.bodies), len(self.constraints), self.constraints.row_count, len(self.contacts),
                 self.subcontacts.groups, len(self.subcontacts), self.constraints.further_count,
                 self.generalized.trees, len(self.generalized), int(self._struct.generalized.map_count),
                 int(self._struct.generalized.mass_count))
        return _rebuild, (sizes, self.h, self.time, self.place, groups)

    def __eq__(self, other: object) -> bool:
        """Bit for bit the same arrays."""
        if not isinstance(other, Frame):
            return NotImplemented
        return bool(lib.ss_frame_equal(self._struct, other._struct))

    __hash__ = object.__hash__

    @property
    def hash(self) -> str:
        """32 hex digits of every number that reaches a solver; the same however the frame was stored."""
        buffer = ctypes.create_string_buffer(33)
        lib.ss_frame_hash(self._struct, buffer)
        return buffer.value.decode()

    @property
    def is_planar(self) -> bool:
        """Nothing leaves the plane z = const."""
        return bool(lib.ss_frame_is_planar(self._struct))

    def check(self, limit: int = 0) -> Findings:
        """Every fault of the data with its place; at most `limit` of each kind, 0 = all."""
        collector = Collector(limit)
        lib.ss_frame_check(self._struct, encoded(self.place), collector.struct)
        return collector.taken()

    def must_be_valid(self) -> None:
        """Raises InputError with the faults, if there are any."""
        if lib.ss_frame_check(self._struct, None, None):  # without collecting: this is asked before every solve
            return
        found = self.check(limit=20).faults
        if found:
            raise InputError("; ".join(f"{item.place}: {item.message}" for item in found))

    def summary(self) -> Dict[str, Any]:
        """Counts, mass, kinetic energy (J), momentum and deepest overlap (m) of the live bodies."""
        raw = lib.ss_frame_summarise(self._struct)
        return {name: (list(value) if name == "momentum" else value)
                for name, value in ((name, getattr(raw, name)) for name, *_ in raw._fields_)}

    # ---- mathematics -----------------------------------------------------------------------------------

    def problem(self, formulation: str = "cone", **options: Any) -> "Problem":
        """The problem a formulation makes of this frame: A, b, bounds, cones. Options as in `formulations()`.

        frame.problem("stewart-trinkle", sides=8).lcp() gives the LCP (A, b)."""
        from .problem import Problem
        return Problem.of_frame(self, formulation, options)

    def judge(self, answer: Answer, formulation: Optional[str] = None, **options: Any) -> "Metrics":
        """Every metric of an answer, from frame and answer alone.

        How gaps and joints count comes from the answer, if it knows the rules it was made by (`problem.recover`, `solve`, a
        stored result); `formulation` and its options override that; the default is that of "cone"."""
        from .judge import judge_frame
        return judge_frame(self, answer, formulation, options)

    def answer(self) -> Answer:
        """An answer to this frame with everything zero, to be filled."""
        return Answer.for_frame(self)

    def results(self) -> "Dict[str, Any]":
        """The results stored with this frame in its file, by the name of their solver."""
        return {} if self._file is None else self._file._results_of(self)

    def _described(self) -> str:
        counts = [(len(self.bodies), "body", "bodies"), (len(self.constraints), "joint", "joints"),
                  (len(self.contacts), "contact", "contacts")]
        return ", ".join(f"{n} {one if n == 1 else many}" for n, one, many in counts if n) or "empty"

    def __repr__(self) -> str:
        if "_struct" not in self.__dict__:
            return "<Frame of a call that is over>"
        where = f" {self.place}" if self.place else ""
        return f"<Frame{where}: {self._described()}, h = {self.h:g} s>"


_GROUPS = ("bodies", "constraints", "contacts", "subcontacts", "generalized")


def _rebuild(sizes: Tuple[int, ...], h: float, time: float, place: str, groups: Dict[str, Dict[str, Any]]) -> Frame:
    frame = Frame(*sizes[:4], h=h, time=time)
    frame.place = place
    if sizes[4]:
        frame.add_alternatives(*sizes[4:6])
    if sizes[6]:
        frame.add_further(sizes[6])
    if sizes[8]:
        frame.add_generalized(*sizes[7:11])
    for group, arrays in groups.items():
        for name, array in arrays.items():
            setattr(getattr(frame, group), name, array)
    return frame
