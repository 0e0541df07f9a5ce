"""The formulations by name: all of them, those for elastic links, and those used to validate a robot."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from importlib import import_module
from types import ModuleType
from typing import Any, Final

from urdf_gibbs.arguments import one_of
from urdf_gibbs.dynamics.model import model_of
from urdf_gibbs.errors import ArgumentError
from urdf_gibbs.names import Method
from urdf_gibbs.robot.model import Robot


class Formulations(Mapping[str, ModuleType]):
    """Modules of dynamics/ by the names of their files, imported on first use: most programs need none of them."""

    def __init__(self, *names: str) -> None:
        self._names = names

    def __getitem__(self, name: str) -> ModuleType:
        if name not in self._names:
            raise KeyError(name)
        return import_module(f"urdf_gibbs.dynamics.{name}")

    def __contains__(self, name: object) -> bool:
        return name in self._names

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)


COMPILED: Final = "compiled"  # the production formulation as machine code (engine/)
REFERENCES = Formulations(
    "gibbs_appell",
    "explicit",
    "gibbs_appell_flexible",
    "transformations_flexible",
    "lagrangian_4x4",
    "gibbs_appell_3x3",
    "generalised_momentum",
    "pseudo_inertia",
    "shafei2017",
)
METHODS: tuple[Method, ...] = (COMPILED, "gibbs_appell", "explicit")  # for rigid links
BASELINES: tuple[Method, ...] = (
    "lagrangian_4x4",
    "gibbs_appell_3x3",
    "generalised_momentum",
    "pseudo_inertia",
)  # formulations that S18 and WJ compare with
FLEXIBLE_METHODS: tuple[Method, ...] = (
    COMPILED,
    "gibbs_appell_flexible",
    "transformations_flexible",
)  # for elastic links; rigid robots are a case of theirs
AS_PRINTED: tuple[Method, ...] = ("shafei2017",)  # a paper's own steps, for elastic robots of its shape alone


def methods_of(robot: Robot) -> tuple[Method, ...]:
    """The formulations that validate a robot by default."""
    return FLEXIBLE_METHODS if robot.is_flexible else METHODS


def all_methods_of(robot: Robot) -> tuple[Method, ...]:
    """Every formulation that can be used for a robot."""
    if not robot.is_flexible:
        return (*METHODS, *BASELINES)
    from urdf_gibbs.dynamics.shafei2017_links import is_chain

    return FLEXIBLE_METHODS + (AS_PRINTED if is_chain(model_of(robot)) else ())


def checked_method(robot: Robot, method: Any) -> Method:
    """The name of a formulation; raises where there is no such one, or none for this robot."""
    name: Method = one_of(method, (COMPILED, *REFERENCES), "method")  # type: ignore[assignment]
    if name in AS_PRINTED:
        from urdf_gibbs.dynamics.shafei2017_links import links_of

        links_of(model_of(robot))  # raises, with what it expects
    elif robot.is_flexible and name not in FLEXIBLE_METHODS:
        expected = ", ".join(FLEXIBLE_METHODS)
        raise ArgumentError(
            f"method={name!r} is for rigid links, and {robot.name or 'the robot'} has elastic ones; expected one of {expected}"
        )
    return name
