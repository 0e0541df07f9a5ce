"""The report on the papers' claims: other figures give other verdicts, the committed summary is not stale, the command does what it says."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import pytest
from claim_controls import uncontrolled
from typer.testing import CliRunner

from urdf_gibbs.cli import app
from urdf_gibbs.reproduce import measure, parts
from urdf_gibbs.reproduce.claims import (
    CORRECTED,
    DIFFERS,
    IMPOSSIBLE,
    MACHINE,
    MARGIN,
    MEANING,
    REPRODUCED,
    VERDICTS,
    Agreement,
    Animation,
    Claim,
    Figure,
    Gap,
    Grid,
    Section,
    faster,
    last_digit,
    near,
    same,
)
from urdf_gibbs.reproduce.report import summary

ROOT = Path(__file__).parents[1]
SUMMARY = ROOT / "validation/report.md"
# Times of work in parallel, half a minute, equations with all their splits, and counts: their numbers are in test_elements.py,
# test_formulations.py and test_counts.py.
NIGHTLY = ("wang-ju-elements", "shafei2018-equations", "shafei2017-counts")
# The first has no claims, and test_baselines.py does the same; the claims of the other are in test_steps.py, on a part of its runs.
# The rover's has none either: test_rover.py has what it says.
SLOW = ("formulations", "steps", "wj-rover")
ROUND_OFF = 1e-9  # figures up to this are round-off: only that they are so small is compared
NUMBER = re.compile(r"(?<![\w.])[-+]?\d+(?:\.\d+)?(?:e[-+]?\d+)?")
runner = CliRunner()


def rows(text: str) -> dict[str, list[str]]:
    """The cells of each claim by its key."""
    found = {}
    for line in text.splitlines():
        cells = [cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]]
        if len(cells) == 7 and cells[0].startswith("`"):
            assert cells[0] not in found
            found[cells[0].strip("`")] = cells[1:]
    return found


COMMITTED = rows(SUMMARY.read_text(encoding="utf-8"))


def test_at_least_25_claims_with_verdicts() -> None:
    assert len(COMMITTED) >= 25
    for key, cells in COMMITTED.items():
        verdict = re.match(r"\*\*(.+?)\*\*", cells[5])
        assert verdict is not None and verdict[1] in VERDICTS, key
        assert verdict[1] in (REPRODUCED, MACHINE) or len(cells[5]) > len(verdict[0]) + 10, f"{key}: no reason is given"


@pytest.mark.parametrize(
    "part", [pytest.param(part, marks=[pytest.mark.nightly] if part in NIGHTLY else []) for part in parts.PARTS if part not in SLOW]
)
def test_verdicts_can_fail_and_the_committed_summary_is_not_stale(part: str) -> None:
    """The negative control of every claim: had the paper printed something else, the verdict would be another. And each figure again."""
    section = parts.PARTS[part](lambda step: None)
    for claim in section.claims:
        assert uncontrolled(claim) == [], f"{claim.key}: a verdict that cannot fail"
    _compare_with_committed(section)


def _compare_with_committed(found: Section) -> None:
    """Within the digits that a machine may change; times are left out."""
    fresh = rows(summary([found]))
    assert fresh and set(fresh) <= set(COMMITTED)
    assert {key for key in COMMITTED if _part(key) == _part(next(iter(fresh)))} >= set(fresh)
    for claim in found.claims:
        ours, committed = fresh[claim.key], COMMITTED[claim.key]
        assert ours[:3] == committed[:3], f"{claim.key}: make validation"
        if claim.timed:
            continue
        assert ours[5].partition("**:")[0] == committed[5].partition("**:")[0], f"{claim.key}: make validation"
        for cell in (3, 4):
            new, old = (NUMBER.findall(one[cell]) for one in (ours, committed))
            assert len(new) == len(old), f"{claim.key}: make validation"
            for a, b in zip(map(float, new), map(float, old), strict=True):
                small = abs(a) <= ROUND_OFF and abs(b) <= ROUND_OFF
                assert small or math.isclose(a, b, rel_tol=1e-3, abs_tol=2e-2 if cell == 4 else 0.0), (
                    f"{claim.key}: {a} is {b} in {SUMMARY.name}"
                )
    for gap in found.gaps:
        assert gap.missing and f"`{gap.key}`" in SUMMARY.read_text(encoding="utf-8"), f"{gap.key}: make validation"


def _part(key: str) -> str:
    return key.partition(".")[0]


def test_every_part_is_in_the_summary() -> None:
    text = SUMMARY.read_text(encoding="utf-8")
    assert text.count("\n## ") == len(parts.PARTS)
    total = re.search(r"^(\d+) claims: (.*)\.$", text, re.M)
    assert total is not None and int(total[1]) == len(COMMITTED)
    for number, verdict in re.findall(r"(\d+) ([a-z ]+)", total[2]):
        assert int(number) == sum(cells[5].startswith(f"**{verdict}**") for cells in COMMITTED.values())


def test_page_says_what_the_summary_says() -> None:
    verdicts = [cells[5].split("**")[1] for cells in COMMITTED.values()]
    text = " ".join((ROOT / "docs" / "pages" / "claims.md").read_text(encoding="utf-8").split())
    told = re.search(
        r"Of (\d+) claims, (\d+) are reproduced, (\d+) of them with a correction; (\d+) are measured otherwise; (\d+) are not "
        r"reproducible, .*?; (\d+) depends? on the machine",
        text,
    )
    assert told is not None
    counts = {verdict: verdicts.count(verdict) for verdict in VERDICTS}
    assert tuple(map(int, told.groups())) == (len(verdicts), counts[REPRODUCED] + counts[CORRECTED], *list(counts.values())[1:])


def test_length_of_a_formulation_excludes_docstrings_and_comments(monkeypatch: pytest.MonkeyPatch) -> None:
    sources = {
        "bare": "def f(x):\n    return x + 1\n",
        "told": 'import os\n# why\ndef f(x):\n    """What."""\n    return x + 1\n',
        "longer": "def f(x):\n    return x + 1 + 2\n",
    }
    monkeypatch.setattr(measure.inspect, "getsource", lambda module: sources[module.__name__])
    bare, told, longer = (measure.length(ModuleType(name)) for name in sources)
    assert told == bare < longer


# verdicts -----------------------------------------------------------------------------------------------


def made(**changes: object) -> Claim:
    given = {"key": "k", "place": "p", "statement": "s", "figures": (Figure("1"),), "ours": "1", "judge": same("1")}
    return Claim(**(given | changes))  # type: ignore[arg-type]


def test_verdicts_follow_from_figures() -> None:
    assert made().verdict == REPRODUCED and made().verdict_on("2") == DIFFERS
    assert made(judge=lambda text: Agreement.AFTER_CORRECTION).verdict == CORRECTED
    assert made(judge=same("2"), missing="no data").verdict == IMPOSSIBLE
    assert made(missing="no data").verdict == REPRODUCED  # what agrees needs no excuse
    assert made(judge=lambda text: Agreement.UNDECIDED).verdict == MACHINE
    assert set(MEANING) == set(VERDICTS)


def test_the_control_finds_verdicts_that_cannot_fail() -> None:
    assert uncontrolled(made()) == []
    assert uncontrolled(made(judge=lambda text: Agreement.AS_PRINTED)) == ["1 -> 11", "1 -> -9"]
    assert uncontrolled(made(figures=(), judge=lambda: Agreement.AS_PRINTED)) == ["no figures"]
    assert uncontrolled(made(judge=same("2"))) == ["otherwise"]
    assert uncontrolled(made(judge=same("2"), otherwise=("2",))) == []
    assert uncontrolled(made(judge=same("2"), otherwise=("3",), missing="steps")) == ["otherwise"]
    assert uncontrolled(made(judge=lambda text: Agreement.UNDECIDED)) == ["not timed"]


def test_figures_change_in_the_way_they_are_printed() -> None:
    expected = {
        "0.3851": ("0.3861", "0.3841"),
        "-1.366": ("-1.356", "-1.376"),
        "1e-18": ("11e-18", "-9e-18"),
        "507/2": ("517/2", "497/2"),
        "8": ("18", "-2"),
        "R, R": ("nonsense",),
    }
    assert {text: Figure(text).changed() for text in expected} == expected
    assert Figure("34.108", digit=0.1).changed() == ("35.108", "33.108")


def test_near_is_a_unit_of_the_last_printed_digit() -> None:
    assert near("0.3851", 0.38519) and not near("0.3851", 0.38521)
    assert near("25.38", 25.41, units=3) and not near("25.38", 25.411, units=3)
    assert near("34.108", 34.2, digit=0.1) and not near("nonsense", 0.0)
    assert last_digit("5.89e-5") == pytest.approx(1e-7) and last_digit("507/2") == 0.5


@pytest.mark.parametrize(
    ("ratios", "printed", "expected"),
    [
        ([4.0, 5.0], "less", Agreement.AS_PRINTED),
        ([4.0, 5.0], "more", Agreement.NONE),
        ([0.1, 0.3], "less", Agreement.NONE),
        ([0.1, 0.3], "more", Agreement.AS_PRINTED),
        ([4.0, 1.1], "less", Agreement.UNDECIDED),
        ([0.1, 5.0], "less", Agreement.UNDECIDED),
        ([MARGIN], "less", Agreement.UNDECIDED),
    ],
)
def test_times_decide_beyond_a_margin_only(ratios: list[float], printed: str, expected: Agreement) -> None:
    assert faster("less", ratios, "more")(printed) is expected


# the command --------------------------------------------------------------------------------------------


def small(step: Callable[[str], None]) -> Section:
    step("a <step>")
    corrected: Callable[[str], Agreement] = lambda text: Agreement.AFTER_CORRECTION  # noqa: E731
    claim = made(key="a.claim", statement="x < y | z", ours="1 < 2", judge=corrected, correction="<b>")
    motion = Animation("motion", "moves", lambda: "<!DOCTYPE html>moving")
    gap = Gap("a.gap", "p", "shown | <there>", "all of it")
    claims = [claim, made(key="a.other", timed=True)]
    return Section("A <title>", claims, grids=[Grid("c", ("h",), [("<cell>",)])], animations=[motion], gaps=[gap])


def broken(step: Callable[[str], None]) -> Section:
    raise ValueError("no such thing")


def interrupted(step: Callable[[str], None]) -> Section:
    raise KeyboardInterrupt


def test_whole_run_writes_page_summary_and_motions(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parts, "PARTS", {"one": small, "two": small})
    result = runner.invoke(app, ["reproduce", "--out", str(tmp_path / "new")])
    assert result.exit_code == 0, result.output
    page = (tmp_path / "new/report.html").read_text(encoding="utf-8")
    assert "A &lt;title&gt;" in page and "x &lt; y | z" in page and "&lt;cell&gt;" in page and "<b>" not in page
    for link in re.findall(r'href="([^"#:]+)"', page):
        assert (tmp_path / "new" / link).is_file()
    assert "http" not in page
    text = (tmp_path / "new/report.md").read_text(encoding="utf-8")
    assert rows(text.split("\n## ")[1])["a.claim"][3] == "1 &lt; 2"
    told = "4 claims: 2 reproduced, 2 reproduced with a correction, 0 measured otherwise, 0 not reproducible, 0 depends on the machine."
    assert told in text and "| `a.gap` | shown \\| &lt;there> |" in text and "shown | &lt;there&gt;" in page


def test_some_parts_leave_the_summary_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parts, "PARTS", {"one": small, "two": broken})
    result = runner.invoke(app, ["reproduce", "on", "--out", str(tmp_path)])
    assert result.exit_code == 0, result.output
    assert not (tmp_path / "report.md").exists()
    assert "Not run: two" in (tmp_path / "report.html").read_text(encoding="utf-8")


def test_a_part_that_fails_is_reported_and_stops_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parts, "PARTS", {"one": broken, "two": small})
    result = runner.invoke(app, ["reproduce", "--out", str(tmp_path)])
    assert result.exit_code == 1
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert "ValueError: no such thing" in page and "A &lt;title&gt;" in page
    assert not (tmp_path / "report.md").exists()


def test_ctrl_c_writes_what_is_done(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parts, "PARTS", {"one": small, "two": interrupted, "three": small})
    result = runner.invoke(app, ["reproduce", "--out", str(tmp_path)])
    assert result.exit_code == 130
    assert "Not run: two, three" in (tmp_path / "report.html").read_text(encoding="utf-8")


def test_unknown_names_and_places(tmp_path: Path) -> None:
    result = runner.invoke(app, ["reproduce", "einstein1915"])
    assert result.exit_code == 2 and "einstein1915" in result.output
    (tmp_path / "file").write_text("")
    assert runner.invoke(app, ["reproduce", "--out", str(tmp_path / "file")]).exit_code == 2
    listed = runner.invoke(app, ["reproduce", "--list"])
    assert listed.exit_code == 0 and listed.output.split() == list(parts.PARTS)
