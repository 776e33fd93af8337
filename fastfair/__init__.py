"""Error rates and fairness of biometric verification systems, with confidence intervals and tests.

Names are imported when first used, so that `import fastfair` costs little more than NumPy.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from fastfair._version import __version__

if TYPE_CHECKING:
    from fastfair import datasets, errors, intervals, measures
    from fastfair.bands.fairness import FairnessBand, fairness_band
    from fastfair.bands.roc import RocBand, roc_band
    from fastfair.calibration.calibrate import CalibratedScores, TrainedTransform, calibrate
    from fastfair.calibration.curves import Application, BayesError, Tippett, bayes_error, tippett
    from fastfair.calibration.evaluate_calibration import evaluate_calibration
    from fastfair.calibration.results import ApplicationCost, Calibration, CostDifference, CostMeasure, RatioCost
    from fastfair.claims.check import Check, CheckedQuantity, check
    from fastfair.claims.claim import Claim, ClaimedRate, claim
    from fastfair.data.comparisons import Comparisons
    from fastfair.data.embeddings import Embeddings
    from fastfair.data.named_vectors import NamedVectors
    from fastfair.data.scanned_comparisons import ScannedComparisons
    from fastfair.data.score_normalization import normalize_scores
    from fastfair.error_models.error_model import AttributeTest, Effect, ErrorModel, error_model
    from fastfair.error_models.stratified_rates import (
        StratifiedDifference,
        StratifiedRate,
        StratifiedRates,
        stratified_rates,
    )
    from fastfair.error_rates.curves import act_dcf, cllr, det, eer, min_cllr, min_dcf, roc
    from fastfair.error_rates.operating_points import (
        OperatingPoint,
        at_eer,
        at_fmr,
        at_fnmr,
        at_mean_group_eer,
        at_threshold,
    )
    from fastfair.error_rates.rates import rates
    from fastfair.evaluation.compare import compare
    from fastfair.evaluation.contrasts import Contrast
    from fastfair.evaluation.evaluate import evaluate
    from fastfair.evaluation.paired_result import PairedEvaluation
    from fastfair.evaluation.ranks import RankedSystem
    from fastfair.evaluation.result import Evaluation
    from fastfair.evaluation.system_comparison import SystemComparison
    from fastfair.evaluation.worst_comparisons import WorstComparisons, worst_comparisons
    from fastfair.first_run import warm_up
    from fastfair.group_tests.equal_rates import FmrTest, FnmrTest, GroupTest, fmr_test, fnmr_test
    from fastfair.group_tests.failure_counts import FailureCounts
    from fastfair.group_tests.margins import MarginOfError, margin_of_error
    from fastfair.io.comparisons import read_comparisons
    from fastfair.io.embeddings import read_embeddings, read_named_vectors
    from fastfair.io.failure_counts import read_failure_counts
    from fastfair.io.scan import scan_comparisons
    from fastfair.io.write import write_comparisons
    from fastfair.pages.report import report
    from fastfair.planning.fmr import FmrPlan, FmrStudy, plan_fmr
    from fastfair.planning.fnmr import plan_margin, plan_power, plan_subjects
    from fastfair.planning.plans import MarginPlan, PowerPlan, SubjectsPlan
    from fastfair.quality.discard_curve import DiscardArea, DiscardCurve, DiscardedRate, discard_curve
    from fastfair.small_groups import ShrunkenRates, shrunken_rates
    from fastfair.synthesis.coverage import CoverageExperiment, coverage_experiment
    from fastfair.synthesis.hill_climbing import Synthesis, synthesize, synthesize_each
    from fastfair.synthesis.simulators import (
        Binormal,
        VonMisesFisherIdentities,
        binormal_comparisons,
        correlated_decisions,
        von_mises_fisher_embeddings,
    )
    from fastfair.synthesis.systems import BiasedSystem, ScenarioFamily, biased_system, scenario_family
    from fastfair.thresholds.apply_threshold import AppliedRate, AppliedThreshold, apply_threshold
    from fastfair.thresholds.over_thresholds import (
        ExpectedError,
        ExpectedPerformance,
        RateAtThreshold,
        RatesOverThresholds,
        expected_performance_curve,
        rates_over_thresholds,
    )
    from fastfair.thresholds.own_thresholds import own_thresholds, with_own_thresholds
    from fastfair.uncertainty.quantities import Quantity
    from fastfair.written_results import read_results

_MODULES = ("datasets", "errors", "intervals", "measures")
_HOMES = {
    "Application": "calibration.curves",
    "ApplicationCost": "calibration.results",
    "AppliedRate": "thresholds.apply_threshold",
    "AppliedThreshold": "thresholds.apply_threshold",
    "AttributeTest": "error_models.error_model",
    "BayesError": "calibration.curves",
    "BiasedSystem": "synthesis.systems",
    "Binormal": "synthesis.simulators",
    "CalibratedScores": "calibration.calibrate",
    "Calibration": "calibration.results",
    "Check": "claims.check",
    "CheckedQuantity": "claims.check",
    "Claim": "claims.claim",
    "ClaimedRate": "claims.claim",
    "Comparisons": "data.comparisons",
    "Contrast": "evaluation.contrasts",
    "CostDifference": "calibration.results",
    "CostMeasure": "calibration.results",
    "CoverageExperiment": "synthesis.coverage",
    "DiscardArea": "quality.discard_curve",
    "DiscardCurve": "quality.discard_curve",
    "DiscardedRate": "quality.discard_curve",
    "Effect": "error_models.error_model",
    "Embeddings": "data.embeddings",
    "ErrorModel": "error_models.error_model",
    "Evaluation": "evaluation.result",
    "ExpectedError": "thresholds.over_thresholds",
    "ExpectedPerformance": "thresholds.over_thresholds",
    "FailureCounts": "group_tests.failure_counts",
    "FairnessBand": "bands.fairness",
    "FmrPlan": "planning.fmr",
    "FmrStudy": "planning.fmr",
    "FmrTest": "group_tests.equal_rates",
    "FnmrTest": "group_tests.equal_rates",
    "GroupTest": "group_tests.equal_rates",
    "MarginOfError": "group_tests.margins",
    "MarginPlan": "planning.plans",
    "NamedVectors": "data.named_vectors",
    "OperatingPoint": "error_rates.operating_points",
    "PairedEvaluation": "evaluation.paired_result",
    "PowerPlan": "planning.plans",
    "Quantity": "uncertainty.quantities",
    "RankedSystem": "evaluation.ranks",
    "RateAtThreshold": "thresholds.over_thresholds",
    "RatesOverThresholds": "thresholds.over_thresholds",
    "RatioCost": "calibration.results",
    "RocBand": "bands.roc",
    "ScannedComparisons": "data.scanned_comparisons",
    "ScenarioFamily": "synthesis.systems",
    "ShrunkenRates": "small_groups",
    "StratifiedDifference": "error_models.stratified_rates",
    "StratifiedRate": "error_models.stratified_rates",
    "StratifiedRates": "error_models.stratified_rates",
    "SubjectsPlan": "planning.plans",
    "Synthesis": "synthesis.hill_climbing",
    "SystemComparison": "evaluation.system_comparison",
    "Tippett": "calibration.curves",
    "TrainedTransform": "calibration.calibrate",
    "VonMisesFisherIdentities": "synthesis.simulators",
    "WorstComparisons": "evaluation.worst_comparisons",
    "act_dcf": "error_rates.curves",
    "apply_threshold": "thresholds.apply_threshold",
    "at_eer": "error_rates.operating_points",
    "at_fmr": "error_rates.operating_points",
    "at_fnmr": "error_rates.operating_points",
    "at_mean_group_eer": "error_rates.operating_points",
    "at_threshold": "error_rates.operating_points",
    "bayes_error": "calibration.curves",
    "biased_system": "synthesis.systems",
    "binormal_comparisons": "synthesis.simulators",
    "calibrate": "calibration.calibrate",
    "check": "claims.check",
    "claim": "claims.claim",
    "cllr": "error_rates.curves",
    "compare": "evaluation.compare",
    "correlated_decisions": "synthesis.simulators",
    "coverage_experiment": "synthesis.coverage",
    "det": "error_rates.curves",
    "discard_curve": "quality.discard_curve",
    "eer": "error_rates.curves",
    "error_model": "error_models.error_model",
    "evaluate": "evaluation.evaluate",
    "evaluate_calibration": "calibration.evaluate_calibration",
    "expected_performance_curve": "thresholds.over_thresholds",
    "fairness_band": "bands.fairness",
    "fmr_test": "group_tests.equal_rates",
    "fnmr_test": "group_tests.equal_rates",
    "margin_of_error": "group_tests.margins",
    "min_cllr": "error_rates.curves",
    "min_dcf": "error_rates.curves",
    "normalize_scores": "data.score_normalization",
    "own_thresholds": "thresholds.own_thresholds",
    "plan_fmr": "planning.fmr",
    "plan_margin": "planning.fnmr",
    "plan_power": "planning.fnmr",
    "plan_subjects": "planning.fnmr",
    "rates": "error_rates.rates",
    "rates_over_thresholds": "thresholds.over_thresholds",
    "read_comparisons": "io.comparisons",
    "read_embeddings": "io.embeddings",
    "read_failure_counts": "io.failure_counts",
    "read_named_vectors": "io.embeddings",
    "read_results": "written_results",
    "report": "pages.report",
    "roc": "error_rates.curves",
    "roc_band": "bands.roc",
    "scan_comparisons": "io.scan",
    "scenario_family": "synthesis.systems",
    "shrunken_rates": "small_groups",
    "stratified_rates": "error_models.stratified_rates",
    "synthesize": "synthesis.hill_climbing",
    "synthesize_each": "synthesis.hill_climbing",
    "tippett": "calibration.curves",
    "von_mises_fisher_embeddings": "synthesis.simulators",
    "warm_up": "first_run",
    "with_own_thresholds": "thresholds.own_thresholds",
    "worst_comparisons": "evaluation.worst_comparisons",
    "write_comparisons": "io.write",
}

__all__ = [
    "Application",
    "ApplicationCost",
    "AppliedRate",
    "AppliedThreshold",
    "AttributeTest",
    "BayesError",
    "BiasedSystem",
    "Binormal",
    "CalibratedScores",
    "Calibration",
    "Check",
    "CheckedQuantity",
    "Claim",
    "ClaimedRate",
    "Comparisons",
    "Contrast",
    "CostDifference",
    "CostMeasure",
    "CoverageExperiment",
    "DiscardArea",
    "DiscardCurve",
    "DiscardedRate",
    "Effect",
    "Embeddings",
    "ErrorModel",
    "Evaluation",
    "ExpectedError",
    "ExpectedPerformance",
    "FailureCounts",
    "FairnessBand",
    "FmrPlan",
    "FmrStudy",
    "FmrTest",
    "FnmrTest",
    "GroupTest",
    "MarginOfError",
    "MarginPlan",
    "NamedVectors",
    "OperatingPoint",
    "PairedEvaluation",
    "PowerPlan",
    "Quantity",
    "RankedSystem",
    "RateAtThreshold",
    "RatesOverThresholds",
    "RatioCost",
    "RocBand",
    "ScannedComparisons",
    "ScenarioFamily",
    "ShrunkenRates",
    "StratifiedDifference",
    "StratifiedRate",
    "StratifiedRates",
    "SubjectsPlan",
    "Synthesis",
    "SystemComparison",
    "Tippett",
    "TrainedTransform",
    "VonMisesFisherIdentities",
    "WorstComparisons",
    "__version__",
    "act_dcf",
    "apply_threshold",
    "at_eer",
    "at_fmr",
    "at_fnmr",
    "at_mean_group_eer",
    "at_threshold",
    "bayes_error",
    "biased_system",
    "binormal_comparisons",
    "calibrate",
    "check",
    "claim",
    "cllr",
    "compare",
    "correlated_decisions",
    "coverage_experiment",
    "datasets",
    "det",
    "discard_curve",
    "eer",
    "error_model",
    "errors",
    "evaluate",
    "evaluate_calibration",
    "expected_performance_curve",
    "fairness_band",
    "fmr_test",
    "fnmr_test",
    "intervals",
    "margin_of_error",
    "measures",
    "min_cllr",
    "min_dcf",
    "normalize_scores",
    "own_thresholds",
    "plan_fmr",
    "plan_margin",
    "plan_power",
    "plan_subjects",
    "rates",
    "rates_over_thresholds",
    "read_comparisons",
    "read_embeddings",
    "read_failure_counts",
    "read_named_vectors",
    "read_results",
    "report",
    "roc",
    "roc_band",
    "scan_comparisons",
    "scenario_family",
    "shrunken_rates",
    "stratified_rates",
    "synthesize",
    "synthesize_each",
    "tippett",
    "von_mises_fisher_embeddings",
    "warm_up",
    "with_own_thresholds",
    "worst_comparisons",
    "write_comparisons",
]


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return importlib.import_module(f".{name}", __name__)
    if name in _HOMES:
        value = getattr(importlib.import_module(f".{_HOMES[name]}", __name__), name)
        globals()[name] = value
        return value
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
