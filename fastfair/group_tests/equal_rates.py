"""`fnmr_test`, `fmr_test`, `margin_of_error`: do the error rates of groups differ by more than
chance?
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from fastfair._lib import memory, seeds
from fastfair._lib.arguments import Probability, SomeResamples, checked
from fastfair._lib.arrays import AnyArray, Flags, Floats, Integers, RandomKey
from fastfair._lib.plots import STANDS_OUT, USUAL, Bar, Line, draw_rows
from fastfair._lib.text import p_in_words, per_cent
from fastfair._lib.warnings import warn
from fastfair._lib.workers import Report, Workers, reporting
from fastfair.data.comparisons import Comparisons
from fastfair.data.embeddings import Embeddings
from fastfair.data.scans import ScannedComparisons
from fastfair.data.sessions import refuse_sessions
from fastfair.error_rates.operating_points import OperatingPoint, read_point, threshold_key
from fastfair.error_rates.rates import rates_at_key
from fastfair.error_rates.scans_of_vectors import in_memory
from fastfair.errors import (
    DependentGroupsWarning,
    DroppedWarning,
    FewResamplesWarning,
    InputError,
    NarrowIntervalsWarning,
    NotComputableWarning,
)
from fastfair.evaluation.failure_counts import (
    ATTEMPTS,
    OF_SPECIES,
    RATE_TITLES,
    FailureCounts,
    SubjectKinds,
    beta_binomial_pmf,
    common_design_effect,
    compute_on_kept_pairs,
    design_effect,
    draw_groups,
)
from fastfair.resampling.dependence import pooled
from fastfair.resampling.units import require_units
from fastfair.results.result import Printed, Result, printed
from fastfair.results.written import UNWRITTEN, empty_floats
from fastfair.uncertainty.notes import ENOUGH_SESSIONS, FEWEST_SESSIONS, Code, Flag, Note
from fastfair.uncertainty.quantities import find
from fastfair.uncertainty.sessions import remarks_on_few

from .frailty import Roots, common_rate, count_false_matches, draw_roots, pvalue
from .sessions import reason_of_counts, reason_of_sessions

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_NEGLIGIBLE = 1e-9  # expected subjects of a kind
IncompleteGroups = Literal["drop", "raise"]
_ENOUGH_FAILURES = 5  # independent ones
_MUCH_SMALLER = 0.25  # times the largest group
_FEW_SUBJECTS = 10  # of a group, with which tests err somewhat more often than they should


def counts_to_test(
    data: Comparisons | ScannedComparisons | Embeddings | FailureCounts,
    at: OperatingPoint | None,
    policy: str,
    n_threads: int | None,
) -> tuple[FailureCounts, Flags, FailureCounts]:
    """Return the failure counts of all groups, which groups have enough subjects, (g,), and the
    counts of these.
    """
    if isinstance(data, FailureCounts):
        if at is not None:
            raise InputError(
                f"⟦at={at}⟧ is for scores, but FailureCounts hold decisions: leave it out"
            )
        counts = data._single_attempts()
        if counts.groups_share_people:
            warn(
                "some people are in several groups, and each counts them as its own; but the tests"
                " assume that groups share no people",
                DependentGroupsWarning,
            )
    elif at is None:
        raise InputError(
            '⟦at⟧ is missing: say where failures are counted, as with ⟦at="fmr=0.001"⟧'
        )
    else:
        counts = FailureCounts.from_comparisons(data, at, n_threads=n_threads)
    tested = require_subjects(
        counts.groups, counts.n_subjects, "fnmr", f"{counts.attempt}s", policy
    )
    return counts, tested, counts.without([counts.groups[k] for k in np.flatnonzero(~tested)])


def least_subjects(rate_name: str) -> int:
    """Return the number of subjects that a group needs so that a variance of its rate can be
    estimated.
    """
    return 3 if rate_name == "fmr" else 2


def require_subjects(
    groups: Sequence[str], n_subjects: Integers, rate_name: str, trials: str, policy: str
) -> Flags:
    """Return which groups have enough subjects, (g,), and name the others; at least two must
    have.
    """
    least = least_subjects(rate_name)
    enough = n_subjects >= least
    kept = [group for group, is_enough in zip(groups, enough, strict=True) if is_enough]
    few = ", ".join(
        f"{group!r} ({n})" for group, n in zip(groups, n_subjects, strict=True) if n < least
    )
    if few and policy == "raise":
        n_few = len(groups) - len(kept)
        raise InputError(
            f"{n_few} of {len(groups)} groups {'has' if n_few == 1 else 'have'} {trials} of fewer"
            f" than {least} subjects, too few to estimate how much they vary: {few}. Merge groups, or test the"
            ' others: ⟦incomplete_groups="drop"⟧'
        )
    if len(kept) < 2:
        raise InputError(
            "a test compares at least 2 groups, but there is"
            f" {'only ' + repr(kept[0]) if kept else 'none'}"
            + (
                f" with enough subjects, at least {least}; too few have {few}: merge groups"
                if few
                else ""
            )
        )
    if few:
        warn(f"left out of the test, as they have too few subjects: {few}", DroppedWarning)
    return enough


def warn_of_small_groups(counts: FailureCounts) -> None:
    """Warn of groups that are much smaller than others and have few failures.

    Such a group may by chance have no failures, and then does not vary in replicates. In
    simulations, one group of 20 subjects among groups of 200 makes margins err in 6 to 17 % of
    studies, not in 5 %.
    """
    effect = max(1.0, float(design_effect(counts.sums.sum(axis=1))))
    expected = counts.rate * counts.n_attempts / effect
    small = (expected < _ENOUGH_FAILURES) & (
        counts.n_attempts < _MUCH_SMALLER * counts.n_attempts.max()
    )
    if small.any() and 0 < counts.rate < 1:
        named = ", ".join(
            repr(group) for group, is_small in zip(counts.groups, small, strict=True) if is_small
        )
        warn(
            f"groups much smaller than others, in which few failures are expected: {named}. If by"
            " chance none failed, replicates do not vary. Merge such groups, or use fnmr_test,"
            " whose replicates vary in every group",
            NarrowIntervalsWarning,
        )


def warn_of_few_subjects(groups: Sequence[str], n_subjects: Integers) -> None:
    """Warn of groups of so few subjects that how their false matches share them is hardly known.

    In simulations of groups of 5, 10, 20 and 40 subjects, `fmr_test` finds differences in 8 % of
    fair systems, not in 5 %, and in at most 7 % where all groups have more.
    """
    named = ", ".join(
        repr(group)
        for group, n in zip(groups, n_subjects.tolist(), strict=True)
        if n <= _FEW_SUBJECTS
    )
    if named:
        warn(
            f"groups of {_FEW_SUBJECTS} subjects or fewer: {named}. The test then errs in somewhat"
            " more than the level asked, 8 % in place of 5 % in simulations. Merge such groups",
            NarrowIntervalsWarning,
        )


Statistic = Literal["f", "max-difference", "max-ratio"]
NullModel = Literal["beta-binomial", "bootstrap"]
_WITHOUT_CLUSTERING = ("max-difference", "max-ratio")  # are not divided by how errors cluster
_OF_FALSE_MATCHES = "non-mated comparisons"  # are the trials
_EQUAL = 1e-12  # by which rates that are equal may differ


@dataclass(frozen=True, eq=False)
class GroupRates:
    """Rates of groups in the data, with (...,) = (), or in replicates, with (...,) = (r,).

    Attributes
    ----------
    rate : (..., g) ndarray
        The rate of each group.
    size : (..., g) ndarray
        Number of trials of each group, by which groups are weighted.
    effect : (..., g) ndarray
        Design effects: variances of the rates divided by those of as many independent trials.
    """

    rate: Floats
    size: AnyArray
    effect: Floats

    @property
    def overall(self) -> Floats:
        """(...) mean of the rates, weighted by size."""
        return np.asarray((self.size * self.rate).sum(axis=-1) / self.size.sum(axis=-1))

    def difference_from_rest(self) -> Floats:
        """(..., g) each rate minus that of all other groups together."""
        errors = self.size * self.rate
        rest = self.size.sum(axis=-1, keepdims=True) - self.size
        return np.asarray(self.rate - (errors.sum(axis=-1, keepdims=True) - errors) / rest)

    def shifted(self, data: GroupRates) -> GroupRates:
        """Shift the rates of replicates as if all groups had the overall rate of the data."""
        return GroupRates(self.rate - data.rate + data.overall, self.size, self.effect)

    def statistic(self, name: str, size: AnyArray) -> Floats:
        """Measure how much the rates differ, by a statistic of `fnmr_test`.

        size: (g,) numbers of trials in the data, by which "f" weights groups. It is infinite where
        rates that are not all equal do not vary within groups, or where a ratio lacks positive
        rates.
        """
        center = self.overall[..., None]
        if name == "max-difference":
            return np.asarray(np.abs(self.rate - center).max(axis=-1))
        are_equal = np.ptp(self.rate, axis=-1) <= _EQUAL
        with np.errstate(divide="ignore", invalid="ignore"):
            if name == "max-ratio":
                ratio = np.maximum(self.rate / center, center / self.rate).max(axis=-1)
                return np.where(
                    are_equal, 1.0, np.where((self.rate > _EQUAL).all(axis=-1), ratio, np.inf)
                )
            between = (size * (self.rate - center) ** 2).sum(axis=-1) / (size.size - 1)
            within = (size * self.rate * (1 - self.rate) * self.effect).sum(axis=-1) / (
                size.sum() - size.size
            )
            return np.where(are_equal, 0.0, np.where(within > _EQUAL, between / within, np.inf))


def of_counts(counts: FailureCounts) -> GroupRates:
    """Return the rates of the data."""
    return of_sums(counts.sums)


def of_sums(sums: Integers) -> GroupRates:
    """Return the rates of (5, ..., g) sums over the subjects of each group, in the rows of
    `kernels.clusters`.
    """
    return GroupRates(sums[1] / sums[0], sums[0], design_effect(sums))


def replicate(
    counts: FailureCounts,
    n_resamples: int,
    key: RandomKey,
    n_threads: int | None = None,
    progress: bool | Report = False,
) -> GroupRates:
    """Draw the subjects of each group with replacement: rates as (n_resamples, g) arrays, not
    shifted.
    """
    purpose = seeds.Purpose.SUBJECTS_OF_GROUP_TESTS
    return of_sums(_draw(counts, counts.kinds, purpose, n_resamples, key, n_threads, progress))


def _draw(
    counts: FailureCounts,
    kinds: SubjectKinds,
    purpose: seeds.Purpose,
    n_resamples: int,
    key: RandomKey,
    n_threads: int | None,
    progress: bool | Report,
) -> Integers:
    """Draw subjects of the given kinds, as many as each group has: (5, n_resamples, g) sums over
    them.
    """
    n_groups = len(counts.groups)
    drawn_are = f"{n_resamples:,} replicates"
    memory.require(
        80 * n_resamples * n_groups,  # five numbers of each, and what is made of them
        f"{drawn_are} of {n_groups:,} groups",
        "use fewer resamples",
    )
    drawn = np.empty((5, n_resamples, n_groups), np.int64)

    def use(at: slice, sums: Integers) -> None:
        drawn[:, at] = sums

    with reporting(progress, drawn_are) as report:
        draw_groups(kinds, counts.n_subjects, purpose, n_resamples, key, use, n_threads, report)
    return drawn


def inflation_of(sums: Integers) -> tuple[Floats, Floats]:
    """Estimate one intra-class correlation of all groups, and how much more failures vary than
    Poisson numbers.

    Parameters
    ----------
    sums : (5, ..., g) ndarray of int64
        As `kernels.clusters` names them.

    Returns
    -------
    correlation : (...) ndarray
        In [0, 1].
    inflation : (..., g) ndarray
        (1 - p) (1 + (m0 - 1) correlation), with the rate p of all groups and sum m^2 / sum m = m0.
    """
    m, e = sums[:2].astype(np.float64)
    correlation, effect = common_design_effect(sums)
    return correlation, np.maximum(1 - pooled(e, m)[..., None], 1e-3) * effect


def draw_equal_failures(
    counts: FailureCounts,
    n_resamples: int,
    key: RandomKey,
    n_threads: int | None = None,
    progress: bool | Report = False,
) -> Integers:
    """Draw failures of groups with one rate and one correlation, beta-binomial for each subject.

    Subjects are drawn with the attempts of their group's. Every group has subjects, and some
    attempts failed, not all. Returns (5, n_resamples, g) sums over the subjects of each group, as
    `kernels.clusters` names them.
    """
    correlation, inflation = inflation_of(counts.sums)
    rate = float(common_rate(counts.sums[1], counts.sums[0].astype(np.float64), inflation)[0])
    parts, end = [], []
    for g in range(len(counts.groups)):
        attempts, n = np.unique(counts.attempts[counts.subject_group == g], return_counts=True)
        for m, subjects in zip(attempts.tolist(), n.tolist(), strict=True):
            expected = subjects * beta_binomial_pmf(m, rate, float(correlation))
            kept = np.flatnonzero(expected > _NEGLIGIBLE)
            parts.append((kept, np.full(kept.size, m), expected[kept]))
        end.append(sum(kept.size for kept, _, _ in parts))
    failures, of_attempts, share = map(np.concatenate, zip(*parts, strict=True))
    kinds = SubjectKinds(failures, of_attempts, share, np.array(end))
    purpose = seeds.Purpose.SUBJECTS_OF_FAILURE_TESTS
    return _draw(counts, kinds, purpose, n_resamples, key, n_threads, progress)


def roots_of_failures(counts: FailureCounts, drawn: Integers) -> Roots:
    """Return the roots of failures, and those of replicates of `draw_equal_failures`, each with
    estimates anew.
    """
    sums = counts.sums
    return Roots(
        sums[1],
        inflation_of(sums)[1],
        drawn[1],
        inflation_of(drawn)[1],
        sums[0].astype(np.float64),
        drawn[0].astype(np.float64),
    )


_BELOW = (
    "Adjusted p-values below p are of tests of several groups at once, which decide; p is of the group"
    " alone."
)
_NAMES = {
    "deviance": "deviance",
    "f": "F",
    "max-difference": "largest difference",
    "max-ratio": "largest ratio",
}


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class GroupTest(Result):
    """The result of `fnmr_test` or of `fmr_test`.

    Attributes
    ----------
    statistic : float
        The statistic in the data; larger where groups differ more.
    pvalue : float
        Share of the replicates, drawn as if all groups had the same rate, with a statistic at least
        as large.
    statistic_name : str
        "deviance", "f", "max-difference" or "max-ratio".
    rate_name : str
        What rate it is: "fnmr", "fmr", "fta" or "fte".
    groups : tuple of str
        The groups, sorted.
    is_tested : (g,) ndarray of bool
        Which groups have enough subjects to be tested. The others are left out of the statistic,
        the p-values and `rate`, and `note` says why.
    rate : float
        Errors divided by trials of all tested groups together.
    group_rate : (g,) ndarray
        Error rate of each group.
    n_subjects, n_trials, n_errors : (g,) ndarray of int64
        Numbers of subjects, trials and errors of each group.
    standard_error : (g,) ndarray
        Standard error of each group's rate.
    low, high : (g,) ndarray
        Interval of each group's rate at the threshold, which is held fixed: that of `evaluate` in
        closed form, or of `FailureCounts.confidence_interval`.
    simultaneous_low, simultaneous_high : (g,) ndarray
        The same at the level confidence_level ** (1 / g), at which all intervals hold together
        (Šidák).
    difference : (g,) ndarray
        Each group's rate minus that of all other groups together; NaN where it was not tested.
    group_pvalue : (g,) ndarray
        p-value of each group on its own; NaN where groups were not tested.
    group_pvalue_adjusted : (g,) ndarray
        The same p-values adjusted for being several by tests of several groups at once, which
        limits the probability of any false finding. Groups that are not named share that of the
        step at which these tests end, so that it may be below `group_pvalue`.
    replicates : (r,) ndarray
        The statistic in every replicate.
    note : tuple of str
        Of each group, why it was not tested; else empty.
    threshold : float or None
        The threshold at which FMRs were computed.
    icc, design_effect : (g,) ndarray or None
        Of failures, as in `FailureCounts`.
    n_sessions : (g,) ndarray of int64, or None
        Numbers of sessions that the trials of each group are of; None where there are no sessions.
    flags : tuple of str
        Of each group, "narrow" where its sessions are fewer than ten and its interval is likely too
        narrow; else empty.
    remarks : tuple of str
        What there is to know about the failure counts, and of few sessions.
    counts : FailureCounts or None
        The failure counts that were tested; None for FMRs, and in what was read from a file.
    confidence_level : float
        Confidence level of the intervals; a group differs detectably if `group_pvalue_adjusted` is
        below `level`.
    settings : dict
        The arguments of the call, and the seed.
    """

    statistic: float
    pvalue: float
    statistic_name: str
    rate_name: str
    groups: tuple[str, ...]
    is_tested: Flags
    rate: float
    group_rate: Floats
    n_subjects: Integers
    n_trials: Integers
    n_errors: Integers
    standard_error: Floats
    low: Floats
    high: Floats
    simultaneous_low: Floats
    simultaneous_high: Floats
    difference: Floats
    group_pvalue: Floats
    group_pvalue_adjusted: Floats
    confidence_level: float
    settings: dict[str, Any]
    threshold: float | None = None
    icc: Floats | None = None
    design_effect: Floats | None = None
    n_sessions: Integers | None = None
    remarks: tuple[str, ...] = ()
    counts: FailureCounts | None = field(default=None, repr=False, metadata=UNWRITTEN)
    replicates: Floats = field(default_factory=empty_floats, repr=False, metadata=UNWRITTEN)

    _derived = ("different", "note", "flags")
    _per_group = (
        "n_subjects n_trials n_errors group_rate low high simultaneous_low simultaneous_high "
        "standard_error difference group_pvalue group_pvalue_adjusted"
    )

    @property
    def trials(self) -> str:
        """What may be errors: "comparisons" or "attempts"."""
        return "comparisons" if self.rate_name == "fmr" else "attempts"

    @property
    def level(self) -> float:
        """The significance level, 1 - confidence_level."""
        return significance_level(self.confidence_level)

    @property
    def note(self) -> tuple[str, ...]:
        """Why groups were not tested."""
        return notes_of_untested(self.is_tested, self.rate_name)

    @property
    def flags(self) -> tuple[str, ...]:
        """What verdicts on each group's interval depend on."""
        if self.n_sessions is None:
            return ("",) * len(self.groups)
        few = (self.n_sessions >= FEWEST_SESSIONS) & (self.n_sessions < ENOUGH_SESSIONS)
        return tuple(Flag.NARROW.value if is_few else "" for is_few in few.tolist())

    @cached_property
    def different(self) -> tuple[str, ...]:
        """Groups whose rate differs detectably from that of the others.

        Of FNMRs, each group is compared with all others, and one that differs much changes the rate
        of all others: if there are few groups, these may be named as well, so look at the largest
        differences first. Of FMRs, a group is named if it cannot be one of the groups, more than
        half of all, that do not differ detectably among themselves.
        """
        is_rejected = self.group_pvalue_adjusted < self.level
        return tuple(
            group
            for group, is_different in zip(self.groups, is_rejected, strict=True)
            if is_different
        )

    _table_name = "tests"

    def _tables(self) -> list[Printed]:
        names = (
            f"group n_subjects n_{self.trials} n_errors {self.rate_name} group_pvalue"
            " group_pvalue_adjusted note"
        )
        _, headings, rows = printed(self._columns(), names.split(), of=self.rate_name)
        grouping = " & ".join(self.settings.get("grouping", ()))
        at = self.settings["at"]
        title = (
            f"{self.rate_name.upper()}{f' by {grouping}' if grouping else ''}"
            f"{'' if at is None else f' at {at}'}, with {100 * self.confidence_level:g} %"
            f" intervals{self._fixed}"
        )
        is_below = (self.group_pvalue_adjusted < self.group_pvalue).any()
        notes: list[Printed] = [(_BELOW, [], [])] if is_below else []
        return [(title, headings, rows), *notes]

    def _columns(self) -> dict[str, list[Any]]:
        called = {"n_trials": f"n_{self.trials}", "group_rate": self.rate_name}
        columns = {called.get(name, name): values for name, values in super()._columns().items()}
        some = {"icc": self.icc, "design_effect": self.design_effect, "n_sessions": self.n_sessions}
        more = {name: values.tolist() for name, values in some.items() if values is not None}
        flags = {} if self.n_sessions is None else {"flags": list(self.flags)}
        return {**columns, **more, **flags, "note": list(self.note)}

    @property
    def _fixed(self) -> str:
        """What is to be said where an operating point was to be found, and the test takes its
        threshold as given.
        """
        at = self.settings["at"]
        return "" if at is None or read_point(at).is_given else ", with the threshold held fixed"

    def _question(self) -> str:
        return f"Do {RATE_TITLES[self.rate_name].lower()}s differ between groups{self._fixed}?"

    @property
    def answer(self) -> str:
        """One sentence on whether rates of groups differ."""
        rates = f"{self.rate_name.upper()}s"
        level = f"at the {100 * self.level:g} % level ({p_in_words(self.pvalue)})"
        if np.isnan(self.pvalue):
            return (
                f"The test cannot say whether the {rates} of {self.is_tested.sum()} groups differ:"
                " see the warnings."
            )
        if self.pvalue < self.level:
            return f"{rates} of groups differ by more than chance explains {level}."
        return (
            f"No difference of {rates} was detected {level}, which does not show that they are"
            " equal."
        )

    def _sentences(self) -> list[str]:
        """Return the sentences of the summary."""
        if np.isnan(self.pvalue):
            withheld = self.remarks if any(map(self.settings.get, _WITHHELD)) else ()
            return [self.answer, *self.on_untested, *withheld]
        rate = self.rate_name.upper()
        n = int(self.is_tested.sum())
        rates = dict(zip(self.groups, self.group_rate.tolist(), strict=True))
        tested = [
            group
            for group, is_tested in zip(self.groups, self.is_tested.tolist(), strict=True)
            if is_tested
        ]
        lowest, *_, highest = sorted(tested, key=lambda group: (rates[group], group))
        text = [
            (
                f"The overall {rate} is {per_cent(self.rate)} and ranges from"
                f" {per_cent(rates[lowest])} ({lowest}) to {per_cent(rates[highest])} ({highest})"
                f" over {n} groups."
            ),
            (
                f"If all groups had the same {rate}, {_how_often(self.pvalue)} like this one would"
                f" have differences as large as these ({_NAMES[self.statistic_name]} ="
                f" {self.statistic:.3g}, {self.settings['n_resamples']:,} replicates)."
            ),
            self.answer,
        ]
        for word, groups in self.sides.items():
            if groups:
                named = ", ".join(f"{group} ({per_cent(rates[group])})" for group in groups)
                text.append(f"Significantly {word} than in the other groups ({n} tested): {named}.")
        if self.different and n > 2:
            text.append(
                "No more than half of the groups are alike."
                if len(self.different) == n
                else "Without the named groups no difference is detected."
            )
        elif (
            self.pvalue < self.level
            and not np.isnan(self.group_pvalue).all()
            and not self.different
        ):
            text.append("The test cannot say which groups differ.")
        return [*text, *self.on_untested, *self.remarks]

    @property
    def on_untested(self) -> list[str]:
        """A sentence on the groups that were not tested, if there are any."""
        names = ", ".join(
            group
            for group, is_tested in zip(self.groups, self.is_tested, strict=True)
            if not is_tested
        )
        least = least_subjects(self.rate_name)
        return [f"Not tested, as they have fewer than {least} subjects: {names}."] if names else []

    @cached_property
    def sides(self) -> dict[str, tuple[str, ...]]:
        """The groups that differ detectably, whose rates are "higher", or "lower", than those of
        the others.
        """
        alike = self.is_tested & ~np.isin(self.groups, self.different)
        of_others = (
            self.n_errors[alike].sum() / self.n_trials[alike].sum() if alike.any() else self.rate
        )
        above = dict(zip(self.groups, (self.group_rate > of_others).tolist(), strict=True))
        return {
            word: tuple(group for group in self.different if above[group] == is_above)
            for word, is_above in (("higher", True), ("lower", False))
        }

    @checked
    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw each group's rate with its intervals, and the overall rate; groups that differ
        detectably stand out.

        Thick lines are each group's own interval, thin ones those that hold in all groups together.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; a new figure by default.

        Returns
        -------
        matplotlib Axes
        """
        colors = [STANDS_OUT if group in self.different else USUAL for group in self.groups]
        ends = (self.low, self.high, 2.6), (self.simultaneous_low, self.simultaneous_high, 0.9)
        bars = [
            Bar(row, rate, low[row], high[row], color=colors[row], marker="", width=width)
            for low, high, width in ends
            for row, rate in enumerate(self.group_rate)
        ]
        bars += rate_marks(self.groups, self.group_rate, self.different, "differs from the others")
        return draw_rows(
            ax,
            self.groups,
            bars,
            [Line(self.rate, color="0.3")],
            xlabel=RATE_TITLES[self.rate_name],
        )


def notes_of_untested(is_tested: Flags, rate_name: str) -> tuple[str, ...]:
    """Say of each group why it was not tested; nothing of those that were."""
    reason = f"not tested: fewer than {least_subjects(rate_name)} subjects"
    return tuple("" if tested else reason for tested in is_tested.tolist())


def rate_marks(groups: Sequence[str], rates: Floats, apart: Sequence[str], label: str) -> list[Bar]:
    """Return marks at the rates of groups; those set apart stand out."""
    return [
        Bar(y, rate, color=STANDS_OUT, marker="D", label=label) if group in apart else Bar(y, rate)
        for y, (group, rate) in enumerate(zip(groups, rates.tolist(), strict=True))
    ]


def significance_level(confidence_level: float) -> float:
    """Return 1 - confidence_level, so that 1 - 0.95 is 0.05."""
    return round(1 - confidence_level, 12)


def _how_often(pvalue: float) -> str:
    """Express a p-value as a frequency of studies."""
    return (
        f"1 in {round(1 / pvalue):,} studies"
        if pvalue < 0.1
        else f"{100 * pvalue:.0f} % of studies"
    )


FmrStatistic = Literal["deviance", "f", "max-difference", "max-ratio"]


@checked
def fnmr_test(
    data: Comparisons | ScannedComparisons | Embeddings | FailureCounts,
    at: OperatingPoint | None = None,
    *,
    statistic: Statistic = "f",
    null_model: NullModel = "beta-binomial",
    n_resamples: SomeResamples = 9999,
    confidence_level: Probability = 0.95,
    follow_up: bool = True,
    incomplete_groups: IncompleteGroups = "drop",
    rng: seeds.Seed = None,
    n_threads: int | None = None,
    progress: bool | Callable[[int, int], None] = False,
) -> GroupTest:
    """Test whether the false non-match rates of groups differ by more than chance.

    Parameters
    ----------
    data : Comparisons, ScannedComparisons, Embeddings or FailureCounts
        Comparisons with subjects and groups, a scan of such, vectors with groups, or the failures
        of each subject: false non-matches, failures to acquire or failures to enrol.
    at : OperatingPoint, optional
        The operating point; needed for all but failures. The threshold is the same for all groups
        and in all replicates.
    statistic : {"f", "max-difference", "max-ratio"}
        The test statistic. "f": the variance between groups divided by that within groups, where
        attempts of a subject are correlated. "max-difference": the largest difference between a
        group's rate and the overall rate. "max-ratio": the largest ratio of the two, whichever is
        larger on top.
    null_model : {"beta-binomial", "bootstrap"}
        How replicates are drawn in which groups are alike. "beta-binomial": the failures of every
        group with one rate and one intra-class correlation. "bootstrap": that of [1]_, which draws
        the subjects of each group and shifts its rate. It fails where a group has no failures, as
        that group then does not vary: groups that are alike, of 200 and 20, 1,000 and 50, or 40 and
        2 people, differ "significantly" in 15 to 33 % of data sets, not in 5 %.
    n_resamples : int, default 9999
        Number of replicates.
    confidence_level : float, default 0.95
        Confidence level of the intervals, in (0, 1); groups are found to differ at 1 minus this
        level.
    follow_up : bool, default True
        Whether to name the groups that differ as well.
    incomplete_groups : {"drop", "raise"}
        What to do with groups of fewer than two subjects, from which no variance can be estimated:
        leave them out of the test with a warning, so that their rows say why, or raise an error.
    rng, n_threads, progress
        As in `evaluate`.

    Returns
    -------
    GroupTest

    Raises
    ------
    InputError
        For fewer than two groups with two subjects or more, and as `FailureCounts` does.

    Warns
    -----
    NotComputableWarning
        Where no attempt failed or all did: statistic and p-values are NaN.
    DroppedWarning
        Names the groups left out of the test.
    FewResamplesWarning
        Where the follow-up has too few replicates for any group to be significant.
    NarrowIntervalsWarning
        As `margin_of_error` does, for the bootstrap.

    Notes
    -----
    The statistic "f" is (7) of [1]_; the other two are sketched in its section V. A replicate draws
    subjects with the attempts of their group, and their failures from a beta-binomial law with one
    rate and the intra-class correlation rho of all groups together. The p-value is (1 + the number
    of replicates with a statistic at least as large) / (1 + n_resamples). A replicate counts as
    larger where its variance within groups is 0, or where a ratio needs rates that are not 0.
    Groups whose correlations differ much, 0.6 in one and 0.05 in the others, were found to differ
    in up to 7 % of simulated data sets in which their rates are the same.

    With the bootstrap, a replicate draws the subjects of each group with replacement, adds to each
    group's rate the overall rate minus the group's rate in the data (9), and computes the statistic
    again (10, 11).

    The follow-up names groups as `fmr_test` does, by tests of several groups at once ([2]_, closed
    testing), with the signed roots of a Poisson deviance whose parts are divided by (1 - p) (1 +
    (m0 - 1) rho): of a group m0 is the sum of m^2 over the sum of m attempts. Its replicates are
    those of the beta-binomial law.

    References
    ----------
    .. [1] Schuckers et al., "Statistical Methods for Assessing Differences in False Non-Match Rates Across Demographic
       Groups", section IV-A.
    .. [2] Marcus, Peritz and Gabriel, "On closed testing procedures with special reference to ordered analysis of
       variance", Biometrika 63 (1976).

    Examples
    --------
    >>> import fastfair as ff
    >>> counts = ff.FailureCounts([0, 1, 0, 0, 2, 3, 1, 2], [4] * 8, group=list("ffffmmmm"))
    >>> test = ff.fnmr_test(counts, rng=0)
    >>> round(test.statistic, 2), test.pvalue < 0.05
    (16.7, True)
    """
    settings = _settings(at, statistic, n_resamples, confidence_level, incomplete_groups) | {
        "null_model": null_model
    }
    data = in_memory(data, n_threads, progress)
    counts, tested, some = counts_to_test(data, at, incomplete_groups, n_threads)
    settings["grouping"] = list(counts.grouping)
    settings |= _withheld(reason_of_counts(counts, tested))
    is_bootstrap = null_model == "bootstrap"
    if is_bootstrap:
        warn_of_small_groups(some)
    key, settings["rng"] = seeds.stream(rng)
    observed = replicated = of_counts(some)
    drawn_as = settings["n_resamples"], key, n_threads, progress
    roots = None
    if 0 < some.rate < 1 and (follow_up or not is_bootstrap):
        drawn = draw_equal_failures(some, *drawn_as)
        replicated = of_sums(drawn)
        if follow_up:
            _warn_of_few_resamples(settings["n_resamples"], significance_level(confidence_level))
            roots = roots_of_failures(some, drawn)
    if is_bootstrap:
        replicated = replicate(some, *drawn_as).shifted(observed)
    return _compared(
        observed,
        replicated,
        settings,
        "attempts",
        tested,
        roots,
        counts.confidence_interval,
        groups=counts.groups,
        n_subjects=counts.n_subjects,
        n_trials=counts.n_attempts,
        n_errors=counts.n_failures,
        group_rate=counts.group_rate,
        standard_error=counts.standard_error,
        rate_name=counts.rate_name,
        icc=counts.icc,
        design_effect=counts.design_effect,
        n_sessions=_whole(counts._n_sessions),
        remarks=tuple(some.remarks()),
        counts=counts,
        left_out=counts.left_out,
    )


@checked
def fmr_test(
    data: Comparisons | ScannedComparisons | Embeddings,
    at: OperatingPoint,
    *,
    statistic: FmrStatistic = "deviance",
    n_resamples: SomeResamples = 2000,
    confidence_level: Probability = 0.95,
    incomplete_groups: IncompleteGroups = "drop",
    rng: seeds.Seed = None,
    n_threads: int | None = None,
    progress: bool | Callable[[int, int], None] = False,
) -> GroupTest:
    """Test whether the false match rates of groups differ by more than chance.

    Parameters
    ----------
    data : Comparisons, ScannedComparisons or Embeddings
        Comparisons with subjects and groups, or vectors with groups, all of whose pairs are
        compared; or what `Embeddings.scanned` keeps of these. Non-mated comparisons between groups
        do not count.
    at : OperatingPoint
        The operating point. The threshold is the same for all groups and in all replicates.
    statistic : {"deviance", "f", "max-difference", "max-ratio"}
        The test statistic of false match rates. "deviance": how improbable the groups' numbers of
        false matches are at one rate, for comparisons that share subjects.

        The others are those of `fnmr_test`. "max-difference" and "max-ratio" do not weigh
        differences by how much false matches cluster. Where few people cause most of them,
        "max-difference" alone finds differences among groups that are alike in up to 27 % of
        simulated data sets, so p-values of both are not below that of the deviance.
    n_resamples : int, default 2000
        Number of replicates.
    confidence_level : float, default 0.95
        Confidence level of the intervals, in (0, 1); groups are found to differ at 1 minus this
        level.
    incomplete_groups : {"drop", "raise"}
        What to do with groups of fewer than three subjects, from which no variance can be
        estimated: leave them out of the test with a warning, so that their rows say why, or raise
        an error.
    rng, n_threads, progress
        As in `evaluate`.

    Returns
    -------
    GroupTest

    Raises
    ------
    InputError
        For fewer than two groups, groups with fewer than three subjects, comparisons without
        subjects or groups, and scans of score files, which do not keep who was compared with whom
        in the order that is needed.

    Warns
    -----
    NotComputableWarning
        Where no comparison, or every comparison, is a false match: statistic and p-values are NaN.
    DroppedWarning
        Names the groups left out.
    NarrowIntervalsWarning
        Names groups of 10 subjects or fewer, with which the test errs in more than the level.

    Notes
    -----
    With x false matches among the n comparisons of a group, and mu = n p, the statistic "deviance"
    is the sum over groups of 2 [x log(x / mu) - (x - mu)] / D, a Poisson deviance with the
    quasi-likelihood of [2]_. The inflation D = 1 + a R / n + kappa p M / n is how much more x
    varies than if comparisons were independent. M counts the ordered two comparisons that share one
    subject, and R those that share both; kappa is the relative covariance of false matches that
    share one subject, and a the chance that another comparison of two subjects is a false match
    where one is. Both are estimated from all groups together, and kappa also from each group alone,
    which counts the more the more false matches it has. The common rate p is the sum of x / D over
    that of n / D.

    A replicate draws false matches as if all groups had this rate (a parametric bootstrap, [3]_).
    Each subject has an effect (a frailty, as survival analysis calls it), lognormal with mean 1 and
    variance kappa; a comparison is a false match in proportion to the product of its subjects'
    effects, and where it is, another of the same two subjects is one with the chance a. Everything
    is then estimated from the replicate anew.

    A group's p-value compares the signed root of its part of the statistic with those in the
    replicates. Which groups are named is decided by tests of several groups at once ([4]_, closed
    testing): as few groups as possible are set aside so that the others, more than half of all, do
    not differ detectably. A group is named if it is among those set aside whichever way that is
    done. Its adjusted p-value is that of the deviance of as many groups as are left, this one among
    them, chosen to differ the least ([5]_, trimming). Where no more than half of the groups are
    alike, all are named. An adjusted p-value is not below that of the test, so groups are named
    only where it finds a difference.

    The other statistics, which [1]_ suggests in its section V, take the same draws; F divides
    variances by D in place of the design effect. Standard errors and intervals of groups' rates are
    those of `evaluate` at this threshold, with as many replicates.

    References
    ----------
    .. [1] Schuckers et al., "Statistical Methods for Assessing Differences in False Non-Match Rates Across Demographic
       Groups".
    .. [2] McCullagh and Nelder, "Generalized Linear Models", 2nd edition, chapter 9.
    .. [3] Davison and Hinkley, "Bootstrap Methods and their Application", section 4.2.
    .. [4] Marcus, Peritz and Gabriel, "On closed testing procedures with special reference to ordered analysis of
       variance", Biometrika 63 (1976).
    .. [5] Rousseeuw and Van Driessen, "Computing LTS regression for large data sets", Data Mining and Knowledge
       Discovery 12 (2006).

    Examples
    --------
    >>> import fastfair as ff
    >>> e = ff.von_mises_fisher_embeddings(60, 2, 8, concentration=(20, 60), rng=0)
    >>> e = ff.Embeddings(e.vectors, e.subject, group=["f" if k < 30 else "m" for k in e.subject])
    >>> ff.fmr_test(e, ff.at_fmr(0.01), rng=0).groups
    ('f', 'm')
    """
    data = in_memory(data, n_threads, progress)
    settings = _settings(at, statistic, n_resamples, confidence_level, incomplete_groups)
    workers = Workers(n_threads, progress)
    # the same one however often more pairs are kept
    seed = seeds.fix_seed(rng) if isinstance(data, Embeddings) else rng
    return compute_on_kept_pairs(
        data, at, lambda kept: _test_of_false_matches(kept, at, settings, seed, workers), n_threads
    )


def _test_of_false_matches(
    data: Comparisons | ScannedComparisons,
    at: OperatingPoint,
    settings: dict[str, Any],
    rng: seeds.Seed,
    workers: Workers,
) -> GroupTest:
    from fastfair.evaluation.evaluate import evaluate_at_thresholds

    comparisons = data.kept if isinstance(data, ScannedComparisons) else data
    comparisons._require("lists of pairs")
    comparisons._require_rates("a test of FMRs", ["fmr"])
    comparisons.require_groups()
    require_units(comparisons, "subject")
    rates = rates_at_key(comparisons, at, threshold_key(comparisons, at))
    counts, groups = rates.counts, comparisons.groups
    subjects = np.asarray(counts.group_nonmated_subjects)
    trials = np.asarray(counts.group_nonmated)
    tested = require_subjects(
        groups, subjects, "fmr", "non-mated comparisons", settings["incomplete_groups"]
    )
    kept = np.flatnonzero(tested)
    key_at = int(threshold_key(comparisons, at))
    settings = settings | _withheld(reason_of_sessions(comparisons, key_at, tested))
    warn_of_few_subjects([groups[k] for k in kept], subjects[kept])
    key, seed = seeds.stream(rng)
    rate, size = rates.group_fmr[kept], trials[kept]
    observed = replicated = GroupRates(rate, size, np.ones(kept.size))
    roots = None
    if 0 < observed.overall < 1:
        drawn_from = count_false_matches(comparisons, rates.threshold, kept)
        roots = draw_roots(*drawn_from, settings["n_resamples"], key, workers.n_threads)
        observed = GroupRates(rate, size, roots.inflation)
        drawn_rate = roots.replicated_errors / roots.replicated_size
        replicated = GroupRates(drawn_rate, roots.replicated_size, roots.replicated_inflation)
    evaluated = evaluate_at_thresholds(
        data,
        [rates.threshold],
        n_resamples=max(2, settings["n_resamples"]),
        rng=seed,
        n_threads=workers.n_threads,
        progress=workers.progress,
    )

    def numbers_of_groups(level: float, *names: str) -> Floats:
        quantities = evaluated.with_intervals(level).quantities
        quantities_of = [find(quantities, "fmr", group, None) for group in groups]
        return np.array(
            [[getattr(quantity, name) for quantity in quantities_of] for name in names], np.float64
        )

    def interval(level: float) -> tuple[Floats, Floats]:
        low, high = numbers_of_groups(level, "low", "high")
        return low, high

    n_sessions = None
    remarks: list[str] = []
    if comparisons.sessions is not None:
        rows = [evaluated.quantities.index(evaluated.quantity("fmr", group)) for group in groups]
        n_sessions = np.array([evaluated.maker.n_sessions(row) for row in rows])
        remarks = remarks_on_few([groups[k] for k in kept], n_sessions[kept])
    return _compared(
        observed,
        replicated,
        settings | {"rng": seed, "grouping": list(comparisons.grouping)},
        _OF_FALSE_MATCHES,
        tested,
        roots,
        interval,
        groups=groups,
        n_subjects=subjects,
        n_trials=trials,
        n_errors=np.asarray(counts.group_false_matches),
        group_rate=rates.group_fmr,
        standard_error=numbers_of_groups(0.95, "standard_error")[0],
        rate_name="fmr",
        threshold=rates.threshold,
        n_sessions=_whole(n_sessions),
        remarks=tuple(remarks),
        left_out=comparisons.left_out,
    )


# settings of results that are withheld, as sessions are too few or hardly shared by groups
_WITHHELD = {
    "few_sessions": Code.GROUPS_IN_FEW_SESSIONS,
    "sessions_apart": Code.SESSIONS_APART,
}


def _withheld(reason: Code | None) -> dict[str, bool]:
    """Warn where sessions do not let groups be tested, and return the setting that says so."""
    if reason is None:
        return {}
    warn(str(Note(reason)), NotComputableWarning)
    return {name: True for name, code in _WITHHELD.items() if code == reason}


def _settings(
    at: OperatingPoint | None,
    statistic: str,
    n_resamples: int,
    confidence_level: float,
    policy: str,
) -> dict[str, Any]:
    """Return the arguments that both tests share."""
    return {
        "at": None if at is None else str(at),
        "statistic": statistic,
        "incomplete_groups": policy,
        "n_resamples": n_resamples,
        "confidence_level": confidence_level,
    }


def _compared(
    observed: GroupRates,
    replicated: GroupRates,
    settings: dict[str, Any],
    trials: str,
    tested: Flags,
    roots: Roots | None,
    interval: Callable[[float], tuple[Floats, Floats]],
    **more: Any,
) -> GroupTest:
    """Compute the p-values and the intervals of a result.

    observed, replicated: rates of tested groups in the data and, as if they were alike, in
    replicates; tested: which groups these are; roots: theirs, if groups are named; interval: that
    of each group's rate at a level; more: what else the result has.
    """
    name = settings["statistic"]
    level = settings["confidence_level"]
    overall = float(observed.overall)
    statistic = math.nan
    replicates = np.full(settings["n_resamples"], np.nan)
    share = math.nan
    of_groups = adjusted = np.full(observed.rate.size, np.nan)
    reasons = [code for setting, code in _WITHHELD.items() if settings.get(setting)]
    if reasons:
        more["remarks"] = (*more.get("remarks", ()), *(f"{Note(reason)}." for reason in reasons))
    elif overall in (0, 1):
        warn(
            f"{'none' if overall == 0 else 'all'} of the {trials} are errors: there is nothing to"
            " test, and statistic and p-values are NaN",
            NotComputableWarning,
        )
    else:
        statistic, replicates = _statistics(observed, replicated, roots, name)
        share = float(pvalue(statistic, replicates))
        if name in _WITHOUT_CLUSTERING and trials == _OF_FALSE_MATCHES:
            assert roots is not None
            share = max(share, float(pvalue(*roots.deviance())))
        if roots is not None:
            of_groups = roots.pvalues()
            adjusted = np.maximum(roots.adjusted_pvalues(significance_level(level)), share)

    def of_all(values: Floats) -> Floats:
        whole = np.full(tested.size, np.nan)
        whole[tested] = values
        return whole

    if more["n_sessions"] is not None:
        in_few = more["n_sessions"] < FEWEST_SESSIONS
        more["standard_error"] = np.where(in_few, np.nan, more["standard_error"])
    low, high = interval(level)
    all_low, all_high = interval(level ** (1 / observed.rate.size))
    return GroupTest(
        statistic=statistic,
        pvalue=share,
        statistic_name=name,
        is_tested=tested,
        rate=overall,
        difference=of_all(observed.difference_from_rest()),
        group_pvalue=of_all(of_groups),
        group_pvalue_adjusted=of_all(adjusted),
        replicates=replicates,
        confidence_level=level,
        settings=settings,
        low=low,
        high=high,
        simultaneous_low=all_low,
        simultaneous_high=all_high,
        **more,
    )


def _whole(n_sessions: Floats | None) -> Integers | None:
    """Return numbers of sessions as integers, 0 of groups without trials."""
    if n_sessions is None:
        return None
    return np.where(np.isfinite(n_sessions), n_sessions, 0).astype(np.int64)


def _statistics(
    observed: GroupRates, replicated: GroupRates, roots: Roots | None, name: str
) -> tuple[float, Floats]:
    """Return a statistic in the data and in replicates."""
    if name == "deviance":
        assert roots is not None
        return roots.deviance()
    return float(observed.statistic(name, observed.size)), replicated.statistic(name, observed.size)


def _warn_of_few_resamples(n_resamples: int, alpha: float) -> None:
    """Warn where even the smallest possible p-value of a group is not significant."""
    least = int(np.ceil(1 / alpha))
    if n_resamples < least:
        warn(
            f"with ⟦n_resamples={n_resamples}⟧ no group can be found to differ from the others, as"
            f" p-values are at least {1 / (n_resamples + 1):.2g}: use {least} or more, or pass"
            " follow_up=False",
            FewResamplesWarning,
        )


Quantile = Literal["family-wise", "paper"]
Center = Literal["data", "replicate"]


def share_inside(confidence_level: float, quantile: str) -> float:
    """Return which quantile of the largest differences in replicates is the margin.

    Parameters
    ----------
    confidence_level : float
        1 - alpha.
    quantile : {"family-wise", "paper"}
        1 - alpha, or the 1 - alpha / 2 of the paper's step 5.

    Returns
    -------
    float

    Examples
    --------
    >>> from fastfair.group_tests.equal_rates import share_inside
    >>> share_inside(0.95, "family-wise"), share_inside(0.95, "paper")
    (0.95, 0.975)
    """
    return confidence_level if quantile == "family-wise" else (1 + confidence_level) / 2


NOT_A_TEST = (
    "The margin is one for all groups, as wide as the least certain one needs. Whether groups"
    " differ is for the test, fnmr_test, to say: it may find differences within the margin, and"
    " none where a small group lies outside."
)


@dataclass(frozen=True, eq=False, repr=False)
class MarginOfError(Result):
    """The result of `margin_of_error`: the margin, and the groups whose rates are outside of it.

    Attributes
    ----------
    margin : float
        How far a group's rate may differ from the overall rate by chance.
    rate : float
        All failures divided by all attempts.
    low, high : float
        The overall rate minus and plus the margin; `low` may be below 0, which no rate can be.
    outside : tuple of str
        Groups whose rate is below `low` or above `high`. An extreme group moves the overall rate
        towards its own, so if there are few groups, others may be outside on the other side.
    groups : tuple of str
        The groups, sorted.
    is_tested : (g,) ndarray of bool
        Which groups have enough subjects. The others are left out, and `note` says why.
    group_rate : (g,) ndarray
        Failures divided by attempts of each group.
    rate_name : {"fnmr", "fta", "fte"}
        What rate it is.
    n_subjects, n_attempts, n_failures : (g,) ndarray of int64
        Numbers of subjects, attempts and failures of each group.
    remarks : tuple of str
        What there is to know about the failure counts.
    counts : FailureCounts or None
        The failure counts that the margin was computed from; None in what was read from a file.
    confidence_level : float
        Least probability that no group is outside if all have the same true FNMR; see
        `margin_of_error`.
    quantile, center : str
        As in `margin_of_error`.
    replicates : (r,) ndarray
        The largest difference from the overall rate in every replicate.
    settings : dict
        The arguments of the call, and the seed.
    """

    margin: float
    rate: float
    low: float
    high: float
    outside: tuple[str, ...]
    groups: tuple[str, ...]
    is_tested: Flags
    group_rate: Floats
    rate_name: str
    n_subjects: Integers
    n_attempts: Integers
    n_failures: Integers
    remarks: tuple[str, ...]
    confidence_level: float
    quantile: str
    center: str
    settings: dict[str, Any]
    counts: FailureCounts | None = field(default=None, repr=False, metadata=UNWRITTEN)
    replicates: Floats = field(default_factory=empty_floats, repr=False, metadata=UNWRITTEN)

    _per_group = "n_subjects n_attempts n_failures"
    _derived = ("note",)

    @property
    def note(self) -> tuple[str, ...]:
        """Why groups were left out."""
        return notes_of_untested(self.is_tested, self.rate_name)

    def _question(self) -> str:
        return (
            f"How far may {RATE_TITLES[self.rate_name].lower()}s of groups lie from the overall one"
            " by chance?"
        )

    def _sentences(self) -> list[str]:
        """Return the sentences of the summary."""
        if np.isnan(self.margin):
            return ["There is no margin of error: see the warnings."]
        n = int(self.is_tested.sum())
        rate = self.rate_name.upper()
        attempt = ATTEMPTS[self.rate_name]
        subjects, attempts, failures = (
            int(numbers[self.is_tested].sum())
            for numbers in (self.n_subjects, self.n_attempts, self.n_failures)
        )
        may_share_people = self.rate_name in OF_SPECIES  # who would count once in each group
        of_people = "" if may_share_people else f" of {subjects:,} people"
        text = [
            (
                f"The overall {rate} is {per_cent(self.rate)}: {failures:,} of {attempts:,}"
                f" {attempt}s{of_people} failed."
            ),
            (
                f"Even if all {n} groups were treated alike, their {rate}s would differ by chance."
                f" The margin of error is {100 * self.margin:.3g} percentage points: in"
                f" {per_cent(self.confidence_level)} of such studies every group would lie between"
                f" {per_cent(max(0.0, self.low))} and {per_cent(min(1.0, self.high))}."
            ),
        ]
        of_group = dict(zip(self.groups, self.group_rate, strict=True))
        for above, word in ((True, "above"), (False, "below")):
            named = [
                f"{g} ({per_cent(of_group[g])})"
                for g in self.outside
                if (of_group[g] > self.rate) == above
            ]
            if named:
                verb = "is" if len(named) == 1 else "are"
                text.append(
                    f"{len(named)} of {n} groups {verb} {word} that range: {', '.join(named)}."
                )
        if not self.outside:
            text.append(f"All {n} groups lie in that range.")
        return [*text, NOT_A_TEST, *self.remarks]

    def _columns(self) -> dict[str, list[Any]]:
        rates = {self.rate_name: self.group_rate.tolist()}
        outside = [group in self.outside for group in self.groups]
        return super()._columns() | rates | {"outside": outside, "note": list(self.note)}

    @checked
    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw each group's rate, the overall one (dashed) and the margins about it (dotted), as
        the paper's figure 1.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; a new figure by default.

        Returns
        -------
        matplotlib Axes
        """
        bounds = [
            Line(max(0.0, self.low), "margin of error", ":", "0.3"),
            Line(min(1.0, self.high), "", ":", "0.3"),
        ]
        lines = [Line(self.rate, "overall", "--", "0.3"), *bounds]
        marks = rate_marks(self.groups, self.group_rate, self.outside, "outside")
        return draw_rows(ax, self.groups, marks, lines, xlabel=RATE_TITLES[self.rate_name])


@checked
def margin_of_error(
    data: Comparisons | ScannedComparisons | Embeddings | FailureCounts,
    at: OperatingPoint | None = None,
    *,
    n_resamples: SomeResamples = 9999,
    confidence_level: Probability = 0.95,
    quantile: Quantile = "family-wise",
    center: Center = "data",
    incomplete_groups: IncompleteGroups = "drop",
    rng: seeds.Seed = None,
    n_threads: int | None = None,
    progress: bool | Callable[[int, int], None] = False,
) -> MarginOfError:
    """Compute how far groups' FNMRs may differ from the overall FNMR by chance, and name groups
    that differ by more.

    Parameters
    ----------
    data, at
        As in `fnmr_test`.
    n_resamples : int, default 9999
        Number of replicates.
    confidence_level : float, default 0.95
        1 - alpha, in (0, 1).
    quantile : {"family-wise", "paper"}
        Which quantile of the largest differences is the margin: "family-wise" is that at 1 - alpha;
        "paper" that at 1 - alpha / 2, as in step 5 of [1]_, which the sentence after it
        contradicts.
    center : {"data", "replicate"}
        Which overall rate a group's rate in a replicate is compared with: that of the data, as in
        [1]_, or that of the replicate. In the data, a group is part of the overall rate that it is
        compared with. With few groups, "data" therefore makes margins wider than the confidence
        level requires; "replicate" does not.
    incomplete_groups, rng, n_threads, progress
        As in `fnmr_test`.

    Returns
    -------
    MarginOfError

    Raises
    ------
    InputError
        As `fnmr_test` does.

    Warns
    -----
    NotComputableWarning
        Where no attempt failed or all did: the margin is NaN.
    DroppedWarning
        Names the groups left out.
    NarrowIntervalsWarning
        Names groups that are much smaller than others and have so few failures that, by chance,
        they could have had none and be outside.

    Notes
    -----
    Replicates are those of the null model "bootstrap" of `fnmr_test`: they draw the subjects of
    each group with replacement, and add to the group's rate the overall rate minus the group's rate
    in the data. A group is outside if it differs by more than the margin.

    References
    ----------
    .. [1] Schuckers et al., "Statistical Methods for Assessing Differences in False Non-Match Rates Across Demographic
       Groups", section IV-B.

    Examples
    --------
    >>> import fastfair as ff
    >>> counts = ff.FailureCounts([0, 1, 0, 0, 2, 3, 1, 2], [4] * 8, group=list("ffffmmmm"))
    >>> margins = ff.margin_of_error(counts, rng=0)
    >>> margins.rate, margins.outside
    (0.28125, ('f', 'm'))
    """
    share = share_inside(confidence_level, quantile)
    refuse_sessions(getattr(data, "sessions", None), "a margin of error", "use fnmr_test")
    counts, tested, some = counts_to_test(data, at, incomplete_groups, n_threads)
    warn_of_small_groups(some)
    key, seed = seeds.stream(rng)
    observed = of_counts(some)
    replicated = replicate(some, n_resamples, key, n_threads, progress).shifted(observed)
    middle = observed.overall if center == "data" else replicated.overall[:, None]
    distances = np.abs(replicated.rate - middle).max(axis=1)
    overall = float(observed.overall)
    margin = float(np.quantile(distances, share))
    if overall in (0, 1):
        warn(
            f"{'none' if overall == 0 else 'all'} of the attempts are errors: there is no margin of"
            " error",
            NotComputableWarning,
        )
        margin = np.nan
    outside = np.abs(observed.rate - overall) > margin * (1 + 1e-9)
    return MarginOfError(
        margin=margin,
        rate=overall,
        low=overall - margin,
        high=overall + margin,
        outside=tuple(
            group for group, is_outside in zip(some.groups, outside, strict=True) if is_outside
        ),
        groups=counts.groups,
        is_tested=tested,
        group_rate=counts.group_rate,
        rate_name=counts.rate_name,
        n_subjects=counts.n_subjects,
        n_attempts=counts.n_attempts,
        n_failures=counts.n_failures,
        remarks=tuple(some.remarks()),
        counts=counts,
        confidence_level=confidence_level,
        quantile=quantile,
        center=center,
        replicates=distances,
        left_out=counts.left_out,
        settings={
            "at": None if at is None else str(at),
            "n_resamples": n_resamples,
            "confidence_level": confidence_level,
            "quantile": quantile,
            "center": center,
            "incomplete_groups": incomplete_groups,
            "rng": seed,
        },
    )
