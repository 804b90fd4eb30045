"""No page violates WCAG 2.2 AA as far as axe can see, in light and in dark, with everything unfolded."""

from axe_playwright_python.sync_playwright import Axe

from tests.browser.opened import every_page, every_scheme, opened

WCAG = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22a", "wcag22aa"]


@every_page
@every_scheme
def test_has_no_accessibility_violation(browser, site_url, name, scheme):
    with opened(browser, f"{site_url}/{name}.html", inside=site_url, color_scheme=scheme, bypass_csp=True, shared=True) as page:
        assert page.evaluate("document.documentElement.dataset.theme") == scheme
        page.evaluate("for (const details of document.querySelectorAll('article details')) details.open = true")
        result = Axe().run(page, options={"runOnly": {"type": "tag", "values": WCAG}, "preload": False})
        faults = [
            f"{violation['id']}: {node['target']} {node['html'][:160]} {node['any'][0]['message'] if node['any'] else ''}"
            for violation in result.response["violations"]
            for node in violation["nodes"]
        ]
        assert not faults, f"{name}, {scheme}:\n" + "\n".join(faults[:12])
