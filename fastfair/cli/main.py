"""The command line: `fastfair VERB ...`."""

from __future__ import annotations

import importlib
import io
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from functools import partial
from typing import Any

try:
    import click
except ImportError:
    sys.exit('The fastfair command needs more packages: pip install "fastfair[cli]"')

from fastfair._version import __version__
from fastfair.errors import QUOTED, FastfairError, FastfairWarning, visible

from .commands import Command, GroupCommand
from .interrupts import leave_the_end_to_the_interrupt
from .terminal import guard_streams, say
from .verbs import VERBS, Table, Verb, table


class _Verbs(click.Group):
    """The verbs; an interrupt ends them as in `end_at_once`, where click would print "Aborted!" and
    exit with 1.
    """

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt:
            leave_the_end_to_the_interrupt()
            raise


def run_verb(name: str) -> None:
    """Run a verb, and where it shows its progress, tell of kernels that are compiled."""
    context = click.get_current_context()
    assert isinstance(context.command, Command)
    if context.invoked_subcommand is not None:
        return
    from .run import Run  # not before a verb runs: it imports what help does without

    chapter = importlib.import_module(f"fastfair.cli.actions.{context.command.verb.chapter}")
    run_of_verb = Run()
    action = getattr(chapter, name.replace("-", "_").replace(" ", "_"))
    token = QUOTED.set(_in_options)
    try:
        with announce_compiling() if run_of_verb.options.get("progress") else nullcontext():
            action(run_of_verb)
    finally:
        QUOTED.reset(token)


@contextmanager
def announce_compiling() -> Iterator[None]:
    """Tell on standard error when the first kernel is compiled."""
    from fastfair.kernels import _cache  # not before a verb runs: numba takes long to import

    def tell() -> None:
        _cache.on_compiling = None
        say(
            "Compiling kernels, once on this machine (`fastfair warm-up` compiles all of them)",
            err=True,
        )

    _cache.on_compiling = tell
    try:
        yield
    finally:
        _cache.on_compiling = None


def command_line(verbs: dict[str, Verb], of_functions: Table) -> click.Group:
    """Make the commands of all verbs."""

    @click.group(cls=_Verbs, context_settings={"help_option_names": ["-h", "--help"]})
    @click.version_option(__version__, prog_name="fastfair")
    def fastfair() -> None:
        """Measure how well and how fairly a biometric verification system works."""

    for name, verb in verbs.items():
        above = fastfair.commands.get(name.partition(" ")[0])
        kind = GroupCommand if any(other.startswith(f"{name} ") for other in verbs) else Command
        command = kind(name, verb, of_functions, run_verb)
        (above if isinstance(above, GroupCommand) else fastfair).add_command(command)
    return fastfair


cli = command_line(VERBS, table())


def _in_options(message: Any) -> str:
    """Return a message with options in place of the arguments that it marks."""
    if not isinstance(message, FastfairError | FastfairWarning):
        return visible(str(message))
    commands = list(cli.commands.values())
    commands += [
        subcommand
        for above in commands
        if isinstance(above, click.Group)
        for subcommand in above.commands.values()
    ]
    # what runs counts
    commands += [cli.commands[name] for name in sys.argv[1:2] if name in cli.commands]
    options = {
        str(param.name): param.opts[0]
        for command in commands
        for param in command.params
        if isinstance(param, click.Option)
    }
    if "unpaired" in options:
        options["paired=False"] = options["unpaired"]
    return message.in_options(options)


def _show_warning(shown: set[str], message: Warning | str, *_: Any, **__: Any) -> None:
    """Print a warning, unless it was shown already, as of another attribute."""
    text = _in_options(message)
    if text not in shown:
        shown.add(text)
        say(f"Warning: {text}", err=True, color="yellow")


def main() -> None:
    """Run the command line; print an error as one line, without a traceback."""
    warnings.simplefilter("always", FastfairWarning)
    warnings.showwarning = partial(_show_warning, set())
    guard_streams()
    try:
        sys.exit(cli(standalone_mode=False))
    except click.ClickException as error:
        leave_the_end_to_the_interrupt()
        shown = io.StringIO()
        error.show(shown)
        say(shown.getvalue().rstrip("\n"), err=True)
        sys.exit(error.exit_code)
    except click.Abort:
        sys.exit(1)
    except (FastfairError, OSError) as error:
        leave_the_end_to_the_interrupt()
        say(f"Error: {_in_options(error)}", err=True, color="red")
        sys.exit(2)
