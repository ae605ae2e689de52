"""The program `stickslip` from Python: campaigns, reports, replays.

It runs in a child of this process, made by fork, which knows every solver, metric, formulation and scene that was written
in Python. Campaigns fork their workers from there, so that what crashes, hangs or eats memory is never this process."""
from __future__ import annotations

import ctypes
import os
import signal
import sys
from pathlib import Path
from typing import Any, List, NamedTuple, Optional, Sequence

from ._library import Error, InputError, ResourceError, UsageError, library_path

_EXITS = {2: UsageError, 3: InputError, 4: ResourceError}


class Outcome(NamedTuple):
    """How a call of the program ended: its exit code and what it printed."""

    code: int
    out: str
    err: str

    def raise_for(self, *allowed: int) -> "Outcome":
        """Raises unless the exit code is 0 or one of these."""
        if self.code == 0 or self.code in allowed:
            return self
        lines = [line for line in self.err.strip().splitlines() if not line.startswith("Try ")]
        message = "\n".join(line[len("stickslip: "):] if line.startswith("stickslip: ") else line for line in lines)
        raise _EXITS.get(self.code, Error)(message or f"the program ended with exit code {self.code}")


def program_library() -> Path:
    """The shared library with the program; beside that of the library."""
    return library_path().with_name("libstickslip_program.so.0")


def call(*words: Any, show: bool = False) -> Outcome:
    """Runs `stickslip WORDS...` in a child; show=True: progress goes to the terminal."""
    if not program_library().exists():
        raise ImportError(f"{program_library()}: the program as a shared library is not there; campaigns and pages need it")
    import tempfile
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        shown = show and _is_terminal(2)
        sys.stdout.flush()
        sys.stderr.flush()
        child = os.fork()
        if child == 0:
            _in_child([os.fsencode(os.fspath(word)) if isinstance(word, os.PathLike) else str(word).encode() for word in words],
                      out.fileno(), None if shown else err.fileno())
        code = _wait(child)
        texts = []
        for file in (out, err):
            file.seek(0)
            texts.append(file.read().decode("utf-8", "replace"))
    return Outcome(code, *texts)


def _is_terminal(descriptor: int) -> bool:
    try:
        return os.isatty(descriptor)
    except OSError:
        return False


def _in_child(words: Sequence[bytes], out: int, err: Optional[int]) -> None:
    """Never returns."""
    code = 4
    try:
        signal.set_wakeup_fd(-1)
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, signal.SIG_DFL)
        os.dup2(out, 1)
        if err is not None:
            os.dup2(err, 2)
        null = os.open(os.devnull, os.O_RDONLY)
        os.dup2(null, 0)
        program = ctypes.CDLL(str(program_library()))
        arguments = [b"stickslip", *words]
        argv = (ctypes.c_char_p * (len(arguments) + 1))(*arguments, None)
        program.ss_program_main.restype = ctypes.c_int
        code = program.ss_program_main(ctypes.c_int(len(arguments)), argv)
    except Error as failure:
        os.write(2, f"stickslip: {failure}\n".encode())
        code = 2
    except BaseException:
        import traceback
        os.write(2, traceback.format_exc().encode())
    finally:
        os._exit(code)


def _wait(child: int) -> int:
    """The exit code. Ctrl-C stops the program first: what it has stored stays."""
    interrupted: Optional[KeyboardInterrupt] = None
    while True:
        try:
            _, status = os.waitpid(child, 0)
            break
        except KeyboardInterrupt as stop:
            os.kill(child, signal.SIGINT if interrupted is None else signal.SIGKILL)
            interrupted = stop
    if interrupted is not None:
        raise interrupted
    if os.WIFSIGNALED(status):
        raise Error(f"the program was killed by signal {os.WTERMSIG(status)}")
    return os.WEXITSTATUS(status)


def words_of(flags: Any) -> List[str]:
    """{"time_limit": 3, "json": True, "set": ["a=1"]} as --time-limit 3 --json --set a=1; None and False are left out."""
    from .options import value_text
    words: List[str] = []
    for name, value in flags.items():
        flag = "--" + name.replace("_", "-")
        if value is None or value is False:
            continue
        if value is True:
            words.append(flag)
        elif isinstance(value, (list, tuple)):
            for item in value:
                words += [flag, value_text(item)]
        else:
            words += [flag, os.fspath(value) if isinstance(value, os.PathLike) else value_text(value)]
    return words


