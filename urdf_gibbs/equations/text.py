"""Equations for a terminal, and as a Python module for SymPy."""

from __future__ import annotations

import shutil
import textwrap

import sympy
from sympy.printing.str import StrPrinter

from urdf_gibbs.equations.notation import DEEPER, broken, lines, pieces, title
from urdf_gibbs.equations.readable import Equations

SUPERSCRIPTS = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")
GREEK = {"tau": "τ"}
NARROWEST = 40


class Plain:
    """Formulas in one line: superscripts for powers, spaces for products."""

    plus, minus, leading_minus, space = " + ", " - ", "-", " "

    def symbol(self, name: str) -> str:
        return name

    def power(self, base: str, exponent: str) -> str:
        return base + exponent.translate(SUPERSCRIPTS)

    def function(self, name: str, argument: str, exponent: str) -> str:
        return f"{name}{exponent.translate(SUPERSCRIPTS)}({argument})"

    def fraction(self, numerator: int, denominator: int) -> str:
        return f"{numerator}/{denominator}"

    def root(self, radicand: str) -> str:
        return f"√{radicand}"

    def number(self, value: float) -> str:
        return f"{value:.6g}"


def text(equations: Equations, width: int | None = None) -> str:
    """Each quantity entry by entry, then what the symbols mean, in lines of at most ``width`` characters."""
    width = max(width or shutil.get_terminal_size().columns, NARROWEST)
    output = [heading(equations)]
    for what in equations.expressions:
        output += ["", *textwrap.wrap(title(equations, what), width)]
        for line in lines(equations, what):
            names = " = ".join(GREEK.get(letter, letter) + indices for letter, indices in line.names)
            if line.expression is None:
                zero = f"{names} = 0" + (f" ({line.reason})" if line.reason else "")
                output += textwrap.wrap(zero, width, initial_indent="  ", subsequent_indent="    ", break_long_words=False)
                continue
            start = f"  {names} = "
            (_, first), *more = broken(pieces(line.expression, Plain()), width - len(start))
            output += [start + first, *(" " * (len(start) - 2 + DEEPER * depth) + part for depth, part in more)]
    output += ["", *_legend(equations, width)]
    for note in equations.notes:
        output += textwrap.wrap(note, width)
    return "\n".join(output) + "\n"


def heading(equations: Equations) -> str:
    """What is shown, in one line."""
    return f"{' '.join(equations.robot.name.split())}: equations of motion, M a + h = τ"


def _legend(equations: Equations, width: int) -> list[str]:
    joints = [f"{q.name} {q.joint} [{q.unit or '1'}]" for q in equations.positions]
    output = textwrap.wrap(f"q: {', '.join(joints)}", width, subsequent_indent="   ")
    if [c.joint for c in equations.rates] != [c.joint for c in equations.positions]:
        moves = [f"{v.name} {v.joint} [{v.unit}]" for v in equations.rates]
        output += textwrap.wrap(f"v: {', '.join(moves)}", width, subsequent_indent="   ")
    rows = [(p.name, f"{p.value:.6g}", p.unit, p.meaning) for p in equations.parameters]
    sizes = [max((len(row[k]) for row in rows), default=0) for k in range(3)]
    for name, value, unit, meaning in rows:
        line = f"{name:<{sizes[0]}} = {value:<{sizes[1]}} {unit:<{sizes[2]}}  {meaning}"
        output += (
            textwrap.wrap(line, width, subsequent_indent=" " * (sum(sizes) + 6), drop_whitespace=False) if len(line) > width else [line]
        )
    return output


# A module for SymPy ---------------------------------------------------------------------------------


class _Source(StrPrinter):  # type: ignore[misc]
    """Python source that evaluates to the same expression: a number is not multiplied into a sum."""

    def _print_Mul(self, expr: sympy.Mul) -> str:
        coefficient, rest = expr.as_coeff_Mul()
        if coefficient != 1 and rest.is_Mul and any(factor.is_Add for factor in rest.args):
            return f"{self.doprint(coefficient)}*({super()._print_Mul(rest)})"
        return str(super()._print_Mul(expr))


def python_source(equations: Equations) -> str:
    """Symbols, values of the constants and one matrix for each quantity."""
    printer = _Source({"sympy_integers": True, "full_prec": False})
    names = list(equations.symbols)
    rows = textwrap.wrap(", ".join(names) + ",", 110)
    output = [_comment(f"{heading(equations)} (method {equations.method}, gravity {equations.gravity})"), ""]
    output += ["from sympy import Matrix, S, cos, sin, sqrt, symbols", "", *(_comment(note) for note in equations.notes)]
    output += [_comment(", ".join(f"{q.name}: {q.joint}" for q in equations.positions))]
    output += ["(", *(f"    {row}" for row in rows), ") = symbols(", *(f'    "{row} "' for row in rows), ")", ""]
    output += ["values = {", *(f"    {p.name}: {p.value!r},  {_comment(f'{p.unit}: {p.meaning}')}" for p in equations.parameters), "}"]
    for what, matrix in equations.expressions.items():
        output += ["", f"{what} = Matrix(", "    ["]
        for i in range(matrix.rows):
            output += ["        [", *(f"            {printer.doprint(matrix[i, j])}," for j in range(matrix.cols)), "        ],"]
        output += ["    ]", ")"]
    return "\n".join(output) + "\n"


def _comment(words: str) -> str:
    """A comment of one line, whatever names are in it."""
    return f"# {' '.join(words.split())}"
