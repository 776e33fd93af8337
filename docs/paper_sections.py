"""Put the pages of a paper's sections below its page."""

import re
from pathlib import PurePosixPath
from typing import Any


def add_sections(_app: Any, name: str, source: list[str]) -> None:
    """Add a hidden list of the sections that a page of a paper links, which the theme shows beside
    it.
    """
    page = PurePosixPath(name)
    if page.parent.name != "papers":
        return
    sections = re.findall(rf"^- \[.*\]\(({page.name}_\S+)\.md\)$", source[0], re.MULTILINE)
    if sections:
        source[0] += "\n".join(["\n```{toctree}", ":hidden:", "", *sections, "```", ""])


def setup(app: Any) -> dict[str, bool]:
    """Do so for each page that Sphinx reads."""
    app.connect("source-read", add_sections)
    return {"parallel_read_safe": True}
