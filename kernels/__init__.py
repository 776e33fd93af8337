"""Compiled kernels: they take and return plain arrays and named tuples of arrays, and import
nothing of fastfair.
"""

from __future__ import annotations

import importlib
import os
import threading
import warnings
from typing import Any

if (_n := os.environ.get("NUMBA_NUM_THREADS", "1")).strip().lstrip("+-").isdigit() and int(_n) < 1:
    # numba could not be imported.
    warnings.warn(
        f"NUMBA_NUM_THREADS={_n} is no number of threads: all processors are used", stacklevel=2
    )
    del os.environ["NUMBA_NUM_THREADS"]


def __getattr__(name: str) -> Any:
    """Import a module of kernels, and numba, in another thread: an interrupt must not leave numba
    half imported.
    """
    if name.startswith("__"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    module = f"{__name__}.{name}"
    if threading.current_thread() is threading.main_thread():
        from ._aside import run_aside

        return run_aside(lambda: importlib.import_module(module))
    return importlib.import_module(module)
