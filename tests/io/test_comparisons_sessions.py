"""Sessions are read from columns of score files, or from tables of samples and of people."""

from __future__ import annotations

import polars as pl
import pytest

import fastfair as ff
from fastfair.errors import DroppedWarning, InputError

ROWS = """reference,probe,score,day,reference_site,probe_site
ann/1,ann/2,0.9,mon,x,y
ann/1,bob/1,0.2,tue,x,z
bob/1,bob/2,0.8,mon,z,z
ann/2,bob/2,0.3,mon,y,z
"""
SAMPLES = "file,person,day\nann/1,ann,mon\nann/2,ann,tue\nbob/1,bob,wed\nbob/2,bob,mon\n"


@pytest.fixture
def scores(tmp_path):
    path = tmp_path / "scores.csv"
    path.write_text(ROWS)
    return path


def sessions_by_row(c: ff.Comparisons) -> list[tuple[str, str]]:
    """Return the sessions of the reference and of the probe of each comparison, by row."""
    by_row = {
        int(row): (str(c.sessions[reference]), str(c.sessions[probe]))
        for side in (c.mated, c.nonmated)
        for row, reference, probe in zip(
            side.rows, side.reference_session, side.probe_session, strict=True
        )
    }
    return [by_row[row] for row in sorted(by_row)]


def read(path, session, **more) -> ff.Comparisons:
    """Read the rows with people cut out of paths."""
    return ff.read_comparisons(
        path, subject_pattern="^([^/]+)/", layout=ff.Layout(session=session), **more
    )


def test_one_column_is_of_both_sides_and_two_are_of_each(scores):
    c = read(scores, "day")
    assert sessions_by_row(c) == [("mon", "mon"), ("tue", "tue"), ("mon", "mon"), ("mon", "mon")]
    assert c.mated.reference_session is c.mated.probe_session
    expected = [("x", "y"), ("x", "z"), ("z", "z"), ("y", "z")]
    assert sessions_by_row(read(scores, "site")) == expected
    assert sessions_by_row(read(scores, ("reference_site", "probe_site"))) == expected
    assert sessions_by_row(read(pl.read_csv(scores), ("day", "probe_site"))) == [
        ("mon", "y"),
        ("tue", "z"),
        ("mon", "z"),
        ("mon", "z"),
    ]


def test_sessions_of_samples_come_from_their_table(scores, tmp_path):
    table = tmp_path / "samples.csv"
    table.write_text(SAMPLES)
    scores.write_text(ROWS.replace(",day,", ",visit,"))
    of_samples = ff.Layout(session="day", metadata_per="sample")
    c = ff.read_comparisons(scores, subject_pattern="^([^/]+)/", metadata=table, layout=of_samples)
    assert sessions_by_row(c) == [("mon", "tue"), ("mon", "wed"), ("wed", "mon"), ("tue", "mon")]
    with_groups = ff.read_comparisons(
        scores, metadata=table, groups="person",
        layout=ff.Layout(session="day", metadata_subject="person"),
    )  # fmt: skip
    assert sessions_by_row(with_groups) == sessions_by_row(c)


def test_the_score_file_goes_before_the_metadata(scores, tmp_path):
    table = tmp_path / "samples.csv"
    table.write_text(SAMPLES)
    c = ff.read_comparisons(
        scores, subject_pattern="^([^/]+)/", metadata=table,
        layout=ff.Layout(session="day", metadata_per="sample"),
    )  # fmt: skip
    assert sessions_by_row(c)[0] == ("mon", "mon")


def test_samples_without_a_session_are_left_out_or_unknown(scores, tmp_path):
    table = tmp_path / "samples.csv"
    table.write_text(SAMPLES.replace("wed", ""))
    scores.write_text(ROWS.replace(",day,", ",visit,"))
    layout = ff.Layout(session="day", metadata_per="sample")
    more = {"subject_pattern": "^([^/]+)/", "metadata": table, "layout": layout}
    with pytest.raises(InputError, match="1 of 4 samples have no metadata for day: 'bob/1'"):
        ff.read_comparisons(scores, **more)
    policies = ff.Policies(missing_labels="unknown")
    c = ff.read_comparisons(scores, **more, policies=policies)
    assert sessions_by_row(c)[1] == ("mon", "unknown")
    with pytest.warns(DroppedWarning, match="2 of 4 comparisons"):
        c = ff.read_comparisons(scores, **more, policies=ff.Policies(missing_labels="drop"))
    assert sessions_by_row(c) == [("mon", "tue"), ("tue", "mon")]


def test_rows_without_a_session_are_refused_or_left_out(scores):
    scores.write_text(ROWS.replace(",tue,", ",,"))
    with pytest.raises(InputError, match=r"scores.csv: line 3: .*column 'day'"):
        read(scores, "day")
    with pytest.warns(DroppedWarning, match="1 of 4 comparisons"):
        c = read(scores, "day", policies=ff.Policies(missing_labels="drop"))
    assert sessions_by_row(c) == [("mon", "mon")] * 3
    assert c.mated.reference_session is c.mated.probe_session


def test_a_column_that_is_not_there_is_named(scores):
    with pytest.raises(InputError, match=r"no column 'dya'.*day"):
        read(scores, "dya")
    with pytest.raises(InputError, match="no column 'dya'"):
        read(scores, ("day", "dya"))


def test_sessions_divide_transactions_where_attempts_make_them(scores):
    layout = ff.Layout(attempts=1, session="day")
    c = ff.read_comparisons(scores, subject_pattern="^([^/]+)/", layout=layout)
    assert c.sessions is None
    assert c.transactions is not None
    with pytest.raises(InputError, match="one column of the session of each attempt"):
        ff.read_comparisons(scores, layout=ff.Layout(attempts=1, session=("day", "day")))


def test_scans_and_files_without_columns_refuse_sessions(scores, tmp_path):
    with pytest.raises(
        InputError, match=r"a scan has no .*session=.*, .*scattered: use read_comparisons"
    ):
        ff.scan_comparisons(scores, layout=ff.Layout(session="day"))
    trials = tmp_path / "trials.txt"
    trials.write_text("1 ann/1 ann/2 0.9\n0 ann/1 bob/1 0.2\n")
    with pytest.raises(InputError, match="no named columns, so leave session= out"):
        read(trials, "day")
    table = tmp_path / "samples.csv"
    table.write_text(SAMPLES)
    layout = ff.Layout(session="day", metadata_per="sample")
    c = ff.read_comparisons(trials, subject_pattern="^([^/]+)/", metadata=table, layout=layout)
    assert sessions_by_row(c) == [("mon", "tue"), ("mon", "wed")]


def test_written_sessions_are_read_again(scores, tmp_path):
    c = read(scores, "site")
    for suffix in ("csv", "parquet"):
        path = tmp_path / f"written.{suffix}"
        ff.write_comparisons(c, path)
        again = ff.read_comparisons(path, layout=ff.Layout(session="session"))
        assert sessions_by_row(again) == sessions_by_row(c)
    by_session = ff.Comparisons(
        [0.9, 0.1], None, *(list("aa"), list("ab")), {"session": list("xy")}, session=list("mt")
    )
    with pytest.raises(InputError, match="called 'session'"):
        ff.write_comparisons(by_session, tmp_path / "written.csv")


def test_a_missing_column_of_sessions_is_called_by_its_option(scores):
    for columns in (("day", "nowhere"), ("nowhere", "day")):
        with pytest.raises(InputError, match=r"no column .nowhere.*name one with .*session="):
            ff.read_comparisons(scores, layout=ff.Layout(session=columns))
