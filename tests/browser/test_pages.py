"""The built site in a browser, as a reader opens it: from a server's sub-path, from disk, small, dark, printed, by keyboard."""

from __future__ import annotations

import re
from collections import Counter
from functools import cache

import pytest

from tests.browser.opened import every_page, every_scheme, opened
from tests.browser.waits import wait_until
from tests.conftest import HTML, PAGES
from tests.site.test_built import visible_text

WIDTHS = [320, 375, 768, 1280]
CHAPTERS = [name for name in PAGES if name.startswith("chapters/")]
MOST_BYTES = 2_200_000
MOST_SHIFT = 0.01
SLOW = 4  # times slower than this machine: what comes in pieces is then seen in pieces
COUNT_SHIFTS = """
window.shift = 0;
new PerformanceObserver((list) => {
  for (const entry of list.getEntries()) window.shift += entry.value;
}).observe({type: "layout-shift", buffered: true});
"""


@every_page
def test_fits_every_screen_without_a_word_from_the_console(browser, site_url, name):
    with opened(browser, f"{site_url}/{name}.html", inside=site_url, shared=True) as page:
        for width in WIDTHS:
            page.set_viewport_size({"width": width, "height": 800})
            wider = page.evaluate("document.scrollingElement.scrollWidth - document.documentElement.clientWidth")
            culprits = page.evaluate("""() => [...document.querySelectorAll('body *')]
                .filter((e) => e.getBoundingClientRect().right > innerWidth + 1)
                .map((e) => e.tagName + '.' + e.className).slice(0, 8)""")
            assert wider <= 0, f"{name} at {width} px scrolls sideways by {wider} px: {culprits}"


@pytest.mark.parametrize("name", PAGES)
@pytest.mark.parametrize("width", [375, 1280])
def test_nothing_jumps_while_the_page_comes_up(browser, site_url, name, width):
    size = {"width": width, "height": 900}
    with opened(browser, f"{site_url}/{name}.html", inside=site_url, script=COUNT_SHIFTS, slower=SLOW, viewport=size) as page:
        page.evaluate("() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
        assert page.evaluate("shift") <= MOST_SHIFT


@pytest.mark.parametrize("name", CHAPTERS)
def test_is_light(browser, site_url, name):
    with opened(browser, f"{site_url}/{name}.html", inside=site_url) as page:
        page.evaluate("for (const image of document.images) image.loading = 'eager'")
        wait_until(page, "() => [...document.images].every((image) => image.complete)")
        sizes = page.evaluate("""() => [...performance.getEntriesByType('navigation'), ...performance.getEntriesByType('resource')]
            .map((entry) => [entry.name, entry.decodedBodySize])""")
        total = sum(size for _, size in sizes)
        assert total > 100_000
        assert total < MOST_BYTES, f"{name} loads {total} bytes: {sorted(sizes, key=lambda pair: -pair[1])[:6]}"


def check_formulas(page) -> int:
    """Every formula is typeset and every glyph has its shape; return how many formulas there are."""
    state = page.evaluate("""() => {
        const formulas = [...document.querySelectorAll('span.math, div.math')];
        const bare = formulas.filter((f) => !f.querySelector('mjx-container mjx-math') || !f.querySelector('math'));
        const shapeless = [...document.querySelectorAll('mjx-c')].filter((c) => getComputedStyle(c, '::before').content === 'none');
        const flat = formulas.filter((f) => f.checkVisibility() && f.querySelector('mjx-math').getBoundingClientRect().width < 1);
        return {count: formulas.length, bare: bare.length, shapeless: shapeless.map((c) => c.className), flat: flat.length};
    }""")
    assert not state["bare"] and not state["shapeless"] and not state["flat"], state
    return state["count"]


@pytest.mark.parametrize("name", PAGES)
def test_formulas_are_typeset(browser, site_url, name):
    with opened(browser, f"{site_url}/{name}.html", inside=site_url, shared=True) as page:
        page.evaluate("for (const details of document.querySelectorAll('article details')) details.open = true")
        count = check_formulas(page)
        if name in CHAPTERS:
            assert count > 0, f"{name} has no formula"
        if count:
            assert page.evaluate("[...document.fonts].some((font) => font.family.startsWith('MJX') && font.status === 'loaded')")


@pytest.mark.parametrize("name", PAGES)
def test_reads_without_scripts(browser, site_url, name):
    with opened(browser, f"{site_url}/{name}.html", inside=site_url, java_script_enabled=False, shared=True) as page:
        assert page.locator("article h1").is_visible()
        for image in page.locator("article img").all():
            assert image.get_attribute("alt")


@every_page
def test_opens_from_disk_without_a_network(browser, site, name):
    address = (HTML / f"{name}.html").as_uri()
    with opened(browser, address, inside=HTML.as_uri(), offline=True, shared=True) as page:
        check_formulas(page)
        unloaded = page.evaluate("[...document.images].filter((i) => i.complete && !i.naturalWidth).map((i) => i.src)")
        assert not unloaded


@cache
def telling_words() -> dict[str, str]:
    """Return for each page a long word that stands on few others."""
    words = {name: Counter(re.findall(r"\b[a-z]{7,}\b", visible_text(name))) for name in PAGES}
    spread = Counter(word for each in words.values() for word in each)
    return {name: min(words[name], key=lambda word: (spread[word], -words[name][word], word)) for name in PAGES if words[name]}


@pytest.mark.parametrize("where", ["server", "disk"])
def test_search_finds_words_of_every_page(browser, site, site_url, where):
    root = site_url if where == "server" else HTML.as_uri()
    words = telling_words()
    assert set(words) == set(PAGES)
    with opened(browser, f"{root}/search.html", inside=root) as page:
        for name, word in words.items():
            page.goto(f"{root}/search.html?q={word}")
            page.wait_for_selector(f"#search-results a[href*='{name}.html']")


def test_there_is_one_search_field_and_it_works_by_keyboard(browser, site_url):
    with opened(browser, f"{site_url}/{PAGES[1]}.html", inside=site_url) as page:
        buttons = page.locator(".search-button-field, .search-button").locator("visible=true")
        assert buttons.count() == 1
        page.keyboard.press("Control+K")
        field = page.locator("#pst-search-dialog input[type=search]")
        field.wait_for(state="visible")
        field.fill("kernel")
        field.press("Enter")
        page.wait_for_selector("#search-results a")
        assert "search.html?q=kernel" in page.url


@every_scheme
def test_the_colour_mode_can_be_chosen_and_is_remembered(browser, site_url, scheme):
    with opened(browser, f"{site_url}/{PAGES[1]}.html", inside=site_url, color_scheme=scheme) as page:
        other = {"light": "dark", "dark": "light"}[scheme]
        for _ in range(3):
            page.locator(".theme-switch-button").locator("visible=true").first.click()
            if page.evaluate("document.documentElement.dataset.theme") == other:
                break
        assert page.evaluate("document.documentElement.dataset.theme") == other
        page.goto(f"{site_url}/{PAGES[2]}.html")
        assert page.evaluate("document.documentElement.dataset.theme") == other


@pytest.mark.parametrize("name", PAGES)
def test_prints_what_was_folded(browser, site_url, name):
    with opened(browser, f"{site_url}/{name}.html", inside=site_url, color_scheme="dark", shared=True) as page:
        folded = page.locator("article details:not([open])").count()
        page.emulate_media(media="print")
        page.evaluate("dispatchEvent(new Event('beforeprint'))")
        assert page.locator("article details:not([open])").count() == 0
        assert page.locator("article h1").is_visible(), "the title would not be printed"
        for chrome in [".bd-sidebar-primary", ".bd-header-article", ".bd-sidebar-secondary", ".prev-next-footer"]:
            assert page.locator(chrome).locator("visible=true").count() == 0, f"{chrome} would be printed"
        assert page.evaluate("getComputedStyle(document.querySelector('article p, article h1')).color") == "rgb(0, 0, 0)"
        page.evaluate("dispatchEvent(new Event('afterprint'))")
        assert page.locator("article details:not([open])").count() == folded


def test_the_print_button_prints(browser, site_url):
    stub = "window.print = () => { window.printed = true; };"
    with opened(browser, f"{site_url}/index.html", inside=site_url, script=stub) as page:
        page.locator("[data-print]").click()
        assert page.evaluate("window.printed")


def test_a_reader_walks_the_whole_book_by_its_next_links(browser, site_url):
    with opened(browser, f"{site_url}/{PAGES[0]}.html", inside=site_url) as page:
        walked = [PAGES[0]]
        while page.locator("a.right-next").count():
            page.locator("a.right-next").click()
            page.wait_for_load_state("load")  # the next link stands at the end of the page
            walked.append(page.url.removeprefix(f"{site_url}/").removesuffix(".html"))
        assert walked == PAGES
