"""The page of paper 5: its numbers, the rules that judge its claims, and what it prints."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import polars as pl
import pytest
from helpers.data_sets import faces, lfw
from helpers.small_embeddings import small_embeddings
from oracles import naive

import fastfair as ff
from papers import uncertainty
from papers.figure_style import style
from papers.page_parts import Figure, Range, Table
from papers.settings import Settings
from papers.uncertainty import coverage, curves, measures, printed, rules

TINY = Settings(n_resamples=16, n_seeds=2, n_datasets=4)


def test_printed_tables_are_those_of_the_paper(published):
    for name, table in (("roc_coverage_table_1", printed.TABLE_1), ("roc_coverage_table_2", printed.TABLE_2)):
        np.testing.assert_array_equal(pl.read_csv(published / f"{name}.csv").to_numpy(), table)


# --------------------------------------------------------------------------------------------------
# Rules
# --------------------------------------------------------------------------------------------------


def test_claims_are_judged_by_shares():
    assert [rules.judged(share, holds=0.9, part=0.5) for share in (1, 0.9, 0.89, 0.5, 0.49)] == [
        "holds", "holds", "in part", "in part", "fails",
    ]  # fmt: skip
    assert rules.judged(math.nan, holds=0.9, part=0.5) == "open"


def test_coverages_are_near_within_three_points_and_chance():
    assert rules.chance(0.5, 100) == pytest.approx(0.1)
    assert rules.near([0.629, 0.631, 0.371, 0.369], 0.5, 0.5, 100).tolist() == [True, False, True, False]


def test_what_holds_for_want_of_data_is_left_open():
    assert [rules.settled("holds", n) for n in (399, 400)] == ["open", "holds"]
    assert rules.settled("fails", 10) == "fails"


def test_intervals_are_too_wide_by_their_width_or_in_part_by_coverage():
    found = [coverage.too_wide(*pair) for pair in ((0.06, -1), (0.01, 0.001), (0.01, -0.001), (-0.01, 0.1))]
    assert found == ["holds", "in part", "fails", "fails"]


def test_the_chance_of_the_printed_step_is_binomial():
    want = sum(math.comb(100, k) * 0.1**k * 0.9 ** (100 - k) for k in range(3))
    assert coverage.chance_of_printed_step(100) == pytest.approx(want)


# --------------------------------------------------------------------------------------------------
# Section 3.2
# --------------------------------------------------------------------------------------------------


def made_up_band(replicates: np.ndarray, low: float = 0.1, high: float = 0.2) -> ff.RocBand:
    fnmr, v_statistic = np.array([0.4, 0.2]), np.array([0.3, 0.15])
    ends = {name: np.full(2, low if "low" in name else high) for name in ("low", "high", "band_low", "band_high")}
    rest = {name: np.ones(2) for name in ("uncertainty", "threshold")}
    return ff.RocBand(
        fmr=np.array([0.01, 0.1]),
        fnmr=fnmr,
        v_statistic=v_statistic,
        replicates=replicates,
        n_resamples=2,
        **ends,
        **rest,
    )


@pytest.mark.parametrize(
    ("means", "outcome"),
    [((0.31, 0.15), "holds"), ((0.31, 0.19), "in part"), ((0.39, 0.21), "fails"), ((0.39, 0.19), "fails")],
)
def test_replicates_are_judged_by_where_their_mean_lies(means: tuple[float, float], outcome: str):
    spread = np.array([[-0.01], [0.01]])
    band = made_up_band(np.array(means) + spread)
    assert curves.verdicts(curves.Bundle(band, band))[0].verdict == outcome


@pytest.mark.parametrize(("high", "outcome"), [(0.19, "holds"), (0.2, "in part"), (0.4, "fails")])
def test_the_naive_band_is_judged_by_where_it_misses_the_curve(high: float, outcome: str):
    band = made_up_band(np.zeros((2, 2)), high=high)
    assert curves.verdicts(curves.Bundle(band, band))[1].verdict == outcome


def test_both_bands_are_made_of_the_same_replicates():
    e = small_embeddings(2, 9, 4)
    bundle = curves.Bundle.of(e, np.array([0.1, 0.3]), TINY)
    np.testing.assert_array_equal(bundle.naive.replicates, bundle.recentered.replicates)
    want = ff.roc_band(e, [0.1, 0.3], unit="sample", method="recentered", n_resamples=16, rng=0)
    np.testing.assert_array_equal(bundle.recentered.low, want.low)
    np.testing.assert_array_equal(bundle.mean, want.replicates.mean(axis=0))


@pytest.mark.jit
def test_the_v_statistic_is_short_of_the_curve_by_the_pairs_of_a_vector_with_itself():
    bundle = curves.synthetic_bundle(TINY)
    np.testing.assert_allclose(bundle.naive.v_statistic, (1 - 1 / curves.N_SAMPLES) * bundle.naive.fnmr)
    assert [v.verdict for v in curves.verdicts(bundle)] == ["holds", "holds"]
    table = curves.shift_table(bundle, "t", "")
    assert len(table.rows) == 5
    np.testing.assert_allclose([row[1] for row in table.rows][::4], 100 * bundle.naive.fnmr[[0, -1]])
    assert all(row[4].high < row[1] == row[5].value < row[5].high for row in table.rows)


# --------------------------------------------------------------------------------------------------
# Section 4
# --------------------------------------------------------------------------------------------------

FAIREST = {"max_geomean_ratio": 1, "max_min_ratio": 1, "log_geomean_sum": 0, "gini": 0}


@pytest.fixture(scope="module")
def grouped() -> ff.Embeddings:
    e = ff.von_mises_fisher_embeddings(24, 5, 8, concentration=(3, 12), rng=0)
    return ff.Embeddings(e.vectors, e.subject, group=e.subject % 2)


def test_uncertainties_are_deviations_over_values_and_over_distances(grouped):
    levels = np.array([0.001, 0.05, 0.1, 0.3])
    bands = measures.fairness_bands(grouped, levels, TINY)
    found = measures.uncertainties("data", bands)
    assert [u.rate for u in found] == ["fmr", "fnmr"]
    assert found[0].levels.tolist() == [0.05, 0.1, 0.3]  # at 0.001 a group has fewer than 30 false matches
    for u in found:
        kept = np.isin(levels, u.levels)
        assert kept.any()
        for k, name in enumerate(measures.NAMES):
            band = ff.fairness_band(grouped, name, u.rate, levels, unit="sample", n_resamples=16, rng=0)
            deviation, value = band.replicates[:, kept].std(axis=0, ddof=1), band.value[kept]
            np.testing.assert_allclose(u.of_value[k], deviation / value)
            np.testing.assert_allclose(u.of_distance[k], deviation / abs(value - FAIREST[name]))


def made_up(of_value: list[list[float]], of_distance: list[list[float]], rate: str = "fmr") -> measures.Uncertainty:
    """Make uncertainties of which the least is known: rows are max-geomean, max-min, log-geomean and Gini."""
    values, distances = np.array(of_value, float), np.array(of_distance, float)
    return measures.Uncertainty("data", rate, np.geomspace(1e-3, 1e-2, values.shape[1]), values, distances)


GEOMEAN, GINI = [1, 2, 3, 4], [4, 3, 2, 1]


@pytest.mark.parametrize(
    ("first", "second", "lowest", "robust"),
    [
        (10 * [GEOMEAN], 10 * [GEOMEAN], "holds", "holds"),
        (9 * [GEOMEAN] + [GINI], 10 * [GEOMEAN], "holds", "holds"),
        (8 * [GEOMEAN] + 2 * [GINI], 10 * [GEOMEAN], "in part", "holds"),
        (10 * [GINI], 10 * [GEOMEAN], "in part", "in part"),
        (10 * [GINI], 9 * [GEOMEAN] + [GINI], "fails", "fails"),
    ],
)
def test_measures_are_judged_by_how_often_theirs_is_the_least_uncertainty(first, second, lowest, robust):
    found = [made_up(np.transpose(least), np.transpose(least)) for least in (first, second)]
    agreed = [measures.Agreement(2, 10, 10)]
    assert [v.verdict for v in measures.verdicts(found, agreed)] == [lowest, robust, "holds"]


def test_no_levels_leave_the_claim_open():
    nothing = made_up(np.ones((4, 0)), np.ones((4, 0)))
    assert math.isnan(nothing.share)
    table = measures.least_table([nothing], "t", "")
    assert table.rows[0][2:] == (0, "", "")
    assert measures.uncertainty_table([nothing], "t", "").rows == []


def test_the_order_of_systems_is_judged_by_all_numbers_of_groups():
    def outcome(*agreed: int) -> str:
        found = [measures.Agreement(2 + k, 10, n) for k, n in enumerate(agreed)]
        always = made_up(np.transpose([GEOMEAN]), np.transpose([GEOMEAN]))
        return measures.verdicts([always], found)[2].verdict

    assert [outcome(10, 10), outcome(10, 9), outcome(9, 9)] == ["holds", "in part", "fails"]


@pytest.mark.parametrize("n_groups", [2, 3, 5])
def test_systems_are_ordered_alike_where_loops_order_them_alike(n_groups: int, monkeypatch):
    monkeypatch.setattr(measures, "_SYSTEMS", 60)
    rates = 10 ** np.random.default_rng(1).uniform(-3, -1, (60, 2, n_groups))
    functions = (naive.max_geomean_ratio, naive.max_min_ratio, naive.log_geomean_sum, naive.gini)
    orders = [{f(first.tolist()) < f(second.tolist()) for f in functions} for first, second in rates]
    found = measures.agreement(n_groups, 1)
    assert found.n_agreed == sum(len(order) == 1 for order in orders)
    assert (found.n_agreed == 60) is (n_groups == 2)


@pytest.mark.jit
def test_groups_of_scenarios_differ_as_they_say():
    for scenario in (measures.SCENARIOS[2], measures.SCENARIOS[3]):
        e = measures.synthetic_groups(scenario, 0)
        k = len(scenario.concentrations)
        assert np.bincount(e.subject_group).tolist() == [measures.N_SUBJECTS // k] * k
        found = measures.fairness_bands(e, np.array([0.01]), TINY).group_rates
        fmr, fnmr = found["fmr"][0], found["fnmr"][0]
        if len(set(scenario.concentrations)) == 1:
            assert max(fnmr) < 2 * min(fnmr)
            assert max(fmr) < 2 * min(fmr)
        else:
            assert fnmr[1] > 10 * fnmr[0]
            assert fmr[1] > 2 * fmr[0]


def test_two_systems_are_apart_by_the_deviation_of_their_difference(grouped, monkeypatch):
    monkeypatch.setattr(measures, "LEVELS", np.array([0.1, 0.3]))
    monkeypatch.setattr(measures, "SHOWN", 0.1)
    other = ff.Embeddings(grouped.vectors, grouped.subject, group=grouped.subject % 4 // 2)
    bands = [measures.fairness_bands(e, measures.LEVELS, TINY) for e in (grouped, other, grouped, other, grouped)]
    table = measures.apart_table(bands, "apart", "")
    assert len(table.rows) == 4
    first, second = (
        ff.fairness_band(e, "gini", "fnmr", [0.1], unit="sample", n_resamples=16, rng=0) for e in (grouped, other)
    )
    variance = first.replicates.var(axis=0, ddof=1) + second.replicates.var(axis=0, ddof=1)
    np.testing.assert_allclose(table.rows[1][5], (second.value - first.value) / np.sqrt(variance))


# --------------------------------------------------------------------------------------------------
# Appendix B.1
# --------------------------------------------------------------------------------------------------

NOMINAL = np.array(coverage.NOMINAL)


def experiment(
    recentered: float = 0, naive: float = -0.4, gaussian: float = 0, wider: float = 1, n: int = 1000
) -> ff.CoverageExperiment:
    """Make an experiment up whose coverages differ from nominal by given numbers, at every level."""
    shape = len(NOMINAL), len(coverage.LEVELS)
    off = np.array([recentered, naive, gaussian])[:, None, None]
    held = np.clip(np.broadcast_to(NOMINAL[:, None], shape) + off, 0, 1)
    width = np.broadcast_to(NOMINAL[:, None], shape) * np.array([1, 1, wider])[:, None, None]
    truth = np.linspace(0.3, 0.1, shape[1])
    scatter = np.where(np.arange(n) % 2, 0.01, -0.01)[:, None]
    return ff.CoverageExperiment(
        methods=coverage.METHODS, confidence_level=NOMINAL, fmr=np.array(coverage.LEVELS), coverage=held,
        standard_error=np.sqrt(np.maximum(held * (1 - held), 0.25 / n) / n), width=width, truth=truth,
        threshold=np.zeros(shape[1]), estimates=truth + scatter, v_statistics=0.9 * truth + scatter,
    )  # fmt: skip


def outcomes(found: ff.CoverageExperiment, fewer: ff.CoverageExperiment | None = None) -> list[str]:
    return [v.verdict for v in coverage.verdicts(found, {3: fewer or found})]


def test_coverage_is_judged_against_the_printed_and_the_nominal():
    assert outcomes(experiment())[:2] == ["holds", "holds"]
    assert outcomes(experiment(n=100))[:2] == ["open", "open"]
    assert outcomes(experiment(recentered=-0.3))[:2] == ["fails", "fails"]
    # Six points are more than three and the chance of 1,000 data sets at the ends of the scale, and less in its middle.
    assert outcomes(experiment(recentered=0.06))[:2] == ["in part", "fails"]
    wide = experiment()
    held = wide.coverage.copy()
    held[0, :, 0] = np.minimum(NOMINAL + 0.2, 1)
    assert outcomes(replace(wide, coverage=held))[:2] == ["holds", "in part"]


def test_naive_intervals_are_judged_by_how_few_hold():
    none = experiment(naive=-1)
    some = experiment()
    assert [outcomes(*pair)[2] for pair in ((none, none), (some, none), (some, some))] == ["holds", "in part", "fails"]
    assert [outcomes(experiment(naive=off))[3] for off in (-0.1, -0.0305, 0)] == ["holds", "in part", "fails"]


def test_gaussian_intervals_are_judged_by_accuracy_and_width():
    assert outcomes(experiment())[4:] == ["fails", "fails"]
    assert outcomes(experiment(gaussian=0.05, wider=1.1))[4:] == ["holds", "holds"]
    assert outcomes(experiment(gaussian=0.005, wider=1.01))[4:] == ["in part", "fails"]


def test_tables_hold_coverage_and_the_printed_beside_it():
    found = experiment(gaussian=0.05)
    first, second = coverage.table_1(found), coverage.table_2(found)
    assert len(first.rows) == 19
    assert first.rows[0][-2:] == (96, "yes")
    cell = first.rows[9][2]
    assert isinstance(cell, Range)
    error = 200 * math.sqrt(0.25 / 1000)
    assert (cell.value, cell.low, cell.high) == pytest.approx((50, 50 - error, 50 + error))
    assert len(second.rows) == 11
    assert second.rows[-1][0] == 45
    assert [second.rows[-1][k] for k in (2, 4, 6)] == pytest.approx([44, 23, 59])
    assert [second.rows[-1][k].value for k in (1, 3, 5)] == pytest.approx([45, 5, 50])


def test_shifts_and_widths_are_told_in_standard_deviations():
    found = experiment()
    np.testing.assert_allclose(coverage.shifts(found), 0.1 * found.truth / 0.01)
    assert coverage.excess(found, 1e-3) == pytest.approx(0.95 / 0.0392)
    table = coverage.shift_table(found, {3: found})
    assert [row[0] for row in table.rows] == [10] * 9 + [3] * 9
    assert table.rows[0][4] == pytest.approx(3)


@pytest.mark.jit
def test_the_data_set_drawn_is_the_first_of_the_experiment():
    found = coverage.experiment(replace(TINY, n_datasets=2))
    band = ff.roc_band(coverage.first_data_set(TINY), coverage.LEVELS, n_resamples=4, rng=0)
    np.testing.assert_array_equal(found.estimates[0], band.fnmr)
    assert found.confidence_level.tolist() == NOMINAL.tolist()


def test_figures_of_coverage_have_the_printed_numbers():
    with style():
        fig_6, fig_9, over_fmr = coverage.coverage_figures(experiment())
    texts = [[t.get_text() for t in f.drawing.axes[0].get_legend().get_texts()] for f in (fig_6, fig_9, over_fmr)]
    assert sorted(texts[0]) == ["FMR 0.01 %", "FMR 0.1 %", "FMR 1 %", "printed"]
    assert {"Naive", "Naive, printed", "Gaussian", "Recentered, printed"} < set(texts[1])
    assert texts[2] == ["Recentered", "Naive", "Gaussian"]
    marks = next(line for line in fig_6.drawing.axes[0].lines if line.get_label() == "printed")
    np.testing.assert_array_equal(marks.get_xydata(), printed.TABLE_1)


# --------------------------------------------------------------------------------------------------
# The page
# --------------------------------------------------------------------------------------------------


@pytest.mark.jit
def test_the_page_has_every_table_and_figure():
    told: list[str] = []
    with style():
        page = uncertainty.page(replace(TINY, tell=told.append))
    assert page.name == "uncertainty"
    assert len(told) == 4
    assert {part.name for part in page.parts if isinstance(part, Table)} == {
        "curves", "claims_curves", "least", "uncertainty", "apart", "agreement", "claims_measures", "table_1", "shift",
        "table_2", "claims_coverage",
    }  # fmt: skip
    assert [part.name for part in page.parts if isinstance(part, Figure)] == [
        "fig_2", "fig_3", "fig_5", "fig_19_22", "fig_7_8", "fig_6", "coverage_over_fmr", "fig_9",
    ]  # fmt: skip
    claims = [row for name in ("curves", "measures", "coverage") for row in page.table(f"claims_{name}").rows]
    assert len(claims) == 11
    assert all(all(cell for cell in row) for row in claims)


def test_embeddings_given_have_their_curves_and_measures(grouped, monkeypatch):
    monkeypatch.setattr(measures, "LEVELS", np.array([0.001, 0.1, 0.3]))
    with style():
        parts = uncertainty._given(grouped, TINY)
        assert repr(grouped) in parts[0]
        names = [part.name for part in parts[1:]]
        assert names == [
            "given_curves", "given_bands", "given_curves", "given_uncertainty", "least_given", "uncertainty_given",
            "given_measures",
        ]  # fmt: skip
        alone = ff.Embeddings(grouped.vectors, grouped.subject)
        assert [part.name for part in uncertainty._given(alone, TINY)[1:]] == names[:3]
    curve = parts[3]
    assert isinstance(curve, Table)
    assert curve.rows[0][0] == pytest.approx(10)  # per cent: the first FMR that 30 false matches make


def test_embeddings_with_too_few_pairs_are_told_so():
    parts = uncertainty._given(small_embeddings(1, 4, 4), TINY)
    assert len(parts) == 1
    assert "too few pairs" in str(parts[0])


@pytest.mark.slow
@pytest.mark.long
def test_the_complete_page_says_of_the_paper_what_the_documentation_says():
    with style():
        page = uncertainty.page(replace(Settings.of(quick=False), n_resamples=1000))
    verdicts = {row[0][:24]: row[-1] for name in ("curves", "measures", "coverage") for row in claims_of(page, name)}
    assert verdicts == {
        "Bootstrap curves are cen": "holds",
        "Bands of the naive boots": "holds",
        "Max-geomean displays (al": "holds in part",
        "Max-geomean is the more ": "does not hold",
        "All fairness metrics of ": "holds in part",
        "Estimated coverages of r": "holds",
        "The recentered bootstrap": "holds in part",
        "The naive bootstrap's co": "holds in part",
        "Where it has a chance, t": "holds",
        "The Gaussian approximati": "does not hold",
        "Gaussian intervals are t": "does not hold",
    }


def claims_of(page: object, name: str) -> list[tuple[str, ...]]:
    return list(page.table(f"claims_{name}").rows)


@faces
@pytest.mark.slow
@pytest.mark.parametrize("matcher", ["mbf_arc", "mobilenet_mx"])
def test_on_faces_max_geomean_is_the_least_uncertain_and_not_of_its_distance(matcher: str):
    bands = measures.fairness_bands(lfw(matcher), measures.LEVELS, Settings.of(quick=True))
    found = measures.uncertainties("gender", bands)
    assert found[0].share == 1
    assert max(u.share_of_distance for u in found) == 0
