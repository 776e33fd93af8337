"""The data sets of a study, looked at in several processes."""

from __future__ import annotations

import argparse
import multiprocessing
import os
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from typing import TypeVar

Found = TypeVar("Found")

_AT_ONCE = 50  # data sets of one task


def over_data_sets(
    looks: Sequence[Callable[[range], Found]], n_data_sets: int, processes: int | None = None
) -> list[list[Found]]:
    """Look at data sets numbered from 0, some at a time.

    Processes, for most of the time of a small data set goes to Python code, which threads would take turns in.

    Parameters
    ----------
    looks : sequence of callable
        Each is given the numbers of some data sets, which are their seeds, too.
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
        return [list(map(look, parts)) for look in looks]
    with ProcessPoolExecutor(processes, multiprocessing.get_context("spawn")) as pool:
        waiting = [[pool.submit(look, part) for part in parts] for look in looks]
        return [[one.result() for one in of_look] for of_look in waiting]


def study_parser(description: str | None, n_data_sets: int, *, named: bool = True) -> argparse.ArgumentParser:
    """Return what reads the command line of a study: how many data sets, of which populations or settings."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--data-sets", type=int, default=n_data_sets)
    if named:
        parser.add_argument("--only", nargs="*", help="names of populations or settings; by default all")
    parser.add_argument("--processes", type=int)
    return parser
