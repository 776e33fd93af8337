"""Presentation attacks: rows of files, decisions at thresholds, and curves against them."""

from __future__ import annotations

import math

import numpy as np
import polars as pl
import pytest
from helpers.refusals import refused
from hypothesis import given
from hypothesis import strategies as st
from oracles import attacks as oracle

import fastfair as ff
from fastfair.data.attacks import attack_decisions
from fastfair.errors import DroppedWarning

pytestmark = pytest.mark.filterwarnings("ignore::fastfair.errors.EmptyGroupWarning")
# Speaker verification (ECAPA-TDNN), table 2 of the SASV 2022 evaluation plan: EER, %, of target
# against non-target trials, against spoofed ones, and against both.
PRINTED = {"dev": (1.88, 20.30, 17.38), "eval": (1.63, 30.75, 23.83)}
BONA_FIDE = (
    [0.9, 0.8, 0.4, 0.1],
    [1, 1, 0, 0],
    list("abab"),
    list("abba"),
    list("fmfm"),
    list("fmmf"),
)
ATTACKS = st.lists(
    st.tuples(
        st.sampled_from(["print", "mask"]),
        st.sampled_from("ab"),
        st.sampled_from([0, 0.25, 0.5, 0.75]),
    ),
    min_size=1,
    max_size=30,
)


def with_attacks(attacks, kind="similarity"):
    sign = -1 if kind == "distance" else 1
    c = ff.Comparisons(sign * np.array(BONA_FIDE[0]), *BONA_FIDE[1:], score_kind=kind)
    species, people, scores = zip(*attacks, strict=True)
    return ff.add_attacks(c, sign * np.array(scores, float), species, people)


@given(ATTACKS, st.sampled_from([0.2, 0.25, 0.5, 0.75, 0.9]))
def test_decisions_are_those_of_loops(attacks, threshold):
    for kind, sign in (("similarity", 1), ("distance", -1)):
        c = with_attacks(attacks, kind)
        decisions = attack_decisions(c, sign * threshold)
        rates = ff.rates(decisions, ff.at_threshold(0.5))
        assert rates.fnmr == oracle.share_passed(attacks, threshold)
        for name, rate in zip(rates.groups, rates.group_fnmr, strict=True):
            assert rate == oracle.share_passed(attacks, threshold, name)
        of_people = ff.rates(decisions.by("group"), ff.at_threshold(0.5))
        for sex, rate in zip(of_people.groups, of_people.group_fnmr, strict=True):
            assert rate == oracle.share_passed(attacks, threshold, None, "a" if sex == "f" else "b")


def test_attacks_that_got_no_score_are_blocked():
    c = with_attacks([("print", "a", math.nan), ("print", "b", 0.7)])
    assert ff.rates(attack_decisions(c, 0.0), ff.at_threshold(0.5)).fnmr == 0.5


def test_curves_are_against_attacks_of_a_species_or_all_with_impostors():
    c = with_attacks([("print", "a", 0.95), ("mask", "a", 0.2), ("mask", "b", 0.3)])
    assert ff.eer(ff.against_attacks(c, "print")).value == 1
    assert ff.eer(ff.against_attacks(c, ["mask"])).value == 0
    both = ff.against_attacks(c, impostors=True)
    assert (len(both.mated), len(both.nonmated)) == (2, 5)
    assert ff.against_attacks(c).nonmated.similarities.tolist() == [0.2, 0.3, 0.95]
    refused("species must be some of mask, print", ff.against_attacks, c, "glass")


def test_bands_are_drawn_about_curves_of_attacks():
    rng = np.random.default_rng(0)
    people = np.repeat(np.arange(30), 4)
    n = people.size
    c = ff.Comparisons(rng.normal(2, 1, n), np.ones(n, bool), people, people)
    c = ff.add_attacks(c, rng.normal(0, 1, n), ["print"] * n, people)
    band = ff.roc_band(ff.against_attacks(c), [0.1, 0.3], n_resamples=50, rng=0)
    assert len(band.fnmr) == 2


def test_what_cannot_be_attacks_is_refused():
    c = ff.Comparisons(*BONA_FIDE)
    refused("no attacks", attack_decisions, c, 0.5)
    refused("there are no attacks|scores is empty", ff.add_attacks, c, [], [], [])
    refused("species has 1", ff.add_attacks, c, [0.5, 0.6], ["x"], list("ab"))
    refused("finite|between", ff.add_attacks, c, [math.inf], ["x"], ["a"])
    plain = ff.Comparisons([0.9, 0.1], [1, 0])
    refused("no subjects", ff.add_attacks, plain, [0.5], ["x"], ["a"])
    unknown = ff.add_attacks(c, [0.5], ["x"], ["z"])
    refused("'z', are in no comparison", attack_decisions, unknown, 0.5)


def rows_of_a_file():
    rows = [("a", "a", 0.9, "bonafide", "target"), ("b", "b", 0.8, "bonafide", "target")]
    rows += [("a", "b", 0.4, "bonafide", "nontarget"), ("b", "a", 0.1, "bonafide", "nontarget")]
    rows += [("a", "-", 0.7, "print", "spoof"), ("b", "-", 0.2, "mask", "spoof")]
    return pl.DataFrame(
        rows, schema=["reference", "probe", "score", "species", "mated"], orient="row"
    )


def test_files_have_attacks_beside_comparisons(tmp_path):
    frame = rows_of_a_file()
    frame.write_csv(tmp_path / "s.csv")
    for data in (frame, tmp_path / "s.csv"):
        c = ff.read_comparisons(data, layout=ff.Layout(attack="species"))
        assert (len(c.mated), len(c.nonmated), str(c.attacks)) == (2, 2, "2 attacks of 2 species")
        assert c.attacks.names == ("mask", "print")
        rates = ff.rates(attack_decisions(c, 0.5), ff.at_threshold(0.5))
        assert rates.group_fnmr.tolist() == [0, 1]
    renamed = frame.with_columns(pl.col("species").replace("bonafide", "live"))
    refused(
        "has no bona fide row", ff.read_comparisons, renamed, layout=ff.Layout(attack="species")
    )
    layout = ff.Layout(attack=("species", "live"))
    assert len(ff.read_comparisons(renamed, layout=layout).mated) == 2
    nothing = frame.with_columns(pl.col("species").replace("bonafide", None))
    assert len(ff.read_comparisons(nothing, layout=ff.Layout(attack="species")).mated) == 2


def test_attacks_are_not_lost_where_files_are_written(tmp_path):
    c = with_attacks([("print", "a", 0.5)])
    refused("without attacks", ff.write_comparisons, c, tmp_path / "s.csv")


def test_files_of_detectors_compare_everybody_with_himself():
    frame = rows_of_a_file().filter(pl.col("mated") != "nontarget").drop("mated", "probe")
    c = ff.read_comparisons(
        frame, reference="reference", probe="reference", layout=ff.Layout(attack="species")
    )
    assert (len(c.mated), len(c.nonmated), len(c.attacks)) == (2, 0, 2)


def test_attacks_without_scores_are_what_policies_say():
    frame = rows_of_a_file().with_columns(
        score=pl.when(pl.col("species") == "print").then(None).otherwise(pl.col("score"))
    )
    layout = ff.Layout(attack="species")
    refused("1 of 2 attack presentations have no score", ff.read_comparisons, frame, layout=layout)
    policies = ff.Policies(failures="exclude")
    with pytest.warns(DroppedWarning, match="1 of 2 attack presentations left out"):
        c = ff.read_comparisons(frame, layout=layout, policies=policies)
    assert c.attacks.names == ("mask",)
    policies = ff.Policies(failures="non-match")
    assert len(ff.read_comparisons(frame, layout=layout, policies=policies).attacks) == 2


def test_rows_of_messages_are_those_of_the_file():
    frame = rows_of_a_file().reverse()
    frame = frame.with_columns(
        score=pl.when(pl.col("score") == 0.4).then(math.inf).otherwise(pl.col("score"))
    )
    refused("row 3", ff.read_comparisons, frame, layout=ff.Layout(attack="species"))


@pytest.mark.parametrize("part", PRINTED)
def test_asvspoof_has_its_printed_eers_and_counts(part, shared_data):
    with np.load(shared_data / "asvspoof2019_la_sasv.npz", allow_pickle=False) as data:
        key = data["key"][data[f"{part}_key"]]
        species = data["species"][data[f"{part}_species"]]
        scores, claimed = data[f"{part}_asv"], data[f"{part}_claimed"].astype(str)
    bona_fide = key != "spoof"
    # who spoke a non-target trial is not known: somebody else each time
    spoke = np.where(key == "target", claimed, [f"?{row}" for row in range(key.size)])
    sides = claimed[bona_fide], spoke[bona_fide]
    c = ff.Comparisons(scores[bona_fide], key[bona_fide] == "target", *sides)
    c = ff.add_attacks(c, scores[~bona_fide], species[~bona_fide], claimed[~bona_fide])
    sets = (c, ff.against_attacks(c), ff.against_attacks(c, impostors=True))
    ours = [100 * ff.eer(of).value for of in sets]
    assert ours == pytest.approx(PRINTED[part], abs=0.02)
    at = ff.at_threshold(ff.rates(c, ff.at_eer()).threshold)
    rates = ff.rates(attack_decisions(c, at.value), ff.at_threshold(0.5))
    attacks = list(zip(species[~bona_fide], claimed[~bona_fide], scores[~bona_fide], strict=True))
    assert len(rates.groups) == {"dev": 6, "eval": 13}[part]
    for name, rate in zip(rates.groups, rates.group_fnmr, strict=True):
        assert rate == oracle.share_passed(attacks, np.float32(at.value), name)
