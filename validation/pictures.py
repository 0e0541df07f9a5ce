"""Pictures of the pages in a real browser: six robots with what the page can show, the fall of S18's robot as an animation, a report.

python validation/pictures.py [FOLDER [NAME ...]]      (needs Chromium and example-robot-data; about two minutes for all of them)
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
SHOW = "(layers) => { for (const layer of layers) urdfGibbs.overlays.show(layer, true); }"
AWAY = """(times) => { const { camera, controls } = urdfGibbs.stage.viewer;
    camera.position.sub(controls.target).multiplyScalar(times).add(controls.target); controls.update(); }"""
# A gradient would take most of the 256 colours of a small file.
FLAT = "() => { document.getElementById('meshcat-pane').style.background = 'color-mix(in srgb, var(--sky) 60%, var(--haze))'; }"
SECONDS, RATE = 6.0, 15  # of the animation: a quarter of the real speed


def main(folder: Path, names: list[str]) -> None:
    path = chromium()
    if path is None:
        sys.exit(MISSING)
    folder.mkdir(parents=True, exist_ok=True)
    warnings.simplefilter("ignore", ug.UrdfWarning)
    makers = {"panda": panda, "view_go2": go2, "view_talos": talos, "view_icub": icub, "view_branched12": branched12, "view_rover": rover}
    makers |= {"view_branches": branches, "fall": fall, "report": report}
    with tempfile.TemporaryDirectory() as pages, launched(path) as browser:
        for name in names or list(makers):
            picture = makers[name](browser, Path(pages) / f"{name}.html", folder / f"{name}.png")
            print(f"{picture}: {picture.stat().st_size / 1e3:.0f} kB")


def posed(file: str, base: str = "fixed", **degrees: float) -> tuple[ug.Robot, Any]:
    """A robot of example-robot-data and a configuration; a joint turns with all whose names end so."""
    robot = ug.load(example_robots()[file], base)
    q = robot.neutral()
    for joint in robot.joints:
        for ending, angle in degrees.items():
            if joint.name.endswith(ending) and not joint.is_mimic:
                q[joint.iq] = np.radians(angle)
    return robot, q


def panda(browser: Any, page: Path, picture: Path) -> Path:
    """The meshes as glass; joint axes, centres of mass and branches inside."""
    robot, q = posed(
        "panda_description/urdf/panda.urdf", panda_joint1=25, panda_joint2=30, panda_joint4=-110, panda_joint6=140, panda_joint7=45
    )
    robot.view(q, theme="light").save(page)
    tab = _opened(browser, page, 1120, 680, SHOW, ["glass", "axes", "com", "branches"])
    tab.evaluate(AWAY, 1.1)
    return _picture(tab).save_as(picture)


def go2(browser: Any, page: Path, picture: Path) -> Path:
    """Standing, one link selected."""
    robot, q = posed("go2_description/urdf/go2.urdf", thigh_joint=48, calf_joint=-95)
    robot.view(q, theme="light").save(page)
    return _picture(_opened(browser, page, 1120, 680, "() => urdfGibbs.stage.light(['FR_calf'])")).save_as(picture)


def talos(browser: Any, page: Path, picture: Path) -> Path:
    """Names beside the robot, in the dark."""
    robot, q = posed("talos_data/robots/talos_reduced.urdf", left_2_joint=6, right_2_joint=-6, left_4_joint=30, right_4_joint=30)
    for joint, degrees in {
        "leg_left_3": -15,
        "leg_right_3": -15,
        "leg_left_5": -15,
        "leg_right_5": -15,
        "arm_left_2": 25,
        "arm_left_4": -80,
    }.items():
        q[robot.joint(f"{joint}_joint").iq] = np.radians(degrees)
    for joint, degrees in {"arm_right_2": -25, "arm_right_4": -40}.items():
        q[robot.joint(f"{joint}_joint").iq] = np.radians(degrees)
    robot.view(q, theme="dark").save(page)
    return _picture(_opened(browser, page, 1240, 760, SHOW, ["names"])).save_as(picture)


def icub(browser: Any, page: Path, picture: Path) -> Path:
    """Twice: the up axis of its COLLADA files ignored, as in RViz, and honoured."""
    robot, _ = posed("icub_description/robots/icub.urdf")
    halves = []
    for setting in ("ignore", "file"):
        robot.view(theme="light", up_axis=setting).save(page)
        tab = _opened(
            browser, page, PANEL + 560, 640, "() => urdfGibbs.stage.views.fit(new MeshCat.THREE.Vector3(-0.8, 0.5, 0.35).normalize())"
        )
        tab.evaluate("() => { document.getElementById('views').hidden = true; }")
        halves.append(_picture(tab).image.crop((0, 0, 560, 640)))
    both = Image.new("RGB", (1124, 640), (255, 255, 255))
    for x, half in zip((0, 564), halves, strict=True):
        both.paste(half, (x, 0))
    return _Shot(both).save_as(picture)


def branched12(browser: Any, page: Path, picture: Path) -> Path:
    """The fall of S18's robot at its second impact."""
    run = ug.simulate(**read_scenario("branched12").arguments())
    run.animate(theme="light").save(page)
    tab = _opened(browser, page, 1120, 680, "(t) => urdfGibbs.motion.seek(t)", run.impacts[1].time)
    return _picture(tab).save_as(picture)


def rover(browser: Any, page: Path, picture: Path) -> Path:
    """On its terrain, with the tracks of its wheels and the forces of the ground."""
    run = ug.simulate(**{**read_scenario("rover").arguments(), "duration": 4.0})
    run.animate(theme="light").save(page)
    close = """(t) => { urdfGibbs.motion.seek(t); urdfGibbs.overlays.show('trails', false); urdfGibbs.overlays.show('points', false);
        urdfGibbs.stage.views.fit(new MeshCat.THREE.Vector3(0.25, -0.8, 0.5).normalize()); }"""
    tab = _opened(browser, page, 1120, 680, close, 4.0)
    tab.evaluate(AWAY, 1.35)
    return _picture(tab).save_as(picture)


def branches(browser: Any, page: Path, picture: Path) -> Path:
    """More branches than colours: the fingers of Talos."""
    robot, q = posed("talos_data/robots/talos_full_v2.urdf")
    robot.view(q, theme="light").save(page)
    tab = _opened(browser, page, 1120, 680, SHOW, ["glass", "branches"])
    return _picture(tab).save_as(picture)


def fall(browser: Any, page: Path, picture: Path) -> Path:
    """S18's case study, slower than it is, standing still for a moment at each impact."""
    run = ug.simulate(**read_scenario("branched12").arguments())
    run.animate(theme="light", title="Branched robot in a circle (S18)").save(page)
    tab = _opened(browser, page, PANEL + WIDE, HIGH)
    tab.evaluate(
        "() => { document.getElementById('meshcat-pane').style.background = '#fff'; document.getElementById('views').hidden = true; }"
    )
    times = list(np.linspace(0.0, 1.5, round(SECONDS * RATE)))
    for impact in run.impacts:
        nearest = int(np.argmin(np.abs(np.array(times) - impact.time)))
        times[nearest : nearest + 1] = [impact.time] * 8
    frames = []
    for time in times:
        tab.evaluate("(t) => urdfGibbs.motion.seek(t)", float(time))
        frames.append(_picture(tab).image.crop((0, 0, WIDE, HIGH)))
    struck = frames[times.index(run.impacts[1].time)].quantize(96, method=Image.Quantize.MAXCOVERAGE, kmeans=4)  # has every colour there is
    frames = [frame.quantize(palette=struck, dither=Image.Dither.NONE) for frame in frames]
    path = picture.with_suffix(".gif")
    frames[0].save(path, save_all=True, append_images=frames[1:], duration=round(1000 / RATE), loop=0, optimize=True)
    return path


def report(browser: Any, page: Path, picture: Path) -> Path:
    """What ``urdf-gibbs validate --html`` writes."""
    from typer.testing import CliRunner

    from urdf_gibbs.cli import app

    file = example_robots()["go2_description/urdf/go2.urdf"]
    result = CliRunner().invoke(app, ["validate", str(file), "--base", "floating", "--html", str(page)])
    assert result.exit_code == 0, result.output
    return _picture(_opened(browser, page, 1440, 860)).save_as(picture)


class _Shot:
    def __init__(self, image: Image.Image) -> None:
        self.image = image

    def save_as(self, path: Path) -> Path:
        few = self.image.quantize(256, method=Image.Quantize.MAXCOVERAGE, kmeans=4, dither=Image.Dither.NONE)  # rare colours stay
        few.save(path, optimize=True)
        return path


def _picture(tab: Any) -> _Shot:
    tab.evaluate("() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
    return _Shot(Image.open(BytesIO(tab.screenshot())).convert("RGB"))


def _opened(browser: Any, page: Path, width: int, height: int, script: str = "", argument: Any = None) -> Any:
    tab = browser.new_context(viewport={"width": width, "height": height}, offline=True).new_page()
    tab.goto(page.as_uri())
    tab.wait_for_function(READY)
    assert tab.evaluate("document.body.dataset.state") == "ready", page
    tab.evaluate(FLAT)
    if script:
        tab.evaluate(script, argument)
    return tab


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else FIGURES, sys.argv[2:])
