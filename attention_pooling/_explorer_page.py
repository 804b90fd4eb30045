"""What an explorer leaves on a page: scripts, style, the state as JSON, and a still picture."""

import base64
import contextlib
import json
import re
from html import escape
from importlib.resources import files

import numpy as np

STATIC = files("attention_pooling") / "static"
WORDS = json.loads((STATIC / "words.json").read_text(encoding="utf-8"))
PAGE_MODULES = ("dom.js", "sample.js", "estimator.js", "view.js", "host.js")
SPHERE_MODULES = ("dom.js", "sphere.js")


def is_name(name):
    """Say whether a name can stand in an address: letters, digits and hyphens."""
    return isinstance(name, str) and re.fullmatch(r"[A-Za-z][A-Za-z0-9-]*", name) is not None


SHARED = ("none", "infinite", "query", "bandwidth", "reset", "copy_link", "copied", "link_in_address")
OWN = {key: text for key, text in WORDS.items() if key not in (*SHARED, "sphere", "live", "picture")}


def module():
    """Return the notebook's view as one ES module."""
    return _joined("dom.js", "view.js", "widget.js", words=WORDS)


def sphere_module():
    """Return the notebook's view of the sphere as one ES module."""
    return _joined("dom.js", "sphere.js", "sphere_widget.js", words={key: WORDS[key] for key in SHARED})


def script(modules=PAGE_MODULES):
    """Return a page's view and host as one classic script, which works from disk as well."""
    body = re.sub(r"^export ", "", _joined(*modules, words={key: WORDS[key] for key in SHARED}), flags=re.M)
    return '(() => {\n"use strict";\n' + body + "\nmountAll();\n})();\n"


def style(*names):
    """Return the style sheet, or those that are named."""
    return _without_comments("".join((STATIC / name).read_text(encoding="utf-8")
                                     for name in names or ("explorer.css",)))


def _joined(*names, words):
    """Return modules one after another, their imports of each other and comments left out."""
    words = "const words = " + _json(words) + ";"
    bodies = [(STATIC / name).read_text(encoding="utf-8") for name in names]
    text = "\n".join([words] + [re.sub(r"^import .*$", "", body, flags=re.M) for body in bodies])
    return _without_comments(text)


def _without_comments(text):
    """Drop comments that stand on lines of their own, inline types, and indentation."""
    text = re.sub(r"^\s*/\*.*?\*/\s*?$", "", text, flags=re.M | re.S)
    text = re.sub(r"/\*\* @type \{[^*]*\} \*/ ?", "", text)
    text = re.sub(r"^\s*//.*$", "", text, flags=re.M)
    return "\n".join(line.strip() for line in text.splitlines() if line.strip()) + "\n"


def shipped_files():
    """Return the scripts and style sheets of pages, by the names under which they are shipped.

    The minifier has no wheel for Apple's processors; without it the scripts are the same, and larger.
    """
    shipped = {"explorer.js": script(), "sphere.js": script(SPHERE_MODULES)}
    with contextlib.suppress(ModuleNotFoundError):
        import minify

        shipped = {name: minify.string("application/javascript", text) for name, text in shipped.items()}
    for name in ("explorer.css", "sphere.css"):
        shipped[name] = re.sub(r"\s*([{};,])\s*", r"\1", style(name)).replace(";}", "}").replace(": ", ":")
    return shipped


def figure(state, drawn, alt=None):
    """Return the page form: a `<figure>` with the state as JSON and a still picture."""
    state = state | {"words": OWN}
    packed = {key: _base64(value) if isinstance(value, np.ndarray) else value for key, value in state.items()}
    text = as_json(packed)
    live = "" if state["own"] else f' data-live data-views="{" ".join(state["views"])}"'
    words = WORDS["live"] if state["own"] else WORDS["picture"]
    alt = alt or _describe(state, drawn)
    return (f'<figure class="explorer" data-explorer="{state["name"]}"{live}>'
            f'<script type="application/json">{text}</script>'
            f"{_picture(drawn, alt)}<figcaption>{escape(words)}</figcaption></figure>")


def as_json(state):
    """Return JSON that can stand inside a `<script>`."""
    return _json(state).replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def _json(value):
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)


def _base64(array):
    return base64.b64encode(array.astype("<f8").tobytes()).decode("ascii")


def _describe(state, drawn):
    estimate = drawn["at_query"]
    said = "there is no key within reach" if estimate is None else f"the estimate is {estimate:.2f}"
    return (f"{len(state['keys'])} keys with their values, and the estimate of attention pooling with the "
            f"{state['kernel']} kernel at bandwidth {state['bandwidth']:g}; at query {state['query']:g} {said}.")


def _picture(drawn, alt):
    """Return a still picture of the fit, or of the kernel where only that is shown, as SVG."""
    width, height, left = 640, 230, 40
    across, up = drawn["limits"]["query"], drawn["limits"]["value"]
    if "fit" not in drawn["views"]:
        up = [0.0, float(drawn["profile"].max()) * 1.05]

    def x(value):
        return np.round(left + (np.asarray(value) - across[0]) / (across[1] - across[0]) * (width - left - 10), 1)

    def y(value):
        return np.round(height - 24 - (np.asarray(value) - up[0]) / (up[1] - up[0]) * (height - 34), 1)

    def path(xs, ys, **style):
        good = np.isfinite(ys)
        points = [("L" if i and good[i - 1] else "M") + f"{a:g} {b:g}"
                  for i, (a, b) in enumerate(zip(x(xs), y(np.where(good, ys, 0)))) if good[i]]
        return _tag("path", d="".join(points), fill="none", **style)

    parts = [_tag("line", x1=left, x2=width - 10, y1=height - 24, y2=height - 24, stroke="currentColor")]
    for range_, place in ((across, x), (up, y)):
        for value in _ticks(range_):
            at = float(place(value))
            where = dict(x=at, y=height - 8, text_anchor="middle") if place is x else \
                dict(x=left - 7, y=at + 4, text_anchor="end")
            parts.append(_tag("text", f"{value:g}".replace("-", "−"), fill="currentColor", font_size=12, **where))
    at = float(x(drawn["query"]))
    parts.append(_tag("line", x1=at, x2=at, y1=6, y2=height - 24, stroke="#D55E00", stroke_width=1.6))
    keys, values, weights = drawn["keys"], drawn["values"], drawn["weights"]
    if "fit" in drawn["views"]:
        if drawn["truth"] is not None:
            parts.append(path(drawn["grid"], drawn["truth"], stroke="#808892", stroke_dasharray="5 4"))
        radii = np.round(2.4 + 5.6 * np.sqrt(weights / max(weights.max(), 1e-300)), 1)
        for a, b, r in zip(x(keys), y(values), radii):
            parts.append(_tag("circle", cx=f"{a:g}", cy=f"{b:g}", r=f"{r:g}"))
        keyed = '<g fill="#2E8BC0" fill-opacity=".6">' + "".join(parts[-len(keys):]) + "</g>"
        parts[-len(keys):] = [keyed]
        if not drawn["predict"]:
            parts.append(path(drawn["grid"], drawn["estimate"], stroke="#009E73", stroke_width=2.8))
    else:
        u = np.linspace(-4, 4, 401)
        places = drawn["query"] + u * drawn["bandwidth"]
        inside = (places >= across[0]) & (places <= across[1])
        profile = np.concatenate([drawn["profile"][:0:-1], drawn["profile"]])
        parts.append(path(places[inside], profile[inside], stroke="#D55E00", stroke_width=2.2))
        for a, b in zip(x(keys), y(drawn["profile_at_keys"])):
            parts.append(_tag("line", x1=f"{a:g}", x2=f"{a:g}", y1=height - 24, y2=f"{b:g}", stroke="#2E8BC0", stroke_width=1.6))
    return (f'<svg xmlns="http://www.w3.org/2000/svg" role="img" viewBox="0 0 {width} {height}" '
            f'aria-label="{escape(alt)}">' + "".join(parts) + "</svg>")


def _tag(tag, text=None, **attributes):
    written = "".join(f' {name.replace("_", "-")}="{value}"' for name, value in attributes.items())
    return f"<{tag}{written}/>" if text is None else f"<{tag}{written}>{escape(text)}</{tag}>"


def _ticks(range_):
    low, high = range_
    raw = (high - low) / 5
    power = 10.0 ** np.floor(np.log10(raw))
    step = next(m * power for m in (1, 2, 5, 10) if m * power >= raw * 0.999)
    return np.arange(np.ceil(low / step), np.floor(high / step) + 1) * step
