"""The pictures of the pages on scenarios, sweeps and the rover, into docs/pages/figures: python docs/scenario_figures.py (needs Chromium).

Every picture shows what scenarios, written here as files, do when they are run.
"""

from __future__ import annotations

import sys
import tempfile
import warnings
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
from figures import FOLDER
from PIL import Image, ImageDraw, ImageFont
from run_figures import OTHER, OURS, THIRD, plain, plt, save

import urdf_gibbs as ug
from urdf_gibbs.bundled import example_robots
from urdf_gibbs.contact.points import resolve_points
from urdf_gibbs.simulation.scenario import parse_scenario
from urdf_gibbs.view.branches import skeleton
from urdf_gibbs.view.motion import positions
from urdf_gibbs.view.sweep_page import sweep_page

sys.path.insert(0, str(Path(__file__).parents[1] / "validation"))
from chromium import MISSING, READY, chromium, launched

PANEL, SEEN, HIGH = 360, 640, 500  # px: of the page's panel, which is cut off, and of the rest
WIDE, TALL = 304, 238  # px: of each picture
BALL = 'duration = 2.0\n[robot]\nfile = "ball"\n[start]\nheight = 1.0\n[contacts]\npoints = ["ball"]\n'
LEGS = ("FL", "FR", "RL", "RR")
STANDING = "".join(f"{leg}_thigh_joint = 0.9\n{leg}_calf_joint = -1.8\n" for leg in LEGS)
FLOOR = '[[walls]]\nkind = "plane"\n'
WALLS = {
    "plane": "plane\nnormal = [0.3, 0, 1]",
    "circle": "circle\nradius = 0.9\naxis = [0, 1, 0]\ncentre = [0, 0, 0.4]",
    "cylinder": 'cylinder\nradius = 0.2\naxis = [0, 1, 0]\ncentre = [0, 0, -0.2]\nside = "outside"',
    "sphere": "sphere\nradius = 1.0\ncentre = [0, 0, 0.5]",
    "ellipsoid": 'ellipsoid\nsemi_axes = [0.8, 0.5, 0.2]\ncentre = [0, 0, -0.2]\nside = "outside"',
    "box": 'box\nsize = [0.8, 0.6, 0.2]\ncentre = [0, 0, -0.1]\nside = "outside"',
    "corridor": "corridor\nwidth = 0.9",
    "heightfield": "heightfield\nx = [-1, 1]\ny = [-1, 1]\nheights = [[0.0, -0.1, 0.0], [-0.1, -0.15, -0.05], [0.1, -0.1, 0.0]]",
    "terrain": "terrain\nseed = 4\nx = [-1.5, 1.5]\ny = [-1.5, 1.5]\nspacing = 0.05\nroughness = 0.02\nwavelengths = [0.3, 2.0]\n"
    "rocks = 60.0\n"
    "rock_sizes = [0.15, 0.4]\nlevel = [0.0, 0.0, 0.35]",
}


def scene(text: str) -> Any:
    return parse_scenario(text)


def run(text: str, **more: Any) -> Any:
    return ug.simulate(**{**scene(text).arguments(), **more})


# plots ------------------------------------------------------------------------------------------------


def bounces() -> None:
    """Restitution, friction, the two schemes and a wall that moves, each on the smallest robot that shows it."""
    fig, panels = plt.subplots(2, 2, figsize=(7.6, 5.0), layout="constrained")
    (first, second), (third, fourth) = panels
    times = np.linspace(0.0, 2.0, 800)
    for e, colour in ((1.0, OTHER), (0.8, OURS), (0.4, THIRD), (0.0, "black")):
        fall = run(f"restitution = {e}\n{BALL}{FLOOR}")
        first.plot(times, fall.at(times)[0][:, 0], color=colour, label=f"restitution = {e}")
    first.set(title="restitution", ylim=(-0.05, 1.55), xlabel="t [s]", ylabel="height [m]")
    for mu, colour in ((0.0, OTHER), (0.2, OURS), (0.5, THIRD)):
        slide = run(
            f'duration = 1.5\nfriction = {mu}\n[robot]\nfile = "block"\nbase = "planar"\n[start]\nroot_joint = [0, 0.05, 0]\n'
            "[start_velocity]\nroot_joint = [2, 0, 0]\n[contacts]\npoints = "
            '[{link = "block", position = [-0.1, -0.05, 0]}, {link = "block", position = [0.1, -0.05, 0]}]\n[[walls]]\nkind = "plane"\n'
            "normal = [0, 1, 0]\n".replace("duration", "gravity = [0, -9.81, 0]\nduration", 1)
        )
        second.plot(times[:600], slide.at(times[:600])[0][:, 0], color=colour, label=f"friction = {mu}")
    second.set(title="friction", xlabel="t [s]", ylabel="way of a sliding block [m]")
    exact = run(f"restitution = 0.5\n{BALL}{FLOOR}")
    third.plot(times, exact.at(times)[0][:, 0], color=OURS, label='scheme = "events"')
    steps = run(f'scheme = "time_stepping"\nstep = 0.02\nrestitution = 0.5\n{BALL}{FLOOR}')
    third.plot(steps.t, steps.q[:, 0], "o", ms=3, color=THIRD, label='"time_stepping", step = 0.02')
    third.set(title="scheme", xlabel="t [s]", ylabel="height [m]")
    moving = FLOOR + 'motion = {kind = "vibration", amplitude = [0, 0, 0.1], omega = 12.0}\n'
    table = run(f"restitution = 0.5\n{BALL}{moving}")
    fourth.plot(times, table.at(times)[0][:, 0], color=OURS, label="ball")
    fourth.plot(times, 0.1 * np.sin(12.0 * times), color="black", lw=1, label="the wall")
    fourth.set(title="motion of a wall", xlabel="t [s]", ylabel="height [m]")
    for axes in panels.flat:
        axes.legend(frameon=False, fontsize=8, ncols=2 if axes is first else 1)
        plain(axes)
    save(fig, "scenario_bounces")


def controllers() -> None:
    """The elbow of the gripper is to turn by half a radian, against gravity, by each kind of controller."""
    fig, axes = plt.subplots(figsize=(7.6, 2.9), layout="constrained")
    base = 'duration = 2.5\n[robot]\nfile = "cart_pole"\n[start]\npole = 0.4\n'
    robot = scene(base.replace("pole = 0.4", "")).robot
    names = [joint.name for joint in robot.joints]
    base = base.replace("pole = 0.4", f"{names[1]} = 0.4")
    for kind, gains, colour in (
        ("pd", "kp = 20.0\nkd = 2.0", OTHER),
        ("gravity_compensation", "kp = 20.0\nkd = 2.0", THIRD),
        ("computed_torque", "kp = 25.0\nkd = 10.0", OURS),
    ):
        pose = f"{names[1]} = 0.8"
        held = run(f'{base}[controller]\nkind = "{kind}"\n{gains}\npose = {{{pose}}}\n')
        axes.plot(held.t, np.degrees(held.q[:, 1]), color=colour, label=f'kind = "{kind}"')
    axes.axhline(np.degrees(0.8), color="black", lw=0.8, ls="--")
    axes.text(2.5, np.degrees(0.8) + 0.6, "pose", ha="right", fontsize=8)
    axes.set(xlabel="t [s]", ylabel="pole of the cart [deg]")
    axes.legend(frameon=False, fontsize=8, loc="lower right")
    plain(axes)
    save(fig, "scenario_controllers")


def soil() -> None:
    """The rover is set down on rigid ground, and on the two soils: how far its body sinks."""
    fig, axes = plt.subplots(figsize=(7.6, 2.7), layout="constrained")
    for kind, colour in (("", "black"), ("lunar", OURS), ('lunar"\nkphi = "2e5', THIRD)):
        text = 'duration = 1.0\ngravity = [0, 0, -1.62]\nscheme = "time_stepping"\nstep = 5e-3\nrestitution = 0.0\nfriction = 0.6\n'
        text += '[robot]\nfile = "rover"\nbase = "floating"\n[start]\nroot_joint = {position = [0, 0, 1.05]}\n'
        text += '[contacts]\npoints = "collision"\n'
        down = run(text + (f'[soil]\nkind = "{kind}"\n' if kind else "") + FLOOR)
        axes.plot(
            down.t,
            1e3 * (down.q[:, 2] - 1.05),
            color=colour,
            label=f'kind = "{kind}"'.replace("\n", ", ").replace('"2e5"', "2e5") if kind else "without [soil]",
        )
    axes.set(xlabel="t [s]", ylabel="height of the rover's body [mm]")
    axes.legend(frameon=False, fontsize=8)
    plain(axes)
    save(fig, "scenario_soil")


def wheels() -> None:
    """Sections of a wheel of 0.25 m radius and 0.2 m width, as the keys of [contacts] make it: what can touch is black."""
    fig, panels = plt.subplots(1, 5, figsize=(7.6, 1.9), layout="constrained", sharey=True)
    cases = (("as it is: 2 rims", 2, 0.0, 0.0), ("rims = 3", 3, 0.0, 0.0), ("rims = 5\ncrown = 0.03", 5, 0.03, 0.0))
    cases += (("tyres = 0.05", 2, 0.0, 0.05), ("tyres = 0.1", 1, 0.0, 0.1))
    for axes, (title, rims, crown, tube) in zip(panels, cases, strict=True):
        half, radius = 0.1 - tube, 0.25 - tube
        sides = np.linspace(-1.0, 1.0, rims) if rims > 1 else np.zeros(1)
        x, z = half * sides, -(radius - crown * sides**2)
        outline = np.linspace(-1.0, 1.0, 60)
        bottom = -(0.25 - crown * outline**2)
        for k, u in enumerate(outline * 0.1):
            if abs(u) > half and tube:
                bottom[k] = -(radius + np.sqrt(max(tube**2 - (abs(u) - half) ** 2, 0.0)))
        axes.fill_between(0.1 * outline, bottom, -0.1, color=OTHER, lw=0)
        for place, depth in zip(x, z, strict=True):
            axes.add_patch(plt.Circle((place, depth), max(tube, 0.006), color="black", fill=tube == 0.0, lw=1.4))
        axes.set(title=title, xlim=(-0.13, 0.13), ylim=(-0.27, -0.1), aspect="equal", xticks=[], yticks=[])
        axes.title.set_fontsize(8)
        for side in axes.spines.values():
            side.set_visible(False)
    save(fig, "scenario_wheels")


def points() -> None:
    """What can touch, of the same robot from the side: the three ways to say it."""
    fig, panels = plt.subplots(1, 3, figsize=(7.6, 2.0), layout="constrained", sharey=True)
    file = example_robots()["go2_description/urdf/go2.urdf"]
    feet = ", ".join(f'{{link = "{leg}_foot", radius = 0.04}}' for leg in LEGS)
    cases = (("without points: joint origins and tips", ""), ('points = "collision"', 'points = "collision"'))
    cases += (("points = [{link = ..., radius = 0.04}, ...]", f"points = [{feet}]"),)
    for axes, (title, given) in zip(panels, cases, strict=True):
        text = f'duration = 1.0\n[robot]\nfile = "{file}"\nbase = "floating"\n[start]\n{STANDING}[contacts]\n{given}\n'
        made = scene(text)
        lines = skeleton(made.robot, virtual=False)
        x = positions(made.robot, lines.places, made.q0)
        for edge in lines.edges:
            axes.plot(x[[edge.a, edge.b], 0], x[[edge.a, edge.b], 2], color=OTHER, lw=4, solid_capstyle="round", zorder=1)
        touching = resolve_points(made.robot, made.points)
        places = positions(made.robot, [(point.body, point.position) for point in touching], made.q0)
        for point, place in zip(touching, places, strict=True):
            axes.add_patch(
                plt.Circle((place[0], place[2]), point.radius or 0.006, color=OURS if point.radius else "black", alpha=0.7, lw=0)
            )
        axes.set(aspect="equal", xticks=[], yticks=[], xlim=(-0.38, 0.48), ylim=(-0.3, 0.16))
        axes.set_title(title, fontsize=8)
        for side in axes.spines.values():
            side.set_visible(False)
    save(fig, "scenario_points")


# pictures of pages --------------------------------------------------------------------------------------


def walls(browser: Any, folder: Path) -> None:
    """A quadruped dropped onto each kind of wall, where it is half a second later."""
    tiles = []
    for kind, text in WALLS.items():
        file = example_robots()["go2_description/urdf/go2.urdf"]
        own = f'duration = 0.9\nscheme = "time_stepping"\nrestitution = 0.0\nfriction = 0.8\n[robot]\nfile = "{file}"\nbase = "floating"\n'
        own += f"[start]\nroot_joint = {{position = [0, 0, 0.5]}}\n{STANDING}"
        own += '[controller]\nkind = "pd"\nkp = 60.0\nkd = 3.0\n[contacts]\njoint_limits = true\npoints = "collision"\n'
        head, *rest = text.split("\n")
        own += f'[[walls]]\nkind = "{head}"\n' + "\n".join(rest) + "\n"
        made = scene(own)
        fall = ug.simulate(**made.arguments())
        tiles.append(taken(browser, fall.robot.view(fall.q[-1], made.walls, theme="light"), folder / "page.html", kind, ()))
    grid(tiles, 3).save(FOLDER / "scenario_walls.png", optimize=True)


def starts(browser: Any, folder: Path) -> None:
    """[start] of the Panda: nothing said, joints named, and with a floating base."""
    tiles = []
    file = example_robots()["panda_description/urdf/panda.urdf"]
    bent = 'panda_joint2 = "30 deg"\npanda_joint4 = "-110 deg"\npanda_joint6 = "140 deg"\n'
    for title, base, given in (
        ("empty", "fixed", ""),
        ('panda_joint4 = "-110 deg", ...', "fixed", bent),
        ("root_joint = {..., rpy = [...]}", "floating", bent + 'root_joint = {position = [0, 0, 0.4], rpy = ["50 deg", 0, 0]}\n'),
    ):
        made = scene(f'duration = 1.0\n[robot]\nfile = "{file}"\nbase = "{base}"\n[start]\n{given}')
        tiles.append(taken(browser, made.robot.view(made.q0, ug.walls.Plane(), theme="light"), folder / "page.html", title, ()))
    grid(tiles, 3).save(FOLDER / "scenario_start.png", optimize=True)


def rover(browser: Any, folder: Path) -> None:
    """The bundled rover after its twelve seconds, with its tracks."""
    ug.simulate(**ug.read_scenario("rover").arguments()).animate(theme="light").save(folder / "page.html")
    tab = opened(browser, folder / "page.html", PANEL + 760, 620)
    tab.evaluate("(t) => urdfGibbs.motion.seek(t)", 12.0)
    pictured(tab).crop((0, 0, 760, 620)).quantize(160, dither=Image.Dither.NONE).save(FOLDER / "rover.png", optimize=True)


def sweep(browser: Any, folder: Path) -> None:
    """The page of the sweep on the page of sweeps."""
    over = {"restitution": "0.1:0.8:8", "start.height": "uniform(0.5, 2)"}
    lost = {"lost": "energy_start - energy_end"}
    sweep_page(ug.sweep("bouncing_ball", over=over, runs=400, seed=1, out=folder / "runs", quantities=lost)).save(folder / "page.html")
    tab = opened(browser, folder / "page.html", 1200, 800)
    for name, label in (("x", "start.height"), ("y", "rest"), ("colour", "restitution")):
        tab.select_option(f"#{name}", label=label)
    pictured(tab).resize((960, 640), Image.Resampling.LANCZOS).quantize(128, dither=Image.Dither.NONE).save(
        FOLDER / "sweep.png", optimize=True
    )


def opened(browser: Any, path: Path, width: int, height: int) -> Any:
    tab = browser.new_context(viewport={"width": width, "height": height}, offline=True).new_page()
    tab.goto(path.as_uri())
    tab.wait_for_function(READY)
    return tab


def pictured(tab: Any) -> Image.Image:
    tab.evaluate("() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
    return Image.open(BytesIO(tab.screenshot())).convert("RGB")


def taken(browser: Any, page: Any, path: Path, title: str, layers: tuple[str, ...]) -> Image.Image:
    """The page without its panel, with these layers, under a title."""
    page.save(path)
    tab = opened(browser, path, PANEL + SEEN, HIGH)
    for key in ("top_color", "bottom_color"):
        tab.evaluate("""(key) => urdfGibbs.stage.viewer.set_property(["Background"], key, [1, 1, 1])""", key)
    for layer in layers:
        tab.evaluate("(layer) => urdfGibbs.overlays.show(layer, true)", layer)
    image = pictured(tab).crop((0, 0, SEEN, HIGH)).resize((WIDE, TALL), Image.Resampling.LANCZOS)
    tab.context.close()
    draw = ImageDraw.Draw(image)
    font = ImageFont.load_default(13)
    draw.rectangle((0, 0, WIDE, 20), fill="white")
    draw.text((WIDE / 2, 4), title, fill="black", font=font, anchor="ma")
    return image


def grid(tiles: list[Image.Image], columns: int) -> Image.Image:
    rows = -(-len(tiles) // columns)
    whole = Image.new("RGB", (columns * WIDE, rows * TALL), "white")
    for k, tile in enumerate(tiles):
        whole.paste(tile, (k % columns * WIDE, k // columns * TALL))
    return whole.quantize(128, dither=Image.Dither.NONE)


def main() -> None:
    warnings.simplefilter("ignore")
    path = chromium()
    if path is None:
        sys.exit(MISSING)
    for make in (bounces, controllers, soil, wheels, points):
        make()
    with tempfile.TemporaryDirectory() as folder, launched(path) as browser:
        for show in (walls, starts, rover, sweep):
            show(browser, Path(folder))


if __name__ == "__main__":
    main()
