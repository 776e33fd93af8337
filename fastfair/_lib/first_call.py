"""Let a first call compile kernels in two processes."""

from __future__ import annotations

from pathlib import Path

from fastfair.kernels import _ahead

from .threads import count_threads


def compile_ahead(n_threads: int | None, *, narrow: bool) -> None:
    """Compile the kernels of replicates in another process, where none were compiled before.

    Parameters
    ----------
    n_threads : int or None
        As the caller of an evaluation gave it; with one thread alone no process is started.
    narrow : bool
        Whether scores are float32.
    """
    from fastfair.kernels import _jit

    if count_threads(n_threads) > 1 and _jit.CACHE_FOLDER and not _jit.config.DISABLE_JIT:
        code = f"from fastfair.first_run import draw_replicates; draw_replicates(narrow={narrow})"
        _ahead.start(code, Path(_jit.CACHE_FOLDER))
