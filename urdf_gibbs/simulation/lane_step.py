"""Machine code for a step of LANES runs of one robot: own_step.py, with their forward dynamics computed side by side in SIMD lanes.

    int64_t lanes(void *tables[LANES], double *trials[LANES], double *rows, void *batch)

Each run has a table and a trial of its own, and a length of its step, trial[2]; its error goes to trial[3]. Sums over stages and errors are
those of own_step.py, run after run; ``batch`` is the code of the forward dynamics for LANES states. So a run gets the same bits as alone.
``rows`` is working memory for LANES times what ``widths`` says. The status is 1 where the fast forward dynamics fail for one of the runs.
"""

from __future__ import annotations

from urdf_gibbs.engine.emit import LANES, Function
from urdf_gibbs.engine.objects import Code, load_code
from urdf_gibbs.robot.model import Robot
from urdf_gibbs.simulation.dop853 import STAGES
from urdf_gibbs.simulation.own_step import TABLE, copied, errors, has_plain_rates, head_ir, make_room_for_errors, state_of_stage


def lane_step(robot: Robot, constants: int) -> Code:
    """Machine code with the function ``lanes``, for so many entries of System.constants."""
    return load_code(lanes_ir(robot, constants))


def widths(robot: Robot, constants: int) -> dict[str, int]:
    """What ``rows`` holds for each run, one after the other for all runs: the inputs and the output of the forward dynamics."""
    return {"q": robot.nq, "v": robot.nv, "tau": robot.nv, "constants": constants, "a": robot.nv}


def lanes_ir(robot: Robot, constants: int) -> str:
    """The LLVM IR of the module."""
    pieces = [_stage_ir(robot, i) for i in range(1, STAGES + 1)]
    pieces += [_copy_ir(robot.nv, "tau"), _copy_ir(constants, "constants"), _keep_ir(robot), _error_ir(robot)]
    return "".join([head_ir(robot), *pieces, _lanes_ir(robot, constants)])


def _with_table(f: Function) -> Function:
    """Load the entries of the table and the length of the step under their names."""
    for i, name in enumerate(TABLE):
        f.do(f"%{name} = load ptr, ptr {f.value(f'getelementptr inbounds ptr, ptr %table, i64 {i}')}, align 8")
    f.do(f"%h = load double, ptr {f.address('%trial', 2)}, align 8")
    return f


def _entry_of_table(f: Function, name: str) -> str:
    return f.value(f"load ptr, ptr {f.value(f'getelementptr inbounds ptr, ptr %table, i64 {TABLE.index(name)}')}, align 8")


def _internal(f: Function, name: str, arguments: str) -> str:
    body = "\n".join([*f.lines, "  ret void"])
    return f"define internal void @{name}({arguments}) nounwind {{\n{body}\n}}\n"


def _stage_ir(robot: Robot, i: int) -> str:
    """``void stage(table, trial, q, v)``: the state of stage i, in ``new`` and in the rows."""
    f = _with_table(Function(1))
    state_of_stage(f, robot, has_plain_rates(robot), i, "%new")
    copied(f, "%new", "%q", robot.nq, "positions")
    copied(f, f.address("%new", robot.nq), "%v", robot.nv, "velocities")
    return _internal(f, f"stage{i}", "ptr noalias %table, ptr noalias %trial, ptr noalias %q, ptr noalias %v")


def _copy_ir(count: int, name: str) -> str:
    """``void copy_name(table, row)``: an array that the table names."""
    f = Function(1)
    copied(f, _entry_of_table(f, name), "%row", count, name)
    return _internal(f, f"copy_{name}", "ptr noalias %table, ptr noalias %row")


def _keep_ir(robot: Robot) -> str:
    """``void keep(table, a, place)``: accelerations to this place of K."""
    f = Function(1)
    target = f.value(f"getelementptr inbounds double, ptr {_entry_of_table(f, 'K')}, i64 %place")
    copied(f, "%a", target, robot.nv, "keep")
    return _internal(f, "keep", "ptr noalias %table, ptr noalias %a, i64 %place")


def _error_ir(robot: Robot) -> str:
    """``void error(table, trial)``: the error of the step, relative to the tolerance, to trial[3]."""
    f = _with_table(Function(1))
    make_room_for_errors(f)
    error = errors(f, robot.nq + robot.nv)
    f.do(f"store double {error}, ptr {f.address('%trial', 3)}, align 8")
    return _internal(f, "error", "ptr noalias %table, ptr noalias %trial")


def _lanes_ir(robot: Robot, constants: int) -> str:
    f, n, wide = Function(1), robot.nq + robot.nv, widths(robot, constants)
    starts, begin = {}, 0
    for name, width in wide.items():
        starts[name] = f.address("%rows", begin)
        begin += LANES * width
    runs = []
    for k in range(LANES):
        table = f.value(f"load ptr, ptr {f.value(f'getelementptr inbounds ptr, ptr %tables, i64 {k}')}, align 8")
        trial = f.value(f"load ptr, ptr {f.value(f'getelementptr inbounds ptr, ptr %trials, i64 {k}')}, align 8")
        row = {name: f.address(start, k * wide[name]) for name, start in starts.items()}
        for name in ("tau", "constants"):
            f.do(f"call void @copy_{name}(ptr {table}, ptr {row[name]})")
        runs.append((table, trial, row))
    inputs = ", ".join(f"ptr {start}" for start in starts.values())
    for i in range(1, STAGES + 1):
        for table, trial, row in runs:
            f.do(f"call void @stage{i}(ptr {table}, ptr {trial}, ptr {row['q']}, ptr {row['v']})")
        status = f.value(f"call i64 %batch({inputs}, i64 {LANES})")
        f.do(f"br i1 {f.value(f'icmp eq i64 {status}, 0')}, label %done{i}, label %refused")
        f.label(f"done{i}")
        for table, _, row in runs:
            f.do(f"call void @keep(ptr {table}, ptr {row['a']}, i64 {i * n + robot.nq})")
    for table, trial, _ in runs:
        f.do(f"call void @error(ptr {table}, ptr {trial})")
    f.do("ret i64 0")
    f.label("refused")
    f.do("ret i64 1")
    body = "\n".join(f.lines)
    return f"define i64 @lanes(ptr noalias %tables, ptr noalias %trials, ptr noalias %rows, ptr %batch) {{\n{body}\n}}\n"
