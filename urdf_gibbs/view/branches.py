"""A drawing of the branch decomposition in the manner of S18's Fig. 1: each branch in its colour, virtual links dashed."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from urdf_gibbs.functions import frame_placement
from urdf_gibbs.robot.model import Robot

# Okabe and Ito's palette: told apart by colour-blind readers, on white and on black.
PALETTE = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#F0E442", "#000000")


def draw(robot: Robot, q: NDArray[np.float64], path: str) -> None:
    """Write the drawing at configuration q to ``path``: in the plane where the robot lies in x-y, in space otherwise."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    origins = np.array([frame_placement(robot, q, joint.child)[:3, 3] for joint in robot.joints]).reshape(-1, 3)
    tips = _tips(robot, q)
    planar = not len(origins) or bool(np.ptp(np.vstack([origins, *tips.values()])[:, 2]) < 1e-9)
    figure = plt.figure(figsize=(7, 5), layout="constrained")
    axes = figure.add_subplot(projection=None if planar else "3d")
    offsets = np.linspace(-1.0, 1.0, max(len(robot.branches), 1))
    size = max(float(np.ptp(origins, axis=0).max()), 0.1) if len(origins) else 1.0
    for number, branch in enumerate(robot.branches):
        colour = PALETTE[number % len(PALETTE)]
        shift = 0.006 * size * offsets[number]  # keeps virtual links visible beside the real ones
        for i, body in enumerate(branch.bodies):
            ends = [origins[child] for child in branch.bodies[i + 1 : i + 2]] or tips[body]
            for end in ends:
                segment = np.stack([origins[body], end]) + shift
                axes.plot(
                    *segment.T[: 2 if planar else 3],
                    color=colour,
                    ls="--" if branch.virtual[i] else "-",
                    lw=1.2 if branch.virtual[i] else 3.0,
                )
        axes.plot([], [], color=colour, lw=3.0, label=f"branch {number + 1}: {branch.joint_names[-1]}")
    axes.plot(*origins.T[: 2 if planar else 3], "o", color="0.3", ms=4, ls="none", label="joints")
    axes.set_aspect("equal")
    axes.set(xlabel="x [m]", ylabel="y [m]", title=f"{robot.name}: {len(robot.branches)} branches (dashed: virtual links)")
    if not planar:
        axes.set_zlabel("z [m]")  # type: ignore[attr-defined]
    figure.legend(loc="outside right upper", fontsize=8)
    figure.savefig(path, dpi=150)
    plt.close(figure)


def _tips(robot: Robot, q: NDArray[np.float64]) -> dict[int, list[NDArray[np.float64]]]:
    """For each leaf body, the frames fixed to it (its tips), or its centre of mass where there are none."""
    leaves = set(robot.branches.leaves)
    tips: dict[int, list[NDArray[np.float64]]] = {leaf: [] for leaf in leaves}
    for link in robot.link_names:
        frame = robot.frame(link)
        if frame.body in leaves and link != robot.joints[frame.body].child:
            tips[frame.body].append(frame_placement(robot, q, link)[:3, 3])
    for leaf in leaves:
        if not tips[leaf]:
            placement = frame_placement(robot, q, robot.joints[leaf].child)
            tips[leaf].append(placement[:3, :3] @ robot.com[leaf] + placement[:3, 3])
    return tips
