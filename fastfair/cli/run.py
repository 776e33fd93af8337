"""A run of a verb: the options that were given, what is read with them, and where the results
go.
"""

from __future__ import annotations

import inspect
import re
import sys
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from fastfair._lib import whole_files
from fastfair._lib.plots import off_screen, save
from fastfair._lib.seeds import fix_seed
from fastfair._lib.tables import write_json
from fastfair._lib.whole_files import write_csv
from fastfair.claims.counts import rate_named
from fastfair.errors import InputError
from fastfair.evaluation.failure_counts import FailureCounts
from fastfair.identification.read_searches import read_searches
from fastfair.io import files
from fastfair.io.comparisons import read_comparisons
from fastfair.io.embeddings import read_embeddings, read_named_vectors
from fastfair.io.failure_counts import read_failure_counts
from fastfair.io.formats import USUAL_LAYOUT
from fastfair.pages.pdf import browser
from fastfair.pages.report import report as write_report
from fastfair.results.display import kind_of, write_tables
from fastfair.results.result import display_tables

from .commands import Command, configuration, given_options
from .signatures import arguments_for, option_names
from .terminal import print_result, say, say_json

if TYPE_CHECKING:
    from fastfair.results.result import Result

# for example
_FILES = {
    "--report": "report.html",
    "--tables": "tables.xlsx",
    "--junit": "junit.xml",
}
_DOTS = 200  # per inch of a PNG
_OF_SECOND = ("second_score", "second_score_kind", "second_embeddings")
_OF_TRIALS = [
    name for name in option_names(read_named_vectors) if name not in ("samples", "failures")
]
_OF_COUNTS = ("other_subject", "other_groups", "missing_labels", "session", "bands")
OF_FAILURES = ("counts", "decisions")
_COUNTED = re.compile(r"([0-9][0-9,]*) of ([0-9][0-9,]*)")  # in place of a file
# Options that belong to some kinds of input only; --group belongs to all.
OF_INPUT: dict[str, set[str]] = {
    "scores": {*option_names(read_comparisons), *_OF_TRIALS, "samples", "reference_group", "probe_group", *_OF_SECOND,
               "fmr_statistic", "at"},
    "vectors": {*option_names(read_embeddings), "fmr_statistic", "at", "templates", "candidates"},
    "searches": {*option_names(read_searches), "at"},
    "counts": {"failures", "attempts", "subject", "totals", *_OF_COUNTS},
    "decisions": {"failed", "subject", "failed_value", *_OF_COUNTS},
}  # fmt: skip


class Run:
    """One run of a verb.

    Attributes
    ----------
    options : dict
        The options that were given, by the names of parameters. Functions have the defaults of the
        others.
    arguments : list
        The arguments, in their order; of several at the end a tuple.
    """

    def __init__(self) -> None:
        self.context = click.get_current_context()
        assert isinstance(self.context.command, Command)
        self.command = self.context.command
        self.options = given_options(self.context)
        params = self.context.params
        self.arguments: list[Any] = [
            params[str(param.name)]
            for param in self.command.params
            if isinstance(param, click.Argument)
        ]
        names = {param.name for param in self.command.params}
        if "progress" in names:
            asked = params["progress"]
            self.options["progress"] = sys.stderr.isatty() if asked is None else asked
        if "rng" in names:
            if "folder" in self.options and "rng" not in self.options:
                raise click.UsageError(
                    "--checkpoint needs --seed, as a run with another seed cannot go on from it"
                )
            self.options["rng"] = fix_seed(self.options.get("rng"))
        if self.options.pop("quick", False):
            self.options["n_resamples"] = 0
        self._require_places()

    def _require_places(self) -> None:
        """Refuse, before any work, --plots without --output and places that cannot be written
        to.
        """
        if self.options.get("plots") and "output" not in self.options:
            raise click.UsageError("--plots needs --output DIR")
        if "output" in self.options:
            whole_files.ready_folder(self.options["output"])
        for option, example in _FILES.items():
            path = self.options.get(option[2:])
            if path is not None:
                if path.is_dir():
                    raise click.UsageError(
                        f"{option} {path} is a folder: name a file in it, such as {path / example}"
                    )
                whole_files.ready_folder(path.parent)
        if Path(self.options.get("report", "")).suffix.lower() == ".pdf":
            browser()
        if "tables" in self.options:
            try:
                kind_of(self.options["tables"])
            except InputError as error:
                raise click.UsageError(f"--tables: {error.marked}") from None

    def take(self, name: str, default: Any = None) -> Any:
        """Remove an option that the functions do not get, and return it."""
        return self.options.pop(name, default)

    def call(self, function: Callable[..., Any], *args: Any, **more: Any) -> Any:
        """Call a function with the options that it takes, and with more."""
        bound = list(inspect.signature(function).parameters)[: len(args)]
        free = {name: value for name, value in self.options.items() if name not in bound}
        return function(*args, **arguments_for(function, free) | more)

    def read(self, path: Path | None = None, **instead: Any) -> Any:
        """Read comparisons, or vectors all of whose pairs are compared, by default out of the first
        argument; `instead` are options that replace others.
        """
        path = path or self.arguments[0]
        kind = self.kind_of(path)
        self.refuse_options_of_others(kind)
        if kind in OF_FAILURES:
            return self._counts(path, kind)
        kept = self.options
        self.options = self.options | instead
        try:
            return (
                self.call(read_embeddings, path) if kind == "vectors" else self._comparisons(path)
            )
        finally:
            self.options = kept

    def kind_of(self, path: Path) -> str:
        """Return what a file holds, by --input; counts may stand in its place."""
        kind: str = self.options.get("kind", "scores")
        has_counts = any(param.name == "totals" for param in self.command.params)
        is_counted = has_counts and counted_in_words(path) is not None
        return "counts" if is_counted and kind == "scores" else kind

    def _comparisons(self, path: Path) -> Any:
        sides = [self.options.get(f"{side}_group", ()) for side in ("reference", "probe")]
        if len(sides[0]) != len(sides[1]):
            raise click.UsageError(
                f"--reference-group is given {len(sides[0])} times and --probe-group"
                f" {len(sides[1])} times: give both for each attribute"
            )
        attempts = self.options.get("attempts")
        if isinstance(attempts, str):  # of a verb whose --attempts may be a column, too
            self.options["attempts"] = click.types.convert_type(int)(attempts, None, self.context)
        for name in ("session", "attack"):  # two of them have a comma between
            given = self.options.get(name)
            if isinstance(given, str) and "," in given:
                self.options[name] = tuple(map(str.strip, given.split(",")))
        more: dict[str, Any] = {}
        if sides[0]:
            more["groups"] = [*self.options.get("groups", ()), *zip(*sides, strict=True)]
        if "quality" in self.options:
            layout = arguments_for(read_comparisons, self.options).get("layout", USUAL_LAYOUT)
            table = self.options.get("quality_table")
            more["layout"] = replace(layout, quality=self.options["quality"], quality_table=table)
        return self.call(read_comparisons, path, **more | self._vectors_of_trials())

    def _counts(self, path: Path, kind: str) -> Any:
        """Read failures and attempts, or decisions; they are of the rate that is asked for, or
        named by a claim or by requirements.
        """
        named = [*self.options.get("requirements", ()), self.context.params.get("statement") or ""]
        rate: Any = self.options.get("rate") or rate_named(named) or "fnmr"
        counted = counted_in_words(path)
        if counted is not None:
            if kind != "counts" or "groups" in self.options:
                raise click.UsageError(
                    f"{path} is one number of failures and attempts, without groups and decisions:"
                    " leave --group and --input out"
                )
            return FailureCounts(*counted, rate=rate)
        names = ("failures", "attempts") if kind == "counts" else ("failed", "subject")
        others = ("subject", "totals", "failed_value", *_OF_COUNTS)
        given = {name: self.options[name] for name in others if name in self.options}
        given |= {name: self.options.get(name, name) for name in names}
        return read_failure_counts(path, **given, groups=self.options.get("groups", ()), rate=rate)

    def _vectors_of_trials(self) -> dict[str, Any]:
        """Read the vectors with which a list of trials is scored."""
        if "embeddings" in self.options:
            failures = "error" if self.options.get("failures", "error") == "error" else "nan"
            return {
                "embeddings": self.call(
                    read_named_vectors, self.options["embeddings"], failures=failures
                )
            }
        for param in self.command.params:
            if param.name in (*_OF_TRIALS, "samples") and param.name in self.options:
                raise click.UsageError(
                    f"{param.opts[0]} goes with --embeddings, the file of the vectors"
                )
        return {}

    def refuse_options_of_others(self, kind: str) -> None:
        """Refuse options that were given and go with other kinds of input than the one chosen."""
        has_kinds = any(param.name == "kind" for param in self.command.params)
        given = given_options(self.context)
        for param in self.command.params if has_kinds else ():
            others = [
                other for other, names in OF_INPUT.items() if param.name in names - {"groups"}
            ]
            if param.name in given and others and kind not in others:
                raise click.UsageError(
                    f"{param.opts[0]} goes with --input {' or '.join(others)}, but --input is"
                    f" {kind}"
                )

    def input_files(self) -> list[Path]:
        """List the files that the verb reads: its arguments, and options of the section of
        input.
        """
        names: list[Path] = []
        for param in self.command.params:
            section = getattr(getattr(param, "about", None), "section", "Input")
            value = self.context.params.get(param.name or "")
            if (
                isinstance(param.type, click.Path)
                and section in ("Input", "Vectors")
                and value is not None
            ):
                names += map(Path, value if isinstance(value, tuple) else (value,))
        return [
            file
            for name in names
            if counted_in_words(name) is None
            for file in (files.files_of(name, "rows") if files.is_pattern(name) else [name])
        ]

    def deliver(
        self,
        results: Mapping[str, Result],
        *,
        show: Callable[[], None] | None = None,
        page: Callable[[], list[Result]] | None = None,
        files: Mapping[Path, Callable[[Path], Any]] | None = None,
    ) -> None:
        """Write and print results, which have the names of their files, as `write` does."""

        def print_all() -> None:
            for result in results.values():
                print_result(result)

        self.write(
            {name: result._content for name, result in results.items()},
            {name: partial(result.to_frame, "polars") for name, result in results.items()},
            show or print_all,
            lambda: {
                key or name: figure
                for name, result in results.items()
                for key, figure in result._figures().items()
            },
            page or (lambda: list(results.values())),
            files,
        )

    def write(
        self,
        contents: Mapping[str, Callable[[], dict[str, Any]]],
        tables: Mapping[str, Callable[[], Any]],
        show: Callable[[], None],
        figures: Callable[[], Mapping[str, Any]] = dict,
        page: Callable[[], list[Result]] = list,
        files: Mapping[Path, Callable[[Path], Any]] | None = None,
    ) -> None:
        """Write all files before printing, so that nothing is lost if the output is no longer read.

        Parameters
        ----------
        contents, tables : mapping of str to callable
            By names of files: what JSON and what data frames they hold. Several contents are
            printed as one object.
        show : callable
            Prints the results.
        figures : callable
            Returns axes or figures by name, which `--plots` writes.
        page : callable
            Returns the results of the page.
        files : mapping of path to callable, optional
            Further files, and the functions that write them.
        """
        written: list[Path] = []
        output, as_json = self.options.get("output"), self.options.get("as_json")
        inputs = {"inputs": [str(file) for file in self.input_files()]}
        made = (
            {name: content() for name, content in contents.items()}
            if as_json or output is not None
            else {}
        )
        if output is not None:
            for name, content in made.items():
                write_json(content | inputs, output / f"{name}.json")
            for name, frame in tables.items():
                write_csv(frame(), output / f"{name}.csv")
            whole_files.write_text(
                output / "config.toml", configuration(self.context, self.options.get("rng"))
            )
            written += [output / f"{name}.json" for name in made] + [
                output / f"{name}.csv" for name in tables
            ]
            written.append(output / "config.toml")
            if self.options.get("plots"):
                written += self._draw(figures, output)
        for path, write in (files or {}).items():
            write(path)
            written.append(path)
        shown = page() if {"report", "tables"} & set(self.options) else []
        if "tables" in self.options:
            write_tables(display_tables(shown), self.options["tables"])
            written.append(self.options["tables"])
        if "report" in self.options:
            title = {"title": self.options["title"]} if "title" in self.options else {}
            write_report(shown, self.options["report"], inputs=self.input_files(), **title)
            written.append(self.options["report"])
        if as_json:
            say_json(
                write_json((made if len(made) > 1 else next(iter(made.values()))) | inputs, None)
            )
        else:
            show()
            is_random = "rng" in self.options and self.options.get("n_resamples") != 0
            if is_random and "rng" not in given_options(self.context):
                say(f"\nThe same again: --seed {self.options['rng']}")
        if written:
            say(f"Written: {', '.join(map(str, written))}", err=True)

    def _draw(self, figures: Callable[[], Mapping[str, Any]], output: Path) -> list[Path]:
        written = []
        with off_screen():
            for name, figure in figures().items():
                for kind in self.options["plots"]:
                    written.append(output / f"{name}.{kind}")
                    with whole_files.written(written[-1]) as file:
                        save(figure.get_figure(root=True), file, kind, _DOTS)
        return written


def counted_in_words(path: Path) -> tuple[int, int] | None:
    """Return failures and attempts written in place of a file, as in "5 of 174"; None for files."""
    match = _COUNTED.fullmatch(str(path).strip())
    if match is None or path.exists():
        return None
    failures, attempts = (int(number.replace(",", "")) for number in match.groups())
    return failures, attempts


def default_of(function: Callable[..., Any], name: str) -> Any:
    """Return the default of a parameter."""
    return inspect.signature(function).parameters[name].default
