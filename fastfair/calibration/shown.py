"""What plots and pages need to know of curves over priors and ratios, and of a whole result."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from numpy.typing import NDArray

from .applications import Application
from .cost_rows import ApplicationCost, CostDifference, CostMeasure, RatioCost

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Floats = NDArray[np.float64]


class ErrorsOverPriors(Protocol):
    """The attributes of `BayesError` that plots read."""

    @property
    def prior_log_odds(self) -> Floats: ...  # noqa: D102
    @property
    def actual(self) -> Floats: ...  # noqa: D102
    @property
    def minimum(self) -> Floats: ...  # noqa: D102
    @property
    def default(self) -> Floats: ...  # noqa: D102


class SharesOverRatios(Protocol):
    """The attributes of `Tippett` that plots read."""

    @property
    def log_likelihood_ratio(self) -> Floats: ...  # noqa: D102
    @property
    def mated(self) -> Floats: ...  # noqa: D102
    @property
    def nonmated(self) -> Floats: ...  # noqa: D102


class ShownCalibration(Protocol):
    """The attributes of `Calibration` that pages read."""

    @property
    def applications(self) -> tuple[Application, ...]: ...  # noqa: D102
    @property
    def costs(self) -> tuple[ApplicationCost, ...]: ...  # noqa: D102
    @property
    def ratio_costs(self) -> tuple[RatioCost, ...]: ...  # noqa: D102
    @property
    def differences(self) -> tuple[CostDifference, ...]: ...  # noqa: D102
    @property
    def measures(self) -> tuple[CostMeasure, ...]: ...  # noqa: D102
    @property
    def settings(self) -> dict[str, Any]: ...  # noqa: D102
    @property
    def confidence_level(self) -> float: ...  # noqa: D102
    def summary(self) -> str: ...  # noqa: D102
    def to_json(self) -> str: ...  # noqa: D102
    def plot(self, ax: Axes | None, application: Application | None) -> Axes: ...  # noqa: D102
    def plot_bayes_error(self, ax: Axes | None, normalize: bool) -> Axes: ...  # noqa: D102
    def plot_tippett(self, ax: Axes | None) -> Axes: ...  # noqa: D102
