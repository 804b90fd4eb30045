"""The figures of chapter 3, tuning the bandwidth. Shared parts, colours and style come from `figures`."""

import matplotlib.pyplot as plt
import numpy as np

from .figures import COLOURS, TEXT, WEIGHT_MAP, corner, draw_data, draw_estimate, draw_truth, panels, say

SIGMA = r"bandwidth $\sigma$ (units of $x$)"


def bandwidth_axis(ax, low, high, label=SIGMA):
    """A logarithmic axis for σ whose ticks are plain numbers."""
    ax.set_xscale("log")
    ax.set(xlim=(low, high), xlabel=label)
    ticks = [t for t in (1e-4, 1e-3, 0.01, 0.03, 0.1, 0.3, 1, 3, 10, 30) if low <= t <= high]
    ax.set_xticks(ticks, [f"{t:g}" if t >= 1e-3 else "0.0001" for t in ticks])
    ax.xaxis.set_minor_locator(plt.NullLocator())


ERROR_LINES = {  # name in a BandwidthCurve -> (words, colour, dash, role of the words)
    "training": ("training", COLOURS["data"], (0, (1, 1.2)), "data"),
    "leave_one_out": ("leave-one-out", COLOURS["second"], (0, (6, 1.5)), "second"),
    "validation": ("validation", COLOURS["estimate"], "solid", "estimate"),
}


def error_curves(curve, label_at=None, limits=(0, None), unit=""):
    """Training, leave-one-out and validation error over σ; a diamond marks each minimum that is not an end.

    Parameters
    ----------
    curve : BandwidthCurve
    label_at : dict of str to (x, y), optional
        Where the name of each line stands, in data coordinates.
    unit : str
        Unit of the squared error, for the axis label.
    """
    figure, axes = panels(height=3.2)
    draw_error_curves(axes[0, 0], curve, label_at or {}, unit)
    axes[0, 0].set_ylim(*limits)
    return figure


def draw_error_curves(ax, curve, label_at, unit=""):
    """The errors of a `BandwidthCurve` on one pair of axes; see `error_curves`."""
    for name, (words, colour, dash, role) in ERROR_LINES.items():
        error = getattr(curve, name)
        if error is None:
            continue
        ax.plot(curve.bandwidths, error, color=colour, linestyle=dash)
        best = int(np.argmin(error))
        if error[best] < 0.999 * min(error[0], error[-1]):
            ax.plot(curve.bandwidths[best], error[best], "D", color=colour, ms=6, mec="white", zorder=5)
        if name in label_at:
            say(ax, *label_at[name], words, role)
    bandwidth_axis(ax, curve.bandwidths[0], curve.bandwidths[-1])
    ax.set_ylabel(f"mean squared error{unit}")
    ax.grid(axis="y")


def two_maps(left, right, names, labels=("key", "query"), largest=None):
    """Two square heat maps of weights between the same points, by index, on one scale (cut at `largest`)."""
    figure, axes = panels(1, 2, height=3.1, sharey=True)
    top = largest or max(left.max(), right.max())
    for ax, matrix, name in zip(axes[0], (left, right), names):
        n = len(matrix)
        mesh = ax.imshow(matrix, cmap=WEIGHT_MAP, vmin=0, vmax=top, interpolation="nearest",
                         extent=(0.5, n + 0.5, n + 0.5, 0.5))
        corner(ax, name)
        ax.set(xlabel=labels[0])
    axes[0, 0].set_ylabel(labels[1])
    figure.colorbar(mesh, ax=axes, label="weight", aspect=22, shrink=0.85, pad=0.02,
                    extend="max" if largest else "neither")
    return figure


def bandwidth_choices(chosen, best, grid):
    """Histograms of the chosen and of the best σ over many data sets, one above the other, medians marked.

    `grid` holds the σ that were tried, evenly spaced on a logarithmic axis; two of them share a bar.
    """
    figure, axes = panels(2, 1, height=3.3, sharex=True, sharey=True)
    edges = (grid * np.sqrt(grid[0] / grid[1]))[::2]
    rows = ((best, "estimate", "best for the truth"), (chosen, "second", "chosen by leave-one-out"))
    for ax, (sigmas, role, words) in zip(axes[:, 0], rows):
        ax.hist(sigmas, edges, color=COLOURS[role], alpha=0.75, edgecolor="white", linewidth=0.6)
        middle = np.median(sigmas)
        ax.axvline(middle, color=TEXT[role], linewidth=1.4, linestyle=(0, (4, 2)))
        say(ax, middle * 1.03, 0.98, f"median {middle:.2f}", role, transform=ax.get_xaxis_transform(), va="top")
        corner(ax, words, role)
        ax.set_ylabel("data sets")
        bandwidth_axis(ax, edges[0], edges[-1])
    axes[0, 0].set(xlabel="", ylim=(0, 1.25 * axes[0, 0].get_ylim()[1]))
    return figure


def descents(curve, paths, label_at, span):
    """Each descent as a ladder of dots on its own error curve: a ring at its start, a square at its end.

    Parameters
    ----------
    curve : BandwidthCurve
    paths : dict of str to (steps,) array
        `training` and `leave_one_out`: the σ visited.
    label_at : dict of str to (x, y)
        Where the name of each line stands, in data coordinates.
    span : (low, high)
        Of the σ axis.
    """
    figure, axes = panels(height=3.4)
    ax = axes[0, 0]
    for name, path in paths.items():
        words, colour, dash, role = ERROR_LINES[name]
        error = getattr(curve, name)
        ax.plot(curve.bandwidths, error, color=colour, linestyle=dash, linewidth=1.4)
        height = np.interp(np.log(path), np.log(curve.bandwidths), error)
        ax.plot(path, height, "o", color=colour, ms=4.5, alpha=0.6, mec="white", mew=0.5, zorder=4)
        ax.plot(path[0], height[0], "o", color="white", mec=TEXT[role], ms=8, mew=1.8, zorder=5)
        ax.plot(path[-1], height[-1], "s", color=TEXT[role], ms=7.5, mec="white", zorder=6)
        say(ax, *label_at[name], words, role)
    bandwidth_axis(ax, *span)
    ax.set(ylabel="mean squared error", ylim=(0, 3))
    ax.grid(axis="y")
    return figure


def loss_steps(sigmas, losses):
    """Leave-one-out error close up, one panel for each kernel: stairs for the boxcar, a curve for the Gaussian."""
    figure, axes = panels(1, len(losses), height=2.6, sharey=True)
    for ax, (name, loss) in zip(axes[0], losses.items()):
        stairs = "steps-mid" if name == "boxcar" else "default"
        ax.plot(sigmas, loss, color=COLOURS["second"], drawstyle=stairs, linewidth=1.6)
        corner(ax, name)
        ax.set(xlabel=SIGMA, xlim=(sigmas[0], sigmas[-1]))
        ax.grid(axis="y")
    axes[0, 0].set_ylabel("leave-one-out error")
    return figure


def estimate_bands(queries, estimates, truth, limits=(-2.5, 7.5)):
    """All estimates of many data sets, their mean and the truth: one panel for each name.

    Parameters
    ----------
    estimates : dict of str to (data sets, m) array
    """
    figure, axes = panels(1, len(estimates), height=2.9, sharey=True)
    for ax, (name, many) in zip(axes[0], estimates.items()):
        ax.plot(queries, many.T, color=COLOURS["estimate"], linewidth=0.5, alpha=0.16, rasterized=True)
        low, high = np.percentile(many, [5, 95], axis=0)
        ax.fill_between(queries, low, high, color=COLOURS["estimate"], alpha=0.16, linewidth=0)
        ax.plot(queries, many.mean(axis=0), color=TEXT["estimate"], linewidth=2.4, zorder=4)
        draw_truth(ax, queries, truth, color="#222222", linewidth=1.7, zorder=5)
        corner(ax, name)
        ax.set(xlabel="$x$", ylim=limits, xticks=range(0, 6))
    axes[0, 0].set_ylabel("$y$")
    return figure


def bias_and_variance(sigmas, squared_bias, variance):
    """Squared bias and variance over σ, stacked, so that the upper edge is the expected squared error."""
    figure, axes = panels(height=3.1)
    ax, total = axes[0, 0], squared_bias + variance
    ax.fill_between(sigmas, 0, squared_bias, color=COLOURS["second"], alpha=0.35, linewidth=0)
    ax.fill_between(sigmas, squared_bias, total, color=COLOURS["data"], alpha=0.22, linewidth=0)
    ax.plot(sigmas, squared_bias, color=COLOURS["second"], linewidth=1.2, linestyle=(0, (6, 1.5)))
    ax.plot(sigmas, total, color=COLOURS["estimate"])
    best = int(np.argmin(total))
    ax.plot(sigmas[best], total[best], "D", color=COLOURS["estimate"], ms=6, mec="white", zorder=5)
    bandwidth_axis(ax, sigmas[0], sigmas[-1])
    ax.set(ylabel="mean squared error", ylim=(0, 1.0))
    ax.grid(axis="y")
    say(ax, sigmas[0] * 1.12, 0.22, "variance", "data")
    say(ax, sigmas[-1] / 1.12, 0.22, "squared bias", "second", ha="right")
    say(ax, sigmas[best], total[best] + 0.09, f"least error at {sigmas[best]:.2f}", "estimate", ha="center")
    return figure


def motorcycle_tuned(times, values, grid, estimate, curve, label_at, spread):
    """The motorcycle data with its estimate and the spread around it, above; the two errors over σ, below."""
    figure, axes = panels(2, 1, height=5.4, height_ratios=(1.35, 1))
    upper, lower = axes[:, 0]
    draw_data(upper, times, values, 16)
    upper.fill_between(grid, estimate - spread, estimate + spread, color=COLOURS["estimate"], alpha=0.15, linewidth=0)
    draw_estimate(upper, grid, estimate)
    upper.set(xlabel="time after impact (ms)", ylabel="acceleration (g)")
    draw_error_curves(lower, curve, label_at, " (g²)")
    lower.set_xlabel(r"bandwidth $\sigma$ (ms)")
    return figure
