"""`compare`: how systems that scored the same comparisons differ, with intervals from the same replicates."""

from __future__ import annotations

import inspect
from collections.abc import Mapping, Sequence
from dataclasses import fields, replace
from typing import Any, overload

from fastfair._lib import seeds, validation
from fastfair._lib.arguments import Resamples, checked, checked_options
from fastfair._lib.text import shown
from fastfair._lib.workers import Workers
from fastfair.data import derived
from fastfair.data.checks import LOG_LIKELIHOOD_RATIO
from fastfair.data.comparisons import Comparisons
from fastfair.data.embeddings import Embeddings
from fastfair.data.scans import ScannedComparisons
from fastfair.error_rates.operating_points import OperatingPoint, at_fmr
from fastfair.errors import InputError
from fastfair.measures._registry import Measure

from .contrasts import ComparedSystem, PairContrasts, difference_tests, pairs_of, places_of
from .evaluate import USUAL_METRICS, EvaluationSettings, Request, as_names, evaluate, on_comparisons
from .result import Evaluation
from .system_comparison import MethodOfContrasts, PairedEvaluation, SystemComparison

_Scored = Comparisons | ScannedComparisons
_System = Comparisons | ScannedComparisons | Embeddings
_Several = Sequence[_System] | Mapping[str, _System]
_Points = OperatingPoint | Sequence[OperatingPoint]
_POINTS = (at_fmr(1e-3),)
_Measures = Measure | Sequence[Measure]
_OF_WORKERS = ("n_threads", "progress", "executor")
_OF_ONE = ("thresholds", "score_kind")  # settings of evaluations that each system has of its own


@overload
def compare(
    first: _System, second: _System, at: _Points = _POINTS, measures: _Measures = "all", **options: Any
) -> PairedEvaluation: ...
@overload
def compare(
    first: _Several, second: None = None, at: _Points = _POINTS, measures: _Measures = "all", **options: Any
) -> SystemComparison: ...
@checked
def compare(
    first: _System | _Several,
    second: _System | None = None,
    at: _Points = _POINTS,
    measures: Measure | Sequence[Measure] = "all",
    *,
    baseline: str | None = None,
    n_resamples: Resamples = 2000,
    confidence_level: float = 0.95,
    method: MethodOfContrasts = "auto",
    rng: seeds.Seed = None,
    **options: Any,
) -> PairedEvaluation | SystemComparison:
    """Compare systems that scored the same comparisons, replicate by replicate.

    Parameters
    ----------
    first, second : Comparisons, ScannedComparisons or Embeddings
        The same comparisons scored by each system, in any order. They are matched by the samples of reference and
        probe where both systems have these, else by the subjects. Scores may be on different scales. Or two systems'
        vectors of the same samples, row by row, all of whose pairs are compared; see Notes. Or `first` alone: two or
        more systems, as a dict by their names, or a list of systems that are called "1", "2" and so on.
    at : OperatingPoint or sequence of OperatingPoint
        As in `evaluate`; each system has its own threshold.
    measures : "all" or sequence of str or function
        As in `evaluate`.
    baseline : str, optional
        The name of the system that the others, of a dict or a list, are compared with; by default every two are.
    n_resamples : int, default 2000
        Replicates, the same for all systems. With 0, differences of rates have intervals in closed form, and nothing
        else is compared; see Notes.
    confidence_level : float, default 0.95
        Confidence level of the intervals, in (0, 1).
    method : {"auto", "percentile", "basic", "normal", "bca"}
        Method of the intervals. "auto" computes those of differences and ratios from the systems' own intervals of the
        method "auto" of `evaluate`, by MOVER [1]_ [2]_, with the correlation of rates in closed form, and of the
        replicates of all else; the others are made of the replicates of differences and ratios; see
        `intervals.confidence_interval`. The p-values are the same.
    rng : None, int, SeedSequence or Generator
        Seed of the random numbers.
    options
        Further keyword arguments of `evaluate`.

    Returns
    -------
    PairedEvaluation or SystemComparison
        Differences and ratios, with intervals and p-values, of all quantities but thresholds and the rates that
        operating points hold: of two systems, or of each pair of the systems of a dict or a list, with rankings.

    Raises
    ------
    InputError
        Where the comparisons or the groups of two systems differ, for a baseline that is none of the systems, and as
        `evaluate` does.

    Warns
    -----
    FewResamplesWarning
        Where no adjusted bootstrap p-value can be as small as one minus the confidence level.

    Notes
    -----
    The difference of two systems varies less than if their data were independent, as comparisons that are hard for one
    system are often hard for the other. Each quantity is tested by what keeps its level with equal systems:

    - rates by score tests of the paired decisions, with the dyadic-robust variance [3]_ and Student's t, and with the
      influence of thresholds that hold a rate and so are estimates;
    - fairness measures by joint test inversion: both systems are moved to a common unfairness, and the p-value is the
      largest over those that neither rejects [4]_. Where a group of a system has no errors, its numbers of errors are
      drawn anew, independently of the other system's, which makes p-values too large where the systems err alike;
    - EERs, costs, and rates where samples are drawn, by `intervals.bootstrap_pvalue`.

    The p-values of groups are adjusted by Holm's procedure, separately for each quantity and operating point. Of a dict
    or a list of systems those of all pairs are adjusted together: separately for each quantity and operating point, and
    for all comparisons apart from groups. Each system is evaluated once. The
    p-value is withheld (NaN) and so is the verdict ("withheld", and `note` says why) where no test keeps its level:
    for a group's ratio to the average and other measures that chance moves to either side; for measures where a group
    has no errors and numbers of errors cannot be drawn (samples as units, no errors in any group); for EERs and costs
    with fewer than 10 errors in either system; and for rates at an operating point whose threshold rests on fewer than
    10 errors. Holm's procedure does not count withheld p-values.

    The correlation of two rates in closed form is that of what subjects, and pairs of them, add to either. Without
    replicates (``n_resamples=0``) only rates have intervals and p-values.

    Of vectors the pairs near the errors are kept, as many as are needed. Numbers are those of `Embeddings.comparisons`,
    to the last bit, but for what follows from limits of rates without errors that rest on pairs not kept, which are
    wider. `evaluate` says what scans lack, and when all pairs are listed. Scans of score files are not compared, as
    they do not keep which comparison a score is of.

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
    >>> found = ff.compare(bad, good, at=ff.at_fmr(0.1), rng=0).contrast("fnmr")
    >>> found.first, found.second, found.difference
    (0.5, 0.0, 0.5)
    >>> several = ff.compare({"bad": bad, "good": good, "same": good}, at=ff.at_fmr(0.1), rng=0)
    >>> [(one.system, one.rank) for one in several.ranking("fnmr")]
    [('good', 1), ('same', 1), ('bad', 3)]
    """
    options = checked_options("compare", evaluate, options)
    workers = Workers(**{name: options[name] for name in _OF_WORKERS if name in options}).checked(rng)
    options |= {"at": at, "measures": measures, "n_resamples": n_resamples, "confidence_level": confidence_level}
    options |= {"settings": replace(options.get("settings", EvaluationSettings()), method=method)}
    options |= {"rng": seeds.fixed(rng)}
    systems = _named(first, second)
    if baseline is not None:
        if second is not None:
            raise InputError("baseline is for a dict or a list of systems, not for two")
        validation.choice("baseline", baseline, systems)

    def compared(scored: Sequence[_Scored]) -> PairedEvaluation | SystemComparison:
        found = _compared(scored, list(systems), baseline, options)
        return found if second is None else PairedEvaluation._of_pair(found)

    given = list(systems.values())
    if all(isinstance(system, Embeddings) for system in given):
        for system in given[1:]:
            derived.require_the_same_vectors(given[0], system)  # type: ignore[arg-type]
    return on_comparisons(given, _requested(options), workers, compared)


def _named(first: _System | _Several, second: _System | None) -> dict[str, _System]:
    """Return the systems by their names."""
    if second is not None:
        if isinstance(first, Mapping | list | tuple):
            raise InputError("second must not be given beside a dict or a list of systems: put it among these")
        return {"first": first, "second": second}  # type: ignore[dict-item]
    if isinstance(first, Mapping | list | tuple) and len(first) < 2:
        raise InputError(f"first must be one system, or a dict or a list of at least two, not {shown(first)}")
    if isinstance(first, Mapping):
        return dict(first)
    if isinstance(first, list | tuple):
        return {str(1 + k): system for k, system in enumerate(first)}
    raise InputError("second is missing: give two systems, or a dict or a list of systems as first")


def _requested(options: Mapping[str, Any]) -> Request:
    """Return arguments of `evaluate`, with its defaults where there are none."""
    defaults = {name: parameter.default for name, parameter in inspect.signature(evaluate).parameters.items()}
    known = defaults | dict(options)
    known |= vars(known["settings"])
    return Request(**{field.name: known[field.name] for field in fields(Request) if field.name in known})


def _compared(
    scored: Sequence[_Scored], names: Sequence[str], baseline: str | None, options: Mapping[str, Any]
) -> SystemComparison:
    """Compare each pair of systems, or each with the baseline; of scans the comparisons that they have kept."""
    matched = _matched(scored, names, one_by_one=options.get("unit") == "comparison")
    if {system.score_kind for system in scored} != {LOG_LIKELIHOOD_RATIO}:  # all systems have the same metrics
        asked = as_names(options.get("metrics", "auto"))
        metrics = [name for one in asked for name in (USUAL_METRICS if one == "auto" else (one,))]
        options = {**options, "metrics": metrics}
    evaluations: dict[str, Evaluation] = {}
    systems: dict[str, ComparedSystem] = {}
    for name, system, comparisons in zip(names, scored, matched, strict=True):
        without = comparisons.without_failure_rates()
        evaluation = evaluate(system if isinstance(system, ScannedComparisons) else without, **options)
        if evaluation.uncertainty is None:
            comparisons._require("closed forms")
            raise InputError(
                "without replicates, compare needs an operating point and the units of closed forms: give at, and "
                'subjects or unit="comparison"; or n_resamples of at least 2'
            )
        like = next(iter(systems.values()), None)
        evaluations[name], systems[name] = (
            evaluation,
            ComparedSystem(without, evaluation, options.get("n_threads"), like),
        )
    settings = {one: value for one, value in evaluations[names[0]].settings.items() if one not in _OF_ONE}
    settings |= {"score_kinds": [system.score_kind for system in scored], "baseline": baseline}
    pairs = pairs_of(names, baseline)
    tests = dict(zip(pairs, difference_tests(list(systems.values()), places_of(names, pairs)), strict=True))
    contrasts = PairContrasts(systems, tests, settings["confidence_level"], options["settings"].method, evaluations)
    return SystemComparison(tuple(names), tuple(evaluations.values()), contrasts, contrasts.pvalues_adjusted, settings)


def _matched(scored: Sequence[_Scored], names: Sequence[str], *, one_by_one: bool) -> list[Comparisons]:
    """Number all comparisons like those of the first system."""
    here, *others = (one.kept if isinstance(one, ScannedComparisons) else one for one in scored)
    matched = [here]
    for name, there in zip(names[1:], others, strict=True):
        try:
            matched.append(derived.match(here, there, one_by_one=one_by_one))
        except InputError as error:
            if len(scored) == 2:
                raise
            raise InputError(f"of {names[0]!r} (first) and {name!r} (second): {error}") from None
    return matched
