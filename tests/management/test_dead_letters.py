"""`manage.py dead-letters` lists dead letters, `manage.py retry-failed` retries them."""

import json
from typing import Any

import pytest

from crawler.core.protocol.completion import State
from crawler.models import Crawl, Page
from tests.factories import make_crawl, make_page
from tests.management.calls import exit_code

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("real_redis")]

LETTER: dict[str, Any] = {"status": Page.CLOSED, "given_up": True, "attempts": 3}


@pytest.fixture
def crawl() -> Crawl:
    """Finished, with two dead letters and one good page."""
    made = make_crawl(state=State.FINISHED, discovered=3, outcomes={"2xx": 1, "5xx": 1, "timeout": 1})
    make_page(made, "http://site.test/", status=Page.CLOSED, outcome="2xx", http_status=200)
    make_page(made, "http://site.test/busy", outcome="5xx", http_status=503, **LETTER)
    make_page(made, "http://site.test/slow", outcome="timeout", error="No answer within 10 s.", **LETTER)
    return made


def given_up() -> list[str]:
    return list(Page.objects.filter(given_up=True).values_list("url", flat=True))


def test_each_is_a_line_with_its_reason(crawl: Crawl, capsys: pytest.CaptureFixture[str]) -> None:
    assert exit_code("dead_letters", str(crawl.id)) == 0
    head, busy, slow = capsys.readouterr().out.splitlines()
    assert head.split() == ["PAGE", "ANSWER", "TRIES", "URL"]
    assert busy.split()[1:] == ["503", "3", "http://site.test/busy"]
    assert slow.endswith("timed out                 3  http://site.test/slow  (No answer within 10 s)")


def test_for_scripts_each_is_a_json_object_on_a_line(crawl: Crawl, capsys: pytest.CaptureFixture[str]) -> None:
    exit_code("dead_letters", str(crawl.id), "--json")
    busy, slow = map(json.loads, capsys.readouterr().out.splitlines())
    assert (busy["url"], busy["outcome"], busy["http_status"]) == ("http://site.test/busy", "5xx", 503)
    assert slow == {
        "crawl": str(crawl.id),
        "page": Page.objects.get(url="http://site.test/slow").pk,
        "url": "http://site.test/slow",
        "outcome": "timeout",
        "http_status": None,
        "attempts": 3,
        "error": "No answer within 10 s.",
    }


def test_without_any_stdout_stays_empty(capsys: pytest.CaptureFixture[str]) -> None:
    assert exit_code("dead_letters", str(make_crawl().id)) == 0
    assert capsys.readouterr() == ("", "There are no dead letters.\n")


def test_all_are_sent_again_and_the_crawl_runs(crawl: Crawl, capsys: pytest.CaptureFixture[str]) -> None:
    assert exit_code("retry_failed", str(crawl.id)) == 0
    assert capsys.readouterr().out == "2 pages queued for retry.\n"
    crawl.refresh_from_db()
    assert (crawl.state, given_up()) == (State.RUNNING, [])
    assert exit_code("retry_failed", str(crawl.id)) == 0
    assert capsys.readouterr().out == "Nothing to retry.\n"


@pytest.mark.parametrize("named", ["http://site.test/busy", "HTTP://SITE.test/busy#part", "{id}"])
def test_a_page_is_named_by_its_url_or_its_number(crawl: Crawl, named: str) -> None:
    typed = named.format(id=Page.objects.get(url="http://site.test/busy").pk)
    assert exit_code("retry_failed", str(crawl.id), "--page", typed) == 0
    assert given_up() == ["http://site.test/slow"]
    assert exit_code("retry_failed", str(crawl.id), "--page", typed, *given_up()) == 0  # one is on its way already
    assert given_up() == []


def test_a_page_that_is_no_dead_letter_stays_as_it_is(crawl: Crawl, capsys: pytest.CaptureFixture[str]) -> None:
    pages = ["http://site.test/", "http://site.test/slow"]
    assert exit_code("retry_failed", str(crawl.id), "--page", *pages) == 1
    printed = capsys.readouterr()
    assert printed.out == "1 page queued for retry.\n"
    assert printed.err.endswith("Not retried, because it is not a dead letter: http://site.test/ (200).\n")
    assert given_up() == ["http://site.test/busy"]


@pytest.mark.parametrize("typed", ["http://site.test/nowhere", "123456", "9" * 40, "http://"])
def test_a_page_that_is_not_of_this_crawl_ends_with_2_and_sends_nothing(
    crawl: Crawl, typed: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert exit_code("retry_failed", str(crawl.id), "--page", "http://site.test/busy", typed) == 2
    assert capsys.readouterr().err.count("\n") == 1
    assert len(given_up()) == 2


@pytest.fixture
def other() -> Crawl:
    """A second crawl, with a dead letter that is the newest."""
    made = make_crawl("http://other.test/", state=State.FINISHED, discovered=1, outcomes={"dns": 1})
    make_page(made, "http://other.test/", outcome="dns", given_up_at=5, **LETTER)
    return made


def test_without_an_id_those_of_all_crawls_are_listed(
    crawl: Crawl, other: Crawl, capsys: pytest.CaptureFixture[str]
) -> None:
    assert exit_code("dead_letters") == 0
    head, *lines = capsys.readouterr().out.splitlines()
    assert head.split() == ["CRAWL", "PAGE", "ANSWER", "TRIES", "URL"]
    assert [line.split()[0] for line in lines] == [str(other.id), str(crawl.id), str(crawl.id)]


def test_filters_choose_and_counts_add_up(crawl: Crawl, other: Crawl, capsys: pytest.CaptureFixture[str]) -> None:
    exit_code("dead_letters", "--host", "site.test", "--outcome", "timeout", "--json")
    assert [json.loads(line)["url"] for line in capsys.readouterr().out.splitlines()] == ["http://site.test/slow"]
    exit_code("dead_letters", "--counts", "--json")
    counted = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert counted == [{"outcome": name, "pages": 1} for name in ("5xx", "dns", "timeout")]


@pytest.mark.parametrize("words", [["--outcome", "slow"], ["--host", "a b"], ["--since", "soon"]])
def test_a_filter_that_cannot_be_used_ends_with_2(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert exit_code("dead_letters", *words) == 2
    assert capsys.readouterr().err.count("\n") == 1


def test_all_of_all_crawls_are_retried(crawl: Crawl, other: Crawl, capsys: pytest.CaptureFixture[str]) -> None:
    assert exit_code("retry_failed", "--all") == 0
    assert capsys.readouterr().out == "3 pages of 2 crawls queued for retry.\n"
    assert given_up() == []


def test_a_filter_chooses_which_are_retried(crawl: Crawl, other: Crawl) -> None:
    assert exit_code("retry_failed", "--host", "other.test") == 0
    assert given_up() == ["http://site.test/busy", "http://site.test/slow"]
    assert exit_code("retry_failed", str(crawl.id), "--outcome", "5xx") == 0
    assert given_up() == ["http://site.test/slow"]


@pytest.mark.parametrize("words", [[], ["--all", "--outcome", "5xx"], ["--outcome", "5xx", "--page", "7"]])
def test_without_saying_which_nothing_is_retried(crawl: Crawl, words: list[str]) -> None:
    assert exit_code("retry_failed", *words) == 2
    assert len(given_up()) == 2
