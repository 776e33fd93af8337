"""Fairness measures: functions of the error rates of groups. `MEASURES` has the record of each.

Every function takes arrays with groups on the last axis; other axes, such as replicates and
operating points, are kept. Rates are fractions. A NaN rate makes the measure NaN; x / 0 is +inf and
0 / 0 is NaN. No rate is changed to avoid this, unless the caller does so first with
`replace_zeros`.

The papers named in the references are

1. Elobaid et al., "Sum of Group Error Differences: A Critical Examination of Bias Evaluation in
   Biometric Verification and a Dual-Metric Measure";
2. Chouchane et al., "A Comparison of Differential Performance Metrics for the Evaluation of
   Automatic Speaker Verification Fairness";
3. Hutiri et al., "As Biased as You Measure: Methodological Pitfalls of Bias Evaluations in Speaker
   Verification Research";
4. Schuckers et al., "Statistical Methods for Assessing Differences in False Non-Match Rates Across
   Demographic Groups";
5. "Assessing Uncertainty in Similarity Scoring: Performance & Fairness in Face Recognition".
"""

from . import _fairness
from ._fairness import *  # noqa: F403 - its `__all__` lists the measures
from ._fairness import ZERO_POLICIES, replace_zeros
from ._registry import MEASURES, METRICS, Estimand, measure
from ._table import table

__all__ = [
    "MEASURES", "METRICS", "ZERO_POLICIES", "Estimand", "measure", "replace_zeros", "table",
]  # fmt: skip
__all__ += _fairness.__all__
