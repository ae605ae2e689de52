"""Whole C programs in README.md and docs/*.md compile without a warning against the public headers, and run."""
import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

SOURCE = Path(__file__).resolve().parent.parent
BUILD = Path(os.environ.get("SS_BUILD_DIR", SOURCE / "build" / "release")).resolve()
PAGES = [SOURCE / "README.md", *sorted((SOURCE / "docs").glob("*.md"))]


def programs():
    for page in PAGES:
        blocks = re.findall(r"^```c\n(.*?)^```$", page.read_text(), re.M | re.S)
        for number, text in enumerate((text for text in blocks if "int main(" in text), 1):
            yield pytest.param(text, id=f"{page.name}-{number}")


def test_readme_and_api_show_programs():
    names = [parameter.id for parameter in programs()]
    assert "README.md-1" in names and "api.md-1" in names


@pytest.mark.parametrize("text", programs())
def test_program_of_the_documentation_compiles_and_runs(text, tmp_path, monkeypatch):
    if not shutil.which("cc"):
        pytest.skip("cc is not installed")
    monkeypatch.chdir(tmp_path)
    Path("program.c").write_text(text)
    command = ["cc", "-std=c17", "-Wall", "-Wextra", "-Werror", f"-I{SOURCE / 'include'}", "program.c", "-o", "program",
               f"-L{BUILD}", "-lstickslip", f"-Wl,-rpath,{BUILD}", "-lm"]
    built = subprocess.run(command, capture_output=True, text=True)
    assert built.returncode == 0, built.stderr
    subprocess.run([BUILD / "example_record_frames", "example.h5"], check=True)
    ended = subprocess.run(["./program", "example.h5"], capture_output=True, text=True, timeout=120)
    assert ended.returncode == 0, ended.stderr
