"""What the kernel says of a process's memory; Linux alone tells the peak of a stretch."""

from pathlib import Path

_PROCESS = Path("/proc/self")


def in_bytes(name: str) -> int:
    """Read a line of the process's status, such as VmRSS or VmHWM."""
    lines = (_PROCESS / "status").read_text().splitlines()
    return next(1024 * int(line.split()[1]) for line in lines if line.startswith(f"{name}:"))


def restart_peak() -> None:
    """Let the peak start anew from what is held now."""
    (_PROCESS / "clear_refs").write_text("5")
