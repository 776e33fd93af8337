"""Keys of trials with named columns, joined with tables or lists of scores."""

from __future__ import annotations

import numpy as np
import polars as pl
from helpers.each import each
from helpers.flat import read_comparisons
from helpers.refusals import refused
from hypothesis import given
from hypothesis import strategies as st

KEY = "modelid\tsegmentid\tside\ttargettype\n1001\taa\ta\ttarget\n1001\tbb\ta\tnontarget\n1002\tbb\tb\ttarget\n"
SCORES = "modelid\tsegmentid\tside\tLLR\n1002\tbb\tb\t1.5\n1001\tbb\ta\t-3.0\n1001\taa\ta\t2.1\n"
NAMES = {"score": "LLR", "mated": "targettype", "reference": "modelid", "probe": "segmentid"}


@each("separator", ["\t", ",", ";"])
@each("other", ["\t", ","])
def test_a_key_is_joined_with_scores_in_any_order(write, separator, other):
    key, scores = (
        write("key.tsv", KEY.replace("\t", separator)),
        write("scores.tsv", SCORES.replace("\t", other)),
    )
    c = read_comparisons(scores, trials=key, **NAMES)
    assert (c.mated.similarities.tolist(), c.nonmated.similarities.tolist(), c.subjects) == (
        [1.5, 2.1],
        [-3],
        None,
    )


def test_keys_and_scores_may_be_parquet_and_lists(write, tmp_path):
    pl.read_csv(KEY.encode(), separator="\t").write_parquet(tmp_path / "key.parquet")
    c = read_comparisons(write("scores.tsv", SCORES), trials=tmp_path / "key.parquet", **NAMES)
    assert c.mated.similarities.tolist() == [1.5, 2.1]
    listed = write("scores.txt", "2.1\nNA\n1.5\n")
    refused(
        "line 2: the score is missing",
        read_comparisons,
        listed,
        trials=write("key.tsv", KEY),
        **NAMES,
    )
    listed = write("scores.txt", "2.1\n-3\n1.5\n")
    assert read_comparisons(
        listed, trials=write("key.tsv", KEY), **NAMES
    ).nonmated.similarities.tolist() == [-3]


def test_a_key_may_name_people_and_their_groups(write):
    key = write("key.csv", "reference,probe,mated,sex\na,a,1,f\na,b,0,f\nb,b,1,f\n")
    c = read_comparisons(
        write("s.csv", "probe,reference,score\nb,a,0.1\na,a,0.9\nb,b,0.8\n"),
        trials=key,
        groups="sex",
    )
    assert (c.subjects.tolist(), c.groups, len(c.mated)) == (["a", "b"], ("f",), 2)


@each(
    ("key", "scores", "says"),
    [
        (
            KEY,
            SCORES.replace("1002\tbb\tb\t1.5\n", ""),
            r"1 of 3 trials of .* have no score in .*, first 1002 bb b in line 4",
        ),
        (
            KEY.replace("1002\tbb\tb\ttarget\n", ""),
            SCORES,
            "1 scores of .* have no trial in .*, first 1002 bb b in line 2",
        ),
        (KEY + "1001\taa\ta\tnontarget\n", SCORES, "line 2: 1001 aa a is there more than once"),
        (KEY, SCORES + "1001\taa\ta\t7\n", "line 4: 1001 aa a is there more than once"),
        (
            KEY,
            SCORES.replace("modelid", "model"),
            "has no columns called as those of .*join the two tables",
        ),
        (KEY, SCORES.replace("LLR", "score"), "has no column 'LLR'"),
        (KEY.replace("side", "LLR"), SCORES, "has the column 'LLR' itself"),
        (KEY, "1\n2\n", "has 2 scores, but .* has 3 trials"),
        (KEY, SCORES.replace("2.1", "x"), "line 4: column 'LLR' must be a number"),
    ],
)
def test_keys_and_scores_that_do_not_match_are_refused(write, key, scores, says):
    refused(
        says, read_comparisons, write("scores.tsv", scores), trials=write("key.tsv", key), **NAMES
    )


def test_lists_of_trials_between_commas_are_read(write):
    scores = write("s.txt", "0.9\n0.2\n0.8\n0.1\n")
    for listed in (
        "1,a/1,a/2\n0,a/1,b/1\n1,b/1,b/2\n0,b/1,c/1\n",
        "a/1,a/2,target\na/1,b/1,nontarget\nb/1,b/2,target\nb/1,c/1,nontarget\n",
    ):
        c = read_comparisons(scores, trials=write("t.txt", listed))
        assert (c.mated.similarities.tolist(), c.nonmated.similarities.tolist()) == (
            [0.8, 0.9],
            [0.1, 0.2],
        )
    refused(
        "no list of trials that is known",
        read_comparisons,
        scores,
        trials=write("t.txt", "1,a b,c\n"),
    )


@given(
    st.lists(
        st.tuples(st.sampled_from("abcd"), st.sampled_from("vwxyz")),
        min_size=2,
        max_size=12,
        unique=True,
    ),
    st.randoms(),
)
def test_keys_give_what_joined_tables_give(tmp_path_factory, pairs, random):
    folder = tmp_path_factory.mktemp("k")
    mated = [k % 2 for k in range(len(pairs))]
    rows = [(r, p, m, random.random()) for (r, p), m in zip(pairs, mated, strict=True)]
    whole = pl.DataFrame(rows, ["reference", "probe", "mated", "score"], orient="row")
    whole.drop("score").write_csv(folder / "key.csv")
    whole.drop("mated").sample(fraction=1, shuffle=True, seed=random.randrange(99)).write_csv(
        folder / "s.csv"
    )
    c = read_comparisons(folder / "s.csv", trials=folder / "key.csv")
    for side, flag in ((c.mated, 1), (c.nonmated, 0)):
        expected = whole.filter(pl.col("mated") == flag)["score"].sort().to_numpy()
        np.testing.assert_array_equal(side.similarities, expected)
