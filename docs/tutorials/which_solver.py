# %% [markdown]
# # Which solver for my data?
#
# There is no best solver, only one that is best for your problems, your accuracy and your time. This page finds it for a file;
# put the name of your own in the first cell.

# %%
import stickslip as ss

FILE = "arch.h5"
ss.run("masonry-arch", steps=40, parameters={"blocks": 9}, record=FILE, every=8)  # leave out for your own file
frames = ss.open(FILE)
frames, frames.check()

# %% [markdown]
# ## What kind of problem is it?
#
# More contact rows than degrees of freedom mean impulses that are not unique (velocities are what counts then), and large ratios
# of masses make methods slow that work contact by contact.

# %%
import numpy as np

frame = frames[-1]
masses = frame.bodies.mass
print(f"{len(masses)} bodies, {len(frame.contacts)} contacts, mass ratio {masses.max() / masses.min():.3g}")
print(f"contact rows over degrees of freedom: {3 * len(frame.contacts) / (6 * len(masses)):.2f}")

# %% [markdown]
# ## A campaign
#
# Every solver that fits, to 1e-6, at most two seconds each. Whatever goes wrong is a row.

# %%
SOLVERS = ["nsgs", "pgs", "apgd", "admm", "interior-point", "semismooth-newton", "auto"]
known = {item.name for item in ss.solvers()}
results = ss.bench(FILE, [name for name in SOLVERS if name in known], stop="relative_energy<1e-6", iterations=2000, time_limit=1,
                   progress=False)
print(results.summary())

# %% [markdown]
# ## How accurate must it be?
#
# The same runs, asked for less: at 1e-2 the order may be another one. History is stored, so nothing is run again.

# %%
for tolerance in (1e-2, 1e-6):
    table = [line for line in results.summary(main=tolerance).splitlines() if line.strip()]
    print(f"to {tolerance:g}:", *table[:4], sep="\n  ")

# %%
results.report(title="Which solver for the arch?")

# %% [markdown]
# ## With a deadline
#
# A controller or a game has a fixed time per step, and asks for the best answer until then: `time_limit` and
# `keep="best:energy"`. `auto` chooses the method from the problem and the time it has.

# %%
import pandas

rows = []
for milliseconds in (0.2, 1, 5, 20):
    for name in ("nsgs", "auto"):
        result = ss.solve(frame, name, stop="energy<1e-12", time_limit=1e-3 * milliseconds, iterations=100000, keep="best:energy")
        rows.append({"solver": name, "ms": milliseconds, "energy error (J)": result.metrics["energy"].value})
deadline = pandas.DataFrame(rows).pivot(index="ms", columns="solver", values="energy error (J)")
deadline

# %%
outcomes = results.outcomes
assert outcomes["interior-point"].get("converged", 0) == len(frames), outcomes
assert np.isfinite(deadline.values).all()

# %% [markdown]
# ## What the numbers mean
#
# [report.md](../report.md) defines everything in the report, [metrics.md](../metrics.md) the errors, [solvers.md](../solvers.md)
# says of each solver when it fails.
