"""Looks: what the level of a gate's limits has to be where a system is judged again and again, on all
data so far.

Of a known number of looks at data that grow evenly, the estimates, as far as they are off, walk at
random: after look k of L in steps of variance 1, and a limit is beyond its bound where the walk is
above c sqrt(L) (O'Brien and Fleming, 1979). c is such that it ever gets there with the error
probability of all looks together. So look k has the normal quantile c sqrt(L / k): hardly anything of
the error probability is spent on early looks, and the last is judged nearly as if it were alone.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from fastfair._lib.text import per_cent, written_level
from fastfair.error_rates.operating_points import OperatingPoint
from fastfair.errors import FileFormatError, InputError
from fastfair.results.result import read
from fastfair.uncertainty.notes import Code, Note

from .requirements import Requirement
from .verdicts import Estimates

Looks = str | tuple[int, int]

# methods whose limits are quantiles of replicates
OF_QUANTILES = ("percentile", "recentered", "basic", "bca", "inversion")
_ROUNDING = 1e-9
ANY = "any"
MOST_LOOKS = 366  # planned ones, one a day for a year
_FAR = 6.5  # standard deviations, below which a walk does not matter
_NODES, _NODES_PER_STEP = 32, 2.5  # numbers of nodes are multiples
# An error probability so small that no data so far can be meant; floats tell it from 0 beside 1.
_LEAST_ERROR = 1e-10
_WRITTEN = re.compile(r"\s*(\d{1,9})\s*/\s*(\d{1,9})\s*")


@dataclass(frozen=True, kw_only=True)
class JudgedUnits:
    """The people, or pairs of people, whom one requirement has judged where looks are of any number.

    Attributes
    ----------
    name, group, grouping, at
        The rate, its group, the attributes that make it, and the operating point.
    threshold : float
        The threshold, which all looks have.
    n_before : int
        How many people come before those judged, as the threshold was found on them.
    n : int
        How many people, or pairs, were judged.
    most : int
        The most comparisons of one of them that the limits allow for.
    digest : str
        What tells them and their errors from others.
    """

    name: str
    group: str | None
    grouping: tuple[str, ...]
    at: OperatingPoint | None
    threshold: float
    n_before: int
    n: int
    most: int
    digest: str


@dataclass(frozen=True, kw_only=True)
class Look:
    """One of several looks at a growing set of data.

    Attributes
    ----------
    number : int
        Which look it is, counted from 1.
    planned : int or None
        How many are planned; None for any number.
    limit_level : float
        The level of a limit at this look, before Holm's adjustment.
    spent : float
        The error probability that this look and those before it spend; after the last look 1 minus
        the level of the check. Looks of any number share it.
    judged : tuple of JudgedUnits
        Who was judged by looks of any number.
    """

    number: int
    planned: int | None
    limit_level: float
    spent: float
    judged: tuple[JudgedUnits, ...] = ()

    def __str__(self) -> str:
        return f"look {self.number} of {'any number' if self.planned is None else self.planned}"

    def in_words(self, confidence_level: float) -> str:
        """Say what looks have spent."""
        if self.planned is None:
            fixed = {str(who.at): f"{who.threshold:.7g}" for who in self.judged if who.n_before}
            listed = ", ".join(f"{threshold} for {at}" for at, threshold in fixed.items())
            return (
                f"This is {self}, judged by confidence sequences: all of them together, however many,"
                f" err in at most {per_cent(self.spent)}."
                + f" Limits are at the threshold of the first look, {listed}, estimates at that of"
                " all data so far." * (bool(fixed) and self.number > 1)
            )
        return (
            f"This is {self}, judged by limits of {written_level(self.limit_level)}: looks so far"
            f" have spent {per_cent(self.spent)} of the {per_cent(1 - confidence_level)} by which"
            " all of them together may err."
        )


def read_looks(looks: Looks) -> tuple[int, int] | None:
    """Return which look it is, and how many are planned; None for any number."""
    if looks == ANY:
        return None
    written = _WRITTEN.fullmatch(looks) if isinstance(looks, str) else None
    if isinstance(looks, str) and written is None:
        raise InputError(
            "⟦looks⟧ must be the number of the look and of those planned, as in 3/12, or any, not"
            f" {looks!r}"
        )
    number, planned = (int(written[1]), int(written[2])) if written else (int(k) for k in looks)
    if not 1 <= number <= planned:
        raise InputError(
            f"⟦looks⟧ is look {number} of {planned}: looks are counted from 1, up to those planned"
        )
    if planned > MOST_LOOKS:
        raise InputError(f"⟦looks⟧ plans {planned:,} looks, and {MOST_LOOKS} are the most")
    return number, planned


def look_at(number: int, planned: int, confidence_level: float) -> Look:
    """Return what a look spends."""
    walk = _walk(boundary(planned, 1 - confidence_level) * math.sqrt(planned), number)
    spent = 1 - confidence_level if number == planned else walk
    level = level_at_look(confidence_level, number, planned)
    return Look(number=number, planned=planned, limit_level=level, spent=spent)


def level_at_look(confidence_level: float, number: int, planned: int) -> float:
    """Return the level of limits to one side at a look, of which all looks together have the given
    one.
    """
    from scipy.special import ndtr

    if planned == 1:
        return confidence_level
    quantile = boundary(planned, 1 - confidence_level) * math.sqrt(planned / number)
    return 1 - max(float(ndtr(-quantile)), _LEAST_ERROR)


@cache
def boundary(planned: int, error: float, sides: int = 1) -> float:
    """Return O'Brien and Fleming's constant: the normal quantile of the last of equally spaced looks.

    error: how often the walk is to get there by chance; sides: 1 or 2.
    """
    from scipy.optimize import brentq
    from scipy.special import ndtri

    alone = float(-ndtri(error / sides))
    if planned == 1:
        return alone
    root = math.sqrt(planned)
    # At the reflection of a continuous walk's boundary it is crossed too rarely.
    most = float(-ndtri(error / sides / 2)) + 0.1
    return float(
        brentq(
            lambda c: _walk(c * root, planned, sides) - error, alone, most, xtol=1e-9, rtol=1e-12
        )
    )


def _walk(height: float, steps: int, sides: int = 1) -> float:
    """Return the probability that a walk of normal steps of variance 1 is ever above a height; with
    two sides, or as far below.

    The density of walks that never were (Armitage, McPherson and Rowe, 1969), by Gauss and
    Legendre's rule.
    """
    floor = -height if sides == 2 else -_FAR * math.sqrt(steps)
    n_nodes = _NODES * (1 + math.ceil(_NODES_PER_STEP * (height - floor) / _NODES))
    nodes, weights = _nodes_and_weights(n_nodes)
    half = (height - floor) / 2
    at, weights = floor + half * (nodes + 1), half * weights
    step = np.exp(-((at[:, None] - at) ** 2) / 2) / math.sqrt(2 * math.pi) * weights
    below = np.exp(-(at**2) / 2) / math.sqrt(2 * math.pi)
    for _ in range(steps - 1):
        below = step @ below
    return max(0.0, float(1 - weights @ below))


# those of Gauss and Legendre on [-1, 1]
_nodes_and_weights = cache(np.polynomial.legendre.leggauss)


def at_look(estimates: Estimates, look: Look, n_resamples: int) -> Estimates:
    """Return estimates whose limits have the levels of a planned look.

    Limits that are quantiles of replicates are withheld where there are too few replicates for so
    high a level.
    """
    planned = look.planned
    assert planned is not None

    def row_of(rule: Requirement, level: float | None) -> Any:
        row = estimates.row(rule, level)
        if level is None or row.method not in OF_QUANTILES:
            return row
        # beyond each end there is half of what two-sided intervals leave
        needed = 2 / (1 - level) * (1 - _ROUNDING)
        if n_resamples + 1 >= needed:
            return row
        note = Note.of(Code.FEW_REPLICATES, n=math.ceil(needed) - 1)
        return replace(row, low=math.nan, high=math.nan, notes=(*row.notes, note))

    return replace(
        estimates,
        row=row_of,
        level_of=lambda level: level_at_look(level, look.number, planned),
        when=str(look),
    )


def read_earlier(
    path: str | Path, kinds: Sequence[str] = ("Check",), argument: str = "⟦previous⟧"
) -> Any:
    """Read the JSON of an earlier check; kinds: the classes of results that it may be; argument:
    what names it in messages.

    Raises
    ------
    FileFormatError
        For a file that cannot be read, or holds no result of a check.
    """
    try:
        content = json.loads(Path(path).read_text("utf-8"))
        if isinstance(content, dict) and content.get("kind") in kinds:
            return read(content)
    except (OSError, ValueError, LookupError, TypeError, AttributeError, RecursionError) as error:
        raise FileFormatError(f"{argument}: {path} cannot be read: {error!r}") from None
    raise FileFormatError(
        f"{argument}: {path} is not the JSON of a check, which its folder of results has as check.json"
    )


def require_later(
    look: tuple[int, int] | None, earlier: Look | None, about: Sequence[tuple[str, Any, Any]]
) -> Look:
    """Return an earlier look, or refuse one from which looks do not go on; look: this one's number,
    and that of those planned; about: what has to be the same in both, in words, earlier and now.
    """
    if earlier is None:
        raise InputError(
            "⟦previous⟧ is a check without looks, whose limits have spent the whole level: plan looks"
            " before the first"
        )
    number, planned = (earlier.number + 1, None) if look is None else look
    plans = [ANY if plan is None else plan for plan in (earlier.planned, planned)]
    for what, before, now in (*about, ("number of planned looks", *plans)):
        if before != now:
            raise InputError(
                f"⟦previous⟧ has another {what}, {_shown(before)} and not {_shown(now)}: all looks"
                " judge the same, as it was planned"
            )
    if number <= earlier.number:
        raise InputError(
            f"⟦previous⟧ is {earlier}, but ⟦looks⟧ says that this is look {number}, which is no later"
            " one"
        )
    return earlier


def _shown(value: Any) -> str:
    return "; ".join(map(str, value)) if isinstance(value, tuple | list) else str(value)
