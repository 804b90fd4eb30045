"""One build of the small book of explorers for all browser tests."""

from pathlib import Path

import pytest

from tests.browser import explorer_book


@pytest.fixture(scope="session")
def explorers(once, tmp_path_factory):
    """Return the folder of the built book of explorers."""
    return Path(once("explorers", lambda: str(explorer_book.built(tmp_path_factory.mktemp("explorers")))))
