"""`roc_band`: a ROC or DET curve with its uncertainty."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fastfair._lib import seeds, validation
from fastfair._lib.arguments import Resamples, checked
from fastfair._lib.workers import Checkpoint, Executor
from fastfair.data.comparisons import Comparisons
from fastfair.data.embeddings import Embeddings
from fastfair.resampling.units import Unit

from .curve import Curve, rate_curve
from .rates_at_levels import BandOptions, BandRequest, BandSettings, RatesOverLevels, over_levels

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class RocBand(Curve):
    """FNMR over FMR, with its uncertainty.

    Attributes
    ----------
    fmr : (levels,) ndarray
        False match rates that the thresholds hold, in the order asked.
    fnmr : (levels,) ndarray
        False non-match rate at each FMR.
    low, high : (levels,) ndarray
        Pointwise interval, which holds for each FMR on its own, as that of `evaluate`. NaN where `note` says why.
    band_low, band_high : (levels,) ndarray
        Simultaneous band, which holds for the whole curve.
    uncertainty : (levels,) ndarray
        Standard deviation of the replicates divided by the FNMR.
    v_statistic : (levels,) ndarray
        The value around which the replicates vary; it is below `fnmr` where a replicate can pair a vector with itself.
    threshold : (levels,) ndarray
        On the scale of the scores.
    replicates : (r, levels) ndarray
        The FNMR in every replicate; none in what `read_results` read.
    n_resamples : int
        Number of replicates behind the intervals.
    confidence_level : float
        Confidence level of the interval and the band.
    note : str
        What to know about the intervals at which FMRs, such as that no errors are left there; may be empty.
    """

    fnmr: Floats

    def _values(self) -> tuple[str, Floats, Sequence[str]]:
        return "FNMR", self.fnmr, ()

    @checked
    def plot(self, ax: Axes | None = None, *, det: bool = False, **kwargs: Any) -> Axes:
        """Draw the curve with its pointwise interval (darker) and its simultaneous band (lighter).

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; a new figure by default.
        det : bool, default False
            Whether to use probit axes, as in a DET plot.
        **kwargs
            Passed to `Axes.plot`.

        Returns
        -------
        matplotlib Axes
        """
        from .plots import draw_band

        return draw_band(self, ax, det=det, **kwargs)


@checked
def roc_band(
    data: Comparisons | Embeddings,
    fmr: ArrayLike | None = None,
    *,
    group: str | None = None,
    unit: Unit = "subject",
    n_resamples: Resamples | None = None,
    confidence_level: float = 0.95,
    settings: BandSettings = BandSettings(),  # noqa: B008 - frozen
    rng: seeds.Seed = None,
    n_threads: int | None = None,
    progress: bool | Callable[[int, int], None] = False,
    executor: Executor | Checkpoint = None,
) -> RocBand:
    """Compute FNMR at many FMRs with pointwise intervals and a simultaneous band.

    Parameters
    ----------
    data : Comparisons or Embeddings
        Comparisons, which need subjects unless `unit="comparison"`, or vectors whose pairs are the comparisons. Where
        there are groups, subjects are drawn within their group.
    fmr : (levels,) array_like, optional
        False match rates to hold, each in [0, 1), and above 0 for embeddings. By default 50 rates, from that of 30
        false matches up to 0.5, for embeddings up to 0.1.
    group : str, optional
        The group whose FNMR to compute, at the thresholds that hold the FMR of all comparisons.
    unit : {"subject", "comparison", "sample", "subject+sample"}, optional
        What is drawn with replacement: "subject": what would other people give? "sample" draws the samples
        of each subject: what would other images of these very people give? The others are those of `evaluate`;
        embeddings have no "comparison".
    n_resamples : int, optional
        Number of replicates; by default 1000 for embeddings and 2000 for comparisons.
    confidence_level : float, default 0.95
        Confidence level of the intervals, in (0, 1).
    settings : BandSettings
        How intervals are made, and what counts alike.
    rng, n_threads, progress, executor
        As in `evaluate`. Similarities of vectors are computed by tasks of the executor, too.

    Returns
    -------
    RocBand

    Raises
    ------
    InputError
        For FMRs outside [0, 1), for embeddings also below the FMR of one false match, and as `evaluate` does.

    Notes
    -----
    The threshold of each FMR is found again in every replicate, so the intervals include its uncertainty. Where the
    standard error is more than half of the FNMR, it may hang on the threshold more than on chance: intervals then reach
    at least as far as the quantiles of the replicates. Where no false non-match is left the interval is Clopper and
    Pearson's, unless those of replicates reach farther. `note` says where few subjects cause most of the false matches
    that hold the threshold, so that intervals are likely too narrow.

    The band consists of logit intervals of a higher confidence level: that of normal intervals that reach as many
    standard errors as `confidence_level` of the replicates' curves stay within [1]_, at all FMRs with errors. As FNMR
    cannot rise with FMR, its upper end is made at least that of all higher FMRs, its lower end at most that of all
    lower ones.

    A replicate of samples may draw a vector twice and so compare it with itself, a mated pair that never fails. The
    FNMR of replicates therefore lies below the curve; the V-statistic is the value that they vary around. "auto" and
    "recentered" move the replicates back by the difference.

    References
    ----------
    .. [1] Montiel Olea and Plagborg-Moeller, "Simultaneous confidence bands: theory, implementation, and an
       application to SVARs", Journal of Applied Econometrics 34 (2019).

    Examples
    --------
    >>> import fastfair as ff
    >>> who = list("aabbccaabbcc"), list("aabbccbbccaa")
    >>> c = ff.Comparisons([9, 8, 2, 9, 8, 1, 1, 2, 3, 1, 2, 3], [1] * 6 + [0] * 6, *who)
    >>> band = ff.roc_band(c, [0.1, 0.5], rng=0)
    >>> band.fnmr
    array([0.33333333, 0.33333333])
    >>> e = ff.von_mises_fisher_embeddings(50, 4, 16, concentration=(20, 60), rng=0)
    >>> band = ff.roc_band(e, [0.001, 0.01], rng=0)
    >>> bool(((band.low < band.fnmr) & (band.fnmr < band.high)).all())
    True
    >>> of_these_people = ff.roc_band(e, [0.001, 0.01], unit="sample", rng=0)
    >>> bool((of_these_people.v_statistic < band.fnmr).all())
    True
    """
    options = BandOptions(
        unit=unit, n_resamples=n_resamples, confidence_level=confidence_level, rng=rng, n_threads=n_threads,
        progress=progress, executor=executor,
    )  # fmt: skip
    request = BandRequest.checked(data, settings, options)
    row = 0
    if group is not None:
        validation.choice("group", group, data.groups)
        row = 1 + data.groups.index(group)

    def made(found: RatesOverLevels) -> RocBand:
        _, fnmr, curve = rate_curve(found, "fnmr", row, group)
        return RocBand(fnmr=fnmr, **curve)

    return over_levels(data, fmr, request, made, with_groups=group is not None)
