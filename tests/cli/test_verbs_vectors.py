"""Verbs that take vectors in place of scores: the same as the library's functions."""

import json

import numpy as np
import pytest
from helpers.command_line import printed, refused
from helpers.each import each

import fastfair as ff

# Of the few subjects of these files.
pytestmark = [
    pytest.mark.jit,
    pytest.mark.filterwarnings("ignore::fastfair.errors.FastfairWarning"),
]
_VECTORS = (
    "--input",
    "vectors",
    "--subject",
    "utt",
    "--subject-pattern",
    "^([^/]+)/",
    "--group",
    "sex",
)
_WHO = ("--metadata", "who.csv", "--metadata-id", "id")
_FEW = ("--n-resamples", "20", "--seed", "1", "--json")


@pytest.fixture
def systems(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    e = ff.von_mises_fisher_embeddings(30, 3, 8, concentration=20, rng=0)
    names = [f"s{s:02}/{k % 3}" for k, s in enumerate(e.subject)]
    role = np.where(np.arange(len(e)) % 3 == 2, "probe", "reference")
    (tmp_path / "who.csv").write_text(
        "id,sex\n" + "".join(f"s{s:02},{'fm'[s % 2]}\n" for s in range(30))
    )
    for name, vectors in (("first", e.vectors), ("second", e.vectors[:, :5])):
        np.savez(f"{name}.npz", vectors=vectors, utt=names, role=role, who=e.subject)
    read = {
        "subject": "utt",
        "subject_pattern": "^([^/]+)/",
        "metadata": "who.csv",
        "layout": ff.VectorLayout(metadata_id="id"),
    }
    return [ff.read_embeddings(f"{name}.npz", **read, groups="sex") for name in ("first", "second")]


def test_evaluate_takes_all_pairs(systems):
    shown = printed("evaluate", "first.npz", *_VECTORS, *_WHO, "--at", "fmr=0.1", *_FEW)
    assert shown == json.loads(
        ff.evaluate(systems[0], ff.at_fmr(0.1), n_resamples=20, rng=1).to_json()
    )


def test_compare_takes_vectors_of_the_same_samples(systems):
    shown = printed(
        "compare", "first.npz", "second.npz", *_VECTORS, *_WHO, "--at", "fmr=0.1", *_FEW
    )
    assert shown == json.loads(
        ff.compare(*systems, ff.at_fmr(0.1), n_resamples=20, rng=1).to_json()
    )


def test_claims_and_tests_take_all_pairs(systems):
    shown = printed("claim", "first.npz", "fnmr <= 0.5", *_VECTORS, *_WHO, "--at", "fmr=0.1", *_FEW)
    wanted = ff.claim(systems[0], "fnmr <= 0.5", ff.at_fmr(0.1), n_resamples=20, rng=1)
    assert shown == json.loads(wanted.to_json())
    shown = printed("group-test", "first.npz", *_VECTORS, *_WHO, "--at", "fmr=0.1", *_FEW)
    for name, test in (
        ("fnmr_test", ff.fnmr_test),
        ("margin", ff.margin_of_error),
        ("fmr_test", ff.fmr_test),
    ):
        wanted = test(systems[0], ff.at_fmr(0.1), n_resamples=20, rng=1)
        assert shown[name] == json.loads(wanted.to_json())


@each(
    ("words", "said"),
    [
        (
            ("evaluate", "first.npz", *_VECTORS, "--score", "s"),
            "--score goes with --input scores or searches, but --input is vectors",
        ),
        (
            ("evaluate", "x.csv", "--role", "role"),
            "--role goes with --input vectors, but --input is scores",
        ),
        (
            ("claim", "x.csv", "fmr <= 0.1", "--at", "eer", "--subject", "s"),
            "--subject goes with --input vectors",
        ),
        (
            ("compare", "a", "b", *_VECTORS, "--second-score", "s"),
            "--second-score goes with --input scores",
        ),
        (
            ("group-test", "x.csv", "--input", "counts", "--role", "r"),
            "--role goes with --input vectors",
        ),
        (
            ("group-test", "x.csv", "--subject", "r"),
            "--subject goes with --input vectors or counts or decisions",
        ),
    ],
)
def test_options_that_do_not_fit_are_refused(systems, words, said):
    assert said in refused(*words)
