"""The checks of tools/check can fail: each finds what is planted in a small tree, and nothing in a clean one."""
import os
import shutil
import subprocess
from pathlib import Path

import pytest

CHECK = Path(__file__).resolve().parent.parent / "tools" / "check"
SETUP = CHECK.parent / "setup"

CLEAN = {
    ".clang-format": "BasedOnStyle: LLVM\n",
    "CMakeLists.txt": "project(stickslip VERSION 1.2.3 LANGUAGES C)\n",
    "CITATION.cff": "version: 1.2.3\n",
    "docs/api.md": "# Lengths\n\n`ss_length` counts, see [above](#lengths).\n",
    "include/stickslip/base.h": "#include <stddef.h>\n#define SS_API\nSS_API size_t ss_length(void);\n",
    "include/stickslip/solver.h": "#include <stickslip/base.h>\nsize_t ss_count(void);\n",
    "include/stickslip/stickslip.h": "#include <stickslip/solver.h>\n",
    "src/base/number.h": "int ss_number(void);\n",
    "src/base/words.h": "enum {\n  LOWER,\n  UPPER,\n};\nint ss_words(const char *text, int first, int last, "
                        "const char *separator,\n             int *count);\n",
    "src/frame/fields.h": "typedef struct ss_field ss_field;\nint ss_field_count(void);\n",
    "src/frame/fields.c": "struct ss_field {\n  int x;\n};\n",
    "src/solver/pgs.c": '#include "base/number.h"\n#include <stickslip/solver.h>\n\n'
                        "const ss_solver ss_solver_pgs = {0};\n",
    "src/solver/core/law.h": "int ss_law_step(void);\n",
    "src/solver/sweep/sweep.h": '#include "solver/core/law.h"\n',
    "src/solver/solvers.def": "/* the solvers */\nSS_SOLVER(pgs)\n",
    "src/metrics/metrics.def": 'SS_METRIC(energy, "energy")\n',
    "src/metrics/rows.c": "int ss_rows(void) { return set_sum(judgement, SS_METRIC_energy, 1.0); }\n",
    "src/dataset/file.c": "#include <hdf5.h>\n",
    "src/cli/cmd_info.c": "int ss_cmd_info(void);\n",
    "src/cli/verbs.def": "SS_VERB(info)\n",
}

# check, file, its text, a part of the finding
PLANTED = [
    ("layers", "src/frame/frame.c", "#include <hdf5.h>\n", "only src/dataset"),
    ("layers", "src/base/memory.c", '#include "frame/fields.h"\n', "later room frame"),
    ("layers", "src/frame/frame.c", "#include <stickslip/solver.h>\n", "belongs to room solver"),
    ("layers", "src/frame/frame.c", "#include <stickslip/stickslip.h>\n", "belongs to room solver"),
    ("layers", "src/frame/frame.c", '#include "fields.h"\n', "room/file.h"),
    ("layers", "src/frame/frame.c", '#include "stickslip/base.h"\n', "public header"),
    ("layers", "src/solver/core/law.c", '#include "solver/sweep/sweep.h"\n', "later solver/sweep"),
    ("layers", "src/solver/attic/old.c", '#include "solver/core/law.h"\n', "does not know the order"),
    ("layers", "src/attic/old.c", "int old;\n", "does not know the room attic"),
    ("layers", "include/stickslip/frame.h", "#include <hdf5.h>\n", "public header"),
    ("layers", "include/stickslip/frame.h", '#include "frame/fields.h"\n', "public header"),
    ("headers", "include/stickslip/frame.h", "size_t ss_frames(void);\n", "as c17"),
    ("headers", "include/stickslip/frame.h", "int ss_frame(int class);\n", "as c++17"),
    ("format", "src/base/memory.c", "int   x ;\n", "make format"),
    ("width", "src/base/memory.c", "/* " + 22 * "wide " + "*/\n", "115 columns"),
    ("width", "src/base/memory.c", "int\tx;\n", "tab"),
    ("torn", "include/stickslip/frame.h", "struct ss_x {\n    double\n        slop; /* m */\n};\n", "frame.h:2"),
    ("torn", "include/stickslip/frame.h", "struct ss_x {\n    double (*at)\n        [3]; /* m */\n};\n", "frame.h:2"),
    ("torn", "include/stickslip/frame.h", "struct ss_x {\n    double a,\n        b; /* m */\n};\n", "frame.h:2"),
    ("torn", "src/base/memory.h", "char *\nss_memory(void); /* all of it */\n", "memory.h:1"),
    ("names", "src/solver/names.h", "typedef struct ss_field {\n    int y;\n} ss_field;\n", "src/frame/fields.c:1"),
    ("names", "src/solver/names.h", "typedef struct {\n    int y;\n} ss_field;\n", "ss_field is defined"),
    ("names", "src/solver/names.h", "enum ss_field { A };\n", "ss_field is defined"),
    ("names", "src/solver/names.h", "typedef double ss_field[3];\n", "ss_field is defined"),
    ("names", "src/solver/names.h", "typedef int ss_field(int x, ss_number *y);\n", "ss_field is defined"),
    ("names", "src/solver/names.h", "typedef int (*ss_field)(ss_number *y);\n", "ss_field is defined"),
    ("registries", "src/solver/apgd.c", "const ss_solver ss_solver_apgd = {0};\n", "apgd is not in"),
    ("registries", "src/solver/solvers.def", "/* SS_SOLVER(pgs) */\n", "pgs is not in"),
    ("registries", "src/metrics/metrics.def", 'SS_METRIC(energy, "energy")\nSS_METRIC(cone, "cone")\n', "sets cone"),
    ("registries", "src/cli/cmd_solve.c", "int ss_cmd_solve(void);\n", "verb"),
    ("api", "include/stickslip/frame.h", "#include <stickslip/base.h>\nSS_API const char *ss_name(\n    int of);\n", ":2: ss_name"),
    ("api", "include/stickslip/frame.h", "#include <stickslip/base.h>\nextern SS_API const int ss_table[];\n", ":2: ss_table"),
    ("api", "docs/api.md", "`ss_length` counts.\n`ss_gone` is gone.\n", ":2: no public header has ss_gone"),
    ("links", "docs/more.md", "See [the API](api.md#lengths) and\n[more](gone.md).\n", ":2: gone.md: the file"),
    ("links", "docs/more.md", "See [the API](api.md#widths).\n", "api.md#widths: the page has no such heading"),
    ("paths", "docs/build.md", "Files are in " + "/home" + "/somebody/files.\n", "one machine"),
    ("versions", "CITATION.cff", "version: 1.2.4\n", "1.2.4"),
]


def run(tree, check):
    return subprocess.run([CHECK, "--root", tree, check], capture_output=True, text=True)


@pytest.fixture
def tree(tmp_path):
    for name, text in CLEAN.items():
        plant(tmp_path, name, text)
    return tmp_path


def plant(tree, name, text):
    path = tree / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def need_tools(check):
    for tool in {"format": ["clang-format"], "headers": ["cc", "c++"]}.get(check, []):
        if not shutil.which(tool):
            pytest.skip(f"{tool} is not installed")


@pytest.mark.parametrize("check", sorted({check for check, *_ in PLANTED}))
def test_clean_tree_has_no_findings(tree, check):
    need_tools(check)
    outcome = run(tree, check)
    assert (outcome.returncode, outcome.stdout) == (0, "")


@pytest.mark.parametrize("check, name, text, expected", PLANTED)
def test_planted_violation_is_found(tree, check, name, text, expected):
    need_tools(check)
    plant(tree, name, text)
    outcome = run(tree, check)
    assert outcome.returncode == 1
    assert name in outcome.stdout and expected in outcome.stdout


@pytest.mark.parametrize("required, code", [("1", 1), ("", 77)])
def test_missing_tool_is_skipped_but_fails_where_it_is_required(tree, required, code):
    plant(tree, "bin/empty", "")
    environment = {**os.environ, "PATH": str(tree / "bin"), "CI": "true", "STICKSLIP_REQUIRE_TOOLS": required}
    outcome = subprocess.run([CHECK, "--root", tree, "headers"], env=environment, capture_output=True, text=True)
    assert (outcome.returncode, "cc is not installed" in outcome.stderr) == (code, True)


@pytest.mark.parametrize("words, code", [(["--help"], 0), (["nonsense"], 2), (["library build"], 2), (["build", ""], 2)])
def test_setup_names_its_groups_and_installs_nothing_when_one_is_unknown(tree, words, code):
    outcome = subprocess.run([SETUP, *words], capture_output=True, text=True)
    assert outcome.returncode == code and "invalid variable name" not in outcome.stderr
    assert all(group in outcome.stdout + outcome.stderr for group in ("library", "build", "test", "wheel"))
