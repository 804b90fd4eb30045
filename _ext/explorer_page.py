"""Explorers on a page: their script and style where one is, and links to a state of one.

A Markdown link such as ``[see it](02_attention_pooling.ipynb#pooling?query=4)`` becomes the address of
the built page. A link to an explorer that the page does not have is a warning, and so is a state that the
explorer would not take: it would fall back to its defaults in silence.
"""

import json
import re
from pathlib import Path
from urllib.parse import parse_qsl

from docutils import nodes
from sphinx import addnodes
from sphinx.transforms.post_transforms import SphinxPostTransform
from sphinx.util import logging
from sphinx.util.osutil import relative_uri

from attention_pooling import _explorer_page as page
from attention_pooling.kernels import KERNELS

LOGGER = logging.getLogger(__name__)
WIDGET_STATE = "application/vnd.jupyter.widget-state+json"
FIGURE = re.compile(r'<figure class="explorer" data-explorer="([\w-]+)".*?<script type="application/json">(.*?)</script>', re.S)
RANGES = {"points": (5, 200), "noise": (0, 3), "seed": (0, 2**32 - 1), "band": (0, 1)}
FIGURE_LIVE, SPHERE = '" data-live ', '" data-sphere>'


def collect(app, doctree):
    """Note the explorers of a page that was just read."""
    found = [match for raw in doctree.findall(nodes.raw) for match in FIGURE.findall(raw.astext())]
    names = [name for name, _ in found]
    for name in {name for name in names if names.count(name) > 1}:
        LOGGER.warning("two explorers of this page are called %r", name, location=doctree)
    _explorers(app.env)[app.env.docname] = {name: _takes(json.loads(state)) for name, state in found}


def _takes(state):
    """Return what the explorer takes from an address: name -> range; nothing is known of other figures."""
    if "views" not in state:
        return None
    ranges = RANGES if state["sample"] else {"band": RANGES["band"]}
    return ranges | {name: tuple(state["limits"][name]) for name in ("bandwidth", "query")}


def _faults(state, takes):
    """Yield what is wrong with a state for an explorer."""
    for name, value in parse_qsl(state, keep_blank_values=True):
        if name == "kernel":
            if value not in KERNELS:
                yield f"kernel {value!r} is none of {', '.join(KERNELS)}"
        elif name == "edits":
            continue
        elif name not in takes:
            yield f"{name!r} is none of kernel, edits, {', '.join(takes)}"
        else:
            low, high = takes[name]
            try:
                good = low <= float(value) <= high
            except ValueError:
                good = False
            if not good:
                yield f"{name}={value} is not within {low:g} to {high:g}"


def _explorers(env):
    if not hasattr(env, "explorers"):
        env.explorers = {}
    return env.explorers


def forget(_app, env, docname):
    """Forget the explorers of a page that changed or went."""
    _explorers(env).pop(docname, None)


def merge(_app, env, docnames, other):
    """Take over what a parallel reader found."""
    _explorers(env).update({name: _explorers(other).get(name, {}) for name in docnames})


class StateLinks(SphinxPostTransform):
    """Resolve links to a state of an explorer before MyST looks for a heading of that name."""

    default_priority = 5
    formats = ("html",)

    def run(self, **_):
        """Replace each such link by the address of the built page."""
        for link in list(self.document.findall(addnodes.pending_xref)):
            if link.get("reftype") != "myst":
                continue
            document, target = self._target(link)
            name, asks, state = target.partition("?")
            if asks:
                self._resolve(link, document, name, state)

    def _target(self, link):
        if link.get("refdomain") == "doc":
            return link["reftarget"], link.get("reftargetid") or ""
        return self.env.docname, link["reftarget"].lstrip("#")

    def _resolve(self, link, document, name, state):
        explorers = _explorers(self.env).get(document, {})
        if name not in explorers:
            LOGGER.warning("no explorer %r in %r", name, document, location=link)
        elif explorers[name] is not None:
            for fault in _faults(state, explorers[name]):
                LOGGER.warning("link to explorer %r: %s", name, fault, location=link)
        builder = self.app.builder
        here = builder.get_target_uri(self.env.docname)
        there = builder.get_target_uri(document)
        uri = "" if document == self.env.docname else relative_uri(here, there)
        reference = nodes.reference("", "", internal=True, refuri=f"{uri}#{name}?{state}")
        reference.extend(child.deepcopy() for child in link.children)
        link.replace_self(reference)


def write_assets(app, config):
    """Write the script and the style sheet from the package, to be copied with the other static files."""
    folder = Path(app.doctreedir).parent / "explorer_static"
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in page.shipped_files().items():
        (folder / name).write_text(text, encoding="utf-8")
    config.html_static_path.append(str(folder))


def add_assets(app, pagename, _template, context, _doctree):
    """Load them on the pages that have an explorer, and leave the notebook's widget state out."""
    scripts = context["script_files"]
    scripts[:] = [script for script in scripts
                  if getattr(script, "attributes", {}).get("type") != WIDGET_STATE]
    if not _explorers(app.env).get(pagename):
        return
    app.add_css_file("explorer.css")
    if FIGURE_LIVE in context["body"]:
        app.add_js_file("explorer.js", loading_method="defer")
    if SPHERE in context["body"]:
        app.add_js_file("sphere.js", loading_method="defer")
        app.add_css_file("sphere.css")


def setup(app):
    """Connect the extension."""
    app.connect("config-inited", write_assets)
    app.connect("doctree-read", collect)
    app.connect("env-purge-doc", forget)
    app.connect("env-merge-info", merge)
    app.connect("html-page-context", add_assets)
    app.add_post_transform(StateLinks)
    return {"version": "1", "env_version": 2, "parallel_read_safe": True, "parallel_write_safe": True}
