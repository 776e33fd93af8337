"""False matches inside groups and who is compared there, from lists or from the numbers of vectors of subjects."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from fastfair._lib import memory
from fastfair.data.comparisons import Comparisons
from fastfair.data.scanned_comparisons import KeptComparisons
from fastfair.data.vector_pairs import PairsOfVectors
from fastfair.resampling.dependence import repeat_probability, share_of

from .frailty import Design, chance_of_errors, count_errors

if TYPE_CHECKING:
    from fastfair.kernels.frailty import Numbers

Counts = NDArray[np.int64]
Floats = NDArray[np.float64]


def count_false_matches(
    comparisons: Comparisons, threshold: float, kept: NDArray[np.int64]
) -> tuple[Design, NDArray[np.int64]]:
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
        As `frailty.count_errors` returns them.
    """
    by_group = comparisons.nonmated_by_group
    side = by_group.side
    assert side.reference is not None
    assert side.probe is not None
    position = np.full(len(comparisons.groups), -1)
    position[kept] = np.arange(kept.size)
    group = np.where(by_group.reference_group == by_group.probe_group, position[by_group.reference_group], -1)
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
    pairs: PairsOfVectors, group: Counts, first: NDArray[Any], second: NDArray[Any], n_groups: int
) -> tuple[Design, Counts]:
    """Describe non-mated pairs of vectors inside groups, and count errors, as `frailty.count_errors` does from a list.

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
    own, others = _products(pairs, unit)
    of_unit = group[unit]
    numbers = _numbers(own, others, of_unit, n_groups)
    counts = _counts(pairs, group, np.minimum(first, second), np.maximum(first, second), n_groups)
    again = repeat_probability(counts[:, 3], counts[:, 4])

    of_subjects = [seen[of_group].astype(np.float64) for of_group in inside]
    size = np.array([n.sum() / 2 for n in of_subjects])
    squares = np.array([float(pairs.squares(of_group).sum()) for of_group in inside])
    sharing = np.array([(n**2).sum() for n in of_subjects]) - squares
    # In the order of a list, as sums of fractions depend on it.
    kinds, kind = np.unique(np.concatenate((own, others)), axis=1, return_inverse=True)
    n_kinds = kinds.shape[1]
    memory.require(
        32 * n_kinds**2, f"how probable errors are of {n_kinds:,} different numbers of vectors", "use fewer groups"
    )
    a, c, b, d = kinds
    repeats = (np.outer(a, b) + np.outer(c, d)).astype(np.float64)
    chance = np.where(repeats > 0, chance_of_errors(repeats, again), 0.0)
    of_units, sums = np.zeros(unit.size), np.zeros((2, n_groups))
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


def _products(pairs: PairsOfVectors, unit: Counts) -> tuple[Counts, Counts]:
    """Return a and c, and b and d, of some subjects, two of whom, k and l, have a_k b_l + c_k d_l pairs."""
    references, probes = (n[unit].astype(np.int64) for n in pairs.vectors)
    if pairs.is_probe is None:
        nothing = np.zeros_like(references)
        return np.stack((references, nothing)), np.stack((references, nothing))
    return np.stack((references, probes)), np.stack((probes, references))


def _numbers(own: Counts, others: Counts, group: Counts, n_groups: int) -> Numbers:
    from fastfair.kernels.frailty import Numbers

    member = np.argsort(group, kind="stable").astype(np.int64)
    place = np.empty_like(member)
    place[member] = np.arange(member.size)
    start = np.append(0, np.cumsum(np.bincount(group, minlength=n_groups)))
    parts = [member[slice(*ends)] for ends in itertools.pairwise(start)]
    sums = [np.concatenate([np.append(0, np.cumsum(one[part])) for part in parts]) for one in others]
    return Numbers(own, np.stack(sums), member, place, start)


def _counts(pairs: PairsOfVectors, group: Counts, first: Counts, second: Counts, n_groups: int) -> Counts:
    """Count errors and their pairs in each group, in the order of `kernels.frailty`; the first subject is the lower."""
    codes, errors = np.unique(first.astype(np.int64) * group.size + second, return_counts=True)
    one, other = np.divmod(codes, group.size)
    of_pair = group[one]
    erring = np.bincount(np.concatenate((one, other)), minlength=group.size)  # partners with whom each subject errs

    def total(values: NDArray[Any]) -> Counts:
        found = np.zeros(n_groups, np.int64)
        np.add.at(found, of_pair, values)
        return found

    in_groups = group >= 0
    sharing = np.zeros(n_groups, np.int64)
    np.add.at(sharing, group[in_groups], erring[in_groups] ** 2)
    n_pairs = total(np.ones_like(codes))
    repeats = pairs.of_two(one, other)
    return np.stack(
        (total(errors), n_pairs, sharing - 2 * n_pairs, total(errors * (errors - 1)), total(errors * (repeats - 1))),
        axis=-1,
    )
