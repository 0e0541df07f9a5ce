"""Equations as one HTML page: formulas in MathML, no script, nothing to fetch, light or dark as the reader's system."""

from __future__ import annotations

import base64
import html
import io

from latex2mathml.converter import convert

from urdf_gibbs.equations.latex import Latex, alphabet_of, written
from urdf_gibbs.equations.notation import lines, title
from urdf_gibbs.equations.readable import Equations
from urdf_gibbs.robot.model import Robot

WIDTH = 112  # characters of a formula's line
BENT = 0.45  # rad, of the picture's joints: at zero a chain is a line

STYLE = """
:root { color-scheme: light dark; --back: %(light_back)s; --text: %(light_text)s; --faint: %(light_faint)s; --card: %(light_card)s;
  --accent: %(light_accent)s; }
@media (prefers-color-scheme: dark) { :root { --back: %(dark_back)s; --text: %(dark_text)s; --faint: %(dark_faint)s;
  --card: %(dark_card)s; --accent: %(dark_accent)s; } }
* { box-sizing: border-box; }
body { margin: 0; background: var(--back); color: var(--text); font: 16px/1.5 system-ui, "Segoe UI", "Noto Sans", sans-serif; }
main { max-width: 1160px; margin: 0 auto; padding: 2rem 1.5rem 4rem; }
h1 { font-size: 1.7rem; margin: 0; }
h2 { font-size: 1.1rem; margin: 2.2rem 0 .6rem; padding-left: .6rem; border-left: 4px solid var(--accent); }
p { margin: .4rem 0; }
.about { opacity: .8; }
.formulas { overflow-x: auto; background: var(--card); border-radius: 8px; padding: .7rem 1rem; }
math { font-family: "Latin Modern Math", "STIX Two Math", "Cambria Math", "Noto Sans Math", math, serif; font-size: 1.1rem; }
.formulas td { padding: .28rem .1rem; vertical-align: top; white-space: nowrap; }
.formulas td:first-child { text-align: right; padding-right: .45rem; }
.formulas .more { display: block; padding-top: .2rem; }
.reason { opacity: .75; padding-left: .8rem; font-size: .92rem; }
.columns { display: flex; flex-wrap: wrap; gap: 1.5rem 2.5rem; align-items: flex-start; }
.legend { border-collapse: collapse; }
.legend td, .legend th { padding: .22rem .9rem .22rem 0; text-align: left; border-bottom: 1px solid var(--faint); }
.legend th { font-weight: 600; opacity: .75; }
.legend .value { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }
figure { margin: 0; background: #fff; border-radius: 8px; padding: .4rem; max-width: 460px; flex: 1 1 320px; }
figure img { width: 100%%; display: block; }
.note { border-left: 4px solid var(--accent); padding-left: .6rem; }
"""


def page(equations: Equations) -> str:
    """The page."""
    alphabet = alphabet_of(equations)
    robot = equations.robot
    motion = r"\ddot{q}" if alphabet.dots else "a"
    gravity = ", ".join(f"{x:g}" for x in equations.gravity)
    balance = _math(rf"M \, {motion} + h = \tau")
    about = f"{balance}, by the {html.escape(equations.method)} formulation; gravity ({gravity}) m/s²"
    parts = [f"<h1>{html.escape(robot.name)}: equations of motion</h1>", f'<p class="about">{about}</p>']
    parts += [f'<p class="note">{html.escape(note)}</p>' for note in equations.notes]
    for what in equations.expressions:
        parts.append(f"<h2>{html.escape(title(equations, what))}</h2>")
        parts.append(f'<div class="formulas"><table>{"".join(_rows(equations, what, alphabet))}</table></div>')
    parts += ["<h2>Symbols</h2>", '<div class="columns">', _legend(equations, alphabet), _picture(robot), "</div>"]
    head = f'<meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>{html.escape(robot.name)}</title>'
    body = "\n".join(parts)
    return (
        f'<!DOCTYPE html>\n<html lang="en">\n<head>{head}<style>{_style()}</style></head>\n<body><main>\n{body}\n</main></body>\n</html>\n'
    )


def _rows(equations: Equations, what: str, alphabet: Latex) -> list[str]:
    found = []
    for line in lines(equations, what):
        left, ((_, first), *more) = written(line, alphabet, WIDTH)
        cells = [_math(first), *(f'<span class="more" style="padding-left:{1.6 + depth}rem">{_math(row)}</span>' for depth, row in more)]
        reason = f'<span class="reason">{html.escape(line.reason)}</span>' if line.reason else ""
        found.append(f"<tr><td>{_math(left)}</td><td>{''.join(cells)}{reason}</td></tr>")
    return found


def _legend(equations: Equations, alphabet: Latex) -> str:
    rows = ['<table class="legend"><tr><th>symbol</th><th class="value">value</th><th>unit</th><th>meaning</th></tr>']
    for c in (*equations.positions, *equations.rates):
        kind = "position" if c in equations.positions else "velocity"
        rows.append(_legend_row(alphabet.symbol(c.name), "", c.unit, f"{kind} of {c.joint}"))
    for p in equations.parameters:
        rows.append(_legend_row(alphabet.symbol(p.name), alphabet.number(p.value), p.unit, p.meaning))
    return "".join(rows) + "</table>"


def _legend_row(symbol: str, value: str, of: str, meaning: str) -> str:
    number = _math(value) if value else ""
    return (
        f'<tr><td>{_math(symbol)}</td><td class="value">{number}</td><td>{of.replace("^2", "²")}</td><td>{html.escape(meaning)}</td></tr>'
    )


def _picture(robot: Robot) -> str:
    """The robot's skeleton with its joints bent a little."""
    import numpy as np

    from urdf_gibbs.view.branches import draw

    file = io.BytesIO()
    turns = np.array([BENT if kind == "R" else 0.0 for joint in robot.joints if not joint.is_mimic for kind, _ in joint.columns])
    draw(robot, robot.integrate(robot.neutral(), turns), file)
    data = base64.b64encode(file.getvalue()).decode("ascii")
    return f'<figure><img alt="The robot, each joint turned by {BENT} rad" src="data:image/png;base64,{data}"></figure>'


def _math(latex: str) -> str:
    return str(convert(latex))


def _style() -> str:
    from urdf_gibbs.view.themes import THEMES

    values: dict[str, str] = {}
    for name, theme in THEMES.items():
        values |= {f"{name}_back": theme.background, f"{name}_text": theme.text, f"{name}_faint": theme.faint}
        values |= {f"{name}_card": theme.solid, f"{name}_accent": theme.lines[0]}
    return STYLE % values
