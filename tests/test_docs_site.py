"""The documentation as a site: it builds without a warning, has every document, and loads nothing from other hosts."""

import itertools
import json
import os
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.stack import ROOT
from tools.site import hooks

DOCUMENTS = [path.relative_to(ROOT / "docs") for path in (ROOT / "docs").rglob("*.md")]
LIST_OR_TABLE = re.compile(r"- |\d\. |\|")


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory, python: str) -> Path:
    """Its folder. A link or an anchor that leads nowhere, and a document that no menu names, are warnings."""
    folder = tmp_path_factory.mktemp("site")
    built = subprocess.run(
        [python, "-m", "mkdocs", "build", "--strict", "--site-dir", folder],
        cwd=ROOT,
        env={**os.environ, "NO_MKDOCS_2_WARNING": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (built.returncode, "WARNING" in built.stderr) == (0, False), built.stderr
    return folder


def pages(site: Path) -> Iterator[tuple[Path, str]]:
    for file in site.rglob("*.html"):
        yield file.relative_to(site), file.read_text()


def test_every_document_is_a_page(site: Path) -> None:
    expected = {path.parent if path.name == "README.md" else path.with_suffix("") for path in DOCUMENTS}
    expected |= {Path(path).with_suffix("") for path in hooks.OUTSIDE if not path.endswith("README.md")}
    expected |= {Path(path).parent for path in hooks.OUTSIDE if path.endswith("README.md")}
    assert {path.parent for path, _ in pages(site) if path.name == "index.html"} == expected


def test_its_pages_load_nothing_from_other_hosts(site: Path) -> None:
    loaded = r"<(?:script|img|iframe|link)\b[^>]*\b(?:src|href)=\"?(?:https?:)?//[^\s>]+"
    assert {str(path): found for path, text in pages(site) if (found := re.findall(loaded, text))} == {}


def test_it_can_be_searched(site: Path) -> None:
    index = json.loads((site / "search" / "search_index.json").read_text())
    assert {"howto/audit/", "SECURITY/", "protocol/"} <= {entry["location"] for entry in index["docs"]}


@pytest.mark.parametrize("document", [ROOT / "docs" / path for path in DOCUMENTS], ids=str)
def test_a_list_or_table_stands_apart_from_the_paragraph_above(document: Path) -> None:
    """A code host shows it as one all the same, Python-Markdown does not."""
    text = re.sub(r"(?ms)^```.*?^```", "", document.read_text())
    lines = ["", *text.splitlines()]
    joined = [
        line
        for above, line in itertools.pairwise(lines)
        if LIST_OR_TABLE.match(line) and above.strip() and not LIST_OR_TABLE.match(above) and not above.startswith(" ")
    ]
    assert joined == []


def test_links_to_files_that_are_no_pages_become_text() -> None:
    assert hooks.page_of("crawler/hooks.py") is None
    assert hooks.page_of("docs/howto/audit.md") == "howto/audit.md"
    assert hooks.page_of("SECURITY.md") == "SECURITY.md"
