"""Options from signatures: `python -m fastfair.cli.signatures` writes `options.json`, which the
command line loads.
"""

from __future__ import annotations

import importlib
import inspect
import json
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import astuple, dataclass, is_dataclass, replace
from typing import Annotated, Any, Literal, get_args, get_origin

from fastfair._lib.arguments import Kind, annotations_of
from fastfair.io.formats import FORMATS

from .verbs import FLAGS, TABLE, VERBS, Table, Verb

_DATA = {
    "Comparisons",
    "ScannedComparisons",
    "Embeddings",
    "Evaluation",
    "FailureCounts",
    "Searches",
}
# What verbs take as arguments, or have in other ways
_NO_OPTIONS = (
    "path",
    "frame",
    "quality",
    "quality_table",
    "executor",
)
_SAID = {
    "progress": "Show a progress bar, by default if standard error is a terminal.",
    "rng": "Seed of the random numbers. By default a random one, which is told.",
    "measures": "Fairness measures, by name; by default all of them.",
}


@dataclass(frozen=True)
class Parameter:
    """A parameter of a function: the names of its types, the words that it allows, and its record,
    if it is one.
    """

    name: str
    types: tuple[str, ...]
    words: tuple[str, ...]
    default: Any
    record: type | None

    @property
    def takes_several(self) -> bool:
        """Whether it is a list or a mapping, so that an option is repeated."""
        return not {"Sequence", "list", "Mapping"}.isdisjoint(self.types)


def function_of(name: str) -> Callable[..., Any]:
    """Return the function of the library that has this name, such as "evaluate" or
    "measures.table".
    """
    module, _, last = name.rpartition(".")
    function: Callable[..., Any] = getattr(
        importlib.import_module(f"fastfair.{module}".rstrip(".")), last
    )
    return function


def parameters_of(function: Callable[..., Any]) -> list[Parameter]:
    """Return the parameters of a function that are options, or the fields of a record."""
    parameters = []
    annotations = annotations_of(function)
    for name, parameter in inspect.signature(function).parameters.items():
        types = list(_types_in(annotations.get(name)))
        names = tuple(getattr(kind, "__name__", "") for kind in types)
        is_option = parameter.kind in (parameter.POSITIONAL_OR_KEYWORD, parameter.KEYWORD_ONLY)
        is_option &= name not in _NO_OPTIONS or "Checkpoint" in names
        if is_option and _DATA.isdisjoint(names):
            types.append(None if parameter.default is parameter.empty else type(parameter.default))
            record = None
            # what files can be read to is no record
            if "Path" not in names and "OperatingPoint" not in names:
                record = next(
                    (kind for kind in types if isinstance(kind, type) and is_dataclass(kind)), None
                )
            parameters.append(
                Parameter(name, names, words_of(annotations[name]), parameter.default, record)
            )
    return parameters


def _types_in(annotation: Any) -> Iterator[Any]:
    """Yield the types of which an annotation is made, without constraints; lists before what is in
    them.
    """
    origin, inner = get_origin(annotation), get_args(annotation)
    if origin is Annotated or not inner:
        yield inner[0] if inner else annotation
    elif origin is not Literal:
        yield origin
        for member in inner:
            yield from _types_in(member)


def words_of(annotation: Any) -> tuple[str, ...]:
    """Return the words that an annotation allows, in a list or alone: those of a `Literal`, or
    known to a kind.
    """
    inner = get_args(annotation)
    if isinstance(annotation, Kind):
        return tuple(annotation.words())
    if get_origin(annotation) is Literal:
        return inner
    return tuple(dict.fromkeys(word for member in inner for word in words_of(member)))


def option_names(function: Callable[..., Any]) -> list[str]:
    """Return the names of the options that a function has."""
    return [parameter.name for _, parameter in _flat(function)]


def _documented(function: Callable[..., Any]) -> dict[str, str]:
    """Read texts of parameters in a docstring of numpydoc, or of a class's attributes.

    A text is the first paragraph: what follows holds of Python alone. A parameter without a type
    has the text that it has in the function which the paragraph names.
    """
    doc = inspect.getdoc(function) or ""
    section = re.search(r"^(?:Parameters|Attributes)\n-+\n(.*?)(?=\n\n\w|\Z)", doc, re.M | re.S)
    texts: dict[str, str] = {}
    for head, described in re.findall(
        r"^(\S[^\n]*)\n((?:[ \n][^\n]*\n?)*)", section[1] + "\n" if section else "", re.M
    ):
        names, _, kind = head.partition(" : ")
        text = " ".join(described.partition("\n\n")[0].split())
        elsewhere = None if kind else re.search(r"`(\w+)`", text)
        there = _documented(function_of(elsewhere[1])) if elsewhere else {}
        for name in names.replace("*", "").split(", "):
            texts[name] = there.get(name) or there.get(name.rpartition("_")[2]) or text
    return texts


def option_of(parameter: Parameter, text: str, names: Iterable[str]) -> dict[str, Any]:
    """Make the facts of an option; its text may speak of parameters that have `names`."""
    choices = sorted(parameter.words, key=lambda word: word != parameter.default)
    if parameter.name == "format":  # a new format of score files is one record
        choices = ["auto", *FORMATS]
    kind = _type_of(parameter, bool(choices))
    record = parameter.record
    default = None if parameter.default is inspect.Parameter.empty else parameter.default
    if kind == "record" and default is not None:  # the first field alone makes them
        default = " ".join(f"{astuple(value)[0]:g}" for value in default)
    if kind == "point" and default is not None:
        default = " ".join(
            str(value).lower() for value in (default if isinstance(default, tuple) else (default,))
        )
    facts = {
        "text": _plain(_SAID.get(parameter.name, text), names),
        "type": kind,
        "choices": choices if kind in ("choice", "choice or number") else None,
        "default": default,
        "multiple": kind in ("text", "point", "record", "measure", "pairs")
        and parameter.takes_several,
        "required": parameter.default is inspect.Parameter.empty,
        "record": f"{record.__module__}:{record.__name__}" if kind == "record" and record else None,
    }
    if kind == "numbers" or default in ((), "all"):
        facts["default"] = None
    return {
        name: value
        for name, value in facts.items()
        if value or (name == "default" and value == 0 and value)
    }


def _type_of(parameter: Parameter, has_choices: bool) -> str:
    named = {"progress": "switch", "rng": "seed", "measures": "measure"}
    if parameter.name in named:
        return named[parameter.name]
    if "OperatingPoint" in parameter.types:
        return "point"
    if parameter.record is not None:
        return "record"
    if has_choices and parameter.name != "metrics":
        return "choice or number" if "float" in parameter.types else "choice"
    if "Mapping" in parameter.types[:2]:
        return "pairs"
    kinds = {
        "ArrayLike": "numbers",
        "Path": "path",
        "str": "text",
        "bool": "flag",
        "int": "integer",
        "float": "number",
    }
    usual = next((kind for word, kind in kinds.items() if word in parameter.types), "text")
    return "switch" if usual == "flag" and parameter.default is True else usual


def _plain(text: str, names: Iterable[str]) -> str:
    """Turn the markup of a docstring into text that speaks of options."""
    text = re.sub(r" ?\[\d+\]_", "", text).replace("``", "`")
    parameters = set(names)

    def option(match: re.Match[str]) -> str:
        word = match[1]
        return f"--{FLAGS.get(word, word).replace('_', '-')}" if word in parameters else word

    return re.sub(r"`([^`]*)`", option, text)


def options_from(function: Callable[..., Any]) -> dict[str, dict[str, Any]]:
    """Make the options of a function; a record's fields are options, too, but of a sequence of
    records it is one.
    """
    names = option_names(function)
    return {
        parameter.name: option_of(parameter, _documented(owner).get(parameter.name, ""), names)
        for owner, parameter in _flat(function)
    }


def _flat(function: Callable[..., Any]) -> Iterator[tuple[Callable[..., Any], Parameter]]:
    """Yield parameters, and what documents them: the function, or the record whose fields they
    are.
    """
    for parameter in parameters_of(function):
        if parameter.record is None or parameter.takes_several:
            yield function, parameter
        else:
            for owner, field in _flat(parameter.record):
                can_be_left_out = parameter.default is not inspect.Parameter.empty is field.default
                yield owner, replace(field, default=None) if can_be_left_out else field


def table_of(verbs: dict[str, Verb]) -> Table:
    """Make the table of all functions that verbs call."""
    likes = (
        option.like.rpartition(".")[0]
        for verb in verbs.values()
        for option in verb.options
        if option.like
    )
    called = (name for verb in verbs.values() for name in f"{verb.calls} {verb.reads}".split())
    return {name: options_from(function_of(name)) for name in sorted({*called, *likes})}


def arguments_for(function: Callable[..., Any], options: dict[str, Any]) -> dict[str, Any]:
    """Return those of the options that a function takes, with records made of their fields."""
    arguments: dict[str, Any] = {}
    for parameter in parameters_of(function):
        if parameter.record is None or parameter.takes_several:
            arguments |= (
                {parameter.name: options[parameter.name]} if parameter.name in options else {}
            )
        elif inner := arguments_for(parameter.record, options):
            given = (
                {}
                if parameter.default in (None, inspect.Parameter.empty)
                else vars(parameter.default)
            )
            arguments[parameter.name] = parameter.record(**given | inner)
    return arguments


def main() -> None:
    """Write the table."""
    TABLE.write_text(json.dumps(table_of(VERBS), indent=1, ensure_ascii=False) + "\n", "utf-8")


if __name__ == "__main__":
    main()
