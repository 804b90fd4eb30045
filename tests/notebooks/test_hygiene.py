"""What every committed notebook keeps to. Each message names file, cell and remedy."""

from __future__ import annotations

import re
from collections import Counter

import pytest

from _ext.boxes import LABELS
from tests.conftest import ROOT, notebooks, read_notebook, source_of

NOTEBOOKS = notebooks()
COLUMNS = 79  # of code, in the site's text column
by_notebook = pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: str(path.relative_to(ROOT)))


def report(path, faults):
    assert not faults, f"{path.relative_to(ROOT)}:\n" + "\n".join(f"  {fault}" for fault in faults)


def code_cells(path):
    return [cell for cell in read_notebook(path)["cells"] if cell["cell_type"] == "code"]


def markdown_cells(path):
    return [cell for cell in read_notebook(path)["cells"] if cell["cell_type"] == "markdown"]


def is_figure(cell) -> bool:
    """An explorer describes itself, at its present state; the site's tests look at its picture."""
    drawn = "figure" in cell["metadata"].get("mystnb", {}) or "plt.show(" in source_of(cell)
    return drawn and not re.search(r"\bexplore(_sphere)?\(", source_of(cell))


@by_notebook
def test_is_committed_as_a_source(path):
    notebook, faults = read_notebook(path), []
    kernel = notebook["metadata"].get("kernelspec", {}).get("name")
    if kernel != "python3":
        faults.append(f"kernelspec is {kernel!r}: set it to python3, the one every reader has")
    if (notebook["nbformat"], notebook["nbformat_minor"]) < (4, 5):
        faults.append("nbformat is below 4.5, which has no cell ids: save it with a present JupyterLab")
    for cell in code_cells(path):
        if cell["outputs"] or cell["execution_count"] is not None:
            faults.append(f"cell {cell['id']} has an output or an execution count: clear all outputs before committing")
    report(path, faults)


@by_notebook
def test_cells_have_names_written_by_hand(path):
    ids = [cell.get("id", "") for cell in read_notebook(path)["cells"]]
    faults = [f"id {name!r} occurs {count} times: an id is an address" for name, count in Counter(ids).items() if count > 1]
    for name in ids:
        if not re.fullmatch(r"[a-z][a-z0-9]*(-[a-z0-9]+)*", name) or re.fullmatch(r"[0-9a-f]{8,}", name):
            faults.append(f"id {name!r}: name the cell in kebab case, as in fig-width-sweep")
    report(path, faults)


@by_notebook
def test_every_figure_is_described(path):
    faults, names = [], []
    for cell in filter(is_figure, code_cells(path)):
        metadata = cell["metadata"].get("mystnb", {})
        alt = metadata.get("image", {}).get("alt", "")
        figure = metadata.get("figure", {})
        caption, name = figure.get("caption", ""), figure.get("name", "")
        words = len(alt.split())
        if not 15 <= words <= 50:
            faults.append(f"cell {cell['id']}: alt text of {words} words; in metadata mystnb.image.alt say in 15 to 50 what it shows and what to see")
        if not caption:
            faults.append(f"cell {cell['id']}: no caption; write one in metadata mystnb.figure.caption")
        elif caption == alt:
            faults.append(f"cell {cell['id']}: the alt text repeats the caption; describe what is to be seen")
        if not name.startswith("fig-"):
            faults.append(f"cell {cell['id']}: metadata mystnb.figure.name is {name!r}; it should start with fig-")
        if not source_of(cell).rstrip().endswith("plt.show()"):
            faults.append(f"cell {cell['id']}: end a figure cell with plt.show()")
        names.append(name)
    faults += [f"figure name {name!r} occurs {count} times" for name, count in Counter(names).items() if count > 1]
    report(path, faults)


def test_figure_names_are_unique_in_the_book():
    names = Counter(
        cell["metadata"]["mystnb"]["figure"].get("name")
        for path in NOTEBOOKS
        for cell in code_cells(path)
        if "figure" in cell["metadata"].get("mystnb", {})
    )
    assert not [name for name, count in names.items() if count > 1], names


@by_notebook
def test_code_cells_are_short_and_narrow(path):
    faults = []
    for cell in code_cells(path):
        hidden = {"hide-input", "hide-cell"} & set(cell["metadata"].get("tags", []))
        lines, most = len(source_of(cell).splitlines()), 15 if hidden else 12
        if lines > most:
            faults.append(f"cell {cell['id']} has {lines} lines of at most {most}: split it, or move plotting to attention_pooling/figures.py")
        long = [line for line in source_of(cell).splitlines() if len(line) > COLUMNS and not hidden]
        faults += [f"cell {cell['id']}: {line.strip()!r} has {len(line)} characters, and the page shows {COLUMNS}: wrap it" for line in long]
        if source_of(cell).rstrip().endswith(";"):
            faults.append(f"cell {cell['id']} ends with ';', which the notebook tests do not see: end with plt.show() or an assignment")
    report(path, faults)


@by_notebook
def test_page_opens_with_what_it_asks_and_gives(path):
    cells = read_notebook(path)["cells"]
    first, faults = source_of(cells[0]), []
    if cells[0]["cell_type"] != "markdown" or not first.startswith("# "):
        faults.append(f"cell {cells[0]['id']}: the first cell holds the title, '# …'")
    for words in ("You will do", "You will learn", "You need"):
        if f"**{words}" not in first:
            faults.append(f"cell {cells[0]['id']}: say '**{words}:** …' below the title")
    codes = code_cells(path)
    if codes and not re.search(r"^(import|from) ", source_of(cells[1]), re.MULTILINE):
        faults.append(f"cell {cells[1]['id']}: the second cell holds the page's imports")
    report(path, faults)


@by_notebook
def test_reads_without_directives(path):
    faults = []
    for cell in markdown_cells(path):
        for line in source_of(cell).splitlines():
            if re.match(r"\s*(:{3,}|`{3,}\{|~{3,}\{)", line):
                faults.append(f"cell {cell['id']}: {line.strip()!r} shows raw in Colab and VS Code; write plain Markdown (a box is '> **Note.** …')")
            label = re.match(r">\s*\*\*([A-Z][^*]{2,30}?)[.:]\*\*", line)
            if label and label[1] not in LABELS:
                faults.append(f"cell {cell['id']}: box label {label[1]!r} is not one of {', '.join(LABELS)} (_ext/boxes.py)")
    report(path, faults)


@by_notebook
def test_metadata_is_only_what_the_site_reads(path):
    allowed, faults = {"tags", "mystnb"}, []
    for cell in read_notebook(path)["cells"]:
        extra = set(cell["metadata"]) - allowed
        if extra:
            faults.append(f"cell {cell['id']}: editor's metadata {sorted(extra)}; remove it")
        if {"raises-exception", "skip-execution", "nbval-skip"} & set(cell["metadata"].get("tags", [])):
            faults.append(f"cell {cell['id']}: a tag that keeps the cell from being tested; catch the error in the cell instead")
    report(path, faults)
