"""`manage.py add` adds pages to a crawl, `manage.py again` requests some again."""

import io
import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from crawler.core.protocol.completion import State
from crawler.models import Crawl, Page
from tests.factories import make_crawl, make_page
from tests.management.calls import exit_code

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("real_redis")]

SITE = "http://site.test/"
CLOSED: dict[str, Any] = {"status": Page.CLOSED, "outcome": "2xx", "http_status": 200}


@pytest.fixture
def crawl() -> Crawl:
    """Finished, with two pages that answered and a missing one."""
    outcomes, statuses = {"2xx": 2, "4xx": 1}, {"200": 2, "404": 1}
    made = make_crawl(SITE, state=State.FINISHED, discovered=3, outcomes=outcomes, statuses=statuses)
    make_page(made, SITE, **CLOSED)
    make_page(made, f"{SITE}a", **CLOSED)
    make_page(made, f"{SITE}gone", status=Page.CLOSED, outcome="4xx", http_status=404)
    return made


def open_urls() -> list[str]:
    return list(Page.objects.filter(status=Page.OPEN).order_by("id").values_list("url", flat=True))


def test_what_happened_is_one_line_and_each_refused_url_another(
    crawl: Crawl, capsys: pytest.CaptureFixture[str]
) -> None:
    assert exit_code("add", str(crawl.id), f"{SITE}new", f"{SITE}a", "http://other.test/", "no url") == 1
    told = capsys.readouterr()
    assert told.out == (
        "1 page added; 1 page already closed, and not requested again; 2 pages refused. The crawl had ended and runs "
        "again.\n"
    )
    assert "  http://other.test/: It is outside the crawl's scope.\n" in told.err
    assert open_urls() == [f"{SITE}new"]


def test_programs_get_the_numbers(crawl: Crawl, capsys: pytest.CaptureFixture[str]) -> None:
    assert exit_code("add", str(crawl.id), f"{SITE}new", "--json") == 0
    told = json.loads(capsys.readouterr().out)
    assert (told["added"], told["refused"], told["has_reopened"]) == (1, 0, True)


def test_a_page_is_placed_in_the_queue(crawl: Crawl) -> None:
    words = ("--priority", "9", "--not-before", "2026-12-01T08:00:00+01:00", "--ttl", "1h")
    assert exit_code("add", str(crawl.id), f"{SITE}new", *words) == 0
    page = Page.objects.get(url=f"{SITE}new")
    assert (page.priority, page.not_before) == (9, 1796108400.0)
    assert page.expires_at == 1796108400.0 + 3600


def test_a_list_is_added_as_it_is_read(crawl: Crawl, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("crawler.management.commands.add.MAX_URLS", 2)
    (tmp_path / "urls.txt").write_text("".join(f"{SITE}{number}\n" for number in range(5)))
    assert exit_code("add", str(crawl.id), "--list", str(tmp_path / "urls.txt")) == 0
    assert len(open_urls()) == 5


def test_a_list_may_come_from_a_pipe(crawl: Crawl, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(f"{SITE}new\nnonsense url\n".encode())))
    assert exit_code("add", str(crawl.id), "--list", "-") == 1
    assert open_urls() == [f"{SITE}new"]


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ((), "Give URLs, or a list with --list FILE."),
        ((SITE, "--list", "urls.txt"), "Give URLs, or a list with --list FILE."),
        ((SITE, "--priority", "11"), "The priority must be between 0 (last) and 10 (first), not 11."),
        ((SITE, "--delay", "1h", "--not-before", "2026-12-01"), "Enter a delay or a time"),
        ((SITE, "--not-before", "soon"), "'soon' is not a time such as"),
        (("--list", "no-such-file"), "no-such-file cannot be read"),
    ],
)
def test_what_cannot_be_meant_is_refused_in_one_line(
    crawl: Crawl, capsys: pytest.CaptureFixture[str], words: tuple[str, ...], told: str
) -> None:
    assert exit_code("add", str(crawl.id), *words) == 2
    assert told in capsys.readouterr().err
    assert open_urls() == []


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ((f"{SITE}a",), ["a"]),
        (("--status", "4xx"), ["gone"]),
        (("--outcome", "fetched", "--text", "/a"), ["a"]),
        (("--all",), ["", "a", "gone"]),
    ],
)
def test_pages_are_asked_for_again_by_name_or_filter(crawl: Crawl, words: tuple[str, ...], expected: list[str]) -> None:
    assert exit_code("again", str(crawl.id), *words) == 0
    assert open_urls() == [f"{SITE}{path}" for path in expected]


def test_a_page_is_asked_for_again_by_its_number(crawl: Crawl, capsys: pytest.CaptureFixture[str]) -> None:
    assert exit_code("again", str(crawl.id), str(Page.objects.get(url=f"{SITE}a").pk)) == 0
    assert capsys.readouterr().out == "1 page will be requested again. The crawl had ended and runs again.\n"


@pytest.mark.parametrize("words", [(), ("--all", "--status", "404"), (SITE, "--all"), ("--status", "abc")])
def test_without_a_clear_choice_nothing_is_asked_for_again(crawl: Crawl, words: tuple[str, ...]) -> None:
    assert exit_code("again", str(crawl.id), *words) == 2
    assert open_urls() == []


def test_a_filter_that_selects_no_page_is_told(crawl: Crawl, capsys: pytest.CaptureFixture[str]) -> None:
    assert exit_code("again", str(crawl.id), "--status", "500") == 1
    assert capsys.readouterr().err == "No such page.\n"


def test_the_values_of_a_list_count_for_each_line_and_the_arguments_for_the_others(
    crawl: Crawl, tmp_path: Path
) -> None:
    tomorrow = (datetime.now(UTC) + timedelta(days=1)).replace(microsecond=0)
    (tmp_path / "urls.csv").write_text(
        "url,priority,ttl,not_before,customer\n"
        f"{SITE}first,9,,,4711\n"
        f"{SITE}later,,30m,{tomorrow.isoformat()},\n"
        f"{SITE}past,,,2001-01-01T00:00:00Z,\n"
        f"{SITE}plain,,,,\n"
    )
    words = ("add", str(crawl.id), "--list", str(tmp_path / "urls.csv"), "--priority", "2")
    assert exit_code(*words) == 0
    first, later, past, plain = (Page.objects.get(url=SITE + name) for name in ("first", "later", "past", "plain"))
    assert [page.priority for page in (first, later, past, plain)] == [9, 2, 2, 2]
    assert [page.meta for page in (first, later, plain)] == [{"customer": "4711"}, None, None]
    at = tomorrow.timestamp()
    assert (later.not_before, later.expires_at) == (at, at + 1800)
    assert [page.not_before for page in (first, past, plain)] == [None] * 3


def test_a_line_with_a_value_that_cannot_be_used_is_refused_and_is_no_url(
    crawl: Crawl, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "list.csv"
    file.write_text(f"url,priority\n{SITE}new,11\n{SITE}other,9\n")
    assert exit_code("add", str(crawl.id), "--list", str(file)) == 1
    assert "'11' is not a valid priority" in capsys.readouterr().err
    assert open_urls() == [f"{SITE}other"]
