"""A binding in small: Python functions as solvers, a metric and a formulation in libstickslip.so, and the program as a function
of libstickslip_program.so, called in a forked child of this interpreter. Run as a script, with the words of a command."""
import ctypes
import os
import sys
import time
from ctypes import CFUNCTYPE, POINTER, Structure, byref, c_bool, c_char, c_char_p, c_double, c_int, c_size_t, c_uint, c_uint64, c_void_p
from pathlib import Path

BUILD = Path(os.environ["SS_BUILD_DIR"])
FAILED, LAW_BOX, LAW_COUPLED, LAW_CONE, ALL_LAWS = 7, 2, 4, 8, 31


class Error(Structure):
    _fields_ = [("code", c_int), ("message", c_char * 1000)]


class Block(Structure):
    _fields_ = [("law", c_int), ("first", c_int), ("size", c_int), ("mu", c_double), ("mu_rolling", c_double),
                ("contact", c_int), ("constraint", c_int)]


class Sparse(Structure):
    _fields_ = [("rows", c_int), ("cols", c_int), ("start", POINTER(c_int)), ("row", POINTER(c_int)),
                ("value", POINTER(c_double))]


class Problem(Structure):
    _fields_ = [("size", c_int), ("b", POINTER(c_double)), ("lower", POINTER(c_double)), ("upper", POINTER(c_double)),
                ("partner", POINTER(c_int)), ("factor", POINTER(c_double)), ("blocks", POINTER(Block)),
                ("block_count", c_int), ("diagonal", POINTER(c_double)), ("symmetric", c_bool), ("A", POINTER(Sparse)),
                ("bodies", c_void_p)]


class Solver(Structure):
    pass


class Run(Structure):
    _fields_ = [("arena", c_void_p), ("team", c_void_p), ("max_iterations", c_int), ("seed", c_uint64),
                ("solver", POINTER(Solver)), ("time_limit", c_double), ("state", c_void_p)]


SOLVE = CFUNCTYPE(c_int, POINTER(Problem), c_void_p, POINTER(Run), POINTER(c_double))
Solver._fields_ = [("abi", c_int), ("name", c_char_p), ("summary", c_char_p), ("reference", c_char_p),
                   ("weakness", c_char_p), ("laws", c_uint), ("traits", c_uint), ("options", c_void_p),
                   ("options_size", c_size_t), ("solve", SOLVE), ("refusal", c_void_p), ("context", c_void_p)]


class MetricValue(Structure):
    _fields_ = [("applies", c_bool), ("value", c_double), ("worst_contact", c_int), ("worst_constraint", c_int),
                ("why", c_char_p)]


class Answer(Structure):
    _fields_ = [("bodies", c_int), ("rows", c_int), ("contacts", c_int), ("velocity", POINTER(c_double * 6)),
                ("row_impulse", POINTER(c_double)), ("normal_impulse", POINTER(c_double))]


class Case(Structure):
    _fields_ = [("assembly", c_void_p), ("answer", POINTER(Answer))]


MEASURE = CFUNCTYPE(c_bool, c_void_p, POINTER(Case), POINTER(MetricValue), POINTER(Error))


class Metric(Structure):
    _fields_ = [("name", c_char_p), ("unit", c_char_p), ("summary", c_char_p), ("definition", c_char_p),
                ("measure", MEASURE), ("without_bodies", c_bool), ("context", c_void_p)]


class ContactView(Structure):
    _fields_ = [("contact", c_int), ("frame", c_void_p), ("normal", c_double * 3), ("tangent", (c_double * 3) * 2),
                ("in_plane", c_bool * 2), ("mu", c_double * 2), ("mu_rolling", c_double),
                ("mu_torsion", c_double), ("spin_coupling", c_int), ("gap", c_double), ("offset", c_double), ("compliance", c_double)]


class Unknown(Structure):
    _fields_ = [("direction", c_double * 3), ("turns", c_bool), ("law", c_int), ("lower", c_double),
                ("upper", c_double), ("partner", c_int), ("factor", c_double), ("offset", c_double),
                ("compliance", c_double)]


class ContactLaw(Structure):
    _fields_ = [("count", c_int), ("unknown", Unknown * 16), ("mu", c_double), ("mu_rolling", c_double),
                ("impulse", c_double * 3)]


CONTACT = CFUNCTYPE(c_bool, c_void_p, c_void_p, POINTER(ContactView), POINTER(ContactLaw), POINTER(Error))


class Formulation(Structure):
    _fields_ = [("name", c_char_p), ("summary", c_char_p), ("reference", c_char_p), ("laws", c_uint),
                ("options", c_void_p), ("options_size", c_size_t), ("model", c_void_p), ("models", c_uint),
                ("context", c_void_p), ("contact", CONTACT), ("assemble", c_void_p), ("recover", c_void_p),
                ("guess", c_void_p)]


class Extension(Structure):
    _fields_ = [("abi", c_int), ("name", c_char_p), ("version", c_char_p), ("solvers", POINTER(POINTER(Solver))),
                ("formulations", POINTER(POINTER(Formulation))), ("metrics", POINTER(POINTER(Metric))),
                ("scenes", c_void_p), ("hooks", c_void_p)]


library = ctypes.CDLL(str(BUILD / "libstickslip.so"), mode=ctypes.RTLD_GLOBAL)
library.ss_run_iteration.restype = c_bool
library.ss_register.restype = c_bool
library.ss_problem_project.argtypes = [POINTER(Problem), POINTER(c_double)]
library.ss_run_iteration.argtypes = [POINTER(Run), POINTER(c_double), c_void_p]
library.ss_run_status.argtypes = [POINTER(Run)]
library.ss_block_dual.argtypes = [POINTER(Block), c_void_p, c_void_p]

# ---- solvers ---------------------------------------------------------------------------------------------------------


def richardson(problem, run, x):
    """Projected Richardson, every number through ctypes."""
    p, A = problem.contents, problem.contents.A.contents
    w = (c_double * p.size)()
    step = 1.5 / max(sum(abs(A.value[k]) for k in range(A.start[j], A.start[j + 1])) for j in range(p.size))
    while True:
        w[:] = p.b[:p.size]
        for j in range(p.size):
            for k in range(A.start[j], A.start[j + 1]):
                w[A.row[k]] += A.value[k] * x[j]
        if not library.ss_run_iteration(run, x, None):
            return library.ss_run_status(run)
        for k in range(p.block_count):
            if p.blocks[k].law == LAW_CONE:
                at = ctypes.addressof(w) + 8 * p.blocks[k].first
                library.ss_block_dual(byref(p.blocks[k]), at, at)
        for i in range(p.size):
            x[i] -= step * w[i]
        library.ss_problem_project(problem, x)


def crashes(problem, run, x):
    ctypes.string_at(8)


def hangs(problem, run, x):
    while True:
        time.sleep(1)


def eats(problem, run, x):
    eaten = []
    while True:
        eaten.append(bytearray(16 << 20))


def raises(problem, run, x):
    raise ValueError("no such luck")


def guarded(function):
    """An exception is a failed run with a message."""
    def solve(problem, options, run, x):
        try:
            return function(problem, run, x)
        except Exception as error:
            return library.ss_run_fail(run, b"%s", f"{type(error).__name__}: {error}".encode())
    return SOLVE(solve)


# ---- a metric and a formulation --------------------------------------------------------------------------------------

def largest(metric, what, value, err):
    answer = what.contents.answer.contents
    value.contents.applies = True
    value.contents.value = max(answer.normal_impulse[:answer.contacts], default=0.0)
    return True


def frictionless(formulation, options, view, law, err):
    law.contents.count = 1
    unknown = law.contents.unknown[0]
    unknown.direction[:] = view.contents.normal[:]
    unknown.upper, unknown.offset, unknown.compliance = float("inf"), view.contents.offset, view.contents.compliance
    return True


def listed(kind, items):
    pointers = (POINTER(kind) * (len(items) + 1))()
    for i, item in enumerate(items):
        pointers[i] = ctypes.pointer(item)
    return pointers


def register():
    abi = library.ss_abi_version()
    solvers = [Solver(abi=abi, name=f"py-{f.__name__}".encode(), summary=b"Python", laws=ALL_LAWS, solve=guarded(f))
               for f in (richardson, crashes, hangs, eats, raises)]
    metrics = [Metric(name=b"largest", unit=b"N s", summary=b"largest normal impulse", measure=MEASURE(largest))]
    step = ctypes.addressof(ctypes.c_char.in_dll(library, "ss_step_option_table"))
    formulations = [Formulation(name=b"py-frictionless", summary=b"Python", laws=7, options=step, options_size=80,
                                contact=CONTACT(frictionless))]
    extension = Extension(abi=abi, name=b"python", version=b"1", solvers=listed(Solver, solvers),
                          formulations=listed(Formulation, formulations), metrics=listed(Metric, metrics))
    err = Error()
    if not library.ss_register(byref(extension), byref(err)):
        sys.exit(err.message.decode())
    return extension, solvers, metrics, formulations  # all of it has to stay


def call(words):
    """The exit code of `stickslip WORDS`, run in a child of this process."""
    sys.stdout.flush()
    child = os.fork()
    if child == 0:
        program = ctypes.CDLL(str(BUILD / "libstickslip_program.so"))
        argv = (c_char_p * (len(words) + 2))(b"stickslip", *[word.encode() for word in words], None)
        os._exit(program.ss_program_main(len(words) + 1, argv))
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


if __name__ == "__main__":
    kept = register()
    code = call(sys.argv[1:])
    sys.exit(code if code >= 0 else 128 - code)
