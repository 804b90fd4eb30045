"""Give each page its title, description and social card.

The description is the page's own metadata entry ``description`` where there is one, else the first words of its first paragraph.
"""

from __future__ import annotations

import re
from html import escape

from docutils import nodes

CARD = "_static/social-card.png"


def first_words(doctree: nodes.document, limit: int = 160) -> str:
    """Return the opening paragraphs as plain text, cut after a whole word."""
    words: list[str] = []
    for paragraph in doctree.findall(nodes.paragraph):
        words += paragraph.astext().split()
        if len(" ".join(words)) >= 70:
            break
    text = re.sub(r"^You will do: *(\w)", lambda found: found[1].upper(), " ".join(words))
    if len(text) <= limit:
        return text
    return text[: limit - 1].rsplit(" ", 1)[0].rstrip(" ,;:.") + "…"


def add_metadata(app, pagename, templatename, context, doctree) -> None:
    project = app.config.html_title
    title = app.env.titles[pagename].astext() if pagename in app.env.titles else context.get("title", "")
    if pagename == app.config.root_doc:
        title = project
    context["head_title"] = title if title == project else f"{title} – {project}"
    description = app.env.metadata.get(pagename, {}).get("description") or (first_words(doctree) if doctree else "")
    description = description or f"{title}: a page of the interactive chapter {project}."
    card = f"{app.config.html_baseurl.rstrip('/')}/{CARD}" if app.config.html_baseurl else context["pathto"](CARD, 1)
    tags = {
        "name": {"description": description, "twitter:card": "summary_large_image"},
        "property": {
            "og:type": "article",
            "og:site_name": project,
            "og:title": title,
            "og:description": description,
            "og:image": card,
            "og:image:alt": "A scatter of points, the kernel estimate through them and the attention weights of one query.",
        },
    }
    lines = [
        f'<meta {kind}="{name}" content="{escape(value)}" />'
        for kind, entries in tags.items()
        for name, value in entries.items()
    ]
    context["metatags"] = context.get("metatags", "") + "\n    ".join(["", *lines])


def setup(app):
    app.connect("html-page-context", add_metadata, priority=900)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
