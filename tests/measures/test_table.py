"""`measures.table`: the measures of each system of a table, against the functions one by one."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from helpers.command_line import run
from helpers.each import each
from helpers.refusals import refused
from hypothesis import given
from hypothesis import strategies as st

import fastfair as ff
from fastfair.errors import InputError
from fastfair.measures import MEASURES

WIDE = {
    "who": ["A", "B"], "FMR.f": [0.01, 0.02], "FMR.m": [0.03, 0.01], "FNMR.f": [0.1, 0.2], "FNMR.m": [0.3, 0.2],
    "FMR": [0.02, None], "FNMR": [0.2, 0.2],
}  # fmt: skip
COLUMNS = {"fmr": "FMR.{group}", "fnmr": "FNMR.{group}", "by": "who"}
OF_ALL = {"fmr_global": "FMR", "fnmr_global": "FNMR"}


def one_by_one(fmr, fnmr, fmr_global, fnmr_global, groups, alpha):
    """Return the measures of one system by name and group."""
    rates = {
        "fmr": (fmr, fmr_global),
        "fnmr": (fnmr, fnmr_global),
        "tmr": (1 - fnmr, 1 - fnmr_global),
    }
    found = {}
    for name, measure in MEASURES.items():
        if measure.own_threshold:
            values = measure.function(fmr, fnmr, fmr_global, fnmr_global)
            found |= {(name, group): value for group, value in zip(groups, values, strict=True)}
            with np.errstate(invalid="ignore"):  # infinite where no comparison of all is an error
                found |= {
                    (f"{name}_mean", None): values.mean(),
                    (f"{name}_std", None): values.std(),
                }
        elif not measure.of:
            found[name, None] = measure.function(fmr, fnmr, alpha)
        else:
            for metric in set(measure.of) & set(rates):
                of_groups, of_all = rates[metric]
                more = (of_all,) if measure.global_reference else ()
                values = measure.function(of_groups, *more)
                named = zip(groups, values, strict=True) if measure.per_group else [(None, values)]
                found |= {(f"{name}({metric})", group): value for group, value in named}
    return found


rate = st.sampled_from([0.0, 0.01, 0.1, 0.25, 1.0, math.nan])


@given(
    st.data(),
    st.integers(1, 3),
    st.integers(1, 4),
    st.booleans(),
    st.booleans(),
    st.sampled_from([0.0, 0.3, 1.0]),
)
def test_each_measure_is_that_of_its_function(data, n_systems, n_groups, below, percent, alpha):
    groups = [f"g{k}" for k in range(n_groups)]
    fmr, fnmr = (
        np.array(
            data.draw(
                st.lists(
                    st.lists(rate, min_size=n_groups, max_size=n_groups),
                    min_size=n_systems,
                    max_size=n_systems,
                )
            )
        )
        for _ in range(2)
    )
    overall = np.array(
        data.draw(st.lists(st.tuples(rate, rate), min_size=n_systems, max_size=n_systems))
    )
    scale = 100 if percent else 1
    systems = [f"s{k}" for k in range(n_systems)]
    options = {
        "by": "who",
        "fmr_global": "FMR",
        "fnmr_global": "FNMR",
        "percent": percent,
        "alpha": alpha,
    }
    if below:
        frame = {
            "who": np.repeat(systems, n_groups),
            "g": groups * n_systems,
            "a": fmr.ravel() * scale,
            "b": fnmr.ravel() * scale,
            "FMR": np.repeat(overall[:, 0], n_groups) * scale,
            "FNMR": np.repeat(overall[:, 1], n_groups) * scale,
        }
        found = ff.measures.table(pl.DataFrame(frame), fmr="a", fnmr="b", group="g", **options)
    else:
        frame = {"who": systems, "FMR": overall[:, 0] * scale, "FNMR": overall[:, 1] * scale}
        frame |= {f"FMR.{group}": fmr[:, k] * scale for k, group in enumerate(groups)}
        frame |= {f"x {group} y": fnmr[:, k] * scale for k, group in enumerate(groups)}
        found = ff.measures.table(
            pl.DataFrame(frame), fmr="FMR.{group}", fnmr="x {group} y", **options
        )
    made = {
        (row["who"], row["name"], row["group"]): row["value"] for row in found.iter_rows(named=True)
    }
    assert len(made) == found.height
    expected = {
        (system, *key): value
        for k, system in enumerate(systems)
        for key, value in one_by_one(fmr[k], fnmr[k], *overall[k], groups, alpha).items()
    }
    assert made.keys() == expected.keys()
    for key, value in expected.items():
        assert made[key] == pytest.approx(value, rel=1e-9, abs=1e-12, nan_ok=True), key


def test_a_missing_rate_of_all_comparisons_makes_nan():
    found = ff.measures.table(pl.DataFrame(WIDE), **COLUMNS, **OF_ALL)
    values = {
        (row["who"], row["name"], row["group"]): row["value"] for row in found.iter_rows(named=True)
    }
    assert values["A", "mape(fmr)", None] == pytest.approx(0.5)
    assert math.isnan(values["B", "mape(fmr)", None])
    assert values["B", "nrb(fnmr)", None] == 0
    assert values["B", "fdr", None] == pytest.approx(1 - 0.5 * 0.01)


@pytest.mark.parametrize(
    "make", [pd.DataFrame, pl.DataFrame, pa.table], ids=["pandas", "polars", "pyarrow"]
)
def test_the_result_is_a_frame_of_the_same_library(make):
    frame = make({name: column for name, column in WIDE.items() if None not in column})
    found = ff.measures.table(frame, **COLUMNS)
    assert type(found) is type(frame)


def test_one_rate_alone():
    found = ff.measures.table(pl.DataFrame(WIDE)[:1], fmr="FMR.{group}")
    assert found.columns == ["name", "group", "value"]
    assert {name.rpartition("(")[2] for name in found["name"]} == {"fmr)"}


@each(
    ("change", "message"),
    [
        ({"fmr": "FM.{group}"}, r"no column is called like fmr='FM.\{group\}' \(did you mean 'FMR"),
        ({"fmr": "FMR"}, r"has no \{group\} in it"),
        ({"fmr": None, "fnmr": None}, "name the columns of error rates"),
        (
            {"by": None},
            "the table has 2 rows: name the columns that tell the systems apart with by=",
        ),
        ({"by": "whom"}, "did you mean 'who'"),
        ({"fnmr": "FNMR.m{group}"}, "no column is called like"),
        ({"fmr": "FM{group}"}, "find different groups"),
        (
            {"by": "who", "group": "FMR", "fmr": "FMR.f", "fnmr": "FNMR.f"},
            "column 'FMR' is missing in row 1",
        ),
        (
            {"group": "who", "by": None, "fmr": "FMR.f", "fnmr": "FNMR.f", "fmr_global": "FNMR.m"},
            "different rates of",
        ),
        ({"alpha": 2}, "alpha must be a fraction"),
    ],
)
def test_what_is_wrong_is_told(change, message):
    refused(message, ff.measures.table, pl.DataFrame(WIDE), **COLUMNS | change)


def test_percentages_are_told_from_fractions():
    percentages = pl.DataFrame(WIDE).with_columns(pl.selectors.numeric() * 100)
    refused("divide percentages by 100", ff.measures.table, percentages, **COLUMNS)
    with pytest.raises(InputError, match=r"fractions in \[0, 1\], but holds 3"):
        ff.measures.table(
            percentages.with_columns(pl.selectors.starts_with("FMR.") * 100),
            **COLUMNS,
            percent=True,
        )
    twice = pl.concat([pl.DataFrame(WIDE)] * 2)
    refused("two rows are about 'A'", ff.measures.table, twice, **COLUMNS)
    refused("the second is row 2", ff.measures.table, twice, "FMR.f", "FNMR.f", group="who")
    with pytest.raises(InputError, match="which the result has, too"):
        ff.measures.table(pl.DataFrame(WIDE).rename({"who": "name"}), **COLUMNS | {"by": "name"})


def test_the_verb(tmp_path):
    path = tmp_path / "rates.csv"
    pl.DataFrame(WIDE).write_csv(path)
    words = [
        "measures",
        path,
        "--fmr-column",
        "FMR.{group}",
        "--fnmr-column",
        "FNMR.{group}",
        "--by",
        "who",
    ]
    done = run(*words, "--fmr-global", "FMR", "--output", tmp_path / "out")
    lines = [line.split() for line in done.output.splitlines()]
    assert ["measure", "A", "B"] in lines
    assert ["FDR", "0.89", "0.995"] in lines
    assert ["MAPE", "of", "FMR", "0.5", "–"] in lines
    expected = ff.measures.table(pl.DataFrame(WIDE), **COLUMNS, fmr_global="FMR")
    written = pl.read_csv(tmp_path / "out" / "measures.csv")
    assert written["name"].to_list() == expected["name"].to_list()
    assert np.allclose(written["value"], expected["value"], equal_nan=True)
    assert '"name": "fdr"' in run(*words, "--json").output
    path.write_text(path.read_text().replace("0.03", "low"))
    refused(r"column 'FMR\.m' must hold numbers", run, *words)
