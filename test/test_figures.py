"""Figures and tables of a report for papers: their numbers are those of the ledger, their files are what their endings say,
and they go into a document as they are."""
import csv
import json
import math
import re
import shutil
import sqlite3
import struct
import subprocess
import xml.etree.ElementTree
import zlib
from pathlib import Path

import numpy as np
import pytest

from report_numbers import GAUGES, MAIN, add_method, add_row, write_wild
from test_cli import BAD_INPUT, PROGRAM, RESOURCES, USAGE, here, run

FIGURES = ["overview", "success-rates", "outcomes", "performance-profile", "pairwise-profile", "data-profile", "work-precision", "budget-error",
           "convergence", "contact-states", "contact-errors", "bpmd", "scaling"]
TABLES = ["solvers", "recorded", "scenes", "why", "failure-list", "problems"]
MANY = ["unsolved", "reproduction", "ledgers", "trust"]  # for leaderboards: test_leaderboard.py; test_certify.py
STARTS = ["warm-starts", "drift"]  # of ledgers with several starts: test_starts.py
SVG = "{http://www.w3.org/2000/svg}"
POINTS_PER_MM = 72 / 25.4


@pytest.fixture(scope="module")
def empty(tmp_path_factory):
    """A file with the tables of a ledger."""
    directory = tmp_path_factory.mktemp("campaign")
    run("run", "sliding-block", "--steps", 4, "--record", "slide.h5", "--every", 4, cwd=directory)
    run("bench", "slide.h5", "-s", "nsgs", "-o", "results.db", cwd=directory)
    return directory / "results.db"


@pytest.fixture
def ledger(empty, here):
    shutil.copy(empty, "results.db")
    return "results.db"


@pytest.fixture
def wild(ledger):
    """Several scenes, methods and machines, and runs of every kind."""
    write_wild(ledger, 11)
    return ledger


def plant(path, costs, names=("first", "second", "third"), message=None):
    """A ledger in which method m solves problem p in costs[m][p] seconds; None: it reaches the iteration limit."""
    database = sqlite3.connect(path)
    for table in ("contact_errors", "crossings", "history", "samples", "metrics", "runs", "campaigns", "methods", "problems", "machines"):
        database.execute(f"DELETE FROM {table}")
    machine = add_row(database, "machines", key="1", cpu="x", cores=1, system="b", version="c", compiler="d", build="e")
    problems = [add_row(database, "problems", hash=f"{p:032x}", place=f"/frame{p}", file="a.h5", format="bpmd", frame=p, scene="wall", time=0.1 * p,
                        h=0.01, bodies=2, joints=0, rows=0, contacts=4, mass_ratio=1.0, density=1.0, rank_ratio=1.0, mu_least=0.5,
                        mu_most=0.5, fault=None) for p in range(len(costs[0]))]
    for row, name in zip(costs, names):
        method = add_method(database, "cone", name, "")
        for problem, cost in zip(problems, row):
            number = add_row(database, "runs", problem=problem, method=method, machine=machine, message=message,
                             outcome="max iterations" if cost is None else "converged", started="2026-01-01T00:00:00Z", unknowns=12,
                             iterations=10, kept_iteration=10, seconds=cost or 1.0, memory=None, answer="", steady=True, **dict.fromkeys(GAUGES))
            for metric, value in (("relative_energy", 0.5 if cost is None else 1e-12), ("sliding", 1.0), ("sticking", 2.0),
                                  ("anomalous_contacts", 1.0), ("resting", 3.0), ("creep", 1e-3)):
                add_row(database, "metrics", run=number, name=metric, value=value, worst_contact=None, worst_constraint=None, why=None)
    database.commit()
    database.close()


def rows_of(path):
    """The rows of a CSV by column; numbers as numbers, empty ones as None."""
    def value(text):
        try:
            return None if text == "" else float(text)
        except ValueError:
            return text
    with open(path, newline="", encoding="utf-8") as file:
        head, *rows = csv.reader(file)
    return head, [[value(cell) for cell in row] for row in rows]


def figure(ledger, name, ending="csv", *options):
    path = f"{name}.{ending}"
    run("report", ledger, "--figure", name, "-o", path, *options)
    return path


# ---- numbers -------------------------------------------------------------------------------------------------------

def test_a_planted_profile_is_found(ledger):
    """Ratios to the best by hand: first 1 2 1 1, second 2 1 - 4, third - - - 2."""
    plant(ledger, [[1e-3, 2e-3, 4e-3, 1e-3], [2e-3, 1e-3, None, 4e-3], [None, None, None, 2e-3]])
    _, rows = rows_of(figure(ledger, "performance-profile"))
    assert rows == [["first", 1, 0.75], ["first", 2, 1], ["second", 1, 0.25], ["second", 2, 0.5], ["second", 4, 0.75], ["third", 2, 0.25]]
    _, rows = rows_of(figure(ledger, "pairwise-profile"))
    assert rows == [["first", 1, 0.75], ["first", 2, 1], ["second", 1, 0.25], ["second", 2, 0.5], ["second", 4, 0.75]]
    _, rows = rows_of(figure(ledger, "data-profile"))
    assert [row[2] for row in rows if row[0] == "first"] == [0.5, 0.75, 1]
    assert math.isclose(rows[0][1], 1e-3 / 12, rel_tol=1e-12)
    _, rows = rows_of(figure(ledger, "data-profile", "csv", "--set", "effort=iterations"))
    assert rows == [["first", 10, 1], ["second", 10, 0.75], ["third", 10, 0.25]]
    _, rows = rows_of(figure(ledger, "success-rates"))
    assert [row[:6] for row in rows] == [["first", 4, 0, 0, 0, 1], ["second", 3, 1, 0, 0, 0.75], ["third", 1, 3, 0, 0, 0.25]]
    _, rows = rows_of(figure(ledger, "contact-states"))
    assert rows[0] == ["first", 0.25, 0, 0.5, 0.25]
    _, rows = rows_of(figure(ledger, "bpmd", "csv", "--set", "beside=third"))
    assert [row[:7] for row in rows] == [[name, p, f"/frame{p}", 0.1 * p, 1, 0, 2] for name in ("first", "third") for p in range(4)]
    assert rows[0][8] == 1e-3
    _, rows = rows_of(figure(ledger, "overview"))
    assert [row[:3] for row in rows] == [["first", 4, 4], ["second", 3, 4], ["third", 1, 4]] and math.isclose(rows[2][3], 2e-3)
    _, rows = rows_of(figure(ledger, "failure-list"))
    assert rows == [["max iterations", "third", 3, None], ["max iterations", "second", 1, None]]


def test_the_drawing_of_a_profile_has_its_numbers(ledger):
    """Corners of the lines, measured on the paper between the ticks."""
    plant(ledger, [[1e-3, 2e-3, 4e-3, 1e-3], [2e-3, 1e-3, None, 4e-3]])
    root = xml.etree.ElementTree.parse(figure(ledger, "performance-profile", "svg")).getroot()
    words = {node.text: node for node in root.iter(f"{SVG}text")}
    frame = next(root.iter(f"{SVG}clipPath"))[0]
    left, top, width, height = (float(frame.get(key)) for key in ("x", "y", "width", "height"))
    one, four = (float(words[tick].get("x")) for tick in ("1", "4"))
    assert one == pytest.approx(left, abs=0.011) and {"0\xa0%", "100\xa0%", "Performance profile", "first", "second"} <= set(words)
    lines = [node.get("d") for node in root.iter(f"{SVG}path") if node.get("clip-path") and node.get("fill") == "none"]
    assert len(lines) == 2

    def corners(line):
        points = [tuple(map(float, pair.split())) for pair in re.findall(r"[ML]([-\d. ]+)", line)]
        # coordinates are rounded to a hundredth of a point
        return [(round(2 ** (2 * (x - one) / (four - one)), 2), round((top + height - y) / height, 3)) for x, y in points]
    end = pytest.approx(8, abs=0.05)
    assert corners(lines[0]) == [(1, 0.75), (2, 0.75), (2, 1), (end, 1), (end, 1)]
    assert corners(lines[1]) == [(1, 0.25), (2, 0.25), (2, 0.5), (4, 0.5), (4, 0.75), (end, 0.75), (end, 0.75)]
    assert width > 150


def test_the_numbers_are_those_of_the_object(wild):
    """The page draws what --json prints; the figures say the same."""
    report = json.loads(run("report", wild, "--json").stdout)
    shown, runs = report["series"][:8], report["runs"]

    def expect(name, expected, *options):
        head, rows = rows_of(figure(wild, name, "csv", *options))
        assert rows == expected and all(len(row) == len(head) for row in rows), name

    def curves(key):
        return [[one["label"], x, y] for one in shown for x, y in zip(one["scores"][MAIN][key]["x"], one["scores"][MAIN][key]["y"])]
    expect("performance-profile", curves("profile"))
    expect("data-profile", curves("perUnknown"))
    expect("data-profile", curves("iterations"), "--set", "effort=iterations")
    expect("work-precision", [[one["label"], tolerance, score["work"]["median"], score["solved"], score["work"]["problems"]] for one in shown
                              for tolerance, score in zip(report["tolerances"], one["scores"])], "--set", "time=median")
    expect("budget-error", [[one["label"], budget, error["median"], error["count"]] for one in shown
                            for budget, error in zip(report["budgets"], one["budgets"])])
    expect("contact-states", [[one["label"], *(one["contacts"][key] for key in ("slidingBad", "slidingGood", "sticking", "open"))] for one in shown])
    expect("success-rates", [[one["label"], *(one["scores"][MAIN][key] for key in ("solved", "failed", "refused", "missing", "rate", "low", "high"))]
                             for one in shown])
    band = next(one for one in shown[0]["bands"] if one["scene"] is not None)["gauges"]["energy"]
    keys = ("iteration", "count", "mean", "deviation", "median", "low", "high", "most")
    expect("convergence", [[shown[0]["label"], *(band[key][i] for key in keys)] for i in range(len(band["iteration"]))])
    together = [one["bands"][0]["gauges"]["relative_energy"] for one in shown]
    expect("convergence", [[one["label"], *(of[key][i] for key in keys)] for one, of in zip(shown, together) for i in range(len(of["iteration"]))],
           "--set", "method=shown", "--set", "scene=all")

    def cost(k):
        return runs["cost"][MAIN][k]
    expect("scaling", [[one["label"], *(report["problems"][runs["problem"][k]][key] for key in ("scene", "file", "place")), runs["unknowns"][k], cost(k)]
                       for i, one in enumerate(shown) for k in range(len(runs["problem"])) if runs["series"][k] == i and cost(k) and runs["unknowns"][k]])

    # what became of each run
    def verdict(k):
        outcome = report["outcomes"][runs["outcome"][k]]
        if cost(k) is not None:
            return "solved"
        if outcome == "converged":
            return "not applicable" if runs["metrics"]["relative_energy"][k] is None else "too inaccurate"
        return outcome
    by_place = {(runs["series"][k], runs["problem"][k]): k for k in range(len(runs["problem"]))}
    expect("outcomes", [[one["label"], *(report["problems"][p][key] for key in ("scene", "file", "place")), verdict(by_place[i, p]),
                         runs["metrics"]["relative_energy"][by_place[i, p]], cost(by_place[i, p]), runs["iterations"][by_place[i, p]], runs["message"][by_place[i, p]]]
                        for i, one in enumerate(report["series"]) for p in range(len(report["problems"])) if (i, p) in by_place])
    _, failures = rows_of(figure(wild, "failure-list"))
    assert sum(row[2] for row in failures) == sum(verdict(k) not in ("solved", "not applicable") for k in range(len(runs["problem"])))


def test_tables_have_everything_as_csv_and_what_a_reader_needs_otherwise(wild):
    report = json.loads(run("report", wild, "--json").stdout)
    head, rows = rows_of(figure(wild, "solvers"))
    assert len(rows) == len(report["series"])
    for number, (row, one) in enumerate(zip(rows, report["series"]), 1):
        cells, score = dict(zip(head, row)), one["scores"][MAIN]
        assert (cells["rank"], cells["series"], cells["solved"], cells["factor"]) == (number, one["label"], score["solved"], score["versus"]["factor"])
        assert cells["cost, unsolved penalised [s]"] == score["cost"] and cells["energy median"] == one["metricMedian"]["energy"]
    head, rows = rows_of(figure(wild, "problems"))
    assert [dict(zip(head, row))["hash"] for row in rows] == [int(one["hash"]) if one["hash"].isdigit() else one["hash"] for one in report["problems"]]
    head, rows = rows_of(figure(wild, "scenes"))
    assert [(row[0], row[1], row[4]) for row in rows] == [(one["name"], one["problems"], one["best"][MAIN]["solved"]) for one in report["scenes"]]
    lines = Path(figure(wild, "solvers", "md", "--best", "3")).read_text().splitlines()
    assert len([line for line in lines if line.startswith("|")]) == 5 and report["series"][0]["label"] in lines[2]
    assert f" {report['series'][0]['scores'][MAIN]['solved']}/22 " in lines[2] and "results.db: 22 problems" in lines[-1]


def test_a_tolerance_and_methods_are_chosen_as_in_the_report(wild):
    report = json.loads(run("report", wild, "--json", "--main", "1e-6").stdout)
    _, rows = rows_of(figure(wild, "success-rates", "csv", "--main", "1e-6", "--best", "3"))
    assert [row[:2] for row in rows] == [[one["label"], one["scores"][report["mainTolerance"]]["solved"]] for one in report["series"][:3]]
    _, rows = rows_of(figure(wild, "success-rates", "csv", "--method", "psor"))
    labels = {one["label"] for one in json.loads(run("report", wild, "--json").stdout)["series"] if "psor" in one["label"]}
    assert {row[0] for row in rows} == labels and len(labels) > 1
    assert "did you mean" in run("report", wild, "--figure", "success-rates", "-o", "a.csv", "--method", sorted(labels)[0] + "x", code=USAGE).stderr


# ---- files ---------------------------------------------------------------------------------------------------------

@pytest.mark.parametrize("name", FIGURES)
def test_every_figure_in_every_format_and_width(wild, name):
    for width in ("85mm", "175mm"):
        svg = Path(figure(wild, name, "svg", "--width", width)).read_text()
        root = xml.etree.ElementTree.fromstring(svg)
        assert float(root.get("width").removesuffix("mm")) == float(width.removesuffix("mm"))
        text = " ".join("".join(node.itertext()) for node in root.iter(f"{SVG}text"))
        assert "nan" not in svg and "inf\"" not in svg and "results.db: 22 problems" in text and "stickslip 0." in text
        sizes = [float(node.get("font-size")) for node in root.iter(f"{SVG}text")]
        assert min(sizes) >= (6.5 if name != "outcomes" else 5)
        pdf = Path(figure(wild, name, "pdf", "--width", width)).read_bytes()
        box = re.search(rb"/MediaBox \[0 0 ([\d.]+) ([\d.]+)\]", pdf)
        assert float(box[1]) == pytest.approx(float(root.get("width")[:-2]) * POINTS_PER_MM, abs=0.01)
        assert float(box[2]) == pytest.approx(float(root.get("height")[:-2]) * POINTS_PER_MM, abs=0.02)
        png = Path(figure(wild, name, "png", "--width", width, "--dots", "100")).read_bytes()
        assert struct.unpack(">2I", png[16:24]) == (math.ceil(float(box[1]) * 100 / 72 - 1e-6), math.ceil(float(box[2]) * 100 / 72 - 1e-6))
    plain = xml.etree.ElementTree.parse(figure(wild, name, "svg", "--plain"))
    assert "results.db" not in " ".join("".join(node.itertext()) for node in plain.getroot().iter(f"{SVG}text"))
    assert Path(figure(wild, name, "tex")).stat().st_size > 200 and Path(figure(wild, name, "md")).read_text().startswith("| ")


def pixels(png):
    """Of our own PNG files: RGB, filter 2."""
    width, height = struct.unpack(">2I", png[16:24])
    at, packed = 8, b""
    while at < len(png):
        length, kind = struct.unpack(">I4s", png[at:at + 8])
        packed += png[at + 8:at + 8 + length] if kind == b"IDAT" else b""
        at += 12 + length
    rows = np.frombuffer(zlib.decompress(packed), np.uint8).reshape(height, 1 + 3 * width)
    assert (rows[:, 0] == 2).all()
    return np.cumsum(rows[:, 1:], axis=0, dtype=np.uint8).reshape(height, width, 3)


@pytest.mark.parametrize("name", ["performance-profile", "outcomes", "convergence"])
def test_picture_and_pdf_show_the_same(wild, name):
    """The PDF as poppler paints it, beside our own pixels."""
    if not shutil.which("pdftoppm"):
        pytest.skip("pdftoppm is missing (poppler-utils)")
    ours = pixels(Path(figure(wild, name, "png", "--dots", "150")).read_bytes()).astype(float)
    subprocess.run(["pdftoppm", "-r", "150", "-singlefile", figure(wild, name, "pdf"), "theirs"], check=True)
    data = Path("theirs.ppm").read_bytes()
    width, height = map(int, re.match(rb"P6\s+(\d+) (\d+)\s+255\s", data).groups())
    theirs = np.frombuffer(data[-3 * width * height:], np.uint8).reshape(height, width, 3).astype(float)
    rows, columns = min(height, ours.shape[0]), min(width, ours.shape[1])
    assert abs(height - ours.shape[0]) <= 1 and abs(width - ours.shape[1]) <= 1

    def coarse(picture):  # means over squares: pages are not whole numbers of pixels, so that lines lie up to a pixel apart
        side = 8
        whole = picture[:rows // side * side, :columns // side * side]
        return whole.reshape(rows // side, side, columns // side, side, 3).mean(axis=(1, 3))
    apart = np.abs(coarse(ours) - coarse(theirs))
    # A pixel of a line that lies in the next square is an eighth of it; a shape or a word that is missing is far more.
    assert apart.max() < 0.3 * 255 and apart.mean() < 0.02 * 255, (apart.max(), apart.mean())
    embedded = subprocess.run(["pdffonts", f"{name}.pdf"], capture_output=True, text=True, check=True).stdout.splitlines()[2:]
    assert len(embedded) == 2 and all("TrueType" in line and line.split()[-5:-2] == ["yes", "yes", "yes"] for line in embedded)
    words = subprocess.run(["pdftotext", f"{name}.pdf", "-"], capture_output=True, text=True, check=True).stdout
    assert "results.db: 22 problems" in " ".join(words.split())


def test_the_same_ledger_gives_the_same_bytes(wild):
    for ending in ("svg", "pdf", "png", "csv", "tex", "md"):
        first = Path(figure(wild, "performance-profile", ending)).read_bytes()
        assert Path(figure(wild, "performance-profile", ending)).read_bytes() == first


def test_series_look_as_on_the_page(wild):
    """Colours of the light theme, and a mark and a dash as well, so that they can be told apart in grey."""
    run("report", wild, "-o", "page.html")
    light = re.search(r"<style>(.*?)</style>", Path("page.html").read_text(), re.S)[1].split("@media")[0]
    colours = dict(re.findall(r"--([a-z][\w-]*): (#\w+);", light))
    palette = [colours[f"s{i}"] for i in range(8)]
    root = xml.etree.ElementTree.parse(figure(wild, "performance-profile", "svg")).getroot()
    lines = [node for node in root.iter(f"{SVG}path") if node.get("clip-path") and node.get("fill") == "none"]
    assert [node.get("stroke") for node in lines] == palette
    assert len({(node.get("stroke-dasharray")) for node in lines}) == 5
    drawn = {node.get("fill") for node in xml.etree.ElementTree.parse(figure(wild, "outcomes", "svg")).getroot().iter(f"{SVG}path")}
    assert {colours[f"o-{key}"] for key in ("solved", "limit", "stalled", "crashed", "refused")} <= drawn
    drawn = {node.get("fill") for node in xml.etree.ElementTree.parse(figure(wild, "contact-states", "svg")).getroot().iter(f"{SVG}path")}
    assert {colours[f"c-{key}"] for key in ("bad", "slip", "stick", "open")} <= drawn


# ---- a document ----------------------------------------------------------------------------------------------------

DOCUMENT = r"""\documentclass[twocolumn]{article}
\usepackage[margin=17.5mm,columnsep=5mm]{geometry}
\usepackage{graphicx,booktabs}
\begin{document}
\begin{figure}\includegraphics{performance-profile.pdf}\caption{One column.}\end{figure}
\begin{table}\caption{One column.}\input{solvers.tex}\end{table}
\begin{figure*}\includegraphics{outcomes.pdf}\caption{Two columns.}\end{figure*}
\begin{table*}\caption{Two columns.}\input{wide.tex}\end{table*}
\begin{table}\caption{Names.}\input{failure-list.tex}\end{table}
\end{document}
"""


def columns_of(tex):
    body = tex[tex.index("\\midrule"):tex.index("\\bottomrule")].splitlines()[1:]
    return {len(re.split(r"(?<!\\)&", line)) for line in body}


def test_a_figure_and_a_table_go_into_a_two_column_document(ledger):
    """Without editing, names with every sign that means something to TeX included. Where there is no LaTeX, by their form."""
    names = ("nsgs", "a_b & 50% #1", r"{x}^2~\y $z$ <|>", "漢字 é [q]")
    plant(ledger, [[1e-3, 2e-3, None], [None, 1e-3, 1e-4], [2e-3, None, None], [None, None, None]], names, message="100% & _more_")
    figure(ledger, "performance-profile", "pdf")
    figure(ledger, "outcomes", "pdf", "--width", "175mm", "--plain")
    run("report", ledger, "--figure", "solvers", "-o", "wide.tex", "--width", "175mm")
    for name in ("solvers", "failure-list"):
        tex = Path(figure(ledger, name, "tex")).read_text()
        plain = re.sub(r"\\[{}]", "", re.sub(r"%.*", "", re.sub(r"\\%", "", tex)))
        assert plain.count("{") == plain.count("}") and plain.count("$") - plain.count("\\$") * 2 >= 0
        (count,) = columns_of(tex)
        assert count == len(re.search(r"\{@\{\}(\w+)@\{\}\}", tex)[1])
        assert tex.isascii() or "é" in tex
    assert r"a\_b \& 50\% \#1" in Path("solvers.tex").read_text() and "[U+6F22]" in Path("solvers.tex").read_text()
    if not shutil.which("pdflatex"):
        pytest.skip("pdflatex is missing (texlive-latex-recommended): only the form of the files was checked")
    Path("paper.tex").write_text(DOCUMENT)
    built = subprocess.run(["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "paper.tex"], stdout=subprocess.PIPE, text=True, errors="replace")
    assert built.returncode == 0, built.stdout[-2000:]
    log = Path("paper.log").read_text(errors="replace")
    assert "Overfull" not in log and "Missing character" not in log, re.findall("Overfull.*|Missing char.*", log)


def test_what_to_cite(ledger):
    """Every solver and formulation of ours has an entry for all that it names, and the file is BibTeX."""
    names = [one["name"] for one in json.loads(run("solvers", "--json").stdout)["solvers"]]
    plant(ledger, [[1e-3]] * len(names), names)
    with sqlite3.connect(ledger) as database:
        formulations = [one["name"] for one in json.loads(run("formulations", "--json").stdout)["formulations"]]
        for number, formulation in enumerate(formulations, 1):
            database.execute("UPDATE methods SET formulation = ? WHERE id = (SELECT id FROM methods ORDER BY id LIMIT 1 OFFSET ?)", [formulation, number])
    run("report", ledger, "-o", "references.bib")
    text = Path("references.bib").read_text()
    assert "no entry for" not in text and text.isascii() and text.count("{") == text.count("}")
    entries = re.findall(r"^@(\w+)\{(\w+),$(.*?)^\}$", text, re.S | re.M)
    keys = [key for _, key, _ in entries]
    assert len(set(keys)) == len(keys) > 50 and keys[0] == "stickslip" and {"dolan2002", "cryer1971", "enzenhoefer2019", "anitescu1997"} <= set(keys)
    for kind, key, body in entries:
        fields = dict(re.findall(r"^  (\w+) = \{(.*)\},?$", body, re.M))
        wanted = {"article": "journal", "inproceedings": "booktitle", "book": "publisher"}.get(kind, "title")
        assert fields["author"] and fields["title"] and fields[wanted] and (key == "stickslip" or 1900 < int(fields["year"]) < 2100), key


def test_the_data_are_cited(ledger):
    """Collections by name and version, each once, and FCLIB where its problems are; names of others are text, not BibTeX."""
    run("report", ledger, "-o", "none.bib")
    assert "collection" not in Path("none.bib").read_text() and "acary2014" not in Path("none.bib").read_text()
    with sqlite3.connect(ledger) as database:
        database.execute("UPDATE problems SET collection = 'stickslip 0.1.0'")
    run("report", ledger, "-o", "ours.bib")
    assert Path("ours.bib").read_text().count("@misc{collection_stickslip_0_1_0,\n  author = {{The stickslip developers}},") == 1
    with sqlite3.connect(ledger) as database:
        database.execute("UPDATE problems SET collection = ?, format = 'fclib'", ["my_own} & 7"])
    run("report", ledger, "-o", "data.bib")
    text = Path("data.bib").read_text()
    assert "@misc{collection_my_own____7,\n  title = {Collection of frictional contact problems {my\\_own) \\& 7}}" in text
    assert "@techreport{acary2014," in text and "  institution = {INRIA},\n  number = {RT-0444}" in text
    assert text.count("{") == text.count("}")


# ---- mistakes ------------------------------------------------------------------------------------------------------

def test_figures_are_listed_without_a_ledger(here):
    listed = [line.split()[0] for line in run("report", "--figure", "list").stdout.splitlines()[1:] if line.startswith("  ") and line[2] != " "]
    assert sorted(listed) == sorted(FIGURES + TABLES + STARTS + MANY)
    page = (Path(__file__).parent.parent / "web/src/report").glob("*.ts")
    ids = set(re.findall(r'id: "([\w-]+)",\n', "".join(path.read_text() for path in page)))
    assert set(FIGURES) <= ids  # the names on the page
    offered = run("completion", "bash").stdout
    assert all(name in offered for name in FIGURES + TABLES + STARTS)


@pytest.mark.parametrize("arguments, hints", [
    (["-o", "report.doc"], ["unknown ending '.doc'", ".html", ".svg", ".pdf", ".png", ".csv", ".tex", ".md", ".json", ".bib"]),
    (["-o", "report"], ["unknown ending ''"]),
    (["-o", "a.b/report"], ["unknown ending ''"]),
    (["-o", "profile.svg"], ["no figure given", "--figure list"]),
    (["-o", "x.svg", "--figure", "performance-profil"], ["unknown figure 'performance-profil'; did you mean performance-profile?"]),
    (["-o", "x.html", "--figure", "performance-profile"], ["is written as .svg, .pdf, .png, .csv, .tex or .md"]),
    (["-o", "x.pdf", "--figure", "solvers"], ["is a table: expected .csv, .tex or .md"]),
    (["--figure", "outcomes"], ["no output given"]),
    (["-o", "x.svg", "--figure", "outcomes", "--width", "wide"], ['invalid value "wide" for --width']),
    (["-o", "x.svg", "--figure", "outcomes", "--width", "8mm"], ["expected 40mm to 1000mm"]),
    (["-o", "x.svg", "--figure", "outcomes", "--width", "nanmm"], ["expected 40mm to 1000mm"]),
    (["-o", "x.svg", "--figure", "success-rates", "--set", "a=b"], ["success-rates has no settings"]),
    (["-o", "x.svg", "--figure", "outcomes", "--set", "scene=wal"], ["unknown scene 'wal'; did you mean wall?"]),
    (["-o", "x.svg", "--figure", "data-profile", "--set", "efort=iterations"], ["data-profile has no setting 'efort'; it has effort="]),
    (["-o", "x.svg", "--figure", "data-profile", "--set", "effort=money"], ['invalid value "money" for effort: expected perUnknown|iterations']),
    (["-o", "x.svg", "--figure", "data-profile", "--set", "effort"], ["expected NAME=VALUE"]),
    (["-o", "x.svg", "--figure", "convergence", "--set", "scene=wal"], ["unknown scene 'wal'; did you mean wall?"]),
    (["-o", "x.svg", "--figure", "convergence", "--set", "error=enrgy"], ["unknown gauge 'enrgy'; did you mean energy?"]),
    (["-o", "x.svg", "--figure", "scaling", "--set", "y=crep"], ["unknown metric 'crep'; did you mean creep?"]),
    (["-o", "x.svg", "--figure", "bpmd", "--set", "method=secnd"], ["unknown method 'secnd'; did you mean second?"]),
    (["-o", "x.svg", "--figure", "pairwise-profile", "--set", "first=first", "--set", "second=first"], ["expected two different methods"]),
])
def test_mistakes_are_explained_and_write_nothing(ledger, arguments, hints):
    plant(ledger, [[1e-3], [2e-3]])
    before = set(Path().iterdir())
    error = run("report", ledger, *arguments, code=USAGE).stderr
    for hint in hints:
        assert hint in error
    assert set(Path().iterdir()) == before


def test_what_is_there_is_kept_when_nothing_can_be_written(ledger):
    write_wild(ledger, 1, problems=0, machines=0)
    Path("old.svg").write_text("old")
    for name in FIGURES:
        assert "nothing to draw" in run("report", ledger, "--figure", name, "-o", "old.svg", code=BAD_INPUT).stderr
    for name in FIGURES + TABLES:
        assert "no rows" in run("report", ledger, "--figure", name, "-o", "old.csv", code=BAD_INPUT).stderr
    assert Path("old.svg").read_text() == "old" and not Path("old.csv").exists()
    plant(ledger, [[1e-3]])
    assert "no/such/place.pdf" in run("report", ledger, "--figure", "outcomes", "-o", "no/such/place.pdf", code=RESOURCES).stderr
    assert "is the input file" in run("report", ledger, "-o", ledger, code=USAGE).stderr


def test_without_a_figure_an_ending_still_says_what_is_meant(wild):
    run("report", wild, "-o", "a.json")
    assert {**json.loads(Path("a.json").read_text()), "created": ""} == {**json.loads(run("report", wild, "--json").stdout), "created": ""}
    run("report", wild, "-o", "a.TEX")
    assert "\\toprule" in Path("a.TEX").read_text()
    run("report", wild, "-o", "a.csv")
    assert Path("a.csv").read_bytes() == Path(figure(wild, "solvers")).read_bytes()


# ---- replays -------------------------------------------------------------------------------------------------------

def test_replays_lie_beside_the_report(here):
    """With the answers of the best methods at the frames of the campaign; the page knows where, and what they are called."""
    for folder in ("runs", "pages"):
        Path(folder).mkdir()
    run("run", "sliding-block", "--steps", 12, "--record", "runs/a block.h5", "--every", 2)
    run("run", "massratio", "--steps", 8, "--record", "runs/other.h5", "--every", 4)
    run("bench", "runs/a block.h5", "runs/other.h5", "--every", 2, "-s", "nsgs,pgs", "-f", "cone,box", "-o", "results.db")
    Path("runs/other.h5").unlink()
    ended = run("report", "results.db", "-o", "pages/report.html", "--replays", "re&plays", "--replay-best", "3")
    assert "no replay of runs/other.h5: the file is not there any more" in ended.stderr
    report = json.loads(re.search(r'<script type="application/json" id="report">(.*?)</script>', Path("pages/report.html").read_text(), re.S)[1])
    assert report["replays"] == {"runs/a block.h5": "../re%26plays/a-block.html"} and sorted(Path("re&plays").iterdir()) == [Path("re&plays/a-block.html")]
    answers = {method["label"]: method["replay"] for method in report["methods"]}
    best = [one["label"] for one in report["series"][:3]]
    assert {label: name for label, name in answers.items() if name} == {label: label.replace("/", "-") for label in best}
    replay = json.loads(re.search(r'<script type="application/json" id="replay">(.*?)</script>', Path("re&plays/a-block.html").read_text(), re.S)[1])
    assert {label.replace("/", "-") for label in best} <= {one["solver"] for one in replay["results"]} and len(replay["frames"]) == 6
    assert "replays" not in json.loads(run("report", "results.db", "--json").stdout)


def test_replays_need_a_page(ledger):
    assert "expected -o FILE.html" in run("report", ledger, "--replays", "x", code=USAGE).stderr
    assert "expected -o FILE.html" in run("report", ledger, "--replays", "x", "-o", "a.csv", code=USAGE).stderr
    plant(ledger, [[1e-3]])
    Path("file").write_text("")
    run("report", ledger, "-o", "a.html", "--replays", "file/x", code=RESOURCES)
    assert not Path("a.html").exists()
