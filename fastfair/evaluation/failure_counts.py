"""`FailureCounts`: the number of attempts, and of failed attempts, of each subject, from which
rates are judged and tested.

What failed may be a mated comparison (FNMR), an acquisition (FTA) or an enrolment (FTE). Subjects
with the same failures and attempts are counted together, as kinds; rates, intra-class correlations,
design effects and variances follow from five sums over the subjects of each group, in the rows of
`kernels.clusters`. Replicates draw the subjects of each group with replacement.

Comparisons of two people (FMR, FAR) have a person on each side, and totals are of people who are
not known: these counts are no clusters. As comparisons that are accepted or rejected
(`decisions_of`) they have the limits of scores.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal, Self, TypeVar

import numpy as np
from numpy.typing import ArrayLike

from fastfair._lib import validation
from fastfair._lib.arguments import Probability, checked
from fastfair._lib.arrays import (
    AnyArray,
    AnyIntegers,
    Flags,
    Floats,
    Groups,
    Integers,
    RandomKey,
)
from fastfair._lib.label_codes import Coded, Labels, encode, encode_together
from fastfair._lib.notebook import Shown
from fastfair._lib.seeds import Purpose
from fastfair._lib.text import cell, did_you_mean, joined_by_or, rate_with_interval, with_article
from fastfair._lib.threads import count_threads, run_blocks, run_in_order
from fastfair._lib.warnings import warn
from fastfair._lib.workers import Report, Workers
from fastfair.data import checks, group_labels
from fastfair.data.columns import warn_of_look_alikes
from fastfair.data.comparisons import Comparisons
from fastfair.data.embeddings import Embeddings
from fastfair.data.exclusions import Exclusions, gathering, leave_out
from fastfair.data.group_labels import MissingLabels
from fastfair.data.scans import KeptComparisons, Reader, ScannedComparisons
from fastfair.data.sessions import sessions_of
from fastfair.data.sorted_scores import read_only
from fastfair.data.vector_pairs import PairsOfVectors
from fastfair.error_rates.operating_points import OperatingPoint, threshold_key
from fastfair.error_rates.rates import ErrorRate
from fastfair.error_rates.scans_of_vectors import with_enough_pairs
from fastfair.errors import DependentGroupsWarning, InputError, visible
from fastfair.measures._registry import METRICS
from fastfair.resampling.dependence import (
    ENOUGH_PAIRS,
    AttemptSums,
    pooled,
    share_of,
    typical_subject,
)
from fastfair.uncertainty.few_errors import raised_by_both
from fastfair.uncertainty.notes import FEWEST_SESSIONS
from fastfair.uncertainty.rate_limits import RateEvidence, raised_rate
from fastfair.uncertainty.sessions import remarks_on_few

from .counts_of_sessions import CountsOfSessions, RatesInSessions

RateOfFailure = Literal[
    "fnmr", "fmr", "frr", "far", "fta", "fte", "fnir", "fpir", "apcer", "bpcer", "iapar"
]
ATTEMPTS: dict[str, str] = {
    "fmr": "non-mated comparison", "far": "impostor transaction",
    "fnmr": "attempt", "frr": "transaction", "fta": "acquisition", "fte": "enrolment", "fnir": "transaction",
    "fpir": "transaction", "apcer": "attack presentation", "bpcer": "bona fide presentation",
    "iapar": "attack presentation",
}  # fmt: skip
RATE_TITLES = {name: METRICS[name].long_title for name in ATTEMPTS}
OF_SPECIES = "apcer", "iapar"  # whose groups, species of attacks, may be of the same people
OF_TWO_PEOPLE = "fmr", "far"  # rates whose comparisons have a person on each side
_MOST_DECISIONS = 2 * 10**8  # that are listed one by one

GroupLabels = Labels | Mapping[str, Labels]


def _whole_numbers(name: str, values: object) -> Integers:
    """Turn integers of at least 0, of any number type, into int64."""
    array = validation.column(name, values)
    if array.dtype.kind == "b":
        return array.astype(np.int64)
    array = validation.numbers_in(name, array)
    with np.errstate(invalid="ignore"):
        wrong = ~((array >= 0) & (array == np.floor(array)) & (array < 2**31))
    if wrong.any():
        row = int(wrong.argmax())
        raise InputError(
            f"{name} must be whole numbers of at least 0, but row {row} (counted from 0) is"
            f" {array[row]}",
            row=row,
        )
    return array.astype(np.int64)


def _coded_groups(
    group: GroupLabels | None, sizes: dict[str, int], entry: str, policy: MissingLabels
) -> tuple[dict[str, Coded], Flags, Exclusions]:
    """Code the labels of each attribute, as many as other columns, whose sizes are given by name,
    have.

    Returned are also which rows to keep, and what is left out as policy says.
    """
    coded, lacking = group_labels.attributes_by_policy(group, policy)
    checks.same_length(
        sizes | {f"group {name!r}": column.codes.size for name, column in coded.items()}, entry
    )
    for name, column in coded.items():
        warn_of_look_alikes(f"group {name!r}", column.labels.tolist())
    with gathering() as left_out:
        keep = group_labels.flag_labelled(lacking, policy, next(iter(sizes.values())), f"{entry}s")
    if keep.size and not keep.any():
        raise InputError(f"no {entry}s are left: {' and '.join(map(str, left_out))}")
    if not keep.all():
        coded = {name: column.take(keep) for name, column in coded.items()}
    return coded, keep, tuple(left_out)


def _people_of(
    rate: str,
    subject: Labels | None,
    other_subject: Labels | None,
    other_group: GroupLabels | None,
    totals: bool,
) -> dict[str, Coded]:
    """Code the people of rows: those of both sides, or the one whose attempts they are; without
    any, nothing.
    """
    given = {"subject": subject, "other_subject": other_subject}
    named = {name: column for name, column in given.items() if column is not None}
    of_two = rate in OF_TWO_PEOPLE
    if totals and named:
        raise InputError(f"totals are of people who are not known: leave {' and '.join(named)} out")
    if of_two and len(named) == 1:
        (missing,) = set(given) - set(named)
        raise InputError(
            f"the comparisons of an {rate.upper()} are of two people: give {missing}, too, or"
            " neither, for totals"
        )
    if not of_two and other_subject is not None:
        raise InputError(
            f"{with_article(rate)} is of attempts of one person each: leave ⟦other_subject⟧ out, or"
            ' name the rate of comparisons of two people, as in ⟦rate="fmr"⟧'
        )
    if other_group is not None and other_subject is None:
        raise InputError("other_group is that of other_subject: give it, too, or leave both out")
    if not named:
        return {}
    labels, codes = encode_together(list(named), list(named.values()))
    warn_of_look_alikes("person", labels.tolist())
    return {name: Coded(labels, code) for name, code in zip(named, codes, strict=True)}


def _sides_of_groups(
    coded: Mapping[str, Coded], other_group: GroupLabels, n: int
) -> list[dict[str, Coded]]:
    """Code the attributes of both sides of comparisons with common labels."""
    others = group_labels.attributes_by_policy(other_group, "error")[0]
    if set(others) != set(coded):
        raise InputError(
            f"other_group has the attributes {joined_by_or(list(others))}, and group"
            f" {joined_by_or(list(coded))}: give the same of both"
        )
    checks.same_length(
        {"failures": n} | {f"other_group {name!r}": c.codes.size for name, c in others.items()},
        "subject",
    )
    sides: list[dict[str, Coded]] = [{}, {}]
    for name, column in coded.items():
        labels, codes = encode_together(
            [f"group {name!r}", f"other_group {name!r}"], [column, others[name]]
        )
        for side, code in zip(sides, codes, strict=True):
            side[name] = Coded(labels, code)
    return sides


def _split_by_species(
    who: Coded, groups: dict[str, Coded]
) -> tuple[Coded, Integers, dict[str, Coded]]:
    """Return the people in each of their groups as units of their own, which person each is, and
    its groups.
    """
    cell = who.codes.astype(np.int64)
    for column in groups.values():
        cell = cell * column.labels.size + column.codes
    cells, first, unit = np.unique(cell, return_index=True, return_inverse=True)
    coded = {name: Coded(column.labels, column.codes[first]) for name, column in groups.items()}
    return Coded(cells, unit.reshape(-1)), who.codes[first].astype(np.int64), coded


_ROUNDING = 1e-13  # share of the squares that sums of squared deviations of 0 may be off by


@dataclass(frozen=True, eq=False)
class SubjectKinds:
    """Kinds of subjects, who have the same failures and attempts; the most frequent kinds of each
    group come first.

    Attributes
    ----------
    failures, attempts : (kinds,) ndarray of int64
        Failures and attempts of one subject of each kind.
    subjects : (kinds,) ndarray
        The number of such subjects; of what is drawn from, also their share.
    end : (groups,) ndarray of int64
        Position after the last kind of each group.
    """

    failures: Integers
    attempts: Integers
    subjects: AnyArray
    end: Integers


def kinds_of_groups(
    failures: Integers, attempts: Integers, group: AnyArray, n_groups: int
) -> SubjectKinds:
    """Count the subjects of each group with the same failures and attempts; some groups may have no
    subjects.
    """
    n_attempts = int(attempts.max(initial=0)) + 1
    n_failures = int(failures.max(initial=0)) + 1
    cell = (group.astype(np.int64) * n_attempts + attempts) * n_failures + failures
    cells, sizes = np.unique(cell, return_counts=True)
    of_group = cells // (n_attempts * n_failures)
    order = np.lexsort((-sizes, of_group))
    rest, of_failures = np.divmod(cells[order], n_failures)
    end = np.searchsorted(of_group, np.arange(n_groups), side="right")
    return SubjectKinds(of_failures, rest % n_attempts, sizes[order], end.astype(np.int64))


def sum_kinds(kinds: SubjectKinds) -> Integers:
    """Compute (5, g) sums over the subjects of each group, in the rows of `kernels.clusters`."""
    e, m = kinds.failures, kinds.attempts
    rows = np.array([m, e, e * e, e * m, m * m]) * kinds.subjects
    totals = np.concatenate((np.zeros((5, 1), np.int64), np.cumsum(rows, axis=1)), axis=1)
    return np.diff(totals[:, np.append(0, kinds.end)], axis=1)


def squared_deviations(sums: Integers) -> Floats:
    """Sum (e_i - m_i pi)^2 over subjects, from the sums of `kernels.clusters`, (5, ...)."""
    m, e, ee, em, mm = sums
    with np.errstate(invalid="ignore", divide="ignore"):
        rate = e / m
        squares = ee - 2 * rate * em + rate * rate * mm
        return np.where(squares > _ROUNDING * ee, squares, 0.0)


def design_effect(sums: Integers) -> Floats:
    """Compute 1 + (m0 - 1) rho from the sums of `kernels.clusters`, (5, ...); 1 where no or all
    attempts failed.
    """
    m, e = sums[:2]
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where(
            (e > 0) & (e < m), squared_deviations(sums) * m / (e * (m - e).astype(np.float64)), 1.0
        )


def common_design_effect(sums: Integers) -> tuple[Floats, Floats]:
    """Estimate one intra-class correlation of all groups, (...), in [0, 1], and the design effects
    with it, (..., g).

    sums: (5, ..., g), as `kernels.clusters` names them.
    """
    m, e, _, _, mm = sums.astype(np.float64)
    rate = share_of(e, m)
    spread = rate * (1 - rate)
    correlation = np.minimum(pooled(squared_deviations(sums) - m * spread, spread * (mm - m)), 1.0)
    return correlation, 1 + (share_of(mm, m) - 1) * correlation[..., None]


def beta_binomial_pmf(m: int, fnmr: float, correlation: float) -> Floats:
    """Compute the probabilities of 0 to m failures in m attempts of a subject.

    Written as an urn: after e failures in j attempts the next fails with probability ((1 - rho) pi
    + rho e) / (1 - rho + rho j). Binomial at rho = 0 and all or nothing at rho = 1 are no special
    cases.
    """
    apart = 1 - correlation
    j = np.arange(1, m)

    def rising(share: float) -> Floats:
        return np.append(0, np.cumsum(np.log(share * apart + j * correlation)))

    fails = rising(fnmr)
    passes = rising(1 - fnmr)
    log_pmf = np.empty(m + 1)
    log_pmf[0] = math.log1p(-fnmr) + passes[-1]
    log_pmf[m] = math.log(fnmr) + fails[-1]
    if apart > 0:
        ways = np.cumsum(np.log((m + 1 - j) / j))
        mixed = math.log(fnmr) + math.log1p(-fnmr) + math.log(apart)
        log_pmf[1:m] = ways + mixed + fails[:-1] + passes[-2::-1]
    else:
        log_pmf[1:m] = -np.inf
    pmf = np.exp(log_pmf - rising(1)[-1])
    return pmf / pmf.sum()


class FailureCounts(Shown):
    """The number of attempts and of failed attempts of every subject, and the subjects' groups.

    An attempt is a mated comparison, and fails if it is rejected; or it is a subject's try to have
    a sample acquired, or to be enrolled. Only decisions are needed, so systems that report no
    scores can be tested, too.

    Parameters
    ----------
    failures : (n,) array_like of int, or int
        Number of failed attempts of each subject, such as false non-matches; or of all together.
    attempts : (n,) array_like of int, or int
        Number of attempts of each subject, such as mated comparisons, at least 1; or of all
        together.
    group : (n,) array_like or dict of str to (n,) array_like, optional
        The group of each subject. A dict holds several attributes; the groups are then their
        intersections, labelled as in "f & USA". By default there are no groups.
    rate : {"fnmr", "fmr", "frr", "far", "fta", "fte", "fnir", "fpir", "apcer", "bpcer", "iapar"}
        Which rate failures are counted for, so that results call it by its name: false non-match or
        match rate, false rejection or acceptance rate, failure-to-acquire rate, failure-to-enrol
        rate, a false negative or positive identification rate, or a rate of presentation attack
        detection (ISO/IEC 30107-3), whose failures are attacks that pass, or bona fide
        presentations that do not. By default "fnmr".
    missing_labels : {"error", "drop", "unknown"}
        What to do with subjects that lack a label in `group`: raise an error, leave them out with a
        warning that counts them, or take "unknown" for it.
    subject, other_subject : (n,) array_like, optional
        Of "fmr" and "far", whose failures are false matches: the people on both sides of a row's
        comparisons, in either order. Without them rows are totals. Of other rates `subject` puts
        the rows of a person together, who has one group; of "apcer" and "iapar" a person may be in
        several, as species imitate the same people.
    other_group : (n,) array_like or dict of str to (n,) array_like, optional
        The group of each `other_subject`; by default that of `subject`.
    totals : bool, default False
        Whether rows are totals of several people, such as those of a group. Their attempts are
        taken for independent, which notes say, and so are those of single numbers.
    session : (n,) array_like, optional
        What the attempts of a row share with those of other people: their day, device, site or
        operator. A `subject` has one row for each of its sessions.

    Attributes
    ----------
    failures, attempts : (n,) ndarray of int64
        Numbers of failed and of all attempts of each subject, as given.
    totals : bool
        Whether rows are totals of people who are not known.
    people : tuple of two (n,) ndarray, or None
        Of comparisons of two people, the people on both sides, as numbers.
    sessions : ndarray or None
        The distinct sessions, sorted.
    groups : tuple of str
        The groups, sorted.
    grouping : tuple of str
        The attributes that the groups are made of.
    subject_group : (n,) ndarray of uint16
        The group of each subject, as a position in `groups`.
    n_subjects, n_attempts, n_failures : (g,) ndarray of int64
        Numbers of subjects, attempts and failures of each group.
    rate_name : str
        "fnmr" or another of `rate`.
    rate : float
        All failures divided by all attempts; NaN without attempts.
    group_rate : (g,) ndarray
        Failures divided by attempts of each group; NaN without attempts.
    icc : (g,) ndarray
        Intra-class correlation of the attempts of a subject; 0 where it is not defined, as no
        subject of the group has two attempts, or no attempt, or every attempt, of the group failed.
    design_effect : (g,) ndarray
        Variance of the rate divided by that of as many independent attempts.
    standard_error : (g,) ndarray
        Standard error of the rate, if subjects, and sessions, are independent.
    left_out : tuple of Exclusion
        What was left out of the data that were counted.

    Raises
    ------
    InputError
        For an unknown rate, counts that are negative, fractional or missing, more failures than
        attempts, subjects without attempts, and lengths that differ. Messages count rows from 0.

    Notes
    -----
    Let e_i of the m_i attempts of subject i fail, N = sum m_i and m0 = sum m_i^2 / N. Then [1]_
    defines the rate pi = sum e_i / N (2), the intra-class correlation rho (5), the design effect 1
    + (m0 - 1) rho, and the variance pi (1 - pi) (1 + (m0 - 1) rho) / N (6), which equals sum (e_i -
    m_i pi)^2 / N^2.

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
    >>> counts.group_rate.round(3)
    array([0.25 , 0.143])
    """

    failures: Integers
    attempts: Integers
    subject_group: Groups
    groups: tuple[str, ...]
    grouping: tuple[str, ...]
    rate_name: str
    left_out: Exclusions = ()
    totals: bool = False
    people: tuple[AnyArray, AnyArray] | None = None
    sessions: AnyArray | None = None
    _other_group: Groups | None = None
    _by_session: CountsOfSessions | None = None
    _person: Integers | None = None  # whose rows these are, where a person may have several
    _of_totals: bool = False  # whether each attempt is taken for that of another person

    @checked
    def __init__(
        self,
        failures: ArrayLike,
        attempts: ArrayLike,
        group: GroupLabels | None = None,
        *,
        rate: RateOfFailure = "fnmr",
        missing_labels: MissingLabels = "error",
        subject: Labels | None = None,
        other_subject: Labels | None = None,
        other_group: GroupLabels | None = None,
        totals: bool = False,
        session: Labels | None = None,
    ) -> None:
        totals = totals or (np.isscalar(failures) and np.isscalar(attempts))
        e, m = (
            _whole_numbers(name, [values] if np.isscalar(values) else values)
            for name, values in (("failures", failures), ("attempts", attempts))
        )
        sizes = {"failures": e.size, "attempts": m.size}
        people = _people_of(rate, subject, other_subject, other_group, totals)
        sizes |= {name: column.codes.size for name, column in people.items()}
        shared = None if session is None else encode("session", session)
        if shared is not None and totals:
            raise InputError("totals are of people who are not known: leave ⟦session=⟧ out")
        sizes |= {} if shared is None else {"session": shared.codes.size}
        entry = "row" if people or totals else "subject"
        coded, keep, left_out = _coded_groups(group, sizes, entry, missing_labels)
        if isinstance(group, Mapping) and not coded:
            raise InputError("group has no attributes: give the group of each subject")
        if e.size == 0:
            raise InputError("failures is empty: there is nothing to test")
        for wrong, what in (
            (m < 1, "attempts must be at least 1 (leave subjects without any out)"),
            (e > m, "failures must not exceed attempts"),
        ):
            if wrong.any():
                row = int(wrong.argmax())
                raise InputError(
                    f"{what}, but row {row} (counted from 0) has {e[row]} failures in {m[row]}"
                    " attempts",
                    row=row,
                )
        e, m = e[keep], m[keep]
        row_of: AnyIntegers = np.arange(e.size)
        shared = shared and shared.take(keep)
        of_sessions = e, m
        person = None
        if len(people) == 1:
            (who,) = (column.take(keep) for column in people.values())
            if rate in OF_SPECIES:
                who, person, coded = _split_by_species(who, coded)
            else:
                coded = {
                    name: Coded(column.labels, group_labels.label_of_each(who, name, column))
                    for name, column in coded.items()
                }
            row_of = who.codes
            e, m = (
                np.bincount(who.codes, numbers, who.labels.size).astype(np.int64)
                for numbers in (e, m)
            )
        if float(m.max()) ** 2 * m.size > 2**62:
            raise InputError(
                f"attempts of up to {m.max()} by {m.size} subjects are more than can be summed"
                " exactly"
            )
        sides = [coded]
        if other_group is not None:
            sides = _sides_of_groups(coded, other_group, e.size)
        labels = {
            name: group_labels.attribute(name, column.labels) for name, column in sides[0].items()
        }
        groups, codes = group_labels.intersections(
            tuple(labels),
            labels,
            [{name: side[name].codes.astype(np.uint16) for name in labels} for side in sides],
        )
        code = codes[0] if codes else np.zeros(e.size, np.uint16)
        made = self._of(e, m, code, groups, tuple(labels), rate, left_out)
        made.totals = totals or (rate in OF_TWO_PEOPLE and not people)
        if shared is not None:
            if made.totals:
                raise InputError(
                    f"sessions need the people of an {rate.upper()}: give subject and other_subject"
                )
            made.sessions = read_only(shared.labels)
            both = shared.codes, shared.codes
            made._by_session = CountsOfSessions.of(row_of, both, *of_sessions)
        if rate in OF_TWO_PEOPLE and people:
            first, second = (column.codes[keep] for column in people.values())
            made._require_two_people(first, second)
            made.people = read_only(first), read_only(second)
        made._other_group = read_only(codes[1]) if len(codes) > 1 else None
        made._person = person
        vars(self).update(vars(made))

    @classmethod
    @checked
    def from_decisions(
        cls,
        failed: Labels,
        subject: Labels,
        group: GroupLabels | None = None,
        *,
        rate: RateOfFailure = "fnmr",
        failed_value: str | None = None,
        missing_labels: MissingLabels = "error",
        other_subject: Labels | None = None,
        other_group: GroupLabels | None = None,
        session: Labels | None = None,
    ) -> FailureCounts:
        """Count the attempts and failures of each subject from a list of attempts.

        Parameters
        ----------
        failed : (attempts,) array_like
            Whether each attempt failed, as truth values or as 0 and 1; or labels, one of which is
            `failed_value`.
        subject : (attempts,) array_like
            The subject of each attempt, of any label type.
        group : (attempts,) array_like or dict of str to (attempts,) array_like, optional
            The group of the subject of each attempt.
        rate : {"fnmr", "fmr", "frr", "far", "fta", "fte", "fnir", "fpir", "apcer", "bpcer", "iapar"}
            "fnmr": every attempt is one mated comparison. "fmr": one non-mated comparison, which
            fails if it is accepted. "fnir", "fpir": every attempt is one search. "fta": every
            attempt is one acquisition. "fte": every subject has one enrolment,
            which failed if all of the subject's attempts to give a sample failed. Where more than
            one sample is needed, give one row for each subject.
        failed_value : str, optional
            The label of failed attempts in `failed`, such as "no face found".
        missing_labels : {"error", "drop", "unknown"}
            As in the class, for attempts.
        other_subject, other_group : (attempts,) array_like, optional
            Of "fmr" and "far": the person that the subject is compared with, and that person's
            group.
        session : (attempts,) array_like, optional
            What each attempt shares with those of other people, as in the class. With "fte" all
            attempts of a subject are of one session.

        Returns
        -------
        FailureCounts
            One row for each subject, sorted, and of "apcer" and "iapar" for each of a subject's
            groups; of "fmr" and "far" one for each attempt.

        Raises
        ------
        InputError
            As the class does, for decisions that have other than two values, subjects in two
            groups, and a label of failed attempts that no row has.

        Notes
        -----
        In the terms of ISO/IEC 19795-1 [1]_ the failure-to-acquire rate (FTA) is the share of
        acquisitions that give no sample which can be compared, and the failure-to-enrol rate (FTE)
        the share of enrolments that give no reference. Enrolments may also be counted by
        transactions, of which a subject can have several: pass their numbers to `FailureCounts`
        with ``rate="fte"``.

        References
        ----------
        .. [1] ISO/IEC 19795-1, "Biometric performance testing and reporting - Part 1: Principles and framework".

        Examples
        --------
        >>> import fastfair as ff
        >>> failed, subject, group = [0, 1, 0, 1, 1], list("aabbc"), list("ffffm")
        >>> ff.FailureCounts.from_decisions(failed, subject, group, rate="fta")
        FailureCounts(3 subjects, 5 acquisitions, 3 failures, 2 groups)
        >>> ff.FailureCounts.from_decisions(failed, subject, group, rate="fte").group_rate
        array([0., 1.])
        """
        if failed_value is None:
            decisions = _whole_numbers("failed", failed)
            if decisions.max(initial=0) > 1:
                row = int(decisions.argmax())
                raise InputError(
                    f"failed must be 0 or 1, but row {row} (counted from 0) is {decisions[row]}",
                    row=row,
                )
        else:
            column = encode("failed", failed)
            labels = [str(label) for label in column.labels]
            if failed_value not in labels:
                raise InputError(
                    f"no row of failed is {failed_value!r}, which ⟦failed_value⟧ declares to be"
                    f" that of failed attempts{did_you_mean(failed_value, labels)}; if none failed,"
                    " give zeros"
                )
            decisions = (column.codes == labels.index(failed_value)).astype(np.int64)
        is_counted_once = session is None or rate == "fte"
        is_of_pairs = rate in (*OF_TWO_PEOPLE, *OF_SPECIES) or other_subject is not None
        if is_of_pairs or not is_counted_once:
            return cls(
                decisions,
                np.ones_like(decisions),
                group,
                rate=rate,
                missing_labels=missing_labels,
                subject=subject,
                other_subject=other_subject,
                other_group=other_group,
                session=session,
            )
        who = encode("subject", subject)
        warn_of_look_alikes("person", who.labels.tolist())
        sizes = {"failed": decisions.size, "subject": who.codes.size}
        shared = None if session is None else encode("session", session)
        sizes |= {} if shared is None else {"session": shared.codes.size}
        coded, keep, left_out = _coded_groups(group, sizes, "attempt", missing_labels)
        if not keep.all():
            who = who.take(keep)
            decisions = decisions[keep]
            shared = shared and shared.take(keep)
        groups = {
            name: Coded(column.labels, group_labels.label_of_each(who, name, column))
            for name, column in coded.items()
        }
        attempts = np.bincount(who.codes, minlength=who.labels.size)
        failures = np.bincount(who.codes[decisions == 1], minlength=who.labels.size)
        if rate == "fte":
            failures = (failures == attempts).astype(np.int64)
            attempts = np.ones_like(attempts)
        if shared is not None:
            shared = Coded(shared.labels, group_labels.label_of_each(who, "session", shared))
        group = None if group is None else groups
        made = cls(failures, attempts, group, rate=rate, session=shared)
        made.left_out = left_out
        return made

    @classmethod
    @checked
    def from_comparisons(
        cls,
        comparisons: Comparisons | ScannedComparisons | Embeddings,
        at: OperatingPoint,
        *,
        rate: ErrorRate = "fnmr",
        n_threads: int | None = None,
    ) -> FailureCounts:
        """Count mated comparisons, or mated pairs of vectors, rejected at an operating point; or
        non-mated comparisons that are accepted.

        Parameters
        ----------
        comparisons : Comparisons, ScannedComparisons or Embeddings
            Comparisons with subjects and groups, or vectors with groups, all of whose pairs are
            compared.
        at : OperatingPoint
            The operating point. Its threshold is the same for all groups.
        rate : {"fnmr", "fmr"}
            Which errors are counted. "fmr" needs comparisons in memory, and no groups.
        n_threads : int, optional
            Number of threads that compare vectors; all processors by default.

        Returns
        -------
        FailureCounts
            With one row for each subject and group, of mated comparisons whose reference and probe
            are in the same group. Groups without such comparisons stay in `groups`, with no
            subjects. Of "fmr": one row for each non-mated comparison.

        Raises
        ------
        InputError
            Without subjects or groups, for mated comparisons of two subjects, and for a threshold
            that rests on scores which a scan has not kept.

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
        if rate == "fmr":
            return cls._count_accepted(comparisons, at)

        def count(given: Comparisons | ScannedComparisons) -> FailureCounts:
            counted = given.kept if isinstance(given, ScannedComparisons) else given
            with gathering() as between:
                failures, attempts, code, by_session = _count_rejected(counted, at)
            return cls._of(
                failures,
                attempts,
                code,
                given.groups,
                given.grouping,
                left_out=(*given.left_out, *between),
                sessions=counted.sessions,
                _by_session=by_session,
            )

        return compute_on_kept_pairs(comparisons, at, count, n_threads)

    @classmethod
    def _count_accepted(
        cls, data: Comparisons | ScannedComparisons | Embeddings, at: OperatingPoint
    ) -> FailureCounts:
        """Count each non-mated comparison; see `from_comparisons`."""
        if not isinstance(data, Comparisons):
            raise InputError(
                "false matches are counted of Comparisons: read scores with read_comparisons, or"
                " take the vectors' method comparisons()"
            )
        data._require_rates("a count of false matches", ["fmr"])
        if data.subjects is None:
            raise InputError("the comparisons have no subjects: give reference and probe")
        side = data.nonmated
        is_accepted = side.keys >= threshold_key(data, at)
        codes = [np.zeros(side.keys.size, np.uint16)] * 2
        if data.groups:
            by_group = data.nonmated_by_group
            codes = [by_group.reference_group, by_group.probe_group]
        failures = is_accepted.astype(np.int64)
        attempts = np.ones_like(failures)
        sessions = sessions_of(side)
        by_session = sessions and CountsOfSessions(
            np.arange(attempts.size), sessions, failures, attempts
        )
        return cls._of(
            failures,
            attempts,
            codes[0],
            data.groups,
            data.grouping,
            "fmr",
            data.left_out,
            people=side.compared(),
            sessions=sessions and data.sessions,
            _other_group=read_only(codes[1].astype(np.uint16)),
            _by_session=by_session,
        )

    @classmethod
    def _of(
        cls,
        failures: Integers,
        attempts: Integers,
        code: AnyArray,
        groups: tuple[str, ...],
        grouping: tuple[str, ...],
        rate_name: str = "fnmr",
        left_out: Exclusions = (),
        **more: Any,
    ) -> Self:
        """Make counts of parts that are checked, and more attributes; groups may be without
        subjects.
        """
        made = object.__new__(cls)
        made.failures, made.attempts = read_only(failures), read_only(attempts)
        made.subject_group = read_only(code.astype(np.uint16))
        vars(made).update(
            more, groups=groups, grouping=grouping, rate_name=rate_name, left_out=left_out
        )
        return made

    @property
    def attempt(self) -> str:
        """What can fail: an attempt, an acquisition or an enrolment."""
        return ATTEMPTS[self.rate_name]

    @property
    def are_clusters(self) -> bool:
        """Whether each row holds the attempts of one subject, so that rows are independent."""
        return not self.totals and self.people is None

    @property
    def groups_share_people(self) -> bool:
        """Whether some person is in several groups, as species of attacks may imitate the same."""
        return self._person is not None and np.unique(self._person).size < self._person.size

    def _require_two_people(self, first: AnyArray, second: AnyArray) -> None:
        """Refuse comparisons of a person with himself among non-mated ones."""
        alike = first == second
        if alike.any():
            row = int(alike.argmax())
            raise InputError(
                f"an {self.rate_name.upper()} is of comparisons of two people, but row {row}"
                " (counted from 0) has one person on both sides: leave it out, or count it for"
                ' ⟦rate="fnmr"⟧',
                row=row,
            )

    def _count(self, of_rows: Integers) -> Integers:
        """Sum numbers of rows within each group; rows of two groups are in none."""
        inside: Any = slice(None)
        if self._other_group is not None:
            inside = self.subject_group == self._other_group
        n_groups = len(self.groups)
        code = self.subject_group[inside]
        if not n_groups:
            return np.zeros(0, np.int64)
        return np.bincount(code, of_rows[inside], n_groups).astype(np.int64)

    @cached_property
    def kinds(self) -> SubjectKinds:
        """Subjects with the same failures and attempts, counted together."""
        if not self.are_clusters:
            why = (
                "totals are of people who are not known"
                if self.totals
                else f"the comparisons of an {self.rate_name.upper()} share people on both sides"
            )
            raise InputError(
                f"{why}, so these counts are no attempts of one person each: evaluate, check and"
                " claim take them"
            )
        return kinds_of_groups(self.failures, self.attempts, self.subject_group, len(self.groups))

    @cached_property
    def sums(self) -> Integers:
        """(5, g) sums over the subjects of each group, in the rows of `kernels.clusters`."""
        return sum_kinds(self.kinds)

    @cached_property
    def n_subjects(self) -> Integers:
        """(g,) number of subjects of each group."""
        before = np.append(0, np.cumsum(self.kinds.subjects))
        return np.diff(before[self.kinds.end], prepend=0)

    @property
    def n_attempts(self) -> Integers:
        """(g,) number of attempts of each group."""
        return self.sums[0] if self.are_clusters else self._count(self.attempts)

    @property
    def n_failures(self) -> Integers:
        """(g,) number of failed attempts of each group."""
        return self.sums[1] if self.are_clusters else self._count(self.failures)

    @property
    def rate(self) -> float:
        """All failures divided by all attempts; NaN without attempts."""
        with np.errstate(invalid="ignore"):
            return float(np.divide(self.failures.sum(), self.attempts.sum()))

    @cached_property
    def group_rate(self) -> Floats:
        """(g,) failures divided by attempts of each group; NaN without attempts."""
        with np.errstate(invalid="ignore"):
            return np.asarray(self.n_failures / self.n_attempts)

    @cached_property
    def icc(self) -> Floats:
        """(g,) intra-class correlation of a subject's attempts; 0 where it is not defined."""
        pairs = self.sums[4] - self.n_attempts
        spread = self.group_rate * (1 - self.group_rate)
        with np.errstate(invalid="ignore", divide="ignore"):
            correlation = (squared_deviations(self.sums) - self.n_attempts * spread) / (
                spread * pairs
            )
        return np.where((pairs > 0) & (spread > 0), correlation, 0.0)

    @cached_property
    def design_effect(self) -> Floats:
        """(g,) variance of the rate divided by that of as many independent attempts."""
        if self._in_sessions is None:
            return design_effect(self.sums)
        spread = self.group_rate * (1 - self.group_rate)
        independent = share_of(spread, self.n_attempts)
        return np.where(spread > 0, share_of(self.standard_error**2, independent), 1.0)

    @cached_property
    def standard_error(self) -> Floats:
        """(g,) standard error of the rate, if subjects, and sessions, are independent."""
        if self._in_sessions is not None:
            return self._in_sessions.standard_error
        with np.errstate(invalid="ignore"):
            return np.sqrt(squared_deviations(self.sums)) / self.n_attempts

    @checked
    def confidence_interval(self, confidence_level: Probability = 0.95) -> tuple[Floats, Floats]:
        """Compute a confidence interval of each group's rate from its variance, with attempts
        clustered by subject.

        Parameters
        ----------
        confidence_level : float, default 0.95
            In (0, 1).

        Returns
        -------
        low, high : (g,) ndarray
            The interval that `evaluate` gives the rate in closed form: Student's t on the scale of
            log odds, with the number of subjects minus 1 as degrees of freedom; the upper limit is
            at least that with one more subject of typical weight, half of whose attempts fail, and
            the lower limit at most Clopper and Pearson's, as is the upper limit of a rate above a
            half at least. Where no attempt, or every attempt, failed: Clopper and Pearson's interval for as many
            independent attempts as the group's tell with the intra-class correlation of all groups
            together; for one attempt of each subject where fewer than five subjects of all groups
            tell it. NaN for fewer than two subjects, or four sessions.

        Examples
        --------
        >>> import fastfair as ff
        >>> counts = ff.FailureCounts([0, 2, 1, 0], [4, 4, 4, 3], group=["f", "f", "m", "m"])
        >>> low, high = counts.confidence_interval(0.5)
        >>> bool(((low < counts.group_rate) & (counts.group_rate < high)).all())
        True
        """
        low, high = self.evidence.interval(confidence_level)
        has_interval = self.n_subjects > 1
        if self._in_sessions is not None:
            has_interval &= self._in_sessions.n_sessions >= FEWEST_SESSIONS
        return np.where(has_interval, low, np.nan), np.where(has_interval, high, np.nan)

    @cached_property
    def session_correlation(self) -> float:
        """The correlation of attempts of different people in a session, of all groups together, in
        [0, 1].

        With residuals e - rate m of what a person does in a session, it is their sum of squares by
        session, minus that by person in a session, over what it is where all attempts are alike.
        """
        if self._by_session is None:
            raise InputError("these counts have no sessions: give ⟦session=⟧")
        rates = self.group_rate if self.groups else np.array([self.rate])
        return self._by_session.correlation(self.subject_group, rates)

    @cached_property
    def evidence(self) -> RateEvidence:
        """What limits of the groups' rates are computed from, (g,)."""
        m, e, ee, em, mm = self.sums
        sums = AttemptSums(m, e, mm, em, ee)
        of_all = AttemptSums(*(part.sum() for part in sums))
        few = np.minimum(e, m - e) < ENOUGH_PAIRS
        independent = (
            m / common_design_effect(self.sums)[1] if self._tells_correlation else self.n_subjects
        )
        freedom = np.maximum(self.n_subjects - 1, 1)
        raised = raised_rate(self.group_rate, np.maximum(m, 1), typical_subject(sums, of_all))
        if self._in_sessions is not None:
            raised = raised_by_both(raised, np.nan_to_num(self._in_sessions.raised))
            independent = np.fmin(independent, self._in_sessions.effective)
            freedom = np.fmin(freedom, self._in_sessions.freedom)
        return RateEvidence(
            self.group_rate,
            self.standard_error,
            freedom,
            np.where(few, independent, np.nan),
            raised,
        )

    @property
    def _n_sessions(self) -> Floats | None:
        """(g,) numbers of sessions of the groups; None without any, NaN for groups without
        attempts.
        """
        return None if self._in_sessions is None else self._in_sessions.n_sessions

    @cached_property
    def _in_sessions(self) -> RatesInSessions | None:
        """What sessions say of the groups' rates; None without any."""
        if self.sessions is None:
            return None
        return RatesInSessions.of(self.decisions, self.groups)

    @cached_property
    def _tells_correlation(self) -> bool:
        """Whether attempts of enough subjects failed, in some group not all, to estimate how they
        are correlated.
        """
        some = (self.n_failures > 0) & (self.n_failures < self.n_attempts)
        return bool(some.any() and np.count_nonzero(self.failures) >= ENOUGH_PAIRS)

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
        pairs = self.sums[4] - self.n_attempts
        failures = self.n_failures
        attempt = self.attempt
        alone = f"no subject has two {attempt}s, so that their correlation is not known; 0 is used."
        how = "with the correlation of all groups together"
        if not self._tells_correlation:
            how = f"as if a subject had one {attempt}, as the correlation is not known"
        ends = f"failed; the interval is Clopper and Pearson's, {how}."
        said = []
        if self.groups_share_people:
            said.append(
                "Some people are in several groups, and each counts them as its own, although groups"
                " are taken to share none."
            )
        if self._of_totals:
            said.append(
                f"People are not given: each {attempt} is taken for that of another person, which"
                " makes p-values and margins too small where some people have several."
            )
        if self._in_sessions is not None:
            said += remarks_on_few(self.groups, self._in_sessions.n_sessions)
        for without, what in (
            ((pairs == 0) & (self.rate_name != "fte" and not self._of_totals), alone),
            (failures == 0, f"no {attempt} {ends}"),
            (failures == self.n_attempts, f"all {attempt}s {ends}"),
        ):
            if without.any():
                named = ", ".join(
                    group for group, is_so in zip(self.groups, without, strict=True) if is_so
                )
                said.append(f"{visible(named)}: {what}")
        return said

    @checked
    def without(self, groups: Sequence[str]) -> Self:
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
        if self._other_group is not None:
            inside &= np.isin(self._other_group, kept)
        others: dict[str, Any] = {}
        if self.people is not None:
            others["people"] = tuple(read_only(side[inside]) for side in self.people)
        if self._other_group is not None:
            codes = position[self._other_group[inside]]
            others["_other_group"] = read_only(codes.astype(np.uint16))
        if self._by_session is not None:
            others |= {"sessions": self.sessions, "_by_session": self._by_session.take(inside)}
        if self._person is not None:
            others["_person"] = self._person[inside]
        others["_of_totals"] = self._of_totals
        return self._of(
            self.failures[inside],
            self.attempts[inside],
            position[self.subject_group[inside]],
            tuple(self.groups[k] for k in kept),
            self.grouping,
            self.rate_name,
            self.left_out,
            totals=self.totals,
            **others,
        )

    def _single_attempts(self) -> FailureCounts:
        """Return totals as attempts of a subject each; other counts as they are."""
        if not self.totals:
            return self
        n = self.attempts
        failures = np.repeat(
            np.tile([1, 0], n.size), np.stack([self.failures, n - self.failures], 1).ravel()
        )
        code = np.repeat(self.subject_group, n)
        return self._of(
            failures.astype(np.int64),
            np.ones(failures.size, np.int64),
            code,
            self.groups,
            self.grouping,
            self.rate_name,
            self.left_out,
            _of_totals=True,
        )

    @property
    def n_people(self) -> int | None:
        """The number of subjects; None where they are not known."""
        if self.totals:
            return None
        if self._person is not None:
            return np.unique(self._person).size
        return self.failures.size if self.people is None else np.unique(self.people).size

    @cached_property
    def decisions(self) -> Comparisons:
        """The attempts as comparisons that are accepted or rejected, with scores of 1 and 0.

        Attempts of one person are comparisons with himself, and mated; those of an FMR or FAR are
        non-mated.
        """
        by_session = self._by_session
        of_row: AnyIntegers = np.arange(self.attempts.size)
        failures, attempts = self.failures, self.attempts
        if by_session is not None:
            of_row, failures, attempts = by_session.row, by_session.failures, by_session.attempts
        n = int(attempts.sum())
        if n > _MOST_DECISIONS:
            raise InputError(
                f"{n:,} {self.attempt}s are more than the {_MOST_DECISIONS:,} that can be judged at"
                " once: give some of them, such as those of fewer people"
            )
        counted = np.repeat(np.arange(attempts.size), attempts)
        number = np.arange(n) - np.repeat(np.cumsum(attempts) - attempts, attempts)
        is_error = number < failures[counted]
        row = of_row[counted]
        is_mated = self.rate_name not in OF_TWO_PEOPLE
        people: tuple[AnyArray | None, AnyArray | None] = (None, None)
        if self.people is not None:
            people = self.people[0][row], self.people[1][row]
        elif not self.totals:
            people = (row if self._person is None else self._person[row],) * 2
        made = Comparisons(
            (is_error != is_mated).astype(np.float32),
            np.full(row.size, is_mated),
            *people,
            *self._labels_of(row),
            session=self._sessions_of(counted),
        )
        made.is_independent = self.totals
        return made

    def _sessions_of(self, counted: Integers) -> Coded | tuple[Coded, Coded] | None:
        """Return the sessions of decisions, which are of rows of counts in sessions."""
        by_session = self._by_session
        if by_session is None or self.sessions is None:
            return None
        reference, probe = (Coded(self.sessions, codes[counted]) for codes in by_session.sessions)
        return reference if by_session.is_of_one_column else (reference, probe)

    def _labels_of(
        self, row: AnyIntegers
    ) -> tuple[dict[str, Labels] | None, dict[str, Labels] | None]:
        """Return the groups of rows as labels of references and of probes; None without groups."""
        if not self.groups:
            return None, None
        names = np.array(self.groups, object)
        name = " & ".join(self.grouping)
        other = self.subject_group if self._other_group is None else self._other_group
        return {name: names[self.subject_group][row]}, {name: names[other][row]}

    def _shown(self) -> Sequence[str]:
        return [repr(self)]

    def _shown_tables(self) -> Sequence[tuple[str, Sequence[str], Sequence[Sequence[str]]]]:
        if not self.groups:
            return []
        columns = {"attempts": self.n_attempts, "failures": self.n_failures}
        ends: Sequence[Floats] = ()
        title = self.rate_name.upper()
        if self.are_clusters:
            columns = {"subjects": self.n_subjects} | columns
            ends = self.confidence_interval()
            title += ", 95 % interval"
        counts = zip(*(column.tolist() for column in columns.values()), strict=True)
        rates = zip(self.group_rate.tolist(), *(end.tolist() for end in ends), strict=True)
        rows = zip(self.groups, counts, rates, strict=True)
        return [
            (
                "",
                ["group", *columns, title],
                [[group, *map(cell, n), rate_with_interval(*rate)] for group, n, rate in rows],
            )
        ]

    def __repr__(self) -> str:
        failure = "false match" if self.rate_name in OF_TWO_PEOPLE else "failure"
        parts = (
            (self.n_people, "subject"),
            (int(self.attempts.sum()), self.attempt),
            (int(self.failures.sum()), failure),
            (None if self.sessions is None else self.sessions.size, "session"),
            (len(self.groups) or None, "group"),
        )
        named = ", ".join(_numbered(n, what) for n, what in parts if n is not None)
        return f"{type(self).__name__}({named})"


def _numbered(n: int, what: str) -> str:
    return f"{n} {what}{'' if n == 1 else 'es' if what.endswith('ch') else 's'}"


_Found = TypeVar("_Found")


def compute_on_kept_pairs(
    data: Comparisons | ScannedComparisons | Embeddings,
    at: OperatingPoint,
    compute: Callable[[Comparisons | ScannedComparisons], _Found],
    n_threads: int | None,
) -> _Found:
    """Compute on comparisons, or on as many pairs of vectors as are needed."""
    if not isinstance(data, Embeddings):
        return compute(data)
    if not data.groups:
        raise InputError("the embeddings have no groups to compare: give group")
    return with_enough_pairs(
        [data], [at], False, lambda scans: compute(scans[0]), Workers(n_threads)
    )


_OF_TWO = "some mated comparisons are of two subjects and cannot be attempts of one: leave them out"


def _count_rejected(
    comparisons: Comparisons, at: OperatingPoint
) -> tuple[Integers, Integers, AnyArray, CountsOfSessions | None]:
    """Return (subjects,) failures, attempts and group of those who have attempts, and the counts
    of sessions; see `from_comparisons`.
    """
    if isinstance(comparisons, KeptComparisons):
        return *_count_rejected_of_scan(comparisons, at), None
    comparisons._require_rates("a count of false non-matches", ["fnmr"])
    comparisons.require_groups()
    if comparisons.subjects is None:
        raise InputError(
            "the comparisons have no subjects, so attempts cannot be counted: give reference and"
            " probe"
        )
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
        leave_out(inside, "mated comparisons", "between groups", "as they are between two groups")
    there = np.flatnonzero(attempts)
    by_session = None
    sessions = sessions_of(side)
    if sessions is not None:
        reference, probe = sessions
        of_reference = reference[inside]
        by_session = CountsOfSessions.of(
            np.searchsorted(there, unit[inside]),
            (of_reference, of_reference if probe is reference else probe[inside]),
            rejected[inside],
            np.ones(of_reference.size, np.int64),
        )
    in_several = there.size - np.unique(there // n_groups).size
    if in_several:
        warn(
            "some subjects have mated comparisons in more than one group, and each group counts"
            " them as its own subjects; but the tests assume that groups share no subjects",
            DependentGroupsWarning,
        )
    return failures[there], attempts[there], there % n_groups, by_session


def _count_rejected_of_scan(
    kept: KeptComparisons, at: OperatingPoint
) -> tuple[Integers, Integers, AnyArray]:
    """Do the same for a scan, whose subjects have one group each, with the comparisons that it has
    not kept.
    """
    kept.require_groups()
    assert kept.group_of_subject is not None
    assert kept.mated.reference is not None
    pairs = kept.pairs[0]
    numbers = kept.numbers

    def count(read: Reader) -> tuple[Integers, bool]:
        reference, probe, _ = read()
        return np.bincount(reference, minlength=numbers.size), np.array_equal(reference, probe)

    if isinstance(pairs, PairsOfVectors):
        attempts = pairs.of_subjects()
    else:
        counted = list(run_in_order(count, *pairs.buckets(count_threads(None))))
        if not all(alike for _, alike in counted):
            raise InputError(_OF_TWO)
        attempts = np.asarray(np.sum([counts for counts, _ in counted], axis=0), np.int64)[numbers]
    rejected = kept.mated.keys < threshold_key(kept, at)
    failures = np.bincount(kept.mated.reference[rejected], minlength=attempts.size)
    there = np.flatnonzero(attempts)
    return failures[there], attempts[there], kept.group_of_subject[there]


AT_ONCE = 512  # replicates drawn in one call of the kernel


def draw_groups(
    kinds: SubjectKinds,
    n_subjects: Integers,
    purpose: Purpose,
    n: int,
    key: RandomKey,
    use: Callable[[slice, Integers], None],
    n_threads: int | None = 1,
    progress: Report | None = None,
) -> None:
    """Draw replicates, `AT_ONCE` at a time, and pass on the sums over the subjects drawn in each
    group.

    purpose tells kinds of draws apart in the random stream; use is called, in several threads, with
    the positions of some replicates and their (5, replicates, g) sums, in the order that
    `kernels.clusters` names.
    """
    from fastfair.kernels import clusters

    drawn_from = clusters.Kinds(
        kinds.failures, kinds.attempts, kinds.subjects.astype(np.float64), kinds.end
    )

    def block(first: int) -> None:
        stretch = slice(first, min(first + AT_ONCE, n))
        sums = np.empty((5, stretch.stop - first, n_subjects.size), np.int64)
        scratch = clusters.new_scratch(drawn_from.share.size)
        clusters.draw_sums(drawn_from, n_subjects, purpose.value, first, key, scratch, sums)
        use(stretch, sums)

    run_blocks(block, range(0, n, AT_ONCE), n, AT_ONCE, n_threads, progress)
