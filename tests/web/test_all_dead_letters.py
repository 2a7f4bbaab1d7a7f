"""The page of the dead letters of all crawls: filters, numbers by error, paging, and the buttons that retry them."""

import pytest
from django.contrib.auth.models import User
from django.test import Client

from crawler.core.pages.outcomes import Outcome
from crawler.core.protocol.completion import State
from crawler.models import Crawl, Page
from crawler.web.crawl import dead_letters
from tests.factories import a_finished_crawl, a_group, a_page, a_person


@pytest.fixture
def crawls(ann: User) -> list[Crawl]:
    """Two of ann's, with three dead letters in turn."""
    made = [a_finished_crawl(ann), a_finished_crawl(ann)]
    for number, answer in enumerate([Outcome.TIMEOUT, 503, Outcome.TIMEOUT]):
        a_page(made[number % 2], f"https://example.com/{number}", answer, given_up=True, given_up_at=1.0 + number)
    return made


def shown(browser: Client, query: str = "") -> list[str]:
    return [row["url"][-1] for row in browser.get(f"/dead-letters/{query}").context["rows"]]


def test_they_are_listed_the_newest_first_with_their_crawls(as_ann: Client, crawls: list[Crawl]) -> None:
    assert shown(as_ann) == ["2", "1", "0"]
    text = as_ann.get("/dead-letters/").content.decode()
    assert all(f'href="/crawls/{crawl.id}/"' in text for crawl in crawls)


def test_errors_are_counted_and_lead_to_their_pages(as_ann: Client, crawls: list[Crawl]) -> None:
    counts = as_ann.get("/dead-letters/?host=example.com").context["counts"]
    assert [(row["label"], row["number"]) for row in counts] == [("timed out", "2"), ("server error", "1")]
    assert shown(as_ann, counts[1]["address"]) == ["1"]
    assert "host=example.com" in counts[1]["address"]


def test_every_page_is_reached_forwards_and_backwards(
    as_ann: Client, crawls: list[Crawl], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(dead_letters, "ROWS_PER_PAGE", 1)
    pages, address = list[str](), ""
    while True:
        context = as_ann.get(f"/dead-letters/{address}").context
        pages += [row["url"][-1] for row in context["rows"]]
        if not context["older"]:
            break
        address = context["older"]
    assert pages == ["2", "1", "0"]
    middle = as_ann.get(f"/dead-letters/{context['newer']}").context
    assert [row["url"][-1] for row in middle["rows"]] == ["1"]
    first = as_ann.get(f"/dead-letters/{middle['newer']}").context
    assert ([row["url"][-1] for row in first["rows"]], first["newer"]) == (["2"], "")


@pytest.mark.parametrize("query", ["?outcome=slow", "?host=a%20b", "?since=soon", "?crawl=7", "?after=x", "?before=x"])
def test_an_address_that_cannot_be_used_says_so(as_ann: Client, crawls: list[Crawl], query: str) -> None:
    response = as_ann.get(f"/dead-letters/{query}")
    assert response.status_code == 400
    assert 'class="error"' in response.content.decode()


@pytest.mark.usefixtures("real_redis")
def test_the_chosen_ones_are_sent_again(as_ann: Client, crawls: list[Crawl]) -> None:
    chosen = Page.objects.filter(url__endswith="2").values_list("pk", flat=True)
    response = as_ann.post("/dead-letters/retry", {"page": list(chosen), "outcome": "timeout"}, follow=True)
    assert response.redirect_chain == [("/dead-letters/?outcome=timeout", 302)]
    assert "1 page of 1 crawl queued for retry." in response.content.decode()
    assert shown(as_ann) == ["1", "0"]


@pytest.mark.usefixtures("real_redis")
def test_all_that_match_are_sent_again(as_ann: Client, crawls: list[Crawl]) -> None:
    confirmation = as_ann.get("/dead-letters/?outcome=timeout").content.decode()
    assert "Yes, retry 2 pages" in confirmation
    as_ann.post("/dead-letters/retry", {"all": "1", "outcome": "timeout"})
    assert shown(as_ann) == ["1"]
    crawls[0].refresh_from_db()
    assert crawls[0].state == State.RUNNING


@pytest.mark.usefixtures("real_redis")
def test_without_a_choice_nothing_is_sent(as_ann: Client, crawls: list[Crawl]) -> None:
    as_ann.post("/dead-letters/retry")
    assert shown(as_ann) == ["2", "1", "0"]


@pytest.mark.usefixtures("real_redis")
def test_those_of_a_crawl_that_is_only_seen_have_no_box_and_stay(as_ann: Client, ann: User) -> None:
    shared = a_finished_crawl(a_person("bob"), group=a_group("editors", ann))
    letter = a_page(shared, "https://example.com/9", 503, given_up=True)
    text = as_ann.get("/dead-letters/").content.decode()
    assert "https://example.com/9" in text
    assert 'type="checkbox"' not in text
    assert "Send" not in text
    as_ann.post("/dead-letters/retry", {"all": "1", "page": [letter.pk]})
    assert shown(as_ann) == ["9"]


def test_those_of_others_are_not_there(as_ann: Client) -> None:
    a_page(a_finished_crawl(a_person("bob")), "https://example.com/9", 503, given_up=True)
    assert "No dead letters" in as_ann.get("/dead-letters/").content.decode()
