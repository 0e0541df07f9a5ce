"""Elastic links in a URDF: what is read, what is filled in from links and joints, and what is refused, each with its line."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
from urdf_text import HERE, inertial, joint, line_of, link, robot

from urdf_gibbs.flexible.build import Specification, make_beam
from urdf_gibbs.flexible.modes import bending
from urdf_gibbs.robot import xml
from urdf_gibbs.robot.findings import Finding, Findings
from urdf_gibbs.robot.flexible import check_flexible, read_flexible
from urdf_gibbs.robot.urdf import read

MASS = 0.8
ARM = link("arm", inertial(MASS))
GOOD = 'link="arm" EI_z="10" modes="clamped-free:2"'


def flexible(attributes: str, *more: str) -> str:
    """An <urdf_gibbs> element, one <flexible> on each line; the first is marked."""
    lines = "".join(f"<flexible {one}/>\n" for one in more)
    return f"<urdf_gibbs>\n<flexible {attributes}/>{HERE}\n{lines}</urdf_gibbs>\n"


def arm(text: str, xyz: tuple[float, float, float] = (0.5, 0, 0), *, tip: bool = True, own: str = ARM) -> str:
    """base -- shoulder -- arm -- wrist -- hand, with the text at the end."""
    wrist = joint("wrist", "revolute", "arm", "hand", xyz=xyz) if tip else ""
    return robot(link("base"), own, link("hand") if tip else "", joint("shoulder", "revolute", "base", "arm"), wrist, text)


def both(text: str, file: str = "robot.urdf") -> tuple[dict[str, Specification], list[Finding]]:
    findings = Findings(file)
    root = xml.parse(text, findings)
    assert root is not None
    urdf = read(root, findings)
    findings.items.clear()
    found = check_flexible(urdf, read_flexible(root, findings))
    return found, [finding for finding in findings.items if finding.code != "beam-inertia"]  # ARM is no even rod


def one(text: str, file: str = "robot.urdf") -> Specification:
    found, findings = both(text, file)
    assert not findings, [str(finding) for finding in findings]
    (specification,) = found.values()
    return specification


# what is read ---------------------------------------------------------------------------------


def test_defaults_come_from_link_and_joint() -> None:
    spec = one(arm(flexible(GOOD), (0.0, 0.3, 0.4)))
    assert spec.link == "arm" and spec.length == pytest.approx(0.5) and spec.mass_per_length == pytest.approx(MASS / 0.5)
    assert spec.direction == pytest.approx((0, 0.6, 0.8)) and spec.modes == (("y", "clamped-free", 2),)
    assert spec.theory == "euler-bernoulli" and spec.damping == () and not spec.foreshortening and not spec.elastic_rotary
    assert spec.rotary is None and spec.kGA is None and spec.EI_y is None and spec.file == "robot.urdf"
    assert spec.line == line_of(arm(flexible(GOOD)))
    beam = make_beam(spec, np.zeros(3), spec.frame)
    assert beam.mass == pytest.approx(MASS) and beam.names == ("y1", "y2") and beam.axis == pytest.approx([0, 0.6, 0.8])


def test_everything_given() -> None:
    text = flexible(
        'link="arm" length="0.5" direction="1 0 0" mass_per_length="1.6" EI_y="1" EI_z="2" EA="3" GJ="4" J="1e-3 2e-3 3e-3" kGA="50" '
        'modes="torsion=clamped-free:1 clamped-free:2 z=polynomial:3 x=pinned-pinned:1" theory="timoshenko" damping="0.1 1e-3" '
        'foreshortening="true" elastic_rotary="1"'
    )
    spec = one(arm(text))
    assert spec.modes == (("y", "clamped-free", 2), ("z", "polynomial", 3), ("x", "pinned-pinned", 1), ("torsion", "clamped-free", 1))
    assert (spec.EI_y, spec.EI_z, spec.EA, spec.GJ, spec.kGA) == (1, 2, 3, 4, 50) and spec.rotary == (1e-3, 2e-3, 3e-3)
    assert spec.damping == (0.1, 1e-3) and spec.foreshortening and spec.elastic_rotary and spec.theory == "timoshenko"
    assert make_beam(spec, np.zeros(3), np.eye(3)).m == 7


def test_both_planes_whose_stiffness_is_given() -> None:
    assert one(arm(flexible('link="arm" EI_z="1" EI_y="2" modes="clamped-free:3"'))).modes == (
        ("y", "clamped-free", 3),
        ("z", "clamped-free", 3),
    )
    assert one(arm(flexible('link="arm" EI_y="2" modes="clamped-free:3"'))).modes == (("z", "clamped-free", 3),)


def test_a_last_link_needs_its_length() -> None:
    spec = one(arm(flexible(GOOD + ' length="2"'), tip=False))
    assert spec.length == 2.0 and spec.direction == (1, 0, 0) and spec.mass_per_length == pytest.approx(MASS / 2)
    spec = one(arm(flexible(GOOD + ' length="2" direction="0 0 -1"'), tip=False))
    assert spec.direction == (0, 0, -1) and spec.frame @ [1, 0, 0] == pytest.approx([0, 0, -1])


def test_joints_at_root_and_tip() -> None:
    more = link("side") + joint("s", "fixed", "arm", "side") + link("other") + joint("o", "continuous", "arm", "other", xyz=(0.5, 0, 4e-7))
    assert one(arm(more + flexible(GOOD))).length == pytest.approx(0.5)


def test_nothing_to_read() -> None:
    assert both(arm("")) == ({}, []) and both(arm("<urdf_gibbs/>\n")) == ({}, [])


def test_printed_digits_of_a_direction() -> None:
    spec = one(arm(flexible(GOOD + ' direction="0.7071 0.7071 0" length="1"'), tip=False))
    assert np.linalg.norm(spec.direction) == pytest.approx(1.0, abs=1e-15)


# tables ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("separator", [",", " ", ";", "\t"])
@pytest.mark.parametrize("columns", [2, 3])
def test_tables(tmp_path: Path, separator: str, columns: int) -> None:
    eta = np.linspace(0, 0.5, 21)
    w = bending("clamped-free", 1, 0.5).deflection
    rows = np.stack([eta, w.value(eta), w.slope(eta)], axis=1)[:, :columns]
    text = "# a mode\neta, value, slope\n\n" + "\n".join(separator.join(repr(float(x)) for x in row) for row in rows)
    (tmp_path / "mode.csv").write_text(text)
    spec = one(arm(flexible('link="arm" EI_z="10" modes="y=table:1" table="mode.csv"')), str(tmp_path / "robot.urdf"))
    assert spec.tables["y"][0] == pytest.approx(rows, rel=0)
    assert make_beam(spec, np.zeros(3), np.eye(3)).stiffness[0, 0] == pytest.approx(1.8751040687**4 * 10 / 0.5**3 / 4, rel=1e-3)


def test_tables_of_several_modes(tmp_path: Path) -> None:
    eta = np.linspace(0, 0.5, 11)
    for n in (2, 3, 4):
        np.savetxt(tmp_path / f"{n}.txt", np.stack([eta, (eta / 0.5) ** n], axis=1))
    text = flexible('link="arm" EI_z="10" EI_y="5" modes="y=table:2 z=table:1" table="y=2.txt; y=3.txt; z=4.txt"')
    spec = one(arm(text), str(tmp_path / "robot.urdf"))
    assert spec.tables["y"][1][5, 1] == 0.125 and spec.tables["z"][0][5, 1] == 0.0625 and len(spec.tables["y"]) == 2
    spec = one(arm(flexible('link="arm" EI_z="10" EI_y="5" modes="table:2" table="2.txt;3.txt"')), str(tmp_path / "robot.urdf"))
    assert len(spec.tables["y"]) == len(spec.tables["z"]) == 2
    assert one(arm(flexible(f'link="arm" EI_z="10" modes="y=table:1" table="{tmp_path}/2.txt"')), "<text>").tables["y"][0].shape == (11, 2)


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("0 0\n0.1 1\n0.2 2\n0.3 3", "4 rows"),
        ("0 0\n0.1 1\n0.2 2\n0.3 3\n0.4 x\n0.5 5", "t.csv:5"),
        ("0 0\n0.1 1\n0.2 2\n0.3 3\n0.4 nan\n0.5 5", "t.csv:5"),
        ("0 0\n0.1 1\n0.2 2 3\n0.3 3\n0.4 4\n0.5 5", "t.csv:3"),
        ("0 0 0 0\n" * 6, "t.csv:1"),
        ("0.1 0\n0.2 1\n0.3 2\n0.4 3\n0.45 4\n0.5 5", "not ascending from 0"),
        ("0 0\n0.1 1\n0.1 2\n0.3 3\n0.4 4\n0.5 5", "not ascending"),
        ("0 1\n0.1 1\n0.2 2\n0.3 3\n0.4 4\n0.5 5", "1 at the root"),
        ("0 0\n0.1 0\n0.2 0\n0.3 0\n0.4 0\n0.5 0", "all values zero"),
        ("0 0\n0.1 1\n0.2 2\n0.3 3\n0.4 4\n0.6 5", "up to eta = 0.6"),
        ("", "0 rows"),
        ("0 0\n" + "".join(f"{i} {i}\n" for i in range(1, 2500)), "2500 rows"),
    ],
)  # fmt: skip
def test_bad_tables(tmp_path: Path, content: str, words: str) -> None:
    (tmp_path / "t.csv").write_text(content)
    text = arm(flexible('link="arm" EI_z="10" modes="y=table:1" table="t.csv"'))
    found, findings = both(text, str(tmp_path / "robot.urdf"))
    assert not found and [(f.severity, f.code, f.line) for f in findings] == [("error", "table", line_of(text))]
    assert words in findings[0].value


# what is refused ------------------------------------------------------------------------------


@dataclass(frozen=True)
class Case:
    """A document, and the only finding that it raises, at the marked line; ``value`` is part of what was found."""

    name: str
    document: str
    code: str
    value: str = ""
    severity: str = "error"


def element(name: str, attributes: str, code: str, value: str = "", severity: str = "error") -> Case:
    return Case(name, arm(flexible(attributes)), code, value, severity)


def at(xyz: tuple[float, float, float], attributes: str = "") -> str:
    """A wrist that is marked."""
    wrist = joint("wrist", "revolute", "arm", "hand", xyz=xyz).rstrip("\n") + HERE + "\n"
    parts = (link("base"), ARM, link("hand"), joint("shoulder", "revolute", "base", "arm"), wrist)
    return robot(*parts, flexible(GOOD + attributes).replace(HERE, ""))


CASES = [
    element("unknown link", 'link="leg" EI_z="10" modes="clamped-free:2"', "unknown-link", 'link="leg"'),
    element("no link", 'EI_z="10" modes="clamped-free:2"', "missing", "no link"),
    Case(
        "two for one link",
        arm(f"<urdf_gibbs>\n<flexible {GOOD}/>\n</urdf_gibbs>\n<urdf_gibbs>\n<flexible {GOOD}/>{HERE}\n</urdf_gibbs>\n"),
        "duplicate",
        "a second one, the first is at line",
    ),
    *(element(f"{name} {value}", f'{GOOD} {name}="{value}"', "not-positive", name) for name in ("length", "mass_per_length", "EI_y", "EA", "GJ") for value in ("0", "-1")),
    element("EI_z zero", 'link="arm" EI_z="0" modes="clamped-free:1"', "not-positive", "EI_z"),
    element("kGA negative", GOOD + ' theory="timoshenko" kGA="-2"', "not-positive", "kGA"),
    element("length no number", GOOD + ' length="long"', "bad-number", "long"),
    element("length infinite", GOOD + ' length="inf"', "bad-number", "inf"),
    element("comma", GOOD + ' length="0,5"', "bad-number", "0,5"),
    element("J of two", GOOD + ' J="1 2"', "bad-number", "1 2"),
    element("J negative", GOOD + ' J="1 -2 3"', "negative", "-2"),
    element("J nan", GOOD + ' J="1 nan 3"', "bad-number", "nan"),
    element("damping of three", GOOD + ' damping="1 2 3"', "bad-number", "1 2 3"),
    element("damping negative", GOOD + ' damping="-0.1"', "negative", "-0.1"),
    element("damping empty", GOOD + ' damping=""', "bad-number", "damping"),
    element("direction too long", GOOD + ' direction="1 1 0"', "direction-length", "1.41421"),
    element("direction zero", GOOD + ' direction="0 0 0"', "direction-length", "length 0"),
    element("direction of two", GOOD + ' direction="1 0"', "bad-number", "1 0"),
    element("no modes", 'link="arm" EI_z="1"', "missing", "no modes"),
    element("empty modes", 'link="arm" EI_z="1" modes=" "', "missing", "no modes"),
    element("unknown family", 'link="arm" EI_z="1" modes="clamped:2"', "mode-family", '"clamped"'),
    element("no count", 'link="arm" EI_z="1" modes="clamped-free"', "modes", "clamped-free"),
    *(element(f"count {count}", f'link="arm" EI_z="1" modes="clamped-free:{count}"', "mode-count", count) for count in ("0", "21", "-1", "two", "1.5", "99999999999", "²")),
    element("unknown direction", 'link="arm" EI_z="1" modes="w=clamped-free:2"', "modes", "w=clamped-free:2"),
    element("direction twice", 'link="arm" EI_z="1" modes="y=clamped-free:2 y=free-free:1"', "modes", "second"),
    element("plain twice", 'link="arm" EI_z="1" modes="clamped-free:2 free-free:1"', "modes", "second"),
    element("y without EI_z", 'link="arm" EI_y="1" modes="y=clamped-free:2"', "no-stiffness", "without EI_z"),
    element("z without EI_y", 'link="arm" EI_z="1" modes="z=clamped-free:2"', "no-stiffness", "without EI_y"),
    element("x without EA", 'link="arm" EI_z="1" modes="clamped-free:1 x=clamped-free:2"', "no-stiffness", "without EA"),
    element("torsion without GJ", 'link="arm" EI_z="1" modes="clamped-free:1 torsion=clamped-free:1"', "no-stiffness", "without GJ"),
    element("no stiffness at all", 'link="arm" modes="clamped-free:2"', "no-stiffness", "EI_y or EI_z"),
    element("unknown theory", GOOD + ' theory="rayleigh"', "beam-theory", "rayleigh"),
    element("Timoshenko without kGA", GOOD + ' theory="timoshenko"', "missing", "kGA"),
    element("flag", GOOD + ' foreshortening="yes"', "bad-flag", "yes"),
    element("rotary without J", GOOD + ' elastic_rotary="true"', "missing", "without J"),
    element("torsion without inertia", 'link="arm" GJ="1" modes="torsion=clamped-free:2"', "no-inertia", "torsion"),
    element("torsion with a still tip", 'link="arm" GJ="1" modes="torsion=clamped-clamped:1"', "no-inertia", "torsion"),
    element("torsion, J not elastic", 'link="arm" GJ="1" J="1 1 1" modes="torsion=clamped-free:2"', "no-inertia", "torsion"),
    element("ratio without inertia", 'link="arm" GJ="1" modes="torsion=clamped-free:1" damping="0.1"', "flexible", "inertia"),
    element("table missing", 'link="arm" EI_z="1" modes="y=table:1"', "missing", "table"),
    element("table unreadable", 'link="arm" EI_z="1" modes="y=table:1" table="nowhere.csv"', "unreadable", "nowhere.csv"),
    element("tables too few", 'link="arm" EI_z="1" modes="y=table:2" table="nowhere.csv"', "table", "1 files for 2 modes"),
    element("table not used", GOOD + ' table="nowhere.csv"', "table", "without modes"),
    Case("no length at a leaf", arm(flexible(GOOD), tip=False), "missing", "no length"),
    Case("no length, joint at the root", arm(flexible(GOOD), (0, 0, 0)), "missing", "no length"),
    Case("no mass", arm(flexible(GOOD), own=link("arm", "")), "missing", "no mass_per_length"),
    Case("massless", arm(flexible(GOOD), own=link("arm", inertial(0.0, moments=(0, 0, 0)))), "missing", "no mass_per_length"),
    Case("too long for the joint", at((0.5, 0, 0), ' length="0.6"'), "not-at-tip", "origin 0.5 0 0"),
    Case("joint beside the tip", at((0.5, 1e-5, 0), ' length="0.5" direction="1 0 0"'), "not-at-tip", "origin 0.5 1e-05 0"),
    Case("joint in another direction", at((0.5, 0, 0), ' direction="0 1 0"'), "not-at-tip"),
    # warnings
    element("unknown attribute", GOOD + ' colour="red"', "unknown-attribute", "colour", "warning"),
    element("kGA not used", GOOD + ' kGA="5"', "unused", "kGA", "warning"),
    element("other mass", GOOD + ' mass_per_length="1.7"', "beam-mass", "0.85 kg", "warning"),
    element("many powers", 'link="arm" EI_z="1" modes="polynomial:9"', "modes", "polynomial:9", "warning"),
    element("free root", 'link="arm" EI_z="1" modes="free-free:1"', "free-root", "free-free", "warning"),
    Case("unknown element", arm(f"<urdf_gibbs>\n<flexibel {GOOD}/>{HERE}\n</urdf_gibbs>\n"), "unknown-element", "flexibel", "warning"),
]  # fmt: skip


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_findings(case: Case) -> None:
    found, findings = both(case.document)
    assert [(f.severity, f.code, f.line) for f in findings] == [(case.severity, case.code, line_of(case.document))], [
        str(f) for f in findings
    ]
    assert case.value in findings[0].value and findings[0].expected
    if case.severity == "error" and case.code != "duplicate":
        assert not found


def test_a_joint_in_the_middle_is_named_among_others() -> None:
    text = at((0.25, 0, 0), ' length="0.5"').replace(
        "<urdf_gibbs>", link("more") + joint("end", "fixed", "arm", "more", xyz=(0.5, 0, 0)) + "<urdf_gibbs>"
    )
    found, findings = both(text)
    assert not found and [(f.code, f.line) for f in findings] == [("not-at-tip", line_of(text))]
    assert 'joint "wrist"' in findings[0].element and "its tip 0.5 0 0" in findings[0].expected


def test_every_error_at_once() -> None:
    text = arm(
        flexible('link="arm" EI_z="-1" EI_y="x" J="1" modes="z=clamped:99" theory="none" damping="a" foreshortening="?" direction="2 0 0"')
    )
    found, findings = both(text)
    assert not found
    assert {f.code for f in findings} == {
        "not-positive",
        "bad-number",
        "mode-family",
        "mode-count",
        "beam-theory",
        "bad-flag",
        "direction-length",
    }
    assert {f.line for f in findings} == {line_of(text)}


def test_several_links() -> None:
    more = link("second", inertial(1.0)) + joint("j", "revolute", "hand", "second")
    found, findings = both(
        arm(
            more + flexible(GOOD, 'link="second" EI_y="3" length="1" modes="clamped-free:1"', 'link="none" EI_y="3" modes="clamped-free:1"')
        )
    )
    assert set(found) == {"arm", "second"} and [f.code for f in findings] == ["unknown-link"]
    assert found["second"].line == found["arm"].line + 1
