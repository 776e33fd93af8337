"""`Profile`: the requirements of a standard or a policy, a TOML file, and its schema.

The tables of a file are dataclasses here: their fields are its words, and what is wrong is named
with its line.
"""

from __future__ import annotations

import datetime
import hashlib
import itertools
import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import MISSING, dataclass, fields, replace
from importlib import resources
from pathlib import Path
from typing import Any, TypeVar, get_args, get_origin, get_type_hints

from fastfair._lib.text import did_you_mean, joined_by_or
from fastfair.data.label_bands import read_bands
from fastfair.error_rates.operating_points import OperatingPoint, at_fmr, read_point
from fastfair.error_rates.rates import ERROR_RATES
from fastfair.errors import InputError
from fastfair.measures._registry import measures_called, names_of

from .requirements import Requirement, read_requirement

RULES = ("", "estimate", "normal", "rule of 3 or 30")
COUNTED = ("people", "people of each label", "mated", "nonmated")
_OTHER_KINDS = ("rate of counts", "identification rate", "rate with failures")
_SUFFIX = ".toml"


@dataclass(frozen=True)
class Clause:
    """A requirement of a profile.

    Attributes
    ----------
    clause : str
        Where the standard has it.
    title : str
        What it asks for, in own words.
    require : tuple of str
        Requirement lines that say the same for different data, such as on the FMR of attempts and
        the FAR of transactions: the first one that the data can answer is judged.
    rule : {"", "estimate", "normal", "rule of 3 or 30"}
        The standard's rule, computed beside the limit: whether the estimate keeps the bound; the
        normal limit of the rate, whose variance is that between people; 3 divided by the number of
        comparisons where there is no error, and 1.3 times the rate where there are 30 or more.
    rule_level : float
        The level of the normal limit, to one side.
    needs : str
        What to bring where the data cannot answer.
    """

    clause: str
    title: str
    require: tuple[str, ...]
    rule: str = ""
    rule_level: float = 0.95
    needs: str = ""


@dataclass(frozen=True)
class DataRule:
    """What a profile asks of the data.

    Attributes
    ----------
    clause, title, needs : str
        As in `Clause`.
    count : {"people", "people of each label", "mated", "nonmated"}
        What is counted: people, also with each label of an attribute, and comparisons or attempts.
    least : int
        How many there have to be.
    attribute : str
        The attribute of "people of each label".
    """

    clause: str
    title: str
    count: str
    least: int
    attribute: str = ""
    needs: str = ""


@dataclass(frozen=True)
class Item:
    """What only a person can fill in.

    Attributes
    ----------
    clause, title : str
        As in `Clause`.
    """

    clause: str
    title: str


@dataclass(frozen=True)
class Source:
    """Where a profile was read.

    Attributes
    ----------
    title, address : str
        The document, and where it is.
    read : str
        The day on which it was read, as 2026-11-29.
    official : bool
        Whether the official text itself was read.
    note : str
        What readers should know of it.
    """

    title: str
    read: str
    official: bool
    address: str = ""
    note: str = ""


@dataclass(frozen=True)
class Profile:
    """The requirements of a standard or a policy, which `check` judges.

    Attributes
    ----------
    name, title, version : str
        What it is called, and of which version it is.
    source : Source
        Where it was read.
    level : float
        The level of all limits, to one side: the upper one for "<=", else the lower one.
    at : str
        The operating point of lines that name none, where `check` is given none.
    bands : str
        How numbers become groups, as in `Layout`.
    clauses : tuple of Clause
        The requirements.
    data : tuple of DataRule
        What is asked of the data.
    items : tuple of Item
        What a person has to fill in.
    sha256 : str
        Of the file.
    """

    name: str
    title: str
    version: str
    source: Source
    level: float = 0.95
    at: str = ""
    bands: str = ""
    clauses: tuple[Clause, ...] = ()
    data: tuple[DataRule, ...] = ()
    items: tuple[Item, ...] = ()
    sha256: str = ""

    @property
    def point(self) -> OperatingPoint:
        """The operating point of lines that name none."""
        return read_point(self.at) if self.at else at_fmr(1e-3)


def shipped_profiles() -> tuple[str, ...]:
    """Return the names of the profiles that come with fastfair."""
    folder = resources.files(__package__).joinpath("profiles")
    names = (Path(file.name) for file in folder.iterdir())
    return tuple(sorted(name.stem for name in names if name.suffix == _SUFFIX))


def read_profile(profile: str | Path) -> Profile:
    """Read a profile: one that comes with fastfair, by its name, or a TOML file.

    Raises
    ------
    InputError
        Where there is no such profile, and for a file that does not keep the schema: the line, the
        word, and what would do.
    """
    path = Path(profile)
    if path.suffix == _SUFFIX:
        try:
            content = path.read_bytes()
        except (OSError, ValueError) as error:  # of names that no file can have
            why = getattr(error, "strerror", None) or error
            raise InputError(f"profile {profile} cannot be read: {why}") from None
    else:
        names = shipped_profiles()
        if str(profile) not in names:
            raise InputError(
                f"there is no profile {str(profile)!r}{did_you_mean(profile, names)}: name one of"
                f" {joined_by_or(names)}, or a file that ends with {_SUFFIX}"
            )
        file = resources.files(__package__).joinpath("profiles", f"{profile}{_SUFFIX}")
        content = file.read_bytes()
    return profile_of(content, str(profile))


def profile_of(content: bytes, name: str) -> Profile:
    """Make a profile of what a file holds; name: what messages call the file."""
    try:
        text = content.decode("utf-8")
        table = tomllib.loads(text)
    except ValueError as error:  # of TOML, whose message names the line, or of UTF-8
        raise InputError(f"profile {name} is no TOML: {error}") from None
    lines = _Lines(name, text.splitlines())
    made = _made(Profile, table, lines, "", 0)
    for key, read in (("at", lambda: made.point), ("bands", lambda: read_bands(made.bands or ()))):
        try:
            read()
        except InputError as error:
            raise lines.error("", 0, key, error.marked) from None
    for k, clause in enumerate(made.clauses):
        _check_clause(clause, made.point, lines, k)
    for k, rule in enumerate(made.data):
        if rule.least < 1:
            raise lines.error("data", k, "least", f"must be at least 1, not {rule.least}")
        _require_word("count", rule.count, COUNTED, lines, "data", k)
        if (rule.count == "people of each label") != bool(rule.attribute):
            raise lines.error(
                "data", k, "count", '"attribute" goes with count = "people of each label" alone'
            )
    return replace(made, sha256=hashlib.sha256(content).hexdigest())


class _Lines:
    """The lines of a file, to name the one that is wrong."""

    def __init__(self, name: str, lines: Sequence[str]) -> None:
        self.name = name
        self.lines = lines

    def number(self, table: str, k: int, key: str) -> int:
        """Return the line of a key in the k-th table of a name, or else that of the table."""
        there, seen, start = "", -1, 1
        for number, line in enumerate(self.lines, 1):
            heading = re.match(r"\s*\[\[?\s*([\w-]+)\s*\]", line)
            if heading:
                there = heading[1]
                seen += there == table
                start = number if (there, seen) == (table, k) else start
                if not table and there == key:  # a heading in place of a word
                    return number
            inside = there == table and (not table or seen == k)
            if inside and re.match(rf"\s*\"?{re.escape(key)}\"?\s*=", line):
                return number
        return start

    def error(self, table: str, k: int, key: str, why: str) -> InputError:
        """Return the error that names the line and the word."""
        return InputError(f"profile {self.name}, line {self.number(table, k, key)}, {key!r}: {why}")


_Table = TypeVar("_Table")
_WORDS = {str: "text", float: "a number", int: "a whole number", bool: "true or false"}


def _made(kind: type[_Table], table: Mapping[str, Any], lines: _Lines, name: str, k: int) -> _Table:
    """Make a dataclass of a table of the file."""
    hints = get_type_hints(kind)
    # the hash is that of the file itself
    words = {field.name: field for field in fields(kind) if field.name != "sha256"}  # type: ignore[arg-type]
    for key in table:
        if key not in words:
            near = did_you_mean(key, words)
            raise lines.error(
                name, k, key, f"there is no such word{near}: write {joined_by_or(words)}"
            )
    for key, field in words.items():
        is_required = field.default is MISSING and field.default_factory is MISSING
        if key not in table and is_required:
            where = f"[[{name}]]" if name else "the file"
            raise lines.error(name, k, key, f"{where} lacks it")
    values = {key: _value(hints[key], value, lines, (name, k, key)) for key, value in table.items()}
    return kind(**values)


def _value(kind: Any, value: Any, lines: _Lines, where: tuple[str, int, str]) -> Any:
    """Return a value of the file as its field has it."""
    name, k, key = where
    if get_origin(kind) is tuple:
        inner = get_args(kind)[0]
        if inner is str:
            listed = value if isinstance(value, list) else [value]
            return tuple(_value(str, entry, lines, where) for entry in listed)
        if not isinstance(value, list):
            raise lines.error(name, k, key, f"write it as [[{key}]]")
        return tuple(_made(inner, entry, lines, key, n) for n, entry in enumerate(value))
    if kind is Source:
        if not isinstance(value, dict):
            raise lines.error(name, k, key, f"write it as [{key}]")
        return _made(Source, value, lines, key, 0)
    if kind is str and isinstance(value, datetime.date):
        return value.isoformat()
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    if kind is float and is_number:
        if not 0.5 < value < 1:
            raise lines.error(name, k, key, f"a level lies between 0.5 and 1, not {value}")
        return float(value)
    if not isinstance(value, kind) or (kind is int and not is_number):
        raise lines.error(name, k, key, f"must be {_WORDS[kind]}, not {value!r}")
    return value


def _require_word(
    key: str, word: str, words: Sequence[str], lines: _Lines, table: str, k: int
) -> None:
    if word not in words:
        near = did_you_mean(word, words)
        allowed = joined_by_or(repr(entry) for entry in words if entry)
        raise lines.error(table, k, key, f"{word!r} is none{near}: write {allowed}")


def _check_clause(clause: Clause, point: OperatingPoint, lines: _Lines, k: int) -> None:
    """Refuse lines that no data could answer, and rules that do not go with them."""
    _require_word("rule", clause.rule, RULES, lines, "clauses", k)
    if not clause.require:
        raise lines.error("clauses", k, "require", "names no requirement")
    for line in clause.require:
        try:
            read = _read_line(line, point)
        except InputError as error:
            raise lines.error("clauses", k, "require", str(error)) from None
        if clause.rule and read.group is not None:
            raise lines.error(
                "clauses", k, "rule", f"{line!r} is of groups: rules are of all people together"
            )
        if clause.rule and not read.is_upper:
            raise lines.error("clauses", k, "rule", f"{line!r}: rules are of rates of errors")


def _read_line(line: str, point: OperatingPoint) -> Requirement:
    """Read a requirement on comparisons, or on what other data have."""
    try:
        return read_requirement(line, point)
    except InputError as error:
        rates = [name for kind in _OTHER_KINDS for name in names_of(kind)]
        both = itertools.product(rates, ERROR_RATES)  # what comparisons may call a rate
        others = [*rates, *(name for pair in both for name in measures_called(*pair))]
        try:
            return read_requirement(line, point, others)
        except InputError:
            # a rate that its operating point holds has an answer at another point
            try:
                return read_requirement(line, read_point("threshold=0"))
            except InputError:
                raise error from None
