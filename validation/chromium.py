"""A Chromium without a window and without a network, drawing in software: for the tests of the pages and the pictures of the README."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
ARGUMENTS = (
    "--use-angle=swiftshader",  # other ways of drawing in software leave the page white
    "--enable-unsafe-swiftshader",
    "--no-sandbox",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
)
MISSING = "no Chromium found: install it (apt-get install chromium) or name it in $CHROMIUM"
READY = "document.body.dataset.state === 'ready' || document.body.dataset.state === 'failed'"


def chromium() -> str | None:
    """The browser: $CHROMIUM, or the first one on the path."""
    return os.environ.get("CHROMIUM") or next((found for name in NAMES if (found := shutil.which(name))), None)


@contextmanager
def launched(path: str, *more: str) -> Iterator[Any]:
    """The browser, driven by Playwright; ``more`` arguments for it."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=[*ARGUMENTS, *more])
        try:
            yield browser
        finally:
            browser.close()
