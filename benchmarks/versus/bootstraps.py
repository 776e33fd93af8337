"""Rows of bootstraps on VoxCeleb1-H; ours draws 2,000 replicates of subjects with both threads."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import fastfair as ff
from benchmarks._data import comparisons_of_subjects, labelled_columns
from fastfair._lib import seeds
from fastfair.evaluation.result import Evaluation
from fastfair.evaluation.system_comparison import SystemComparison
from fastfair.resampling.engine import Metrics, Resampler
from fastfair.resampling.units import BLOCK

from .clock import Clocked, clocked, take_turns
from .common import Trials, must_agree, scratch_folder, versions, voxceleb1_h
from .environments import CONFIDENCE_INTERVALS, FAIRLEARN, SCIKIT_LEARN
from .numpy_bootstrap import NumpyBootstrap
from .processes import Worker
from .rows import Against, Measurement, Row
from .targets import AtLeast, AtMost, in_units

_N, _MANY = 2000, 5000  # replicates
_FMRS = (1e-4, 3e-4, 1e-3, 3e-3, 1e-2)


def _evaluate(
    comparisons: ff.Comparisons,
    at: Sequence[ff.OperatingPoint] = (),
    metrics: Sequence[str] = (),
    measures: str | Sequence[str] = (),
    **options: Any,
) -> Evaluation:
    with warnings.catch_warnings():
        warnings.simplefilter(
            "ignore", ff.errors.NarrowIntervalsWarning
        )  # of small groups; of trials
        return ff.evaluate(
            comparisons,
            at=list(at),
            metrics=metrics,
            measures=measures,
            **{"n_resamples": _N, "rng": 0} | options,
        )


def _eer_alone(comparisons: ff.Comparisons, **options: Any) -> Evaluation:
    return _evaluate(comparisons, metrics=["eer"], **options)


def _shared(run: Clocked, replicates: int, without: Clocked | None = None) -> Clocked:
    """Return the seconds of one replicate, without what is done once where that is not little
    beside them."""
    return lambda: (run() - (without() if without else 0)) / replicates


def _spread_of(comparisons: ff.Comparisons, **options: Any) -> float:
    return float(np.std(_eer_alone(comparisons, **options).replicates("eer"), ddof=1))


def _agree_on_eer(theirs: float, comparisons: ff.Comparisons) -> None:
    apart = abs(theirs - ff.eer(comparisons).value)
    must_agree(apart <= 1e-12, f"EERs lie {apart:g} apart")


def _agree_on_error(theirs: float, ours: float, replicates: int) -> None:
    """Compare standard errors, each of which is itself known to one in the root of twice its
    replicates."""
    allowed = 4 * np.sqrt(1 / (2 * replicates) + 1 / (2 * _N))
    must_agree(abs(theirs / ours - 1) <= allowed, f"standard errors {theirs:g} against {ours:g}")


# Other tools


def against_confidence_intervals() -> Measurement:
    trials = Trials.of(voxceleb1_h())
    comparisons = trials.without_groups()
    with scratch_folder() as folder:
        trials.save(folder)
        with Worker(CONFIDENCE_INTERVALS.python(), "confidence_intervals_eer.py", folder) as worker:
            worker.save("four-replicates")
            _agree_on_eer(np.load(folder / "four-replicates.npy")[0], comparisons)
            seconds = take_turns(
                {
                    "ours": _shared(clocked(lambda: _eer_alone(comparisons)), _N),
                    "theirs": _shared(worker.clocked("four-replicates"), 4, worker.clocked("eer")),
                },
                rounds=5,
            )
            about = versions(worker)
    return Measurement(
        seconds["ours"],
        seconds["theirs"],
        "EER",
        about,
        remarks="theirs draws trials inside each drawn speaker as well, so intervals differ",
    )


@contextmanager
def _scipy(trials: Trials) -> Iterator[tuple[Worker, Path]]:
    with scratch_folder() as folder:
        trials.save(folder)
        with Worker(SCIKIT_LEARN.python(), "scipy_bootstrap.py", folder) as worker:
            worker.save("eer")
            for theirs in np.load(folder / "eer.npy"):
                _agree_on_eer(theirs, trials.without_groups())
            yield worker, folder


_SCIPY_METRICS = {
    "sorting": "NumPy sort and cumulative sums",
    "roc_curve": "scikit-learn roc_curve",
}


def against_scipy() -> Measurement:
    trials = Trials.of(voxceleb1_h())
    comparisons = trials.without_groups()
    with _scipy(trials) as (worker, folder):
        worker.save("hundred")
        theirs, ours = (
            float(np.load(folder / "hundred.npy")),
            _spread_of(comparisons, unit="comparison"),
        )
        _agree_on_error(theirs, ours, 100)
        sides = {"ours": _shared(clocked(lambda: _eer_alone(comparisons)), _N)}
        sides |= {metric: _shared(worker.clocked(metric), 6) for metric in _SCIPY_METRICS}
        seconds = take_turns(sides, rounds=7)
        about = versions(worker)
    faster, remarks, details = _faster(seconds, _SCIPY_METRICS)
    return Measurement(
        seconds["ours"],
        seconds[faster],
        f"EER; its standard error over trials, {theirs:.2g} against {ours:.2g}",
        about,
        remarks=f"{remarks}; standard error over subjects {_spread_of(comparisons):.2g}",
        details=details,
    )


def _faster(
    seconds: dict[str, list[float]], variants: dict[str, str]
) -> tuple[str, str, dict[str, float]]:
    """Name the fastest of a peer's variants, and say how many times ours each takes."""
    best = {name: min(seconds[name]) for name in variants}
    ours = min(seconds["ours"])
    remarks = ", ".join(f"{text} {best[name] / ours:,.0f} x" for name, text in variants.items())
    return (
        min(best, key=best.__getitem__),
        remarks,
        {f"theirs_s {name}": value for name, value in best.items()},
    )


def everything_against_scipy() -> Measurement:
    comparisons = voxceleb1_h()
    points = [ff.at_fmr(fmr) for fmr in _FMRS]

    def everything(metrics: Sequence[str] = ("eer", "min_dcf")) -> Evaluation:
        return _evaluate(comparisons, points, metrics, "all")

    alone = _eer_alone(comparisons)
    _agree_on_replicates(
        everything(), alone, [("eer", group, None) for group in (None, *comparisons.groups)]
    )
    with _scipy(Trials.of(comparisons)) as (worker, _):
        sides = {
            "ours": clocked(everything),
            "with Cllr": clocked(lambda: everything(("eer", "min_dcf", "cllr"))),
        }
        sides |= {metric: worker.clocked(metric) for metric in _SCIPY_METRICS}
        seconds = take_turns(sides, rounds=7)
        about = versions(worker)
    faster, _, details = _faster(seconds, _SCIPY_METRICS)
    with_cllr, slower = min(seconds["with Cllr"]), max(details.values())
    return Measurement(
        seconds["ours"],
        seconds[faster],
        "EER; its replicates are those of a run for it alone",
        about,
        remarks=(
            f"ours with Cllr as well {with_cllr:.2f} s, theirs with the slower metric"
            f" {slower:.2f} s"
        ),
        details=details | {"ours_s with Cllr": with_cllr},
    )


def _agree_on_replicates(
    found: Evaluation, alone: Evaluation, names: Sequence[tuple[str, str | None, Any]]
) -> None:
    for name in names:
        same = np.array_equal(found.replicates(*name), alone.replicates(*name), equal_nan=True)
        must_agree(same, f"replicates of {name} depend on what else is asked")


def against_fairlearn() -> Measurement:
    comparisons = voxceleb1_h()
    trials = Trials.of(comparisons)
    threshold = ff.rates(comparisons, ff.at_fmr(1e-3)).threshold
    point = ff.at_threshold(threshold)
    found = ff.rates(comparisons, point)
    with scratch_folder() as folder:
        trials.save(folder)
        np.save(folder / "accepted.npy", trials.scores >= threshold)
        with Worker(FAIRLEARN.python(), "fairlearn_rates.py", folder) as worker:
            for variant, ours in (
                ("overall", np.stack((found.fmr, found.fnmr))),
                ("by_group", np.stack((found.group_fmr, found.group_fnmr), axis=-1)),
            ):
                worker.save(variant)
                theirs = np.load(folder / f"{variant}.npy", allow_pickle=True).astype(float)
                must_agree(np.allclose(theirs, ours, rtol=0, atol=1e-12), f"rates, {variant}")
            seconds = take_turns(
                {
                    "ours": _shared(clocked(lambda: _evaluate(comparisons, [point])), _N),
                    "theirs": _shared(
                        worker.clocked("two-replicates"), 2, worker.clocked("by_group")
                    ),
                },
                rounds=3,
            )
            about = versions(worker)
    return Measurement(
        seconds["ours"],
        seconds["theirs"],
        f"both rates overall and of {len(comparisons.groups)} groups",
        about,
        remarks=(
            "theirs draws trials, and the minima, maxima, differences and ratios of groups come"
            " with it"
        ),
    )


# NumPy, and ourselves


def against_numpy() -> Measurement:
    trials = Trials.of(voxceleb1_h())
    comparisons = trials.without_groups()
    assert comparisons.subjects is not None
    theirs = NumpyBootstrap(trials, comparisons.subjects.size)
    variants = {
        "curve": (theirs.eer_of_curve, "both rates at every threshold"),
        "bisection": (theirs.eer_by_bisection, "bisection in the sums"),
    }
    weights, ours = _our_replicates(comparisons)
    for eer, text in variants.values():
        apart = max(abs(eer(w) - value) for w, value in zip(weights, ours, strict=True))
        must_agree(apart <= 1e-12, f"EERs of the same weights lie up to {apart:g} apart ({text})")
    rng = np.random.default_rng(0)
    spread = float(np.std([theirs.eer_by_bisection(theirs.draw(rng)) for _ in range(1000)], ddof=1))
    _agree_on_error(
        spread, _spread_of(comparisons, settings=ff.EvaluationSettings(scheme="product")), 1000
    )

    def replicates(variant: str) -> None:
        for _ in range(20):
            variants[variant][0](theirs.draw(rng))

    sides = {"ours": _shared(clocked(lambda: _eer_alone(comparisons)), _N)}
    sides |= {name: _shared(clocked(partial(replicates, name)), 20) for name in variants}
    seconds = take_turns(sides, rounds=11)
    faster, remarks, details = _faster(
        seconds, {name: text for name, (_, text) in variants.items()}
    )
    return Measurement(
        seconds["ours"],
        seconds[faster],
        f"EER of {BLOCK} replicates with the same weights; the standard error over others,"
        f" {spread:.3g}",
        versions(),
        remarks=remarks,
        details=details,
    )


def compare_against_numpy() -> Measurement:
    systems = [ff.datasets.voxceleb1_h(system) for system in ff.datasets.VOXCELEB1_H_SYSTEMS]
    trials = [Trials.of(system) for system in systems]
    first, second = (of_one.without_groups() for of_one in trials)
    assert first.subjects is not None
    theirs = [NumpyBootstrap(of_one, first.subjects.size) for of_one in trials]
    level = 1e-3
    at = ff.at_fmr(level)

    def compare(n_resamples: int = _N, **options: Any) -> SystemComparison:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ff.errors.NarrowIntervalsWarning)
            return ff.compare(
                first, second, at, [], metrics=["eer"], n_resamples=n_resamples, rng=0, **options
            )

    def differences(weights: NDArray[np.int32]) -> NDArray[np.float64]:
        one, other = (np.array(numpy.eer_and_fnmr(weights, level)) for numpy in theirs)
        return one - other

    def of_ours(found: SystemComparison) -> NDArray[np.float64]:
        names: tuple[tuple[Any, ...], ...] = ("eer",), ("fnmr", None, at)
        return np.stack(
            [np.subtract(*(one.replicates(*q) for one in found.evaluations)) for q in names],
            axis=-1,
        )

    ours = of_ours(compare(BLOCK, settings=ff.EvaluationSettings(scheme="product")))
    apart = max(
        np.abs(differences(w) - of_one).max()
        for w, of_one in zip(_our_weights(first), ours, strict=True)
    )
    must_agree(apart <= 1e-12, f"differences with the same weights lie up to {apart:g} apart")
    rng = np.random.default_rng(0)

    def replicates() -> None:
        for _ in range(20):
            differences(theirs[0].draw(rng))

    seconds = take_turns(
        {"ours": _shared(clocked(compare), _N), "theirs": _shared(clocked(replicates), 20)},
        rounds=11,
    )
    return Measurement(
        seconds["ours"],
        seconds["theirs"],
        f"differences of {BLOCK} replicates with the same weights",
        versions(),
        remarks="ours includes intervals and tests",
    )


def _our_weights(comparisons: ff.Comparisons) -> NDArray[np.int32]:
    """Return the subjects' weights of some of our replicates, (64, subjects)."""
    (subjects,) = Resampler(comparisons, (), metrics=Metrics(())).units._draws
    weights = np.empty((subjects.size, BLOCK), np.uint8)
    subjects.fill(0, seeds.stream(0)[0], weights)
    return weights[subjects.row].T.astype(np.int32)


def _our_replicates(comparisons: ff.Comparisons) -> tuple[NDArray[np.int32], NDArray[np.float64]]:
    """Return the subjects' weights of some of our replicates, (64, subjects), and the EERs found
    with them."""
    resampler = Resampler(comparisons, (), scheme="product", metrics=Metrics(("eer",)))
    return (
        _our_weights(comparisons),
        resampler.replicate(BLOCK, seeds.stream(0)[0]).metrics["eer"][0],
    )


def points_against_eer() -> Measurement:
    comparisons = voxceleb1_h()
    plain = Trials.of(comparisons).without_groups()
    points = [ff.at_fmr(fmr) for fmr in _FMRS]
    found = _evaluate(comparisons, points)
    for point in points:
        names = [
            (rate, group, point)
            for rate in ("fmr", "fnmr")
            for group in (None, *comparisons.groups)
        ]
        _agree_on_replicates(found, _evaluate(comparisons, [point]), names)
    seconds = take_turns(
        {
            "ours": clocked(lambda: _evaluate(comparisons, points)),
            "theirs": clocked(lambda: _eer_alone(plain)),
            "setup": clocked(lambda: _evaluate(comparisons, points, n_resamples=BLOCK)),
        },
        rounds=15,
    )
    setup = min(seconds["setup"])
    return Measurement(
        seconds["ours"],
        seconds["theirs"],
        "replicates of each point are those of a run for it alone",
        versions(),
        remarks=f"{in_units(setup)} of ours with {BLOCK} replicates alone",
        details={f"ours_s {BLOCK} replicates": setup},
    )


def measures_against_rates() -> Measurement:
    comparisons, points = voxceleb1_h(), [ff.at_fmr(fmr) for fmr in _FMRS]
    sides = {"ours": "all", "theirs": ()}
    found = {
        side: _evaluate(comparisons, points, measures=measures) for side, measures in sides.items()
    }
    rates = [
        (rate, group, point)
        for rate in ("fmr", "fnmr")
        for group in comparisons.groups
        for point in points
    ]
    _agree_on_replicates(found["ours"], found["theirs"], rates)
    seconds = take_turns(
        {
            side: clocked(partial(_evaluate, comparisons, points, measures=measures, n_threads=1))
            for side, measures in sides.items()
        },
        rounds=15,
    )
    return Measurement(
        seconds["ours"], seconds["theirs"], "replicates of rates are the same", versions()
    )


def groups_against_replicates() -> Measurement:
    """All of 5,000 replicates with 40 groups, against these replicates of rates, EER and minDCF."""
    columns = labelled_columns(600_000, n_groups=40, subjects_per_group=30)
    comparisons, points = ff.Comparisons(**columns), [ff.at_fmr(fmr) for fmr in _FMRS]
    asked: dict[str, Any] = {"metrics": ["eer", "min_dcf"], "n_resamples": _MANY}
    found = _evaluate(comparisons, points, measures="all", **asked)
    key, _ = seeds.stream(0)
    resampler = Resampler(
        comparisons,
        [*points, ff.at_mean_group_eer()],
        metrics=Metrics(("eer", "min_dcf")),
        measured=range(40),
    )
    drawn = resampler.replicate(_MANY, key)
    for k, group in enumerate(comparisons.groups):
        same = found.replicates("fnmr", group, points[0]), drawn.fnmr[0, 1 + k]
        must_agree(np.array_equal(*same), f"replicates of {group}")
    seconds = take_turns(
        {
            "ours": clocked(lambda: _evaluate(comparisons, points, measures="all", **asked)),
            "theirs": clocked(lambda: resampler.replicate(_MANY, key)),
        },
        rounds=7,
    )
    return Measurement(seconds["ours"], seconds["theirs"], "the same replicates", versions())


def sessions_against_people() -> Measurement:
    """Draw people and the days that they share, and people alone, without what is done once."""
    days = {
        "ours": {"n_days": 20},
        "theirs": {},
        "every day": {"n_days": 40, "days_of_each": 40},
    }
    data = {name: comparisons_of_subjects(500_000, **kinds) for name, kinds in days.items()}
    must_agree(ff.eer(data["ours"]).value == ff.eer(data["theirs"]).value, "EERs differ")
    points = [ff.at_fmr(fmr) for fmr in _FMRS[2:]]

    def run(name: str, n_resamples: int) -> Clocked:
        how = {"metrics": ["eer"], "n_resamples": n_resamples, "n_threads": 1}
        return clocked(lambda: _evaluate(data[name], points, **how))

    sides = {(name, n): run(name, n) for name in days for n in (BLOCK, BLOCK + _MANY)}
    rounds = take_turns(sides, rounds=5)
    best = {side: min(taken) for side, taken in rounds.items()}
    seconds = {
        name: [(whole - best[name, BLOCK]) / _MANY for whole in rounds[name, BLOCK + _MANY]]
        for name in days
    }

    def times(name: str, n: int) -> float:
        return best[name, n] / best["theirs", n]

    every_day = min(seconds["every day"]) / min(seconds["theirs"])
    return Measurement(
        seconds["ours"],
        seconds["theirs"],
        "the EER",
        versions(),
        remarks=(
            f"a replicate where everybody comes on each of 40 days {every_day:.2g} times as long;"
            f" `ff.evaluate` with all {_MANY:,} replicates {times('ours', BLOCK + _MANY):.2g} and"
            f" {times('every day', BLOCK + _MANY):.2g} times, of which what is done once"
            f" {times('ours', BLOCK):.2g} and {times('every day', BLOCK):.2g} times"
        ),
    )


ROWS = (
    Row(
        "bootstrap-ci",
        "A replicate of the EER of VoxCeleb1-H, subjects drawn: a 2,000th of `ff.evaluate`, 2"
        " threads",
        "confidence_intervals evaluate_with_conf_int, conditions: the reference's speaker, 1"
        " thread",
        Against.TOOL,
        AtLeast(3000),
        against_confidence_intervals,
    ),
    Row(
        "bootstrap-scipy",
        "A replicate of the EER of VoxCeleb1-H, subjects drawn: a 2,000th of `ff.evaluate`, 2"
        " threads",
        "scipy.stats.bootstrap, trials drawn, 1 thread, the faster of two metrics",
        Against.TOOL,
        AtLeast(1000),
        against_scipy,
    ),
    Row(
        "bootstrap-numpy",
        "A replicate of the EER of VoxCeleb1-H, subjects drawn: a 2,000th of `ff.evaluate`, 2"
        " threads",
        "NumPy, sorted before, subjects drawn, 1 thread, the faster of two ways",
        Against.NUMPY,
        AtLeast(150),
        against_numpy,
        shortfall=(
            "the target was set for NumPy that computes the rates at every threshold; that which"
            " bisects in the sums is twice as fast"
        ),
    ),
    Row(
        "compare-numpy",
        "A replicate of the differences between two systems on VoxCeleb1-H in the EER and in the"
        " FNMR at an FMR of 0.1 %, subjects drawn: a 2,000th of `ff.compare`, 2 threads",
        "NumPy, both systems sorted before and counted with the same weights, 1 thread",
        Against.NUMPY,
        AtLeast(30),
        compare_against_numpy,
    ),
    Row(
        "bootstrap-points",
        "2,000 replicates of both rates at 5 FMRs, overall and of all groups of VoxCeleb1-H",
        "ours, 2,000 replicates of the EER alone, no groups",
        Against.OURS,
        AtMost(3),
        points_against_eer,
        shortfall=(
            "of one thread's processor time replicates take 38 %; the rest is done once for 19"
            " lists of each class: effective sample sizes and the effect of one more subject 16 %,"
            " pairs and lists 15 %, subjects with most errors 14 %, intervals 7 %"
        ),
    ),
    Row(
        "bootstrap-groups",
        "5,000 replicates of all measures, 5 FMRs, EER and minDCF of 40 groups, 600,000"
        " comparisons of 1,200 subjects",
        "ours, these replicates of rates, EER and minDCF alone",
        Against.OURS,
        AtMost(1.3),
        groups_against_replicates,
        shortfall=(
            "of processor time, for each second of replicates inverted tests of measures take 1 s,"
            " which are the measures of nine systems in all replicates: limits hang on the last"
            " system rejected from either end, so that all nine are needed. Measures of the"
            " replicates take 0.2 s, quantiles and notes 0.2 s, what is done once 0.25 s"
        ),
    ),
    Row(
        "bootstrap-measures",
        "2,000 replicates of all measures and both rates at 5 FMRs, of all groups of VoxCeleb1-H, 1"
        " thread",
        "ours, the rates alone",
        Against.OURS,
        AtMost(3),
        measures_against_rates,
    ),
    Row(
        "bootstrap-sessions",
        "A replicate of the EER and of both rates at 3 FMRs of 500,000 comparisons of 2,000 subjects"
        " on 3 of 20 days each: a 5,000th of `ff.evaluate` without what is done once, 1 thread",
        "ours, without sessions",
        Against.OURS,
        AtMost(1.5),
        sessions_against_people,
    ),
    Row(
        "bootstrap-all",
        "2,000 replicates of all measures, 5 FMRs, EER and minDCF of all groups of VoxCeleb1-H",
        "scipy.stats.bootstrap of the EER, 6 replicates, the faster of two metrics",
        Against.TOOL,
        AtMost(1),
        everything_against_scipy,
        shortfall=(
            "theirs is the faster of two metrics, one sort and two sums a replicate. Of one"
            " thread's processor time inverted tests for limits of measures take 40 % of ours,"
            " replicates 22 %, limits where few errors hold thresholds 11 %, other intervals 8 %,"
            " sample sizes 5 %"
        ),
    ),
    Row(
        "bootstrap-fairlearn",
        "A replicate of both rates of all groups of VoxCeleb1-H at a threshold: a 2,000th of"
        " `ff.evaluate`, 2 threads",
        "fairlearn MetricFrame with n_boot, 1 thread",
        Against.TOOL,
        AtLeast(20_000),
        against_fairlearn,
    ),
)
