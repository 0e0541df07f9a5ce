"""The drawings of the pages: python docs/figures.py writes docs/pages/figures/*.svg, and two runs as *.png."""

# ruff: noqa: RUF005 - what is added to lists here are arrays

from __future__ import annotations

from pathlib import Path
from typing import Any

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np

import urdf_gibbs as ug

FOLDER = Path(__file__).parent / "pages" / "figures"
LINK, REAL, VIRTUAL, FRAME, VECTOR, WALL = "#37474f", "#1f77b4", "#9e9e9e", "#c62828", "#2e7d32", "#6d4c41"


def figure(width: float, height: float, x: tuple[float, float], y: tuple[float, float]) -> tuple[Any, Any]:
    fig, axes = plt.subplots(figsize=(width, height))
    axes.set(xlim=x, ylim=y, aspect="equal")
    axes.axis("off")
    fig.subplots_adjust(0, 0, 1, 1)
    return fig, axes


def arrow(axes: Any, start: Any, end: Any, label: str = "", colour: str = VECTOR, shift: Any = (0.0, 0.0), **style: Any) -> None:
    start, end = np.asarray(start, float), np.asarray(end, float)
    axes.annotate("", end, start, arrowprops={"arrowstyle": "-|>", "color": colour, "lw": 1.6, "shrinkA": 0, "shrinkB": 0, **style})
    if label:
        text(axes, (start + end) / 2 + shift, label, colour)


def text(axes: Any, place: Any, label: str, colour: str = "black", size: float = 12) -> None:
    axes.text(*place, label, color=colour, fontsize=size, ha="center", va="center")


def frame(axes: Any, place: Any, angle: float, names: tuple[str, str], size: float = 0.5, colour: str = FRAME) -> None:
    """Two axes of a frame; the third comes out of the paper."""
    for turn, name in zip((0.0, 90.0), names, strict=True):
        way = np.array([np.cos(np.radians(angle + turn)), np.sin(np.radians(angle + turn))])
        arrow(axes, place, place + size * way, colour=colour)
        text(axes, place + (size + 0.17) * way, name, colour)


def link(axes: Any, one: Any, other: Any, colour: str = LINK, **style: Any) -> None:
    axes.plot(*np.transpose([one, other]), color=colour, **{"lw": 7, "alpha": 0.35, "solid_capstyle": "round", **style})


def joint(axes: Any, place: Any, label: str = "", shift: Any = (0.0, -0.25)) -> None:
    axes.plot(*place, "o", ms=9, mfc="white", mec=LINK, mew=1.6, zorder=5)
    if label:
        text(axes, np.asarray(place) + shift, label)


def save(fig: Any, name: str) -> None:
    fig.savefig(FOLDER / f"{name}.svg", metadata={"Date": None})
    plt.close(fig)


def branches() -> None:
    """S18's robot: each branch from O1 to a leaf, what an earlier branch carries dashed."""
    parent = {2: 1, 3: 2, 4: 3, 5: 2, 6: 5, 7: 6, 8: 5, 9: 5, 10: 9}
    degrees = {1: 30, 2: 60, 3: -60, 4: -30, 5: 90, 6: -30, 7: 30, 8: 90, 9: 210, 10: 150}  # drawn, in the paper
    begin, end = {1: np.zeros(2)}, {}
    for i in range(1, 11):
        if i > 1:
            begin[i] = end[parent[i]]
        end[i] = begin[i] + [np.cos(np.radians(degrees[i])), np.sin(np.radians(degrees[i]))]
    chains = [(1, 2, 3, 4), (1, 2, 5, 6, 7), (1, 2, 5, 8), (1, 2, 5, 9, 10)]
    fig, axes = figure(9.6, 2.9, (-0.7, 14.6), (-0.55, 4.1))
    seen: set[int] = set()
    for m, chain in enumerate(chains):
        shift = np.array([3.9 * m, 0.0])
        for i in chain:
            virtual = i in seen
            style = {"linestyle": (0, (1.2, 1.6)), "dash_capstyle": "butt"} if virtual else {}
            link(axes, begin[i] + shift, end[i] + shift, VIRTUAL if virtual else REAL, lw=4, alpha=1.0, **style)
            side = np.array([-np.sin(np.radians(degrees[i])), np.cos(np.radians(degrees[i]))]) * (-1 if i == 5 and m == 3 else 1)
            text(axes, (begin[i] + end[i]) / 2 + shift + 0.24 * side, str(i), VIRTUAL if virtual else REAL, 10)
        for i in chain:
            axes.plot(*(begin[i] + shift), "o", ms=4.5, color=LINK)
        axes.plot(*(end[chain[-1]] + shift), "o", ms=4.5, color=LINK)
        text(axes, shift + [0.15, -0.32], "$O_1$", size=11)
        text(axes, shift + [1.3, 3.85], f"branch {m + 1}", size=11)
        seen |= set(chain)
    save(fig, "branches")


def frames() -> None:
    """Two links of a branch: frames at their beginnings and ends, E, A, and an element Q."""
    fig, axes = figure(7.6, 3.6, (-0.4, 7.2), (-0.9, 2.7))
    a, b, c = np.array([1.5, 0.2]), np.array([4.0, 0.55]), np.array([6.2, 2.0])
    angle, other = np.degrees(np.arctan2(*(b - a)[::-1])), np.degrees(np.arctan2(*(c - b)[::-1]))
    link(axes, a, b)
    link(axes, b, c)
    frame(axes, np.array([0.1, -0.5]), 0.0, ("$X_1$", "$X_2$"), colour="black")
    text(axes, (0.05, -0.75), "ref")
    frame(axes, a, angle, ("", "$x_{i-1,2}$"))
    frame(axes, b, angle, ("", r"$\hat{x}_{i-1,2}$"), size=0.75, colour="#ef6c00")
    text(axes, b + [1.02, 0.0], r"$\hat{x}_{i-1,1}$", "#ef6c00")
    frame(axes, b, other, ("", "$x_{i,2}$"), size=0.62)
    text(axes, b + [0.42, 0.6], "$x_{i,1}$", FRAME)
    frame(axes, c, other, (r"$\hat{x}_{i,1}$", r"$\hat{x}_{i,2}$"), colour="#ef6c00")
    joint(axes, a, "$O_{i-1}$", (-0.1, -0.33))
    joint(axes, b, "$O_i$", (0.0, -0.35))
    joint(axes, c, "$O_{i+1}$", (0.2, -0.33))
    arrow(axes, (0.1, -0.5), a, "$T_{i-1}$", shift=(0.05, 0.22), linestyle="--")
    text(axes, (a + b) / 2 + [0.0, -0.3], "$E_{i-1}$", VECTOR)
    arc = np.radians(np.linspace(angle, other, 30))
    axes.plot(b[0] + 1.2 * np.cos(arc), b[1] + 1.2 * np.sin(arc), color=VECTOR, lw=1.6)
    text(axes, b + [1.55, 0.5], "$A_i(q_i)$", VECTOR)
    q = b + 0.72 * (c - b)
    axes.plot(*q, "s", ms=7, color="black")
    text(axes, q + [0.16, -0.25], "$Q$")
    save(fig, "frames")


def explicit() -> None:
    """Joint k, joint u beyond it, a body l that both carry: axes, levers and mass centre."""
    fig, axes = figure(7.0, 3.6, (-0.6, 6.4), (-0.7, 2.9))
    k, u, inner, leaf, other = np.array([[0.8, 0.0], [2.9, 0.7], [4.4, 0.4], [5.9, 1.2], [4.0, 2.3]])
    frame(axes, np.array([-0.3, -0.45]), 0.0, ("$x$", "$y$"), colour="black", size=0.4)
    text(axes, (-0.4, -0.6), "$i$")
    for one, two in ((k, u), (u, inner), (inner, leaf), (u, other)):
        link(axes, one, two)
    centre = (inner + leaf) / 2
    arrow(axes, k, centre, "$r_{kl}$", shift=(-0.75, -0.3))
    arrow(axes, u, centre, "$r_{ul}$", shift=(0.0, 0.2))
    for place, name, shift in ((k, "k", (0.0, -0.3)), (u, "u", (0.42, -0.38))):
        arrow(axes, place, place + [-0.12, 0.9], f"$n_{name}$", FRAME, shift=(0.25, 0.3))
        joint(axes, place, f"joint ${name}$", shift)
    joint(axes, inner)
    axes.plot(*centre, "o", ms=11, mfc="white", mec="black", mew=1.5, zorder=6)
    axes.plot(*centre, "+", ms=11, color="black", zorder=7)
    text(axes, centre + [0.5, -0.25], "$m_l,\\ I_l$")
    loop = np.linspace(0.0, 2.0 * np.pi, 100)
    axes.plot(4.3 + 2.0 * np.cos(loop), 1.25 + 1.45 * np.sin(loop), "--", color=VIRTUAL, lw=1.2)
    text(axes, (5.75, 2.72), "subtree $uL$", "#616161")
    save(fig, "explicit")


def local() -> None:
    """The frame W before the joint's motion, the axis k and the plane u, w, the offset p, and moments."""
    fig, axes = figure(7.0, 3.0, (-0.5, 6.5), (-0.75, 2.25))
    o, w = np.array([0.5, 0.0]), np.array([3.1, 0.5])
    link(axes, o, w)
    tip = w + 2.6 * np.array([np.cos(np.radians(32)), np.sin(np.radians(32))])
    link(axes, w, tip)
    frame(axes, o, 0.0, ("$u$", "$w$"), colour="black")
    frame(axes, w, 0.0, ("", "$w$"), colour="#ef6c00", size=0.75)
    text(axes, w + [0.62, -0.16], "$u$", "#ef6c00")
    frame(axes, w, 32.0, ("", ""), size=0.95)
    text(axes, w + [-0.28, -0.28], "$W$", "#ef6c00")
    arrow(axes, o, w, "$p$", shift=(0.1, -0.22))
    arc = np.radians(np.linspace(0, 32, 30))
    axes.plot(w[0] + 1.1 * np.cos(arc), w[1] + 1.1 * np.sin(arc), color=VECTOR, lw=1.6)
    text(axes, w + [1.32, 0.3], "$q_i$", VECTOR)
    axes.plot(*w, "o", ms=13, mfc="white", mec=FRAME, mew=1.6, zorder=5)
    axes.plot(*w, "o", ms=4, color=FRAME, zorder=6)
    text(axes, w + [0.0, -0.55], "axis $k$, out of the paper", FRAME, 10)
    joint(axes, o, "parent", (0.0, -0.35))
    text(axes, (w + tip) / 2 + [-0.15, 0.42], r"$J=(\Sigma,\,h,\,m)$")
    arrow(axes, w + [-0.75, 1.1], o + [0.55, 1.1], r"$\Sigma_{kk},\ h_k,\ m$", VIRTUAL, shift=(0.0, 0.25))
    save(fig, "local")


def elastic() -> None:
    """An elastic link: straight and bent, the frames at its root and its tip, an element Q."""
    fig, axes = figure(7.4, 3.0, (-0.6, 6.8), (-0.8, 2.2))
    root, length = np.array([0.5, 0.0]), 4.6
    eta = np.linspace(0.0, 1.0, 60)
    bend = 0.95 * eta**2 * (3 - eta) / 2
    x, y = root[0] + length * eta, root[1] + bend
    axes.plot([root[0], root[0] + length], [0, 0], "--", color=VIRTUAL, lw=1.4)
    axes.plot(x, y, color=LINK, lw=7, alpha=0.35, solid_capstyle="round")
    frame(axes, root, 0.0, ("", "$x_{i,2}$"), size=0.7)
    text(axes, root + [0.75, -0.17], "$x_{i,1}$", FRAME)
    tip = np.array([x[-1], y[-1]])
    slope = np.degrees(np.arctan2(0.95 * 1.5, length))
    frame(axes, tip, slope, (r"$\hat{x}_{i,1}$", r"$\hat{x}_{i,2}$"), colour="#ef6c00")
    axes.plot([tip[0], tip[0] + 0.9], [tip[1], tip[1]], ":", color="black", lw=1)
    text(axes, tip + [1.15, 0.1], r"$\theta_i(l_i)$", "#ef6c00")
    q = np.array([x[36], y[36]])
    axes.plot(*q, "s", ms=7, color="black")
    text(axes, q + [-0.12, 0.3], "$Q$")
    arrow(axes, (q[0], 0.0), q, r"$\sum_j\delta_{ij}\,r_{ij}(\eta)$", shift=(0.85, -0.02))
    arrow(axes, root + [0, -0.45], (q[0], -0.45), r"$\eta$", "black", shift=(0, -0.18))
    joint(axes, root, "$O_i$", (-0.3, -0.2))
    joint(axes, tip, "$O_{i+1}$", (0.05, -0.35))
    save(fig, "elastic")


def impact() -> None:
    """A point strikes a curved wall: normal to the free side, velocities, angle of attack, impulse."""
    fig, axes = figure(5.6, 3.4, (-2.8, 2.8), (-0.55, 2.85))
    angle = np.radians(np.linspace(238, 302, 80))
    axes.plot(5 * np.cos(angle), 5 + 5 * np.sin(angle), color=WALL, lw=3)
    text(axes, (2.3, 0.2), r"$\varphi(x)=0$", WALL)
    point = np.zeros(2)
    link(axes, (2.35, 1.3), point)
    arrow(axes, point, (0, 2.1), "$n_j$", FRAME, shift=(0.2, 0.95))
    arrow(axes, (-1.5, 1.5), point, r"$\dot r^-$", shift=(-0.35, 0.0))
    arrow(axes, point, (1.15, 1.75), r"$\dot r^+$", "#1565c0", shift=(0.1, 0.5))
    arc = np.radians(np.linspace(90, 135, 30))
    axes.plot(0.95 * np.cos(arc), 0.95 * np.sin(arc), color="black", lw=1)
    text(axes, (-0.35, 1.13), r"$\alpha$")
    arrow(axes, (-0.3, -0.5), (-0.3, 0.22), "$f_j$", "#ef6c00", shift=(-0.22, -0.2))
    joint(axes, point, "$O_j$", (0.1, -0.33))
    text(axes, (-2.0, 2.4), "free side", "#616161")
    save(fig, "impact")


def balanced() -> None:
    """The cart-pole under its regulator, as on the page on control."""
    cart_pole = ug.load(ug.model_path("cart_pole"))
    controller = ug.linearise(cart_pole, [0.0, 0.0], actuated="slide").lqr([1.0, 10.0, 1.0, 1.0])
    ug.simulate(cart_pole, [0.5, 0.4], None, 12.0, controller=controller).plot(FOLDER / "balanced.png", kinds="coordinates")


def shot() -> None:
    """A ball that is to land after a bounce 2 m away, as on the page on control."""
    ball, floor = ug.load(ug.model_path("free_ball"), base="floating"), ug.walls.Plane(normal=(0, 0, 1), point=(0, 0, 0))
    guess = ug.simulate(ball, [0, 0, 1, 0, 0, 0, 1], [1, 0, 2, 0, 0, 0], 2.0, floor, restitution=0.7, points="collision")
    ug.shoot(guess, (2.0, None, None), impact=1).plot(FOLDER / "shot.png")


if __name__ == "__main__":
    matplotlib.rcParams.update({"svg.hashsalt": "urdf-gibbs", "mathtext.fontset": "cm", "font.family": "DejaVu Sans"})
    for draw in (branches, frames, explicit, local, elastic, impact, balanced, shot):
        draw()
