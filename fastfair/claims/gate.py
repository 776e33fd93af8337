"""`check`: are requirements met?"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree

from fastfair._lib import seeds, whole_files
from fastfair._lib.arguments import Resamples, checked
from fastfair._lib.plots import Line, draw_rows
from fastfair.data.comparisons import Comparisons
from fastfair.data.exclusions import sentences_on_exclusions
from fastfair.data.scans import ScannedComparisons
from fastfair.error_rates.operating_points import OperatingPoint, at_fmr
from fastfair.error_rates.score_metrics import Costs
from fastfair.errors import InputError, NarrowIntervalsWarning, visible
from fastfair.evaluation.attributes import evaluate_attributes
from fastfair.evaluation.evaluate import EvaluationSettings, MeasureSettings, evaluate
from fastfair.evaluation.result import Evaluation
from fastfair.group_tests.failure_counts import FailureCounts
from fastfair.measures._registry import measure_of
from fastfair.pages.parts import Table
from fastfair.pages.report import limits_table
from fastfair.resampling.engine import METRICS as SCORE_METRICS
from fastfair.resampling.units import Unit
from fastfair.results.result import Result

from .any_look import judge_any
from .counts import AT, decisions_of, requirements_on
from .families import Attributes, estimates_of_each
from .looks import Look, at_look, look_at, read_earlier, read_looks, require_later
from .requirements import Requirement, requirements_of
from .verdicts import (
    COLORS,
    MET,
    NOT_MET,
    UNDECIDED,
    Estimates,
    JudgedEstimate,
    judged,
    level_of_limits,
    verdict_bars,
    written_value,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_LEAST = 0.01  # of what is required; what is lower is drawn there


@dataclass(frozen=True, kw_only=True)
class CheckedQuantity(JudgedEstimate):
    """One quantity that a requirement is about: a `JudgedEstimate`, and what it was held against.

    Attributes
    ----------
    requirement : str
        The requirement, as it was written.
    name : str
        The quantity, as in `Quantity`.
    at : OperatingPoint or None
        Its operating point; None where it needs none.
    relation : {"<=", "<", ">=", ">"}
        How it must lie to the bound.
    bound : float
        What it is compared with.
    verdict : {"met", "not met", "undecided"}
        Whether the data show, at the level, that the requirement is met, that it is not, or
        neither.
    """

    requirement: str
    name: str
    at: OperatingPoint | None
    relation: str
    bound: float

    @property
    def is_upper(self) -> bool:
        """Whether the bound is above what is allowed."""
        return self.relation.startswith("<")


@dataclass(frozen=True, eq=False, repr=False)
class Check(Result):
    """The result of `check`.

    Attributes
    ----------
    requirements : tuple of str
        The requirements, as they were written.
    rows : tuple of CheckedQuantity
        The quantities that they are about; one for each group where a requirement is about every
        group.
    confidence_level : float
        The level of the limits, to one side.
    settings : dict
        The arguments of the call, and the seed.
    allow_undecided : bool
        Whether undecided requirements pass, too.
    look : Look or None
        Which look at growing data it is, and what looks have spent; None for a single one.
    thresholds : dict of str to float
        The threshold at each operating point.
    """

    requirements: tuple[str, ...]
    rows: tuple[CheckedQuantity, ...]
    confidence_level: float
    settings: dict[str, Any]
    allow_undecided: bool = False
    look: Look | None = None
    thresholds: dict[str, float] = field(default_factory=dict)

    _title = "Are the requirements met?"
    _printed = (
        "title relation bound estimate decided_by decided_at extra_room n_comparisons n_errors"
        " n_subjects verdict doubt"
    )
    _derived = ("passed", "verdict", "verdicts")
    _properties = "decided_by decided_at extra_room title"

    @property
    def passed(self) -> bool:
        """Whether every requirement is met, or undecided where that is allowed."""
        return all(
            row.verdict == MET or (self.allow_undecided and row.verdict == UNDECIDED)
            for row in self.rows
        )

    @property
    def verdict(self) -> str:
        """The verdict on all requirements together: "met", "not met" as soon as one is not, else
        "undecided".
        """
        return _worst([row.verdict for row in self.rows])

    @property
    def verdicts(self) -> dict[str, str]:
        """The verdict on each requirement."""
        return {
            text: _worst([row.verdict for row in self.rows if row.requirement == text])
            for text in self.requirements
        }

    def _display(self) -> Mapping[str, Sequence[tuple[OperatingPoint | None, Table]]]:
        return {"requirements": [(None, limits_table(self))]}

    def _sentences(self) -> list[str]:
        """Return the sentences of the summary."""
        n = len(self.requirements)
        verdicts = list(self.verdicts.values())
        counted = ", ".join(
            f"{verdicts.count(answer)} {answer}"
            for answer in (MET, NOT_MET, UNDECIDED)
            if answer in verdicts
        )
        text = [
            f"{n} requirement{'s' if n > 1 else ''}: {counted}, with {100 * self.confidence_level:g} %"
            " confidence."
        ]
        if self.look is not None:
            text.append(self.look.in_words(self.confidence_level))
        for requirement, verdict in self.verdicts.items():
            rows = [row for row in self.rows if row.requirement == requirement]
            deciding = [row for row in rows if row.verdict == verdict]
            with_limits = [row for row in deciding if not math.isnan(row.limit)] or deciding
            farthest = max(
                with_limits, key=lambda row: row.compared if row.is_upper else -row.compared
            )
            groups = (
                ""
                if len(rows) == 1
                else f" ({len(deciding)} of {len(rows)} groups): {farthest.group}"
            )
            text.append(f"{verdict.capitalize()}: {requirement}{groups}: {farthest.reason}")
        return text

    @checked
    def to_junit(self, path: str | Path | None = None) -> str:
        """Write the result as JUnit XML, which build servers show: a test case for each quantity.

        Parameters
        ----------
        path : path, optional
            File to which the XML is written as well.

        Returns
        -------
        str
            What is not met is a failure of this type; and so is what is undecided, unless it is
            allowed: then it is skipped.

        Examples
        --------
        >>> import fastfair as ff
        >>> c = ff.Comparisons([0.9, 0.3, 0.7, 0.4, 0.1, 0.6], [1, 1, 1, 0, 0, 0])
        >>> check = ff.check(c, "eer <= 0.999", unit="comparison", rng=0)
        >>> "<testsuite" in check.to_junit()
        True
        """
        return _as_junit(self, path)

    @checked
    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw each quantity with the limit that decides, as multiples of what is required.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; a new figure by default.

        Returns
        -------
        matplotlib Axes
        """
        rows = self.rows

        def multiple(row: Any, value: float) -> float:
            return value / row.bound if row.bound > 0 else math.nan

        bars = verdict_bars(rows, multiple)
        labels = [
            f"{row.title} {row.relation} {written_value(row.name, row.bound)}" for row in rows
        ]
        ax = draw_rows(
            ax,
            labels,
            bars,
            [Line(1, "required")],
            xlabel="Estimate and limit, as multiples of what is required",
            logarithmic=True,
            per_cent=False,
            least=_LEAST,
        )
        for y in sorted({*range(len(rows))} - {int(bar.row) for bar in bars}):
            row = rows[y]
            why = "no limit" if math.isnan(row.limit) else "its limit cannot be drawn"
            ax.text(
                1,
                y,
                f"  {row.verdict}: {why}",
                va="center",
                color=COLORS[row.verdict],
                fontsize="small",
            )
        return ax


def _worst(verdicts: list[str]) -> str:
    return next((verdict for verdict in (NOT_MET, UNDECIDED) if verdict in verdicts), MET)


def _as_junit(check: Check, path: str | Path | None) -> str:
    """Write a suite with a test case for each quantity: not met is a failure, undecided too unless
    it is allowed.

    What was left out of the data is a property of the suite.
    """
    rows, allow_undecided = check.rows, check.allow_undecided
    skipped = [row for row in rows if allow_undecided and row.verdict == UNDECIDED]
    n_failed = sum(row.verdict != MET for row in rows) - len(skipped)
    numbers = {
        "tests": str(len(rows)),
        "failures": str(n_failed),
        "errors": "0",
        "skipped": str(len(skipped)),
    }
    root = ElementTree.Element("testsuites", numbers)
    suite = ElementTree.SubElement(root, "testsuite", {"name": "fastfair check", **numbers})
    excluded = sentences_on_exclusions(check.left_out)
    if excluded:
        properties = ElementTree.SubElement(suite, "properties")
        for said in excluded:
            ElementTree.SubElement(
                properties, "property", {"name": "left out", "value": visible(said)}
            )
    for row in rows:
        case = ElementTree.SubElement(
            suite,
            "testcase",
            {"classname": visible(row.requirement), "name": visible(row.title), "time": "0"},
        )
        if row in skipped:
            ElementTree.SubElement(
                case, "skipped", {"message": f"{row.verdict}: {visible(row.reason)}"}
            )
        elif row.verdict != MET:
            failure = {"type": row.verdict, "message": visible(row.reason)}
            ElementTree.SubElement(
                case, "failure", failure
            ).text = f"{visible(row.title)}: {visible(row.reason)}"
        else:
            ElementTree.SubElement(case, "system-out").text = visible(row.reason)
    ElementTree.indent(root)
    text = ElementTree.tostring(root, encoding="unicode")
    if path is not None:
        with whole_files.written(Path(path)) as file:
            file.write(f'<?xml version="1.0" encoding="utf-8"?>\n{text}\n'.encode())
    return text


_DEPENDENT = (
    "comparisons of the same subjects were taken for independent, so the limit is too narrow"
)


@checked
def check(
    comparisons: Comparisons | ScannedComparisons | FailureCounts,
    requirements: str | Sequence[str],
    at: OperatingPoint = at_fmr(1e-3),  # noqa: B008 - frozen
    *,
    n_resamples: Resamples = 2000,
    confidence_level: float = 0.95,
    unit: Unit = "subject",
    rng: seeds.Seed = None,
    n_threads: int | None = None,
    progress: bool | Callable[[int, int], None] = False,
    settings: MeasureSettings = MeasureSettings(),  # noqa: B008 - frozen
    costs: Costs = Costs(),  # noqa: B008 - frozen
    allow_undecided: bool = False,
    looks: str | tuple[int, int] | None = None,
    previous: str | Path | None = None,
) -> Check:
    """Judge requirements by confidence limits instead of estimates, as a gate before a system goes
    on.

    Parameters
    ----------
    comparisons : Comparisons, ScannedComparisons or FailureCounts
        The comparisons that the judgement rests on, or failures and attempts of people, whose
        requirements name the rate that was counted and no operating point.
    requirements : str or sequence of str
        What must hold: a quantity, a relation and a number each, such as "fnmr[f]@fmr=0.001 <= 5
        %".

        See Notes.
    at : OperatingPoint
        The operating point of rates, and of measures of rates, whose requirement names none.
    n_resamples : int, default 2000
        Number of replicates, at least 2.
    confidence_level : float, default 0.95
        The level of the limits, to one side, in (0.5, 1).
    unit, rng, n_threads, progress
        As in `evaluate`.
    settings : MeasureSettings
        How measures and the EER are defined.
    costs : Costs
        As in `min_dcf`.
    allow_undecided : bool, default False
        Whether the check passes where the data do not decide.
    looks : str or pair of int, optional
        Which look at growing data this is, and how many are planned, as in 3/12, or "any" for any
        number: without it every look may err in 5 %, and some of 12 in up to 17 %.

        The pair (3, 12) is the same as 3/12. About as many people are to be new at each look.
    previous : path, optional
        The JSON of the look before: another requirement, level or order of looks is refused.

    Returns
    -------
    Check

    Raises
    ------
    InputError
        For a requirement that cannot be read, or that no data or all data would meet; for unknown
        groups, a rate that its operating point holds, and as `evaluate` does.

    Warns
    -----
    EmptyGroupWarning
        Names groups that lack comparisons.

    Notes
    -----
    A requirement is ``quantity[group]@point relation number``:

    - quantity: "fmr", "fnmr", "eer", "min_dcf", "cllr", "min_cllr", "auc", "d_prime", or a fairness
      measure with the rate or cost that it is of, such as "max_geomean_ratio(fnmr)" and "nrb(eer)"; by any name that
      it has. FAR and FPR are read as FMR, FRR and FNR as FNMR, and TAR, GAR and TPR as 1 - FNMR.
    - group, optional: the label of a group; a label of an attribute, as in "sex=f", or "*" for each
      of its labels, as in "sex=*"; of intersections, as in "age=*, sex=f"; or "*" alone for every
      group of every attribute, of which each is judged on its own.
    - point, optional: "fmr=0.001", "fnmr=5 %", "threshold=0.4", "eer" or "mean-group-eer".
    - relation: "<=", "<", ">=" or ">".
    - number: a fraction, or a percentage such as "5 %".

    It is *met* where the one-sided confidence limit satisfies it: the upper limit for "<=". It is
    *not met* where the opposite limit is beyond the bound, and else *undecided*. It is undecided as
    well where there is no limit, and where the limit satisfies it, but is in doubt: its flags say
    that the interval is too narrow, or that the operating point is below the resolution of the
    data, or a measure rests on fewer than 30 false matches. An FMR with fewer than 30 false matches
    is met where four times the limit satisfies it, as it is not known then whether few subjects
    cause most of them; or where nobody is in two comparisons. All requirements, and all groups of
    "*", have to be met, so that a system which violates one of them passes with a probability of at
    most 1 minus the level, without an adjustment (an intersection-union test [1]_). Where not all
    groups of "*" are met, each is judged by Holm's procedure: its limit then has a level of its
    own, `limit_level`. So are all opposite limits: with at most this probability is any requirement
    called not met although it is.

    All this holds of one look. Who checks all data so far again and again, until the verdict suits,
    errs more often: of 12 looks in up to 17 % where 5 % was meant. With `looks` all of them together
    err in 5 %: limits have O'Brien and Fleming's levels [2]_, high at first and at the last look
    nearly that of a single one. With "any" limits are confidence sequences [3]_ on people, or for FMRs
    on pairs of people of whom nobody is in two. They are for rates of failure and FMRs alone, and
    need `previous` from the second look on. People come in the order of the data's first
    comparisons, and a look adds people to the end: who has been judged keeps his comparisons. A
    threshold found on the data is fixed by the first look, and judges people who come later.

    References
    ----------
    .. [1] R. L. Berger, "Multiparameter hypothesis testing and acceptance sampling", Technometrics 24(4), 1982.
    .. [2] P. C. O'Brien and T. R. Fleming, "A multiple testing procedure for clinical trials", Biometrics 35(3), 1979.
    .. [3] I. Waudby-Smith and A. Ramdas, "Estimating means of bounded random variables by betting", Journal of the
       Royal Statistical Society B 86(1), 2024.

    Examples
    --------
    >>> import fastfair as ff
    >>> c = ff.datasets.voxceleb1_h("resnetse34v2", groups="Gender")
    >>> check = ff.check(c, ["fnmr@fmr=0.001 <= 20 %", "fnmr[*] <= 12 %"], rng=0)
    >>> check.passed, check.verdicts
    (False, {'fnmr@fmr=0.001 <= 20 %': 'met', 'fnmr[*] <= 12 %': 'not met'})
    """
    counts = comparisons if isinstance(comparisons, FailureCounts) else None
    if isinstance(comparisons, FailureCounts):
        wanted = requirements_on(comparisons, requirements)
        comparisons = decisions_of(comparisons)
        at = AT
    else:
        wanted = requirements_of(requirements, at)
    if isinstance(comparisons, Comparisons):  # scans have both classes
        for requirement in wanted:
            comparisons._require_rates(f"the requirement {requirement.text!r}", requirement.rates)
    about = Attributes(comparisons)
    families = [about.family(rule) for rule in wanted]
    expanded = [rule for family in families for rule in family]
    level = level_of_limits(confidence_level)
    if looks is None and previous is not None:
        raise InputError("⟦previous⟧ goes with ⟦looks⟧, which says which look this is, as in 3/12")
    earlier = look = None
    at_this_look: Callable[[Estimates], Estimates] | None = None
    if looks is not None:
        planned = read_looks(looks)
        asked = [_with_point(rule.text, rule.at if counts is None else None) for rule in wanted]
        earlier = None if previous is None else _earlier(previous, planned, asked, level)
        if planned is None:
            before = None if earlier is None else earlier.look
            look, at_this_look = judge_any(comparisons, expanded, level, before)
        else:
            look = look_at(*planned, level)
            at_this_look = partial(at_look, look=look, n_resamples=n_resamples)
    if n_resamples < 2:
        raise InputError("a check needs replicates: ⟦n_resamples⟧ must be at least 2")
    points = list(dict.fromkeys(required.at for required in expanded if required.at is not None))
    names = [required.name.partition("(") for required in expanded]
    how: dict[str, Any] = {
        "at": points or [at],
        "measures": [
            measure.name for required in expanded if (measure := measure_of(required.name))
        ],
        "metrics": [
            name
            for name in SCORE_METRICS
            if any(name in (first, last[:-1]) for first, _, last in names)
        ],
        "unit": unit,
        "n_resamples": n_resamples,
        "confidence_level": level,
        "rng": rng,
        "n_threads": n_threads,
        "progress": progress,
        "costs": costs,
        "settings": EvaluationSettings(**vars(settings), incomplete_groups="nan"),
    }
    groupings = list(dict.fromkeys(required.grouping for required in expanded))
    with warnings.catch_warnings():
        # reasons say so of each quantity that it concerns
        warnings.simplefilter("ignore", NarrowIntervalsWarning)
        if groupings == [tuple(comparisons.grouping)]:
            evaluations: Sequence[Evaluation] = [evaluate(comparisons, **how)]
        else:
            evaluations = evaluate_attributes(comparisons, groupings, **how).evaluations
    made = check_evaluations(evaluations, wanted, families, at_this_look)
    result = replace(made, allow_undecided=allow_undecided, look=look)
    if counts is not None:
        rows = tuple(replace(row, name=counts.rate_name, at=None) for row in result.rows)
        result = replace(result, rows=rows, left_out=counts.left_out, thresholds={})
    if earlier is not None:
        _require_as_many(result, earlier)
    return result


def _earlier(
    previous: str | Path, planned: tuple[int, int] | None, asked: list[str], level: float
) -> Check:
    """Read the result of the look before, and refuse one of something else."""
    earlier: Check = read_earlier(previous)
    before = dict.fromkeys(_with_point(row.requirement, row.at) for row in earlier.rows)
    about = (("requirement", list(before), asked), ("level", earlier.confidence_level, level))
    require_later(planned, earlier.look, about)
    return earlier


def _with_point(text: str, at: OperatingPoint | None) -> str:
    return text if at is None or "@" in text else f"{text} at {at}"


def _require_as_many(result: Check, earlier: Check) -> None:
    """Refuse data of a look that are fewer than those of an earlier one."""
    before = {(row.requirement, row.group): row for row in earlier.rows}
    for row in result.rows:
        other = before.get((row.requirement, row.group))
        if other is not None and (row.n_comparisons or 0) < (other.n_comparisons or 0):
            raise InputError(
                f"⟦previous⟧ has {other.n_comparisons:,} comparisons behind the {row.title}, and there"
                f" are {row.n_comparisons or 0:,} now: a look is at all data so far"
            )


def check_evaluations(
    evaluations: Sequence[Evaluation],
    wanted: Sequence[Requirement],
    families: Sequence[Sequence[Requirement]],
    at_this_look: Callable[[Estimates], Estimates] | None = None,
) -> Check:
    """Judge requirements by the replicates of evaluations that have all that they are about, whose
    own intervals stand beside the limits that are judged.

    at_this_look: gives estimates the limits of one of several looks.
    """
    first = evaluations[0]
    computed = {quantity.key[::3] for quantity in first.quantities}
    for required in wanted:
        if (required.name, required.at) not in computed:
            raise InputError(
                f"the evaluation has no {required.name}{'' if required.at is None else f' at {required.at}'}:"
                f" {required.text!r}"
            )
    by_grouping = {tuple(evaluation.settings["grouping"]): evaluation for evaluation in evaluations}
    estimates = estimates_of_each(by_grouping, wanted)
    if at_this_look is not None:
        estimates = at_this_look(estimates)
    made = judged_check(wanted, families, estimates, first.settings)
    thresholds = {
        str(rates.at): rates.threshold for evaluation in evaluations for rates in evaluation.rates
    }
    return replace(made, left_out=first.left_out, thresholds=thresholds)


def judged_check(
    wanted: Sequence[Requirement],
    families: Sequence[Sequence[Requirement]],
    estimates: Estimates,
    settings: Mapping[str, Any],
) -> Check:
    """Judge requirements, each as those of the groups that it is about; settings: those of the
    check, with the confidence level.
    """
    texts = [rule.text for rule in wanted]
    level = settings["confidence_level"]
    rows = [
        CheckedQuantity._of(
            row,
            requirement=rule.text,
            name=rule.name,
            at=rule.at,
            relation=rule.relation,
            bound=rule.bound,
            **(limits if rule.written is None else limits | {"group": rule.written}),
        )
        for rule, row, limits in judged(families, estimates, level)
    ]
    return Check(tuple(texts), tuple(rows), level, {**settings, "requirements": texts})
