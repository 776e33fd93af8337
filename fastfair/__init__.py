"""How well, how fairly and how certainly a biometric verification system works.

Names are imported when first used, so that `import fastfair` costs little more than NumPy.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from ._version import __version__

if TYPE_CHECKING:
    from . import datasets, errors, intervals, measures, papers
    from ._plans import MarginPlan, PowerPlan, SubjectsPlan
    from .bands import RocBand, roc_band
    from .binormal import Binormal, binormal_comparisons
    from .comparisons import Comparisons
    from .contrasts import Contrast
    from .coverage import CoverageExperiment, coverage_experiment
    from .curves import cllr, det, eer, min_cllr, min_dcf, roc
    from .embeddings import Embeddings
    from .error_rates import rates
    from .evaluation import evaluate
    from .evaluation_result import Evaluation
    from .failure_counts import FailureCounts
    from .failure_files import read_failure_counts
    from .fairness_bands import FairnessBand, fairness_band
    from .group_test_result import FmrTest, FnmrTest, GroupTest
    from .group_tests import fmr_test, fnmr_test
    from .io import read_comparisons
    from .margins import MarginOfError, margin_of_error
    from .operating_points import OperatingPoint, at_eer, at_fmr, at_fnmr, at_mean_group_eer, at_threshold
    from .paired import PairedEvaluation, compare
    from .planning import margin_study, plan_margin, plan_power, plan_subjects
    from .quantities import Quantity
    from .score_files import write_comparisons
    from .simulators import VonMisesFisherIdentities, correlated_decisions, von_mises_fisher_embeddings
    from .synthesis import Synthesis, synthesize, synthesize_each
    from .systems import BiasedSystem, ScenarioFamily, biased_system, scenario_family
    from .vector_files import read_embeddings

_MODULES = ("datasets", "errors", "intervals", "measures", "papers")
_HOMES = {
    "BiasedSystem": "systems",
    "Binormal": "binormal",
    "Comparisons": "comparisons",
    "Contrast": "contrasts",
    "CoverageExperiment": "coverage",
    "Embeddings": "embeddings",
    "Evaluation": "evaluation_result",
    "FailureCounts": "failure_counts",
    "FairnessBand": "fairness_bands",
    "FmrTest": "group_test_result",
    "FnmrTest": "group_test_result",
    "GroupTest": "group_test_result",
    "MarginOfError": "margins",
    "MarginPlan": "_plans",
    "OperatingPoint": "operating_points",
    "PairedEvaluation": "paired",
    "PowerPlan": "_plans",
    "Quantity": "quantities",
    "RocBand": "bands",
    "ScenarioFamily": "systems",
    "SubjectsPlan": "_plans",
    "Synthesis": "synthesis",
    "VonMisesFisherIdentities": "simulators",
    "at_eer": "operating_points",
    "at_fmr": "operating_points",
    "at_fnmr": "operating_points",
    "at_mean_group_eer": "operating_points",
    "at_threshold": "operating_points",
    "biased_system": "systems",
    "binormal_comparisons": "binormal",
    "cllr": "curves",
    "compare": "paired",
    "correlated_decisions": "simulators",
    "coverage_experiment": "coverage",
    "det": "curves",
    "eer": "curves",
    "evaluate": "evaluation",
    "fairness_band": "fairness_bands",
    "fmr_test": "group_tests",
    "fnmr_test": "group_tests",
    "margin_of_error": "margins",
    "margin_study": "planning",
    "min_cllr": "curves",
    "min_dcf": "curves",
    "plan_margin": "planning",
    "plan_power": "planning",
    "plan_subjects": "planning",
    "rates": "error_rates",
    "read_comparisons": "io",
    "read_embeddings": "vector_files",
    "read_failure_counts": "failure_files",
    "roc": "curves",
    "roc_band": "bands",
    "scenario_family": "systems",
    "synthesize": "synthesis",
    "synthesize_each": "synthesis",
    "von_mises_fisher_embeddings": "simulators",
    "write_comparisons": "score_files",
}

__all__ = [
    "BiasedSystem",
    "Binormal",
    "Comparisons",
    "Contrast",
    "CoverageExperiment",
    "Embeddings",
    "Evaluation",
    "FailureCounts",
    "FairnessBand",
    "FmrTest",
    "FnmrTest",
    "GroupTest",
    "MarginOfError",
    "MarginPlan",
    "OperatingPoint",
    "PairedEvaluation",
    "PowerPlan",
    "Quantity",
    "RocBand",
    "ScenarioFamily",
    "SubjectsPlan",
    "Synthesis",
    "VonMisesFisherIdentities",
    "__version__",
    "at_eer",
    "at_fmr",
    "at_fnmr",
    "at_mean_group_eer",
    "at_threshold",
    "biased_system",
    "binormal_comparisons",
    "cllr",
    "compare",
    "correlated_decisions",
    "coverage_experiment",
    "datasets",
    "det",
    "eer",
    "errors",
    "evaluate",
    "fairness_band",
    "fmr_test",
    "fnmr_test",
    "intervals",
    "margin_of_error",
    "margin_study",
    "measures",
    "min_cllr",
    "min_dcf",
    "papers",
    "plan_margin",
    "plan_power",
    "plan_subjects",
    "rates",
    "read_comparisons",
    "read_embeddings",
    "read_failure_counts",
    "roc",
    "roc_band",
    "scenario_family",
    "synthesize",
    "synthesize_each",
    "von_mises_fisher_embeddings",
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
