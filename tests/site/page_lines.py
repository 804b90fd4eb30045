"""The text of every page, line by line, as its author wrote it: one sentence to a line."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from tests.conftest import ROOT, notebooks, read_notebook, source_of, sources

CITATION = re.compile(r"\{cite(?::[a-z]+)?\}`([^`]+)`")


class Line(NamedTuple):
    """A line of a page; `where` is the path with the cell, or with the line number in a Markdown file."""

    where: str
    text: str
    code: bool = False


def page_lines() -> Iterator[Line]:
    """Yield every line a reader of the book can see: prose, captions, alternative texts, comments and texts in code."""
    for path in notebooks():
        for cell in read_notebook(path)["cells"]:
            where = f"{path.relative_to(ROOT)}#{cell['id']}"
            yield from (Line(where, line, cell["cell_type"] == "code") for line in source_of(cell).splitlines())
            described = cell["metadata"].get("mystnb", {})
            texts = (described.get("image", {}).get("alt"), described.get("figure", {}).get("caption"))
            yield from (Line(where, text) for text in texts if text)
    for path in sources(".md"):
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
            yield Line(f"{path.relative_to(ROOT)}:{number}", line)


def cited_keys(text: str) -> list[str]:
    """Return the keys of all citations in `text`."""
    return [key.strip() for found in CITATION.findall(text) for key in found.split(",")]
