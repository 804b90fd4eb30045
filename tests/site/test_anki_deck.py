"""The interview page offers its deck, and what it offers can be opened."""

from html.parser import HTMLParser

from _ext.anki_deck import PAGE
from tests.unit.test_anki_deck import reopened


class Links(HTMLParser):
    def __init__(self):
        super().__init__()
        self.downloads = []

    def handle_starttag(self, tag, attrs):
        attrs = dict(attrs)
        if tag == "a" and attrs.get("href", "").endswith(".apkg"):
            self.downloads.append(attrs)


def test_the_interview_page_offers_a_deck_that_opens(site, tmp_path):
    page = site / f"{PAGE}.html"
    links = Links()
    links.feed(page.read_text(encoding="utf-8"))
    assert len(links.downloads) == 1 and "download" in links.downloads[0]
    notes, *_ = reopened(page.parent / links.downloads[0]["href"], tmp_path)
    assert len(notes) == 12
