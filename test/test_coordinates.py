"""Frames of trees on the command line: what is converted and solved in minimal coordinates is what it is in maximal ones."""
import pytest
import scipy.io

from test_cli import here, run, run_json


def test_problems_of_a_tree_are_the_same_in_both_coordinates(here):
    """A machine on four legs. Its joints and springs are unknowns in maximal coordinates, which `lcp` solves for; in minimal
    ones they are none. What is left is the same problem of its feet; joints eliminated lose as many digits as A has."""
    run("run", "quadruped", "--steps", 3, "--coordinates", "minimal", "--record", "feet.h5", "--quiet")
    problems = {}
    for kind in ("maximal", "minimal"):
        run("convert", "feet.h5", f"{kind}.lcp", "--to", "lcp", "--frame", 2, "--with", f"coordinates={kind}")
        problems[kind] = [scipy.io.mmread(f"{kind}.lcp_{name}.mtx") for name in "Ab"]
    for ours, theirs in zip(problems["minimal"], problems["maximal"]):
        ours, theirs = (getattr(m, "toarray", lambda m=m: m)() for m in (ours, theirs))
        assert ours.shape == theirs.shape and abs(ours - theirs).max() < 1e-7 * abs(theirs).max()


@pytest.mark.parametrize("formulation", ["stewart-trinkle", "anitescu-potra", "box", "cone", "convex", "frictionless"])
def test_every_law_moves_a_tree_alike_in_both_coordinates(here, formulation):
    run("run", "quadruped", "--steps", 2, "--coordinates", "minimal", "--record", "feet.h5", "--quiet")
    change = []
    for kind in ("maximal", "minimal"):
        solved = run_json("solve", "feet.h5", "--frame", 1, "-f", formulation, "--with", f"coordinates={kind}", "--stop",
                          "relative_energy<1e-10")["frames"][0]
        assert solved["status"] == "converged" and solved["metrics"]["momentum"]["value"] < 1e-20
        change.append(solved["metrics"]["kinetic_energy_change"]["value"])
    assert change[0] == pytest.approx(change[1], rel=1e-7)  # the energy error of the stop rule, as a root


def test_an_exported_tree_names_what_is_part_of_map_and_mass(here):
    run("run", "quadruped", "--steps", 1, "--coordinates", "minimal", "--record", "feet.h5", "--quiet")
    minimal = run("convert", "feet.h5", "feet.fclib", "--to", "fclib-global", "--with", "coordinates=minimal").stderr
    assert "joints of trees only as the map T (40 rows)" in minimal
    assert "springs, dampers and rotors of trees only as part of M and f (8 rows)" in minimal
    assert "regularisation" not in minimal and "do not move" not in minimal
    maximal = run("convert", "feet.h5", "other.fclib", "--to", "fclib-global").stderr
    assert "regularisation of rows is omitted (8)" in maximal


def test_the_flat_layout_keeps_a_tree_as_bodies_and_joints(here):
    """It has no place for coordinates; without them the frame of a cart, whose joints have no springs, is the same problem."""
    run("run", "cart", "--steps", 3, "--coordinates", "minimal", "--record", "feet.h5", "--quiet")
    said = run("convert", "feet.h5", "flat.h5", "--to", "bpmd-flat").stderr
    assert "generalised coordinates, which the flat layout cannot hold" in said
    run("check", "flat.h5")
    change = [run_json("solve", name, "--frame", 2, "--stop", "relative_energy<1e-10")["frames"][0]["metrics"]
              ["kinetic_energy_change"]["value"] for name in ("feet.h5", "flat.h5")]
    assert change[0] == pytest.approx(change[1], rel=1e-7)
    refused = run("solve", "flat.h5", "--frame", 2, "--with", "coordinates=minimal", code=None)
    assert refused.returncode != 0 and "coordinates" in refused.stderr
