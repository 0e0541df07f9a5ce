"""Wang & Ju, Sect. 7.2, Figs. 7-9: the whole rover on rough ground. The paper does not give it; this is a stated substitute."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.colors import LightSource
from matplotlib.figure import Figure
from numpy.typing import NDArray

from urdf_gibbs.reproduce.claims import Animation, Gap, Grid, Picture, Progress, Section
from urdf_gibbs.reproduce.measure import bounded
from urdf_gibbs.reproduce.pictures import of_lines
from urdf_gibbs.reproduce.rover_runs import PLACES, SETTLED, Torques, direction_torques, matrices, rough_run, scenario
from urdf_gibbs.simulation.trajectory import Trajectory
from urdf_gibbs.view.themes import dress, legend, theme_named
from urdf_gibbs.walls import Terrain

Array = NDArray[np.float64]

SEEDS = range(1, 21)
DIRECTIONS = tuple(f"{place}D" for place in PLACES)
LEFT = slice(0, 3)  # the paper shows the left side
MISSING = "Body, differential, wheels, masses, speed, gravity, control law, ground and the scales of the axes are not given."
CHOSEN = (
    ("rear arms", "Table 3, lengths taken ten times (for which its inertias are right); wheels with m r²/2 about their axles"),
    ("body, rockers", "30 kg and 1.5 kg; a differential: the right rocker turns against the left one"),
    ("wheels", "radius 0.25 m, width 0.2 m, crowned by 10 mm: three rims each"),
    ("gravity, speed", "1.62 m/s², 0.5 m/s"),
    ("steering", "5°, 0°, -5° on the left as in the paper, Ackermann's angles on the right; computed torque at 200 Hz"),
    ("wheels' speeds", "Ackermann's, by a gain of 2 N m s/rad"),
    ("ground", "Coulomb's friction 0.6; roughness of 30 mm, craters and rocks from a seed; level about the start (5 m, 5 m)"),
    ("scheme", "time stepping, 5 ms"),
)


def section(progress: Progress) -> Section:
    """Figs. 7 to 9 on the substitute, and the torques on 20 terrains."""
    made = Section("WJ: the lunar rover (substitute)")
    progress("terrain 1")
    run = rough_run()
    torques = direction_torques(run)
    errors = matrices(run)
    fluctuations = []
    for seed in SEEDS:
        progress(f"terrain {seed} of {len(SEEDS)}")
        fluctuations.append(direction_torques(rough_run(seed)).fluctuation())
    made.gaps += [_whole(errors), _angles(torques), _torques(np.array(fluctuations))]
    made.grids += [Grid("What was chosen for the substitute", ("", "choice"), CHOSEN), _terrains(np.array(fluctuations))]
    made.pictures += [
        Picture("Fig. 7", "The way of the rover and of its left wheels on rough ground (substitute)", lambda theme: _fig_7(run, theme)),
        _over_time("Fig. 8", "Angles of the left direction joints (substitute)", "angle [°]", torques.t, np.degrees(torques.angle)),
        _over_time("Fig. 9", "Torques of the left direction joints (substitute)", "torque [N m]", torques.t, torques.torque),
    ]
    made.animations.append(Animation("rover", "The rover on rough ground", lambda: run.animate(title="Lunar rover").html()))
    return made


def _whole(errors: dict[str, float]) -> Gap:
    worst = max(errors.values())
    return Gap(
        "wj.rover",
        "Fig. 7",
        "The matrix of the whole rover serves its traction control on rough ground.",
        MISSING,
        f"substitute: `urdf-gibbs simulate rover`; along the run the explicit M and the compiled one are {bounded(worst)} from Pinocchio's",
    )


def _angles(torques: Torques) -> Gap:
    late = torques.t > SETTLED
    targets = np.radians([5.0, 0.0, -5.0])
    off = np.degrees(np.abs(torques.angle[late][:, LEFT] - targets).max())
    last = ", ".join(f"{angle:.2f}°" for angle in np.degrees(torques.angle[-1, LEFT]))
    return Gap(
        "wj.rover-angles",
        "Fig. 8",
        "The direction joints reach 5°, 0° and -5°.",
        MISSING,
        f"substitute: {last} in the end, never off by more than {off:.2f}° after {SETTLED:g} s on rough ground",
    )


def _torques(found: Array) -> Gap:
    """found: (seeds, 6) standard deviations."""
    sides = []
    for side, first in (("left", 0), ("right", 3)):
        front, middle, rear = found[:, first : first + 3].T
        both = int(((front > middle) & (front > rear)).sum())
        apart = f"more than the middle's {int((front > middle).sum())}, than the rear's {int((front > rear).sum())}"
        sides.append(f"{side} {both} times of {len(found)} ({apart})")
    return Gap(
        "wj.rover-torques",
        "Fig. 9",
        "The torques of the front direction joint fluctuate more than those of the middle and the rear ones.",
        MISSING,
        f"substitute, standard deviations after {SETTLED:g} s: the front's is the largest on the {', on the '.join(sides)}",
    )


def _terrains(found: Array) -> Grid:
    rows = [(str(seed), *(f"{value:.3f}" for value in row)) for seed, row in zip(SEEDS, found, strict=True)]
    rows.append(("mean", *(f"{value:.3f}" for value in found.mean(axis=0))))
    caption = f"Standard deviation of the direction torques after {SETTLED:g} s, on the terrains of 20 seeds [N m]"
    return Grid(caption, ("seed", *DIRECTIONS), rows)


def _over_time(place: str, caption: str, label: str, t: Array, values: Array) -> Picture:
    lines = [(name, t, values[:, k]) for k, name in enumerate(DIRECTIONS[LEFT])]
    return of_lines(place, caption, [("", "time [s]", label, lines)], width=8.0)


def _fig_7(run: Trajectory, theme: str) -> Figure:
    """The ground from above at an angle, lit by a low sun, with the ways of the body and of the left wheels."""
    from urdf_gibbs.view.motion import positions

    look = theme_named(theme)
    figure = Figure(figsize=(8.0, 5.2), layout="constrained", facecolor=look.background)
    FigureCanvasAgg(figure)
    axes: Any = figure.add_subplot(projection="3d", computed_zorder=False)
    (ground,) = scenario().walls
    assert isinstance(ground, Terrain)
    heights = ground.heights
    spans = np.array([ground.x, ground.y], dtype=float)
    x, y = (np.linspace(first, last, count) for (first, last), count in zip(spans, heights.shape, strict=True))
    X, Y = np.meshgrid(x, y, indexing="ij")
    shade = LightSource(225, 20).hillshade(heights.T, dx=x[1] - x[0], dy=y[1] - y[0]).T
    colours = np.repeat((0.25 + 0.65 * shade)[:, :, None], 3, axis=2)
    axes.plot_surface(X, Y, heights, facecolors=colours, rstride=1, cstride=1, shade=False, zorder=1)
    robot = run.robot
    bodies = {joint.child: body for body, joint in enumerate(robot.joints)}
    for number, place in enumerate(PLACES[LEFT]):
        way = positions(robot, [(bodies[f"{place.lower()}_wheel"], (0.0, 0.3, 0.0))], run.q[::10])[:, 0]
        axes.plot(way[:, 0], way[:, 1], way[:, 2] - 0.25, lw=1.2, zorder=3, label=f"{place}W", **look.line(number))
    body = run.q[::10, :3]
    axes.plot(*body.T, lw=2.0, zorder=3, color=look.text, label="body")
    axes.set(xlabel="x [m]", ylabel="y [m]", zlabel="z [m]", zlim=(-1.0, 2.0), box_aspect=(14.0, 14.0, 3.0))
    axes.view_init(elev=38.0, azim=-75.0)
    dress(axes, look)
    handles, labels = axes.get_legend_handles_labels()
    legend(axes, handles, labels, look, loc="upper left")
    return figure
