"""Contacts that are patches: the friction of a disc that slides and spins, and patches as weighted points."""
from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, Tuple

import numpy as np

from . import _abi
from ._library import UsageError, lib
from ._memory import Owner, address_of

if TYPE_CHECKING:
    from .frame import Frame

PRESSURES = ("even", "hertz")


class DiscFriction(NamedTuple):
    """In units of mu times the load: force (1) against the sliding, moment (m) against the spinning."""

    force: float
    moment: float


def _pressure(name: str) -> int:
    if name not in PRESSURES:
        raise UsageError(f"unknown pressure '{name}'; there are {', '.join(PRESSURES)}")
    return PRESSURES.index(name)


def disc_friction(radius: float, speed: float, spin: float, pressure: str = "even") -> DiscFriction:
    """Coulomb friction of a disc (m) that slides (m/s) and spins (rad/s), each point against its own motion (Contensou).

    >>> import stickslip as ss
    >>> ss.disc_friction(0.3, 0.0, 5.0)                       # spinning alone: 2/3 of the radius
    DiscFriction(force=0.0, moment=0.2)
    >>> round(ss.disc_friction(0.3, 1.0, 5.0).force, 6)
    0.360154
    """
    law = lib.ss_disc_friction_of(_pressure(pressure), radius, speed, spin)
    return DiscFriction(round(law.force, 14), round(law.moment, 14))


class Patch:
    """A disc, rectangle or convex polygon of pressure in the plane of a contact, in m along t_u and t_v.

    >>> import stickslip as ss
    >>> points, shares = ss.Patch.rectangle(0.2, 0.1).points(fineness=2)
    >>> len(points), round(float(shares.sum()), 12)
    (4, 1.0)
    """

    def __init__(self, kind: int, size: Tuple[float, float], corners: Any = (), pressure: str = "even"):
        self._corners = np.ascontiguousarray(corners, np.float64).reshape(-1, 2)
        self._struct = _abi.ss_patch()
        self._struct.kind, self._struct.corners = kind, len(self._corners)
        self._struct.size[:] = size
        self._struct.pressure = _pressure(pressure)
        if len(self._corners):
            self._struct.corner = self._corners.ctypes.data

    @classmethod
    def disc(cls, radius: float, pressure: str = "even") -> Patch:
        """Under "even" or "hertz" pressure."""
        return cls(_abi.SS_PATCH_DISC, (radius, 0.0), (), pressure)

    @classmethod
    def rectangle(cls, width: float, height: float) -> Patch:
        return cls(_abi.SS_PATCH_RECTANGLE, (width, height))

    @classmethod
    def polygon(cls, corners: Any) -> Patch:
        """corners (n, 2), counter-clockwise, convex."""
        return cls(_abi.SS_PATCH_POLYGON, (0.0, 0.0), corners)

    def points(self, fineness: int = 6) -> Tuple[np.ndarray, np.ndarray]:
        """Points (n, 2) and the shares of the load that they carry (n), which add up to 1."""
        count = lib.ss_patch_points(self._struct, fineness, None, None)
        points, shares = np.empty((count, 2)), np.empty(count)
        lib.ss_patch_points(self._struct, fineness, address_of(points), address_of(shares))
        return points, shares

    def spread(self, frame: Frame, contact: int, fineness: int = 6) -> Frame:
        """A copy of the frame in which the contact is replaced by these points, with shares of its stiffness."""
        from .frame import Frame as Made
        return Made._of(Owner(lib.ss_frame_spread(frame._struct, contact, self._struct, fineness), lib.ss_frame_destroy))
