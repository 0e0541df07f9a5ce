"""A Python module with a robot's dynamics: it imports only math, and tests itself when run."""

from __future__ import annotations

from urdf_gibbs.engine.emit import Check
from urdf_gibbs.equations.assignments import Dialect, Function, expression, value_text
from urdf_gibbs.equations.source import Source, number, plain, wrapped

SELFTEST = '''

def _flat(value):
    return [x for row in value for x in _flat(row)] if isinstance(value, list) else [value]


def _selftest():
    """The worst error, relative to what it may be: above 1 something is wrong."""
    worst = 0.0
    for case in _CASES:
        for name, (arguments, expected, tolerance) in case["functions"].items():
            values = _flat(globals()[name](*(case["inputs"][letter] for letter in arguments)))
            error = max((abs(x - y) for x, y in zip(values, expected)), default=0.0)
            scale = max(map(abs, expected), default=0.0) or 1.0
            bad = len(values) != len(expected) or not all(map(math.isfinite, values))
            print(f"{name}: relative error {error / scale:.1e}")
            worst = max(worst, math.inf if bad else error / scale / tolerance)
        worst = max(worst, _identities(**case["inputs"]))
    return worst


if __name__ == "__main__":
    import sys

    worst = _selftest()
    print(f"worst error: {worst:.1e} of the tolerance")
    sys.exit(0 if worst <= 1.0 else "the self-test failed")
'''
SYMMETRIC = """    M = mass_matrix(q)
    for i in range(NV):
        for j in range(i):
            worst = max(worst, 0.0 if M[i][j] == M[j][i] else math.inf)
"""
INVERSE = """    back = inverse_dynamics(q, v, forward_dynamics(q, v, tau))
    scale = max(map(abs, inverse_dynamics(q, v, [0.0] * NV) + tau))
    worst = max(worst, max(abs(x - y) for x, y in zip(back, tau)) / scale / {tolerance!r})
"""


def written(source: Source) -> str:
    """The module's text."""
    dialect = source.dialect("math.sin", "math.cos", "{0}[{1}]", 'p["{0}"]')
    lines = [f"# {line}".rstrip() for line in source.header()]
    if source.parameters:
        lines += [
            "#",
            '# Parameters are given by name: mass_matrix(q, {**PARAMETERS, "m1": 2.0}).'.replace("m1", source.parameters[0].name),
        ]
    lines += ["", "import math", "", f"NQ, NV = {source.robot.nq}, {source.robot.nv}"]
    if source.parameters:
        lines += ["PARAMETERS = {"]
        lines += [f'    "{one.name}": {number(one.value)},  # [{one.unit}] {plain(one.meaning)}' for one in source.parameters]
        lines += ["}"]
    lines += ["", "", "def _check(name, values, width):", "    if len(values) != width:"]
    lines += ['        raise ValueError(f"{name} has {len(values)} entries, expected {width}")']
    for function in source.functions:
        lines += ["", "", *_function(function, dialect, bool(source.parameters))]
    return "\n".join([*lines, "", "", *_cases(source)]) + _identities(source) + SELFTEST


def _function(function: Function, dialect: Dialect, parameters: bool) -> list[str]:
    arguments = [letter for letter, _ in function.inputs] + (["p=PARAMETERS"] if parameters else [])
    meaning = function.meaning.replace("\\", "/").replace('"', "'")
    lines = [f"def {function.name}({', '.join(arguments)}):", f'    """{plain(meaning)[0].upper()}{plain(meaning)[1:]}."""']
    lines += [f'    _check("{letter}", {letter}, {width})' for letter, width in function.inputs]
    for name, node in function.lines:
        lines.append(f"    {name} = {expression(node, function.names, dialect)}")
        if name in function.checks:
            lines += _check(name, function.checks[name])
    values = [value_text(output, function.names, dialect) for output in function.program.outputs]
    if not function.shape:
        return [*lines, f"    return {values[0]}"]
    if len(function.shape) == 1:
        return [*lines, "    return [", *wrapped(values, " " * 8), "    ]"]
    width = function.shape[1]
    lines.append("    return [")
    for start in range(0, len(values), width):
        row = wrapped(values[start : start + width], " " * 12)
        one = f"        [{row[0].strip().rstrip(',')}],"
        lines += [one] if len(row) == 1 else ["        [", *row, "        ],"]
    return [*lines, "    ]"]


def _check(name: str, check: Check) -> list[str]:
    if check.below:
        return [
            f"    if abs({name}) <= {number(check.bound)}:",
            '        raise ArithmeticError("the mass matrix is singular, or nearly so")',
        ]
    return [f"    if abs({name}) > {number(check.bound)}:", '        raise ValueError("a quaternion in q has not unit length")']


def _cases(source: Source) -> list[str]:
    """States, and what another formulation computed there when this file was written."""
    lines = ["_CASES = ["]
    for case in source.cases:
        lines += ["    {", '        "inputs": {']
        for letter, state in case.inputs.items():
            lines += [f'            "{letter}": [', *wrapped([number(x) for x in state], " " * 16), "            ],"]
        lines += ["        },", '        "functions": {']
        for function in source.functions:
            letters = "".join(f'"{letter}", ' for letter, _ in function.inputs)
            values = wrapped([number(x) for x in case.expected[function.name]], " " * 20)
            lines += [
                f'            "{function.name}": (',
                f"                ({letters.strip()}),",
                "                [",
                *values,
                "                ],",
            ]
            lines += [f"                {case.tolerance[function.name]!r},", "            ),"]
        lines += ["        },", "    },"]
    return [*lines, "]"]


def _identities(source: Source) -> str:
    names = [function.name for function in source.functions]
    text = "\n\n\ndef _identities(q, v, a, tau):\n    worst = 0.0\n"
    if "mass_matrix" in names:
        text += SYMMETRIC
    if "inverse_dynamics" in names and "forward_dynamics" in names:
        text += INVERSE.format(tolerance=max(case.tolerance["forward_dynamics"] for case in source.cases))
    return text + "    return worst\n"
