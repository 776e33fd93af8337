"""Replicates of embeddings at thresholds that hold given FMRs, straight from the pairs of vectors
that are found.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Literal, NamedTuple, get_args

import numpy as np

from fastfair._lib.arrays import Floats, Groups
from fastfair._lib.threads import count_threads
from fastfair._lib.workers import Workers
from fastfair.data import score_keys
from fastfair.data.embeddings import Embeddings
from fastfair.data.pair_search import FoundPairs, Pairs
from fastfair.data.score_keys import typed_threshold
from fastfair.data.vector_pairs import pairs_of_two_subjects
from fastfair.error_rates.operating_points import at_fmr
from fastfair.errors import InputError

from .engine import NO_METRICS, Engine, Replicates
from .error_lists import ErrorLists, PairParting, Ranges, Scale, find_shrinkage, make_lists
from .pair_source import Classes, ListedComparisons
from .units import BLOCK, Units
from .vector_sides import CurveSide

Weighting = Literal["identity", "comparison"]
WEIGHTINGS: tuple[Weighting, ...] = get_args(Weighting)
ROUNDING = 1 + 1e-9  # a rate meets a level that it exceeds by no more than sums of floats may
# Times as many non-mated pairs are kept as the highest level has errors, and
_SPARE = {"sample": 1.08, "subject": 1.3, "subject+sample": 1.3}
_SPARE_DEVIATIONS = 6  # as many standard deviations of their number more
_MORE = 2.0  # times as many when a replicate needs pairs that are not kept


class Draws(NamedTuple):
    """What is drawn with replacement, and what counts alike in a rate.

    Attributes
    ----------
    weighting : {"identity", "comparison"}
        Whether all subjects, and all pairs of them, have the same weight in a rate, or all pairs of
        vectors.
    unit : {"sample", "subject", "subject+sample"}
        The units drawn with replacement.
    scheme : {"dyadic", "product"}
        Whether the weights of pairs of subjects are shrunk until replicates have the dyadic-robust
        variance; only those of the unit "subject" are.
    """

    weighting: str
    unit: str
    scheme: str = "product"


class PairResampler(Engine):
    """Computes rates over embeddings and draws replicates of them.

    Parameters
    ----------
    embeddings : Embeddings
        The vectors.
    levels : (levels,) ndarray
        False match rates to hold, ascending, in (0, 1).
    draws : Draws
        What is drawn, and what counts alike.
    with_groups, with_overall_fmr : bool
        Whether to compute the rates of groups, and the FMR of all pairs.
    all_listed : bool
        Whether lists must hold all pairs that are kept, even those that replicates do not need one
        by one.
    workers : Workers
        Who computes similarities and replicates.

    Attributes
    ----------
    error_lists : Classes of ErrorLists
        All mated pairs, and the most similar non-mated ones: of all, and of each group.
    rates : (levels,) ndarray
        The levels, with room for rounding.
    thresholds : (levels,) ndarray of int64
        The key of the threshold of each level in the data.
    first_fmr : int
        The first list whose FMR is computed.

    Raises
    ------
    InputError
        For a level below the lowest FMR above 0 that the data can have.
    """

    metrics = NO_METRICS
    _not_sent = "embeddings", "_finder", "_workers"
    need_eer = hull_eer = False
    score_kind, lowest_key, cells = "similarity", None, ()

    def __init__(
        self,
        embeddings: Embeddings,
        levels: Floats,
        draws: Draws,
        *,
        with_groups: bool,
        with_overall_fmr: bool = False,
        all_listed: bool = False,
        workers: Workers = Workers(),  # noqa: B008 - frozen
    ) -> None:
        self.embeddings = embeddings
        self.levels = levels
        self._workers = workers
        self._all_listed = all_listed
        self.points = [at_fmr(level) for level in levels.tolist()]
        self.rates = levels * ROUNDING
        self.n_groups = len(embeddings.groups) if with_groups else 0
        self.first_fmr = 0 if with_overall_fmr else 1
        self.units = Units.of_vectors(embeddings, draws.unit)
        self._sides = Classes(
            *(
                CurveSide(
                    embeddings, self.units, mated, draws.weighting, self.n_groups, workers.n_threads
                )
                for mated in (True, False)
            )
        )
        self._require_resolution(draws.weighting)
        self._finder = embeddings._finder(workers)
        expected = float(levels[-1]) * embeddings.n_nonmated
        self.share = (
            _SPARE[draws.unit] * expected + _SPARE_DEVIATIONS * expected**0.5 + BLOCK
        ) / embeddings.n_nonmated
        self._find_pairs()
        self.thresholds = self._threshold_keys().astype(np.int64)
        dyadic = draws.scheme == "dyadic" and draws.unit == "subject"
        self.shrinkage = find_shrinkage(self.error_lists, self.thresholds, {}, dyadic=dyadic)

    def _require_resolution(self, weighting: str) -> None:
        least = 1 / self.embeddings.n_nonmated
        pairs = self.embeddings.pairs[1]
        if weighting == "identity":
            # A false match weighs least where its two subjects have most vectors.
            references, probes = pairs.vectors
            first = np.argsort(references)[-2:]
            most = max(int(np.delete(probes, k).max()) * int(references[k]) for k in first)
            least = 1 / (
                int(pairs_of_two_subjects(references > 0, probes > 0, pairs.is_probe is not None))
                * most
            )
        if self.rates[0] < least:
            raise InputError(
                f"⟦fmr={self.levels[0]:g}⟧ is too low for these data, in which a single false match"
                f" makes an FMR of {least:.3g}: give that or more"
            )

    def _find_pairs(self) -> None:
        n_threads = count_threads(self._workers.n_threads)
        of_mated, of_nonmated = self._sides
        mated, unsorted = self._finder.find_unsorted(self.share)
        unsorted, of_nonmated.ranges = self._parted(unsorted, n_threads)
        nonmated = unsorted.sorted(n_threads)
        if of_nonmated.ranges is not None:
            of_nonmated.listed_before = np.searchsorted(nonmated.keys, of_nonmated.ranges.key)
        self.error_lists = Classes(
            self._list(mated, of_mated, True), self._list(nonmated, of_nonmated, False)
        )

    def _list(self, pairs: Pairs, side: CurveSide, mated: bool) -> ErrorLists:
        """List sorted pairs, and after them those inside each group."""
        n_groups = self.n_groups
        group = side.group[self.units.subject].astype(np.uint16)

        def groups_of(part: slice) -> tuple[Groups, Groups]:
            return group[pairs.first[part]], group[pairs.second[part]]

        cells = np.diag(np.arange(1, n_groups + 1, dtype=np.int32)) if n_groups else None
        rows_of = partial(self.units.rows_of, mated)
        kept = ListedComparisons(
            pairs.first, pairs.second, pairs.keys, rows_of, 1 + n_groups, groups_of, cells
        )
        lists = make_lists(kept, side, mated, errors_first=True)
        return replace(lists, complete=pairs.complete, scale=side.scale, ranges=side.ranges)

    def _parted(self, pairs: FoundPairs, n_threads: int) -> tuple[FoundPairs, Ranges | None]:
        """Part the non-mated pairs into those to sort and those to sum."""
        side = self._sides.nonmated
        if self._all_listed or side.scale or not pairs.packing.fits:
            return pairs, None
        positions = (self.rates * side.sizes[0]).astype(np.int64)
        group = side.group[self.units.subject]
        return PairParting(
            pairs, self.units, group, self.n_groups, positions, n_threads
        ).parted() or (pairs, None)

    def _keep_more(self) -> None:
        """List all non-mated pairs that are kept, or keep more where all are listed."""
        if self.error_lists.nonmated.ranges is None:
            self.share *= _MORE
        self._all_listed = True
        self._find_pairs()

    def _threshold_keys(self) -> score_keys.Keys:
        """Find the threshold of each level in the data."""
        while True:
            nonmated = self.error_lists.nonmated
            keys = nonmated.keys_of(0)
            allowed = self.rates * nonmated.sizes[0]
            if nonmated.scale:
                sums = _running_sums(nonmated, nonmated.scale, slice(0, keys.size))
                positions = np.searchsorted(sums, allowed, side="right")
            else:
                positions = allowed.astype(np.int64)
                if nonmated.ranges is not None:
                    positions = nonmated.ranges.positions(positions, keys)
            if (positions >= 0).all() and (nonmated.complete or positions[-1] < keys.size):
                # The score there is the first that must be rejected: the threshold is the next
                # float above it.
                return -keys[np.minimum(positions, keys.size - 1)]
            self.keep_more(self.error_lists)

    def estimate(self) -> tuple[Replicates, Floats]:
        """Return the rates in the data, and the (levels, 1 + groups) V-statistics around which FNMR
        replicates vary.
        """
        mated, nonmated = self.error_lists
        keys = self.thresholds.astype(nonmated.keys.dtype)
        thresholds = score_keys.decode(keys).astype(np.float64)
        fnmr = _shares_below(mated, mated.scale, keys)
        fmr = _shares_below(nonmated, nonmated.scale, -keys)
        return Replicates(thresholds, fmr, fnmr), _shares_below(mated, self._scale_of_draws(), keys)

    def _scale_of_draws(self) -> Scale:
        """Return the mean weights of mated pairs over replicates, in which a vector may be paired
        with itself.
        """
        scale, units = self.error_lists.mated.scale, self.units
        if not units.pairs_itself:
            return scale
        apart = units.per_row(1 - 1 / np.bincount(units.subject))
        return (apart * scale[0], scale[1]) if scale else (apart, np.ones_like(apart))

    def typed(self, thresholds: Floats) -> Floats:
        """Return short decimals between the highest rejected pair, just above which a threshold is,
        and the next.
        """
        of_mated, of_nonmated = (lists.keys_of(0) for lists in self.error_lists)
        kind = score_keys.float_type(of_nonmated).type
        decimals = []
        for key in score_keys.first_keys_at_least(thresholds, of_nonmated):
            nonmated = np.searchsorted(of_nonmated, ~(key - 1))
            mated = np.searchsorted(of_mated, key)
            above = ~of_nonmated[max(nonmated - 1, 0) : nonmated], of_mated[mated : mated + 1]
            near = score_keys.decode(np.concatenate(([key - 1], *above)).astype(of_nonmated.dtype))
            rejected, *accepted = near.astype(np.float64).tolist()
            decimals.append(typed_threshold(rejected, min(accepted, default=None), kind))
        return np.array(decimals)


def _running_sums(lists: ErrorLists, scale: tuple[Floats, Floats], part: slice) -> Floats:
    """Return the running sums of the pairs' weights, from the first pair on."""
    return np.cumsum(scale[0][lists.a[part]] * scale[1][lists.b[part]])


def _shares_below(lists: ErrorLists, scale: Scale, limits: score_keys.Keys) -> Floats:
    """Return the (levels, lists) weight of errors, under a scale, over the total weight under the
    lists' own scale.
    """
    shares = lists.count_below(
        np.repeat(limits[:, None].astype(np.int64), lists.end.size, axis=1)
    ).astype(np.float64)
    for k in range(lists.end.size):
        if scale:
            sums = np.append(0, _running_sums(lists, scale, slice(lists.start[k], lists.end[k])))
            shares[:, k] = sums[shares[:, k].astype(np.int64)]
        elif lists.ranges is not None:
            shares[:, k] += [lists.ranges.below(limit)[k] for limit in limits]
    with np.errstate(invalid="ignore"):  # a group may have no such pairs
        return shares / lists.sizes
