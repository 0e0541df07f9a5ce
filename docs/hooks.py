"""What MkDocs asks for while it builds the pages: mathematics as MathML, the commands as they describe themselves, the summary of claims.

$...$ and $$...$$ stay in the sources, where GitHub shows them; the built pages need neither a script nor a network.
"""

from __future__ import annotations

import re
from html import unescape
from pathlib import Path
from typing import Any

import typer
from latex2mathml.converter import convert
from mkdocs.exceptions import PluginError

from urdf_gibbs.cli import app

MATHS = re.compile(r'<(span|div) class="arithmatex">\\[(\[](.*?)\\[)\]]</\1>', re.S)
COMMANDS = "<!-- commands -->"
CLAIMS = "<!-- claims -->"
CHANGES = "<!-- changelog -->"
SUMMARY = Path(__file__).parents[1] / "validation/report.md"
CHANGELOG = Path(__file__).parents[1] / "CHANGELOG.md"
EXAMPLE = re.compile(r"^urdf-gibbs (\S+)", re.M)


def on_page_content(html: str, page: Any, **_: Any) -> str:
    """Every formula that pymdownx.arithmatex has found becomes MathML; the reST sign of a literal block in docstrings goes."""
    html = html.replace("<p>::</p>", "")
    return MATHS.sub(lambda found: mathml(unescape(found[2]), found[1] == "div", page.file.src_uri), html)


def mathml(formula: str, block: bool, page: str) -> str:
    try:
        converted = convert(formula.strip(), display="block" if block else "inline")
    except Exception as problem:
        raise PluginError(f"{page}: {formula!r}: {type(problem).__name__} {problem}") from problem
    if "\\" in unescape(converted):  # a command that the converter does not know is left as it is
        raise PluginError(f"{page}: {formula!r} holds a command that latex2mathml does not know")
    return f'<div class="formula">{converted}</div>' if block else converted


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """What is written elsewhere takes the place of a marker."""
    if CLAIMS in markdown:  # from its tally on
        return markdown.replace(CLAIMS, re.sub(r"\A.*?(?=^\d+ claims:)", "", SUMMARY.read_text(encoding="utf-8"), flags=re.S | re.M))
    if CHANGES in markdown:
        return CHANGELOG.read_text(encoding="utf-8").replace("docs/pages/", "")
    return with_commands(markdown, page)


def with_commands(markdown: str, page: Any) -> str:
    """A section for each command; the examples are those of the page's block above the marker."""
    if COMMANDS not in markdown:
        return markdown
    before, after = markdown.split(COMMANDS)
    examples = [line for line in before.splitlines() if EXAMPLE.match(line)]
    commands: dict[str, Any] = typer.main.get_command(app).commands  # type: ignore[attr-defined]
    shown = {EXAMPLE.match(line)[1] for line in examples}  # type: ignore[index]
    if shown != set(commands):
        raise PluginError(f"{page.file.src_uri}: without an example: {set(commands) - shown}; no such command: {shown - set(commands)}")
    sections = [one for name, command in commands.items() for one in sections_of(name, command, examples)]
    return before + "\n\n".join(sections) + after


def sections_of(name: str, command: Any, examples: list[str]) -> list[str]:
    """One of a command; of one that has commands of its own, one for each: the first is the one that its name alone means."""
    own = [line for line in examples if line.split()[1] == name]
    parts: dict[str, Any] = getattr(command, "commands", {})
    if not parts:
        return [section(name, command, own)]
    main, *others = parts
    of_others = {other: [line for line in own if line.split()[2] == other] for other in others}
    of_main = [line for line in own if all(line not in lines for lines in of_others.values())]
    return [section(name, parts[main], of_main), *(section(f"{name} {other}", parts[other], of_others[other]) for other in others)]


def section(name: str, command: Any, examples: list[str]) -> str:
    text = as_markdown("\n".join(line.strip() for line in command.help.splitlines()))
    rows = [row(parameter) for parameter in command.params if parameter.name != "help"]
    table = ["| | default | |", "|---|---|---|", *rows] if rows else []
    return "\n".join([f"## {name}", "", text, "", "```console", *examples, "```", "", *table])


def row(parameter: Any) -> str:
    """An argument or option, its default, what it does."""
    is_argument = parameter.param_type_name == "argument"
    names = [parameter.name.upper()] if is_argument else [*parameter.opts, *parameter.secondary_opts]
    value = parameter.default() if callable(parameter.default) else parameter.default
    default = f"`{value}`" if isinstance(value, str | int | float) and not isinstance(value, bool) and not is_argument else ""
    cells = " / ".join(f"`{one}`" for one in names), default, as_markdown(" ".join((parameter.help or "").split()))
    return f"| {' | '.join(cells)} |"


def as_markdown(text: str) -> str:
    """Text of --help, which is no Markdown: $(find ...) becomes code, as a formula would begin there, and signs of Markdown stay signs."""
    text = re.sub(r"[\\`*_<>|\[\]]", lambda found: f"&#{ord(found[0])};", text)
    return re.sub(r"\$\([^()]*\)", r"`\g<0>`", text)
