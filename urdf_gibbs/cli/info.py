"""``urdf-gibbs info``: the tree, the joints and the branches of a robot, and a drawing of it."""

from __future__ import annotations

from typing import Annotated

import numpy as np
import typer
from numpy.typing import NDArray
from rich.markup import escape
from rich.table import Table
from rich.tree import Tree

from urdf_gibbs.cli.console import File, PackageDirs, XacroArgs, checked_base, load_or_exit, out, resolve
from urdf_gibbs.flexible.beam import Beam
from urdf_gibbs.robot.joints import Joint
from urdf_gibbs.robot.model import Robot

SHOWN = 200  # links and branches printed before the rest is only counted


def info(
    file: File,
    base: Annotated[str, typer.Option(help="fixed, floating or planar: what the root link may do.")] = "fixed",
    mimic: Annotated[bool, typer.Option("--mimic/--no-mimic", help="Mimic joints follow their master, or are free.")] = True,
    q: Annotated[str | None, typer.Option(help="Configuration to draw, nq numbers separated by blanks. Default: all zero.")] = None,
    plot: Annotated[str | None, typer.Option(metavar="PATH", help="Draw the robot with each branch in its colour (png, svg, pdf).")] = None,
    package_dir: PackageDirs = None,
    xacro_arg: XacroArgs = None,
) -> None:
    """Print the tree, the joints and the branches of a URDF."""
    robot = load_or_exit(resolve(file), checked_base(base), mimic)
    out.print(f"[bold]{escape(robot.name)}[/bold]  {escape(robot.file)}")
    out.print(
        f"{len(robot.links)} links, {len(robot.joints)} moving bodies, "
        f"nq {robot.nq}, nv {robot.nv}, mass {moving_mass(robot):.6g} kg moving, base {robot.base}"
    )
    print_tree(robot)
    print_joints(robot)
    print_beams(robot)
    print_branches(robot)
    warnings = [finding for finding in robot.findings if finding.severity == "warning"]
    if warnings:
        out.print(f"[yellow]{len(warnings)} warnings[/yellow]: urdf-gibbs check {escape(file)}")
    if plot:
        from urdf_gibbs.view.branches import draw

        draw(robot, configuration(robot, q), plot)
        out.print(f"drawn: {escape(plot)}")


def moving_mass(robot: Robot) -> float:
    """[kg] of rigid bodies and beams; a beam on the world moves as well, all but its root."""
    return float(robot.mass.sum()) + sum(joint.beam.mass for joint in robot.joints if joint.beam is not None)


def configuration(robot: Robot, text: str | None) -> NDArray[np.float64]:
    """q (nq,) of an option's text, the neutral one where there is none."""
    if text is None:
        return robot.neutral()
    try:
        numbers = np.array([float(x) for x in text.replace(",", " ").split()])
    except ValueError as problem:
        raise typer.BadParameter(str(problem), param_hint="--q") from None
    if len(numbers) != robot.nq:
        raise typer.BadParameter(f"{len(numbers)} numbers, expected {robot.nq}", param_hint="--q")
    return numbers


def print_tree(robot: Robot) -> None:
    """Links as a tree; a moving joint is named at its link, a merged link is dim."""
    moved_by = {joint.child: joint for joint in robot.joints}
    bodies = {link: robot.frame(link).body for link in robot.link_names[:SHOWN]}
    nodes: dict[int, Tree] = {-1: Tree("world" if robot.base == "fixed" else "[dim]world[/dim]")}
    for link, body in bodies.items():
        joint = moved_by.get(link)
        if joint is None:
            nodes[body].add(f"[dim]{escape(link)} (fixed)[/dim]")
        else:
            parent = robot.parent[body]
            nodes[body] = nodes[parent].add(f"{escape(link)} [cyan]<- {escape(joint.name)}[/cyan] ({joint.type})")
    out.print(nodes[-1])
    if len(robot.links) > SHOWN:
        out.print(f"... {len(robot.links) - SHOWN} more links")


def print_joints(robot: Robot) -> None:
    table = Table(title="joints, in the order of the coordinates", title_justify="left")
    for column in ("joint", "type", "q", "v", "axis", "lower", "upper", "damping", "friction", "follows"):
        table.add_column(column, justify="left" if column in ("joint", "type", "axis", "follows") else "right")
    for joint in robot.joints[:SHOWN]:
        table.add_row(*_row(joint))
    out.print(table)


def print_beams(robot: Robot) -> None:
    """Elastic links: their size, their coordinates, and how fast each one held at its root swings with nothing at its tip."""
    beams = [joint.beam for joint in robot.joints if joint.beam is not None]
    if not beams:
        return
    table = Table(title="elastic links", title_justify="left")
    for column in ("link", "length [m]", "mass [kg]", "coordinates", "frequencies, root held [rad/s]"):
        table.add_column(column, justify="right" if column in ("length [m]", "mass [kg]") else "left")
    for beam in beams[:SHOWN]:
        frequencies = " ".join(f"{omega:.6g}" for omega in held_frequencies(beam))
        table.add_row(escape(beam.link), f"{beam.length:.6g}", f"{beam.mass:.6g}", " ".join(beam.names), frequencies)
    out.print(table)


def held_frequencies(beam: Beam) -> NDArray[np.float64]:
    """[rad/s], ascending, of a beam by itself with its root at rest; empty where a coordinate meets no inertia of the beam."""
    M = np.trace(beam.G, axis1=2, axis2=3)[: beam.m, : beam.m] + beam.spins
    size = np.sqrt(np.diag(M))
    if not (size > 0.0).all():
        return np.empty(0)
    scale = np.outer(size, size)  # directions differ by many orders of magnitude
    try:
        C = np.linalg.cholesky(M / scale)
    except np.linalg.LinAlgError:
        return np.empty(0)
    A = np.linalg.solve(C, np.linalg.solve(C, beam.stiffness / scale).T)
    frequencies: NDArray[np.float64] = np.sqrt(np.maximum(np.linalg.eigvalsh(0.5 * (A + A.T)), 0.0))
    return frequencies


def _row(joint: Joint) -> list[str]:
    def span(start: int, count: int) -> str:
        return str(start) if count == 1 else f"{start}-{start + count - 1}"

    follows = f"{joint.ratio:g} * {joint.master} + {joint.offset:g}" if joint.is_mimic else ""
    axis = "" if joint.type in ("floating", "elastic") else " ".join(f"{x:.4g}" for x in joint.axis)
    numbers = [f"{x:.4g}" for x in (joint.lower, joint.upper, joint.damping, joint.friction)]
    return [escape(joint.name), joint.type, span(joint.iq, joint.nq), span(joint.iv, joint.nv), axis, *numbers, escape(follows)]


def print_branches(robot: Robot) -> None:
    """Each branch from root to leaf; virtual (massless) links in parentheses."""
    out.print(
        f"[bold]{len(robot.branches)} {'branch' if len(robot.branches) == 1 else 'branches'}[/bold] "
        "(joints from root to leaf; a link in parentheses is virtual: an earlier branch carries its mass)"
    )
    for number in range(min(len(robot.branches), SHOWN)):
        out.print(f"  {number + 1}: {escape(str(robot.branches[number]))}")
    if len(robot.branches) > SHOWN:
        out.print(f"  ... {len(robot.branches) - SHOWN} more")
