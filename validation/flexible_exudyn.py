"""Elastic links by finite elements: a reference, independent of the assumed modes, from exudyn's ANCF cable elements.

    python validation/flexible_exudyn.py [DIRECTORY] [--case links|spin|modes] [--quick]

Planar. A link is a chain of cubic, geometrically exact Bernoulli–Euler elements (ObjectANCFCable2D) without rotary inertia;
its stretch is part of the model, and a high axial stiffness makes it nearly inextensible. Hinged links are integrated by the
trapezoidal rule with the constraints at velocity level (TrapezoidalIndex2), which has no numerical damping and, as these constraints are
linear, does not let them drift. The hub's clamp is not linear: there it drifts with the square of the step (2e-4 rad at 1 ms), and
generalised alpha with the constraints at position level (GeneralizedAlpha) serves instead, with a spectral radius below 1 (at 1
the iteration fails during the spin-up).

- links: two hinged links thrown with rigid-body velocities, the first pinned to the world or free to fly; hinge and tip every ms.
- spin: a cantilever on a hub whose speed is raised smoothly to a constant; the tip's deflection in the rotating frame.
- modes: the lowest bending frequency of a free link and of a hinged, free pair.

Each run is repeated on half the mesh and at other steps, and DIRECTORY, if given, receives one .csv for each run and an .npz with all.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import cos, pi, radians, sin
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

NEEDED = "this reference needs exudyn: pip install exudyn"


def load_exudyn() -> ModuleType:
    """The module exudyn, or an exit with what to install."""
    try:
        import exudyn
        import exudyn.itemInterface
    except ImportError as error:
        raise SystemExit(f"{NEEDED} ({error})") from error
    return exudyn


@dataclass(frozen=True)
class Beam:
    """A uniform link: length (m), mass for each metre (kg/m), bending stiffness (N m²), axial stiffness (N)."""

    length: float = 1.0
    mass: float = 1.0
    bending: float = 1000.0
    axial: float = 1e9


@dataclass(frozen=True)
class SpinUp:
    """A beam on a hub of radius zero, whose angular speed rises to `speed` (rad/s) in `rise` (s), without gravity."""

    beam: Beam
    speed: float
    rise: float = 15.0

    def rate(self, t: float) -> float:
        """Angular speed of the hub."""
        if t >= self.rise:
            return self.speed
        return self.speed / self.rise * (t - self.rise / (2 * pi) * sin(2 * pi * t / self.rise))

    def angle(self, t: float) -> float:
        """Angle of the hub, the integral of the speed."""
        if t >= self.rise:
            return self.speed * (t - self.rise / 2)
        return self.speed / self.rise * (t * t / 2 + (self.rise / (2 * pi)) ** 2 * (cos(2 * pi * t / self.rise) - 1))

    @property
    def stretch(self) -> float:
        """Tip extension of the straight, steadily turning beam, ρA Ω² L³ / (3 EA)."""
        return self.beam.mass * self.speed**2 * self.beam.length**3 / (3 * self.beam.axial)


# Simo and Vu-Quoc's beam (without its shear and rotary inertia), and two shorter ones: slender (EI ≈ 567) and stiff.
SPIN_UPS = {
    "simo-vu-quoc": SpinUp(Beam(10.0, 1.2, 1.4e4, 2.8e7), 6.0),
    "slender-8m": SpinUp(Beam(8.0, 2766.67 * 7.2968e-5, 6.8952e10 * 8.2189e-9, 6.8952e10 * 7.2968e-5), 4.0),
    "stiff-8m": SpinUp(Beam(8.0, 1.2, 1.4e4, 2.8e7), 4.0),
}


@dataclass
class Run:
    """What a simulation recorded: times, named columns and the conserved quantity (J), which is nan where there is none."""

    time: Array
    columns: dict[str, Array]
    energy: Array
    seconds: float

    @property
    def table(self) -> Array:
        """The columns side by side."""
        return np.column_stack(list(self.columns.values()))

    @property
    def drift(self) -> float:
        """Largest change of the conserved quantity (J)."""
        known = self.energy[~np.isnan(self.energy)]
        return float(np.abs(known - known[0]).max()) if len(known) else float("nan")

    def save_csv(self, file: Path) -> None:
        """Times and columns, one row for each instant."""
        names = ["t", *self.columns]
        np.savetxt(file, np.column_stack([self.time, self.table]), fmt="%.10g", delimiter=",", header=",".join(names), comments="")


class Model:
    """An exudyn system of links, each a chain of equal elements that starts straight."""

    def __init__(self) -> None:
        self.exu = load_exudyn()
        self.items = self.exu.itemInterface
        self.container = self.exu.SystemContainer()
        self.system = self.container.AddSystem()
        self.ground = self.system.AddNode(self.items.NodePointGround())
        self.links: list[list[Any]] = []
        self.beams: list[Beam] = []
        self.sensors: list[list[tuple[Any, Any]]] = []
        self.reference: list[Array] = []

    def add_link(self, beam: Beam, elements: int, start: Array, angle: float, velocity: Array, rate: float, gravity: float) -> None:
        """A straight link from `start` along `angle`, turning at `rate` while its start moves with `velocity`."""
        along = np.array([cos(angle), sin(angle)])
        across = np.array([-along[1], along[0]])
        nodes, references = [], []
        for s in np.linspace(0.0, beam.length, elements + 1):
            reference = np.concatenate([start + s * along, along])
            speed = np.concatenate([velocity + s * rate * across, rate * across])
            references.append(reference)
            node = self.items.NodePoint2DSlope1(referenceCoordinates=list(reference), initialVelocities=list(speed))
            nodes.append(self.system.AddNode(node))
        for left, right in pairwise(nodes):
            body = self.system.AddObject(
                self.items.ObjectANCFCable2D(
                    length=beam.length / elements,
                    massPerLength=beam.mass,
                    bendingStiffness=beam.bending,
                    axialStiffness=beam.axial,
                    nodeNumbers=[left, right],
                    useReducedOrderIntegration=0,
                )
            )
            if gravity:
                marker = self.system.AddMarker(self.items.MarkerBodyMass(bodyNumber=body))
                self.system.AddLoad(self.items.LoadMassProportional(markerNumber=marker, loadVector=[0, -gravity, 0]))
        self.links.append(nodes)
        self.beams.append(beam)
        self.reference.append(np.array(references))

    def coordinate(self, node: Any, index: int) -> Any:
        """A marker on one coordinate of a node."""
        return self.system.AddMarker(self.items.MarkerNodeCoordinate(nodeNumber=node, coordinate=index))

    def tie(self, node: Any, other: Any | None = None) -> None:
        """Keep a node at its place, or at another node that starts at the same one."""
        for axis in (0, 1):
            partner = self.coordinate(self.ground, 0) if other is None else self.coordinate(other, axis)
            self.system.AddObject(self.items.ObjectConnectorCoordinate(markerNumbers=[partner, self.coordinate(node, axis)]))

    def clamp_to_hub(self, node: Any, motion: SpinUp) -> None:
        """Clamp a node at the origin to a hub whose angle is prescribed; the length of the node's slope stays free."""
        add, items = self.system, self.items
        hub = add.AddNode(items.NodeRigidBody2D(referenceCoordinates=[0, 0, 0]))
        body = add.AddObject(items.ObjectRigidBody2D(mass=1.0, inertia=1.0, nodeNumber=hub))
        self.tie(hub)
        add.AddObject(
            items.ObjectConnectorCoordinate(
                markerNumbers=[self.coordinate(self.ground, 0), self.coordinate(hub, 2)],
                offsetUserFunction=lambda mbs, t, item, offset: motion.angle(t),
                offsetUserFunction_t=lambda mbs, t, item, offset: motion.rate(t),
            )
        )
        markers = [add.AddMarker(items.MarkerNodeRigid(nodeNumber=node)), add.AddMarker(items.MarkerBodyRigid(bodyNumber=body))]
        add.AddObject(items.ObjectJointGeneric(markerNumbers=markers, constrainedAxes=[1, 1, 0, 0, 0, 1]))

    def assemble(self) -> None:
        """Sensors on every node, then the system's assembly."""
        kinds = self.exu.OutputVariableType
        for nodes in self.links:
            pairs = []
            for node in nodes:
                both = [
                    self.items.SensorNode(nodeNumber=node, storeInternal=True, writeToFile=False, outputVariableType=kind)
                    for kind in (kinds.Coordinates, kinds.Coordinates_t)
                ]
                pairs.append((self.system.AddSensor(both[0]), self.system.AddSensor(both[1])))
            self.sensors.append(pairs)
        self.system.Assemble()

    def simulate(
        self, duration: float, steps: int, sample: float, tolerance: float, radius: float | None = None
    ) -> tuple[Array, list[Array], list[Array], float]:
        """Times, then each link's nodal coordinates and rates (instant × node × 4), and the seconds it took.

        `radius` is the spectral radius of generalised alpha with position constraints; None is the trapezoidal rule with velocity ones.

        Fixed steps: with adaptive ones a Newton iteration that stalls at round-off shortens the step and shifts the samples. `tolerance`
        (N) is the residual at which the iteration stops and has to stay above the round-off of the axial forces.
        """
        settings = self.exu.SimulationSettings()
        steering = settings.timeIntegration
        steering.endTime, steering.numberOfSteps = duration, steps
        steering.adaptiveStep = False
        steering.verboseMode = 0
        steering.newton.useModifiedNewton = True
        steering.newton.relativeTolerance = 1e-8
        steering.newton.absoluteTolerance = tolerance
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)  # newer names: solution.file.write, solution.sensors.writePeriod
            settings.solutionSettings.writeSolutionToFile = False
            settings.solutionSettings.sensorsWritePeriod = sample
            settings.linearSolverType = self.exu.LinearSolverType.EigenSparse
        begin = time.perf_counter()
        solvers = self.exu.DynamicSolverType
        if radius is not None:
            steering.generalizedAlpha.spectralRadius = radius
        self.system.SolveDynamic(settings, solverType=solvers.TrapezoidalIndex2 if radius is None else solvers.GeneralizedAlpha)
        seconds = time.perf_counter() - begin
        read = self.system.GetSensorStoredData
        times = np.array(read(self.sensors[0][0][0]))[:, 0]
        count = round(duration / sample) + 1
        if len(times) != count or np.abs(times - sample * np.arange(count)).max() > 1e-9:
            raise RuntimeError("exudyn's samples are not at the instants asked for")
        moved, rates = ([np.stack([np.array(read(pair[k]))[:, 1:5] for pair in pairs], axis=1) for pairs in self.sensors] for k in (0, 1))
        places = [shift + rest for shift, rest in zip(moved, self.reference, strict=True)]
        return times, places, rates, seconds


def hermite(length: float, points: int) -> tuple[Array, Array, Array, Array]:
    """Gauss weights on an element, and the cubic shape functions (value, first and second derivative) there, each points × 4."""
    x, w = np.polynomial.legendre.leggauss(points)
    s = (x + 1) / 2
    h = length
    value = np.stack([1 - 3 * s**2 + 2 * s**3, h * (s - 2 * s**2 + s**3), 3 * s**2 - 2 * s**3, h * (s**3 - s**2)], axis=1)
    first = np.stack([(6 * s**2 - 6 * s) / h, 1 - 4 * s + 3 * s**2, (6 * s - 6 * s**2) / h, 3 * s**2 - 2 * s], axis=1)
    second = np.stack([(12 * s - 6) / h**2, (6 * s - 4) / h, (6 - 12 * s) / h**2, (6 * s - 2) / h], axis=1)
    return w * h / 2, value, first, second


def energies(beam: Beam, place: Array, rate: Array, gravity: float) -> tuple[Array, Array]:
    """A link's total energy and angular momentum about the origin at each instant, with the quadrature exudyn uses (5 and 3 points)."""

    def elements(nodal: Array) -> Array:
        left, right = nodal[:, :-1], nodal[:, 1:]
        return np.stack([left[..., :2], left[..., 2:], right[..., :2], right[..., 2:]], axis=2)  # instant × element × shape × axis

    length = beam.length / (place.shape[1] - 1)
    q, v = elements(place), elements(rate)
    weight, value, first, _ = hermite(length, 5)
    r, u, slope = (np.einsum("ps,tesa->tepa", shape, nodal) for shape, nodal in ((value, q), (value, v), (first, q)))
    kinetic = 0.5 * beam.mass * np.einsum("p,tepa,tepa->t", weight, u, u)
    height = beam.mass * gravity * np.einsum("p,tep->t", weight, r[..., 1])
    stretch = 0.5 * beam.axial * np.einsum("p,tep->t", weight, (np.sqrt((slope**2).sum(-1)) - 1) ** 2)
    spin = beam.mass * np.einsum("p,tep->t", weight, r[..., 0] * u[..., 1] - r[..., 1] * u[..., 0])
    weight, _, first, second = hermite(length, 3)
    slope, bend = (np.einsum("ps,tesa->tepa", shape, q) for shape in (first, second))
    curvature = (slope[..., 0] * bend[..., 1] - slope[..., 1] * bend[..., 0]) / (slope**2).sum(-1)
    return kinetic + height + stretch + 0.5 * beam.bending * np.einsum("p,tep->t", weight, curvature**2), spin


def two_hinged_links(
    pinned: bool = True,
    elements: int = 16,
    steps_per_sample: int = 100,
    beam: Beam | None = None,
    angles: Sequence[float] = (radians(20.0), radians(-60.0)),
    rates: Sequence[float] = (6.0, -8.0),
    gravity: float = 9.81,
    duration: float = 0.5,
    sample: float = 1e-3,
) -> Run:
    """Two equal hinged links, straight at first and moving as rigid ones do; the second angle and rate are relative to the first link.

    O1 starts at the origin, pinned there or free (then with no velocity of its own). Columns: x and y of O1, of the hinge O2 and of the
    tip O3. The energy is the total one.
    """
    beam = beam or Beam()
    model = Model()
    start, velocity, angle, rate = np.zeros(2), np.zeros(2), 0.0, 0.0
    for turn, speed in zip(angles, rates, strict=True):
        angle, rate = angle + turn, rate + speed
        model.add_link(beam, elements, start, angle, velocity, rate, gravity)
        start = start + beam.length * np.array([cos(angle), sin(angle)])
        velocity = velocity + beam.length * rate * np.array([-sin(angle), cos(angle)])
    if pinned:
        model.tie(model.links[0][0])
    model.tie(model.links[1][0], model.links[0][-1])
    model.assemble()
    tolerance = 4e-14 * beam.axial * max(1.0, (elements / (8 * beam.length)) ** 2)
    times, places, speeds, seconds = model.simulate(duration, steps_per_sample * round(duration / sample), sample, tolerance)
    energy = sum((energies(beam, p, v, gravity)[0] for p, v in zip(places, speeds, strict=True)), np.zeros(len(times)))
    ends = {"O1": places[0][:, 0], "O2": places[0][:, -1], "O3": places[1][:, -1]}
    columns = {f"{name}_{axis}": end[:, k] for name, end in ends.items() for k, axis in enumerate("xy")}
    return Run(times, columns, energy, seconds)


def spin_up(
    case: SpinUp | str = "simo-vu-quoc",
    elements: int = 32,
    step: float = 1e-3,
    duration: float = 20.0,
    sample: float = 0.02,
    radius: float = 0.9,
) -> Run:
    """A cantilever brought to speed by its hub. Columns: the tip's transverse deflection and its extension along the hub's direction.

    The energy is the one of the rotating frame, E − Ω H, from the instant at which the speed is constant (nan before).
    """
    motion = SPIN_UPS[case] if isinstance(case, str) else case
    model = Model()
    model.add_link(motion.beam, elements, np.zeros(2), 0.0, np.zeros(2), 0.0, 0.0)
    model.clamp_to_hub(model.links[0][0], motion)
    model.assemble()
    tolerance = 4e-14 * motion.beam.axial * max(1.0, (elements / motion.beam.length) ** 2)
    times, (place,), (speed,), seconds = model.simulate(duration, round(duration / step), sample, tolerance, radius)
    hub = np.array([motion.angle(float(t)) for t in times])
    tip = place[:, -1]
    columns = {
        "transverse": -np.sin(hub) * tip[:, 0] + np.cos(hub) * tip[:, 1],
        "extension": np.cos(hub) * tip[:, 0] + np.sin(hub) * tip[:, 1] - motion.beam.length,
    }
    energy, spin = energies(motion.beam, place, speed, 0.0)
    return Run(times, columns, np.where(times > motion.rise - 1e-9, energy - motion.speed * spin, np.nan), seconds)


def lowest_frequency(links: int = 1, elements: int = 16, beam: Beam | None = None) -> float:
    """Lowest bending frequency (rad/s) of one free link, or of a hinged pair that is straight and free."""
    beam = beam or Beam()
    model = Model()
    for k in range(links):
        model.add_link(beam, elements, np.array([k * beam.length, 0.0]), 0.0, np.zeros(2), 0.0, 0.0)
        if k:
            model.tie(model.links[k][0], model.links[k - 1][-1])
    model.system.Assemble()
    values, _ = model.system.ComputeODE2Eigenvalues()
    rigid = 3 + (links - 1)
    return float(np.sqrt(np.sort(np.abs(np.real(values)))[rigid]))


def extrapolated(coarse: Array, fine: Array) -> Array:
    """Second-order limit of runs with a step and half of it."""
    return fine + (fine - coarse) / 3


def minimum(run: Run) -> tuple[float, float]:
    """Time and value of the smallest transverse deflection, from a parabola through three samples."""
    y = run.columns["transverse"]
    k = int(np.clip(y.argmin(), 1, len(y) - 2))
    a, b = (y[k - 1] - 2 * y[k] + y[k + 1]) / 2, (y[k + 1] - y[k - 1]) / 2
    shift = -b / (2 * a)
    return float(run.time[k] + shift * (run.time[1] - run.time[0])), float(y[k] + b * shift / 2)


def compare_links(pinned: bool, elements: int, steps: int) -> Run:
    """Converged motion of the hinged links, with a table of what mesh, step and stretch change."""
    name = "pinned" if pinned else "free"
    runs = {k: two_hinged_links(pinned, elements, k * steps) for k in (1, 2, 4)}
    mesh = two_hinged_links(pinned, elements // 2, steps)
    soft = two_hinged_links(pinned, elements // 2, steps, Beam(axial=1e8))

    def largest(difference: Array) -> str:
        return " ".join(f"{value:9.1e}" for value in np.abs(difference).reshape(len(difference), 3, 2).max(axis=(0, 2)))

    fine = runs[4]
    limit = extrapolated(runs[2].table, fine.table)
    error = np.abs(limit - extrapolated(runs[1].table, runs[2].table)) + np.abs(runs[1].table - mesh.table) / 7
    print(f"\ntwo hinged links, {name}: {elements} elements each, steps {', '.join(f'{1e-3 / (k * steps):.3g}' for k in runs)} s")
    print(f"  largest difference over 0.5 s (m)              {'O1':>9} {'O2':>9} {'O3':>9}")
    print(f"  step and half of it                            {largest(runs[1].table - runs[2].table)}")
    print(f"  half and a quarter                             {largest(runs[2].table - fine.table)}")
    print(f"  extrapolated from the two pairs                {largest(limit - extrapolated(runs[1].table, runs[2].table))}")
    print(f"  elements and half of them                      {largest(runs[1].table - mesh.table)}")
    print(f"  axial stiffness 1e9 and 1e8 N                  {largest(mesh.table - soft.table)}")
    drifts = ", ".join(f"{run.drift:.1e}" for run in runs.values())
    print(f"  energy {fine.energy[0]:.8f} J, drift {drifts} J; {', '.join(f'{run.seconds:.1f}' for run in runs.values())} s to run")
    print("  t (s)       O2 x         O2 y         O3 x         O3 y      error    " + ("" if pinned else "   O1 x         O1 y"))
    for t in (0.1, 0.2, 0.3, 0.4, 0.5):
        k = round(t / 1e-3)
        row = limit[k]
        shown = " ".join(f"{value:12.7f}" for value in row[2:])
        print(f"  {t:.1f} {shown}  {error[k].max():8.1e}" + ("" if pinned else " " + " ".join(f"{value:12.7f}" for value in row[:2])))
    return Run(fine.time, dict(zip(fine.columns, limit.T, strict=True)), fine.energy, fine.seconds)


def compare_spin(name: str, elements: int, step: float) -> Run:
    """Converged spin-up, with what mesh and step change."""
    motion = SPIN_UPS[name]
    run, half, mesh = spin_up(name, elements, step), spin_up(name, elements, step / 2), spin_up(name, elements // 2, step)
    limit = Run(half.time, dict(zip(half.columns, extrapolated(run.table, half.table).T, strict=True)), half.energy, half.seconds)
    at, least = minimum(limit)
    late = limit.time > motion.rise + 1e-9
    deflection, extension = limit.columns["transverse"][late], limit.columns["extension"][late]
    print(f"\nspin-up {name}: {elements} elements, steps {step:g} and {step / 2:g} s, {run.seconds:.1f} and {half.seconds:.1f} s to run")
    print(f"  least deflection {least:.7f} m at {at:.4f} s")
    print(f"  then {deflection.min():.3e} to {deflection.max():.3e} m")
    print(f"  mean extension then {extension.mean():.4e} m (ρAΩ²L³/3EA = {motion.stretch:.4e})")
    by_step, by_mesh = (np.abs(run.table - other.table).max() for other in (half, mesh))
    print(f"  largest change (m): half the step {by_step:.1e}, half the elements {by_mesh:.1e}")
    print(f"  drift of E − ΩH after {motion.rise:g} s: {run.drift:.1e} and {half.drift:.1e} J of {np.nanmax(np.abs(half.energy)):.6g} J")
    return limit


def modes_table() -> None:
    """Lowest frequencies against the mesh."""
    print("\nlowest bending frequency (rad/s), EI = 1000 N m², 1 kg/m, 1 m\n  elements   one free link   hinged free pair")
    for n in (4, 8, 16, 32):
        print(f"  {n:8d} {lowest_frequency(1, n):15.6f} {lowest_frequency(2, n):18.6f}")
    print("  exact         707.505408         487.566475")


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the cases, print their tables and write the files."""
    parser = argparse.ArgumentParser(description="Finite-element reference for elastic links (exudyn).")
    parser.add_argument("directory", nargs="?", type=Path, help="where to write the .csv files and flexible_exudyn.npz")
    parser.add_argument("--case", action="append", choices=("links", "spin", "modes"), help="only this case (may be repeated)")
    parser.add_argument("--quick", action="store_true", help="coarse meshes and steps")
    options = parser.parse_args(arguments)
    print(f"exudyn {load_exudyn().__version__}")
    cases = options.case or ["modes", "links", "spin"]
    results: dict[str, Run] = {}
    if "modes" in cases:
        modes_table()
    if "links" in cases:
        for pinned in (True, False):
            results["links_pinned" if pinned else "links_free"] = compare_links(pinned, *((8, 10) if options.quick else (24, 25)))
    if "spin" in cases:
        for name in SPIN_UPS:
            results[f"spin_{name}"] = compare_spin(name, *((8, 4e-3) if options.quick else (32, 2e-3)))
    if options.directory is not None and results:
        options.directory.mkdir(parents=True, exist_ok=True)
        for name, run in results.items():
            run.save_csv(options.directory / f"{name}.csv")
        arrays = {f"{name}_{key}": value for name, run in results.items() for key, value in {"t": run.time, **run.columns}.items()}
        np.savez_compressed(options.directory / "flexible_exudyn.npz", **arrays)
        print(f"\nwritten: {options.directory}")


if __name__ == "__main__":
    main()
