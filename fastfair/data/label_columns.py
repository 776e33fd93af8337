"""Turn columns of subjects, samples and groups, of references and of probes, into codes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fastfair._lib import validation
from fastfair._lib.distinct_entries import one_of_each
from fastfair.errors import InputError

from . import group_labels
from .sorted_scores import Attributes, BothSides, read_only


def code_sides(
    what: str, names: tuple[str, str], columns: tuple[validation.Labels | None, validation.Labels | None]
) -> BothSides | None:
    """Turn the labels of references and of probes into codes of one list of labels; None where there are none."""
    reference, probe = columns
    if reference is None and probe is None:
        return None
    if reference is None or probe is None:
        given, missing = reversed(names) if reference is None else names
        raise InputError(f"{given} is given without {missing}: {what} are needed on both sides")
    labels, (references, probes) = validation.encode_together(names, (reference, probe))
    return labels, references, probes


def subject_of_each(samples: BothSides, subjects: BothSides | None) -> NDArray[np.int32]:
    """Find the one subject of each sample."""
    if subjects is None:
        raise InputError("reference_sample and probe_sample need the subjects: give reference and probe as well")
    found = np.empty(samples[0].size, np.int32)
    for sample, subject in zip(samples[1:], subjects[1:], strict=True):
        found[sample] = subject
    for name, sample, subject in zip(("reference", "probe"), samples[1:], subjects[1:], strict=True):
        wrong = found[sample] != subject
        if wrong.any():
            row = int(wrong.argmax())
            one, other = (subjects[0].item(code) for code in (subject[row], found[sample[row]]))
            raise InputError(
                f"{name}_sample {samples[0].item(sample[row])!r} is of subject {one!r} in row {row} (counted from 0), "
                f"but of {other!r} in another; a sample has one subject",
                row=row,
            )
    return read_only(found)


def code_attributes(reference_group: Any, probe_group: Any) -> Attributes:
    """Turn the labels of each attribute into codes, those of probes being those of references where none are given."""
    if reference_group is None:
        if probe_group is not None:
            raise InputError("probe_group is given without reference_group")
        return {}
    if probe_group is None:
        probe_group = reference_group
    if isinstance(reference_group, Mapping) != isinstance(probe_group, Mapping):
        raise InputError("reference_group and probe_group must both be dicts of attributes, or both be columns")
    same = probe_group is reference_group
    reference_group = group_labels.columns_of("reference_group", reference_group)
    probe_group = reference_group if same else group_labels.columns_of("probe_group", probe_group)
    if list(reference_group) != list(probe_group):
        raise InputError(
            f"reference_group has the attributes {list(reference_group)}, but probe_group has {list(probe_group)}"
        )
    coded: Attributes = {}
    for name, column in reference_group.items():
        sides = (column,) if probe_group[name] is column else (column, probe_group[name])
        labels, codes = validation.encode_together(("reference_group", "probe_group")[: len(sides)], sides)
        coded[name] = (labels, codes[0], codes[-1])
    return coded


def labels_of_subjects(subjects: BothSides | None, attributes: Attributes) -> dict[str, NDArray[np.uint16]]:
    """Find the label of each subject, for the attributes of which no subject has two."""
    if subjects is None:
        return {}
    found = {
        name: one_of_each(subjects[0].size, list(zip(subjects[1:], sides[1:], strict=True)))
        for name, sides in attributes.items()
    }
    return {name: labels for name, labels in found.items() if labels is not None}


def kept(columns: Any, keep: NDArray[np.bool_]) -> Any:
    """Keep some rows of the codes of both sides, and the labels that these rows still use."""
    labels, reference, probe = columns
    reference, probe = reference[keep], probe[keep]
    used = np.zeros(len(labels), np.bool_)
    used[reference] = used[probe] = True
    position = (np.cumsum(used) - 1).astype(reference.dtype)
    return labels[used], position[reference], position[probe]
