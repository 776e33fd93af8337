"""What `evaluate` gave of many data sets of a population, beside the truth."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fastfair.evaluation.result import Evaluation
from fastfair.uncertainty.quantities import Quantity

from .populations import Floats
from .processes import of_data_sets

Key = tuple[str, str | None, str | None]  # a quantity's name, group and operating point
Kind = str | tuple[str, str]  # of intervals: a variant, or a variant and a method

_NUMBERS = ("estimate", "n_errors", "standard_error", "low", "high")


@dataclass(frozen=True)
class Study:
    """What many data sets of one population gave.

    Attributes
    ----------
    population : Population
    keys : tuple
        The quantities.
    truth : (quantities,) ndarray
    intervals : dict of dict of (data sets, quantities) ndarray
        Attributes of quantities by the kind of their intervals: "estimate", "n_errors", NaN where
        it is no rate, "standard_error", "low", "high" and "note".
    """

    population: Any
    keys: tuple[Key, ...]
    truth: Floats
    intervals: dict[Kind, dict[str, NDArray[Any]]]

    @property
    def first(self) -> dict[str, NDArray[Any]]:
        """The intervals of the first kind."""
        return next(iter(self.intervals.values()))

    @property
    def variants(self) -> list[str]:
        """The variants of `evaluate`, without other methods."""
        return [kind for kind in self.intervals if isinstance(kind, str)]


def key_of(quantity: Quantity) -> Key:
    """Return what a quantity is known by."""
    group = (
        quantity.group
        if quantity.probe_group is None
        else f"{quantity.group} / {quantity.probe_group}"
    )
    return quantity.name, group, quantity.operating_point


def _look(
    true: Mapping[Key, float],
    evaluations: Callable[[int], Iterable[tuple[Kind, Evaluation]]],
    seed: int,
) -> dict[Kind, dict[Key, tuple[object, ...]]]:
    return {
        kind: {
            key_of(q): (*(getattr(q, name) for name in _NUMBERS), q.note)
            for q in evaluation.quantities
            if key_of(q) in true
        }
        for kind, evaluation in evaluations(seed)
    }


def study(
    population: Any,
    true: Mapping[Key, float],
    evaluations: Callable[[int], Iterable[tuple[Kind, Evaluation]]],
    n_data_sets: int,
    processes: int | None,
) -> Study:
    """Collect estimates and intervals from the evaluations of many data sets, of each by kind."""
    looked = of_data_sets(functools.partial(_look, true, evaluations), n_data_sets, processes)
    keys, intervals = (), {}
    for kind, quantities in looked[0].items():
        keys = tuple(quantities)
        arrays = np.moveaxis(np.array([list(of[kind].values()) for of in looked], object), -1, 0)
        *numbers, notes = zip((*_NUMBERS, "note"), arrays, strict=True)
        intervals[kind] = {name: array.astype(np.float64) for name, array in numbers} | dict(
            [notes]
        )
    return Study(population, keys, np.array([true[key] for key in keys]), intervals)
