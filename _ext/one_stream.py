"""Join the pieces in which a kernel sends the text of one cell, so that two builds write the same page.

A busy machine delivers one `print` in several messages. MyST-NB's own merging drops blank lines at the seams;
nbclient's keeps every character but is off by default, and no setting of MyST-NB or jupyter-cache reaches it.
"""

from __future__ import annotations

from functools import wraps

from nbclient import NotebookClient


def setup(app):
    original = NotebookClient.__init__

    @wraps(original)
    def init(self, *args, **kwargs):
        original(self, *args, **{"coalesce_streams": True, **kwargs})

    NotebookClient.__init__ = init
    return {"parallel_read_safe": True, "parallel_write_safe": True}
