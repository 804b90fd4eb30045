"""Every notebook runs, everywhere the same."""

from __future__ import annotations

import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient

from tests.conftest import ROOT, executed, notebooks, read_notebook, source_of

NOTEBOOKS = notebooks()


def test_every_code_cell_is_collected_by_nbval():
    """Nothing is green because nothing was run: the count comes from the files."""
    expected = sum(cell["cell_type"] == "code" for path in NOTEBOOKS for cell in read_notebook(path)["cells"])
    command = [sys.executable, "-m", "pytest", "--collect-only", "-q", "-p", "no:cacheprovider",
               *(str(path.relative_to(ROOT)) for path in NOTEBOOKS)]  # fmt: skip
    result = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    collected = len(re.findall(r"^\S+\.ipynb::Cell \d+$", result.stdout, re.MULTILINE))
    assert expected > 0
    assert collected == expected, result.stdout[-2000:] + result.stderr[-2000:]


def texts(notebook) -> dict[str, str]:
    """Return the text a reader sees below each code cell, by cell id."""
    found = {}
    for cell in notebook["cells"]:
        if cell["cell_type"] == "code":
            pieces = [
                output["text"] if output["output_type"] == "stream" else output.get("data", {}).get("text/plain", "")
                for output in cell["outputs"]
            ]
            found[cell["id"]] = "".join("".join(piece) for piece in pieces)
    return found


def run(path: Path, folder: Path) -> dict[str, str]:
    notebook = nbformat.read(path, as_version=4)
    NotebookClient(notebook, timeout=120, kernel_name="python3", coalesce_streams=True, resources={"metadata": {"path": str(folder)}}).execute()
    return texts(notebook)


@cache
def runs(place: str, elsewhere: Path) -> dict[Path, dict[str, str] | Exception]:
    def one(path):
        try:
            return run(path, ROOT if place == "root" else elsewhere)
        except Exception as error:  # reported by the test of that notebook
            return error

    with ThreadPoolExecutor(2) as pool:
        return dict(zip(NOTEBOOKS, pool.map(one, NOTEBOOKS)))


@pytest.fixture(scope="session")
def elsewhere(tmp_path_factory):
    return tmp_path_factory.mktemp("elsewhere")


@pytest.mark.parametrize("place", ["root", "elsewhere"])
@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: str(path.relative_to(ROOT)))
def test_says_the_same_as_on_the_site(path, place, site, elsewhere):
    """B3 and B4: the site ran it in its own folder; another folder and another run give the same text."""
    again = runs(place, elsewhere)[path]
    assert not isinstance(again, Exception), f"{path.name} does not run from {place}:\n{again}"
    built = texts(executed(path))
    for cell in read_notebook(path)["cells"]:
        if cell["cell_type"] == "code" and "varies" not in cell["metadata"].get("tags", []):
            name = cell["id"]
            assert again[name] == built[name], f"{path.relative_to(ROOT)}, cell {name}: another text at each run; pass a seed"
    assert source_of(read_notebook(path)["cells"][0])
