"""Run a page again when the code behind it has changed.

jupyter-cache looks at a notebook's own cells only: after an edit of the package, a page would keep its old numbers.
So the cache's folder carries a hash of the package, and the pages are read again when that hash, or an extension's, is new.
"""

from __future__ import annotations

import hashlib
from pathlib import Path


def content_hash(folder: Path, *, skip=("__pycache__", ".ipynb_checkpoints")) -> str:
    """Return a short hash of every file's path and bytes below `folder`."""
    digest = hashlib.sha256()
    for path in sorted(folder.rglob("*")):
        if path.is_file() and not set(skip) & set(path.relative_to(folder).parts):
            digest.update(str(path.relative_to(folder)).encode() + b"\0" + path.read_bytes() + b"\0")
    return digest.hexdigest()[:16]


def key_on_code(app, config) -> None:
    root = Path(app.srcdir)
    package = content_hash(root / config.package_cache_of)
    config.nb_execution_cache_path = str(Path(app.outdir).parent / f".jupyter_cache-{package}")
    config.code_behind_pages = f"{package} {content_hash(Path(__file__).parent)}"


def setup(app):
    app.add_config_value("package_cache_of", "attention_pooling", "env")
    app.add_config_value("code_behind_pages", "", "env")  # a new value makes Sphinx read every page again
    app.connect("config-inited", key_on_code)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
