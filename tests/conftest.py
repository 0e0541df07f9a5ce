"""A real browser for the pages: Chromium without a window and without a network, drawing in software. No contact ever pulls."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "validation"))
from chromium import MISSING, READY, chromium, launched

WIDTH, HEIGHT = 1280, 800
PATIENCE = 120_000  # ms: two slow cores that also run other tests


PULL = 1e-9  # of the weight, or of the largest force: what rounding leaves of a force that is zero


@pytest.fixture(autouse=True)
def no_contact_pulls(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of every run of every test the sign of every contact force is looked at."""
    from urdf_gibbs.simulation.simulate import Simulator

    run = Simulator._run

    def looked_at(self: Simulator, *arguments: Any) -> Any:
        found = run(self, *arguments)
        forces = found.contact_forces
        scale = max(float(np.linalg.norm(found.gravity)) * float(np.sum(found.robot.mass)), float(forces.max(initial=0.0)))
        assert forces.min(initial=0.0) >= -PULL * scale, f"a contact pulls with {-forces.min():.3g}, {scale:.3g} being the scale"
        return found

    monkeypatch.setattr(Simulator, "_run", looked_at)


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    path = chromium()
    if path is None:
        if os.environ.get("CI"):
            pytest.fail(f"{MISSING}; in CI the pages are never left untested")
        pytest.skip(MISSING)
    with launched(path) as started:
        yield started


@dataclass
class Opened:
    """A page that says it is drawn, with everything it complained about and asked for."""

    page: Any
    complaints: list[str] = field(default_factory=list)
    requests: list[str] = field(default_factory=list)

    def run(self, script: str, *argument: Any) -> Any:
        return self.page.evaluate(script, *argument)

    def settled(self) -> None:
        """Wait until what was changed is on the screen."""
        self.run("() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(done, 50))))")

    def picture(self) -> np.ndarray[Any, Any]:
        """What is on the screen, (height, width, 3) in 0..255."""
        from PIL import Image

        self.settled()
        return np.asarray(Image.open(BytesIO(self.page.screenshot())).convert("RGB")).astype(int)

    @property
    def outside(self) -> list[str]:
        """Requests that leave the file."""
        return [url for url in self.requests if not url.startswith(("file:", "data:", "blob:", "about:"))]


def watched(page: Any) -> Opened:
    """A tab whose complaints and requests are kept."""
    tab = Opened(page)
    page.set_default_timeout(PATIENCE)
    page.on("console", lambda message: tab.complaints.append(message.text) if message.type in ("error", "warning") else None)
    page.on("pageerror", lambda error: tab.complaints.append(str(error)))
    page.on("request", lambda request: tab.requests.append(request.url))
    return tab


@pytest.fixture
def open_page(browser: Any) -> Iterator[Callable[[Path], Opened]]:
    """Opens a file in a tab of its own that has no network."""
    context = browser.new_context(viewport={"width": WIDTH, "height": HEIGHT}, offline=True, color_scheme="light")

    def opened(path: Path) -> Opened:
        tab = watched(context.new_page())
        tab.page.goto(path.absolute().as_uri())
        tab.page.wait_for_function(READY)
        assert tab.run("document.body.dataset.state") == "ready", tab.complaints
        tab.settled()
        return tab

    yield opened
    context.close()
