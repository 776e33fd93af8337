"""A directive that lists the verbs of the command line with all their options."""

from __future__ import annotations

import re
from inspect import cleandoc
from typing import TYPE_CHECKING, Any

from fastfair.cli.verbs import VERBS, Option, Table, Verb, options_of, table

if TYPE_CHECKING:
    from sphinx.application import Sphinx


def _cell(text: str) -> str:
    """Write a text as Markdown, with options as code."""
    return re.sub(r"--[a-z][a-z-]*", r"`\g<0>`", re.sub(r"([*_<>{}$\[\]^])", r"\\\1", text))


def _about(one: Option) -> str:
    more = [f"One of {', '.join(f'`{choice}`' for choice in one.choices)}."] if one.choices else []
    more += [f"Default: `{one.default}`."] if one.default not in (None, True, False) else []
    more += ["Required."] if one.required else []
    more += ["May be repeated."] if one.multiple else []
    return " ".join([_cell(one.text), *more])


def lines_of(verbs: dict[str, Verb], of_functions: Table) -> list[str]:
    """Write a section for each verb: what it does, examples, and its options, those of `--help`
    first.
    """
    lines = []
    for name, verb in verbs.items():
        lines += [
            f"## fastfair {name}",
            "",
            _cell(verb.help),
            "",
            "```sh",
            cleandoc(verb.examples),
            "```",
            "",
        ]
        first = verb.first.split()
        options = sorted(options_of(verb, of_functions), key=lambda one: one.name not in first)
        lines += [
            "```{list-table}",
            ":header-rows: 1",
            ":widths: 25 75",
            "",
            "* - Option",
            "  - Is",
        ]
        for one in options:
            flag = f"**`{one.flag}`**" if one.name in first else f"`{one.flag}`"
            lines += [f"* - {flag}", f"  - {_about(one)}"]
        lines += ["```", ""]
    return lines


def setup(app: Sphinx) -> dict[str, bool]:
    """Add the directive; only here is Sphinx needed."""
    from sphinx.util.docutils import SphinxDirective

    class CommandLine(SphinxDirective):
        """All verbs."""

        def run(self) -> list[Any]:
            """Write a section for each."""
            return self.parse_text_to_nodes(
                "\n".join(lines_of(VERBS, table())), allow_section_headings=True
            )

    app.add_directive("command-line", CommandLine)
    return {"parallel_read_safe": True}
