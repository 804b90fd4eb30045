"""The bibliography: every citation resolves, every entry is cited, and every entry has the form of one.

Nothing here asks the network; that a DOI leads to the right work was checked when the entry was written.
"""

from __future__ import annotations

import re

import pytest
from pybtex.database import BibliographyData, BibliographyDataError, Entry, Person, parse_string

from tests.conftest import ROOT
from tests.site.page_lines import cited_keys, page_lines

SOURCE = (ROOT / "references.bib").read_text(encoding="utf-8")
LAST_YEAR = 2026  # of the works cited: a later one is a misprint until this number is raised on purpose

# Entries without DOI and arXiv id, and why.
NO_IDENTIFIER = {
    "watson1964": "the journal has none; JSTOR's address stands instead",
    "hardle1990": "no source that was read states one",
    "takeda2007": "no source that was read states one",
    "zhang2023d2l": "an open book; its address stands instead",
    "rahimi2007random": "proceedings of NeurIPS carry none",
    "goldberger2004nca": "proceedings of NeurIPS carry none",
    "nayak2019search": "a company's announcement",
    "nvidia_cudasamples_denoising": "source code, pinned to a commit",
    "googlebert_code": "source code, pinned to a commit",
    "nvidia_cudnn_sdpa": "online documentation",
    "statsmodels_kernelreg": "online documentation",
}
# Entries without a year, and why.
NO_YEAR = {
    "googlebert_code": "source code, pinned to a commit",
    "nvidia_cudnn_sdpa": "online documentation, which changes",
    "statsmodels_kernelreg": "online documentation, which changes",
}
REQUIRED = {
    "article": {"author", "title", "journal", "volume", "pages"},
    "inproceedings": {"author", "title", "booktitle"},
    "book": {"author", "title", "publisher"},
    "misc": {"author", "title"},
}
ALLOWED = {"author", "title", "journal", "booktitle", "publisher", "series", "volume", "number", "pages", "year", "doi",
           "eprint", "archivePrefix", "url", "howpublished"}  # fmt: skip
DOI = re.compile(r"10\.\d{4,9}/[-._;()/:A-Za-z0-9]+")
ARXIV = re.compile(r"(\d\d)(0[1-9]|1[0-2])\.\d{4,5}")
PAGES = re.compile(r"(\d+)(?:--(\d+))?")


def entry_faults(key: str, entry: Entry) -> list[str]:
    """Say what is wrong with the form of one entry."""
    fields = dict(entry.fields)
    present = set(fields) | ({"author"} if entry.persons.get("author") else set())
    faults = [f"no {name}" for name in sorted(REQUIRED.get(entry.type, {"a known type of entry"}) - present)]
    faults += [f"field {name!r} is not one of ours" for name in sorted(present - ALLOWED)]
    faults += [f"{name} is empty or unsure: {text!r}" for name, text in fields.items()
               if not text.strip() or re.search(r"\?\?|unverified|todo|to be confirmed", text, re.IGNORECASE)]  # fmt: skip

    year = fields.get("year")
    if year is None:
        faults += [] if key in NO_YEAR else ["no year"]
    elif not (year.isdigit() and 1900 <= int(year) <= LAST_YEAR):
        faults.append(f"year {year!r}")
    named = re.search(r"(\d{4})", key)
    if named and year and not 0 <= int(year) - int(named[1]) <= 1:
        faults.append(f"year {year} does not fit the key")

    if "pages" in fields:
        pages = PAGES.fullmatch(fields["pages"])
        if not pages or pages[2] and int(pages[2]) < int(pages[1]):
            faults.append(f"pages {fields['pages']!r}: write first--last")
    if "doi" in fields and not DOI.fullmatch(fields["doi"]):
        faults.append(f"doi {fields['doi']!r}: write 10.prefix/suffix, without an address")
    if ("eprint" in fields) != (fields.get("archivePrefix") == "arXiv"):
        faults.append("eprint and archivePrefix = {arXiv} belong together")
    if "eprint" in fields:
        arxiv = ARXIV.fullmatch(fields["eprint"])
        if not arxiv:
            faults.append(f"arXiv id {fields['eprint']!r}: write yymm.number")
        elif year and int(year) < 2000 + int(arxiv[1]):
            faults.append(f"arXiv id {fields['eprint']} is younger than the year {year}")
    if "url" in fields and not re.fullmatch(r"https://\S+", fields["url"]):
        faults.append(f"url {fields['url']!r}")

    identified = "doi" in fields or "eprint" in fields
    if not identified and key not in NO_IDENTIFIER:
        faults.append("neither DOI nor arXiv id; add it, or say in NO_IDENTIFIER why there is none")
    return faults


def bibliography(source: str) -> BibliographyData:
    """Parse a bibliography; pybtex refuses duplicate keys and broken syntax."""
    return parse_string(source, "bibtex")


CITED: dict[str, str] = {}
for _line in page_lines():
    for _key in cited_keys(_line.text):
        CITED.setdefault(_key, _line.where)
ENTRIES = bibliography(SOURCE).entries


def test_every_citation_has_an_entry():
    unknown = {key: where for key, where in CITED.items() if key not in ENTRIES}
    assert not unknown, "cited, but not in references.bib: " + ", ".join(f"{key} ({where})" for key, where in unknown.items())


def test_every_entry_is_cited():
    assert len(CITED) > 40, "hardly any citation was found on the pages: is their form still {cite:p}`key`?"
    unused = [key for key in ENTRIES if key not in CITED]
    assert not unused, "cited on no page; cite or delete: " + ", ".join(unused)


@pytest.mark.parametrize("key", ENTRIES)
def test_entry_has_the_form(key):
    faults = entry_faults(key, ENTRIES[key])
    assert not faults, f"references.bib, {key}:\n" + "\n".join(f"  {fault}" for fault in faults)


def test_no_work_stands_twice():
    for name in ("doi", "eprint", "title"):
        seen: dict[str, str] = {}
        for key, entry in ENTRIES.items():
            text = re.sub(r"[^a-z0-9]", "", entry.fields.get(name, "").lower())
            assert not text or text not in seen, f"references.bib: {key} and {seen[text]} have the same {name}"
            seen[text] = key


def test_exceptions_are_in_use():
    identified = [key for key in NO_IDENTIFIER if key not in ENTRIES or {"doi", "eprint"} & set(ENTRIES[key].fields)]
    dated = [key for key in NO_YEAR if key not in ENTRIES or "year" in ENTRIES[key].fields]
    assert not identified + dated, f"no longer an exception: {', '.join(identified + dated)}"


def article(**changes: str | None) -> Entry:
    fields = {"title": "On Estimating Regression", "journal": "Theory", "volume": "9", "pages": "141--142", "year": "1964",
              "doi": "10.1137/1109020"} | changes  # fmt: skip
    return Entry("article", {name: text for name, text in fields.items() if text is not None}, {"author": [Person("Nadaraya, E. A.")]})


def test_the_form_is_accepted():
    assert not entry_faults("nadaraya1964", article())


@pytest.mark.parametrize("changes", [
    {"year": "64"}, {"year": "2031"}, {"year": None}, {"year": "1971"}, {"pages": "141-142"}, {"pages": "142--141"}, {"pages": None},
    {"doi": "https://doi.org/10.1137/1109020"}, {"doi": "1109020"}, {"doi": None}, {"keywords": "core"}, {"note": "seen"},
    {"eprint": "1109020"}, {"eprint": "6404.1234", "archivePrefix": "arXiv"}, {"url": "d2l.ai"}, {"journal": "to be confirmed"},
])  # fmt: skip
def test_another_form_is_refused(changes):
    assert entry_faults("nadaraya1964", article(**changes))


def test_a_duplicate_key_is_refused():
    with pytest.raises(BibliographyDataError):
        bibliography("@misc{a, title={x}}\n@misc{a, title={y}}")
