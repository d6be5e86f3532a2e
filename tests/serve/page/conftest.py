"""The explorer in a real Chromium, on real services."""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from typing import Any

import pytest
import uvicorn
from playwright.sync_api import Browser, Page, sync_playwright

from pipeline import HopRank
from pipeline.serve.access import Access
from pipeline.serve.http.app import make_app
from tests.browser import browser_path

WAIT_MILLISECONDS = 15_000
START_SECONDS = 30

_WATCH_POLICY = """
window.violations = [];
addEventListener("securitypolicyviolation", (event) => violations.push([event.violatedDirective, event.blockedURI]));
"""


def check_width(page: Page) -> None:
    """Nothing of the page is wider than its window."""
    assert page.evaluate("document.documentElement.scrollWidth") <= page.evaluate("innerWidth")


class Service:
    """A service in a thread of this process, which can be stopped and started again at the same port."""

    def __init__(self, hoprank: HopRank, port: int = 0) -> None:
        self._hoprank = hoprank
        self._port = port

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._port}"

    def start(self) -> None:
        sock = socket.create_server(("127.0.0.1", self._port))
        self._port = sock.getsockname()[1]
        self._app = make_app(self._hoprank, Access(self._hoprank.settings.serve))
        config = uvicorn.Config(self._app, log_config=None, access_log=False, timeout_graceful_shutdown=1)
        self._server = _Server(config)
        self._thread = threading.Thread(target=self._server.run, args=([sock],))
        self._thread.start()
        assert self._server.ready.wait(START_SECONDS)

    def stop(self) -> None:
        self._app.state.service.stopping.set()
        self._server.should_exit = True
        self._thread.join(START_SECONDS)
        assert not self._thread.is_alive()


class _Server(uvicorn.Server):
    def __init__(self, config: uvicorn.Config) -> None:
        super().__init__(config)
        self.ready = threading.Event()

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        self.ready.set()


Serving = Callable[..., AbstractContextManager[Service]]


@pytest.fixture(scope="session")
def serving(hoprank: HopRank) -> Serving:
    """Start a service with these settings of ``ask`` and ``serve``, as a context."""

    @contextmanager
    def run(ask: Mapping[str, Any] | None = None, **serve: Any) -> Iterator[Service]:
        given = {"serve": {"rate": 0, **serve}, "ask": ask or {}}
        sections = {name: getattr(hoprank.settings, name) for name in given}
        settings = {
            name: type(section).model_validate({**section.model_dump(), **given[name]})
            for name, section in sections.items()
        }
        connection = HopRank(hoprank.client, hoprank.embedder, hoprank.settings.model_copy(update=settings))
        service = Service(connection)
        service.start()
        try:
            yield service
        finally:
            service.stop()

    return run


@pytest.fixture(scope="module")
def service(serving: Serving) -> Iterator[Service]:
    """A service without a token."""
    with serving() as found:
        yield found


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """Chromium, driven by Playwright, whose event loop runs in this thread: other files' tests need theirs there."""
    path = browser_path()
    with sync_playwright() as playwright:
        found = playwright.chromium.launch(executable_path=path)
        yield found
        found.close()


@dataclass
class Seen:
    """What pages did: the origins of their requests, and the errors in their scripts."""

    origins: set[str] = field(default_factory=set)
    errors: list[str] = field(default_factory=list)


Open = Callable[..., Page]


@pytest.fixture
def open_page(browser: Browser, service: Service) -> Iterator[Open]:
    """Open the explorer at a fragment, in a window of its own.

    At the end no page may have broken the policy, run into an error, or asked anything but its service.
    """
    seen, opened = Seen(), []

    def open_(
        fragment: str = "", *, url: str = service.url, width: int = 1280, height: int = 860, **options: Any
    ) -> Page:
        context = browser.new_context(viewport={"width": width, "height": height}, **options)
        page = context.new_page()
        page.set_default_timeout(WAIT_MILLISECONDS)
        page.add_init_script(_WATCH_POLICY)
        page.on("request", lambda request: seen.origins.add("/".join(request.url.split("/")[:3])))
        page.on("pageerror", lambda error: seen.errors.append(str(error)))
        page.goto(f"{url}/{fragment}")
        opened.append((page, url))
        return page

    yield open_
    violations = [violation for page, _ in opened for violation in page.evaluate("violations")]
    for page, _ in opened:
        page.context.close()
    assert not violations
    assert not seen.errors
    assert seen.origins <= {"/".join(url.split("/")[:3]) for _, url in opened}
