"""How plots look: light and dark colours, line styles that can be told apart in grey, axes and legends dressed in them.

Colours are given to each artist. Matplotlib's own settings belong to the whole process and stay as they are.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from urdf_gibbs.arguments import one_of
from urdf_gibbs.view.palette import PALETTE

SMALL, MEDIUM, LARGE = 8, 9, 12  # points
DASHES: tuple[Any, ...] = ("-", (0, (5, 1.5)), (0, (1.2, 1.2)), (0, (6, 1.5, 1.2, 1.5)))
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "<", ">", "p", "h")
LONGEST = 28  # characters of a name in a legend


@dataclass(frozen=True)
class Theme:
    """``lines`` are seven colours: with four dashes, which have no common factor with seven, they make 28 different lines."""

    background: str
    text: str
    faint: str  # lines at the times of impacts, grids
    solid: str  # what lies behind a wall
    wall: str
    struck: str  # points at an impact: none of the colours of lines
    lines: tuple[str, ...]

    def colour(self, number: int) -> str:
        return self.lines[number % len(self.lines)]

    def line(self, number: int) -> dict[str, Any]:
        """Colour and dashes of the line with this number."""
        return {"color": self.colour(number), "ls": DASHES[number % len(DASHES)]}


# Yellow is lost on white, black on black.
THEMES = {
    "light": Theme("#FFFFFF", "#1A1A1A", "#B8B8B8", "#ECECEC", "#4D4D4D", "#B00020", (*PALETTE[:6], PALETTE[7])),
    "dark": Theme(
        "#16181D", "#E8E8E8", "#565B66", "#2A2E37", "#B4B8C0", "#FFE14D", ("#4FA3DC", "#F2803A", "#2CC196", *PALETTE[3:6], "#FFFFFF")
    ),
}


def theme_named(name: str) -> Theme:
    return THEMES[one_of(name, tuple(THEMES), "theme")]


def shown(name: str, longest: int = LONGEST) -> str:
    """A name as Matplotlib shows it unchanged: no formulas between dollars, no hiding behind an underscore, not too long."""
    if len(name) > longest:
        keep = longest - 1
        name = f"{name[: (keep + 1) // 2]}…{name[len(name) - keep // 2 :]}"
    name = name.replace("$", r"\$")
    return f" {name}" if name.startswith("_") else name


def listed(names: Sequence[str], longest: int) -> str:
    """Names in one line of at most about ``longest`` characters."""
    text = ", ".join(names)
    if len(text) <= longest:
        return shown(text, longest)
    first = shown(names[0], max(longest - 12, 8))
    return f"{first}, ... ({len(names)})" if len(names) > 1 else first


def dress(axes: Any, theme: Theme) -> None:
    """Axes in the colours of the theme."""
    axes.set_facecolor(theme.background)
    for spine in axes.spines.values():
        spine.set_color(theme.faint)
    axes.tick_params(colors=theme.text, labelsize=SMALL, which="both")
    names = ["x", "y", *(["z"] if hasattr(axes, "zaxis") else [])]
    for name in names:
        axis = getattr(axes, f"{name}axis")
        axis.label.set_color(theme.text)
        axis.label.set_fontsize(MEDIUM)
        axis.get_offset_text().set(color=theme.text, fontsize=SMALL)
        if len(names) == 3:
            axis.set_pane_color(theme.background)
            axis.line.set_color(theme.faint)
            axis._axinfo["grid"] |= {"color": theme.faint, "linewidth": 0.4}  # there is no other way for one axis
    axes.title.set(color=theme.text, fontsize=MEDIUM)
    if len(names) == 2:
        axes.grid(True, color=theme.faint, alpha=0.35, lw=0.5)
        axes.set_axisbelow(True)


def legend(owner: Any, handles: Sequence[Any], labels: Sequence[str], theme: Theme, **where: Any) -> Any:
    """A legend of axes, to the right of them, or of a (sub)figure, at its right edge."""
    if "loc" not in where:
        where = {"loc": "upper left", "bbox_to_anchor": (1.02, 1.0), "borderaxespad": 0.0, **where}
    options = {"fontsize": SMALL, "frameon": False, "labelcolor": theme.text, "handlelength": 3.2}
    box = owner.legend(list(handles), list(labels), **{**options, **where})
    if box.get_title() is not None:
        box.get_title().set(color=theme.text, fontsize=SMALL)
    return box
