"""What identification found: base parameters with their standard deviations, and forces measured against those predicted."""

from __future__ import annotations

import os
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from numpy.typing import ArrayLike, NDArray

from urdf_gibbs.arguments import shown as shown_value
from urdf_gibbs.arguments import wide
from urdf_gibbs.errors import ArgumentError
from urdf_gibbs.identification.result import Identification, shortened
from urdf_gibbs.view.figures import WIDE, checked_path, new_figure, wrapped_title, written
from urdf_gibbs.view.themes import MEDIUM, SMALL, Theme, dress, legend, shown, theme_named

Array = NDArray[np.float64]

LINE = 0.17  # inches of a parameter's line
LOW, HIGH = 4.5, 60.0  # inches
DECADES = 30.0  # between the largest change and the middle one, above which the scale is logarithmic
MANY_JOINTS = 12  # whose forces are drawn
MANY_DOTS = 2000  # of one joint
WORDS = ("known", "weak", "free")
LOOKS = {"known": ("o", 0), "weak": ("s", 1), "free": ("x", 3)}  # marker and number of the colour


def plot_identification(found: Identification, path: str | os.PathLike[str] | None, theme: str, measured: Any) -> Figure:
    """Parameters on the left, forces on the right; also written to ``path``. measured: (Q, V, A, tau) or None."""
    look, target = theme_named(theme), checked_path(path)
    forces = None if measured is None else _forces(found, measured)
    counted = ", ".join(f"{found.told.count(word)} {word}" for word in WORDS)
    title = f"{shown(found.base.robot.name or 'robot', 60)}: {len(found.base)} base parameters from {found.states} states, {counted}"
    figure = new_figure(WIDE, float(np.clip(1.4 + LINE * len(found.base), LOW, HIGH)), wrapped_title(title, WIDE), look)
    left, right = figure.subplots(1, 2, width_ratios=(5, 4))
    for axes in (left, right):
        dress(axes, look)
    _draw_parameters(left, found, look)
    if forces is None:
        _draw_rests(right, found, look)
    else:
        _draw_forces(right, found, *forces, look)
    return written(figure, target)


def _draw_parameters(axes: Any, found: Identification, theme: Theme) -> None:
    """Each estimate less the prior, in natural sizes, with its standard deviation; what the data leave open is at the prior."""
    sizes, count = found.natural_sizes, len(found.base)
    prior = found.base.K @ found.prior.ravel()
    change = (found.values - prior) / sizes
    deviation = np.where(np.isfinite(found.deviations), found.deviations, 0.0) / sizes
    rows = np.arange(count)
    axes.set_title("estimate less prior, with its standard deviation", fontsize=MEDIUM, color=theme.text, loc="left")
    axes.set_xlabel("in natural sizes of the parameter", fontsize=MEDIUM)
    axes.axvline(0.0, color=theme.faint, lw=1.0, gid="prior")
    told = np.array(found.told)
    made, labels = [], []
    for word in WORDS:
        own = told == word
        if own.any():
            marker, colour = LOOKS[word]
            style = {"color": theme.colour(colour), "marker": marker, "ms": 4, "ls": "none", "elinewidth": 1.0, "capsize": 2.0}
            made.append(axes.errorbar(change[own], rows[own], xerr=deviation[own], gid=f"parameters {word}", **style))
            labels.append(word)
    axes.set_yticks(rows, [shown(shortened(name), 40) for name in found.names], fontsize=SMALL)
    axes.set_ylim(count - 0.4, -0.6)
    seen = np.maximum(np.abs(change), deviation)
    middle = float(np.median(seen))
    if 0.0 < DECADES * middle < float(seen.max()):
        axes.set_xscale("symlog", linthresh=middle)
        axes.xaxis.get_major_locator().numticks = 5
        axes.tick_params(axis="x", labelrotation=30)
    legend(axes, made, labels, theme, loc="lower right", bbox_to_anchor=(1.0, 1.0), borderaxespad=0.1, ncols=3, handlelength=1.0)


def _draw_rests(axes: Any, found: Identification, theme: Theme) -> None:
    """Root mean squares of measured forces and of what the estimate leaves of them."""
    names, rows = found.base.robot.velocity_names, np.arange(len(found.force_rms))
    axes.set_title("root mean squares of forces", fontsize=MEDIUM, color=theme.text, loc="left")
    axes.set_xlabel("[N m, N]", fontsize=MEDIUM)
    made = [
        axes.barh(rows + shift, np.maximum(values, 1e-300), height=0.36, color=theme.colour(k), gid=name)
        for k, (name, values, shift) in enumerate((("measured", found.force_rms, -0.2), ("unexplained", found.residual_rms, 0.2)))
    ]
    positive = found.residual_rms[found.residual_rms > 0.0]
    axes.set_xscale("log")
    least = float(positive.min()) if positive.size else 1e-3 * float(found.force_rms.max(initial=1.0))
    axes.set_xlim(0.3 * least, 3.0 * max(float(found.force_rms.max(initial=0.0)), least))
    axes.set_yticks(rows, [shown(name) for name in names], fontsize=SMALL)
    axes.set_ylim(len(rows) - 0.4, -0.6)
    legend(axes, made, ["measured", "unexplained"], theme)


def _draw_forces(axes: Any, found: Identification, predicted: Array, tau: Array, theme: Theme) -> None:
    """A dot for each state and velocity: measured over predicted, both in root mean squares of the measured force."""
    axes.set_title("measured against predicted forces", fontsize=MEDIUM, color=theme.text, loc="left")
    axes.set_xlabel("predicted / rms of measured", fontsize=MEDIUM)
    axes.set_ylabel("measured / rms of measured", fontsize=MEDIUM)
    size = np.sqrt(np.mean(tau**2, axis=0))
    size[size == 0.0] = 1.0
    chosen = np.linspace(0, len(tau) - 1, min(len(tau), MANY_DOTS)).round().astype(np.intp)
    names = found.base.robot.velocity_names[:MANY_JOINTS]
    made, labels = [], []
    for k, name in enumerate(names):
        x, y = predicted[chosen, k] / size[k], tau[chosen, k] / size[k]
        marker = {"marker": "." if k < len(theme.lines) else "x", "ms": 2.5, "ls": "none"}
        made += axes.plot(x, y, color=theme.colour(k), rasterized=True, gid=f"forces {name}", **marker)
        rest = float(np.sqrt(np.mean((tau[:, k] - predicted[:, k]) ** 2)) / size[k])
        labels.append(f"{shown(name)}: {100.0 * rest:.2g} %")
    ends = axes.get_xlim()
    axes.plot(ends, ends, color=theme.text, lw=0.8, zorder=3.0, gid="equal")
    box = legend(axes, made, labels, theme, title="rms of the difference", handlelength=1.0, markerscale=2.5)
    box.get_title().set_fontsize(SMALL)


def _forces(found: Identification, measured: Any) -> tuple[Array, Array]:
    """Predicted and measured forces (n, nv)."""
    if not isinstance(measured, tuple | list) or len(measured) != 4:
        raise ArgumentError(f"measured={shown_value(measured)}, expected (Q, V, A, tau), each with a row for each state")
    Q, V, A, given = measured
    predicted = found.predict(Q, V, A)
    tau: ArrayLike = wide(given, found.base.robot.nv, "measured tau")
    tau = np.asarray(tau)
    if tau.ndim != 2 or tau.shape != predicted.shape or not np.isfinite(tau).all() or not len(tau):
        raise ArgumentError(
            f"measured has forces of shape {tau.shape} for states of shape {predicted.shape}, expected finite (n, nv) of both"
        )
    return predicted, tau
