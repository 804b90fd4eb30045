"""The sphere on a built page: its numbers against Python's, every control, every surrounding."""

import json
import re

import numpy as np
import pytest

from attention_pooling.sphere import DIMENSIONS, LIMITS, explore_sphere, weigh
from tests.browser.accessibility import BEST_PRACTICE, violations
from tests.browser.test_explorer import CONTRAST
from tests.browser.waits import wait_until

SLIDERS = ["Spread of key norms", "Bandwidth σ", "Query direction", "Query length"]
LISTEN = "document.addEventListener('explorer:ready', (event) => { if (event.detail.sphere) window.shipped = event.detail.sphere; });"
COPY = "Object.defineProperty(navigator, 'clipboard', { configurable: true, value: { writeText: async (text) => { window.copied = text; } } })"


class Sphere:
    def __init__(self, page, name="sphere"):
        self.page, self.root = page, page.locator(f'figure[data-explorer="{name}"]')

    def slider(self, name):
        return self.root.get_by_role("slider", name=name, exact=True)

    def button(self, name):
        return self.root.get_by_role("button", name=name, exact=True)

    def scale(self):
        return self.root.get_by_role("combobox", name="Scale of q·k", exact=True)

    def query(self):
        return self.root.locator('[data-role="query"]')

    def said(self):
        return self.root.locator('[data-role="readout"]').inner_text()

    def rows(self):
        """Return the weights that the table says, and those that the bars are as high as, shape (2, 2, n)."""
        return np.array(self.root.evaluate("""(root) => {
          const full = Number(root.querySelector('.bars span').textContent);
          return ['gaussian', 'product'].map((kind) => [
            [...root.querySelectorAll(`tr.${kind} td`)].map((td) => Number(td.textContent)),
            [...root.querySelectorAll(`i.${kind}`)].map((bar) => (full * parseFloat(bar.style.height)) / 100),
          ]);
        }"""))

    def address(self):
        self.page.evaluate(COPY)
        self.button("Copy link").click()
        return self.page.evaluate("window.copied").split("#")[1]

    def assert_drawn(self):
        """What is drawn is what Python weighs in the state that the copied link names."""
        chosen = {key: float(value) for key, value in re.findall(r"(\w+)=([\d.]+)", self.address())}
        assert list(chosen) == ["angle", "length", "bandwidth", "spread", "dimensions"]
        state = weigh(np.array([10, 60, 110, 170, 230, 300]), np.cos(2.4 * np.arange(-2, 4)), chosen | {"dimensions": int(chosen["dimensions"])})
        for (said, bars), wanted in zip(self.rows(), (state["gaussian"], state["product"]), strict=True):
            assert np.abs(said - wanted).max() < 5.1e-4
            assert np.abs(bars - wanted).max() < 1e-6
        return chosen


@pytest.fixture
def open_page(browser, explorers):
    """Open the page of spheres; no console message, no exception and no request may come up."""
    contexts, talk = [], []

    def opener(address="", **options):
        context = browser.new_context(**({"viewport": {"width": 1280, "height": 1000}} | options))
        contexts.append(context)
        page = context.new_page()
        page.add_init_script(LISTEN)
        page.on("console", lambda m: talk.append(m.text) if m.type in ("error", "warning") else None)
        page.on("pageerror", lambda error: talk.append(str(error)))
        page.on("dialog", lambda dialog: talk.append(dialog.message))
        page.on("request", lambda request: None if request.url.startswith(("file:", "data:")) else talk.append(request.url))
        page.goto((explorers / "sphere.html").as_uri() + address)
        wait_until(page, "() => document.querySelectorAll('figure.explorer.mounted').length === 2")
        return page

    yield opener
    for context in contexts:
        context.close()
    assert not talk, talk


# -- what the page carries ----------------------------------------------------------------


def test_a_page_loads_only_what_it_shows(explorers):
    static = {name: (explorers / "_static" / name).stat().st_size for name in ("explorer.js", "explorer.css", "sphere.js", "sphere.css")}
    for page, absent in (("sphere", "explorer.js"), ("index", "sphere.js")):
        html = (explorers / f"{page}.html").read_text(encoding="utf-8")
        loaded = [name for name in static if re.search(rf"_static/{name}\b", html)]
        assert absent not in loaded and "explorer.css" in loaded
        assert sum(static[name] for name in loaded) < 40_000
    assert static["sphere.js"] + static["sphere.css"] < 12_500
    html = (explorers / "sphere.html").read_text(encoding="utf-8")
    states = re.findall(r'<figure class="explorer".*?<script type="application/json">(.*?)</script>', html, re.S)
    assert len(states) == 2 and all(len(state.encode()) < 15_000 and json.loads(state) for state in states)


def test_numbers_agree_in_two_thousand_random_states(open_page):
    page = open_page()
    rng = np.random.default_rng(4)
    states = []
    for _ in range(2000):
        n = int(rng.integers(2, 8))
        angles = rng.choice([rng.uniform(-720, 720, n), rng.integers(0, 4, n) * 90.0])
        chosen = {key: float(rng.choice([*LIMITS[key], rng.uniform(*LIMITS[key])], p=[0.1, 0.1, 0.8])) for key in ("angle", "length", "bandwidth", "spread")}
        states.append(({"angles": angles.tolist(), "pattern": rng.uniform(-1, 1, n).tolist()}, chosen | {"dimensions": int(rng.choice(DIMENSIONS))}))
    got = json.loads(page.evaluate("(states) => JSON.stringify(JSON.parse(states).map(([given, chosen]) => window.shipped.weighSphere(given, chosen)))", json.dumps(states)))
    for (given, chosen), js in zip(states, got, strict=True):
        py = weigh(np.array(given["angles"]), np.array(given["pattern"]), chosen)
        assert set(js) == set(py) - {"message"}
        for key in ("gaussian", "product", "keys", "query", "norms", "sigma"):
            assert np.abs(np.array(js[key]) - py[key]).max() <= 1e-12, (key, given, chosen)
        assert np.allclose(js["curve"], py["curve"], rtol=1e-12, atol=0)


def test_without_javascript_the_picture_stands_there(browser, explorers):
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto((explorers / "sphere.html").as_uri())
    pictures = page.locator("figure.explorer > svg")
    assert pictures.count() == 2
    for i in range(2):
        assert pictures.nth(i).is_visible() and 15 <= len(pictures.nth(i).get_attribute("aria-label").split()) <= 50
    context.close()


# -- what hands can do ------------------------------------------------------------------------


def test_every_control_by_keyboard(open_page):
    page = open_page()
    sphere = Sphere(page)
    for name in SLIDERS:
        slider = sphere.slider(name)
        slider.focus()
        for key in ("End", "Home", "PageUp", "ArrowRight", "PageDown", "ArrowRight", "ArrowLeft"):
            before, rows = slider.input_value(), sphere.rows()
            page.keyboard.press(key)
            assert slider.input_value() != before, (name, key)
            assert not np.array_equal(sphere.rows(), rows), (name, key)
            sphere.assert_drawn()
            slider.focus()
        assert re.search(r"[a-z]+ .*\d|\d+ [a-z]+|σ \d", slider.get_attribute("aria-valuetext")), name
    sphere.scale().focus()
    page.keyboard.press("End")
    assert sphere.assert_drawn()["dimensions"] == 1024
    sphere.slider("Bandwidth σ").focus()
    page.keyboard.press("ArrowLeft")
    assert sphere.scale().input_value() == "0"
    sphere.button("Reset").press("Enter")
    assert sphere.assert_drawn() == dict(angle=53, length=1, bandwidth=0.7, spread=0, dimensions=0)


def test_every_control_by_mouse(open_page):
    page = open_page()
    sphere = Sphere(page)
    for name in SLIDERS:
        rows, box = sphere.rows(), sphere.slider(name).bounding_box()
        sphere.slider(name).click(position={"x": 0.45 * box["width"], "y": box["height"] / 2})
        assert not np.array_equal(sphere.rows(), rows), name
        sphere.assert_drawn()
    for d in DIMENSIONS[1:]:
        sphere.scale().select_option(str(d))
        assert sphere.assert_drawn()["dimensions"] == d
        assert f"dₖ = {d}" in sphere.said()
        assert float(sphere.root.locator(".dock b").nth(1).inner_text()) == pytest.approx(d**0.25, rel=0.005)
    sphere.button("Reset").click()
    sphere.assert_drawn()


def centre(sphere):
    box = sphere.root.locator(".unit").bounding_box()
    return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2, box["width"] / 2


def test_the_query_by_mouse(open_page):
    page = open_page()
    sphere = Sphere(page)
    sphere.root.scroll_into_view_if_needed()
    x, y, r = centre(sphere)
    page.mouse.move(x + r * np.cos(np.deg2rad(53)), y - r * np.sin(np.deg2rad(53)))
    page.mouse.down()
    for angle, length in [(80, 1.2), (180, 1.0), (270, 0.5), (330, 1.4)]:
        page.mouse.move(x + r * length * np.cos(np.deg2rad(angle)), y - r * length * np.sin(np.deg2rad(angle)), steps=3)
        shown = re.search(r"at (\d+) degrees, length ([\d.]+)", sphere.query().get_attribute("aria-valuetext"))
        assert abs(int(shown[1]) - angle) <= 1 and abs(float(shown[2]) - length) <= 0.03
        assert "agree" in sphere.said()
    page.mouse.up()
    sphere.assert_drawn()
    page.mouse.click(x, y - 1.7 * r)
    assert sphere.assert_drawn() | dict(angle=90, length=1.5) == sphere.assert_drawn()
    page.mouse.move(x, y)
    assert sphere.assert_drawn()["length"] == 1.5


def test_the_query_by_keyboard(open_page):
    page = open_page()
    sphere = Sphere(page)
    query = sphere.query()
    query.focus()
    for key, angle, length in [("ArrowRight", 58, 1.0), ("ArrowLeft", 53, 1.0), ("Shift+ArrowLeft", 52, 1.0), ("PageUp", 82, 1.0), ("ArrowUp", 82, 1.1),
                               ("ArrowDown", 82, 1.0), ("End", 359, 1.0), ("ArrowRight", 4, 1.0), ("Home", 0, 1.0), ("PageDown", 330, 1.0)]:  # fmt: skip
        page.keyboard.press(key)
        assert query.get_attribute("aria-valuetext") == f"query at {angle} degrees, length {length:.2f}"
        assert query.get_attribute("aria-valuenow") == str(angle)
    assert sphere.root.locator(".reach").evaluate("(e) => getComputedStyle(e).strokeWidth") == "2px"
    assert query.bounding_box()["width"] >= 24
    for _ in range(12):
        page.keyboard.press("ArrowDown")
    assert sphere.assert_drawn()["length"] == 0.1


def test_the_query_by_touch(open_page):
    page = open_page(viewport={"width": 360, "height": 740}, has_touch=True, is_mobile=True)
    sphere = Sphere(page)
    sphere.root.scroll_into_view_if_needed()
    before = sphere.said()
    x, y, r = centre(sphere)
    page.touchscreen.tap(x - 0.3 * r, y + 0.3 * r)  # beside the handle: the page may scroll
    assert sphere.said() == before
    client = page.context.new_cdp_session(page)
    at = lambda degrees: {"x": x + r * np.cos(np.deg2rad(degrees)), "y": y - r * np.sin(np.deg2rad(degrees))}  # noqa: E731
    client.send("Input.dispatchTouchEvent", {"type": "touchStart", "touchPoints": [at(53)]})
    for degrees in (70, 90, 120):
        client.send("Input.dispatchTouchEvent", {"type": "touchMove", "touchPoints": [at(degrees)]})
    client.send("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})
    assert abs(sphere.assert_drawn()["angle"] - 120) <= 1


# -- what it says -------------------------------------------------------------------------------


def test_it_says_when_and_how_the_two_part(open_page):
    sphere = Sphere(open_page())
    assert "All keys have norm 1" in sphere.said() and "below 10⁻¹²" in sphere.said()
    assert sphere.slider("Spread of key norms").get_attribute("aria-valuetext") == "all key norms are 1"
    sphere.slider("Spread of key norms").press("End")
    state = explore_sphere(spread=0.5).state
    gap = np.abs(np.subtract(state["gaussian"], state["product"]))
    ratio = max(state["product"]) / min(state["product"])
    wanted = (f"by {gap.max():.3f} at key {gap.argmax() + 1}, which gets {state['gaussian'][gap.argmax()]:.3f} by distance and "
              f"{state['product'][gap.argmax()]:.3f} by dot product. At σ² = 0.49, the dot product gives the largest weight {ratio:.3g} times")  # fmt: skip
    assert wanted in sphere.said()
    assert sphere.slider("Spread of key norms").get_attribute("aria-valuetext") == "key norms from 0.63 to 1.50"
    wait_until(sphere.page, "(said) => document.querySelector('figure[data-explorer=sphere] [aria-live=polite]').textContent === said", sphere.said())
    sphere.button("Reset").click()
    sphere.scale().select_option("64")
    assert "1.28 times the smallest" in sphere.said()


def test_links_to_a_state(open_page):
    page = open_page()
    page.get_by_role("link", name="apart").click()
    sphere = Sphere(page)
    wait_until(page, "() => location.hash.length > 1")
    assert sphere.assert_drawn() == dict(angle=53, length=1, bandwidth=0.7, spread=0.5, dimensions=64)
    sphere.slider("Query direction").press("PageUp")
    link, said, rows = sphere.address(), sphere.said(), sphere.rows()
    again = Sphere(open_page("#" + link))
    assert again.said() == said and np.array_equal(again.rows(), rows)
    assert "dₖ = 16" in Sphere(again.page, "seven").said()
    page.get_by_role("link", name="back").click()
    page.wait_for_url("**/index.html#main?query=1")


@pytest.mark.parametrize("hostile", [
    "sphere?angle=<img src=x onerror=alert(1)>", "sphere?bandwidth=0&length=1e999&spread=-1", "sphere?dimensions=63&angle=NaN",
    "sphere?dimensions=__proto__&spread=constructor", "sphere?angle=360.5&length=&bandwidth=Infinity", "sphere?%00%E0%A4%A", "sphere?" + "x" * 5000,
    "no-such?spread=0.5", "?", 'sphere"><script>alert(1)</script>?spread=0.5', "sphere?spread=0x1&angle=1_0&length=javascript:alert(1)",
])  # fmt: skip
def test_hostile_addresses_fall_back(open_page, hostile):
    sphere = Sphere(open_page("#" + hostile))
    assert sphere.assert_drawn() == dict(angle=53, length=1, bandwidth=0.7, spread=0, dimensions=0)
    assert sphere.page.locator("figure.explorer img, figure.explorer b b").count() == 0


def test_two_spheres_are_independent(open_page):
    page = open_page()
    first, second = Sphere(page), Sphere(page, "seven")
    rows = first.rows()
    second.slider("Query direction").press("Home")
    assert np.array_equal(first.rows(), rows)
    rows = second.rows()
    first.slider("Spread of key norms").press("End")
    assert np.array_equal(second.rows(), rows)


# -- surroundings ---------------------------------------------------------------------------------


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_contrast_and_axe_in_the_moved_state(open_page, scheme):
    page = open_page(color_scheme=scheme)
    sphere = Sphere(page)
    sphere.slider("Spread of key norms").press("End")
    sphere.scale().select_option("4")
    found = sphere.root.evaluate(CONTRAST)
    assert len(found) > 40
    assert not [pair for pair in found if pair[0] < 4.5]
    assert not violations(page, BEST_PRACTICE, within=".explorer")
    back = sphere.root.evaluate("(e) => getComputedStyle(e).backgroundColor")
    assert ("252" in back) == (scheme == "light")


@pytest.mark.parametrize("width", [320, 375, 768])
def test_fits_small_screens(open_page, width):
    page = open_page(viewport={"width": width, "height": 568})
    assert page.evaluate("document.scrollingElement.scrollWidth <= innerWidth")
    out = page.evaluate("""() => [...document.querySelectorAll('figure.mounted')].flatMap((figure) => {
      const box = figure.getBoundingClientRect();
      return [...figure.querySelectorAll('button, select, input, text, b, span, td, th')].filter((e) => e.checkVisibility() && !e.closest('.live'))
        .map((e) => [e.textContent, e.getBoundingClientRect()]).filter(([, r]) => r.width && (r.left < box.left - 1 || r.right > box.right + 1)).map(([t]) => t);
    })""")
    assert not out
    small = page.evaluate("""() => [...document.querySelectorAll('figure.mounted :is(button, select, input)')].filter((e) => e.checkVisibility())
      .map((e) => e.getBoundingClientRect()).filter((r) => r.height < 24 || r.width < 24).length""")
    assert small == 0


COLLISIONS = """(root) => {
  const svg = root.querySelector('.panels svg'), bad = [];
  const texts = [...svg.querySelectorAll('text')].map((t) => [t.textContent, t.getBoundingClientRect()]);
  const box = svg.getBoundingClientRect(), unit = box.width / 300;
  const glyph = ([, r]) => ({ x: (r.left + r.right) / 2, y: (r.top + r.bottom) / 2 });
  const number = (e, name) => Number(e.getAttribute(name));
  texts.forEach((t, i) => {
    const { x, y } = glyph(t);
    if (x < box.left + 3 || x > box.right - 3 || y < box.top + 3 || y > box.bottom - 3) bad.push(t[0] + ' leaves the drawing');
    for (const u of texts.slice(0, i)) if (Math.hypot(glyph(u).x - x, glyph(u).y - y) < 9 * unit) bad.push(t[0] + ' on ' + u[0]);
    for (const circle of svg.querySelectorAll('.marks circle.gaussian, .handle')) {
      const far = Math.hypot(box.left + unit * number(circle, 'cx') - x, box.top + unit * number(circle, 'cy') - y) / unit;
      if (far < number(circle, 'r') + 4) bad.push(t[0] + ' on a mark');
    }
  });
  return bad;
}"""


def test_labels_never_collide(open_page):
    page = open_page()
    rng = np.random.default_rng(0)
    for name in ("sphere", "seven"):
        sphere = Sphere(page, name)
        bad = []
        for i in range(60):
            chosen = {key: rng.choice([rng.uniform(*LIMITS[key]), LIMITS[key][1]]) for key in ("length", "bandwidth", "spread")}
            query = "&".join(f"{key}={value:.2f}" for key, value in chosen.items())
            page.evaluate("(hash) => { location.hash = hash; dispatchEvent(new HashChangeEvent('hashchange')); }", f"{name}?angle={i * 6}&{query}")
            bad += [(query, i * 6, what) for what in sphere.root.evaluate(COLLISIONS)]
        assert not bad, bad[:10]


def test_nothing_jumps(open_page):
    """The figure keeps its height in every state, and nothing moves by itself."""
    for width in (1280, 320):
        page = open_page(viewport={"width": width, "height": 900}, reduced_motion="reduce")
        sphere = Sphere(page)
        heights = set()
        for spread in ("Home", "End"):
            sphere.slider("Spread of key norms").press(spread)
            for sigma in ("Home", "End"):
                sphere.slider("Bandwidth σ").press(sigma)
                heights.add(sphere.root.bounding_box()["height"])
            for d in DIMENSIONS[1:]:
                sphere.scale().select_option(str(d))
                heights.add(sphere.root.bounding_box()["height"])
        assert len(heights) == 1, (width, heights)
        assert page.evaluate("document.getAnimations().filter((a) => a.effect.target.closest('.explorer')).length") == 0


def test_print_shows_the_present_state(open_page):
    page = open_page(color_scheme="dark")
    sphere = Sphere(page)
    sphere.slider("Spread of key norms").press("End")
    rows = sphere.rows()
    page.emulate_media(media="print")
    assert np.array_equal(sphere.rows(), rows)
    assert "252" in sphere.root.evaluate("(e) => getComputedStyle(e).backgroundColor")
    assert not sphere.button("Reset").is_visible() and not sphere.slider("Bandwidth σ").is_visible()
    assert sphere.root.locator('[data-role="readout"]').is_visible()
