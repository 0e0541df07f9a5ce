"""How long pages take: the 12-DOF run as HTML, 2,000 frames of 30 links against meshcat's keyframes; opening these and robots' pages.

    python validation/bench_view.py

Times are medians of interleaved runs. meshcat's way stores a place and a quaternion for each link and frame, ours q alone: the page
has the kinematics.
"""

from __future__ import annotations

import tempfile
import time
from pathlib import Path

import numpy as np
import own_tree  # noqa: F401
from chromium import MISSING, READY, chromium, launched
from meshcat.animation import Animation
from meshcat.path import Path as ScenePath
from meshcat.visualizer import Visualizer

import urdf_gibbs as ug
from urdf_gibbs.bundled import example_robots
from urdf_gibbs.simulation.scenario import read_scenario
from urdf_gibbs.timing import interleaved
from urdf_gibbs.view.recording import frame_times, recording
from urdf_gibbs.view.scene import body_placements

FRAMES, LINKS, REPEATS = 2000, 30, 5
ROBOTS = ("panda_description/urdf/panda.urdf", "go2_description/urdf/go2.urdf", "talos_data/robots/talos_reduced.urdf")


def chain(links: int) -> ug.Robot:
    inertial = '<inertial><mass value="1"/><inertia ixx="0.01" iyy="0.01" izz="0.01" ixy="0" ixz="0" iyz="0"/></inertial>'
    link = '<link name="l{}">' + inertial + '<visual><geometry><box size="0.1 0.05 0.05"/></geometry></visual></link>'
    ends = '<parent link="l{0}"/><child link="l{1}"/><origin xyz="0.1 0 0"/><axis xyz="0 1 0"/>'
    joint = '<joint name="j{0}" type="continuous">' + ends + "</joint>"
    text = "".join(link.format(i) for i in range(links + 1)) + "".join(joint.format(i, i + 1) for i in range(links))
    return ug.load(f'<robot name="chain">{text}</robot>')


def waves(robot: ug.Robot, rows: int) -> ug.Trajectory:
    t = np.linspace(0.0, 10.0, rows)
    phase = t[:, None] + np.arange(robot.nv)
    return ug.Trajectory(robot, (0.0, 0.0, -9.81), t, np.sin(phase), np.cos(phase))


def keyframes(run: ug.Trajectory) -> None:
    """The same frames by meshcat's animation."""
    animation, window = Animation(), Visualizer.view_into(object(), ScenePath(("meshcat",)))
    placements = body_placements(run.robot, run.q)
    for k in range(len(run)):
        with animation.at_frame(window, k) as frame:
            for i in range(len(run.robot.joints)):
                frame[f"link {i}"].set_transform(placements[k, i])
    animation.lower()


def main() -> None:
    fall = ug.simulate(**read_scenario("branched12").arguments())
    run = waves(chain(LINKS), FRAMES)
    recording(run, frame_times(run, FRAMES))  # compiles the energies
    with tempfile.TemporaryDirectory() as folder:
        page, long = Path(folder) / "fall.html", Path(folder) / "long.html"
        actions = {"page": lambda: fall.animate().save(page), "record": lambda: recording(run, frame_times(run, FRAMES))}
        write, record, theirs = interleaved(actions | {"keyframes": lambda: keyframes(run)}, REPEATS, chunks=False).values()
        print(f"12-DOF run as HTML: {write:.3f} s, {page.stat().st_size / 1e6:.2f} MB")
        print(f"{FRAMES} frames of {LINKS} links recorded: {record:.3f} s")
        print(f"  by meshcat's keyframes: {theirs:.2f} s, {theirs / record:.0f} times ours")
        run.animate(frames=FRAMES).save(long)
        path = chromium()
        if path is None:
            print(MISSING)
            return
        with launched(path) as browser:
            files = {"12-DOF run": page, f"{FRAMES} frames of {LINKS} links": long}
            for robot in ROBOTS:
                start = time.perf_counter()
                files[robot] = ug.load(example_robots()[robot]).view().save(Path(folder) / f"{len(files)}.html")
                print(f"{robot} loaded and written: {time.perf_counter() - start:.2f} s")
            for name, file in files.items():
                tab = browser.new_page()
                start = time.perf_counter()
                tab.goto(file.as_uri())
                tab.wait_for_function(READY)
                seconds, size = time.perf_counter() - start, file.stat().st_size / 1e6
                print(f"{name} opened and drawn (software rendering): {seconds:.2f} s, {size:.2f} MB")


if __name__ == "__main__":
    main()
