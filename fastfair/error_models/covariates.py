"""Numbers in a model of errors: of ages on both sides their mean and how far they are apart, as
straight lines or as natural splines.

Every comparison has numbers of its own, so that cells are listed: comparisons of the same category
and the same numbers are one. A natural spline is cubic between its knots and straight beyond them
(Harrell, "Regression modeling strategies", 2015, section 2.4.5).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, Literal, get_args

import numpy as np

from fastfair._lib import memory
from fastfair._lib.arrays import Floats, Groups, Indices
from fastfair._lib.text import did_you_mean, joined_by_or
from fastfair.data.comparisons import Comparisons
from fastfair.data.exclusions import leave_out
from fastfair.data.label_bands import numbers_of
from fastfair.errors import InputError

from .fitting import Cells, Term
from .subjects import ListedSubjects

Measure = Literal["mean", "difference", "reference", "probe"]
MEASURES: tuple[str, ...] = get_args(Measure)
Given = str | Sequence[str] | Mapping[str, str]
_USUAL = ("mean", "difference")
_KNOTS = (0.05, 0.35, 0.65, 0.95)  # quantiles, as Harrell proposes for four knots
_POINTS = 41  # of a curve


@dataclass(frozen=True)
class Covariate:
    """A number that comparisons have, of an attribute of both sides.

    Attributes
    ----------
    attribute, measure : str
        The attribute, and what is made of its numbers on both sides.
    is_curved : bool
        Whether its effect is a natural spline.
    is_asked : bool
        Whether its measure was named, and is not one of the usual two.
    """

    attribute: str
    measure: str
    is_curved: bool
    is_asked: bool

    def __str__(self) -> str:
        return f"the {self.measure} of {self.attribute!r}"

    def of(self, reference: Floats, probe: Floats) -> Floats:
        """Return the number of each comparison, from those of its sides."""
        if self.measure == "mean":
            return (reference + probe) / 2
        if self.measure == "difference":
            return np.abs(reference - probe)
        return reference if self.measure == "reference" else probe


def read_covariates(
    linear: Given, spline: Given, attributes: Sequence[str], categories: Sequence[str]
) -> list[Covariate]:
    """Read which numbers are asked for, as in "age=difference"."""
    covariates: list[Covariate] = []
    for argument, given in (("linear", linear), ("spline", spline)):
        for name, text in _named(given):
            if name not in attributes:
                raise InputError(
                    f"⟦{argument}=⟧ must name an attribute, as in age=difference, not"
                    f" {name!r}{did_you_mean(name, attributes)}"
                )
            if name in categories:
                raise InputError(
                    f"{name!r} is one of the attributes whose values are compared and cannot be a"
                    f" number, too: leave it out there, or in ⟦{argument}=⟧"
                )
            for measure in _measures(argument, name, text):
                covariate = Covariate(name, measure, argument == "spline", bool(text))
                if str(covariate) in map(str, covariates):
                    raise InputError(f"⟦{argument}=⟧ has {covariate}, which is given twice")
                covariates.append(covariate)
    return covariates


def _named(given: Given) -> Iterator[tuple[str, str]]:
    """Yield the names of attributes with the measures asked for, as text."""
    if isinstance(given, Mapping):
        yield from given.items()
        return
    for text in [given] if isinstance(given, str) else given:
        name, _, measures = text.partition("=")
        yield name.strip(), measures


def _measures(argument: str, name: str, text: str) -> Sequence[str]:
    if not text:
        return _USUAL
    measures = [word.strip() for word in text.split(",")]
    for word in measures:
        if word not in MEASURES:
            raise InputError(
                f"⟦{argument}=⟧ {name!r} can be {joined_by_or(list(map(repr, MEASURES)))} of both"
                f" sides, or several with commas between them, not {word!r}"
                f"{did_you_mean(word, MEASURES)}"
            )
    return measures


def natural_spline(values: Floats, knots: Sequence[float]) -> Floats:
    """Return the (n, knots - 1) values of a basis of the natural splines without their constant.

    The first is the number itself, and the others are 0 up to a knot each.
    """
    x = np.asarray(values, np.float64)
    *inner, before, last = knots
    columns = [x]
    for knot in inner:
        # A cube from the knot on, and at the last two what makes the sum straight beyond them.
        cubes = [np.maximum(x - at, 0.0) ** 3 for at in (knot, before, last)]
        shares = (1.0, -(last - knot) / (last - before), (before - knot) / (last - before))
        total = sum(share * cube for share, cube in zip(shares, cubes, strict=True))
        columns.append(np.asarray(total) / (last - knots[0]) ** 2)
    return np.stack(columns, axis=1)


@dataclass(frozen=True, eq=False)
class Line:
    """How a covariate goes into a design: columns of its numbers, or of splines, that are scaled.

    Attributes
    ----------
    covariate : Covariate
        What it is of.
    knots : tuple of float
        The knots of a spline; none of a straight line.
    middle, spread : (columns,) ndarray
        Mean and standard deviation of the columns before they are scaled.
    first : int
        The position of the first column in the design.
    median : float
        The median over comparisons.
    """

    covariate: Covariate
    knots: tuple[float, ...]
    middle: Floats
    spread: Floats
    first: int
    median: float

    @property
    def columns(self) -> range:
        """The positions of the columns in the design."""
        return range(self.first, self.first + self.spread.size)

    def rows(self, values: Floats) -> Floats:
        """Return the (n, columns) rows of numbers."""
        return (_basis(values, self.knots) - self.middle) / self.spread

    def contrasts(self, values: Floats, baseline: float, width: int) -> Floats:
        """Return by how much the row of a design changes from one number to each of others."""
        rows = np.zeros((values.size, width))
        rows[:, self.columns] = self.rows(values) - self.rows(np.array([baseline]))
        return rows

    def term(self, position: int, cells: Cells, width: int) -> Term:
        """Return the term of it: one unit more, or the last knot against the first."""
        measure = self.covariate.measure
        low, high, value, against = 0.0, 1.0, f"{measure} + 1", ""
        columns: tuple[int, ...] = ()
        at = np.zeros(0)
        if self.knots:
            low, *_, high = self.knots
            value, against = f"{measure} {high:g}", f"{measure} {low:g}"
            columns, at = tuple(self.columns), self.rows(np.array([low]))[0]
        contrast = self.contrasts(np.array([high]), low, width)[0]
        concerned = np.ones(cells.n.size, np.bool_)
        named = self.covariate.attribute, value, against
        return Term(*named, position, contrast, columns, at, concerned, measure)

    def points(self) -> Floats:
        """Return the numbers at which a curve is drawn, from the first knot to the last."""
        return np.linspace(self.knots[0], self.knots[-1], _POINTS)


def _basis(values: Floats, knots: Sequence[float]) -> Floats:
    return natural_spline(values, knots) if knots else np.asarray(values, np.float64)[:, None]


def line_of(covariate: Covariate, values: Floats, n: Floats, first: int) -> Line | None:
    """Choose knots and scale of a covariate from its (cells,) numbers and their numbers of
    comparisons; None for a usual one that is the same everywhere.
    """
    if values.min() == values.max():
        if not covariate.is_asked:
            return None
        raise InputError(
            f"{covariate} is {values[0]:g} in all of these comparisons, so it cannot have an effect"
        )
    knots = _knots(covariate, values, n) if covariate.is_curved else ()
    basis, weights = _basis(values, knots), n / n.sum()
    middle = weights @ basis
    spread = np.sqrt(weights @ (basis - middle) ** 2)
    median = float(_quantiles(values, n, (0.5,))[0])
    return Line(covariate, knots, middle, spread, first, median)


def _knots(covariate: Covariate, values: Floats, n: Floats) -> tuple[float, ...]:
    """Choose knots at quantiles of comparisons, or where these are not apart, of the numbers that
    occur.
    """
    knots = _quantiles(values, n, _KNOTS)
    different = np.unique(values)
    if any(low == high for low, high in pairwise(knots)):
        knots = _quantiles(different, np.ones(different.size), _KNOTS)
    if different.size < len(_KNOTS):
        raise InputError(
            f"{covariate} has only {different.size} different values, and a spline needs"
            f" {len(_KNOTS)}: give it as ⟦linear=⟧"
        )
    return tuple(map(float, knots))


def _quantiles(values: Floats, n: Floats, shares: Sequence[float]) -> Floats:
    """Return the least numbers up to which a share of comparisons has them."""
    order = np.argsort(values, kind="stable")
    reached = np.cumsum(n[order]) / n.sum()
    return np.asarray(values[order[np.searchsorted(reached, np.array(shares) - 1e-12)]])


@dataclass(frozen=True, eq=False)
class ListedCells:
    """Cells of the same category and the same numbers.

    Attributes
    ----------
    cells : Cells
        The cells.
    category : (cells,) ndarray of int
        The cell of categories alone that each is in.
    numbers : dict of str to tuple of two (cells,) ndarray
        The numbers of references and of probes, by attribute.
    """

    cells: Cells
    category: Indices
    numbers: dict[str, tuple[Floats, Floats]]


def list_cells(
    comparisons: Comparisons, cells: Cells, covariates: Sequence[Covariate], key: Any
) -> ListedCells:
    """List the comparisons in cells by their numbers, leaving out those that lack one; key: the
    lowest that is accepted.
    """
    by_group = cells.by_group
    side = by_group.side
    category = cells.cell[by_group.reference_group, by_group.probe_group]
    rows = np.flatnonzero(category >= 0)
    names = list(dict.fromkeys(covariate.attribute for covariate in covariates))
    memory.require(
        200 * rows.size * (1 + len(covariates)),
        f"a model of {rows.size:,} comparisons with numbers of their own",
        "take fewer comparisons, or groups of numbers in place of these",
    )
    numbers = {name: _numbers(name, comparisons.attributes[name]) for name in names}
    codes = {name: side.attribute(name) for name in names}
    kept = np.ones(rows.size, np.bool_)
    for name in names:
        for column in codes[name]:
            kept &= ~np.isnan(numbers[name][column[rows]])
    kind = "non-mated comparisons" if cells.rate == "fmr" else "mated comparisons"
    quoted = " or ".join(map(repr, names))
    because = f"as they lack a number in {quoted}"
    leave_out(kept, kind, "missing label", because, 'missing_labels="unknown"')
    rows = rows[kept]
    if not rows.size:
        raise InputError(f"no comparison has a number in {quoted} on both sides")
    codes = {name: _ordered(codes[name], rows, name, covariates) for name in names}
    _, first, cell = np.unique(
        _distinct(category[rows], codes, numbers), return_index=True, return_inverse=True
    )
    edge = int(np.searchsorted(side.keys, key))
    is_error = rows >= edge if cells.rate == "fmr" else rows < edge
    n = np.bincount(cell, minlength=first.size).astype(np.int64)
    errors = np.bincount(cell[is_error], minlength=first.size).astype(np.int64)
    of_cell = category[rows[first]]
    subjects = None
    if cells.subjects is not None:
        i, j = side.compared(rows)
        low, high = np.minimum(i, j), np.maximum(i, j)
        order = np.lexsort((cell, high, low))
        listed = low[order], high[order], cell[order].astype(np.intp), is_error[order]
        subjects = ListedSubjects(*listed, len(cells.subjects))
    values = cells.first[of_cell], cells.second[of_cell]
    made = replace(cells, first=values[0], second=values[1], n=n, errors=errors, subjects=subjects)
    of_sides = {
        name: (numbers[name][codes[name][0][first]], numbers[name][codes[name][1][first]])
        for name in names
    }
    return ListedCells(made, of_cell, of_sides)


def _numbers(name: str, labels: Sequence[str]) -> Floats:
    """Return the labels of an attribute as numbers, NaN for those that are unknown."""
    numbers = numbers_of(np.array(labels, object))
    if numbers is None:
        text = next(label for label in labels if numbers_of(np.array([label], object)) is None)
        raise InputError(f"{name!r} needs numbers, and has {text!r}")
    if np.isinf(numbers).any():
        text = labels[int(np.argmax(np.isinf(numbers)))]
        raise InputError(f"{name!r} needs finite numbers, and has {text!r}")
    return numbers


def _ordered(
    codes: tuple[Groups, Groups], rows: Indices, name: str, covariates: Sequence[Covariate]
) -> tuple[Groups, Groups]:
    """Return the codes of both sides of some comparisons, the lower one first where it does not
    matter which side is the reference.
    """
    reference, probe = codes[0][rows], codes[1][rows]
    measures = {covariate.measure for covariate in covariates if covariate.attribute == name}
    if measures <= set(_USUAL):
        return np.minimum(reference, probe), np.maximum(reference, probe)
    return reference, probe


def _distinct(
    category: Indices, codes: Mapping[str, tuple[Groups, Groups]], numbers: Mapping[str, Floats]
) -> Indices:
    """Return a number for each comparison that says its category and the codes of its sides."""
    place = category.astype(np.int64)
    for name, (reference, probe) in codes.items():
        size = numbers[name].size
        place = np.unique(place, return_inverse=True)[1].astype(np.int64)
        place = (place * size + reference) * size + probe
    return place


def with_lines(
    listed: ListedCells, design: Floats, covariates: Sequence[Covariate]
) -> tuple[Floats, list[Line]]:
    """Add the columns of covariates to a design of categories, and say how they are made."""
    columns, lines = [design[listed.category]], []
    n = listed.cells.n.astype(np.float64)
    for covariate in covariates:
        values = covariate.of(*listed.numbers[covariate.attribute])
        first = sum(part.shape[1] for part in columns)
        line = line_of(covariate, values, n, first)
        if line is not None:
            lines.append(line)
            columns.append(line.rows(values))
    if not lines:
        names = " and ".join(dict.fromkeys(repr(covariate.attribute) for covariate in covariates))
        raise InputError(
            f"{names} is the same in all of these comparisons, so it cannot have an effect"
        )
    return np.hstack(columns), lines
