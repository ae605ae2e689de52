"""Named scenes with parameters."""
from __future__ import annotations

import ctypes
from typing import TYPE_CHECKING, Any, Callable, Dict, List, NamedTuple, Optional

from . import _abi
from ._library import UsageError, all_of, encoded, error_of, lib, text
from ._memory import Owner
from .model import World
from .options import Filled, Listing, Option, describe
from .plugins import Extension, OptionTable, callback_type, registered

if TYPE_CHECKING:
    from .simulate import Sim


class SceneInfo(NamedTuple):
    """A scene: what it is, its parameters, and the step (s) and length (s) it suggests."""

    name: str
    summary: str
    description: str
    parameters: List[Option]
    h: float
    length: float

    def __repr__(self) -> str:
        lines = [f"{self.name}: {self.summary}", f"  {self.description}", f"  h = {self.h:g} s, for {self.length:g} s"]
        return "\n".join([*lines, *(f"  parameter  {option}" for option in self.parameters)])


def _info(item: Any) -> SceneInfo:
    return SceneInfo(text(item.name) or "", text(item.summary) or "", text(item.description) or "", describe(item.parameters),
                     item.h, item.length)


def scenes() -> Listing[SceneInfo]:
    """Every scene there is; scenes()["brick-wall"] is one of them."""
    return Listing([_info(item) for item in all_of(lib.ss_scene_count, lib.ss_scene_at)])


class Scene:
    """A scene with chosen parameters: `world()` builds its world, `sim()` a simulation with its suggested options."""

    def __init__(self, name: str, **parameters: Any):
        pointer = lib.ss_scene_find(encoded(name))
        if not pointer:
            import difflib
            names = [item.name for item in scenes()]
            near = difflib.get_close_matches(name, names, 1)
            raise UsageError(f"unknown scene '{name}'" + (f"; did you mean {near[0]}?" if near else
                                                          f"; there are {', '.join(names)}"))
        self._struct = pointer.contents
        self.info = _info(self._struct)
        self.name, self.summary, self.h, self.length = self.info.name, self.info.summary, self.info.h, self.info.length
        self.parameters = parameters
        self._filled = Filled(self._struct.parameters, self._struct.parameters_size, parameters)

    def _checked(self, function: Any, *arguments: Any) -> None:
        err = _abi.ss_error()
        if not function(*arguments, ctypes.pointer(err)):
            raise error_of(err, self.name)

    def world(self, seed: int = 1) -> World:
        """A new world; without what the scene does during the simulation, for which see `sim`."""
        world, own = World(), registered.get(("scenes", self.name))
        if isinstance(own, OwnScene):  # directly, so that its exceptions come out as they are
            own.build(world, self._filled.address)
        else:
            self._checked(self._struct.build, self._filled.address, seed, world._pointer)
        return world

    def _set_options(self, struct: Any) -> None:
        struct.h = self.h
        if self._struct.options:
            self._struct.options(self._filled.address, ctypes.pointer(struct))

    def sim(self, seed: int = 1, **options: Any) -> "Sim":
        """A simulation as `stickslip run` makes it: the scene's own options, then yours (see Sim)."""
        from .simulate import Sim
        sim = Sim(self.world(seed), scene=self, seed=seed, **options)
        self._begin(sim)
        return sim

    def _begin(self, sim: "Sim") -> None:
        """User functions and controllers of the scene; their state is freed after the simulation."""
        state = ctypes.c_void_p()
        sim._owner.keep += (self._filled,)
        sim._scene_state = None  # type: ignore[attr-defined]
        if self._struct.begin:
            cell = (ctypes.c_void_p * 1)()
            where = ctypes.cast(cell, _pointer_type(type(self._struct.begin), 2))
            self._checked(self._struct.begin, self._filled.address, sim._pointer, where)
            state = ctypes.c_void_p(cell[0])
            if cell[0]:
                destroy = sim._owner._destroy

                def both(pointer: Any, address: Any = cell[0]) -> None:
                    destroy(pointer)  # type: ignore[misc]
                    lib.ss_release(address)

                sim._owner._destroy = both
        sim._scene_state = state.value  # type: ignore[attr-defined]

    def _figures(self, sim: "Sim") -> Dict[str, float]:
        if not self._struct.figures:
            return {}
        found = (_abi.ss_scene_result * _abi.SS_SCENE_FIGURES)()
        count = self._struct.figures(self._filled.address, sim._pointer, sim._scene_state, found)  # type: ignore[attr-defined]
        return {text(item.name) or "": item.value for item in found[:count]}

    def __repr__(self) -> str:
        told = ", ".join(f"{name}={value}" for name, value in self.parameters.items())
        return f"<Scene {self.name}{f' ({told})' if told else ''}: {self.summary}>"


def _pointer_type(function: Any, index: int) -> Any:
    return function._argtypes_[index]


class OwnScene(Extension):
    """A Python function as a scene like any other. Made by the decorator `scene`."""

    kind = "scenes"

    def __init__(self, function: Callable[..., Any], name: Optional[str], summary: Optional[str], h: float, length: float):
        super().__init__(function, name, summary)
        self._options = OptionTable(function, 1)
        self._callback = callback_type(_abi.ss_scene, "build")(self._build)
        self._motions: List[Any] = []  # of worlds that the library has asked for: they may be called at any time
        self.struct = struct = _abi.ss_scene()
        struct.name, struct.summary = self.keep_text(self.name), self.keep_text(self.summary)
        struct.description = self.keep_text((function.__doc__ or self.summary).strip())
        struct.parameters, struct.parameters_size = self._options.table, self._options.size
        struct.h, struct.length, struct.build = h, length, self._callback
        self.register()

    def build(self, world: World, parameters: int) -> None:
        """Fills an empty world."""
        self.function(world, **self._options.read(parameters))

    def _build(self, parameters: int, _seed: int, pointer: int, err: Any) -> bool:
        try:
            world = World._of(Owner(pointer, None))
            self.build(world, parameters)
            self._motions.append(world._motions)
            return True
        except BaseException as failure:
            lib.ss_fail(err, _abi.SS_ERROR_USAGE, b"%s", ctypes.c_char_p(self.fail(failure).encode()))
            return False


def scene(what: Any = None, *, name: Optional[str] = None, summary: Optional[str] = None, h: float = 0.01, length: float = 1.0,
          **parameters: Any) -> Any:
    """A scene by name, with parameters: ss.scene("brick-wall", rows=10).sim(solver="nsgs").run(steps=100).

    As a decorator it makes a scene of a function f(world, parameter=default, ...) that fills a world; h (s) and length (s) are
    what it suggests.

    >>> import stickslip as ss
    >>> @ss.scene(length=0.5)
    ... def two_balls(world, radius=0.1):
    ...     "One ball falls onto another."
    ...     world.fixed(ss.plane())
    ...     for height in (radius, 4 * radius):
    ...         world.body(ss.sphere(radius), position=(0, 0, height))
    >>> ss.run("two-balls", parameters={"radius": 0.2})
    <Sim two-balls: 50 steps, 0.5 s, 2 contacts>
    """
    if isinstance(what, str):
        return Scene(what, **parameters)

    def make(function: Callable[..., Any]) -> OwnScene:
        return OwnScene(function, name, summary, h, length)

    return make if what is None else make(what)
