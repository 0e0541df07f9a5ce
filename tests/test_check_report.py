"""``urdf-gibbs check`` as it is read: groups, codes left out and asked for, lines, JSON, SARIF, the hook and the action."""

from __future__ import annotations

import ast
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from examples import runner
from sarif_pydantic import Sarif

import urdf_gibbs as ug
from urdf_gibbs.cli import app
from urdf_gibbs.robot.codes import CODES

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "pages" / "check.md"
HEAVY = '<inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>'


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A star of eight arms without masses, and a robot without fault."""
    arms = "".join(
        f'<link name="arm_number_{i}"/>\n<joint name="j{i}" type="revolute"><parent link="base"/><child link="arm_number_{i}"/></joint>\n'
        for i in range(8)
    )
    (tmp_path / "star robot.urdf").write_text(
        f'<robot name="r">\n<link name="base">{HEAVY}</link>\n<link name="frame"/>\n{arms}'
        '<joint name="f" type="fixed"><parent link="base"/><child link="frame"/></joint></robot>'
    )
    (tmp_path / "good.urdf").write_text(f'<robot name="r"><link name="a">{HEAVY}</link></robot>')
    monkeypatch.chdir(tmp_path)
    return tmp_path


def run(*arguments: str, code: int = 0) -> str:
    result = runner.invoke(app, ["check", *arguments], env={"COLUMNS": "80"})
    assert result.exit_code == code, result.output
    return result.output


def test_findings_come_in_groups_with_a_count_and_all_names(folder: Path) -> None:
    output = run("star robot.urdf", "good.urdf")
    heads = re.findall(r"^(error|warning|note) ([\w-]+)(?: x(\d+))?: ", output, flags=re.MULTILINE)
    assert heads == [
        ("warning", "no-inertial", "8"),
        ("warning", "no-limit", "8"),
        ("warning", "singular", "8"),
        ("note", "no-inertial", ""),
    ]
    assert all(len(line) <= 80 for line in output.splitlines())
    assert all(f"arm_number_{i}" in output for i in range(8))
    lines = output.splitlines()
    assert "star robot.urdf: 0 errors, 24 warnings, 1 note" in lines
    assert "good.urdf: 0 errors, 0 warnings, 0 notes" in lines
    assert "2 files, 1 without errors and warnings: 0 errors, 24 warnings, 1 note" in lines
    assert run("star robot.urdf", "--verbose").count('link "arm_number_') == 8


def test_codes_are_left_out_and_asked_for(folder: Path) -> None:
    assert "24 warnings" in run("star robot.urdf", "--strict", code=1)
    assert "16 warnings, 0 notes (9 not asked for)" in run("star robot.urdf", "--ignore", "no-inertial")
    assert "0 warnings, 0 notes (25 not asked for)" in run(
        "star robot.urdf", "--strict", "--ignore", "no-inertial,no-limit", "--ignore", "singular"
    )
    output = run("star robot.urdf", "--only", "no-limit", "--only", "singular")
    assert "16 warnings, 0 notes" in output and "no-inertial" not in output
    report = json.loads(run("star robot.urdf", "--only", "singular", "--json", "-"))[0]
    assert report["warning"] == 8 and len(report["findings"]) == 25  # JSON keeps everything
    assert sum(not one["ignored"] for one in report["findings"]) == 8


def test_a_wrong_code_is_an_error_that_helps(folder: Path) -> None:
    told = " ".join(run("good.urdf", "--ignore", "no-inertail", code=2).replace("│", " ").split())
    assert "'no-inertail' is no code of a finding" in told and "did you mean no-inertial?" in told
    assert "no code" in run("good.urdf", "--only", "§", code=2)


def test_lines_are_as_compilers_print_them(folder: Path) -> None:
    lines = run("star robot.urdf", "--lines").splitlines()
    assert len(lines) == 26
    assert all(re.match(r"star robot\.urdf:\d+: (warning|note): .* \[[\w-]+\]$", line) for line in lines[:-1])


def test_sarif_is_valid_and_says_the_same(folder: Path, tmp_path: Path) -> None:
    """Read by models of SARIF 2.1.0 that are written apart; what it says is compared with check()."""
    run(
        "star robot.urdf",
        str(ug.model_path("rocker_arm")),
        "good.urdf",
        "gone.urdf",
        "--ignore",
        "no-limit",
        "--sarif",
        "out.sarif",
        code=1,
    )
    text = (folder / "out.sarif").read_text()
    (whole,) = Sarif.model_validate_json(text).runs
    assert json.loads(text)["version"] == "2.1.0"
    expected = [
        (path, one) for path in (folder / "star robot.urdf", ug.model_path("rocker_arm"), folder / "gone.urdf") for one in ug.check(path)
    ]
    results = json.loads(text)["runs"][0]["results"]
    rules = json.loads(text)["runs"][0]["tool"]["driver"]["rules"]
    assert whole.results is not None and len(whole.results) == len(results) == len(expected) > 25
    for result, (path, finding) in zip(results, expected, strict=True):
        place = result["locations"][0]["physicalLocation"]
        assert (result["ruleId"], result["level"]) == (finding.code, finding.severity)
        assert rules[result["ruleIndex"]]["id"] == finding.code
        assert place["region"]["startLine"] == max(1, finding.line)  # a file that is not there has no lines
        assert ("suppressions" in result) == (finding.code == "no-limit")
        uri = place["artifactLocation"]["uri"]
        assert uri == (path.name.replace(" ", "%20") if path.parent == folder else path.absolute().as_uri())
    assert len({rule["id"] for rule in rules}) == len(rules)


# codes -------------------------------------------------------------------------------------------------

SAY = {"error": "error", "warning": "warning", "note": "note"}
FIRST = {*SAY, "_mistake", "differs", "Difference"}  # calls whose first argument is a code
LATER = {"_say": 2, "Doubt": 2}


def codes_in_sources() -> dict[str, set[str]]:
    """Codes of findings as the sources name them, with the severities that can be read there."""
    found: dict[str, set[str]] = {}
    for path in [*ROOT.glob("urdf_gibbs/robot/*.py"), *ROOT.glob("urdf_gibbs/lint/*.py")]:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Return) and isinstance(node.value, ast.Tuple) and path.name == "tree.py":
                names = [node.value.elts[0]]
            elif isinstance(node, ast.Call):
                name = node.func.attr if isinstance(node.func, ast.Attribute) else node.func.id if isinstance(node.func, ast.Name) else ""
                place = 0 if name in FIRST or isinstance(node.func, ast.IfExp) or name == "say" else LATER.get(name)
                names = node.args[place : place + 1] if place is not None else []
            else:
                continue
            for one in names:
                if isinstance(one, ast.Constant) and isinstance(one.value, str) and re.fullmatch(r"[a-z]+(-[a-z]+)*", one.value):
                    severity = SAY.get(name) if isinstance(node, ast.Call) else None
                    found.setdefault(one.value, set()).update({severity} if severity else set())
                elif isinstance(one, ast.JoinedStr) and ast.unparse(one) == "f'unknown-{end}'":
                    found |= {"unknown-parent": {"error"}, "unknown-child": {"error"}}
    return found


def test_every_code_of_the_sources_is_known_and_none_is_stale() -> None:
    found = codes_in_sources()
    assert set(found) - set(CODES) == set()
    assert set(CODES) - set(found) == set()
    told = {code: severities - set(CODES[code].severities) for code, severities in found.items()}
    assert {code: rest for code, rest in told.items() if rest} == {}


def test_the_page_tells_every_code_as_the_command_does() -> None:
    rows = re.findall(r"^\| `([\w-]+)` \| ([a-z, ]+) \| (.*?) \| (.+?) \| (.*?) \|$", PAGE.read_text(encoding="utf-8"), flags=re.MULTILINE)
    assert sorted(code for code, *_ in rows) == sorted(CODES)
    for code, severities, title, example, repair in rows:
        rule = CODES[code]
        assert severities == ", ".join(rule.severities), code
        assert (title.replace("&lt;", "<"), repair.replace("&lt;", "<")) == (rule.title, rule.repair), code
        assert len(example) > 3, code


# the hook and the action ----------------------------------------------------------------------------------


def test_the_hook_runs_the_command_on_urdfs() -> None:
    (hook,) = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text())
    assert hook["language"] == "python" and re.search(hook["files"], "robots/arm.urdf") and not re.search(hook["files"], "arm.urdf.xacro")
    command, *rest = hook["entry"].split()
    assert command == "urdf-gibbs"
    assert runner.invoke(app, [*rest, str(ug.model_path("quadruped"))]).exit_code == 0
    assert hook["additional_dependencies"] == [".[check]"]


@pytest.mark.skipif(sys.platform == "win32", reason="the action runs in bash")
@pytest.mark.parametrize(("strict", "ignore", "code"), [("true", "", 1), ("false", "", 0), ("true", "no-inertial,no-limit,singular", 0)])
def test_the_action_checks_what_its_patterns_match(folder: Path, tmp_path: Path, strict: str, ignore: str, code: int) -> None:
    """Its own script, with a command in the place where the step before installs it."""
    action = yaml.safe_load((ROOT / "action.yml").read_text())
    step = action["runs"]["steps"][-1]
    assert "${{" not in step["run"]
    given = {"files": "**/*.urdf", "strict": strict, "ignore": ignore, "package-dir": "", "sarif": "found.sarif"}
    assert {name.removeprefix("${{ inputs.").removesuffix(" }}") for name in step["env"].values()} == set(given)
    variables = {name: given[value.removeprefix("${{ inputs.").removesuffix(" }}")] for name, value in step["env"].items()}
    place = tmp_path / "runner" / "urdf-gibbs" / "bin"
    place.mkdir(parents=True)
    (place / "urdf-gibbs").write_text(f'#!/bin/sh\nexec "{sys.executable}" -m urdf_gibbs "$@"\n')
    (place / "urdf-gibbs").chmod(0o755)
    environment = {**os.environ, **variables, "RUNNER_TEMP": str(tmp_path / "runner"), "PYTHONPATH": str(ROOT)}
    # bash splits patterns at blanks and matches names with blanks
    done = subprocess.run(["bash", "-e", "-c", step["run"]], cwd=folder, env=environment, capture_output=True, text=True, timeout=120)
    assert done.returncode == code, done.stdout + done.stderr
    assert "star robot.urdf:4: warning: " in done.stdout or ignore
    assert json.loads((folder / "found.sarif").read_text())["runs"][0]["results"]
    nothing = {**environment, "FILES": "*.xml"}
    done = subprocess.run(["bash", "-e", "-c", step["run"]], cwd=folder, env=nothing, capture_output=True, text=True, timeout=120)
    assert done.returncode == 1 and "no file matches" in done.stdout
