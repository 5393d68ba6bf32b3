"""The HTML page of `headrace explain` in a real browser."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest
from shop import Invoke, Write

BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")


@pytest.fixture(scope="module")
def browser() -> str:
    found = next((path for name in BROWSERS if (path := shutil.which(name))), None)
    if found is None:
        pytest.skip(f"no browser on PATH ({', '.join(BROWSERS)})")
    return found


# Counts what the page has asked for, once all is loaded.
COUNTER = """<script>addEventListener("load", () => {
  document.body.dataset.requests = performance.getEntriesByType("resource").length;
});</script></body>"""


def opened(browser: str, page: Path, asked: str, folder: Path) -> tuple[str, str]:
    """The page once it is drawn, and what it said on the console."""
    command = [
        *(browser, "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"),
        *(f"--user-data-dir={folder / 'profile'}", "--enable-logging=stderr", "--virtual-time-budget=15000"),
        # The browser itself must not call home either.
        *("--disable-background-networking", "--host-resolver-rules=MAP * ~NOTFOUND", "--no-first-run"),
        *("--dump-dom", f"{page.as_uri()}#{asked}"),
    ]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=True)
    return done.stdout, "\n".join(line for line in done.stderr.splitlines() if "CONSOLE" in line)


@pytest.mark.parametrize("level", ["stream", "job", "execution"])
def test_page_in_a_browser(browser: str, invoke: Invoke, shop: Path, tmp_path: Path, level: str) -> None:
    html = invoke("explain", "--format", "html").stdout
    page = tmp_path / "plan.html"
    page.write_text(html.replace("</body>", COUNTER), encoding="utf-8")
    data = json.loads(re.findall(r'id="data">(.*?)</script>', html, re.DOTALL)[0])
    picture = next(one for one in data["pictures"] if one["level"] == level)
    rows = [row for panel in picture["panels"] for box in panel["boxes"] for row in box["rows"]]
    arrows = sum(len(panel["arrows"]) for panel in picture["panels"])
    chosen = next(row for row in rows if row["kind"] == "aggregate")

    dom, console = opened(browser, page, f"level={level}&operator={chosen['id']}", tmp_path)

    assert console == ""
    assert 'data-requests="0"' in dom
    assert f'data-drawn="{len(rows)}"' in dom
    assert f'data-level="{level}"' in dom
    assert len(re.findall(r'<path class="arrow ', dom)) == arrows
    for row in rows:
        assert f'data-operator="{row["id"]}"' in dom
    # The operator in the address is shown with its place.
    details = dom[dom.index('<aside id="details"') :]
    assert "models/per_minute.yml:" in details
    assert f"<h2>{chosen['name']}</h2>" in details


def test_page_loads_nothing(invoke: Invoke, write: Write) -> None:
    html = invoke("explain", "--project-dir", write({}), "--format", "html").stdout
    assert "default-src 'none'" in html
    assert not re.findall(r"<(?:link|img|iframe)|\bsrc=|url\(|@import|fetch\(|XMLHttpRequest", html)
