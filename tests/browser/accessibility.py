"""What axe finds on a page."""

from __future__ import annotations

from axe_playwright_python.sync_playwright import Axe

WCAG = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22a", "wcag22aa"]
BEST_PRACTICE = [*WCAG, "best-practice"]


def violations(page, rules: list[str] = WCAG, within: str | None = None) -> list[str]:
    """Return a line for each element that violates a rule, on the page or within a selector."""
    result = Axe().run(page, context=within, options={"runOnly": {"type": "tag", "values": rules}, "preload": False})
    return [
        f"{violation['id']}: {node['target']} {node['html'][:160]} {node['any'][0]['message'] if node['any'] else ''}"
        for violation in result.response["violations"]
        for node in violation["nodes"]
    ]
