"""Functions that take the fields of their records as arguments of their own, as the command line's
options are."""

from collections.abc import Callable
from dataclasses import fields
from functools import wraps
from inspect import signature
from typing import Any

import fastfair as ff

RECORDS = {
    "layout": ff.Layout,
    "policies": ff.Policies,
    "storage": ff.Storage,
    "settings": ff.BandSettings,
}


def flat(function: Callable[..., Any]) -> Callable[..., Any]:
    """Gather the fields of records before a function is called."""
    own = signature(function).parameters

    @wraps(function)
    def call(*args: Any, **options: Any) -> Any:
        for name in RECORDS.keys() & own.keys():
            known = {field.name for field in fields(RECORDS[name])} - own.keys()
            inner = {field: options.pop(field) for field in known & options.keys()}
            if inner:
                options[name] = RECORDS[name](**inner)
        return function(*args, **options)

    return call


read_comparisons, scan_comparisons = flat(ff.read_comparisons), flat(ff.scan_comparisons)
roc_band, fairness_band = flat(ff.roc_band), flat(ff.fairness_band)
make, from_frame, from_matrix = map(
    flat, (ff.Comparisons, ff.Comparisons.from_frame, ff.Comparisons.from_matrix)
)
