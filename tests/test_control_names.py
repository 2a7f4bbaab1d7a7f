"""Messages that more than one surface shows, and stored reasons, name no flag of the command line."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

CRAWLER = Path(__file__).resolve().parents[1] / "crawler"
PACKAGES = ("crawls", "fetcher", "http", "manager", "notices", "reports")
FLAG = re.compile(r"(?:^|[ (`\"'“])--[a-z][a-z-]+")
PER_SURFACE = "by_surface"  # its `command` is shown by the command line alone

ALLOWED: dict[str, str] = {}
"""Text of a literal, and why it may name a flag."""


def flags_named(source: str) -> Iterator[str]:
    """The string literals with a flag, except docstrings and the `command` of `by_surface`."""
    tree = ast.parse(source)
    exempt: set[int] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Expr):
            exempt |= {id(inner) for inner in ast.walk(node) if isinstance(node.value, ast.Constant)}
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == PER_SURFACE:
            named = (keyword.value for keyword in node.keywords if keyword.arg == "command")
            exempt |= {id(inner) for value in named for inner in ast.walk(value)}
    for node in ast.walk(tree):
        is_text = isinstance(node, ast.Constant) and isinstance(node.value, str)
        if is_text and id(node) not in exempt and FLAG.search(node.value):
            yield node.value


def test_no_message_names_a_flag() -> None:
    found = {
        (str(file.relative_to(CRAWLER)), text)
        for package in PACKAGES
        for file in (CRAWLER / package).rglob("*.py")
        for text in flags_named(file.read_text())
        if text not in ALLOWED
    }
    assert not found, "name the option by its label, or use by_surface"


def test_a_flag_is_found_in_a_message_alone() -> None:
    said = 'raise BadInput("url", f"exclude it (--exclude {url})")'
    assert list(flags_named(said)) == ["exclude it (--exclude "]
    assert not list(flags_named('"""As --exclude."""\nX = by_surface(command="--exclude", page="", api="")'))
