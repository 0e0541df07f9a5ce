"""The README's pictures, taken of the pages in a real browser: the Panda with its overlays, and the fall of S18's robot as an animation.

python validation/pictures.py [FOLDER]      (needs Chromium and example-robot-data; about a minute)
"""

from __future__ import annotations

import sys
import tempfile
import warnings
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
import own_tree  # noqa: F401
from chromium import MISSING, READY, chromium, launched
from PIL import Image

import urdf_gibbs as ug
from urdf_gibbs.bundled import example_robots
from urdf_gibbs.simulation.scenario import read_scenario

FIGURES = Path(__file__).parents[1] / "docs" / "pages" / "figures"
PANEL, WIDE, HIGH = 360, 620, 640  # px: of the panel, which is cut off, and of the rest
SECONDS, RATE = 6.0, 15  # of the animation: a quarter of the real speed


def main(folder: Path) -> None:
    path = chromium()
    if path is None:
        sys.exit(MISSING)
    folder.mkdir(parents=True, exist_ok=True)
    warnings.simplefilter("ignore", ug.UrdfWarning)
    with tempfile.TemporaryDirectory() as pages, launched(path) as browser:
        for name, make in (("panda", panda), ("fall", fall), ("report", report)):
            print(make(browser, Path(pages) / f"{name}.html", folder))


def panda(browser: Any, page: Path, folder: Path) -> Path:
    """The meshes as glass; joint axes, centres of mass and branches inside."""
    robot = ug.load(example_robots()["panda_description/urdf/panda.urdf"])
    q = robot.neutral()
    for joint, degrees in {"panda_joint1": 25, "panda_joint2": 30, "panda_joint4": -110, "panda_joint6": 140, "panda_joint7": 45}.items():
        q[robot.joint(joint).iq] = np.radians(degrees)
    robot.view(q, theme="light").save(page)
    tab = _opened(browser, page, 1280, 760)
    tab.evaluate("""() => { for (const layer of ["glass", "axes", "com", "branches"]) urdfGibbs.overlays.show(layer, true); }""")
    return _picture(tab).save_as(folder / "panda.png")


def fall(browser: Any, page: Path, folder: Path) -> Path:
    """S18's case study, slower than it is, standing still for a moment at each impact."""
    run = ug.simulate(**read_scenario("branched12").arguments())
    run.animate(theme="light", title="Branched robot in a circle (S18)").save(page)
    tab = _opened(browser, page, PANEL + WIDE, HIGH)
    plain = """(key) => urdfGibbs.stage.viewer.set_property(["Background"], key, [1, 1, 1])"""  # a GIF makes bands of a gradient
    for key in ("top_color", "bottom_color"):
        tab.evaluate(plain, key)
    times = list(np.linspace(0.0, 1.5, round(SECONDS * RATE)))
    for impact in run.impacts:
        nearest = int(np.argmin(np.abs(np.array(times) - impact.time)))
        times[nearest : nearest + 1] = [impact.time] * 8
    frames = []
    for time in times:
        tab.evaluate("(t) => urdfGibbs.motion.seek(t)", float(time))
        frames.append(_picture(tab).image.crop((0, 0, WIDE, HIGH)))
    struck = frames[times.index(run.impacts[1].time)].quantize(64, method=Image.Quantize.MAXCOVERAGE)  # has every colour there is
    frames = [frame.quantize(palette=struck, dither=Image.Dither.NONE) for frame in frames]
    path = folder / "fall.gif"
    frames[0].save(path, save_all=True, append_images=frames[1:], duration=round(1000 / RATE), loop=0, optimize=True)
    return path


def report(browser: Any, page: Path, folder: Path) -> Path:
    """What ``urdf-gibbs validate --html`` writes."""
    from typer.testing import CliRunner

    from urdf_gibbs.cli import app

    file = example_robots()["go2_description/urdf/go2.urdf"]
    result = CliRunner().invoke(app, ["validate", str(file), "--base", "floating", "--html", str(page)])
    assert result.exit_code == 0, result.output
    return _picture(_opened(browser, page, 1440, 860)).save_as(folder / "report.png")


class _Shot:
    def __init__(self, image: Image.Image) -> None:
        self.image = image

    def save_as(self, path: Path) -> Path:
        self.image.quantize(256).save(path, optimize=True)
        return path


def _picture(tab: Any) -> _Shot:
    tab.evaluate("() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
    return _Shot(Image.open(BytesIO(tab.screenshot())).convert("RGB"))


def _opened(browser: Any, page: Path, width: int, height: int) -> Any:
    tab = browser.new_context(viewport={"width": width, "height": height}, offline=True).new_page()
    tab.goto(page.as_uri())
    tab.wait_for_function(READY)
    assert tab.evaluate("document.body.dataset.state") == "ready", page
    return tab


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else FIGURES)
