"""Simulated biased systems: groups with error rates in given ratios, the system's overall performance, and measures."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

from fastfair._lib import seeds, validation
from fastfair._lib.arguments import Natural, Positive, checked
from fastfair._lib.plots import legend_below, line_style, new_axes
from fastfair._lib.text import per_cent
from fastfair.data.comparisons import Comparisons
from fastfair.error_rates.operating_points import OperatingPoint, at_fmr, at_mean_group_eer, threshold_key
from fastfair.error_rates.rates import ErrorRate, rates_at_key
from fastfair.errors import InputError
from fastfair.evaluation.evaluate import evaluate
from fastfair.measures import MEASURES
from fastfair.measures._fairness import BaseMetric, RatePair, ZeroPolicy, measure_all
from fastfair.measures._registry import OF_ANY_SCORES, Measure, measure_name
from fastfair.uncertainty.quantities import Quantity

from .hill_climbing import KINDS, Synthesis, require_memory, synthesize_each

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_MOST_GROUPS = 100
_STEPS_SIZE = 6.4, 4.4  # inches, without the legend


@dataclass(frozen=True, eq=False)
class BiasedSystem:
    """A simulated system whose groups have error rates in given ratios.

    Attributes
    ----------
    ratios : str
        As in "1:1:3:5".
    kind : str
        "fmr" if groups differ in the FMR at a TMR, "fnmr" if they differ in the FNMR at a TNMR.
    sets : tuple of Synthesis
        The simulated scores of each group; groups with the same ratio share one set.
    overall : Comparisons
        A separate set of comparisons, without groups, for the overall performance.
    groups : Comparisons
        The comparisons of all groups, made of `sets`; each comparison is within one group.
    """

    ratios: str
    kind: str
    sets: tuple[Synthesis, ...] = field(repr=False)
    overall: Comparisons = field(repr=False)
    groups: Comparisons = field(init=False, repr=False)

    def __post_init__(self) -> None:
        numbers = _factors(self.ratios)
        places = len(str(len(numbers)))  # so that labels sort in order
        labels = [f"{k:0{places}} (x {number:g})" for k, number in enumerate(numbers, 1)]
        groups = Comparisons(
            np.concatenate([made.distances for made in self.sets]),
            np.concatenate([made.mated for made in self.sets]),
            reference_group=np.repeat(labels, [made.mated.size for made in self.sets]),
            score_kind="distance",
        )
        object.__setattr__(self, "groups", groups)

    @checked
    def measures(
        self,
        at: OperatingPoint = at_fmr(1e-3),  # noqa: B008 - frozen
        measures: Measure | Sequence[Measure] = "all",
        *,
        alpha: float = 0.5,
        zero_policy: ZeroPolicy | float = "keep",
    ) -> tuple[Quantity, ...]:
        """Compute fairness measures, with the rates of `overall` as the global ones.

        Parameters
        ----------
        at : OperatingPoint
            The operating point; its threshold is found from `overall`.
        measures : "all" or sequence of str or function
            As in `evaluate`.
        alpha, zero_policy
            As in `evaluate`.

        Returns
        -------
        tuple of Quantity
            Named as in an evaluation, without intervals.

        Examples
        --------
        >>> import fastfair as ff
        >>> system = ff.biased_system("1:1:1:1", overall_mated=1000, overall_nonmated=10_000, rng=0)
        >>> [found.estimate for found in system.measures(ff.at_fmr(0.01), ["inequity_rate", "fdr"])]
        [1.0, 1.0]
        """
        named = [measures] if isinstance(measures, str) else measures
        names = list(MEASURES) if measures == "all" else [measure_name(name) for name in named]
        of_all, of_groups = (_threshold_free(part) for part in (self.overall, self.groups))
        metrics: dict[str, BaseMetric] = {
            name: BaseMetric(of_all[name].overall, of_groups[name].groups) for name in OF_ANY_SCORES
        }
        own, at_point = (
            self._rates(at, threshold_key(part, point))
            for part, point in ((self.groups, at_mean_group_eer()), (self.overall, at))
        )
        found = []
        for one in measure_all(names, [at_point], metrics, own, alpha, zero_policy):
            of_rows = self.groups.groups if one.per_group else (None,)
            for group, value in zip(of_rows, np.atleast_1d(one.value).tolist(), strict=True):
                found.append(Quantity(one.name, group, None if one.point is None else at, value))
        return tuple(found)

    def _rates(self, at: OperatingPoint, key: np.signedinteger[Any]) -> RatePair:
        """Pair the overall rates at a threshold with those of the groups."""
        of_all, of_groups = (rates_at_key(part, at, key) for part in (self.overall, self.groups))
        counts = of_groups.counts
        return RatePair(
            BaseMetric(np.float64(of_all.fmr), of_groups.group_fmr, counts.group_nonmated),
            BaseMetric(np.float64(of_all.fnmr), of_groups.group_fnmr, counts.group_mated),
        )


@lru_cache(maxsize=2)  # many systems may share what stands for all comparisons
def _threshold_free(comparisons: Comparisons) -> Mapping[str, BaseMetric]:
    """Compute the metrics that need no threshold, overall and of each group."""
    found = evaluate(comparisons, at=(), measures=(), metrics=OF_ANY_SCORES, n_resamples=0)
    return {
        name: BaseMetric(
            np.float64(found.value(name)), np.array([found.value(name, group=group) for group in comparisons.groups])
        )
        for name in OF_ANY_SCORES
    }


@checked
def biased_system(
    ratios: str | Sequence[float],
    *,
    kind: ErrorRate = "fmr",
    rate: Positive = 1e-3,
    at: float = 0.95,
    n_mated: int = 3000,
    n_nonmated: int = 3000,
    overall_fmr: float = 1e-4,
    overall_mated: Natural = 12_000,
    overall_nonmated: Natural = 600_000,
    n_steps: Natural = 1000,
    rng: seeds.Seed = None,
    n_threads: int | None = None,
    progress: bool | Callable[[int, int], None] = False,
) -> BiasedSystem:
    """Make a system whose groups have error rates in given ratios, by hill climbing.

    Parameters
    ----------
    ratios : str or sequence of float
        One number for each group, as in "1:1:3:5": its error rate divided by `rate`.
    kind : {"fmr", "fnmr"}
        Whether groups differ in the FMR at a TMR or in the FNMR at a TNMR.
    rate : float, default 0.001
        The error rate of a group with ratio 1.
    at : float, default 0.95
        The TMR or TNMR.
    n_mated, n_nonmated : int, default 3000
        Comparisons of each group.
    overall_fmr : float, default 0.0001
        FMR at a TMR of 0.95 of the system overall.
    overall_mated, overall_nonmated : int
        Comparisons of the set for the overall performance; 12,000 and 600,000 by default.
    n_steps : int, default 1000
        As in `synthesize`.
    rng, n_threads, progress
        As in `evaluate`.

    Returns
    -------
    BiasedSystem

    Raises
    ------
    InputError
        For ratios that are not numbers above 0 with colons between them, fewer than two ratios, and rates that so many
        comparisons cannot have.

    Warns
    -----
    TargetMissedWarning
        As `synthesize` does.

    Notes
    -----
    By default the data sets are those of tables II and III of [1]_: 3,000 mated and 3,000 non-mated comparisons for
    each group, where groups with the same ratio share one set, and a separate set for the overall performance. For that
    set the paper's table III prints 3,000 and 24,000 comparisons, and its text 12,000 and 600,000.

    References
    ----------
    .. [1] Elobaid et al., "Sum of Group Error Differences: A Critical Examination of Bias Evaluation in Biometric
       Verification and a Dual-Metric Measure", sections III-A and IV-A.

    Examples
    --------
    >>> import fastfair as ff
    >>> system = ff.biased_system("1:1:3:5", overall_mated=1000, overall_nonmated=10_000, rng=0)
    >>> system.groups.groups
    ('1 (x 1)', '2 (x 1)', '3 (x 3)', '4 (x 5)')
    >>> [made.fmr for made in system.sets]
    [0.001, 0.001, 0.003, 0.005]
    """
    seed = seeds.fixed(rng)
    require_memory(overall_mated, overall_nonmated, n_steps, 1)
    written = _written(ratios)
    numbers = _factors(written)
    factors = sorted(set(numbers))
    made = synthesize_each(
        n_mated, n_nonmated, kind, [factor * rate for factor in factors], at=at, n_steps=n_steps,
        rng=seeds.child(seed, KINDS.index(kind)), n_threads=n_threads, progress=progress,
    )  # fmt: skip
    overall = synthesize_each(
        overall_mated, overall_nonmated, "fmr", [overall_fmr], n_steps=n_steps, rng=seeds.child(seed, len(KINDS)),
        n_threads=n_threads,
    )[0]  # fmt: skip
    sets = tuple(made[factors.index(number)] for number in numbers)
    return BiasedSystem(written, kind, sets, overall.comparisons())


def _written(ratios: str | Sequence[float]) -> str:
    """Write ratios as in "1:1:3:5"."""
    if isinstance(ratios, str):
        return ratios
    if not isinstance(ratios, Sequence | np.ndarray):
        raise InputError(
            f"ratios must be numbers with colons between them, as in '1:1:3:5', or in a list, not {ratios!r}"
        )
    return ":".join(f"{validation.positive('ratios', number):.12g}" for number in ratios)


def _factors(ratios: str) -> tuple[float, ...]:
    """Read ratios such as 1:1:3:5."""
    try:
        numbers = tuple(float(part) for part in ratios.split(":"))
    except ValueError:
        numbers = ()
    if not 2 <= len(numbers) <= _MOST_GROUPS or not all(0 < number < np.inf for number in numbers):
        raise InputError(
            f"ratios must be 2 to {_MOST_GROUPS} numbers above 0 with colons between them, as in '1:1:3:5', not "
            f"{ratios!r}"
        )
    return numbers


def figures_of_scores(scores: Mapping[str, Comparisons], climbed: Sequence[Synthesis]) -> dict[str, Axes | Figure]:
    """Draw curves and scores of each file of synthesized scores, and the steps of each set that was climbed to."""
    figures: dict[str, Axes | Figure] = {}
    for name, comparisons in scores.items():
        evaluation = evaluate(comparisons, (), (), metrics="eer", n_resamples=0)
        figures |= {f"{name}_det": evaluation.plot_det(), f"{name}_distributions": evaluation.plot_scores()}
        if evaluation.groups:
            figures[f"{name}_distributions_by_group"] = evaluation.plot_groups("scores")
    if climbed:
        width, height = _STEPS_SIZE
        ax = new_axes((width, height + 0.18 * len(climbed)))
        for k, made in enumerate(climbed):
            held = f"{'TMR' if made.kind == 'fmr' else 'TNMR'} {made.at:g}"
            made.plot(ax, label=f"{made.kind.upper()} {per_cent(made.target)} at {held}", **line_style(k))
        legend_below(ax, ax.get_lines())
        figures["steps"] = ax
    return figures
