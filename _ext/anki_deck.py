"""Make the interview page into a deck for Anki, beside the page, and offer it there for download.

The page's own notebook is the one source: a note is one question, with the question in front and the model answer,
what a strong candidate adds and the common wrong answer behind.  A note keeps its identity from build to build, so a
reader who imports a newer deck keeps what was learned.
"""

from __future__ import annotations

import html
import json
import os
import re
import time
from pathlib import Path
from typing import NamedTuple

import genanki
from docutils import nodes
from markdown_it import MarkdownIt
from mdit_py_plugins.dollarmath import dollarmath_plugin
from pybtex.database import parse_file
from pybtex.richtext import Text

PAGE = "exercises/interview"
DECK = "Attention pooling: interview questions"
ABOUT = (
    "The questions of the interview page of the book “Attention Pooling by Similarity”. "
    "“The source article” is the text that the book replaces; where its answers are wrong, the cards say so."
)
# Drawn once at random. They are the deck's and the note type's identity in every reader's collection: never change them.
DECK_ID, MODEL_ID = 1_607_392_319, 1_091_735_104

HEADING = re.compile(r"^## ((?:Question|Follow-up) \d+)$", re.MULTILINE)
FOLDED = re.compile(r"<details><summary>(.*?)</summary>\n(.*?)</details>", re.DOTALL)
FOLDS = ("Model answer", "What a strong candidate adds", "A common wrong answer")
FIELDS = ("Key", "Number", "Question", "Think first", *FOLDS)
STYLE = """
.card { font: 18px/1.5 sans-serif; max-width: 40em; margin: 1em auto; text-align: left; }
h2 { font-size: 1em; margin: 1.2em 0 .3em; }
.number, .think { opacity: .75; }
"""


class Card(NamedTuple):
    """One question of the page, in Markdown."""

    number: str
    question: str
    think: str
    folds: dict[str, str]


def cards(notebook: dict) -> list[Card]:
    """Return the questions of the interview notebook, in its order."""
    found = []
    for cell in notebook["cells"]:
        source = "".join(cell["source"])
        heading = HEADING.search(source) if cell["cell_type"] == "markdown" else None
        if not heading:
            continue
        folds = {summary: text.strip() for summary, text in FOLDED.findall(source)}
        question = re.search(r"^\*\*(.+?)\*\*", source, re.MULTILINE)
        think = re.search(r"^\*Think first:\* (.+)$", source, re.MULTILINE)
        if set(folds) != set(FOLDS) or not question or not think:
            raise ValueError(
                f"cell {cell['id']}: a question needs a bold line, a line '*Think first:* …' and the folded parts {', '.join(FOLDS)}"
            )
        found.append(Card(heading[1], question[1], think[1], folds))
    return found


def citations(bibliography: Path) -> dict[str, tuple[str, str]]:
    """Return (authors, year) by citation key, as in 'Wang et al.', '2018'."""
    works = {}
    for key, entry in parse_file(str(bibliography)).entries.items():
        people = entry.persons.get("author") or entry.persons.get("editor") or []
        names = [str(Text.from_latex(" ".join(person.prelast_names + person.last_names))) for person in people]
        authors = " and ".join(names) if len(names) <= 2 else f"{names[0]} et al."
        works[key] = authors, entry.fields.get("year", "n.d.")
    return works


class Renderer:
    """Markdown of the page to the HTML of an Anki field: formulas in MathJax's brackets, citations in words."""

    def __init__(self, works: dict[str, tuple[str, str]]):
        self.works = works
        self.markdown = MarkdownIt("commonmark").use(dollarmath_plugin, double_inline=True)
        self.markdown.add_render_rule("math_inline", lambda _, tokens, i, *rest: rf"\({html.escape(tokens[i].content)}\)")
        for rule in ("math_block", "math_inline_double"):
            self.markdown.add_render_rule(rule, lambda _, tokens, i, *rest: rf"\[{html.escape(tokens[i].content.strip())}\]")
        # A deck stands alone: a link within the site is its words only.
        for rule in ("link_open", "link_close"):
            self.markdown.add_render_rule(rule, lambda *_: "")

    def cite(self, found: re.Match) -> str:
        works = [self.works[key.strip()] for key in found[2].split(",")]
        if found[1] == "t":
            return ", ".join(f"{authors} ({year})" for authors, year in works)
        return "(" + "; ".join(f"{authors}, {year}" for authors, year in works) + ")"

    def __call__(self, text: str) -> str:
        text = re.sub(r" *<!--.*?-->", "", text, flags=re.DOTALL)
        text = re.sub(r"\{cite:([pt])\}`([^`]+)`", self.cite, text)
        return self.markdown.render(text).strip()


def note_type() -> genanki.Model:
    behind = "\n".join(f"<h2>{name}</h2>\n{{{{{name}}}}}" for name in FOLDS)
    return genanki.Model(
        MODEL_ID,
        "Interview question",
        fields=[{"name": name} for name in FIELDS],
        templates=[
            {
                "name": "Question",
                "qfmt": '<p class="number">{{Number}}</p>\n{{Question}}\n<div class="think">{{Think first}}</div>',
                "afmt": '{{FrontSide}}\n<hr id="answer">\n' + behind,
            }
        ],
        css=STYLE,
    )


def deck(notebook: dict, bibliography: Path) -> genanki.Deck:
    """Return the deck of the interview notebook."""
    render, model, result = Renderer(citations(bibliography)), note_type(), genanki.Deck(DECK_ID, DECK, ABOUT)
    for place, card in enumerate(cards(notebook), start=1):
        sides = [render(text) for text in (card.question, f"*Think first:* {card.think}", *(card.folds[name] for name in FOLDS))]
        anchor = card.number.lower().replace(" ", "-")
        result.add_note(
            genanki.Note(model, [f"{place:02d}", card.number, *sides], guid=genanki.guid_for(PAGE, anchor))
        )
    return result


def write_deck(notebook: Path, bibliography: Path, target: Path) -> None:
    """Write the deck of `notebook` to `target`; SOURCE_DATE_EPOCH, where set, is its date."""
    content = json.loads(notebook.read_text(encoding="utf-8"))
    target.parent.mkdir(parents=True, exist_ok=True)
    date = float(os.environ.get("SOURCE_DATE_EPOCH") or time.time())
    genanki.Package(deck(content, bibliography)).write_to_file(str(target), timestamp=date)


def offer(app, doctree: nodes.document) -> None:
    """Put the link below the box that speaks of Anki."""
    if app.env.docname != PAGE or app.builder.format != "html":
        return
    name = Path(PAGE).name + ".apkg"
    link = f'<p><a class="reference download internal" download href="{name}">Download the deck ({name})</a></p>'
    for paragraph in doctree.findall(nodes.paragraph):
        if "deck for Anki" in paragraph.astext():
            box = paragraph.parent
            box.insert(box.index(paragraph) + 1, nodes.raw("", link, format="html"))
            return
    raise ValueError(f"{PAGE}: no paragraph speaks of a 'deck for Anki', so there is no place for the download")


def write(app, exception) -> None:
    if exception or app.builder.format != "html" or PAGE not in app.env.found_docs:
        return
    source = Path(app.srcdir)
    write_deck(source / f"{PAGE}.ipynb", source / app.config.bibtex_bibfiles[0], Path(app.outdir) / f"{PAGE}.apkg")


def setup(app):
    app.connect("doctree-read", offer)
    app.connect("build-finished", write)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
