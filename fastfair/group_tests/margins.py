"""`margin_of_error`: how far groups' rates of failure may differ from the overall rate by chance."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from fastfair import intervals
from fastfair._lib import seeds
from fastfair._lib.arguments import SomeResamples, checked
from fastfair._lib.plots import Line, draw_rows
from fastfair._lib.text import per_cent
from fastfair._lib.warnings import warn
from fastfair._lib.workers import reporting
from fastfair.data.comparisons import Comparisons
from fastfair.data.embeddings import Embeddings
from fastfair.data.scans import ScannedComparisons
from fastfair.error_rates.operating_points import OperatingPoint
from fastfair.errors import NotComputableWarning
from fastfair.results.result import Result
from fastfair.results.written import UNWRITTEN, nothing

from .equal_rates import rate_marks, rate_title
from .failure_counts import FAILURE_RATES, FailureCounts
from .replicates import IncompleteGroups, counts_to_test, of_counts, replicate, warn_of_small_groups

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Floats = NDArray[np.float64]
Quantile = Literal["family-wise", "paper"]
QUANTILES: tuple[Quantile, ...] = get_args(Quantile)
Center = Literal["data", "replicate"]
CENTERS: tuple[Center, ...] = get_args(Center)


def share_inside(confidence_level: float, quantile: str) -> float:
    """Return which quantile of the largest differences in replicates is the margin.

    Parameters
    ----------
    confidence_level : float
        1 - alpha.
    quantile : {"family-wise", "paper"}
        1 - alpha, or the 1 - alpha / 2 of the paper's step 5.

    Returns
    -------
    float

    Examples
    --------
    >>> from fastfair.group_tests.margins import share_inside
    >>> share_inside(0.95, "family-wise"), share_inside(0.95, "paper")
    (0.95, 0.975)
    """
    level = intervals.level(confidence_level)
    return level if quantile == "family-wise" else (1 + level) / 2


@dataclass(frozen=True, eq=False, repr=False)
class MarginOfError(Result):
    """The result of `margin_of_error`: the margin, and the groups whose rates are outside of it.

    Attributes
    ----------
    margin : float
        How far a group's rate may differ from the overall rate by chance.
    rate : float
        All failures divided by all attempts.
    low, high : float
        The overall rate minus and plus the margin; `low` may be below 0, which no rate can be.
    outside : tuple of str
        Groups whose rate is below `low` or above `high`. An extreme group moves the overall rate towards its own, so
        if there are few groups, others may be outside on the other side.
    groups : tuple of str
        The groups, sorted.
    group_rate : (g,) ndarray
        Failures divided by attempts of each group.
    rate_name : {"fnmr", "fta", "fte"}
        What rate it is.
    n_subjects, n_attempts, n_failures : (g,) ndarray of int64
        Numbers of subjects, attempts and failures of each group.
    remarks : tuple of str
        What there is to know about the failure counts.
    counts : FailureCounts or None
        The failure counts that the margin was computed from; None in what was read from a file.
    confidence_level : float
        Least probability that no group is outside if all have the same true FNMR; see `margin_of_error`.
    quantile, center : str
        As in `margin_of_error`.
    replicates : (r,) ndarray
        The largest difference from the overall rate in every replicate.
    settings : dict
        The arguments of the call, and the seed.
    """

    margin: float
    rate: float
    low: float
    high: float
    outside: tuple[str, ...]
    groups: tuple[str, ...]
    group_rate: Floats
    rate_name: str
    n_subjects: NDArray[np.int64]
    n_attempts: NDArray[np.int64]
    n_failures: NDArray[np.int64]
    remarks: tuple[str, ...]
    confidence_level: float
    quantile: str
    center: str
    settings: dict[str, Any]
    counts: FailureCounts | None = field(default=None, repr=False, metadata=UNWRITTEN)
    replicates: Floats = field(default_factory=nothing, repr=False, metadata=UNWRITTEN)

    def _question(self) -> str:
        return f"Do {rate_title(self.rate_name).lower()}s of groups differ by more than the margin of error?"

    def _sentences(self) -> list[str]:
        """Return the sentences of the summary."""
        if np.isnan(self.margin):
            return ["There is no margin of error: see the warnings."]
        n, rate, attempt = len(self.groups), self.rate_name.upper(), FAILURE_RATES[self.rate_name].attempt
        text = [
            f"The overall {rate} is {per_cent(self.rate)}: {self.n_failures.sum():,} of "
            f"{self.n_attempts.sum():,} {attempt}s of {self.n_subjects.sum():,} people failed.",
            f"Even if all {n} groups were treated alike, their {rate}s would differ by chance. The margin of "
            f"error is {100 * self.margin:.3g} percentage points: in {per_cent(self.confidence_level)} of such studies "
            f"every group would lie between {per_cent(max(0.0, self.low))} and {per_cent(min(1.0, self.high))}.",
        ]
        of_group = dict(zip(self.groups, self.group_rate, strict=True))
        for above, word in ((True, "above"), (False, "below")):
            found = [f"{g} ({per_cent(of_group[g])})" for g in self.outside if (of_group[g] > self.rate) == above]
            if found:
                verb = "is" if len(found) == 1 else "are"
                named = ", ".join(found)
                text.append(
                    f"{len(found)} of {n} groups {verb} {word} that range, farther than chance explains: {named}."
                )
        if not self.outside:
            text.append(
                f"All {n} groups lie in that range: no difference was detected, which does not show that there is none."
            )
        return text + list(self.remarks)

    def _columns(self) -> dict[str, list[Any]]:
        return {
            "group": list(self.groups), "n_subjects": self.n_subjects.tolist(), "n_attempts": self.n_attempts.tolist(),
            "n_failures": self.n_failures.tolist(), self.rate_name: self.group_rate.tolist(),
            "outside": [group in self.outside for group in self.groups],
        }  # fmt: skip

    @checked
    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw each group's rate, the overall one (dashed) and the margins about it (dotted), as the paper's figure 1.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; a new figure by default.

        Returns
        -------
        matplotlib Axes
        """
        bounds = [Line(max(0.0, self.low), "margin of error", ":", "0.3"), Line(min(1.0, self.high), "", ":", "0.3")]
        lines = [Line(self.rate, "overall", "--", "0.3"), *bounds]
        marks = rate_marks(self.groups, self.group_rate, self.outside, "outside")
        return draw_rows(ax, self.groups, marks, lines, xlabel=rate_title(self.rate_name))


@checked
def margin_of_error(
    data: Comparisons | ScannedComparisons | Embeddings | FailureCounts,
    at: OperatingPoint | None = None,
    *,
    n_resamples: SomeResamples = 9999,
    confidence_level: float = 0.95,
    quantile: Quantile = "family-wise",
    center: Center = "data",
    incomplete_groups: IncompleteGroups = "raise",
    rng: seeds.Seed = None,
    n_threads: int | None = None,
    progress: bool | Callable[[int, int], None] = False,
) -> MarginOfError:
    """Compute how far groups' FNMRs may differ from the overall FNMR by chance, and name groups that differ by more.

    Parameters
    ----------
    data, at
        As in `fnmr_test`.
    n_resamples : int, default 9999
        Number of replicates.
    confidence_level : float, default 0.95
        1 - alpha, in (0, 1).
    quantile : {"family-wise", "paper"}
        Which quantile of the largest differences is the margin: "family-wise" is that at 1 - alpha; "paper" that at
        1 - alpha / 2, as in step 5 of [1]_, which the sentence after it contradicts.
    center : {"data", "replicate"}
        Which overall rate a group's rate in a replicate is compared with: that of the data, as in [1]_, or that of the
        replicate. In the data, a group is part of the overall rate that it is compared with. With few groups, "data"
        therefore makes margins wider than the confidence level requires; "replicate" does not.
    incomplete_groups, rng, n_threads, progress
        As in `fnmr_test`.

    Returns
    -------
    MarginOfError

    Raises
    ------
    InputError
        As `fnmr_test` does.

    Warns
    -----
    NotComputableWarning
        Where no attempt failed or all did: the margin is NaN.
    DroppedWarning
        Names the groups left out.
    NarrowIntervalsWarning
        Names groups that are much smaller than others and have so few failures that, by chance, they could have had
        none and be outside.

    Notes
    -----
    Replicates are those of `fnmr_test`: they draw the subjects of each group with replacement, and add to the group's
    rate the overall rate minus the group's rate in the data. A group is outside if it differs by more than the margin.

    References
    ----------
    .. [1] Schuckers et al., "Statistical Methods for Assessing Differences in False Non-Match Rates Across Demographic
       Groups", section IV-B.

    Examples
    --------
    >>> import fastfair as ff
    >>> counts = ff.FailureCounts([0, 1, 0, 0, 2, 3, 1, 2], [4] * 8, group=list("ffffmmmm"))
    >>> found = ff.margin_of_error(counts, rng=0)
    >>> found.rate, found.outside
    (0.28125, ('f', 'm'))
    """
    share = share_inside(confidence_level, quantile)
    counts = counts_to_test(data, at, incomplete_groups, n_threads)
    warn_of_small_groups(counts)
    key, seed = seeds.stream(rng)
    observed = of_counts(counts)
    with reporting(progress, f"{n_resamples:,} replicates") as report:
        replicated = replicate(counts, n_resamples, key, n_threads, report).shifted(observed)
    middle = observed.overall if center == "data" else replicated.overall[:, None]
    distances = np.abs(replicated.rate - middle).max(axis=1)
    overall = float(observed.overall)
    margin = float(np.quantile(distances, share))
    if overall in (0, 1):
        warn(
            f"{'none' if overall == 0 else 'all'} of the attempts are errors: there is no margin of error",
            NotComputableWarning,
        )
        margin = np.nan
    outside = np.abs(observed.rate - overall) > margin * (1 + 1e-9)
    return MarginOfError(
        margin=margin, rate=overall, low=overall - margin, high=overall + margin,
        outside=tuple(group for group, is_outside in zip(counts.groups, outside, strict=True) if is_outside),
        groups=counts.groups, group_rate=counts.group_rate, rate_name=counts.rate_name, n_subjects=counts.n_subjects,
        n_attempts=counts.n_attempts, n_failures=counts.n_failures, remarks=tuple(counts.remarks()), counts=counts,
        confidence_level=intervals.level(confidence_level), quantile=quantile, center=center, replicates=distances,
        settings={
            "at": None if at is None else str(at), "n_resamples": n_resamples, "confidence_level": confidence_level,
            "quantile": quantile, "center": center, "incomplete_groups": incomplete_groups, "rng": seed,
        },
    )  # fmt: skip
