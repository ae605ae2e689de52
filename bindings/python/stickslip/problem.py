"""What a formulation makes of a frame: the mathematical problem of a solver."""
from __future__ import annotations

import ctypes
import math
from typing import TYPE_CHECKING, Any, Dict, List, NamedTuple, Optional, Tuple

import numpy as np

from . import _abi
from ._library import Error, InputError, UsageError, all_of, encoded, lib, path_bytes, text
from ._memory import Lent, Owner, address_of, as_doubles, field_view, view
from .answer import Answer
from .findings import Collector, Findings
from .options import Filled, Listing, Option, describe, described

if TYPE_CHECKING:
    from .diagnosis import Diagnosis
    from .frame import Frame

LAWS: Dict[int, str] = {1 << k: name.decode() for k in range(32) for name in [lib.ss_law_name(1 << k)] if name}
LAW_BITS = {name: bit for bit, name in LAWS.items()}


def law_names(bits: int) -> List[str]:
    return [name for bit, name in LAWS.items() if bits & bit]


class FormulationInfo(NamedTuple):
    """A formulation: what it is, where it comes from, which laws its problems contain, what it can be told."""

    name: str
    summary: str
    reference: str
    laws: List[str]
    options: List[Option]

    def __repr__(self) -> str:
        return described(self)


def formulations() -> Listing[FormulationInfo]:
    """Every formulation there is; formulations()["box"] is one of them."""
    return Listing([FormulationInfo(text(item.name) or "", text(item.summary) or "", text(item.reference) or "", law_names(item.laws),
                            describe(item.options))
            for item in all_of(lib.ss_formulation_count, lib.ss_formulation_at)])


def find_formulation(name: Any) -> Any:
    """The ss_formulation of a name, or of one made by the decorator `formulation`."""
    name = getattr(name, "name", name)
    found = lib.ss_formulation_find(encoded(name))
    if not found:
        names = ", ".join(text(item.name) or "" for item in all_of(lib.ss_formulation_count, lib.ss_formulation_at))
        raise UsageError(f"unknown formulation '{name}'; there are {names}")
    return found


def filled_options(formulation: Any, options: Dict[str, Any]) -> Filled:
    """The options of a formulation; `sides` of the friction polygon is the papers' word for our `directions`."""
    if "sides" in options and lib.ss_options_find(formulation.options, b"directions"):
        options = {("directions" if name == "sides" else name): value for name, value in options.items()}
    return Filled(formulation.options, formulation.options_size, options)


def step_options(formulation: str, options: Dict[str, Any]) -> Any:
    """How a formulation with these options treats gaps and joints: an ss_step_options."""
    filled = filled_options(find_formulation(formulation).contents, options)
    return _abi.ss_step_options.from_buffer_copy(filled.buffer)


class Block(NamedTuple):
    """A run of unknowns under one law; of a cone the first one is the normal."""

    law: str
    first: int
    size: int
    mu: float
    mu_rolling: float
    contact: Optional[int]
    constraint: Optional[int]


class LCP(NamedTuple):
    """w = A z + b, w >= 0, z >= 0, w . z = 0."""

    A: Any
    b: np.ndarray


def sparse_matrix(owner: Any, matrix: Any) -> Any:
    """An ss_sparse as scipy.sparse.csc_array without a copy."""
    from scipy import sparse  # on demand: importing it takes longer than everything else here
    kind = getattr(sparse, "csc_array", sparse.csc_matrix)
    start = view(owner, matrix.start, (matrix.cols + 1,), "i4")  # owner None: copies, as view makes them
    count = int(start[-1])
    made = kind((view(owner, matrix.value, (count,)), view(owner, matrix.row, (count,), "i4"), start),
                shape=(matrix.rows, matrix.cols), copy=False)
    made.has_sorted_indices = made.has_canonical_format = True
    return made


def dense_matrix(matrix: Any) -> np.ndarray:
    """An ss_sparse as a dense array; needs no SciPy."""
    start = view(None, matrix.start, (matrix.cols + 1,), "i4")
    count = int(start[-1])
    dense = np.zeros((matrix.rows, matrix.cols))
    columns = np.repeat(np.arange(matrix.cols), np.diff(start))
    dense[view(None, matrix.row, (count,), "i4"), columns] = view(None, matrix.value, (count,))
    return dense


def new_sparse(A: Any) -> Any:
    """An ss_sparse (the caller's to free) from a dense array or anything of scipy.sparse."""
    if hasattr(A, "tocoo"):
        coo = A.tocoo()
        i, j, x = (np.ascontiguousarray(coo.row, np.int32), np.ascontiguousarray(coo.col, np.int32),
                   np.ascontiguousarray(coo.data, np.float64))
        shape = coo.shape
    else:
        A = np.asarray(A, np.float64)
        if A.ndim != 2:
            raise ValueError(f"a matrix has two dimensions, not {A.ndim}")
        shape = A.shape
        at = np.nonzero(A)
        i, j = (np.ascontiguousarray(index, np.int32) for index in at)
        x = np.ascontiguousarray(A[at])
    return lib.ss_sparse_from_triplets(shape[0], shape[1], len(x), address_of(i), address_of(j), address_of(x))


class Problem(Lent):
    """w = A x + b with a law between x and w for every unknown: free, box, coupled, cone.

    From a frame by `frame.problem(formulation, ...)`, from an FCLIB file, or from arrays by `Problem.from_arrays`.

    >>> import numpy as np, stickslip as ss
    >>> problem = ss.Problem.from_arrays([[2.0, 1.0], [1.0, 2.0]], [-5.0, -6.0])     # an LCP
    >>> ss.solve(problem, "lemke").x.round(12)
    array([1.33333333, 2.33333333])
    """

    frame: Optional["Frame"] = None        # where it comes from
    formulation: Optional[str] = None
    losses: Findings = Findings()          # what the formulation cannot express

    def __init__(self, owner: Any, struct: Any, assembly: Any = None):
        self._owner, self._struct, self._assembly = owner, struct, assembly
        self._reduction: Any = None

    @classmethod
    def of_frame(cls, frame: "Frame", formulation: str, options: Dict[str, Any]) -> "Problem":
        frame.must_be_valid()
        found = find_formulation(formulation)
        filled = filled_options(found.contents, options)
        assembly = Owner(lib.ss_assembly_create(found, filled.address), lib.ss_assembly_destroy, frame._owner, filled)
        notes = Collector()
        lib.ss_assemble(assembly.pointer, frame._struct, notes.struct)
        problem = cls(assembly, lib.ss_assembly_problem(assembly.pointer).contents, assembly)
        problem.frame, problem.formulation, problem.losses = frame, formulation, notes.taken()
        return problem

    @classmethod
    def from_arrays(cls, A: Any, b: Any, lower: Any = 0.0, upper: Any = math.inf) -> "Problem":
        """A problem of your own: lower <= x <= upper, where both are infinite w = 0. The default is an LCP."""
        b = np.ascontiguousarray(b, np.float64)
        size = len(b)
        values = A.data if hasattr(A, "tocoo") else A
        for name, numbers in (("A", np.asarray(values, np.float64)), ("b", b)):
            if not np.isfinite(numbers).all():
                raise InputError(f"{name} has numbers that are not finite")
        low = np.broadcast_to(np.asarray(lower, np.float64), (size,))
        high = np.broadcast_to(np.asarray(upper, np.float64), (size,))
        is_free = np.isneginf(low) & np.isposinf(high)
        edges = [0, *(np.flatnonzero(np.diff(is_free)) + 1).tolist(), size] if size else [0]
        owner = Owner(lib.ss_problem_create(size, len(edges) - 1, -1), lib.ss_problem_destroy)
        problem = cls(owner, owner.pointer.contents)
        struct = owner.pointer.contents
        matrix = new_sparse(A)
        struct.A = matrix
        if (matrix.contents.rows, matrix.contents.cols) != (size, size):
            raise ValueError(f"A is {matrix.contents.rows} x {matrix.contents.cols}, but b has {size} numbers")
        for name, values in (("b", b), ("lower", low), ("upper", high)):
            field_view(owner, struct, name, size, writable=True)[:] = values  # type: ignore[index]
        diagonal = field_view(owner, struct, "diagonal", size, writable=True)
        diagonal[:] = [lib.ss_sparse_get(matrix, i, i) for i in range(size)]  # type: ignore[index]
        field_view(owner, struct, "partner", size, writable=True)[:] = -1  # type: ignore[index]
        for index, (first, last) in enumerate(zip(edges[:-1], edges[1:])):
            block = struct.blocks[index]
            block.law = _abi.SS_LAW_FREE if is_free[first] else _abi.SS_LAW_BOX
            block.first, block.size, block.contact, block.constraint = int(first), int(last - first), -1, -1
        struct.symmetric = lib.ss_sparse_symmetry_error(matrix) == 0
        return problem

    # ---- looking at it ---------------------------------------------------------------------------------

    def __len__(self) -> int:
        return int(self._struct.size)

    size = property(__len__, doc="Number of unknowns.")

    def _array(self, name: str) -> np.ndarray:
        return field_view(self._owner, self._struct, name, len(self))  # type: ignore[return-value]

    @property
    def b(self) -> np.ndarray:
        """w at x = 0: m/s or rad/s."""
        return self._array("b")

    @property
    def lower(self) -> np.ndarray:
        """Lower bounds of x; -inf for free unknowns, not used in cones."""
        return self._array("lower")

    @property
    def upper(self) -> np.ndarray:
        return self._array("upper")

    @property
    def partner(self) -> np.ndarray:
        """Of coupled unknowns: the unknown that the bounds +-factor |x_partner| follow, else -1."""
        return self._array("partner")

    @property
    def factor(self) -> np.ndarray:
        return self._array("factor")

    @property
    def diagonal(self) -> np.ndarray:
        """a_ii."""
        return self._array("diagonal")

    def _matrix(self) -> Any:
        lib.ss_problem_need_matrix(ctypes.byref(self._struct))
        return self._struct.A.contents

    @property
    def A(self) -> Any:
        """The matrix as scipy.sparse.csc_array, without a copy."""
        return sparse_matrix(self._owner, self._matrix())

    def dense(self) -> np.ndarray:
        """The matrix as a dense NumPy array; needs no SciPy."""
        return dense_matrix(self._matrix())

    @property
    def blocks(self) -> List[Block]:
        """Runs of unknowns under one law, in order."""
        return [Block(LAWS[item.law], item.first, item.size, item.mu, item.mu_rolling,
                      item.contact if item.contact >= 0 else None, item.constraint if item.constraint >= 0 else None)
                for item in self._struct.blocks[:self._struct.block_count]]

    def _block_table(self) -> np.ndarray:
        """The blocks as a NumPy table, for arithmetic on all of them."""
        count, each = self._struct.block_count, ctypes.sizeof(_abi.ss_block)
        data = ctypes.string_at(self._struct.blocks, count * each) if count else b""
        return np.frombuffer(data, _BLOCK_TABLE)

    @property
    def cones(self) -> List[Block]:
        """The blocks that are cones: mu, and unknowns first .. first + size - 1."""
        return [block for block in self.blocks if block.law in ("cone", "convex")]

    @property
    def laws(self) -> List[str]:
        """Which laws occur."""
        return law_names(lib.ss_problem_laws(ctypes.byref(self._struct)))

    @property
    def is_symmetric(self) -> bool:
        return bool(self._struct.symmetric)

    # ---- arithmetic ------------------------------------------------------------------------------------

    def _point(self, x: Any) -> np.ndarray:
        return as_doubles(x, (len(self),), "x")

    def apply(self, x: Any) -> np.ndarray:
        """w = A x + b, without building A where bodies are known."""
        x = self._point(x)
        w, scratch = np.empty(len(self)), np.empty(lib.ss_problem_scratch(ctypes.byref(self._struct)))
        lib.ss_problem_apply(ctypes.byref(self._struct), address_of(x), address_of(scratch), address_of(w))
        return w

    def project(self, x: Any) -> np.ndarray:
        """The nearest point that the laws allow: boxes clamped, cones projected. A new array."""
        x = np.array(x, np.float64)
        if x.shape != (len(self),):
            raise ValueError(f"x has the shape {x.shape}, must be {(len(self),)}")
        lib.ss_problem_project(ctypes.byref(self._struct), address_of(x))
        return x

    def dual(self, w: Any) -> np.ndarray:
        """De Saxcé's velocity w~: w + (mu |w_T| + mu_r |w_M|) e_N in Coulomb's cones, w itself elsewhere. A new array.

        x = project(x - s * dual(apply(x))) holds at a solution, for any step s > 0 that is the same within a block."""
        w = np.array(self._point(w))
        table = self._block_table()
        table = table[(table["law"] == _abi.SS_LAW_CONE) & np.isfinite(table["mu"])]
        for size in np.unique(table["size"]):
            cones = table[table["size"] == size]
            first = cones["first"]
            rolling = size - 2 if size > 4 else size  # where the second disc begins
            tangents = w[first[:, None] + np.arange(1, rolling)]
            shift = cones["mu"] * np.sqrt((tangents**2).sum(axis=1))
            if size > 4:
                shift += cones["mu_rolling"] * np.sqrt((w[first[:, None] + np.arange(rolling, size)]**2).sum(axis=1))
            w[first] += shift
        return w

    @property
    def block_diagonal(self) -> np.ndarray:
        """For every unknown the largest a_ii of its cone, or its own: 1 / block_diagonal is a step for Jacobi methods."""
        diagonal = self.diagonal.copy()
        table = self._block_table()
        for size in (2, 3, 4, 5, 6):
            is_cone = (table["law"] == _abi.SS_LAW_CONE) | (table["law"] == _abi.SS_LAW_CONVEX)
            first = table[is_cone & (table["size"] == size)]["first"]
            members = first[:, None] + np.arange(size)
            diagonal[members] = diagonal[members].max(axis=1, keepdims=True) if len(first) else 0
        return diagonal

    def measure(self, x: Any) -> Dict[str, float]:
        """Gauges of x, computed from the problem alone; NaN where one does not apply."""
        values = np.empty(_abi.SS_GAUGE_COUNT)
        lib.ss_problem_measure(ctypes.byref(self._struct), address_of(self._point(x)), address_of(values))
        return dict(zip(GAUGES, values.tolist()))

    def lcp(self, dense: bool = False) -> LCP:
        """The problem as an LCP (A, b): w = A z + b >= 0, z >= 0, w . z = 0. Unpacks: `A, b = problem.lcp()`.

        Equations of joints are solved for and disappear; bounds other than [0, inf) are shifted, and finite upper ones add an
        unknown each. `recover` takes z as it is. Cones and coupled bounds cannot be an LCP: use a formulation with
        polyhedral friction, such as "stewart-trinkle"."""
        from .lcp import Reduction
        if self._reduction is None:
            self._reduction = Reduction(self)
        return LCP(*self._reduction.matrix_and_vector(dense))

    # ---- back to physics -------------------------------------------------------------------------------

    def x_of(self, z: Any) -> np.ndarray:
        """The unknowns x of this problem for a solution z of its LCP."""
        if z is None:
            raise TypeError("there is no solution to recover: z is None")
        z = np.ascontiguousarray(z, np.float64).ravel()
        if self._reduction is not None and len(z) == self._reduction.size:
            return self._reduction.restore(z)
        return self._point(z)

    def recover(self, z: Any) -> Answer:
        """The physical answer for the unknowns x of this problem, or for the solution z of its LCP."""
        if self._assembly is None or self.frame is None:
            raise Error("a problem that does not come from a frame has no bodies to recover")
        x = self.x_of(z)
        answer = Answer.for_frame(self.frame)
        lib.ss_assembly_recover(self._assembly.pointer, address_of(x), answer._struct)
        answer._step = self.step()
        answer._writable = False
        return answer

    def guess(self, answer: Answer) -> np.ndarray:
        """x for a known answer: a warm start."""
        if self._assembly is None:
            raise Error("a problem that does not come from a frame has no answers")
        if self.frame is not None:
            from .judge import must_fit
            must_fit(self.frame, answer)
        x = np.zeros(len(self))
        lib.ss_assembly_guess(self._assembly.pointer, answer._struct, address_of(x))
        return x

    def step(self) -> Any:
        """A copy of the rules about gaps and joints, by which answers are judged."""
        return _abi.ss_step_options.from_buffer_copy(lib.ss_assembly_step(self._assembly.pointer).contents)

    def diagnose(self, ray: Any = None) -> "Diagnosis":
        """What is wrong with the problem, in words: rank, contradictions, wedged bodies, units. `ray` is that of a run."""
        from .diagnosis import diagnose
        return diagnose(self, ray)

    def write_matrix_market(self, prefix: Any) -> None:
        """Writes PREFIX_A.mtx, PREFIX_b.mtx and PREFIX_unknowns.csv."""
        lib.ss_matrix_market_write_problem(path_bytes(prefix), ctypes.byref(self._struct))

    def __repr__(self) -> str:
        if "_struct" not in self.__dict__:
            return "<Problem of a run that is over>"
        origin = f" {self.formulation}" if self.formulation else ""
        place = f" of {self.frame!r}" if self.frame is not None else ""
        return f"<Problem{origin}: {len(self)} unknowns, {' + '.join(self.laws) or 'empty'}{place}>"


_BLOCK_TABLE = np.dtype({
    "names": [name for name, _ in _abi.ss_block._fields_],
    "formats": [{ctypes.c_int: "i4", ctypes.c_double: "f8"}[kind] for _, kind in _abi.ss_block._fields_],
    "offsets": [getattr(_abi.ss_block, name).offset for name, _ in _abi.ss_block._fields_],
    "itemsize": ctypes.sizeof(_abi.ss_block)})
GAUGES: Tuple[str, ...] = tuple(lib.ss_gauge_name(gauge).decode() for gauge in range(_abi.SS_GAUGE_COUNT))
