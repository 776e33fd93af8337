"""`compare`: how systems that scored the same comparisons differ, with intervals from the same
replicates, or data sets that are independent, such as failure counts.
"""

from __future__ import annotations

import inspect
from collections.abc import Mapping, Sequence
from dataclasses import fields, replace
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np

from fastfair._lib import seeds, validation
from fastfair._lib.arguments import Resamples, checked, checked_options
from fastfair._lib.text import shown
from fastfair._lib.warnings import warn
from fastfair._lib.workers import Workers
from fastfair.data import derived
from fastfair.data.checks import LOG_LIKELIHOOD_RATIO
from fastfair.data.comparisons import Comparisons
from fastfair.data.embeddings import Embeddings
from fastfair.data.exclusions import exclusions_of_systems
from fastfair.data.scans import ScannedComparisons
from fastfair.error_rates.operating_points import OperatingPoint
from fastfair.errors import InputError, SharedSubjectsWarning
from fastfair.measures._registry import TRUE_MATCHES, Measure

from .contrasts import (
    ComparedPair,
    ComparedSystem,
    Contrast,
    adjusted_pvalues,
    contrasts_of,
    difference_tests,
    with_shared_quantities,
)
from .counted_rates import AT, counted_evaluation, names_of_decisions, settings_of_counts
from .evaluate import (
    USUAL_METRICS,
    USUAL_POINTS,
    Request,
    as_names,
    compute_on_comparisons,
    evaluate,
    evaluate_request,
    metrics_of_counts,
)
from .failure_counts import FailureCounts
from .result import Evaluation
from .score_tests import UnitCounts
from .system_comparison import SystemComparison

_Scored = Comparisons | ScannedComparisons
_Scores = Comparisons | ScannedComparisons | Embeddings
_System = _Scores | FailureCounts
_Counts = Mapping[str, FailureCounts]
_Several = Sequence[_System] | Mapping[str, _System]
_SETTINGS_OF_SYSTEMS = ("thresholds", "score_kind")  # which each system has of its own


@checked
def compare(
    first: _System | _Several,
    second: _System | None = None,
    at: OperatingPoint | Sequence[OperatingPoint] = USUAL_POINTS,
    measures: Measure | Sequence[Measure] = "all",
    *,
    baseline: str | None = None,
    paired: bool = True,
    common: bool = False,
    n_resamples: Resamples = 2000,
    confidence_level: float = 0.95,
    rng: seeds.Seed = None,
    **options: Any,
) -> SystemComparison:
    """Compare systems that scored the same comparisons, replicate by replicate, or independent
    data sets, such as those of two months or sites.

    Parameters
    ----------
    first, second : Comparisons, ScannedComparisons, Embeddings or FailureCounts
        The same comparisons scored by each system, in any order. They are matched by the samples of
        reference and probe where both systems have these, else by the subjects. Scores may be on
        different scales. Or two systems' vectors of the same samples, row by row, all of whose
        pairs are compared; see Notes. Or counts of one rate, with ``paired=False``. Or `first`
        alone: two or more systems, as a dict by their names, or a list of systems that are called
        "1", "2" and so on. Two systems are called "first" and "second".
    at : OperatingPoint or sequence of OperatingPoint
        Operating points at which rates, and fairness measures of these, are computed. The threshold
        of each is found from all comparisons of each system, and again in every replicate. Repeated
        operating points count once.

        With `at_threshold` it is given, and is the same in all replicates.
    measures : "all" or sequence of str or function
        As in `evaluate`.
    baseline : str, optional
        The name of the system that the others are compared with; by default every two are.

        It is that of a dict or a list.
    paired : bool, default True
        Whether the comparisons are the same. Others are compared as independent ones, in the groups
        that all have.

        See Notes.
    common : bool, default False
        Whether to compare what all systems have, where each lacks some comparisons. Those that are
        left out are counted.
    n_resamples : int, default 2000
        Replicates, the same for all systems that are paired. With 0, differences of rates have intervals in closed
        form, and nothing else is compared.

        See Notes.
    confidence_level : float, default 0.95
        Confidence level of the intervals, in (0, 1).
    rng : None, int, SeedSequence or Generator
        Seed of the random numbers.
    options
        Further keyword arguments of `evaluate`.

    Returns
    -------
    SystemComparison
        Differences and ratios of each pair of systems, with intervals and p-values, of all
        quantities but thresholds and the rates that operating points hold; and rankings.

    Raises
    ------
    InputError
        Where the comparisons or the groups of two systems differ, for a baseline that is none of
        the systems, and as `evaluate` does.

    Warns
    -----
    FewResamplesWarning
        Where no adjusted bootstrap p-value can be as small as one minus the confidence level.

    Notes
    -----
    The difference of two systems varies less than if their data were independent, as comparisons
    that are hard for one system are often hard for the other. Intervals of differences and ratios
    are computed from the systems' own intervals by MOVER [1]_ [2]_, with the correlation of rates
    in closed form, and of the replicates of all else. Each quantity is tested by what keeps its
    level with equal systems:

    - rates by score tests of the paired decisions, with the dyadic-robust variance [3]_ and
      Student's t, and with the influence of thresholds that hold a rate and so are estimates;
    - fairness measures by joint test inversion: both systems are moved to a common unfairness, and
      the p-value is the largest over those that neither rejects [4]_. Where a group of a system has
      no errors, its numbers of errors are drawn anew, independently of the other system's, which
      makes p-values too large where the systems err alike;
    - EERs, costs, and rates where samples are drawn, by `intervals.bootstrap_pvalue`.

    The p-values of groups are adjusted by Holm's procedure, separately for each quantity and
    operating point. With a dict or a list of systems, Holm's procedure runs over all their pairs at
    once. There is one such family for each quantity and operating point for all comparisons, and
    another one for the groups. Each system is evaluated once. The p-value is withheld (NaN) and so
    is the verdict ("withheld", and `note` says why) where no test keeps its level: for a group's
    ratio to the average and other measures that chance moves to either side; for measures where a
    group has no errors and numbers of errors cannot be drawn (samples as units, no errors in any
    group); for EERs and costs with fewer than 10 errors in either system; and for rates at an
    operating point whose threshold rests on fewer than 10 errors. Holm's procedure does not count
    withheld p-values.

    The correlation of two rates in closed form is that of what subjects, and pairs of them, add to
    either. Without replicates (``n_resamples=0``) only rates have intervals and p-values.

    Other comparisons (``paired=False``) have replicates and intervals of their own, and limits of
    differences from these [1]_. The p-value of a rate, EER, area or cost is one minus the level of
    the interval that ends at 0; fairness measures have the test above, of independent replicates. Groups are matched by
    their names; fairness measures are of the groups that all data sets have. People who are in two
    data sets make them alike, so that limits are then too wide rather than too narrow.

    Failure counts have no names of people and of attempts, so that they are compared as independent
    data sets alone, without an operating point. Numbers are those of the same decisions with
    scores, to the last bit.

    Of vectors the pairs near the errors are kept, as many as are needed. Numbers are those of
    `Embeddings.comparisons`, to the last bit, but for what follows from limits of rates without
    errors that rest on pairs not kept, which are wider. `evaluate` says what scans lack, and when
    all pairs are listed. Scans of score files are compared with ``paired=False`` alone, as they do
    not keep which comparison a score is of.

    References
    ----------
    .. [1] Zou and Donner, "Construction of confidence limits about effect measures: A general approach", Statistics in
       Medicine 27 (2008).
    .. [2] Donner and Zou, "Closed-form confidence intervals for functions of the normal mean and standard deviation",
       Statistical Methods in Medical Research 21 (2012).
    .. [3] Aronow, Samii and Assenova, "Cluster-robust variance estimation for dyadic data", Political Analysis 23
       (2015).
    .. [4] Berger and Boos, "P values maximized over a confidence set for the nuisance parameter", Journal of the
       American Statistical Association 89 (1994).

    Examples
    --------
    >>> import fastfair as ff
    >>> who = list("aabbccaabbcc"), list("aabbccbbccaa")
    >>> mated = [1] * 6 + [0] * 6
    >>> good = ff.Comparisons([9, 8, 7, 9, 8, 6, 1, 2, 3, 1, 2, 3], mated, *who)
    >>> bad = ff.Comparisons([5, 3, 4, 2, 5, 1, 1, 2, 3, 1, 2, 3], mated, *who)
    >>> comparison = ff.compare(bad, good, at=ff.at_fmr(0.1), rng=0).contrast("fnmr")
    >>> comparison.first, comparison.second, comparison.difference
    (0.5, 0.0, 0.5)
    >>> several = ff.compare({"bad": bad, "good": good, "same": good}, at=ff.at_fmr(0.1), rng=0)
    >>> [(one.system, one.rank) for one in several.ranking("fnmr")]
    [('good', 1), ('same', 1), ('bad', 3)]

    Data sets of other people, such as those of two months:

    >>> others = list("uuvvwwuuvvww"), list("uuvvwwvvwwuu")
    >>> june = ff.Comparisons([8, 8, 7, 9, 2, 6, 1, 2, 3, 1, 2, 3], mated, *others)
    >>> months = ff.compare({"june": june, "may": good}, at=ff.at_threshold(4), paired=False, rng=0)
    >>> fnmr = months.contrast("fnmr")
    >>> fnmr.verdict, round(fnmr.difference, 2), round(fnmr.low, 2), round(fnmr.high, 2)
    ('undecided', 0.17, -0.56, 0.97)

    Counts of two laboratories:

    >>> labs = {"a": ff.FailureCounts(5, 174, rate="frr"), "b": ff.FailureCounts(21, 180, rate="frr")}
    >>> frr = ff.compare(labs, paired=False).contrast("frr")
    >>> frr.verdict, round(frr.low, 3), round(frr.high, 3)
    ('first', -0.147, -0.031)
    """
    # Options that are left out have the defaults of `evaluate`.
    asked = {
        name: parameter.default
        for name, parameter in inspect.signature(evaluate).parameters.items()
    }
    asked |= checked_options("compare", evaluate, options)
    asked |= {
        "at": at,
        "measures": measures,
        "n_resamples": n_resamples,
        "confidence_level": confidence_level,
    }
    workers = Workers(asked["n_threads"], asked["progress"], asked["executor"]).checked(rng)
    asked |= vars(asked["settings"])
    named = _name_systems(first, second)
    counted = _take_counts(named, asked, is_paired=paired)
    systems: dict[str, _Scores] = {
        name: data.decisions if isinstance(data, FailureCounts) else data
        for name, data in named.items()
    }
    request = Request(
        **{field.name: asked[field.name] for field in fields(Request) if field.name in asked}
    )
    if TRUE_MATCHES in as_names(request.metrics):
        raise InputError(
            "a difference of TMRs is minus that of FNMRs, which are compared: leave"
            ' ⟦metrics="tmr"⟧ out; `check` reads "tar(new) - tar(old) >= -1 %"'
        )
    if baseline is not None:
        if second is not None:
            raise InputError("baseline is for a dict or a list of systems, not for two")
        validation.choice("⟦baseline⟧", baseline, systems)
    if common:
        systems = _keep_common(systems, paired)
    given = list(systems.values())
    seed = seeds.fix_seed(rng)
    if paired and all(isinstance(system, Embeddings) for system in given):
        for system in given[1:]:
            derived.require_the_same_vectors(given[0], system)  # type: ignore[arg-type]
    how = _How(baseline, paired, workers, seed, counted)

    def compared(scored: Sequence[_Scored]) -> SystemComparison:
        return _compare_systems(dict(zip(systems, scored, strict=True)), request, how)

    return compute_on_comparisons(given, request, workers, compared)


def _name_systems(first: _System | _Several, second: _System | None) -> dict[str, _System]:
    """Return the systems by their names."""
    if second is not None:
        if isinstance(first, Mapping | list | tuple):
            raise InputError(
                "second must not be given beside a dict or a list of systems: put it among these"
            )
        return {"first": first, "second": second}  # type: ignore[dict-item]
    if isinstance(first, Mapping | list | tuple) and len(first) < 2:
        raise InputError(
            f"first must be one system, or a dict or a list of at least two, not {shown(first)}"
        )
    if isinstance(first, Mapping):
        return dict(first)
    if isinstance(first, list | tuple):
        return {str(1 + k): system for k, system in enumerate(first)}
    raise InputError("second is missing: give two systems, or a dict or a list of systems as first")


def _take_counts(
    systems: Mapping[str, _System], asked: dict[str, Any], *, is_paired: bool
) -> _Counts:
    """Return the systems that are counts, all or none of them, and ask for what decisions have."""
    counted = {name: data for name, data in systems.items() if isinstance(data, FailureCounts)}
    if not counted:
        return {}
    first, *others = counted
    rate = counted[first].rate_name
    for name in systems:
        if name not in counted:
            raise InputError(
                f"{first!r} holds failure counts and {name!r} does not: make counts of its"
                " comparisons with FailureCounts.from_comparisons"
            )
    for name in others:
        if counted[name].rate_name != rate:
            raise InputError(
                f"the {rate.upper()} of {first!r} was counted, and the"
                f" {counted[name].rate_name.upper()} of {name!r}: give both counts of one rate"
            )
    if is_paired:
        raise InputError(
            "failure counts do not say which attempts are the same: compare them as independent"
            " data sets, with ⟦paired=False⟧. Where they are of the same people, limits of"
            " differences are then too wide rather than too narrow"
        )
    for counts in counted.values():
        asked["metrics"] = metrics_of_counts(
            counts, asked["at"], asked["metrics"], asked["measures"]
        )
    asked["at"] = AT
    if all(counts.totals and not counts.groups for counts in counted.values()):
        asked["n_resamples"] = 0  # limits of totals are exact, and there are no measures
    return counted


def _keep_common(systems: Mapping[str, _Scores], paired: bool) -> dict[str, _Scores]:
    """Keep the comparisons that all systems have."""
    if not paired:
        raise InputError(
            "⟦common=True⟧ is for systems that scored the same comparisons: leave it out, or"
            " ⟦paired=False⟧"
        )
    listed = {name: data for name, data in systems.items() if isinstance(data, Comparisons)}
    if len(listed) < len(systems):
        raise InputError(
            "⟦common=True⟧ needs comparisons in memory: give both systems vectors of the same"
            " samples"
        )
    return dict(derived.shared_comparisons(listed))


class _How(NamedTuple):
    """How systems are compared."""

    baseline: str | None
    is_paired: bool
    workers: Workers
    seed: int | np.random.SeedSequence
    counted: _Counts

    def seed_of(self, k: int) -> int | np.random.SeedSequence:
        """Return the seed of a system: the same for all that are paired."""
        return self.seed if self.is_paired else seeds.child(self.seed, k)

    def pairs(self, names: Sequence[str]) -> list[tuple[int, int]]:
        """Return the positions of systems that are compared."""
        if self.baseline is None:
            return list(combinations(range(len(names)), 2))
        last = names.index(self.baseline)
        return [(k, last) for k in range(len(names)) if k != last]


def _compare_systems(
    scored: Mapping[str, _Scored], request: Request, how: _How
) -> SystemComparison:
    """Compare each pair of systems, or each with the baseline; of scans the comparisons that they
    have kept.
    """
    names = list(scored)
    given = list(scored.values())
    one_by_one = request.unit == "comparison"
    matched = (
        _match_all(given, names, one_by_one=one_by_one)
        if how.is_paired
        else _kept_comparisons(given)
    )
    matched = [data.without_failure_rates() for data in matched]
    request = _ask_same_metrics(request, given, matched)
    if not how.is_paired:
        request = _limit_to_shared_groups(request, names, matched, have_names=not how.counted)
    of_all = UnitCounts(matched[0], request.unit)
    systems: list[ComparedSystem] = []
    for k, (system, comparisons) in enumerate(zip(given, matched, strict=True)):
        whole = system if isinstance(system, ScannedComparisons) else comparisons
        unit = "comparison" if comparisons.is_independent else request.unit
        of_unit = replace(request, unit=unit)
        evaluation = evaluate_request(whole, of_unit, how.workers, how.seed_of(k))
        if evaluation.uncertainty is None:
            comparisons._require("closed forms")
            raise InputError(
                "without replicates, compare needs an operating point and the units of closed"
                ' forms: give at, and subjects or ⟦unit="comparison"⟧; or ⟦n_resamples⟧ of at'
                " least 2"
            )
        counts = of_all if how.is_paired else UnitCounts(comparisons, unit)
        systems.append(ComparedSystem(comparisons, evaluation, counts, how.workers.n_threads))
    rates = {counts.rate_name for counts in how.counted.values()}
    names_of_rates = [name for rate in rates for name in names_of_decisions(rate)]
    systems = with_shared_quantities(systems, names_of_rates or None)
    evaluations: list[Evaluation] = [system.evaluation for system in systems]  # type: ignore[misc]
    settings = {
        name: value
        for name, value in evaluations[0].settings.items()
        if name not in _SETTINGS_OF_SYSTEMS
    }
    if "rng" in settings:
        settings["rng"] = seeds.stream(how.seed)[1]
    settings |= {
        "score_kinds": [system.score_kind for system in given],
        "baseline": how.baseline,
        "paired": how.is_paired,
    }
    pairs = [
        ComparedPair((names[i], names[j]), systems[i], systems[j], how.is_paired)
        for i, j in how.pairs(names)
    ]
    tests = difference_tests(pairs)
    level = settings["confidence_level"]
    adjusted = adjusted_pvalues(systems[0].quantities, tests, 1 - level)
    contrasts: tuple[Contrast, ...] = ()
    for pair, of_pair, pvalues in zip(pairs, tests, adjusted, strict=True):
        contrasts += contrasts_of(pair, of_pair, level, pvalues)
    left_out = exclusions_of_systems(zip(names, evaluations, strict=True))
    made = SystemComparison(
        tuple(names), tuple(evaluations), contrasts, settings, tuple(pairs), left_out=left_out
    )
    return _call_as_counts(made, how.counted) if how.counted else made


def _call_as_counts(comparison: SystemComparison, counted: _Counts) -> SystemComparison:
    """Call the rate of decisions, and measures of it, as counts call them."""
    counts = list(counted.values())
    names = names_of_decisions(counts[0].rate_name)
    return replace(
        comparison,
        evaluations=tuple(map(counted_evaluation, counts, comparison.evaluations)),
        contrasts=tuple(
            replace(row, name=names[row.name], at=None) for row in comparison.contrasts
        ),
        settings=settings_of_counts(comparison.settings, counts[0]),
        left_out=exclusions_of_systems(counted.items()),
    )


def _ask_same_metrics(
    request: Request, given: Sequence[_Scored], matched: Sequence[Comparisons]
) -> Request:
    """Ask for the same metrics of all systems."""
    if {system.score_kind for system in given} == {LOG_LIKELIHOOD_RATIO}:
        return request
    usual = () if any(data.lacks_rate for data in matched) else USUAL_METRICS
    metrics = [
        name
        for metric in as_names(request.metrics)
        for name in (usual if metric == "auto" else (metric,))
    ]
    return replace(request, metrics=metrics)


def _kept_comparisons(scored: Sequence[_Scored]) -> list[Comparisons]:
    return [data.kept if isinstance(data, ScannedComparisons) else data for data in scored]


def _limit_to_shared_groups(
    request: Request,
    names: Sequence[str],
    independent: Sequence[Comparisons],
    *,
    have_names: bool,
) -> Request:
    """Compare fairness measures among the groups that all data sets have, and warn of people who
    are in two of them, where people have names.
    """
    first = independent[0]
    for (name, data), (other_name, other) in combinations(zip(names, independent, strict=True), 2):
        if data.grouping != other.grouping:
            raise InputError(
                f"the groups of {name!r} are by {_attributes_in_words(data)}, and those of {other_name!r} by"
                f" {_attributes_in_words(other)}: give both the same attributes"
            )
        if not data.rates & other.rates:
            mated, nonmated = (other_name, name) if "fmr" in data.rates else (name, other_name)
            raise InputError(
                f"{mated!r} has mated comparisons alone and {nonmated!r} non-mated ones, so that they"
                " have no error rate in common: give both comparisons of one class"
            )
        shared = derived.overlap(data, other) if have_names else ""
        if shared:
            warn(
                f"{name} and {other_name} are compared as independent data sets, but {shared}:"
                " intervals of differences are too wide rather than too narrow",
                SharedSubjectsWarning,
            )
    groups = tuple(
        group for group in first.groups if all(group in data.groups for data in independent)
    )
    has_measures = len(groups) > 1
    return replace(request, among=groups, measures=request.measures if has_measures else ())


def _attributes_in_words(comparisons: Comparisons) -> str:
    return " and ".join(comparisons.grouping) or "no attribute"


def _match_all(
    scored: Sequence[_Scored], names: Sequence[str], *, one_by_one: bool
) -> list[Comparisons]:
    """Number all comparisons like those of the first system."""
    here, *others = _kept_comparisons(scored)
    matched = [here]
    for name, there in zip(names[1:], others, strict=True):
        try:
            matched.append(derived.match(here, there, one_by_one=one_by_one))
        except InputError as error:
            if len(scored) == 2:
                raise
            raise InputError(
                f"of {names[0]!r} (first) and {name!r} (second): {error.marked}"
            ) from None
    return matched
