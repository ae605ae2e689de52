"""The tutorials run as scripts, and as notebooks whose output survives nbconvert."""
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

SOURCE = Path(os.environ["SS_SOURCE_DIR"])
TUTORIALS = sorted((SOURCE / "docs/tutorials").glob("*.py"))
NAMES = [path.stem for path in TUTORIALS]


@pytest.mark.parametrize("path", TUTORIALS, ids=NAMES)
def test_a_tutorial_runs_as_a_script(path, tmp_path):
    pytest.importorskip("matplotlib")
    pytest.importorskip("pandas")
    run = subprocess.run([sys.executable, "-W", "error::UserWarning", path], cwd=tmp_path, capture_output=True, text=True,
                         env={**os.environ, "MPLBACKEND": "Agg"})
    assert run.returncode == 0, run.stderr


# first_solver is opened in Chromium: web/test/notebook.test.mjs
@pytest.mark.parametrize("name", [name for name in NAMES if name != "first_solver"])
def test_a_tutorial_runs_as_a_notebook(name, tmp_path):
    for module in ("matplotlib", "pandas", "ipykernel"):
        pytest.importorskip(module)
    nbformat, nbclient, nbconvert = (pytest.importorskip(module) for module in ("nbformat", "nbclient", "nbconvert"))
    subprocess.run([sys.executable, SOURCE / "tools/notebook", *TUTORIALS, "-o", tmp_path], check=True)
    notebook = nbformat.read(tmp_path / f"{name}.ipynb", 4)
    nbformat.validate(notebook)
    assert not any(cell.get("outputs") for cell in notebook.cells)
    nbclient.NotebookClient(notebook, timeout=120, resources={"metadata": {"path": str(tmp_path)}}).execute()
    page, _ = nbconvert.HTMLExporter().from_notebook_node(notebook)
    assert page.count("<iframe srcdoc=") == 1 and len(nbformat.writes(notebook)) < 5e6
    assert "Traceback" not in page


def test_tutorials_name_each_other_and_existing_pages():
    for path in TUTORIALS:
        for target in re.findall(r"\]\(([^)#]+)[^)]*\)", path.read_text()):
            assert (path.parent / target).exists(), f"{path.name}: {target}"


def test_notebooks_are_the_same_every_time_and_mistakes_are_told(tmp_path):
    for folder in ("a", "b"):
        subprocess.run([sys.executable, SOURCE / "tools/notebook", TUTORIALS[0], "-o", tmp_path / folder], check=True)
    name = f"{TUTORIALS[0].stem}.ipynb"
    assert (tmp_path / "a" / name).read_bytes() == (tmp_path / "b" / name).read_bytes()
    (tmp_path / "bad.py").write_text("# %% [markdown]\nnot a comment\n")
    run = subprocess.run([sys.executable, SOURCE / "tools/notebook", tmp_path / "bad.py", "-o", tmp_path], capture_output=True,
                         text=True)
    assert run.returncode != 0 and "not a comment" in run.stderr
