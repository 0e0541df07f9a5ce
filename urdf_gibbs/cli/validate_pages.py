"""The pages that ``urdf-gibbs validate --html`` writes: one for each comparison, and their index."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from urdf_gibbs.cli.console import resolve
from urdf_gibbs.errors import UrdfError
from urdf_gibbs.lint.check import check as lint
from urdf_gibbs.oracle.report import Report
from urdf_gibbs.robot.model import Robot

if TYPE_CHECKING:
    from urdf_gibbs.view.report import Entry


class Pages:
    """The pages of one call: that of PATH itself for one file and base, otherwise an index with the pages beside it."""

    def __init__(self, path: str, total: int, package_dirs: list[str]) -> None:
        self.path, self.total, self.package_dirs = Path(path), total, package_dirs
        blocked = self.path.exists() and not os.access(path, os.W_OK)
        if not path or self.path.is_dir() or blocked or not os.access(self.path.parent, os.W_OK | os.X_OK):
            raise typer.BadParameter(f"{path!r} cannot be written: expected a file in a folder that exists", param_hint="--html")
        self.entries: list[Entry] = []
        self.taken = {self.path.name.lower()}  # some file systems ignore case
        self.written: list[Path] = []
        self.problem = ""

    def refused(self, file: str, base: str, problem: UrdfError) -> None:
        """A row for a file that cannot be loaded."""
        from urdf_gibbs.view.report import Entry

        self.entries.append(Entry(file, base, "refused", errors=tuple(map(str, problem.findings))))

    def compared(self, file: str, robot: Robot, report: Report) -> None:
        """The page of a comparison, and its row."""
        from urdf_gibbs.view.report import Entry, report_view

        page = report_view(robot, report, lint(resolve(file), self.package_dirs), self.package_dirs)
        path = self.path if self.total == 1 else self.path.with_name(self._name(file, robot.base))
        if self._write(path, page.html()):
            self.entries.append(Entry(file, robot.base, report.verdict, report.summary, path.name))

    def finish(self) -> list[Path]:
        """Write the index, where one is due; everything that was written."""
        from urdf_gibbs.view.report import index_page

        if self.entries and (self.total > 1 or not self.written):
            self._write(self.path, index_page(self.entries, self.total))
            if self.total > 1 and self.path in self.written:
                return [self.path]
        return self.written

    def _name(self, file: str, base: str) -> str:
        robot = re.sub(r"[^\w.-]+", "_", Path(file).stem)[:80]
        for number in range(self.total + 1):
            name = f"{self.path.stem}-{robot}-{base}{f'-{number + 1}' if number else ''}.html"
            if name.lower() not in self.taken:
                break
        self.taken.add(name.lower())
        return name

    def _write(self, path: Path, text: str) -> bool:
        try:
            path.write_bytes(text.encode("utf-8", "replace"))  # a file name may contain surrogate characters
        except OSError as problem:
            self.problem = f"{path} was not written: {problem.strerror}"
            return False
        self.written.append(path)
        return True
