"""Malformed documents are refused with every error, its file and its line; real-life oddities load; nothing else ever comes out."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from urdf_text import HERE, LIMIT, UNIT, XML, joint, line_of, link, robot

from urdf_gibbs import Robot, UrdfError, UrdfWarning, check, load
from urdf_gibbs.robot.findings import Finding

HINGE = joint("j", "continuous", "a", "b", axis=(0, 0, 1))


@dataclass(frozen=True)
class Case:
    """A document and the finding that it must raise; the line is the marked one unless given."""

    name: str
    document: str | bytes
    code: str
    at: int = 0

    @property
    def content(self) -> bytes:
        return self.document if isinstance(self.document, bytes) else self.document.encode()

    @property
    def line(self) -> int:
        return self.at or line_of(str(self.document))


def pair(joint_text: str) -> str:
    """Links a and b and the given joint."""
    return robot(link("a"), link("b"), joint_text)


def revolute(content: str, kind: str = "revolute") -> str:
    """A joint of several lines with the given content in the middle."""
    return pair(f'<joint name="j" type="{kind}">\n<parent link="a"/>\n<child link="b"/>\n{content}\n{LIMIT}\n</joint>\n')


def inertia_of(content: str) -> str:
    """A single link whose <inertial> has the given content."""
    return robot(f'<link name="a">\n<inertial>\n{content}\n</inertial>\n</link>\n')


def mass(value: str) -> str:
    return inertia_of(f'<mass {value}/>{HERE}\n<inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/>')


def inertia_entry(value: str) -> str:
    return inertia_of(f'<mass value="1"/>\n<inertia ixx="1" ixy="0" ixz="0" iyy="{value}" iyz="0" izz="1"/>{HERE}')


def axis(value: str, kind: str = "revolute") -> str:
    return revolute(f'<axis xyz="{value}"/>{HERE}', kind)


def origin(attributes: str) -> str:
    return revolute(f"<origin {attributes}/>{HERE}")


def chain(*mimics: str) -> str:
    """Joints j0, j1, ... of links l0, l1, ..., one on each line, each with the given content."""
    links = [link(f"l{i}") for i in range(len(mimics) + 1)]
    return robot(*links, *(joint(f"j{i}", "revolute", f"l{i}", f"l{i + 1}", mimic) for i, mimic in enumerate(mimics)))


def doctype(subset: str, body: str = "") -> str:
    return f'{XML}<!DOCTYPE robot [\n{subset}\n]>\n<robot name="r">\n{link("a")}{body}</robot>\n'


LAUGHS = "\n".join(['<!ENTITY l0 "ha">' + HERE, *(f'<!ENTITY l{i} "{f"&l{i - 1};" * 10}">' for i in range(1, 12))])
DEEP = 100_000

NOT_XML = [
    Case("truncated inside a tag", f'{XML}<robot name="r">\n<link name="a"', "not-xml", 3),
    Case("truncated between tags", f'{XML}<robot name="r">\n<link name="a"/>\n', "not-xml", 4),
    Case("truncated inside a comment", f'{XML}<robot name="r">\n<!-- and so on', "not-xml", 3),
    Case("mismatched tags", f'{XML}<robot name="r">\n<link name="a">\n</joint>\n</robot>', "not-xml", 4),
    Case("two root elements", f'{XML}<robot name="r"><link name="a"/></robot>\n<robot name="s"/>', "not-xml", 3),
    Case("attribute without quotes", f'{XML}<robot name="r">\n<link name=a/>\n</robot>', "not-xml", 3),
    Case("attribute given twice", f'{XML}<robot name="r">\n<link name="a" name="b"/>\n</robot>', "not-xml", 3),
    Case("bare ampersand", f'{XML}<robot name="r">\n<link name="a & b"/>\n</robot>', "not-xml", 3),
    Case("undeclared entity", f'{XML}<robot name="r">\n<link name="&name;"/>\n</robot>', "not-xml", 3),
    Case("plain text", "this is no URDF\nreally not\n", "not-xml", 1),
    Case("empty file", b"", "not-xml", 1),
    Case("blank file", b"  \n\t\n", "not-xml", 3),
    Case("only a declaration", XML, "not-xml", 2),
    Case("binary junk", bytes(range(256)) * 20, "not-xml", 1),
    Case("ELF header", b"\x7fELF\x02\x01\x01" + bytes(64), "not-xml", 1),
    Case("unknown encoding", b'<?xml version="1.0" encoding="klingon"?>\n<robot name="r"><link name="a"/></robot>', "not-xml", 1),
    Case(
        "codec that is no text encoding", b'<?xml version="1.0" encoding="zlib"?>\n<robot name="r"><link name="a"/></robot>', "not-xml", 1
    ),
    Case(
        "declared UTF-16 that is UTF-8", b'<?xml version="1.0" encoding="UTF-16"?>\n<robot name="r"><link name="a"/></robot>', "not-xml", 1
    ),
    Case("bytes that are no UTF-8", b'<?xml version="1.0"?>\n<robot name="r">\n<link name="\xe9\xff"/></robot>', "not-xml", 3),
    Case("NUL byte in a name", b'<?xml version="1.0"?>\n<robot name="r">\n\n<link name="a\0"/></robot>', "not-xml", 4),
    Case("NUL bytes after the end", b'<?xml version="1.0"?>\n<robot name="r"><link name="a"/></robot>\n\0\0\0', "not-xml", 3),
    Case("control character", b'<?xml version="1.0"?>\n<robot name="r">\n<link name="a\x01"/></robot>', "not-xml", 3),
]

NOT_URDF = [
    Case("root element is package", f'{XML}\n<package format="3">{HERE}<name>r</name></package>', "not-urdf"),
    Case("root element in capitals", f'{XML}<Robot name="r">{HERE}<link name="a"/></Robot>', "not-urdf"),
    Case("a bare link as root", f'<link name="a">{HERE}</link>', "not-urdf"),
    Case("deep nesting", f'{XML}<robot name="r">\n' + "<a>\n" * DEEP + "</a>\n" * DEEP + "</robot>", "not-urdf", 1003),
    Case(
        "deep nesting inside a link",
        f'{XML}<robot name="r">\n<link name="a">' + "<b>" * DEEP + "</b>" * DEEP + "</link></robot>",
        "not-urdf",
        3,
    ),
    Case("deep nesting without an end", "<robot>" * DEEP, "not-urdf", 1),
    Case(
        "xacro element",
        f'{XML}<robot xmlns:xacro="http://www.ros.org/wiki/xacro" name="r">\n{link("a")}<xacro:property name="m" value="1"/>{HERE}\n</robot>',
        "xacro",
    ),
    Case("xacro element of an undeclared namespace", robot(link("a"), f'<xacro:include filename="arm.xacro"/>{HERE}\n'), "xacro"),
    Case("xacro element inside a link", robot(f'<link name="a">\n<xacro:inertial_box mass="1"/>{HERE}\n</link>\n'), "xacro"),
    Case("xacro conditional inside a joint", revolute(f'<xacro:if value="1">{HERE}</xacro:if>'), "xacro"),
]

ENTITIES = [
    Case("internal entity", doctype(f'<!ENTITY m "1">{HERE}'), "entity"),
    Case("entity in an attribute value", doctype(f'<!ENTITY m "1">{HERE}', '<link name="&m;"/>\n'), "entity"),
    Case("entities nested a billionfold", doctype(LAUGHS, '<link name="&l11;"/>\n'), "entity"),
    Case("external entity", doctype(f'<!ENTITY x SYSTEM "file:///etc/passwd">{HERE}', "&x;\n"), "entity"),
    Case("external entity by public name", doctype(f'<!ENTITY x PUBLIC "x" "http://localhost:1/x">{HERE}', "&x;\n"), "entity"),
    Case("external parameter entity", doctype(f'<!ENTITY % x SYSTEM "file:///etc/passwd">{HERE}\n%x;'), "entity"),
    Case("internal parameter entity", doctype(f"<!ENTITY % x '<!ELEMENT a ANY>'>{HERE}\n%x;"), "entity"),
    Case("unparsed entity", doctype(f'<!NOTATION n SYSTEM "n">\n<!ENTITY x SYSTEM "x.gif" NDATA n>{HERE}'), "entity"),
]

TREE = [
    Case("no link", f'{XML}<robot name="r">{HERE}\n</robot>', "no-link"),
    Case(
        "only a joint",
        f'{XML}<robot name="r">\n<joint name="j" type="fixed"><parent link="a"/><child link="b"/></joint>{HERE}\n</robot>',
        "unknown-parent",
    ),
    Case("two roots", robot(link("a"), HERE + link("b")), "two-roots"),
    Case("second root with a child", robot(link("a"), HERE + link("b"), link("c"), joint("j", "fixed", "b", "c")), "two-roots"),
    Case(
        "cycle of the whole graph",
        robot(link("a"), link("b"), HERE + joint("j", "fixed", "a", "b"), joint("k", "fixed", "b", "a")),
        "cycle",
    ),
    Case(
        "detached cycle",
        robot(link("a"), link("b"), link("c"), HERE + joint("j", "fixed", "b", "c"), joint("k", "fixed", "c", "b")),
        "cycle",
    ),
    Case("self-loop of the only link", robot(link("a"), HERE + joint("j", "continuous", "a", "a", axis=(0, 0, 1))), "cycle"),
    Case("detached self-loop", robot(link("a"), link("b"), HERE + joint("j", "fixed", "b", "b")), "cycle"),
    Case(
        "two parents",
        robot(
            link("a"),
            link("b"),
            link("c"),
            joint("j", "fixed", "a", "b"),
            joint("k", "fixed", "a", "c"),
            HERE + joint("l", "fixed", "b", "c"),
        ),
        "two-parents",
    ),
    Case(
        "two joints between the same links",
        robot(link("a"), link("b"), joint("j", "fixed", "a", "b"), HERE + joint("k", "fixed", "a", "b")),
        "two-parents",
    ),
    Case("duplicate link name", robot(link("a"), HERE + link("a")), "duplicate"),
    Case(
        "duplicate joint name",
        robot(link("a"), link("b"), link("c"), joint("j", "fixed", "a", "b"), HERE + joint("j", "fixed", "b", "c")),
        "duplicate",
    ),
    Case("unknown parent", pair(HERE + joint("j", "fixed", "nobody", "b")), "unknown-parent"),
    Case("unknown child", pair(HERE + joint("j", "fixed", "a", "nobody")), "unknown-child"),
    Case("names differ by case", robot(link("a"), link("B"), HERE + joint("j", "fixed", "a", "b")), "unknown-child"),
]

JOINTS = [
    Case("unknown joint type", pair(HERE + joint("j", "spherical", "a", "b")), "joint-type"),
    Case("joint type in capitals", pair(HERE + joint("j", "Revolute", "a", "b")), "joint-type"),
    Case("missing joint type", pair(f'<joint name="j">{HERE}<parent link="a"/><child link="b"/></joint>'), "joint-type"),
    Case("link without name", robot(link("a"), f"<link>{HERE}</link>"), "missing"),
    Case("link with empty name", robot(link("a"), f'<link name="">{HERE}</link>'), "missing"),
    Case("joint without name", pair(f'<joint type="fixed">{HERE}<parent link="a"/><child link="b"/></joint>'), "missing"),
    Case("joint without parent", pair(f'<joint name="j" type="fixed">{HERE}\n<child link="b"/></joint>'), "missing"),
    Case("joint without child", pair(f'<joint name="j" type="fixed">{HERE}\n<parent link="a"/></joint>'), "missing"),
    Case("parent without link", pair(f'<joint name="j" type="fixed">\n<parent/>{HERE}\n<child link="b"/></joint>'), "missing"),
    Case("child without link", pair(f'<joint name="j" type="fixed">\n<parent link="a"/>\n<child name="b"/>{HERE}</joint>'), "missing"),
    Case("child with empty link", pair(f'<joint name="j" type="fixed">\n<parent link="a"/>\n<child link=""/>{HERE}</joint>'), "missing"),
    *(Case(f"zero axis on a {kind} joint", axis("0 0 0", kind), "zero-axis") for kind in ("revolute", "continuous", "prismatic", "planar")),
    Case("axis of negative zeros", axis("-0 -0.0 0e5"), "zero-axis"),
    Case("NaN axis", axis("0 nan 1"), "bad-number"),
    Case("infinite axis", axis("0 0 inf"), "bad-number"),
    Case("overflowing axis", axis("0 0 1e999"), "bad-number"),
    Case("axis of two numbers", axis("0 1"), "bad-number"),
    Case("axis of four numbers", axis("0 0 1 0"), "bad-number"),
    Case("empty axis", axis(""), "bad-number"),
    Case("axis by name", axis("z"), "bad-number"),
    Case("axis separated by commas", axis("0,0,1"), "bad-number"),
    Case("origin xyz of two numbers", origin('xyz="0 1"'), "bad-number"),
    Case("origin xyz in words", origin('xyz="here and there"'), "bad-number"),
    Case("infinite origin xyz", origin('xyz="0 -inf 0"'), "bad-number"),
    Case("origin rpy of two numbers", origin('rpy="0 1"'), "bad-number"),
    Case("origin rpy in words", origin('rpy="0 0 pi"'), "bad-number"),
    Case("infinite origin rpy", origin('rpy="inf 0 0"'), "bad-number"),
    Case("origin rpy as xacro expression", origin('rpy="0 0 ${pi/2}"'), "bad-number"),
    Case(
        "lower limit in words", revolute(f'<limit lower="low" upper="1" effort="1" velocity="1"/>{HERE}').replace(LIMIT, ""), "bad-number"
    ),
    Case(
        "upper limit with a comma",
        revolute(f'<limit lower="0" upper="1,5" effort="1" velocity="1"/>{HERE}').replace(LIMIT, ""),
        "bad-number",
    ),
    Case("NaN effort limit", revolute(f'<limit lower="0" upper="1" effort="nan" velocity="1"/>{HERE}').replace(LIMIT, ""), "bad-number"),
    Case("empty velocity limit", revolute(f'<limit lower="0" upper="1" effort="1" velocity=""/>{HERE}').replace(LIMIT, ""), "bad-number"),
    Case("damping in words", revolute(f'<dynamics damping="some" friction="0"/>{HERE}'), "bad-number"),
    Case("infinite friction", revolute(f'<dynamics damping="0" friction="inf"/>{HERE}'), "bad-number"),
]

LINKS = [
    Case("mass with a decimal comma", mass('value="1,5"'), "bad-number"),
    Case("mass as xacro expression", mass('value="${m}"'), "bad-number"),
    Case("mass as xacro substitution", mass('value="$(arg m)"'), "bad-number"),
    Case("infinite mass", mass('value="inf"'), "bad-number"),
    Case("NaN mass", mass('value="nan"'), "bad-number"),
    Case("overflowing mass", mass('value="1e400"'), "bad-number"),
    Case("mass with an underscore", mass('value="1_000"'), "bad-number"),
    Case("mass with a unit", mass('value="1 kg"'), "bad-number"),
    Case("hexadecimal mass", mass('value="0x10"'), "bad-number"),
    Case("empty mass", mass('value=""'), "bad-number"),
    Case("mass without value", mass('weight="1"'), "missing"),
    Case("negative mass", mass('value="-1e-3"'), "negative-mass"),
    Case("inertia in words", inertia_entry("small"), "bad-number"),
    Case("inertia with a comma", inertia_entry("0,01"), "bad-number"),
    Case("infinite inertia", inertia_entry("inf"), "bad-number"),
    Case("NaN inertia", inertia_entry("NaN"), "bad-number"),
    Case("origin of the inertial", inertia_of(f'<origin xyz="0 0"/>{HERE}\n<mass value="1"/>'), "bad-number"),
]

MIMICS = [
    Case("mimic of a missing joint", chain("", f'<mimic joint="nobody"/>{HERE}'), "mimic-missing"),
    Case("mimic of a link's name", chain("", f'<mimic joint="l0"/>{HERE}'), "mimic-missing"),
    Case("mimic without joint", chain("", f'<mimic multiplier="2"/>{HERE}'), "missing"),
    Case("mimic of itself", chain(f'<mimic joint="j0"/>{HERE}', ""), "mimic-loop"),
    Case("mimic loop of two", chain(f'<mimic joint="j1"/>{HERE}', '<mimic joint="j0"/>'), "mimic-loop"),
    Case("mimic loop of three", chain(f'<mimic joint="j1"/>{HERE}', '<mimic joint="j2"/>', '<mimic joint="j0"/>'), "mimic-loop"),
    Case("mimic multiplier in words", chain("", f'<mimic joint="j0" multiplier="twice"/>{HERE}'), "bad-number"),
    Case("infinite mimic offset", chain("", f'<mimic joint="j0" offset="inf"/>{HERE}'), "bad-number"),
    Case(
        "mimic of a floating joint",
        robot(
            link("a"), link("b"), link("c"), joint("f", "floating", "a", "b"), HERE + joint("j", "revolute", "b", "c", '<mimic joint="f"/>')
        ),
        "mimic-type",
    ),
    Case(
        "mimic of a planar joint",
        robot(
            link("a"),
            link("b"),
            link("c"),
            joint("p", "planar", "a", "b", axis=(0, 0, 1)),
            HERE + joint("j", "revolute", "b", "c", '<mimic joint="p"/>'),
        ),
        "mimic-type",
    ),
    Case(
        "floating joint that mimics",
        robot(
            link("a"), link("b"), link("c"), joint("j", "revolute", "a", "b"), HERE + joint("f", "floating", "b", "c", '<mimic joint="j"/>')
        ),
        "mimic-type",
    ),
]

IN_UTF16 = axis("0 0 zero")
IN_SHIFT_JIS = axis("0 0 zero").replace(XML, '<?xml version="1.0" encoding="shift_jis"?>\n').replace('name="r"', 'name="ロボット"')
BLANKS_FIRST = axis("0 0 zero").replace(XML, "\n\n" + XML)
BLANKS_SHIFT_JIS = "\n\n" + IN_SHIFT_JIS
ENCODINGS = [
    Case("error in a UTF-16 file", IN_UTF16.encode("utf-16"), "bad-number", line_of(IN_UTF16)),
    Case("error in a big-endian UTF-16 file", b"\xfe\xff" + IN_UTF16.encode("utf-16-be"), "bad-number", line_of(IN_UTF16)),
    Case("error in a UTF-8 file with a mark", axis("0 0 zero").encode("utf-8-sig"), "bad-number", line_of(IN_UTF16)),
    Case(
        "error in a Latin-1 file",
        axis("0 é 0").replace("?>", ' encoding="latin-1"?>', 1).encode("latin-1"),
        "bad-number",
        line_of(IN_UTF16),
    ),
    Case("error in a Shift JIS file", IN_SHIFT_JIS.encode("shift_jis"), "bad-number", line_of(IN_SHIFT_JIS)),
    Case("error in a Shift JIS file after blank lines", BLANKS_SHIFT_JIS.encode("shift_jis"), "bad-number", line_of(BLANKS_SHIFT_JIS)),
    Case("error after blank lines", BLANKS_FIRST, "bad-number"),
    Case("error in a file with Windows line ends", IN_UTF16.replace("\n", "\r\n").encode(), "bad-number", line_of(IN_UTF16)),
]

CASES = [*NOT_XML, *NOT_URDF, *ENTITIES, *TREE, *JOINTS, *LINKS, *MIMICS, *ENCODINGS]


def refused(path: Path, **options: bool) -> UrdfError:
    """The error that loading must raise, without warnings on the way."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(UrdfError) as caught:
            load(path, **options)
    return caught.value


def loaded(path: Path, **options: bool) -> Robot:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UrdfWarning)
        return load(path, **options)


@pytest.fixture
def written(tmp_path: Path) -> Callable[[str | bytes], Path]:
    def write(document: str | bytes) -> Path:
        path = tmp_path / "robot.urdf"
        path.write_bytes(document if isinstance(document, bytes) else document.encode())
        return path

    return write


def test_names_of_the_cases_are_unique_and_there_are_many() -> None:
    assert len({case.name for case in CASES}) == len(CASES) >= 55


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name.replace(" ", "-"))
def test_malformed_document_is_refused_with_file_line_and_code(case: Case, written: Callable[[str | bytes], Path]) -> None:
    path = written(case.content)
    error = refused(path)
    assert (case.code, case.line) in {(finding.code, finding.line) for finding in error.findings}
    assert f"{path}:{case.line}: error: " in str(error)
    assert all(finding.severity == "error" and finding.file == str(path) for finding in error.findings)
    assert str(error).count("\n") == len(error.findings) - 1, "one line for each finding, whatever the file held"


@pytest.mark.parametrize("name", ["nothing.urdf", ".", "no/such/folder/robot.urdf"], ids=["missing-file", "directory", "missing-folder"])
def test_path_that_cannot_be_read_is_refused(name: str, tmp_path: Path) -> None:
    path = tmp_path / name
    error = refused(path)
    assert [(finding.code, finding.line) for finding in error.findings] == [("unreadable", 0)]
    assert f"{path}:0: " in str(error)


def test_path_with_a_nul_byte_is_refused() -> None:
    with pytest.raises(UrdfError, match="unreadable"):
        load("robot\0.urdf")


# Several errors --------------------------------------------------------------------------------------


def errors_of(document: str, written: Callable[[str | bytes], Path]) -> set[tuple[str, int]]:
    return {(finding.code, finding.line) for finding in refused(written(document)).findings}


def test_errors_of_different_elements_are_all_listed_in_one_exception(written: Callable[[str | bytes], Path]) -> None:
    document = robot(
        '<link name="a"><inertial><mass value="1,5"/></inertial></link>\n',  # line 3
        link("a"),
        "<link/>\n",
        '<link name="b"><inertial><mass value="-1"/></inertial></link>\n',  # line 6
        joint("j", "spherical", "a", "b"),
        joint("k", "revolute", "a", "nobody", axis=(0, 0, 0)),
        '<joint name="l" type="fixed"/>\n',  # line 9
    )
    expected = {
        ("bad-number", 3),
        ("duplicate", 4),
        ("missing", 5),
        ("negative-mass", 6),
        ("joint-type", 7),
        ("zero-axis", 8),
        ("unknown-child", 8),
        ("missing", 9),
    }
    error = refused(written(document))
    assert {(finding.code, finding.line) for finding in error.findings} == expected
    assert [line for line in str(error).splitlines() if "error: " in line] == [str(finding) for finding in error.findings]
    assert sum(finding.line == 9 for finding in error.findings) == 2, "both ends of the joint are missing"


def test_errors_within_one_link_are_all_listed(written: Callable[[str | bytes], Path]) -> None:
    document = inertia_of('<origin xyz="x"/>\n<mass value="y"/>\n<inertia ixx="z" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/>')
    assert errors_of(document, written) == {("bad-number", 5), ("bad-number", 6), ("bad-number", 7)}


def test_errors_within_one_joint_are_all_listed(written: Callable[[str | bytes], Path]) -> None:
    document = revolute('<origin xyz="x"/>\n<axis xyz="0 0 0"/>\n<dynamics damping="y"/>\n<mimic/>')
    assert errors_of(document, written) == {("bad-number", 8), ("zero-axis", 9), ("bad-number", 10), ("missing", 11)}


def test_mimic_errors_are_listed_beside_the_errors_of_other_elements(written: Callable[[str | bytes], Path]) -> None:
    document = chain('<mimic joint="nobody"/>', "<dynamics damping='x'/>")
    assert errors_of(document, written) == {("mimic-missing", 6), ("bad-number", 7)}


def test_two_mimic_errors_and_two_roots_are_listed_together(written: Callable[[str | bytes], Path]) -> None:
    document = robot(
        *map(link, "abcd"),
        joint("j", "revolute", "a", "b", '<mimic joint="nobody"/>'),
        joint("k", "revolute", "b", "c", '<mimic joint="k"/>'),
    )
    assert errors_of(document, written) == {("two-roots", 6), ("mimic-missing", 7), ("mimic-loop", 8)}


def test_root_and_number_errors_are_listed_together(written: Callable[[str | bytes], Path]) -> None:
    document = robot(link("a"), '<link name="b"><inertial><mass value="x"/></inertial></link>\n')
    assert errors_of(document, written) == {("two-roots", 4), ("bad-number", 4)}


# Extremes that a reader must survive -------------------------------------------------------------------


def test_entity_of_an_unread_dtd_never_vanishes_from_a_value(written: Callable[[str | bytes], Path]) -> None:
    """An XML reader that does not fetch the DTD may skip what it cannot resolve: a mass of 1&zero; must not become 1. So an outside DTD is refused."""
    document = (
        f'{XML}<!DOCTYPE robot SYSTEM "robot.dtd">\n<robot name="r">\n'
        + link("a", UNIT.replace('mass value="1"', 'mass value="1&zero;"'))
        + "</robot>"
    )
    error = refused(written(document))
    assert any(finding.line == 2 and finding.code == "entity" for finding in error.findings)


@pytest.mark.parametrize("size", ["1e-150", "1e-110", "1e-60", "1", "1e60", "1e110", "1e150", "1e300"])
def test_verdict_on_an_inertia_does_not_depend_on_its_magnitude(size: str, written: Callable[[str | bytes], Path]) -> None:
    """Principal moments 0, 1 and 2 times the size break the triangle inequality at any size."""
    document = inertia_of(f'<mass value="1"/>\n<inertia ixx="{size}" ixy="0" ixz="{size}" iyy="{size}" iyz="0" izz="{size}"/>{HERE}')
    findings = loaded(written(document)).findings
    assert [(finding.code, finding.line) for finding in findings] == [("triangle-inequality", line_of(document))]


def test_largest_finite_inertia_stays_finite(written: Callable[[str | bytes], Path]) -> None:
    content = UNIT.replace('ixx="1"', 'ixx="1e308"').replace('iyy="1"', 'iyy="1e308"')
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        robot_ = load(written(robot(link("a"), link("b", content), HINGE)))
    assert robot_.inertia[0, 0, 0] == robot_.inertia[0, 1, 1] == 1e308


def test_deep_nesting_inside_a_gazebo_block_is_skipped(written: Callable[[str | bytes], Path]) -> None:
    times = []
    for depth in (DEEP // 10, DEEP):
        path = written(robot(link("a"), "<gazebo>" + "<a>" * depth + "</a>" * depth + "</gazebo>\n"))
        start = time.process_time()
        assert loaded(path).link_names == ("a",)
        times.append(time.process_time() - start)
    assert times[1] < 40.0 * times[0]  # ten times as deep; with the square of the depth it would be a hundred times


# Odd documents that load -------------------------------------------------------------------------------

ODD: dict[str, str | bytes] = {
    "doctype without entities": pair(HINGE).replace(XML, XML + "<!DOCTYPE robot>\n"),
    "predefined entities and character references": pair(HINGE).replace('name="r"', 'name="&lt;&amp;&#x72;"'),
    "blank lines before the declaration": "\n\n  \n" + pair(HINGE),
    "mark and blank lines before the declaration": b"\xef\xbb\xbf\n" + pair(HINGE).encode(),
    "version 0.0": pair(HINGE).replace('version="1.0"', 'version="0.0"'),
    "no declaration": pair(HINGE).removeprefix(XML),
    "UTF-8 with a mark": pair(HINGE).encode("utf-8-sig"),
    "UTF-16 with a mark": pair(HINGE).replace("?>", ' encoding="UTF-16"?>', 1).encode("utf-16"),
    "UTF-16 with a mark, undeclared": pair(HINGE).encode("utf-16"),
    "Latin-1": pair(HINGE).replace("?>", ' encoding="ISO-8859-1"?>', 1).replace('name="r"', 'name="é"').encode("latin-1"),
    "Windows line ends": pair(HINGE).replace("\n", "\r\n").encode(),
    "default namespace": pair(HINGE).replace("<robot", '<robot xmlns="http://www.ros.org"'),
    "leftover xacro namespace": pair(HINGE).replace("<robot", '<robot xmlns:xacro="http://www.ros.org/wiki/xacro"'),
    "undeclared prefixes in a gazebo block": pair(HINGE + "<gazebo><sensor:camera body:id='1'><xacro:x/></sensor:camera></gazebo>\n"),
    "undeclared prefix at the top": pair(HINGE + '<controller:thing name="c"/>\n'),
    "transmission with joints and links of its own": pair(HINGE + '<transmission name="t"><joint name="j"/><link/></transmission>\n'),
    "numbers in all spellings": pair(HINGE).replace("0.0 0.0 1.0", "\n-0 +0.e-3\t.1E+1 "),
    "comments and processing instructions": pair(HINGE + "<!-- <link/> --><?pi <link/>?>\n"),
    "text between elements": pair(HINGE + "some words\n"),
}


@pytest.mark.parametrize("name", ODD, ids=lambda name: name.replace(" ", "-"))
def test_odd_document_loads(name: str, written: Callable[[str | bytes], Path]) -> None:
    robot = loaded(written(ODD[name]))
    assert (robot.joint_names, robot.link_names) == (("j",), ("a", "b"))
    assert robot.joint("j").axis == (0.0, 0.0, 1.0)


def test_joint_and_link_may_share_a_name(written: Callable[[str | bytes], Path]) -> None:
    robot_ = loaded(written(robot(link("a"), link("b"), joint("b", "continuous", "a", "b", axis=(0, 0, 1)))))
    assert (robot_.joint_names, robot_.frame("b").body) == (("b",), 0)


@pytest.mark.parametrize("kind", ["fixed", "floating"])
def test_zero_axis_of_a_joint_that_has_none_loads(kind: str, written: Callable[[str | bytes], Path]) -> None:
    robot_ = loaded(written(pair(joint("j", kind, "a", "b", axis=(0, 0, 0)))))
    assert robot_.nv == (0 if kind == "fixed" else 6)
    assert not [finding for finding in robot_.findings if finding.severity != "note"]


@pytest.mark.parametrize("case", [case for case in MIMICS if case.code.startswith("mimic")], ids=lambda case: case.name.replace(" ", "-"))
def test_mimic_that_cannot_be_followed_loads_when_freed(case: Case, written: Callable[[str | bytes], Path]) -> None:
    robot_ = loaded(written(case.content), mimic=False)
    assert not any(joint.is_mimic for joint in robot_.joints)


def test_mimic_on_a_fixed_joint_loads_with_a_note(written: Callable[[str | bytes], Path]) -> None:
    document = robot(link("a"), link("b"), link("c"), HINGE, HERE + joint("k", "fixed", "b", "c", '<mimic joint="j"/>'))
    robot_ = loaded(written(document))
    assert robot_.joint_names == ("j",)
    assert [(finding.severity, finding.code, finding.line) for finding in robot_.findings] == [("note", "mimic-ignored", line_of(document))]


def test_mimic_of_a_missing_joint_on_a_fixed_joint_loads_with_a_note(written: Callable[[str | bytes], Path]) -> None:
    robot_ = loaded(written(pair(joint("k", "fixed", "a", "b", '<mimic joint="nobody"/>'))))
    assert [finding.code for finding in robot_.findings] == ["mimic-ignored"]


# Any document ------------------------------------------------------------------------------------------

VALID = f"""{XML}<robot name="r">
  <material name="grey"><color rgba="0.5 0.5 0.5 1"/></material>
  <link name="a">
    <inertial><origin xyz="0 0 0.1" rpy="0 0.1 0"/><mass value="1.5"/><inertia ixx="0.2" ixy="0.01" ixz="0" iyy="0.2" iyz="0" izz="0.3"/></inertial>
    <visual><origin xyz="0 0 1"/><geometry><box size="1 2 3"/></geometry><material name="grey"/></visual>
    <collision><geometry><mesh filename="package://m/a.stl" scale="1 1 1"/></geometry></collision>
  </link>
  <link name="b">{UNIT}<visual><geometry><cylinder radius="0.1" length="0.5"/></geometry></visual></link>
  <link name="c">{UNIT}<visual><geometry><sphere radius="0.1"/></geometry></visual></link>
  <link name="d"/>
  <joint name="j" type="revolute">
    <parent link="a"/><child link="b"/><origin xyz="0 0 1" rpy="0 1 0"/><axis xyz="0 0 1"/>
    <limit lower="-1" upper="1" effort="10" velocity="3"/><dynamics damping="0.1" friction="0.2"/>
  </joint>
  <joint name="k" type="prismatic"><parent link="b"/><child link="c"/><limit effort="1" velocity="1"/><mimic joint="j" multiplier="2" offset="0.1"/></joint>
  <joint name="l" type="planar"><parent link="c"/><child link="d"/><axis xyz="1 0 0"/></joint>
  <gazebo reference="a"><mu1>0.2</mu1></gazebo>
</robot>
"""
# What a random edit is unlikely to hit upon: numbers at the ends of the range, and the words of the format itself.
NUMBERS = "0 -1 nan inf -inf 1e150 1e308 -1e-320 1e999 1,5 1_0 ${x}"
NAMES = "a b c d j k l fixed floating planar continuous revolute mimic link joint robot"
MARKUP = (
    "< > /> </link> </robot> & &lt; &x; <!-- --> <![CDATA[ ]]> <? ?> xacro: <link/> <joint/> <inertial/> <visual/> <geometry/> <material/>"
)
WORDS = [
    *(NUMBERS.split() + NAMES.split() + MARKUP.split()),
    *("", " ", "\n", "\0", '"', "\ufeff", "é", "\U0001f916", "1 2", "0 0 0", "1e150 1e150 1e150", '<mimic joint="k"/>'),
    *('<!DOCTYPE robot [<!ENTITY x "y">]>', '<!DOCTYPE robot SYSTEM "x">'),
]
CHUNK = (
    st.sampled_from(WORDS).map(str.encode) | st.text(max_size=8).map(lambda text: text.encode("utf-8", "replace")) | st.binary(max_size=8)
)
EDIT = st.tuples(st.integers(0, len(VALID.encode())), st.integers(0, 60), CHUNK)
VALUE = st.tuples(st.integers(0, VALID.count('"') // 2 - 1), st.sampled_from(WORDS))


def edited(edits: list[tuple[int, int, bytes]]) -> bytes:
    """Each edit replaces ``length`` bytes at ``position`` by a chunk."""
    document = VALID.encode()
    for position, length, chunk in edits:
        document = document[:position] + chunk + document[position + length :]
    return document


def works_or_is_refused(path: Path, document: bytes, mimic: bool) -> None:
    path.write_bytes(document)
    errors: tuple[Finding, ...] = ()
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # a RuntimeWarning of the arithmetic would be a silent NaN
        warnings.simplefilter("ignore", UrdfWarning)
        try:
            findings = load(path, mimic=mimic).findings
        except UrdfError as error:
            findings = errors = error.findings
    assert errors == tuple(finding for finding in findings if finding.severity == "error"), "a robot with errors does not load"
    assert all(finding.line >= 1 for finding in findings)


@pytest.fixture(scope="module")
def scratch(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("fuzz") / "robot.urdf"


FUZZ = settings(max_examples=250, deadline=None, derandomize=True, database=None, suppress_health_check=[HealthCheck.too_slow])


def test_the_document_that_the_fuzz_starts_from_is_valid(scratch: Path) -> None:
    scratch.write_text(VALID)
    assert loaded(scratch).nv == 4


@FUZZ
@given(edits=st.lists(EDIT, min_size=1, max_size=4), mimic=st.booleans())
def test_randomly_edited_document_loads_or_is_refused(scratch: Path, edits: list[tuple[int, int, bytes]], mimic: bool) -> None:
    works_or_is_refused(scratch, edited(edits), mimic)


@FUZZ
@given(values=st.lists(VALUE, min_size=1, max_size=4), mimic=st.booleans())
def test_document_with_random_attribute_values_loads_or_is_refused(scratch: Path, values: list[tuple[int, str]], mimic: bool) -> None:
    parts = VALID.split('"')
    for index, value in values:
        parts[2 * index + 1] = value
    works_or_is_refused(scratch, '"'.join(parts).encode(), mimic)


@FUZZ
@given(cuts=st.lists(st.tuples(st.integers(0, VALID.count("\n") - 1), st.integers(0, VALID.count("\n") - 1)), min_size=1, max_size=3))
def test_document_with_lines_removed_and_repeated_loads_or_is_refused(scratch: Path, cuts: list[tuple[int, int]]) -> None:
    lines = VALID.splitlines(keepends=True)
    for source, target in cuts:
        lines[target] = lines[source] if source < target else ""
    works_or_is_refused(scratch, "".join(lines).encode(), True)


@FUZZ
@given(junk=st.binary(max_size=200))
def test_random_bytes_are_refused(scratch: Path, junk: bytes) -> None:
    works_or_is_refused(scratch, junk, True)


@pytest.mark.parametrize(
    ("encoding", "name"),
    [
        ("UTF-8", "é"),
        ("us-ascii", "e"),
        ("ISO-8859-15", "€"),
        ("windows-1252", "€"),
        ("Windows-1251", "ж"),
        ("koi8-r", "ж"),
        ("gb18030", "机器"),
        ("big5", "機器"),
        ("EUC-JP", "ロボット"),
        ("euc-kr", "로봇"),
    ],
)
def test_encodings_of_xml_are_read(encoding: str, name: str) -> None:
    text = f'<?xml version="1.0" encoding="{encoding}"?>\n<robot name="{name}"><link name="a"/></robot>'
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert load(text.encode(encoding)).name == name


@pytest.mark.parametrize(
    "encoding",
    ["punycode", "unicode_escape", "raw-unicode-escape", "idna", "utf-7", "rot13", "charmap", "zlib", "undefined", "iso-2022-jp", "x" * 99],
)
def test_other_codecs_of_python_are_refused(encoding: str) -> None:
    for document in (f"<?xml version='1.0' encoding='{encoding}'?>", f'\n\n<?xml version="1.0"   encoding = "{encoding}" ?>'):
        (error,) = [f for f in check((document + '<robot name="r"><link name="a"/></robot>').encode()) if f.severity == "error"]
        assert error.code == "not-xml" and encoding in error.value and "UTF-8" in error.expected


def test_a_tag_that_is_left_open_is_named() -> None:
    (one,) = check('<robot name="r">\n<link name="a">\n<inertial>\n<mass value="1"/>\n</link>\n</robot>')
    assert one.line == 5 and "where <inertial> of line 3 is open" in one.value


@pytest.mark.parametrize(("wrong", "meant"), [("foream", "forearm"), ("Forearm", "forearm"), ("nothing", None)])
def test_a_name_that_is_nearly_one_of_the_file_is_told(wrong: str, meant: str | None) -> None:
    links = [link(name) for name in ("base", "forearm", "hand")]
    ends = (("unknown-child", "base", wrong), ("unknown-parent", wrong, "hand"))
    for code, parent, child in ends:
        (one,) = [one for one in check(robot(*links, joint("j", "revolute", parent, child))) if one.code == code]
        assert (f'did you mean "{meant}"?' in one.expected) == (meant is not None)


def test_a_mimic_of_nearly_a_joint_is_told() -> None:
    (one,) = [one for one in check(chain("", '<mimic joint="j00"/>')) if one.code == "mimic-missing"]
    assert 'did you mean "j0"?' in one.expected


def test_exchanged_ends_of_a_joint_are_told() -> None:
    """Links a, b and c in a row; the second joint has its ends exchanged, so that b is carried twice and c by nothing."""
    links = [link(name) for name in "abc"]
    (one,) = [
        one
        for one in check(robot(*links, joint("ab", "revolute", "a", "b"), joint("bc", "revolute", "c", "b")))
        if one.code == "two-parents"
    ]
    assert 'joint "bc" exchanged?' not in one.expected  # the first may hang on a, or a on b
    more = [link("d"), joint("da", "revolute", "d", "a")]
    (one,) = [
        one
        for one in check(robot(*links, *more, joint("ab", "revolute", "a", "b"), joint("bc", "revolute", "c", "b")))
        if one.code == "two-parents"
    ]
    assert one.expected.endswith('are parent and child of joint "bc" exchanged?')
