"""Failures drawn as if all groups had one rate and the attempts of a subject were correlated, to tell groups apart."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from .counted_attempts import CountedAttempts
from .frailty import Roots, common_rate, share_of
from .group_sums import draw_groups

Floats = NDArray[np.float64]
_PURPOSE = 4  # kind of draws, told apart in the random stream from those of `replicates` and `frailty`
_NEGLIGIBLE = 1e-9  # expected subjects of a kind


def inflation_of(sums: NDArray[np.int64]) -> tuple[Floats, Floats]:
    """Estimate one intra-class correlation of all groups, and how much more failures vary than Poisson numbers.

    Parameters
    ----------
    sums : (5, ..., g) ndarray of int64
        As `kernels.clusters` names them.

    Returns
    -------
    correlation : (...) ndarray
        In [0, 1].
    inflation : (..., g) ndarray
        (1 - p) (1 + (m0 - 1) correlation), with the rate p of all groups and sum m^2 / sum m = m0.
    """
    m, e, ee, em, mm = sums.astype(np.float64)
    rate = share_of(e, m)
    squares = ee - 2 * rate * em + rate**2 * mm
    of_single = e * (1 - rate) ** 2 + (m - e) * rate**2
    over = (rate * (1 - rate) * (mm - m)).sum(axis=-1)
    correlation = np.clip(share_of((squares - of_single).sum(axis=-1), over), 0.0, 1.0)
    pooled = share_of(e.sum(axis=-1), m.sum(axis=-1))[..., None]
    return correlation, np.maximum(1 - pooled, 1e-3) * (1 + (share_of(mm, m) - 1) * correlation[..., None])


def draw_roots_of_failures(
    counts: CountedAttempts, n_resamples: int, key: NDArray[np.uint32], n_threads: int | None = None
) -> Roots:
    """Draw failures of groups with one rate, beta-binomial for each subject, and estimate everything anew.

    Subjects are drawn with the attempts of their group's.

    Parameters
    ----------
    counts : CountedAttempts
        In which every group has subjects, and some attempts failed, but not all.
    n_resamples, key, n_threads
        As in `replicates.replicate`.

    Returns
    -------
    Roots
    """
    from fastfair.kernels import clusters

    sums = counts.sums
    correlation, inflation = inflation_of(sums)
    errors, size = sums[clusters.FAILURES], sums[clusters.ATTEMPTS].astype(np.float64)
    rate = float(common_rate(errors, size, inflation)[0])
    parts: list[list[NDArray[np.generic]]] = [[], [], []]
    end = []
    for g in range(len(counts.groups)):
        attempts, n = np.unique(counts.attempts[counts.subject_group == g], return_counts=True)
        for m, subjects in zip(attempts.tolist(), n.tolist(), strict=True):
            expected = subjects * beta_binomial_pmf(m, rate, float(correlation))
            kept = np.flatnonzero(expected > _NEGLIGIBLE)
            for part, values in zip(parts, (kept, np.full(kept.size, m), expected[kept]), strict=True):
                part.append(values)
        end.append(sum(values.size for values in parts[0]))
    failures, of_attempts, share = (np.concatenate(part) for part in parts)
    kinds = clusters.Kinds(failures.astype(np.int64), of_attempts.astype(np.int64), share, np.array(end))
    drawn = np.empty((5, n_resamples, len(end)), np.int64)

    def use(at: slice, sums: NDArray[np.int64]) -> None:
        drawn[:, at] = sums

    draw_groups(kinds, counts.n_subjects, _PURPOSE, n_resamples, key, use, n_threads)
    replicated = drawn[clusters.FAILURES], inflation_of(drawn)[1], drawn[clusters.ATTEMPTS].astype(np.float64)
    return Roots(errors, inflation, replicated[0], replicated[1], size, replicated[2])


def beta_binomial_pmf(m: int, fnmr: float, correlation: float) -> Floats:
    """Compute the probabilities of 0 to m failures in m attempts of a subject.

    Written as an urn: after e failures in j attempts the next fails with probability
    ((1 - rho) pi + rho e) / (1 - rho + rho j). Binomial at rho = 0 and all or nothing at rho = 1 are no special cases.
    """
    apart = 1 - correlation
    j = np.arange(1, m)

    def rising(share: float) -> Floats:
        return np.append(0, np.cumsum(np.log(share * apart + j * correlation)))

    fails, passes = rising(fnmr), rising(1 - fnmr)
    log_pmf = np.empty(m + 1)
    log_pmf[0], log_pmf[m] = math.log1p(-fnmr) + passes[-1], math.log(fnmr) + fails[-1]
    if apart > 0:
        ways = np.cumsum(np.log((m + 1 - j) / j))
        mixed = math.log(fnmr) + math.log1p(-fnmr) + math.log(apart)
        log_pmf[1:m] = ways + mixed + fails[:-1] + passes[-2::-1]
    else:
        log_pmf[1:m] = -np.inf
    pmf = np.exp(log_pmf - rising(1)[-1])
    return pmf / pmf.sum()
