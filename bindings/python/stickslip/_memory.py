"""Who owns what. An Owner frees a C object when nothing looks at it any more; a view is a NumPy array that looks at the
library's memory without a copy and keeps the Owner alive, and so does every slice of it."""
from __future__ import annotations

from typing import TYPE_CHECKING, Any, Callable, Optional, Tuple

import numpy as np

from ._library import UsageError


class Owner:
    """Frees `pointer` by `destroy` when it is dropped. `keep` is what must not go before it."""

    __slots__ = ("pointer", "_destroy", "keep", "__weakref__")

    def __init__(self, pointer: Any, destroy: Optional[Callable[[Any], Any]], *keep: Any):
        self.pointer, self._destroy, self.keep = pointer, destroy, keep

    def __del__(self) -> None:
        self.free()

    def free(self) -> None:
        """Frees at once; for files that are closed by hand. Nothing may look at it any more."""
        destroy, self._destroy = self._destroy, None
        if destroy is not None and self.pointer is not None:
            destroy(self.pointer)
            self.pointer = None


class Lent:
    """What the library may lend a function of the user for one call: `take_back` ends the loan. What was kept then raises an
    error where it would have looked at memory that is no longer there."""

    _LOOKS_AT = ("_struct", "_pointer", "_frame")

    if not TYPE_CHECKING:  # which would find every attribute otherwise
        def __getattr__(self, name: str) -> Any:
            if name in Lent._LOOKS_AT:
                raise UsageError(f"this {type(self).__name__} was lent to your function for one call, which is over: keep copies "
                                 "of its arrays instead")
            raise AttributeError(f"'{type(self).__name__}' object has no attribute '{name}'")


def take_back(*lent: Optional[Lent]) -> None:
    """Ends the loan of these, and of all that was reached through them (`_reached`)."""
    for item in lent:
        if item is not None:
            take_back(*item.__dict__.get("_reached", ()))
            for name in Lent._LOOKS_AT:
                item.__dict__.pop(name, None)


class _Holder:
    """What NumPy asks for the address, and keeps as the base of the array."""

    __slots__ = ("owner", "__array_interface__")

    def __init__(self, owner: Any, interface: dict):
        self.owner, self.__array_interface__ = owner, interface


_TYPES = {"f8": "<f8", "i4": "<i4", "u1": "|u1", "u4": "<u4", "i8": "<i8", "u8": "<u8", "?": "|b1"}


def view(owner: Any, address: Optional[int], shape: Tuple[int, ...], kind: str = "f8", writable: bool = False) -> np.ndarray:
    """An array over the library's memory at `address`, which the owner keeps as long as the array or any slice of it is there.

    owner None: no one can promise that (the library lends it for a call), so it is a copy, unless it is to be written to."""
    if not address or 0 in shape:
        return np.zeros(shape, _TYPES[kind])
    if owner is None and not writable:
        return np.array(_Holder(None, {"shape": shape, "typestr": _TYPES[kind], "data": (address, True), "version": 3}))
    return np.asarray(_Holder(owner, {"shape": shape, "typestr": _TYPES[kind], "data": (address, not writable), "version": 3}))


def field_view(owner: Any, struct: Any, name: str, count: int, writable: bool = False,
               shape: Optional[Tuple[int, ...]] = None) -> Optional[np.ndarray]:
    """The array behind the field `name` of a struct, `count` items long; None where the pointer is NULL.

    What one item is comes from the header: `double (*point)[3]` gives an array (count, 3)."""
    address = getattr(struct, name)
    if address is None:
        return None
    kind, item = struct._rows_[name]
    return view(owner, address, (count,) + (item if shape is None else shape), kind, writable)


def as_doubles(values: Any, shape: Tuple[int, ...], what: str) -> np.ndarray:
    """values as a contiguous array of float64 of that shape: itself if it is one, else a copy."""
    array = np.ascontiguousarray(values, dtype=np.float64)
    if array.shape != shape:
        raise ValueError(f"{what} has the shape {array.shape}, must be {shape}")
    return array


def address_of(array: Optional[np.ndarray]) -> Optional[int]:
    return None if array is None else array.ctypes.data
