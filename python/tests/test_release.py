"""What is released: crates and the source of the wheel are packed, the site is built with all its links, workflows are what their host reads."""

import re
import shutil
import subprocess
import sys
import tarfile
import tomllib

import pytest
from service import ROOT

MEMBERS = sorted(ROOT.glob("crates/*/Cargo.toml"))


def run(*command):
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def needed(*modules):
    for module in modules:
        pytest.importorskip(module, exc_type=ImportError)


def test_every_crate_is_packed_with_what_it_is_made_of(tmp_path):
    if not shutil.which("cargo"):
        pytest.skip("there is no cargo")
    run("cargo", "package", "--workspace", "--exclude", "truenorth-python", "--no-verify", "--allow-dirty", "--target-dir", str(tmp_path))
    packed = {path.name for path in (tmp_path / "package").glob("*.crate")}
    assert len(packed) == len(MEMBERS) > 10
    for manifest in MEMBERS:
        package = tomllib.loads(manifest.read_text(encoding="utf-8"))["package"]
        with tarfile.open(next((tmp_path / "package").glob(f"{package['name']}-[0-9]*.crate"))) as crate:
            names = {name.partition("/")[2] for name in crate.getnames()}
            root = crate.getnames()[0].partition("/")[0]
            told = tomllib.load(crate.extractfile(f"{root}/Cargo.toml"))["package"]
        sources = {str(path.relative_to(manifest.parent)) for path in (manifest.parent / "src").rglob("*") if path.is_file()}
        assert sources <= names, sources - names
        for field in ("description", "version", "rust-version", "license", "keywords", "categories"):
            assert told.get(field), f"{package['name']}: {field}"


def test_the_source_of_the_wheel_is_packed(tmp_path):
    needed("maturin")
    run(sys.executable, "-m", "maturin", "sdist", "--manifest-path", "python/Cargo.toml", "--out", str(tmp_path))
    (packed,) = tmp_path.glob("truenorth-*.tar.gz")
    with tarfile.open(packed) as source:
        names = {name.partition("/")[2] for name in source.getnames()}
    assert {"pyproject.toml", "Cargo.lock", "crates/truenorth/src/lib.rs", "truenorth/__init__.py"} <= names


def test_the_site_is_built_and_every_link_of_it_leads_somewhere(tmp_path):
    needed("mkdocs", "material")
    run(sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", str(tmp_path / "site"))
    pages = [page.read_text(encoding="utf-8") for page in (tmp_path / "site").rglob("*.html")]
    # A fence that is shown is a block that was not understood.
    assert len(pages) > 20 and not any("```" in page for page in pages)
    # Pictures that are written as HTML are none that mkdocs looks at.
    shown = 0
    for page in (tmp_path / "site").rglob("*.html"):
        text = page.read_text(encoding="utf-8")
        for source in re.findall(r'<img [^>]*src="([^"]+)"', text):
            assert source.startswith(("data:", "http")) or (page.parent / source).is_file(), f"{page}: {source}"
            shown += 1
        for link in re.findall(r'<a [^>]*href="([^"#?]+)', text):
            target = page.parent / link
            elsewhere = "://" in link or link.startswith(("mailto:", "/"))
            assert elsewhere or target.is_file() or (target / "index.html").is_file(), f"{page}: {link}"
        # What is printed is shown as it is printed.
        assert not re.search(r'<wbr>|class="word"', "".join(re.findall(r"<pre.*?</pre>", text, re.DOTALL))), page
    assert shown > 10


def test_every_page_of_the_site_fits_a_telephone(tmp_path):
    needed("mkdocs", "material")
    browser = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    if browser is None:
        pytest.skip("there is no browser")
    site = tmp_path / "site"
    run(sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", str(site))
    pages = sorted(str(page.relative_to(site)) for page in site.rglob("*.html"))
    frames = "".join(f'<iframe width="360" height="800" src="{page}"></iframe>' for page in pages)
    look = """addEventListener("load", () => document.body.replaceChildren(...[...document.querySelectorAll("iframe")].map(frame => {
        const line = document.createElement("p"), inside = frame.contentDocument;
        const widths = [inside.documentElement.scrollWidth, inside.defaultView.innerWidth];
        line.textContent = `${frame.getAttribute("src")} ${widths.join(" ")}`;
        return line;
    })));"""
    (site / "all.html").write_text(f"<!doctype html><body>{frames}<script>{look}</script>", encoding="utf-8")
    flags = ["--headless", "--no-sandbox", "--disable-gpu", "--allow-file-access-from-files", f"--user-data-dir={tmp_path / 'profile'}"]
    command = [browser, *flags, "--dump-dom", f"file://{site / 'all.html'}"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=True)
    seen = re.findall(r"<p>(\S+) (\d+) (\d+)</p>", done.stdout)
    assert [page for page, *_ in seen] == pages, done.stdout[-2000:] + done.stderr[-2000:]
    assert {inner for *_, inner in seen} == {"360"}
    assert [page for page, wide, inner in seen if int(wide) > int(inner)] == []


def test_workflows_and_forms_are_what_their_host_reads():
    needed("check_jsonschema")
    check = [sys.executable, "-m", "check_jsonschema", "--builtin-schema"]
    workflows = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
    assert workflows
    run(*check, "vendor.github-workflows", *map(str, workflows))
