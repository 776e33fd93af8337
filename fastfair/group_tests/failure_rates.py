"""Rates of failure of attempts, in words: false non-match, failure-to-acquire and failure-to-enrol rates."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeVar

from fastfair._lib import validation
from fastfair.measures._registry import METRICS

Values = TypeVar("Values")


@dataclass(frozen=True)
class FailureRate:
    """What results say of a rate of failure.

    Attributes
    ----------
    name : str
        As in tables and JSON.
    title : str
        The name in full.
    attempt : str
        What can fail.
    trials : str
        The same of several subjects, as errors name it.
    repeated : bool
        Whether subjects have several attempts as a rule.
    """

    name: str
    title: str
    attempt: str
    trials: str
    repeated: bool = True

    @property
    def symbol(self) -> str:
        """The name as sentences have it, such as "FNMR"."""
        return self.name.upper()

    @property
    def attempts(self) -> str:
        """What can fail, in the plural."""
        return f"{self.attempt}s"

    def if_fnmr(self, values: Values) -> Values:
        """Return values of an attribute named after the FNMR, or raise that there is no such attribute."""
        if self is not FNMR:
            raise AttributeError(f"there is no FNMR: what failed are {self.attempts}. Use rate and group_rate")
        return values


FNMR = FailureRate("fnmr", METRICS["fnmr"].long_title, "attempt", "mated comparisons")
_RATES = {
    one.name: one
    for one in (
        FNMR,
        FailureRate("fta", "Failure-to-acquire rate", "acquisition", "acquisitions"),
        FailureRate("fte", "Failure-to-enrol rate", "enrolment", "enrolments", repeated=False),
    )
}
RATES_OF_FAILURE = tuple(_RATES)


def failure_rate(name: str) -> FailureRate:
    """Return the rate of failure of a name, which `FailureCounts` takes as `rate`."""
    return _RATES[validation.choice("rate", name, RATES_OF_FAILURE)]
