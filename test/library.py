"""The C library from Python, as far as the tests of files need it: make a frame, fill its arrays, write it."""
import ctypes
import os
from ctypes import POINTER, Structure, byref, c_bool, c_char, c_char_p, c_double, c_int, c_int32, c_uint8, c_void_p
from pathlib import Path

import numpy as np

CANONICAL, FLAT = 0, 1
WORLD = -1


class Error(Structure):
    _fields_ = [("code", c_int), ("message", c_char * 1000)]


def group(*members):
    """A struct of counts and then arrays, as ss_bodies, ss_constraints and ss_contacts are."""
    return type("Group", (Structure,), {"_fields_": [
        (name, c_int if name in ("count", "row_count", "group_count", "further_count", "trees", "map_count", "mass_count") else c_void_p) for name in members]})


Bodies = group("count", "masses", "positions", "quaternions", "velocities", "forces", "world_inertia_tensors",
               "ids", "states")
Constraints = group("count", "row_count", "pairs", "rows", "Jacobian", "violations", "time_derivative", "bounds",
                    "regularization", "friction", "friction_row", "holonomic", "implied", "further_count", "further_rows",
                    "further_bodies", "further_Jacobian")
Contacts = group("count", "pairs", "points", "normals", "gaps", "mu_k", "mu_s", "t_u", "restitution", "compliance",
                 "damping", "adhesion", "mu_r", "mu_t", "spin_coupling", "lever_arms", "surface_velocities")
Subcontacts = group("group_count", "count", "contact_groups", "cut", "groups", "alternatives", "roles", "points",
                    "normals", "gaps", "surface_velocities")
Generalized = group("trees", "count", "map_count", "mass_count", "tree", "map_start", "map_column", "map", "mass_start",
                    "mass_column", "mass", "velocity", "force")


class Frame(Structure):
    _fields_ = [("h", c_double), ("time", c_double), ("bodies", Bodies), ("constraints", Constraints),
                ("contacts", Contacts), ("subcontacts", Subcontacts),
                ("generalized", Generalized)]


class Manifest(Structure):
    _fields_ = [(name, c_char_p) for name in ("toolkit", "title", "description", "author", "date", "url",
                                              "keywords")] + [
        ("gravity", c_double * 3), ("image_width", c_int), ("image_height", c_int), ("image", c_void_p)]


class Answer(Structure):
    _fields_ = [("bodies", c_int), ("rows", c_int), ("contacts", c_int)] + [
        (name, c_void_p) for name in ("velocities", "lambda", "normal", "tangent", "rolling")] + [
        ("groups", c_int), ("subcontacts", c_int)] + [
        (name, c_void_p) for name in ("selection", "sub_normal", "sub_tangent", "sub_rolling")] + [
        ("coordinates", c_int), ("generalized_velocities", c_void_p)]


class Measure(Structure):
    _fields_ = [("name", c_char_p), ("values", c_void_p), ("count", c_int)]


class Result(Structure):
    _fields_ = [("solver", c_char_p), ("formulation", c_char_p), ("with_", c_char_p), ("answer", POINTER(Answer)),
                ("errors", c_void_p), ("error_count", c_int),
                ("iterations", c_int), ("error", c_double), ("seconds", c_double),
                ("measures", POINTER(Measure)), ("measure_count", c_int), ("certificate", c_void_p)]


def load():
    """The shared library of the build under test."""
    library = ctypes.CDLL(str(Path(os.environ["SS_BUILD_DIR"]) / "libstickslip.so"))
    for name in ("ss_frame_create", "ss_writer_open"):
        getattr(library, name).restype = c_void_p
    for name in ("ss_frame_enable", "ss_writer_simulation", "ss_writer_frame", "ss_writer_result",
                 "ss_writer_close"):
        getattr(library, name).restype = c_bool
    library.ss_frame_create.restype = POINTER(Frame)
    return library


# Numbers per item and their type in memory; an item is a body (b), a joint (k), a row (r) or a contact (c).
ARRAYS = {
    "bodies/masses": ("b", 1, c_double), "bodies/positions": ("b", 3, c_double),
    "bodies/quaternions": ("b", 4, c_double), "bodies/velocities": ("b", 6, c_double),
    "bodies/forces": ("b", 6, c_double), "bodies/world_inertia_tensors": ("b", 9, c_double),
    "bodies/ids": ("b", 1, c_int32), "bodies/states": ("b", 1, c_int32),
    "constraints/pairs": ("k", 2, c_int), "constraints/rows": ("k", 1, c_int),
    "constraints/Jacobian": ("r", 12, c_double), "constraints/violations": ("r", 1, c_double),
    "constraints/time_derivative": ("r", 1, c_double), "constraints/bounds": ("r", 2, c_double),
    "constraints/regularization": ("r", 1, c_double), "constraints/friction": ("r", 1, c_double),
    "constraints/friction_row": ("r", 1, c_int32), "constraints/holonomic": ("k", 1, c_uint8),
    "contacts/pairs": ("c", 2, c_int), "contacts/points": ("c", 3, c_double), "contacts/normals": ("c", 3, c_double),
    "contacts/gaps": ("c", 1, c_double), "contacts/mu_k": ("c", 2, c_double), "contacts/mu_s": ("c", 2, c_double),
    "contacts/t_u": ("c", 3, c_double), "contacts/restitution": ("c", 1, c_double),
    "contacts/compliance": ("c", 1, c_double), "contacts/mu_r": ("c", 1, c_double),
    "contacts/lever_arms": ("c", 6, c_double), "contacts/surface_velocities": ("c", 3, c_double),
}
OPTIONAL = ["constraints/regularization", "constraints/friction", "constraints/friction_row", "constraints/holonomic",
            "contacts/mu_s", "contacts/t_u", "contacts/restitution", "contacts/compliance", "contacts/mu_r",
            "contacts/lever_arms", "contacts/surface_velocities"]


def arrays_of(frame):
    """Every array of a frame as a NumPy view of its memory, one row per item."""
    counts = {"b": frame.bodies.count, "k": frame.constraints.count, "r": frame.constraints.row_count,
              "c": frame.contacts.count}
    views = {}
    for path, (per, width, kind) in ARRAYS.items():
        group_name, name = path.split("/")
        address = getattr(getattr(frame, group_name), name)
        if address and counts[per]:
            flat = np.ctypeslib.as_array((kind * (counts[per] * width)).from_address(address))
            views[path] = flat.reshape(counts[per], width)
    return views


class FrameFile:
    """Writes frames into a file: with FrameFile(library, path, CANONICAL) as file: file.frame(...)"""

    def __init__(self, library, path, layout):
        self.library, self.error = library, Error()
        self.writer = c_void_p(library.ss_writer_open(str(path).encode(), layout, False, byref(self.error)))
        self.must(self.writer)

    def must(self, ok):
        assert ok, self.error.message.decode()

    def simulation(self, manifest):
        self.must(self.library.ss_writer_simulation(self.writer, byref(manifest), byref(self.error)))

    def frame(self, frame):
        self.must(self.library.ss_writer_frame(self.writer, frame, byref(self.error)))

    def result(self, result):
        self.must(self.library.ss_writer_result(self.writer, byref(result), byref(self.error)))

    def __enter__(self):
        return self

    def __exit__(self, kind, *_):
        if kind is None:
            self.must(self.library.ss_writer_close(self.writer, byref(self.error)))
        else:
            self.library.ss_writer_discard(self.writer)


def random_frame(library, seed, bodies=3, joints=2, rows=5, contacts=4, optional=OPTIONAL):
    """A frame with a different number in every place; (pointer, arrays by path). Freed by ss_frame_destroy."""
    error = Error()
    frame = library.ss_frame_create(bodies, joints, rows, contacts, byref(error))
    assert frame, error.message.decode()
    for path in optional:
        assert library.ss_frame_enable(frame, path.encode(), byref(error)), error.message.decode()
    frame.contents.h, frame.contents.time = 0.01, 0.25
    random = np.random.default_rng(seed)
    arrays = arrays_of(frame.contents)
    for path, values in arrays.items():
        if values.dtype == np.float64:
            values[:] = random.standard_normal(values.shape)
    if "constraints/bounds" in arrays:
        arrays["constraints/bounds"][0] = -np.inf, np.inf
    arrays["bodies/ids"][:, 0] = 10 + 10 * np.arange(bodies)
    arrays["bodies/states"][:, 0] = [1, -1, 1, 0, 1][:bodies]
    for name, count in (("constraints", joints), ("contacts", contacts)):
        if count:
            arrays[name + "/pairs"][:] = [(WORLD, 0) if i % 2 else (i % bodies, WORLD) for i in range(count)]
            arrays[name + "/pairs"][0] = WORLD, bodies - 1
    if joints:
        arrays["constraints/rows"][:, 0] = [rows - joints + 1] + [1] * (joints - 1)
    return frame, arrays
