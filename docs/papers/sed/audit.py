"""What the numbers that paper 1 prints allow each other: its tables against its own equations and
protocol.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations, product

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linprog

from .printed import SET_SIZE, SYSTEMS, PrintedNumber, PrintedSystem

Floats = NDArray[np.float64]
_SPLITS = np.linspace(0, 1, 2001)
# A printed number that disagrees by no more than this share of itself is taken for a matter of
# rounding.
_ROUNDING = 0.01


def row(ratios: str, kind: str = "fmr") -> PrintedSystem:
    """Return the printed row of a system."""
    return next(one for one in SYSTEMS if (one.ratios, one.kind) == (ratios, kind))


def factors(system: PrintedSystem) -> list[int]:
    """Return the ratios of a system as numbers, ascending."""
    return sorted(int(part) for part in system.ratios.split(":"))


def largest_inequity_rate(fdr: PrintedNumber, exponents: bool = True) -> float:
    """Return the largest IR beside a printed FDR, with sets of 3,000 comparisons of either class.

    The FDR says that maximum less minimum of FMR and of FNMR are D = 2 (1 - FDR) together, and the
    least rate that is not 0 is 1 / 3000. The two ratios have their largest product where each has
    half of D. Without the exponents of 1 / 2 in equation 14, IR is that product.
    """
    root = 1 + SET_SIZE * (1 - fdr.low)
    return root if exponents else root**2


def least_garbe(system: PrintedSystem, exponents: bool = True) -> float:
    """Return the least GARBE beside a printed IR.

    IR says how large the product of the two ratios of maximum to minimum is. In a system with two
    different sets the Gini coefficient follows from the ratio; in others it is least where all
    groups between have the maximum.
    """
    ratio = max(1.0, system.numbers["inequity_rate"].low) ** (2 if exponents else 1)
    parts = factors(system)
    n_low = sum(part == parts[0] for part in parts) if len(set(parts)) == 2 else 1
    splits = ratio**_SPLITS
    return float(np.min(0.5 * (_gini(splits, n_low) + _gini(ratio / splits, n_low))))


def _gini(ratio: Floats, n_low: int) -> Floats:
    """Return the Gini coefficient of four rates, some of them low and the others that many times as
    high.
    """
    n_high = 4 - n_low
    return n_low * n_high * (ratio - 1) / (3 * (n_low + n_high * ratio))


def mirrored(
    systems: Sequence[PrintedSystem] = SYSTEMS,
) -> list[tuple[PrintedSystem, PrintedSystem]]:
    """Pair the systems with one group apart above the others and those with it apart below, as
    1:1:1:2 and 1:2:2:2.
    """
    found = []
    for one, other in product(systems, systems):
        low, high = factors(one)[0], factors(one)[-1]
        shapes = factors(one), factors(other)
        if (
            low < high
            and shapes == ([low] * 3 + [high], [low] + [high] * 3)
            and one.kind == other.kind
        ):
            found.append((one, other))
    return found


def mirror_ratio(system: PrintedSystem, exponents: bool = True) -> float:
    """Return how many times the GARBE of its mirror image that of a system with one high group is,
    at the least.
    """
    ratio = system.numbers["inequity_rate"].low ** (2 if exponents else 1)
    splits = ratio**_SPLITS
    one, other = (_gini(splits, n_low) + _gini(ratio / splits, n_low) for n_low in (3, 1))
    return float(np.min(one / other))


@dataclass(frozen=True)
class PairSums:
    """GARBE as a sum over the six pairs of groups of one number for each pair of factors.

    Attributes
    ----------
    largest_miss : float
        The least that the largest difference from a printed number can be.
    n_systems, n_terms : int
        How many printed numbers, and how many free ones explain them.
    """

    largest_miss: float
    n_systems: int
    n_terms: int


def garbe_as_pair_sums(systems: Iterable[PrintedSystem] = SYSTEMS) -> PairSums:
    """Fit the printed GARBE of systems of the factors 1, 2, 3 and 5 as sums over pairs of
    groups.
    """
    used = [one for one in systems if one.kind == "fmr" and max(factors(one)) <= 5]
    terms = list(combinations((1, 2, 3, 5), 2))
    counts = np.zeros((len(used), len(terms)))
    for k, system in enumerate(used):
        for pair in combinations(factors(system), 2):
            if pair in terms:
                counts[k, terms.index(pair)] += 1
    printed = np.array([one.numbers["garbe"].value for one in used])
    above = np.hstack([counts, -np.ones((len(used), 1))])
    below = np.hstack([-counts, -np.ones((len(used), 1))])
    cost = np.append(np.zeros(len(terms)), 1.0)
    fit = linprog(cost, A_ub=np.vstack([above, below]), b_ub=np.concatenate([printed, -printed]))
    return PairSums(float(fit.fun), len(used), len(terms))


@dataclass(frozen=True)
class Eers:
    """The EERs behind the printed standard deviations, relative to that of the group of factor 1.

    Attributes
    ----------
    offset : dict of int to float
        EER of a factor less that of factor 1, up to one sign for all; that of factor 5 is taken as
        positive.
    predicted : dict of str to float
        What the standard deviation of each system's EERs is then.
    outliers : tuple of str
        Systems whose printed number is another one.
    """

    offset: dict[int, float]
    predicted: dict[str, float]
    outliers: tuple[str, ...]


def eers_behind(systems: Iterable[PrintedSystem] = SYSTEMS) -> Eers:
    """Find the EERs of the factors 1, 2, 3 and 5 from the standard deviations of systems with one
    group apart.
    """
    used = [one for one in systems if one.kind == "fmr" and max(factors(one)) <= 5]
    printed = {one.ratios: one.numbers["std(eer)"] for one in used}
    sizes = {k: printed[f"1:1:1:{k}"].value * 4 / math.sqrt(3) for k in (2, 3, 5)}
    best: tuple[int, dict[int, float], dict[str, float], tuple[str, ...]] | None = None
    for signs in product((1, -1), repeat=2):
        offset = {
            1: 0.0,
            **{k: sign * sizes[k] for k, sign in zip((2, 3, 5), (*signs, 1), strict=True)},
        }
        predicted = {one.ratios: float(np.std([offset[k] for k in factors(one)])) for one in used}
        outliers = tuple(
            ratios
            for ratios, number in printed.items()
            if abs(predicted[ratios] - number.value) > number.half_unit + _ROUNDING * number.value
        )
        if best is None or len(outliers) < best[0]:
            best = len(outliers), offset, predicted, outliers
    assert best is not None
    return Eers(*best[1:])


def repeated_garbe(systems: Iterable[PrintedSystem] = SYSTEMS) -> list[str]:
    """List the systems whose standard deviation of EERs is printed as the digits of their GARBE."""
    return [
        one.ratios
        for one in systems
        if one.numbers["std(eer)"].text == one.numbers["garbe"].text
        and one.numbers["garbe"].value > 0
    ]


def odd_within_extremes(
    name: str, systems: Iterable[PrintedSystem] = SYSTEMS
) -> list[tuple[str, str, str]]:
    """List systems that print another number than most others with the same least and largest
    factor.

    Returns
    -------
    list of (ratios, printed, printed for the others)
    """
    found = []
    by_extremes: dict[tuple[str, int, int], list[PrintedSystem]] = {}
    for one in systems:
        by_extremes.setdefault((one.kind, factors(one)[0], factors(one)[-1]), []).append(one)
    for members in by_extremes.values():
        values = [one.numbers[name].value for one in members]
        usual = max(values, key=values.count)
        text = next(one.numbers[name].text for one in members if one.numbers[name].value == usual)
        found += [
            (one.ratios, one.numbers[name].text, text)
            for one in members
            if one.numbers[name].value != usual
        ]
    return found


def broken_chains(name: str, combine: Callable[[float, float], float]) -> list[str]:
    """List systems whose number is not that of the two steps that lead there, as 1:1:1:3 over
    1:1:1:2 and 2:2:2:3.

    IR multiplies over steps and 1 - FDR adds, where both error rates of the sets are in the same
    order. Numbers may be off by a unit of their last digit, as some seem to be cut off rather than
    rounded.
    """
    broken = []
    steps = combinations((1, 2, 3, 5), 3)
    for low, middle, high in steps:
        first, second, whole = (
            row(f"{a}:{a}:{a}:{b}").numbers[name]
            for a, b in ((low, middle), (middle, high), (low, high))
        )
        ends = [
            combine(
                first.value + sign * 2 * first.half_unit, second.value + sign * 2 * second.half_unit
            )
            for sign in (-1, 1)
        ]
        if (
            max(ends) < whole.value - 2 * whole.half_unit
            or min(ends) > whole.value + 2 * whole.half_unit
        ):
            broken.append(f"{low}:{low}:{low}:{high}")
    return broken
