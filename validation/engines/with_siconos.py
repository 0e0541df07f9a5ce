"""Siconos."""

from __future__ import annotations

from typing import Any

import numpy as np

from engines.base import Engine, matrix_of, quaternion_of


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
