"""Lists of trials with vectors on the command line."""

import numpy as np
import pytest
from helpers.command_line import printed, refused, succeeded

import fastfair as ff

# Of the few subjects of these files.
# Kernels of replicates take long without JIT; warnings are of few errors in small data.
pytestmark = [
    pytest.mark.jit,
    pytest.mark.filterwarnings("ignore::fastfair.errors.FastfairWarning"),
]


@pytest.fixture
def trials(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    e = ff.von_mises_fisher_embeddings(12, 3, 8, concentration=20, rng=0)
    names = [f"s{s}/{k % 3}" for k, s in enumerate(e.subject)]
    np.savez("v.npz", vectors=e.vectors, name=names)
    np.savez("other.npz", emb=e.vectors[:, :5], utt=names)
    pairs = [(a, b) for k, a in enumerate(names) for b in names[k + 1 :]]
    (tmp_path / "trials.csv").write_text(
        "\n".join(["reference,probe", *(f"{a},{b}" for a, b in pairs)])
    )
    c = ff.read_comparisons("trials.csv", embeddings="v.npz", subject_pattern="^([^/]+)/")
    ff.write_comparisons(c, "scored.parquet")
    return c


_ASKED = ("--at", "fmr=0.1", "--n-resamples", "20", "--seed", "1", "--json")
_LISTED = ("trials.csv", "--subject-pattern", "^([^/]+)/")


def test_evaluate_scores_the_list(trials):
    assert printed("evaluate", *_LISTED, "--embeddings", "v.npz", *_ASKED) == printed(
        "evaluate", "scored.parquet", *_ASKED
    )


def test_options_say_how_vectors_are_read(trials):
    how = (
        "--vectors",
        "emb",
        "--vector-name",
        "utt",
        "--similarity",
        "negative_euclidean",
        "--same-name",
        "max",
    )
    shown = succeeded("evaluate", *_LISTED, "--embeddings", "other.npz", *how, "--quick")
    v = ff.read_named_vectors("other.npz", "emb", "utt", similarity="negative_euclidean")
    c = ff.read_comparisons("trials.csv", embeddings=v, subject_pattern="^([^/]+)/")
    table = shown.output.partition("Summaries of all thresholds")[2]
    (eer,) = [line.split()[1] for line in table.splitlines() if line.startswith("all ")]
    assert float(eer) == pytest.approx(100 * ff.eer(c).value, abs=0.05)


def test_options_of_vectors_need_vectors(trials):
    said = refused("evaluate", "scored.parquet", "--vector-name", "x")
    assert "--vector-name goes with --embeddings, the file of the vectors" in said
    said = refused("group-test", "scored.parquet", "--input", "counts", "--embeddings", "v.npz")
    assert "--embeddings goes with --input scores, but --input is counts" in said
