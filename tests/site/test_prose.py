"""Every number in the prose is printed or asserted by a cell of the same page.

The convention, one sentence to a source line:

- Numbers in formulas and in code spans are settings or definitions, and are not looked at.
- A line with a result names the cell that prints or asserts it: ``… is 1.461 there. <!-- check: errors-at-half -->``.
- A number that is no result says why it stands there: ``About 20 minutes. <!-- given: minutes to read -->``.
- Decimals, percentages and integers from 10 up need one of the two; years, headings, link targets and comments do not.
"""

from __future__ import annotations

import ast
import re
from decimal import Decimal

import pytest

from tests.conftest import ROOT, executed, notebooks, read_notebook, source_of
from tests.notebooks.test_runs import texts

NOTEBOOKS = notebooks()
NUMBER = re.compile(r"(?<![\w.])(?<![A-Za-z][-–])[-−+]?\d+(?:,\d{3})*(?:\.\d+)*(?:[eE][-+]?\d+)?(?![A-Za-z_])")
IN_OUTPUT = re.compile(r"[-−+]?\d+(?:,\d{3})*(?:\.\d+)?(?:[eE][-+]?\d+)?")
CHECK = re.compile(r"<!--\s*check:\s*(.*?)\s*-->")
GIVEN = re.compile(r"<!--\s*given:\s*\S.*?-->")
NOT_PROSE = [
    (re.compile(r"<!--.*?-->"), ""),
    (re.compile(r"`[^`]*`"), " "),
    (re.compile(r"\$[^$]*\$"), " "),
    (re.compile(r"\]\([^)]*\)"), "]"),
    (re.compile(r"<[^>]*>"), " "),
    (re.compile(r"https?://\S+"), " "),
    (re.compile(r"^\s*(?:>\s*)?(?:\d+\.\s)"), ""),
]


def prose_lines(cell: dict) -> list[str]:
    """Return the lines of a Markdown cell without headings, code blocks and displayed formulas."""
    source = re.sub(r"(`{3,}|~{3,}).*?\1", "", source_of(cell), flags=re.DOTALL)
    source = re.sub(r"\$\$.*?\$\$", " ", source, flags=re.DOTALL)
    return [line for line in source.splitlines() if not line.lstrip("> ").startswith("#")]


def value(text: str) -> Decimal:
    return Decimal(text.replace("−", "-").replace(",", "").lstrip("+"))


def bare_numbers(line: str) -> list[str]:
    for pattern, replacement in NOT_PROSE:
        line = pattern.sub(replacement, line)
    found = []
    for match in NUMBER.finditer(line):
        text = match[0]
        if re.fullmatch(r"(19|20)\d\d", text):
            continue
        found.append(text + ("%" if re.match(r"\s?(%|per cent)", line[match.end() :]) else ""))
    return found


def needs_a_source(number: str) -> bool:
    return number.endswith("%") or "." in number or abs(value(number)) >= 10


def stands_in(number: str, text: str) -> bool:
    """Say whether `number` is one of the numbers of `text`; a percentage may also be printed as a fraction."""
    if number.rstrip("%").count(".") > 1:
        return False
    wanted = value(number.rstrip("%"))
    printed = {value(found) for found in IN_OUTPUT.findall(text)}
    printed |= {abs(found) for found in printed}
    return wanted in printed or (number.endswith("%") and wanted / 100 in printed)


def asserted(source: str) -> str:
    """Return the source of a cell's assert statements."""
    return "\n".join(ast.unparse(node) for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Assert))


def faults(notebook: dict, outputs: dict[str, str]) -> list[str]:
    sources = {cell["id"]: source_of(cell) for cell in notebook["cells"] if cell["cell_type"] == "code"}
    found = []
    for cell in notebook["cells"]:
        if cell["cell_type"] != "markdown":
            continue
        for line in prose_lines(cell):
            numbers, check = bare_numbers(line), CHECK.search(line)
            where = f"cell {cell['id']}, {line.strip()[:110]!r}"
            if check:
                names = [name.strip() for name in check[1].split(",")]
                unknown = [name for name in names if name not in sources]
                if unknown:
                    found.append(f"{where}: no code cell is called {', '.join(unknown)}")
                    continue
                text = "\n".join(outputs[name] + "\n" + asserted(sources[name]) for name in names)
                wrong = [number for number in numbers if not stands_in(number, text)]
                if wrong:
                    found.append(f"{where}: {', '.join(wrong)} is neither printed nor asserted by {', '.join(names)}")
            elif not GIVEN.search(line):
                loose = [number for number in numbers if needs_a_source(number)]
                if loose:
                    found.append(f"{where}: {', '.join(loose)} has no source; end the line with <!-- check: cell-id --> or <!-- given: why -->")
    return found


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: str(path.relative_to(ROOT)))
def test_every_number_in_the_prose_has_its_cell(path, site):
    found = faults(read_notebook(path), texts(executed(path)))
    assert not found, f"{path.relative_to(ROOT)}:\n" + "\n".join(f"  {fault}" for fault in found)


def notebook_of(prose: str, code: str = "") -> dict:
    return {"cells": [
        {"cell_type": "markdown", "id": "text", "source": [prose]},
        {"cell_type": "code", "id": "cell", "source": [code], "outputs": []},
    ]}  # fmt: skip


@pytest.mark.parametrize("prose, output, code", [
    ("The error is 1.461. <!-- check: cell -->", "error 1.461", ""),
    ("It falls to −0.25. <!-- check: cell -->", "array([-0.25])", ""),
    ("Among 20,000 keys. <!-- check: cell -->", "n = 20000", ""),
    ("In 42 % of them. <!-- check: cell -->", "0.42", ""),
    ("The error is 0.5. <!-- check: cell -->", "", "assert round(error, 3) == 0.5"),
    ("In $n = 40$ and `x[17]`, in 1964, five of 9.", "", ""),
    ("About 20 minutes. <!-- given: minutes -->", "", ""),
    ("## 12 angry kernels", "", ""),
    ("GPT-2 and D2L [chapter](page.ipynb#cell-42).", "", ""),
])  # fmt: skip
def test_the_convention_accepts(prose, output, code):
    assert not faults(notebook_of(prose, code), {"cell": output})


@pytest.mark.parametrize("prose, output, code", [
    ("The error is 1.461. <!-- check: cell -->", "error 1.46", ""),
    ("The error is 1.461.", "error 1.461", ""),
    ("There are 12 keys.", "12", ""),
    ("In 4 % of them.", "4", ""),
    ("The error is 0.5. <!-- check: other -->", "0.5", ""),
    ("The error is 0.5. <!-- check: cell -->", "", "x = 0.5"),
    ("Two numbers, 0.5 and 0.6. <!-- check: cell -->", "0.5", ""),
    ("| a table | 0.75 |", "0.75", ""),
    ("> **Note.** Boxes count: 0.75.", "0.75", ""),
    ("Section 11.2.1.", "", ""),
])  # fmt: skip
def test_the_convention_refuses(prose, output, code):
    assert faults(notebook_of(prose, code), {"cell": output})
