"""Simulated biased systems: groups with error rates in given ratios, the system's overall performance, and measures."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from fastfair._lib import frames, seeds, validation
from fastfair._lib.arguments import Measure, checked
from fastfair._lib.plots import USUAL, legend_below, line_style, new_axes
from fastfair._lib.tables import columns_of
from fastfair._lib.text import per_cent
from fastfair.data import score_keys
from fastfair.data.comparisons import Comparisons
from fastfair.error_rates.curve_results import ErrorRate
from fastfair.error_rates.operating_points import (
    OperatingPoint,
    at_fmr,
    at_mean_group_eer,
    at_threshold,
    threshold_key,
)
from fastfair.error_rates.rates import rates_at_key
from fastfair.errors import InputError
from fastfair.evaluation.evaluate import evaluate
from fastfair.measures import MEASURES
from fastfair.measures._compute import BaseMetric, RatePair, ZeroPolicy, measure_all
from fastfair.measures._registry import OF_ANY_SCORES, measure_name, printed_name
from fastfair.uncertainty.quantities import Estimated

from .hill_climbing import KINDS, Synthesis, require_memory, synthesize_each

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@dataclass(frozen=True)
class SystemMeasure(Estimated):
    """A fairness measure of a system.

    Attributes
    ----------
    table : str
        The table of paper 1 that lists the system; "" for others.
    ratios, kind : str
        As in `BiasedSystem`.
    measure : str
        Named as in an evaluation, with the base metric in parentheses where it has one.
    group : str or None
        The group, for measures with a value for each group; else None.
    value : float
    at : OperatingPoint or None
        The operating point; None for measures that need no threshold or define their own. Tables hold its text as
        `operating_point`.
    """

    table: str
    ratios: str
    kind: str
    measure: str
    group: str | None
    value: float
    at: OperatingPoint | None


def threshold_free(comparisons: Comparisons) -> Mapping[str, BaseMetric]:
    """Compute the metrics that need no threshold, overall and of each group."""
    found = evaluate(comparisons, at=(), measures=(), metrics=OF_ANY_SCORES, n_resamples=0)
    return {
        name: BaseMetric(
            np.float64(found.value(name)), np.array([found.value(name, group=group) for group in comparisons.groups])
        )
        for name in OF_ANY_SCORES
    }


def system_measures(
    about: tuple[str, str, str],
    groups: Comparisons,
    overall: Comparisons,
    overall_metrics: Mapping[str, BaseMetric],
    at: OperatingPoint,
    measures: str | Sequence[str],
    alpha: float,
    zero_policy: str | float,
) -> tuple[SystemMeasure, ...]:
    """Compute measures of groups, with rates and metrics of other comparisons as the global ones.

    `about` is the table, the ratios and the kind; `overall_metrics` come from `threshold_free(overall)`.
    """
    named = [measures] if isinstance(measures, str) else measures
    names = list(MEASURES) if measures == "all" else [measure_name(name) for name in named]

    def rates(key: np.signedinteger[Any]) -> RatePair:
        point = at_threshold(overall.to_scale(float(score_keys.decode(np.array([key]))[0])))
        of_all, of_groups = (rates_at_key(part, point, key) for part in (overall, groups))
        counts = of_groups.counts
        return RatePair(
            BaseMetric(np.float64(of_all.fmr), of_groups.group_fmr, counts.group_nonmated),
            BaseMetric(np.float64(of_all.fnmr), of_groups.group_fnmr, counts.group_mated),
        )

    of_groups = threshold_free(groups)
    metrics = {name: BaseMetric(of_all.overall, of_groups[name].groups) for name, of_all in overall_metrics.items()}
    own = rates(threshold_key(groups, at_mean_group_eer()))
    at_point = rates(threshold_key(overall, at))

    def found() -> Iterator[SystemMeasure]:
        for one in measure_all(names, [at_point], metrics, own, alpha, zero_policy):
            point = None if one.point is None else at
            if one.per_group:
                for group, value in zip(groups.groups, one.value, strict=True):
                    yield SystemMeasure(*about, one.name, group, float(value), point)
            else:
                yield SystemMeasure(*about, one.name, None, float(one.value), point)

    return tuple(found())


# The systems of paper 1: its tables, whether they are biased in false matches or non-matches, and the ratios.
TABLES: dict[str, tuple[ErrorRate, tuple[str, ...]]] = {
    "IV": ("fmr", ("1:1:1:1", "1:1:1:2", "1:1:1:3", "1:1:1:5", "1:1:1:10", "1:1:1:20", "1:1:1:50")),
    "V": ("fmr", ("1:1:2:2", "1:1:2:3", "1:1:2:5", "1:1:3:3", "1:1:3:5", "1:1:5:5")),
    "VI": (
        "fmr",
        ("1:2:2:2", "1:2:2:3", "1:2:2:5", "1:3:3:2", "1:3:3:3", "1:3:3:5", "1:5:5:2", "1:5:5:3", "1:5:5:5"),
    ),
    "VII": (
        "fmr",
        (
            "2:2:2:2", "2:2:2:3", "2:2:2:5", "2:2:3:3", "2:2:3:5", "2:2:5:5", "2:3:3:3", "2:3:3:5", "2:3:5:5",
            "2:5:5:5", "3:3:3:3", "3:3:3:5", "3:3:5:5", "3:5:5:5", "5:5:5:5",
        ),
    ),
    "VIII": ("fnmr", ("1:1:1:1", "1:1:1:2", "1:1:1:3", "1:1:1:5", "1:1:1:10", "1:1:1:20", "1:1:1:50")),
}  # fmt: skip
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
    groups : Comparisons
        The comparisons of all groups; each comparison is within one group.
    overall : Comparisons
        A separate set of comparisons, without groups, for the overall performance.
    sets : tuple of Synthesis
        The simulated scores of each group; groups with the same ratio share one set.
    table : str
        The table of paper 1 that lists the system; "" for others.
    """

    ratios: str
    kind: str
    groups: Comparisons = field(repr=False)
    overall: Comparisons = field(repr=False)
    sets: tuple[Synthesis, ...] = field(repr=False)
    table: str = ""

    @checked
    def measures(
        self,
        at: OperatingPoint = at_fmr(1e-3),  # noqa: B008 - frozen
        measures: Measure | Sequence[Measure] = "all",
        *,
        alpha: float = 0.5,
        zero_policy: ZeroPolicy | float = "keep",
    ) -> tuple[SystemMeasure, ...]:
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
        tuple of SystemMeasure

        Examples
        --------
        >>> import fastfair as ff
        >>> system = ff.biased_system("1:1:1:1", overall_mated=1000, overall_nonmated=10_000, rng=0)
        >>> [found.value for found in system.measures(ff.at_fmr(0.01), ["inequity_rate", "fdr"])]
        [1.0, 1.0]
        """
        return self._measured(threshold_free(self.overall), at, measures, alpha, zero_policy)

    def _measured(self, overall: Mapping[str, BaseMetric], *options: Any) -> tuple[SystemMeasure, ...]:
        about = self.table, self.ratios, self.kind
        return system_measures(about, self.groups, self.overall, overall, *options)


@dataclass(frozen=True, eq=False)
class ScenarioFamily:
    """Many biased systems that share the comparisons of the overall performance.

    Attributes
    ----------
    systems : tuple of BiasedSystem
        In the order of paper 1's tables.
    overall : Comparisons
        The comparisons for the overall performance of every system.
    """

    systems: tuple[BiasedSystem, ...]
    overall: Comparisons = field(repr=False)

    @checked
    def measures(
        self,
        at: OperatingPoint = at_fmr(1e-3),  # noqa: B008 - frozen
        measures: Measure | Sequence[Measure] = "all",
        *,
        alpha: float = 0.5,
        zero_policy: ZeroPolicy | float = "keep",
    ) -> tuple[SystemMeasure, ...]:
        """Compute fairness measures of all systems.

        Parameters
        ----------
        at, measures, alpha, zero_policy
            As in `BiasedSystem.measures`.

        Returns
        -------
        tuple of SystemMeasure
        """
        overall = threshold_free(self.overall)
        options = at, measures, alpha, zero_policy
        return tuple(found for system in self.systems for found in system._measured(overall, *options))

    @checked(takes=measures)
    def to_frame(self, backend: frames.Backend | None = None, **options: Any) -> Any:
        """Return one row for each measure of a system, as a data frame.

        Parameters
        ----------
        backend : {"pandas", "polars", "pyarrow"}, optional
            By default the first of these that is installed.
        **options
            Passed to `measures`.

        Returns
        -------
        data frame
        """
        return frames.build(columns_of(self.measures(**options)), backend)


@checked
def biased_system(
    ratios: str | Sequence[float],
    *,
    kind: ErrorRate = "fmr",
    rate: float = 1e-3,
    at: float = 0.95,
    n_mated: int = 3000,
    n_nonmated: int = 3000,
    overall_fmr: float = 1e-4,
    overall_mated: int = 12_000,
    overall_nonmated: int = 600_000,
    n_steps: int = 1000,
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
    family = _family(
        [("", kind, _written(ratios))], _GroupSets(rate, at, n_mated, n_nonmated),
        _OverallSet(overall_fmr, overall_mated, overall_nonmated), n_steps, rng, n_threads, progress,
    )  # fmt: skip
    return family.systems[0]


@checked
def scenario_family(
    tables: str | Sequence[str] = "all",
    *,
    rate: float = 1e-3,
    at: float = 0.95,
    n_mated: int = 3000,
    n_nonmated: int = 3000,
    overall_fmr: float = 1e-4,
    overall_mated: int = 12_000,
    overall_nonmated: int = 600_000,
    n_steps: int = 1000,
    rng: seeds.Seed = None,
    n_threads: int | None = None,
    progress: bool | Callable[[int, int], None] = False,
) -> ScenarioFamily:
    """Make all 44 systems of paper 1's tables IV to VIII.

    Parameters
    ----------
    tables : "all" or sequence of {"IV", "V", "VI", "VII", "VIII"}
        The tables whose systems to make.
    rate, at, n_mated, n_nonmated, overall_fmr, overall_mated, overall_nonmated, n_steps, rng, n_threads, progress
        As in `biased_system`. Systems with groups of one ratio and kind share these groups' sets.

    Returns
    -------
    ScenarioFamily

    Raises
    ------
    InputError
        As `biased_system` does.

    Warns
    -----
    TargetMissedWarning
        As `synthesize` does.

    Examples
    --------
    >>> import fastfair as ff
    >>> family = ff.scenario_family(["V"], overall_mated=1000, overall_nonmated=10_000, rng=0)
    >>> [system.ratios for system in family.systems]
    ['1:1:2:2', '1:1:2:3', '1:1:2:5', '1:1:3:3', '1:1:3:5', '1:1:5:5']
    """
    names = (
        list(TABLES) if isinstance(tables, str) and tables == "all" else [tables] if isinstance(tables, str) else tables
    )
    wanted = []
    for name in names:
        kind, systems = TABLES[validation.choice("tables", name, TABLES)]
        wanted += [(name, kind, ratios) for ratios in systems]
    if not wanted:
        raise InputError(f"tables is empty: name some of {', '.join(TABLES)}")
    of_groups = _GroupSets(rate, at, n_mated, n_nonmated)
    overall = _OverallSet(overall_fmr, overall_mated, overall_nonmated)
    return _family(wanted, of_groups, overall, n_steps, rng, n_threads, progress)


class _GroupSets(NamedTuple):
    """The sets of the groups, as `biased_system` describes them."""

    rate: float
    at: float
    n_mated: int
    n_nonmated: int


class _OverallSet(NamedTuple):
    """The set for the overall performance, as `biased_system` describes it."""

    fmr: float
    n_mated: int
    n_nonmated: int


def _family(
    wanted: Sequence[tuple[str, str, str]],
    of_groups: _GroupSets,
    of_all: _OverallSet,
    n_steps: int,
    rng: seeds.Seed,
    n_threads: int | None,
    progress: bool | Callable[[int, int], None],
) -> ScenarioFamily:
    """Make systems of given table, kind and ratios."""
    unit = validation.positive("rate", of_groups.rate)
    seed = seeds.fixed(rng)
    overall_mated = validation.count("overall_mated", of_all.n_mated, 1)
    overall_nonmated = validation.count("overall_nonmated", of_all.n_nonmated, 1)
    require_memory(overall_mated, overall_nonmated, validation.count("n_steps", n_steps, 1), 1)
    parsed = [(table, kind, ratios, _parsed(ratios)) for table, kind, ratios in wanted]
    sets: dict[tuple[str, float], Synthesis] = {}
    for number, kind in enumerate(KINDS):
        factors = sorted({factor for _, of_kind, _, numbers in parsed if of_kind == kind for factor in numbers})
        if factors:
            made = synthesize_each(
                of_groups.n_mated, of_groups.n_nonmated, kind, [factor * unit for factor in factors], at=of_groups.at,
                n_steps=n_steps, rng=_child(seed, number),
                n_threads=n_threads, progress=progress,
            )  # fmt: skip
            sets |= {(kind, factor): one for factor, one in zip(factors, made, strict=True)}
    overall = synthesize_each(
        overall_mated, overall_nonmated, "fmr", [of_all.fmr], n_steps=n_steps, rng=_child(seed, len(KINDS)),
        n_threads=n_threads,
    )[0].comparisons()  # fmt: skip
    systems = tuple(
        BiasedSystem(
            ratios, kind, _together(numbers, [sets[kind, factor] for factor in numbers]), overall,
            tuple(sets[kind, factor] for factor in numbers), table,
        )
        for table, kind, ratios, numbers in parsed
    )  # fmt: skip
    return ScenarioFamily(systems, overall)


def _child(seed: int | np.random.SeedSequence, number: int) -> np.random.SeedSequence:
    """Make a seed of its own for each kind of sets, the same whatever else is made."""
    parent = seed if isinstance(seed, np.random.SeedSequence) else np.random.SeedSequence(seed)
    return np.random.SeedSequence(parent.entropy, spawn_key=(*parent.spawn_key, number))


def _written(ratios: str | Sequence[float]) -> str:
    if isinstance(ratios, str):
        return ratios
    if not isinstance(ratios, Sequence | np.ndarray):
        raise InputError(
            f"ratios must be numbers with colons between them, as in '1:1:3:5', or in a list, not {ratios!r}"
        )
    return ":".join(f"{validation.positive('ratios', number):.12g}" for number in ratios)


def _parsed(ratios: str) -> tuple[float, ...]:
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


def _together(numbers: Sequence[float], sets: Sequence[Synthesis]) -> Comparisons:
    """Make one group of each set."""
    places = len(str(len(numbers)))  # so that labels sort in order
    labels = [f"{k + 1:0{places}} (x {number:g})" for k, number in enumerate(numbers)]
    return Comparisons(
        np.concatenate([made.distances for made in sets]),
        np.concatenate([made.mated for made in sets]),
        reference_group=np.repeat(labels, [made.mated.size for made in sets]),
        score_kind="distance",
    )


def draw_systems(measures: Sequence[SystemMeasure], columns: int = 4) -> Figure:
    """Draw each measure over systems in the order given, in a panel of its own; tables of the paper lie apart."""
    figures = validation.require("matplotlib.figure", "cli", "drawing")
    systems = list(dict.fromkeys((one.table, one.kind, one.ratios) for one in measures))
    tables = list(dict.fromkeys(table for table, _, _ in systems))
    places = {system: k + 2 * tables.index(system[0]) for k, system in enumerate(systems)}
    found: dict[str, dict[int, float]] = {}
    for one in measures:
        if one.group is None:
            found.setdefault(one.measure, {})[places[one.table, one.kind, one.ratios]] = one.value
    rows = -(-len(found) // columns)
    figure: Figure = figures.Figure(figsize=(2.6 * columns, 1.7 * rows + 0.6), layout="constrained")
    axes = figure.subplots(rows, columns, sharex=True, squeeze=False).ravel()
    for ax, (name, values) in zip(axes, found.items(), strict=False):
        ax.plot(list(values), list(values.values()), ".", color=USUAL)
        ax.set_title(printed_name(name), fontsize="small", loc="left")
        ax.tick_params(labelsize="x-small")
        ax.grid(alpha=0.3)
        middles = [np.mean([places[system] for system in systems if system[0] == table]) for table in tables]
        ax.set_xticks(middles, tables)
    for ax in axes[len(found) :]:
        ax.set_visible(False)
    figure.supxlabel("Systems, by table of the paper", fontsize="small")
    return figure


def figures_of_scores(
    scores: Mapping[str, Comparisons], climbed: Sequence[Any], measures: Sequence[SystemMeasure]
) -> dict[str, Figure]:
    """Draw what was synthesized: curves and scores of each file, the steps of each climb, and measures of systems.

    climbed: the `Synthesis` of each set.
    """
    figures: dict[str, Figure | None] = {}
    for name, comparisons in scores.items():
        evaluation = evaluate(comparisons, (), (), metrics="eer", n_resamples=0)
        for kind, ax in (("det", evaluation.plot_det()), ("distributions", evaluation.plot_scores())):
            figures[f"{name}_{kind}"] = ax.get_figure(root=True)
        if evaluation.groups:
            figures[f"{name}_distributions_by_group"] = evaluation.plot_groups("scores")
    if climbed:
        figures["steps"] = _steps(climbed)
    if len({(one.table, one.ratios) for one in measures}) > 1:
        figures["measures"] = draw_systems(measures)
    return {name: figure for name, figure in figures.items() if figure is not None}


def _steps(climbed: Sequence[Any]) -> Figure | None:
    width, height = _STEPS_SIZE
    ax = new_axes((width, height + 0.18 * len(climbed)))
    for k, made in enumerate(climbed):
        rate = f"{made.kind.upper()} {per_cent(made.target)} at {'TMR' if made.kind == 'fmr' else 'TNMR'} {made.at:g}"
        made.plot(ax, label=rate, **line_style(k))
    legend_below(ax, ax.get_lines())
    return ax.get_figure(root=True)
