"""Two crawls whose sites fail for some pages, with real workers: their dead letters are in one list, and one call has
them all tried again, with figures that add up."""

import json
from uuid import UUID

from django.contrib.auth.models import User

from crawler.core.access.permissions import ALL_SCOPES
from crawler.core.protocol.counters import adds_up
from tests.api.calling import Caller, a_token
from tests.site import Answer, Reply, Site, page
from tests.stack import Stack

FAILING = 3


def site_of(pages: int) -> Site:
    """A start page that leads to this many pages, of which the first few fail once."""
    answers: dict[str, Answer] = {"/": page(*(f"/{number}" for number in range(pages)))}
    for number in range(pages):
        fails = number < FAILING
        answers[f"/{number}"] = _fails_once if fails else page()
    return Site(answers)


def _fails_once(before: int) -> Reply:
    return Reply(page("/found-later"), status=200 if before else 500)


def test_the_dead_letters_of_two_crawls_are_listed_and_tried_again_in_one_call(stack: Stack) -> None:
    stack.env = {**stack.env, "CRAWLER_MAX_ATTEMPTS": "1"}
    for _ in range(2):
        stack.start_worker()
    with site_of(8).serving() as first, site_of(12).serving() as second:
        crawls = [stack.start(f"{site.url}/") for site in (first, second)]
        stack.wait_for(lambda: all(rounds_of(stack, crawl) == 1 for crawl in crawls))
        listed = stack.within(letters_of)
        assert {letter["crawl"] for letter in listed} == {str(crawl) for crawl in crawls}
        assert sorted(letter["url"] for letter in listed) == sorted(
            f"{site.url}/{number}" for site in (first, second) for number in range(FAILING)
        )
        times = [letter["given_up_at"] for letter in listed]
        assert times == sorted(times, reverse=True)
        done = stack.within(retried)
        assert (done["sent"], done["crawls"], done["more"]) == (2 * FAILING, 2, False)
        stack.wait_for(lambda: all(rounds_of(stack, crawl) == 2 for crawl in crawls))
        for crawl, site, pages in zip(crawls, (first, second), (8, 12), strict=True):
            receipt = stack.crawl(crawl)
            asked = {path: times for path, times in site.hits.items() if path not in {"/robots.txt", "/found-later"}}
            assert asked == {"/": 1, **{f"/{number}": 2 if number < FAILING else 1 for number in range(pages)}}
            assert json.loads(receipt["outcomes"]) == {"2xx": pages + 1, "4xx": 1}  # nothing is found later
            notice = stack.rows("SELECT receipt FROM crawler_notice WHERE crawl_id = ? AND round = 2", crawl.hex)[0]
            assert adds_up(json.loads(notice["receipt"]))
            came, went, again, dead = json.loads(receipt["flow"])[-1][1:]
            assert (came, went) == (pages + 2 + FAILING, pages + 2 + FAILING)
            assert (again, dead) == (FAILING, FAILING)
        assert stack.within(letters_of) == []


def rounds_of(stack: Stack, crawl: UUID) -> int:
    """How often it has been finished; 0 while it runs."""
    row = stack.crawl(crawl)
    return int(row["round"]) if row["state"] == "finished" else 0


def _caller() -> Caller:
    root, _ = User.objects.get_or_create(username="root", is_superuser=True)
    return Caller(a_token(root, *ALL_SCOPES))


def letters_of() -> list[dict[str, object]]:
    found: list[dict[str, object]] = _caller().get("/dead-letters").json()["items"]
    return found


def retried() -> dict[str, object]:
    done: dict[str, object] = _caller().post("/dead-letters/retry", {"all": True}).json()
    return done
