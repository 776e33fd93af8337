"""Small drawings of pages say what their axes are."""

from __future__ import annotations

import numpy as np

from fastfair.pages.drawings import Scale, det_panel, interval, scores_panel


def test_axes_are_named():
    det = det_panel([("group", np.zeros(2), np.ones(2))], [], (0.001, 0.9))
    assert ">FMR, %</text>" in det
    assert ">FNMR, %</text>" in det
    scores = scores_panel(np.ones((2, 4), int), np.linspace(0, 1, 5), [0.5])
    assert ">Score</text>" in scores


def test_an_interval_beyond_the_axis_ends_in_an_arrow():
    scale = Scale.of([0.01, 0.04], is_logarithmic=False, lines=[])
    inside, beyond = (interval(scale, 0.01, 0.005, high) for high in (0.04, 0.5))
    arrow = 'class="range" d="M0-4 5 0 0 4"'
    assert arrow not in inside
    assert arrow in beyond
    assert 'x2="97.00%"' in beyond
