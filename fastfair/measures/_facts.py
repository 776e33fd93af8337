"""The properties of each measure, such as its range and the value of a fair system, and tables made from them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from fastfair._lib import validation
from fastfair._lib.arguments import checked

from ._arrays import Floats
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


@dataclass(frozen=True)
class Measure:
    """A fairness measure and its properties.

    Attributes
    ----------
    name, title : str
        Name of the function, and name for print.
    function : callable
        The function that computes it.
    inputs : {"both rates", "one metric", "metric and average", "both rates and averages"}
        What the function takes.
    metrics : tuple of str
        Base metrics that it is reported for; empty where it takes FMR and FNMR together.
    fairer : {"lower", "higher", "nearer"}
        Whether lower values, higher values or values nearer to `fairest` are fairer.
    fairest : float
        The value of a perfectly fair system.
    bounds : tuple of float
        Least and largest value that it can have.
    families : tuple of str
        One or more of "standard deviation", "maximum disparity" and "aggregation".
    global_reference : bool
        Whether groups are compared with the performance of all comparisons pooled.
    own_threshold : bool
        Whether the measure defines its own threshold, so that it needs no operating point.
    per_group : bool
        Whether it has one value for each group.
    ratio : bool
        Whether it divides by a group's rate or takes its logarithm, and so cannot be computed, or is infinite, for a
        group without errors.
    source : str
        Paper and equation.
    """

    name: str
    title: str
    function: Callable[..., Floats]
    inputs: str
    metrics: tuple[str, ...]
    fairer: str
    fairest: float
    bounds: tuple[float, float]
    families: tuple[str, ...]
    source: str
    global_reference: bool = False
    own_threshold: bool = False
    per_group: bool = False
    ratio: bool = False

    @checked
    def error_types(self, metric: str | None = None) -> tuple[str, ...]:
        """Return the error types that the measure depends on when computed from a base metric, or from both rates."""
        if metric is None:
            return ("FMR", "FNMR")
        return _ERRORS_IN[self._known(metric)]

    @checked
    def needs_policy_threshold(self, metric: str | None = None) -> bool:
        """Return whether a threshold must be chosen before it is computed from a base metric, or from both rates."""
        if self.own_threshold:
            return False
        return metric is None or self._known(metric) in ("fmr", "fnmr", "tmr")

    def _known(self, metric: str) -> str:
        return validation.choice(f"metric of {self.name}", metric, self.metrics)

    @property
    def bounded(self) -> bool:
        """Whether both bounds are finite."""
        return bool(np.isfinite(self.bounds).all())


_ERRORS_IN = {
    "fmr": ("FMR",),
    "fnmr": ("FNMR",),
    "tmr": ("FNMR",),
    "eer": ("FMR", "FNMR"),
    "act_dcf": ("FMR", "FNMR"),
    "min_dcf": ("FMR", "FNMR"),
    "cllr": ("FMR", "FNMR"),
}
_BASE = ("fmr", "fnmr", "eer", "act_dcf", "min_dcf", "cllr")
_RATES = ("fmr", "fnmr")
_INF = float("inf")

MEASURES: dict[str, Measure] = {
    m.name: m
    for m in (
        Measure(
            "fdr",
            "FDR",
            fdr,
            "both rates",
            (),
            "higher",
            1,
            (0, 1),
            ("maximum disparity",),
            "papers 1 (15), 2 (1-3), 3 (1)",
        ),
        Measure(
            "inequity_rate",
            "IR",
            inequity_rate,
            "both rates",
            (),
            "lower",
            1,
            (1, _INF),
            ("maximum disparity",),
            "papers 1 (12-14), 2 (4-6)",
            ratio=True,
        ),
        Measure(
            "gini",
            "Gini",
            gini,
            "one metric",
            _RATES,
            "lower",
            0,
            (0, 1),
            ("aggregation",),
            "papers 1 (16), 2 (7-8), 5 A.1",
        ),
        Measure(
            "garbe",
            "GARBE",
            garbe,
            "both rates",
            (),
            "lower",
            0,
            (0, 1),
            ("aggregation",),
            "papers 1 (17-18), 2 (9-10)",
        ),
        Measure(
            "std",
            "STD",
            std,
            "one metric",
            ("fmr", "fnmr", "tmr", "eer"),
            "lower",
            0,
            (0, 0.5),
            ("standard deviation",),
            "paper 1 (21), table I",
        ),
        Measure(
            "skewed_error_ratio",
            "SER",
            skewed_error_ratio,
            "one metric",
            ("fmr",),
            "lower",
            1,
            (1, _INF),
            ("maximum disparity",),
            "paper 1 section II-B",
            ratio=True,
        ),
        Measure(
            "mape",
            "MAPE",
            mape,
            "metric and average",
            ("fmr",),
            "lower",
            0,
            (0, _INF),
            ("aggregation",),
            "paper 1 section II-B",
            global_reference=True,
        ),
        Measure(
            "sed",
            "SED",
            sed,
            "both rates and averages",
            (),
            "lower",
            0,
            (0, _INF),
            ("standard deviation", "aggregation"),
            "paper 1 (8-11)",
            global_reference=True,
            own_threshold=True,
            per_group=True,
        ),
        Measure(
            "group_to_min_difference",
            "group-to-min difference",
            group_to_min_difference,
            "one metric",
            _BASE,
            "lower",
            0,
            (0, _INF),
            ("maximum disparity",),
            "paper 3 table 1",
            per_group=True,
        ),
        Measure(
            "group_to_average_ratio",
            "group-to-average ratio",
            group_to_average_ratio,
            "metric and average",
            _BASE,
            "nearer",
            1,
            (0, _INF),
            ("aggregation",),
            "paper 3 table 1",
            global_reference=True,
            per_group=True,
        ),
        Measure(
            "group_to_average_log_ratio",
            "group-to-average log ratio",
            group_to_average_log_ratio,
            "metric and average",
            _BASE,
            "nearer",
            0,
            (-_INF, _INF),
            ("aggregation",),
            "paper 3 table 1",
            global_reference=True,
            per_group=True,
            ratio=True,
        ),
        Measure(
            "nrb",
            "NRB",
            nrb,
            "metric and average",
            _BASE,
            "lower",
            0,
            (0, _INF),
            ("aggregation",),
            "paper 3 (2)",
            global_reference=True,
            ratio=True,
        ),
        Measure(
            "max_min_ratio",
            "max-min ratio",
            max_min_ratio,
            "one metric",
            _RATES,
            "lower",
            1,
            (1, _INF),
            ("maximum disparity",),
            "paper 5 A.1, NIST FRTE part 8",
            ratio=True,
        ),
        Measure(
            "max_geomean_ratio",
            "max-geomean ratio",
            max_geomean_ratio,
            "one metric",
            _RATES,
            "lower",
            1,
            (1, _INF),
            ("maximum disparity",),
            "paper 5 A.1, NIST FRTE part 8",
            ratio=True,
        ),
        Measure(
            "log_geomean_sum",
            "log-geomean sum",
            log_geomean_sum,
            "one metric",
            _RATES,
            "lower",
            0,
            (0, _INF),
            ("aggregation",),
            "paper 5 A.1",
            ratio=True,
        ),
    )
}


def limitations_table() -> list[dict[str, Any]]:
    """List the measures of paper 1's Table I with their classes (C1-C3) and limitations (L1-L3).

    Returns
    -------
    list of dict
        Keys "method", "C1" (standard deviation), "C2" (maximum disparity), "C3" (aggregation), "L1" (one error type
        only), "L2" (no global reference), "L3" (needs a policy threshold). All values but "method" are bool.

    References
    ----------
    Paper 1, Table I.

    Examples
    --------
    >>> import fastfair as ff
    >>> ff.measures.limitations_table()[-1]
    {'method': 'SED', 'C1': True, 'C2': False, 'C3': True, 'L1': False, 'L2': False, 'L3': False}
    """
    rows: list[tuple[str, str | None]] = [("std", metric) for metric in ("fmr", "fnmr", "tmr", "eer")]
    rows += [
        ("inequity_rate", None),
        ("fdr", None),
        ("skewed_error_ratio", "fmr"),
        ("mape", "fmr"),
        ("garbe", None),
        ("sed", None),
    ]
    table = []
    for name, metric in rows:
        measure = MEASURES[name]
        table.append(
            {
                "method": f"STD in {metric.upper()}" if name == "std" and metric else measure.title,
                "C1": "standard deviation" in measure.families,
                "C2": "maximum disparity" in measure.families,
                "C3": "aggregation" in measure.families,
                "L1": len(measure.error_types(metric)) == 1,
                "L2": not measure.global_reference,
                "L3": measure.needs_policy_threshold(metric),
            }
        )
    return table
