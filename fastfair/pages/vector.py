"""Turn figures into SVG that stands in a page: its text is text, and its black is the colour of the page's text."""

from __future__ import annotations

import io
import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from fastfair._lib import validation
from fastfair._lib.axes import off_screen

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SETTINGS: dict[str, Any] = {
    "svg.fonttype": "none",
    "svg.hashsalt": "fastfair",
    "figure.facecolor": "none",
    "axes.facecolor": "none",
    "savefig.facecolor": "none",
    "axes.spines.right": False,
    "axes.spines.top": False,
    "font.size": 10,
}
"""The settings of matplotlib under which figures of pages are drawn."""

# Colours that a page replaces, as they are hard to see on dark paper.
_COLORS = {
    "#000000": "currentColor",
    "#4d4d4d": "currentColor",
    "#737373": "var(--muted)",
    "#0072b2": "var(--first)",
    "#d55e00": "var(--second)",
}
_OF_PICTURE = "id-of-picture-"  # before each id, where `placed` puts the number of the picture


@contextmanager
def drawing() -> Iterator[None]:
    """Draw figures of pages, off the screen and with the settings of pages; also a decorator."""
    matplotlib = validation.require("matplotlib", "cli", "a report")
    with off_screen(), matplotlib.rc_context(SETTINGS):
        yield


def svg_of(figure: Figure) -> str:
    """Return a figure as the text of an SVG element, to go through `placed` before it stands in a page."""
    file = io.StringIO()
    figure.savefig(file, format="svg", metadata={"Date": None, "Creator": None})
    text = file.getvalue()
    text = text[text.index("<svg") :]
    text = re.sub(r"<metadata>.*?</metadata>", "", text, flags=re.DOTALL)
    text = re.sub(r"<!--.*?-->", "", text, flags=re.DOTALL)
    for color, shown in _COLORS.items():
        text = text.replace(color, shown)
    text = re.sub(r"(font-family:|font: [^\"]*?px) [^;\"]*", r"\1 sans-serif", text)
    text = re.sub(r' transform="rotate\(-?0 [^"]*"', "", text)
    text = re.sub(r'\b(d|transform|points|x|y)="[^"]*"', lambda match: _rounded(match.group()), text)
    text = re.sub(
        r'<svg [^>]*?(viewBox="[^"]*")[^>]*>', r'<svg \1 aria-hidden="true" focusable="false">', text, count=1
    )
    text = text.replace("xlink:href", "href").replace("\n", " ")
    text = re.sub(r"\s{2,}", " ", text)
    used = set(re.findall(r'(?:url\(#|href="#)([^)"]+)', text))
    text = re.sub(r' id="([^"]*)"', lambda m: f' id="{_OF_PICTURE}{m.group(1)}"' if m.group(1) in used else "", text)
    return re.sub(r'(url\(#|href="#)([^)"]+)', rf"\g<1>{_OF_PICTURE}\g<2>", text).strip()


def placed(svg: str, number: int) -> str:
    """Give the ids of a picture its number in the page, so that no other picture has them."""
    return svg.replace(_OF_PICTURE, f"p{number}-")


def _rounded(text: str) -> str:
    """Round to hundredths of a point, which nobody sees."""
    return re.sub(r"-?\d+\.\d{3,}", lambda match: f"{float(match.group()):.2f}".rstrip("0").rstrip("."), text)
