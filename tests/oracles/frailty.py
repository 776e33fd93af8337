"""The slow, obvious oracle of false matches drawn from subjects of whom some err more than others.

`comparisons` has one (subject, other subject, group, whether it is an error) for each, both
subjects of the group.
"""

import math
from collections import Counter
from collections.abc import Sequence
from itertools import combinations

import numpy as np

Comparison = tuple[int, int, int, bool]


def in_group(comparisons: Sequence[Comparison], g: int) -> list[tuple[int, int, bool]]:
    """The comparisons of one group, with the smaller subject first."""
    return [
        (min(k, other), max(k, other), erred)
        for k, other, group, erred in comparisons
        if group == g
    ]


def counts(comparisons: Sequence[Comparison], n_groups: int) -> list[list[int]]:
    """Of each group: errors, pairs of subjects with errors, and three numbers of ordered twos.

    Two pairs with errors that share a subject; two errors of one pair; two comparisons of one pair,
    the first of them an error.
    """
    found = []
    for g in range(n_groups):
        chosen = in_group(comparisons, g)
        errors = [(k, other) for k, other, erred in chosen if erred]
        of_pair, repeats = Counter(errors), Counter((k, other) for k, other, _ in chosen)
        sharing = sum(len({*one} & {*two}) for one in of_pair for two in of_pair if one != two)
        repeated = sum(e * (e - 1) for e in of_pair.values())
        repeatable = sum(e * (repeats[pair] - 1) for pair, e in of_pair.items())
        found.append([len(errors), len(of_pair), sharing, repeated, repeatable])
    return found


def shared_twos(comparisons: Sequence[Comparison], g: int) -> tuple[int, int]:
    """The numbers of ordered two comparisons of a group that share one subject, and that share
    both."""
    pairs = [(k, other) for k, other, _ in in_group(comparisons, g)]
    one = both = 0
    for i in range(len(pairs)):
        for j in range(len(pairs)):
            if i != j and pairs[i] == pairs[j]:
                both += 1
            elif i != j and {*pairs[i]} & {*pairs[j]}:
                one += 1
    return one, both


def by_chance(comparisons: Sequence[Comparison], g: int, again: float) -> float:
    """How probable it is that two pairs with errors share a subject.

    A pair of m comparisons has errors in proportion to 1 + (1 - again) + ... + (1 - again)^(m - 1).
    """
    repeats = Counter((k, other) for k, other, _ in in_group(comparisons, g))
    share = {pair: sum((1 - again) ** i for i in range(m)) for pair, m in repeats.items()}
    twos = [(one, two) for one in share for two in share if one != two]
    total = sum(share[one] * share[two] for one, two in twos)
    shared = sum(share[one] * share[two] for one, two in twos if {*one} & {*two})
    return shared / total if total else 0.0


def estimate(
    comparisons: Sequence[Comparison], n_groups: int
) -> tuple[float, list[float], float, list[float]]:
    """The common rate, the kappa of each group, the chance of an error to come again, the inflation
    of each group."""
    found = counts(comparisons, n_groups)
    repeatable = sum(row[4] for row in found)
    again = sum(row[3] for row in found) / repeatable if repeatable else 0.0
    chances = [by_chance(comparisons, g, again) for g in range(n_groups)]
    alike = [chance * row[1] * (row[1] - 1) for chance, row in zip(chances, found, strict=True)]
    own = sum(chance * row[2] for chance, row in zip(chances, found, strict=True))
    scale = max(sum(alike) - own, sum(alike) / 4)
    of_all = max(0.0, (sum(row[2] for row in found) - sum(alike)) / scale) if scale > 0 else 0.0
    sizes = [len(in_group(comparisons, g)) for g in range(n_groups)]
    pooled = sum(row[0] for row in found) / sum(sizes)
    kappa, inflation = [], []
    for g, n in enumerate(sizes):
        usual = (1 + of_all) / (1 + of_all * chances[g])
        ratio = (found[g][2] + 5 * usual) / (
            alike[g] + 5
        )  # as if five twos more had been seen that are as usual
        kappa.append(max(0.0, (ratio - 1) / max(1 - chances[g] * ratio, 0.25)))
        one, both = shared_twos(comparisons, g)
        inflation.append(1 + again * both / n + kappa[g] * pooled * one / n)
    errors = sum(row[0] / d for row, d in zip(found, inflation, strict=True))
    return (
        errors / sum(n / d for n, d in zip(sizes, inflation, strict=True)),
        kappa,
        again,
        inflation,
    )


def signed_roots(
    errors: Sequence[int], sizes: Sequence[int], inflation: Sequence[float]
) -> list[float]:
    """sign(x - mu) sqrt(2 [x log(x / mu) - (x - mu)] / D) of each group, mu = n p."""
    p = sum(x / d for x, d in zip(errors, inflation, strict=True)) / sum(
        n / d for n, d in zip(sizes, inflation, strict=True)
    )
    roots = []
    for x, n, d in zip(errors, sizes, inflation, strict=True):
        mu = n * p
        part = 2 * ((x * math.log(x / mu) if x else 0.0) - (x - mu)) / d
        roots.append(math.copysign(math.sqrt(max(part, 0.0)), x - mu))
    return roots


def deviance(
    errors: Sequence[int], sizes: Sequence[float], inflation: Sequence[float], groups: Sequence[int]
) -> float:
    """The quasi-deviance of some groups from their common rate; 0 where none of them has errors."""
    x, n, d = ([column[g] for g in groups] for column in (errors, sizes, inflation))
    return sum(root**2 for root in signed_roots(x, n, d)) if any(x) else 0.0


def least_deviance(
    errors: Sequence[int],
    sizes: Sequence[float],
    inflation: Sequence[float],
    n: int,
    member: int | None,
) -> float:
    """The smallest quasi-deviance of n groups, one given group among them, of all choices."""
    choices = [
        groups
        for groups in combinations(range(len(errors)), n)
        if member is None or member in groups
    ]
    return min(deviance(errors, sizes, inflation, groups) for groups in choices)


def adjusted_pvalues(
    errors: Sequence[int],
    sizes: Sequence[float],
    inflation: Sequence[float],
    replicates: Sequence[Sequence[int]],
    level: float,
) -> list[float]:
    """The p-value of each group: that of the fewest groups set aside, and this one not among them.

    replicates: the errors of the groups in each replicate, with the inflation of the data.
    """

    def pvalue(n: int, member: int | None) -> float:
        choices = [
            groups
            for groups in combinations(range(len(errors)), n)
            if member is None or member in groups
        ]
        least = min(choices, key=lambda groups: deviance(errors, sizes, inflation, groups))
        seen = deviance(errors, sizes, inflation, least)
        beyond = sum(
            deviance(drawn, sizes, inflation, least) >= seen - 1e-9 * seen - 1e-12
            for drawn in replicates
        )
        return (1 + beyond) / (1 + len(replicates))

    n = len(errors)
    while pvalue(n, None) < level and 2 * (n - 1) > len(errors):
        n -= 1
    return [pvalue(n, g) for g in range(len(errors))]


def draw(
    comparisons: Sequence[Comparison],
    rate: float,
    kappa: Sequence[float],
    again: float,
    rng: np.random.Generator,
) -> list[Comparison]:
    """The same comparisons, with errors as if all groups had one rate, each pair of subjects drawn
    in its turn."""
    sigma = [math.sqrt(math.log1p(of_group)) for of_group in kappa]
    subjects = {(k, g) for one, other, g, _ in comparisons for k in (one, other)}
    effect = {
        (k, g): math.exp(sigma[g] * rng.normal() - sigma[g] ** 2 / 2) for k, g in sorted(subjects)
    }
    repeats = Counter((min(k, other), max(k, other), g) for k, other, g, _ in comparisons)
    drawn = []
    for (k, other, g), m in repeats.items():
        erred = [False] * m
        for i in range(m):
            if any(erred):
                erred[i] = rng.random() < again
            else:  # less probable after comparisons that are no errors
                erred[i] = rng.random() < 1 - math.exp(
                    -rate * effect[k, g] * effect[other, g] * (1 - again) ** i
                )
        drawn += [(k, other, g, e) for e in erred]
    return drawn
