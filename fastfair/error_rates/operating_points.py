"""Operating points, each a rule that fixes the threshold, and the search for that threshold in comparisons."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from typing import Any

import numpy as np

from fastfair._lib import argument_kinds, validation
from fastfair._lib.arguments import checked
from fastfair.data import score_keys
from fastfair.data.class_keys import ClassKeys, keys_of, not_kept
from fastfair.data.comparisons import Comparisons
from fastfair.errors import InputError

from . import score_metrics

KINDS = ("fmr", "fnmr", "threshold", "eer", "mean group eer")
ENOUGH_ERRORS = 30  # Doddington's rule of 30: fewer errors than that say little about a rate
FEWEST_ERRORS = 10  # with fewer, nothing is told of whom they befall: tests and bands call equal rates different


_NAMES = {"fmr": "FMR", "fnmr": "FNMR", "threshold": "threshold", "eer": "EER", "mean group eer": "mean group EER"}


@checked
@dataclass(frozen=True, eq=False)
class OperatingPoint:
    """A rule that fixes the threshold; made by `at_fmr`, `at_fnmr`, `at_threshold`, `at_eer`, `at_mean_group_eer`.

    Attributes
    ----------
    kind : {"fmr", "fnmr", "threshold", "eer", "mean group eer"}
        What the operating point holds: a rate, the threshold itself, or an equal error rate.
    value : float
        The rate or threshold held; NaN for the kinds "eer" and "mean group eer", which have none.

    Raises
    ------
    InputError
        For an unknown kind, a rate outside [0, 1), a threshold that is not finite, a missing value, and a value for a
        kind that has none.

    Notes
    -----
    Two operating points are equal if they have the same kind and exactly the same value; only then is their text the
    same.
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


def point_of(text: str) -> OperatingPoint:
    """Return the operating point whose text it is."""
    name, _, value = text.partition("=")
    kind = {written: kind for kind, written in _NAMES.items()}[name]
    return OperatingPoint(kind, float(value)) if value else OperatingPoint(kind)


_WRITTEN = {"eer": "eer", "mean-group-eer": "mean group eer"}  # the kinds without a value, as people type them


def read_point(text: str) -> OperatingPoint:
    """Return the operating point that people write as "fmr=0.001", "fnmr = 5 %", "threshold=0.4", or "eer" alone.

    Raises
    ------
    InputError
        For anything else.
    """
    kind, _, number = (part.strip() for part in text.lower().partition("="))
    if kind in _WRITTEN and not number:
        return OperatingPoint(_WRITTEN[kind])
    if kind not in ("fmr", "fnmr", "threshold") or not number:
        known = ", ".join(["fmr=0.001", "fnmr=0.05", "threshold=0.4", *_WRITTEN])
        raise InputError(f"{text!r} is not an operating point: write one of {known}")
    try:
        if number.endswith("%") and kind == "threshold":
            raise InputError(f"{text!r} is a percentage, but a threshold is a score: write the score")
        if number.endswith("%"):
            return OperatingPoint(kind, float(Decimal(number[:-1].strip()) / 100))
        return OperatingPoint(kind, float(number))
    except InvalidOperation:
        raise InputError(f"{text!r} has no number before the %: write it as {kind}=5 %") from None
    except ValueError as error:
        raise InputError(str(error)) from None


argument_kinds.READERS["OperatingPoint"] = read_point


@checked
def at_fmr(fmr: float) -> OperatingPoint:
    """Hold the overall false match rate: use the least strict threshold whose FMR does not exceed it.

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
    Let s0 be the smallest of the n non-mated scores that at most fmr * n of them exceed. The threshold is the next
    float above s0, so tied scores never raise the FMR above `fmr` [1]_.

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
    """Hold the overall false non-match rate: use the strictest threshold whose FNMR does not exceed it.

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
    """Use a given threshold, on the scale of the scores.

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
    """Use the threshold where FMR and FNMR are nearest, which is that of `eer` by its method "nearest".

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
    """Use the mean of the groups' own EER thresholds, as the Sum of Group Error Differences does.

    Returns
    -------
    OperatingPoint

    Notes
    -----
    This is the reference threshold of [1]_, equation 8.

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
    """Return the largest number of errors in n comparisons whose rate does not exceed `rate`, compared as floats.

    Parameters
    ----------
    rate : float
        The rate not to exceed.
    n : int
        Number of comparisons.

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
    """Find the lowest key that is accepted at an operating point.

    Parameters
    ----------
    comparisons : Comparisons
        The comparisons whose scores the threshold is found from.
    at : OperatingPoint
        The operating point.

    Returns
    -------
    int32 or int64
        The threshold as a key; see `fastfair.kernels.sorting`.
    """
    keys = keys_of(comparisons)
    key = _threshold_key(comparisons, at, keys)
    if keys.lowest is not None and at.kind != "threshold":  # comparisons that failed are never accepted
        key = max(key, key.dtype.type(keys.lowest))
    keys.require(f"the threshold of {at}", key)
    return key


def _threshold_key(comparisons: Comparisons, at: OperatingPoint, keys: ClassKeys) -> np.signedinteger[Any]:
    mated, nonmated = keys.mated, keys.nonmated
    if at.kind in ("fmr", "fnmr"):
        errors = allowed_errors(at.value, keys.sizes[at.kind == "fmr"])
        if errors >= (nonmated if at.kind == "fmr" else mated).size:
            raise not_kept(f"the threshold of {at}", keys)
        if at.kind == "fnmr" and mated[errors] == score_keys.failed_key(mated):
            n_failed = score_keys.count_failed(mated)
            raise InputError(
                f"no threshold holds {at}: {n_failed} of {keys.sizes[0]} mated comparisons failed and count as "
                f"non-matches, which alone is an FNMR of {n_failed / keys.sizes[0]:.3g}; hold a higher one, or read "
                'them with failures="exclude"'
            )
        return mated[errors] if at.kind == "fnmr" else nonmated[nonmated.size - 1 - errors] + nonmated.dtype.type(1)
    if at.kind == "threshold":
        return comparisons.to_key(at.value)
    if at.kind == "eer":
        return score_metrics.nearest_equal_error(keys).key
    return mean_group_eer_key(comparisons, range(len(comparisons.groups)))


def mean_group_eer_key(comparisons: Comparisons, groups: Iterable[int]) -> np.signedinteger[Any]:
    """Find the lowest key that is accepted at the mean of some groups' EER thresholds.

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
        keys = keys_of(comparisons, group)
        if not all(keys.sizes):
            raise InputError(
                f"group {comparisons.groups[group]!r} has {keys.sizes[0]} mated and {keys.sizes[1]} non-mated "
                "comparisons of its own, so it has no EER and there is no mean of the groups' EER thresholds"
            )
        if keys.all_failed:
            raise InputError(
                f"all comparisons of group {comparisons.groups[group]!r} failed, so it has no EER threshold, and there "
                "is no mean of the groups' EER thresholds"
            )
        similarities.append(score_keys.decode(np.array([score_metrics.nearest_equal_error(keys).key]))[0])
    return score_keys.first_key_at_least(float(np.mean(similarities, dtype=np.float64)), comparisons.mated.keys)
