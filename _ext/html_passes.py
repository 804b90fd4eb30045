"""Finish each page's HTML: drop what a page does not need, then say in a Content-Security-Policy what it may load.

Both steps need the page as it will be written, so they run on the template's result.
"""

from __future__ import annotations

import base64
import hashlib
import re
from pathlib import Path

# The theme's icon script is 1.5 MB, the largest file of a page; its icons come from the theme's web font as well.
ICON_SCRIPT = re.compile(r'\s*<script[^>]*_static/scripts/fontawesome\.js[^>]*></script>')
# pandas writes a style sheet into each table it shows; ours (book.css) serves all of them, and the policy stays short.
TABLE_STYLE = re.compile(r"<style scoped>.*?</style>\s*", re.DOTALL)
# docutils marks a bibliography as a list of entries with a role that ARIA has deprecated: neither helps a reader.
BIBLIOGRAPHY_ROLE = re.compile(r' role="(?:doc-biblioentry"|list"(?= class="citation-list"))|(?<=class="citation-list") role="list"')
# A table whose rows are still coming changes the width of its columns with each: the mark lets book.css wait for the end.
TABLE_END = ("</table>", '</table><span class="table-end" hidden></span>')
INLINE_SCRIPT = re.compile(r"<script(?![^>]*\bsrc=)(?![^>]*application/json)[^>]*>(.*?)</script>", re.DOTALL)
INLINE_STYLE = re.compile(r"<style[^>]*>(.*?)</style>", re.DOTALL)
UNUSED_FILES = ["scripts/fontawesome.js*", "**/*.map", "**/*.ttf", "locales"]


def _hashes(pattern: re.Pattern, html: str) -> str:
    digests = (hashlib.sha256(body.encode()).digest() for body in pattern.findall(html))
    return " ".join(sorted({f"'sha256-{base64.b64encode(digest).decode()}'" for digest in digests}))


def policy(html: str, *, own: str = "'self' file:") -> str:
    """Return the strictest policy that lets the page work.

    `own` is the site itself: ``file:`` is what ``'self'`` means where the page was opened by double click
    (a page from a server cannot reach ``file:`` addresses in any case).
    """
    rules = {
        "default-src": "'none'",
        # The theme writes a few lines of script into each page (colour mode, page name): allowed one by one, by hash.
        # An explorer's page host imports the view from a Blob URL, because file: pages may not import modules.
        "script-src": f"{own} {'blob: ' if 'data-explorer' in html else ''}{_hashes(INLINE_SCRIPT, html)}",
        "style-src": f"{own} {_hashes(INLINE_STYLE, html)}",
        # Formulas typeset at build time carry their measures in style attributes.
        "style-src-attr": "'unsafe-inline'",
        # The theme's style sheet draws a few icons from data: addresses.
        "img-src": f"{own} data:",
        "font-src": own,
        # The search page reads the found pages to show the words around a hit.
        "connect-src": own,
        "form-action": own,
        "base-uri": "'none'",
    }
    return "; ".join(f"{name} {' '.join(value.split())}" for name, value in rules.items())


def finish(html: str) -> str:
    html = TABLE_STYLE.sub("", ICON_SCRIPT.sub("", BIBLIOGRAPHY_ROLE.sub("", html))).replace(*TABLE_END)
    tag = f'<meta http-equiv="Content-Security-Policy" content="{policy(html)}" />'
    return re.sub(r'(<meta charset="[^"]*" ?/>)', lambda found: f"{found[1]}\n    {tag}", html, count=1)


def wrap_templates(app) -> None:
    if app.builder.format != "html":
        return
    render = app.builder.templates.render
    app.builder.templates.render = lambda name, context: (
        finish(render(name, context)) if name.endswith(".html") else render(name, context)
    )


def remove_unused(app, exception) -> None:
    if exception or app.builder.format != "html":
        return
    static = Path(app.outdir) / "_static"
    for pattern in UNUSED_FILES:
        for path in sorted(static.glob(pattern), reverse=True):
            if path.is_dir():
                for inner in sorted(path.rglob("*"), reverse=True):
                    inner.rmdir() if inner.is_dir() else inner.unlink()
                path.rmdir()
            else:
                path.unlink()


def setup(app):
    app.connect("builder-inited", wrap_templates, priority=900)
    app.connect("build-finished", remove_unused, priority=900)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
