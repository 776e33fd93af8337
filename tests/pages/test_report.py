"""Reports: one file, valid, with every number of the result, and labels that stay text."""

from __future__ import annotations

import hashlib
import json
import re
from collections import Counter
from functools import cache
from html.parser import HTMLParser

import numpy as np
import pytest
from helpers.refusals import refused

import fastfair as ff
from fastfair._lib.tables import in_rows
from fastfair._lib.text import p_value, value_and_interval
from fastfair.errors import InputError, MissingDependencyError, OutputError
from fastfair.evaluation.result import Evaluation
from fastfair.pages.report import _without_words

AT = [ff.at_fmr(0.05)]
HOSTILE = (
    "<img src=x onerror=alert(1)>",
    "</script><b>\"quoted\" & 'so'</b>",
    "\x1b[31mred\nline",
    "{{ 7 * 7 }} $x$",
)
VOID = {"meta", "link", "br", "hr", "img", "input"}


class Page(HTMLParser):
    """A page, read strictly: every element is closed, and its text is kept."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: Counter[str] = Counter()
        self.attributes: list[tuple[str, dict[str, str | None]]] = []
        self.cells: list[str] = []
        self.rows: list[list[str]] = []
        self.text: list[str] = []
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        assert len(dict(attrs)) == len(attrs), f"an attribute twice in {tag}"
        self.tags[tag] += 1
        self.attributes.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)
        if tag == "tr":
            self.rows.append([])
        if tag in ("td", "th"):
            self.rows[-1].append("")

    def handle_startendtag(self, tag, attrs):
        assert tag not in ("div", "p", "script")
        self.tags[tag] += 1
        self.attributes.append((tag, dict(attrs)))

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text.append(data)
        if {"td", "th"} & set(self.open):
            self.rows[-1][-1] += data


def comparisons(labels=("f", "m"), n: int = 3000, seed: int = 0, system: int = 1) -> ff.Comparisons:
    rng = np.random.default_rng(seed)
    size = 12 * len(labels)
    reference, mated = rng.integers(0, size, n), rng.random(n) < 0.5
    probe = np.where(mated, reference, (reference + rng.integers(1, size, n)) % size)
    group, age = np.array(labels, dtype=object), np.array(["old", "young"], dtype=object)
    sides = [
        {"sex": group[who % len(labels)], "age": age[who // len(labels) % 2]}
        for who in (reference, probe)
    ]
    scores = np.random.default_rng(seed + system).normal(size=n) + 2.5 * mated
    return ff.Comparisons(scores, mated, reference, probe, *sides)


@cache
def evaluation(*grouping: str) -> Evaluation:
    return ff.evaluate(comparisons().by(*grouping), AT, n_resamples=100, rng=0)


def written(tmp_path, results, **options) -> tuple[str, Page]:
    ff.report(results, tmp_path / "report.html", **options)
    text = (tmp_path / "report.html").read_text("utf-8")
    return text, Page(text)


def embedded(text: str) -> dict:
    found: dict = json.loads(
        text[text.index('id="numbers">') + 13 : text.index("</script>")], object_hook=in_rows
    )
    return found


@pytest.fixture(scope="module")
def page_of_sex(tmp_path_factory) -> tuple[str, Page]:
    return written(tmp_path_factory.mktemp("sex"), evaluation("sex"))


@pytest.fixture(scope="module")
def study(tmp_path_factory) -> tuple[list, str, Page]:
    """Results of each grouping, and their page."""
    test = ff.fnmr_test(comparisons(), *AT, n_resamples=200, rng=0)
    results = [evaluation("sex"), evaluation("age"), evaluation("sex", "age"), test]
    return results, *written(tmp_path_factory.mktemp("study"), results, title="A study")


def test_a_page_has_each_grouping_and_all_numbers(study):
    results, text, page = study
    assert [
        name
        for name in ("By sex", "By age", "By sex & age")
        if f">{name.replace('&', '&amp;')}</h2>" in text
    ] == [
        "By sex",
        "By age",
        "By sex & age",
    ]
    fixed = "with the threshold held fixed"
    assert f"Do false non-match rates differ between groups, {fixed}?" in "".join(page.text)
    numbers = embedded(text)["results"]
    for result, found in zip(results, numbers, strict=True):
        content = json.loads(
            result.to_json(), object_hook=_without_words
        )  # of notes, which are made anew
        assert all(found[name] == value for name, value in content.items() if name != "traces")
    rows = numbers[0]["quantities"]
    assert [row["estimate"] for row in rows] == [one.estimate for one in results[0].quantities]
    assert [row["group"] for row in rows] == [one.group for one in results[0].quantities]
    q = results[0].quantity("fnmr", "f", AT[0])
    value, interval = value_and_interval(q.estimate, q.low, q.high, is_rate=True)
    row = next(
        row
        for row in page.rows
        if row[0] == "f" and f"{q.n_errors:,} of {q.n_comparisons:,}" in row
    )
    assert row[3].startswith(f"{value} {interval}")


def test_cells_have_all_their_looks(page_of_sex):
    """The matrix frames FMRs within groups, and those of few errors are in italics there as
    well."""
    _, page = page_of_sex
    looks = [set((of.get("class") or "").split()) for tag, of in page.attributes if tag == "td"]
    assert sum("own" in look for look in looks) == 2
    assert any({"own", "few"} <= look for look in looks)


def test_overall_numbers_stand_once(study):
    """The evaluations are of the same comparisons: the one with most groups tells them."""
    _, _, page = study
    told = "".join(page.text)
    assert told.count("Overall:") == told.count("Operating point") == 1
    named = [row[0] for row in page.rows if row[0] == "all" and len(row) > 4 and " of " in row[4]]
    assert len(named) == 1
    assert all(told.count(word) == 1 for word in ("Sex:", "Age:", "Sex & age:"))


def test_tests_and_requirements_stand_beside_the_evaluation(tmp_path):
    c, few = comparisons().by("sex"), {"n_resamples": 200, "rng": 0}
    ev = ff.evaluate(c, AT, **few)
    found = ff.check(c, ["fnmr <= 0.5", "fnmr[*] <= 0.15", "eer <= 0.001"], *AT, **few)
    results = [ev, found, ff.fnmr_test(c, *AT, **few), ff.fmr_test(c, *AT, **few)]
    text, page = written(tmp_path, results)
    told = " ".join("".join(page.text).replace("\N{NO-BREAK SPACE}", " ").split())
    for requirement, verdict in found.verdicts.items():
        assert f'<div class="card {verdict.replace(" ", "-")}">' in text, requirement
    assert (
        "1 met · 1 not met · 1 undecided" in told
        or list(found.verdicts.values()).count("undecided") != 1
    )
    for test in results[2:]:
        assert f"p = {p_value(test.pvalue)}" in told
    assert (
        page.tags["h2"] == 9
    )  # requirements, the answer, by sex, all limits, notes, glossary, method, data, citation
    assert f"{100 * found.rows[0].estimate:.3g} %" in told
    for one in found.rows[1:3]:
        row = next(row for row in page.rows if row[0] == one.group and len(row) > 7)
        assert " ".join(row[6].replace("?", "").split()) == one.verdict.capitalize()


def test_notes_stand_once_with_their_rows(tmp_path):
    """Each kind of note has one line and a letter, and numbers inside notes are left to the
    JSON."""
    c = comparisons(tuple("abcdefgh"), 1500).by("sex")
    ev = ff.evaluate(
        c,
        [ff.at_fmr(0.01)],
        n_resamples=50,
        rng=0,
        settings=ff.EvaluationSettings(incomplete_groups="nan"),
    )
    text, page = written(tmp_path, ev)
    listed = re.findall(r'<li id="note-([a-z])">', text)
    assert len(listed) >= 2
    assert listed == sorted(set(listed))
    assert set(re.findall(r'<sup><a href="#note-([a-z])">', text)) == set(listed)
    told = "".join(page.text)
    assert told.count("Fewer than 30 errors: the rate is rough.") == 1
    assert not re.search(
        r"for [\d,]+ independent comparisons", told[: told.index("{")] if "{" in told else told
    )
    kinds = {note.on_page for q in ev.quantities for note in q.notes}
    assert len(kinds) < 20
    assert not any(re.search(r"\d{2,} independent", kind) for kind in kinds)


@pytest.mark.parametrize("word", ["Words", "Origin", "open:", "cannot be told", "leave open"])
def test_terms_are_those_of_the_glossary(study, word):
    _, _, page = study
    assert word not in " ".join(text for text in page.text if "{" not in text)
    assert {"Glossary", "Data and settings", "Method", "Notes", "Citation"} <= set(page.text)


def test_a_page_is_one_valid_file(study):
    _, text, page = study
    assert text.startswith('<!DOCTYPE html>\n<html lang="en">')
    ids = [attributes["id"] for _, attributes in page.attributes if "id" in attributes]
    assert len(ids) == len(set(ids)) > 10
    for tag, attributes in page.attributes:
        for name, value in attributes.items():
            assert not name.startswith("on"), (tag, name)
            if name in ("href", "src") and tag != "link":
                assert value.startswith("#") or value.startswith("data:image/png"), (tag, value)
                assert not value.startswith("#") or value[1:] in ids, value
    assert page.tags["script"] == 1
    assert 'type="application/json"' in text
    drawings = [a for _, a in page.attributes if a.get("role") == "img"]
    assert len(drawings) == page.tags["figure"] > 10
    assert all(len(a["aria-label"]) > 10 for a in drawings)
    hidden = [
        a
        for tag, a in page.attributes
        if tag == "svg" and a.get("class") not in ("dot", "diamond", "arrow")
    ]
    assert all(a["aria-hidden"] == "true" for a in hidden)
    assert page.tags["table"] >= 10
    assert page.tags["h1"] == 1
    assert set(re.findall(r"font: [^;]*?(?:px|rem|pt)(?:/1.5)? ([^;]*);", text)) == {
        "system-ui, sans-serif"
    }  # the reader's


def test_labels_are_text(tmp_path):
    c = comparisons(HOSTILE)
    ev = ff.evaluate(c.by("sex"), AT, n_resamples=0)
    text, page = written(tmp_path, ev, title="<script>alert(1)</script>")
    assert page.tags["img"] == page.tags["b"] == 0
    assert page.tags["script"] == 1
    said = "".join(page.text)
    for label in (
        "<img src=x onerror=alert(1)>",
        "</script><b>\"quoted\" & 'so'</b>",
        r"\x1b[31mred\nline",
        "{{ 7 * 7 }} $x$",
    ):
        assert label in said
        assert label in {row[0] for row in page.rows}
    assert "\x1b" not in text
    assert "49" not in {row[0] for row in page.rows}
    assert embedded(text)["results"][0]["groups"] == list(ev.groups)


def test_what_was_left_out_is_said(tmp_path):
    with pytest.warns(ff.errors.DroppedWarning):
        c = ff.Comparisons(
            [0.9, 0.3, 0.7, 0.6, 0.4, 0.1, 0.6, 0.2],
            [1, 1, 1, 1, 0, 0, 0, 0],
            list("abcdabcd"),
            list("abcdcbac"),
            list("ffmnffmm"),
            policies=ff.Policies(label_conflicts="drop"),
        )
    with pytest.warns(ff.errors.DroppedWarning):
        ev = ff.evaluate(
            c, AT, n_resamples=0, settings=ff.EvaluationSettings(incomplete_groups="drop")
        )
    text, page = written(tmp_path, ev)
    assert f"{c.left_out[0]}." in "".join(page.text)
    dropped = [group for group in ev.groups if group not in ev.measured_groups]
    assert dropped
    assert (
        "Left out of the measures, as they lack mated or non-mated comparisons:"
        f" {', '.join(dropped)}." in "".join(page.text)
    )
    assert [row["sentence"] for row in embedded(text)["results"][0]["left_out"]] == [
        c.left_out[0].sentence
    ]
    with pytest.warns(ff.errors.FastfairWarning):
        two = ff.compare(
            c, c, AT, n_resamples=20, rng=0, settings=ff.EvaluationSettings(incomplete_groups="nan")
        )
    two.report(tmp_path / "two.html")
    assert f"first and second: {c.left_out[0]}." in "".join(
        Page((tmp_path / "two.html").read_text("utf-8")).text
    )


def test_the_same_results_make_the_same_page(page_of_sex, tmp_path):
    assert written(tmp_path, evaluation("sex"))[0] == page_of_sex[0]


def test_inputs_are_named_with_their_hash(tmp_path):
    source = tmp_path / "a <b>.csv"
    source.write_bytes(b"scores")
    text, page = written(tmp_path, evaluation("sex"), inputs=source)
    digest = hashlib.sha256(b"scores").hexdigest()
    assert [str(source), digest] in page.rows
    assert embedded(text)["inputs"] == {str(source): digest}
    refused(
        "cannot be read",
        ff.report,
        evaluation("sex"),
        tmp_path / "report.html",
        inputs=[tmp_path / "nothing.csv"],
    )
    for what in ("/dev/zero", tmp_path):
        with pytest.raises(
            InputError, match="is a folder, a pipe or a device: name the files that were read"
        ):
            ff.report(evaluation("sex"), tmp_path / "report.html", inputs=what)


@pytest.mark.slow
def test_pages_of_many_groups_name_each(tmp_path):
    labels = tuple(f"group {k} " + "x" * 50 for k in range(40))
    ev = ff.evaluate(
        comparisons(labels, 400 * len(labels)).by("sex"),
        AT,
        n_resamples=0,
        settings=ff.EvaluationSettings(incomplete_groups="nan"),
    )
    ev.report(tmp_path / "page.html")
    page = Page((tmp_path / "page.html").read_text("utf-8"))
    named = Counter(row[0] for row in page.rows)
    assert all(
        named[group] >= 3 for group in ev.groups
    )  # first screen, rates, summaries of all thresholds


def test_what_a_page_cannot_show_is_refused(tmp_path):
    refused(
        "results must be results, such as evaluate",
        ff.report,
        [evaluation("sex"), 5],
        tmp_path / "report.html",
    )
    refused("results must be", ff.report, [], tmp_path / "report.html")
    with pytest.raises(OutputError):
        evaluation("sex").report("/dev/null/report.html")


def test_a_pdf_is_never_a_page_under_another_name(tmp_path, monkeypatch):
    ev = ff.evaluate(comparisons().by("sex"), AT, n_resamples=0)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(MissingDependencyError, match=r"write it as \.html"):
        ff.report(ev, tmp_path / "page.pdf")
    assert not (tmp_path / "page.pdf").exists()
    fake = tmp_path / "chromium"
    fake.write_text("#!/bin/sh\necho it broke >&2\n")
    fake.chmod(0o700)
    with pytest.raises(OutputError, match="it broke"):
        ff.report(ev, tmp_path / "page.pdf")


@pytest.mark.browser
def test_chromium_makes_a_pdf(tmp_path):
    ff.report(ff.evaluate(comparisons().by("sex"), AT, n_resamples=0), tmp_path / "page.pdf")
    assert (tmp_path / "page.pdf").read_bytes().startswith(b"%PDF")


@pytest.mark.filterwarnings("ignore::fastfair.errors.FastfairWarning")
def test_an_evaluation_and_a_comparison_of_systems_stand_on_one_page(tmp_path):
    c, few = comparisons().by("sex"), {"n_resamples": 400, "rng": 0}
    ff.report([ff.evaluate(c, AT, **few), ff.compare(c, c, AT, **few)], tmp_path / "page.html")
    text = (tmp_path / "page.html").read_text("utf-8")
    assert len(re.findall(r'<h2 id="c\d', text)) == 2
