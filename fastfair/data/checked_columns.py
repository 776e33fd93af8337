"""Columns of comparisons, checked and coded, before their scores are sorted."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fastfair._lib import sample_names, validation
from fastfair._lib.warnings import gathered
from fastfair.errors import DroppedWarning, InputError

from . import label_columns
from .failed_comparisons import FailurePolicy
from .label_conflicts import rows_of_two_samples, rows_without_conflicts
from .look_alikes import without_look_alikes
from .score_keys import Floats
from .sorted_scores import Attributes, BothSides

_Labels = validation.Labels | None
_Groups = _Labels | Mapping[str, validation.Labels]


@dataclass
class CheckedColumns:
    """Comparisons in the caller's order.

    Attributes
    ----------
    values : (n,) ndarray of float32 or float64
        Scores, which may not be finite; those of failed comparisons are the infinity that no threshold accepts.
    flags : (n,) ndarray of bool
        Whether each comparison is mated.
    subjects, samples : tuple of ndarray, or None
        Labels, and for each comparison their positions for the reference and the probe.
    attributes : dict of tuple
        The same for each attribute.
    score_kind : str
        As in `Comparisons`.
    left_out : tuple of str
        What was left out, and why.
    failed : (n,) ndarray of bool, or None
        Which comparisons failed; None where failures are refused.
    """

    values: Floats
    flags: NDArray[np.bool_]
    subjects: BothSides | None
    samples: BothSides | None
    attributes: Attributes
    score_kind: str
    left_out: tuple[str, ...]
    failed: NDArray[np.bool_] | None = None

    def require_both_classes(self) -> None:
        """Raise an error where there are no mated, or no non-mated, comparisons."""
        flags = self.flags if self.failed is None else self.flags[~self.failed]
        n_mated = int(np.count_nonzero(flags))
        if n_mated in (0, flags.size):
            missing = "mated" if n_mated == 0 else "non-mated"
            names = "" if self.subjects is None or n_mated else sample_names.advice(self.subjects[0])
            which = "" if flags is self.flags else " that have a score"
            raise InputError(
                f"there are no {missing} comparisons among the {flags.size}{which}; both classes are needed"
                + (f". {names}" if names else "")
            )


def checked_columns(
    scores: ArrayLike,
    mated: ArrayLike | None,
    subjects_of: tuple[_Labels, _Labels],
    groups_of: tuple[_Groups, _Groups],
    score_kind: str,
    samples_of: tuple[_Labels, _Labels],
    policies: tuple[str, str, str],
    failures: FailurePolicy = FailurePolicy(),  # noqa: B008 - frozen
) -> CheckedColumns:
    """Check the arguments of `Comparisons`, and turn labels into codes.

    Parameters
    ----------
    scores, mated, score_kind
        As in `Comparisons`.
    subjects_of, groups_of, samples_of : tuple
        Subjects, groups and samples of the references and of the probes, as there.
    policies : tuple of str
        `label_conflicts`, `look_alikes` and `self_comparisons`, as there.
    failures : FailurePolicy
        What to do with comparisons that failed.

    Returns
    -------
    CheckedColumns
    """
    label_conflicts, look_alikes, self_comparisons = policies
    values = validation.scores(scores)
    subjects = label_columns.code_sides("subjects", ("reference", "probe"), subjects_of)
    samples = label_columns.code_sides("samples", ("reference_sample", "probe_sample"), samples_of)
    attributes = label_columns.code_attributes(*groups_of)
    if subjects is not None:
        subjects = without_look_alikes("subject", subjects, look_alikes)
    attributes = {
        name: without_look_alikes(f"group {name!r}", sides, look_alikes) for name, sides in attributes.items()
    }
    if mated is None:
        if subjects is None:
            raise InputError("mated is None: it can be left out only where reference and probe are given")
        flags = subjects[1] == subjects[2]
    else:
        flags = validation.mated_flags(mated)
    sizes = {"scores": values.size, "mated": flags.size}
    if subjects is not None:
        sizes |= {"reference": subjects[1].size, "probe": subjects[2].size}
    if samples is not None:
        sizes |= {"reference_sample": samples[1].size, "probe_sample": samples[2].size}
    for name, (_, reference_codes, probe_codes) in attributes.items():
        sizes |= {
            f"reference_group {name!r}": reference_codes.size,
            f"probe_group {name!r}": probe_codes.size,
        }
    validation.same_length(sizes)
    failed = failures.find(values)
    if failed is not None:
        values = np.where(failed, values.dtype.type(np.inf if score_kind == "distance" else -np.inf), values)
    with gathered(DroppedWarning) as told:
        keeps = [
            rows_of_two_samples(self_comparisons, samples[1], samples[2])
            if samples is not None and subjects is not None and samples[0].size > subjects[0].size  # known apart
            else None,
            None if subjects is None else rows_without_conflicts(label_conflicts, flags, subjects),
        ]
    kept = [keep for keep in keeps if keep is not None]
    if kept:
        keep = np.logical_and.reduce(kept)
        values, flags = values[keep], flags[keep]
        subjects, samples = (
            None if sides is None else label_columns.kept(sides, keep) for sides in (subjects, samples)
        )
        failed = None if failed is None else failed[keep]
        attributes = {name: label_columns.kept(sides, keep) for name, sides in attributes.items()}
    return CheckedColumns(values, flags, subjects, samples, attributes, score_kind, tuple(told), failed)
