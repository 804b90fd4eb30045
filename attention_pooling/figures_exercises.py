"""The figures of the exercises and their solutions. Shared parts, colours and style come from `figures`."""

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.colors import ListedColormap

from .figures import COLOURS, TEXT, corner, panels, say
from .figures_tuning import SIGMA, bandwidth_axis

CLASSES = (  # colour, marker, pale ground
    (COLOURS["data"], "o", "#d6e8f5"),
    (COLOURS["query"], "s", "#fae3d3"),
    (COLOURS["estimate"], "^", "#d3efe5"),
)


def draw_class(ax, points, index, **options):
    """The points of one class, in its colour and with its marker."""
    colour, marker, _ = CLASSES[index]
    options = {"s": 20, "linewidths": 0.7, "edgecolors": "white", "zorder": 3, **options}
    ax.scatter(*points.T, color=colour, marker=marker, **options)


def feature_plane(ax, points, margin=0.5):
    """Two features, one unit as long across as up."""
    low, high = points.min(axis=0) - margin, points.max(axis=0) + margin
    ax.set(xlim=(low[0], high[0]), ylim=(low[1], high[1]), aspect="equal", xlabel="feature 1", ylabel="feature 2")


def disagreement_map(points, labels, queries, differ=None):
    """Two classes and, where `differ` (one True or False a query) is given, the queries on which two rules differ."""
    figure, axes = panels(height=4.2)
    ax = axes[0, 0]
    if differ is not None:
        ax.scatter(*queries[np.asarray(differ, dtype=bool).ravel()].T, s=7, color=COLOURS["second"], linewidths=0)
        corner(ax, "dots: the rules differ", "second")
    draw_class(ax, points[labels == 1], 0)
    draw_class(ax, points[labels == -1], 1)
    feature_plane(ax, queries, 0)
    say(ax, 0.97, 0.95, "$+1$", "data", ha="right", transform=ax.transAxes)
    say(ax, 0.03, 0.05, "$-1$", "query", transform=ax.transAxes)
    return figure


def class_regions(points, labels, probabilities=None, marked=None, query=None):
    """Points of up to three classes over the regions where each class has the largest probability.

    Parameters
    ----------
    points : (n, 2) array
    labels : (n,) array of int
    probabilities : callable, optional
        Takes (m, 2) queries, returns (m, classes). Without it the ground stays empty.
    marked : array of int, optional
        Indices of examples to ring.
    query : (2,) array, optional
        A query to mark with a cross.
    """
    figure, axes = panels(height=4.6)
    ax = axes[0, 0]
    feature_plane(ax, points)
    if probabilities is not None:
        across, up = (np.linspace(*limits, 161) for limits in (ax.get_xlim(), ax.get_ylim()))
        grid = np.stack(np.meshgrid(across, up), axis=-1).reshape(-1, 2)
        winner = np.argmax(probabilities(grid), axis=1).reshape(len(up), len(across))
        grounds = ListedColormap([ground for *_, ground in CLASSES])
        ax.pcolormesh(across, up, winner, cmap=grounds, vmin=-0.5, vmax=2.5, rasterized=True, zorder=0)
    for index in np.unique(labels):
        draw_class(ax, points[labels == index], index)
    if marked is not None:
        ax.scatter(*points[marked].T, s=90, facecolors="none", edgecolors=TEXT["ink"], linewidths=1.3, zorder=4)
    if query is not None:
        ax.scatter(*query, s=80, marker="X", color=TEXT["ink"], edgecolors="white", zorder=5)
    return figure


def best_bandwidths(sizes, best, slopes):
    """The best bandwidth over the number of keys, for each entry of `best` (name -> array), with its slope."""
    figure, axes = panels(height=3.2)
    ax = axes[0, 0]
    for (name, sigma), role, marker in zip(best.items(), ("data", "estimate"), "os"):
        ax.plot(sizes, sigma, marker=marker, color=COLOURS[role], linestyle="none", ms=6)
        line = np.polyfit(np.log(sizes), np.log(sigma), 1)
        ax.plot(sizes, np.exp(np.polyval(line, np.log(sizes))), color=COLOURS[role], linewidth=1.3)
        say(ax, sizes[-1] * 1.3, sigma[-1], f"{name}\nslope {slopes[name]:.2f}", role)
    ax.set(xscale="log", yscale="log", xlabel=r"number of keys $n$", ylabel=r"best bandwidth $\sigma$")
    ax.set(xlim=(sizes[0] * 0.7, sizes[-1] * 9), ylim=(0.02, 0.35))
    ax.set_yticks([0.03, 0.1, 0.3], ["0.03", "0.1", "0.3"])
    ax.yaxis.set_minor_locator(plt.NullLocator())
    ax.grid()
    return figure


def gradient_lines(bandwidths, gradients):
    """Size of the training error's gradient over σ, in σ and in log σ."""
    figure, axes = panels(height=3.0)
    ax = axes[0, 0]
    dashes = {"query": (0, (6, 1.5)), "data": "solid"}
    for (name, values), role in zip(gradients.items(), dashes):
        ax.plot(bandwidths, values, color=COLOURS[role], linestyle=dashes[role])
        peak = int(np.argmax(values))
        say(ax, bandwidths[peak] * 1.3, values[peak] * 1.3, name, role, va="bottom")
    bandwidth_axis(ax, bandwidths[0], bandwidths[-1], SIGMA)
    ax.set_yscale("log")
    ax.set(ylim=(1e-6, 2e3), ylabel="absolute gradient")
    ax.grid(axis="y")
    return figure
