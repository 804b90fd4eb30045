"""Turn a blockquote that starts with a bold label into a box.

``> **Theory.** Text`` reads as a plain quotation in JupyterLab, Colab and VS Code; on the site it becomes a designed box.
"""

from __future__ import annotations

from docutils import nodes
from sphinx.transforms import SphinxTransform

LABELS = {
    "Theory": "theory",
    "In practice": "practice",
    "Note": "note",
    "Public fact": "fact",
    "Design exercise": "design",
    "Warning": "warning",
    "Answer": "answer",
    "Question": "question",
    "Hint": "hint",
    "Remember": "remember",
}


def label_of(quote: nodes.block_quote) -> tuple[nodes.strong, str] | None:
    """Return the bold node that opens the quotation and its label, if it is one of ours."""
    if not quote.children or not isinstance(quote[0], nodes.paragraph):
        return None
    first = next((child for child in quote[0].children if child.astext().strip()), None)
    if not isinstance(first, nodes.strong):
        return None
    label = first.astext().strip()
    return (first, label.rstrip(".:")) if label.rstrip(".:") in LABELS else None


class Boxes(SphinxTransform):
    default_priority = 400

    def apply(self, **kwargs) -> None:
        for quote in list(self.document.findall(nodes.block_quote)):
            found = label_of(quote)
            if not found:
                continue
            bold, label = found
            bold.parent.remove(bold)
            lead = quote[0]
            if lead.children and isinstance(lead[0], nodes.Text):
                lead.replace(lead[0], nodes.Text(lead[0].astext().lstrip()))
            body = quote.children if lead.astext().strip() else quote.children[1:]
            box = nodes.admonition("", classes=["box", f"box-{LABELS[label]}"])
            box += nodes.title(label, label)
            box.extend(body)
            quote.replace_self(box)


def setup(app):
    app.add_transform(Boxes)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
