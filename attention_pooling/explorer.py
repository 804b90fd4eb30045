"""The interactive figure: one view, live in a notebook and instantly on a page."""

import warnings
from functools import partial

import anywidget
import ipywidgets
import numpy as np
import traitlets

from . import _explorer_page as page
from ._inputs import as_kernel, as_keys, as_values
from .bandwidth import bandwidth_curve, leave_one_out_error, select_bandwidth
from .datasets import sine_data, sine_truth
from .kernels import KERNELS
from .pooling import EmptyNeighbourhoodWarning, attention_weights, nadaraya_watson

__all__ = ["Explorer", "explore", "explore_sphere"]

QUERIES, SIGMAS = 101, 61  # of the drawn curve, and of the error curves
VIEWS = ("kernel", "fit", "weights", "errors")
WORDS = page.WORDS


def __getattr__(name):
    if name == "explore_sphere":  # which itself builds on this module
        from .sphere import explore_sphere

        return explore_sphere
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def explore(keys=None, values=None, *, truth=None, kernel="gaussian", bandwidth=0.5, query=2.5,
            views=("fit", "weights", "errors"), points=40, noise=1.0, seed=0, band=False,
            predict_first=False, name="explorer", alt=None):
    """Return the interactive figure of attention pooling over one feature.

    In a notebook every change re-runs the Python estimator; on a built page the same
    output computes in the browser.

    Parameters
    ----------
    keys, values : array_like of float, shape (n,), optional
        The reader's own data. By default ``sine_data(points, noise, seed)``.
    truth : callable, optional
        The function behind `values`, for the dashed line and the validation error.
        The default data bring their own.
    kernel : str or callable
        A name of `KERNELS`, or a profile K(u) of the scaled distance u >= 0.
    bandwidth : float
        The bandwidth at the start, in the units of `keys`.
    query : float
        The query at the start, in the units of `keys`.
    views : sequence of str
        Any of "kernel", "fit", "weights" and "errors".
    points, noise, seed : int, float, int
        The default data, and what the controls start from.
    band : bool
        Whether estimates of 100 resampled data sets are drawn at the start.
    predict_first : bool
        Whether the estimate is hidden until the reader has guessed it.
    name : str
        What the address of a page calls this figure: letters, digits and hyphens.
    alt : str, optional
        The words for the picture that stands where nothing can move.

    Returns
    -------
    Explorer
        An ``ipywidgets.VBox``. Its attributes `kernel`, `bandwidth`, `query` and
        `data` (keys and values) hold the present state; its page form is in the same output.

    Raises
    ------
    ValueError
        If an argument is wrong; the message names it and says what would be right.

    Notes
    -----
    A seed gives the same data in a notebook and on a page: the page runs NumPy's generator.
    With a known truth the band's data sets have new noise of standard deviation `noise`
    at the same keys; otherwise they are pairs drawn again with replacement.

    Examples
    --------
    >>> explore(bandwidth=0.3, name="narrow").bandwidth
    0.3
    """
    unknown = [view for view in views if view not in VIEWS]
    if unknown or not views:
        raise ValueError(f"views must be some of {', '.join(map(repr, VIEWS))}, got {views!r}")
    if not page.is_name(name):
        raise ValueError(f"name must be letters, digits and hyphens, got {name!r}")
    if (keys is None) != (values is None):
        raise ValueError("keys and values must come together, got only one of them")
    sample = None
    if keys is None:
        data = sine_data(points, noise, seed)
        keys, values, truth = data.keys, data.values, sine_truth
        sample = {"points": int(points), "noise": float(noise), "seed": int(seed)}
    keys = as_keys(keys).astype(np.float64)
    if keys.shape[1] != 1:
        raise ValueError(f"keys must have one feature, got shape {keys.shape}")
    keys = keys[:, 0]
    values = as_values(values, len(keys)).astype(np.float64)
    if values.ndim != 1:
        raise ValueError(f"values must have shape (n,), got {values.shape}")
    record = as_kernel(kernel)
    leave_one_out_error(keys, values, record, bandwidth)  # checks the bandwidth and the kernel
    setting = dict(kernel=record, bandwidth=float(np.asarray(bandwidth).item()), query=float(query),
                   band=bool(band), predict=bool(predict_first))
    explorer = Explorer(keys, values, truth, sample, tuple(views), setting, name, alt)
    _replace_in_cell(name, explorer)
    return explorer


def limits(keys, values, truth, sample, bandwidth, query):
    """Return the ranges of the axes and sliders: bandwidth, query, value."""
    if sample:
        across, sigmas = [0.0, 5.0], [0.01, 5.0]
    else:
        span = np.ptp(keys) or 1.0
        places = max(0, int(np.ceil(2 - np.log10(span))))
        across = [round(float(keys.min() - 0.03 * span), places),
                  round(float(keys.max() + 0.03 * span), places)]
        sigmas = [float(f"{span / 100:.0e}"), float(f"{span:.0e}")]
    across = [min(across[0], query), max(across[1], query)]
    sigmas = [min(sigmas[0], bandwidth), max(sigmas[1], bandwidth)]
    return {"bandwidth": sigmas, "query": across, "value": value_limits(values, truth, across, sample)}


def value_limits(values, truth, across, sample):
    """Return the range of the value axis: all values and the truth, with a margin."""
    seen = values if truth is None else np.concatenate([values, truth(np.linspace(*across, QUERIES))])
    low, high = float(seen.min()), float(seen.max())
    margin = 0.04 * ((high - low) or 1.0)
    if sample:
        return [float(np.floor(low - margin)), float(np.ceil(high + margin))]
    places = max(0, int(np.ceil(2 - np.log10(margin * 25))))
    return [round(low - margin, places), round(high + margin, places)]


def _pack(value, _widget):
    """Send arrays as bytes, also inside a dict."""
    if isinstance(value, dict):
        return {key: _pack(part, _widget) for key, part in value.items()}
    return value.astype("<f8").tobytes() if isinstance(value, np.ndarray) else value


class View(anywidget.AnyWidget):
    """The drawing: its traits are the state, and `asked` is what the reader's hand wants."""

    _esm = page.module()
    _css = page.style()

    names = traitlets.List().tag(sync=True)
    asked = traitlets.Dict().tag(sync=True)

    def __init__(self, state):
        # Not plain `keys`: that is the name of a widget's own list of traits.
        traits = {"now_" + name: value for name, value in state.items()}
        self.add_traits(**{name: traitlets.Any().tag(sync=True, to_json=_pack) for name in traits})
        super().__init__(names=list(state), **traits)

    def show(self, state):
        """Send what differs, in one message."""
        with self.hold_sync():
            for name, value in state.items():
                if getattr(self, "now_" + name) is not value:
                    setattr(self, "now_" + name, value)


class Explorer(ipywidgets.VBox):
    """The controls, the view, and the estimator between them."""

    def __init__(self, keys, values, truth, sample, views, setting, name, alt):
        self._start = dict(keys=keys, values=values, sample=sample and dict(sample), **setting)
        self._truth, self._sample, self.name = truth, sample, name
        self._limits = limits(keys, values, truth, sample, setting["bandwidth"], setting["query"])
        grid = np.linspace(*self._limits["query"], QUERIES)
        self._sigmas = np.geomspace(*self._limits["bandwidth"], SIGMAS)
        on_grid = None if truth is None else np.asarray(truth(grid), dtype=np.float64)
        self._queries = np.arange(50) / 10 if sample else grid
        self._keys, self._values = keys, values
        self._own = setting["kernel"]
        self.kernel, self.bandwidth, self.query = (setting[k] for k in ("kernel", "bandwidth", "query"))
        self._band, self._predict = setting["band"], setting["predict"]
        self._spread = self.kernel, self.bandwidth
        self._state = dict(views=list(views), grid=grid, truth=on_grid, limits=self._limits,
                           message="", stale=False)
        self._compute({"data", "kernel", "bandwidth"})
        html = page.figure(self._page_state(), self._state, alt)
        self.view = View(self._state)
        self.view.observe(lambda change: self._act(**change["new"]), "asked")
        self.view.on_msg(lambda _view, content, _buffers: self._act(**content))
        self._busy = False
        super().__init__([self.view, *self._controls(views)])
        self._html = html
        self._show()

    def _repr_mimebundle_(self, **kwargs):
        bundle = super()._repr_mimebundle_(**kwargs)
        data = bundle[0] if isinstance(bundle, tuple) else bundle
        data["text/plain"] = f"<interactive figure {self.name!r}>"
        data["text/html"] = self._html
        return bundle

    @property
    def data(self):
        """The keys and values now drawn, copies of shape (n,)."""
        return self._keys.copy(), self._values.copy()

    def close(self):
        """Close every widget of the figure."""
        for widget in list(self._tree(self)):
            widget.close()
        super().close()

    @staticmethod
    def _tree(box):
        for child in box.children:
            yield child
            yield child.layout
            if hasattr(child, "style") and isinstance(child.style, ipywidgets.Widget):
                yield child.style
            if isinstance(child, ipywidgets.Box):
                yield from Explorer._tree(child)
        yield box.layout

    # -- what is drawn ------------------------------------------------------------------

    def _compute(self, touched):
        """Bring the state up to date with what the change touches."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", EmptyNeighbourhoodWarning)
            self._state = self._state | self._derive(touched)

    def _derive(self, touched):
        keys, values, kernel, sigma = self._keys, self._values, self.kernel, self.bandwidth
        state = self._state
        out = dict(kernel=kernel.name, bandwidth=sigma, query=self.query, keys=keys, values=values,
                   predict=self._predict, message="")
        if touched:
            matrix = attention_weights(state["grid"], keys, kernel, sigma)
            estimate = nadaraya_watson(state["grid"], keys, values, kernel, sigma)
            out |= dict(matrix=matrix, estimate=estimate, band=None, errors={})
            if self._band:
                out["band"] = self._resample(matrix)
            if "errors" in state["views"]:
                now = self._errors([sigma])
                out["errors"] = {name: None if e is None else _number(e[0]) for name, e in now.items()}
        weights = attention_weights([self.query], keys, kernel, sigma)[0]
        out["weights"] = weights
        out["at_query"] = _number(nadaraya_watson(self.query, keys, values, kernel, sigma))
        squares = float((weights**2).sum())
        out["effective"] = 1 / squares if squares else 0.0
        out["truth_at_query"] = None if self._truth is None else float(self._truth(self.query))
        out["profile_at_keys"] = kernel.profile(np.abs(keys - self.query) / sigma)
        if touched & {"kernel"}:
            out["profile"] = kernel.profile(np.linspace(0, 4, 201))
        if touched & {"data", "kernel"} and "errors" in state["views"]:
            curves = self._errors(self._sigmas)
            out["curves"] = {"bandwidths": self._sigmas, **curves}
            out["best"] = {name: None if c is None else lowest(self._sigmas, c)
                           for name, c in curves.items()}
        elif "curves" not in state:
            out |= dict(curves=None, best=None)
        return out

    def _errors(self, sigmas):
        queries = None if self._truth is None else self._queries
        truth = None if queries is None else self._truth(queries)
        curve = bandwidth_curve(self._keys, self._values, sigmas, self.kernel, queries=queries, truth=truth)
        return {"training": curve.training, "leave_one_out": curve.leave_one_out,
                "validation": curve.validation}

    def _resample(self, matrix):
        sample = self._sample
        rng = np.random.default_rng((sample["seed"] if sample else 0) + 1000)
        return resample(matrix, self._values, rng,
                        sine_truth(self._keys) if sample else None, sample and sample["noise"])

    def _page_state(self):
        own = self.kernel.name not in KERNELS
        return dict(name=self.name, views=self._state["views"], kernel=self.kernel.name, own=own,
                    bandwidth=self.bandwidth, query=self.query, band=self._band, predict=self._predict,
                    limits=self._limits, keys=self._keys, values=self._values,
                    truth=self._state["truth"], sample=self._sample)

    # -- what a reader changes ----------------------------------------------------------

    def _act(self, *, query=None, bandwidth=None, kernel=None, move=None, add=None, remove=None,
             band=None, predict=None, sample=None, best=False, at=None):
        """Take a change from a control or from the drawing, compute, and show the result."""
        touched = set()
        before = {name: getattr(self, name) for name in ("_keys", "_values", "kernel", "bandwidth", "query")}
        try:
            if query is not None:
                self.query = self._taken("query", query)
            if kernel is not None:
                self.kernel = kernel
                touched.add("kernel")
            if best:
                bandwidth = float(select_bandwidth(self._keys, self._values, self.kernel,
                                                   bounds=self._limits["bandwidth"]))
            if bandwidth is not None:
                self.bandwidth = self._taken("bandwidth", bandwidth)
                self._spread = self.kernel, self.bandwidth
                touched.add("bandwidth")
            if move is not None or add is not None or remove is not None:
                self._edit(move, add, remove)
                touched.add("data")
            if sample is not None:
                self._sample = sample
                data = sine_data(sample["points"], sample["noise"], sample["seed"])
                self._keys, self._values = data.keys, data.values
                self._rescale()
                touched.add("data")
            if band is not None:
                self._band = band
                touched.add("bandwidth")
            if predict is not None:
                self._predict = predict
            self._compute(touched)
        except Exception as error:  # a reader's own kernel may raise anything
            for name, value in before.items():
                setattr(self, name, value)
            self._state = self._state | {"message": _in_words(error)}
        self._show()

    def _taken(self, name, value):
        """Return what the state makes of a control's value: rounded as shown, within the limits."""
        limits = self._limits[name]
        value = float(f"{value:.3g}") if name == "bandwidth" else _rounded(value, limits)
        return float(np.clip(value, *limits))

    def _rescale(self):
        self._limits = self._limits | {
            "value": value_limits(self._values, self._truth, self._limits["query"], self._sample)}
        self._state = self._state | {"limits": self._limits}

    def _edit(self, move, add, remove):
        keys, values = self._keys.copy(), self._values.copy()
        place = [self._limits["query"], self._limits["value"]]
        if move is not None:
            i, x, y = int(move[0]), *map(_rounded, move[1:], place)
            if i < len(keys):
                keys[i], values[i] = x, y
        elif add is not None:
            x, y = map(_rounded, add, place)
            keys, values = np.append(keys, x), np.append(values, y)
        elif len(keys) > 1 and remove < len(keys):
            keys, values = np.delete(keys, int(remove)), np.delete(values, int(remove))
        self._keys, self._values = keys, values

    def _reset(self):
        start = self._start
        self._keys, self._values = start["keys"], start["values"]
        self._sample = start["sample"] and dict(start["sample"])
        self.kernel, self.bandwidth, self.query = start["kernel"], start["bandwidth"], start["query"]
        self._band, self._predict = start["band"], start["predict"]
        self._spread = self.kernel, self.bandwidth
        self._rescale()
        self._compute({"data", "kernel", "bandwidth"})
        self._show()

    def _equal_spread(self):
        kernel, sigma = self._spread
        here, there = kernel.standard_deviation, self.kernel.standard_deviation
        return sigma * here / there if here and there else None

    # -- the controls -------------------------------------------------------------------

    def _controls(self, views):
        wide = dict(layout=ipywidgets.Layout(width="21em"), style={"description_width": "7em"})
        options = {WORDS["kernels"][name]: record for name, record in KERNELS.items()}
        if self.kernel.name not in KERNELS:
            options = {self.kernel.name: self.kernel} | options
        low, high = np.log10(self._limits["bandwidth"])
        across = self._limits["query"]
        self._inputs = {
            "kernel": ipywidgets.Dropdown(options=options, value=self.kernel,
                                          description=WORDS["kernel"], **wide),
            "bandwidth": ipywidgets.FloatLogSlider(value=self.bandwidth, min=low, max=high,
                                                   step=(high - low) / 200, readout_format=".3g",
                                                   description=WORDS["bandwidth"], **wide),
            "query": ipywidgets.FloatSlider(value=self.query, min=across[0], max=across[1],
                                            step=(across[1] - across[0]) / 250,
                                            description=WORDS["query"], **wide),
        }
        for name, widget in self._inputs.items():
            widget.observe(partial(self._moved, name), "value")
        data = {}
        if self._sample:
            data["points"] = ipywidgets.IntSlider(value=self._sample["points"], min=5, max=200,
                                                  description=WORDS["points"], **wide)
            data["noise"] = ipywidgets.FloatSlider(value=self._sample["noise"], min=0, max=3, step=0.1,
                                                   description=WORDS["noise"], **wide)
        for name, widget in data.items():
            widget.observe(lambda change, name=name: self._moved("sample", {"new": self._sample | {name: change["new"]}}), "value")
        self._data_inputs = data
        self._switches = {}
        if "fit" in views:
            for name in ("band", "predict"):
                self._switches[name] = box = ipywidgets.Checkbox(
                    value=getattr(self, "_" + name), description=WORDS[name], indent=False,
                    layout=ipywidgets.Layout(width="auto"))
                box.observe(partial(self._moved, name), "value")
        buttons = [
            self._button("best", lambda: self._act(best=True)),
            self._button("equal_spread", self._press_equal),
        ]
        if self._sample:
            buttons.append(self._button("new_sample", lambda: self._act(
                sample=self._sample | {"seed": (self._sample["seed"] + 1) % 2**32})))
        buttons += [self._button("table", lambda: self.view.send("table")), self._button("reset", self._reset)]
        row = ipywidgets.Layout(flex_flow="row wrap", grid_gap="0 8px")
        return [ipywidgets.Box([*self._inputs.values(), *data.values()], layout=row),
                ipywidgets.Box([*buttons, *self._switches.values()],
                               layout=ipywidgets.Layout(flex_flow="row wrap", grid_gap="4px 12px"))]

    def _button(self, name, press):
        button = ipywidgets.Button(description=WORDS[name], tooltip=WORDS.get(name + "_hint", ""),
                                   layout=ipywidgets.Layout(width="auto"))
        button.on_click(lambda _button: press())
        return button

    def _press_equal(self):
        sigma, kept = self._equal_spread(), self._spread
        if sigma:
            self._act(bandwidth=sigma)
            self._spread = kept

    def _moved(self, name, change):
        told = name in self._inputs and is_at(self._inputs[name], getattr(self, name))
        if not self._busy and not told:
            self._act(**{name: change["new"]})

    def _show(self):
        """Bring the view and the controls in line with the state."""
        self.view.show(self._state)
        self._busy = True
        try:
            for name, widget in self._inputs.items():
                if not is_at(widget, getattr(self, name)):  # else it would fight the hand that moves it
                    widget.value = getattr(self, name)
            for name, widget in self._data_inputs.items():
                widget.value = self._sample[name]
            for name, widget in self._switches.items():
                widget.value = getattr(self, "_" + name)
        finally:
            self._busy = False


def is_at(widget, value):
    """Say whether a control shows `value`; a slider does to its step, for browsers snap to it and report that."""
    if isinstance(widget, ipywidgets.FloatLogSlider):
        return abs(np.log10(widget.value / value)) < 0.501 * widget.step
    if isinstance(widget, ipywidgets.FloatSlider):
        return abs(widget.value - value) < 0.501 * widget.step
    return widget.value == value


def lowest(bandwidths, errors):
    """Return the σ of the smallest error, by a parabola in log σ; None where there is none."""
    if not np.isfinite(errors).any():
        return None
    s = int(np.argmin(errors))
    if 0 < s < len(errors) - 1:
        bend = errors[s - 1] - 2 * errors[s] + errors[s + 1]
        if 0 < bend < np.inf:
            shift = (errors[s - 1] - errors[s + 1]) / (2 * bend)
            return float(bandwidths[s] * (bandwidths[1] / bandwidths[0]) ** shift)
    return float(bandwidths[s])


def resample(matrix, values, rng, truth=None, noise=0.0):
    """Return the estimates of 100 resampled data sets, shape (100, rows of `matrix`)."""
    shape = 100, len(values)
    if truth is not None:
        over, under = truth + noise * rng.standard_normal(shape), np.ones(shape)
    else:
        drawn = np.floor(rng.random(shape) * len(values)).astype(int)
        under = np.stack([np.bincount(row, minlength=len(values)) for row in drawn]).astype(float)
        over = under * values
    weight = under @ matrix.T
    return over @ matrix.T / np.where(weight > 0, weight, np.nan)


def _in_words(error):
    """Return an error as its traceback's last line, and what caused it."""
    said = f"{type(error).__name__}: {error}"
    return said if error.__cause__ is None else f"{said} ({_in_words(error.__cause__)})"


def _number(x):
    """Return a float that JSON can carry: None for NaN, a large number stays infinite as text."""
    x = float(x)
    return x if np.isfinite(x) else None if np.isnan(x) else "Infinity"


def _rounded(x, within):
    """Round to one digit more than is shown."""
    places = min(8, max(0, int(np.ceil(2.3 - np.log10(within[1] - within[0])))))
    return round(float(x), places + 1)


_in_cell = {}


def _replace_in_cell(name, explorer):
    """Close the figure that an earlier run of the same notebook cell made."""
    try:
        from IPython import get_ipython

        cell = get_ipython().kernel.get_parent()["metadata"]["cellId"]
    except (ImportError, AttributeError, KeyError, TypeError):
        return
    run = get_ipython().execution_count
    for key, (old, made) in list(_in_cell.items()):
        if key[0] == cell and made != run:
            old.close()
            del _in_cell[key]
    _in_cell[cell, name, len(_in_cell)] = explorer, run
