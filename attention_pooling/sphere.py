"""The figure of chapter 4: keys around the unit circle, weighed by distance and by dot product."""

import json
from html import escape

import anywidget
import ipywidgets
import numpy as np
import traitlets

from . import _explorer_page as page
from .explorer import Explorer, _replace_in_cell, is_at
from .pooling import attention_weights, dot_product_weights

__all__ = ["Sphere", "explore_sphere"]

WORDS = page.WORDS["sphere"]
DIMENSIONS = (0, 4, 16, 64, 256, 1024)  # 0: the bandwidth as set
LIMITS = {"angle": [0, 359], "length": [0.1, 1.5], "bandwidth": [0.3, 6.0], "spread": [0.0, 0.5],
          "dimensions": list(DIMENSIONS)}
CURVE = 2.0 ** (np.arange(21) / 2)  # the d_k of the drawn ratios


def explore_sphere(angles=(10, 60, 110, 170, 230, 300), *, bandwidth=0.7, spread=0.0, angle=53.0,
                   length=1.0, dimensions=0, name="sphere", alt=None):
    """Return the interactive figure of distance and dot product on the unit circle.

    Each key gets two weights for one query: the Gaussian of its distance, and the softmax of
    q·k/σ². They are equal while all keys have norm 1. In a notebook every change re-runs
    `attention_weights` and `dot_product_weights`; a built page computes in the browser.

    Parameters
    ----------
    angles : array_like of float, shape (n,)
        Directions of the keys in degrees, two to seven of them.
    bandwidth : float
        The bandwidth σ at the start, from 0.3 to 6, where keys have norm 1.
    spread : float
        How far the norms of the keys reach from 1 at the start, from 0 to 0.5.
    angle, length : float
        Direction of the query in degrees, from 0 to 359, and its norm, from 0.1 to 1.5.
    dimensions : int
        0 for the bandwidth as set, or a d_k of 4, 16, 64, 256 or 1024 for σ² = √d_k.
    name : str
        What the address of a page calls this figure: letters, digits and hyphens.
    alt : str, optional
        The words for the picture that stands where nothing can move.

    Returns
    -------
    Sphere
        An ``ipywidgets.VBox``; its attribute `state` holds what is drawn.

    Raises
    ------
    ValueError
        If an argument is wrong; the message names it and says what would be right.

    Notes
    -----
    Key j has norm 1 + spread · cos(2.4 (j − 2)), counted from 0: the third is the longest.

    Examples
    --------
    >>> state = explore_sphere(spread=0.5).state
    >>> round(max(abs(g - p) for g, p in zip(state["gaussian"], state["product"])), 2)
    0.25
    """
    if not page.is_name(name):
        raise ValueError(f"name must be letters, digits and hyphens, got {name!r}")
    angles = np.asarray(angles, dtype=np.float64)
    if angles.ndim != 1 or not 2 <= len(angles) <= 7 or not np.isfinite(angles).all():
        raise ValueError(f"angles must be two to seven finite numbers, got {angles.tolist()}")
    start = dict(angle=angle, length=length, bandwidth=bandwidth, spread=spread)
    for key, value in start.items():
        low, high = LIMITS[key]
        value = np.asarray(value, dtype=np.float64)
        if value.ndim or not low <= value <= high:
            raise ValueError(f"{key} must be one number from {low} to {high}, got {value.tolist()}")
        start[key] = value.item()
    if dimensions not in DIMENSIONS:
        raise ValueError(f"dimensions must be one of {DIMENSIONS}, got {dimensions!r}")
    figure = Sphere(angles, start | {"dimensions": int(dimensions)}, name, alt)
    _replace_in_cell(name, figure)
    return figure


def around(degrees, lengths):
    """Return points of the plane by direction and norm, shape (..., 2)."""
    radians = np.asarray(degrees) * np.pi / 180
    return np.stack([lengths * np.cos(radians), lengths * np.sin(radians)], axis=-1)


def weigh(angles, pattern, chosen):
    """Return what is drawn for the values that are set: plain numbers and lists."""
    sigma = chosen["dimensions"] ** 0.25 if chosen["dimensions"] else chosen["bandwidth"]
    norms = 1 + chosen["spread"] * pattern
    keys, query = around(angles, norms), around(chosen["angle"], chosen["length"])
    gaussian = attention_weights(query[None], keys, bandwidth=sigma)[0]
    product = dot_product_weights(query[None], keys, scale=1 / sigma**2)[0]
    curve = [dot_product_weights(query[None], keys, scale=d**-0.5)[0] for d in CURVE]
    return chosen | dict(sigma=sigma, query=query.tolist(), keys=keys.tolist(), norms=norms.tolist(),
                         gaussian=gaussian.tolist(), product=product.tolist(),
                         curve=[float(row.max() / row.min()) for row in curve], message="")


class SphereView(anywidget.AnyWidget):
    """The drawing: `now` is the state, and `asked` is what the reader's hand wants."""

    _esm = page.sphere_module()
    _css = page.style("explorer.css", "sphere.css")

    strings = traitlets.Dict().tag(sync=True)
    lengths = traitlets.List().tag(sync=True)
    now = traitlets.Dict().tag(sync=True)
    asked = traitlets.Dict().tag(sync=True)


class Sphere(ipywidgets.VBox):
    """The controls, the view, and the two weightings between them."""

    def __init__(self, angles, start, name, alt):
        self.name, self._start, self._chosen, self._busy = name, start, dict(start), False
        self._angles, self._pattern = angles, np.cos(2.4 * (np.arange(len(angles)) - 2))
        self.state = weigh(angles, self._pattern, start)
        given = dict(name=name, angles=angles.tolist(), pattern=self._pattern.tolist(), start=start,
                     limits=LIMITS, words=WORDS)
        self._html = _page_form(given, self.state, alt)
        self.view = SphereView(strings=WORDS, lengths=LIMITS["length"], now=self.state)
        self.view.observe(lambda change: self._act(**change["new"]), "asked")
        super().__init__([self.view, *self._controls()])
        self._show()

    def _repr_mimebundle_(self, **kwargs):
        bundle = super()._repr_mimebundle_(**kwargs)
        data = bundle[0] if isinstance(bundle, tuple) else bundle
        data["text/plain"] = f"<interactive figure {self.name!r}>"
        data["text/html"] = self._html
        return bundle

    def close(self):
        """Close every widget of the figure."""
        for widget in list(Explorer._tree(self)):
            widget.close()
        super().close()

    def _act(self, *, at=None, **change):
        """Take a change from a control or from the drawing, weigh anew, and show the result."""
        try:
            chosen = self._chosen | change
            self.state = weigh(self._angles, self._pattern, chosen)
            self._chosen = chosen
        except Exception as error:
            self.state = self.state | {"message": f"{type(error).__name__}: {error}"}
        self._show()

    def _show(self):
        self.view.now = self.state
        self._busy = True
        try:
            for key, widget in self._inputs.items():
                if not is_at(widget, self._shown(key)):
                    widget.value = self._shown(key)
        finally:
            self._busy = False

    def _shown(self, key):
        return self.state["sigma" if key == "bandwidth" else key]

    def _moved(self, key, change):
        if not self._busy and not is_at(self._inputs[key], self._shown(key)):
            free = {"dimensions": 0} if key == "bandwidth" else {}
            self._act(**{key: change["new"]} | free)

    def _controls(self):
        wide = dict(layout=ipywidgets.Layout(width="24em"), style={"description_width": "11em"})

        def slider(key, description, step):
            low, high = LIMITS[key]
            return ipywidgets.FloatSlider(value=self._chosen[key], min=low, max=high, step=step,
                                          description=description, **wide)

        low, high = np.log10(LIMITS["bandwidth"])
        options = [(WORDS["dimensions"].format(d=d) if d else WORDS["free"], d) for d in DIMENSIONS]
        self._inputs = {
            "spread": slider("spread", WORDS["spread"], 0.01),
            "bandwidth": ipywidgets.FloatLogSlider(
                value=self.state["sigma"], min=low, max=high, step=(high - low) / 200,
                readout_format=".3g", description=page.WORDS["bandwidth"], **wide),
            "angle": slider("angle", WORDS["angle"], 1),
            "length": slider("length", WORDS["length"], 0.02),
            "dimensions": ipywidgets.Dropdown(options=options, value=self._chosen["dimensions"],
                                              description=WORDS["scale"], **wide),
        }
        for key, widget in self._inputs.items():
            widget.observe(lambda change, key=key: self._moved(key, change), "value")
        reset = ipywidgets.Button(description=page.WORDS["reset"], layout=ipywidgets.Layout(width="auto"))
        reset.on_click(lambda _button: self._act(**self._start))
        row = ipywidgets.Layout(flex_flow="row wrap", grid_gap="0 8px")
        return [ipywidgets.Box([*self._inputs.values(), reset], layout=row)]


def _page_form(given, state, alt):
    """Return the page form: a `<figure>` with what the page computes from, and a still picture."""
    if alt is None:
        gap = max(abs(g - p) for g, p in zip(state["gaussian"], state["product"]))
        equal = WORDS["alt_equal"] if gap < 1e-12 else WORDS["alt_part"].format(gap=f"{gap:.3f}")
        alt = WORDS["alt"].format(equal=equal)
    return (f'<figure class="explorer" data-explorer="{given["name"]}" data-sphere>'
            f'<script type="application/json">{page.as_json(given)}</script>'
            f'{_picture(state, alt)}<figcaption>{escape(page.WORDS["picture"])}</figcaption></figure>')


def _picture(state, alt):
    """Return a still picture as SVG: the circle at the left, pairs of bars at the right."""
    tag, unit, middle, base = page._tag, 70, 120, 200
    x, y = (lambda p: round(middle + unit * p, 1)), (lambda p: round(middle - unit * p, 1))
    parts = [tag("circle", cx=middle, cy=middle, r=unit, fill="none", stroke="currentColor", stroke_opacity=0.4)]
    pairs = list(zip(state["gaussian"], state["product"]))
    full = max(map(max, pairs))
    wide = 350 / len(pairs)
    for j, (key, norm, pair) in enumerate(zip(state["keys"], state["norms"], pairs)):
        parts.append(tag("circle", cx=x(key[0]), cy=y(key[1]), r=round(3 + 14 * pair[0] ** 0.5, 1),
                         fill="#2E8BC0", fill_opacity=0.6))
        out = 1 + (12 + 14 * pair[0] ** 0.5) / unit / norm
        left = 275 + j * wide
        places = [(x(key[0] * out), y(key[1] * out) + 4), (round(left + wide * 0.4, 1), base + 16)]
        for place in places:
            parts.append(tag("text", str(j + 1), x=place[0], y=place[1], fill="currentColor", font_size=12,
                             text_anchor="middle"))
        for k, (weight, colour) in enumerate(zip(pair, ("#2E8BC0", "#CC79A7"))):
            tall = round(170 * weight / full, 1)
            parts.append(tag("rect", x=round(left + k * wide * 0.4, 1), y=round(base - tall, 1),
                             width=round(wide * 0.36, 1), height=tall, fill=colour))
    tip = state["query"]
    parts += [tag("line", x1=middle, y1=middle, x2=x(tip[0]), y2=y(tip[1]), stroke="#D55E00", stroke_width=2),
              tag("circle", cx=x(tip[0]), cy=y(tip[1]), r=6, fill="#D55E00"),
              tag("line", x1=265, x2=635, y1=base, y2=base, stroke="currentColor")]
    return (f'<svg xmlns="http://www.w3.org/2000/svg" role="img" viewBox="0 0 640 240" '
            f'aria-label="{escape(alt)}">' + "".join(parts) + "</svg>")
