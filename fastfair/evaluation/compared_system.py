"""`ComparedSystem`: a system among those that scored the same comparisons, and what comparing it takes, made once."""

from __future__ import annotations

from functools import cached_property

import numpy as np

from fastfair._lib.workers import Workers
from fastfair.data.class_keys import ClassKeys, keys_of
from fastfair.data.comparisons import Comparisons
from fastfair.error_rates import score_metrics
from fastfair.error_rates.curve_results import Rates
from fastfair.error_rates.operating_points import FEWEST_ERRORS, OperatingPoint
from fastfair.measures._registry import measure_of
from fastfair.resampling.linearized_rates import LinearizedRates
from fastfair.resampling.preparation import NO_METRICS, Preparation
from fastfair.uncertainty.interval_maker import IntervalMaker
from fastfair.uncertainty.quantities import Quantity

from .decisions import UNITS_TESTED, Decisions
from .result import Evaluation, maker_of


class ComparedSystem:
    """One of the systems that `compare` is given, with its evaluation.

    Parameters
    ----------
    comparisons : Comparisons
        The comparisons, numbered like those of the other systems.
    evaluation : Evaluation
        Their evaluation, with the same replicates as those of the other systems.
    n_threads : int or None
        Number of threads; all processors by default.
    like : ComparedSystem, optional
        Another of the systems.
    """

    def __init__(
        self,
        comparisons: Comparisons,
        evaluation: Evaluation,
        n_threads: int | None = None,
        like: ComparedSystem | None = None,
    ) -> None:
        self.comparisons, self.evaluation, self._n_threads = comparisons, evaluation, n_threads
        self._points = [result.at for result in evaluation.rates]
        self._unit = evaluation.settings["unit"]
        shared = None if like is None else like.decisions
        self.decisions: Decisions = Decisions(comparisons, self._points, self._unit, shared)

    @property
    def uncertainty(self) -> IntervalMaker:
        """What made the intervals."""
        return maker_of(self.evaluation)

    @cached_property
    def linearized(self) -> LinearizedRates | None:
        """The rates as sums over units; None where units are not independent."""
        if self._unit not in UNITS_TESTED:
            return None
        position = {group: k for k, group in enumerate(self.evaluation.groups)}
        measured = [position[group] for group in self.evaluation.measured_groups]
        workers = Workers(self._n_threads)
        return LinearizedRates(
            Preparation(self.comparisons, self._points, self._unit, "product", NO_METRICS, measured, True, workers)
        )

    @cached_property
    def points_held_by_few(self) -> frozenset[OperatingPoint]:
        """The operating points whose thresholds too few errors fix."""
        return frozenset(result.at for result in self.evaluation.rates if _held_by_few(result))

    @cached_property
    def errors_behind(self) -> tuple[int | None, ...]:
        """The number of errors behind each quantity, which decides whether a verdict can rest on it.

        For a rate, the number of errors or that of correct decisions, whichever is smaller. For the EER, and for Cllr
        and min Cllr, the EER times the number of mated or non-mated comparisons, whichever is smaller. For minDCF, the
        number of false matches or of false non-matches at its threshold, whichever is smaller. None for thresholds and
        fairness measures.
        """
        comparisons, evaluation = self.comparisons, self.evaluation
        of_group: dict[str | None, ClassKeys] = {None: keys_of(comparisons)}
        of_group |= {group: keys_of(comparisons, k) for k, group in enumerate(comparisons.groups)}
        asked = evaluation.settings
        costs = score_metrics.DetectionCosts(asked["p_target"], asked["c_miss"], asked["c_fa"])

        def count(quantity: Quantity) -> int | None:
            if quantity.n_errors is not None and quantity.n_comparisons is not None:
                return min(quantity.n_errors, quantity.n_comparisons - quantity.n_errors)
            if quantity.name == "threshold" or measure_of(quantity.name) is not None:
                return None
            keys = of_group[quantity.group]
            if not all(keys.sizes):
                return 0
            if quantity.name == "min_dcf":
                key = costs.least(keys)[1]
                false_nonmatches = int(np.searchsorted(keys.mated, key))
                return min(false_nonmatches, keys.nonmated.size - int(np.searchsorted(keys.nonmated, key)))
            rate, _ = score_metrics.equal_error(keys, asked["eer_method"])
            return round(rate * min(keys.sizes))

        return tuple(map(count, evaluation.quantities))


def _held_by_few(result: Rates) -> bool:
    """Return whether too few errors fix the threshold of an operating point; a threshold that was given needs none."""
    errors = {"fmr": result.counts.false_matches, "fnmr": result.counts.false_nonmatches}
    return any(errors[name] < FEWEST_ERRORS for name in result.at.rule.holds)
