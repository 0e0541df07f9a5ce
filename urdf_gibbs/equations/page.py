"""Equations as one HTML page: formulas in MathML, no script, nothing to fetch, light or dark as the reader's system."""

from __future__ import annotations

import base64
import io

from latex2mathml.converter import convert

from urdf_gibbs.equations.latex import Latex, alphabet_of, written
from urdf_gibbs.equations.notation import lines, title
from urdf_gibbs.equations.readable import Equations
from urdf_gibbs.robot.model import Robot
from urdf_gibbs.templates import rendered

WIDTH = 112  # characters of a formula's line
BENT = 0.45  # rad, of the picture's joints: at zero a chain is a line


def page(equations: Equations) -> str:
    """The page."""
    alphabet = alphabet_of(equations)
    motion = r"\ddot{q}" if alphabet.dots else "a"
    return rendered(
        "equations",
        "equations.html",
        name=equations.robot.name,
        balance=_math(rf"M \, {motion} + h = \tau"),
        method=equations.method,
        gravity=", ".join(f"{x:g}" for x in equations.gravity),
        notes=equations.notes,
        quantities=[(title(equations, what), _rows(equations, what, alphabet)) for what in equations.expressions],
        symbols=_symbols(equations, alphabet),
        bent=BENT,
        picture=_picture(equations.robot),
        colours=_colours(),
    )


def _rows(equations: Equations, what: str, alphabet: Latex) -> list[tuple[str, str, list[tuple[float, str]], str]]:
    """(left side, first line of the right side, its other lines with their indents [rem], reason) of each equation; formulas as MathML."""
    found = []
    for line in lines(equations, what):
        left, ((_, first), *more) = written(line, alphabet, WIDTH)
        found.append((_math(left), _math(first), [(1.6 + depth, _math(row)) for depth, row in more], line.reason))
    return found


def _symbols(equations: Equations, alphabet: Latex) -> list[tuple[str, str, str, str]]:
    """(symbol, value, unit, meaning); formulas as MathML."""
    kinds = {"position": equations.positions, "velocity": equations.rates}
    rows = [(c.name, "", c.unit, f"{kind} of {c.joint}") for kind, all_of_it in kinds.items() for c in all_of_it]
    rows += [(p.name, alphabet.number(p.value), p.unit, p.meaning) for p in equations.parameters]
    return [
        (_math(alphabet.symbol(name)), _math(value) if value else "", of.replace("^2", "²"), meaning) for name, value, of, meaning in rows
    ]


def _picture(robot: Robot) -> str:
    """The robot's skeleton with its joints bent a little: a PNG in base 64."""
    import numpy as np

    from urdf_gibbs.view.branches import draw

    file = io.BytesIO()
    turns = np.array([BENT if kind == "R" else 0.0 for joint in robot.joints if not joint.is_mimic for kind, _ in joint.columns])
    draw(robot, robot.integrate(robot.neutral(), turns), file)
    return base64.b64encode(file.getvalue()).decode("ascii")


def _math(latex: str) -> str:
    return str(convert(latex))


def _colours() -> dict[str, dict[str, str]]:
    from urdf_gibbs.view.themes import THEMES

    return {
        name: {"back": theme.background, "text": theme.text, "faint": theme.faint, "card": theme.solid, "accent": theme.lines[0]}
        for name, theme in THEMES.items()
    }
