"""The documents are plain English: they avoid phrases that a native engineer would not write, and stay short enough to
be read."""

import re
from pathlib import Path

import pytest

from tests import doc_tables
from tests.test_docs import DOCUMENTS, ROOT

AVOIDED = {
    "what is": r"\bwhat (?:is|are|was|were)\b(?![^.]*\?)",
    "of what": r"\bof what\b",
    "those of": r"\bthose of\b",
    "beside": r"\bbeside\b",
    "as ever": r"\bas ever\b",
    "had": r"\b(?:cannot|can|could|to) be had\b",
    "is told": r"\b(?:is|are|was|were|be|been) told\b",
    "goes by": r"\bgo(?:es)? by\b",
    "by itself": r"\bby (?:itself|themselves)\b",
    "says so": r"\bsays? so\b",
    "answer": r"\banswer(?:s|ed)?\b",
    "whoever": r"\b(?:whoever|somebody|nobody|anybody)\b",
}
"""By the name of each phrase. A response is what a server gives."""

WORDS_OF_DOCS = 45_000
WORDS_OF_CHANGELOG = 2_500


def own_words(document: Path) -> str:
    """The lines of a document as they are numbered, without code, quotations and tables made of catalogues."""
    text = document.read_text()
    for part in doc_tables.parts().values():
        if part.page == document and part.text.startswith("|"):
            text = text.replace(part.text, "\n" * part.text.count("\n"))
    code = r"(?ms)^```.*?^```|^ {4,}.*?$|`[^`]+`|\"[^\"\n]*\"|\]\([^)]*\)"
    return re.sub(code, lambda found: "\n" * found[0].count("\n"), text)


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda document: str(document.relative_to(ROOT)))
def test_it_avoids_phrases_that_hide_the_verb(document: Path) -> None:
    found = [
        f"{document.name}:{number}: {name}: {line.strip()}"
        for number, line in enumerate(own_words(document).splitlines(), 1)
        for name, pattern in AVOIDED.items()
        if re.search(pattern, line, re.IGNORECASE)
    ]
    assert found == []


def test_the_documents_can_be_read() -> None:
    docs = sum(len(document.read_text().split()) for document in (ROOT / "docs").rglob("*.md"))
    assert docs <= WORDS_OF_DOCS
    assert len((ROOT / "CHANGELOG.md").read_text().split()) <= WORDS_OF_CHANGELOG
