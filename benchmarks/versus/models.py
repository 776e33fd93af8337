"""Rows of models of errors: dyadic sums in NumPy loops, and statsmodels' logit with clusters."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

import fastfair as ff
from fastfair.error_models.error_model import ErrorModel
from fastfair.error_models.fitting import count_cells, fit, make_design
from fastfair.error_rates.operating_points import threshold_key

from .clock import clocked, take_turns
from .common import must_agree, scratch_folder, versions, voxceleb1_h
from .environments import STATSMODELS
from .processes import Worker
from .rows import Against, Measurement, Row
from .targets import AtLeast

_SUBJECTS = 4473  # of whom all pairs are 10 million
_LOOPED = 20  # subjects that the loop is timed over
_AT = ff.at_threshold(0.0)

Floats = NDArray[np.float64]
Integers = NDArray[np.intp]


class _Faces:
    """All pairs of subjects of two genders, some of whom are falsely matched more often."""

    def __init__(self) -> None:
        rng = np.random.default_rng(0)
        self.first, self.second = np.triu_indices(_SUBJECTS, 1)
        self.gender, effect = rng.integers(2, size=_SUBJECTS), 0.8 * rng.normal(size=_SUBJECTS)
        odds = effect + 0.3 * self.gender
        scores = odds[self.first] + odds[self.second] - 5.2 + rng.logistic(size=self.first.size)
        self.errors = (scores >= 0).astype(np.float64)
        own = np.arange(_SUBJECTS)
        reference, probe = np.concatenate((own, self.first)), np.concatenate((own, self.second))
        self.comparisons = ff.Comparisons(
            np.concatenate((np.full(_SUBJECTS, 9.0), scores)),
            np.arange(reference.size) < _SUBJECTS,
            reference,
            probe,
            {"gender": self.gender[reference]},
            {"gender": self.gender[probe]},
        )

    def logit(self) -> tuple[Floats, Floats]:
        """Fit the model to single comparisons; return the coefficients and the scores of
        comparisons."""
        a, b = self.gender[self.first], self.gender[self.second]
        x = np.stack((np.ones(a.size), (a == 1) * 1.0 + (b == 1), (a != b) * 1.0), axis=1)
        at = np.array([np.log(self.errors.mean() / (1 - self.errors.mean())), 0.0, 0.0])
        for _ in range(30):
            p = 1 / (1 + np.exp(-x @ at))
            step = np.linalg.solve((x.T * (p * (1 - p))) @ x, x.T @ (self.errors - p))
            at = at + step
            if np.abs(step).max() < 1e-10:
                break
        return at, x * (self.errors - p)[:, None]

    def sum_of(self, scores: Floats, subject: int) -> Floats:
        """Sum the scores of one subject's comparisons."""
        return np.asarray(scores[(self.first == subject) | (self.second == subject)].sum(axis=0))


def against_loops() -> Measurement:
    faces = _Faces()

    def model() -> ErrorModel:
        return ff.error_model(faces.comparisons, "gender", _AT, baseline={"gender": "0"})

    at, scores = faces.logit()
    ours = model()
    apart = np.abs(np.log([effect.odds_ratio for effect in ours.effects]) - at[1:] * [2, 1]).max()
    must_agree(apart < 1e-8, f"log odds ratios lie {apart:.1g} apart")
    cells = count_cells(
        faces.comparisons, ["gender"], threshold_key(faces.comparisons, _AT), "fmr", "subject"
    )
    design, _, _ = make_design(cells, ["gender"], {"gender": "0"})
    fitted = fit(cells, design)
    assert cells.n_of is not None
    assert cells.errors_of is not None
    sums = cells.errors_of @ design - cells.n_of @ (fitted.chances[:, None] * design)
    for subject in range(_LOOPED):
        must_agree(
            np.allclose(faces.sum_of(scores, subject), sums[subject], atol=1e-6),
            f"the score of {subject}",
        )
    seconds = take_turns(
        {
            "ours": clocked(model),
            "logit": clocked(faces.logit),
            "theirs": clocked(
                lambda: [faces.sum_of(scores, subject) for subject in range(_LOOPED)]
            ),
        },
        rounds=3,
    )
    loop = [each * _SUBJECTS / _LOOPED for each in seconds["theirs"]]
    return Measurement(
        seconds["ours"],
        loop,
        "log odds ratios within 1e-8, scores of subjects within 1e-6",
        versions(),
        remarks=(
            f"theirs is timed over {_LOOPED} subjects and does the dyadic sums alone, ours all;"
            f" NumPy's logit of single comparisons takes {min(seconds['logit']):.1f} s more"
        ),
    )


def against_statsmodels() -> Measurement:
    comparisons, names = voxceleb1_h(), ["Gender", "Nationality"]
    at = ff.at_threshold(ff.rates(comparisons, ff.at_fmr(0.01)).threshold)
    side = comparisons.mated
    ours = ff.error_model(comparisons, names, at, rate="fnmr")
    columns = []
    for effect in ours.effects:
        code = comparisons.attributes[effect.attribute].index(effect.value)
        columns.append(side.attribute(effect.attribute)[0] == code)
    failed = side.keys < threshold_key(comparisons, at)
    with scratch_folder() as folder:
        for name, array in (
            ("failed", failed),
            ("columns", np.column_stack(columns)),
            ("subject", side.reference),
        ):
            np.save(
                folder / f"{name}.npy",
                np.asarray(array, np.float64 if name != "subject" else np.int64),
            )
        with Worker(STATSMODELS.python(), "statsmodels_logit.py", folder) as worker:
            worker.save("logit")
            theirs, errors = np.load(folder / "logit.npy")
            apart = np.abs(
                np.log([effect.odds_ratio for effect in ours.effects]) - theirs[1:]
            ).max()
            must_agree(apart < 1e-8, f"coefficients lie {apart:.1g} apart")
            gender = ours.effects[0].standard_error / errors[1]
            must_agree(abs(gender - 1) < 0.02, f"standard errors {gender:.3f} x theirs")
            seconds = take_turns(
                {
                    "ours": clocked(lambda: ff.error_model(comparisons, names, at, rate="fnmr")),
                    "theirs": worker.clocked("logit"),
                },
                rounds=5,
            )
            about = versions(worker)
    return Measurement(
        seconds["ours"],
        seconds["theirs"],
        "coefficients within 1e-8, the standard error of gender within 2 %",
        about,
        remarks=(
            "ours starts from comparisons and looks for contradictions as well, theirs starts from"
            " numbers"
        ),
    )


ROWS = (
    Row(
        "error-model",
        "error_model of 10 million non-mated comparisons of 4,473 subjects, one attribute",
        "NumPy, dyadic sums of scores, a subject at a time",
        Against.NUMPY,
        AtLeast(50),
        against_loops,
    ),
    Row(
        "error-model-clusters",
        "error_model of 275,000 mated comparisons (VoxCeleb1-H), gender and nationality",
        "statsmodels, GLM with clusters of subjects",
        Against.TOOL,
        AtLeast(5),
        against_statsmodels,
    ),
)
