"""SymPy expressions from a traced graph, for robots whose equations are too long to simplify, in the form of ``cse``."""

from __future__ import annotations

import operator
from typing import Any

from urdf_gibbs.engine.emit import Program
from urdf_gibbs.engine.graph import Node
from urdf_gibbs.equations.assignments import Dialect, Function, expression, function, places, value_text
from urdf_gibbs.equations.parameters import Parameter
from urdf_gibbs.equations.source import Source, number, plain, wrapped
from urdf_gibbs.templates import rendered

OPERATORS = {"add": operator.add, "sub": operator.sub, "mul": operator.mul, "div": operator.truediv, "neg": operator.neg}
HELPER = """

def _named(replacements, name, expression):
    symbol = Symbol(name)
    replacements.append((symbol, expression))
    return symbol
"""


def written(source: Source) -> str:
    """Text of a Python module: each function returns (replacements, output) as sympy.cse does, without inputs."""
    dialect = source.dialect("sin", "cos", "{0}{2}", 'p["{0}"]')
    lines = [f"# {line}".rstrip() for line in source.header()]
    lines += [
        "#",
        "# q1 is q[0]. Each function returns (replacements, output) as sympy.cse does: pairs of a symbol and what it stands for.",
        "",
    ]
    lines += ["from sympy import Matrix, Symbol, cos, sin, symbols", ""]
    widths = {letter: width for one in source.functions for letter, width in one.inputs}
    for letter, width in widths.items():
        lines += ["(", *wrapped([f"{letter}{i + 1}" for i in range(width)], "    "), f') = symbols("{letter}1:{width + 1}")']
    if source.parameters:
        lines += ["p = {"]
        lines += [f'    "{one.name}": Symbol("{one.name}"),  # [{one.unit}] {plain(one.meaning)}' for one in source.parameters]
        lines += ["}", "values = {"]
        lines += [f'    p["{one.name}"]: {number(one.value)},' for one in source.parameters]
        lines += ["}"]
    text = "\n".join(lines) + "\n" + HELPER
    for one in source.functions:
        text += "\n\n" + "\n".join(_function(one, dialect)) + "\n"
    return text


def _function(one: Function, dialect: Dialect) -> list[str]:
    lines = [f"def {one.name}():", f"    # {plain(one.meaning)}", "    r = []"]
    lines += [f'    {name} = _named(r, "{name}", {expression(node, one.names, dialect)})' for name, node in one.lines]
    values = [value_text(output, one.names, dialect) for output in one.program.outputs]
    if not one.shape:
        return [*lines, f"    return r, {values[0]}"]
    rows, columns = (*one.shape, 1)[:2]
    return [*lines, "    entries = [", *wrapped(values, " " * 8), "    ]", f"    return r, Matrix({rows}, {columns}, entries)"]


def to_sympy(program: Program, letter: str = "y", shape: tuple[int, ...] | None = None) -> tuple[list[tuple[Any, Any]], list[Any]]:
    """(replacements: [(Symbol, Expr)], outputs: [Expr], flat) over the symbols q1, q2, ..., v1, ... of the inputs' entries."""
    return expressions(function("", letter, "", shape or (len(program.outputs),), program, first=1))


def expressions(function: Function, parameters: list[Parameter] | None = None) -> tuple[list[tuple[Any, Any]], list[Any]]:
    """The same for a function whose values have names; ``parameters`` name the entries of its input "parameters"."""
    import sympy  # imported here: generating a module's text does not need it

    known: dict[int, Any] = {}

    def entry(letter: str, i: int) -> Any:
        return sympy.Symbol(parameters[i].name if letter == "parameters" and parameters else f"{letter}{i + 1}")

    def value(x: Any) -> Any:
        if not isinstance(x, Node):
            return sympy.Integer(int(x)) if x == int(x) else sympy.Float(x)
        return known[x.index] if x.index in known else operation(x)

    def operation(node: Node) -> Any:
        if node.op == "input":
            return entry(*node.args)
        args = [value(arg) for arg in node.args]
        return {"sin": sympy.sin, "cos": sympy.cos, **OPERATORS}[node.op](*args)

    replacements = []
    for name, node in function.lines:
        expression = operation(node)
        known[node.index] = sympy.Symbol(name)
        replacements.append((known[node.index], expression))
    return replacements, [value(output) for output in function.program.outputs]


# for people -------------------------------------------------------------------------------------------


def formulas(one: Function, parameters: list[Parameter]) -> list[str]:
    """Lines of LaTeX, ``name = value``, in order; entries of the result that have no line are numbers or coordinates, zeros left out."""
    import sympy

    replacements, outputs = expressions(one, parameters)
    lines = [f"{sympy.latex(symbol)} = {sympy.latex(value)}" for symbol, value in replacements]
    named = {symbol for symbol, _ in replacements}
    for place, output in zip(places(one.shape, 1), outputs, strict=True):
        own = sympy.Symbol(f"{one.letter}{place}" if place else f"{one.letter}_")
        if output != 0 and own not in named:
            lines.append(f"{sympy.latex(own)} = {sympy.latex(output)}")
    return lines


def latex(source: Source) -> str:
    """A LaTeX document: one equation for each value with a name."""
    text = ["\\documentclass{article}", "\\usepackage{amsmath}", "\\allowdisplaybreaks", "\\begin{document}"]
    text += [f"% {line}".rstrip() for line in source.header()]
    for one in source.functions:
        text += [f"\\section*{{{_escaped(one.meaning)}}}", "\\begin{align*}"]
        rows = [line.replace(" = ", " &= ", 1) for line in formulas(one, source.parameters)]
        text += [" \\\\\n".join(rows or [f"{one.letter} &= 0"]), "\\end{align*}"]
    return "\n".join([*text, "\\end{document}", ""])


def page(source: Source) -> str:
    """A page with the same formulas in MathML."""
    from latex2mathml.converter import convert

    functions = [(one.meaning, [convert(line) for line in formulas(one, source.parameters)]) for one in source.functions]
    return rendered("equations", "source.html", name=source.robot.name, header="\n".join(source.header()), functions=functions)


def _escaped(words: str) -> str:
    """Words for LaTeX."""
    return "".join({"\\": "/", "^": "\\^{}", "~": "\\~{}"}.get(x, f"\\{x}" if x in "#$%&_{}" else x) for x in plain(words))
