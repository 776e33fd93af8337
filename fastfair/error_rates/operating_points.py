"""Operating points: what fixes the threshold, and the threshold it fixes for given comparisons."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from fastfair._lib import validation
from fastfair._lib.arguments import checked
from fastfair.data import score_keys
from fastfair.data.comparisons import Comparisons
from fastfair.errors import InputError

from . import curves

KINDS = ("fmr", "fnmr", "threshold", "eer", "mean group eer")
ENOUGH_ERRORS = 30  # Doddington's rule of 30: fewer errors than that say little about a rate
FEWEST_ERRORS = 10  # with fewer, nothing is told of whom they befall: tests and bands call equal rates different


_NAMES = {"fmr": "FMR", "fnmr": "FNMR", "threshold": "threshold", "eer": "EER", "mean group eer": "mean group EER"}


@checked
@dataclass(frozen=True, eq=False)
class OperatingPoint:
    """What fixes the threshold; made by `at_fmr`, `at_fnmr`, `at_threshold`, `at_eer` and `at_mean_group_eer`.

    Attributes
    ----------
    kind : {"fmr", "fnmr", "threshold", "eer", "mean group eer"}
        What is held.
    value : float
        The rate or threshold held; NaN where the kind says it all.

    Raises
    ------
    InputError
        For an unknown kind, a rate outside [0, 1), a threshold that is not finite, no value where the kind needs one,
        and a value where it takes none.

    Notes
    -----
    Two are the same where their kinds and values are, to the last bit of a float. Their text tells them apart as well.
    """

    kind: str
    value: float = float("nan")

    def __post_init__(self) -> None:
        validation.choice("kind", self.kind, KINDS)
        if self.kind in ("eer", "mean group eer"):
            if not (isinstance(self.value, float) and math.isnan(self.value)):
                raise InputError(f"the operating point {self.kind!r} takes no value, but was given {self.value!r}")
            return
        check = validation.real if self.kind == "threshold" else validation.rate
        object.__setattr__(self, "value", check(self.kind, self.value) + 0.0)  # not -0.0

    @property
    def _key(self) -> tuple[str, float | None]:
        return self.kind, None if math.isnan(self.value) else self.value

    def __eq__(self, other: object) -> bool:
        return self._key == other._key if isinstance(other, OperatingPoint) else NotImplemented

    def __hash__(self) -> int:
        return hash(self._key)

    def __str__(self) -> str:
        if math.isnan(self.value):
            return _NAMES[self.kind]
        short = f"{self.value:g}"
        exact = short if float(short) == self.value else repr(self.value).removesuffix(".0")
        return f"{_NAMES[self.kind]}={exact}"


@checked
def at_fmr(fmr: float) -> OperatingPoint:
    """Hold the overall false match rate: the smallest threshold whose FMR does not exceed it.

    Parameters
    ----------
    fmr : float
        A fraction in [0, 1).

    Returns
    -------
    OperatingPoint

    Raises
    ------
    InputError
        For a rate outside [0, 1), such as a percentage.

    Notes
    -----
    With s0 the smallest non-mated score such that at most fmr * n non-mated scores are above it, the threshold is the
    next float above s0, so tied scores never push the FMR above the rate asked for [1]_.

    References
    ----------
    .. [1] "Assessing Uncertainty in Similarity Scoring: Performance & Fairness in Face Recognition", appendix D.1.

    Examples
    --------
    >>> import fastfair as ff
    >>> str(ff.at_fmr(1e-3))
    'FMR=0.001'
    """
    return OperatingPoint("fmr", validation.rate("fmr", fmr))


@checked
def at_fnmr(fnmr: float) -> OperatingPoint:
    """Hold the overall false non-match rate: the largest threshold whose FNMR does not exceed it.

    Parameters
    ----------
    fnmr : float
        A fraction in [0, 1).

    Returns
    -------
    OperatingPoint

    Raises
    ------
    InputError
        For a rate outside [0, 1), such as a percentage.

    Examples
    --------
    >>> import fastfair as ff
    >>> c = ff.Comparisons([1, 1, 2, 3, 4, 0], [1, 1, 1, 1, 1, 0])
    >>> r = ff.rates(c, ff.at_fnmr(0))
    >>> r.threshold, r.fnmr
    (1.0, 0.0)
    """
    return OperatingPoint("fnmr", validation.rate("fnmr", fnmr))


@checked
def at_threshold(threshold: float) -> OperatingPoint:
    """Hold the threshold itself, on the scale of the scores.

    Parameters
    ----------
    threshold : float
        Similarities >= it, or distances <= it, are accepted.

    Returns
    -------
    OperatingPoint

    Examples
    --------
    >>> import fastfair as ff
    >>> str(ff.at_threshold(0.5))
    'threshold=0.5'
    """
    return OperatingPoint("threshold", validation.real("threshold", threshold))


def at_eer() -> OperatingPoint:
    """Hold FMR and FNMR as nearly equal as can be: the threshold of `eer` by its method "nearest".

    Returns
    -------
    OperatingPoint

    Examples
    --------
    >>> import fastfair as ff
    >>> str(ff.at_eer())
    'EER'
    """
    return OperatingPoint("eer")


def at_mean_group_eer() -> OperatingPoint:
    """Take the mean over groups of each group's own EER threshold, as the Sum of Group Error Differences does.

    Returns
    -------
    OperatingPoint

    Notes
    -----
    The reference threshold of [1]_, equation 8.

    References
    ----------
    .. [1] Elobaid et al., "Sum of Group Error Differences: A Critical Examination of Bias Evaluation in Biometric
       Verification and a Dual-Metric Measure", section III-B.

    Examples
    --------
    >>> import fastfair as ff
    >>> str(ff.at_mean_group_eer())
    'mean group EER'
    """
    return OperatingPoint("mean group eer")


def allowed_errors(rate: float, n: int) -> int:
    """Return the most errors of n whose rate does not exceed `rate`, comparing the rates as floats.

    Parameters
    ----------
    rate : float
        The rate not to exceed.
    n : int
        Comparisons.

    Returns
    -------
    int

    Examples
    --------
    >>> from fastfair.error_rates.operating_points import allowed_errors
    >>> allowed_errors(0.29, 100)  # 0.29 * 100 is 28.999999999999996
    29
    """
    errors = int(rate * n)
    while errors < n and (errors + 1) / n <= rate:
        errors += 1
    while errors > 0 and errors / n > rate:
        errors -= 1
    return errors


def threshold_key(comparisons: Comparisons, at: OperatingPoint) -> np.signedinteger[Any]:
    """Find the least key that is accepted at an operating point.

    Parameters
    ----------
    comparisons : Comparisons
        What the operating point is sought in.
    at : OperatingPoint
        What is held.

    Returns
    -------
    int32 or int64
        The threshold as a key; see `fastfair.kernels.sorting`.
    """
    mated, nonmated = comparisons.mated.keys, comparisons.nonmated.keys
    if at.kind == "fmr":
        above = allowed_errors(at.value, nonmated.size)
        return nonmated[nonmated.size - 1 - above] + nonmated.dtype.type(1)
    if at.kind == "fnmr":
        return mated[allowed_errors(at.value, mated.size)]
    if at.kind == "threshold":
        return comparisons.to_key(at.value)
    if at.kind == "eer":
        return curves.nearest_equal_error(mated, nonmated).key
    return mean_group_eer_key(comparisons, range(len(comparisons.groups)))


def mean_group_eer_key(comparisons: Comparisons, groups: Iterable[int]) -> np.signedinteger[Any]:
    """Find the least key accepted at the mean of some groups' EER thresholds.

    Parameters
    ----------
    comparisons : Comparisons
        With groups.
    groups : iterable of int
        Positions in `comparisons.groups`.

    Returns
    -------
    int32 or int64

    Raises
    ------
    InputError
        For a group without an EER.
    """
    comparisons.require_groups()
    similarities = []
    for group in groups:
        mated, nonmated = (
            comparisons.mated_by_group.within[group],
            comparisons.nonmated_by_group.within[group],
        )
        if not (mated.size and nonmated.size):
            raise InputError(
                f"group {comparisons.groups[group]!r} has {mated.size} mated and {nonmated.size} non-mated comparisons "
                "of its own, so it has no EER and there is no mean of the groups' EER thresholds"
            )
        similarities.append(score_keys.decode(np.array([curves.nearest_equal_error(mated, nonmated).key]))[0])
    return score_keys.first_key_at_least(float(np.mean(similarities, dtype=np.float64)), comparisons.mated.keys)
