"""Draw the picture that is shown where a link to the site is shared: the estimate, its data and one query's weights."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np


def draw(path: Path, title: str) -> None:
    """Write the card, 1200 × 630 pixels, to `path`."""
    from attention_pooling import attention_weights, nadaraya_watson
    from attention_pooling.datasets import sine_data
    from attention_pooling.figures import COLOURS
    from matplotlib.figure import Figure

    data, query, bandwidth = sine_data(n=40, noise=1.0, seed=0), 2.5, 0.44
    x = np.linspace(0, 5, 400)
    weights = attention_weights(np.array([query]), data.keys, bandwidth=bandwidth)[0]
    figure = Figure(figsize=(12, 6.3), dpi=100, facecolor="white")
    figure.text(0.06, 0.86, title, fontsize=36, fontweight="bold", color="#1f2730")
    figure.text(0.06, 0.785, "Nadaraya–Watson regression read as attention: an interactive chapter", fontsize=19, color="#52606d")
    axes = figure.add_axes((0.06, 0.08, 0.88, 0.66))
    axes.axvline(query, color=COLOURS["query"], linewidth=2.5)
    axes.scatter(data.keys, data.values, s=40 + 5000 * weights, color=COLOURS["data"], alpha=0.55, linewidth=0)
    axes.plot(x, nadaraya_watson(x, data.keys, data.values, bandwidth=bandwidth), color=COLOURS["estimate"], linewidth=6)
    axes.set(xlim=(-0.1, 5.1), xticks=[], yticks=[])
    axes.spines[:].set_visible(False)
    figure.savefig(path, metadata={"Software": None})


def write_card(app, exception) -> None:
    if exception or app.builder.format != "html" or not (Path(app.srcdir) / "attention_pooling").is_dir():
        return
    sys.path.insert(0, app.srcdir)
    try:
        draw(Path(app.outdir) / "_static" / "social-card.png", app.config.html_title)
    finally:
        sys.path.remove(app.srcdir)


def setup(app):
    app.connect("build-finished", write_card)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
