"""tools/how-wrong: one row per engine and setting, with the numbers that `judge` gives, and recordings of others beside them."""
import csv
import shutil
import subprocess

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
