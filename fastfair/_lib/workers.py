"""Who does long work, who hears of it, and where its parts are kept."""

from __future__ import annotations

from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

from fastfair._lib import progress as bars
from fastfair._lib import seeds, whole_files
from fastfair._lib.progress import Report
from fastfair._lib.text import shown
from fastfair._lib.threads import count_threads
from fastfair.errors import InputError


def _executor(name: str, value: Any) -> Any:
    if value is None or (callable(getattr(value, "submit", None)) and not isinstance(value, type)):
        return value
    raise InputError(
        f"{name} must be an executor with a method submit, as those of concurrent.futures or a Client of Dask, not "
        f"{shown(value)}"
    )


Executor = Annotated[Any, _executor]


@dataclass(frozen=True)
class Workers:
    """Threads of this process, or the workers of an executor.

    Attributes
    ----------
    n_threads : int or None
        Number of threads of this process, by default one for each processor; with an executor, of each task, by
        default 1.
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
        """Return the same workers after a look at their number, their folder, and the seed of their work.

        Parameters
        ----------
        rng : None, int, SeedSequence or Generator
            The seed as the caller gave it.
        """
        count_threads(self.n_threads)
        if self.checkpoint is None:
            return self
        if rng is None:
            raise InputError(
                "checkpoint needs a seed, as a run with another seed cannot go on from it: pass rng, such as rng=0"
            )
        whole_files.check_folder(self.checkpoint)
        return self

    def reporting(self, label: str) -> AbstractContextManager[Report | None]:
        """Give a function to call with the work done and all the work, or None if no progress is wanted."""
        return bars.reporting(self.progress, label)


ONE_THREAD = Workers(n_threads=1)
