"""The four formulations that the papers compare theirs with, and the impact phase by each of all six, against Pinocchio and closed forms.

The formulations on every robot of example-robot-data: test_robots.py.
"""

from __future__ import annotations

import dataclasses
import json
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pinocchio as pin
import pytest
import sympy
from examples import FOLDER
from flexible_trees import chain, spatial_chain
from pinocchio_errors import TOLERANCE, Array, errors, loaded, relative
from random_trees import random_tree
from scipy.integrate import solve_ivp
from typer.testing import CliRunner

import urdf_gibbs as ug
from urdf_gibbs.cli import app
from urdf_gibbs.dynamics import generalised_momentum, scalar
from urdf_gibbs.dynamics.impact import impact
from urdf_gibbs.dynamics.model import model_of
from urdf_gibbs.dynamics.registry import AS_PRINTED, BASELINES, FLEXIBLE_METHODS, METHODS, REFERENCES
from urdf_gibbs.names import Base
from urdf_gibbs.oracle.difference import random_states
from urdf_gibbs.oracle.pinocchio import Oracle
from urdf_gibbs.robot.gravity import EARTH_GRAVITY
from urdf_gibbs.simulation.scenario import read_scenario

PAPERS = ("gibbs_appell", "explicit", *BASELINES)
runner = CliRunner()


@pytest.mark.parametrize("base", ["fixed", "floating", "planar"])
@pytest.mark.parametrize("seed", [3, 11, 12, 16])
def test_random_trees_of_all_joint_types_agree_with_pinocchio(seed: int, base: Base) -> None:
    text = random_tree(seed, 10, mimic=0.5)
    found = errors(text, base, 2, seed)
    assert all(error <= TOLERANCE for error in found.values()), found


def test_the_random_trees_have_all_joint_types() -> None:
    robots = [ug.load(random_tree(seed, 10, mimic=0.5)) for seed in (3, 11, 12, 16)]
    assert {joint.type for robot in robots for joint in robot.joints} == {"revolute", "continuous", "prismatic", "planar", "floating"}
    assert all(any(joint.is_mimic for joint in robot.joints) for robot in robots)


def test_the_jacobians_of_generalised_momentum_need_the_gyroscopic_term(monkeypatch: pytest.MonkeyPatch) -> None:
    text = random_tree(7, 6, ("revolute", "continuous", "prismatic"))
    assert errors(text, "fixed", 2)["generalised_momentum", "h"] < 1e-12
    monkeypatch.setattr(generalised_momentum, "gyroscopic", lambda inertia, omega: [0.0, 0.0, 0.0])
    assert errors(text, "fixed", 2)["generalised_momentum", "h"] > 1e-4


# scalars ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("method", BASELINES)
def test_a_batch_is_its_states_one_by_one(method: str) -> None:
    robot = ug.load(random_tree(12, 7, mimic=0.3), "floating")
    states, formulation, model = random_states(robot, 3, 0), REFERENCES[method], model_of(robot)
    M, h = ug.mass_matrix(robot, states.q, method=method), ug.bias(robot, states.q, states.v, method=method)
    for i in range(3):
        q, v = states.q[i].tolist(), states.v[i].tolist()
        assert relative(formulation.mass_matrix(model, q), M[i]) < 1e-14  # the same operations; sines may differ in their last bit
        assert relative(formulation.bias(model, q, v, list(EARTH_GRAVITY)), h[i]) < 1e-13


def two_links() -> str:
    link = '<inertial><origin xyz="0.5 0 0"/><mass value="2"/><inertia ixx="0" iyy="0" izz="0.25" ixy="0" ixz="0" iyz="0"/></inertial>'
    return (
        f'<robot name="arm"><link name="w"/><link name="a">{link}</link><link name="b">{link}</link>'
        '<joint name="1" type="continuous"><parent link="w"/><child link="a"/><axis xyz="0 0 1"/></joint>'
        '<joint name="2" type="continuous"><parent link="a"/><child link="b"/><origin xyz="1 0 0"/><axis xyz="0 0 1"/></joint></robot>'
    )


@pytest.mark.parametrize("method", BASELINES)
def test_sympy_symbols_give_the_textbook_arm(method: str) -> None:
    scalar.sin.register(sympy.Basic, sympy.sin)
    scalar.cos.register(sympy.Basic, sympy.cos)
    formulation, model = REFERENCES[method], model_of(ug.load(two_links()))
    x, y, u, w, g = sympy.symbols("x y u w g", real=True)
    M = sympy.Matrix(formulation.mass_matrix(model, [x, y]))
    h = sympy.Matrix(formulation.bias(model, [x, y], [u, w], [0.0, -g, 0.0]))
    # m = 2, l = 1, c = 1/2, I = 1/4 of both
    elbow = sympy.Rational(3, 4) + sympy.cos(y)
    wanted = sympy.Matrix([[sympy.Rational(7, 2) + 2 * sympy.cos(y), elbow], [elbow, sympy.Rational(3, 4)]])
    forces = sympy.Matrix(
        [
            -sympy.sin(y) * (2 * u * w + w**2) + g * (3 * sympy.cos(x) + sympy.cos(x + y)),
            sympy.sin(y) * u**2 + g * sympy.cos(x + y),
        ]
    )
    state = {x: 0.3, y: -1.1, u: 0.7, w: -1.9, g: 9.81}
    assert max(abs(entry) for entry in (M - wanted).evalf(subs=state)) < 1e-14
    assert max(abs(entry) for entry in (h - forces).evalf(subs=state)) < 1e-13


# impact -----------------------------------------------------------------------------------------------


@cache
def first_impact() -> tuple[Array, Array, list[tuple[str, list[float], Array]]]:
    """(q, v before, contacts) of S18's robot where O1 and O5 meet the circle, by Pinocchio's dynamics and SciPy's integrator."""
    model = pin.buildModelFromUrdf(str(ug.model_path("branched12")))
    model.gravity.linear = np.array([0.0, -9.81, 0.0])
    data, nq = model.createData(), model.nq
    start = np.asarray(read_scenario("branched12").arguments()["q0"])

    def place(q: Array, name: str) -> Array:
        pin.framesForwardKinematics(model, data, q)
        return np.array(data.oMf[model.getFrameId(name)].translation)

    def gap(t: float, y: Array) -> float:
        return 2.5 - float(np.linalg.norm(place(y[:nq], "O1")))

    gap.terminal, gap.direction = True, -1.0  # type: ignore[attr-defined]

    def rate(t: float, y: Array) -> Array:
        return np.concatenate([y[nq:], pin.aba(model, data, y[:nq], y[nq:], np.zeros(nq))])

    found = solve_ivp(rate, (0.0, 0.5), np.concatenate([start, np.zeros(nq)]), "DOP853", events=gap, rtol=1e-10, atol=1e-10)
    q, v = found.y[:nq, -1], found.y[nq:, -1]
    assert found.t[-1] == pytest.approx(0.3852, abs=1e-4)
    normals = {name: -place(q, name) / np.linalg.norm(place(q, name)) for name in ("O1", "O5")}
    return q, v, [(name, [0.0, 0.0, 0.0], normal) for name, normal in normals.items()]


@pytest.mark.parametrize("method", ["compiled", *PAPERS])
def test_the_first_impact_of_s18_is_that_of_pinocchio(method: str) -> None:
    q, v, contacts = first_impact()
    model = pin.buildModelFromUrdf(str(ug.model_path("branched12")))
    data = model.createData()
    pin.computeJointJacobians(model, data, q)
    pin.updateFramePlacements(model, data)
    J = np.array([n @ pin.getFrameJacobian(model, data, model.getFrameId(name), pin.LOCAL_WORLD_ALIGNED)[:3] for name, _, n in contacts])
    expected = pin.impulseDynamics(model, data, q, v, J, 1.0, 0.0)
    after, impulses = outcome(ug.impact(ug.load(ug.model_path("branched12")), q, v, contacts, 1.0, method=method))
    assert relative(after, expected) < 1e-12
    assert relative(impulses, np.abs(data.impulse_c)) < 1e-12
    np.testing.assert_allclose(impulses, 5.26, rtol=0.012)  # Table 3, by the steps that the paper takes


@pytest.mark.parametrize("method", ["compiled", *PAPERS])
@pytest.mark.parametrize("restitution", [0.0, 0.6])
def test_an_impact_in_space_is_that_of_pinocchios_matrices(method: str, restitution: float) -> None:
    """A quadruped in the air struck at three feet and the trunk, each with a normal of its own; Eq. 47 by NumPy from Pinocchio's M and J."""
    file = FOLDER / "go2_description/urdf/go2.urdf"
    robot, _ = loaded(file, "floating")
    rng = np.random.default_rng(5)
    q, v = robot.random(rng), rng.normal(size=robot.nv)
    links = ["FL_foot", "FR_foot", "RL_foot", "base"]
    points = {link: rng.uniform(-0.1, 0.1, 3) for link in links}
    normals = rng.normal(size=(4, 3))
    normals /= np.linalg.norm(normals, axis=1)[:, None]
    answer = Oracle(file, "floating", True, EARTH_GRAVITY).answers(q, v, v, v, points)
    J = np.array([normal @ answer.jacobians[link][:3] for link, normal in zip(links, normals, strict=True)])
    system = np.block([[answer.mass_matrix, -J.T], [J, np.zeros((4, 4))]])
    expected = np.linalg.solve(system, np.concatenate([answer.mass_matrix @ v, -restitution * J @ v]))
    contacts = [(link, points[link], normal) for link, normal in zip(links, normals, strict=True)]
    after, impulses = outcome(ug.impact(robot, q, v, contacts, restitution, method=method))
    # cond of the system is 1e4
    assert relative(after, expected[: robot.nv]) < 1e-11
    assert relative(impulses, expected[robot.nv :]) < 1e-11


def outcome(impact: ug.Impact) -> tuple[Any, Any]:
    return impact.v_after, impact.impulses


def slide() -> str:
    return (
        '<robot name="s"><link name="w"/><link name="a"><inertial><mass value="3"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/>'
        '</inertial></link><joint name="z" type="prismatic"><parent link="w"/><child link="a"/><axis xyz="0 0 1"/>'
        '<limit lower="-9" upper="9" effort="1" velocity="1"/></joint></robot>'
    )


@pytest.mark.parametrize("formulation", [REFERENCES[name] for name in PAPERS], ids=PAPERS)
def test_a_mass_on_a_slide_turns_back_by_e_in_symbols(formulation: ModuleType) -> None:
    z, u, e = sympy.symbols("z u e", real=True)
    (after,), (impulse,) = impact(formulation, model_of(ug.load(slide())), [z], [u], [(0, [0.0, 0.0, 0.0], [0.0, 0.0, 1.0])], e)
    assert sympy.simplify(after + e * u) == 0
    assert sympy.simplify(impulse + 3 * (1 + e) * u) == 0


def test_a_contact_that_separates_is_pulled_and_none_changes_nothing() -> None:
    robot = ug.load(slide())
    after, impulses = outcome(ug.impact(robot, [0.0], [2.0], [("a", (0, 0, 0), (0, 0, 1))], 0.5))
    assert after == pytest.approx([-1.0], abs=1e-15) and impulses == pytest.approx([-9.0], abs=1e-14)
    after, impulses = outcome(ug.impact(robot, [0.0], [2.0], []))
    assert after.tolist() == [2.0] and impulses.shape == (0,)


@pytest.mark.parametrize("method", ["compiled", *PAPERS])
def test_what_has_no_single_impact_is_refused(method: str) -> None:
    robot = ug.load(ug.model_path("branched12"))
    q, v, contacts = first_impact()
    with pytest.raises(ug.ArgumentError, match=r"contacts 0 \(O1\), 2 \(O1\) depend on each other"):
        ug.impact(robot, q, v, [*contacts, contacts[0]], method=method)
    with pytest.raises(ug.ArgumentError, match=r"contacts\[0\]: no joint moves this point of 'O1' along"):
        ug.impact(robot, q, v, [("O1", (0, 0, 0), (0, 0, 1))], method=method)
    fixed = ug.load(slide())
    with pytest.raises(ug.ArgumentError, match="no joint moves this point of 'w'"):
        ug.impact(fixed, [0.0], [1.0], [("w", (0, 0, 0), (0, 0, 1))], method=method)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"contacts": [("a", (0, 0, 0), (0, 0, 2))]}, "of length 2; expected a unit vector"),
        ({"contacts": [("a", (0, 0, 0))]}, r"expected \(link, point \(3,\), unit normal \(3,\)\)"),
        ({"contacts": [("a", (0, 0), (0, 0, 1))]}, r"point of contacts\[0\] has shape \(2,\)"),
        ({"contacts": [("b", (0, 0, 0), (0, 0, 1))]}, "no link named 'b'"),
        ({"restitution": 1.5}, "restitution=1.5, expected a number from 0 to 1"),
        ({"method": "gibbs_appell_flexible"}, "no method named 'gibbs_appell_flexible'"),
        ({"q": [[0.0]], "v": [[1.0]]}, "expected one state"),
        ({"v": [1.0, 2.0]}, "v has shape"),
        ({"v": [np.nan]}, "not finite"),
    ],
)
def test_bad_arguments_of_an_impact_are_reported(arguments: dict[str, Any], message: str) -> None:
    good: dict[str, Any] = {"q": [0.0], "v": [1.0], "contacts": [("a", (0, 0, 0), (0, 0, 1))]}
    with pytest.raises(ug.UrdfGibbsError, match=message):
        ug.impact(ug.load(slide()), **{**good, **arguments})


def test_an_impact_without_inertia_names_the_joint() -> None:
    with pytest.raises(ug.SingularMassMatrixError, match="moving z"):
        ug.impact(ug.load(slide().replace('"3"', '"0"')), [0.0], [1.0], [("a", (0, 0, 0), (0, 0, 1))])


# elastic links, and the command line ------------------------------------------------------------------


@pytest.mark.parametrize("method", BASELINES)
def test_elastic_links_are_refused(method: str) -> None:
    robot = ug.load(chain(2, 1))
    with pytest.raises(ug.ArgumentError, match=f"method='{method}' is for rigid links"):
        ug.mass_matrix(robot, np.zeros(robot.nq), method=method)
    with pytest.raises(ug.ArgumentError, match=f"method='{method}' is for rigid links"):
        ug.impact(robot, np.zeros(robot.nq), np.zeros(robot.nv), [], method=method)


def validated(tmp_path: Path, *arguments: str) -> tuple[Any, str]:
    report = tmp_path / "report.json"
    result = runner.invoke(app, ["validate", *arguments, "--samples", "2", "--json", str(report)])
    assert result.exit_code == 0, result.output
    return json.loads(report.read_text())[0], result.output


def test_validate_compares_the_methods_that_are_named(tmp_path: Path) -> None:
    found, _ = validated(tmp_path, "planar3r", "--method", "all")
    assert {row["method"] for row in found["quantities"]} == {*METHODS, *BASELINES, "kinematics"}
    found, _ = validated(tmp_path, "planar3r", "--method", "pseudo_inertia", "--method", "lagrangian_4x4")
    assert {row["method"] for row in found["quantities"]} == {"pseudo_inertia", "lagrangian_4x4", "kinematics"}
    found, _ = validated(tmp_path, "planar3r")
    assert {row["method"] for row in found["quantities"]} == {*METHODS, "kinematics"}


def test_validate_lists_the_methods_and_those_that_do_not_apply(tmp_path: Path) -> None:
    def words(output: str) -> str:
        return " ".join(output.replace("│", " ").split())

    unknown = runner.invoke(app, ["validate", "planar3r", "--method", "kane"])
    assert unknown.exit_code == 2
    assert all(name in words(unknown.output) for name in ("no method named 'kane'", *METHODS, *BASELINES, "all"))
    file = tmp_path / "chain.urdf"
    file.write_text(chain(2, 1))
    refused = runner.invoke(app, ["validate", str(file), "--method", "pseudo_inertia"])
    assert refused.exit_code == 2 and "whose links are elastic" in words(refused.output)
    found, _ = validated(tmp_path, str(file), "--method", "all")
    assert {row["method"] for row in found["quantities"]} == {*FLEXIBLE_METHODS, *AS_PRINTED, "kinematics"}
    found, _ = validated(tmp_path, str(file))
    assert {row["method"] for row in found["quantities"]} == {*FLEXIBLE_METHODS, "kinematics"}
    file.write_text(spatial_chain(1, 1))
    refused = runner.invoke(app, ["validate", str(file), "--method", "shafei2017"])
    assert refused.exit_code == 2 and "elastic but no chain in the plane" in words(refused.output)
    found, output = validated(tmp_path, str(file), "--method", "compiled", "--method", "explicit")
    assert any(note.startswith("explicit: not for") for note in found["notes"]) and "explicit: not for" in words(output)


@pytest.mark.parametrize("method", ["compiled", "gibbs_appell"])
def test_the_function_and_the_simulator_tell_one_impact_alike(method: Any) -> None:
    """A rod that lies on the ground, one end coming down, the other going up: each value of the record, by two ways to compute it."""
    rod, gravity, height = ug.load(ug.model_path("rigid_link")), (0.0, -9.81, 0.0), 0.3
    q, v = np.array([0.2, height, 0.0]), np.array([0.4, -1.0, 3.0])
    ground = ug.walls.Plane(normal=(0, 1, 0), point=(0, height, 0))
    theirs = ug.Simulator(rod, walls=ground, law="newton_equality", restitution=0.7, gravity=gravity).impact(q, v)
    assert theirs is not None and theirs.k == 2
    contacts = [(link, (0, 0, 0), (0, 1, 0)) for link in theirs.points]
    ours = ug.impact(rod, q, v, contacts, 0.7, gravity=gravity, method=method)
    told_otherwise = {"walls", "rounds", "certificate"}  # no wall, and no solver that works in rounds
    for field in dataclasses.fields(ug.Impact):
        if field.name not in told_otherwise:
            mine, other = getattr(ours, field.name), getattr(theirs, field.name)
            if isinstance(mine, np.ndarray | float):
                np.testing.assert_allclose(mine, other, rtol=1e-12, atol=1e-12, err_msg=field.name)
            else:
                assert mine == other, field.name
    assert ours.energy_loss != 0.0 and ours.walls == ("", "")
