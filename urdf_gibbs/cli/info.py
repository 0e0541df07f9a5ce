"""``urdf-gibbs info``: the tree, the joints and the branches of a robot as plain text, alike in a pipe and a terminal, and a drawing."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer
from numpy.typing import NDArray

from urdf_gibbs.cli.columns import table, wrapped
from urdf_gibbs.cli.console import File, Json, PackageDirs, XacroArgs, checked_base, checked_output, load_or_exit, out, resolve, write_json
from urdf_gibbs.flexible.beam import Beam
from urdf_gibbs.robot.joints import Joint
from urdf_gibbs.robot.model import Robot
from urdf_gibbs.robot.urdf import UrdfJoint

PICTURES = (".png", ".svg", ".pdf")
SHOWN = 200  # links, joints and branches printed before the rest is only counted
DEEPEST = 20  # levels that the tree is indented; the depth is a number behind
ROUND_OFF = 1e-12
WHOLE = 4  # virtual links of a branch that are all printed


def info(
    file: File,
    base: Annotated[str, typer.Option(help="fixed, floating or planar: what the root link may do.")] = "fixed",
    mimic: Annotated[bool, typer.Option("--mimic/--no-mimic", help="Mimic joints follow their master, or are free.")] = True,
    q: Annotated[
        str | None, typer.Option(help="Configuration to draw, nq numbers separated by blanks. Default: one that shows all links.")
    ] = None,
    plot: Annotated[str | None, typer.Option(metavar="PATH", help="Draw the robot with each branch in its colour (png, svg, pdf).")] = None,
    json: Json = None,
    package_dir: PackageDirs = None,
    xacro_arg: XacroArgs = None,
) -> None:
    """Print the tree, the joints and the branches of a URDF.

    Exit code 0: done; 2: the file cannot be loaded.
    """
    checked_output(plot, "--plot")
    checked_output(None if json == "-" else json, "--json")
    if plot is not None and Path(plot).suffix.lower() not in PICTURES:
        raise typer.BadParameter(f"{plot!r} has none of the suffixes {', '.join(PICTURES)}", param_hint="--plot")
    robot = load_or_exit(resolve(file), checked_base(base), mimic)
    if json != "-":
        print_robot(robot, file)
    if plot:
        from urdf_gibbs.view.branches import draw

        draw(robot, None if q is None else configuration(robot, q), plot)
        if json != "-":
            out.print(f"drawn: {plot}", markup=False)
    if json:
        write_json(json, described(robot))


def print_robot(robot: Robot, file: str) -> None:
    """All of it, in sections."""
    fixed = sum(joint.type == "fixed" for joint in robot._urdf_joints)
    print_lines([robot.name, robot.file], "bold")
    numbers = (
        (len(robot.links), "link", "links"),
        (len(robot.joints), "moving body", "moving bodies"),
        (fixed, "fixed joint", "fixed joints"),
    )
    counts = [f"{count} {one if count == 1 else many}" for count, one, many in numbers] + [f"nq {robot.nq}", f"nv {robot.nv}"]
    masses = [f"{moving_mass(robot):.6g} kg that moves", f"{robot.base_inertia.mass:.6g} kg fixed to the world", f"base {robot.base}"]
    print_lines([", ".join(counts), ", ".join(masses)])
    sections = (
        ("links, as in the file", tree_lines(robot)),
        ("fixed joints: merged into the link that carries them", merged_lines(robot)),
        ("joints, in the order of the coordinates (m, rad, s, N, N m)", joint_lines(robot)),
        ("elastic links", beam_lines(robot)),
    )
    for title, lines in sections:
        if lines:
            print_lines(["", title], "bold")
            print_lines(lines)
    out.print()
    print_branches(robot)
    warnings = sum(finding.severity == "warning" for finding in robot.findings)
    if warnings:
        out.print(f"{warnings} {'warning' if warnings == 1 else 'warnings'}: urdf-gibbs check {file}", markup=False, style="yellow")


def print_lines(lines: list[str], style: str = "") -> None:
    """As they are: what looks like markup is a name."""
    for line in lines:
        out.print(line, markup=False, style=style)


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


# links ------------------------------------------------------------------------------------------------


def tree_lines(robot: Robot) -> list[str]:
    """Each link below its parent, with its mass and the joint that holds it."""
    masses = {link.name: 0.0 if link.inertial is None else link.inertial.mass for link in robot.links}
    lines: list[str] = []
    for link, joint, marks, below in _walk(robot):
        facts = [f"{masses[link]:.6g} kg"] if masses.get(link) else []
        if joint is not None:
            facts.append(f"{joint.name} ({joint.type})")
        line = f"{marks}{link}  {', '.join(facts)}".rstrip()
        if len(line) > out.width and facts:
            words = ", ".join(facts)
            room = max(0, min(len(marks) + 2, out.width - len(words)))
            lines += [f"{marks}{link}", f"{below:{room}}"[:room] + words]
        else:
            lines.append(line)
    if len(robot.links) > SHOWN:
        lines.append(f"... {len(robot.links) - SHOWN} more links (all of them: --json)")
    return lines


def _walk(robot: Robot) -> Iterator[tuple[str, UrdfJoint | None, str, str]]:
    """The first links in the order of the file, depth first: name, joint above, the marks of the tree, and those of a second line."""
    below: dict[str, list[UrdfJoint]] = {}
    for joint in robot._urdf_joints:
        below.setdefault(joint.parent, []).append(joint)
    stack: list[tuple[str, UrdfJoint | None, str, str, int]] = [(robot.root_link, None, "", "", 0)]
    for _ in range(min(len(robot.links), SHOWN)):
        if not stack:
            return
        link, held, mark, indent, depth = stack.pop()
        joints = below.get(link, [])
        yield link, held, mark if depth <= DEEPEST else f"{mark}[{depth}] ", indent + ("│ " if joints and depth < DEEPEST else "")
        for k, joint in reversed(list(enumerate(joints))):
            last = k == len(joints) - 1
            deeper = depth >= DEEPEST
            next_mark = mark if deeper else indent + ("└ " if last else "├ ")
            stack.append((joint.child, joint, next_mark, indent if deeper else indent + ("  " if last else "│ "), depth + 1))


def merged_lines(robot: Robot) -> list[str]:
    """Under each link that moves, or the world, the links that are fixed to it."""
    carriers = {-1: "the world"} | {body: joint.child for body, joint in enumerate(robot.joints)}
    merged: dict[str, list[str]] = {}
    for link in robot.link_names:
        body = robot.frame(link).body
        if link != carriers[body]:
            merged.setdefault(carriers[body], []).append(link)
    lines = []
    for carrier, links in list(merged.items())[:SHOWN]:
        listed = [f"{link}," for link in links[:-1]] + links[-1:]
        line = f"merged into {carrier}: {' '.join(listed)}"
        lines += [line] if len(line) <= out.width else [f"merged into {carrier}:", *wrapped(listed, "  ", out.width)]
    return lines


# joints -----------------------------------------------------------------------------------------------


HEADERS = ("joint", "type", "q", "v", "axis", "lower", "upper", "velocity", "effort", "damping", "friction", "follows")
NUMBERS = ("q", "v", "lower", "upper", "velocity", "effort", "damping", "friction")


def joint_lines(robot: Robot) -> list[str]:
    """The moving joints with what limits them; what has no limit is blank, and so is damping and friction where no joint has any."""
    joints = robot.joints[:SHOWN]
    damped, rubbing = any(joint.damping for joint in joints), any(joint.friction for joint in joints)
    rows = []
    for joint in joints:
        finite = [f"{x:.6g}" if np.isfinite(x) else "" for x in (joint.lower, joint.upper, joint.velocity, joint.effort)]
        losses = [f"{joint.damping:g}" if damped else "", f"{joint.friction:g}" if rubbing else ""]
        spans = [_span(joint.iq, joint.nq), _span(joint.iv, joint.nv)]
        rows.append([joint.name, joint.type, *spans, _axis(joint), *finite, *losses, _rule(joint)])
    headers, numbers = list(HEADERS), list(NUMBERS)
    if all(row[2] == row[3] for row in rows):
        headers[2], numbers[0] = "q, v", "q, v"
        rows = [[*row[:3], "", *row[4:]] for row in rows]
    lines = table(headers, rows, numbers, out.width)
    return lines + ([f"... {len(robot.joints) - SHOWN} more joints (all of them: --json)"] if len(robot.joints) > SHOWN else [])


def _span(start: int, count: int) -> str:
    return str(start) if count == 1 else f"{start}-{start + count - 1}"


def _axis(joint: Joint) -> str:
    """Of a unit vector what is round-off is zero."""
    return "" if joint.type in ("floating", "elastic") else " ".join(f"{x if abs(x) > ROUND_OFF else 0.0:.6g}" for x in joint.axis)


def _rule(joint: Joint) -> str:
    if not joint.is_mimic:
        return ""
    factor = "" if joint.ratio == 1.0 else f"{joint.ratio:g} * "
    offset = f" {'+' if joint.offset > 0.0 else '-'} {abs(joint.offset):g}" if joint.offset else ""
    return f"{factor}{joint.master}{offset}"


def beam_lines(robot: Robot) -> list[str]:
    """Elastic links: their size, their coordinates, and how fast each one held at its root swings with nothing at its tip."""
    beams = [joint.beam for joint in robot.joints if joint.beam is not None]
    rows = []
    for beam in beams[:SHOWN]:
        frequencies = " ".join(f"{omega:.6g}" for omega in held_frequencies(beam))
        rows.append([beam.link, f"{beam.length:.6g}", f"{beam.mass:.6g}", " ".join(beam.names), frequencies])
    headers = ("link", "length [m]", "mass [kg]", "coordinates", "frequencies, root held [rad/s]")
    return table(headers, rows, headers[1:3], out.width)


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


# branches ---------------------------------------------------------------------------------------------


def print_branches(robot: Robot) -> None:
    """Each branch from root to leaf; virtual (massless) links in parentheses."""
    count = len(robot.branches)
    print_lines([f"{count} {'branch' if count == 1 else 'branches'}, joints from root to leaf"], "bold")
    if count > 1:
        print_lines(["(a joint in parentheses moves what an earlier branch carries)"])
    for number in range(min(count, SHOWN)):
        branch = robot.branches[number]
        words = str(branch).split(" ") if " " not in "".join(branch.joint_names) else [str(branch)]
        if branch.first_real > WHOLE and len(words) == len(branch):
            words = [words[0], "...", *words[branch.first_real - 1 :]]
        print_lines(wrapped(words, f"  {number + 1}: ", out.width))
    if count > SHOWN:
        print_lines([f"  ... {count - SHOWN} more"])


# json -------------------------------------------------------------------------------------------------


def described(robot: Robot) -> dict[str, Any]:
    """Everything as plain values; a limit that there is none of is None."""
    carriers = {-1: None} | {body: joint.child for body, joint in enumerate(robot.joints)}
    return {
        "name": robot.name,
        "file": robot.file,
        "base": robot.base,
        "nq": robot.nq,
        "nv": robot.nv,
        "moving_mass": moving_mass(robot),
        "fixed_mass": robot.base_inertia.mass,
        "root_link": robot.root_link,
        "links": [
            {
                "name": link.name,
                "line": link.line,
                "mass": 0.0 if link.inertial is None else link.inertial.mass,
                "centre_of_mass": None if link.inertial is None else list(link.inertial.centre_of_mass),
                "inertia": None if link.inertial is None else np.reshape(link.inertial.inertia, (3, 3)).tolist(),
                "merged_into": None
                if carriers[robot.frame(link.name).body] == link.name
                else carriers[robot.frame(link.name).body] or "world",
            }
            for link in robot.links
        ],
        "fixed_joints": [
            {"name": joint.name, "parent": joint.parent, "child": joint.child, "line": joint.line}
            for joint in robot._urdf_joints
            if joint.type == "fixed"
        ],
        "joints": [_joint(joint) for joint in robot.joints],
        "velocities": list(robot.velocity_names),
        "branches": [list(branch.joint_names) for branch in robot.branches[:SHOWN]],
        "findings": [finding.as_dict() for finding in robot.findings],
    }


def _joint(joint: Joint) -> dict[str, Any]:
    limits = {key: getattr(joint, key) for key in ("lower", "upper", "velocity", "effort")}
    return {
        "name": joint.name,
        "type": joint.type,
        "child": joint.child,
        "axis": list(joint.axis),
        "q": [joint.iq, joint.nq],
        "v": [joint.iv, joint.nv],
        **{key: float(value) if np.isfinite(value) else None for key, value in limits.items()},
        "damping": joint.damping,
        "friction": joint.friction,
        "mimic": {"joint": joint.master, "multiplier": joint.ratio, "offset": joint.offset} if joint.is_mimic else None,
    }
