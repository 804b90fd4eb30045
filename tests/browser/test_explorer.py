"""The explorer on a built page: every control, by hand and by keyboard, in every surrounding."""

import json
import random
import re
import warnings

import numpy as np
import pytest

from attention_pooling import nadaraya_watson
from attention_pooling.datasets import motorcycle, sine_data
from attention_pooling.explorer import explore
from attention_pooling.pooling import EmptyNeighbourhoodWarning
from tests.browser import explorer_book
from tests.browser.accessibility import BEST_PRACTICE, violations
from tests.browser.waits import wait_until
from tests.conftest import build

NAMES = ["Bandwidth σ", "Query", "Points", "Noise"]
BUTTONS = ["New sample", "Best σ", "Equal spread", "Reset", "Copy link", "Show as table"]
GRID = np.linspace(0, 5, 101)


class Figure:
    """One explorer of an opened page."""

    def __init__(self, page, name):
        self.page, self.root = page, page.locator(f'figure[data-explorer="{name}"]')

    def slider(self, name):
        return self.root.get_by_role("slider", name=name, exact=True)

    def button(self, name):
        return self.root.get_by_role("button", name=name, exact=True)

    def kernel(self):
        return self.root.get_by_role("combobox", name="Kernel", exact=True)

    def role(self, role):
        return self.root.locator(f'[data-role="{role}"]')

    def path(self, role="estimate"):
        return self.role(role).get_attribute("d")

    def said(self):
        return self.role("readout").inner_text()

    def set(self, name, value):
        self.slider(name).evaluate("(input, value) => { input.value = value; input.dispatchEvent(new Event('input', { bubbles: true })); }", value)

    def sigma(self):
        return float(self.root.locator(".sigma-box b").inner_text())

    def estimate(self):
        """Read the drawn curve back in the units of the values, from the tick labels of the axis."""
        axis = self.root.evaluate("""(root) => {
          const ticks = [...root.querySelectorAll('.stage .frame text.tick')].map((t) => [t.textContent.replace('−', '-'), +t.getAttribute('y') - 4, +t.getAttribute('x'), t.getAttribute('text-anchor')]);
          const lines = [...root.querySelectorAll('.stage .frame line.grid')].map((l) => +l.getAttribute('y1'));
          return ticks.filter((t) => t[3] === 'end' && lines.some((y) => Math.abs(y - t[1]) < 0.01)).map((t) => [+t[0], t[1]]);
        }""")
        (v0, y0), (v1, y1) = axis[0], axis[-1]
        found = re.findall(r"[ML](-?[\d.]+) (-?[\d.]+)", self.path() or "")
        return np.array([float(x) for x, _ in found]), np.array([v0 + (float(y) - y0) / (y1 - y0) * (v1 - v0) for _, y in found]), abs((v1 - v0) / (y1 - y0))

    def assert_drawn(self, keys, values, kernel, sigma, grid=GRID):
        """The drawn curve is Python's, to the rounding of a tenth of a pixel; gaps are where Python has no estimate."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", EmptyNeighbourhoodWarning)
            wanted = nadaraya_watson(grid, keys, values, kernel, sigma)
        _, drawn, pixel = self.estimate()
        wanted = wanted[np.isfinite(wanted)]
        assert len(drawn) == len(wanted)
        assert np.abs(drawn - wanted).max(initial=0) < 0.11 * pixel


@pytest.fixture
def open_page(browser, explorers):
    """Open a page of the small book; no console message and no exception may come up."""
    contexts, talk = [], []

    def opener(name="index", address="", **options):
        context = browser.new_context(**({"viewport": {"width": 1280, "height": 1000}} | options))
        contexts.append(context)
        page = context.new_page()
        page.on("console", lambda m: talk.append(m.text) if m.type in ("error", "warning") else None)
        page.on("pageerror", lambda error: talk.append(str(error)))
        page.on("request", lambda request: None if request.url.startswith(("file:", "data:")) else talk.append(request.url))
        page.goto((explorers / f"{name}.html").as_uri() + address)
        wait_until(page, "() => document.querySelectorAll('figure.explorer.mounted').length === document.querySelectorAll('figure.explorer[data-live]').length")
        return page

    yield opener
    for context in contexts:
        context.close()
    assert not talk, talk


# -- what a page carries ------------------------------------------------------------------


def test_the_size_of_what_is_shipped(explorers):
    size = {name: (explorers / "_static" / name).stat().st_size for name in ("explorer.js", "explorer.css", "sphere.js", "sphere.css")}
    assert size["explorer.js"] + size["explorer.css"] < 40_000 and sum(size.values()) < 53_000, size
    assert "explorer.js" not in (explorers / "search.html").read_text(encoding="utf-8")
    for page in ("index", "more"):
        html = (explorers / f"{page}.html").read_text(encoding="utf-8")
        states = re.findall(r'<figure class="explorer".*?<script type="application/json">(.*?)</script>', html, re.S)
        assert states and all(len(state.encode()) < 15_000 and json.loads(state) for state in states)
        assert "widget-state+json" not in html


def test_without_javascript_the_picture_stands_there(open_page):
    page = open_page_without_script(open_page)
    pictures = page.locator("figure.explorer > svg")
    assert pictures.count() == 5
    for i in range(5):
        assert pictures.nth(i).is_visible()
        assert 15 <= len(pictures.nth(i).get_attribute("aria-label").split()) <= 50


def open_page_without_script(open_page):
    page = open_page("more")
    address = page.url
    context = page.context.browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(address)
    return page


def test_own_kernel_is_a_picture_that_says_so(open_page):
    page = open_page("more")
    mine = Figure(page, "mine").root
    assert mine.locator("svg[role=img]").is_visible()
    assert "live in the notebook" in mine.inner_text()
    assert mine.locator("input, button").count() == 0


def test_links_to_a_state_lead_to_it(open_page):
    page = open_page()
    page.get_by_role("link", name="narrow").click()
    main = Figure(page, "main")
    assert main.sigma() == 0.05 and "q = 4.00" in main.said()
    page.get_by_role("link", name="there").click()
    page.wait_for_url("**/more.html#own?query=10")
    assert "q = 10.0" in Figure(page, "own").said()
    page.get_by_role("link", name="back").click()
    page.wait_for_url("**/index.html#second?kernel=boxcar")
    assert Figure(page, "second").kernel().input_value() == "boxcar"


# -- the controls ---------------------------------------------------------------------------


def test_twenty_moves_draw_twenty_of_pythons_curves(open_page):
    figure = Figure(open_page(), "main")
    data = sine_data(40, 1.0, 0)
    seen = set()
    for step in range(0, 200, 10):
        figure.set("Bandwidth σ", step)
        figure.assert_drawn(data.keys, data.values, "gaussian", figure.sigma())
        seen.add(figure.path())
    assert len(seen) == 20


def test_every_kernel_draws_pythons_curve(open_page):
    figure = Figure(open_page(), "second")
    data = sine_data(40, 1.0, 3)
    seen = set()
    for kernel in ("gaussian", "boxcar", "triangular", "epanechnikov", "constant"):
        figure.kernel().select_option(kernel)
        figure.assert_drawn(data.keys, data.values, kernel, 0.3)
        seen.add(figure.path())
    assert len(seen) == 5


def test_points_noise_and_new_sample_are_pythons_data(open_page):
    figure = Figure(open_page(), "main")
    figure.button("New sample").click()
    data = sine_data(40, 1.0, 1)
    figure.assert_drawn(data.keys, data.values, "gaussian", 0.5)
    figure.set("Points", 120)
    figure.set("Noise", 0.3)
    data = sine_data(120, 0.3, 1)
    figure.assert_drawn(data.keys, data.values, "gaussian", 0.5)
    assert "of 120 keys" in figure.said()
    figure.button("Reset").click()
    data = sine_data(40, 1.0, 0)
    figure.assert_drawn(data.keys, data.values, "gaussian", 0.5)


def test_best_and_equal_spread(open_page):
    figure = Figure(open_page(), "main")
    assert figure.button("Equal spread").is_disabled()
    figure.button("Best σ").click()
    assert figure.sigma() == pytest.approx(0.44, abs=0.005)
    figure.kernel().select_option("epanechnikov")
    figure.button("Equal spread").click()
    assert figure.sigma() == pytest.approx(0.44 * np.sqrt(5), rel=0.01)
    assert figure.button("Equal spread").is_disabled()
    figure.kernel().select_option("constant")
    assert figure.button("Equal spread").is_disabled()


def test_the_readout_is_pythons(open_page):
    figure = Figure(open_page(), "main")
    state = explore(views=("fit", "errors"))._state
    said = figure.said()
    assert f"estimate is {state['at_query']:.2f} (truth {state['truth_at_query']:.2f})" in said
    assert f"worth {state['effective']:.1f} equal neighbours" in said
    errors = state["errors"]
    assert f"training {errors['training']:.2f}, leave-one-out {errors['leave_one_out']:.2f}, validation {errors['validation']:.3f}" in said


def test_an_empty_neighbourhood_is_said_in_words(open_page):
    figure = Figure(open_page(address="#main?kernel=boxcar&bandwidth=0.05&query=2.3"), "main")
    assert "no key within reach" in figure.said()
    assert "no key within reach" in figure.slider("Query").get_attribute("aria-valuetext")
    assert figure.root.locator("circle.dot").is_hidden()
    figure.assert_drawn(sine_data().keys, sine_data().values, "boxcar", 0.05)


def test_the_bandwidth_is_said_with_its_error_where_the_errors_are_shown(open_page):
    assert re.fullmatch(r"σ 0.5, leave-one-out error \d.\d+", Figure(open_page(), "main").slider("Bandwidth σ").get_attribute("aria-valuetext"))
    assert Figure(open_page("more"), "guess").slider("Bandwidth σ").get_attribute("aria-valuetext") == "σ 0.5"


def test_keyboard_alone(open_page):
    page = open_page()
    figure = Figure(page, "second")
    for name in NAMES:
        slider = figure.slider(name)
        slider.focus()
        for key in ("End", "Home", "PageUp", "ArrowRight", "PageDown", "ArrowLeft", "End"):
            before = slider.input_value()
            page.keyboard.press(key)
            if key in ("End", "Home", "PageUp", "ArrowRight"):
                assert slider.input_value() != before, (name, key)
        assert re.search(r"\d", slider.get_attribute("aria-valuetext"))
    for name in BUTTONS[:4]:
        if figure.button(name).is_enabled():
            figure.button(name).focus()
            page.keyboard.press("Enter")
    figure.button("Reset").press("Enter")
    keys = figure.role("keys")
    keys.focus()
    first = figure.path()
    page.keyboard.press("ArrowUp")
    assert figure.path() != first
    page.keyboard.press("Insert")
    assert "of 41 keys" in figure.said()
    page.keyboard.press("End")
    assert "key 41 of 41" in keys.get_attribute("aria-valuetext")
    page.keyboard.press("Delete")
    assert "of 40 keys" in figure.said()
    figure.kernel().focus()
    page.keyboard.press("b")
    assert figure.kernel().input_value() == "boxcar"
    figure.button("Show as table").press("Space")
    assert figure.root.locator("tbody tr").count() == 40


def point(figure, x, y):
    """Return where (x, y) in the units of the data is on the screen."""
    return figure.root.evaluate("""(root, [x, y]) => {
      const ticks = [...root.querySelectorAll('.stage .frame text.tick')];
      const lines = [...root.querySelectorAll('.stage .frame line.grid')].map((l) => +l.getAttribute('y1'));
      const number = (t) => Number(t.textContent.replace('−', '-'));
      const up = ticks.filter((t) => t.getAttribute('text-anchor') === 'end' && lines.some((v) => Math.abs(v + 4 - +t.getAttribute('y')) < 0.01));
      const along = ticks.filter((t) => t.getAttribute('text-anchor') === 'middle' && Number.isFinite(number(t)));
      const at = (list, name, shift, v) => {
        const [a, b] = [list[0], list[list.length - 1]];
        return +a.getAttribute(name) - shift + ((v - number(a)) / (number(b) - number(a))) * (b.getAttribute(name) - a.getAttribute(name));
      };
      const box = root.querySelector('.stage svg').getBoundingClientRect();
      return [box.left + at(along, 'x', 0, x), box.top + at(up, 'y', 4, y)];
    }""", [x, y])  # fmt: skip


def test_keys_by_mouse(open_page):
    page = open_page()
    figure = Figure(page, "second")
    figure.root.scroll_into_view_if_needed()
    data = sine_data(40, 1.0, 3)
    start, end = point(figure, data.keys[0], data.values[0]), point(figure, 2.0, 0.5)
    page.mouse.move(*start)
    page.mouse.down()
    page.mouse.move(*end, steps=8)
    page.mouse.up()
    text = figure.role("keys").get_attribute("aria-valuetext")
    x, y = re.search(r"at ([\d.]+), value (−?[\d.]+)", text).groups()
    assert abs(float(x) - 2.0) < 0.03 and abs(float(y.replace("−", "-")) - 0.5) < 0.05
    page.mouse.click(*point(figure, 4.5, 0.0))
    assert "of 41 keys" in figure.said()
    page.mouse.dblclick(*point(figure, 4.5, 0.0))
    assert "of 40 keys" in figure.said()
    x, y = point(figure, 2.0, 0.5)
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x, y + 600, steps=4)
    page.mouse.up()
    assert "of 39 keys" in figure.said()


def test_the_query_by_mouse(open_page):
    page = open_page()
    figure = Figure(page, "second")
    figure.root.scroll_into_view_if_needed()
    x, y = point(figure, 1.0, 0.0)
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(*point(figure, 3.0, 0.0), steps=5)
    page.mouse.up()
    assert "q = 3.0" in figure.said()
    heat = figure.root.locator("canvas.heat").bounding_box()
    page.mouse.move(heat["x"] + 20, heat["y"] + heat["height"] * 0.8)
    assert "q = 1.0" in figure.said() or "q = 0.9" in figure.said()
    plot = figure.role("errors").bounding_box()
    page.mouse.click(plot["x"] + 10, plot["y"] + 40)
    assert figure.sigma() == 0.01


def test_touch(open_page):
    page = open_page(viewport={"width": 360, "height": 740}, has_touch=True, is_mobile=True)
    figure = Figure(page, "second")
    figure.root.scroll_into_view_if_needed()
    before = figure.said()
    plot = figure.role("errors").bounding_box()
    page.touchscreen.tap(plot["x"] + 20, plot["y"] + 20)
    assert figure.said() != before
    figure.root.locator(".stage").evaluate("(e) => window.scrollTo(0, e.getBoundingClientRect().top + scrollY - 80)")
    page.touchscreen.tap(*point(figure, 4.6, 0.2))
    assert "of 41 keys" in figure.said()
    figure.button("Reset").tap()
    assert "of 40 keys" in figure.said()


def test_predict_first(open_page):
    page = open_page("more")
    figure = Figure(page, "guess")
    figure.root.scroll_into_view_if_needed()
    assert not figure.path() and "Predict first" in figure.said() and "estimate is" not in figure.said()
    figure.button("Reveal").click()
    assert not figure.path()
    page.mouse.move(*point(figure, 0.5, 2))
    page.mouse.down()
    page.mouse.move(*point(figure, 4.5, 3), steps=10)
    page.mouse.up()
    figure.root.get_by_label("Your guess at the query").fill("3")
    figure.button("Reveal").click()
    assert figure.path() and "estimate is 3.41" in figure.said()
    bar = figure.root.locator(".guess-bar").inner_text()
    difference = 3 - explore()._state["at_query"]
    assert f"a difference of −{-difference:.3f}" in bar and "on average" in bar
    figure.button("Guess again").click()
    assert not figure.path()


def test_band(open_page):
    figure = Figure(open_page(), "main")
    band = figure.button("Band")
    assert band.get_attribute("aria-pressed") == "false"
    band.click()
    assert band.get_attribute("aria-pressed") == "true"
    assert figure.root.locator("path.band").get_attribute("d")
    painted = "(c) => c.toDataURL().length"
    full = figure.root.locator("canvas.band").evaluate(painted)
    band.click()
    assert figure.root.locator("canvas.band").evaluate(painted) < full / 10


# -- the address ------------------------------------------------------------------------------


def copied(figure):
    """Copy the link and return its part after #."""
    figure.page.evaluate("Object.defineProperty(navigator, 'clipboard', { configurable: true, value: { writeText: async (text) => { document.body.dataset.copied = text; } } })")
    figure.button("Copy link").click()
    return figure.page.evaluate("document.body.dataset.copied").split("#")[1]


def test_a_copied_link_opens_the_same_state(open_page):
    page = open_page()
    figure = Figure(page, "second")
    figure.kernel().select_option("triangular")
    figure.set("Points", 60)
    figure.button("New sample").click()
    figure.set("Bandwidth σ", 120)
    figure.set("Query", 3.3)
    figure.role("keys").focus()
    for key in ("ArrowUp", "PageUp", "ArrowRight", "ArrowRight", "Insert", "Home", "Delete"):
        page.keyboard.press(key)
    link, said, path = copied(figure), figure.said(), figure.path()
    assert link.startswith("second?")
    again = Figure(open_page(address="#" + link), "second")
    assert again.said() == said and again.path() == path
    assert Figure(again.page, "main").sigma() == 0.5


def test_without_a_clipboard_the_link_is_in_the_address(open_page):
    page = open_page()
    page.evaluate("Object.defineProperty(navigator, 'clipboard', { configurable: true, value: undefined })")
    Figure(page, "main").button("Copy link").click()
    page.wait_for_url("**#main?*")
    assert "address bar" in Figure(page, "main").root.inner_text()


@pytest.mark.parametrize("hostile", [
    "main?kernel=<img src=x onerror=alert(1)>", "main?kernel=__proto__&bandwidth=constructor", "main?bandwidth=-1&query=1e999",
    "main?bandwidth=0&query=NaN&points=4.5&seed=-3", "main?edits=m0~<b>~1", "main?edits=" + "a9~9~9_" * 300, "main?edits=d99",
    "main?%00%E0%A4%A", "main?query=javascript:alert(1)", "main?kernel=toString", "no-such?bandwidth=1", "?", "main?" + "x" * 5000,
    "main?points=1e9&noise=Infinity", 'main"><script>alert(1)</script>?bandwidth=2',
])  # fmt: skip
def test_hostile_addresses_fall_back(open_page, hostile):
    plain = Figure(open_page(), "main")
    page = open_page(address="#" + hostile)
    page.on("dialog", lambda dialog: pytest.fail(dialog.message))
    figure = Figure(page, "main")
    assert figure.said() == plain.said() and figure.path() == plain.path()
    assert page.locator("figure.explorer img, figure.explorer b b").count() == 0


# -- surroundings ------------------------------------------------------------------------------

CONTRAST = """(root) => {
  const context = Object.assign(document.createElement('canvas'), { width: 1, height: 1 }).getContext('2d', { willReadFrequently: true });
  const rgb = (colour, under) => { context.fillStyle = under; context.fillRect(0, 0, 1, 1); context.fillStyle = colour; context.fillRect(0, 0, 1, 1); return [...context.getImageData(0, 0, 1, 1).data].slice(0, 3); };
  const light = (c) => { const [r, g, b] = c.map((v) => (v /= 255) <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4); return 0.2126 * r + 0.7152 * g + 0.0722 * b; };
  const back = (e) => { for (; e; e = e.parentElement) { const c = getComputedStyle(e).backgroundColor; if (!/^rgba\\(0, 0, 0, 0\\)$|transparent/.test(c)) return c; } return 'white'; };
  const found = [];
  for (const e of root.querySelectorAll('*')) {
    if (![...e.childNodes].some((n) => n.nodeType === 3 && n.data.trim()) || !e.checkVisibility() || e.disabled || /option|script|style/i.test(e.tagName)) continue;
    const s = getComputedStyle(e), under = back(e), a = light(rgb(s[e instanceof SVGElement ? 'fill' : 'color'], under)), b = light(rgb(under, 'white'));
    found.push([(Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05), e.textContent.slice(0, 40)]);
  }
  return found;
}"""


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_contrast_and_axe_in_the_moved_state(open_page, scheme):
    page = open_page(color_scheme=scheme)
    figure = Figure(page, "main")
    figure.set("Bandwidth σ", 40)
    figure.button("Band").click()
    figure.button("Show as table").click()
    figure.button("Predict first").click()
    found = figure.root.evaluate(CONTRAST)
    assert len(found) > 40
    assert not [pair for pair in found if pair[0] < 4.5]
    assert not violations(page, BEST_PRACTICE, within=".explorer")
    back = figure.root.evaluate("(e) => getComputedStyle(e).backgroundColor")
    assert ("252" in back) == (scheme == "light")


@pytest.mark.parametrize("width", [320, 375, 768])
@pytest.mark.parametrize("name", ["index", "more"])
def test_fits_small_screens(open_page, width, name):
    page = open_page(name, viewport={"width": width, "height": 568})
    assert page.evaluate("document.scrollingElement.scrollWidth <= innerWidth")
    out = page.evaluate("""() => [...document.querySelectorAll('figure.mounted')].flatMap((figure) => {
      const box = figure.getBoundingClientRect();
      return [...figure.querySelectorAll('button, select, input, text, b, span')].filter((e) => e.checkVisibility() && !e.closest('.rows, .live') && !e.closest('.rail label'))
        .map((e) => [e.textContent, e.getBoundingClientRect()]).filter(([, r]) => r.width && (r.left < box.left - 1 || r.right > box.right + 1)).map(([t]) => t);
    })""")
    assert not out


def test_on_a_phone_the_bandwidth_stays_in_sight_of_the_fit(open_page):
    page = open_page(viewport={"width": 320, "height": 568})
    figure = Figure(page, "second")
    figure.root.locator(".stage").evaluate("(e) => window.scrollTo(0, e.getBoundingClientRect().top + scrollY - 70)")
    box = figure.slider("Bandwidth σ").bounding_box()
    assert 300 < box["y"] < 568 - box["height"]
    assert figure.role("estimate").bounding_box()["y"] > 0


TEXTS = """(svg) => [...svg.querySelectorAll('text')].filter((t) => t.checkVisibility() && t.textContent.trim() && t.getAttribute('display') !== 'none')
  .map((t) => [t.textContent, t.getBoundingClientRect().toJSON()])"""


def test_labels_never_collide(open_page):
    for width in (1280, 320):
        page = open_page(viewport={"width": width, "height": 900})
        figure = Figure(page, "main")
        for sigma, query in [(0, 0), (100, 5), (200, 2.5), (60, 3.7), (30, 4.98)]:
            figure.set("Bandwidth σ", sigma)
            figure.set("Query", query)
            for drawing in figure.root.locator(".explorer-view svg").all():
                texts = drawing.evaluate(TEXTS)
                assert texts
                for i, (a, p) in enumerate(texts):
                    for b, q in texts[:i]:
                        apart = p["right"] <= q["left"] + 1 or q["right"] <= p["left"] + 1 or p["bottom"] <= q["top"] + 4 or q["bottom"] <= p["top"] + 4
                        assert apart, f"{a!r} on {b!r} at {width} px"


def test_print_shows_the_present_state(open_page):
    page = open_page(color_scheme="dark")
    figure = Figure(page, "main")
    figure.set("Bandwidth σ", 30)
    page.emulate_media(media="print")
    figure.assert_drawn(sine_data().keys, sine_data().values, "gaussian", figure.sigma())
    assert figure.role("estimate").is_visible()
    assert "252" in figure.root.evaluate("(e) => getComputedStyle(e).backgroundColor")
    assert not figure.button("Reset").is_visible() and not figure.slider("Points").is_visible()
    assert figure.role("readout").is_visible()


def test_nothing_moves_by_itself(open_page):
    page = open_page(reduced_motion="reduce")
    assert page.evaluate("document.getAnimations().filter((a) => a.effect.target.closest('.explorer')).length") == 0


def test_two_figures_are_independent(open_page):
    page = open_page()
    main, second = Figure(page, "main"), Figure(page, "second")
    before = second.said(), second.path()
    main.set("Bandwidth σ", 10)
    main.kernel().select_option("boxcar")
    main.button("New sample").click()
    assert (second.said(), second.path()) == before
    ids = page.evaluate("[...document.querySelectorAll('figure.explorer [id]')].length")
    assert ids == 0


def test_own_data(open_page):
    figure = Figure(open_page("more"), "own")
    data = motorcycle()
    state = explore(data.keys, data.values, bandwidth=2, query=20)._state
    figure.assert_drawn(data.keys, data.values, "gaussian", 2.0, state["grid"])
    assert figure.slider("Points").count() == 0 and figure.button("New sample").count() == 0
    assert "truth" not in figure.said() and "validation" not in figure.said()


def test_a_thousand_random_actions(open_page):
    page = open_page()
    figure = Figure(page, "main")
    rng = random.Random(0)
    figure.page.evaluate("Object.defineProperty(navigator, 'clipboard', { configurable: true, value: { writeText: async () => {} } })")
    actions = []
    for _ in range(1000):
        kind = rng.choice(["slide", "slide", "kernel", "press", "key", "point", "drag"])
        actions.append([kind, rng.random(), rng.random(), rng.random()])
    bad = figure.root.evaluate("""(root, actions) => {
      const sliders = [...root.querySelectorAll('input[type=range]')];
      const select = root.querySelector('select');
      const keys = root.querySelector('[data-role=keys]');
      const names = ['ArrowLeft', 'ArrowRight', 'ArrowUp', 'ArrowDown', 'PageUp', 'PageDown', 'Home', 'End', 'Insert', 'Delete', '+', '-'];
      const svgs = [...root.querySelectorAll('.explorer-view svg')];
      const pick = (list, share) => list[Math.floor(share * list.length)];
      const bad = [];
      for (const [kind, a, b, c] of actions) {
        if (kind === 'slide') { const s = pick(sliders, a); s.value = +s.min + (s.max - s.min) * b; s.dispatchEvent(new Event('input', { bubbles: true })); }
        else if (kind === 'kernel') { select.selectedIndex = Math.floor(a * select.length); select.dispatchEvent(new Event('change', { bubbles: true })); }
        else if (kind === 'press') pick([...root.querySelectorAll('button')].filter((x) => x.checkVisibility()), a).click();
        else if (kind === 'key') keys.dispatchEvent(new KeyboardEvent('keydown', { key: pick(names, a), shiftKey: b < 0.2, bubbles: true }));
        else {
          const svg = pick(svgs, a < 0.8 ? 0 : 0.9), box = svg.getBoundingClientRect();
          const at = (x, y) => ({ clientX: box.left + x * box.width, clientY: box.top + y * box.height, pointerId: 1, pointerType: 'mouse', bubbles: true, isPrimary: true });
          svg.setPointerCapture = () => {};
          svg.dispatchEvent(new PointerEvent('pointerdown', at(b, c)));
          if (kind === 'drag') svg.dispatchEvent(new PointerEvent('pointermove', at(c, b)));
          svg.dispatchEvent(new PointerEvent('pointerup', kind === 'drag' ? at(c, b) : at(b, c)));
        }
        const marks = root.querySelector('.explorer-view').outerHTML;
        if (/NaN|undefined|Infinity|\\[object/.test(marks)) bad.push([kind, a, b, c, marks.match(/.{60}(NaN|undefined|Infinity|\\[object).{40}/)?.[0]]);
        if (bad.length > 3) break;
      }
      return bad;
    }""", actions)  # fmt: skip
    assert not bad


WRONG = {
    "#nowhere?bandwidth=1": "no explorer 'nowhere'", "#a?bandwidth=0.001": "bandwidth=0.001 is not within 0.01 to 5",
    "#a?kernel=cosine": "kernel 'cosine'", "#a?width=1": "'width' is none of", "other.ipynb#b?query=x": "query=x is not within",
}  # fmt: skip


def test_a_wrong_link_to_a_state_is_a_warning(tmp_path):
    links = "\n\n".join(f"[wrong]({link})" for link in WRONG)
    pages = {"index": [f"# Links\n\n{links}\n\n[right](#a?bandwidth=0.05&kernel=boxcar)", 'explore(views=("fit",), name="a")'],
             "other": ["# Other", 'explore(views=("fit",), name="b")']}  # fmt: skip
    result = build(explorer_book.write(tmp_path, pages))
    assert result.returncode != 0
    warned = [line for line in (result.stdout + result.stderr).splitlines() if "index.ipynb" in line and "WARNING" in line]
    assert len(warned) == len(WRONG)
    for said in WRONG.values():
        assert sum(said in line for line in warned) == 1, (said, warned)
