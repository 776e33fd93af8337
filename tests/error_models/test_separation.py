"""Cells without finite log odds are those of one linear program over all of them, and a fit that
needs none is known to have a maximum."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from oracles import error_model as oracle

from fastfair.error_models.separation import find_separated


@given(
    seed=st.integers(0, 100_000),
    n_cells=st.integers(1, 40),
    width=st.integers(1, 4),
    rate=st.sampled_from([0.0, 0.05, 0.2, 0.5, 1.0]),
    whole=st.booleans(),
)
def test_separated_cells_are_those_of_one_program(seed, n_cells, width, rate, whole):
    rng = np.random.default_rng(seed)
    drawn = rng.integers(0, 3, (n_cells, width)) if whole else rng.normal(size=(n_cells, width))
    design = np.column_stack((np.ones(n_cells), drawn))
    n = rng.integers(1, 4, n_cells)
    errors = rng.binomial(n, rate)
    found = find_separated(n, errors, design)
    assert found.tolist() == oracle.separated(n, errors, design).tolist()


def test_many_cells_with_a_number_are_told_apart_or_not():
    rng = np.random.default_rng(1)
    number = rng.normal(size=20_000)
    design = np.column_stack((np.ones(number.size), number, rng.normal(size=number.size)))
    n = np.ones(number.size, int)
    beyond = (number > np.sort(number)[-20]).astype(int)
    assert find_separated(n, beyond, design).all()
    beyond[np.argmin(number)] = 1
    assert not find_separated(n, beyond, design).any()
