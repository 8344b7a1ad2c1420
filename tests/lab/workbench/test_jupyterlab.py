"""Test that the workbench in JupyterLab follows a slider and sends no requests to other machines."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.request import urlopen

import pytest

from malsim.lab.workbench.page.serve import free_port
from tests.lab.workbench.conftest import LOCAL, ROOT

if TYPE_CHECKING:
    from collections.abc import Iterator

    from playwright.sync_api import Browser

CELL = f"import malsim as ms\nms.workbench({str(ROOT / 'scenarios/tripwire.toml')!r})"


@pytest.fixture
def lab(browser: Browser, tmp_path: Path) -> Iterator[str]:
    """Yield the address of a JupyterLab with one notebook. The `browser` fixture skips the test without Chromium."""
    del browser
    comms = pytest.importorskip("pyviz_comms", reason="Panel's channel to JupyterLab is not installed")
    pytest.importorskip("jupyterlab", reason="JupyterLab is not installed")
    cell: dict[str, Any] = {
        "cell_type": "code",
        "execution_count": None,
        "id": "a",
        "metadata": {},
        "outputs": [],
        "source": CELL,
    }
    kernel = {"kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"}}
    notebook = {"cells": [cell], "metadata": kernel, "nbformat": 4, "nbformat_minor": 5}
    (tmp_path / "n.ipynb").write_text(json.dumps(notebook), encoding="utf-8")
    port = free_port("127.0.0.1")
    words = ["--no-browser", f"--port={port}", "--ServerApp.token=", "--ServerApp.password=", "--allow-root"]
    share = Path(str(comms.__file__)).parents[4] / "share" / "jupyter"
    command, quiet = [sys.executable, "-m", "jupyterlab", *words], subprocess.DEVNULL
    environment = os.environ | {"JUPYTER_PATH": str(share)}
    with subprocess.Popen(command, cwd=tmp_path, env=environment, stdout=quiet, stderr=quiet) as process:
        yield f"http://127.0.0.1:{port}"
        process.kill()


@pytest.mark.nightly
def test_slider_changes_margins_in_jupyterlab(lab: str, browser: Browser) -> None:
    page = browser.new_context(viewport={"width": 1500, "height": 1100}).new_page()
    elsewhere: list[str] = []
    page.on("request", lambda request: None if request.url.startswith(LOCAL) else elsewhere.append(request.url))
    for _ in range(120):
        try:
            urlopen(lab, timeout=5).close()  # noqa: S310  # this machine
        except OSError:
            page.wait_for_timeout(500)
        else:
            break
    page.goto(f"{lab}/lab/tree/n.ipynb")
    page.locator(".jp-Notebook").wait_for(timeout=90_000)
    page.locator(".jp-Cell .cm-content").first.click()
    page.wait_for_timeout(4_000)  # give the kernel time to start
    page.keyboard.press("Shift+Enter")
    page.get_by_text("8 of 8 checks hold").wait_for(timeout=90_000)
    page.locator('.setting[data-name="rules.challenge_ceiling"] input[type=range]').evaluate(
        "input => { input.value = 200; input.dispatchEvent(new Event('input')); }"
    )
    page.get_by_text("6 of 8 checks hold").wait_for(timeout=30_000)
    assert elsewhere == []
