"""What is simulated: a world of bodies with shapes and materials, joints with their motors, and triangle meshes."""
from __future__ import annotations

import ctypes
import math
import operator
import weakref
from typing import TYPE_CHECKING, Any, Callable, Dict, Iterator, List, NamedTuple, Optional, Sequence, Tuple, Union

import numpy as np

from . import _abi
from ._library import InputError, PathLike, UsageError, encoded, lib, path_bytes, text, variable
from ._memory import Owner, _Holder, address_of, field_view
from .findings import Collector, Findings
from .frame import WORLD
from .options import Filled

if TYPE_CHECKING:
    from .simulate import Sim

SHAPES = tuple(lib.ss_shape_kind_name(kind).decode() for kind in range(_abi.SS_SHAPE_KINDS))
JOINTS = tuple(lib.ss_joint_kind_name(kind).decode() for kind in range(_abi.SS_JOINT_KINDS))
KINDS = ("static", "kinematic", "dynamic")
MOTORS = ("off", "velocity", "position", "drive")
SPIN_COUPLINGS = ("independent", "ellipsoid")
SOLIDS = ("tetrahedron", "cube", "octahedron", "dodecahedron", "icosahedron")


def _number(name: Any, names: Sequence[str], what: str) -> int:
    """The number of a name in a list of the library."""
    if name not in names:
        raise UsageError(f"unknown {what} '{name}'; there are {', '.join(names)}")
    return names.index(name)


# ---- meshes ------------------------------------------------------------------------------------------


class MassProperties(NamedTuple):
    """kg; m, centre of mass; kg m^2 about the centre, 3 x 3."""

    mass: float
    centre: np.ndarray
    inertia: np.ndarray


class Mesh:
    """A closed surface of triangles: `vertices` (n, 3) in m, `faces` (m, 3), corners counter-clockwise from outside.

    >>> import stickslip as ss
    >>> cube = ss.Mesh.solid("cube")
    >>> cube, cube.is_convex()
    (<Mesh: 8 vertices, 12 faces>, True)
    >>> round(cube.transformed(scale=(2, 1, 1)).mass(density=1000).mass, 6)
    2000.0
    """

    def __init__(self, vertices: Any, faces: Any):
        vertices, faces = np.asarray(vertices, np.float64).reshape(-1, 3), np.asarray(faces, np.int32).reshape(-1, 3)
        self._adopt(lib.ss_mesh_create(len(vertices), len(faces)))
        self.vertices[...], self.faces[...] = vertices, faces

    def _adopt(self, pointer: Any) -> None:
        self._owner = Owner(pointer, lib.ss_mesh_destroy)
        self._struct = pointer.contents

    @classmethod
    def _of(cls, pointer: Any) -> "Mesh":
        mesh = cls.__new__(cls)
        mesh._adopt(pointer)
        return mesh

    @classmethod
    def read(cls, path: PathLike) -> "Mesh":
        """From an .obj, .stl or .poly file."""
        return cls._of(lib.ss_mesh_read(path_bytes(path)))

    @classmethod
    def hull(cls, points: Any) -> "Mesh":
        """The convex hull of points."""
        points = np.ascontiguousarray(np.asarray(points, np.float64).reshape(-1, 3))
        return cls._of(lib.ss_mesh_hull(address_of(points), len(points)))

    @classmethod
    def solid(cls, name: str) -> "Mesh":
        """A regular solid of circumradius 1, or the cube of edge 1."""
        return cls._of(lib.ss_mesh_solid(_number(name, SOLIDS, "solid")))

    @classmethod
    def block(cls, x: float, y: float, z: float) -> "Mesh":
        return cls._of(lib.ss_mesh_block(address_of(np.array([x, y, z], np.float64))))

    @classmethod
    def cylinder(cls, sides: int, radius: float, length: float) -> "Mesh":
        """A prism along z."""
        return cls._of(lib.ss_mesh_cylinder(sides, radius, length))

    @classmethod
    def ball(cls, subdivisions: int, radius: float) -> "Mesh":
        return cls._of(lib.ss_mesh_ball(subdivisions, radius))

    @property
    def vertices(self) -> np.ndarray:
        array = field_view(self._owner, self._struct, "vertex", self._struct.vertex_count, True)
        return np.zeros((0, 3)) if array is None else array

    @property
    def faces(self) -> np.ndarray:
        array = field_view(self._owner, self._struct, "face", self._struct.face_count, True)
        return np.zeros((0, 3), np.int32) if array is None else array

    def copy(self) -> "Mesh":
        return Mesh._of(lib.ss_mesh_copy(self._struct))

    def transformed(self, scale: Any = (1, 1, 1), quaternion: Any = None, translation: Any = None) -> "Mesh":
        """x -> s R x + t, as a new mesh."""
        mesh = self.copy()
        factors = np.array(np.broadcast_to(scale, (3,)), np.float64)
        turn = None if quaternion is None else np.array(quaternion, np.float64)
        shift = None if translation is None else np.array(translation, np.float64)
        lib.ss_mesh_transform(mesh._struct, address_of(factors), address_of(turn), address_of(shift))
        return mesh

    def check(self) -> Findings:
        """Every fault: open edges, degenerate or wrongly oriented faces, ..."""
        collector = Collector()
        lib.ss_mesh_check(self._struct, b"mesh", collector.struct)
        return collector.taken()

    def is_convex(self, tolerance: float = 1e-9) -> bool:
        """tolerance in m."""
        return bool(lib.ss_mesh_is_convex(self._struct, tolerance))

    def mass(self, density: float) -> MassProperties:
        """Of the inside; exact integrals."""
        found = lib.ss_mesh_mass(self._struct, density)
        return MassProperties(found.mass, np.array(found.centre), np.array(found.inertia).reshape(3, 3))

    def __repr__(self) -> str:
        return f"<Mesh: {self._struct.vertex_count} vertices, {self._struct.face_count} faces>"


# ---- shapes ------------------------------------------------------------------------------------------


class Shape:
    """A shape to be fixed to a body. Made by `sphere`, `plane`, `box`, `capsule`, `cylinder`, `ellipsoid`, `hull`, `surface`
    and `heightfield`; all take position and quaternion in the body's frame, density (kg/m^3, for the mass of the body),
    material, group and collides_with (bit sets that filter collisions), surface_velocity (m/s, a belt), ghost (collides
    with nothing) and colour (0xRRGGBB)."""

    def __init__(self, kind: str, size: Sequence[float] = (), *, mesh: Optional[Mesh] = None, heights: Optional[np.ndarray] = None,
                 position: Any = (0, 0, 0), quaternion: Any = (1, 0, 0, 0), density: float = 1000.0,
                 material: Union["Material", int] = 0, group: int = 0, collides_with: int = 0, surface_velocity: Any = (0, 0, 0),
                 ghost: bool = False, colour: int = 0):
        struct = _abi.ss_shape()
        struct.kind = _number(kind, SHAPES, "shape")
        struct.size[:len(size)] = [float(value) for value in size]
        self.kind, self._mesh = kind, mesh
        if mesh is not None:
            struct.mesh = ctypes.pointer(mesh._struct)
        self._heights = None
        if heights is not None:
            self._heights = np.ascontiguousarray(heights, np.float64)
            struct.ny, struct.nx = self._heights.shape
            struct.heights = address_of(self._heights)
        struct.position[:], struct.quaternion[:] = _floats(position, 3), _floats(quaternion, 4)
        struct.surface_velocity[:] = _floats(surface_velocity, 3)
        struct.density, struct.material = density, int(material)
        struct.group, struct.collides_with, struct.ghost, struct.colour = group, collides_with, ghost, colour
        self._struct = struct

    def __repr__(self) -> str:
        return f"<Shape {self.kind} {tuple(self._struct.size)}>" if self._mesh is None else f"<Shape {self.kind} of {self._mesh}>"


def _floats(values: Any, count: int) -> Tuple[float, ...]:
    found = tuple(float(value) for value in np.asarray(values, float).ravel())
    if len(found) != count:
        raise ValueError(f"expected {count} numbers, not {len(found)}")
    return found


def sphere(radius: float, **common: Any) -> Shape:
    """A ball; m."""
    return Shape("sphere", (radius,), **common)


def plane(**common: Any) -> Shape:
    """The half-space z <= 0 of its own frame, for what never moves."""
    return Shape("plane", **common)


def box(x: float, y: float, z: float, **common: Any) -> Shape:
    """Full edge lengths, m."""
    return Shape("box", (x, y, z), **common)


def capsule(radius: float, length: float, **common: Any) -> Shape:
    """Along z; length between the centres of the caps, m."""
    return Shape("capsule", (radius, length), **common)


def cylinder(radius: float, length: float, **common: Any) -> Shape:
    """Along z, m."""
    return Shape("cylinder", (radius, length), **common)


def ellipsoid(a: float, b: float, c: float, **common: Any) -> Shape:
    """Half axes, m."""
    return Shape("ellipsoid", (a, b, c), **common)


def hull(mesh: Union[Mesh, Any], **common: Any) -> Shape:
    """A convex polyhedron: a convex mesh, or points whose convex hull is taken."""
    return Shape("hull", mesh=mesh if isinstance(mesh, Mesh) else Mesh.hull(mesh), **common)


def surface(mesh: Mesh, **common: Any) -> Shape:
    """Any mesh, for static or kinematic bodies; touched from outside only."""
    return Shape("mesh", mesh=mesh, **common)


def heightfield(heights: Any, dx: float, dy: float, **common: Any) -> Shape:
    """Ground: heights[iy, ix] in m over a grid of spacing dx, dy, centred at 0, solid below."""
    return Shape("heightfield", (dx, dy), heights=np.asarray(heights, float), **common)


# ---- bodies and joints --------------------------------------------------------------------------------


class Material(int):
    """The number of a material, with its name."""

    name: str

    def __new__(cls, number: int, name: str) -> "Material":
        material = super().__new__(cls, number)
        material.name = name
        return material

    def __repr__(self) -> str:
        return f"<Material {int(self)}: {self.name}>"


class _Of:
    """A field of the copy in the world."""

    def __init__(self, doc: str, names: Optional[Sequence[str]] = None):
        self.__doc__, self.names = doc, names

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    def __get__(self, item: Any, owner: Optional[type] = None) -> Any:
        if item is None:
            return self
        value = getattr(item._struct, self.name)
        return value if self.names is None else self.names[value]

    def __set__(self, item: Any, value: Any) -> None:
        setattr(item._struct, self.name, value if self.names is None else _number(value, self.names, self.name))


class _Vector:
    """An array of the copy of a body in the world: reading gives a view, assigning fills it."""

    def __init__(self, doc: str, writable: bool = True):
        self.__doc__, self.writable = doc, writable

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    def __get__(self, body: Any, owner: Optional[type] = None) -> np.ndarray:
        if body is None:
            return self  # type: ignore[return-value]
        struct = body._struct
        place = getattr(_abi.ss_body, self.name)
        shape = (3, 3) if place.size == 72 else (place.size // 8,)
        return body.world._array(ctypes.addressof(struct) + place.offset, shape, None, self.writable)

    def __set__(self, body: Any, values: Any) -> None:
        self.__get__(body)[...] = values


class Body:
    """A body of a world. Its arrays are views: `brick.velocity[2] = 1.0` throws it up."""

    def __init__(self, world: "World", number: int):
        self.world, self.number = world, number

    @property
    def _struct(self) -> Any:
        return lib.ss_world_body(self.world._pointer, self.number).contents

    def __index__(self) -> int:
        return self.number

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Body) and other.number == self.number and other.world is self.world

    def __hash__(self) -> int:
        return hash((id(self.world), self.number))

    @property
    def name(self) -> Optional[str]:
        return text(self._struct.name)

    position = _Vector("m, centre of mass, world (of the body's frame before the simulation begins)")
    quaternion = _Vector("body to world, scalar first")
    velocity = _Vector("m/s and rad/s, world")
    force = _Vector("N and N m about the centre of mass, world; kept until changed, gravity comes on top")
    inertia = _Vector("kg m^2, body frame, about the centre of mass")
    centre = _Vector("m, centre of mass in the frame that the shapes were given in", writable=False)
    mass = _Of("kg")
    kind = _Of("static, kinematic or dynamic", KINDS)
    disabled = _Of("takes no part")
    gravity_scale = _Of("multiplies gravity; 0 counts as 1, NaN as none")
    linear_damping = _Of("1/s")
    angular_damping = _Of("1/s")

    def add(self, *shapes: Shape) -> "Body":
        """Fixes more shapes to the body."""
        for shape in shapes:
            self.world._add_shape(self.number, shape)
        return self

    def apply(self, force: Any, at: Any = None) -> None:
        """Adds a force (N, world), acting at a point (m, world; None: the centre of mass), to `force`."""
        force = np.asarray(force, float)
        self.force[:3] += force
        if at is not None:
            self.force[3:] += np.cross(np.asarray(at, float) - self.position, force)

    def __repr__(self) -> str:
        name = f' "{self.name}"' if self.name else ""
        at = ", ".join(f"{round(value, 5) + 0.0:.4g}" for value in self._struct.position)
        return f"<Body {self.number}{name}: {self.kind}, {self.mass:.4g} kg, at ({at}) m>"


class AxisLaw:
    """What acts along one free coordinate of a joint: limits, motor, spring, user force, dry friction. Can be changed at any
    time: `hinge.law[0].target_speed = 2`."""

    def __init__(self, joint: "Joint", index: int):
        self.joint, self.index = joint, index

    @property
    def _struct(self) -> Any:
        return self.joint._struct.law[self.index]

    limited = _Of("the limits hold")
    lower = _Of("rad or m")
    upper = _Of("rad or m")
    motor = _Of("off, velocity, position or drive", MOTORS)
    target = _Of("rad or m")
    target_speed = _Of("rad/s or m/s")
    max_force = _Of("N or N m; 0 = unlimited")
    stiffness = _Of("of a spring, or the gain of the position motor")
    damping = _Of("likewise")
    rest = _Of("rad or m: of the spring")
    force = _Of("N or N m: pushes b along the coordinate, kept until changed")
    friction = _Of("N or N m: dry")
    load_friction = _Of("times the joint's load")
    armature = _Of("kg m^2 or kg: inertia of a rotor, felt by the coordinate alone")
    motor_stiffness = _Of("gain of the position motor beside the spring")
    motor_damping = _Of("likewise")

    def set(self, **fields: Any) -> "AxisLaw":
        """Several at once; limits=(lower, upper) switches limits on."""
        limits = fields.pop("limits", None)
        if limits is not None:
            fields.update(limited=True, lower=limits[0], upper=limits[1])
        for name, value in fields.items():
            if name not in _LAW:
                raise TypeError(f"the law of an axis has no '{name}'; it has limits, {', '.join(_LAW)}")
            setattr(self, name, value)
        return self

    def __repr__(self) -> str:
        told = [f"{name}={getattr(self, name)}" for name in _LAW if getattr(self, name) not in (0, False, "off")]
        return f"<AxisLaw {' '.join(told) or 'free'}>"


_LAW = tuple(name for name, value in vars(AxisLaw).items() if isinstance(value, _Of))


class Joint:
    """A joint of a world; `law` has one AxisLaw for each of at most two free coordinates."""

    def __init__(self, world: "World", number: int):
        self.world, self.number = world, number

    @property
    def _struct(self) -> Any:
        return lib.ss_world_joint(self.world._pointer, self.number).contents

    def __index__(self) -> int:
        return self.number

    @property
    def name(self) -> Optional[str]:
        return text(self._struct.name)

    kind = _Of("revolute, prismatic, ...", JOINTS)
    compliance = _Of("m/N or rad/(N m); 0 = rigid")
    disabled = _Of("takes no part")

    @property
    def law(self) -> List[AxisLaw]:
        return [AxisLaw(self, 0), AxisLaw(self, 1)]

    def coordinate(self, index: int = 0) -> Tuple[float, float]:
        """A free coordinate (rad or m) and its rate."""
        position, speed = ctypes.c_double(), ctypes.c_double()
        if not lib.ss_joint_coordinate(self.world._pointer, self.number, index, ctypes.addressof(position),
                                       ctypes.addressof(speed)):
            raise IndexError(f"a {self.kind} joint has no coordinate {index}")
        return position.value, speed.value

    @property
    def position(self) -> float:
        """rad or m: the first free coordinate."""
        return self.coordinate()[0]

    @property
    def speed(self) -> float:
        """rad/s or m/s."""
        return self.coordinate()[1]

    @property
    def error(self) -> float:
        """m or rad: the largest violation of its equations."""
        return float(lib.ss_joint_error(self.world._pointer, self.number))

    def __repr__(self) -> str:
        name = f' "{self.name}"' if self.name else ""
        a, b = ("world" if of == WORLD else of for of in (self._struct.a, self._struct.b))
        return f"<Joint {self.number}{name}: {self.kind}, bodies {a} and {b}>"


# ---- world -------------------------------------------------------------------------------------------


class Energy(NamedTuple):
    """J, J (of gravity), kg m/s, kg m^2/s about the origin: of the dynamic bodies."""

    kinetic: float
    potential: float
    momentum: np.ndarray
    angular_momentum: np.ndarray


class _Looking:
    """Alive as long as an array looks at the bodies of a world."""

    __slots__ = ("owner", "__weakref__")

    def __init__(self, owner: Owner):
        self.owner = owner


Motion = Callable[[float], Tuple[Any, Any, Any]]


class ModelInfo(NamedTuple):
    """What a model file says beyond the world itself: format ("urdf", "mjcf", "sdf"), name, time step (s, 0 = none), and how many
    keyframes it has."""

    format: str
    name: str
    h: float
    keyframes: int


class World:
    """Bodies, shapes, materials, joints; SI units.

    >>> import stickslip as ss
    >>> world = ss.World()
    >>> ground = world.fixed(ss.plane())
    >>> brick = world.body(ss.box(0.2, 0.1, 0.05, density=1800), position=(0, 0, 0.1), name="brick")
    >>> for step in range(100):
    ...     world.step()
    >>> brick, bool(abs(brick.velocity).max() < 1e-6)
    (<Body 0 "brick": dynamic, 1.8 kg, at (0, 0, 0.025) m>, True)

    `position`, `quaternion`, `velocity` and `force` look at all bodies at once, one row each. Bodies cannot be added while
    such an array is in use."""

    def __init__(self, gravity: Any = (0, 0, -9.81)):
        self._adopt(Owner(lib.ss_world_create(), lib.ss_world_destroy))
        self.gravity[...] = gravity

    def _adopt(self, owner: Owner) -> None:
        self._owner, self._pointer = owner, owner.pointer
        self._looking: Optional["weakref.ref[_Looking]"] = None
        self._motions: List[Any] = []  # what the library calls
        self.failure: Optional[BaseException] = None  # what a motion raised
        self.model: Optional[ModelInfo] = None  # of a world that was read from a file
        self.findings = Findings()  # what that file has and the world has not, by file and line
        self._changed = True  # since masses were computed
        self._sim: Optional["Sim"] = None

    @classmethod
    def _of(cls, owner: Owner) -> "World":
        world = cls.__new__(cls)
        world._adopt(owner)
        return world

    @classmethod
    def read(cls, path: PathLike, *, strict: Union[bool, str] = False, **options: Any) -> "World":
        """The world of a URDF, MJCF or SDF file (docs/models.md). What is not honoured is in `findings`, by file and line;
        strict=True raises InputError if there is anything, strict="motion" if it would change the motion. Options: base ("auto",
        "fixed" or "free"), floor, key (of a keyframe), package ("NAME=FOLDER"), outside.

        `simulate`, `step` and `run` use the time step of the file (0.002 s if it has none) and joints="impulse"."""
        world, findings, info = cls(), Collector(), _abi.ss_model_info()
        filled = Filled(variable("ss_model_option_table"), ctypes.sizeof(_abi.ss_model_options), options)
        struct = _abi.ss_model_options.from_buffer_copy(filled.buffer)
        lib.ss_model_read(path_bytes(path), struct, world._pointer, info, findings.struct)
        world.findings = findings.taken()
        lost = world.findings if strict is True else world.findings.of("loss") if strict else Findings()
        if lost:
            raise InputError(f"{path}: {len(lost)} findings:\n{lost}")
        world.model = ModelInfo(text(lib.ss_model_format_name(info.format)) or "", info.name.decode(errors="replace"), info.h,
                                info.keyframes)
        return world

    def _array(self, address: int, shape: Tuple[int, ...], strides: Optional[Tuple[int, ...]], writable: bool) -> np.ndarray:
        looking = self._looking() if self._looking is not None else None
        if looking is None:
            looking = _Looking(self._owner)
            self._looking = weakref.ref(looking)
        return np.asarray(_Holder(looking, {"shape": shape, "typestr": "<f8", "data": (address, not writable), "version": 3,
                                            "strides": strides}))

    def _grow(self) -> None:
        if self._looking is not None and self._looking() is not None:
            raise BufferError("an array that looks at the bodies of this world is still in use, and adding would move them; "
                              "delete it, or keep a copy instead")
        self._changed = True

    def _finish(self) -> None:
        lib.ss_world_finish(self._pointer)
        self._changed = False

    def _all(self, name: str) -> np.ndarray:
        count, place = lib.ss_world_body_count(self._pointer), getattr(_abi.ss_body, name)
        if count == 0:
            return np.zeros((0, place.size // 8))
        first = ctypes.addressof(lib.ss_world_body(self._pointer, 0).contents)
        return self._array(first + place.offset, (count, place.size // 8), (ctypes.sizeof(_abi.ss_body), 8), True)

    @property
    def position(self) -> np.ndarray:
        """m, (bodies, 3): centres of mass."""
        return self._all("position")

    @property
    def quaternion(self) -> np.ndarray:
        """(bodies, 4), scalar first."""
        return self._all("quaternion")

    @property
    def velocity(self) -> np.ndarray:
        """m/s and rad/s, (bodies, 6)."""
        return self._all("velocity")

    @property
    def force(self) -> np.ndarray:
        """N and N m, (bodies, 6), kept until changed; gravity comes on top."""
        return self._all("force")

    @property
    def mass(self) -> np.ndarray:
        """kg, (bodies,), a copy; of bodies without a mass of their own it is known when the simulation begins."""
        return np.array([body.mass for body in self.bodies])

    @property
    def gravity(self) -> np.ndarray:
        """m/s^2"""
        return np.asarray(_Holder(self._owner, {"shape": (3,), "typestr": "<f8", "version": 3, "strides": None,
                                                "data": (lib.ss_world_gravity(self._pointer), False)}))

    @gravity.setter
    def gravity(self, value: Any) -> None:
        self.gravity[...] = value

    def raise_failure(self) -> None:
        """Raises what a motion raised in the last step, once."""
        failure, self.failure = self.failure, None
        if failure is not None:
            raise failure

    # ---- adding

    def material(self, name: str, mu: float = 0.5, restitution: float = 0.0, mu_rolling: float = 0.0,
                 mu_torsion: float = 0.0, spin_coupling: str = "independent", mu_across: float = 0.0,
                 grain: Sequence[float] = (0.0, 0.0, 0.0)) -> Material:
        """A new material. Pairs have the geometric mean of mu, mu_rolling and mu_torsion (m) and the larger restitution,
        unless `pair` says otherwise. spin_coupling, of sliding and spinning, is "independent" or "ellipsoid". `grain` is a
        direction in the frames of its shapes, across which friction is mu_across (0 = as mu). Number 0 is "default": mu 0.5."""
        struct = _abi.ss_material(encoded(name), mu, restitution, mu_rolling, mu_torsion,
                                  _number(spin_coupling, SPIN_COUPLINGS, "spin coupling"), mu_across, tuple(grain))
        return Material(lib.ss_world_add_material(self._pointer, struct), name)

    def pair(self, a: Union[Material, int], b: Union[Material, int], mu: float, *, mu_static: float = 0.0,
             restitution: float = 0.0, mu_rolling: float = 0.0, mu_torsion: float = 0.0, stiffness: float = 0.0,
             damping: float = 0.0, adhesion: float = 0.0, spin_coupling: str = "independent",
             mu_across: float = 0.0) -> None:
        """How two materials act on each other; mu_static 0 = as mu. stiffness (N/m; 0 = rigid), damping (N s/m) and adhesion
        (N) are those of each contact point; spin_coupling and mu_across as in `material` (one of the two must have a grain)."""
        struct = _abi.ss_material_pair(mu, mu_static, restitution, mu_rolling, mu_torsion, stiffness, damping, adhesion,
                                       _number(spin_coupling, SPIN_COUPLINGS, "spin coupling"), mu_across)
        lib.ss_world_set_pair(self._pointer, int(a), int(b), struct)

    def _add_shape(self, body: int, shape: Shape) -> int:
        self._changed = True
        return int(lib.ss_world_add_shape(self._pointer, body, shape._struct))

    def body(self, *shapes: Shape, position: Any = (0, 0, 0), quaternion: Any = (1, 0, 0, 0), velocity: Any = (0,) * 6,
             force: Any = (0,) * 6, name: Optional[str] = None, kind: str = "dynamic", mass: float = 0.0, inertia: Any = None,
             gravity_scale: float = 1.0, linear_damping: float = 0.0, angular_damping: float = 0.0,
             motion: Optional[Motion] = None) -> Body:
        """A new body. mass 0: from the densities of its shapes. inertia (3 x 3, body frame) None: from the shapes, scaled to
        the mass. A `motion` makes it kinematic: a function of time that returns position, quaternion and velocity."""
        self._grow()
        struct = _abi.ss_body()
        struct.name = encoded(name)
        struct.kind = _number("kinematic" if motion is not None else kind, KINDS, "kind of body")
        struct.position[:], struct.quaternion[:] = _floats(position, 3), _floats(quaternion, 4)
        struct.velocity[:], struct.force[:] = _floats(velocity, 6), _floats(force, 6)
        struct.mass, struct.gravity_scale = mass, gravity_scale if gravity_scale != 0 else math.nan
        if inertia is not None:
            tensor = np.asarray(inertia, float)
            struct.inertia[:] = _floats(np.diag(tensor) if tensor.shape == (3,) else tensor, 9)
        struct.linear_damping, struct.angular_damping = linear_damping, angular_damping
        if motion is not None:
            callback = _abi.ss_motion(_moving(motion, weakref.ref(self)))
            self._motions.append(callback)
            struct.motion = callback
        number = lib.ss_world_add_body(self._pointer, struct)
        for shape in shapes:
            self._add_shape(number, shape)
        return Body(self, number)

    def fixed(self, *shapes: Shape) -> None:
        """Shapes that are fixed in space, such as the ground."""
        for shape in shapes:
            self._add_shape(WORLD, shape)

    def joint(self, kind: str, a: Union[Body, int] = WORLD, b: Union[Body, int] = WORLD, anchor: Any = (0, 0, 0),
              axis: Any = (0, 0, 0), *, anchor_b: Any = (0, 0, 0), axis2: Any = (0, 0, 0), ratio: float = 0.0,
              compliance: float = 0.0, terms: Sequence[Any] = (), capacity: float = 0.0, c: Union[Body, int] = WORLD,
              sheaves: Any = ((0, 0, 0), (0, 0, 0)), bodies_collide: bool = False, name: Optional[str] = None,
              second: Optional[Dict[str, Any]] = None, **law: Any) -> Joint:
        """A new joint between two bodies, or a body and the world (ss.WORLD); anchors and axes are in the world, at the start.
        A coupling, differential or converter has `terms` instead of bodies: joints whose first coordinate is meant, or tuples
        (joint, factor) or (joint, factor, index); a pulley has its `sheaves` on body c.
        Further keywords are the law of its first free coordinate, `second` those of its second one: limits=(lower, upper),
        motor="velocity", target_speed, max_force, stiffness, damping, rest, friction, ..."""
        struct = _abi.ss_joint()
        struct.name, struct.kind = encoded(name), _number(kind, JOINTS, "joint")
        struct.a, struct.b = (int(of) if isinstance(of, int) else of.number for of in (a, b))
        struct.anchor[:], struct.anchor_b[:] = _floats(anchor, 3), _floats(anchor_b, 3)
        struct.axis[:], struct.axis2[:] = _floats(axis, 3), _floats(axis2, 3)
        struct.ratio, struct.compliance, struct.bodies_collide = ratio, compliance, bodies_collide
        struct.capacity, struct.c, struct.terms = capacity, int(c) if isinstance(c, int) else c.number, len(terms)
        for end in range(2):
            struct.sheave[end][:] = _floats(sheaves[end], 3)
        if len(terms) > _abi.SS_JOINT_TERMS:
            raise ValueError(f"{len(terms)} terms: at most {_abi.SS_JOINT_TERMS}")
        for term, told in zip(struct.term, terms):
            given = told if isinstance(told, tuple) else (told,)
            term.joint = operator.index(given[0])
            term.factor = given[1] if len(given) > 1 else 1.0
            term.index = given[2] if len(given) > 2 else 0
        joint = Joint.__new__(Joint)
        for index, told in enumerate((law, second or {})):
            _Draft(struct.law[index]).set(**told)
        self._changed = True
        joint.__init__(self, lib.ss_world_add_joint(self._pointer, struct))  # type: ignore[misc]
        return joint

    def separate(self, a: Union[Body, int], b: Union[Body, int]) -> None:
        """These two bodies never touch."""
        lib.ss_world_separate(self._pointer, int(a.__index__()), int(b.__index__()))

    # ---- looking

    @property
    def bodies(self) -> List[Body]:
        return [Body(self, number) for number in range(lib.ss_world_body_count(self._pointer))]

    @property
    def joints(self) -> List[Joint]:
        return [Joint(self, number) for number in range(lib.ss_world_joint_count(self._pointer))]

    @property
    def materials(self) -> List[Material]:
        return [Material(number, text(lib.ss_world_material(self._pointer, number).contents.name) or "")
                for number in range(lib.ss_world_material_count(self._pointer))]

    def __getitem__(self, name: str) -> Union[Body, Joint]:
        """The body or the joint of this name."""
        body, joint = (find(self._pointer, encoded(name)) for find in (lib.ss_world_find_body, lib.ss_world_find_joint))
        if body >= 0:
            return Body(self, body)
        if joint >= 0:
            return Joint(self, joint)
        raise KeyError(f"no body and no joint is named '{name}'")

    def energy(self) -> Energy:
        """Kinetic and potential energy, momentum and angular momentum."""
        if self._changed:
            self._finish()
        found = lib.ss_world_measure(self._pointer)
        return Energy(found.kinetic, found.potential, np.array(found.momentum), np.array(found.angular_momentum))

    def change_units(self, length: float = 1.0, mass: float = 1.0, time: float = 1.0) -> None:
        """Multiplies every quantity as a change of units would."""
        lib.ss_world_change_units(self._pointer, length, mass, time)

    # ---- time

    def simulate(self, **options: Any) -> "Sim":
        """A simulation of this world; options as in Sim."""
        from .simulate import Sim
        return Sim(self, **options)

    @property
    def sim(self) -> "Sim":
        """The simulation with default options that `step` uses."""
        if self._sim is None:
            from .simulate import Sim
            self._sim = Sim(self)
        return self._sim

    def step(self, count: int = 1) -> None:
        """Steps of 0.01 s with the default options; `simulate` makes simulations with others."""
        self.sim.step(count)

    def __repr__(self) -> str:
        counts = [(lib.ss_world_body_count(self._pointer), "body", "bodies"),
                  (lib.ss_world_shape_count(self._pointer), "shape", "shapes"),
                  (lib.ss_world_joint_count(self._pointer), "joint", "joints")]
        return "<World: " + ", ".join(f"{n} {one if n == 1 else many}" for n, one, many in counts) + ">"

    def __iter__(self) -> Iterator[Body]:
        return iter(self.bodies)


class _Draft(AxisLaw):
    """The law of a joint that is not in a world yet."""

    def __init__(self, struct: Any):
        self._draft = struct

    @property
    def _struct(self) -> Any:
        return self._draft


def _moving(motion: Motion, world: "weakref.ref[World]") -> Callable[..., None]:
    """A Python function as a prescribed motion. What it raises is raised after the step, which then did not happen."""

    def move(time: float, position: int, quaternion: int, velocity: int, _: Any) -> None:
        try:
            told = motion(time)
            for address, values, count in ((position, told[0], 3), (quaternion, told[1], 4), (velocity, told[2], 6)):
                (ctypes.c_double * count).from_address(address)[:] = list(_floats(values, count))
        except BaseException as failure:
            of = world()
            if of is not None:
                of.failure = failure

    return move
