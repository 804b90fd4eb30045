"""A small book of explorers, built with the book's own settings, for the tests of the figure."""

import json
import shutil
from pathlib import Path

from tests.conftest import ROOT, build

IMPORTS = "import numpy as np\nfrom attention_pooling.datasets import motorcycle\nfrom attention_pooling.explorer import explore\n"
PAGES = {
    "index": [
        "# All views\n\n[narrow](#main?bandwidth=0.05&query=4), [there](more.ipynb#own?query=10)",
        'explore(views=("kernel", "fit", "weights", "errors"), name="main")',
        'explore(bandwidth=0.3, query=1.0, seed=3, name="second")',
        "## After\n\nText between the figures and the end.",
    ],
    "more": [
        "# Other figures\n\n[back](index.ipynb#second?kernel=boxcar)",
        'explore(views=("kernel",), kernel="triangular", name="profile")',
        'explore(views=("fit",), predict_first=True, name="guess")',
        'm = motorcycle()\nexplore(m.keys, m.values, bandwidth=2, query=20, band=True, name="own")',
        "def spike(u):\n    return np.exp(-u)\n\nexplore(kernel=spike, views=('fit', 'weights'), name=\"mine\")",
        'x = np.linspace(0, 5, 500)\nexplore(x, np.sin(x), truth=np.sin, name="many")',
    ],
    "sphere": [
        "# The sphere\n\n[apart](#sphere?spread=0.5&dimensions=64), [back](index.ipynb#main?query=1)",
        'from attention_pooling.explorer import explore_sphere\n\nexplore_sphere(name="sphere")',
        'explore_sphere([0, 40, 90, 135, 200, 250, 300], spread=0.4, angle=120, length=0.5, dimensions=16, name="seven")',
    ],
}


def write(folder: Path, pages: dict = PAGES) -> Path:
    """Write the book into `folder` and return it."""
    for name in ("_ext", "_static", "_templates"):
        if (ROOT / name).exists():
            shutil.copytree(ROOT / name, folder / name)
    for name in ("_config.yml", "references.bib"):
        shutil.copy(ROOT / name, folder / name)
    for name, cells in pages.items():
        (folder / f"{name}.ipynb").write_text(json.dumps(notebook(name, cells)), encoding="utf-8")
    names = [name for name in pages if name != "index"]
    (folder / "_toc.yml").write_text("format: jb-book\nroot: index\nparts:\n  - chapters:\n" + "".join(f"      - file: {name}\n" for name in names), encoding="utf-8")
    return folder


def notebook(name: str, cells: list[str]) -> dict:
    """Return a notebook: a heading cell is Markdown, the imports come second."""
    made = []
    for i, source in enumerate([cells[0], IMPORTS, *cells[1:]]):
        kind = "markdown" if source.startswith("#") else "code"
        cell = {"cell_type": kind, "id": f"{name}-{i}", "metadata": {}, "source": source}
        made.append(cell | ({"outputs": [], "execution_count": None} if kind == "code" else {}))
    kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
    return {"cells": made, "metadata": {"kernelspec": kernel}, "nbformat": 4, "nbformat_minor": 5}


def built(folder: Path, pages: dict = PAGES) -> Path:
    """Build the book and return the folder of pages."""
    result = build(write(folder, pages))
    assert result.returncode == 0, (result.stdout + result.stderr)[-4000:]
    return folder / "_build" / "html"
