"""`synthesize`: simulated scores with given error rates, by hill climbing; `biased_system`: those
of groups.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from fastfair._lib import memory, seeds, validation
from fastfair._lib.arguments import Natural, Positive, checked
from fastfair._lib.arrays import Flags, Floats
from fastfair._lib.plots import axes_or_new
from fastfair._lib.threads import run_blocks
from fastfair._lib.warnings import warn
from fastfair._lib.workers import reporting
from fastfair.data.comparisons import Comparisons
from fastfair.data.sorted_scores import read_only
from fastfair.error_rates.operating_points import (
    OperatingPoint,
    at_fmr,
    at_mean_group_eer,
    threshold_key,
)
from fastfair.error_rates.rates import ErrorRate, rates_at_key
from fastfair.errors import InputError, TargetMissedWarning
from fastfair.evaluation.evaluate import evaluate
from fastfair.measures import MEASURES
from fastfair.measures._fairness import BaseMetric, ZeroPolicy, measure_all
from fastfair.measures._registry import OF_ANY_SCORES, Measure, measure_name
from fastfair.uncertainty.quantities import Quantity

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_Acceptance = Literal["improving", "plateau"]
KINDS: tuple[ErrorRate, ...] = ("fmr", "fnmr")


@dataclass(frozen=True, eq=False)
class Synthesis:
    """Simulated distances with a target error rate.

    Attributes
    ----------
    distances : (n,) ndarray
        In [0, 1], the mated ones first.
    mated : (n,) ndarray of bool
        Whether each distance is that of a mated comparison.
    threshold : float
        Distances <= it are accepted.
    fmr, fnmr : float
        Error rates at the threshold.
    history : (n_steps + 1,) ndarray
        How far the rates were from the target at first and after every step: ``|FMR - target| +
        |TMR - target|``, or the same of FNMR and TNMR.
    n_steps, n_accepted : int
        Number of steps made, fewer than allowed if the target was reached, and of those that were
        accepted.
    kind : str
        "fmr" if the target is an FMR at a TMR, "fnmr" if it is an FNMR at a TNMR.
    target, at : float
        The target error rate, and the TMR or TNMR at which it is to hold.
    """

    distances: Floats = field(repr=False)
    mated: Flags = field(repr=False)
    threshold: float
    fmr: float
    fnmr: float
    history: Floats = field(repr=False)
    n_steps: int
    n_accepted: int
    kind: str
    target: float
    at: float

    @property
    def tmr(self) -> float:
        """True match rate, 1 - FNMR."""
        return 1 - self.fnmr

    @property
    def tnmr(self) -> float:
        """True non-match rate, 1 - FMR."""
        return 1 - self.fmr

    @checked
    def comparisons(self, group: str | None = None) -> Comparisons:
        """Make comparisons of the distances.

        Parameters
        ----------
        group : str, optional
            The group of all of them.

        Returns
        -------
        Comparisons

        Examples
        --------
        >>> import fastfair as ff
        >>> ff.synthesize(1000, 1000, fmr=0.01, rng=0).comparisons()
        Comparisons(1000 mated, 1000 non-mated, distance)
        """
        groups = None if group is None else np.full(self.distances.size, group)
        return Comparisons(
            self.distances, self.mated, reference_group=groups, score_kind="distance"
        )

    @checked
    def plot(self, ax: Axes | None = None, **kwargs: Any) -> Axes:
        """Draw how far the rates were from the target, step by step.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; a new figure by default.
        **kwargs
            Passed to `Axes.plot`.

        Returns
        -------
        matplotlib Axes
        """
        ax = axes_or_new(ax)
        distance = self.history[: self.n_steps + 1]
        ax.step(np.arange(distance.size), distance, **({"where": "post"} | kwargs))
        ax.set(xlabel="Step", ylabel="Distance from the target")
        ax.grid(alpha=0.3)
        return ax


@checked
def synthesize(
    n_mated: Natural,
    n_nonmated: Natural,
    *,
    fmr: float | None = None,
    tmr: float = 0.95,
    fnmr: float | None = None,
    tnmr: float = 0.95,
    n_steps: Natural = 1000,
    step: Positive | None = None,
    accept: _Acceptance = "improving",
    stop: bool = True,
    rng: seeds.Seed = None,
) -> Synthesis:
    """Simulate distances with a target FMR at a TMR, or a target FNMR at a TNMR, by hill climbing.

    Parameters
    ----------
    n_mated, n_nonmated : int
        Comparisons of each class.
    fmr : float, optional
        The target FMR at the threshold that accepts a share `tmr` of the mated comparisons, or the
        next larger share there can be. Either this or `fnmr`.
    tmr : float, default 0.95
        In (0, 1).
    fnmr : float, optional
        The target FNMR at the threshold that rejects a share `tnmr` of the non-mated comparisons.
    tnmr : float, default 0.95
        In (0, 1).
    n_steps : int, default 1000
        Largest number of steps.
    step : float, optional
        The largest change of a distance in a step. By default it adapts, and in every other step
        the comparisons that fix the threshold change by a 64th as much.
    accept : {"improving", "plateau"}
        Whether a step is accepted only where the rates come closer, as in [1]_, or also where they
        stay as far off.
    stop : bool, default True
        Stop as soon as the rate is the nearest to the target that this number of comparisons can
        have.
    rng : None, int, SeedSequence or Generator
        Seed.

    Returns
    -------
    Synthesis

    Raises
    ------
    InputError
        For rates outside (0, 1), rates that amount to less than one error (the message names the
        nearest possible rate), and counts below 1.

    Warns
    -----
    TargetMissedWarning
        Where the steps end before the nearest rate is reached.

    Notes
    -----
    This is algorithm 1 of [1]_. Mated distances start uniform in [0, 0.5] and non-mated ones in
    [0.5, 1]. Each step changes all of them at random, and is accepted if ``|FMR - target| + |TMR -
    target|`` falls. The paper does not define the threshold; here it is the one at the TMR, found
    again in every step. Changes are uniform between -step and step, and distances are reflected at
    0 and 1. For an FNMR at a TNMR, the roles of mated and non-mated comparisons and the direction
    of the distances are reversed.

    By default several step sizes are tried in turn, from the change that moves the first distance
    across the threshold up to large ones; after each accepted step this begins again. In every
    other step the comparisons that fix the threshold hardly change, because a threshold that was
    favourable by chance tends to be lost again.

    The sets of the paper, with rates up to 0.05, reach their rates in 1,000 steps, except for about
    one in some thousand, which is off by one comparison. Rates above 0.1 take more steps.

    References
    ----------
    .. [1] Elobaid et al., "Sum of Group Error Differences: A Critical Examination of Bias Evaluation in Biometric
       Verification and a Dual-Metric Measure", algorithm 1.

    Examples
    --------
    >>> import fastfair as ff
    >>> made = ff.synthesize(3000, 3000, fmr=0.005, rng=0)
    >>> made.fmr, made.tmr
    (0.005, 0.95)
    >>> ff.rates(made.comparisons(), ff.at_fnmr(0.05)).fmr
    0.005
    """
    if (fmr is None) == (fnmr is None):
        raise InputError("give either fmr (at a tmr) or fnmr (at a tnmr)")
    kind: ErrorRate = "fnmr" if fmr is None else "fmr"
    targets: Any = [fnmr if fmr is None else fmr]
    at = tnmr if fmr is None else tmr
    return synthesize_each(
        n_mated,
        n_nonmated,
        kind,
        targets,
        at=at,
        n_steps=n_steps,
        step=step,
        accept=accept,
        stop=stop,
        rng=rng,
    )[0]


@checked
def synthesize_each(
    n_mated: Natural,
    n_nonmated: Natural,
    kind: ErrorRate,
    targets: ArrayLike,
    *,
    at: float = 0.95,
    n_steps: Natural = 1000,
    step: Positive | None = None,
    accept: _Acceptance = "improving",
    stop: bool = True,
    rng: seeds.Seed = None,
    n_threads: int | None = None,
    progress: bool | Callable[[int, int], None] = False,
) -> tuple[Synthesis, ...]:
    """Simulate many sets of distances, one for each target rate, with several at a time on several
    threads.

    Parameters
    ----------
    n_mated, n_nonmated : int
        Comparisons of each class in every set.
    kind : {"fmr", "fnmr"}
        Whether targets are FMRs at a TMR or FNMRs at a TNMR.
    targets : (k,) array_like
        Target rates. The same rate given several times yields different sets.
    at : float, default 0.95
        The TMR or TNMR.
    n_steps, step, accept, stop
        As in `synthesize`.
    rng : None, int, SeedSequence or Generator
        Seed of the random numbers. A set depends only on the seed, its target and its position
        among the targets.
    n_threads, progress
        As in `evaluate`.

    Returns
    -------
    tuple of Synthesis

    Raises
    ------
    InputError
        As `synthesize` does.

    Warns
    -----
    TargetMissedWarning
        Names the targets missed.

    Examples
    --------
    >>> import fastfair as ff
    >>> made = ff.synthesis.synthesize_each(3000, 3000, "fmr", [0.001, 0.002, 0.05], rng=0)
    >>> [one.fmr for one in made]
    [0.001, 0.002, 0.05]
    """
    held, free = (n_mated, n_nonmated) if kind == "fmr" else (n_nonmated, n_mated)
    rates = np.ravel(validation.numbers_of("targets", targets))
    wanted = [_reachable(kind, rate, free) for rate in rates.tolist()]
    held_at = validation.fraction("⟦tmr⟧" if kind == "fmr" else "⟦tnmr⟧", at, "(0, 1)")
    plateaus = accept == "plateau"
    require_memory(n_mated, n_nonmated, n_steps, len(wanted))
    key, _ = seeds.stream(rng)
    # of those whose rate is held at the TMR or TNMR
    n_right = max(1, int(np.ceil(held * held_at * (1 - 1e-12))))
    made: list[Any] = [None] * len(wanted)

    def make(k: int) -> None:
        from fastfair.kernels import climb

        scores = np.empty(held + free)
        history = np.empty(n_steps + 1)
        goal = climb.Goal(held, n_right - 1, wanted[k])
        rules = climb.Rules(step or 0.0, plateaus, bool(stop))
        errors, n_accepted, n_made = climb.climb(
            goal, rules, 2 * k + KINDS.index(kind), key, scores, history
        )
        rates = errors / free, (held - n_right) / held
        if kind == "fmr":
            threshold = float(np.partition(scores[:held], n_right - 1)[n_right - 1])
        else:
            scores = 1 - np.concatenate((scores[held:], scores[:held]))
            rates = rates[::-1]
            # The mirror image of the last one rejected; distances below it are accepted.
            last = np.partition(scores[free:], held - n_right)[held - n_right]
            threshold = float(np.nextafter(last, -np.inf))
        made[k] = Synthesis(
            distances=read_only(scores),
            mated=read_only(np.arange(scores.size) < n_mated),
            threshold=threshold,
            fmr=rates[0],
            fnmr=rates[1],
            n_steps=n_made,
            n_accepted=n_accepted,
            history=read_only(history + abs(n_right / held - held_at)),
            kind=kind,
            target=wanted[k],
            at=held_at,
        )

    with reporting(progress, f"{len(wanted):,} sets") as report:
        run_blocks(make, range(len(wanted)), len(wanted), 1, n_threads, report)
    missed = [synthesis for synthesis in made if not _is_reached(synthesis, free)]
    if missed:
        said = ", ".join(
            f"{synthesis.target:g} ({getattr(synthesis, kind):g} reached)"
            for synthesis in missed[:5]
        )
        warn(
            f"{len(missed)} of {len(made)} targets of the {kind.upper()} missed in {n_steps} steps:"
            f" {said}{', ...' if len(missed) > 5 else ''}; give more steps or another seed",
            TargetMissedWarning,
        )
    return tuple(made)


def require_memory(n_mated: int, n_nonmated: int, n_steps: int, n_sets: int) -> None:
    """Refuse sets that take more memory than there is, by comparisons and steps of a set, and
    sets.
    """
    memory.require(
        n_sets * (24 * (n_mated + n_nonmated) + 16 * n_steps),
        f"sets ({n_sets:,}) of {n_mated:,} mated and {n_nonmated:,} non-mated comparisons in"
        f" {n_steps:,} steps",
        "use fewer",
    )


def _is_reached(made: Synthesis, free: int) -> bool:
    best = abs(round(made.target * free) / free - made.target)
    return abs(getattr(made, made.kind) - made.target) < best + 1e-12


def _reachable(name: str, value: object, n: int) -> float:
    """Check that a rate makes at least one error of n, and leaves at least one trial without."""
    rate = validation.fraction(name, value, "(0, 1)")
    if not 1 - 1e-9 <= rate * n <= n - 1 + 1e-9:
        nearest = 1 / n if rate * n < 1 else (n - 1) / n
        which = "non-mated" if name == "fmr" else "mated"
        raise InputError(
            f"{name}={rate:g} of {n:,} {which} comparisons is {rate * n:.3g} of them: the nearest"
            f" rate there can be is {nearest:.6g}; ask for that, or for more comparisons"
        )
    return rate


_MOST_GROUPS = 100  # of a ratio, at most


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
            name: BaseMetric(of_groups[name].groups, of_all[name].overall) for name in OF_ANY_SCORES
        }
        at_own_threshold, at_point = (
            self._rates(at, threshold_key(part, point))
            for part, point in ((self.groups, at_mean_group_eer()), (self.overall, at))
        )
        quantities = []
        for measured in measure_all(
            names, [at_point], metrics, at_own_threshold, alpha, zero_policy
        ):
            of_rows = self.groups.groups if measured.per_group else (None,)
            for group, value in zip(of_rows, np.atleast_1d(measured.value).tolist(), strict=True):
                quantities.append(
                    Quantity(measured.name, group, None if measured.point is None else at, value)
                )
        return tuple(quantities)

    def _rates(self, at: OperatingPoint, key: np.signedinteger[Any]) -> dict[str, BaseMetric]:
        """Pair the overall rates at a threshold with those of the groups."""
        of_all, of_groups = (rates_at_key(part, at, key) for part in (self.overall, self.groups))
        counts = of_groups.counts
        return {
            "fmr": BaseMetric(of_groups.group_fmr, np.float64(of_all.fmr), counts.group_nonmated),
            "fnmr": BaseMetric(of_groups.group_fnmr, np.float64(of_all.fnmr), counts.group_mated),
        }


@lru_cache(maxsize=2)  # many systems may share what stands for all comparisons
def _threshold_free(comparisons: Comparisons) -> Mapping[str, BaseMetric]:
    """Compute the metrics that need no threshold, overall and of each group."""
    evaluation = evaluate(comparisons, at=(), measures=(), metrics=OF_ANY_SCORES, n_resamples=0)
    return {
        name: BaseMetric(
            np.array([evaluation.value(name, group=group) for group in comparisons.groups]),
            np.float64(evaluation.value(name)),
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
    n_steps
        As in `synthesize`.
    rng, n_threads, progress
        As in `evaluate`.

    Returns
    -------
    BiasedSystem

    Raises
    ------
    InputError
        For ratios that are not numbers above 0 with colons between them, fewer than two ratios, and
        rates that so many comparisons cannot have.

    Warns
    -----
    TargetMissedWarning
        As `synthesize` does.

    Notes
    -----
    By default the data sets are those of tables II and III of [1]_: 3,000 mated and 3,000 non-mated
    comparisons for each group, where groups with the same ratio share one set, and a separate set
    for the overall performance. For that set the paper's table III prints 3,000 and 24,000
    comparisons, and its text 12,000 and 600,000.

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
    seed = seeds.fix_seed(rng)
    require_memory(overall_mated, overall_nonmated, n_steps, 1)
    written = ratios if isinstance(ratios, str) else ":".join(f"{number:.12g}" for number in ratios)
    numbers = _factors(written)
    factors = sorted(set(numbers))
    made = synthesize_each(
        n_mated,
        n_nonmated,
        kind,
        [factor * rate for factor in factors],
        at=at,
        n_steps=n_steps,
        rng=seeds.child(seed, KINDS.index(kind)),
        n_threads=n_threads,
        progress=progress,
    )
    overall = synthesize_each(
        overall_mated,
        overall_nonmated,
        "fmr",
        [overall_fmr],
        n_steps=n_steps,
        rng=seeds.child(seed, len(KINDS)),
        n_threads=n_threads,
    )[0]
    sets = tuple(made[factors.index(number)] for number in numbers)
    return BiasedSystem(written, kind, sets, overall.comparisons())


def _factors(ratios: str) -> tuple[float, ...]:
    """Read ratios such as 1:1:3:5."""
    try:
        numbers = tuple(float(part) for part in ratios.split(":"))
    except ValueError:
        numbers = ()
    if not 2 <= len(numbers) <= _MOST_GROUPS or not all(0 < number < np.inf for number in numbers):
        raise InputError(
            f"ratios must be 2 to {_MOST_GROUPS} numbers above 0 with colons between them, as in"
            f" '1:1:3:5', not {ratios!r}"
        )
    return numbers
