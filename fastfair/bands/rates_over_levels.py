"""Rates at the thresholds that hold given FMRs, in the data and in replicates, of comparisons or of
vectors.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Annotated, Literal, TypeVar

import numpy as np
from numpy.typing import ArrayLike

from fastfair import intervals
from fastfair._lib import seeds, validation
from fastfair._lib.arguments import Share, checked
from fastfair._lib.arrays import Floats, Integers, RandomKey
from fastfair._lib.workers import Workers
from fastfair.data.comparisons import Comparisons
from fastfair.data.embeddings import Embeddings
from fastfair.data.exclusions import Exclusions
from fastfair.data.scans import ScannedComparisons
from fastfair.error_rates.operating_points import (
    ENOUGH_ERRORS,
    FEWEST_ERRORS,
    OperatingPoint,
    at_fmr,
    threshold_key,
)
from fastfair.error_rates.rates import ERROR_RATES, concentration, rates_at_key
from fastfair.error_rates.scans_of_vectors import with_enough_pairs
from fastfair.errors import InputError
from fastfair.resampling.dependence import AddedSubject
from fastfair.resampling.engine import NO_METRICS, Replicates, Resampler, Scheme
from fastfair.resampling.units import UNITS, VECTOR_UNITS, require_units
from fastfair.resampling.vector_replicates import WEIGHTINGS, Draws, PairResampler, Weighting
from fastfair.uncertainty.few_errors import MOST_PER_ERROR, FewHeldErrors, SampleSizes
from fastfair.uncertainty.quantities import Entry, base_metric_of_ratio, estimates
from fastfair.uncertainty.rate_limits import raised_rate

_Result = TypeVar("_Result")
ABOUT_V_STATISTIC = ("recentered", "gaussian")  # methods that evaluations do not have
BandZeroPolicy = Literal["keep", "clopper-pearson"]  # which replicates would often do
_LEVELS = 50  # by default: more than a plot shows
# the highest of these; more similar pairs of vectors than hold it are all that are kept
_HIGHEST, _HIGHEST_OF_VECTORS = 0.5, 0.1


def methods_of_embeddings() -> tuple[str, ...]:
    """Return the methods of intervals that need no vectors left out."""
    return (*ABOUT_V_STATISTIC, *(name for name in intervals.METHODS_FOR_ANYTHING if name != "bca"))


MethodOfEmbeddings = Annotated[str, intervals.names_of_methods(methods_of_embeddings)]
MethodOfBands = Annotated[
    str,
    intervals.names_of_methods(
        lambda: ("auto", *ABOUT_V_STATISTIC, *intervals.METHODS_FOR_ANYTHING)
    ),
]


@checked
@dataclass(frozen=True)
class BandSettings:
    """Settings of bands that are rarely changed: how intervals are made, and measures defined.

    Attributes
    ----------
    method : {"auto", "recentered", "gaussian", "percentile", "basic", "normal", "bca"}
        Method of the pointwise interval. "auto": that of `evaluate`, which is "logit" about the
        curve of a rate, with no more degrees of freedom than the FMR has that is held, and with few
        errors at least the quantiles; test inversion for a measure, and a logarithmic scale for
        group-to-average ratios, which chance can move in either direction. For embeddings also
        "recentered" (quantiles of replicate minus V-statistic, added to the curve [1]_), "gaussian"
        (normal quantiles with the mean and standard deviation of these), "percentile" (the naive
        bootstrap, whose intervals lie too low where samples are drawn), "basic" and "normal". For
        comparisons also "percentile", "basic", "normal" and "bca". The band of a rate is always
        made of "logit" intervals.
    scheme
        As in `EvaluationSettings`.
    weighting : {"identity", "comparison"}, optional
        "identity", the default for embeddings, gives every subject, and every pair of subjects, the
        same weight; "comparison", the only one for comparisons, gives every comparison the same
        weight.
    alpha : float, default 0.5
        Weight of false matches in measures of both rates, in [0, 1].
    zero_policy : {"keep", "clopper-pearson"} or float
        What replaces a group's rate of 0 in measures that divide by it.

        As in `measures.replace_zeros`.

    References
    ----------
    .. [1] "Assessing Uncertainty in Similarity Scoring: Performance & Fairness in Face Recognition", algorithm 2.

    Examples
    --------
    >>> import fastfair as ff
    >>> e = ff.von_mises_fisher_embeddings(50, 4, 16, concentration=(20, 60), rng=0)
    >>> band = ff.roc_band(e, [0.01], settings=ff.BandSettings("percentile", weighting="comparison"), rng=0)
    >>> bool(band.low[0] < band.fnmr[0] < band.high[0])
    True
    """

    method: MethodOfBands = "auto"
    scheme: Scheme = "dyadic"
    weighting: Weighting | None = None
    alpha: Share = 0.5
    zero_policy: BandZeroPolicy | float = "keep"


@dataclass(frozen=True, kw_only=True)
class BandRequest(BandSettings):
    """The arguments of a band, checked, with the defaults for comparisons or for embeddings filled
    in.
    """

    weighting: Weighting
    unit: str
    n_resamples: int
    confidence_level: float
    key: RandomKey  # of the random stream
    workers: Workers

    @classmethod
    def checked(
        cls,
        data: Comparisons | Embeddings,
        settings: BandSettings,
        workers: Workers,
        *,
        unit: str = "subject",
        n_resamples: int | None = None,
        confidence_level: float = 0.95,
        rng: seeds.Seed = None,
    ) -> BandRequest:
        """Check the arguments of `roc_band`, some of which only comparisons or only embeddings
        allow.
        """
        usual, units, weightings, methods = (
            (1000, VECTOR_UNITS, WEIGHTINGS, ("auto", *methods_of_embeddings()))
            if isinstance(data, Embeddings)
            else (2000, UNITS, WEIGHTINGS[1:], ("auto", *intervals.METHODS_FOR_ANYTHING))
        )
        validation.choice("⟦unit⟧", unit, units)
        validation.choice("⟦method⟧", settings.method, methods)
        n_resamples = validation.count(
            "⟦n_resamples⟧", usual if n_resamples is None else n_resamples, 2
        )
        data._require_rates("a band")
        if isinstance(data, Comparisons):
            require_units(data, unit)
        given = vars(settings) | {
            "scheme": settings.scheme if unit == "subject" else "product",
            "weighting": validation.choice(
                "⟦weighting⟧", settings.weighting or weightings[0], weightings
            ),
        }
        return cls(
            **given,
            unit=unit,
            n_resamples=n_resamples,
            confidence_level=intervals.level(confidence_level),
            key=seeds.stream(seeds.fix_seed(rng))[0],
            workers=workers.checked(rng),
        )


@dataclass(frozen=True, eq=False)
class RatesOverLevels:
    """Rates at every level, with their replicates and the data behind them: of all comparisons,
    then of each group.

    Attributes
    ----------
    levels : (levels,) ndarray
        False match rates held, in the order asked.
    settings : BandRequest
        The arguments of the band.
    groups : tuple of str
        The groups whose rates are computed.
    estimate, replicates : Replicates
        Rates in the data, and in every replicate, with replicates on the last axis.
    expected : Replicates
        V-statistics, around which the replicates vary. They differ from the estimates where a
        replicate can pair a sample with itself.
    comparisons, subjects : dict of (1 + groups,) ndarray of int
        Numbers of comparisons behind "fmr" and "fnmr", and of subjects who have such; None where
        these are not known.
    sizes : callable
        Tells how much data are behind entries.
    freedom : (levels,) ndarray
        Degrees of freedom of the FMR of all comparisons, which holds the threshold.
    concentration : callable or None
        Computes, for the position of a level, the share of the false matches that involve one of
        few subjects: 5 % of them, but no more than a third of the errors. None for embeddings, and
        without subjects.
    resampler : Resampler or None
        What drew the replicates of comparisons; None for embeddings.
    left_out : tuple of Exclusion
        What was left out of the data.
    """

    levels: Floats
    settings: BandRequest
    groups: tuple[str, ...]
    estimate: Replicates
    expected: Replicates
    replicates: Replicates
    comparisons: dict[str, Integers]
    subjects: Mapping[str, Integers | None]
    sizes: Callable[[Sequence[Entry]], SampleSizes]
    freedom: Floats
    concentration: Callable[[int], float] | None = None
    resampler: Resampler | None = None
    left_out: Exclusions = ()

    def centred(self) -> Replicates:
        """Return the replicates moved so that they vary around the estimate."""
        if self.expected is self.estimate:
            return self.replicates
        added = (self.estimate.fnmr - self.expected.fnmr)[..., None]
        return replace(self.replicates, fnmr=np.clip(self.replicates.fnmr + added, 0, 1))


def compute_over_levels(
    data: Comparisons | Embeddings,
    fmr: ArrayLike | None,
    settings: BandRequest,
    make: Callable[[RatesOverLevels], _Result],
    *,
    with_groups: bool,
    with_overall_fmr: bool = False,
) -> _Result:
    """Compute rates at the thresholds that hold each FMR, in the data and in replicates, and make
    something of them.

    Parameters
    ----------
    data : Comparisons or Embeddings
        The comparisons or the vectors.
    fmr : array_like or None
        Levels as the caller gave them.
    settings : BandRequest
        Settings for this kind of data.
    make : callable
        Makes it of the rates; called again where too few pairs of vectors were kept for it.
    with_groups, with_overall_fmr : bool
        Whether to compute rates of groups, and the FMR of all comparisons.

    Returns
    -------
    Any
        What `make` returns.
    """
    groups = data.groups if with_groups else ()
    if isinstance(data, Embeddings):
        levels = _levels(fmr, data.n_nonmated, _HIGHEST_OF_VECTORS)
        return _RatesOfVectors(data, levels, settings, groups, with_overall_fmr).make(make)
    return make(
        _rates_of_comparisons(data, _levels(fmr, len(data.nonmated), _HIGHEST), settings, groups)
    )


def _rates_of_comparisons(
    data: Comparisons, levels: Floats, settings: BandRequest, groups: tuple[str, ...]
) -> RatesOverLevels:
    resampler = Resampler(
        data,
        points_of(levels),
        unit=settings.unit,
        scheme=settings.scheme,
        metrics=NO_METRICS,
        with_groups=bool(groups),
        workers=settings.workers,
    )
    rates = [rates_at_key(data, point, threshold_key(data, point)) for point in resampler.points]
    counts = rates[0].counts
    sides = {"fmr": "nonmated", "fnmr": "mated"}

    def of_rows(name: str) -> Integers:
        return np.array(
            [getattr(counts, name), *(getattr(counts, f"group_{name}") if groups else ())]
        )

    has_subjects = data.subjects is not None
    estimate = estimates(rates, {}, ())
    drawn = resampler.replicate(settings.n_resamples, settings.key, settings.workers)
    return RatesOverLevels(
        levels,
        settings,
        groups,
        estimate,
        estimate,
        drawn,
        comparisons={name: of_rows(side) for name, side in sides.items()},
        subjects={
            name: of_rows(f"{side}_subjects") if has_subjects else None
            for name, side in sides.items()
        },
        sizes=lambda listed: SampleSizes.of(listed, resampler),
        freedom=resampler.shrinkage.freedom[0],
        concentration=(lambda k: concentration(data, rates[k], False, MOST_PER_ERROR))
        if has_subjects
        else None,
        resampler=resampler,
        left_out=data.left_out,
    )


class _RatesOfVectors:
    """Rates of vectors over levels, and how much data are behind them.

    Attributes
    ----------
    members : (1 + groups, subjects) ndarray of bool
        All subjects, and those of each group.
    few : (few,) ndarray of int
        The levels that few errors hold.
    rates : RatesOverLevels
        The rates.
    """

    def __init__(
        self,
        data: Embeddings,
        levels: Floats,
        settings: BandRequest,
        groups: tuple[str, ...],
        with_overall_fmr: bool,
    ) -> None:
        ascending, positions = np.unique(levels, return_inverse=True)
        if ascending[0] == 0:
            raise InputError(
                "fmr must be above 0 for embeddings, of which only the most similar non-mated pairs"
                " are kept"
            )
        self._data = data
        self._draws_subjects = settings.unit != "sample"
        draws = Draws(settings.weighting, settings.unit, settings.scheme)
        resampler = PairResampler(
            data,
            ascending,
            draws,
            with_groups=bool(groups),
            with_overall_fmr=with_overall_fmr,
            workers=settings.workers,
        )

        def as_asked(rates: Replicates) -> Replicates:
            return Replicates(
                rates.threshold[positions], rates.fmr[positions], rates.fnmr[positions]
            )

        estimate, v_statistic = resampler.estimate()
        replicates = as_asked(
            resampler.replicate(settings.n_resamples, settings.key, settings.workers)
        )
        estimate = replace(estimate, threshold=resampler.typed(estimate.threshold))
        estimate, expected = map(as_asked, (estimate, replace(estimate, fnmr=v_statistic)))
        self._freedom = resampler.shrinkage.freedom[:, positions]
        self.few = np.flatnonzero(levels * data.n_nonmated < ENOUGH_ERRORS)
        self.members = np.ones((1, data.subjects.size), np.bool_)
        if groups:
            self.members = np.concatenate(
                (self.members, data.subject_group == np.arange(len(groups))[:, None])
            )
        self._n_mated = data.pairs[0].of_subjects()
        n_nonmated = [data.pairs[1].of_subjects(members).sum() // 2 for members in self.members]
        compared = {"fmr": data.n_samples > 0, "fnmr": self._n_mated > 0}
        self.rates = RatesOverLevels(
            levels,
            settings,
            groups,
            estimate,
            expected,
            replicates,
            comparisons={"fmr": np.array(n_nonmated), "fnmr": self.members @ self._n_mated},
            subjects={
                name: np.count_nonzero(self.members & some, axis=1)
                for name, some in compared.items()
            },
            sizes=self.sizes,
            freedom=self._freedom[0],
            left_out=data.left_out,
        )

    def make(self, make: Callable[[RatesOverLevels], _Result]) -> _Result:
        """Make something of the rates, with a scan of pairs near the errors where limits of few
        errors need it.
        """
        data, rates = self._data, self.rates
        without_errors = any(
            ((getattr(rates.estimate, name) == 0) & (n > 0)).any()
            for name, n in rates.comparisons.items()
        )
        if not self._draws_subjects or not (self.few.size or without_errors):
            return make(rates)
        workers = Workers(rates.settings.workers.n_threads)
        # Without operating points of few errors, one with ten tells the effective sample size of
        # rates without any.
        fmr = (
            rates.levels[self.few]
            if self.few.size
            else np.array([min(0.5, FEWEST_ERRORS / data.n_nonmated)])
        )
        points = points_of(fmr)

        def of_scan(scans: list[ScannedComparisons]) -> _Result:
            with_groups = bool(rates.groups)
            counted = Resampler(
                scans[0].kept, points, metrics=NO_METRICS, with_groups=with_groups, workers=workers
            )
            return make(replace(rates, sizes=partial(self.sizes, counted=counted)))

        return with_enough_pairs([data], points, with_metrics=False, use=of_scan, workers=workers)

    def sizes(self, listed: Sequence[Entry], counted: Resampler | None = None) -> SampleSizes:
        """Compute how much data are behind entries; counted: the pairs near the errors, all of
        which count alike.
        """
        sizes = SampleSizes.unknown(len(listed), self.rates.settings.unit)
        for k, entry in enumerate(listed):
            name = base_metric_of_ratio(entry.name) or entry.name
            if name not in ERROR_RATES or entry.point is None:
                continue
            row = 1 + entry.cell[0] if entry.cell else 0
            mated = name == "fnmr"
            rate = float(entry.value)
            sizes.degrees_of_freedom[k] = self._degrees_of_freedom(name, row, entry.point)
            n = int(self.rates.comparisons[name][row])
            if name != entry.name or not n:
                continue
            if rate in (0, 1):
                sizes.effective[k] = n
            if rate == 0 and counted is not None:
                sizes.effective[k] = counted.effective_sample_size(mated, entry.cell)
            if mated and self._draws_subjects:
                squares = float((self._n_mated[self.members[row]].astype(np.float64) ** 2).sum())
                attempts = squares / n
                sizes.raised[k] = raised_rate(rate, n, AddedSubject(attempts, attempts / 2))
        return (
            sizes
            if counted is None or not self.few.size
            else self._with_few_held(sizes, listed, counted)
        )

    def _degrees_of_freedom(self, name: str, row: int, point: int) -> float:
        """Return those of a rate of all subjects, or of a group, at most as many as the FMR has
        that is held.
        """
        n_units = math.inf
        if self._draws_subjects:
            subjects = self.rates.subjects[name]
            assert subjects is not None
            n_units = subjects[row] - np.unique(self._data.subject_group[self.members[row]]).size
        # An FNMR has at most the degrees of freedom of the FMR of all pairs, which holds its
        # threshold.
        return max(1, min(n_units, self._freedom[0 if name == "fnmr" else row, point]))

    def _with_few_held(
        self, sizes: SampleSizes, listed: Sequence[Entry], counted: Resampler
    ) -> SampleSizes:
        """Add the limits of quantities at thresholds that few errors hold."""
        point_of_level = {int(level): point for point, level in enumerate(self.few)}
        at_few = [k for k, entry in enumerate(listed) if entry.point in point_of_level]
        of_few = [replace(listed[k], point=point_of_level[listed[k].point or 0]) for k in at_few]
        positions = np.full(len(listed), -1)
        positions[at_few] = np.arange(len(at_few))
        return replace(sizes, few_held=FewHeldErrors(of_few, counted), places=positions.tolist())


def points_of(levels: Floats) -> list[OperatingPoint]:
    """Return the operating points that hold each level."""
    return [at_fmr(level) for level in levels.tolist()]


def _levels(fmr: ArrayLike | None, n_nonmated: int, highest: float) -> Floats:
    if fmr is None:
        return np.unique(np.geomspace(min(highest, ENOUGH_ERRORS / n_nonmated), highest, _LEVELS))
    return check_levels(fmr)


def check_levels(fmr: ArrayLike) -> Floats:
    """Check the false match rates to hold; those asked twice count once."""
    levels = np.atleast_1d(validation.numbers_of("⟦fmr⟧", fmr))
    if levels.ndim != 1:
        raise InputError(f"fmr must be a list of rates, but its shape is {levels.shape}")
    checked = [validation.fraction("⟦fmr⟧", level) + 0.0 for level in levels.tolist()]  # not -0.0
    return np.array(list(dict.fromkeys(checked)))
