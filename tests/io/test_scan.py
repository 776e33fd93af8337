"""Comparisons scanned from files, against the same comparisons in memory."""

from __future__ import annotations

import errno
import gc
import multiprocessing
import shutil
import time
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from contextlib import nullcontext

import numpy as np
import polars as pl
import pytest
from helpers import flat
from helpers.each import each
from helpers.flat import read_comparisons, scan_comparisons
from helpers.refusals import refused
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import fastfair as ff
from fastfair._lib import memory
from fastfair.data import scans, score_keys, temporary_files
from fastfair.errors import (
    DroppedWarning,
    FileFormatError,
    InputError,
    MissingFileError,
    OutputError,
)
from fastfair.io import scan as scan_module
from fastfair.resampling.engine import Resampler

POINTS = [
    ff.at_fmr(0.05),
    ff.at_fmr(0.01),
    ff.at_eer(),
    ff.at_fnmr(0.1),
    ff.at_threshold(1.5),
    ff.at_mean_group_eer(),
]
ROLES = {"reference": "who", "probe": "other"}
GROUPS = [("sex_1", "sex_2")]


def table_of(seed, n=900, n_subjects=40, dtype=np.float32, decimals=2, text=False):
    rng = np.random.default_rng(seed)
    group = np.array(["f", "m"])[rng.permutation(n_subjects) % 2]
    age = rng.integers(1, 12, n_subjects)
    reference, probe = rng.integers(0, n_subjects, (2, n))
    probe = np.where(rng.random(n) < 0.2, reference, probe)
    reference[:4], probe[:4] = (0, 1, 2, 3), (0, 1, 2, 3)
    skill = rng.normal(0, 0.5, n_subjects)
    scores = rng.normal(size=n) + 2.5 * (reference == probe) + skill[reference] + skill[probe]
    names = (
        np.array([f"p{k * 7919 % 10_007:03d}" for k in range(n_subjects)])
        if text
        else np.arange(n_subjects) * 7919 % 10_007
    )
    columns = {
        "score": np.round(scores, decimals).astype(dtype),
        "who": names[reference],
        "other": names[probe],
    }
    for name, labels in (("sex", group), ("age", age)):
        columns |= {f"{name}_1": labels[reference], f"{name}_2": labels[probe]}
    return pl.DataFrame(columns)


def in_memory(frame, **options):
    return read_comparisons(frame, **ROLES, **{"groups": GROUPS, **options})


def written(folder, frame, n_files, order=None, kind="parquet"):
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    cuts = [frame.height * k // n_files for k in range(n_files + 1)]
    places = range(n_files) if order is None else order
    for place, k in enumerate(places):
        part, path = frame[cuts[k] : cuts[k + 1]], folder / f"{place:02d}.{kind}"
        part.write_parquet(path) if kind == "parquet" else part.write_csv(path)
    return folder


def scanned(parts, *, kind="parquet", **options):
    return scan_comparisons(parts / f"*.{kind}", **ROLES, **{"groups": GROUPS, **options})


def keeping(monkeypatch, most, *, rows=10**6, at_once=10**6, in_files=True):
    """Keep about so many comparisons, and read so many rows, and pairs of buckets, at a time."""
    half = scans.LEAST_MEMORY / 2
    monkeypatch.setattr(scans, "_BYTES_KEPT", half / most)
    monkeypatch.setattr(scans, "_BYTES_OF_A_PAIR", scans.LEAST_MEMORY / 8 / at_once)
    monkeypatch.setattr(scans, "_SHARE_OF_PAIRS", 0 if in_files else 1)
    monkeypatch.setattr(scan_module, "_MOST_ROWS", rows)
    monkeypatch.setattr(scan_module, "_ROWS_OF_A_TASK", rows)


def told(evaluation):
    """Return everything of an evaluation that does not say where it is from."""
    return [repr(quantity) for quantity in evaluation.quantities], [
        repr(rates) for rates in evaluation.rates
    ]


def compared(comparisons):
    """Return the subjects and the score of each mated, and of each non-mated, comparison,
    sorted."""
    kept = getattr(comparisons, "kept", None)
    if kept is None:
        sides = comparisons.mated, comparisons.nonmated
        of_sides = [[(side.reference, side.probe, side.keys)] for side in sides]
        rank = np.arange(comparisons.subjects.size)
    else:
        of_sides = [[read() for read in pairs.buckets(1)[0]] for pairs in kept.pairs]
        rank = np.argsort(kept.numbers)
    return [
        sorted(
            (*row, score)
            for reference, probe, keys in parts
            for *row, score in zip(
                rank[reference], rank[probe], score_keys.decode(keys), strict=True
            )
        )
        for parts in of_sides
    ]


def evaluated(comparisons, **options):
    settings = {
        "at": POINTS,
        "metrics": ["eer", "min_dcf"],
        "n_resamples": 70,
        "rng": 3,
        "n_threads": 1,
    }
    return told(ff.evaluate(comparisons, **{**settings, **options}))


@pytest.mark.filterwarnings(
    "ignore::fastfair.errors.FastfairWarning"
)  # of few errors in small data
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.integers(0, 10**6),
    st.sampled_from([1, 7, 20]),
    st.sampled_from([np.float32, np.float64]),
    st.integers(0, 3),
    st.booleans(),
    st.sampled_from(["similarity", "distance"]),
    st.integers(200, 700),
)
def test_scans_have_the_bits_of_comparisons_in_memory(
    tmp_path, seed, n_files, dtype, decimals, text, score_kind, most
):
    frame = table_of(seed, dtype=dtype, decimals=decimals, text=text)
    if score_kind == "distance":
        frame = frame.with_columns(-pl.col("score"))
    whole = in_memory(frame, score_kind=score_kind)
    expected = evaluated(whole)
    order = np.random.default_rng(seed).permutation(n_files)
    folder = written(tmp_path / "parts", frame, n_files, order)
    with pytest.MonkeyPatch.context() as patch:
        keeping(patch, most, rows=123, at_once=50 + seed % 300, in_files=seed % 2 == 0)
        scan = scanned(folder, score_kind=score_kind, memory_limit=scans.LEAST_MEMORY)
    assert (scan.n_mated, scan.n_nonmated) == (len(whole.mated), len(whole.nonmated))
    try:
        found = evaluated(scan)
    except InputError as error:  # never other numbers
        assert "memory_limit" in str(error)  # noqa: PT017 - the other outcome is equal numbers
        assert scan.kept.nonmated.not_kept is not None
        return
    assert found == expected


@pytest.mark.slow
@pytest.mark.filterwarnings(
    "ignore::fastfair.errors.FastfairWarning"
)  # of few errors in small data
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.integers(0, 10**6),
    st.sampled_from([1, 7, 30]),
    st.sampled_from([np.float32, np.float64]),
    st.sampled_from([0.0, 1.0, 1e6]),
    st.sampled_from(["similarity", "distance"]),
    st.sampled_from([["sex"], ["sex", "age"], None]),
    st.sampled_from([1, 3]),
)
def test_cllr_of_scans_has_the_bits_of_comparisons_in_memory(
    tmp_path, seed, n_files, dtype, scale, score_kind, groups, n_threads
):
    frame = table_of(seed, dtype=dtype).with_columns(
        (pl.col("score") * scale).cast(pl.Float32 if dtype == np.float32 else pl.Float64)
    )
    asked = {
        "at": [],
        "metrics": ["cllr"],
        "measures": [],
        "settings": ff.EvaluationSettings(incomplete_groups="nan"),
        "n_threads": n_threads,
    }
    expected = evaluated(in_memory(frame, score_kind=score_kind, groups=groups), **asked)
    folder = written(
        tmp_path / "parts", frame, n_files, np.random.default_rng(seed).permutation(n_files)
    )
    with pytest.MonkeyPatch.context() as patch:
        keeping(patch, 40, rows=123, at_once=50 + seed % 300, in_files=seed % 2 == 0)
        scan = scanned(
            folder, score_kind=score_kind, groups=groups, cllr=True, memory_limit=scans.LEAST_MEMORY
        )
    assert evaluated(scan, **asked) == expected


@pytest.mark.filterwarnings(
    "ignore::fastfair.errors.FastfairWarning"
)  # of few errors in small data
def test_rates_without_errors_have_the_limits_of_comparisons_in_memory(tmp_path, monkeypatch):
    frame = table_of(5, n=20_000, n_subjects=120, decimals=4)
    asked = {"at": [ff.at_threshold(4.6)], "metrics": [], "measures": []}
    expected = evaluated(in_memory(frame, groups=["age"]), **asked)
    assert any("estimate=0.0," in text for text in expected[0])
    keeping(monkeypatch, 6000, rows=2000, at_once=900)
    scan = scanned(
        written(tmp_path / "parts", frame, 3), memory_limit=scans.LEAST_MEMORY, groups=["age"]
    )
    assert scan.kept.nonmated.not_kept is not None
    assert evaluated(scan, **asked) == expected


@pytest.mark.slow
@pytest.mark.jit
@pytest.mark.filterwarnings(
    "ignore::fastfair.errors.FastfairWarning"
)  # of few errors in small data
def test_executors_and_checkpoints_change_nothing(tmp_path, monkeypatch):
    frame = table_of(2, n=5000)
    keeping(monkeypatch, 2000, rows=600, at_once=400)
    scan = scanned(
        written(tmp_path / "parts", frame, 3), cllr=True, memory_limit=scans.LEAST_MEMORY
    )
    points = {
        "at": [ff.at_fmr(0.01), ff.at_eer()],
        "metrics": ["eer", "min_dcf", "cllr"],
        "n_resamples": 400,
    }
    expected = evaluated(in_memory(frame), **points)
    with ThreadPoolExecutor(2) as pool:
        assert (
            evaluated(scan, **points, executor=ff.Checkpoint(tmp_path / "kept", pool)) == expected
        )
    assert evaluated(scan, **points, executor=ff.Checkpoint(tmp_path / "kept")) == expected
    with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as pool:
        assert evaluated(scan, **points, executor=pool) == expected
        scan = scanned(
            tmp_path / "parts", cllr=True, memory_limit=scans.LEAST_MEMORY, executor=pool
        )
        assert evaluated(scan, **points) == expected


@pytest.mark.slow
@pytest.mark.parametrize(("kind", "n_files"), [("parquet", 1), ("parquet", 5), ("csv", 3)])
@pytest.mark.filterwarnings(
    "ignore::fastfair.errors.FastfairWarning"
)  # of few errors in small data
def test_files_that_an_executor_reads_are_the_same_scan(tmp_path, monkeypatch, kind, n_files):
    frame = table_of(1, n=4000, text=True)
    keeping(monkeypatch, 2500, rows=300)
    parts = written(tmp_path / "parts", frame, n_files, kind=kind)
    expected = evaluated(scanned(parts, kind=kind, memory_limit=scans.LEAST_MEMORY))
    with ThreadPoolExecutor(3) as pool:
        assert (
            evaluated(scanned(parts, kind=kind, memory_limit=scans.LEAST_MEMORY, executor=pool))
            == expected
        )


@pytest.mark.filterwarnings(
    "ignore::fastfair.errors.FastfairWarning"
)  # of few errors in small data
def test_metadata_and_sample_names_are_read_as_in_memory(tmp_path):
    frame = table_of(3, text=True)
    who = pl.DataFrame({"id": sorted(set(frame["who"]) | set(frame["other"]))}).with_row_index("k")
    who = who.select("id", race=pl.col("k").cast(pl.Int64) % 3)[
        1:
    ]  # of one subject nothing is known
    files = frame.with_columns(pl.col("who") + "/1.png", pl.col("other") + "/2.png")
    options = {
        "metadata": who,
        "metadata_id": "id",
        "groups": "race",
        "subject_pattern": "^[^/]+",
        "missing_labels": "drop",
    }
    (folder := tmp_path / "whole").mkdir()
    files.write_csv(folder / "all.csv")
    expected = read_comparisons(folder / "all.csv", **ROLES, **options)
    scan = scanned(written(tmp_path / "parts", files, 4, kind="csv"), kind="csv", **options)
    assert evaluated(scan) == evaluated(expected)
    totals = [(one.n, one.n_before, one.because) for one in expected.left_out]
    assert [
        (one.n, one.n_before, one.because) for one in scan.left_out
    ] == totals  # parts are added up


def test_files_of_float32_and_of_float64_scores_are_joined(tmp_path):
    frame = table_of(4, decimals=7)
    folder = written(tmp_path / "parts", frame, 3)
    frame[300:600].with_columns(pl.col("score").cast(pl.Float64) + 1e-12).write_parquet(
        folder / "01.parquet"
    )
    refused(
        "00.*float64 here, but float32 before|01.*float64 here, but float32 before", scanned, folder
    )
    (folder / "01.parquet").rename(folder / "-1.parquet")
    joined = pl.concat(
        [
            pl.read_parquet(path).with_columns(pl.col("score").cast(pl.Float64))
            for path in sorted(folder.iterdir())
        ]
    )
    for cllr in (False, True):
        scan = scanned(folder, cllr=cllr)
        assert np.array_equal(scan.kept.nonmated.keys, in_memory(joined).nonmated.keys)
        assert evaluated(scan) == evaluated(in_memory(joined))
    assert compared(scan) == compared(in_memory(joined))


@pytest.mark.filterwarnings(
    "ignore::fastfair.errors.FastfairWarning"
)  # of few errors in small data
@pytest.mark.parametrize(
    ("in_files", "score_kind", "dtype"),
    [(False, "similarity", np.float32), (True, "distance", np.float64)],
)
def test_a_scan_keeps_all_scores_for_cllr_and_else_stays_the_same(
    tmp_path, monkeypatch, dtype, score_kind, in_files
):
    frame = table_of(1, n=5000, n_subjects=150, dtype=dtype, decimals=4)
    if score_kind == "distance":
        frame = frame.with_columns(-pl.col("score"))
    folder = written(tmp_path / "parts", frame, 3)
    keeping(monkeypatch, 2500, rows=600, at_once=400, in_files=in_files)
    options = {"score_kind": score_kind, "memory_limit": scans.LEAST_MEMORY}
    without, scan = (scanned(folder, **options, cllr=cllr) for cllr in (False, True))
    assert ("costs" in without.kept.lacks, "costs" in scan.kept.lacks) == (True, False)
    assert scan.kept.nonmated.not_kept is not None
    assert "costs" not in scan.by("sex").kept.lacks
    assert compared(scan) == compared(in_memory(frame, score_kind=score_kind))
    points = {"at": ff.at_fmr(0.01), "metrics": []}
    for n_threads in (1, 3):
        assert evaluated(without, **points) == evaluated(scan, **points, n_threads=n_threads)


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (lambda part: part.with_columns(score=pl.when(pl.int_range(300) == 7).then(float("nan")).otherwise("score")),
         r"02.parquet: row 7 \(counted from 0\): scores must be finite"),
        (lambda part: part.drop("score"), "02.parquet has no column 'score'"),
        (lambda part: part.drop("sex_2"), "02.parquet.*sex_2"),
        (lambda part: part.with_columns(score=pl.lit("high")), "02.parquet.*score"),
        (lambda part: part.with_columns(who=pl.lit(None, pl.Int64)), "02.parquet.*who.* is missing in row 0"),
        (lambda part: part.with_columns(sex_1=pl.lit("x")),
         r"02.parquet: row 0 \(counted from 0\): the 'sex' of subject .* in a scan"),
        (lambda part: part.with_columns(who=pl.col("who").cast(pl.String)), "02.parquet.*mixes labels"),
    ],
)  # fmt: skip
def test_bad_parts_are_errors_that_name_the_file(tmp_path, change, says):
    folder = written(tmp_path / "parts", table_of(0), 3)
    change(pl.read_parquet(folder / "02.parquet")).write_parquet(folder / "02.parquet")
    refused(says, scanned, folder)


def test_rows_of_parts_are_counted_from_the_start_of_their_file(tmp_path, monkeypatch):
    monkeypatch.setattr(scan_module, "_MOST_ROWS", 100)
    frame = table_of(0)
    frame = frame.with_columns(
        score=pl.when(pl.int_range(frame.height) == 456).then(None).otherwise("score")
    )
    refused(
        r"00.parquet.*row 456 \(counted from 0\)", scanned, written(tmp_path / "parts", frame, 1)
    )


def test_what_a_scan_cannot_do_is_an_error(tmp_path):
    frame, parts = table_of(0), tmp_path / "parts"
    scan = scanned(written(parts, frame, 2))
    np.save(tmp_path / "m.npy", np.eye(3))
    frame.filter(pl.col("who") != pl.col("other")).write_parquet(tmp_path / "n.parquet")
    flagged = frame.with_columns(mated=pl.col("who") == pl.col("other"))
    flagged.drop("who", "other").write_parquet(tmp_path / "s.parquet")
    for call, says in (
        (lambda: ff.evaluate(scan, unit="comparison"), "draws subjects"),
        (lambda: ff.evaluate(scan, settings=ff.EvaluationSettings(method="bca")), "cannot"),
        (
            lambda: ff.evaluate(scan, settings=ff.EvaluationSettings(eer_method="convex-hull")),
            "all scores",
        ),
        (lambda: ff.rates(scan, ff.at_eer()), "a scan has kept few scores"),
        (lambda: scan_comparisons([]), "names no files"),
        (lambda: scan_comparisons(tmp_path / "none-*.parquet"), "no file matches"),
        (lambda: scanned(parts, memory_limit="1 MB"), "at least 128 MiB"),
        (lambda: scanned(parts, memory_limit="much"), "memory_limit must be a number of bytes"),
        (lambda: scan_comparisons(tmp_path / "m.npy"), "score matrix"),
        (
            lambda: scan_comparisons(tmp_path / "n.parquet", **ROLES),
            "no mated comparisons among the",
        ),
        (lambda: scan_comparisons(tmp_path / "s.parquet"), "needs the subjects"),
    ):
        refused(says, call)


@each(
    ("who", "other", "sex_1", "sex_2", "says"),
    [
        (
            [1, 2, 3, 1],
            [1, 3, 2, 4],
            "fmff",
            "ffff",
            "row 2 .*: the 'sex' of subject 2 is 'f', but 'm'",
        ),
        (
            [1, 2, 3, 1],
            [1, 3, 2, 4],
            "fmff",
            "fffm",
            "row 2 .*: the 'sex' of subject 2 is 'f', but 'm'",
        ),
        (
            [1, 2, 3, 1],
            [1, 3, 2, 4],
            "fmmf",
            "ffff",
            "row 1 .*: the 'sex' of subject 3 is 'f', but 'm'",
        ),
        (
            [1, 2, 3, 1],
            [1, 3, 2, 4],
            "fmff",
            "fmmm",
            "row 1 .*: the 'sex' of subject 3 is 'm', but 'f'",
        ),
        (
            [1, 2, 3, 1],
            [1, 3, 2, 4],
            "fmfm",
            "ffmm",
            "row 3 .*: the 'sex' of subject 1 is 'm', but 'f'",
        ),
        ([1, 2, 1], [1, 2, 2], "fmm", "fmf", "row 2 .*: the 'sex' of subject 1 is 'm', but 'f'"),
    ],
)
def test_a_subject_with_two_labels_is_an_error_that_names_the_row(
    tmp_path, who, other, sex_1, sex_2, says
):
    columns = {
        "who": who,
        "other": other,
        "sex_1": [*sex_1],
        "sex_2": [*sex_2],
        "score": [0.5] * len(who),
    }
    refused(says, scanned, written(tmp_path / "parts", pl.DataFrame(columns), 1))


@pytest.mark.parametrize("workers", [0, 3])
@pytest.mark.parametrize("n_files", [2, 5])
def test_the_first_of_several_bad_parts_is_named(tmp_path, n_files, workers):
    folder = written(tmp_path / "parts", table_of(0), n_files)
    files = sorted(folder.glob("*"))
    for file in files[1:]:
        pl.read_parquet(file).with_columns(who=pl.col("who").cast(pl.String)).write_parquet(file)
    with (
        ThreadPoolExecutor(workers) if workers else nullcontext() as pool,
        pytest.raises(InputError, match=f"{files[1].name}.*mixes labels"),
    ):
        scanned(folder, executor=pool)


@pytest.mark.slow
@pytest.mark.jit
def test_errors_and_warnings_of_other_processes_name_files_and_rows(tmp_path):
    frame = table_of(0)
    bad = frame.with_columns(
        score=pl.Series(np.append(frame["score"].to_numpy()[:-1], np.float32(np.nan)))
    )
    twice = frame.with_columns(
        sex_1=pl.Series(np.where(np.arange(frame.height) == 899, "x", frame["sex_1"]))
    )
    described = frame.drop("sex_1", "sex_2")
    known = pl.DataFrame({"who": frame["who"].unique().sort()[:-1]}).with_columns(sex=pl.lit("f"))
    options = {"groups": "sex", "metadata": known, "metadata_id": "who", "missing_labels": "drop"}
    with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as pool:
        for table, says in (
            (bad, "row 299 .*scores"),
            (twice, "row 299 .*'sex' of subject .* is 'x'"),
        ):
            refused(
                f"02.parquet: {says}", scanned, written(tmp_path / "parts", table, 3), executor=pool
            )
        with pytest.warns(DroppedWarning, match="comparisons") as told:
            scanned(written(tmp_path / "parts", described, 3), **options, executor=pool)
    assert {one.filename for one in told} == {flat.__file__}  # which calls the library here


def test_cllr_and_quantities_beyond_what_is_kept_are_errors(tmp_path, monkeypatch):
    frame = table_of(0, n=5000, decimals=4)
    keeping(monkeypatch, 200)
    scan = scanned(written(tmp_path / "parts", frame, 2), memory_limit=scans.LEAST_MEMORY)
    for options, says in (
        ({"at": ff.at_fmr(0.5)}, "threshold of FMR=0.5 needs more scores"),
        ({"at": ff.at_threshold(-9)}, "threshold of threshold=-9 needs more scores"),
        (
            {"at": [], "metrics": "cllr"},
            "Cllr needs the scores of all comparisons: scan files with cllr=True",
        ),
        ({"at": [], "metrics": "min_cllr"}, "min Cllr needs more scores"),
    ):
        refused(says, ff.evaluate, scan, **options, rng=0, n_resamples=0)


@pytest.mark.parametrize(
    ("n_bytes", "says"), [(2**20, "sums over the pairs of"), (2**23, "use fewer resamples")]
)
def test_subjects_that_memory_cannot_hold_are_refused(tmp_path, monkeypatch, n_bytes, says):
    scan = scanned(written(tmp_path / "parts", table_of(0, n=60_000, n_subjects=9000), 2))
    monkeypatch.setattr(memory, "_LITTLE", 0)
    monkeypatch.setattr(memory, "available", lambda: n_bytes)
    monkeypatch.setattr(
        Resampler, "_require_memory", lambda *_: None
    )  # of the scores that are kept
    refused(says, ff.evaluate, scan, ff.at_fmr(0.1), metrics=[], measures=[], rng=0)


def test_temporary_files_are_removed_with_the_scan(tmp_path, monkeypatch):
    keeping(monkeypatch, 2000)
    scan = scanned(
        written(tmp_path / "parts", table_of(0), 2),
        memory_limit=scans.LEAST_MEMORY,
        folder=tmp_path,
    )
    (made,) = tmp_path.glob("fastfair-*")
    assert any(made.iterdir())
    assert scan.n_mated > 0
    del scan
    gc.collect()
    deadline = time.monotonic() + 10
    while made.exists() and time.monotonic() < deadline:
        time.sleep(0.01)  # threads that read it end a moment later
    assert not made.exists()


def test_a_file_that_is_named_twice_is_an_error(tmp_path):
    folder = written(tmp_path / "parts", table_of(0), 2)
    (tmp_path / "link").symlink_to(folder)
    for again in (folder / "01.parquet", folder / "*.parquet", tmp_path / "link" / "01.parquet"):
        refused(
            r"names the file .*01.parquet twice",
            scan_comparisons,
            [folder / "01.parquet", again],
            **ROLES,
        )


def test_a_folder_that_cannot_hold_temporary_files_is_an_error_before_files_are_read(tmp_path):
    folder = written(tmp_path / "parts", table_of(0), 2)
    (folder / "00.parquet").write_bytes(b"not read")
    for inside, says in (
        (tmp_path / "none", "none cannot be written: there is no such folder"),
        (folder / "01.parquet", "01.parquet cannot be written: .* is a file, not a folder"),
    ):
        with pytest.raises(OutputError, match=says):
            scanned(folder, folder=inside)


def test_a_disk_without_space_is_an_error(tmp_path, monkeypatch):
    open_file = temporary_files.Path.open

    def full(path, mode="r", *more, **options):
        if mode == "ab":
            raise OSError(errno.ENOSPC, "full")
        return open_file(path, mode, *more, **options)

    keeping(monkeypatch, 2000)
    monkeypatch.setattr(temporary_files.Path, "open", full)
    with pytest.raises(OutputError, match="no space is left there"):
        scanned(
            written(tmp_path / "parts", table_of(0), 2),
            memory_limit=scans.LEAST_MEMORY,
            folder=tmp_path,
        )


def test_temporary_files_that_were_removed_or_shortened_are_an_error(tmp_path, monkeypatch):
    keeping(monkeypatch, 2000)
    scan = scanned(
        written(tmp_path / "parts", table_of(0), 2),
        memory_limit=scans.LEAST_MEMORY,
        folder=tmp_path,
    )
    one = next(path for path in sorted(tmp_path.glob("fastfair-*/*")) if path.stat().st_size)
    one.write_bytes(one.read_bytes()[:-4])
    with pytest.raises(FileFormatError, match="was shortened: scan again"):
        evaluated(scan)
    one.unlink()
    with pytest.raises(MissingFileError, match="was removed: scan again"):
        evaluated(scan)


@pytest.mark.filterwarnings(
    "ignore::fastfair.errors.FastfairWarning"
)  # of few errors in small data
def test_an_evaluation_of_a_scan_makes_intervals_anew_but_leaves_out_no_subjects(
    tmp_path, monkeypatch
):
    frame = table_of(1, n=5000, decimals=4)
    keeping(monkeypatch, 4000)
    scan = scanned(written(tmp_path / "parts", frame, 2), memory_limit=scans.LEAST_MEMORY)
    points = {"at": ff.at_fmr(0.01), "metrics": [], "n_resamples": 130, "rng": 3}
    of_scan, in_full = (
        ff.evaluate(comparisons, **points) for comparisons in (scan, in_memory(frame))
    )
    for method in ("percentile", "basic", "normal", "dyadic"):
        assert told(of_scan.with_intervals(method=method)) == told(
            in_full.with_intervals(method=method)
        )
    refused(
        r'method="bca" leaves out subjects .* a scan cannot', of_scan.with_intervals, method="bca"
    )


@pytest.mark.filterwarnings(
    "ignore::fastfair.errors.FastfairWarning"
)  # of few errors in small data
@pytest.mark.parametrize("n_files", [6, 60])
def test_parts_of_which_nothing_is_left_are_skipped(tmp_path, n_files):
    """Between files that are kept, and as the first."""
    frame = table_of(6, n=600).with_columns(mated=(pl.col("who") == pl.col("other")).cast(pl.Int8))
    wrong = (pl.int_range(pl.len()) // 100).is_in([0, 3])
    frame = frame.with_columns(mated=pl.when(wrong).then(1 - pl.col("mated")).otherwise("mated"))
    options = {"mated": "mated", "label_conflicts": "drop"}
    expected, scan = (
        in_memory(frame, **options),
        scanned(written(tmp_path / "parts", frame, n_files), **options),
    )
    assert (scan.n_mated, scan.n_nonmated) == (len(expected.mated), len(expected.nonmated))
    assert evaluated(scan) == evaluated(expected)
    assert [(one.n, one.n_mated) for one in scan.left_out] == [
        (one.n, one.n_mated) for one in expected.left_out
    ]


@pytest.mark.filterwarnings(
    "ignore::fastfair.errors.FastfairWarning"
)  # of few errors in small data
def test_limits_of_rates_without_errors_that_rest_on_scores_not_kept_are_wider(
    tmp_path, monkeypatch
):
    frame = table_of(5, n=20_000, n_subjects=120, decimals=4)
    asked = {
        "at": ff.at_threshold(4.6),
        "metrics": [],
        "measures": [],
        "n_resamples": 130,
        "rng": 3,
    }
    in_full = ff.evaluate(in_memory(frame, groups=["age"]), **asked).quantities
    keeping(monkeypatch, 4200)
    scan = scanned(
        written(tmp_path / "parts", frame, 2), memory_limit=scans.LEAST_MEMORY, groups=["age"]
    )
    of_scan = ff.evaluate(scan, **asked).quantities
    others = [pair for pair in zip(of_scan, in_full, strict=True) if repr(pair[0]) != repr(pair[1])]
    assert others
    for found, expected in others:
        assert found.estimate == expected.estimate == 0
        assert found.high >= expected.high
        assert "for 1 independent comparisons" in found.note


def test_a_scan_shows_how_much_was_kept(tmp_path):
    scan = scanned(written(tmp_path / "parts", table_of(0), 2))
    assert (
        repr(scan)
        == f"ScannedComparisons({scan.n_mated} mated, {scan.n_nonmated} non-mated, similarity, 40"
        " subjects, 2 groups)"
    )
    heard = []
    scanned(tmp_path / "parts", progress=lambda done, n: heard.append((done, n)))
    assert heard[-1][0] == heard[-1][1]
