"""Do a job in parts, each of which depends only on the job and on its place, so anywhere and in any order."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, Protocol

from numpy.typing import NDArray

from fastfair._lib.progress import Report

from .checkpoints import Checkpoint
from .executors import run_in
from .workers import Workers

Arrays = dict[str, NDArray[Any]]
_MOST_PARTS = 128  # so that a few tens of workers end together; handing out more would take longer than short parts do


class Job(Protocol):
    """Work in numbered steps. It can be pickled, with the data that the steps need, and without others."""

    def run(self, steps: range, n_threads: int | None, told: Report | None) -> Arrays:
        """Do some steps.

        Parameters
        ----------
        steps : range
            The numbers of the steps.
        n_threads : int or None
            As in `count_threads`; results do not depend on it.
        told : callable or None
            Called with the number of steps done and the number of these steps.

        Returns
        -------
        dict of ndarray
            Arrays without objects, which depend only on the job and on the steps.
        """


def do_job(
    job: Job,
    n: int,
    at_once: int,
    workers: Workers,
    label: str,
    take: Callable[[range, Arrays], None],
) -> None:
    """Do a job in the threads of this process or by an executor, and keep finished parts where that is asked.

    Parameters
    ----------
    job : Job
        The work.
    n, at_once : int
        Number of steps, and how many of them a part has at least, or a multiple of that; only the last one has fewer.
    workers : Workers
        Who does it.
    label : str
        Stands before the progress bar.
    take : callable
        Called in this thread with the steps of each part and its results, in any order: parts differ in size, and one
        part may be everything.
    """
    with workers.reporting(label) as report:
        if workers.executor is None and workers.checkpoint is None:
            take(range(n), job.run(range(n), workers.n_threads, report))
            return
        size = -(-n // (at_once * _MOST_PARTS)) * at_once
        parts = [range(start, min(start + size, n)) for start in range(0, n, size)]
        kept = None if workers.checkpoint is None else Checkpoint(Path(workers.checkpoint), job)
        done = 0

        def taken(steps: range, arrays: Arrays, *, is_new: bool = True) -> None:
            nonlocal done
            if kept is not None and is_new:
                kept.save(steps, arrays)
            take(steps, arrays)
            done += len(steps)
            if report is not None:
                report(done, n)

        missing = []
        for steps in parts:
            found = None if kept is None else kept.load(steps)
            if found is None:
                missing.append(steps)
            else:
                taken(steps, found, is_new=False)
        if workers.executor is not None:
            run_in(workers.executor, job, missing, workers.n_threads or 1, taken)
            return
        for steps in missing:
            before = done

            def told(inside: int, _: int, before: int = before) -> None:
                if report is not None:
                    report(before + inside, n)

            taken(steps, job.run(steps, workers.n_threads, told))
