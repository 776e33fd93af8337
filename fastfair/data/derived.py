"""Comparisons made of others: some of them, with other scores, or numbered as those of another
system.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial, reduce
from typing import Any, Literal, NamedTuple

import numpy as np

from fastfair._lib.arguments import checked
from fastfair._lib.arrays import AnyArray, AnyFloats, AnyIntegers, Flags, Floats, Integers
from fastfair._lib.label_codes import encode_together
from fastfair._lib.warnings import warn
from fastfair.errors import InputError, SharedSubjectsWarning

from . import score_keys
from .checks import LOG_LIKELIHOOD_RATIO
from .comparisons import Comparisons
from .embeddings import Embeddings
from .exclusions import MOST_NAMED, Exclusion
from .scans import KeptComparisons
from .sessions import sessions_of
from .sorted_scores import SortedSide, pair_codes, require_scores
from .vector_pairs import PairsOfVectors


def subset(
    comparisons: Comparisons, mated: AnyIntegers | None, nonmated: AnyIntegers | None
) -> Comparisons:
    """Keep some of the mated, and some of the non-mated, comparisons.

    Parameters
    ----------
    comparisons : Comparisons
        The comparisons.
    mated, nonmated : (n,) ndarray of int, or None
        Positions in `Comparisons.mated` and `Comparisons.nonmated`, ascending; None keeps all.

    Returns
    -------
    Comparisons
        Its subjects are all those of `comparisons`, with or without comparisons, so that they keep
        their numbers.
    """
    chosen = {"mated": mated, "nonmated": nonmated}
    return comparisons._with_parts(
        **{
            name: getattr(comparisons, name).take(positions.astype(np.intp, copy=False))
            for name, positions in chosen.items()
            if positions is not None
        }
    )


_RESCORED = np.dtype(np.float64)  # the type of scores that are computed here


def _rescored(side: SortedSide, scores: AnyFloats) -> SortedSide:
    """Return the comparisons with other scores, which are similarities, sorted by these."""
    keys = score_keys.encode(np.ascontiguousarray(scores, _RESCORED))
    order = np.argsort(keys, kind="stable")
    return side.take(order, keys[order])


def with_ratios(comparisons: Comparisons, mated: AnyArray, nonmated: AnyArray) -> Comparisons:
    """Give comparisons log-likelihood ratios in place of their scores.

    Parameters
    ----------
    comparisons : Comparisons
        The comparisons.
    mated, nonmated : (n,) ndarray of float64
        The finite ratios of the mated, and of the non-mated, comparisons, in the order of
        `Comparisons.mated.keys` and of `Comparisons.nonmated.keys`.

    Returns
    -------
    Comparisons
        With the same subjects, samples and groups.
    """
    return comparisons._with_parts(
        mated=_rescored(comparisons.mated, mated),
        nonmated=_rescored(comparisons.nonmated, nonmated),
        score_kind=LOG_LIKELIHOOD_RATIO,
        score_dtype=_RESCORED,
        failed=None,
    )


def shift_scores(comparisons: Comparisons, thresholds: Floats, *, of_probe: bool) -> Comparisons:
    """Subtract from each score the threshold of a group.

    Parameters
    ----------
    comparisons : Comparisons
        With groups.
    thresholds : (groups,) ndarray
        On the scale of the scores.
    of_probe : bool
        Whether the group is that of the probe; else that of the reference.

    Returns
    -------
    Comparisons
        A score is accepted at the threshold 0 exactly where it was at the group's own. Scores are
        of float64, and no longer logarithms of likelihood ratios.
    """
    given = np.negative(thresholds) if comparisons.score_kind == "distance" else thresholds
    similar = score_keys.given_similarities(given, comparisons.score_dtype)
    parts: dict[str, Any] = {"score_dtype": _RESCORED}
    for name, by_group in (
        ("mated", comparisons.mated_by_group),
        ("nonmated", comparisons.nonmated_by_group),
    ):
        group = by_group.probe_group if of_probe else by_group.reference_group
        parts[name] = _rescored(
            by_group.side, by_group.side.similarities.astype(np.float64) - similar[group]
        )
    if comparisons.failed is not None:
        of_mated, of_nonmated = (
            replace(side, keys=np.full(len(side), score_keys.failed_key(np.zeros(0, np.int64))))
            for side in comparisons.failed.sides
        )
        parts["failed"] = replace(comparisons.failed, mated=of_mated, nonmated=of_nonmated)
    if comparisons.score_kind == LOG_LIKELIHOOD_RATIO:
        parts["score_kind"] = "similarity"
    return comparisons._with_parts(**parts)


# What a mated comparison scores that has a score, or has none; a non-mated one the contrary.
_SCORED = 1.0
_WRONG = 0.0


def failure_trials(comparisons: Comparisons) -> Comparisons:
    """Return all comparisons, each with a score that tells whether it failed.

    Parameters
    ----------
    comparisons : Comparisons
        With what became of failed ones.

    Returns
    -------
    Comparisons
        At a threshold between 0 and 1 their FNMR is the share of the mated comparisons that failed,
        and their FMR the share of the non-mated ones.
    """
    failed = comparisons.failed
    assert failed is not None
    sides = []
    for mated, side, lost in zip(
        (True, False), (comparisons.mated, comparisons.nonmated), failed.sides, strict=True
    ):
        n_failed = score_keys.count_failed(side.keys)  # of those that are among the others
        scored = side.take(np.arange(n_failed, len(side))) if n_failed else side
        parts = [lost, scored] if mated else [scored, lost]
        outcomes = np.repeat(
            np.array([_WRONG, _SCORED], score_keys.float_type(side.keys)), list(map(len, parts))
        )
        sides.append(replace(SortedSide.joined(parts), keys=score_keys.encode(outcomes)))
    return comparisons._with_parts(
        mated=sides[0], nonmated=sides[1], score_kind="similarity", left_out=(), failed=None
    )


_LEAST = 2  # comparisons, which a standard deviation needs
_NO_SPREAD = 1e-12  # of a standard deviation, as a share of that of all scores


@checked
def normalize_scores(
    comparisons: Comparisons,
    cohort: Comparisons,
    method: Literal["z", "t", "s"] = "s",
    *,
    by: Literal["subject", "group"] = "subject",
) -> Comparisons:
    """Normalise scores by the non-mated scores that the reference, the probe or both have in a
    cohort, for `compare`.

    Parameters
    ----------
    comparisons : Comparisons
        With subjects, and for ``by="group"`` with groups.
    cohort : Comparisons
        Other comparisons by the same system, whose non-mated scores are used. By subject, those of
        the subjects of `comparisons` with other people; by group, those of other people of the same
        groups.
    method : {"z", "t", "s"}
        Whether a score is seen among the cohort's scores of its reference (z), of its probe (t), or
        is the mean of both (s).
    by : {"subject", "group"}
        Whether these are the scores of the subject, or all those within the subject's group.

    Returns
    -------
    Comparisons
        The same comparisons with other scores: similarities, in standard deviations of non-mated
        scores.

    Raises
    ------
    InputError
        Without subjects or groups; for a cohort of another kind, or one that has comparisons of the
        same two subjects (by group: of the same subjects); and where a subject or group has fewer
        than two non-mated comparisons in the cohort, or equal scores in all of them.

    Notes
    -----
    With the mean and the standard deviation of the non-mated scores x of a subject or group in the
    cohort, a score s becomes ``(s - mean(x)) / std(x)``. Statistics are per subject and not per
    sample, and take a subject's scores as reference and as probe together.

    The cohort is other data than what is evaluated, as it is when a system runs. With the very
    scores that are evaluated, differences between groups that are due to chance would be
    subtracted, too, and the groups would look more alike than they are. The cohort's statistics
    count as part of the system: `compare` tells what this system does, and not what another cohort
    would have made of it.

    References
    ----------
    R. Auckenthaler, M. Carey and H. Lloyd-Thomas, "Score normalization for text-independent speaker
    verification systems", Digital Signal Processing 10, 2000.

    Examples
    --------
    >>> import fastfair as ff
    >>> scores, mated = [0.9, 0.4, 0.2, 0.8, 0.7, 0.5], [1, 0, 0, 1, 0, 0]
    >>> groups = {"reference_group": list("fffmmm")}
    >>> c = ff.Comparisons(scores, mated, list("aabddd"), list("abcdee"), **groups)
    >>> cohort = ff.Comparisons(scores, mated, list("uuvxxx"), list("uvwxyz"), **groups)
    >>> c.nonmated.similarities, ff.normalize_scores(c, cohort, "z", by="group").nonmated.similarities.round(2)
    (array([0.2, 0.4, 0.5, 0.7]), array([-0.71, -0.71,  0.71,  0.71]))
    """
    for name, data in (("comparisons", comparisons), ("comparisons of the cohort", cohort)):
        require_scores(data.failed, "normalisation", 'pass ⟦failures="exclude"⟧')
        if data.subjects is None:
            raise InputError(
                f"{name} have no subjects, which normalisation needs: give reference and probe"
            )
        if by == "group" and not data.groups:
            raise InputError(
                f'{name} have no groups, which ⟦by="group"⟧ needs: give ⟦reference_group⟧'
            )
    if cohort.score_kind != comparisons.score_kind:
        raise InputError(
            f"cohort has scores of the kind {cohort.score_kind}, comparisons"
            f" {comparisons.score_kind}"
        )
    assert comparisons.subjects is not None
    assert cohort.subjects is not None
    labels, (of_comparisons, others) = encode_together(
        ("subjects",) * 2, (comparisons.subjects, cohort.subjects)
    )
    _require_other_people(
        comparisons, cohort, by, labels, (of_comparisons.astype(np.int64), others.astype(np.int64))
    )
    names = labels.tolist() if by == "subject" else list(comparisons.groups)
    if by == "group":
        of_comparisons = np.arange(len(names))
        others = np.array(
            [names.index(group) if group in names else len(names) for group in cohort.groups]
        )
    first, second = _units(cohort, "nonmated", by, others)
    scores = cohort.nonmated.similarities.astype(np.float64)
    if by == "subject":
        unit = np.append(first, second[first != second])
        scores = np.append(scores, scores[first != second])
    else:
        inside = (first == second) & (first < len(names))
        unit, scores = first[inside], scores[inside]
    n = np.bincount(unit, minlength=len(names))
    with np.errstate(divide="ignore", invalid="ignore"):
        mean = np.bincount(unit, scores, len(names)) / n
        spread = np.sqrt(np.bincount(unit, (scores - mean[unit]) ** 2, len(names)) / (n - 1))
    lacking = (n < _LEAST) | ~(spread > _NO_SPREAD * (scores.std() if scores.size else 0))
    parts: dict[str, Any] = {
        "score_kind": "similarity",
        "score_dtype": _RESCORED,
        "is_normalized": True,
    }
    for name in ("mated", "nonmated"):
        side = getattr(comparisons, name)
        both = _units(comparisons, name, by, of_comparisons)
        used = {"z": both[:1], "t": both[1:], "s": both}[method]
        for unit in used:
            if lacking[unit].any():
                k = int(unit[lacking[unit].argmax()])
                raise InputError(
                    f"{by} {names[k]!r} has {n[k]} non-mated comparisons in the"
                    f" cohort{', of one score' if n[k] > 1 else ''}, of which there is no standard"
                    " deviation: give a cohort with more of them"
                )
        normalised = [
            (side.similarities.astype(np.float64) - mean[unit]) / spread[unit] for unit in used
        ]
        parts[name] = _rescored(side, np.mean(normalised, axis=0))
    return comparisons._with_parts(**parts)


def _units(
    comparisons: Comparisons, name: str, by: str, number: AnyArray
) -> tuple[AnyArray, AnyArray]:
    """Return the numbers of the reference's and of the probe's subject or group, of mated or of
    non-mated ones.
    """
    side = getattr(comparisons, name if by == "subject" else f"{name}_by_group")
    reference, probe = ("reference", "probe") if by == "subject" else _GROUPS
    return number[getattr(side, reference)], number[getattr(side, probe)]


def _require_other_people(
    comparisons: Comparisons,
    cohort: Comparisons,
    by: str,
    labels: AnyArray,
    numbers: tuple[Integers, Integers],
) -> None:
    """Refuse a cohort that has what is evaluated: comparisons of two subjects, or by group any of a
    subject.
    """
    if by == "group":
        both = np.intersect1d(numbers[0], numbers[1])
        if both.size:
            raise InputError(
                f"cohort has {both.size} of the subjects of comparisons, such as"
                f' {labels.item(both[0])!r}: ⟦by="group"⟧ needs one of other people'
            )
        return
    evaluated, others = (
        pair_codes(*_units(of_set, "nonmated", by, of_one), labels.size)
        for of_set, of_one in zip((comparisons, cohort), numbers, strict=True)
    )
    shared = np.intersect1d(evaluated, others)
    if shared.size:
        first, second = (labels.item(k) for k in divmod(int(shared[0]), labels.size))
        raise InputError(
            f"cohort has non-mated comparisons of {shared.size} pairs of subjects that comparisons"
            f" have, such as {first!r} and {second!r}: give one in which these subjects are compared"
            " with other people"
        )


def overlap(comparisons: Comparisons, development: Comparisons) -> str:
    """Say what two sets of comparisons share that should be of different people; empty where
    nothing is known to be.

    Where names tell nothing, as those of people may differ between files, equal scores do.
    """
    sides = (comparisons.mated, development.mated), (comparisons.nonmated, development.nonmated)
    if all(np.array_equal(side.keys, other.keys) for side, other in sides):
        return "both data sets have the very same scores"
    people = comparisons.subjects, development.subjects
    if people[0] is None or people[1] is None:
        return ""
    who, others = ({*map(str, labels.tolist())} for labels in (people[0], people[1]))
    n = len(who & others)
    return f"{n:,} of {len(who):,} subjects are in both data sets" if n else ""


def warn_of_overlap(shared: str, consequence: str) -> None:
    """Warn of what `overlap` says, where it says anything."""
    if shared:
        warn(
            f"{shared}, and {consequence}: take development data of other people",
            SharedSubjectsWarning,
        )


_GROUPS = "reference_group", "probe_group"
_SPOKEN = {"mated": "mated", "nonmated": "non-mated"}


def match(first: Comparisons, second: Comparisons, *, one_by_one: bool) -> Comparisons:
    """Return `second` with its comparisons numbered like their counterparts in `first`.

    Parameters
    ----------
    first, second : Comparisons
        The comparisons of each system, with subjects; or those that two scans of vectors have kept.
    one_by_one : bool
        Whether no two comparisons may have the same labels, as resampling comparisons needs.

    Returns
    -------
    Comparisons
        Those of a scan as they are, as each of its pairs has the rows of its two vectors.

    Raises
    ------
    InputError
        Where the two differ in their comparisons, subjects or groups; the message gives an example.
    """
    _require_subjects({"first": first, "second": second})
    _require_the_same_groups(first, second)
    what = "subjects" if first.samples is None or second.samples is None else "samples"
    labels: AnyArray = getattr(first, what)
    _require_the_same_labels(what, labels, getattr(second, what))
    if first.sessions is not None and second.sessions is not None:
        _require_the_same_labels("sessions", first.sessions, second.sessions)
    elif first.sessions is not None or second.sessions is not None:
        without = "first" if first.sessions is None else "second"
        raise InputError(f"{without} has no sessions: give ⟦session=⟧ of both, or of neither")
    if isinstance(first, KeptComparisons) or isinstance(second, KeptComparisons):
        _require_scans_of_the_same_vectors(first, second)
        return second
    sides = []
    for kind in ("mated", "nonmated"):
        pair = [getattr(comparisons, kind) for comparisons in (first, second)]
        columns = [_columns(comparisons, kind, what) for comparisons in (first, second)]
        if not one_by_one and _are_numbered_alike(pair, columns):
            sides.append(pair[1])
            continue
        # Of comparisons with the same labels, those of the same groups and sessions belong together.
        orders = [np.lexsort(of_side[::-1]) for of_side in columns]
        (codes, *apart), (other_codes, *others_apart) = (
            [column[order] for column in of_side]
            for of_side, order in zip(columns, orders, strict=True)
        )
        if not np.array_equal(codes, other_codes):
            _refuse(kind, [codes, other_codes], labels, (first, second))
        if one_by_one and (codes[1:] == codes[:-1]).any():
            raise InputError(
                f'⟦unit="comparison"⟧ matches comparisons one to one, but some {_SPOKEN[kind]}'
                f" comparisons have the same reference and probe {what}: "
                + ("give reference_sample and probe_sample, or " if what == "subjects" else "")
                + 'use ⟦unit="subject"⟧'
            )
        named = partial(_compared, codes, labels)
        of_columns = [("groups", np.array(first.groups))] * 2 if first.groups else []
        if first.sessions is not None:
            of_columns += [("sessions", first.sessions)] * 2
        for what_differs, both in zip(
            of_columns, zip(apart, others_apart, strict=True), strict=True
        ):
            _require_equal(what_differs[0], "comparisons", both, what_differs[1], named)
        # A comparison has the number it has in `first`, so that both are drawn together.
        rows = np.empty(len(pair[1]), np.int64)
        rows[orders[1]] = pair[0].rows[orders[0]]
        sides.append(replace(pair[1], rows=rows))
    if sides[0] is second.mated and sides[1] is second.nonmated:
        return second
    return second._with_parts(mated=sides[0], nonmated=sides[1])


def shared_comparisons(
    systems: Mapping[str, Comparisons],
) -> dict[str, Comparisons]:
    """Keep the comparisons that all systems have, and count those that are left out.

    Parameters
    ----------
    systems : mapping of str to Comparisons
        The comparisons of each system, with subjects, by its name.

    Returns
    -------
    dict of Comparisons
        By the samples of reference and probe where all have these, else by the subjects. Of
        comparisons with the same ones, the first are kept.

    Raises
    ------
    InputError
        Where there are none.
    """
    given = list(systems.values())
    _require_subjects(systems)
    what = "subjects" if any(data.samples is None for data in given) else "samples"
    labels, numbers = encode_together((what,) * len(given), [getattr(data, what) for data in given])
    keep: list[list[Flags]] = [[] for _ in given]
    lacking: list[list[str]] = [[] for _ in given]
    for kind in ("mated", "nonmated"):
        codes = [
            _joint_codes(getattr(data, kind), what, of_labels, labels.size)
            for data, of_labels in zip(given, numbers, strict=True)
        ]
        ordered = [np.lexsort((codes_of.rows, codes_of.codes)) for codes_of in codes]
        each = [
            _numbered(codes_of.codes[order]) for codes_of, order in zip(codes, ordered, strict=True)
        ]
        shared = reduce(_in_both, each)
        for k, (rows, order) in enumerate(zip(each, ordered, strict=True)):
            inside = np.empty(order.size, np.bool_)
            inside[order] = _are_in(rows, shared)
            keep[k].append(inside)
            some = codes[k].codes[~inside][:MOST_NAMED]
            lacking[k] += [_compared(some, labels, j) for j in range(some.size)]
    if not any(kept.any() for kept in keep[0]):
        raise InputError(f"no comparisons are in all systems, by their {what}")
    return {
        name: _only_shared(data, sides, examples)
        for (name, data), sides, examples in zip(systems.items(), keep, lacking, strict=True)
    }


class _JointCodes(NamedTuple):
    """The reference and probe of each comparison as one number, the same in all systems, and its
    place among the comparisons as they were given.
    """

    codes: Integers
    rows: Integers


def _joint_codes(side: SortedSide, what: str, numbers: AnyArray, size: int) -> _JointCodes:
    end = "_sample" if what == "samples" else ""
    reference, probe = (
        numbers[getattr(side, f"{role}{end}")].astype(np.int64) for role in ("reference", "probe")
    )
    rows = np.arange(len(side)) if side.rows is None else side.rows
    return _JointCodes(reference * size + probe, rows)


def _numbered(codes: Integers) -> Integers:
    """Return (n, 2) sorted codes, and how many equal ones come before each."""
    first = np.searchsorted(codes, codes)
    return np.column_stack((codes, np.arange(codes.size) - first))


def _in_both(first: Integers, second: Integers) -> Integers:
    return first[_are_in(first, second)]


def _are_in(rows: Integers, others: Integers) -> Flags:
    """Return which rows of two numbers are among others; both are sorted, without repetitions."""
    together = np.concatenate([rows, others])
    _, places, counts = np.unique(together, axis=0, return_inverse=True, return_counts=True)
    return np.asarray(counts[places.ravel()][: len(rows)] > 1)


def _only_shared(
    comparisons: Comparisons, keep: Sequence[Flags], examples: Sequence[str]
) -> Comparisons:
    """Keep some comparisons, and what is known of those that failed; count what is left out."""
    sides = [
        side.take(np.flatnonzero(kept))
        for side, kept in zip((comparisons.mated, comparisons.nonmated), keep, strict=True)
    ]
    failed = comparisons.failed
    if failed is not None:  # those that are left out are in no system's comparisons
        sides += [
            side.take(np.arange(score_keys.count_failed(side.keys)))
            if failed.policy == "non-match"
            else lost.take(np.arange(0))
            for side, lost in zip(sides, failed.sides, strict=False)
        ]
    n_mated, n_nonmated = (int(np.count_nonzero(~kept)) for kept in keep)
    parts = {}
    if n_mated + n_nonmated:
        record = Exclusion(
            n_mated + n_nonmated,
            sum(kept.size for kept in keep),
            "comparisons",
            "not in all systems",
            "as other systems lack them",
            "common=True",
            n_mated,
            n_nonmated,
            tuple(examples[:MOST_NAMED]),
        )
        parts["left_out"] = (*comparisons.left_out, record)
    return comparisons._of_sides(sides, **parts)


def _require_subjects(systems: Mapping[str, Comparisons]) -> None:
    for name, comparisons in systems.items():
        if comparisons.subjects is None:
            raise InputError(
                f"{name} has no subjects: comparisons are matched by reference and probe"
            )


def require_the_same_vectors(first: Embeddings, second: Embeddings) -> None:
    """Refuse vectors unless they are of the same subjects, in the same groups and roles, row by
    row.

    Parameters
    ----------
    first, second : Embeddings
        Vectors of two systems.
    """
    _require_the_same_groups(first, second)
    _require_the_same_labels("subjects", first.subjects, second.subjects)
    _require_the_same_rows(
        [vectors.pairs[1] for vectors in (first, second)],
        first.subjects,
        first.groups,
        (first.subject_group, second.subject_group),
    )


_WOULD_DO = (
    ". To compare what both have, pass ⟦common=True⟧; for data of other people or times, such as"
    " those of two months, ⟦paired=False⟧"
)


def _require_the_same_groups(
    first: Comparisons | Embeddings, second: Comparisons | Embeddings
) -> None:
    if (first.grouping, first.groups) != (second.grouping, second.groups):
        raise InputError(
            f"the groups differ: first has {_list(first.groups)} and second {_list(second.groups)};"
            " give both the same groups, or pass ⟦paired=False⟧ for data of other people or times"
        )


def _require_the_same_labels(what: str, labels: AnyArray, others: AnyArray) -> None:
    if not np.array_equal(labels, others):
        first_labels, other = set(labels.tolist()), set(others.tolist())
        raise InputError(
            f"the {what} differ: {_some(first_labels - other)} only in first, "
            f"{_some(other - first_labels)} only in second{_WOULD_DO}"
        )


def _require_scans_of_the_same_vectors(first: Comparisons, second: Comparisons) -> None:
    """Refuse scans of anything else than the same vectors' pairs."""
    sides = []
    for name, scan, other in (("first", first, "second"), ("second", second, "first")):
        if not isinstance(scan, KeptComparisons):
            raise InputError(
                f"{other} is a scan, and {name} is not: give two scans, or two that are in memory"
            )
        scan._require("lists of pairs")
        sides.append(scan.pairs[1])
    groups = first.group_of_subject, second.group_of_subject
    _require_the_same_rows(sides, np.asarray(first.subjects), first.groups, groups)


def _require_the_same_rows(
    sides: Sequence[PairsOfVectors],
    subjects: AnyArray,
    groups: Sequence[str],
    group_of_subject: tuple[AnyArray | None, AnyArray | None],
) -> None:
    """Refuse two sets of vectors whose rows differ in subject, role or group; subjects and groups
    are the same.
    """
    rows = [pairs.subject for pairs in sides]
    if rows[0].size != rows[1].size:
        sizes = f"{rows[0].size:,} vectors in first and {rows[1].size:,} in second"
        raise InputError(f"there are {sizes}; rows of both must be of the same samples")
    _require_equal("subjects", "vectors", rows, subjects, "in row {}".format)
    if not np.array_equal(sides[0].is_probe, sides[1].is_probe):  # type: ignore[arg-type]
        raise InputError(
            "the roles of the vectors differ: the same rows must be references and probes in both"
        )
    if groups:
        _require_equal(
            "groups",
            "subjects",
            group_of_subject,
            np.array(groups),
            lambda k: repr(subjects.item(k)),
        )


def _require_equal(
    what: str, of: str, codes: Sequence[Any], labels: AnyArray, name: Callable[[int], str]
) -> None:
    """Refuse two columns of codes of labels that differ; name: how messages call an entry."""
    apart = np.flatnonzero(codes[0] != codes[1])
    if apart.size:
        here, other = (labels.item(of_set[apart[0]]) for of_set in codes)
        raise InputError(
            f"the {what} of {apart.size:,} {of} differ, such as {name(apart[0])}: {here!r} in first"
            f" and {other!r} in second; both must be of the same samples"
        )


def _columns(comparisons: Comparisons, kind: str, what: str) -> list[AnyArray]:
    """Return a number for the two labels of each comparison, and the groups and the sessions of its
    reference and probe, if any.
    """
    side = getattr(comparisons, kind)
    end = "_sample" if what == "samples" else ""
    reference, probe = (
        getattr(side, f"{role}{end}").astype(np.int64) for role in ("reference", "probe")
    )
    codes = reference * getattr(comparisons, what).size + probe
    columns = [codes]
    if comparisons.groups:
        by_group = getattr(comparisons, f"{kind}_by_group")
        columns += [by_group.reference_group, by_group.probe_group]
    return [*columns, *(sessions_of(side) or ())]


def _are_numbered_alike(pair: list[SortedSide], columns: list[list[AnyArray]]) -> bool:
    """Tell whether comparisons of one number have the same labels and groups, as where lists have
    one order.
    """
    rows: list[Any] = [side.rows for side in pair]
    if rows[0].size != rows[1].size:
        return False
    n = 1 + max(int(of_side.max(initial=0)) for of_side in rows)
    for number, other in zip(*columns, strict=True):
        of_number = np.full(n, -1, np.int64)
        of_number[rows[0]] = number
        if not np.array_equal(of_number[rows[1]], other):
            return False
    return True


def _compared(codes: Sequence[Any] | AnyArray, labels: AnyArray, k: int) -> str:
    reference, probe = divmod(int(codes[k]), labels.size)
    return f"{labels.item(reference)!r} with {labels.item(probe)!r}"


def _refuse(
    kind: str,
    ordered: list[Integers],
    labels: AnyArray,
    systems: tuple[Comparisons, Comparisons],
) -> None:
    failed = [system.failed for system in systems]
    would_do = (
        '. Comparisons that failed were left out: read both systems with ⟦failures="non-match"⟧, or'
        " leave those that failed in either out of both"
        if any(lost is not None and lost.policy == "exclude" and lost.n for lost in failed)
        else ""
    )
    first, second = ordered
    size = min(len(first), len(second))
    # Where one is the beginning of the other, they differ behind its end.
    apart = int(np.argmax(np.append(first[:size] != second[:size], True)))
    ends = [codes[apart] if apart < len(codes) else np.iinfo(np.int64).max for codes in ordered]
    name = ("first", "second")[int(ends[1] < ends[0])]
    raise InputError(
        f"the {_SPOKEN[kind]} comparisons differ: first has {len(first):,} and second {len(second):,},"
        f" and {name} has one that the other lacks or has less often,"
        f" {_compared(sorted(ends), labels, 0)}{would_do or _WOULD_DO}"
    )


def _some(labels: set[Any]) -> str:
    shown = sorted(map(repr, labels))[:3]
    return f"{len(labels)} ({', '.join(shown)})" if labels else "none"


def _list(groups: tuple[str, ...]) -> str:
    return ", ".join(map(repr, groups)) if groups else "none"
