"""The verbs that users of Firecrawl know."""

from typing import Any

import pytest
from django.contrib.auth.models import User

from crawler.core.html import link_codec
from crawler.core.pages.outcomes import Outcome
from crawler.core.protocol.completion import State
from crawler.models import Crawl, PageLinks
from tests.api.calling import Caller
from tests.factories import a_crawl, a_finished_crawl, a_page

ASKED = {
    "url": "http://127.0.0.1:8/docs/start",
    "limit": 7,
    "maxDepth": 2,
    "includePaths": ["^/docs/"],
    "excludePaths": ["/old$"],
    "scrapeOptions": {"formats": ["markdown", "html"]},
    "zeroDataRetention": False,
}


@pytest.fixture
def private_allowed(settings: Any, real_redis: object) -> None:
    settings.CRAWLER_PRIVATE_HOSTS = ["127.0.0.1"]


@pytest.mark.usefixtures("private_allowed")
def test_a_crawl_is_started_in_their_words(by_ann: Caller) -> None:
    answer = by_ann.post("/crawl", ASKED).json()
    crawl = Crawl.objects.get()
    assert (answer["success"], answer["id"]) == (True, str(crawl.id))
    assert answer["url"] == f"http://testserver/api/v1/crawl/{crawl.id}"
    assert "other formats" in answer["warning"]
    chosen = crawl.chosen
    assert (chosen.max_pages, chosen.max_depth, chosen.path_prefixes, chosen.sitemaps) == (7, 2, ("/docs/",), True)


@pytest.mark.usefixtures("private_allowed")
def test_a_call_sent_twice_starts_one(by_ann: Caller) -> None:
    ids = {by_ann.post("/crawl", ASKED, X_Idempotency_Key="k").json()["id"] for _ in range(2)}
    assert len(ids) == Crawl.objects.count() == 1


@pytest.mark.parametrize(
    ("more", "field"),
    [
        ({"allowExternalLinks": True}, "allowExternalLinks"),
        ({"sitemap": "only"}, "sitemap"),
        ({"includePaths": ["("]}, "include"),
        ({"limit": 0}, "limit"),
        ({"webhook": {"headers": {}}}, "webhook"),
        ({"url": "ftp://x/"}, "start_urls"),
    ],
)
@pytest.mark.usefixtures("private_allowed")
def test_what_cannot_be_had_is_refused_in_a_way_their_clients_read(
    by_ann: Caller, more: dict[str, Any], field: str
) -> None:
    response = by_ann.post("/crawl", {**ASKED, **more})
    answer = response.json()
    assert (response.status_code, answer["success"], answer["errors"][0]["field"]) == (422, False, field)
    assert answer["error"] == answer["detail"]


@pytest.mark.parametrize(("state", "status"), [(State.PAUSED, "scraping"), (State.FINISHED, "completed")])
def test_the_status_is_one_they_know(by_ann: Caller, ann: User, state: State, status: str) -> None:
    crawl = a_finished_crawl(ann, state=state)
    answer = by_ann.get(f"/crawl/{crawl.id}").json()
    assert (answer["status"], answer["total"], answer["completed"]) == (status, 3, 3)


def test_its_pages_come_with_their_metadata_and_an_address_of_more(by_ann: Caller, ann: User) -> None:
    crawl = a_finished_crawl(ann)
    first = a_page(crawl, "https://example.com/", title="Start")
    a_page(crawl, "https://example.com/gone", 404)
    a_page(crawl, "https://example.com/b")
    there = ["https://example.com/b"]
    packed = link_codec.packed(there, link_codec.Occurrences.once(there, ["B"], {}), first.url)
    PageLinks.objects.create(page_id=first.pk, crawl=crawl, keys=link_codec.keys(there), packed=packed)
    answer = by_ann.get(f"/crawl/{crawl.id}?limit=1&links=true").json()
    assert [(page["metadata"]["title"], page["links"]) for page in answer["data"]] == [("Start", there)]
    following = by_ann.get(answer["next"]).json()
    assert [page["metadata"]["sourceURL"] for page in following["data"]] == ["https://example.com/b"]
    assert following["next"] is None


def test_a_crawl_is_cancelled_as_often_as_they_like(by_ann: Caller, ann: User, real_redis: object) -> None:
    crawl = a_crawl(ann)
    for _ in range(2):
        assert by_ann.delete(f"/crawl/{crawl.id}").json() == {"success": True, "status": "cancelled"}
    crawl.refresh_from_db()
    assert crawl.state == State.CANCELLED


def test_a_finished_crawl_cannot_be_cancelled(by_ann: Caller, ann: User, real_redis: object) -> None:
    assert by_ann.delete(f"/crawl/{a_finished_crawl(ann).id}").status_code == 409


def test_errors_are_those_without_an_answer_and_those_robots_forbids(by_ann: Caller, ann: User) -> None:
    crawl = a_finished_crawl(ann)
    a_page(crawl, "https://example.com/slow", Outcome.TIMEOUT, error="No answer within 10 s.")
    a_page(crawl, "https://example.com/no", Outcome.ROBOTS)
    answer = by_ann.get(f"/crawl/{crawl.id}/errors").json()
    assert [(error["url"], error["error"]) for error in answer["errors"]] == [
        ("https://example.com/slow", "No answer within 10 s.")
    ]
    assert answer["robotsBlocked"] == ["https://example.com/no"]


def test_crawls_under_way_are_listed(by_ann: Caller, ann: User) -> None:
    going = a_crawl(ann)
    a_finished_crawl(ann)
    assert [crawl["id"] for crawl in by_ann.get("/crawl/active").json()["crawls"]] == [str(going.id)]


@pytest.mark.parametrize(
    ("more", "found"),
    [
        ({}, ["/", "/docs/", "//docs."]),
        ({"search": "DOCS"}, ["/docs/", "//docs."]),
        ({"limit": 1}, ["/"]),
        ({"includeSubdomains": False}, ["/", "/docs/"]),
    ],
)
def test_a_map_is_made_of_the_newest_crawl_of_the_site(
    by_ann: Caller, ann: User, more: dict[str, Any], found: list[str]
) -> None:
    a_finished_crawl(ann)
    crawl = a_finished_crawl(ann, start_urls=["https://www.example.com/"])
    pages = {"/": "https://example.com/", "/docs/": "https://example.com/docs/", "//docs.": "https://docs.example.com/"}
    for url, came in zip(pages.values(), [200, 200, Outcome.LIMIT], strict=True):
        a_page(crawl, url, came)
    a_page(crawl, "https://example.com/gone", 404)
    a_page(crawl, "https://example.com/private", Outcome.ROBOTS)
    answer = by_ann.post("/map", {"url": "example.com", **more}).json()
    assert answer["links"] == [pages[name] for name in found]


def test_a_site_that_was_never_crawled_has_no_map(by_ann: Caller) -> None:
    response = by_ann.post("/map", {"url": "https://never.example/"})
    assert (response.status_code, response.json()["success"]) == (404, False)
