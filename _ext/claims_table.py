"""Dress a table of claims: a mark for each verdict, and a form that filters the rows.

A table is one of claims if its columns are "claim, verdict, what is so, evidence"; in the source it is plain Markdown.
The form stands in the page from the start, so that nothing moves when its script comes, and shows only where scripts run.
"""

from __future__ import annotations

from collections import Counter
from html import escape
from pathlib import Path

from docutils import nodes
from sphinx.transforms import SphinxTransform

COLUMNS = ["claim", "verdict", "what is so", "evidence"]
VERDICTS = {  # text: name of its style
    "right": "right",
    "right with a condition": "condition",
    "misleading": "misleading",
    "wrong": "wrong",
    "no public source found": "unsourced",
}
STATIC = Path(__file__).with_name("claims_table_static")


def is_of_claims(table: nodes.table) -> bool:
    head = next(iter(table.findall(nodes.thead)), None)
    return head is not None and [entry.astext().strip() for entry in head.findall(nodes.entry)] == COLUMNS


def mark(row: nodes.row) -> str:
    """Give a row its verdict's class, set the verdict in a mark of its own, and return it."""
    entry = row[1]
    verdict = entry.astext().strip()
    if style := VERDICTS.get(verdict):
        row["classes"].append(f"claim-{style}")
        paragraph = entry[0]
        words = nodes.inline("", "", *paragraph.children, classes=["verdict", f"verdict-{style}"])
        paragraph.children = []
        paragraph += words
    return verdict


def form(counts: Counter) -> str:
    """Return the filter with the number of claims of each verdict."""
    choices = "\n".join(
        f'    <label><input type="checkbox" name="verdict" value="{style}"> '
        f'<span class="verdict verdict-{style}">{escape(verdict)}</span> <span class="verdict-count">{counts[verdict]}</span></label>'
        for verdict, style in VERDICTS.items()
    )
    return f"""<form class="claims-filter" role="search" aria-label="Filter the claims">
  <fieldset>
    <legend>Show only</legend>
{choices}
  </fieldset>
  <div class="claims-words">
    <label for="claims-words">With the words</label>
    <input id="claims-words" type="search" autocomplete="off" spellcheck="false">
    <button type="button">Show all</button>
  </div>
</form>
<p class="claims-shown" role="status">All {counts.total()} claims are shown.</p>"""


class ClaimsTables(SphinxTransform):
    default_priority = 450  # before references are resolved: their nodes are moved as they are

    def apply(self, **kwargs) -> None:
        tables = [table for table in self.document.findall(nodes.table) if is_of_claims(table)]
        if not tables:
            return
        counts = Counter(mark(row) for table in tables for body in table.findall(nodes.tbody) for row in body)
        for table in tables:
            table["classes"].append("claims")
            place = table.parent.index(table)
            table.parent.insert(place + 1, nodes.raw("", '<p class="claims-none" hidden>None of these is among the chosen.</p>', format="html"))
        section = tables[0].parent
        section.parent.insert(section.parent.index(section), nodes.raw("", form(counts), format="html"))


def share_assets(app, config) -> None:
    config.html_static_path.append(str(STATIC))


def add_assets(app, pagename, templatename, context, doctree) -> None:
    if 'class="claims-filter"' in context.get("body", ""):
        app.add_css_file("claims.css")
        app.add_js_file("claims.js", loading_method="defer")


def setup(app):
    app.connect("config-inited", share_assets)
    app.add_transform(ClaimsTables)
    app.connect("html-page-context", add_assets)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
