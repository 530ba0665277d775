"""Reference pages that are generated: commands from the program, Python from its docstrings, HTTP from its OpenAPI."""

import ast
import json
import os
import subprocess
from pathlib import Path


def all_of(root: Path, program: str) -> dict[str, str]:
    """The pages by their names."""
    document = json.loads((root / "crates/autoactivator-server/src/openapi.json").read_text(encoding="utf-8"))
    return {"cli": commands(program), "python": python(root / "python/autoactivator"), "http": http(document)}


def commands(program: str) -> str:
    """The help of every command."""
    lines = ["# Commands", "", "Printed by `autoactivator COMMAND --help-all`.", ""]
    for words in below(program, []):
        lines += [f"## `{' '.join(['autoactivator', *words])}`", "", "```text", helped(program, words), "```", ""]
    return "\n".join(lines)


def below(program: str, words: list[str]) -> list[list[str]]:
    """A command and those below it."""
    found = [words]
    text = helped(program, words)
    if "\nCommands:\n" in text:
        listed = text.split("\nCommands:\n")[1].split("\n\n")[0].splitlines()
        names = [line.split()[0] for line in listed if line[2:3].strip()]
        for name in names:
            if name != "help":
                found += below(program, [*words, name])
    return found


def helped(program: str, words: list[str]) -> str:
    """The help of a command, as on a narrow terminal."""
    plain = os.environ | {"COLUMNS": "88", "NO_COLOR": "1"}
    done = subprocess.run([program, *words, "--help-all"], check=True, capture_output=True, text=True, env=plain)
    return "\n".join(line.rstrip() for line in done.stdout.strip().splitlines())


def python(package: Path) -> str:
    """Directives for everything public: what the package and its public modules export."""
    lines = ["# Python", "", "What `autoactivator` has, from its docstrings. The [tour](../python.md) shows it at work.", ""]
    exported = names(package / "__init__.py")
    modules = {path.stem for path in package.glob("*.py")} | {path.parent.name for path in package.glob("*/__init__.py")}
    for name in exported:
        if not name.startswith("__") and name not in modules:
            lines += [f"::: autoactivator.{name}", ""]
    for module in sorted(modules):
        path = package / f"{module}.py" if (package / f"{module}.py").exists() else package / module / "__init__.py"
        if module in exported or (module not in INTERNAL and not module.startswith("_")):
            lines += [f"::: autoactivator.{module}", options(path), ""]
    return "\n".join(lines)


#: Modules whose classes are exported by the package itself, or that only others of its modules use.
INTERNAL = {"client", "consolidation", "deployed", "learner", "lists", "reactivation", "rows", "snapshot", "summary", "text"}


def names(path: Path) -> list[str]:
    """The names in `__all__` of a module."""
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__":
            return ast.literal_eval(node.value)
    return []


def options(path: Path) -> str:
    """Only what a module exports is shown, where it says what that is."""
    exported = names(path)
    return f"    options:\n      members: {json.dumps(exported)}\n" if exported else ""


def http(document: dict) -> str:
    """Every route: who may use it, what it takes, and what it answers."""
    lines = ["# HTTP", "", document["info"].get("description", ""), ""]
    lines += ["From the OpenAPI document, which a server has at `/openapi.json`. [The server](../server.md) has examples.", ""]
    for path, methods in document["paths"].items():
        for method, route in methods.items():
            if method in {"get", "post", "put", "delete", "patch"}:
                lines += operation(document, f"{method.upper()} {path}", methods.get("parameters", []), route)
    lines += ["## What is sent and answered", ""]
    for name, schema in document["components"]["schemas"].items():
        lines += [f"### {name}", "", schema.get("description", ""), "", *(fields(schema) or [f"Type: {kind(schema)}"]), ""]
    return "\n".join(lines)


def operation(document: dict, title: str, shared: list, route: dict) -> list[str]:
    """One route."""
    lines = [f"## `{title}`", "", f"**{route['summary']}.**" if "summary" in route else "", "", route.get("description", ""), ""]
    parameters = [resolved(document, parameter) for parameter in [*shared, *route.get("parameters", [])]]
    if parameters:
        lines += ["| parameter | in | |", "|---|---|---|"]
        lines += [row(f"`{p['name']}`", p["in"], p.get("description", kind(p.get("schema", {})))) for p in parameters]
        lines.append("")
    for media, body in route.get("requestBody", {}).get("content", {}).items():
        lines += [f"Takes `{media}`: {kind(body['schema'])}", "", *fields(body["schema"]), ""]
    lines += ["| answer | |", "|---|---|"]
    for status, response in route["responses"].items():
        response = resolved(document, response)
        kinds = [kind(content["schema"]) for content in response.get("content", {}).values() if "schema" in content]
        told = f" ({', '.join(kinds)})" if kinds and status.startswith("2") else ""
        lines.append(row(status, response.get("description", "") + told))
    return [*lines, ""]


def resolved(document: dict, thing: dict) -> dict:
    """What a reference stands for."""
    for word in thing.get("$ref", "#").split("/")[1:]:
        document = document[word]
    return document if "$ref" in thing else thing


def kind(schema: dict) -> str:
    """A schema in few words."""
    if "$ref" in schema:
        name = schema["$ref"].split("/")[-1]
        return f"[{name}](#{name.lower()})"
    if "enum" in schema:
        return " or ".join(f"`{json.dumps(value)}`" for value in schema["enum"])
    if "const" in schema:
        return f"`{json.dumps(schema['const'])}`"
    for words in ("oneOf", "anyOf", "allOf"):
        if words in schema:
            return (" and " if words == "allOf" else " or ").join(dict.fromkeys(kind(part) for part in schema[words]))
    types = schema.get("type", "anything")
    said = " or ".join(types) if isinstance(types, list) else types
    return f"list of {kind(schema['items'])}" if "items" in schema else said


def fields(schema: dict) -> list[str]:
    """The fields of an object as a table."""
    properties = dict(schema.get("properties", {}))
    required = set(schema.get("required", []))
    for part in [part for words in ("allOf", "oneOf", "anyOf") for part in schema.get(words, [])]:
        properties |= part.get("properties", {})
    if not properties:
        return []
    rows = [row(f"`{name}`" + ("" if name in required else " (optional)"), kind(field), field.get("description", "")) for name, field in properties.items()]
    return ["| field | type | |", "|---|---|---|", *rows]


def row(*cells: str) -> str:
    """A row of a table."""
    return "| " + " | ".join(" ".join(cell.replace("|", "\\|").split()) for cell in cells) + " |"
