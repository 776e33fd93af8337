"""`FailureCounts`: the number of attempts, and of failed attempts, of each subject, from which FNMRs are tested."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fastfair import intervals
from fastfair._lib import argument_kinds, arrays, validation
from fastfair._lib.arguments import checked
from fastfair._lib.notebook import Shown
from fastfair._lib.text import rate_with_interval
from fastfair._lib.workers import Workers
from fastfair.data import group_labels
from fastfair.data.comparisons import Comparisons
from fastfair.data.embeddings import Embeddings
from fastfair.data.scanned_comparisons import ScannedComparisons
from fastfair.data.sorted_scores import read_only
from fastfair.error_rates.enough_pairs import with_enough_pairs
from fastfair.error_rates.operating_points import OperatingPoint
from fastfair.errors import InputError, visible

from .subject_kinds import SubjectKinds, design_effect, kinds_of_all, kinds_of_groups, squared_deviations, sum_kinds

Counts = NDArray[np.int64]
Floats = NDArray[np.float64]
GroupLabels = validation.Labels | Mapping[str, validation.Labels]


class FailureCounts(Shown):
    """The number of attempts and of failed attempts of every subject, and the subjects' groups.

    An attempt is a mated comparison, and fails if it is rejected. Only decisions are needed, so systems that report no
    scores can be tested, too.

    Parameters
    ----------
    failures : (n,) array_like of int
        Number of false non-matches of each subject.
    attempts : (n,) array_like of int
        Number of mated comparisons of each subject, at least 1.
    group : (n,) array_like or dict of str to (n,) array_like
        The group of each subject. A dict holds several attributes; the groups are then their intersections, labelled
        as in "f & USA".

    Attributes
    ----------
    failures, attempts : (n,) ndarray of int64
        Number of false non-matches and of mated comparisons of each subject, as given.
    groups : tuple of str
        The groups, sorted.
    grouping : tuple of str
        The attributes that the groups are made of.
    subject_group : (n,) ndarray of uint16
        The group of each subject, as a position in `groups`.
    n_subjects, n_attempts, n_failures : (g,) ndarray of int64
        Numbers of subjects, attempts and failures of each group.
    fnmr : float
        All failures divided by all attempts; NaN without attempts.
    group_fnmr : (g,) ndarray
        Failures divided by attempts of each group; NaN without attempts.
    icc : (g,) ndarray
        Intra-class correlation of the attempts of a subject; 0 where it is not defined, as no subject of the group has
        two attempts, or no attempt, or every attempt, of the group failed.
    design_effect : (g,) ndarray
        Variance of the FNMR divided by that of as many independent attempts.
    standard_error : (g,) ndarray
        Standard error of the FNMR, if subjects are independent.

    Raises
    ------
    InputError
        For counts that are negative, fractional or missing, more failures than attempts, subjects without attempts,
        and lengths that differ. Messages count rows from 0.

    Notes
    -----
    Let e_i of the m_i attempts of subject i fail, N = sum m_i and m0 = sum m_i^2 / N. Then [1]_ defines the FNMR
    pi = sum e_i / N (2), the intra-class correlation rho (5), the design effect 1 + (m0 - 1) rho, and the variance
    pi (1 - pi) (1 + (m0 - 1) rho) / N (6), which equals sum (e_i - m_i pi)^2 / N^2.

    References
    ----------
    .. [1] Schuckers et al., "Statistical Methods for Assessing Differences in False Non-Match Rates Across Demographic
       Groups", section III.

    Examples
    --------
    >>> import fastfair as ff
    >>> counts = ff.FailureCounts([0, 2, 1, 0], [4, 4, 4, 3], group=["f", "f", "m", "m"])
    >>> counts
    FailureCounts(4 subjects, 15 attempts, 3 failures, 2 groups)
    >>> counts.group_fnmr.round(3)
    array([0.25 , 0.143])
    """

    @checked(failures=argument_kinds.array, attempts=argument_kinds.array, group=argument_kinds.groups)
    def __init__(self, failures: ArrayLike, attempts: ArrayLike, group: GroupLabels) -> None:
        e, m = (_whole(name, values) for name, values in (("failures", failures), ("attempts", attempts)))
        columns = group_labels.columns_of("group", group)
        if not columns:
            raise InputError("group has no attributes: give the group of each subject")
        coded = {name: validation.encode(f"group {name!r}", column) for name, column in columns.items()}
        sizes = {"failures": e.size, "attempts": m.size}
        sizes |= {f"group {name!r}": column.codes.size for name, column in coded.items()}
        validation.same_length(sizes, "subject")
        if e.size == 0:
            raise InputError("failures is empty: there is nothing to test")
        for wrong, what in ((m < 1, "attempts must be at least 1 (leave subjects without any out)"),
                            (e > m, "failures must not exceed attempts")):  # fmt: skip
            if wrong.any():
                row = int(wrong.argmax())
                raise InputError(
                    f"{what}, but row {row} (counted from 0) has {e[row]} failures in {m[row]} attempts", row=row
                )
        if float(m.max()) ** 2 * m.size > 2**62:
            raise InputError(f"attempts of up to {m.max()} by {m.size} subjects are more than can be summed exactly")
        labels = {name: group_labels.attribute(name, column.labels) for name, column in coded.items()}
        groups, codes = group_labels.intersections(
            tuple(labels), labels, [{name: column.codes.astype(np.uint16) for name, column in coded.items()}]
        )
        self._set(e, m, codes[0], groups, tuple(labels))

    def _set(
        self, failures: Counts, attempts: Counts, code: NDArray[Any], groups: tuple[str, ...], grouping: tuple[str, ...]
    ) -> None:
        self.failures, self.attempts = read_only(failures), read_only(attempts)
        self.subject_group = read_only(code.astype(np.uint16))
        self.groups, self.grouping = groups, grouping

    @classmethod
    def _of(cls, *parts: Any) -> FailureCounts:
        """Make counts from parts that are already checked, as `_set` takes them; groups may be without subjects."""
        made = object.__new__(cls)
        made._set(*parts)
        return made

    @classmethod
    @checked(failed=argument_kinds.array, subject=argument_kinds.labels, group=argument_kinds.groups)
    def from_decisions(cls, failed: ArrayLike, subject: validation.Labels, group: GroupLabels) -> FailureCounts:
        """Count the attempts and failures of each subject from a list of attempts.

        Parameters
        ----------
        failed : (attempts,) array_like of bool
            Whether each attempt failed, as truth values or as 0 and 1.
        subject : (attempts,) array_like
            The subject of each attempt, of any label type.
        group : (attempts,) array_like or dict of str to (attempts,) array_like
            The group of the subject of each attempt.

        Returns
        -------
        FailureCounts
            One row for each subject, sorted.

        Raises
        ------
        InputError
            As the class does, and for decisions that have other than two values and subjects in two groups.

        Examples
        --------
        >>> import fastfair as ff
        >>> counts = ff.FailureCounts.from_decisions([0, 1, 0, 0, 1], list("aabbb"), list("ffmmm"))
        >>> counts.failures, counts.attempts
        (array([1, 1]), array([2, 3]))
        """
        decisions = _whole("failed", failed)
        if decisions.size and decisions.max() > 1:
            row = int(decisions.argmax())
            raise InputError(f"failed must be 0 or 1, but row {row} (counted from 0) is {decisions[row]}", row=row)
        who = validation.encode("subject", subject)
        columns = group_labels.columns_of("group", group)
        coded = {name: validation.encode(f"group {name!r}", column) for name, column in columns.items()}
        sizes = {"failed": decisions.size, "subject": who.codes.size}
        sizes |= {f"group {name!r}": column.codes.size for name, column in coded.items()}
        validation.same_length(sizes, "decision")
        of_subject = {
            name: validation.Coded(column.labels, group_labels.one_for_each(who, name, column))
            for name, column in coded.items()
        }
        n = who.labels.size
        failures = np.bincount(who.codes[decisions == 1], minlength=n)
        return cls(failures, np.bincount(who.codes, minlength=n), of_subject)

    @classmethod
    @checked(comparisons=argument_kinds.one_of("Comparisons", "ScannedComparisons"))
    def from_comparisons(cls, comparisons: Comparisons | ScannedComparisons, at: OperatingPoint) -> FailureCounts:
        """Count mated comparisons rejected at an operating point.

        Parameters
        ----------
        comparisons : Comparisons or ScannedComparisons
            Comparisons with subjects and groups.
        at : OperatingPoint
            The operating point. Its threshold is the same for all groups.

        Returns
        -------
        FailureCounts
            With one row for each subject and group, of mated comparisons whose reference and probe are in the same
            group. Groups without such comparisons stay in `groups`, with no subjects.

        Raises
        ------
        InputError
            Without subjects or groups, for mated comparisons of two subjects, and for a threshold that rests on scores
            which a scan has not kept.

        Warns
        -----
        DependentGroupsWarning
            Where subjects are in more than one group.
        DroppedWarning
            For mated comparisons between groups, which are left out.

        Examples
        --------
        >>> import fastfair as ff
        >>> who, groups = (list("aabbab"), list("aabbba")), list("ffmmfm")
        >>> c = ff.Comparisons([0.9, 0.3, 0.8, 0.6, 0.4, 0.1], [1, 1, 1, 1, 0, 0], *who, groups, list("ffmmmf"))
        >>> counts = ff.FailureCounts.from_comparisons(c, ff.at_threshold(0.5))
        >>> counts.failures, counts.attempts
        (array([1, 0]), array([2, 2]))
        """
        from .counting import of_comparisons

        counted = comparisons.kept if isinstance(comparisons, ScannedComparisons) else comparisons
        return cls._of(*of_comparisons(counted, at), comparisons.groups, comparisons.grouping)

    @classmethod
    @checked
    def from_embeddings(
        cls, embeddings: Embeddings, at: OperatingPoint, *, n_threads: int | None = None
    ) -> FailureCounts:
        """Count mated pairs of vectors rejected at an operating point.

        Parameters
        ----------
        embeddings : Embeddings
            Vectors with groups.
        at : OperatingPoint
            The operating point. Its threshold is the same for all groups.
        n_threads : int, optional
            All processors by default.

        Returns
        -------
        FailureCounts
            With one row for each subject with at least two vectors. Groups without such subjects stay in `groups`.

        Raises
        ------
        InputError
            Without groups.

        Examples
        --------
        >>> import fastfair as ff
        >>> e = ff.Embeddings([[1, 0], [2, 1], [0, 1], [0, 3], [-1, 1]], list("aabbc"), group=list("ffmmm"))
        >>> counts = ff.FailureCounts.from_embeddings(e, ff.at_threshold(0.95))
        >>> counts.failures, counts.attempts
        (array([1, 0]), array([1, 1]))
        """
        from .counting import of_embeddings

        if at.kind not in ("fmr", "fnmr", "threshold"):
            workers = Workers(n_threads)
            return with_enough_pairs(
                [embeddings], [at], False, lambda scans: cls.from_comparisons(scans[0], at), workers
            )
        return cls._of(*of_embeddings(embeddings, at, n_threads), embeddings.groups, embeddings.grouping)

    @cached_property
    def kinds(self) -> SubjectKinds:
        """Subjects with the same failures and attempts, counted together."""
        return kinds_of_groups(self.failures, self.attempts, self.subject_group, len(self.groups))

    @cached_property
    def all_kinds(self) -> SubjectKinds:
        """Subjects of all groups with the same failures and attempts, counted together."""
        return kinds_of_all(self.kinds)

    @cached_property
    def sums(self) -> Counts:
        """(5, g) sums over the subjects of each group, in the rows of `kernels.clusters`."""
        return sum_kinds(self.kinds)

    @cached_property
    def n_subjects(self) -> Counts:
        """(g,) number of subjects of each group."""
        return np.diff(np.append(0, np.cumsum(self.kinds.subjects))[np.append(0, self.kinds.end)])

    @property
    def n_attempts(self) -> Counts:
        """(g,) number of attempts of each group."""
        return self.sums[0]

    @property
    def n_failures(self) -> Counts:
        """(g,) number of failed attempts of each group."""
        return self.sums[1]

    @property
    def fnmr(self) -> float:
        """All failures divided by all attempts; NaN without attempts."""
        with np.errstate(invalid="ignore"):
            return float(self.n_failures.sum() / self.n_attempts.sum())

    @cached_property
    def group_fnmr(self) -> Floats:
        """(g,) failures divided by attempts of each group; NaN without attempts."""
        with np.errstate(invalid="ignore"):
            return np.asarray(self.n_failures / self.n_attempts)

    @cached_property
    def icc(self) -> Floats:
        """(g,) intra-class correlation of a subject's attempts; 0 where it is not defined."""
        pairs = self.sums[4] - self.n_attempts
        spread = self.group_fnmr * (1 - self.group_fnmr)
        with np.errstate(invalid="ignore", divide="ignore"):
            found = (squared_deviations(self.sums) - self.n_attempts * spread) / (spread * pairs)
        return np.where((pairs > 0) & (spread > 0), found, 0.0)

    @cached_property
    def design_effect(self) -> Floats:
        """(g,) variance of the FNMR divided by that of as many independent attempts."""
        return design_effect(self.sums)

    @cached_property
    def standard_error(self) -> Floats:
        """(g,) standard error of the FNMR, if subjects are independent."""
        with np.errstate(invalid="ignore"):
            return np.sqrt(squared_deviations(self.sums)) / self.n_attempts

    @checked
    def confidence_interval(self, confidence_level: float = 0.95) -> tuple[Floats, Floats]:
        """Compute a confidence interval of each group's FNMR from its variance, with attempts clustered by subject.

        Parameters
        ----------
        confidence_level : float, default 0.95
            In (0, 1).

        Returns
        -------
        low, high : (g,) ndarray
            The interval of `intervals.confidence_interval` by its method "logit", with the number of subjects minus 1
            as degrees of freedom. Where no attempt, or every attempt, failed: Clopper and Pearson's interval for
            independent attempts. NaN for fewer than two subjects.

        Examples
        --------
        >>> import fastfair as ff
        >>> counts = ff.FailureCounts([0, 2, 1, 0], [4, 4, 4, 3], group=["f", "f", "m", "m"])
        >>> low, high = counts.confidence_interval(0.5)
        >>> bool(((low < counts.group_fnmr) & (counts.group_fnmr < high)).all())
        True
        """
        level = intervals.level(confidence_level)
        rate, n = self.group_fnmr, self.n_subjects
        known = n > 1
        low, high = intervals.logit_interval(rate, self.standard_error, np.maximum(n - 1, 1), level)
        ends = np.array([intervals.upper_limit_without_errors(max(1, int(k)), level) for k in self.n_attempts])
        low = np.where(rate == 0, 0.0, np.where(rate == 1, 1 - ends, low))
        high = np.where(rate == 0, ends, np.where(rate == 1, 1.0, high))
        return np.where(known, low, np.nan), np.where(known, high, np.nan)

    def remarks(self) -> list[str]:
        """Name the groups whose data do not suffice for some result.

        Returns
        -------
        list of str
            One sentence for each; empty if all data suffice.

        Examples
        --------
        >>> import fastfair as ff
        >>> ff.FailureCounts([1, 0, 0, 0], [1, 1, 2, 2], group=list("ffmm")).remarks()[0]
        'f: no subject has two attempts, so that their correlation is not known; 0 is used.'
        """
        pairs, failures = self.sums[4] - self.n_attempts, self.n_failures
        said = []
        for without, what in (
            (pairs == 0, "no subject has two attempts, so that their correlation is not known; 0 is used."),
            (failures == 0, "no attempt failed; the interval is Clopper and Pearson's, for independent attempts."),
            (failures == self.n_attempts, "all attempts failed; the interval is Clopper and Pearson's, for independent "
             "attempts."),
        ):  # fmt: skip
            if without.any():
                named = ", ".join(group for group, is_so in zip(self.groups, without, strict=True) if is_so)
                said.append(f"{visible(named)}: {what}")
        return said

    @checked(groups=argument_kinds.several(argument_kinds.text))
    def without(self, groups: Sequence[str]) -> FailureCounts:
        """Leave groups out.

        Parameters
        ----------
        groups : sequence of str
            The groups to leave out, some of `groups`.

        Returns
        -------
        FailureCounts

        Examples
        --------
        >>> import fastfair as ff
        >>> ff.FailureCounts([0, 2, 1], [4, 4, 4], group=list("fmx")).without(["x"]).groups
        ('f', 'm')
        """
        for group in groups:
            validation.choice("group", group, self.groups)
        kept = [k for k, group in enumerate(self.groups) if group not in groups]
        position = np.full(len(self.groups), len(self.groups))
        position[kept] = np.arange(len(kept))
        inside = np.isin(self.subject_group, kept)
        return FailureCounts._of(
            self.failures[inside],
            self.attempts[inside],
            position[self.subject_group[inside]],
            tuple(self.groups[k] for k in kept),
            self.grouping,
        )

    def _shown(self) -> tuple[Sequence[str], Mapping[str, Sequence[Any]]]:
        low, high = self.confidence_interval()
        ends = zip(self.group_fnmr.tolist(), low.tolist(), high.tolist(), strict=True)
        counts = {"subjects": self.n_subjects, "attempts": self.n_attempts, "failures": self.n_failures}
        columns = {"group": self.groups} | {name: column.tolist() for name, column in counts.items()}
        return [repr(self)], columns | {"FNMR, 95 % interval": [rate_with_interval(*one) for one in ends]}

    def __repr__(self) -> str:
        parts = (
            (self.failures.size, "subject"), (int(self.n_attempts.sum()), "attempt"),
            (int(self.n_failures.sum()), "failure"), (len(self.groups), "group"),
        )  # fmt: skip
        return f"FailureCounts({', '.join(f'{n} {what}{chr(115) * (n != 1)}' for n, what in parts)})"


def _whole(name: str, values: ArrayLike) -> Counts:
    """Turn integers of at least 0, of any number type, into int64."""
    array = arrays.column(name, values)
    if array.dtype.kind == "b":
        return array.astype(np.int64)
    array = arrays.numbers_in(name, array)
    with np.errstate(invalid="ignore"):
        wrong = ~((array >= 0) & (array == np.floor(array)) & (array < 2**31))
    if wrong.any():
        row = int(wrong.argmax())
        raise InputError(
            f"{name} must be whole numbers of at least 0, but row {row} (counted from 0) is {array[row]}", row=row
        )
    return array.astype(np.int64)
