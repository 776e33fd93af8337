"""Labels, headers and names of files are shown as they are written: they act on no terminal, line
or plot."""

import copy
import json
import pickle
import re
import warnings

import numpy as np
import polars as pl
import pytest
from helpers.each import each

import fastfair as ff
from fastfair._lib.text import (
    cell,
    drawn,
    interval_of_rate,
    number_with_interval,
    rate_with_interval,
)
from fastfair.cli.terminal import print_result
from fastfair.errors import DroppedWarning, FastfairWarning, InputError, visible

WILD = ("\x1b[31mred", "a\nb", "\x1b]0;x\x07", "$x$", "\u202eabc", "_hidden", "c\r\x9bd\u2028e")
SAFE = re.compile(r"[\x00-\x09\x0b-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]")

pytestmark = pytest.mark.filterwarnings("ignore::fastfair.errors.FastfairWarning")


@pytest.fixture(scope="module")
def comparisons():
    rng = np.random.default_rng(0)
    who = np.repeat(np.arange(42), 42), np.tile(np.arange(42), 42)
    labels = np.array(WILD, object)
    return ff.Comparisons(
        rng.normal(size=42 * 42) + 3 * (who[0] == who[1]),
        None,
        *who,
        labels[who[0] % 7],
        labels[who[1] % 7],
    )


def is_safe(text, shown=WILD):
    assert not SAFE.search(text)
    for label in shown:
        assert visible(label) in text
    return True


def test_control_characters_are_written_as_escapes():
    assert visible("\x1b[31m\x9b\r\n\t\x00\x7f") == r"\x1b[31m\x9b\r\n\t\x00\x7f"
    assert (
        visible("\u202ea\u2066b\u200b\u2028\ufeff\ud800")
        == r"\u202ea\u2066b\u200b\u2028\ufeff\ud800"
    )
    for label in ("f & USA", "élan\u00a0vital", "میکس\u200cد", "漢字", "👩\u200d🔬", r"C:\new", ""):
        assert visible(label) == label
    assert drawn("$x$ _y") == r"\$x\$ _y"
    assert drawn("_x") == " _x"


def test_tables_show_labels_escaped(comparisons, capsys):
    at = ff.at_fmr(0.05)
    evaluation = ff.evaluate(comparisons, at, n_resamples=20, rng=0)
    print_result(evaluation)
    print_result(ff.compare(comparisons, comparisons, at, measures="gini", n_resamples=20, rng=0))
    assert is_safe(capsys.readouterr().out)
    mixed = ff.FailureCounts(
        [1, 0, 2, 1] * 7, [4, 5, 4, 5] * 7, np.repeat(np.array(WILD, object), 4)
    )
    test, margin = (
        call(mixed, n_resamples=50, rng=0) for call in (ff.fnmr_test, ff.margin_of_error)
    )
    print_result(test)
    print_result(margin)
    assert is_safe(capsys.readouterr().out)


def test_left_out_groups_are_shown_escaped(capsys):
    c = ff.Comparisons(
        [0.9, 0.1, 0.8, 0.2, 0.7], [1, 0, 1, 0, 1], reference_group=["a", "a", "b", "b", "\x1b[2J"]
    )
    print_result(
        ff.evaluate(c, n_resamples=0, settings=ff.EvaluationSettings(incomplete_groups="drop"))
    )
    assert is_safe(capsys.readouterr().out, ["\x1b[2J"])


def test_results_show_labels_escaped(comparisons):
    rates = ff.rates(comparisons, ff.at_fmr(0.05))
    assert is_safe(repr(rates))
    assert repr(rates).count("\n") == len(WILD)
    evaluation = ff.evaluate(comparisons, ff.at_fmr(0.05), n_resamples=0)
    quantity = repr(evaluation.quantity("fmr", WILD[0]))
    assert not SAFE.search(quantity)
    assert r"\x1b[31mred" in quantity
    for label in WILD:
        counts = ff.FailureCounts([0, 9, 9, 1, 2, 0], [9] * 6, [label, label, "x", "x", "y", "y"])
        for result in (
            ff.fnmr_test(counts, n_resamples=50, rng=0),
            ff.margin_of_error(counts, n_resamples=50, rng=0),
        ):
            assert not SAFE.search(result.summary())
        alone = ff.FailureCounts([0, 1], [1, 1], [label, "x"]).remarks()
        assert all(not SAFE.search(line) and "\n" not in line for line in alone)
        assert visible(label) in alone[0]


def test_files_keep_the_labels(comparisons):
    evaluation = ff.evaluate(comparisons, ff.at_fmr(0.05), n_resamples=0)
    assert set(WILD) <= {row["group"] for row in json.loads(evaluation.to_json())["quantities"]}
    assert set(WILD) <= set(evaluation.to_frame("polars")["group"])


@each("label", WILD)
def test_errors_and_warnings_show_what_they_quote_escaped(label):
    error = InputError(f"{label} is not there", row=3)
    for other in (error, copy.copy(error), pickle.loads(pickle.dumps(error))):
        assert str(other) == f"{visible(label)} is not there"
    with pytest.warns(FastfairWarning) as caught:
        warnings.warn(f"left out: {label}", DroppedWarning, stacklevel=1)
    assert str(caught[0].message) == f"left out: {visible(label)}"
    for call in (
        lambda: ff.Comparisons.from_frame(pl.DataFrame({label: [0.5]}), score="score"),
        lambda: ff.read_comparisons(f"/nowhere/{label}.csv"),
        lambda: ff.Comparisons([0.9, 0.1], [1, 0], reference_group={label: ["a", ""]}),
    ):
        with pytest.raises(InputError) as raised:
            call()
        assert not SAFE.search(str(raised.value))
        assert "\n" not in str(raised.value)


def test_plots_draw_labels_as_they_are_written(comparisons):
    pyplot = pytest.importorskip("matplotlib.pyplot")
    counts = ff.FailureCounts(
        [1, 0, 2, 1] * 7, [4, 5, 4, 5] * 7, np.repeat(np.array(WILD, object), 4)
    )
    ax = ff.margin_of_error(counts, n_resamples=50, rng=0).plot()
    ax.figure.canvas.draw()
    texts = [text for text in ax.get_yticklabels() if text.get_text()]
    assert [text.get_text() for text in texts] == [drawn(group) for group in counts.groups]
    assert [text._preprocess_math(text.get_text()) for text in texts] == [
        (drawn(group).replace(r"\$", "$"), False) for group in counts.groups
    ]
    pyplot.close(ax.figure)
    assert comparisons.groups == counts.groups


def test_numbers_have_as_many_digits_as_their_interval_supports():
    rates = {
        (0.166, 0.150, 0.183): "16.6 % [15.0, 18.3]",
        (0.22, 0.04, 0.63): "22 % [4, 63]",
        (0, 0, 0.04): "0 % [0, 4.0]",
        (0.0033, 0.0005, 0.0228): "0.33 % [0.05, 2.28]",
        (0.0006, 1e-5, 0.0974): "0.06 % [<0.01, 9.74]",
        (0.00142, 0.00115, 0.00175): "0.142 % [0.115, 0.175]",
        (1.01e-5, 3e-6, 3e-5): "0.0010 % [0.0003, 0.0030]",
        (0.985, 0.961, 0.9997): "98.5 % [96.1, >99.9]",
        (0.0002, -0.034, 0.035): "0.0 % [-3.4, 3.5]",
        (1, 0.2, 1): "100 % [20, 100]",
        (1e-3, 1e-3, 1e-3): "0.1 %",
        (0.12345, None, None): "12.3 %",
        (np.nan, 0, 1): "–",
    }
    assert {ends: rate_with_interval(*ends) for ends in rates} == rates
    numbers = {
        (1.026, 1, 1.156): "1.026 [1.000, 1.156]",
        (0.9975, 0.9896, 1.0): "0.9975 [0.9896, 1.0000]",
        (np.inf, 2, np.inf): "infinite [2, infinite]",
        (2.5, 2, np.inf): "2.50 [2.00, infinite]",
        (0.25, None, None): "0.25",
    }
    assert {ends: number_with_interval(*ends) for ends in numbers} == numbers
    assert interval_of_rate(0.1, 0.2) == "[10.0, 20.0] %"
    assert [cell(one) for one in (None, True, 1234, 0.5, np.nan)] == [
        "–",
        "yes",
        "1,234",
        "0.5",
        "–",
    ]
