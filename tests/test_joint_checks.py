"""How severe ``check`` calls what it finds in single joints and bodies, and the units and points that it names as an explanation."""

from __future__ import annotations

from pathlib import Path

import pytest
import trimesh

import urdf_gibbs as ug

BOX = '<visual><geometry><box size="0.2 0.2 0.2"/></geometry></visual>'


def inertial(mass: float = 1.0, moments: tuple[float, float, float] = (0.0067, 0.0067, 0.0067), centre: str = "0 0 0") -> str:
    xx, yy, zz = moments
    tensor = f'<inertia ixx="{xx!r}" iyy="{yy!r}" izz="{zz!r}" ixy="0" ixz="0" iyz="0"/>'
    return f'<inertial><origin xyz="{centre}"/><mass value="{mass}"/>{tensor}</inertial>'


def chain(limits: list[str], origins: list[str] | None = None, kind: str = "revolute") -> str:
    """Boxes in a row; a limit and an origin for each joint."""
    places = origins or ["0 0 0.2"] * len(limits)
    links = "".join(f'<link name="l{i}">{inertial()}{BOX}</link>\n' for i in range(len(limits) + 1))
    joints = "".join(
        f'<joint name="j{i}" type="{kind}"><parent link="l{i}"/><child link="l{i + 1}"/><origin xyz="{place}"/><axis xyz="0 1 0"/>{limit}</joint>\n'
        for i, (limit, place) in enumerate(zip(limits, places, strict=True))
    )
    return f'<robot name="r">{links}{joints}</robot>'


def limit(effort: float = 10.0, velocity: float = 3.0, lower: float = -1.0, upper: float = 1.0) -> str:
    return f'<limit effort="{effort:g}" velocity="{velocity:g}" lower="{lower:g}" upper="{upper:g}"/>'


def found(text: str, code: str) -> list[ug.Finding]:
    return [finding for finding in ug.check(text) if finding.code == code]


def test_a_robot_without_fault_has_no_findings() -> None:
    assert ug.check(chain([limit()] * 3)) == []


def test_a_motor_of_zero_is_warned_of_unless_the_file_tells_of_none() -> None:
    (one,) = found(chain([limit(), limit(effort=0.0), limit()]), "zero-limit")
    assert one.severity == "warning" and 'joint "j1"' in one.element and 'effort="0"' in one.value
    assert {one.severity for one in found(chain([limit(effort=0.0)] * 3), "zero-limit")} == {"note"}


@pytest.mark.parametrize(("velocity", "severity", "degrees"), [(99.0, None, False), (180.0, "note", True), (9e3, "note", False), (1e6, "warning", False)])  # fmt: skip
def test_fast_joints_are_asked_whether_they_are_in_degrees(velocity: float, severity: str | None, degrees: bool) -> None:
    told = found(chain([limit(), limit(velocity=velocity), limit()]), "large-limit")
    assert [one.severity for one in told] == ([severity] if severity else [])
    assert all(("in degrees" in one.expected) == degrees for one in told)


def test_limits_in_degrees_are_told_in_radians() -> None:
    (one,) = found(chain([limit(), limit(lower=-90.0, upper=180.0), limit()]), "limit-range")
    assert one.severity == "warning" and "as degrees -1.57 to 3.14 rad" in one.expected


def test_a_joint_in_millimetres_is_told_to_be_so() -> None:
    places = ["0 0 0.2"] * 3 + ["0 200 0"]
    (one,) = found(chain([limit()] * 4, places), "far-joint")
    assert one.severity == "warning" and 'joint "j3"' in one.element and "in mm it would fit" in one.expected


def test_an_inertia_about_the_origin_of_its_link_is_told_to_be_so() -> None:
    """A solid box of 0.2 m half a metre away: 0.0067 kg m2 about its centre, by Steiner's rule 0.25 more across about the origin."""
    away = BOX.replace("<visual>", '<visual><origin xyz="0 0 0.5"/>')
    link = inertial(1.0, (0.0067 + 0.25, 0.0067 + 0.25, 0.0067), "0 0 0.5") + away
    text = chain([limit()]).replace(f'<link name="l1">{inertial()}{BOX}', f'<link name="l1">{link}')
    (one,) = found(text, "inertia-too-large")
    assert one.severity == "warning" and "about the link's origin" in one.expected
    assert not found(text.replace(repr(0.0067 + 0.25), "0.0067"), "inertia-too-large")


def test_the_foot_of_a_single_arm_is_noted_alone_as_it_stands_on_the_ground() -> None:
    heavy = inertial(1.0, (0.9, 0.9, 0.9))
    arm = chain([limit()] * 2)
    (one,) = found(arm.replace(f'<link name="l0">{inertial()}', f'<link name="l0">{heavy}'), "inertia-too-large")
    assert one.severity == "note"
    (one,) = found(arm.replace(f'<link name="l1">{inertial()}', f'<link name="l1">{heavy}'), "inertia-too-large")
    assert one.severity == "warning"


@pytest.mark.parametrize(("place", "twice"), [("0 0 0", True), ("0 0 0.2", False)])
def test_a_mass_in_two_links_is_counted_twice_where_it_is_at_one_place(place: str, twice: bool) -> None:
    """Two like boxes that are bolted to each other are two boxes."""
    fixed = chain([limit(), ""]).replace('<joint name="j1" type="revolute">', '<joint name="j1" type="fixed">')
    head, _, tail = fixed.rpartition('<origin xyz="0 0 0.2"/>')
    told = found(f'{head}<origin xyz="{place}"/>{tail}', "counted-twice")
    assert [one.severity for one in told] == (["warning"] if twice else [])


@pytest.mark.parametrize(("small", "severity"), [(0.1, None), (0.04, "note"), (0.004, "warning")])
def test_a_shape_hundreds_of_times_the_other_of_its_link_is_warned_of(small: float, severity: str | None) -> None:
    """A collision of 1.4 m in a robot of that size, beside a visual that is smaller."""
    box = "<geometry><box size='{0} {0} {0}'/></geometry>"
    link = f"<visual>{box.format(small)}</visual><collision>{box.format(1.4)}</collision>"
    text = chain([limit()] * 6).replace(f'<link name="l3">{inertial()}{BOX}', f'<link name="l3">{inertial()}{link}')
    assert [one.severity for one in found(text, "shape-size")] == ([severity] if severity else [])


@pytest.mark.parametrize(("mass", "told"), [("1e14", False), ("1e16", True)])
def test_numbers_that_no_robot_has_in_any_unit_are_told(mass: str, told: bool) -> None:
    text = chain([limit()]).replace('<mass value="1.0"/>', f'<mass value="{mass}"/>', 1)
    assert len(found(text, "large-number")) == told


def test_the_up_axis_of_a_mesh_may_be_taken_either_way(tmp_path: Path) -> None:
    """A bar along z in a file that says that y is up: told along z, or turned along -y as the file has it, its inertia fits."""
    trimesh.creation.box((0.05, 0.05, 1.0)).export(tmp_path / "bar.dae")
    mesh = (tmp_path / "bar.dae").read_text()
    assert "Y_UP" in mesh
    visual = '<visual><geometry><mesh filename="bar.dae"/></geometry></visual>'
    long, short = (1.0 + 0.05**2) / 12, 2 * 0.05**2 / 12
    for moments, fits in (((long, long, short), True), ((long, short, long), True), ((short, long, long), False)):
        text = chain([limit()]).replace(f'<link name="l1">{inertial()}{BOX}', f'<link name="l1">{inertial(1.0, moments)}{visual}')
        (tmp_path / "r.urdf").write_text(text)
        codes = {one.code for one in ug.check(tmp_path / "r.urdf")}
        assert ("inertia-too-large" not in codes) == fits and "mesh-unreadable" not in codes
