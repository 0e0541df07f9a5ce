"""Pages served to browser tabs on this machine; those of robots follow what Python shows them."""

from __future__ import annotations

import asyncio
import json
import threading
import webbrowser
from typing import TYPE_CHECKING, Any, Self

from numpy.typing import ArrayLike

from urdf_gibbs.errors import ArgumentError
from urdf_gibbs.view.scene import configuration

if TYPE_CHECKING:
    from urdf_gibbs.view.show import View

HOST = "127.0.0.1"


class Served:
    """Serves pages at ``url`` from a thread until ``close`` or the end of the process; a context manager."""

    def __init__(self, browser: bool = True, port: int = 0) -> None:
        self._loop = asyncio.new_event_loop()
        self._started: threading.Event = threading.Event()
        self._problem: Exception | None = None
        self._port = port
        self._thread = threading.Thread(target=self._serve, name="urdf_gibbs page", daemon=True)
        self._thread.start()
        self._started.wait()
        if self._problem is not None:
            raise self._problem
        self.url = f"http://{HOST}:{self._port}/"
        if browser:
            webbrowser.open(self.url)

    def close(self) -> None:
        """Stop serving; the port is free again, and open tabs go on by themselves."""
        if self._thread.is_alive():
            self._loop.call_soon_threadsafe(self._loop.stop)
            self._thread.join()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _routes(self) -> list[Any]:
        """Paths and handlers of tornado."""
        raise NotImplementedError

    def _leave(self) -> None:
        """What is to be closed before the server."""

    def _serve(self) -> None:
        from tornado import httpserver, netutil, web

        asyncio.set_event_loop(self._loop)
        server = httpserver.HTTPServer(web.Application(self._routes()))

        async def listen() -> None:
            try:
                sockets = netutil.bind_sockets(self._port, HOST)
                server.add_sockets(sockets)
                self._port = sockets[0].getsockname()[1]
            except Exception as problem:
                self._problem = problem

        async def leave() -> None:
            server.stop()
            self._leave()
            await server.close_all_connections()

        self._loop.run_until_complete(listen())
        self._started.set()  # not earlier: a close would stop the loop that is ending anyway
        if self._problem is None:
            self._loop.run_forever()
            self._loop.run_until_complete(leave())
        self._loop.close()


class Live(Served):
    """Serves a view, whose robot ``show`` moves."""

    def __init__(self, view: View, browser: bool = True, port: int = 0) -> None:
        self.view = view
        self._text = view.html(live=True)
        self._sockets: set[Any] = set()
        self._last: str | None = None
        super().__init__(browser, port)

    def show(self, q: ArrayLike) -> None:
        """Move the robot in every open tab to q (nq,)."""
        message = json.dumps({"q": configuration(self.view.robot, q).tolist()})
        self._last = message
        try:
            self._loop.call_soon_threadsafe(self._send, message)
        except RuntimeError:
            raise ArgumentError("the page is closed: open another one to show something") from None

    @property
    def tabs(self) -> int:
        """How many tabs are listening."""
        return len(self._sockets)

    def _send(self, message: str) -> None:
        for socket in list(self._sockets):
            self._write(socket, message)

    def _write(self, socket: Any, message: str) -> None:
        """To one tab, which may be closed already, or while the message is on its way."""
        from tornado.websocket import WebSocketClosedError

        def sent(done: asyncio.Future[None]) -> None:
            problem = None if done.cancelled() else done.exception()
            if isinstance(problem, WebSocketClosedError):
                self._sockets.discard(socket)
            elif problem is not None:
                self._loop.call_exception_handler({"message": "a message to a tab", "exception": problem, "future": done})

        try:
            socket.write_message(message).add_done_callback(sent)
        except WebSocketClosedError:
            self._sockets.discard(socket)

    def _leave(self) -> None:
        for socket in list(self._sockets):
            socket.close()

    def _routes(self) -> list[Any]:
        from tornado import web, websocket

        live = self

        class Page(web.RequestHandler):
            def get(self) -> None:
                self.write(live._text)

        class Socket(websocket.WebSocketHandler):
            def open(self, *_: str, **__: str) -> None:
                live._sockets.add(self)
                if live._last is not None:
                    live._write(self, live._last)

            def on_message(self, message: str | bytes) -> None:
                """Messages from tabs are ignored."""

            def on_close(self) -> None:
                live._sockets.discard(self)

        return [("/", Page), ("/live", Socket)]
