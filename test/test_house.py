"""tools/house counts what it says it counts, in a small tree whose numbers are known."""
import subprocess
from pathlib import Path

HOUSE = Path(__file__).resolve().parent.parent / "tools" / "house"

TREE = {
    "src/solver/pgs.c": '#include "solver/core/law.h"\n#include "solver/sweep/batched.h"\n\nstatic int once(int x)\n{\n'
                        "    return x;\n}\n\nint ss_pgs(void)\n{\n    // why\n    int y = once(1);\n\n    return y;\n}\n",
    "src/solver/core/law.h": "int ss_law(void);\n",
    "src/solver/core/law.c": '#include "solver/core/law.h"\n\nint ss_law(void)\n{\n    return 1;\n}\n',
    "src/solver/sweep/batched.h": '/* backend: faster */\n#include "solver/sweep/kernel.h"\nint ss_batched(void);\n',
    "src/solver/sweep/batched.c": '#include "solver/sweep/batched.h"\n' + 100 * "int long_file;\n",
    "src/solver/sweep/kernel.h": 100 * "int another_one;\n",
}


def numbers(tmp_path):
    for name, text in TREE.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    ended = subprocess.run([HOUSE, "--root", tmp_path, "solver"], capture_output=True, text=True, check=True)
    return {line.split()[0]: line.split()[1:] for line in ended.stdout.splitlines() if line.split()}


def test_a_backend_counts_by_its_header_alone(tmp_path):
    assert numbers(tmp_path)["pgs"] == ["15", "25", "4"]  # itself, law.h, law.c, batched.h; not kernel.h, batched.c


def test_helpers_that_are_used_once_are_counted(tmp_path):
    files, lines, per_file, once, per_thousand = numbers(tmp_path)["solver"][:5]
    assert (files, lines, once) == ("6", "226", "1") and float(per_file) == 38 and float(per_thousand) == 4.4


def test_blank_lines_and_comments_in_functions(tmp_path):
    blank, comment = numbers(tmp_path)["solver"][-2:]
    assert (blank, comment) == ("16.7%", "16.7%")  # one of six lines each
