"""The mirror of the headers in Python against what the C compiler makes of them, field by field."""
import ctypes
import os
import subprocess
import sys
from pathlib import Path

import pytest

SOURCE, BUILD = Path(os.environ["SS_SOURCE_DIR"]), Path(os.environ["SS_BUILD_DIR"])
MIRROR = [sys.executable, str(SOURCE / "tools/mirror"), "--compiler", "cc"]


def test_every_struct_field_and_constant_is_where_the_compiler_puts_it(tmp_path):
    from stickslip import _abi
    layout = tmp_path / "layout.c"
    subprocess.run([*MIRROR, "--layout", str(layout)], check=True)
    subprocess.run(["cc", f"-I{SOURCE / 'include'}", str(layout), "-o", str(tmp_path / "layout"), f"-L{BUILD}", "-lstickslip",
                    f"-Wl,-rpath,{BUILD}"], check=True)
    printed = subprocess.run([tmp_path / "layout"], check=True, capture_output=True, text=True).stdout.splitlines()
    wrong = []
    for line in printed:
        name, value = line.split()
        if name.startswith("sizeof("):
            mirrored = str(ctypes.sizeof(getattr(_abi, name[len("sizeof("):-1])))
        elif "." in name:
            struct, field = name.split(".")
            place = getattr(getattr(_abi, struct), field, None)
            mirrored = f"{place.offset}+{place.size}" if place else "absent"
        else:
            mirrored = str(getattr(_abi, name, "absent"))
        if mirrored != value:
            wrong.append(f"{name}: {value} in C, {mirrored} in Python")
    assert not wrong
    assert len(printed) > 700  # structs, fields and constants of all headers; fewer means that some were not read


def test_every_function_of_the_headers_is_in_the_library():
    from stickslip import _abi, _library
    for name in _abi.functions:
        _library.raw(name)


@pytest.mark.parametrize("text, complaint", [
    ("struct ss_a { int flag : 3; };", "bit field"),
    ("typedef union ss_u { int i; double d; } ss_u;", "union"),
    ("void ss_f(mystery value);", "unknown type"),
    ("#define SS_X sizeof(int) ? 1 : 2\n", "SS_X"),
    ("struct ss_hidden; void ss_f(struct ss_hidden value);", "ss_hidden"),
])
def test_a_construct_that_is_not_understood_is_an_error(tmp_path, text, complaint):
    (tmp_path / "new.h").write_text(text)
    run = subprocess.run([*MIRROR, "--include", str(tmp_path), "--abi", str(tmp_path / "abi.py"), "new.h"], capture_output=True,
                         text=True)
    assert run.returncode != 0 and complaint in run.stderr, run.stderr


def test_a_library_of_another_version_is_refused(tmp_path):
    (tmp_path / "stickslip").mkdir()
    for file in (BUILD / "python/stickslip").glob("*.py"):
        text = file.read_text()
        if file.name == "_location.py":
            text = f'VERSION = "0.0.7"\nLIBRARY = "{BUILD}/libstickslip.so"\nINCLUDE = ""\n'
        (tmp_path / "stickslip" / file.name).write_text(text)
    run = subprocess.run([sys.executable, "-c", "import stickslip"], env={**os.environ, "PYTHONPATH": str(tmp_path)},
                         capture_output=True, text=True)
    assert run.returncode != 0 and "0.0.7" in run.stderr and "build both together" in run.stderr
