"""Rates at the thresholds that hold given FMRs, in the data and in every replicate, of comparisons or embeddings."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial
from pathlib import Path
from typing import Any, Literal, TypedDict, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fastfair import intervals
from fastfair._lib import seeds, validation
from fastfair._lib.workers import Workers
from fastfair.data.class_keys import NotKeptError
from fastfair.data.comparisons import Comparisons
from fastfair.data.embeddings import Embeddings
from fastfair.data.scanned_comparisons import ScannedComparisons
from fastfair.error_rates.concentration import concentration
from fastfair.error_rates.curve_results import ERROR_RATES, Rates, counts_behind
from fastfair.error_rates.enough_pairs import with_enough_pairs
from fastfair.error_rates.operating_points import ENOUGH_ERRORS, FEWEST_ERRORS, at_fmr, threshold_key
from fastfair.error_rates.rates import rates_at_key
from fastfair.errors import InputError
from fastfair.resampling.dependence import CountModel
from fastfair.resampling.engine import SCHEMES, Replicates, Resampler
from fastfair.resampling.preparation import NO_METRICS
from fastfair.resampling.units import UNITS, VECTOR_UNITS, require_units
from fastfair.resampling.vector_replicates import WEIGHTINGS, Draws, PairResampler
from fastfair.uncertainty.entries import Entry
from fastfair.uncertainty.few_errors import MOST_PER_ERROR, Limits, raised_rate
from fastfair.uncertainty.sample_sizes import SampleSizes

Floats = NDArray[np.float64]
MethodOfEmbeddings = Literal["recentered", "percentile", "basic", "normal", "gaussian"]
METHODS_OF_EMBEDDINGS: tuple[MethodOfEmbeddings, ...] = get_args(MethodOfEmbeddings)
BAND_METHODS_OF_EMBEDDINGS = ("auto", *METHODS_OF_EMBEDDINGS)
# The default of each argument, and what it may be.
_OF_EMBEDDINGS = {
    "unit": ("subject", VECTOR_UNITS),
    "method": ("auto", BAND_METHODS_OF_EMBEDDINGS),
    "weighting": ("identity", WEIGHTINGS),
    "scheme": ("dyadic", SCHEMES),
}
_OF_COMPARISONS = {
    "unit": ("subject", UNITS),
    "method": ("auto", ("auto", *intervals.METHODS_FOR_ANYTHING)),
    "weighting": ("comparison", ("comparison",)),
    "scheme": ("dyadic", SCHEMES),
}
_LEVELS = 50  # by default: more than a plot shows
_HIGHEST = 0.5, 0.1  # default level, of comparisons and of embeddings, whose pairs below are never kept


class BandOptions(TypedDict, total=False):
    """The arguments that all bands have, as `roc_band` describes them."""

    weighting: str | None
    unit: str | None
    n_resamples: int | None
    confidence_level: float
    method: str | None
    scheme: str | None
    rng: seeds.Seed
    n_threads: int | None
    progress: bool | Callable[[int, int], None]
    executor: Any
    checkpoint: str | Path | None


@dataclass(frozen=True)
class BandSettings:
    """The checked arguments of a band, with the defaults for comparisons or for embeddings filled in."""

    unit: str
    method: str
    weighting: str
    scheme: str
    n_resamples: int
    confidence_level: float
    key: NDArray[np.uint32]
    workers: Workers

    @classmethod
    def check(
        cls,
        data: Comparisons | Embeddings,
        options: BandOptions,
    ) -> BandSettings:
        """Check the arguments, some of which only comparisons or only embeddings allow."""
        if isinstance(data, Embeddings):
            choices, usual = _OF_EMBEDDINGS, 1000
        else:
            choices, usual = _OF_COMPARISONS, 2000
        chosen = {}
        for name, (default, allowed) in choices.items():
            given = options.get(name)
            chosen[name] = validation.choice(name, default if given is None else given, allowed)
        n_resamples = options.get("n_resamples")
        n_resamples = validation.count("n_resamples", usual if n_resamples is None else n_resamples)
        if n_resamples < 2:
            raise InputError("a band needs replicates: n_resamples must be at least 2")
        if isinstance(data, Comparisons):
            require_units(data, chosen["unit"])
        if chosen["unit"] != "subject":
            chosen["scheme"] = "product"
        return cls(
            **chosen,
            n_resamples=n_resamples,
            confidence_level=intervals.level(options.get("confidence_level", 0.95)),
            key=seeds.stream(options.get("rng"))[0],
            workers=workers_of(options),
        )


def workers_of(options: BandOptions) -> Workers:
    """Check who is to do the work."""
    workers = Workers(
        options.get("n_threads"), options.get("progress", False), options.get("executor"), options.get("checkpoint")
    )
    return workers.checked(options.get("rng"))


@dataclass(frozen=True, eq=False)
class Behind:
    """What is behind the FMRs, or the FNMRs, at all levels: of all comparisons, then of each group.

    Attributes
    ----------
    comparisons : (1 + groups,) ndarray of int
        Number of comparisons.
    errors : (levels, 1 + groups) ndarray of int
        Number of errors among them; where subjects count alike instead of pairs, as many as would make the rate.
    subjects : (1 + groups,) ndarray of int, or None
        Number of subjects who have such comparisons; None where it is not known who they are.
    of_row : callable
        Computes, for the place of a rate among these, what its intervals at all levels are made of.
    concentration : callable or None
        Computes, for the position of a level, the share of the errors of all comparisons that involve one of few
        subjects: 5 % of them, but no more than a third of the errors. None for embeddings, and without subjects.
    """

    comparisons: NDArray[np.int64]
    errors: NDArray[np.int64]
    subjects: NDArray[np.int64] | None
    of_row: Callable[[int], SampleSizes]
    concentration: Callable[[int], float] | None = None


@dataclass(frozen=True, eq=False)
class RatesOverLevels:
    """Rates at every level, with their replicates.

    Attributes
    ----------
    levels : (levels,) ndarray
        False match rates held, in the order asked.
    estimate, replicates : Replicates
        Rates in the data, and in every replicate, with replicates on the last axis.
    expected : Replicates
        V-statistics, around which the replicates vary. They differ from the estimates where a replicate can pair a
        sample with itself.
    behind : dict of Behind
        What is behind "fmr" and "fnmr".
    jackknife : callable or None
        Computes the rates with one unit left out at a time, centred on their stratum's mean; None for embeddings.
    count_models : callable
        Estimates how the numbers of errors of groups vary at each level; empty where they cannot be drawn.
    """

    levels: Floats
    estimate: Replicates
    expected: Replicates
    replicates: Replicates
    behind: dict[str, Behind]
    jackknife: Callable[[], Replicates] | None
    count_models: Callable[[], list[dict[str, CountModel]]]

    def jackknife_of(self, quantity: Callable[[Replicates], Floats]) -> Callable[[], Floats] | None:
        """Return what computes a quantity with one unit left out at a time, where that is known."""
        jackknife = self.jackknife
        return None if jackknife is None else lambda: quantity(jackknife())

    def centred(self) -> Replicates:
        """Return the replicates moved so that they vary around the estimate."""
        if self.expected is self.estimate:
            return self.replicates
        added = (self.estimate.fnmr - self.expected.fnmr)[..., None]
        return replace(self.replicates, fnmr=np.clip(self.replicates.fnmr + added, 0, 1))


def rates_over_levels(
    data: Comparisons | Embeddings,
    fmr: ArrayLike | None,
    settings: BandSettings,
    *,
    with_groups: bool,
    with_overall_fmr: bool = False,
) -> RatesOverLevels:
    """Compute rates at the thresholds that hold each FMR, in the data and in replicates.

    Parameters
    ----------
    data : Comparisons or Embeddings
        The comparisons or the vectors.
    fmr : array_like or None
        Levels as the caller gave them.
    settings : BandSettings
        Settings for this kind of data.
    with_groups, with_overall_fmr : bool
        Whether to compute rates of groups, and the FMR of all comparisons.
    """
    if isinstance(data, Embeddings):
        return _of_embeddings(data, _levels(fmr, data.n_nonmated, _HIGHEST[1]), settings, with_groups, with_overall_fmr)
    return _of_comparisons(data, _levels(fmr, len(data.nonmated), _HIGHEST[0]), settings, with_groups)


def _of_embeddings(
    data: Embeddings, levels: Floats, settings: BandSettings, with_groups: bool, with_overall_fmr: bool
) -> RatesOverLevels:
    ascending, places = np.unique(levels, return_inverse=True)
    if ascending[0] == 0:
        raise InputError("fmr must be above 0 for embeddings, of which only the most similar non-mated pairs are kept")
    resampler = PairResampler(
        data, ascending, Draws(settings.weighting, settings.unit, settings.scheme), with_groups=with_groups,
        with_overall_fmr=with_overall_fmr, workers=settings.workers,
    )  # fmt: skip
    estimate, expected_fnmr = resampler.prepared.estimate()
    replicates = resampler.replicate(settings.n_resamples, settings.key, settings.workers)

    def as_asked(rates: Replicates) -> Replicates:
        return Replicates(rates.threshold[places], rates.fmr[places], rates.fnmr[places])

    estimate = replace(estimate, threshold=resampler.prepared.typed(estimate.threshold))
    estimate, expected = map(as_asked, (estimate, replace(estimate, fnmr=expected_fnmr)))
    behind = _behind_embeddings(data, levels, estimate, settings, resampler.freedom[places], with_groups)
    return RatesOverLevels(levels, estimate, expected, as_asked(replicates), behind, None, list)


def _behind_embeddings(
    data: Embeddings,
    levels: Floats,
    estimate: Replicates,
    settings: BandSettings,
    of_fmr: Floats,
    with_groups: bool,
) -> dict[str, Behind]:
    pairing = data.pairing
    inside = np.ones((1, data.subjects.size), bool)
    if with_groups:
        inside = np.concatenate((inside, data.subject_group == np.arange(len(data.groups))[:, None]))
    nonmated, mated = pairing.nonmated(inside), inside @ pairing.mated
    n_strata = np.array([np.unique(data.subject_group[row]).size for row in inside])
    found = {}
    for name, comparisons, has_some in (
        ("fmr", nonmated, data.n_samples > 0),
        ("fnmr", mated, pairing.mated > 0),
    ):
        rates: Floats = getattr(estimate, name)
        subjects = np.count_nonzero(inside & has_some, axis=1)
        with np.errstate(invalid="ignore"):
            of_kind = np.rint(np.nan_to_num(rates) * comparisons).astype(np.int64)
        # A rate between 0 and 1 is one of at least one error and of at least one comparison without.
        errors = np.where((rates > 0) & (rates < 1), np.clip(of_kind, 1, np.maximum(comparisons - 1, 1)), of_kind)
        freedom = np.full(subjects.size, np.inf) if settings.unit == "sample" else np.maximum(subjects - n_strata, 1.0)
        # An FNMR has at most the degrees of freedom of the FMR of all pairs, which holds its threshold.
        behind_it = of_fmr if name == "fmr" else of_fmr[:, :1]
        freedom = np.maximum(np.minimum(freedom, behind_it), 1)
        independent = np.where((rates > 0) & (rates < 1), np.nan, comparisons)
        without = np.flatnonzero((rates == 0).any(axis=0) & (comparisons > 0)).tolist()
        if without and settings.unit != "sample":
            effective = _effective_sizes(data, name == "fnmr", without, settings.workers)
            independent[:, without] = np.where(rates[:, without] == 0, effective, independent[:, without])
        raised = np.full(rates.shape, np.nan)
        if name == "fnmr" and settings.unit != "sample":
            attempts = _typical_attempts(inside, pairing.mated)
            raised = np.array(
                [[raised_rate(x, n, m) for x, n, m in zip(row, mated, attempts, strict=True)] for row in rates]
            )
        parts = np.broadcast_to(freedom, rates.shape), independent, raised
        few_held = _FewHeldOfVectors(data, name, levels, settings.workers) if settings.unit != "sample" else None
        found[name] = Behind(comparisons, errors, subjects, partial(_column_of_each, parts, few_held, settings.unit))
    return found


class _FewHeldOfVectors:
    """The limits that `FewHeldErrors` gives rates at the lowest levels, of the pairs of vectors that a scan keeps.

    There, fewer than 30 false matches are expected. All pairs count alike, whatever the weighting is.
    """

    def __init__(self, data: Embeddings, name: str, levels: Floats, workers: Workers) -> None:
        self._data, self._name, self._workers = data, name, Workers(workers.n_threads)
        self._places = np.flatnonzero(levels * data.n_nonmated < ENOUGH_ERRORS).tolist()
        self._points = [at_fmr(level) for level in levels[self._places].tolist()]
        self._n_levels, self._scans = levels.size, list[ScannedComparisons]()
        self._limits: dict[tuple[int, float], dict[int, Limits | None]] = {}

    def holds(self, _: int) -> bool:
        """Return whether the limits at a level allow for few errors, which is not known before they are computed."""
        return False

    def places(self, row: int) -> Sequence[int]:
        """Return the number by which `limits` knows the rate of a row at each level, which is -1 at others."""
        numbers = np.full(self._n_levels, -1)
        numbers[self._places] = row * self._n_levels + np.array(self._places, np.int64)
        return numbers.tolist()

    def limits(self, row: int, confidence_level: float) -> Limits | None:
        """Return the limits of a rate by its number; None where replicates tell them. They are computed row by row."""
        if row < 0:
            return None
        of_group, level = divmod(row, self._n_levels)
        asked = of_group, confidence_level
        if asked not in self._limits:
            self._limits[asked] = self._of_row(asked)
        return self._limits[asked][level]

    def _of_row(self, asked: tuple[int, float]) -> dict[int, Limits | None]:
        with contextlib.suppress(NotKeptError):
            if self._scans:
                return self._of_scans(asked, self._scans)
        return with_enough_pairs([self._data], self._points, False, partial(self._of_scans, asked), self._workers)

    def _of_scans(self, asked: tuple[int, float], scans: list[ScannedComparisons]) -> dict[int, Limits | None]:
        self._scans, (row, confidence_level), kept = scans, asked, scans[0].kept
        resampler = Resampler(kept, self._points, metrics=NO_METRICS, with_groups=row > 0, workers=self._workers)
        rates = [rates_at_key(kept, point, threshold_key(kept, point)) for point in self._points]
        few_held = _interval_parts(self._name, rates, resampler, row).few_held
        assert few_held is not None
        return {place: few_held.limits(k, confidence_level) for k, place in enumerate(self._places)}


def _effective_sizes(data: Embeddings, mated: bool, rows: Sequence[int], workers: Workers) -> list[float]:
    """Compute the effective sample sizes of rates without errors, of all pairs (row 0) and of groups (1 and above).

    They depend on the pairs with the most similar, or least similar, vectors alone, and on no operating point.
    """
    few = at_fmr(min(0.5, FEWEST_ERRORS / data.n_nonmated))

    def of_scan(scans: list[ScannedComparisons]) -> list[float]:
        resampler = Resampler(
            scans[0].kept, [few], metrics=NO_METRICS, with_groups=max(rows) > 0, workers=Workers(workers.n_threads)
        )
        return [resampler.effective_sample_size(mated, (row - 1, row - 1) if row else None) for row in rows]

    return with_enough_pairs([data], [few], False, of_scan, Workers(workers.n_threads))


def _typical_attempts(inside: NDArray[np.bool_], mated: NDArray[np.int64]) -> Floats:
    """Return the sum of m^2 over the sum of m of the subjects' mated pairs, of all and of each group."""
    with np.errstate(invalid="ignore"):
        return np.asarray((inside @ mated.astype(np.float64) ** 2) / (inside @ mated))


def _column_of_each(parts: Sequence[Floats], few_held: _FewHeldOfVectors | None, unit: str, row: int) -> SampleSizes:
    places = few_held.places(row) if few_held else ()
    freedom, effective, raised = (part[:, row] for part in parts)
    return SampleSizes(freedom, effective, raised, few_held, places, unit)


def _of_comparisons(data: Comparisons, levels: Floats, settings: BandSettings, with_groups: bool) -> RatesOverLevels:
    points = [at_fmr(rate) for rate in levels.tolist()]
    found = [rates_at_key(data, point, threshold_key(data, point)) for point in points]
    n_groups = len(data.groups) if with_groups else 0
    estimate = Replicates(
        threshold=np.array([rates.threshold for rates in found]),
        fmr=np.array([[rates.fmr, *rates.group_fmr[:n_groups]] for rates in found]),
        fnmr=np.array([[rates.fnmr, *rates.group_fnmr[:n_groups]] for rates in found]),
    )
    resampler = Resampler(
        data,
        points,
        unit=settings.unit,
        scheme=settings.scheme,
        metrics=NO_METRICS,
        with_groups=with_groups,
        workers=settings.workers,
    )

    def kept(drawn: Any) -> Replicates:
        return Replicates(drawn.threshold, drawn.fmr[:, : 1 + n_groups], drawn.fnmr)

    def jackknife() -> Replicates:
        left_out = kept(resampler.jackknife(settings.workers.n_threads))
        return Replicates(
            resampler.influences(left_out.threshold), resampler.influences(left_out.fmr),
            resampler.influences(left_out.fnmr),
        )  # fmt: skip

    drawn = resampler.replicate(settings.n_resamples, settings.key, settings.workers)
    behind = _behind_comparisons(data, found, resampler, n_groups)
    return RatesOverLevels(levels, estimate, estimate, kept(drawn), behind, jackknife, resampler.count_models)


def _behind_comparisons(
    data: Comparisons, found: list[Rates], resampler: Resampler, n_groups: int
) -> dict[str, Behind]:
    behind = {}
    cells = [None, *((k, k) for k in range(n_groups))]
    for name in ERROR_RATES:
        of_levels = [[counts_behind(rates.counts, name == "fnmr", cell) for cell in cells] for rates in found]
        comparisons, _, subjects = zip(*of_levels[0], strict=True)
        behind[name] = Behind(
            comparisons=np.array(comparisons),
            errors=np.array([[errors for _, errors, _ in of_level] for of_level in of_levels]),
            subjects=None if data.subjects is None else np.array(subjects),
            of_row=cache(partial(_interval_parts, name, found, resampler)),
            concentration=None if data.subjects is None else partial(_concentration, name, data, found),
        )
    return behind


def _concentration(name: str, data: Comparisons, found: list[Rates], level: int) -> float:
    return concentration(data, found[level], name == "fnmr", most_per_error=MOST_PER_ERROR)[0]


def _interval_parts(name: str, found: Sequence[Rates], resampler: Resampler, row: int) -> SampleSizes:
    data = resampler.prepared.comparisons
    entries = [
        Entry(name, data.groups[row - 1], level, getattr(rates, f"group_{name}")[row - 1], (row - 1, row - 1))
        if row
        else Entry(name, None, level, getattr(rates, name))
        for level, rates in enumerate(found)
    ]
    held = [Entry("fmr", None, level, rates.fmr) for level, rates in enumerate(found)]
    return SampleSizes.of([*entries, *held], resampler, len(entries))


def _levels(fmr: ArrayLike | None, n_nonmated: int, highest: float) -> Floats:
    if fmr is None:
        return np.unique(np.geomspace(min(highest, ENOUGH_ERRORS / n_nonmated), highest, _LEVELS))
    return checked_levels(fmr)


def checked_levels(fmr: ArrayLike) -> Floats:
    """Check the false match rates to hold; those asked twice count once."""
    levels = np.atleast_1d(validation.numbers_of("fmr", fmr))
    if levels.ndim != 1:
        raise InputError(f"fmr must be a list of rates, but its shape is {levels.shape}")
    checked = [validation.rate("fmr", level) + 0.0 for level in levels.tolist()]  # not -0.0
    return np.array(list(dict.fromkeys(checked)))
