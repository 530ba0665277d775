"""What a release needs to agree on: the tag, the version of the workspace, and the changelog.

`release.py --tag v1.2.3` refuses a tag that is not the version or has no section in CHANGELOG.md; `--notes v1.2.3` prints
that section; `--test` checks these rules.
"""

import re
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def notes(changelog: str, version: str) -> str:
    """The section of a version; empty if there is none."""
    found = re.search(rf"^## {re.escape(version)}(?![.\w]).*?\n(.*?)(?=^## |\Z)", changelog, flags=re.MULTILINE | re.DOTALL)
    return found[1].strip() if found else ""


def problem(tag: str, version: str, changelog: str) -> str | None:
    """Why a tag cannot be released."""
    if tag != f"v{version}":
        return f"the tag is {tag}, but Cargo.toml says {version}: tag v{version}"
    if not notes(changelog, version):
        return f"CHANGELOG.md has no section for {version}: rename Unreleased"
    return None


def test() -> None:
    """The rules refuse what they should."""
    changelog = "# Changelog\n\n## Unreleased\n\n- new\n\n## 1.2.0 - 2026-01-02\n\n- old\n\n## 1.1.0\n\n- older\n"
    assert notes(changelog, "1.2.0") == "- old"
    assert notes(changelog, "1.1.0") == "- older"
    assert notes(changelog, "1.1") == ""
    assert problem("v1.2.0", "1.2.0", changelog) is None
    assert problem("v1.2.0", "1.3.0", changelog) == "the tag is v1.2.0, but Cargo.toml says 1.3.0: tag v1.3.0"
    assert problem("v1.3.0", "1.3.0", changelog) == "CHANGELOG.md has no section for 1.3.0: rename Unreleased"


def main() -> None:
    """Checks a tag, or prints its notes."""
    if sys.argv[1:] == ["--test"]:
        return test()
    with open(ROOT / "Cargo.toml", "rb") as manifest:
        version = tomllib.load(manifest)["workspace"]["package"]["version"]
    changelog = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    match sys.argv[1:]:
        case ["--tag", tag]:
            sys.exit(problem(tag, version, changelog))
        case ["--notes", tag]:
            print(notes(changelog, tag.removeprefix("v")))
        case _:
            sys.exit("expected --tag TAG, --notes TAG or --test")


if __name__ == "__main__":
    main()
