"""Puts the pages of the site together: `docs/`, a few files beside it, and what is generated from the program.

`python site/pages.py PROGRAM FOLDER [SHIM]` writes pages and a configuration into FOLDER. With SHIM, the script of the npm
package iframe-worker, the search also works where pages are opened as files, without a server. Links between pages stay, links to
other files of the repository lead to its address, and any other link is an error, also in the READMEs, which are not
pages. A page in `docs/` that NAVIGATION does not have comes last, under "More".
"""

import re
import shutil
import sys
import tomllib
from pathlib import Path

import references

ROOT = Path(__file__).resolve().parents[1]

#: The titles and pages of the site. Those that are not there yet are left out.
NAVIGATION = {
    "Start": ["docs/index.md", "docs/install.md", "docs/concepts.md"],
    "Tutorials": ["docs/tutorial.md", "docs/tutorial-text.md", "docs/tutorial-tables.md", "docs/page.md"],
    "How to": [
        "docs/how-to/add-a-class.md",
        "docs/how-to/take-back.md",
        "docs/how-to/merge-sites.md",
        "docs/how-to/behind-a-proxy.md",
        "docs/how-to/scale-out.md",
        "docs/how-to/reject.md",
        "docs/how-to/onnx.md",
        "docs/how-to/watch.md",
        "docs/open-world.md",
        "docs/suspect.md",
        "docs/streams.md",
        "docs/connected.md",
        "docs/integrations.md",
        "docs/examples.md",
    ],
    "Reference": [
        "docs/command-line.md",
        "reference/cli.md",
        "docs/python.md",
        "reference/python.md",
        "docs/server.md",
        "reference/http.md",
        "docs/tables.md",
        "docs/record.md",
        "docs/privacy.md",
        "docs/scale.md",
    ],
    "Method and figures": [
        "docs/paper.md",
        "docs/method.md",
        "docs/accuracy.md",
        "docs/rivals.md",
        "docs/performance.md",
        "docs/reproduction.md",
        "docs/reproduction-tables.md",
        "docs/tested.md",
    ],
    "Project": ["CHANGELOG.md", "CONTRIBUTING.md", "ARCHITECTURE.md", "SECURITY.md", "CODE_OF_CONDUCT.md"],
}

#: Documents that are no pages, but whose links must be right as well.
BESIDE = ["README.md", "python/README.md", "crates/*/README.md"]

#: What the script for searches in files is called in the site; the theme knows it by this name.
SHIM = "iframe-worker.js"

LINK = re.compile(r"(!?\[[^\]]*\]\()([^)\s]+)(\))")
FENCE = re.compile(r"^```.*?^```", flags=re.MULTILINE | re.DOTALL)


def anchors(text: str) -> set[str]:
    """The anchors of the headings of a document, as forges make them."""
    headings = re.findall(r"^#{1,6} (.*)$", FENCE.sub("", text), flags=re.MULTILINE)
    plain = [re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).lower() for heading in headings]
    return {re.sub(r"[^\w\- ]", "", heading).strip().replace(" ", "-") for heading in plain}


class Links:
    """Checks the links of documents, and turns them into those of the site."""

    def __init__(self, pages: set[Path], repository: str):
        self.pages, self.repository, self.dead = pages, repository, []

    def of_page(self, source: Path, text: str) -> str:
        """The text of a document with the links of the site."""
        pieces, end = [], 0
        for fence in FENCE.finditer(text):
            pieces += [self._rewritten(source, text[end : fence.start()]), fence[0]]
            end = fence.end()
        return "".join(pieces) + self._rewritten(source, text[end:])

    def _rewritten(self, source: Path, text: str) -> str:
        return LINK.sub(lambda link: link[1] + self._target(source, link[2]) + link[3], text)

    def _target(self, source: Path, target: str) -> str:
        if re.match(r"[a-z]+:", target):
            return target
        path, _, anchor = target.partition("#")
        file = (source.parent / path).resolve() if path else source
        if not file.exists() or not file.is_relative_to(ROOT):
            self.dead.append(f"{source.relative_to(ROOT)}: {target} is not there")
            return target
        if anchor and file.suffix == ".md" and anchor not in anchors(file.read_text(encoding="utf-8")):
            self.dead.append(f"{source.relative_to(ROOT)}: {target} has no such heading")
        if file in self.pages or file.suffix in {".svg", ".png", ".gif"}:
            return ascend(place(source), place(file)) + (f"#{anchor}" if anchor else "")
        kind = "tree" if file.is_dir() else "blob"
        return f"{self.repository}/{kind}/main/{file.relative_to(ROOT)}" + (f"#{anchor}" if anchor else "")


def place(file: Path) -> Path:
    """Where a file of the repository lies in the site."""
    path = file.relative_to(ROOT)
    return path.relative_to("docs") if path.parts[0] == "docs" else path


def ascend(source: Path, target: Path) -> str:
    """The path from one page to another."""
    return "../" * (len(source.parts) - 1) + target.as_posix()


def navigation(generated: dict[str, str]) -> tuple[list[Path], str]:
    """The documents that are pages, and the navigation as YAML."""
    documents, lines = [], ["nav:"]
    listed = {name for names in NAVIGATION.values() for name in names}
    others = {path.relative_to(ROOT).as_posix() for path in (ROOT / "docs").rglob("*.md")} - listed
    for title, names in [*NAVIGATION.items(), *([("More", sorted(others))] if others else [])]:
        found = [name for name in names if name in generated or (ROOT / name).exists()]
        lines.append(f"  - {title}:")
        lines += [f"      - {name.removeprefix('docs/')}" for name in found]
        documents += [ROOT / name for name in found if name not in generated]
    return documents, "\n".join(lines) + "\n"


def configuration(folder: Path, nav: str, shims: list[str]) -> str:
    """The configuration of the site, with its places."""
    searched_as_files = "  offline: {}\n" if shims else ""
    return f"""INHERIT: {ROOT / "site/mkdocs.yml"}
docs_dir: {folder / "pages"}
site_dir: {folder / "site"}
plugins:
  mkdocstrings:
    handlers:
      python:
        paths: [{ROOT / "python"}]
{searched_as_files}extra:
  polyfills: {shims}
{nav}"""


def main() -> None:
    """Writes everything."""
    program, folder = sys.argv[1], Path(sys.argv[2]).resolve()
    with open(ROOT / "Cargo.toml", "rb") as manifest:
        repository = tomllib.load(manifest)["workspace"]["package"]["repository"]
    generated = {f"reference/{name}.md": text for name, text in references.all_of(ROOT, program).items()}
    documents, nav = navigation(generated)
    shutil.rmtree(folder, ignore_errors=True)
    links = Links(set(documents), repository)
    pages = folder / "pages"
    for document in documents:
        path = pages / place(document)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(links.of_page(document, document.read_text(encoding="utf-8")), encoding="utf-8")
    for name, text in generated.items():
        path = pages / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    for picture in [file for kind in ("svg", "png", "gif") for file in (ROOT / "docs").rglob(f"*.{kind}")]:
        shutil.copy(picture, pages / place(picture))
    shutil.copy(ROOT / "site/site.css", pages)
    shims = [Path(path) for path in sys.argv[3:]]
    for shim in shims:
        shutil.copy(shim, pages / SHIM)
    for pattern in BESIDE:
        for document in ROOT.glob(pattern):
            links.of_page(document, document.read_text(encoding="utf-8"))
    if links.dead:
        sys.exit("\n".join(links.dead))
    (folder / "mkdocs.yml").write_text(configuration(folder, nav, [SHIM] * len(shims)), encoding="utf-8")
    print(f"{len(documents) + len(generated)} pages")


if __name__ == "__main__":
    main()
