"""Comparisons and embeddings that several tests use."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

import fastfair as ff

DATA = Path(__file__).resolve().parents[3] / "shared" / "data"

faces = pytest.mark.skipif(not DATA.exists(), reason="the real data are not beside the project")


def columns(seed: int = 0, n_subjects: int = 60, n: int = 5000) -> dict:
    rng = np.random.default_rng(seed)
    mated = rng.random(n) < 0.4
    reference = rng.integers(0, n_subjects, n)
    probe = np.where(mated, reference, (reference + rng.integers(1, n_subjects, n)) % n_subjects)
    groups = np.array(["f", "m", "x"])[np.arange(n_subjects) % 3]
    return {
        "scores": rng.normal(0, 1, n) + 2 * mated,
        "mated": mated,
        "reference": reference,
        "probe": probe,
        "reference_group": groups[reference],
        "probe_group": groups[probe],
    }


def population(n_subjects: int = 40, n: int = 4000, seed: int = 0) -> ff.Comparisons:
    rng = np.random.default_rng(seed)
    mated = rng.random(n) < 0.4
    reference = rng.integers(0, n_subjects, n)
    probe = np.where(mated, reference, (reference + rng.integers(1, n_subjects, n)) % n_subjects)
    effect = rng.normal(0, 0.3, n_subjects)
    scores = rng.normal(0, 1, n) + 2 * mated + effect[reference] + effect[probe]
    groups = np.array(["f", "m", "x"])[np.arange(n_subjects) % 3]
    samples = [
        np.char.add(np.char.add(s.astype(str), "/"), rng.integers(0, 4, n).astype(str))
        for s in (reference, probe)
    ]
    return ff.Comparisons(
        scores,
        mated,
        reference,
        probe,
        groups[reference],
        groups[probe],
        reference_sample=samples[0],
        probe_sample=samples[1],
        policies=ff.Policies(self_comparisons="keep"),
    )


def pairs_within_groups(
    sizes: Sequence[int], n_mated: int = 1
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """References, probes and mated labels: all pairs of two subjects of a group, then mated ones of
    each subject."""
    ends = np.cumsum(sizes)
    pairs = [np.array(np.triu_indices(n, 1)) + end - n for n, end in zip(sizes, ends, strict=True)]
    everyone = np.repeat(np.arange(ends[-1]), n_mated)
    reference, probe = (
        np.append(np.concatenate(side), everyone) for side in zip(*pairs, strict=True)
    )
    return reference, probe, reference == probe


def scores_with_hubs(shift: float) -> ff.Comparisons:
    """Comparisons of 60 subjects, two of whom have non-mated scores that are higher."""
    rng = np.random.default_rng(0)
    first, second = np.triu_indices(60, 1)
    hub = np.isin(first, (0, 1)) | np.isin(second, (0, 1))
    scores = np.concatenate((np.full(60, 9.0), rng.normal(size=first.size) + shift * hub))
    who = np.arange(60)
    return ff.Comparisons(
        scores, np.arange(scores.size) < 60, np.append(who, first), np.append(who, second)
    )


def lfw(matcher: str, most: int | None = None) -> ff.Embeddings:
    """Faces by gender; `most` keeps the first images of those with two or more."""
    attributes = np.load(DATA / "lfw_faces_attributes.npz")
    vectors = np.load(DATA / f"lfw_faces_{matcher}.npy", mmap_mode="r")
    subject, gender = attributes["subject"], attributes["gender"]
    kept = gender != ""
    if most is not None:
        rank = np.arange(subject.size) - np.searchsorted(subject, subject)
        kept &= (np.bincount(subject)[subject] > 1) & (rank < 3) & (subject < most)
    return ff.Embeddings(vectors[kept], subject[kept], group=gender[kept])


def few_errors_between_groups(seed, n_systems=2):
    """Equal systems with few false matches: 150 people in three alike groups, compared within and
    between them."""
    rng = np.random.default_rng(seed)
    mine = np.repeat(np.arange(150), 60)
    other = (mine + rng.integers(1, 150, mine.size)) % 150
    reference, probe = (
        np.append(np.repeat(np.arange(150), 8), mine),
        np.append(np.repeat(np.arange(150), 8), other),
    )
    mated = np.arange(reference.size) < 1200
    skill = 0.3 * rng.normal(size=150)
    return [
        ff.Comparisons(
            rng.normal(size=mated.size)
            + np.where(mated, 5 + skill[reference], skill[reference] + skill[probe]),
            mated,
            reference,
            probe,
            reference % 3,
            probe % 3,
        )
        for _ in range(n_systems)
    ]
