"""`GUARDS`: what is refused, warned of or left out in what people bring, and the kinds of data that
each guard serves.

The documentation makes its table of these records, and a test springs each guard in each kind of
data.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

KINDS: dict[str, str] = {
    "comparisons": "arrays, data frames and score files",
    "scans": "files larger than memory",
    "matrices": "score matrices",
    "vectors": "vectors, all of which are compared",
    "searches": "searches of a gallery",
    "counts": "failures of subjects, and decisions",
    "quality": "quality of samples",
}


@dataclass(frozen=True)
class Guard:
    """A guard of data.

    Attributes
    ----------
    name : str
        What it guards against.
    answer : str
        What happens, and by which policy.
    homes : tuple of str
        The functions that hold it, below `fastfair`.
    reasons : mapping of str to str
        The kinds of data that it does not serve, and why they need none. It serves all others.
    """

    name: str
    answer: str
    homes: tuple[str, ...]
    reasons: Mapping[str, str] = field(default_factory=dict)

    @property
    def kinds(self) -> tuple[str, ...]:
        """The kinds of data that it serves."""
        return tuple(kind for kind in KINDS if kind not in self.reasons)


_NO_LABELS = "a quality is a number of a comparison, which has its labels already"
_NO_SCORES = "there are no scores"
_OF_COMPARISONS = "what is measured are comparisons, which are guarded"

GUARDS = (
    Guard(
        "missing labels of groups",
        'an error that counts them; `missing_labels="drop"` or `"unknown"`',
        ("data.group_labels.flag_labelled",),
        {"quality": _NO_LABELS},
    ),
    Guard(
        "failures: a missing score, vector or quality",
        'an error that counts them; `failures="exclude"` or `"non-match"`, but not in scans',
        ("data.checks.not_usable", "data.sorted_scores.part_sides", "data.embeddings.rows_of_vectors",
         "identification.searches.Searches._exclude", "quality._with_quality"),
        {"counts": "failures are what is counted"},
    ),
    Guard(
        "infinite numbers",
        "an error that names the row",
        ("data.checks.not_usable", "data.checks.require_usable", "identification.kept_candidates.MatrixScores.keep",
         "evaluation.failure_counts._whole_numbers", "quality.quality_of"),
    ),
    Guard(
        "whole numbers that would be rounded, above 2^53",
        "an error that names the row",
        ("_lib.validation.floats", "_lib.validation.numbers_of", "evaluation.failure_counts._whole_numbers"),
    ),
    Guard(
        "text in place of numbers",
        "an error that shows the first one",
        ("_lib.validation.numbers_in", "_lib.frames.FrameColumns.numbers"),
    ),
    Guard(
        "labels of mixed types, such as 1 and \"1\"",
        "an error that names the types",
        ("_lib.label_codes._code_entries",),
        {"quality": _NO_LABELS},
    ),
    Guard(
        "names that look alike: Unicode forms, invisible characters",
        "a warning that shows two of them",
        ("data.columns.warn_of_look_alikes",),
        {"quality": _NO_LABELS},
    ),
    Guard(
        "subjects that are names of samples",
        "a message that proposes `subject_pattern=`",
        ("data.sample_names.advice_on_samples",),
        {"counts": "subjects with a single attempt are usual", "quality": "samples are what is looked up"},
    ),
    Guard(
        "labels that contradict each other",
        'an error that names the first; for comparisons `label_conflicts="drop"` or `"keep"`',
        ("data.columns.rows_without_conflicts", "data.group_labels.label_of_each"),
        {
            "matrices": "the ids alone say which comparisons are mated",
            "searches": "the ids alone say which searches are mated, and a group is that of a search",
            "quality": _NO_LABELS,
        },
    ),
    Guard(
        "samples compared with themselves",
        'left out with a warning, or an error where nothing else is there; `self_comparisons="keep"`',
        ("data.columns.rows_of_two_samples", "data.columns.without_diagonal", "data.columns.is_of_a_set_with_itself"),
        {
            "vectors": "no vector is compared with itself",
            "counts": "counts are made of comparisons, which are guarded",
            "quality": _OF_COMPARISONS,
        },
    ),
    Guard(
        "distances taken for similarities",
        "a warning that proposes `score_kind=`",
        ("evaluation.evaluate._metrics", "identification.searches.Searches._finish"),
        {
            "vectors": "their similarities are computed",
            "counts": _NO_SCORES,
            "quality": "whether quality helps is what the curve shows",
        },
    ),
    Guard(
        "entries of lists that an index left empty, such as -1",
        "left out with a warning",
        ("data.columns.places_without_a_neighbour", "identification.searches._are_padding"),
        {
            "matrices": "a matrix has all scores",
            "vectors": "no index is asked",
            "counts": _NO_SCORES,
            "quality": _OF_COMPARISONS,
        },
    ),
    Guard(
        "the same thing twice",
        "an error that names both",
        ("io.files.files_of", "identification.searches._refuse_twice", "io.metadata.Metadata.__init__"),
        {
            "comparisons": "people are compared repeatedly, and these comparisons are drawn together",
            "matrices": "people have several samples",
            "vectors": "people have several vectors",
            "counts": "people have several attempts; rows of counts have no ids",
        },
    ),
)  # fmt: skip
