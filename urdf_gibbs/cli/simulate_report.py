"""The results of a simulated scenario as plain values: energy balance, flags, phases, and the published figures beside ours."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from urdf_gibbs.simulation.scenario import ReferenceImpact, Scenario
from urdf_gibbs.simulation.trajectory import Impact, Phase, Trajectory

MANY = 20_000  # impacts; of more, only those shown are examined
UNCERTAIN = 1e-8  # a certificate above this is flagged
REFERENCE = {"time": "time [s]", "angle": "angle [deg]", "velocity": "velocity change [m/s]", "impulse": "impulse [N s]"}


def report_of(scenario: Scenario, trajectory: Trajectory, seconds: float) -> dict[str, Any]:
    """Everything but the impacts and the states, as JSON has it."""
    simulated = float(trajectory.t[-1])
    return {
        "scenario": scenario.file,
        "title": scenario.title,
        "robot": scenario.robot.name,
        "status": trajectory.status,
        "settings": _finite(trajectory.settings),
        "simulated": simulated,
        "rows": len(trajectory),
        "phases": [_phase(phase) for phase in trajectory.phases],
        "flagged": flagged(trajectory.impacts),
        "energy": _balance(scenario, trajectory),
        "statistics": {
            **trajectory.statistics,
            "cpu_seconds": seconds,
            "times_real_time": simulated / seconds if seconds > 0.0 else None,
        },
        "reference": _compared(scenario, trajectory.impacts),
    }


def impact_of(impact: Impact) -> dict[str, Any]:
    return {
        "time": impact.time,
        "points": list(impact.points),
        "walls": list(impact.walls),
        "angles": _finite(np.degrees(impact.angles_of_attack).tolist()),
        "velocity_changes": changes(impact).tolist(),
        "impulses": impact.impulses.tolist(),
        "tangential_impulses": impact.tangential_impulses.tolist(),
        "energy_before": impact.energy_before,
        "energy_after": impact.energy_after,
        "law": impact.law,
        "rounds": impact.rounds,
        "certificate": _finite(impact.certificate),
        "flags": flags(impact),
    }


def _phase(phase: Phase) -> dict[str, Any]:
    times = {"start": phase.start, "end": phase.end, "end_of_bouncing": phase.accumulation}
    return {"point": phase.point, "wall": phase.wall, "mode": phase.mode, **_finite(times)}


def changes(impact: Impact) -> Any:
    return impact.normal_velocities_after - impact.normal_velocities_before


def flags(impact: Impact) -> list[str]:
    flags = ["energy gain"] if impact.energy_gain else []
    if impact.rounds > 1:
        flags.append(f"{impact.rounds} rounds")
    if not impact.certificate <= UNCERTAIN:
        flags.append("no certificate" if math.isnan(impact.certificate) else f"certificate {impact.certificate:.0e}")
    return flags


def flagged(impacts: Sequence[Impact]) -> int | None:
    """How many impacts have a flag; None if there are too many to examine."""
    return sum(bool(flags(impact)) for impact in impacts) if len(impacts) <= MANY else None


def _balance(scenario: Scenario, trajectory: Trajectory) -> dict[str, Any]:
    """Energies [J]: start - lost in impacts - lost by friction + rest = end. What is lost is positive under that name.

    ``rest_is`` names what does work beside gravity, impacts and friction; if nothing does, the rest is the error of the integrator.
    ``losses`` are those of its entries that can only take energy away. ``scale`` is the largest kinetic energy. Time steps do not tell
    impacts apart: there ``lost_in_impacts`` is None, and impacts are part of the rest.
    """
    kinetic, _, total = trajectory.energies
    sudden = np.diff(trajectory.t) == 0.0  # an impact holds its time twice
    steps = scenario.scheme == "time_stepping"
    lost = 0.0 - float(np.diff(total)[sudden].sum())  # not minus zero
    gains = ["the work of the torques"] if np.any(scenario.torque) or scenario.controller is not None else []
    gains += ["the work of moving walls"] if moving(scenario) and (trajectory.phases or steps) else []
    losses = ["damping"] if scenario.damping and any(joint.damping for joint in scenario.robot.joints) else []
    beams = [joint.beam for joint in scenario.robot.joints if joint.beam is not None]
    losses += ["damping of elastic links"] if any(beam.damping.any() for beam in beams) else []
    losses += ["impacts"] if steps and (scenario.walls or scenario.pairs or scenario.joint_limits) else []
    start, end, friction = float(total[0]), float(total[-1]), float(trajectory.friction_work[-1])
    return {
        "start": start,
        "lost_in_impacts": None if steps else lost,
        "lost_by_friction": friction,
        "lost_at_rest": float(trajectory.statistics.get("energy_at_rest", 0.0)),
        "rest": end - start + lost + friction,
        "end": end,
        "rest_is": gains + losses,
        "losses": losses,
        "walls_move": moving(scenario),
        "strain": scenario.robot.is_flexible,
        "scale": float(kinetic.max()),
    }


def moving(scenario: Scenario) -> bool:
    return any(wall.motion is not None for wall in scenario.walls)


def _compared(scenario: Scenario, impacts: Sequence[Impact]) -> dict[str, Any] | None:
    """The published impacts and ours: of those with the same points the nearest in time; of very many impacts only the first."""
    if scenario.reference is None:
        return None
    impacts = impacts[:MANY]
    rows = []
    for theirs in scenario.reference.impacts:
        same = [_as_reference(impact, theirs.points) for impact in impacts if set(theirs.points) <= set(impact.points)]
        ours = min(same, key=lambda one: abs(one.time - theirs.time)) if same else None
        values = {}
        for name in REFERENCE:
            published = getattr(theirs, name)
            simulated = None if ours is None else getattr(ours, name)
            percent = 100.0 * (simulated - published) / published if simulated is not None and published else None
            if not math.isnan(published):
                values[name] = {"published": published, "ours": simulated, "difference_percent": percent}
        rows.append({"points": list(theirs.points), **values})
    return {"source": scenario.reference.source, "impacts": rows}


def _as_reference(impact: Impact, points: tuple[str, ...]) -> ReferenceImpact:
    """An impact with one number for each quantity, the mean over these of its points."""
    own = [i for i, point in enumerate(impact.points) if point in points]
    numbers = (np.degrees(impact.angles_of_attack), changes(impact), impact.impulses)
    return ReferenceImpact(impact.time, points, *(float(values[own].mean()) for values in numbers))


def _finite(value: Any) -> Any:
    """The value with None for what JSON cannot represent."""
    if isinstance(value, dict):
        return {key: _finite(entry) for key, entry in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(entry) for entry in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value
