"""Quality of comparisons, the cuts below which shares of them are discarded, and what is left above a cut."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fastfair._lib import validation
from fastfair.data.comparisons import Comparisons
from fastfair.data.sorted_scores import SortedSide
from fastfair.data.subsets import subset
from fastfair.errors import InputError

Floats = NDArray[np.float64]
SIDES = ("reference", "probe")


@dataclass(frozen=True, eq=False)
class Quality:
    """The quality of the samples of comparisons.

    Attributes
    ----------
    comparisons : Comparisons
        The comparisons.
    of_sides : tuple of (n,) ndarray
        The quality of each comparison, in the caller's order; or that of the reference and that of the probe.
    """

    comparisons: Comparisons
    of_sides: tuple[Floats, ...]

    def of(self, side: SortedSide) -> Floats:
        """Return the quality of each comparison, which is the lower one of its two samples."""
        assert side.rows is not None
        rows = side.rows
        return np.minimum.reduce([values[rows] for values in self.of_sides])

    def of_samples(self) -> Floats:
        """Return the quality of each sample.

        Raises
        ------
        InputError
            Where samples are not known, quality is that of comparisons, or one sample has two.
        """
        comparisons = self.comparisons
        if comparisons.samples is None or len(self.of_sides) == 1:
            raise InputError(
                'share_of="samples" needs the samples of the comparisons (reference_sample and probe_sample) and the '
                "quality of both sides, as a pair of columns"
            )
        found = np.full(comparisons.samples.size, np.nan)
        for side in (comparisons.mated, comparisons.nonmated):
            for values, samples in zip(self.of_sides, (side.reference_sample, side.probe_sample), strict=True):
                found[samples] = values[side.rows]
        for side in (comparisons.mated, comparisons.nonmated):
            for values, samples in zip(self.of_sides, (side.reference_sample, side.probe_sample), strict=True):
                assert samples is not None
                differ = np.flatnonzero(found[samples] != values[side.rows])
                if differ.size:
                    sample = comparisons.samples[samples[differ[0]]]
                    raise InputError(f"quality differs between comparisons of one sample, {sample!r}")
        return found[~np.isnan(found)]


def quality_of(comparisons: Comparisons, given: ArrayLike | Sequence[ArrayLike] | None) -> Quality:
    """Check the quality of comparisons.

    Parameters
    ----------
    comparisons : Comparisons
        With subjects.
    given : (n,) array_like, pair of (n,) array_like, or None
        The quality of each comparison, or of its reference and of its probe, in the order that the comparisons were
        given in. By default that which was read with them.

    Returns
    -------
    Quality

    Raises
    ------
    InputError
        Without subjects or quality, for columns of another length, and for values that are not finite.
    """
    if comparisons.subjects is None:
        raise InputError("the comparisons have no subjects, whom intervals need: give reference and probe")
    columns: Any = comparisons.quality if given is None else given
    if columns is None:
        raise InputError("there is no quality: give quality=, or read it with read_comparisons(quality=...)")
    sides = columns if isinstance(columns, tuple) else (columns,)
    if len(sides) > 2:
        raise InputError(f"quality must be one column, or a pair for references and probes, not {len(sides)}")
    sides_of = comparisons.mated, comparisons.nonmated
    used = np.concatenate([side.rows for side in sides_of if side.rows is not None])
    failed = comparisons.failed
    n = used.size + (failed.n if failed is not None and failed.policy == "exclude" else 0)
    found = []
    for name, values in zip(("quality",) if len(sides) == 1 else SIDES, sides, strict=True):
        called = "quality" if name == "quality" else f"quality of the {name}"
        array = validation.numbers_of(called, values)
        if given is not None and array.shape != (n,):
            raise InputError(f"{called} must have one value for each of the {n:,} comparisons, not {array.shape}")
        wrong = np.sort(used[~np.isfinite(array[used])])
        if wrong.size:
            raise InputError(
                f"{called} is {array[wrong[0]]:g} in row {wrong[0]}: leave comparisons without a quality out, or "
                'declare such samples as failed, with failures="exclude"'
            )
        found.append(array)
    return Quality(comparisons, tuple(found))


def cuts_of(quality: Floats, fractions: Floats) -> Floats:
    """Find the quality below which each share is discarded: whole ties, and never more than the share.

    Parameters
    ----------
    quality : (n,) ndarray
        Of comparisons or of samples.
    fractions : (f,) ndarray
        Shares in [0, 1).

    Returns
    -------
    (f,) ndarray
        The largest quality that at most so large a share of the values is below.
    """
    ordered = np.sort(quality)
    levels = np.unique(ordered)
    below = np.searchsorted(ordered, levels) / ordered.size  # the share below each level, ascending from 0
    return np.asarray(levels[np.searchsorted(below, fractions, side="right") - 1])


def kept_above(comparisons: Comparisons, quality: Floats, cut: float, *, mated: bool) -> Comparisons | None:
    """Keep the mated, or non-mated, comparisons of at least a quality, and all of the other class.

    Returns None where none is left.
    """
    kept = np.flatnonzero(quality >= cut)
    if not kept.size:
        return None
    return subset(comparisons, kept, None) if mated else subset(comparisons, None, kept)


def as_scores(comparisons: Comparisons, quality: Quality) -> Comparisons:
    """Return the same comparisons with their quality as score: what is below a cut, it rejects."""
    sides = comparisons.mated, comparisons.nonmated
    scores = [quality.of(side) for side in sides]
    assert comparisons.subjects is not None
    groups: dict[str, Any] = {}
    if comparisons.groups:
        labels = np.array(comparisons.groups)
        grouped = comparisons.mated_by_group, comparisons.nonmated_by_group
        groups = {
            f"{name}_group": labels[np.concatenate([getattr(one, f"{name}_group") for one in grouped])]
            for name in SIDES
        }
    who: dict[str, Any] = {name: np.concatenate([getattr(side, name) for side in sides]) for name in SIDES}
    flags = np.repeat([True, False], [one.size for one in scores])
    return Comparisons(np.concatenate(scores), flags, **who, **groups, label_conflicts="keep")
