"""The whole lint: meshes, motions without inertia, and the command."""

from __future__ import annotations

import json
import time
import warnings
from pathlib import Path

import numpy as np
import pytest
from examples import FOLDER, runner

import urdf_gibbs as ug
from urdf_gibbs.cli import app
from urdf_gibbs.lint import idle as motions
from urdf_gibbs.oracle.pinocchio import Oracle

HEAVY = '<inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>'
LIMIT = '<limit lower="-1" upper="1" effort="1" velocity="1"/>'


def singular_joints(source: object) -> dict[str, str]:
    found = [finding for finding in ug.check(source) if finding.code == "singular"]
    return {finding.element.split('"')[1]: finding.value for finding in found}


def test_icubs_point_mass_head_is_found_by_physics() -> None:
    """Every link of the neck has mass; still, at q = 0 roll and yaw turn about one line, and a point has no inertia to tell them apart."""
    found = singular_joints(FOLDER / "icub_description/robots/icub.urdf")
    assert found.keys() == {"neck_roll", "neck_yaw"}
    assert all("q = 0" in value for value in found.values())


@pytest.mark.parametrize(("excess", "told"), [(-1e-3, False), (1e-7, False), (1e-5, True), (1e-3, True)])
def test_the_triangle_inequality_is_judged_to_the_six_digits_of_files(excess: float, told: bool) -> None:
    """The largest moment against the sum of the others, with what printing six digits may add left out."""
    inertia = f'<inertia ixx="1" iyy="1.5" izz="{2.5 * (1.0 + excess)!r}" ixy="0" ixz="0" iyz="0"/>'
    text = f'<robot name="r"><link name="a"><inertial><mass value="1"/>{inertia}</inertial></link></robot>'
    assert ("triangle-inequality" in [finding.code for finding in ug.check(text)]) == told


def test_romeos_massless_hands_are_found() -> None:
    found = singular_joints(FOLDER / "romeo_description/urdf/romeo_laas_small.urdf")
    assert found.keys() == {"l_gripper_joint", "r_gripper_joint"}
    assert all("every q" in value for value in found.values())


@pytest.mark.parametrize("axis", ["0 0 1", "0.48 0.6 0.64"])
def test_a_point_mass_on_its_own_axis_is_found(axis: str) -> None:
    x, y, z = (float(v) * 3.7 for v in axis.split())
    point = f'<inertial><origin xyz="{x} {y} {z}"/><mass value="1"/><inertia ixx="0" iyy="0" izz="0" ixy="0" ixz="0" iyz="0"/></inertial>'
    text = (
        f'<robot name="r"><link name="a"/><link name="b">{point}</link>'
        f'<joint name="j" type="revolute"><parent link="a"/><child link="b"/><axis xyz="{axis}"/>{LIMIT}</joint></robot>'
    )
    assert singular_joints(text).keys() == {"j"}
    assert singular_joints(text.replace('ixx="0"', 'ixx="1e-9"').replace('iyy="0"', 'iyy="1e-9"').replace('izz="0"', 'izz="1e-9"')) == {}


def test_a_massless_link_that_carries_mass_is_fine() -> None:
    text = (
        f'<robot name="r"><link name="a"/><link name="b"/><link name="c">{HEAVY}</link>'
        f'<joint name="j" type="prismatic"><parent link="a"/><child link="b"/>{LIMIT}</joint>'
        f'<joint name="k" type="revolute"><parent link="b"/><child link="c"/>{LIMIT}</joint></robot>'
    )
    assert singular_joints(text) == {}
    (told,) = [one for one in ug.check(text) if one.code == "no-inertial" and 'link "b"' in one.element]
    assert told.severity == "note" and "several axes" in told.expected


DRAWN = '<visual><geometry><sphere radius="0.1"/></geometry></visual>'


@pytest.mark.parametrize(("shape", "mass", "severity"), [("", HEAVY, "note"), (DRAWN, HEAVY, "warning"), ("", "", "warning")])
def test_a_moving_link_without_inertial_is_noted_where_it_is_the_middle_of_a_joint(shape: str, mass: str, severity: str) -> None:
    """A link of several hinges in a row that nothing is drawn of; at the end of an arm, and where it is drawn, its mass was forgotten."""
    joints = "".join(
        f'<joint name="{a}{b}" type="revolute"><parent link="{a}"/><child link="{b}"/>{LIMIT}</joint>' for a, b in ("ab", "bc", "cd")
    )
    text = f'<robot name="r"><link name="a"/><link name="b">{shape}</link><link name="c"/><link name="d">{mass}</link>{joints}</robot>'
    (told,) = [one for one in ug.check(text) if one.code == "no-inertial" and 'link "b"' in one.element]
    assert told.severity == severity


def test_meshes_are_searched_where_ros_keeps_them(tmp_path: Path) -> None:
    package = tmp_path / "robot_description"
    (package / "urdf").mkdir(parents=True)
    (package / "meshes").mkdir()
    (package / "meshes" / "here.stl").write_bytes(b"solid")
    names = [
        "package://robot_description/meshes/here.stl",
        "../meshes/here.stl",
        "package://robot_description/meshes/gone.stl",
        "gone.stl",
        "",
    ]
    visuals = "\n".join(f'<visual><geometry><mesh filename="{name}"/></geometry></visual>' for name in names)
    file = package / "urdf" / "robot.urdf"
    file.write_text(f'<robot name="r"><link name="a">{HEAVY}\n{visuals}\n</link></robot>')
    missing = [(finding.line, finding.value) for finding in ug.check(file) if finding.code == "mesh-missing"]
    assert missing == [(4, 'filename="package://robot_description/meshes/gone.stl"'), (5, 'filename="gone.stl"'), (6, 'filename=""')]


def test_all_meshes_of_the_collection_are_found() -> None:
    for file in ("panda_description/urdf/panda.urdf", "talos_data/robots/talos_reduced.urdf"):
        assert not [finding for finding in ug.check(FOLDER / file) if finding.code == "mesh-missing"]


def test_the_command_prints_one_line_a_finding_and_sets_the_exit_code(tmp_path: Path) -> None:
    bad = tmp_path / "bad.urdf"
    bad.write_text('<robot name="r">\n<link name="a"/>\n<link name="a"/>\n</robot>\n')
    result = runner.invoke(app, ["check", "--lines", str(bad)])
    assert result.exit_code == 1
    assert (
        f'{bad}:3: error: link "a": found a second one, the first is at line 2, expected unique link names [duplicate]'
        in result.output.splitlines()
    )
    questionable = tmp_path / "questionable.urdf"
    questionable.write_text('<robot name="r">\n<link name="a"><collision/></link>\n</robot>\n')
    assert runner.invoke(app, ["check", str(questionable)]).exit_code == 0
    assert runner.invoke(app, ["check", "--strict", str(questionable)]).exit_code == 1
    report = tmp_path / "report.json"
    runner.invoke(app, ["check", str(bad), str(questionable), "--json", str(report)])
    assert [entry["error"] for entry in json.loads(report.read_text())] == [1, 0]


def test_bundled_models_are_clean_but_for_what_the_papers_print() -> None:
    """WJ's Table 3 gives links 3 and 5 no inertia about their own axes. Its other links, and those of the rover as printed, have 0.083 kg m2
    for 1 kg, which is a rod of 1 m, where the drawn links are 0.1 m long."""
    printed = {"rocker_arm": {"singular", "density", "inertia-too-large"}, "rover_printed": {"density", "inertia-too-large"}}
    for name in ug.model_names():
        found = [finding for finding in ug.check(ug.model_path(name)) if finding.severity != "note"]
        assert {finding.code for finding in found} == printed.get(name, set()), name
    assert singular_joints(ug.model_path("rocker_arm")).keys() == {"joint3", "joint5"}


# motions without inertia, at a cost that grows with the robot ------------------------------------------------------


def idle_by_pinocchio(text: str, q: np.ndarray) -> set[int]:
    """Velocities in the null space of Pinocchio's mass matrix, by its eigenvectors."""
    oracle = Oracle(text, "fixed", True, np.zeros(3))
    upper = np.triu(oracle.pin.crba(oracle.model, oracle.data, oracle.configuration(q)))
    M = oracle.G.T @ (upper + np.triu(upper, 1).T) @ oracle.G
    values, motions = np.linalg.eigh(M)
    # The robots below have lengths and inertias of about one: what is not zero is far from round-off.
    return {int(i) for i in np.flatnonzero((np.abs(motions[:, values < 1e-12]) > 1e-4).any(axis=1))}


def bare_tree(seed: int, joints: int, mimic: bool) -> str:
    """A tree in which most links are bare or point masses on the axes of their joints, and axes often on one line."""
    rng = np.random.default_rng(seed)
    lines = ['<robot name="r"><link name="l0"/>']
    axes = ["1 0 0", "0 1 0", "0 0 1", "0.6 0.8 0"]
    for i in range(1, joints + 1):
        axis, parent = str(rng.choice(axes)), int(rng.integers(max(0, i - 3), i))
        kind = str(rng.choice(["continuous", "continuous", "prismatic", "floating", "planar", "fixed"], p=[0.3, 0.3, 0.2, 0.05, 0.05, 0.1]))
        place = " ".join(f"{0.5 * float(x):g}" for x in axis.split())
        zero = '<inertia ixx="0" iyy="0" izz="0" ixy="0" ixz="0" iyz="0"/>'
        point = f'<inertial><origin xyz="{place}"/><mass value="1"/>{zero}</inertial>'
        content = str(rng.choice(["", point, HEAVY], p=[0.3, 0.2, 0.5]))
        origin = str(rng.choice(["0 0 0", place, "0.3 0.1 0.2"]))
        follows = f'<mimic joint="j{int(rng.integers(1, i))}" multiplier="2"/>' if mimic and i > 1 and rng.random() < 0.3 else ""
        if kind not in ("continuous", "prismatic"):
            follows = ""
        lines.append(
            f'<link name="l{i}">{content}</link><joint name="j{i}" type="{kind}"><parent link="l{parent}"/><child link="l{i}"/>'
            f'<origin xyz="{origin}"/><axis xyz="{axis if kind != "planar" else "0 0 1"}"/>{follows}'
            f"{LIMIT if kind == 'prismatic' else ''}</joint>"
        )
    return "\n".join([*lines, "</robot>"])


@pytest.mark.parametrize("mimic", [False, True])
def test_idle_velocities_are_those_of_pinocchios_null_space(mimic: bool) -> None:
    """Of 150 robots of massless links and point masses, at a random position and at zero."""
    compared = regular = 0
    for seed in range(150):
        text = bare_tree(seed, 2 + seed % 9, mimic)
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                robot = ug.load(text)
        except ug.UrdfError:
            continue  # a mimic of a fixed or a floating joint
        if not robot.nv:
            continue
        Q = np.stack([robot.random(seed), robot.neutral()])
        found = motions.idle_at(robot, Q)
        assert found is not None
        for q, idle in zip(Q, found, strict=True):
            assert idle == idle_by_pinocchio(text, q), (seed, q)
            compared += 1
            regular += not idle
    assert compared > 150 and 20 < regular < compared - 20  # both kinds are among them


@pytest.mark.parametrize("length", [1e-3, 1.0, 1e3])
def test_long_chains_are_regular_and_one_bare_link_at_the_end_is_found(length: float) -> None:
    """A chain of 1,000 links: its mass matrix has a condition of some 1e12, none of its joints moves freely."""
    inertia = f'<inertia ixx="{length**2}" iyy="{length**2}" izz="{length**2}" ixy="0" ixz="0" iyz="0"/>'
    heavy = f'<inertial><mass value="1"/>{inertia}</inertial>'

    def chain(last: str) -> str:
        links = "".join(f'<link name="l{i}">{heavy if i < 1000 else last}</link>' for i in range(1001))
        joints = (
            f'<joint name="j{i}" type="continuous"><parent link="l{i - 1}"/><child link="l{i}"/><origin xyz="{length} 0 0"/>'
            f'<axis xyz="{"0 1 0" if i % 2 else "0 0 1"}"/></joint>'
            for i in range(1, 1001)
        )
        return f'<robot name="r">{links}{"".join(joints)}</robot>'

    assert singular_joints(chain(heavy)) == {}
    assert singular_joints(chain("")).keys() == {"j1000"}


def test_many_bare_links_on_one_line_share_one_inertia() -> None:
    """Of 2,000 joints about one line with one mass at the end, every one takes part in a motion that leaves the mass alone."""
    n = 2000
    links = "".join(f'<link name="l{i}">{HEAVY if i == n else ""}</link>' for i in range(n + 1))
    joints = "".join(
        f'<joint name="j{i}" type="continuous"><parent link="l{i - 1}"/><child link="l{i}"/><axis xyz="0 0 1"/></joint>'
        for i in range(1, n + 1)
    )
    assert len(singular_joints(f'<robot name="r">{links}{joints}</robot>')) == n


def test_what_is_too_large_to_examine_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(motions, "EXAMINED", 1)
    codes = {finding.code: finding for finding in ug.check(ug.model_path("planar3r"))}
    assert codes["not-examined"].severity == "note" and "3 moving bodies" in codes["not-examined"].value
    monkeypatch.undo()
    monkeypatch.setattr(motions, "DENSE", 1)
    assert "not-examined" in {finding.code for finding in ug.check(ug.model_path("flexible_two_links"))}
    assert "not-examined" not in {finding.code for finding in ug.check(ug.model_path("planar3r"))}


def bare_star(n: int) -> str:
    joints = (
        f'<link name="l{i}"/><joint name="j{i}" type="revolute"><parent link="base"/><child link="l{i}"/><origin xyz="0.1 0 0"/></joint>\n'
        for i in range(n)
    )
    return f'<robot name="r"><link name="base">{HEAVY}</link>{"".join(joints)}</robot>'


def following_chain(n: int) -> str:
    joints = (
        f'<link name="l{i}">{HEAVY}</link><joint name="j{i}" type="continuous"><parent link="l{i - 1}"/><child link="l{i}"/>'
        f'<origin xyz="0.1 0 0"/>{"" if i == 1 else f"""<mimic joint="j{i - 1}"/>"""}</joint>'
        for i in range(1, n + 1)
    )
    return f'<robot name="r"><link name="l0">{HEAVY}</link>{"".join(joints)}</robot>'


BEAM = '<urdf_gibbs><flexible link="base" EI_z="1" modes="y=clamped-free:1" direction="1 0 0" length="0.1"/></urdf_gibbs></robot>'
FLOODS = {
    "an encoding of Python": (800_000, lambda n: b'<?xml version="1.0" encoding="punycode"?>\n<robot name="-' + n * b"b" + b'"/>'),
    "a star with warnings": (4_000, lambda n: bare_star(n).encode()),
    "a star on an elastic link": (8_000, lambda n: bare_star(n).replace("</robot>", BEAM).encode()),
    "a chain without mass": (800, lambda n: chain_text(n).replace(HEAVY, "").encode()),
    "a chain that follows": (4_000, lambda n: following_chain(n).encode()),
    "errors in every link": (4_000, lambda n: chain_text(n).replace('mass value="1"', 'mass value="x"').encode()),
}


def chain_text(n: int) -> str:
    return following_chain(n).replace("<mimic", "<ignored")


@pytest.mark.parametrize("flood", FLOODS)
def test_cost_grows_with_the_file(tmp_path: Path, flood: str) -> None:
    """Each took minutes of CPU once, with the square of the file or worse: of eight times the file 64 times the time, and more."""
    count, content = FLOODS[flood]
    path = tmp_path / "robot.urdf"

    def seconds(file: Path) -> float:
        start = time.process_time()
        ug.check(file)
        return time.process_time() - start

    least = seconds(ug.model_path("branched12"))  # below that nothing can be measured
    path.write_bytes(content(count // 8))
    small = max(least, *(seconds(path) for _ in range(2)))
    path.write_bytes(content(count))
    assert any(seconds(path) < 30.0 * small for _ in range(3))  # a search through all memory may fall into one of them
