"""Commands of click out of the table of verbs: types of options, help in sections, and options out
of a file.
"""

from __future__ import annotations

import importlib
import json
import textwrap
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import fields
from functools import cached_property
from pathlib import Path
from typing import Any

import click
from click.core import ParameterSource

from fastfair._version import __version__

from .verbs import SECTIONS, Option, Table, Verb, options_of

_GIVEN = "fastfair.given"  # what a command line or a configuration says, before it is checked
_VERB = "verb"
_NOT_REPEATED = ("config", "folder", "output", "report", "tables", "junit", "progress", "as_json")
_MOST_CHOICES = 24  # characters of choices that stand beside the option
_BRIEF = 96  # characters of a sentence in --help, about two lines
_ALL = "--help-all"


class _Type(click.ParamType):  # type: ignore[type-arg]  # generic since click 8.2 only
    """A type whose values the library reads, which is imported when one is given."""

    def __init__(self, name: str, read: Callable[[Any], Any]) -> None:
        self.name, self._read = name, read

    def convert(self, value: Any, param: Any, ctx: Any) -> Any:
        try:
            return self._read(value)
        except ValueError as error:  # InputError is one
            self.fail(str(error), param, ctx)


class _Folder(click.Path):
    def convert(self, value: Any, param: Any, ctx: Any) -> Any:
        if value == "":
            self.fail("the name is empty: name a folder, or . for the one you are in", param, ctx)
        return super().convert(value, param, ctx)


def _imported(place: str) -> Any:
    """Return what stands at "module:name" of the library, which is imported when an option needs
    it.
    """
    module, _, name = place.partition(":")
    return getattr(importlib.import_module(module), name)


def _number(text: Any) -> float:
    """Read a number; of a configuration file it is one already."""
    try:
        return float(text)
    except (TypeError, ValueError):
        raise ValueError(f"{text!r} is {_what_is_no_number(str(text).strip())}") from None


def _what_is_no_number(text: str) -> str:
    if text.endswith("%"):
        with suppress(ValueError):
            return (
                f"a percentage: write it as a fraction, {float(f'{float(text[:-1]) / 100:.15g}')}"
            )
    if "," in text:
        return "no number: write decimals with a point, and no commas between thousands"
    return "no number"


def _numbers(text: str) -> tuple[float, ...]:
    numbers = map(_number, text.split(","))
    return tuple(int(number) if number.is_integer() else number for number in numbers)


def _pair(text: str) -> tuple[str, str]:
    name, sign, value = text.partition("=")
    if not sign:
        raise ValueError(f"{text!r} must be an attribute and a value, as in sex=m")
    return name, value


TYPES: dict[str, Any] = {
    "text": None,
    "column": None,
    "integer": int,
    "number": _Type("float", _number),
    "seed": click.IntRange(min=0),
    "path": click.Path(path_type=Path),
    "folder": _Folder(file_okay=False, path_type=Path),
    "point": _Type(
        "point", lambda text: _imported("fastfair.error_rates.operating_points:read_point")(text)
    ),
    "measure": _Type(
        "measure", lambda text: _imported("fastfair.measures._registry:measure_name")(text)
    ),
    "numbers": _Type("numbers", _numbers),
    "pairs": _Type("name=value", _pair),
}
_METAVARS = {
    "text": "TEXT", "path": "FILE", "folder": "FOLDER", "seed": "INTEGER", "measure": "NAME", "pairs": "NAME=VALUE",
}  # fmt: skip


def _choice_or_number(choices: Iterable[str]) -> _Type:
    known = list(choices)

    def read(text: str) -> str | float:
        try:
            return text if text in known else _number(text)
        except ValueError as error:
            raise ValueError(f"{error}, nor one of {', '.join(known)}") from None

    return _Type("number", read)


def _record(place: str) -> _Type:
    """Make the type of records, whose fields are numbers with commas between them: the first alone,
    or all.
    """

    def read(text: str) -> Any:
        record = _imported(place)
        names = [one.name for one in fields(record) if one.type != "bool"]
        parts = text.split(",")
        if len(parts) not in (1, len(names)):
            raise ValueError(f"{text!r} is neither {names[0]} nor {','.join(names)}")
        numbers = map(_number, parts)
        try:
            return record(*numbers)
        except ValueError as error:  # InputError is one
            raise ValueError(f"{text!r}: {error}") from None

    return _Type("record", read)


class _ClickOption(click.Option):
    """An option of click that knows where its help stands, and what is said of it there."""

    def __init__(self, about: Option) -> None:
        self.about = about
        is_flag, is_switch = about.type == "flag", about.type == "switch"
        kind: Any = TYPES.get(about.type)
        if about.type.startswith("choice"):
            kind = (
                click.Choice(about.choices)
                if about.type == "choice"
                else _choice_or_number(about.choices)
            )
        elif about.record:
            kind = _record(about.record)
        flags = f"{about.flag}/--no-{about.flag[2:]}" if is_switch else about.flag
        more: dict[str, Any] = {}
        if about.name == "config":
            more = {"is_eager": True, "expose_value": False, "callback": _take_configuration}
        elif is_flag or is_switch:
            more = {"is_flag": True, "default": False if is_flag else None}
        super().__init__(
            [flags, about.name],
            type=kind,
            multiple=about.multiple,
            required=about.required,
            help=about.text,
            **more,
        )

    def record(self, *, is_brief: bool) -> tuple[str, str]:
        """Return how the option is written, and its help."""
        about, flag = self.about, " / ".join([*self.opts[:1], *self.secondary_opts])
        text, choices = brief(about.text) if is_brief else about.text, "|".join(about.choices)
        if not self.is_flag:
            short = choices and len(choices) <= _MOST_CHOICES
            kind = (
                f"[{choices}]"
                if short
                else _METAVARS.get(about.type, about.type.split()[0].upper())
            )
            flag += f" {kind}"
            listed = f" One of {', '.join(about.choices)}{', or a number' * (' ' in about.type)}."
            if choices and not short and (not is_brief or len(text + listed) <= _BRIEF):
                text += listed
        more = [] if about.default in (None, True) else [f"default: {about.default}"]
        if about.type == "point":
            more += (
                ["as fmr=0.001"] * (not more)
                if is_brief
                else ["as fmr=0.001, fnmr=5 %, threshold=0.4 or eer"]
            )
        more += ["required"] * about.required + ["repeatable"] * (about.multiple and not is_brief)
        return flag, text + (f" [{', '.join(more)}]" if more else "")


def brief(text: str) -> str:
    """Return the first sentence of a help, or what of it fits two lines."""
    sentence = text.partition(". ")[0].rstrip(".")
    if len(sentence) > _BRIEF:
        cuts = (sentence.rfind(mark, 20, _BRIEF) for mark in (": ", "; ", ", ", " ("))
        cut = next((place for place in cuts if place > 0), 0)
        sentence = sentence[:cut] if cut else textwrap.shorten(sentence, _BRIEF, placeholder=" ...")
    return f"{sentence}."


class Command(click.Command):
    """A verb: help shows the options that matter, `--help-all` all, and `--config` reads options
    out of a file.
    """

    def __init__(self, name: str, verb: Verb, table: Table, run: Callable[[str], Any]) -> None:
        super().__init__(
            name.split()[-1],
            callback=lambda **_: run(name),
            help=verb.help,
            short_help=verb.help.partition(". ")[0].removesuffix(".") + ".",
        )
        del self.params  # they are made when they are first asked for: most verbs are not called
        self.verb, self.examples = verb, list(map(str.strip, verb.examples.splitlines()))
        self._table = table

    @cached_property
    def params(self) -> list[click.Parameter]:  # type: ignore[override]
        """The arguments and options."""
        arguments = [_argument(word) for word in self.verb.arguments.split()]
        options = [_ClickOption(one) for one in options_of(self.verb, self._table)]
        help_all = click.Option(
            [_ALL],
            is_flag=True,
            is_eager=True,
            expose_value=False,
            callback=_show_all,
            help="Show all options.",
        )
        return [*arguments, *options, help_all]

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse options, and remember them as they were written."""
        ctx.meta[_GIVEN] = {}
        if args or not self.no_args_is_help:
            given = self.make_parser(ctx).parse_args(args=list(args))[0]
            ctx.meta[_GIVEN] = {
                name: value for name, value in given.items() if value != () and _is_written(value)
            }
        return super().parse_args(ctx, args)

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the options in sections: those that matter, or all."""
        shows_all = bool(ctx.meta.get(_ALL))
        first = self.verb.first.split()
        options = [param for param in self.params if isinstance(param, _ClickOption)]
        if not shows_all:
            options = [param for param in options if param.about.name in first]
        place = {name: k for k, name in enumerate(first)}
        ordered = sorted(options, key=lambda one: place.get(one.about.name, len(first)))
        for section in SECTIONS:
            rows = [
                one.record(is_brief=not shows_all)
                for one in ordered
                if one.about.section == section
            ]
            if rows:
                with formatter.section(section):
                    formatter.write_dl(rows, col_max=32)
        if isinstance(self, click.Group):
            self.format_commands(ctx, formatter)
        if not shows_all:
            formatter.write(
                f"\nAll {len(self.params) - len(self.verb.arguments.split())} options: {_ALL}\n"
            )

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the examples."""
        formatter.write("\nExamples:\n" + "".join(f"  {example}\n" for example in self.examples))


class GroupCommand(Command, click.Group):
    """A verb that has further verbs."""

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self.commands, self.invoke_without_command, self.no_args_is_help = {}, True, False


def _argument(word: str) -> click.Argument:
    kind = None if word == "statement" else TYPES["path"]
    return click.Argument(
        [word.removesuffix("...")], type=kind, nargs=-1 if word.endswith("...") else 1
    )


def _show_all(context: click.Context, _param: click.Parameter, asked: bool) -> None:
    if asked:
        context.meta[_ALL] = True
        click.echo(context.get_help())
        context.exit()


def names_of(command: click.Command) -> dict[str, str]:
    """Return the names of arguments and options in a file, and those of their parameters."""
    found = {}
    for param in command.params:
        name = (
            max(param.opts, key=len).lstrip("-")
            if isinstance(param, click.Option)
            else str(param.name)
        )
        found[name] = str(param.name)
    return found


def verb_of(context: click.Context) -> str:
    """Return the name of the verb that runs."""
    above = context.parent
    inside = above is not None and isinstance(above.command, GroupCommand)
    return f"{above.command.name} {context.command.name}" if inside else str(context.command.name)  # type: ignore[union-attr]


def configuration(context: click.Context, seed: int | None) -> str:
    """Write the options of a run as TOML, with the seed that it uses, so that `--config` repeats
    it.
    """
    given = {
        name: value for name, value in context.meta[_GIVEN].items() if name not in _NOT_REPEATED
    }
    given |= {} if seed is None else {"rng": str(seed)}
    names, verb = names_of(context.command), verb_of(context)
    lines = [
        f"# The options of a run of fastfair {__version__}. Repeat it with: fastfair {verb}"
        " --config FILE"
    ]
    lines.append(f"{_VERB} = {_toml(verb)}")
    lines += [f"{name} = {_toml(given[key])}" for name, key in names.items() if key in given]
    return "".join(f"{line}\n" for line in lines)


def _take_configuration(context: click.Context, _param: click.Parameter, path: Path | None) -> None:
    """Make the options in a file the defaults of a command line."""
    if path is None:
        return
    import tomllib

    from fastfair._lib.text import did_you_mean
    from fastfair.errors import FileFormatError
    from fastfair.io.files import check_file

    file = check_file(path)
    try:
        content = tomllib.loads(file.read_text("utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise FileFormatError(f"{path} is not TOML: {error}") from None
    verb = content.pop(_VERB, None)
    if verb not in (None, verb_of(context)):
        raise click.UsageError(
            f"{path} holds options of fastfair {verb}, not of fastfair {verb_of(context)}"
        )
    names = names_of(context.command)
    params = {param.name: param for param in context.command.params}
    found: dict[str, Any] = {}
    for key, value in content.items():
        name = names.get(key.replace("_", "-"))
        if name is None or name in ("config", "help_all"):
            raise click.UsageError(
                f"{path}: fastfair {verb_of(context)} has no option"
                f" {key!r}{did_you_mean(key, names)}"
            )
        found[name] = _as_written(f"{path}: {key}", params[name], value)
    context.default_map = {**(context.default_map or {}), **found}
    context.meta[_GIVEN] = found | context.meta[_GIVEN]


def _as_written(place: str, param: click.Parameter, value: Any) -> Any:
    """Return a value of a file as a command line would have it."""
    if isinstance(param, click.Option) and param.is_flag:
        if not isinstance(value, bool):
            raise click.UsageError(f"{place} is true or false, not {value!r}")
        return value
    several = param.multiple or param.nargs == -1
    values = value if isinstance(value, list) else [value]
    if (isinstance(value, list) and not several) or not all(
        type(one) in (str, int, float) for one in values
    ):
        raise click.UsageError(
            f"{place} is text or a number{', or a list of them' if several else ''}, not {value!r}"
        )
    written = [str(one) for one in values]
    return written if several else written[0]


def _is_written(value: object) -> bool:
    return isinstance(value, str | bool) or (
        isinstance(value, list | tuple) and all(isinstance(v, str) for v in value)
    )


def _toml(value: Any) -> str:
    """Write text, truth values and lists of text as TOML."""
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(_toml, value))}]"
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")


def given_options(context: click.Context) -> dict[str, Any]:
    """Return the options that were given, here or in a file; the functions have the defaults of the
    others.
    """
    sources = (ParameterSource.COMMANDLINE, ParameterSource.DEFAULT_MAP)
    return {
        name: value
        for name, value in context.params.items()
        if context.get_parameter_source(name) in sources
    }
