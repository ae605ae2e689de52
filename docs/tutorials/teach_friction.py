# %% [markdown]
# # Friction in 90 minutes
#
# For a lecture with exercises: from a block on a slope to a solver of your own, and to the trap that makes real engines fail.
# Each exercise ends with a test; the solution stands below it, so hide it first. Times are for students who know some mechanics
# and some Python.
#
# | | | min |
# | --- | --- | --- |
# | 1 | Coulomb's law, and a block on a slope | 15 |
# | 2 | From a frame to a matrix | 15 |
# | 3 | **Exercise**: projected Gauss-Seidel (PGS) | 20 |
# | 4 | **Exercise**: Lemke's method | 25 |
# | 5 | The mass-ratio trap | 15 |

# %%
import matplotlib.pyplot as plt
import numpy as np
import stickslip as ss

# %% [markdown]
# ## 1. Coulomb's law
#
# Where two bodies touch, the normal force $f_N$ only pushes. The friction force has at most the size $\mu f_N$; while the contact
# *sticks* it is whatever is needed, and while it *slips* it is $\mu f_N$ against the motion. A block on a slope therefore stays if
# $\tan\alpha \le \mu$, whatever it weighs.
#
# **Question.** $\mu = 0.25$. At which slope does it begin to slide, and how fast is it after one second at 20 degrees?

# %%
def speed_on_slope(degrees, mu=0.25):
    sim = ss.run("sliding-block", time=1.0, parameters={"slope": float(degrees), "mu": mu})
    return float(np.linalg.norm(sim.world.velocity[0, :3]))


slopes = np.arange(8, 25, 2)
speeds = [speed_on_slope(slope) for slope in slopes]
angle = np.radians(np.linspace(8, 24, 100))
plt.figure(figsize=(7, 3.5))
plt.plot(slopes, speeds, "o", label="simulated")
plt.plot(np.degrees(angle), 9.81 * np.maximum(0, np.sin(angle) - 0.25 * np.cos(angle)), label="g (sin a - mu cos a)")
plt.xlabel("slope, degrees")
plt.ylabel("speed after 1 s, m/s")
plt.legend()
print(f"it slides beyond {np.degrees(np.arctan(0.25)):.1f} degrees")

# %% [markdown]
# ## 2. From a frame to a matrix
#
# In one time step $h$, impulses change velocities: $v^+ = v + M^{-1}(h f + J^T x)$. The velocity at the contacts is then
# $w = J v^+ = A x + b$ with $A = J M^{-1} J^T$. That is all a solver sees: a matrix, a vector, and a law between $x$ and $w$.
#
# To stay with linear algebra, friction is a box here: two tangents, each with $|x_T| \le \mu x_N$ (formulation `box`).

# %%
wall = ss.run("box-pyramid", steps=30, parameters={"base": 3}).frame
problem = wall.problem("box")
A = problem.dense()
print(problem)
plt.figure(figsize=(4, 4))
plt.spy(A, markersize=1)
plt.title("A: who touches whom")
print("symmetric:", np.allclose(A, A.T), "| rank", np.linalg.matrix_rank(A), "of", len(A))

# %% [markdown]
# **Question.** The rank is smaller than the number of rows. Which impulses are not unique, and why is the motion still unique?
# (A table on four legs.)
#
# ## 3. Exercise: projected Gauss-Seidel
#
# Go through the unknowns one by one. For unknown $i$: compute $w_i = A_i x + b_i$; change $x_i$ so that $w_i$ would become 0, by
# $-w_i / A_{ii}$; then clamp $x_i$ to its bounds. The bounds of a friction row are $\pm\mu x_N$ with the *present* $x_N$:
# `problem.partner[i]` is the number of the normal row ($-1$ for the normal rows themselves, which have `lower` and `upper`), and
# `problem.factor[i]` is $\mu$.

# %%
@ss.solver(laws=["box", "coupled"])
def my_pgs(problem, run):
    "Gauss-Seidel over the rows, clamped."
    A, b, x = problem.dense(), problem.b, run.x
    partner, factor, lower, upper = problem.partner, problem.factor, problem.lower, problem.upper
    while True:
        for i in range(len(x)):
            x[i] -= (A[i] @ x + b[i]) / A[i, i]
            low, high = (lower[i], upper[i]) if partner[i] < 0 else (-factor[i] * x[partner[i]], factor[i] * x[partner[i]])
            x[i] = min(max(x[i], low), high)
        if not run.iteration(x):
            return


# %% [markdown]
# *Test*: the same errors as the library's `pgs`, iteration by iteration.

# %%
rules = dict(formulation="box", stop="energy<1e-10", iterations=30, history=True)
mine, theirs = ss.solve(wall, my_pgs, **rules), ss.solve(wall, "pgs", **rules)
axes = mine.history.plot("energy")
axes.semilogy(np.arange(1, len(theirs.history) + 1), theirs.history.energy, "x", label="pgs of the library")
axes.legend()
assert np.allclose(mine.history.energy[:10], theirs.history.energy[:10], rtol=1e-6)

# %% [markdown]
# **Question.** The error falls fast at first, then slowly. Impulses travel from contact to contact, one row per visit: how many
# sweeps does it take until the lowest box knows of the top one? What if the rows were visited from the ground upwards?
#
# ## 4. Exercise: Lemke's method
#
# With friction as a polygon (formulation `stewart-trinkle`: $n$ directions per contact) the problem is a *linear complementarity
# problem*: $w = A z + b$, $w \ge 0$, $z \ge 0$, $w^T z = 0$. Lemke's method walks along its edges and ends, after finitely many
# pivots, at a solution or at a ray. Add one artificial unknown $z_0$ that makes everything non-negative, then exchange unknowns
# until it is 0 again:
#
# 1. Tableau for $I w - A z - d z_0 = b$ with some $d > 0$. If $b \ge 0$ already, $z = 0$ is the solution.
# 2. $z_0$ enters, the $w_i$ with the most negative $b_i / d_i$ leaves.
# 3. The complement of what has just left enters ($w_i \leftrightarrow z_i$). The ratio test decides what leaves. Repeat until
#    $z_0$ leaves.

# %%
def lemke(A, b, most=2000):
    """z >= 0 with A z + b >= 0 and z . (A z + b) = 0, and the number of pivots; None for a ray."""
    n = len(b)
    if (b >= 0).all():
        return np.zeros(n), 0
    d = 1 + 0.01 * (0.618 * np.arange(n) % 1)  # nearly 1: equal ratios become rare
    T = np.hstack([np.eye(n), -A, -d[:, None], b[:, None]])  # columns: w 0..n-1, z n..2n-1, z0 2n, right-hand side
    basis = np.arange(n)
    entering, row = 2 * n, int(np.argmin(b / d))
    for pivot in range(1, most + 1):
        leaving, basis[row] = basis[row], entering
        T[row] /= T[row, entering]
        others = np.arange(n) != row
        T[others] -= np.outer(T[others, entering], T[row])
        if leaving == 2 * n:
            z = np.zeros(2 * n + 1)
            z[basis] = np.maximum(T[:, -1], 0)
            return z[n:2 * n], pivot
        entering = leaving + n if leaving < n else leaving - n  # the complement
        column = T[:, entering]
        rows = np.flatnonzero(column > 1e-9 * abs(column).max())
        if len(rows) == 0:
            return None, pivot
        ratios = np.maximum(T[rows, -1], 0) / column[rows]
        ties = rows[ratios <= ratios.min() * (1 + 1e-9) + 1e-12]
        row = next((i for i in ties if basis[i] == 2 * n), ties[np.argmax(column[ties])])  # z0 leaves when it can
    return None, most


# %% [markdown]
# *Test*: on a random problem, and on the pyramid, where the answer is judged against Coulomb's law itself.

# %%
random = np.random.default_rng(1)
half = random.normal(size=(12, 12))
M, q = half @ half.T + np.eye(12), random.normal(size=12)
z, pivots = lemke(M, q)
assert (z >= 0).all() and (M @ z + q > -1e-9).all() and abs(z @ (M @ z + q)) < 1e-9

polygonal = wall.problem("stewart-trinkle", directions=4)
z, pivots = lemke(*polygonal.lcp(dense=True))
metrics = wall.judge(polygonal.recover(z))
print(f"{len(polygonal)} unknowns, {pivots} pivots, energy error {metrics['energy']}")
library = ss.solve(wall, "lemke", formulation="stewart-trinkle", with_={"directions": 4})
assert metrics["energy"].value < 1e-6, metrics["energy"]
assert np.allclose(polygonal.recover(z).velocity, library.velocity, atol=1e-4)  # 1e-8 J move 1000 kg by 4e-6 m/s

# %% [markdown]
# **Question.** The pyramid stands still, so the polygon is as good as the cone. When is it not? (Let a block slide in a direction
# between two of the four: scene `isotropy`.)
#
# ## 5. The mass-ratio trap
#
# A heavy box on four light ones. What holds the heavy one must go through the light ones, and PGS hands it down in small pieces:
# the number of iterations grows with the ratio of masses. A direct method does not care.

# %%
ratios = 10.0 ** np.arange(0, 5)
iterations = {"my-pgs": [], "my Lemke": [], "interior-point": []}
stacks = []
for ratio in ratios:
    stack = ss.run("massratio", steps=2, parameters={"heavy": ratio, "light": 1.0}, solver="auto").frame
    stacks.append(stack)
    run = ss.solve(stack, my_pgs, formulation="box", stop="relative_energy<1e-6", iterations=400, with_={"gap_term": "zero"})
    iterations["my-pgs"].append(run.iterations)
    polygonal = stack.problem("stewart-trinkle", directions=4, gap_term="zero")
    iterations["my Lemke"].append(lemke(*polygonal.lcp(dense=True))[1])
    run = ss.solve(stack, "interior-point", stop="relative_energy<1e-6", with_={"gap_term": "zero"})
    iterations["interior-point"].append(run.iterations)
plt.figure(figsize=(7, 3.5))
for name, counts in iterations.items():
    plt.loglog(ratios, np.maximum(counts, 1), "o-", label=name)
plt.xlabel("heavy / light")
plt.ylabel("iterations (pivots) to 1e-6")
plt.legend()
assert iterations["my-pgs"][-1] > 5 * iterations["my-pgs"][0]
assert max(iterations["interior-point"]) < 50

# %% [markdown]
# This is why a crane in a game sags, and why a gripper drops what is heavy. **Question.** Name three remedies. (Warm starts; smaller
# steps; direct methods, or mass scaling, which changes the physics.) Try the first: `ss.run("massratio", solver=my_pgs,
# formulation="box", finisher="none", iterations=20)` with and without `warm_start`.
#
# ## The report
#
# Everything in one comparison, as in [your first solver](first_solver.py):

# %%
still = {"gap_term": "zero"}
results = ss.bench(stacks, [my_pgs, "pgs", "nsgs", "interior-point"], ["box", "cone"], with_={"box": still, "cone": still},
                   stop="relative_energy<1e-4", iterations=200, time_limit=2, progress=False)
print(results.summary())
results.report(title="Friction in 90 minutes")
