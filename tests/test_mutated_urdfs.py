"""``info``, ``check`` and ``validate`` on URDFs with planted mistakes: no traceback, the exit codes of the help, and no verdict that its figures
deny. A small set in every run, a hundred of all robots at night."""

from __future__ import annotations

import json
import math
import re
import warnings
from pathlib import Path
from typing import Any

import pytest
from click.testing import Result
from examples import runner
from mutated_urdfs import mutated

from urdf_gibbs.cli import app

pytest.importorskip("pinocchio")

SMALL = (  # a moment to compile: few joints, but all types
    "double_pendulum_description/urdf/double_pendulum.urdf",
    "finger_edu_description/robots/finger_edu.urdf",
    "iris_description/robots/iris.urdf",
    "kinova_description/robots/kinova.urdf",
    "ur_description/urdf/ur5_gripper.urdf",
    "so_arm_description/urdf/so100.urdf",
    "panda_description/urdf/panda.urdf",
)
VERDICTS = {"OK": 0, "FAIL": 1, "LOAD": 2, "NONE": 3}
WORDS = {"agrees": "OK", "disagrees": "FAIL", "nothing to compare": "NONE"}


def called(*arguments: str) -> Result:
    """A command as a person calls it; whatever it raises but its exit code is a traceback."""
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)  # NumPy's complaints are no words for a user
        result = runner.invoke(app, list(arguments))
    assert result.exception is None or isinstance(result.exception, SystemExit), (arguments, repr(result.exception))
    assert "Traceback" not in result.output
    return result


def contradictions(output: str, outcome: dict[str, Any], code: int) -> list[str]:
    """What the text of ``validate`` says against the figures of its JSON, and either against itself."""
    wrong = []
    verdict = re.findall(r"^(OK|FAIL|LOAD|NONE) ", output, re.M)
    if len(verdict) != 1 or VERDICTS[verdict[0]] != code:
        return [f"headline {verdict}, exit code {code}"]
    if not outcome["loaded"]:
        return [] if outcome["errors"] and verdict == ["LOAD"] else [f"headline {verdict} for a file that was refused"]
    if WORDS[outcome["verdict"]] != verdict[0] or outcome["agrees"] != (verdict[0] == "OK"):
        wrong.append(f"headline {verdict}, JSON {outcome['verdict']}, agrees {outcome['agrees']}")
    above = []
    for one in outcome["quantities"]:
        figures = [math.inf if one["error"] is None and not one["agrees"] else one["error"] or 0.0]
        if (figures[0] > one["bound"]) == one["agrees"]:
            wrong.append(f"{one['quantity']}, {one['method']}: {figures[0]} asked {one['bound']} agrees {one['agrees']}")
        if one["agrees"] and max((x for x in one["errors"] if x is not None), default=0.0) > max(figures[0], 1e-9, one["bound"]):
            wrong.append(f"{one['quantity']}, {one['method']}: an error above the largest")
        above += [one["quantity"]] * (not one["agrees"])
    if bool(above) != (verdict == ["FAIL"]):
        wrong.append(f"headline {verdict}, but {above} are above what was asked")
    table = output.split("─┘")[0] if "─┘" in output else ""
    for quantity, figure, bound in re.findall(r"│ ([\w ]+?) +│.*?(\d\.\de[-+]\d+).*\n│ +│ *< (\de[-+]\d+)", table):
        if float(figure) > 1.06 * float(bound) + 1e-300:  # both are rounded
            wrong.append(f"the table's {quantity}: {figure} beside < {bound}")
    largest = re.search(r"errors within 1e-09, the largest (\d\.\de[-+]\d+)", output)
    if largest and float(largest[1]) > 1.0e-9:
        wrong.append(f"headline: within 1e-9, the largest {largest[1]}")
    return wrong


def examine(number: int, folder: Path, among: tuple[str, ...] | None) -> str:
    """All three commands on one file; its verdict."""
    what, text = mutated(number, among)
    file, report = folder / "mutated.urdf", folder / "report.json"
    file.write_text(text, encoding="utf-8")
    loads = called("info", str(file)).exit_code
    assert loads in (0, 2), what
    assert called("check", str(file)).exit_code in (0, 1, 2), what
    result = called("validate", str(file), "--samples", "2", "--no-derivatives", "--json", str(report))
    (outcome,) = json.loads(report.read_text(), parse_constant=lambda word: pytest.fail(f"{what}: {word} is no JSON"))
    assert contradictions(result.output, outcome, result.exit_code) == [], (what, result.output)
    assert not (loads == 0 and result.exit_code == 2), (what, result.output)
    return next(word for word, code in VERDICTS.items() if code == result.exit_code)


@pytest.mark.parametrize("number", range(15))
def test_a_small_robot_with_mistakes_gets_a_verdict_that_its_figures_bear_out(number: int, tmp_path: Path) -> None:
    examine(number, tmp_path, SMALL)


@pytest.mark.nightly
@pytest.mark.parametrize("number", range(100))
def test_any_robot_with_mistakes_gets_a_verdict_that_its_figures_bear_out(number: int, tmp_path: Path) -> None:
    examine(number, tmp_path, None)


def test_a_contradiction_is_noticed() -> None:
    """The control of the above: an error above its bound below an OK, and a headline that the JSON denies."""
    good = {"method": "compiled", "quantity": "bias", "error": 1e-15, "bound": 1e-9, "agrees": True, "errors": [1e-15]}
    outcome = {"loaded": True, "verdict": "agrees", "agrees": True, "quantities": [good]}
    assert contradictions("OK   x: agrees\n", outcome, 0) == []
    assert contradictions("OK   x: agrees\n", {**outcome, "quantities": [{**good, "error": 1e-8}]}, 0)
    assert contradictions("FAIL x: disagrees\n", outcome, 1)
    assert contradictions("OK   x: errors within 1e-09, the largest 3.0e-07\n", outcome, 0)
    assert contradictions("OK   x: agrees\n", outcome, 1)
