"""Ctrl-C while the library works.

Python runs signal handlers between its own instructions, and a long call of the library is one instruction. So the number of
the signal goes into a pipe (signal.set_wakeup_fd), a thread that reads the pipe raises the flag which the library looks at,
the library returns soon, and Python then raises KeyboardInterrupt as always.
"""
from __future__ import annotations

import ctypes
import os
import signal
import threading
from typing import List, Optional

_flags: List[ctypes.c_int] = []  # of the calls under way in the main thread, the innermost last
_pipe: Optional[int] = None      # its writing end; None: the thread does not run
_others: int = -1                # whose pipe it was before: it gets every byte, too
_main = threading.main_thread().ident


def _listen(reading: int) -> None:
    while True:
        try:
            numbers = os.read(reading, 64)
        except OSError:
            return
        if not numbers:
            return
        if _others >= 0:
            try:
                os.write(_others, numbers)
            except OSError:
                pass
        if signal.SIGINT in numbers:
            for flag in list(_flags):
                flag.value = 1


def _start() -> int:
    global _pipe
    reading, _pipe = os.pipe()
    os.set_blocking(_pipe, False)
    threading.Thread(target=_listen, args=(reading,), name="stickslip-interrupt", daemon=True).start()
    return _pipe


def _forget() -> None:
    """In a forked child the thread is gone; the next call starts it again."""
    global _pipe, _main
    _pipe, _main = None, threading.main_thread().ident
    _flags.clear()


os.register_at_fork(after_in_child=_forget)


def begin(flag: ctypes.c_int) -> Optional[int]:
    """From now on Ctrl-C raises the flag; give what this returns to `end`. In other threads than the main one: nothing."""
    global _others
    if threading.get_ident() != _main:
        return None
    flag.value = 0
    _flags.append(flag)
    before = signal.set_wakeup_fd(_pipe if _pipe is not None else _start(), warn_on_full_buffer=False)
    if before != _pipe:
        _others = before
    return before


def end(flag: ctypes.c_int, before: Optional[int]) -> None:
    global _others
    if before is None:
        return
    _flags.remove(flag)
    signal.set_wakeup_fd(before, warn_on_full_buffer=False)
    if not _flags:
        _others = -1


class interruptible:
    """with interruptible() as flag: Ctrl-C sets flag.value; pass byref(flag) as `cancel`."""

    def __init__(self, flag: Optional[ctypes.c_int] = None):
        self.flag = ctypes.c_int(0) if flag is None else flag

    def __enter__(self) -> ctypes.c_int:
        self._before = begin(self.flag)
        return self.flag

    def __exit__(self, *_: object) -> None:
        end(self.flag, self._before)
