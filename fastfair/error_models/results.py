"""`ErrorModel` and `StratifiedRates`: what attributes do to errors, and rates within strata, with their uncertainty."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from fastfair._lib.arguments import checked
from fastfair._lib.results import Tabular
from fastfair._lib.tables import columns_of, records
from fastfair._lib.text import per_cent
from fastfair.error_rates.operating_points import OperatingPoint
from fastfair.errors import visible

from .designs import DIFFERENT
from .effects import AttributeTest, Effect
from .stratifying import StratifiedDifference, StratifiedRate, in_words

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_ERRORS = {"fmr": "false matches", "fnmr": "false non-matches"}
_ERROR = {"fmr": "a false match", "fnmr": "a false non-match"}
_KINDS = {"fmr": "non-mated", "fnmr": "mated"}


@dataclass(frozen=True, eq=False, repr=False)
class ErrorModel(Tabular):
    """The result of `error_model`.

    Attributes
    ----------
    rate : {"fmr", "fnmr"}
        Whether it is of false matches or of false non-matches.
    at : OperatingPoint
        The operating point.
    threshold : float
        The threshold there, which is taken as given.
    baseline : dict of str to str
        The value of each attribute with which the others are compared.
    effects : tuple of Effect
        The effects of the attributes' values.
    tests : tuple of AttributeTest
        A test of each attribute.
    contradictions : tuple of StratifiedDifference
        Values of one attribute whose order is another within the values of a second than overall.
    confidence_level : float
        Of the intervals.
    n_comparisons, n_errors : int
        Numbers of comparisons and of errors.
    n_subjects : int or None
        Number of subjects; None where every comparison was taken for independent.
    settings : dict
        The arguments of the call.
    """

    rate: str
    at: OperatingPoint
    threshold: float
    baseline: dict[str, str]
    effects: tuple[Effect, ...]
    tests: tuple[AttributeTest, ...]
    contradictions: tuple[StratifiedDifference, ...]
    confidence_level: float
    n_comparisons: int
    n_errors: int
    n_subjects: int | None
    settings: dict[str, Any]

    @checked
    def summary(self) -> str:
        """Describe the result in sentences.

        Returns
        -------
        str
        """
        who = "every comparison taken for independent" if self.n_subjects is None else f"{self.n_subjects:,} subjects"
        text = [
            f"A logit of {_ERRORS[self.rate]} on {' and '.join(self.baseline)} at {self.at}, the threshold taken as "
            f"given: {self.n_errors:,} errors in {self.n_comparisons:,} {_KINDS[self.rate]} comparisons, {who}."
        ]
        for effect in self.effects:
            text.append(self._sentence(effect))
        for test in self.tests:
            if test.n_effects > 1 and not math.isnan(test.pvalue):
                text.append(f"{test.attribute} as a whole, {test.n_effects} effects: p = {test.pvalue:.2g}.")
        for one in self.contradictions:
            text.append(f"Overall and within {one.strata} the data say different things: {in_words(one, self.rate)}.")
        return "\n".join(map(visible, text))

    def _sentence(self, effect: Effect) -> str:
        both = "both " if self.rate == "fmr" and effect.value != DIFFERENT else ""
        name = f"{effect.attribute}, {both}{effect.value} against {both}{effect.baseline}"
        if math.isnan(effect.odds_ratio):
            if math.isnan(effect.pvalue):
                return f"{name}: not known, {effect.note}."
            limit = f"at most {effect.high:.3g}" if effect.low == 0 else f"at least {effect.low:.3g}"
            return f"{name}: {limit} times the odds of {_ERROR[self.rate]}, p = {effect.pvalue:.2g} ({effect.note})."
        change = ""
        if not math.isnan(effect.difference):
            change = (
                f"; {100 * effect.difference:+.3g} percentage points "
                f"[{100 * effect.difference_low:.3g}, {100 * effect.difference_high:.3g}]"
            )
        note = f" ({effect.note})" if effect.note else ""
        return (
            f"{name}: {effect.odds_ratio:.3g} times the odds of {_ERROR[self.rate]} "
            f"[{effect.low:.3g}, {effect.high:.3g}]{change}, p = {effect.pvalue:.2g}{note}."
        )

    def _columns(self) -> dict[str, list[Any]]:
        return columns_of(self.effects)

    def _content(self) -> dict[str, Any]:
        return {
            "settings": self.settings, "rate": self.rate, "operating_point": str(self.at), "threshold": self.threshold,
            "baseline": self.baseline, "confidence_level": self.confidence_level, "n_comparisons": self.n_comparisons,
            "n_errors": self.n_errors, "n_subjects": self.n_subjects, "effects": records(self._columns()),
            "tests": [asdict(test) for test in self.tests],
            "contradictions": [asdict(one) for one in self.contradictions],
        }  # fmt: skip

    @checked
    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw the odds ratios with their intervals, one below the other.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; a new figure by default.

        Returns
        -------
        matplotlib Axes
        """
        from .plots import draw_effects

        return draw_effects(self.effects, self.rate, ax)


@dataclass(frozen=True, eq=False, repr=False)
class StratifiedRates(Tabular):
    """The result of `stratified_rates`.

    Attributes
    ----------
    rate : {"fmr", "fnmr"}
        Which rate.
    at : OperatingPoint
        The operating point.
    threshold : float
        The threshold there, which is taken as given.
    by, strata : str
        The attribute whose values are compared, and those that make the strata.
    mix : tuple of (str, float)
        The share of each stratum in standardised rates; 0 for those in which some value has no comparisons.
    rates : tuple of StratifiedRate
        For each value its rate overall, the standardised one, and those within strata.
    differences : tuple of StratifiedDifference
        Each two values compared.
    confidence_level : float
        Of the intervals.
    n_subjects : int or None
        Number of subjects; None where every comparison was taken for independent.
    settings : dict
        The arguments of the call.
    """

    rate: str
    at: OperatingPoint
    threshold: float
    by: str
    strata: str
    mix: tuple[tuple[str, float], ...]
    rates: tuple[StratifiedRate, ...]
    differences: tuple[StratifiedDifference, ...]
    confidence_level: float
    n_subjects: int | None
    settings: dict[str, Any]

    @property
    def contradictions(self) -> tuple[StratifiedDifference, ...]:
        """The differences in which the margin and the strata contradict each other."""
        return tuple(one for one in self.differences if one.contradicts)

    @checked
    def summary(self) -> str:
        """Describe the result in sentences.

        Returns
        -------
        str
        """
        text = [f"{self.rate.upper()} by {self.by} at {self.at}, overall and with the same mix of {self.strata}:"]
        for value in dict.fromkeys(row.value for row in self.rates):
            margin, same = (row for row in self.rates if row.value == value and row.stratum is None)
            text.append(f"{value}: {_interval(margin)} overall, {_interval(same)} with the same mix.")
        lost = [name for name, share in self.mix if not share]
        if lost:
            text.append(f"Left out of the mix, as not every value has comparisons there: {', '.join(lost)}.")
        for one in self.contradictions:
            text.append(f"Overall and within {one.strata} the data say different things: {in_words(one, self.rate)}.")
        if not self.contradictions:
            text.append("Nowhere do rates overall and within strata contradict each other.")
        return "\n".join(map(visible, text))

    def _columns(self) -> dict[str, list[Any]]:
        return columns_of(self.rates)

    def _content(self) -> dict[str, Any]:
        return {
            "settings": self.settings, "rate": self.rate, "operating_point": str(self.at), "threshold": self.threshold,
            "by": self.by, "strata": self.strata, "mix": dict(self.mix), "confidence_level": self.confidence_level,
            "n_subjects": self.n_subjects, "rates": records(self._columns()),
            "differences": [asdict(one) for one in self.differences],
        }  # fmt: skip

    @checked
    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw the rates of each value overall, with the same mix, and in each stratum.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; a new figure by default.

        Returns
        -------
        matplotlib Axes
        """
        from .plots import draw_rates

        return draw_rates(self.rates, self.rate, self.strata, ax)


def _interval(row: StratifiedRate) -> str:
    return f"{per_cent(row.estimate)} [{per_cent(row.low)}, {per_cent(row.high)}]"
