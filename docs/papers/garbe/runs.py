"""Group rates of both systems on VoxCeleb1-H over the operating points of paper 2, and its three
measures of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fastfair import OperatingPoint, at_fmr, compare, measures
from fastfair.evaluation.result import Evaluation
from fastfair.evaluation.system_comparison import SystemComparison
from papers.settings import Settings
from papers.voxceleb import scores

from .printed import NATIONALITIES

Floats = NDArray[np.float64]

NAMES = ("fdr", "inequity_rate", "garbe")
OPTIMISED, SLIM = "ResNetSE34V2", "ResNetSE34L"
GROUPINGS = {"nationality": ("Nationality",), "gender × nationality": ("Gender", "Nationality")}
NINE = "the paper's nine nationalities"


@dataclass(frozen=True, eq=False)
class Run:
    """A system's error rates in each group over operating points.

    Attributes
    ----------
    system, grouping : str
        Whose, and by what.
    levels : (points,) ndarray
        False match rates of all comparisons that thresholds hold.
    fmr, fnmr : (points, groups) ndarray
        The groups' rates.
    drawn_fmr, drawn_fnmr : (r, points, groups) ndarray
        The same in every replicate.
    """

    system: str
    grouping: str
    levels: Floats
    fmr: Floats
    fnmr: Floats
    drawn_fmr: Floats
    drawn_fnmr: Floats

    @property
    def label(self) -> str:
        """What to call it."""
        return f"{self.system}, {self.grouping}"

    def only(self, kept: Sequence[int], grouping: str) -> Run:
        """Keep some of the groups."""
        rates = (self.fmr, self.fnmr, self.drawn_fmr, self.drawn_fnmr)
        return Run(self.system, grouping, self.levels, *(rate[..., kept] for rate in rates))


@dataclass(frozen=True, eq=False)
class Study:
    """Both systems under every grouping.

    Attributes
    ----------
    levels : (points,) ndarray
        False match rates, evenly spaced on a logarithmic axis.
    alphas : (a,) ndarray
        Weights of false matches.
    pairs : dict of str to SystemComparison
        ResNetSE34L against ResNetSE34V2 for each grouping.
    evaluations : dict of (str, str) to Evaluation
        Each system under each grouping, with the intervals that `evaluate` chooses.
    runs : tuple of Run
        The same as rates, and those of the paper's nine nationalities.
    """

    levels: Floats
    alphas: Floats
    pairs: dict[str, SystemComparison]
    evaluations: dict[tuple[str, str], Evaluation]
    runs: tuple[Run, ...]

    def run(self, system: str, grouping: str) -> Run:
        """Return one of the runs."""
        return next(run for run in self.runs if (run.system, run.grouping) == (system, grouping))

    @property
    def drawn(self) -> tuple[Run, ...]:
        """The runs that figures show: those of all groups."""
        return tuple(run for run in self.runs if run.grouping in GROUPINGS)


def study(settings: Settings) -> Study:
    """Evaluate both systems, one call a grouping."""
    levels = np.geomspace(1e-3, 1e-1, 13 if settings.quick else 41)
    points = [at_fmr(level) for level in levels]
    pairs, evaluations, runs = {}, {}, []
    for grouping, attributes in GROUPINGS.items():
        settings.tell(f"paper 2: both systems by {grouping} at {levels.size} FMRs")
        slim, optimised = (scores(system, attributes) for system in ("resnetse34l", "resnetse34v2"))
        pairs[grouping] = pair = compare(
            slim,
            optimised,
            points,
            NAMES,
            metrics="eer",
            n_resamples=settings.n_resamples,
            rng=settings.seed,
        )
        for system, found in zip((SLIM, OPTIMISED), pair.evaluations, strict=True):
            evaluations[system, grouping] = found
            runs.append(_run(system, grouping, levels, points, found))
    for run in [run for run in runs if run.grouping == "nationality"]:
        groups = evaluations[run.system, run.grouping].groups
        runs.append(run.only([groups.index(name) for name in NATIONALITIES], NINE))
    return Study(
        levels, np.linspace(0, 1, 11 if settings.quick else 21), pairs, evaluations, tuple(runs)
    )


def _run(
    system: str, grouping: str, levels: Floats, points: Sequence[OperatingPoint], found: Evaluation
) -> Run:
    drawn = [
        np.array(
            [[found.replicates(name, group, at) for group in found.groups] for at in points]
        ).transpose(2, 0, 1)
        for name in ("fmr", "fnmr")
    ]
    fmr, fnmr = (
        np.array([getattr(rates, name) for rates in found.rates])
        for name in ("group_fmr", "group_fnmr")
    )
    return Run(system, grouping, levels, fmr, fnmr, *drawn)


def values(name: str, fmr: ArrayLike, fnmr: ArrayLike, alphas: ArrayLike) -> Floats:
    """Compute a measure for each alpha, which come first."""
    function = measures.MEASURES[name].function
    return np.array([function(fmr, fnmr, float(alpha)) for alpha in np.asarray(alphas)])


def terms(name: str, fmr: ArrayLike, fnmr: ArrayLike) -> tuple[Floats, Floats]:
    """Compute the terms FPD and FND that a measure weights with alpha: what is left of it at alpha
    1 and 0.
    """
    fpd, fnd = values(name, fmr, fnmr, (1, 0))
    return (1 - fpd, 1 - fnd) if name == "fdr" else (fpd, fnd)


def contributions(name: str, fmr: ArrayLike, fnmr: ArrayLike) -> tuple[Floats, Floats]:
    """Compute the terms as alpha weights them in a sum: IR is a product of powers, so its terms'
    logarithms.
    """
    fpd, fnd = terms(name, fmr, fnmr)
    return (np.log(fpd), np.log(fnd)) if name == "inequity_rate" else (fpd, fnd)


def disparity(first: ArrayLike, second: ArrayLike) -> Floats:
    """Compute how many times the smaller of two terms the larger one is; NaN where one is not
    finite.
    """
    small, large = np.minimum(first, second), np.maximum(first, second)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(np.isfinite(large) & np.isfinite(small), large / small, np.nan)
