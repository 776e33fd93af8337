"""Check the arguments of all public functions by one table, from an argument's name to its check."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import wraps
from typing import Any, TypeVar, overload

from fastfair.errors import FastfairError, InputError, NotEnoughMemoryError

from . import argument_kinds as k
from .argument_kinds import Check

_Function = TypeVar("_Function", bound=Callable[..., Any])
_NO_DEFAULT = object()


# A name that means two things has the commoner here, and the other one in `checked` of the function that differs.
_NAMES: tuple[tuple[Check, str], ...] = (
    (k.one_of("Comparisons"), "comparisons pilot"),
    (k.one_of("Comparisons", "ScannedComparisons", "Embeddings"), "second"),
    (k.one_of("Embeddings"), "embeddings"),
    (k.one_of("Comparisons", "ScannedComparisons", "Embeddings", "FailureCounts"), "data"),
    (k.point, "at"),
    (
        k.text,
        """accept alternative attempts backend by center eer_method failed failed_value failures format group
        incomplete_groups kind label_conflicts look_alikes mated metadata_id metadata_per metadata_subject method metric
        missing_labels mix name over probe probe_sample quantile rate reference reference_sample
        same_name scheme score score_kind self_comparisons share_of show side similarity statement statistic subject
        subject_pattern system template_score title unit unmatched weighting""",
    ),
    (k.texts, "groups keep metrics probe_group reference_group strata tables"),
    (k.measure, "measure"),
    (k.measures, "measures"),
    (
        k.whole,
        """dim max_subjects n_attempts n_datasets n_folds n_mated n_nonmated n_partners n_processes n_simulations
        n_steps n_subjects n_threads overall_mated overall_nonmated""",
    ),
    (k.replicates, "n_resamples"),
    (
        k.number,
        """again alpha assurance c_fa c_miss claimed confidence_level correlation covariance failure_score fmr fnmr
        goats mu n overall_fmr p_target step subject_effect threshold tmr tnmr""",
    ),
    (k.any_float, "value"),
    (k.text_or_number, "mated_value policy zero_policy"),
    (k.flag, "allow_undecided cllr det follow_up group_wise normalize percent simultaneous stop"),
    (k.seed, "rng"),
    (k.heard, "progress"),
    (k.array, "centers differences jackknife pvalues replicates scores vectors"),
    (
        k.numbers,
        """average concentrations degrees_of_freedom difference estimate fmr_global fnmr_global fractions margin
        n_groups n_samples power prior_log_odds rates targets v_statistic x""",
    ),
    (k.text_by_name, "baseline"),
    (k.pair, "concentration"),
    (k.text_or_several(k.number), "ratios"),
    (k.several(k.text), "methods"),
    (k.several(k.number), "confidence_levels"),
    (k.path, "checkpoint folder impostor path"),
    (k.amount_of_memory, "memory_limit"),
    (k.executor, "executor"),
    (k.paths, "inputs"),
    (k.results, "results"),
    (k.source, "frame metadata samples trials"),
    (k.axes, "ax"),
    (k.rows, "positions"),
    (k.key, "key"),
)
TABLE: dict[str, Check] = {name: check for check, names in _NAMES for name in names.split()}


@dataclass(frozen=True)
class _Entry:
    name: str
    check: Check | None
    default: Any = _NO_DEFAULT

    def read(self, value: Any) -> Any:
        """Return the checked value that the function receives."""
        if self.check is None or value is self.default:
            return value
        try:
            return self.check(self.name, value)
        except FastfairError:
            raise
        except Exception as error:  # raised by the value's own methods
            raise InputError(f"{self.name} cannot be read, as it raises {type(error).__name__}") from error


def _entries(function: Callable[..., Any], special: Mapping[str, Check]) -> tuple[list[_Entry], dict[str, _Entry]]:
    """Return the arguments by position, the one with a star last, and by name."""
    code = function.__code__
    n_positional, n_named = code.co_argcount, code.co_argcount + code.co_kwonlyargcount
    names, filled = code.co_varnames[:n_named], function.__defaults__ or ()
    defaults = dict(zip(names[n_positional - len(filled) : n_positional], filled, strict=True))
    defaults |= function.__kwdefaults__ or {}
    entries = []
    for place, name in enumerate(names):
        check = None if place == 0 and name in ("self", "cls") else special.get(name) or TABLE[name]
        entries.append(_Entry(name, check, defaults.get(name, _NO_DEFAULT)))
    positional = entries[:n_positional]
    if code.co_flags & inspect.CO_VARARGS:
        name = code.co_varnames[n_named]
        positional.append(_Entry(name, special.get(name) or TABLE[name]))
    return positional, {entry.name: entry for entry in entries}


@overload
def checked(function: _Function, /) -> _Function: ...
@overload
def checked(*, takes: Callable[..., Any] | None = None, **special: Check) -> Callable[[_Function], _Function]: ...
def checked(function: Any = None, /, *, takes: Callable[..., Any] | None = None, **special: Check) -> Any:
    """Check every argument of a function before it runs.

    Parameters
    ----------
    function : function or dataclass
        The function; of a dataclass, its constructor is checked.
    takes : function, optional
        The function that receives the arguments gathered by two stars; they are checked as its own are.
    **special : check
        Checks of arguments that mean something other than in the table.

    Returns
    -------
    function
        Has the name, signature and documentation of `function`.
    """
    if function is None:
        return lambda given: _decorated(given, takes, special)
    return _decorated(function, takes, special)


def _refuse_other_indices(arguments: Iterable[tuple[str, Any]]) -> None:
    """Refuse columns of pandas whose rows have other labels, or the same in another order: which belong together?"""
    pandas = sys.modules["pandas"]
    columns = []
    for name, value in arguments:
        inside = value.items() if type(value) is dict else [("", value)]
        columns += [
            (f"{name} {key!r}" if key else name, column)
            for key, column in inside
            if issubclass(type(column), pandas.Series)
        ]
    for name, column in columns[1:]:
        first, others = columns[0]
        if len(column) == len(others) and not column.index.equals(others.index):
            raise InputError(
                f"the rows of {name} have another index than those of {first}, so that it is not clear which belong "
                "together: sort both alike, or pass .to_numpy() of each to take them in their order"
            )


def _decorated(function: Any, takes: Any, special: Mapping[str, Check]) -> Any:
    if isinstance(function, type):
        function.__init__ = _decorated(function.__init__, takes, special)  # type: ignore[misc]
        return function
    positional, by_name = _entries(function, special)
    n = len(positional)
    gathers = bool(function.__code__.co_flags & inspect.CO_VARARGS)
    known = by_name if takes is None else dict(list(takes.__entries__.items())[1:]) | by_name

    # This runs at every call, so the parts of an entry are taken out beforehand, and defaults are not checked.
    names = [entry.name for entry in positional]
    by_place = [(entry.check is not None, entry.default, entry.read) for entry in positional]

    @wraps(function)
    def checking(*args: Any, **kwargs: Any) -> Any:
        if len(args) + len(kwargs) > 1 and "pandas" in sys.modules:
            _refuse_other_indices([*zip(names, args, strict=False), *kwargs.items()])
        given = [
            read(value) if looks and value is not default else value
            for (looks, default, read), value in zip(by_place, args)  # noqa: B905 - Python itself refuses too many
        ]
        if len(args) > n:
            given += [by_place[-1][2](value) for value in args[n:]] if gathers else args[n:]
        for name, value in kwargs.items():
            if name in known:
                kwargs[name] = known[name].read(value)
            elif takes is not None:
                raise TypeError(f"{function.__qualname__}() got an unexpected keyword argument {name!r}")
        try:
            return function(*given, **kwargs)
        except FastfairError:
            raise
        except MemoryError as error:
            what = function.__qualname__.removesuffix(".__init__")
            raise NotEnoughMemoryError(
                f"{what} needs more memory than the system gives this process ({error}): take fewer data or "
                "replicates, scan_comparisons for score files, or a larger limit (ulimit -v)"
            ) from error

    checking.__entries__ = by_name  # type: ignore[attr-defined]
    return checking
