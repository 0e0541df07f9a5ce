"""Engines that step through the scenes of bench_stepping.py, each in a process of its own: python stepping_engines.py NAME.

It reads lines of JSON. A scene is plain data, so that the Python of an engine needs NumPy and the engine, nothing else. For each scene an
engine steps once to warm up; then each line "run" is answered by a measured run. Only calls of the engine and of the controller are timed,
in seconds of CPU, in which other work on the machine does not count. At SAMPLES times of the run contacts are examined: with n the normal,
f the force on one body and u its velocity relative to the other where they touch, after the step, all in the world.
"""

from __future__ import annotations

import json
import os
import sys
import time
from typing import Any

import numpy as np
import own_tree  # noqa: F401

SAMPLES = 50
LONGEST = 5.0  # s: a run that takes longer is not finished
STANDARD = {
    "urdf_gibbs": "pip install urdf-gibbs",
    "MuJoCo": "pip install mujoco",
    "Drake": "pip install drake",
    "Siconos": "apt install python3-siconos, or conda install siconos",
}


def broken_law(scene: Any, n: Any, f: Any, u: Any) -> tuple[float, float]:
    """Of one contact: the distance of f from its cone, of the weight, and the power |f_n u_n| + |f_t u_t + mu f_n |u_t|| that Coulomb's law
    knows nothing of, per weight [m/s]."""
    mu = scene["friction"]
    normal, speed = n @ f, n @ u
    across, slip = f - normal * n, u - speed * n
    cone = max(np.linalg.norm(across) - mu * normal, 0.0) / np.sqrt(1.0 + mu * mu) if normal > 0.0 else np.linalg.norm(f)
    power = abs(normal * speed) + abs(across @ slip + mu * normal * np.linalg.norm(slip))
    return cone / scene["weight"], power / scene["weight"]


class Engine:
    """``steps`` steps, with the torques ``torque``; ``joints``: angles and rates; ``contacts``: n, f, u and gap of each."""

    def __init__(self, scene: Any) -> None:
        self.scene = scene
        self.held = None if scene["held"] is None else np.array(scene["held"])

    def run(self) -> dict[str, Any]:
        """One measured run."""
        scene = self.scene
        self.start()
        count, every = round(scene["duration"] / scene["step"]), scene["every"]
        seconds, cone, power, depth, most, late = 0.0, 0.0, 0.0, 0.0, 0, False
        for done in range(0, count, every):
            state = self.joints() if self.held is not None and self.reads_joints else None
            began = time.process_time()
            if self.held is not None:
                q, v = state if state is not None else self.joints()
                self.push(60.0 * (self.held - q) - 1.0 * v)
            self.steps(every)
            seconds += time.process_time() - began
            late = seconds > LONGEST
            if late or (done + every) % (count // SAMPLES // every * every) == 0:
                found = self.contacts()
                most = max(most, sum(1 for _, f, _, _ in found if f @ f > 0.0))
                for n, f, u, gap in found:
                    a, b = broken_law(scene, n, f, u)
                    cone, power, depth = max(cone, a), max(power, b), max(depth, -gap)
            if late:
                count = done + every
                break
        return {"steps": count, "seconds": seconds, "contacts": most, "cone": cone, "power": power, "depth": depth}

    reads_joints = False  # whether angles of joints have to be worked out here, outside of the measured time

    def start(self) -> None: ...
    def steps(self, count: int) -> None: ...
    def push(self, torque: Any) -> None: ...
    def joints(self) -> Any: ...
    def contacts(self) -> Any: ...


# urdf_gibbs -------------------------------------------------------------------------------------------


class Own(Engine):
    """From one call for a whole run, the controller called back."""

    def __init__(self, scene: Any) -> None:
        import warnings

        import urdf_gibbs as ug
        from urdf_gibbs.contact.points import ContactPoint

        super().__init__(scene)
        warnings.simplefilter("ignore")
        self.ug, self.robot = ug, ug.load(scene["urdf"], base=scene["base"])
        spheres = scene["spheres"]
        points = [ContactPoint(s["name"], s["body"], tuple(s["place"]), s["radius"]) for s in spheres]
        options: dict[str, Any] = {}
        if self.held is not None:
            first = self.robot.nv - len(self.held)
            options = {"controller_rate": 1.0 / (scene["every"] * scene["step"])}
            options["controller"] = lambda t, q, v: np.concatenate([np.zeros(first), 60.0 * (self.held - q[first + 1 :]) - v[first:]])
        if scene["pairs"]:
            options["pairs"] = [tuple(pair) for pair in scene["pairs"]]
        floor = ug.walls.Plane(normal=(0, 0, 1), point=(0, 0, 0), name="floor")
        self.simulator = ug.Simulator(
            self.robot, walls=floor, points=points, friction=scene["friction"], restitution=0.0,
            scheme="time_stepping", step=scene["step"], **options,
        )  # fmt: skip
        self.simulator.run(scene["q"], scene["v"], 10 * scene["step"])

    def run(self) -> dict[str, Any]:
        scene = self.scene
        began = time.process_time()
        run = self.simulator.run(scene["q"], scene["v"], scene["duration"])
        seconds = time.process_time() - began
        cone, power, most = 0.0, 0.0, 0
        for k in np.linspace(0, len(run.t) - 1, SAMPLES + 1).astype(int)[1:]:
            most = max(most, int((run.contact_forces[k] > 0.0).sum()))
            for n, f, u in self.touching(run, k):
                a, b = broken_law(scene, n, f, u)
                cone, power = max(cone, a), max(power, b)
        steps = run.statistics["steps"]
        return {"steps": steps, "seconds": seconds, "contacts": most, "cone": cone, "power": power, "depth": run.statistics["deepest"]}

    def touching(self, run: Any, k: int) -> Any:
        """n, f, u at row k, whose contacts are kept half a step before: places are looked up there, with the velocity after the step."""
        robot, spheres = self.robot, {s["name"]: s for s in self.scene["spheres"]}
        h = run.t[k] - run.t[k - 1]
        q, v = robot.integrate(run.q[k], -0.5 * h * run.v[k]), run.v[k]

        def placed(name: str) -> tuple[Any, Any, Any]:
            sphere = spheres[name]
            link, free = robot.joints[sphere["body"]].child, self.scene["bodies"][sphere["body"]]
            if free["axis"] is None:  # its link's frame is its own
                T, i = np.eye(4), free["iq"]
                T[:3, :3], T[:3, 3] = matrix_of(np.roll(q[i + 3 : i + 7], 1)), q[i : i + 3]
                return sphere, free["iv"], T
            return sphere, link, self.ug.frame_placement(robot, q, link)

        def velocity(link: Any, T: Any, x: Any) -> Any:
            local = T[:3, :3].T @ (x - T[:3, 3])
            if isinstance(link, int):
                return T[:3, :3] @ (v[link : link + 3] + np.cross(v[link + 3 : link + 6], local))
            return (self.ug.jacobian(robot, q, link, local) @ v)[:3]

        for c in np.flatnonzero(run.contact_forces[k] > 0.0):
            a, b = run.contact_names[c].replace("|", "-").split("-")
            sphere, link, T = placed(a)
            centre = T[:3, :3] @ np.array(sphere["local"]) + T[:3, 3]
            n, other = np.array([0.0, 0.0, 1.0]), np.zeros(3)
            x = centre - sphere["radius"] * n
            if b in spheres:
                second, below, Q = placed(b)
                away = centre - (Q[:3, :3] @ np.array(second["local"]) + Q[:3, 3])
                n = away / np.linalg.norm(away)
                x = centre - sphere["radius"] * n
                other = velocity(below, Q, x)
            yield n, run.contact_forces[k, c] * n + run.friction_forces[k, c], velocity(link, T, x) - other


# MuJoCo -----------------------------------------------------------------------------------------------


def text(*values: Any) -> str:
    return " ".join(repr(float(x)) for x in np.ravel(values))


class Mujoco(Engine):
    """Elliptic cones, its Newton solver and otherwise its defaults; contacts are soft."""

    def __init__(self, scene: Any) -> None:
        import mujoco  # type: ignore[import-not-found]

        super().__init__(scene)
        self.mujoco = mujoco
        self.model = mujoco.MjModel.from_xml_string(self.mjcf())
        self.data = mujoco.MjData(self.model)
        self.start()
        self.steps(1)

    def mjcf(self) -> str:
        scene, bodies = self.scene, self.scene["bodies"]
        own = 'contype="1" conaffinity="3"' if scene["pairs"] else 'contype="1" conaffinity="2"'

        def body(i: int) -> str:
            b = bodies[i]
            P, inertia, turn = np.array(b["placement"]), np.array(b["inertia"]), np.zeros(4)
            self.mujoco.mju_mat2Quat(turn, np.ascontiguousarray(P[:3, :3]).ravel())
            full = text(inertia[0, 0], inertia[1, 1], inertia[2, 2], inertia[0, 1], inertia[0, 2], inertia[1, 2])
            joint = "<freejoint/>" if b["axis"] is None else f'<joint type="hinge" axis="{text(b["axis"])}"/>'
            balls = "".join(
                f'<geom type="sphere" size="{s["radius"]}" pos="{text(s["place"])}" {own}/>' for s in scene["spheres"] if s["body"] == i
            )
            below = "".join(body(j) for j in range(len(bodies)) if bodies[j]["parent"] == i)
            inertial = f'<inertial pos="{text(b["com"])}" mass="{b["mass"]!r}" fullinertia="{full}"/>'
            return f'<body pos="{text(P[:3, 3])}" quat="{text(turn)}">{inertial}{joint}{balls}{below}</body>'

        default = f'<geom friction="{scene["friction"]} 0 0" condim="3"/>'
        floor = '<geom type="plane" size="0 0 1" contype="2" conaffinity="1"/>'
        options = f'<option timestep="{scene["step"]}" cone="elliptic" solver="Newton"/><size memory="100M"/>'
        roots = "".join(body(i) for i in range(len(bodies)) if bodies[i]["parent"] < 0)
        return f"<mujoco>{options}<default>{default}</default><worldbody>{floor}{roots}</worldbody></mujoco>"

    def start(self) -> None:
        self.mujoco.mj_resetData(self.model, self.data)
        q = np.array(self.scene["q"])
        for k in self.scene["quaternions"]:
            q[k : k + 4] = np.roll(q[k : k + 4], 1)  # its real part first
        self.data.qpos[:], self.data.qvel[:] = q, self.scene["v"]

    def steps(self, count: int) -> None:
        self.mujoco.mj_step(self.model, self.data, count)

    def joints(self) -> Any:
        return self.data.qpos[7:], self.data.qvel[6:]

    def push(self, torque: Any) -> None:
        self.data.qfrc_applied[6:] = torque

    def contacts(self) -> Any:
        model, data, found = self.model, self.data, []
        six, J = np.zeros(6), np.zeros((3, model.nv))
        for i in range(data.ncon):
            contact = data.contact[i]
            frame = contact.frame.reshape(3, 3)  # x: from the first geom to the second
            self.mujoco.mj_contactForce(model, data, i, six)
            u = np.zeros(3)
            for geom, sign in ((contact.geom1, -1.0), (contact.geom2, 1.0)):
                self.mujoco.mj_jac(model, data, J, None, contact.pos, model.geom_bodyid[geom])
                u += sign * (J @ data.qvel)
            found.append((frame[0].copy(), frame.T @ six[:3], u, contact.dist))
        return found


# Drake ------------------------------------------------------------------------------------------------


class Drake(Engine):
    """Its default discrete solver (``lagged``) and point contact, rigid as its defaults have it: soft contacts, regularised friction."""

    def __init__(self, scene: Any) -> None:
        from pydrake.all import (  # type: ignore[import-not-found]
            AddMultibodyPlantSceneGraph,
            CoulombFriction,
            DiagramBuilder,
            HalfSpace,
            RevoluteJoint,
            RigidTransform,
            RotationMatrix,
            Simulator,
            SpatialInertia,
            Sphere,
            UnitInertia,
        )

        super().__init__(scene)
        builder = DiagramBuilder()
        plant, graph = AddMultibodyPlantSceneGraph(builder, scene["step"])
        rough = CoulombFriction(scene["friction"], scene["friction"])
        self.bodies = []
        for i, b in enumerate(scene["bodies"]):
            com, mass, inertia = np.array(b["com"]), b["mass"], np.array(b["inertia"])
            origin = inertia / mass + (com @ com) * np.eye(3) - np.outer(com, com)
            unit = UnitInertia(*(origin[a, c] for a, c in ((0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2))))
            body = plant.AddRigidBody(f"b{i}", SpatialInertia(mass, com, unit, skip_validity_check=True))
            self.bodies.append(body)
            for s in scene["spheres"]:
                if s["body"] == i:
                    plant.RegisterCollisionGeometry(body, RigidTransform(s["place"]), Sphere(s["radius"]), s["name"], rough)
            if b["axis"] is not None:
                P = np.array(b["placement"])
                frame = RigidTransform(RotationMatrix(P[:3, :3]), P[:3, 3])
                joint = plant.AddJoint(RevoluteJoint(f"j{i}", *self._frames(plant, b["parent"], frame, i, body), b["axis"]))
                plant.AddJointActuator(f"a{i}", joint)
        plant.RegisterCollisionGeometry(plant.world_body(), RigidTransform(), HalfSpace(), "floor", rough)
        plant.mutable_gravity_field().set_gravity_vector([0, 0, -9.81])
        plant.Finalize()
        self.plant = plant
        self.simulator: Any = None
        if not scene["pairs"]:
            self._filter(graph)
        self.diagram = builder.Build()
        self.simulator = Simulator(self.diagram)
        self.start()
        self.steps(1)

    def _frames(self, plant: Any, parent: int, placement: Any, i: int, body: Any) -> tuple[Any, Any]:
        from pydrake.all import FixedOffsetFrame

        above = self.bodies[parent].body_frame()
        return plant.AddFrame(FixedOffsetFrame(f"f{i}", above, placement)), body.body_frame()

    def _filter(self, graph: Any) -> None:
        """Spheres touch the floor alone."""
        from pydrake.all import CollisionFilterDeclaration, GeometrySet

        ids = [g for body in self.bodies for g in self.plant.GetCollisionGeometriesForBody(body)]
        graph.collision_filter_manager().Apply(CollisionFilterDeclaration().ExcludeWithin(GeometrySet(ids)))

    def start(self) -> None:
        from pydrake.all import Quaternion, RigidTransform, SpatialVelocity

        scene, simulator = self.scene, self.simulator
        simulator.reset_context(self.diagram.CreateDefaultContext())
        self.context = self.plant.GetMyMutableContextFromRoot(simulator.get_mutable_context())
        q, v = np.array(scene["q"]), np.array(scene["v"])
        angles = []
        for b, body in zip(scene["bodies"], self.bodies, strict=True):
            if b["axis"] is None:
                x, y, z, w = q[b["iq"] + 3 : b["iq"] + 7]
                self.plant.SetFreeBodyPose(self.context, body, RigidTransform(Quaternion(w, x, y, z), q[b["iq"] : b["iq"] + 3]))
                spin = v[b["iv"] + 3 : b["iv"] + 6]  # no body that moves is turned at the start
                self.plant.SetFreeBodySpatialVelocity(body, SpatialVelocity(spin, v[b["iv"] : b["iv"] + 3]), self.context)
            else:
                angles.append(q[b["iq"]])
        if angles:
            self.plant.SetPositions(self.context, np.concatenate([self.plant.GetPositions(self.context)[:7], angles]))
            self.plant.get_actuation_input_port().FixValue(self.context, np.zeros(len(angles)))
        simulator.Initialize()
        self.count = 0

    def steps(self, count: int) -> None:
        self.count += count
        self.simulator.AdvanceTo((self.count + 1e-6) * self.scene["step"])

    def joints(self) -> Any:
        return self.plant.GetPositions(self.context)[7:], self.plant.GetVelocities(self.context)[6:]

    def push(self, torque: Any) -> None:
        self.plant.get_actuation_input_port().FixValue(self.context, torque)

    def contacts(self) -> Any:
        plant, found = self.plant, []
        results = plant.get_contact_results_output_port().Eval(self.context)
        for i in range(results.num_point_pair_contacts()):
            info = results.point_pair_contact_info(i)
            x, u = info.contact_point(), np.zeros(3)
            for index, sign in ((info.bodyA_index(), -1.0), (info.bodyB_index(), 1.0)):
                body = plant.get_body(index)
                V, T = plant.EvalBodySpatialVelocityInWorld(self.context, body), plant.EvalBodyPoseInWorld(self.context, body)
                u += sign * (V.translational() + np.cross(V.rotational(), x - T.translation()))
            found.append((-info.point_pair().nhat_BA_W, info.contact_force(), u, -info.point_pair().depth))
        return found


# Siconos ----------------------------------------------------------------------------------------------


def matrix_of(q: Any) -> Any:
    """The rotation of a quaternion (w, x, y, z)."""
    w, x, y, z = q
    return np.array([
        [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
        [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
        [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
    ])  # fmt: skip


def quaternion_of(R: Any) -> Any:
    """(w, x, y, z) of a rotation."""
    values, vectors = np.linalg.eigh(np.array([
        [R[0, 0] - R[1, 1] - R[2, 2], 0, 0, 0],
        [R[1, 0] + R[0, 1], R[1, 1] - R[0, 0] - R[2, 2], 0, 0],
        [R[2, 0] + R[0, 2], R[2, 1] + R[1, 2], R[2, 2] - R[0, 0] - R[1, 1], 0],
        [R[2, 1] - R[1, 2], R[0, 2] - R[2, 0], R[1, 0] - R[0, 1], R[0, 0] + R[1, 1] + R[2, 2]],
    ]))  # fmt: skip
    return np.roll(vectors[:, values.argmax()], 1)


class Siconos(Engine):
    """Moreau and Jean's scheme with theta = 1/2, bodies in maximal coordinates, contacts by Bullet, its own solver of mixed problems where
    there are joints and nonsmooth Gauss-Seidel to 1e-4, its default, where there are none."""

    reads_joints = True

    def __init__(self, scene: Any) -> None:
        import siconos.kernel as kernel  # type: ignore[import-not-found]
        import siconos.numerics as numerics  # type: ignore[import-not-found]
        from siconos.io.io_base import MechanicsIO  # type: ignore[import-not-found]

        super().__init__(scene)
        self.kernel, self.numerics, self.io = kernel, numerics, MechanicsIO()
        self.start()
        self.steps(1)

    def start(self) -> None:
        import siconos.mechanics.collision as collision  # type: ignore[import-not-found]
        import siconos.mechanics.joints as joints  # type: ignore[import-not-found]
        from siconos.mechanics.collision.bullet import (  # type: ignore[import-not-found]
            SiconosBulletCollisionManager,
            SiconosBulletOptions,
        )

        kernel, scene, h = self.kernel, self.scene, self.scene["step"]
        self.system = system = kernel.NonSmoothDynamicalSystem(0.0, 1e3)
        options = SiconosBulletOptions()
        options.worldScale, options.contactBreakingThreshold = 1.0, 0.001
        manager = SiconosBulletCollisionManager(options)
        self.bodies, self.force, self.torque, placed, jointed = [], [], [], np.array(scene["placed"]), False
        for i, b in enumerate(scene["bodies"]):
            R, x = placed[i, :3, :3], placed[i, :3, :3] @ b["com"] + placed[i, :3, 3]
            inertia, mass = np.array(b["inertia"]), b["mass"]
            body = collision.RigidBodyDS([*x, *quaternion_of(R)], [0.0] * 6, mass, inertia)
            shapes = collision.SiconosContactorSet()
            for s in scene["spheres"]:
                if s["body"] == i:
                    ball = collision.SiconosSphere(s["radius"])
                    ball.setInsideMargin(0.0)
                    ball.setOutsideMargin(0.0)
                    place = np.array(s["place"]) - b["com"]
                    shapes.append(collision.SiconosContactor(ball, [*place, 1, 0, 0, 0], 0))
            body.setContactors(shapes)
            self.force.append(np.array([0.0, 0.0, -9.81 * mass]))
            self.torque.append(np.zeros(3))
            body.setFExtPtr(self.force[i])
            body.setMExtPtr(self.torque[i])
            body.setIsMextExpressedInInertialFrame(True)
            system.insertDynamicalSystem(body)
            self.bodies.append(body)
            if b["axis"] is not None:
                joint, jointed = joints.PivotJointR(), True
                joint.setPoint(0, placed[i, :3, 3])
                joint.setAxis(0, R @ np.array(b["axis"]))
                joint.setAbsolute(True)
                joint.setBasePositions(self.bodies[b["parent"]].q(), body.q())
                both = kernel.Interaction(kernel.EqualityConditionNSL(joint.numberOfConstraints()), joint)
                system.link(both, self.bodies[b["parent"]], body)
        floor, plane = collision.SiconosContactorSet(), collision.SiconosPlane()
        plane.setInsideMargin(0.0)
        plane.setOutsideMargin(0.0)
        floor.append(collision.SiconosContactor(plane, [0, 0, 0, 1, 0, 0, 0], 1))
        (manager.insertStaticContactorSet if hasattr(manager, "insertStaticContactorSet") else manager.addStaticBody)(floor)
        law = kernel.NewtonImpactFrictionNSL(0.0, 0.0, scene["friction"], 3)
        manager.insertNonSmoothLaw(law, 0, 1)
        if scene["pairs"]:
            manager.insertNonSmoothLaw(law, 0, 0)
        if jointed:
            problem = kernel.GenericMechanical()
        else:
            problem = kernel.FrictionContact(3, self.numerics.SICONOS_FRICTION_3D_NSGS)
            solver = problem.numericsSolverOptions()
            solver.iparam[0], solver.dparam[0] = 1000, 1e-4
            problem.setMStorageType(1)
        problem.setMaxSize(30000)
        problem.setNumericsVerboseMode(False)
        problem.setKeepLambdaAndYState(True)
        self.simulation = kernel.TimeStepping(system, kernel.TimeDiscretisation(0.0, h))
        self.simulation.insertInteractionManager(manager)
        self.simulation.insertIntegrator(kernel.MoreauJeanOSI(0.5))
        self.simulation.insertNonSmoothProblem(problem)
        self.simulation.setNewtonOptions(kernel.SICONOS_TS_LINEAR)
        self.kept = (manager, problem, law, floor)

    def steps(self, count: int) -> None:
        for _ in range(count):
            self.simulation.computeOneStep()
            self.simulation.nextStep()

    def joints(self) -> Any:
        q, v = [], []
        for i, b in enumerate(self.scene["bodies"]):
            if b["axis"] is not None:
                axis, own, above = np.array(b["axis"]), self.bodies[i], self.bodies[b["parent"]]
                R, Q = matrix_of(own.q()[3:]), matrix_of(above.q()[3:]) @ np.array(b["placement"])[:3, :3]
                D = Q.T @ R
                sine = 0.5 * axis @ [D[2, 1] - D[1, 2], D[0, 2] - D[2, 0], D[1, 0] - D[0, 1]]
                q.append(np.arctan2(sine, 0.5 * (np.trace(D) - 1.0)))
                spin = R @ own.twist()[3:] - matrix_of(above.q()[3:]) @ above.twist()[3:]
                v.append(spin @ (R @ axis))
        return np.array(q), np.array(v)

    def push(self, torque: Any) -> None:
        for one in self.torque:
            one[:] = 0.0
        k = 0
        for i, b in enumerate(self.scene["bodies"]):
            if b["axis"] is not None:
                along = torque[k] * (matrix_of(self.bodies[i].q()[3:]) @ np.array(b["axis"]))
                self.torque[i] += along
                self.torque[b["parent"]] -= along
                k += 1

    def contacts(self) -> Any:
        rows = self.io.contactPoints(self.system, 1)
        rows = [] if rows is None else rows
        found = []
        for row in np.asarray(rows):
            n, f = row[7:10], row[10:13] / self.scene["step"]
            found.append((n, f, None, row[13]))
        return self._with_velocities(found, rows)

    def _with_velocities(self, found: Any, rows: Any) -> Any:
        """u from the bodies whose balls are nearest to the contact."""
        centres = [(i, np.array(s["place"]) - self.scene["bodies"][s["body"]]["com"], s["radius"])
                   for i, s in ((s["body"], s) for s in self.scene["spheres"])]  # fmt: skip
        R = [matrix_of(body.q()[3:]) for body in self.bodies]
        places = np.array([R[i] @ at + self.bodies[i].q()[:3] for i, at, _ in centres])
        radii = np.array([radius for _, _, radius in centres])
        out = []
        for (n, f, _, gap), row in zip(found, rows, strict=True):
            x, u = 0.5 * (row[1:4] + row[4:7]), np.zeros(3)
            off = np.linalg.norm(places - x, axis=1) - radii
            near = np.argsort(np.abs(off))[:2]
            for k in near[np.abs(off[near]) < 1e-2]:
                i = centres[k][0]
                body, side = self.bodies[i], np.sign(n @ (places[k] - x))
                u += side * (np.array(body.twist()[:3]) + np.cross(R[i] @ body.twist()[3:], x - body.q()[:3]))
            out.append((n, f if n @ f >= 0.0 else -f, u, gap))
        return out


ENGINES = {"urdf_gibbs": Own, "MuJoCo": Mujoco, "Drake": Drake, "Siconos": Siconos}


def main() -> None:
    """Scenes as {"scene": ...}, runs as {"run": name of a scene}; each is answered by one line."""
    kind, engines = ENGINES[sys.argv[1]], {}
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # engines that print
    for line in sys.stdin:
        asked = json.loads(line)
        try:
            if "scene" in asked:
                engines[asked["scene"]["name"]] = kind(asked["scene"])
                answer: dict[str, Any] = {"ready": True}
            else:
                answer = engines[asked["run"]].run()
        except ImportError as problem:
            answer = {"absent": str(problem)}
        except Exception as problem:
            answer = {"failed": f"{type(problem).__name__}: {problem}"}
        print(json.dumps(answer, default=float), file=answers, flush=True)


if __name__ == "__main__":
    main()
