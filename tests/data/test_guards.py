"""Each guard of `GUARDS` springs in each kind of data that it serves, in a function that is named
as its home."""

from __future__ import annotations

import importlib
import re
import sys
import threading
import warnings
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import fastfair as ff
from fastfair.data.guards import GUARDS, KINDS, Guard
from fastfair.errors import InputError

NAN, INF, BIG = float("nan"), float("inf"), 2**53 + 1
WHO, OTHER = list("aabbccaabbcc"), list("aabbccbbccaa")
SCORES = [9.0, 8, 7, 9, 8, 8, 1, 2, 3, 1, 2, 3]
MATED = [1] * 6 + [0] * 6
SEX = list("ffmmxxffmmxx")
AT = ff.at_threshold(5.0)
EXCLUDE, DROP = ff.Policies(failures="exclude"), ff.Policies(missing_labels="drop")
MATRIX = np.arange(16.0).reshape(4, 4) % 7
PAIRS, PEOPLE = tuple("aabb"), tuple("aabbcc")
ALIKE = ["Zo\u00eb", "Zoe\u0308"]
VECTORS = np.random.default_rng(0).normal(size=(6, 4))
GALLERY = np.random.default_rng(1).normal(size=(4, 3))


def changed(values: Any, place: int, value: Any) -> list[Any]:
    return [*values[:place], value, *values[place + 1 :]]


def files_of(ids: list[str], first: int = 0) -> list[str]:
    return [f"{one}/{first + k}.png" for k, one in enumerate(ids)]


def comparisons(
    _: Path, scores: Any = SCORES, who: Any = WHO, other: Any = OTHER, **more: Any
) -> Any:
    return ff.Comparisons(
        scores, more.pop("mated", None), who, other, more.pop("sex", None), **more
    )


def scan(
    folder: Path,
    scores: Any = SCORES,
    who: Any = WHO,
    other: Any = OTHER,
    *,
    sex: Any = None,
    policies: Any = None,
    paths: Any = None,
    **more: Any,
) -> Any:
    columns = {"score": scores, "reference": who, "probe": other} | more
    if sex is not None:
        columns |= {"reference_sex": sex, "probe_sex": sex}
    pl.DataFrame(columns).write_parquet(folder / "s.parquet")
    paths = [folder / name for name in paths or ["s.parquet"]]
    groups = None if sex is None else "sex"
    return ff.scan_comparisons(paths, groups=groups, policies=policies or ff.Policies())


def matrix(_: Path, scores: Any = MATRIX, who: Any = PAIRS, **more: Any) -> Any:
    sex = more.pop("sex", None)
    return ff.Comparisons.from_matrix(scores, who, more.pop("probe", who), sex, sex, **more)


def vectors(_: Path, array: Any = VECTORS, who: Any = PEOPLE, sex: Any = None, **more: Any) -> Any:
    return ff.Embeddings(array, who, sex, **more)


def searches(_: Path, scores: Any = GALLERY, **more: Any) -> Any:
    sides = more.pop("probe", list("abcd")), more.pop("enrolled", list("abc"))
    return ff.Searches.from_matrix(scores, *sides, n_threads=1, **more)


def counts(
    _: Path,
    failures: Any = (0, 1, 2, 0),
    attempts: Any = (3,) * 4,
    sex: Any = tuple("ffmm"),
    **more: Any,
) -> Any:
    return ff.FailureCounts(list(failures), list(attempts), list(sex), **more)


def decisions(_: Path, sex: list[str]) -> Any:
    return ff.FailureCounts.from_decisions([0, 1, 1, 0], list("aabb"), sex)


def quality(folder: Path, values: Any, **more: Any) -> Any:
    return ff.discard_curve(comparisons(folder, **more), AT, values)


def quality_of_twins(folder: Path) -> Any:
    table = pl.DataFrame({"id": list("aabc"), "q": [1.0, 2, 3, 4]})
    frame = pl.DataFrame({"score": SCORES, "reference": WHO, "probe": OTHER})
    return ff.read_comparisons(frame, layout=ff.Layout(quality="q", quality_table=table))


def evaluated(folder: Path, make: Callable[[Path], Any]) -> Any:
    return ff.evaluate(make(folder), ff.at_threshold(-5.0), n_resamples=0)


def lists_of_an_index(_: Path) -> Any:
    least = float(np.finfo(np.float32).min)
    columns = [0, 0, 1, 1], ["a", "-1", "b", "c"], [1.0, least, 2, 3]
    return ff.Searches.from_candidates(
        *columns, probe=["a", "b"], searches=[0, 1], enrolled=list("abc")
    )


SAMPLES = {
    "reference_sample": files_of(WHO),
    "probe_sample": changed(files_of(OTHER, 20), 0, files_of(WHO)[0]),
}
SELF_MATRIX = np.array([[9, 4, 1, 2], [4, 9, 3, 1], [1, 3, 9, 5], [2, 1, 5, 9.0]])
LOST = np.where(np.arange(6)[:, None] == 2, NAN, VECTORS)
REVERSED = -10 * (np.arange(4)[:, None] // 2 == np.arange(4) // 2) + MATRIX / 10

LOST_SEARCH = np.where(np.arange(4)[:, None] == 1, NAN, GALLERY)
LOST_SCORE = np.where(MATRIX == 3, NAN, MATRIX)
KEEP = ff.Policies(self_comparisons="keep")
FILLED, OF_NOBODY = changed(SCORES, 11, float(np.finfo(np.float32).min)), changed(OTHER, 11, "-1")

# By the first words of guards and by kinds of data: what springs the guard, and what it says.
SPRUNG: dict[str, dict[str, tuple[Callable[[Path], Any], str]]] = {
    "missing labels": {
        "comparisons": (partial(comparisons, sex=changed(SEX, 1, None), policies=DROP), "1 of 12 comparisons left out"),
        "scans": (partial(scan, sex=[None if w == "c" else "f" for w in WHO], policies=DROP), "comparisons left out"),
        "matrices": (partial(matrix, sex=["f", None, "m", "m"], policies=DROP), "7 of 16 comparisons left out"),
        "vectors": (partial(vectors, sex=["f", "f", "m", "m", "m", None], missing_labels="drop"), "1 of 6 vectors"),
        "searches": (partial(searches, group=["f", None, "m", "m"], policies=DROP), "1 of 4 searches left out"),
        "counts": (partial(counts, sex=["f", None, "m", "m"], missing_labels="drop"), "1 of 4 subjects left out"),
    },
    "failures": {
        "comparisons": (partial(comparisons, scores=changed(SCORES, 1, NAN), policies=EXCLUDE), "as they failed"),
        "scans": (partial(scan, scores=changed(SCORES, 1, NAN)), "is nan"),
        "matrices": (partial(matrix, scores=LOST_SCORE, policies=EXCLUDE), "as they failed"),
        "vectors": (partial(vectors, array=LOST, failures="exclude"), "1 of 6 vectors left out, as they failed"),
        "searches": (partial(searches, scores=LOST_SEARCH, policies=EXCLUDE),
                     "1 of 4 searches left out, as they failed"),
        "quality": (partial(quality, values=changed(SCORES, 0, NAN), policies=EXCLUDE), "as they have no quality"),
    },
    "infinite": {
        "comparisons": (partial(comparisons, scores=changed(SCORES, 1, INF)), "row 1 .* is inf"),
        "scans": (partial(scan, scores=changed(SCORES, 1, INF)), "row 1 .* is inf"),
        "matrices": (partial(matrix, scores=np.where(MATRIX == 3, INF, MATRIX)), "row 3 .* is inf"),
        "vectors": (partial(vectors, array=np.where(np.isnan(LOST), INF, VECTORS)), "not finite: rows 2 "),
        "searches": (partial(searches, scores=np.where(np.isnan(LOST_SEARCH), INF, GALLERY)), "search 1 "),
        "counts": (partial(counts, failures=[0, INF, 1, 1]), "row 1 .* is inf"),
        "quality": (partial(quality, values=changed(SCORES, 0, INF)), "quality is inf in row 0"),
    },
    "whole numbers": {
        "comparisons": (partial(comparisons, scores=[BIG] * 12), r"above 2\^53"),
        "scans": (partial(scan, scores=[BIG] * 12), r"above 2\^53"),
        "matrices": (partial(matrix, scores=np.full((4, 4), BIG), policies=KEEP), r"2\^53"),
        "vectors": (partial(vectors, array=np.full((6, 4), BIG)), r"above 2\^53"),
        "searches": (partial(searches, scores=np.full((4, 3), BIG)), r"above 2\^53"),
        "counts": (partial(counts, attempts=[BIG] * 4), str(BIG)),
        "quality": (partial(quality, values=np.array([BIG] * 12)), r"above 2\^53"),
    },
    "text": {
        "comparisons": (partial(comparisons, scores=["x"] * 12), "must be numbers"),
        "scans": (partial(scan, scores=["x"] * 12), "must hold numbers"),
        "matrices": (partial(matrix, scores=[["x"] * 4] * 4), "must be numbers"),
        "vectors": (partial(vectors, array=[["x"] * 4] * 6), "must be numbers"),
        "searches": (partial(searches, scores=[["x"] * 3] * 4), "must be numbers"),
        "counts": (partial(counts, failures=["x"] * 4), "must be numbers"),
        "quality": (partial(quality, values=["x"] * 12), "must be numbers"),
    },
    "labels of mixed types": {
        "comparisons": (partial(comparisons, who=[1, *WHO[1:]]), "mixes labels of the types"),
        "scans": (partial(scan, who=[ord(one) for one in WHO]), "mixes labels of the types"),
        "matrices": (partial(matrix, who=[1, "a", "b", "b"]), "mixes labels of the types"),
        "vectors": (partial(vectors, who=[1, *"abbcc"]), "mixes labels of the types"),
        "searches": (partial(searches, probe=[1, *"bcd"]), "mixes labels of the types"),
        "counts": (partial(counts, sex=[1, "f", "m", "m"]), "mixes labels of the types"),
    },
    "names that look alike": {
        "comparisons": (partial(comparisons, who=ALIKE + WHO[2:], other=ALIKE + OTHER[2:]), "look alike"),
        "scans": (partial(scan, who=ALIKE + WHO[2:], other=ALIKE + OTHER[2:]), "look alike"),
        "matrices": (partial(matrix, who=[*ALIKE, "b", "b"]), "look alike"),
        "vectors": (partial(vectors, who=[*ALIKE, *"aabb"]), "look alike"),
        "searches": (partial(searches, probe=[ALIKE[0], *"bcd"], enrolled=[ALIKE[1], *"bc"]), "look alike"),
        "counts": (partial(counts, sex=["F", "f", "m", "m"]), "look alike"),
    },
    "subjects that are names": {
        "comparisons": (partial(comparisons, who=files_of(WHO), other=files_of(OTHER, 20)), "subject_pattern="),
        "scans": (partial(scan, who=files_of(WHO), other=files_of(OTHER, 20)), "subject_pattern="),
        "matrices": (partial(matrix, who=files_of(list("aabb")), probe=files_of(list("aabb"), 9)), "subject_pattern="),
        "vectors": (partial(vectors, who=files_of(list("aabbcc"))), "subject_pattern="),
        "searches": (partial(searches, probe=files_of(list("abcd")), enrolled=files_of(list("abc"), 9)),
                     "names of samples"),
    },
    "labels that contradict": {
        "comparisons": (partial(comparisons, mated=changed(MATED, 0, 0)), "contradicts the subjects"),
        "scans": (partial(scan, mated=changed(MATED, 0, 0)), "contradicts the subjects"),
        "vectors": (partial(vectors, sex=list("fmmmmm")), "a subject has one group"),
        "counts": (partial(decisions, sex=list("fmmm")), "a subject has one group"),
    },
    "samples compared": {
        "comparisons": (partial(comparisons, **SAMPLES), "compare a sample with itself"),
        "scans": (partial(scan, **SAMPLES), "compare a sample with itself"),
        "matrices": (partial(matrix, scores=SELF_MATRIX), "the diagonal of the symmetric matrix"),
        "searches": (partial(searches, scores=SELF_MATRIX, enrolled=list("abcd")), "by itself"),
    },
    "distances": {
        "comparisons": (partial(evaluated, make=partial(comparisons, scores=[-s for s in SCORES])), "distances"),
        "scans": (partial(evaluated, make=partial(scan, scores=[-s for s in SCORES])), "distances"),
        "matrices": (partial(evaluated, make=partial(matrix, scores=REVERSED)), "distances"),
        "searches": (partial(searches, scores=-10 * np.eye(4, 3) + GALLERY), "distances"),
    },
    "entries": {
        "comparisons": (partial(comparisons, scores=FILLED, other=OF_NOBODY), "index left empty"),
        "scans": (partial(scan, scores=FILLED, other=OF_NOBODY), "index left empty"),
        "searches": (lists_of_an_index, "left out, as"),
    },
    "the same thing": {
        "scans": (partial(scan, paths=["s.parquet", "s.parquet"]), "names the file .* twice"),
        "searches": (partial(searches, enrolled=list("aab")), "several templates"),
        "quality": (quality_of_twins, "more than one row for sample 'a'"),
    },
}  # fmt: skip


def sprung_by(guard: Guard) -> dict[str, tuple[Callable[[Path], Any], str]]:
    (found,) = [sprung for words, sprung in SPRUNG.items() if guard.name.startswith(words)]
    return found


@pytest.mark.parametrize("guard", GUARDS, ids=lambda guard: guard.name)
def test_every_kind_of_data_has_the_guard_or_a_reason(guard):
    assert set(guard.reasons) <= set(KINDS)
    assert all(len(reason) > 10 for reason in guard.reasons.values())
    assert guard.kinds, "a guard of nothing"
    assert set(sprung_by(guard)) == set(guard.kinds)


def code_of(home: str) -> Any:
    """Return the code of the function that a guard names as its home, below decorators."""
    parts = home.split(".")
    for n in range(len(parts) - 1, 0, -1):
        try:
            found: Any = importlib.import_module(".".join(["fastfair", *parts[:n]]))
        except ModuleNotFoundError:
            continue
        for name in parts[n:]:
            found = getattr(found, name)
        return getattr(found, "__wrapped__", found).__code__
    raise AssertionError(f"there is no {home}")


def note_call(called: set[Any], frame: Any, event: str, _: object) -> None:
    if event == "call":
        called.add(frame.f_code)


@pytest.mark.parametrize(
    ("guard", "kind"),
    [
        pytest.param(guard, kind, id=f"{kind}-{guard.name}")
        for guard in GUARDS
        for kind in guard.kinds
    ],
)
def test_the_guard_springs(guard, kind, tmp_path):
    spring, says = sprung_by(guard)[kind]
    called: set[Any] = set()
    with warnings.catch_warnings(record=True) as given:
        warnings.simplefilter("always")
        watch = partial(note_call, called)
        sys.setprofile(watch)
        threading.setprofile(watch)
        said = []
        try:
            spring(tmp_path)
        except InputError as error:
            said = [str(error)]
        finally:
            sys.setprofile(None)
            threading.setprofile(None)  # type: ignore[arg-type]
    said += [
        str(one.message) for one in given if issubclass(one.category, ff.errors.FastfairWarning)
    ]
    assert any(_says(says, one) for one in said), (says, said)
    assert called & set(map(code_of, guard.homes)), f"none of {guard.homes} was asked"


def _says(pattern: str, text: str) -> bool:
    return re.search(pattern, text) is not None


def test_plain_data_spring_none(tmp_path):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for make in (comparisons, scan, matrix, vectors, searches, counts):
            assert make(tmp_path) is not None
