"""Missing labels are refused, left out or "unknown" alike in all kinds of data, and the message
says what would do."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from helpers.refusals import refused
from hypothesis import given
from hypothesis import strategies as st

import fastfair as ff
from fastfair._lib.label_codes import encode, encode_with_missing
from fastfair.errors import DroppedWarning

WHO = list("aabbccaabbcc")
OTHER = list("aabbccbbccaa")
MATED = [1] * 6 + [0] * 6
SCORES = [9.0, 8, 7, 9, 8, 8, 1, 2, 3, 1, 2, 3]
SEX = ["f", "f", "m", "m", "", None, "f", "f", "m", "m", "x", "x"]
OTHERS = ["f", "f", "m", "m", "x", "x", "m", "m", "x", "x", "f", None]
VECTORS = np.random.default_rng(0).normal(size=(12, 4)).astype(np.float32)
OF_VECTORS = ["f"] * 4 + ["m"] * 4 + [None, "", "x", "x"]
PEOPLE = np.repeat(np.arange(6), 2)


def policies(policy: str) -> ff.Policies:
    return ff.Policies(missing_labels=policy)


def of_arrays(policy: str, folder: Path) -> Any:
    groups = {"sex": SEX}, {"sex": OTHERS}
    return ff.Comparisons(SCORES, MATED, WHO, OTHER, *groups, policies=policies(policy))


def frame() -> pl.DataFrame:
    columns = {"score": SCORES, "mated": MATED, "reference": WHO, "probe": OTHER}
    return pl.DataFrame(columns | {"reference_sex": SEX, "probe_sex": OTHERS})


def of_frame(policy: str, folder: Path) -> Any:
    sides = {
        "reference": "reference",
        "probe": "probe",
        "reference_group": "reference_sex",
        "probe_group": "probe_sex",
    }
    return ff.Comparisons.from_frame(frame(), **sides, policies=policies(policy))


def of_pandas(policy: str, folder: Path) -> Any:
    sides = {
        "reference": "reference",
        "probe": "probe",
        "reference_group": "reference_sex",
        "probe_group": "probe_sex",
    }
    return ff.Comparisons.from_frame(
        pd.DataFrame(frame().to_dict(as_series=False)), **sides, policies=policies(policy)
    )


def of_file(policy: str, folder: Path) -> Any:
    frame().write_csv(folder / "s.csv")
    return ff.read_comparisons(folder / "s.csv", groups="sex", policies=policies(policy))


def of_scan(policy: str, folder: Path) -> Any:
    sexes = {"a": "f", "b": "m", "c": None}
    sides = {f"{side}_sex": pl.col(side).replace_strict(sexes) for side in ("reference", "probe")}
    frame().with_columns(**sides).write_parquet(folder / "s.parquet")
    return ff.scan_comparisons(folder / "s.parquet", groups="sex", policies=policies(policy))


def of_vectors(policy: str, folder: Path) -> Any:
    return ff.Embeddings(VECTORS, PEOPLE, {"sex": OF_VECTORS}, missing_labels=policy)


def of_npz(policy: str, folder: Path) -> Any:
    labels = np.array([one or "" for one in OF_VECTORS])
    np.savez(folder / "v.npz", vectors=VECTORS, subject=PEOPLE, sex=labels)
    return ff.read_embeddings(folder / "v.npz", groups="sex", missing_labels=policy)


def of_samples(policy: str, folder: Path) -> Any:
    np.save(folder / "v.npy", VECTORS)
    samples = pl.DataFrame({"subject": PEOPLE, "sex": OF_VECTORS})
    return ff.read_embeddings(
        folder / "v.npy", samples=samples, groups="sex", missing_labels=policy
    )


def of_labels(policy: str, folder: Path) -> Any:
    np.save(folder / "v.npy", VECTORS)
    groups = {"sex": OF_VECTORS}
    return ff.read_embeddings(
        folder / "v.npy", subject=PEOPLE, groups=groups, missing_labels=policy
    )


def of_counts(policy: str, folder: Path) -> Any:
    return ff.FailureCounts(
        [0, 1, 2, 0], [3, 3, 3, 3], {"sex": ["f", "m", None, "x"]}, missing_labels=policy
    )


def of_decisions(policy: str, folder: Path) -> Any:
    sex = ["f", "f", "m", "m", None, " "]
    return ff.FailureCounts.from_decisions(
        [0, 1, 0, 1, 1, 0], list("aabbcc"), {"sex": sex}, missing_labels=policy
    )


def of_table(policy: str, folder: Path) -> Any:
    (folder / "c.csv").write_text("failures,attempts,sex\n0,2,f\n0,1,f\n1,3,m\n2,3,\n0,3,x\n")
    return ff.read_failure_counts(folder / "c.csv", groups="sex", missing_labels=policy)


def size_of(data: Any) -> int:
    if isinstance(data, ff.FailureCounts):
        return int(data.n_attempts.sum())
    if isinstance(data, ff.Embeddings):
        return len(data)
    return (
        sum(map(len, data.pairs))
        if isinstance(data, ff.Comparisons)
        else data.n_mated + data.n_nonmated
    )


# What makes data, how many entries there are, and of how many a label is missing.
KINDS = [
    (of_arrays, 12, 3), (of_frame, 12, 3), (of_pandas, 12, 3), (of_file, 12, 3), (of_vectors, 12, 2), (of_npz, 12, 2),
    (of_samples, 12, 2), (of_labels, 12, 2), (of_counts, 12, 3), (of_decisions, 6, 2), (of_table, 12, 3),
]  # fmt: skip


@pytest.mark.parametrize(
    ("make", "n", "missing"), KINDS, ids=lambda one: getattr(one, "__name__", None)
)
def test_every_kind_of_data_heeds_the_policy(make, n, missing, tmp_path):
    refused(r'missing_labels="drop"\)? to leave these rows out', make, "error", tmp_path)
    with pytest.warns(DroppedWarning, match="left out, as they lack a label in .*sex") as told:
        left = make("drop", tmp_path)
    assert size_of(left) == n - missing
    assert "unknown" not in " ".join(left.groups)
    (one,) = left.left_out
    assert (one.sentence, one.reason, one.policy) == (
        str(told[0].message),
        "missing label",
        'missing_labels="drop"',
    )
    kept = make("unknown", tmp_path)
    assert size_of(kept) == n
    assert "unknown" in kept.groups
    assert not kept.left_out


def test_rows_and_columns_of_a_matrix_without_a_label():
    scores = np.random.default_rng(1).normal(size=(4, 4))
    who, sex = list("aabb"), ["f", None, "m", "m"]
    sides = {"reference": who, "probe": who, "reference_group": sex, "probe_group": sex}
    refused("reference_group is missing in row 1", ff.Comparisons.from_matrix, scores, **sides)
    with pytest.warns(DroppedWarning, match="7 of 16 comparisons left out"):
        c = ff.Comparisons.from_matrix(scores, **sides, policies=policies("drop"))
    assert size_of(c) == 9
    assert (c.left_out[0].n, c.groups) == (7, ("f", "m"))
    kept = ff.Comparisons.from_matrix(scores, **sides, policies=policies("unknown"))
    assert (size_of(kept), kept.groups) == (16, ("f", "m", "unknown"))


def test_a_scan_leaves_out_what_memory_does(tmp_path):
    refused("column 'reference_sex' is missing", of_scan, "error", tmp_path)
    with pytest.warns(DroppedWarning, match="6 of 12 comparisons"):
        left = of_scan("drop", tmp_path)
    assert (size_of(left), left.groups, left.left_out[0].n) == (6, ("f", "m"), 6)
    assert of_scan("unknown", tmp_path).groups == ("f", "m", "unknown")


def test_where_nothing_is_left(tmp_path):
    with pytest.warns(DroppedWarning):
        refused(
            "no vectors are left",
            ff.Embeddings,
            VECTORS,
            PEOPLE,
            [None] * 12,
            missing_labels="drop",
        )
    with pytest.warns(DroppedWarning):
        refused("no subjects are left", ff.FailureCounts, [0], [1], [None], missing_labels="drop")
    with pytest.warns(DroppedWarning):
        refused(
            "there are no comparisons",
            ff.Comparisons,
            [1, 0],
            [1, 0],
            reference_group=[None, ""],
            policies=policies("drop"),
        )
    np.savez(tmp_path / "v.npz", vectors=VECTORS, subject=PEOPLE, sex=[""] * 12)
    with pytest.warns(DroppedWarning):
        refused(
            "v.npz: no vectors",
            ff.read_embeddings,
            tmp_path / "v.npz",
            groups="sex",
            missing_labels="drop",
        )


LABELS = st.one_of(
    st.lists(st.none() | st.sampled_from(["f", "m ", "", "nan", "unknown", "é"]), min_size=1),
    st.lists(st.none() | st.integers(-3, 3), min_size=1),
    st.lists(st.sampled_from([1.0, 2.0, 2.5, float("nan")]), min_size=1).map(np.array),
    st.lists(st.integers(-3, 3), min_size=1).map(np.array),
)


@given(LABELS, st.sampled_from([list, pl.Series, pd.Series, np.array]))
def test_labels_are_those_of_the_rows_that_have_one(labels, kind):
    """Whatever holds them; and the others are "unknown", or any label that leaving them out takes
    away."""
    from fastfair._lib.label_codes import clean, is_missing

    entries = list(labels)
    column = labels if isinstance(labels, np.ndarray) and kind is list else kind(entries)
    if kind is pd.Series and column.dtype == object:
        entries = column.tolist()
    missing = [is_missing(entry) for entry in entries]
    ((coded, lacking),) = encode_with_missing(["x"], [column])
    assert lacking.tolist() == missing
    present = [clean(entry) for entry, lacks in zip(entries, missing, strict=True) if not lacks]
    assert coded.take(~lacking).labels.tolist() == sorted(set(present))
    assert coded.labels[coded.codes][~lacking].tolist() == present
    ((texts, _),) = encode_with_missing(["x"], [column], "unknown")
    if any(missing):
        expected = [
            "unknown" if lacks else str(clean(e)) for e, lacks in zip(entries, missing, strict=True)
        ]
        assert texts.labels[texts.codes].tolist() == expected
        assert sorted(set(expected)) == texts.labels.tolist()
    else:
        assert texts.labels.tolist() == encode("x", column).labels.tolist()


def test_two_sides_have_labels_of_one_kind():
    found = encode_with_missing(["a", "b"], [[1, 2], [1, None]], "unknown")
    assert [coded.labels.tolist() for coded, _ in found] == [["1", "2"], ["1", "unknown"]]
