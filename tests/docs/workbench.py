"""Screenshot of the workbench for README and manual: `python -m tests.docs.workbench` (needs Chromium)."""

from __future__ import annotations

import sys
from pathlib import Path

from tests.lab.workbench.conftest import CHROMIUM, FLAGS, ROOT, serving
from tests.lab.workbench.test_page import MOVE, changed, lines, settled, slider, tap

PICTURE = ROOT / "scenarios" / "workbench.png"
SIZE = {"width": 1280, "height": 1500}  # high enough for the checks and the explanation below the traces


def shoot(path: Path) -> None:
    """Hold the tripwire's traces, lower the challenge ceiling, explain a value on day 12, and save the page as PNG."""
    from playwright.sync_api import sync_playwright

    with serving("scenarios/tripwire.toml") as address, sync_playwright() as playwright:
        page = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS).new_page(viewport=SIZE)  # type: ignore[arg-type]
        page.goto(address)
        settled(page)
        page.get_by_role("button", name="Hold").click()
        page.get_by_text("held: as in the file").wait_for()
        before = lines(page)
        slider(page, "rules.challenge_ceiling").evaluate(MOVE, "200")
        changed(page, before)
        tap(page, 12.6 / 45, down=105)
        page.get_by_text("Overturned by").first.wait_for()
        page.wait_for_timeout(1000)  # for the last repaint
        page.screenshot(path=path)


if __name__ == "__main__":
    shoot(PICTURE)
    sys.stdout.write(f"{PICTURE}\n")
