# %% [markdown]
# # Your first solver
#
# A contact problem in, impulses out: that is a solver. This page writes one in Python, runs it beside the solvers of the
# library on the same problems, and lets a report say who won. It takes ten minutes, most of them reading.
#
# The same in other languages: [Octave and MATLAB](../octave.md), [C](../plugins.md), [any program](../pipe.md).

# %%
import numpy as np
import stickslip as ss

# %% [markdown]
# ## Some problems
#
# A house of cards collapses slowly enough to be interesting. Every step of a simulation is a problem, called a *frame*: bodies,
# contacts, the time step. We simulate 40 steps and take every tenth frame.

# %%
ss.run("card-house", steps=40, parameters={"storeys": 2}, record="cards.h5", every=10)
frames = list(ss.open("cards.h5"))
frame = frames[-1]
frame

# %%
ss.view("cards.h5")

# %% [markdown]
# ## The problem
#
# A formulation turns a frame into mathematics. The default, `cone`, is Coulomb's law as it stands: for each contact an impulse
# $x = (x_N, x_T)$ inside the cone $|x_T| \le \mu x_N$, and a velocity $w = A x + b$, such that
#
# - nothing pulls and nothing penetrates: $x_N \ge 0$, $w_N \ge 0$, $x_N w_N = 0$;
# - friction opposes sliding, and is at its limit $\mu x_N$ while something slides.
#
# De Saxcé found that this is the same as saying: $x$ stays where it is when it takes a step along
# $-\tilde w$, with $\tilde w = w + \mu |w_T| e_N$, and is then projected back onto the cone. `problem.apply`, `problem.dual` and
# `problem.project` are $w$, $\tilde w$ and the projection.

# %%
problem = frame.problem("cone")
problem

# %% [markdown]
# ## The solver
#
# *Projected Jacobi* does just that, for all contacts at once, again and again. A solver is a function of a problem and a run.
# `run.x` is where to start and where to leave the answer. `run.iteration(x)` reports an iterate, and is false when the run
# should end: the stop rule holds, or time is up. Keyword parameters are its options.

# %%
@ss.solver
def my_jacobi(problem, run, omega=0.3):
    "Projected Jacobi: every contact at once, then back onto the cones."
    x, step = run.x, omega / problem.block_diagonal
    while run.iteration(x):
        x[:] = problem.project(x - step * problem.dual(problem.apply(x)))


result = ss.solve(frame, my_jacobi, stop="relative_energy<1e-4", iterations=2000, history=True)
result

# %% [markdown]
# It is a solver like any other: the answer is judged by the library, never by the solver. The error is an energy (J): how much
# the step gains or loses because the law is not quite fulfilled.

# %%
axes = result.history.plot("relative_energy")
ss.solve(frame, "nsgs", stop="relative_energy<1e-4", iterations=2000, history=True).history.plot("relative_energy", axes=axes)
axes.legend(["my-jacobi", "nsgs"])
axes.set_title("error over iterations")

# %% [markdown]
# `nsgs` visits the contacts one after the other and uses what it has just learnt. That is the whole difference, and it is a
# large one. Now all of them, on all frames. Each run takes place in a process of its own kind: your solver may crash or hang
# without harm.

# %%
@ss.solver
def hasty(problem, run):
    "What happens to a solver that divides by zero."
    return run.x / 0 + [1, 2]


results = ss.bench(frames, [my_jacobi, hasty, "nsgs", "pgs", "interior-point"], iterations=500, time_limit=2, progress=False)
results

# %% [markdown]
# One record per run, ready for pandas:

# %%
import pandas

table = pandas.DataFrame(results.records())
table.pivot_table(index="solver", values=["iterations", "relative_energy", "seconds"], aggfunc="median")

# %% [markdown]
# And the report, which explains every number in it:

# %%
results.report(title="My first solver")

# %%
best = table[table.outcome == "converged"].groupby("solver").size()
assert "hasty" not in best.index and set(table[table.solver == "hasty"].outcome) == {"failed"}
assert best.get("nsgs", 0) >= best.get("my-jacobi", 0) and best["interior-point"] == len(frames)
assert np.isfinite(result.velocity).all()

# %% [markdown]
# ## What next
#
# - Make `my_jacobi` better: larger `omega`, momentum, a warm start (`warm_starts=True`), a step per contact.
# - Solve something else: your own file in `ss.open`, other scenes (`ss.scenes()`), a polygonal formulation
#   (`formulation="stewart-trinkle"`).
# - Let it move the world: `ss.run("card-house", solver=my_jacobi, finisher="none", iterations=500)`.
