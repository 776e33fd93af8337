"""`FailureCounts`: the number of attempts, and of failed attempts, of each subject, from which rates are tested."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from fastfair._lib import argument_kinds, validation
from fastfair._lib.arguments import checked
from fastfair._lib.workers import Workers
from fastfair.data import group_labels
from fastfair.data.comparisons import Comparisons
from fastfair.data.embeddings import Embeddings
from fastfair.data.scanned_comparisons import ScannedComparisons
from fastfair.error_rates.enough_pairs import with_enough_pairs
from fastfair.error_rates.operating_points import OperatingPoint
from fastfair.errors import InputError

from .attempts import GroupLabels, of_attempts, whole_numbers
from .counted_attempts import CountedAttempts
from .failure_rates import failure_rate

RATES_OF_SAMPLES = ("fta", "fte")


class FailureCounts(CountedAttempts):
    """The number of attempts and of failed attempts of every subject, and the subjects' groups.

    An attempt is a mated comparison, and fails if it is rejected; or it is a subject's try to have a sample acquired,
    or to be enrolled. Only decisions are needed, so systems that report no scores can be tested, too.

    Parameters
    ----------
    failures : (n,) array_like of int
        Number of failed attempts of each subject, such as false non-matches.
    attempts : (n,) array_like of int
        Number of attempts of each subject, such as mated comparisons, at least 1.
    group : (n,) array_like or dict of str to (n,) array_like
        The group of each subject. A dict holds several attributes; the groups are then their intersections, labelled
        as in "f & USA".
    rate : {"fnmr", "fta", "fte"}, default "fnmr"
        Which rate failures are counted for, so that results call it by its name: false non-match rate,
        failure-to-acquire rate or failure-to-enrol rate.

    Attributes
    ----------
    failures, attempts : (n,) ndarray of int64
        Numbers of failed and of all attempts of each subject, as given.
    groups : tuple of str
        The groups, sorted.
    grouping : tuple of str
        The attributes that the groups are made of.
    subject_group : (n,) ndarray of uint16
        The group of each subject, as a position in `groups`.
    n_subjects, n_attempts, n_failures : (g,) ndarray of int64
        Numbers of subjects, attempts and failures of each group.
    rate_name : str
        "fnmr", "fta" or "fte".
    rate : float
        All failures divided by all attempts; NaN without attempts.
    group_rate : (g,) ndarray
        Failures divided by attempts of each group; NaN without attempts.
    fnmr, group_fnmr
        The same, where it is the FNMR.
    icc : (g,) ndarray
        Intra-class correlation of the attempts of a subject; 0 where it is not defined, as no subject of the group has
        two attempts, or no attempt, or every attempt, of the group failed.
    design_effect : (g,) ndarray
        Variance of the rate divided by that of as many independent attempts.
    standard_error : (g,) ndarray
        Standard error of the rate, if subjects are independent.

    Raises
    ------
    InputError
        For an unknown rate, counts that are negative, fractional or missing, more failures than attempts, subjects
        without attempts, and lengths that differ. Messages count rows from 0.

    Notes
    -----
    Let e_i of the m_i attempts of subject i fail, N = sum m_i and m0 = sum m_i^2 / N. Then [1]_ defines the rate
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
    def __init__(self, failures: ArrayLike, attempts: ArrayLike, group: GroupLabels, *, rate: str = "fnmr") -> None:
        e, m = (whole_numbers(name, values) for name, values in (("failures", failures), ("attempts", attempts)))
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
        self._set(e, m, codes[0], groups, tuple(labels), failure_rate(rate).name)

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
        return cls._from_rows(failed, subject, group)

    @classmethod
    @checked(failed=argument_kinds.labels, subject=argument_kinds.labels, group=argument_kinds.groups)
    def from_failures(
        cls,
        failed: validation.Labels,
        subject: validation.Labels,
        group: GroupLabels,
        *,
        rate: str = "fta",
        failed_value: str | None = None,
    ) -> FailureCounts:
        """Count failures to acquire, or to enrol, from a list of samples that were to be taken.

        Parameters
        ----------
        failed : (attempts,) array_like
            Whether each attempt to take a sample failed, as truth values or as 0 and 1; or labels, one of which is
            `failed_value`.
        subject : (attempts,) array_like
            The subject of each attempt, of any label type.
        group : (attempts,) array_like or dict of str to (attempts,) array_like
            The group of the subject of each attempt.
        rate : {"fta", "fte"}
            "fta": every attempt is one acquisition. "fte": every subject has one enrolment, which failed if all of the
            subject's attempts failed. Where more than one sample is needed, give one row for each subject.
        failed_value : str, optional
            The label of failed attempts in `failed`, such as "no face found".

        Returns
        -------
        FailureCounts
            One row for each subject, sorted.

        Raises
        ------
        InputError
            As `from_decisions` does, and for a label of failed attempts that no row has.

        Notes
        -----
        In the terms of ISO/IEC 19795-1 [1]_ the failure-to-acquire rate (FTA) is the share of acquisitions that give no
        sample which can be compared, and the failure-to-enrol rate (FTE) the share of enrolments that give no
        reference. Enrolments may also be counted by transactions, of which a subject can have several: pass their
        numbers to `FailureCounts` with ``rate="fte"``.

        References
        ----------
        .. [1] ISO/IEC 19795-1, "Biometric performance testing and reporting - Part 1: Principles and framework".

        Examples
        --------
        >>> import fastfair as ff
        >>> failed, subject, group = [0, 1, 0, 1, 1], list("aabbc"), list("ffffm")
        >>> ff.FailureCounts.from_failures(failed, subject, group)
        FailureCounts(3 subjects, 5 acquisitions, 3 failures, 2 groups)
        >>> ff.FailureCounts.from_failures(failed, subject, group, rate="fte").group_rate
        array([0., 1.])
        """
        validation.choice("rate", rate, RATES_OF_SAMPLES)
        return cls._from_rows(failed, subject, group, rate, failed_value)

    @classmethod
    def _from_rows(
        cls,
        failed: validation.Labels,
        subject: validation.Labels,
        group: GroupLabels,
        rate: str = "fnmr",
        failed_value: str | None = None,
    ) -> FailureCounts:
        """Count attempts of which each row has one; see `from_failures`, but here of any rate."""
        failures, attempts, groups = of_attempts(failed, subject, group, failed_value)
        if not failure_rate(rate).repeated:
            failures, attempts = (failures == attempts).astype(np.int64), np.ones_like(attempts)
        return cls(failures, attempts, groups, rate=rate)

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
