"""The edition for a class: with ``include_solutions: false`` nothing of a solution is in the folder of pages.

Tried on a small book with the real settings and extensions and the real exercises and solutions, built three times into
one folder: complete, without solutions, and complete again.
"""

from __future__ import annotations

import json
import re
import shutil

import pytest
import yaml

from tests.conftest import ROOT, build, source_of

REAL = ["exercises/exercises.ipynb", "solutions/exercises.ipynb"]
COPIED = [*REAL, "appendix/bibliography.md", "references.bib"]
NOT_NEEDED = ["exercises/interview", "exercises/scenarios"]  # pages with demands of their own
KERNEL = {"kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"}}
LINKS = """# Home

Every kind of link: [by page](solutions/exercises.ipynb), [by heading](solutions/exercises.ipynb#exercise-1),
[with **bold** words](./solutions/scenarios.ipynb), [from the root](/solutions/exercises.ipynb), and
[another page](exercises/exercises.ipynb). A reference keeps the bibliography from being empty {cite:p}`nadaraya1964`.
"""
DRAWING = "import matplotlib.pyplot as plt\nplt.plot([1, 3, 2])\nplt.show()\nprint('zanzibarian output')"


def write(path, text, code=None):
    cells = [{"cell_type": "markdown", "id": "title", "metadata": {}, "source": [text]}]
    if code:
        figure = {"mystnb": {"image": {"alt": "A line"}, "figure": {"caption": "A line.", "name": "fig-zanzibarian"}}}
        cells.append({"cell_type": "code", "id": "draw", "metadata": figure, "source": [code], "outputs": [], "execution_count": None})
    path.parent.mkdir(exist_ok=True)
    path.write_text(json.dumps({"cells": cells, "metadata": KERNEL, "nbformat": 4, "nbformat_minor": 5}), encoding="utf-8")


def set_solutions(book, wanted):
    settings = yaml.safe_load((ROOT / "_config.yml").read_text(encoding="utf-8"))
    assert settings["sphinx"]["config"]["include_solutions"] is True  # what everybody else reads
    settings["sphinx"]["config"] |= {"package_cache_of": "no-package", "include_solutions": wanted}
    settings["execute"]["exclude_patterns"] = REAL  # their words matter here, not their outputs
    (book / "_config.yml").write_text(yaml.safe_dump(settings), encoding="utf-8")


@pytest.fixture(scope="module")
def editions(tmp_path_factory):
    """Copies of the folder of pages after each of the three builds."""
    book, kept = tmp_path_factory.mktemp("book"), tmp_path_factory.mktemp("kept")
    for folder in ["_ext", "_static", "_templates"]:
        shutil.copytree(ROOT / folder, book / folder, ignore=shutil.ignore_patterns("__pycache__"))
    for name in COPIED:
        (book / name).parent.mkdir(exist_ok=True)
        shutil.copy(ROOT / name, book / name)
    write(book / "index.ipynb", LINKS)
    write(book / "solutions" / "scenarios.ipynb", "# Scenarios, solved\n\nThe zanzibarian answer.", DRAWING)
    toc = yaml.safe_load((ROOT / "_toc.yml").read_text(encoding="utf-8"))
    for part in toc["parts"]:
        part["chapters"] = [entry for entry in part["chapters"] if entry["file"] not in NOT_NEEDED]
        for entry in part["chapters"]:
            if not list(book.glob(f"{entry['file']}.*")):
                write(book / f"{entry['file']}.ipynb", f"# Stub of {entry['file'].split('/')[-1]}\n\nWords.")
    (book / "_toc.yml").write_text(yaml.safe_dump(toc), encoding="utf-8")
    pages = {}
    for step, wanted in [("complete", True), ("class", False), ("again", True)]:
        set_solutions(book, wanted)
        result = build(book)
        assert result.returncode == 0, f"{step}:\n" + (result.stdout + result.stderr)[-4000:]
        pages[step] = kept / step
        shutil.copytree(book / "_build" / "html", pages[step])
    return pages


def files(folder):
    return sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file())


def everything(folder):
    """All that stands in the files of a site, the theme's own aside, in lower case."""
    own = [path for path in folder.rglob("*") if path.is_file() and "_static" not in path.relative_to(folder).parts]
    return {path.relative_to(folder).as_posix(): path.read_bytes().decode("utf-8", "ignore").lower() for path in own}


def words_of(notebook):
    cells = json.loads((ROOT / notebook).read_text(encoding="utf-8"))["cells"]
    return set(re.findall(r"[a-z][a-z_]{5,}", " ".join(source_of(cell) for cell in cells).lower()))


def test_the_complete_book_has_the_solutions(editions):
    """Without this the next tests would pass on an empty folder."""
    found = everything(editions["complete"])
    for name in ["solutions/exercises.html", "solutions/scenarios.html", "_sources/solutions/exercises.ipynb"]:
        assert name in found
    assert "zanzibarian" in found["solutions/scenarios.html"] and "solutions/exercises" in found["searchindex.js"]
    assert 'href="solutions/exercises.html#exercise-1"' in found["index.html"]
    assert [name for name in found if name.startswith("_images/")]


def test_no_file_of_the_class_edition_speaks_of_the_folder(editions):
    found = everything(editions["class"])
    assert "exercises/exercises.html" in found
    assert not [name for name in found if "solutions/" in name]
    assert not [name for name, text in found.items() if "solutions/" in text]


def test_no_word_of_a_solution_is_left(editions):
    """Words that occur in the solutions and in no other page: none is in the pages, the index or the downloads."""
    secret = words_of("solutions/exercises.ipynb") - words_of("exercises/exercises.ipynb")
    complete, left = everything(editions["complete"]), everything(editions["class"])
    others = re.compile(r"(_sources/)?(chapters|appendix|exercises|index)\b")
    elsewhere = " ".join(text for name, text in complete.items() if others.match(name))
    secret = {word for word in secret if word not in elsewhere} | {"zanzibarian", "zanzibarian output"}
    assert len(secret) > 100
    page = complete["solutions/exercises.html"] + complete["solutions/scenarios.html"] + complete["_sources/solutions/exercises.ipynb"]
    assert sum(word in page for word in secret) == len(secret)
    for name, text in left.items():
        leaked = sorted(word for word in secret if re.search(rf"(?<![a-z]){re.escape(word)}(?![a-z])", text))
        assert not leaked, f"{name}: {leaked[:10]}"


def test_no_picture_of_a_solution_is_left(editions):
    before, after = files(editions["complete"]), files(editions["class"])
    assert [name for name in before if name.startswith("_images/")]
    assert not [name for name in after if name.startswith("_images/")]
    assert not set(after) - set(before)


def test_links_to_solutions_become_words(editions):
    home = (editions["class"] / "index.html").read_text(encoding="utf-8")
    text = " ".join(re.sub(r"<[^>]+>", "", home).split())
    for words in ["by page", "by heading", "with bold words", "from the root"]:
        assert f"{words} (not in this edition)" in text
    assert 'href="exercises/exercises.html"' in home and "another page (not" not in text
    page = (editions["class"] / "exercises" / "exercises.html").read_text(encoding="utf-8")
    assert page.count("(not in this edition)") == 8  # one for each exercise, one for all


def test_the_notebook_for_download_has_no_link_either(editions):
    source = editions["class"] / "_sources" / "exercises" / "exercises.ipynb"
    notebook = json.loads(source.read_text(encoding="utf-8"))
    text = "\n".join(source_of(cell) for cell in notebook["cells"])
    assert "Solution to exercise 1 (not in this edition)" in text and "](../solutions" not in text


def test_the_contents_have_no_empty_part(editions):
    for step, there in [("complete", True), ("class", False), ("again", True)]:
        page = (editions[step] / "exercises" / "exercises.html").read_text(encoding="utf-8")
        captions = re.findall(r'class="caption-text">([^<]+)<', page)
        assert ("Solutions" in captions) is there and "Practice" in captions


def test_the_solutions_come_back(editions):
    assert files(editions["again"]) == files(editions["complete"])
