"""Reads MJCF by MuJoCo, which compiles it: defaults, includes, classes and inertias from shapes are its own work.

What is read is the compiled model, body by body. Joint equalities become mimic joints, armatures rotors, sites frames; springs, tendons,
other equalities and fluids are no part of a tree of rigid links: each is named in a warning.
"""

from __future__ import annotations

import os
import re
from typing import Any

import numpy as np

from urdf_gibbs.extras import extras_named
from urdf_gibbs.robot.conversion import Conversion, Shapes, bounds, turning
from urdf_gibbs.robot.findings import Findings
from urdf_gibbs.robot.spatial import EYE3, IDENTITY, ZERO3, Inertia, Pose, Vec3, compose, multiply, rotation_about, transpose
from urdf_gibbs.robot.urdf import Geometry, Mimic, Shape, Urdf

WORLD = "world"
FREE, BALL, SLIDE, HINGE = range(4)  # MuJoCo's numbers of joint types
EQUALITIES = ("connect", "weld", "joint", "tendon", "flex", "flexvert", "flexstrain")
JOINT_EQUALITY = 2
PLANE, HEIGHT_FIELD, SPHERE, CAPSULE, ELLIPSOID, CYLINDER, BOX, MESH, DISTANCE = range(9)  # its numbers of shapes
_KINDS = {ELLIPSOID: "an ellipsoid", MESH: "a mesh without a file", DISTANCE: "a signed distance"}
HIDDEN_GROUP = 3  # from this group on shapes are not drawn by default
OWN_BASE = "the file itself says how its bodies move in the world"


def read_mjcf(text: str | bytes, findings: Findings) -> tuple[Urdf, str]:
    """Links and joints of an MJCF file; empty text."""
    try:
        model = compiled(text, findings)
    except (ValueError, UnicodeDecodeError) as problem:
        words = " ".join(str(problem).split())
        line = re.search(r"line (\d+)", words)
        expected = "that file where the compiler's meshdir says" if "opening file" in words else "a file that MuJoCo can compile"
        findings.error("conversion", int(line[1]) if line else 0, "MJCF", words.removeprefix("Error: "), expected)
        return Urdf("", findings.file, findings), ""
    return read_compiled(model, findings)


def compiled(text: str | bytes, findings: Findings) -> Any:
    """The mujoco.MjModel of an MJCF; its warnings are notes, instead of lines in a file MUJOCO_LOG.TXT of the working folder."""
    with extras_named():
        import mujoco
    said: list[str] = []
    before = mujoco.get_mju_user_warning()
    mujoco.set_mju_user_warning(said.append)
    try:
        if os.path.isfile(findings.file):
            return mujoco.MjModel.from_xml_path(os.path.abspath(findings.file))  # its meshes have full paths then
        return mujoco.MjModel.from_xml_string(text if isinstance(text, str) else text.decode("utf-8"))
    finally:
        mujoco.set_mju_user_warning(before)
        for words in dict.fromkeys(said):
            findings.note("mujoco", 0, "MJCF", " ".join(words.split()), "what MuJoCo compiles without a remark")


def read_compiled(model: Any, findings: Findings) -> tuple[Urdf, str]:
    """Links and joints of a mujoco.MjModel; empty text."""
    conversion = _Model(model, findings)
    for body in range(1, model.nbody):
        conversion.body(body)
    conversion.at_root_shapes()
    conversion.equalities()
    conversion.sites()
    conversion.remark()
    return conversion.finished(), ""


class _Model(Conversion):
    def __init__(self, model: Any, findings: Findings) -> None:
        import mujoco

        name = bytes(model.names).split(b"\0")[0].decode("utf-8", "replace")
        super().__init__(name or "mujoco", WORLD, findings)
        self.model = model

        def named(kind: str, i: int) -> str:
            return mujoco.mj_id2name(model, getattr(mujoco.mjtObj, f"mjOBJ_{kind}"), i) or ""

        self._named = named
        self.links = {0: WORLD}
        self.joints: dict[int, str] = {}

    # bodies -------------------------------------------------------------------------------------

    def body(self, b: int) -> None:
        """A body and the joints that lead to it from its parent."""
        model = self.model
        name = self._named("BODY", b) or f"body{b}"
        parent, inertial = self.links[int(model.body_parentid[b])], self._inertia(b)
        shapes = self._shapes(b)
        joints = range(model.body_jntadr[b], model.body_jntadr[b] + model.body_jntnum[b])
        pose = _pose(model.body_pos[b], model.body_quat[b])
        anchor: Vec3 = ZERO3
        if model.body_gravcomp[b]:
            self.lost(f'body "{name}"', f"gravcomp {model.body_gravcomp[b]:g}")
        for k, j in enumerate(joints):
            kind, last = int(model.jnt_type[j]), k == len(joints) - 1
            place = _vector(model.jnt_pos[j]) if kind in (HINGE, BALL) else ZERO3
            pose = compose(pose, (EYE3, _minus(place, anchor)))
            anchor = place
            if last and anchor == ZERO3:
                child = self.add_link(name, inertial, shapes)
            else:
                child = self.add_link(f"{name}.{k + 1}")
            self._joint(j, kind, parent, child, pose)
            parent, pose = child, IDENTITY
        if not joints or anchor != ZERO3:
            child = self.add_link(name, inertial, shapes)
            offset = (EYE3, _minus(ZERO3, anchor))
            self.add_joint(f"{name}_fixed", "fixed", parent, child, compose(pose, offset) if joints else pose)
        self.links[b] = child

    def _joint(self, j: int, kind: int, parent: str, child: str, pose: Pose) -> None:
        model = self.model
        dof, iq = int(model.jnt_dofadr[j]), int(model.jnt_qposadr[j])
        name = self._named("JOINT", j) or f"{child}_joint"
        axis = _unit(model.jnt_axis[j])
        if kind == FREE:
            own = self.add_joint(name, "floating", parent, child)
            self.urdf.own_base = OWN_BASE
        elif kind == BALL:
            self.ball(name, parent, child, pose)
            own = name
        else:
            limited = bool(model.jnt_limited[j])
            lower, upper = model.jnt_range[j] if limited else (-np.inf, np.inf)
            effort = float(np.abs(model.jnt_actfrcrange[j]).max()) if model.jnt_actfrclimited[j] else np.inf
            more = {"damping": _first(model.dof_damping[dof]), "friction": _first(model.dof_frictionloss[dof])}
            limits = bounds(float(lower), float(upper), effort, **more)
            zero = -float(model.qpos0[iq])  # MuJoCo's position counts from ref, at which the body stands as the file has it
            if kind == HINGE:
                pose = compose(pose, (rotation_about(axis, zero), ZERO3)) if zero else pose
            elif zero:
                pose = compose(pose, (EYE3, (axis[0] * zero, axis[1] * zero, axis[2] * zero)))
            types = ("revolute" if limited else "continuous", "prismatic")
            own = self.add_joint(name, types[kind == SLIDE], parent, child, pose, axis, **limits)
        self.joints[j] = own
        self._beside(j, own, dof, kind)

    def _beside(self, j: int, name: str, dof: int, kind: int) -> None:
        """Armature and springs."""
        model = self.model
        if _first(model.jnt_stiffness[j]):
            self.lost(f'joint "{name}"', f"a spring of stiffness {_first(model.jnt_stiffness[j]):g}")
        armature = model.dof_armature[dof : dof + (6, 3, 1, 1)[kind]]
        if not np.any(armature):
            return
        if kind in (HINGE, SLIDE):
            self.rotor(name, float(armature[0]))
            self.urdf.own_base = self.urdf.own_base or OWN_BASE
        else:
            self.lost(f'joint "{name}"', f"armature {float(armature.max()):g} of a {('free', 'ball')[kind]} joint")

    def _inertia(self, b: int) -> Inertia | None:
        model = self.model
        moments = model.body_inertia[b]
        if not model.body_mass[b] and not np.any(moments):
            return None
        R = _pose(ZERO3, model.body_iquat[b])[0]
        x, y, z = (float(value) for value in moments)
        return Inertia(
            float(model.body_mass[b]),
            _vector(model.body_ipos[b]),
            multiply(multiply(R, (x, 0.0, 0.0, 0.0, y, 0.0, 0.0, 0.0, z)), transpose(R)),
        )

    # shapes -------------------------------------------------------------------------------------

    def at_root_shapes(self) -> None:
        """Shapes of the world, which planes and height fields are not."""
        visuals, collisions = self._shapes(0)
        if visuals or collisions:
            child = self.add_link(f"{WORLD}_shapes", None, (visuals, collisions))
            self.add_joint(f"{child}_fixed", "fixed", WORLD, child)

    def _shapes(self, b: int) -> Shapes:
        """(visuals, collisions): a shape that touches nothing is only drawn, one of a hidden group only touches."""
        model, visuals, collisions = self.model, [], []
        for g in range(model.body_geomadr[b], model.body_geomadr[b] + model.body_geomnum[b]):
            shape = self._shape(g)
            if shape is None:
                if model.geom_type[g] not in (PLANE, HEIGHT_FIELD):
                    name = self._named("GEOM", g) or str(g)
                    expected = "a sphere, capsule, cylinder, box, or mesh of a file; it is left out of pictures and contacts"
                    self.findings.note("not-carried", 0, f'geom "{name}"', _KINDS.get(int(model.geom_type[g]), "a shape"), expected)
                continue
            touches = bool(model.geom_contype[g] or model.geom_conaffinity[g])
            if touches:
                collisions.append(shape)
            if not touches or model.geom_group[g] < HIDDEN_GROUP:
                visuals.append(shape)
        return tuple(visuals), tuple(collisions)

    def _shape(self, g: int) -> Shape | None:
        model = self.model
        kind, (a, b, c) = int(model.geom_type[g]), (float(x) for x in model.geom_size[g])
        pose = _pose(model.geom_pos[g], model.geom_quat[g])
        if kind == MESH:
            m = int(model.geom_dataid[g])
            path = (
                bytes(model.paths)[int(model.mesh_pathadr[m]) :].split(b"\0")[0].decode("utf-8", "replace")
                if model.mesh_pathadr[m] >= 0
                else ""
            )
            if not path:
                return None
            solid = Geometry("mesh", (), path, _vector(model.mesh_scale[m]))
            pose = compose(pose, _inverse(_pose(model.mesh_pos[m], model.mesh_quat[m])))  # it centres meshes
        elif kind == BOX:
            solid = Geometry("box", (2.0 * a, 2.0 * b, 2.0 * c))
        elif kind == SPHERE:
            solid = Geometry("sphere", (a,))
        elif kind in (CAPSULE, CYLINDER):
            solid = Geometry("capsule" if kind == CAPSULE else "cylinder", (a, 2.0 * b))
        else:
            return None
        material = int(model.geom_matid[g])
        colour = model.mat_rgba[material] if material >= 0 else model.geom_rgba[g]
        return Shape(solid, pose, self._named("GEOM", g), "", tuple(float(x) for x in colour))

    # beside the tree ----------------------------------------------------------------------------

    def equalities(self) -> None:
        """Joint equalities as mimic joints where they are linear; all others are named."""
        model = self.model
        for e in range(model.neq):
            kind = int(model.eq_type[e])
            label = EQUALITIES[kind] if kind < len(EQUALITIES) else str(kind)
            name = self._named("EQUALITY", e)
            what = f'equality "{name}"' if name else f"equality {e}"
            one, other = int(model.eq_obj1id[e]), int(model.eq_obj2id[e])
            if not model.eq_active0[e]:
                self.lost(what, f"a {label} that is not active", serious=False)
            elif kind != JOINT_EQUALITY or not self._follow(one, other, model.eq_data[e]):
                self.lost(what, f"a constraint, {label}: {self._ends(kind, one, other)}")

    def _follow(self, one: int, other: int, data: Any) -> bool:
        """Make joint ``one`` follow ``other``; whether it does."""
        model = self.model
        c0, c1, *rest = (float(x) for x in data[:5])
        if other < 0 or any(rest) or not {int(model.jnt_type[one]), int(model.jnt_type[other])} <= {HINGE, SLIDE}:
            return False
        names = [joint.name for joint in self.urdf.joints]
        place, master = names.index(self.joints[one]), self.joints[other]
        if self.urdf.joints[place].mimic is not None or self._chases(master, self.joints[one]):
            return False
        zero = [float(model.qpos0[model.jnt_qposadr[j]]) for j in (one, other)]
        from dataclasses import replace

        self.urdf.joints[place] = replace(self.urdf.joints[place], mimic=Mimic(master, c1, c0 + zero[0] - c1 * zero[1]))
        return True

    def _chases(self, name: str, end: str) -> bool:
        """Whether following masters from ``name`` on leads to ``end``."""
        masters = {joint.name: joint.mimic.joint for joint in self.urdf.joints if joint.mimic is not None}
        while name in masters and name != end:
            name = masters[name]
        return name == end

    def _ends(self, kind: int, one: int, other: int) -> str:
        table = {0: "BODY", 1: "BODY", 2: "JOINT", 3: "TENDON"}.get(kind)
        return " and ".join(f'"{self._named(table, i)}"' for i in (one, other) if i >= 0) if table else "flexible bodies"

    def sites(self) -> None:
        """Named sites, as frames."""
        model = self.model
        for s in range(model.nsite):
            name = self._named("SITE", s)
            if name:
                self.fix(self.links[int(model.site_bodyid[s])], name, _pose(model.site_pos[s], model.site_quat[s]))

    def remark(self) -> None:
        """What a model has beside its tree."""
        model = self.model
        for t in range(model.ntendon):
            name = self._named("TENDON", t)
            numbers = {key: _first(getattr(model, f"tendon_{key}")[t]) for key in ("stiffness", "damping", "armature")}
            does = [key for key, value in numbers.items() if value]
            does += ["limits"] if model.tendon_limited[t] else []
            self.lost(f'tendon "{name}"', f"a tendon with {', '.join(does)}" if does else "a tendon", serious=bool(does))
        if model.opt.density or model.opt.viscosity:
            self.lost("option", f"a fluid: density {model.opt.density:g}, viscosity {model.opt.viscosity:g}")
        if getattr(model, "nflex", 0):
            self.lost("flex", f"{model.nflex} flexible bodies")
        if model.nu:
            self.lost("actuator", f"{model.nu} actuators", serious=False)
        gravity = tuple(float(x) for x in model.opt.gravity)
        if gravity != (0.0, 0.0, -9.81):
            words = ", ".join(f"{x:g}" for x in gravity)
            self.findings.note("gravity", 0, "option", f"gravity {words}", f"gravity=({words}) given to the functions; a robot has none")


def _vector(values: Any) -> Vec3:
    x, y, z = (float(value) for value in values)
    return x, y, z


def _unit(values: Any) -> Vec3:
    array = np.array(values, dtype=float)
    return _vector(array / np.linalg.norm(array))


def _minus(one: Vec3, other: Vec3) -> Vec3:
    return one[0] - other[0], one[1] - other[1], one[2] - other[2]


def _first(value: Any) -> float:
    """A coefficient; the first of a polynomial's, where there are several."""
    return float(np.ravel(value)[0])


def _pose(place: Any, quaternion: Any) -> Pose:
    """From a place and a quaternion (w x y z)."""
    w, x, y, z = (np.array(quaternion, dtype=float) / np.linalg.norm(quaternion)).tolist()
    R = [
        [1.0 - 2.0 * (y * y + z * z), 2.0 * (x * y - w * z), 2.0 * (x * z + w * y)],
        [2.0 * (x * y + w * z), 1.0 - 2.0 * (x * x + z * z), 2.0 * (y * z - w * x)],
        [2.0 * (x * z - w * y), 2.0 * (y * z + w * x), 1.0 - 2.0 * (x * x + y * y)],
    ]
    return turning(R, place)


def _inverse(pose: Pose) -> Pose:
    R = transpose(pose[0])
    x, y, z = compose((R, ZERO3), (EYE3, pose[1]))[1]
    return R, (-x, -y, -z)
