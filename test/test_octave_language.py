"""The m-files of the toolbox: in the language that Octave and MATLAB share, and interrupted by Ctrl-C."""
import os
import re
import shutil
import signal
import subprocess
import time
from pathlib import Path

import pytest

TOOLBOX = Path(os.environ["SS_SOURCE_DIR"]) / "bindings" / "octave"
BUILD = Path(os.environ["SS_BUILD_DIR"]) / "octave"

# What only Octave takes, or the two take differently, outside texts and comments.
OCTAVE_ONLY = [
    (r'"', "double quotes"),
    (r"#", "# begins a comment in Octave only"),
    (r"!", "! is Octave's; ~ is both's"),
    (r"[-+*/^|&]=(?!=)", "an assignment that computes"),
    (r"\+\+|--(?=\w)|\*\*", "++, -- or **"),
    (r"\b(endif|endfor|endwhile|endfunction|endswitch|end_try_catch|unwind_protect|until|do)\b", "a word of Octave's"),
    (r"\b(printf|puts|fputs|isargout|print_usage|columns|rows|typecast_all|columns)\s*\(", "a function of Octave's"),
    (r"[)}]\s*\{|\)\s*\((?!\s*\))(?<=\)\()", "an index into what a function returns"),
]


def code_of(line):
    """The line without its texts and its comment."""
    code, in_text, i = [], False, 0
    while i < len(line):
        c = line[i]
        if in_text:
            if c == "'" and line[i + 1 : i + 2] == "'":
                i += 1
            elif c == "'":
                in_text = False
        elif c == "%":
            break
        elif c == "'" and not (code and re.match(r"[\w)\]}'.]", code[-1])):
            in_text = True
        else:
            code.append(c)
        i += 1
    assert not in_text, f"a text without its end: {line}"
    return "".join(code)


def complaints(text):
    for number, line in enumerate(text.splitlines(), 1):
        code = code_of(line)
        for pattern, what in OCTAVE_ONLY:
            if re.search(pattern, code):
                yield f"{number}: {what}: {line.strip()}"


def test_the_checker_finds_what_it_should():
    for line in ["x += 1", "printf('a')", "if a != b", 'x = "a"', "endif", "y = f(x){1}", "x++", "# a", "f(1)(2)"]:
        assert list(complaints(line)), line
    for line in ["x = a' + 'it''s #1'; % \"x\" += !", "y = x.'; z = [a' b'];", "w = {f(x), g(y)};", "f = @(x) (x + 1);"]:
        assert not list(complaints(line)), line


@pytest.mark.parametrize("path", sorted(TOOLBOX.glob("*/**/*.m"), key=str), ids=lambda p: p.name)
def test_no_file_is_for_octave_alone(path):
    found = list(complaints(path.read_text()))
    assert not found, "\n".join(found)


@pytest.mark.parametrize("path", sorted((TOOLBOX / "inst").glob("*.m")), ids=lambda p: p.name)
def test_a_function_has_the_name_of_its_file_and_help_under_it(path):
    lines = path.read_text().splitlines()
    assert re.match(rf"function (.*= )?{path.stem}(\(|$)", lines[0])
    assert lines[1].startswith("% ") and path.stem in lines[1]
    assert max(map(len, lines)) <= 130, "a line beyond 130 columns"


@pytest.mark.skipif(not (BUILD / "stickslip_mex.mex").exists(), reason="no MEX function in the build (tools/setup test)")
def test_ctrl_c_ends_a_long_run(tmp_path):
    if not shutil.which("octave-cli"):
        pytest.skip("octave-cli is not installed (tools/setup test)")
    script = f"""
        addpath('{TOOLBOX / "inst"}', '{TOOLBOX / "test"}', '{BUILD}');
        frame = slope_frame(40, 0.3);
        disp('ready'); fflush(stdout);
        for k = 1:1000
          r = ss_solve(frame, 'jacobi', 'stop', 'none', 'iterations', 1e9);
        end
        disp('finished');"""
    run = subprocess.Popen(["octave-cli", "--quiet", "--norc", "--no-history", "--eval", script], stdout=subprocess.PIPE,
                           stderr=subprocess.PIPE, stdin=subprocess.DEVNULL, text=True)
    try:
        assert run.stdout.readline() == "ready\n"
        time.sleep(0.5)
        assert run.poll() is None
        start = time.monotonic()
        run.send_signal(signal.SIGINT)
        output, _ = run.communicate(timeout=30)
        assert "finished" not in output
        assert time.monotonic() - start < 30
    finally:
        run.kill()


def octave_blocks(page):
    return re.findall(r"^```octave\n(.*?)^```", page.read_text(), re.M | re.S)


@pytest.mark.skipif(not (BUILD / "stickslip_mex.mex").exists(), reason="no MEX function in the build (tools/setup test)")
def test_the_page_says_what_works(tmp_path):
    """The blocks of docs/octave.md, one after the other, on a stack of boxes."""
    page = Path(os.environ["SS_SOURCE_DIR"]) / "docs" / "octave.md"
    blocks = octave_blocks(page)
    assert len(blocks) >= 4
    subprocess.run([os.environ["SS_PROGRAM"], "run", "massratio", "--steps", "12", "--record", tmp_path / "stack.h5", "--quiet"],
                   check=True, stdout=subprocess.DEVNULL)
    folders = ", ".join(f"'{folder}'" for folder in [TOOLBOX / "inst", TOOLBOX / "examples", BUILD])
    script = f"addpath({folders});\n" + "\n".join(blocks) + "\nassert(numel(error_of) >= 12 && all(error_of(end - 11:end) >= 0));"
    run = subprocess.run(["octave-cli", "--quiet", "--norc", "--no-history", "--eval", script], cwd=tmp_path, text=True,
                         capture_output=True, stdin=subprocess.DEVNULL)
    assert run.returncode == 0, run.stderr
    assert "energy error" in run.stdout


@pytest.mark.skipif(not shutil.which("mkoctfile"), reason="mkoctfile is not installed (tools/setup test)")
def test_ss_build_compiles_the_function_by_the_mex_of_octave(tmp_path):
    """What MATLAB would do, by the command that both have."""
    prefix, copy = tmp_path / "usr", tmp_path / "bindings" / "octave"
    subprocess.run(["cmake", "--install", os.environ["SS_BUILD_DIR"], "--prefix", prefix], check=True, stdout=subprocess.DEVNULL)
    shutil.copytree(TOOLBOX / "src", copy / "src")
    shutil.copytree(TOOLBOX / "inst", copy / "inst")
    (tmp_path / "src" / "frame").mkdir(parents=True)
    shutil.copy(Path(os.environ["SS_SOURCE_DIR"]) / "src" / "frame" / "fields.def", tmp_path / "src" / "frame")
    script = f"cd('{copy / 'src'}'); ss_build('{prefix}'); addpath('{copy / 'inst'}'); disp(stickslip())"
    run = subprocess.run(["octave-cli", "--quiet", "--norc", "--no-history", "--eval", script], cwd=tmp_path, text=True,
                         capture_output=True, stdin=subprocess.DEVNULL)
    assert run.returncode == 0, run.stderr
    assert re.fullmatch(r"\d+\.\d+\.\d+", run.stdout.strip().splitlines()[-1])


def help_examples():
    """The code under "Example" in the help of each function."""
    for path in sorted((TOOLBOX / "inst").glob("*.m")):
        code, inside = [], False
        for line in path.read_text().splitlines()[1:]:
            if not line.startswith("%"):
                break
            if line.startswith("% Example"):
                inside = True
            elif inside and line.startswith("%   "):
                code.append(line[4:])
            elif inside:
                break
        yield path.stem, "\n".join(code)


# What the examples take for granted.
MADE_UP = {
    "my_solver": "function x = my_solver(a, b)\n  if isstruct(a), x = a.x0; else, x = lemke(a, b); end\nend",
    "my_lemke": "function z = my_lemke(A, b)\n  z = lemke(A, b);\nend",
    "my_lcp_solver": "function z = my_lcp_solver(A, b)\n  z = lemke(A, b);\nend",
    "my_jacobi": "function x = my_jacobi(problem, report)\n  x = problem.x0; report(x);\nend",
    "semilogy": "function semilogy(varargin)\nend",  # no screen
    "spy": "function spy(varargin)\nend",
}


@pytest.mark.skipif(not (BUILD / "stickslip_mex.mex").exists(), reason="no MEX function in the build (tools/setup test)")
def test_the_examples_of_the_help_run(tmp_path):
    h5py = pytest.importorskip("h5py")
    subprocess.run([os.environ["SS_PROGRAM"], "run", "massratio", "--steps", "12", "--record", tmp_path / "stack.h5", "--quiet"],
                   check=True, stdout=subprocess.DEVNULL)
    shutil.copy(tmp_path / "stack.h5", tmp_path / "problems.h5")
    with h5py.File(tmp_path / "problems.h5", "a") as file:
        file.move("simulation_000001", "simulation_00001")
        for name in list(file["simulation_00001"])[4:]:
            del file["simulation_00001"][name]
    shutil.copy(tmp_path / "stack.h5", tmp_path / "old.h5")
    for name, text in MADE_UP.items():
        (tmp_path / f"{name}.m").write_text(text)
    script = ["addpath({});".format(", ".join(f"'{f}'" for f in [TOOLBOX / "inst", TOOLBOX / "examples", BUILD, tmp_path])),
              "warning('off', 'stickslip:repair');"]
    examples = dict(help_examples())
    assert all(examples.values()), [name for name, code in examples.items() if not code]
    for name, code in examples.items():
        if name in NOT_RUN:
            continue
        script.append("clear all; frame = ss_read('stack.h5', 5); problem = ss_problem(frame, 'box');"
                      f"x = zeros(size(problem.b)); disp('{name}');\n" + code)
    (tmp_path / "all_examples.m").write_text("\n".join(script))
    run = subprocess.run(["octave-cli", "--quiet", "--norc", "--no-history", "--eval", "run('all_examples.m')"], cwd=tmp_path,
                         text=True, capture_output=True, stdin=subprocess.DEVNULL)
    assert run.returncode == 0, run.stderr + "\nlast: " + "".join(run.stdout.splitlines(True)[-3:])


NOT_RUN = {"ss_serve"}  # reads problems from its standard input
