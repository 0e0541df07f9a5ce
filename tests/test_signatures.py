"""The signatures of what is public: no options without names, and the same options where two callables take the same."""

from __future__ import annotations

import inspect

import urdf_gibbs as ug


def test_simulate_and_simulator_take_the_same_options() -> None:
    options = dict(inspect.signature(ug.simulate).parameters)
    for name in ("robot", "q0", "v0", "duration", "progress"):
        del options[name]
    own = dict(inspect.signature(ug.Simulator).parameters)
    del own["robot"]
    assert {name: (one.default, one.annotation) for name, one in options.items()} == {
        name: (one.default, one.annotation) for name, one in own.items()
    }
