"""A robot's coordinates beside Pinocchio's: cosine and sine for continuous joints, and joints that follow another one.

A mimic joint has no coordinate of its own here. Pinocchio's reader gives it one unless it is told ``mimic=True``, so that its model of the
same file has more coordinates: q_free = (q, and ratio * q + offset for each that follows), v_free = G v, tau = Gᵀ tau_free.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

from urdf_gibbs.arguments import flag, numbers
from urdf_gibbs.errors import ArgumentError

if TYPE_CHECKING:
    from urdf_gibbs.robot.joints import Joint

Array = NDArray[np.float64]

LOOSE = 1e-6  # how far off a joint that follows may be [rad, m, and their rates], with this part of its value: text with seven digits


class BesidePinocchio:
    """What a robot knows of Pinocchio's coordinates of the same file; base of ``Robot``."""

    joints: tuple[Joint, ...]
    nq: int
    nv: int

    def q_to_pinocchio(self, q: ArrayLike, *, mimic: bool = True) -> Array:
        """Pinocchio's configuration: cos and sin for continuous joints and planar angles.

        Args:
            q: Coordinates (..., nq), or with one more for each joint that follows another, as with ``mimic=False``.
            mimic: As Pinocchio's model was built: True, or False (its default) for one in which joints that follow have coordinates of
                their own, which are then put in.

        Returns:
            Pinocchio's (..., its nq).

        Raises:
            ArgumentError: An argument has a wrong type or shape, or a joint is not where the one that it follows puts it.
        """
        flag(mimic, "mimic")
        q = self._without_followers(q, False, "q")
        parts = [np.empty((*q.shape[:-1], 0))]
        for joint in self.joints:
            if joint.is_mimic and mimic:
                continue
            own = q[..., joint.iq : joint.iq + joint.nq]
            if joint.is_mimic:
                own = joint.ratio * own + joint.offset
            if _turns(joint):
                own = np.concatenate([own[..., :-1], np.cos(own[..., -1:]), np.sin(own[..., -1:])], axis=-1)
            parts.append(own)
        return np.concatenate(parts, axis=-1)

    def q_from_pinocchio(self, q: ArrayLike) -> Array:
        """Our configuration from Pinocchio's; angles come out in (-pi, pi].

        Joints that follow may have coordinates of their own (Pinocchio's default) or not; which, its size says.

        Args:
            q: Pinocchio's (..., its nq).

        Returns:
            Coordinates (..., nq).

        Raises:
            ArgumentError: The array has a wrong type or shape, or a joint is not where the one that it follows puts it.
        """
        return self._without_followers(q, True, "Pinocchio's q")

    def v_to_pinocchio(self, v: ArrayLike, *, mimic: bool = True) -> Array:
        """Pinocchio's velocities, or accelerations.

        Args:
            v: Velocities (..., nv), or with one more for each joint that follows another.
            mimic: As Pinocchio's model was built; False: joints that follow have velocities of their own, which are put in.

        Returns:
            Pinocchio's (..., its nv): ``v`` where nothing follows.

        Raises:
            ArgumentError: An argument has a wrong type or shape, or a joint does not move as the one that it follows has it move.
        """
        v = self._own_velocities(v, "v")
        return v if flag(mimic, "mimic") else v @ self.mimic_matrix.T

    def v_from_pinocchio(self, v: ArrayLike) -> Array:
        """Our velocities, or accelerations, from Pinocchio's, whether or not joints that follow have some of their own there.

        Args:
            v: Pinocchio's (..., its nv).

        Returns:
            Velocities (..., nv).

        Raises:
            ArgumentError: The array has a wrong type or shape, or a joint does not move as the one that it follows has it move.
        """
        return self._own_velocities(v, "Pinocchio's v")

    def tau_from_pinocchio(self, tau: ArrayLike) -> Array:
        """Our generalised forces from Pinocchio's: Gᵀ tau, what acts on a joint that follows counts on the one that it follows.

        Args:
            tau: Pinocchio's (..., its nv), whether or not joints that follow have some of their own there.

        Returns:
            Forces (..., nv) [N, N m], of the same power in every motion of this robot.

        Raises:
            ArgumentError: The array has a wrong type or shape.
        """
        tau, tied = _sized(tau, {self.nv: True, len(self.mimic_matrix): False}, "Pinocchio's tau", self)
        return tau.copy() if tied else tau @ self.mimic_matrix

    @property
    def mimic_matrix(self) -> Array:
        """G (nv of Pinocchio's default model, nv): velocities of all joints, followers too, are G v. M = Gᵀ M_free G, J = J_free G."""
        rows = self._rows()
        G = np.zeros((sum(joint.nv for joint, _ in rows), self.nv))
        for joint, row in rows:
            for k in range(joint.nv):
                G[row + k, joint.iv + k] = joint.ratio
        return G

    def _without_followers(self, q: ArrayLike, cosines: bool, name: str) -> Array:
        """q (..., nq) of one with or without coordinates of joints that follow, where ``cosines`` with cos and sin for what turns on."""
        free = [joint for joint in self.joints if not joint.is_mimic]
        q, tied = _sized(q, {_width(free, cosines): True, _width(self.joints, cosines): False}, name, self)
        out = np.empty((*q.shape[:-1], self.nq))
        followers: list[tuple[Joint, Array]] = []
        i = 0
        for joint in free if tied else self.joints:
            own = np.array(q[..., i : i + joint.nq])
            i += joint.nq
            if cosines and _turns(joint):
                own[..., -1] = np.arctan2(q[..., i], q[..., i - 1])
                i += 1
            if joint.is_mimic:
                followers.append((joint, own[..., 0]))
            else:
                out[..., joint.iq : joint.iq + joint.nq] = own
        for joint, own in followers:  # they know how often a continuous joint has turned
            if cosines and not _turns(joint) and self._master(joint).type == "continuous" and joint.ratio:
                angle = (own - joint.offset) / joint.ratio
                out[..., joint.iq] += 2.0 * math.pi * np.round((angle - out[..., joint.iq]) / (2.0 * math.pi))
        for joint, own in followers:
            self._check_follower(joint, own, joint.ratio * out[..., joint.iq] + joint.offset, "position")
        return out

    def _own_velocities(self, v: ArrayLike, name: str) -> Array:
        """v (..., nv) of one with or without velocities of joints that follow."""
        v, tied = _sized(v, {self.nv: True, len(self.mimic_matrix): False}, name, self)
        if tied:
            return v.copy()
        out = np.empty((*v.shape[:-1], self.nv))
        rows = self._rows()
        for joint, row in rows:
            if not joint.is_mimic:
                out[..., joint.iv : joint.iv + joint.nv] = v[..., row : row + joint.nv]
        for joint, row in rows:
            if joint.is_mimic:
                self._check_follower(joint, v[..., row], joint.ratio * out[..., joint.iv], "velocity")
        return out

    def _rows(self) -> list[tuple[Joint, int]]:
        """Each joint, with its first row among the velocities of all joints."""
        starts = np.cumsum([0, *(joint.nv for joint in self.joints)]).tolist()
        return list(zip(self.joints, starts, strict=False))

    def _check_follower(self, joint: Joint, found: Array, expected: Array, what: str) -> None:
        """Raise where a joint is not where, or not as fast as, the one that it follows wants it."""
        off = np.abs(found - expected)
        if what == "position" and _turns(joint):
            off = np.abs(np.arctan2(np.sin(found - expected), np.cos(found - expected)))
        if not (off > LOOSE * (1.0 + np.abs(expected))).any():
            return
        worst = np.unravel_index(int(np.argmax(off)), off.shape)
        unit = {"revolute": "rad", "continuous": "rad", "prismatic": "m"}.get(joint.type, "") + ("/s" if what == "velocity" else "")
        rule = f"{joint.ratio:g} * {joint.master}" + (f" + {joint.offset:g}" if what == "position" and joint.offset else "")
        state = f" of state {', '.join(map(str, worst))}" if off.ndim else ""
        raise ArgumentError(
            f"joint {joint.name!r} follows {rule}, but its {what}{state} is {found[worst]:.9g} where {expected[worst]:.9g} {unit} "
            f"follows: it is off by {off[worst]:.3g} {unit}. With load(..., mimic=False) it has a coordinate of its own"
        )

    def _master(self, joint: Joint) -> Joint:
        return next(other for other in self.joints if not other.is_mimic and other.iq == joint.iq)


def _turns(joint: Joint) -> bool:
    """Whether Pinocchio has cosine and sine in the place of its angle."""
    return joint.type in ("continuous", "planar")


def _width(joints: list[Joint] | tuple[Joint, ...], cosines: bool) -> int:
    return sum(joint.nq + (cosines and _turns(joint)) for joint in joints)


def _sized(values: ArrayLike, sizes: dict[int, bool], name: str, robot: BesidePinocchio) -> tuple[Array, bool]:
    """The array, and whether its last axis is as long as joints that follow and have no coordinates make it."""
    array = numbers(values, f"(..., {next(iter(sizes))})", name)
    if array.ndim and array.shape[-1] in sizes:
        return array, sizes[array.shape[-1]]
    expected = " or ".join(f"(..., {size})" for size in sizes)
    followers = [joint.name for joint in robot.joints if joint.is_mimic]
    hint = ""
    if followers:
        names = ", ".join(followers[:3]) + (", ..." if len(followers) > 3 else "")
        hint = f"; {names} {'follows another joint' if len(followers) == 1 else 'follow other joints'}, load(..., mimic=False) frees them"
    if array.ndim and any(array.shape[-1] - size in (6, 7) for size in sizes):
        hint += "; 7 coordinates or 6 velocities more are those of a free base: load(..., base='floating')"
    raise ArgumentError(f"{name} has shape {array.shape}, expected {expected}{hint}")
