"""The figures of chapter 5, *Scale up*, and of the benchmarks."""

import matplotlib.pyplot as plt
import numpy as np

from attention_pooling.figures import COLOURS, TEXT, corner, panels


def label_ends(ax, lines):
    """Name each line at its right end: `lines` holds (x, y, words, role)."""
    for x, y, words, role in lines:
        ax.annotate(words, (x, y), (6, 0), textcoords="offset points", va="center", fontsize=9.5, color=TEXT[role])


def peak_memory(sizes, peaks):
    """Peak memory in MB against n, for n queries and n keys: one line for each named way to compute.

    Parameters
    ----------
    sizes : sequence of int
    peaks : dict of str to sequence of float
        MB, in the order of `sizes`.
    """
    figure, axes = panels(height=2.9)
    ax = axes[0, 0]
    looks = [("second", "s", (0, (4, 2))), ("estimate", "o", "-"), ("data", "^", (0, (1, 1)))]
    for (name, megabytes), (role, marker, dash) in zip(peaks.items(), looks):
        ax.plot(sizes, megabytes, color=COLOURS[role], marker=marker, linestyle=dash, markersize=5)
        label_ends(ax, [(sizes[-1], megabytes[-1], name, role)])
    ax.set(xscale="log", yscale="log", xlabel="number of keys $n = m$", ylabel="peak memory (MB)",
           xlim=(sizes[0] * 0.9, sizes[-1] * 2.4))
    ax.set_xticks(sizes, [f"{size:,}" for size in sizes])
    ax.xaxis.set_minor_locator(plt.NullLocator())
    ax.grid(axis="y")
    return figure


def growth_with_keys(rows):
    """Seconds against the number of keys, log-log: one line for each kernel and way in which queries and σ go with n.

    Parameters
    ----------
    rows : list of dict
        With "kernel", "queries", "keys", "bandwidth" and "seconds": what `python -m benchmarks growth` measures.
    """
    lines = {}
    for row in rows:
        shrinking = row["queries"] == row["keys"]
        if shrinking and row["bandwidth"] * row["keys"] > 1000 and row["keys"] > 1000:
            continue  # the window that does not shrink: one point, no line
        lines.setdefault((row["kernel"], shrinking), []).append((row["keys"], row["seconds"]))
    looks = {"epanechnikov": ("estimate", "o"), "boxcar": ("second", "s"), "triangular": ("query", "^"),
             "gaussian": ("data", "D"), "m × n": ("truth", "x")}
    titles = {True: r"(a) $m = n$, $\sigma \propto 1/n$", False: r"(b) $m = 1000$, $\sigma$ fixed"}
    kinds = sorted({shrinking for _, shrinking in lines}, reverse=True)
    figure, axes = panels(columns=len(kinds), height=3.0, sharey=True)
    for ax, kind in zip(axes[0], kinds):
        for (kernel, shrinking), points in lines.items():
            if shrinking == kind:
                role, marker = looks[kernel]
                dash = (0, (4, 2)) if kernel == "m × n" else "-"
                ax.plot(*zip(*points), color=COLOURS[role], marker=marker, markersize=5, linestyle=dash, label=kernel)
        n = np.array(sorted({keys for (_, shrinking), points in lines.items() if shrinking == kind
                             for keys, _ in points}), dtype=float)
        least = min(points[0][1] for (_, shrinking), points in lines.items() if shrinking == kind)
        ax.plot(n, least / 3 * n * np.log(n) / (n[0] * np.log(n[0])), color="#9a9a9a", linewidth=1, linestyle=":",
                label=r"$\propto n \log n$")
        ax.set(xscale="log", yscale="log", xlabel="number of keys $n$")
        if len(kinds) > 1:
            corner(ax, titles[kind])
        ax.grid(axis="y")
        ax.legend(frameon=False, fontsize=9)
    axes[0, 0].set_ylabel("time (s)")
    return figure


def merge_orders():
    """Three orders in which parts 1 … 8 are merged: a chain, a tree, and four parts that go round a ring."""
    figure, axes = panels(columns=3, height=2.6)
    chain, tree, ring = axes[0]

    def node(ax, x, y, text, role="data", size=0.36):
        circle = plt.Circle((x, y), size, facecolor="white", edgecolor=COLOURS[role], linewidth=1.5, zorder=3)
        ax.add_patch(circle)
        ax.text(x, y, text, ha="center", va="center", fontsize=9, zorder=4, color=TEXT[role])

    def arrow(ax, start, end, role="ink", **options):
        options = {"arrowstyle": "-|>", "color": TEXT[role], "shrinkA": 9, "shrinkB": 9, "linewidth": 1.0, **options}
        ax.annotate("", end, start, arrowprops=options, zorder=2)

    for j in range(5):
        node(chain, 0, -j, f"${j + 1}$" if j < 4 else "$⋯$")
        node(chain, 2, -j - 0.5, "$+$", "estimate")
        arrow(chain, (0, -j), (2, -j - 0.5))
        if j:
            arrow(chain, (2, -j + 0.5), (2, -j - 0.5))
    for depth, count in enumerate((8, 4, 2, 1)):
        step = 8 // count
        for j in range(count):
            y = -(j * step + (step - 1) / 2) * 0.66
            node(tree, depth * 1.35, y, f"${j + 1}$" if depth == 0 else "$+$", "data" if depth == 0 else "estimate", 0.3)
            if depth:
                for child in (2 * j, 2 * j + 1):
                    half = step // 2
                    arrow(tree, ((depth - 1) * 1.35, -(child * half + (half - 1) / 2) * 0.66), (depth * 1.35, y))
    for j in range(4):
        angle = np.pi / 2 - j * np.pi / 2
        x, y = 1.7 * np.cos(angle), 1.7 * np.sin(angle)
        following = angle - np.pi / 2
        node(ring, x, y, f"$q_{j + 1}$", "query", 0.42)
        node(ring, 0.62 * x, 0.62 * y, f"${j + 1}$", "data", 0.27)
        arrow(ring, (x, y), (1.7 * np.cos(following), 1.7 * np.sin(following)), "data",
              connectionstyle="arc3,rad=-0.35", shrinkA=12, shrinkB=12)
    for ax, name in zip(axes[0], "abc"):
        ax.set_aspect("equal", anchor="N")
        ax.autoscale_view()
        ax.set_axis_off()
        corner(ax, f"({name})")
    return figure


def settling(counts, estimates, queries, truth):
    """Estimates at a few queries against the number of keys read so far, and the truth they settle near.

    Parameters
    ----------
    counts : (b,) array of int
    estimates : (b, m) array
    queries : (m,) array
    truth : (m,) array
    """
    figure, axes = panels(height=2.9)
    ax = axes[0, 0]
    for query, path, true, marker in zip(queries, np.transpose(estimates), truth, "osD^v"):
        ax.plot([counts[0], counts[-1]], [true, true], color=COLOURS["truth"], linestyle=(0, (5, 3)), linewidth=1.3)
        ax.plot(counts, path, color=COLOURS["estimate"], marker=marker, markersize=4, linewidth=1.6)
        label_ends(ax, [(counts[-1], path[-1], f"$q = {query:g}$", "query")])
    ax.set(xscale="log", xlabel="keys read so far", ylabel="estimate $f(q)$", xlim=(counts[0] * 0.9, counts[-1] * 2.2))
    return figure


def error_against_time(methods, floor):
    """Approximation error against time relative to the exact estimate, log-log.

    Parameters
    ----------
    methods : dict of str to list of (time, error, label)
        Time as a multiple of the exact estimate's; the label says the setting of that point.
    floor : float
        The exact estimate's own distance from the truth: a dashed line.
    """
    figure, axes = panels(height=3.4)
    ax = axes[0, 0]
    looks = [("data", "o", "-"), ("second", "s", (0, (4, 2))), ("query", "^", (0, (1, 1)))]
    for (name, points), (role, marker, dash) in zip(methods.items(), looks):
        times, errors, labels = zip(*points)
        ax.plot(times, errors, color=COLOURS[role], marker=marker, linestyle=dash, linewidth=1.5, label=name)
        for time, error, label in points:
            ax.annotate(label, (time, error), (6, 5), textcoords="offset points", fontsize=8.5, color=TEXT[role])
    ax.axvline(1, color=COLOURS["estimate"], linewidth=1.6)
    ax.axhline(floor, color=COLOURS["truth"], linestyle=(0, (5, 3)), linewidth=1.4)
    ax.set(xscale="log", yscale="log", xlabel="time / time of the exact estimate",
           ylabel="error against the exact estimate")
    ax.legend(frameon=False, fontsize=9)
    return figure
