"""Waiting for a page under its own Content-Security-Policy."""

from __future__ import annotations

SECONDS = 20


def wait_until(page, condition: str, argument=None) -> None:
    """Wait until the JavaScript function `condition` returns something true, looking once a frame.

    Playwright's `wait_for_function` evaluates a string from its second look on, which the book's policy forbids.
    """
    met = page.evaluate(
        f"""async ([argument, seconds]) => {{
          const condition = {condition};
          const end = performance.now() + 1000 * seconds;
          while (!condition(argument)) {{
            if (performance.now() > end) return false;
            await new Promise(requestAnimationFrame);
          }}
          return true;
        }}""",
        [argument, SECONDS],
    )
    assert met, f"{page.url}: after {SECONDS} s still not so: {condition} with {argument!r}"
