"""Makes tutorial.ipynb of tutorial.md, whose blocks are its cells: `python docs/notebook.py`."""

import json
import re
from pathlib import Path

FOLDER = Path(__file__).parent
BLOCK = re.compile(r"^```(.*)\n((?:.*\n)*?)```\n", re.MULTILINE)
# What a block's language is in a notebook.
MAGIC = {"python": "", "sh": "%%sh\n", "sh background": "%%sh --bg\n"}


def cells(page):
    """Text and code, in the order of the page."""
    end = 0
    for block in BLOCK.finditer(page):
        yield "markdown", page[end : block.start()].strip()
        yield "code", MAGIC[block[1]] + block[2].strip()
        end = block.end()
    yield "markdown", page[end:].strip()


def notebook(page):
    made = []
    for kind, text in cells(page):
        if text:
            cell = {"cell_type": kind, "id": f"cell-{len(made)}", "metadata": {}, "source": text.splitlines(keepends=True)}
            made.append(cell | ({"execution_count": None, "outputs": []} if kind == "code" else {}))
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    return {"cells": made, "metadata": {"kernelspec": kernel}, "nbformat": 4, "nbformat_minor": 5}


def text():
    page = (FOLDER / "tutorial.md").read_text(encoding="utf-8")
    return json.dumps(notebook(page), indent=1, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    (FOLDER / "tutorial.ipynb").write_text(text(), encoding="utf-8")
