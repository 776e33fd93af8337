"""`stratified_rates`: rates by one attribute, overall, within strata of another, and with the same mix of strata."""

from __future__ import annotations

from fastfair import intervals
from fastfair._lib import argument_kinds, validation
from fastfair._lib.arguments import checked
from fastfair._lib.warnings import warn
from fastfair.data.comparisons import Comparisons
from fastfair.error_rates.curve_results import ERROR_RATES
from fastfair.error_rates.operating_points import OperatingPoint, threshold_key
from fastfair.errors import ContradictingStrataWarning, InputError, NotComputableWarning

from .cells import UNITS, count_cells
from .results import StratifiedRates
from .stratifying import in_words, stratify

MIXES = ("pooled", "equal")


@checked(at=argument_kinds.point)
def stratified_rates(
    comparisons: Comparisons,
    by: str,
    strata: str | list[str],
    at: OperatingPoint,
    *,
    rate: str = "fmr",
    mix: str = "pooled",
    unit: str = "subject",
    confidence_level: float = 0.95,
) -> StratifiedRates:
    """Compute error rates by one attribute within strata of another, and with the same mix of strata for all.

    Where groups are made up differently by another attribute, rates of all their comparisons may hide, or make, a
    difference between them. A `ContradictingStrataWarning` says where they do.

    Parameters
    ----------
    comparisons : Comparisons
        The comparisons, with these attributes.
    by : str
        The attribute whose values are compared. Of non-mated comparisons those count whose two sides have one value.
    strata : str or list of str
        The attributes whose values make the strata. Non-mated comparisons of two strata are one more stratum.
    at : OperatingPoint
        The operating point, whose threshold is found from all comparisons.
    rate : {"fmr", "fnmr"}
        Which rate.
    mix : {"pooled", "equal"}
        What all values are standardised to: the shares that strata have of the comparisons of all values together, or
        the same share for each. Strata in which a value has no comparisons are left out of it.
    unit : {"subject", "comparison"}
        What is independent. Where subjects are not known, "comparison" gives intervals that are likely too narrow.
    confidence_level : float, default 0.95
        In (0, 1).

    Returns
    -------
    StratifiedRates

    Raises
    ------
    InputError
        For an unknown attribute, or one with a single value; and without subjects.

    Warns
    -----
    ContradictingStrataWarning
        Where the order of two values is another within strata than in the margin.

    Notes
    -----
    Variances are dyadic-robust for FMR and clustered by subject for FNMR, with the small-sample correction of
    `error_model`. The threshold is taken as given, even where it is found from the same comparisons. Standardised rates
    are means of the strata's rates, by direct standardisation.

    Examples
    --------
    >>> import fastfair as ff
    >>> c = ff.datasets.voxceleb1_h("resnetse34v2", groups=("Gender", "Nationality"))
    >>> found = ff.stratified_rates(c, "Gender", "Nationality", ff.at_threshold(-1.1))
    >>> one = found.differences[0]
    >>> one.value, one.baseline, round(one.margin_ratio, 2), round(one.ratio, 2), one.contradicts
    ('f', 'm', 1.51, 1.54, False)
    """
    validation.choice("rate", rate, ERROR_RATES)
    validation.choice("unit", unit, UNITS)
    validation.choice("mix", mix, MIXES)
    level = intervals.level(confidence_level)
    others = [strata] if isinstance(strata, str) else list(strata)
    if not others or by in others:
        raise InputError(f"strata must name attributes other than {by!r}")
    key = threshold_key(comparisons, at)
    cells = count_cells(comparisons, [by, *others], key, rate, unit)
    found = stratify(cells, [by, *others], by, others, mix)
    if len(found.values) < 2:
        raise InputError(f"there are no comparisons of two values of {by!r}, so there is nothing to compare")
    if not found.mix.any():
        warn(
            f"no stratum of {found.strata} has comparisons of every value of {by!r}: there are no standardised rates",
            NotComputableWarning,
        )
    differences = found.differences(level)
    for one in differences:
        if one.contradicts:
            warn(
                f"{by!r} and {found.strata!r} contradict each other: {in_words(one, rate)}", ContradictingStrataWarning
            )
    shares = tuple(zip(found.names, found.mix.tolist(), strict=True))
    settings = {
        "by": by, "strata": others, "at": str(at), "rate": rate, "mix": mix, "unit": unit, "confidence_level": level,
    }  # fmt: skip
    return StratifiedRates(
        rate, at, comparisons.to_threshold(key), by, found.strata, shares, tuple(found.rates(level)),
        tuple(differences), level, found.cells.n_subjects, settings,
    )  # fmt: skip
