"""The report: a Markdown summary of all claims, and one page with tables, figures drawn again and links to the motions in 3-D."""

from __future__ import annotations

import base64
import io
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path

from urdf_gibbs.reproduce import parts
from urdf_gibbs.reproduce.claims import MEANING, VERDICTS, Claim, Gap, Picture, Section
from urdf_gibbs.templates import rendered

PAGE, SUMMARY, MOTIONS = "report.html", "report.md", "animations"
COMMAND = "make validation"
HEADS = ("claim", "where", "the paper", "ours", "difference", "verdict")
GAPS = ("shown in the paper", "where", "what is missing to compare it", "here instead")
DPI = 110
CLASSES = dict(zip(VERDICTS, ("good", "mended", "otherwise", "absent", "absent"), strict=True))
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
    counts = tally([part.section for part in done if part.section is not None])
    return rendered(
        "reproduce",
        "report.html",
        papers=PAPERS,
        counts=counts,
        classes=CLASSES,
        meanings=MEANING,
        left=[name for name in parts.PARTS if name not in {part.name for part in done}],
        done=[(part, part.section.title if part.section is not None else part.name) for part in done],
        heads=HEADS,
        gaps=GAPS,
        motions=MOTIONS,
        text=_text,
        png=_png,
    )


def _text(text: str) -> str:
    """A minus stays with its number."""
    return re.sub(r"(?<=e)-(?=\d)|(?<![\w)])-(?=[\d(])", "\u2011", text)


def _png(picture: Picture, theme: str) -> str:
    data = io.BytesIO()
    picture.draw(theme).savefig(data, format="png", dpi=DPI)
    return f"data:image/png;base64,{base64.b64encode(data.getvalue()).decode('ascii')}"
