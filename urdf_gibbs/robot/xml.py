"""Reading XML safely: expat gives exact line numbers, resolves nothing and never recurses.

Only encodings that XML knows are decoded: Python has others, some of quadratic cost, some that are programs
rather than encodings. Entities are refused where they are declared, so neither expansion nor an outside file is ever
reached. Namespaces are left alone: real files use prefixes that they do not declare.
"""

from __future__ import annotations

import codecs
import re
from xml.parsers import expat

from urdf_gibbs.robot.findings import Findings

# Top-level elements whose content is irrelevant to the mechanics: only their names are kept.
OPAQUE = frozenset({"gazebo", "transmission", "ros2_control", "sensor", "mujoco", "drake"})
MAX_DEPTH = 1000
# By the names that Python's codecs give them. Expat itself reads UTF-8, UTF-16 and those of one byte a character.
ENCODINGS = frozenset(
    {"utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "ascii", "koi8-r", "koi8-u", "mac-roman", "tis-620"}
    | {f"iso8859-{part}" for part in range(1, 17)}
    | {f"cp{page}" for page in (437, 850, 852, 855, 857, 858, 860, 861, 862, 863, 865, 866, 869, 874, *range(1250, 1259))}
    | {"gb2312", "gbk", "gb18030", "big5", "shift_jis", "cp932", "euc_jp", "euc_kr", "cp949"}
)
KNOWN_ENCODINGS = "UTF-8 (best), UTF-16, US-ASCII, ISO-8859-*, Windows-125*, KOI8, GB 18030, Big5, Shift_JIS, EUC"
XACRO_ADVICE = "plain URDF, or a file name that ends in .xacro: then it is expanded (by hand: 'xacro FILE.xacro > FILE.urdf')"


class Element:
    """An XML element: tag, attributes, line, child elements, and text where it is asked for (links and joints have none)."""

    __slots__ = ("attributes", "children", "line", "tag", "text")

    def __init__(self, tag: str, attributes: dict[str, str], line: int) -> None:
        self.tag, self.attributes, self.line = tag, attributes, line
        self.children: list[Element] = []
        self.text = ""

    def all(self, tag: str) -> list[Element]:
        return [child for child in self.children if child.tag == tag]


class _Refused(Exception):
    """Raised inside a handler to stop the parser; the finding is already recorded."""


def parse(text: bytes | str, findings: Findings, skipped: int = 0, whole: bool = False) -> Element | None:
    """The root element, or None with an error in ``findings``; ``skipped`` lines were taken off before.

    ``whole``: with the text of elements and with the content of those that say nothing about the mechanics.
    """
    if isinstance(text, str):
        data, encoding = text.encode("utf-8", "surrogatepass"), "utf-8"
    else:
        data, encoding = text, ""
    data, blank = _strip_leading_blanks(data)
    if blank:
        findings.warning("blank-before-xml", 1, "document", f"{blank} blank lines before <?xml", "<?xml at the first byte")
    skipped += blank
    declared = "" if encoding else _declared(data)
    if declared and not _is_known(declared):
        findings.error("not-xml", 1 + skipped, "document", f'encoding="{declared}"', f"an encoding of XML: {KNOWN_ENCODINGS}")
        return None
    try:
        return _expat(data, encoding, skipped, findings, whole)
    except _Refused:
        return None
    except (LookupError, ValueError) as problem:  # of several bytes a character
        try:
            if not declared:
                raise LookupError(problem)
            decoded = data.decode(declared)
        except (LookupError, ValueError):
            findings.error("not-xml", 1 + skipped, "document", str(problem), f"a known encoding: {KNOWN_ENCODINGS}")
            return None
        return parse(decoded, findings, skipped, whole)


def _declared(data: bytes) -> str:
    """The encoding that ``<?xml ... encoding="..."?>`` names; "" where it names none (or is itself of two bytes a character)."""
    match = re.match(rb"<\?xml[^>]{0,1000}?\bencoding\s*=\s*([\"'])([^\"'>]{0,100})\1", data.removeprefix(b"\xef\xbb\xbf")[:2000])
    return match[2].decode("ascii", "replace") if match else ""


def _is_known(encoding: str) -> bool:
    try:
        return codecs.lookup(encoding).name in ENCODINGS
    except (LookupError, ValueError):
        return False


def _expat(data: bytes, encoding: str, skipped: int, findings: Findings, whole: bool) -> Element | None:
    parser = expat.ParserCreate(encoding or None)
    parser.buffer_text = True
    roots: list[Element] = []
    stack: list[Element] = []
    opaque = 0  # depth below an opaque element

    def start(tag: str, attributes: dict[str, str]) -> None:
        element = Element(tag, attributes, parser.CurrentLineNumber + skipped)
        if stack:
            stack[-1].children.append(element)
            if tag in OPAQUE and len(stack) == 1 and not whole:
                parser.StartElementHandler, parser.EndElementHandler = start_inside, end_inside
                return
            if len(stack) > MAX_DEPTH:
                findings.error(
                    "not-urdf", element.line, f"<{tag}>", f"more than {MAX_DEPTH} nested elements", "a flat list of links and joints"
                )
                raise _Refused
        else:
            roots.append(element)
        stack.append(element)

        if tag.startswith("xacro:") and not whole:
            findings.error("xacro", element.line, f"<{tag}>", "an unexpanded xacro", XACRO_ADVICE)
            raise _Refused

    def end(tag: str) -> None:
        stack.pop()

    def start_inside(tag: str, attributes: dict[str, str]) -> None:
        nonlocal opaque
        opaque += 1

    def end_inside(tag: str) -> None:
        nonlocal opaque
        if opaque:
            opaque -= 1
        else:
            parser.StartElementHandler, parser.EndElementHandler = start, end

    def text(data: str) -> None:
        stack[-1].text += data

    parser.StartElementHandler, parser.EndElementHandler = start, end
    if whole:
        parser.CharacterDataHandler = text
    _refuse_entities(parser, skipped, findings)
    try:
        parser.Parse(data, True)
    except expat.ExpatError as problem:
        line = problem.lineno + skipped
        value = f"{expat.ErrorString(problem.code)} at column {problem.offset + 1}"
        if stack and parser.StartElementHandler is start:
            value += f", where <{stack[-1].tag[:60]}> of line {stack[-1].line} is open"
        findings.error("not-xml", line, "document", value, "well-formed XML")
        return None
    return roots[0]


def _refuse_entities(parser: expat.XMLParserType, skipped: int, findings: Findings) -> None:
    """Stop at the declaration of an entity, and at a document type that stands elsewhere."""

    def refuse_entity(name: str, is_parameter: int, value: str | None, base: str | None, system_id: str | None, *rest: object) -> None:
        what = f'<!ENTITY {name} SYSTEM "{system_id}">' if system_id else f"<!ENTITY {name}>"
        findings.error("entity", parser.CurrentLineNumber + skipped, "document type", what, "no entities: they are refused, never resolved")
        raise _Refused

    def refuse_external(name: str, system_id: str | None, public_id: str | None, has_internal_subset: int) -> None:
        if system_id is not None:  # expat would silently drop a reference to an entity declared there
            line = parser.CurrentLineNumber + skipped
            findings.error("entity", line, "document type", f'SYSTEM "{system_id}"', "no outside document type: it is refused, never read")
            raise _Refused

    parser.EntityDeclHandler, parser.StartDoctypeDeclHandler = refuse_entity, refuse_external


def _strip_leading_blanks(data: bytes) -> tuple[bytes, int]:
    """Real files start with blank lines before ``<?xml``; (data without them, how many lines)."""
    mark = b"\xef\xbb\xbf"
    body = data.removeprefix(mark)
    stripped = body.lstrip(b" \t\r\n")
    if not stripped.startswith(b"<?xml") or len(stripped) == len(body):
        return data, 0
    return stripped, body[: len(body) - len(stripped)].count(b"\n")
