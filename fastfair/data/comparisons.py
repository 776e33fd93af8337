"""`Comparisons`: scores with subjects, samples and groups, checked and sorted once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from fastfair._lib import validation
from fastfair._lib.arguments import AnyNumber, Array, checked
from fastfair._lib.arrays import AnyArray, Codes, Groups
from fastfair._lib.label_codes import Labels, look_up
from fastfair._lib.text import counted
from fastfair._lib.warnings import warn
from fastfair.errors import InputError, ManyGroupsWarning, NarrowIntervalsWarning

from . import checks, group_labels, score_keys, side_columns
from .checks import ScoreKind
from .columns import (
    USUAL,
    Policies,
    checked_columns,
    columns_of_matrix,
    labels_of_subjects,
    subject_of_each,
    without_diagonal,
)
from .exclusions import Exclusion, gathering
from .group_labels import GroupLabels
from .label_bands import are_numbers
from .score_keys import typed_threshold
from .sessions import Sessions, named_columns, session_columns
from .sorted_scores import (
    BOTH_COLUMNS,
    RATES_OF_CLASSES,
    CheckedColumns,
    ClassKeys,
    FailedComparisons,
    GroupedSide,
    SortedSide,
    only_used,
    part_sides,
    read_only,
    sort_sides,
)
from .vector_pairs import Pairing

if TYPE_CHECKING:
    from narwhals.typing import IntoDataFrame


class Comparisons:
    """Comparison scores, with the subjects and samples compared and their groups; checked and
    sorted once.

    Parameters
    ----------
    scores : (n,) array_like of float
        The score of each comparison, in any order. float32 stays float32, and thresholds are
        rounded to the type of the scores.
    mated : (n,) array_like, or None
        Whether each comparison is mated, its two samples being of the same subject: True/False,
        1/0, 1/-1 or one of the usual pairs of words. With None, comparisons of a subject with
        itself are mated; `reference` and `probe` are then needed. Where it says that all are mated,
        or none is, there is one of the two error rates, and what needs the other one says so.
    reference, probe : (n,) array_like, optional
        Subject ids of the references and of the probes. These and all other labels may be of any
        type: white space around text is ignored, bytes are read as UTF-8 text, and 1 and 1.0 are
        the same label. Refused are missing labels (None, NaN, blank text and "nan", "NaN", "<NA>",
        "NaT") and mixtures of text, numbers and truth values.
    reference_group, probe_group : (n,) array_like or dict of str to (n,) array_like, optional
        Group labels of the references and of the probes. A dict holds several attributes; the
        groups are then their intersections, labelled as in "f & USA". With `reference_group` alone,
        its labels are those of the probes, too.
    score_kind : {"similarity", "distance", "log-likelihood-ratio", "log10-likelihood-ratio"}
        Whether a comparison is accepted when its score is >= the threshold, or (distance) <= the
        threshold. Scores that are declared to be natural logarithms of likelihood ratios are
        similarities of which Cllr says something. Logarithms to base 10 are made natural ones, and
        so are thresholds, then.
    reference_sample, probe_sample : (n,) array_like, optional
        Ids of the samples (files, images, recordings) compared; they need `reference` and `probe`.
    session : (n,) array_like or pair of (n,) array_like, optional
        What the attempts of several people share: the day, device, site or operator of each
        comparison, or of its reference and of its probe. Errors of one day depend on each other,
        and intervals say so; they need `reference` and `probe`.
    mated_value : str or float, optional
        Which of the two values of `mated` means mated, where they are no common words for it.
    policies : Policies
        What to do with comparisons that failed, contradict their labels, or compare a sample with
        itself.

    Attributes
    ----------
    mated, nonmated : SortedSide
        The mated and the non-mated comparisons, sorted by score.
    subjects : (k,) ndarray or None
        The distinct subject ids, sorted.
    samples : (s,) ndarray or None
        The distinct sample ids, sorted.
    sample_subject : (s,) ndarray of int32, or None
        The subject of each sample, as a position in `subjects`.
    sessions : (d,) ndarray or None
        The distinct sessions, sorted.
    attributes : dict of str to tuple of str
        The labels of each attribute, sorted.
    groups : tuple of str
        The groups in use, sorted; empty where no labels were given.
    grouping : tuple of str
        The attributes that the groups are made of.
    score_kind : str
        "similarity", "distance" or "log-likelihood-ratio", as given.
    score_dtype : dtype
        The type in which scores were given, float16, float32 or float64: thresholds are rounded to
        it.
    left_out : tuple of Exclusion
        What was left out of the data, how much and why: each has what its warning said as text.
    failed : FailedComparisons or None
        The comparisons that failed; None where failures are refused. Those counted as non-matches
        are also in `mated` and `nonmated`, below all scores.
    quality : (n,) ndarray, tuple of two (n,) ndarray, or None
        The quality of each comparison, or of its reference and of its probe, in the caller's order,
        as `read_comparisons` read it.
    origin : dict of str to (n,) ndarray
        Where each comparison comes from, in the caller's order: its "line" in a file, and the
        columns that `read_comparisons` was told to keep. Empty for arrays.

    Raises
    ------
    InputError
        For scores that are infinite or beyond 1e150, or NaN where failures are refused; where
        `mated` has other than two values or contradicts the subject ids; for lengths that differ
        and missing labels; for a sample of two subjects; and where no mated, or no non-mated,
        comparison has a score, unless `mated` says so. Messages count rows from 0.

    Warns
    -----
    DroppedWarning
        Under ``Policies(label_conflicts="drop")`` and ``Policies(failures="exclude")``.
    LookAlikeWarning
        Names two spellings of what may be one subject or group.
    ContradictingLabelsWarning
        Names a subject with two labels of an attribute of which most subjects have one.
    NarrowIntervalsWarning
        Where mated comparisons are kept most of which are of two subjects, so that these are no
        people.

    Examples
    --------
    >>> import fastfair as ff
    >>> c = ff.Comparisons([0.9, 0.8, 0.3, 0.4, 0.1, 0.2], mated=[1, 1, 1, 0, 0, 0])
    >>> c
    Comparisons(3 mated, 3 non-mated, similarity)
    >>> ff.eer(c).value
    0.3333333333333333
    """

    mated: SortedSide
    nonmated: SortedSide
    subjects: AnyArray | None
    samples: AnyArray | None = None
    sample_subject: Codes | None = None
    sessions: AnyArray | None = None
    attributes: Mapping[str, tuple[str, ...]]
    groups: tuple[str, ...]
    grouping: tuple[str, ...]
    score_kind: str
    score_dtype: np.dtype[Any]
    left_out: tuple[Exclusion, ...] = ()
    failed: FailedComparisons | None = None
    quality: AnyArray | tuple[AnyArray, AnyArray] | None = None
    origin: Mapping[str, AnyArray] = MappingProxyType({})
    is_normalized = False  # whether scores are relative to those of a cohort
    # whether people are not known, and comparisons are taken for independent: limits are exact
    is_independent = False
    # whether sessions tell transactions apart alone, and not how errors depend on each other
    ignores_sessions = False
    pairing: Pairing | None = (
        None  # of the samples, where these are vectors all of whose pairs are compared
    )
    lacks: Mapping[str, str] = MappingProxyType({})  # what this kind of data cannot do, and why
    attacks: Any = None  # `Attacks`, the presentation attacks that belong to them; or None
    transactions: Any = None  # `Transactions`, of which these comparisons are made; or None
    # whether whoever asks scans again where too few are kept, so that no limit need be wider
    may_keep_more = False
    _parts: tuple[str, ...] = (
        "mated",
        "nonmated",
        "score_kind",
        "score_dtype",
        "subjects",
        "samples",
        "sample_subject",
        "sessions",
        "attributes",
        "grouping",
        "left_out",
        "failed",
        "quality",
        "origin",
        "is_normalized",
        "is_independent",
        "ignores_sessions",
        "pairing",
        "attacks",
        "transactions",
        "lacks",
    )

    @checked
    def __init__(
        self,
        scores: Array,
        mated: Labels | None,
        reference: Labels | None = None,
        probe: Labels | None = None,
        reference_group: GroupLabels | None = None,
        probe_group: GroupLabels | None = None,
        score_kind: ScoreKind = "similarity",
        *,
        reference_sample: Labels | None = None,
        probe_sample: Labels | None = None,
        session: Sessions | None = None,
        mated_value: str | float | None = None,
        policies: Policies = USUAL,
    ) -> None:
        flags = None if mated is None else checks.mated_flags(mated, mated_value)
        sides = {
            "reference": reference,
            "probe": probe,
            "reference_group": reference_group,
            "probe_group": probe_group,
            "reference_sample": reference_sample,
            "probe_sample": probe_sample,
            **session_columns(session),
        }
        self._sort(checked_columns(scores, flags, sides, score_kind, policies), policies.failures)

    @classmethod
    def _of_columns(cls, columns: CheckedColumns, failures: str) -> Comparisons:
        """Sort checked columns; failures: what to do with comparisons that failed, as in
        `Policies`.
        """
        made = object.__new__(cls)
        made._sort(columns, failures)
        return made

    def _sort(self, columns: CheckedColumns, failures: str) -> None:
        if not columns.is_of_one_class:
            columns.require_both_classes()
        self.lacks = columns.missing_rate()
        self.score_kind, self.left_out = columns.score_kind, columns.left_out
        self.score_dtype = columns.values.dtype
        subjects = columns.subjects
        samples = columns.samples
        attributes = columns.attributes
        for name in BOTH_COLUMNS:
            both = getattr(columns, name)
            setattr(self, name, None if both is None else read_only(both[0]))
        self.sample_subject = None if samples is None else subject_of_each(samples, subjects)
        if self.sessions is not None and subjects is None:
            raise InputError(
                "⟦session=⟧ needs the people who share a session: give reference and probe as well"
            )
        self.attributes = {
            name: group_labels.attribute(name, sides[0]) for name, sides in attributes.items()
        }
        of_subject = labels_of_subjects(subjects, attributes)
        others = {name: sides for name, sides in attributes.items() if name not in of_subject}
        sides = sort_sides(replace(columns, attributes=others), of_subject)
        if columns.failed is not None:
            with gathering() as without_scores:
                sides, self.failed = part_sides(sides, failures)
            self.left_out += tuple(without_scores)
        self.mated, self.nonmated = sides
        self._choose_first_groups()

    @classmethod
    @checked
    def from_frame(
        cls,
        frame: IntoDataFrame,
        *,
        score: str = "score",
        mated: str | None = "mated",
        reference: str | None = None,
        probe: str | None = None,
        reference_group: str | Sequence[str] | None = None,
        probe_group: str | Sequence[str] | None = None,
        reference_sample: str | None = None,
        probe_sample: str | None = None,
        session: str | Sequence[str] | None = None,
        score_kind: ScoreKind = "similarity",
        mated_value: str | float | None = None,
        policies: Policies = USUAL,
    ) -> Comparisons:
        """Make comparisons from the columns of a data frame: pandas, polars, pyarrow or any other
        that narwhals knows.

        `read_comparisons` takes data frames too, and can also find subject ids in paths and join a
        table of metadata.

        Parameters
        ----------
        frame : data frame
            One row for each comparison.
        score, mated, reference, probe : str, optional
            Column names. With `mated=None`, comparisons of a subject with itself are mated.
        reference_group, probe_group : str or sequence of str, optional
            Columns with group labels; several make intersections. An attribute has the name that
            its two columns share, such as "race" for "race_1" and "race_2", or else that of the
            reference's column. With `reference_group` alone its columns serve for the probes, too;
            this is refused where the frame has a column for the probes.
        reference_sample, probe_sample : str, optional
            Columns with the ids of the samples.
        session : str or sequence of str, optional
            The column of the day, device or site that people share, or two: those of the reference
            and of the probe.
        score_kind, mated_value, policies
            As in `Comparisons`. The score of a failed comparison may be missing, too.

        Returns
        -------
        Comparisons

        Raises
        ------
        InputError
            For a column that is not there (the nearest names are offered) and as `Comparisons`
            does.

        Warns
        -----
        NarrowIntervalsWarning
            Where columns "reference" and "probe" are not used.

        Examples
        --------
        >>> import fastfair as ff
        >>> import polars as pl
        >>> frame = pl.DataFrame({"s": [0.9, 0.2], "same": [True, False], "sex": ["f", "f"]})
        >>> ff.Comparisons.from_frame(frame, score="s", mated="same", reference_group="sex").groups
        ('f',)
        """
        from fastfair._lib.frames import FrameColumns

        columns = FrameColumns(frame)
        if reference is None and probe is None and {"reference", "probe"} <= set(columns.names):
            warn(
                "the frame's columns 'reference' and 'probe' are not used, so that intervals take"
                ' all comparisons for independent: pass ⟦reference="reference"⟧ and'
                ' ⟦probe="probe"⟧, or a frame without them',
                NarrowIntervalsWarning,
            )
        references, probes = (
            side_columns.names_of_groups(names) for names in (reference_group, probe_group)
        )
        if probe_group is not None and len(references) != len(probes):
            raise InputError(
                f"⟦reference_group⟧ has {len(references)} columns and ⟦probe_group⟧ {len(probes)}:"
                " give one of each for every attribute"
            )
        pairs = list(zip(references, probes, strict=True)) if probes else references
        attributes = side_columns.find_columns("frame", pairs, columns.names).values()
        is_complete = policies.missing_labels == "error"
        labels = {
            name: (
                columns.labels(name, group_labels.COMPLETE)
                if is_complete
                else columns.entries(name)
            )
            for name in dict.fromkeys(name for pair in attributes for name in pair)
        }
        groups = [
            {side_columns.shared_name(*pair): labels[pair[k]] for pair in attributes} or None
            for k in (0, 1)
        ]
        named = {
            "reference": reference,
            "probe": probe,
            "reference_sample": reference_sample,
            "probe_sample": probe_sample,
        }
        sessions = None
        if session is not None:
            of_sessions = named_columns(session)
            sessions = (
                columns.labels(of_sessions[0])
                if len(set(of_sessions)) == 1
                else columns.labels_of_both(*of_sessions)
            )
        return cls(
            columns.numbers(score),
            None if mated is None else columns.values(mated),
            reference_group=groups[0],
            probe_group=groups[1],
            session=sessions,
            score_kind=score_kind,
            mated_value=mated_value,
            policies=policies,
            **{role: columns.labels(name) for role, name in named.items() if name is not None},
        )

    @classmethod
    @checked
    def from_matrix(
        cls,
        scores: Array,
        reference: Labels | None = None,
        probe: Labels | None = None,
        reference_group: Labels | None = None,
        probe_group: Labels | None = None,
        score_kind: ScoreKind = "similarity",
        policies: Policies = USUAL,
    ) -> Comparisons:
        """Make comparisons from a full score matrix, with a row for each reference and a column for
        each probe.

        Parameters
        ----------
        scores : (r, p) array_like
            The score of each reference with each probe; the matrix need not be symmetric.
        reference, probe : (r,) and (p,) array_like, optional
            Subject ids of rows and columns. By default the matrix is square, and row i and column i
            are the same subject.
        reference_group, probe_group : (r,) and (p,) array_like, optional
            Group labels of rows and columns.
        score_kind, policies
            As in `Comparisons`.

        Returns
        -------
        Comparisons
            Comparisons of a subject with itself are mated, all others non-mated.

        Examples
        --------
        >>> import fastfair as ff
        >>> ff.Comparisons.from_matrix([[9, 1, 2], [0, 8, 3], [2, 1, 7]])
        Comparisons(3 mated, 6 non-mated, similarity, 3 subjects)
        """
        labels = reference, probe, reference_group, probe_group
        with gathering() as left_out:
            values, sides, keep = columns_of_matrix(scores, *labels, policies.missing_labels)
            keep &= without_diagonal(values, sides, score_kind, policies.self_comparisons)
        if not keep.all():
            values = values[keep]
            sides = {name: side.take(keep) for name, side in sides.items()}
        made = cls(values, None, score_kind=score_kind, policies=policies, **sides)
        made.left_out = (*left_out, *made.left_out)
        return made

    @checked
    def by(self, *attributes: str) -> Comparisons:
        """Make groups from other attributes; scores and labels are shared, not copied.

        Parameters
        ----------
        *attributes : str
            Names in `attributes`; several make intersections, labelled in the order given.

        Returns
        -------
        Comparisons

        Examples
        --------
        >>> import fastfair as ff
        >>> labels = {"sex": ["f", "m"], "eyes": ["blue", "brown"]}
        >>> c = ff.Comparisons([0.9, 0.2], [1, 0], reference_group=labels)
        >>> c.groups, c.by("eyes").groups
        (('f & blue', 'm & brown'), ('blue', 'brown'))
        """
        return self._with_parts(grouping=group_labels.check_attributes(attributes, self.attributes))

    @checked
    def within_group(self, group: str) -> Comparisons:
        """Keep the comparisons whose reference and probe are both in a group, for the group's own
        curve or EER.

        Parameters
        ----------
        group : str
            One of `groups`.

        Returns
        -------
        Comparisons
            Without groups.

        Raises
        ------
        InputError
            For an unknown group, and for one without mated, or without non-mated, comparisons of
            its own.

        Examples
        --------
        >>> import fastfair as ff
        >>> c = ff.Comparisons([0.9, 0.3, 0.4, 0.1], [1, 1, 0, 0], reference_group=list("abab"))
        >>> ff.eer(c.within_group("a")).value
        0.0
        """
        validation.choice("group", group, self.groups)
        code = self.groups.index(group)
        sides = []
        for by_group in (self.mated_by_group, self.nonmated_by_group, *self.failed_by_group):
            sides.append(by_group.side.take(np.flatnonzero(by_group.inside(code))))
        if not all(map(len, sides[:2])):
            raise InputError(
                f"group {group!r} has {len(sides[0])} mated and {len(sides[1])} non-mated"
                " comparisons; it needs both"
            )
        return self._of_sides(sides, grouping=())

    def _of_sides(self, sides: list[SortedSide], **parts: Any) -> Comparisons:
        """Return some of the comparisons, mated and non-mated, and perhaps of those that failed,
        with the subjects and samples that they have.
        """
        for called, columns in BOTH_COLUMNS.items():
            labels = getattr(self, called)
            if labels is None:
                continue
            used, position, sides = only_used(labels.size, columns, sides)
            parts[called] = read_only(labels[used])
            if called == "subjects":
                new_subject = position
                of_subject = self.mated.of_subject
                kept = {name: of_labels[used] for name, of_labels in of_subject.items()}
                sides = [replace(side, of_subject=kept) for side in sides]
            elif called == "samples" and self.sample_subject is not None:
                parts["sample_subject"] = read_only(new_subject[self.sample_subject[used]])
        if self.failed is not None:
            parts["failed"] = replace(self.failed, mated=sides[2], nonmated=sides[3])
        return self._with_parts(mated=sides[0], nonmated=sides[1], **parts)

    def without_failure_rates(self) -> Comparisons:
        """Return the same comparisons, of which evaluations do not report how often they failed."""
        if self.failed is None:
            return self
        return self._with_parts(failed=replace(self.failed, reported=False))

    def _with_parts(self, **parts: Any) -> Self:
        """Return the same comparisons with other parts: sides, labels, or the attributes that make
        groups.
        """
        return self._of_parts(**{name: getattr(self, name) for name in self._parts} | parts)

    @classmethod
    def _of_parts(cls, **parts: Any) -> Self:
        """Make comparisons of parts that are already checked and sorted."""
        made = object.__new__(cls)
        for name, part in parts.items():
            setattr(made, name, part)
        made._choose_groups(made.grouping)
        return made

    def _choose_first_groups(self) -> None:
        """Set the groups of all attributes, without numbers where these would make too many."""
        try:
            self._choose_groups(tuple(self.attributes))
        except group_labels.TooManyGroupsError as error:
            numbers = [name for name, labels in self.attributes.items() if are_numbers(labels)]
            others = tuple(name for name in self.attributes if name not in numbers)
            if not numbers or not others:
                raise
            named = [" and ".join(map(repr, names)) for names in (others, numbers)]
            warn(
                f"{error.marked}: groups are made of {named[0]}, without the numbers of {named[1]},"
                " which error_model takes, and label_bands puts into bands",
                ManyGroupsWarning,
            )
            self._choose_groups(others)

    def _choose_groups(self, attributes: tuple[str, ...]) -> None:
        """Set the groups of references and probes from some attributes; only combinations that
        occur become groups.
        """
        of_subject = self.mated.of_subject
        # Where each subject has one group, the groups of comparisons are read from it once they are
        # needed.
        self._of_subject = all(name in of_subject for name in attributes)
        parts = [of_subject]
        if not self._of_subject:
            sides = self.mated, self.nonmated, *(() if self.failed is None else self.failed.sides)
            labels = [{name: side.attribute(name) for name in attributes} for side in sides]
            parts = [
                {name: of_both[k] for name, of_both in of_side.items()}
                for of_side in labels
                for k in (0, 1)
            ]
        self.groups, self._group_codes = group_labels.intersections(
            attributes, self.attributes, parts
        )
        self.grouping = attributes

    @property
    def group_of_subject(self) -> Groups | None:
        """(k,) the group of each subject; None where there are no groups, or some subject has
        several.
        """
        return self._group_codes[0] if self.groups and self._of_subject else None

    @cached_property
    def pairs(self) -> tuple[Any, Any]:
        """All mated, and all non-mated, comparisons: as they are sorted, or as a scan counts
        them.
        """
        return self.mated, self.nonmated

    def _require(self, *needs: str) -> None:
        """Raise an error for the first need that these comparisons lack, with the reason."""
        for need in needs:
            if need in self.lacks:
                raise InputError(self.lacks[need])

    @property
    def rates(self) -> frozenset[str]:
        """The error rates that they have: one where all are mated, or none is."""
        return frozenset(RATES_OF_CLASSES) - frozenset(self.lacks)

    @property
    def lacks_rate(self) -> bool:
        """Whether all comparisons are mated, or none is."""
        return len(self.rates) < len(RATES_OF_CLASSES)

    def _require_rates(
        self, what: str, rates: Sequence[str] = RATES_OF_CLASSES, instead: str = "give some"
    ) -> None:
        """Raise an error where all comparisons are of a class without these rates, which `what`
        needs; instead: what would do.
        """
        for rate in rates:
            if rate in self.lacks:
                raise InputError(
                    f"{what} needs an {rate.upper()}, but {self.lacks[rate]}: {instead}"
                )

    @cached_property
    def mated_by_group(self) -> GroupedSide:
        """The mated comparisons with their groups."""
        return self._by_group(self.mated, 0)

    @cached_property
    def nonmated_by_group(self) -> GroupedSide:
        """The non-mated comparisons with their groups."""
        return self._by_group(self.nonmated, 2)

    @cached_property
    def failed_by_group(self) -> tuple[GroupedSide, ...]:
        """The mated and the non-mated comparisons that failed, with their groups; empty where
        failures are refused.
        """
        if self.failed is None:
            return ()
        return self._by_group(self.failed.mated, 4), self._by_group(self.failed.nonmated, 6)

    def _grouped(self, mated: bool) -> GroupedSide:
        """Return the mated, or the non-mated, comparisons with their groups."""
        return self.mated_by_group if mated else self.nonmated_by_group

    def require_groups(self) -> None:
        """Raise an error where there are no groups."""
        if not self.groups:
            raise InputError(
                "these comparisons have no groups: give ⟦reference_group⟧ (and ⟦probe_group⟧)"
            )

    def _by_group(self, side: SortedSide, first: int) -> GroupedSide:
        self.require_groups()
        n_subjects = 0 if self.subjects is None else self.subjects.size
        codes = self._group_codes[first : first + 2]
        if self._of_subject:
            codes = [look_up(subject, self._group_codes[0]) for subject in side.compared()]
        return GroupedSide(side, codes[0], codes[1], len(self.groups), n_subjects)

    @cached_property
    def subject_counts(self) -> tuple[int | None, int | None]:
        """Numbers of distinct subjects in mated and in non-mated comparisons; None where subjects
        are not known.
        """
        n_subjects = 0 if self.subjects is None else self.subjects.size
        return self.mated.count_subjects(n_subjects), self.nonmated.count_subjects(n_subjects)

    @checked
    def to_threshold(self, key: score_keys.Key) -> float:
        """Return a threshold, on the scale of the scores, that accepts the scores from a key on and
        can be typed.

        It is the lowest accepted score if that is a whole number or has few digits, else the
        shortest decimal between the highest rejected and the lowest accepted score.
        """

        def similarity(key: int | None) -> float | None:
            return (
                None
                if key is None
                else float(score_keys.decode(np.array([key], self.mated.keys.dtype))[0])
            )

        rejected, accepted = map(similarity, self._beside(int(key)))
        return self.to_scale(typed_threshold(rejected, accepted, self.score_dtype.type))

    def _beside(self, key: int) -> tuple[int | None, int | None]:
        """Return the keys of the highest score below a key and of the lowest from it on, as far as
        they are kept.
        """
        below, above = [], []
        for side, lowest_are_kept in ((self.mated, True), (self.nonmated, False)):
            n = score_keys.count_below(side.keys, key)
            failed = int(score_keys.failed_key(side.keys))
            below += [
                int(neighbour) for neighbour in side.keys[n - 1 : n].tolist() if neighbour != failed
            ]
            above += side.keys[n : n + 1].tolist()
            if side.not_kept is not None and lowest_are_kept and n == side.keys.size:
                above.append(max(side.not_kept.limit, key))
            elif side.not_kept is not None and not lowest_are_kept and n == 0:
                below.append(min(side.not_kept.limit, key) - 1)
        return max(below, default=None), min(above, default=None)

    @checked
    def to_scale(self, similarity: AnyNumber) -> float:
        """Turn a similarity into a score of `score_kind`."""
        return 0.0 - similarity if self.score_kind == "distance" else similarity  # not -0.0

    @checked
    def to_key(self, threshold: AnyNumber) -> np.signedinteger[Any]:
        """Turn a threshold on the scale of the scores into the lowest key that it accepts, rounded
        to their type.
        """
        similarity = -threshold if self.score_kind == "distance" else threshold
        given = score_keys.given_similarities(np.array([similarity], np.float64), self.score_dtype)
        return score_keys.first_keys_at_least(given, self.mated.keys)[0]

    def __repr__(self) -> str:
        parts = [f"{len(self.mated)} mated", f"{len(self.nonmated)} non-mated", self.score_kind]
        if self.subjects is not None:
            parts.append(f"{self.subjects.size} subjects")
        if self.sessions is not None:
            parts.append(counted(self.sessions.size, "session"))
        if self.groups:
            parts.append(counted(len(self.groups), "group"))
        if self.transactions is not None:
            parts.append("transactions")
        if self.attacks is not None:
            parts.append(str(self.attacks))
        if self.failed is not None:
            parts.append(str(self.failed))
        return f"Comparisons({', '.join(parts)})"


def keys_of(comparisons: Comparisons, group: int | None = None) -> ClassKeys:
    """Return the sorted keys of all comparisons, or of those within a group.

    Parameters
    ----------
    comparisons : Comparisons
        The comparisons.
    group : int, optional
        Position in `Comparisons.groups`.

    Returns
    -------
    ClassKeys
    """
    sides = comparisons.mated, comparisons.nonmated
    limits = None
    if any(side.not_kept is not None for side in sides):
        ends = np.iinfo(np.int64)
        high, low = (
            end if side.not_kept is None else side.not_kept.limit
            for side, end in zip(sides, (int(ends.max), int(ends.min)), strict=True)
        )
        limits = low, high
    if group is None:
        return ClassKeys(sides[0].keys, sides[1].keys, (len(sides[0]), len(sides[1])), limits)
    mated, nonmated = comparisons.mated_by_group, comparisons.nonmated_by_group
    sizes = int(mated.cells[group, group]), int(nonmated.cells[group, group])
    return ClassKeys(mated.within[group], nonmated.within[group], sizes, limits)
