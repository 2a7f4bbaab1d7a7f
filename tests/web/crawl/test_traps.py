"""The traps of a crawl: on its page with reason, number and examples; on a page of their own with those released."""

import pytest
from django.contrib.auth.models import User
from django.test import Client

from crawler.core.pages.outcomes import Outcome
from crawler.core.pages.traps import TrapReason
from crawler.core.protocol.completion import State
from crawler.models import Crawl, Page, Trap
from tests.factories import a_finished_crawl, a_page


def a_trap(crawl: Crawl, name: str = "img", pages: int = 1, **fields: object) -> Trap:
    values = {"reason": TrapReason.REPEATED, "pattern": f"example.com/…/{name}/…", "quarantined": pages, **fields}
    trap = Trap.objects.create(crawl=crawl, key=name.encode().ljust(16), **values)
    for number in range(min(pages, 5)):
        a_page(crawl, f"https://example.com/{name}/{number}", Outcome.TRAP, trap_id=trap.pk, fetched_at=None)
    return trap


def a_trapped_crawl(owner: User, **fields: object) -> Crawl:
    return a_finished_crawl(owner, discovered=4, outcomes={"2xx": 1, "trap": 3}, statuses={"200": 1}, **fields)


def test_the_crawls_page_shows_each_with_its_examples_and_its_button(as_ann: Client, ann: User) -> None:
    crawl = a_trapped_crawl(ann)
    trap = a_trap(crawl, pages=1000, left_out=37)
    response = as_ann.get(f"/crawls/{crawl.id}/")
    (row,) = response.context["status"]["lists"]["traps"]
    assert row["reason"] == "Paths that repeat themselves"
    assert row["number"] == "1,000 pages"
    *examples, beyond = row["examples"].split("\n")
    assert examples == [f"https://example.com/img/{number}" for number in range(3)]
    assert beyond == "and 37 more links without a row"
    html = response.content.decode()
    assert f'<button name="trap" value="{trap.pk}"' in html
    assert "1,000 pages, and 37 more links without a row of their own, were not requested" in html


def test_released_ones_are_listed_on_their_own_page_without_a_button(as_ann: Client, ann: User) -> None:
    crawl = a_trapped_crawl(ann)
    a_trap(crawl, "old", 0, released=True)
    assert as_ann.get(f"/crawls/{crawl.id}/status").json()["lists"]["traps"] == []
    html = as_ann.get(f"/crawls/{crawl.id}/traps/").content.decode()
    assert "Released" in html
    assert "<button name=" not in html


def test_one_is_released_and_the_page_says_so(as_ann: Client, ann: User, real_redis: object) -> None:
    crawl = a_trapped_crawl(ann)
    trap = a_trap(crawl, pages=2)
    a_trap(crawl, "docs")
    response = as_ann.post(f"/crawls/{crawl.id}/release-traps", {"trap": trap.pk}, follow=True)
    assert [str(said) for said in response.context["messages"]] == [
        "Released: 1 trap with 2 pages; they will be requested now."
    ]
    assert Crawl.objects.get(pk=crawl.pk).state == State.RUNNING
    assert Page.objects.filter(status=Page.OPEN).count() == 2
    assert Trap.objects.filter(released=True).count() == 1


def test_all_are_released_from_their_page_which_is_shown_again(as_ann: Client, ann: User, real_redis: object) -> None:
    crawl = a_trapped_crawl(ann)
    a_trap(crawl, left_out=5)
    a_trap(crawl, "docs", 2)
    response = as_ann.post(f"/crawls/{crawl.id}/release-traps", {"back": "traps"}, follow=True)
    assert response.redirect_chain == [(f"/crawls/{crawl.id}/traps/", 302)]
    (said,) = response.context["messages"]
    assert str(said).startswith("Released: 2 traps with 3 pages; they will be requested now. 5 more links had no row")
    response = as_ann.post(f"/crawls/{crawl.id}/release-traps", follow=True)
    assert "Nothing to release." in response.content.decode()


@pytest.mark.parametrize("sent", ["", "none", "9" * 30])
def test_something_that_is_no_trap_releases_nothing(as_ann: Client, ann: User, real_redis: object, sent: str) -> None:
    crawl = a_trapped_crawl(ann)
    a_trap(crawl)
    as_ann.post(f"/crawls/{crawl.id}/release-traps", {"trap": sent})
    assert not Trap.objects.filter(released=True).exists()
