"""The tutorial, as a page and as a notebook, which is run from its first cell to its last."""

import importlib.util
import json
import os
import re
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest
from service import ROOT, binary

NOTEBOOK = ROOT / "docs" / "tutorial.ipynb"
# Libraries of notebooks warn about each other, so they have a process of their own.
EXECUTE = """
import sys, nbclient, nbformat
notebook = nbformat.read(sys.argv[1], as_version=4)
nbclient.NotebookClient(notebook, timeout=120, kernel_name="python3").execute()
nbformat.write(notebook, sys.argv[1])
"""


def test_the_notebook_has_the_blocks_of_the_page():
    place = importlib.util.spec_from_file_location("notebook", ROOT / "docs" / "notebook.py")
    maker = importlib.util.module_from_spec(place)
    place.loader.exec_module(maker)
    assert NOTEBOOK.read_text(encoding="utf-8") == maker.text(), "python docs/notebook.py makes it anew"


def test_the_notebook_runs(tmp_path):
    pytest.importorskip("nbclient")
    pytest.importorskip("ipykernel")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    copy = tmp_path / "tutorial.ipynb"
    copy.write_text(NOTEBOOK.read_text(encoding="utf-8").replace("8701", str(port)), encoding="utf-8")
    path = os.pathsep.join([str(Path(binary()).parent), str(Path(sys.executable).parent), os.environ["PATH"]])
    start = time.perf_counter()
    done = subprocess.run(
        [sys.executable, "-c", EXECUTE, str(copy)],
        cwd=tmp_path, env={**os.environ, "PATH": path}, capture_output=True, text=True, timeout=170, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-3000:]
    took = time.perf_counter() - start
    cells = json.loads(copy.read_text(encoding="utf-8"))["cells"]
    texts = [output.get("text", "") for cell in cells for output in cell.get("outputs", [])]
    said = "".join("".join(text) for text in texts)
    # Sunscreen is found out, the rival raises an alarm, and games are dropped in the new season.
    first, last = map(int, re.search(r"sunscreen among the first 100: (\d+) and among the last 100: (\d+)", said).groups())
    assert first > last + 5 and last < 10, said
    before, after = map(int, re.search(r"games among the first 100: (\d+) and among the last 100: (\d+)", said).groups())
    assert before > after + 5, said
    assert re.search(r"^The live world has moved on", said, re.MULTILINE), said
    assert took < 60, f"{took:.0f} s"
