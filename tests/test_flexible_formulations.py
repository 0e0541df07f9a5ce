"""Robots with elastic links: two formulations and the compiled code agree to round-off, with each other, with an oracle that knows
positions alone, with Pinocchio where the links are stiff or straight, with closed forms, and with the laws of conservation."""

from __future__ import annotations

import dataclasses
import json
import warnings
from pathlib import Path
from timeit import timeit
from typing import Any

import numpy as np
import pytest
from examples import runner
from flexible_trees import Array, chain, lagrangian, random_flexible, spatial_chain, state
from random_trees import random_tree

import urdf_gibbs as ug
from urdf_gibbs.cli import app
from urdf_gibbs.dynamics import gibbs_appell_flexible, transformations_flexible
from urdf_gibbs.dynamics.model import model_of
from urdf_gibbs.dynamics.registry import FLEXIBLE_METHODS
from urdf_gibbs.engine import quantities as engine_quantities
from urdf_gibbs.engine.kernel import KERNELS, Composed
from urdf_gibbs.oracle import compare
from urdf_gibbs.oracle.pinocchio import Oracle
from urdf_gibbs.oracle.point_masses import PointMasses
from urdf_gibbs.oracle.rigid_limit import RigidLimit

COMPILED, THREE, FOUR = FLEXIBLE_METHODS
GRAVITY = (0.6, -1.1, -9.7)
BASES = ("fixed", "floating", "planar")


def loaded(text: str, base: str = "fixed") -> ug.Robot:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return ug.load(text, base)  # type: ignore[arg-type]


def relative(found: Any, expected: Any) -> float:
    return float(np.abs(np.asarray(found) - expected).max(initial=0.0) / np.abs(expected).max(initial=1e-300))


def quantities(robot: ug.Robot, q: Array, v: Array, method: str) -> dict[str, Any]:
    return {
        "M": ug.mass_matrix(robot, q, method=method),
        "bias": ug.bias(robot, q, v, gravity=GRAVITY, method=method),
        "gravity": ug.gravity_force(robot, q, gravity=GRAVITY, method=method),
        "inverse": ug.inverse_dynamics(robot, q, v, v[::-1], gravity=GRAVITY, method=method),
    }


# with each other --------------------------------------------------------------------------------------------------------


def test_the_two_forms_agree_to_round_off() -> None:
    worst, elastic, pairs, roots, kinds = 0.0, 0, 0, 0, set()
    for seed in range(18):
        base = BASES[seed % 3]
        robot = loaded(random_flexible(seed, 6), base)
        if not robot.is_flexible:
            continue
        q, v = state(robot, seed)
        one, other = quantities(robot, q, v, THREE), quantities(robot, q, v, FOUR)
        worst = max(worst, *(relative(one[name], other[name]) for name in one))
        for joint, parent in zip(robot.joints, robot.parent, strict=True):
            elastic, pairs = elastic + (joint.beam is not None), pairs + bool(joint.beam and joint.beam.pairs)
            roots += base == "fixed" and joint.beam is not None and parent < 0
            kinds.add("mimic" if joint.is_mimic else joint.type)
    assert worst < 1e-12
    # the draw has what it is meant to have
    assert elastic > 20 and pairs > 5 and kinds >= {"revolute", "continuous", "prismatic", "floating", "planar", "mimic", "elastic"}
    assert roots


def test_compiled_code_agrees_with_both() -> None:
    for seed, base in ((1, "fixed"), (4, "floating"), (1, "planar")):
        robot = loaded(random_flexible(seed, 3), base)
        q, v = state(robot, seed)
        ours = quantities(robot, q, v, COMPILED)
        for method in (THREE, FOUR):
            theirs = quantities(robot, q, v, method)
            assert max(relative(ours[name], theirs[name]) for name in ours) < 1e-12


def test_a_batch_is_its_states() -> None:
    robot = loaded(spatial_chain(2, 1, attributes='foreshortening="true"'), "floating")
    states = [state(robot, seed) for seed in range(3)]
    q, v = (np.stack(x) for x in zip(*states, strict=True))
    for method in FLEXIBLE_METHODS:
        together = quantities(robot, q, v, method)
        assert relative(together["M"][1], ug.mass_matrix(robot, q[1], method=method)) < 1e-13
        assert relative(together["bias"][2], ug.bias(robot, q[2], v[2], gravity=GRAVITY, method=method)) < 1e-13


def test_rigid_robots_are_a_case() -> None:
    """Without elastic links both give what the rigid formulations give."""
    for base in ("fixed", "floating", "planar"):
        robot = loaded(random_tree(5, 9, mimic=0.3), base)
        q, v = state(robot, 2)
        for form in (gibbs_appell_flexible, transformations_flexible):
            M, h = form.mass_matrix(model_of(robot), q.tolist()), form.bias(model_of(robot), q.tolist(), v.tolist(), list(GRAVITY))
            assert relative(M, ug.mass_matrix(robot, q, method="explicit")) < 1e-13
            assert relative(h, ug.bias(robot, q, v, gravity=GRAVITY, method="explicit")) < 1e-13


def test_robots_too_large_for_straight_line_code_are_computed_in_python(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engine_quantities, "ELASTIC", 20)
    robot = loaded(chain(2, 1))
    q, v = state(robot, 0)
    for name, arguments in (("mass_matrix", (q,)), ("bias", (q, v)), ("forward_dynamics", (q, v, v)), ("kinetic_energy", (q, v))):
        found = robot.kernel(name)(*arguments)
        made = [kernel for asked, kernel in KERNELS.of(robot).items() if asked.quantity == name]
        assert made and all(isinstance(kernel, Composed) for kernel in made)
        assert relative(found, getattr(ug, name)(robot, *arguments, method=FOUR)) < 1e-11


# with the oracle --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("m", [1, 2, 3])
@pytest.mark.parametrize("n", [1, 2, 3, 4])
def test_plane_and_space_against_positions_alone(n: int, m: int) -> None:
    """M and h of the oracle come from accelerations of points, which come from automatic differentiation of positions."""
    extras = ("", 'foreshortening="true"', 'J="0.02 0.01 0.013" elastic_rotary="true" foreshortening="true"')
    texts = [(chain(n, m, 20.0, extras[(n + m) % 3]), "fixed")]
    texts += [(spatial_chain(n, m, 30.0, extras[n % 2] + (' elastic_rotary="true"' if m % 2 else "")), "floating")]
    for text, base in texts:
        robot = loaded(text, base)
        q, v = state(robot, n + m)
        M, h = lagrangian(robot, text).equations(q, v, GRAVITY)
        for method in (THREE, FOUR):
            assert relative(ug.mass_matrix(robot, q, method=method), M) < 1e-10
            assert relative(ug.bias(robot, q, v, gravity=GRAVITY, method=method), h) < 1e-10


@pytest.mark.parametrize("base", ["fixed", "floating"])
def test_random_trees_against_positions_alone(base: str) -> None:
    for seed in range(6):
        text = random_flexible(seed, 5, ("revolute", "continuous", "prismatic", "floating", "fixed"), mimic=0.0, damping=False)
        robot = loaded(text, base)
        q, v = state(robot, seed)
        M, h = lagrangian(robot, text).equations(q, v, GRAVITY)
        assert relative(ug.mass_matrix(robot, q, method=THREE), M) < 1e-10
        assert relative(ug.bias(robot, q, v, gravity=GRAVITY, method=THREE), h) < 1e-10


def test_damping_is_linear_in_the_rates() -> None:
    damped, free = loaded(chain(2, 2, 20.0, 'damping="0.4 0.01"')), loaded(chain(2, 2, 20.0))
    q, v = state(damped, 1)
    for method in FLEXIBLE_METHODS:
        force = ug.bias(damped, q, v, method=method) - ug.bias(free, q, v, method=method)
        wanted = np.zeros(damped.nv)
        for joint in damped.joints:
            if joint.beam is not None:
                own = slice(joint.iv, joint.iv + joint.nv)
                wanted[own] = joint.beam.damping @ v[own]
        assert np.abs(wanted).max() > 0.01
        np.testing.assert_allclose(force, wanted, atol=1e-12)


# limits -----------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("make", [lambda EI: (chain(3, 2, EI), "fixed"), lambda EI: (spatial_chain(2, 1, EI), "floating")])
def test_stiff_links_move_as_pinocchios_rods(make: Any) -> None:
    """Where the links are bent as the motion bends them, the rigid coordinates accelerate as the rods', up to a part in EI."""
    errors = []
    for EI in (1e5, 1e6, 1e7):
        text, base = make(EI)
        robot = loaded(text, base)
        limit = RigidLimit(robot, text, mimic=True, gravity=GRAVITY)
        rng = np.random.default_rng(4)
        q, v, tau = robot.random(rng), rng.normal(size=robot.nv), rng.normal(size=robot.nv)
        rigid, elastic = limit.v, limit.bent_v
        q[limit.bent_q] = v[elastic] = tau[elastic] = 0.0
        expected = limit.oracle.answers(q[limit.q], v[limit.v], v[limit.v], tau[limit.v], {}).acceleration
        assert expected is not None
        K = np.zeros((robot.nv, robot.nv))
        for joint in robot.joints:
            if joint.beam is not None:
                K[joint.iv : joint.iv + joint.nv, joint.iv : joint.iv + joint.nv] = joint.beam.stiffness
        for _ in range(6):  # delta with delta'' = 0: each pass gains the factor EI
            M, h = ug.mass_matrix(robot, q, method=THREE), ug.bias(robot, q, v, gravity=GRAVITY, method=THREE)
            a = np.linalg.solve(M[np.ix_(rigid, rigid)], (tau - h)[rigid])
            q[limit.bent_q] -= np.linalg.solve(K[np.ix_(elastic, elastic)], M[np.ix_(elastic, rigid)] @ a + h[elastic])
        found = ug.forward_dynamics(robot, q, v, tau, gravity=GRAVITY)
        assert np.abs(found[elastic]).max() < 1e-4 * np.abs(found).max()
        errors.append(relative(found[rigid], expected))
    assert errors[0] < 0.05
    assert errors[0] / errors[1] == pytest.approx(10.0, rel=0.1)
    assert errors[1] / errors[2] == pytest.approx(10.0, rel=0.1)


def test_a_cantilever_sags_as_in_the_textbook() -> None:
    """mu g L^4 / (8 EI) at the tip, approached as modes are added."""
    L, mu, EI = 2.0, 0.7, 500.0
    exact = mu * 9.81 * L**4 / (8.0 * EI)
    errors = []
    for m in range(1, 7):
        element = f'<flexible link="beam" length="{L}" mass_per_length="{mu}" EI_y="{EI}" modes="z=clamped-free:{m}"/>'
        robot = loaded(f'<robot name="cantilever"><link name="beam"/><urdf_gibbs>{element}</urdf_gibbs></robot>')
        beam = robot.joints[0].beam
        assert beam is not None
        delta = np.linalg.solve(beam.stiffness, -ug.gravity_force(robot, np.zeros(m)))
        assert np.abs(ug.bias(robot, delta, np.zeros(m), method=FOUR)).max() < 1e-9
        errors.append(abs(-delta @ beam.tip[:, 2] - exact) / exact)
    assert errors[0] < 0.02
    assert errors[-1] < 1e-5
    assert errors == sorted(errors, reverse=True)


# laws -------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("EI", [10.0, 1e3, 1e5])
@pytest.mark.parametrize("where", ["plane", "space"])
def test_energy_and_momentum_are_kept_in_free_flight(where: str, EI: float) -> None:
    robot = loaded(chain(2, 1, EI)) if where == "plane" else loaded(spatial_chain(1, 1, EI), "floating")
    rng = np.random.default_rng(0)
    q, v = robot.random(rng), rng.normal(size=robot.nv)
    for joint in robot.joints:
        if joint.beam is not None:  # strain of about the size of the kinetic energy, not above
            q[joint.iq : joint.iq + joint.nq] = 0.3 * rng.uniform(-1, 1, joint.nq) / np.sqrt(EI)
    flight = ug.simulate(robot, q, v, 1.0, gravity=(0.0, 0.0, 0.0), rtol=1e-12, atol=1e-14)
    q_t, v_t = flight.at(np.linspace(0.0, 1.0, 41))
    energy = np.array(
        [ug.kinetic_energy(robot, *x) + ug.potential_energy(robot, x[0], gravity=(0.0, 0.0, 0.0)) for x in zip(q_t, v_t, strict=True)]
    )
    momentum = np.array([ug.momentum(robot, *x) for x in zip(q_t, v_t, strict=True)])
    if where == "space":  # of quasi-velocities as well, momentum is in the world's axes
        assert np.abs(momentum[0, 3:]).min() > 1e-3
    assert np.ptp(energy) < 1e-10 * energy[0]
    assert np.ptp(momentum, axis=0).max() < 1e-10 * np.abs(momentum).max()
    assert np.ptp([q_t[:, robot.joints[-1].iq]]) > 1e-4  # it does vibrate


# the command line -------------------------------------------------------------------------------------------------------


def test_validate_compares_with_each_other_and_the_rods_with_pinocchio(tmp_path: Path) -> None:
    file, report, page = tmp_path / "chain.urdf", tmp_path / "report.json", tmp_path / "page.html"
    file.write_text(chain(2, 1))
    result = runner.invoke(app, ["validate", str(file), "--samples", "4", "--json", str(report), "--html", str(page)])
    assert result.exit_code == 0, result.output
    (found,) = json.loads(report.read_text())
    assert found["agrees"] and found["reference"] == "each other; rigid limit against Pinocchio"
    names = {(row["quantity"], row["method"]) for row in found["quantities"]}
    assert {
        ("mass matrix", COMPILED),
        ("bias", THREE),
        ("mass matrix (rigid limit)", FOUR),
        ("jacobians (rigid limit)", "kinematics"),
        ("momentum (point masses)", "kinematics"),
        ("jacobians (point masses)", "kinematics"),
    } <= names
    assert page.stat().st_size > 10_000 and "rigid limit" in page.read_text()
    refused = runner.invoke(app, ["validate", str(file), "--method", "explicit"])
    assert refused.exit_code == 2 and "whose links are elastic" in " ".join(refused.output.replace("│", " ").split())
    alone = runner.invoke(app, ["validate", str(file), "--method", FOUR, "--samples", "2", "--json", str(report)])
    assert alone.exit_code == 0, alone.output
    assert any(f"{FOUR} against {THREE}" in note for note in json.loads(report.read_text())[0]["notes"])


def test_rods_are_put_in_where_a_link_has_no_inertial_and_others_are_not_compared() -> None:
    bare = chain(2, 2, rods=False)
    report = compare.validate(loaded(bare, "floating"), bare, samples=3)
    assert report.agrees and report.reference.endswith("Pinocchio")
    assert any('link "b1" has no <inertial>' in note for note in report.notes)
    heavier = chain(2, 2).replace('<mass value="1"/>', '<mass value="1.1"/>')
    report = compare.validate(loaded(heavier), heavier, samples=3)
    assert report.agrees and report.reference == "each other"
    assert any('<inertial> of link "b1" has not the mass of its beam' in note for note in report.notes)


def test_random_trees_have_pinocchios_rods_as_their_rigid_limit() -> None:
    compared = 0
    for seed in range(6):
        text = random_flexible(seed, 5)
        robot = loaded(text, BASES[seed % 3])
        report = compare.validate(robot, text, samples=2, methods=[THREE, FOUR])
        assert report.agrees, (seed, report.worst, report.notes)
        compared += report.reference.endswith("Pinocchio")
    assert compared > 3


def test_what_differs_from_pinocchio_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """The comparison with Pinocchio is one: a millionth of a radian is seen."""
    text = chain(2, 1)
    robot = loaded(text)
    answers = Oracle.answers
    monkeypatch.setattr(Oracle, "answers", lambda self, q, *rest: answers(self, q + 1e-6, *rest))
    report = compare.validate(robot, text, samples=2, methods=[THREE])
    assert not report.agrees
    assert report.worst.quantity.endswith("(rigid limit)")
    assert "urdf_gibbs." in report.worst_call


@pytest.mark.parametrize("base", ["fixed", "floating", "planar"])
def test_bent_links_have_the_momentum_and_the_jacobians_of_point_masses(base: str) -> None:
    """Of random trees, with foreshortening, torsion, rotary inertia and joints that follow: by shape functions at Gauss points alone."""
    compared = 0
    for seed in range(6):
        robot = loaded(random_flexible(seed, 5), base)
        if not robot.is_flexible:
            continue
        q, v = state(robot, seed)
        points = compare._points(robot, seed)
        cloud = PointMasses(robot, compare.EARTH_GRAVITY).answers(q, v, points)
        # Round-off of some hundred sums: 2e-15 measured.
        np.testing.assert_allclose(ug.momentum(robot, q, v), cloud.momentum, rtol=0, atol=1e-12 * np.abs(cloud.momentum).max())
        np.testing.assert_allclose(ug.centre_of_mass(robot, q), cloud.centre_of_mass, rtol=0, atol=1e-12)
        assert ug.potential_energy(robot, q) == pytest.approx(cloud.potential, rel=1e-12)
        for link, point in points.items():
            np.testing.assert_allclose(ug.jacobian(robot, q, link, point), cloud.jacobians[link], rtol=0, atol=1e-12)
        compared += 1
    assert compared > 3


@pytest.mark.parametrize(
    ("field", "quantity"), [("C1", "momentum"), ("G0", "momentum"), ("tip", "jacobians"), ("tip_rotation", "jacobians")]
)
def test_a_wrong_integral_of_a_bent_beam_is_found(field: str, quantity: str) -> None:
    """All formulations take it from the beam and agree, and the straight beam does not need it: only point masses tell."""
    text = chain(2, 1)
    robot = loaded(text)
    wrong = tuple(
        one
        if one.beam is None
        else dataclasses.replace(one, beam=dataclasses.replace(one.beam, **{field: 1.001 * getattr(one.beam, field)}))
        for one in robot.joints
    )
    report = compare.validate(dataclasses.replace(robot, joints=wrong), text, samples=2)
    found = {c.quantity for c in report.comparisons if not c.agrees}
    assert f"{quantity} (point masses)" in found
    assert not {one for one in found if not one.endswith("(point masses)")}


def test_the_engine_is_far_faster_than_the_formulations_in_python() -> None:
    """Ten links with two modes each, interleaved; a factor of more than ten thousand on an idle machine."""
    robot = loaded(chain(10, 2))
    q, v = state(robot, 0)
    for name, arguments in (("mass_matrix", (q,)), ("bias", (q, v))):
        kernel, function = robot.kernel(name), getattr(ug, name)
        assert relative(kernel(*arguments), function(robot, *arguments, method=THREE)) < 1e-12
        ours, theirs = [], []
        for _ in range(5):  # the least of each: what else runs on the machine only adds
            ours.append(timeit(lambda kernel=kernel, arguments=arguments: kernel(*arguments), number=500) / 500)
            theirs.append(timeit(lambda function=function, arguments=arguments: function(robot, *arguments, method=THREE), number=1))
        assert min(theirs) > 100.0 * min(ours)


def test_bench_times_the_formulations_in_python(tmp_path: Path) -> None:
    file, report = tmp_path / "chain.urdf", tmp_path / "bench.json"
    file.write_text(chain(1, 1))
    result = runner.invoke(app, ["bench", str(file), "--rounds", "1", "--batch", "16", "--json", str(report)])
    assert result.exit_code == 0, result.output
    (found,) = json.loads(report.read_text())["results"]
    assert found["single"]["mass_matrix"].keys() == {"kernel", "function", THREE, FOUR}
    assert "unknown to Pinocchio" in result.output
