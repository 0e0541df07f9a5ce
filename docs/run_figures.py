"""The pictures of the pages that come from computations: python docs/run_figures.py writes docs/pages/figures/*.png, in half a minute."""

from __future__ import annotations

import contextlib
import json
import os
import re
import subprocess
import sys
import tempfile
import warnings
from pathlib import Path
from typing import Any

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
from figures import FOLDER
from PIL import Image

import urdf_gibbs as ug
from urdf_gibbs.bundled import example_robots

OURS, OTHER, THIRD = "#0b6e99", "#b0bec5", "#e07b00"
PAGES = Path(__file__).parent / "pages"


def save(fig: Any, name: str) -> None:
    path = FOLDER / f"{name}.png"
    fig.savefig(path, dpi=110)
    plt.close(fig)
    shrink(path)


def shrink(path: Path) -> None:
    """Few colours: a plot of lines takes a third of the bytes."""
    with Image.open(path) as picture:
        picture.convert("RGB").quantize(96, dither=Image.Dither.NONE).save(path, optimize=True)


def plain(axes: Any) -> None:
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)


def speed() -> None:
    """Pinocchio's time over ours, from the first table of the page on speed."""
    rows = re.findall(
        r"^\| (one call of a kernel.*?M|bias|forward dynamics) \|(.*)\|$", (PAGES / "speed.md").read_text(encoding="utf-8"), re.M
    )
    quantities = ("M", "bias", "forward dynamics")
    ratios = np.array([[float(cell.split(",")[1].strip(" ×")) for cell in cells.split("|")] for _, cells in rows[:3]])
    fig, axes = plt.subplots(figsize=(7.2, 2.9), layout="constrained")
    for number, (name, colour) in enumerate(zip(("Panda", "Go2", "Talos"), (OURS, THIRD, "#6a8f3c"), strict=True)):
        bars = axes.bar(np.arange(3) + 0.26 * (number - 1), ratios[:, number], 0.24, color=colour, label=name)
        axes.bar_label(bars, fmt="%.1f", fontsize=8)
    axes.axhline(1.0, color="black", lw=1)
    axes.text(2.45, 1.05, "Pinocchio: 1", ha="left", va="bottom", fontsize=8)
    axes.set_xlim(-0.5, 2.9)
    axes.set(xticks=range(3), xticklabels=quantities, ylabel="times as fast", title="One call from Python, compared with Pinocchio")
    axes.legend(frameon=False, ncols=3, loc="upper left")
    plain(axes)
    save(fig, "speed")


def conventions() -> None:
    """Where the numbers of q and v stand: a quadruped with a free base."""
    fig, axes = plt.subplots(figsize=(7.2, 2.1), layout="constrained")
    fields = [("x y z", 3, OURS), ("qx qy qz qw", 4, THIRD), ("joints, depth first", 6, "#6a8f3c")]
    speeds = [("linear", 3, OURS), ("angular", 3, THIRD), ("joints, depth first", 6, "#6a8f3c")]
    for height, name, parts in ((1.0, "q", fields), (0.0, "v", speeds)):
        left = 0.0
        axes.text(-0.4, height + 0.3, name, ha="right", va="center", fontsize=14, style="italic")
        for label, count, colour in parts:
            for cell in range(count):
                axes.add_patch(plt.Rectangle((left + cell, height), 1, 0.6, fc=colour, alpha=0.25, ec=colour))
            axes.text(left + count / 2, height + 0.3, label, ha="center", va="center", fontsize=10)
            left += count
    axes.text(13.3, 0.8, "a floating base:\nq in world axes,\nv in the base's own axes", va="center", fontsize=9)
    axes.set(xlim=(-1, 18), ylim=(-0.2, 1.8))
    axes.axis("off")
    save(fig, "coordinates")


def sparsity() -> None:
    """Derivatives of the inverse dynamics of Talos: what is zero because of the branches."""
    robot = ug.load(example_robots()["talos_data/robots/talos_reduced.urdf"], base="floating")
    q, rng = robot.random(0), np.random.default_rng(0)
    slopes = ug.inverse_dynamics_derivatives(robot, q, rng.normal(size=robot.nv), rng.normal(size=robot.nv))
    fig, panels = plt.subplots(1, 3, figsize=(7.6, 2.8), layout="constrained")
    for axes, matrix, name in zip(panels, (slopes.q, slopes.v, slopes.a), ("by q", "by v", "by the acceleration: M"), strict=True):
        size = np.where(matrix == 0.0, np.nan, np.log10(np.abs(matrix) + 1e-300))
        shown = axes.imshow(size, cmap="viridis", vmin=-4, vmax=3)
        axes.set(title=name, xticks=[], yticks=[])
        axes.title.set_fontsize(10)
    fig.colorbar(shown, ax=panels, label="log10 of the entry", shrink=0.8)
    save(fig, "derivatives")


def sensitivity() -> None:
    """A ball that bounces twice: what its height and speed owe to the start and to the restitution, with the jumps at impacts."""
    ball, floor = ug.load(ug.model_path("ball")), ug.walls.Plane(normal=(0, 0, 1), point=(0, 0, 0))
    run = ug.simulate(ball, [1.0], [0.3], 1.2, walls=floor, points=[("ball", (0, 0, 0), 0.05)], restitution=0.8)
    run.sensitivity(("start", "restitution", "torque")).plot(FOLDER / "sensitivity.png")
    shrink(FOLDER / "sensitivity.png")


def run_blocks(page: str, until: str) -> Any:
    """What ``until`` names after the blocks of a page have run, as far as it takes."""
    blocks = re.findall(r"^```python\n(.*?)^```$", (PAGES / page).read_text(encoding="utf-8"), re.S | re.M)
    names: dict[str, Any] = {}
    with (
        tempfile.TemporaryDirectory() as folder,
        contextlib.chdir(folder),
        open(os.devnull, "w") as nowhere,
        contextlib.redirect_stdout(nowhere),
    ):
        for block in blocks:
            exec(compile(block, page, "exec"), names)
            if until in names:
                break
    return names[until]


def identified() -> None:
    """The arm of the page on identification, from measurements with noise."""
    run_blocks("identification.md", "result").plot(FOLDER / "identified.png")
    shrink(FOLDER / "identified.png")


def many() -> None:
    """1,000 balls dropped from 1 m: when they rest, beside the closed form."""
    robot = ug.load(ug.model_path("ball"))
    falls = ug.Simulator(robot, walls=ug.walls.Plane(), points=[("ball", (0, 0, 0), 0.05)])
    e = np.linspace(0.0, 0.9, 1000)
    found = ug.Many(falls, vary=("restitution",)).run(ug.Runs(q=np.full((1000, 1), 1.05), duration=20.0, restitution=e), threads=2)
    fig, axes = plt.subplots(figsize=(7.2, 2.8), layout="constrained")
    axes.plot(e, np.sqrt(2 / 9.81) * (1 + e) / (1 - e), color="black", lw=1, label="√(2h/g) (1 + e)/(1 − e)")
    axes.plot(e[::25], np.asarray(found.rest)[::25], "o", ms=5, color=OURS, label="computed, every 25th of 1,000 runs")
    axes.set(xlabel="restitution e", ylabel="at rest after [s]")
    axes.legend(frameon=False)
    plain(axes)
    save(fig, "many_runs")


def operations() -> None:
    """Multiplications and additions for M and the bias of the Panda, after equal folding, as `urdf-gibbs operations` counts them."""
    panda = example_robots()["panda_description/urdf/panda.urdf"]
    command = [sys.executable, "-m", "urdf_gibbs", "operations", str(panda), "--json", "-"]
    counted = json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)[0]["operations"]
    fig, panels = plt.subplots(1, 2, figsize=(7.6, 2.9), layout="constrained")
    for axes, quantity, title in zip(panels, ("mass_matrix", "bias"), ("M", "bias"), strict=True):
        rows = [row for row in counted if row["quantity"] == quantity]
        bars = axes.barh(
            [row["formulation"] for row in rows], [row["total"] for row in rows], color=[OURS, THIRD, *[OTHER] * len(rows)][: len(rows)]
        )
        axes.bar_label(bars, fontsize=8, padding=2)
        axes.invert_yaxis()
        axes.set(title=f"operations for {title}, Panda", xlim=(0, 1.18 * max(row["total"] for row in rows)), xticks=[])
        axes.tick_params(axis="y", labelsize=8, length=0)
        plain(axes)
    save(fig, "operations")


def elastic_fall() -> None:
    """S17's elastic link on the ground, and the rigid one beside it: two bursts of three impacts in the place of two impacts."""
    fig, panels = plt.subplots(1, 2, figsize=(7.6, 2.8), layout="constrained", sharey=True)
    for axes, name, colour in zip(panels, ("flexible_link", "rigid_link"), (OURS, THIRD), strict=True):
        run = ug.simulate(**{**ug.read_scenario(name).arguments(), "max_step": 5e-3})
        energies = run.energies
        axes.plot(run.t, energies.kinetic, color=colour, label="kinetic")
        axes.plot(run.t, energies.potential, color="black", lw=1, label="potential" + (" and strain" if name[0] == "f" else ""))
        for impact in run.impacts:
            axes.axvline(impact.time, color=OTHER, lw=0.8, zorder=0)
        axes.set(xlabel="t [s]", title=f"{name}: {len(run.impacts)} impacts")
        axes.set_ylim(-0.2, 6.2)
        axes.legend(loc="upper center", ncols=2, frameon=False, fontsize=8)
        plain(axes)
    panels[0].set_ylabel("energy [J]")
    save(fig, "elastic_fall")


def tutorial() -> None:
    """The arm of the tutorial, thrown between its walls."""
    run_blocks("tutorial.md", "fall").plot(FOLDER / "tutorial.png", kinds="coordinates")
    shrink(FOLDER / "tutorial.png")


if __name__ == "__main__":
    warnings.simplefilter("ignore", ug.UrdfWarning)
    for draw in (speed, conventions, sparsity, sensitivity, identified, many, operations, elastic_fall, tutorial):
        draw()
