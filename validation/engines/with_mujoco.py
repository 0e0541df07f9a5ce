"""MuJoCo."""

from __future__ import annotations

from typing import Any

import numpy as np

from engines.base import Engine


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
        self.angles, self.rates, self.torques = self.data.qpos[7:], self.data.qvel[6:], self.data.qfrc_applied[6:]  # of its memory
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
        return self.angles, self.rates

    def push(self, torque: Any) -> None:
        self.torques[:] = torque

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
