"""The buttons of a crawl: each does its work once, says so, and never ends on an error page."""

import pytest
from django.contrib.auth.models import User
from django.http import HttpResponse
from django.test import Client

from crawler.core.pages.outcomes import Outcome
from crawler.core.protocol.completion import State
from crawler.models import Crawl, Page
from tests.factories import a_crawl, a_finished_crawl, a_page, a_person


def press(browser: Client, crawl: Crawl, verb: str, **sent: object) -> HttpResponse:
    """What the page says after the button was pressed."""
    response: HttpResponse = browser.post(f"/crawls/{crawl.id}/{verb}", sent, follow=True)
    return response


def said(response: HttpResponse) -> list[str]:
    return [str(message) for message in response.context["messages"]]


def state_of(crawl: Crawl) -> str:
    return str(Crawl.objects.get(pk=crawl.pk).state)


def a_dead_letter(crawl: Crawl, url: str = "https://example.com/slow") -> Page:
    return a_page(crawl, url, Outcome.TIMEOUT, given_up=True, attempts=3, error="No answer within 10 s.")


def a_crawl_with_a_dead_letter(owner: User) -> tuple[Crawl, Page]:
    """A finished crawl of one page, which timed out each time."""
    crawl = a_finished_crawl(owner, discovered=1, outcomes={"timeout": 1}, statuses={})
    return crawl, a_dead_letter(crawl)


@pytest.mark.parametrize(
    ("verb", "before", "after", "line"),
    [
        ("pause", State.RUNNING, State.PAUSED, "Paused. Dispatched pages are still processed"),
        ("resume", State.PAUSED, State.RUNNING, "Resumed. It continues where it stopped."),
        ("cancel", State.RUNNING, State.CANCELLED, "Cancelled. Open pages will no longer be requested"),
        ("cancel", State.PAUSED, State.CANCELLED, "Cancelled. Open pages will no longer be requested"),
    ],
)
def test_a_button_does_what_it_says_and_the_page_confirms_it(
    as_ann: Client, ann: User, real_redis: object, verb: str, before: State, after: State, line: str
) -> None:
    crawl = a_crawl(ann, state=before)
    a_page(crawl, status=Page.OPEN, outcome="", http_status=None)
    response = press(as_ann, crawl, verb)
    assert response.redirect_chain == [(f"/crawls/{crawl.id}/", 302)]  # type: ignore[attr-defined]  # of test clients
    assert said(response)[0].startswith(line)
    assert state_of(crawl) == after


@pytest.mark.parametrize(
    ("verb", "state", "line"),
    [
        ("cancel", State.FINISHED, "It is finished; there is nothing to cancel."),
        ("retry-failed", State.FINISHED, "Nothing to retry."),
    ],
)
def test_a_button_pressed_too_late_changes_nothing_and_says_why(
    as_ann: Client, ann: User, real_redis: object, verb: str, state: State, line: str
) -> None:
    crawl = a_finished_crawl(ann, state=state)
    response = press(as_ann, crawl, verb)
    assert (response.status_code, said(response)) == (200, [line])
    assert state_of(crawl) == state


def test_a_deleted_crawl_is_gone_with_its_pages_and_the_list_says_so(
    as_ann: Client, ann: User, real_redis: object
) -> None:
    crawl = a_finished_crawl(ann, discovered=1, outcomes={"2xx": 1}, statuses={"200": 1})
    a_page(crawl)
    response = press(as_ann, crawl, "delete")
    assert response.redirect_chain == [("/", 302)]  # type: ignore[attr-defined]  # of test clients
    assert said(response) == ["Deleted: the crawl of example.com with its 1 page."]
    assert not Crawl.objects.exists()
    assert not Page.objects.exists()


def test_deleting_twice_is_no_error(as_ann: Client, ann: User, real_redis: object) -> None:
    crawl = a_finished_crawl(ann)
    press(as_ann, crawl, "delete")
    response = press(as_ann, crawl, "delete")
    assert (response.status_code, said(response)) == (200, ["That crawl was already deleted."])


def test_all_dead_letters_are_sent_again_and_the_crawl_runs(as_ann: Client, ann: User, real_redis: object) -> None:
    crawl, letter = a_crawl_with_a_dead_letter(ann)
    assert said(press(as_ann, crawl, "retry-failed")) == ["1 page queued for retry."]
    letter.refresh_from_db()
    assert (letter.status, letter.given_up) == (Page.OPEN, False)
    assert state_of(crawl) == State.RUNNING


def test_the_named_dead_letters_alone_are_sent_again(as_ann: Client, ann: User, real_redis: object) -> None:
    crawl = a_finished_crawl(ann, discovered=3, outcomes={"timeout": 3}, statuses={})
    letters = [a_dead_letter(crawl, f"https://example.com/{number}") for number in range(3)]
    assert said(press(as_ann, crawl, "retry-failed", page=[letters[0].pk, letters[2].pk])) == [
        "2 pages queued for retry."
    ]
    assert list(Page.objects.filter(given_up=True)) == [letters[1]]


@pytest.mark.parametrize("page", ["", "all", "-1", "9" * 30, "1; DROP TABLE"])
def test_a_page_that_cannot_be_is_no_page_and_never_means_all(
    as_ann: Client, ann: User, real_redis: object, page: str
) -> None:
    crawl, letter = a_crawl_with_a_dead_letter(ann)
    assert said(press(as_ann, crawl, "retry-failed", page=page)) == ["Nothing to retry."]
    letter.refresh_from_db()
    assert letter.given_up


def test_a_page_of_another_crawl_is_not_sent_again(as_ann: Client, ann: User, real_redis: object) -> None:
    crawl, _ = a_crawl_with_a_dead_letter(ann)
    _, hidden = a_crawl_with_a_dead_letter(a_person("bob"))
    press(as_ann, crawl, "retry-failed", page=hidden.pk)
    hidden.refresh_from_db()
    assert hidden.given_up


@pytest.mark.parametrize(
    ("back", "where"),
    [("2", "/crawls/{}/dead-letters/?page=2"), ("", "/crawls/{}/"), ("https://evil.example/", "/crawls/{}/")],
)
def test_sending_again_leads_back_to_where_the_button_was(
    as_ann: Client, ann: User, real_redis: object, back: str, where: str
) -> None:
    crawl = a_finished_crawl(ann)
    response = as_ann.post(f"/crawls/{crawl.id}/retry-failed", {"back": back})
    assert response["Location"] == where.format(crawl.id)


def test_after_the_login_one_is_back_at_the_crawl_and_not_at_the_button(client: Client, ann: User) -> None:
    crawl = a_crawl(ann)
    response = client.post(f"/crawls/{crawl.id}/pause")
    assert (response.status_code, response["Location"]) == (302, f"/login/?next=/crawls/{crawl.id}/")
    assert state_of(crawl) == State.RUNNING


@pytest.mark.parametrize(("verb", "state"), [("resume", State.PAUSED), ("delete", State.RUNNING)])
def test_with_redis_down_the_page_says_so_and_it_can_be_tried_again(
    as_ann: Client, ann: User, verb: str, state: State
) -> None:
    response = press(as_ann, a_crawl(ann, state=state), verb)
    assert response.status_code == 200
    line = "Redis does not respond, so this may be incomplete. You can safely try again in a moment."
    assert said(response) == [line]


@pytest.mark.parametrize("verb", ["pause", "cancel"])
def test_with_redis_down_a_crawl_can_still_be_stopped(as_ann: Client, ann: User, verb: str) -> None:
    crawl = a_crawl(ann)
    assert press(as_ann, crawl, verb).status_code == 200
    assert state_of(crawl) in {State.PAUSED, State.CANCELLED}
