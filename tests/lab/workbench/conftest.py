"""Fixtures that run the workbench as a process and open its pages in a browser."""

from __future__ import annotations

import shutil
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from playwright.sync_api import Browser, Page

ROOT = Path(__file__).parents[3]
CHROMIUM = next((path for name in ("chromium", "chromium-browser") if (path := shutil.which(name))), None)
FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking"]
LOCAL = ("http://127.0.0.1:", "http://localhost:", "blob:", "data:", "ws://127.0.0.1:", "ws://localhost:")


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    if CHROMIUM is None:
        pytest.skip("no Chromium on this machine: apt-get install chromium")
    api = pytest.importorskip("playwright.sync_api", reason="Playwright for Python is not installed")
    with api.sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield chromium
        chromium.close()


@contextmanager
def serving(*words: str, folder: Path = ROOT) -> Iterator[str]:
    """Run `malsim workbench` in a folder and yield the address that the command prints."""
    command = [sys.executable, "-m", "malsim", "workbench", "--port", "0", "--no-browser", *words]
    with subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as process:
        assert process.stdout is not None
        try:
            address = process.stdout.readline().strip()
            assert address.startswith("http://"), address + process.stdout.read()
            yield address
        finally:
            process.kill()


@pytest.fixture(scope="session")
def gallery(browser: Browser) -> Iterator[str]:
    """Yield the address of a workbench started without a file. The `browser` fixture skips the test without Chromium."""
    del browser
    with serving() as address:
        yield address


@pytest.fixture
def visit(browser: Browser) -> Iterator[Callable[..., Page]]:
    """Return a function that opens a page. The test fails if a page requests another host or logs a console error."""
    problems: list[str] = []
    contexts = []

    def visit(address: str, *, width: int = 1280, scheme: str = "light", ready: str = ".setting") -> Page:
        context = browser.new_context(viewport={"width": width, "height": 1000}, color_scheme=scheme, accept_downloads=True)  # type: ignore[arg-type]  # light or dark
        contexts.append(context)
        page = context.new_page()
        page.on("console", lambda message: problems.append(message.text) if message.type == "error" else None)
        page.on("pageerror", lambda error: problems.append(str(error)))
        page.on("request", lambda request: None if request.url.startswith(LOCAL) else problems.append(request.url))
        page.goto(address)
        page.wait_for_selector(ready, timeout=30_000)
        return page

    yield visit
    for context in contexts:
        context.close()
    assert problems == []
