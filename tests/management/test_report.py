"""`manage.py report` and `manage.py compare`: all numbers, or the rows of one, for people and for programs."""

import json

import pytest
from django.core.cache import cache
from syrupy.assertion import SnapshotAssertion

from crawler.models import Crawl
from tests.management.calls import exit_code
from tests.reports.catalogue.factories import SITE, crawl_with, link, make
from tests.text_files import listed

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _nothing_remembered() -> None:
    cache.clear()


@pytest.fixture
def crawl() -> Crawl:
    crawl = crawl_with()
    link(make(crawl, "/"), gone="old\x1b[31m  news")
    make(crawl, "/gone", 404)
    return crawl


def test_all_reports_are_listed_with_their_numbers(
    crawl: Crawl, capsys: pytest.CaptureFixture[str], golden: SnapshotAssertion
) -> None:
    assert exit_code("report", str(crawl.id)) == 0
    assert capsys.readouterr().out == golden
    assert exit_code("report", str(crawl.id), "--json") == 0
    told = json.loads(capsys.readouterr().out)
    assert (told["broken-links"], told["redirects"], told["near-duplicates"]) == (1, 0, None)


def test_one_report_is_shown_row_by_row(
    crawl: Crawl, capsys: pytest.CaptureFixture[str], golden: SnapshotAssertion
) -> None:
    assert exit_code("report", str(crawl.id), "broken-links") == 0
    shown = capsys.readouterr().out
    assert shown == golden
    assert "\x1b" not in shown
    assert exit_code("report", str(crawl.id), "broken-links", "--json") == 0
    assert json.loads(capsys.readouterr().out)["page"] == f"{SITE}/"


@pytest.mark.parametrize(
    ("slug", "code", "said"), [("nonsense", 2, "Choose one of: broken-links"), ("orphans", 1, "--sitemaps")]
)
def test_what_cannot_be_told_says_why(
    crawl: Crawl, capsys: pytest.CaptureFixture[str], slug: str, code: int, said: str
) -> None:
    assert exit_code("report", str(crawl.id), slug) == code
    assert said in capsys.readouterr().err


def test_two_crawls_are_compared(crawl: Crawl, capsys: pytest.CaptureFixture[str], golden: SnapshotAssertion) -> None:
    later = crawl_with(max_pages=9)
    make(later, "/")
    make(later, "/new")
    assert exit_code("compare", str(crawl.id), str(later.id)) == 0
    assert listed(capsys.readouterr()._asdict()) == golden
    assert exit_code("compare", str(crawl.id), str(later.id), "--json") == 0
    assert json.loads(capsys.readouterr().out) == {"new": 1, "gone": 1, "status": 0, "title": 0, "content": 0}
    assert exit_code("compare", str(crawl.id), str(later.id), "--only", "gone", "--json") == 0
    assert json.loads(capsys.readouterr().out)["url"] == f"{SITE}/gone"
    assert exit_code("compare", str(crawl.id), str(later.id), "--only", "new") == 0
    assert f"{SITE}/new" in capsys.readouterr().out


def test_what_cannot_be_compared_says_why(crawl: Crawl, capsys: pytest.CaptureFixture[str]) -> None:
    assert exit_code("compare", str(crawl.id), str(crawl.id)) == 2
    assert exit_code("compare", str(crawl.id), str(crawl_with().id), "--only", "colour") == 2
    assert "Choose one of: new, gone" in capsys.readouterr().err
