"""Looks: O'Brien and Fleming's levels, what has been spent, and what an earlier result refuses."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest
from helpers.each import each
from helpers.refusals import refused
from scipy.special import ndtri
from scipy.stats import multivariate_normal, norm

import fastfair as ff
from fastfair.claims import MET, UNDECIDED
from fastfair.claims.looks import MOST_LOOKS, boundary, level_at_look, look_at
from fastfair.errors import FileFormatError

# Jennison and Turnbull, Group sequential methods (2000), table 2.3: by the number of looks, for
# errors of 1, 5 and 10 % to two sides.
PRINTED = {
    1: (2.576, 1.960, 1.645), 2: (2.580, 1.977, 1.678), 3: (2.595, 2.004, 1.710), 4: (2.609, 2.024, 1.733),
    5: (2.621, 2.040, 1.751), 6: (2.631, 2.053, 1.765), 7: (2.640, 2.063, 1.776), 8: (2.648, 2.072, 1.786),
    9: (2.654, 2.080, 1.794), 10: (2.660, 2.087, 1.801), 11: (2.665, 2.092, 1.807), 12: (2.670, 2.098, 1.813),
    15: (2.681, 2.110, 1.826), 20: (2.695, 2.126, 1.842),
}  # fmt: skip
FEW = {"n_resamples": 60, "rng": 0}


def chance_of_ever(constant: float, planned: int, steps: int, width: float = 0.02) -> float:
    """Walk on a fine grid, step by step: how often is one of the first steps beyond the boundary?"""
    height = constant * math.sqrt(planned)
    grid = np.arange(-9 * math.sqrt(planned), height, width) + width / 2
    grid = grid[grid < height]
    reach = int(9 / width)
    step = norm.pdf(np.arange(-reach, reach + 1) * width) * width
    below = norm.pdf(grid) * width
    for _ in range(steps - 1):
        below = np.convolve(below, step)[reach:-reach]
    return 1 - below.sum()


def test_constants_are_those_printed():
    for planned, constants in PRINTED.items():
        for error, printed in zip((0.01, 0.05, 0.1), constants, strict=True):
            assert boundary(planned, error, 2) == pytest.approx(printed, abs=6e-4)


@each("planned", [2, 5, 12])
def test_walks_are_beyond_one_side_as_often_as_asked(planned):
    for error in (0.05, 0.05 / 7):
        constant = boundary(planned, error)
        assert chance_of_ever(constant, planned, planned) == pytest.approx(error, rel=0.02)
        for number in range(1, planned):
            look = look_at(number, planned, 1 - error)
            slow = chance_of_ever(constant, planned, number)
            assert look.spent == pytest.approx(slow, rel=0.03, abs=1e-9)


def test_two_looks_are_those_of_two_normal_numbers():
    constant = boundary(2, 0.05)
    both = multivariate_normal([0, 0], [[1, math.sqrt(0.5)], [math.sqrt(0.5), 1]])
    assert 1 - both.cdf([constant * math.sqrt(2), constant]) == pytest.approx(0.05, abs=1e-5)


@each("planned", [1, 2, 12, 52, MOST_LOOKS])
def test_levels_fall_from_look_to_look_and_the_last_is_above_that_of_a_single_one(planned):
    levels = [level_at_look(0.95, k, planned) for k in range(1, planned + 1)]
    spent = [look_at(k, planned, 0.95).spent for k in sorted({1, (planned + 1) // 2, planned})]
    assert levels == sorted(levels, reverse=True)
    assert levels[-1] >= 0.95
    assert levels[-1] == 0.95 or planned > 1
    assert max(levels) < 1
    assert spent == sorted(spent)
    assert spent[-1] == pytest.approx(0.05)
    if planned > 1:
        assert -ndtri(1 - levels[-1]) == pytest.approx(boundary(planned, 0.05), abs=1e-6)


def counts(n: int = 400, rate: float = 0.05) -> ff.FailureCounts:
    rng = np.random.default_rng(0)
    attempts = rng.integers(1, 6, n)
    group = np.array(list("abc"))[np.arange(n) % 3]
    return ff.FailureCounts(rng.binomial(attempts, rate), attempts, group)


TEXTS = ["fnmr[*] <= 9 %", "fnmr <= 7 %"]


def test_looks_change_levels_alone():
    """Limits are those of a single look of the level that rows show, step by step of Holm's."""
    for number in (4, 8, 12):
        found = ff.check(counts(), TEXTS, looks=(number, 12), **FEW)
        at = {level_at_look(1 - 0.05 / k, number, 12) for k in range(1, 5)}
        for row in found.rows:
            assert row.limit_level in at
            assert row.opposite_level in at
            text = f"{row.requirement.replace('[*]', f'[{row.group}]' if row.group else '')}"
            alone = ff.check(counts(), text, confidence_level=row.limit_level, **FEW).rows[0]
            assert (row.limit, row.estimate) == (alone.limit, alone.estimate)
            assert f"(look {number} of 12" in row.reason
        assert found.verdict in (MET, UNDECIDED)
    assert found.verdict == MET
    assert ff.check(counts(), TEXTS, looks="12/12", **FEW).summary() == found.summary()


def test_tables_write_levels_as_reasons_do():
    found = ff.check(counts(), TEXTS, looks=(6, 12), **FEW)
    ((_, headings, rows),) = found._tables()
    for row, cells in zip(found.rows, rows, strict=True):
        level = cells[headings.index("at level")]
        assert f"at {level} confidence" in row.reason


def test_one_look_is_no_look():
    alone, of_one = (ff.check(counts(), TEXTS, looks=looks, **FEW) for looks in (None, (1, 1)))
    for row, other in zip(alone.rows, of_one.rows, strict=True):
        assert (row.limit, row.verdict) == (other.limit, other.verdict)
    assert alone.look is None


def test_what_was_spent_is_written_and_read(tmp_path):
    found = ff.check(counts(), TEXTS, looks=(6, 12), **FEW)
    content = json.loads(found.to_json(tmp_path / "check.json"))
    assert content["look"]["spent"] == look_at(6, 12, 0.95).spent
    (read,) = ff.read_results(tmp_path / "check.json")
    assert read.look == found.look
    assert read.summary() == found.summary()
    assert "look 6 of 12" in read.summary()
    assert "limits of 99.48 %" in read.summary()


def test_a_later_look_goes_on_from_the_one_before(tmp_path):
    place = tmp_path / "check.json"
    ff.check(counts(), TEXTS, looks=(3, 12), **FEW).to_json(place)
    later = ff.check(counts(500), TEXTS, looks=(4, 12), previous=place, **FEW)
    assert later.look.number == 4
    for more, message in (
        ({"looks": (3, 12)}, "is look 3 of 12, but looks says that this is look 3"),
        ({"looks": (2, 12)}, "no later one"),
        ({"looks": (4, 13)}, "number of planned looks, 12 and not 13"),
        ({"confidence_level": 0.9}, "another level, 0.95 and not 0.9"),
        ({"requirements": TEXTS[:1]}, "another requirement"),
        ({"comparisons": counts(300)}, "attempts behind the FNMR of a, and there are"),
        ({"looks": None}, "previous goes with looks"),
        ({"looks": "4 of 12"}, "as in 3/12, or any, not '4 of 12'"),
        ({"looks": (0, 12)}, "counted from 1"),
        ({"looks": (13, 12)}, "counted from 1"),
        ({"looks": (1, 1000)}, "366 are the most"),
    ):
        given = {"comparisons": counts(500), "requirements": TEXTS, "looks": (4, 12)} | more
        refused(message, ff.check, **given, previous=place, **FEW)
    ff.check(counts(), TEXTS, **FEW).to_json(place)
    refused("check without looks", ff.check, counts(), TEXTS, looks=(4, 12), previous=place, **FEW)


def test_points_are_part_of_a_requirement(tmp_path):
    scores = ff.Comparisons(np.linspace(0, 1, 400), np.arange(400) % 2 > 0)
    given = {"requirements": "fnmr <= 90 %", "unit": "comparison", **FEW}
    place = tmp_path / "check.json"
    ff.check(scores, at=ff.at_threshold(0.5), looks=(1, 2), **given).to_json(place)
    refused(
        "threshold=0.5 and not .*threshold=0.6", ff.check, scores, at=ff.at_threshold(0.6), looks=(2, 2),
        previous=place, **given,
    )  # fmt: skip


def test_files_that_are_no_check_are_refused(tmp_path):
    place = tmp_path / "other.json"
    for text in ("", "[1]", '{"kind": "Claim"}', '{"kind": "Check"}'):
        place.write_text(text)
        with pytest.raises(FileFormatError, match="previous"):
            ff.check(counts(), TEXTS, looks=(4, 12), previous=place, **FEW)
    with pytest.raises(FileFormatError, match="cannot be read"):
        ff.check(counts(), TEXTS, looks=(4, 12), previous=tmp_path / "missing.json", **FEW)


def test_quantiles_of_too_few_replicates_are_no_limits():
    voices = ff.datasets.voxceleb1_h("resnetse34v2", groups="Gender")
    text = "max_geomean_ratio(fmr) <= 3"
    early, last = (
        ff.check(voices, text, looks=(k, 5), n_resamples=100, rng=0).rows[0] for k in (1, 5)
    )
    assert early.verdict == UNDECIDED
    assert "need " in early.reason
    assert "replicates" in early.reason
    assert (last.verdict, last.limit_level) == (MET, level_at_look(0.95, 5, 5))
