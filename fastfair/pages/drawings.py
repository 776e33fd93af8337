"""Drawings of pages, as SVG: intervals in cells, axes, curves, distributions, and figures of
matplotlib.

Places along an axis are per cent of a cell's width and heights are fixed, so that lines and text
never scale.
"""

from __future__ import annotations

import io
import math
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from fastfair._lib.arrays import Floats, Integers
from fastfair._lib.plots import off_screen
from fastfair._lib.warnings import require

if TYPE_CHECKING:
    from matplotlib.figure import Figure


_FIRST, _LAST = 3.0, 97.0  # per cent of the width between which values lie
_DECADES_FROM = 19.0  # where a logarithmic axis begins; 0 stands left of it
_MOST_DECADES = 6
_SIDE, _MARGIN = 150, 31  # of a small drawing, in pixels
_LABEL = 13  # pixels of an axis's label
_PROBIT_TICKS = (1e-6, 1e-5, 1e-4, 1e-3, 0.01, 0.05, 0.2, 0.4, 0.6, 0.8, 0.95, 0.99)


@dataclass(frozen=True)
class Scale:
    """An axis of rates in cells: where values stand, ticks, and the lines that go through all rows.

    Attributes
    ----------
    low, high : float
        The ends; of a logarithmic axis the least positive value.
    is_logarithmic : bool
        Whether it is logarithmic, with 0 apart.
    lines : tuple of pair
        Class and value of lines through all rows, such as ("limit", 0.2).
    """

    low: float
    high: float
    is_logarithmic: bool = False
    lines: tuple[tuple[str, float], ...] = ()

    @classmethod
    def of(
        cls,
        values: Sequence[float | None],
        *,
        is_logarithmic: bool,
        lines: Sequence[tuple[str, float]],
    ) -> Scale:
        """Choose the ends so that these values, and the lines, are inside."""
        finite = [
            x for x in (*values, *(x for _, x in lines)) if x is not None and math.isfinite(x)
        ]
        positive = [x for x in finite if x > 0]
        shown = tuple((name, x) for name, x in lines if math.isfinite(x))
        if not is_logarithmic or not positive:
            return cls(0.0, min(1.0, 1.04 * max(positive, default=1.0)), lines=shown)
        high = 10.0 ** math.ceil(math.log10(max(positive)) - 1e-9)
        low = 10.0 ** math.floor(math.log10(min(positive)) + 1e-9)
        low = min(max(low, high / 10**_MOST_DECADES), high / 10)
        return cls(low, high, True, shown)

    def place(self, value: float) -> float:
        """Return where a value stands, in per cent of the width."""
        if not self.is_logarithmic:
            return _FIRST + (_LAST - _FIRST) * min(max(value / self.high, 0.0), 1.0)
        if value <= 0:
            return _FIRST
        share = math.log(min(max(value, self.low), self.high) / self.low) / math.log(
            self.high / self.low
        )
        return _DECADES_FROM + (_LAST - _DECADES_FROM) * share

    @property
    def ticks(self) -> list[float]:
        """The values that the axis names."""
        if self.is_logarithmic:
            first, last = round(math.log10(self.low)), round(math.log10(self.high))
            return [
                0.0,
                *(10.0**k for k in range(last, first - 1, -1 if last - first <= 4 else -2)),
            ]
        step = 10.0 ** math.floor(math.log10(self.high))
        step *= next(k for k in (0.2, 0.5, 1.0, 2.0) if self.high / (k * step) <= 5.5)
        return [k * step for k in range(int(self.high / step + 1e-9) + 1)]


def interval(
    scale: Scale,
    value: float,
    low: float | None,
    high: float | None,
    *,
    look: str = "",
    mark: str = "dot",
) -> str:
    """Draw a value with its interval in a cell; look: classes such as "few", mark: "dot" or
    "diamond".
    """
    lines = [] if look == "plain" else [("grid", x) for x in scale.ticks]
    goes_on = high is not None and high > scale.high * (1 + 1e-9)
    return _bar(
        scale.place, (value, low, high), look, [*lines, *scale.lines], mark, goes_on=goes_on
    )


def axis(scale: Scale) -> str:
    """Draw the numbers of an axis, in per cent."""
    numbers = (
        f'<text x="{scale.place(x):.2f}%" y="13" text-anchor="middle">{_tick(x)}</text>'
        for x in scale.ticks
    )
    return _drawing("axis", "".join(numbers))


def distance(value: float, low: float, high: float, largest: float) -> str:
    """Draw how far a measure and its interval are from the fair value, which is the left edge."""
    return _bar(Scale(0.0, largest or 1.0).place, (value, low, high))


def difference(value: float, low: float, high: float, largest: float, *, look: str) -> str:
    """Draw a difference with its interval around 0, which is the middle."""
    return _bar(
        lambda x: 50 + 47 * min(max(x / (largest or 1.0), -1.0), 1.0), (value, low, high), look
    )


def _bar(
    position: Callable[[float], float],
    ends: tuple[float, float | None, float | None],
    look: str = "",
    lines: Sequence[tuple[str, float]] = (("all", 0.0),),
    mark: str = "dot",
    *,
    goes_on: bool = False,
) -> str:
    """Draw a value with its interval, where it has one, and upright lines, by their classes and
    values.

    goes_on: whether an arrow says that the interval ends beyond the right edge.
    """
    value, low, high = ends
    parts = [
        f'<line class="{name}" x1="{position(x):.2f}%" x2="{position(x):.2f}%" y1="0" y2="100%"/>'
        for name, x in lines
    ]
    if math.isfinite(value):
        if low is not None and high is not None and low < high:
            parts.append(
                f'<line class="range" x1="{position(low):.2f}%" x2="{position(high):.2f}%" y1="50%"'
                ' y2="50%"/>'
            )
        if goes_on:
            parts.append(
                f'<svg x="{_LAST}%" y="50%" overflow="visible" class="arrow">'
                '<path class="range" d="M0-4 5 0 0 4"/></svg>'
            )
        shape = '<path d="M0-5 5 0 0 5-5 0z"/>' if mark == "diamond" else '<circle r="4"/>'
        parts.append(
            f'<svg x="{position(value):.2f}%" y="50%" overflow="visible" class="{mark}">{shape}</svg>'
        )
    return _drawing(f"bar {look}".strip(), "".join(parts))


def _drawing(name: str, inner: str) -> str:
    return f'<svg class="{name}" aria-hidden="true" focusable="false">{inner}</svg>'


def _tick(rate: float) -> str:
    return f"{100 * rate:.10f}".rstrip("0").rstrip(".") if rate else "0"


def det_panel(
    curves: Sequence[tuple[str, Floats, Floats]],
    points: Sequence[tuple[str, float, float, float, float]],
    limits: tuple[float, float],
    side: int = _SIDE,
) -> str:
    """Draw DET curves; places are normal deviates.

    Parameters
    ----------
    curves : sequence of (str, (n,) ndarray, (n,) ndarray)
        Class of each curve, its FMRs and its FNMRs.
    points : sequence of (str, float, float, float, float)
        Class, FMR, FNMR and the ends of the FNMR's interval of each operating point, as rates.
    limits : tuple of float
        The ends of both axes, as rates.
    side : int
        Width and height, in pixels.

    Returns
    -------
    str
    """
    from scipy.special import ndtri

    first, last = (float(ndtri(rate)) for rate in limits)
    scale = (side - _MARGIN - 4) / (last - first)

    def x(deviate: float) -> float:
        return _MARGIN + (min(max(deviate, first), last) - first) * scale

    def y(deviate: float) -> float:
        return side - _MARGIN - (min(max(deviate, first), last) - first) * scale

    parts = [
        f'<rect class="frame" x="{_MARGIN}" y="4" width="{side - _MARGIN - 4}"'
        f' height="{side - _MARGIN - 4}"/>'
    ]
    end = -100.0
    for rate in _PROBIT_TICKS:
        if limits[0] < rate < limits[1]:
            across, up = x(ndtri(rate)), y(ndtri(rate))
            parts.append(
                f'<path class="grid" d="M{across:.1f} 4V{side - _MARGIN}M{_MARGIN}'
                f' {up:.1f}H{side - 4}"/>'
            )
            if across - end >= 6 + 6 * len(_tick(rate)):
                parts.append(
                    f'<text x="{across:.1f}" y="{side - 18}"'
                    f' text-anchor="middle">{_tick(rate)}</text>'
                )
                parts.append(
                    f'<text x="{_MARGIN - 3}" y="{up + 3:.1f}"'
                    f' text-anchor="end">{_tick(rate)}</text>'
                )
                end = across
    for name, fmr, fnmr in curves:
        inside = (np.minimum(fmr, fnmr) >= first) & (np.maximum(fmr, fnmr) <= last)
        pairs = zip(fmr[inside].tolist(), fnmr[inside].tolist(), strict=True)
        line = "L".join(f"{x(a):.1f} {y(b):.1f}" for a, b in pairs)
        parts += [f'<path class="curve {name}" d="M{line}"/>'] if line else []
    for name, of_fmr, of_fnmr, low, high in points:
        if 0 < of_fmr < 1 and 0 < of_fnmr < 1:
            across = x(ndtri(of_fmr))
            if 0 < low < high < 1:
                parts.append(
                    f'<path class="range {name}" d="M{across:.1f}'
                    f' {y(ndtri(low)):.1f}V{y(ndtri(high)):.1f}"/>'
                )
            parts.append(
                f'<circle class="point {name}" cx="{across:.1f}" cy="{y(ndtri(of_fnmr)):.1f}"'
                ' r="3.5"/>'
            )
    parts += [
        f'<text x="{side - 4}" y="{side - 4}" text-anchor="end">FMR, %</text>',
        f'<text x="0" y="{9 - _LABEL}">FNMR, %</text>',
    ]
    moved = f'<g transform="translate(0 {_LABEL})">{"".join(parts)}</g>'
    return _panel("det", side, side + _LABEL, moved)


def scores_panel(bins: Integers, edges: Floats, thresholds: Sequence[float]) -> str:
    """Draw the distributions of mated and of non-mated scores, (2, bins) counts, with
    thresholds.
    """
    width = _SIDE
    height = _SIDE - 40
    low = float(edges[0])
    high = float(edges[-1])
    shares = bins / np.maximum(bins.sum(axis=1, keepdims=True), 1)
    tallest = float(shares.max()) or 1.0
    step = (width - 8) / bins.shape[1]
    bottom = height - 18
    parts = []
    for name, share in zip(("mated", "nonmated"), shares.tolist(), strict=True):
        line = "".join(f"V{bottom - (bottom - 4) * x / tallest:.1f}h{step:.2f}" for x in share)
        parts.append(f'<path class="{name}" d="M4 {bottom}{line}V{bottom}z"/>')
    for x in thresholds:
        if low <= x <= high:
            across = 4 + (width - 8) * (x - low) / (high - low)
            parts.append(f'<path class="limit" d="M{across:.1f} 0V{bottom}"/>')
    for k, anchor in enumerate(("start", "middle", "end")):
        value = low + (high - low) * k / 2
        across = 4 + (width - 8) * k / 2
        parts.append(
            f'<text x="{across:.0f}" y="{height - 5}" text-anchor="{anchor}">{value:.3g}</text>'
        )
    parts.append(
        f'<text x="{width / 2:.0f}" y="{height - 5 + _LABEL}" text-anchor="middle">Score</text>'
    )
    return _panel("scores", width, height + _LABEL, "".join(parts))


def _panel(name: str, width: int, height: int, inner: str) -> str:
    size = f'width="{width}" height="{height}" viewBox="0 0 {width} {height}"'
    return f'<svg class="panel {name}" {size} aria-hidden="true" focusable="false">{inner}</svg>'


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
    matplotlib = require("matplotlib", "cli", "a report")
    with off_screen(), matplotlib.rc_context(SETTINGS):
        yield


def svg_of(figure: Figure) -> str:
    """Return a figure as the text of an SVG element, to go through `placed` before it stands in a
    page.
    """
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
    text = re.sub(
        r'\b(d|transform|points|x|y)="[^"]*"', lambda match: _rounded(match.group()), text
    )
    text = re.sub(
        r'<svg [^>]*?(viewBox="[^"]*")[^>]*>',
        r'<svg \1 aria-hidden="true" focusable="false">',
        text,
        count=1,
    )
    text = text.replace("xlink:href", "href").replace("\n", " ")
    text = re.sub(r"\s{2,}", " ", text)
    used = set(re.findall(r'(?:url\(#|href="#)([^)"]+)', text))
    text = re.sub(
        r' id="([^"]*)"',
        lambda m: f' id="{_OF_PICTURE}{m.group(1)}"' if m.group(1) in used else "",
        text,
    )
    return re.sub(r'(url\(#|href="#)([^)"]+)', rf"\g<1>{_OF_PICTURE}\g<2>", text).strip()


def placed(svg: str, number: int) -> str:
    """Give the ids of a picture its number in the page, so that no other picture has them."""
    return svg.replace(_OF_PICTURE, f"p{number}-")


def _rounded(text: str) -> str:
    """Round to hundredths of a point, which nobody sees."""
    return re.sub(
        r"-?\d+\.\d{3,}", lambda match: f"{float(match.group()):.2f}".rstrip("0").rstrip("."), text
    )
