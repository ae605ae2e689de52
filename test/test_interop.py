"""Our files as other people's programs see them: h5py and the HDF5 tools. The tables here are docs/format.md, typed by
hand: what the library believes about its own format does not count."""
import os
import re
import shutil
import subprocess
from ctypes import pointer

import h5py
import numpy as np
import pytest

from library import CANONICAL, FLAT, OPTIONAL, Answer, FrameFile, Manifest, Measure, Result, load, random_frame

NB, NK, NR, NC = 3, 2, 5, 4
F64, I32, U64, U8 = "<f8", "<i4", "<u8", "|u1"
GENUINE = {  # what the authors' tools know
    "timestep": (F64, ()),
    "bodies/positions": (F64, (NB, 3)), "bodies/quaternions": (F64, (NB, 4)), "bodies/velocities": (F64, (6 * NB, 1)),
    "bodies/forces": (F64, (6 * NB, 1)), "bodies/masses": (F64, (NB, 1)),
    "bodies/world_inertia_tensors": (F64, (3 * NB, 3)), "bodies/ids": (I32, (NB, 1)), "bodies/states": (I32, (NB, 1)),
    "constraints/rows": (U64, (NK, 1)), "constraints/pairs": (I32, (NK, 2)), "constraints/Jacobian": (F64, (NR, 12)),
    "constraints/violations": (F64, (NR, 1)), "constraints/time_derivative": (F64, (NR, 1)),
    "constraints/bounds": (F64, (NR, 2)),
    "contacts/pairs": (I32, (NC, 2)), "contacts/points": (F64, (NC, 3)), "contacts/normals": (F64, (NC, 3)),
    "contacts/gaps": (F64, (NC, 1)), "contacts/mu_k": (F64, (NC, 2)), "contacts/mu_s": (F64, (NC, 2)),
}
ADDED = {
    "time": (F64, ()), "contacts/t_u": (F64, (NC, 3)), "contacts/t_v": (F64, (NC, 3)),
    "contacts/restitution": (F64, (NC, 1)), "contacts/compliance": (F64, (NC, 1)), "contacts/mu_r": (F64, (NC, 1)),
    "contacts/lever_arms": (F64, (NC, 6)), "contacts/surface_velocities": (F64, (NC, 3)), "constraints/regularization": (F64, (NR, 1)),
    "constraints/friction": (F64, (NR, 1)), "constraints/friction_row": (I32, (NR, 1)),
    "constraints/holonomic": (U8, (NK, 1)),
}


@pytest.fixture(scope="module")
def library():
    return load()


def data_sets(group):
    found = {}
    group.visititems(lambda path, item: found.update({path: item}) if isinstance(item, h5py.Dataset) else None)
    return found


def write_one(library, path, layout, **sizes):
    """Writes one random frame; returns copies of its arrays."""
    frame, arrays = random_frame(library, seed=1, **sizes)
    copies = {name: values.copy() for name, values in arrays.items()}
    with FrameFile(library, path, layout) as file:
        file.frame(frame)
    library.ss_frame_destroy(frame)
    return copies


def check_shapes(frame, expected):
    found = {path: (item.dtype.str, item.shape) for path, item in data_sets(frame).items()}
    assert found == expected
    for item in data_sets(frame).values():
        assert item.chunks is None and item.compression is None and item.external is None


def check_values(frame, arrays):
    """Same bits, item by item; pairs hold ids."""
    ids = arrays["bodies/ids"][:, 0]
    for path, values in arrays.items():
        if path not in frame:
            continue
        if path.endswith("/pairs"):
            values = np.where(values < 0, -1, ids[values])
        assert np.array_equal(np.ravel(frame[path][()]), np.ravel(values)), path


def test_every_array_has_the_documented_name_type_and_shape(library, tmp_path):
    arrays = write_one(library, tmp_path / "all.h5", CANONICAL)
    with h5py.File(tmp_path / "all.h5") as file:
        frame = file["simulation_000001/mbs_frame000001"]
        check_shapes(frame, GENUINE | ADDED)
        check_values(frame, arrays)
        assert frame["timestep"][()] == 0.01 and frame["time"][()] == 0.25
        assert np.array_equal(frame["contacts/t_v"], np.cross(frame["contacts/normals"], frame["contacts/t_u"]))
        assert frame["constraints"].attrs["block_order"] == b"pairs"


def test_optional_arrays_that_a_frame_lacks_are_not_there(library, tmp_path):
    write_one(library, tmp_path / "bare.h5", CANONICAL, optional=[])
    with h5py.File(tmp_path / "bare.h5") as file:
        expected = {path: what for path, what in (GENUINE | ADDED).items()
                    if path not in OPTIONAL and path != "contacts/t_v"}
        check_shapes(file["simulation_000001/mbs_frame000001"], expected)


def test_flat_files_hold_the_authors_names_and_nothing_else(library, tmp_path):
    arrays = write_one(library, tmp_path / "flat.h5", FLAT)
    with h5py.File(tmp_path / "flat.h5") as file:
        assert list(file) == ["mbs_frame000001"]
        check_shapes(file["mbs_frame000001"], GENUINE)
        check_values(file["mbs_frame000001"], arrays)
        assert file["mbs_frame000001"].attrs["bpmd_format"] == b"BPMD-2015"


def test_one_body_and_one_contact_give_scalars(library, tmp_path):
    write_one(library, tmp_path / "one.h5", CANONICAL, bodies=1, joints=1, rows=1, contacts=1)
    with h5py.File(tmp_path / "one.h5") as file:
        shapes = {path: item.shape for path, item in data_sets(file["simulation_000001/mbs_frame000001"]).items()}
    scalars = {path for path, shape in shapes.items() if shape == ()}
    assert scalars == {"timestep", "time", "bodies/masses", "bodies/ids", "bodies/states", "constraints/rows",
                       "constraints/violations", "constraints/time_derivative", "constraints/regularization",
                       "constraints/friction", "constraints/friction_row", "constraints/holonomic", "contacts/gaps",
                       "contacts/restitution", "contacts/compliance", "contacts/mu_r"}
    assert all(len(shape) in (0, 2) for shape in shapes.values())


@pytest.fixture(scope="module")
def told(library, tmp_path_factory):
    """A file with a manifest and a result, and the pixels of its picture."""
    path = tmp_path_factory.mktemp("told") / "told.h5"
    pixels = np.arange(4 * 5 * 3, dtype=np.uint8).reshape(4, 5, 3)
    manifest = Manifest(b"engine 1.0", "Türme".encode(), b"two\nlines", b"A. Author", b"2024-02-29",
                        b"https://example.org", b"stack, box", (0.0, 0.0, -9.81), 5, 4, pixels.ctypes.data)
    frame, arrays = random_frame(library, seed=2)
    numbers = np.random.default_rng(3).standard_normal(1000)
    address = numbers.ctypes.data
    answer = Answer(NB, NR, NC, *(address + 8 * 100 * i for i in range(5)))
    measures = (Measure * 2)(Measure(b"energy", address, 1), Measure(b"creep", address + 8, NC))
    result = Result(b"pgs", b"cone", b"gamma=0.2", pointer(answer), address, 7, 7, 0.5, 1e-3, measures, 2)
    with FrameFile(library, path, CANONICAL) as file:
        file.simulation(manifest)
        file.frame(frame)
        file.result(result)
    library.ss_frame_destroy(frame)
    with h5py.File(path) as file:
        yield file, pixels, numbers


def test_texts_are_fixed_length_strings(told):
    manifest = told[0]["simulation_000001/manifest"]
    expected = {"toolkit": "engine 1.0", "title": "Türme", "description": "two\nlines", "author": "A. Author",
                "date": "2024-02-29", "url": "https://example.org", "keywords": "stack, box"}
    for name, text in expected.items():
        assert manifest[name][()].decode() == text
        assert manifest[name].shape == () and manifest[name].dtype.kind == "S"
        assert manifest[name].dtype.itemsize == len(text.encode()) + 1
        assert manifest[name].id.get_type().get_cset() == h5py.h5t.CSET_ASCII  # the other label stops Octave's load
    assert manifest["gravity"].shape == (3, 1) and list(manifest["gravity"][:, 0]) == [0, 0, -9.81]


def test_the_picture_is_an_hdf5_image(told):
    file, pixels, _ = told
    image = file["simulation_000001/manifest/image"]
    assert image.dtype == np.uint8 and np.array_equal(image, pixels)
    assert {name: value.decode() for name, value in image.attrs.items()} == {
        "CLASS": "IMAGE", "IMAGE_VERSION": "1.2", "IMAGE_SUBCLASS": "IMAGE_TRUECOLOR",
        "INTERLACE_MODE": "INTERLACE_PIXEL"}


def test_units_name_every_array(told):
    file = told[0]
    lines = file["simulation_000001/manifest/units"][()].decode().splitlines()
    units = dict(line.split(" ", 1) for line in lines)
    frame = file["simulation_000001/mbs_frame000001"]
    assert {path for path in data_sets(frame) if not path.startswith("solver_data")} <= set(units)
    assert units["bodies/masses"] == "kg" and units["timestep"] == "s" and units["contacts/gaps"] == "m"


def test_results_have_the_documented_names(told):
    file, _, numbers = told
    solver = file["simulation_000001/mbs_frame000001/solver_data/pgs"]
    found = {path: (item.dtype.str, item.shape) for path, item in data_sets(solver).items()}
    assert found == {"velocities": (F64, (6 * NB, 1)), "lambda": (F64, (NR, 1)), "normal": (F64, (NC, 1)),
                     "tangent": (F64, (NC, 3)), "rolling": (F64, (NC, 3)), "errors": (F64, (7, 1)),
                     "iterations": (I32, ()), "error": (F64, ()), "time": (F64, ()), "metrics/energy": (F64, ()),
                     "metrics/creep": (F64, (NC, 1))}
    for index, name in enumerate(("velocities", "lambda", "normal", "tangent", "rolling")):
        values = np.ravel(solver[name])
        assert np.array_equal(values, numbers[100 * index:100 * index + values.size])
    assert all(solver[name].attrs["unit"] == b"impulse" for name in ("lambda", "normal", "tangent", "rolling"))


def test_the_file_says_who_wrote_it(told):
    for place in (told[0], told[0]["simulation_000001"]):
        assert place.attrs["bpmd_format"] == b"BPMD-2015"
        assert re.fullmatch(rb"stickslip \d+\.\d+\.\d+", place.attrs["bpmd_writer"])


def test_files_open_with_the_oldest_library(library, tmp_path):
    """Superblock version 0: every HDF5 since 1998 reads it."""
    write_one(library, tmp_path / "old.h5", CANONICAL)
    assert (tmp_path / "old.h5").read_bytes()[:9] == b"\x89HDF\r\n\x1a\n\x00"


def test_the_hdf5_tools_show_it(library, tmp_path):
    if not shutil.which("h5dump"):
        pytest.skip("h5dump is not installed (tools/setup test)")
    write_one(library, tmp_path / "shown.h5", CANONICAL)
    listing = subprocess.run(["h5ls", "-r", tmp_path / "shown.h5"], capture_output=True, text=True, check=True).stdout
    assert re.search(r"^/simulation_000001/mbs_frame000001/bodies/positions Dataset {3, 3}$", listing, re.M)
    command = ["h5dump", "-d", "/simulation_000001/mbs_frame000001/timestep", tmp_path / "shown.h5"]
    assert "0.01" in subprocess.run(command, capture_output=True, text=True, check=True).stdout


def test_the_recorded_example_obeys_newton_and_coulomb(tmp_path):
    """examples/record_frames.c: m (v+ - v) = h f + impulses, no net torque, friction at its limit, against the motion."""
    path = tmp_path / "slope.h5"
    subprocess.run([f"{os.environ['SS_BUILD_DIR']}/example_record_frames", path], check=True)
    with h5py.File(path) as file:
        frames = [frame for name, frame in file["simulation_000001"].items() if name.startswith("mbs_frame")]
        assert len(frames) == 20
        for frame, after in zip(frames, frames[1:]):
            answer = frame["solver_data/by_hand"]
            impulses = answer["normal"][:] * frame["contacts/normals"][:] + answer["tangent"][:]
            h, mass = frame["timestep"][()], frame["bodies/masses"][()]
            before, then = frame["bodies/velocities"][:, 0], answer["velocities"][:, 0]
            push = h * frame["bodies/forces"][:3, 0] + impulses.sum(axis=0)
            arms = frame["contacts/points"][:] - frame["bodies/positions"][:]
            rounding = 1e-14 * mass * 9.81 * h  # of a sum of a few terms of that size
            assert np.abs(mass * (then - before)[:3] - push).max() < rounding
            assert np.abs(np.cross(arms, impulses).sum(axis=0)).max() < rounding
            friction = np.linalg.norm(answer["tangent"], axis=1)
            assert np.allclose(friction, frame["contacts/mu_k"][:, 0] * answer["normal"][:, 0], rtol=1e-14)
            assert (answer["tangent"][:] @ then[:3] < 0).all() and (answer["normal"][:] > 0).all()
            assert np.array_equal(after["bodies/velocities"][:, 0], then)
            assert np.abs(frame["contacts/gaps"][:]).max() < 1e-15
