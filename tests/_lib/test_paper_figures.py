"""Figures that anybody saves have fonts that publishers take."""

from __future__ import annotations

import pytest

import fastfair as ff


@pytest.mark.parametrize("kind", ["pdf", "ps"])
def test_saved_figures_have_truetype_fonts(kind, tmp_path):
    pytest.importorskip("matplotlib").use("Agg")
    from matplotlib import pyplot

    ax = ff.det(ff.Comparisons([0.9, 0.3, 0.4, 0.1], [1, 1, 0, 0])).plot()
    path = tmp_path / f"figure.{kind}"
    ax.get_figure().savefig(path)
    pyplot.close("all")
    content = path.read_bytes()
    assert (
        b"/FontType 42" if kind == "ps" else b"/TrueType"
    ) in content or b"/CIDFontType2" in content
    assert b"/Type3" not in content
