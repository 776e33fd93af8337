"""Compile the kernels of replicates in another process, while this one compiles those that come before them.

numba compiles one kernel at a time in a process. The other process measures small data; there all other kernels run as
plain Python, so that it begins at once with what this process needs last, and finds the same types of arguments.
"""

from __future__ import annotations

import atexit
import subprocess
import sys
from pathlib import Path

KERNELS = frozenset({
    "draw_with_replacement", "largest_weight", "total_weights",
    "equal_error_rates", "hull_figures", "least_costs", "total_costs", "first_beyond", "shares_at",
})  # fmt: skip
_process: subprocess.Popen[bytes] | None = None
_started, _only_these = False, False


def start(code: str, folder: Path) -> None:
    """Let another process run some code, unless one did, or kernels of replicates were compiled before.

    code: makes small data and measures them, after a call of `compile_only_these`; folder: for compiled kernels
    """
    global _process, _started
    if _started:
        return
    _started = True
    if any(_files(folder, name) for name in KERNELS):
        return
    try:
        nothing = subprocess.DEVNULL
        _process = subprocess.Popen([sys.executable, "-c", code], stdin=nothing, stdout=nothing, stderr=nothing)
    except OSError:  # then this process compiles them, as it does whatever the other one fails to
        return
    atexit.register(_end)


def compile_only_these() -> None:
    """Run all other kernels as plain Python in this process, and start no further one."""
    global _only_these
    start_none()
    _only_these = True


def start_none() -> None:
    """Start no other process from this one."""
    global _started
    _started = True


def runs_as_python(name: str) -> bool:
    """Tell whether a kernel that Python calls is not to be compiled in this process."""
    return _only_these and name not in KERNELS


def is_coming(name: str, folder: Path) -> bool:
    """Tell whether the other process is about to compile a kernel."""
    return _process is not None and name in KERNELS and not _files(folder, name) and _process.poll() is None


def _files(folder: Path, name: str) -> bool:
    return any(folder.glob(f"{name}-*.nbc"))


def _end() -> None:
    if _process is not None:
        _process.kill()
        _process.wait()
