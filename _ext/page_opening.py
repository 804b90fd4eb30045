"""Set the lines *You will do / You will learn / You need* below a page's title apart, one to a row.

In the notebook they are consecutive lines of one paragraph, as Markdown readers expect.
"""

from __future__ import annotations

import re

from docutils import nodes
from sphinx.transforms import SphinxTransform

STARTS = re.compile(r"You (will do|will learn|need)\b.*[:.]?$")


class PageOpening(SphinxTransform):
    default_priority = 400

    def apply(self, **kwargs) -> None:
        section = next(iter(self.document.findall(nodes.section)), None)
        if section is None:
            return
        for paragraph in [child for child in section.children if isinstance(child, nodes.paragraph)]:
            rows: list[nodes.paragraph] = []
            for child in list(paragraph.children):
                if isinstance(child, nodes.strong) and STARTS.match(child.astext()):
                    rows.append(nodes.paragraph(classes=["opening-row"]))
                if rows and len(rows[-1]) == 1 and isinstance(child, nodes.Text):
                    rows[-1] += nodes.Text(child.astext().lstrip())  # the label is a column of its own
                elif rows:
                    rows[-1] += child.deepcopy()
            if len(rows) < 2:
                continue
            opening = nodes.container("", *rows, classes=["opening"], is_div=True)
            paragraph.replace_self(opening)
            return


def setup(app):
    app.add_transform(PageOpening)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
