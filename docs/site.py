"""The site has the pages of `docs/` and those at the repository's root. Links between them are written for the repository; here they are turned into the site's."""

import re
from pathlib import Path

from mkdocs.structure.files import File

ROOT = Path(__file__).parent.parent
PAGES = ["README", "RESULTS", "PERFORMANCE", "ARCHITECTURE", "CONTRIBUTING", "SECURITY", "CHANGELOG"]
# A word behind a language tells tests what to do with a block.
MARK = re.compile(r"^( *```\w+) \w+$", re.MULTILINE)
LINK = re.compile(r"(!?)\[([^\]]*)\]\(([^)#\s]+)(#[^)\s]*)?\)")
# Its width is for the repository; the site has room for pictures of telephones as they are.
IMAGE = re.compile(r'<img src="([^"]+)" width="\d+" alt="([^"]+)">')
DRAWN = re.compile(r'<svg [^>]*?width="(\d+)"')
ROW = re.compile(r"^\|.*$", re.MULTILINE)
# A block is as it is printed.
CODE = re.compile(r"<pre.*?</pre>|<code>([^<]*)</code>", re.DOTALL)
OPTION = re.compile(r"(?<!\S)\[?-\S*")
LONG = re.compile(r"\S{21,}")
JOINT = re.compile(r"(?<=[._(/:])(?=\w)")


def on_files(files, config):
    for name in PAGES:
        text = (ROOT / f"{name}.md").read_text(encoding="utf-8")
        files.append(File.generated(config, f"{name}.md", content=text))
        for image, _, target, _ in LINK.findall(text):
            if image and not target.startswith("docs/"):
                files.append(File.generated(config, target, abs_src_path=str(ROOT / target)))
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
        if image:
            # A figure leads to itself, in its own size.
            place = up + (inside.relative_to("docs") if inside.parts[0] == "docs" else inside).as_posix()
            # In less than two thirds of it words cannot be read: where there is no room, it scrolls.
            drawn = DRAWN.match(path.read_text(encoding="utf-8")) if path.suffix == ".svg" else None
            least = f'{{ style="min-width: {0.66 * int(drawn[1]):.0f}px" }}' if drawn else ""
            return f"[![{text}]({place}){least}]({place})"
        shown = files.get_file_from_path(inside.relative_to("docs").as_posix()) if inside.parts[0] == "docs" else None
        if shown and not shown.inclusion.is_excluded():
            return f"[{text}]({up}{shown.src_uri}{anchor})"
        if inside.suffix == ".md" and inside.stem in PAGES and len(inside.parts) == 1:
            return f"[{text}]({up}{inside.name}{anchor})"
        # A file of the repository that is no page.
        name = f"`{inside.as_posix()}`"
        # Its name says where it is, or at least in which folder.
        if inside.as_posix().startswith(text.strip("`")):
            return name
        return f"{text}, {name}" if match.string[: match.start()].endswith("(") else f"{text} ({name})"

    markdown = LINK.sub(link, IMAGE.sub(r"![\2](\1)", MARK.sub(r"\1", markdown)))
    # A number and its error stay together.
    return ROW.sub(lambda row: row[0].replace(" ± ", "\u00a0±\u00a0"), markdown)


def on_page_content(html, page, config, files):
    # A line may end before an option, not inside of it, and between the parts of a long name.
    def broken(code):
        if code[1] is None:
            return code[0]
        parts = LONG.sub(lambda word: JOINT.sub("<wbr>", word[0]), code[1])
        return "<code>" + OPTION.sub(r'<span class="word">\g<0></span>', parts) + "</code>"

    return CODE.sub(broken, html)
