"""Comparisons and embeddings that several tests use."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import fastfair as ff

DATA = Path(__file__).resolve().parents[3] / "shared" / "data"

MATCHERS = ("mbf_arc", "mbf_caffe", "mbf_insightface", "mobilenet_mx")

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
        np.char.add(np.char.add(s.astype(str), "/"), rng.integers(0, 4, n).astype(str)) for s in (reference, probe)
    ]
    return ff.Comparisons(
        scores, mated, reference, probe, groups[reference], groups[probe],
        reference_sample=samples[0], probe_sample=samples[1], self_comparisons="keep",
    )  # fmt: skip


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
