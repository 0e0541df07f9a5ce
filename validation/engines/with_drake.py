"""Drake."""

from __future__ import annotations

from typing import Any

import numpy as np

from engines.base import Engine


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
