"""Fairness measures: pure functions of the groups' error rates, each with its facts in `MEASURES`.

Every function takes arrays with groups on the last axis, so that replicates x operating points x groups pass through
whole. Rates are fractions. A NaN rate makes the measure NaN; x / 0 is +inf and 0 / 0 is NaN, and nothing is replaced:
`replace_zeros` does that where a caller declares it.

The papers named in the references are

1. Elobaid et al., "Sum of Group Error Differences: A Critical Examination of Bias Evaluation in Biometric Verification
   and a Dual-Metric Measure";
2. Chouchane et al., "A Comparison of Differential Performance Metrics for the Evaluation of Automatic Speaker
   Verification Fairness";
3. Hutiri et al., "As Biased as You Measure: Methodological Pitfalls of Bias Evaluations in Speaker Verification
   Research";
4. Schuckers et al., "Statistical Methods for Assessing Differences in False Non-Match Rates Across Demographic Groups";
5. "Assessing Uncertainty in Similarity Scoring: Performance & Fairness in Face Recognition".
"""

from ._facts import MEASURES, Measure, limitations_table
from ._functions import (
    fdr,
    garbe,
    gini,
    group_to_average_log_ratio,
    group_to_average_ratio,
    group_to_min_difference,
    inequity_rate,
    log_geomean_sum,
    mape,
    max_geomean_ratio,
    max_min_ratio,
    nrb,
    sed,
    skewed_error_ratio,
    std,
)
from ._zeros import ZERO_POLICIES, replace_zeros

__all__ = [
    "MEASURES",
    "ZERO_POLICIES",
    "Measure",
    "fdr",
    "garbe",
    "gini",
    "group_to_average_log_ratio",
    "group_to_average_ratio",
    "group_to_min_difference",
    "inequity_rate",
    "limitations_table",
    "log_geomean_sum",
    "mape",
    "max_geomean_ratio",
    "max_min_ratio",
    "nrb",
    "replace_zeros",
    "sed",
    "skewed_error_ratio",
    "std",
]
