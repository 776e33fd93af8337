"""What section V of paper 1 claims of the measures, as rules that any set of the 44 systems obeys
or breaks.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import pairwise, permutations

import numpy as np
from scipy.stats import spearmanr

from papers.page_parts import Verdict
from papers.quantities import measure_of
from papers.verdict_rules import Outcome

from .printed import COLUMNS, SYSTEMS, TABLES
from .systems import Runs, Scores

# Whether a set of systems obeys; None where a number that decides is not computable.
Test = Callable[[Scores], bool | None]

HOLDS, IN_PART = 0.95, 0.5  # shares of sets of systems
_SIMILAR = 0.9  # rank correlation
_EQUAL_GROUPS = ("2:2:2:2", "3:3:3:3", "5:5:5:5")
_WITHOUT_REFERENCE = ("inequity_rate", "garbe", "fdr", "std(eer)", "sed_std")
_GROUPS_OF_TWO = ("1:1:2:3", "1:1:3:3"), ("1:1:2:5", "1:1:3:5", "1:1:5:5")
_GROUPS_OF_THREE = ("1:1:2:2", "1:2:2:2"), ("1:1:2:3", "1:1:3:3", "1:3:3:2", "1:3:3:3")


@dataclass(frozen=True)
class Claim:
    """A claim and the test of it.

    Attributes
    ----------
    text, source, rule : str
        What is claimed, where, and when it counts as obeyed.
    test : Test
    """

    text: str
    source: str
    rule: str
    test: Test


def printed_scores() -> Scores:
    """Return the printed tables as measures of one set of systems."""
    return {
        (name, row.kind, row.ratios): cell.value
        for row in SYSTEMS
        for name, cell in row.numbers.items()
    }


def bias(scores: Scores, measure: str, ratios: str, kind: str = "fmr") -> float:
    """Return a measure so that more is less fair."""
    facts = measure_of(measure)
    assert facts is not None
    value = scores[measure, kind, ratios]
    return -value if facts.fairer == "higher" else value


def is_worse(ratios: str, other: str) -> bool:
    """Tell whether a system is at least as bad as another for every group, and worse for one."""
    one, two = (sorted(int(part) for part in text.split(":")) for text in (ratios, other))
    return one != two and all(a >= b for a, b in zip(one, two, strict=True))


@cache
def ordered_pairs(systems: tuple[str, ...]) -> tuple[tuple[str, str], ...]:
    """Return all pairs of systems of which the second is worse."""
    return tuple(
        (better, worse) for better, worse in permutations(systems, 2) if is_worse(worse, better)
    )


def share_in_order(
    scores: Scores, measure: str, pairs: Sequence[tuple[str, str]], kind: str = "fmr"
) -> float:
    """Return the share of pairs whose worse system has the higher bias; NaN where one of them is
    not computable.
    """
    found = np.array([[bias(scores, measure, ratios, kind) for ratios in pair] for pair in pairs])
    return float((found[:, 1] > found[:, 0]).mean()) if np.isfinite(found).all() else math.nan


def _in_order(measure: str, pairs: Sequence[tuple[str, str]], kind: str = "fmr") -> Test:
    def test(scores: Scores) -> bool | None:
        share = share_in_order(scores, measure, pairs, kind)
        return None if math.isnan(share) else share == 1

    return test


def _tied(measures: Sequence[str], groups: Sequence[Sequence[str]]) -> Test:
    def test(scores: Scores) -> bool | None:
        found = [
            [bias(scores, name, ratios) for ratios in group]
            for name in measures
            for group in groups
        ]
        if not all(math.isfinite(value) for group in found for value in group):
            return None
        return all(
            math.isclose(group[0], value, rel_tol=1e-9, abs_tol=1e-12)
            for group in found
            for value in group
        )

    return test


def _only_mean_sed_is_not_fair(kind: str) -> Test:
    def test(scores: Scores) -> bool | None:
        found = {name: scores[name, kind, "1:1:1:1"] for name in COLUMNS}
        fair = {
            name: measure.fair_value
            for name in COLUMNS
            if (measure := measure_of(name)) is not None
        }
        if not all(map(math.isfinite, found.values())):
            return None
        return found["sed_mean"] > 0 and all(
            found[name] == fair[name] for name in _WITHOUT_REFERENCE
        )

    return test


def _only_mean_sed_tells_equal_groups_apart(scores: Scores) -> bool | None:
    means = {scores["sed_mean", "fmr", ratios] for ratios in _EQUAL_GROUPS}
    tied = _tied(_WITHOUT_REFERENCE, [_EQUAL_GROUPS])(scores)
    return None if tied is None else tied and len(means) == len(_EQUAL_GROUPS)


def _fail_alike(measures: tuple[str, str], pairs: Sequence[tuple[str, str]]) -> Test:
    def test(scores: Scores) -> bool | None:
        one, other = (
            {pair for pair in pairs if bias(scores, name, pair[1]) <= bias(scores, name, pair[0])}
            for name in measures
        )
        return one == other

    return test


def _rank_alike(measures: tuple[str, str], systems: Sequence[str]) -> Test:
    def test(scores: Scores) -> bool | None:
        found = np.array([[bias(scores, name, ratios) for ratios in systems] for name in measures])
        return bool(spearmanr(*found).statistic >= _SIMILAR) if np.isfinite(found).all() else None

    return test


def _table(name: str) -> tuple[str, ...]:
    return TABLES[name][1]


def false_match_systems() -> tuple[str, ...]:
    """Return the systems of tables IV to VII."""
    return tuple(ratios for kind, systems in TABLES.values() if kind == "fmr" for ratios in systems)


def claims() -> list[Claim]:
    """List the claims of section V and of the conclusion, in the paper's order."""
    found = []
    strictly = "each system scores worse than the one before"
    for name, title in COLUMNS.items():
        chain = list(pairwise(_table("IV")))
        found.append(
            Claim(
                f"{title} ranks single disadvantaged groups",
                "V-A, Table IV",
                strictly,
                _in_order(name, chain),
            )
        )
    alone = "mean SED above 0, all others at their fair value"
    only = "Only mean SED finds bias in 1:1:1:1"
    found.append(Claim(only, "V-A, Table IV", alone, _only_mean_sed_is_not_fair("fmr")))
    for name in ("inequity_rate", "fdr"):
        ties = "equal within each of " + " and ".join(
            f"{{{', '.join(group)}}}" for group in _GROUPS_OF_TWO
        )
        missed = f"{COLUMNS[name]} misses intermediate bias of two groups"
        found.append(Claim(missed, "V-B1, Table V", ties, _tied([name], _GROUPS_OF_TWO)))
    for name in ("std(eer)", "sed_std"):
        text = f"{COLUMNS[name]} scores 1:1:3:5 below 1:1:2:5"
        found.append(
            Claim(
                text, "V-B1, Table V", "strictly below", _in_order(name, [("1:1:3:5", "1:1:2:5")])
            )
        )
    in_order = (
        "of any two systems the one that is worse for some group and better for none scores worse"
    )
    for name in ("garbe", "sed_mean"):
        pairs = ordered_pairs(_table("V"))
        found.append(
            Claim(
                f"{COLUMNS[name]} has no failure case",
                "V-B1, Table V",
                in_order,
                _in_order(name, pairs),
            )
        )
    same = "the same pairs of systems are out of order"
    alike = "STD of EER and STD of SED share their failure cases"
    test = _fail_alike(("std(eer)", "sed_std"), ordered_pairs(_table("V")))
    found.append(Claim(alike, "V-B1, Table V", same, test))
    for name in ("garbe", "std(eer)", "sed_std"):
        text = f"{COLUMNS[name]} scores 1:5:5:2 above 1:5:5:3 and 1:5:5:5"
        test = _in_order(name, [("1:5:5:3", "1:5:5:2"), ("1:5:5:5", "1:5:5:2")])
        found.append(Claim(text, "V-B2, Table VI", "strictly above both", test))
    for name in ("inequity_rate", "fdr"):
        ties = "equal within each of " + " and ".join(
            f"{{{', '.join(group)}}}" for group in _GROUPS_OF_THREE
        )
        text = f"{COLUMNS[name]} misses intermediate bias across tables"
        found.append(Claim(text, "V-B2, Tables V and VI", ties, _tied([name], _GROUPS_OF_THREE)))
    for table, where in (("VI", "V-B2, Table VI"), ("VII", "V-B3, Table VII")):
        test = _in_order("sed_mean", ordered_pairs(_table(table)))
        found.append(Claim("Mean SED ranks as intended", where, in_order, test))
    apart = "mean SED differs between the three, all others are equal"
    text = "Only mean SED tells 2:2:2:2, 3:3:3:3 and 5:5:5:5 apart"
    found.append(Claim(text, "V-B3, Table VII", apart, _only_mean_sed_tells_equal_groups_apart))
    for name, title in COLUMNS.items():
        test = _in_order(name, list(pairwise(_table("VIII"))), "fnmr")
        found.append(
            Claim(f"{title} ranks bias in false non-matches", "V-C, Table VIII", strictly, test)
        )
    found.append(Claim(only, "V-C, Table VIII", alone, _only_mean_sed_is_not_fair("fnmr")))
    similar = f"rank correlation of at least {_SIMILAR:g} over Tables IV to VII"
    systems = false_match_systems()
    for first, second in (("inequity_rate", "fdr"), ("std(eer)", "sed_std")):
        text = f"{COLUMNS[first]} and {COLUMNS[second]} rank systems similarly"
        found.append(Claim(text, "VI", similar, _rank_alike((first, second), systems)))
    test = _in_order("sed_mean", ordered_pairs(systems))
    text = "Mean SED ranked all systems correctly"
    found.append(Claim(text, "VI, Tables IV to VII together", in_order, test))
    return found


def judged(claim: Claim, runs: Runs, law: Scores) -> Verdict:
    """Try a claim on every set of systems, on systems without chance, and on the printed tables."""
    outcomes = [claim.test(runs.of_seed(number)) for number in range(runs.n_seeds)]
    of_law, printed = claim.test(law), claim.test(printed_scores())
    known = [outcome for outcome in outcomes if outcome is not None]
    unknown = len(outcomes) - len(known)
    share = sum(known) / len(known) if known else math.nan
    ours = (
        f"ours: {100 * share:.0f} % of {len(known)} sets" if known else "ours: in no set computable"
    )
    aside = f", not computable in {unknown}" if unknown and known else ""
    found = f"printed: {_yes(printed)}; {ours}{aside}; without chance: {_yes(of_law)}"
    return Verdict(
        claim.text,
        claim.source,
        claim.rule,
        found,
        decide(share, len(known), len(outcomes), of_law),
    )


def decide(share: float, n_known: int, n_sets: int, of_law: bool | None) -> Outcome:
    """Make a verdict of the share of computable sets that obey, and of whether systems without
    chance do.
    """
    if 2 * n_known <= n_sets:
        return "open"
    if share >= HOLDS:
        return "holds"
    return "in part" if share >= IN_PART or of_law else "fails"


def _yes(outcome: bool | None) -> str:
    return "not computable" if outcome is None else "yes" if outcome else "no"


def order_shares(scores: Scores, measure: str) -> list[float]:
    """Return the share of pairs in order within each table, and over tables IV to VII together."""
    shares = [
        share_in_order(scores, measure, ordered_pairs(systems), kind)
        for kind, systems in TABLES.values()
    ]
    return [*shares, share_in_order(scores, measure, ordered_pairs(false_match_systems()))]
