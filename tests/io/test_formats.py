"""What a file is taken for: its kind, its names, its attacks, and columns whose rows do not belong
together."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import pickle
import re
import tarfile
import unicodedata
import zipfile

import numpy as np
import pandas as pd
import polars as pl
import pytest
from helpers.command_line import run_program
from helpers.each import each
from helpers.flat import from_matrix, make, read_comparisons, scan_comparisons
from helpers.refusals import refused

import fastfair as ff
from fastfair.data.columns import plain_label, plain_name
from fastfair.errors import DroppedWarning, FileFormatError, InputError, LookAlikeWarning

CSV = b"reference,probe,score\na,a,0.9\na,b,0.2\nb,b,0.8\n"


def zipped(*names: str) -> bytes:
    """Return a zip archive of files with these names."""
    room = io.BytesIO()
    with zipfile.ZipFile(room, "w") as file:
        for name in names:
            file.writestr(name, CSV)
    return room.getvalue()


def tarred() -> bytes:
    """Return a tar archive of `CSV`."""
    room = io.BytesIO()
    with tarfile.open(fileobj=room, mode="w") as file:
        member = tarfile.TarInfo("s.csv")
        member.size = len(CSV)
        file.addfile(member, io.BytesIO(CSV))
    return room.getvalue()


@each("compress", [gzip.compress, bz2.compress, lzma.compress])
@each("name", ["s.csv", "s.GZ", "s.txt"])
def test_compressed_text_is_read_whatever_its_name(write, compress, name):
    c = read_comparisons(write(name, compress(CSV)))
    assert (len(c.mated), len(c.nonmated)) == (2, 1)


KINDS = [
    (zipped("s.csv"), "a zip archive"),
    (zipped("[Content_Types].xml", "xl/workbook.xml"), "an Excel workbook"),
    (zipped("xl/workbook.xml"), "an Excel workbook"),
    (zipped("mimetype"), "an OpenDocument file"),
    (zipped("vectors.npy", "subject.npy"), "an archive of NumPy arrays"),
    (zipped("model/data.pkl"), "a file of PyTorch"),
    (tarred(), "a tar archive"),
    (gzip.compress(tarred()), "a tar archive"),
    *((pickle.dumps(list(range(300)), protocol), "a pickle") for protocol in range(6)),
    (b"PAR1" + bytes(30), "a Parquet file"),
    (b"\x89HDF\r\n\x1a\n" + bytes(30), "an HDF5 file"),
    (bytes(512) + b"\x89HDF\r\n\x1a\n" + bytes(30), "an HDF5 file"),
    (b"\x93NUMPY" + bytes(30), "a NumPy array"),
    (b"\x28\xb5\x2f\xfd" + bytes(30), "compressed with zstd"),
    (b"ARROW1\0\0" + bytes(30), "an Arrow file"),
    (b"%PDF-1.4\n1 0 obj", "a PDF document"),
    (b"\n<!DOCTYPE HTML><html>", r"a web page \(HTML\)"),
    (b'[{"reference": "a", "probe": "b"}]', "JSON"),
    (gzip.compress(b"X\n\0\0\0\3" + bytes(30)), "a file of R's own"),
    (b"SQLite format 3\0" + bytes(100), r"no text but a file of type '\.db' \(SQLite"),
    (b"\x89PNG\r\n\x1a\n" + bytes(40), r"no text but a file of type '\.png'"),
    (b"7z\xbc\xaf\x27\x1c" + bytes(30), r"no text but a file of type '\.7z'"),
]


@each(("content", "kind"), KINDS)
@each("name", ["s.csv", "s"])
def test_files_that_are_no_text_are_named(write, content, kind, name):
    with pytest.raises(FileFormatError, match=f"{name} is {kind}"):
        read_comparisons(write(name, content))


@each("name", ["v.npz", "v.NPY", "v.parquet", "v.h5"])
def test_files_that_are_not_what_their_suffix_says_are_named(write, name):
    for content, kind in (
        (gzip.compress(CSV), "no text but a file of type '.gz'"),
        (CSV, "text"),
        (tarred(), "a tar archive"),
    ):
        for read in (ff.read_embeddings, read_comparisons):
            if name != "v.h5" or read is ff.read_embeddings:
                refused(
                    f"it is no (NumPy|Parquet|HDF5) file, but {kind}", read, write(name, content)
                )
    refused("it is no Parquet file, but text", scan_comparisons, write("v.parquet", CSV))
    refused(
        "it is no Parquet file, but text",
        read_comparisons,
        write("s.csv", CSV),
        metadata=write("w.PARQUET", CSV),
        groups="x",
    )


def test_text_may_begin_as_other_files_do(write):
    for start in ("BM", "MZ", "PK", "RDX", "x<html>", "\u00ff\u00d8"):
        text = f"{start},mated,score\nx,1,0.9\ny,0,0.2\n"
        assert len(read_comparisons(write("s.csv", text.encode())).mated) == 1
    with pytest.raises(FileFormatError, match="line 2 is not UTF-8 text"):
        read_comparisons(write("s.csv", "BM,score\né,0.2\n".encode("latin-1")))


def test_suffixes_are_those_of_any_case(write, tmp_path):
    frame = pl.DataFrame({"score": [0.9, 0.2], "mated": [1, 0]})
    frame.write_parquet(tmp_path / "s.PARQUET")
    assert len(read_comparisons(tmp_path / "s.PARQUET").mated) == 1
    np.save(tmp_path / "m", np.array([[0.9, 0.1], [0.2, 0.8]]))
    (tmp_path / "m.npy").rename(tmp_path / "m.NPY")
    assert len(read_comparisons(tmp_path / "m.NPY").mated) == 2


def test_arrays_of_objects_say_how_to_save_them(tmp_path):
    vectors, names = (
        np.random.default_rng(0).normal(size=(4, 3)),
        np.array(list("aabb"), dtype=object),
    )
    np.savez(tmp_path / "v.npz", vectors=vectors, subject=names)
    refused(
        r"array 'subject' cannot be read: the array holds Python objects.*astype\(str\)",
        ff.read_embeddings,
        tmp_path / "v.npz",
    )
    np.savez(tmp_path / "v.npz", vectors=vectors, subject=names.astype(str))
    assert len(ff.read_embeddings(tmp_path / "v.npz").vectors) == 4
    np.save(tmp_path / "d.npy", dict(zip("abcd", vectors, strict=True)), allow_pickle=True)
    for read in (ff.read_embeddings, ff.read_named_vectors, read_comparisons):
        refused(
            r"d.npy cannot be read: it is a pickled Python object.*numpy.savez",
            read,
            tmp_path / "d.npy",
        )


def test_attacks_are_left_out_of_bob_files(write):
    rows = [
        "bio_ref_subject_id,probe_subject_id,probe_attack_type,score",
        "x,x,,7",
        "x,y,,3",
        "x,x,print,1",
        "x,x,,6",
    ]
    with pytest.warns(
        DroppedWarning, match=r"1 of 4 comparisons left out, as they are attacks .* \('print'\)"
    ):
        c = read_comparisons(write("s.csv", "\n".join(rows)))
    assert c.mated.similarities.tolist() == [6, 7]


JOSE = "José", unicodedata.normalize("NFD", "José")


@each("other", [JOSE[1], "Jose\u200b\u0301", "Jo\u00adsé"])
def test_names_that_look_alike_are_told(other):
    columns = {
        "scores": [0.9, 0.2, 0.8, 0.1],
        "reference": [other, "b", "b", JOSE[0]],
        "probe": [JOSE[0], "b", "c", "b"],
    }
    with pytest.warns(LookAlikeWarning, match="subject .* look alike and are taken for two"):
        c = make(mated=None, **columns)
    assert len(c.mated) == 1
    assert plain_name(other) == JOSE[0]


def test_labels_of_groups_that_look_alike_are_told():
    columns = {
        "scores": [0.9, 0.2, 0.8, 0.1],
        "mated": [1, 0, 1, 0],
        "reference_group": ["Female", "female", "m", "M "],
    }
    with pytest.warns(
        LookAlikeWarning, match=r"group 'group' 'Female' and 'female' look alike .* \(and 1 more\)"
    ):
        assert len(make(**columns).groups) == 4
    assert plain_label("Straße") == "strasse"
    with pytest.warns(LookAlikeWarning, match="has the label 'NA'"):
        make(**columns | {"reference_group": ["NA", "f", "f", "NA"]})


def test_a_mated_comparison_of_names_that_look_alike_is_refused(tmp_path):
    (tmp_path / "s.csv").write_text(
        f"reference,probe,mated,score\n{JOSE[0]},{JOSE[1]},1,0.9\nb,{JOSE[1]},0,0.2\n"
    )
    with pytest.warns(ff.errors.LookAlikeWarning, match="look alike and are taken for two"):
        refused("look alike: write both alike", read_comparisons, tmp_path / "s.csv")


def test_columns_of_pandas_with_other_indices_are_refused():
    frame = pd.DataFrame(
        {"score": [0.9, 0.1, 0.8, 0.2], "mated": [1, 0, 1, 0], "sex": list("fmfm")}
    )
    for named in (
        {"mated": frame["mated"]},
        {"mated": [1, 1, 0, 0], "reference_group": {"sex": frame["sex"]}},
    ):
        refused(
            "have another index than those of scores", make, frame["score"].sort_values(), **named
        )
    assert (
        len(make(frame["score"], frame["mated"].to_numpy(), reference_group=frame["sex"]).groups)
        == 2
    )


def test_none_is_a_failed_score():
    with pytest.warns(DroppedWarning, match="failed"):
        c = make([0.1, None, 0.35, 0.8], [0, 0, 1, 1], failures="exclude")
    assert len(c.nonmated) == 1
    refused("row 1", make, [0.1, None, 0.35, 0.8], [0, 0, 1, 1])


@each("bad", [0.0, np.nan])
def test_vectors_without_a_direction_are_failed_samples(tmp_path, write, bad):
    vectors = np.random.default_rng(0).normal(size=(6, 8))
    vectors[5] = bad
    names = ["a/1", "a/2", "b/1", "b/2", "c/1", "c/2"]
    trials = write("t.txt", "1 a/1 a/2\n0 a/1 b/1\n1 b/1 b/2\n0 b/2 c/1\n1 c/1 c/2\n")
    np.savez(tmp_path / "v.npz", vectors=vectors, name=names)
    c = read_comparisons(trials, embeddings=tmp_path / "v.npz", failures="non-match")
    assert (len(c.mated), len(c.failed.mated), len(c.nonmated)) == (3, 1, 2)
    known = ff.NamedVectors(vectors[:5], names[:5]).scores(["a/1"], ["b/1"])
    found = ff.NamedVectors(vectors, names, failures="nan")
    assert found.n_failed == 1
    np.testing.assert_array_equal(found.scores(["a/1", "c/1"], ["b/1", "c/2"]), [*known, np.nan])
    mean = ff.NamedVectors(vectors, list("aabbcc"), same_name="mean", failures="nan").scores(
        ["a"], ["c"]
    )
    assert mean == ff.NamedVectors(vectors[:5], list("aabbc"), same_name="mean").scores(
        ["a"], ["c"]
    )
    with pytest.raises(InputError, match="leave those rows out, with policies=Policies"):
        read_comparisons(trials, embeddings=tmp_path / "v.npz")


def test_lists_whose_names_tell_no_subjects_say_how_to_go_on(write):
    file = write("t.txt", "1 03.wav 05.wav 0.9\n0 01.wav 02.wav 0.1\n")
    refused(
        r"finds no subject in '03.wav' .* subject_pattern='' to take the list without",
        read_comparisons,
        file,
    )
    assert read_comparisons(file, subject_pattern="").subjects is None
    file.write_text("1 w/id1/a w/id1/b 0.9\n0 w/id1/a w/id2/a 0.1\n")
    refused("mated contradicts the subjects in 1 comparisons", read_comparisons, file)
    assert read_comparisons(file, subject_pattern="^w/([^/]+)").subjects.tolist() == ["id1", "id2"]


def test_rates_in_per_cent_are_named_with_their_line(write):
    columns = ["--fmr-column", "FMR", "--fnmr-column", "FNMR", "--group", "group", "--by", "system"]
    done = run_program(
        "measures",
        write("m.csv", "system,group,FMR,FNMR\nA,f,0.12 %,0.03\nA,m,0.001,0.02\n"),
        *columns,
    )
    assert done.returncode == 2
    assert "line 2: column 'FMR' must hold numbers, not '0.12 %'" in done.stderr


def test_the_cost_says_whether_it_is_normalised(tmp_path):
    (tmp_path / "s.csv").write_text(
        "reference,probe,score\na,a,0.9\na,b,0.4\nb,b,0.3\nb,c,0.1\nc,c,0.8\n"
    )
    plain = run_program("evaluate", tmp_path / "s.csv", "--at", "eer", "--n-resamples", 0)
    assert re.search(r"minDCF: p_target 0.05, not normalised", plain.stdout)
    done = run_program(
        "evaluate", tmp_path / "s.csv", "--at", "eer", "--n-resamples", 0, "--normalize"
    )
    assert re.search(r"minDCF: p_target 0.05, normalised", done.stdout)
    c = read_comparisons(tmp_path / "s.csv")
    quantity = ff.evaluate(
        c, ff.at_eer(), costs=ff.Costs(normalize=True), n_resamples=50, rng=0
    ).quantity("min_dcf")
    assert quantity.estimate == ff.min_dcf(c, ff.Costs(normalize=True)).value
    assert quantity.low <= quantity.estimate <= quantity.high <= 1


def test_a_held_rate_without_errors_has_the_same_limit_without_replicates():
    rng = np.random.default_rng(0)
    reference = np.repeat(np.arange(30), 10)
    probe = np.where(np.arange(300) % 10 < 4, reference, (reference + 1 + np.arange(300) % 10) % 30)
    c = make(rng.normal(4.0 * (reference == probe)), None, reference, probe)
    limits = [
        ff.evaluate(c, ff.at_fmr(1e-6), [], n_resamples=n, rng=0).interval("fmr") for n in (0, 200)
    ]
    assert limits[0] == pytest.approx(limits[1])
    assert limits[0][1] > 0.02


def test_samples_compared_with_themselves_are_left_out(tmp_path):
    columns = {
        "scores": [1.0, 0.9, 0.2, 0.1],
        "mated": None,
        "reference": list("aaab"),
        "probe": list("aabc"),
    }
    samples = {"reference_sample": list("1113"), "probe_sample": list("1234")}
    with pytest.warns(
        DroppedWarning, match="1 of 4 comparisons left out, as they compare a sample with itself"
    ):
        c = make(**columns, **samples)
    assert c.mated.similarities.tolist() == [0.9]
    assert len(make(**columns, **samples, self_comparisons="keep").mated) == 2
    (tmp_path / "s.txt").write_text("1 a/1 a/1 1.0\n1 a/1 a/2 0.9\n0 a/1 b/1 0.2\n0 a/2 b/1 0.1\n")
    for read in (read_comparisons, scan_comparisons):
        with pytest.warns(
            DroppedWarning,
            match="1 of 4 comparisons left out, as they compare a sample with itself",
        ):
            c = read(tmp_path / "s.txt")
        assert repr(c).split("(")[1].startswith("1 mated, 2 non-mated")
    matrix = np.array([[1.0, 0.7, 0.2], [0.7, 1.0, 0.1], [0.2, 0.1, 1.0]])
    with pytest.warns(DroppedWarning, match="3 of 9 comparisons left out, as the diagonal"):
        c = from_matrix(matrix, list("aab"), list("aab"))
    assert c.mated.similarities.tolist() == [0.7, 0.7]
    assert len(from_matrix(matrix, list("aab"), list("aab"), self_comparisons="keep").mated) == 5
    refused("the only mated comparisons are on the diagonal", from_matrix, matrix)
    assert len(from_matrix(-matrix, score_kind="distance", self_comparisons="keep").mated) == 3


WIDE = "reference,probe,score,reference_sex,probe_sex\na,a,0.9,f,f\na,b,0.2,f,\nb,b,0.8,,\nc,c,0.7,m,m\nc,a,0.1,m,f\n"
NARROW = "\n".join(",".join(line.split(",")[:3]) for line in WIDE.splitlines())


@each("text", [WIDE, NARROW])
def test_missing_labels_have_one_rule_in_score_files_and_in_metadata(tmp_path, write, text):
    (tmp_path / "s.csv").write_text(text)
    who = write("who.csv", "id,sex\na,f\nb,\nc,m\n")
    how = {"groups": "sex"} | ({} if text == WIDE else {"metadata": who, "metadata_id": "id"})
    with pytest.raises(
        InputError, match=r'missing_labels="drop"\) to leave .* out, or .*missing_labels="unknown"'
    ):
        read_comparisons(tmp_path / "s.csv", **how)
    with pytest.warns(DroppedWarning, match="2 of 5 comparisons"):
        c = read_comparisons(tmp_path / "s.csv", missing_labels="drop", **how)
    assert (len(c.mated), len(c.nonmated), c.groups) == (2, 1, ("f", "m"))
    c = read_comparisons(tmp_path / "s.csv", missing_labels="unknown", **how)
    assert (len(c.mated), len(c.nonmated), c.groups) == (3, 2, ("f", "m", "unknown"))


def test_the_worst_comparisons_name_the_line_of_the_file_and_columns_that_are_kept(tmp_path):
    rows = [
        "reference,probe,score,my_id",
        "a,a,0.1,x1",
        "a,b,,x2",
        "a,b,0.9,x3",
        "b,b,0.8,x4",
        "b,c,0.2,x5",
    ]
    (tmp_path / "s.csv").write_text("# a comment\n" + "\n".join(rows))
    with pytest.warns(DroppedWarning, match="failed"):
        c = read_comparisons(tmp_path / "s.csv", keep="my_id", failures="exclude")
    found = ff.worst_comparisons(c, "threshold=0.5")
    assert found.labels["line"] == (3, 5)
    assert found.labels["my_id"] == ("x1", "x3")
    assert found.to_frame("pandas")["my_id"].tolist() == ["x1", "x3"]
    refused(
        "has no column 'your_id'",
        read_comparisons,
        tmp_path / "s.csv",
        keep="your_id",
        failures="exclude",
    )


def test_decimal_commas_are_read_where_nothing_else_can_be_meant(write):
    c = read_comparisons(write("s.csv", "reference;probe;score\na;a;0,91\na;b;-1,5e-3\nb;b;7\n"))
    assert [*c.nonmated.similarities, *c.mated.similarities] == [-0.0015, 0.91, 7]
    with pytest.raises(
        FileFormatError, match="the comma may be that of a decimal or stand between thousands"
    ):
        read_comparisons(write("s.csv", "reference;probe;score\na;a;1,910\na;b;1,200\n"))
    with pytest.raises(FileFormatError, match="must be a number, not '0,9'"):
        read_comparisons(write("s.csv", "reference;probe;score\na;a;0,9\na;b;0.2\n"))


def test_trials_and_scores_that_do_not_match_are_refused(tmp_path):
    (tmp_path / "t.txt").write_text("1 a/1 a/2\n0 a/1 b/1\n1 b/1 b/2\n0 b/1 c/1\n")
    (tmp_path / "s.txt").write_text("a/1 a/2 0.9\na/1 b/1 0.2\nb/1 c/1 0.1\nz/1 b/1 0.2\n")
    with pytest.raises(
        FileFormatError, match=r"1 of 4 trials of .* have no score in .*, first b/1 b/2"
    ):
        read_comparisons(tmp_path / "s.txt", trials=tmp_path / "t.txt")


def test_scores_of_genuine_and_of_impostors_are_read_from_two_files(tmp_path):
    (tmp_path / "g.txt").write_text("0.9\n0.8\nnan\n")
    np.save(tmp_path / "i.npy", [0.1, 0.2, 0.85])
    with pytest.warns(DroppedWarning, match="failed"):
        c = read_comparisons(tmp_path / "g.txt", impostor=tmp_path / "i.npy", failures="exclude")
    assert (c.mated.similarities.tolist(), c.nonmated.similarities.tolist()) == (
        [0.8, 0.9],
        [0.1, 0.2, 0.85],
    )
    refused(
        "leave reference= out",
        read_comparisons,
        tmp_path / "g.txt",
        reference="a",
        impostor=tmp_path / "i.npy",
    )
    (tmp_path / "g.txt").write_text("0.9\n0.8\n")
    done = run_program(
        "evaluate", tmp_path / "g.txt", "--impostor", tmp_path / "i.npy", "--at", "eer", "--quick"
    )
    assert "2 mated and 3 non-mated comparisons" in done.stdout


def test_a_table_may_tell_subjects_alone(write):
    who = write("who.csv", "file,person\n1.png,a\n2.png,a\n3.png,b\n")
    how = {"metadata": who, "metadata_id": "file", "metadata_subject": "person"}
    c = read_comparisons(
        write("s.csv", "reference,probe,score\n1.png,2.png,0.9\n1.png,3.png,0.1\n"), **how
    )
    assert (len(c.mated), c.subjects.tolist(), c.groups) == (1, ["a", "b"], ())


def test_failed_vectors_are_left_out_of_all_pairs(tmp_path):
    vectors = np.random.default_rng(0).normal(size=(8, 4))
    vectors[3], vectors[6] = 0, np.nan
    refused("leave those rows out", ff.Embeddings, vectors, list("aabbccdd"))
    with pytest.warns(DroppedWarning, match="2 of 8 vectors left out, as they failed"):
        e = ff.Embeddings(vectors, list("aabbccdd"), list("ffmmxxff"), failures="exclude")
    good = [0, 1, 2, 4, 5, 7]
    same = ff.Embeddings(vectors[good], list("aabccd"), list("ffmxxf"))
    assert (repr(e), e.groups, e.left_out[0].n) == (repr(same), same.groups, 2)
    np.savez(tmp_path / "v.npz", vectors=vectors, subject=list("aabbccdd"))
    with pytest.warns(DroppedWarning, match="2 of 8 vectors left out, as they failed"):
        read = ff.read_embeddings(tmp_path / "v.npz", failures="exclude")
    np.testing.assert_array_equal(read.vectors, e.vectors)


def test_options_in_messages_can_be_pasted(tmp_path):
    (tmp_path / "t.txt").write_text("1 03.wav 05.wav 0.9\n0 01.wav 02.wav 0.1\n")
    done = run_program("evaluate", tmp_path / "t.txt", "--at", "eer", "--quick")
    assert "pass --subject-pattern '' to take the list without subjects" in " ".join(
        done.stderr.split()
    )
    done = run_program(
        "evaluate", tmp_path / "t.txt", "--at", "eer", "--n-resamples", 0, "--subject-pattern", ""
    )
    assert "1 mated and 1 non-mated comparisons" in done.stdout


@pytest.mark.filterwarnings("ignore::fastfair.errors.FastfairWarning")  # of few errors
def test_no_sentence_says_nan():
    rng = np.random.default_rng(1)
    a = rng.integers(0, 3, 8)
    mated = np.arange(8) % 2 == 0
    b = np.where(mated, a, (a + 1) % 3)
    c = make(
        np.where(mated, 5.0, 0.0), mated, a, b, np.array(list("fmx"))[a], np.array(list("fmx"))[b]
    )
    evaluation = ff.evaluate(
        c,
        "fmr=0.01",
        n_resamples=60,
        rng=0,
        settings=ff.EvaluationSettings(incomplete_groups="nan"),
    )
    claim = ff.claim(c, "fmr <= 0.1", "threshold=1", n_resamples=60, rng=0)
    check = ff.check(c, ["fnmr[*] <= 0.2", "eer <= 0.5"], n_resamples=60, rng=0)
    for text in (
        repr(ff.rates(c, "fmr=0.1")),
        evaluation.summary(),
        claim.summary(),
        check.summary(),
    ):
        assert not re.search(r"\b(nan|inf)\b", text), text


def labelled(*rows: str) -> str:
    """Return a list of trials with scores, one in ten."""
    return "".join(f"{row} 0.{k + 1}\n" for k, row in enumerate(rows))


@each(
    ("rows", "pattern"),
    [
        (("1 wav/id1/a.wav wav/id1/b.wav", "0 wav/id1/a.wav wav/id2/a.wav"), "^[^/]+/([^/]+)/"),
        (("1 ./id1/a.wav ./id1/b.wav", "0 ./id1/a.wav ./id2/a.wav"), "^[^/]+/([^/]+)/"),
        (("1 v/x/y/id1/a v/x/y/id1/b", "0 v/x/y/id1/a v/x/y/id2/a"), "^(?:[^/]+/){3}([^/]+)/"),
        (("1 d/a_01.png d/a_02.png", "0 d/a_01.png d/b_01.png"), r"([^/]+)_\d+[^/]*$"),
        (("1 d/e/a/1 d/a/2", "0 d/e/a/1 d/b/1"), "([^/]+)/[^/]+$"),
    ],
)
def test_everybody_being_one_subject_names_the_pattern_that_does(write, rows, pattern):
    file = write("t.txt", labelled(*rows))
    said = str(refused("subject_pattern=, here perhaps '", read_comparisons, file))
    proposed = re.search("perhaps '([^']+)'", said)[1]
    assert proposed == pattern
    assert len(read_comparisons(file, subject_pattern=proposed).subjects) == 2


@each(
    "names",
    [
        ["m.a_0001.jpg", "m.a_0002.jpg", "m.b_0001.jpg"],
        ["a-1", "a-2", "b-1"],
        ["a\\1.png", "a\\2.png", "b\\1.png"],
        ["/d/a/1.png", "/d/a/2.png", "/d/b/1.png"],
        ["x/d/a.1.png", "x/d/a.2.png", "x/d/b.1.png"],
        ["S1_front.wav", "S1_left.wav", "S2_left.wav"],
    ],
)
def test_proposed_patterns_find_subjects(write, names):
    a, b, c = names
    file = write("s.csv", f"reference,probe,score\n{a},{b},0.9\n{a},{c},0.2\n")
    said = str(refused("perhaps", read_comparisons, file))
    c = read_comparisons(file, subject_pattern=re.search("perhaps '([^']+)'", said)[1])
    assert (len(c.mated), len(c.nonmated)) == (1, 1)


@pytest.mark.slow
def test_a_proposed_pattern_can_be_pasted_into_a_shell(write):
    file = write("s.csv", "a,b,score\nm.a_01.jpg,m.a_02.jpg,0.9\nm.a_01.jpg,m.b_01.jpg,0.1\n")
    options = ["--reference", "a", "--probe", "b", "--at", "eer", "--n-resamples", 0]
    said = " ".join(run_program("evaluate", file, *options).stderr.split())
    proposed = re.search("--subject-pattern, here perhaps '([^']+)'", said)[1]
    assert run_program("evaluate", file, *options, "--subject-pattern", proposed).returncode == 0


def test_metadata_of_subjects_chooses_the_proposed_pattern(write):
    file = write(
        "s.csv", "reference,probe,score,mated\nx/ann/1,x/ann/2,0.9,1\nx/ann/1,x/bob/1,0.2,0\n"
    )
    who = write("w.csv", "id,sex\nann,f\nbob,m\n")
    refused(
        r"perhaps '\^\[\^/\]\+/\(\[\^/\]\+\)/'", read_comparisons, file, metadata=who, groups="sex"
    )


MISSING = [
    "",
    "NA",
    "na",
    "N/A",
    "#N/A",
    "<NA>",
    "NULL",
    "null",
    "None",
    "-",
    "--",
    ".",
    "nan",
    "NaN",
    " NA ",
    '"NA"',
]


@each("missing", MISSING)
@each("separator", [",", "\t", ";"])
def test_what_programs_write_for_a_missing_score_is_a_failure(write, missing, separator):
    rows = [
        "reference,probe,mated,score",
        "a,a,TRUE,0.9",
        "a,b,FALSE,0.1",
        f"b,b,TRUE,{missing}",
        "b,a,FALSE,0.2",
    ]
    file = write("s.csv", "\n".join(rows).replace(",", separator))
    with pytest.warns(DroppedWarning, match="1 of 4 comparisons left out, as they failed"):
        c = read_comparisons(file, failures="exclude")
    assert (len(c.mated), len(c.nonmated), len(c.failed.mated)) == (1, 2, 1)
    refused(
        'line 4: column .score. (is empty|is missing|must be finite).*failures="exclude"',
        read_comparisons,
        file,
    )


def test_missing_scores_of_lists_between_blanks_are_failures(write):
    for rows in ("a a x 0.9\na b y NA\nb b z 0.8\na b w 0.1\n", "a a x NA\nb b z 0.8\na b w 0.1\n"):
        with pytest.warns(DroppedWarning, match="left out, as they failed"):
            c = read_comparisons(write("s.txt", rows), failures="exclude")
        assert len(c.nonmated) == 1
    scores = write("o.txt", "0.9\nNA\n0.8\n0.1\n")
    trials = write("t.txt", "1 a/1 a/2\n0 a/1 b/1\n1 b/1 b/2\n0 b/1 c/1\n")
    with pytest.warns(DroppedWarning, match="left out, as they failed"):
        c = read_comparisons(scores, trials=trials, failures="exclude")
    assert (len(c.mated), len(c.nonmated)) == (2, 1)


def test_words_that_are_no_missing_scores_are_refused_and_names_like_them_are_kept(write):
    for word in ("x", "missing", "#DIV/0!", "NAN0", "0,9", "-.", "NaT"):
        rows = f'reference,probe,score\na,a,0.9\na,b,"{word}"\nb,b,0.8\n'
        refused("must be a number, not", read_comparisons, write("s.csv", rows), failures="exclude")
    named = "reference,probe,score\nNA,NA,0.9\nNA,None,0.1\nNone,None,0.8\n"
    assert read_comparisons(write("s.csv", named)).subjects.tolist() == ["NA", "None"]


def test_decimal_commas_are_read_beside_missing_scores(write):
    file = write("s.csv", "reference;probe;score\na;a;0,91\na;b;NA\nb;b;.\nb;c;0,12\n")
    with pytest.warns(DroppedWarning, match="failed"):
        c = read_comparisons(file, failures="exclude")
    assert [*c.nonmated.similarities, *c.mated.similarities] == [0.12, 0.91]


def test_headers_without_a_name_for_the_names_of_rows_are_read(write):
    text = '"reference","probe","score","sex"\n"1","a","a",0.9,"f"\n"2","a","b",0.1,"f"\n"7","b","b",0.8,"m"\n'
    for separator in ",;\t":
        c = read_comparisons(write("s.csv", text.replace(",", separator)))
        assert (len(c.mated), c.subjects.tolist()) == (2, ["a", "b"])
    for names_of_rows in ('"1"', '"x"', '"0.5"'):
        refused(
            "line 2: expected 4 fields",
            read_comparisons,
            write("s.csv", text.replace('"2"', names_of_rows)),
        )
    refused(
        "line 2: expected 3 fields",
        read_comparisons,
        write("s.csv", "reference,probe,score\na,a,1,\na,b,2,\n"),
    )
    refused(
        "line 3: expected 4 fields",
        read_comparisons,
        write("s.csv", "reference,probe,score\n1,a,a,1\na,b,2\n"),
    )
    who = write("w.csv", '"id","sex"\n"1","a","f"\n"2","b","m"\n')
    named = write("s.csv", "reference,probe,score\na,a,0.9\na,b,0.1\nb,b,0.8\n")
    assert read_comparisons(named, metadata=who, metadata_id="id", groups="sex").groups == (
        "f",
        "m",
    )
    blanks = text.replace(",", " ")
    refused(
        "names of columns between blanks.* write the table with commas",
        read_comparisons,
        write("s.txt", blanks),
    )


def test_truth_values_of_r_are_read_and_missing_ones_named(write):
    for true, false in (("TRUE", "FALSE"), ("T", "F"), ("t", "f")):
        text = f"score,mated\n0.9,{true}\n0.2,{false}\n"
        assert len(read_comparisons(write("s.csv", text)).mated) == 1
        for missing in ("NA", "NULL", "-"):
            refused(
                "mated is missing in some rows, as",
                read_comparisons,
                write("s.csv", f"{text}0.1,{missing}\n"),
            )
    refused(
        "convert it to numbers",
        read_comparisons,
        pl.DataFrame({"score": ["0.9", "NA"], "mated": [1, 0]}),
    )
