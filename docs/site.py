"""The site has the pages of `docs/` and those at the repository's root. Links between them are written for the repository; here they are turned into the site's."""

import re
from pathlib import Path

from mkdocs.structure.files import File

ROOT = Path(__file__).parent.parent
PAGES = ["README", "RESULTS", "PERFORMANCE", "ARCHITECTURE", "CONTRIBUTING", "SECURITY", "CHANGELOG"]
# A word behind a language tells tests what to do with a block.
MARK = re.compile(r"^( *```\w+) \w+$", re.MULTILINE)
LINK = re.compile(r"(!?)\[([^\]]*)\]\(([^)#\s]+)(#[^)\s]*)?\)")


def on_files(files, config):
    for name in PAGES:
        text = (ROOT / f"{name}.md").read_text(encoding="utf-8")
        files.append(File.generated(config, f"{name}.md", content=text))
    return files


def on_page_markdown(markdown, page, config, files):
    source = page.file.src_uri
    at_root = source.removesuffix(".md") in PAGES
    folder = ROOT if at_root else (ROOT / "docs" / source).parent
    up = "../" * source.count("/")

    def link(match):
        image, text, target, anchor = match[1], match[2], match[3], match[4] or ""
        if "://" in target or target.startswith("mailto:"):
            return match[0]
        path = (folder / target).resolve()
        if not path.exists():
            return match[0]  # mkdocs names it, and stops
        inside = path.relative_to(ROOT)
        if inside.parts[0] == "docs":
            return f"{image}[{text}]({up}{inside.relative_to('docs').as_posix()}{anchor})"
        if inside.suffix == ".md" and inside.stem in PAGES and len(inside.parts) == 1:
            return f"{image}[{text}]({up}{inside.name}{anchor})"
        # A file of the repository that is no page.
        return f"{text} (`{inside.as_posix()}`)"

    return LINK.sub(link, MARK.sub(r"\1", markdown))
