"""The rows, in the order of the table."""

from . import (
    bootstraps,
    closed_forms,
    construction,
    curves,
    draws,
    embeddings,
    groups,
    growth,
    many_pairs,
    models,
    runs,
    scans,
    sweeps,
    synthesis,
    threads,
)

ROWS = (
    *curves.ROWS,
    *construction.ROWS,
    *bootstraps.ROWS,
    *sweeps.ROWS,
    *draws.ROWS,
    *growth.ROWS,
    *many_pairs.ROWS,
    *scans.ROWS,
    *embeddings.ROWS,
    *groups.ROWS,
    *closed_forms.ROWS,
    *models.ROWS,
    *synthesis.ROWS,
    *runs.ROWS,
    *threads.ROWS,
)
