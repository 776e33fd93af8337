"""ROC and DET curves, EER, actual and minimum detection cost, Cllr and min Cllr: of sorted keys,
and of comparisons.

Costs of log-likelihood ratios are whole numbers, whose sums are exact and do not depend on any
order.
"""

from __future__ import annotations

import math
import threading
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Literal, NamedTuple, get_args

import numpy as np

from fastfair._lib.arguments import KINDS, Kind, Positive, Probability, checked
from fastfair._lib.arrays import AnyFloats, Flags, Floats, Groups, Integers
from fastfair._lib.plots import axes_or_new, probit_axes, roc_axes
from fastfair._lib.threads import count_threads, in_threads, run_in_order
from fastfair.data import score_keys
from fastfair.data.checks import LOG_LIKELIHOOD_RATIO
from fastfair.data.comparisons import Comparisons, keys_of
from fastfair.data.scans import KeptComparisons, Reader, SpilledPairs
from fastfair.data.sorted_scores import ClassKeys, not_kept, require_scores
from fastfair.data.vector_pairs import PairsOfVectors
from fastfair.errors import InputError

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_AT_ONCE = 2**18  # costs that are computed together
_LOW = 2**32 - 1  # the low word of a cost


@dataclass(frozen=True)
class ExactCosts:
    """Costs of mated, or of non-mated, comparisons, as multiples of a power of 2.

    The largest cost of the class has 62 bits, so that a cost is rounded by at most 2^-62 of the
    largest one.

    Attributes
    ----------
    mated : bool
        Whether the comparisons are mated.
    exponent : int
        Costs are multiples of 2^exponent nats.
    log_odds : float
        Prior log odds of a mated comparison, which are added to each log-likelihood ratio.
    """

    mated: bool
    exponent: int
    log_odds: float = 0.0
    bits: ClassVar[int] = 62  # of the largest cost

    def of(self, keys: score_keys.Keys) -> Integers:
        """Return the costs of comparisons as multiples, (n,)."""
        costs = _costs(keys, self.mated, self.log_odds)
        return np.rint(np.ldexp(costs, -self.exponent)).astype(np.int64)

    def nats(self, words: Integers) -> Any:
        """Return sums in nats, (n,), from their words of 32 bits, (words, n), the lowest first."""
        total = np.zeros(words.shape[1:])
        for word in words[::-1]:
            total = total * 2.0**32 + word
        return np.ldexp(total, self.exponent)

    def mean(self, keys: score_keys.Keys) -> float:
        """Return the mean cost of comparisons in nats."""
        words = np.zeros((2, 1), np.int64)
        for start in range(0, keys.size, _AT_ONCE):
            costs = self.of(keys[start : start + _AT_ONCE])
            words += [[(costs & _LOW).sum()], [(costs >> 32).sum()]]
        return float(self.means(words, np.array([keys.size]))[0])

    def means(self, words: Integers, sizes: Integers) -> Floats:
        """Return (n,) means in nats, from (2, n) sums of their lower and higher 32 bits, and (n,)
        numbers of costs.
        """
        carried = np.stack((words[0] & _LOW, words[1] + (words[0] >> 32)))
        return self.nats(carried) / np.maximum(sizes, 1)


def exact_costs(keys: ClassKeys, log_odds: float = 0.0) -> tuple[ExactCosts, ExactCosts]:
    """Find in what units to count the costs of mated, and of non-mated, comparisons.

    Parameters
    ----------
    keys : ClassKeys
        Sorted keys of all comparisons of both classes, or of those near the errors, whose costs are
        the largest.
    log_odds : float
        As in `ExactCosts`.

    Returns
    -------
    tuple of ExactCosts
    """
    costs = []
    (low, high) = keys.limits or (0, 0)
    # Where a scan has kept none, the lowest mated key is the limit, and the highest non-mated one
    # lies just below it.
    for kept, limit, mated in ((keys.mated[:1], high, True), (keys.nonmated[-1:], low - 1, False)):
        worst = (
            kept
            if kept.size or not keys.sizes[0 if mated else 1]
            else np.array([limit], kept.dtype)
        )
        largest = _costs(worst, mated, log_odds).max(initial=0.0)
        costs.append(ExactCosts(mated, int(np.frexp(largest)[1]) - ExactCosts.bits, log_odds))
    return costs[0], costs[1]


def _costs(keys: score_keys.Keys, mated: bool, log_odds: float) -> Floats:
    """Compute the cost of each comparison, in nats, from its log-likelihood ratio."""
    ratios = score_keys.decode(keys).astype(np.float64) + log_odds
    return np.logaddexp(0, -ratios if mated else ratios)


EerMethod = Literal["nearest", "nearest-max", "interpolated", "convex-hull"]
EER_METHODS: tuple[EerMethod, ...] = get_args(EerMethod)


class RocPoint(NamedTuple):
    """A threshold as a key, and how many mated and non-mated comparisons lie below it."""

    key: np.signedinteger[Any]
    below_mated: int
    below_nonmated: int


def nearest_equal_error(keys: ClassKeys) -> RocPoint:
    """Find the point of the lowest key at which |FMR - FNMR| is smallest, comparing exactly."""
    low, high = _bracket(keys)
    m, n = keys.sizes
    gap_low = (n - low.below_nonmated) * m - low.below_mated * n
    gap_high = high.below_mated * n - (n - high.below_nonmated) * m
    return low if gap_low <= gap_high and low.key != score_keys.failed_key(keys.mated) else high


def equal_error(keys: ClassKeys, method: str) -> tuple[float, float]:
    """Compute an equal error rate and its similarity threshold.

    Parameters
    ----------
    keys : ClassKeys
        Sorted keys of comparisons of both classes.
    method : str
        As in `eer`.

    Returns
    -------
    value, similarity : float
    """
    m, n = keys.sizes
    if method in ("nearest", "nearest-max"):
        point = nearest_equal_error(keys)
        fmr = (n - point.below_nonmated) / n
        fnmr = point.below_mated / m
        value = (fmr + fnmr) / 2 if method == "nearest" else max(fmr, fnmr)
        return value, float(score_keys.decode(np.array([point.key]))[0])
    if method == "interpolated":
        low, high = _bracket(keys)
        x = np.array([n - low.below_nonmated, n - high.below_nonmated]) / n
        y = np.array([low.below_mated, high.below_mated]) / m
        at = score_keys.decode(np.array([low.key, high.key])).astype(np.float64)
        share = _share_to_equal(x, y)
        return _between(x, share), _between(at, share)
    from fastfair.kernels import curves as kernels

    keys.require_all("the convex hull")
    false_matches, false_nonmatches = kernels.convex_hull(keys.mated, keys.nonmated)
    x, y = false_matches / n, false_nonmatches / m
    after = int(np.argmax(x <= y))  # from (1, 0) to (0, 1), so there is one, and not the first
    edge = slice(after - 1, after + 1)
    return _between(x[edge], _share_to_equal(x[edge], y[edge])), float("nan")


def _share_to_equal(x: Floats, y: Floats) -> float:
    """Return the share of the way between two points after which x and y, each (2,), are equal."""
    first, second = x - y
    return float(first / (first - second))


def _between(ends: Floats, share: float) -> float:
    """Return the number that lies a share of the way between two."""
    return float(ends[0] + share * (ends[1] - ends[0]))


def prior_log_odds(p_target: float) -> float:
    """Return the log odds of a mated comparison at a prior."""
    return float(np.log(p_target) - np.log1p(-p_target)) if p_target != 0.5 else 0.0


def ratio_cost(p_target: float, of_mated: Any, of_nonmated: Any) -> Any:
    """Return the Cllr of mean costs in nats: a share of what scores that say nothing would cost at
    the prior.
    """
    p = p_target
    q = 1 - p_target
    without_scores = -2 * float(p * np.log(p) + q * np.log(q))
    return (2 * p * of_mated + 2 * q * of_nonmated) / without_scores


def log_likelihood_ratio_cost(
    keys: ClassKeys, exact: tuple[ExactCosts, ExactCosts] | None = None, p_target: float = 0.5
) -> float:
    """Compute the Cllr of sorted keys of comparisons of both classes.

    exact: what mated, and non-mated, comparisons cost at the prior, where the keys are of a group.
    """
    keys.require_all("Cllr")
    of_mated, of_nonmated = exact_costs(keys, prior_log_odds(p_target)) if exact is None else exact
    return float(ratio_cost(p_target, of_mated.mean(keys.mated), of_nonmated.mean(keys.nonmated)))


def least_log_likelihood_ratio_cost(keys: ClassKeys, p_target: float = 0.5) -> float:
    """Compute the min Cllr of sorted keys of comparisons of both classes."""
    keys.require_all("min Cllr")
    of_classes = calibrated_costs(keys.mated, keys.nonmated, prior_log_odds(p_target))
    means = [float(costs @ counts / counts.sum()) for costs, counts in of_classes]
    return float(ratio_cost(p_target, *means) * np.log(2))  # bits to nats


def nonmated_beyond(mated: score_keys.Keys, nonmated: score_keys.Keys) -> tuple[Integers, Integers]:
    """Count the non-mated comparisons that are more similar than each mated one, and those that are
    at least as similar, (m,) each; keys ascend.
    """
    places = (np.searchsorted(nonmated, mated, side) for side in ("right", "left"))
    above, at_least = (nonmated.size - place for place in places)
    return above, at_least


def area_under_curve(keys: ClassKeys) -> float:
    """Compute the AUC of sorted keys of comparisons of both classes."""
    keys.require_all("the AUC")
    above, at_least = nonmated_beyond(keys.mated, keys.nonmated)
    return 1 - int(above.sum() + at_least.sum()) / (2 * keys.mated.size * keys.nonmated.size)


_CONSTANT = 1e-12  # the variance, of scores with a spread of 1, that rounding makes of none


def decidability(of_mated: tuple[Any, Any], of_nonmated: tuple[Any, Any]) -> Any:
    """Compute d' of the mean and the mean square of mated, and of non-mated scores, whose spread
    together is about 1.
    """
    variance = sum(square - mean**2 for mean, square in (of_mated, of_nonmated)) / 2
    with np.errstate(divide="ignore", invalid="ignore"):
        spread = np.sqrt(np.where(variance < _CONSTANT, 0.0, variance))
        return np.divide(of_mated[0] - of_nonmated[0], spread)


def centred_scores(keys: ClassKeys, *others: score_keys.Keys) -> list[Floats]:
    """Return the similarities of mated and non-mated keys, and of others, less the mean of the
    first two, over their spread.
    """
    scores = [
        score_keys.decode(part).astype(np.float64) for part in (keys.mated, keys.nonmated, *others)
    ]
    both = np.concatenate(scores[:2])
    center, spread = float(both.mean()), float(both.std()) or 1.0
    return [(part - center) / spread for part in scores]


def decidability_index(keys: ClassKeys) -> float:
    """Compute the d' of sorted keys of comparisons of both classes."""
    keys.require_all("d'")
    return float(
        decidability(
            *((float(part.mean()), float((part**2).mean())) for part in centred_scores(keys))
        )
    )


def calibrated_costs(
    mated: score_keys.Keys, nonmated: score_keys.Keys, log_odds: float = 0.0
) -> tuple[tuple[Floats, Integers], ...]:
    """Compute the log-likelihood-ratio cost of comparisons after the best monotone calibration, in
    bits.

    Parameters
    ----------
    mated, nonmated : (n,) ndarray of int
        Sorted keys, neither empty.
    log_odds : float
        Prior log odds of a mated comparison.

    Returns
    -------
    tuple of two ((edges,) ndarray, (edges,) ndarray of int)
        For mated and for non-mated comparisons: the cost of one comparison on each edge of the
        ROC's convex hull, from the least similar scores on, and the number of comparisons on that
        edge.
    """
    from fastfair.kernels import curves as kernels

    false_matches, false_nonmatches = kernels.convex_hull(mated, nonmated)
    of_mated = np.diff(false_nonmatches)
    of_nonmated = -np.diff(false_matches)
    with np.errstate(divide="ignore", over="ignore"):
        ratio = (of_mated / mated.size) / (of_nonmated / nonmated.size) * np.exp(log_odds)
        inverse = 1 / ratio
        # Odds that overflow are so large that 1 more is nothing.
        costs = [
            np.where(
                np.isinf(odds) & (counts > 0),
                -np.log2(other),
                np.log2(1 + np.where(counts > 0, odds, 0)),
            )
            for counts, odds, other in ((of_mated, inverse, ratio), (of_nonmated, ratio, inverse))
        ]
    return (costs[0], of_mated), (costs[1], of_nonmated)


def rates_of(keys: ClassKeys, threshold: np.signedinteger[Any]) -> tuple[float, float]:
    """Return the FNMR and the FMR of sorted keys of comparisons of both classes at a threshold
    key.
    """
    keys.require("the actual DCF", threshold)
    false_nonmatches = score_keys.count_below(keys.mated, int(threshold))
    false_matches = keys.nonmated.size - score_keys.count_below(keys.nonmated, int(threshold))
    return false_nonmatches / keys.sizes[0], false_matches / keys.sizes[1]


@checked
@dataclass(frozen=True)
class Costs:
    """What errors cost where a system is used: a prior and two costs, which fix the threshold of
    the lowest cost.

    Attributes
    ----------
    p_target : float, default 0.05
        Prior probability of a mated comparison in the minDCF, in (0, 1).
    c_miss : float, default 1
        Cost of a false non-match in the minDCF.
    c_fa : float, default 1
        Cost of a false match in the minDCF.
    normalize : bool, default False
        Whether to divide the minDCF by the cost of accepting or of rejecting everything, whichever
        is lower.

    Raises
    ------
    InputError
        For a prior outside (0, 1) or costs that are not positive.

    Examples
    --------
    >>> import fastfair as ff
    >>> often = ff.Costs(0.05, c_miss=1, c_fa=10)
    >>> str(often), round(often.threshold, 3), round(often.effective_prior, 5)
    ('p_target=0.05, c_miss=1, c_fa=10', 5.247, 0.00524)
    """

    p_target: Probability = 0.05
    c_miss: Positive = 1
    c_fa: Positive = 1
    normalize: bool = False

    @property
    def miss(self) -> float:
        """The cost of rejecting everything, before it is normalised."""
        return self.c_miss * self.p_target

    @property
    def false_match(self) -> float:
        """The cost of accepting everything, before it is normalised."""
        return self.c_fa * (1 - self.p_target)

    @property
    def unit(self) -> float:
        """What costs are divided by."""
        return min(self.miss, self.false_match) if self.normalize else 1.0

    @property
    def threshold(self) -> float:
        """The Bayes threshold log(c_fa (1 - p_target) / (c_miss p_target)), from which on accepting
        costs less.
        """
        return float(np.log(self.false_match) - np.log(self.miss))

    @property
    def effective_prior(self) -> float:
        """The prior at which equal costs have the same threshold."""
        return 1 / (1 + math.exp(self.threshold))

    def __str__(self) -> str:
        costs = (
            "" if self.c_miss == self.c_fa == 1 else f", c_miss={self.c_miss:g}, c_fa={self.c_fa:g}"
        )
        return f"p_target={self.p_target:g}{costs}"

    @property
    def greatest(self) -> float:
        """The greatest possible cost, of wrong decisions only."""
        return float(mean_cost(self, 1.0, 1.0))

    @property
    def greatest_least(self) -> float:
        """The greatest possible minimum cost: accepting or rejecting everything, whichever costs
        less.
        """
        return min(self.miss, self.false_match) / self.unit


KINDS["Costs"] = Kind(
    "costs such as Costs(0.05, c_miss=1, c_fa=10)", "costs", lambda value: isinstance(value, Costs)
)


def mean_cost(costs: Costs, fnmr: Any, fmr: Any) -> Any:
    """Return the cost of a comparison where errors have these rates, numbers or arrays."""
    return (costs.miss * fnmr + costs.false_match * fmr) / costs.unit


def least_cost(
    costs: Costs, keys: ClassKeys, miss: float | None = None
) -> tuple[float, np.signedinteger[Any]]:
    """Return the minimum cost and the lowest key that has it, for sorted keys of comparisons of
    both classes.

    miss: the cost of rejecting all mated comparisons, where it is not that of `costs`.
    """
    from fastfair.kernels import curves as kernels

    mated, nonmated = keys.mated, keys.nonmated
    miss = costs.miss if miss is None else miss
    failed = score_keys.failed_key(mated)
    any_failed = any(of_class.size and of_class[0] == failed for of_class in (mated, nonmated))
    if any_failed and miss > costs.false_match:
        raise InputError(
            "minDCF: with this prior and these costs it is cheaper to accept everything than to"
            " reject everything, but comparisons that failed count as non-matches and cannot be"
            " accepted; choose ⟦p_target⟧, ⟦c_miss⟧ and ⟦c_fa⟧ such that ⟦p_target⟧ * ⟦c_miss⟧ <="
            ' (1 - ⟦p_target⟧) * ⟦c_fa⟧, or read them with ⟦failures="exclude"⟧'
        )
    cost, index, _ = kernels.least_cost(mated, nonmated, keys.sizes, miss, costs.false_match)
    # At thresholds at which not all errors are kept one rate is at least that of the errors kept.
    for costs_of_all, kept, n in zip(
        (miss, costs.false_match), (mated, nonmated), keys.sizes, strict=True
    ):
        if kept.size < n and cost >= costs_of_all * (kept.size / n):
            raise not_kept("minDCF", keys)
    # then rejecting everything costs no more
    above_all = index == mated.size or mated[index] == failed
    key = max(mated[-1], nonmated[-1]) + mated.dtype.type(1) if above_all else mated[index]
    return cost / costs.unit, key


def _bracket(keys: ClassKeys) -> tuple[RocPoint, RocPoint]:
    from fastfair.kernels import curves as kernels

    mated, nonmated = keys.mated, keys.nonmated
    if not (mated.size and nonmated.size):
        raise not_kept("the EER", keys)
    low, i, j, high, k, m = kernels.equal_error_bracket(mated, nonmated, keys.sizes)
    above_all = low == high
    if (
        above_all
        and keys.limits is not None
        and ((k, m) != keys.sizes or mated.size < keys.sizes[0])
    ):
        raise not_kept("the EER", keys)
    keys.require("the EER", low, high)
    kind = mated.dtype.type
    return RocPoint(kind(low), i, j), RocPoint(kind(high + 1 if above_all else high), k, m)


def ratio_costs_of_groups(comparisons: Comparisons) -> Floats:
    """Compute the Cllr of all comparisons and of each group.

    Parameters
    ----------
    comparisons : Comparisons
        The comparisons; of a scan, those that are kept.

    Returns
    -------
    (1 + groups,) ndarray
        NaN for a group without comparisons of one class.

    Raises
    ------
    InputError
        Where a scan has not kept all scores.
    """
    groups = range(len(comparisons.groups))
    lists = [keys_of(comparisons), *(keys_of(comparisons, k) for k in groups)]
    exact = exact_costs(lists[0])
    comparisons._require("costs")
    if not isinstance(comparisons, KeptComparisons):
        return np.array(
            [
                log_likelihood_ratio_cost(keys, exact) if all(keys.sizes) else np.nan
                for keys in lists
            ]
        )
    sizes = np.array([keys.sizes for keys in lists]).T
    totals = np.zeros(len(lists))
    for pairs, of_class, n in zip(comparisons.pairs, exact, sizes, strict=True):
        assert not isinstance(pairs, PairsOfVectors)  # which have no costs
        totals += _means(pairs, comparisons.group_of_number, len(groups), of_class, n)
    return np.where((sizes > 0).all(axis=0), totals / (2 * float(np.log(2))), np.nan)


def require_ratios(comparisons: Comparisons, what: str) -> None:
    """Raise an error where scores are not declared to be log-likelihood ratios."""
    if comparisons.score_kind != LOG_LIKELIHOOD_RATIO:
        raise InputError(
            f"{what} is that of log-likelihood ratios, but these scores are declared as"
            f" {comparisons.score_kind}: pass "
            f'⟦score_kind="{LOG_LIKELIHOOD_RATIO}"⟧ where they are, or make them so with `calibrate`'
        )


def _means(
    pairs: SpilledPairs, group: Groups, n_groups: int, exact: ExactCosts, sizes: Integers
) -> Floats:
    """Compute the mean costs of all comparisons of a class, and of those within each group, in
    nats.
    """
    from fastfair.kernels import scan as kernels

    words = np.zeros((2, 1 + n_groups), np.int64)
    lock = threading.Lock()

    def add(read: Reader) -> None:
        reference, probe, keys = read()
        words_of_groups = np.zeros((2, 1 + n_groups), np.int64)
        kernels.sum_costs_by_group(reference, probe, group, exact.of(keys), words_of_groups)
        with lock:
            words.__iadd__(words_of_groups)

    for _ in run_in_order(add, *pairs.buckets(count_threads(None))):
        pass
    return exact.means(words, sizes)


@dataclass(frozen=True, eq=False)
class Roc:
    """Error rates at every distinct score, in ascending order of similarity.

    Attributes
    ----------
    threshold : (p,) ndarray of float
        Every distinct score, and last the next float beyond the most similar one, at which nothing
        is accepted.
    fmr, fnmr : (p,) ndarray of float
        False match rate at each threshold, falling to 0; false non-match rate, rising to 1.
    """

    threshold: AnyFloats
    fmr: Floats
    fnmr: Floats

    def __len__(self) -> int:
        return self.threshold.size

    @checked
    def plot(self, ax: Axes | None = None, **kwargs: Any) -> Axes:
        """Draw FNMR over FMR, with FMR on a logarithmic axis.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; a new figure by default.
        **kwargs
            Passed to `Axes.plot`.

        Returns
        -------
        matplotlib Axes
        """
        ax = axes_or_new(ax)
        points = _visible(self.fmr, self.fnmr)
        ax.plot(self.fmr[points], self.fnmr[points], **kwargs)
        return roc_axes(ax)


@dataclass(frozen=True, eq=False)
class Det(Roc):
    """A detection error trade-off curve: error rates and their normal deviates, the coordinates of
    a DET plot.

    Attributes
    ----------
    threshold, fmr, fnmr : (p,) ndarray of float
        As in `Roc`.
    fmr_deviate, fnmr_deviate : (p,) ndarray of float
        Standard normal quantiles of the rates; infinite at rates of 0 and 1.
    """

    fmr_deviate: Floats
    fnmr_deviate: Floats

    @checked
    def plot(self, ax: Axes | None = None, **kwargs: Any) -> Axes:
        """Draw the curve on probit axes labelled in per cent.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; a new figure by default.
        **kwargs
            Passed to `Axes.plot`.

        Returns
        -------
        matplotlib Axes
        """
        ax = axes_or_new(ax)
        points = _visible(self.fmr, self.fnmr)
        x, y = self.fmr_deviate[points], self.fnmr_deviate[points]
        seen = np.isfinite(x) & np.isfinite(y)
        ax.plot(x[seen], y[seen], **kwargs)
        return probit_axes(ax)


@dataclass(frozen=True)
class Eer:
    """An equal error rate.

    Attributes
    ----------
    value : float
        The equal error rate, a fraction.
    threshold : float
        The threshold that has this rate, on the scale of the scores; NaN for "convex-hull", which
        mixes two thresholds.
    method : str
        The method of `eer` that was used.
    """

    value: float
    threshold: float
    method: str


@dataclass(frozen=True)
class ActDcf:
    """An actual detection cost.

    Attributes
    ----------
    value : float
        The cost.
    threshold : float
        The Bayes threshold: comparisons are accepted whose log-likelihood ratio is at least so
        large.
    fmr, fnmr : float
        The error rates there.
    """

    value: float
    threshold: float
    fmr: float
    fnmr: float


@dataclass(frozen=True)
class MinDcf:
    """A minimum detection cost.

    Attributes
    ----------
    value : float
        The minimum cost.
    threshold : float
        The lowest similarity threshold, or the highest distance threshold, that reaches it.
    """

    value: float
    threshold: float


NO_SCORE = 'read them with ⟦failures="exclude"⟧'
NO_CLLR = (
    'their log-likelihood ratio would be minus infinity; read them with ⟦failures="exclude"⟧, or'
    " leave it out"
)


@checked
def roc(comparisons: Comparisons) -> Roc:
    """Compute the error rates at every distinct score, exactly.

    Parameters
    ----------
    comparisons : Comparisons
        Scores of mated and non-mated comparisons.

    Returns
    -------
    Roc
        With `threshold`, `fmr` and `fnmr`, in ascending order of similarity. A threshold accepts
        similarities >= it, or distances <= it. FMR = accepted / all non-mated comparisons, FNMR =
        rejected / all mated comparisons. Where failed comparisons count as non-matches, the curve
        begins where all others are accepted.

    Examples
    --------
    >>> import fastfair as ff
    >>> curve = ff.roc(ff.Comparisons([0.9, 0.8, 0.3, 0.4, 0.1], [1, 1, 1, 0, 0]))
    >>> curve.fmr
    array([1. , 0.5, 0.5, 0. , 0. , 0. ])
    """
    from fastfair.kernels import curves as kernels

    comparisons._require_rates("a curve")
    mated, nonmated = comparisons.mated.keys, comparisons.nonmated.keys
    size = mated.size + nonmated.size + 1
    similarity = np.empty(size, score_keys.float_type(mated))
    fmr, fnmr = np.empty(size), np.empty(size)
    # The walks part in the middle and leave from it in both directions, so that what they write
    # meets without a gap whatever the ties.
    shorter, longer = sorted((mated, nonmated), key=len)
    split = kernels.middle(longer, shorter)
    i, j = kernels.count_below(mated, split), kernels.count_below(nonmated, split)
    bits = similarity.view(mated.dtype)
    arguments: tuple[Any, ...] = mated, nonmated, i, j, score_keys.magnitude(mated), bits, fmr, fnmr
    last, first = in_threads(
        size, lambda find: find(*arguments), (kernels.roc_above, kernels.roc_below)
    )
    with np.errstate(over="ignore"):  # above the largest float lies infinity
        similarity[last] = np.nextafter(similarity[last - 1], np.inf, dtype=similarity.dtype)
    fmr[last], fnmr[last] = 0, 1
    # No threshold accepts comparisons that failed: they are not among the points.
    points = slice(first + int(np.isneginf(similarity[first])), last + 1)
    threshold = (
        0 - similarity[points] if comparisons.score_kind == "distance" else similarity[points]
    )
    return Roc(threshold, fmr[points], fnmr[points])


@checked
def det(comparisons: Comparisons) -> Det:
    """Compute the coordinates of a detection error trade-off plot.

    Parameters
    ----------
    comparisons : Comparisons
        Scores of mated and non-mated comparisons.

    Returns
    -------
    Det
        The ROC with the standard normal quantiles of both rates.

    Examples
    --------
    >>> import fastfair as ff
    >>> ff.det(ff.Comparisons([0.9, 0.3, 0.4, 0.1], [1, 1, 0, 0])).fmr_deviate
    array([ inf,   0.,   0., -inf, -inf])
    """
    from scipy.special import ndtri

    curve = roc(comparisons)
    return Det(curve.threshold, curve.fmr, curve.fnmr, ndtri(curve.fmr), ndtri(curve.fnmr))


@checked
def eer(comparisons: Comparisons, method: EerMethod = "nearest") -> Eer:
    """Compute the equal error rate.

    Parameters
    ----------
    comparisons : Comparisons
        Scores of mated and non-mated comparisons.
    method : {"nearest", "nearest-max", "interpolated", "convex-hull"}
        How the EER is read off the curve. "nearest": the mean of FMR and FNMR at the score where
        the two are nearest (of two such scores, the less similar one). "nearest-max": the larger of
        the two rates at that score [1]_. "interpolated": the rate where the straight line between
        the ROC points on either side of FMR = FNMR meets it. "convex-hull": the rate where the
        ROC's convex hull meets it.

    Returns
    -------
    Eer
        With `value`, `threshold` and `method`.

    Raises
    ------
    InputError
        For an unknown method, and for "interpolated" and "convex-hull" where failed comparisons
        count as non-matches.

    References
    ----------
    .. [1] Hutiri et al., "As Biased as You Measure", section 3, as its software computes it.

    Examples
    --------
    >>> import fastfair as ff
    >>> c = ff.Comparisons([0.9, 0.8, 0.3, 0.4, 0.1], [1, 1, 1, 0, 0])
    >>> ff.eer(c, method="nearest-max")
    Eer(value=0.5, threshold=0.4, method='nearest-max')
    >>> round(ff.eer(c, method="interpolated").value, 4)
    0.3333
    """
    require_eer(comparisons, method)
    keys = keys_of(comparisons)
    value, similarity = equal_error(keys, method)
    if method.startswith("nearest"):
        return Eer(value, comparisons.to_threshold(nearest_equal_error(keys).key), method)
    return Eer(value, comparisons.to_scale(similarity), method)


@checked
def min_dcf(comparisons: Comparisons, costs: Costs = Costs()) -> MinDcf:
    """Compute the minimum of the detection cost over all thresholds.

    Parameters
    ----------
    comparisons : Comparisons
        Scores of mated and non-mated comparisons.
    costs : Costs
        The prior of a mated comparison, and the costs of errors.

    Returns
    -------
    MinDcf
        The minimum of c_miss * p_target * FNMR + c_fa * (1 - p_target) * FMR, and its threshold.

    Raises
    ------
    InputError
        Where failed comparisons count as non-matches and accepting everything would cost less than
        rejecting everything.

    Examples
    --------
    >>> import fastfair as ff
    >>> ff.min_dcf(ff.Comparisons([0.9, 0.8, 0.3, 0.4, 0.1], [1, 1, 1, 0, 0]), ff.Costs(p_target=0.5))
    MinDcf(value=0.16666666666666666, threshold=0.8)
    """
    comparisons._require_rates("minDCF")
    value, key = least_cost(costs, keys_of(comparisons))
    return MinDcf(value, comparisons.to_threshold(key))


@checked
def act_dcf(comparisons: Comparisons, costs: Costs = Costs()) -> ActDcf:
    """Compute the detection cost of the decisions that log-likelihood ratios themselves make.

    Parameters
    ----------
    comparisons : Comparisons
        Mated and non-mated comparisons whose scores are declared to be log-likelihood ratios.
    costs : Costs
        As in `min_dcf`.

    Returns
    -------
    ActDcf
        c_miss * p_target * FNMR + c_fa * (1 - p_target) * FMR at the Bayes threshold log(c_fa * (1
        - p_target) / (c_miss * p_target)), which is the best one for calibrated scores. It is not
        below the minimum, see `min_dcf`; the difference is what miscalibration costs.

    Raises
    ------
    InputError
        For scores that are not declared to be log-likelihood ratios, and as `min_dcf` does.

    Examples
    --------
    >>> import fastfair as ff
    >>> c = ff.Comparisons([3.0, 2.0, -0.5, 0.5, -2.0], [1, 1, 1, 0, 0], score_kind="log-likelihood-ratio")
    >>> costs = ff.act_dcf(c, ff.Costs(p_target=0.5))
    >>> costs.threshold, round(costs.value, 4), round(ff.min_dcf(c, ff.Costs(p_target=0.5)).value, 4)
    (0.0, 0.4167, 0.1667)
    """
    comparisons._require_rates("the actual DCF")
    require_ratios(comparisons, "the actual DCF")
    fnmr, fmr = rates_of(keys_of(comparisons), comparisons.to_key(costs.threshold))
    return ActDcf(mean_cost(costs, fnmr, fmr), costs.threshold, fmr, fnmr)


@checked
def cllr(comparisons: Comparisons, p_target: Probability = 0.5) -> float:
    """Compute the log-likelihood-ratio cost of scores that are natural-log likelihood ratios.

    Parameters
    ----------
    comparisons : Comparisons
        Scores of mated and non-mated comparisons; distances are negated first.
    p_target : float, default 0.5
        Prior probability of a mated comparison, in (0, 1).

    Returns
    -------
    float
        As a share of what scores that carry no information cost, which is in bits at the default
        prior: 0 for a perfect system, 1 for one whose scores carry no information, and it may be
        above 1 for badly calibrated scores. Raw similarity scores are not likelihood ratios: for
        them see `min_cllr`.

    Raises
    ------
    InputError
        For a prior outside (0, 1), and where failed comparisons count as non-matches: their
        log-likelihood ratio would be minus infinity.

    Notes
    -----
    With scores s and the prior p, it is p times the mean of log(1 + exp(-s - logit p)) over mated
    comparisons, plus 1 - p times the mean of log(1 + exp(s + logit p)) over non-mated ones, over -p
    log p - (1 - p) log(1 - p) [1]_.

    References
    ----------
    .. [1] Brümmer and du Preez, "Application-independent evaluation of speaker detection", Computer Speech and Language
       20 (2006).

    Examples
    --------
    >>> import fastfair as ff
    >>> ff.cllr(ff.Comparisons([0.0, 0.0], [1, 0]))
    1.0
    >>> round(ff.cllr(ff.Comparisons([2.0, -5.0], [1, 0]), p_target=0.01), 4)
    0.4775
    """
    comparisons._require_rates("Cllr")
    require_scores(comparisons.failed, "Cllr", NO_CLLR)
    return log_likelihood_ratio_cost(keys_of(comparisons), p_target=p_target)


@checked
def min_cllr(comparisons: Comparisons, p_target: Probability = 0.5) -> float:
    """Compute the Cllr that remains after the best monotone calibration of the scores.

    Parameters
    ----------
    comparisons : Comparisons
        Scores of mated and non-mated comparisons, on any scale.
    p_target : float, default 0.5
        As in `cllr`.

    Returns
    -------
    float
        On the scale of `cllr`, between 0 (perfect separation) and 1 (none).

    Raises
    ------
    InputError
        For a prior outside (0, 1), and where failed comparisons count as non-matches.

    Notes
    -----
    The best monotone calibration is that of pool adjacent violators, and follows from the convex
    hull of the ROC: all scores on one edge of the hull get the same likelihood ratio, the share of
    the mated comparisons that lie on the edge divided by the share of the non-mated ones.

    Examples
    --------
    >>> import fastfair as ff
    >>> ff.min_cllr(ff.Comparisons([0.9, 0.2], [1, 0]))
    0.0
    """
    comparisons._require_rates("min Cllr")
    require_scores(comparisons.failed, "min Cllr", NO_CLLR)
    return least_log_likelihood_ratio_cost(keys_of(comparisons), p_target)


@checked
def auc(comparisons: Comparisons) -> float:
    """Compute the area under the ROC curve.

    Parameters
    ----------
    comparisons : Comparisons
        Scores of mated and non-mated comparisons, on any scale.

    Returns
    -------
    float
        The share of all pairs of a mated and a non-mated comparison in which the mated one is more
        similar; ties count half. `evaluate` has its interval (``metrics="auc"``).

    Raises
    ------
    InputError
        Where failed comparisons count as non-matches.

    Notes
    -----
    It weighs all thresholds alike, most of which no system uses: two systems of the same AUC may
    have FNMRs at an FMR of 0.1 % that differ by a factor of ten.

    Examples
    --------
    >>> import fastfair as ff
    >>> ff.auc(ff.Comparisons([0.9, 0.4, 0.4, 0.1], [1, 1, 0, 0]))
    0.875
    """
    require_scores(comparisons.failed, "the AUC", NO_SCORE)
    return area_under_curve(keys_of(comparisons))


@checked
def d_prime(comparisons: Comparisons) -> float:
    """Compute the decidability index d'.

    Parameters
    ----------
    comparisons : Comparisons
        Scores of mated and non-mated comparisons.

    Returns
    -------
    float
        The difference of the means of mated and non-mated scores over the square root of the mean
        of their variances [1]_; `evaluate` has its interval (``metrics="d_prime"``).

    Raises
    ------
    InputError
        Where failed comparisons count as non-matches.

    References
    ----------
    .. [1] J. Daugman, "Biometric decision landscapes", Technical Report 482, University of
       Cambridge, 2000.

    Examples
    --------
    >>> import fastfair as ff
    >>> round(ff.d_prime(ff.Comparisons([6.0, 4.0, 3.0, 1.0], [1, 1, 0, 0])), 4)
    3.0
    """
    require_scores(comparisons.failed, "d'", NO_SCORE)
    return decidability_index(keys_of(comparisons))


def require_eer(comparisons: Comparisons, method: str) -> None:
    """Refuse a method of the EER that would draw lines to where failed comparisons are accepted."""
    comparisons._require_rates("the EER")
    if method in ("interpolated", "convex-hull"):
        require_scores(
            comparisons.failed,
            f'the EER by the method "{method}"',
            'use "nearest" or "nearest-max"',
        )


# points a unit of normal deviate: more cannot be told apart on paper and make vector files heavy
_RESOLUTION = 300


def _visible(fmr: AnyFloats, fnmr: AnyFloats) -> Flags:
    """Find the points of a curve that differ visibly from the point before on a DET plot."""
    from scipy.special import ndtri

    places = [np.round(_RESOLUTION * ndtri(rate)) for rate in (fmr, fnmr)]
    moved = np.logical_or(*(coordinate[1:] != coordinate[:-1] for coordinate in places))
    return np.append(True, moved)
