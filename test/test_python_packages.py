"""The Python package as people get it: installed by CMake, and as a wheel in a plain virtual environment."""
import os
import re
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

SOURCE, BUILD = Path(os.environ["SS_SOURCE_DIR"]), Path(os.environ["SS_BUILD_DIR"])
SYSTEM = re.compile(r"^(linux-vdso|libc|libm|libgcc_s|libdl|libpthread|librt|libresolv)\.so")
PROGRAM = """
import numpy as np, stickslip as ss
assert ss.__file__.startswith({root!r}), ss.__file__
assert str(ss.library_path()).startswith({root!r}), ss.library_path()
ball = ss.Frame.from_arrays(h=0.01, bodies={{"mass": [1.0], "inertia": [np.eye(3)], "force": [[0, 0, -9.81, 0, 0, 0]]}},
                            contacts={{"pair": [[ss.WORLD, 0]], "point": [[0, 0, 0]], "normal": [[0, 0, 1]], "mu": 0.5}})
with ss.Recorder("ball.h5") as recorder:  # through HDF5
    recorder.write(ball)
result = ss.solve(ss.open("ball.h5")[0], "lemke", formulation="stewart-trinkle")  # through the BLAS
print(result.status, result.normal_impulse.round(4), ss.__version__)
"""


def clean_environment(**more):
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "SS_", "LD_", "STICKSLIP_"))}
    return {**kept, **more}


def runs(python, root, tmp_path, **environment):
    out = subprocess.run([str(python), "-c", PROGRAM.format(root=str(root))], cwd=tmp_path, env=clean_environment(**environment),
                         capture_output=True, text=True)
    assert out.returncode == 0, out.stderr
    return out.stdout


def builds_c(python, tmp_path, **environment):
    """A C program is built with the flags that the package prints, and runs."""
    flags = subprocess.run([str(python), "-m", "stickslip", "--cflags", "--libs"], env=clean_environment(**environment),
                           check=True, capture_output=True, text=True).stdout.split()
    subprocess.run(["cc", str(SOURCE / "test/install/consumer.c"), *flags, "-o", str(tmp_path / "consumer")], check=True)
    return subprocess.run([tmp_path / "consumer"], check=True, capture_output=True, text=True, env=clean_environment()).stdout


def test_installed_by_cmake(tmp_path):
    prefix = tmp_path / "usr"
    subprocess.run(["cmake", "--install", str(BUILD), "--prefix", str(prefix)], check=True, stdout=subprocess.DEVNULL)
    moved = tmp_path / "elsewhere"  # all paths in it are relative
    prefix.rename(moved)
    path = {"PYTHONPATH": str(moved / "lib/python3/dist-packages")}
    assert runs(sys.executable, moved, tmp_path, **path).startswith("converged [0.0981]")
    assert builds_c(sys.executable, tmp_path, **path).startswith("stickslip ")


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    for tool in ("patchelf", "readelf", "strip"):
        if not shutil.which(tool):
            pytest.skip(f"{tool} is not installed")
    folder = tmp_path_factory.mktemp("dist")
    subprocess.run([sys.executable, str(SOURCE / "tools/wheel"), str(BUILD), str(folder)], check=True)
    (made,) = folder.glob("*.whl")
    return made


def test_the_wheel_runs_in_a_plain_environment(wheel, tmp_path):
    assert re.fullmatch(r"stickslip-[\d.]+-py3-none-manylinux_2_\d+_\w+\.whl", wheel.name)
    home = tmp_path / "venv"
    made = subprocess.run([sys.executable, "-m", "venv", "--system-site-packages", str(home)], capture_output=True, text=True)
    if made.returncode:
        pytest.skip("python3-venv is not installed")
    subprocess.run([home / "bin/pip", "install", "-q", "--no-index", "--no-deps", str(wheel)], check=True, env=clean_environment())
    assert runs(home / "bin/python", home, tmp_path).startswith("converged [0.0981]")
    assert builds_c(home / "bin/python", tmp_path).startswith("stickslip ")
    # the program is in it, too, and has the exit codes it always has
    for command in ([home / "bin/stickslip"], [home / "bin/python", "-m", "stickslip"]):
        said = subprocess.run([*command, "info", "ball.h5", "--json"], cwd=tmp_path, capture_output=True, text=True)
        assert said.returncode == 0 and '"bodies":1' in said.stdout
        assert subprocess.run([*command, "info", "missing.h5"], cwd=tmp_path, capture_output=True).returncode == 3


def test_the_wheel_needs_nothing_of_the_machine_but_its_c_library(wheel, tmp_path):
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(tmp_path)
        names = archive.namelist()
    assert {"stickslip/py.typed", "stickslip/_abi.py", "stickslip/include/stickslip/stickslip.h"} <= set(names)
    assert any("licenses/bundled/" in name for name in names)
    outside = set()
    for file in (tmp_path / "stickslip/lib").iterdir():
        for name, where in re.findall(r"(\S+) => (.*?)(?: \(0x\w+\))?\n", subprocess.run(
                ["ldd", str(file)], capture_output=True, text=True, env=clean_environment()).stdout):
            if not where.startswith(str(tmp_path)) and not SYSTEM.match(name):
                outside.add(f"{file.name}: {name} => {where}")
    assert not outside


def test_types_are_right():
    """mypy has nothing to say about the package."""
    if not shutil.which("mypy", path="/usr/bin"):
        pytest.skip("mypy is not installed")
    out = subprocess.run(["/usr/bin/mypy", "--python-executable", sys.executable, "--cache-dir", os.devnull,
                          "--config-file", str(SOURCE / "bindings/python/mypy.ini"), "-p", "stickslip"],
                         cwd=BUILD / "python", capture_output=True, text=True, env=clean_environment())
    assert out.returncode == 0, out.stdout + out.stderr
