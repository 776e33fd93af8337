"""Failures and attempts of people in sessions, and what sessions say of their rates."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Self

import numpy as np

from fastfair._lib.arrays import AnyArray, AnyIntegers, Flags, Floats, Integers
from fastfair.data.comparisons import Comparisons
from fastfair.error_rates.operating_points import at_threshold
from fastfair.resampling.engine import NO_METRICS, Resampler
from fastfair.resampling.linearized_rates import LinearizedRates
from fastfair.uncertainty.few_errors import (
    degrees_of_freedom,
    effective_sample_sizes,
    raised_by_session,
)
from fastfair.uncertainty.quantities import Entry

_AT = at_threshold(0.5)  # which tells decisions apart


@dataclass(frozen=True, eq=False)
class CountsOfSessions:
    """Failures and attempts of subjects in each session; a subject may be in several rows.

    Attributes
    ----------
    row : (n,) ndarray of int
        Whose they are, as a row of `FailureCounts`.
    sessions : tuple of two (n,) ndarray
        The sessions of the reference and of the probe, as positions in `FailureCounts.sessions`.
    failures, attempts : (n,) ndarray of int64
        Numbers of failed and of all attempts.
    """

    row: Integers
    sessions: tuple[AnyIntegers, AnyIntegers]
    failures: Integers
    attempts: Integers

    @classmethod
    def of(
        cls,
        row: AnyIntegers,
        sessions: tuple[AnyIntegers, AnyIntegers],
        failures: AnyIntegers,
        attempts: AnyIntegers,
    ) -> Self:
        """Count what is of the same row and sessions together."""
        n_sessions = 1 + max(int(codes.max(initial=0)) for codes in sessions)
        reference, probe = (codes.astype(np.int64) for codes in sessions)
        cells, cell = np.unique(
            (row * np.int64(n_sessions) + reference) * n_sessions + probe, return_inverse=True
        )
        of_both, probes = np.divmod(cells, n_sessions)
        rows, references = np.divmod(of_both, n_sessions)
        numbers = (
            np.bincount(cell, column, cells.size).astype(np.int64)
            for column in (failures, attempts)
        )
        is_one = sessions[0] is sessions[1]
        return cls(rows, (references, references if is_one else probes), *numbers)

    def take(self, inside: Flags) -> Self:
        """Keep some rows of the counts."""
        kept = inside[self.row]
        position = np.cumsum(inside) - 1
        reference, probe = self.sessions
        of_reference = reference[kept]
        return replace(
            self,
            row=position[self.row[kept]],
            sessions=(of_reference, of_reference if probe is reference else probe[kept]),
            failures=self.failures[kept],
            attempts=self.attempts[kept],
        )

    def correlation(self, group: AnyIntegers, rates: Floats) -> float:
        """Return the correlation of attempts of different people of a group in a session of probes.

        group: (rows of counts,), positions in rates.
        """
        alike = most = 0.0
        for k, rate in enumerate(rates.tolist()):
            inside = group[self.row] == k
            row, session, n = self.row[inside], self.sessions[1][inside], self.attempts[inside]
            cell = np.unique((row, session), axis=1, return_inverse=True)[1].ravel()
            residuals = self.failures[inside] - rate * n
            people, sessions, cells = (
                _sum_of_squares(units, residuals) for units in (row, session, cell)
            )
            pairs = _sum_of_squares(session, n) - _sum_of_squares(cell, n)
            # residuals of all are a little alike, as they vary about a rate of the same attempts
            of_rate = (people + sessions - cells) / max(float(n.sum()), 1.0) ** 2
            alike += sessions - cells + pairs * of_rate
            most += rate * (1 - rate) * pairs
        return min(max(alike / most, 0.0), 1.0) if most > 0 else 0.0

    @property
    def is_of_one_column(self) -> bool:
        """Whether references and probes have the same sessions."""
        return self.sessions[0] is self.sessions[1]


@dataclass(frozen=True, eq=False)
class RatesInSessions:
    """What comparisons in sessions say of groups' rates of failure, beside the rates: (groups,) of
    each, NaN for groups without attempts.

    Attributes
    ----------
    standard_error, freedom, effective, raised, n_sessions : (groups,) ndarray
        Standard errors and their degrees of freedom, effective sample sizes where few attempts
        failed, by how much one more session raises rates, and how many sessions there are.
    """

    standard_error: Floats
    freedom: Floats
    effective: Floats
    raised: Floats
    n_sessions: Floats

    @classmethod
    def of(cls, decisions: Comparisons, groups: Sequence[str]) -> Self:
        """Compute them of decisions, as `evaluate` does in closed form."""
        resampler = Resampler(decisions, [_AT], metrics=NO_METRICS)
        rates = LinearizedRates(resampler)
        lists = resampler.lists(True)
        errors = lists.errors_at(resampler.thresholds)[0]
        entries = []
        for k, group in enumerate(decisions.groups):
            position = resampler.position((k, k))
            rate = errors[position] / lists.sizes[position]
            entries.append(Entry("fnmr", group, 0, float(rate), (k, k)))
        columns = np.full((5, len(groups)), np.nan)
        there = [groups.index(group) for group in decisions.groups]
        columns[:, there] = [
            [rates.standard_error(True, 0, entry.cell) for entry in entries],
            degrees_of_freedom(entries, resampler),
            effective_sample_sizes(entries, resampler),
            raised_by_session(np.zeros(len(entries)), entries, resampler),
            [resampler.n_sessions(True, entry.cell) for entry in entries],
        ]
        return cls(*columns)


def _sum_of_squares(units: AnyIntegers, values: AnyArray) -> float:
    """Sum the squares of what each unit has of some values."""
    sums = np.bincount(units, values)
    return float(sums @ sums)
