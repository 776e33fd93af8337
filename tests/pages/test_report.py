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
from fastfair._lib.tables import by_rows
from fastfair.errors import InputError, OutputError

AT = [ff.at_fmr(0.05)]
HOSTILE = ("<img src=x onerror=alert(1)>", "</script><b>\"quoted\" & 'so'</b>", "\x1b[31mred\nline", "{{ 7 * 7 }} $x$")
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
    sides = [{"sex": group[who % len(labels)], "age": age[who // len(labels) % 2]} for who in (reference, probe)]
    scores = np.random.default_rng(seed + system).normal(size=n) + 2.5 * mated
    return ff.Comparisons(scores, mated, reference, probe, *sides)


@cache
def evaluation(*grouping: str) -> ff.Evaluation:
    return ff.evaluate(comparisons().by(*grouping), AT, n_resamples=100, rng=0)


def written(tmp_path, results, **options) -> tuple[str, Page]:
    ff.report(results, tmp_path / "report.html", **options)
    text = (tmp_path / "report.html").read_text("utf-8")
    return text, Page(text)


def embedded(text: str) -> dict:
    content = json.loads(text[text.index('id="numbers">') + 13 : text.index("</script>")])
    return content | {"results": list(map(by_rows, content["results"]))}


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
    assert [name for name in ("By sex", "By age", "By sex & age") if f">{name.replace('&', '&amp;')}</h2>" in text] == [
        "By sex", "By age", "By sex & age",
    ]  # fmt: skip
    assert "Do false non-match rates differ between groups?" in "".join(page.text)
    numbers = embedded(text)["results"]
    for result, found in zip(results, numbers, strict=True):
        content = json.loads(result.to_json())
        assert all(found[name] == value for name, value in content.items() if name not in ("traces", "together"))
    content = json.loads(text[text.index('id="numbers">') + 13 : text.index("</script>")])["results"][0]
    columns = content["quantities"]["table"]
    assert columns["estimate"] == [one.estimate for one in results[0].quantities]
    assert columns["group"]["categories"] == ["f", "m"]
    named = [[*columns["group"]["categories"], None][code] for code in columns["group"]["codes"]]
    assert named == [one.group for one in results[0].quantities]
    ev = results[0]
    q = ev.quantity("fnmr", "f", AT[0])
    row = next(row for row in page.rows if row[0] == "f" and len(row) == 7)
    assert row[1] == f"{100 * q.estimate:.3g}\N{NO-BREAK SPACE}% [{100 * q.low:.3g}, {100 * q.high:.3g}]"
    together = ev.with_intervals(simultaneous=True).quantity("fnmr", "f", AT[0])
    assert row[3] == f"[{100 * together.low:.3g}, {100 * together.high:.3g}]\N{NO-BREAK SPACE}%"
    assert row[5].rstrip("*") == f"{q.n_errors:,}"
    assert (row[5][-1] == "*") == (q.n_errors < 30)


@pytest.mark.filterwarnings("ignore::fastfair.errors.FastfairWarning")  # of few errors in small data
def test_what_is_to_be_known_of_curves_is_among_the_limits(tmp_path):
    """Few subjects cause most false matches, so that the intervals of the curve are likely too narrow."""
    rng = np.random.default_rng(0)
    who = np.arange(160)
    reference, probe = (one.ravel() for one in np.meshgrid(who, who, indexing="ij"))
    mated = reference == probe
    scores = rng.normal(size=mated.size) + 4 * mated + 3 * (np.minimum(reference, probe) < 8)
    c = ff.Comparisons(scores, mated, reference, probe)
    ev = ff.evaluate(c, AT, n_resamples=100, rng=0)
    band = ff.roc_band(c, np.geomspace(0.02, 0.5, 8), n_resamples=100, rng=0)
    assert "likely too narrow" in band.note
    _, page = written(tmp_path, ev)
    said = "".join(page.text).replace("\N{NO-BREAK SPACE}", " ")
    where, remark = band.note.split("; ")[0].split(": ", 1)
    assert f"DET curves: {remark}" in said
    assert where.startswith("FMR")
    assert "all at FMR" in said


def test_curves_without_replicates_and_of_few_comparisons_have_no_bands(tmp_path):
    _, page = written(tmp_path, ff.evaluate(comparisons().by("sex"), AT, n_resamples=0, incomplete_groups="nan"))
    assert "Band of the whole curve" not in "".join(page.text)
    few = ff.Comparisons(
        [0.9, 0.3, 0.7, 0.4, 0.1, 0.6], [1, 1, 1, 0, 0, 0], list("abcabc"), list("abcbca"), list("fmffmf")
    )
    _, page = written(tmp_path, ff.evaluate(few, AT, n_resamples=20, rng=0, incomplete_groups="nan"))
    assert "Band of the whole curve" not in "".join(page.text)
    assert "Too few comparisons for a band: f, m." in "".join(page.text)


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
    drawings = [a for tag, a in page.attributes if tag == "div" and a.get("class") == "drawing"]
    assert len(drawings) == page.tags["figure"] == page.tags["svg"] > 10
    assert all(a["role"] == "img" and len(a["aria-label"]) > 30 for a in drawings)
    assert page.tags["table"] >= 10
    assert page.tags["h1"] == 1
    assert {font.strip() for font in re.findall(r"font-family:([^;\"]*)", text)} == {"sans-serif"}  # of the reader


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
            [0.9, 0.3, 0.7, 0.6, 0.4, 0.1, 0.6, 0.2], [1, 1, 1, 1, 0, 0, 0, 0], list("abcdabcd"), list("abcdcbac"),
            list("ffmnffmm"), label_conflicts="drop",
        )  # fmt: skip
    with pytest.warns(ff.errors.DroppedWarning):
        ev = ff.evaluate(c, AT, n_resamples=0, incomplete_groups="drop")
    text, page = written(tmp_path, ev)
    assert f"Left out: {c.left_out[0]}." in "".join(page.text)
    dropped = [group for group in ev.groups if group not in ev.measured_groups]
    assert dropped
    assert f"Left out of the measures, as they lack mated or non-mated comparisons: {', '.join(dropped)}." in "".join(
        page.text
    )
    assert embedded(text)["results"][0]["left_out"] == [c.left_out[0]]
    with pytest.warns(ff.errors.FastfairWarning):
        two = ff.compare(c, c, AT, n_resamples=20, rng=0, incomplete_groups="nan")
    two.report(tmp_path / "two.html")
    assert f"Left out: {c.left_out[0]}." in "".join(Page((tmp_path / "two.html").read_text("utf-8")).text)


def test_the_same_results_make_the_same_page(page_of_sex, tmp_path):
    assert written(tmp_path, evaluation("sex"))[0] == page_of_sex[0]


def test_inputs_are_named_with_their_hash(tmp_path):
    source = tmp_path / "a <b>.csv"
    source.write_bytes(b"scores")
    text, page = written(tmp_path, evaluation("sex"), inputs=source)
    digest = hashlib.sha256(b"scores").hexdigest()
    assert [str(source), digest] in page.rows
    assert embedded(text)["inputs"] == {str(source): digest}
    refused("cannot be read", ff.report, evaluation("sex"), tmp_path / "report.html", inputs=[tmp_path / "nothing.csv"])
    for what in ("/dev/zero", tmp_path):
        with pytest.raises(InputError, match="is a folder, a pipe or a device: name the files that were read"):
            ff.report(evaluation("sex"), tmp_path / "report.html", inputs=what)


@pytest.mark.slow
def test_pages_of_many_groups_name_each(tmp_path):
    labels = tuple(f"group {k} " + "x" * 50 for k in range(40))
    ev = ff.evaluate(comparisons(labels, 400 * len(labels)).by("sex"), AT, n_resamples=0, incomplete_groups="nan")
    ev.report(tmp_path / "page.html")
    page = Page((tmp_path / "page.html").read_text("utf-8"))
    named = Counter(row[0] for row in page.rows)
    assert all(named[group] >= 5 for group in ev.groups)  # data, curves, rates, matrix, scores


def test_what_a_page_cannot_show_is_refused(tmp_path):
    refused("results must be results, such as evaluate", ff.report, [evaluation("sex"), 5], tmp_path / "report.html")
    refused("results must be", ff.report, [], tmp_path / "report.html")
    with pytest.raises(OutputError):
        evaluation("sex").report("/dev/null/report.html")
