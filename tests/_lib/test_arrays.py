"""Arrays of every kind give what the plain native one gives, to the bit, or are refused with the
row."""

import decimal
import fractions
import math

import numpy as np
import pandas as pd
import polars as pl
import pytest
from helpers.each import each
from helpers.refusals import refused

import fastfair as ff
from fastfair import intervals, measures
from fastfair._lib import validation
from fastfair.errors import InputError

RNG = np.random.default_rng(3)
FLOATS = np.round(RNG.random(24), 3)
FLAGS = np.tile([1.0, 0.0], 12)
COUNTS = np.arange(1.0, 25.0)
WHO = np.repeat(np.arange(1.0, 7.0), 4)
VECTORS = np.round(RNG.normal(size=(24, 3)), 3)


def _strided(a):
    wide = np.zeros((2 * len(a), *a.shape[1:]), a.dtype)
    wide[::2] = a
    return wide[::2]


def _field(a):
    rows = np.zeros(len(a), np.dtype([("byte", np.uint8), ("value", a.dtype, a.shape[1:])]))
    rows["value"] = a
    return rows["value"]


def _mapped(a, tmp_path, order):
    path = tmp_path / f"{order}.npy"
    np.save(path, a.astype(a.dtype.newbyteorder(order)))
    return np.load(path, mmap_mode="r")


def _read_only(a):
    a = a.copy()
    a.setflags(write=False)
    return a


# What holds the same numbers, in other ways.
SAME = {
    "big-endian": lambda a, _: a.astype(a.dtype.newbyteorder(">")),
    "strided": lambda a, _: _strided(a),
    "negative strides": lambda a, _: a[::-1].copy()[::-1],
    "column-major": lambda a, _: np.asfortranarray(a),
    "a field of records": lambda a, _: _field(a),
    "read-only": lambda a, _: _read_only(a),
    "mapped": lambda a, path: _mapped(a, path, "<"),
    "mapped big-endian": lambda a, path: _mapped(a, path, ">"),
    "masked without masks": lambda a, _: np.ma.array(a),
    "record array": lambda a, _: a.view(np.recarray) if a.ndim == 1 else a,
    "longdouble": lambda a, _: a.astype(np.longdouble),
    "objects": lambda a, _: a.astype(object),
    "NumPy numbers": lambda a, _: np.array(
        [[np.float64(x) for x in row] for row in a] if a.ndim > 1 else list(a), object
    ),
    "list": lambda a, _: a.tolist(),
    "tuple": lambda a, _: tuple(a.tolist()),
    "pandas": lambda a, _: pd.Series(a) if a.ndim == 1 else pd.DataFrame(a),
    "polars": lambda a, _: pl.Series(a) if a.ndim == 1 else pl.DataFrame(a),
    "Decimal": lambda a, _: np.vectorize(
        lambda x: decimal.Decimal(repr(float(x))), otypes=[object]
    )(a),
    "Fraction": lambda a, _: np.vectorize(lambda x: fractions.Fraction(float(x)), otypes=[object])(
        a
    ),
}
# What holds no numbers, or others than it seems to.
WRONG = {
    "masked": lambda a: np.ma.array(a, mask=np.arange(a.size).reshape(a.shape) == a.size // 2),
    "complex": lambda a: a.astype(complex),
    "structured": lambda a: np.zeros(len(a), [("x", float), ("y", float)]),
    "void": lambda a: np.zeros(len(a), "V8"),
    "datetime": lambda a: np.zeros(a.shape, "M8[s]"),
    "timedelta": lambda a: np.zeros(a.shape, "m8[s]"),
    "text": lambda a: a.astype(str),
    "bytes": lambda a: a.astype("S"),
    "text objects": lambda a: a.astype(str).astype(object),
    "None inside": lambda a: np.where(np.arange(a.size).reshape(a.shape) == 2, None, a),
    "NA inside": lambda a: np.where(np.arange(a.size).reshape(a.shape) == 2, pd.NA, a),
    "too large": lambda a: (
        [10**400, *a.tolist()[1:]] if a.ndim == 1 else [[10**400] * a.shape[1], *a.tolist()[1:]]
    ),
    "rounded": lambda a: (
        [2**53 + 1, *a.tolist()[1:]] if a.ndim == 1 else [[2**53 + 1, 0.5, 0], *a.tolist()[1:]]
    ),
    "rounded int64": lambda a: np.full(a.shape, 2**53 + 1),
    "Fraction of a third": lambda a: np.full(a.shape, fractions.Fraction(1, 3)),
    "ragged": lambda a: [[1.0, 2.0], [3.0], *a.tolist()[2:]],
    "dict": lambda a: dict(enumerate(a.tolist())),
    "set": lambda a: {0.1, 0.2, 0.3},
    "generator": lambda a: (x for x in a.tolist()),
    "masked in a list": lambda a: [*a.tolist()[:-1], np.ma.array(a[-1], mask=True)],
}
MATED = FLAGS.astype(bool)
REPLICATES = FLOATS.reshape(4, 6)


def _scores(x):
    c = ff.Comparisons(x, MATED)
    return [c.mated.similarities, c.nonmated.similarities]


def _matrix(x):
    c = ff.Comparisons.from_matrix(x, np.arange(24) % 3, np.arange(3))
    return [c.mated.similarities, c.nonmated.similarities]


def plan(**given):
    return ff.plan_margin(
        **{
            "n_groups": 4,
            "n_subjects": 20,
            "n_attempts": 2,
            "fnmr": 0.1,
            "correlation": 0.1,
            "rng": 0,
        }
        | given
    )


def _rates_of_embeddings(similarity):
    def rates(x):
        band = ff.roc_band(
            ff.Embeddings(x, np.arange(24) % 6, similarity=similarity),
            [0.1],
            n_resamples=100,
            rng=0,
        )
        return [band.threshold, band.fnmr, band.low]

    return rates


# Every entry that takes numbers, with an array that it takes.
ENTRIES = {
    "scores": (FLOATS, _scores),
    "score matrix": (VECTORS, _matrix),
    "vectors, cosine": (VECTORS, _rates_of_embeddings("cosine")),
    "vectors, inner product": (VECTORS, _rates_of_embeddings("inner_product")),
    "vectors, distance": (VECTORS, _rates_of_embeddings("negative_euclidean")),
    "flags": (FLAGS, lambda x: [ff.Comparisons(FLOATS, x).mated.similarities]),
    "subjects": (WHO, lambda x: [ff.Comparisons(FLOATS, None, x, np.tile(WHO[::4], 4)).subjects.astype(float)]),
    "failures": (COUNTS, lambda x: [ff.FailureCounts(x, COUNTS + 1, WHO).failures]),
    "attempts": (COUNTS, lambda x: [ff.FailureCounts(COUNTS - 1, x, WHO).attempts]),
    "decisions": (FLAGS, lambda x: [ff.FailureCounts.from_decisions(x, WHO, WHO).failures]),
    "levels": (FLOATS, lambda x: [ff.roc_band(ff.Comparisons(FLOATS, MATED), x, unit="comparison", rng=0).fnmr]),
    "settings of plans": (COUNTS + 5, lambda x: [plan(n_subjects=x).margin]),
    "rates of plans": (FLOATS[:4] / 4 + 0.1, lambda x: [plan(fnmr=x).margin]),
    "thresholds of a law": (FLOATS, lambda x: [ff.synthesis.Binormal(2).fmr(x)]),
    "sizes": (COUNTS, lambda x: [ff.VonMisesFisherIdentities.random(24, 3, 9.0, rng=0).draw(x, rng=0)]),
    "concentrations": (COUNTS, lambda x: [ff.VonMisesFisherIdentities(VECTORS, x).concentrations]),
    "centers": (VECTORS, lambda x: [ff.VonMisesFisherIdentities(x, 2.0).centers]),
    "targets": (FLOATS[:3] / 9 + 0.1, lambda x: [
        [made.fmr for made in ff.synthesis.synthesize_each(500, 500, "fmr", x, n_steps=20, rng=0)]]),
    "fdr": (FLOATS, lambda x: [measures.fdr(x, FLOATS), measures.fdr(FLOATS, x)]),
    "gini": (FLOATS, lambda x: [measures.gini(x)]),
    "mape": (FLOATS, lambda x: [measures.mape(x, 0.5)]),
    "average": (FLOATS, lambda x: [measures.nrb(np.ones((24, 2)), x)]),
    "rates of zero": (FLOATS, lambda x: [measures.replace_zeros(x, 0.1)]),
    "comparisons behind rates": (COUNTS, lambda x: [measures.replace_zeros(np.zeros(24), "clopper-pearson", x)]),
    "replicates": (FLOATS, lambda x: [intervals.confidence_interval(x, 0.5)]),
    "jackknife": (FLOATS, lambda x: [intervals.confidence_interval(FLOATS, 0.5, method="bca", jackknife=x)]),
    "estimate": (FLOATS[:4], lambda x: [intervals.confidence_interval(REPLICATES, x)]),
    "V-statistic": (
        FLOATS[:4],
        lambda x: [intervals.confidence_interval(REPLICATES, FLOATS[:4], method="recentered", v_statistic=x)],
    ),
    "standard error": (FLOATS, lambda x: [intervals.standard_error(x)]),
    "band": (VECTORS, lambda x: [intervals.simultaneous_band(x)]),
    "differences": (FLOATS - 0.5, lambda x: [intervals.bootstrap_pvalue(x)]),
    "p-values": (FLOATS, lambda x: [intervals.holm(x)]),
}  # fmt: skip


@pytest.fixture(autouse=True)
def _any_warning(recwarn):
    """Small data warn of much that is not looked at here."""


pytestmark = pytest.mark.filterwarnings("ignore::fastfair.errors.FastfairWarning")


def bits(found):
    return [np.asarray(part, np.float64).tobytes() for part in found]


@pytest.mark.slow
@pytest.mark.jit
@pytest.mark.parametrize("entry", ENTRIES)
def test_what_holds_the_same_numbers_gives_the_same_bits(entry, tmp_path):
    values, call = ENTRIES[entry]
    expected = bits(call(values))
    for kind, make in SAME.items():
        assert bits(call(make(values, tmp_path))) == expected, kind


@each("entry", ENTRIES)
def test_what_holds_no_numbers_is_refused(entry):
    values, call = ENTRIES[entry]
    taken = set()
    for kind, make in WRONG.items():
        try:
            call(make(values))
        except InputError:
            continue
        taken.add(kind)
    numbers_alone = (
        "text",
        "bytes",
        "text objects",
        "datetime",
        "timedelta",
        "rounded",
        "rounded int64",
    )
    of_labels = {*numbers_alone, "Fraction of a third"}
    assert taken <= (of_labels if entry in ("subjects", "flags") else set())


@pytest.mark.parametrize(
    "values", [np.broadcast_to(0.5, (6,)), np.broadcast_to(np.float32(0.5), (6,))]
)
def test_arrays_without_strides_are_one_value_each(values):
    c = ff.Comparisons(values, [1, 0] * 3)
    assert c.mated.similarities.tolist() == [0.5] * 3
    e = ff.Embeddings(
        np.broadcast_to(np.array([1.0, 2.0]), (4, 2)), list("aabb"), similarity="negative_euclidean"
    )
    assert ff.eer(e.comparisons()).value == 0.5


def test_native_vectors_are_not_copied(tmp_path):
    np.save(tmp_path / "v.npy", VECTORS)
    mapped = np.load(tmp_path / "v.npy", mmap_mode="r")
    assert np.shares_memory(ff.Embeddings(mapped, WHO).vectors, mapped)
    assert np.shares_memory(ff.Embeddings(VECTORS, WHO).vectors, VECTORS)


def test_masked_matrices_are_refused_by_row():
    matrix = np.ma.array(np.arange(9.0).reshape(3, 3), mask=np.eye(3) > 0)
    matrix[0, 0] = 5  # which unmasks it
    with pytest.raises(InputError, match="scores has a masked entry in row 1") as caught:
        ff.Comparisons.from_matrix(matrix)
    assert caught.value.row == 1
    assert len(ff.Comparisons.from_matrix(np.ma.array(np.diag([3, 2, 1]))).mated) == 3


def test_numbers_are_exact_or_refused():
    exact = [
        2**53,
        2**60,
        2.0**70,
        0.1,
        decimal.Decimal("0.1"),
        decimal.Decimal("1e-7"),
        fractions.Fraction(3, 8),
        -3,
    ]
    found = validation.floats("x", exact)
    assert found.tolist() == [float(value) for value in exact]
    for wrong in (
        2**53 + 1,
        fractions.Fraction(1, 3),
        decimal.Decimal("0.12345678901234567"),
        10**400,
        decimal.Decimal("1e400"),
        "1",
        True,
        b"1",
        1j,
        [1],
        None,
    ):
        with pytest.raises(InputError) as caught:
            validation.floats("x", np.array([0.5, wrong, 0], object))
        assert caught.value.row == 1
    large = np.array([2**62, 2**62 + 1], np.int64)
    assert validation.floats("x", large[:1]).tolist() == [2.0**62]
    refused(r"x holds whole numbers above 2\^53.* in row 1 ", validation.floats, "x", large)
    assert math.isnan(validation.floats("x", [decimal.Decimal("NaN"), 1])[0])


def test_foreign_errors_become_ours():
    class Odd:
        def __array__(self, dtype=None, copy=None):
            raise RuntimeError("not today")

    refused("RuntimeError: not today", ff.Comparisons, Odd(), [1, 0])
