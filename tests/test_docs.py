"""The documentation: every example runs, the site builds without a warning, needs no network, and names only files that exist."""

from __future__ import annotations

import inspect
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from conftest import watched
from markdown_blocks import python_blocks, run_python_blocks

import urdf_gibbs as ug

ROOT = Path(__file__).parents[1]
PAGES = ROOT / "docs" / "pages"
SOURCES = sorted(PAGES.rglob("*.md"))
LOADED = {"link": "href", "script": "src", "img": "src", "iframe": "src", "source": "src", "object": "data"}


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """As make docs builds it: links, anchors and pages that are missing are warnings, and a warning ends the build (not with --quiet)."""
    folder = tmp_path_factory.mktemp("site")
    command = [
        sys.executable,
        "-m",
        "mkdocs",
        "build",
        "--strict",
        "--config-file",
        "docs/mkdocs.yml",
        "--site-dir",
        str(folder),
    ]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=300, env={**os.environ, "NO_MKDOCS_2_WARNING": "1"})
    assert done.returncode == 0, done.stdout + done.stderr
    return folder


@pytest.mark.parametrize("page", [page for page in SOURCES if python_blocks(page)], ids=lambda page: page.stem)
def test_python_blocks_run_one_after_the_other(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)  # they write files
    run_python_blocks(page)


@pytest.mark.parametrize("page", SOURCES, ids=lambda page: page.stem)
def test_files_that_a_page_names_exist(page: Path) -> None:
    named = re.findall(r"`((?:urdf_gibbs|tests|validation|models|docs)/[^`\s]*)`", page.read_text(encoding="utf-8"))
    assert [name for name in named if not (ROOT / name).exists()] == []


class Elements(HTMLParser):
    """What a page loads, and its text outside of code."""

    def __init__(self) -> None:
        super().__init__()
        self.loads: list[str] = []
        self.formulas = 0
        self.text = ""
        self._code = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._code += tag in ("code", "script", "style")
        self.formulas += tag == "math"
        found = dict(attrs).get(LOADED.get(tag, ""))
        if found:
            self.loads.append(found)

    def handle_endtag(self, tag: str) -> None:
        self._code -= tag in ("code", "script", "style")

    def handle_data(self, data: str) -> None:
        if not self._code:
            self.text += data


def built(site: Path) -> Iterator[tuple[Path, Elements]]:
    for page in SOURCES:
        elements = Elements()
        elements.feed((site / page.relative_to(PAGES)).with_suffix(".html").read_text(encoding="utf-8"))
        yield page, elements


def test_pages_load_nothing_from_elsewhere(site: Path) -> None:
    for page, elements in built(site):
        assert elements.loads, page
        assert [url for url in elements.loads if re.match(r"(\w+:)?//", url)] == [], page
    for style in site.rglob("*.css"):
        assert not re.search(r"(url\(|@import)\s*[\"']?(https?:)?//", style.read_text(encoding="utf-8")), style


def test_parameters_of_the_api_are_tables(site: Path) -> None:
    """Name, type, description and default of each, as the signature of simulate has them."""
    page = (site / "api.html").read_text(encoding="utf-8")
    section = page[page.index('id="urdf_gibbs.simulate"') :]
    table = section[section.index("Parameters:") : section.index("Returns:")]
    heads, rows = re.findall(r"<th>(?:<b>)?(\w+)", table), re.findall(r"<tr[^>]*>\s*<td>\s*<code>(\w+)</code>", table)
    assert heads == ["Name", "Type", "Description", "Default"] and rows == list(inspect.signature(ug.simulate).parameters)


def test_formulas_are_mathml(site: Path) -> None:
    formula = re.compile(r"\$\$.+?\$\$|\$[^$\n]+\$", re.S)
    code = re.compile(r"^```.*?^```$|`[^`\n]*`", re.S | re.M)
    for page, elements in built(site):
        assert elements.formulas == len(formula.findall(code.sub("", page.read_text(encoding="utf-8")))), page
        assert "$" not in elements.text and "\\" not in elements.text, page


def test_api_page_has_every_public_name() -> None:
    listed = re.findall(r"^::: urdf_gibbs\.(\w+)$", (PAGES / "api.md").read_text(encoding="utf-8"), re.M)
    assert sorted(listed) == sorted(set(ug.__all__) - {"__version__"})


def test_search_works_from_the_disk(site: Path, browser: Any) -> None:
    context = browser.new_context(offline=True)
    tab = watched(context.new_page())
    tab.page.goto((site / "formulations" / "explicit.html").as_uri())
    tab.page.click("input[name=query]")
    tab.page.keyboard.type("gyroscopic")
    tab.page.wait_for_selector(".md-search-result__item a[href*='errata.html']")
    assert (tab.complaints, tab.outside) == ([], [])
    context.close()
