"""Small drawings of pages say what their axes are."""

from __future__ import annotations

import numpy as np

from fastfair.pages.drawings import det_panel, scores_panel


def test_axes_are_named():
    det = det_panel([("group", np.zeros(2), np.ones(2))], [], (0.001, 0.9))
    assert ">FMR, %</text>" in det
    assert ">FNMR, %</text>" in det
    scores = scores_panel(np.ones((2, 4), int), np.linspace(0, 1, 5), [0.5])
    assert ">Score</text>" in scores
