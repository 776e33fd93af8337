"""Intervals of fairness measures where a group has no errors, by test inversion with numbers of errors drawn anew.

Replicates of a rate of 0 are all 0, and cannot be moved to a fairer or less fair system. Numbers of errors are drawn
instead: of false matches from gamma-Poisson distributions, of false non-matches from beta-binomial ones, whose
variances are those of data in which errors share subjects. The way from fair to unfair systems leads through rates
(x + 1/2) / (n + 1 / (2 p)), with x errors in n comparisons of a group and the rate p of all groups. All rates of a
system are multiplied by a number, so that as many errors are expected in all groups together as the data have.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from fastfair.resampling.blocks import Replicates
from fastfair.resampling.count_models import CountModel

from .entries import Key, Selection, measure_entries
from .inversion import POWERS, RATES, MovedSystems, Part, base_of, moved_rates

Floats = NDArray[np.float64]
_FEW = 10  # errors of all groups, with which intervals miss the truth more often where subjects err unequally
_LEAST_SIZE = 0.5  # of a beta distribution, where one comparison leaves nothing to be alike
_PURPOSE = 6  # kind of draws, told apart in the seed from others


def points_without_errors(models: Sequence[dict[str, CountModel]], measured: Sequence[int]) -> list[int]:
    """Return the operating points at which one of the groups measured has no errors of a kind."""
    rows = list(measured)
    return [
        p for p, of_point in enumerate(models) if any((model.errors[rows] == 0).any() for model in of_point.values())
    ]


class CountedSystems(MovedSystems):
    """Systems on the way from fair to unfair, with numbers of errors drawn at each.

    Parameters
    ----------
    estimates : Replicates
        The estimates, without an axis of replicates.
    selection : Selection
        As for `MovedSystems`.
    models : sequence of dict of CountModel
        Of "fmr" and "fnmr" at each operating point, or of the only one that measures are asked of; at some point a
        group has no errors.
    held : sequence of str
        The kind of each operating point: "fmr" or "fnmr" where draws are scaled to the rate that it holds.
    n_replicates : int
        How many to draw.
    key : (2,) ndarray of uint32
        Key of the random stream.
    n_threads : int, optional
        As for `MovedSystems`.
    """

    def __init__(
        self,
        estimates: Replicates,
        selection: Selection,
        models: Sequence[dict[str, CountModel]],
        held: Sequence[str],
        n_replicates: int,
        key: NDArray[np.uint32],
        n_threads: int | None = None,
    ) -> None:
        measured = list(selection.measured)
        kept = [{name: model.take(measured) for name, model in of_point.items()} for of_point in models]
        self.points = points_without_errors(models, measured)
        own = replace(
            selection,
            n_points=len(self.points),
            with_mean_group_eer=False,
            measures=tuple(name for name in selection.measures if name != "sed"),
        )
        rates = {name: getattr(estimates, name)[self.points] for name in RATES}
        without_metrics = Replicates(estimates.threshold[self.points], **rates, metrics={}, cells=())
        super().__init__(without_metrics, without_metrics, own, n_threads)
        self.n_replicates = n_replicates
        self._models, self._held = [kept[p] for p in self.points], [held[p] for p in self.points]
        self._key = key
        # How much the rate of all comparisons, of different groups, too, is above that within groups.
        self._ratio = {name: self._ratios(name) for name in RATES}
        self._start = {name: np.array([self._smooth(name, p) for p in range(len(self.points))]) for name in RATES}

    def key_of(self, key: Key) -> Key:
        """Return the key of a measure with the operating point as all points count."""
        name, group, probe_group, point = key
        return name, group, probe_group, None if point is None else self.points[point]

    def rests_on_few_errors(self, key: Key) -> bool:
        """Return whether all groups together have fewer than 10 errors of a kind that a measure may be of."""
        return key[3] is not None and any(0 < m.errors.sum() < _FEW for m in self._models[key[3]].values())

    def _ratios(self, name: str) -> Floats:
        with np.errstate(invalid="ignore", divide="ignore"):
            within = np.array(
                [m[name].errors.sum() / m[name].comparisons.sum() if name in m else np.nan for m in self._models]
            )
            return np.asarray(self._start[name][:, 0] / within)

    def _smooth(self, name: str, p: int) -> Floats:
        model = self._models[p].get(name)
        if model is None or model.errors.sum() == 0:
            return np.full(1 + len(self._selection.measured), np.nan)
        x, n = model.errors, model.comparisons
        rates = np.minimum((x + 0.5) / (n + 0.5 * n.sum() / x.sum()), 1.0)
        return np.append(min(1.0, self._ratio[name][p] * (n @ rates) / n.sum()), rates)

    def path(self, powers: Floats) -> Floats:
        """Return the (measures, powers) measures of the systems themselves."""
        followed = {name: np.array([self._along(name, p, powers) for p in range(len(self.points))]) for name in RATES}
        path = [entry.value for entry in measure_entries(base_of(followed), self._selection)]
        return np.array(path).reshape(len(self.keys), powers.size)

    def _moved(self, part: Part, powers: Floats) -> dict[str, Floats]:
        return {name: np.array([self._draw(name, p, powers) for p in part.places.tolist()]) for name in RATES}

    def _n_numbers(self, part: Part) -> int:
        return part.places.size * (1 + len(self._selection.measured)) * self.n_replicates

    def _kinds(self, p: int) -> frozenset[str]:
        """Return of which rates measures at a point need draws: of those of which a group has no errors."""
        none = {name for name, model in self._models[p].items() if (model.errors == 0).any()}
        return frozenset(none | {"both rates"})

    def _along(self, name: str, p: int, powers: Floats) -> Floats:
        """Return the (rows, powers) rates of the systems at a point, of all comparisons and of each group.

        The number of errors expected in all groups together is that of the data.
        """
        model = self._models[p].get(name)
        if model is None:
            return np.full((1 + len(self._selection.measured), powers.size), np.nan)
        n, n_errors = model.comparisons[:, None], model.errors.sum()
        rates = moved_rates(self._start[name][p], powers, 1.0)[1:]
        rates = np.minimum(rates * n_errors / (n * rates).sum(axis=0), 1.0)
        overall = np.minimum(self._ratio[name][p] * (n * rates).sum(axis=0) / n.sum(), 1.0)
        return np.concatenate((overall[None], np.where(n > 0, rates, np.nan)))

    def _draw(self, name: str, p: int, powers: Floats) -> Floats:
        """Draw the (rows, powers, r) rates at a point, of all comparisons and of each group."""
        model, moved = self._models[p].get(name), self._along(name, p, powers)
        if model is None:
            return moved[..., None]
        some = np.flatnonzero(model.comparisons > 0)  # groups without comparisons have no rate
        of_some, n = model.take(some.tolist()), model.comparisons[some, None]
        draw = _false_matches if name == "fmr" else _false_nonmatches
        shares = np.full((*moved.shape, self.n_replicates), np.nan)
        for k in range(powers.size if model.errors.any() else 0):
            which = self.points[p], RATES.index(name), int(np.searchsorted(POWERS, powers[k]))
            rng = np.random.default_rng([*self._key.tolist(), _PURPOSE, *which])
            numbers = draw(of_some, moved[1 + some, k], self.n_replicates, rng)
            shares[1 + some, k] = numbers / n
            shares[0, k] = self._ratio[name][p] * numbers.sum(axis=0) / n.sum()
            if self._held[p] == name:
                with np.errstate(invalid="ignore", divide="ignore"):  # NaN where no error was drawn
                    shares[:, k] *= moved[0, k] / shares[0, k]
        return np.minimum(shares, 1.0)


def _false_matches(model: CountModel, rates: Floats, n_replicates: int, rng: np.random.Generator) -> Floats:
    mean = model.comparisons * rates
    scale = np.maximum(model.linear + model.quadratic * rates / model.comparisons, 1e-9)
    expected = rng.gamma((mean / scale)[:, None], scale[:, None], (mean.size, n_replicates))
    return np.asarray(np.minimum(rng.poisson(expected), model.comparisons[:, None]), np.float64)


def _false_nonmatches(model: CountModel, rates: Floats, n_replicates: int, rng: np.random.Generator) -> Floats:
    n = model.comparisons
    inflation = np.clip(1 + model.linear, 1 + 1e-9, np.maximum(n - 0.5, 1 + 1e-9))
    size = np.maximum((n - inflation) / (inflation - 1), _LEAST_SIZE)
    inside = np.clip(rates, 1e-12, 1 - 1e-12)
    chance = rng.beta((inside * size)[:, None], ((1 - inside) * size)[:, None], (n.size, n_replicates))
    return np.asarray(rng.binomial(n.astype(np.int64)[:, None], chance), np.float64)
