"""Figures of Matplotlib and their files: made without pyplot, in the colours of a theme, written whole or not at all."""

from __future__ import annotations

import io
import os
import textwrap
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from numpy.typing import NDArray

from urdf_gibbs.arguments import path_of
from urdf_gibbs.errors import ArgumentError
from urdf_gibbs.view.themes import LARGE, Theme

SUFFIXES = (".png", ".svg", ".pdf")
DPI, SHOWN_DPI = 150, 80  # of files, and in a notebook
WIDE, NARROW = 13.0, 9.5  # inches
MANY_MARKS = 200  # lines at the times of impacts; more would be a grey area
PANEL, CHARACTERS = 2.3, 10  # inches of a panel's height; characters of the title in an inch


def checked_path(path: str | os.PathLike[str] | None) -> Path | None:
    """The path, None: no file; ArgumentError where its suffix is none of SUFFIXES."""
    if path is None:
        return None
    path = Path(path_of(path, "path"))
    if path.suffix.lower() not in SUFFIXES:
        raise ArgumentError(f"{str(path)!r} has the suffix {path.suffix!r}, expected one of {', '.join(SUFFIXES)}")
    return path


def mark_impacts(axes: Any, times: NDArray[np.float64], theme: Theme) -> None:
    """Lines at the times of impacts, unless they are too many."""
    if 0 < len(times) <= MANY_MARKS:
        axes.vlines(times, 0.0, 1.0, transform=axes.get_xaxis_transform(), colors=theme.faint, lw=0.7, zorder=0.8, gid="impacts")


def wrapped_title(text: str, width: float) -> str:
    """A title in lines that fit into so many inches."""
    return "\n".join(textwrap.wrap(text, int(CHARACTERS * width), max_lines=3, placeholder=" ..."))


class Picture(Figure):
    """A figure that a notebook shows as it is: without pyplot, which nobody has loaded, it would print the type alone."""

    def _repr_png_(self) -> bytes:
        data = io.BytesIO()
        self.savefig(data, format="png", dpi=SHOWN_DPI, facecolor=self.get_facecolor())
        return data.getvalue()


def new_figure(width: float, height: float, title: str, theme: Theme) -> Figure:
    """An empty figure of so many inches under its title."""
    figure = Picture(figsize=(width, height), layout="constrained", facecolor=theme.background)
    FigureCanvasAgg(figure)
    figure.suptitle(title, fontsize=LARGE, color=theme.text)
    return figure


def written(figure: Figure, target: Path | None) -> Figure:
    """The figure, also written to the file where there is one."""
    if target is not None:
        data = io.BytesIO()  # a file is there whole or not at all
        figure.savefig(data, format=target.suffix[1:].lower(), dpi=DPI, facecolor=figure.get_facecolor())
        target.write_bytes(data.getvalue())
    return figure
