"""The report: a Markdown summary of all claims, and one page with tables, figures drawn again and links to the motions in 3-D."""

from __future__ import annotations

import base64
import html
import io
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path

from urdf_gibbs.reproduce import parts
from urdf_gibbs.reproduce.claims import MEANING, VERDICTS, Animation, Claim, Gap, Grid, Picture, Section

PAGE, SUMMARY, MOTIONS = "report.html", "report.md", "animations"
COMMAND = "make validation"
HEADS = ("claim", "where", "the paper", "ours", "difference", "verdict")
GAPS = ("shown in the paper", "where", "what is missing to compare it", "here instead")
DPI = 110
CLASSES = dict(zip(VERDICTS, ("good", "mended", "otherwise", "absent", "absent"), strict=True))
STYLE = """
:root {
  color-scheme: light dark;
  --line: #d5dae1; --dim: #5b646f; --soft: #eef2f6; --good: #0072b2; --mended: #00785a; --otherwise: #b04a00;
}
@media (prefers-color-scheme: dark) {
  :root { --line: #353a42; --dim: #a3abb6; --soft: #22262c; --good: #56b4e9; --mended: #2cc196; --otherwise: #e69f00; }
  body { background: #16181c; }
}
body { font: 14px/1.5 system-ui, "DejaVu Sans", sans-serif; max-width: 1240px; margin: 24px auto; padding: 0 16px; }
h2 { margin-top: 48px; border-bottom: 1px solid var(--line); padding-bottom: 4px; }
.wide { overflow-x: auto; }
table { border-collapse: collapse; width: 100%; margin-bottom: 20px; }
.claims table { table-layout: fixed; overflow-wrap: break-word; }
.claims th:nth-child(1) { width: 21%; } .claims th:nth-child(2) { width: 9%; } .claims th:nth-child(3) { width: 14%; }
.claims th:nth-child(4) { width: 20%; } .claims th:nth-child(5) { width: 11%; }
th, td { text-align: left; padding: 6px 10px; border-bottom: 1px solid var(--line); vertical-align: top; }
th { font-weight: 600; color: var(--dim); }
td.verdict { font-weight: 600; min-width: 8em; }
.good { color: var(--good); } .mended { color: var(--mended); } .otherwise { color: var(--otherwise); } .absent { color: var(--dim); }
td small { color: var(--dim); font-weight: 400; display: block; }
figure { margin: 28px 0; }
figure img { max-width: 100%; height: auto; }
figcaption, caption { color: var(--dim); text-align: left; padding: 4px 0; }
nav a { margin-right: 16px; white-space: nowrap; }
a { color: var(--good); }
.failed { border-left: 4px solid var(--otherwise); padding: 6px 12px; background: var(--soft); }
.tally span { margin-left: 14px; font-weight: 600; }
details p { margin: 6px 0 6px 16px; }
@media (max-width: 760px) {
  .claims thead { display: none; }
  .claims table, .claims tbody, .claims tr, .claims td { display: block; width: auto; }
  .claims tr { border-bottom: 1px solid var(--line); padding: 8px 0; }
  .claims td { border: 0; padding: 2px 0; }
  .claims td:first-child { font-weight: 600; }
  .claims td:not(:first-child, :last-child, :empty)::before { content: attr(data-head) ": "; color: var(--dim); }
}
"""
PAPERS = "S18: Shafei & Shafei 2018, trees of rigid links. S17: Shafei 2017, elastic links. WJ: Wang & Ju, explicit inertia matrix."


def write(done: Sequence[parts.Done], folder: Path, complete: bool) -> list[Path]:
    """Write page and motions into ``folder``, and the summary where all parts have run; the paths written."""
    sections = [part.section for part in done if part.section is not None]
    motions = [motion for section in sections for motion in section.animations]
    written = []
    if motions:
        (folder / MOTIONS).mkdir(parents=True, exist_ok=True)
    for motion in motions:
        path = folder / MOTIONS / f"{motion.name}.html"
        path.write_text(motion.html(), encoding="utf-8")
        written.append(path)
    texts = {PAGE: page(done)}
    if complete:
        texts[SUMMARY] = summary(sections)
    for name, text in texts.items():
        (folder / name).write_text(text, encoding="utf-8")
        written.append(folder / name)
    return written


def tally(sections: Iterable[Section]) -> dict[str, int]:
    """How many claims have which verdict."""
    found = Counter(claim.verdict for section in sections for claim in section.claims)
    return {verdict: found[verdict] for verdict in VERDICTS}


# Markdown -----------------------------------------------------------------------------------------------


def summary(sections: Sequence[Section]) -> str:
    """All claims as tables."""
    counts = tally(sections)
    lines = [
        "# What the papers claim, and what is measured",
        "",
        f"Written by `{COMMAND}`, which also writes `{PAGE}` with the papers' figures drawn again and their motions in 3-D.",
        PAPERS,
        "",
        f"{sum(counts.values())} claims: " + ", ".join(f"{number} {verdict}" for verdict, number in counts.items()) + ".",
        "Figures marked (timed) depend on the machine.",
        "",
        *(f"- *{verdict}*: {meaning}." for verdict, meaning in MEANING.items()),
    ]
    for section in sections:
        lines += ["", f"## {section.title}"]
        if section.claims:
            lines += ["", f"| | {' | '.join(HEADS)} |", "|---" * (len(HEADS) + 1) + "|", *(_row(claim) for claim in section.claims)]
        if section.gaps:
            lines += ["", f"| | {' | '.join(GAPS)} |", "|---" * (len(GAPS) + 1) + "|", *(_gap_row(gap) for gap in section.gaps)]
        for claim in section.claims:
            if claim.details:
                lines += ["", f"`{claim.key}`:", "", *(f"- {line}" for line in claim.details.splitlines())]
        for grid in section.grids:
            lines += ["", f"{grid.caption}:", "", f"| {' | '.join(grid.heads)} |", "|---" * len(grid.heads) + "|"]
            lines += [f"| {' | '.join(_cell(cell) for cell in row)} |" for row in grid.rows]
    return "\n".join(lines) + "\n"


def _row(claim: Claim) -> str:
    ours = claim.ours + (" (timed)" if claim.timed else "")
    verdict = f"**{claim.verdict}**" + (f": {claim.reason}" if claim.reason else "")
    cells = (f"`{claim.key}`", claim.statement, claim.place, claim.printed, ours, claim.difference, verdict)
    return f"| {' | '.join(_cell(cell) for cell in cells)} |"


def _gap_row(gap: Gap) -> str:
    return f"| {' | '.join(_cell(cell) for cell in (f'`{gap.key}`', gap.statement, gap.place, gap.missing, gap.instead))} |"


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("<", "&lt;").replace("\n", " ")


# page ---------------------------------------------------------------------------------------------------


def page(done: Sequence[parts.Done]) -> str:
    """One file that needs nothing else; the motions are linked."""
    sections = [part.section for part in done if part.section is not None]
    counts = tally(sections)
    marks = "".join(f'<span class="{CLASSES[verdict]}">{number} {verdict}</span>' for verdict, number in counts.items())
    links = " ".join(f'<a href="#{part.name}">{html.escape(_title(part))}</a>' for part in done)
    left = [name for name in parts.PARTS if name not in {part.name for part in done}]
    note = f"<p>Not run: {html.escape(', '.join(left))}.</p>" if left else ""
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n<link rel="icon" href="data:,">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>Claims of three papers</title>\n<style>{STYLE}</style>\n</head>\n<body>\n"
        f"<h1>What three papers claim, and what is measured</h1>\n<p>{html.escape(PAPERS)}</p>\n"
        f'<p class="tally">{sum(counts.values())} claims: {marks}</p>\n{_meanings()}{note}<nav>{links}</nav>\n'
        + "\n".join(_section(part) for part in done)
        + "\n</body>\n</html>\n"
    )


def _meanings() -> str:
    items = "".join(f'<dt class="{CLASSES[verdict]}">{verdict}</dt><dd>{html.escape(meaning)}</dd>' for verdict, meaning in MEANING.items())
    return f"<details><summary>What the verdicts mean</summary><dl>{items}</dl></details>\n"


def _title(part: parts.Done) -> str:
    return part.section.title if part.section is not None else part.name


def _section(part: parts.Done) -> str:
    head = f'<section id="{part.name}">\n<h2>{html.escape(_title(part))}</h2>\n'
    if part.section is None:
        return f'{head}<p class="failed">This part did not run to its end: {html.escape(part.problem)}</p>\n</section>'
    section = part.section
    blocks = [_claims(section.claims)] if section.claims else []
    blocks += [_gaps(section.gaps)] if section.gaps else []
    blocks += [*(_grid(grid) for grid in section.grids), *(_picture(picture) for picture in section.pictures)]
    blocks += [_motion(motion) for motion in section.animations]
    return head + "\n".join(blocks) + "\n</section>"


def _claims(claims: Sequence[Claim]) -> str:
    rows = []
    for claim in claims:
        ours = _text(claim.ours) + (" <small>depends on the machine</small>" if claim.timed else "")
        reason = f"<small>{_text(claim.reason)}</small>" if claim.reason else ""
        cells = [_text(text) for text in (claim.statement, claim.place, claim.printed)] + [ours, _text(claim.difference)]
        row = "".join(f'<td data-head="{head}">{cell}</td>' for head, cell in zip(HEADS, cells, strict=False))
        rows.append(f'<tr id="{claim.key}">{row}<td class="verdict {CLASSES[claim.verdict]}">{claim.verdict}{reason}</td></tr>')
    return f'<div class="claims">{_table(HEADS, rows)}</div>' + "".join(_details(claim) for claim in claims if claim.details)


def _gaps(gaps: Sequence[Gap]) -> str:
    cells = ((gap.key, (gap.statement, gap.place, gap.missing, gap.instead)) for gap in gaps)
    return _table(GAPS, [f'<tr id="{key}">{"".join(f"<td>{_text(cell)}</td>" for cell in row)}</tr>' for key, row in cells])


def _text(text: str) -> str:
    """Escaped; a minus stays with its number."""
    return re.sub(r"(?<=e)-(?=\d)|(?<![\w)])-(?=[\d(])", "&#8209;", html.escape(text))


def _details(claim: Claim) -> str:
    lines = "".join(f"<p>{html.escape(line)}</p>" for line in claim.details.splitlines())
    return f"<details><summary>{html.escape(claim.statement)} {html.escape(claim.place)}: why</summary>{lines}</details>\n"


def _table(heads: Sequence[str], rows: Sequence[str], caption: str = "") -> str:
    head = "".join(f"<th>{html.escape(text)}</th>" for text in heads)
    title = f"<caption>{html.escape(caption)}</caption>" if caption else ""
    return f'<div class="wide"><table>{title}<thead><tr>{head}</tr></thead>\n<tbody>\n' + "\n".join(rows) + "\n</tbody></table></div>"


def _grid(grid: Grid) -> str:
    rows = ["<tr>" + "".join(f"<td>{_text(cell)}</td>" for cell in row) + "</tr>" for row in grid.rows]
    return _table(grid.heads, rows, grid.caption)


def _picture(picture: Picture) -> str:
    light, dark = (_png(picture, theme) for theme in ("light", "dark"))
    text = html.escape(f"{picture.place}: {picture.caption}")
    return (
        f'<figure><picture><source media="(prefers-color-scheme: dark)" srcset="{dark}"><img src="{light}" alt="{text}"></picture>'
        f"<figcaption>{text}</figcaption></figure>"
    )


def _png(picture: Picture, theme: str) -> str:
    data = io.BytesIO()
    picture.draw(theme).savefig(data, format="png", dpi=DPI)
    return f"data:image/png;base64,{base64.b64encode(data.getvalue()).decode('ascii')}"


def _motion(motion: Animation) -> str:
    return f'<p>In 3-D: <a href="{MOTIONS}/{motion.name}.html">{html.escape(motion.caption)}</a></p>'
