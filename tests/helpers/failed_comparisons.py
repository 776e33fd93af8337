"""Comparisons some of which failed, those of group "m" twice as often, and subjects some of whom
fail often."""

from __future__ import annotations

import numpy as np
from helpers.quiet import quietly
from oracles.naive import Comparison

import fastfair as ff
from fastfair.errors import DroppedWarning


def columns(failing=0.15, n=30, seed=0):
    """Scores, mated labels, subjects and groups, in float64 that are no float32, and which
    comparisons failed."""
    rng = np.random.default_rng(seed)
    group = np.where(np.arange(n) < 2 * n // 3, "f", "m")
    reference = np.concatenate([np.repeat(np.arange(n), 4), np.repeat(np.arange(n), n)])
    probe = np.concatenate([np.repeat(np.arange(n), 4), np.tile(np.arange(n), n)])
    mated = np.arange(reference.size) < 4 * n
    kept = mated | (reference != probe)
    reference, probe, mated = reference[kept], probe[kept], mated[kept]
    effect = rng.normal(size=n)
    scores = rng.normal(size=reference.size) + np.where(mated, 2 + 0.5 * effect[reference], 0)
    often = rng.gamma(2, 0.5, size=n) * np.where(group == "m", 2, 1) * failing
    failed = rng.random(reference.size) < np.minimum(often[probe], 0.9)
    return scores, mated, reference, probe, group[reference], group[probe], failed


def made(policy, *, samples=False, **options):
    """Comparisons of these columns; with samples, each comparison has one of two of each
    subject."""
    *given, failed = columns(**options)
    scores = np.where(failed, np.nan, given[0])
    names = {}
    if samples:
        turn = np.arange(scores.size) % 2
        names = {"reference_sample": 2 * given[2] + turn, "probe_sample": 2 * given[3] + 1 - turn}
    with quietly(DroppedWarning):
        return ff.Comparisons(scores, *given[1:], policies=ff.Policies(failures=policy), **names)


def rows_of(**options):
    """The same as rows, whose score is None where the comparison failed."""
    *given, failed = columns(**options)
    table = zip(*(column.tolist() for column in (*given, failed)), strict=True)
    return [Comparison(None if row[-1] else row[0], *row[1:-1]) for row in table]


def evaluated(c, at, **options):
    with quietly():
        given = {"n_resamples": 100, "measures": (), "metrics": (), "rng": 0} | options
        return ff.evaluate(c, at, **given)
