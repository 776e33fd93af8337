"""Folds of subjects, and the comparisons that a transform may be trained on for each pair of folds."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fastfair._lib import validation
from fastfair.data.comparisons import Comparisons
from fastfair.data.sorted_scores import SortedSide
from fastfair.errors import InputError

Mask = NDArray[np.bool_]
BY = ("subject", "comparison")
_LEAST_FOLDS = {"subject": 3, "comparison": 2}  # so that something is left without the folds of both subjects


@dataclass(frozen=True, eq=False)
class Part:
    """Comparisons that get their ratios from one transform, and those that it is trained on.

    Attributes
    ----------
    name : str
        The folds of the subjects compared, such as "1 and 3".
    tested, trained : two (n,) ndarrays of bool
        Which mated, and which non-mated, comparisons they are; no subject of a comparison tested is in one trained on.
    """

    name: str
    tested: tuple[Mask, Mask]
    trained: tuple[Mask, Mask]


def parts_of(comparisons: Comparisons, by: str, n_folds: int, rng: np.random.Generator) -> Iterator[Part]:
    """Divide comparisons by the folds of their subjects.

    Parameters
    ----------
    comparisons : Comparisons
        The comparisons.
    by : {"subject", "comparison"}
        What is dealt out to the folds: subjects, group by group, or comparisons of either class.
    n_folds : int
        Number of folds.
    rng : Generator
        Shuffles.

    Yields
    ------
    Part
        Of subjects, one for each pair of folds that are compared, and for each fold alone.
    """
    validation.choice("by", by, BY)
    least = _LEAST_FOLDS[by]
    if n_folds < least:
        why = ", as a comparison of two subjects leaves out the folds of both" if by == "subject" else ""
        raise InputError(f"n_folds must be at least {least} for by={by!r}{why}, not {n_folds}")
    sides = comparisons.mated, comparisons.nonmated
    if by == "comparison":
        alone = [_dealt(np.zeros(len(side), np.int64), n_folds, rng) for side in sides]
        folds = [(fold, fold) for fold in alone]
    else:
        folds = _of_subjects(comparisons, sides, n_folds, rng)
    pairs = [np.minimum(*both) * n_folds + np.maximum(*both) for both in folds]
    for code in np.union1d(*pairs).tolist():
        first, second = divmod(code, n_folds)
        tested = pairs[0] == code, pairs[1] == code
        mated, nonmated = (~(np.isin(both[0], (first, second)) | np.isin(both[1], (first, second))) for both in folds)
        name = f"{first + 1}" if first == second else f"{first + 1} and {second + 1}"
        yield Part(name, tested, (mated, nonmated))


def _of_subjects(
    comparisons: Comparisons, sides: tuple[SortedSide, SortedSide], n_folds: int, rng: np.random.Generator
) -> list[tuple[NDArray[np.int64], NDArray[np.int64]]]:
    if comparisons.subjects is None:
        raise InputError(
            "folds are of subjects, but the comparisons have none: give reference and probe, or pass development= with "
            'other comparisons, or by="comparison", which trains on people who are tested'
        )
    if n_folds > comparisons.subjects.size:
        raise InputError(f"n_folds={n_folds} is more than there are subjects, {comparisons.subjects.size}")
    group = comparisons.group_of_subject
    strata = np.zeros(comparisons.subjects.size, np.int64) if group is None else group.astype(np.int64)
    fold = _dealt(strata, n_folds, rng)
    found = []
    for side in sides:
        assert side.reference is not None
        assert side.probe is not None
        found.append((fold[side.reference], fold[side.probe]))
    return found


def _dealt(strata: NDArray[np.int64], n_folds: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """Deal out units in random order, stratum by stratum, so that folds have nearly as many of each."""
    order = np.lexsort((rng.random(strata.size), strata))
    found = np.empty(strata.size, np.int64)
    found[order] = (np.arange(strata.size) + rng.integers(n_folds)) % n_folds
    return found
