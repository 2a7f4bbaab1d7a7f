"""What is known of a crawl besides its pages, over the API: kept content, graph, figures, ways; and rules tried out."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import User

from crawler.core.pages.content_formats import FORMS
from crawler.models import Crawl, Page, PageFacts
from crawler.storage.content.objects import packed
from crawler.storage.content.shelf import Shelf, named
from tests.api.calling import Caller
from tests.content_storages import kept_in
from tests.factories import SITE, a_finished_crawl, a_page, make_linked_crawl
from tests.site import Site

HTML = "<script>alert('Grüße')</script>".encode("latin-1")


@pytest.fixture
def page(ann: User, tmp_path: Path, settings: Any) -> Page:
    """A page of ann's, kept in every form; WARC is what it is."""
    kept_in(tmp_path, settings)
    crawl = a_finished_crawl(ann)
    made, shelf = a_page(crawl), Shelf(str(crawl.id), "batch")
    places = shelf.put({form: packed(HTML) for form in FORMS})
    headers = "Content-Type: text/html; charset=iso-8859-1"
    PageFacts.objects.create(page_id=made.id, crawl=crawl, headers=headers, kept=named(places, shelf.clear()))
    return made


@pytest.mark.parametrize("form", FORMS)
def test_kept_content_is_a_download_that_nothing_runs(by_ann: Caller, page: Page, form: str) -> None:
    response = by_ann.get(f"/crawls/{page.crawl_id}/pages/{page.id}/content/{form}")
    assert response.status_code == 200
    assert response["Content-Disposition"].startswith("attachment; ")
    others = {"warc": "application/octet-stream", "screenshot": "image/webp", "pdf": "application/pdf"}
    assert response["Content-Type"] == others.get(form, "text/plain; charset=utf-8")
    assert (response["X-Content-Type-Options"], "sandbox" in response["Content-Security-Policy"]) == ("nosniff", True)
    if form == "html":
        assert response.content.decode() == HTML.decode("latin-1")


def test_a_page_says_in_which_forms_it_was_kept(by_ann: Caller, page: Page) -> None:
    PageFacts.objects.update(kept={"html": PageFacts.objects.get().kept["html"], "text": "too large"})
    below = f"/api/v1/crawls/{page.crawl_id}/pages/{page.id}/content"
    assert by_ann.get(f"/crawls/{page.crawl_id}/pages/{page.id}").json()["kept"] == [
        {"form": "html", "url": f"{below}/html", "why_not": ""},
        {"form": "text", "url": None, "why_not": "too large"},
    ]
    assert by_ann.get(f"/crawls/{page.crawl_id}/pages/{page.id}/content/text").status_code == 404


def test_content_that_is_gone_is_gone(by_ann: Caller, page: Page, tmp_path: Path) -> None:
    for file in tmp_path.rglob("*"):
        if file.is_file():
            file.unlink()
    assert by_ann.get(f"/crawls/{page.crawl_id}/pages/{page.id}/content/text").status_code == 410


def test_the_graph_has_pages_and_links(by_ann: Caller, ann: User) -> None:
    crawl = make_linked_crawl(owner=ann)
    graph = by_ann.get(f"/crawls/{crawl.id}/graph").json()
    assert (graph["nodes"][0]["url"], graph["summary"]) == ("http://site.test/", "4 pages.")
    assert [0, 1, 1] in graph["lines"]
    assert by_ann.get(f"/crawls/{crawl.id}/graph?within=http://other.test/").json()["nodes"] == []


def test_the_figures_count_depths_and_hosts(by_ann: Caller, ann: User) -> None:
    crawl = a_finished_crawl(ann, samples=[[1.0, 0, 0], [2.0, 9, 5]])
    a_page(crawl)
    a_page(crawl, f"{SITE}a", 404, depth=1)
    figures = by_ann.get(f"/crawls/{crawl.id}/figures").json()
    assert (figures["depths"], figures["statuses"]) == ({"0": 1, "1": 1}, {"200": 3})
    assert [(host["name"], host["pages"], host["errors"]) for host in figures["hosts"]] == [("example.com", 2, 1)]
    assert figures["pace"] == [{"at": "1970-01-01T00:00:02Z", "rate": 5.0}]


def test_a_page_tells_how_it_was_found(by_ann: Caller, ann: User) -> None:
    crawl = a_finished_crawl(ann)
    start = a_page(crawl)
    page = a_page(crawl, f"{SITE}a", parent_id=start.pk, redirect_to=SITE)
    ways = by_ann.get(f"/crawls/{crawl.id}/pages/{page.pk}/ways").json()
    assert [(step["page"], step["leads_by"]) for step in ways["path"]["steps"]] == [(start.pk, "link")]
    assert (ways["path"]["is_whole"], ways["redirects"]["is_loop"]) == (True, False)


@pytest.fixture
def site() -> Iterator[Site]:
    with Site({"/": "<h1>A kettle</h1><i>12,50</i>"}).serving() as site:
        yield site


RULES = [{"name": "heading", "selector": "h1"}, {"name": "price", "selector": "i", "type": "number"}]


def test_rules_are_tried_on_one_page(by_root: Caller, site: Site) -> None:
    body = {"try_url": site.url, "fields": RULES, "allow_private": True, "obey_robots": False}
    tried = by_root.post("/extraction/preview", body).json()
    assert [(field["name"], field["value"]) for field in tried["fields"]] == [("heading", "A kettle"), ("price", 12.5)]
    assert not Crawl.objects.exists()


@pytest.mark.parametrize(
    ("changed", "field"),
    [
        ({"fields": []}, "fields"),
        ({"try_url": ""}, "try_url"),
        ({"try_url": "ftp://example.com/"}, "try_url"),
        ({"try_url": "http://127.0.0.1:8/"}, "try_url"),
        ({"start_urls": ["ftp://example.com/"]}, "start_urls"),
        ({"allow_private": True}, "allow_private"),
    ],
)
def test_what_cannot_be_tried_is_named(by_ann: Caller, changed: dict[str, Any], field: str) -> None:
    response = by_ann.post("/extraction/preview", {"try_url": "http://[::1]:8/", "fields": RULES, **changed})
    assert response.status_code == 422
    assert [error["field"] for error in response.json()["errors"]] == [field]
