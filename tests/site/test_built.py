"""The built site, read as files."""

from __future__ import annotations

import json
import re
from collections import Counter
from functools import cache
from pathlib import Path
from urllib.parse import unquote, urlsplit

import html5lib
import pytest
from bs4 import BeautifulSoup

from tests.conftest import HTML, PAGES, ROOT

every_page = pytest.mark.parametrize("name", PAGES)


@cache
def text_of(path: Path) -> str:
    return path.read_text(encoding="utf-8")


@cache
def soup_of(path: Path) -> BeautifulSoup:
    return BeautifulSoup(text_of(path), "html.parser")


@cache
def addresses(path: Path) -> set[str]:
    """Return what a link's fragment may name: an element, or an explorer (its script goes to it)."""
    ids = {tag["id"] for tag in soup_of(path).find_all(id=True)}
    return ids | {tag["data-explorer"] for tag in soup_of(path).find_all(attrs={"data-explorer": True})}


def page(name: str) -> BeautifulSoup:
    return soup_of(HTML / f"{name}.html")


def visible_text(name: str) -> str:
    """Return the article's words without code, formulas and scripts."""
    article = BeautifulSoup(str(page(name).find("article")), "html.parser")
    for tag in article.find_all(["pre", "code", "script", "style", "svg"]) + article.select(".math"):
        tag.decompose()
    return article.get_text(" ")


@every_page
def test_links_and_anchors_resolve(site, name):
    here, broken = HTML / f"{name}.html", []
    for link in page(name).find_all("a", href=True):
        parts = urlsplit(link["href"])
        if parts.scheme in ("http", "https", "mailto"):
            continue
        target = (here.parent / unquote(parts.path)).resolve() if parts.path else here
        anchor = unquote(parts.fragment).split("?")[0]  # an explorer's address carries its state after a '?'
        if not target.is_file():
            broken.append(f"{link['href']}: no such file")
        elif anchor and target.suffix == ".html" and anchor not in addresses(target):
            broken.append(f"{link['href']}: no such anchor")
    assert not broken, f"{name}: {broken}"


@every_page
def test_images_are_there_and_described(site, name):
    for image in page(name).find_all("img"):
        source, alt = image["src"], image.get("alt", "")
        assert source.startswith("data:") or (HTML / f"{name}.html").parent.joinpath(unquote(source)).is_file(), source
        assert len(alt.split()) >= 15, f"{name}: {source} has the alt text {alt!r}; write it in the cell's metadata"
        assert not re.search(r"\.(png|svg|jpe?g)\b", alt), f"{name}: the alt text {alt!r} is a file name"


@every_page
def test_shows_no_machine_talk(site, name):
    article = page(name).find("article")
    text = article.get_text(" ")
    for pattern in [r"Traceback \(most recent", r"\bat 0x[0-9a-f]{4,}", r"<(function|bound method|module|class) ", r"<Figure size",
                    r"\bText\(\d", r"\[?<matplotlib", r"\bVBox\(", r"Error in callback", r"/site-packages/", r"np\.float64\("]:  # fmt: skip
        found = re.search(f".{{0,60}}{pattern}.{{0,40}}", text)
        assert not found, f"{name} shows {found[0]!r}"
    assert not article.select(".stderr, .traceback, .system-message, .problematic"), f"{name} shows an error block"
    words = visible_text(name)
    for pattern in [r":::", r"```", r"\{(cite|numref|ref|doc|eq)[:}]", r"\$[^$\n]*\\[a-z]+", r"\\[()\[\]]", r"<!--", r"\*\*\w"]:
        found = re.search(f".{{0,60}}{pattern}.{{0,40}}", words)
        assert not found, f"{name} shows raw markup: {found[0]!r}"


@every_page
def test_html_is_valid(site, name):
    html = text_of(HTML / f"{name}.html")
    ids = Counter(tag["id"] for tag in page(name).find_all(id=True))
    assert not [f"{each} ({count} times)" for each, count in ids.items() if count > 1], f"{name}: repeated ids"
    assert not [each for each in ids if not each or re.search(r"\s", each)], f"{name}: an id with white space"
    parser = html5lib.HTMLParser()
    parser.parse(html)
    lines = html.splitlines()
    problems = [f"line {line}: {code} near {lines[line - 1][max(0, column - 60) : column + 10]!r}" for (line, column), code, _ in parser.errors]
    assert not problems, f"{name}: {problems[:5]}"


@every_page
def test_head_is_complete(site, name):
    html = page(name)
    assert html.html["lang"] == "en"
    assert len(html.title.get_text()) > 10
    description = html.find("meta", attrs={"name": "description"})["content"]
    assert 40 <= len(description) <= 200, f"{name}: description {description!r}"
    here = (HTML / f"{name}.html").parent
    assert (here / html.find("link", rel="icon")["href"]).is_file()
    assert (here / html.find("meta", property="og:image")["content"]).stat().st_size > 10_000


def test_titles_and_descriptions_differ(site):
    for values in ([page(name).title.get_text() for name in PAGES],
                   [page(name).find("meta", attrs={"name": "description"})["content"] for name in PAGES]):  # fmt: skip
        assert len(set(values)) == len(values), [value for value, count in Counter(values).items() if count > 1]


@every_page
def test_policy_allows_the_site_and_nothing_else(site, name):
    html = page(name)
    policy = html.find("meta", attrs={"http-equiv": "Content-Security-Policy"})["content"]
    assert policy.startswith("default-src 'none';")
    scripts = re.search(r"script-src ([^;]*)", policy)[1]
    assert "unsafe" not in scripts and "http" not in policy
    handlers = [f"{tag.name} {attribute}" for tag in html.find_all(True) for attribute in tag.attrs if attribute.startswith("on")]
    assert not handlers, f"{name}: inline handlers {handlers}; listen in a script file instead"


@every_page
def test_offers_its_real_notebook(site, name):
    source = ROOT / f"{name}.ipynb"
    if not source.exists():
        assert (ROOT / f"{name}.md").exists()
        return
    link = page(name).select_one("a[download$='.ipynb']")
    offered = (HTML / f"{name}.html").parent / link["href"]
    assert json.loads(offered.read_text(encoding="utf-8")) == json.loads(source.read_text(encoding="utf-8"))


@every_page
def test_code_cells_have_addresses(site, name):
    source = ROOT / f"{name}.ipynb"
    if source.exists():
        cells = json.loads(source.read_text(encoding="utf-8"))["cells"]
        expected = {f"cell-{cell['id']}" for cell in cells if cell["cell_type"] == "code"}
        assert expected <= addresses(HTML / f"{name}.html")


def test_requirements_keep_the_major_releases_that_work():
    lines = (ROOT / "requirements.txt").read_text().splitlines()
    book = next(line for line in lines if line.startswith("jupyter-book"))
    assert "<2" in book.replace(" ", ""), "Jupyter Book 2 is another program: keep jupyter-book<2"


def test_documents_call_pytest_through_python():
    for path in [ROOT / "README.md", ROOT / ".ci" / "run"]:
        for line in path.read_text(encoding="utf-8").splitlines():
            if not line.lstrip().startswith("#"):
                assert not re.search(r"(?<!-m )(?<!\w)pytest( |$)(?!closing)", line), f"{path.name}: {line!r}; say python -m pytest"
