"""`report`: results as one page that can be handed on."""

from __future__ import annotations

import hashlib
import itertools
import json
import math
import re
import stat
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from importlib import resources
from pathlib import Path
from typing import Annotated, Any

from fastfair._lib import whole_files
from fastfair._lib.arguments import checked, is_a
from fastfair._lib.tables import in_columns
from fastfair._lib.text import (
    NONE,
    cell,
    number_with_interval,
    per_cent,
    shown,
    value_and_interval,
    written_level,
)
from fastfair._lib.warnings import require
from fastfair._version import __version__
from fastfair.data.exclusions import sentences_on_exclusions
from fastfair.errors import InputError, visible
from fastfair.measures._registry import MEASURES, METRICS, measure_of, printed_name
from fastfair.uncertainty.notes import Note
from fastfair.uncertainty.quantities import is_in_per_cent

from .drawings import Scale, interval, placed
from .parts import (
    Beside,
    Cell,
    Chapter,
    Column,
    FirstScreen,
    Row,
    Section,
    Table,
    interval_name,
    stacked,
)
from .pdf import browser, write_pdf

TITLE = "Error rates and fairness"


def _results(name: str, value: Any) -> list[Any]:
    results = list(value) if isinstance(value, list | tuple) else [value]
    wrong = next((result for result in results if not is_a(result, "Result")), None)
    if results and wrong is None:
        return [part for result in results for part in result._parts()]
    given = shown(value if wrong is None else wrong)
    raise InputError(
        f"{name} must be results, such as evaluate, check or fnmr_test return, not {given}"
    )


Results = Annotated[Any, _results]


@checked
def report(
    results: Results,
    path: str | Path,
    *,
    title: str | None = None,
    inputs: str | Path | Sequence[str | Path] = (),
) -> None:
    """Write results as one page: an HTML file that needs no other file, no network and no
    JavaScript.

    Parameters
    ----------
    results : result or sequence of results
        Evaluations, also of several groupings of the same comparisons, comparisons of systems, and
        results of `fnmr_test`, `fmr_test`, `margin_of_error`, `claim`, `check`, `discard_curve`,
        `apply_threshold`, `expected_performance_curve`, `shrunken_rates`, `error_model`,
        `stratified_rates`, `plan_fmr`, `roc_band`, `fairness_band` and `evaluate_calibration`, and
        what `read_results` read.
    path : path
        The file to write; a name that ends with .pdf makes a PDF, by Chromium or Chrome.
    title : str, optional
        The title of the page; by default one that says what kind of result it is of.
    inputs : path or sequence of path
        Files that the results were computed from; the page names them with their SHA-256.

    Raises
    ------
    InputError
        For an object that is no such result, and an input that is not there.
    MissingDependencyError
        Where matplotlib or jinja2 is not installed, and for a PDF where there is no Chromium.
    OutputError
        Where the file cannot be written.

    Notes
    -----
    The page begins with what was tested, requirements as cards, the answer in a few sentences and
    the rates of all groups; of several evaluations of the same comparisons overall numbers stand
    once. Tests of equal rates and requirements stand beside the evaluation of the same groups. The
    settings, the seed and all numbers as JSON follow. The same results make the same page.

    Examples
    --------
    >>> import fastfair as ff
    >>> c = ff.Comparisons([0.9, 0.3, 0.7, 0.4, 0.1, 0.6], [1, 1, 1, 0, 0, 0], reference_group=list("fmffmf"))
    >>> ff.report(ff.evaluate(c, n_resamples=0), "report.html")  # doctest: +SKIP
    """
    whole_files.ready_folder(Path(path).parent)
    files = [inputs] if isinstance(inputs, str | Path) else inputs
    digests = {str(name): sha256_of(name) for name in files}
    results = [r._with_hashes(digests) if hasattr(r, "_with_hashes") else r for r in results]
    require("jinja2", "cli", "a report")
    title = title or (results[0]._page_title if len(results) == 1 else TITLE)
    is_pdf = Path(path).suffix.lower() == ".pdf"
    if is_pdf:
        browser()  # which is missed before any work
    page = _page(results, title, digests)
    if is_pdf:
        write_pdf(page, path)
    else:
        whole_files.write_text(path, page)


def _page(results: Sequence[Any], title: str, digests: dict[str, str]) -> str:
    """Put results on one page: requirements and tests stand beside the evaluations of the same
    groups.
    """
    evaluations = [result for result in results if hasattr(result, "_chapter_beside")]
    # those of a profile have a table of their own
    checks = [r for r in results if hasattr(r, "requirements") and not hasattr(r, "clauses")]
    tests = [result for result in results if hasattr(result, "different") and evaluations]
    beside = Beside(tests, checks, evaluations)
    placed = [test for each in evaluations for test in beside.tests_of(each.groups)]
    unseen = [*placed, *(checks if evaluations else ())]  # their plots are not on the page
    chapters = [
        (
            result._chapter_beside(beside)
            if result in evaluations
            else result._chapter_with(())
            if result in unseen
            else result._chapter()
        )
        for result in results
    ]
    main_point = str(evaluations[0].rates[0].at) if evaluations and evaluations[0].rates else None
    cards = [card for check in checks for card in cards_of(check, main_point)]
    pairs = list(zip(results, chapters, strict=True))
    shown = [chapter for result, chapter in pairs if result in evaluations]
    apart = [
        _requirements(result, chapter, is_folded=bool(evaluations)) if result in checks else chapter
        for result, chapter in pairs
        if result not in placed and result not in evaluations
    ]
    excluded = dict.fromkeys(
        said for result in results for said in sentences_on_exclusions(result.left_out)
    )
    return render(
        title, [*shown, *apart], cards, digests, chapters, [visible(said) for said in excluded]
    )


def _requirements(check: Any, chapter: Chapter, *, is_folded: bool) -> Chapter:
    """Return the chapter of requirements whose cards stand on the first screen; alone it has their
    plot, too.
    """
    pictures = () if is_folded else chapter.sections[0].pictures
    first = (
        FirstScreen() if is_folded else FirstScreen(groups=[("Requirements", chapter.summary[0])])
    )
    section = Section("All limits", (), pictures, [limits_table(check)], is_folded=is_folded)
    return replace(chapter, title="Requirements", sections=[section], first=first)


def sha256_of(path: str | Path) -> str:
    """Return the SHA-256 of a file."""
    try:
        if not stat.S_ISREG(Path(path).stat().st_mode):
            raise InputError(
                f"inputs: {path} is a folder, a pipe or a device: name the files that were read"
            )
        with Path(path).open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except (OSError, ValueError) as error:  # of names that no file can have
        if isinstance(error, InputError):
            raise
        raise InputError(
            f"inputs: {path} cannot be read: {getattr(error, 'strerror', None) or error}"
        ) from error


VERDICTS = ("met", "not met", "undecided")
_REQUIRED = {"<=": "{} or less", "<": "less than {}", ">=": "{} or more", ">": "more than {}"}


@dataclass(frozen=True)
class Card:
    """A requirement: its verdict, what it is about, the number that decides, and the groups behind
    it, in words.
    """

    verdict: str
    title: str
    value: str
    about: str
    required: str
    true_value: str
    groups: str
    reason: str  # why it is undecided
    drawing: str


def cards_of(check: Any, main_point: str | None) -> list[Card]:
    """Make the cards of the result of `check`; the operating point of most numbers of a page is not
    repeated.
    """
    return [
        _card([row for row in check.rows if row.requirement == text], verdict, main_point)
        for text, verdict in check.verdicts.items()
    ]


def limits_table(check: Any) -> Table:
    """Write what each requirement is about with the limit that was judged, and why."""
    rows: list[Row] = []
    for row in check.rows:
        is_rate = is_in_per_cent(row.name)
        write = per_cent if is_rate else number_with_interval
        text, ends = value_and_interval(row.estimate, row.low, row.high, is_rate=is_rate)
        estimate = Cell(f"{text} %" if is_rate and text != NONE else text, ends)
        limits = write(row.decided_by), written_level(row.decided_at)
        verdict = Cell(row.verdict.capitalize(), look=row.verdict)
        rows.append(
            [
                visible(row.title),
                f"{row.relation} {write(row.bound)}",
                estimate,
                *limits,
                verdict,
                visible(row.reason),
            ]
        )
    columns = [
        "Quantity",
        "Required",
        f"Estimate [{interval_name(check.settings)}]",
        "Judged limit",
        "Its level",
    ]
    return Table(
        f"Limits to one side, for {100 * check.confidence_level:g} % confidence",
        [*columns, Column("Verdict", "text"), Column("Why", "text")],
        rows,
        look="limits",
    )


def _card(rows: Sequence[Any], verdict: str, main_point: str | None) -> Card:
    is_upper = rows[0].relation.startswith("<")
    deciding = [row for row in rows if row.verdict == verdict]

    def badness(row: Any) -> float:
        return -math.inf if math.isnan(row.estimate) else row.estimate * (1 if is_upper else -1)

    row = max(deciding, key=badness)
    unit, is_rate = (" %", True) if is_in_per_cent(row.name) else ("", False)
    write = per_cent if is_rate else number_with_interval
    value, _ = value_and_interval(row.estimate, row.low, row.high, is_rate=is_rate)
    end = row.decided_by
    side = "at most" if is_upper != row.is_refuted else "at least"
    groups = ""
    if len(rows) > 1:
        counts = {name: sum(row.verdict == name for row in rows) for name in VERDICTS}
        groups = ", ".join(f"{n} {name}" for name, n in counts.items() if n)
        groups = f"{len(rows)} {_what_of(rows)}: {groups}."
    about = (
        f"{'highest' if is_upper else 'lowest'}: {visible(row.group)}"
        if len(rows) > 1
        else "measured"
    )
    return Card(
        verdict,
        _title(rows, main_point),
        value + unit if value != NONE else NONE,
        about,
        _REQUIRED[row.relation].format(write(row.bound)),
        "not known" if math.isnan(end) else f"{side} {write(end)}",
        groups,
        visible(row.reason) if verdict == "undecided" else "",
        _drawing(row.estimate, end, row.bound),
    )


def _what_of(rows: Sequence[Any]) -> str:
    """Say what has a row each: groups, or attributes of a measure over the groups of one."""
    measure = measure_of(rows[0].name)
    return "groups" if measure is None or measure.per_group else "attributes"


def _title(rows: Sequence[Any], main_point: str | None) -> str:
    row = rows[0]
    title = printed_name(row.name)
    if len(rows) > 1:
        title += f" of each of {len(rows)} {_what_of(rows)}"
    elif row.group is not None:
        title += f" of {visible(row.group)}"
    elif measure_of(row.name) is None:
        title += " of all people"
    at = row.operating_point
    return title if at in (None, main_point) else f"{title} at {at}"


def _drawing(estimate: float, end: float, bound: float) -> str:
    ends = [x for x in (estimate, end, bound) if math.isfinite(x)]
    scale = Scale(0.0, 1.1 * max(ends) or 1.0, lines=(("limit", bound),))
    low, high = (min(estimate, end), max(estimate, end)) if math.isfinite(end) else (None, None)
    return interval(scale, estimate, low, high, look="plain")


def render(
    title: str,
    chapters: Sequence[Chapter],
    cards: Sequence[Card],
    files: Mapping[str, str],
    numbers: Sequence[Chapter],
    excluded: Sequence[str],
) -> str:
    """Return the text of a page.

    Parameters
    ----------
    title : str
        The title.
    chapters : sequence of Chapter
        What it shows, in this order.
    cards : sequence of Card
        Requirements for the first screen.
    files : mapping of str to str
        SHA-256 by the name of each file that results were computed from.
    numbers : sequence of Chapter
        All chapters in the order of the results, whose numbers the page holds as JSON.
    excluded : sequence of str
        What was left out of the data.

    Returns
    -------
    str
    """
    jinja2 = require("jinja2", "cli", "a report")
    environment = jinja2.Environment(
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=_tied,
    )
    pictures = itertools.count(1)
    notes = Notes()
    environment.filters |= {
        "drawn": lambda item: placed(
            item.svg if isinstance(item.svg, str) else item.svg(), next(pictures)
        ),
        "laid_out": lambda item: _laid_out(item, notes),
    }
    template = environment.from_string(
        resources.files(__package__).joinpath("page.html").read_text("utf-8")
    )
    content: dict[str, Any] = {
        "title": visible(title),
        "first": _first_screen(chapters, excluded),
        "cards": cards,
        "verdicts": " · ".join(
            f"{n} {item}" for item in VERDICTS if (n := sum(card.verdict == item for card in cards))
        ),
        "chapters": chapters,
        "notes": notes.listed,
        "method": METHOD,
        "glossary": glossary(" ".join(chapter.numbers for chapter in numbers)),
        "files": {visible(name): digest for name, digest in files.items()},
        "settings": _settings(numbers),
        "version": __version__,
        "numbers": _embedded(numbers, files),
    }
    return str(template.render(content))


def _first_screen(chapters: Sequence[Chapter], excluded: Sequence[str]) -> FirstScreen:
    """Put together what was tested and the answer: of several evaluations, overall numbers stand
    once.
    """
    firsts = [chapter.first for chapter in chapters if chapter.first is not None]
    first = next(iter(firsts), FirstScreen())
    of_groups = [said for screen in firsts for said in screen.groups]
    others = [
        (chapter.title if k == 0 else "", sentence)
        for chapter in chapters
        if chapter.first is None
        for k, sentence in enumerate(chapter.summary)
    ]
    facts = [*first.facts, *(("" if k else "Left out", said) for k, said in enumerate(excluded))]
    pictures = [(part.title, part.picture) for part in firsts if part.picture is not None]
    alike = [entry for entry in pictures if entry[1].columns == pictures[0][1].columns]
    return replace(
        first,
        facts=facts,
        overall=[*first.overall, *of_groups, *first.limits, *others],
        picture=stacked(alike) if alike else None,
    )


def _tied(value: Any) -> Any:
    """Keep lines from breaking before a per cent sign; what is markup already stays as it is."""
    return value.replace(" %", "\N{NO-BREAK SPACE}%") if type(value) is str else value


def _laid_out(table: Table, notes: Notes) -> dict[str, Any]:
    """Return the columns and cells of a table with their classes and the letters of their notes."""
    columns = table.headed

    def cells(row: Sequence[str | Cell]) -> list[dict[str, Any]]:
        given = [cell if isinstance(cell, Cell) else Cell(cell) for cell in row]
        return [
            {
                "cell": cell,
                "column": column,
                "letters": notes.letters(cell.notes, given[0].text) if cell.notes else [],
                "look": (
                    f"{column.kind} s{column.side} {cell.look.replace('not met', 'not-met')}".rstrip()
                ),
            }
            for cell, column in zip(given, columns, strict=True)
        ]

    foot = cells(table.foot) if table.foot else []
    return {"columns": columns, "rows": [cells(row) for row in table.rows], "foot": foot}


def _settings(chapters: Sequence[Chapter]) -> list[tuple[str, list[tuple[str, str]]]]:
    """Write the settings of each result: those that several share stand once."""
    written = [
        {
            name: ", ".join(map(cell, value)) if isinstance(value, list | tuple) else cell(value)
            for name, value in chapter.settings.items()
        }
        for chapter in chapters
    ]
    with_settings = [of_chapter for of_chapter in written if of_chapter]
    shared = {
        name: value
        for name, value in (with_settings[0].items() if len(with_settings) > 1 else ())
        if all(of_chapter.get(name) == value for of_chapter in with_settings)
    }
    listed = [("all results", list(shared.items()))] if shared else []
    for chapter, of_chapter in zip(chapters, written, strict=True):
        listed_here = [(name, value) for name, value in of_chapter.items() if name not in shared]
        if listed_here:
            listed.append((chapter.title, listed_here))
    return listed


def _without_words(row: dict[str, Any]) -> dict[str, Any]:
    """Leave out the words of notes, which are a third of a page and are made of the notes again
    when it is read.
    """
    return {name: value for name, value in row.items() if name != "note"} if "notes" in row else row


def _embedded(chapters: Sequence[Chapter], files: Mapping[str, str]) -> str:
    """Return the numbers as JSON in which no character ends the element that holds it."""
    content = {
        "fastfair": __version__,
        "inputs": dict(files),
        "results": [
            {"title": chapter.title}
            | in_columns(json.loads(chapter.numbers, object_hook=_without_words))
            for chapter in chapters
        ],
    }
    text = json.dumps(content, separators=(",", ":"), allow_nan=False)
    return text.replace("&", r"\u0026").replace("<", r"\u003c").replace(">", r"\u003e")


_MOST_NAMED = 6


class Notes:
    """The notes of a page, in the order in which its cells show them."""

    def __init__(self) -> None:
        self._rows: dict[str, dict[str, None]] = {}

    def letters(self, notes: Sequence[Note], row: str) -> list[str]:
        """Return the letters of notes beside a number of a row."""
        kinds = dict.fromkeys(filter(None, (note.on_page for note in notes)))
        for kind in kinds:
            self._rows.setdefault(kind, {})[row] = None
        return [letter(list(self._rows).index(kind)) for kind in kinds]

    def listed(self) -> list[tuple[str, str, str]]:
        """Return the letter, the sentence and the rows of each kind."""
        return [
            (
                letter(k),
                kind,
                (
                    ", ".join(map(visible, rows))
                    if len(rows) <= _MOST_NAMED
                    else f"{len(rows)} rows, marked {letter(k)}"
                ),
            )
            for k, (kind, rows) in enumerate(self._rows.items())
        ]


def letter(k: int) -> str:
    """Return a, b, ..., z, aa, ab and so on."""
    return chr(ord("a") + k) if k < 26 else f"{chr(ord('a') + k // 26 - 1)}{chr(ord('a') + k % 26)}"


_TERMS = (
    ("mated, non-mated", "A comparison of two samples of the same person; of two people."),
    (
        "FTA and FTE",
        (
            "Failure-to-acquire and failure-to-enrol rate: shares of samples, and of references,"
            " that failed."
        ),
    ),
    ("operating point", "What fixes the threshold, such as an FMR of 0.1 % over all comparisons."),
    (
        "DET curve",
        "FNMR over FMR at all thresholds, on scales of normal deviates. Lower is better.",
    ),
    (
        "interval",
        (
            "The plausible range for similar people: in about 95 of 100 studies it holds the true"
            " value."
        ),
    ),
    (
        "simultaneous intervals",
        "Wider ones that hold for all groups together in about 95 of 100 studies.",
    ),
    (
        "effective sample size",
        "The number of independent comparisons that would be as informative.",
    ),
    (
        "fewer than 30 errors",
        "The rule of 30: so few errors say little about a rate. Such rates are in italics.",
    ),
    ("undecided", "The data show neither that a requirement is met nor that it is not."),
    ("fair value", "The value of a measure for a system whose groups have equal rates."),
)
METHOD = (
    (
        "Intervals tell how far numbers may be off because other people could have been in the"
        " data. They allow for comparisons that share people, and sessions where these are given, but"
        " not for wrong labels, for days or devices that are not given, or for use under other"
        " conditions."
    ),
    "Groups are those of the labels given. Rates may differ within a group.",
    "This page states differences and how certain they are. It does not judge fairness.",
)


def glossary(numbers: str) -> list[tuple[str, str]]:
    """Return terms with their meanings, and the rates, costs and measures that numbers, as JSON,
    name.
    """
    named = set(re.findall(r'"(\w+)', numbers))
    named_estimands = [
        estimand
        for estimand in (METRICS | MEASURES).values()
        if estimand.name in named and estimand.question
    ]
    return [
        *_TERMS,
        *(
            (estimand.title, ": ".join(filter(None, (estimand.long_title, estimand.question))))
            for estimand in named_estimands
        ),
    ]
