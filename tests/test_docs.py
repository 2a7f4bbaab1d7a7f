"""The documentation names every setting and every command, and only files that exist."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from django.core.management import get_commands

from crawler.exports.formats import FORMATS
from crawler.exports.rows import KEYS
from crawler.reports.catalogue.entries import REPORTS
from crawler.reports.catalogue.report import Report
from crawler.reports.comparison import CHANGES, Change

ROOT = Path(__file__).resolve().parent.parent
OPERATIONS = (ROOT / "docs" / "operations.md").read_text()
REPORTS_TOLD = (ROOT / "docs" / "reports.md").read_text()
EXPORTS = (ROOT / "docs" / "exports.md").read_text()
EXAMPLE = (ROOT / ".env.example").read_text()
DOCUMENTS = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/*.md"), *ROOT.glob("benchmarks/*.md")])


def settings_read() -> list[str]:
    """Names of variables that a settings module asks the environment for."""
    sources = "".join(file.read_text() for file in sorted((ROOT / "settings").glob("*.py")))
    readers = r"(?:_env\.\w+|text|proxy|header_text|texts|number|switch|choice|email_url_config)"
    found = re.findall(readers + r'\(\s*"([A-Z_]+)"', sources)
    return sorted(set(found))


def test_there_are_settings_to_be_documented() -> None:
    assert {"REDIS_URL", "CRAWLER_CONTACT", "DEBUG"} <= set(settings_read())


@pytest.mark.parametrize("name", settings_read())
def test_every_setting_is_documented(name: str) -> None:
    assert f"`{name}`" in OPERATIONS
    assert f"#{name}=" in EXAMPLE


@pytest.mark.parametrize("name", sorted(name for name, app in get_commands().items() if app == "crawler"))
def test_every_command_is_documented(name: str) -> None:
    assert re.search(rf"manage\.py {name.replace('_', '[-_]')}\b", OPERATIONS)


@pytest.mark.parametrize("report", REPORTS, ids=lambda report: report.slug)
def test_every_report_has_its_section(report: Report) -> None:
    assert f"\n### {report.title}\n`{report.slug}`" in REPORTS_TOLD


@pytest.mark.parametrize("change", CHANGES, ids=lambda change: change.slug)
def test_every_change_between_crawls_is_explained(change: Change) -> None:
    assert f"\n| `{change.slug}` |" in REPORTS_TOLD


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda document: document.name)
def test_links_between_documents_lead_somewhere(document: Path) -> None:
    for target in re.findall(r"\]\(([^)#:]+)\)", document.read_text()):
        assert (document.parent / target).exists(), f"{document.name} links to {target}"


@pytest.mark.parametrize("name", [*FORMATS, *KEYS])
def test_every_export_format_and_column_is_documented(name: str) -> None:
    assert f"`{name}`" in EXPORTS
