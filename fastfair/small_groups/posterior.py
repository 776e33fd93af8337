"""The law of groups' true rates, learned from all of them, and what it says of each: a hierarchical beta-binomial."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
_N_MEANS, _N_SHARES = 49, 24
_NEGLIGIBLE = 1e-5  # of the posterior probability
_FARTHEST = 4.0  # the mean of the groups' law lies within so many times below and above the groups' rates
_STEPS = 40  # of a bisection


@dataclass(frozen=True)
class GroupLaws:
    """Beta laws from which the groups' true rates may come, and the posterior probability of each.

    Attributes
    ----------
    mean, size : (laws,) ndarray
        Mean m, and number M of comparisons that the law is worth: Beta(m M, (1 - m) M).
    weight : (laws,) ndarray
        Posterior probabilities, which sum to 1.
    """

    mean: Floats
    size: Floats
    weight: Floats

    @property
    def between(self) -> float:
        """Posterior mean of the standard deviation of the groups' true rates."""
        return float(self.weight @ np.sqrt(self.mean * (1 - self.mean) / (self.size + 1)))

    def rates(self, errors: Floats, n: Floats) -> Floats:
        """Return the (groups,) posterior means of the rates of groups with so many errors among n comparisons."""
        return np.asarray(((errors[:, None] + self.mean * self.size) / (n[:, None] + self.size)) @ self.weight)

    def shares(self, n: Floats) -> Floats:
        """Return what share of each (groups,) rate comes from the other groups, on average over the posterior."""
        return np.asarray((self.size / (n[:, None] + self.size)) @ self.weight)

    def quantiles(self, errors: Floats, n: Floats, share: float) -> Floats:
        """Return the (groups,) quantiles of the groups' true rates, by bisection."""
        from scipy.special import betainc

        a, b = (errors[:, None] + self.mean * self.size), (n - errors)[:, None] + (1 - self.mean) * self.size
        low, high = np.zeros(n.size), np.ones(n.size)
        for _ in range(_STEPS):
            # By geometric means, as rates may be powers of ten apart; the first step leaves 0.
            middle = np.where(low > 0, np.sqrt(low * high), high * 1e-3)
            below = betainc(a, b, middle[:, None]) @ self.weight < share
            low, high = np.where(below, middle, low), np.where(below, high, middle)
        return high


def learn(errors: Floats, n: Floats) -> GroupLaws:
    """Weigh the laws from which the groups' true rates may come by how well they explain all groups' errors.

    Parameters
    ----------
    errors, n : (groups,) ndarray
        Numbers of independent comparisons that tell as much as each group's, and of errors among them; both need not
        be whole. At least one group has errors, and one has comparisons without.

    Returns
    -------
    GroupLaws

    Notes
    -----
    A priori the mean's log odds are uniform, from a quarter of the least to four times the largest of the groups'
    (x + 1/2) / (n + 1), and so is the share M / (M + n0) that a group of n0 comparisons takes from the others, with
    the harmonic mean n0 of the groups' n: the uniform shrinkage prior [1]_.

    References
    ----------
    .. [1] Daniels, "A prior for the variance in hierarchical models", Canadian Journal of Statistics 27 (1999).
    """
    from scipy.special import betaln, expit, logit

    about = (errors + 0.5) / (n + 1)
    ends = logit(about.min()) - np.log(_FARTHEST), logit(about.max()) + np.log(_FARTHEST)
    mean = expit(np.linspace(*ends, _N_MEANS))
    root = (np.arange(_N_SHARES) + 0.5) / _N_SHARES  # so that small shares lie close together
    size = root**2 / (1 - root**2) * n.size / (1 / n).sum()
    mean, size, root = (grid.ravel() for grid in np.broadcast_arrays(mean, size[:, None], root[:, None]))
    a, b = mean * size, (1 - mean) * size
    explained = np.log(root)  # the prior
    for x, comparisons in zip(errors, n, strict=True):
        explained += betaln(a + x, b + comparisons - x) - betaln(a, b)
    weight = np.exp(explained - explained.max())
    weight /= weight.sum()
    kept = weight > _NEGLIGIBLE
    return GroupLaws(mean[kept], size[kept], weight[kept] / weight[kept].sum())
