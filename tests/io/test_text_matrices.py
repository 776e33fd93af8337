"""Score matrices in text, with names and without, and rows of numbers that may be one."""

from __future__ import annotations

import re

import numpy as np
import pandas as pd
import pytest
from helpers.command_line import run_program
from helpers.each import each
from helpers.flat import read_comparisons, scan_comparisons
from helpers.refusals import refused
from hypothesis import given
from hypothesis import strategies as st

import fastfair as ff
from fastfair.errors import FileFormatError

SCORES = np.array([[0.9, 0.1, 0.2], [0.15, 0.8, 0.3], [0.25, 0.35, 0.7]])
NAMED = pd.DataFrame(SCORES, index=list("abc"), columns=list("abc"))


def with_blanks(frame: pd.DataFrame, header: bool = True) -> str:
    """Return a table as R's `write.table` writes it: with quotes, and no name for the names of
    rows."""
    head = " ".join(f'"{name}"' for name in frame.columns)
    rows = [
        f'"{name}" {" ".join(map(str, row))}'
        for name, row in zip(frame.index, frame.to_numpy(), strict=True)
    ]
    return "\n".join([head, *rows] if header else rows)


def joined(separator: str, point: str = ".") -> str:
    """Return the scores alone."""
    return "\n".join(separator.join(map(str, row)).replace(".", point) for row in SCORES.tolist())


@each(
    ("text", "subjects"),
    [
        (joined(","), [0, 1, 2]),
        (joined("\t"), [0, 1, 2]),
        (joined(" "), [0, 1, 2]),
        (joined("  \t"), [0, 1, 2]),
        (joined(";", ","), [0, 1, 2]),
        ("# of a matcher\n" + joined(" "), [0, 1, 2]),
        ("\ufeff" + joined(","), [0, 1, 2]),
        (NAMED.to_csv(), ["a", "b", "c"]),
        (NAMED.to_csv(sep="\t"), ["a", "b", "c"]),
        (NAMED.to_csv(sep=";", decimal=","), ["a", "b", "c"]),
        (NAMED.rename_axis("reference").to_csv(), ["a", "b", "c"]),
        (NAMED.to_csv(quoting=1), ["a", "b", "c"]),
        (NAMED.to_csv(index=False), ["a", "b", "c"]),
        (NAMED.to_csv(header=False), ["a", "b", "c"]),
        (
            NAMED.set_axis([1001, 1002, 1003]).set_axis([1001, 1002, 1003], axis=1).to_csv(),
            ["1001", "1002", "1003"],
        ),
        (
            NAMED.set_axis([7, 8, 9]).set_axis([7, 8, 9], axis=1).rename_axis("id").to_csv(),
            ["7", "8", "9"],
        ),
        (pd.DataFrame(SCORES).to_csv(), ["0", "1", "2"]),
        (pd.DataFrame(SCORES).to_csv(index=False), ["0", "1", "2"]),
        (with_blanks(NAMED), ["a", "b", "c"]),
        (with_blanks(NAMED).replace(" ", ","), ["a", "b", "c"]),
        (with_blanks(NAMED, header=False), ["a", "b", "c"]),
    ],
)
def test_matrices_of_text_are_those_of_arrays(write, text, subjects):
    c = read_comparisons(write("m.csv", text), format="matrix")
    expected = ff.Comparisons.from_matrix(SCORES)
    assert (c.subjects.tolist(), len(c.mated), len(c.nonmated)) == (subjects, 3, 6)
    for side in ("mated", "nonmated"):
        np.testing.assert_array_equal(
            getattr(c, side).similarities, getattr(expected, side).similarities
        )
        np.testing.assert_array_equal(getattr(c, side).reference, getattr(expected, side).reference)


@given(
    st.integers(1, 5), st.integers(2, 6), st.sampled_from([",", ";", "\t"]), st.integers(0, 2**32)
)
def test_named_matrices_of_any_shape_are_read_as_lists_are(tmp_path_factory, n, m, separator, seed):
    rng = np.random.default_rng(seed)
    scores = rng.normal(size=(n, m)).round(3)
    rows, columns = rng.choice(list("wxyz"), n), rng.choice(["v", "w", "x y", "1"], m)
    path = tmp_path_factory.mktemp("m") / "m.csv"
    pd.DataFrame(scores, rows, columns).to_csv(path, sep=separator)
    listed = pd.DataFrame(
        [(r, c, scores[i, j]) for i, r in enumerate(rows) for j, c in enumerate(columns)],
        columns=["reference", "probe", "score"],
    )
    same = int((listed["reference"] == listed["probe"]).sum())
    if same in (0, len(listed)):
        refused("both classes are needed", read_comparisons, path, format="matrix")
        return
    found, expected = read_comparisons(path, format="matrix"), read_comparisons(listed)
    np.testing.assert_array_equal(found.mated.similarities, expected.mated.similarities)
    np.testing.assert_array_equal(found.nonmated.similarities, expected.nonmated.similarities)


def test_names_of_a_matrix_may_be_those_of_samples(write):
    who = write("w.csv", "id,sex\na,f\nb,m\n")
    file = write("m.csv", ",a_1,b_1\na_2,0.9,0.1\nb_2,0.2,0.8\n")
    c = read_comparisons(file, format="matrix", subject_pattern="^(.)", metadata=who, groups="sex")
    assert (len(c.mated), c.groups, c.samples.tolist()) == (
        2,
        ("f", "m"),
        ["a_1", "a_2", "b_1", "b_2"],
    )


def test_scores_that_are_missing_failed_in_a_matrix(write):
    file = write("m.csv", '"a","b"\n"a",0.9,NA\n"b",,0.8\n')
    refused("line 3: the score in column 2 is empty", read_comparisons, file, format="matrix")
    refused(
        "line 2: .* is missing, as 'NA' says",
        read_comparisons,
        write("m.csv", "a,b\n1,NA\n2,1\n"),
        format="matrix",
    )
    c = read_comparisons(write("m.csv", "NA,0.1\n0.2,0.8\n"), format="matrix", failures="non-match")
    assert (len(c.mated), len(c.nonmated)) == (2, 2)


@each(
    ("text", "says"),
    [
        ("0.9 0.1\n0.1 0.2\n0.3 0.4\n", r"is square, but this array's shape is \(3, 2\)"),
        ("0.9 0.1\n0.1\n", "line 2: expected 2 fields"),
        ("a b\n0.1 x\n0.1 0.2\n", "must be a number, not 'x'"),
        ("a b c\n", "has a header but no rows"),
        ("a\nb\n", "a header but no rows|names of rows but no scores|is square"),
        (" a,b\n a,0.1,inf\nb,0.1,0.2\n", "must be finite, not 'inf'"),
    ],
)
def test_what_is_no_matrix_is_refused(write, text, says):
    refused(says, read_comparisons, write("m.txt", text), format="matrix")


def test_a_matrix_of_text_takes_no_columns_and_cannot_be_scanned(write):
    file = write("m.csv", joined(","))
    refused(
        "has no named columns, so leave score= out",
        read_comparisons,
        file,
        format="matrix",
        score="s",
    )
    refused("is a score matrix, which cannot be scanned", scan_comparisons, file, format="matrix")


ROWS = {
    4: ["1.00 0.62 0.11 0.18", "0.62 1.00 0.09 0.27", "0.12 0.12 1.00 0.32", "0.18 0.27 0.32 1.00"],
    5: [
        "1 0.62 0.11 0.18 0.2",
        "0.62 1 0.62 0.27 0.3",
        "0.11 0.62 1 0.32 0.4",
        "0.18 0.27 0.18 1 0.1",
    ],
    3: ["9 6 1", "5 9 2", "1 3 9"],
}


@each("n", [3, 4, 5])
def test_rows_of_numbers_that_may_be_a_matrix_are_refused_with_both_readings(write, n):
    known = {3: "enrol-test-score", 4: "bob-4", 5: "bob-5"}[n]
    says = (
        rf'rows of {n} numbers, which may be .*format="{known}".* or a score matrix'
        r' \(.*format="matrix"\)\)'
    )
    for rows in (ROWS[n], ROWS[n] + ROWS[n], ["100 62 11 18 20"[: 3 * n]] * n):
        refused(says, read_comparisons, write("m.txt", "\n".join(rows)))
        refused(says, read_comparisons, write("m.txt", "\n".join(rows).replace(" ", "\t")))
    for rows in ([row.replace(" ", mark) for row in ROWS[n]] for mark in ",;"):
        refused(
            rf'rows of {n} numbers: say layout=Layout\(format="matrix"\)',
            read_comparisons,
            write("m.csv", "\n".join(rows)),
        )


def test_numbers_that_are_names_beside_scores_are_read(write):
    rows = ["1 1 3 0.9", "1 2 4 0.1", "2 2 5 0.8", "1 2 6 0.2", "2 1 7 0.3"]
    c = read_comparisons(write("s.txt", "\n".join(rows)))
    assert (len(c.mated), len(c.nonmated)) == (2, 3)
    with pytest.raises(FileFormatError, match="or a score matrix"):  # as many rows as fields
        read_comparisons(write("s.txt", "\n".join(rows[:4])))
    assert len(read_comparisons(write("s.txt", "\n".join(rows[:4])), format="bob-4").mated) == 2
    labelled = "1 11 12 0.9\n0 11 21 0.1\n1 21 22 0.8\n0 12 21 0.2\n"
    assert len(read_comparisons(write("s.txt", labelled), subject_pattern="^(.)").mated) == 2


def test_a_pivot_table_is_said_to_need_its_format(write):
    refused('with names, say .*format="matrix"', read_comparisons, write("p.csv", NAMED.to_csv()))


@pytest.mark.slow
def test_messages_name_the_option(write):
    done = run_program(
        "evaluate", write("m.txt", "\n".join(ROWS[4])), "--at", "eer", "--n-resamples", 0
    )
    assert re.search(
        r"\(--format bob-4\) or a score matrix \(--format matrix\)", " ".join(done.stderr.split())
    )
    done = run_program(
        "evaluate", write("m.txt", joined(" ")), "--format", "matrix", "--at", "eer", "--quick"
    )
    assert "3 mated and 6 non-mated comparisons" in done.stdout
