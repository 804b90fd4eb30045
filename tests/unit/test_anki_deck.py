"""The Anki deck: built from the interview notebook, opened again as Anki opens it."""

import copy
import json
import re
import sqlite3
import zipfile

import pytest

from _ext import anki_deck
from tests.conftest import ROOT

NOTEBOOK = json.loads((ROOT / f"{anki_deck.PAGE}.ipynb").read_text(encoding="utf-8"))
BIBLIOGRAPHY = ROOT / "references.bib"
NUMBERS = [f"Question {i}" for i in range(1, 7)] + [f"Follow-up {i}" for i in range(1, 7)]


def reopened(path, folder):
    """The notes and the collection of an .apkg file: an SQLite file inside a zip file."""
    with zipfile.ZipFile(path) as package:
        assert package.testzip() is None
        package.extract("collection.anki2", folder)
    database = sqlite3.connect(folder / "collection.anki2")
    notes = [(guid, fields.split("\x1f")) for guid, fields in
             database.execute("SELECT guid, flds FROM notes ORDER BY sfld")]
    cards = database.execute("SELECT COUNT(*) FROM cards").fetchone()[0]
    models, decks = map(json.loads, database.execute("SELECT models, decks FROM col").fetchone())
    database.close()
    return notes, cards, models, decks


@pytest.fixture
def opened(tmp_path):
    path = tmp_path / "interview.apkg"
    anki_deck.write_deck(ROOT / f"{anki_deck.PAGE}.ipynb", BIBLIOGRAPHY, path)
    return reopened(path, tmp_path)


def test_the_deck_holds_every_question_in_the_page_s_order(opened):
    notes, cards, models, decks = opened
    assert [fields[1] for _, fields in notes] == NUMBERS
    assert cards == len(notes) == 12
    assert decks[str(anki_deck.DECK_ID)]["name"] == anki_deck.DECK
    model = models[str(anki_deck.MODEL_ID)]
    assert [field["name"] for field in model["flds"]] == list(anki_deck.FIELDS)


def test_all_parts_of_a_question_are_on_its_card(opened):
    notes, *_ = opened
    for _, fields in notes:
        assert all(len(field) > 40 for field in fields[2:]), fields[1]
    gaussian = notes[5][1][4]
    assert r"\[-\frac{\lVert q-k_j\rVert^2}{2\sigma^2}" in gaussian
    assert "Vaswani et al. (2017)" in gaussian
    assert any("Györfi et al., 2002" in field for _, fields in notes for field in fields)


def test_nothing_of_the_page_s_own_markup_is_left(opened):
    notes, *_ = opened
    for _, fields in notes:
        for field in fields:
            found = re.search(r"\{cite|\$|<!--|\]\(|\*\*|<details|\.ipynb", field)
            assert not found, f"{fields[1]}: {found[0]} in {field[:80]}"


def test_a_note_stays_the_same_note_when_its_text_changes():
    before = anki_deck.deck(NOTEBOOK, BIBLIOGRAPHY)
    edited = copy.deepcopy(NOTEBOOK)
    cell = next(cell for cell in edited["cells"] if cell["id"] == "question-3")
    cell["source"] = "".join(cell["source"]).replace("bandwidth", "width").splitlines(keepends=True)
    after = anki_deck.deck(edited, BIBLIOGRAPHY)
    assert [note.guid for note in before.notes] == [note.guid for note in after.notes]
    assert len({note.guid for note in before.notes}) == 12
    assert before.notes[2].fields != after.notes[2].fields


def test_a_question_without_its_parts_is_an_error_that_names_the_cell():
    broken = copy.deepcopy(NOTEBOOK)
    cell = next(cell for cell in broken["cells"] if cell["id"] == "follow-up-2")
    cell["source"] = "".join(cell["source"]).replace("A common wrong answer", "Wrong").splitlines(keepends=True)
    with pytest.raises(ValueError, match="follow-up-2.*A common wrong answer"):
        anki_deck.cards(broken)


@pytest.mark.parametrize("card", anki_deck.cards(NOTEBOOK), ids=lambda card: card.number)
def test_a_model_answer_has_80_to_200_words(card):
    text = re.sub(r"<!--.*?-->|\{cite:.\}`[^`]*`", "", card.folds["Model answer"])
    text = re.sub(r"\$\$.*?\$\$", "", text, flags=re.DOTALL)
    assert 80 <= len(text.split()) <= 200


@pytest.mark.parametrize("number", NUMBERS)
def test_each_question_has_evidence_and_an_explorer_s_state(number):
    """The cell after the question computes, and the text after that links to an explorer."""
    cells = NOTEBOOK["cells"]
    kind, i = number.split()
    place = [cell["id"] for cell in cells].index(number.lower().replace(" ", "-"))
    code = next(cell for cell in cells[place:] if cell["cell_type"] == "code")
    assert code["id"] == f"evidence-{'f' if kind == 'Follow-up' else ''}{i}"
    read = "".join(cells[cells.index(code) + 1]["source"])
    assert re.search(r"\]\(\.\./chapters/0\d_\w+\.ipynb#(profile|pooling|tuning|sphere)(\?[\w=&.]+)?\)", read)
