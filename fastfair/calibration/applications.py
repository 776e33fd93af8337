"""`Application`: how often comparisons are mated where a system is used, and what its errors cost there."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from fastfair._lib import validation
from fastfair._lib.arguments import checked
from fastfair.error_rates.score_metrics import DetectionCosts
from fastfair.errors import InputError


@checked
@dataclass(frozen=True)
class Application:
    """A prior and costs, which fix the threshold that is best for log-likelihood ratios.

    Attributes
    ----------
    p_target : float
        Prior probability of a mated comparison, in (0, 1).
    c_miss, c_fa : float, default 1
        Costs of a false non-match and of a false match.

    Raises
    ------
    InputError
        For a prior outside (0, 1) or costs that are not positive.

    Examples
    --------
    >>> import fastfair as ff
    >>> often = ff.Application(0.05, c_miss=1, c_fa=10)
    >>> str(often), round(often.threshold, 3), round(often.effective_prior, 5)
    ('p_target=0.05, c_miss=1, c_fa=10', 5.247, 0.00524)
    """

    p_target: float
    c_miss: float = 1
    c_fa: float = 1

    def __post_init__(self) -> None:
        object.__setattr__(self, "p_target", validation.open_fraction("p_target", self.p_target))
        for name in ("c_miss", "c_fa"):
            object.__setattr__(self, name, validation.positive(name, getattr(self, name)))

    @property
    def threshold(self) -> float:
        """The Bayes threshold log(c_fa (1 - p_target) / (c_miss p_target)), from which on accepting costs less."""
        return self.costs().threshold

    @property
    def effective_prior(self) -> float:
        """The prior at which equal costs have the same threshold."""
        return 1 / (1 + math.exp(self.threshold))

    @checked
    def costs(self, normalize: bool = False) -> DetectionCosts:
        """Return the costs; normalised, 1 is what accepting or rejecting everything costs, whichever is lower."""
        return DetectionCosts(self.p_target, self.c_miss, self.c_fa, normalize)

    def __str__(self) -> str:
        costs = "" if self.c_miss == self.c_fa == 1 else f", c_miss={self.c_miss:g}, c_fa={self.c_fa:g}"
        return f"p_target={self.p_target:g}{costs}"


def checked_applications(applications: Application | Sequence[Application]) -> tuple[Application, ...]:
    """Return applications without repetitions; none is an error."""
    found = tuple(dict.fromkeys([applications] if isinstance(applications, Application) else applications))
    if not found:
        raise InputError("applications is empty: give at least one, such as Application(0.01)")
    return found
