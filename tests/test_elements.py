"""Elements of the mass matrix by themselves, in subsets and in threads, against the entries of Pinocchio's matrix."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest
from examples import FOLDER
from numpy.typing import NDArray
from random_trees import random_tree

import urdf_gibbs as ug
from urdf_gibbs.dynamics import explicit
from urdf_gibbs.dynamics.model import model_of
from urdf_gibbs.engine.elements import GROUPED_ELEMENTS, GroupedElements
from urdf_gibbs.oracle.pinocchio import Oracle
from urdf_gibbs.reproduce.planar_3r import CORRECTIONS, PRINTED, evaluated, values_of

Array = NDArray[np.float64]
TOLERANCE = 1e-10  # relative to the largest entry
MIMIC = random_tree(11, 12, ("revolute", "prismatic", "continuous", "planar", "fixed"), mimic=0.5)
LONG = random_tree(3, 48, ("revolute",), branching=1)  # no straight-line code for all of its elements
ROBOTS: dict[str, tuple[Any, str]] = {
    "panda": (FOLDER / "panda_description/urdf/panda.urdf", "fixed"),
    "go2": (FOLDER / "go2_description/urdf/go2.urdf", "floating"),
    "branched12": (ug.model_path("branched12"), "fixed"),
    "gripper": (ug.model_path("gripper"), "planar"),
    "mimic": (MIMIC, "floating"),
}
by_robot = pytest.mark.parametrize("name", ROBOTS)


def made(name: str) -> tuple[ug.Robot, Oracle]:
    source, base = ROBOTS[name]
    return ug.load(source, base), Oracle(source, base, True, (0.0, 0.0, -9.81))


def matrices(oracle: Oracle, q: Array) -> Array:
    """Pinocchio's M for q (n, nq)."""
    zero = np.zeros(oracle.nv)
    return np.array([oracle.answers(one, zero, zero, zero, {}).mass_matrix for one in q])


def same(ours: Array, theirs: Array) -> None:
    np.testing.assert_allclose(ours, theirs, rtol=0, atol=TOLERANCE * float(np.abs(theirs).max()))


def all_pairs(robot: ug.Robot) -> list[tuple[int, int]]:
    return [(i, j) for i in range(robot.nv) for j in range(robot.nv)]


@by_robot
@pytest.mark.parametrize("options", [{"method": "compiled"}, {"method": "explicit"}, {"threads": 2}, {"threads": 3}], ids=str)
def test_all_elements_are_pinocchios(name: str, options: dict[str, Any]) -> None:
    """Every pair in either order; elements of joints in different branches are zero."""
    robot, oracle = made(name)
    pairs = all_pairs(robot)
    for shape in ((), (3,), (300,)):  # one, fewer than a group of lanes, and enough for code for batches
        q = robot.random(1, shape)
        found = ug.mass_matrix_elements(robot, q, pairs, **options)
        assert found.shape == (*shape, len(pairs))
        some = slice(0, 300, 37)
        expected = matrices(oracle, q.reshape(-1, robot.nq)[some]).reshape(-1, len(pairs))
        same(found.reshape(-1, len(pairs))[some], expected)


@by_robot
@pytest.mark.parametrize("method", ["compiled", "explicit"])
def test_a_subset_is_pinocchios(name: str, method: str) -> None:
    robot, oracle = made(name)
    rng = np.random.default_rng(5)
    pairs = [(int(i), int(j)) for i, j in rng.integers(0, robot.nv, (7, 2))]
    q = robot.random(rng, (2, 5))
    out = np.empty((2, 5, len(pairs)))
    assert ug.mass_matrix_elements(robot, q, pairs, method=method, out=out) is out
    expected = matrices(oracle, q.reshape(10, robot.nq)).reshape(2, 5, robot.nv, robot.nv)
    same(out, expected[..., *np.transpose(pairs)])


@pytest.mark.parametrize("method", ["compiled", "explicit"])
def test_a_single_element_by_index_or_name_in_either_order(method: str) -> None:
    robot, oracle = made("go2")
    q = robot.random(2)
    expected = matrices(oracle, q[None])[0]
    names = robot.velocity_names
    for i, j in ((0, 0), (17, 17), (5, 13), (8, 0)):
        for pair in ((i, j), (j, i), (names[i], names[j]), (names[j], i), (np.int64(i), np.int32(j))):
            found = ug.mass_matrix_elements(robot, q, [pair], method=method)
            assert found.shape == (1,)
            same(found, expected[i : i + 1, j])


def test_the_explicit_element_of_a_leg_uses_only_that_leg(monkeypatch: pytest.MonkeyPatch) -> None:
    """Poses are made for the subtree of the deeper joint and its path to the root, and for nothing else."""
    robot = ug.load(*ROBOTS["go2"])
    placed: list[set[int]] = []
    poses = explicit.poses

    def watched(model: Any, q: Any, bodies: Any = None) -> Any:
        result = poses(model, q, bodies)
        placed.append({i for i, pose in enumerate(result) if pose is not explicit.NOWHERE})
        return result

    monkeypatch.setattr(explicit, "poses", watched)
    thigh = robot.joint_names.index("FR_thigh_joint")
    explicit.elements(model_of(robot), robot.neutral().tolist(), [(robot.joints[thigh].iv, 0)])
    moved = {robot.joints[i].name for i in placed[0]}
    assert moved == {"root_joint", "FR_hip_joint", "FR_thigh_joint", "FR_calf_joint"}


@pytest.mark.parametrize("name", PRINTED)
def test_wjs_entries_of_the_planar_3r_are_pinocchios_after_the_corrections_alone(name: str) -> None:
    """Each term of a corrected entry is needed; M33 is right as printed."""
    path = ug.model_path("planar3r")
    robot, oracle = ug.load(path), Oracle(path, "fixed", True, (0.0, 0.0, -9.81))
    q = np.random.default_rng(0).uniform(-3.0, 3.0, (4, 3))
    expected = matrices(oracle, q)[:, int(name[1]) - 1, int(name[2]) - 1]

    def agrees(text: str) -> bool:
        found = np.array([evaluated(text, values_of(robot, one)) for one in q])
        return bool((np.abs(found - expected) < TOLERANCE).all())

    text = PRINTED[name]
    for correct in CORRECTIONS.values():
        assert name == "M33" or not agrees(text)
        text = correct(name, text) if name != "M33" else text
        if agrees(text):
            break
    assert agrees(text)
    for symbol in set(re.findall(r"C_\d\^\d|[A-Za-z]\w*", text)):
        assert not agrees(text.replace(symbol, f"2 {symbol}", 1))


def test_a_text_is_read_as_a_sum_of_products_or_not_at_all() -> None:
    values = {"a": 2.0, "b": 3.0, "C_2^1": 0.5}
    assert evaluated("a + 2 a (b^2 + C_2^1) b", values) == 2.0 + 4.0 * 9.5 * 3.0
    for wrong in ("nonsense", "", "a +", "+ a", "(a", "a)", "a - b", "a ^2 ^2 c", "a b; b"):
        assert np.isnan(evaluated(wrong, values)), wrong


def test_elements_beyond_straight_line_code_are_read_from_the_matrix() -> None:
    robot, oracle = ug.load(LONG), Oracle(LONG, "fixed", True, (0.0, 0.0, -9.81))
    pairs = all_pairs(robot)
    q = robot.random(4, 5)
    expected = matrices(oracle, q)
    for threads in (1, 2):
        same(ug.mass_matrix_elements(robot, q, pairs, threads=threads), expected.reshape(5, -1))
    same(ug.mass_matrix_elements(robot, q, [(47, 47), (40, 47)]), expected[:, [47, 40], [47, 47]])  # small enough for code of its own


def test_each_group_has_its_own_code() -> None:
    robot, oracle = made("branched12")
    pairs = [(i, j) for i in range(robot.nv) for j in range(i + 1)]
    ug.mass_matrix_elements(robot, robot.neutral(), pairs, threads=2)
    grouped_elements = list(GROUPED_ELEMENTS.of(robot).values())
    assert len(grouped_elements) == 1 and isinstance(grouped_elements[0], GroupedElements)
    q = robot.random(0, 20_000)  # several blocks for each thread
    out = ug.mass_matrix_elements(robot, q, pairs, threads=2)
    some = [0, 1, 4321, 9999, 19_999]
    same(out[some], matrices(oracle, q[some])[:, *np.transpose(pairs)])


def test_elastic_links_have_elements_too() -> None:
    """Compared with the paper's own formulation: Pinocchio has no elastic links."""
    robot = ug.load(ug.model_path("flexible_two_links"))
    q = 0.1 * robot.random(0, 3)
    M = ug.mass_matrix(robot, q, method="gibbs_appell_flexible")
    same(ug.mass_matrix_elements(robot, q, [(0, 0), (5, 3), (2, 5)]), M[:, [0, 5, 2], [0, 3, 5]])
    with pytest.raises(ug.ArgumentError, match="rigid links"):
        ug.mass_matrix_elements(robot, q, [(0, 0)], method="explicit")


def test_inertial_parameters_may_be_inputs() -> None:
    robot = ug.load(*ROBOTS["panda"])
    heavier = robot.with_inertia("panda_link5", mass=9.0)
    code = robot.kernel("mass_matrix_elements", pairs=[(0, 0), ("panda_joint4", "panda_joint2")], parameters=True)
    q = robot.random(3)
    M = ug.mass_matrix(heavier, q, method="gibbs_appell")
    same(code(q, heavier.parameters.ravel()), M[[0, 3], [0, 1]])


@pytest.mark.parametrize(
    ("pairs", "error", "message"),
    [
        ([(0, 8)], ug.ArgumentError, "8 in pairs, expected an index from 0 to 7"),
        ([(-1, 0)], ug.ArgumentError, "-1 in pairs"),
        ([(0.0, 0)], ug.ArgumentError, "0.0 in pairs"),
        ([(0, "panda_joint9")], ug.UnknownNameError, "no velocity named 'panda_joint9'; known: panda_joint1"),
        ([(0, 1, 2)], ug.ArgumentError, r"\(0, 1, 2\) in pairs, expected \(row, column\)"),
        ([3], ug.ArgumentError, r"3 in pairs, expected \(row, column\)"),
        ([], ug.ArgumentError, "no pairs"),
    ],
    ids=["beyond", "negative", "float", "unknown", "three", "one", "none"],
)
def test_bad_pairs_are_named(pairs: Any, error: type[Exception], message: str) -> None:
    robot = ug.load(*ROBOTS["panda"])
    for options in ({}, {"method": "explicit"}, {"threads": 2}):
        with pytest.raises(error, match=message):
            ug.mass_matrix_elements(robot, robot.neutral(), pairs, **options)  # type: ignore[arg-type]


def test_bad_threads_methods_and_states_are_named() -> None:
    robot = ug.load(*ROBOTS["go2"])
    q = robot.neutral()
    with pytest.raises(ug.ArgumentError, match="threads=0, expected a whole number"):
        ug.mass_matrix_elements(robot, q, [(0, 0)], threads=0)
    with pytest.raises(ug.ArgumentError, match="'explicit', which is plain Python"):
        ug.mass_matrix_elements(robot, q, [(0, 0)], threads=2, method="explicit")
    with pytest.raises(ug.UnknownNameError, match="no method named 'other'"):
        ug.mass_matrix_elements(robot, q, [(0, 0)], method="other")
    q[3:7] = 0.0
    for options in ({}, {"method": "explicit"}, {"threads": 2}):
        with pytest.raises(ug.ArgumentError, match="the quaternion of joint 'root_joint'"):
            ug.mass_matrix_elements(robot, q, [(0, 0), (7, 0)], **options)  # type: ignore[arg-type]


def test_the_measurement_says_when_parallel_pays(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """Rows for one state and batches; the verdict follows from the ratios. No assertion on what is faster here."""
    import elements

    from urdf_gibbs.reproduce import elements as measured

    monkeypatch.setattr(
        measured, "robots", lambda: {"pendulum": ug.load(ug.model_path("pendulum")), "planar3r": ug.load(ug.model_path("planar3r"))}
    )
    monkeypatch.setattr(measured, "BATCHES", (1, 16, 300))
    threads = ug.get_threads()
    rows = elements.main()
    assert ug.get_threads() == threads
    assert [(row["robot"], row["method"], row["states"]) for row in rows[:4]] == [
        *(("pendulum", "compiled", states) for states in (1, 16, 300)),
        ("pendulum", "explicit", 1),
    ]
    for row in rows:
        base, *others = row["seconds"].values()
        assert list(row["ratios"].values()) == pytest.approx([base / other for other in others])
    assert "elements on two" in capsys.readouterr().out
    cases = [
        ({"one": 1.0, "elements": 0.6, "states": 0.7}, {"elements": 1.0, "states": 1.0}, "elements"),
        ({"one": 1.0, "elements": 0.6, "states": 0.7}, {"elements": 0.5, "states": 1.0}, "states"),  # not in every other round
        ({"one": 1.0, "elements": 0.95, "states": 2.0}, {"elements": 1.0, "states": 0.0}, "nothing"),
    ]
    for seconds, wins, verdict in cases:
        assert measured.Row("r", 1, "compiled", 1, 1, seconds, wins).pays == verdict
