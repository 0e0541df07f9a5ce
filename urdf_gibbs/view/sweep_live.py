"""The page of a sweep served on this machine: a click on a dot runs that run again, bit by bit, and plays it in 3-D."""

from __future__ import annotations

import asyncio
import threading
import warnings
from typing import TYPE_CHECKING, Any

from urdf_gibbs.errors import UrdfGibbsError
from urdf_gibbs.templates import rendered
from urdf_gibbs.view.live import Served
from urdf_gibbs.view.sweep_page import run_view

if TYPE_CHECKING:
    from urdf_gibbs.view.sweep_page import SweepPage

KEPT = 8  # pages of runs


class LiveSweep(Served):
    """Serves the page of a sweep, and pages of its runs at run/NUMBER."""

    def __init__(self, page: SweepPage, browser: bool = True, port: int = 0) -> None:
        self.page = page
        self._text = page.html(live=True)
        self._runs: dict[int, str] = {}
        self._lock = threading.Lock()
        super().__init__(browser, port)

    def run_page(self, run: int) -> str:
        """The page of a run; where it could not begin, one that says why."""
        with self._lock:
            if run not in self._runs:
                while len(self._runs) >= KEPT:
                    del self._runs[next(iter(self._runs))]
                try:
                    with warnings.catch_warnings(record=True) as notes:
                        warnings.simplefilter("always")
                        view = run_view(self.page.sweep, run, self.page.data["theme"])
                    told = [str(note.message) for note in notes if note.category is UserWarning]
                    view.data["notes"].extend(told)
                    self._runs[run] = view.html()
                except UrdfGibbsError as problem:
                    self._runs[run] = rendered("view", "problem.html", title=f"Run {run}", problem=str(problem))
            return self._runs[run]

    def _routes(self) -> list[Any]:
        from tornado import web

        live = self

        class Page(web.RequestHandler):
            def get(self) -> None:
                self.write(live._text)

        class Run(web.RequestHandler):
            async def get(self, run: str) -> None:
                self.write(await asyncio.to_thread(live.run_page, int(run)))

        return [("/", Page), (r"/run/(\d{1,15})", Run)]
