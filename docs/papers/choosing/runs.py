"""What the page on choosing measures is made of: real and made systems, measured and compared."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fastfair import Comparisons, at_fmr, compare, evaluate
from fastfair.evaluation.contrasts import Contrast
from fastfair.evaluation.result import Evaluation
from fastfair.synthesis import Binormal
from fastfair.uncertainty.quantities import Quantity
from papers.laws import measures_of_laws
from papers.quantities import measure_of
from papers.settings import Settings
from papers.voxceleb import SYSTEMS, scores

Floats = NDArray[np.float64]
LEVELS = (1e-3, 1e-2)
POINTS = tuple(at_fmr(level) for level in LEVELS)
GROUPINGS = (("Gender",), ("Gender", "Nationality"))
# Ratios of the groups' FMRs at a TMR of 95 %, in units of 0.002, all with subjects who differ.
MADE = ("1:1:1:1", "1:1:1:5", "1:3:3:5")
_UNIT = 2e-3
_SUBJECTS, _MATED, _NONMATED = 250, 2_500, 25_000  # of each group
_SUBJECT_EFFECT = 0.2


@dataclass(frozen=True)
class Entry:
    """A measure at an operating point, or of its own, on one set of data.

    Attributes
    ----------
    data : str
        The system and its groups.
    measure : str
        Named as in an evaluation.
    level : float or None
        FMR of the operating point.
    quantity : Quantity
    truth : float
        The value without chance; NaN where it is not known.
    """

    data: str
    measure: str
    level: float | None
    quantity: Quantity
    truth: float = math.nan

    @property
    def computable(self) -> bool:
        """Whether there are an estimate and a finite interval."""
        numbers = self.quantity.estimate, self.quantity.low, self.quantity.high
        return all(number is not None and math.isfinite(number) for number in numbers)

    @property
    def tells_bias(self) -> bool:
        """Whether the interval leaves the fair value out."""
        low, high = self.quantity.low, self.quantity.high
        return (
            self.computable
            and low is not None
            and high is not None
            and not low <= fairest(self.measure) <= high
        )

    @property
    def uncertainty(self) -> float:
        """Paper 5's normalised uncertainty: the standard error divided by the estimate."""
        error = self.quantity.standard_error
        if error is None or not self.computable or self.quantity.estimate == 0:
            return math.nan
        return error / abs(self.quantity.estimate)


@dataclass(frozen=True)
class Runs:
    """All measures of all data, and the two real systems against each other.

    Attributes
    ----------
    real, made : tuple of Entry
        Of VoxCeleb1-H, and of the made systems.
    contrasts : dict of grouping to tuple of Contrast
        Of measures, the first system against the second.
    """

    real: tuple[Entry, ...]
    made: tuple[Entry, ...]
    contrasts: Mapping[tuple[str, ...], tuple[Contrast, ...]]

    @property
    def measures(self) -> list[str]:
        """The measures in the order of the evaluations."""
        return list(dict.fromkeys(entry.measure for entry in self.real))


def fairest(measure: str) -> float:
    """Return the fair value of a measure."""
    facts = measure_of(measure)
    assert facts is not None
    return facts.fair_value


def run(
    settings: Settings,
    systems: Mapping[tuple[str, ...], tuple[Comparisons, Comparisons]] | None = None,
) -> Runs:
    """Measure everything; `systems` stand in for those of VoxCeleb1-H, two for each grouping."""
    real: list[Entry] = []
    contrasts: dict[tuple[str, ...], tuple[Contrast, ...]] = {}
    if systems is None:
        settings.tell("choosing: reading VoxCeleb1-H")
        systems = {
            groups: (scores(SYSTEMS[0], groups), scores(SYSTEMS[1], groups)) for groups in GROUPINGS
        }
    for groups, (first, second) in systems.items():
        settings.tell(f"choosing: two systems by {' and '.join(groups).lower()}")
        pair = compare(
            first,
            second,
            POINTS,
            metrics="all",
            n_resamples=settings.n_resamples,
            rng=settings.seed,
        )
        contrasts[groups] = tuple(filter(_is_summary, pair.contrasts))
        for name, evaluation in zip(SYSTEMS, pair.evaluations, strict=True):
            real += _entries(f"{name} by {' x '.join(groups).lower()}", evaluation, {})
    made: list[Entry] = []
    for k, ratios in enumerate(MADE):
        settings.tell(f"choosing: made system {ratios}")
        found = evaluate(
            made_system(ratios, settings.seed + k),
            POINTS,
            metrics="all",
            n_resamples=settings.n_resamples,
            rng=settings.seed,
        )
        laws = _laws(ratios)
        truths = {
            (name, level): value
            for level in LEVELS
            for name, value in measures_of_laws(laws, laws, level).items()
        }
        made += _entries(ratios, found, truths)
    return Runs(tuple(real), tuple(made), contrasts)


def made_system(ratios: str, seed: int) -> Comparisons:
    """Draw a system whose groups have FMRs in these ratios, and whose subjects differ."""
    seeds = np.random.SeedSequence(seed).spawn(len(ratios.split(":")))
    parts = [
        law.draw(_MATED, _NONMATED, n_subjects=_SUBJECTS, subject_effect=_SUBJECT_EFFECT, rng=child)
        for law, child in zip(_laws(ratios), seeds, strict=True)
    ]
    sides = [side for part in parts for side in (part.mated, part.nonmated)]
    sizes = [len(side) for side in sides]
    group = np.repeat(np.arange(len(parts)).repeat(2), sizes)
    reference, probe = (
        np.concatenate([np.asarray(getattr(side, which)) for side in sides]) + _SUBJECTS * group
        for which in ("reference", "probe")
    )
    return Comparisons(
        np.concatenate([side.similarities for side in sides]),
        np.repeat([True, False] * len(parts), sizes),
        reference,
        probe,
        np.char.add("group ", (group + 1).astype(str)),
    )


def _laws(ratios: str) -> list[Binormal]:
    return [Binormal.of_rates(fmr=int(part) * _UNIT) for part in ratios.split(":")]


def _is_summary(row: Quantity | Contrast) -> bool:
    """Tell measures with one value for all groups."""
    return row.group is None and measure_of(row.name) is not None


def _entries(
    data: str, found: Evaluation, truths: Mapping[tuple[str, float], float]
) -> list[Entry]:
    levels = dict(zip(POINTS, LEVELS, strict=True))
    entries = []
    for quantity in filter(_is_summary, found.quantities):
        level = None if quantity.at is None else levels[quantity.at]
        truth = truths.get((quantity.name, LEVELS[0] if level is None else level), math.nan)
        entries.append(Entry(data, quantity.name, level, quantity, truth))
    return entries


def entries_of(entries: Sequence[Entry], measure: str) -> list[Entry]:
    """Keep the entries of a measure."""
    return [entry for entry in entries if entry.measure == measure]
