"""Typeset the formulas while the site is built, so that a page has nothing left to typeset.

MathJax (the files that ship in ``sphinx-mathjax-offline``) runs in an embedded V8 and writes its CommonHTML into the page.
A reader's browser then needs 12 kB of CSS and the fonts instead of 1.2 MB of script;
every glyph's box comes from the CSS, so nothing moves when the fonts arrive, and formulas stand there without JavaScript.
The MathML beside each formula is for screen readers.
A formula that TeX would refuse is a warning with its place, hence an error under ``-W``.
"""

from __future__ import annotations

import importlib
import json
import re
import shutil
from functools import cached_property
from pathlib import Path

from docutils import nodes
from py_mini_racer import JSEvalException, MiniRacer
from sphinx.util import logging
from sphinx.util.math import get_node_equation_number

LOGGER = logging.getLogger(__name__)
COMPONENTS = [
    "loader.js", "core.js", "adaptors/liteDOM.js", "input/tex-full.js",
    "output/chtml.js", "output/chtml/fonts/tex.js", "a11y/assistive-mml.js",
]  # fmt: skip
START = r"""
const {liteAdaptor} = MathJax._.adaptors.liteAdaptor;
const adaptor = liteAdaptor();
MathJax._.a11y["assistive-mml"].AssistiveMmlHandler(MathJax._.handlers.html_ts.RegisterHTMLHandler(adaptor));
const output = new MathJax._.output.chtml_ts.CHTML({
    adaptiveCSS: false,
    font: new MathJax._.output.chtml.fonts.tex_ts.TeXFont({fontURL: "mathjax"}),
});
const page = MathJax._.mathjax.mathjax.document("", {
    InputJax: new MathJax._.input.tex_ts.TeX({
        packages: ["base", "ams", "newcommand", "boldsymbol"],
        formatError: (jax, error) => { throw Error(error.message); },
    }),
    OutputJax: output,
});
function typeset(tex, display) { return adaptor.outerHTML(page.convert(tex, {display})); }
function styles() { return adaptor.textContent(output.styleSheet(page)); }
"started"
"""
GLYPH = re.compile(r"mjx-c(?=[0-9A-F])[0-9A-F]+")
RULE = re.compile(r'[^{}]+\{(?:"(?:\\.|[^"\\])*"|[^{}"])*\}')  # braces may stand inside a string: they are glyphs too


class MathJaxInPython:
    """MathJax 3 without a browser: TeX in, HTML out."""

    files = Path(importlib.import_module("sphinx-mathjax-offline").__file__).parent / "static" / "mathjax"

    def __init__(self) -> None:
        self.typeset_already: dict[str, str] = {}

    @cached_property
    def engine(self) -> MiniRacer:
        engine = MiniRacer()
        engine.eval("globalThis.MathJax = {loader: {load: []}, startup: {typeset: false}}; 0")
        for name in COMPONENTS:
            engine.eval((self.files / name).read_text(encoding="utf-8") + "\n;0")
        engine.eval(START)
        return engine

    def html(self, tex: str, display: bool) -> str:
        key = json.dumps([tex, display])
        if key not in self.typeset_already:
            self.typeset_already[key] = self.engine.call("typeset", tex, display)
        return self.typeset_already[key]

    def css(self) -> str:
        """Return the style sheet, reduced to the glyphs in use."""
        used = set(GLYPH.findall("".join(self.typeset_already.values())))
        rules = RULE.findall(self.engine.call("styles"))
        return "".join(rule for rule in rules if set(GLYPH.findall(rule.split("{")[0])) <= used)


MATHJAX = MathJaxInPython()


def _typeset(node: nodes.Node, tex: str, display: bool) -> str:
    try:
        return MATHJAX.html(tex, display)
    except JSEvalException as error:
        reason = re.search(r"Error: (.*)", str(error))
        LOGGER.warning("formula not understood (%s): %s", reason[1] if reason else error, tex, location=node)
        return f"<code>{tex}</code>"


def visit_inline(translator, node: nodes.math) -> None:
    html = _typeset(node, node.astext(), False)
    # About as wide as a phone: such a formula may scroll inside itself there (see book.css).
    wide = " wide" if html.count("<mjx-c ") > 22 else ""
    translator.body.append(translator.starttag(node, "span", "", CLASS=f"math notranslate nohighlight{wide}"))
    translator.body.append(html + "</span>")
    raise nodes.SkipNode


def visit_block(translator, node: nodes.math_block) -> None:
    translator.body.append(translator.starttag(node, "div", CLASS="math notranslate nohighlight"))
    tex = node.astext().strip()
    if r"\\" in tex and r"\begin" not in tex:  # as in Sphinx: a line break makes it an aligned group
        tex = rf"\begin{{split}}{tex}\end{{split}}"
    translator.body.append(f'<div class="formula">{_typeset(node, tex, True)}</div>')
    if node["number"]:
        translator.body.append(f'<span class="eqno">({get_node_equation_number(translator, node)})')
        translator.add_permalink_ref(node, "Link to this equation")
        translator.body.append("</span>")
    translator.body.append("</div>\n")
    raise nodes.SkipNode


def load_cache(app) -> None:
    """Remember formulas between builds: a page that is not written again still needs its glyphs in the style sheet."""
    cache = Path(app.doctreedir) / "math.json"
    if cache.exists():
        MATHJAX.typeset_already = json.loads(cache.read_text(encoding="utf-8"))


def write_assets(app, exception) -> None:
    if exception or app.builder.format != "html":
        return
    static = Path(app.outdir) / "_static"
    (Path(app.doctreedir) / "math.json").write_text(json.dumps(MATHJAX.typeset_already), encoding="utf-8")
    css = MATHJAX.css()
    (static / "math.css").write_text(css, encoding="utf-8")
    (static / "mathjax").mkdir(exist_ok=True)
    for font in set(re.findall(r'mathjax/([\w-]+\.woff)', css)):
        shutil.copyfile(MATHJAX.files / "output" / "chtml" / "fonts" / "woff-v2" / font, static / "mathjax" / font)


def setup(app):
    app.add_html_math_renderer("at_build", (visit_inline, None), (visit_block, None))
    app.add_css_file("math.css")
    app.connect("builder-inited", load_cache)
    app.connect("build-finished", write_assets)
    return {"parallel_read_safe": True, "parallel_write_safe": False}
