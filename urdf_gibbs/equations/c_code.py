"""One C99 file with a robot's dynamics: it needs only math.h, and has a self-test main behind a macro."""

from __future__ import annotations

from math import prod

from urdf_gibbs.engine.emit import BAD_QUATERNION, SINGULAR, Check
from urdf_gibbs.equations.assignments import Dialect, Function, expression, value_text
from urdf_gibbs.equations.source import Source, number, plain, wrapped

COMPARED = """
static double compared(const char *name, const double *values, const double *expected, int count, double tolerance)
{
    double error = 0.0, scale = 0.0;
    for (int i = 0; i < count; i++) {
        const double one = fabs(values[i] - expected[i]);
        if (!(one <= HUGE_VAL))
            error = HUGE_VAL;
        if (one > error)
            error = one;
        if (fabs(expected[i]) > scale)
            scale = fabs(expected[i]);
    }
    error /= scale > 0.0 ? scale : 1.0;
    printf("%s: relative error %.1e\\n", name, error);
    return error / tolerance;
}
"""


def written(source: Source) -> str:
    """The file's text."""
    prefix = source.prefix()
    upper = prefix.upper()
    dialect = source.dialect("sin", "cos", "{0}[{1}]", "p->{0}")
    lines = ["/*", *(f" * {line}".rstrip() for line in source.header()), " *"]
    if any(function.program.checks for function in source.functions):
        lines.append(
            f" * Functions that can fail return 0, {upper}_BAD_QUATERNION or {upper}_SINGULAR, and then leave the result as it was."
        )
    lines += [" * Matrices are stored row by row.", f" * Self-test: cc -std=c99 -O2 -D{upper}_SELFTEST FILE -lm, and run it.", " */", ""]
    lines += ["#include <math.h>", f"#ifdef {upper}_SELFTEST", "#include <stdio.h>", "#endif", ""]
    lines += [f"#define {upper}_NQ {source.robot.nq}", f"#define {upper}_NV {source.robot.nv}"]
    lines += [f"#define {upper}_BAD_QUATERNION {BAD_QUATERNION}", f"#define {upper}_SINGULAR {SINGULAR}", ""]
    if source.parameters:
        lines += ["typedef struct {"]
        lines += [f"    double {one.name}; /* [{one.unit}] {plain(one.meaning)} */" for one in source.parameters]
        lines += [f"}} {prefix}_parameters;", "", f"extern const {prefix}_parameters {prefix}_default;", ""]
    lines += [f"{_signature(function, prefix, bool(source.parameters))};" for function in source.functions]
    if source.parameters:
        lines += ["", f"const {prefix}_parameters {prefix}_default = {{"]
        lines += [f"    .{one.name} = {number(one.value)}," for one in source.parameters]
        lines += ["};"]
    for function in source.functions:
        lines += ["", *_function(function, dialect, prefix, bool(source.parameters))]
    return "\n".join([*lines, "", f"#ifdef {upper}_SELFTEST", *_selftest(source, prefix), "#endif", ""])


def _signature(function: Function, prefix: str, parameters: bool) -> str:
    upper = prefix.upper()
    arguments = [f"const double {letter}[restrict {upper}_{'NQ' if letter == 'q' else 'NV'}]" for letter, _ in function.inputs]
    if parameters:
        arguments.append(f"const {prefix}_parameters *restrict p")
    arguments.append(f"double {function.letter}[restrict {prod(function.shape)}]")
    return f"{'int' if _can_fail(function) else 'void'} {prefix}_{function.name}({', '.join(arguments)})"


def _can_fail(function: Function) -> bool:
    return bool(function.checks)


def _function(function: Function, dialect: Dialect, prefix: str, parameters: bool) -> list[str]:
    lines = [f"/* {plain(function.meaning)} */", _signature(function, prefix, parameters), "{"]
    given = [letter for letter, _ in function.inputs] + (["parameters"] if parameters else [])
    lines += [f"    (void){'p' if letter == 'parameters' else letter};" for letter in given if letter not in function.read]
    for name, node in function.lines:
        lines.append(f"    const double {name} = {expression(node, function.names, dialect)};")
        if name in function.checks:
            lines += _check(name, function.checks[name], prefix.upper())
    for i, output in enumerate(function.program.outputs):
        lines.append(f"    {function.letter}[{i}] = {value_text(output, function.names, dialect)};")
    return [*lines, *(["    return 0;"] if _can_fail(function) else []), "}"]


def _check(name: str, check: Check, upper: str) -> list[str]:
    if check.below:
        return [f"    if (fabs({name}) <= {number(check.bound)})", f"        return {upper}_SINGULAR;"]
    return [f"    if (fabs({name}) > {number(check.bound)})", f"        return {upper}_BAD_QUATERNION;"]


def _selftest(source: Source, prefix: str) -> list[str]:
    """States, what another formulation computed there when the file was written, and identities."""
    given = ", &" + f"{prefix}_default" if source.parameters else ""
    functions = {function.name: function for function in source.functions}
    both = "inverse_dynamics" in functions and "forward_dynamics" in functions
    count = len(source.cases)
    used = [letter for letter in ("q", "v", "a", "tau") if any(letter == one for f in source.functions for one, _ in f.inputs)]
    lines = [COMPARED.strip("\n"), ""]
    for letter in used:
        lines.append(f"static const double states_{letter}[{count}][{prefix.upper()}_{'NQ' if letter == 'q' else 'NV'}] = {{")
        for case in source.cases:
            lines += ["    {", *wrapped([number(x) for x in case.inputs[letter]], " " * 8), "    },"]
        lines.append("};")
    for name, function in functions.items():
        lines.append(f"static const double {name}_expected[{count}][{prod(function.shape)}] = {{")
        for case in source.cases:
            lines += ["    {", *wrapped([number(x) for x in case.expected[name]], " " * 8), "    },"]
        lines.append("};")
        tolerances = ", ".join(number(case.tolerance[name]) for case in source.cases)
        lines.append(f"static const double {name}_tolerance[{count}] = {{{tolerances}}};")
    lines += ["", "int main(void)", "{", "    double worst = 0.0, one;"]
    lines += [f"    double {name}[{prod(function.shape)}];" for name, function in functions.items()]
    if both:
        lines += [f"    static const double zero[{prefix.upper()}_NV];", f"    double rest[{prefix.upper()}_NV];"]
    lines.append(f"    for (int k = 0; k < {count}; k++) {{")
    for name, function in functions.items():
        lines += _called(function, [f"states_{letter}[k]" for letter, _ in function.inputs], name, prefix, given)
        size = prod(function.shape)
        lines.append(f'        one = compared("{name}", {name}, {name}_expected[k], {size}, {name}_tolerance[k]);')
        lines.append("        worst = one > worst ? one : worst;")
    if "mass_matrix" in functions:
        upper = f"{prefix.upper()}_NV"
        lines += [f"        for (int i = 0; i < {upper}; i++)", f"            for (int j = 0; j < {upper}; j++)"]
        lines += [
            f"                if (!(mass_matrix[i * {upper} + j] == mass_matrix[j * {upper} + i]))",
            "                    worst = HUGE_VAL;",
        ]
    if both:
        inverse = functions["inverse_dynamics"]
        lines += _called(inverse, ["states_q[k]", "states_v[k]", "zero"], "rest", prefix, given)
        lines += _called(inverse, ["states_q[k]", "states_v[k]", "forward_dynamics"], "inverse_dynamics", prefix, given)
        lines += ["        double error = 0.0, scale = 0.0;", f"        for (int i = 0; i < {prefix.upper()}_NV; i++) {{"]
        lines += ["            scale = fmax(scale, fmax(fabs(rest[i]), fabs(states_tau[k][i])));"]
        lines += ["            error = fmax(error, fabs(inverse_dynamics[i] - states_tau[k][i]));", "        }"]
        lines += ["        worst = fmax(worst, error / scale / forward_dynamics_tolerance[k]);"]
    lines += ["    }", '    printf("worst error: %.1e of the tolerance\\n", worst);', "    return worst <= 1.0 ? 0 : 1;", "}"]
    return lines


def _called(function: Function, arguments: list[str], result: str, prefix: str, given: str) -> list[str]:
    call = f"{prefix}_{function.name}({', '.join(arguments)}{given}, {result})"
    return [f"        if ({call} != 0)", "            return 1;"] if _can_fail(function) else [f"        {call};"]
