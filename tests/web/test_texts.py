"""The pages are plain English: their templates, and the texts of the modules behind them, avoid the phrases that the
documents avoid."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.test_docs import ROOT
from tests.test_docs_prose import AVOIDED

CRAWLER = ROOT / "crawler"
TEMPLATES = sorted(path for path in CRAWLER.rglob("templates/**/*.html") if path.is_file())
MODULES = sorted(path for part in ("web", "reports") for path in (CRAWLER / part).rglob("*.py"))


def text_of(template: Path) -> Iterator[str]:
    """The words that a reader sees, and those of attributes that are shown or read out."""
    code = r"(?s)\{#.*?#\}|\{%.*?%\}|\{\{.*?\}\}|<script.*?</script>|<code>.*?</code>"
    source = re.sub(code, " ", template.read_text())
    yield from re.findall(r'(?:title|placeholder|aria-label)="([^"]*)"', source)
    yield from re.sub(r"(?s)<[^>]*>", " ", source).splitlines()


def texts_in(module: Path) -> Iterator[str]:
    """The strings of several words, without docstrings."""
    nodes = list(ast.walk(ast.parse(module.read_text())))
    docstrings = {id(node.value) for node in nodes if isinstance(node, ast.Expr)}
    for node in nodes:
        if isinstance(node, ast.Constant) and id(node) not in docstrings and " " in str(node.value).strip():
            yield str(node.value)


def avoided(texts: Iterator[str]) -> list[str]:
    return [
        f"{name}: {text.strip()}"
        for text in texts
        for name, pattern in AVOIDED.items()
        if re.search(pattern, text, re.IGNORECASE)
    ]


def test_templates_and_modules_are_found() -> None:
    names = {path.name for path in (*TEMPLATES, *MODULES)}
    assert {"crawl.html", "404.html", "page_load.html", "activate_form.html", "explanation.py", "tokens.py"} <= names


def test_a_phrase_is_found_in_text_alone(tmp_path: Path) -> None:
    template = tmp_path / "answers.html"
    template.write_text('<p id="answer" title="As ever">{{ answer }} No page <b>answered</b>.</p>')
    assert avoided(text_of(template)) == ["as ever: As ever", "answer: No page  answered ."]
    module = tmp_path / "answers.py"
    module.write_text('"""It answers."""\nanswer = "answer", f"{answer}: the server answers"\n')
    assert avoided(texts_in(module)) == ["answer: : the server answers"]


@pytest.mark.parametrize("template", TEMPLATES, ids=lambda template: str(template.relative_to(CRAWLER)))
def test_a_template_avoids_phrases_that_hide_the_verb(template: Path) -> None:
    assert avoided(text_of(template)) == []


@pytest.mark.parametrize("module", MODULES, ids=lambda module: str(module.relative_to(CRAWLER)))
def test_a_module_avoids_phrases_that_hide_the_verb(module: Path) -> None:
    assert avoided(texts_in(module)) == []
