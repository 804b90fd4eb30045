"""A notebook opened and run in a real JupyterLab: for the tests of the live figures, and for their benchmark."""

import os
import re
import secrets
import subprocess
import sys
import threading
from contextlib import contextmanager
from pathlib import Path

# From a slider's event to the new drawing; a move of the query changes the marks, any move the weights.
TIMES = """async ([i, name, moves]) => {
  const cell = document.querySelectorAll('.jp-Notebook .jp-Cell')[i];
  const handle = [...cell.querySelectorAll('.widget-slider')].find((s) => s.textContent.includes(name)).querySelector('.noUi-handle');
  const marks = cell.querySelector('[data-role=keys]');
  const times = [];
  for (let m = 0; m < moves; m++) {
    const drawn = new Promise((done) => new MutationObserver((_, observer) => (observer.disconnect(), done(performance.now()))).observe(marks, { attributeFilter: ['d'], subtree: true }));
    const start = performance.now();
    handle.dispatchEvent(new KeyboardEvent('keydown', { key: m % 2 ? 'ArrowRight' : 'ArrowLeft', bubbles: true, cancelable: true }));
    await drawn;
    cell.getBoundingClientRect();
    times.push(performance.now() - start);
  }
  return times.sort((a, b) => a - b);
}"""

# Jupyter's server leaves Nagle's algorithm on: beside a browser that delays its acknowledgement, a short
# message waits 40 ms for the one before. This starts the same server without.
PROMPT = """from tornado.iostream import IOStream
set_nodelay = IOStream.set_nodelay
IOStream.set_nodelay = lambda stream, _: set_nodelay(stream, True)
from jupyterlab.labapp import main
main()"""


@contextmanager
def served(folder: Path, prompt: bool = False):
    """Start JupyterLab for `folder/live.ipynb` on a free port of the loopback, with a token; end it by its process."""
    runtime, token = folder / "runtime", secrets.token_hex(16)
    environment = {"JUPYTER_RUNTIME_DIR": str(runtime), "JUPYTER_CONFIG_DIR": str(folder / "config"), "JUPYTERLAB_SETTINGS_DIR": str(folder / "settings"),
                   "JUPYTERLAB_WORKSPACES_DIR": str(folder / "workspaces"), "IPYTHONDIR": str(folder / "ipython")}  # fmt: skip
    command = [sys.executable, *(["-c", PROMPT] if prompt else ["-m", "jupyterlab"]), "--no-browser", "--allow-root", "--ip=127.0.0.1", "--port=0", "--ServerApp.port_retries=0",
               f"--IdentityProvider.token={token}", f"--ServerApp.root_dir={folder}", "--LabApp.news_url=None", "--LabApp.check_for_updates_class=jupyterlab.NeverCheckForUpdate"]  # fmt: skip
    process = subprocess.Popen(command, cwd=folder, env=os.environ | environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    try:
        lines = []
        for line in process.stdout:  # blocks until the server says where it is
            lines.append(line)
            found = re.search(r"http://127\.0\.0\.1:(\d+)/lab", line)
            if found:
                break
        else:
            raise RuntimeError("JupyterLab ended:\n" + "".join(lines))
        threading.Thread(target=lambda: [None for _ in process.stdout], daemon=True).start()
        yield f"http://127.0.0.1:{found[1]}/lab/tree/live.ipynb?reset&token={token}"
    finally:
        process.terminate()
        try:
            process.wait(15)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        process.stdout.close()


def run_all(page, address: str, cells: int):
    """Open the notebook, and run its cells once the kernel is there."""
    page.goto(address)
    page.wait_for_function("(n) => document.querySelectorAll('.jp-Notebook .jp-Cell').length === n", arg=cells, timeout=60_000)
    page.locator(".jp-Notebook-ExecutionIndicator[data-status=idle]").wait_for(timeout=60_000)
    page.get_by_role("menuitem", name="Run", exact=True).click()
    page.get_by_role("menuitem", name="Run All Cells", exact=True).click()
