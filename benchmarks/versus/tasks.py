"""The rows, in the order of the table."""

from . import bootstraps, curves, embeddings, groups, growth, runs, sweeps, synthesis

ROWS = (
    *curves.ROWS,
    *bootstraps.ROWS,
    *sweeps.ROWS,
    *growth.ROWS,
    *embeddings.ROWS,
    *groups.ROWS,
    *synthesis.ROWS,
    *runs.ROWS,
)
