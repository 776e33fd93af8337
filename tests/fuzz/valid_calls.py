"""One valid call of every public function, from which the fuzzer starts."""

from __future__ import annotations

import inspect
import tempfile
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
from helpers.quiet import quietly

import fastfair as ff
from fastfair.evaluation.result import Evaluation

_RATES = [0.1, 0.2, 0.3]
_WHO = (list("aabbccddaabbccdd"), list("aabbccddbbaaddcc"))
_GROUP = (list("ffffmmmmffffmmmm"), list("ffffmmmmffffmmmm"))
_SCORES = [0.9, 0.3, 0.8, 0.7, 0.6, 0.95, 0.85, 0.2, 0.1, 0.4, 0.35, 0.05, 0.75, 0.15, 0.25, 0.45]
_MATED = [1] * 8 + [0] * 8
_STUDY = {"n_groups": [2, 3], "n_attempts": 2, "fnmr": 0.1, "correlation": 0.05}
_PEOPLE = ff.VonMisesFisherIdentities.random(5, 3, (50, 150), rng=0)
_SIZES = dict.fromkeys(["n_mated", "n_nonmated", "overall_mated", "overall_nonmated"], 40)
_SYSTEM = {"rate": 0.1, "overall_fmr": 0.1, **_SIZES}


def three_groups() -> ff.Comparisons:
    """Return comparisons of more groups than two, which what learns from groups needs."""
    vectors = np.random.default_rng(1).normal(size=(24, 3))
    return ff.Embeddings(
        vectors, np.repeat(np.arange(8), 3).tolist(), list("f" * 9 + "m" * 6 + "x" * 9)
    ).comparisons()


@cache
@quietly(Warning)  # of toy data
def _of_three_groups() -> Evaluation:
    return ff.evaluate(three_groups(), ff.at_threshold(0.5), [], n_resamples=20, rng=0)


def _quality(comparisons: ff.Comparisons) -> list[float]:
    return [float(k % 7) for k in range(len(comparisons.mated) + len(comparisons.nonmated))]


@cache
@quietly(Warning)  # of toy data
def made() -> dict[str, Any]:
    """Make one object of every class with methods, small and by valid calls alone."""
    rng = np.random.default_rng(0)
    subject, sexes, roles = (
        np.repeat(np.arange(8), 3).tolist(),
        list("f" * 12 + "m" * 12),
        ["reference", "reference", "probe"] * 8,
    )
    embeddings = ff.Embeddings(rng.normal(size=(24, 3)), subject, sexes)
    comparisons = embeddings.comparisons()
    counts = ff.FailureCounts([0, 1, 0, 2, 1, 0], [3, 3, 3, 3, 3, 3], list("ffffmm"))
    at = ff.at_fmr(0.3)
    labels = {"sex": sexes, "age": list("oooyyy" * 4)}
    pairs = ff.Embeddings(embeddings.vectors, subject, labels).comparisons()
    shrunken = ff.shrunken_rates(_of_three_groups())
    page = Path(tempfile.mkdtemp()) / "page.html"
    ff.report(shrunken, page)
    system = ff.biased_system("1:1:2:2", **_SYSTEM, n_steps=50, rng=0)
    return {
        "Comparisons": comparisons,
        "Embeddings": ff.Embeddings(embeddings.vectors, embeddings.subject, sexes, role=roles),
        "ScannedComparisons": ff.scan_comparisons(
            _file_of_scores(), storage=ff.Storage(memory_limit="1 GB")
        ),
        "NamedVectors": ff.NamedVectors(
            [[1.0, 0.0], [2.0, 1.0], [0.0, 1.0]], list("aab"), same_name="max"
        ),
        "ratios": _ratios(),
        "FailureCounts": counts,
        "at": at,
        "Binormal": ff.synthesis.Binormal(2.0),
        "VonMisesFisherIdentities": ff.VonMisesFisherIdentities([[1, 0], [0, 1], [1, 1]], 5),
        "Evaluation": ff.evaluate(comparisons, at, n_resamples=20, rng=0, metrics="all"),
        "CountedRates": ff.evaluate(counts, n_resamples=20, rng=0),
        "AttributeEvaluations": ff.evaluate_attributes(pairs, at=at, n_resamples=20, rng=0),
        "SystemComparison": ff.compare(
            [comparisons] * 3, None, at, n_resamples=20, rng=0, metrics="all"
        ),
        "RocBand": ff.roc_band(comparisons, [0.2, 0.5], n_resamples=20, rng=0),
        "FairnessBand": ff.fairness_band(comparisons, fmr=[0.3, 0.5], n_resamples=20, rng=0),
        "CoverageExperiment": ff.synthesis.coverage_experiment(
            2, 10, identities=_PEOPLE, n_samples=2, fmr=[0.5], rng=0
        ),
        "ShrunkenRates": shrunken,
        "two attributes": pairs,
        "ErrorModel": ff.error_model(pairs, ["sex", "age"], at),
        "StratifiedRates": ff.stratified_rates(pairs, "sex", "age", at),
        "ExpectedPerformance": ff.thresholds.expected_performance_curve(
            comparisons, comparisons, [0.3, 0.5]
        ),
        "AppliedThreshold": ff.apply_threshold(comparisons, at, comparisons),
        "Claim": ff.claim(comparisons, "fnmr <= 0.5", at, n_resamples=20, rng=0),
        "Check": ff.check(comparisons, "fnmr[*] <= 0.5", at, n_resamples=20, rng=0),
        "ProfileCheck": ff.check(comparisons, at=at, profile="nist-800-63a", n_resamples=20, rng=0),
        "History": ff.history(
            [ff.check(comparisons, "fnmr <= 0.5", at, n_resamples=20, rng=0)] * 2
        ),
        "WorstComparisons": ff.worst_comparisons(comparisons, at, "f", 5),
        "DiscardCurve": ff.discard_curve(
            comparisons, at, _quality(comparisons), fractions=[0, 0.3]
        ),
        "AttackRates": ff.evaluate_attacks(_attacked(comparisons), at, n_resamples=20, rng=0),
        "TransactionRates": ff.evaluate_transactions(ff.transactions(comparisons, 1), at),
        "Searches": _searches(),
        "Identification": ff.identify(_searches(), ff.at_threshold(0.45)),
        "OwnThresholds": ff.identify(_searches(), ff.at_fnir(0.4)).own_thresholds(),
        "SearchComparison": ff.compare_searches(_searches(), _searches(), ff.at_threshold(0.45)),
        "GroupTest": ff.fmr_test(comparisons, at, n_resamples=200, rng=0),
        "MarginOfError": ff.margin_of_error(counts, n_resamples=200, rng=0),
        "FmrPlan": ff.plan_fmr(claimed=0.05, fmr=0.01, covariance=1, n_simulations=20, rng=0),
        "RequirementPlan": ff.plan_requirement(
            "frr[*] <= 30 %",
            n_subjects=[9, 20],
            n_attempts=2,
            rate=[0.1, 0.2],
            n_simulations=2,
            n_resamples=20,
            rng=0,
        ),
        "GroupsPlan": ff.plan_subjects(
            **_STUDY, margin=0.05, max_subjects=2000, n_simulations=20, rng=0
        ),
        "BiasedSystem": system,
        "Synthesis": system.sets[0],
        "Roc": ff.roc(comparisons),
        "Det": ff.det(comparisons),
        "Estimand": ff.measures.MEASURES["gini"],
        "Costs": ff.Costs(0.3),
        "Policies": ff.Policies(),
        "Layout": ff.Layout(),
        "SearchLayout": ff.SearchLayout(),
        "VectorLayout": ff.VectorLayout(),
        "Storage": ff.Storage(),
        "Calibration": ff.evaluate_calibration(_ratios(), ff.Costs(0.3), n_resamples=20, rng=0),
        "CalibratedScores": ff.calibrate(_ratios(), development=_ratios()),
        "BayesError": ff.calibration.bayes_error(_ratios()),
        "Tippett": ff.calibration.tippett(_ratios()),
    }


def _attacked(comparisons: ff.Comparisons) -> ff.Comparisons:
    people = [comparisons.subjects[0]] * 2
    return ff.add_attacks(comparisons, [0.9, 0.1], ["x", "y"], people)


def _ratios() -> ff.Comparisons:
    return ff.Comparisons(_SCORES, _MATED, *_WHO, *_GROUP, score_kind="log-likelihood-ratio")


_MATRIX = [
    [0.9, 0.1, 0.2],
    [0.3, 0.8, 0.1],
    [0.2, 0.3, 0.7],
    [0.5, 0.4, 0.1],
    [0.2, 0.3, 0.6],
    [0.4, 0.6, 0.1],
]


def _searches() -> ff.Searches:
    return ff.Searches.from_matrix(_MATRIX, list("abcxyb"), list("abc"), group=list("ffmfmm"))


def _file_of_scores() -> Path:
    path = Path(tempfile.mkdtemp()) / "scores.parquet"
    columns = {"score": _SCORES, "mated": _MATED, "reference": _WHO[0], "probe": _WHO[1]}
    pl.DataFrame({**columns, "reference_group": _GROUP[0], "probe_group": _GROUP[1]}).write_parquet(
        path
    )
    return path


@cache
def calls() -> dict[str, dict[str, Any]]:
    """Return the arguments of a valid call by the function's name; a method's object is the class's
    own of `made`."""
    have = made()
    c, counts, at = have["Comparisons"], have["FailureCounts"], have["at"]
    frame = pd.DataFrame(
        {"score": _SCORES, "mated": _MATED, "a": _WHO[0], "b": _WHO[1], "g": _GROUP[0]}
    )
    rows = [[1.0, 0.0], [2.0, 1.0], [0.0, 1.0], [0.0, 3.0]]
    vectors = pl.DataFrame({"vectors": rows, "who": list("aabb"), "g": list("ffmm")})
    wide = pd.DataFrame(
        {"who": ["A"], "FMR.f": [0.1], "FMR.m": [0.2], "FNMR.f": [0.1], "FNMR.m": [0.2]}
    )
    failures = pd.DataFrame({"failures": [0, 1], "attempts": [2, 2], "group": ["a", "b"]})
    evaluation = Path(tempfile.mkdtemp()) / "evaluation.json"
    have["Evaluation"].to_json(evaluation)
    few = {"n_resamples": 20, "rng": 0}
    band = {"data": c, "fmr": [0.3, 0.5], **few}
    replicates = np.linspace(0, 1, 50).tolist()
    quantity = {"name": "fmr", "group": "f", "at": at}
    system = {**_SYSTEM, "n_steps": 50, "rng": 0}
    study = {**_STUDY, "n_subjects": 50}
    listed = {
        "fastfair.at_eer": {},
        "fastfair.at_mean_group_eer": {},
        "fastfair.at_fmr": {"fmr": 0.1},
        "fastfair.at_fnmr": {"fnmr": 0.1},
        "fastfair.at_threshold": {"threshold": 0.5},
        "fastfair.biased_system": {"ratios": "1:2", **system},
        "fastfair.synthesis.binormal_comparisons": {
            "n_mated": 10,
            "n_nonmated": 10,
            "fmr": 0.1,
            "rng": 0,
        },
        "fastfair.cllr": {"comparisons": c},
        "fastfair.min_cllr": {"comparisons": c},
        "fastfair.act_dcf": {"comparisons": have["ratios"]},
        "fastfair.calibration.bayes_error": {
            "comparisons": have["ratios"],
            "prior_log_odds": [0.0, 1.0],
        },
        "fastfair.calibration.tippett": {"comparisons": have["ratios"]},
        "fastfair.evaluate_calibration": {
            "comparisons": have["ratios"],
            "applications": ff.Costs(0.3),
            **few,
        },
        "fastfair.calibrate": {
            "comparisons": have["ratios"],
            "development": have["ratios"],
            "rng": 0,
        },
        "Costs": {"p_target": 0.3, "c_miss": 1, "c_fa": 10, "normalize": True},
        "Policies": {
            "failures": "exclude",
            "failure_score": -1,
            "label_conflicts": "drop",
            "self_comparisons": "keep",
            "missing_labels": "drop",
        },
        "Layout": {
            "format": "csv",
            "mated_value": "yes",
            "quality": "quality",
            "keep": "id",
            "metadata_id": "id",
            "metadata_per": "sample",
            "metadata_subject": "who",
            "impostor": "i.txt",
        },
        "Storage": {"memory_limit": "1 GB", "folder": None, "cllr": True},
        "CalibratedScores.apply": {"comparisons": c},
        "Calibration.cost": {"application": ff.Costs(0.3), "group": "f"},
        "Calibration.measure": {"name": "nrb(act_dcf)", "application": ff.Costs(0.3)},
        "fastfair.det": {"comparisons": c},
        "fastfair.roc": {"comparisons": c},
        "fastfair.label_bands": {"values": [17.0, 30.0, 64.5]},
        "fastfair.auc": {"comparisons": c},
        "fastfair.d_prime": {"comparisons": c},
        "fastfair.eer": {"comparisons": c},
        "fastfair.min_dcf": {"comparisons": c},
        "fastfair.rates": {"comparisons": c, "at": at},
        "fastfair.report": {"results": have["Claim"], "path": "report.html"},
        "fastfair.evaluate": {"comparisons": c, "at": at, "metrics": "all", **few},
        "fastfair.evaluate_attributes": {
            "comparisons": have["two attributes"],
            "groups": ["sex", "age", ["sex", "age"]],
            "n_resamples": 20,
            "rng": 0,
        },
        "AttributeEvaluations.by": {"attributes": "age"},
        "fastfair.claim": {"comparisons": c, "statement": "fnmr <= 0.5", "at": at, **few},
        "fastfair.normalize_scores": {
            "comparisons": c,
            "cohort": ff.Comparisons(
                _SCORES, _MATED, *([100 + ord(who) for who in side] for side in _WHO), *_GROUP
            ),
            "by": "group",
        },
        "fastfair.history": {
            "results": [ff.check(c, "fnmr <= 0.5", at, n_resamples=20, rng=0) for _ in range(2)]
        },
        "fastfair.check": {
            "comparisons": c,
            "requirements": ["fnmr <= 0.5", "garbe <= 0.5"],
            "at": at,
            **few,
        },
        "Check.to_junit": {"path": "junit.xml"},
        "ProfileCheck.to_junit": {"path": "junit.xml"},
        "fastfair.worst_comparisons": {"comparisons": c, "at": at, "group": "f", "n": 5},
        "WorstComparisons.subjects_to_frame": {"backend": "polars"},
        "fastfair.thresholds.expected_performance_curve": {
            "comparisons": c,
            "development": c,
            "weights": [0.3, 0.5],
        },
        "fastfair.thresholds.own_thresholds": {"comparisons": c, "at": ff.at_fmr(0.2)},
        "fastfair.thresholds.with_own_thresholds": {
            "comparisons": c,
            "thresholds": {"f": 0.5, "m": 0.4},
        },
        "fastfair.apply_threshold": {"comparisons": c, "at": ff.at_fmr(0.2), "development": c},
        "AttackRates.of": {"name": "iapar", "species": "x", "group": None},
        "TransactionRates.of": {"name": "frr", "group": "f"},
        "fastfair.add_attacks": {
            "comparisons": c,
            "scores": [0.5],
            "species": ["x"],
            "subject": ["a"],
            "session": None,
        },
        "fastfair.against_attacks": {
            "comparisons": _attacked(c),
            "species": ["x"],
            "impostors": False,
        },
        "fastfair.evaluate_attacks": {
            "comparisons": _attacked(c),
            "at": at,
            "rate": "iapar",
            "n_resamples": 20,
            "confidence_level": 0.9,
            "rng": 0,
            "n_threads": 1,
            "progress": False,
        },
        "fastfair.transactions": {
            "comparisons": c,
            "attempts": 1,
            "transaction": None,
            "session": list(range(len(c.mated) + len(c.nonmated))),
        },
        "fastfair.evaluate_transactions": {
            "transactions": ff.transactions(c, 1),
            "at": at,
            "confidence_level": 0.9,
        },
        "fastfair.discard_curve": {
            "comparisons": c,
            "at": at,
            "quality": _quality(c),
            "fractions": [0.0, 0.3],
        },
        "fastfair.shrunken_rates": {"evaluation": _of_three_groups()},
        "fastfair.error_model": {
            "comparisons": have["two attributes"],
            "attributes": "sex",
            "at": at,
        },
        "fastfair.stratified_rates": {
            "comparisons": have["two attributes"],
            "by": "sex",
            "strata": "age",
            "at": at,
        },
        "fastfair.compare": {"first": c, "second": c, "at": at, "metrics": "all", **few},
        "fastfair.correlated_decisions": {
            "n_subjects": 5,
            "n_attempts": 3,
            "fnmr": 0.1,
            "correlation": 0.1,
            "rng": 0,
        },
        "fastfair.synthesis.coverage_experiment": {
            "n_datasets": 2,
            "n_resamples": 10,
            "identities": _PEOPLE,
            "n_samples": 2,
            "fmr": [0.5],
            "rng": 0,
        },
        "fastfair.fairness_band": band,
        "fastfair.roc_band": band,
        "fastfair.fmr_test": {"data": c, "at": at, "n_resamples": 200, "rng": 0},
        "fastfair.fnmr_test": {"data": counts, "n_resamples": 200, "rng": 0},
        "fastfair.margin_of_error": {"data": counts, "n_resamples": 200, "rng": 0},
        "fastfair.plan_fmr": {
            "claimed": 0.05,
            "fmr": 0.01,
            "covariance": 1,
            "n_simulations": 20,
            "rng": 0,
        },
        "fastfair.plan_margin": {**study, "n_simulations": 20, "rng": 0},
        "fastfair.plan_power": {**study, "difference": 0.05, "n_simulations": 20, "rng": 0},
        "fastfair.plan_requirement": {
            "requirement": "frr[*] <= 30 %",
            "n_subjects": [9],
            "n_attempts": 2,
            "rate": [0.1, 0.2],
            "n_simulations": 2,
            "n_resamples": 20,
            "rng": 0,
        },
        "fastfair.plan_subjects": {
            **_STUDY,
            "margin": 0.05,
            "max_subjects": 2000,
            "n_simulations": 20,
            "rng": 0,
        },
        "fastfair.read_comparisons": {
            "path": frame,
            "score": "score",
            "mated": "mated",
            "reference": "a",
            "probe": "b",
        },
        "fastfair.read_embeddings": {"path": vectors, "subject": "who", "groups": "g"},
        "fastfair.read_named_vectors": {"path": vectors, "name": "who", "same_name": "max"},
        "fastfair.read_results": {"path": str(evaluation)},
        "fastfair.read_failure_counts": {"path": failures},
        "fastfair.scan_comparisons": {
            "path": str(_file_of_scores()),
            "storage": ff.Storage("1 GB", cllr=True),
        },
        "fastfair.synthesize": {
            "n_mated": 20,
            "n_nonmated": 20,
            "fmr": 0.1,
            "n_steps": 50,
            "rng": 0,
        },
        "fastfair.synthesis.synthesize_each": {
            "n_mated": 20,
            "n_nonmated": 20,
            "kind": "fmr",
            "targets": [0.1, 0.2],
            "n_steps": 50,
            "rng": 0,
        },
        "fastfair.von_mises_fisher_embeddings": {
            "n_subjects": 4,
            "n_samples": 2,
            "dim": 3,
            "concentration": 5.0,
            "rng": 0,
        },
        "fastfair.write_comparisons": {"comparisons": c, "path": "scores.csv"},
        "fastfair.measures.table": {
            "frame": wide,
            "fmr": "FMR.{group}",
            "fnmr": "FNMR.{group}",
            "by": "who",
        },
        "fastfair.measures.replace_zeros": {
            "rates": [0.0, 0.1],
            "policy": "clopper-pearson",
            "comparisons": [10, 10],
        },
        "fastfair.measures.measure": {"of": "fmr", "range": (0, 1), "fair_value": 0},
        "fastfair.intervals.bootstrap_pvalue": {"differences": replicates},
        "fastfair.intervals.confidence_interval": {"replicates": replicates, "estimate": 0.5},
        "fastfair.intervals.holm": {"pvalues": _RATES},
        "fastfair.intervals.simultaneous_band": {"replicates": [replicates, replicates]},
        "fastfair.intervals.standard_error": {"replicates": replicates},
        "fastfair.intervals.upper_limit_without_errors": {"n": 100, "confidence_level": 0.95},
        "Binormal": {"mu": 2.0},
        "Binormal.of_rates": {"fmr": 0.1},
        "Binormal.fmr": {"threshold": [0.4, 0.6]},
        "Binormal.fnmr": {"threshold": 0.4},
        "Binormal.threshold_at_fmr": {"fmr": 0.1},
        "Binormal.threshold_at_fnmr": {"fnmr": 0.1},
        "Binormal.draw": {"n_mated": 10, "n_nonmated": 10, "rng": 0},
        "Comparisons": {
            "scores": _SCORES,
            "mated": _MATED,
            "reference": _WHO[0],
            "probe": _WHO[1],
            "reference_group": _GROUP[0],
        },
        "Comparisons.from_frame": {"frame": frame, "reference_group": "g"},
        "Comparisons.from_matrix": {"scores": [[0.9, 0.1, 0.2], [0.3, 0.8, 0.1], [0.2, 0.3, 0.7]]},
        "fastfair.identify": {"searches": _searches(), "at": ff.at_rank(1), "sizes": [2, 3]},
        "fastfair.compare_searches": {
            "first": _searches(),
            "second": _searches(),
            "at": ff.at_threshold(0.45),
        },
        "fastfair.read_searches": {
            "path": pl.DataFrame(
                {"search": list("ppq"), "candidate": list("abc"), "score": _SCORES[:3]}
            ),
            "searches": pl.DataFrame(
                {"search": list("pq"), "probe": list("ax"), "sex": list("fm")}
            ),
            "enrolled": pl.DataFrame({"person": list("abcd")}),
            "groups": "sex",
        },
        "SearchLayout": {"length": 3, "nobody": "unknown"},
        "VectorLayout": {"metadata_id": "id", "session": "day"},
        "SearchComparison.of": {"name": "fnir"},
        "SearchComparison.check": {"requirements": "difference(fnir) <= 0.5"},
        "Identification.own_thresholds": {"at": ff.at_fnir(0.4)},
        "Identification.check": {"requirements": "fnir[*] <= 0.5"},
        "fastfair.at_fpir": {"fpir": 0.01},
        "fastfair.at_fnir": {"fnir": 0.05},
        "fastfair.at_rank": {"rank": 5},
        "Searches.from_matrix": {
            "scores": _MATRIX,
            "probe": list("abcxyb"),
            "enrolled": list("abc"),
            "group": list("ffmfmm"),
            "candidates": 2,
        },
        "Searches.from_scores": {
            "search": list("ppqq"),
            "probe": list("aaxx"),
            "enrolled": list("abab"),
            "scores": [0.9, 0.2, 0.4, 0.3],
            "group": list("ffmm"),
        },
        "Searches.from_vectors": {
            "probes": [[1, 0.1], [0.2, 1]],
            "probe": list("ax"),
            "templates_of": [[2.0, 0], [0, 1]],
            "enrolled": list("ab"),
        },
        "Searches.from_embeddings": {"embeddings": have["Embeddings"], "templates": "best"},
        "Searches.from_candidates": {
            "search": list("ppq"),
            "candidate": list("abc"),
            "scores": [0.9, 0.4, 0.3],
            "searches": list("pq"),
            "probe": list("ax"),
            "enrolled": list("abcd"),
            "length": 3,
            "least_score": 0.2,
        },
        "Identification.of": {"name": "fnir", "group": "f"},
        "Identification.failure_counts": {"rate": "fpir"},
        "Comparisons.by": {"attributes": "group"},
        "Comparisons.within_group": {"group": "f"},
        "Comparisons.without_failure_rates": {},
        "Comparisons.require_groups": {},
        "Comparisons.to_threshold": {"key": c.mated.keys[0]},
        "Comparisons.to_scale": {"similarity": 0.5},
        "Comparisons.to_key": {"threshold": 0.5},
        "Embeddings": {
            "vectors": [[1.0, 0.0], [2, 1], [0, 1], [0, 3]],
            "subject": list("aabb"),
            "group": list("ffmm"),
            "role": ["reference", "probe"] * 2,
        },
        "Embeddings.enrolled": {"template": 2, "score": "max"},
        "Embeddings.by": {"attributes": "group"},
        "ScannedComparisons.by": {"attributes": "group"},
        "NamedVectors": {
            "vectors": [[1.0, 0.0], [2, 1], [0, 1]],
            "name": list("abb"),
            "same_name": "mean",
        },
        "NamedVectors.scores": {"reference": list("ab"), "probe": list("bb")},
        "Embeddings.comparisons": {},
        "Embeddings.scanned": {"fmr": 0.2},
        "FailureCounts": {"failures": [0, 1, 2], "attempts": [3, 3, 3], "group": list("aab")},
        "CountedRates.quantity": {"name": "fnmr", "group": "f"},
        "CountedRates.value": {"name": "fnmr", "group": "f"},
        "CountedRates.interval": {"name": "fnmr", "group": "f"},
        "FailureCounts.from_decisions": {
            "failed": [0, 1, 0, 0],
            "subject": list("aabb"),
            "group": list("ffmm"),
        },
        "FailureCounts.from_comparisons": {"comparisons": c, "at": at},
        "FailureCounts.confidence_interval": {"confidence_level": 0.9},
        "FailureCounts.remarks": {},
        "FailureCounts.without": {"groups": ["f"]},
        "OperatingPoint": {"kind": "fmr", "value": 0.1},
        "Checkpoint": {"folder": "checkpoint"},
        "BandSettings": {"alpha": 0.3},
        "EvaluationSettings": {"incomplete_groups": "drop"},
        "MeasureSettings": {"alpha": 0.3},
        "VonMisesFisherIdentities": {
            "centers": [[1.0, 0.0], [0.0, 1.0]],
            "concentrations": [5.0, 5.0],
        },
        "VonMisesFisherIdentities.random": {
            "n_subjects": 4,
            "dim": 3,
            "concentration": 5.0,
            "rng": 0,
        },
        "VonMisesFisherIdentities.draw": {"n_samples": 2, "rng": 0},
        "SystemComparison.evaluation": {"system": "1"},
        "SystemComparison.contrast": {
            "name": "fnmr",
            "group": "f",
            "at": at,
            "systems": ("1", "2"),
        },
        "SystemComparison.ranking": {"name": "fnmr", "group": "f", "at": at},
        "Evaluation.with_intervals": {"confidence_level": 0.5},
        "BiasedSystem.measures": {"at": at, "measures": "gini"},
        "Synthesis.comparisons": {"group": "a"},
        "Estimand.error_types": {"metric": "fmr"},
        "Estimand.needs_policy_threshold": {"metric": "fmr"},
    }
    for name, one in ff.measures.MEASURES.items():
        parameters = [p for p in inspect.signature(one.function).parameters if p != "alpha"]
        n_rates = 1 if one.of else 2
        given = dict.fromkeys(parameters[:n_rates], _RATES) | dict.fromkeys(
            parameters[n_rates:], 0.2
        )
        listed[f"fastfair.measures.{name}"] = given
    listed["ExpectedPerformance.of"] = {"group": "f"}
    listed["AppliedThreshold.rate"] = {"name": "fmr", "group": "f"}
    for name in ("of", "area"):
        listed[f"DiscardCurve.{name}"] = {"group": "f"}
    for name in ("value", "interval", "replicates", "quantity"):
        listed[f"Evaluation.{name}"] = quantity
    listed["SystemComparison.plot_differences"] = {"systems": ("1", "2")}
    of_all = [
        ("to_frame", {"backend": "polars"}),
        *((name, {}) for name in ("to_json", "to_latex", "schema", "summary")),
        ("report", {"path": "report.html"}),
        ("table", {}),
        ("to_model_card", {}),
        ("write_tables", {"path": "tables.md"}),
    ]
    for name in have:
        plots = [
            (method, {})
            for method in dir(have[name])
            if method == "plot" or method.startswith("plot_")
        ]
        for method, given in of_all + plots:
            if hasattr(have[name], method):
                listed.setdefault(f"{name}.{method}", given)
    return listed


# What takes long by its nature, or needs a package that is not always there.
LEFT_OUT = {"fastfair.datasets.voxceleb1_h", "fastfair.warm_up"} | {
    f"{result}.to_mlflow" for result in ("Evaluation", "Check", "ProfileCheck")
}
