"""Actions on an open page that several tests of pages share."""

from __future__ import annotations

from typing import Any

import numpy as np
from conftest import Opened

STAGE = 920  # columns of the picture that show the scene; the panel is beside it


def on_screen(tab: Opened, point: Any) -> tuple[int, int]:
    """Column and row of the pixel that shows a point of the world."""
    x, y = tab.run("(p) => urdfGibbs.stage.onScreen(p)", [float(c) for c in point])
    return round(x), round(y)


def changed(before: Any, after: Any) -> Any:
    """Where two pictures differ visibly."""
    return np.abs(before - after).max(axis=2) > 8


def set_slider(tab: Opened, joint: str, value: float) -> None:
    """As a person does: the range's value and its input event."""
    script = "([joint, value]) => { const s = document.querySelector(`input[data-joint='${joint}']`); s.value = value; s.dispatchEvent(new Event('input')); }"
    tab.run(script, [joint, value])
