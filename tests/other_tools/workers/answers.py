"""The workers' way of answering: sets of scores come in as JSON, answers go out. It runs in the
tool's environment."""

import json
import sys
import warnings
from collections.abc import Callable

import numpy as np

warnings.simplefilter("ignore")

RATE = 0.3
THRESHOLD = 2


def answer(functions: dict[str, Callable[[np.ndarray, np.ndarray], object]]) -> None:
    """Print what each function says of each set; where a tool raises, the name of the error."""
    with open(sys.argv[1]) as file:  # noqa: PTH123
        sets = json.load(file)
    answers: dict[str, list[object]] = {}
    for name, function in functions.items():
        answers[name] = []
        for mated, nonmated in sets:
            try:
                numbers = np.atleast_1d(
                    function(np.array(mated, dtype=float), np.array(nonmated, dtype=float))
                )
                answers[name].append(numbers.astype(float).tolist())
            except Exception as error:  # whatever a tool raises is its answer
                answers[name].append(type(error).__name__)
    print(json.dumps(answers))


def flags_and_scores(mated: np.ndarray, nonmated: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return 1 for mated and 0 for non-mated scores, and all scores."""
    return np.repeat([1, 0], [mated.size, nonmated.size]), np.concatenate([mated, nonmated])
