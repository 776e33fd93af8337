"""`HowToRead`: how the columns of score files are called, and where their subjects and groups are found."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from fastfair._lib import side_columns, validation
from fastfair.data.failed_comparisons import FailurePolicy
from fastfair.data.label_conflicts import LABEL_CONFLICTS
from fastfair.data.named_vectors import NamedVectors
from fastfair.errors import InputError

from . import formats
from .metadata import METADATA_PER, MISSING_LABELS, Metadata
from .named_vectors import read_named_vectors
from .pair_metadata import PairMetadata

UNMATCHED = ("error", "drop")


@dataclass
class HowToRead:
    """Arguments of `read_comparisons`, checked, with the table of metadata read.

    Attributes
    ----------
    vectors : NamedVectors or None
        What the pairs of a list of trials are scored with.
    failures : FailurePolicy
        What to do with comparisons that failed.
    quality : str, pair of str or None
        Columns of the quality of comparisons.
    mated_value : str, float or None
        Which value of the column of labels means mated.
    look_alikes : str
        What to do with names that look alike.
    self_comparisons : str
        What to do with comparisons of a sample with itself.
    keep : tuple of str
        Columns to keep beside the comparisons.
    unmatched : {"error", "drop"}
        What to do with trials without a score, and scores without a trial.
    by_attribute : bool
        Whether comparisons that lack a label are left out of the attributes alone that they lack.
    described : Metadata, PairMetadata or None
        The table of metadata.
    attributes : list
        The attributes that make groups, as `side_columns.named` returns them.
    """

    score: str | None
    mated: str | None
    reference: str | None
    probe: str | None
    subject_pattern: str | None
    metadata: Any
    metadata_id: str | Sequence[str] | None
    groups: str | Sequence[str | tuple[str, str]] | None
    format: str
    trials: str | Path | None
    metadata_per: str
    metadata_subject: str | None
    missing_labels: str
    label_conflicts: str
    vectors: NamedVectors | None = None
    failures: FailurePolicy = field(default_factory=FailurePolicy)
    quality: str | tuple[str, str] | None = None
    mated_value: str | float | None = None
    look_alikes: str = "warn"
    self_comparisons: str = "drop"
    keep: tuple[str, ...] = ()
    unmatched: str = "error"
    by_attribute: bool = True
    described: Metadata | PairMetadata | None = field(init=False)
    attributes: list[Any] = field(init=False)

    def __post_init__(self) -> None:
        self.attributes = side_columns.named(self.groups)
        self.failures = self.failures.checked()
        if self.vectors is not None and self.failures.score is not None:
            raise InputError("with embeddings=, leave failure_score= out: vectors that are zero or not finite failed")
        validation.choice("missing_labels", self.missing_labels, MISSING_LABELS)
        validation.choice("unmatched", self.unmatched, UNMATCHED)
        validation.choice("label_conflicts", self.label_conflicts, LABEL_CONFLICTS)
        validation.choice("metadata_per", self.metadata_per, METADATA_PER)
        validation.choice("format", self.format, ("auto", *formats.FORMATS))
        self.described = _metadata(
            self.metadata, self.metadata_id, self.metadata_per, self.metadata_subject, self.attributes
        )

    @property
    def names(self) -> dict[str, str | None]:
        """The columns named by the caller."""
        return {"score": self.score, "mated": self.mated, "reference": self.reference, "probe": self.probe}

    @property
    def groups_of(self) -> dict[str, Any]:
        """What else to look for: attributes that make groups, those of the metadata, and whether there are scores."""
        return {
            "groups": [] if self.described else self.attributes,
            "of_metadata": self.described.attributes if self.described else [],
            "scored": self.scored,
            "quality": self.quality,
            "kept": self.keep,
        }

    @property
    def drops_by_attribute(self) -> bool:
        """Whether a missing label leaves a comparison out of one attribute, and not of others."""
        n_attributes = len(self.attributes)
        return self.by_attribute and self.missing_labels == "drop" and n_attributes > 1

    @property
    def scored(self) -> bool:
        """Whether the score file has scores."""
        return self.vectors is None


def vectors_of(
    embeddings: Any, score: str | None, trials: str | Path | None, score_kind: str, failures: str
) -> NamedVectors:
    """Return the vectors that trials are scored with; arguments are those of `read_comparisons`."""
    for name, value, why in (
        ("score", score, "scores are those of the vectors"),
        ("trials", trials, "the list of trials is path itself"),
        ("score_kind", None if score_kind == "similarity" else score_kind, "the scores of vectors are similarities"),
    ):
        if value is not None:
            raise InputError(f"with embeddings=, leave {name}= out: {why}")
    if isinstance(embeddings, NamedVectors):
        return embeddings
    return read_named_vectors(embeddings, failures="error" if failures == "error" else "nan")


def _metadata(
    source: Any, id_columns: str | Sequence[str] | None, per: str, subject: str | None, attributes: list[Any]
) -> Metadata | PairMetadata | None:
    """Read the table of metadata, if there is one."""
    named = [id_columns] if isinstance(id_columns, str) else list(id_columns or [])
    if source is None:
        for name, value in (("metadata_id", named), ("metadata_subject", subject)):
            if value:
                raise InputError(f"{name} is given without metadata=")
        return None
    if len(named) > 2:
        raise InputError(f"metadata_id has {len(named)} columns: name one with ids, or two with those of pairs")
    if len(named) == 2:
        if subject is not None:
            raise InputError(
                "metadata_subject= goes with a table of samples, but the two columns of metadata_id= say that "
                "each row is about a pair"
            )
        return PairMetadata(source, (named[0], named[1]), attributes)
    paired = next((name for name in attributes if isinstance(name, tuple)), None)
    if paired is not None:
        raise InputError(
            f"with metadata= groups are names of its columns, not pairs such as {paired}; in a table with one row for "
            "each pair of samples, name both columns of ids with metadata_id="
        )
    per = per if subject is None else "sample"
    return Metadata(source, named[0] if named else None, attributes, per, subject)
