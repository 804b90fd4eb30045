"""The table of claims: every row is whole, its verdict is one of five, its evidence is there and prints its numbers."""

from __future__ import annotations

import re
from collections import Counter
from functools import cache
from pathlib import Path
from typing import NamedTuple

import pytest
from myst_parser.mdit_to_docutils.base import default_slugify

from tests.conftest import ROOT, executed, notebooks, read_notebook, source_of
from tests.notebooks.test_runs import texts
from tests.site.page_lines import cited_keys
from tests.site.test_prose import asserted, bare_numbers, needs_a_source, prose_lines, stands_in
from tests.site.test_references import ENTRIES

PAGE = ROOT / "appendix" / "claims.md"
COLUMNS = ["claim", "verdict", "what is so", "evidence"]
VERDICTS = ["right", "right with a condition", "misleading", "wrong", "no public source found"]
LINK = re.compile(r"\[[^\]]+\]\(([^)#\s]*)(?:#([^)\s]+))?\)")


class Row(NamedTuple):
    """A line of one of the tables; `section` is the heading above it."""

    line: int
    section: str
    parts: list[str]

    @property
    def where(self) -> str:
        return f"appendix/claims.md:{self.line}, {self.parts[0][:70]!r}"

    @property
    def links(self) -> list[tuple[str, str]]:
        return LINK.findall(" ".join(self.parts[2:]))


def rows_of(text: str) -> list[Row]:
    """Return the rows of all tables; the first two lines of a table are its head."""
    rows, section, depth = [], "", 0
    for number, line in enumerate(text.splitlines(), 1):
        if line.startswith("## "):
            section = line.lstrip("# ")
        depth = depth + 1 if line.startswith("|") else 0
        parts = [part.strip() for part in line.strip().strip("|").split("|")]
        if depth == 1:
            assert parts == COLUMNS, f"appendix/claims.md:{number}: the columns are {parts}, not {COLUMNS}"
        elif depth > 2:
            rows.append(Row(number, section, parts))
    return rows


@cache
def anchors(path: Path) -> dict[str, dict | None]:
    """Return what a link to a page may name: its cells (`cell-…`, with the cell), and its headings."""
    if path.suffix != ".ipynb":
        lines, cells = path.read_text(encoding="utf-8").splitlines(), []
    else:
        cells = read_notebook(path)["cells"]
        lines = [line for cell in cells if cell["cell_type"] == "markdown" for line in source_of(cell).splitlines()]
    found: dict[str, dict | None] = {f"cell-{cell['id']}": cell for cell in cells if cell["cell_type"] == "code"}
    for line in lines:
        if heading := re.match(r"#{1,3} (.+)", line):
            found[default_slugify(re.sub(r"[*`$]", "", heading[1]))] = None
    return found


def form_faults(row: Row, known: set[str]) -> list[str]:
    """Say what is wrong with a row as it is written; `known` are the keys of the bibliography."""
    if len(row.parts) != 4 or not all(row.parts):
        return [f"has {sum(map(bool, row.parts))} parts that say something, not four"]
    faults = ["the claim leans on the row above, which the filter may hide"] if re.match(r"(It|This|These|They|Such|The same)\b", row.parts[0]) else []
    faults += [] if row.parts[1] in VERDICTS else [f"verdict {row.parts[1]!r} is none of {', '.join(VERDICTS)}"]
    if not (any("solutions/" not in page for page, _ in LINK.findall(row.parts[3])) or cited_keys(row.parts[3])):
        faults.append("no evidence: in the last column link to a cell or a heading outside solutions/ (a class's edition has none), or cite a work")
    faults += [f"{key!r} is not in references.bib" for key in cited_keys(" ".join(row.parts)) if key not in known]
    for page, anchor in row.links:
        path = (PAGE.parent / page).resolve()
        if not (page and path.is_file()):
            faults.append(f"no page {page!r}")
        elif not anchor:
            faults.append(f"the link to {page} names no cell and no heading")
        elif anchor not in anchors(path):
            faults.append(f"{page} has no cell or heading {anchor!r}")
    return faults


def number_faults(row: Row, printed) -> list[str]:
    """Say which numbers of a row no linked cell prints or asserts; `printed(path)` gives the texts below a page's cells."""
    numbers = [number for number in bare_numbers(" ".join(row.parts[:3])) if needs_a_source(number)]
    shown = ""
    for page, anchor in row.links if numbers else []:
        path = (PAGE.parent / page).resolve()
        if anchor.startswith("cell-"):
            shown += "\n" + printed(path)[anchor.removeprefix("cell-")] + "\n" + asserted(source_of(anchors(path)[anchor]))
    return [f"{number} is neither printed nor asserted by a cell that the row links to" for number in numbers if not stands_in(number, shown)]


TEXT = PAGE.read_text(encoding="utf-8")
ROWS = rows_of(TEXT)


def test_the_tables_are_found():
    assert len(ROWS) == TEXT.count("\n| ") - TEXT.count("\n| claim |") > 80
    assert len({row.section for row in ROWS}) == TEXT.count("\n## ") == TEXT.count("\n| claim |") >= 10, "each section has one table"


@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{row.line}: {row.parts[0][:50]}")
def test_row_is_whole(row):
    faults = form_faults(row, set(ENTRIES))
    assert not faults, f"{row.where}:\n" + "\n".join(f"  {fault}" for fault in faults)


def test_every_number_stands_in_a_linked_cell(site):
    printed = cache(lambda path: texts(executed(path)))
    found = [f"  {row.where}: {fault}" for row in ROWS for fault in number_faults(row, printed)]
    assert not found, "appendix/claims.md:\n" + "\n".join(found)


def test_a_claim_stands_once():
    seen: dict[str, Row] = {}
    for row in ROWS:
        words = " ".join(re.findall(r"\w+", row.parts[0].lower()))
        assert words not in seen, f"{row.where} repeats the claim of line {seen[words].line}"
        seen[words] = row


def test_the_counts_are_true():
    counted = Counter(row.parts[1] for row in ROWS)
    sentence = next(line for line in TEXT.splitlines() if line.startswith("There are "))
    said = re.match(r"There are (\d+) claims: (\d+) are right, (\d+) right with a condition, (\d+) misleading, (\d+) wrong, "
                    r"and for (\d+) no public source was found\.", sentence)  # fmt: skip
    assert said, f"the sentence has another form: {sentence}"
    assert list(map(int, said.groups())) == [len(ROWS), *(counted[verdict] for verdict in VERDICTS)]


def test_the_verdicts_are_explained():
    assert re.findall(r"^- \*\*(.+?)\*\*:", TEXT, re.MULTILINE) == VERDICTS


def test_prose_around_the_tables_keeps_the_convention():
    """Outside the tables a number is given for a reason, as on every page: no cell stands here that could print it."""
    lines = prose_lines({"source": "\n".join(line for line in TEXT.splitlines() if not line.startswith("|"))})
    loose = [line for line in lines if any(map(needs_a_source, bare_numbers(line))) and "<!-- given:" not in line]
    assert not loose, f"appendix/claims.md: a number without a reason: {loose}"


def test_pages_that_speak_of_the_table_link_to_it():
    linking = [path for path in notebooks() if "appendix/claims.md" in path.read_text(encoding="utf-8")]
    assert len(linking) >= 2, "the home page and a chapter lead here"


# The tests themselves

A_ROW = "| A claim. | wrong | Not so {cite:p}`nadaraya1964`. | [check](../chapters/02_attention_pooling.ipynb#cell-errors) |"
HEAD = "| claim | verdict | what is so | evidence |\n|---|---|---|---|\n"


def first(text: str) -> Row:
    return rows_of(HEAD + text)[0]


@pytest.mark.parametrize("text", [
    A_ROW,
    "| A claim. | no public source found | Nothing. | {cite:p}`nadaraya1964` |",
    "| A claim. | right | So it is. | [there](../chapters/02_attention_pooling.ipynb#far-outside-the-data) |",
    "| A claim. | right | So it is. | [there](notation.md#kernel-values) |",
])  # fmt: skip
def test_the_form_is_accepted(text):
    assert not form_faults(first(text), {"nadaraya1964"})


@pytest.mark.parametrize("text", [
    A_ROW.replace("wrong", "wrong-ish"), A_ROW.replace("wrong", "Wrong"), A_ROW.replace("| wrong ", ""), A_ROW.replace("A claim.", ""),
    A_ROW.replace("nadaraya1964", "nadaraya1965"), A_ROW.replace("cell-errors", "cell-error"), A_ROW.replace("cell-errors", "no-such-heading"),
    A_ROW.replace("#cell-errors", ""), A_ROW.replace("02_attention", "02_no_attention"), A_ROW.replace("[check]", "check"),
    A_ROW.replace("A claim.", "It claims."),
    A_ROW.replace("chapters/02_attention_pooling.ipynb#cell-errors", "solutions/scenarios.ipynb#cell-town-score"),
])  # fmt: skip
def test_another_form_is_refused(text):
    assert form_faults(first(text), {"nadaraya1964"})


@pytest.mark.parametrize("said, output, fine", [
    ("Not so", "", True), ("It is 0.443", "0.214 0.443", True), ("It is 0.444", "0.214 0.443", False), ("In 42 % of them", "0.42", True),
    ("In 43 % of them", "0.42", False), ("In $n = 40$ and 1964, five of 9", "", True), ("Of 40 points", "41", False),
])  # fmt: skip
def test_numbers_are_compared(said, output, fine):
    assert bool(number_faults(first(A_ROW.replace("Not so", said)), lambda path: {"errors": output})) is not fine


def test_other_columns_are_refused():
    with pytest.raises(AssertionError, match="columns"):
        rows_of(HEAD.replace("verdict", "opinion") + A_ROW)
