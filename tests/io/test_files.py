"""What no reader may do: lose a row, merge two, take one side's labels for both, or raise errors
that are not ours."""

from __future__ import annotations

import io
import os
import subprocess
import sys
import time
import zipfile

import h5py
import numpy as np
import pandas as pd
import polars as pl
import pytest
from helpers.command_line import run, succeeded
from helpers.each import each
from helpers.flat import from_frame, read_comparisons
from helpers.refusals import refused
from helpers.vector_files import write_vectors
from hypothesis import given
from hypothesis import strategies as st

import fastfair as ff
from fastfair.errors import FileFormatError, InputError, MissingFileError
from fastfair.io import files
from fastfair.io import text as text_files

HEADER = "score,mated,reference,probe\n"
PAIR = "score,mated,race_1,race_2\n0.9,1,a,a\n0.8,1,b,b\n0.2,0,a,b\n0.1,0,b,a\n"


def sizes(c):
    return len(c.mated), len(c.nonmated)


@pytest.mark.parametrize("separator", [",", ";", "\t"])
def test_blanks_around_labels_and_names_do_not_count(write, separator):
    text = (
        "score, mated,reference , probe,sex \n0.9,1,ann, ann,f\n0.2,0, ann,bob\u3000, f\n0.8,"
        " 1,bob,bob ,m\n"
    )
    c = read_comparisons(write("s.csv", text.replace(",", separator)), groups="sex")
    assert (sizes(c), c.subjects.tolist(), c.groups) == ((2, 1), ["ann", "bob"], ("f", "m"))
    who = write("w.csv", " id ,sex\n ann,f \nbob , m\n".replace(",", separator))
    named = write("t.csv", "score,reference,probe\n0.9,ann, ann\n0.1,ann,bob\n")
    c = read_comparisons(named, metadata=who, metadata_id="id", groups="sex")
    assert (sizes(c), c.groups) == ((1, 1), ("f", "m"))
    failures = write(
        "f.csv", " failures,attempts, sex\n0, 4,f\n2,4, f\n1,3,m \n".replace(",", separator)
    )
    assert len(ff.read_failure_counts(failures, groups="sex").groups) == 2


def test_frames_files_and_arrays_have_one_rule(write):
    labels = ["ann", " ann", "ann\x1c", "bob"]
    frame = {"score": [0.9, 0.8, 0.7, 0.1], "reference": ["ann"] * 4, "probe": labels}
    parquet = write("p.parquet", b"")
    pl.DataFrame(frame).write_parquet(parquet)
    text = "score,reference,probe\n" + "".join(
        f"{s},ann,{p}\n" for s, p in zip(frame["score"], labels, strict=True)
    )
    for c in (
        ff.Comparisons(frame["score"], None, frame["reference"], frame["probe"]),
        read_comparisons(pl.DataFrame(frame)),
        read_comparisons(pd.DataFrame(frame)),
        from_frame(pd.DataFrame(frame), mated=None, reference="reference", probe="probe"),
        read_comparisons(write("s.csv", text)),
        read_comparisons(parquet),
    ):
        assert (sizes(c), c.subjects.tolist()) == ((3, 1), ["ann", "bob"])


ROWS = ["score,mated", "0.9,1", "0.8,1", "0.1,0"]


@each("end", ["\n", "\r\n", "\r"])
@each("top", [[], ["# a comment"], ['# 5" wide', "", "  "]])
@each("quoted", [False, True])
def test_every_line_end_ends_a_line(write, end, top, quoted):
    rows = [f'"{r}"'.replace(",", '","') for r in ROWS] if quoted else ROWS
    for text in (
        end.join([*top, *rows]),
        end.join([*top, *rows, ""]),
        end.join([*top, *rows[:3], "", *rows[3:]]),
    ):
        assert sizes(read_comparisons(write("s.csv", text))) == (2, 1)
    fields = [*top, "a a f 0.9", "b b f 0.8", "a b f 0.1"]
    assert sizes(read_comparisons(write("s.txt", end.join(fields)))) == (2, 1)
    with pytest.raises(
        FileFormatError, match=f"line {len(top) + 5}: column 'score' must be a number, not 'x'"
    ):
        read_comparisons(write("s.csv", end.join([*top, *rows, "x,1"])))


def test_lines_are_counted_through_quoted_line_ends(write):
    text = '"sco\nre",mated,reference,probe\n0.9,1,"a\n\nb","a\n\nb"\nx,0,c,d\n'
    with pytest.raises(FileFormatError, match=r"line 8: .* must be a number, not 'x'"):
        read_comparisons(write("s.csv", text), format="csv", score="sco\nre")
    c = read_comparisons(
        write("s.csv", text.replace("\nx,", "\n0.1,")), format="csv", score="sco\nre"
    )
    assert c.subjects.tolist() == ["a\n\nb", "c", "d"]
    with pytest.raises(InputError, match="line 8: mated contradicts"):
        read_comparisons(
            write("s.csv", text.replace("\nx,0", "\n0.1,1") + "0,0,a,b\n"),
            format="csv",
            score="sco\nre",
        )


@each(
    ("rows", "message"),
    [
        ('0.9,1,a"b,a\n', "line 2: a quote stands inside a field"),
        ('0.9,1,"a"b,a\n', "line 2: a quote stands inside a field"),
        ('0.9,1,a,a\n0.1,0,"a,b\n0.3,0,a,b\n', "line 3: a field in quotes does not end"),
        ("0.9,1,a,a\n0.1,0,a,b,c\n", "line 3: expected 4 fields"),
        ("0.9,1,a,a\n0.1,0,a,b\0\n", "line 3: there is a NUL byte"),
        ("0.9,1,a,a\n\ufeff0.1,0,a,b\n", "line 3: there is a byte order mark"),
    ],
)
def test_what_could_be_read_in_two_ways_is_refused(write, rows, message):
    with pytest.raises(FileFormatError, match=message):
        read_comparisons(write("s.csv", HEADER + rows))


def test_encodings(write):
    text = HEADER + "0.9,1,é,é\n0.1,0,é,b\n"
    assert read_comparisons(write("s.csv", text.encode("utf-8-sig"))).subjects.tolist() == [
        "b",
        "é",
    ]
    for encoding, message in (
        ("latin-1", "line 2 is not UTF-8 text but of another encoding"),
        ("utf-16", "line 1 is not UTF-8 .* UTF-16"),
        ("utf-16-le", "line 1: there is a NUL byte"),
        ("utf-32", "line 1 is not UTF-8"),
    ):
        with pytest.raises(FileFormatError, match=message):
            read_comparisons(write("s.csv", text.encode(encoding)), format="csv")


@pytest.mark.parametrize(
    "number", ["9007199254740993", "-9007199254740993", "18446744073709551617", "1" * 40]
)
def test_whole_numbers_that_float64_would_merge_are_refused(write, number):
    for name, text, options in (
        ("s.csv", f"score,mated\n9007199254740992,1\n{number},0\n", {}),
        ("s.txt", f"a a f 9007199254740992\na b f {number}\n", {}),
    ):
        with pytest.raises(FileFormatError, match=r"line [23]: .* a whole number above 2\^53"):
            read_comparisons(write(name, text), **options)
    exact = read_comparisons(
        write("s.csv", "score,mated\n9007199254740992,1\n-9007199254740994,0\n")
    )
    assert exact.nonmated.similarities.tolist() == [-9007199254740994.0]


@each("number", ["1e400", "-1e400", "inf", "-Infinity", "nan", "NaN"])
def test_numbers_that_are_not_finite_are_refused_with_their_line(write, number):
    trials = write("t", "1 a/1 a/2\n0 a/1 b/1\n")
    for name, text, options in (
        ("s.csv", f"score,mated\n\n0.5,1\n{number},0\n", {}),
        ("s.txt", f"a a f 0.5\n\n\na b f {number}\n", {}),
        ("o.txt", f"\n\n0.5\n{number}\n", {"trials": trials}),
        ("k.txt", f"\n\na/1 a/2 0.5\na/1 b/1 {number}\n", {"trials": trials}),
    ):
        path = write(name, text)
        with pytest.raises(
            FileFormatError, match=rf"{name}: line 4: .* must be finite, not '{number}'"
        ):
            read_comparisons(path, **options)


def test_a_name_that_occurs_twice_is_no_name(write):
    for header in ("score,mated,score ", " score,score,mated", "mated,score,mated"):
        with pytest.raises(FileFormatError, match=r"has 2 columns called '(score|mated)'"):
            read_comparisons(write("s.csv", f"{header}\n0.9,1,1\n0.1,0,0\n"))
    c = read_comparisons(write("s.csv", "score,mated,x,x\n0.9,1,1,1\n0.1,0,1,1\n"))
    assert sizes(c) == (1, 1)
    scores = pl.DataFrame({"score": [0.9, 0.1], "reference": list("aa"), "probe": list("ab")})
    for text in ("id,sex,sex \na,f,m\nb,m,f\n", "id, id,sex\na,b,m\nb,a,f\n"):
        with pytest.raises(FileFormatError, match=r"has 2 columns called '(sex|id)'"):
            read_comparisons(scores, metadata=write("w.csv", text), metadata_id="id", groups="sex")


def test_trials_that_are_both_are_refused_and_those_listed_twice_kept(write):
    scores = write("s", "a a1 0.9\na b1 0.1\n")
    with pytest.raises(
        FileFormatError, match=r"t: a a1 is a target trial in line 2 and a nontarget one in line 4"
    ):
        read_comparisons(
            scores, trials=write("t", "# t\na a1 target\na b1 nontarget\na a1 nontarget\n")
        )
    twice = write("t", "a a1 target\na b1 nontarget\na a1 target\n")
    assert sizes(read_comparisons(scores, trials=twice)) == (2, 1)
    joined = write("j", "1 a/1 a/2 0.9\n0 a/1 b/1 0.1\n0 a/1 a/2 0.3\n")
    with pytest.raises(FileFormatError, match="line 1 and a nontarget one in line 3"):
        read_comparisons(joined, format="voxceleb")


def test_the_file_to_blame_is_named_with_its_line(write):
    trials = write("veri.txt", "# list\n\n1 a/1 a/2\n0 a/1 b/1\n1 a/1 c/1\n")
    in_order = write("s.txt", "0.9\n0.2\n0.1\n")
    refused(
        r"veri\.txt: line 5: mated contradicts the subjects",
        read_comparisons,
        in_order,
        trials=trials,
    )
    refused(
        r"veri\.txt: line 3: subject_pattern",
        read_comparisons,
        in_order,
        trials=trials,
        subject_pattern="^(z)",
    )
    keyed = write("k.txt", "\na/1 c/1 0.1\na/1 a/2 0.9\na/1 b/1 x\n")
    with pytest.raises(FileFormatError, match=r"k\.txt: line 4: the score must be a number"):
        read_comparisons(keyed, trials=trials)


def test_one_side_is_not_taken_for_both(write):
    path = write("s.csv", PAIR)
    for near in ("rac", "Race"):
        with pytest.raises(InputError, match=rf"no column '{near}', .* mean 'race'"):
            read_comparisons(path, groups=near)
    for one in ("race_1", "race_2", ["race_1", "race_2"]):
        with pytest.raises(
            InputError, match=r"holds the labels of one side: .*\('race_1', 'race_2'\) in groups"
        ):
            read_comparisons(path, groups=one)
    for both in ("race", [("race_1", "race_2")]):
        c = read_comparisons(path, groups=both)
        assert (c.grouping, c.nonmated_by_group.cells.tolist()) == (("race",), [[0, 1], [1, 0]])
    alone = read_comparisons(path, groups=[("race_1", "race_1")])
    assert alone.nonmated_by_group.cells.tolist() == [[1, 0], [0, 1]]
    refused("no column 'race_3'", read_comparisons, path, groups=[("race_1", "race_3")])
    refused("a pair of texts", read_comparisons, path, groups=[("race_1", "race_2", "x")])


@each(
    ("one", "other", "shared"),
    [
        ("x_1", "x_2", "x"), ("x1", "x2", "x"), ("x_a", "x_b", "x"), ("reference_x", "probe_x", "x"),
        ("ref_x", "probe_x", "x"), ("enrol_x", "test_x", "x"), ("left_x", "right_x", "x"), ("xA", "xB", "x"),
        ("x_ref", "x_probe", "x"), ("subject_1_x", "subject_2_x", "subject_x"), ("Sex.Left", "Sex.Right", "Sex"),
        ("bio_ref_x", "probe_x", "x"), ("X 1", "X 2", "X"), ("x_0", "x_1", "x"),
        ("reference_x", "x", "x"), ("x", "x_2", "x"),
    ],
)  # fmt: skip
def test_columns_of_two_sides_are_known_by_one_word(one, other, shared):
    frame = pl.DataFrame({"score": [0.9, 0.1], "mated": [1, 0], one: ["f", "f"], other: ["f", "m"]})
    for name in (one, other):
        refused("holds the labels of one side", read_comparisons, frame, groups=name)
        with pytest.raises(
            InputError, match=f"give reference_group='{one}' and probe_group='{other}'"
        ):
            from_frame(frame, reference_group=name)
    for c in (
        read_comparisons(frame, groups=[(one, other)]),
        from_frame(frame, reference_group=one, probe_group=other),
    ):
        assert (c.grouping, c.groups) == ((shared,), ("f", "m"))


@pytest.mark.parametrize(
    ("one", "other"), [("sex", "race"), ("age_1", "age_10"), ("area", "arab"), ("a", "b")]
)
def test_columns_of_one_side_have_no_other(one, other):
    frame = pl.DataFrame({"score": [0.9, 0.1], "mated": [1, 0], one: ["f", "m"], other: ["f", "m"]})
    assert read_comparisons(frame, groups=one).groups == ("f", "m")


def test_pairs_on_the_command_line(write):
    path = str(write("s.csv", PAIR + "0.3,0,a,a\n0.6,0,b,b\n"))
    options = ["--n-resamples", "0", "--at", "threshold=0.5", "--json"]
    done = succeeded(
        "evaluate", path, *options, "--reference-group", "race_1", "--probe-group", "race_2"
    )
    assert run("evaluate", path, *options, "--group", "race").output == done.output
    refused(
        "reference_group='race_1' and probe_group='race_2'",
        run,
        "evaluate",
        path,
        "--group",
        "race_1",
    )
    done = run("evaluate", path, *options, "--reference-group", "race_1")
    assert "--reference-group is given 1 times and --probe-group 0 times" in done.output


@pytest.mark.parametrize(
    "columns", [("sex", "sex"), ("reference_sex", "probe_sex"), ("sex_1", "sex_2")]
)
def test_labels_that_contradict_the_metadata_are_refused(columns):
    who = pl.DataFrame({"id": list("abc"), "sex": ["f", "f", "NaN"]})
    scores = pl.DataFrame(
        {"score": [0.9, 0.5, 0.1], "reference": list("aab"), "probe": list("aba")}
    )
    told = dict.fromkeys(columns, pl.Series(["f", "f", "f"]))
    arguments = {"metadata": who, "metadata_id": "id", "groups": "sex"}
    assert read_comparisons(scores.with_columns(**told), **arguments).groups == ("f",)
    missing = told | {columns[1]: pl.Series(["nan", "<NA>", None])}
    assert read_comparisons(scores.with_columns(**missing), **arguments).groups == ("f",)
    for side in (0, 1):
        wrong = scores.with_columns(**told | {columns[side]: pl.Series(["f", "m", "f"])})
        refused(
            rf"row 1 .*'{columns[side]}' has 'm' for '[ab]' .* is 'f'",
            read_comparisons,
            wrong,
            **arguments,
        )
        c = read_comparisons(wrong, **arguments, label_conflicts="keep")
        assert c.groups == ("f",)


@each("missing", ["nan", "NaN", "<NA>", "NaT", " ", ""])
def test_missing_labels_written_as_text_are_missing(write, missing):
    with pytest.raises(InputError, match="line 3: column 'sex' is missing"):
        read_comparisons(
            write("s.csv", f"score,mated,sex\n0.9,1,f\n0.1,0,{missing}\n"), groups="sex"
        )
    scores = write("s.csv", "score,reference,probe\n0.9,a,a\n0.1,a,b\n")
    who = write("w.csv", f"id,sex\na,f\nb,{missing}\n")
    with pytest.raises(InputError, match="1 of 2 subjects have no metadata for sex: 'b'"):
        read_comparisons(scores, metadata=who, metadata_id="id", groups="sex")
    with pytest.raises(InputError, match="line 3: there is no subject id"):
        read_comparisons(
            scores,
            metadata=write("w.csv", f"id,sex\na,f\n{missing},m\n"),
            metadata_id="id",
            groups="sex",
        )


def test_cells_written_for_spreadsheets_come_back(write):
    text = "score,reference,probe,sex\n0.9,'=a,'=a,'+f\n0.1,'=a,''@b,'+f\n"
    c = read_comparisons(write("s.csv", text), groups="sex")
    assert (c.subjects.tolist(), c.groups) == (["'@b", "=a"], ("+f",))


@pytest.mark.slow
def test_pandas_without_pyarrow():
    code = """
import sys
sys.modules["pyarrow"] = None
import pandas as pd, fastfair as ff
frame = pd.DataFrame({"s": [0.9, 0.1], "a": ["x/1", "x/1"], "b": ["x/2", "y/1"], "g": ["f", "m"]})
for dtype in (object, "str", "category"):
    c = ff.read_comparisons(frame.astype({"a": dtype, "b": dtype, "g": dtype}), score="s", reference="a", probe="b",
                            subject_pattern="^[xy]", groups="g")
    assert c.groups == ("f", "m") and len(c.mated) == 1, c
who = pd.DataFrame({"id": ["x", "y"], "sex": ["f", "m"]})
c = ff.read_comparisons(frame, score="s", reference="a", probe="b", subject_pattern="^[xy]", metadata=who,
                        layout=ff.Layout(metadata_id="id"), groups="sex")
assert c.groups == ("f", "m")
v = pd.DataFrame({"vectors": [[1., 2.], [2., 1.], [1., 0.]], "subject": ["x", "x", "y"]})
assert len(ff.read_embeddings(v).vectors) == 3
f = pd.DataFrame({"failures": [0, 1], "attempts": [2, 3], "group": ["f", "m"]})
assert ff.read_failure_counts(f).groups == ("f", "m")
"""
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=120, check=False
    )
    assert done.returncode == 0, done.stderr


ODD = {
    "list": pl.Series([["f"], ["m"]]), "struct": pl.Series([{"a": 1}, {"a": 2}]),
    "array": pl.Series([[1, 2], [1, 3]], dtype=pl.Array(pl.Int64, 2)), "object": pl.Series([object(), object()]),
}  # fmt: skip
FINE = {
    "int128": pl.Series([1, 2], dtype=pl.Int128), "decimal": pl.Series(["1.5", "2"]).cast(pl.Decimal(10, 2)),
    "binary": pl.Series([b"f", b"m"]), "duration": pl.Series([1, 2]).cast(pl.Duration),
    "date": pl.Series([1, 2]).cast(pl.Date),
    "time": pl.Series([1, 2 * 10**10]).cast(pl.Time), "enum": pl.Series(["f", "m"], dtype=pl.Enum(["m", "f"])),
}  # fmt: skip


@pytest.mark.parametrize("kind", ODD)
def test_columns_of_odd_types_are_refused(kind, tmp_path):
    frame = pl.DataFrame(
        {"score": [0.9, 0.1], "mated": [1, 0], "reference": ["a", "a"], "probe": ["a", "b"]}
    )
    for role, options in (
        ("score", {}),
        ("mated", {}),
        ("reference", {}),
        ("group", {"groups": "group"}),
        ("probe", {"subject_pattern": "a"}),
    ):
        odd = frame.with_columns(ODD[kind].alias(role))
        with pytest.raises(InputError):
            read_comparisons(odd, **options)
        if kind != "object":
            odd.write_parquet(tmp_path / "s.parquet")
            with pytest.raises(InputError):
                read_comparisons(tmp_path / "s.parquet", **options)
    with pytest.raises(InputError):
        read_comparisons(
            frame,
            metadata=pl.DataFrame({"id": ["a", "b"], "g": ODD[kind]}),
            metadata_id="id",
            groups="g",
        )


@each("kind", FINE)
def test_columns_of_rare_types_are_labels(kind):
    frame = pl.DataFrame({"score": [0.9, 0.1], "mated": [1, 0], "group": FINE[kind]})
    assert len(read_comparisons(frame, groups="group").groups) == 2
    assert len(from_frame(frame, reference_group="group").groups) == 2


def test_names_of_columns_that_are_none():
    frame = pd.DataFrame({"score": [0.9, 0.1], "mated": [1, 0], "g": [1, "a"]})
    for named, groups, message in (
        (pd.DataFrame({0.5: [0.9], 1: [1]}), (), "names of columns must be text"),
        (pd.DataFrame([[0.9, 1]], columns=["score", "score"]), (), "two columns of the same name"),
        (frame, "g", "'g'"),
        *((frame, groups, r"groups(\[\d\])* must be") for groups in (5, [5], [["a", 5]], b"score")),
        (frame, "score", "'score' holds the scores, so it cannot be"),
    ):
        refused(message, read_comparisons, named, groups=groups)


def npy(header, data=b""):
    text = header.encode() + b" " * 20 + b"\n"
    return b"\x93NUMPY\x01\x00" + len(text).to_bytes(2, "little") + text + data


@each(
    "header",
    [
        "{'descr': '<f8', 'fortran_order': False, 'shape': (1000000, 1000000)}",
        "{'descr': '<f8', 'fortran_order': False, 'shape': (2305843009213693952, 8)}",
        "{'descr': '<f8', 'fortran_order': False, 'shape': (-2, -2)}",
        "{'descr': '<f8', 'fortran_order': False, 'shape': (1, 2)}",
        "{'descr': '<U0', 'fortran_order': False, 'shape': (1000000000, 1000000000)}",
        "{'descr': '|O', 'fortran_order': False, 'shape': (2, 2)}",
        "{'descr': [('a', '<f8')], 'fortran_order': False, 'shape': (2, 2)}",
        "{'descr': '<f8', 'fortran_order': False, 'shape': " + "(" * 300 + ")" * 300 + "}",
    ],
)
def test_headers_of_arrays_are_held_against_the_file(write, header):
    content = npy(header, np.eye(2).tobytes())
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("a.npy", content)
    for name, file in (("m.npy", content), ("m.npz", packed.getvalue())):
        with pytest.raises(InputError):
            read_comparisons(write(name, file))
        with pytest.raises(InputError):
            ff.read_embeddings(
                write(name, file), *([] if name == "m.npy" else ["a"]), subject=["a", "b"]
            )


def test_archives_with_two_arrays_of_a_name(write):
    packed = io.BytesIO()
    array = npy("{'descr': '<f8', 'fortran_order': False, 'shape': (2, 2)}", np.eye(2).tobytes())
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("a.npy", array)
        with pytest.warns(UserWarning, match="Duplicate"):
            archive.writestr("a.npy", array)
    with pytest.raises(FileFormatError, match="2 arrays called 'a'"):
        read_comparisons(write("m.npz", packed.getvalue()), score="a")


def test_hdf5_that_leaves_its_file(tmp_path):
    vectors = np.float32([[1, 0], [0, 1], [1, 1]])
    other = write_vectors(tmp_path / "other.h5", {"vectors": vectors})
    (tmp_path / "raw").write_bytes(vectors.tobytes())
    for make in (
        lambda file: file.create_dataset(
            "vectors", vectors.shape, "f4", external=[(str(tmp_path / "raw"), 0, 24)]
        ),
        lambda file: file.__setitem__("vectors", h5py.ExternalLink(str(other), "vectors")),
        lambda file: file.create_virtual_dataset("vectors", virtual(other)),
    ):
        path = write_vectors(tmp_path / "v.h5", {"subject": ["a", "a", "b"]})
        with h5py.File(path, "a") as file:
            make(file)
        with pytest.raises(
            FileFormatError, match=r"v\.h5 cannot be read: 'vectors' .*; copy (it|them) into "
        ):
            ff.read_embeddings(path)


def virtual(other):
    layout = h5py.VirtualLayout((3, 2), "f4")
    layout[:] = h5py.VirtualSource(str(other), "vectors", (3, 2))
    return layout


@pytest.mark.slow
def test_vectors_whose_reader_comes_to_no_end_or_crashes_are_damaged(tmp_path, monkeypatch):
    fields = {"vectors": np.float32([[1, 0], [0, 1], [1, 1]]), "subject": ["a", "a", "b"]}
    path = write_vectors(tmp_path / "v.h5", fields)
    assert len(ff.read_embeddings(path).vectors) == 3
    for program, message in (
        ("while True: pass", "does not finish reading it"),
        ("import os\nos.abort()", "crashes with it"),
        ('print(\'{"error": "odd"}\')', "cannot be read: odd"),
    ):
        (tmp_path / "check.py").write_text(program)
        monkeypatch.setattr("fastfair.io.tables._PROGRAM", tmp_path / "check.py")
        begun = time.perf_counter()
        with pytest.raises(FileFormatError, match=message):
            ff.read_embeddings(path)
        assert time.perf_counter() - begun < 30


def test_whatever_is_raised_becomes_our_error_but_not_what_ends_the_program():
    class Panic(BaseException):
        pass

    for error in (
        Panic("p"),
        MemoryError(),
        RecursionError("r"),
        KeyError("k"),
        UnicodeError("u"),
        OverflowError(),
    ):
        with pytest.raises(FileFormatError, match="f cannot be read: "), files.explain_reading("f"):
            raise error
    for error in (KeyboardInterrupt, SystemExit):
        with pytest.raises(error), files.explain_reading("f"):
            raise error


LINES = st.lists(st.text("a \t#", max_size=6), min_size=1, max_size=8).filter(
    lambda lines: any(map(str.strip, lines))
)


@given(LINES)
def test_blanks_are_made_single(lines):
    data = "".join(f"{line}\n" for line in lines).replace("\t", " ").encode()
    single = text_files._with_single_blanks(data)
    assert single.decode() == "".join(f"{' '.join(line.split())}\n" for line in lines)


def test_scores_in_the_order_of_the_trials_and_in_another_are_the_same(write):
    trials = ["1 a/1 a/2", "0 a/1 b/1", "0 a/2 b/1", "1 b/1 b/2"]
    scores = [f"{line[2:]} 0.{k}" for k, line in enumerate(trials, 1)]
    listed = write("trials.txt", "\n".join(trials))
    for order in (scores, scores[::-1], [*scores, scores[0]]):
        c = read_comparisons(write("s.txt", "\n".join(order)), trials=listed, format="voxceleb")
        assert c.mated.similarities.tolist() == [0.1, 0.4]
        assert c.nonmated.similarities.tolist() == [0.2, 0.3]


@pytest.mark.parametrize("kind", ["bob-4", "bob-5"])
def test_rows_that_begin_as_comments_do_are_rows(write, kind):
    rows = ["a a f 0.9", "#b #b f 0.8", "#b c f 0.1"]
    rows = [f"{r.split()[0]} m {r.split(' ', 1)[1]}" if kind == "bob-5" else r for r in rows]
    c = read_comparisons(write("s.txt", "# scores of today\n" + "\n".join(rows)), format=kind)
    assert (sizes(c), c.subjects.tolist()) == ((2, 1), ["#b", "a", "c"])
    with pytest.raises(
        FileFormatError,
        match=r"line 3: expected .* found '# note' .*comments stand before the first",
    ):
        read_comparisons(write("s.txt", f"# top\n{rows[0]}\n# note\n{rows[2]}\n"), format=kind)
    with pytest.raises(
        FileFormatError, match=r"line 1: .* begins as comments do, but reads as data"
    ):
        read_comparisons(write("s.txt", "\n".join([*rows[1:], rows[0]])), format=kind)


def test_trials_that_begin_as_comments_do_are_trials(write):
    trials = write("t", "a a-1 target\n#b b-1 target\n#b c-1 nontarget\n")
    for scores in ("a a-1 0.9\n#b b-1 0.8\n#b c-1 0.1\n", "0.9\n0.8\n0.1\n"):
        assert sizes(read_comparisons(write("s", scores), trials=trials)) == (2, 1)
    for text in (
        "#b b-1 target\na a-1 target\na c-1 nontarget\n",
        "# trials\n#b b-1 target\na a-1 nontarget\n",
    ):
        with pytest.raises(
            FileFormatError, match=r"line [12]: '#b b-1 target' begins as comments do"
        ):
            read_comparisons(write("s", "0.1\n0.2\n"), trials=write("t", text))


def test_paths_that_are_no_files(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    readers = (read_comparisons, ff.read_embeddings, ff.read_failure_counts)
    for read in readers:
        for path, error, message in (
            (tmp_path / "pipe", FileFormatError, "is a pipe or a device"),
            ("/dev/null", FileFormatError, "a device"),
            (tmp_path, FileFormatError, "is a folder"),
            ("x" * 5000, InputError, "[Nn]ame too long"),
            ("a\0b", InputError, ""),
            ("a\udc80b", InputError, ""),
            (tmp_path / "none.csv", MissingFileError, "there is no file"),
            (b"x", InputError, ""),
            ("", InputError, ""),
            (5, InputError, ""),
            (None, InputError, ""),
        ):
            with pytest.raises(error, match=message or None):
                read(path)
