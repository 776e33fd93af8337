"""What a notebook shows of results: short, and with labels as text."""

from __future__ import annotations

import sys
from html.parser import HTMLParser
from pathlib import Path

import numpy as np

import fastfair as ff
from fastfair._lib.notebook import Shown
from fastfair.bands.curve import FairnessBand, RocBand
from fastfair.claims import Claim
from fastfair.evaluation.result import Evaluation
from fastfair.evaluation.system_comparison import SystemComparison
from fastfair.group_tests.equal_rates import GroupTest, MarginOfError
from fastfair.planning.fmr import FmrPlan
from fastfair.planning.fnmr import GroupsPlan

sys.path.insert(0, str(Path(__file__).parents[1] / "fuzz"))
import valid_calls


def shown() -> list[str]:
    """Return the names of what has a view for notebooks."""
    return sorted(name for name, one in valid_calls.made().items() if isinstance(one, Shown))


class Read(HTMLParser):
    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: list[str] = []
        self.text = ""
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        self.open.append(tag)
        self.tags.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text += data


def test_results_show_themselves_in_short():
    for name in shown():
        result = valid_calls.made()[name]
        read = Read(result._repr_html_())
        assert type(result).__name__ in read.text
        assert len(read.text) < 6000
        assert read.tags.count("tr") <= 21 * max(1, read.tags.count("table"))
        assert len(repr(result)) < 200
        assert repr(result).startswith(type(result).__name__)
        assert "\n" not in repr(result)


def test_tests_plans_bands_and_evaluations_are_among_them():
    classes = {type(valid_calls.made()[name]) for name in shown()}
    assert {
        Evaluation,
        SystemComparison,
        RocBand,
        FairnessBand,
        GroupTest,
        MarginOfError,
        GroupsPlan,
        FmrPlan,
        Claim,
        ff.FailureCounts,
    } <= classes


def test_tables_hold_counts_rates_and_escaped_labels():
    label = "<img src=x onerror=alert(1)>\x1b"
    group = np.array([label, "m"], dtype=object)[np.arange(40) % 2]
    c = ff.Comparisons(np.arange(40.0), np.arange(40) % 4 > 1, reference_group=group)
    ev = ff.evaluate(c, ff.at_threshold(20), n_resamples=0)
    read = Read(ev._repr_html_())
    assert "img" not in read.tags
    assert r"<img src=x onerror=alert(1)>\x1b" in read.text
    assert "20 mated and 20 non-mated" in read.text
    assert "50 %" in read.text


def test_an_evaluation_shows_rates_of_groups_with_intervals_before_measures():
    rng = np.random.default_rng(0)
    who = np.repeat(np.arange(80), 5)
    group = np.where(who % 2, "f", "m")
    mated = np.arange(who.size) % 5 > 1
    scores = rng.normal(size=who.size) + 2 * mated
    probe = np.where(mated, who, (who + 2) % 80)
    c = ff.Comparisons(scores, mated, who, probe, group, group)
    ev = ff.evaluate(c, ff.at_threshold(1), n_resamples=50, rng=0)
    text = Read(ev._repr_html_()).text
    places = [
        text.index(words) for words in ("Error rates at", "FNMR, % [95 %]", "Summaries of", "Gini")
    ]
    assert places == sorted(places)
    row = next(line for line in ev.summary().splitlines() if line.startswith("f "))
    assert row.split()[2] in text.replace("*", " ")


def test_notebooks_show_p_values():
    made = valid_calls.made()
    one = made["Comparisons"]
    shown = [
        next(one for one in made.values() if isinstance(one, kind)) for kind in (Claim, GroupTest)
    ]
    for result in (*shown, ff.compare(one, one, ff.at_fmr(0.3), n_resamples=20, rng=0)):
        assert any(
            word in result._repr_html_()
            for word in ("<th>p</th>", "djusted p</th>", ">p-value</th>")
        ), result


def test_long_tables_say_what_is_left_out():
    plan = ff.plan_margin(
        n_groups=2,
        n_subjects=np.arange(10, 410, 10),
        n_attempts=1,
        fnmr=0.1,
        correlation=0.0,
        n_simulations=20,
        rng=0,
    )
    assert "and 20 rows more" in Read(plan._repr_html_()).text
    assert repr(plan) == f"GroupsPlan({plan.summary()})"
    assert plan.summary().startswith("40 settings: margin of error from ")
