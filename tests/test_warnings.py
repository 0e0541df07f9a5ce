"""Questionable files still load: each warning of the loader on a minimal file, at its line, and one UrdfWarning for the whole file."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pinocchio as pin
import pytest
import urchin
from urdf_text import HERE, LIMIT, UNIT, XML, inertial, joint, line_of, link, numbers, pinocchio_mass_matrix, pinocchio_model, robot

from urdf_gibbs import Robot, UrdfWarning, check, load, mass_matrix
from urdf_gibbs import bias as bias_force

ROUND_OFF = 1e-12  # a handful of operations on numbers of order one


@dataclass(frozen=True)
class Case:
    """A text that loads with one warning on the marked line."""

    name: str
    text: str
    code: str


def of_link(content: str) -> str:
    """Links a and b, the second with the given content, and a hinge between them."""
    return robot(link("a"), f'<link name="b">\n{content}\n</link>\n', joint("j", "continuous", "a", "b", axis=(0, 0, 1)))


def of_joint(kind: str, content: str) -> str:
    return robot(link("a"), link("b"), f'<joint name="j" type="{kind}">\n<parent link="a"/>\n<child link="b"/>\n{content}\n</joint>\n')


def of_shape(content: str) -> str:
    return of_link(f"{UNIT}<visual><geometry>\n{content}{HERE}</geometry></visual>")


def of_inertia(entries: str, mass: str = "1") -> str:
    return of_link(f'<inertial>\n<mass value="{mass}"/>\n<inertia {entries}/>{HERE}\n</inertial>')


def chain(*mimics: str) -> str:
    links = [link(f"l{i}") for i in range(4)]
    kinds = ("fixed", "revolute", "prismatic")
    return robot(*links, *(joint(f"j{i}", kinds[i], f"l{i}", f"l{i + 1}", mimic) for i, mimic in enumerate(mimics)))


CASES = [
    Case(
        "link without inertial",
        robot(link("a"), f'<link name="b"/>{HERE}\n', joint("j", "continuous", "a", "b", axis=(0, 0, 1))),
        "no-inertial",
    ),
    Case(
        "inertial without mass",
        of_link(f'<inertial>{HERE}\n<inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/>\n</inertial>'),
        "no-mass",
    ),
    Case("inertial without inertia", of_link(f'<inertial>{HERE}\n<mass value="1"/>\n</inertial>'), "no-inertia"),
    Case("inertia without two entries", of_inertia('ixx="1" ixy="0" iyy="1" izz="1"'), "no-inertia"),
    Case("moments 1, 1, 3", of_inertia('ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="3"'), "triangle-inequality"),
    Case("moments 1, 2, 4 in turned axes", of_inertia('ixx="3" ixy="0" ixz="1" iyy="1" iyz="0" izz="3"'), "triangle-inequality"),
    Case("negative moment", of_inertia('ixx="1" ixy="0" ixz="0" iyy="-1" iyz="0" izz="1"'), "indefinite-inertia"),
    Case("product of inertia too large", of_inertia('ixx="1" ixy="1.5" ixz="0" iyy="1" iyz="0" izz="1"'), "indefinite-inertia"),
    Case("inertia without mass", of_inertia('ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"', mass="0"), "massless-inertia"),
    Case(
        "lower limit above the upper",
        of_joint("revolute", f'<limit lower="1" upper="-1" effort="1" velocity="1"/>{HERE}'),
        "inverted-limits",
    ),
    Case(
        "upper limit below the default lower",
        of_joint("prismatic", f'<limit upper="-1" effort="1" velocity="1"/>{HERE}'),
        "inverted-limits",
    ),
    Case("axis of length 5", of_joint("revolute", f'<axis xyz="0 3 4"/>{HERE}\n{LIMIT}'), "axis-length"),
    Case("axis of length 0.1", of_joint("continuous", f'<axis xyz="0.1 0 0"/>{HERE}'), "axis-length"),
    Case("normal of a plane of length 2", of_joint("planar", f'<axis xyz="0 0 2"/>{HERE}'), "axis-length"),
    Case("revolute joint without limit", robot(link("a"), link("b"), joint("j", "revolute", "a", "b", limit=HERE)), "no-limit"),
    Case("prismatic joint without limit", robot(link("a"), link("b"), joint("j", "prismatic", "a", "b", limit=HERE)), "no-limit"),
    Case("limit without effort", of_joint("revolute", f'<limit lower="-1" upper="1" velocity="1"/>{HERE}'), "no-limit"),
    Case("limit without velocity", of_joint("revolute", f'<limit lower="-1" upper="1" effort="1"/>{HERE}'), "no-limit"),
    Case("planar joint without axis", robot(link("a"), link("b"), HERE + joint("j", "planar", "a", "b")), "no-axis"),
    Case("axis without xyz", of_joint("revolute", f"<axis/>{HERE}\n{LIMIT}"), "no-axis"),
    Case("mimic of a fixed joint", chain("", f'<mimic joint="j0"/>{HERE}', ""), "mimic-fixed"),
    Case("repeated origin", of_joint("continuous", f'<origin xyz="0 0 1"/>\n<origin xyz="0 0 2"/>{HERE}'), "repeated"),
    Case("repeated inertial", of_link(f"{UNIT}\n{inertial(2.0)}{HERE}"), "repeated"),
    Case("repeated axis", of_joint("continuous", f'<axis xyz="0 0 1"/>\n<axis xyz="0 0 2"/>{HERE}'), "repeated"),
    Case("visual without geometry", of_link(f"{UNIT}\n<visual>{HERE}\n</visual>"), "no-geometry"),
    Case("collision with empty geometry", of_link(f"{UNIT}\n<collision>{HERE}\n<geometry/></collision>"), "no-geometry"),
    Case("unknown geometry", of_link(f'{UNIT}\n<visual><geometry>\n<cone radius="1"/>{HERE}</geometry></visual>'), "no-geometry"),
    Case(
        "colour of three numbers",
        of_link(
            f'{UNIT}<visual><geometry><sphere radius="1"/></geometry><material name="m">\n<color rgba="1 0 0"/>{HERE}</material></visual>'
        ),
        "bad-colour",
    ),
    Case("mesh scale of four numbers", of_shape('<mesh filename="m.stl" scale="1 1 1 1"/>'), "bad-geometry"),
    Case("mesh scale of one number", of_shape('<mesh filename="m.stl" scale="0.001"/>'), "bad-geometry"),
    Case("mesh scale of zero", of_shape('<mesh filename="m.stl" scale="1 0 1"/>'), "bad-geometry"),
    Case("mesh without filename", of_shape('<mesh scale="1 1 1"/>'), "bad-geometry"),
    Case("box of two numbers", of_shape('<box size="1 2"/>'), "bad-geometry"),
    Case("box without size", of_shape("<box/>"), "bad-geometry"),
    Case("box of a negative side", of_shape('<box size="1 -2 3"/>'), "bad-geometry"),
    Case("sphere without radius", of_shape("<sphere/>"), "bad-geometry"),
    Case("sphere of a negative radius", of_shape('<sphere radius="-1"/>'), "bad-geometry"),
    Case("cylinder with a radius in words", of_shape('<cylinder radius="thick" length="1"/>'), "bad-geometry"),
    Case(
        "collision at NaN",
        of_link(f'{UNIT}<collision>\n<origin xyz="0 nan 0"/>{HERE}<geometry><sphere radius="1"/></geometry></collision>'),
        "bad-geometry",
    ),
    Case(
        "angles in degrees",
        robot(
            link("a"), link("b"), f'<joint name="j" type="fixed"><parent link="a"/><child link="b"/>\n<origin rpy="90 0 0"/>{HERE}</joint>'
        ),
        "angle-range",
    ),
    Case("robot without name", f"{XML}<robot>{HERE}\n{link('a')}</robot>", "no-robot-name"),
]


def loaded(source: Any) -> tuple[Robot, list[warnings.WarningMessage]]:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        return load(source), list(caught)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name.replace(" ", "-"))
def test_questionable_file_loads_with_one_warning_at_its_line(case: Case, tmp_path: Path) -> None:
    path = tmp_path / "robot.urdf"
    path.write_text(case.text)
    robot_, caught = loaded(path)
    assert [(finding.severity, finding.code, finding.line, finding.file) for finding in robot_.findings] == [
        ("warning", case.code, line_of(case.text), str(path))
    ]
    assert [message.category for message in caught] == [UrdfWarning]
    assert str(caught[0].message) == str(robot_.findings[0])
    assert f"{path}:{line_of(case.text)}: warning: " in str(caught[0].message)
    assert caught[0].filename == __file__, "the warning points at the caller"


def test_file_without_fault_loads_without_warning(tmp_path: Path) -> None:
    path = tmp_path / "robot.urdf"
    path.write_text(robot(link("a"), link("b"), joint("j", "revolute", "a", "b", axis=(0, 0.6, 0.8))))
    robot_, caught = loaded(path)
    assert (robot_.findings, caught) == ((), [])


def test_many_findings_make_one_warning_that_counts_the_others() -> None:
    robot_, caught = loaded(robot('<link name="a"/>\n<link name="b"/>\n', joint("j", "revolute", "a", "b", axis=(0, 0, 2), limit="")))
    assert [finding.code for finding in robot_.findings] == ["axis-length", "no-limit", "no-inertial", "no-inertial"]
    assert [message.category for message in caught] == [UrdfWarning]
    assert "and 2 more" in str(caught[0].message)


MISSPELT = [
    ("<orign xyz='1 0 0'/>", "origin"),
    ("<Limit effort='1'/>", "limit"),
    ("<limits effort='1'/>", "limit"),
    ("<origin ryp='1 0 0'/>", "rpy"),
    ("<limit lower='-1' uper='1' effort='1' velocity='1'/>", "upper"),
    ("<dynamics damping='1' friktion='1'/>", "friction"),
    ("<safety_controller k_velocity='1'/>", None),
    ("<limit lower='-1' upper='1' effort='1' velocity='1' gear_velocity='1'/>", None),
    ("<contact/>", None),
]


@pytest.mark.parametrize(("content", "meant"), MISSPELT, ids=[content.split()[0][1:] + str(meant) for content, meant in MISSPELT])
def test_a_name_that_is_nearly_that_of_a_urdf_is_told(content: str, meant: str | None) -> None:
    """Names of others are left alone."""
    found = [one for one in loaded(of_joint("continuous", f"{content}{HERE}"))[0].findings if one.code == "misspelt"]
    assert [one.severity for one in found] == ["warning"] * (meant is not None)
    assert all(meant in one.expected and "passed over" in one.expected for one in found if meant)


@pytest.mark.parametrize("word", ["joint", "inertial", "inertia", "mass", "visual", "geometry", "box"])
def test_each_element_is_told_where_its_name_is_misspelt(word: str) -> None:
    text = of_shape("<box size='1 1 1'/>")
    wrong = text.replace(f"<{word} ", f"<{word}x ").replace(f"<{word}>", f"<{word}x>").replace(f"</{word}>", f"</{word}x>")
    assert wrong != text
    assert {one.value for one in check(wrong) if one.code == "misspelt"} == {f"<{word}x>"}


FRAMES = {
    "an empty root": robot('<link name="a"/>\n', link("b"), joint("j", "continuous", "a", "b", axis=(0, 0, 1))),
    "a frame behind a fixed joint": robot(link("a"), '<link name="b"/>\n', joint("j", "fixed", "a", "b")),
    "frames alone": robot('<link name="a"/>\n<link name="b"/>\n', joint("j", "fixed", "a", "b")),
    "mass fixed to what moves": robot(
        *(link("a"), '<link name="b"/>\n', link("c"), joint("j", "continuous", "a", "b", axis=(0, 0, 1)), joint("k", "fixed", "b", "c"))
    ),
    "a square of round-off": of_inertia('ixx="1e-19" iyy="1e-19" izz="3e-19" ixy="0" ixz="0" iyz="0"'),
    "a negative round-off": of_inertia('ixx="-1e-18" iyy="0" izz="0" ixy="0" ixz="0" iyz="0"'),
}


@pytest.mark.parametrize("text", FRAMES.values(), ids=FRAMES)
def test_frames_and_round_off_are_notes_without_a_warning(text: str) -> None:
    robot_, caught = loaded(text)
    assert {finding.severity for finding in robot_.findings} == {"note"}
    assert caught == []


@pytest.mark.parametrize(("kind", "severity"), [("fixed", "note"), ("continuous", "warning")])
def test_a_wrong_inertia_counts_where_a_joint_moves_it(kind: str, severity: str) -> None:
    """Moments 1, 1, 3 of a gram beside a kilogram with 1, 1, 1: together they are those of a body."""
    wrong = '<inertial><mass value="0.001"/><inertia ixx="0.001" iyy="0.001" izz="0.003" ixy="0" ixz="0" iyz="0"/></inertial>'
    robot_, _ = loaded(robot(link("a"), f'<link name="b">{wrong}</link>\n', joint("j", kind, "a", "b", axis=(0, 0, 1))))
    assert [(finding.code, finding.severity) for finding in robot_.findings] == [("triangle-inequality", severity)]


def test_blank_lines_before_the_declaration_are_one_warning() -> None:
    robot_, caught = loaded("\n\n" + robot(link("a")))
    assert [(finding.code, finding.line) for finding in robot_.findings] == [("blank-before-xml", 1)]
    assert len(caught) == 1


# What the warning says is what happens -----------------------------------------------------------------


def agree(text: str, robot_: Robot) -> None:
    """M and h equal Pinocchio's on the same text, at a few states."""
    model = pinocchio_model(text)
    data = model.createData()
    rng = np.random.default_rng(0)
    for _ in range(3):
        q, v = robot_.random(rng), rng.normal(size=robot_.nv)
        np.testing.assert_allclose(mass_matrix(robot_, q), pinocchio_mass_matrix(model, robot_.q_to_pinocchio(q)), atol=ROUND_OFF)
        np.testing.assert_allclose(
            bias_force(robot_, q, v), pin.nonLinearEffects(model, data, robot_.q_to_pinocchio(q), v), atol=100 * ROUND_OFF
        )


@pytest.mark.parametrize("kind", ["revolute", "continuous", "prismatic"])
@pytest.mark.parametrize("axis", [(0, 0, 2), (0, 3, 4), (0.01, -0.02, 0.02), (1e3, 1, 0), (0, 0, -0.5)], ids=numbers)
def test_axis_of_any_length_is_normalised_as_in_pinocchio(kind: str, axis: tuple[float, float, float]) -> None:
    text = robot(
        link("a"),
        link("b", inertial(2.0, (0.1, 0.2, 0.3), (0.3, 0.2, 0.1), (0.2, 0.3, 0.4))),
        link("c", inertial(1.0, (0.3, 0.1, 0.2), (0.1, 0.2, 0.3), (0.3, 0.2, 0.4))),
        joint("j", kind, "a", "b", axis=axis, rpy=(0.4, 0.5, 0.6)),
        joint("k", "revolute", "b", "c", axis=(1, 0, 0), xyz=(0.5, 0, 0)),
    )
    robot_, _ = loaded(text)
    assert [finding.code for finding in robot_.findings] == ["axis-length"]
    assert np.linalg.norm(robot_.joint("j").axis) == pytest.approx(1.0, abs=1e-15)
    agree(text, robot_)


def test_link_without_inertial_counts_as_massless_as_in_pinocchio() -> None:
    text = robot(
        link("a"),
        '<link name="b"/>\n',
        link("c", inertial(1.0, (0.3, 0.1, 0.2))),
        joint("j", "revolute", "a", "b", axis=(0, 0, 1)),
        joint("k", "revolute", "b", "c", axis=(1, 0, 0), xyz=(0.5, 0, 0)),
    )
    robot_, _ = loaded(text)
    assert robot_.mass.tolist() == [0.0, 1.0]
    agree(text, robot_)


def test_mass_without_inertia_counts_as_a_point_mass() -> None:
    robot_, _ = loaded(of_link('<inertial><origin xyz="0.3 0.4 1"/><mass value="2"/></inertial>'))
    np.testing.assert_allclose(mass_matrix(robot_, [0.7]), [[2.0 * 0.5**2]], rtol=1e-15)  # m r^2 about z


@pytest.mark.parametrize(("mass", "moment"), [("0", 3.0), ("1", -0.5)], ids=["massless-inertia", "indefinite-inertia"])
def test_unphysical_inertia_is_used_as_it_is(mass: str, moment: float) -> None:
    robot_, _ = loaded(of_inertia(f'ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="{moment}"', mass))
    np.testing.assert_allclose(mass_matrix(robot_, [0.3]), [[moment]], rtol=1e-15)


def test_first_of_repeated_elements_is_used() -> None:
    robot_, _ = loaded(of_joint("continuous", '<origin xyz="0 0 1"/>\n<origin xyz="0 0 2"/>'))
    assert robot_.placement[0, :3, 3].tolist() == [0.0, 0.0, 1.0]


def test_inverted_limits_are_kept_and_random_positions_stay_between_them() -> None:
    robot_, _ = loaded(of_joint("revolute", '<limit lower="0.2" upper="-0.1" effort="1" velocity="1"/>'))
    assert (robot_.joint("j").lower, robot_.joint("j").upper) == (0.2, -0.1)
    q = robot_.random(0, 500)
    assert -0.1 <= q.min() < -0.05 and 0.15 < q.max() <= 0.2


def test_joint_without_limit_is_unlimited() -> None:
    robot_, _ = loaded(robot(link("a"), link("b"), joint("j", "revolute", "a", "b", limit="")))
    j = robot_.joint("j")
    assert (j.lower, j.upper, j.velocity, j.effort) == (-np.inf, np.inf, np.inf, np.inf)


def test_planar_joint_without_axis_moves_in_x_and_y() -> None:
    text = robot(link("a"), link("b", inertial(2.0, (0.1, 0.2, 0.3))), joint("j", "planar", "a", "b", rpy=(0.3, 0.2, 0.1)))
    robot_, _ = loaded(text)
    agree(text, robot_)  # Pinocchio's planar joint is always that of x and y


def test_mimic_of_a_fixed_joint_is_locked_at_its_offset() -> None:
    """Through a chain of mimics too: j2 = 3 j1 + 0.1 = 3 (2 * 0 + 0.5) + 0.1."""
    text = chain("", '<mimic joint="j0" multiplier="2" offset="0.5"/>', '<mimic joint="j1" multiplier="3" offset="0.1"/>')
    robot_, _ = loaded(text)
    assert robot_.nv == 0
    model = pinocchio_model(text)  # its mimic joints are free
    data = model.createData()
    pin.framesForwardKinematics(model, data, np.array([0.5, 1.6]))
    np.testing.assert_allclose(robot_.frame("l3").placement, data.oMf[model.getFrameId("l3")].homogeneous, atol=ROUND_OFF)


@pytest.mark.parametrize("digits", [5, 6, 8])
def test_axis_printed_with_few_digits_is_no_news(digits: int) -> None:
    axis = " ".join(f"{x:.{digits}f}" for x in np.array([1, 2, 3]) / np.sqrt(14))
    robot_, caught = loaded(of_joint("continuous", f'<axis xyz="{axis}"/>'))
    assert (robot_.findings, caught) == ((), [])
    assert np.linalg.norm(robot_.joint("j").axis) == pytest.approx(1.0, abs=1e-15)


def test_inertia_on_the_edge_of_the_triangle_inequality_is_no_news() -> None:
    robot_, caught = loaded(of_inertia('ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="2"').replace(HERE, ""))
    assert (robot_.findings, caught) == ((), [])


# Objects ---------------------------------------------------------------------------------------------


def test_inertia_that_urchin_made_up_is_a_warning(tmp_path: Path) -> None:
    path = tmp_path / "robot.urdf"
    path.write_text(robot(link("a", inertial(2.0)), '<link name="b"/>\n', joint("j", "continuous", "a", "b", axis=(0, 0, 1))))
    robot_, caught = loaded(urchin.URDF.load(str(path)))
    assert [(finding.severity, finding.code, finding.line) for finding in robot_.findings] == [("warning", "default-inertia", 0)]
    assert 'link "b"' in robot_.findings[0].element
    assert [message.category for message in caught] == [UrdfWarning]


@pytest.mark.parametrize(
    "case",
    [case for case in CASES if case.code in ("triangle-inequality", "indefinite-inertia", "inverted-limits")],
    ids=lambda case: case.name.replace(" ", "-"),
)
def test_urchin_object_gets_the_same_warning_as_its_file(case: Case, tmp_path: Path) -> None:
    path = tmp_path / "robot.urdf"
    path.write_text(case.text.replace(UNIT, inertial(2.0)))
    robot_, caught = loaded(urchin.URDF.load(str(path)))
    assert [(finding.code, finding.line) for finding in robot_.findings] == [(case.code, 0)]
    assert [message.category for message in caught] == [UrdfWarning]
