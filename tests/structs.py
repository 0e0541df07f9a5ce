"""Structs for compiled functions that look at a few fields only."""

from __future__ import annotations

from typing import Any

import numpy as np

from urdf_gibbs.engine.struct import Field, Struct


def empty(kind: type[Struct], **given: Any) -> Any:
    """A Struct with the given fields and nothing in the others."""
    fields = {}
    for name, field in kind._fields.items():
        if name in given:
            fields[name] = given[name]
        else:
            fields[name] = np.zeros((0,) * field.ndim, field.dtype) if isinstance(field, Field) else empty(field)
    return kind(**fields)
