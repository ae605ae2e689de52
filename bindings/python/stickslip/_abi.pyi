"""_abi.py is generated from the C headers; to a type checker its names are whatever they are."""
from typing import Any

def __getattr__(name: str) -> Any: ...
