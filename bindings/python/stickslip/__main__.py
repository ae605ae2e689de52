"""python3 -m stickslip VERB ...   the program, as on the command line: python3 -m stickslip solve wall.h5
python3 -m stickslip --cflags --libs   what a C compiler needs to build programs and plug-ins against this package:

    cc -shared -fPIC mine.c $(python3 -m stickslip --cflags --libs) -o mine.so
    cc program.c $(python3 -m stickslip --cflags --libs) -o program
"""
import ctypes
import os
import shlex
import signal
import sys
from typing import List, NoReturn

from . import include_path, library_path
from ._program import program_library


def flags(words: List[str]) -> str:
    library = library_path()
    known = {"--cflags": [f"-I{include_path()}"], "--libs": [str(library), f"-Wl,-rpath,{library.parent}"]}
    return " ".join(shlex.quote(part) for word in words for part in known[word])


def program(words: List[str]) -> NoReturn:
    """Does not return: the exit code is that of the program."""
    if not program_library().exists():
        sys.exit(f"{program_library()}: the program is not part of this package")
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # the program has its own way to stop
    ctypes.CDLL(str(library_path()), mode=ctypes.RTLD_GLOBAL)  # C plug-ins find its functions
    arguments = [b"stickslip", *map(os.fsencode, words)]
    argv = (ctypes.c_char_p * (len(arguments) + 1))(*arguments, None)
    code = ctypes.CDLL(str(program_library())).ss_program_main(ctypes.c_int(len(arguments)), argv)
    os._exit(code)


def main() -> None:
    words = sys.argv[1:]
    if words and set(words) <= {"--cflags", "--libs"}:
        print(flags(words))
    elif not words:
        print(__doc__)
    else:
        program(words)


if __name__ == "__main__":
    main()
