"""IAPAR, APCER, BPCER and RIAPAR: the limits of decisions, the largest species, sums, and what
claims, checks and commands make of them."""

from __future__ import annotations

import json

import numpy as np
import polars as pl
import pytest
from helpers.command_line import run
from helpers.refusals import refused

import fastfair as ff
from fastfair.data.attacks import attack_decisions
from fastfair.errors import DroppedWarning, InputError
from fastfair.intervals import sum_interval

AT = ff.at_threshold(1.5)
SPECIES = {"mask": 0.3, "print": 1.0, "replay": -1.0}
QUICK = {"n_resamples": 200, "rng": 0}
pytestmark = pytest.mark.filterwarnings("ignore::fastfair.errors.NarrowIntervalsWarning")


def frame_of(seed=0, n_people=50, *, detector=False):
    """Return rows of people of two sexes, of whom some are easily imitated."""
    rng = np.random.default_rng(seed)
    easy = rng.normal(0, 0.5, n_people)
    rows = []
    for person in range(n_people):
        sex = "fm"[person % 2]
        for other in [person] * 4 + rng.choice(n_people, 0 if detector else 4).tolist():
            score = rng.normal(2.5 if other == person else 0)
            rows.append((f"p{person}", f"p{other}", sex, "fm"[other % 2], "bonafide", score))
        for species, mean in SPECIES.items():
            for _ in range(3):
                score = rng.normal(mean + easy[person])
                rows.append((f"p{person}", f"p{person}", sex, sex, species, score))
    columns = ["reference", "probe", "reference_sex", "probe_sex", "species", "score"]
    frame = pl.DataFrame(rows, schema=columns, orient="row")
    return frame.with_columns(mated=pl.col("reference") == pl.col("probe"))


def comparisons(*, detector=False, groups="sex"):
    layout = ff.Layout(attack="species")
    return ff.read_comparisons(frame_of(detector=detector), groups=groups, layout=layout)


def test_rates_have_the_limits_of_decisions():
    c = comparisons()
    rates = ff.evaluate_attacks(c, AT, **QUICK)
    decisions = attack_decisions(c, AT.value)
    settings = ff.EvaluationSettings(incomplete_groups="nan")
    half = ff.at_threshold(0.5)
    for data, of_group in ((decisions, False), (decisions.by("sex"), True)):
        evaluation = ff.evaluate(data, half, [], metrics=[], settings=settings, **QUICK)
        for group in evaluation.groups:
            row = rates.of("iapar", *((None, group) if of_group else (group,)))
            assert (row.low, row.high) == evaluation.interval("fnmr", group)
            assert row.estimate == evaluation.value("fnmr", group)
    fnmr = ff.evaluate(c, AT, [], metrics=[], **QUICK)
    assert rates.of("fnmr").estimate == fnmr.value("fnmr")
    assert rates.of("fnmr", None, "f").estimate == fnmr.value("fnmr", "f")
    assert (rates.rate, rates.species) == ("iapar", tuple(SPECIES))


def test_the_largest_species_has_wider_limits_than_its_own():
    rates = ff.evaluate_attacks(comparisons(), AT, **QUICK)
    own = rates.of("iapar", "print")
    assert rates.largest.species == "print"
    assert rates.largest.low <= own.low
    assert own.high < rates.largest.high
    assert "The largest IAPAR is that of print" in rates.summary()


def test_a_sum_has_limits_of_both_parts():
    rates = ff.evaluate_attacks(comparisons(), AT, **QUICK)
    fnmr = rates.of("fnmr")
    for species in (None, *SPECIES):
        iapar, riapar = rates.of("iapar", species), rates.of("riapar", species)
        assert riapar.estimate == iapar.estimate + fnmr.estimate
        parts = [np.array([row.estimate, row.low, row.high]) for row in (iapar, fnmr)]
        low, high = sum_interval(*parts, np.float64(0))
        assert riapar.low <= low + 1e-12
        assert riapar.high >= high - 1e-12
        if species == "replay":
            most = sum_interval(*parts, np.float64(1))
            assert (riapar.low, riapar.high) >= (most[0] - 1e-12, 0)


def test_detectors_have_apcer_and_bpcer():
    c = comparisons(detector=True)
    rates = ff.evaluate_attacks(c, AT, **QUICK)
    assert {row.name for row in rates.rows} == {"apcer", "bpcer"}
    checked = ff.check(c, ["apcer[*] <= 60 %", "bpcer[*] <= 50 %"], AT, **QUICK)
    assert [row.name for row in checked.rows] == ["apcer"] * 3 + ["bpcer"] * 2
    assert checked.rows[1].estimate == rates.of("apcer", "print").estimate
    assert checked.rows[3].estimate == rates.of("bpcer", None, "f").estimate
    again = ff.evaluate_attacks(c, AT, rate="iapar", **QUICK)
    assert again.of("iapar").estimate == rates.of("apcer").estimate
    refused("holds the BPCER", ff.check, c, "bpcer <= 5 %", ff.at_fnmr(0.05))


def test_requirements_name_species_and_groups_of_people():
    c = comparisons()
    at = ff.at_fmr(0.05)
    rates = ff.evaluate_attacks(c, at, **QUICK)
    lines = ["iapar[*] <= 50 %", "iapar[sex=f] <= 40 %", "riapar[print] <= 99 %", "riapar <= 99 %"]
    lines += ["iapar[print] <= 5 %", "fnmr[sex=*] <= 60 %", "iapar[mask]@threshold=9 <= 20 %"]
    checked = ff.check(c, lines, at, **QUICK)
    rows = {row.title: row for row in checked.rows}
    assert rows["IAPAR of print at FMR=0.05"].estimate == rates.of("iapar", "print").estimate
    women = rows["IAPAR of sex=f at FMR=0.05"]
    assert women.estimate == rates.of("iapar", None, "f").estimate
    assert rows["RIAPAR of print at FMR=0.05"].estimate == rates.of("riapar", "print").estimate
    assert rows["RIAPAR at FMR=0.05"].high == pytest.approx(rates.of("riapar").high, rel=0.1)
    assert rows["IAPAR of mask at threshold=9"].n_errors == 0
    assert checked.verdicts["iapar[print] <= 5 %"] == "not met"
    assert checked.verdicts["iapar[*] <= 50 %"] == "met"
    assert "iapar[*] <= 50 % (3 of 3 species): " in checked.summary()
    claimed = ff.claim(c, "iapar <= 30 %", at, **QUICK)
    assert (claimed.rate, claimed.at) == ("iapar", ff.at_threshold(rates.threshold))
    assert [group.group for group in claimed.groups] == list(SPECIES)
    assert "attack presentations are errors" in claimed.summary()
    assert " of 3 species: " in claimed.summary()


def test_labels_of_samples_make_no_groups_of_people():
    by_row = frame_of().with_columns(light=pl.Series(["dim", "bright"] * 300 + ["dim"] * 250))
    c = ff.read_comparisons(by_row, groups="light", layout=ff.Layout(attack="species"))
    says = "several labels of 'light', so that it is not known which groups"
    refused(says, ff.check, c, "iapar[light=*] <= 50 %", AT)
    assert ff.check(c, "fnmr[light=*] <= 99 %", AT, **QUICK).verdict == "met"


def test_rates_that_data_do_not_have_are_refused():
    c = comparisons()
    refused("their rate of attacks is the IAPAR", ff.check, c, "apcer[*] <= 5 %", AT)
    refused("their rate of attacks is the IAPAR", ff.claim, c, "apcer <= 5 %", AT)
    refused("their rate of attacks is the IAPAR", ff.evaluate_attacks, c, AT, rate="apcer")
    refused("no species 'glass'", ff.check, c, "iapar[glass] <= 5 %", AT)
    refused("is that of a species", ff.check, c, "riapar[sex=f] <= 5 %", AT)
    bare = c._with_parts(attacks=None)
    refused("or comparisons with attacks", ff.check, bare, "iapar <= 5 %", AT)
    refused("have no attacks", ff.evaluate_attacks, bare, AT)


def test_limits_of_attacks_taken_for_independent_are_in_doubt():
    checked = ff.check(
        comparisons(), ["iapar <= 99 %", "riapar <= 1.9"], AT, unit="comparison", **QUICK
    )
    assert set(checked.verdicts.values()) == {"undecided"}
    assert "of the same subjects" in checked.rows[0].doubt


def test_few_people_with_the_same_species_make_no_stratum():
    """Species are no strata of people: of those with species of their own, weights vary."""
    rng = np.random.default_rng(0)
    person = np.repeat(np.arange(30), 20)
    species = np.array([f"s{k:02}" for k in (person % 15)])
    c = ff.Comparisons(rng.normal(2, 1, 30), np.ones(30, bool), np.arange(30), np.arange(30))
    level = rng.normal(0, 1, 30)[person]
    c = ff.add_attacks(c, level + rng.normal(0, 0.3, 600), species, person)
    rates = ff.evaluate_attacks(c, ff.at_threshold(0), **QUICK)
    row = rates.of("apcer")
    assert row.high - row.low > 0.2


def test_commands_take_attacks(tmp_path):
    frame_of().write_csv(tmp_path / "s.csv")
    given = [str(tmp_path / "s.csv"), "--attack", "species", "--group", "sex", "--at"]
    given += ["threshold=1.5", "--n-resamples", "100", "--seed", "1", "--json"]
    done = json.loads(run("evaluate", *given, "--require", "iapar[*] <= 90 %").stdout)
    assert set(done) >= {"check", "attacks", "evaluation"}
    assert done["attacks"]["largest"]["species"] == "print"
    done = json.loads(run("check", *given, "--require", "riapar[*] <= 1.2").stdout)
    assert [row["name"] for row in done["rows"]] == ["riapar"] * 3
    report = tmp_path / "page.html"
    run("claim", given[0], "iapar <= 50 %", *given[1:], "--report", str(report))
    assert "IAPAR" in report.read_text()


def test_curves_of_species_are_those_of_plain_counts(tmp_path):
    c = comparisons()
    rates = ff.evaluate_attacks(c, AT, **QUICK)
    table = frame_of()
    mated = table.filter((pl.col("species") == "bonafide") & pl.col("mated"))["score"].to_list()
    for species in SPECIES:
        attacks = table.filter(pl.col("species") == species)["score"].to_list()
        curve = rates.curves[species]
        assert (curve.n_mated, curve.n_nonmated) == (len(mated), len(attacks))
        points = {
            (sum(s >= t for s in attacks), sum(s < t for s in mated)) for t in {*mated, *attacks}
        }
        drawn = list(
            zip(curve.false_matches.tolist(), curve.false_nonmatches.tolist(), strict=True)
        )
        assert len(drawn) > 3
        assert set(drawn) <= points
    ax = rates.plot_det()
    assert ax.get_xlabel() == "Impostor attack presentation accept rate (%)"
    assert ax.get_ylabel() == "False non-match rate (%)"
    assert {"mask", "print", "replay"} <= {line.get_label() for line in ax.get_lines()}
    detector = ff.evaluate_attacks(comparisons(detector=True), AT, **QUICK)
    assert detector.plot_det().get_ylabel().startswith("Bona fide presentation")
    rates.to_json(tmp_path / "rates.json")
    (again,) = ff.read_results(tmp_path / "rates.json")
    assert again.curves["mask"].false_matches.tolist() == (
        rates.curves["mask"].false_matches.tolist()
    )
    assert list(rates._figures()) == ["", "attacks_det_at_threshold_1.5"]


def test_many_species_are_named_at_both_ends():
    rng = np.random.default_rng(1)
    people = np.repeat(np.arange(20), 3)
    c = ff.Comparisons(rng.normal(3, 1, 60), np.ones(60), people, people)
    species = np.tile([f"A{k:02}" for k in range(12)], 60)
    scores = rng.normal(size=720) + 0.3 * np.tile(np.arange(12), 60)
    rates = ff.evaluate_attacks(
        ff.add_attacks(c, scores, species, np.repeat(people, 12)), AT, **QUICK
    )
    labels = [text.get_text() for text in rates.plot_det().get_legend().get_texts()]
    assert labels[-1] == "6 other species"
    assert len(labels) == 7


def test_the_worst_attacks_are_those_of_plain_loops():
    c = comparisons()
    table = frame_of().filter(pl.col("species") != "bonafide").with_row_index()
    for group, inside in (
        ("print", pl.col("species") == "print"),
        ("sex=f", pl.col("reference_sex") == "f"),
        (None, pl.col("score") > -99),
    ):
        rows = table.filter(inside)
        passed = rows.filter(pl.col("score").cast(pl.Float32) >= AT.value)
        worst = ff.worst_comparisons(c, AT, group, 5, rate="iapar")
        expected = passed.sort("score", descending=True).head(5)
        assert worst.row == tuple(expected["index"].to_list())
        assert worst.labels["subject"] == tuple(expected["reference"].to_list())
        assert set(worst.error) == {"impostor attack presentation accept"}
        errors = worst.errors["iapar"]
        assert (errors.n_comparisons, errors.n_errors) == (len(rows), len(passed))
        counted = dict(passed["reference"].value_counts().iter_rows())
        assert (
            dict(zip(worst.subjects["subject"], worst.subjects["passed"], strict=True)) == counted
        )
        assert sum(worst.subjects["passed"]) == len(passed)
        assert f"of {len(rows)} attack presentations" in worst.summary()
    by_species = ff.worst_comparisons(c, AT, "print", 3, rate="iapar")
    assert by_species.labels["species"] == ("print",) * 3
    refused("group must be", ff.worst_comparisons, c, AT, "mug", 5, rate="iapar")


def test_claims_send_to_check():
    c = comparisons()
    for text in ("riapar <= 5 %", "riapar[*] <= 5 %", "bpcer <= 5 %"):
        refused("with check, as in check", ff.claim, c, text, AT)


def test_species_of_counts_may_imitate_the_same_people():
    c = comparisons(groups=())
    lines = ["iapar[*] <= 40 %", "iapar <= 40 %", "iapar[print] <= 60 %"]
    of_scores = ff.check(c, lines, AT, **QUICK)
    rows = frame_of().filter(pl.col("species") != "bonafide")
    passed = (rows["score"].cast(pl.Float32) >= AT.value).cast(int).to_list()
    about = {"group": {"species": rows["species"].to_list()}, "rate": "iapar"}
    people = rows["reference"].to_list()
    decided = ff.FailureCounts.from_decisions(passed, people, **about)
    counted = ff.FailureCounts(passed, [1] * len(passed), subject=people, **about)
    for counts in (decided, counted):
        assert (counts.n_people, counts.n_subjects.tolist()) == (50, [50, 50, 50])
        judged = ff.check(counts, lines, **QUICK)
        assert [row.limit for row in judged.rows] == [row.limit for row in of_scores.rows]
        assert judged.verdicts == of_scores.verdicts
        assert [row.n_subjects for row in judged.rows] == [50] * 5
    fewer = counted.without(["mask"])
    assert (fewer.n_people, len(fewer.decisions.subjects)) == (50, 50)
    with pytest.warns(ff.errors.DependentGroupsWarning, match="are in several groups"):
        ff.fnmr_test(counted, n_resamples=99, rng=0)
    about["rate"] = "frr"
    refused("a subject has one group", ff.FailureCounts.from_decisions, passed, people, **about)


def test_a_check_lists_the_worst_attacks(tmp_path):
    frame_of().write_csv(tmp_path / "a.csv")
    words = ["check", tmp_path / "a.csv", "--attack", "species", "--at", f"threshold={AT.value}"]
    done = run(*words, "--require", "iapar[print] <= 5 %", "--worst", 2, "--n-resamples", 60)
    assert "The worst comparisons behind the IAPAR of print" in done.output
    assert done.output.count("impostor attack presentation accept ") >= 2


def in_sessions(n_days=12, seed=3, *, told="day", of_attacks=0.8):
    """Read rows of attacks and of bona fide comparisons on days that raise and lower scores."""
    frame = frame_of(seed)
    rng = np.random.default_rng(seed)
    day = rng.integers(0, n_days, frame.height)
    is_attack = (frame["species"] != "bonafide").to_numpy()
    shift = rng.normal(size=n_days)[day] * np.where(is_attack, of_attacks, -0.8)
    own = frame["reference"].to_numpy() + day.astype(str)
    frame = frame.with_columns(pl.col("score") + shift, day=day, own=pl.Series(own.tolist()))
    layout = ff.Layout(attack="species", session=told)
    return ff.read_comparisons(frame, groups="sex", layout=layout)


def test_attacks_in_sessions_have_the_limits_of_decisions_in_sessions():
    c, untold = in_sessions(), in_sessions(told=None)
    decisions = attack_decisions(c, AT.value)
    assert decisions.sessions.size == 12
    assert np.array_equal(decisions.mated.reference_session, decisions.mated.probe_session)
    rates, plain = (ff.evaluate_attacks(data, AT, **QUICK) for data in (c, untold))
    for species in (None, *rates.species):
        row, other = (made.of("iapar", species) for made in (rates, plain))
        assert row.estimate == other.estimate
        assert row.high - row.low > 1.2 * (other.high - other.low)
    widths = [np.ptp([made.largest.low, made.largest.high]) for made in (rates, plain)]
    assert widths[0] > widths[1]
    assert "replicates over people and sessions" in rates.summary()
    assert rates.settings["sessions"] == 12


def test_limits_of_sums_in_sessions_are_sums_of_limits():
    rates = ff.evaluate_attacks(in_sessions(), AT, **QUICK)
    fnmr = rates.of("fnmr")
    for species in (None, *rates.species):
        part, row = rates.of("iapar", species), rates.of("riapar", species)
        assert row.low == pytest.approx(part.low + fnmr.low)
        assert row.high == pytest.approx(part.high + fnmr.high)


def test_own_sessions_of_people_who_are_imitated_change_little():
    own, untold = (
        ff.evaluate_attacks(in_sessions(told=told), AT, **QUICK).of("iapar")
        for told in ("own", None)
    )
    assert own.high - own.low == pytest.approx(untold.high - untold.low, rel=0.1)


def test_rows_of_attacks_without_a_session_are_left_out_and_counted():
    frame = frame_of().with_columns(
        day=pl.when((pl.col("species") == "mask") & (pl.int_range(pl.len()) % 7 == 0))
        .then(None)
        .otherwise((pl.int_range(pl.len()) % 9).cast(pl.String))
    )
    layout = ff.Layout(attack="species", session="day")
    policies = ff.Policies(missing_labels="drop")
    with pytest.warns(DroppedWarning):
        c = ff.read_comparisons(frame, layout=layout, policies=policies)
    assert len(c.attacks) == 450 - frame["day"].null_count()
    assert [left.n for left in c.left_out] == [frame["day"].null_count()]


def test_attacks_in_few_sessions_have_no_interval():
    c = in_sessions(3)
    rates = ff.evaluate_attacks(c, AT, **QUICK)
    assert all(np.isnan([row.low, row.high]).all() for row in (*rates.rows, rates.largest))
    assert ff.check(c, "iapar[*] <= 99 %", AT, **QUICK).verdict == "undecided"


def test_sessions_are_those_of_comparisons_and_of_attacks():
    c = ff.Comparisons([0.9, 0.8, 0.1], [1, 1, 0], list("aba"), list("abb"), session=list("xyz"))
    attack = [0.7, 0.2], ["print", "mask"], ["a", "b"]
    with pytest.raises(InputError, match="only the comparisons have sessions"):
        ff.add_attacks(c, *attack)
    with pytest.raises(InputError, match="only the attacks have sessions"):
        ff.add_attacks(c._with_parts(sessions=None), *attack, ["x", "y"])
    with pytest.raises(InputError, match="session has 1"):
        ff.add_attacks(c, *attack, ["x"])
    both = ff.add_attacks(c, *attack, (["x", "y"], ["y", "z"]))
    decisions = attack_decisions(both, 0.5)
    sides = decisions.mated.reference_session, decisions.mated.probe_session
    assert [sorted(decisions.sessions[side].tolist()) for side in sides] == [list("xy"), list("yz")]
    with pytest.raises(InputError, match="use evaluate_attacks"):
        ff.against_attacks(both)
