"""How often comparisons failed, and the rates in which failures count, beside an evaluation's other
quantities.

Of all mated comparisons let a share f have failed. The FRR at a threshold is f + (1 - f) FNMR, as
every failure is a rejection; with g the same of non-mated ones, the FAR is (1 - g) FMR. In a
replicate f and g are those of the units drawn, the same as for the other quantities.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from fastfair._lib.arrays import Floats, Indices, RandomKey
from fastfair._lib.workers import Workers
from fastfair.data.comparisons import Comparisons
from fastfair.data.derived import failure_trials
from fastfair.error_rates.operating_points import ENOUGH_ERRORS, at_threshold
from fastfair.error_rates.rates import (
    RateCounts,
    Rates,
    concentration,
    concentration_in_cells,
    counts_behind,
    rates_at_key,
)
from fastfair.resampling.dependence import ENOUGH_PAIRS, AddedSubject
from fastfair.resampling.engine import NO_METRICS, Replicates, Resampler
from fastfair.resampling.linearized_rates import LinearizedRates
from fastfair.uncertainty.few_errors import (
    SampleSizes,
    added_subjects,
    degrees_of_freedom,
    effective_sample_sizes,
    raised_by_session,
)
from fastfair.uncertainty.notes import Code, Note
from fastfair.uncertainty.quantities import (
    FAILURE_RATES,
    OF_MATED,
    WITH_FAILURES,
    Entry,
    Quantity,
    estimates,
)
from fastfair.uncertainty.rate_limits import raised_rate
from fastfair.uncertainty.sessions import sessions_behind

_FAILED = at_threshold(0.5)
_SCORED = {"frr": "fnmr", "far": "fmr"}  # the same rates without failures


@dataclass(eq=False)
class Failures:
    """The rates of failure of comparisons, and their FRRs and FARs.

    Attributes
    ----------
    comparisons : Comparisons
        The comparisons, some of which may have failed.
    at_points : sequence of Rates
        Their rates at operating points, of those that have a score.
    """

    comparisons: Comparisons
    at_points: Sequence[Rates]

    def __post_init__(self) -> None:
        self.trials = failure_trials(self.comparisons)
        self.rates = rates_at_key(self.trials, _FAILED, self.trials.to_key(_FAILED.value))
        # Where failures count as non-matches, FNMR and FMR are FRR and FAR already.
        failed = self.comparisons.failed
        self.points = (
            tuple(self.at_points) if failed is not None and failed.policy == "exclude" else ()
        )
        shares: dict[str, Any] = {}
        if self.trials.subjects is not None:
            nonmated = self.trials, self.rates, False
            of_cells = concentration_in_cells(*nonmated)
            shares["failure_rate_nonmated"] = concentration(*nonmated), of_cells
        made = [
            (entry, _quantity(entry, self.rates.counts, self.points, shares.get(entry.name)))
            for entry in self._entries(
                estimates([self.rates], {}, ()), estimates(self.points, {}, ())
            )
        ]
        self.quantities = tuple(quantity for _, quantity in made)
        self.entries = [
            replace(entry, value=np.float64(quantity.estimate)) for entry, quantity in made
        ]

    @property
    def _groups(self) -> list[tuple[str | None, tuple[int, int] | None]]:
        return [(None, None), *((group, (k, k)) for k, group in enumerate(self.comparisons.groups))]

    def _entries(self, failed: Replicates, scored: Replicates) -> Iterator[Entry]:
        """List the numbers, of rates of failure and of the rates of what has a score."""
        for name, lost in zip(FAILURE_RATES, (failed.fnmr[0], failed.fmr[0]), strict=True):
            for k, (group, cell) in enumerate(self._groups):
                yield Entry(name, group, None, lost[k], cell)
        for point in range(len(self.points)):
            for k, (group, cell) in enumerate(self._groups):
                mated, nonmated = failed.fnmr[0, k], failed.fmr[0, k]
                frr = np.where(mated == 1, 1.0, mated + (1 - mated) * scored.fnmr[point, k])
                yield Entry("frr", group, point, frr, cell)
                far = np.where(nonmated == 1, 0.0, (1 - nonmated) * scored.fmr[point, k])
                yield Entry("far", group, point, far, cell)

    def prepare(self, unit: str, scheme: str, workers: Workers) -> None:
        """Make ready to draw units; arguments are those of `evaluate`."""
        self.resampler = Resampler(
            self.trials, [_FAILED], unit=unit, scheme=scheme, metrics=NO_METRICS, workers=workers
        )

    def replicates(
        self, n_resamples: int, key: RandomKey, workers: Workers, scored: Replicates
    ) -> Floats:
        """Draw the (entries, r) numbers in the replicates that `scored` are of."""
        return self._rows(self.resampler.replicate(n_resamples, key, workers), scored)

    def left_out(self, scored: Replicates, n_threads: int | None) -> Floats:
        """Compute the (entries, units) numbers with one unit left out; NaN where units are
        comparisons.
        """
        if self.resampler.units.unit == "comparison":
            return np.full((len(self.entries), scored.threshold.shape[-1]), np.nan)
        return self._rows(self.resampler.jackknife(n_threads), scored)

    def _rows(self, failed: Replicates, scored: Replicates) -> Floats:
        return np.array([entry.value for entry in self._entries(failed, scored)])

    @cached_property
    def _as_errors(self) -> list[Entry]:
        """The rates of failure behind each entry, as the error rates of the trials."""
        base = estimates([self.rates], {}, ())
        return [
            Entry(
                "fnmr" if mated else "fmr",
                entry.group,
                0,
                (base.fnmr if mated else base.fmr)[0, row],
                entry.cell,
            )
            for entry in self.entries
            for mated, row in [(entry.name in OF_MATED, 1 + entry.cell[0] if entry.cell else 0)]
        ]

    def with_sizes(self, listed: Sequence[Entry], of_listed: SampleSizes) -> SampleSizes:
        """Add how much data are behind these rates; listed: the other entries of the evaluation,
        with their own.
        """
        freedom = degrees_of_freedom(self._as_errors, self.resampler)
        effective = effective_sample_sizes(self._as_errors, self.resampler)
        added = added_subjects(self._as_errors, self.resampler)
        least = self._of_scored(listed, of_listed.effective)
        raised = np.full(len(self.entries), np.nan)
        rows = zip(self.entries, self.quantities, self._as_errors, strict=True)
        for k, (entry, quantity, failed) in enumerate(rows):
            more = AddedSubject(added.attempts[k], added.failures[k])
            raised[k] = raised_rate(quantity.estimate, quantity.n_comparisons or 1, more)
            if entry.name not in WITH_FAILURES or failed.value != 0:
                least[k] = np.fmin(effective[k], least[k])
            if entry.value not in (0, 1) and (quantity.n_errors or 0) >= ENOUGH_PAIRS:
                least[k] = np.nan
        raised = raised_by_session(raised, self._as_errors, self.resampler)
        freedom = np.fmin(freedom, self._of_scored(listed, of_listed.degrees_of_freedom))
        return of_listed.followed_by(
            SampleSizes(
                freedom,
                least,
                raised,
                places=self._places(listed).tolist(),
                sessions=sessions_behind(self._as_errors, self.resampler),
            )
        )

    def _places(self, listed: Sequence[Entry]) -> Indices:
        """Return the place of the same rate without failures among other entries; -1 for rates of
        failure.
        """
        position = {entry.key: k for k, entry in enumerate(listed)}
        scored = (
            (_SCORED.get(entry.name, ""), entry.group, None, entry.point) for entry in self.entries
        )
        return np.array([position.get(key, -1) for key in scored], np.intp)

    def _of_scored(self, listed: Sequence[Entry], of_listed: Floats) -> Floats:
        """Return what the same rate without failures has; NaN for rates of failure."""
        places = self._places(listed)
        return np.where(places < 0, np.nan, of_listed[places])

    def with_closed_form(
        self,
        others: tuple[Quantity, ...],
        listed: Sequence[Entry],
        sizes: SampleSizes,
        errors: Floats,
    ) -> tuple[tuple[Quantity, ...], SampleSizes, Floats]:
        """Add these rates, with how much data are behind them and their standard errors, to the
        others.

        The standard error of an FRR or FAR is that of failures and of the rate without them, if
        both varied together: never too small.
        """
        linear = LinearizedRates(self.resampler)
        errors_of_failures = np.array(
            [
                linear.standard_error(failure.name == "fnmr", 0, failure.cell)
                for failure in self._as_errors
            ]
        )
        of_scored = self._of_scored(
            listed, np.where([failure.is_held for failure in others], 0.0, errors)
        )
        rates = self._of_scored(listed, np.array([entry.value for entry in listed], np.float64))
        lost = np.array([entry.value for entry in self._as_errors], np.float64)
        for k, entry in enumerate(self.entries):
            if entry.name in WITH_FAILURES:
                moved = 1 - rates[k] if entry.name == "frr" else rates[k]
                errors_of_failures[k] = np.nansum(
                    [(1 - lost[k]) * of_scored[k], moved * errors_of_failures[k]]
                )
        return (
            (*others, *self.quantities),
            self.with_sizes(listed, sizes),
            np.append(errors, errors_of_failures),
        )


def _quantity(entry: Entry, failed: RateCounts, points: Sequence[Rates], share: Any) -> Quantity:
    """Make a quantity of a number; share: how concentrated failures are, of all comparisons and of
    cells.
    """
    rates = None if entry.point is None else points[entry.point]
    mated = entry.name in OF_MATED
    size, errors, subjects = counts_behind(failed, mated, entry.cell)
    if rates is not None:
        wrong = counts_behind(rates.counts, mated, entry.cell)[1]
        errors = wrong + errors if mated else wrong
    concentrated = None
    if share is not None and errors:
        concentrated = share[0] if entry.cell is None else float(share[1][entry.cell])
    few = Code.FEW_FAILURES if rates is None else Code.FEW_ERRORS
    codes = [] if size and errors >= ENOUGH_ERRORS else [few if size else Code.NO_COMPARISONS]
    return Quantity(
        entry.name,
        entry.group,
        None if rates is None else rates.at,
        errors / size if size else np.nan,
        n_comparisons=size,
        n_errors=errors,
        n_subjects=subjects,
        notes=tuple(map(Note, codes)),
        concentration=concentrated,
    )
