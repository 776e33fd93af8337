"""What makes a first call quick: fewer kernels are compiled, and the longest of them in another process.

Kernels that prepare data run as plain Python where data are small and they were never compiled: that takes a second,
and compiling them ten. numba compiles one kernel at a time in a process, so another process measures small data, where
it compiles what this process needs last, and finds the same types of arguments.
"""

from __future__ import annotations

import atexit
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from ._sources import HERE, digest_of

# The longest, and their modules: those of all replicates, those that wait for others only where preparing many
# comparisons is compiled as well, and those of tests of groups.
KERNELS = {"equal_error_rates": "replicated_eer", "least_costs": "replicated_cost"}
KERNELS_OF_MANY = {"first_beyond": "sweep", "total_weights": "row_sums"}
KERNELS_OF_TESTS = {"draw_counts": "count_draws", "draw_errors": "frailty", "draw_sums": "clusters"}
_MODULES = KERNELS | KERNELS_OF_MANY | KERNELS_OF_TESTS
# Those that prepare comparisons, and what these call.
_PREPARING = {
    "comparison_lists": "divide number_pairs",
    "cost_sums": "_number add_costs carry finish_costs merge_costs new_costs sum_costs",
    "curves": "_excess _first_without_excess convex_hull count_below count_below_in_lists equal_error_bracket "
    "least_cost",
    "dyadic": "_add_residuals _finish _in_order _list_of_pairs _residuals_of_units errors_of_pairs variances",
    "groups": "count_cells split_within_groups",
    "pair_walk": "add_errors add_runs finish_list group_errors new_sums",
    "partners": "any_varies arrange count_pairs count_smaller lists_of_cells merge_repeated rows_of_units scatter "
    "write_runs",
    "replicated_hull": "find_blocks",
    "row_sums": "repeats_at",
    "unit_errors": "add_errors",
}
PREPARING = frozenset((module, name) for module, names in _PREPARING.items() for name in names.split())
SMALL = 40_000  # entries of the largest array up to which running plain Python is quicker than compiling
_PATIENCE = 0.4  # seconds as plain Python after which a kernel is compiled, so that later runs need not wait
_compiles_all = False
_process: subprocess.Popen[bytes] | None = None
_owner = 0  # the process that started it, and not one that was forked from that
_started, _only_these = False, False
_kernels = dict(KERNELS)  # that the other process compiles, or this one where it is the other


def kernels_of(*, many: bool, tests: bool) -> dict[str, str]:
    """Return the kernels to compile in another process, for many comparisons or few, with tests of groups or not."""
    return KERNELS | (KERNELS_OF_MANY if many else {}) | (KERNELS_OF_TESTS if tests else {})


def start(code: str, folder: Path, kernels: dict[str, str]) -> None:
    """Let another process run some code, unless one did, or kernels of replicates were compiled before.

    code: makes small data and measures them, after a call of `compile_only`; folder: for compiled kernels; kernels:
    those that it compiles
    """
    global _process, _owner, _started, _kernels
    if _started:
        return
    _started = True
    if any(_files(folder, name) for name in KERNELS):
        return
    try:
        nothing = subprocess.DEVNULL
        # -P: modules in the folder that the process is started in are not those that this process has imported.
        _process = subprocess.Popen([sys.executable, "-P", "-c", code], stdin=nothing, stdout=nothing, stderr=nothing)
    except OSError:  # then this process compiles them, as it does whatever the other one fails to
        return
    _kernels, _owner = kernels, os.getpid()
    atexit.register(_end)


def compile_only(kernels: dict[str, str]) -> None:
    """Run all other kernels as plain Python in this process, and start no further one."""
    global _only_these, _kernels
    start_none()
    _only_these, _kernels = True, kernels


def start_none() -> None:
    """Start no other process from this one, and compile all that is called."""
    global _started, _compiles_all
    _started = _compiles_all = True


def runs_as_python(module: str, name: str, arguments: tuple[Any, ...], seconds: float) -> bool:
    """Tell whether a kernel that was never compiled, and ran for some seconds, is to be run as plain Python."""
    if _only_these:
        return name not in _kernels
    is_quick = (module, name) in PREPARING and seconds < _PATIENCE
    return not _compiles_all and is_quick and all(_size(one) <= SMALL for one in arguments)


def _size(argument: Any) -> int:
    if isinstance(argument, tuple):
        return max(map(_size, argument), default=0)
    return getattr(argument, "size", 0)


def is_coming(name: str, folder: Path) -> bool:
    """Tell whether the other process is about to compile a kernel."""
    return _process is not None and name in _kernels and not _files(folder, name) and _process.poll() is None


def _files(folder: Path, name: str) -> bool:
    return any(folder.glob(f"{name}-{digest_of(HERE / f'{_MODULES[name]}.py')}-*.nbc"))


def _end() -> None:
    if _process is not None and _owner == os.getpid():
        _process.kill()
        _process.wait()
