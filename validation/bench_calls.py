"""What the forms of a call cost beside the quickest, which is given an array to fill: a new array, an explicit gravity, a point.

    python validation/bench_calls.py [ROBOT]

ROBOT: a URDF file; without one, robots of example-robot-data. The forms of a function take turns, and the table gives the time of the form
with out=, and of each other one what it costs more, and its ratio. Kernels are those of robot.kernel, called without a function around.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Iterator
from timeit import Timer
from typing import Any

import numpy as np
import own_tree  # noqa: F401

import urdf_gibbs as ug
from urdf_gibbs.bundled import example_robots
from urdf_gibbs.engine.adaptive import STATES_BEFORE_COMPILING
from urdf_gibbs.timing import interleaved

ROBOTS = {"Panda": ("panda_description/urdf/panda.urdf", "fixed"), "Go2": ("go2_description/urdf/go2.urdf", "floating")}
REPEATS = 15
INPUTS = {
    "mass_matrix": "q",
    "bias": "q, v",
    "gravity_force": "q",
    "inverse_dynamics": "q, v, a",
    "forward_dynamics": "q, v, a",
    "kinetic_energy": "q, v",
    "potential_energy": "q",
    "centre_of_mass": "q",
    "momentum": "q, v",
    "mass_matrix_elements": "q, pairs",
    "jacobian": "q, link",
    "frame_placement": "q, link",
}
KERNELS = {"frame_placement": "placement"}  # called otherwise than their functions
OPTIONS = dict.fromkeys(
    ("bias", "gravity_force", "inverse_dynamics", "forward_dynamics", "potential_energy"),
    (
        "gravity=(0.0, 0.0, -9.81)",
        "gravity=(0, 0, -9.81)",
        "gravity=[0.0, 0.0, -9.81]",
        "gravity=earth_array",
        "gravity=(0.0, 0.0, -1.62)",
        "gravity=[0.0, 0.0, -1.62]",
        "gravity=moon_array",
    ),
)
OPTIONS |= {"mass_matrix": ("method='compiled'",), "jacobian": ("point=(0.0, 0.0, 0.0)",)}


def functions(robot: ug.Robot) -> Iterator[tuple[str, dict[str, Timer]]]:
    """Each public function that is compiled, and its forms, the quickest first."""
    rng = np.random.default_rng(0)
    words: dict[str, Any] = {"robot": robot, "q": robot.random(rng), "v": rng.normal(size=robot.nv), "a": rng.normal(size=robot.nv)}
    words |= {"link": robot.link_names[-1], "pairs": [(0, 0), (1, 0)]}
    words |= {"earth_array": np.array([0.0, 0.0, -9.81]), "moon_array": np.array([0.0, 0.0, -1.62])}
    for name, inputs in INPUTS.items():
        arrays = inputs.removesuffix(", link").removesuffix(", pairs")
        options = {"frame": words["link"]} if "link" in inputs else {"pairs": words["pairs"]} if "pairs" in inputs else {}
        kernel = robot.kernel(KERNELS.get(name, name), **options)
        out = np.empty_like(kernel(*(words[letter] for letter in arrays.split(", "))))
        names = {**words, "function": getattr(ug, name), "kernel": kernel, "out": out}
        forms = {"out=": f"function(robot, {inputs}, out=out)", "plain": f"function(robot, {inputs})"}
        forms |= {"kernel, out=": f"kernel({arrays}, out=out)", "kernel": f"kernel({arrays})"}
        forms |= {option: f"function(robot, {inputs}, {option})" for option in OPTIONS.get(name, ())}
        yield name, {form: Timer(text, globals=names) for form, text in forms.items()}


def measured(robot: ug.Robot, repeats: int = REPEATS) -> Iterator[tuple[str, dict[str, float]]]:
    """Each function and the time [s] of each of its forms: the least of some medians, since other programs can only add to it."""
    for name, forms in functions(robot):
        for form in forms.values():
            form.timeit(STATES_BEFORE_COMPILING + 1)
        times = [interleaved(forms, 3) for _ in range(repeats)]
        yield name, {form: min(one[form] for one in times) for form in forms}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("robot", nargs="?", help="a URDF file")
    chosen = parser.parse_args().robot
    files = example_robots()
    robots = (
        {chosen: (chosen, "fixed")} if chosen else {name: (files[path], base) for name, (path, base) in ROBOTS.items() if path in files}
    )
    for name, (path, base) in robots.items():
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ug.UrdfWarning)
            robot = ug.load(path, base)
        print(f"{name}, nv {robot.nv}")
        for function, times in measured(robot):
            (first, least), *others = times.items()
            print(f"  {function:<20} {first:<36} {1e6 * least:6.2f} us")
            for form, seconds in others:
                print(f"  {'':<20} {form:<36} {1e6 * (seconds - least):+6.2f} us {seconds / least:6.2f}")


if __name__ == "__main__":
    main()
