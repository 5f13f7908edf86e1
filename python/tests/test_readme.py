"""The README's Python runs as it stands and prints what the README says. Its shell and Rust are run by `crates/cli/tests/it/readme.rs`."""

import re
import subprocess
import sys

from service import ROOT, binary

BLOCK = re.compile(r"^```(\w+)\n((?:.*\n)*?)```\n", re.MULTILINE)


def test_every_block_of_python_runs_and_prints_what_the_readme_says(tmp_path):
    # The files that the README's first block makes.
    subprocess.run([binary(), "demo"], cwd=tmp_path, capture_output=True, check=True, timeout=120)
    blocks = BLOCK.findall((ROOT / "README.md").read_text(encoding="utf-8"))
    follow = [*blocks[1:], ("", "")]
    ran = 0
    for (language, block), (shown, output) in zip(blocks, follow, strict=True):
        if language == "python":
            done = subprocess.run(
                [sys.executable, "-W", "error", "-c", block],
                cwd=tmp_path, capture_output=True, text=True, timeout=120, check=False,
            )  # fmt: skip
            assert done.returncode == 0, done.stderr
            assert shown == "text" and done.stdout == output
            ran += 1
    assert ran > 0


def test_pages_are_short_enough_to_be_read():
    pages = {"README.md": 900, "ARCHITECTURE.md": 2000, "docs/personalizer.md": 500}
    pages |= {str(page.relative_to(ROOT)): 500 for page in (ROOT / "docs" / "howto").glob("*.md")}
    words = {page: len((ROOT / page).read_text(encoding="utf-8").split()) for page in pages}
    assert len(pages) >= 7 and all(words[page] < most for page, most in pages.items()), words
