"""Columns of comparisons, checked, coded and without those that `Policies` leave out, before scores
are sorted.
"""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from fastfair._lib import label_codes, memory, validation
from fastfair._lib.arguments import checked
from fastfair._lib.arrays import AnyArray, AnyFloats, AnyIntegers, Codes, Flags, Groups
from fastfair._lib.label_codes import Coded, Labels, encode, encode_together
from fastfair._lib.warnings import warn
from fastfair.errors import InputError, LookAlikeWarning, NarrowIntervalsWarning

from . import checks, group_labels, sample_names
from .exclusions import gathering, leave_out
from .group_labels import MissingLabels
from .sessions import ROLES
from .sorted_scores import Attributes, BothSides, CheckedColumns, read_only

Failures = Literal["error", "exclude", "non-match"]


@checked
@dataclass(frozen=True)
class Policies:
    """What to do with comparisons that failed, contradict their labels, or lack one.

    Attributes
    ----------
    failures : {"error", "exclude", "non-match"}
        What to do with comparisons that failed, as a sample could not be acquired or enrolled, and
        whose score is NaN, an empty field or `failure_score`: raise an error; leave them out of the
        scores, with a warning, and count them; or count them as non-matches at every threshold, so
        that FNMR and FMR are the FRR and the FAR of ISO/IEC 19795-1.
    failure_score : float, optional
        The score that stands for a failed comparison, such as -1.
    label_conflicts : {"raise", "drop", "keep"}
        What to do with non-mated comparisons of a subject with itself, mated comparisons of two
        subjects, and labels of a score file that contradict the metadata: raise an error, leave
        them out with a warning that names rows, or keep them as they are marked, with the labels of
        the metadata.
    self_comparisons : {"drop", "keep"}
        What to do with comparisons of a sample with itself, where some subject has several samples,
        and with the diagonal of a symmetric matrix all of whose entries are the best scores: leave
        them out with a warning, or keep them.
    missing_labels : {"error", "drop", "unknown"}
        What to do with comparisons that lack a label, in the score file or in the metadata: raise
        an error, leave them out, with a warning that says how many, or take "unknown" for it.

    Examples
    --------
    >>> import fastfair as ff
    >>> policies = ff.Policies(failures="non-match", failure_score=-1)
    >>> c = ff.Comparisons([0.9, 0.8, -1, 0.4, 0.1, 0.2], [1, 1, 1, 0, 0, 0], policies=policies)
    >>> ff.rates(c, ff.at_threshold(0.3)).fnmr  # the FRR
    0.3333333333333333
    """

    failures: Failures = "error"
    failure_score: float | None = None
    label_conflicts: Literal["raise", "drop", "keep"] = "raise"
    self_comparisons: Literal["drop", "keep"] = "drop"
    missing_labels: MissingLabels = "error"

    def _are_failed(self, values: AnyFloats) -> Flags:
        """Tell which scores are NaN or `failure_score`."""
        failed = np.isnan(values)
        if self.failure_score is not None:
            with np.errstate(over="ignore"):  # beyond float32 it is no score
                failed |= values == np.result_type(values, np.float16).type(self.failure_score)
        return failed

    def _find_failed(self, values: AnyFloats) -> Flags | None:
        """Tell which scores are those of failed comparisons; None where failures are refused.

        Raises
        ------
        InputError
            For a failed comparison where failures are refused, and for infinite scores.
        """
        if self.failures == "error" and self.failure_score is None:
            return None  # NaN is refused after the sort
        failed = self._are_failed(values)
        if self.failures == "error":
            if failed.any():
                row = int(failed.argmax())
                raise InputError(
                    f"{np.count_nonzero(failed)} of {failed.size} comparisons failed, the first in"
                    f" row {row} (counted from 0), whose score is {float(values[row]):g};"
                    f" {checks.FAILURES_DO}",
                    row=row,
                )
            return None
        if np.isinf(values).any():
            raise checks.not_usable(np.where(failed, 0, values))
        return failed


USUAL = Policies()


def row_of_arrays(row: int) -> str:
    """Return the name of a row of arrays, for messages."""
    return f"row {row} (counted from 0)"


_SESSIONS = ("⟦session⟧", "⟦session⟧ of probes")


def checked_columns(
    scores: ArrayLike,
    mated: ArrayLike | None,
    sides: Mapping[str, Any],
    score_kind: str,
    policies: Policies,
    where: Callable[[int], str] = row_of_arrays,
) -> CheckedColumns:
    """Check the arguments of `Comparisons`, and turn labels into codes.

    Parameters
    ----------
    scores, mated, score_kind
        As in `Comparisons`.
    sides : mapping
        The subjects, groups, samples and sessions of references and of probes, by the names that
        they have there.
    policies : Policies
        As there.
    where : callable
        As in `rows_without_conflicts`.

    Returns
    -------
    CheckedColumns
    """
    values = checks.scores(scores)
    subjects = code_sides("subjects", ("reference", "probe"), sides)
    samples = code_sides("samples", ("reference_sample", "probe_sample"), sides)
    sessions = code_sides("sessions", ROLES, sides, _SESSIONS)
    groups = sides.get("reference_group"), sides.get("probe_group")
    attributes, lacking = code_attributes(*groups, policies.missing_labels)
    if subjects is not None:
        warn_of_look_alikes("subject", subjects[0].tolist())
    for name, (labels, *_) in attributes.items():
        warn_of_look_alikes(f"group {name!r}", labels.tolist())
    if mated is None:
        if subjects is None:
            raise InputError(
                "mated is None: it can be left out only where reference and probe are given"
            )
        flags = subjects[1] == subjects[2]
    else:
        flags = checks.mated_flags(mated)
    # Of ids that are all alike, or all differ, it is more likely that they are no people.
    is_of_one_class = mated is not None and bool(flags.all() or not flags.any())
    sizes = {"scores": values.size, "mated": flags.size}
    named = {("reference", "probe"): subjects, ("reference_sample", "probe_sample"): samples}
    named |= {_SESSIONS: sessions}
    named |= {
        (f"⟦reference_group⟧ {name!r}", f"⟦probe_group⟧ {name!r}"): sides
        for name, sides in attributes.items()
    }
    for names, both in named.items():
        sizes |= {} if both is None else dict(zip(names, map(len, both[1:]), strict=True))
    checks.same_length(sizes)
    empty = places_without_a_neighbour(values, samples, subjects)
    if empty is not None:
        values = np.where(empty, values.dtype.type(0), values)
    failed = policies._find_failed(values)
    checks.require_no_fillers(values, failed)
    if failed is not None:
        values = np.where(
            failed, values.dtype.type(np.inf if score_kind == "distance" else -np.inf), values
        )
    values = checks.natural(values, score_kind)
    score_kind = checks.kept_kind(score_kind)
    with gathering() as left_out:
        keep = group_labels.flag_labelled(
            lacking, policies.missing_labels, flags.size, "comparisons"
        )
        if empty is not None:
            leave_out(~empty, "comparisons", "padding", _WITHOUT_NEIGHBOUR, mated=flags)
            keep &= ~empty
        # known apart
        if subjects is not None and samples is not None and samples[0].size > subjects[0].size:
            keep &= rows_of_two_samples(policies.self_comparisons, samples[1], samples[2], flags)
        if subjects is not None:
            keep &= rows_without_conflicts(
                policies.label_conflicts, flags, subjects, where, samples
            )
    if not keep.all():
        values, flags = values[keep], flags[keep]
        subjects, samples, sessions = (
            of_both and kept_rows(of_both, keep) for of_both in (subjects, samples, sessions)
        )
        failed = None if failed is None else failed[keep]
        attributes = {name: kept_rows(sides, keep) for name, sides in attributes.items()}
    return CheckedColumns(
        values,
        flags,
        subjects,
        samples,
        attributes,
        score_kind,
        tuple(left_out),
        keep,
        failed,
        is_of_one_class,
        sessions,
    )


def code_sides(
    what: str,
    names: tuple[str, str],
    columns: Mapping[str, Labels | None],
    called: tuple[str, str] | None = None,
) -> BothSides | None:
    """Turn the labels of references and of probes into codes of one list of labels; None where
    there are none.

    called: what messages call the columns, if not by their names. One column of both is coded once.
    """
    reference, probe = map(columns.get, names)
    if reference is None and probe is None:
        return None
    if reference is None or probe is None:
        given, missing = reversed(names) if reference is None else names
        raise InputError(f"{given} is given without {missing}: {what} are needed on both sides")
    if probe is reference:
        coded = encode((called or names)[0], reference)
        return coded.labels, coded.codes, coded.codes
    labels, (references, probes) = encode_together(called or names, (reference, probe))
    return labels, references, probes


def subject_of_each(samples: BothSides, subjects: BothSides | None) -> Codes:
    """Find the one subject of each sample."""
    if subjects is None:
        raise InputError(
            "reference_sample and probe_sample need the subjects: give reference and probe as well"
        )
    columns = list(zip(samples[1:], subjects[1:], strict=True))
    subject = group_labels.labels_of_subjects(samples[0].size, columns)
    if subject is None:
        k, row, here, earlier = group_labels.first_conflict(samples[0].size, columns)
        side = ("reference", "probe")[k]
        raise InputError(
            f"{side}_sample {samples[0].item(samples[1 + k][row])!r} is of"
            f" subject {subjects[0].item(here)!r} in row {row} (counted from 0), but of"
            f" {subjects[0].item(earlier)!r} in another; a sample has one subject",
            row=row,
        )
    return read_only(subject.astype(np.int32, copy=False))


def code_attributes(
    reference_group: Any, probe_group: Any, policy: MissingLabels
) -> tuple[Attributes, dict[str, Flags]]:
    """Turn the labels of each attribute into codes, those of probes being those of references where
    none are given.

    policy: what to do with missing ones. Returned is also which rows have none, by what messages
    call the column.
    """
    lacking: dict[str, Flags] = {}
    if reference_group is None and probe_group is None:
        return {}, lacking
    if reference_group is None:
        raise InputError("⟦probe_group⟧ is given without ⟦reference_group⟧")
    of_reference = group_labels.columns_of("reference_group", reference_group)
    of_probe = (
        of_reference if probe_group is None else group_labels.columns_of("probe_group", probe_group)
    )
    if list(of_reference) != list(of_probe):
        raise InputError(
            f"⟦reference_group⟧ has the attributes {list(of_reference)}, but ⟦probe_group⟧"
            f" {list(of_probe)}"
        )
    coded: Attributes = {}
    for name, column in of_reference.items():
        attribute = f" {name!r}" if isinstance(reference_group, Mapping) else ""
        sides = {f"reference_group{attribute}": column}
        if of_probe[name] is not column:
            sides[f"probe_group{attribute}"] = of_probe[name]
        if policy != "error":
            sides, without = group_labels.labels_by_policy(sides, policy)
            lacking |= without
        labels, codes = encode_together(list(sides), list(sides.values()), group_labels.COMPLETE)
        coded[name] = (labels, codes[0], codes[-1])
    return coded, lacking


def labels_of_subjects(subjects: BothSides | None, attributes: Attributes) -> dict[str, Groups]:
    """Find the label of each subject, for the attributes of which no subject has two; warn where
    only a few have.
    """
    if subjects is None:
        return {}
    by_attribute = {}
    for name, (labels, *of_sides) in attributes.items():
        columns = list(zip(subjects[1:], of_sides, strict=True))
        of_subjects = group_labels.labels_of_subjects(subjects[0].size, columns)
        if of_subjects is not None:
            by_attribute[name] = of_subjects
        else:
            group_labels.warn_of_exceptions(name, labels, subjects[0], columns)
    return by_attribute


def kept_rows(columns: BothSides, keep: Flags) -> BothSides:
    """Keep some rows of the codes of both sides, and the labels that these rows still use."""
    labels, *of_sides = columns
    reference, probe = (codes[keep] for codes in of_sides)
    used, position = label_codes.in_use(len(labels), reference, probe)
    position = position.astype(reference.dtype)
    of_reference = position[reference]
    of_probe = of_reference if of_sides[0] is of_sides[1] else position[probe]
    return labels[used], of_reference, of_probe


_DROP_SELF = '⟦self_comparisons="drop"⟧'
_KEEP_SELF = '⟦self_comparisons="keep"⟧ keeps them'


def rows_without_conflicts(
    policy: str,
    flags: Flags,
    subjects: tuple[AnyArray, AnyArray, AnyArray],
    where: Callable[[int], str] = row_of_arrays,
    samples: BothSides | None = None,
) -> Flags:
    """Find the comparisons whose mated label does not contradict their subjects.

    Parameters
    ----------
    policy : {"raise", "drop", "keep"}
        What to do with the others: raise an error, warn so that the caller leaves them out, or keep
        them.
    flags : (n,) ndarray of bool
        Whether each comparison is mated.
    subjects : tuple of ndarray
        Labels, and for each comparison the positions of its two subjects.
    where : callable
        Returns the name of a row in messages.
    samples : tuple of ndarray, optional
        Names of samples, and for each comparison the positions of its two.

    Returns
    -------
    (n,) ndarray of bool
        Whether to keep each comparison.
    """
    labels, reference, probe = subjects
    same = reference == probe
    conflicts = np.flatnonzero(flags != same)
    keep = np.ones(flags.size, np.bool_)
    n_nonmated = int(same[conflicts].sum())
    no_people = (
        "" if n_nonmated else _words_on_no_people(conflicts.size, int(np.count_nonzero(flags)))
    )
    if policy == "keep" and no_people:
        warn(f"{no_people}, and intervals are likely too narrow", NarrowIntervalsWarning)
    if policy == "keep" or conflicts.size == 0:
        return keep
    kinds = (
        f"{n_nonmated} of one subject marked non-mated, {conflicts.size - n_nonmated} of two"
        " subjects marked mated"
    )
    if policy == "drop":
        keep[conflicts] = False
        leave_out(
            keep,
            "comparisons",
            "label conflict",
            "as mated contradicts their subjects",
            'label_conflicts="drop"',
            mated=flags,
            examples=map(where, conflicts.tolist()),
        )
        return keep
    row = int(conflicts[0])
    pair = [labels.item(side[row]) for side in (reference, probe)]
    label, other_label = map(str, pair)
    by_case = flags[row] and plain_label(label) == plain_label(other_label)
    raise InputError(
        f"mated contradicts the subjects in {conflicts.size} comparisons ({kinds}); the first is"
        f" {where(row)}: {pair[0]!r} with {pair[1]!r} marked"
        f" {'mated' if flags[row] else 'non-mated'}. "
        + (
            f"{label!a} and {other_label!a} look alike: write both alike"
            if by_case
            else (samples is not None and sample_names.advice_on_pattern(samples, subjects, flags))
            or sample_names.advice_on_samples(labels, sample_names.pairs_fit(subjects, flags))
            or (f"So {no_people}" if no_people else "")
            or _CORRECT_LABELS
        ),
        row=row,
    )


_CORRECT_LABELS = (
    'Correct the labels or the subjects, or pass ⟦label_conflicts="drop"⟧ to leave these'
    ' comparisons out, or ⟦label_conflicts="keep"⟧ to keep them as they are marked'
)
_NO_PEOPLE = 0.5  # of the mated comparisons are of two "subjects", where these are no people


def _words_on_no_people(n_of_two: int, n_mated: int) -> str:
    """Say that subjects are no people, where most mated comparisons are of two of them; empty where
    they are.
    """
    if n_of_two <= _NO_PEOPLE * n_mated:
        return ""
    return (
        f"reference and probe do not name people, as {n_of_two:,} of {n_mated:,} mated comparisons"
        " are of two of them (such as models and segments, or files): leave them out, give the"
        " person of each, or pass them as ⟦reference_sample⟧ and ⟦probe_sample⟧ beside the people"
    )


def rows_of_two_samples(
    policy: str, reference: AnyIntegers, probe: AnyIntegers, flags: Flags
) -> Flags:
    """Find the comparisons of two samples: one compared with itself says nothing of recognition.

    Parameters
    ----------
    policy : {"drop", "keep"}
        What to do with the others: warn so that the caller leaves them out, or keep them.
    reference, probe : (n,) ndarray of int
        The samples of each comparison.
    flags : (n,) ndarray of bool
        Whether each comparison is mated.

    Returns
    -------
    (n,) ndarray of bool
        Whether to keep each comparison.
    """
    keep = np.asarray(reference != probe)
    if policy == "keep" or keep.all():
        return np.ones(keep.size, np.bool_)
    leave_out(
        keep,
        "comparisons",
        "self-comparison",
        "as they compare a sample with itself",
        _DROP_SELF,
        mated=flags,
        hint=_KEEP_SELF,
    )
    return keep


_WITHOUT_NEIGHBOUR = (
    "as they are places that an index left empty for lack of neighbours, of -1 in place of a"
    " subject or sample, and without a score"
)
# what FAISS gives in place of a neighbour where there is none
NOBODY = frozenset([-1, "-1", "-1.0"])


def places_without_a_neighbour(values: AnyFloats, *sides: BothSides | None) -> Flags | None:
    """Find the rows with which an index fills up a list of too few neighbours; None where there are
    none.

    Parameters
    ----------
    values : (n,) ndarray
        The scores.
    *sides : tuple of ndarray, or None
        Labels of samples and of subjects, and for each comparison the positions of its two.

    Returns
    -------
    (n,) ndarray of bool, or None
        Which rows are of nobody, and have no score: NaN, an infinite one, or the largest that a
        type holds.

    Raises
    ------
    InputError
        Where all rows of nobody have one score that is also the lowest or highest of all: a
        transformed filler.
    """
    of_nobody = np.zeros(values.size, np.bool_)
    for labels, reference, probe in filter(None, sides):
        listed = labels.tolist()
        if not NOBODY.isdisjoint(listed):
            nobody = [code for code, label in enumerate(listed) if label in NOBODY]
            of_nobody |= np.isin(reference, nobody) | np.isin(probe, nobody)
    if not of_nobody.any():
        return None
    empty = of_nobody & (~np.isfinite(values) | checks.are_fillers(values))
    if empty.any():
        return empty
    filled = values[of_nobody]
    if (
        filled.size > 1
        and filled.min() == filled.max()
        and filled[0] in (values.min(), values.max())
    ):
        raise InputError(
            f"all {filled.size} comparisons of -1 have the score {float(filled[0]):g}, the lowest"
            " or highest of all, as places have that an index leaves empty for lack of neighbours:"
            " leave such rows out; if -1 is somebody, write another name",
            row=int(of_nobody.argmax()),
        )
    return None


_INVISIBLE = dict.fromkeys([0x200B, 0x200C, 0x200D, 0x2060, 0xFEFF, 0x00AD])
_BLANKS = dict.fromkeys([0x00A0, 0x2007, 0x202F], " ")
# What programs write for a missing label.
AS_IF_MISSING = frozenset(["na", "n/a", "none", "null", "#n/a"])
_LEADING_ZEROS = re.compile(r"(?<![\d.])0+(?=\d)")
_WHOLE = re.compile(r"(?<=\d)\.0+$")  # as of whole numbers that became floats


def plain_name(name: str) -> str:
    """Return a name as it looks: composed, without invisible characters, and with usual blanks."""
    if name.isascii():
        return name.strip()
    return unicodedata.normalize("NFC", name.translate(_INVISIBLE | _BLANKS)).strip()


def plain_label(label: str) -> str:
    """Return the label of a group as it looks, in lower case."""
    return plain_name(label).casefold()


def plain_id(name: str) -> str:
    """Return what stays of the name of a person however it is written: in lower case, and 7 for 007
    and 7.0.
    """
    form = name.strip().lower() if name.isascii() else plain_label(name)
    if "0" in form:
        form = _LEADING_ZEROS.sub("", form)
    return _WHOLE.sub("", form) if "." in form else form


# of groups `plain_label`
_FORMS: dict[str, Callable[[str], str]] = {
    "subject": plain_name,
    "person": plain_id,
}


def warn_of_look_alikes(what: str, names: list[Any]) -> None:
    """Warn of distinct names that look alike.

    Parameters
    ----------
    what : str
        "subject", whose names differ in invisible characters or Unicode forms alone; "person",
        where leading zeros and letter case count, too, as names of several sources may be written
        in several ways; or "group 'sex'" of an attribute, where letter case does. Of labels of
        groups, those that programs write where there is none are told, too.
    names : list
        The names; others than text are not looked at.
    """
    form = _FORMS.get(what, plain_label)
    if not all(isinstance(name, str) for name in names) or (
        what == "subject" and all(map(str.isascii, names))
    ):
        return
    forms = list(map(form, names))
    first: dict[str, str] = {}
    alike = [
        (first[plain], name)
        for plain, name in zip(forms, names, strict=True)
        if first.setdefault(plain, name) != name
    ]
    if what not in _FORMS and (
        odd := [name for name in names if plain_label(name) in AS_IF_MISSING]
    ):
        warn(
            f"{what} has the label {odd[0]!r}, which is taken for a group of its own; where it says"
            " that there is no label, leave the field blank",
            LookAlikeWarning,
        )
    if alike:
        more = f" (and {len(alike) - 1} more)" if len(alike) > 1 else ""
        earlier, later = map(ascii, alike[0])
        warn(
            f"{what} {earlier} and {later} look alike and are taken for two{more}: write both alike",
            LookAlikeWarning,
        )


def columns_of_matrix(
    scores: ArrayLike,
    reference: Labels | None,
    probe: Labels | None,
    reference_group: Labels | None,
    probe_group: Labels | None,
    policy: MissingLabels,
) -> tuple[AnyArray, dict[str, Any], Flags]:
    """Return the scores of a matrix, row after row, the labels of each comparison by argument, and
    which ones to keep.

    See `Comparisons.from_matrix` for the arguments; policy is `Policies.missing_labels`.
    """
    matrix = validation.numbers_in("scores", scores)
    if matrix.ndim != 2:
        raise InputError(
            f"a score matrix has two dimensions, but the shape of scores is {matrix.shape}"
        )
    n_rows, n_columns = matrix.shape
    if reference is None and probe is None:
        if n_rows != n_columns:
            raise InputError(
                f"scores is {n_rows} x {n_columns}: give the subjects of rows (reference) and"
                " columns (probe), as only in a square matrix row i and column i can be taken for"
                " one subject"
            )
        reference = probe = np.arange(n_rows)
    sides = {
        "reference": reference,
        "probe": probe,
        "reference_group": reference_group,
        "probe_group": probe_group,
    }
    given = {name: labels for name, labels in sides.items() if labels is not None}
    memory.require(
        matrix.size * (matrix.itemsize + 8 * len(given)),
        f"the comparisons of {n_rows:,} x {n_columns:,} scores",
        "give fewer rows or columns",
    )

    def spread(name: str, of_side: AnyArray) -> AnyArray:
        if name.startswith("reference"):
            return np.repeat(of_side, n_columns)
        return np.tile(of_side, n_rows)

    grouped = {name: labels for name, labels in given.items() if name.endswith("group")}
    coded = {name: encode(name, labels) for name, labels in given.items() if name not in grouped}
    of_groups, lacking = group_labels.labels_by_policy(grouped, policy)
    coded |= of_groups
    for name, column in coded.items():
        size = n_rows if name.startswith("reference") else n_columns
        checks.same_length({name: column.codes.size, "scores along that side": size})
    without = {name: spread(name, rows) for name, rows in lacking.items()}
    keep = group_labels.flag_labelled(without, policy, matrix.size, "comparisons")
    columns = {
        name: Coded(column.labels, spread(name, column.codes)) for name, column in coded.items()
    }
    return matrix.ravel(), columns, keep


def without_diagonal(
    values: AnyArray, sides: dict[str, Any], score_kind: str, policy: str
) -> Flags:
    """Find the scores beside the diagonal of a symmetric matrix whose diagonal has nothing but the
    best scores.

    "Best" and "symmetric" are meant up to rounding, as products of a matrix with itself are.

    Parameters
    ----------
    values : (n * n,) ndarray
        The scores, row after row.
    sides : dict of Coded
        The labels of both sides.
    score_kind, policy : str
        As `score_kind` and `self_comparisons` of `Comparisons.from_matrix`.

    Returns
    -------
    (n * n,) ndarray of bool
        Which scores to keep.

    Raises
    ------
    InputError
        Where the diagonal has the only mated comparisons.
    """
    n = math.isqrt(values.size)
    everything = np.ones(values.size, np.bool_)
    if policy == "keep" or n * n != values.size or n < 2:
        return everything
    matrix = values.reshape(n, n)
    same = sides["reference"].codes.reshape(n, n) == sides["probe"].codes.reshape(n, n)
    if not np.diagonal(same).all() or not is_of_a_set_with_itself(
        matrix, is_distance=score_kind == "distance"
    ):
        return everything
    if same.sum() == n:
        raise InputError(
            "the only mated comparisons are on the diagonal of a symmetric matrix, all of whose"
            " entries are the best scores: they compare samples with themselves. Give a matrix of"
            ' two sets, or pass ⟦self_comparisons="keep"⟧'
        )
    keep = ~np.eye(n, dtype=bool).ravel()
    leave_out(
        keep,
        "comparisons",
        "self-comparison",
        "as the diagonal of the symmetric matrix has nothing but the best scores, those of samples with themselves",
        _DROP_SELF,
        mated=~keep,
        hint=_KEEP_SELF,
    )
    return keep


_ROUNDING = 256  # machine epsilons that products of long vectors may differ by,
_OF_HALVES = 4  # and numbers that were rounded to float16 afterwards
_ROWS_AT_ONCE = 1024  # of a matrix, compared at a time


def is_of_a_set_with_itself(
    matrix: AnyArray, columns: AnyIntegers | None = None, *, is_distance: bool = False
) -> bool:
    """Return whether a matrix is symmetric, with nothing but the best scores on its diagonal, but
    for rounding.

    So are scores of a set of samples compared with itself, as no two samples are quite alike.

    Parameters
    ----------
    matrix : (n, n) ndarray
        Scores; a memory-mapped one is read in blocks, and only as far as this may be so.
    columns : (n,) ndarray of int, optional
        The order of the columns in which the diagonal is looked for.
    is_distance : bool
        Whether the least score is the best.

    Returns
    -------
    bool
    """
    n = len(matrix)
    if matrix.shape[1] != n or n < 2:
        return False
    order = np.arange(n) if columns is None else columns
    sign = -1.0 if is_distance else 1.0

    def block(rows: slice, columns: AnyIntegers) -> AnyFloats:
        return sign * matrix[rows][:, columns].astype(np.float64)

    diagonal = sign * matrix[np.arange(n), order].astype(np.float64)
    if not np.isfinite(diagonal).all():
        return False
    near = _rounding(diagonal, block(slice(0, _ROWS_AT_ONCE), order), matrix.dtype)
    if np.ptp(diagonal) > near:
        return False
    for start in range(0, n, _ROWS_AT_ONCE):
        rows = slice(start, start + _ROWS_AT_ONCE)
        part = block(rows, order)
        mirrored = sign * matrix[:, order[rows]].T.astype(np.float64)
        with np.errstate(invalid="ignore"):
            are_alike = (part == mirrored) | (np.abs(part - mirrored) <= near)
        if not are_alike.all() or not (part <= diagonal.min() + near).all():
            return False
    return True


def _rounding(diagonal: AnyFloats, block: AnyFloats, dtype: np.dtype[Any]) -> float:
    """Return by how much scores that should be equal may differ, given a diagonal and other scores.

    Zeros that are roots of differences of squares, as in distances, may differ by the root of what
    numbers do.
    """
    epsilon = float(np.finfo(dtype).eps) if dtype.kind == "f" else 0.0
    share = epsilon * (_OF_HALVES if dtype == np.float16 else _ROUNDING)
    highest = float(np.abs(diagonal).max())
    largest = max(highest, float(np.abs(block[np.isfinite(block)]).max(initial=0.0)))
    return (math.sqrt(share) if highest <= math.sqrt(share) * largest else share) * largest
