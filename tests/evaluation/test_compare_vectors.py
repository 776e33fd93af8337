"""Two systems' pairs of vectors near the errors, compared, against comparisons of all pairs."""

import numpy as np
import pytest
from helpers.refusals import refused
from helpers.small_embeddings import scanned, two_systems
from hypothesis import given
from hypothesis import strategies as st

import fastfair as ff
from fastfair.errors import InputError

pytestmark = pytest.mark.filterwarnings(
    "ignore::fastfair.errors.FastfairWarning"
)  # of few errors in small data
_POINTS = [ff.at_fmr(0.02), ff.at_fnmr(0.1), ff.at_threshold(0.6), ff.at_eer()]


def bits(paired):
    return (
        repr(paired.contrasts),
        repr([one.quantities for one in paired.evaluations]),
    )


@pytest.mark.jit
@pytest.mark.parametrize("roles", [False, True])
@pytest.mark.parametrize("groups", [0, 3])
def test_all_quantities_have_the_bits_of_all_pairs(roles, groups):
    systems = two_systems(1, roles=roles, groups=groups)
    asked = {"metrics": ["eer", "min_dcf"], "n_resamples": 70, "rng": 1}
    wanted = ff.compare(*(e.comparisons() for e in systems), _POINTS, **asked)
    found = ff.compare(*scanned(systems), _POINTS, **asked)
    assert found.evaluations[0].comparisons is None
    assert bits(found) == bits(wanted)


@pytest.mark.jit
def test_slopes_beyond_what_is_kept_are_refused():
    systems = two_systems(3, groups=0)
    few = scanned(systems, 0.05)
    with pytest.raises(InputError, match=r"needs more scores than the scan has kept"):
        ff.compare(*few, ff.at_fmr(0.045), metrics=[], n_resamples=2, rng=0)


@pytest.mark.jit
def test_a_report_of_scans_has_no_curves(tmp_path):
    paired = ff.compare(
        *scanned(two_systems(1)), ff.at_fmr(0.02), metrics=[], n_resamples=50, rng=0
    )
    ff.report([paired], tmp_path / "page.html")
    assert "DET curves" not in (tmp_path / "page.html").read_text()
    (again,) = ff.read_results(tmp_path / "page.html")
    assert [one.difference for one in again.contrasts] == [
        one.difference for one in paired.contrasts
    ]
    refused("of comparisons in memory", paired.plot_det)


def test_other_data_are_refused(tmp_path):
    one, other = two_systems(4)
    scan = one.scanned(0.5)
    labels = one.subjects[one.subject]
    swapped = labels.copy()
    swapped[[0, 1]] = labels[[1, 0]]
    roles = np.where(np.arange(220) % 2, "probe", "reference")
    moved = (labels + (labels == 5)) % 2
    c = ff.synthesis.binormal_comparisons(50, 100, fmr=0.1, n_subjects=20, rng=0)
    ff.write_comparisons(c, tmp_path / "scores.csv")
    of_files = ff.scan_comparisons(tmp_path / "scores.csv", score_kind="distance")
    plain = ff.Embeddings(one.vectors, labels).scanned(0.5)
    for first, second, said in (
        (scan, other.comparisons(), "first is a scan, and second is not: give two scans"),
        (other.comparisons(), scan, "second is a scan, and first is not"),
        (
            plain,
            ff.Embeddings(one.vectors, swapped),
            "subjects of 2 vectors differ, such as in row 0",
        ),
        (
            plain,
            ff.Embeddings(one.vectors[:-1], labels[:-1]),
            "220 vectors in first and 219 in second",
        ),
        (plain, ff.Embeddings(one.vectors, labels, role=roles), "roles of the vectors differ"),
        (
            scan,
            ff.Embeddings(one.vectors, labels, moved),
            "of 1 subjects differ, such as 5: '1' in first and '0' in",
        ),
        (of_files, of_files, "scan of score files, which does not list who was compared"),
    ):
        refused(
            said,
            ff.compare,
            first,
            second.scanned(0.5) if isinstance(second, ff.Embeddings) else second,
            rng=0,
        )
    with pytest.raises(
        InputError, match="no intervals without replicates: give n_resamples of at least 2"
    ):
        ff.compare(scan, other.scanned(0.5), ff.at_fmr(0.02), metrics=[], n_resamples=0)


@pytest.mark.jit
@given(
    st.integers(0, 2**16),
    st.booleans(),
    st.integers(0, 4),
    st.sampled_from([3, 1000]),
    st.sampled_from([0.0, 0.2]),
)
def test_rates_have_the_bits_of_all_pairs(seed, roles, groups, steps, noise):
    systems = two_systems(seed, roles=roles, groups=groups, steps=steps, noise=noise)
    asked = {
        "metrics": [],
        "measures": [],
        "n_resamples": 2,
        "rng": 1,
        "settings": ff.EvaluationSettings(incomplete_groups="nan"),
    }
    wanted = ff.compare(*(e.comparisons() for e in systems), ff.at_fmr(0.02), **asked)
    found = ff.compare(*scanned(systems, 0.8), ff.at_fmr(0.02), **asked)
    assert (
        found.evaluations[1].settings["thresholds"] == wanted.evaluations[1].settings["thresholds"]
    )
    assert bits(found) == bits(wanted)
