"""The data sets of a study, looked at in several processes."""

from __future__ import annotations

import argparse
import functools
import multiprocessing
import os
import warnings
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ProcessPoolExecutor
from typing import Any, Protocol, TypeVar

import numpy as np

from fastfair.errors import FastfairWarning

_AT_ONCE = 50  # data sets of one task


class Named(Protocol):
    """A population or setting."""

    @property
    def name(self) -> str: ...


Found = TypeVar("Found")
Setting = TypeVar("Setting", bound=Named)


def over_data_sets(
    looks: Sequence[Callable[[int], Found]], n_data_sets: int, processes: int | None = None
) -> list[list[Found]]:
    """Look at data sets numbered from 0, without warnings of the library, which say what studies
    count.

    Processes, for most of the time of a small data set goes to Python code, which threads would
    take turns in.

    Parameters
    ----------
    looks : sequence of callable
        Each is given the number of a data set, which is its seed, too.
    n_data_sets : int
        How many there are for each.
    processes : int, optional
        All processors by default; 1 for this process alone.

    Returns
    -------
    list of list
        For each of `looks`, what it returned of all data sets in their order.
    """
    parts = [range(n_data_sets)[k : k + _AT_ONCE] for k in range(0, n_data_sets, _AT_ONCE)]
    processes = processes or len(os.sched_getaffinity(0))
    if processes == 1:
        return [_some(look, range(n_data_sets)) for look in looks]
    with ProcessPoolExecutor(processes, multiprocessing.get_context("spawn")) as pool:
        waiting = [[pool.submit(_some, look, part) for part in parts] for look in looks]
        return [[found for part in of_look for found in part.result()] for of_look in waiting]


def _some(look: Callable[[int], Found], seeds: Iterable[int]) -> list[Found]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FastfairWarning)
        return [look(seed) for seed in seeds]


def of_data_sets(
    look: Callable[[int], Found], n_data_sets: int, processes: int | None = None
) -> list[Found]:
    """Return what one look returned of each data set."""
    return over_data_sets([look], n_data_sets, processes)[0]


def shares(
    names: Iterable[str],
    look: Callable[[int], Sequence[float]],
    n_data_sets: int,
    processes: int | None = None,
) -> dict[str, float]:
    """Return the means over data sets of numbers that have names; of those that are known, where
    some are NaN."""
    rows = np.array(of_data_sets(look, n_data_sets, processes), np.float64)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # of means of nothing
        return dict(zip(names, np.nanmean(rows, axis=0).tolist(), strict=True))


def collected(
    look: Callable[[int], Iterable[tuple[str, float]]],
    n_data_sets: int,
    processes: int | None = None,
) -> dict[str, list[float]]:
    """Return, by its name, every number that a look at a data set yields, some names many times,
    some not at all."""
    found = defaultdict(list)
    for pairs in of_data_sets(functools.partial(_listed, look), n_data_sets, processes):
        for name, number in pairs:
            found[name].append(number)
    return dict(found)


def _listed(look: Callable[[int], Iterable[Found]], seed: int) -> list[Found]:
    return list(look(seed))


def coverage(
    look: Callable[[int], Iterable[tuple[str, float]]],
    n_data_sets: int,
    processes: int | None = None,
    columns: Iterable[str] | None = None,
) -> dict[str, float]:
    """Return the means of the numbers of `collected`, of the columns asked for in their order, or
    of all."""
    found = collected(look, n_data_sets, processes)
    return {name: float(np.mean(found[name])) for name in columns or found}


def added(parts: Iterable[dict[Any, Counter[str]]]) -> dict[Any, Counter[str]]:
    """Add the counts that have the same key."""
    whole: dict[Any, Counter[str]] = {}
    for part in parts:
        for key, count in part.items():
            whole[key] = whole.get(key, Counter()) + count
    return whole


def study_parser(
    description: str | None, n_data_sets: int, *, named: bool = True
) -> argparse.ArgumentParser:
    """Return what reads the command line of a study: how many data sets, of which populations or
    settings."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--data-sets", type=int, default=n_data_sets)
    if named:
        parser.add_argument(
            "--only", nargs="*", help="names of populations or settings; by default all"
        )
    parser.add_argument("--processes", type=int)
    return parser


def chosen(settings: Iterable[Setting], only: Sequence[str] | None) -> list[Setting]:
    """Return the populations or settings that the command line names, by default all."""
    return [setting for setting in settings if not only or setting.name in only]
