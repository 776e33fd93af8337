"""Dyadic-robust variances of the FMRs of embeddings."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from fastfair.data import score_keys
from fastfair.data.temporary_files import room

from .pair_lists import PairLists, VectorUnits
from .parted_pairs import SummedPairs

Floats = NDArray[np.float64]


def variances(
    lists: list[PairLists], summed: SummedPairs | None, keys: score_keys.Keys, units: VectorUnits
) -> list[Floats]:
    """Compute the dyadic-robust variance of non-mated lists, and that of product weights; see `kernels.dyadic`.

    Parameters
    ----------
    lists : list of PairLists
        The list of all pairs, and after it, if wanted, the lists of groups.
    summed : SummedPairs or None
        The pairs that are not listed.
    keys : (levels,) ndarray
        Threshold keys, as the lists have them, of ascending rates.
    units : VectorUnits
        Subjects.

    Returns
    -------
    list of (lists, levels, 3) ndarray
    """
    if lists[0].scale:
        return [_of_weighted_pairs(one, keys, units) for one in lists]
    return _of_counts(lists, summed, keys, units)


def _of_counts(
    lists: list[PairLists], summed: SummedPairs | None, keys: score_keys.Keys, units: VectorUnits
) -> list[Floats]:
    """Compute them where all pairs weigh alike, so that any order of them gives the same integers."""
    from fastfair.kernels import dyadic, unit_errors
    from fastfair.kernels.partners import Runs

    of_all = lists[0]
    sizes, stratum, stratum_size = _sizes_and_strata(of_all, units)
    n_units = stratum.size
    stops = np.searchsorted(of_all.keys, keys)  # keys of errors lie below
    a, b = of_all.a[: stops[-1]], of_all.b[: stops[-1]]
    listed = np.empty(n_units + 1, np.int64), np.empty(a.size, np.int32), np.empty(a.size, np.int64)
    unit_errors.group_by_smaller(a, b, *listed)
    none = np.empty(0, np.int32)
    runs, point_of_list = Runs(none, none, np.empty(0, np.int64), none, none), np.zeros(1, np.int64)
    if summed is not None:
        runs = summed.runs
        of_range = np.searchsorted(keys.astype(np.int64), summed.key)
        point_of_list = np.append(0, np.repeat(of_range, summed.counts.shape[1]))
    varies = (stratum_size[stratum] > 1).astype(np.float64)
    group = units.group if len(lists) > 1 else np.full(n_units, -1, np.int32)
    wrong = np.zeros((keys.size, 2, 3, n_units))
    unit_errors.add_errors(listed, stops, runs, point_of_list, (*sizes, varies), group, wrong)
    wrong = np.cumsum(wrong, axis=0)
    found = []
    for of_groups, some in enumerate(lists):
        sums = np.ascontiguousarray(wrong[:, 1] if of_groups else wrong.sum(axis=1))
        of_lists = np.empty((some.end.size, keys.size, 3))
        for members, of_list in zip(some.members, of_lists, strict=True):
            dyadic.variances_of_counts(sums, _inside(sizes, members), stratum, stratum_size, of_list)
        found.append(of_lists)
    return found


def _of_weighted_pairs(lists: PairLists, keys: score_keys.Keys, units: VectorUnits) -> Floats:
    """Compute them pair by pair, in the order of scores."""
    from fastfair.kernels import curves, dyadic
    from fastfair.kernels.comparison_lists import number_pairs

    sizes, stratum, stratum_size = _sizes_and_strata(lists, units)
    found = np.empty((lists.end.size, keys.size, 3))
    start = 0
    for members, stop, of_list in zip(lists.members, lists.end.tolist(), found, strict=True):
        stops = np.array([curves.count_below(lists.keys[start:stop], key) for key in keys], np.int64)
        a, b = lists.a[start : start + stops[-1]], lists.b[start : start + stops[-1]]
        pair, *of_pairs = room((4, a.size), np.int32)
        begin, end, n_pairs = np.array([0]), np.array([a.size]), np.empty(1, np.int64)
        number_pairs(a, b, begin, end, stratum.size, pair, tuple(of_pairs), n_pairs)
        dyadic.variances_of_all_pairs(
            (a, b, pair, lists.scale), stops, _inside(sizes, members), stratum, stratum_size, of_list
        )
        start = stop
    return found


def _sizes_and_strata(
    lists: PairLists, units: VectorUnits
) -> tuple[tuple[Floats, Floats], NDArray[np.int32], NDArray[np.int64]]:
    """Return the numbers of references and of probes of subjects, as `kernels.dyadic` takes them, and their strata."""
    references, probes = lists.of_subject.astype(np.float64)
    if not lists.two_sets:
        probes /= 2  # so that two subjects' pairs are counted once
    stratum = np.unique(units.group, return_inverse=True)[1].astype(np.int32)
    return (references, probes), stratum, np.bincount(stratum)


def _inside(sizes: tuple[Floats, Floats], members: Any) -> tuple[Floats, Floats]:
    """Return sizes that are 0 for units that are no members."""
    inside = np.zeros(sizes[0].size)
    inside[members] = 1
    return sizes[0] * inside, sizes[1] * inside
