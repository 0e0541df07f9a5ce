"""urdf_gibbs itself."""

from __future__ import annotations

import time
from typing import Any

import numpy as np

from engines.base import SAMPLES, Engine, broken_law, matrix_of


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
            options = {"controller": self.controller(), "controller_rate": 1.0 / (scene["every"] * scene["step"])}
        if scene["pairs"]:
            options["pairs"] = [tuple(pair) for pair in scene["pairs"]]
        floor = ug.walls.Plane(normal=(0, 0, 1), point=(0, 0, 0), name="floor")
        self.simulator = ug.Simulator(
            self.robot, walls=floor, points=points, friction=scene["friction"], restitution=0.0,
            scheme="time_stepping", step=scene["step"], **options,
        )  # fmt: skip
        self.simulator.run(scene["q"], scene["v"], 10 * scene["step"])

    def controller(self) -> Any:
        """The same arithmetic as in Engine.run."""
        held, torque = self.held, np.zeros(self.robot.nv)
        first = self.robot.nv - len(held)

        def called(t: float, q: Any, v: Any) -> Any:
            torque[first:] = 60.0 * (held - q[first + 1 :]) - 1.0 * v[first:]
            return torque

        return called

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
