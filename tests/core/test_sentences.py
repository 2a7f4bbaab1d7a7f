"""A sentence in core is that of a refusal or of a catalogue; see "A refusal stands with its rule" in
docs/decisions/structure.md."""

import ast
import re
from collections.abc import Iterator

import pytest

from crawler.settings.environment import ROOT

CORE = ROOT / "crawler" / "core"
CATALOGUES = (
    "access/credentials.py",
    "channels/",
    "errors.py",
    "html/charsets.py",  # labels of encodings
    "installation/backpressure.py",  # what Redis and databases say
    "options/",
    "pages/outcomes.py",
    "pages/page_fields.py",
    "text/sanitize.py",  # what stands for a number in a refusal
    "url_lists/reader.py",  # the faults of a line
    "urls/special_addresses.py",  # names of blocks
)
REFUSALS = (
    *("BadInput", "OverQuota", "bad_url", "Invalid", "BadValue", "NewerMessage"),
    *("Broken", "MarkedYAMLError", "ValueError", "TypeError"),
)
SENTENCE = re.compile(r"(?<![\w.-])[a-z]{2,} [a-z]+(?![\w-])")  # two of its words


def stray_sentences(source: str) -> list[str]:
    """The sentences of a module that belong to no refusal: neither to its arguments, nor to what these name."""
    tree = ast.parse(source)
    parents = {child: node for node in ast.walk(tree) for child in ast.iter_child_nodes(node)}
    accepted = set[ast.AST]()
    pending = [node for node in parents if name_of(node) in REFUSALS]
    while pending:
        for node in ast.walk(pending.pop()):
            if node not in accepted:
                accepted.add(node)
                pending += meant(node, parents) if isinstance(node, ast.Name) else ()
    texts = {node: text_of(node) for node, parent in parents.items() if node not in accepted and not is_aside(parent)}
    return [text for text in texts.values() if text.count(" ") >= 2 and SENTENCE.search(text)]


def name_of(node: ast.AST) -> str:
    """What a call calls."""
    match node:
        case ast.Call(func=ast.Name(id=name)) | ast.Call(func=ast.Attribute(attr=name)):
            return name
    return ""


def is_aside(parent: ast.AST) -> bool:
    """Whether what is in it is a docstring, a part of a longer text, or a pattern with comments."""
    return isinstance(parent, ast.Expr | ast.JoinedStr) or name_of(parent) == "compile"


def meant(name: ast.Name, parents: dict[ast.AST, ast.AST]) -> Iterator[ast.AST]:
    """What has this name, in the function around it and in the module."""
    scope: ast.AST | None = name
    while scope := parents.get(scope):
        match scope:
            case ast.FunctionDef():
                nodes = ast.walk(scope)
            case ast.Module():
                nodes = ast.iter_child_nodes(scope)
            case _:
                continue
        for node in nodes:
            match node:
                case ast.FunctionDef(name=name.id) | ast.Assign(targets=[ast.Name(id=name.id)]):
                    yield node


def text_of(node: ast.AST) -> str:
    match node:
        case ast.Constant(value=str(text)):
            return text
        case ast.JoinedStr(values=parts):
            return "".join(text_of(part) or "…" for part in parts)
    return ""


def test_core_has_no_other_sentences() -> None:
    files = {str(file.relative_to(CORE)): file for file in sorted(CORE.rglob("*.py"))}
    assert len(files) > 80
    others = [name for name in files if not name.startswith(CATALOGUES)]
    assert {name: found for name in others if (found := stray_sentences(files[name].read_text()))} == {}


@pytest.mark.parametrize("catalogue", CATALOGUES)
def test_each_catalogue_has_sentences(catalogue: str) -> None:
    place = CORE / catalogue
    files = place.rglob("*.py") if place.is_dir() else [place]
    assert any(stray_sentences(file.read_text()) for file in files)
