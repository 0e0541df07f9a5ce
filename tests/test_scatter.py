"""The end of the code for batches: rows from lanes, with runs of zeros anywhere."""

from __future__ import annotations

import ctypes

import numpy as np
import pytest

from urdf_gibbs.engine.emit import LANES, Program, batch_ir
from urdf_gibbs.engine.graph import Graph
from urdf_gibbs.engine.objects import load_code
from urdf_gibbs.engine.scatter import run_lengths

PATTERNS = {  # 0: always zero, 1: a constant, x: a value
    "nothing": "000",
    "only zeros": "00000000",
    "values": "xxxxxxxxxx",
    "zeros first": "00000000xxxx",
    "zeros last": "xxxx000000000",
    "zeros between": "xxx0000000000000xx1x00x0000000001",
    "a constant in every block": "1000000010000000",
}


@pytest.mark.parametrize("pattern", PATTERNS.values(), ids=PATTERNS.keys())
@pytest.mark.parametrize(("rows", "gap"), [(4, 0), (7, 0), (9, 3)])
def test_rows_have_their_outputs_in_order(pattern: str, rows: int, gap: int) -> None:
    graph = Graph()
    inputs = [graph.input("q", i) for i in range(len(pattern))]
    outputs = [0.0 if sign == "0" else 1.0 if sign == "1" else 2.0 * x for sign, x in zip(pattern, inputs, strict=True)]
    stride = len(pattern) + gap
    code = load_code(batch_ir(Program((("q", len(pattern)),), outputs), stride))
    batch = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int64)(code.address("batch"))
    q = np.random.default_rng(0).normal(size=(rows, len(pattern)))
    out = np.full((rows, stride), np.nan)
    assert batch(q.ctypes.data, out.ctypes.data, rows) == 0
    signs = np.array(list(pattern))
    np.testing.assert_array_equal(out[:, : len(pattern)], np.where(signs == "0", 0.0, np.where(signs == "1", 1.0, 2.0 * q)))
    assert np.isnan(out[:, len(pattern) :]).all()


def test_runs_are_counted_in_blocks() -> None:
    zero = [sign == "0" for sign in "0000x00000000000xxxxxx0000"]
    assert run_lengths(zero, LANES) == [(0, 1), (1, 2), (2, 0)]
