"""Pages as PDF, which Chromium makes of them where there is one."""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from pathlib import Path

from fastfair._lib import whole_files
from fastfair.errors import MissingDependencyError, OutputError

_BROWSERS = (
    "chromium",
    "chromium-browser",
    "google-chrome",
    "google-chrome-stable",
    "chrome",
    "msedge",
)
_OPTIONS = (
    "--headless",
    "--disable-gpu",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-pdf-header-footer",
)
_MOST_SECONDS = 120


def browser() -> str:
    """Return the command of a browser that makes PDF, or raise an error that says what would do."""
    program = next(filter(None, map(shutil.which, _BROWSERS)), None)
    if program is None:
        raise MissingDependencyError(
            "a report as PDF needs Chromium or Chrome, and there is none on the PATH: write it as"
            " .html, and print it from any browser"
        )
    return program


def write_pdf(page: str, path: str | Path) -> None:
    """Write the text of a page as PDF."""
    command = browser()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "page.html").write_text(page, "utf-8")
        made = folder / "page.pdf"
        # As root, in containers, the browser starts only without its sandbox; the page is our own.
        options = [*_OPTIONS, "--no-sandbox", f"--user-data-dir={folder / 'profile'}"]
        try:
            done = subprocess.run(
                [command, *options, f"--print-to-pdf={made}", (folder / "page.html").as_uri()],
                capture_output=True,
                check=False,
                timeout=_MOST_SECONDS,
            )
            said = done.stderr.decode(errors="replace").strip().splitlines()
        except subprocess.TimeoutExpired:
            said = [f"it took longer than {_MOST_SECONDS} s"]
        if not made.is_file():
            why = said[-1] if said else "it wrote nothing"
            raise OutputError(f"{command} made no PDF of the page: {why}")
        with whole_files.written(path) as file:
            file.write(made.read_bytes())
