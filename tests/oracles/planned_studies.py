"""Slow twins of planning: the law of one subject by enumeration, and whole studies by the library's
own margins."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

import fastfair as ff
from fastfair.errors import FastfairWarning

from . import groups

Kinds = dict[tuple[int, int], Fraction]


def kinds(pilot: Sequence[int], fnmr: Fraction, correlation: Fraction) -> Kinds:
    """P(a subject fails e of m attempts), if m is that of a subject of the pilot."""
    found: Kinds = {}
    for m in pilot:
        for e, p in enumerate(groups.beta_binomial_pmf(m, fnmr, correlation)):
            found[e, m] = found.get((e, m), Fraction(0)) + p / len(pilot)
    return found


def mean_and_variance(kinds: Kinds, fnmr: Fraction) -> tuple[Fraction, Fraction]:
    """The mean of m, and the variance of e - fnmr m."""
    return sum(p * m for (_, m), p in kinds.items()), sum(
        p * (e - fnmr * m) ** 2 for (e, m), p in kinds.items()
    )


@dataclass
class Found:
    """What studies found: their margins where groups are alike, and how often the first group is
    named."""

    margins: np.ndarray
    named: float


def found(setting: Mapping[str, Any], difference: float, n_studies: int) -> Found:
    """Draw studies subject by subject and have the library estimate their margins, at default
    arguments."""
    g, n, pi, rho = (setting[name] for name in ("n_groups", "n_subjects", "fnmr", "correlation"))
    margins, named = [], []
    for seed in range(n_studies):
        rng = np.random.default_rng([77, seed])
        m = setting["n_attempts"]
        m = (
            rng.choice(m.attempts, (g, n))
            if isinstance(m, ff.FailureCounts)
            else np.full((g, n), m)
        )
        for differs in (False, True):
            rate = np.full((g, n), pi)
            rate[0] += difference * differs
            own = rng.beta(rate * (1 - rho) / rho, (1 - rate) * (1 - rho) / rho)
            counts = ff.FailureCounts(
                rng.binomial(m, own).ravel(), m.ravel(), group=np.repeat(np.arange(g), n)
            )
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", FastfairWarning)
                one = ff.margin_of_error(counts, rng=seed)
            if differs:
                named.append("0" in one.outside)
            else:
                margins.append(one.margin)
    return Found(np.array(margins), float(np.mean(named)))


def compared(
    n: int,
    n_partners: int | None,
    n_samples: int,
    matches: tuple[float, float, float],
    rng: np.random.Generator,
    hubs: float = 0.0,
) -> ff.Comparisons:
    """Draw a study of false matches at the threshold 0, one comparison after the other; mated
    scores are all high.

    `matches` are the FMR, the relative covariance kappa, and the chance that another comparison of
    two subjects errs where one does. Subjects have lognormal effects, and a score is log(p w_k w_l
    / u) with u uniform; with the square root of that chance a comparison has the u of its two
    subjects, and else its own. With a share of `hubs`, these subjects have one high effect and all
    others one low, of the same variance.
    """
    fmr, kappa, again = matches
    spread = np.log1p(kappa)
    effect = np.exp(np.sqrt(spread) * rng.standard_normal(n) - spread / 2)
    if hubs:
        odds = np.sqrt((1 - hubs) / hubs)
        effect = np.where(
            rng.random(n) < hubs, 1 + np.sqrt(kappa) * odds, 1 - np.sqrt(kappa) / odds
        )
    i, j = np.triu_indices(n, 1)
    if n_partners is not None and n_partners < n - 1:
        # A ring of subjects in random order, each compared with its nearest ones.
        apart = np.minimum(j - i, n - j + i)
        kept = apart <= n_partners // 2
        order = rng.permutation(n)
        i, j = order[i[kept]], order[j[kept]]
    repeats = n_samples**2
    shared = rng.random(i.size)
    i, j, shared = (np.repeat(values, repeats) for values in (i, j, shared))
    u = np.where(rng.random(i.size) < np.sqrt(again), shared, rng.random(i.size))
    mated = np.arange(i.size + n) < n
    everyone = np.arange(n)
    return ff.Comparisons(
        np.concatenate((np.full(n, 100.0), np.log(fmr * effect[i] * effect[j] / u))),
        mated,
        np.concatenate((everyone, i)),
        np.concatenate((everyone, j)),
    )
