"""`evaluate_transactions`: FRR and FAR of transactions over the number of attempts allowed, beside
FNMR and FMR of attempts.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

from fastfair import intervals
from fastfair._lib.arguments import checked
from fastfair._lib.plots import draw_lines, tick_per_cent
from fastfair._lib.text import typed
from fastfair.data.comparisons import Comparisons
from fastfair.data.transactions import FRR_AND_FAR, Transactions
from fastfair.error_rates.operating_points import OperatingPoint, at_threshold, threshold_key
from fastfair.errors import InputError
from fastfair.measures._registry import METRICS, printed_name
from fastfair.results.result import Result
from fastfair.uncertainty.quantities import (
    FAILURE_RATES,
    Estimate,
    in_words,
    of_group,
    warn_of_narrow,
)
from fastfair.uncertainty.sessions import sentences_on_ignored

from .evaluate import evaluate_at_thresholds
from .result import Evaluation, file_part

if TYPE_CHECKING:
    from matplotlib.axes import Axes

RateOfTransactions = Literal["frr", "far"]


@dataclass(frozen=True, kw_only=True)
class TransactionRate(Estimate):
    """An error rate of transactions, or of attempts: an `Estimate`, and how many attempts were
    allowed.

    Attributes
    ----------
    name : str
        "frr" or "far" of transactions; "fnmr" or "fmr" of attempts, and where some failed
        "failure_rate_mated" and "failure_rate_nonmated".
    allowed : int or None
        How many attempts a transaction was allowed; None for rates of attempts.
    """

    name: str
    allowed: int | None = None


@dataclass(frozen=True, eq=False, repr=False)
class TransactionRates(Result):
    """The result of `evaluate_transactions`.

    Attributes
    ----------
    at : OperatingPoint
        The operating point.
    threshold : float
        The threshold there, found from all attempts.
    allowed : int
        The largest number of attempts that a transaction allows.
    groups : tuple of str
        The groups; empty without.
    rows : tuple of TransactionRate
        The rates of attempts, and those of transactions of 1, 2, ... attempts; of all, and then of
        each group.
    confidence_level : float
        The level of the intervals.
    """

    at: OperatingPoint
    threshold: float
    allowed: int
    groups: tuple[str, ...]
    rows: tuple[TransactionRate, ...]
    confidence_level: float

    _title = "How often do transactions fail?"
    _printed = "name group allowed estimate n_comparisons n_errors n_subjects"

    @checked
    def of(self, name: str, group: str | None = None) -> tuple[TransactionRate, ...]:
        """Return the rows of a rate, of all or of a group, one for each number of attempts.

        Parameters
        ----------
        name : str
            As in `TransactionRate`.
        group : str, optional
            One of `groups`.

        Returns
        -------
        tuple of TransactionRate
        """
        return tuple(of_group(self.rows, group, self.groups, name))

    def _sentences(self) -> list[str]:
        """Return the sentences of the summary."""
        said = [f"At {self.at} (threshold {typed(self.threshold)}), the same in all rows."]
        for of_attempts, of_transactions in FRR_AND_FAR.items():
            single, rows = self.of(of_attempts), self.of(of_transactions)
            if single and rows:
                said.append(
                    f"{printed_name(of_attempts)} of attempts {in_words(single[0])};"
                    f" {printed_name(of_transactions)} of transactions of up to {self.allowed}"
                    f" attempts {in_words(rows[-1])}, of {rows[-1].n_comparisons:,}."
                )
        said.append(
            f"Numbers in brackets are {100 * self.confidence_level:g} % intervals for this"
            " threshold, over subjects."
        )
        return said + sentences_on_ignored(self.rows)

    def _figures(self) -> dict[str, Axes]:
        return {
            f"transactions_{rate}_{file_part(self.at)}": self.plot(rate=rate)
            for rate in ("frr", "far")
            if self.of(rate)
        }

    @checked
    def plot(self, ax: Axes | None = None, *, rate: RateOfTransactions = "frr") -> Axes:
        """Draw a rate over the number of attempts allowed, with intervals, of each group where
        there are groups.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; a new figure by default.
        rate : {"frr", "far"}
            The rate.

        Returns
        -------
        matplotlib Axes
        """
        curves = {
            group or "all": [
                np.array([getattr(row, name) for row in self.of(rate, group)])
                for name in ("estimate", "low", "high")
            ]
            for group in self.groups or (None,)
        }
        allowed = np.arange(1, self.allowed + 1, dtype=np.float64)
        ax = draw_lines(allowed, curves, ax, ("Attempts allowed", METRICS[rate].long_title), None)
        ax.set_xticks(allowed)
        ax.set_ylim(bottom=0)
        ax.yaxis.set_major_formatter(tick_per_cent)
        return ax


@checked
def evaluate_transactions(
    transactions: Comparisons, at: OperatingPoint, *, confidence_level: float = 0.95
) -> TransactionRates:
    """Compute FRR and FAR of transactions over the number of attempts allowed, beside FNMR and FMR
    of attempts.

    Parameters
    ----------
    transactions : Comparisons
        What `transactions` made, with or without groups.
    at : OperatingPoint
        The operating point. Its threshold is found from all attempts: at an FMR of 0.1 % one in a
        thousand non-mated attempts is accepted, and more transactions are.
    confidence_level : float, default 0.95
        Confidence level of the intervals, in (0, 1).

    Returns
    -------
    TransactionRates
        The same transactions in all rows, of which those that allow fewer attempts use the first.

    Raises
    ------
    InputError
        For comparisons that are no transactions.

    Warns
    -----
    NarrowIntervalsWarning
        Where intervals are likely too narrow, as few subjects cause most errors.

    Notes
    -----
    Intervals are those of `evaluate` without replicates, for the threshold as it is. With one
    attempt, of which a share FTA failed to be acquired, FRR = FTA + (1 - FTA) FNMR, as ISO/IEC
    19795-1 has it; of several attempts failures are counted row by row.

    Examples
    --------
    >>> import fastfair as ff
    >>> scores = [0.2, 0.8, 0.3, 0.4, 0.1, 0.6]
    >>> c = ff.Comparisons(scores, [1, 1, 1, 1, 0, 0], list("aabbaa"), list("aabbbb"))
    >>> result = ff.evaluate_transactions(ff.transactions(c, 2), ff.at_threshold(0.5))
    >>> [(row.allowed, row.estimate) for row in result.of("frr")], result.of("fnmr")[0].estimate
    ([(1, 1.0), (2, 0.5)], 0.75)
    """
    level = intervals.level(confidence_level)
    made = require_transactions(transactions)
    attempts = _with_groups_of(made.attempts, transactions)
    threshold = point_of(transactions, at).value
    groups = transactions.groups
    rates = tuple(name for name in FRR_AND_FAR if name in attempts.rates)
    single = evaluate_at_thresholds(attempts, [threshold], level)
    rows = list(_rows(single, dict(zip(rates, rates, strict=True)), (None, *groups), None))
    if attempts.failed is not None:
        lost = {name: name for name in FAILURE_RATES}
        rows += _rows(single, lost, (None, *groups), None)
    names = {name: FRR_AND_FAR[name] for name in FRR_AND_FAR if name in transactions.rates}
    for allowed in range(1, made.allowed + 1):
        some = _with_groups_of(made.allowing(allowed), transactions).without_failure_rates()
        evaluation = evaluate_at_thresholds(some, [threshold], level)
        rows += _rows(evaluation, names, (None, *groups), allowed)
    warn_of_narrow(rows)
    return TransactionRates(
        at,
        threshold,
        made.allowed,
        groups,
        tuple(rows),
        level,
        left_out=transactions.left_out,
    )


def _rows(
    evaluation: Evaluation,
    names: dict[str, str],
    groups: Sequence[str | None],
    allowed: int | None,
) -> Iterator[TransactionRate]:
    """Yield rates of an evaluation under other names, of all and of those groups that it has."""
    for group in groups:
        if group is None or group in evaluation.groups:
            for rate, name in names.items():
                quantity = evaluation.quantity(rate, group)
                yield TransactionRate._of(quantity, name=name, allowed=allowed)


def _with_groups_of(comparisons: Comparisons, as_others: Comparisons) -> Comparisons:
    """Return comparisons with the groups of others."""
    return comparisons._with_parts(grouping=as_others.grouping)


def require_transactions(comparisons: Comparisons) -> Transactions:
    """Return what transactions are made of; refuse comparisons that are none, or some of them."""
    made = comparisons.transactions
    if made is None:
        raise InputError(
            "these comparisons are no transactions: make them with transactions(comparisons, ...)"
        )
    if made.sizes != (len(comparisons.mated), len(comparisons.nonmated)):
        raise InputError(
            "some of these transactions were left out: make transactions of the attempts that are"
            " left"
        )
    return made


def point_of(comparisons: Comparisons, at: OperatingPoint) -> OperatingPoint:
    """Return the threshold of an operating point as one that is given; that of transactions is
    found from their attempts.
    """
    if at.is_given:
        return at
    made = comparisons.transactions
    scored = comparisons if made is None else _with_groups_of(made.attempts, comparisons)
    value = scored.to_threshold(threshold_key(scored, at))
    if math.isnan(value):
        raise InputError(f"there is no threshold at {at}")
    return at_threshold(value)
