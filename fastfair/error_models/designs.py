"""How the values of attributes on both sides of a comparison become the columns of a design.

For mated comparisons each value but the baseline has a column, 1 where the subject has it. For non-mated comparisons
it says on how many sides the value is, 0, 1 or 2, and one more column whether the two sides differ: two subjects of
different values have the geometric mean of the odds of two of one value and two of the other, times a factor.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fastfair.errors import InputError

from .cells import Cells, Floats

DIFFERENT, SAME = "different", "same"


@dataclass(frozen=True, eq=False)
class Term:
    """One comparison of odds: of two values of an attribute, or of different values with the same.

    Attributes
    ----------
    attribute : str
        The attribute.
    value, baseline : str
        The value, and the one that it is compared with; "different" and "same" for the two sides.
    position : int
        The position of the attribute.
    contrast : (coefficients,) ndarray
        The combination of coefficients that is the logarithm of the odds ratio.
    with_value, with_baseline : (cells, coefficients) ndarray
        The rows of the design if all comparisons had the value, or the baseline.
    concerned : (cells,) ndarray of bool
        The cells that have the value on either side.
    """

    attribute: str
    value: str
    baseline: str
    position: int
    contrast: Floats
    with_value: Floats
    with_baseline: Floats
    concerned: NDArray[np.bool_]


def make_design(
    cells: Cells, attributes: Sequence[str], baseline: Mapping[str, str]
) -> tuple[Floats, list[Term], dict[str, str]]:
    """Make the design of a model of some attributes.

    Parameters
    ----------
    cells : Cells
        The cells of the attributes.
    attributes : sequence of str
        Their names.
    baseline : mapping of str to str
        The value that others are compared with, for some attributes; by default that of most comparisons.

    Returns
    -------
    design : (cells, coefficients) ndarray
    terms : list of Term
    baseline : dict of str to str
        The baseline of every attribute.
    """
    columns: list[Floats] = [np.ones(cells.n.size)]
    plans: list[tuple[int, str, int | None, int]] = []  # attribute, value, its position or None, column
    chosen: dict[str, str] = {}
    for a, (name, labels) in enumerate(zip(attributes, cells.labels, strict=True)):
        first, second = cells.first[:, a], cells.second[:, a]
        sizes = np.bincount(first, cells.n, len(labels)) + np.bincount(second, cells.n, len(labels))
        base = baseline.get(name, labels[int(sizes.argmax())])
        if base not in labels:
            raise InputError(f"baseline: {name!r} has no value {base!r} here; it has {', '.join(labels)}")
        if len(labels) == 1:
            raise InputError(f"{name!r} is {labels[0]!r} in all of these comparisons, so it cannot have an effect")
        chosen[name] = base
        for v, label in enumerate(labels):
            if label != base:
                plans.append((a, label, v, len(columns)))
                sides = (first == v).astype(np.float64)
                columns.append(sides + (second == v) if cells.rate == "fmr" else sides)
        differ = first != second
        if cells.rate == "fmr" and differ.any() and not differ.all():
            plans.append((a, DIFFERENT, None, len(columns)))
            columns.append(differ.astype(np.float64))
    design = np.stack(columns, axis=1)
    of_attribute = [[column for a, _, _, column in plans if a == k] for k in range(len(attributes))]
    terms = []
    for a, value, at, column in plans:
        contrast = np.zeros(design.shape[1])
        with_value, with_baseline = design.copy(), design.copy()
        if at is None:
            contrast[column] = 1.0
            with_value[:, column], with_baseline[:, column] = 1.0, 0.0
            concerned, against = cells.first[:, a] != cells.second[:, a], SAME
        else:
            sides = 2.0 if cells.rate == "fmr" else 1.0
            contrast[column] = sides
            with_value[:, of_attribute[a]] = with_baseline[:, of_attribute[a]] = 0.0
            with_value[:, column] = sides
            concerned, against = (cells.first[:, a] == at) | (cells.second[:, a] == at), chosen[attributes[a]]
        terms.append(Term(attributes[a], value, against, a, contrast, with_value, with_baseline, concerned))
    return design, terms, chosen
