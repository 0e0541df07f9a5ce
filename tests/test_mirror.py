"""Left and right: pairs by name, and what of them must be mirror images."""

from __future__ import annotations

import xml.etree.ElementTree as ET

import pytest

import urdf_gibbs as ug
from urdf_gibbs.lint.sides import twins

NAMES = [
    *[("left_knee", "right_knee"), ("knee_l", "knee_r"), ("LElbowYaw", "RElbowYaw"), ("armLeft", "armRight"), ("kneeL", "kneeR")],
    *[("FL_hip", "FR_hip"), ("RL_hip", "RR_hip"), ("LF_KFE", "RF_KFE"), ("lh_foot", "rh_foot"), ("FLHip", "FRHip"), ("LEFT_A", "RIGHT_A")],
    *[("fl_caster_l_wheel", "fr_caster_r_wheel"), ("arm_l1", "arm_r1"), ("l", "r"), ("a/left.b", "a/right.b")],
    *[("L_hip", "R_hip"), ("hip_L", "hip_R"), ("arm-L-2", "arm-R-2")],
]
STRANGERS = [("Lear", "Rear"), ("laser", "raser"), ("leg", "reg"), ("hall", "harr"), ("link_1", "rink_1"), ("Arm", "Brm")]


@pytest.mark.parametrize("pair", NAMES, ids="-".join)
def test_twins_are_found_by_name(pair: tuple[str, str]) -> None:
    assert [set(one) for one in twins(["base", *pair, "tip"])] == [set(pair)]


@pytest.mark.parametrize("pair", STRANGERS, ids="-".join)
def test_words_that_only_begin_alike_are_no_sides(pair: tuple[str, str]) -> None:
    assert twins(pair) == []


def test_with_two_sides_in_a_name_both_are_exchanged() -> None:
    names = ["fl_wheel_l", "fl_wheel_r", "fr_wheel_l", "fr_wheel_r"]
    assert {frozenset(pair) for pair in twins(names)} == {frozenset(names[0::3]), frozenset(names[1:3])}


@pytest.fixture(scope="module")
def quadruped() -> str:
    return ug.model_path("quadruped").read_text(encoding="utf-8")


def found(text: str) -> dict[str, str]:
    return {finding.code: finding.element for finding in ug.check(text) if finding.code.startswith("unlike")}


def edited(text: str, name: str, path: str, **values: str) -> str:
    root = ET.fromstring(text)
    (one,) = [element for element in root if element.get("name") == name and element.tag == ("joint" if path[0] in "aol" else "link")]
    part = one.find(path.removeprefix("o:").removeprefix("l:"))
    assert part is not None
    part.attrib.update(values)
    return ET.tostring(root).decode()


def test_a_symmetric_robot_has_no_findings_however_its_frames_lie(quadruped: str) -> None:
    """The frames of the left front calf and of all that hangs on it are turned by pi about its own z, and what they hold with them."""
    quadruped = edited(edited(quadruped, "fl_calf", "inertial/inertia", ixz="0.0004"), "fr_calf", "inertial/inertia", ixz="0.0004")
    assert found(quadruped) == {}
    quadruped = edited(quadruped, "fl_calf", "inertial/inertia", ixz="-0.0004")
    assert set(found(quadruped)) == {"unlike-inertia"}
    root = ET.fromstring(quadruped)
    calf = next(one for one in root if one.tag == "link" and one.get("name") == "fl_calf")
    for origin in calf.iter("origin"):
        x, y, z = (float(v) for v in origin.get("xyz", "0 0 0").split())
        origin.set("xyz", f"{-x} {-y} {z}")
    for joint in (one for one in root if one.tag == "joint"):
        origin, parent, child = joint.find("origin"), joint.find("parent"), joint.find("child")
        assert parent is not None and child is not None
        if child.get("link") == "fl_calf":
            assert origin is not None
            origin.set("rpy", "0 0 3.141592653589793")
        elif parent.get("link") == "fl_calf" and origin is not None:
            x, y, z = (float(v) for v in origin.get("xyz", "0 0 0").split())
            origin.set("xyz", f"{-x} {-y} {z}")
    turned = ET.tostring(root).decode()
    assert turned.count("3.141592653589793") == 1
    assert found(turned) == {}


@pytest.mark.parametrize(
    ("code", "name", "path", "values"),
    [
        ("unlike-mass", "fl_thigh", "inertial/mass", {"value": "0.9"}),
        ("unlike-inertia", "fl_thigh", "inertial/inertia", {"ixx": "0.004"}),
        ("unlike-inertia", "fl_thigh", "inertial/inertia", {"ixz": "0.0012"}),
        ("unlike-centre", "fl_thigh", "inertial/origin", {"xyz": "0.05 0 -0.1"}),
        ("unlike-axis", "fl_thigh", "axis", {"xyz": "0 0 1"}),
        ("unlike-origin", "fl_thigh", "o:origin", {"xyz": "0 -0.05 0"}),
        ("unlike-limits", "fl_thigh", "l:limit", {"effort": "20"}),
        ("unlike-limits", "fl_thigh", "l:limit", {"upper": "1.5"}),
    ],
)
def test_each_difference_is_named_with_both(quadruped: str, code: str, name: str, path: str, values: dict[str, str]) -> None:
    wrong = edited(quadruped, name, path, **values)
    (finding,) = [one for one in ug.check(wrong) if one.code.startswith("unlike")]
    assert (finding.code, finding.severity) == (code, "warning")
    assert f'"{name}"' in finding.element and '"fr_thigh"' in finding.expected


def test_opposite_limits_are_those_of_an_axis_that_is_turned(quadruped: str) -> None:
    root = ET.fromstring(quadruped)
    joint = next(one for one in root if one.tag == "joint" and one.get("name") == "fl_thigh")
    axis, limit = joint.find("axis"), joint.find("limit")
    assert axis is not None and limit is not None
    axis.set("xyz", "0 -1 0")
    lower, upper = limit.get("lower", ""), limit.get("upper", "")
    limit.attrib.update(lower=str(-float(upper)), upper=str(-float(lower)))
    assert found(ET.tostring(root).decode()) == {}


@pytest.mark.parametrize(("sign", "codes"), [("-", set()), ("", {"unlike-inertia"})])
def test_products_across_the_plane_change_sign(quadruped: str, sign: str, codes: set[str]) -> None:
    """ixy of 0.0012 on the left is -0.0012 on the right, where y points the other way."""
    left = edited(quadruped, "fl_thigh", "inertial/inertia", ixy="0.0012")
    assert set(found(edited(left, "fr_thigh", "inertial/inertia", ixy=f"{sign}0.0012"))) == codes


@pytest.mark.parametrize(("legs", "severity"), [(["fl"], "warning"), (["fl", "rl"], "note")])
def test_what_many_pairs_have_is_how_the_file_is_made(quadruped: str, legs: list[str], severity: str) -> None:
    """Thigh and calf of two legs are four of its pairs."""
    text = quadruped
    for leg in legs:
        for part in ("thigh", "calf") if len(legs) > 1 else ("thigh",):
            text = edited(text, f"{leg}_{part}", "l:limit", effort="20")
    told = [one for one in ug.check(text) if one.code == "unlike-limits"]
    assert {one.severity for one in told} == {severity} and len(told) == (4 if len(legs) > 1 else 1)
