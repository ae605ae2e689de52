"""Defaults that documents and headers state are those of the option tables."""
import json
import os
import re
import subprocess
from pathlib import Path

import pytest

SOURCE = Path(__file__).resolve().parent.parent
PROGRAM = os.environ.get("SS_PROGRAM", str(SOURCE / "build" / "release" / "stickslip"))


def say(*arguments):
    return subprocess.run([PROGRAM, *arguments], capture_output=True, text=True, check=True).stdout


def rows(page, first, second):
    """The rows of every table of a page whose columns `first` and `second` are there, as pairs of cells."""
    head = None
    for line in (SOURCE / "docs" / page).read_text().splitlines():
        cells = [cell.strip() for cell in line.strip().strip("|").split("|")] if line.startswith("|") else None
        if not cells:
            head = None
        elif head is None:
            head = cells
        elif first in head and second in head and not set(cells[0]) <= set("-: "):
            yield cells[head.index(first)], cells[head.index(second)]


def same(stated, table):
    """1e5 and 100000 are the same, and so are inf and inf; a unit may follow."""
    word = stated.strip("` ").split(" ")[0].strip("`")
    try:
        return float(word) == float(table)
    except ValueError:
        return word == table


def test_formulations_md_states_the_defaults():
    formulations = json.loads(say("formulations", "--json"))["formulations"]
    compared = 0
    for name, stated in rows("formulations.md", "option", "default"):
        name = name.strip("`")
        other = re.search(r"\(`?([^`()\s]+)`?(?: m)? for `([a-z-]+)`\)", stated)
        for formulation in formulations:
            for option in formulation["options"]:
                if option["name"] != name:
                    continue
                exception = other and other[2] == formulation["name"]
                assert same(other[1] if exception else stated, option["default"]), (formulation["name"], name)
                compared += 1
    assert compared >= 7 * 9  # the step of every formulation


def flags(verb):
    """name: default, of the help text."""
    text = re.sub(r"\n      ", " ", say(verb, "--help"))
    found = re.findall(r"^  (?:-\w, )?--([\w-]+).*? Default: (.*?)\.?$", text, re.M)
    return {name.replace("-", "_"): value for name, value in found}


def test_campaigns_md_states_the_defaults_of_bench():
    defaults = flags("bench")
    compared = 0
    for names, stated in rows("campaigns.md", "key", "default"):
        values = [value.strip() for value in stated.split(";")]
        for name, value in zip((name.strip("` ") for name in names.split(",")), values):
            if name in defaults and value != "none":
                assert same(value, defaults[name]), name
                compared += 1
    assert compared >= 6


@pytest.mark.parametrize("member", ["formulation", "solver", "stop"])
def test_sim_h_states_the_defaults_of_run(member):
    header = (SOURCE / "include" / "stickslip" / "sim.h").read_text()
    options = header[header.index("typedef struct ss_sim_options"):header.index("} ss_sim_options;")]
    (stated,) = re.findall(rf"const char \*{member};[^\n\"]*\"([^\"\n]+)\"", options)
    assert stated == flags("run")[member]
