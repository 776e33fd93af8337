"""`roc_band`: how certain a whole ROC or DET curve is."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fastfair._lib import argument_kinds, seeds, validation
from fastfair._lib.arguments import checked
from fastfair.data.comparisons import Comparisons
from fastfair.data.embeddings import Embeddings
from fastfair.error_rates.operating_points import FEWEST_ERRORS

from .curve import Curve, curve_of
from .rates_at_levels import BandSettings, RatesOverLevels, rates_over_levels

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False, kw_only=True)
class RocBand(Curve):
    """FNMR over FMR with its uncertainty.

    Attributes
    ----------
    fmr : (levels,) ndarray
        False match rates held, ascending.
    fnmr : (levels,) ndarray
        False non-match rate at each.
    low, high : (levels,) ndarray
        Pointwise interval: each holds the truth at its own level. NaN where neither the data nor a replicate has a
        false non-match.
    band_low, band_high : (levels,) ndarray
        Simultaneous band: the curve lies inside as far as the band goes. NaN where fewer than 10 false non-matches are
        left, and beyond.
    uncertainty : (levels,) ndarray
        Standard deviation of the replicates divided by the FNMR.
    v_statistic : (levels,) ndarray
        The value about which the replicates vary, below `fnmr` where a replicate can pair a vector with itself.
    threshold : (levels,) ndarray
        On the scale of the scores.
    replicates : (r, levels) ndarray
        The FNMR in every replicate.
    confidence_level : float
        Of interval and band.
    note : str
        Where the band ends, and why; empty where it does not.
    """

    fnmr: Floats

    @checked
    def plot(self, ax: Axes | None = None, *, det: bool = False, **kwargs: Any) -> Axes:
        """Draw the curve in its pointwise interval (darker) and its simultaneous band (lighter), as far as they go.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; a new figure by default.
        det : bool, default False
            On probit axes, as a DET plot.
        **kwargs
            Passed to `Axes.plot`.

        Returns
        -------
        matplotlib Axes
        """
        from .plots import draw_band

        interval, band = (self.low, self.high), (self.band_low, self.band_high)
        return draw_band(self.fmr, self.fnmr, interval, band, ax, det=det, **kwargs)


@checked(data=argument_kinds.one_of("Comparisons", "Embeddings"), fmr=argument_kinds.numbers)
def roc_band(
    data: Comparisons | Embeddings,
    fmr: ArrayLike | None = None,
    *,
    group: str | None = None,
    weighting: str | None = None,
    unit: str | None = None,
    n_resamples: int | None = None,
    confidence_level: float = 0.95,
    method: str | None = None,
    scheme: str | None = None,
    rng: seeds.Seed = None,
    n_threads: int | None = None,
    progress: bool | Callable[[int, int], None] = False,
) -> RocBand:
    """Compute FNMR at many FMRs with pointwise intervals and a simultaneous band.

    Parameters
    ----------
    data : Comparisons or Embeddings
        Comparisons with subjects, but for `unit="comparison"`, or vectors whose pairs are the comparisons. Groups are
        strata of the resampling of subjects.
    fmr : (levels,) array_like, optional
        False match rates to hold, each in [0, 1), above 0 for embeddings. By default 50, from what 30 errors make up to
        0.5, for embeddings to 0.1.
    group : str, optional
        Give the FNMR of this group, at thresholds that hold the FMR of all comparisons.
    weighting : {"identity", "comparison"}, optional
        Whether every subject (and every pair of them) counts alike, the default for embeddings, or every comparison, as
        for score files always.
    unit : str, optional
        As in `evaluate`; "sample" by default for embeddings and "subject" else.
    n_resamples : int, optional
        Replicates; 1000 by default for embeddings and 2000 else.
    confidence_level : float, default 0.95
        In (0, 1).
    method : str, optional
        Of the pointwise interval. For embeddings "recentered" (the default; quantiles about the V-statistic, added to
        the curve [1]_), "gaussian" (normal quantiles with mean and deviation of the same), "percentile" (the naive
        bootstrap, which lies too low), "basic" or "normal"; else "percentile" (the default), "basic", "normal", "bca".
        The band is made of quantiles.
    scheme : str, optional
        As in `evaluate`; for embeddings "product" alone.
    rng, n_threads, progress
        As in `evaluate`.

    Returns
    -------
    RocBand

    Raises
    ------
    InputError
        For levels outside [0, 1), for embeddings below what one false match makes, and as `evaluate` does.

    Notes
    -----
    The threshold of each FMR is found again in every replicate, so that its uncertainty is part of the band. See
    `intervals.simultaneous_band`. The band holds the levels with at least 10 false non-matches, of a group its own:
    where fewer are left replicates hardly vary, and a band would be too narrow.

    A replicate may draw a vector twice and so compare it with itself, a mated pair that never fails. The FNMR of
    replicates therefore lies below the curve; about where is the V-statistic. "recentered" moves replicates back by
    the difference.

    References
    ----------
    .. [1] "Assessing Uncertainty in Similarity Scoring: Performance & Fairness in Face Recognition", algorithm 2.

    Examples
    --------
    >>> import fastfair as ff
    >>> who = list("aabbccaabbcc"), list("aabbccbbccaa")
    >>> c = ff.Comparisons([9, 8, 2, 9, 8, 1, 1, 2, 3, 1, 2, 3], [1] * 6 + [0] * 6, *who)
    >>> band = ff.roc_band(c, [0.1, 0.5], rng=0)
    >>> band.fnmr
    array([0.33333333, 0.33333333])
    >>> band.note
    'no simultaneous band: fewer than 10 false non-matches at every FMR'
    >>> e = ff.von_mises_fisher_embeddings(50, 4, 16, concentration=(20, 60), rng=0)
    >>> band = ff.roc_band(e, [0.001, 0.01], rng=0)
    >>> bool((band.v_statistic < band.fnmr).all())
    True
    """
    settings = BandSettings.check(
        data, unit, method, weighting, scheme, n_resamples, confidence_level, rng, n_threads, progress
    )
    row = 0
    if group is not None:
        validation.choice("group", group, data.groups)
        row = 1 + data.groups.index(group)
    return roc_of_rates(rates_over_levels(data, fmr, settings, with_groups=group is not None), settings, row)


def roc_of_rates(found: RatesOverLevels, settings: BandSettings, row: int = 0) -> RocBand:
    """Take the band of all comparisons (row 0) or of a group (1 and up) out of rates over levels.

    Parameters
    ----------
    found : RatesOverLevels
        The rates.
    settings : BandSettings
        With method and level.
    row : int
        Whose FNMR.

    Returns
    -------
    RocBand
    """
    n_mated = found.n_mated[row - 1] if row else found.all_mated
    # Over embeddings subjects may count alike instead of pairs, so that this is a number of errors in kind.
    errors = np.rint(found.estimate.fnmr[:, row] * n_mated)
    banded = errors >= FEWEST_ERRORS
    fnmr, curve = curve_of(lambda rates: rates.fnmr[:, row], found, settings, banded=banded)
    known = curve["replicates"].any(axis=0) | (fnmr > 0)
    curve |= {name: np.where(known, curve[name], np.nan) for name in ("low", "high")}
    return RocBand(fnmr=fnmr, note=_note(found.levels, banded), **curve)


def _note(levels: Floats, banded: NDArray[np.bool_]) -> str:
    few = f"fewer than {FEWEST_ERRORS} false non-matches"
    if banded.all():
        return ""
    if not banded.any():
        return f"no simultaneous band: {few} at every FMR"
    return f"the simultaneous band ends at FMR {levels[banded][-1]:.3g}: {few} are left beyond"
