"""Every public function, constructor and method of the library, by name."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from typing import Any

import fastfair as ff
from fastfair import datasets, intervals, measures
from fastfair.bands.curve import FairnessBand, RocBand
from fastfair.calibration.calibrate import CalibratedScores, TrainedTransform
from fastfair.calibration.evaluate_calibration import (
    ApplicationCost,
    BayesError,
    Calibration,
    CostDifference,
    CostMeasure,
    RatioCost,
    Tippett,
)
from fastfair.claims import (
    Check,
    CheckedQuantity,
    Claim,
    ClaimedRate,
    ClauseResult,
    History,
    PastQuantity,
    ProfileCheck,
)
from fastfair.claims.plans import RequirementPlan
from fastfair.error_models.error_model import (
    AttributeTest,
    CovariateCurve,
    Effect,
    ErrorModel,
    StratifiedDifference,
    StratifiedRate,
    StratifiedRates,
)
from fastfair.error_rates import rates, score_metrics
from fastfair.evaluation.attacks import AttackRate, AttackRates
from fastfair.evaluation.attributes import AttributeEvaluations
from fastfair.evaluation.contrasts import Contrast, RankedSystem
from fastfair.evaluation.counted_rates import CountedRates
from fastfair.evaluation.result import Evaluation
from fastfair.evaluation.system_comparison import SystemComparison
from fastfair.evaluation.transactions import TransactionRate, TransactionRates
from fastfair.evaluation.worst_comparisons import WorstComparisons
from fastfair.group_tests.equal_rates import GroupTest, MarginOfError
from fastfair.identification.compare_searches import SearchComparison, SearchDifference
from fastfair.identification.estimator import IdentifiedRate
from fastfair.identification.result import Identification, OwnThresholds
from fastfair.planning.fmr import FmrPlan, FmrStudy
from fastfair.planning.fnmr import GroupsPlan
from fastfair.quality import DiscardArea, DiscardCurve, DiscardedRate
from fastfair.small_groups import ShrunkenRates
from fastfair.synthesis.coverage import CoverageExperiment
from fastfair.synthesis.hill_climbing import BiasedSystem, Synthesis
from fastfair.thresholds import (
    AppliedRate,
    AppliedThreshold,
    ExpectedError,
    ExpectedPerformance,
)
from fastfair.uncertainty.quantities import Quantity

# Made by the library, of what it has checked: their methods are at the door, their constructors are
# not.
RESULTS = {
    ApplicationCost, AppliedRate, AppliedThreshold, AttackRate, AttackRates,
    AttributeEvaluations, AttributeTest, BayesError, BiasedSystem,
    CalibratedScores, Calibration, Check, CheckedQuantity, Claim, ClaimedRate, ClauseResult, Contrast,
    CostDifference, CostMeasure, CountedRates, CovariateCurve, CoverageExperiment,
    DiscardArea, DiscardCurve, DiscardedRate,
    Effect, ErrorModel, Evaluation, ExpectedError, ExpectedPerformance, FairnessBand, FmrPlan,
    FmrStudy, GroupTest, GroupsPlan, History, IdentifiedRate, Identification,
    MarginOfError, OwnThresholds, PastQuantity, ProfileCheck, Quantity, RankedSystem, RatioCost,
    RequirementPlan, RocBand,
    ff.ScannedComparisons, ff.Searches, SearchComparison, SearchDifference, ShrunkenRates, StratifiedDifference,
    StratifiedRate,
    StratifiedRates, Synthesis, SystemComparison, Tippett, TrainedTransform, TransactionRate, TransactionRates,
    WorstComparisons, score_metrics.ActDcf, score_metrics.Det, score_metrics.Eer, score_metrics.MinDcf,
    score_metrics.Roc,
    measures.Estimand, rates.Rates,
}  # fmt: skip
CLASSES = RESULTS | {value for name in ff.__all__ if inspect.isclass(value := getattr(ff, name))}
CLASSES |= {ff.synthesis.Binormal}
MODULES = (ff, measures, intervals, datasets, ff.synthesis, ff.calibration, ff.thresholds)
_OF_THRESHOLDS = (
    "expected_performance_curve", "own_thresholds", "with_own_thresholds",
)  # fmt: skip  # others stand at the top as well


def _walk() -> Iterator[tuple[str, Callable[..., Any]]]:
    for module in MODULES:
        for name in getattr(module, "__all__", _OF_THRESHOLDS):
            if inspect.isfunction(value := getattr(module, name)):
                yield f"{module.__name__}.{name}", value
    for kind in sorted(CLASSES, key=lambda one: one.__name__):
        if kind not in RESULTS:
            yield kind.__name__, kind.__init__
        for base in kind.__mro__[:-1]:
            for name, value in vars(base).items():
                function = value.__func__ if isinstance(value, classmethod) else value
                if not name.startswith("_") and inspect.isfunction(function):
                    yield f"{kind.__name__}.{name}", function


FUNCTIONS = dict(_walk())


def arguments(function: Callable[..., Any]) -> list[str]:
    """Return the names of what a function is given, but for the object or class it belongs to and
    `**`."""
    parameters = inspect.signature(function).parameters.values()
    return [
        p.name for p in parameters if p.kind is not p.VAR_KEYWORD and p.name not in ("self", "cls")
    ]
