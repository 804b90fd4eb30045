"""Give each code cell the address ``#cell-<cell id>``, on the page and for links from other pages.

``[the check](../chapters/02_attention_pooling.ipynb#cell-check-rows)`` resolves, and a wrong id is a warning.
"""

from __future__ import annotations

import json

from docutils import nodes
from sphinx.transforms import SphinxTransform


class CellAnchors(SphinxTransform):
    default_priority = 400

    def apply(self, **kwargs) -> None:
        source = self.env.doc2path(self.env.docname)
        if not source.endswith(".ipynb"):
            return
        with open(source, encoding="utf-8") as file:
            cells = json.load(file)["cells"]
        slugs = self.env.metadata[self.env.docname].setdefault("myst_slugs", {})
        for node in self.document.findall(nodes.container):
            if node.get("nb_element") != "cell_code":
                continue
            cell_id = cells[node["cell_index"]].get("id")
            if cell_id:
                anchor = f"cell-{cell_id}"
                node["ids"].append(anchor)
                slugs[anchor] = (node.line, anchor, cell_id)


def setup(app):
    app.add_transform(CellAnchors)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
