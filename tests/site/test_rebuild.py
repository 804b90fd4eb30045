"""What an author relies on, tried on a book of one page with the real settings and extensions."""

from __future__ import annotations

import json
import shutil

import pytest
import yaml

from tests.conftest import ROOT, build


def write_page(book, *sources: str) -> None:
    cells = [{"cell_type": "markdown", "id": "title", "metadata": {}, "source": ["# A page\n", "\n", "It has words."]}]
    cells += [
        {"cell_type": "code", "id": f"cell-{i}", "metadata": {}, "source": [source], "outputs": [], "execution_count": None}
        for i, source in enumerate(sources)
    ]
    kernel = {"kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"}}
    page = {"cells": cells, "metadata": kernel, "nbformat": 4, "nbformat_minor": 5}
    (book / "index.ipynb").write_text(json.dumps(page), encoding="utf-8")


@pytest.fixture
def book(tmp_path):
    for folder in ["_ext", "_static", "_templates"]:
        shutil.copytree(ROOT / folder, tmp_path / folder, ignore=shutil.ignore_patterns("__pycache__"))
    settings = yaml.safe_load((ROOT / "_config.yml").read_text(encoding="utf-8"))
    settings["sphinx"]["config"] |= {"package_cache_of": "helpers", "bibtex_bibfiles": []}
    (tmp_path / "_config.yml").write_text(yaml.safe_dump(settings), encoding="utf-8")
    (tmp_path / "_toc.yml").write_text("format: jb-book\nroot: index\n", encoding="utf-8")
    (tmp_path / "helpers").mkdir()
    (tmp_path / "helpers" / "__init__.py").write_text("ANSWER = 'first answer'\n", encoding="utf-8")
    return tmp_path


def built_page(book) -> str:
    return (book / "_build" / "html" / "index.html").read_text(encoding="utf-8")


def test_an_edited_package_and_extension_show_at_the_next_build(book):
    """B1, and the same for the extensions."""
    write_page(book, "from helpers import ANSWER\nprint(ANSWER)")
    first = build(book)
    assert first.returncode == 0, first.stdout[-3000:] + first.stderr[-3000:]
    assert "first answer" in built_page(book)

    (book / "helpers" / "__init__.py").write_text("ANSWER = 'second answer'\n", encoding="utf-8")
    boxes = book / "_ext" / "cell_anchors.py"
    boxes.write_text(boxes.read_text(encoding="utf-8").replace('f"cell-{cell_id}"', 'f"renamed-{cell_id}"'), encoding="utf-8")
    second = build(book)
    assert second.returncode == 0, second.stdout[-3000:] + second.stderr[-3000:]
    assert "second answer" in built_page(book) and "first answer" not in built_page(book)
    assert 'id="renamed-cell-0"' in built_page(book)


def test_a_failing_cell_fails_the_build_and_is_named(book):
    """B2."""
    write_page(book, "right = 1", "wrong = right / 0")
    result = build(book)
    said = result.stdout + result.stderr
    assert result.returncode != 0
    assert "index.ipynb" in said and "wrong = right / 0" in said and "ZeroDivisionError" in said


def test_a_warning_on_a_page_fails_the_build(book):
    write_page(book, "import warnings\nwarnings.warn('a pink block')")
    assert build(book).returncode != 0


def test_a_wrong_link_to_a_cell_and_a_wrong_formula_fail_the_build(book):
    write_page(book, "right = 1")
    text = (book / "index.ipynb").read_text(encoding="utf-8")
    for wrong, message in [(r"[here](index.ipynb#cell-nowhere)", "cell-nowhere"), (r"$\\frac{1$", "formula not understood")]:
        (book / "index.ipynb").write_text(text.replace("It has words.", wrong), encoding="utf-8")
        result = build(book)
        assert result.returncode != 0 and message in result.stdout + result.stderr


def test_left_over_caches_do_no_harm(book):
    write_page(book, "right = 1")
    for folder in [".pytest_cache", "helpers/.pytest_cache", ".ipynb_checkpoints"]:
        (book / folder).mkdir()
        (book / folder / "README.md").write_text("# Not a page\n\n[broken](nowhere.md)\n", encoding="utf-8")
    result = build(book)
    assert result.returncode == 0, result.stdout[-3000:] + result.stderr[-3000:]
