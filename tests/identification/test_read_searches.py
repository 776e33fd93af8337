"""`read_searches`: what files of searches say, against counts in plain NumPy, and what they leave
open."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from helpers.refusals import refused

import fastfair as ff
from fastfair.errors import DroppedWarning, FastfairWarning, FileFormatError

LAYOUT = ff.SearchLayout
MISSES = ff.Policies(failures="non-match")
LOG = "search,candidate,score\np,ann,0.9\np,bob,0.4\nq,cid,0.3\n"
SEARCHES = "search,probe,sex\np,ann,f\nq,eve,f\nr,dan,m\n"
GALLERY = "person\nann\nbob\ncid\n"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    for name, text in (("log", LOG), ("searches", SEARCHES), ("gallery", GALLERY)):
        written(f"{name}.csv", text)
    return tmp_path


def written(name: str, text: str) -> str:
    Path(name).write_text(text, "utf-8")
    return name


def read(path: str = "log.csv", **more: object) -> ff.Searches:
    return ff.read_searches(path, **{"searches": "searches.csv", "enrolled": "gallery.csv"} | more)


def month(rng: np.random.Generator, n: int, shift: float = 0.0) -> None:
    """Write the log of a month: lists of at most forty candidates from a score on, in any order."""
    people = np.array([f"p{k:03}" for k in range(150)])
    probe, scores = people[rng.integers(0, 150, n)], rng.normal(0.3 + shift, 0.1, (n, 100))
    mated = np.isin(probe, people[:100])
    scores[mated, np.searchsorted(people, probe[mated])] += 0.35
    scores = np.round(scores, 2)  # with ties
    order = np.argsort(-scores, axis=1, kind="stable")[:, :40]
    row, place = np.nonzero(np.take_along_axis(scores, order, 1) >= 0.45)
    shuffled = rng.permutation(row.size)
    row, place = row[shuffled], place[shuffled]
    with Path("log.csv").open("w", newline="") as file:
        lines = csv.writer(file)
        lines.writerow(["search", "candidate", "score"])
        lines.writerows(
            (f"s{k}", people[order[k, p]], f"{scores[k, order[k, p]]:.2f}")
            for k, p in zip(row, place, strict=True)
        )
    sex = ["m" if int(who[1:]) % 2 else "f" for who in probe]
    pl.DataFrame({"search": [f"s{k}" for k in range(n)], "probe": probe, "sex": sex}).write_csv(
        "searches.csv"
    )
    pl.DataFrame({"person": people[:100]}).write_csv("gallery.csv")


def test_every_count_is_that_of_plain_numpy(folder):
    month(np.random.default_rng(0), 600)
    log, searches = pl.read_csv("log.csv"), pl.read_csv("searches.csv")
    enrolled = set(pl.read_csv("gallery.csv")["person"])
    points = [ff.at_threshold(t) for t in (0.5, 0.55, 0.6)] + [ff.at_fpir(0.02), ff.at_fpir(0.1)]
    found = ff.identify(
        read(groups="sex", layout=LAYOUT(length=40, least_score=0.45)), points, gallery="fixed"
    )
    for group in (None, "f", "m"):
        chosen = searches.filter(pl.col("sex") == group) if group else searches
        mated = chosen["probe"].is_in(list(enrolled))
        for at in points:
            row = found.of("fpir", group, at)
            hits = log.filter(pl.col("score") >= row.threshold)
            non_mated = chosen.filter(~mated)["search"]
            n_errors = non_mated.is_in(hits["search"].to_list()).sum()
            assert (row.n_errors, row.n_searches) == (n_errors, len(non_mated))
            if at.kind == "fpir" and group is None:
                assert n_errors <= at.value * len(non_mated)  # what the threshold promised
            pairs = set(hits.select("search", "candidate").iter_rows())
            of_mated = chosen.filter(mated).select("search", "probe").iter_rows()
            missed = sum(pair not in pairs for pair in of_mated)
            assert found.of("fnir", group, at).n_errors == missed


def test_lists_searches_without_a_candidate_and_groups_are_read(folder):
    s = read(groups="sex")
    assert (len(s), s.n_enrolled, s.groups, s.rank.tolist()) == (3, 3, ("f", "m"), [1, 0, 0])
    assert s.best[:, 0].tolist() == [0.4, 0.3, -np.inf]
    alone = written(
        "alone.csv",
        "search,probe,candidate,score\np,ann,ann,0.9\np,ann,bob,0.4\nq,,cid,0.3\nr,,,\n",
    )
    with pytest.warns(FastfairWarning, match="the 3 people who are on lists are taken for"):
        s = read(alone, searches=None, enrolled=None, layout=LAYOUT(nobody=""))
    assert (len(s), s.is_mated.tolist()) == (3, [True, False, False])


def test_what_files_leave_open_is_refused(folder):
    refused("2 people of probes are on no list: 'dan', 'eve'", read, enrolled=None)
    refused("no column 'probe' with the person of each probe", read, searches=None)
    uneven = written(
        "uneven.csv", "search,probe,candidate,score\np,a,ann,0.9\np,a,bob,0.4\nq,b,cid,0.3\n"
    )
    refused("lists have from 1 to 2 candidates", read, uneven, searches=None)
    bare = written(
        "bare.csv", "search,probe,candidate,score,sex\np,a,ann,0.9,f\np,a,bob,0.4,f\nq,b,cid,0.3,\n"
    )
    refused(
        "bare.csv: line 4: group 'sex' is missing in row 2", read, bare, searches=None, groups="sex"
    )
    two = written("two.csv", "search,probe,candidate,score\np,a,ann,0.9\np,b,bob,0.4\n")
    refused("search 'p' has two entries in column 'probe'", read, two, searches=None)
    stranger = written("stranger.csv", f"{LOG}q,zoe,0.2\n")
    refused(
        "stranger.csv: line 5: 1 labels of column 'candidate' are not in gallery.csv: 'zoe'",
        read,
        stranger,
    )
    lost = written("lost.csv", f"{LOG}z,cid,0.2\n")
    refused("search 'z' in row 3 .* is not in searches", read, lost)
    blank = written("blank.csv", SEARCHES.replace("eve", ""))
    refused('blank.csv: line 3: .*nobody=""', read, searches=blank)
    unlabelled = written("unlabelled.csv", SEARCHES.replace("eve,f", "eve,"))
    refused(
        "unlabelled.csv: line 3: group 'sex' is missing", read, searches=unlabelled, groups="sex"
    )
    twice = written("twice.csv", f"{GALLERY}ann\n")
    refused("'ann' is twice in column 'person': line 2 and line 5", read, enrolled=twice)
    refused(
        "again.csv: line 5: 'p' is twice in column 'search': line 2 and line 5",
        read,
        searches=written("again.csv", f"{SEARCHES}p,ann,f\n"),
    )
    refused("a list has 2 candidates, more than .*length=1", read, layout=LAYOUT(length=1))
    refused("did you mean 'candidate'", read, candidate="candidat")
    refused("no probe is 'nobody'", read, layout=LAYOUT(nobody="nobody"))
    with pytest.raises(
        FileFormatError, match="line 2: column 'score' must be a number, not 'high'"
    ):
        read(written("words.csv", LOG.replace("0.9", "high")))


def test_ranks_go_with_scores(folder):
    def ranked(*ranks: object) -> str:
        rows = zip(LOG.splitlines(), ["rank", *ranks], strict=True)
        return written("ranked.csv", "".join(f"{row},{rank}\n" for row, rank in rows))

    for ranks in ((1, 2, 1), (0, 1, 0)):
        assert read(ranked(*ranks)).rank.tolist() == [1, 0, 0]
    refused("line 3: search 'p' has the rank 3 without the one before", read, ranked(1, 3, 1))
    refused("line 4: search 'q' has the rank 2 without", read, ranked(1, 2, 2))
    refused("the score rises from 0.4 at rank 1 to 0.9 at rank 2.*distance", read, ranked(2, 1, 1))
    assert read(ranked(2, 1, 1), score_kind="distance").rank.tolist() == [2, 0, 0]


def test_failures_are_refused_counted_or_left_out(folder):
    failed = written("failed.csv", "search,probe,failed\np,ann,0\nq,eve,\nr,dan,yes\n")
    refused("1 of 3 searches failed", read, searches=failed)
    assert read(searches=failed, policies=MISSES).failed.tolist() == [False, False, True]
    with pytest.warns(DroppedWarning, match="1 of 3 searches left out, as they failed"):
        assert len(read(searches=failed, policies=ff.Policies(failures="exclude"))) == 2
    refused(
        "column 'sex' must say 1 or 0, or true or false, not 'm'", read, layout=LAYOUT(failed="sex")
    )
    lost = written("lost.csv", LOG.replace("0.9", "NA"))
    refused("lost.csv: line 2: 1 of 3 candidates have no score", read, lost)
    s = read(lost, policies=MISSES)  # the mate has no score
    assert (s.failed.tolist(), s.rank.tolist()) == ([True, False, False], [4, 0, 0])
    minus = written("minus.csv", LOG.replace("0.9", "-1"))
    policies = ff.Policies(failures="non-match", failure_score=-1)
    assert read(minus, policies=policies).failed.tolist() == [True, False, False]


def test_missing_labels_of_groups_follow_the_policy(folder):
    lacking = written("lacking.csv", SEARCHES.replace(",m", ","))
    refused("missing", read, searches=lacking, groups="sex")
    s = read(searches=lacking, groups="sex", policies=ff.Policies(missing_labels="unknown"))
    assert s.groups == ("f", "unknown")
    with pytest.warns(DroppedWarning, match="1 of 3 searches left out"):
        s = read(searches=lacking, groups="sex", policies=ff.Policies(missing_labels="drop"))
    assert (len(s), s.left_out[0].n) == (2, 1)


def test_logs_of_nist_are_read(folder):
    log = written(
        "log.txt",
        "searchId candidateRank searchRetCode isAssigned templateId score decision\n"
        "p 0 0 1 t1 0.9 1\np 1 0 1 t2 0.4 0\nq 0 0 1 t3 0.3 0\nq 1 0 0 x -1 0\nr 0 7 0 x 0 0\n",
    )
    about = {
        "searches": written("probes.csv", "searchId,probe\np,ann\nq,eve\nr,bob\n"),
        "enrolled": written("templates.csv", "template,person\nt1,ann\nt2,bob\nt3,cid\nt4,cid\n"),
        "layout": LAYOUT(gallery_subject="person"),
        "templates": "best",
    }
    with pytest.warns(DroppedWarning):
        refused("1 of 3 searches failed", read, log, **about)
    with pytest.warns(DroppedWarning):
        refused("several templates", read, log, **about | {"templates": "refuse"}, policies=MISSES)
    with pytest.warns(DroppedWarning, match="1 of 5 entries of lists left out, as isAssigned says"):
        s = read(log, **about, policies=MISSES)
    assert (s.n_enrolled, s.rank.tolist(), s.failed.tolist()) == (
        3,
        [1, 0, 4],
        [False, False, True],
    )
    assert [one.reason for one in s.left_out] == ["padding"]


def test_several_templates_on_a_list_are_one_person(folder):
    log = written(
        "t.csv",
        "search,candidate,score\np,b1,0.8\np,b2,0.7\np,a1,0.6\nq,b2,0.5\nq,a2,0.4\nq,a1,0.4\n",
    )
    about = {
        "searches": written("s.csv", "search,probe\np,a\nq,x\n"),
        "enrolled": written("g.csv", "template\na1\na2\nb1\nb2\n"),
        "subject_pattern": "^([a-z])",
        "templates": "best",
    }
    s = read(log, **about)
    assert (s.rank.tolist(), s.best[:, :2].tolist()) == ([2, 0], [[0.8, -np.inf], [0.5, 0.4]])
    assert s.reach.tolist() == [0.6, 0.4]  # what lists of three templates end with


def test_arrays_of_faiss_and_matrices_are_read(folder):
    least = np.finfo(np.float32).min
    np.savez(
        "lists.npz",
        D=np.float32([[0.9, 0.4], [0.3, least], [0.2, 0.1]]),
        I=[[0, 1], [2, -1], [0, 1]],
    )
    with pytest.warns(DroppedWarning, match="1 of 6 entries of lists left out, as they fill"):
        s = read("lists.npz", groups="sex")
    assert (s.rank.tolist(), s.dtype) == ([1, 0, 0], np.float32)
    np.savez("far.npz", D=np.float32([[0.9], [0.3], [0.2]]), I=[[0], [3], [1]])
    refused("a candidate is 3, but gallery.csv has 3 rows", read, "far.npz")
    scores = np.array([[0.9, 0.4, 0.1], [0.2, 0.3, 0.1], [0.5, 0.2, 0.1]])
    np.save("scores.npy", scores)
    np.savez(
        "scores.npz", scores=scores, probe=["ann", "eve", "dan"], enrolled=["ann", "bob", "cid"]
    )
    table = written("wide.csv", "search,ann,bob,cid\nr,0.5,0.2,0.1\np,0.9,0.4,0.1\nq,0.2,0.3,0.1\n")
    wide = {"layout": LAYOUT(shape="matrix")}
    for s in (
        read("scores.npy"),
        ff.read_searches("scores.npz"),
        read(table, **wide),
        read(table, **wide, enrolled=None),
    ):
        assert (s.rank.tolist(), s.best[:, 0].tolist()) == ([1, 0, 0], [0.4, 0.3, 0.5])
        assert [s.labels[k] for k in s.subject] == ["ann", "eve", "dan"]
    refused("does not say who is enrolled", read, "scores.npy", enrolled=None)
    np.savez("vectors.npz", vectors=scores, subject=list("abc"))
    refused("role= says which are references", read, "vectors.npz")


def test_numbers_are_labels_in_all_tables(folder):
    for kind in ("csv", "parquet"):
        tables = {
            "log": {"search": [1, 1, 2], "candidate": [7, 8, 7], "score": [0.9, 0.4, 0.3]},
            "searches": {"search": [1, 2, 3], "probe": [7, 10, 11]},
            "gallery": {"person": ["7", "8"]},
        }
        for name, columns in tables.items():
            frame = pl.DataFrame(columns)
            frame.write_csv(f"{name}.csv") if kind == "csv" else frame.write_parquet(
                f"{name}.parquet"
            )
        s = read(f"log.{kind}", searches=f"searches.{kind}", enrolled=f"gallery.{kind}")
        assert (s.rank.tolist(), s.is_mated.tolist()) == ([1, 0, 0], [True, False, False])
    frames = {name: pl.DataFrame(columns).to_pandas() for name, columns in tables.items()}
    s = ff.read_searches(frames["log"], searches=frames["searches"], enrolled=frames["gallery"])
    assert s.rank.tolist() == [1, 0, 0]


def test_distances_have_thresholds_of_distances(folder):
    rng = np.random.default_rng(3)
    people, scores = np.arange(60), rng.normal(size=(60, 40))
    scores[np.arange(40), np.arange(40)] += 4
    about = people, people[:40]
    alike = ff.Searches.from_matrix(scores, *about)
    apart = ff.Searches.from_matrix(-scores, *about, score_kind="distance")
    row, column = np.indices(scores.shape).reshape(2, -1)
    listed = ff.Searches.from_candidates(
        row,
        column,
        -scores.ravel(),
        searches=people,
        probe=people,
        enrolled=people[:40],
        score_kind="distance",
    )
    rows = ff.Searches.from_scores(row, people[row], column, -scores.ravel(), score_kind="distance")
    for of_distances in (apart, listed, rows):
        for at, other in (
            (ff.at_threshold(2.5), ff.at_threshold(-2.5)),
            (ff.at_fpir(0.1),) * 2,
            (ff.at_fnir(0.1),) * 2,
        ):
            one, two = ff.identify(alike, at).rows, ff.identify(of_distances, other).rows
            for a, b in zip(one, two, strict=True):
                assert (a.estimate, a.low, a.high, a.threshold) == (
                    b.estimate,
                    b.low,
                    b.high,
                    -b.threshold,
                )


def as_parts(monkeypatch: pytest.MonkeyPatch, n: int) -> None:
    """Cut Parquet into parts of about n rows, and look for the ends of lists two rows at a time."""
    from fastfair.identification import read_searches

    monkeypatch.setattr(read_searches, "_ROWS_OF_A_PART", n)
    monkeypatch.setattr(read_searches, "_ROWS_OF_A_LIST", 2)


def test_a_log_that_is_read_part_by_part_gives_the_same(folder, monkeypatch):
    month(np.random.default_rng(5), 400)
    log = pl.read_csv("log.csv").sort("search", maintain_order=True)
    log.write_parquet("log.parquet")
    searches = [
        log["search"].unique(maintain_order=True)[half]
        for half in (slice(0, 170), slice(170, None))
    ]
    for k, names in enumerate(searches):
        log.filter(pl.col("search").is_in(names.to_list())).write_csv(f"half{k}.csv")
    how = {"length": 40, "least_score": 0.45}
    points = [
        ff.at_threshold(0.55),
        ff.at_fpir(0.05),
        ff.at_fnir(0.1),
        ff.at_rank(1),
        ff.at_rank(3),
    ]
    whole = ff.identify(read("log.parquet", groups="sex", layout=LAYOUT(**how)), points)
    as_parts(monkeypatch, 97)
    for path, candidates in (
        ("log.parquet", 40),
        ("log.parquet", 5),
        ("half?.csv", None),
        (["half0.csv", "half1.csv"], 5),
    ):
        s = read(path, groups="sex", layout=LAYOUT(candidates=candidates, **how))
        assert s.best.shape[1] <= (candidates or 40)
        of_parts = ff.identify(s, points)
        for one, other in zip(
            [row for row in whole.rows if row.name != "selectivity"],
            [row for row in of_parts.rows if row.name != "selectivity"],
            strict=True,
        ):
            assert (one.n_errors, one.threshold, one.low, one.high) == (
                other.n_errors,
                other.threshold,
                other.low,
                other.high,
            )


def test_parts_of_a_log_that_cannot_be_read_alone_are_refused(folder, monkeypatch):
    log = pl.DataFrame(
        {
            "search": ["p", "q", "p", "q"],
            "candidate": ["ann", "ann", "bob", "bob"],
            "score": [0.4, 0.3, 0.2, 0.1],
        }
    )
    log.write_parquet("log.parquet")
    as_parts(monkeypatch, 2)
    few = {"layout": LAYOUT(candidates=2)}
    refused(
        "row 2 .*the rows of search 'p' do not follow each other.*sort it by search",
        read,
        "log.parquet",
        **few,
    )
    log.sort("search", "score", descending=[False, True]).write_parquet("log.parquet")
    assert read("log.parquet", **few).rank.tolist() == [1, 0, 0]
    refused(
        "needs the tables of searches and of the gallery", read, "log.parquet", enrolled=None, **few
    )
    refused("no file matches", read, "no*.csv")
    written("one.csv", "search,candidate,score\np,ann,0.9\n")
    written("two.csv", "search,candidate,score\nq,cid,high\n")
    with pytest.raises(FileFormatError, match=r"two.csv: line 2: column 'score' must be a number"):
        read(["one.csv", "two.csv"])
    np.save("scores.npy", np.eye(3))
    refused("a matrix is one file", read, ["scores.npy", "one.csv"])


def test_numbers_of_rows_are_not_taken_for_who_is_enrolled(folder):
    log = written("log.csv", "search,candidate,score\np,2,0.9\nq,3,0.3\n")
    who = written("searches.csv", "search,probe\np,2\nq,9\n")
    for table in ('"","person"\n"1",2\n"2",3\n', '"person","site"\n"1",2,"x"\n"2",3,"x"\n'):
        s = read(log, searches=who, enrolled=written("gallery.csv", table))
        assert (s.labels[s.enrolled].tolist(), s.rank.tolist()) == (["2", "3"], [1, 0])
