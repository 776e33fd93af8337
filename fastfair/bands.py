"""`roc_band`: how certain a whole ROC or DET curve is."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import _random, _validation, intervals
from ._progress import reporting
from ._units import UNITS, require_units
from .comparisons import Comparisons
from .error_rates import rates_at_key
from .errors import InputError
from .operating_points import ENOUGH_ERRORS, at_fmr, threshold_key
from .resampling import SCHEMES, Resampler

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Floats = NDArray[np.float64]
_LEVELS = 50  # by default: more than a plot shows


@dataclass(frozen=True, eq=False)
class RocBand:
    """FNMR over FMR with its uncertainty.

    Attributes
    ----------
    fmr : (levels,) ndarray
        False match rates held, ascending.
    fnmr : (levels,) ndarray
        False non-match rate at each.
    low, high : (levels,) ndarray
        Pointwise interval: each holds the truth at its own level.
    band_low, band_high : (levels,) ndarray
        Simultaneous band: the whole curve lies inside at the level.
    uncertainty : (levels,) ndarray
        Standard deviation of the replicates divided by the FNMR.
    threshold : (levels,) ndarray
        On the scale of the scores.
    replicates : (r, levels) ndarray
        The FNMR in every replicate.
    confidence_level : float
        Of interval and band.
    """

    fmr: Floats
    fnmr: Floats
    low: Floats
    high: Floats
    band_low: Floats
    band_high: Floats
    uncertainty: Floats
    threshold: Floats
    replicates: Floats = field(repr=False)
    confidence_level: float = 0.95

    def plot(self, ax: Axes | None = None, *, det: bool = False, **kwargs: Any) -> Axes:
        """Draw the curve in its pointwise interval (darker) and its simultaneous band (lighter).

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
        from ._plots import draw_band

        return draw_band(self, ax, det=det, **kwargs)


def roc_band(
    comparisons: Comparisons,
    fmr: ArrayLike | None = None,
    *,
    unit: str = "subject",
    n_resamples: int = 2000,
    confidence_level: float = 0.95,
    method: str = "percentile",
    scheme: str = "dyadic",
    rng: _random.Seed = None,
    n_threads: int | None = None,
    progress: bool | Callable[[int, int], None] = False,
) -> RocBand:
    """Compute FNMR at many FMRs with pointwise intervals and a simultaneous band.

    Parameters
    ----------
    comparisons : Comparisons
        With subjects, but for `unit="comparison"`. Groups are strata of the resampling.
    fmr : (levels,) array_like, optional
        False match rates to hold, each in [0, 1). By default 50, from what 30 errors make up to 0.5.
    unit : str
        As in `evaluate`.
    n_resamples : int, default 2000
        Replicates.
    confidence_level : float, default 0.95
        In (0, 1).
    method : {"percentile", "basic", "normal", "bca"}
        Of the pointwise interval; the band is made of quantiles.
    scheme, rng, n_threads, progress
        As in `evaluate`.

    Returns
    -------
    RocBand

    Raises
    ------
    InputError
        For levels outside [0, 1), and as `evaluate` does.

    Notes
    -----
    The threshold of each FMR is found again in every replicate, so that its uncertainty is part of the band. See
    `intervals.simultaneous_band`.

    Examples
    --------
    >>> import fastfair as ff
    >>> who = list("aabbccaabbcc"), list("aabbccbbccaa")
    >>> c = ff.Comparisons([9, 8, 2, 9, 8, 1, 1, 2, 3, 1, 2, 3], [1] * 6 + [0] * 6, *who)
    >>> band = ff.roc_band(c, [0.1, 0.5], rng=0)
    >>> band.fnmr
    array([0.33333333, 0.33333333])
    >>> bool((band.band_low <= band.low).all())
    True
    """
    for name, value, choices in (
        ("unit", unit, UNITS),
        ("method", method, intervals.METHODS_FOR_ANYTHING),
        ("scheme", scheme, SCHEMES),
    ):
        _validation.choice(name, value, choices)
    level = intervals.level(confidence_level)
    if _validation.count("n_resamples", n_resamples) < 2:
        raise InputError("roc_band needs replicates: n_resamples must be at least 2")
    require_units(comparisons, unit)
    points = [at_fmr(rate) for rate in _levels(comparisons, fmr)]
    estimates = [rates_at_key(comparisons, point, threshold_key(comparisons, point)) for point in points]
    resampler = Resampler(comparisons, points, unit=unit, scheme=scheme, metrics=(), with_groups=False)
    with reporting(progress, f"{n_resamples:,} replicates") as report:
        drawn = resampler.replicate(n_resamples, _random.stream(rng)[0], n_threads=n_threads, progress=report)
    replicates, fnmr = drawn.fnmr[:, 0], np.array([rates.fnmr for rates in estimates])
    jackknife = resampler.influences(resampler.jackknife(n_threads).fnmr[:, 0]) if method == "bca" else None
    low, high = intervals.confidence_interval(replicates, fnmr, level, method, jackknife=jackknife)
    band = intervals.simultaneous_band(replicates[:, ~np.isnan(replicates).any(axis=0)], level)
    with np.errstate(invalid="ignore", divide="ignore"):
        uncertainty = intervals.standard_error(replicates) / fnmr
    return RocBand(
        fmr=np.array([point.value for point in points]),
        fnmr=fnmr,
        low=np.clip(low, 0, 1),
        high=np.clip(high, 0, 1),
        band_low=band[0],
        band_high=band[1],
        uncertainty=uncertainty,
        threshold=np.array([rates.threshold for rates in estimates]),
        replicates=replicates.T,
        confidence_level=level,
    )


def _levels(comparisons: Comparisons, fmr: ArrayLike | None) -> list[float]:
    if fmr is None:
        least = min(0.5, ENOUGH_ERRORS / len(comparisons.nonmated))
        return np.unique(np.geomspace(least, 0.5, _LEVELS)).tolist()
    levels = np.atleast_1d(np.asarray(fmr))
    if levels.ndim != 1 or levels.size == 0 or levels.dtype.kind not in "fiu":
        raise InputError(f"fmr must be a list of rates, not {fmr!r}")
    return [_validation.rate("fmr", float(level)) for level in np.sort(levels)]
