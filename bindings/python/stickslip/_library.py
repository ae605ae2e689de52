"""The C library: where it is, its functions by name, and its errors as exceptions.

`lib.ss_frame_create(1, 0, 0, 4)` calls the C function. Where the last parameter is an `ss_error`, it is left out here:
a failure raises. `raw("ss_session_solve")` is the function as it stands in the header, for where microseconds matter.
ctypes lets other threads run during each call.
"""
from __future__ import annotations

import ctypes
import os
from pathlib import Path
from typing import Any, Callable, Iterable, List, Optional, Union

from . import _abi, _location

PathLike = Union[str, "os.PathLike[str]"]

HERE = Path(__file__).resolve().parent


class Error(Exception):
    """What the library reports, in its own words; the message names the place."""

    code: int = 0


class UsageError(Error, ValueError):
    """An unknown or invalid name, option or argument."""

    code = _abi.SS_ERROR_USAGE


class InputError(Error, ValueError):
    """A file that cannot be read, or data that is wrong."""

    code = _abi.SS_ERROR_INPUT


class ResourceError(Error, RuntimeError):
    """Out of memory, disk full, cannot write, over a set limit."""

    code = _abi.SS_ERROR_RESOURCES


_BY_CODE = {kind.code: kind for kind in (UsageError, InputError, ResourceError)}


def error_of(err: Any, name: str = "the library") -> Error:
    """The exception for a filled ss_error."""
    message = err.message.decode("utf-8", "replace") or f"{name} failed without a message"
    return _BY_CODE.get(err.code, Error)(message)


def library_path() -> Path:
    """The shared library this package works with: STICKSLIP_LIBRARY, or the one it was built, installed or packed with."""
    chosen = os.environ.get("STICKSLIP_LIBRARY")
    return Path(chosen) if chosen else (HERE / _location.LIBRARY).resolve()


def include_path() -> Path:
    """The folder to give to the C compiler with -I."""
    return (HERE / _location.INCLUDE).resolve()


def _load(path: Path) -> ctypes.CDLL:
    if not path.exists():
        raise ImportError(f"{path}: the shared library of stickslip is not there; build it, or set STICKSLIP_LIBRARY")
    return ctypes.CDLL(str(path))


_cdll = _load(library_path())


def raw(name: str) -> Any:
    """The C function with its types set, ss_error included."""
    result, parameters, _ = _abi.functions[name]
    try:
        function = getattr(_cdll, name)
    except AttributeError:
        raise ImportError(f"{library_path()} has no function {name}: it is not the library that this package was made for, "
                          f"{_location.VERSION}") from None
    function.restype = result
    function.argtypes = parameters
    return function


# What may know better why a call failed: an exception in a Python function that the library called, kept by plugins.py.
on_failure: List[Callable[[], None]] = []


def _raising(name: str, function: Any) -> Callable[..., Any]:
    """The function without its last parameter; a result that means failure raises."""
    by_sign = _abi.functions[name][0] is ctypes.c_int
    make_error = _abi.ss_error

    def call(*arguments: Any) -> Any:
        err = make_error()
        value = function(*arguments, err)
        if (value < 0) if by_sign else (not value):
            for raise_kept in on_failure:
                raise_kept()
            raise error_of(err, name)
        return value

    call.__name__ = name
    return call


class _Functions:
    """Every function of the headers as an attribute, made when it is first used."""

    def __getattr__(self, name: str) -> Any:
        if name not in _abi.functions:
            raise AttributeError(f"the headers declare no function {name}")
        function = raw(name)
        if _abi.functions[name][2]:
            function = _raising(name, function)
        setattr(self, name, function)
        return function


lib: Any = _Functions()


def variable(name: str) -> Any:
    """A variable of the library, such as the table of options `ss_sim_option_table`: (pointer to) its first item."""
    return ctypes.pointer(_abi.variables[name].in_dll(_cdll, name))


def text(value: Optional[bytes]) -> Optional[str]:
    """A text of the library; None for NULL."""
    return None if value is None else value.decode("utf-8", "replace")


def encoded(value: Optional[str]) -> Optional[bytes]:
    return None if value is None else value.encode()


def path_bytes(path: PathLike) -> bytes:
    return os.fsencode(path)


def printed(function: Any, *arguments: Any) -> str:
    """The text that a function with a buffer and its size at the end (as snprintf) makes."""
    size = 256
    while True:
        buffer = ctypes.create_string_buffer(size)
        length = function(*arguments, buffer, size)
        if length < size:
            return buffer.value.decode("utf-8", "replace")
        size = length + 1


def all_of(count: Any, at: Any) -> Iterable[Any]:
    """Items of one of the library's registries."""
    return (at(index).contents for index in range(count()))


version: str = lib.ss_version().decode()
if version != _location.VERSION:
    raise ImportError(f"{library_path()} is stickslip {version}, but this Python package was made from the headers of "
                      f"{_location.VERSION}; build both together")
if lib.ss_abi_version() != _abi.SS_ABI:
    raise ImportError(f"{library_path()} has the binary interface {lib.ss_abi_version()}, but this Python package was made "
                      f"from headers of {_abi.SS_ABI}; build both together")
