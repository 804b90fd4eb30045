"""One build of the small book of explorers for all browser tests."""

import pytest

from tests.browser import explorer_book


@pytest.fixture(scope="session")
def explorers(tmp_path_factory):
    """Return the folder of the built book of explorers."""
    return explorer_book.built(tmp_path_factory.mktemp("explorers"))
