"""Scans of vectors that keep as many pairs as operating points need, so that nobody has to say how
many.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import numpy as np

from fastfair._lib.arrays import AnyIntegers, Indices
from fastfair._lib.workers import Workers
from fastfair.data.comparisons import Comparisons, keys_of
from fastfair.data.embeddings import ROLES, Embeddings, refuse_failed
from fastfair.data.sorted_scores import ClassKeys, NotKeptError
from fastfair.errors import InputError

from . import score_metrics
from .operating_points import OperatingPoint, threshold_key

_Result = TypeVar("_Result")
_Data = TypeVar("_Data")
_LOOKED_AT = 1500  # vectors of which all pairs are compared, to guess how many will be needed
_OF_A_SUBJECT = 20  # at most so many of them of each subject
_SPARE = 1.6  # times as many are kept as the FMR held needs, as replicates need more than the data,
# and as other points and EERs do, which vary more where few subjects have many mated pairs,
_SPARE_OF_OTHERS = 3.0
_PAIRS = 60  # and as many pairs more of the smallest two groups,
# up to this share of all pairs; beyond it, limits of rates without errors may be wider
_MOST_FOR_GROUPS = 0.1
_MORE = 3  # times as many where that does not suffice


def in_memory(
    data: _Data, n_threads: int | None, progress: bool | Callable[[int, int], None] = False
) -> _Data | Comparisons:
    """Return vectors with sessions as comparisons, as scans draw people alone; other data as they
    are.
    """
    if isinstance(data, Embeddings) and data.sessions is not None:
        return data.comparisons(n_threads=n_threads, progress=progress)
    return data


def with_enough_pairs(
    embeddings: Sequence[Embeddings],
    points: Sequence[OperatingPoint],
    with_metrics: bool,
    use: Callable[[list[Any]], _Result],
    workers: Workers = Workers(),  # noqa: B008 - frozen
) -> _Result:
    """Do something with scans of vectors, again with more pairs kept where these were too few.

    Parameters
    ----------
    embeddings : sequence of Embeddings
        The vectors, by one system or by several.
    points : sequence of OperatingPoint
        The operating points at which rates are asked for.
    with_metrics : bool
        Whether EERs and minimum costs are, too.
    use : callable
        What to do with a scan of each, or with all comparisons of vectors whose pairs are of one
        kind, or that have sessions; what it returns does not depend on how many pairs they keep.
    workers : Workers
        Who computes the similarities.

    Returns
    -------
    Any
        What `use` returns.
    """
    for system in embeddings:
        refuse_failed(system)
    if any(system.lacks or system.sessions is not None for system in embeddings):
        n_threads, progress = workers.n_threads, workers.progress
        return use(
            [system.comparisons(n_threads=n_threads, progress=progress) for system in embeddings]
        )
    shares = [
        min(1.0, _share_to_keep(system, points, with_metrics, workers.n_threads))
        for system in embeddings
    ]
    while True:
        scans = [
            system._scanned(share, workers)
            for system, share in zip(embeddings, shares, strict=True)
        ]
        for scan, share in zip(scans, shares, strict=True):
            scan.kept.may_keep_more = share < _MOST_FOR_GROUPS
        try:
            return use(scans)
        except NotKeptError:
            if all(scan.kept.nonmated.not_kept is None for scan in scans):
                raise
        shares = [min(1.0, _MORE * share) for share in shares]


def _share_to_keep(
    embeddings: Embeddings,
    points: Sequence[OperatingPoint],
    with_metrics: bool,
    n_threads: int | None,
) -> float:
    """Guess which share of the non-mated pairs is needed."""
    held = [point.value for point in points if point.rate == "fmr"]
    needed = _SPARE * max(held, default=0.0)
    if with_metrics or len(held) < len(points):
        needed = max(
            needed,
            _SPARE_OF_OTHERS * _share_at_thresholds(embeddings, points, with_metrics, n_threads),
        )
    smallest = embeddings.n_nonmated  # of the two groups that have the fewest pairs
    if embeddings.groups:
        cells = embeddings.pairs[1].count(
            embeddings.subject_group.astype(np.uint16), len(embeddings.groups)
        )[0]
        smallest = int(cells[cells > 0].min())
    return max(needed + _PAIRS / embeddings.n_nonmated, min(_MOST_FOR_GROUPS, _PAIRS / smallest))


def _share_at_thresholds(
    embeddings: Embeddings,
    points: Sequence[OperatingPoint],
    with_metrics: bool,
    n_threads: int | None,
) -> float:
    """Compute the FMR at the laxest threshold of operating points, and EERs of groups, among some
    of the vectors.
    """
    try:
        some = _some_of(embeddings).comparisons(n_threads=n_threads)
    except InputError:  # such as no mated pair among them
        return _MOST_FOR_GROUPS
    of_all = keys_of(some)
    others = [point for point in points if point.rate != "fmr" and not point.rule.eers]
    rates = [_fmr_at(of_all, threshold_key(some, point)) for point in others]
    if with_metrics or any(point.rule.eers for point in points):
        lists = [of_all, *(keys_of(some, k) for k in range(len(some.groups)))]
        rates += [
            _fmr_at(of_all, score_metrics.nearest_equal_error(keys).key)
            for keys in lists
            if all(keys.sizes)
        ]
    return max(rates)


def _fmr_at(keys: ClassKeys, key: np.signedinteger) -> float:
    return 1 - int(np.searchsorted(keys.nonmated, key)) / keys.nonmated.size


def _some_of(embeddings: Embeddings) -> Embeddings:
    """Take the vectors of some subjects, from each group in turn and those with mated pairs
    first.
    """
    group = embeddings.subject_group
    n = np.minimum(embeddings.n_samples, _OF_A_SUBJECT)
    order = np.lexsort((embeddings.pairs[0].of_subjects() == 0, group))
    chosen = np.argsort(_ranks(group, order), kind="stable")
    chosen = chosen[: max(2, int(np.searchsorted(np.cumsum(n[chosen]), _LOOKED_AT, side="right")))]
    side = (
        np.zeros(embeddings.subject.size, bool)
        if embeddings.is_probe is None
        else embeddings.is_probe
    )
    of_side = embeddings.subject.astype(np.int64) * 2 + side
    # earlier vectors of the same subject and role
    before = _ranks(of_side, np.argsort(of_side, kind="stable"))
    vectors = np.flatnonzero(np.isin(embeddings.subject, chosen) & (before < _OF_A_SUBJECT))
    rows: AnyIntegers = vectors
    if embeddings.template is not None:
        vectors = np.flatnonzero(np.isin(embeddings.template, vectors))
        rows = embeddings.template[vectors]
    subject = embeddings.subject[rows]
    labels = np.array(embeddings.groups, object)[group[subject]] if embeddings.groups else None
    role = (
        None
        if embeddings.is_probe is None
        else np.array(ROLES, object)[embeddings.is_probe[rows].astype(int)]
    )
    some = Embeddings(embeddings.vectors[vectors], subject, labels, embeddings.similarity, role)
    return some if embeddings.template is None else some.enrolled(rows, score="max")


def _ranks(codes: AnyIntegers, order: Indices) -> Indices:
    """Count, for each, how many of the same code come before it in an order that sorts by codes."""
    ranks = np.empty(order.size, np.intp)
    ranks[order] = np.arange(order.size) - np.searchsorted(codes[order], codes[order])
    return ranks
