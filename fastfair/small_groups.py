"""`shrunken_rates`: error rates of groups that borrow from the other groups, with intervals, beside
the raw ones.

The law of groups' true rates is learned from all of them: a hierarchical beta-binomial.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import betainc, betaln, expit, logit

from fastfair._lib.arguments import checked
from fastfair._lib.arrays import Floats, Integers
from fastfair._lib.plots import USUAL, Bar, draw_rows
from fastfair._lib.text import per_cent
from fastfair.data.sessions import refuse_sessions
from fastfair.error_rates.operating_points import OperatingPoint
from fastfair.error_rates.rates import ErrorRate
from fastfair.errors import InputError
from fastfair.evaluation.result import Evaluation
from fastfair.measures._registry import METRICS
from fastfair.results.result import Result
from fastfair.uncertainty.few_errors import SampleSizes

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# Points of the grid over the law of groups' rates: its mean, and the share of its variance.
_N_MEANS = 49
_N_SHARES = 24
_NEGLIGIBLE = 1e-5  # of the posterior probability
# the mean of the groups' law lies within so many times below and above the groups' rates
_FARTHEST = 4.0
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
        """Return the (groups,) posterior means of the rates of groups with so many errors among n
        comparisons.
        """
        return np.asarray(
            ((errors[:, None] + self.mean * self.size) / (n[:, None] + self.size)) @ self.weight
        )

    def shares(self, n: Floats) -> Floats:
        """Return what share of each (groups,) rate comes from the other groups, on average over the
        posterior.
        """
        return np.asarray((self.size / (n[:, None] + self.size)) @ self.weight)

    def quantiles(self, errors: Floats, n: Floats, share: float) -> Floats:
        """Return the (groups,) quantiles of the groups' true rates, by bisection."""
        a = errors[:, None] + self.mean * self.size
        b = (n - errors)[:, None] + (1 - self.mean) * self.size
        low, high = np.zeros(n.size), np.ones(n.size)
        for _ in range(_STEPS):
            # By geometric means, as rates may be powers of ten apart; the first step leaves 0.
            middle = np.where(low > 0, np.sqrt(low * high), high * 1e-3)
            below = betainc(a, b, middle[:, None]) @ self.weight < share
            low, high = np.where(below, middle, low), np.where(below, high, middle)
        return high


def learn(errors: Floats, n: Floats) -> GroupLaws:
    """Weigh the laws from which the groups' true rates may come by how well they explain all
    groups' errors.

    Given are the (groups,) numbers of independent comparisons that tell as much as each group's,
    and of errors among them, which need not be whole. At least one group has errors, and one has
    comparisons without.

    A priori the mean's log odds are uniform, from a quarter of the least to four times the largest
    of the groups' (x + 1/2) / (n + 1), and so is the share M / (M + n0) that a group of n0
    comparisons takes from the others, with the harmonic mean n0 of the groups' n: the uniform
    shrinkage prior [1].

    [1] Daniels, "A prior for the variance in hierarchical models", Canadian Journal of Statistics
    27 (1999).
    """
    about = (errors + 0.5) / (n + 1)
    lowest = logit(about.min()) - np.log(_FARTHEST)
    highest = logit(about.max()) + np.log(_FARTHEST)
    mean = expit(np.linspace(lowest, highest, _N_MEANS))
    root = (np.arange(_N_SHARES) + 0.5) / _N_SHARES  # so that small shares lie close together
    size = root**2 / (1 - root**2) * n.size / (1 / n).sum()
    mean, size, root = (
        grid.ravel() for grid in np.broadcast_arrays(mean, size[:, None], root[:, None])
    )
    a = mean * size
    b = (1 - mean) * size
    explained = np.log(root)  # the prior
    for x, comparisons in zip(errors, n, strict=True):
        explained += betaln(a + x, b + comparisons - x) - betaln(a, b)
    weight = np.exp(explained - explained.max())
    weight /= weight.sum()
    kept = weight > _NEGLIGIBLE
    return GroupLaws(mean[kept], size[kept], weight[kept] / weight[kept].sum())


_FEWEST_GROUPS = 3  # fewer say too little of how much groups differ


@dataclass(frozen=True, eq=False, repr=False)
class ShrunkenRates(Result):
    """The result of `shrunken_rates`.

    Attributes
    ----------
    rate : {"fmr", "fnmr"}
        The rate.
    at : OperatingPoint
        The operating point.
    groups : tuple of str
        The groups that have such comparisons.
    n_comparisons, n_errors : (g,) ndarray of int64
        Numbers of comparisons of each group, and of errors among them.
    n_effective : (g,) ndarray
        Effective sample size.
    raw, raw_low, raw_high : (g,) ndarray
        Each group's own rate with its interval, as in the evaluation.
    shrunken, low, high : (g,) ndarray
        The rate drawn towards those of the other groups, with its interval.
    borrowed : (g,) ndarray
        The share of the shrunken rate that comes from the other groups, in [0, 1].
    between : float
        Standard deviation of the groups' true rates, as far as the data tell: 0 where groups are
        alike.
    confidence_level : float
        The level of the intervals.
    """

    rate: str
    at: OperatingPoint
    groups: tuple[str, ...]
    n_comparisons: Integers
    n_errors: Integers
    n_effective: Floats
    raw: Floats
    raw_low: Floats
    raw_high: Floats
    shrunken: Floats
    low: Floats
    high: Floats
    borrowed: Floats
    between: float
    confidence_level: float

    _title = "Rates of groups that borrow from the others"
    _printed = "group n_comparisons n_errors raw shrunken borrowed"
    _estimate = "shrunken"
    _per_group = (
        "n_comparisons n_errors n_effective raw raw_low raw_high shrunken low high borrowed"
    )

    def _sentences(self) -> list[str]:
        """Return the sentences of the summary."""
        rate = self.rate.upper()
        most = int(self.borrowed.argmax())
        low, high = int(self.shrunken.argmin()), int(self.shrunken.argmax())
        return [
            (
                f"Shrunken {rate}s of {len(self.groups)} groups at {self.at}: groups with less data"
                " are shrunk more. They do not replace the raw rates."
            ),
            (
                f"They range from {per_cent(self.shrunken[low])} ({self.groups[low]}) to"
                f" {per_cent(self.shrunken[high])} ({self.groups[high]}); the raw ones from"
                f" {per_cent(self.raw.min())} to {per_cent(self.raw.max())}."
            ),
            (
                f"{self.groups[most]} borrows most: {100 * self.borrowed[most]:.0f} % of its"
                f" shrunken rate, {per_cent(self.shrunken[most])} [{per_cent(self.low[most])},"
                f" {per_cent(self.high[most])}], comes from the other groups; its own is"
                f" {per_cent(self.raw[most])} [{per_cent(self.raw_low[most])},"
                f" {per_cent(self.raw_high[most])}]."
            ),
            (
                f"The intervals hold {100 * self.confidence_level:g} % of the groups' true rates,"
                " on average over groups; that of a group unlike all others misses more often."
            ),
        ]

    @checked
    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw the raw rate of each group with its interval, and below it the shrunken one.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; a new figure by default.

        Returns
        -------
        matplotlib Axes
        """
        raw = (self.raw, self.raw_low, self.raw_high)
        shrunken = (self.shrunken, self.low, self.high)
        bars = [
            Bar(row + shift, value, low, high, color, marker, label=label)
            for rates, shift, color, marker, label in (
                (raw, -0.15, "0.55", "o", "the group's own"),
                (shrunken, 0.15, USUAL, "D", "shrunken"),
            )
            for row, (value, low, high) in enumerate(zip(*rates, strict=True))
        ]
        return draw_rows(ax, self.groups, bars, xlabel=METRICS[self.rate].long_title)


@checked
def shrunken_rates(
    evaluation: Evaluation, rate: ErrorRate = "fnmr", at: OperatingPoint | None = None
) -> ShrunkenRates:
    """Estimate the error rates of small groups better on average, by drawing each towards those of
    the others.

    The rate of a small group is mostly chance: of thirty groups, the one with the highest rate is
    likely a small one. How much groups really differ is learned from all of them, and each group's
    rate is the mean of what its own data and the other groups say: empirical Bayes, by a
    hierarchical beta-binomial model. The raw rates stay beside them.

    Parameters
    ----------
    evaluation : Evaluation
        Rates of three groups or more, with replicates and intervals to both sides, which hold one
        at a time.
    rate : {"fnmr", "fmr"}
        The error rate.
    at : OperatingPoint, optional
        The operating point; needed where the evaluation has more than one.

    Returns
    -------
    ShrunkenRates

    Raises
    ------
    InputError
        For fewer than three groups with such comparisons, without any error, and for an evaluation
        without replicates, or whose units are samples.

    Notes
    -----
    The effective sample size of a group is the number n of its comparisons over their design
    effect, for which one correlation of all groups is estimated: 1 + (m0 - 1) rho for FNMRs, with
    the sum of m^2 over the sum of m attempts m0 of the group's own subjects and the intra-class
    correlation rho, and for FMRs what repeated comparisons and those that share a subject add
    (`fmr_test`). Intervals are posterior quantiles. They hold their level on average over groups
    [1]_, not for a group that is unlike all others: it stays drawn towards them, so look at its raw
    rate and limits, too.

    References
    ----------
    .. [1] Morris, "Parametric empirical Bayes inference: theory and applications", JASA 78 (1983).

    Examples
    --------
    >>> import numpy as np
    >>> import fastfair as ff
    >>> rng = np.random.default_rng(0)
    >>> people = np.arange(200)
    >>> group = np.array(list("abcd"))[np.minimum(people // 60, 3)]  # the last of them has 20 people
    >>> mated, others = rng.normal(2, 1, 200), rng.normal(0, 1, 200)
    >>> probe = np.r_[people, np.r_[people[1:], 0]]
    >>> c = ff.Comparisons(np.r_[mated, others], np.repeat([1, 0], 200), np.r_[people, people], probe,
    ...                    np.r_[group, group], group[probe])
    >>> ev = ff.evaluate(c, ff.at_threshold(1.0), [], metrics=[], rng=0)
    >>> shrunken = ff.shrunken_rates(ev, "fnmr")
    >>> shrunken.raw.round(3).tolist(), shrunken.shrunken.round(3).tolist()
    ([0.133, 0.167, 0.2, 0.2], [0.158, 0.171, 0.183, 0.179])
    """
    evaluation.quantity(rate, None, at)  # refuses what is not there, or there more than once
    uncertainty = evaluation.uncertainty
    if uncertainty is None or not uncertainty.has_replicates:
        raise InputError("evaluation has no replicates: evaluate with ⟦n_resamples⟧ > 0")
    if evaluation.settings["alternative"] != "two-sided" or evaluation.settings["simultaneous"]:
        raise InputError(
            "evaluation has intervals to one side, or simultaneous ones: use those of evaluate's"
            " defaults"
        )
    rows = [
        k
        for k, q in enumerate(evaluation.quantities)
        if q.name == rate and q.group is not None and (at is None or q.at == at)
        if q.n_comparisons and not q.is_held
    ]
    if len(rows) < _FEWEST_GROUPS:
        raise InputError(
            f"evaluation has {len(rows)} groups with an {rate.upper()}: at least {_FEWEST_GROUPS}"
            " are needed to learn how much groups differ"
        )
    quantities = [evaluation.quantities[k] for k in rows]
    raw = np.array([q.estimate for q in quantities])
    if not raw.any() or (raw == 1).all():
        raise InputError(
            f"no group has {'errors' if not raw.any() else 'anything but errors'}: nothing can be"
            " learned"
        )
    if np.isfinite(uncertainty.sizes.sessions).any():
        refuse_sessions(uncertainty.sizes.sessions, "what groups borrow from each other")
    n = _effective_sizes(evaluation, uncertainty.sizes, rows)
    laws = learn(raw * n, n)
    level = float(evaluation.settings["confidence_level"])
    tails = (1 - level) / 2, (1 + level) / 2
    low, high = (laws.quantiles(raw * n, n, tail) for tail in tails)
    assert quantities[0].at is not None
    return ShrunkenRates(
        rate=rate,
        at=quantities[0].at,
        groups=tuple(str(q.group) for q in quantities),
        n_comparisons=np.array([q.n_comparisons for q in quantities]),
        n_errors=np.array([q.n_errors for q in quantities]),
        n_effective=n,
        raw=raw,
        raw_low=np.array([q.low for q in quantities], np.float64),
        raw_high=np.array([q.high for q in quantities], np.float64),
        shrunken=laws.rates(raw * n, n),
        low=low,
        high=high,
        borrowed=laws.shares(n),
        between=laws.between,
        confidence_level=level,
        left_out=evaluation.left_out,
    )


def _effective_sizes(evaluation: Evaluation, sizes: SampleSizes, rows: list[int]) -> Floats:
    """Return the effective sample sizes of groups' rates, at least 1."""
    quantities = [evaluation.quantities[k] for k in rows]
    at = [rates.at for rates in evaluation.rates].index(quantities[0].at)  # type: ignore[arg-type]  # rates have one
    models = [] if sizes.count_models is None else sizes.count_models()
    if not models:
        raise InputError(
            "evaluation draws samples: what groups tell is known of subjects or comparisons as"
            " units"
        )
    model = models[at][quantities[0].name]
    model = model.take([evaluation.groups.index(str(q.group)) for q in quantities])
    rate = model.errors.sum() / model.comparisons.sum()
    effect = 1 + model.linear + model.quadratic * rate / model.comparisons
    return np.asarray(np.maximum(model.comparisons / effect, 1.0))
