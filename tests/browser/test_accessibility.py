"""No page violates WCAG 2.2 AA as far as axe can see, in light and in dark, with everything unfolded."""

from tests.browser.accessibility import violations
from tests.browser.opened import every_page, every_scheme, opened


@every_page
@every_scheme
def test_has_no_accessibility_violation(browser, site_url, name, scheme):
    with opened(browser, f"{site_url}/{name}.html", inside=site_url, color_scheme=scheme, bypass_csp=True, shared=True) as page:
        assert page.evaluate("document.documentElement.dataset.theme") == scheme
        page.evaluate("for (const details of document.querySelectorAll('article details')) details.open = true")
        faults = violations(page)
        assert not faults, f"{name}, {scheme}:\n" + "\n".join(faults[:12])
