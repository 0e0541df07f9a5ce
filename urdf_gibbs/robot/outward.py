"""The ways out of a robot: as a URDF, as a pinocchio.Model, as MJCF."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from urdf_gibbs.arguments import path_of

if TYPE_CHECKING:
    from urdf_gibbs.robot.model import Robot


class Outward:
    """What a robot can become for other programs; each has the robot's present numbers, also of an edited or identified robot."""

    def to_urdf(self, path: str | os.PathLike[str] | None = None) -> str:
        """As a URDF: links with their present inertias, joints, shapes, and elastic links as <flexible> elements.

        Elements that are no part of the mechanics (transmissions, sensors, Gazebo's) are not written. What the base may do is no part
        of a URDF: give ``base`` to ``load`` again. Mimic joints of a robot loaded with mimic=False are written as free ones.

        Args:
            path: Where it is written, too; meshes with relative names are then named by full paths if that is another folder.

        Returns:
            The text.

        Raises:
            ArgumentError: This is no path.
        """
        from urdf_gibbs.robot.write import to_urdf

        file = None if path is None else path_of(path, "path")
        return _written(file, to_urdf(self._robot, "" if file is None else os.path.dirname(os.path.abspath(file))))

    def to_pinocchio(self) -> Any:
        """As a pinocchio.Model with the same coordinates in the same order: its q is ``robot.q_to_pinocchio(q)``, its v is v.

        Mimic joints are its own (JointModelMimic), for which it has no forward dynamics; where one is below its master, its crba needs new
        data for each call, and is wrong where such a joint carries several others, while its rnea is right (pin 4.1). One that follows a
        continuous joint knows its angle between -pi and pi alone, as Pinocchio's q does. Screws are helical joints, armatures its
        ``armature``, links its frames. Visuals and collisions are not carried.

        Returns:
            The model.

        Raises:
            ArgumentError: The robot has elastic links, a mimic joint whose master comes after it, or a slide that follows a continuous
                joint: load with mimic=False.
            OracleMissingError: Pinocchio is not installed.
        """
        from urdf_gibbs.robot.to_pinocchio import to_pinocchio

        return to_pinocchio(self._robot)

    def to_mjcf(self, path: str | os.PathLike[str] | None = None) -> str:
        """As MJCF, with the same coordinates in the same order; a free base has MuJoCo's, whose quaternions are (w x y z).

        Mimic joints become equality constraints, which MuJoCo keeps softly and which leave nq and nv as if they were free. Links that
        are merged into a body become sites. Boxes, spheres, cylinders and capsules become geoms; meshes are left out, as a comment says.

        Args:
            path: Where it is written, too.

        Returns:
            The text.

        Raises:
            ArgumentError: MuJoCo has nothing like it: elastic links, planar joints, floating joints below other bodies, moving bodies
                without mass or with inertias that no body can have; all of them are named. Or this is no path.
        """
        from urdf_gibbs.robot.to_mjcf import to_mjcf

        return _written(None if path is None else path_of(path, "path"), to_mjcf(self._robot))

    @property
    def _robot(self) -> Robot:
        return cast("Robot", self)


def _written(file: str | None, text: str) -> str:
    if file is not None:
        Path(file).write_text(text, encoding="utf-8")
    return text
