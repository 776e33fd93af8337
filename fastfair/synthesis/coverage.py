"""`coverage_experiment`: how often intervals of ROC curves of embeddings contain the true FNMR."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from fastfair import intervals
from fastfair._lib import frames, memory, seeds
from fastfair._lib.arguments import AtLeastTwo, ManyResamples, checked
from fastfair._lib.arrays import Flags, Floats, Indices
from fastfair._lib.bisection import least_whole
from fastfair._lib.plots import axes_or_new
from fastfair._lib.threads import one_blas_thread, run_blocks
from fastfair._lib.workers import ONE_THREAD, Arrays, Checkpoint, Executor, Report, Workers, do_job
from fastfair.bands.curve import pointwise_interval
from fastfair.bands.rates_over_levels import MethodOfEmbeddings, check_levels
from fastfair.data import score_keys
from fastfair.data.embeddings import Embeddings
from fastfair.kernels._aside import aside
from fastfair.resampling.error_lists import ErrorLists
from fastfair.resampling.units import VectorUnit
from fastfair.resampling.vector_replicates import ROUNDING, Draws, PairResampler, Weighting

from .simulators import VonMisesFisherIdentities, samples_of_each

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_STYLES = ("-", "--", "-.", ":")
_OF_EACH = ("threshold", "estimate", "expected", "low", "high")  # what there is of each data set
_SIDES = ("mated", "nonmated")


@dataclass(frozen=True, eq=False)
class CoverageExperiment:
    """How often, in many simulated data sets, intervals of the FNMR at an FMR contain the true
    FNMR.

    Attributes
    ----------
    methods : tuple of str
        Methods of intervals, as in `roc_band`.
    confidence_level : (c,) ndarray
        Nominal coverages, which are the confidence levels of the intervals.
    fmr : (levels,) ndarray
        False match rates held, ascending.
    coverage : (methods, c, levels) ndarray
        Estimated coverage: the share of the data sets whose interval contains the true FNMR.
    standard_error : (methods, c, levels) ndarray
        Binomial standard error of `coverage`, at least that of half a data set.
    width : (methods, c, levels) ndarray
        Mean width of the intervals.
    truth : (levels,) ndarray
        The true FNMR, estimated from all data sets together.
    threshold : (levels,) ndarray
        The threshold that has this FNMR.
    estimates : (n_datasets, levels) ndarray
        FNMR of each data set.
    v_statistics : (n_datasets, levels) ndarray
        The values around which the replicates of each data set vary.
    """

    methods: tuple[str, ...]
    confidence_level: Floats
    fmr: Floats
    coverage: Floats
    standard_error: Floats
    width: Floats
    truth: Floats
    threshold: Floats
    estimates: Floats = field(repr=False)
    v_statistics: Floats = field(repr=False)

    @checked
    def to_frame(self, backend: frames.Backend | None = None) -> Any:
        """Return one row for each method, nominal coverage and FMR, as a data frame.

        Parameters
        ----------
        backend : {"pandas", "polars", "pyarrow"}, optional
            By default the first of these that is installed.

        Returns
        -------
        data frame
            Columns method, confidence_level, fmr, coverage, standard_error, width and truth.
        """
        m, c, k = (axis.ravel() for axis in np.indices(self.coverage.shape))
        columns: dict[str, Any] = {
            "method": np.array(self.methods, object)[m],
            "confidence_level": self.confidence_level[c],
            "fmr": self.fmr[k],
            "coverage": self.coverage.ravel(),
            "standard_error": self.standard_error.ravel(),
            "width": self.width.ravel(),
            "truth": self.truth[k],
        }
        return frames.build(columns, backend)

    @checked
    def plot(self, ax: Axes | None = None, **kwargs: Any) -> Axes:
        """Draw estimated over nominal coverage, with one standard error; correct intervals lie on
        the diagonal.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; a new figure by default.
        **kwargs
            Passed to `Axes.errorbar`.

        Returns
        -------
        matplotlib Axes
        """
        ax = axes_or_new(ax)
        nominal = self.confidence_level
        for m, method in enumerate(self.methods):
            for k, fmr in enumerate(self.fmr):
                style: dict[str, Any] = {
                    "color": f"C{m}",
                    "linestyle": _STYLES[k % len(_STYLES)],
                    "marker": ".",
                }
                style["label"] = f"{method}, FMR {fmr:g}"
                ax.errorbar(
                    nominal,
                    self.coverage[m, :, k],
                    self.standard_error[m, :, k],
                    **(style | kwargs),
                )
        ends = nominal.min(), nominal.max()
        ax.plot(ends, ends, color="0.7", linewidth=0.8, linestyle=":", zorder=0)
        ax.set(xlabel="Nominal coverage", ylabel="Estimated coverage")
        ax.grid(alpha=0.3)
        ax.legend()
        return ax


@checked
def coverage_experiment(
    n_datasets: AtLeastTwo = 1000,
    n_resamples: ManyResamples = 500,
    *,
    identities: VonMisesFisherIdentities | None = None,
    n_samples: int | ArrayLike = 10,
    fmr: ArrayLike = (0.001, 0.01),
    confidence_levels: Sequence[float] = (0.95, 0.9, 0.85, 0.8),
    methods: Sequence[MethodOfEmbeddings] = ("recentered", "percentile", "gaussian"),
    weighting: Weighting = "identity",
    unit: VectorUnit = "sample",
    rng: seeds.Seed = None,
    n_threads: int | None = None,
    progress: bool | Callable[[int, int], None] = False,
    executor: Executor | Checkpoint = None,
) -> CoverageExperiment:
    """Draw many data sets of the same identities and count how often `roc_band` contains the true
    FNMR.

    Parameters
    ----------
    n_datasets, n_resamples : int
        Number of data sets, at least 2, and of replicates of each, at least 2.
    identities : VonMisesFisherIdentities, optional
        Whose vectors are drawn; by default 200 with vectors of 64 numbers and concentrations from
        50 to 150.
    n_samples : int or (n_subjects,) array_like of int
        Number of vectors of each identity in a data set.
    fmr : (levels,) array_like
        False match rates to hold, above 0.
    confidence_levels : sequence of float
        Nominal coverages, each in (0, 1).
    methods : sequence of str
        As in `roc_band` for embeddings; "percentile" is the naive bootstrap.
    weighting : {"identity", "comparison"}
        As in `roc_band`; the same where all subjects have equally many vectors.
    unit : {"sample", "subject", "subject+sample"}
        The units drawn with replacement. The data sets have the same identities and differ only in
        their samples, which is what "sample" assumes.
    rng : None, int, SeedSequence or Generator
        Seed of the random numbers.
    n_threads : int, optional
        Number of threads; all processors by default, with an executor those of each task, 1 by
        default. Each works on other data sets; results do not depend on it.
    progress : bool or callable, default False
        Whether to show a progress bar; or a function to call with the numbers of data sets done and
        in all.
    executor
        As in `evaluate`; a task is a part of the data sets.

    Returns
    -------
    CoverageExperiment

    Raises
    ------
    InputError
        As `roc_band` does.

    Notes
    -----
    This is the experiment of the paper [1]_. All methods and levels use the same replicates. The
    default identities and FMRs were chosen for this function: about a seventh of mated pairs fail
    at FMR 0.001, about a twentieth at 0.01.

    The true FNMR at an FMR is taken as the mean FNMR of the data sets at the threshold where their
    mean FMR is that FMR. The paper instead merges all data sets into one and takes its FNMR.
    Merging adds pairs between data sets, but these are distributed as those within a data set, as
    all are independent draws of the same identities. At any threshold both are unbiased for the
    same rates, and both have an error that is small compared with an interval: that of the means is
    the error of one data set divided by the square root of their number.

    The scores behind all data sets' rates stay in memory: about 5 bytes for each mated pair and for
    each false match at the highest FMR, 130 MB by default.

    References
    ----------
    .. [1] "Assessing Uncertainty in Similarity Scoring: Performance & Fairness in Face Recognition", appendix B.1.

    Examples
    --------
    >>> import fastfair as ff
    >>> identities = ff.VonMisesFisherIdentities.random(30, 16, 20, rng=0)
    >>> experiment = ff.synthesis.coverage_experiment(20, 50, identities=identities, n_samples=5, fmr=0.01, rng=0)
    >>> experiment.coverage.shape
    (3, 4, 1)
    >>> bool(experiment.coverage[0, 0, 0] > experiment.coverage[1, 0, 0])  # better than naive
    True
    """
    names = tuple(methods)
    nominal = np.array([intervals.level(level) for level in confidence_levels])
    levels = np.sort(check_levels(fmr))
    workers = Workers(n_threads, progress, executor).checked(rng)
    memory.require(
        8 * n_datasets * (levels.size * (3 + 2 * len(names) * nominal.size) + 8)
        + 16 * n_resamples * levels.size,
        f"{n_datasets:,} data sets with {n_resamples:,} replicates each",
        "use fewer",
    )
    seed = seeds.fix_seed(rng)
    if identities is None:
        identities = VonMisesFisherIdentities.random(200, 64, (50, 150), rng=seed)
    of_each = samples_of_each(n_samples, *identities.centers.shape)
    draws = Draws(weighting, unit)
    arrays_of: Arrays = {}
    data_sets = _DataSets(identities, of_each, levels, draws, seed, n_resamples, names, nominal)
    do_job(
        data_sets,
        n_datasets,
        1,
        workers,
        f"{n_datasets:,} data sets",
        lambda _, arrays: arrays_of.update(arrays),
    )
    thresholds, estimates, expected, low, high = (
        np.array([arrays_of[f"{k} {name}"] for k in range(n_datasets)]) for name in _OF_EACH
    )
    mated, nonmated = (
        [
            _Ranked(*(arrays_of[f"{k} {side} {name}"] for name in _Ranked._fields))
            for k in range(n_datasets)
        ]
        for side in _SIDES
    )
    pooled = one_blas_thread()(partial(_pooled, data_sets, thresholds, mated, nonmated))
    threshold, truth = aside(pooled)
    low, high = np.moveaxis(low, 0, 2), np.moveaxis(high, 0, 2)
    coverage = ((low <= truth) & (truth <= high)).mean(axis=2)
    return CoverageExperiment(
        methods=names,
        confidence_level=nominal,
        fmr=levels,
        coverage=coverage,
        standard_error=np.sqrt(
            np.maximum(coverage * (1 - coverage), 0.25 / n_datasets) / n_datasets
        ),
        width=(high - low).mean(axis=2),
        truth=truth,
        threshold=threshold,
        estimates=estimates,
        v_statistics=expected,
    )


class _Ranked(NamedTuple):
    """The sorted mated, or non-mated, pairs of one data set, and their weights in a rate.

    Attributes
    ----------
    keys : (pairs,) ndarray
        Ascending, errors first.
    cumulative : (1 + pairs,) ndarray
        Total weight of the first pairs; empty where all pairs have the same weight.
    size : () ndarray
        Total weight of all pairs.
    complete : () ndarray of bool
        Whether all mated, or non-mated, pairs are kept.
    """

    keys: score_keys.Keys
    cumulative: Floats
    size: Floats
    complete: Flags

    @classmethod
    def of(cls, lists: ErrorLists) -> _Ranked:
        cumulative = np.empty(0)
        if lists.scale:
            scale, other_scale = lists.scale
            cumulative = np.append(0, np.cumsum(scale[lists.a] * other_scale[lists.b]))
        return cls(
            lists.keys.copy(),
            cumulative,
            np.asarray(lists.sizes[0], np.float64),
            np.asarray(lists.complete),
        )

    def share(self, limit: int) -> float:
        """Return the rate of pairs with keys of at most a limit."""
        n = np.searchsorted(self.keys, self.keys.dtype.type(limit), side="right")
        return float((self.cumulative[n] if self.cumulative.size else n) / self.size)

    def reaches(self, limit: int) -> bool:
        """Return whether all pairs with keys of at most a limit are kept."""
        return bool(self.complete) or int(self.keys[-1]) > limit


@dataclass(frozen=True, eq=False)
class _DataSets:
    """Data sets of the same identities as a job, whose steps they are; each depends only on the
    seed and its number.
    """

    identities: VonMisesFisherIdentities
    n_samples: Indices
    levels: Floats
    draws: Draws
    seed: int | np.random.SeedSequence
    n_resamples: int
    methods: tuple[str, ...]
    nominal: Floats

    def resampler(self, k: int) -> PairResampler:
        """Draw a data set and find its pairs."""
        vectors = self.identities.draw(self.n_samples, rng=seeds.child(self.seed, k))
        data = Embeddings(vectors, np.repeat(np.arange(self.n_samples.size), self.n_samples))
        return PairResampler(
            data, self.levels, self.draws, with_groups=False, all_listed=True, workers=ONE_THREAD
        )

    def run(self, steps: range, n_threads: int | None, report: Report | None) -> Arrays:
        arrays: Arrays = {}

        @one_blas_thread()
        def work(k: int) -> None:
            resampler = self.resampler(k)
            rates, v_statistic = resampler.estimate()
            estimate, expected = rates.fnmr[:, 0], v_statistic[:, 0]
            key, _ = seeds.stream(seeds.child(self.seed, k))
            replicates = resampler.replicate(self.n_resamples, key, ONE_THREAD).fnmr[:, 0]
            ends = [
                [
                    pointwise_interval(replicates, estimate, expected, level, method)
                    for level in self.nominal.tolist()
                ]
                for method in self.methods
            ]
            # there may be no methods
            shape = (
                len(self.methods),
                self.nominal.size,
                2,
                estimate.size,
            )
            low, high = np.clip(np.moveaxis(np.reshape(ends, shape), 2, 0), 0, 1)
            of_data_set = dict(
                zip(_OF_EACH, (rates.threshold, estimate, expected, low, high), strict=True)
            )
            for side, lists in zip(_SIDES, resampler.error_lists, strict=True):
                of_data_set |= {
                    f"{side} {name}": values for name, values in _Ranked.of(lists)._asdict().items()
                }
            arrays.update({f"{k} {name}": values for name, values in of_data_set.items()})

        run_blocks(work, steps, len(steps), 1, n_threads, report)
        return arrays


def _pooled(
    data_sets: _DataSets, thresholds: Floats, mated: list[_Ranked], nonmated: list[_Ranked]
) -> tuple[Floats, Floats]:
    """Find the thresholds at which the data sets' mean FMR is each level, and their mean FNMR at
    these thresholds.
    """
    # Keys of non-mated pairs are inverted. What meets a level in every data set meets it in the
    # mean, what exceeds it in every one exceeds it: the key looked for lies between the data sets'
    # own.
    keys_of = ~score_keys.first_keys_at_least(thresholds, nonmated[0].keys).astype(np.int64)
    for k, ranked in enumerate(nonmated):
        if not ranked.reaches(int(keys_of.max())):
            nonmated[k] = _further(data_sets.resampler(k), int(keys_of.max()))

    def exceeds(level: float, key: int) -> bool:
        return bool(np.mean([ranked.share(key) for ranked in nonmated]) > level * ROUNDING)

    ends = zip(
        data_sets.levels.tolist(),
        keys_of.min(axis=0).tolist(),
        keys_of.max(axis=0).tolist(),
        strict=True,
    )
    pooled = [
        least_whole(partial(exceeds, level), least, most + 1) - 1 for level, least, most in ends
    ]
    keys = (~np.array(pooled)).astype(nonmated[0].keys.dtype)
    truth = [np.mean([ranked.share(int(key) - 1) for ranked in mated]) for key in keys]
    return score_keys.decode(keys).astype(np.float64), np.array(truth)


def _further(resampler: PairResampler, limit: int) -> _Ranked:
    """Keep more pairs until all with keys of at most a limit are kept."""
    while not (ranked := _Ranked.of(resampler.error_lists.nonmated)).reaches(limit):
        resampler.keep_more(resampler.error_lists)
    return ranked
