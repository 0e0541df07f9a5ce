"""The report of a validation as data, checked against Pinocchio and against hand-written files, and ``validate --html``."""

from __future__ import annotations

import base64
import json
import os
import re
import zlib
from html import escape, unescape
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import numpy as np
import pinocchio as pin
import pytest
from defective_robots import BROKEN, EVIL, changed_rocker
from examples import FOLDER
from random_trees import random_tree
from typer.testing import CliRunner

import urdf_gibbs as ug
from urdf_gibbs.cli import app
from urdf_gibbs.dynamics.registry import METHODS
from urdf_gibbs.lint.check import check
from urdf_gibbs.oracle.compare import _error, validate
from urdf_gibbs.oracle.difference import judged, random_states
from urdf_gibbs.oracle.pinocchio import Oracle
from urdf_gibbs.oracle.report import TOLERANCE, Comparison, Report
from urdf_gibbs.robot.findings import Finding
from urdf_gibbs.robot.gravity import EARTH_GRAVITY
from urdf_gibbs.view.report import Entry, concerned, index_page, nonzero_pattern, predicted_pattern, report_data, report_view

ROBOTS = (
    ("panda_description/urdf/panda.urdf", "fixed"),
    ("go2_description/urdf/go2.urdf", "floating"),
    ("solo_description/robots/solo12.urdf", "floating"),
    ("talos_data/robots/talos_full_v2.urdf", "floating"),
    ("icub_description/robots/icub.urdf", "floating"),
    ("tiago_description/robots/tiago.urdf", "planar"),
)
runner = CliRunner()


def unpacked(array: dict[str, Any]) -> np.ndarray[Any, Any]:
    return np.frombuffer(zlib.decompress(base64.b64decode(array["deflated"])), dtype="<f8").reshape(array["shape"])


# sparsity ---------------------------------------------------------------------------------------------


RIGID = [name for name in ug.model_names() if not name.startswith("flexible")]  # Pinocchio has no elastic links


def pinocchio_matrices(robot: ug.Robot, source: Any, count: int = 3) -> list[np.ndarray[Any, Any]]:
    oracle = Oracle(source, robot.base, robot.mimic, EARTH_GRAVITY)
    rng = np.random.default_rng(5)
    none = np.zeros(robot.nv)
    return [oracle.answers(robot.random(rng), none, none, none, {}).mass_matrix for _ in range(count)]


@pytest.mark.filterwarnings("ignore::urdf_gibbs.UrdfWarning")
@pytest.mark.parametrize(("file", "base"), [*((str(ug.model_path(name)), "floating") for name in RIGID), *ROBOTS])
def test_pinocchio_has_nothing_where_the_branches_predict_zero(file: str, base: str) -> None:
    source = FOLDER / file  # an absolute path stays as it is
    robot = ug.load(source, base)  # type: ignore[arg-type]
    predicted = predicted_pattern(robot)
    assert predicted.shape == (robot.nv, robot.nv) and (predicted == predicted.T).all() and predicted.diagonal().all()
    for M in pinocchio_matrices(robot, source):
        assert (M[~predicted] == 0.0).all()
        assert not (nonzero_pattern(M) & ~predicted).any()
    for method in METHODS[:2]:
        assert (ug.mass_matrix(robot, robot.random(0), method=method)[~predicted] == 0.0).all()


@pytest.mark.filterwarnings("ignore::urdf_gibbs.UrdfWarning")
@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("mimic", [0.0, 0.5])
def test_generic_robots_fill_the_prediction_and_nothing_else(seed: int, mimic: float) -> None:
    """With inertias and axes without any symmetry, what can be non-zero is; mimic joints couple what no branch joins."""
    text = random_tree(seed, 14, ("revolute", "continuous", "prismatic", "planar", "fixed"), mimic=mimic)
    robot = ug.load(text)
    assert robot.nv > 0
    filled = np.any([nonzero_pattern(M) for M in pinocchio_matrices(robot, text)], axis=0)
    translations = [column[0] == "P" for joint in robot.joints if not joint.is_mimic for column in joint.columns]
    followed = {joint.iv for joint in robot.joints if joint.is_mimic}
    predicted = predicted_pattern(robot)
    assert not (filled & ~predicted).any()
    for i, j in np.argwhere(predicted & ~filled):  # perpendicular translations of one planar joint: zero by symmetry
        assert translations[i] and translations[j] and not {int(i), int(j)} & followed


def test_a_mimic_joint_couples_two_branches() -> None:
    inertial = '<inertial><origin xyz="0.1 0.2 0.3"/><mass value="1"/><inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/></inertial>'
    links = "".join(f'<link name="{name}">{inertial}</link>' for name in ("base", "a", "b", "c"))

    def joint(name: str, parent: str, child: str, more: str = "") -> str:
        return f'<joint name="{name}" type="continuous"><parent link="{parent}"/><child link="{child}"/><axis xyz="0 1 0"/>{more}</joint>'

    free = joint("ja", "base", "a") + joint("jb", "base", "b") + joint("jc", "b", "c")
    tied = joint("ja", "base", "a") + joint("jb", "base", "b") + joint("jc", "b", "c", '<mimic joint="ja" multiplier="2"/>')
    apart = predicted_pattern(ug.load(f'<robot name="r">{links}{free}</robot>'))
    assert apart.tolist() == [[True, False, False], [False, True, True], [False, True, True]]
    together = predicted_pattern(ug.load(f'<robot name="r">{links}{tied}</robot>'))
    assert together.tolist() == [[True, True], [True, True]]


# errors and matrices ----------------------------------------------------------------------------------


@pytest.mark.filterwarnings("ignore::urdf_gibbs.UrdfWarning")
def test_the_error_of_every_sample_is_that_of_pinocchio(tmp_path: Path) -> None:
    original = ug.model_path("rocker_arm")
    robot = ug.load(changed_rocker(tmp_path))
    report = validate(robot, original, samples=7, seed=3, derivatives=False)
    model = pin.buildModelFromUrdf(str(original))
    data = model.createData()
    states = random_states(robot, 7, 3)
    wanted: dict[str, list[float]] = {"mass matrix": [], "bias": [], "kinetic energy": []}
    for q, v in zip(states.q, states.v, strict=True):
        x = np.concatenate([[np.cos(a), np.sin(a)] if joint.nq == 2 else [a] for a, joint in zip(q, list(model.joints)[1:], strict=True)])
        upper = np.triu(pin.crba(model, data, x))
        M = upper + np.triu(upper, 1).T
        ours = ug.mass_matrix(robot, q)
        h = pin.nonLinearEffects(model, data, x, v)
        wanted["mass matrix"].append(np.abs(ours - M).max() / np.abs(M).max())
        wanted["bias"].append(np.abs(ug.bias(robot, q, v) - h).max() / np.abs(h).max())
        wanted["kinetic energy"].append(abs(0.5 * v @ (ours - M) @ v) / (0.5 * v @ M @ v))
    for comparison in report.comparisons:
        assert len(comparison.errors) == 7
        if comparison.quantity in wanted:
            np.testing.assert_allclose(comparison.errors, wanted[comparison.quantity], rtol=1e-9, atol=1e-13)
        if np.isfinite(comparison.errors).all():
            assert comparison.error == max(comparison.errors)
    assert not report.agrees
    assert report.matrices is not None
    worst = int(np.argmax(wanted["mass matrix"]))
    assert report.matrices.state == worst
    np.testing.assert_array_equal(report.matrices.q, states.q[worst])
    np.testing.assert_allclose(report.matrices.ours["explicit"], ug.mass_matrix(robot, states.q[worst]), rtol=1e-12, atol=1e-14)
    assert set(report.matrices.ours) == set(METHODS)


@pytest.mark.filterwarnings("ignore::urdf_gibbs.UrdfWarning")
def test_forward_dynamics_has_an_error_for_each_sample_also_after_the_first_that_disagrees(tmp_path: Path) -> None:
    text = ug.model_path("planar3r").read_text()
    file = tmp_path / "planar3r.urdf"
    file.write_text(re.sub(r'<mass value="([\d.]+)"', lambda m: f'<mass value="{float(m[1]) + 0.01}"', text, count=1))
    file.write_text(re.sub(r'izz="([\d.]+)"', lambda m: f'izz="{float(m[1]) + 0.01}"', file.read_text()))
    report = validate(ug.load(file), ug.model_path("planar3r"), samples=6, derivatives=False)
    forward = [c for c in report.comparisons if c.quantity == "forward dynamics"]
    assert forward
    for comparison in forward:
        assert not comparison.agrees and comparison.error > comparison.bound == TOLERANCE
        assert len(comparison.errors) == 6 and min(comparison.errors) > TOLERANCE
        assert comparison.error == comparison.errors[comparison.state] == max(comparison.errors)


@pytest.mark.filterwarnings("ignore::urdf_gibbs.UrdfWarning")
def test_what_does_not_exist_is_no_number_and_json_stays_json() -> None:
    robot = ug.load(FOLDER / "romeo_description/urdf/romeo_laas_small.urdf", mimic=True)
    report = validate(robot, robot.file, samples=2, derivatives=False)
    forward = next(c for c in report.comparisons if c.quantity == "forward dynamics")
    assert np.isnan(forward.errors).all() and forward.agrees
    plain = report.as_dict()
    json.dumps(plain, allow_nan=False)
    assert "matrices" not in plain
    assert next(q for q in plain["quantities"] if q["quantity"] == "forward dynamics")["errors"] == [None, None]


def test_the_page_holds_the_matrices_the_errors_and_the_states() -> None:
    robot = ug.load(ug.model_path("branched12"))
    report = validate(robot, robot.file, samples=4, seed=1, derivatives=False)
    data = report_data(robot, report, [])
    json.dumps(data, allow_nan=False)
    assert report.matrices is not None
    matrices = data["matrices"]
    np.testing.assert_array_equal(unpacked(matrices["reference"]), report.matrices.reference)
    for one in matrices["ours"]:
        np.testing.assert_array_equal(unpacked(one["M"]), report.matrices.ours[one["method"]])
    np.testing.assert_array_equal(unpacked(data["states"]), random_states(robot, 4, 1).q)
    np.testing.assert_array_equal(unpacked(data["states"])[matrices["state"]], report.matrices.q)
    assert [row["name"] for row in data["rows"]] == list(robot.velocity_names)
    assert matrices["counts"] == {
        "entries": 144,
        "predicted": int(unpacked(matrices["predicted"]).sum()),
        "nonzero": int(unpacked(matrices["nonzero"]).sum()),
        "outside": 0,
    }
    for outcome, comparison in zip(data["outcomes"], report.comparisons, strict=True):
        np.testing.assert_array_equal(unpacked(outcome["errors"]), comparison.errors)
    assert report_view(robot, report, []).data["robot"]["q"] == report.matrices.q.tolist()


def test_entries_outside_the_prediction_are_counted() -> None:
    robot = ug.load(ug.model_path("branched12"))
    report = validate(robot, robot.file, samples=1, methods=("compiled",), derivatives=False)
    assert report.matrices is not None
    i, j = np.argwhere(~predicted_pattern(robot))[0]
    report.matrices.ours["compiled"][i, j] = 1e-3
    assert report_data(robot, report, [])["matrices"]["counts"]["outside"] == 1


def test_matrices_that_are_too_large_are_left_out_and_it_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    robot = ug.load(ug.model_path("branched12"))
    report = validate(robot, robot.file, samples=1, derivatives=False)
    monkeypatch.setattr("urdf_gibbs.view.report.MOST_ENTRIES", 2 * 144)
    data = report_data(robot, report, [])
    assert [one["method"] for one in data["matrices"]["ours"]] == [METHODS[0]]
    assert any("left out of the page" in note for note in data["notes"])
    monkeypatch.setattr("urdf_gibbs.view.report.MOST_ENTRIES", 200)
    data = report_data(robot, report, [])
    assert "matrices" not in data and any("not drawn" in note for note in data["notes"])


def test_joints_that_pinocchio_does_not_have_are_a_page_without_matrices() -> None:
    robot = ug.load(ug.model_path("planar3r"))
    report = validate(robot, ug.model_path("branched12"), samples=2, derivatives=False)
    assert report.matrices is None and not report.agrees
    data = report_data(robot, report, [])
    json.dumps(data, allow_nan=False)
    assert data["worst"]["error"] is None and "states" not in data and "matrices" not in data


def test_a_report_of_nothing_is_a_page() -> None:
    robot = ug.load(ug.model_path("planar3r"))
    report = Report(robot.file, "fixed", 3, 3, 0, 0)
    assert report.worst == Comparison("", "")
    assert report_view(robot, report, []).html()


# findings ---------------------------------------------------------------------------------------------


def test_findings_know_their_links() -> None:
    with pytest.warns(ug.UrdfWarning):
        robot = ug.load(BROKEN)
    findings = check(BROKEN)
    links = dict(zip([(f.code, f.element) for f in findings], concerned(robot, findings), strict=True))
    assert links[("bad-colour", 'material "odd"')] == []
    assert links[("no-inertial", 'link "base"')] == ["base"]
    assert links[("triangle-inequality", 'link "upper arm" <inertia>')] == ["upper arm"]
    assert links[("axis-length", 'joint "shoulder" <axis>')] == ["upper arm"]
    assert links[("inverted-limits", 'joint "shoulder" <limit>')] == ["upper arm"]
    assert links[("no-limit", 'joint "the "elbow""')] == ['the "wrist"']
    assert links[("no-inertial", 'link "tool"')] == ["tool"]
    assert links[("mimic-ignored", 'joint "weld" <mimic>')] == ["tool"]  # a fixed joint, merged into its parent


def finding(element: str, line: int = 1) -> Finding:
    return Finding("warning", "code", "file", line, element, "value", "expected")


def test_names_that_contain_or_look_like_others() -> None:
    long = "x" * 200
    names = ["a", 'a" <visual>', "a b", "a  b", long, "b"]
    text = '<robot name="r">\n' + "\n".join(f'<link name="{escape(name, quote=True)}"/>' for name in names) + "\n"
    text += "\n".join(
        f'<joint name="j{escape(name, quote=True)}" type="fixed"><parent link="a"/><child link="{escape(name, quote=True)}"/></joint>'
        for name in names[1:]
    )
    robot = ug.load(text + "</robot>")
    found = concerned(
        robot,
        [
            finding('link "a"', 2),
            finding('link "a" <visual>', 2),
            finding('link "a" <visual>"', 3),
            finding('link "a" <visual>" <inertial>', 3),
            finding('link "a b"', 4),
            finding('link "a b" <mass>', 5),
            finding('link "missing"', 9),
            finding('joint "jb"', 12),
            finding("<robot>"),
            finding("document"),
        ],
    )
    assert found == [["a"], ["a"], ['a" <visual>'], ['a" <visual>'], ["a b"], ["a  b"], [], ["b"], [], []]
    own = [f for f in check(text + "</robot>") if f.code == "no-inertial" and f.line == 6]
    assert own[0].element.endswith("...") and concerned(robot, own) == [[long]]


# the command ------------------------------------------------------------------------------------------


class Tags(HTMLParser):
    """Elements and links of a page, as a browser's reader meets them."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.scripts: list[str | None] = []  # their names
        self.links: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.scripts += [dict(attrs).get("id")] if tag == "script" else []
        self.links += [value or "" for name, value in attrs if name == "href" and tag == "a"]


def test_one_file_is_one_page(tmp_path: Path) -> None:
    page = tmp_path / "planar.html"
    result = runner.invoke(app, ["validate", "planar3r", "--samples", "2", "--html", str(page)])
    assert result.exit_code == 0, result.output
    assert f"written: {page}" in result.output
    assert os.listdir(tmp_path) == ["planar.html"]
    text = page.read_text()
    assert "planar3r" in text and "http-equiv" not in text
    assert '"agrees":true' in text and '"reference":"Pinocchio"' in text


def test_several_are_an_index_and_pages_beside_it(tmp_path: Path) -> None:
    for folder in ("one", "two"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "arm.urdf").write_text(ug.model_path("planar3r").read_text())
    bad = tmp_path / "bad.urdf"
    bad.write_text('<robot name="bad"><link name="a"/><link name="<b>"/></robot>'.replace("<b>", "&lt;b>"))
    index = tmp_path / "all.html"
    files = [str(tmp_path / "one/arm.urdf"), str(tmp_path / "two/arm.urdf"), str(bad)]
    result = runner.invoke(app, ["validate", *files, "--base", "fixed", "--base", "floating", "--samples", "1", "--html", str(index)])
    assert result.exit_code == 2, result.output
    assert f"written: {index}" in result.output
    text = index.read_text()
    links = Tags(text).links
    assert links == ["all-arm-fixed.html", "all-arm-floating.html", "all-arm-fixed-2.html", "all-arm-floating-2.html"]
    for link in links:
        assert '"agrees":true' in (tmp_path / link).read_text()
    assert text.count("cannot be loaded</td>") == 2
    assert "second root" in unescape(text) and 'link "<b>"' in unescape(text) and "<b>" not in text


def test_one_file_that_cannot_be_loaded_is_an_index_with_its_errors(tmp_path: Path) -> None:
    bad = tmp_path / "bad.urdf"
    bad.write_text('<robot name="bad"><link name="a"/><link name="b"/></robot>')
    index = tmp_path / "bad.html"
    result = runner.invoke(app, ["validate", str(bad), "--html", str(index)])
    assert result.exit_code == 2
    assert "second root" in index.read_text()


@pytest.mark.parametrize("path", ["", ".", "nowhere/page.html"])
def test_a_page_that_cannot_be_written_is_refused_first(path: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("urdf_gibbs.oracle.compare.validate", lambda *_, **__: pytest.fail("computed"))
    result = runner.invoke(app, ["validate", "planar3r", "--html", path])
    assert result.exit_code == 2 and "cannot be written" in result.output
    assert os.listdir(tmp_path) == []


def test_a_page_does_not_replace_the_file_it_is_about(tmp_path: Path) -> None:
    file = tmp_path / "arm.urdf"
    file.write_text(ug.model_path("planar3r").read_text())
    result = runner.invoke(app, ["validate", str(file), "--html", str(file)])
    assert result.exit_code == 2 and "would replace" in result.output
    assert file.read_text() == ug.model_path("planar3r").read_text()


def test_a_page_that_fails_to_be_written_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(self: Path, data: bytes) -> int:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "write_bytes", full)
    result = runner.invoke(app, ["validate", "planar3r", "--samples", "1", "--html", str(tmp_path / "page.html")])
    assert result.exit_code == 2
    assert "was not written: No space left" in result.output and "written: " not in result.output.replace("was not written: ", "")


def test_standard_output_stays_json(tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    result = runner.invoke(app, ["validate", "planar3r", "--samples", "1", "--json", "-", "--html", str(page)])
    assert json.loads(result.stdout)[0]["agrees"] and page.exists()


def test_interrupted_what_is_done_is_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    calls = []

    def interrupted(*arguments: Any, **options: Any) -> Report:
        calls.append(1)
        if len(calls) == 3:
            raise KeyboardInterrupt
        return validate(*arguments, **options)

    monkeypatch.setattr("urdf_gibbs.oracle.compare.validate", interrupted)
    index = tmp_path / "all.html"
    result = runner.invoke(app, ["validate", "planar3r", "rocker_arm", "branched12", "--samples", "1", "--html", str(index)])
    assert result.exit_code == 130
    text = index.read_text()
    assert Tags(text).links == ["all-planar3r-fixed.html", "all-rocker_arm-fixed.html"]
    assert "2 of 3 done: 2 agree, 0 disagree, 0 cannot be loaded." in text


def test_a_model_that_pinocchio_refuses_says_what_the_reference_was(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("urdf_gibbs.oracle.pinocchio.MAX_NV", 2)
    page = tmp_path / "page.html"
    result = runner.invoke(app, ["validate", "planar3r", "--samples", "1", "--html", str(page)])
    assert result.exit_code == 0
    text = page.read_text()
    assert '"reference":"explicit"' in text and "compared with each other" in text
    alone = runner.invoke(app, ["validate", "planar3r", "--samples", "1", "--method", "compiled", "--html", str(page)])
    assert alone.exit_code == 0 and '"ours":[]' in page.read_text()


def test_package_folders_are_searched(tmp_path: Path) -> None:
    package = tmp_path / "packages" / "thing"
    package.mkdir(parents=True)
    (package / "cube.stl").write_text(
        "solid s\nfacet normal 0 0 1\nouter loop\nvertex 0 0 0\nvertex 1 0 0\nvertex 0 1 0\nendloop\nendfacet\nendsolid s\n"
    )
    file = tmp_path / "elsewhere" / "mesh.urdf"
    file.parent.mkdir()
    visual = '<visual><geometry><mesh filename="package://thing/cube.stl"/></geometry></visual>'
    file.write_text(f'<robot name="m"><link name="a">{visual}</link></robot>')
    page = tmp_path / "page.html"
    runner.invoke(app, ["validate", str(file), "--html", str(page)])
    assert "mesh-missing" in page.read_text()
    runner.invoke(app, ["validate", str(file), "--html", str(page), "--package-dir", str(package.parent)])
    assert "mesh-missing" not in page.read_text()


def test_names_cannot_put_elements_into_the_pages(tmp_path: Path) -> None:
    name = escape(EVIL, quote=True)
    file = tmp_path / "evil.urdf"
    file.write_text(f'<robot name="{name}"><link name="{name}"/><link name="b"/><joint name="{name}" type="continuous">'
                    f'<parent link="{name}"/><child link="b"/></joint></robot>')  # fmt: skip
    page = tmp_path / "page.html"
    result = runner.invoke(app, ["validate", str(file), "--samples", "1", "--html", str(page)])
    assert result.exit_code == 3, result.output  # it has no mass
    text = page.read_text()
    assert EVIL not in text
    parsed = Tags(text)
    assert "img" not in parsed.tags
    # the viewer, the data, the scene, what is drawn when it is asked for, and the page's own
    assert parsed.scripts == [None, "page-data", "page-scene", "page-later", None]
    index = index_page([Entry(EVIL, EVIL, "refused", EVIL, EVIL, (EVIL,))], 1)
    assert EVIL not in index and "img" not in Tags(index).tags and "script" not in Tags(index).tags


def test_round_off_of_a_quantitys_own_scale_is_no_error_and_what_is_more_is() -> None:
    """An acceleration of 1e-10 where a random one is 1: gravity's round-off of 1e-16 is that, a difference of 1e-13 is not."""
    assert _error(1e-16, 1e-10, 1.0) == pytest.approx(1e-16)
    assert _error(1e-13, 1e-10, 1.0) == pytest.approx(1e-3)
    assert np.isnan(_error(np.inf, 1.0, 1.0)) and np.isnan(_error(1.0, np.inf, 1.0))


def test_a_verdict_is_what_its_figures_say() -> None:
    """Each alone: an error above its bound, a larger one within the bound that M's condition allows, and a quantity that does not exist."""
    small, allowed = judged("m", "bias", [1e-15, 1e-16]), judged("m", "forward dynamics", [2e-9, 1e-6], [3e-9, 1e-5])
    missing, wrong = judged("m", "forward dynamics", [np.nan, np.nan]), judged("m", "bias", [1e-12, 2e-9])
    assert (allowed.error, allowed.bound, allowed.state, allowed.agrees) == (2e-9, 3e-9, 0, True)
    assert not missing.exists and missing.agrees and missing.as_dict()["error"] is None
    assert (wrong.error, wrong.state, wrong.agrees) == (2e-9, 1, False)

    def report(*comparisons: Comparison) -> Report:
        return Report("f", "fixed", 1, 1, 2, 0, comparisons=list(comparisons))

    assert report(small, allowed, missing).verdict == "agrees"
    assert report(small, allowed).summary == (
        "agrees with Pinocchio: 1 error within 1e-09, the largest 1.0e-15 (bias, m); "
        "forward dynamics 2.0e-09, within the 3.0e-09 that M's condition allows"
    )
    assert report(small, allowed, wrong).verdict == "disagrees" and report(small, allowed, wrong).worst is wrong
    assert "bias (m) is off by 2.0e-09 where 1e-09 was asked; more than was asked: 1 of 3 errors" in report(small, allowed, wrong).summary
    assert report(missing).verdict == "nothing to compare" and report().verdict == "nothing to compare"
