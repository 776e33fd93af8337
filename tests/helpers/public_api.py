"""Every public function, constructor and method of the library, by name."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from typing import Any

import fastfair as ff
from fastfair import datasets, intervals, measures
from fastfair.error_rates import curves, rates

# Made by the library, of what it has checked: their methods are at the door, their constructors are not.
RESULTS = {
    ff.ApplicationCost, ff.AppliedRate, ff.AppliedThreshold, ff.AttributeTest, ff.BayesError, ff.BiasedSystem,
    ff.CalibratedScores, ff.Calibration, ff.Check, ff.CheckedQuantity, ff.Claim, ff.ClaimedRate, ff.Contrast,
    ff.CostDifference, ff.CostMeasure, ff.CoverageExperiment, ff.DiscardArea, ff.DiscardCurve, ff.DiscardedRate,
    ff.Effect, ff.ErrorModel, ff.Evaluation, ff.ExpectedError, ff.ExpectedPerformance, ff.FairnessBand, ff.FmrPlan,
    ff.FmrStudy, ff.FmrTest, ff.FnmrTest, ff.GroupTest, ff.MarginOfError, ff.MarginPlan, ff.PairedEvaluation,
    ff.PowerPlan, ff.Quantity, ff.RankedSystem, ff.RateAtThreshold, ff.RatesOverThresholds, ff.RatioCost, ff.RocBand,
    ff.ScannedComparisons, ff.ScenarioFamily, ff.ShrunkenRates, ff.StratifiedDifference, ff.StratifiedRate,
    ff.StratifiedRates, ff.SubjectsPlan, ff.Synthesis, ff.SystemComparison, ff.Tippett, ff.TrainedTransform,
    ff.WorstComparisons, curves.ActDcf, curves.Det, curves.Eer, curves.MinDcf, curves.Roc,
    measures.Estimand, rates.Rates,
}  # fmt: skip
CLASSES = RESULTS | {value for name in ff.__all__ if inspect.isclass(value := getattr(ff, name))}
MODULES = (ff, measures, intervals, datasets)


def _walk() -> Iterator[tuple[str, Callable[..., Any]]]:
    for module in MODULES:
        for name in module.__all__:
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
    """Return the names of what a function is given, but for the object or class it belongs to and `**`."""
    parameters = inspect.signature(function).parameters.values()
    return [p.name for p in parameters if p.kind is not p.VAR_KEYWORD and p.name not in ("self", "cls")]
