"""Every metric once more, in NumPy, from the definitions in docs/metrics.md and docs/formulations.md: random frames with all
that the format knows, answers of solvers that were stopped early, under several formulations. What the program says of them
and what is computed here must agree to ten digits; nothing of the library is used but the program."""
import json

import h5py
import numpy as np
import pytest

from test_cli import here, run, run_json

INF = np.inf
COEFFICIENTS = [(0.5, 0.5), (0.3, 0.6), (0.0, 0.0), (0.4, INF), (0.5, 0.0), (INF, INF), (0.0, 0.7), (INF, 0.2)]


# ---- frames ----------------------------------------------------------------------------------------------------

def unit(random):
    v = random.standard_normal(3)
    return v / np.linalg.norm(v)


IN_PLANE = np.array([1, 1, 0, 0, 0, 1.0])  # of the six of a body: x, y, turning about z


def write_frame(path, seed, planar):
    """Three live bodies and one that does not move; bilateral rows, a motor, a limit, joint friction; contacts of all kinds.
    In a plane z = const, if so wanted; the tangent in the plane is the first or the second."""
    random = np.random.default_rng(seed)
    kept = IN_PLANE if planar else np.ones(6)
    bodies, joints, contacts = 4, 3, int(random.integers(1, 9))
    inertia = []
    for _ in range(bodies):
        root = random.standard_normal((3, 3))
        inertia.append(np.diag(np.diag(root @ root.T)) if planar else root @ root.T)
        inertia[-1] += 0.2 * np.eye(3)
    normals = np.array([unit(random) for _ in range(contacts)]) * kept[:3]
    normals /= np.linalg.norm(normals, axis=1)[:, None]
    others = np.array([[0, 0, 1.0]] * contacts) if planar else np.array([unit(random) for _ in range(contacts)])
    tangents = np.cross(normals, others)
    tangents /= np.linalg.norm(tangents, axis=1)[:, None]
    tangents[1::2] = others[1::2] if planar else tangents[1::2]
    pairs = [(-1, 1), (1, 2), (2, 3), (4, 3), (3, -1), (2, -1), (1, 3), (4, 1)]
    which = random.permutation(len(COEFFICIENTS))
    rolling = np.where(random.random(contacts) < 0.4, random.uniform(0.01, 0.1, contacts), 0.0)
    with h5py.File(path, "w") as file:
        file.attrs["bpmd_format"] = "BPMD-2015"
        frame = file.create_group("simulation_000001/mbs_frame000001")
        frame["timestep"] = 0.01
        group = frame.create_group("bodies")
        group["ids"] = np.arange(1, bodies + 1, dtype="i4")[:, None]
        group["states"] = np.array([[1], [1], [1], [0]], dtype="i4")
        group["masses"] = random.uniform(0.5, 3.0, (bodies, 1))
        group["positions"] = random.standard_normal((bodies, 3)) * kept[:3]
        group["quaternions"] = np.tile([1.0, 0.0, 0.0, 0.0], (bodies, 1))
        group["velocities"] = random.standard_normal((6 * bodies, 1)) * np.tile(kept, bodies)[:, None]
        group["forces"] = 10 * random.standard_normal((6 * bodies, 1)) * np.tile(kept, bodies)[:, None]
        group["world_inertia_tensors"] = np.concatenate(inertia)
        group = frame.create_group("constraints")
        group["pairs"] = np.array([(-1, 1), (1, 2), (3, -1)], dtype="i4")
        group["rows"] = np.array([[3], [2], [2]], dtype="u8")
        group["Jacobian"] = random.standard_normal((7, 12)) * np.tile(kept, 2)
        group["violations"] = 1e-3 * random.standard_normal((7, 1))
        group["time_derivative"] = 0.1 * random.standard_normal((7, 1))
        # a load, its friction, a motor; two equations of a joint that is not holonomic; two limits
        group["bounds"] = np.array([(-INF, INF), (-INF, INF), (1.0, 5.0), (-INF, INF), (-INF, INF), (0.0, INF), (-INF, 0.0)])
        group["regularization"] = np.where(random.random((7, 1)) < 0.5, random.uniform(0, 0.1, (7, 1)), 0.0)
        group["friction"] = np.array([[0], [0.3], [0], [0], [0], [0], [0]], dtype=float)
        group["friction_row"] = np.array([[-1], [0], [-1], [-1], [-1], [-1], [-1]], dtype="i4")
        group["holonomic"] = np.array([[1], [0], [1]], dtype="u1")
        group = frame.create_group("contacts")
        group["pairs"] = np.array(pairs[:contacts], dtype="i4")
        group["points"] = random.standard_normal((contacts, 3)) * kept[:3]
        group["normals"] = normals
        group["t_u"] = tangents
        group["gaps"] = 1e-2 * random.standard_normal((contacts, 1))
        group["mu_k"] = np.array([COEFFICIENTS[which[c]] for c in range(contacts)])
        group["mu_r"] = rolling[:, None]
        group["compliance"] = np.where(random.random((contacts, 1)) < 0.5, 0.2, 0.0)
        group["restitution"] = random.random((contacts, 1))
        group["surface_velocities"] = 0.2 * random.standard_normal((contacts, 3)) * kept[:3]
        if seed % 2:
            group["lever_arms"] = random.standard_normal((contacts, 6)) * np.tile(kept[:3], 2)


# ---- rows: J, C, c of the true Coulomb problem -----------------------------------------------------------------

class Row:
    def __init__(self, jacobian, compliance, offset, lower=-INF, upper=INF):
        self.jacobian, self.compliance, self.offset = jacobian, compliance, offset
        self.lower, self.upper, self.load, self.factor = lower, upper, None, 0.0


class Frame:
    """What `info --full --json` says, with dead bodies as the world at rest."""

    def __init__(self, told):
        self.h = told["h"]
        live = told["bodies"]
        self.place = {label: b for b, label in enumerate(live["ids"])}
        self.count = len(self.place)
        self.position = {label: np.array(p) for group in (live, told["dead_bodies"])
                         for label, p in zip(group["ids"], group["positions"])}
        self.mass = np.array(live["masses"], float)
        self.v = np.array(live["velocities"], float).reshape(-1, 6)
        self.f = np.array(live["forces"], float).reshape(-1, 6)
        self.M = np.zeros((6 * self.count, 6 * self.count))
        for b in range(self.count):
            self.M[6 * b:6 * b + 3, 6 * b:6 * b + 3] = self.mass[b] * np.eye(3)
            self.M[6 * b + 3:6 * b + 6, 6 * b + 3:6 * b + 6] = np.reshape(live["inertias"][b], (3, 3))
        self.inverse = np.linalg.inv(self.M)
        self.free = self.v.ravel() + self.h * self.inverse @ self.f.ravel()
        self.constraints, self.contacts = told["constraints"], told["contacts"]
        self.planar = told["planar"]

    def row(self, pair, halves):
        """A row of J over all live bodies from its two halves."""
        jacobian = np.zeros(6 * self.count)
        for label, half in zip(pair, halves):
            if label in self.place:
                b = self.place[label]
                jacobian[6 * b:6 * b + 6] += half
        return jacobian

    def arms(self, c):
        if "lever_arms" in self.contacts:
            return np.reshape(self.contacts["lever_arms"][c], (2, 3))
        return [np.array(self.contacts["points"][c]) - self.position.get(label, 0.0) for label in self.contacts["pairs"][c]]

    def sliding(self, c, direction):
        return self.row(self.contacts["pairs"][c], [sign * np.concatenate([direction, np.cross(arm, direction)])
                                                    for sign, arm in zip((-1, 1), self.arms(c))])

    def turning(self, c, direction):
        return self.row(self.contacts["pairs"][c], [sign * np.concatenate([np.zeros(3), direction]) for sign in (-1, 1)])

    def moves(self, pair):
        return any(label in self.place for label in pair)


def joint_term(frame, g, low, high, before, options):
    """c of a joint row but for its time derivative; `before`: its rate before the step."""
    kind, gamma = options.get("joint_term", "stabilised"), options.get("joint_gamma", 1.0)
    if low == -INF and high == INF:
        if kind == "zero":
            return 0.0
        if kind == "spook":
            return (4 * g / frame.h - before) / (1 + 4 * options.get("joint_relaxation", 2.0))
    is_open = (low >= 0 and g > 0) or (high <= 0 and g < 0)
    return g / frame.h if is_open else gamma * g / frame.h


def joint_rows(frame, options):
    told, rows, place, i = frame.constraints, [], {}, 0
    for k, pair in enumerate(told["pairs"]):
        for _ in range(told["rows"][k]):
            g, (low, high) = told["violations"][i], map(float, told["bounds"][i])  # infinity is a text in JSON
            holonomic = told.get("holonomic", [True] * len(told["pairs"]))[k]
            jacobian = frame.row(pair, np.reshape(told["jacobian"][i], (2, 6)))
            term = joint_term(frame, g, low, high, jacobian @ frame.v.ravel() + told["time_derivative"][i], options)
            row = Row(jacobian, told["regularization"][i], holonomic * term + told["time_derivative"][i],
                      frame.h * low, frame.h * high)
            row.index, row.is_bilateral = i, low == -INF and high == INF
            if frame.moves(pair):
                place[i] = len(rows)
                rows.append(row)
            i += 1
    for row in rows:
        load = told["friction_row"][row.index]
        if load >= 0:
            row.load, row.factor, row.is_bilateral = place.get(load), told["friction"][row.index], False
    return rows


def gap_term(frame, c, options, before):
    gap, h = frame.contacts["gaps"][c], frame.h
    kind, gamma, slop = options.get("gap_term", "preventive"), options.get("gamma", 1.0), options.get("slop", 0.0)
    if kind == "preventive":
        return gap / h
    if kind == "zero":
        return 0.0
    if gap > 0:
        term = (gap - slop + gamma * slop if gap > slop else gamma * gap) / h
    else:
        term = gamma * min(gap + slop, 0.0) / h
    e = frame.contacts["restitution"][c]
    hit = gap <= 0 or before + term <= 0
    return e * before if kind == "restitution" and e > 0 and hit and before < -0.01 else term


class Contact:
    """One contact under Coulomb's law: its cone (normal, tangents scaled to a circle, moments) and a tangent that sticks."""

    def __init__(self, frame, c, options):
        told = frame.contacts
        self.c = c
        self.n, t_u = np.array(told["normals"][c]), np.array(told["t_u"][c])
        self.tangents = [t_u, np.cross(self.n, t_u)]
        cap = options.get("mu_max", 0.0) or INF
        self.mu = [min(float(m), cap) for m in told["mu"][c]]
        self.surface = np.array(told["surface_velocities"][c])
        low, high = min(self.mu), max(self.mu)
        mixed = low != high and (low == 0 or high == INF)  # no room for rolling friction then
        self.rolls = 0.0 if mixed else told["mu_r"][c]
        larger = int(self.mu[1] > self.mu[0])
        self.stuck, self.scale = None, [1.0, 1.0]
        self.used = [0, 1]
        if mixed and low == 0:  # the tangent without friction has no row
            self.used = [larger]
        elif mixed:  # that of endless friction sticks
            self.used, self.stuck = [1 - larger], larger
        elif low != high:
            self.scale[1 - larger] = low / high
        self.cone_mu = max(self.mu[t] for t in self.used)
        n_row = frame.sliding(c, self.n)
        before = n_row @ frame.v.ravel() + self.n @ self.surface
        self.rows = [Row(n_row, told["compliance"][c], gap_term(frame, c, options, before) + self.n @ self.surface)]
        for t in self.used:
            direction = self.scale[t] * self.tangents[t]
            self.rows.append(Row(frame.sliding(c, direction), 0.0, direction @ self.surface))
        self.rows += [Row(frame.turning(c, t), 0.0, 0.0) for t in self.tangents if self.rolls > 0]
        if self.stuck is not None:
            t = self.tangents[self.stuck]
            self.rows.append(Row(frame.sliding(c, t), 0.0, t @ self.surface))
        self.size = len(self.rows) - (self.stuck is not None)

    def impulses(self, answer):
        friction = answer["tangent"][self.c]
        x = [answer["normal"][self.c]] + [friction @ self.tangents[t] / self.scale[t] for t in self.used]
        if self.rolls > 0:
            x += [answer["rolling"][self.c] @ t for t in self.tangents]
        return x + ([friction @ self.tangents[self.stuck]] if self.stuck is not None else [])


# ---- measures of one row, and of one cone ----------------------------------------------------------------------

def phi(a, b):
    if a == INF:
        return b
    a, b = np.longdouble(a), np.longdouble(b)
    return float(a + b - np.sqrt(a * a + b * b))


def row_measures(x, w, lower, upper, a):
    """energy, natural residual, Fischer-Burmeister"""
    energy = 0.5 * a * (x - min(max(x - w / a, lower), upper)) ** 2
    up, down = (0.0, 0.0) if lower == upper else (max(w, 0.0), max(-w, 0.0))
    natural = max(abs(min(upper - x, down)), abs(min(x - lower, up)))
    return energy, natural, max(abs(phi(upper - x, down)), abs(phi(x - lower, up)))


def project(y, mu, rho):
    """The nearest point of |y_T| <= mu y_N, |y_M| <= rho y_N: the best of all ways to cut."""
    y = np.array(y, float)
    tangent, moment = y[1:3], y[3:]
    best = None
    heights = [y[0], 0.0]
    t, s = np.linalg.norm(tangent), np.linalg.norm(moment)
    if mu < INF:
        heights += [(y[0] + mu * t) / (1 + mu**2), (y[0] + mu * t + rho * s) / (1 + mu**2 + rho**2)]
    heights.append((y[0] + rho * s) / (1 + rho**2))
    for height in heights:
        height = max(height, 0.0)
        limit = INF if mu == INF else mu * height
        point = np.concatenate([[height], tangent * (1.0 if t <= limit else limit / t),
                                moment * (1.0 if s <= rho * height else rho * height / s)])
        distance = np.linalg.norm(y - point)
        if best is None or distance < best[0]:
            best = distance, point
    return best[1]


def dual_of(u, mu, rho):
    dual = np.array(u, float)
    if mu < INF:
        dual[0] += mu * np.linalg.norm(u[1:3])
    dual[0] += rho * np.linalg.norm(u[3:])
    return dual


def fischer_lorentz(mu, r, dual):
    if mu == 0 or mu == INF:
        return np.hypot(phi(r[0], dual[0]), np.linalg.norm(r[1:] if mu == 0 else dual[1:]))
    x, y = np.longdouble(r), np.longdouble(dual)
    x[0], y[0] = mu * x[0], y[0] / mu
    z0, z1 = x @ x + y @ y, 2 * (x[0] * x[1:] + y[0] * y[1:])
    length = np.sqrt(z1 @ z1)
    large, small = np.sqrt(z0 + length), np.sqrt(max(z0 - length, 0))
    root = np.concatenate([[(large + small) / 2], (large - small) / 2 * z1 / length if length > 0 else 0 * z1])
    return float(np.sqrt(np.sum((x + y - root) ** 2)))


def fischer_cone(mu, rho, r, dual):
    if len(r) < 5:
        return fischer_lorentz(mu, r, dual)
    slide_share = mu * np.linalg.norm(dual[1:3]) if mu < INF else 0.0
    roll_share = rho * np.linalg.norm(dual[3:])
    sliding = fischer_lorentz(mu, r[:3], np.concatenate([[dual[0] - roll_share], dual[1:3]]))
    rolling = fischer_lorentz(rho, r[[0, 3, 4]], np.concatenate([[dual[0] - slide_share], dual[3:]]))
    return np.hypot(sliding, rolling)


def cone_measures(mu, rho, r, u, a):
    """energy, natural residual, Fischer-Burmeister, square of the natural map; a: inverse mass of each component"""
    r, u, a = np.array(r), np.array(u), np.array(a)
    if mu == 0 and rho == 0:
        parts = [row_measures(x, w, 0.0, INF if i == 0 else 0.0, mass) for i, (x, w, mass) in enumerate(zip(r, u, a))]
        return *np.sum(parts, axis=0), min(r[0], u[0]) ** 2 + r[1:] @ r[1:]
    dual = dual_of(u, mu, rho)
    step = np.linalg.norm(r - project(r - dual, mu, rho))
    mass = a[0] if mu == 0 else np.mean(a[:3])
    unit = np.ones(len(r))
    unit[3:] = np.sqrt(np.mean(a[3:]) / mass) if len(r) == 5 else 1.0
    energy, inside = 0.0, np.ones(len(r), bool)
    if mu == 0:
        energy, inside[1:3] = 0.5 * np.sum(a[1:3] * r[1:3] ** 2), False
    x = np.where(inside, r * unit, 0.0)
    y = np.where(inside, x - dual / (unit * mass), 0.0)
    energy += 0.5 * mass * np.sum((x - project(y, mu, rho * unit[-1] if len(r) == 5 else 0.0)) ** 2)
    return energy, step, fischer_cone(mu, rho, r, dual), step**2


# ---- all metrics -----------------------------------------------------------------------------------------------

class Problem:
    def __init__(self, frame, options):
        self.frame, self.joints = frame, joint_rows(frame, options)
        margin = options.get("contact_margin", INF)
        self.contacts = [Contact(frame, c, options) for c, pair in enumerate(frame.contacts["pairs"])
                         if frame.moves(pair) and frame.contacts["gaps"][c] <= margin]
        rows = self.joints + [row for contact in self.contacts for row in contact.rows]
        self.J = np.array([row.jacobian for row in rows]).reshape(len(rows), -1)
        self.C, self.c = (np.array([getattr(row, name) for row in rows]) for name in ("compliance", "offset"))
        self.A = self.J @ frame.inverse @ self.J.T + np.diag(self.C)
        self.b = self.J @ frame.free + self.c
        self.terms = np.abs(self.J) @ np.abs(frame.free) + np.abs(self.c)

    def joint_bounds(self, i, x):
        row = self.joints[i]
        if row.factor == 0 and row.load is None:
            return row.lower, row.upper
        limit = row.factor * abs(x[row.load])
        return max(row.lower, -limit), min(row.upper, limit)

    def measures(self, x, w, a):
        """Sums of energy, natural residual, Fischer-Burmeister; the square of the natural map. Keeps energies of contacts."""
        total, squares, self.energies = np.zeros(3), 0.0, {}
        for i in range(len(self.joints)):
            total += row_measures(x[i], w[i], *self.joint_bounds(i, x), a[i])
        at = len(self.joints)
        for contact in self.contacts:
            span = slice(at, at + contact.size)
            *parts, square = cone_measures(contact.cone_mu, contact.rolls, x[span], w[span], a[span])
            total, squares = total + parts, squares + square
            self.energies[contact.c] = parts[0]
            at += contact.size
            if contact.stuck is not None:
                parts = row_measures(x[at], w[at], -INF, INF, a[at])
                total += parts
                self.energies[contact.c] += parts[0]
                at += 1
        return total, squares

    def cone_rows(self):
        at, rows = len(self.joints), []
        for contact in self.contacts:
            rows += range(at, at + contact.size)
            at += len(contact.rows)
        return rows

    def absent(self):
        """Unknowns that are zero by law."""
        at, rows = len(self.joints), []
        for contact in self.contacts:
            if contact.cone_mu == 0:
                rows += range(at + 1, at + 1 + len(contact.used))
            at += len(contact.rows)
        return rows


def law_metrics(problem, x, w):
    diagonal = np.diag(problem.A)
    (energy, natural, fischer), squares = problem.measures(x, w, diagonal)
    start = np.zeros(len(x))
    for _ in range(2):  # rows that follow others come after them
        for i in range(len(problem.joints)):
            low, high = problem.joint_bounds(i, start)
            start[i] = min(max(start[i], low), high)
    at_start = problem.measures(start, problem.A @ start + problem.b, diagonal)[0][0]
    rounding = 0.5 * np.sum((1e-15 * problem.terms) ** 2 / diagonal)
    values = {"energy": energy, "natural_residual": natural, "fischer_burmeister": fischer,
              "relative_energy": 0.0 if energy <= rounding else np.sqrt(energy / max(at_start, rounding))}
    if problem.contacts:
        values["natural_map_absolute"] = np.sqrt(squares)
        values["natural_map"] = np.sqrt(squares) / np.linalg.norm(problem.b[problem.cone_rows()])
    kept = np.setdiff1d(np.arange(len(x)), problem.absent())
    scaled = problem.A[np.ix_(kept, kept)] / np.sqrt(np.outer(diagonal[kept], diagonal[kept]))
    least = np.linalg.eigvalsh(scaled)[0]
    if least > 1e-5:
        exact = diagonal.copy()
        exact[kept] = 1 / np.diag(np.linalg.inv(problem.A[np.ix_(kept, kept)]))
        values["energy_exact"] = problem.measures(x, w, exact)[0][0]
    elif least < 1e-13:
        values["energy_exact"] = None
    return values


def coulomb_metrics(problem, frame, answer, x, w, v):
    values = dict.fromkeys(("resting", "sliding", "sticking", "anomalous_contacts", "cone", "tension", "anomalous_friction",
                            "dissipation_gap", "complementarity"), 0.0)
    slow = max(1e-4 * frame.h * np.linalg.norm(frame.f[b, :3]) / frame.mass[b] for b in range(frame.count))
    creep, alignment, at = [], [], len(problem.joints)
    problem.states = {}
    for contact in problem.contacts:
        nu, row = answer["normal"][contact.c], at
        at += len(contact.rows)
        friction = answer["tangent"][contact.c]
        f = np.array([friction @ t for t in contact.tangents])
        f[np.abs(f) <= 1e-15 * np.linalg.norm(friction)] = 0.0  # what rounding leaves along a tangent is no friction
        slip = np.array([frame.sliding(contact.c, t) @ v + t @ contact.surface for t in contact.tangents])
        mu = np.array(contact.mu)
        finite, rough = mu < INF, mu > 0
        ratio = np.linalg.norm(f[finite & rough] / mu[finite & rough])
        size, gripping = np.linalg.norm(f[finite]), np.linalg.norm(f[finite & rough])
        if gripping > 0:
            values["cone"] += max(0.0, gripping - max(nu, 0.0) * gripping / ratio) ** 2
        values["cone"] += np.sum(f[~rough] ** 2)
        values["tension"] += max(0.0, -nu) ** 2
        values["anomalous_friction"] += max(0.0, f @ slip) ** 2
        due = max(nu, 0.0) * np.linalg.norm(mu[finite] * slip[finite])
        values["dissipation_gap"] += due + f[finite] @ slip[finite]
        values["complementarity"] += abs(nu * w[row])
        problem.states[contact.c] = "open"
        if nu * problem.A[row, row] <= slow:
            continue
        values["resting"] += 1
        problem.states[contact.c] = "stick"
        if not (mu.max() == 0 or ratio >= 0.999 * nu):
            values["sticking"] += 1
            creep.append(np.linalg.norm(slip[rough]))
            continue
        values["sliding"] += 1
        driven = f @ slip > slow * np.linalg.norm(f)
        values["anomalous_contacts"] += driven
        problem.states[contact.c] = "negative friction" if driven else "slip"
        g = np.where(finite, mu**2, 0.0)
        g = np.where(finite, g * slip, 0.0)
        if np.linalg.norm(slip[finite & rough]) > slow and size > 0:
            alignment.append(f[finite] @ g[finite] / (size * np.linalg.norm(g)) + 1)
    for name in ("cone", "tension", "anomalous_friction"):
        values[name] = np.sqrt(values[name])
    values["creep"], values["creep_max"] = (np.linalg.norm(creep), max(creep)) if creep else (None, None)
    values["alignment"] = np.linalg.norm(alignment) if alignment else None
    return values if problem.contacts else dict.fromkeys(values)


def penetrations(frame, v):
    depth = []
    for c, pair in enumerate(frame.contacts["pairs"]):
        n = np.array(frame.contacts["normals"][c])
        speed = frame.sliding(c, n) @ v + n @ np.array(frame.contacts["surface_velocities"][c])
        if frame.moves(pair):
            depth.append(min(0.0, frame.contacts["gaps"][c] + frame.h * speed))
    return {"penetration": np.linalg.norm(depth), "penetration_max": max(np.abs(depth), default=0.0)}


def step_metrics(problem, frame, answer, w, v):
    of_contacts = np.zeros(6 * frame.count)
    for c in range(len(frame.contacts["pairs"])):
        push = answer["tangent"][c] + answer["normal"][c] * np.array(frame.contacts["normals"][c])
        for axis in range(3):
            direction = np.eye(3)[axis]
            of_contacts += frame.sliding(c, direction) * push[axis] + frame.turning(c, direction) * answer["rolling"][c][axis]
    of_joints = sum((row.jacobian * answer["lambda"][row.index] for row in problem.joints), np.zeros(6 * frame.count))
    before, total = frame.v.ravel(), frame.h * frame.f.ravel() + of_contacts + of_joints
    gained = 0.5 * (v @ frame.M @ v - before @ frame.M @ before)
    missing = frame.M @ (v - before) - total
    bilateral = [abs(w[i]) for i, row in enumerate(problem.joints) if row.is_bilateral]
    return {"momentum": 0.5 * missing @ frame.inverse @ missing, "kinetic_energy_change": gained,
            "contact_work": of_contacts @ (v + before) / 2, "energy_balance": gained - total @ (v + before) / 2,
            "joint_speed": max(bilateral) if bilateral else None}


def all_metrics(frame, answer, options):
    """Values, and the sizes of what they are sums and differences of, by unit."""
    problem, v = Problem(frame, options), answer["velocities"].ravel()
    x = np.array([answer["lambda"][row.index] for row in problem.joints] +
                 [part for contact in problem.contacts for part in contact.impulses(answer)])
    w = problem.J @ v + problem.C * x + problem.c
    law = law_metrics(problem, x, w)
    problem.measures(x, w, np.diag(problem.A))  # the energies of contacts that are told are those by the diagonal
    values = (law | coulomb_metrics(problem, frame, answer, x, w, v) | penetrations(frame, v) |
              step_metrics(problem, frame, answer, w, v))
    speed = np.max(np.abs(problem.J) @ np.abs(v) + problem.C * np.abs(x) + np.abs(problem.c)) + np.max(np.abs(v))
    impulse = np.sum(np.abs(x)) + np.max(np.abs(frame.M @ frame.free))
    return problem, values, {"1": 1.0, "contacts": 0.0, "m/s": speed, "N s": impulse, "mixed": speed + impulse,
                             "m": frame.h * speed + np.max(np.abs(frame.contacts["gaps"])), "J": speed * impulse}


# ---- the program's answers and metrics -------------------------------------------------------------------------

def read_answer(path, solver, frame, told):
    contacts, rows = len(told["contacts"]["pairs"]), len(told["constraints"]["violations"])
    with h5py.File(path) as file:
        stored = file[f"simulation_000001/mbs_frame000001/solver_data/{solver}"]
        shape = {"velocities": (-1, 6), "lambda": (rows,), "normal": (contacts,), "tangent": (contacts, 3),
                 "rolling": (contacts, 3)}
        answer = {name: np.reshape(stored[name][()], size) if name in stored else np.zeros(size)
                  for name, size in shape.items()}
        ids = np.ravel(file["simulation_000001/mbs_frame000001/bodies/ids"][()])
    answer["velocities"] = np.array([answer["velocities"][list(ids).index(label)] for label in frame.place])
    return answer


CASES = [("cone", "nsgs", 3, {}), ("cone", "pgs", 40, {"gap_term": "zero"}),
         ("cone", "jacobi", 2, {"gap_term": "stabilised", "gamma": 0.3, "slop": 0.004}),
         ("cone", "nsgs", 300, {"gap_term": "restitution", "gamma": 0.5}), ("cone", "pgs", 5, {"mu_max": 0.35}),
         ("box", "pgs", 7, {}), ("frictionless", "pgs", 5, {}), ("convex", "apgd", 9, {}),
         ("cone", "nsgs", 5, {"contact_margin": 0.003}), ("cone", "nsgs", 4, {"joint_term": "zero", "mu_max": 2}),
         ("cone", "pgs", 6, {"joint_gamma": 0.3}), ("cone", "nsgs", 4, {"joint_term": "spook", "joint_relaxation": 3})]


@pytest.mark.parametrize("formulation, solver, iterations, options", CASES)
@pytest.mark.parametrize("seed, planar", [(seed, seed >= 6) for seed in range(9)])
def test_metrics_are_what_their_definitions_say(seed, planar, formulation, solver, iterations, options, here):
    write_frame("frame.h5", seed, planar)
    told = json.loads(run("info", "frame.h5", "--frame", "0", "--full", "--json").stdout)
    told["planar"] = planar
    command = ["solve", "frame.h5", "-f", formulation, "-s", solver, "--iterations", str(iterations), "--stop", "none",
               "--quiet", "-o", "out.h5", "--json"]
    if options:
        command += ["--with", " ".join(f"{name}={value}" for name, value in options.items())]
    (result,) = json.loads(run(*command).stdout)["frames"]
    assert result["status"] != "not applicable", result.get("why")
    frame = Frame(told)
    problem, ours, sizes = all_metrics(frame, read_answer("out.h5", solver, frame, told), options)
    units = {metric["name"]: metric["unit"] for metric in run_json("metrics")["metrics"]}
    theirs = {name: metric["value"] for name, metric in result["metrics"].items()}
    # alternatives: test_peg.py
    assert set(theirs) - set(ours) <= {"distance", "velocity_distance", "trust", "energy_exact", "natural_map", "natural_map_absolute",
                                       "open_push", "inactive_push"}
    for name, value in ours.items():
        if value is None:
            assert theirs[name] is None, name
            continue
        size = sizes[units[name]]
        if name in ("energy", "energy_exact", "momentum"):  # squares of what is rounded
            size *= min(1.0, np.sqrt(value / size) + 1e-14)
        assert theirs[name] == pytest.approx(value, rel=1e-10, abs=1e-13 * size), name

    # the same answer from the file, without solving, contact by contact
    (judged,) = run_json("judge", "out.h5", "--result", solver, "--quiet")["answers"]
    for name, value in theirs.items():
        again = judged["metrics"][name]["value"]
        assert (again is None) == (value is None) and (value is None or again == pytest.approx(
            value, rel=1e-9, abs=1e-12 * sizes[units[name]])), name
    for c, contact in enumerate(judged["contacts"]):
        assert contact["state"] == problem.states.get(c, "open")
        energy = problem.energies.get(c, 0.0)
        assert contact["energy"] == pytest.approx(energy, rel=1e-9, abs=1e-13 * np.sqrt(energy * sizes["J"]) + 1e-27 * sizes["J"])
