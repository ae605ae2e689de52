"""What a person sees in a terminal of 80 columns: tables and progress that fit, names that complete."""
import fcntl
import os
import pty
import re
import select
import shutil
import signal
import struct
import subprocess
import termios
import time

import pytest

from test_cli import DONE, PROGRAM, USAGE, VERBS, complete, run, run_json

COLUMNS = 80


def in_terminal(*arguments, columns=COLUMNS, interrupt_after=None):
    """The lines that the program shows in a terminal, and its exit status; a line that is overwritten counts as many."""
    pid, terminal = pty.fork()
    if pid == 0:
        fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", 50, columns, 0, 0))
        os.execve(PROGRAM, [PROGRAM, *map(str, arguments)], {**os.environ, "TERM": "xterm"})
    shown = b""
    try:
        while part := os.read(terminal, 4096):
            shown += part
            if interrupt_after and interrupt_after in shown:
                os.write(terminal, b"\x03")
                interrupt_after = None
    except OSError:  # how Linux says that the other side closed
        pass
    status = os.waitpid(pid, 0)[1]
    os.close(terminal)
    plain = re.sub(r"\x1b\[[0-9;]*[mK]", "", shown.decode())
    return [line.rstrip("\r") for line in re.split(r"\r?\n|\r(?!\n)", plain)], status


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    directory = tmp_path_factory.mktemp("terminal")
    run("run", "brick-wall", "--steps", 30, "--every", 10, "--record", "wall.h5", cwd=directory)
    run("run", "cart", "--steps", 20, "--every", 10, "--record", "cart.h5", cwd=directory)
    run("bench", "wall.h5", "cart.h5", "-s", "nsgs,auto,lemke", "-f", "cone,box", "-o", "r.db", cwd=directory)
    return directory


EVERYTHING = [*[[verb, "--help"] for verb in VERBS if verb != "man"],
              *[["help", verb] for verb in ("run", "bench")], ["scenes"], ["solvers"], ["solvers", "--table"],
              ["solvers", "nsgs"], ["solvers", "pgs", "--test", "--quick"], ["formulations"], ["formulations", "cone"], ["metrics"], ["metrics", "energy"],
              ["scenes", "belt"], ["paper"], ["paper", "rod"], ["info", "wall.h5"], ["info", "cart.h5", "--frame", "1"],
              ["check", "wall.h5"], ["judge", "wall.h5"], ["judge", "cart.h5", "--frame", "1"],
              ["solve", "wall.h5"], ["solve", "wall.h5", "-s", "pgs", "--iterations", "50"],
              ["solve", "cart.h5", "--frame", "1", "--explain"], ["run", "log-pile", "--steps", "20"], ["report", "r.db"],
              ["run", "no-such-scene"], ["solve", "wall.h5", "-s", "no-such-solver"], ["solve", "nothing.h5"]]


@pytest.mark.parametrize("arguments", EVERYTHING, ids=" ".join)
def test_no_line_is_longer_than_the_terminal(files, monkeypatch, arguments):
    monkeypatch.chdir(files)
    lines, _ = in_terminal(*arguments)
    assert len(lines) > 1
    assert [line for line in lines if len(line) > COLUMNS] == []


def test_what_has_no_room_is_named_and_comes_back_in_a_wider_terminal(files, monkeypatch):
    monkeypatch.chdir(files)
    narrow, wide = (in_terminal("solve", "wall.h5", columns=columns)[0] for columns in (80, 160))
    assert any("no room for creep [m/s], penetration [m]" in line for line in narrow)
    assert not any("no room" in line for line in wide) and any("penetration [m]" in line for line in wide)


def test_words_of_a_table_are_wrapped_in_their_column(files, monkeypatch):
    lines, _ = in_terminal("solvers")
    start = lines[0].index("summary")
    further = [line for line in lines[1:40] if line.startswith(" " * start)]
    assert further and all(line[start] != " " for line in further)
    told = " ".join(" ".join(lines).split())
    for solver in run_json("solvers")["solvers"]:
        assert solver["summary"] in told  # no word is lost


def test_files_are_not_cut(files, monkeypatch):
    monkeypatch.chdir(files)
    assert max(map(len, run("info", "wall.h5").stdout.splitlines())) > COLUMNS
    assert "no room" not in run("solve", "wall.h5").stdout


def test_progress_fits_and_says_how_long_it_takes():
    lines, status = in_terminal("run", "sphere-pile", "--steps", 100000, interrupt_after=b" left")
    bars = [line for line in lines if line.startswith("sphere-pile [")]
    assert bars and all(len(line) < COLUMNS for line in bars)
    assert any(re.search(r"\d+/100000, \S+ \w+ left, \d+ contacts", line) for line in bars)
    assert os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGINT
    assert any(line.startswith("  energy ") for line in lines)  # the summary of what was done until then


def test_states_have_colours():
    pid, terminal = pty.fork()
    if pid == 0:
        os.execve(PROGRAM, [PROGRAM, "paper", "rod"], {**os.environ, "TERM": "xterm", "NO_COLOR": ""})
    shown = b""
    try:
        while part := os.read(terminal, 4096):
            shown += part
    except OSError:
        pass
    os.waitpid(pid, 0)
    os.close(terminal)
    assert b"\x1b[32mreproduced" in shown


# ---- the same thing has the same name everywhere -------------------------------------------------------------

def test_options_that_mean_the_same_have_the_same_name():
    heads = {verb: run("help", verb).stdout for verb in ("run", "solve", "bench")}
    for verb, text in heads.items():
        for flag in (r"-s, --solver", r"-f, --formulation", "--iterations N", "--stop RULE", "--tol T", "--set ", "--with "):
            assert re.search(rf"^  {flag}", text, re.M), f"{verb} lacks {flag}"


def test_a_tolerance_is_short_for_a_stop_rule(files, monkeypatch):
    monkeypatch.chdir(files)
    by_tolerance = run_json("solve", "cart.h5", "--tol", "1e-6")
    by_rule = run_json("solve", "cart.h5", "--stop", "relative_energy<1e-6")
    assert by_tolerance["stop"].startswith("relative_energy<") and float(by_tolerance["stop"].split("<")[1]) == 1e-6
    assert [frame["iterations"] for frame in by_tolerance["frames"]] == [frame["iterations"] for frame in by_rule["frames"]]
    summary = run_json("run", "sliding-block", "--steps", 3, "--tol", "1e-7")
    assert float(re.search(r"stop=relative_energy<(\S+)", summary["options"])[1]) == 1e-7


# ---- completion ----------------------------------------------------------------------------------------------

def test_bash_completes_scenes_lists_and_letters(files, monkeypatch):
    monkeypatch.chdir(files)
    assert complete("run", "brick") == ["brick-wall"] and complete("scenes", "l-s") == ["l-slot", "l-stack"]
    assert complete("bench", "x", "-s", "pgs,ns") == ["pgs,nsgs"]
    assert complete("solve", "x", "-f", "stew") == ["stewart-trinkle"] and complete("solve", "x", "-s", "nsg") == ["nsgs"]
    assert complete("run", "--finisher", "interior") == ["interior-point"]
    assert complete("report", "r.") == ["r.db"] and complete("solve", "wa") == ["wall.h5"]
    assert complete("completion", "") == ["bash", "zsh", "fish"]


@pytest.mark.skipif(not shutil.which("fish"), reason="fish is not installed")
def test_fish_completes(files, monkeypatch):
    monkeypatch.chdir(files)

    def offers(line):
        script = f"'{PROGRAM}' completion fish | source; complete -C '{line}'"
        ended = subprocess.run(["fish", "--no-config", "-c", script], capture_output=True, text=True, check=True,
                               env={**os.environ, "HOME": str(files)}, timeout=60)
        assert ended.stderr == ""
        return [one.split("\t")[0] for one in ended.stdout.splitlines()]
    assert offers("stickslip chec") == ["check"] and offers("stickslip run brick") == ["brick-wall"]
    assert offers("stickslip bench x -s pgs,nsg") == ["pgs,nsgs"] and offers("stickslip solve wa") == ["wall.h5"]
    assert "--formulation" in offers("stickslip solve --form") and offers("stickslip convert --to bpmd-") == ["bpmd-flat"]


@pytest.mark.skipif(not shutil.which("zsh"), reason="zsh is not installed")
def test_zsh_completes(files, monkeypatch):
    """zsh completes at a prompt only: what stands there after the Tab key."""
    monkeypatch.chdir(files)
    (files / "_stickslip").write_text(run("completion", "zsh").stdout)

    def await_text(terminal, wanted, shown=""):
        end = time.monotonic() + 30
        while wanted not in shown and time.monotonic() < end:
            if select.select([terminal], [], [], 0.2)[0]:
                shown += os.read(terminal, 65536).decode(errors="replace")
        assert wanted in shown, shown
        return shown
    for line, completed in [("chec", "check "), ("run brick", "brick-wall "), ("bench x -s pgs,nsg", "pgs,nsgs"),
                            ("convert a b --to bpmd-", "bpmd-flat "), ("solve wal", "wall.h5 ")]:
        pid, terminal = pty.fork()
        if pid == 0:
            os.execvpe("zsh", ["zsh", "-f", "-i"], {**os.environ, "TERM": "dumb", "HOME": str(files)})
        os.write(terminal, b"PS1='rea''dy '; fpath=($PWD $fpath); autoload -Uz compinit; compinit -u -D\n")
        await_text(terminal, "ready ")
        os.write(terminal, b"stickslip " + line.encode() + b"\t")
        shown = await_text(terminal, completed)
        assert "stickslip" in shown
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
        os.close(terminal)


def test_an_unknown_shell_is_refused():
    assert "expected bash, zsh, fish" in run("completion", "powershell", code=USAGE).stderr
    assert run("completion", "zsh", code=DONE).stdout.startswith("#compdef stickslip")
