"""Score files of every format, recognised or stated, and what is wrong with files."""

from __future__ import annotations

import gzip

import numpy as np
import polars as pl
import pytest
from helpers.each import each
from helpers.flat import read_comparisons, scan_comparisons
from helpers.refusals import refused

import fastfair as ff
from fastfair.data import sample_names
from fastfair.errors import DroppedWarning, FileFormatError, InputError

MATED, NONMATED = [0.8, 0.9], [0.1, 0.2]
NAMED = "score,mated,reference,probe\n0.9,1,a,a\n0.2,0,a,b\n0.8,1,b,b\n0.1,0,b,c\n"


def is_the_same(c, subjects=("a", "b", "c")):
    assert np.allclose(c.mated.similarities, MATED)
    assert np.allclose(c.nonmated.similarities, NONMATED)
    assert (None if c.subjects is None else tuple(c.subjects)) == subjects


def test_files_whose_columns_have_our_own_names(write, tmp_path):
    is_the_same(read_comparisons(write("s.csv", NAMED)))
    is_the_same(
        read_comparisons(write("s.tsv.gz", gzip.compress(NAMED.replace(",", "\t").encode())))
    )
    frame = pl.read_csv(NAMED.encode()).with_columns(pl.col("mated").cast(pl.Boolean))
    frame.write_parquet(tmp_path / "s.parquet")
    is_the_same(read_comparisons(tmp_path / "s.parquet"))
    refused("no column 'scor'", read_comparisons, tmp_path / "s.parquet", score="scor")


@pytest.mark.parametrize(
    ("name", "separator"), [("s.csv", ","), ("s.csv", ";"), ("s.tsv", "\t"), ("s.txt", "\t")]
)
def test_named_columns_and_separators(write, name, separator):
    text = NAMED.replace("score,mated,reference,probe", "sc,lab,ref,com").replace(",", separator)
    is_the_same(
        read_comparisons(write(name, text), score="sc", mated="lab", reference="ref", probe="com")
    )
    is_the_same(read_comparisons(write(name, text), score="sc", reference="ref", probe="com"))


def test_ids_that_look_like_paths_are_said_to(write):
    text = "score,mated,reference,probe\n0.9,1,a/1.wav,a/2.wav\n0.2,0,a/1.wav,b/1.wav\n"
    said = (
        r"look like names of samples, such as 'a/1.wav': cut the subjects out with subject_pattern="
    )
    refused(said, read_comparisons, write("s.csv", text))
    alone = text.replace("mated", "label")
    refused(
        r"no mated comparisons among the 2; .*look like names of samples",
        read_comparisons,
        write("s.csv", alone),
    )
    numbered = alone.replace("/", "_").replace(".wav", "")
    refused(r"names of samples, such as 'a_1'", read_comparisons, write("s.csv", numbered))
    refused(
        r"both classes are needed$", read_comparisons, write("s.csv", numbered.replace("_", "x"))
    )


@each(
    ("names", "are_samples"),
    [
        (["ann/1.jpg", "bob/22.jpg"], True), (["Ann_Lee_0001.jpg", "Bob_0002.jpg"], True), (["ann-1", "bob-2"], True),
        (["a/b/1.jpg", "c/d/1.jpg"], True), (["1.png", "2.PNG"], True), (["ann", "bob"], False),
        (["2024_1", "2024_2"], False), ([1, 2], False),
    ],
)  # fmt: skip
def test_names_of_samples_are_told_from_ids_of_subjects(names, are_samples):
    assert bool(sample_names.advice_on_samples(names)) == are_samples


OF_PATHS = (
    "s,a,b\n0.9,a/1.wav,a/2.wav\n0.2,a/1.wav,b/1.wav\n0.8,b/1.wav,b/2.wav\n0.1,b/1.wav,c/1.wav\n"
)
IN_PATHS = {"score": "s", "reference": "a", "probe": "b"}


def test_subjects_are_cut_out_of_paths(write):
    path = write("s.csv", OF_PATHS)
    for pattern in ("^([^/]+)/", "^[a-z]"):
        is_the_same(read_comparisons(path, **IN_PATHS, subject_pattern=pattern))
    says = r"line 2: subject_pattern .* finds no subject in 'a/1.wav' \(2 of 4 values of 'a'\)"
    for pattern, message in (("^(b)", says), ("(", "not a regular expression")):
        refused(message, read_comparisons, path, **IN_PATHS, subject_pattern=pattern)


PATHS = ["a/1.wav", "a/2.wav", "b/1.wav", "b/2.wav", "c/1.wav"]


def has_the_samples(c, reference, probe, samples):
    # In the order of the files' rows, whichever side they went to.
    assert c.samples.tolist() == samples
    for side in (c.mated, c.nonmated):
        assert c.samples[side.reference_sample].tolist() == [reference[row] for row in side.rows]
        assert c.samples[side.probe_sample].tolist() == [probe[row] for row in side.rows]
        assert np.array_equal(c.sample_subject[side.reference_sample], side.reference)
        assert np.array_equal(c.sample_subject[side.probe_sample], side.probe)


def test_what_subjects_are_cut_out_of_is_the_sample(write):
    reference, probe = (
        ["a/1.wav", "a/1.wav", "b/1.wav", "b/1.wav"],
        ["a/2.wav", "b/1.wav", "b/2.wav", "c/1.wav"],
    )
    path = write("s.csv", OF_PATHS)
    has_the_samples(
        read_comparisons(path, **IN_PATHS, subject_pattern="^[a-z]"), reference, probe, PATHS
    )
    trials = write("veri.txt", TRIALS)
    has_the_samples(
        read_comparisons(write("s.txt", "0.9\n0.2\n0.8\n0.1\n"), trials=trials),
        reference,
        probe,
        PATHS,
    )
    who = write("who.csv", "id,sex\na,f\nb,m\n")
    with pytest.warns(DroppedWarning):
        c = read_comparisons(
            path,
            **IN_PATHS,
            subject_pattern="^[a-z]",
            metadata=who,
            **IN_WHO,
            missing_labels="drop",
        )
    has_the_samples(c, reference, probe, PATHS[:-1])
    assert read_comparisons(write("n.csv", NAMED)).samples is None


@pytest.mark.jit
def test_voxceleb1_h_carries_its_paths(voxceleb):
    assert voxceleb.samples.size == 137_924
    assert all(path.endswith(".wav") for path in voxceleb.samples)
    speakers = voxceleb.subjects[voxceleb.sample_subject]
    assert [path.split("/")[0] for path in voxceleb.samples] == speakers.tolist()


def test_paths_that_are_missing_or_whole_numbers():
    frame = pl.DataFrame({"score": [0.9, 0.1], "reference": [101, 101], "probe": [102, 201]})
    c = read_comparisons(frame, subject_pattern="^[0-9]")
    assert (c.subjects.tolist(), c.samples.tolist()) == (["1", "2"], ["101", "102", "201"])
    holed = frame.with_columns(probe=pl.Series([None, 201]))
    for pattern in ("^[0-9]", "^[0-9]*"):
        with pytest.raises(InputError, match=r"column 'probe' is missing in row 0"):
            read_comparisons(holed, subject_pattern=pattern)


WHO = "id\tsex\tland\na\tf\tUK\nb\tm\tUS\nc\tf\tUS\n"
IN_WHO = {"metadata_id": "id", "groups": "sex"}


def test_metadata_joins_by_subject(write):
    scores, who = write("s.csv", NAMED), write("who.tsv", WHO)
    c = read_comparisons(scores, metadata=who, metadata_id="id", groups=["sex", "land"])
    assert c.groups == ("f & UK", "f & US", "m & US")
    assert c.by("sex").nonmated_by_group.cells.tolist() == [[0, 1], [1, 0]]
    frame = pl.DataFrame({"id": list("abc"), "sex": list("fmf")})
    assert read_comparisons(scores, metadata=frame, **IN_WHO).groups == ("f", "m")


def test_subjects_without_metadata_are_named_or_dropped(write):
    scores, who = write("s.csv", NAMED), write("who.csv", "id,sex\na,f\nb,m\n")
    with pytest.raises(
        InputError, match=r"1 of 3 subjects have no metadata for sex: 'c'; 1 of 4 comparisons"
    ) as caught:
        read_comparisons(scores, metadata=who, **IN_WHO)
    assert 'missing_labels="drop"' in str(caught.value)
    with pytest.warns(DroppedWarning, match="1 of 4 comparisons left out") as warned:
        c = read_comparisons(scores, metadata=who, **IN_WHO, missing_labels="drop")
    assert c.left_out == c.by("sex").left_out
    assert [one.sentence for one in c.left_out] == [str(warned[0].message)]
    assert len(c.nonmated) == 1
    assert c.groups == ("f", "m")
    assert c.subjects.tolist() == ["a", "b"]


def test_metadata_that_cannot_be_used(write):
    scores, who, twice = (
        write("s.csv", NAMED),
        write("who.tsv", WHO),
        write("w.csv", "id,sex\na,f\na,m\n"),
    )
    for metadata, options, error, message in (
        (who, {"metadata_id": "id", "groups": "gender"}, InputError, "no column 'gender'"),
        (who, {"metadata_id": "id"}, InputError, "groups="),
        (twice, IN_WHO, InputError, r"more than one row for subject 'a' .*: line 2 and line 3"),
        (write("w.txt", "id\na\n"), IN_WHO, FileFormatError, "neither tab, comma nor semicolon"),
    ):
        with pytest.raises(error, match=message):
            read_comparisons(scores, metadata=metadata, **options)


def test_ids_of_metadata_are_by_default_in_the_first_column(write):
    scores, who = write("s.csv", NAMED), write("who.tsv", WHO)
    first = read_comparisons(scores, metadata=who, groups="sex", missing_labels="drop")
    named = read_comparisons(
        scores, metadata=who, metadata_id="id", groups="sex", missing_labels="drop"
    )
    assert (first.groups, len(first.mated)) == (named.groups, len(named.mated))


def test_groups_from_columns_of_the_file(write):
    both = write(
        "s.csv", "score,mated,reference_sex,probe_sex\n0.9,1,f,f\n0.2,0,f,m\n0.8,1,m,m\n0.1,0,m,f\n"
    )
    assert read_comparisons(both, groups="sex").nonmated_by_group.cells.tolist() == [[0, 1], [1, 0]]
    one = write("t.csv", "score,mated,sex\n0.9,1,f\n0.2,0,f\n0.8,1,m\n0.1,0,m\n")
    assert read_comparisons(one, groups="sex").nonmated_by_group.cells.tolist() == [[1, 0], [0, 1]]
    own = write("u.csv", "score,mated,reference_group,probe_group\n0.9,1,f,f\n0.2,0,f,m\n")
    assert read_comparisons(own).groups == ("f", "m")
    with pytest.raises(
        InputError, match=r"no column 'se', nor reference_se and probe_se \(did you mean 'sex'"
    ):
        read_comparisons(one, groups="se")


BOB4 = "# comment\n\na a f1 0.9\na b f2 0.2\n\nb   b f3 0.8\nb c f4 0.1\n"
BOB5 = "a m1 a f1 0.9\na m1 b f2 0.2\nb m2 b f3 0.8\nb m2 c f4 0.1\n"


@pytest.mark.parametrize("stated", [False, True])
def test_bob_columns(write, stated):
    is_the_same(read_comparisons(write("s.txt", BOB4), format="bob-4" if stated else "auto"))
    c = read_comparisons(write("s.txt", BOB5), format="bob-5" if stated else "auto")
    is_the_same(c)
    has_the_samples(
        c, ["m1", "m1", "m2", "m2"], ["f1", "f2", "f3", "f4"], ["f1", "f2", "f3", "f4", "m1", "m2"]
    )


def test_bob_labels_of_two_subjects_are_no_samples(write):
    for placeholders in (BOB5.replace("f2", "f1"), BOB5.replace("f3", "m1")):
        c = read_comparisons(write("s.txt", placeholders))
        is_the_same(c)
        assert c.samples is None
    assert read_comparisons(write("s.txt", BOB4)).samples is None


@pytest.mark.parametrize("key", ["subject_id", "reference_id"])
def test_bob_csv(write, key):
    header = f"probe_{key},probe_sex,bio_ref_{key},bio_ref_sex,score\n"
    text = header + "a,f,a,f,0.9\nb,m,a,f,0.2\nb,m,b,m,0.8\nc,f,b,m,0.1\n"
    c = read_comparisons(write("s.csv", text), groups="sex")
    is_the_same(c)
    assert c.nonmated_by_group.cells.tolist() == [[0, 1], [1, 0]]


TRIALS = "1 a/1.wav a/2.wav\n0 a/1.wav b/1.wav\n1 b/1.wav b/2.wav\n0 b/1.wav c/1.wav\n"


def test_voxceleb(write):
    trials = write("veri.txt", TRIALS)
    in_order = write("s.txt", "0.9\n0.2\n0.8\n0.1\n")
    is_the_same(read_comparisons(in_order, trials=trials))
    keyed = "b/1.wav c/1.wav 0.1\nb/1.wav b/2.wav 0.8\na/1.wav a/2.wav 0.9\na/1.wav b/1.wav 0.2\n"
    is_the_same(read_comparisons(write("k.txt", keyed), trials=trials))
    first = "\n".join(" ".join([line.split()[2], *line.split()[:2]]) for line in keyed.splitlines())
    is_the_same(read_comparisons(write("f.txt", first), trials=trials))
    joined = "\n".join(
        f"{t} {s}" for t, s in zip(TRIALS.splitlines(), ["0.9", "0.2", "0.8", "0.1"], strict=True)
    )
    is_the_same(
        read_comparisons(write("j.txt", joined))
    )  # as bob's 4 columns it would have no mated comparisons


KEYED = "b/1.wav c/1.wav 0.1\nb/1.wav b/2.wav 0.8\na/1.wav a/2.wav 0.9\n"


@each(
    ("scores", "trials", "message"),
    [
        ("0.9\n0.2\n0.8\n", TRIALS, r"has 3 scores, but .* has 4 trials"),
        (KEYED, TRIALS, r"1 of 4 trials of .* have no score .* first a/1.wav b/1.wav"),
        (
            KEYED + "a/1.wav b/1.wav 0.2\nz/1.wav b/1.wav 0.2\n",
            TRIALS,
            r"1 scores of .* have no trial .* first z/1.wav b/1.wav",
        ),
        (
            KEYED + "a/1.wav a/2.wav 0.7\n",
            TRIALS,
            "a/1.wav a/2.wav has the score 0.9 in line 3 and 0.7 in line 4",
        ),
        (KEYED, "what is this\n", "no list of trials"),
        (KEYED, "1 a b\n7 a b\n", "line 2: the label must say mated or non-mated"),
        ("0.1 0.2\n", TRIALS, "a score file has 'score' or 'enrol test score'"),
    ],
)
def test_voxceleb_and_kaldi_that_do_not_match(write, scores, trials, message):
    with pytest.raises(FileFormatError, match=message):
        read_comparisons(write("s.txt", scores), trials=write("veri.txt", trials))


def test_kaldi(write):
    trials = write("trials", "a a-1 target\na b-1 nontarget\nb b-1 target\nb c-1 nontarget\n")
    scores = write("scores", "a a-1 0.9\nb c-1 0.1\na b-1 0.2\nb b-1 0.8\n")
    is_the_same(read_comparisons(scores, trials=trials), subjects=None)
    assert read_comparisons(scores, trials=trials).samples is None
    cut = read_comparisons(scores, trials=trials, subject_pattern="^([^-]+)")
    is_the_same(cut)
    assert cut.samples.tolist() == ["a", "a-1", "b", "b-1", "c-1"]
    who = write("who.csv", "id,sex\na,f\nb,m\nc,m\n")
    with pytest.raises(InputError, match="metadata= needs the subjects of the comparisons"):
        read_comparisons(scores, trials=trials, metadata=who, **IN_WHO)
    refused("needs the trial list", read_comparisons, scores, format="kaldi")
    refused("has no columns of labels", read_comparisons, scores, trials=trials, groups="sex")


def test_matrices(tmp_path, write):
    matrix = np.array([[0.9, 0.1], [0.2, 0.8]])
    np.save(tmp_path / "m.npy", matrix)
    np.savez(tmp_path / "m.npz", face=matrix, finger=2 * matrix)
    is_the_same(read_comparisons(tmp_path / "m.npy"), subjects=(0, 1))
    is_the_same(read_comparisons(tmp_path / "m.npz", score="face"), subjects=(0, 1))
    rows = "\n".join(" ".join(map(str, row)) for row in np.eye(7))
    refused(r'say layout=Layout\(format="matrix"\)', read_comparisons, write("wide.txt", rows))
    refused("face, finger: say which", read_comparisons, tmp_path / "m.npz")
    refused("did you mean 'face'", read_comparisons, tmp_path / "m.npz", score="fac")
    who = write("who.csv", "id,sex\n0,f\n1,m\n")
    c = read_comparisons(tmp_path / "m.npy", metadata=who, **IN_WHO)
    assert c.mated_by_group.cells.tolist() == [[1, 0], [0, 1]]
    with (
        pytest.warns(
            DroppedWarning, match="3 of 4 comparisons left out, as their subjects have no metadata"
        ),
        pytest.raises(InputError, match="no non-mated"),
    ):
        read_comparisons(
            tmp_path / "m.npy",
            metadata=write("w.csv", "id,sex\n0,f\n"),
            **IN_WHO,
            missing_labels="drop",
        )
    refused("has no columns of labels", read_comparisons, tmp_path / "m.npy", groups="sex")
    np.save(tmp_path / "o.npy", np.array([[1, "a"]], object), allow_pickle=True)
    for name, text in (("o.npy", None), ("p.npy", "not numpy"), ("q.npz", "not zip")):
        path = tmp_path / name if text is None else write(name, text)
        with pytest.raises(FileFormatError, match="cannot be read"):
            read_comparisons(path)
    np.save(tmp_path / "r.npy", np.ones((2, 3)))
    refused("2, 3", read_comparisons, tmp_path / "r.npy", metadata=who, **IN_WHO)


def test_a_file_that_is_not_there_is_told_its_likeness(write, tmp_path):
    write("scores.csv", NAMED)
    with pytest.raises(FileNotFoundError, match=r"did you mean 'scores\.csv'"):
        read_comparisons(tmp_path / "score.csv")


OTHER_NAMES = NAMED.replace("score", "similarity").replace("mated", "label")
FAILED_NAMED = "score,mated,reference,probe\n0.9,1,a,a\n,0,a,b\n0.8,1,b,b\nnan,1,b,b\n0.1,0,b,c\n"


@each(
    ("name", "content", "options", "error", "message"),
    [
        ("s.csv", NAMED.replace("0.2", "oops"), {}, FileFormatError,
         r"line 3: column 'score' must be a number, not 'oops' \(1 such rows\)"),
        ("s.csv", NAMED.replace("0.2", ""), {}, FileFormatError, "line 3: column 'score' is empty"),
        ("s.csv", NAMED.replace("0.2", "nan"), {}, InputError, "line 3: column 'score' must be finite, not 'nan'"),
        ("s.csv", NAMED.replace("0.8,1", "0.8,0"), {}, InputError,
         "line 4: mated contradicts the subjects in 1 comparisons"),
        ("s.csv", "score,mated\n0.9,1\n0.2,\n", {}, InputError, "line 3: column 'mated' is missing"),
        ("s.csv", "score,mated\n0.9,1\n0.2\n", {}, FileFormatError,
         "line 3: expected 2 fields, as in the first row, found '0.2'"),
        ("s.csv", "score,score,mated\n0.9,0.9,1\n", {}, FileFormatError, "2 columns called 'score'"),
        ("s.csv", OTHER_NAMES, {"score": "similarty"}, InputError,
         r"no column 'similarty' \(did you mean 'similarity'\?\): name one with score="),
        ("s.csv", OTHER_NAMES, {}, InputError, "name the score column with score="),
        ("s.csv", "score,who\n0.9,a\n", {}, InputError, "nothing says which comparisons are mated"),
        ("s.csv", "score,mated\n0.9,1\n", {"subject_pattern": "x"}, InputError,
         "subject_pattern= needs columns to cut"),
        ("s.csv", FAILED_NAMED.replace("0.8", "high"), {"failures": "exclude"}, FileFormatError,
         "must be a number, not 'high'"),
        ("s.csv", FAILED_NAMED.replace("0.8", "inf"), {"failures": "exclude"}, FileFormatError,
         "must be finite, not 'inf'"),
        ("s.csv", "probe_x,bio_ref_x,score\na,a,0.9\n", {"format": "bob-csv"}, FileFormatError,
         "no file of the format bob-csv"),
        ("s.csv", NAMED, {"format": "excel"}, InputError, "format must be one of"),
        ("s.csv", "score,mated\n", {}, FileFormatError, "header but no rows"),
        ("s.csv", "", {}, FileFormatError, "is empty"),
        ("s.txt", "\n\n# c\n", {}, FileFormatError, "nothing but blank lines"),
        ("s.txt", "\n\n# c\n", {"format": "bob-4"}, FileFormatError, "nothing but blank lines"),
        ("s.txt", "hello world\n", {}, FileFormatError, "no known format"),
        ("s.txt", b"\xff\xfe\x00\x81", {}, FileFormatError, "cannot be read"),
        ("s.parquet", b"PAR0 nonsense", {}, FileFormatError, "cannot be read"),
        ("s.txt", BOB4.replace("0.8", "oops"), {"format": "bob-4"}, FileFormatError,
         "line 6: the score must be a number, not 'oops'"),
        ("s.txt", BOB4.replace("0.2", "inf"), {}, InputError, "line 4: the score must be finite, not 'inf'"),
        ("s.txt", BOB4.replace(" f2", ""), {"format": "bob-4"}, FileFormatError,
         "line 4: expected 4 fields, as in the first row, found 'a b 0.2'"),
        ("s.txt", BOB4, {"score": "x", "probe": "y"}, InputError, "leave score= and probe= out"),
        ("s.txt", "0.1\n0.2\n", {}, FileFormatError, "nothing but scores"),
        ("s.txt", "a b 0.1\n", {}, FileFormatError, "nothing says which are mated"),
        ("s.txt", "1 a b\n", {}, FileFormatError, "without scores"),
        ("s.txt", "a b target\n", {}, FileFormatError, "without scores"),
        ("s.txt", "1 2 3 0.5\n", {}, FileFormatError,
         "may be bob-4 .* or voxceleb .*; say which with layout=Layout"),
    ],
)  # fmt: skip
def test_files_that_cannot_be_read_say_why(write, name, content, options, error, message):
    with pytest.raises(error, match=message):
        read_comparisons(write(name, content), **options)


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("cut.csv.gz", gzip.compress(b"score,mated\n0.9,1\n0.1,0\n" * 50, mtime=0)[:40]),
        ("late.txt", b"a a f 0.9\n" * 5 + b"a \xff f 0.9\n"),
        ("body.parquet", b"PAR1" + bytes(100) + b"PAR1"),
    ],
)
def test_broken_files_are_our_errors(write, name, content):
    path = write(name, content)
    with pytest.raises(FileFormatError, match="cannot be read"):
        read_comparisons(path, format="bob-4" if name == "late.txt" else "auto")
    if name != "late.txt":
        good = pl.DataFrame({"score": [0.9, 0.1], "reference": ["a", "a"], "probe": ["a", "b"]})
        with pytest.raises(FileFormatError, match=r"cannot be read|neither tab"):
            read_comparisons(good, metadata=path, metadata_id="mated", groups="score")


def test_blanks_quotes_and_comments_around_named_columns(write):
    header = '# made today\n\n"score", mated ,"reference", probe,sex\n'
    text = header + " 0.9,1,a,a,f\n0.2, 0,a,b, f\n0.8,1 ,b,b,m \n0.1,0,b,c,m\n"
    c = read_comparisons(write("s.csv", text), groups="sex")
    is_the_same(c)
    assert c.groups == ("f", "m")
    with pytest.raises(
        FileFormatError, match="line 5: column 'score' must be a number, not 'oops'"
    ):
        read_comparisons(write("t.csv", text.replace("0.2", "oops")))


PAIRS = [
    ("a", "a", 0.71, 1),
    ("a", "b", 0.62, 0),
    ("b", "b", 0.11, 1),
    ("b", "c", 0.14, 0),
    ("c", "a", 0.05, 0),
]


@each(
    "names",
    [
        ("1", "0"),
        ("target", "nontarget"),
        ("tgt", "imp"),
        ("Genuine", "Impostor"),
        ("1.0", "0.0"),
        ("x", "y"),
    ],
)
@each("order", ["enrol test score label", "enrol test label score", "label enrol test score"])
def test_lists_are_read_with_their_labels_anywhere(write, names, order):
    lines = []
    for enrol, test, score, is_mated in PAIRS:
        fields = {"enrol": enrol, "test": test, "score": str(score), "label": names[1 - is_mated]}
        lines.append(" ".join(fields[name] for name in order.split()))
    file = write("s.txt", "\n".join(lines))
    own = {"mated_value": "x"} if "x" in names else {}
    kind = "voxceleb" if order.startswith("label") else order.replace(" ", "-")
    known = {"subject_pattern": "(.*)"}
    found = [read_comparisons(file, format=kind, **own, **known)]
    worded = not names[0][0].isdigit()
    if worded or kind == "voxceleb":
        found.append(read_comparisons(file, **own, **known))
    else:
        with pytest.raises(FileFormatError, match=f"may be bob-4 .* or {kind}"):
            read_comparisons(file, **own, **known)
    for c in found:
        assert c.mated.similarities.tolist() == [0.11, 0.71]
        assert c.subjects.tolist() == ["a", "b", "c"]


def test_what_a_list_is_taken_for_depends_on_all_its_rows(write):
    ids = "".join(f"{k} {k} {k % 2} 0.5\n{k} {k + 1} 0 0.25\n" for k in range(3000))
    with pytest.raises(FileFormatError, match=r"may be bob-4 .* or enrol-test-label-score"):
        read_comparisons(write("s.txt", ids))
    c = read_comparisons(write("s.txt", ids + "1 2 7 0.5\n"))  # a test sample called 7
    assert (len(c.mated), len(c.nonmated)) == (3000, 3001)


def test_lists_of_scores_are_read_with_a_pattern_of_subjects(write):
    file = write("s.txt", "a/1 a/2 0.9\na/1 b/1 0.2\n")
    c = read_comparisons(file, subject_pattern="^([^/]+)/")
    assert (len(c.mated), len(c.nonmated)) == (1, 1)
    with pytest.raises(
        FileFormatError,
        match="trials=, or say how to find the subjects in its names with subject_patt",
    ):
        read_comparisons(file)


def test_arguments_that_a_format_cannot_use_are_refused(write):
    named = write("s.csv", NAMED)
    with pytest.raises(InputError, match="trials= goes with scores alone"):
        read_comparisons(named, trials=write("veri.txt", TRIALS), format="csv")
    refused("metadata_id is given without metadata=", read_comparisons, named, metadata_id="x")
    with pytest.raises(
        InputError, match=r"row 0 \(counted from 0\): there is no subject id in column 'id'"
    ):
        read_comparisons(
            named, metadata=pl.DataFrame({"id": [None, "a"], "sex": ["f", "m"]}), **IN_WHO
        )


@pytest.mark.parametrize(
    ("name", "text", "options"),
    [
        ("s.csv", FAILED_NAMED, {}),
        ("s.csv", FAILED_NAMED.replace("b\nnan,", "b\n-1,"), {"failure_score": -1}),
        (
            "s.txt",
            "1 a/1 a/2 0.9\n0 a/1 b/1 nan\n1 b/1 b/2 0.8\n1 b/1 b/3 NaN\n0 b/1 c/1 0.1\n",
            {"format": "voxceleb"},
        ),
        ("s.txt", "a a 1 0.9\na b 1 nan\nb b 1 0.8\nb b 2 nan\nb c 1 0.1\n", {"format": "bob-4"}),
    ],
)
def test_failed_comparisons_have_an_empty_score_or_nan(write, name, text, options):
    path = write(name, text)
    c = read_comparisons(path, failures="non-match", **options)
    assert [side.rows.tolist() for side in c.failed.sides] == [[3], [1]]
    with pytest.warns(DroppedWarning, match="2 of 5 comparisons left out, as they failed"):
        left = read_comparisons(path, failures="exclude", **options)
    assert [(one.n, one.reason) for one in left.left_out] == [(2, "failed")]
    assert (len(left.mated), len(left.nonmated)) == (2, 1)
    with pytest.raises(
        FileFormatError, match=r'failures="exclude"\) leaves failed comparisons out'
    ):
        read_comparisons(path, **({} if name == "s.csv" else options))


def test_matrices_with_failed_samples(write):
    path = write("m.npy", b"")
    np.save(path, [[0.9, np.nan, 0.1], [0.2, np.nan, 0.3], [0.1, np.nan, 0.8]])
    assert read_comparisons(path, failures="non-match").failed.n == 3
    np.save(path.with_suffix(".npy"), [[9, -1, 1], [2, -1, 3], [1, -1, 8]])
    c = read_comparisons(path.with_suffix(".npy"), failures="non-match", failure_score=-1)
    assert (len(c.failed.mated), len(c.failed.nonmated)) == (1, 2)


def test_scored_trials_and_scans_take_no_failures(write):
    path = write("s.csv", NAMED)
    refused("a scan takes no comparisons that failed", scan_comparisons, path, failures="exclude")
    vectors = ff.NamedVectors([[1, 0], [0, 1]], ["a", "b"])
    with pytest.raises(InputError, match=r"leave .*failure_score=.* out"):
        read_comparisons(path, embeddings=vectors, failures="exclude", failure_score=-1)
