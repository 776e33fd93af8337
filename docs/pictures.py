"""The picture on the first page. `make docs` draws it; the README shows a copy, `docs/_static/overview.png`."""

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.figure import Figure

import fastfair as ff


def overview() -> Figure:
    """Draw what comes out for VoxCeleb1-H: error curves with bands, and error rates of groups with intervals."""
    c = ff.datasets.voxceleb1_h("resnetse34v2", groups=["Gender", "Nationality"])
    figure, (curves, groups) = plt.subplots(1, 2, figsize=(7.8, 3.1), layout="constrained")
    for label, group in (("women", "f"), ("men", "m")):
        band = ff.roc_band(c.by("Gender").within_group(group), np.geomspace(3e-4, 0.2), rng=0)
        band.plot(curves, det=True, label=label)
    curves.set_title("Trade-off of the two errors, by gender")
    curves.legend()
    ff.fnmr_test(c.by("Nationality"), ff.at_fmr(0.001), rng=0).plot(groups)
    groups.set_title("FNMR at an FMR of 0.1 %, by nationality")
    return figure
