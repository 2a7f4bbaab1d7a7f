"""Pages over the API: listed with filters, one with its facts and links, traps, exports."""

import json
from typing import Any

import pytest
from django.contrib.auth.models import User

from crawler.core.html import link_codec
from crawler.core.options.catalogue import CrawlOptions
from crawler.core.pages.outcomes import Outcome
from crawler.core.pages.page_field import PAGE_TABLE
from crawler.core.pages.page_fields import fields_from
from crawler.core.urls.normalise import key_of
from crawler.models import Crawl, Page, PageFacts, PageLinks, PageLoad, Trap
from tests.api.calling import Caller
from tests.api.routes.test_crawls import items_of
from tests.factories import a_finished_crawl, a_page

SITE = "https://example.com"


@pytest.fixture
def crawl(ann: User) -> Crawl:
    return a_finished_crawl(ann)


def urls(caller: Caller, crawl: Crawl, query: str) -> list[str]:
    return [item["url"].removeprefix(SITE) for item in items_of(caller, f"/crawls/{crawl.id}/pages?{query}")]


def some_pages(crawl: Crawl) -> None:
    a_page(crawl, f"{SITE}/", 200)
    a_page(crawl, f"{SITE}/gone", 404)
    a_page(crawl, f"{SITE}/slow", Outcome.TIMEOUT, given_up=True)
    a_page(crawl, f"{SITE}/open", status=Page.OPEN, outcome="", http_status=None)
    a_page(crawl, f"{SITE}/map.xml", 200, kind="sitemap")
    a_page(crawl, "https://other.example/", Outcome.EXTERNAL, kind="external")


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("", ["/", "/gone", "/slow", "/open", "/map.xml"]),
        ("limit=2", ["/", "/gone", "/slow", "/open", "/map.xml"]),
        ("outcome=4xx&outcome=open&limit=1", ["/gone", "/open"]),
        ("http_status=200&kind=page", ["/"]),
        ("kind=external", ["https://other.example/"]),
        ("url=example.com/gone", ["/gone"]),
        ("show=dead-letters", ["/slow"]),
        ("sort=-url&limit=2", ["/slow", "/open", "/map.xml", "/gone", "/"]),
    ],
)
def test_pages_are_listed_as_asked_for(by_ann: Caller, crawl: Crawl, query: str, found: list[str]) -> None:
    some_pages(crawl)
    assert urls(by_ann, crawl, query) == found


def test_a_row_has_what_an_exports_row_has(by_ann: Caller, crawl: Crawl) -> None:
    start = a_page(crawl, f"{SITE}/", title="Start")
    a_page(crawl, f"{SITE}/a", parent_id=start.pk, redirect_to=f"{SITE}/b")
    first, second = items_of(by_ann, f"/crawls/{crawl.id}/pages")
    assert {field.name for field in fields_from(PAGE_TABLE)} <= set(first)
    assert (first["title"], first["parent"], first["redirect_to"]) == ("Start", None, None)
    assert (second["parent"], second["redirect_to"]) == (f"{SITE}/", f"{SITE}/b")


def test_a_list_costs_the_same_few_queries_however_long(
    by_ann: Caller, crawl: Crawl, django_assert_max_num_queries: Any
) -> None:
    for number in range(50):
        a_page(crawl, f"{SITE}/{number}")
    with django_assert_max_num_queries(6):
        by_ann.get(f"/crawls/{crawl.id}/pages")


def test_dead_letters_have_a_list_of_their_own(by_ann: Caller, crawl: Crawl) -> None:
    some_pages(crawl)
    [letter] = items_of(by_ann, f"/crawls/{crawl.id}/dead-letters")
    assert (letter["url"], letter["outcome"], letter["given_up"]) == (f"{SITE}/slow", "timeout", True)


def test_a_page_tells_what_its_server_and_the_page_said(by_ann: Caller, crawl: Crawl) -> None:
    page = a_page(crawl)
    PageFacts.objects.create(page_id=page.pk, crawl=crawl, headers="A: 1\nB: 2", h1="Hello", words=7)
    facts = by_ann.get(f"/crawls/{crawl.id}/pages/{page.pk}").json()["facts"]
    assert (facts["headers"], facts["h1"], facts["words"]) == (["A: 1", "B: 2"], "Hello", 7)


def test_a_page_tells_how_it_loaded_in_a_browser(by_ann: Caller, crawl: Crawl) -> None:
    page, other = a_page(crawl), a_page(crawl, f"{SITE}/other")
    script = {"url": f"{SITE}/x.js", "kind": "script", "error": "reset", "problem": "failed"}
    PageLoad.objects.create(page_id=page.pk, crawl=crawl, cls=0.25, failed_requests=1, requests=[script])
    load = by_ann.get(f"/crawls/{crawl.id}/pages/{page.pk}").json()["load"]
    assert (load["lcp_ms"], load["cls"], load["failed_requests"], load["console"]) == (None, 0.25, 1, [])
    assert load["requests"] == [{**script, "status": None, "bytes": None, "ms": None}]
    assert by_ann.get(f"/crawls/{crawl.id}/pages/{other.pk}").json()["load"] is None


def test_a_page_without_a_response_has_no_metadata(by_ann: Caller, crawl: Crawl) -> None:
    page = a_page(crawl, answer=Outcome.TIMEOUT)
    assert by_ann.get(f"/crawls/{crawl.id}/pages/{page.pk}").json()["facts"] is None


def test_links_out_of_a_page_and_into_it(by_ann: Caller, crawl: Crawl) -> None:
    start = a_page(crawl, f"{SITE}/")
    gone = a_page(crawl, f"{SITE}/gone", 404, key=key_of(f"{SITE}/gone"))
    there = (gone.url, f"{SITE}/unknown")
    PageLinks.objects.create(
        page_id=start.pk,
        crawl=crawl,
        keys=link_codec.keys(there),
        packed=link_codec.packed(
            there, link_codec.Occurrences.once(there, ["Gone", "What"], {gone.url: "nofollow"}), start.url
        ),
    )
    out = items_of(by_ann, f"/crawls/{crawl.id}/pages/{start.pk}/links-out?limit=1")
    assert [(link["url"], link["text"], link["page"], link["http_status"]) for link in out] == [
        (gone.url, "Gone", gone.pk, 404),
        (there[1], "What", None, None),
    ]
    assert items_of(by_ann, f"/crawls/{crawl.id}/pages/{gone.pk}/links-in") == [
        {"page": start.url, "text": "Gone", "rel": "nofollow"}
    ]


@pytest.mark.parametrize("query", ["sort=beauty", "depth=deep", "status=9xx", "show=none", "cursor=OTk5OTk"])
def test_pages_that_cannot_be_asked_for_are_no_error_of_ours(by_ann: Caller, crawl: Crawl, query: str) -> None:
    some_pages(crawl)
    response = by_ann.get(f"/crawls/{crawl.id}/pages?{query}")
    assert (response.status_code, response.json()["errors"][0]["field"]) == (422, query.partition("=")[0])


def test_chosen_pages_are_exported_in_the_order_asked_for(by_ann: Caller, crawl: Crawl) -> None:
    some_pages(crawl)
    response = by_ann.get(f"/crawls/{crawl.id}/pages/exports/jsonl?sort=-url&status=2xx")
    rows = [json.loads(line) for line in b"".join(response.streaming_content).splitlines()]
    assert [row["url"].removeprefix(SITE) for row in rows] == ["/map.xml", "/"]


@pytest.mark.parametrize("path", ["pages/99999999999999999999999", "pages/-1", "pages/x", "exports/nonsense"])
def test_what_cannot_be_there_is_no_error_of_ours(by_ann: Caller, crawl: Crawl, path: str) -> None:
    assert by_ann.get(f"/crawls/{crawl.id}/{path}").status_code in {404, 422}


def test_an_export_is_streamed(by_ann: Caller, crawl: Crawl) -> None:
    some_pages(crawl)
    response = by_ann.get(f"/crawls/{crawl.id}/exports/jsonl")
    rows = [json.loads(line) for line in b"".join(response.streaming_content).splitlines()]
    assert [row["url"] for row in rows][:2] == [f"{SITE}/", f"{SITE}/gone"]
    assert response["Content-Disposition"] == f'attachment; filename="pages-{crawl.id}.jsonl"'


def test_the_formats_are_those_in_which_the_crawl_has_something_to_write(by_ann: Caller, ann: User) -> None:
    crawl = a_finished_crawl(ann, options=CrawlOptions(keep=("text",)))
    listed = {export["format"] for export in by_ann.get(f"/crawls/{crawl.id}/exports").json()["items"]}
    assert {"csv", "text.zip"} <= listed
    assert not listed & {"html.zip", "warc.gz"}


@pytest.mark.parametrize(("body", "released"), [(None, 1), ({"traps": []}, 0)])
def test_traps_are_listed_and_released(
    by_ann: Caller, crawl: Crawl, real_redis: object, body: dict[str, Any] | None, released: int
) -> None:
    trap = Trap.objects.create(crawl=crawl, key=b"k", reason="dates", pattern="/c/*", quarantined=1)
    a_page(crawl, f"{SITE}/c/1", Outcome.TRAP, trap_id=trap.pk)
    [listed] = by_ann.get(f"/crawls/{crawl.id}/traps").json()["items"]
    assert (listed["pattern"], listed["examples"]) == ("/c/*", [f"{SITE}/c/1"])
    assert by_ann.post(f"/crawls/{crawl.id}/traps/release", body).json()["traps"] == released
