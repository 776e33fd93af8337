"""The settings of studies, as arrays of one shape."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fastfair._lib import validation
from fastfair.errors import InputError

from .subjects import Attempts, Subjects

Floats = NDArray[np.float64]
SETTINGS = ("n_groups", "n_subjects", "n_attempts", "fnmr", "correlation")
_LEAST = {"n_groups": 2, "n_subjects": 1}


def checked_settings(
    n_attempts: ArrayLike | None, attempts: ArrayLike | None, **given: ArrayLike
) -> tuple[dict[str, NDArray[Any]], Attempts | None]:
    """Check settings by name and broadcast them.

    Parameters
    ----------
    n_attempts, attempts : array_like or None
        The attempts that each subject makes, or those of the subjects of a pilot: one of the two.
    **given : array_like
        The other settings.

    Returns
    -------
    settings : dict of ndarray
        In the order of `SETTINGS`; the attempts of a pilot are there by their mean.
    attempts : Attempts or None
        The attempts of the pilot.
    """
    if (n_attempts is None) == (attempts is None):
        raise InputError(
            "give n_attempts, how many attempts each subject makes, or attempts, those of the subjects of a pilot, and "
            "not both"
        )
    pilot = None if attempts is None else Attempts.of(attempts)
    arrays: dict[str, NDArray[Any]] = {}
    for name in SETTINGS:
        if name == "n_attempts":
            arrays[name] = validation.counts(name, n_attempts, 1) if pilot is None else np.array(pilot.mean)
        if name not in given:
            continue
        values = given[name]
        if name in _LEAST:
            arrays[name] = validation.counts(name, values, _LEAST[name])
        else:
            arrays[name] = validation.fractions(name, values, ends=name == "correlation")
    return broadcast(arrays), pilot


def broadcast(arrays: dict[str, NDArray[Any]]) -> dict[str, NDArray[Any]]:
    """Give arrays one shape."""
    try:
        shape = np.broadcast_shapes(*(array.shape for array in arrays.values()))
    except ValueError:
        shapes = ", ".join(f"{name} {array.shape}" for name, array in arrays.items() if array.ndim)
        raise InputError(
            f"the settings' shapes do not go together: {shapes}; give one an axis of its own, as in values[:, None]"
        ) from None
    return {name: np.broadcast_to(array, shape) for name, array in arrays.items()}


def checked_difference(difference: ArrayLike | None, fnmr: Floats) -> Floats:
    """Check the differences of one group from an FNMR."""
    array = validation.numbers_of("difference", difference)
    pair = broadcast({"fnmr": fnmr, "difference": array})
    other = pair["fnmr"] + pair["difference"]
    bad = ~((other > 0) & (other < 1)) | (pair["difference"] == 0)
    if bad.any():
        found, rate = pair["difference"][bad][0], pair["fnmr"][bad][0]
        raise InputError(
            f"difference must be other than 0, with fnmr + difference in (0, 1), not {found:g} at fnmr {rate:g}"
        )
    return array


def checked_goats(goats: float | None, settings: dict[str, NDArray[Any]]) -> float:
    """Check the share of subjects who fail often, with whom rates are as the settings say; 0 for None."""
    if goats is None:
        return 0.0
    share = validation.open_fraction("goats", goats)
    others = settings["fnmr"] + settings.get("difference", 0.0)
    for fnmr in (settings["fnmr"], others):
        for pi, rho in zip(fnmr.ravel().tolist(), settings["correlation"].ravel().tolist(), strict=True):
            often, seldom = Subjects(Attempts.of(1), pi, rho, share).rates()
            if seldom <= 0 or often >= 1:
                raise InputError(
                    f"goats={share:g} cannot cause a correlation of {rho:g} at an FNMR of {pi:g}: they would fail with "
                    f"a probability of {often:.3g} and the others with {seldom:.3g}"
                )
    return share
