"""Equations in LaTeX, in the subset that KaTeX, MathJax and latex2mathml also read."""

from __future__ import annotations

from urdf_gibbs.equations.notation import Line, broken, lines, pieces, split, title
from urdf_gibbs.equations.parameters import Coordinate
from urdf_gibbs.equations.readable import Equations

WIDTH = 92  # characters of a line on an A4 page
QUAD = r"\quad"
ZEROS = 12  # names in a row
ROWS = 40  # of a table that fits on a page
SPECIAL = {"\\": r"\backslash ", "~": r"\sim ", "^": r"\hat{}"}  # in text
PREAMBLE = r"""\documentclass[11pt,a4paper]{article}
\usepackage[T1]{fontenc}
\usepackage[utf8]{inputenc}
\usepackage[margin=22mm]{geometry}
\usepackage{amsmath}
\allowdisplaybreaks
"""


class Latex:
    """Formulas in math mode; ``dots``: velocities and accelerations as derivatives of q, which they are unless a joint is free."""

    plus, minus, leading_minus, space = " + ", " - ", "-", r" \, "

    def __init__(self, dots: bool = False) -> None:
        self.dots = dots

    def symbol(self, name: str) -> str:
        letters, indices = split(name)
        if self.dots and letters in ("v", "a"):
            return rf"\{'d' if letters == 'v' else 'dd'}ot{{q}}_{{{indices}}}"
        head, mark = (letters[0], letters[1:]) if letters == "lc" else (letters, "")
        head = rf"\{head}" if head == "tau" else head
        return f"{head}_{{{mark}{indices}}}" if mark or indices else head

    def power(self, base: str, exponent: str) -> str:
        return f"{base}^{{{exponent}}}"

    def function(self, name: str, argument: str, exponent: str) -> str:
        return rf"\{name}{f'^{{{exponent}}}' if exponent else ''}({argument})"

    def fraction(self, numerator: int, denominator: int) -> str:
        return rf"\tfrac{{{numerator}}}{{{denominator}}}"

    def root(self, radicand: str) -> str:
        return rf"\sqrt{{{radicand}}}"

    def number(self, value: float) -> str:
        digits, _, exponent = f"{value:.6g}".partition("e")
        return rf"{digits} \cdot 10^{{{int(exponent)}}}" if exponent else digits


def alphabet_of(equations: Equations) -> Latex:
    return Latex(dots=[c.joint for c in equations.rates] == [c.joint for c in equations.positions])


def latex(equations: Equations, document: bool = False) -> str:
    """One align environment for each quantity, then tables of the coordinates and constants; a whole document when asked."""
    alphabet = alphabet_of(equations)
    lines_out: list[str] = []
    for what in equations.expressions:
        lines_out += [_section(title(equations, what), document), *_align(equations, what, alphabet), ""]
    rows = [_coordinate(c, alphabet) for c in (*equations.positions, *equations.rates)]
    for p in equations.parameters:
        rows.append(f"{alphabet.symbol(p.name)} & = {alphabet.number(p.value)}\\,{unit(p.unit)} & {_text(p.meaning)}")
    lines_out.append(_section("Symbols", document))
    for k in range(0, len(rows), ROWS):
        lines_out += [r"\[", r"\begin{array}{rll}"]
        lines_out += [" \\\\\n".join(rows[k : k + ROWS]), r"\end{array}", r"\]"]
    lines_out += [_plain(note) if document else _comment(note) for note in equations.notes]
    body = "\n".join(lines_out) + "\n"
    if not document:
        return body
    head = rf"\section*{{Equations of motion of {_plain(equations.robot.name)}}}"
    gravity = ", ".join(f"{x:g}" for x in equations.gravity)
    motion = r"\ddot{q}" if alphabet.dots else "a"
    about = rf"$M \, {motion} + h = \tau$ by the {_plain(equations.method)} formulation; gravity $({gravity})\,\mathrm{{m/s^2}}$."
    return f"{PREAMBLE}\\begin{{document}}\n{head}\n{about}\n\n{body}\\end{{document}}\n"


def written(line: Line, alphabet: Latex, width: int = WIDTH) -> tuple[str, list[tuple[int, str]]]:
    """(left side, rows of the right side with their depths and signs) of an equation, or of a line of zeros."""
    names = [rf"{alphabet.symbol(letter)}_{{{indices}}}" if indices else alphabet.symbol(letter) for letter, indices in line.names]
    if line.expression is not None:
        (_, first), *more = broken(pieces(line.expression, alphabet), width)
        return " = ".join(names), [(0, f"= {first}"), *((depth, f"{{}} {row}") for depth, row in more)]
    equal = [*names[1:], "0"]
    return names[0], [(0, f"= {' = '.join(equal[k : k + ZEROS])}") for k in range(0, len(equal), ZEROS)]


def unit(name: str) -> str:
    """kg m^2 in upright letters."""
    return rf"\mathrm{{{name.replace(' ', chr(92) + ',')}}}" if name else ""


def _align(equations: Equations, what: str, alphabet: Latex) -> list[str]:
    rows: list[str] = []
    for line in lines(equations, what):
        left, ((_, first), *more) = written(line, alphabet)
        rows += [f"{left} &{first}", *(f"&{QUAD * (depth + 1)} {row}" for depth, row in more)]
        rows[-1] += rf" \quad \text{{({line.reason})}}" if line.reason else ""
    return [r"\begin{align*}", " \\\\\n".join(rows), r"\end{align*}"]


def _section(words: str, document: bool) -> str:
    return rf"\subsection*{{{_plain(words)}}}" if document else _comment(words)


def _coordinate(c: Coordinate, alphabet: Latex) -> str:
    return rf"{alphabet.symbol(c.name)} & {unit(c.unit) and f'[{unit(c.unit)}]'} & {_text(c.joint)}"


def _text(words: str) -> str:
    return rf"\text{{{_plain(words)}}}"


def _comment(words: str) -> str:
    """A comment of one line, whatever names are in it."""
    return f"% {' '.join(words.split())}"


def _plain(words: str) -> str:
    """Text in one line, with LaTeX's special characters made harmless."""
    line = " ".join(words.split())  # an empty line would end the paragraph
    return "".join(rf"\{c}" if c in "_#%&${}" else f"${SPECIAL[c]}$" if c in SPECIAL else c for c in line)
