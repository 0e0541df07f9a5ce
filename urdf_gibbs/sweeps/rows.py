"""The row of a run: its parameters and what came of it, and the columns of a table of them."""

from __future__ import annotations

import hashlib
import inspect
import json
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from urdf_gibbs.arguments import shown
from urdf_gibbs.errors import ArgumentError
from urdf_gibbs.robot.model import Robot
from urdf_gibbs.simulation.batch import AT_REST
from urdf_gibbs.simulation.runs import Outcomes
from urdf_gibbs.simulation.scenario.expression import Formula, formula
from urdf_gibbs.simulation.scenario.problems import one_of
from urdf_gibbs.simulation.trajectory import Trajectory, coordinate_names
from urdf_gibbs.sweeps.values import Listed, Values

if TYPE_CHECKING:
    import pyarrow as pa

Quantity = str | Callable[[Trajectory], float]

FIRST, LAST = ("run",), ("seed", "status", "error")  # before and behind the parameters
RESULTS = (
    "time",  # s, reached
    "impacts",  # how many
    "largest_impulse",  # N s, of one contact along its normal
    "energy_start",  # J
    "energy_end",  # J
    "deepest",  # m, by which something was inside a wall
    "last_impact",  # s; none without impacts
    "held_from",  # s: from when on the contacts that hold at the end hold as they do then; none where none holds
    "rest",  # s: the same where nothing moves at the end
)
COUNTS = ("impacts",)
COMPLETE, FAILED, REFUSED = "complete", "failed", "refused"  # refused: it could not begin
FUNCTION = "python:"  # before the hash of a function, where there could be a formula
QUESTION_ALONE = ("file", "paths")  # what only question.parquet tells: files of rows are the same wherever the scenario lies
LONGEST_LIST = 100  # values of a parameter that every file tells; question.parquet has all
LONGEST_ERROR = 2000  # characters


def quantities_of(given: Mapping[str, Any] | None, keys: Sequence[str], robot: Robot) -> dict[str, Formula | Callable[[Trajectory], float]]:
    """Quantities that the user wants beside the columns that all sweeps have.

    Args:
        given: Formulas of columns and of the state at the end (q.NAME, v.NAME), or functions of the trajectory, by name.
        keys: The parameters.
        robot: Whose coordinates formulas may name.

    Returns:
        The same, formulas read.

    Raises:
        ArgumentError: A name is taken, a formula is none, or it names what is not there.
    """
    if given is not None and not isinstance(given, Mapping):
        raise ArgumentError(f"quantities={shown(given)}, expected formulas or functions by name: {{'lost': 'energy_start - energy_end'}}")
    found: dict[str, Formula | Callable[[Trajectory], float]] = {}
    taken = {*FIRST, *LAST, *RESULTS, *keys}
    for name, quantity in (given or {}).items():
        if not isinstance(name, str) or not name:
            raise ArgumentError(f"quantities: {name!r} is no name")
        if name in taken:
            raise ArgumentError(f"quantities: {name!r} is the name of a column that there is already")
        if callable(quantity):
            found[name] = quantity
        elif isinstance(quantity, str):
            found[name] = _formula(name, quantity, [*RESULTS, *keys, "seed", "run", *found], robot)
        else:
            raise ArgumentError(f"quantities: {name}={shown(quantity)}, expected a formula or a function of the trajectory")
    return found


def _formula(name: str, text: str, columns: Sequence[str], robot: Robot) -> Formula:
    try:
        made = formula(text)
    except ValueError as problem:
        raise ArgumentError(f"quantities: {name}={shown(text)}: {problem}") from None
    known = [*columns, *_state_names(robot)]
    for used in made.names:
        if used not in known:
            raise ArgumentError(f"quantities: {name}={shown(text)}: {used} is not known, expected {one_of(used, known)}")
    return made


def _state_names(robot: Robot) -> list[str]:
    return [*(f"q.{name}" for name in coordinate_names(robot)), *(f"v.{name}" for name in robot.velocity_names)]


def fingerprint(quantity: Formula | Callable[..., Any]) -> str:
    """What a quantity is, as text: a formula itself, the hash of a function's source, or of its code where there is no source."""
    if isinstance(quantity, Formula):
        return quantity.text
    try:
        source = inspect.getsource(quantity)
    except (OSError, TypeError):
        code = getattr(quantity, "__code__", None)
        source = (
            repr(quantity)
            if code is None
            else f"{code.co_code.hex()} {code.co_names} {[c for c in code.co_consts if not hasattr(c, 'co_code')]}"
        )
    return f"{FUNCTION}{hashlib.sha256(source.encode()).hexdigest()}"


def results_of(trajectory: Trajectory, error: str | None, energies: Sequence[float]) -> dict[str, Any]:
    """The columns that all sweeps have, of one run; ``energies`` [J] at its start and end."""
    held = [phase.start if math.isnan(phase.accumulation) else phase.accumulation for phase in trajectory.phases if phase.end == math.inf]
    held_from = max(held, default=None)
    moves = not bool(np.all(np.abs(trajectory.v[-1]) <= AT_REST))
    return {
        "status": COMPLETE if error is None else FAILED,
        "error": error,
        "time": float(trajectory.t[-1]),
        "impacts": len(trajectory.impacts),
        "largest_impulse": max((float(impact.impulses.max(initial=0.0)) for impact in trajectory.impacts), default=0.0),
        "energy_start": _number(energies[0]),
        "energy_end": _number(energies[1]),
        "deepest": _number(trajectory.statistics.get("deepest")),
        "last_impact": trajectory.impacts[-1].time if len(trajectory.impacts) else None,
        "held_from": held_from,
        "rest": None if moves else held_from,
    }


def columns_of(outcomes: Outcomes) -> dict[str, Any]:
    """The same of compiled runs, as arrays; what there is not is NaN."""
    told = {run: reason.partition(": ") for run, reason in outcomes.reasons.items()}
    energies = outcomes.kinetic + outcomes.potential
    numbers = {name: getattr(outcomes, name).copy() for name in RESULTS if not name.startswith("energy")}
    numbers |= {"energy_start": energies[:, 0].copy(), "energy_end": energies[:, 1].copy()}
    for run in (run for run, reason in told.items() if reason[0] == REFUSED):
        for name in RESULTS:
            numbers[name][run] = 0 if name in COUNTS else np.nan
    status = [told[k][0] if k in told else COMPLETE for k in range(len(outcomes))]
    return {"status": status, "error": [told[k][2][:LONGEST_ERROR] if k in told else None for k in range(len(outcomes))], **numbers}


def refused(error: str) -> dict[str, Any]:
    """The same of a run that could not begin."""
    return {"status": REFUSED, "error": error, **dict.fromkeys(RESULTS), "impacts": 0}


def short(problem: BaseException) -> str:
    """An error as text for a row."""
    text = str(problem) or type(problem).__name__
    return text if len(text) <= LONGEST_ERROR else f"{text[:LONGEST_ERROR]}..."


def asked(
    quantities: Mapping[str, Formula | Callable[[Trajectory], float]],
    row: Mapping[str, Any],
    state: Mapping[str, float],
    trajectory: Trajectory | None,
) -> dict[str, float | None]:
    """The user's quantities of one run; None where a formula has no value, or an entry of it has none.

    Raises:
        Exception: Whatever a function of the user's raises.
    """
    found: dict[str, float | None] = {}
    values: dict[str, float] | None = None
    for name, quantity in quantities.items():
        if isinstance(quantity, Formula):
            if values is None:
                values = {key: float(value) for key, value in row.items() if isinstance(value, int | float)} | dict(state)
            try:
                found[name] = quantity.value(values)
            except ValueError:
                found[name] = None
        else:
            found[name] = None if trajectory is None else _number(quantity(trajectory))
        if values is not None and found[name] is not None:
            values[name] = float(found[name] or 0.0)
    return found


def state_of(robot: Robot, q: Iterable[float], v: Iterable[float]) -> dict[str, float]:
    """A state by the names that formulas use."""
    return dict(zip(_state_names(robot), map(float, (*q, *v)), strict=True))


def _number(value: Any) -> float | None:
    number = math.nan if value is None else float(value)
    return number if math.isfinite(number) else None


# tables ---------------------------------------------------------------------------------------------------


def schema(over: Mapping[str, Values], quantities: Iterable[str], metadata: Mapping[str, Any]) -> pa.Schema:
    """Names and types of the columns; ``metadata`` goes with every file, of long lists of values their number alone."""
    import pyarrow as pa

    told = {key: {"values": len(one["list"])} if len(one.get("list", ())) > LONGEST_LIST else one for key, one in metadata["over"].items()}
    metadata = {name: value for name, value in metadata.items() if name not in QUESTION_ALONE} | {"over": told}

    fields = [pa.field("run", pa.int64(), nullable=False)]
    fields += [pa.field(key, _type_of(values), nullable=False) for key, values in over.items()]
    fields += [pa.field("seed", pa.string() if metadata["seed"] >= 2**63 else pa.int64(), nullable=False)]
    fields += [pa.field("status", pa.string(), nullable=False), pa.field("error", pa.string())]
    fields += [pa.field(name, pa.int64() if name in COUNTS else pa.float64()) for name in RESULTS]
    fields += [pa.field(name, pa.float64()) for name in quantities]
    return pa.schema(fields, metadata={"urdf_gibbs": json.dumps(metadata)})


def _kinds(values: Values) -> set[type]:
    if isinstance(values, Listed) or values.name == "choice":
        return {type(value) for value in (values.values if isinstance(values, Listed) else values.arguments)}
    return {float}


def _type_of(values: Values) -> pa.DataType:
    import pyarrow as pa

    kinds = _kinds(values)
    if len(kinds) > 1:
        return pa.string()  # as JSON
    return {float: pa.float64(), bool: pa.bool_(), str: pa.string(), tuple: pa.list_(pa.float64())}[kinds.pop()]


def column(values: Values, entries: list[Any]) -> list[Any]:
    """The values of a parameter as its column has them."""
    return [json.dumps(entry) for entry in entries] if len(_kinds(values)) > 1 else entries
