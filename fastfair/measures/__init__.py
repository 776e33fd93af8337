"""Fairness measures: functions of the error rates of groups. `MEASURES` lists the properties of each.

Every function takes arrays with groups on the last axis; other axes, such as replicates and operating points, are
kept. Rates are fractions. A NaN rate makes the measure NaN; x / 0 is +inf and 0 / 0 is NaN. No rate is changed to
avoid this, unless the caller does so first with `replace_zeros`.

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
from ._of_metrics import (
    gini,
    group_to_average_log_ratio,
    group_to_average_ratio,
    group_to_min_difference,
    log_geomean_sum,
    max_geomean_ratio,
    max_min_ratio,
    nrb,
    std,
)
from ._of_rates import fdr, garbe, inequity_rate, mape, sed, skewed_error_ratio
from ._table import table
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
    "table",
]
