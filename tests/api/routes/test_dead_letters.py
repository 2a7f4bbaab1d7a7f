"""The dead letters of all crawls over the API: listed page by page, counted, and retried."""

from datetime import UTC, datetime

import pytest
from django.contrib.auth.models import User

from crawler.core.pages.outcomes import Outcome
from crawler.core.protocol.completion import State
from crawler.models import Crawl, Page
from tests.api.calling import Caller
from tests.api.routes.test_crawls import items_of
from tests.factories import a_finished_crawl, a_group, a_page

AT = datetime(2026, 11, 21, 10, tzinfo=UTC)


@pytest.fixture
def crawls(ann: User, bob: User) -> list[Crawl]:
    """Two of ann's, each with two dead letters, and one of bob's."""
    made = [a_finished_crawl(owner) for owner in (ann, ann, bob)]
    for number, crawl in enumerate([*made, *made[:2]]):
        answer = 503 if number % 2 else Outcome.TIMEOUT
        at = AT.timestamp() + number
        a_page(crawl, f"https://example.com/{number}", answer, given_up=True, given_up_at=at, attempts=3)
    return made


def numbers(caller: Caller, query: str = "") -> list[str]:
    return [item["url"][-1] for item in items_of(caller, f"/dead-letters?{query}")]


def test_those_of_own_crawls_are_listed_the_newest_first(by_ann: Caller, by_bob: Caller, crawls: list[Crawl]) -> None:
    assert numbers(by_ann) == numbers(by_ann, "limit=1") == ["4", "3", "1", "0"]
    assert numbers(by_bob) == ["2"]


def test_each_says_which_crawl_it_is_of_and_since_when(by_ann: Caller, crawls: list[Crawl]) -> None:
    newest = by_ann.get("/dead-letters?limit=1").json()["items"][0]
    assert (newest["crawl"], newest["site"]) == (str(crawls[1].id), "example.com")
    assert (newest["given_up_at"], newest["given_up"], newest["attempts"]) == ("2026-11-21T10:00:04Z", True, 3)


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("outcome=5xx", ["3", "1"]),
        ("host=example.com", ["4", "3", "1", "0"]),
        ("host=example.org", []),
        ("since=2026-11-21T10:00:01Z", ["4", "3", "1"]),
    ],
)
def test_filters_select(by_ann: Caller, crawls: list[Crawl], query: str, found: list[str]) -> None:
    assert numbers(by_ann, query) == found
    assert by_ann.get(f"/dead-letters/counts?{query}").json()["total"] == len(found)


@pytest.mark.parametrize("query", ["outcome=slow", "host=a b", "since=yesterday", "crawl=7", "cursor=x"])
def test_what_cannot_be_used_is_refused(by_ann: Caller, query: str) -> None:
    assert by_ann.get(f"/dead-letters?{query}").status_code == 422


def test_they_are_counted_by_error(by_ann: Caller, crawls: list[Crawl]) -> None:
    assert by_ann.get("/dead-letters/counts").json() == {"total": 4, "outcomes": {"5xx": 2, "timeout": 2}}


@pytest.mark.usefixtures("real_redis")
def test_all_are_retried_in_one_call_and_a_second_call_finds_none(by_ann: Caller, crawls: list[Crawl]) -> None:
    done = by_ann.post("/dead-letters/retry", {"all": True}).json()
    message = "4 pages of 2 crawls queued for retry."
    assert done == {"sent": 4, "crawls": 2, "more": False, "message": message}
    assert by_ann.post("/dead-letters/retry", {"all": True}).json()["sent"] == 0
    states = list(Crawl.objects.order_by("created_at").values_list("state", flat=True))
    assert states == [State.RUNNING, State.RUNNING, State.FINISHED]


@pytest.mark.usefixtures("real_redis")
def test_a_filter_or_ids_choose_those_to_retry(by_ann: Caller, crawls: list[Crawl]) -> None:
    assert by_ann.post("/dead-letters/retry", {"outcome": "5xx"}).json()["sent"] == 2
    foreign = Page.objects.get(url="https://example.com/2")
    own = Page.objects.get(url="https://example.com/4")
    assert by_ann.post("/dead-letters/retry", {"pages": [own.pk, foreign.pk]}).json()["sent"] == 1
    assert numbers(by_ann) == ["0"]
    foreign.refresh_from_db()
    assert foreign.given_up


@pytest.mark.usefixtures("real_redis")
def test_who_only_sees_a_crawl_retries_nothing_of_it(by_ann: Caller, ann: User, crawls: list[Crawl]) -> None:
    Crawl.objects.filter(id=crawls[2].id).update(group=a_group("editors", ann))
    assert numbers(by_ann) == ["4", "3", "2", "1", "0"]
    assert by_ann.post("/dead-letters/retry", {"crawl": str(crawls[2].id)}).json()["sent"] == 0
    assert by_ann.post("/dead-letters/retry", {"all": True}).json()["sent"] == 4


@pytest.mark.parametrize("body", [{}, {"all": True, "outcome": "5xx"}, {"all": True, "pages": [1]}, {"pages": [-1]}])
def test_a_call_says_exactly_one_way_which(by_ann: Caller, body: dict[str, object]) -> None:
    assert by_ann.post("/dead-letters/retry", body).status_code == 422
