"""The figure in Python: what it computes, what it says, what it leaves behind."""

import json
import re
import warnings
from html.parser import HTMLParser

import ipywidgets
import numpy as np
import pytest

from attention_pooling import _explorer_page as page
from attention_pooling import attention_weights, nadaraya_watson
from attention_pooling.bandwidth import leave_one_out_error, select_bandwidth
from attention_pooling.datasets import motorcycle, sine_data
from attention_pooling.explorer import explore, lowest, resample
from attention_pooling.kernels import KERNELS


@pytest.fixture
def figure():
    made = []

    def make(**options):
        made.append(explore(**options))
        return made[-1]

    yield make
    for each in made:
        each.close()


def control(figure, description):
    """Return the ipywidget of that name."""
    found = [w for box in figure.children[1:] for w in box.children if w.description == description]
    assert len(found) == 1
    return found[0]


def drawn(figure, name):
    return getattr(figure.view, "now_" + name)


def test_is_a_vbox_of_real_widgets(figure):
    fig = figure()
    assert isinstance(fig, ipywidgets.VBox)
    kinds = {"Kernel": ipywidgets.Dropdown, "Bandwidth σ": ipywidgets.FloatLogSlider, "Query": ipywidgets.FloatSlider,
             "Points": ipywidgets.IntSlider, "Noise": ipywidgets.FloatSlider, "Band": ipywidgets.Checkbox, "Best σ": ipywidgets.Button,
             "Equal spread": ipywidgets.Button, "New sample": ipywidgets.Button, "Reset": ipywidgets.Button}  # fmt: skip
    for name, kind in kinds.items():
        assert isinstance(control(fig, name), kind)


def test_default_data_are_the_chapters(figure):
    keys, values = figure(seed=3).data
    data = sine_data(40, 1.0, 3)
    assert np.array_equal(keys, data.keys) and np.array_equal(values, data.values)


def test_every_control_reruns_the_estimator(figure):
    fig = figure()
    keys, values = fig.data
    control(fig, "Bandwidth σ").value = 0.2
    assert fig.bandwidth == 0.2
    assert np.array_equal(drawn(fig, "estimate"), nadaraya_watson(np.linspace(0, 5, 101), keys, values, "gaussian", 0.2))
    control(fig, "Query").value = 1.5
    assert drawn(fig, "at_query") == nadaraya_watson(1.5, keys, values, "gaussian", 0.2)
    control(fig, "Kernel").value = KERNELS["epanechnikov"]
    assert np.array_equal(drawn(fig, "weights"), attention_weights(1.5, keys, "epanechnikov", 0.2))
    assert drawn(fig, "errors")["leave_one_out"] == pytest.approx(leave_one_out_error(keys, values, "epanechnikov", 0.2)) or np.isinf(leave_one_out_error(keys, values, "epanechnikov", 0.2))
    control(fig, "Points").value = 60
    assert np.array_equal(fig.data[0], sine_data(60, 1.0, 0).keys)
    control(fig, "Noise").value = 0.0
    assert np.array_equal(fig.data[1], sine_data(60, 0.0, 0).values)
    control(fig, "New sample").click()
    assert np.array_equal(fig.data[0], sine_data(60, 0.0, 1).keys)
    control(fig, "Band").value = True
    assert drawn(fig, "band").shape == (100, 101)
    control(fig, "Reset").click()
    assert fig.bandwidth == 0.5 and fig.query == 2.5 and np.array_equal(fig.data[0], keys)
    assert control(fig, "Bandwidth σ").value == 0.5 and control(fig, "Points").value == 40 and control(fig, "Kernel").value.name == "gaussian"


def test_best_and_equal_spread(figure):
    fig = figure()
    control(fig, "Best σ").click()
    assert fig.bandwidth == pytest.approx(float(select_bandwidth(*fig.data, bounds=(0.05, 5))), rel=0.005)
    control(fig, "Kernel").value = KERNELS["boxcar"]
    control(fig, "Equal spread").click()
    assert fig.bandwidth == pytest.approx(0.44 * np.sqrt(3), rel=0.005)


def test_a_readers_own_kernel_runs_and_its_faults_are_said(figure):
    calls = []

    def spike(u):
        calls.append(1)
        if len(calls) > 40:
            raise RuntimeError("my kernel is tired")
        return np.exp(-u)

    fig = figure(kernel=spike, views=("fit", "weights"))
    before = len(calls)
    control(fig, "Query").value = 1.0
    assert len(calls) > before
    assert control(fig, "Kernel").value.name == "spike"
    calls.extend([1] * 40)
    control(fig, "Query").value = 2.0
    assert "ValueError" in drawn(fig, "message") or "tired" in drawn(fig, "message")
    assert fig.query == 1.0 and control(fig, "Query").value == 1.0
    calls.clear()
    control(fig, "Query").value = 3.0
    assert drawn(fig, "message") == "" and fig.query == 3.0


def test_own_data_with_and_without_truth(figure):
    data = motorcycle()
    fig = figure(keys=data.keys, values=data.values, bandwidth=2, query=20)
    assert drawn(fig, "truth") is None and drawn(fig, "errors")["validation"] is None
    low, high = drawn(fig, "limits")["query"]
    assert low < data.keys.min() and high > data.keys.max()
    x = np.linspace(-3, 3, 30)
    fig = figure(keys=x, values=np.sin(x), truth=np.sin, query=0)
    assert drawn(fig, "errors")["validation"] > 0


def test_changes_from_the_drawing(figure):
    fig = figure()
    fig.view.asked = {"query": 4.0, "at": 1}
    assert fig.query == 4.0 and control(fig, "Query").value == 4.0
    fig.view.asked = {"move": [0, 2.0, 1.0], "at": 2}
    assert (fig.data[0][0], fig.data[1][0]) == (2.0, 1.0)
    fig._act(add=[1.0, 1.5])
    assert len(fig.data[0]) == 41
    fig._act(remove=40)
    assert len(fig.data[0]) == 40
    fig.view.asked = {"bandwidth": 99.0, "at": 3}
    assert fig.bandwidth == 5.0


def test_the_last_key_stays(figure):
    fig = figure(keys=[1.0], values=[2.0], views=("fit",), query=1.0)
    fig._act(remove=0)
    assert len(fig.data[0]) == 1


def test_no_warning_where_no_key_is_in_reach(figure):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        fig = figure(kernel="boxcar", bandwidth=0.05, query=2.3)
    assert drawn(fig, "at_query") is None and drawn(fig, "effective") == 0


@pytest.mark.parametrize(("options", "named"), [
    ({"views": ("fit", "pie")}, "views"), ({"name": "<b>"}, "name"), ({"keys": [1, 2]}, "keys and values"), ({"bandwidth": 0}, "bandwidth"),
    ({"kernel": "cosine"}, "kernel"), ({"keys": [1, 2], "values": [1, 2, 3]}, "values"), ({"keys": [[1, 2]], "values": [1]}, "keys"),
    ({"keys": [1, np.nan], "values": [1, 2]}, "keys"),
])  # fmt: skip
def test_wrong_arguments_are_named(options, named):
    with pytest.raises(ValueError, match=named):
        explore(**options)


class Page(HTMLParser):
    """The text of a page form: tags and attributes in order, and what stands in the script."""

    def __init__(self, html):
        super().__init__()
        self.tags, self.script, self._in = [], "", False
        self.feed(html)

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        self._in = tag == "script"

    def handle_endtag(self, tag):
        self._in = False

    def handle_data(self, data):
        if self._in:
            self.script += data


def page_form(fig):
    bundle = fig._repr_mimebundle_()
    assert "application/vnd.jupyter.widget-view+json" in bundle
    return bundle["text/html"]


@pytest.mark.parametrize("points", [1, 40, 200])
def test_the_page_form_is_small_and_whole(figure, points):
    html = page_form(figure(points=points))
    parsed = Page(html)
    state = json.loads(parsed.script)
    assert len(parsed.script.encode()) < 15_000
    assert state["sample"] == {"points": points, "noise": 1.0, "seed": 0}
    svg = next(attrs for tag, attrs in parsed.tags if tag == "svg")
    assert svg["role"] == "img" and 15 <= len(svg["aria-label"].split()) <= 50
    assert "NaN" not in html and "style=" not in html


def test_five_hundred_own_points_fit_as_well(figure):
    x = np.random.default_rng(0).uniform(0, 1, 500)
    assert len(Page(page_form(figure(keys=x, values=x, truth=np.sin, query=0.5))).script.encode()) < 15_000


def test_hostile_words_do_not_become_markup(figure):
    def bad(u):
        return np.exp(-u)

    bad.__name__ = "</script><img src=x onerror=alert(1)>"
    html = page_form(figure(kernel=bad, alt='"><script>alert(1)</script>', views=("fit",)))
    tags = [tag for tag, _ in Page(html).tags]
    assert tags.count("script") == 1 and "img" not in tags
    assert "data-live" not in html and "live in the notebook" in html


def test_the_picture_draws_gaps_and_every_view(figure):
    html = page_form(figure(kernel="boxcar", bandwidth=0.06))
    estimate = re.search(r'<path d="([^"]*)" fill="none" stroke="#009E73"', html)[1]
    assert estimate.count("M") > 3
    assert "#D55E00" in page_form(figure(views=("kernel",)))
    assert "#009E73" not in page_form(figure(views=("fit",), predict_first=True))


def test_closing_leaves_no_widget_behind(figure):
    from ipywidgets.widgets.widget import _instances

    count = len(_instances)
    fig = explore()
    assert len(_instances) > count + 10
    fig.close()
    assert len(_instances) == count


def test_resampling_is_centred_on_the_estimate_and_spreads_as_theory_says():
    data = sine_data(40, 1.0, 0)
    matrix = attention_weights(np.linspace(0.5, 4.5, 9), data.keys, "gaussian", 0.5)
    truth = 2 * np.sin(data.keys) + data.keys
    noisy = np.concatenate([resample(matrix, data.values, np.random.default_rng(s), truth, 0.8) for s in range(30)])
    assert np.allclose(noisy.mean(axis=0), matrix @ truth, atol=0.03)
    assert np.allclose(noisy.std(axis=0), 0.8 * np.sqrt((matrix**2).sum(axis=1)), rtol=0.06)
    pairs = np.concatenate([resample(matrix, data.values, np.random.default_rng(s)) for s in range(30)])
    assert np.allclose(pairs.mean(axis=0), matrix @ data.values, atol=0.1)


def test_the_lowest_point_of_a_curve():
    sigmas = np.geomspace(0.05, 5, 61)
    assert lowest(sigmas, (np.log(sigmas) - np.log(0.77)) ** 2) == pytest.approx(0.77, rel=1e-9)
    assert lowest(sigmas, np.full(61, np.inf)) is None
    assert lowest(sigmas, sigmas) == 0.05
    assert lowest(sigmas, np.where(sigmas < 1, np.inf, sigmas)) == sigmas[sigmas >= 1][0]


def test_scripts_have_no_import_export_or_markup():
    script = page.script()
    assert not re.search(r"^\s*(import|export) ", script, re.M)
    assert "innerHTML" not in script and "eval(" not in script and "http" not in script.replace("http://www.w3.org/2000/svg", "")
    assert "export default" in page.module() and not re.search(r"export (const|function) render", page.module())
