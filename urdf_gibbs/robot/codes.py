"""What findings there are: of each code the severities that it comes with, what it tells of, and how to repair that."""

from __future__ import annotations

import difflib
from typing import NamedTuple

from urdf_gibbs.robot.findings import Severity


class Code(NamedTuple):
    """``title``: what such findings are about; ``repair``: a sentence."""

    severities: tuple[Severity, ...]
    title: str
    repair: str


def similar_code(name: str) -> str | None:
    """The code that a wrong name was meant to be, if any is like it."""
    return next(iter(difflib.get_close_matches(name, CODES, 1, 0.5)), None)


CODES = {
    "unreadable": Code(("error",), "a file that cannot be read", "Check the path and its permissions."),
    "not-xml": Code(("error",), "no well-formed XML", "Repair the place that the message names; the encoding must be one of XML."),
    "not-urdf": Code(("error",), "XML, but no URDF", "The root element must be <robot>."),
    "entity": Code(
        ("error",), "an XML entity or an outside document type", "Write its content into the file: entities are refused, never resolved."
    ),
    "xacro": Code(("error", "note"), "a xacro that cannot be expanded", "Correct the place that the message names."),
    "xacro-arg": Code(("warning",), "an argument that the xacro does not have", "Correct its name."),
    "conversion": Code(
        ("error",), "another format's content that cannot be carried over", "Read what the message names; convert it by hand."
    ),
    "own-base": Code(("error",), "a base for a robot whose file has one", 'Load it with base="fixed".'),
    "not-carried": Code(("warning", "note"), "what a URDF has no place for", "Nothing, if it does not matter here."),
    "ball-joint": Code(
        ("warning",), "a ball joint, which becomes three hinges", "Keep away from poses where the first and last are parallel."
    ),
    "joint-order": Code(("warning",), "joints in another order than in the other format", "Convert coordinates by the joints' names."),
    "armature": Code(("note",), "an inertia that another format adds to a joint", "Nothing: it is carried as a rotor."),
    "gravity": Code(("note",), "gravity that another format's file sets", "Give it to the functions: gravity=(x, y, z)."),
    "drake": Code(("note",), "what Drake said while it read the file", "Read the message."),
    "mujoco": Code(("note",), "what MuJoCo said while it compiled the file", "Read the message."),
    "blank-before-xml": Code(("warning",), "blank lines before <?xml", "Delete them."),
    "no-robot-name": Code(("warning",), "a <robot> without a name", "Give it one."),
    "missing": Code(("error",), "an attribute or element that a URDF must have", "Add it."),
    "bad-number": Code(("error",), "something else than finite numbers", "Write numbers with a decimal point, separated by blanks."),
    "misspelt": Code(("warning",), "a name that is nearly one of a URDF's, and passed over", "Correct it."),
    "repeated": Code(("warning",), "an element given twice", "Delete the one that is not meant; the first is used."),
    "duplicate": Code(("error",), "two links or joints of one name", "Rename one of them."),
    "no-link": Code(("error",), "a robot without links", "Add one."),
    "two-roots": Code(("error",), "several links without a parent", "Connect them by joints: a URDF is one tree."),
    "two-parents": Code(("error",), "a link that two joints carry", "Keep one; close loops outside of the URDF."),
    "cycle": Code(("error",), "links that carry each other in a circle", "Let each link hang on one that is nearer to the root."),
    "unknown-parent": Code(("error",), "a joint on a link that is not there", "Correct the name."),
    "unknown-child": Code(("error",), "a joint that carries a link that is not there", "Correct the name."),
    "joint-type": Code(("error",), "a joint of an unknown type", "Use one of revolute, continuous, prismatic, fixed, floating, planar."),
    "zero-axis": Code(("error",), "an axis of length zero", "Give the direction of the joint's axis."),
    "axis-length": Code(("warning",), "an axis that is no unit vector", "Divide it by its length; it is normalised."),
    "no-axis": Code(("warning",), "a joint without an axis", "Add <axis>; the default is used."),
    "no-limit": Code(("warning",), "limits that a revolute or prismatic joint must have", "Add them, or make the joint continuous."),
    "inverted-limits": Code(("warning",), "a lower limit above the upper one", "Exchange them."),
    "angle-range": Code(("warning",), "angles of more than a full turn", "Write radians."),
    "mimic-missing": Code(("error",), "a mimic of a joint that is not there", "Correct the name, or load with mimic=False."),
    "mimic-loop": Code(("error",), "mimic joints that follow each other in a circle", "Let the chain end at a free joint."),
    "mimic-type": Code(
        ("error",), "a mimic between joints that are not of one degree of freedom", "Use revolute, continuous or prismatic joints."
    ),
    "mimic-fixed": Code(("warning",), "a mimic of a joint that cannot move", "Let it follow a moving joint; this one is locked."),
    "mimic-range": Code(
        ("warning",), "a mimic joint that leaves its own limits", "Look at the sign of the multiplier and at both joints' limits."
    ),
    "mimic-ignored": Code(("note",), "a fixed joint that mimics", "Delete the <mimic>."),
    "negative-mass": Code(("error",), "a negative mass", "Write a mass of zero or more."),
    "no-inertial": Code(
        ("warning", "note"), "links without <inertial>", "Add mass and inertia to links that a joint moves; frames need none."
    ),
    "no-mass": Code(("warning",), "an <inertial> without a mass", "Add it; without one the whole element counts as zero."),
    "no-inertia": Code(
        ("warning", "error"), "an <inertial> without an inertia, or not all of it", "Add the six numbers; missing ones count as zero."
    ),
    "default-inertia": Code(("warning",), "1 kg and a unit inertia, which a library puts where the file has none", "Load the file itself."),
    "indefinite-inertia": Code(
        ("warning", "note"), "an inertia with a negative principal moment", "Look for a sign or a wrong off-diagonal number."
    ),
    "triangle-inequality": Code(
        ("warning", "note"),
        "an inertia with one principal moment above the sum of the others",
        "Take it from the CAD program again, about the centre of mass.",
    ),
    "massless-inertia": Code(("warning", "note"), "an inertia without a mass", "Add the mass."),
    "singular": Code(("warning",), "motions that meet no inertia", "Give mass to what the joint moves, off its axis."),
    "inertia-too-large": Code(
        ("warning", "note"),
        "an inertia that no body of the link's shape can have",
        "Look at its unit (kg m2) and its point: the centre of mass.",
    ),
    "inertia-too-small": Code(
        ("warning", "note"),
        "an inertia far below that of a solid of the link's shape",
        "Look at its unit (kg m2), or compute it from the shape.",
    ),
    "centre-outside": Code(
        ("warning", "note"), "a centre of mass outside of the link's shape", "Look at its unit (m), its signs and its frame: the link's."
    ),
    "density": Code(
        ("warning", "note"),
        "a mass that does not go with the volume of the shape",
        "Look at its unit (kg) and for a shifted decimal point.",
    ),
    "counted-twice": Code(("warning", "note"), "one mass in two links that are fixed to each other", "Delete one of them."),
    "unlike-mass": Code(("warning", "note"), "a left and a right link of different masses", "Correct the one that is wrong."),
    "unlike-inertia": Code(
        ("warning", "note"),
        "a left and a right link whose inertias are no mirror images",
        "Correct the one that is wrong; across the plane y = 0, ixy and iyz change sign.",
    ),
    "unlike-centre": Code(
        ("warning", "note"),
        "a left and a right link whose centres of mass are no mirror images",
        "Correct the one that is wrong, mostly the sign of one coordinate.",
    ),
    "unlike-origin": Code(
        ("warning", "note"),
        "a left and a right joint at places that are no mirror images",
        "Correct the one that is wrong, mostly the sign of one coordinate.",
    ),
    "unlike-axis": Code(
        ("warning", "note"), "a left and a right joint with axes that are no mirror images", "Correct the one that is wrong."
    ),
    "unlike-limits": Code(("warning", "note"), "a left and a right joint with different limits", "Correct the one that is wrong."),
    "unlike-shape": Code(("warning", "note"), "a left and a right link with shapes of different sizes", "Look for a wrong mesh or scale."),
    "unlike-type": Code(("warning", "note"), "a left and a right joint of different types", "Correct the one that is wrong."),
    "unlike-parent": Code(("warning", "note"), "a left and a right joint on links that are no twins", "Correct the parent."),
    "odd-axis": Code(
        ("warning",), "one joint that turns about another axis of its frame than all others", "See whether its axis is swapped."
    ),
    "zero-limit": Code(("warning", "note"), "an effort or velocity of zero", "Write what the motor can do, or leave the attribute out."),
    "negative-limit": Code(("warning",), "a negative effort or velocity", "Write a positive number."),
    "large-limit": Code(
        ("warning", "note"), "an effort or velocity that no motor has", "Write what the motor can do; degrees per second are no rad/s."
    ),
    "limit-range": Code(
        ("warning", "note"),
        "limits of position that are out of reason",
        "Write radians and metres; use a continuous joint where there is no limit.",
    ),
    "no-range": Code(("note",), "a joint whose limits leave it no motion", "Give it a range, or make it fixed."),
    "negative-damping": Code(("warning",), "a negative damping or friction", "Write zero or more: a negative one makes energy."),
    "far-joint": Code(("warning",), "a joint far from its parent link", "Write metres."),
    "gap": Code(("warning",), "neighbours whose shapes stand apart at q = 0", "Look for a wrong sign or number in the joint's origin."),
    "mesh-missing": Code(("warning",), "a mesh that is not there", "Correct the name, or name folders by --package-dir."),
    "mesh-outside": Code(("warning",), "a mesh outside of the robot's folders", "Allow its folder by --package-dir."),
    "mesh-unreadable": Code(("warning",), "a mesh that cannot be read", "Export it again."),
    "bad-geometry": Code(
        ("warning",), "a visual or collision that is given wrongly, and left out", "Correct it; the dynamics do not need it."
    ),
    "no-geometry": Code(
        ("warning",), "a visual or collision without a shape", "Add one of box, cylinder, sphere, capsule, mesh, or delete it."
    ),
    "shape-size": Code(
        ("warning", "note"), "a shape of another size than the rest", 'A mesh in millimetres needs scale="0.001 0.001 0.001".'
    ),
    "shapes-apart": Code(
        ("warning", "note"), "a collision that does not touch the visual", "See whether one of the two has a wrong origin."
    ),
    "bad-colour": Code(("warning",), "a colour that is not four numbers", 'Write rgba="red green blue alpha", from 0 to 1.'),
    "shapes-skipped": Code(
        ("note",), "checks against shapes that were not made", "Install what reads meshes: pip install 'urdf-gibbs[check]'."
    ),
    "not-examined": Code(("note",), "a search that would take too long", "Nothing; the message says what was left out."),
    "large-number": Code(("warning",), "a number that no robot has", "Look for a wrong exponent."),
    "friction": Code(("error", "warning"), "a coefficient of friction that cannot be used", "Write one number of zero or more."),
    "unknown-element": Code(("warning",), "an unknown element in <urdf_gibbs>", "Correct its name."),
    "unknown-attribute": Code(("warning",), "an unknown attribute of <flexible>", "Correct its name."),
    "unknown-link": Code(("error",), "a <flexible> of a link that is not there", "Correct the name."),
    "unused": Code(("warning",), "an attribute of <flexible> that has no effect", "Delete it."),
    "bad-flag": Code(("error",), "something else than true or false", "Write true or false."),
    "negative": Code(("error",), "a negative number where none can be", "Write zero or more."),
    "not-positive": Code(("error",), "zero or a negative number where none can be", "Write a positive number."),
    "no-stiffness": Code(("error",), "bending modes without a stiffness", "Add EI_y or EI_z."),
    "modes": Code(("error", "warning"), "modes of an elastic link that cannot be used", "Correct the list of modes."),
    "mode-family": Code(("error",), "an unknown family of modes", "Use one that the message names."),
    "mode-count": Code(("error",), "a wrong number of modes", "Use one in the range that the message names."),
    "table": Code(("error",), "a table of modes that cannot be used", "Correct the file that it names."),
    "beam-theory": Code(("error",), "an unknown theory of beams", "Use one that the message names."),
    "direction-length": Code(("error",), "a direction of length zero", "Give the direction of the beam."),
    "flexible": Code(("error",), "an elastic link that cannot be computed", "Read what the message says of its numbers."),
    "not-at-tip": Code(("error",), "a joint on an elastic link away from its tip and its root", "Move it to one of them."),
    "free-root": Code(("warning",), "free modes on a link that a joint holds", "Use clamped modes."),
    "beam-mass": Code(("warning",), "a beam that weighs something else than its link", "Correct mass_per_length or the mass."),
    "beam-inertia": Code(("warning",), "an inertia of a link that is not that of its beam", "Correct it; that of the beam is used."),
}
