"""Long work: who does it, who hears of it, and where its finished parts are kept.

A job is done in parts, each of which depends only on the job and on its place, so anywhere and in
any order: in threads of this process, or as tasks of an executor. Finished parts are files of a
checkpoint, from which a later run of the same job goes on.
"""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from types import BuiltinFunctionType, FunctionType
from typing import Annotated, Any, Protocol

import numpy as np

from fastfair._lib.arrays import AnyArray
from fastfair._lib.rounding import divide_up
from fastfair._version import __version__
from fastfair.errors import FileFormatError, InputError

from . import seeds, whole_files
from .arguments import checked
from .executors import results
from .text import shown
from .threads import count_threads
from .warnings import require

Report = Callable[[int, int], None]
Progress = bool | Report  # whether to show a bar, or what to call


@contextmanager
def reporting(progress: bool | Report, label: str) -> Iterator[Report | None]:
    """Give a function to call with the work done and all the work, or None if no progress is
    wanted.
    """
    if callable(progress) or not progress:
        yield progress or None
        return
    click = require("click", "cli", "progress=True")
    with click.progressbar(label=label, length=1, show_pos=True, file=sys.stderr) as bar:

        def report(done: int, total: int) -> None:
            bar.length = total
            bar.update(done - bar.pos)

        yield report


def _executor(name: str, value: Any) -> Any:
    if value is None or (callable(getattr(value, "submit", None)) and not isinstance(value, type)):
        return value
    raise InputError(
        f"{name} must be an executor with a method submit, as those of concurrent.futures or a"
        f" Client of Dask, not {shown(value)}"
    )


Executor = Annotated[Any, _executor]


@checked
@dataclass(frozen=True)
class Checkpoint:
    """Keep the finished tasks of a long call in a folder, so that a later call goes on from there.

    It is given in place of the executor.

    Attributes
    ----------
    folder : path
        Folder in which finished tasks are kept. The same call with the same folder, after its
        process has ended before its time, goes on where it was, with the same results to the last
        bit. Needs `rng`.
    executor : object with a method `submit`, optional
        What computes the tasks; by default the threads of this process.

    Examples
    --------
    >>> import fastfair as ff
    >>> ff.Checkpoint("replicates")
    Checkpoint(folder='replicates', executor=None)
    """

    folder: str | Path
    executor: Executor = None


@dataclass(frozen=True)
class Workers:
    """Threads of this process, or the workers of an executor.

    Attributes
    ----------
    n_threads : int or None
        Number of threads of this process, by default one for each processor; with an executor, of
        each task, by default 1.
    progress : bool or callable
        Whether to show a progress bar, or a function of the work done and all the work.
    executor : object with a method `submit`, or None
        Runs the tasks.
    checkpoint : path or None
        Folder in which the results of tasks are kept.
    """

    n_threads: int | None = None
    progress: bool | Report = False
    executor: Executor = None
    checkpoint: str | Path | None = None

    def checked(self, rng: seeds.Seed) -> Workers:
        """Return the same workers after a look at their number, their folder, and the seed of their
        work.

        Parameters
        ----------
        rng : None, int, SeedSequence or Generator
            The seed as the caller gave it.
        """
        if isinstance(self.executor, Checkpoint):
            kept = self.executor
            return replace(self, executor=kept.executor, checkpoint=kept.folder).checked(rng)
        count_threads(self.n_threads)
        if self.checkpoint is None:
            return self
        if rng is None:
            raise InputError(
                "a checkpoint needs a seed, as a run with another seed cannot go on from it: pass"
                " rng, such as ⟦rng=0⟧"
            )
        whole_files.ready_folder(self.checkpoint)
        return self


ONE_THREAD = Workers(n_threads=1)


_PLAIN = (type(None), bool, int, float, complex, str, bytes)


def fingerprint(value: Any) -> str:
    """Return 32 characters that differ where anything in a value does.

    Parameters
    ----------
    value : object
        Made of what can be pickled. Values that are computed from others when they are first needed
        do not count.

    Returns
    -------
    str
    """
    digest = hashlib.blake2b(digest_size=16)
    _add(digest.update, value)
    return digest.hexdigest()


def _add(update: Callable[[Any], None], value: Any) -> None:
    if type(value) in _PLAIN:
        text = repr(value).encode("utf-8", "surrogatepass")
        update(f"{type(value).__name__} {len(text)} ".encode())
        update(text)
    elif isinstance(value, np.ndarray):
        update(f"array {value.dtype.str} {value.shape} ".encode())
        if value.dtype.hasobject:
            _add(update, value.tolist())
        else:
            update(np.ascontiguousarray(value).reshape(-1).view(np.uint8))
    elif type(value) in (list, tuple):
        update(f"{type(value).__name__} {len(value)} ".encode())
        for entry in value:
            _add(update, entry)
    elif type(value) is dict:
        update(f"dict {len(value)} ".encode())
        for key in sorted(value, key=repr):
            _add(update, key)
            _add(update, value[key])
    elif isinstance(value, type | FunctionType | BuiltinFunctionType):
        update(f"name {value.__module__}.{value.__qualname__} ".encode())
    else:
        # What pickle would keep of it, in an order that is always the same.
        parts = list(value.__reduce_ex__(4))
        if len(parts) > 2 and type(parts[2]) is dict:
            kind = type(value)
            parts[2] = {
                k: v
                for k, v in parts[2].items()
                if not isinstance(getattr(kind, k, None), cached_property)
            }
        _add(update, [list(part) if hasattr(part, "__next__") else part for part in parts])


Arrays = dict[str, AnyArray]
_PART = "{0.start}-{0.stop}.part"  # the file of some steps


def _kept(path: Path) -> Arrays | None:
    """Return the results of some steps, or None if they are not there yet; checksums tell of a
    damaged file.
    """
    try:
        with path.open("rb") as file, np.load(file) as arrays:
            return dict(arrays)
    except FileNotFoundError:
        return None
    except Exception as error:  # of many types
        raise FileFormatError(
            f"{path} is damaged ({error}): remove it, and its part of the work is done again"
        ) from None


# so that a few tens of workers end together; handing out more would take longer than short parts do
_MOST_PARTS = 128


class Job(Protocol):
    """Work in numbered steps. It can be pickled, with the data that the steps need, and without
    others.
    """

    def run(self, steps: range, n_threads: int | None, report: Report | None) -> Arrays:
        """Do some steps.

        Parameters
        ----------
        steps : range
            The numbers of the steps.
        n_threads : int or None
            As in `count_threads`; results do not depend on it.
        report : callable or None
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
    """Do a job in the threads of this process or by an executor, and keep finished parts where that
    is asked.

    Parameters
    ----------
    job : Job
        The work.
    n, at_once : int
        Number of steps, and how many of them a part has at least, or a multiple of that; only the
        last one has fewer.
    workers : Workers
        Who does it.
    label : str
        Stands before the progress bar.
    take : callable
        Called in this thread with the steps of each part and its results, in any order: parts
        differ in size, and one part may be everything.
    """
    with reporting(workers.progress, label) as report:
        if workers.executor is None and workers.checkpoint is None:
            take(range(n), job.run(range(n), workers.n_threads, report))
            return
        size = divide_up(n, at_once * _MOST_PARTS) * at_once
        parts = [range(start, min(start + size, n)) for start in range(0, n, size)]
        folder, done = None, 0
        # where others may lie: of other data, settings, versions, products of NumPy
        if workers.checkpoint is not None:
            kept_for = fingerprint([__version__, np.__version__, job])
            folder = whole_files.ready_folder(Path(workers.checkpoint) / kept_for)

        def taken(steps: range, arrays: Arrays) -> None:
            nonlocal done
            take(steps, arrays)
            done += len(steps)
            if report is not None:
                report(done, n)

        def report_inside(inside: int, _: int) -> None:
            if report is not None:
                report(done + inside, n)

        missing = []
        for steps in parts:
            arrays_kept = None if folder is None else _kept(folder / _PART.format(steps))
            if arrays_kept is None:
                missing.append(steps)
            else:
                taken(steps, arrays_kept)
        if workers.executor is None:
            made = ((steps, job.run(steps, workers.n_threads, report_inside)) for steps in missing)
        else:
            made = results(workers.executor, job, missing, workers.n_threads or 1)
        with closing(made):
            for steps, arrays in made:
                if folder is not None:
                    with whole_files.written(folder / _PART.format(steps)) as file:
                        np.savez(file, **arrays)  # type: ignore[arg-type]  # no array is called allow_pickle
                taken(steps, arrays)
