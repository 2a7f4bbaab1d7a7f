"""The documentation names every setting and every command, and only files, places and pictures that exist."""

import ast
import re
from pathlib import Path

import pytest
from django.core.management import get_commands

from crawler.exports.formats import FORMATS
from crawler.exports.rows import KEYS
from crawler.reports.catalogue.entries import REPORTS
from crawler.reports.comparison import CHANGES
from tests import doc_tables

ROOT = Path(__file__).resolve().parent.parent
OPERATIONS = (ROOT / "docs" / "operations.md").read_text()
SETTINGS = (ROOT / "docs" / "settings.md").read_text()
REPORTS_TOLD = (ROOT / "docs" / "reports.md").read_text()
EXPORTS = (ROOT / "docs" / "exports.md").read_text()
START = (ROOT / "docs" / "start.md").read_text()
EXAMPLE = (ROOT / ".env.example").read_text()
DECISIONS = sorted(set(ROOT.glob("docs/decisions/*.md")) - {ROOT / "docs" / "decisions" / "README.md"})
DOCUMENTS = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), *ROOT.glob("tools/*/*.md")])
PICTURES = sorted((ROOT / "docs" / "images").iterdir())


def settings_read() -> list[str]:
    """Names of variables that a settings module asks the environment for."""
    sources = "".join(file.read_text() for file in sorted((ROOT / "crawler" / "settings").glob("*.py")))
    readers = r"(?:_env\.\w+|text|proxy|header_text|texts|networks|number|switch|choice|email_url_config)"
    found = re.findall(readers + r'\(\s*"([A-Z_]+)"', sources)
    return sorted(set(found))


def test_there_are_settings_to_be_documented() -> None:
    assert {"REDIS_URL", "CRAWLER_CONTACT", "DEBUG"} <= set(settings_read())


def test_every_setting_is_documented() -> None:
    names = settings_read()
    assert [name for name in names if not re.search(rf"^\|[^|]*`{name}`", SETTINGS, re.MULTILINE)] == []
    assert [name for name in names if f"#{name}=" not in EXAMPLE] == []


def test_every_command_is_documented() -> None:
    names = [name.replace("_", "-") for name, app in get_commands().items() if app == "crawler"]
    told = r"^\| `(?:admin )?{0}`|python manage\.py {0} "  # in the table, or among the ways to start a worker
    assert [name for name in names if not re.search(told.format(name), OPERATIONS, re.MULTILINE)] == []


def test_what_is_made_of_the_catalogues_is_current() -> None:
    """`python -m tests.doc_tables` writes it anew."""
    assert [name for name, part in doc_tables.parts().items() if f"{part.text}\n" not in part.page.read_text()] == []


def test_every_report_has_its_section_and_every_change_between_crawls_its_row() -> None:
    sections = [f"\n### {report.title}\n`{report.slug}`" for report in REPORTS]
    rows = [f"\n| `{change.slug}` |" for change in CHANGES]
    assert [place for place in sections + rows if place not in REPORTS_TOLD] == []


def prose(document: Path) -> str:
    """A document without its code."""
    return re.sub(r"(?ms)^```.*?^```|^ {4,}.*?$|`[^`\n]+`", "", document.read_text())


def links(document: Path) -> list[tuple[str, str]]:
    """Path and #place of every link and picture that leads to a file of ours; a path may be empty: this document."""
    found = re.findall(r"\]\(([^)\s#]*)#?([^)\s]*)\)", prose(document))
    return [(path, place) for path, place in found if not re.match(r"[a-z]+:", path)]


def places(document: Path) -> set[str]:
    """What can be linked to within a document: its headings, as GitHub and others name them."""
    text = re.sub(r"(?ms)^```.*?^```", "", document.read_text())
    headings = re.findall(r"^#+ (.+)$", text, re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda document: str(document.relative_to(ROOT)))
def test_links_lead_to_files_and_places_that_exist(document: Path) -> None:
    for path, place in links(document):
        target = document.parent / path if path else document
        assert target.exists(), f"there is no {path}"
        assert not place or place in places(target), f"there is no {path}#{place}"


def test_the_documents_that_code_names_exist() -> None:
    """In messages, comments and files of deploy/."""
    files = [file for folder in ("crawler", "deploy", "tools", "bin") for file in (ROOT / folder).rglob("*")]
    texts = [file.read_text(errors="ignore") for file in files if file.is_file() and "__pycache__" not in file.parts]
    named = {name for text in texts for name in re.findall(r"\bdocs/[\w/-]+\.md\b", text)}
    assert len(named) > 10
    assert [name for name in named - {"docs/intro-17.md"} if not (ROOT / name).exists()] == []  # one is an example


def test_the_tests_that_the_promises_of_security_name_exist() -> None:
    named = re.findall(r"`(tests/[\w/.]+|bin/\w+|test_\w+\.py)`", (ROOT / "SECURITY.md").read_text())
    assert len(named) > 30
    assert [name for name in named if not (ROOT / name).exists() and not [*ROOT.glob(f"tests/*/{name}")]] == []


def test_every_file_of_decisions_is_in_their_table() -> None:
    assert {(document.name, "") for document in DECISIONS} <= {*links(ROOT / "docs" / "decisions" / "README.md")}


def test_every_path_in_the_decisions_exists() -> None:
    named = [name for document in DECISIONS for name in re.findall(r"`([\w.-]+/[\w./-]+)`", document.read_text())]
    assert [name for name in named if not (ROOT / name).exists()] == []


def test_every_decision_has_a_date_and_a_reason() -> None:
    entries = [entry for document in DECISIONS for entry in document.read_text().split("\n### ")[1:]]
    assert len(entries) > 100
    for entry in entries:
        heading, _, text = entry.partition("\n")
        assert re.search(r" \(\d{4}-\d\d-\d\d[^)]*\)$", heading), heading
        assert re.search(r"\*\*(Decision|Because|Rejected)\*\*: ", text), heading


def test_the_files_to_read_first_exist_and_are_as_long_as_contributors_are_told() -> None:
    section = (ROOT / "CONTRIBUTING.md").read_text().split("\n## How it works\n", 1)[1].split("\n## ", 1)[0]
    named = {name: int(lines) for name, lines in re.findall(r"`([\w/.]+)` \((\d+)\)", section)}
    assert len(named) > 20
    lines = {name: len((ROOT / "crawler" / name).read_text().splitlines()) for name in named}
    assert [name for name in named if not 0.75 < lines[name] / named[name] < 1.33] == []
    assert 3_000 < sum(lines.values()) < 4_500


def test_a_number_of_reports_is_that_of_the_catalogue() -> None:
    for document in DOCUMENTS:
        if document.name != "CHANGELOG.md" and document.parent.name != "decisions":  # which tell what was
            assert set(re.findall(r"\b(\d+) reports", document.read_text())) <= {str(len(REPORTS))}, document


def test_the_readme_says_how_many_reports_there_are() -> None:
    assert f"[{len(REPORTS)} reports]" in (ROOT / "README.md").read_text()


def test_the_receipt_of_the_first_crawl_belongs_to_the_command_above_it() -> None:
    above, receipt = re.findall(r"`bin/crawl ([^` ]+)[^`]*`\):\n\n(    Crawl .*?\n)\n", START, re.DOTALL)[0]
    assert f"    Start URL    {above}\n" in receipt


PACKAGES = sorted(
    init.parent
    for init in (ROOT / "crawler").rglob("__init__.py")
    if init.parent.name not in ("migrations", "commands")  # a file for each step, and for each command
)


def named_in(package: Path) -> set[str]:
    """The modules and packages that a package's map begins its lines with."""
    lines = (ast.get_docstring(ast.parse((package / "__init__.py").read_text())) or "").split("\n")[1:]
    names = (re.match(r"([\w/]+(?:, [\w/]+)*)  +\S", line) for line in lines)
    return {name.strip("/") for match in names if match for name in match[1].split(", ")}


def mentioned_in(package: Path) -> set[str]:
    return set(re.findall(r"\w+", ast.get_docstring(ast.parse((package / "__init__.py").read_text())) or ""))


def modules_of(package: Path) -> set[str]:
    modules = {file.stem for file in package.glob("*.py")} - {"__init__"}
    return modules | {init.parent.name for init in package.glob("*/__init__.py")}


def test_the_map_of_a_package_has_all_its_modules_and_no_others() -> None:
    for package in PACKAGES:
        folders = {folder.name for folder in package.iterdir() if folder.is_dir()}  # such as that of Lua scripts
        assert modules_of(package) - mentioned_in(package) == set(), package
        assert named_in(package) - modules_of(package) - folders == set(), package


def test_every_picture_is_shown_and_described() -> None:
    texts = "".join(document.read_text() for document in DOCUMENTS)
    shown = {name.rpartition("/")[2] for name in re.findall(r"!\[[^\]]{9,}\]\(([^)]*images/[^)]*)\)", texts)}
    assert [picture.name for picture in PICTURES if picture.name not in shown] == []


def test_every_export_format_and_column_is_documented() -> None:
    assert [name for name in (*FORMATS, *KEYS) if f"`{name}`" not in EXPORTS] == []
