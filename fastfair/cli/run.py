"""A run of a verb: the options that were given, and where the results go."""

from __future__ import annotations

import inspect
import re
import sys
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from fastfair._lib import whole_files
from fastfair._lib.plots import off_screen, save
from fastfair._lib.seeds import fix_seed
from fastfair._lib.tables import write_json
from fastfair._lib.whole_files import write_csv
from fastfair.errors import InputError
from fastfair.io import files
from fastfair.pages.pdf import browser
from fastfair.pages.report import report as write_report
from fastfair.results.display import kind_of, write_tables
from fastfair.results.result import display_tables

from .commands import Command, configuration, given_options
from .signatures import arguments_for
from .terminal import print_result, say, say_json
from .verbs import OUTPUT

if TYPE_CHECKING:
    from fastfair.results.result import Result

# for example
_FILES = {
    "--report": "report.html",
    "--tables": "tables.xlsx",
    "--junit": "junit.xml",
}
_DOTS = 200  # per inch of a PNG
_COUNTED = re.compile(r"([0-9][0-9,]*) of ([0-9][0-9,]*)")  # in place of a file
# options that verbs take themselves
NOT_OF_FUNCTIONS = {option.name for option in OUTPUT} | {
    "rng",
    "n_threads",
    "progress",
    "suffix",
    "pilot",
}


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

    def flags_of(self, names: Iterable[str]) -> list[str]:
        """Return how options are written, in the order of the verb."""
        return [param.opts[0] for param in self.command.params if param.name in names]

    def refuse(
        self,
        given: Iterable[str],
        function: Callable[..., Any],
        what: str,
        without: Iterable[str] = (),
    ) -> None:
        """Refuse options that the function chosen by what is asked for does not have, and some
        others.
        """
        of_function = {*inspect.signature(function).parameters, *NOT_OF_FUNCTIONS}
        wrong = self.flags_of({*given} - of_function | {*given} & {*without})
        if wrong:
            raise click.UsageError(f"{', '.join(wrong)} cannot go with {what}")

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
                written.append(output / f"{name}.json")
                write_json(content | inputs, written[-1])
            for name, frame in tables.items():
                written.append(output / f"{name}.csv")
                write_csv(frame(), written[-1])
            written.append(output / "config.toml")
            whole_files.write_text(
                written[-1], configuration(self.context, self.options.get("rng"))
            )
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
