"""Plots of the recorded figures: how time and memory grow."""

from typing import Any

import matplotlib.pyplot as plt
from performance_record import RECORD

MARKERS = "os^"


def details(name: str) -> dict[str, Any]:
    """Return a row's figures, and name its machine above the plot where that is not the one of the
    most rows."""
    plt.gcf().suptitle(RECORD.elsewhere(name))
    return RECORD.rows[name]["details"]


def comparisons() -> None:
    """Time and memory over comparisons and over replicates."""
    axes = plt.subplots(2, 2, figsize=(9, 7), layout="constrained")[1]
    found = details("bootstrap-growth")
    sizes, replicates = found["comparisons"], found["replicates"]
    for column, (values, unit) in enumerate(((found["seconds"], 1), (found["grown_bytes"], 1e6))):
        over_sizes, over_replicates = axes[0, column], axes[1, column]
        for k, count in enumerate(replicates):
            y = [row[k] / unit for row in values]
            over_sizes.loglog(sizes, y, f"{MARKERS[k]}-", label=f"{count:,} replicates")
        for k, size in enumerate(sizes):
            y = [value / unit for value in values[k]]
            over_replicates.loglog(replicates, y, f"{MARKERS[k]}-", label=f"{size:,} comparisons")
        if column:
            megabytes = [size / 1e6 for size in found["sorted_input_bytes"]]
            over_sizes.loglog(sizes, megabytes, ":", color="0.5", label="sorted input")
        for ax, x in ((over_sizes, "comparisons"), (over_replicates, "replicates")):
            ax.set(xlabel=x, ylabel="memory on top of the input, MB" if column else "seconds")
            ax.grid(alpha=0.3)
            ax.legend()


def vectors() -> None:
    """Time and memory over vectors and over replicates."""
    (time, memory), (time_r, memory_r) = plt.subplots(2, 2, figsize=(9, 7), layout="constrained")[1]
    found = details("embeddings-growth")
    n = found["vectors"]
    counts = found["replicates"]
    time.loglog(n, found["seconds"], "o-", label="band, 1,000 replicates")
    time.loglog(n, found["bare_product_seconds"], "s-", label="similarities alone")
    last = found["bare_product_seconds"][-1]
    time.loglog(n, [last * (size / n[-1]) ** 2 for size in n], ":", color="0.5", label="slope 2")
    memory.loglog(
        n, [peak / 1e6 for peak in found["peak_bytes"]], "o-", label="peak of the process"
    )
    memory.loglog(n, [size / 1e6 for size in found["file_bytes"]], "s-", label="the vectors")
    label = f"{found['replicated_vectors']:,} vectors"
    time_r.loglog(counts, found["replicates_seconds"], "o-", label=label)
    memory_r.loglog(
        counts, [peak / 1e6 for peak in found["replicates_peak_bytes"]], "o-", label=label
    )
    for ax, x, y in (
        (time, "vectors", "seconds"),
        (memory, "vectors", "MB"),
        (time_r, "replicates", "seconds"),
        (memory_r, "replicates", "peak of the process, MB"),
    ):
        ax.set(xlabel=x, ylabel=y)
        ax.grid(alpha=0.3)
        ax.legend()
