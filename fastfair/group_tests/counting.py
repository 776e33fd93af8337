"""Count the failed attempts and all attempts of each subject at an operating point."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from fastfair._lib.threads import count_threads, in_order
from fastfair._lib.warnings import warn
from fastfair.data.comparisons import Comparisons
from fastfair.data.scanned_comparisons import KeptComparisons
from fastfair.data.scanning import Reader
from fastfair.data.vector_pairs import PairsOfVectors
from fastfair.error_rates.operating_points import OperatingPoint, threshold_key
from fastfair.errors import DependentGroupsWarning, DroppedWarning, InputError

Counts = NDArray[np.int64]
Counted = tuple[Counts, Counts, NDArray[Any]]  # failures, attempts and group of each subject that has attempts
_OF_TWO = "some mated comparisons are of two subjects and cannot be attempts of one: leave them out"
_SPARE_DEVIATIONS = 6  # as many standard deviations more non-mated pairs are kept than are to be accepted


def of_comparisons(comparisons: Comparisons, at: OperatingPoint) -> Counted:
    """Count rejected mated comparisons; see `FailureCounts.from_comparisons`."""
    if isinstance(comparisons, KeptComparisons):
        return _of_scan(comparisons, at)
    comparisons.require_groups()
    if comparisons.subjects is None:
        raise InputError("the comparisons have no subjects, so attempts cannot be counted: give reference and probe")
    by_group = comparisons.mated_by_group
    side = by_group.side
    assert side.reference is not None
    assert side.probe is not None
    if not np.array_equal(side.reference, side.probe):
        raise InputError(_OF_TWO)
    n_groups = len(comparisons.groups)
    inside = by_group.reference_group == by_group.probe_group
    unit = side.reference * np.int64(n_groups) + by_group.reference_group
    rejected = inside & (side.keys < threshold_key(comparisons, at))
    attempts = np.bincount(unit[inside], minlength=comparisons.subjects.size * n_groups)
    failures = np.bincount(unit[rejected], minlength=attempts.size)
    if not inside.all():
        warn(
            f"{np.count_nonzero(~inside)} of {inside.size} mated comparisons are between two groups and left out",
            DroppedWarning,
        )
    there = np.flatnonzero(attempts)
    in_several = there.size - np.unique(there // n_groups).size
    if in_several:
        warn(
            "some subjects have mated comparisons in more than one group, and each group counts them as its own "
            "subjects; but the tests assume that groups share no subjects",
            DependentGroupsWarning,
        )
    return failures[there], attempts[there], there % n_groups


def _of_scan(kept: KeptComparisons, at: OperatingPoint) -> Counted:
    """Do the same for a scan, whose subjects have one group each."""
    kept.require_groups()
    assert kept.group_of_subject is not None
    attempts = _attempts(kept)
    rejected = kept.mated.keys < threshold_key(kept, at)
    assert kept.mated.reference is not None
    failures = np.bincount(kept.mated.reference[rejected], minlength=attempts.size)
    there = np.flatnonzero(attempts)
    return failures[there], attempts[there], kept.group_of_subject[there]


def _attempts(kept: KeptComparisons) -> Counts:
    """Count the mated comparisons of each subject, with those that a scan has not kept."""
    pairs, numbers = kept.pairs[0], kept.of_subjects.numbers
    if isinstance(pairs, PairsOfVectors):
        return pairs.of_subjects()

    def count(read: Reader) -> tuple[Counts, bool]:
        reference, probe, _ = read()
        return np.bincount(reference, minlength=numbers.size), np.array_equal(reference, probe)

    found = list(in_order(count, *pairs.buckets(count_threads(None))))
    if not all(alike for _, alike in found):
        raise InputError(_OF_TWO)
    return np.asarray(np.sum([attempts for attempts, _ in found], axis=0), np.int64)[numbers]
