"""The pages are plain English: the text of each template avoids the phrases that the documents avoid."""

import re
from pathlib import Path

import pytest

from tests.test_docs import ROOT
from tests.test_docs_prose import AVOIDED

TEMPLATES = sorted(path for path in (ROOT / "crawler").rglob("templates/**/*.html") if path.is_file())


def text_of(template: Path) -> str:
    """The words that a reader sees, and those of attributes that are read out; without scripts, tags and code."""
    code = r"(?s)\{#.*?#\}|\{%.*?%\}|\{\{.*?\}\}|<script.*?</script>|<code>.*?</code>"
    source = re.sub(code, " ", template.read_text())
    read_out = re.findall(r'(?:title|placeholder|aria-label)="([^"]*)"', source)
    seen = re.sub(r"(?s)<[^>]*>", " ", source)
    return "\n".join([*read_out, seen])


def test_the_templates_are_found() -> None:
    names = {path.name for path in TEMPLATES}
    assert {"crawl.html", "404.html", "page_load.html", "activate_form.html"} <= names


@pytest.mark.parametrize("template", TEMPLATES, ids=lambda template: str(template.relative_to(ROOT / "crawler")))
def test_it_avoids_phrases_that_hide_the_verb(template: Path) -> None:
    found = [
        f"{name}: {line.strip()}"
        for line in text_of(template).splitlines()
        for name, pattern in AVOIDED.items()
        if re.search(pattern, line, re.IGNORECASE)
    ]
    assert found == []
