"""The loop of the BPMD paper: every frame of a file as a polygonal LCP, solved by a Lemke of our own, judged.

    python3 own_lemke.py problems.h5
"""
import sys

import numpy as np
import stickslip as ss


def lemke(A, b, most=10000):
    """z >= 0 with w = A z + b >= 0 and w . z = 0, and the number of pivots; None where the path ends on a ray.
    Cottle, Pang, Stone, The Linear Complementarity Problem, 4.4.5: w - A z - d z0 = b, with a d that makes ties rare."""
    n = len(b)
    d = 1 + 0.01 * (0.618034 * np.arange(n) % 1)
    tableau = np.hstack([b[:, None], np.eye(n), -A, -d[:, None]])  # columns: b, w, z, z0
    basis = np.arange(n)  # variables: w = 0..n-1, z = n..2n-1, z0 = 2n
    entering, row = 2 * n, int(np.argmin(b / d))
    if np.all(b >= 0):
        return np.zeros(n), 0
    for pivots in range(1, most):
        tableau[row] /= tableau[row, 1 + entering]
        tableau -= np.outer(np.where(np.arange(n) == row, 0.0, tableau[:, 1 + entering]), tableau[row])
        leaving, basis[row] = basis[row], entering
        if leaving == 2 * n:
            x = np.zeros(2 * n + 1)
            x[basis] = tableau[:, 0]
            z = np.maximum(x[n:2 * n], 0.0)
            return (z if np.all(A @ z + b > -1e-8) else None), pivots  # rounding may have led astray
        entering = leaving + n if leaving < n else leaving - n  # the complement of what left
        column = tableau[:, 1 + entering]
        rows = np.flatnonzero(column > 1e-9 * max(1.0, np.abs(column).max()))
        if len(rows) == 0:
            return None, pivots
        ratios = np.maximum(tableau[rows, 0], 0.0) / column[rows]
        rows = rows[ratios <= ratios.min() * (1 + 1e-9) + 1e-12]  # of equal ones z0, or the largest pivot
        row = int(next((r for r in rows if basis[r] == 2 * n), rows[np.argmax(column[rows])]))
    return None, most


def main(path):
    for frame in ss.open(path):
        if not frame.check().ok:
            print(frame.place, "left out:", frame.check()[0].message)
            continue
        problem = frame.problem("stewart-trinkle", sides=8)
        A, b = problem.lcp(dense=True)
        z, pivots = lemke(A, b)
        if z is None:
            print(frame.place, "ends on a ray after", pivots, "pivots")
            continue
        metrics = frame.judge(problem.recover(z))
        print(frame.place, pivots, "pivots, energy error", metrics["energy"], "; creep", metrics["creep"])


if __name__ == "__main__":
    main(sys.argv[1])
