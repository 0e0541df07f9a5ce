"""What engines have in common: a measured run, the violation of Coulomb's law, rotations."""

from __future__ import annotations

import time
from typing import Any

import numpy as np

SAMPLES = 50
LONGEST = 5.0  # s: a run that takes longer is not finished


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
        """One measured run; the clock stands still while contacts are examined."""
        scene = self.scene
        self.start()
        count, every = round(scene["duration"] / scene["step"]), scene["every"]
        stretch = count // SAMPLES // every * every
        seconds, worst, most, done, began = 0.0, np.zeros(3), 0, 0, time.process_time()
        while done < count and seconds < LONGEST:
            if self.held is not None:
                q, v = self.joints()
                if self.reads_joints:
                    began = time.process_time()
                self.push(60.0 * (self.held - q) - 1.0 * v)
            self.steps(every)
            done += every
            sampled = done % stretch == 0
            if sampled or self.reads_joints:
                now = time.process_time()
                seconds, began = seconds + now - began, now
            if sampled or seconds >= LONGEST:
                found = self.contacts()
                most = max(most, sum(1 for _, f, _, _ in found if f @ f > 0.0))
                for n, f, u, gap in found:
                    worst = np.maximum(worst, [*broken_law(scene, n, f, u), -gap])
                began = time.process_time()
        cone, power, depth = worst.tolist()
        return {"steps": done, "seconds": seconds, "contacts": most, "cone": cone, "power": power, "depth": depth}

    reads_joints = False  # whether angles of joints have to be worked out here, outside of the measured time

    def start(self) -> None: ...
    def steps(self, count: int) -> None: ...
    def push(self, torque: Any) -> None: ...
    def joints(self) -> Any: ...
    def contacts(self) -> Any: ...


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
