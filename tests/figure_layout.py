"""Whether all of a figure can be read: no text beyond its edges, no legend over axes or another legend."""

from __future__ import annotations

from typing import Any

from matplotlib.figure import Figure
from matplotlib.text import Text


def texts(made: Figure) -> list[Any]:
    """All texts that are drawn: Matplotlib keeps labels of ticks beyond the limits, too."""
    ticks = set()
    for axes in made.axes:
        for axis in (axes.xaxis, axes.yaxis, *([axes.zaxis] if hasattr(axes, "zaxis") else [])):
            low, high = sorted(axis.get_view_interval())
            for tick in [*axis.get_major_ticks(), *axis.get_minor_ticks()]:
                if not low <= tick.get_loc() <= high:
                    ticks |= {tick.label1, tick.label2}
    return [text for text in made.findobj(Text) if text.get_visible() and text.get_text().strip() and text not in ticks]


def check_layout(made: Figure) -> None:
    """Fails where text is cut or a legend lies over axes; the figure has been drawn."""
    canvas: Any = made.canvas
    renderer = canvas.get_renderer()
    for text in texts(made):
        box = text.get_window_extent(renderer)
        assert box.x0 > -1 and box.y0 > -1 and box.x1 < made.bbox.x1 + 1 and box.y1 < made.bbox.y1 + 1, text.get_text()
    legends = [axes.get_legend() for axes in made.axes if axes.get_legend()] + [one for sub in made.subfigs for one in sub.legends]
    assert legends
    for one in legends:
        box = one.get_window_extent(renderer)
        for axes in made.axes:
            assert not overlap(box, axes.get_window_extent(renderer)), (axes.get_title(), axes.get_title(loc="left"))
        assert not any(overlap(box, other.get_window_extent(renderer)) for other in legends if other is not one)


def overlap(a: Any, b: Any) -> bool:
    return bool(min(a.x1, b.x1) - max(a.x0, b.x0) > 1.0 and min(a.y1, b.y1) - max(a.y0, b.y0) > 1.0)
