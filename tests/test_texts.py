"""What the program tells users outside the web pages is plain English, as the documents are: refusals, options,
outcomes, commands, notices, errors stored with pages, and the descriptions of the API."""

import ast
import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from crawler.settings.environment import ROOT
from tests.test_docs_prose import AVOIDED

CODE = ROOT / "crawler"
PLACES = (
    *("accounts", "api", "capabilities", "core", "crawls", "exports", "fetcher", "http", "launch", "management"),
    *("manager", "notices", "queueing", "storage", "checks.py"),
)
API_DOCUMENT = ROOT / "tests/golden/__snapshots__/test_interfaces/test_the_document_of_the_api.txt"
FOREIGN = {**AVOIDED, "is no": r"(?<!there )\b(?:is|are) no (?!longer\b|more\b)"}
"""The phrases to avoid; "is no" for "is not a"."""

RIGHT = {"{…} by {…}": "the audit log calls a caller without an account nobody"}
"""Texts with a phrase that is right there, and why."""

WORD = re.compile(r"[A-Za-z]{2,}")


def texts_of(source: str) -> Iterator[str]:
    """The texts of a module with three words or more, each with … for its values. A docstring is none."""
    tree = ast.parse(source)
    parents = {child: node for node in ast.walk(tree) for child in ast.iter_child_nodes(node)}
    for node, parent in parents.items():
        if isinstance(parent, ast.Expr | ast.JoinedStr):
            continue
        text = text_of(node)
        if " " in text and len(WORD.findall(text)) >= 3:
            yield text


def text_of(node: ast.AST) -> str:
    match node:
        case ast.Constant(value=str(text)):
            return text
        case ast.JoinedStr(values=parts):
            return "".join(text_of(part) or "{…}" for part in parts)
    return ""


def foreign(texts: Iterator[str]) -> list[str]:
    """The texts with a phrase to avoid."""
    return [
        f"{name}: {text}"
        for text in texts
        if text not in RIGHT
        for name, pattern in FOREIGN.items()
        if re.search(pattern, re.sub(r"`[^`]+`", "", text), re.IGNORECASE)
    ]


def modules(place: str) -> list[Path]:
    """Of this place; the texts of reports belong to the web pages."""
    path = CODE / place
    found = [path] if path.is_file() else sorted(path.rglob("*.py"))
    return [module for module in found if "reports" not in module.parts and module.name != "reports.py"]


def described(value: object) -> Iterator[str]:
    """The descriptions and summaries in a JSON document, with the help of commands."""
    match value:
        case dict():
            for key, inner in value.items():
                if isinstance(inner, str) and key in ("description", "summary", "help", "epilog"):
                    yield inner
                yield from described(inner)
        case list():
            for inner in value:
                yield from described(inner)


@pytest.mark.parametrize("place", PLACES)
def test_its_texts_are_plain_english(place: str) -> None:
    texts = [text for module in modules(place) for text in texts_of(module.read_text())]
    assert texts
    assert foreign(iter(texts)) == []


def test_the_document_of_the_api_is_plain_english() -> None:
    texts = list(described(json.loads(API_DOCUMENT.read_text())))
    assert len(texts) > 500
    assert foreign(iter(texts)) == []


def test_the_help_of_commands_is_plain_english() -> None:
    texts = list(described(json.loads((CODE / "management/arguments.json").read_text())))
    assert len(texts) > 200
    assert foreign(iter(texts)) == []
