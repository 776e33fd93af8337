"""The workers' side of `processes.Worker`: one line in, one line out. It runs in the peer's
environment."""

import importlib.metadata
import json
import platform
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np


def serve(variants: dict[str, Callable[[], np.ndarray]], packages: list[str]) -> None:
    """Answer "run VARIANT" with seconds, and "save VARIANT" likewise after writing the answer to a
    file."""
    versions = {name: importlib.metadata.version(name) for name in packages}
    print(json.dumps({"python": platform.python_version(), **versions}), flush=True)
    for line in sys.stdin:
        verb, variant = line.split()
        start = time.perf_counter()
        answer = variants[variant]()
        seconds = time.perf_counter() - start
        if verb == "save":
            np.save(f"{variant}.npy", np.asarray(answer))
        print(seconds, flush=True)


def load(name: str) -> np.ndarray:
    """Read an input array."""
    return np.load(Path(sys.argv[1]) / f"{name}.npy")
