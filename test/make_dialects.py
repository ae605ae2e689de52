"""Small mechanisms written as every known writer of BPMD files would, defects included, each with its truth.

The truth is made first, in the conventions of frame.h, by formulas of its own; a dialect is what its writer would have
made of it. Nothing here is taken from the reader under test.

    make_dialects.py DIRECTORY [SEED]     writes one file of each dialect and its truth as JSON, to look at by hand
"""
import json
import sys
from dataclasses import dataclass, field
from pathlib import Path

import h5py
import numpy as np

WORLD = -1
FREE = (-np.inf, np.inf)


# ---- geometry -----------------------------------------------------------------------------------------------


def random_unit(rng, n=3):
    v = rng.normal(size=n)
    return v / np.linalg.norm(v)


def rotation(q):
    w, x, y, z = q
    return np.array([[1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
                     [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
                     [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)]])


def product(p, q):
    w, v, u, r = p[0], np.array(p[1:]), q[0], np.array(q[1:])
    return np.concatenate([[w * u - v @ r], w * r + u * v + np.cross(v, r)])


def turned(q, angle):
    """q turned by the rotation vector `angle`, which is given in the world frame."""
    a = np.linalg.norm(angle)
    axis = angle / a if a > 0 else np.array([1.0, 0, 0])
    return product(np.concatenate([[np.cos(a / 2)], np.sin(a / 2) * axis]), q)


def random_tensor(rng):
    """Body-frame inertia of a box, turned by some angle so that it is full."""
    x, y, z = rng.uniform(0.2, 1.0, 3)
    r = rotation(random_unit(rng, 4))
    return r @ np.diag([y * y + z * z, x * x + z * z, x * x + y * y]) @ r.T


# ---- the truth ----------------------------------------------------------------------------------------------


@dataclass
class Frame:
    """In the conventions of frame.h; pairs hold ids."""
    h: float
    masses: np.ndarray
    positions: np.ndarray
    quaternions: np.ndarray
    velocities: np.ndarray  # nb x 6
    forces: np.ndarray
    body_inertias: np.ndarray  # nb x 3 x 3
    ids: np.ndarray
    states: np.ndarray
    joint_pairs: list = field(default_factory=list)
    rows: list = field(default_factory=list)
    jacobian: np.ndarray = None  # nr x 12
    violations: np.ndarray = None
    time_derivative: np.ndarray = None
    bounds: np.ndarray = None
    pairs: np.ndarray = None
    points: np.ndarray = None
    normals: np.ndarray = None
    gaps: np.ndarray = None
    mu: np.ndarray = None  # nc x 2

    @property
    def inertias(self):
        return np.array([rotation(q) @ i @ rotation(q).T for q, i in zip(self.quaternions, self.body_inertias)])

    @property
    def nb(self):
        return len(self.masses)

    @property
    def nc(self):
        return len(self.gaps)

    @property
    def nr(self):
        return int(sum(self.rows))

    def truth(self):
        """As `stickslip info --full --json` prints it, live bodies only."""
        live = self.states > 0
        return {
            "h": self.h,
            "bodies": {"masses": self.masses[live], "positions": self.positions[live],
                       "quaternions": self.quaternions[live], "velocities": self.velocities[live],
                       "forces": self.forces[live], "inertias": self.inertias[live].reshape(-1, 9),
                       "ids": self.ids[live], "states": self.states[live]},
            "constraints": {"pairs": np.array(self.joint_pairs, int).reshape(-1, 2), "rows": np.array(self.rows, int),
                            "jacobian": self.jacobian, "violations": self.violations,
                            "time_derivative": self.time_derivative, "bounds": self.bounds},
            "contacts": {"pairs": self.pairs, "points": self.points, "normals": self.normals, "gaps": self.gaps,
                         "mu": self.mu},
        }


def make_bodies(rng, nb, asleep=()):
    states = np.ones(nb, int)
    states[list(asleep)] = -1
    return Frame(h=float(rng.choice([0.01, 0.005, 0.02])), masses=rng.uniform(0.5, 5, nb),
                 positions=rng.uniform(-2, 2, (nb, 3)), quaternions=np.array([random_unit(rng, 4) for _ in range(nb)]
                                                                            ).reshape(nb, 4),
                 velocities=rng.uniform(-1, 1, (nb, 6)), forces=rng.uniform(-9, 9, (nb, 6)),
                 body_inertias=np.array([random_tensor(rng) for _ in range(nb)]).reshape(nb, 3, 3),
                 ids=np.arange(1, nb + 1), states=states)


def joint_rows(frame, a, b, point, directions, axes):
    """Equations of the joint of bodies a and b (indices, or WORLD) at `point`: no relative speed of the point along
    `directions`, no relative turning about `axes`."""
    out = []
    for d in directions:
        row = np.zeros(12)
        if a != WORLD:
            row[0:3], row[3:6] = -d, -np.cross(point - frame.positions[a], d)
        if b != WORLD:
            row[6:9], row[9:12] = d, np.cross(point - frame.positions[b], d)
        out.append(row)
    for axis in axes:
        row = np.zeros(12)
        if a != WORLD:
            row[3:6] = -axis
        if b != WORLD:
            row[9:12] = axis
        out.append(row)
    return out


def frame_of(rng):
    axis = random_unit(rng)
    p = np.cross(axis, random_unit(rng))
    p /= np.linalg.norm(p)
    return axis, p, np.cross(axis, p)


# joint: (axes that are closed, rows with bounds and what kind each is)
JOINTS = {
    "ball": (0, []),
    "hinge": (2, []),
    "hinge_low": (2, ["low"]),
    "hinge_high": (2, ["high"]),
    "hinge_motor": (2, ["motor"]),
    "universal_motor_low": (1, ["motor", "low"]),
    "universal_low_motor": (1, ["low", "motor"]),
    "motor": (None, ["motor"]),  # one row only, in its place even in Gazebo files
    "motor3": (None, ["motor", "motor", "motor"]),
}


def add_joints(rng, frame, kinds, world_end=True):
    """A chain: body 0 - body 1 - ..., the last one held by the world."""
    jacobian, g, dgdt, bounds = [], [], [], []
    for k, kind in enumerate(kinds):
        last = k == len(kinds) - 1 and world_end
        a, b = (WORLD, k % frame.nb) if last else (k % frame.nb, (k + 1) % frame.nb)
        if a == b:
            a = WORLD
        closed, extra = JOINTS[kind]
        axis, p, q = frame_of(rng)
        point = rng.uniform(-2, 2, 3)
        directions = [] if closed is None else list(np.eye(3))
        axes = [p, q][:closed or 0] + [axis, p, q][:len(extra)]
        rows = joint_rows(frame, a, b, point, directions, axes)
        frame.joint_pairs.append([frame.ids[a] if a != WORLD else WORLD, frame.ids[b] if b != WORLD else WORLD])
        frame.rows.append(len(rows))
        jacobian += rows
        plain = len(rows) - len(extra)
        g += list(rng.uniform(-1e-3, 1e-3, plain))
        dgdt += [0.0] * plain
        bounds += [FREE] * plain
        for bound in extra:
            force = rng.uniform(1, 5)
            bounds.append({"low": (0, np.inf), "high": (-np.inf, 0), "motor": (-force, force)}[bound])
            g.append(0.0 if bound == "motor" else rng.uniform(-1e-2, 1e-2))
            dgdt.append(-rng.uniform(-2, 2) if bound == "motor" else 0.0)
    frame.jacobian = np.array(jacobian).reshape(-1, 12)
    frame.violations, frame.time_derivative = np.array(g), np.array(dgdt)
    frame.bounds = np.array(bounds, float).reshape(-1, 2)
    close_joints(frame)


def close_joints(frame):
    """Gives the bodies velocities that the unbounded rows allow, as a simulation would have."""
    index = {int(i): n for n, i in enumerate(frame.ids)}
    full = np.zeros((frame.nr, 6 * frame.nb))
    row = 0
    for (a, b), count in zip(frame.joint_pairs, frame.rows):
        for r in range(row, row + count):
            for side, body in ((0, a), (6, b)):
                if body in index:
                    full[r, 6 * index[body]:6 * index[body] + 6] += frame.jacobian[r, side:side + 6]
        row += count
    free = np.isinf(frame.bounds).all(axis=1)
    v = frame.velocities.ravel()
    frame.velocities = (v - np.linalg.pinv(full[free]) @ (full[free] @ v)).reshape(-1, 6) if free.any() else (
        frame.velocities)


def add_contacts(rng, frame, nc, world=True):
    """Contacts whose normals have the body on the right side."""
    pairs, points, normals = [], [], []
    for _ in range(nc):
        b = rng.integers(frame.nb)
        a = WORLD if frame.nb == 1 or (world and rng.random() < 0.5) else (b + 1 + rng.integers(frame.nb - 1)
                                                                          ) % frame.nb
        n = random_unit(rng)
        pairs.append([WORLD if a == WORLD else frame.ids[a], frame.ids[b]])
        points.append(frame.positions[b] - rng.uniform(0.1, 0.5) * n + 0.05 * np.cross(n, random_unit(rng)))
        normals.append(n)
    frame.pairs = np.array(pairs, int).reshape(-1, 2)
    frame.points, frame.normals = np.array(points).reshape(-1, 3), np.array(normals).reshape(-1, 3)
    frame.gaps = rng.uniform(-1e-3, 1e-3, nc)
    mu = rng.uniform(0.1, 1, nc)
    frame.mu = np.column_stack([mu, mu]).reshape(-1, 2)


def make_frame(seed, nb=5, joints=(), nc=6, asleep=(), world_end=True):
    rng = np.random.default_rng(seed)
    frame = make_bodies(rng, nb, asleep)
    frame.jacobian, frame.violations, frame.time_derivative = np.zeros((0, 12)), np.zeros(0), np.zeros(0)
    frame.bounds = np.zeros((0, 2))
    if joints:
        add_joints(rng, frame, joints, world_end)
    add_contacts(rng, frame, nc)
    return frame


def rounded_to_float32(frame):
    """Every stored real as a file in single precision would keep it. The truth of a world tensor is then what is
    stored, so quaternions are left out of it: identity, for which both tensors are the same."""
    for name in ("masses", "positions", "velocities", "forces", "jacobian", "violations", "time_derivative", "bounds",
                 "points", "normals", "gaps", "mu", "body_inertias"):
        setattr(frame, name, getattr(frame, name).astype(np.float32).astype(float))
    frame.h = float(np.float32(frame.h))
    frame.quaternions = np.tile([1.0, 0, 0, 0], (frame.nb, 1))
    return frame


# ---- writing ------------------------------------------------------------------------------------------------


def genuine(group, name, values, dtype="<f8"):
    """The rule of the authors' C++ writer: one number is a scalar, everything else has two dimensions."""
    values = np.asarray(values, dtype)
    if values.size == 1:
        group.create_dataset(name, data=values.reshape(()))
    else:
        group.create_dataset(name, data=values.reshape(-1, 1) if values.ndim == 1 else values)


def misplaced(bounds, rows):
    """Bound r of a joint is written at places r and r + 1 of the joint's list, in the order of the rows."""
    out, row = [], 0
    for count in rows:
        values = np.tile([-np.inf, np.inf], count)
        for r in range(count):
            lower, upper = bounds[row + r]
            if (lower, upper) != FREE:
                values[r], values[r + 1] = lower, upper
        out.append(values.reshape(-1, 2))
        row += count
    return np.concatenate(out) if out else np.zeros((0, 2))


def right_hand_side(frame):
    """What ODE has in place of g: 60 steps a second, error reduction 1 for equations, 0.2 for limits."""
    out = -60 * frame.violations
    for i, (lower, upper) in enumerate(frame.bounds):
        if np.isfinite(lower) and np.isfinite(upper):
            out[i] = -frame.time_derivative[i]
        elif np.isfinite(lower) or np.isfinite(upper):
            out[i] = -60 * 0.2 * frame.violations[i]
    return out


def swapped(jacobian):
    return np.concatenate([jacobian[:, 6:], jacobian[:, :6]], axis=1)


def write_genuine_bodies(group, frame, tensors="world_inertia_tensors"):
    genuine(group, "masses", frame.masses)
    genuine(group, "positions", frame.positions)
    genuine(group, "quaternions", frame.quaternions)
    genuine(group, "velocities", frame.velocities.ravel())
    genuine(group, "forces", frame.forces.ravel())
    genuine(group, tensors, frame.inertias.reshape(-1, 3))


def write_gazebo(place, frame, friction_columns=2, timestep=True, disabled=(), gs_errors=None):
    """disabled: equations of joints that are switched off; they are counted, but not filled in."""
    if timestep:
        place["timestep"] = frame.h
    bodies = place.create_group("bodies")
    write_genuine_bodies(bodies, frame)
    genuine(bodies, "ids", frame.ids, "<i4")
    genuine(bodies, "states", frame.states, "<i4")
    if frame.rows or disabled:
        write_gazebo_joints(place.create_group("constraints"), frame, disabled)
    if frame.nc:
        contacts = place.create_group("contacts")
        write_plain_contacts(contacts, frame, "gaps")
        genuine(contacts, "mu_s", np.column_stack([frame.mu[:, 0]] * 2))
        if friction_columns == 3:  # columns 0 and 1, and a neighbour's value
            wrong = np.roll(frame.mu[:, 1], 1) * 0.5
            genuine(contacts, "mu_k", np.column_stack([wrong, frame.mu[:, 1], wrong]))
        else:
            genuine(contacts, "mu_k", np.column_stack([frame.mu[:, 1]] * 2))
    if gs_errors is not None:
        genuine(place.create_group("solver_data/ODE_GS"), "gs_errors", gs_errors)


def write_gazebo_joints(group, frame, disabled):
    more, extra = len(disabled), int(sum(disabled))
    genuine(group, "rows", list(frame.rows) + [0] * more, "<u8")
    genuine(group, "pairs", np.array(list(frame.joint_pairs) + [[WORLD, WORLD]] * more).reshape(-1, 2), "<i4")
    genuine(group, "Jacobian", np.concatenate([swapped(frame.jacobian), np.zeros((extra, 12))]))
    genuine(group, "violations", np.concatenate([right_hand_side(frame), np.zeros(extra)]))
    genuine(group, "time_derivative", np.zeros(frame.nr + extra))
    genuine(group, "bounds", np.concatenate([misplaced(frame.bounds, frame.rows), np.tile(FREE, (extra, 1))]))


def write_plain_contacts(group, frame, gap_name, pair_type="<i4"):
    genuine(group, "pairs", frame.pairs, pair_type)
    genuine(group, "points", frame.points)
    genuine(group, "normals", frame.normals)
    genuine(group, gap_name, frame.gaps)


def split(values):
    """January 2013: all linear parts first."""
    return np.concatenate([values[:, :3].ravel(), values[:, 3:].ravel()])


def write_january2013(place, frame):
    place["step_size"] = frame.h
    bodies = place.create_group("bodies")
    write_genuine_bodies(bodies, frame, "inertia_tensors")
    del bodies["velocities"], bodies["forces"]
    genuine(bodies, "velocities", split(frame.velocities))
    genuine(bodies, "forces", split(frame.forces))
    if frame.rows:
        group = place.create_group("constraints")
        genuine(group, "nconstraints", [len(frame.rows)], "<i4")
        genuine(group, "rows", frame.rows, "<u8")
        genuine(group, "constraint_pairs", np.where(np.array(frame.joint_pairs) < 0, 0, frame.joint_pairs), "<i4")
        genuine(group, "Jacobian", frame.jacobian)
        genuine(group, "violation", frame.violations)
        genuine(group, "time_derivative", frame.time_derivative)
        genuine(group, "lower_bound_f", frame.bounds[:, 0])
        genuine(group, "upper_bound_f", frame.bounds[:, 1])
    if frame.nc:
        contacts = place.create_group("contacts")
        write_plain_contacts(contacts, frame, "gap")
        contacts["pairs"][...] = np.where(frame.pairs < 0, 0, frame.pairs)
        genuine(contacts, "mu_s", frame.mu[:, 0])
        genuine(contacts, "mu_k", frame.mu[:, 1])


def write_spring2013(place, frame):
    """chain.h5 and logs.h5: still the old names, but -1 for the world."""
    place["timestep"] = frame.h
    bodies = place.create_group("bodies")
    write_genuine_bodies(bodies, frame, "inertia_tensor")
    bodies.move("masses", "mass")
    if frame.rows:
        group = place.create_group("constraints")
        genuine(group, "rows", frame.rows, "<u8")
        genuine(group, "pairs", np.array(frame.joint_pairs), "<i4")
        genuine(group, "Jacobian", frame.jacobian)
        genuine(group, "violation", frame.violations)
        genuine(group, "time_derivative", frame.time_derivative)
        genuine(group, "bounds", frame.bounds)
    contacts = place.create_group("contacts")
    write_plain_contacts(contacts, frame, "depth")
    contacts["depth"][...] = -contacts["depth"][...]
    genuine(contacts, "mu", frame.mu[:, 0])


def write_agx(place, frame):
    """Under a simulation group, states but no ids, blocks in the order of the pair."""
    place["timestep"] = frame.h
    bodies = place.create_group("bodies")
    write_genuine_bodies(bodies, frame)
    genuine(bodies, "states", frame.states, "<i4")
    if frame.rows:
        group = place.create_group("constraints")
        genuine(group, "rows", frame.rows, "<u8")
        genuine(group, "pairs", np.array(frame.joint_pairs), "<i4")
        genuine(group, "Jacobian", frame.jacobian)
        genuine(group, "violations", frame.violations)
        genuine(group, "time_derivative", frame.time_derivative)
        genuine(group, "bounds", frame.bounds)
    if frame.nc:
        contacts = place.create_group("contacts")
        write_plain_contacts(contacts, frame, "gaps")
        genuine(contacts, "mu_k", frame.mu)


# ---- RPI-sim: MATLAB's matrices, turned when they have more rows than columns -------------------------------------


def matlab(group, name, matrix, as_vector=False):
    """hdf5write of a matrix: turned if it is tall, then stored with the dimensions in the opposite order."""
    matrix = np.atleast_2d(np.asarray(matrix, float))
    if matrix.shape[0] > matrix.shape[1]:
        matrix = matrix.T
    stored = matrix.T  # column-major memory, read row by row
    group.create_dataset(name, data=stored.ravel() if as_vector and 1 in stored.shape else stored)


def column(values):
    return np.asarray(values, float).reshape(-1, 1)


def write_rpisim(place, after, frame, old, vectors=False):
    """`after`: bodies at the end of the step; `frame`: the problem that was solved, whose contacts are stored."""
    turn = (lambda m: np.asarray(m, float).reshape(-1, np.shape(m)[-1])) if old else (
        lambda m: np.asarray(m, float).reshape(-1, np.shape(m)[-1]).T)
    settings = place.create_group("settings")
    settings.create_dataset("h" if old else "step_size", data=np.array([[frame.h]]) if vectors else frame.h)
    bodies = place.create_group("bodies")
    matlab(bodies, "masses", column(after.masses), vectors)
    matlab(bodies, "positions", turn(after.positions))
    matlab(bodies, "quaternions", turn(after.quaternions))
    matlab(bodies, "velocities", column(after.velocities.ravel()), vectors)
    matlab(bodies, "forces", column(after.forces.ravel()), vectors)
    matlab(bodies, "inertia_tensors" if old else "inertia", turn(frame.body_inertias.reshape(-1, 3)))
    if frame.nc == 0:
        return
    contacts = place.create_group("contacts")
    matlab(contacts, "pairs", turn(frame.pairs))
    matlab(contacts, "points", turn(lever_arms(after, frame, old)))
    matlab(contacts, "normals", turn(frame.normals))
    matlab(contacts, "gap", column(frame.gaps), vectors)
    matlab(contacts, "mu_k", column(frame.mu[:, 0]), vectors)
    contacts.create_dataset("mu_s", data=np.zeros((0, 0)))
    place.create_group("constraints").create_dataset("size", data=0.0)


def lever_arms(after, frame, old):
    """From the centre of the first body at the beginning of the step, in older files in its frame at the end. The
    world's static body sits at the origin."""
    arms = []
    for (a, _), point in zip(frame.pairs, frame.points):
        if a == WORLD:
            arms.append(point)
            continue
        k = int(np.flatnonzero(frame.ids == a)[0])
        arm = point - frame.positions[k]
        arms.append(rotation(after.quaternions[k]).T @ arm if old else arm)
    return np.array(arms)


def rpisim_steps(seed, nb, nc, steps):
    """[(bodies after the step, the problem that was solved)]: successive steps of one run. The velocities before the
    first step are not known to a reader, which then takes those after it."""
    rng = np.random.default_rng(seed)
    now = make_frame(seed, nb, nc=0)
    out = []
    for step in range(steps):
        problem = Frame(**{**vars(now)})
        add_contacts(rng, problem, nc)
        v = now.velocities + rng.uniform(-0.1, 0.1, now.velocities.shape)
        after = Frame(**{**vars(now)})
        after.velocities = v
        after.positions = now.positions + now.h * v[:, :3]
        after.quaternions = np.array([turned(q, now.h * w) for q, w in zip(now.quaternions, v[:, 3:])])
        if step == 0:
            problem.velocities = v
        out.append((after, problem))
        now = after
    return out


# ---- files --------------------------------------------------------------------------------------------------


def frame_name(number, digits=6):
    return f"mbs_frame{number:0{digits}d}"


CHAIN = ["ball", "hinge", "hinge_low", "hinge_motor", "ball", "hinge_high"]


def all_dialects(directory, seed):
    """One file of each dialect: {file name: [truth of each frame]}."""
    directory = Path(directory)
    made = {}

    def start(name):
        made[name] = []
        return h5py.File(directory / name, "w")

    def note(name, frame):
        made[name].append(frame.truth())

    with start("gazebo.h5") as file:
        for n in range(4):
            frame = make_frame(seed + n, 7, CHAIN, 5)
            frame.h = 0.01
            write_gazebo(file.create_group(frame_name(n + 1)), frame, timestep=n != 2, disabled=[3, 5])
            note("gazebo.h5", frame)
    with start("january2013.h5") as file:
        frame = make_frame(seed + 10, 4, CHAIN[:3], 6)
        write_january2013(file.create_group(frame_name(37)), frame)
        note("january2013.h5", frame)
    with start("spring2013.h5") as file:
        frame = make_frame(seed + 20, 4, CHAIN[:3], 6)
        write_spring2013(file.create_group(frame_name(1)), frame)
        note("spring2013.h5", frame)
    with start("agx.h5") as file:
        simulation = file.create_group("simulation_000000")
        simulation.create_dataset("frame_pictures", data=np.zeros((2, 2, 3), np.uint8))
        frame = make_frame(seed + 30, 5, CHAIN, 6, asleep=[2])
        write_agx(simulation.create_group(frame_name(0)), frame)
        note("agx.h5", frame)
    for old in (True, False):
        name = "rpisim_old.h5" if old else "rpisim_new.h5"
        with start(name) as file:
            file.create_group("Manifest")["toolkit"] = "RPI-sim"
            for n, (after, problem) in enumerate(rpisim_steps(seed + 40, 3, 3, 3)):
                write_rpisim(file.create_group(frame_name(n + 1)), after, problem, old)
                note(name, problem)
    return made


def to_json(value):
    if isinstance(value, dict):
        return {key: to_json(item) for key, item in value.items()}
    if isinstance(value, (list, tuple, np.ndarray)):
        return [to_json(item) for item in value]
    number = float(value)
    return str(number) if np.isinf(number) else number


def main(arguments):
    directory, seed = Path(arguments[0]), int(arguments[1]) if len(arguments) > 1 else 1
    directory.mkdir(parents=True, exist_ok=True)
    for name, truths in all_dialects(directory, seed).items():
        (directory / name).with_suffix(".truth.json").write_text(json.dumps(to_json(truths), indent=1))
        print(directory / name)


if __name__ == "__main__":
    main(sys.argv[1:])
