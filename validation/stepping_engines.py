"""One engine that steps through the scenes of bench_stepping.py, in a process of its own: python stepping_engines.py NAME.

It reads lines of JSON. A scene is plain data, so that the Python of an engine needs NumPy and the engine, nothing else. For each scene an
engine steps once to warm up; then each line "run" is answered by a measured run. Only calls of the engine and of the controller are timed,
in seconds of CPU, in which other work on the machine does not count. At SAMPLES times of the run contacts are examined: with n the normal,
f the force on one body and u its velocity relative to the other where they touch, after the step, all in the world.
"""

from __future__ import annotations

import json
import os
import sys
from typing import Any

from engines.own import Own
from engines.with_drake import Drake
from engines.with_mujoco import Mujoco
from engines.with_siconos import Siconos

STANDARD = {
    "urdf_gibbs": "pip install urdf-gibbs",
    "MuJoCo": "pip install mujoco",
    "Drake": "pip install drake",
    "Siconos": "apt install python3-siconos, or conda install siconos",
}
ENGINES = {"urdf_gibbs": Own, "MuJoCo": Mujoco, "Drake": Drake, "Siconos": Siconos}


def main() -> None:
    """Scenes as {"scene": ...}, runs as {"run": name of a scene}; each is answered by one line."""
    kind, engines = ENGINES[sys.argv[1]], {}
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # engines that print
    for line in sys.stdin:
        asked = json.loads(line)
        try:
            if "scene" in asked:
                engines[asked["scene"]["name"]] = kind(asked["scene"])
                answer: dict[str, Any] = {"ready": True}
            else:
                answer = engines[asked["run"]].run()
        except ImportError as problem:
            answer = {"absent": str(problem)}
        except Exception as problem:
            answer = {"failed": f"{type(problem).__name__}: {problem}"}
        print(json.dumps(answer, default=float), file=answers, flush=True)


if __name__ == "__main__":
    main()
