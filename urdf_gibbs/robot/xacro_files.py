"""Xacro files, expanded by the library xacro without ROS: findings name the file and line of the xacro that an element comes from.

The library reads files with minidom, which knows no lines. While it works, files are read by a builder that writes each element's place
into an attribute; macros copy it along, and it is taken out of the result.
"""

from __future__ import annotations

import contextlib
import importlib
import io
import os
import re
from collections.abc import Iterator, Mapping
from typing import Any
from xml.dom import expatbuilder, minidom
from xml.parsers import expat

from urdf_gibbs.extras import extras_named
from urdf_gibbs.locks import Lock
from urdf_gibbs.robot import xml
from urdf_gibbs.robot.findings import Findings, Place
from urdf_gibbs.robot.load import Reading, read_root
from urdf_gibbs.robot.meshes import find_package
from urdf_gibbs.robot.urdf import Urdf

MARK = "urdf_gibbs_place"  # the attribute: which file, which line
PREFIX = "xacro:"
ARGUMENT = re.compile(r"\$\(\s*arg\s+([^\s)]+)\s*\)|xacro\.arg\(\s*['\"]([^'\"]+)")
WHERE = ("when processing file:", "in file:", "included from:", "when instantiating macro:", "instantiated from:")
FIND = "the folder of that package beside the file or in package_dirs= or --package-dir"

_lock = Lock()  # the library keeps what it works on in global variables


def read_xacro(text: str | bytes, file: str, reading: Reading) -> tuple[Urdf, str]:
    """Links and joints of a xacro, and the URDF that it expands to; MissingExtraError without the library."""
    with extras_named():
        import xacro
    findings = Findings(file)
    data = text.encode("utf-8", "surrogatepass") if isinstance(text, str) else text
    if not data.strip():
        findings.error("not-xml", 0, "file", "an empty file", "a xacro")
        return Urdf("", file, findings), ""
    with _lock:
        expansion = _Expansion(xacro, file, reading, findings)
        document = expansion.run(data)
    if document is None:
        return Urdf("", file, findings), ""
    marked = document.toxml()
    root = xml.parse(marked, findings)
    if root is None:
        return Urdf("", file, findings), ""
    expansion.place(root)
    _take_out(document)
    urdf = read_root(root, findings)
    if not urdf.links and not findings.mistakes:
        findings.error("no-link", root.line, "<robot>", "no <link>: perhaps macros alone", "links; load the xacro that includes this one")
    return urdf, document.toprettyxml(indent="  ")


class _Expansion:
    """One run of the library: the files that were read, and their arguments."""

    def __init__(self, library: Any, file: str, reading: Reading, findings: Findings) -> None:
        self.library, self.file, self.reading, self.findings = library, file, reading, findings
        self.files: list[str] = []
        self.arguments: set[str] = set()

    def run(self, data: bytes) -> minidom.Document | None:
        """The expanded document; None with an error in the findings."""
        printed = io.StringIO()
        try:
            with self._patched(), contextlib.redirect_stderr(printed), contextlib.redirect_stdout(printed):
                self.library.init_stacks(self.file)
                document = self.parsed(data, self.file)
                self.library.process_doc(document, mappings=dict(self.reading.xacro_args), verbosity=0)
        except expat.ExpatError as problem:
            self.findings.error(
                "not-xml", Place(problem.lineno, self.files[-1]), "document", expat.ErrorString(problem.code), "well-formed XML"
            )
            return None
        except RecursionError as problem:
            place = self._place_of(problem)
            self.findings.error("xacro", place, "xacro", "a macro or file that contains itself", "an end of the expansion")
            return None
        except Exception as problem:  # expressions in a xacro are Python, and raise whatever they like
            found, expected = self._explained(problem)
            self.findings.error("xacro", self._place_of(problem), "xacro", found, expected)
            return None
        self._check_arguments()
        for line in dict.fromkeys(printed.getvalue().splitlines()):
            if not line.startswith(WHERE):
                self.findings.note("xacro", 0, "xacro", line.removeprefix("warning: "), "nothing that the library xacro remarks")
        return document

    def parsed(self, text: bytes | str, file: str) -> minidom.Document:
        """A file as a document whose elements know their places."""
        self.files.append(file)
        content = text.encode("utf-8", "surrogatepass") if isinstance(text, str) else text
        words = content.decode("utf-8", "replace")
        self.arguments.update(one or other for one, other in ARGUMENT.findall(words))
        document = _Builder(len(self.files) - 1, self.arguments).parseString(content)
        assert isinstance(document, minidom.Document)
        return document

    def place(self, root: xml.Element) -> None:
        """Give each element the place that its attribute names, and take the attribute out."""
        stack = [root]
        while stack:
            element = stack.pop()
            mark = element.attributes.pop(MARK, "")
            if mark:
                number, _, line = mark.partition(":")
                file = self.files[int(number)]
                element.line = int(line) if file == self.file else Place(int(line), file)
            stack += element.children

    @contextlib.contextmanager
    def _patched(self) -> Iterator[None]:
        """The library with our way to read files and to find packages."""
        arguments: Any = importlib.import_module("xacro.substitution_args")
        table: Mapping[str, Any] = arguments._eval_dict
        before = self.library.parse, arguments._eval_find, table["find"], self.library.filestack, self.library.macrostack

        def parse(text: Any, filename: str | None = None) -> minidom.Document:
            if text is not None:
                return before[0](text, filename)  # type: ignore[no-any-return]
            try:
                with open(filename or "", "rb") as file:
                    return self.parsed(file.read(), os.path.normpath(filename or ""))
            except OSError as problem:
                self.library.filestack.pop()
                raise self.library.XacroException(f"{problem.strerror}: {filename}", exc=problem) from problem

        self.library.parse, arguments._eval_find = parse, self._find
        arguments._eval_dict["find"] = self._find
        try:
            yield
        finally:
            self.library.parse, arguments._eval_find = before[:2]
            arguments._eval_dict["find"] = before[2]
            self.library.filestack, self.library.macrostack = before[3:]
            self.library.substitution_args_context.pop("arg", None)

    def _find(self, package: str) -> str:
        path = find_package(package, [self.file, self._current()], self.reading.package_dirs)
        if path is None:
            raise _NoPackageError(package)
        return str(path)

    def _current(self) -> str:
        """The file that the library works on."""
        stack = self.library.filestack or []
        return next((file for file in reversed(stack) if file), self.file)

    def _check_arguments(self) -> None:
        for name in self.reading.xacro_args:
            if name not in self.arguments:
                known = ", ".join(sorted(self.arguments)) or "none: it has no arguments"
                self.findings.warning("xacro-arg", 0, "xacro", f'argument "{name}", which it does not have', f"one of {known}")

    def _explained(self, problem: Exception) -> tuple[str, str]:
        """What was found, and what was expected."""
        words = " ".join(str(problem).split()) or repr(problem)
        chain: BaseException | None = problem
        while chain is not None:
            if isinstance(chain, _NoPackageError):
                return f"$(find {chain.package})", FIND
            if type(chain).__name__ == "ArgException":
                name = str(chain)
                return f"$(arg {name}) without a value", f"xacro_args={{{name!r}: ...}} or --xacro-arg {name}=VALUE"
            chain = getattr(chain, "exc", None) or chain.__cause__ or chain.__context__
        return words, "a xacro that the library xacro can expand"

    def _place_of(self, problem: BaseException) -> Place:
        """The innermost element with a place that the library was working on."""
        place = Place(0, self.files[-1] if self.files else self.file)
        step = problem.__traceback__
        while step is not None:
            for name in ("node", "elt"):
                node = step.tb_frame.f_locals.get(name)
                own = getattr(node, "place", None)
                if own is None and isinstance(node, minidom.Element) and node.hasAttribute(MARK):
                    own = tuple(map(int, node.getAttribute(MARK).split(":")))
                if own is not None:
                    place = Place(own[1], self.files[own[0]])
            step = step.tb_next
        return place


class _NoPackageError(Exception):
    """$(find ...) of a package that is nowhere."""

    def __init__(self, package: str) -> None:
        self.package = package
        super().__init__(package)


class _Builder(expatbuilder.ExpatBuilderNS):
    """Makes a document of the elements' places: an attribute of what becomes part of a URDF, and an attribute of Python for all."""

    def __init__(self, number: int, arguments: set[str]) -> None:
        super().__init__()
        self._number, self._arguments = number, arguments

    def start_element_handler(self, name: str, attributes: Any) -> None:
        super().start_element_handler(name, attributes)
        line = self.getParser().CurrentLineNumber
        node: Any = self.curNode
        node.place = (self._number, line)
        if node.tagName == f"{PREFIX}arg":
            self._arguments.add(node.getAttribute("name"))
        if not node.tagName.startswith(PREFIX):
            node.setAttribute(MARK, f"{self._number}:{line}")


def _take_out(document: minidom.Document) -> None:
    """The places, from all elements."""
    for element in document.getElementsByTagName("*"):
        if element.hasAttribute(MARK):
            element.removeAttribute(MARK)
