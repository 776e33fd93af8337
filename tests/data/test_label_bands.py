"""Bands of numbers: their names, what is in none, and tables of people with ages in years."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from helpers.refusals import refused
from hypothesis import given
from hypothesis import strategies as st

import fastfair as ff
from fastfair.errors import ManyGroupsWarning

PEOPLE = [f"p{k:02d}" for k in range(40)]
AGES = [str(18 + k) for k in range(39)] + [""]


@given(
    values=st.lists(st.integers(0, 99), min_size=1),
    edges=st.lists(st.integers(1, 98), unique=True, max_size=5).map(lambda e: [0, *sorted(e)]),
)
def test_each_number_is_in_the_band_that_a_loop_finds(values, edges):
    found = ff.label_bands(values, edges).tolist()
    for value, label in zip(values, found, strict=True):
        low = max(edge for edge in edges if edge <= value)
        above = [edge for edge in edges if edge > value]
        assert label == (f"{low}-{min(above) - 1}" if above else f"{low}+")


def test_the_bands_of_common_criteria_have_their_names():
    ages = [0, 19, 19.9, 20, 34, 35, 49, 50, 64, 65, 99]
    assert sorted(set(ff.label_bands(ages).tolist())) == [
        "0-19",
        "20-34",
        "35-49",
        "50-64",
        "65-99",
    ]
    assert ff.label_bands([0.1, 0.5], [0, 0.25]).tolist() == ["0 to <0.25", ">=0.25"]


def test_what_is_in_no_band_is_refused():
    for values, edges in (([100], "cc"), ([-1], [0, 20]), ([np.nan], "cc")):
        refused("is in none of the bands", ff.label_bands, values, edges)
    for edges in ([], [20, 0], "years"):
        refused("ascending edges", ff.label_bands, [1], edges)


def comparisons(bands: object = (), groups: object = "age", **more: object) -> ff.Comparisons:
    people = pl.DataFrame({"id": PEOPLE, "age": AGES, "sex": ["f", "m"] * 20})
    rng = np.random.default_rng(0)
    sides = [np.array(PEOPLE)[rng.integers(0, 40, 400)] for _ in range(2)]
    sides[1][:200] = sides[0][:200]
    scores = pl.DataFrame(
        {
            "score": rng.normal(size=400),
            "reference_sample": [f"{name}/1" for name in sides[0]],
            "probe_sample": [f"{name}/2" for name in sides[1]],
        }
    )
    return ff.read_comparisons(
        scores,
        reference="reference_sample",
        probe="probe_sample",
        subject_pattern="^([^/]+)/",
        metadata=people,
        groups=groups,
        layout=ff.Layout(bands=bands),
        policies=ff.Policies(missing_labels="unknown"),
        **more,
    )


def test_numbers_of_metadata_are_proposed_to_be_banded_and_are():
    with pytest.warns(ManyGroupsWarning, match="age=0,20,35,50,65.*age=cc.*linear=.age"):
        assert len(comparisons().groups) == 40
    assert comparisons("age=none").groups == (*map(str, range(18, 57)), "unknown")
    assert comparisons("age=cc").groups == ("0-19", "20-34", "35-49", "50-64", "unknown")
    assert comparisons(["age=0,30"]).groups == ("0-29", "30+", "unknown")
    both = comparisons("age=0,30", ["age", "sex"])
    assert both.attributes == {"age": ("0-29", "30+", "unknown"), "sex": ("f", "m")}


def test_bands_that_cannot_be_are_refused():
    refused("must name an attribute", comparisons, "height=0,20")
    refused("must name an attribute", comparisons, "age")
    refused("needs numbers, and has 'f'", comparisons, "sex=0,20", ["sex"])
    refused("'age': 18 is in none", comparisons, "age=30,40")


def test_numbers_that_would_make_too_many_groups_make_none():
    rng = np.random.default_rng(0)
    who = np.append(np.arange(1500), np.arange(1500))
    other = np.append(np.arange(1500), np.roll(np.arange(1500), 1))
    columns = {"sex": np.arange(1500) % 2, "age": np.arange(1500)}
    sides = [{name: column[side] for name, column in columns.items()} for side in (who, other)]
    sides[0]["pose"], sides[1]["pose"] = rng.integers(0, 1000, (2, 3000))
    data = np.append(np.ones(1500), np.zeros(1500)), who == other, who, other
    with pytest.warns(ManyGroupsWarning, match="groups are made of 'sex', without the numbers of"):
        made = ff.Comparisons(*data, *sides)
    assert (made.grouping, made.groups) == (("sex",), ("0", "1"))
    assert [*made.attributes] == ["sex", "age", "pose"]
    words = [{name: np.char.add("x", c.astype(str)) for name, c in side.items()} for side in sides]
    refused("at most 2000 are possible", ff.Comparisons, *data, *words)
