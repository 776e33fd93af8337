"""What an evaluation is made of: quantities, each a number with what stands behind it."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from . import _frames, _validation
from ._results import Rates
from ._version import __version__
from .errors import InputError
from .operating_points import OperatingPoint


@dataclass(frozen=True)
class Quantity:
    """One number of an evaluation.

    Attributes
    ----------
    name : str
        "threshold", "fmr", "fnmr", "eer", "min_dcf", "cllr", "min_cllr", or a measure, its base metric in parentheses.
    group : str or None
        The group; None for all comparisons or for a measure over all groups. For `name` "fmr_matrix" the reference's
        and the probe's group, parted by " / ".
    operating_point : str or None
        Where it was taken; None where it needs none.
    estimate : float
        The value; NaN or infinite where it is not computable, and `note` says why.
    n_comparisons, n_errors, n_subjects : int or None
        What stands behind a rate.
    note : str
        What to beware of; empty where nothing.
    """

    name: str
    group: str | None
    operating_point: str | None
    estimate: float
    n_comparisons: int | None = None
    n_errors: int | None = None
    n_subjects: int | None = None
    note: str = ""


@dataclass(frozen=True, eq=False)
class Evaluation:
    """Everything `evaluate` found, one quantity a row.

    Attributes
    ----------
    quantities : tuple of Quantity
        Every number, in the order of the report.
    rates : tuple of Rates
        Rates with counts and matrix at each operating point.
    groups : tuple of str
        All groups.
    measured_groups : tuple of str
        The groups that the measures run over: all but those dropped.
    settings : dict
        What was asked.
    description : str
        What was evaluated.
    """

    quantities: tuple[Quantity, ...]
    rates: tuple[Rates, ...]
    groups: tuple[str, ...]
    measured_groups: tuple[str, ...]
    settings: dict[str, Any]
    description: str

    def value(self, name: str, group: str | None = None, at: OperatingPoint | None = None) -> float:
        """Return one estimate.

        Parameters
        ----------
        name, group, at
            As in `quantity`.

        Returns
        -------
        float

        Raises
        ------
        InputError
            As `quantity` does.

        Examples
        --------
        >>> import fastfair as ff
        >>> c = ff.Comparisons([0.9, 0.3, 0.4, 0.1], [1, 1, 0, 0])
        >>> ff.evaluate(c, at=[ff.at_threshold(0.35)]).value("fmr")
        0.5
        """
        return self.quantity(name, group, at).estimate

    def quantity(self, name: str, group: str | None = None, at: OperatingPoint | None = None) -> Quantity:
        """Return one estimate with what stands behind it.

        Parameters
        ----------
        name : str
            As in `Quantity`.
        group : str, optional
            The group; by default all comparisons.
        at : OperatingPoint, optional
            Needed where the quantity was taken at several.

        Returns
        -------
        Quantity

        Raises
        ------
        InputError
            Where there is no such quantity, or several.

        Examples
        --------
        >>> import fastfair as ff
        >>> c = ff.Comparisons([0.9, 0.3, 0.4, 0.1], [1, 1, 0, 0])
        >>> q = ff.evaluate(c, at=[ff.at_threshold(0.35)]).quantity("fmr")
        >>> q.n_errors, q.n_comparisons, q.note
        (1, 2, 'fewer than 30 errors')
        """
        named = [q for q in self.quantities if q.name == name]
        if not named:
            names = sorted({q.name for q in self.quantities})
            raise InputError(f"there is no quantity {name!r}{_validation.did_you_mean(name, names)}")
        found = [q for q in named if q.group == group]
        if not found:
            known = ", ".join(sorted({"all comparisons" if q.group is None else repr(q.group) for q in named}))
            raise InputError(f"{name} is not there for {repr(group) if group else 'all comparisons'}, but for {known}")
        points = ", ".join(sorted({str(q.operating_point) for q in found}))
        if at is not None:
            found = [q for q in found if q.operating_point == str(at)]
        if not found:
            raise InputError(f"{name} was not taken at {at}, but at {points}")
        if len(found) > 1:
            raise InputError(f"{name} was taken at {points}: say which with at=")
        return found[0]

    def to_frame(self, backend: str | None = None) -> Any:
        """Return one row a quantity, as a data frame.

        Parameters
        ----------
        backend : {"pandas", "polars", "pyarrow"}, optional
            By default the first of these that is installed.

        Returns
        -------
        data frame
            Columns as the attributes of `Quantity`, missing where `Quantity` has None.

        Examples
        --------
        >>> import fastfair as ff
        >>> c = ff.Comparisons([0.9, 0.3, 0.4, 0.1], [1, 1, 0, 0])
        >>> ff.evaluate(c).to_frame("polars").columns[:4]
        ['name', 'group', 'operating_point', 'estimate']
        """
        columns: dict[str, list[Any]] = {}
        for field in Quantity.__dataclass_fields__:
            values = [getattr(q, field) for q in self.quantities]
            columns[field] = values
        return _frames.build(columns, backend)

    def to_json(self, path: str | Path | None = None) -> str:
        """Write everything as JSON.

        Parameters
        ----------
        path : path, optional
            A file to write to as well.

        Returns
        -------
        str
            Strict JSON: what is not computable is null, and the quantity's note says why.

        Examples
        --------
        >>> import fastfair as ff
        >>> import json
        >>> c = ff.Comparisons([0.9, 0.3, 0.4, 0.1], [1, 1, 0, 0])
        >>> json.loads(ff.evaluate(c).to_json())["quantities"][0]["name"]
        'threshold'
        """
        rows = [vars(q) | {"estimate": q.estimate if math.isfinite(q.estimate) else None} for q in self.quantities]
        thresholds = [t if math.isfinite(t) else None for t in self.settings["thresholds"]]
        content = {
            "fastfair": __version__,
            "description": self.description,
            "settings": self.settings | {"thresholds": thresholds},
            "groups": list(self.groups),
            "measured_groups": list(self.measured_groups),
            "quantities": rows,
        }
        text = json.dumps(content, indent=1, allow_nan=False, default=float)
        if path is not None:
            Path(path).write_text(text + "\n", encoding="utf-8")
        return text

    def __repr__(self) -> str:
        points = ", ".join(str(r.at) for r in self.rates)
        return f"Evaluation({self.description}; at {points}; {len(self.quantities)} quantities)"
