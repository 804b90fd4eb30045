"""The figure of the unit circle: its numbers, its controls in a notebook, and its page form."""

import json
import re

import ipywidgets
import numpy as np
import pytest
from ipywidgets.widgets.widget import _instances

from attention_pooling import attention_weights, dot_product_weights
from attention_pooling.explorer import explore_sphere
from attention_pooling.sphere import DIMENSIONS, LIMITS


def numbers(figure):
    state = figure.state
    return np.array(state["gaussian"]), np.array(state["product"])


def inputs(figure):
    def below(box):
        for child in box.children:
            yield child
            if isinstance(child, ipywidgets.Box):
                yield from below(child)

    return {child.description: child for child in below(figure) if getattr(child, "description", "")}


@pytest.mark.parametrize("dimensions", DIMENSIONS)
def test_the_state_is_that_of_the_package(dimensions):
    rng = np.random.default_rng(dimensions)
    for _ in range(20):
        angles, angle = rng.uniform(-360, 360, rng.integers(2, 8)), rng.uniform(0, 359)
        length, spread, sigma = rng.uniform(0.1, 1.5), rng.uniform(0, 0.5), rng.uniform(0.3, 6)
        figure = explore_sphere(angles, bandwidth=sigma, spread=spread, angle=angle, length=length, dimensions=dimensions)
        norms = 1 + spread * np.cos(2.4 * (np.arange(len(angles)) - 2))
        keys = norms[:, None] * np.column_stack([np.cos(np.deg2rad(angles)), np.sin(np.deg2rad(angles))])
        query = length * np.array([[np.cos(np.deg2rad(angle)), np.sin(np.deg2rad(angle))]])
        sigma = dimensions**0.25 if dimensions else sigma
        gaussian, product = numbers(figure)
        assert np.allclose(gaussian, attention_weights(query, keys, bandwidth=sigma)[0], rtol=0, atol=1e-13)
        assert np.allclose(product, dot_product_weights(query, keys, scale=sigma**-2)[0], rtol=0, atol=1e-13)
        ratios = [np.exp(np.ptp(query @ keys.T) / np.sqrt(d)) for d in 2 ** (np.arange(21) / 2)]
        assert np.allclose(figure.state["curve"], ratios, rtol=1e-12)


@pytest.mark.parametrize("length", [0.1, 1.0, 1.5])
def test_equal_norms_mean_equal_weights_wherever_the_query_is(length):
    for angle in range(0, 360, 15):
        gaussian, product = numbers(explore_sphere(angle=angle, length=length, bandwidth=0.3))
        assert np.abs(gaussian - product).max() < 1e-13


def test_at_the_scale_of_64_features_unit_vectors_attend_alike():
    _, product = numbers(explore_sphere(dimensions=64))
    assert 1.2 < product.max() / product.min() < np.exp(1 / 4)


@pytest.mark.parametrize(("arguments", "said"), [
    (dict(angles=[1]), "two to seven"), (dict(angles=range(8)), "two to seven"), (dict(angles=[0, np.nan]), "finite"),
    (dict(bandwidth=0), "bandwidth must be one number from 0.3 to 6.0, got 0"), (dict(bandwidth=np.inf), "bandwidth"), (dict(spread=0.6), "spread"),
    (dict(angle=np.nan), "angle"), (dict(length=[1, 1]), "length"), (dict(dimensions=3), "dimensions must be one of"),
    (dict(name="a b"), "letters, digits and hyphens"), (dict(name='x"><b>'), "letters"),
])  # fmt: skip
def test_wrong_arguments_are_named(arguments, said):
    with pytest.raises(ValueError, match=re.escape(said)):
        explore_sphere(**arguments)


def test_every_control_of_the_notebook_weighs_anew():
    figure = explore_sphere()
    controls = inputs(figure)
    assert set(controls) == {"Spread of key norms", "Bandwidth σ", "Query direction", "Query length", "Scale of q·k", "Reset"}
    for name, value, key in [("Spread of key norms", 0.3, "spread"), ("Bandwidth σ", 1.5, "sigma"), ("Query direction", 200, "angle"),
                             ("Query length", 0.5, "length"), ("Scale of q·k", 256, "dimensions")]:  # fmt: skip
        before = figure.view.now
        controls[name].value = value
        assert figure.state[key] == pytest.approx(value)
        assert figure.view.now is not before and figure.view.now["gaussian"] != before["gaussian"]
    assert controls["Bandwidth σ"].value == pytest.approx(4)
    controls["Bandwidth σ"].value = 2
    assert figure.state["dimensions"] == controls["Scale of q·k"].value == 0
    controls["Reset"].click()
    assert figure.state["angle"] == 53 and figure.state["sigma"] == controls["Bandwidth σ"].value == 0.7


def test_the_drawing_asks_and_python_answers():
    figure = explore_sphere()
    figure.view.asked = {"angle": 90, "length": 0.5, "at": 1.0}
    assert figure.state["query"] == pytest.approx([0, 0.5], abs=1e-15)
    assert inputs(figure)["Query direction"].value == 90
    figure.view.asked = {"spread": "much", "at": 2.0}
    assert "Error" in figure.view.now["message"] and figure.state["angle"] == 90
    figure.view.asked = {"angle": 10, "at": 3.0}
    assert figure.view.now["message"] == ""


def test_one_output_for_notebook_and_page():
    figure = explore_sphere(spread=0.5, name="wheel", alt='a "<b>picture</b>"')
    bundle = figure._repr_mimebundle_()
    bundle = bundle[0] if isinstance(bundle, tuple) else bundle
    assert {"text/plain", "text/html", "application/vnd.jupyter.widget-view+json"} <= set(bundle)
    html = bundle["text/html"]
    assert "a &quot;&lt;b&gt;picture" in html and "<b>" not in html
    state = json.loads(re.search(r'<script type="application/json">(.*?)</script>', html)[1])
    assert state["name"] == "wheel" and state["start"]["spread"] == 0.5 and state["limits"] == LIMITS
    assert len(html) < 15_000


@pytest.mark.parametrize("spread", [0, 0.4])
def test_the_picture_has_words(spread):
    alt = re.search(r'aria-label="([^"]*)"', explore_sphere(spread=spread)._html)[1]
    assert 15 <= len(alt.split()) <= 50
    assert ("apart by up to 0." in alt) == bool(spread)


def test_closing_leaves_no_widget():
    before = set(_instances)
    figure = explore_sphere()
    assert len(set(_instances) - before) > 10
    figure.close()
    assert set(_instances) == before
