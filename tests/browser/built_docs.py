"""The built documentation: links lead somewhere, and pages fit into a browser and are silent.

`make docs` runs this when it has built the pages. The file has a name that no other run of the
tests looks for, as the pages may be missing or old then.
"""

from __future__ import annotations

import re
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest
from browser.headless import AXE, CHROMIUM, COLORS, ask_each

PAPER = {"light": "rgb(255, 255, 255)", "dark": "rgb(20, 24, 30)"}  # of the theme
DOCS = Path(__file__).parents[2] / "build" / "docs"
needs_docs = pytest.mark.skipif(
    not (DOCS / "index.html").exists(), reason="there are no pages here: make docs"
)
needs_chromium = pytest.mark.skipif(
    CHROMIUM is None, reason="there is no Chromium here: apt-get install chromium"
)


class Page(HTMLParser):
    """The addresses that a page refers to, and the names of its places."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.addresses: set[str] = set()
        self.places: set[str] = {"", "top"}
        self.feed(path.read_text("utf-8"))

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        for name, value in attributes:
            if name in ("href", "src") and value is not None:
                self.addresses.add(value)
            elif name == "id" or (name == "name" and tag == "a"):
                self.places.add(value or "")


def broken_links(folder: Path) -> list[str]:
    """Return every address inside a folder of pages that leads nowhere."""
    files = (
        path for path in folder.rglob("*.html") if "_static" not in path.parts
    )  # there are templates there
    pages = {path.resolve(): Page(path) for path in files}
    broken = []
    for path, page in pages.items():
        for address in page.addresses:
            target = urlsplit(address)
            if target.scheme or target.netloc:
                continue
            found = (path.parent / unquote(target.path)).resolve() if target.path else path
            if not found.exists() or (
                found in pages and unquote(target.fragment) not in pages[found].places
            ):
                broken.append(f"{path.relative_to(folder.resolve())}: {address}")
    return sorted(broken)


def main_pages() -> list[Path]:
    """Return the guide, the examples, the pages of the papers, and one page of each kind of the
    reference."""
    others = [DOCS / "generated" / f"fastfair.{name}.html" for name in ("evaluate", "Comparisons")]
    return (
        sorted(
            [
                *DOCS.glob("*.html"),
                *DOCS.glob("generated/examples/*.html"),
                *DOCS.glob("generated/papers/*.html"),
            ]
        )
        + others
    )


def test_broken_links_are_found(tmp_path):
    (tmp_path / "a.html").write_text(
        '<a href="b.html#there"><a href="b.html#not"><a href="c.html"><img src="d.png">'
    )
    (tmp_path / "b.html").write_text(
        '<p id="there"><a href="#here"><a href="https://example.org/x"><a href="a.html">'
    )
    assert broken_links(tmp_path) == [
        "a.html: b.html#not",
        "a.html: c.html",
        "a.html: d.png",
        "b.html: #here",
    ]


@needs_docs
def test_no_link_is_broken():
    assert broken_links(DOCS) == []


@needs_docs
def test_no_picture_stands_in_the_place_of_another():
    twice = {}
    for path in DOCS.glob("*.html"):
        shown = re.findall(r'<img [^>]*src="(_images/[^"]*)"', path.read_text("utf-8"))
        twice[path.name] = sorted({one for one in shown if shown.count(one) > 1})
    assert {name: found for name, found in twice.items() if found} == {}


@needs_docs
@needs_chromium
@pytest.mark.parametrize(("width", "color"), [(1280, "light"), (400, "dark")])
def test_pages_fit_and_are_silent(width, color, tmp_path):
    pages = main_pages()
    found, console = ask_each(pages, tmp_path, width, color, axe=False)
    names = [str(page.relative_to(DOCS)) for page in pages]
    assert {
        name: one["beyond"] for name, one in zip(names, found, strict=True) if one["beyond"]
    } == {}
    assert {
        name: one["scrollWidth"] for name, one in zip(names, found, strict=True)
    } == dict.fromkeys(names, width)
    assert {one["paper"] for one in found} == {PAPER[color]}
    assert [one["unloaded"] for one in found if one["unloaded"]] == []
    assert [
        line for line in console if "[PST]" not in line
    ] == []  # the theme tells which colours it takes


@needs_docs
@needs_chromium
@pytest.mark.skipif(not AXE.exists(), reason="axe-core is not here: make browser installs it")
@pytest.mark.parametrize("color", COLORS)
def test_pages_of_each_kind_are_accessible(color, tmp_path):
    kinds = [
        "index",
        "measures",
        "generated/examples/index",
        "generated/examples/plot_1_report",
        "generated/fastfair.claim",
    ]
    found, _ = ask_each([DOCS / f"{name}.html" for name in kinds], tmp_path, 1280, color, axe=True)
    # The button that opens the theme's search is named otherwise than it reads.
    assert [
        [one for one in page["violations"] if "search-button" not in one] for page in found
    ] == [[]] * len(kinds)
