"""tools/how-wrong: one row per engine and setting, with the numbers that `judge` gives, and recordings of others beside them."""
import csv
import shutil
import subprocess

import h5py

from record_kit import BUILD, metrics, recorder
from test_cli import SOURCE

PACKAGE = "libode-dev"


def test_the_page_says_what_judge_says(tmp_path):
    recorder("ode", PACKAGE)
    study = [SOURCE / "tools/how-wrong", BUILD, "-o", tmp_path / "one", "--steps", "40", "--every", "10"]
    subprocess.run([*study, "--engines", "ode", "--scenes", "grasp"], check=True, capture_output=True)
    recordings = sorted((tmp_path / "one").glob("grasp@*.h5"))
    assert [path.stem for path in recordings] == ["grasp@ODE-quickstep-100-iterations", "grasp@ODE-quickstep-20-iterations",
                                                  "grasp@ODE-step"]
    other = tmp_path / "grasp@Another engine.h5"
    shutil.copy(recordings[0], other)
    subprocess.run([*study[:3], tmp_path / "two", "--engines", "", "--scenes", "grasp", other], check=True, capture_output=True)

    with open(tmp_path / "one/how-wrong.csv") as file:
        rows = {row["name"]: row for row in csv.DictReader(file)}
    assert len(rows) == 4
    judged = metrics(recordings[1])
    row = rows["ODE quickstep, 20 iterations"]
    assert float(row["energy_max"]) == max(m["energy"] for m in judged)
    assert float(row["negative_friction"]) == sum(m["anomalous_contacts"] for m in judged)
    assert "0.16" in row["version"] and "20 iterations" in row["settings"] and int(row["frames"]) == 4
    mine = next(row for name, row in rows.items() if name.startswith("stickslip auto"))
    assert float(mine["relative_energy_max"]) <= 1e-7 < float(row["relative_energy_max"])

    page = (tmp_path / "two/how-wrong.html").read_text()
    assert "Another engine" in page and "dWorldQuickStep: 100 iterations" in page


def test_impulses_that_are_not_given_out_are_inferred_from_velocities(tmp_path):
    """A recording of ODE's direct stepper, which solves the column exactly, without its impulses: those that are found explain the
    velocities, and the answer is judged as good as it was. Without friction alone, too. The file of the user is not changed."""
    recorder("ode", PACKAGE)
    study = [SOURCE / "tools/how-wrong", BUILD, "--scenes", "column", "--steps", "24", "--every", "8"]
    subprocess.run([*study, "-o", tmp_path / "own", "--engines", "ode"], check=True, capture_output=True)
    for name, missing in [("no impulses", ("normal", "tangent")), ("no friction", ("tangent",))]:
        shutil.copy(tmp_path / "own/column@ODE-step.h5", tmp_path / f"column@{name}.h5")
        with h5py.File(tmp_path / f"column@{name}.h5", "r+") as file:
            for frame in file["simulation_000001"].values():
                for result in frame.get("solver_data", {}).values():
                    for array in missing:
                        del result[array]
    given = [tmp_path / "column@no impulses.h5", tmp_path / "column@no friction.h5"]
    bytes_before = [path.read_bytes() for path in given]
    subprocess.run([*study, "-o", tmp_path / "all", "--engines", "", *given], check=True, capture_output=True)
    assert bytes_before == [path.read_bytes() for path in given]
    with open(tmp_path / "all/how-wrong.csv") as file:
        rows = {row["name"]: row for row in csv.DictReader(file)}
    assert [rows[name]["inferred"] for name in ("no impulses", "no friction")] == ["all impulses", "friction"]
    for name in ("no impulses", "no friction"):  # the gradients stop at 1e-9 of impulses of 2 N s: some 1e-9 m/s, 1e-18 J and more
        assert float(rows[name]["momentum_max"]) < 1e-12 and float(rows[name]["energy_max"]) < 1e-9, rows[name]
    page = (tmp_path / "all/how-wrong.html").read_text()
    assert "Rows with *" in page and "no impulses: all impulses" in page
