"""The built site in a browser."""

from __future__ import annotations

from tests.conftest import HTML, notebooks, ROOT  # noqa: F401


def test_a_page_opens_without_an_outside_request_or_a_console_message(browser, site_url):
    page = browser.new_page()
    messages, outside = [], []
    page.on("console", lambda message: messages.append(message.text) if message.type in ("error", "warning") else None)
    page.on("pageerror", lambda error: messages.append(str(error)))
    page.on("request", lambda request: None if request.url.startswith(site_url) else outside.append(request.url))
    page.goto(f"{site_url}/index.html", wait_until="networkidle")
    assert page.title()
    assert not messages and not outside
    page.close()
