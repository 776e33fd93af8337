"""Bands of numbers, such as ages in years, as groups."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fastfair._lib.arguments import checked
from fastfair._lib.label_codes import Coded
from fastfair._lib.text import did_you_mean
from fastfair._lib.warnings import warn
from fastfair.errors import InputError, ManyGroupsWarning

from .group_labels import UNKNOWN

# In completed years: those in which results are reported for Common Criteria evaluations.
NAMED = {"cc": (0.0, 20.0, 35.0, 50.0, 65.0, 100.0)}
_MANY = 12  # labels of numbers, which are no groups
NO_BANDS = "none"  # numbers stay as they are


def edges_of(text: str | Sequence[float]) -> tuple[float, ...]:
    """Return the ascending edges of bands, which may be named or written, as in "0,20,35"; a last
    band without an end is infinite.
    """
    if isinstance(text, str) and text in NAMED:
        return NAMED[text]
    try:
        edges = tuple(map(float, text.split(",") if isinstance(text, str) else text))
    except ValueError:
        edges = ()
    if not edges or not all(map(math.isfinite, edges)) or any(b <= a for a, b in pairwise(edges)):
        raise InputError(
            "⟦bands=⟧ must be ascending edges, as in age=0,20,35,50,65, or age=cc for those of"
            f" Common Criteria, not {text!r}"
        )
    return (*edges, math.inf)


def names_of(edges: Sequence[float]) -> list[str]:
    """Name the bands: by their first and last number where edges are whole, as ages are."""
    if all(edge.is_integer() for edge in edges[:-1]):
        return [
            f"{low:.0f}+" if math.isinf(high) else f"{low:.0f}-{high - 1:.0f}"
            for low, high in pairwise(edges)
        ]
    return [
        f">={low:g}" if math.isinf(high) else f"{low:g} to <{high:g}"
        for low, high in pairwise(edges)
    ]


@checked
def label_bands(values: ArrayLike, edges: str | Sequence[float] = "cc") -> NDArray[Any]:
    """Make groups of numbers, such as ages: a label for each.

    Parameters
    ----------
    values : (n,) array_like
        The numbers, such as ages in years.
    edges : sequence of float, or "cc"
        The first number of each band, ascending; the last band has no end. "cc" are the age bands
        of Common Criteria: 0-19, 20-34, 35-49, 50-64 and 65-99.

    Returns
    -------
    (n,) ndarray of str

    Raises
    ------
    InputError
        For edges that do not ascend, and numbers that are in no band.

    Examples
    --------
    >>> import fastfair as ff
    >>> ff.label_bands([17, 20, 64.5, 80]).tolist()
    ['0-19', '20-34', '50-64', '65-99']
    >>> ff.label_bands([0.2, 0.9], [0, 0.5]).tolist()
    ['0 to <0.5', '>=0.5']
    """
    bounds = edges_of(edges)
    numbers = np.asarray(values, np.float64)
    places = np.searchsorted(bounds, numbers, side="right") - 1
    outside = ~((places >= 0) & (places < len(bounds) - 1))
    if outside.any():
        row = int(np.argmax(outside.ravel()))
        raise InputError(
            f"{numbers.ravel()[row]:g} is in none of the bands {', '.join(names_of(bounds))}:"
            " add a band for it",
            row=row,
        )
    return np.array(names_of(bounds))[places]


def read_bands(
    given: str | Sequence[str], attributes: Sequence[str] | None = None
) -> dict[str, str]:
    """Read bands such as "age=0,20,35" of some attributes, or of any."""
    by_attribute = {}
    for text in [given] if isinstance(given, str) else given:
        name, sign, edges = (part.strip() for part in text.partition("="))
        if not sign or not name or (attributes is not None and name not in attributes):
            near = did_you_mean(name, attributes or ())
            raise InputError(
                f"⟦bands=⟧ must name an attribute of ⟦groups=⟧, as in age=0,20,35,50,65, not"
                f" {text!r}{near}"
            )
        if edges != NO_BANDS:
            edges_of(edges)
        by_attribute[name] = edges
    return by_attribute


def banded(sides: Mapping[str, Coded], bands: Mapping[str, str]) -> dict[str, Coded]:
    """Put the labels of attributes, by their names, into bands where these are given; warn of
    numbers without them.
    """
    banded_sides = dict(sides)
    for name, coded in sides.items():
        if bands.get(name, NO_BANDS) != NO_BANDS:
            numbers = numbers_of(coded.labels)
            banded_sides[name] = _in_bands(name, coded, numbers, bands[name])
        elif name not in bands and are_numbers(coded.labels):
            warn(
                f"{name!r} has numbers, each of which is a group of its own: put them into bands"
                f' with ⟦bands="{name}=0,20,35,50,65"⟧, or {name}=cc for the age bands of Common'
                f' Criteria. error_model takes them as numbers, with ⟦linear="{name}"⟧',
                ManyGroupsWarning,
            )
    return banded_sides


def are_numbers(labels: Any) -> bool:
    """Tell whether labels are so many numbers that they are no groups."""
    numbers = numbers_of(labels)
    return numbers is not None and int(np.count_nonzero(~np.isnan(numbers))) > _MANY


def numbers_of(labels: NDArray[Any] | Sequence[str]) -> NDArray[np.float64] | None:
    """Return labels as numbers, NaN for one that is unknown; None where others are no numbers."""
    try:
        return np.array([math.nan if str(label) == UNKNOWN else float(label) for label in labels])
    except (ValueError, TypeError):
        return None


def _in_bands(name: str, coded: Coded, numbers: NDArray[np.float64] | None, edges: str) -> Coded:
    if numbers is None:
        text = next(label for label in coded.labels if numbers_of(np.array([label])) is None)
        raise InputError(f"⟦bands=⟧ {name!r} needs numbers, and has {str(text)!r}")
    is_known = ~np.isnan(numbers)
    labels = np.full(numbers.size, UNKNOWN, object)
    try:
        labels[is_known] = label_bands(numbers[is_known], edges)
    except InputError as error:
        raise InputError(f"{name!r}: {error.marked}") from None
    distinct, places = np.unique(labels.astype(str), return_inverse=True)
    return Coded(distinct, places.astype(coded.codes.dtype)[coded.codes])
