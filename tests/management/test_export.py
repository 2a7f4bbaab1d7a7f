import json
import subprocess
import sys
from pathlib import Path
from uuid import UUID

import pytest
from django.core.management import call_command

from crawler.exports import csv, jsonl
from crawler.exports.formats import FORMATS
from crawler.models import Page
from tests.factories import make_crawl, make_page
from tests.management.calls import exit_code
from tests.stack import Stack

pytestmark = pytest.mark.django_db


def test_it_writes_to_stdout_unless_told_otherwise(capsys: pytest.CaptureFixture[str]) -> None:
    crawl = make_crawl()
    make_page(crawl, "http://site.test/", title="two\nlines")
    call_command("export", str(crawl.id), "--format", "jsonl")
    assert capsys.readouterr().out == "".join(jsonl.lines(crawl))


def test_links_to_other_sites_are_written_in_place_of_the_pages(capsys: pytest.CaptureFixture[str]) -> None:
    crawl = make_crawl()
    make_page(crawl, "http://site.test/")
    make_page(crawl, "http://other.test/", kind="external", status=1, outcome="external")
    call_command("export", str(crawl.id), "--format", "jsonl", "--externals")
    assert json.loads(capsys.readouterr().out)["url"] == "http://other.test/"


def test_it_writes_a_complete_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    crawl = make_crawl(state="finished")
    make_page(crawl, "http://site.test/")
    call_command("export", str(crawl.id), "--format", "csv", "--output", str(tmp_path / "pages"))
    assert (tmp_path / "pages").read_bytes().decode() == "".join(csv.lines(crawl))
    assert list(tmp_path.iterdir()) == [tmp_path / "pages"]
    assert capsys.readouterr() == ("", "")


@pytest.mark.parametrize(
    ("place", "said"),
    [
        ("", "{0} cannot be written: it is a folder. Choose another file.\n"),
        ("/not/there/pages.csv", "Create the folder {0}/not/there first, or choose another file."),
    ],
)
def test_a_place_that_cannot_be_written_ends_with_2(
    place: str, said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert exit_code("export", str(make_crawl().id), "--format", "csv", "--output", f"{tmp_path}{place}") == 2
    assert said.format(tmp_path) in capsys.readouterr().err


@pytest.mark.parametrize("format", [key for key, made in FORMATS.items() if not made.form])
def test_of_a_crawl_that_is_not_over_it_says_that_more_may_come(
    format: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    crawl = make_crawl(state="paused")
    make_page(crawl, "http://site.test/")
    call_command("export", str(crawl.id), "--format", format, "--output", str(tmp_path / "file"))
    printed = capsys.readouterr()
    # Where writing takes seconds, its progress comes before.
    assert printed.err.endswith("The crawl is paused: the export holds its results so far.\n")
    assert printed.out == ""
    assert (tmp_path / "file").stat().st_size > 0


@pytest.mark.parametrize("format", [key for key, made in FORMATS.items() if made.form])
def test_content_that_no_crawl_kept_is_no_file(format: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ("--format", format, "--output", str(tmp_path / "file"))
    assert exit_code("export", str(make_crawl().id), *words) == 2
    assert "start one that keeps it (--keep" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("words", [["--format", "xml"], []])
def test_a_format_that_is_not_there_ends_with_2_and_one_line(
    words: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert exit_code("export", str(UUID(int=7)), *words) == 2
    error = capsys.readouterr().err
    assert "--format" in error
    assert error.count("\n") == 1


def test_a_reader_that_leaves_early_gets_no_traceback(stack: Stack) -> None:
    export = subprocess.Popen(
        [sys.executable, "manage.py", "export", str(stack.within(a_long_crawl)), "--format", "jsonl"],
        env=stack.env,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert export.stdout is not None
    assert export.stderr is not None
    first = export.stdout.readline()
    export.stdout.close()
    assert json.loads(first)["url"] == "x" * 999
    assert export.wait() == 1
    assert export.stderr.read() == b""
    export.stderr.close()


def a_long_crawl() -> UUID:
    """More than fits in a pipe."""
    crawl = make_crawl(state="finished")
    Page.objects.bulk_create(Page(crawl=crawl, url="x" * 999, key=b"%d" % number) for number in range(900))
    return crawl.id
