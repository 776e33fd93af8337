"""Real data: VoxCeleb1-H against the tool that ships it, RFW, NIST BSSR1 and EVALITA."""

from __future__ import annotations

import json
import subprocess
import sys

import numpy as np
import polars as pl
import pytest

import fastfair as ff
from fastfair.data import score_keys

# With kernels as plain Python these lists take minutes, and reach no branch that short ones do not.
pytestmark = pytest.mark.jit


def det_curve(side_mated, side_nonmated):
    from sklearn.metrics import det_curve

    scores = np.concatenate([side_mated, side_nonmated])
    return det_curve(np.arange(scores.size) < side_mated.size, scores)


def test_voxceleb_overall(voxceleb):
    assert round(100 * ff.eer(voxceleb).value, 3) == 2.402
    assert round(ff.min_dcf(voxceleb).value, 4) == 0.0077
    assert (len(voxceleb.mated), len(voxceleb.nonmated), voxceleb.subjects.size) == (
        275_488,
        275_406,
        1_190,
    )


def test_voxceleb_the_other_system():
    pytest.importorskip(
        "bt4vt", reason="bt4vt, which carries the VoxCeleb1-H scores, is not installed"
    )
    c = ff.datasets.voxceleb1_h("resnetse34l", groups="Gender")
    assert round(100 * ff.eer(c).value, 3) == 4.373
    assert round(ff.min_dcf(c).value, 4) == 0.0142
    assert c.groups == ("f", "m")


def test_voxceleb_has_no_cross_group_trials_so_grouping_by_reference_is_the_same(voxceleb):
    cells = voxceleb.nonmated_by_group.cells
    assert np.array_equal(cells, np.diag(np.diagonal(cells)))


def test_every_group_agrees_with_scikit_learns_detection_curve(voxceleb):
    """The curve and formulas that bt4vt takes its figures from, group by group, at its own
    method."""
    evaluation = ff.evaluate(
        voxceleb, settings=ff.EvaluationSettings(eer_method="nearest-max"), n_resamples=0
    )
    for k, group in enumerate((None, *voxceleb.groups)):
        if group is None:
            sides = voxceleb.mated.similarities, voxceleb.nonmated.similarities
        else:
            keys = voxceleb.mated_by_group.within[k - 1], voxceleb.nonmated_by_group.within[k - 1]
            sides = tuple(score_keys.decode(k) for k in keys)
        fpr, fnr, _ = det_curve(*sides)
        nearest = np.argmin(np.abs(fnr - fpr))
        assert evaluation.value("eer", group) == pytest.approx(
            max(fpr[nearest], fnr[nearest]), abs=1e-12
        )
        assert evaluation.value("min_dcf", group) == pytest.approx(
            (0.05 * fnr + 0.95 * fpr).min(), abs=1e-12
        )


BT4VT = """
import json, sys, warnings
warnings.simplefilter("ignore")
import numpy as np, pandas as pd, yaml, bt4vt
from pathlib import Path
from bt4vt.core import SpeakerBiasTest
from bt4vt.evaluate import evaluate_scores
data, out = Path(bt4vt.__file__).parent / "data", Path(sys.argv[1])
config = yaml.safe_load((data / "config.yaml").read_text())
config.update(speaker_metadata_file=str(data / "vox1_meta.csv"), results_dir=str(out) + "/")
config.update(speaker_groups=[["Gender", "Nationality"]])
(out / "config.yaml").write_text(yaml.safe_dump(config))
test = SpeakerBiasTest(str(data / f"{sys.argv[2]}_H-eval_scores.csv"), str(out / "config.yaml"))
test.run_tests()
own = {}
for group, pairs in test.scores_by_speaker_groups["Gender_Nationality"].items():
    labels, scores = (np.array(column) for column in zip(*pairs))
    if not np.isnan(scores).all() and 0 < labels.sum() < labels.size:
        # Without the overall thresholds bt4vt minimises the cost over the group's own curve.
        own[group] = evaluate_scores(scores, labels, config["dcf_costs"])[3]
print(json.dumps({"written": pd.read_csv(next(out.glob("*.csv"))).to_dict("list"), "own": own}))
"""


@pytest.mark.slow
@pytest.mark.parametrize("system", ["resnetse34v2", "resnetse34l"])
def test_every_group_agrees_with_bt4vts_own_output(system, tmp_path):
    pytest.importorskip(
        "bt4vt", reason="bt4vt, which carries the VoxCeleb1-H scores, is not installed"
    )
    arguments = [sys.executable, "-W", "ignore", "-c", BT4VT, str(tmp_path), system]
    done = subprocess.run(arguments, capture_output=True, text=True, timeout=600, check=False)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout.splitlines()[-1])
    c = ff.datasets.voxceleb1_h(system)
    evaluation = ff.evaluate(
        c, settings=ff.EvaluationSettings(eer_method="nearest-max"), n_resamples=0
    )
    written = pl.DataFrame(found["written"])
    cost_column = next(name for name in written.columns if name.startswith("DCF ("))
    threshold = ff.min_dcf(c).threshold
    compared = 0
    for row in written.iter_rows(named=True):
        name = row["group_name"]
        if name == "average":
            assert float(row["EER"]) / 100 == pytest.approx(evaluation.value("eer"), abs=1e-12)
            assert float(row[cost_column]) == pytest.approx(evaluation.value("min_dcf"), abs=1e-12)
        group = name.replace("_", " & ")
        if group not in c.groups:
            continue
        compared += 1
        assert float(row["EER"]) / 100 == pytest.approx(evaluation.value("eer", group), abs=1e-12)
        assert found["own"][name][1] == pytest.approx(evaluation.value("min_dcf", group), abs=1e-12)
        # What bt4vt writes for a group is its cost at the group's score nearest to the overall
        # threshold, of the scores between the last that loses no mated comparison and the first
        # that gains nothing over the highest.
        k = c.groups.index(group)
        mated, nonmated = (
            score_keys.decode(side.within[k]) for side in (c.mated_by_group, c.nonmated_by_group)
        )
        scores = np.union1d(mated, nonmated)
        accepted = nonmated.size - np.searchsorted(nonmated, scores)
        scores = scores[(scores >= mated[0]) & (scores <= scores[accepted == accepted[-1]][0])]
        nearest = scores[np.argmin(np.abs(scores - threshold))]
        cost = 0.05 * (mated < nearest).mean() + 0.95 * (nonmated >= nearest).mean()
        assert float(row[cost_column]) == pytest.approx(cost, abs=1e-12)
    assert compared == len(c.groups) == 18


def test_rfw(shared_data):
    with np.load(shared_data / "rfw_scores.npz", allow_pickle=False) as data:
        scores, label, ethnicity, columns = (
            data[name] for name in ("scores", "label", "ethnicity", "columns")
        )
    assert scores.shape == (24_000, 12)
    for k in range(12):
        c = ff.Comparisons(scores[:, k], label, reference_group=ethnicity)
        assert len(c.groups) == 4, columns[k]
        evaluation = ff.evaluate(c, at=[ff.at_fmr(0.01), ff.at_eer()], n_resamples=0)
        assert evaluation.rates[0].counts.group_mated.tolist() == [3000] * 4
        assert 0 < evaluation.value("eer") < 0.5
        assert evaluation.value("fdr", at=ff.at_eer()) < 1
        fpr, fnr, _ = det_curve(scores[label == 1, k], scores[label == 0, k])
        nearest = np.argmin(np.abs(fnr - fpr))
        assert ff.eer(c).value == pytest.approx((fpr[nearest] + fnr[nearest]) / 2, abs=1e-12)


@pytest.mark.parametrize("name", ["face_c", "face_g", "finger_left", "finger_right"])
def test_bssr1(shared_data, name):
    c = ff.read_comparisons(shared_data / "nist_bssr1_set1.npz", score=name)
    assert (len(c.mated), len(c.nonmated)) == (517, 517 * 516)
    with np.load(shared_data / "nist_bssr1_set1.npz", allow_pickle=False) as data:
        matrix = data[name]
    mated = np.diagonal(matrix)
    nonmated = matrix[~np.eye(517, dtype=bool)]
    for level in (0.1, 0.01, 1e-3, 1e-4):
        found = ff.rates(c, ff.at_fmr(level))
        assert found.fmr <= level
        assert found.fmr == (nonmated >= found.threshold).mean()
        assert found.fnmr == (mated < found.threshold).mean()
    assert ff.roc(c).threshold.size == np.unique(matrix).size + 1
    assert 0.001 < ff.eer(c).value < 0.2
    if (
        name == "face_c"
    ):  # one probe failed to give a template: all its scores, one of them mated, are -1
        assert c.mated.similarities[0] == -1
        assert (c.nonmated.similarities[:516] == -1).all()
    if name.startswith("finger"):
        assert np.unique(matrix).size < 500, "finger scores are heavily tied"


def test_evalita(shared_data):
    path = shared_data / "evalita2009_speakers.tsv.gz"
    target = ff.read_comparisons(path, score="score", mated="target", groups="gender")
    evaluation = ff.evaluate(target, at=[ff.at_fmr(0.01), ff.at_eer()], n_resamples=0)
    assert len(target.mated) + len(target.nonmated) == 24_852
    assert round(100 * evaluation.value("eer"), 1) == 7.8
    frame = pl.read_csv(path, separator="\t")
    for gender in target.groups:
        own = frame.filter(pl.col("gender") == gender)
        assert (
            evaluation.value("eer", gender)
            == ff.eer(ff.Comparisons.from_frame(own, mated="target")).value
        )


def test_lfw_identification_agrees_with_counts_in_numpy(shared_data):
    """Each of half of the people with two images is enrolled with the first; the next image of
    anyone is a probe."""
    about = np.load(shared_data / "lfw_faces_attributes.npz")
    vectors = np.load(shared_data / "lfw_faces_mbf_arc.npy")
    subject = about["subject"]
    people, first, count = np.unique(subject, return_index=True, return_counts=True)
    twice = people[count > 1]
    enrolled = np.concatenate([twice[::2], people[count == 1][:500]])
    at = first[np.searchsorted(people, enrolled)]
    probes = np.concatenate(
        [first[np.searchsorted(people, twice)] + 1, first[np.searchsorted(people, twice[1::2])]]
    )
    s = ff.Searches.from_vectors(
        vectors[probes],
        subject[probes],
        vectors[at],
        enrolled,
        group=about["gender"][probes],
        n_threads=1,
    )
    points = [ff.at_rank(1), ff.at_rank(5), ff.at_fpir(0.01)]
    found = ff.identify(s, points)

    unit = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    scores = unit[probes] @ unit[at].T
    own = subject[probes][:, None] == enrolled
    mated = own.any(axis=1)
    mate = np.where(own, scores, -np.inf).max(axis=1)
    rank = 1 + ((scores >= mate[:, None]) & ~own).sum(axis=1)
    best = np.where(own, -np.inf, scores).max(axis=1)
    ordered = np.sort(best[~mated])[::-1]
    threshold = ordered[int(0.01 * ordered.size)]
    expected = [
        np.mean(rank[mated] > 1),
        np.mean(rank[mated] > 5),
        np.mean(mate[mated] <= threshold),
    ]
    assert [found.of("fnir", at=at).estimate for at in points] == pytest.approx(expected, abs=1e-12)
    assert found.of("fnir", at=points[0]).n_searches > 400
    for row in found.rows:
        assert row.low <= row.estimate <= row.high
