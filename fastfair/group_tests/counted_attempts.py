"""`CountedAttempts`: rates of failure of groups, with intervals, from the numbers of attempts of each subject."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from fastfair import intervals
from fastfair._lib import argument_kinds, validation
from fastfair._lib.arguments import checked
from fastfair._lib.notebook import Shown
from fastfair._lib.text import rate_with_interval
from fastfair.data.sorted_scores import read_only
from fastfair.errors import visible

from .failure_rates import FailureRate, failure_rate
from .subject_kinds import SubjectKinds, design_effect, kinds_of_groups, squared_deviations, sum_kinds

Counts = NDArray[np.int64]
Floats = NDArray[np.float64]


class CountedAttempts(Shown):
    """Numbers of attempts and of failed attempts of each subject; see `FailureCounts`, which is made from data."""

    failures: Counts
    attempts: Counts
    subject_group: NDArray[np.uint16]
    groups: tuple[str, ...]
    grouping: tuple[str, ...]
    rate_name: str

    def _set(
        self,
        failures: Counts,
        attempts: Counts,
        code: NDArray[Any],
        groups: tuple[str, ...],
        grouping: tuple[str, ...],
        rate_name: str = "fnmr",
    ) -> None:
        self.failures, self.attempts = read_only(failures), read_only(attempts)
        self.subject_group = read_only(code.astype(np.uint16))
        self.groups, self.grouping, self.rate_name = groups, grouping, rate_name

    @classmethod
    def _of(cls, *parts: Any) -> Self:
        """Make counts from parts that are already checked, as `_set` takes them; groups may be without subjects."""
        made = object.__new__(cls)
        made._set(*parts)
        return made

    @property
    def called(self) -> FailureRate:
        """What results say of the rate."""
        return failure_rate(self.rate_name)

    @cached_property
    def kinds(self) -> SubjectKinds:
        """Subjects with the same failures and attempts, counted together."""
        return kinds_of_groups(self.failures, self.attempts, self.subject_group, len(self.groups))

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
    def rate(self) -> float:
        """All failures divided by all attempts; NaN without attempts."""
        with np.errstate(invalid="ignore"):
            return float(self.n_failures.sum() / self.n_attempts.sum())

    @cached_property
    def group_rate(self) -> Floats:
        """(g,) failures divided by attempts of each group; NaN without attempts."""
        with np.errstate(invalid="ignore"):
            return np.asarray(self.n_failures / self.n_attempts)

    @property
    def fnmr(self) -> float:
        """The rate, where it is the FNMR."""
        return self.called.if_fnmr(self.rate)

    @property
    def group_fnmr(self) -> Floats:
        """(g,) rate of each group, where it is the FNMR."""
        return self.called.if_fnmr(self.group_rate)

    @cached_property
    def icc(self) -> Floats:
        """(g,) intra-class correlation of a subject's attempts; 0 where it is not defined."""
        pairs = self.sums[4] - self.n_attempts
        spread = self.group_rate * (1 - self.group_rate)
        with np.errstate(invalid="ignore", divide="ignore"):
            found = (squared_deviations(self.sums) - self.n_attempts * spread) / (spread * pairs)
        return np.where((pairs > 0) & (spread > 0), found, 0.0)

    @cached_property
    def design_effect(self) -> Floats:
        """(g,) variance of the rate divided by that of as many independent attempts."""
        return design_effect(self.sums)

    @cached_property
    def standard_error(self) -> Floats:
        """(g,) standard error of the rate, if subjects are independent."""
        with np.errstate(invalid="ignore"):
            return np.sqrt(squared_deviations(self.sums)) / self.n_attempts

    @checked
    def confidence_interval(self, confidence_level: float = 0.95) -> tuple[Floats, Floats]:
        """Compute a confidence interval of each group's rate from its variance, with attempts clustered by subject.

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
        >>> bool(((low < counts.group_rate) & (counts.group_rate < high)).all())
        True
        """
        level = intervals.level(confidence_level)
        rate, n = self.group_rate, self.n_subjects
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
        pairs, failures, called = self.sums[4] - self.n_attempts, self.n_failures, self.called
        alone = f"no subject has two {called.attempts}, so that their correlation is not known; 0 is used."
        ends = f"failed; the interval is Clopper and Pearson's, for independent {called.attempts}."
        said = []
        for without, what in (
            ((pairs == 0) & called.repeated, alone),
            (failures == 0, f"no {called.attempt} {ends}"),
            (failures == self.n_attempts, f"all {called.attempts} {ends}"),
        ):
            if without.any():
                named = ", ".join(group for group, is_so in zip(self.groups, without, strict=True) if is_so)
                said.append(f"{visible(named)}: {what}")
        return said

    @checked(groups=argument_kinds.several(argument_kinds.text))
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
        return self._of(
            self.failures[inside],
            self.attempts[inside],
            position[self.subject_group[inside]],
            tuple(self.groups[k] for k in kept),
            self.grouping,
            self.rate_name,
        )

    def _shown(self) -> tuple[Sequence[str], Mapping[str, Sequence[Any]]]:
        low, high = self.confidence_interval()
        ends = zip(self.group_rate.tolist(), low.tolist(), high.tolist(), strict=True)
        counts = {"subjects": self.n_subjects, "attempts": self.n_attempts, "failures": self.n_failures}
        columns = {"group": self.groups} | {name: column.tolist() for name, column in counts.items()}
        return [repr(self)], columns | {
            f"{self.called.symbol}, 95 % interval": [rate_with_interval(*one) for one in ends]
        }

    def __repr__(self) -> str:
        parts = (
            (self.failures.size, "subject"), (int(self.n_attempts.sum()), self.called.attempt),
            (int(self.n_failures.sum()), "failure"), (len(self.groups), "group"),
        )  # fmt: skip
        return f"{type(self).__name__}({', '.join(f'{n} {what}{chr(115) * (n != 1)}' for n, what in parts)})"
