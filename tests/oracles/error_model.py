"""Slow and plain: a logit of errors, fitted to single comparisons, and its robust variance by loops
over subjects."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.linalg import eigh
from scipy.optimize import linprog


@dataclass(frozen=True)
class Trial:
    """A comparison, whether it is an error, and the attributes' values on its two sides."""

    subjects: tuple[str, str]
    error: int
    values: tuple[tuple[str, ...], tuple[str, ...]]


def row(
    trial: Trial, rate: str, levels: Sequence[Sequence[str]], differ: Sequence[bool]
) -> list[float]:
    """The row of the design: levels are the values of each attribute but its baseline."""
    found = [1.0]
    for a, values in enumerate(levels):
        first, second = (side[a] for side in trial.values)
        for value in values:
            found.append(
                float((first == value) + (second == value))
                if rate == "fmr"
                else float(first == value)
            )
        if differ[a]:
            found.append(float(first != second))
    return found


def logit(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Maximise the likelihood by Newton's method."""
    at = np.zeros(x.shape[1])
    for _ in range(60):
        p = 1 / (1 + np.exp(-x @ at))
        at = at + np.linalg.solve((x.T * (p * (1 - p))) @ x, x.T @ (y - p))
    return at


def robust(
    trials: Sequence[Trial], x: np.ndarray, at: np.ndarray, rate: str
) -> tuple[np.ndarray, dict]:
    """The covariance of the coefficients, and each subject's corrected score."""
    size = x.shape[1]
    information, own = np.zeros((size, size)), defaultdict(lambda: np.zeros((size, size)))
    score, of_pair = defaultdict(lambda: np.zeros(size)), defaultdict(lambda: np.zeros(size))
    for trial, x_row in zip(trials, x, strict=True):
        p = 1 / (1 + math.exp(-x_row @ at))
        residual = (trial.error - p) * x_row
        part = p * (1 - p) * np.outer(x_row, x_row)
        information += part
        for subject in set(trial.subjects):
            score[subject] += residual
            own[subject] += part
        if len(set(trial.subjects)) == 2:
            of_pair[frozenset(trial.subjects)] += residual
    inverse = np.linalg.inv(information)
    for subject in score:
        shares, vectors = eigh(own[subject], information)  # vectors' information vectors = 1
        left = np.maximum(1 - shares, 0.05)
        score[subject] = information @ vectors @ np.diag(left**-0.5) @ vectors.T @ score[subject]
    middle = sum(np.outer(t, t) for t in score.values())
    if rate == "fmr":
        pairs = sum(np.outer(s, s) for s in of_pair.values())
        values, vectors = np.linalg.eigh(pairs)  # a direction in which no pair errs has 0
        least = vectors @ np.diag(np.maximum(values, 1e-9 * values[-1])) @ vectors.T
        values, vectors = eigh(middle - 2 * pairs, least)
        turned = least @ vectors
        middle = least + (turned * np.maximum(values, 0)) @ turned.T
    return inverse @ middle @ inverse, dict(score)


def freedom(
    trials: Sequence[Trial], x: np.ndarray, at: np.ndarray, contrast: np.ndarray, rate: str
) -> float:
    """The degrees of freedom of a combination of coefficients."""
    _, score = robust(trials, x, at, rate)
    p = 1 / (1 + np.exp(-x @ at))
    weights = p * (1 - p)
    influence = x @ np.linalg.inv((x.T * weights) @ x) @ contrast  # of an error in each comparison
    direction = np.linalg.inv((x.T * weights) @ x) @ contrast
    expected = defaultdict(float)
    for trial, a, w in zip(trials, influence, weights, strict=True):
        for subject in set(trial.subjects):
            expected[subject] += w * a * a
    shares = np.array(list(expected.values()))
    alike = shares.sum() ** 2 / (shares**2).sum()
    most = max(1.0, min(alike - 1, alike * (1 - x.shape[1] / shares.size)))
    if rate == "fnmr":
        return most
    # Of each pair of subjects, those comparisons together whose sides have the same values.
    of_pair = defaultdict(float)
    for trial, a, chance in zip(trials, influence, p, strict=True):
        if len(set(trial.subjects)) == 2:
            of_pair[frozenset(trial.subjects), frozenset(trial.values)] += (
                trial.error - chance
            ) * a
    own = {k: sum(s**2 for (pair, _), s in of_pair.items() if k in pair) / 2 for k in score}
    contribution = {k: (direction @ t) ** 2 - own[k] for k, t in score.items()}
    if sum(contribution.values()) <= sum(own.values()):
        contribution = own
    c = np.array(list(contribution.values()))
    e = np.array([a for trial, a in zip(trials, influence, strict=True) if trial.error])
    left = (c**2).sum() / c.sum() ** 2 - 1 / alike - (e**4).sum() / (e**2).sum() ** 2 / 2
    return min(most, max(1.0, 2 / left)) if left > 0 else most


def separated(n: np.ndarray, errors: np.ndarray, design: np.ndarray) -> np.ndarray:
    """The cells whose log odds have no maximum, by one linear program with a share for each."""
    sign = np.where(errors == 0, -1.0, np.where(errors == n, 1.0, 0.0))
    extreme = np.flatnonzero(sign)
    is_separated = np.zeros(n.size, bool)
    if not extreme.size:
        return is_separated
    # Each extreme cell moves by at least its share, of at most 1, in the right direction; cells
    # with errors and others stay.
    size, free = extreme.size, design.shape[1]
    mixed = design[sign == 0]
    solved = linprog(
        np.concatenate((np.zeros(free), -np.ones(size))),
        A_ub=np.hstack((-design[extreme] * sign[extreme, None], np.eye(size))),
        b_ub=np.zeros(size),
        A_eq=np.hstack((mixed, np.zeros((len(mixed), size)))),
        b_eq=np.zeros(len(mixed)),
        bounds=[(None, None)] * free + [(0, 1)] * size,
    )
    is_separated[extreme] = solved.x[free:] > 0.5
    return is_separated
