"""From a problem with equations and bounds to a plain LCP, and back."""
from __future__ import annotations

import ctypes
from typing import TYPE_CHECKING, Any, Optional, Tuple

import numpy as np

from . import _abi
from ._library import UsageError, lib
from ._memory import Owner, address_of, field_view

if TYPE_CHECKING:
    from .problem import Problem


class Reduction:
    """The way from x to z: free unknowns are eliminated, x = l + s z for the rest (s = -1 where only an upper bound exists),
    and each unknown with two finite bounds gets one more: w + y >= 0 against z, u - l - z >= 0 against y."""

    def __init__(self, problem: "Problem"):
        from .problem import Problem
        bad = [law for law in problem.laws if law not in ("free", "box")]
        if bad:
            raise UsageError(f"an LCP cannot have {' and '.join(bad)} unknowns; formulation 'stewart-trinkle' has none")
        self.problem = problem
        self.elimination: Optional[Owner] = None
        self.inner = problem
        if "free" in problem.laws:
            self.elimination = Owner(lib.ss_problem_eliminate_free(ctypes.byref(problem._struct)),
                                     lib.ss_elimination_destroy, problem._owner)
            struct = lib.ss_elimination_problem(self.elimination.pointer).contents
            self.inner = Problem(self.elimination, struct)
        lower, upper = self.inner.lower, self.inner.upper
        if np.any(np.isinf(lower) & np.isinf(upper) & (lower < 0)):
            raise UsageError("a box without bounds cannot be part of an LCP")
        self.sign = np.where(np.isinf(lower), -1.0, 1.0)
        self.origin = np.where(np.isinf(lower), upper, lower)
        self.boxed = np.flatnonzero(np.isfinite(lower) & np.isfinite(upper))
        self.width = (upper - lower)[self.boxed]
        self.is_plain = bool(np.all(self.sign > 0) and not np.any(self.origin) and not len(self.boxed))
        self.size = len(self.inner) + len(self.boxed)

    def matrix_and_vector(self, dense: bool) -> Tuple[Any, np.ndarray]:
        A: Any = self.inner.dense() if dense else self.inner.A
        if self.is_plain:
            return A, self.inner.b
        n, extra = len(self.inner), len(self.boxed)
        b = np.concatenate([self.sign * (self.inner.b + A @ self.origin), self.width])
        if dense:
            whole = np.zeros((n + extra, n + extra))
            whole[:n, :n] = self.sign[:, None] * A * self.sign
            whole[self.boxed, n + np.arange(extra)] = 1.0
            whole[n + np.arange(extra), self.boxed] = -1.0
            return whole, b
        from scipy import sparse
        signs = sparse.diags(self.sign)
        select = sparse.coo_matrix((np.ones(extra), (self.boxed, np.arange(extra))), shape=(n, extra))
        return sparse.csc_matrix(sparse.bmat([[signs @ A @ signs, select], [-select.T, None]])), b

    def restore(self, z: np.ndarray) -> np.ndarray:
        inner = np.ascontiguousarray(self.origin + self.sign * z[:len(self.inner)])
        if self.elimination is None:
            return inner
        x = np.zeros(len(self.problem))
        lib.ss_elimination_restore(self.elimination.pointer, address_of(inner), address_of(x))
        return x
