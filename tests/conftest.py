"""For all tests: how a run is made and what it says at its end, a real browser for the pages (Chromium without a window and without a
network, drawing in software), and no contact ever pulls."""

from __future__ import annotations

import gc
import itertools
import os
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest

# One thread for the linear algebra of each process: tests run side by side on all cores, and a second thread for matrices of some
# dozen rows only waits, turning at full speed. NumPy reads this when it is imported, and so do the processes that tests start.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1] / "validation"))
import own_tree  # noqa: F401  # the tests of this tree test its package
from chromium import MISSING, READY, chromium, launched

WIDTH, HEIGHT = 1280, 800
PATIENCE = 120_000  # ms: two slow cores that also run other tests

NIGHTLY = pytest.StashKey[int]()
FINISHED = itertools.count()


def pytest_configure(config: pytest.Config) -> None:
    """Here and not in pyproject.toml, from where it would import the package, and NumPy with it, before the number of threads is set."""
    config.addinivalue_line("filterwarnings", "ignore::urdf_gibbs.errors.UrdfWarning")
    if getattr(config.option, "numprocesses", None) and not config.option.collectonly and not hasattr(config, "workerinput"):
        # Once, before the workers of a parallel run start, which would all find the cache empty: the driver's machine code, and its module
        # where the sources have changed, which takes Numba a minute.
        from urdf_gibbs.engine.driver_code import driver

        driver().load()


def pytest_collection_finish(session: pytest.Session) -> None:
    """Thousands of tests and a dozen libraries never become garbage: looked through again and again, they would take half of the time
    of a test that makes many objects. What tests leave behind is still collected, in larger heaps."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(100_000, 20, 20)


def pytest_runtest_logfinish(nodeid: str) -> None:
    """What kernels and modules keep grows from test to test: it is put aside as well, now and then, or each search takes seconds at the end."""
    if next(FINISHED) % 100 == 99:
        gc.collect()
        gc.freeze()


def pytest_deselected(items: list[pytest.Item]) -> None:
    for item in items:
        if item.get_closest_marker("nightly"):
            item.config.stash[NIGHTLY] = item.config.stash.get(NIGHTLY, 0) + 1


def pytest_sessionfinish(session: pytest.Session) -> None:
    """A worker of a parallel run, which deselects for itself, tells the process that writes the summary."""
    if hasattr(session.config, "workeroutput"):
        session.config.workeroutput["nightly"] = session.config.stash.get(NIGHTLY, 0)


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any) -> None:
    node.config.stash[NIGHTLY] = getattr(node, "workeroutput", {}).get("nightly", 0)  # the same of all workers


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    if config.stash.get(NIGHTLY, 0):
        terminalreporter.write_line(
            f"{config.stash[NIGHTLY]} deselected: large robots and more random ones, which make nightly tests", yellow=True
        )


PULL = 1e-9  # of the weight, or of the largest force: what rounding leaves of a force that is zero


@pytest.fixture(autouse=True)
def no_contact_pulls(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of every run of every test the sign of every contact force is looked at."""
    from urdf_gibbs.simulation.simulator import Simulator

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
    with launched(path, "--webgl-antialiasing-mode=none") as started:  # smooth edges take a quarter of the time
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


@pytest.fixture(scope="session")
def lasting_tab(browser: Any) -> Iterator[Opened]:
    """A tab without a network that stays: a page in a new one costs twice as much, as Chromium starts a process for it."""
    context = browser.new_context(viewport={"width": WIDTH, "height": HEIGHT}, offline=True, color_scheme="light")
    yield watched(context.new_page())
    context.close()


@pytest.fixture
def open_page(lasting_tab: Opened) -> Iterator[Callable[[Path], Opened]]:
    """Opens a file without a network: the first one of a test in the tab that stays, further ones in tabs of their own."""
    lasting_tab.page.set_viewport_size({"width": WIDTH, "height": HEIGHT})
    lasting_tab.complaints.clear()
    lasting_tab.requests.clear()
    context, free = lasting_tab.page.context, [lasting_tab]

    def opened(path: Path) -> Opened:
        tab = free.pop() if free else watched(context.new_page())
        tab.page.goto(path.absolute().as_uri())
        tab.page.wait_for_function(READY)
        assert tab.run("document.body.dataset.state") == "ready", tab.complaints
        tab.settled()
        return tab

    yield opened
    for page in context.pages[1:]:
        page.close()
    lasting_tab.page.goto("about:blank")  # nothing is left that could draw or complain
