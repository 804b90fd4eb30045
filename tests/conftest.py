"""What several tests share: the repository, one build of the site, one browser."""

from __future__ import annotations

import functools
import http.server
import json
import os
import shutil
import subprocess
import sys
import threading
from pathlib import Path

import pytest
import yaml
from filelock import FileLock

from _ext.package_cache import content_hash

ROOT = Path(__file__).resolve().parent.parent
BUILD = ROOT / "_build"
HTML = BUILD / "html"


TOC = yaml.safe_load((ROOT / "_toc.yml").read_text(encoding="utf-8"))
PAGES = [TOC["root"], *(entry["file"] for part in TOC["parts"] for entry in part["chapters"])]


def sources(suffix: str) -> list[Path]:
    """Return the files of the book's pages that end so, in the order of the table of contents."""
    return [path for stem in PAGES if (path := ROOT / f"{stem}{suffix}").exists()]


def notebooks() -> list[Path]:
    """Return the book's notebooks in the order of the table of contents."""
    return sources(".ipynb")


def read_notebook(path: Path) -> dict:
    return json.loads(path.read_text(encoding="utf-8"))


def executed(path: Path) -> dict:
    """Return a page's notebook with the outputs that the build showed.

    They are read from the build's cache: MyST-NB writes `_build/jupyter_execute` without outputs that were in it before.
    """
    import nbformat
    from jupyter_cache import get_cache

    cache = get_cache(BUILD / f".jupyter_cache-{content_hash(ROOT / 'attention_pooling')}")
    return cache.merge_match_into_notebook(nbformat.read(path, as_version=4))[1]


def source_of(cell: dict) -> str:
    return "".join(cell["source"])


def build(book: Path, *options: str) -> subprocess.CompletedProcess:
    """Run the README's build command on `book`, warnings as errors."""
    command = [sys.executable, "-c", "from jupyter_book.cli.main import main; main()", "build", "-W", "--keep-going", *options, str(book)]
    return subprocess.run(command, capture_output=True, text=True, encoding="utf-8", timeout=900)


@pytest.fixture(scope="session")
def once(tmp_path_factory):
    """Return a function that does a piece of work in the first process that asks, and hands all of them its result as JSON."""
    folder = tmp_path_factory.getbasetemp()
    if os.environ.get("PYTEST_XDIST_WORKER"):
        folder = folder.parent  # the processes of one run share it

    def shared(name: str, work):
        note = folder / f"{name}.json"
        with FileLock(f"{note}.lock"):
            if not note.exists():
                note.write_text(json.dumps(work()), encoding="utf-8")
        return json.loads(note.read_text(encoding="utf-8"))

    return shared


def build_report(book: Path) -> str:
    """Build a book; return nothing, or the end of what a failed build said."""
    result = build(book)
    return "" if result.returncode == 0 else "jupyter-book build failed:\n" + (result.stdout + result.stderr)[-6000:]


@pytest.fixture(scope="session")
def site(once) -> Path:
    """Build the book once, as a reader does, and return the folder of pages."""
    failure = once("site", lambda: build_report(ROOT))
    assert not failure, failure
    return HTML


@pytest.fixture(scope="session")
def site_url(site):
    """Serve the site below a sub-path, so that no page can rely on standing at the root."""
    handler = functools.partial(SubPathHandler, directory=str(site))
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}{SubPathHandler.prefix}"
    server.shutdown()


class SubPathHandler(http.server.SimpleHTTPRequestHandler):
    prefix = "/some/where"

    def translate_path(self, path: str) -> str:
        if not path.startswith(self.prefix):
            return str(Path(self.directory) / "no-such-file")
        return super().translate_path(path.removeprefix(self.prefix) or "/")

    def log_message(self, *args) -> None:
        pass


@pytest.fixture(scope="session")
def browser():
    """Return one Chromium for the whole run; a machine without it fails in CI and skips elsewhere."""
    executable = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if executable is None:
        message = "no Chromium found: install Debian's `chromium`"
        pytest.fail(message) if os.environ.get("CI") else pytest.skip(message)
    from playwright.sync_api import sync_playwright

    arguments = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
                 "--disable-component-update", "--disable-sync"]  # fmt: skip
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=executable, args=arguments)
        yield browser
        browser.close()
