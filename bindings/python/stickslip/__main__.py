"""python3 -m stickslip: where things are, for people who build C plug-ins against the library of this package.

    cc -shared -fPIC mine.c $(python3 -m stickslip --cflags --libs) -o mine.so
    cc program.c $(python3 -m stickslip --cflags --libs) -o program
"""
import argparse
import shlex

from . import __version__, include_path, library_path


def main() -> None:
    parser = argparse.ArgumentParser(prog="python3 -m stickslip", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cflags", action="store_true", help="what the C compiler needs")
    parser.add_argument("--libs", action="store_true", help="what the linker needs")
    parser.add_argument("--version", action="version", version=f"stickslip {__version__}")
    arguments = parser.parse_args()
    words = [f"-I{include_path()}"] if arguments.cflags else []
    if arguments.libs:
        library = library_path()
        words += [str(library), f"-Wl,-rpath,{library.parent}"]
    if not words:
        parser.print_help()
    else:
        print(" ".join(map(shlex.quote, words)))


if __name__ == "__main__":
    main()
