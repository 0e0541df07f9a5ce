"""Structs: numbers by name, the same in Python and in compiled code."""

from __future__ import annotations

import numpy as np
import pytest
from model_data import START

import urdf_gibbs as ug
from urdf_gibbs.engine.struct import Float, Float2, Int, Int1, Struct, struct
from urdf_gibbs.simulation.layout import FINISHED


@struct
class Sample(Struct):
    parent: Int1
    depth: Int
    time: Float
    axis: Float2


def test_numbers_are_fields_of_their_own() -> None:
    made = Sample(parent=np.arange(3), axis=np.eye(2), time=-0.5)
    assert (made.depth, made.time) == (0, -0.5) and isinstance(made.depth, int) and isinstance(made.time, float)
    made.depth, made.time = -7, np.inf
    assert (made.depth, made.time) == (-7, np.inf)
    np.testing.assert_array_equal(made.parent, [0, 1, 2])
    other = made.replaced(depth=3)
    assert (other.depth, other.time, made.depth) == (3, np.inf, -7)


def test_numbers_are_put_back_and_arrays_stay() -> None:
    made = Sample(parent=np.arange(3), axis=np.eye(2), depth=4, time=1.5)
    before = made.numbers()
    made.depth, made.time, made.parent[0] = 5, 2.5, 9
    made.restore(before)
    assert (made.depth, made.time, made.parent[0]) == (4, 1.5, 9)


def test_a_field_that_is_missing_or_unknown_is_refused() -> None:
    with pytest.raises(TypeError, match="Sample has the fields parent, depth, time, axis"):
        Sample(parent=np.arange(3))
    with pytest.raises(TypeError, match="Sample has the fields"):
        Sample(parent=np.arange(3), axis=np.eye(2), length=1)


def test_compiled_code_reads_and_writes_the_numbers() -> None:
    simulator = ug.Simulator(ug.load(ug.model_path("branched12")), gravity=(0.0, -9.81, 0.0))
    program = simulator._program
    program.reset()
    program.state.y[:] = [*START, *np.zeros(12)]
    program.state.end = 0.125
    assert program.advance(1000) == FINISHED
    assert program.state.time == 0.125
    assert program.record.rows == program.state.accepted + 1 > 1
    assert program.record.t[program.record.rows - 1] == 0.125
    # at least eleven evaluations in each step
    assert program.system.evaluations >= 11 * program.state.accepted
