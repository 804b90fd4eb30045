"""Opening a page of the built site, for the tests of all pages."""

from __future__ import annotations

from contextlib import contextmanager
from functools import cache

import pytest

from tests.browser.waits import wait_until
from tests.conftest import PAGES

SYSTEM_PAGES = ["search", "genindex"]
every_page = pytest.mark.parametrize("name", PAGES + SYSTEM_PAGES)
every_scheme = pytest.mark.parametrize("scheme", ["light", "dark"])


@cache
def shared_context(browser, options):
    """A context, which is a window, takes Chromium as long to open as a page: tests that leave nothing behind share one."""
    return browser.new_context(**dict(options))


@contextmanager
def opened(browser, address: str, *, inside: str, script: str = "", slower: int = 1, shared: bool = False, **options):
    """Open `address`; on leaving, no console message, failed request or request outside `inside` may have come up."""
    context = shared_context(browser, tuple(options.items())) if shared else browser.new_context(**options)
    page = context.new_page()
    talk: list[str] = []
    page.on("console", lambda message: talk.append(f"{message.type}: {message.text}") if message.type in ("error", "warning") else None)
    page.on("pageerror", lambda error: talk.append(f"exception: {error}"))
    page.on("request", lambda request: None if request.url.startswith((inside, "blob:", "data:")) else talk.append(f"outside: {request.url}"))
    # No failures of the page: what is still under way when the page is left, and scripts preloaded where none may run.
    dropped = set() if options.get("java_script_enabled", True) else {"script"}
    page.on("requestfailed", lambda request: None if request.resource_type in dropped or request.failure == "net::ERR_ABORTED" else talk.append(f"{request.failure}: {request.url}"))
    page.on("response", lambda response: talk.append(f"{response.status}: {response.url}") if response.status >= 400 else None)
    if script:
        page.add_init_script(script)
    if slower > 1:
        context.new_cdp_session(page).send("Emulation.setCPUThrottlingRate", {"rate": slower})
    page.goto(address, wait_until="load")
    if options.get("java_script_enabled", True):
        wait_until(page, "() => document.fonts.status === 'loaded'")
    yield page
    (page if shared else context).close()
    assert not talk, f"{address}: {talk}"
