"""What tools answer to the same small question, for the second table of from_other_tools.

`tests/other_tools/test_situations.py` asks fastfair and, at night, the tools.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Call:
    """A call of a tool, in the worker by the same words."""

    tool: str
    call: str


@dataclass(frozen=True)
class Situation:
    """A question, our answer, and who gives which other, or the same."""

    key: str
    asked: str
    ours: str
    theirs: dict[str, tuple[Call, ...]]


def _calls(*calls: str) -> tuple[Call, ...]:
    """Return calls of lines `tool: call`."""
    return tuple(Call(*call.split(": ")) for call in calls)


SITUATIONS = (
    Situation(
        "eer-tie",
        "EER of a tie: mated [1], non-mated [1]",
        "0.5",
        {
            "0.5": _calls(
                "bob.measure: eer",
                "llreval: tarnon_2_eer",
                "eer: eer_tnt",
                "pyannote.metrics: det_curve",
                "speechbrain: EER",
                "torchmetrics: binary_eer",
            ),
            "1": _calls("pyeer: get_eer_stats", "scikit-learn: EER of trainers"),
            "0": _calls("score-analysis: eer", "Kaldi: compute-eer"),
        },
    ),
    Situation(
        "eer-apart",
        "EER without an error: mated [1], non-mated [0]",
        "0",
        {
            "0": _calls(
                "bob.measure: eer",
                "eer: eer_tnt",
                "Kaldi: compute-eer",
                "llreval: tarnon_2_eer",
                "pyeer: get_eer_stats",
                "scikit-learn: EER of trainers",
                "score-analysis: eer",
                "speechbrain: EER",
                "torchmetrics: binary_eer",
            ),
            "0.25": _calls("pyannote.metrics: det_curve"),
        },
    ),
    Situation(
        "fmr-not-there",
        "FMR and FNMR where an FMR of 0.3 is asked for, which no threshold has: mated [1], non-mated [0, 2]",
        "0, 1",
        {
            "0, 1": _calls("bob.measure: far_threshold"),
            "0.5, 0": _calls("score-analysis: threshold_at_fpr"),
            "0.5, 1": _calls("scikit-learn: nearest of roc_curve"),
        },
    ),
    Situation(
        "auc-tie",
        "AUC of a tie: mated [1], non-mated [1]",
        "0.5",
        {
            "0.5": _calls(
                "confidenceinterval: roc_auc_score",
                "MLstatkit: Delong_test",
                "pROC: auc",
                "ROCR: auc",
                "scikit-learn: roc_auc_score",
            ),
        },
    ),
    Situation(
        "auc-apart",
        "AUC without an error: mated [1], non-mated [0]",
        "1",
        {
            "1": _calls(
                "confidenceinterval: roc_auc_score",
                "MLstatkit: Delong_test",
                "pROC: auc",
                "ROCR: auc",
                "scikit-learn: roc_auc_score",
            ),
            "0": _calls("llreval: tarnon_2_auc"),
        },
    ),
    Situation(
        "rank-tie",
        "Is a mate that ties with another at rank 1 (1: yes), if enrolled first, and last",
        "0, 0",
        {
            "0, 0": _calls("bob.measure: recognition_rate"),
            "1, 0": _calls(
                "faiss-cpu: IndexFlatIP, one candidate",
                "pytorch-metric-learning: precision_at_1",
                "ranx: hit_rate@1",
                "torchmetrics: retrieval_hit_rate",
            ),
            "0, 1": _calls("faiss-cpu: IndexFlatIP, all candidates"),
            "by name": _calls("pytrec-eval-terrier: success_1"),
        },
    ),
    Situation(
        "no-errors",
        "Upper end of a 95 % interval of the rate, of 0 errors in 10 people",
        "0.308",
        {
            "0.308": _calls(
                "scipy: binomtest().proportion_ci()", "statsmodels: proportion_confint(method=beta)"
            ),
            "0.278": _calls("confidenceinterval: tpr_score", "scipy: proportion_ci(method=wilson)"),
            "0": _calls(
                "confidence_intervals: evaluate_with_conf_int", "statsmodels: proportion_confint"
            ),
        },
    ),
    Situation(
        "nobody",
        "FNMR of a group without a mated comparison",
        "NaN",
        {
            "NaN": _calls(
                "aequitas: get_crosstabs",
                "aif360: ClassificationMetric",
                "jurity: FNRDifference",
            ),
            "0": _calls("fairlearn: MetricFrame.by_group"),
            "1": _calls("aif360: equal_opportunity_difference"),
        },
    ),
    Situation(
        "no-label",
        "Comparisons whose groups are a, a, and none",
        "refused",
        {
            "refused": _calls(
                "aif360: BinaryLabelDataset",
                "fairlearn: MetricFrame",
                "jurity: EqualOpportunity",
            ),
            "left out": _calls("aequitas: get_crosstabs", "pandas: groupby"),
            "a group": _calls("duckdb: GROUP BY", "polars: group_by"),
            "with the unprivileged": _calls("aif360: equal_opportunity_difference"),
        },
    ),
    Situation(
        "base",
        "Cllr of log-likelihood ratios: mated [1], non-mated [-1]",
        "0.452",
        {
            "0.452": _calls(
                "bob.measure: cllr",
                "llreval: tarnon_2_eer_cllr_mincllr",
                "scikit-learn: log_loss",
            ),
            "0.138": _calls("lir: cllr"),
        },
    ),
)
