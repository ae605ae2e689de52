"""Ledgers from outside: the verbs export and merge, the documentation, and a writer that is killed. The ledgers are made up
by the program test_ledger; what is in them is read with Python's own sqlite3, csv and json."""
import csv
import io
import json
import math
import os
import random
import re
import resource
import shutil
import signal
import sqlite3
import subprocess
import time
from pathlib import Path

import pytest

from test_cli import BAD_INPUT, DONE, PROGRAM, RESOURCES, SOURCE, USAGE, here, run, run_json

FOUND = 1
MAKER = Path(os.environ["SS_BUILD_DIR"]) / "test/test_ledger"
PAGE = SOURCE / "docs/ledger.md"
GAUGES = ["energy", "relative_energy", "natural_residual", "fischer_burmeister", "natural_map"]
TABLES = ["machines", "problems", "methods", "runs", "metrics", "samples", "history", "crossings", "contact_errors"]
TIMES = {"seconds", "elapsed", "started"}
HANGING = {  # columns, and what tells rows of one run apart
    "metrics": (["name", "value", "worst_contact", "worst_constraint", "why"], "name"),
    "samples": (["number", "seconds", "elapsed"], "number"),
    "history": (["iteration", "seconds", *GAUGES], "iteration"),
    "crossings": (["gauge", "decade", "iteration", "seconds"], "gauge, decade"),
    "contact_errors": (["bin", "count"], "bin"),
}


def make(path, seed=0, part=0, parts=1, pace=1.0):
    subprocess.run([MAKER, "--make", path, *map(str, (seed, part, parts, pace))], check=True)
    return path


def query(path, sql):
    connection = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
    try:
        return connection.execute(sql).fetchall()
    finally:
        connection.close()


def table(path, name):
    """The lines of a CSV, each as a dictionary of texts."""
    printed = subprocess.run([PROGRAM, "export", path, "--table", name], stdout=subprocess.PIPE, check=True).stdout
    assert printed.endswith(b"\r\n")
    rows = list(csv.DictReader(io.StringIO(printed.decode(), newline=""), strict=True))
    assert all(None not in row and None not in row.values() for row in rows)  # no line too long or too short
    return rows


def value(text, stored):
    """A field as what the database has there."""
    if stored is None or text == "":
        return text or (None if stored is None else "")
    return type(stored)(text)


def exported(path):
    return json.loads(run("export", path, "--json").stdout)


@pytest.fixture
def ledger(here):
    return make("results.db", seed=3, pace=0.5)


# ---- export ----------------------------------------------------------------------------------------------------

def sorted_problems(path):
    return query(path, "SELECT id, hash, place, file, frame, scene FROM problems ORDER BY scene, file, frame, place, hash")


def sorted_runs(path):
    """Ids of runs in the order of the export."""
    order = """SELECT runs.id FROM runs JOIN problems p ON p.id = problem JOIN methods m ON m.id = method
        JOIN machines k ON k.id = machine ORDER BY p.scene, p.file, p.frame, p.place, p.hash, m.formulation, m.solver,
        m.solver_options, m.formulation_options, m.stop, m.keep, m.reference, m.iterations, m.time_limit, m.seed,
        m.plugin, m.key, k.key"""
    return [row[0] for row in query(path, order)]


def test_runs_carry_everything_by_name(ledger):
    columns = {"problem_hash": "p.hash", "place": "p.place", "file": "p.file", "frame": "p.frame", "scene": "p.scene",
               "method_key": "m.key", "formulation": "m.formulation", "formulation_options": "m.formulation_options",
               "solver": "m.solver", "solver_options": "m.solver_options", "machine_key": "k.key"}
    own = ["outcome", "message", "started", "unknowns", "iterations", "kept_iteration", "seconds", "memory", "answer",
           "steady", *GAUGES, "elapsed", "time_limit", "source"]
    columns.update({name: "runs." + name for name in own})
    stored = {row[0]: row[1:] for row in query(ledger, f"""SELECT runs.id, {', '.join(columns.values())} FROM runs
        JOIN problems p ON p.id = problem JOIN methods m ON m.id = method JOIN machines k ON k.id = machine""")}
    rows = table(ledger, "runs")
    assert len(rows) == len(stored) == 60
    for number, (row, key) in enumerate(zip(rows, sorted_runs(ledger))):
        assert row["run"] == str(number)
        assert [value(row[name], cell) for name, cell in zip(columns, stored[key])] == list(stored[key])
    assert set(rows[0]) == {"run", "label", *columns}
    assert any("\n" in row["scene"] for row in rows) and any("DROP TABLE" in row["scene"] for row in rows)


def test_labels_are_those_of_methods_and_tell_them_apart(ledger):
    methods = table(ledger, "methods")
    labels = {row["key"]: row["label"] for row in methods}
    assert len(set(labels.values())) == len(methods) == 6
    assert all(row["label"] == labels[row["method_key"]] for row in table(ledger, "runs"))


@pytest.mark.parametrize("name", ["machines", "problems", "methods"])
def test_things_are_exported_as_they_are_stored(name, ledger):
    rows = table(ledger, name)
    columns = [column for column in rows[0] if column not in (name[:-1], "label")]
    key = "hash" if name == "problems" else "key"
    stored = {row[columns.index(key)]: row for row in query(ledger, f"SELECT {', '.join(columns)} FROM {name}")}
    assert len(rows) == len(stored)
    all_columns = {row[1] for row in query(ledger, f"PRAGMA table_info({name})")}
    assert set(columns) == all_columns - {"id"}
    for number, row in enumerate(rows):
        expected = stored[row[key]]
        assert row[name[:-1]] == str(number)
        assert [value(row[column], cell) for column, cell in zip(columns, expected)] == list(expected)


@pytest.mark.parametrize("name", HANGING)
def test_what_hangs_on_runs_is_exported_as_it_is_stored(name, ledger):
    columns, order = HANGING[name]
    stored = [(str(number), *row) for number, key in enumerate(sorted_runs(ledger))
              for row in query(ledger, f"SELECT {', '.join(columns)} FROM {name} WHERE run = {key} ORDER BY {order}")]
    rows = table(ledger, name)
    assert len(rows) == len(stored) > 20
    for row, expected in zip(rows, stored):
        assert row["run"] == expected[0]
        assert [value(row[column], cell) for column, cell in zip(columns, expected[1:])] == list(expected[1:])
    if name == "metrics":
        assert {row["unit"] for row in rows if row["name"] == "creep"} == {"m/s"}
        assert math.inf in [float(row["value"] or 0) for row in rows]
        assert all((row["why"] == "") or row["value"] == "" for row in rows)


def test_json_has_the_rows_of_the_tables(ledger):
    everything = exported(ledger)
    assert list(everything) == ["schema", *TABLES]
    assert everything["schema"] == query(ledger, "PRAGMA user_version")[0][0] == 4
    for name in TABLES:
        rows = table(ledger, name)
        assert len(rows) == len(everything[name])
        for row, entry in zip(rows, everything[name]):
            assert list(row) == list(entry)
            for column, cell in entry.items():
                assert value(row[column], cell) == cell


def test_a_directory_gets_every_table(ledger):
    for attempt in range(2):  # the second time over the files of the first
        assert "9 tables" in run("export", ledger, "-o", "tables").stderr
    assert sorted(path.name for path in Path("tables").iterdir()) == sorted(f"{name}.csv" for name in TABLES)
    for name in TABLES:
        printed = subprocess.run([PROGRAM, "export", ledger, "-t", name], stdout=subprocess.PIPE, check=True).stdout
        assert Path(f"tables/{name}.csv").read_bytes() == printed
    run("export", ledger, "-o", "one", "--table", "runs", "--quiet")
    assert [path.name for path in Path("one").iterdir()] == ["runs.csv"]


def test_only_times_depend_on_when_and_in_which_order_things_ran(here):
    make("a.db", seed=0, pace=0.5), make("b.db", seed=9, pace=0.8)
    a, b = exported("a.db"), exported("b.db")
    assert a != b
    for name in TABLES:
        for row in a[name] + b[name]:
            row.update(dict.fromkeys(TIMES, 0))
    assert a == b


def test_mistakes_are_told(ledger):
    assert "did you mean history?" in run("export", ledger, "--table", "histroy", code=USAGE).stderr
    assert "expected machines, problems" in run("export", ledger, "--table", "x", "-o", "new", code=USAGE).stderr
    assert not Path("new").exists()
    run("export", ledger, code=USAGE)
    run("export", ledger, "--json", "--table", "runs", code=USAGE)
    assert "missing.db: cannot be read" in run("export", "missing.db", "--json", code=BAD_INPUT).stderr
    Path("text.db").write_text("nothing of the kind, but longer than the header of a database " * 9)
    assert "text.db: not a ledger" in run("export", "text.db", "--json", code=BAD_INPUT).stderr
    assert "but a SQLite database (a ledger?)" in run("view", ledger, "-o", "page.html", code=BAD_INPUT).stderr
    Path("file").write_text("")
    assert "file: cannot be created" in run("export", ledger, "-o", "file", code=RESOURCES).stderr
    with open("/dev/full", "w") as full:
        assert "No space" in run("export", ledger, "--json", stdout=full, code=RESOURCES).stderr


HOSTILE = {
    "the trigger endless": """CREATE TRIGGER endless AFTER INSERT ON machines BEGIN
        DELETE FROM runs WHERE id IN (WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i FROM n); END""",
    "the view runs": """ALTER TABLE runs RENAME TO moved; CREATE VIEW runs AS
        WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT moved.* FROM moved, n""",
    "the generated column runs.slow": "ALTER TABLE runs ADD COLUMN slow TEXT AS (hex(zeroblob(400000000)))",
}


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_ledger_is_refused_by_every_verb(name, ledger):
    make("mine.db")
    connection = sqlite3.connect(ledger)
    connection.executescript("DROP VIEW IF EXISTS results; " + HOSTILE[name])
    connection.close()
    before = Path(ledger).read_bytes()
    for words in (["export", ledger, "--json"], ["report", ledger, "-o", "page.html"], ["merge", "mine.db", ledger],
                  ["merge", ledger, "mine.db"], ["bench", "--solvers", "pgs", "-o", ledger, "none.h5"]):
        assert f"refused: {name} does not belong in a ledger" in run(*words, code=BAD_INPUT).stderr, words
    assert Path(ledger).read_bytes() == before and not Path("page.html").exists()


# ---- merge -----------------------------------------------------------------------------------------------------

def test_parts_become_the_whole(here):
    make("whole.db")
    parts = [make(f"part{i}.db", seed=i + 5, part=i, parts=4) for i in range(4)]
    printed = run("merge", "all.db", *parts[:3]).stdout
    assert printed.splitlines() == [f"{part}: 15 added, 0 already present, 0 differing" for part in parts[:3]]
    told = run_json("merge", "all.db", "part3.db", "part0.db")
    assert told["files"] == [
        {"file": "part3.db", "added": 15, "already_there": 0, "differing": 0, "first_differing": None},
        {"file": "part0.db", "added": 0, "already_there": 15, "differing": 0, "first_differing": None}]
    assert exported("all.db") == exported("whole.db")
    assert not list(Path().glob("*-wal")) and not list(Path().glob("*-shm"))


def test_answers_that_differ_are_found(here):
    make("a.db"), make("b.db")
    connection = sqlite3.connect("b.db")
    connection.execute("UPDATE runs SET answer = 'other' WHERE id = 4")
    connection.commit()
    connection.close()
    before = exported("a.db")
    printed = run("merge", "a.db", "b.db", code=FOUND).stdout
    assert "b.db: 0 added, 59 already present, 1 differing" in printed and "first: b.h5 /sim" in printed
    assert exported("a.db") == before


def test_merging_refuses_what_is_no_ledger_before_it_makes_anything(ledger):
    Path("text.db").write_text("nothing of the kind, but longer than the header of a database " * 9)
    assert "text.db: not a ledger" in run("merge", "new.db", ledger, "text.db", code=BAD_INPUT).stderr
    assert not Path("new.db").exists()
    assert "the same ledger" in run("merge", ledger, ledger, code=USAGE).stderr
    assert "text.db: not a ledger" in run("merge", "text.db", ledger, code=BAD_INPUT).stderr
    run("merge", ledger, code=USAGE)


def test_a_full_disk_leaves_the_ledger_as_it_was(here):
    make("a.db", part=0, parts=2), make("b.db", part=1, parts=2)
    before = exported("a.db")

    def limit():
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (100000, 100000))

    assert "a.db" in run("merge", "a.db", "b.db", code=RESOURCES, preexec_fn=limit).stderr
    assert exported("a.db") == before
    run("merge", "a.db", "b.db")
    assert len(table("a.db", "runs")) == 60


def test_a_second_writer_is_refused_and_a_reader_is_not(here):
    make("b.db")
    writer = subprocess.Popen([MAKER, "--forever", "a.db"], stdout=subprocess.PIPE, text=True)
    try:
        assert int(writer.stdout.readline()) == 1
        assert "another process is writing" in run("merge", "a.db", "b.db", code=RESOURCES).stderr
        while int(writer.stdout.readline()) < 50:
            pass
        first = len(table("a.db", "runs"))
        assert first >= 50
    finally:
        writer.kill()
        writer.communicate()
    run("merge", "a.db", "b.db")  # and now it may


# ---- killed ----------------------------------------------------------------------------------------------------

def test_a_killed_writer_loses_nothing_that_was_stored(here):
    """Killed over and over, at moments that also hit the making of the file and the moving of the WAL."""
    moments = random.Random(4)
    stored = 0
    for attempt in range(20):
        writer = subprocess.Popen([MAKER, "--forever", "a.db"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        told = [writer.stdout.readline() for _ in range(attempt % 2 * moments.randrange(60))]
        time.sleep(0.02 * moments.random())
        writer.kill()
        printed, complaints = writer.stdout.read(), writer.stderr.read()  # not communicate: it forgets what readline left
        writer.wait()
        assert complaints == ""
        complete = [line for line in told + printed.splitlines(keepends=True) if line.endswith("\n")]
        stored = int(complete[-1]) if complete else stored
        if not complete and stored == 0:
            continue  # it may not be a ledger yet
        runs = table("a.db", "runs")
        assert stored <= len(runs) <= stored + 2  # one may be stored and not yet told; so may the one of the kill before
        stored = len(runs)
    assert stored > 100
    assert query("a.db", "PRAGMA integrity_check") == [("ok",)]
    assert query("a.db", "PRAGMA foreign_key_check") == []
    counts = query("a.db", """SELECT DISTINCT (SELECT count(*) FROM history WHERE run = id),
        (SELECT count(*) FROM crossings WHERE run = id), (SELECT count(*) FROM contact_errors WHERE run = id),
        (SELECT count(*) FROM samples WHERE run = id), (SELECT count(*) FROM metrics WHERE run = id) > 20 FROM runs""")
    assert counts == [(60, 30, 20, 3, 1)]  # every run is whole
    make("b.db")
    run("merge", "a.db", "b.db")  # whoever closes it leaves one file
    assert not Path("a.db-wal").exists() and not Path("a.db-shm").exists()


# ---- the documentation -----------------------------------------------------------------------------------------

def blocks(language):
    found = re.findall(rf"^```{language}\n(.*?)^```$", PAGE.read_text(), re.M | re.S)
    assert found
    return found


def test_every_column_is_documented(ledger):
    page = PAGE.read_text()
    names = [row[0] for row in query(ledger, "SELECT name FROM sqlite_schema WHERE type = 'table'")]
    assert sorted(names) == sorted([*TABLES, "campaigns"])
    for name in names:
        assert re.search(rf"`{name}`|^### {name}$", page, re.M)
        for _, column, *_ in query(ledger, f"PRAGMA table_info({name})"):
            assert f"`{column}`" in page, f"{name}.{column}"


def test_queries_of_the_documentation_find_something(ledger):
    for sql in blocks("sql"):
        assert query(ledger, sql), sql
        if shutil.which("sqlite3"):
            shown = subprocess.run(["sqlite3", "-bail", "-readonly", ledger], input=sql, text=True, capture_output=True)
            assert shown.returncode == 0 and shown.stdout, shown.stderr
    success = query(ledger, blocks("sql")[0])
    assert success[0][-1] <= 100 and sum(row[3] for row in success) == 60
    fastest = query(ledger, blocks("sql")[2])
    assert all(row[3] == 0.55 for row in fastest)  # the median of 0.5, 0.55, 0.6


def test_programs_of_the_documentation_run(ledger):
    make("node1.db", part=0, parts=2), make("node2.db", part=1, parts=2)
    environment = {**os.environ, "PATH": f"{Path(PROGRAM).parent}:{os.environ['PATH']}"}
    for commands in blocks("console"):
        lines = [line.removeprefix("$ ") for line in commands.splitlines() if line.startswith("$ ")]
        subprocess.run(["bash", "-euo", "pipefail", "-c", "\n".join(lines)], env=environment, check=True)
    assert len(table("all.db", "runs")) == 60
    shown = subprocess.run(["/usr/bin/python3", "-c", blocks("python")[0]], capture_output=True, text=True, check=True)
    assert shown.stdout == "lemke 10\nnsgs 30\npgs 20\n"
    if not shutil.which("octave-cli"):
        pytest.skip("octave-cli is not installed (tools/setup test)")
    shown = subprocess.run(["octave-cli", "--quiet", "--norc", "--eval", blocks("octave")[0]], capture_output=True,
                           text=True)
    last = query(ledger, "SELECT max(iteration) FROM history")[0][0]
    assert shown.stdout == f"60 points, the last one at iteration {last}\n", shown.stderr
