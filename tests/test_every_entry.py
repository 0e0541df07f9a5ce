"""Machine code writes every entry of its results, zeros included, whatever was in the memory before."""

from __future__ import annotations

from typing import Any, get_args

import numpy as np
import pytest
from urdf_text import inertial, joint, link, robot

import urdf_gibbs as ug
from urdf_gibbs.names import KernelName

BODY = inertial(1.0, moments=(0.1, 0.2, 0.3))  # centred on the joint and aligned with it: most of M and of its inverse is zero
ROTORS = robot(
    link("base", BODY), *(link(f"r{i}", BODY) + joint(f"j{i}", "continuous", "base", f"r{i}", xyz=(x, 0, 0)) for i, x in enumerate((1, -1)))
)
GANTRY = robot(
    link("w", ""),
    *(link(f"a{i}", BODY) for i in range(3)),
    *(joint(f"j{i}", "prismatic", "w" if i == 0 else f"a{i - 1}", f"a{i}", axis=np.eye(3)[i]) for i in range(3)),
)
ARMS = robot(link("w", ""), *(link(f"a{i}", BODY) + joint(f"j{i}", "continuous", "w", f"a{i}", axis=(1, 0, 0)) for i in range(5)))
ROWS = 9  # two blocks of four lanes, and a rest
OF_FRAMES = ("jacobian", "placement", "jacobian_rate", "jacobian_derivatives")
NAMES = [name for name in get_args(KernelName) if name != "mass_matrix_elements"]  # which are chosen one by one


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(("text", "base"), [(ROTORS, "floating"), (ROTORS, "planar"), (GANTRY, "fixed"), (ARMS, "fixed")])
def test_no_entry_keeps_what_was_there(text: str, base: Any, name: Any) -> None:
    machine = ug.load(text, base)
    kernel: Any = machine.kernel(name, frame=machine.link_names[-1]) if name in OF_FRAMES else machine.kernel(name)
    widths = kernel.__self__.fallback.__self__.widths
    rng = np.random.default_rng(0)
    inputs = [machine.random(rng, ROWS), *rng.normal(size=(len(widths) - 1, ROWS, machine.nv))]
    for given in ([x[0] for x in inputs], inputs):
        results = []
        for before in (np.nan, 1e300):
            out = np.full(kernel(*given).shape, before)
            kernel(*given, out=out)
            results.append(out)
        assert np.isfinite(results[0]).all() and np.array_equal(*results)
