"""Mistakes as people make them, planted into real robots: one edit of one element each, and the name that ``check`` has to give."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

import urdf_gibbs as ug
from urdf_gibbs.bundled import example_robots

GO2 = "go2_description/urdf/go2.urdf"
PANDA = "panda_description/urdf/panda.urdf"
TALOS = "talos_data/robots/talos_reduced.urdf"
A1 = "a1_description/urdf/a1.urdf"
UR5 = "ur_description/urdf/ur5_robot.urdf"
UR3 = "ur_description/urdf/ur3_robot.urdf"
G1 = "g1_description/urdf/g1_29dof_rev_1_0.urdf"
XARM = "xarm_description/urdf/xarm7.urdf"
Z1 = "z1_description/urdf/z1.urdf"
HYQ = "hyq_description/robots/hyq_no_sensors.urdf"
CENTAURO = "centauro_description/urdf/centauro.urdf"
SOLO = "solo_description/robots/solo12.urdf"
LAIKAGO = "laikago_description/urdf/laikago.urdf"
KINOVA = "kinova_description/robots/kinova.urdf"
TORSO = "package://example-robot-data/robots/talos_data/meshes/torso/torso_2.STL"
Edit = Callable[[ET.Element], None]
TENSOR = ("ixx", "ixy", "ixz", "iyy", "iyz", "izz")


@dataclass(frozen=True)
class Mistake:
    """``edit`` of the link or joint ``name`` of a robot."""

    what: str
    robot: str
    name: str
    edit: Edit


def source(robot: str) -> str:
    path = example_robots().get(robot) or ug.model_path(robot)
    return path.read_text(encoding="utf-8")


def planted(mistake: Mistake) -> str:
    """The robot's XML with the mistake in it."""
    root = ET.fromstring(source(mistake.robot))
    found = [one for one in root if one.tag in ("link", "joint") and one.get("name") == mistake.name]
    assert len(found) == 1, mistake.name
    before = ET.tostring(root)
    mistake.edit(found[0])
    if mistake.what == "mass counted twice":  # beside the link, a frame that is fixed to it
        twin = ET.SubElement(root, "link", name=f"{mistake.name}_inertia")
        twin.append(below(found[0], "inertial"))
        joint = ET.SubElement(root, "joint", name=f"{mistake.name}_inertia_joint", type="fixed")
        ET.SubElement(joint, "parent", link=mistake.name)
        ET.SubElement(joint, "child", link=f"{mistake.name}_inertia")
    text = ET.tostring(root)
    assert text != before
    return text.decode()


def below(element: ET.Element, path: str) -> ET.Element:
    found = element.find(path)
    assert found is not None, path
    return found


def put(path: str, **values: str) -> Edit:
    """Attributes of the element at ``path`` of the link or joint, which is made where it is missing."""

    def edit(element: ET.Element) -> None:
        for tag in path.split("/"):
            child = element.find(tag)
            element = ET.SubElement(element, tag) if child is None else child
        element.attrib.update(values)

    return edit


def times(path: str, factor: float, *attributes: str) -> Edit:
    def edit(element: ET.Element) -> None:
        one = below(element, path)
        for attribute in attributes:
            one.set(attribute, " ".join(repr(float(x) * factor) for x in one.attrib[attribute].split()))

    return edit


def without(path: str, attribute: str) -> Edit:
    def edit(element: ET.Element) -> None:
        for one in element.findall(path):
            one.attrib.pop(attribute, None)

    return edit


def exchanged(path: str, one: str, other: str) -> Edit:
    def edit(element: ET.Element) -> None:
        found = below(element, path)
        found.attrib[one], found.attrib[other] = found.attrib[other], found.attrib[one]

    return edit


def component(path: str, attribute: str, index: int, factor: float) -> Edit:
    def edit(element: ET.Element) -> None:
        one = below(element, path)
        numbers = [float(x) for x in one.attrib[attribute].split()]
        numbers[index] *= factor
        one.set(attribute, " ".join(map(repr, numbers)))

    return edit


def about_the_joint(element: ET.Element) -> None:
    """The inertia about the link's frame in place of the centre of mass."""
    c = np.array([float(x) for x in below(element, "inertial/origin").attrib["xyz"].split()])
    mass = float(below(element, "inertial/mass").attrib["value"])
    more = mass * (c @ c * np.eye(3) - np.outer(c, c))
    inertia = below(element, "inertial/inertia")
    for key in TENSOR:
        i, j = "xyz".index(key[1]), "xyz".index(key[2])
        inertia.set(key, repr(float(inertia.attrib[key]) + float(more[i, j])))


def in_millimetres(path: str) -> Edit:
    return times(path, 1000.0, "xyz")


def in_degrees(element: ET.Element) -> None:
    times("limit", 180.0 / np.pi, "lower", "upper")(element)


def turned_round(joint: ET.Element) -> None:
    parent, child = below(joint, "parent"), below(joint, "child")
    parent.attrib["link"], child.attrib["link"] = child.attrib["link"], parent.attrib["link"]


# Written before the checks that have to find them.
MISTAKES = [
    Mistake("swapped axis", GO2, "FL_thigh_joint", put("axis", xyz="1 0 0")),
    Mistake("swapped axis of an arm", PANDA, "panda_joint3", put("axis", xyz="0 1 0")),
    Mistake("inertia in g mm2", UR5, "forearm_link", times("inertial/inertia", 1e9, *TENSOR)),
    Mistake("inertia in kg cm2", TALOS, "arm_left_4_link", times("inertial/inertia", 1e4, *TENSOR)),
    Mistake("inertia a thousandth", XARM, "link4", times("inertial/inertia", 1e-3, *TENSOR)),
    Mistake("mass tenfold", PANDA, "panda_link5", times("inertial/mass", 10.0, "value")),
    Mistake("mass tenfold of one leg", HYQ, "lf_upperleg", times("inertial/mass", 10.0, "value")),
    Mistake("mass in grams", G1, "left_knee_link", times("inertial/mass", 1000.0, "value")),
    Mistake("left unlike right", TALOS, "leg_left_3_link", times("inertial/mass", 1.25, "value")),
    Mistake("wrong sign of an origin", GO2, "RR_thigh_joint", component("origin", "xyz", 1, -1.0)),
    Mistake("wrong sign of an origin of an arm", PANDA, "panda_joint3", component("origin", "xyz", 1, -1.0)),
    Mistake("origin in mm", PANDA, "panda_joint3", in_millimetres("origin")),
    Mistake("centre of mass in mm", XARM, "link3", in_millimetres("inertial/origin")),
    Mistake("wrong sign of a centre of mass", GO2, "RL_thigh", component("inertial/origin", "xyz", 1, -1.0)),
    Mistake("limits in degrees", UR5, "elbow_joint", in_degrees),
    Mistake("limits of the other leg", TALOS, "leg_left_2_joint", put("limit", lower="-0.5236", upper="0.2")),
    Mistake("angles in degrees", PANDA, "panda_joint4", put("origin", rpy="90 0 0")),
    Mistake("zero effort", GO2, "FL_calf_joint", put("limit", effort="0")),
    Mistake("velocity without a unit", PANDA, "panda_joint2", put("limit", velocity="1e6")),
    Mistake("ixx and izz exchanged", UR5, "upper_arm_link", exchanged("inertial/inertia", "ixx", "izz")),
    Mistake("inertia about the joint", UR5, "upper_arm_link", about_the_joint),
    Mistake("missing mesh", GO2, "FR_thigh", put("visual/geometry/mesh", filename="package://go2_description/thigh.dae")),
    Mistake("scale of a mesh in mm missing", CENTAURO, "arm1_3", without("visual/geometry/mesh", "scale")),
    Mistake("scale of four numbers", Z1, "link02", put("visual/geometry/mesh", scale="1 1 1 1")),
    Mistake("size of a box in mm", "quadruped", "trunk", put("collision/geometry/box", size="400 200 100")),
    Mistake("negative damping", PANDA, "panda_joint2", put("dynamics", damping="-0.003")),
    Mistake("mass counted twice", UR3, "upper_arm_link", lambda element: element.set("copied", "")),
    Mistake("mimic of itself", PANDA, "panda_finger_joint2", put("mimic", joint="panda_finger_joint2")),
    Mistake("parent of the other leg", GO2, "FL_calf_joint", put("parent", link="FR_thigh")),
    Mistake("inertia of a unit", SOLO, "HL_LOWER_LEG", put("inertial/inertia", ixx="1", iyy="1", izz="1", ixy="0", ixz="0", iyz="0")),
    # Found wanting once the checks were there.
    Mistake("axis of a leg turned round", GO2, "FR_hip_joint", put("axis", xyz="-1 0 0")),
    Mistake("limits of the other side", LAIKAGO, "FR_hip_joint", put("limit", lower="-0.8727", upper="1.0472")),
    Mistake("wrong sign of a product of inertia", G1, "left_hip_pitch_link", times("inertial/inertia", -1.0, "ixy", "ixz", "iyz")),
    Mistake("wrong sign of a mimic", PANDA, "panda_finger_joint2", put("mimic", multiplier="-1")),
    Mistake("a hinge that slides", KINOVA, "j2s6s200_joint_3", lambda joint: joint.set("type", "prismatic")),
    Mistake("mass tenfold of an arm", XARM, "link6", times("inertial/mass", 10.0, "value")),
    Mistake("mesh of another link", TALOS, "arm_left_4_link", put("visual/geometry/mesh", filename=TORSO)),
    Mistake("misspelt element", GO2, "FL_thigh_joint", lambda joint: setattr(below(joint, "origin"), "tag", "orign")),
    Mistake("exchanged ends of a joint", GO2, "FL_calf_joint", turned_round),
    Mistake("wrong sign of a hip", A1, "RL_hip_joint", component("origin", "xyz", 1, -1.0)),
]
