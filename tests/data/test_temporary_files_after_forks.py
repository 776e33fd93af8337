"""A process that is forked while fastfair is at work neither hangs nor removes what its parent
needs."""

from __future__ import annotations

import atexit
import gc
import os
import signal
import threading
import time
import warnings
from collections.abc import Callable

import numpy as np
import pytest

import fastfair as ff
from fastfair._lib import whole_files
from fastfair.data.temporary_files import ArrayFile, Folder

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not hasattr(os, "fork"), reason="this system cannot fork"),
    # Python warns of forking a process that has threads, which is what this looks at.
    pytest.mark.filterwarnings("ignore:This process.*fork:DeprecationWarning"),
]
SECONDS = 60.0


@pytest.fixture(scope="module")
def comparisons() -> ff.Comparisons:
    rng = np.random.default_rng(0)
    reference = rng.integers(0, 200, 5000)
    probe = np.where(rng.random(5000) < 0.3, reference, rng.integers(0, 200, 5000))
    groups = np.array(["f", "m"])
    sides = groups[reference % 2], groups[probe % 2]
    return ff.Comparisons(
        (reference == probe) * 2 + rng.normal(size=5000), None, reference, probe, *sides
    )


def forked(work: Callable[[], None]) -> int:
    """Do some work in a forked process, which then ends as Python does, and return its exit
    status."""
    process = os.fork()
    if process == 0:
        code = 1
        try:
            work()
            code = 0
        finally:
            atexit._run_exitfuncs()
            os._exit(code)
    until = time.monotonic() + SECONDS
    while time.monotonic() < until:
        ended, status = os.waitpid(process, os.WNOHANG)
        if ended:
            return os.waitstatus_to_exitcode(status)
        time.sleep(0.02)
    os.kill(process, 9)
    os.waitpid(process, 0)
    raise TimeoutError("the forked process hangs")


def evaluated(comparisons: ff.Comparisons, n_resamples: int = 64) -> tuple[float, ...]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return ff.evaluate(comparisons, ff.at_fmr(0.01), rng=0, n_resamples=n_resamples).interval(
            "fnmr"
        )


def test_a_process_forked_while_kernels_run_has_the_same_numbers(comparisons):
    expected = evaluated(comparisons)
    running = threading.Thread(target=evaluated, args=(comparisons, 100_000))
    running.start()
    time.sleep(0.2)

    def work() -> None:
        assert evaluated(comparisons) == expected

    assert running.is_alive()
    assert forked(work) == 0
    running.join()


def test_a_process_forked_inside_the_work_ends_with_an_error(comparisons):
    parent, statuses = os.getpid(), []

    def told(done: int, total: int) -> None:
        if not statuses and done < total:
            statuses.append(os.fork())
            if statuses[0] == 0:
                signal.alarm(int(SECONDS))

    message = ""
    try:
        ff.evaluate(comparisons, ff.at_fmr(0.01), rng=0, n_resamples=20_000, progress=told)
    except RuntimeError as error:
        message = str(error)
    if os.getpid() != parent:
        os._exit(7 if "was forked while fastfair was at work" in message else 1)
    assert not message
    until = time.monotonic() + SECONDS
    ended, status = 0, 0
    while not ended and time.monotonic() < until:
        ended, status = os.waitpid(statuses[0], os.WNOHANG)
        time.sleep(0.02)
    assert os.waitstatus_to_exitcode(status) == 7


def test_the_parent_keeps_the_files_of_its_scan(tmp_path):
    folder = Folder(tmp_path)
    kept = ArrayFile(folder, "pairs")
    kept.append(np.arange(5))
    path = folder.path

    def lose() -> None:
        nonlocal folder, kept
        assert [array.tolist() for array in kept] == [[0, 1, 2, 3, 4]]
        folder = kept = None
        gc.collect()

    assert forked(lambda: None) == forked(lose) == 0
    assert [array.tolist() for array in kept] == [[0, 1, 2, 3, 4]]
    folder = kept = None
    gc.collect()
    assert not path.exists()


def test_a_forked_process_leaves_unfinished_files_and_other_processes_alone(tmp_path):
    with whole_files.written(tmp_path / "out.txt") as file:
        file.write(b"whole")
        assert forked(whole_files.abandon) == 0
        assert forked(whole_files.abandon_folders) == 0
    assert (tmp_path / "out.txt").read_bytes() == b"whole"
