"""The case studies of Shafei 2017 as this program reads them, and what changes with the reading.

Prints the tables of docs/pages/formulations/elastic-cases.md.

    python validation/flexible_cases.py [--modes N] [--plot PATH]

One link falls flat on the ground (models/flexible_link.toml). Its impacts are listed for the modes of the paper, for the other
readings of it, and for 1 ... N modes of two families; the frequency is that of the free link, from M and K. --plot draws the
height of O1, elastic and rigid (the paper's Fig. 19).
"""

from __future__ import annotations

import argparse
import tempfile
import warnings
from pathlib import Path

import numpy as np
import own_tree  # noqa: F401
from numpy.typing import NDArray
from scipy.linalg import eigh

from urdf_gibbs import Robot, Trajectory, mass_matrix, simulate
from urdf_gibbs.bundled import model_path, scenario_path
from urdf_gibbs.simulation.scenario import parse_scenario

Array = NDArray[np.float64]

PAUSE = 0.1  # s: impacts farther apart belong to two bursts
BETA, SIGMA = 4.731, 1.017  # as the paper prints them


def run(name: str, beams: str = "", start: str = "", replaced: tuple[str, str] = ("", "")) -> tuple[Robot, Trajectory]:
    """A bundled scenario with entries added below [[flexible]] and [start], and with a piece of text replaced."""
    text = scenario_path(name).read_text(encoding="utf-8").replace("[start]", f"{beams}\n[start]\n{start}")
    text = text.replace(*replaced) if replaced[0] else text
    scenario = parse_scenario(text, str(scenario_path(name)))
    return scenario.robot, simulate(**scenario.arguments())


def beam(link: str, **values: object) -> str:
    """A [[flexible]] table."""
    written = {key: str(value).lower() if isinstance(value, bool) else repr(value) for key, value in values.items()}
    return "\n".join(["[[flexible]]", f"link = {link!r}", *(f"{key} = {value}" for key, value in written.items())])


def frequencies(robot: Robot) -> Array:
    """[rad/s] of the robot at rest and at zero, from M and the beams' stiffness; ascending, rigid motions left out."""
    K = np.zeros((robot.nv, robot.nv))
    for joint in robot.joints:
        if joint.beam is not None:
            own = slice(joint.iv, joint.iv + joint.nv)
            K[own, own] = joint.beam.stiffness
    squares: Array = eigh(K, mass_matrix(robot, robot.neutral()), eigvals_only=True)
    return np.sqrt(squares[robot.nv - sum(joint.nv for joint in robot.joints if joint.beam is not None) :])


def bursts(trajectory: Trajectory) -> list[list[float]]:
    """Times of the impacts, in groups."""
    groups: list[list[float]] = []
    for impact in trajectory.impacts:
        if not groups or impact.time - groups[-1][-1] > PAUSE:
            groups.append([])
        groups[-1].append(impact.time)
    return groups


def row(what: str, robot: Robot, trajectory: Trajectory) -> str:
    first, *later = bursts(trajectory)
    impulses = " ".join(f"{value:.5f}" for value in trajectory.impacts[0].impulses)
    times = " ".join(f"{time:.6f}" for time in first[:3]) + (" ..." if len(first) > 3 else "")
    second = f"{later[0][0]:.6f}" if later else "-"
    return f"| {what} | {frequencies(robot)[0]:.3f} | {impulses} | {len(first)} | {times} | {second} |"


HEADS = "| {} | frequency [rad/s] | first impulses, O1 O2 [N s] | impacts in the first burst | their times [s] | second burst at [s] |"


def printed_shape() -> tuple[str, Robot, Trajectory]:
    """Case study I with the paper's constants, whose shape does not vanish at the end; what it is there comes first."""
    eta = np.linspace(0.0, 1.0, 401)
    w = np.sin(BETA * eta) - SIGMA * np.cos(BETA * eta) - np.sinh(BETA * eta) + SIGMA * np.cosh(BETA * eta)
    slope = BETA * (np.cos(BETA * eta) + SIGMA * np.sin(BETA * eta) - np.cosh(BETA * eta) + SIGMA * np.sinh(BETA * eta))
    with tempfile.TemporaryDirectory() as folder:
        np.savetxt(Path(folder, "shape.txt"), np.column_stack([eta, w, slope]), "%.17g")
        text = model_path("flexible_link").read_text(encoding="utf-8")
        text = text.replace('modes="y=clamped-clamped:1"', 'modes="y=table:1" table="y=shape.txt"')
        Path(folder, "flexible_link.urdf").write_text(text, encoding="utf-8")
        scenario = parse_scenario(scenario_path("flexible_link").read_text(encoding="utf-8"), str(Path(folder, "flexible_link.toml")))
        what = f"the constants as printed: {w[-1]:.5f} at the end, slope {slope[-1]:.4f}, largest {w.max():.4f}"
        return what, scenario.robot, simulate(**scenario.arguments())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--modes", type=int, default=5, metavar="N")
    parser.add_argument("--plot", metavar="PATH")
    options = parser.parse_args()
    warnings.simplefilter("ignore")

    print("Readings of case study I\n")
    print(HEADS.format("reading"))
    print("|---|---|---|---|---|---|")
    print(row("as in models/flexible_link.toml", *run("flexible_link")))
    print(row("J' turns with the sections too", *run("flexible_link", beam("link1", elastic_rotary=True))))
    print(row("no J'", *run("flexible_link", beam("link1", J=[0, 0, 0]))))
    print(row("with foreshortening", *run("flexible_link", beam("link1", foreshortening=True))))
    print(row("O2 1e-8 m lower, ends one after the other", *run("flexible_link", start="q1 = -1e-8", replaced=("atol", "tie = 0.0\natol"))))
    print(row(*printed_shape()))

    for family in ("clamped-clamped", "clamped-free"):
        print(f"\n{family}\n")
        print(HEADS.format("modes"))
        print("|---|---|---|---|---|---|")
        for count in range(1, options.modes + 1):
            print(row(str(count), *run("flexible_link", beam("link1", modes=f"y={family}:{count}"))))

    print("\nFrequencies without J' [rad/s]: one free link, two hinged ones\n")
    print("| modes of each link | clamped-clamped | clamped-free | a hinged pair, clamped-free |")
    print("|---|---|---|---|")
    for count in range(1, options.modes + 1):
        cells = []
        for name, links, family in (
            ("flexible_link", 1, "clamped-clamped"),
            ("flexible_link", 1, "clamped-free"),
            ("flexible_two_links", 2, "clamped-free"),
        ):
            entries = [beam(f"link{i + 1}", J=[0, 0, 0], modes=f"y={family}:{count}") for i in range(links)]
            text = scenario_path(name).read_text(encoding="utf-8").replace("[start]", "\n".join([*entries, "[start]"]))
            cells.append(f"{frequencies(parse_scenario(text, str(scenario_path(name))).robot)[0]:.6f}")
        print(f"| {count} | {' | '.join(cells)} |")

    print("\nThe substitute for case study II\n")
    _, trajectory = run("flexible_two_links")
    for impact in trajectory.impacts:
        print(f"{impact.time:.8f} s  {impact.points[0]}  {impact.impulses[0]:.8f} N s")
    total = trajectory.energies.total
    print(f"energy {total[0]:.8f} J, largest change {np.ptp(total):.1e} J")

    if options.plot:
        draw(options.plot)


def draw(path: str) -> None:
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(figsize=(7.0, 3.5), layout="constrained")
    for name, label in (("rigid_link", "rigid"), ("flexible_link", "elastic")):
        t = np.linspace(0.0, 1.0, 4001)
        axes.plot(t, run(name)[1].at(t)[0][:, 1], label=label, linewidth=1.0)
    axes.set(xlabel="time [s]", ylabel="height of O1 [m]")
    axes.legend()
    figure.savefig(path)


if __name__ == "__main__":
    main()
