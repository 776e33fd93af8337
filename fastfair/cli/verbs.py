"""What all verbs share: help in sections with examples, and options that come from a file."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click
from click.core import ParameterSource

from fastfair._lib import validation, whole_files
from fastfair._lib.seeds import fixed
from fastfair._version import __version__
from fastfair.errors import FileFormatError
from fastfair.io import files

from .compiling import told_of_compiling

_GIVEN = "fastfair.given"  # what a command line or a configuration says, before it is checked
_COMPILING = "fastfair.compiling"  # set while compiled kernels are told of
_VERB = "verb"
_LAST = "Output"
# Options that are in none of these sections say what is computed.
_SECTIONS = {
    "Input": """score mated mated_value reference probe second_score second_score_kind subject_pattern metadata
        metadata_id metadata_per metadata_subject missing_labels format trials embeddings second_embeddings name
        same_name score_kind label_conflicts look_alikes keep unmatched impostor self_comparisons vectors subject
        samples similarity role template template_score kind failures attempts failed pilot fmr_global fnmr_global
        percent config system development quality reference_quality probe_quality""",
    "Groups": "groups group reference_group probe_group by incomplete_groups baseline mix",
    "What is computed": "",
    "Intervals": """n_resamples unit confidence_level scheme method alternative simultaneous quantile center rng
        n_simulations weighting""",
    _LAST: "n_threads progress checkpoint as_json output plots report suffix worst junit github",
}
_SECTION_OF = {name: section for section, names in _SECTIONS.items() for name in names.split()}
_NOT_REPEATED = ("config", "checkpoint", "output", "report", "junit", "progress", "as_json")


class Verb(click.Command):
    """A verb: its help has sections and ends with examples, and `--config` gives it options out of a file.

    Parameters
    ----------
    summary : str
        What the list of verbs says of it, in one line.
    examples : str
        Command lines, one on each line.
    """

    def __init__(self, *args: Any, summary: str, examples: str, **kwargs: Any) -> None:
        lines = [line.strip() for line in examples.strip().splitlines()]
        super().__init__(*args, **kwargs)
        self.short_help = summary
        self.epilog = "\n".join(["\b", "Examples:", *lines])
        self.examples = [line for line in lines if line.startswith("fastfair ")]
        self.params.append(
            click.Option(
                ["--config"], type=click.Path(path_type=Path), metavar="FILE", is_eager=True, expose_value=False,
                callback=_take_configuration,
                help="File of options (TOML), such as the config.toml that --output writes; options given here count "
                "before those of the file.",
            )
        )  # fmt: skip

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse options, and remember them as they were written."""
        ctx.meta[_GIVEN] = {}
        args = _with_genuine_scores(args)
        if args or not self.no_args_is_help:
            given = self.make_parser(ctx).parse_args(args=list(args))[0]
            ctx.meta[_GIVEN] = {name: value for name, value in given.items() if value != () and _is_written(value)}
        return super().parse_args(ctx, args)

    def invoke(self, ctx: click.Context) -> Any:
        """Run the verb, and where it shows its progress, tell of kernels that are compiled."""
        seed_is_random = ctx.get_parameter_source("rng") is ParameterSource.DEFAULT
        if ctx.params.get("checkpoint") is not None and seed_is_random:
            raise click.UsageError("--checkpoint needs --seed, as a run with another seed cannot go on from it")
        if _COMPILING in ctx.meta or "progress" not in ctx.params or not watched(ctx.params["progress"]):
            return super().invoke(ctx)
        ctx.meta[_COMPILING] = True
        with told_of_compiling():
            return super().invoke(ctx)

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the options in sections."""
        records: dict[str, list[tuple[str, str]]] = {section: [] for section in _SECTIONS}
        for param in self.get_params(ctx):
            record = None if isinstance(param, click.Argument) else param.get_help_record(ctx)
            if record is not None:
                section = _LAST if "--help" in param.opts else _SECTION_OF.get(param.name or "", "What is computed")
                records[section].append(record)
        for section, rows in records.items():
            if rows:
                with formatter.section(section):
                    formatter.write_dl(rows)


def _with_genuine_scores(args: list[str]) -> list[str]:
    """Put the file after --genuine in the place of SCORES, for those who name both of two files."""
    for place, word in enumerate(args):
        flag, is_given, file = word.partition("=")
        if flag == "--genuine":
            file, rest = (file, args[place + 1 :]) if is_given else ("".join(args[place + 1 :][:1]), args[place + 2 :])
            return [*args[:place], *rest] if not file else [file, *args[:place], *rest]
    return args


class Remaining(click.Argument):
    """An argument that takes all that is left, and the list in a configuration file where nothing is."""

    def consume_value(self, ctx: click.Context, opts: Mapping[str, Any]) -> Any:
        """Tell click before 8.3 that an empty list was not given."""
        return super().consume_value(ctx, {name: value for name, value in opts.items() if value != ()})


class VerbGroup(Verb, click.Group):
    """A verb that has further verbs."""

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the options in sections, and then the further verbs."""
        super().format_options(ctx, formatter)
        self.format_commands(ctx, formatter)


def write_configuration(path: Path) -> None:
    """Write the options of the verb that runs, with the seed that it uses, so that `--config` repeats it."""
    context = click.get_current_context()
    given = {name: value for name, value in context.meta[_GIVEN].items() if name not in _NOT_REPEATED}
    if context.params.get("rng") is not None:
        given["rng"] = str(context.params["rng"])
    names = _names(context.command)
    lines = [
        f"# The options of a run of fastfair {__version__}. Repeat it with: fastfair {_verb(context)} --config FILE"
    ]
    lines.append(f"{_VERB} = {_toml(_verb(context))}")
    lines += [f"{name} = {_toml(given[key])}" for name, key in names.items() if key in given]
    with whole_files.written(path) as file:
        file.write("".join(f"{line}\n" for line in lines).encode("utf-8", "backslashreplace"))


def input_files() -> list[Path]:
    """List the files that the verb that runs reads: its arguments, and options of its help's section of input."""
    context = click.get_current_context()
    read = [
        context.params.get(param.name or "")
        for param in context.command.params
        if isinstance(param.type, click.Path)
        and (isinstance(param, click.Argument) or _SECTION_OF.get(param.name or "") == "Input")
    ]
    several = [one if isinstance(one, tuple) else (one,) for one in read if one is not None]
    names = [Path(name) for one in several for name in one]
    return [file for name in names for file in (files.files_of(name, "rows") if files.is_pattern(name) else [name])]


def watched(progress: bool | None) -> bool:
    """Return whether to show a progress bar; by default, whether standard error is a terminal."""
    return sys.stderr.isatty() if progress is None else progress


def seeded(_context: click.Context, _param: click.Parameter, seed: int | None) -> int:
    """Choose a seed where none is given, so that it can be told."""
    found = fixed(seed)
    assert isinstance(found, int)
    return found


def _take_configuration(context: click.Context, _param: click.Parameter, path: Path | None) -> None:
    """Make the options in a file the defaults of a command line."""
    if path is None:
        return
    import tomllib

    file = files.check_file(path)
    try:
        content = tomllib.loads(file.read_text("utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise FileFormatError(f"{path} is not TOML: {error}") from None
    verb = content.pop(_VERB, None)
    if verb not in (None, _verb(context)):
        raise click.UsageError(f"{path} holds options of fastfair {verb}, not of fastfair {_verb(context)}")
    names = _names(context.command)
    params = {param.name: param for param in context.command.params}
    found: dict[str, Any] = {}
    for key, value in content.items():
        name = names.get(key.replace("_", "-"))
        if name is None or key.replace("_", "-") == "config":
            raise click.UsageError(
                f"{path}: fastfair {_verb(context)} has no option {key!r}{validation.did_you_mean(key, names)}"
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
    if (isinstance(value, list) and not several) or not all(type(one) in (str, int, float) for one in values):
        raise click.UsageError(f"{place} is text or a number{', or a list of them' if several else ''}, not {value!r}")
    written = [str(one) for one in values]
    return written if several else written[0]


def _names(command: click.Command) -> dict[str, str]:
    """Return the names of arguments and options in a file, and those of their parameters."""
    found = {}
    for param in command.params:
        name = max(param.opts, key=len).lstrip("-") if isinstance(param, click.Option) else str(param.name)
        found[name] = str(param.name)
    return found


def _verb(context: click.Context) -> str:
    """Return the name of the verb that runs: that of the command, also where it was called by an old name."""
    above = context.parent
    if above is not None and isinstance(above.command, VerbGroup):
        return f"{above.command.name} {context.command.name}"
    return str(context.command.name)


def _is_written(value: object) -> bool:
    return isinstance(value, str | bool) or (isinstance(value, list | tuple) and all(isinstance(v, str) for v in value))


def _toml(value: Any) -> str:
    """Write text, truth values and lists of text as TOML."""
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(_toml, value))}]"
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
