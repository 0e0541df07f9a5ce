"""Large robots: loops over joints instead of straight-line code, so that compile time and code size stay bounded.

The steps of joint_steps.py are driven by loops over a table. Bodies are in depth-first order, so the columns of a subtree are
contiguous and the forces of the mass matrix cross a joint four columns at a time. The world is row 0 of the working memory.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from typing import Any

import numpy as np

from urdf_gibbs.dynamics.local import Body, Full, LocalModel
from urdf_gibbs.dynamics.local_frames import local_model, plane_matrix
from urdf_gibbs.engine.emit import LANES, NO_MEMORY, Function, literal, sincos_ir, straight_line
from urdf_gibbs.engine.graph import Graph, Node, needed, simplified
from urdf_gibbs.engine.joint_steps import (
    CONSTANTS,
    SYMMETRIC,
    WORK,
    WORKS,
    Output,
    Rows,
    copy_step,
    cross_step,
    eliminate_step,
    force_step,
    form_step,
    gather_step,
    lift_step,
    place_step,
    release_step,
)
from urdf_gibbs.engine.quantities import SUSPECT, Options, inputs_of, width_of
from urdf_gibbs.robot.model import Robot
from urdf_gibbs.robot.singular import inertia_scale

LOOPED = ("mass_matrix", "bias", "gravity_force", "inverse_dynamics", "forward_dynamics")


def memory_functions() -> dict[str, int]:
    """The working memory comes from Python's raw allocator, which needs no lock."""
    names = ("PyMem_RawMalloc", "PyMem_RawFree")
    return {name: ctypes.cast(getattr(ctypes.pythonapi, name), ctypes.c_void_p).value or 0 for name in names}


ROWS = ("c", "w", "p", "q", "v", "a", "tau", "out", *(f"x{i}" for i in range(6)), *(f"m{i}" for i in range(6)))


def step_ir(name: str, kind: str, step: Callable[[Rows], Any], width: int = 1) -> str:
    """``define void @name(rows..., ptr status)`` for one type of joint; with ``width`` > 1 over that many columns (rows x and m)."""
    rows = Rows(kind)
    step(rows)
    values = [output.value for output in rows.outputs] + [x for check in rows.checks for x in check[:2]]
    values = simplified(values, Graph())
    outputs = [Output(o.row, o.index, value, o.added) for o, value in zip(rows.outputs, values, strict=False)]
    bounds = values[len(outputs) :]
    f = Function(width)

    def fetch(node: Node) -> str:
        row, index = node.args
        address = f.address(f"%{row}", index)
        if width == 1 or row[0] in "xm":
            return f.value(f"load {f.type}, ptr {address}, align 8")
        x = f.value(f"load double, ptr {address}, align 8")
        first = f.value(f"insertelement {f.type} undef, double {x}, i32 0")
        return f.value(f"shufflevector {f.type} {first}, {f.type} undef, <{width} x i32> zeroinitializer")

    names = straight_line(f, needed(values), {}, fetch, lambda node, name: None, sincos="sincos1")

    def text(value: Any) -> str:
        return names[value.index] if isinstance(value, Node) else f.constant(float(value))

    for output in outputs:  # after all loads: rows may be read and written
        value = text(output.value)
        address = f.address(f"%{output.row}", output.index)
        if output.added:
            old = f.value(f"load {f.type}, ptr {address}, align 8")
            value = f.value(f"fadd contract {f.type} {old}, {value}")
        f.do(f"store {f.type} {value}, ptr {address}, align 8")
    for (_, _, below, bit), (x, bound) in zip(rows.checks, zip(bounds[::2], bounds[1::2], strict=True), strict=True):
        size = f.value(f"call double @llvm.fabs.f64(double {text(x)})")
        failed = f.value(f"fcmp {'ole' if below else 'ogt'} double {size}, {text(bound)}")
        bits = f.value(f"select i1 {failed}, i64 {bit}, i64 0")
        old = f.value("load i64, ptr %status")
        f.do(f"store i64 {f.value(f'or i64 {old}, {bits}')}, ptr %status")
    f.do("ret void")
    arguments = ", ".join(f"ptr noalias %{row}" for row in ROWS)
    body = "\n".join(f.lines)
    return f"define internal void @{name}({arguments}, ptr %status) {{\n{body}\n}}\n"


class Driver:
    """The loops around the steps, as IR text."""

    def __init__(self, robot: Robot, inputs: tuple[str, ...], options: Options) -> None:
        self.robot, self.inputs, self.options = robot, inputs, options
        self.model: LocalModel = local_model(robot)
        self.kinds = [f"revolute{body.k}" if body.kind == "revolute" else body.kind for body in self.model.bodies]
        self.lines: list[str] = []
        self.counters: list[str] = []
        self.steps: dict[str, str] = {}
        self._count = 0

    def value(self, text: str) -> str:
        self._count += 1
        self.lines.append(f"  %d{self._count} = {text}")
        return f"%d{self._count}"

    def do(self, text: str) -> None:
        self.lines.append(f"  {text}")

    def entry(self, table: str, index: str) -> str:
        return self.value(f"load i64, ptr {self.value(f'getelementptr inbounds i64, ptr @{table}, i64 {index}')}")

    def row(self, base: str, index: str, width: int) -> str:
        return self.value(f"getelementptr inbounds double, ptr {base}, i64 {self.value(f'mul i64 {index}, {width}')}")

    def loop(self, first: str, past: str, step: int, body: Callable[[str], None]) -> None:
        """for (i = first; i < past; i += step), or downwards with a negative step from first to past inclusive."""
        self._count += 1
        label = f"L{self._count}"
        counter = f"%counter{self._count}"
        self.counters.append(f"  {counter} = alloca i64")  # in the entry block, where it becomes a register
        self.do(f"store i64 {first}, ptr {counter}")
        self.do(f"br label %{label}.test")
        self.lines.append(f"{label}.test:")
        i = self.value(f"load i64, ptr {counter}")
        going = self.value(f"icmp {'slt' if step > 0 else 'sge'} i64 {i}, {past}")
        self.do(f"br i1 {going}, label %{label}.body, label %{label}.end")
        self.lines.append(f"{label}.body:")
        body(i)
        self.do(f"store i64 {self.value(f'add i64 {i}, {step}')}, ptr {counter}")
        self.do(f"br label %{label}.test")
        self.lines.append(f"{label}.end:")

    def call(self, i: str, prefix: str, step: Callable[[Rows], Any], width: int = 1, columns: str = "0") -> None:
        """Call the step of body i's type."""
        kinds = sorted(set(self.kinds))
        for kind in kinds:
            self.steps[f"{prefix}_{kind}"] = step_ir(f"{prefix}_{kind}", kind, step, width)
        pointers = self._pointers(i, columns)
        arguments = ", ".join(f"ptr {pointers.get(row, 'null')}" for row in ROWS) + ", ptr %status"
        if len(kinds) == 1:
            self.do(f"call void @{prefix}_{kinds[0]}({arguments})")
            return
        self._count += 1
        label = f"S{self._count}"
        cases = " ".join(f"i64 {number}, label %{label}.{kind}" for number, kind in enumerate(kinds))
        self.do(f"switch i64 {self.entry('kind', i)}, label %{label}.end [{cases}]")
        for kind in kinds:
            self.lines.append(f"{label}.{kind}:")
            self.do(f"call void @{prefix}_{kind}({arguments})")
            self.do(f"br label %{label}.end")
        self.lines.append(f"{label}.end:")

    def _pointers(self, i: str, column: str) -> dict[str, str]:
        own = self.value(f"add i64 {i}, 1")
        iv, iq = self.entry("iv", i), self.entry("iq", i)
        pointers = {
            "c": self.row("@constants", i, CONSTANTS),
            "w": self.row("%work", own, WORKS),
            "p": self.row("%work", self.entry("parent", i), WORKS),
            "q": self.row("%in0", iq, 1),
            "out": self.row("%out", iv, 1),
        }
        for number, letter in enumerate(self.inputs[1:], 1):
            if letter != "gravity":  # belongs to no joint
                pointers[letter] = self.row(f"%in{number}", iv, 1)
        if self.needs_columns:
            at = column if column != "0" else iv
            for k in range(6):
                start = self.value(f"add i64 {at}, {k * self.robot.nv}")
                pointers[f"x{k}"] = self.row("%forces", start, 1)
                line = self.value(f"mul i64 {self.value(f'add i64 {iv}, {k}')}, {self.robot.nv}")
                pointers[f"m{k}"] = self.row("%out", self.value(f"add i64 {line}, {at}"), 1)
        return pointers

    needs_columns = False

    def tables(self) -> str:
        bodies = self.model.bodies
        kinds = sorted(set(self.kinds))
        scale_of = inertia_scale(self.robot, self.robot.neutral())
        rows = [self._constants(body, scale_of) for body in bodies]
        flat = ", ".join(f"double {literal(x)}" for row in rows for x in row)
        subtree = list(range(1, len(bodies) + 1))
        for i in range(len(bodies) - 1, -1, -1):
            if bodies[i].parent >= 0:
                subtree[bodies[i].parent] = max(subtree[bodies[i].parent], subtree[i])
        ends = [self.robot.joints[last - 1].iv + self.robot.joints[last - 1].nv for last in subtree]
        integers = {
            "kind": [kinds.index(kind) for kind in self.kinds],
            "parent": [body.parent + 1 for body in bodies],
            "iq": [body.iq for body in bodies],
            "iv": [joint.iv for joint in self.robot.joints],
            "last": ends,
        }
        text = f"@constants = internal constant [{len(bodies) * CONSTANTS} x double] [{flat}], align 32\n"
        for name, values in integers.items():
            text += f"@{name} = internal constant [{len(values)} x i64] [{', '.join(f'i64 {x}' for x in values)}]\n"
        return text

    def _constants(self, body: Body, scale_of: Any) -> list[float]:
        F = np.eye(3)
        for r in body.fixed:
            F = F @ (np.array(r.R) if isinstance(r, Full) else plane_matrix([r]))
        J = body.J
        floors = [SUSPECT * float(scale_of[axis.iv]) for axis in body.axes]
        sign = body.axes[0].angular[body.k] if body.kind == "revolute" else 1.0
        return [
            *F.ravel().tolist(), *body.offset, *body.b, sign if len(body.axes) == 1 else 1.0, body.shift,
            J.m, *J.h, *(J.Sigma[i][j] for i, j in SYMMETRIC), *floors, *[0.0] * (6 - len(floors)),
        ]  # fmt: skip

    def module(self, body: Callable[[], None]) -> str:
        """The whole module: tables, steps, ``single``, and ``batch`` as a loop over states."""
        n = len(self.model.bodies)
        extra = 6 * self.robot.nv + LANES if self.needs_columns else 0
        words = (n + 1) * WORKS + extra
        self.do("%status = alloca i64")
        self.do("store i64 0, ptr %status")
        self.do(f"%work = call ptr @PyMem_RawMalloc(i64 {8 * words})")
        empty = self.value("icmp eq ptr %work, null")
        self.do(f"br i1 {empty}, label %nothing, label %ready")
        self.lines.append("nothing:")
        self.do(f"ret i64 {NO_MEMORY}")
        self.lines.append("ready:")
        self.do(f"%forces = getelementptr inbounds double, ptr %work, i64 {(n + 1) * WORKS}")
        self.do(f"call void @llvm.memset.p0.i64(ptr align 8 %work, i8 0, i64 {8 * WORKS}, i1 false)")
        for i, g in enumerate(self.options.gravity):
            against = literal(-g)
            if self.options.free_gravity:
                given = self.value(f"getelementptr inbounds double, ptr %in{len(self.inputs) - 1}, i64 {i}")
                against = self.value(f"fneg double {self.value(f'load double, ptr {given}, align 8')}")
            address = self.value(f"getelementptr inbounds double, ptr %work, i64 {WORK['a'].start + i}")
            self.do(f"store double {against}, ptr {address}")
        body()
        self.do("call void @PyMem_RawFree(ptr %work)")
        self.do(f"ret i64 {self.value('load i64, ptr %status')}")
        arrays = len(self.inputs)
        arguments = ", ".join([f"ptr noalias %in{i}" for i in range(arrays)] + ["ptr noalias %out"])
        declared = (
            "declare ptr @PyMem_RawMalloc(i64)\ndeclare void @PyMem_RawFree(ptr)\ndeclare void @llvm.memset.p0.i64(ptr, i8, i64, i1)\n"
        )
        single = "\n".join(self.counters + self.lines)
        text = sincos_ir() + sincos_one() + declared + self.tables() + "".join(self.steps.values())
        return text + f"define i64 @single({arguments}) {{\n{single}\n}}\n" + self._batch(arguments)

    def _batch(self, arguments: str) -> str:
        nv = self.robot.nv
        size = nv * nv if self.needs_columns else nv
        widths = [width_of(self.robot, letter) for letter in self.inputs]
        lines = [f"define i64 @batch({arguments}, i64 %rows) {{", "entry:", "  br label %test", "test:"]
        lines += ["  %i = phi i64 [0, %entry], [%next, %row]", "  %all = phi i64 [0, %entry], [%both, %row]"]
        lines += ["  %going = icmp slt i64 %i, %rows", "  br i1 %going, label %row, label %end", "row:"]
        for k, width in enumerate(widths):
            lines += [f"  %o{k} = mul i64 %i, {width}", f"  %a{k} = getelementptr inbounds double, ptr %in{k}, i64 %o{k}"]
        lines += [f"  %oo = mul i64 %i, {size}", "  %ao = getelementptr inbounds double, ptr %out, i64 %oo"]
        call = ", ".join([f"ptr %a{k}" for k in range(len(widths))] + ["ptr %ao"])
        lines += [f"  %one = call i64 @single({call})", "  %both = or i64 %all, %one", "  %next = add i64 %i, 1", "  br label %test"]
        return "\n".join([*lines, "end:", "  ret i64 %all", "}", ""])


def sincos_one() -> str:
    """define {double, double} @sincos1(double): one lane of the vector function."""
    V = f"<{LANES} x double>"
    pair = "{double, double}"
    return f"""define internal {pair} @sincos1(double %x) {{
  %v = insertelement {V} zeroinitializer, double %x, i32 0
  %both = call {{{V}, {V}}} @sincos({V} %v)
  %sv = extractvalue {{{V}, {V}}} %both, 0
  %cv = extractvalue {{{V}, {V}}} %both, 1
  %s = extractelement {V} %sv, i32 0
  %c = extractelement {V} %cv, i32 0
  %p = insertvalue {pair} undef, double %s, 0
  %r = insertvalue {pair} %p, double %c, 1
  ret {pair} %r
}}
"""


# Quantities --------------------------------------------------------------------------------------------


def loop_ir(robot: Robot, name: str, options: Options) -> str:
    """The module of a quantity for a robot without mimic joints: ``single`` and ``batch``."""
    inputs = inputs_of(name, options)
    driver = Driver(robot, inputs, options)
    n = len(driver.model.bodies)
    last = str(n - 1)

    def forces() -> None:
        with_v, with_a = "v" in inputs, "a" in inputs

        def outward(i: str) -> None:
            driver.call(i, "place", place_step)
            driver.call(i, "force", lambda rows: force_step(rows, with_v, with_a))

        driver.loop("0", str(n), 1, outward)
        driver.loop(last, "0", -1, lambda i: driver.call(i, "gather", gather_step))

    def forward() -> None:
        def outward(i: str) -> None:
            driver.call(i, "place", place_step)
            driver.call(i, "form", form_step)

        driver.loop("0", str(n), 1, outward)
        driver.loop(last, "0", -1, lambda i: driver.call(i, "eliminate", eliminate_step))
        driver.loop("0", str(n), 1, lambda i: driver.call(i, "release", release_step))

    def inertia() -> None:
        driver.needs_columns = True
        driver.do(f"call void @llvm.memset.p0.i64(ptr align 8 %out, i8 0, i64 {8 * robot.nv * robot.nv}, i1 false)")

        def outward(i: str) -> None:
            driver.call(i, "place", place_step)
            driver.call(i, "copy", copy_step)

        def inward(i: str) -> None:
            driver.call(i, "lift", lift_step)
            first, past = driver.entry("iv", i), driver.entry("last", i)
            count = driver.value(f"sub i64 {past}, {first}")
            blocks = driver.value(f"and i64 {count}, {-LANES}")
            middle = driver.value(f"add i64 {first}, {blocks}")
            driver.loop(first, middle, LANES, lambda c: driver.call(i, "crossing", cross_step, LANES, c))
            driver.loop(middle, past, 1, lambda c: driver.call(i, "cross", cross_step, 1, c))

        driver.loop("0", str(n), 1, outward)
        driver.loop(last, "0", -1, inward)
        _mirror(driver)

    needs = {"mass_matrix": inertia, "forward_dynamics": forward}.get(name, forces)
    driver.needs_columns = name == "mass_matrix"
    return driver.module(needs)


def _mirror(driver: Driver) -> None:
    """The lower triangle from the upper, in blocks that stay in the cache."""
    nv, block = driver.robot.nv, 8

    def rows(i: str) -> None:
        def columns(j: str) -> None:
            def row(r: str) -> None:
                def entry(c: str) -> None:
                    upper = driver.row("%out", driver.value(f"add i64 {driver.value(f'mul i64 {c}, {nv}')}, {r}"), 1)
                    lower = driver.row("%out", driver.value(f"add i64 {driver.value(f'mul i64 {r}, {nv}')}, {c}"), 1)
                    driver.do(f"store double {driver.value(f'load double, ptr {upper}')}, ptr {lower}")

                past = driver.value(f"call i64 @llvm.smin.i64(i64 {driver.value(f'add i64 {j}, {block}')}, i64 {r})")
                driver.loop(j, past, 1, entry)

            past = driver.value(f"call i64 @llvm.smin.i64(i64 {driver.value(f'add i64 {i}, {block}')}, i64 {nv})")
            driver.loop(i, past, 1, row)

        driver.loop("0", driver.value(f"add i64 {i}, {block}"), block, columns)

    driver.steps["smin"] = "declare i64 @llvm.smin.i64(i64, i64)\n"
    driver.loop("0", str(nv), block, rows)
