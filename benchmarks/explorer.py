"""How fast and how large the explorer is: from an input event to the finished drawing, script and layout together.

Run from the root of the repository: python -m benchmarks.explorer
"""

import json
import re
import shutil
import tempfile
import time
from pathlib import Path

from playwright.sync_api import sync_playwright

from attention_pooling import explorer
from tests.browser import explorer_book, live_notebook

MOVES = 300
MEASURE = """async ({ name, control, moves, press }) => {
  const figure = document.querySelector(`figure[data-explorer="${name}"]`);
  figure.scrollIntoView();
  const input = [...figure.querySelectorAll("label")].find((label) => label.textContent === control).querySelector("input");
  const wanted = press && [...figure.querySelectorAll("button")].find((b) => b.textContent === press);
  if (wanted && wanted.getAttribute("aria-pressed") !== "true") wanted.click();
  const [low, high] = [Number(input.min), Number(input.max)];
  const times = [];
  for (let i = 0; i < moves; i++) {
    await new Promise(requestAnimationFrame);
    input.value = low + (high - low) * ((i * 0.618034) % 1);
    const start = performance.now();
    input.dispatchEvent(new Event("input", { bubbles: true }));
    figure.getBoundingClientRect();
    figure.querySelector("svg").getBBox();
    times.push(performance.now() - start);
  }
  return times.sort((a, b) => a - b);
}"""
DRAG = """async ({ name, moves }) => {
  const figure = document.querySelector(`figure[data-explorer="${name}"]`);
  const keys = figure.querySelector('[data-role="keys"]');
  const times = [];
  for (let i = 0; i < moves; i++) {
    await new Promise(requestAnimationFrame);
    const start = performance.now();
    keys.dispatchEvent(new KeyboardEvent("keydown", { key: i % 2 ? "ArrowUp" : "ArrowDown", bubbles: true }));
    figure.getBoundingClientRect();
    figure.querySelector("svg").getBBox();
    times.push(performance.now() - start);
  }
  return times.sort((a, b) => a - b);
}"""


def python_moves(name, low, high):
    """Return how long a move of a control takes in Python: estimator, state and messages."""
    figure = explorer.explore()
    control = figure._inputs[name]
    times = []
    for i in range(MOVES):
        start = time.perf_counter()
        control.value = low + (high - low) * (0.618034 * (i + 1) % 1)
        times.append(1000 * (time.perf_counter() - start))
    figure.close()
    return sorted(times)


def report(what, times, target):
    at = lambda share: times[min(len(times) - 1, int(share * len(times)))]  # noqa: E731
    print(f"{what:<58} median {at(0.5):5.1f} ms   95 % {at(0.95):5.1f} ms   target {target} ms")


def main():
    """Print the numbers of the explorer's targets."""
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        html = explorer_book.built(Path(folder))
        sizes = {name: (html / "_static" / name).stat().st_size for name in ("explorer.js", "explorer.css", "sphere.js", "sphere.css")}
        print(f"script and style of both figures together:        {sum(sizes.values()):6d} bytes   target 40000 bytes")
        print(f"a page with explore() loads:                      {sizes['explorer.js'] + sizes['explorer.css']:6d} bytes")
        print(f"a page with explore_sphere() loads:               {sizes['sphere.js'] + sizes['sphere.css'] + sizes['explorer.css']:6d} bytes")
        for n in (40, 200, 500):
            form = explorer.explore(points=n)._repr_mimebundle_()["text/html"]
            state = re.search(r"<script[^>]*>(.*?)</script>", form, re.S)[1]
            print(f"state at n = {n:<45} {len(state.encode()):6d} bytes   target 15000 bytes")
        report("Python's share of a move in a notebook, bandwidth", python_moves("bandwidth", 0.01, 5), 50)
        report("Python's share of a move in a notebook, query", python_moves("query", 0, 5), 50)
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium") or shutil.which("google-chrome"), args=["--no-sandbox", "--disable-gpu"])
        page = browser.new_page(viewport={"width": 1280, "height": 1400})

        def measure(what, target, name, control="Bandwidth σ", moves=MOVES, press=None):
            report(what, page.evaluate(MEASURE, {"name": name, "control": control, "moves": moves, "press": press}), target)

        page.goto((html / "index.html").as_uri())
        measure("n = 40, three views, bandwidth", 4, "second")
        measure("n = 40, three views, query", 4, "second", "Query")
        measure("n = 40, four views, bandwidth", 4, "main")
        report("n = 40, three views, a key moves", page.evaluate(DRAG, {"name": "second", "moves": MOVES}), 4)
        measure("n = 40, new noise: all is new", 16, "second", "Noise")
        measure("n = 40, band of 100 resamples, bandwidth", 50, "second", press="Band")
        page.goto((html / "more.html").as_uri())
        measure("n = 500, three views, bandwidth", 16, "many")
        measure("n = 500, three views, query", 16, "many", "Query")
        report("n = 500, three views, a key moves", page.evaluate(DRAG, {"name": "many", "moves": 60}), 16)
        page.goto((html / "index.html").as_uri())
        page.context.new_cdp_session(page).send("Emulation.setCPUThrottlingRate", {"rate": 4})
        measure("n = 40, three views, bandwidth, processor 4 times slower", 16, "second")
        measure("n = 40, three views, query, processor 4 times slower", 16, "second", "Query")
        in_a_notebook(browser, Path(folder) / "lab")
        in_a_notebook(browser, Path(folder) / "prompt", prompt=True)
        browser.close()


def in_a_notebook(browser, folder, prompt=False):
    """Time moves of sliders in JupyterLab: from the slider's event to the new drawing, through Python."""
    folder.mkdir()
    cells = ["# Live", "figure = explore()\nfigure"]
    (folder / "live.ipynb").write_text(json.dumps(explorer_book.notebook("live", cells)), encoding="utf-8")
    server = "server without Nagle" if prompt else "as installed"
    with live_notebook.served(folder, prompt) as address:
        page = browser.new_page(viewport={"width": 1280, "height": 1600})
        live_notebook.run_all(page, address, len(cells) + 1)
        page.locator("figure.explorer.mounted .readout").wait_for()
        for name in ("Bandwidth σ", "Query"):
            page.evaluate(live_notebook.TIMES, [2, name, 20])
            report(f"JupyterLab, {server}, n = 40, {name}", page.evaluate(live_notebook.TIMES, [2, name, 200]), 50)
        page.close()


if __name__ == "__main__":
    main()
