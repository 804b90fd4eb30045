"""The matplotlib figures of the pages.

Every function takes data, draws, and returns a `Figure`; a page calls it and ends the cell with ``plt.show()``.
`style()` is called once per page, next to the imports.
Colours mean roles, the same ones as in the explorer, and each has a second cue (marker, dash, position) beside it.
"""

import sys

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.colors import LinearSegmentedColormap

# Okabe-Ito by role. TEXT holds darker shades of the same hues, for words (4.5:1 on white).
COLOURS = {"data": "#0072B2", "query": "#D55E00", "estimate": "#009E73", "truth": "#767676", "second": "#CC79A7"}
TEXT = {"data": "#00609A", "query": "#B24A00", "estimate": "#00755A", "truth": "#5E5E5E", "second": "#9C4576",
        "ink": "#333333"}
# White to navy in nine equal steps of OKLab: a weight of 0 is the paper, and equal differences look equal.
WEIGHT_MAP = LinearSegmentedColormap.from_list("weights", [
    "#ffffff", "#cae8ff", "#98cef9", "#6eb1eb", "#4e92d3", "#3a75b2", "#30598b", "#294061", "#202938"])

WIDTH = 5.8  # inches, 557 CSS pixels: inside the text column, and still legible scaled to a phone

STYLE = {
    "figure.dpi": 96, "savefig.dpi": 192, "figure.facecolor": "white", "figure.constrained_layout.use": True,
    "font.size": 10.5, "axes.labelsize": 10.5, "xtick.labelsize": 9.8, "ytick.labelsize": 9.8,
    "axes.spines.top": False, "axes.spines.right": False, "axes.edgecolor": "#9a9a9a", "axes.linewidth": 0.8,
    "axes.labelcolor": TEXT["ink"], "text.color": TEXT["ink"], "xtick.color": "#9a9a9a", "ytick.color": "#9a9a9a",
    "xtick.labelcolor": TEXT["ink"], "ytick.labelcolor": TEXT["ink"], "axes.axisbelow": True,
    "grid.color": "#ececec", "grid.linewidth": 0.8, "lines.linewidth": 2.0, "lines.solid_capstyle": "round",
    "mathtext.fontset": "dejavusans", "svg.fonttype": "path", "svg.hashsalt": "attention-pooling",
}


def style():
    """Use the pages' style for every figure from here on, and SVG where the figure is shown in a notebook.

    Heat maps are drawn `rasterized`: a picture at twice the screen's resolution
    inside the SVG, its lettering still drawn as outlines.
    """
    plt.rcParams.update(STYLE)
    ipython = sys.modules.get("IPython")
    if ipython is not None and ipython.get_ipython() is not None:
        from matplotlib_inline.backend_inline import set_matplotlib_formats
        # No date: two builds give the same file. No cropping: all figures keep one width.
        set_matplotlib_formats("svg", bbox_inches=None, metadata={"Date": None})


# ---------------------------------------------------------------------------------------------------------------------
# Parts shared by the figures
# ---------------------------------------------------------------------------------------------------------------------

def panels(rows=1, columns=1, height=3.0, **options):
    """A figure of the pages' width with `rows` × `columns` axes: (Figure, array of Axes, always two-dimensional)."""
    with plt.rc_context(STYLE):
        return plt.subplots(rows, columns, figsize=(WIDTH, height), squeeze=False, layout="constrained", **options)


def say(ax, x, y, words, role="ink", **options):
    """Write `words` at (x, y) in the colour of `role`: labels stand at the thing they name, instead of a legend."""
    options = {"ha": "left", "va": "center", "fontsize": 9.8, **options}
    return ax.text(x, y, words, color=TEXT[role], **options)


def corner(ax, words, role="ink", **options):
    """Name a panel in its upper left corner, outside the plotted area."""
    options = {"ha": "left", "va": "bottom", "fontsize": 10, **options}
    return ax.text(0.0, 1.02, words, color=TEXT[role], transform=ax.transAxes, **options)


def draw_data(ax, keys, values, sizes=22, **options):
    """Keys and values: open blue circles."""
    options = {"facecolors": "#0072B233", "edgecolors": COLOURS["data"], "linewidths": 1.0, "zorder": 3, **options}
    return ax.scatter(keys, values, s=sizes, **options)


def draw_truth(ax, queries, truth, **options):
    """The true function: dashed grey."""
    options = {"color": COLOURS["truth"], "linestyle": (0, (5, 3)), "linewidth": 1.6, "zorder": 2, **options}
    return ax.plot(queries, truth, **options)


def draw_estimate(ax, queries, estimate, role="estimate", **options):
    """An estimate: a solid line, broken where it is NaN (no key within reach)."""
    options = {"color": COLOURS[role], "linewidth": 2.2, "zorder": 4, **options}
    return ax.plot(queries, estimate, **options)


def draw_query(ax, query, **options):
    """A query: a thin vertical line in vermilion."""
    options = {"color": COLOURS["query"], "linewidth": 1.4, "zorder": 1, **options}
    return ax.axvline(query, **options)


def draw_words(ax):
    """In an empty panel: what the circle, the dashes and the line of the other panels stand for."""
    for height, role, words in ((0.75, "data", "key and value"), (0.55, "truth", "truth"), (0.35, "estimate", "estimate")):
        if role == "data":
            ax.scatter(0.21, height, s=22, facecolors="#0072B233", edgecolors=COLOURS[role], transform=ax.transAxes)
        else:
            ax.plot([0.12, 0.3], [height] * 2, color=COLOURS[role], transform=ax.transAxes,
                    linestyle=(0, (5, 3)) if role == "truth" else "-", linewidth=1.6 if role == "truth" else 2.2)
        say(ax, 0.36, height, words, role, transform=ax.transAxes)


def shade_gaps(ax, queries, estimate):
    """Grey ground where `estimate` is NaN: no key is in reach there."""
    ax.fill_between(queries, 0, 1, where=np.isnan(estimate), transform=ax.get_xaxis_transform(), color="#dddddd",
                    linewidth=0, zorder=0)


def cell_edges(points):
    """Edges of cells around sorted `points`, halfway between neighbours: n points, n + 1 edges."""
    points = np.asarray(points, dtype=float)
    middle = (points[1:] + points[:-1]) / 2
    return np.concatenate([[2 * points[0] - middle[0]], middle, [2 * points[-1] - middle[-1]]])


def draw_weights(ax, weights, keys, queries, largest=None):
    """Heat map of `weights`: rows are queries, and a column for each key as wide as the gap to its neighbours."""
    mesh = ax.pcolormesh(cell_edges(keys), cell_edges(queries), weights, cmap=WEIGHT_MAP, vmin=0, vmax=largest,
                         rasterized=True)
    ax.set(xlabel="key $k$", ylabel="query $q$")
    return mesh


def fits(keys, values, queries, estimates, truth=None, reference=None, columns=2, height=None, limits=None):
    """One panel for each named estimate: data, truth, estimate.

    Parameters
    ----------
    keys, values : (n,) arrays
    queries : (m,) array
    estimates : dict of str to (m,) array
        The name stands above the panel; where it is NaN the line breaks and the ground is grey.
    truth : (m,) array, optional
    reference : (m,) array, optional
        Another estimate, drawn thin in every panel for comparison.
    limits : (low, high), optional
        Of the vertical axis.
    """
    rows = -(-len(estimates) // columns)
    figure, axes = panels(rows, columns, height or 0.35 + 2.15 * rows, sharex=True, sharey=True)
    for ax, (name, estimate) in zip(axes.flat, estimates.items()):
        draw_data(ax, keys, values, 14)
        if truth is not None:
            draw_truth(ax, queries, truth)
        if reference is not None:
            ax.plot(queries, reference, color="black", linewidth=1.0, zorder=5)
        draw_estimate(ax, queries, estimate)
        shade_gaps(ax, queries, estimate)
        corner(ax, name)
        ax.set(ylim=limits)
        ax.label_outer()
    for ax in axes.flat[len(estimates):]:
        ax.set_axis_off()
        draw_words(ax)
    for ax in axes.flat[:len(estimates)][-columns:]:
        ax.tick_params(labelbottom=True)
    for ax in axes[-1]:
        ax.set_xlabel("$x$")
    for ax in axes[:, 0]:
        ax.set_ylabel("$y$")
    return figure


def weight_maps(weights, keys, queries, columns=2, height=None, shared=True):
    """One heat map for each named weight matrix, with a colour bar from 0: one for all, or one each.

    Parameters
    ----------
    weights : dict of str to (m, n) array
    keys : (n,) array, sorted
    queries : (m,) array, sorted
    shared : bool
        One colour scale for all panels; otherwise each has its own.
    """
    rows = -(-len(weights) // columns)
    figure, axes = panels(rows, columns, height or 0.35 + 2.3 * rows, sharex=True, sharey=True)
    top = max(np.max(w) for w in weights.values()) if shared else None
    for ax, (name, matrix) in zip(axes.flat, weights.items()):
        mesh = draw_weights(ax, matrix, keys, queries, top)
        corner(ax, name)
        ax.label_outer()
        if not shared:
            figure.colorbar(mesh, ax=ax, aspect=16, pad=0.02)
    if shared:
        figure.colorbar(mesh, ax=axes, label="weight", aspect=30, shrink=0.9, pad=0.02)
    return figure


# ---------------------------------------------------------------------------------------------------------------------
# Chapter 1
# ---------------------------------------------------------------------------------------------------------------------

# Where kernels share a panel: the rest of Okabe-Ito, and a dash pattern each.
KERNEL_LINES = {
    "gaussian": {"color": "#000000", "linestyle": "-"},
    "boxcar": {"color": "#C27C00", "linestyle": (0, (1, 1.2))},
    "triangular": {"color": "#9C4576", "linestyle": (0, (5, 1.5, 1, 1.5))},
    "epanechnikov": {"color": "#2387BD", "linestyle": (0, (4, 1.8))},
}


def kernels_as_attention(kernels):
    """Each kernel above its logarithm: the weight before normalisation, and the score it stands for.

    Parameters
    ----------
    kernels : dict of str to callable
        Profiles K(u) of the scaled distance u.
    """
    figure, axes = panels(2, len(kernels), 3.4, sharex=True, sharey="row")
    edge = 1 + 1e-9
    offset = np.sort(np.concatenate([np.linspace(-2.2, 2.2, 177), [-edge, -0.999, 0.999, edge]]))
    for (name, profile), (above, below) in zip(kernels.items(), axes.T):
        weight = profile(np.abs(offset))
        score = np.log(weight, out=np.full_like(weight, np.nan), where=weight > 0)
        above.fill_between(offset, weight, color=COLOURS["query"], alpha=0.16, linewidth=0)
        above.plot(offset, weight, color=COLOURS["query"])
        below.plot(offset, score, color=COLOURS["query"])
        below.fill_between(offset, -3.2, 0.35, where=weight == 0, color="#dddddd", linewidth=0)
        if not np.all(weight):
            for x in (-1.62, 1.62):
                say(below, x, -1.5, r"$-\infty$", ha="center")
        corner(above, name, fontsize=9.5)
        above.set(ylim=(0, 1.12), yticks=[0, 0.5, 1])
        below.set(ylim=(-3.2, 0.35), xlim=(-2.2, 2.2), xticks=[-2, 0, 2], yticks=[-3, -2, -1, 0])
    axes[0, 0].set_ylabel("$K(u)$")
    axes[1, 0].set_ylabel(r"score $\log K(u)$")
    figure.supxlabel(r"signed distance $(k - q)\,/\,\sigma$", fontsize=10.5, color=TEXT["ink"])
    return figure


def kernel_spreads(kernels, standard_deviations):
    """The kernels, scaled to area one, at equal bandwidth (left) and at equal standard deviation (right).

    Parameters
    ----------
    kernels : dict of str to callable
        Profiles K(u).
    standard_deviations : dict of str to float
        Of each kernel, in units of the bandwidth.
    """
    figure, axes = panels(1, 2, 3.0, sharey=True)
    x = np.linspace(-3.2, 3.2, 3201)
    for ax, equal_spread in zip(axes.flat, (False, True)):
        for name, profile in kernels.items():
            bandwidth = 1 / standard_deviations[name] if equal_spread else 1.0
            density = profile(np.abs(x) / bandwidth)
            ax.plot(x, density / (density.sum() * (x[1] - x[0])), **KERNEL_LINES[name])
        ax.set(xlim=(-3.2, 3.2), ylim=(0, 1.08), yticks=[0, 0.5, 1], xlabel="$k - q$")
    left, right = axes.flat
    left.set_ylabel("kernel, area one")
    corner(left, r"equal bandwidth: $\sigma = 1$")
    corner(right, r"equal spread: $\mathrm{sd} = 1$")
    places = {"triangular": (0.28, 0.93), "epanechnikov": (0.62, 0.68), "boxcar": (1.08, 0.46), "gaussian": (1.5, 0.2)}
    for name, (x, y) in places.items():
        left.text(x, y, name, color=KERNEL_LINES[name]["color"], fontsize=9.5, va="center")
    return figure


def scenes(named_scenes, bandwidth):
    """Keys in the plane around a query; the area of a key is its weight, circles stand at one and two bandwidths.

    The first key is filled, and its weight is written in the corner.

    Parameters
    ----------
    named_scenes : dict of str to (query, keys, weights)
        Shapes (2,), (n, 2), (n,).
    bandwidth : float
        Radius of the inner circle.
    """
    figure, axes = panels(1, len(named_scenes), 2.5, sharex=True, sharey=True)
    for ax, (name, (query, keys, weights)) in zip(axes.flat, named_scenes.items()):
        for radius in (bandwidth, 2 * bandwidth):
            ax.add_patch(plt.Circle(query, radius, fill=False, color=COLOURS["query"], linewidth=0.8, alpha=0.7))
        draw_data(ax, *keys.T, sizes=8 + 700 * weights)
        ax.plot(*query, marker="P", color=COLOURS["query"], markersize=8, zorder=5, markeredgecolor="white")
        draw_data(ax, *keys[:1].T, sizes=8 + 700 * weights[:1], facecolors=COLOURS["data"], zorder=4)
        ax.text(0.03, 0.04, f"$w_1 = {weights[0]:.2f}$", transform=ax.transAxes, color=TEXT["data"], fontsize=10,
                bbox={"facecolor": "white", "edgecolor": "none", "pad": 1.5}, zorder=7)
        corner(ax, name, fontsize=9.5)
        ax.set_aspect("equal")
        ax.set(xlabel="feature 1", xticks=[], yticks=[])
    axes[0, 0].set_ylabel("feature 2")
    return figure


def query_key_value(keys, values, truth_at, truth, query, example):
    """The data with its three words: a query on the axis, and the key and the value of one example.

    Parameters
    ----------
    keys, values : (n,) arrays
    truth_at, truth : (m,) arrays
    query : float
    example : int
        Index of the point whose key and value are named.
    """
    figure, axes = panels(1, 1, 3.4)
    ax = axes[0, 0]
    key, value = keys[example], values[example]
    draw_truth(ax, truth_at, truth)
    draw_data(ax, keys, values, 30)
    draw_data(ax, [key], [value], 60, facecolors=COLOURS["data"])
    ax.plot([key, key, -0.1], [-1.9, value, value], color=COLOURS["data"], linewidth=1, linestyle=(0, (2, 2)))
    draw_query(ax, query)
    say(ax, query + 0.06, 5.9, "query $q$", "query")
    say(ax, key + 0.06, -1.55, "key $k_j$", "data")
    say(ax, -0.05, value + 0.3, "value $y_j$", "data")
    say(ax, 0.42, 0.5, "truth", "truth")
    ax.set(xlabel="$x$", ylabel="$y$", xlim=(-0.1, 5.1), ylim=(-1.9, 6.2))
    return figure


def motorcycle_data(times, accelerations):
    """Head acceleration in a simulated motorcycle crash, with a tick on the axis for each measurement."""
    figure, axes = panels(1, 1, 3.4)
    ax = axes[0, 0]
    draw_data(ax, times, accelerations, 24)
    ax.plot(times, np.full(len(times), -152.0), "|", color=COLOURS["data"], markersize=7, markeredgewidth=0.8, alpha=0.7)
    ax.axhline(0, color="#cccccc", linewidth=0.8, zorder=0)
    ax.set(xlabel="time after impact / ms", ylabel="head acceleration / g", xlim=(0, 60), ylim=(-160, 90))
    return figure


# ---------------------------------------------------------------------------------------------------------------------
# Chapter 2
# ---------------------------------------------------------------------------------------------------------------------

def joint_density(x, y, density, estimate, keys, values, query):
    """A density estimate of (x, y) as shades of grey, its conditional mean, and the slice at one query.

    Parameters
    ----------
    x, y : (a,), (b,) arrays
        The grid.
    density : (b, a) array
    estimate : (a,) array
        The conditional mean.
    keys, values : (n,) arrays
    query : float
        Where the slice on the right is taken.
    """
    figure, axes = panels(1, 2, 3.3, sharey=True, width_ratios=[3.2, 1])
    left, right = axes.flat
    left.pcolormesh(x, y, density, cmap="Greys", vmin=0, vmax=1.5 * density.max(), rasterized=True)
    draw_data(left, keys, values, 12)
    draw_estimate(left, x, estimate)
    draw_query(left, query, zorder=4)
    left.set(xlabel="$x$", ylabel="$y$", xlim=(x[0], x[-1]), ylim=(y[0], y[-1]))
    column = np.argmin(np.abs(x - query))
    slice_ = density[:, column] / np.trapezoid(density[:, column], y)
    right.fill_betweenx(y, slice_, color="#bbbbbb", linewidth=0)
    right.plot([0, 1.25 * slice_.max()], [estimate[column]] * 2, color=COLOURS["estimate"], linewidth=2.2)
    say(right, 1.25 * slice_.max(), estimate[column] + 0.4, "mean", "estimate", ha="right")
    say(left, query + 0.06, y[-1] - 0.5, "$q$", "query")
    right.set(xlabel=r"$\hat p\,(y\,|\,q)$", xlim=(0, None), xticks=[])
    return figure


def weighted_mean(keys, values, query, weights, similarity_at, similarity):
    """A weighted mean taken apart: the kernel around the query, the weights, and the values that they weigh.

    Parameters
    ----------
    keys, values, weights : (n,) arrays
    query : float
    similarity_at, similarity : (m,) arrays
        The kernel over the axis.
    """
    figure, axes = panels(2, 1, 3.9, sharex=True, height_ratios=[1.6, 1])
    above, below = axes.flat
    estimate = weights @ values
    draw_data(above, keys, values, 8 + 900 * weights)
    above.plot([keys.min(), keys.max()], [estimate] * 2, color=COLOURS["estimate"], linewidth=1.6, zorder=2)
    above.plot(query, estimate, "D", color=COLOURS["estimate"], markersize=8, zorder=5)
    say(above, keys.max(), estimate + 0.32, f"$f(q) = {estimate:.2f}$", "estimate", ha="right")
    below.fill_between(similarity_at, similarity / similarity.max() * weights.max(), color=COLOURS["query"],
                       alpha=0.14, linewidth=0)
    below.vlines(keys, 0, weights, color=COLOURS["data"], linewidth=5)
    for key, weight in zip(keys, weights):
        say(below, key, weight + 0.035, f"{weight:.3f}", "data", ha="center")
    for ax in axes.flat:
        draw_query(ax, query)
    say(above, query + 0.08, values.max() + 0.25, "query $q$", "query")
    above.set(ylabel="value $y$", ylim=(values.min() - 0.6, values.max() + 0.6))
    below.set(xlabel="key $k$", ylabel="weight", ylim=(0, weights.max() * 1.35))
    return figure


def beyond_the_data(queries, estimates, truth, keys, values, similarity_sum, neighbours):
    """What happens outside the data: two estimates, the sum of the kernel, the effective number of neighbours.

    Parameters
    ----------
    queries : (m,) array
    estimates : dict of two names to (m,) arrays
    truth, similarity_sum, neighbours : (m,) arrays
    keys, values : (n,) arrays
    """
    figure, axes = panels(3, 1, 5.4, sharex=True, height_ratios=[1.9, 1, 1])
    top, middle, bottom = axes.flat
    draw_data(top, keys, values, 16)
    draw_truth(top, queries, truth)
    (first, estimate), (second, other) = estimates.items()
    draw_estimate(top, queries, estimate)
    draw_estimate(top, queries, other, "second", linestyle=(0, (3, 1.2)))
    at_right = queries[-1] - 0.1
    say(top, at_right, estimate[-1] - 1.1, first, "estimate", ha="right")
    say(top, keys[-1] + 0.3, 1.4, second, "second")
    say(top, at_right, 7.2, "truth", "truth", ha="right")
    middle.semilogy(queries, similarity_sum, color=COLOURS["data"])
    bottom.plot(queries, neighbours, color=COLOURS["data"])
    for ax in axes.flat:
        ax.axvspan(keys[0], keys[-1], color="#e9f3f9", zorder=-1, linewidth=0)
    top.set(ylabel="$y$", ylim=(-6, 11))
    middle.set(ylabel=r"$\sum_j K$", ylim=(1e-9, 1e2), yticks=[1e-8, 1e-4, 1])
    bottom.set(ylabel=r"$1 / \sum_j w_j^2$", ylim=(0, None), xlabel="query $q$", xlim=(queries[0], queries[-1]))
    figure.align_ylabels(axes[:, 0])
    return figure


def influence(keys, values, query, weights, change):
    """Which measurement holds the estimate up: weights as areas above, the change by deleting each key below.

    Parameters
    ----------
    keys, values, weights : (n,) arrays
    query : float
    change : (n,) array
        Of the estimate, if that key is deleted.
    """
    figure, axes = panels(2, 1, 4.4, sharex=True, height_ratios=[1.5, 1])
    above, below = axes.flat
    estimate = weights @ values
    draw_data(above, keys, values, 6 + 900 * weights)
    above.axhline(estimate, color=COLOURS["estimate"], linewidth=1.2, zorder=1)
    above.plot(query, estimate, "D", color=COLOURS["estimate"], markersize=8, zorder=5)
    say(above, keys[0], estimate + 0.35, "$f(q)$", "estimate")
    below.axhline(0, color="#9a9a9a", linewidth=0.8)
    below.vlines(keys, 0, change, color=COLOURS["data"], linewidth=2.5)
    below.plot(keys, change, "o", color=COLOURS["data"], markersize=4)
    for ax in axes.flat:
        draw_query(ax, query)
    say(above, query + 0.06, values.max() + 0.55, "query $q$", "query")
    above.set(ylabel="value $y$", ylim=(values.min() - 0.6, values.max() + 1.1))
    below.set(xlabel="key $k$", ylabel="change of $f(q)$")
    figure.align_ylabels(axes[:, 0])
    return figure
