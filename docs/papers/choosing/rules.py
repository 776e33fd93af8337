"""Rules of the page on choosing measures: which measures contradict each other, and which answers
which question.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Literal

import numpy as np

from fastfair.evaluation.contrasts import Contrast
from papers.laws import scaled_measures
from papers.quantities import WITHHELD, measure_of
from papers.sed import claims
from papers.sed.law import lawful_scores
from papers.sed.printed import TABLES
from papers.sed.systems import Scores

from .runs import Runs, entries_of, fairest

Relation = Literal["agree", "disagree", "not told apart", "withheld", "not computable"]
_SCALE = 0.1
_EQUAL_GROUPS = ("1:1:1:1", "2:2:2:2", "3:3:3:3", "5:5:5:5")


def favours(contrast: Contrast) -> Literal["first", "second", ""]:
    """Say which system the two estimates alone would call fairer; "" for neither."""
    fair = fairest(contrast.name)
    away = [abs(value - fair) for value in (contrast.first, contrast.second)]
    if not all(map(math.isfinite, away)) or away[0] == away[1]:
        return ""
    return "first" if away[0] < away[1] else "second"


def relation(one: Contrast, other: Contrast) -> Relation:
    """Say whether two measures call the same system fairer, as far as their verdicts tell."""
    if not all(math.isfinite(contrast.difference) for contrast in (one, other)):
        return "not computable"
    if WITHHELD in (one.verdict, other.verdict):
        return "withheld"
    if not {one.verdict, other.verdict} <= {"first", "second"}:
        return "not told apart"
    return "agree" if one.verdict == other.verdict else "disagree"


@dataclass(frozen=True)
class Ability:
    """What a measure can do, by its facts and by runs.

    Attributes
    ----------
    measure : str
        Named as in an evaluation.
    error_types : int
        How many enter.
    needs_policy, has_reference, bounded, fails_without_errors : bool
        Facts that it states of itself.
    computable : float
        Share of results on real data with an estimate and a finite interval.
    orders_one, orders_two, orders_three : float
        Share of pairs of systems in order without chance, with one, two and three disadvantaged
        groups: paper 1's Tables IV, V and VI; NaN where not tried.
    sees_shared : bool or None
        Whether it grows with a bias that all groups share, without chance; None where not tried.
    keeps_scale : bool or None
        Whether it stays where all error rates fall to a tenth; None where not tried.
    tells_bias : float
        Share of computable results on real data and on made data with bias, whose interval leaves
        the fair value out.
    false_alarms : int
        How often it does so on made data without bias.
    uncertainty : float
        Median of standard error divided by estimate.
    """

    measure: str
    error_types: int
    needs_policy: bool
    has_reference: bool
    bounded: bool
    fails_without_errors: bool
    computable: float
    orders_one: float
    orders_two: float
    orders_three: float
    sees_shared: bool | None
    keeps_scale: bool | None
    tells_bias: float
    false_alarms: int
    uncertainty: float


def abilities(runs: Runs) -> dict[str, Ability]:
    """Find what every measure can do."""
    return {name: _ability(name, runs, lawful_scores_once()) for name in runs.measures}


@cache
def lawful_scores_once() -> Scores:
    """Return paper 1's systems without chance, computed once."""
    return lawful_scores()


def _ability(name: str, runs: Runs, law: Scores) -> Ability:
    facts = measure_of(name)
    assert facts is not None
    metric = base_metric(name)
    real, made = entries_of(runs.real, name), entries_of(runs.made, name)
    fair_systems = [entry for entry in made if len(set(entry.data.split(":"))) == 1]
    biased = [entry for entry in [*real, *made] if entry not in fair_systems and entry.computable]
    tried = (name, "fmr", "1:1:1:1") in law
    uncertain = [entry.uncertainty for entry in biased if math.isfinite(entry.uncertainty)]
    orders_one, orders_two, orders_three = (
        (
            claims.share_in_order(law, name, claims.ordered_pairs(TABLES[table][1]))
            if tried
            else math.nan
        )
        for table in ("IV", "V", "VI")
    )
    return Ability(
        measure=name,
        error_types=len(facts.error_types(metric)),
        needs_policy=facts.needs_policy_threshold(metric),
        has_reference=facts.global_reference,
        bounded=facts.bounded,
        fails_without_errors=facts.ratio,
        computable=float(np.mean([entry.computable for entry in real])),
        orders_one=orders_one,
        orders_two=orders_two,
        orders_three=orders_three,
        sees_shared=sees_shared(law, name) if tried else None,
        keeps_scale=keeps_scale(name),
        tells_bias=float(np.mean([entry.tells_bias for entry in biased])) if biased else math.nan,
        false_alarms=sum(entry.tells_bias for entry in fair_systems),
        uncertainty=float(np.median(uncertain)) if uncertain else math.nan,
    )


def base_metric(name: str) -> str | None:
    """Return the base metric in a measure's name; None where both rates enter together."""
    return name.partition("(")[2].rstrip(")") or None


def sees_shared(scores: Scores, name: str) -> bool:
    """Tell whether a measure grows from 2:2:2:2 over 3:3:3:3 to 5:5:5:5."""
    return claims.share_in_order(scores, name, claims.ordered_pairs(_EQUAL_GROUPS[1:])) == 1


def keeps_scale(name: str) -> bool | None:
    """Tell whether a measure stays where all error rates fall to a tenth; None where it is not one
    of rates.
    """
    fmr, fnmr = np.array([1e-3, 2e-3, 5e-3]), np.array([0.05, 0.09, 0.04])
    before, after = (scaled_measures(fmr, fnmr, factor) for factor in (1.0, _SCALE))
    return math.isclose(before[name], after[name], rel_tol=1e-9) if name in before else None


@dataclass(frozen=True)
class Question:
    """A question that a measure is chosen for.

    Attributes
    ----------
    text : str
    rule : str
        What a measure must have to answer it.
    answers : callable
        The rule.
    recommended : mapping of str to str
        Measures that papers recommend for it, and where.
    """

    text: str
    rule: str
    answers: Callable[[Ability], bool]
    recommended: Mapping[str, str]


@dataclass(frozen=True)
class Answer:
    """Which measures answer a question.

    Attributes
    ----------
    question : Question
    confirmed, refused : list of str
        Of the recommended, those that the rule confirms and those that it does not.
    others : list of str
        Not recommended for it, but the rule has them too.
    """

    question: Question
    confirmed: list[str]
    refused: list[str]
    others: list[str]


def answer(question: Question, able: Mapping[str, Ability]) -> Answer:
    """Put every measure to a question."""
    fit = [name for name, ability in able.items() if question.answers(ability)]
    recommended = [name for name in question.recommended if name in able]
    return Answer(
        question,
        [name for name in recommended if name in fit],
        [name for name in recommended if name not in fit],
        [name for name in fit if name not in recommended],
    )


def questions(able: Mapping[str, Ability]) -> list[Question]:
    """List the questions of the guide."""
    typical = _median([one.uncertainty for one in able.values()])
    return [
        Question(
            "Is a single group worse off?",
            "all pairs of systems with one disadvantaged group in order, both error types",
            lambda one: one.orders_one == 1 and one.error_types == 2,
            dict.fromkeys(
                ("inequity_rate", "fdr", "garbe", "std(eer)", "sed_std", "sed_mean"), "1, V-A"
            ),
        ),
        Question(
            "Is there a second group between the best and the worst?",
            "all pairs of systems with two disadvantaged groups in order",
            lambda one: one.orders_two == 1,
            {"garbe": "1, V-B1", "sed_mean": "1, V-B1"},
        ),
        Question(
            "Are most groups worse off than the best, by different amounts?",
            "all pairs of systems with three disadvantaged groups in order",
            lambda one: one.orders_three == 1,
            {"sed_mean": "1, V-B2"},
        ),
        Question(
            "Are all groups worse off than the system as a whole?",
            "grows from 2:2:2:2 over 3:3:3:3 to 5:5:5:5",
            lambda one: bool(one.sees_shared),
            {"sed_mean": "1, V-B3"},
        ),
        Question(
            "How large is the bias against a reference?",
            "groups are held against all comparisons",
            lambda one: one.has_reference,
            {"sed_mean": "1, VI", "mape(fmr)": "1, II-B", "nrb(eer)": "3", "nrb(min_dcf)": "3"},
        ),
        Question(
            "Is there no policy that names a threshold?",
            "brings its own threshold or needs none",
            lambda one: not one.needs_policy,
            {"sed_mean": "1, II-B", "sed_std": "1, II-B", "std(eer)": "1, II-B"},
        ),
        Question(
            "Are rates small, or of different size for two metrics?",
            "the same where all error rates fall to a tenth",
            lambda one: bool(one.keeps_scale),
            {
                "nrb(fmr)": "3",
                "nrb(fnmr)": "3",
                "nrb(eer)": "3",
                "garbe": "2, FFMC.1",
                "inequity_rate": "2, FFMC.1",
            },
        ),
        Question(
            "Do some groups have no errors?",
            "divides by no group's rate, and computable in all results on real data",
            lambda one: not one.fails_without_errors and one.computable == 1,
            {"garbe": "2, FFMC.3", "fdr": "2, FFMC.3"},
        ),
        Question(
            "Is one number wanted for both error types, with fixed ends?",
            "both error types at one threshold, finite bounds",
            lambda one: one.error_types == 2 and one.bounded and base_metric(one.measure) is None,
            {"garbe": "2, FFMC.2", "fdr": "2, FFMC.2"},
        ),
        Question(
            "Are groups small, so that the number must vary little?",
            f"standard error at most {typical:.2g} of the estimate, the median over measures, and"
            " computable in all results on real data",
            lambda one: one.uncertainty <= typical and one.computable == 1,
            {"max_geomean_ratio(fmr)": "5, Fig. 5", "max_geomean_ratio(fnmr)": "5, Fig. 5"},
        ),
        Question(
            "Must the interval leave the fair value out?",
            "does so in all results on real data and on made systems with bias, and in none without"
            " bias",
            lambda one: one.tells_bias == 1 and one.false_alarms == 0 and one.computable == 1,
            {},
        ),
    ]


def _median(values: Sequence[float]) -> float:
    known = [value for value in values if math.isfinite(value)]
    return float(np.median(known)) if known else math.nan


def title(measure: str) -> str:
    """Name a measure for readers, as in "NRB of EER"."""
    facts = measure_of(measure)
    assert facts is not None
    metric = base_metric(measure)
    if metric is not None:
        return f"{facts.title} of {_METRICS[metric]}"
    return {"sed_mean": "mean SED", "sed_std": "STD of SED"}.get(measure, facts.title)


_METRICS = {
    "fmr": "FMR",
    "fnmr": "FNMR",
    "tmr": "TMR",
    "eer": "EER",
    "min_dcf": "minDCF",
    "cllr": "Cllr",
}
