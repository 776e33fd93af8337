"""`discard_curve`: counts, cuts, areas and their errors as the oracle finds them; ties, groups and
bad input."""

from __future__ import annotations

import json
import math
from fractions import Fraction
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pytest
from helpers.command_line import run
from helpers.each import each
from helpers.quiet import quietly
from helpers.refusals import refused
from hypothesis import given
from hypothesis import strategies as st
from oracles import discarding, resampling
from scipy.stats import chi2

import fastfair as ff
from fastfair.errors import EmptyGroupWarning, FastfairWarning, InputError
from fastfair.quality import DiscardCurve, area_of, cuts_of, interval_of_few, standard_error
from fastfair.resampling.pair_source import SortedComparisons
from fastfair.resampling.units import Units

AT = ff.at_threshold(0.5)


def drawn(
    seed: int, n_subjects: int = 12, n: int = 60, levels: int = 8, groups: int = 2
) -> tuple[ff.Comparisons, list[int], list[dict[str, object]]]:
    """Return comparisons of random scores, the quality of each, and the same as rows."""
    rng = np.random.default_rng(seed)
    reference = rng.integers(0, n_subjects, n)
    mated = np.arange(n) % 2 == 0
    probe = np.where(mated, reference, (reference + rng.integers(1, n_subjects, n)) % n_subjects)
    scores, quality = rng.random(n).round(2), rng.integers(0, levels, n)
    c = ff.Comparisons(scores, mated, reference, probe, reference % groups, probe % groups)
    rows = [
        {
            "score": float(s),
            "mated": bool(m),
            "a": int(a),
            "b": int(b),
            "q": int(q),
            "group": str(a % groups) if a % groups == b % groups else None,
        }
        for s, m, a, b, q in zip(scores, mated, reference, probe, quality, strict=True)
    ]
    return c, quality.tolist(), rows


@quietly()
def curve(c: ff.Comparisons, quality: object, **asked: object) -> DiscardCurve:
    return ff.discard_curve(c, asked.pop("at", AT), quality, **asked)


@given(seed=st.integers(0, 10**6), rate=st.sampled_from(["fnmr", "fmr"]), levels=st.integers(1, 12))
def test_counts_rates_and_shares_are_those_of_the_oracle(seed, rate, levels):
    c, quality, rows = drawn(seed, levels=levels)
    found = curve(c, quality, rate=rate, fractions=[0, 0.2, 0.45, 0.9])
    of_class = [row for row in rows if row["mated"] == (rate == "fnmr")]
    for one in found.rates:
        assert one.cut == discarding.cut([row["q"] for row in of_class], one.fraction)
        inside = [row for row in of_class if one.group is None or row["group"] == one.group]
        wrong = [(row["score"] < 0.5) == (rate == "fnmr") for row in inside]
        errors, kept = discarding.rate_above([row["q"] for row in inside], wrong, one.cut)
        assert (one.n_errors, one.n_comparisons) == (errors, kept)
        assert one.estimate == errors / kept if kept else math.isnan(one.estimate)
        if inside:
            assert one.discarded == pytest.approx(1 - kept / len(inside), abs=1e-15)
        if one.group is None:
            assert one.discarded <= one.fraction
        for low, value, high in (
            (one.low, one.estimate, one.high),
            (one.discarded_low, one.discarded, one.discarded_high),
        ):
            assert math.isnan(low) or 0 <= low <= value <= high <= 1


@given(
    seed=st.integers(0, 10**6),
    n=st.integers(1, 25),
    levels=st.integers(1, 9),
    limit=st.fractions(Fraction(1, 50), 1),
)
def test_the_area_and_what_each_comparison_adds_are_those_of_the_oracle(seed, n, levels, limit):
    rng = np.random.default_rng(seed)
    limit = Fraction(min(float(limit), 0.99))
    quality, wrong, inside = rng.integers(0, levels, n), rng.random(n) < 0.4, rng.random(n) < 0.8
    area, added, most = area_of(quality.astype(float), wrong, inside, float(limit))
    expected = discarding.area(quality.tolist(), wrong.tolist(), inside.tolist(), limit)
    if expected is None:
        assert math.isnan(area)
        return
    assert area == pytest.approx(float(expected), abs=1e-14)
    below = {Fraction(int((quality < level).sum()), n) for level in range(levels + 1)}
    if not any(abs(float(share - limit)) < 1e-5 for share in below):  # there the area has a kink
        for c in range(n):
            of_one = discarding.added(quality.tolist(), wrong.tolist(), inside.tolist(), limit, c)
            assert added[c] == pytest.approx(of_one, abs=1e-6)
    assert added.sum() == pytest.approx(0, abs=1e-12)
    for c in np.flatnonzero(inside & ~wrong):
        one_more = np.where(np.arange(n) == c, True, wrong)
        grown = discarding.area(quality.tolist(), one_more.tolist(), inside.tolist(), limit)
        assert area < grown <= Fraction(area + most) + Fraction(1, 10**12)


@given(counts=st.integers(1, 30), each=st.floats(0.01, 5))
def test_the_interval_of_errors_that_weigh_alike_is_that_of_a_poisson_count(counts, each):
    low, high = interval_of_few(counts * each, counts**0.5 * each, each, 0.95)
    exact = chi2.ppf(0.025, 2 * counts) / 2, chi2.ppf(0.975, 2 * counts + 2) / 2
    assert (low, high) == pytest.approx((exact[0] * each, exact[1] * each), rel=1e-9)
    assert interval_of_few(0.0, 0.0, each, 0.95)[1] == pytest.approx(-math.log(0.025) * each)


@given(seed=st.integers(0, 10**6), mated=st.booleans())
def test_the_standard_error_of_an_area_is_the_dyadic_robust_one(seed, mated):
    c, _, rows = drawn(seed)
    values = np.random.default_rng(seed).normal(size=30)
    values -= values.mean()
    kept = SortedComparisons(c, mated, Units.of_comparisons(c, "subject"), None)
    in_order = [rows[row] for row in kept.side.rows]
    dyads = [
        (float(value), row["a"], None if mated else row["b"])
        for value, row in zip(values, in_order, strict=True)
    ]
    strata = {k: k % 2 for k in {row[end] for row in rows for end in "ab"}}
    sizes = {s: sum(one == s for one in strata.values()) for s in (0, 1)}
    variances = (
        resampling.dyadic_variance(dyads, strata, sizes),
        resampling.product_variance(dyads, strata, sizes),
    )
    assert standard_error(kept, values) == pytest.approx(30 * math.sqrt(min(variances)), rel=1e-9)


@given(seed=st.integers(0, 10**6))
def test_the_order_of_comparisons_changes_nothing(seed):
    c, quality, rows = drawn(seed, levels=3)
    order = np.random.default_rng(seed).permutation(len(rows))
    groups = [[str(row[end] % 2) for row in rows] for end in "ab"]
    columns = [
        np.array([row[name] for row in rows])[order] for name in ("score", "mated", "a", "b")
    ]
    other = ff.Comparisons(*columns, *(np.array(group)[order] for group in groups))
    assert curve(c, quality).to_json() == curve(other, np.array(quality)[order]).to_json()


def test_the_lower_quality_of_both_samples_counts():
    c, quality, _ = drawn(3)
    higher = [one + k % 3 for k, one in enumerate(quality)]
    assert (
        curve(c, (quality, higher)).to_json()
        == curve(c, quality).to_json()
        == curve(c, (higher, quality)).to_json()
    )


def test_the_threshold_stays_that_of_all_comparisons():
    c, quality, _ = drawn(4)
    found = curve(c, quality, at=ff.at_fmr(0.2))
    assert found.threshold == ff.rates(c, ff.at_fmr(0.2)).threshold
    assert curve(c, quality, at=ff.at_threshold(found.threshold)).rates == found.rates


def test_without_discarding_rates_are_those_of_evaluate():
    c, quality, _ = drawn(5, n=400, n_subjects=60)
    of_all = ff.evaluate(c, AT, [], metrics=[], n_resamples=0)
    for rate in ("fnmr", "fmr"):
        for group in (None, "0", "1"):
            row, quantity = curve(c, quality, rate=rate).of(group)[0], of_all.quantity(rate, group)
            assert (row.estimate, row.low, row.high) == (
                quantity.estimate,
                quantity.low,
                quantity.high,
            )


def test_no_errors_have_an_upper_limit_that_grows_as_comparisons_are_discarded():
    n = 200
    people = np.repeat(np.arange(n), 2)
    probe = np.where(np.arange(2 * n) % 2 == 0, people, (people + 1) % n)
    c = ff.Comparisons(np.tile([0.9, 0.1], n), np.tile([1, 0], n), people, probe)
    found = curve(c, np.arange(2 * n), fractions=[0, 0.5])
    first, last = found.rates
    assert first.estimate == last.estimate == 0
    assert 3.6 / n < first.high < last.high < 4 / (n / 2)
    assert (found.area().estimate, found.area().low, found.area().high) == (0, 0, 0.5 * last.high)


def test_a_group_of_which_nothing_is_left_is_nan_with_a_warning():
    c, quality, rows = drawn(6)
    low = [-1 if row["group"] == "0" else one + 1 for row, one in zip(rows, quality, strict=True)]
    with pytest.warns(EmptyGroupWarning, match="'0' from 0.8 on"):
        found = ff.discard_curve(c, AT, low, fractions=[0, 0.8])
    assert math.isnan(found.of("0")[-1].estimate)
    assert found.of("0")[-1].discarded == 1
    assert math.isnan(found.area("0").estimate)
    assert found.of("1")[-1].n_comparisons > 0
    assert "NaN" not in found.to_json()


@each(
    ("quality", "asked", "told"),
    [
        ([1.0], {}, "one value for each of the 60"),
        ([math.nan] * 60, {}, "is nan in row 0"),
        (None, {}, "there is no quality"),
        ([1.0] * 60, {"fractions": [0.5, 0.1]}, "must ascend"),
        ([1.0] * 60, {"fractions": [0, 1]}, r"in \[0, 1\)"),
        ([1.0] * 60, {"fractions": [0]}, "a share above 0"),
        ([1.0] * 60, {"rate": "eer"}, "rate"),
        (([1.0] * 60,) * 3, {}, "pair of arrays"),
    ],
)
def test_bad_input_is_refused(quality, asked, told):
    refused(told, ff.discard_curve, drawn(0)[0], AT, quality, **asked)


def test_subjects_are_needed():
    refused("have no subjects", ff.discard_curve, ff.Comparisons([0.9, 0.1], [1, 0]), AT, [1, 2])


def test_quality_is_read_with_the_scores(tmp_path):
    _, quality, rows = drawn(8)
    path = tmp_path / "scores.csv"
    lines = [
        f"{r['score']},{int(r['mated'])},{r['a']},{r['b']},{r['q'] + 1},{r['q']}" for r in rows
    ]
    path.write_text(
        "\n".join(["score,mated,reference,probe,reference_quality,probe_quality", *lines])
    )
    expected = curve(ff.read_comparisons(path), quality).to_json()
    for named in (
        "quality",
        ("reference_quality", "probe_quality"),
        ("probe_quality", "probe_quality"),
    ):
        assert (
            curve(ff.read_comparisons(path, layout=ff.Layout(quality=named)), None).to_json()
            == expected
        )
    refused(
        "no column 'sharpness'", ff.read_comparisons, path, layout=ff.Layout(quality="sharpness")
    )
    with pytest.raises(InputError, match="has no named columns, so leave quality= out"):
        ff.read_comparisons(
            "docs/samples/bob-4.txt", layout=ff.Layout(quality="quality", format="bob-4")
        )


def test_failed_comparisons_that_are_left_out_need_no_quality(tmp_path):
    _, quality, rows = drawn(11)
    path = tmp_path / "scores.csv"
    lines = [f"{r['score']},{int(r['mated'])},{r['a']},{r['b']},{r['q']}" for r in rows]
    path.write_text(
        "\n".join(["score,mated,reference,probe,quality", *lines, ",1,1,1,", ",0,1,2,"])
    )
    with pytest.warns(FastfairWarning, match="2 of 62"):
        read = ff.read_comparisons(
            path, layout=ff.Layout(quality="quality"), policies=ff.Policies(failures="exclude")
        )
    expected = curve(
        ff.Comparisons(*([r[k] for r in rows] for k in ("score", "mated", "a", "b"))), quality
    )
    assert curve(read, None).to_json() == curve(read, [*quality, math.nan, 0]).to_json()
    for name in ("cut", "estimate", "low", "high", "n_errors", "n_comparisons"):
        found, whole = (
            [getattr(row, name) for row in one.rates] for one in (curve(read, None), expected)
        )
        assert found == pytest.approx(whole, rel=1e-9)
    refused("one value for each of the 62", curve, read, quality)


def test_results_are_tables_json_plots_and_pages(tmp_path):
    c, quality, _ = drawn(9)
    found = curve(c, quality)
    assert found.to_frame().shape == (33, 14)
    content = json.loads(found.to_json())
    assert [row["group"] for row in content["areas"]] == [None, "0", "1"]
    assert found.plot().get_xlabel() == "Share of mated comparisons discarded"
    assert len(found.plot(show="discarded").get_lines()) == 3
    refused("group", found.of, "2")
    ff.report(found, tmp_path / "page.html")
    assert "discarding comparisons of low quality" in (tmp_path / "page.html").read_text()
    (read,) = ff.read_results(tmp_path / "page.html")
    assert json.loads(read.to_json()) == content
    lines = [
        [line.get_xydata().tolist() for line in one.plot().get_lines()] for one in (read, found)
    ]
    assert lines[0] == lines[1]


@given(values=st.lists(st.integers(0, 5), min_size=1, max_size=20), share=st.floats(0, 0.99))
def test_cuts_are_those_of_the_oracle(values, share):
    assert cuts_of(np.array(values, float), np.array([share]))[0] == discarding.cut(values, share)


@pytest.fixture
def images(tmp_path) -> tuple[Path, pl.DataFrame, pl.DataFrame]:
    """Scores of images, and a table of their quality, of which the right curve is made by hand."""
    rng = np.random.default_rng(3)
    names = np.array([f"p{person}/{k}.png" for person in range(40) for k in range(4)])
    a = rng.integers(0, 160, 400)
    b = np.where(
        rng.random(400) < 0.5, a // 4 * 4 + (a + 1) % 4, (a + 4 * rng.integers(1, 40, 400)) % 160
    )
    scores = rng.normal(size=400) + 2.5 * (a // 4 == b // 4)
    table = pl.DataFrame(
        {"Filename": names, "Q.scalar": rng.integers(0, 101, 160), "sex": ["f", "m"] * 80}
    )
    pairs = pl.DataFrame({"reference": names[a], "probe": names[b], "score": scores})
    return tmp_path, pairs, table


PATTERN = {"subject_pattern": "^(p[0-9]+)/"}
OF_TABLE = ff.at_fmr(0.05)


def by_hand(pairs: pl.DataFrame, table: pl.DataFrame) -> ff.quality.DiscardCurve:
    of_image = dict(table.select("Filename", "Q.scalar").iter_rows())
    sides = tuple(
        np.array([of_image[name] for name in pairs[side]], float) for side in ("reference", "probe")
    )
    return ff.discard_curve(ff.read_comparisons(pairs, **PATTERN), OF_TABLE, sides)


def test_quality_of_images_is_read_from_a_table(images):
    folder, pairs, table = images
    expected = by_hand(pairs, table).to_json()
    path = folder / "q.csv"
    table.write_csv(path)
    of_metadata = {"metadata": path, "layout": ff.Layout(quality="Q.scalar", metadata_per="sample")}
    for options in (
        {"layout": ff.Layout(quality="Q.scalar", quality_table=path)},
        {"layout": ff.Layout(quality="Q.scalar", quality_table=table.reverse())},
        of_metadata,
    ):
        c = ff.read_comparisons(pairs, **PATTERN, **options)
        assert ff.discard_curve(c, OF_TABLE).to_json() == expected
    c = ff.read_comparisons(pairs, **PATTERN, **of_metadata, groups="sex")
    assert curve(c, None, at=OF_TABLE).groups == ("f", "m")
    missing = ff.Layout(quality="Q.scalar", quality_table=table[4:])
    refused(
        "4 of 159 samples have no quality in quality_table",
        ff.read_comparisons,
        pairs,
        **PATTERN,
        layout=missing,
    )
    excluding = ff.read_comparisons(
        pairs, **PATTERN, layout=missing, policies=ff.Policies(failures="exclude")
    )
    left = curve(excluding, None, at=OF_TABLE)
    has_both = ~(pairs["reference"].str.starts_with("p0/") | pairs["probe"].str.starts_with("p0/"))
    (one,) = left.left_out
    assert (one.n, one.n_before, one.because) == (
        400 - int(has_both.sum()),
        400,
        "as they have no quality",
    )
    kept = by_hand(pairs.filter(has_both), table)
    for name in ("cut", "estimate", "n_errors", "n_comparisons"):
        assert [getattr(row, name) for row in left.rates] == [
            getattr(row, name) for row in kept.rates
        ]
    layout = ff.Layout(quality="Q.scalar")
    refused(
        "To read quality from a table .* as layout=Layout\\(quality_table=",
        ff.read_comparisons,
        pairs,
        **PATTERN,
        layout=layout,
    )
    layout = ff.Layout(quality_table=table)
    refused(
        "quality_table is given without quality",
        ff.read_comparisons,
        pairs,
        **PATTERN,
        layout=layout,
    )


def test_headers_that_end_with_their_separator(images):
    """As OFIQ writes them: with the separator at the end of rows, and without."""
    folder, pairs, table = images
    expected = by_hand(pairs, table).to_json()
    rows = [
        "Filename;Q;Q.scalar;",
        *(f"{name};0.5;{quality}" for name, quality, _ in table.iter_rows()),
    ]
    ends = (
        "\n".join(rows),
        "\n".join([rows[0], *(f"{row};" for row in rows[1:])]),
        "\r\n".join(rows),
    )
    for text in (*ends, "\n".join(rows).replace(";", ",")):
        (folder / "ofiq.csv").write_text(text, newline="")
        layout = ff.Layout(quality="Q.scalar", quality_table=folder / "ofiq.csv")
        assert (
            ff.discard_curve(
                ff.read_comparisons(pairs, **PATTERN, layout=layout), OF_TABLE
            ).to_json()
            == expected
        )
    (folder / "ofiq.csv").write_text("\n".join([rows[0], "p0/0.png;1"]))
    refused("expected 4 fields", ff.read_comparisons, pairs, **PATTERN, layout=layout)


@pytest.mark.parametrize(
    ("header", "failed", "quality"),
    [
        ("Filename;Q;Q.scalar", "0;-1", "Q.scalar"),  # of OFIQ
        ("Filename;Q;Q.scalar", "0;-1", "Q"),
        ("Filename,NFIQ2Score,Quantized", "255,0", "NFIQ2Score"),
        ("Filename,QualityScore,OptionalError", "255,no fingerprint", "QualityScore"),
        ("Filename,QualityScore,OptionalError", "-1,no fingerprint", "QualityScore"),
        ("Filename,QualityScore,OptionalError", "NA,no fingerprint", "QualityScore"),
    ],
)
def test_codes_of_failures_are_no_quality(images, header, failed, quality):
    folder, pairs, table = images
    by = ";" if ";" in header else ","
    names = table.to_series(0).to_list()
    rows = [f"{name}{by}{20 + k}{by}{30 + k}" for k, name in enumerate(names[:-1])]
    for last, message in ((failed, "255|-1|NA|missing"), (f"40{by}50", None)):
        (folder / "q.csv").write_text("\n".join([header, *rows, f"{names[-1]}{by}{last}"]))
        layout = ff.Layout(quality=quality, quality_table=folder / "q.csv")
        if message is not None:
            refused(message, ff.read_comparisons, pairs, **PATTERN, layout=layout)
        read = ff.read_comparisons(
            pairs, **PATTERN, layout=layout, policies=ff.Policies(failures="exclude")
        )
        values = np.concatenate(read.quality)
        assert np.isnan(values).any() == (message is not None)
        assert np.nanmin(values) >= 20
        assert np.nanmax(values) < 255


def test_the_command_reads_quality_from_a_table(images):
    folder, pairs, table = images
    pairs.write_csv(folder / "s.csv")
    table.write_csv(folder / "q.csv")
    words = [
        "discard",
        folder / "s.csv",
        "--at",
        "fmr=0.05",
        "--subject-pattern",
        PATTERN["subject_pattern"],
        "--quality",
        "Q.scalar",
        "--quality-table",
        folder / "q.csv",
        "--json",
    ]
    found = json.loads(run(*words).stdout)
    assert found["rates"] == json.loads(by_hand(pairs, table).to_json())["rates"]
    assert found["inputs"] == [str(folder / "s.csv"), str(folder / "q.csv")]
    done = run(*words[:6], "--reference-quality", "a", "--probe-quality", "b", *words[8:])
    assert "--quality-table has one column of quality" in done.output


def test_comparisons_without_quality_are_left_out_where_failures_are():
    """Whichever side lacks it; elsewhere the message says what would do, and does not go round in
    circles."""
    c, quality, rows = drawn(5)
    lacking = [k for k in range(len(rows)) if k % 7 == 0]
    sides = tuple(np.array(quality, float) for _ in range(2))
    sides[0][lacking], sides[1][lacking[:3]] = math.nan, math.nan
    refused(
        'quality of the reference is nan in row 0 .* failures="exclude" leaves comparisons without',
        curve,
        c,
        sides,
    )
    columns = [[r[k] for r in rows] for k in ("score", "mated", "a", "b")]
    excluding = ff.Comparisons(*columns, policies=ff.Policies(failures="exclude"))
    found = curve(excluding, sides)
    (one,) = found.left_out
    assert str(one).startswith(
        f"{len(lacking)} of {len(rows)} comparisons left out, as they have no quality"
    )
    kept = [k for k in range(len(rows)) if k not in lacking]
    alone = ff.Comparisons(*([column[k] for k in kept] for column in columns))
    expected = curve(alone, [quality[k] for k in kept])
    for name in ("cut", "estimate", "low", "high", "n_errors", "n_comparisons"):
        found_rows, expected_rows = (
            [getattr(row, name) for row in one.rates] for one in (found, expected)
        )
        assert found_rows == pytest.approx(expected_rows, rel=1e-9)
    marked = [None if k in lacking else quality[k] for k in range(len(rows))]
    for column in (
        marked,
        pl.Series(marked),
        pd.Series([pd.NA if one is None else one for one in marked]),
    ):
        assert curve(excluding, column).to_json() == curve(excluding, sides[0]).to_json()
    refused("is inf in row", curve, excluding, [math.inf, *quality[1:]])
    refused("no mated or no non-mated", curve, excluding, [math.nan] * len(rows))
