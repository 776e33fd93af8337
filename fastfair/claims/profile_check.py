"""`ProfileCheck`: the requirements of a profile, judged by `check`; what the data lack, and what a
person has to fill in.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from statistics import NormalDist
from typing import Any

import numpy as np

from fastfair._lib.arrays import Integers
from fastfair._lib.text import joined_by_or, per_cent, shown
from fastfair._version import __version__
from fastfair.data.comparisons import Comparisons
from fastfair.data.group_labels import UNKNOWN
from fastfair.data.label_bands import NO_BANDS, edges_of, names_of
from fastfair.data.scans import ScannedComparisons
from fastfair.error_rates.operating_points import ENOUGH_ERRORS, OperatingPoint, threshold_key
from fastfair.errors import QUOTED, FastfairWarning, InputError, visible
from fastfair.evaluation.failure_counts import ATTEMPTS, OF_TWO_PEOPLE, FailureCounts
from fastfair.measures._registry import COMPLEMENTS
from fastfair.pages.parts import Cell, Chapter, Column, FirstScreen, Row, Section, Table
from fastfair.pages.report import limits_table
from fastfair.results.result import Printed, printed

from .profile import Clause, DataRule, Profile
from .requirements import keeps_bound
from .result import Case, Check, CheckedQuantity, Suite, worst
from .verdicts import MET, NOT_MET, UNDECIDED, written_value

NOT_JUDGED = "not judged"
_MORE = "more people or comparisons like these, as many as the reason says where that is known"
_BLANK = "_" * 24
ENOUGH, TOO_FEW = "enough", "too few"
TO_FILL_IN = "to fill in"
_LOOKS = {
    MET: MET,
    NOT_MET: NOT_MET,
    UNDECIDED: UNDECIDED,
    NOT_JUDGED: UNDECIDED,
    ENOUGH: MET,
    TOO_FEW: UNDECIDED,
}
_ERRORS_OF_RULE_OF_30 = 1.3  # times the rate, with 90 % confidence
_BY_RULE_OF_3 = 3
OF_MATED = ("fnmr", "frr")  # rates of counts whose attempts are mated comparisons

Data = Comparisons | ScannedComparisons | FailureCounts


@dataclass(frozen=True, kw_only=True)
class ClauseResult:
    """What the data say of a clause, of what a profile asks of the data, or what is to be filled in.

    Attributes
    ----------
    clause, title : str
        As in the profile.
    kind : {"requirement", "data", "item"}
        Whether it is a requirement, asked of the data, or to be filled in.
    requirement : str
        The line that was judged, or how many of what there have to be; empty for what is to be
        filled in.
    result : str
        The estimate and the judged limit in words, or the number of what was counted.
    behind : str
        The errors, comparisons and people behind the estimate of a rate.
    verdict : str
        "met", "not met" or "undecided" as `check` says of the line; "not judged" where the data
        cannot answer; "enough" or "too few" of what is asked of the data; "to fill in".
    reason : str
        Why, in words.
    needs : str
        What to bring where the data cannot answer, or are too few.
    rule : str
        The standard's own rule; empty where it has none, or where it is not computed.
    rule_limit : float
        What the rule holds against the bound; NaN where it gives nothing.
    rule_verdict : str
        "met" or "not met" by this rule; empty where it gives nothing.
    evidence : str
        The rows of the check that the verdict rests on, as the page counts them.
    """

    clause: str
    title: str
    kind: str = "requirement"
    requirement: str = ""
    result: str = ""
    behind: str = ""
    verdict: str
    reason: str = ""
    needs: str = ""
    rule: str = ""
    rule_limit: float = math.nan
    rule_verdict: str = ""
    evidence: str = ""

    @property
    def rule_in_words(self) -> str:
        """The standard's rule with what it gives."""
        if not self.rule or math.isnan(self.rule_limit):
            return self.rule and f"{self.rule}: gives nothing here"
        return f"{self.rule}: {per_cent(self.rule_limit)}, {self.rule_verdict}"


@dataclass(frozen=True, eq=False, repr=False)
class ProfileCheck(Check):
    """The result of `check` with a profile: a `Check` of the lines that the data can answer, and
    the clauses that rest on its rows.

    It says which requirements are met by which rule, and not that a system complies.

    Attributes
    ----------
    profile : Profile
        The profile.
    clauses : tuple of ClauseResult
        Its requirements, what it asks of the data, and what is to be filled in.
    hashes : dict of str to str
        SHA-256 of the files that the data were read from, by name, where they are known.
    """

    profile: Profile | None = None
    clauses: tuple[ClauseResult, ...] = ()
    hashes: dict[str, str] = field(default_factory=dict)

    _page_title = "Requirements of a profile"
    _title = "Which requirements of the profile are met?"
    _rows = "clauses"
    _printed = "clause requirement result behind verdict rule_in_words"
    _properties = "rule_in_words"
    _table_name = "clauses"

    @property
    def verdict(self) -> str:
        """The verdict on all requirements together: "not met" as soon as one is not, "met" where
        all are and the data are enough, else "undecided".
        """
        of_all = [
            {ENOUGH: MET, TOO_FEW: UNDECIDED, NOT_JUDGED: UNDECIDED}.get(row.verdict, row.verdict)
            for row in self.clauses
            if row.verdict != TO_FILL_IN
        ]
        return worst(of_all)

    @property
    def passed(self) -> bool:
        """Whether every requirement was judged, and is met, or undecided where that is allowed;
        and the data are enough.
        """
        allowed = {MET, ENOUGH, TO_FILL_IN} | ({UNDECIDED} if self.allow_undecided else set())
        return all(row.verdict in allowed for row in self.clauses)

    def _with_hashes(self, hashes: Mapping[str, str]) -> ProfileCheck:
        """Return the result with the hashes of files beside those that it has."""
        return replace(self, hashes={**self.hashes, **hashes})

    def _of_profile(self) -> Profile:
        assert self.profile is not None
        return self.profile

    def _with(self, *verdicts: str) -> list[ClauseResult]:
        return [row for row in self.clauses if row.verdict in verdicts]

    def _counted_in_words(self) -> str:
        verdicts = [row.verdict for row in self.clauses if row.kind == "requirement"]
        counts = {
            verdict: verdicts.count(verdict) for verdict in (MET, NOT_MET, UNDECIDED, NOT_JUDGED)
        }
        n = sum(counts.values())
        said = ", ".join(f"{k} {verdict}" for verdict, k in counts.items() if k)
        level = f"{100 * self.confidence_level:g} %"
        if not n:
            return "The profile has no limits that data are judged by."
        return f"{n} requirement{'s' if n > 1 else ''}: {said}, with {level} confidence."

    def _sentences(self) -> list[str]:
        profile = self._of_profile()
        text = [f"Profile: {profile.title}, version {profile.version}.", self._counted_in_words()]
        if not profile.source.official:
            text.append("The official text was not read for this profile: check the official text.")
        text += [
            f"{row.verdict.capitalize()}: {row.clause}: {row.requirement}: {row.reason}"
            for row in self._with(MET, NOT_MET, UNDECIDED)
        ]
        text += [_lacking(row) for row in self._with(NOT_JUDGED, TOO_FEW)]
        n_items = len(self._with(TO_FILL_IN))
        if n_items:
            are = "item is" if n_items == 1 else "items are"
            text.append(f"{n_items} {are} to be filled in by a person.")
        return text

    def _tables(self) -> list[Printed]:
        rows = [row for row in self.clauses if row.verdict != TO_FILL_IN]
        names = self._printed.split()
        columns = {name: [getattr(row, name) for row in rows] for name in names}
        return [printed(columns, names)] if rows else []

    def _figures(self) -> Mapping[str, Any]:
        return super()._figures() if self.rows else {}

    def _display(self) -> Mapping[str, Sequence[tuple[OperatingPoint | None, Table]]]:
        tables = [(None, self._clause_table())]
        limits = [(None, limits_table(self))] if self.rows else []
        return {"clauses": tables, "requirements": limits}

    def _clause_table(self) -> Table:
        """Return the table of the first screen."""
        rows: list[Row] = []
        for row in self.clauses:
            if row.verdict == TO_FILL_IN:
                continue
            evidence = Cell("")
            if row.evidence:
                evidence = Cell(row.evidence, link="limits")
            elif row.verdict in (NOT_JUDGED, TOO_FEW):
                evidence = Cell("what is missing", link="missing")
            rows.append(
                [
                    visible(row.clause),
                    visible(f"{row.title}: {row.requirement}"),
                    visible(row.result),
                    row.behind,
                    Cell(row.verdict.capitalize(), look=_LOOKS[row.verdict]),
                    visible(row.rule_in_words),
                    evidence,
                ]
            )
        names = (
            "Clause", "Requirement", "Result, judged limit", "Errors", "Verdict", "By its own rule", "Evidence",
        )  # fmt: skip
        level = f"{100 * self.confidence_level:g} %"
        return Table(
            f"Requirements, by limits of {level} confidence to one side",
            [Column(name, "text") for name in names],
            rows,
            look="limits",
        )

    def _chapter(self) -> Chapter:
        chapter = super()._chapter()
        profile = self._of_profile()
        source = profile.source
        facts = [
            ("Profile", f"{profile.title}, version {profile.version}"),
            ("Read", f"{source.title}, on {source.read}"),
            *([] if source.official else [("Mark", "check the official text")]),
            *([("Note", source.note)] if source.note else []),
            ("Level", f"{100 * self.confidence_level:g} %, to one side"),
        ]
        thresholds = [f"{value:.7g} at {at}" for at, value in self.thresholds.items()]
        facts += [("Threshold", ", ".join(thresholds))] if thresholds else []
        answer = [
            ("Requirements", self._counted_in_words()),
            (
                "What this says",
                "Which requirements are met by which rule; not that a system complies.",
            ),
        ]
        first = FirstScreen(
            [(name, visible(text)) for name, text in facts],
            groups=answer,
            table=self._clause_table(),
        )
        return replace(
            chapter,
            title=f"Profile {profile.name}",
            sections=list(self._page_sections(chapter)),
            first=first,
        )

    def _page_sections(self, chapter: Chapter) -> Iterator[Section]:
        lacking = self._with(UNDECIDED, NOT_JUDGED, TOO_FEW)
        if lacking:
            cells: list[Row] = [
                [visible(row.clause), visible(row.reason), visible(row.needs)] for row in lacking
            ]
            columns: list[str | Column] = [
                "Clause",
                Column("Why", "text"),
                Column("What would be enough", "text"),
            ]
            table = Table("What the data lack", columns, cells, look="limits")
            yield Section("What is missing", tables=[table], anchor="missing")
        items = self._with(TO_FILL_IN)
        if items:
            cells = [[visible(row.clause), visible(row.title), _BLANK] for row in items]
            columns = ["Clause", Column("Item", "text"), "Filled in"]
            yield Section("To fill in", tables=[Table("What only a person knows", columns, cells)])
        yield Section("Signature", tables=[self._signature()], anchor="signature")
        if self.rows:
            limits = limits_table(self)
            numbered = [[f"{k}. {row[0]}", *row[1:]] for k, row in enumerate(limits.rows, 1)]
            pictures = chapter.sections[0].pictures
            limits = replace(limits, rows=numbered)
            yield Section("Limits", (), pictures, [limits], anchor="limits")

    def _signature(self) -> Table:
        profile = self._of_profile()
        signed = {
            f"profile {profile.name}, SHA-256": profile.sha256,
            **{f"{name}, SHA-256": digest for name, digest in self.hashes.items()},
            "fastfair": __version__,
            "seed": shown(self.settings.get("rng")),
            "system and version tested": _BLANK,
            "tested from, to": _BLANK,
            "tested by, for": _BLANK,
            "number and version of the report": _BLANK,
            "name": _BLANK,
            "date": _BLANK,
            "signature": _BLANK,
        }
        rows = [[visible(name), visible(value)] for name, value in signed.items()]
        columns: list[str | Column] = ["What was signed", Column("", "text")]
        return Table("What the verdicts rest on, and who stands for them", columns, rows)

    def _suite(self) -> Suite:
        profile = self._of_profile()
        cases = [
            Case(
                row.requirement or row.title,
                f"{row.clause}: {row.title}",
                row.verdict,
                _lacking(row) if row.verdict in (NOT_JUDGED, TOO_FEW) else row.reason,
                is_met=row.verdict in (MET, ENOUGH),
                is_allowed=self.allow_undecided and row.verdict == UNDECIDED,
            )
            for row in self.clauses
            if row.verdict != TO_FILL_IN
        ]
        properties = [
            ("profile", f"{profile.name} {profile.version}"),
            ("profile SHA-256", profile.sha256),
            *((f"{name} SHA-256", digest) for name, digest in self.hashes.items()),
            ("fastfair", __version__),
            ("seed", shown(self.settings.get("rng"))),
            *((TO_FILL_IN, f"{row.clause}: {row.title}") for row in self._with(TO_FILL_IN)),
        ]
        return Suite(f"fastfair check {profile.name}", cases, properties)


def _lacking(row: ClauseResult) -> str:
    needs = f" Bring: {row.needs}" if row.needs else ""
    return f"{row.verdict.capitalize()}: {row.clause}: {row.reason}.{needs}"


def check_profile(
    data: Data,
    profile: Profile,
    judge: Callable[..., Check],
    judge_with_replicates: Callable[..., Check],
    seed: Any,
) -> ProfileCheck:
    """Judge the lines of a profile that the data can answer, all of them in one check.

    judge: what checks lines on the data, and is asked for each of them whether it can, with as few
    replicates as there may be; judge_with_replicates: what checks them with all replicates.
    """
    asked = [_answered(clause, judge) for clause in profile.clauses]
    lines = [line for line, _ in asked if line is not None]
    if lines:
        made = judge_with_replicates(list(dict.fromkeys(lines)))
    else:
        made = Check((), (), profile.level, {"requirements": [], "rng": seed})
    judged = [
        _judged(clause, line, why, made, data)
        for clause, (line, why) in zip(profile.clauses, asked, strict=True)
    ]
    counted = [_counted(rule, data, profile.bands) for rule in profile.data]
    items = [
        ClauseResult(clause=item.clause, title=item.title, kind="item", verdict=TO_FILL_IN)
        for item in profile.items
    ]
    return ProfileCheck(
        made.requirements,
        made.rows,
        made.confidence_level,
        {**made.settings, "profile": profile.name},
        made.allow_undecided,
        profile=profile,
        clauses=(*judged, *counted, *items),
        left_out=made.left_out or data.left_out,
        thresholds=made.thresholds,
    )


def _answered(clause: Clause, judge: Callable[..., Check]) -> tuple[str | None, str]:
    """Return the first line of a clause that the data can answer, or why they cannot."""
    refusals = []
    for line in clause.require:
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", FastfairWarning)
                judge([line], n_resamples=2)
        except InputError as error:
            refusals.append(error)
        else:
            return line, ""
    return None, f"the data have no answer: {QUOTED.get()(refusals[0])}"


def _judged(clause: Clause, line: str | None, why: str, made: Check, data: Data) -> ClauseResult:
    about: dict[str, Any] = {"clause": clause.clause, "title": clause.title, "needs": clause.needs}
    if line is None:
        wanted = joined_by_or(clause.require)
        return ClauseResult(**about, requirement=wanted, verdict=NOT_JUDGED, reason=why)
    verdict = made.verdicts[line]
    numbers = [k for k, row in enumerate(made.rows, 1) if row.requirement == line]
    farthest = made._farthest(line)
    groups = ""
    evidence = f"limits, row {numbers[0]}"
    if len(numbers) > 1:
        groups = f" ({len(numbers)} groups, the farthest: {farthest.group})"
        evidence = f"limits, rows {numbers[0]} to {numbers[-1]}"
    limit = "no limit"
    if not math.isnan(farthest.decided_by):
        side = "upper" if farthest.is_upper != farthest.is_refuted else "lower"
        limit = f"{side} limit {written_value(farthest.name, farthest.decided_by)}"
    estimate = written_value(farthest.name, farthest.estimate)
    limit_of_rule = _limit_by_rule(clause, farthest, data) if clause.rule else math.nan
    keeps = keeps_bound(farthest.relation, limit_of_rule, farthest.bound)
    by_rule = "" if math.isnan(limit_of_rule) else MET if keeps else NOT_MET
    return ClauseResult(
        **about | {"needs": _MORE if verdict == UNDECIDED else ""},
        requirement=line,
        result=f"{estimate}, {limit}{groups}",
        behind=_behind_in_words(farthest),
        verdict=verdict,
        reason=farthest.reason,
        rule=f"normal, {100 * clause.rule_level:g} %" if clause.rule == "normal" else clause.rule,
        rule_limit=limit_of_rule,
        rule_verdict=by_rule,
        evidence=evidence,
    )


def _behind_in_words(row: CheckedQuantity) -> str:
    """Say how many errors, comparisons and people a rate rests on; nothing for what is no rate."""
    if row.n_errors is None or row.n_comparisons is None:
        return ""
    people = "" if row.n_subjects is None else f"; {row.n_subjects:,} people"
    return f"{row.n_errors:,} of {row.n_comparisons:,}{people}"


# the rules of standards


def _limit_by_rule(clause: Clause, row: CheckedQuantity, data: Data) -> float:
    """Return what the standard's rule holds against the bound; NaN where it gives nothing.

    A share that is accepted has 1 minus the limit of the errors.
    """
    if clause.rule == "estimate":
        return row.estimate
    if row.n_errors is None or not row.n_comparisons:
        return math.nan
    if clause.rule == "rule of 3 or 30":
        limit = limit_by_rule_of_3_or_30(row.n_errors, row.n_comparisons)
    else:
        failures, attempts = _of_people(row, data)
        # of people in part, it would be the limit of another rate
        is_of_all = failures.sum() == row.n_errors and attempts.sum() == row.n_comparisons
        limit = normal_limit(failures, attempts, clause.rule_level) if is_of_all else math.nan
    return 1 - limit if row.name in COMPLEMENTS else limit


def normal_limit(failures: Integers, attempts: Integers, level: float) -> float:
    """Return the normal upper limit of a rate, with its variance between people.

    The variance is that of ISO/IEC 19795-1 for several attempts of a person; with one attempt each,
    that of a binomial rate with n - 1 in place of n.
    """
    n = failures.size
    if n < 2:
        return math.nan
    rate = failures.sum() / attempts.sum()
    spread = failures - rate * attempts
    variance = n / (n - 1) * float(spread @ spread) / float(attempts.sum()) ** 2
    return float(rate + NormalDist().inv_cdf(level) * math.sqrt(variance))


def limit_by_rule_of_3_or_30(n_errors: int, n_comparisons: int) -> float:
    """Return 3 / n without an error, and 1.3 times the rate with 30 or more; else NaN."""
    if n_errors == 0:
        return _BY_RULE_OF_3 / n_comparisons
    if n_errors >= ENOUGH_ERRORS:
        return _ERRORS_OF_RULE_OF_30 * n_errors / n_comparisons
    return math.nan


def people_for_comparisons(n_comparisons: int, attempts: int = 1, *, ordered: bool = True) -> int:
    """Return how many people have so many comparisons with each other, in both orders or in one."""
    each = n_comparisons / attempts * (1 if ordered else 2)
    n = max(2, math.floor((1 + math.sqrt(1 + 4 * each)) / 2))
    return n if n * (n - 1) >= each else n + 1


def _of_people(row: CheckedQuantity, data: Data) -> tuple[Integers, Integers]:
    """Return the failures and attempts of each person; none where they are not known."""
    none = np.zeros(0, np.int64)
    if isinstance(data, FailureCounts):
        if data.totals:  # a person an attempt
            single = data._single_attempts()
            return single.failures, single.attempts
        return (data.failures, data.attempts) if data.people is None else (none, none)
    is_of_mated = COMPLEMENTS.get(row.name, row.name) in OF_MATED and row.at is not None
    if not (isinstance(data, Comparisons) and data.subjects is not None and is_of_mated):
        return none, none
    assert row.at is not None
    first, second = data.mated.compared()
    if not np.array_equal(first, second):
        return none, none
    attempts = np.bincount(first)
    failures = np.bincount(
        first[data.mated.keys < threshold_key(data, row.at)], minlength=attempts.size
    )
    is_there = attempts > 0
    return failures[is_there], attempts[is_there]


# what a profile asks of the data

_WHAT = {
    "people": "people",
    "people of each label": "people with each label",
    "mated": "mated comparisons or attempts",
    "nonmated": "non-mated comparisons or attempts",
}


def _counted(rule: DataRule, data: Data, bands: str) -> ClauseResult:
    """Hold the number of people, comparisons or attempts against what the profile asks for."""
    n, said = _number_of(rule, data, bands)
    about: dict[str, Any] = {"clause": rule.clause, "title": rule.title, "kind": "data"}
    asked = f"{rule.least:,} or more {_WHAT[rule.count]}{f' of {rule.attribute}' * bool(rule.attribute)}"
    if n is None:
        needs = rule.needs if rule.count.startswith("people") else asked
        return ClauseResult(
            **about, requirement=asked, verdict=NOT_JUDGED, reason=said, needs=needs
        )
    is_enough = n >= rule.least
    needs = ""
    if not is_enough:
        needs = rule.needs or asked
        if rule.count == "nonmated":
            needs = f"{needs.rstrip('.')}. {_people_in_words(rule.least)}"
    return ClauseResult(
        **about,
        requirement=asked,
        result=said,
        verdict=ENOUGH if is_enough else TOO_FEW,
        reason=f"{said}; asked for: {asked}",
        needs=needs,
    )


def _people_in_words(n_comparisons: int) -> str:
    both = people_for_comparisons(n_comparisons)
    five = people_for_comparisons(n_comparisons, 5)
    single = people_for_comparisons(n_comparisons, ordered=False)
    return (
        f"{single:,} people have {n_comparisons:,} comparisons with each other; {both:,} do in both"
        f" orders, and {five:,} with five attempts each in both orders"
    )


def _number_of(rule: DataRule, data: Data, bands: str) -> tuple[int | None, str]:
    """Count what a rule is about; None, and why, where the data do not tell."""
    if rule.count == "people of each label":
        return _people_of_labels(rule.attribute, data, _names_of_bands(rule.attribute, bands))
    if rule.count == "people":
        if not isinstance(data, FailureCounts):
            n = None if data.subjects is None else len(data.subjects)
        else:
            n = data.n_people
        return n, "the data have no people" if n is None else f"{n:,} people"
    if isinstance(data, FailureCounts):
        if data.rate_name not in (OF_MATED if rule.count == "mated" else OF_TWO_PEOPLE):
            return None, f"the data are counts of the {data.rate_name.upper()}"
        n = int(data.attempts.sum())
        return n, f"{n:,} {data.attempt}s"
    kept = data if isinstance(data, Comparisons) else data.kept
    is_mated = rule.count == "mated"
    n = len(kept.mated if is_mated else kept.nonmated)
    if kept.transactions:
        return n, f"{n:,} {ATTEMPTS['frr' if is_mated else 'far']}s"
    return n, f"{n:,} {'mated' if is_mated else 'non-mated'} comparisons"


def _names_of_bands(attribute: str, bands: str) -> list[str]:
    """Return the labels that the profile's bands give an attribute; none where it has no bands."""
    name, _, edges = (part.strip() for part in bands.partition("="))
    return names_of(edges_of(edges)) if name == attribute and edges != NO_BANDS else []


def _people_of_labels(attribute: str, data: Data, wanted: Sequence[str]) -> tuple[int | None, str]:
    """Count the people with the rarest label of an attribute, which may be one that nobody has.

    wanted: the labels that there are to be; by default those that people have.
    """
    grouping = tuple(getattr(data, "attributes", None) or data.grouping)
    if attribute not in grouping:
        return None, f"the data have no attribute {attribute!r}"
    if isinstance(data, FailureCounts):
        if data.grouping != (attribute,) or data.totals:
            return None, f"people are not counted by {attribute!r} alone"
        counts = dict(zip(data.groups, data.n_subjects.tolist(), strict=True))
    else:
        by = data.by(attribute)
        codes = (by if isinstance(by, Comparisons) else by.kept).group_of_subject
        if codes is None:
            return None, f"people are not counted by {attribute!r}"
        counts = dict(
            zip(by.groups, np.bincount(codes, minlength=len(by.groups)).tolist(), strict=True)
        )
    if wanted:
        others = [label for label in counts if label not in wanted and label != UNKNOWN]
        if others:
            return None, (
                f"{attribute!r} has {others[0]!r}, which is none of the profile's bands"
                f" {', '.join(wanted)}"
            )
        counts = {label: counts.get(label, 0) for label in wanted}
    rarest = min(counts, key=lambda label: counts[label])
    said = ", ".join(f"{n:,} of {label}" for label, n in counts.items())
    return counts[rarest], f"people: {said}"
