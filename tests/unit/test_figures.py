"""The figures: same input same file, legible, roles of colour kept, gaps drawn as gaps."""

import io
import re
import subprocess
import sys

import matplotlib

matplotlib.use("agg")

import matplotlib.pyplot as plt
import numpy as np
import pytest
from matplotlib.text import Text

from attention_pooling import attention_weights, figures, sine_data, sine_truth
from attention_pooling.kernels import KERNELS
from tests.conftest import ROOT

DATA = sine_data(n=12, noise=0.5, seed=3)
QUERIES = DATA.queries
WEIGHTS = attention_weights(QUERIES, DATA.keys, bandwidth=0.5)
ESTIMATE = WEIGHTS @ DATA.values
FOUR = {name: kernel for name, kernel in KERNELS.items() if name != "constant"}
ROW = WEIGHTS[25]

DRAW = {
    "fits": lambda: figures.fits(DATA.keys, DATA.values, QUERIES, {"a": ESTIMATE, "b": ESTIMATE, "c": ESTIMATE}, DATA.truth),
    "weight_maps": lambda: figures.weight_maps({"a": WEIGHTS, "b": WEIGHTS}, DATA.keys, QUERIES),
    "weight_maps_own_scale": lambda: figures.weight_maps({"a": WEIGHTS, "b": WEIGHTS}, DATA.keys, QUERIES, shared=False),
    "kernels_as_attention": lambda: figures.kernels_as_attention({n: k.profile for n, k in KERNELS.items()}),
    "kernel_spreads": lambda: figures.kernel_spreads(
        {n: k.profile for n, k in FOUR.items()}, {n: k.standard_deviation for n, k in FOUR.items()}
    ),
    "scenes": lambda: figures.scenes({"a": (np.zeros(2), np.eye(2), np.array([0.4, 0.6]))}, bandwidth=1.0),
    "query_key_value": lambda: figures.query_key_value(DATA.keys, DATA.values, QUERIES, DATA.truth, 2.5, 4),
    "motorcycle_data": lambda: figures.motorcycle_data(10 * DATA.keys, DATA.values),
    "joint_density": lambda: figures.joint_density(
        np.linspace(0, 5, 20), np.linspace(-2, 6, 30), np.ones((30, 20)), np.full(20, 2.0), DATA.keys, DATA.values, 1.0
    ),
    "weighted_mean": lambda: figures.weighted_mean(DATA.keys, DATA.values, 2.5, ROW, QUERIES, np.exp(-((QUERIES - 2.5) ** 2))),
    "beyond_the_data": lambda: figures.beyond_the_data(
        QUERIES, {"a": ESTIMATE, "b": ESTIMATE}, sine_truth(QUERIES), DATA.keys, DATA.values, WEIGHTS.max(axis=1), 1 / (WEIGHTS**2).sum(axis=1)
    ),
    "influence": lambda: figures.influence(DATA.keys, DATA.values, 2.5, ROW, ROW - 0.1),
}
each_figure = pytest.mark.parametrize("name", DRAW)


@pytest.fixture(autouse=True)
def close_figures():
    yield
    plt.close("all")


def svg(figure) -> bytes:
    file = io.BytesIO()
    with plt.rc_context(figures.STYLE):
        figure.savefig(file, format="svg", metadata={"Date": None})
    return re.sub(rb"\bp[0-9a-f]{10}\b", b"clip", file.getvalue())  # Matplotlib names a clip path by its address in memory


def test_every_figure_function_is_tested():
    source = (ROOT / "attention_pooling" / "figures.py").read_text(encoding="utf-8")
    returning = re.findall(r"^def (\w+)\([^)]*\):\n(?:(?!^def ).*\n)*?    return figure$", source, re.MULTILINE)
    assert len(returning) >= 11
    assert set(returning) <= set(DRAW)


@each_figure
def test_leaves_the_settings_of_matplotlib_alone(name):
    before = dict(plt.rcParams)
    assert isinstance(DRAW[name](), plt.Figure)
    assert dict(plt.rcParams) == before


@pytest.mark.parametrize("name", ["fits", "weight_maps", "beyond_the_data"])
def test_same_input_same_file(name):
    assert svg(DRAW[name]()) == svg(DRAW[name]())


@each_figure
def test_is_legible_and_as_wide_as_the_page_expects(name):
    figure = DRAW[name]()
    figure.draw_without_rendering()
    assert figure.get_size_inches()[0] == figures.WIDTH
    words = [text for text in figure.findobj(Text) if text.get_text() and text.get_visible()]
    assert words
    assert min(text.get_fontsize() for text in words) >= 8.5
    assert not any(ax.get_title() for ax in figure.axes)


@each_figure
def test_direct_labels_stay_inside_the_figure(name):
    figure = DRAW[name]()
    figure.draw_without_rendering()
    width, height = figure.bbox.size
    for text in (text for ax in figure.axes for text in ax.texts):
        box = text.get_window_extent()
        assert box.x0 >= -1 and box.y0 >= -1 and box.x1 <= width + 1 and box.y1 <= height + 1, text.get_text()


def test_an_estimate_breaks_where_no_key_is_in_reach():
    estimate = ESTIMATE.copy()
    estimate[20:25] = np.nan
    ax = figures.fits(DATA.keys, DATA.values, QUERIES, {"gap": estimate}, DATA.truth).axes[0]
    drawn = ax.lines[-1].get_ydata()
    assert np.isnan(drawn[20:25]).all() and np.isfinite(drawn[:20]).all()
    shade = ax.collections[-1].get_paths()
    assert len(shade) == 1
    assert QUERIES[20] - 1e-9 <= shade[0].vertices[:, 0].min() and shade[0].vertices[:, 0].max() <= QUERIES[24] + 1e-9


def test_heat_maps_start_at_zero_and_rows_are_queries():
    figure = figures.weight_maps({"a": WEIGHTS, "b": 2 * WEIGHTS}, DATA.keys, QUERIES)
    first, second = (ax.collections[0] for ax in figure.axes[:2])
    assert first.get_clim() == second.get_clim() == (0, 2 * WEIGHTS.max())
    assert first.get_array().shape == WEIGHTS.shape == (50, 12)
    assert figure.axes[0].get_ylabel() == "query $q$"
    assert first.get_rasterized()


def test_weight_map_is_white_at_zero_and_darkens_evenly():
    def lightness(rgb):
        linear = np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)
        return 116 * np.cbrt(linear @ [0.2126, 0.7152, 0.0722]) - 16

    steps = np.diff([lightness(np.array(figures.WEIGHT_MAP(x)[:3])) for x in np.linspace(0, 1, 9)])
    assert figures.WEIGHT_MAP(0.0)[:3] == (1, 1, 1)
    assert (steps < 0).all() and steps.min() / steps.max() < 2


def test_words_have_contrast_on_white():
    for role, colour in figures.TEXT.items():
        rgb = np.array(matplotlib.colors.to_rgb(colour))
        linear = np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)
        assert 1.05 / (linear @ [0.2126, 0.7152, 0.0722] + 0.05) >= 4.5, role


def test_colours_are_those_of_the_style_sheet():
    css = (ROOT / "_static" / "book.css").read_text(encoding="utf-8")
    light = css[css.index('html[data-theme="light"]') : css.index('html[data-theme="dark"]')]
    for role, colour in figures.COLOURS.items():
        written = re.search(rf"--book-{role}:\s*(#\w+)", light)[1].upper()
        assert written in (colour.upper(), figures.TEXT[role].upper()), role


def test_imports_without_a_display_and_draws_nothing_by_itself():
    code = "import attention_pooling.figures as f, matplotlib.pyplot as plt; assert not plt.get_fignums(); print(f.WIDTH)"
    environment = {"PATH": "", "HOME": str(ROOT), "PYTHONPATH": str(ROOT), "MPLCONFIGDIR": "/tmp"}
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == str(figures.WIDTH)
