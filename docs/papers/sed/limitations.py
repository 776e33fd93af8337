"""Paper 1's Table I, from what the registry says of each measure."""

from __future__ import annotations

from typing import Any

from fastfair.measures import MEASURES


def limitations_table() -> list[dict[str, Any]]:
    """List the measures of Table I with their classes and limitations.

    The keys are "method", "C1" (standard deviation), "C2" (maximum disparity), "C3" (aggregation),
    "L1" (one error type only), "L2" (no global reference) and "L3" (needs a policy threshold); all
    values but "method" are bool.
    """
    rows: list[tuple[str, str | None]] = [("std", metric) for metric in MEASURES["std"].of]
    rows += [
        ("inequity_rate", None),
        ("fdr", None),
        ("skewed_error_ratio", "fmr"),
        ("mape", "fmr"),
        ("garbe", None),
        ("sed", None),
    ]
    return [
        {
            "method": f"STD in {metric.upper()}" if name == "std" and metric else one.title,
            "C1": "standard deviation" in one.families,
            "C2": "maximum disparity" in one.families,
            "C3": "aggregation" in one.families,
            "L1": len(one.error_types(metric)) == 1,
            "L2": not one.global_reference,
            "L3": one.needs_policy_threshold(metric),
        }
        for name, metric, one in ((name, metric, MEASURES[name]) for name, metric in rows)
    ]
