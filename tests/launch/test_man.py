"""The man page has what help has, and no program that reads such pages has anything to say against it."""

import shutil
import subprocess
from datetime import date
from pathlib import Path

import pytest

from crawler.launch import man, site_crawler
from crawler.management.parsers import table

DAY = date(2026, 11, 28)
LINT = [
    ("mandoc", ["-T", "lint", "-W", "warning"]),
    ("groff", ["-man", "-Tutf8", "-ww", "-z"]),
    ("man", ["--warnings", "-E", "UTF-8", "-l"]),
]


@pytest.fixture
def page(tmp_path: Path) -> Path:
    file = tmp_path / "site-crawler.1"
    file.write_text(man.page(DAY))
    return file


def test_it_has_every_command_and_every_option(page: Path) -> None:
    text = page.read_text().replace("\\-", "-")
    headings = {line.removeprefix(".SS ") for line in text.splitlines() if line.startswith(".SS ")}
    operators = {f"admin {name}" for name in [*site_crawler.OF_OPERATORS]}
    users = table()["commands"].keys() - site_crawler.OF_OPERATORS
    assert headings >= users | operators
    flags = [
        argument["flags"][0] for group in table()["commands"]["crawl"]["groups"] for argument in group["arguments"]
    ]
    assert [flag for flag in flags if flag.startswith("-") and f"\\fB{flag}\\fR" not in text] == []


def test_its_examples_are_those_of_the_installed_command(page: Path) -> None:
    text = page.read_text()
    assert "\nexamples:\n  site\\-crawler crawl https://example.com/\n" in text
    assert "bin/crawl" not in text
    assert "manage.py" not in text


@pytest.mark.parametrize(("program", "options"), LINT)
def test_it_is_correct(page: Path, program: str, options: list[str]) -> None:
    if shutil.which(program) is None:
        pytest.skip(f"{program} is not installed")
    told = subprocess.run([program, *options, page], capture_output=True, text=True, check=False, timeout=60)
    problems = told.stderr or (told.stdout if program == "mandoc" else "")
    assert (told.returncode, problems) == (0, "")


@pytest.mark.parametrize(
    ("plain", "escaped"),
    [("--a-b", "\\-\\-a\\-b"), (".x\n'y", "\\&.x\n\\&'y"), ("a\\d", "a\\ed"), ("…", "\\[u2026]")],
)
def test_no_text_is_a_command_of_troff(plain: str, escaped: str) -> None:
    assert man._text(plain) == escaped


def test_a_reproducible_build_names_its_day(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1795824000")
    assert man.day_of_build() == date(2026, 11, 28)
