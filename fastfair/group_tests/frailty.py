"""False matches drawn as if all groups were alike and some subjects erred more than others, and how
groups then differ.

In formulas m_k is the number of comparisons that subject k has inside a group, and m_kl that of
subjects k and l.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from fastfair._lib import memory
from fastfair._lib.arrays import AnyArray, Flags, Floats, Integers, RandomKey
from fastfair._lib.label_codes import in_use
from fastfair._lib.seeds import Purpose
from fastfair._lib.threads import run_blocks
from fastfair.data.comparisons import Comparisons
from fastfair.data.scans import KeptComparisons
from fastfair.data.vector_pairs import PairsOfVectors
from fastfair.resampling.dependence import overdispersion, repeat_probability, share_of

if TYPE_CHECKING:
    from fastfair.kernels.frailty import Numbers, Partners

_LEAST_SCALE = 0.25  # of an estimate, below which the correction for chance does not bring it
# twos of erring pairs, sharing a subject by chance, that all groups together count for in each
_PRIOR = 5.0
_AT_ONCE = 32  # replicates drawn in one call of the kernel


@dataclass(frozen=True, eq=False)
class Design:
    """Who is compared with whom inside groups.

    Attributes
    ----------
    size : (g,) ndarray
        Number of comparisons.
    sharing : (g,) ndarray
        Ordered two comparisons that share one subject: the sum over k of m_k^2 - sum_l m_kl^2.
    repeated : (g,) ndarray
        Ordered two comparisons of the same two subjects: the sum over pairs of m_kl (m_kl - 1).
    by_chance : (g,) ndarray
        How probable it is that two pairs of subjects with errors share a subject, if subjects err
        alike.
    partners : fastfair.kernels.frailty.Partners
        The comparisons, each seen from both its subjects: listed, or as numbers of them.
    """

    size: Floats
    sharing: Floats
    repeated: Floats
    by_chance: Floats
    partners: Partners


@dataclass(frozen=True, eq=False)
class Frailty:
    """What errors are drawn from if groups are alike, estimated from the counts of data or of
    replicates.

    Attributes
    ----------
    rate : (...) ndarray
        The rate that they have if they are alike: errors over comparisons, both divided by
        `inflation` first.
    kappa : (..., g) ndarray
        Relative covariance of errors that share one subject, in each group.
    again : (...) ndarray
        Chance that another comparison of two subjects errs where one does.
    inflation : (..., g) ndarray
        Variance of each group's errors divided by that of as many independent ones.
    """

    rate: Floats
    kappa: Floats
    again: Floats
    inflation: Floats


def count_errors(
    first: AnyArray,
    second: AnyArray,
    group: AnyArray,
    erred: Flags,
    n_groups: int,
) -> tuple[Design, Integers]:
    """Describe comparisons inside groups, and count errors as `kernels.frailty.draw_errors` does.

    Parameters
    ----------
    first, second, group : (n,) ndarray of int
        The two subjects and the group of each comparison. A subject of several groups is another
        one in each.
    erred : (n,) ndarray of bool
        Which comparisons are errors.
    n_groups : int
        Number of groups, each of which has comparisons.

    Returns
    -------
    design : Design
    counts : (g, 5) ndarray of int64
        In the order that the kernel names.
    """
    from fastfair.kernels.frailty import Numbers, Partners

    ends = np.concatenate((first, second)).astype(np.int64) * n_groups + np.tile(group, 2)
    if (n_ends := int(ends.max()) + 1) <= ends.size:
        used, number = in_use(n_ends, ends)
        subjects = np.flatnonzero(used)
        unit = number[ends]
    else:  # with more subjects of groups than comparisons, sorting takes less memory
        subjects, unit = np.unique(ends, return_inverse=True)
    a, b = unit.reshape(2, -1)
    two = a != b  # a comparison of a subject with itself is seen once
    seen_from = np.concatenate((a, b[two]))
    seen = np.concatenate((b, a[two]))
    sights = 2 * (seen_from * subjects.size + seen) + np.concatenate((erred, erred[two]))
    sights.sort()
    pair = np.flatnonzero(np.diff(sights >> 1, prepend=-1))  # where the next partner begins
    subject, partner = np.divmod(sights[pair] >> 1, subjects.size)
    of_subject = (subjects % n_groups).astype(np.int64)
    n_repeats = np.diff(pair, append=sights.size)
    repeats = n_repeats.astype(np.float64)
    errors = np.add.reduceat(sights & 1, pair).astype(np.float64)
    of_pair = of_subject[subject]
    once = np.where(subject == partner, 1.0, 0.5)  # as pairs are seen from both sides

    def total(values: Floats) -> Floats:
        return np.bincount(of_pair, once * values, n_groups).astype(np.float64)

    def sharing(values: Floats) -> Floats:
        of_subjects = np.bincount(subject, values, subjects.size)
        twos = np.bincount(of_subject, of_subjects**2, n_groups) - np.bincount(
            of_pair, values**2, n_groups
        )
        return twos.astype(np.float64)

    repeated, repeatable = total(errors * (errors - 1)), total(errors * (repeats - 1))
    again = repeat_probability(repeated, repeatable)
    chance = chance_of_errors(repeats, again)
    with_errors = (errors > 0).astype(np.float64)
    counts = total(errors), total(with_errors), sharing(with_errors), repeated, repeatable
    end = np.append(pair, sights.size)[np.cumsum(np.bincount(subject))]
    none = np.zeros(0, np.int64)
    twice = np.zeros((2, 0), np.int64)
    no_numbers = Numbers(twice, twice, none, none, none)
    design = Design(
        size=total(repeats),
        sharing=sharing(repeats),
        repeated=total(repeats * (repeats - 1)),
        by_chance=share_of(sharing(chance), total(chance) ** 2 - total(chance**2)),
        partners=Partners(
            np.repeat(partner.astype(np.int32), n_repeats), end, of_subject, no_numbers
        ),
    )
    return design, np.rint(np.stack(counts, axis=-1)).astype(np.int64)


def chance_of_errors(repeats: Floats, again: Floats) -> Floats:
    """Compute how probable it is that two subjects have errors, over the rate, from the number of
    their comparisons.

    It depends little on the chance that an error comes again, so replicates keep that of the data.
    """
    if 0 < again < 1:
        return np.asarray(-np.expm1(repeats * np.log1p(-again)) / again)
    return np.where(again > 0, 1.0, repeats)


def count_false_matches(
    comparisons: Comparisons, threshold: float, kept: Integers
) -> tuple[Design, Integers]:
    """Count the false matches inside some groups, and their pairs.

    Parameters
    ----------
    comparisons : Comparisons
        With subjects and groups; or those that a scan of vectors has kept.
    threshold : float
        Scores on its side of it are accepted.
    kept : (g,) ndarray of int64
        Positions of the groups.

    Returns
    -------
    design : Design
    counts : (g, 5) ndarray of int64
        As `count_errors` returns them.
    """
    by_group = comparisons.nonmated_by_group
    side = by_group.side
    assert side.reference is not None
    assert side.probe is not None
    position = np.full(len(comparisons.groups), -1)
    position[kept] = np.arange(kept.size)
    group = np.where(
        by_group.reference_group == by_group.probe_group, position[by_group.reference_group], -1
    )
    inside = group >= 0
    erred = side.keys[inside] >= comparisons.to_key(threshold)
    reference, probe = side.reference[inside], side.probe[inside]
    if isinstance(comparisons, KeptComparisons):
        pairs = comparisons.pairs[1]
        assert isinstance(pairs, PairsOfVectors)
        of_subject = position[comparisons.group_of_number]
        return count_errors_of_vectors(pairs, of_subject, reference[erred], probe[erred], kept.size)
    return count_errors(reference, probe, group[inside], erred, kept.size)


def count_errors_of_vectors(
    pairs: PairsOfVectors, group: Integers, first: AnyArray, second: AnyArray, n_groups: int
) -> tuple[Design, Integers]:
    """Describe non-mated pairs of vectors inside groups, and count errors, as `count_errors` does
    from a list.

    Parameters
    ----------
    pairs : PairsOfVectors
        All non-mated pairs.
    group : (subjects,) ndarray of int64
        The group of each subject; -1 for those left out.
    first, second : (errors,) ndarray of int
        The two subjects of each error, both of one group.
    n_groups : int
        Number of groups, each of which has pairs.

    Returns
    -------
    design : Design
    counts : (g, 5) ndarray of int64
        Both to the last bit those of a list of all pairs.
    """
    from fastfair.kernels import frailty as kernels

    inside = [group == g for g in range(n_groups)]
    seen = np.sum([pairs.of_subjects(of_group) for of_group in inside], axis=0)
    unit = np.flatnonzero(seen)  # those who are compared with somebody
    # Two subjects, k and l, have a_k b_l + c_k d_l pairs: a and c are `own`, b and d are `others`.
    references, probes = (n[unit].astype(np.int64) for n in pairs.vectors)
    if pairs.is_probe is None:
        counts_of = others = np.stack((references, np.zeros_like(references)))
    else:
        counts_of = np.stack((references, probes))
        others = np.stack((probes, references))
    of_unit = group[unit]
    numbers = _numbers(counts_of, others, of_unit, n_groups)
    counts = _count_pairs(
        pairs, group, np.minimum(first, second), np.maximum(first, second), n_groups
    )
    again = repeat_probability(counts[:, 3], counts[:, 4])

    of_subjects = [seen[of_group].astype(np.float64) for of_group in inside]
    size = np.array([n.sum() / 2 for n in of_subjects])
    squares = np.array([float(pairs.squares(of_group).sum()) for of_group in inside])
    sharing = np.array([(n**2).sum() for n in of_subjects]) - squares
    # In the order of a list, as sums of fractions depend on it.
    kinds, kind = np.unique(np.concatenate((counts_of, others)), axis=1, return_inverse=True)
    n_kinds = kinds.shape[1]
    memory.require(
        32 * n_kinds**2,
        f"how probable errors are of {n_kinds:,} different numbers of vectors",
        "use fewer groups",
    )
    a, c, b, d = kinds
    repeats = (np.outer(a, b) + np.outer(c, d)).astype(np.float64)
    chance = np.where(repeats > 0, chance_of_errors(repeats, again), 0.0)
    of_units = np.zeros(unit.size)
    sums = np.zeros((2, n_groups))
    kernels.sum_over_pairs(numbers, of_unit, kind.ravel(), chance, of_units, sums)
    twos = np.bincount(of_unit, of_units**2, n_groups) - 2 * sums[1]
    nobody = np.zeros(0, np.int32)
    design = Design(
        size=size,
        sharing=sharing,
        repeated=squares / 2 - size,
        by_chance=share_of(twos, sums[0] ** 2 - sums[1]),
        partners=kernels.Partners(nobody, np.cumsum(seen[unit]), of_unit, numbers),
    )
    return design, counts


def _numbers(counts_of: Integers, others: Integers, group: Integers, n_groups: int) -> Numbers:
    from fastfair.kernels.frailty import Numbers

    member = np.argsort(group, kind="stable").astype(np.int64)
    position = np.empty_like(member)
    position[member] = np.arange(member.size)
    start = np.append(0, np.cumsum(np.bincount(group, minlength=n_groups)))
    parts = [member[slice(*ends)] for ends in itertools.pairwise(start)]
    sums = [
        np.concatenate([np.append(0, np.cumsum(counts[part])) for part in parts])
        for counts in others
    ]
    return Numbers(counts_of, np.stack(sums), member, position, start)


def _count_pairs(
    pairs: PairsOfVectors, group: Integers, first: Integers, second: Integers, n_groups: int
) -> Integers:
    """Count errors and their pairs in each group, in the order of `kernels.frailty`; the first
    subject is the lower.
    """
    codes, errors = np.unique(first.astype(np.int64) * group.size + second, return_counts=True)
    lower, higher = np.divmod(codes, group.size)
    of_pair = group[lower]
    # partners with whom each subject errs
    erring = np.bincount(np.concatenate((lower, higher)), minlength=group.size)

    def total(values: AnyArray, of: AnyArray = of_pair) -> Integers:
        return np.bincount(of, values, n_groups).astype(np.int64)

    in_groups = group >= 0
    sharing = total(erring[in_groups] ** 2, group[in_groups])
    n_pairs = total(np.ones_like(codes))
    repeats = pairs.of_two(lower, higher)
    return np.stack(
        (
            total(errors),
            n_pairs,
            sharing - 2 * n_pairs,
            total(errors * (errors - 1)),
            total(errors * (repeats - 1)),
        ),
        axis=-1,
    )


def estimate(counts: Integers, design: Design) -> Frailty:
    """Estimate the common rate and how errors cluster.

    Two pairs of subjects with errors share a subject 1 + kappa times as often as if subjects erred
    alike. The number of all such twos is that of the data, which covariance makes larger as well:
    this is taken off, but for a quarter, as nothing would be left where one subject has a part in
    all errors. The kappa of a group is its own where it has many errors, and close to that of all
    groups together where it has few.

    Parameters
    ----------
    counts : (..., g, 5) ndarray of int64
        Of the data or of replicates.
    design : Design
        Who is compared with whom.

    Returns
    -------
    Frailty
    """
    errors, pairs, sharing, repeated, repeatable = np.moveaxis(counts.astype(np.float64), -1, 0)
    expected = design.by_chance * pairs * (pairs - 1)
    excess = (sharing - expected).sum(axis=-1)
    alike = expected.sum(axis=-1)
    scale = np.maximum(alike - (design.by_chance * sharing).sum(axis=-1), _LEAST_SCALE * alike)
    kappa_of_all = np.maximum(share_of(excess, scale), 0.0)[..., None]
    usual = (1 + kappa_of_all) / (1 + kappa_of_all * design.by_chance)
    ratio = (sharing + _PRIOR * usual) / (expected + _PRIOR)
    kappa = np.maximum((ratio - 1) / np.maximum(1 - design.by_chance * ratio, _LEAST_SCALE), 0.0)
    again = repeat_probability(repeated, repeatable)
    pooled = errors.sum(axis=-1) / design.size.sum()
    inflation = overdispersion(
        again[..., None], design.repeated, kappa, pooled[..., None], design.sharing, design.size
    )
    return Frailty(common_rate(errors, design.size, inflation)[..., 0], kappa, again, inflation)


def signed_roots(errors: AnyArray, size: Floats, inflation: Floats) -> Floats:
    """Compute the signed roots of the parts that groups, along the last axis, have in the
    quasi-deviance.
    """
    expected = size * common_rate(errors, size, inflation)
    return np.asarray(np.sign(errors - expected) * np.sqrt(_parts(errors, expected, inflation)))


def most_alike(
    errors: AnyArray, size: Floats, inflation: Floats, n: int, member: int | None = None
) -> list[int]:
    """Choose n groups, one given group among them, that have the smallest quasi-deviance.

    The n groups closest to a rate are taken, then those closest to the rate that these have in
    common, and so on, as long as the deviance falls. The rates to begin with are those of each
    group and of each two groups together.
    """
    first, second = np.triu_indices(size.size)
    effective_errors, effective_size = errors / inflation, size / inflation
    rate = (effective_errors[first] + effective_errors[second]) / (
        effective_size[first] + effective_size[second]
    )
    reached = np.full(rate.size, np.inf)
    while True:
        distance = _parts(errors, size * rate[:, None], inflation)
        if member is not None:
            distance[:, member] = -1.0  # taken first
        chosen = np.argsort(distance, axis=1, kind="stable")[:, :n]
        rate = effective_errors[chosen].sum(axis=1) / effective_size[chosen].sum(axis=1)
        parts = _parts(errors, size * rate[:, None], inflation)
        deviance = np.take_along_axis(parts, chosen, axis=1).sum(axis=1)
        if not (deviance < reached).any():
            return sorted(chosen[int(deviance.argmin())].tolist())
        reached = np.minimum(reached, deviance)


def replicate(
    design: Design,
    null: Frailty,
    n_resamples: int,
    key: RandomKey,
    n_threads: int | None = None,
) -> Integers:
    """Draw errors as if all groups were alike; each replicate depends only on the key and on its
    own number.

    Parameters
    ----------
    design : Design
        Who is compared with whom.
    null : Frailty
        What is drawn from, with a rate in (0, 1).
    n_resamples, key, n_threads
        As in `failure_counts.replicate`.

    Returns
    -------
    (n_resamples, g, 5) ndarray of int64
    """
    from fastfair.kernels import frailty as kernels

    n_groups = design.size.size
    memory.require(
        150 * n_resamples * n_groups,  # five counts of each, and what is made of them
        f"{n_resamples:,} replicates of {n_groups:,} groups",
        "use fewer resamples",
    )
    counts = np.zeros((n_resamples, n_groups, 5), np.int64)
    rates = kernels.Rates(float(null.rate), null.kappa, float(null.again))

    def block(first: int) -> None:
        kernels.draw_errors(
            design.partners,
            rates,
            Purpose.FRAILTIES.value,
            first,
            key,
            kernels.new_scratch(design.partners.end.size),
            counts[first : first + _AT_ONCE],
        )

    run_blocks(block, range(0, n_resamples, _AT_ONCE), n_resamples, _AT_ONCE, n_threads, None)
    return counts


_ROUNDING = 1e-9  # statistics that are equal may differ by this share of them,
_EQUAL = 1e-12  # and those that are 0 by this much


def pvalue(observed: ArrayLike, replicated: Floats) -> Any:
    """Compute (1 + the number of replicates, along the first axis, at least as large as observed) /
    (1 + all).

    Values are compared up to rounding.
    """
    seen = np.asarray(observed, np.float64)
    with np.errstate(invalid="ignore"):
        least = np.where(np.isfinite(seen), seen - _ROUNDING * np.abs(seen) - _EQUAL, seen)
    share = (1 + (replicated >= least).sum(axis=0)) / (1 + len(replicated))
    return np.where(np.isnan(seen), np.nan, share)[()]


@dataclass(frozen=True, eq=False)
class Roots:
    """How far groups lie from their common rate, in the data and in replicates.

    Attributes
    ----------
    errors, inflation : (g,) ndarray
        Of the data.
    replicated_errors, replicated_inflation : (r, g) ndarray
        Of the replicates, estimated from each of them anew.
    size : (g,) ndarray
        Number of comparisons.
    replicated_size : (r, g) ndarray
        That of the replicates.
    """

    errors: AnyArray
    inflation: Floats
    replicated_errors: AnyArray
    replicated_inflation: Floats
    size: Floats
    replicated_size: Floats

    def deviance(self, groups: Any = slice(None)) -> tuple[float, Floats]:
        """Compute the quasi-deviance of some groups in the data, and (r,) in the replicates."""
        observed, replicated = self._of(groups)
        return float((observed**2).sum()), (replicated**2).sum(axis=1)

    def pvalues(self) -> Floats:
        """Compute (g,) two-sided p-values of groups, each on its own."""
        observed, replicated = self._of(slice(None))
        return np.asarray(pvalue(np.abs(observed), np.abs(replicated)))

    def adjusted_pvalues(self, level: float) -> Floats:
        """Compute (g,) p-values of groups, adjusted for being several: could a group be one of
        those that are alike?

        As few groups are set aside as will make the others alike, more than half of all, whose
        p-value is then at least `level`. The p-value of a group is that of as many groups, with
        this one among them, that differ the least.
        """
        n_groups = self.size.size
        for n in range(n_groups, n_groups // 2, -1):
            alike = most_alike(self.errors, self.size, self.inflation, n)
            usual = float(pvalue(*self.deviance(alike)))
            if usual >= level:
                break
        adjusted = np.full(n_groups, usual)
        for group in set(range(n_groups)) - set(alike):
            members = most_alike(self.errors, self.size, self.inflation, n, group)
            adjusted[group] = float(pvalue(*self.deviance(members)))
        return adjusted

    def _of(self, groups: Any) -> tuple[Floats, Floats]:
        """Compare some groups with each other: (groups,) signed roots of the data, (r, groups) of
        the replicates.
        """
        replicated = self.replicated_errors, self.replicated_size, self.replicated_inflation
        return (
            signed_roots(self.errors[groups], self.size[groups], self.inflation[groups]),
            signed_roots(*(values[:, groups] for values in replicated)),
        )


def draw_roots(
    design: Design,
    counts: Integers,
    n_resamples: int,
    key: RandomKey,
    n_threads: int | None = None,
) -> Roots:
    """Draw replicates of data in which some comparisons, but not all, are errors; as
    `replicate`.
    """
    null = estimate(counts, design)
    replicated = replicate(design, null, n_resamples, key, n_threads)
    errors = replicated[..., 0]
    size = np.broadcast_to(design.size, replicated.shape[:2])
    return Roots(
        counts[:, 0],
        null.inflation,
        errors,
        estimate(replicated, design).inflation,
        design.size,
        size,
    )


def common_rate(errors: AnyArray, size: Floats, inflation: Floats) -> Floats:
    """Compute (..., 1) the rate of all groups, in which those that are known better weigh more."""
    return np.asarray(
        (errors / inflation).sum(axis=-1, keepdims=True)
        / (size / inflation).sum(axis=-1, keepdims=True)
    )


def _parts(errors: AnyArray, expected: Floats, inflation: Floats) -> Floats:
    """Compute the parts of the quasi-deviance; infinite for errors where none are expected."""
    with np.errstate(divide="ignore", invalid="ignore"):
        logarithm = np.where(errors > 0, errors * np.log(errors / expected), 0.0)
    return np.maximum(2 * (logarithm - (errors - expected)) / inflation, 0.0)
