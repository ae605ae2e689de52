"""Files that no reader must trust, made from one good frame. Each says what it is and what a message about it has to
name.

    make_malformed.py DIRECTORY      writes them all, to look at by hand
"""
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Callable

import h5py
import numpy as np

from make_dialects import frame_name, genuine, make_frame, write_agx

FRAME = f"/simulation_000001/{frame_name(1)}"
NB, NC, JOINTS = 5, 7, ["ball", "hinge_low", "hinge_motor"]
NR = 3 + 6 + 6


@dataclass
class Case:
    name: str
    names: str  # what the message must contain: the data set or link
    make: Callable  # of the open file's frame group; or of a path, when whole
    whole: bool = False  # the case makes the file itself
    semantic: bool = False  # can be read, but `check` must refuse it


CASES = []


def case(names, **options):
    """Registers the function below; it gets the frame's group and may break it."""
    def register(function):
        CASES.append(Case(function.__name__, names, function, **options))
        return function
    return register


def broken(name, names, change, **options):
    CASES.append(Case(name, names, change, **options))


def write_good(path):
    with h5py.File(path, "w") as file:
        write_agx(file.create_group(FRAME), make_frame(1, NB, JOINTS, NC))


def write_case(directory, malformed):
    path = Path(directory) / f"{malformed.name}.h5"
    if malformed.whole:
        malformed.make(path)
        return path
    write_good(path)
    with h5py.File(path, "r+") as file:
        malformed.make(file[FRAME])
    return path


def replace(place, name, **options):
    if name in place:
        del place[name]
    return place.create_dataset(name, **options)


# ---- links and storage outside the file ---------------------------------------------------------------------------


@case("bodies/masses")
def external_storage(place):
    secret = Path(place.file.filename).with_suffix(".secret")
    secret.write_bytes(b"A" * 8 * NB)
    replace(place, "bodies/masses", shape=(NB, 1), dtype="<f8", external=[(str(secret), 0, h5py.h5f.UNLIMITED)])


@case("bodies/masses")
def external_link_to_a_data_set(place):
    del place["bodies/masses"]
    place["bodies/masses"] = h5py.ExternalLink("/etc/passwd", "/masses")


@case("mbs_frame000002")
def external_link_to_a_frame(place):
    place.parent[frame_name(2)] = h5py.ExternalLink("other.h5", "/mbs_frame000001")


@case("anything")
def external_link_that_nobody_reads(place):
    place["contacts/anything"] = h5py.ExternalLink("other.h5", "/x")


@case("contacts/gaps")
def soft_link_to_a_data_set(place):
    place["contacts"].move("gaps", "elsewhere")
    place["contacts/gaps"] = h5py.SoftLink(f"{FRAME}/contacts/elsewhere")


@case("bodies")
def soft_link_to_a_group(place):
    place.move("bodies", "elsewhere")
    place["bodies"] = h5py.SoftLink(f"{FRAME}/elsewhere")


@case("simulation_000002")
def soft_link_to_itself(place):
    place.file["simulation_000002"] = h5py.SoftLink("/simulation_000002")


@case("bodies/positions")
def virtual_data_set(place):
    layout = h5py.VirtualLayout((NB, 3), "<f8")
    layout[...] = h5py.VirtualSource("other.h5", "x", shape=(NB, 3))
    del place["bodies/positions"]
    place["bodies"].create_virtual_dataset("positions", layout)


@case("bodies/masses")
def hard_links_in_a_circle(place):
    del place["bodies"]
    place["bodies"] = place


@case("simulation_000003/mbs_frame000001")
def simulation_that_is_its_own_frame(place):
    place.file["simulation_000003"] = h5py.Group(place.file.create_group("x").id)
    place.file["simulation_000003/mbs_frame000001"] = place.file["simulation_000003"]
    place.file["simulation_000003/bodies"] = place.file["simulation_000003"]


# ---- shapes, which only pictures need --------------------------------------------------------------------------


def add_shapes(place):
    """Two shapes: a hull of body 1 and a heightfield of the world."""
    group = place.parent.create_group("shapes")
    for name, values, kind in [
            ("kinds", [[6], [8]], "i4"), ("bodies", [[1], [0]], "i4"), ("scenery", [[-1], [-1]], "i4"),
            ("sizes", [[1, 1, 1]] * 2, "f8"), ("positions", [[0, 0, 0]] * 2, "f8"), ("quaternions", [[1, 0, 0, 0]] * 2, "f8"),
            ("colours", [[0], [255]], "i4"), ("ghosts", [[0], [1]], "u1"), ("meshes", [[0], [-1]], "i4"),
            ("mesh_sizes", [[4, 4]], "i4"), ("vertices", [[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]], "f8"),
            ("triangles", [[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]], "i4"), ("grids", [[0, 0], [2, 2]], "i4"),
            ("heights", [[0]] * 4, "f8")]:
        group[name] = np.array(values, kind)
    return group


def broken_shapes(name, names, change):
    broken("shapes_" + name, names, lambda place: change(add_shapes(place)))


def wrong(name, index, value):
    def change(shapes):
        shapes[name][index] = value
    return change


for missing in ("kinds", "bodies", "scenery", "sizes", "positions", "quaternions", "colours", "ghosts", "mesh_sizes",
                "vertices", "triangles", "heights"):
    broken_shapes(f"without_{missing}", f"shapes/{missing}", lambda shapes, name=missing: shapes.__delitem__(name))
for name, value in [("sizes", np.nan), ("sizes", -1.0), ("sizes", np.inf), ("positions", np.nan), ("quaternions", 0.0),
                    ("quaternions", 1e200), ("colours", -1), ("colours", 1 << 24), ("ghosts", 2), ("bodies", -1),
                    ("scenery", -2), ("scenery", 0), ("meshes", 1), ("meshes", -1), ("meshes", -2), ("mesh_sizes", 0),
                    ("mesh_sizes", -1), ("mesh_sizes", 5), ("mesh_sizes", 2 ** 31 - 1), ("triangles", 4), ("triangles", -1),
                    ("triangles", 2 ** 31 - 1), ("vertices", np.inf), ("heights", np.nan)]:
    place_of = {"mesh_sizes": "shapes/"}.get(name, f"shapes/{name}")
    broken_shapes(f"{name}_{value}", place_of, wrong(name, (0, 0), value))
broken_shapes("grid_of_one_point", "shapes/grids[1]", wrong("grids", (1, 0), 1))
broken_shapes("grid_larger_than_its_heights", "shapes/heights", wrong("grids", (1, 0), 2 ** 31 - 1))
broken_shapes("too_few_vertices", "shapes/vertices", lambda shapes: replace(shapes, "vertices", data=np.zeros((3, 3))))
broken_shapes("no_table", "shapes/triangles", lambda shapes: replace(shapes, "triangles", data=np.zeros((11, 1), "i4")))
broken_shapes("fractions", "shapes/triangles", lambda shapes: replace(shapes, "triangles", data=np.full((4, 3), 0.5)))
broken_shapes("texts", "shapes/kinds", lambda shapes: replace(shapes, "kinds", data=np.array([[b"a"], [b"b"]])))
broken_shapes("claim_a_lot", "shapes/kinds",
              lambda shapes: replace(shapes, "kinds", shape=(10 ** 12, 1), dtype="i4", chunks=(1000, 1)))
broken_shapes("claim_many_vertices", "shapes/vertices",
              lambda shapes: replace(shapes, "vertices", shape=(10 ** 12, 3), dtype="f8", chunks=(1000, 3)))
broken_shapes("elsewhere", "shapes", lambda shapes: shapes.__setitem__("kinds2", h5py.ExternalLink("other.h5", "/x")))
broken("shapes_are_no_group", "shapes", lambda place: place.parent.__setitem__("shapes", np.zeros(3)))


def add_scenery(place, positions, quaternions):
    group = place.create_group("scenery")
    for name, values in (("positions", positions), ("quaternions", quaternions)):
        if values is not None:
            group[name] = np.array(values, float)


for name, names, positions, quaternions in [
        ("nan", "scenery/positions", [[np.nan, 0, 0]], [[1, 0, 0, 0]]),
        ("not_turned", "scenery/quaternions", [[0, 0, 0]], [[0, 0, 0, 0]]),
        ("without_turns", "scenery/quaternions", [[0, 0, 0]], None),
        ("without_places", "scenery/positions", None, [[1, 0, 0, 0]]),
        ("of_two_sizes", "scenery/quaternions", [[0, 0, 0]] * 2, [[1, 0, 0, 0]]),
        ("of_no_size", "scenery/positions", [[0, 0, 0, 0]], [[1, 0, 0, 0]])]:
    broken(f"scenery_{name}", names,
           lambda place, p=positions, q=quaternions: add_scenery(place, p, q), semantic=True)  # `info` does not look


# ---- filters, chunks, extents ---------------------------------------------------------------------------------------


@case("contacts/points")
def filter_of_a_plug_in(place):
    values = place["contacts/points"][...]
    replace(place, "contacts/points", data=values, chunks=values.shape, compression="lzf")


@case("contacts/points", whole=True)
def filter_that_does_not_exist(path):
    write_good(path)
    with h5py.File(path, "r+") as file:
        filter_of_a_plug_in(file[FRAME])
    data = path.read_bytes()
    assert data.count(b"\x00\x7d\x04\x00lzf") + data.count(b"\x00\x7d") >= 1
    at = data.index(b"\x00\x7d")  # id 32000, h5py's own filter
    path.write_bytes(data[:at] + (33333).to_bytes(2, "little") + data[at + 2:])


@case("contacts/points")
def filter_that_is_built_in_but_not_needed(place):
    values = place["contacts/points"][...]
    replace(place, "contacts/points", data=values, chunks=values.shape, scaleoffset=3)


@case("bodies/masses")
def million_million_numbers_in_no_chunks(place):
    replace(place, "bodies/masses", shape=(10**12,), dtype="<f8", chunks=(1000,))


@case("contacts/gaps")
def million_million_numbers_in_a_row(place):
    del place["contacts/gaps"]
    space = h5py.h5s.create_simple((10**12,))
    created = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
    created.set_alloc_time(h5py.h5d.ALLOC_TIME_LATE)
    h5py.h5d.create(place["contacts"].id, b"gaps", h5py.h5t.IEEE_F64LE, space, created)


@case("constraints/Jacobian")
def product_of_extents_overflows(place):
    replace(place, "constraints/Jacobian", shape=(2**33, 2**33), dtype="<f8", chunks=(10, 10))


@case("contacts/gaps")
def chunk_of_three_gigabytes(place):
    replace(place, "contacts/gaps", shape=(NC,), maxshape=(None,), dtype="<f8", chunks=(4 * 10**8,))


@case("contacts/gaps")
def zip_bomb(place):
    """Half a kilobyte on disk for every megabyte in memory; over the limit of the reader."""
    replace(place, "contacts/gaps", shape=(4 * 10**8,), dtype="<f8", chunks=(10**6,), compression="gzip")


@case("contacts/gaps")
def hundred_million_numbers_in_no_chunks(place):
    """Below the limit of a data set, but more contacts than a frame may have."""
    replace(place, "contacts/gaps", shape=(10**8,), dtype="<f8", chunks=(1000,))


@case("bodies/masses", whole=True)
def damaged_chunk(path):
    write_good(path)
    marker = np.arange(NB, dtype="<f8") + 12345.678
    with h5py.File(path, "r+") as file:
        replace(file[FRAME], "bodies/masses", data=marker, chunks=(NB,), fletcher32=True)
    data = path.read_bytes()
    at = data.index(marker.tobytes())
    path.write_bytes(data[:at] + b"\xff" + data[at + 1:])


# ---- files that are none ---------------------------------------------------------------------------------------------


@case("truncated_file.h5", whole=True)
def truncated_file(path):
    write_good(path)
    data = path.read_bytes()
    path.write_bytes(data[:len(data) * 6 // 10])


@case("empty_file.h5", whole=True)
def empty_file(path):
    path.write_bytes(b"")


@case("text_file.h5", whole=True)
def text_file(path):
    path.write_text("mbs_frame000001\n" * 100)


@case("signature_and_nothing_else.h5", whole=True)
def signature_and_nothing_else(path):
    path.write_bytes(b"\x89HDF\r\n\x1a\n" + bytes(600))


@case("directory.h5", whole=True)
def directory(path):
    path.mkdir()


@case("missing.h5", whole=True)
def missing(path):
    pass


@case("nothing_in_it.h5", whole=True)
def nothing_in_it(path):
    h5py.File(path, "w").close()


@case("no_frames_at_all.h5", whole=True)
def no_frames_at_all(path):
    with h5py.File(path, "w") as file:
        file["something"] = 1.0
        file["mbs_frame"] = 1.0
        file["mbs_frameX"] = 1.0


# ---- structure ---------------------------------------------------------------------------------------------------------

REQUIRED = ["timestep", "bodies/masses", "bodies/positions", "bodies/quaternions", "bodies/velocities", "bodies/forces",
            "bodies/world_inertia_tensors", "constraints/rows", "constraints/pairs", "constraints/Jacobian",
            "constraints/violations", "contacts/pairs", "contacts/points", "contacts/normals", "contacts/gaps",
            "contacts/mu_k"]
SHAPES = {"bodies/positions": (NB, 3), "bodies/quaternions": (NB, 4), "bodies/velocities": (6 * NB, 1),
          "bodies/forces": (6 * NB, 1), "bodies/world_inertia_tensors": (3 * NB, 3), "bodies/states": (NB, 1),
          "constraints/pairs": (len(JOINTS), 2), "constraints/violations": (NR, 1), "constraints/bounds": (NR, 2),
          "constraints/time_derivative": (NR, 1), "contacts/pairs": (NC, 2), "contacts/points": (NC, 3),
          "contacts/normals": (NC, 3), "contacts/mu_k": (NC, 2)}


def add_structure_cases():
    for name in REQUIRED:
        short = name.replace("/", "_")
        broken(f"without_{short}", name, lambda place, name=name: place.__delitem__(name))
        broken(f"group_in_place_of_{short}", name,
               lambda place, name=name: (place.__delitem__(name), place.create_group(name)))
        broken(f"text_in_place_of_{short}", name,
               lambda place, name=name: replace(place, name, data=np.bytes_("12345678")))
    for name, shape in SHAPES.items():
        short = name.replace("/", "_")
        for kind, wrong in (("one_row_less", (shape[0] - 1, shape[1])), ("one_column_more", (shape[0], shape[1] + 2)),
                            ("three_dimensions", (*shape, 1)), ("scalar", ())):
            broken(f"{short}_{kind}", name, lambda place, name=name, wrong=wrong: replace(
                place, name, data=np.ones(wrong, int if name.endswith("pairs") else float)))


add_structure_cases()


@case("bodies")
def data_set_in_place_of_bodies(place):
    del place["bodies"]
    place["bodies"] = np.ones(3)


@case("mbs_frame000002")
def data_set_in_place_of_a_frame(place):
    place.parent[frame_name(2)] = 1.0


@case("bodies/masses")
def masses_are_compound(place):
    replace(place, "bodies/masses", data=np.zeros(NB, [("m", "<f8"), ("n", "<f8")]))


@case("bodies/masses")
def masses_are_lists(place):
    replace(place, "bodies/masses", shape=(NB,), dtype=h5py.vlen_dtype(np.float64))


@case("bodies/masses")
def masses_are_arrays(place):
    replace(place, "bodies/masses", shape=(NB,), dtype=np.dtype(("<f8", (3,))))


@case("bodies/masses")
def masses_are_references(place):
    replace(place, "bodies/masses", shape=(NB,), dtype=h5py.ref_dtype)


@case("bodies/states")
def states_are_an_enumeration(place):
    replace(place, "bodies/states", shape=(NB,), dtype=h5py.enum_dtype({"ON": 1, "OFF": 0}))


@case("bodies/masses")
def masses_are_a_table(place):
    replace(place, "bodies/masses", data=np.ones((NB, 2)))


@case("bodies/positions")
def masses_are_empty(place):
    replace(place, "bodies/masses", data=h5py.Empty("<f8"))


@case("contacts/pairs[2]")
def pair_of_an_unknown_body(place):
    place["contacts/pairs"][2, 1] = NB + 1


@case("contacts/pairs[2]")
def pair_of_a_body_beyond_integers(place):
    pairs = place["contacts/pairs"][...].astype("<i8")
    pairs[2, 1] = 2**40
    replace(place, "contacts/pairs", data=pairs)


@case("contacts/pairs[1]")
def pair_of_a_fraction(place):
    pairs = place["contacts/pairs"][...].astype(float)
    pairs[1, 0] = 1.5
    replace(place, "contacts/pairs", data=pairs)


@case("contacts/pairs[0]")
def pair_of_nan(place):
    pairs = place["contacts/pairs"][...].astype(float)
    pairs[0, 0] = np.nan
    replace(place, "contacts/pairs", data=pairs)


@case("constraints/rows[1]")
def negative_number_of_equations(place):
    replace(place, "constraints/rows", data=np.array([3, -6, 6]))


@case("constraints/Jacobian")
def more_equations_than_rows(place):
    replace(place, "constraints/rows", data=np.array([3, 6, 7], "<u8"))


@case("constraints/rows")
def more_equations_than_integers(place):
    replace(place, "constraints/rows", data=np.array([2**31 - 1] * 3, "<u8"))


@case("block_order")
def order_of_blocks_in_other_words(place):
    place["constraints"].attrs["block_order"] = "whatever"


def add_further(place, rows=(3, 4), bodies=(4, 4), blocks=2, announce=True):
    """Good blocks, unless told otherwise: the second joint acts on the first three bodies at most."""
    place["constraints/further_rows"] = np.array(rows, "<i4").reshape(-1, 1)
    place["constraints/further_bodies"] = np.array(bodies, "<i4").reshape(-1, 1)
    place["constraints/further_Jacobian"] = np.ones((blocks, 6))
    if announce:
        place["constraints"].attrs["block_order"] = "pairs, further"


@case("further_bodies")
def further_blocks_without_bodies(place):
    add_further(place)
    del place["constraints/further_bodies"]


@case("further_rows")
def further_blocks_announced_but_missing(place):
    place["constraints"].attrs["block_order"] = "pairs, further"


@case("block_order")
def further_blocks_not_announced(place):
    add_further(place, announce=False)
    place["constraints"].attrs["block_order"] = "pairs"


@case("further_Jacobian")
def further_blocks_of_another_number(place):
    add_further(place, blocks=3)


@case("further_bodies")
def further_block_on_no_body(place):
    add_further(place, bodies=(4, 77))


@case("further_rows", semantic=True)
def further_block_of_no_row(place):
    add_further(place, rows=(3, NR))


@case("further_rows", semantic=True)
def further_blocks_out_of_order(place):
    add_further(place, rows=(4, 3))


@case("further_bodies", semantic=True)
def further_block_on_the_world(place):
    add_further(place, bodies=(4, -1))


def add_coordinates(place, announce=True):
    """Every body's own velocities as coordinates; no joint is implied."""
    bodies = place["bodies/masses"].size
    n = 6 * bodies
    place["generalized/trees"] = np.array([[6 * b, 6] for b in range(bodies)], "<i4")
    place["generalized/map/indptr"] = np.arange(n + 1, dtype="<i4").reshape(-1, 1)
    place["generalized/map/indices"] = np.arange(n, dtype="<i4").reshape(-1, 1)
    place["generalized/map/values"] = np.ones((n, 1))
    place["generalized/mass/indptr"] = np.arange(n + 1, dtype="<i4").reshape(-1, 1)
    place["generalized/mass/indices"] = np.arange(n, dtype="<i4").reshape(-1, 1)
    place["generalized/mass/values"] = np.ones((n, 1))
    place["generalized/velocities"] = np.array(place["bodies/velocities"]).reshape(-1, 1)
    place["generalized/forces"] = np.zeros((n, 1))
    place["constraints/implied"] = np.zeros((place["constraints/rows"].size, 1), "u1")
    if announce:
        place["constraints"].attrs["block_order"] = "pairs, implied"


@case("block_order")
def implied_joints_not_announced(place):
    add_coordinates(place, announce=False)
    place["constraints"].attrs["block_order"] = "pairs"


@case("constraints/implied")
def implied_joints_announced_but_missing(place):
    add_coordinates(place)
    del place["constraints/implied"]


@case("constraints/implied")
def implied_joints_without_coordinates(place):
    add_coordinates(place)
    del place["generalized"]


@case("generalized/map/indptr")
def coordinates_without_a_map(place):
    add_coordinates(place)
    del place["generalized/map"]


@case("generalized/forces")
def coordinates_without_forces(place):
    add_coordinates(place)
    del place["generalized/forces"]


@case("generalized/map/indices", semantic=True)
def coordinates_of_no_number(place):
    add_coordinates(place)
    place["generalized/map/indices"][3] = 6 * 1000


@case("constraints/implied", semantic=True)
def a_joint_implied_that_moves(place):
    add_coordinates(place)
    place["constraints/implied"][0] = 1


@case("further_bodies", semantic=True)
def further_block_twice(place):
    add_further(place, rows=(3, 3))


@case("timestep")
def two_time_steps(place):
    replace(place, "timestep", data=np.array([0.01, 0.02]))


@case("more than")
def twenty_thousand_members(place):
    for n in range(20000):
        place["contacts"].create_group(f"g{n}")


@case("manifest/toolkit")
def number_in_place_of_a_text(place):
    place.file[place.parent.name].create_group("manifest")["toolkit"] = 1.0


@case("manifest/image")
def flat_picture(place):
    place.file[place.parent.name].create_group("manifest")["image"] = np.zeros((4, 4), np.uint8)


@case("manifest/image")
def picture_larger_than_the_file(place):
    manifest = place.file[place.parent.name].create_group("manifest")
    manifest.create_dataset("image", shape=(10000, 10000, 3), chunks=(1000, 1000, 3), dtype="u1", compression=9)


# ---- values ------------------------------------------------------------------------------------------------------------


def put(name, index, value):
    def change(place):
        place[name][index] = value
    return change


def wrong_value(name, names, path, index, value):
    broken(name, names, put(path, index, value), semantic=True)


wrong_value("mass_nan", "bodies/masses[2]", "bodies/masses", (2, 0), np.nan)
wrong_value("mass_negative", "bodies/masses[1]", "bodies/masses", (1, 0), -1.0)
wrong_value("mass_zero", "bodies/masses[1]", "bodies/masses", (1, 0), 0.0)
wrong_value("mass_infinite", "bodies/masses[0]", "bodies/masses", (0, 0), np.inf)
wrong_value("position_1e300", "bodies/positions[3]", "bodies/positions", (3, 1), 1e300)
wrong_value("velocity_nan", "bodies/velocities[1]", "bodies/velocities", (7, 0), np.nan)
wrong_value("force_infinite", "bodies/forces[0]", "bodies/forces", (5, 0), np.inf)
wrong_value("quaternion_too_long", "bodies/quaternions[4]", "bodies/quaternions", 4, [2.0, 0, 0, 0])
wrong_value("inertia_not_positive", "bodies/world_inertia_tensors[2]", "bodies/world_inertia_tensors",
            np.s_[6:9], np.diag([1.0, 1, -1]))
wrong_value("inertia_not_symmetric", "bodies/world_inertia_tensors[2]", "bodies/world_inertia_tensors",
            np.s_[6:9], [[2.0, 1, 0], [0, 2, 0], [0, 0, 2]])
wrong_value("jacobian_nan", "constraints/Jacobian[4]", "constraints/Jacobian", (4, 3), np.nan)
wrong_value("bounds_crossed", "constraints/bounds[3]", "constraints/bounds", 3, [1.0, -1.0])
wrong_value("bounds_nan", "constraints/bounds[3]", "constraints/bounds", 3, [np.nan, 1.0])
wrong_value("joint_of_a_body_with_itself", "constraints/pairs[0]", "constraints/pairs", 0, [2, 2])
wrong_value("contact_of_a_body_with_itself", "contacts/pairs[3]", "contacts/pairs", 3, [2, 2])
wrong_value("contact_of_the_world_with_itself", "contacts/pairs[3]", "contacts/pairs", 3, [-1, -1])
wrong_value("normal_of_length_two", "contacts/normals[5]", "contacts/normals", 5, [2.0, 0, 0])
wrong_value("normal_zero", "contacts/normals[5]", "contacts/normals", 5, [0.0, 0, 0])
wrong_value("gap_nan", "contacts/gaps[6]", "contacts/gaps", (6, 0), np.nan)
wrong_value("friction_negative", "contacts/mu_k[0]", "contacts/mu_k", (0, 1), -0.5)
wrong_value("friction_nan", "contacts/mu_k[0]", "contacts/mu_k", (0, 1), np.nan)
wrong_value("time_step_zero", "timestep", "timestep", (), 0.0)
wrong_value("time_step_negative", "timestep", "timestep", (), -0.01)
wrong_value("time_step_nan", "timestep", "timestep", (), np.nan)


@case("bodies/ids", semantic=True)
def same_id_twice(place):
    genuine(place["bodies"], "ids", np.array([1, 2, 3, 4, 4]), "<i4")
    place["contacts/pairs"][...] = [[-1, 1]] * NC
    place["constraints/pairs"][...] = [[1, 2], [2, 3], [-1, 3]]


@case("constraints/friction_row[2]", semantic=True)
def friction_of_a_row_that_is_not_there(place):
    place["constraints/friction"] = np.ones((NR, 1))
    rows = np.full((NR, 1), -1)
    rows[2] = NR
    place["constraints/friction_row"] = rows


@case("contacts/restitution[1]", semantic=True)
def restitution_of_two(place):
    place["contacts/restitution"] = np.array([[0.0], [2.0]] + [[0.5]] * (NC - 2))


@case("solver_data/pgs/normal", semantic=True)
def answer_of_another_size(place):
    place["solver_data/pgs/normal"] = np.ones((NC + 1, 1))


@case("solver_data/pgs/lambda", semantic=True)
def answer_in_an_unknown_unit(place):
    place["solver_data/pgs/lambda"] = np.ones((NR, 1))
    place["solver_data/pgs/lambda"].attrs["unit"] = "pound"


def main(arguments):
    target = Path(arguments[0])
    target.mkdir(parents=True, exist_ok=True)
    for malformed in CASES:
        print(write_case(target, malformed))


if __name__ == "__main__":
    main(sys.argv[1:])
