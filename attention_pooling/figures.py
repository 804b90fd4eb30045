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

WIDTH = 6.2  # inches, 595 CSS pixels: the text column with room to spare, and still legible scaled to a phone

STYLE = {
    "figure.dpi": 96, "savefig.dpi": 192, "figure.facecolor": "white", "figure.constrained_layout.use": True,
    "font.size": 10.5, "axes.labelsize": 10.5, "xtick.labelsize": 9.5, "ytick.labelsize": 9.5,
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
    options = {"ha": "left", "va": "center", "fontsize": 9.5, **options}
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


def fits(keys, values, queries, estimates, truth=None, columns=2, height=None, limits=None):
    """One panel for each named estimate: data, truth, estimate.

    Parameters
    ----------
    keys, values : (n,) arrays
    queries : (m,) array
    estimates : dict of str to (m,) array
        The name stands above the panel; NaN draws a gap.
    truth : (m,) array, optional
    limits : (low, high), optional
        Of the vertical axis.
    """
    rows = -(-len(estimates) // columns)
    figure, axes = panels(rows, columns, height or 0.35 + 2.15 * rows, sharex=True, sharey=True)
    for ax, (name, estimate) in zip(axes.flat, estimates.items()):
        draw_data(ax, keys, values, 14)
        if truth is not None:
            draw_truth(ax, queries, truth)
        draw_estimate(ax, queries, estimate)
        corner(ax, name)
        ax.set(ylim=limits)
    for ax in axes.flat[len(estimates):]:
        ax.set_axis_off()
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
