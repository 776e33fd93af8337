"""The slow, obvious oracle of costs of log-likelihood ratios: in fifty digits, with sums of
fractions."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal, localcontext
from fractions import Fraction


def cost(score: float, mated: bool) -> Fraction:
    """ln(1 + exp(-s)) of a mated comparison, ln(1 + exp(s)) of a non-mated one, in nats."""
    with localcontext() as context:
        context.prec = 50
        x = Decimal(-score if mated else score)
        odds = (
            (-abs(x)).exp() if abs(x) < 1000 else Decimal(0)
        )  # a fraction would have hundreds of thousands of digits
        # ln(1 + odds), whose first terms are enough where 1 + odds would lose digits.
        left = (1 + odds).ln() if odds > Decimal("1e-20") else odds - odds**2 / 2
        return Fraction(max(x, Decimal(0)) + left)


def mean_cost(scores: Sequence[float], mated: bool, weights: Sequence[int]) -> float:
    """The weighted mean of costs, in nats; there is some weight."""
    total = sum(
        (weight * cost(score, mated) for score, weight in zip(scores, weights, strict=True)),
        Fraction(0),
    )
    return float(total / sum(weights))
