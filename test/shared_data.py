"""Files of others: real problems that are not in the repository, in the folder SS_SHARED_DATA (CTest: ../shared/data beside
the clone). A test that needs one is skipped without it; with STICKSLIP_REQUIRE_DATA=1 that is a failure (conftest.py)."""
import os
from pathlib import Path

import pytest

FOLDER = Path(os.environ.get("SS_SHARED_DATA") or "../shared/data").absolute()


class NoSharedData(pytest.skip.Exception):
    pass


def shared(name):
    """The path of a file such as "fclib/CubeH8.hdf5", or the end of the test."""
    path = FOLDER / name
    if not path.exists():
        raise NoSharedData("the files of others are not here (SS_SHARED_DATA)")
    return path
