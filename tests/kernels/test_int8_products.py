"""Products of small whole numbers by every way that this processor has, against those of NumPy."""

from __future__ import annotations

import os
import subprocess
import sys

import numpy as np
import pytest
from fastfair.kernels import _processor
from fastfair.kernels import int8_products as kernels
from fastfair.kernels._jit import CACHE_FOLDER, config
from helpers.prefilters import EACH, KNOWN
from hypothesis import given
from hypothesis import strategies as st


def packed(
    vectors: np.ndarray, scale: float, name: str
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    way = kernels.WAYS[name]
    n, d = vectors.shape
    rows = np.zeros((n // way.rows, d // 4, way.rows), np.int32)
    columns = np.zeros((n // way.columns, d // 4, way.columns), np.int32)
    sizes = np.empty((n, 4))
    half = n // 2  # as threads share the work
    for start in (0, half):
        some = slice(start, start + half)
        kernels.quantise(vectors[some], scale, way.largest, (rows, columns, start), sizes[some])
    return rows, columns, sizes


def whole_numbers(vectors: np.ndarray, scale: float, name: str) -> np.ndarray:
    largest = kernels.WAYS[name].largest
    return np.clip(np.floor(vectors / scale + 0.5), -largest, largest).astype(np.int64)


def marked(rows, columns, least, added, corner, name) -> np.ndarray:
    bits = np.full((96, 12), 255, np.uint8)
    kernels.mark_by(name)(
        rows, columns, (least.astype(np.int32), added.astype(np.int32)), corner, bits
    )
    return np.unpackbits(bits, axis=1, bitorder="little").astype(bool)


@pytest.mark.parametrize("name", EACH)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_what_whole_numbers_leave_is_measured(name: str, dtype: type):
    x = np.random.default_rng(0).normal(size=(192, 24)).astype(dtype)
    scale = float(np.float32(0.02))
    _, _, sizes = packed(x, scale, name)
    q = whole_numbers(x.astype(float), scale, name)
    wanted = (x - scale * q) ** 2, x.astype(float) ** 2, q**2, q
    np.testing.assert_allclose(
        sizes, np.stack([of.sum(axis=1) for of in wanted], axis=1), rtol=1e-12
    )
    assert np.abs(q).max() == kernels.WAYS[name].largest  # some were cut off


@pytest.mark.parametrize("name", EACH)
@given(
    seed=st.integers(0, 10**6),
    steps=st.integers(1, 9),
    corner=st.sampled_from([(0, 0), (96, 0), (0, 96)]),
)
def test_pairs_whose_products_reach_limits_are_marked(
    name: str, seed: int, steps: int, corner: tuple[int, int]
):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(192, 8 * steps)).astype(np.float32)
    rows, columns, sizes = packed(x, 0.05, name)
    q = whole_numbers(x, 0.05, name)
    products = q @ q.T
    least = np.quantile(products, rng.random(192)).astype(np.int64)
    added = rng.integers(-500, 500, 192)
    positive = kernels.WAYS[name].largest + 1
    got = marked(
        rows, columns, least + (positive * sizes[:, 3]).astype(np.int64), added, corner, name
    )
    i, j = corner
    wanted = products[i : i + 96, j : j + 96] + added[j : j + 96] >= least[i : i + 96, None]
    assert np.array_equal(got, wanted)


@pytest.mark.parametrize("name", EACH)
def test_the_largest_numbers_do_not_overflow(name: str):
    largest = kernels.WAYS[name].largest
    sign = np.where(np.random.default_rng(0).random((96, 1)) < 0.5, -1, 1)
    x = (sign * np.full((96, 8192), 2.0 * largest)).astype(np.float32)
    rows, columns, sizes = packed(x, 1.0, name)
    products = (sign * sign.T) * largest**2 * 8192
    positive = largest + 1
    for limit in (-(largest**2) * 8192, largest**2 * 8192, largest**2 * 8192 + 1):
        got = marked(rows, columns, limit + positive * sizes[:, 3], np.zeros(96), (0, 0), name)
        assert np.array_equal(got, products >= limit)


def test_marked_pairs_are_listed_without_mated_ones_and_padding():
    rng = np.random.default_rng(0)
    n, first_row, first_column, places = 300, 2, 40, 9
    begin = rng.integers(0, n, 90)
    mated = np.minimum(begin + rng.integers(0, 50, 90), n)
    columns = np.stack((begin, mated, np.minimum(mated + rng.integers(0, 99, 90), n)), axis=1)
    is_marked = rng.random((96, 288)) < 0.2
    bits = np.packbits(is_marked, axis=1, bitorder="little").view(np.uint32)
    codes = np.empty(is_marked.size + 1, np.int64)
    size = kernels.list_marked(bits, (first_row, first_column), columns, n, places, codes)
    wanted = [
        ((first_row + r) << places) + first_column + c
        for r in range(88)
        for c in range(288)
        if is_marked[r, c]
        and columns[first_row + r, 0] <= first_column + c < n
        and not columns[first_row + r, 1] <= first_column + c < columns[first_row + r, 2]
    ]
    assert codes[:size].tolist() == wanted


def test_ways_are_those_of_the_features_that_code_is_compiled_for(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(config, "DISABLE_JIT", 0)
    monkeypatch.setattr(kernels, "is_x86", lambda: True)
    for features, ways in (
        ("+avx512f,+avx512vnni,+avx512vl,+avx2", ["avx512-vnni", "avx-vnni", "avx2"]),
        ("+avx2,+avxvnni,-avx512f,-avx512vnni", ["avx-vnni", "avx2"]),
        ("+avx2,+avx512f", ["avx2"]),
        ("+sse2", []),
        ("", []),
    ):
        monkeypatch.setattr(config, "CPU_FEATURES", features)
        assert kernels.known_ways() == ways
    monkeypatch.setattr(kernels, "is_x86", lambda: False)
    monkeypatch.setattr(config, "CPU_FEATURES", "+avx2")
    assert kernels.known_ways() == []


@pytest.mark.slow
@pytest.mark.jit
def test_no_instruction_is_used_that_numba_was_told_not_to(tmp_path):
    code = (
        "from fastfair.kernels import dot_products, int8_products; import numpy as np\n"
        "print(int8_products.known_ways(), dot_products.is_quick())"
    )
    for features, wanted in (
        ("+sse2,-avx2", "[] False"),
        ("+sse2,+avx,+avx2,+fma", "['avx2'] True"),
    ):
        if not _processor.is_x86():
            wanted = "[] False"
        env = os.environ | {
            "NUMBA_CPU_FEATURES": features,
            "NUMBA_CPU_NAME": "generic",
            "FASTFAIR_CACHE_DIR": str(tmp_path),
        }
        done = subprocess.run(
            [sys.executable, "-c", code],
            env=env,
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
        )
        assert done.stdout.strip() == wanted, done.stderr


@pytest.mark.jit
def test_each_way_has_a_file_of_machine_code_of_its_own():
    from pathlib import Path

    x = np.ones((96, 8), np.float32)
    for name in KNOWN:
        rows, columns, _ = packed(x, 1.0, name)
        marked(rows, columns, np.zeros(96), np.zeros(96), (0, 0), name)
    assert len(list(Path(CACHE_FOLDER).glob("mark-*.nbc"))) >= len(KNOWN)
