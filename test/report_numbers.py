"""The numbers of `stickslip report --json`, computed once more: in Python, from the definitions in docs/report.md, reading
nothing but the CSV files of `stickslip export`. And what to compute them of: a real campaign, and a ledger with everything
that can go wrong. For test_report_numbers.py and test_report_verb.py."""
import csv
import json
import math
import re
import shutil
import sqlite3
import statistics
from decimal import Decimal, getcontext
from pathlib import Path

import pytest

from test_cli import here, run
from test_solve import write_local

getcontext().prec = 60
GAUGES = ["energy", "relative_energy", "natural_residual", "fischer_burmeister", "natural_map"]
TOLERANCES, MAIN, SHIFT = [1e-2, 1e-4, 1e-6, 1e-8], 1, 1e-3
BUDGETS = [10 ** (k / 2) for k in range(-10, 1)]
PAIRED = 12
BAND_SCENES = 6
PENALTY = 10  # times the slowest success
MEASURE = "relative_energy"
Z = 1.959963984540054


# ---- the export ----------------------------------------------------------------------------------------------------

def real(text):
    return None if text == "" else float(text)


def read_table(directory, name):
    with open(directory / f"{name}.csv", newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def machine_names(processors):
    """What a reader calls them: without marks, makers and what all processors are called; equal ones are numbered."""
    names = []
    for i, processor in enumerate(processors):
        words = [re.sub(r"\(.*", "", word) for word in processor.split("@")[0].split()]
        words = [word for word in words if word and word not in ("Intel", "AMD", "CPU", "Processor") and not word.endswith("-Core")]
        same = processors[:i].count(processor)
        names.append((" ".join(words) or processor or "machine") + (f" ({same + 1})" if same else ""))
    return names


class Book:
    """What the CSV files say, with runs as dictionaries."""

    def __init__(self, directory):
        self.machines = [row["key"] for row in read_table(directory, "machines")]
        self.machine_names = machine_names([row["cpu"] for row in read_table(directory, "machines")])
        self.problems = read_table(directory, "problems")
        self.methods = read_table(directory, "methods")
        place = {(row["hash"], row["place"]): i for i, row in enumerate(self.problems)}
        method = {row["key"]: i for i, row in enumerate(self.methods)}
        self.runs = []
        for row in read_table(directory, "runs"):
            self.runs.append({"problem": place[row["problem_hash"], row["place"]], "method": method[row["method_key"]],
                              "machine": self.machines.index(row["machine_key"]), "outcome": row["outcome"],
                              "seconds": real(row["seconds"]), "iterations": int(row["iterations"]),
                              "unknowns": int(row["unknowns"]), "steady": row["steady"] == "1",
                              "gauges": [real(row[gauge]) for gauge in GAUGES], "metrics": {}, "worst": {}, "samples": [], "history": [], "crossings": {}, "bins": {}})
        for row in read_table(directory, "metrics"):
            if row["why"] == "":
                self.runs[int(row["run"])]["metrics"][row["name"]] = real(row["value"])
                self.runs[int(row["run"])]["worst"][row["name"]] = real(row["worst_contact"])
        for row in read_table(directory, "samples"):
            self.runs[int(row["run"])]["samples"].append(real(row["seconds"]))
        for row in read_table(directory, "history"):
            point = (int(row["iteration"]), real(row["seconds"]), [real(row[gauge]) for gauge in GAUGES])
            self.runs[int(row["run"])]["history"].append(point)
        for row in read_table(directory, "crossings"):
            key = (row["gauge"], int(row["decade"]))
            self.runs[int(row["run"])]["crossings"][key] = (int(row["iteration"]), real(row["seconds"]))
        for row in read_table(directory, "contact_errors"):
            self.runs[int(row["run"])]["bins"][int(row["bin"])] = int(row["count"])
        self.until_solved = None  # not known yet
        self.good = [i for i, row in enumerate(self.problems) if row["fault"] == ""]

    def is_true(self, run):
        return (self.methods[run["method"]]["formulation"] == "cone"
                or self.problems[run["problem"]]["format"] == "fclib")


# ---- definitions ---------------------------------------------------------------------------------------------------

def time_scale(run):
    return min(run["samples"]) / run["seconds"] if run["samples"] and run["seconds"] else 1.0


def is_refused(run):
    """Nothing to judge: the solver does not take it, or it converged and the measure does not apply."""
    return run["outcome"] == "not applicable" or (run["outcome"] == "converged" and MEASURE not in run["metrics"])


def judged(book, run):
    return bool(run["metrics"]) and run["problem"] in book.good


def is_until_solved(book):
    """Is the time until it was solved known of every run? Otherwise the whole run counts, for all."""
    if book.until_solved is None:
        book.until_solved = (MEASURE in ("relative_energy", "natural_map")
                             and all(book.is_true(run) for run in book.runs if judged(book, run)))
    return book.until_solved


def crossing(book, run, tolerance, until_solved=None):
    decade = next(d for d in range(400) if float(f"1e-{d}") <= tolerance)
    until_solved = is_until_solved(book) if until_solved is None else until_solved
    return run["crossings"].get((MEASURE, decade)) if until_solved else None


def cost_of(book, run, tolerance, until_solved=None):
    """Seconds, by the clock of the report unless another is named; None = not solved."""
    error = run["metrics"].get(MEASURE)
    if run["outcome"] == "not applicable" or error is None or abs(error) > tolerance:
        return None
    if run["seconds"] is None or math.isinf(run["seconds"]):
        return None
    found = crossing(book, run, tolerance, until_solved)
    seconds = found[1] if found else run["seconds"]
    if run["seconds"] > 0:
        seconds *= time_scale(run)
    elif run["samples"]:
        seconds = min(run["samples"])
    return max(1e-9, seconds)


def quantile(values, share):
    if not values:
        return None
    values = sorted(values)
    place = share * (len(values) - 1)
    below = math.floor(place)
    above = min(below + 1, len(values) - 1)
    if values[below] == values[above] or place == below:
        return values[below]
    return values[below] + (place - below) * (values[above] - values[below])


def wilson(hits, count):
    if count == 0:
        return 0.0, 1.0
    p, z = hits / count, Z
    half = z * math.sqrt(p * (1 - p) / count + z * z / (4 * count * count))
    middle = p + z * z / (2 * count)
    low, high = (middle - half) / (1 + z * z / count), (middle + half) / (1 + z * z / count)
    return 0.0 if hits == 0 else low, 1.0 if hits == count else high


def shifted_mean(values):
    if not values:
        return None
    shift = Decimal(SHIFT)
    logs = [(Decimal(value) + shift).ln() for value in values]
    return float((sum(logs) / len(logs)).exp() - shift)


def steps(values, total):
    places = sorted(set(values))
    return {"x": places, "y": [sum(value <= x for value in values) / total for x in places]}


def line(points):
    """Slope and r^2 of (log x, log y)."""
    points = [(x, y) for x, y in points if x is not None and y is not None and 0 < x < math.inf and 0 < y < math.inf]
    apart = []
    for x, _ in points:
        if all(abs(x - other) > 1e-9 * other for other in apart):
            apart.append(x)
    if len(apart) < 3:
        return {"slope": None, "rSquared": None}
    xs, ys = [Decimal(x).ln() for x, _ in points], [Decimal(y).ln() for _, y in points]
    mx, my = sum(xs) / len(xs), sum(ys) / len(ys)
    sxx, syy = sum((x - mx) ** 2 for x in xs), sum((y - my) ** 2 for y in ys)
    sxy = sum((x - mx) * (y - my) for x, y in zip(xs, ys))
    residual = sum((y - my - sxy / sxx * (x - mx)) ** 2 for x, y in zip(xs, ys))
    return {"slope": float(sxy / sxx), "rSquared": float(1 - residual / syy) if len(set(ys)) > 1 else None}


def grid(longest):
    """1 ... 16, then 8 in every octave; and the end."""
    points = list(range(1, 17))
    octave = 16
    while octave < longest:
        points += [octave + octave // 8 * k for k in range(1, 9)]
        octave *= 2
    return [k for k in points if k < longest] + ([longest] if longest else [])


def finite(value):
    """As JSON has it."""
    return value if value is not None and math.isfinite(value) else None


# ---- series --------------------------------------------------------------------------------------------------------

def gauge_at(run, gauge, k):
    """The last value reported by iteration k; from the end of the run on, that of its answer."""
    known = [point[2][gauge] for point in run["history"] if point[0] <= k]
    if not known:
        return None
    ended = len(known) == len(run["history"]) and run["gauges"][gauge] is not None
    return run["gauges"][gauge] if ended else known[-1]


def band(runs, gauge):
    longest = max((run["history"][-1][0] for run in runs if run["history"]), default=0)
    result = {"iteration": grid(longest), "count": [], "mean": [], "deviation": [], "median": [], "low": [], "high": [],
              "most": []}
    for k in result["iteration"]:
        values = [value for value in (gauge_at(run, gauge, k) for run in runs) if value is not None]
        endless = any(math.isinf(value) for value in values)
        result["count"].append(len(values))
        result["mean"].append(statistics.mean(values) if values and not endless else None)
        result["deviation"].append(statistics.stdev(values) if len(values) > 1 and not endless else None)
        for key, share in (("median", 0.5), ("low", 0.05), ("high", 0.95), ("most", 1.0)):
            result[key].append(finite(quantile(values, share)))
    return result


def scene_names(book):
    return list(dict.fromkeys(book.problems[i]["scene"] for i in book.good))


def bands(book, runs):
    """All scenes together only where the error has no unit; then the scenes with most problems, each alone."""
    names = scene_names(book)
    result = [{"scene": None, "gauges": {"relative_energy": band(runs, 1)}}] if len(names) > 1 else []
    sizes = [sum(book.problems[i]["scene"] == name for i in book.good) for name in names]
    for scene in sorted(range(len(names)), key=lambda i: (-sizes[i], i))[:BAND_SCENES]:
        there = [run for run in runs if book.problems[run["problem"]]["scene"] == names[scene]]
        result.append({"scene": scene, "gauges": {name: band(there, i) for i, name in enumerate(GAUGES)}})
    return result


def error_within(book, run, budget):
    """Of the best iterate by then, and of the answer once the run has ended; None = nothing to show."""
    errors = []
    if run["seconds"] is not None and run["seconds"] * time_scale(run) <= budget and run["metrics"].get(MEASURE) is not None:
        errors.append(abs(run["metrics"][MEASURE]))
    if MEASURE in GAUGES and book.is_true(run):
        errors += [point[2][GAUGES.index(MEASURE)] for point in run["history"] if point[1] * time_scale(run) <= budget]
    return min((error for error in errors if error is not None), default=None)


def budgets(book, runs):
    """Over all problems: what has nothing to show counts as doing nothing."""
    result, nothing = [], 1.0 if MEASURE == "relative_energy" else math.inf
    for budget in BUDGETS:
        found = {run["problem"]: error_within(book, run, budget) for run in runs}
        shown = {problem: error for problem, error in found.items() if error is not None}
        values = [min(nothing, shown.get(problem, math.inf)) for problem in book.good]
        result.append({"median": finite(quantile(values, 0.5)), "high": finite(quantile(values, 0.9)), "count": len(shown)})
    return result


def is_followed(book, runs):
    runs = [run for run in runs if judged(book, run)]
    return MEASURE in ("relative_energy", "natural_map") and bool(runs) and all(book.is_true(run) for run in runs)


def work(book, machine_runs, runs, tolerance):
    """The time until the tolerance, on problems that are the same for all tolerances and all followed series."""
    if not is_followed(book, runs):
        return {"problems": 0, "mean": None, "median": None}
    methods = {run["method"] for run in machine_runs}
    followed = [one for method in methods for one in [[run for run in machine_runs if run["method"] == method]]
                if is_followed(book, one)]
    every = [(run["problem"], [cost_of(book, run, level, True) for level in TOLERANCES]) for one in followed for run in one]
    ground = {problem for problem, times in every if times[0] is not None}
    penalty = PENALTY * max((time for _, times in every for time in times if time is not None), default=0.0)
    own = {run["problem"]: cost_of(book, run, tolerance, True) for run in runs}
    times = [own[problem] for problem in ground if own.get(problem) is not None]
    if not times:
        return {"problems": len(ground), "mean": None, "median": None}
    missing = len(ground) - len(times)
    return {"problems": len(ground), "mean": shifted_mean(times + [penalty] * missing),
            "median": finite(quantile(times + [math.inf] * missing, 0.5))}


def best_costs(book, machine_runs, tolerance):
    """The least cost of every problem that some series of the machine solves."""
    best = {}
    for run in machine_runs:
        cost = cost_of(book, run, tolerance)
        if cost is not None:
            best[run["problem"]] = min(cost, best.get(run["problem"], math.inf))
    return best


def penalised(book, machine_runs, costs, tolerance, members):
    """Costs of the members that some series of the machine solves; where this one does not, ten times the slowest success."""
    solved = [cost_of(book, run, tolerance) for run in machine_runs]
    most = max((cost for cost in solved if cost is not None), default=0.0)
    best = best_costs(book, machine_runs, tolerance)
    return [costs.get(problem, PENALTY * most) for problem in members if problem in best]


def score(book, machine_runs, runs, tolerance):
    total = len(book.good)
    costs = {run["problem"]: cost_of(book, run, tolerance) for run in runs}
    costs = {problem: cost for problem, cost in costs.items() if cost is not None}
    refused = sum(is_refused(run) for run in runs)
    failed = len(runs) - refused - len(costs)
    low, high = wilson(len(costs), len(costs) + failed)
    best = best_costs(book, machine_runs, tolerance)
    every = penalised(book, machine_runs, costs, tolerance, book.good)
    unsolved = [costs.get(problem, math.inf) for problem in best]
    iterations, per_unknown = [], []
    for run in runs:
        if run["problem"] in costs:
            found = crossing(book, run, tolerance)
            iterations.append(found[0] if found else run["iterations"])
            per_unknown.append(costs[run["problem"]] / max(1, run["unknowns"]))
    return {"solved": len(costs), "failed": failed, "refused": refused, "missing": total - len(runs),
            "rate": len(costs) / (len(costs) + failed) if len(costs) + failed else None, "low": low, "high": high,
            "common": len(best), "cost": shifted_mean(every) if costs else None,
            "costSolved": shifted_mean(list(costs.values())), "costMedian": finite(quantile(unsolved, 0.5)),
            "costMost": max(costs.values(), default=None), "work": work(book, machine_runs, runs, tolerance),
            "why": why(book, runs, costs),
            "profile": steps([cost / best[problem] for problem, cost in costs.items()], total),
            "iterations": steps(iterations, total), "perUnknown": steps(per_unknown, total)}


def why(book, runs, costs):
    """The threshold of one feature that parts what fails from what is solved best: at least 9 of 10 fail beyond it, at most 1 of
    10 elsewhere, and of each there are three."""
    features = [("mass ratio", "mass_ratio", 1), ("ratio of rank to rows", "rank_ratio", -1), ("coefficient of friction", "mu_most", 1),
                ("contact density", "density", 1), ("number of contacts", "contacts", 1), ("number of unknowns", None, 1),
                ("number of joints", "joints", 1)]
    best, line = 0.0, None
    for name, column, sign in features:
        tried = [(run["unknowns"] if column is None else real(book.problems[run["problem"]][column]), run["problem"] not in costs)
                 for run in runs if not is_refused(run)]
        tried = [(sign * value, failed) for value, failed in tried if value is not None and math.isfinite(value)]
        failures = sum(failed for _, failed in tried)
        if failures < 3 or len(tried) - failures < 3:
            continue
        for limit in sorted({value for value, _ in tried})[:-1]:
            beyond = [failed for value, failed in tried if value > limit]
            others = [failed for value, failed in tried if value <= limit]
            shares = sum(beyond) / len(beyond), sum(others) / len(others)
            if shares[0] >= 0.9 and shares[1] <= 0.1 and shares[0] - shares[1] > best:
                best = shares[0] - shares[1]
                line = (f"fails where the {name} {'exceeds' if sign > 0 else 'is below'} {abs(limit):.3g} ({sum(beyond)} of {len(beyond)} there, "
                        f"{sum(others)} of {len(others)} elsewhere)")
    return line


def contacts(book, runs):
    names = ["resting", "sliding", "sticking", "anomalous_contacts"]
    judged = [run for run in runs if all(run["metrics"].get(name) is not None for name in names)]
    total = sum(int(book.problems[run["problem"]]["contacts"]) for run in judged)
    if total == 0:
        return {"sticking": None, "slidingGood": None, "slidingBad": None, "open": None}
    resting, sliding, sticking, bad = (sum(run["metrics"][name] for run in judged) for name in names)
    return {"sticking": sticking / total, "slidingGood": (sliding - bad) / total, "slidingBad": bad / total,
            "open": (total - resting) / total}


def scaling(book, runs):
    points = [(run, cost_of(book, run, TOLERANCES[MAIN])) for run in runs]
    result = {"unknowns": line([(run["unknowns"], cost) for run, cost in points])}
    for feature in ("contacts", "mass_ratio", "density", "rank_ratio"):
        result[feature] = line([(real(book.problems[run["problem"]][feature]), cost) for run, cost in points])
    return result


def metrics(book, runs, names):
    median, most, worst = {}, {}, {}
    for name in names:
        values = [(run["metrics"][name], run) for run in runs if run["metrics"].get(name) is not None]
        median[name] = finite(quantile([value for value, _ in values], 0.5))
        largest = max((value for value, _ in values), default=None)
        most[name] = finite(largest)
        worst[name] = next((book.runs.index(run) for value, run in values if value == largest), None)
    return {"metricMedian": median, "metricMost": most, "metricWorst": worst}


def describe(book, method, machine, label, names, outcomes):
    machine_runs = [run for run in book.runs if run["machine"] == machine and run["problem"] in book.good]
    runs = [run for run in machine_runs if run["method"] == method]
    solved = [run for run in runs if cost_of(book, run, TOLERANCES[MAIN]) is not None]
    bins = {}
    for run in runs:
        for place, count in run["bins"].items():
            bins[place] = bins.get(place, 0) + count
    return {"label": label, "method": method, "machine": machine,
            "outcomes": [sum(run["outcome"] == name for run in runs) for name in outcomes],
            "scores": [score(book, machine_runs, runs, tolerance) for tolerance in TOLERANCES],
            "followed": is_followed(book, runs), "bands": bands(book, runs),
            "budgets": budgets(book, runs), "scaling": scaling(book, runs), "contacts": contacts(book, runs),
            **metrics(book, runs, names), "bins": [{"bin": place, "count": bins[place]} for place in sorted(bins)],
            "leastBin": -48, "timed": bool(solved) and all(run["samples"] for run in solved),
            "unsteady": sum(bool(run["samples"]) and not run["steady"] for run in runs)}


def all_series(book, names, outcomes):
    keys = sorted({(run["method"], run["machine"]) for run in book.runs if run["problem"] in book.good})
    several = len({machine for _, machine in keys}) > 1
    result = []
    for method, machine in keys:
        label = book.methods[method]["label"] + (f" @ {book.machine_names[machine]}" if several else "")
        result.append(describe(book, method, machine, label, names, outcomes))

    for one in result:
        for t, score_there in enumerate(one["scores"]):
            costs = [other["scores"][t]["cost"] for other in result if other["machine"] == one["machine"]]
            least = min((cost for cost in costs if cost is not None), default=None)
            score_there["relative"] = None if score_there["cost"] is None else score_there["cost"] / least

    def order(series):
        main = series["scores"][MAIN]
        return (-main["solved"], math.inf if main["relative"] is None else main["relative"],
                series["label"].encode())
    result = sorted(result, key=order)
    add_versus(book, result)
    return result


def pairs(book, series, tolerance):
    result, shown = [], series[:PAIRED]
    costs = []
    for one in shown:
        runs = [run for run in book.runs if (run["method"], run["machine"]) == (one["method"], one["machine"])]
        costs.append({run["problem"]: cost_of(book, run, tolerance) for run in runs if run["problem"] in book.good})
    for a in range(len(shown)):
        for b in range(a + 1, len(shown)):
            both = [(costs[a].get(p), costs[b].get(p)) for p in book.good]
            ratio = sorted(math.log2(x / y) for x, y in both if x is not None and y is not None)
            result.append({"a": a, "b": b, "ratio": ratio, "both": len(ratio),
                           "onlyA": sum(x is not None and y is None for x, y in both),
                           "onlyB": sum(x is None and y is not None for x, y in both),
                           "neither": sum(x is None and y is None for x, y in both)})
    return result


def costs_of(book, one, tolerance):
    runs = [run for run in book.runs if (run["method"], run["machine"]) == (one["method"], one["machine"])]
    costs = {run["problem"]: cost_of(book, run, tolerance) for run in runs if run["problem"] in book.good}
    return {problem: cost for problem, cost in costs.items() if cost is not None}


def versus(book, one, other, tolerance):
    """One series beside another on the problems that both solve."""
    own, theirs = costs_of(book, one, tolerance), costs_of(book, other, tolerance)
    shared = [problem for problem in own if problem in theirs]
    logs = [(Decimal(own[problem]) / Decimal(theirs[problem])).ln() for problem in shared]
    return {"shared": len(shared), "faster": sum(own[problem] < theirs[problem] for problem in shared),
            "factor": float((sum(logs) / len(logs)).exp()) if logs else None}


def standing(series, t, candidates):
    """Most solved, then cheapest, then first; None when none solves anything."""
    solvers = [i for i in candidates if series[i]["scores"][t]["solved"]]
    return min(solvers, key=lambda i: (-series[i]["scores"][t]["solved"], series[i]["scores"][t]["cost"], i), default=None)


def add_versus(book, series):
    for t, tolerance in enumerate(TOLERANCES):
        for one in series:
            leader = standing(series, t, [i for i, other in enumerate(series) if other["machine"] == one["machine"]])
            found = {"shared": 0, "faster": 0, "factor": None} if leader is None else versus(book, one, series[leader], tolerance)
            one["scores"][t]["versus"] = {"leader": leader, **found}


def offered(book, series, t):
    """Those that may be recommended: not those with shifted starts, if another one solves anything."""
    usual = [i for i, one in enumerate(series) if not book.methods[one["method"]]["solver_options"].startswith("start=shifted")]
    return usual if any(series[i]["scores"][t]["solved"] for i in usual) else list(range(len(series)))


def method_to_use(book, series, t):
    """Most solved on any of its machines, then the least mean of relative costs, then first: a method, not a machine."""
    found = []
    for i in offered(book, series, t):
        one = series[i]
        same = [other["scores"][t] for other in series if other["method"] == one["method"] and other["scores"][t]["solved"]]
        solved = max((score["solved"] for score in same), default=0)
        if solved and one["scores"][t]["solved"] == solved:
            found.append((-solved, sum(math.log(score["relative"]) for score in same) / len(same), i))
    return min(found)[2] if found else None


def advice(book, series, t):
    scores = [one["scores"][t] for one in series]
    use = method_to_use(book, series, t)
    if use is None:
        return {"series": None, "reliable": False, "fastest": None, "mostAccurate": None}
    half = [i for i in offered(book, series, t) if scores[i]["solved"] and 2 * scores[i]["solved"] >= scores[use]["solved"]
            and series[i]["machine"] == series[use]["machine"]]
    beside = {i: versus(book, series[i], series[use], TOLERANCES[t]) for i in half}
    faster = [i for i in half if 2 * beside[i]["shared"] >= scores[use]["solved"] and beside[i]["factor"] < 1
              and 2 * beside[i]["faster"] > beside[i]["shared"]]
    rate = max(scores[i]["rate"] for i in half)
    accurate = min((i for i in half if scores[i]["rate"] == rate), key=lambda i: (series[i]["metricMedian"][MEASURE], i))
    return {"series": use, "reliable": 2 * scores[use]["solved"] >= len(book.good),
            "fastest": min(faster, key=lambda i: (beside[i]["factor"], i), default=use), "mostAccurate": accurate}


def scenes(book, series, advised):
    """Which series solves most in each scene, and what the one to use does there."""
    def there(i, members, tolerance):
        costs = {problem: cost for problem, cost in costs_of(book, series[i], tolerance).items() if problem in members}
        machine_runs = [run for run in book.runs if run["machine"] == series[i]["machine"] and run["problem"] in book.good]
        every = penalised(book, machine_runs, costs, tolerance, members)
        return {"series": i, "solved": len(costs), "cost": shifted_mean(every) if costs else None,
                "costSolved": shifted_mean(list(costs.values()))}

    def best_of(candidates, members, tolerance):
        found = {"series": None, "solved": 0, "cost": None, "costSolved": None}
        for score in (there(i, members, tolerance) for i in candidates):
            same = found["solved"] and series[score["series"]]["machine"] == series[found["series"]]["machine"]
            if score["solved"] > found["solved"] or (same and score["solved"] == found["solved"] and score["cost"] < found["cost"]):
                found = score
        return found

    def best(members, tolerance):
        first = best_of(offered(book, series, TOLERANCES.index(tolerance)), members, tolerance)
        return first if first["solved"] else best_of(range(len(series)), members, tolerance)

    names = scene_names(book) if series else []
    result = []
    for name in names:
        members = {i for i in book.good if book.problems[i]["scene"] == name}
        result.append({"name": name, "problems": len(members),
                       "best": [best(members, tolerance) for tolerance in TOLERANCES],
                       "first": [there(advised[t]["series"] or 0, members, tolerance) for t, tolerance in enumerate(TOLERANCES)]})
    return result


def columns(book, series, names):
    place = {(one["method"], one["machine"]): i for i, one in enumerate(series)}
    return {"problem": [run["problem"] for run in book.runs], "method": [run["method"] for run in book.runs],
            "machine": [run["machine"] for run in book.runs],
            "series": [place.get((run["method"], run["machine"]), -1) for run in book.runs],
            "unknowns": [run["unknowns"] for run in book.runs], "iterations": [run["iterations"] for run in book.runs],
            "seconds": [finite(run["seconds"]) for run in book.runs],
            "best": [min(run["samples"], default=None) for run in book.runs],
            "samples": [run["samples"] for run in book.runs],
            "cost": [[cost_of(book, run, tolerance) for run in book.runs] for tolerance in TOLERANCES],
            "metrics": {name: [finite(run["metrics"].get(name)) for run in book.runs] for name in names},
            "worst": {name: [run["worst"].get(name) for run in book.runs] for name in names}}


def expected_report(directory, report):
    """From the CSV files; of the report only the lists of names are used."""
    book = Book(directory)
    names = [metric["name"] for metric in report["metrics"]]
    series = all_series(book, names, report["outcomes"])
    advised = [advice(book, series, t) for t in range(len(TOLERANCES))]
    return {"measure": MEASURE, "clock": "until solved" if is_until_solved(book) else "whole run", "penalty": PENALTY,
            "tolerances": TOLERANCES, "mainTolerance": MAIN, "shift": SHIFT, "budgets": BUDGETS, "gauges": GAUGES,
            "series": series, "pairs": [pairs(book, series, tolerance) for tolerance in TOLERANCES],
            "scenes": scenes(book, series, advised), "advice": advised, "runs": columns(book, series, names)}


# ---- comparing -----------------------------------------------------------------------------------------------------

def is_number(value):
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def same_number(a, b, path):
    # slopes and logarithms come from differences: their digits count from those of 1
    near_one = "scaling" in path or "ratio" in path
    return math.isclose(a, b, rel_tol=1e-12, abs_tol=1e-13 if near_one else 0.0)


def differences(actual, expected, path=()):
    """Paths where they differ. Everything that is expected must be there."""
    if isinstance(expected, dict):
        missing = [(*path, key) for key in expected if not isinstance(actual, dict) or key not in actual]
        return missing + [place for key in expected if not missing
                          for place in differences(actual[key], expected[key], (*path, key))]
    if isinstance(expected, list):
        if not isinstance(actual, list) or len(actual) != len(expected):
            return [path]
        return [place for i, value in enumerate(expected) for place in differences(actual[i], value, (*path, i))]
    if is_number(expected) and is_number(actual):
        return [] if same_number(actual, expected, path) else [path]
    return [] if actual == expected else [path]


def numbers(value, path=()):
    if isinstance(value, dict):
        return [place for key in value for place in numbers(value[key], (*path, key))]
    if isinstance(value, list):
        return [place for i, item in enumerate(value) for place in numbers(item, (*path, i))]
    return [path] if is_number(value) else []


def changed(value):
    """The same with every number a millionth off."""
    if isinstance(value, dict):
        return {key: changed(item) for key, item in value.items()}
    if isinstance(value, list):
        return [changed(item) for item in value]
    if not is_number(value):
        return value
    return value + 1 if isinstance(value, int) else value * (1 + 1e-6) or 1e-6


def look(ledger, *options):
    """The report of a ledger, and what it should be."""
    directory = Path(f"{ledger}-tables")
    run("export", ledger, "-o", directory)
    report = json.loads(run("report", ledger, "--json", *options).stdout)
    return report, expected_report(directory, report)


def show(places, actual, expected):
    def at(value, place):
        for key in place:
            value = value[key]
        return value
    return [(place, at(actual, place), at(expected, place)) for place in places[:10]]


# ---- a ledger with everything --------------------------------------------------------------------------------------

class Dice:
    """A small generator of our own: the same ledger on every machine and version of Python."""

    def __init__(self, seed):
        self.state = seed

    def below(self, n):
        self.state = (self.state * 6364136223846793005 + 1442695040888963407) % 2 ** 64
        return (self.state >> 33) % n

    def real(self, low, high):
        return low + (high - low) * self.below(2 ** 30) / 2 ** 30

    def decades(self, low, high):
        return 10 ** self.real(low, high)


METRICS = ["energy", "relative_energy", "natural_map", "creep", "contact_work", "resting", "sliding", "sticking", "anomalous_contacts"]
MACHINES = ["11111111aaaa", "22222222bbbb"]


def add_row(database, table, **values):
    marks = ", ".join("?" * len(values))
    return database.execute(f"INSERT INTO {table} ({', '.join(values)}) VALUES ({marks})", list(values.values())).lastrowid


def add_problem(database, dice, i):
    size = 1 + dice.below(40)
    return add_row(database, "problems", hash=f"{i:032x}", place=f"/frame{i}" if i % 5 else "/fclib_local", file=f"some/file{i % 3}.h5",
                   format="bpmd" if i % 5 else "fclib", frame=i if i % 5 else -1, scene=f"scene {i % 3}", time=0.1 * i,
                   h=None if i % 7 == 0 else 0.01, bodies=size, joints=0, rows=0, contacts=0 if i == 3 else size,
                   mass_ratio=dice.decades(0, 3), density=None if i % 2 else dice.real(0.1, 2.0), rank_ratio=0.5,
                   mu_least=0.1, mu_most=0.9, fault="a negative mass" if i == 6 else None)


def add_method(database, formulation, solver, options):
    return add_row(database, "methods", key=f"{formulation}-{solver}-{options}", formulation=formulation,
                   formulation_options="", solver=solver, solver_options=options, plugin="", stop="natural_map<1e-8",
                   keep="last", iterations=1000, time_limit=0.0, seed=1, reference="", plugin_file="")


def add_metrics(database, dice, number, error, contacts):
    resting = dice.below(contacts + 1)
    sliding = dice.below(resting + 1)
    values = {"energy": error * error * 5.0, "relative_energy": error, "natural_map": error * dice.real(0.5, 4.0), "creep": dice.decades(-9, -1),
              "contact_work": -dice.decades(-3, 1), "resting": resting, "sliding": sliding,
              "sticking": resting - sliding, "anomalous_contacts": dice.below(sliding + 1)}
    for name in METRICS:
        why = "no bodies" if name == "creep" and dice.below(4) == 0 else None
        add_row(database, "metrics", run=number, name=name, value=None if why else float(values[name]),
                worst_contact=None if contacts == 0 else dice.below(contacts), worst_constraint=None, why=why)


def add_history(database, dice, number, error, iterations, seconds):
    """Errors fall unevenly to the last one; crossings are those of every iteration."""
    crossed = set()
    for k in range(1, iterations + 1):
        value = error * 10 ** (8.0 * (1 - k / iterations)) * (1.0 if k == iterations else dice.real(0.3, 1.0))
        time = seconds * k / iterations
        for decade in range(15):
            if value < float(f"1e-{decade}") and decade not in crossed and dice.below(40):
                crossed.add(decade)
                add_row(database, "crossings", run=number, gauge="relative_energy", decade=decade, iteration=k, seconds=time)
                add_row(database, "crossings", run=number, gauge="natural_map", decade=decade, iteration=k, seconds=time * 0.9)
        if k in grid(iterations):
            gauges = {name: value * factor for name, factor in zip(GAUGES, (value, 1.0, 3.0, 7.0, 0.5))}
            gauges["natural_map"] = None if dice.below(9) == 0 else gauges["natural_map"]
            gauges["energy"] = math.inf if dice.below(400) == 0 else gauges["energy"]
            add_row(database, "history", run=number, iteration=k, seconds=time, **gauges)


def add_run(database, dice, problem, method, machine, contacts, quality):
    ended = ["converged", "converged", "converged", "max iterations", "stalled", "crashed", "not applicable", "hung"][dice.below(8)]
    judged = ended not in ("crashed", "hung", "not applicable")
    iterations = 1 + dice.below(90) if judged else 0
    seconds = (0.0 if dice.below(12) == 0 else dice.decades(-5, 0)) if judged else None
    error = dice.decades(-14, -1) ** quality
    number = add_row(database, "runs", problem=problem, method=method, machine=machine, outcome=ended,
                     message=None if judged else "so it ended", started="2026-01-01T00:00:00Z", unknowns=3 * contacts,
                     iterations=iterations, kept_iteration=iterations, seconds=seconds, memory=None, answer="", steady=dice.below(5) > 0,
                     **{name: error * dice.real(0.1, 1.0) if judged and dice.below(5) else None for name in GAUGES})
    if not judged:
        return
    add_metrics(database, dice, number, error, contacts)
    add_history(database, dice, number, error, iterations, seconds)
    for i in range(dice.below(4)):
        add_row(database, "samples", run=number, number=i, seconds=dice.decades(-5, 0))
    for place in {dice.below(40) - 48 for _ in range(dice.below(6))}:
        add_row(database, "contact_errors", run=number, bin=place, count=1 + dice.below(9))


def write_wild(path, seed, problems=23, machines=2, formulations=("cone", "box")):
    """Runs of every kind, ties, clocks that stood still, holes in the matrix; `path` must be a ledger already."""
    dice = Dice(seed)
    database = sqlite3.connect(path)
    for table in ("contact_errors", "crossings", "history", "samples", "metrics", "runs", "campaigns", "methods", "problems", "machines"):
        database.execute(f"DELETE FROM {table}")
    machine_ids = [add_row(database, "machines", key=key, cpu="AMD EPYC 7763 64-Core Processor", cores=2, system="b", version="c", compiler="d", build="e")
                   for key in MACHINES[:machines]]
    problem_ids = [add_problem(database, dice, i) for i in range(problems)]
    sizes = dict(database.execute("SELECT id, contacts FROM problems"))
    methods = [add_method(database, formulation, solver, f"omega={i}" if i else "")
               for i, (formulation, solver) in enumerate(
                   (f, s) for f in formulations for s in ("nsgs", "pgs", "psor", "lemke"))]
    for p in problem_ids:
        for i, m in enumerate(methods):
            for machine in machine_ids:
                if dice.below(10):
                    add_run(database, dice, p, m, machine, sizes[p], 0.4 + 0.1 * i)
    database.commit()
    database.close()


# ---- campaigns -----------------------------------------------------------------------------------------------------

@pytest.fixture(scope="module")
def campaign(tmp_path_factory):
    """A real one: frames of two scenes and a problem of FCLIB, formulations of which only one is the true one."""
    directory = tmp_path_factory.mktemp("campaign")
    options = {"cwd": directory}
    write_local(directory / "local.hdf5", seed=3)
    run("run", "massratio", "--steps", 60, "--record", "stack.h5", "--every", 10, **options)
    run("run", "sliding-block", "--steps", 40, "--record", "slide.h5", "--every", 8, **options)
    files = ["stack.h5", "slide.h5", "local.hdf5"]
    run("bench", *files, "-s", "nsgs,pgs,interior-point,lemke", "-f", "cone,box,stewart-trinkle", "--iterations", 200,
        "--repeats", 2, "-o", "results.db", **options)
    run("bench", *files, "-s", "psor", "--set", "psor.omega=1.3", "--iterations", 50, "-o", "results.db", **options)
    return directory / "results.db"


@pytest.fixture
def ledger(campaign, here):
    """A copy that may be spoiled, in a directory of its own."""
    shutil.copy(campaign, "results.db")
    return "results.db"
