# %% [markdown]
# # Record your engine
#
# You have a simulator, and something in it is not as it should be: stacks creep, boxes jitter, a grasp slips. Record the steps,
# and look at each as the problem it was: what your solver answered, how wrong that is, and at which contact.
#
# The engine here is a toy of thirty lines: balls that roll and stack, with an impulse solver that makes few iterations, as
# game engines do. Yours is in C++? [recorder.md](../recorder.md) has the same calls in C.

# %%
import numpy as np
import stickslip as ss


class Engine:
    """Balls on the ground, semi-implicit Euler, sequential impulses; friction 0.5."""

    h, mu, iterations = 0.01, 0.5, 4

    def __init__(self):
        self.x = np.array([[0, 0, 0.5], [1.001, 0, 0.5], [0.5, 0, 0.5 + np.sqrt(0.75)]])
        self.v, self.w = np.zeros((3, 3)), np.zeros((3, 3))
        self.radius, self.m, self.inertia = 0.5, 1.0, 0.1

    def contacts(self):
        """a, b, point, normal from a to b, gap; a = -1 is the ground."""
        found = [(-1, b, self.x[b] - [0, 0, self.radius], np.array([0, 0, 1.0]), self.x[b][2] - self.radius)
                 for b in range(3) if self.x[b][2] < self.radius + 0.01]
        for a in range(3):
            for b in range(a + 1, 3):
                apart = self.x[b] - self.x[a]
                distance = np.linalg.norm(apart)
                if distance < 2 * self.radius + 0.01:
                    normal = apart / distance
                    found.append((a, b, self.x[a] + 0.5 * apart, normal, distance - 2 * self.radius))
        return found

    def solve(self, contacts):
        """Changes v and w; returns the normal and friction impulses."""
        normal, friction = np.zeros(len(contacts)), np.zeros((len(contacts), 3))
        for _ in range(self.iterations):
            for c, (a, b, point, n, gap) in enumerate(contacts):
                sides = [(body, sign, point - self.x[body]) for body, sign in ((a, -1.0), (b, 1.0)) if body >= 0]
                speed = sum(sign * (self.v[i] + np.cross(self.w[i], arm)) for i, sign, arm in sides)
                mass = 1 / (len(sides) / self.m)
                new = max(0.0, normal[c] - mass * (speed @ n + max(gap, 0) / self.h + 0.2 * min(gap, 0) / self.h))
                slide = speed - (speed @ n) * n
                pull = friction[c] - mass / 3.5 * slide
                limit = self.mu * new
                size = np.linalg.norm(pull)
                pull = pull * min(1.0, limit / size) if size > 0 else pull
                for i, sign, arm in sides:
                    change = sign * ((new - normal[c]) * n + pull - friction[c])
                    self.v[i] += change / self.m
                    self.w[i] += np.cross(arm, change) / self.inertia
                normal[c], friction[c] = new, pull
        return normal, friction


# %% [markdown]
# ## Three calls per step
#
# `recorder.frame(time, h)` begins a step. Bodies first, with their velocity *before* the step and all forces; then contacts; then,
# after your solver ran, what it answered. A frame with a mistake in it (a normal that is not a unit vector, a mass of zero) is
# rejected with its reason, so that a file contains what it says.

# %%
def step(engine, time, recorder):
    gravity = np.array([0, 0, -9.81])
    contacts = engine.contacts()
    with recorder.frame(time, engine.h) as f:
        for b in range(3):
            f.body(engine.m, engine.x[b], inertia=[engine.inertia] * 3, velocity=[*engine.v[b], *engine.w[b]],
                   force=[*(engine.m * gravity), 0, 0, 0])
        for a, b, point, n, gap in contacts:
            f.contact(a, b, point, n, gap, mu=engine.mu)
        engine.v += engine.h * gravity
        normal, friction = engine.solve(contacts)
        f.result("toy", velocity=np.hstack([engine.v, engine.w]), normal_impulse=normal, friction_impulse=friction,
                 formulation="cone", options="gap_term=stabilised gamma=0.2")
    engine.x += engine.h * engine.v


engine = Engine()
with ss.Recorder("toy.h5", "toy engine 1.0", title="three balls") as recorder:
    for number in range(50):
        step(engine, number * engine.h, recorder)

# %% [markdown]
# ## What is in the file
#
# A BPMD file: HDF5 that any program reads, and everything else here does.

# %%
file = ss.open("toy.h5")
print(file.check())
frame = file[20]
frame.contacts

# %% [markdown]
# ## How wrong is it?
#
# Each stored answer is judged against Coulomb's law, from frame and answer alone. `energy` is the error in joules;
# its worst contact is where to look.

# %%
stored = frame.results()["toy"]
mine = frame.judge(stored.answer)
exact = ss.solve(frame, "auto", stop="energy<1e-14", with_={"gap_term": "stabilised", "gamma": 0.2})
print("the toy:", mine["energy"], "| exact:", exact.metrics["energy"])
print("velocities differ by", abs(stored.answer.velocity - exact.velocity).max(), "m/s")

# %% [markdown]
# Over time, and with more iterations:

# %%
import matplotlib.pyplot as plt

figure, axes = plt.subplots(figsize=(7, 3.5))
errors = {}
for Engine.iterations in (1, 4, 16):
    engine = Engine()
    with ss.Recorder("toy.h5", "toy engine 1.0", title="three balls") as recorder:
        for number in range(50):
            step(engine, number * engine.h, recorder)
    errors[Engine.iterations] = [frame.judge(frame.results()["toy"].answer)["energy"].value for frame in ss.open("toy.h5")]
    axes.semilogy(np.maximum(errors[Engine.iterations], 1e-18), label=f"{Engine.iterations} iterations")
axes.set_xlabel("step")
axes.set_ylabel("energy error, J")
axes.legend()

# %%
assert np.median(errors[16]) < np.median(errors[1])
ss.view("toy.h5", results=["toy"])

# %% [markdown]
# The replay has no shapes, so it draws boxes of the same mass and inertia. Contacts are coloured by their error; click one.
#
# ## What next
#
# - `ss.bench("toy.h5")`: which solver would do better on *your* problems ([which solver for my data](which_solver.py)).
# - Recorders for engines you cannot change: [engines.md](../engines.md).
