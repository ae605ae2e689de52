"""The commands of README and docs run as they stand there, and print what is shown there."""
import os
import re
import subprocess
from pathlib import Path

import pytest

from test_cli import PROGRAM, SOURCE, here, record_example


def shell_blocks(document):
    """The ```sh blocks of a document in order, each with the ```text block right after it (or None)."""
    pattern = r"^```sh\n(.*?)^```\n(?:\n```text\n(.*?)^```$)?"
    blocks = re.findall(pattern, document.read_text(), re.M | re.S)
    return [(re.sub(r"^\$ ", "", commands, flags=re.M), shown or None) for commands, shown in blocks]


def looks_like(shown, printed):
    """A line of three dots stands for any lines."""
    pattern = "".join("(?:.*\n)*?" if line == "..." else re.escape(line) + "\n" for line in shown.splitlines())
    return re.fullmatch(pattern, printed) is not None


DOCUMENTS = [path for path in [SOURCE / "README.md", *sorted((SOURCE / "docs").glob("*.md"))]
             if path.exists() and shell_blocks(path)]


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.name)
def test_commands_in_the_documentation_run(document, here):
    """In a directory with example.h5 and the program on the PATH. What is shown right after a command is what it
    prints; ```console blocks are not run."""
    if document.name == "recording.md" and not list((Path(PROGRAM).parent / "recorders").glob("libstickslip_record_ode.so")):
        pytest.skip("built without ODE (libode-dev)")
    record_example("example.h5")
    Path("build").mkdir()
    os.symlink(Path(PROGRAM).parent, "build/release")
    environment = {**os.environ, "PATH": f"{Path(PROGRAM).parent}:{os.environ['PATH']}"}
    for commands, shown in shell_blocks(document):
        ended = subprocess.run(["bash", "-euo", "pipefail", "-c", commands], capture_output=True, text=True,
                               env=environment, timeout=120)
        assert ended.returncode == 0, commands + ended.stderr
        assert shown is None or looks_like(shown, ended.stdout), commands + ended.stdout
