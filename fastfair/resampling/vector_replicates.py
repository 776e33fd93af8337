"""Replicates of embeddings at thresholds that hold given FMRs, straight from the pairs of vectors that are found."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any, Literal, NamedTuple, get_args

import numpy as np
from numpy.typing import NDArray

from fastfair._lib.arrays import Bytes, Floats, Groups, Integers
from fastfair._lib.threads import count_threads
from fastfair._lib.workers import Workers
from fastfair.data import score_keys
from fastfair.data.embeddings import Embeddings
from fastfair.data.pair_search import FoundPairs, Pairs
from fastfair.data.score_keys import typed_threshold
from fastfair.data.vector_pairs import pairs_of_two_subjects
from fastfair.error_rates.operating_points import at_fmr
from fastfair.errors import InputError

from .engine import Engine, Replicates
from .error_lists import ErrorLists, PairParting, Ranges, Scale, find_shrinkage, make_lists, number_pairs
from .pair_source import Errors, ListedComparisons, PairSide
from .units import BLOCK, Units

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
        Whether all subjects, and all pairs of them, have the same weight in a rate, or all pairs of vectors.
    unit : {"sample", "subject", "subject+sample"}
        The units drawn with replacement.
    scheme : {"dyadic", "product"}
        Whether the weights of pairs of subjects are shrunk until replicates have the dyadic-robust variance; only
        those of the unit "subject" are.
    """

    weighting: str
    unit: str
    scheme: str = "product"


class FoundSide(PairSide):
    """All mated, or all non-mated, pairs of vectors, which are counted by multiplying the numbers of subjects' vectors.

    It stands beside `pair_source.VectorSide` for speed: that one walks over the pairs of each list with its errors one
    by one, for units and counts of any kind, which takes 5 to 10 times as long for the many errors of a curve. This one
    sums errors by unit in all lists at once, and knows identity weights and ranges that are not listed.

    Attributes
    ----------
    scale : tuple of (rows,) ndarray, or ()
        As in `ErrorLists`.
    of_subject : (k,) or (2, k) ndarray
        For mated pairs, the total weight of each subject's pairs; for non-mated pairs, numbers whose products, that of
        a reference's subject times that of a probe's, are the total weights of two subjects' pairs.
    ranges : Ranges or None
        Pairs that are counted, but not listed.
    place : (ranges,) ndarray
        How many of the pairs that are listed lie below each.
    group : (k,) ndarray of int32
        The group of each subject, in the order in which these are drawn; -1 without lists of groups.
    vectors : two (k,) ndarray of int64
        Numbers of references and of probes of each subject; of all its vectors where every two are compared.
    """

    def __init__(
        self, embeddings: Embeddings, units: Units, mated: bool, weighting: str, n_groups: int, n_threads: int | None
    ) -> None:
        self._units, self._mated, self._two_sets = units, mated, embeddings.pairing.two_sets
        self.ranges: Ranges | None = None
        self.place = np.empty(0, np.int64)
        order = np.argsort(embeddings.subject_group, kind="stable")
        self.group = embeddings.subject_group[order] if n_groups else np.full(order.size, -1, np.int32)
        self.vectors = tuple(counts[order] for counts in embeddings.pairs[0].vectors)
        self._members: tuple[Any, ...] = (slice(None), *(np.flatnonzero(self.group == k) for k in range(n_groups)))
        self.scale, self.of_subject = self._weights_in_rates(weighting)
        self.total_type = np.float64 if self.scale else np.int64
        super().__init__(self._sums(np.ones((order.size, 1), np.int64))[:, 0], units, n_threads)

    def _weights_in_rates(self, weighting: str) -> tuple[Scale, Integers]:
        """Return `scale` and `of_subject`."""
        units, (references, probes) = self._units, self.vectors
        if not self._mated:
            of_subject = np.stack((references, probes))
        else:
            of_subject = references * probes if self._two_sets else references * (references - 1) // 2
        sides = np.atleast_2d(of_subject)
        if weighting != "identity" or all(np.unique(side[side > 0]).size <= 1 for side in sides):
            return (), of_subject
        with np.errstate(divide="ignore"):
            rows = [units.per_row(np.where(side > 0, 1 / side, 0)) for side in sides]
        scale = rows[0], np.ones_like(rows[0]) if self._mated else rows[1]
        return scale, (of_subject > 0).astype(np.int64)

    def _sums(self, subject_weights: Integers) -> NDArray[Any]:
        """Return the (lists, r) total weights of the pairs of each list, of subjects drawn (k, r) times."""
        weights = subject_weights * self.of_subject[..., None]
        lists = [weights[..., members, :] for members in self._members]
        if self._mated:
            sums = np.array([part.sum(axis=0) for part in lists])
        else:
            sums = np.array([pairs_of_two_subjects(part[0], part[1], self._two_sets) for part in lists])
        return sums.astype(np.float64) if self.scale else sums

    @property
    def two_way(self) -> bool:
        """As in `PairSide`."""
        return not self._mated

    def weigh(self, block: int, weights: Bytes, largest: int, totals: NDArray[Any]) -> None:
        """As in `PairSide`; floats with a scale."""
        totals[:] = self._sums(self._units.subject_weights(weights))

    def variances(self, errors: Errors) -> tuple[Floats, Floats]:
        """As in `PairSide`, of subjects and ascending ends; without sums over pairs."""
        of_lists = self._variances_of_weighted(errors) if self.scale else self._variances_of_counts(errors)
        return of_lists.swapaxes(0, 1).copy(), np.empty((*of_lists.shape[1::-1], 0))

    @property
    def _sizes_of_subjects(self) -> tuple[Floats, Floats]:
        """The numbers of references and of probes of subjects, as `kernels.dyadic` takes them."""
        references, probes = self.of_subject.astype(np.float64)
        if not self._two_sets:
            probes /= 2  # so that two subjects' pairs are counted once
        return references, probes

    def _inside(self, sizes: tuple[Floats, Floats], members: Any) -> tuple[Floats, Floats]:
        """Return sizes that are 0 for subjects that are no members."""
        inside = np.zeros(sizes[0].size)
        inside[members] = 1
        return sizes[0] * inside, sizes[1] * inside

    def _variances_of_counts(self, errors: Errors) -> Floats:
        """Compute (lists, points, 3) where all pairs weigh alike, so that any order of them gives the same integers."""
        from fastfair.kernels import dyadic, unit_errors
        from fastfair.kernels.partners import Runs

        sizes, stratum, stratum_size = self._sizes_of_subjects, self.stratum[:-1], self.stratum_size[:-1]
        n_units, stops = stratum.size, np.ascontiguousarray(errors[3][:, 0])
        a, b = (rows[: stops[-1]] for rows in errors[:2])
        listed = np.empty(n_units + 1, np.int64), np.empty(a.size, np.int32), np.empty(a.size, np.int64)
        unit_errors.group_by_smaller(a, b, *listed)
        none = np.empty(0, np.int32)
        runs, point_of_list = Runs(none, none, np.empty(0, np.int64), none, none), np.zeros(1, np.int64)
        if self.ranges is not None:
            runs = self.ranges.runs
            of_range = np.searchsorted(stops, self.place)  # the first point whose errors they are
            point_of_list = np.append(0, np.repeat(of_range, self.ranges.parts.shape[1]))
        varies = (stratum_size[stratum] > 1).astype(np.float64)
        wrong = np.zeros((stops.size, 2, 3, n_units))
        unit_errors.add_errors(listed, stops, runs, point_of_list, (*sizes, varies), self.group, wrong)
        wrong = np.cumsum(wrong, axis=0)
        sums = [np.ascontiguousarray(part) for part in (wrong.sum(axis=1), wrong[:, 1])]
        found = np.empty((len(self._members), stops.size, 3))
        for k, members in enumerate(self._members):
            inside = self._inside(sizes, members)
            dyadic.variances_of_counts(sums[k > 0], inside, stratum, stratum_size, found[k])
        return found

    def _variances_of_weighted(self, errors: Errors) -> Floats:
        """Compute them pair by pair, in the order of scores."""
        from fastfair.kernels import dyadic

        rows_a, rows_b, start, stops = errors
        sizes, strata = self._sizes_of_subjects, (self.stratum[:-1], self.stratum_size[:-1])
        found = np.empty((len(self._members), stops.shape[0], 3))
        for k, members in enumerate(self._members):
            part = slice(start[k], stops[-1, k])
            a, b = rows_a[part], rows_b[part]
            pair = number_pairs(a, b, strata[0].size)[0]
            ends = np.ascontiguousarray(stops[:, k] - start[k])
            inside = self._inside(sizes, members)
            dyadic.variances_of_all_pairs((a, b, pair, self.scale), ends, inside, *strata, found[k])
        return found

    def lists_of(self, pairs: Pairs) -> ErrorLists:
        """List sorted pairs, and after them those inside each group."""
        units, n_groups = self._units, len(self._members) - 1
        group = self.group[units.subject].astype(np.uint16)

        def groups_of(part: slice) -> tuple[Groups, Groups]:
            return group[pairs.first[part]], group[pairs.second[part]]

        cells = np.diag(np.arange(1, n_groups + 1, dtype=np.int32)) if n_groups else None
        rows_of = partial(units.rows_of, self._mated)
        kept = ListedComparisons(pairs.first, pairs.second, pairs.keys, rows_of, 1 + n_groups, groups_of, cells)
        lists = make_lists(kept, self, self._mated, errors_first=True)
        return replace(lists, complete=pairs.complete, scale=self.scale, ranges=self.ranges)


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
        Whether lists must hold all pairs that are kept, even those that replicates do not need one by one.
    workers : Workers
        Who computes similarities and replicates.

    Attributes
    ----------
    y, x : ErrorLists
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

    metrics = ()
    _own = "embeddings", "_finder", "_workers"
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
        self.embeddings, self.levels, self._workers, self._all_listed = embeddings, levels, workers, all_listed
        self.points, self.rates = [at_fmr(level) for level in levels.tolist()], levels * ROUNDING
        self.n_groups, self.first_fmr = len(embeddings.groups) if with_groups else 0, 0 if with_overall_fmr else 1
        self.units = Units.of_vectors(embeddings, draws.unit)
        self._sides = [
            FoundSide(embeddings, self.units, mated, draws.weighting, self.n_groups, workers.n_threads)
            for mated in (True, False)
        ]
        self._require_resolution(draws.weighting)
        self._finder = embeddings._finder(workers)
        expected = float(levels[-1]) * embeddings.n_nonmated
        self.share = (_SPARE[draws.unit] * expected + _SPARE_DEVIATIONS * expected**0.5 + BLOCK) / embeddings.n_nonmated
        self._find_pairs()
        self.thresholds = self._threshold_keys().astype(np.int64)
        dyadic = draws.scheme == "dyadic" and draws.unit == "subject"
        self.shrinkage = find_shrinkage(self.y, self.x, self.thresholds, {}, dyadic=dyadic)

    def _require_resolution(self, weighting: str) -> None:
        references, probes = self._sides[1].vectors
        if weighting == "identity":
            # A false match weighs least where its two subjects have most vectors.
            first = np.argsort(references)[-2:]
            most = max(int(np.delete(probes, k).max()) * int(references[k]) for k in first)
            n_pairs = pairs_of_two_subjects(references > 0, probes > 0, self.embeddings.pairing.two_sets)
            least = 1 / (int(n_pairs) * most)
        else:
            least = 1 / self.embeddings.n_nonmated
        if self.rates[0] < least:
            raise InputError(
                f"⟦fmr={self.levels[0]:g}⟧ is too low for these data, in which a single false match makes an FMR of "
                f"{least:.3g}: give that or more"
            )

    def _find_pairs(self) -> None:
        n_threads, (y, x) = count_threads(self._workers.n_threads), self._sides
        mated, found = self._finder.find_unsorted(self.share)
        found, x.ranges = self._parted(found, n_threads)
        nonmated = found.sorted(n_threads)
        x.place = np.empty(0, np.int64) if x.ranges is None else np.searchsorted(nonmated.keys, x.ranges.key)
        self.y, self.x = y.lists_of(mated), x.lists_of(nonmated)

    def _parted(self, found: FoundPairs, n_threads: int) -> tuple[FoundPairs, Ranges | None]:
        """Part the non-mated pairs into those to sort and those to sum."""
        x = self._sides[1]
        if self._all_listed or x.scale or not found.packing.fits:
            return found, None
        positions = (self.rates * x.sizes[0]).astype(np.int64)
        group = x.group[self.units.subject]
        return PairParting(found, self.units, group, self.n_groups, positions, n_threads).parted() or (found, None)

    def _keep_more(self) -> None:
        """List all non-mated pairs that are kept, or keep more where all are listed."""
        if self.x.ranges is None:
            self.share *= _MORE
        self._all_listed = True
        self._find_pairs()

    def _threshold_keys(self) -> score_keys.Keys:
        """Find the threshold of each level in the data."""
        while True:
            x, allowed = self.x, self.rates * self.x.sizes[0]
            keys = x.keys[: x.end[0]]
            if x.scale:
                positions = np.searchsorted(_running_sums(x, x.scale, slice(0, keys.size)), allowed, side="right")
            elif x.ranges is None:
                positions = allowed.astype(np.int64)
            else:
                positions = x.ranges.positions(allowed.astype(np.int64), keys)
            if (positions >= 0).all() and (x.complete or positions[-1] < keys.size):
                # The score there is the first that must be rejected: the threshold is the next float above it.
                return -keys[np.minimum(positions, keys.size - 1)]
            self.keep_more((self.y, x))

    def estimate(self) -> tuple[Replicates, Floats]:
        """Return the rates in the data, and the (levels, 1 + groups) V-statistics around which FNMR replicates vary."""
        keys = self.thresholds.astype(self.x.keys.dtype)
        thresholds = score_keys.decode(keys).astype(np.float64)
        fnmr, fmr = _shares_below(self.y, self.y.scale, keys), _shares_below(self.x, self.x.scale, -keys)
        return Replicates(thresholds, fmr, fnmr), _shares_below(self.y, self._scale_of_draws(), keys)

    def _scale_of_draws(self) -> Scale:
        """Return the mean weights of mated pairs over replicates, in which a vector may be paired with itself."""
        scale, units = self.y.scale, self.units
        if not units.pairs_itself:
            return scale
        apart = units.per_row(1 - 1 / self._sides[0].vectors[0])
        return (apart * scale[0], scale[1]) if scale else (apart, np.ones_like(apart))

    def typed(self, thresholds: Floats) -> Floats:
        """Return short decimals between the highest rejected pair, just above which a threshold is, and the next."""
        of_mated, of_nonmated = (lists.keys[: lists.end[0]] for lists in (self.y, self.x))
        kind, found = score_keys.float_type(of_nonmated).type, []
        for key in score_keys.first_keys_at_least(thresholds, of_nonmated):
            nonmated, mated = np.searchsorted(of_nonmated, ~(key - 1)), np.searchsorted(of_mated, key)
            above = [~of_pair for of_pair in of_nonmated[max(nonmated - 1, 0) : nonmated]]
            above += list(of_mated[mated : mated + 1])
            rejected, *accepted = (
                score_keys.decode(np.array([key - 1, *above], of_nonmated.dtype)).astype(np.float64).tolist()
            )
            found.append(typed_threshold(rejected, min(accepted, default=None), kind))
        return np.array(found)


def _running_sums(lists: ErrorLists, scale: tuple[Floats, Floats], part: slice) -> Floats:
    """Return the running sums of the pairs' weights, from the first pair on."""
    return np.cumsum(scale[0][lists.a[part]] * scale[1][lists.b[part]])


def _shares_below(lists: ErrorLists, scale: Scale, limits: score_keys.Keys) -> Floats:
    """Return the (levels, lists) weight of errors, under a scale, over the total weight under the lists' own scale."""
    from fastfair.kernels import curves as kernels

    shares = np.empty((limits.size, lists.end.size))
    for k, (start, stop) in enumerate(zip(lists.start.tolist(), lists.end.tolist(), strict=True)):
        counts = np.array([kernels.count_below(lists.keys[start:stop], limit) for limit in limits])
        if lists.ranges is not None:
            counts += [lists.ranges.below(limit)[k] for limit in limits]
        if scale:
            shares[:, k] = np.append(0, _running_sums(lists, scale, slice(start, stop)))[counts]
        else:
            shares[:, k] = counts
    with np.errstate(invalid="ignore"):  # a group may have no such pairs
        return shares / lists.sizes
