"""`AppliedThreshold`: error rates at a threshold that was found on development data."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from fastfair._lib import validation
from fastfair._lib.arguments import checked
from fastfair._lib.results import Tabular
from fastfair._lib.tables import columns_of, records
from fastfair._lib.text import per_cent, rate_with_interval, typed
from fastfair.error_rates.curve_results import ERROR_RATES
from fastfair.error_rates.operating_points import OperatingPoint
from fastfair.errors import visible

from .applied import AppliedRate

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@dataclass(frozen=True, eq=False, repr=False)
class AppliedThreshold(Tabular):
    """The result of `apply_threshold`.

    Attributes
    ----------
    at : OperatingPoint
        The operating point that the development data hold.
    threshold : float
        The threshold found on them.
    laxest, strictest : float
        The ends of its interval, on the scale of the scores; infinite where the development data set no end.
    held : float
        The rate that the development data have at the threshold: what `at` holds, as far as ties allow. For an EER the
        mean of both rates.
    groups : tuple of str
        The groups of the evaluation data.
    rates : tuple of AppliedRate
        FMR and FNMR of all evaluation comparisons, and of each group.
    n_shared : int
        Number of subjects that are in both sets.
    confidence_level : float
        The level of all intervals.
    """

    at: OperatingPoint
    threshold: float
    laxest: float
    strictest: float
    held: float
    groups: tuple[str, ...]
    rates: tuple[AppliedRate, ...]
    n_shared: int
    confidence_level: float

    @checked
    def rate(self, name: str, group: str | None = None) -> AppliedRate:
        """Return one rate.

        Parameters
        ----------
        name : {"fmr", "fnmr"}
            The rate.
        group : str, optional
            One of `groups`; by default all comparisons.

        Returns
        -------
        AppliedRate
        """
        validation.choice("name", name, ERROR_RATES)
        if group is not None:
            validation.choice("group", group, self.groups)
        return next(one for one in self.rates if (one.name, one.group) == (name, group))

    @checked
    def summary(self) -> str:
        """Describe the result in sentences.

        Returns
        -------
        str
        """
        held = "EER" if self.at.kind == "eer" else self.at.kind.upper()
        shared = f" {self.n_shared:,} subjects are in both." if self.n_shared else " No subject is in both."
        text = [
            f"The threshold at {self.at} of the development data, where their {held} is {per_cent(self.held)}, is "
            f"{typed(self.threshold)}; it could be anywhere from {_end(self.laxest)} (lax) to {_end(self.strictest)} "
            f"(strict).{shared}"
        ]
        for name in ERROR_RATES:
            one = self.rate(name)
            text.append(
                f"On the evaluation data the {name.upper()} is "
                f"{rate_with_interval(one.estimate, one.low, one.high)} with the uncertainty of the threshold, and "
                f"{rate_with_interval(one.estimate, one.given_low, one.given_high)} for this very threshold."
            )
        held_rate = None if self.at.kind == "eer" else self.rate(self.at.kind)
        if held_rate is not None and not math.isnan(held_rate.low):
            aim = self.at.value
            apart = held_rate.high < aim or held_rate.low > aim
            text.append(
                f"So the {held} is {'not ' if apart else ''}what the development data promised"
                + (
                    f": {'above' if held_rate.low > aim else 'below'} {per_cent(aim)} by more than chance."
                    if apart
                    else ", as far as the data tell."
                )
            )
        return "\n".join(map(visible, text))

    def _content(self) -> dict[str, Any]:
        return {
            "operating_point": str(self.at), "threshold": self.threshold, "laxest": self.laxest,
            "strictest": self.strictest, "held": self.held, "n_shared": self.n_shared,
            "confidence_level": self.confidence_level, "rates": records(self._columns()),
        }  # fmt: skip

    def _columns(self) -> dict[str, list[Any]]:
        return columns_of(self.rates)

    @checked
    def plot(self, ax: Axes | None = None, *, rate: str = "fmr") -> Axes:
        """Draw a rate of all comparisons and of each group, with both intervals.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; a new figure by default.
        rate : {"fmr", "fnmr"}
            The rate.

        Returns
        -------
        matplotlib Axes
        """
        from .plots import draw_applied

        validation.choice("rate", rate, ERROR_RATES)
        rows = [self.rate(rate, group) for group in (None, *self.groups)]
        return draw_applied(rows, rate, self.at.value if self.at.kind == rate else math.nan, ax)


def _end(threshold: float) -> str:
    return "no limit" if math.isinf(threshold) else f"{threshold:g}"
