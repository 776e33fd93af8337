"""The names that people type: measures and metrics by title, by code name and by abbreviation."""

from __future__ import annotations

import re
from collections.abc import Iterable

from fastfair._lib import validation
from fastfair.errors import InputError

from ._compute import measure_of
from ._facts import MEASURES

# What measures are called besides their names in code and their titles.
_OTHER_NAMES = {
    "fdr": ("fairness discrepancy rate",),
    "inequity_rate": ("IR",),
    "gini": ("Gini coefficient", "Gini index"),
    "garbe": ("Gini aggregation rate for biometric equitability",),
    "std": ("standard deviation",),
    "skewed_error_ratio": ("SER",),
    "mape": ("mean absolute percentage error",),
    "sed": ("sum of group error differences", "SEDG"),
    "group_to_min_difference": ("G2min difference", "group-to-minimum difference"),
    "group_to_average_ratio": ("G2avg ratio",),
    "group_to_average_log_ratio": ("G2avg log ratio",),
    "nrb": ("normalised reliability bias", "normalized reliability bias"),
    "max_min_ratio": ("maximum-minimum ratio",),
    "max_geomean_ratio": ("maximum-geometric mean ratio",),
    "log_geomean_sum": ("sum of log-geomean ratios",),
}
_METRICS = {
    "threshold": "threshold", "fmr": "FMR", "fnmr": "FNMR", "tmr": "TMR", "fmr_matrix": "FMR matrix", "eer": "EER",
    "act_dcf": "actDCF", "min_dcf": "minDCF", "cllr": "Cllr", "min_cllr": "min Cllr",
    "frr": "FRR", "far": "FAR", "failure_rate_mated": "failure rate (mated)",
    "failure_rate_nonmated": "failure rate (non-mated)",
}  # fmt: skip


def _plain(name: str) -> str:
    """Return a name without capitals, blanks and marks, in which names are compared."""
    return re.sub(r"[\W_]+", "", name.casefold())


_MEASURE_OF = {
    _plain(other): name
    for name, facts in MEASURES.items()
    for other in (name, facts.title, *_OTHER_NAMES.get(name, ()))
}
_METRIC_OF = {_plain(other): name for name, title in _METRICS.items() for other in (name, title)}


def measure_name(name: str, known: Iterable[str] = MEASURES, argument: str = "measure") -> str:
    """Return the name in code of a measure that is named in any of its ways.

    Parameters
    ----------
    name : str
        A name in code ("inequity_rate"), a title ("IR") or another name ("inequity rate"); capitals, blanks and marks
        do not count.
    known : iterable of str
        The measures to choose among.
    argument : str
        Name of the argument in messages.

    Raises
    ------
    InputError
        For any other name; the message suggests the nearest ones.

    Examples
    --------
    >>> from fastfair.measures._names import measure_name
    >>> measure_name("Inequity Rate"), measure_name("FDR")
    ('inequity_rate', 'fdr')
    """
    known = tuple(known)
    found = _MEASURE_OF.get(_plain(name))
    if found in known:
        return str(found)
    titles = {MEASURES[one].title: one for one in known} | {
        other: one for one in known for other in _OTHER_NAMES.get(one, ())
    }
    near = validation.did_you_mean(name, [*titles, *known])  # of equal names, that in code
    raise InputError(
        f"{argument} must be one of {', '.join(map(repr, known))}, by this name or another that it has, not "
        f"{validation.shown(name)}{near}"
    )


def quantity_name(name: str) -> str:
    """Return the name that a quantity has in results: "NRB of EER" and "NRB(EER)" are "nrb(eer)"; others stay.

    Examples
    --------
    >>> from fastfair.measures._names import quantity_name
    >>> quantity_name("NRB of EER"), quantity_name("mean SED"), quantity_name("minDCF"), quantity_name("unknown")
    ('nrb(eer)', 'sed_mean', 'min_dcf', 'unknown')
    """
    if _plain(name) in _METRIC_OF:
        return _METRIC_OF[_plain(name)]
    split = re.fullmatch(r"(.+?)(?:\s+of\s+(\S+)|\s*\((\S+)\))?", name.strip())
    if split is None:
        return name
    measure, metric = split.group(1), split.group(2) or split.group(3)
    suffix = ""
    for word in ("mean", "std"):
        for pattern in (rf"{word}[\s_-]+(.+)", rf"(.+)_{word}"):
            part = re.fullmatch(pattern, measure, re.IGNORECASE)
            if part and _MEASURE_OF.get(_plain(part.group(1))) == "sed":
                measure, suffix = part.group(1), f"_{word}"
    code = _MEASURE_OF.get(_plain(measure))
    if code is None or (metric and _plain(metric) not in _METRIC_OF):
        return name
    return f"{code}{suffix}" + (f"({_METRIC_OF[_plain(metric)]})" if metric else "")


def printed_name(name: str) -> str:
    """Return the name for print of a quantity: "NRB of EER" for "nrb(eer)", "minDCF" for "min_dcf".

    Examples
    --------
    >>> from fastfair.measures._names import printed_name
    >>> printed_name("nrb(eer)"), printed_name("sed_mean"), printed_name("min_dcf")
    ('NRB of EER', 'mean SED', 'minDCF')
    """
    code, _, metric = name.partition("(")
    measure = measure_of(name)
    if measure is None:
        return _METRICS.get(name, name)
    summary = code.removeprefix(measure.name).strip("_")
    return " ".join(filter(None, (summary, measure.title))) + (f" of {_METRICS[metric[:-1]]}" if metric else "")
