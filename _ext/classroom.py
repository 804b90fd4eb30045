"""Build the book for a class, without the solutions.

One setting in ``_config.yml`` does it::

    sphinx:
      config:
        include_solutions: false

Nothing under ``solutions/`` is then read: no page, no entry in the contents or the search index, no notebook to
download.  A link from another page to a solution becomes its own words, marked as not in this edition, also in the
notebooks offered for download.  What an earlier, complete build left in the same folder of pages is removed, so that
``_build/html`` can be published as it is.
"""

from __future__ import annotations

import posixpath
import re
import shutil
from pathlib import Path

from docutils import nodes
from sphinx import addnodes
from sphinx.transforms import SphinxTransform

FOLDER = "solutions"
NOT_HERE = " (not in this edition)"
MARKDOWN_LINK = re.compile(r"\[([^\]\[]*)\]\((?:\.\./|\./|/)*" + FOLDER + r"/[^)\s]*\)")


def is_solution(name: str) -> bool:
    """Whether a document or file, named from the root of the book, lies among the solutions."""
    return posixpath.normpath(name).lstrip("/").startswith(f"{FOLDER}/")


def leave_out(app, config) -> None:
    """Take the solutions out of the contents and out of what Sphinx finds; runs after the contents are parsed."""
    if config.include_solutions:
        return
    config.exclude_patterns = [*config.exclude_patterns, f"{FOLDER}/**"]
    site_map = config.external_site_map
    for document in site_map.values():
        for tree in document.subtrees:
            tree.items = [item for item in tree.items if not is_solution(str(item))]
        document.subtrees = [tree for tree in document.subtrees if tree.items]
    for name in [name for name in site_map if is_solution(name)]:
        del site_map[name]


class UnlinkSolutions(SphinxTransform):
    """Replace links to solutions by their words, before any of them is looked up or copied as a download."""

    default_priority = 500

    def apply(self, **kwargs) -> None:
        if self.config.include_solutions:
            return
        kinds = (addnodes.pending_xref, addnodes.download_reference, nodes.reference)
        for node in [node for node in self.document.findall() if isinstance(node, kinds)]:
            if self.leads_to_solution(node):
                words = nodes.inline("", "", *node.children, nodes.Text(NOT_HERE), classes=["solution-left-out"])
                node.replace_self(words)

    def leads_to_solution(self, node) -> bool:
        if isinstance(node, nodes.reference):
            target = node.get("refuri", "")
            if "://" in target:
                return False
        else:
            target = node.get("reftarget") or ""
            if node.get("refdomain") == "doc":
                return is_solution(target)  # named from the root already
        target = target.split("#")[0].split("?")[0]
        if target.startswith("/"):
            return is_solution(target)
        return is_solution(posixpath.join(posixpath.dirname(self.env.docname), target))


def forget_index(app) -> None:
    """Start a new search index where the last build was complete: Sphinx would keep the words of pages that are gone."""
    if not app.config.include_solutions and (Path(app.outdir) / FOLDER).exists():
        (Path(app.outdir) / "searchindex.js").unlink(missing_ok=True)


def clean_output(app, error) -> None:
    """Unlink the solutions in the sources offered for download, and remove what an earlier, complete build has left."""
    out = Path(app.outdir)
    leftovers = [folder for folder in (out / FOLDER, out / "_sources" / FOLDER) if folder.exists()]
    if error or app.config.include_solutions:
        return
    for path in (out / "_sources").rglob("*"):
        if path.suffix in (".ipynb", ".md", ".txt"):
            text = path.read_text(encoding="utf-8")
            unlinked = MARKDOWN_LINK.sub(rf"\1{NOT_HERE}", text)
            if unlinked != text:
                path.write_text(unlinked, encoding="utf-8")
    if not leftovers:
        return
    for folder in leftovers:
        shutil.rmtree(folder)
    kept = {
        "_images": {name for _, name in app.env.images.values()},
        "_downloads": {name for _, name in app.env.dlfiles.values()},
    }
    for folder, names in kept.items():
        for path in (out / folder).rglob("*"):
            if path.is_file() and path.relative_to(out / folder).as_posix() not in names:
                path.unlink()


def setup(app):
    app.add_config_value("include_solutions", True, "env", types=[bool])
    app.connect("config-inited", leave_out, priority=950)  # sphinx_external_toc parses the contents at 900
    app.add_transform(UnlinkSolutions)
    app.connect("builder-inited", forget_index)
    app.connect("build-finished", clean_output, priority=900)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
