"""Load a page in Chromium without a window, and ask it about itself."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from html import unescape
from pathlib import Path
from typing import Any

CHROMIUM = (
    shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
)
TOOLS = Path(__file__).parents[2] / "build" / "browser" / "node_modules"  # made by `make browser`
AXE = TOOLS / "axe-core" / "axe.min.js"
VALIDATOR = TOOLS / ".bin" / "html-validate"
COLORS = {"light": 1, "dark": 0}

# A window cannot be narrower than 500 pixels, a frame can. What scrolls within itself may be wider
# than the page.
_FRAME = """<!DOCTYPE html><html><head><meta charset="utf-8"><title>wait</title></head><body style="margin:0">
<iframe id="page" style="border:0;width:{width}px;height:1200px"></iframe>
<pre id="answer"></pre>
<script>
const frame = document.getElementById("page");
const scrolls = one => one && (
  ["auto", "scroll"].includes(getComputedStyle(one).overflowX) || scrolls(one.parentElement.closest("body *")));
const look = async () => {{
  const inner = frame.contentDocument, width = inner.documentElement.clientWidth, listed = [];
  inner.defaultView.addEventListener("error", event => listed.push(String(event.message)));
  const beyond = [...inner.querySelectorAll("body *")].filter(
    one => one.getBoundingClientRect().right > width + 1 && !scrolls(one.parentElement.closest("body *")));
  const answer = {{
    width, scrollWidth: inner.documentElement.scrollWidth, errors: listed,
    beyond: beyond.map(one => one.tagName + ": " + one.textContent.slice(0, 40)),
    clipped: [...inner.querySelectorAll("td, th, .card, dd, dt, summary")].filter(
      one => one.clientWidth && one.scrollWidth > one.clientWidth + 1).map(one => one.textContent.slice(0, 40)),
    sideways: [...inner.querySelectorAll(".scroll")].filter(
      one => one.clientWidth && one.scrollWidth > one.clientWidth + 1).map(one => one.getAttribute("aria-label")),
    words: inner.body.innerText.split(/\\s+/).length,
    images: inner.querySelectorAll("img").length, scripts: inner.querySelectorAll("script").length,
    unloaded: [...inner.images].filter(one => one.complete && !one.naturalWidth).map(one => one.src),
    paper: getComputedStyle(inner.body).backgroundColor, title: inner.title,
  }};
  if ({axe}) {{
    const script = inner.createElement("script");
    script.textContent = {source};
    inner.head.append(script);
    const found = await inner.defaultView.axe.run(inner, {{resultTypes: ["violations"]}});
    answer.violations = found.violations.map(
      one => one.id + ": " + one.nodes.slice(0, 3).map(node => node.html.slice(0, 120)).join(" | "));
  }}
  return answer;
}};
(async () => {{
  const answers = [];
  for (const page of {pages}) {{
    await new Promise(loaded => {{ frame.onload = loaded; frame.src = page; }});
    answers.push(await look());
  }}
  document.getElementById("answer").textContent = JSON.stringify(answers);
}})();
</script></body></html>"""


def ask(page: Path, folder: Path, width: int, color: str = "light") -> dict[str, Any]:
    """Return what a page in a frame of a width says of itself, with the messages of the console.

    Parameters
    ----------
    page : Path
        The page.
    folder : Path
        Where the frame is written to.
    width : int
        Width of the frame in pixels.
    color : {"light", "dark"}
        The colours that the reader prefers.

    Returns
    -------
    dict
    """
    answers, console = ask_each([page], folder, width, color, axe=AXE.exists())
    return answers[0] | {"console": console}


def ask_each(
    pages: list[Path], folder: Path, width: int, color: str = "light", *, axe: bool
) -> tuple[list[dict[str, Any]], list[str]]:
    """Return what each of several pages says of itself, and the messages of the console."""
    frame = folder / f"frame_{width}_{color}.html"
    source = json.dumps(AXE.read_text("utf-8")).replace("</", r"<\\/") if axe else '""'
    listed = json.dumps([page.as_uri() for page in pages])
    frame.write_text(
        _FRAME.format(pages=listed, width=width, axe=str(axe).lower(), source=source), "utf-8"
    )
    done = run(
        "--allow-file-access-from-files",
        f"--blink-settings=preferredColorScheme={COLORS[color]}",
        f"--window-size={max(width, 500)},1200",
        "--virtual-time-budget=60000",
        "--enable-logging=stderr",
        "--dump-dom",
        frame.as_uri(),
        folder=folder,
    )
    answer = re.search(r'<pre id="answer">(.+?)</pre>', done.stdout, re.DOTALL)
    assert answer, done.stderr[-2000:]
    return json.loads(unescape(answer.group(1))), [
        line for line in done.stderr.splitlines() if ":CONSOLE" in line
    ]


def run(*arguments: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """Run Chromium with a profile of its own."""
    assert CHROMIUM is not None
    always = ("--headless=new", "--no-sandbox", "--disable-gpu", "--hide-scrollbars")
    profile = f"--user-data-dir={folder / 'profile'}"
    return subprocess.run(
        [CHROMIUM, *always, profile, *arguments],
        capture_output=True,
        text=True,
        check=True,
        timeout=180,
        encoding="utf-8",
        errors="replace",
    )
