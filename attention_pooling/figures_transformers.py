"""The figures of chapter 4, from kernels to Transformers. Shared parts, colours and style come from `figures`."""

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.colors import LinearSegmentedColormap

from .figures import COLOURS, WEIGHT_MAP, corner, panels, say

# A colour wheel of Okabe-Ito hues: angles close to −π and to π have the same colour.
ANGLE_MAP = LinearSegmentedColormap.from_list(
    "angle", ["#0072B2", "#009E73", "#E0B000", "#D55E00", "#CC79A7", "#0072B2"])


def draw_circle(ax, **options):
    """The unit circle on equal axes."""
    angle = np.linspace(0, 2 * np.pi, 200)
    options = {"color": "#333333", "linewidth": 1.2, "zorder": 3, **options}
    ax.plot(np.cos(angle), np.sin(angle), **options)
    ax.set_aspect("equal")


def draw_arrow(ax, tip, role, **options):
    """An arrow from the origin to `tip`."""
    options = {"arrowstyle": "-|>", "color": COLOURS[role], "linewidth": 2.0, "shrinkA": 0, "shrinkB": 0, **options}
    ax.annotate("", tip, (0, 0), arrowprops=options, zorder=5)


def two_scores(query, names):
    """Contours over the plane of keys: of −‖q − k‖²/2 on the left, of q·k on the right, with the unit circle in both.

    Dots mark where a contour meets the circle: at the same places, because the two scores differ there by a constant.
    """
    figure, axes = panels(1, 2, height=3.55, sharey=True)
    side = np.linspace(-1.6, 1.6, 65)
    first, second = np.meshgrid(side, side)
    product = query[0] * first + query[1] * second
    distance = -((first - query[0]) ** 2 + (second - query[1]) ** 2) / 2
    levels = np.arange(-1, 1.01, 0.25)
    towards = np.arctan2(query[1], query[0])
    shift = (1 + query @ query) / 2  # -|q - k|^2 / 2 = q.k - shift on the circle
    for ax, score, offset, name in zip(axes[0], (distance, product), (shift, 0.0), names):
        outside = np.arange(1.25, 3, 0.25)
        every = np.concatenate([-outside[::-1], levels, outside]) - offset
        ground = ax.contourf(first, second, score, every, cmap=WEIGHT_MAP, alpha=0.55, vmin=-1.6 - offset,
                             vmax=2.4 - offset)
        ground.set_rasterized(True)
        ax.contour(first, second, score, every, colors="white", linewidths=0.8, linestyles="solid")
        draw_circle(ax)
        for level in levels[np.abs(levels) < np.linalg.norm(query)]:
            half = np.arccos(level / np.linalg.norm(query))
            ax.plot(np.cos(towards + [[half, -half]]), np.sin(towards + [[half, -half]]), "o", color=COLOURS["data"],
                    mec="white", mew=0.7, ms=5.5, zorder=5)
        draw_arrow(ax, query, "query")
        say(ax, *(query * 1.12), "$q$", "query", fontsize=12, ha="center", va="bottom")
        corner(ax, name)
        ax.set(xlabel="first feature", xlim=(-1.6, 1.6), ylim=(-1.6, 1.6), xticks=(-1, 0, 1), yticks=(-1, 0, 1))
    axes[0, 0].set_ylabel("second feature")
    return figure


def keys_and_weights(keys, query, weights, names):
    """Keys and a query in the plane, numbered; beside them the weights by two rules, as pairs of bars.

    Parameters
    ----------
    keys : (n, 2) array
    query : (2,) array
    weights : pair of (n,) arrays
    names : pair of str
    """
    figure, axes = panels(1, 2, height=3.0, width_ratios=(1, 1.35))
    plane, bars = axes[0]
    draw_circle(plane, color="#bbbbbb")
    draw_arrow(plane, query, "query")
    say(plane, *(query * 0.45 + [-0.08, 0.0]), "$q$", "query", fontsize=12, ha="right", va="bottom")
    plane.scatter(*keys.T, s=34, facecolors=COLOURS["data"], edgecolors="white", linewidths=0.8, zorder=6)
    for number, key in enumerate(keys, 1):
        out = key * (1 + 0.17 / np.linalg.norm(key))
        say(plane, *out, str(number), "data", ha="center")
    reach = 1.3 * max(1, np.abs(keys).max())
    plane.set(xlim=(-reach, reach), ylim=(-reach, reach), xlabel="first feature", ylabel="second feature",
              xticks=(-1, 0, 1), yticks=(-1, 0, 1))
    place = np.arange(1, len(keys) + 1)
    for shift, weight, role, hatch in ((-0.2, weights[0], "estimate", ""), (0.2, weights[1], "second", "////")):
        bars.bar(place + shift, weight, 0.38, color=COLOURS[role], hatch=hatch, edgecolor="white", linewidth=0.4)
    bars.set(xlabel="key", ylabel="weight", xticks=place)
    bars.grid(axis="y")
    handles = [plt.Rectangle((0, 0), 1, 1, facecolor=COLOURS[role], hatch=hatch, edgecolor="white", linewidth=0.4)
               for role, hatch in (("estimate", ""), ("second", "////"))]
    bars.legend(handles, names, frameon=False, loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=2, fontsize=9.5,
                handlelength=1.4)
    return figure


def sorted_weights(weights, label_at):
    """Weights of one query from largest to smallest, a line for each rule, against the even share 1/n.

    Parameters
    ----------
    weights : dict of str to (n,) array
    label_at : dict of str to (rank, weight)
        Where each name stands.
    """
    figure, axes = panels(height=3.1)
    ax = axes[0, 0]
    n = len(next(iter(weights.values())))
    ax.axhline(1 / n, color=COLOURS["truth"], linewidth=1.2, linestyle=(0, (5, 3)))
    dashes = (0, (1, 1.2)), "solid", (0, (6, 1.5))
    for (name, row), role, dash in zip(weights.items(), ("second", "estimate", "data"), dashes):
        ax.plot(np.arange(1, n + 1), np.sort(row)[::-1], color=COLOURS[role], linestyle=dash, drawstyle="steps-mid")
        say(ax, *label_at[name], name, role)
    ax.set(yscale="log", xlabel="keys, from the largest weight to the smallest", ylabel="weight", xlim=(1, n))
    low, high = ax.get_ylim()
    ticks = [t for t in (0.0001, 0.0003, 0.001, 0.003, 0.01, 0.03, 0.1, 0.3) if low <= t <= high]
    ax.set_yticks(ticks, [f"{t:g}" if t > 1e-4 else "0.0001" for t in ticks])
    ax.yaxis.set_minor_locator(plt.NullLocator())
    ax.grid(axis="y")
    return figure


def bandwidth_paths(paths, names, used, spread):
    """Per-feature bandwidths over the steps of a descent, on a logarithmic axis, each named at its end.

    Parameters
    ----------
    paths : (steps + 1, d) array
    names : sequence of d str
    used : (d,) bool array
        Which features the truth depends on: solid and dark; the others dashed.
    spread : float
        Standard deviation of the features, drawn as a line: well above it, a feature hardly matters.
    """
    figure, axes = panels(height=3.2)
    ax = axes[0, 0]
    steps = len(paths) - 1
    ax.axhline(spread, color=COLOURS["truth"], linewidth=1.2, linestyle=(0, (5, 3)))
    say(ax, steps * 0.99, spread / 1.04, "standard deviation of a feature", "truth", ha="right", va="top")
    height = 0.0
    for i in np.argsort(paths[-1]):
        role = "estimate" if used[i] else "second"
        ax.plot(paths[:, i], color=COLOURS[role], linestyle="solid" if used[i] else (0, (6, 1.5)))
        height = max(paths[-1, i], height * 1.13)  # names of neighbouring ends do not overlap
        say(ax, steps * 1.015, height, names[i], role)
    ax.set(yscale="log", xlabel="steps of gradient descent", ylabel=r"bandwidth $\sigma_i$ (units of the feature)",
           xlim=(0, steps * 1.08), ylim=(paths.min() / 1.3, paths.max() * 1.3))
    ticks = [t for t in (0.1, 0.2, 0.5, 1, 2, 5) if paths.min() / 1.3 <= t <= paths.max() * 1.3]
    ax.set_yticks(ticks, [f"{t:g}" for t in ticks])
    ax.yaxis.set_minor_locator(plt.NullLocator())
    ax.grid(axis="y")
    return figure


def predicted_against_true(truth, predictions, limits):
    """Predictions against the truth at new queries, one square panel for each name; perfect ones lie on the line."""
    figure, axes = panels(1, len(predictions), height=3.2, sharey=True)
    for ax, (name, predicted) in zip(axes[0], predictions.items()):
        ax.plot(limits, limits, color=COLOURS["truth"], linewidth=1.4, linestyle=(0, (5, 3)))
        ax.scatter(truth, predicted, s=9, color=COLOURS["estimate"], alpha=0.45, linewidths=0, rasterized=True)
        corner(ax, name)
        ax.set(xlabel="truth", xlim=limits, ylim=limits, aspect="equal")
    axes[0, 0].set_ylabel("estimate")
    return figure


def projections(angles, stages):
    """Queries (discs) and keys (crosses) in the plane of their two projected features, coloured by the hidden angle.

    Parameters
    ----------
    angles : (n,) array, from −π to π
    stages : dict of str to pair of (n, 2) arrays
        The projected queries and keys, one panel for each name.
    """
    figure, axes = panels(1, len(stages), height=3.3)
    for ax, (name, (queries, keys)) in zip(axes[0], stages.items()):
        reach = 1.08 * max(np.abs(queries).max(), np.abs(keys).max())
        marks = {"c": angles, "cmap": ANGLE_MAP, "vmin": -np.pi, "vmax": np.pi, "rasterized": True}
        ax.scatter(*keys.T, s=26, marker="x", linewidths=1.1, **marks)
        dots = ax.scatter(*queries.T, s=24, edgecolors="white", linewidths=0.5, **marks)
        corner(ax, name)
        ax.set(xlabel="first projected feature", xlim=(-reach, reach), ylim=(-reach, reach), aspect="equal")
    axes[0, 0].set_ylabel("second projected feature")
    bar = figure.colorbar(dots, ax=axes, label="hidden angle (rad)", aspect=22, shrink=0.85, pad=0.02)
    bar.set_ticks([-np.pi, 0, np.pi], labels=["−π", "0", "π"])
    return figure
