"""Our files in Octave, with nothing but its own `load`: the loop of the BPMD paper, sizes, and values."""
import shutil
import subprocess

import numpy as np
import pytest

from library import CANONICAL, FLAT, FrameFile, Manifest, load, random_frame

FRAMES = 3
# Octave shows arrays transposed, because it stores columns first; x(:) is then the order of the file.
SCRIPT = """
p = load('{file}');
s = {simulation};
frames = 0;
for [frame, key] = s
  if strncmp(key, 'mbs_frame', 9), frames++; end
end
printf('frames %d\\n', frames);
f = s.mbs_frame000002;
groups = fieldnames(f);
for i = 1:numel(groups)
  if !isstruct(f.(groups{{i}})), continue; end
  names = fieldnames(f.(groups{{i}}));
  for j = 1:numel(names)
    x = f.(groups{{i}}).(names{{j}});
    printf('%s/%s %d %d %s\\n', groups{{i}}, names{{j}}, rows(x), columns(x), sprintf('%.17g ', double(x(:))));
  end
end
printf('timestep %.17g\\n', f.timestep);
"""


def run_octave(script):
    if not shutil.which("octave-cli"):
        pytest.skip("octave-cli is not installed (tools/setup test)")
    run = subprocess.run(["octave-cli", "--quiet", "--norc", "--eval", script], capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    return run.stdout


def columns_in_file(path):
    """The second extent in the file, which Octave shows as the number of rows."""
    return {"velocities": 1, "forces": 1, "world_inertia_tensors": 3}.get(path.split("/")[1])


@pytest.mark.parametrize("layout, simulation", [(CANONICAL, "p.simulation_000001"), (FLAT, "p")])
def test_octave_loads_frames(tmp_path, layout, simulation):
    library = load()
    path = tmp_path / "frames.h5"
    frame, arrays = random_frame(library, seed=5)
    pixels = np.zeros((4, 5, 3), dtype=np.uint8)
    with FrameFile(library, path, layout) as file:
        file.simulation(Manifest(toolkit=b"test", author="Zoë".encode(), image=pixels.ctypes.data, image_width=5, image_height=4))
        for _ in range(FRAMES):
            file.frame(frame)
    output = run_octave(SCRIPT.format(file=path, simulation=simulation)).splitlines()
    assert output[0] == f"frames {FRAMES}" and output[-1] == "timestep 0.01"
    seen = 0
    for line in output[1:-1]:
        name, rows, columns, *numbers = line.split()
        if name not in arrays:
            assert name == "contacts/t_v"
            continue
        values = arrays[name]
        if name.endswith("/pairs"):
            values = np.where(values < 0, -1, arrays["bodies/ids"][:, 0][values])
        width = columns_in_file(name) or values.shape[1]
        assert (int(rows), int(columns)) == (width, values.size // width), name
        assert np.array_equal(np.array(numbers, dtype=float), np.ravel(values)), name
        seen += 1
    assert seen == (len(arrays) if layout == CANONICAL else 20)
    library.ss_frame_destroy(frame)
