"""The pages about the methods, docs/solvers: what the program writes on them is what the program knows."""
import json
import re
import subprocess
import sys
import xml.etree.ElementTree as ET

from test_cli import PROGRAM, SOURCE, USAGE, run

PAGES = SOURCE / "docs/solvers"


def test_heads_and_list_are_up_to_date():
    ended = subprocess.run([sys.executable, str(SOURCE / "tools/solver-pages"), "--check", "--program", PROGRAM],
                           capture_output=True, text=True)
    assert ended.returncode == 0, ended.stdout + ended.stderr


def test_every_page_says_when_to_use_a_method_and_when_it_fails():
    for page in PAGES.glob("*.md"):
        if page.name == "README.md":
            continue
        text = page.read_text()
        for part in ("**Idea.**", "```text", "**When to use it.**", "**When it fails.**"):
            assert part in text, f"{page.name}: no {part}"


def test_a_head_has_every_option_and_law():
    (solver,) = json.loads(run("solvers", "admm", "--json").stdout)["solvers"]
    head = run("solvers", "admm", "--markdown").stdout
    assert head.startswith("# admm\n") and all(law in head for law in solver["laws"])
    for option in solver["options"]:
        assert re.search(rf"^\| `{option['name']}` \| {re.escape(option['default'])} \|", head, re.M)
    assert all(line.count("|") - line.count("\\|") == 5 for line in head.splitlines() if line.startswith("| `"))


def test_a_picture_is_small_the_same_twice_and_shows_three_problems(tmp_path):
    for solver in ("minmap-newton", "pgs"):
        pictures = []
        for name in ("one.svg", "two.svg"):
            run("solvers", solver, "--convergence", tmp_path / name)
            pictures.append((tmp_path / name).read_text())
        assert pictures[0] == pictures[1] and len(pictures[0]) < 10000
        ET.fromstring(pictures[0])
        for problem in ("tower of 8 at rest (cone)", "3 towers pushed (cone)", "heavy on light, 1:125 (cone)"):
            assert problem in pictures[0]


def test_mistakes_are_explained(tmp_path):
    assert "--markdown needs SOLVER" in run("solvers", "--markdown", code=USAGE).stderr
    assert "--convergence needs SOLVER" in run("solvers", "--convergence", "a.svg", code=USAGE).stderr
    assert "is a file .svg" in run("solvers", "pgs", "--convergence", "a.pdf", code=USAGE, cwd=tmp_path).stderr
