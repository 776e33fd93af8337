"""Whether rules of other tools differ from fastfair as often, and where, as the table of
docs/from_other_tools says."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from helpers.other_tools import OURS, differ, sets_of_size, tied_sets
from oracles.other_tools import RULES, kaldi_eer, points
from other_tools_rows import ROWS, SETS

import fastfair as ff

WITH_RULES = [row for row in ROWS if row.key in RULES]


def test_every_rule_is_of_a_row_and_every_row_is_explained():
    assert {*RULES} <= {row.key for row in ROWS}
    assert len({row.key for row in ROWS}) == len(ROWS)
    for row in ROWS:
        assert bool(row.differing) == bool(row.examples), row.key
        assert not row.differing or row.note, row.key


def test_every_row_is_answered_by_a_worker():
    """No package has Kaldi's compute-eer: its rule alone is tested."""
    text = "".join(path.read_text() for path in (Path(__file__).parent / "workers").glob("*.[pR]*"))
    assert [row.key for row in ROWS if f'"{row.key}"' not in text] == ["kaldi-eer"]


def test_rules_differ_from_ours_in_as_many_sets_as_rows_say():
    sets = tied_sets(SETS)
    ours = {
        answer: [OURS[answer](*scores) for scores in sets]
        for answer in {row.answer for row in WITH_RULES}
    }
    for row in WITH_RULES:
        theirs = [RULES[row.key](*scores) for scores in sets]
        answered = [k for k in range(SETS) if theirs[k].size]
        differing = [
            sets[k] for k in answered if differ(theirs[k], ours[row.answer][k], row.tolerance)
        ]
        assert (SETS - len(answered), len(differing)) == (row.refused, row.differing), (
            row.key,
            differing[:3],
        )


def test_examples_are_what_rules_and_fastfair_say():
    for row in ROWS:
        for example in row.examples:
            scores = [*example.mated], [*example.nonmated]
            assert OURS[row.answer](*scores) == pytest.approx(example.ours, nan_ok=True), (
                row.key,
                example,
            )
            if row.key in RULES:
                assert RULES[row.key](*scores) == pytest.approx(
                    example.theirs, abs=row.tolerance
                ), (row.key, example)
            assert differ(np.array(example.theirs), np.array(example.ours), row.tolerance), (
                row.key,
                example,
            )


@pytest.mark.slow
def test_no_smaller_set_differs():
    for row in WITH_RULES:
        size = len(row.examples[0].mated + row.examples[0].nonmated) if row.examples else 5
        for n in range(2, size):
            for scores in sets_of_size(n, n):
                theirs = RULES[row.key](*scores)
                assert not theirs.size or not differ(
                    theirs, OURS[row.answer](*scores), row.tolerance
                ), (
                    row.key,
                    scores,
                )


def test_points_that_scikit_learn_leaves_are_points_of_ours():
    for scores in tied_sets(SETS):
        every = {(fmr, fnmr) for _, fmr, fnmr in points(*scores)}
        for key in ("sklearn-roc-default", "sklearn-det"):
            fmr, fnmr = np.split(RULES[key](*scores), 2)
            assert {*zip(fmr, fnmr, strict=True)} <= {(float(x), float(y)) for x, y in every}, (
                key,
                scores,
            )


def test_what_the_notes_say_of_thresholds_for_a_rate():
    """score-analysis is always above the FMR asked for, bob.measure's FMR is ours and its FNMR no
    lower."""
    for scores in tied_sets(SETS):
        fmr, fnmr = OURS["at-fmr"](*scores)
        assert fmr <= 0.3 < RULES["score-analysis-fmr"](*scores)[0]
        of_bob = RULES["bob-far"](*scores)
        assert not of_bob.size or (of_bob[0] == pytest.approx(fmr) and of_bob[1] >= fnmr - 1e-12)


def test_without_ties_score_analysis_accepts_a_non_mated_comparison_too_many():
    for n in (10, 20, 50):
        mated, nonmated = [*range(n // 2, n + 5)], [*range(n)]
        assert RULES["score-analysis-fmr"](mated, nonmated)[0] == pytest.approx(0.3 + 1 / n)


def test_pyannote_has_a_quarter_without_errors_and_ties():
    for n_mated, n_nonmated in ((1, 1), (2, 5), (7, 3)):
        scores = [*range(10, 10 + n_mated)], [*range(n_nonmated)]
        assert RULES["pyannote-eer"](*scores) == 0.25
        assert OURS["eer"](*scores) == 0


def test_the_eer_of_kaldi_is_a_step_from_ours_with_many_scores():
    rng = np.random.default_rng(0)
    mated, nonmated = np.round(rng.normal(2, 1, 700), 2), np.round(rng.normal(0, 1, 5_000), 2)
    ours = ff.eer(ff.Comparisons(np.concatenate([mated, nonmated]), np.arange(5_700) < 700)).value
    assert kaldi_eer(mated.tolist(), nonmated.tolist())[0] == pytest.approx(ours, abs=0.005)
