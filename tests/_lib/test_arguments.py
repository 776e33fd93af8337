"""The door of every public function: each argument is looked at before any work, and wrong ones are
told by name."""

from __future__ import annotations

import inspect
import sys
from decimal import Decimal
from fractions import Fraction
from types import ModuleType

import numpy as np
import pandas as pd
import polars as pl
import pytest
from helpers import public_api
from helpers.each import each
from helpers.refusals import refused

import fastfair as ff
from fastfair._lib import arguments
from fastfair.errors import InputError

FUNCTIONS = public_api.FUNCTIONS


@each("name", FUNCTIONS)
def test_every_public_function_is_at_the_door(name):
    function = FUNCTIONS[name]
    if not public_api.arguments(function):
        return
    assert hasattr(function, "__wrapped__"), f"{name} is not decorated with `checked`"
    assert set(public_api.arguments(function)) <= set(arguments.checks_of(function)), (
        f"{name} lacks annotations"
    )


def test_the_walk_finds_functions_of_every_kind():
    assert {
        "fastfair.eer",
        "fastfair.measures.fdr",
        "fastfair.intervals.holm",
        "Comparisons",
        "Comparisons.from_frame",
        "Evaluation.value",
        "GroupsPlan.to_frame",
        "OperatingPoint",
    } <= set(FUNCTIONS)


def test_an_annotation_that_nothing_understands_is_told():
    @arguments.checked
    def odd(given: inspect.Parameter) -> None: ...

    with pytest.raises(
        TypeError, match=r"cannot be checked by the annotation <class 'inspect.Parameter'>"
    ):
        odd(5)


EMBEDDINGS = ff.Embeddings([[1, 0], [2, 1], [0, 1], [0, 3]], list("aabb"), list("ffmm"))
SCORES = ff.Comparisons(
    [0.9, 0.8, 0.3, 0.4, 0.1, 0.2], [1, 1, 1, 0, 0, 0], reference_group=list("fmffmm")
)
AT = ff.at_fmr(0.1)


class Hostile:
    """Raises whatever is asked of it."""

    def _raise(self, *_):
        raise RuntimeError("no")

    __repr__ = __eq__ = __hash__ = __len__ = __bool__ = __array__ = __iter__ = __getitem__ = (
        __float__
    ) = _raise
    __index__ = __str__ = _raise


@each(
    ("call", "told"),
    [
        (lambda: ff.eer(EMBEDDINGS), r"comparisons must be Comparisons, not Embeddings: .*comparisons\(\)"),
        (lambda: ff.rates(EMBEDDINGS, AT), "comparisons must be Comparisons, not Embeddings"),
        (lambda: ff.evaluate(pl.DataFrame({"score": [1.0]})), "not a polars DataFrame: make Comparisons of it"),
        (lambda: ff.evaluate(pd.DataFrame({"score": [1.0]})), "not a pandas DataFrame: make Comparisons of it"),
        (lambda: ff.evaluate("scores.csv"), "not 'scores.csv': read it with read_comparisons"),
        (lambda: ff.evaluate(SCORES, at=1e-3), r"at must be an operating point such as at_fmr.*, not 0.001: write"),
        (lambda: ff.rates(SCORES, 1e-3), r"at must be an operating point .* not 0.001: write at_fmr\(1e-3\) for"),
        (lambda: ff.compare(SCORES, [0.5]), "second must be Comparisons, .*, Embeddings or FailureCounts"),
        (lambda: ff.fmr_test(ff.FailureCounts([1], [2], ["a"]), AT), "or Embeddings, not FailureCounts"),
        (lambda: ff.eer(SCORES, method=["nearest"]), "method must be one of .*, not"),
        (lambda: ff.eer(SCORES, method=np.array(["nearest", "b"])), "method must be one of .*, not an array of shape"),
        (lambda: ff.evaluate(SCORES, n_resamples=True), "n_resamples must be a whole number"),
        (lambda: ff.evaluate(SCORES, n_resamples=10.5), "n_resamples must be a whole number"),
        (lambda: ff.evaluate(SCORES, n_resamples=10**400), "n_resamples must be a whole number below 2"),
        (lambda: ff.intervals.upper_limit_without_errors(10**400, 0.9), "n must be a finite number"),
        (lambda: ff.EvaluationSettings(alpha=10**400), "alpha must be a finite number"),
        (lambda: ff.EvaluationSettings(alpha="half"), "alpha must be a finite number"),
        (lambda: ff.EvaluationSettings(alpha=30), "for 30 % write 0.3"),
        (lambda: ff.BandSettings(alpha=2), "alpha must be a fraction"),
        (lambda: ff.EvaluationSettings(alpha=Decimal("0.5")), "alpha must be a finite number"),
        (lambda: ff.evaluate(SCORES, rng=np.random.RandomState(0)), "rng must be None, a whole number"),
        (lambda: ff.evaluate(SCORES, rng=10**5000), "rng must be None, a whole number"),
        (lambda: ff.evaluate(SCORES, progress="yes"), "progress must be True, False or a function of two numbers"),
        (lambda: ff.evaluate(SCORES, measures=5), "measures must be the name of a measure, its function or"),
        (lambda: ff.evaluate(SCORES, measures=["fdr", 5]), r"measures\[1\] must be the name of a measure or"),
        (lambda: ff.EvaluationSettings(zero_policy=None), "zero_policy must be one of .* or a finite number"),
        (lambda: ff.Costs(normalize="no"), "normalize must be True or False"),
        (lambda: ff.Comparisons({0.9, 0.1}, [1, 0]), "scores must be an array or a list"),
        (lambda: ff.Comparisons("0.9", [1, 0]), "scores must be an array or a list, not '0.9'"),
        (lambda: ff.Comparisons([0.9, 0.1], [1, 0], reference_group=5), "reference_group must be an array or a list"),
        (lambda: ff.Embeddings([[1, 0], [1, 1]], "ab"), "subject must be an array or a list"),
        (lambda: SCORES.by(5), "attributes must be text"),
        (lambda: SCORES.within_group(["f"]), "group must be text"),
        (lambda: SCORES.within_group(np.array(["f", "m"])), "group must be text"),
        (lambda: ff.Comparisons.from_frame(pl.DataFrame({"score": [1.0]}), score=1), "score must be text"),
        (lambda: ff.FailureCounts([1], [2], {"sex": 5}), r"group\['sex'\] must be an array or a list"),
        (lambda: ff.roc(SCORES).plot(ax=5), "ax must be matplotlib Axes"),
        (lambda: ff.write_comparisons(SCORES, 5), "path must be the name of a file"),
        (lambda: ff.evaluate(SCORES, n_resamples=0).to_frame(5), "backend must be one of"),
        (lambda: ff.evaluate(SCORES, n_resamples=0).value(5), "name must be text"),
        (lambda: ff.evaluate(SCORES, n_resamples=0).value("fmr", at=0.5), "at must be an operating point"),
        (lambda: ff.measures.fdr("a", [0.1]), "fmr must be a number or an array"),
        (lambda: ff.intervals.holm("a"), "pvalues must be an array or a list"),
        (lambda: ff.synthesis.synthesize_each(10, 10, "fmr", "0.5"), "targets must be a number or an array"),
        (lambda: ff.biased_system({1, 2}), "ratios must be a list"),
        (lambda: ff.EvaluationSettings(alpha=Hostile()), "alpha must be a finite number, not"),
        (lambda: ff.eer(Hostile()), "comparisons must be Comparisons, not"),
        (lambda: ff.eer(SCORES, Hostile()), "method must be one of .*, not"),
        (lambda: ff.Comparisons(Hostile(), [1, 0]), "scores"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_told_by_name(call, told):
    with pytest.raises(InputError, match=told) as error:
        call()
    assert len(str(error.value)) < 400


def test_no_message_is_longer_than_can_be_read():
    with pytest.raises(InputError, match=r"there is no quantity 'xxx.* \[...\] .*xxx") as error:
        ff.evaluate(SCORES, n_resamples=0).value("x" * 100_000)
    assert len(str(error.value)) < 2000


def test_numpys_own_numbers_and_text_are_as_good_as_pythons():
    plain = ff.evaluate(
        SCORES,
        AT,
        "fdr",
        unit="comparison",
        n_resamples=20,
        rng=3,
        settings=ff.EvaluationSettings(alpha=0.5),
        confidence_level=0.75,
    )
    other = ff.evaluate(
        SCORES,
        AT,
        np.array(["fdr"]),
        unit=np.str_("comparison"),
        n_resamples=np.int64(20),
        rng=np.array(3),
        settings=ff.EvaluationSettings(alpha=Fraction(1, 2)),
        confidence_level=np.float32(0.75),
    )
    assert plain.to_json() == other.to_json()


def test_the_door_changes_neither_name_nor_signature():
    assert ff.eer.__name__ == "eer"
    assert str(inspect.signature(ff.at_fmr)) == "(fmr: 'Rate') -> 'OperatingPoint'"
    assert list(inspect.signature(ff.Comparisons).parameters)[:2] == ["scores", "mated"]


def test_arguments_that_nobody_takes_are_told_of_the_function_called():
    for call, message in (
        (
            lambda: ff.compare(SCORES, SCORES, seed=1),
            r"^compare\(\) got an unexpected keyword argument 'seed'",
        ),
        (
            lambda: ff.compare(SCORES, SCORES, comparisons=SCORES),
            r"^compare\(\) got an unexpected keyword argument 'comparisons'",
        ),
        (lambda: ff.eer(SCORES, methods="nearest"), r"eer\(\) got an unexpected keyword argument"),
        (lambda: ff.eer(), r"eer\(\) missing 1 required positional argument"),
        (lambda: ff.eer(SCORES, "nearest", 5), r"eer\(\) takes from 1 to 2 positional arguments"),
    ):
        with pytest.raises(TypeError, match=message):
            call()


def test_arguments_are_checked_while_another_thread_imports_pandas(monkeypatch):
    monkeypatch.setitem(
        sys.modules, "pandas", ModuleType("pandas")
    )  # there, and without any class yet


def test_what_would_do_is_written_as_the_function_takes_it(tmp_path):
    """In records where a function takes these, and by itself where it has the argument."""
    labels = [0.9, 0.2], [1, 0], list("ab"), list("ab"), ["f", None], ["f", "m"]
    refused(r'pass policies=Policies\(missing_labels="drop"\) to leave', ff.Comparisons, *labels)
    refused('pass missing_labels="drop" to leave', ff.FailureCounts, [1, 0], [2, 2], ["f", None])
    file = tmp_path / "s.csv"
    file.write_text("score,mated\n0.9,gleich\n0.2,ungleich\n")
    refused(r"with layout=Layout\(mated_value=\.\.\.\)$", ff.read_comparisons, file)
    refused("with mated_value=$", ff.Comparisons, [0.9, 0.2], ["gleich", "ungleich"])


def test_fields_that_are_given_as_arguments_are_told_where_they_go():
    with pytest.raises(TypeError, match=r"takes failures as policies=Policies\(failures=\.\.\.\)"):
        ff.Comparisons([0.9, 0.2], [1, 0], failures="exclude")
    with pytest.raises(TypeError, match=r"evaluate\(\) takes method as settings=EvaluationSetting"):
        ff.evaluate(ff.Comparisons([0.9, 0.2], [1, 0]), ff.at_threshold(0.5), method="bca")
