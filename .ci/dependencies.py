"""Refuses dependencies of a licence that `deny.toml` does not allow, or from anywhere but the one registry.

Every crate that Cargo.lock names must come from the registry, with a checksum, and under a licence that is allowed.
`python3 .ci/dependencies.py CARGO.TOML ...` checks those workspaces; `--test` checks the rules themselves.
"""

import json
import re
import subprocess
import sys
import tomllib
from pathlib import Path

HERE = Path(__file__).resolve().parent.parent


def is_allowed(expression: str, allowed: set[str]) -> bool:
    """Whether an SPDX expression can be met with the licences allowed; `/` is an old way to write OR."""
    words = re.findall(r"[()]|[^\s()]+", expression.replace("/", " OR "))
    place = 0

    def licence() -> bool:
        nonlocal place
        if words[place] == "(":
            place += 1
            met = either()
            place += 1  # The closing parenthesis.
            return met
        name = words[place]
        place += 1
        if place < len(words) and words[place] == "WITH":
            name += f" WITH {words[place + 1]}"
            place += 2
        return name in allowed

    def both() -> bool:
        nonlocal place
        met = licence()
        while place < len(words) and words[place] == "AND":
            place += 1
            met &= licence()
        return met

    def either() -> bool:
        nonlocal place
        met = both()
        while place < len(words) and words[place] == "OR":
            place += 1
            met |= both()
        return met

    return either()


def problems(packages: list[dict], locked: list[dict], allowed: set[str]) -> list[str]:
    """What is wrong with the packages of a workspace and of its lock file."""
    found = []
    for package in packages:
        licence = package["license"] or "no licence"
        if not is_allowed(licence, allowed):
            found.append(f"{package['name']} {package['version']} has the licence {licence}, which deny.toml does not allow")
    sources = {package["source"] for package in locked if "source" in package}
    others = [source for source in sources if not source.startswith("registry+")]
    if others or len(sources) > 1:
        found.append(f"there are other sources than the registry: {', '.join(sorted(sources))}")
    unchecked = [package["name"] for package in locked if "source" in package and "checksum" not in package]
    found.extend(f"{name} has no checksum in Cargo.lock" for name in unchecked)
    return found


def check(manifest: Path, allowed: set[str]) -> list[str]:
    """Checks one workspace."""
    command = ["cargo", "metadata", "--format-version", "1", "--locked", "--manifest-path", str(manifest)]
    metadata = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    with open(manifest.parent / "Cargo.lock", "rb") as lock:
        locked = tomllib.load(lock)["package"]
    packages = [package for package in metadata["packages"] if package["source"]]
    found = problems(packages, locked, allowed)
    print(f"{manifest}: {len(packages)} crates of others, {len(found)} problems")
    return found


def test() -> None:
    """The rules refuse what they should."""
    allowed = {"MIT", "Apache-2.0", "Apache-2.0 WITH LLVM-exception"}
    assert is_allowed("MIT", allowed)
    assert is_allowed("GPL-3.0/MIT", allowed)
    assert is_allowed("(GPL-3.0 OR MIT) AND Apache-2.0", allowed)
    assert is_allowed("Apache-2.0 WITH LLVM-exception", allowed)
    assert not is_allowed("MIT AND GPL-3.0", allowed)
    assert not is_allowed("(MIT OR Zlib) AND GPL-3.0", allowed)
    assert not is_allowed("MIT WITH something", allowed)
    assert not is_allowed("no licence", allowed)
    good = {"name": "a", "version": "1", "license": "MIT", "source": "registry+one", "checksum": "0"}
    assert not problems([good], [good, {"name": "ours"}], allowed)
    for change in [{"license": None}, {"license": "GPL-3.0"}]:
        assert len(problems([good | change], [good], allowed)) == 1, change
    from_git = good | {"source": "git+somewhere"}
    assert len(problems([good], [from_git], allowed)) == 1
    assert len(problems([good], [good, good | {"source": "registry+two"}], allowed)) == 1
    assert len(problems([good], [{"name": "a", "source": "registry+one"}], allowed)) == 1


def main() -> None:
    """Checks all workspaces."""
    if sys.argv[1:] == ["--test"]:
        return test()
    with open(HERE / "deny.toml", "rb") as rules:
        allowed = set(tomllib.load(rules)["licenses"]["allow"])
    found = [problem for manifest in sys.argv[1:] for problem in check(Path(manifest), allowed)]
    sys.exit("\n".join(found) if found else None)


if __name__ == "__main__":
    main()
