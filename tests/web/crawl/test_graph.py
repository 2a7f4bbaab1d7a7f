import pytest
from django.contrib.auth.models import User
from django.test import Client

from crawler.reports import graph
from tests.factories import a_crawl, a_page, make_linked_crawl


def test_the_picture_has_what_is_said_of_each_page(as_ann: Client, ann: User) -> None:
    crawl = make_linked_crawl(owner=ann)
    data = as_ann.get(f"/crawls/{crawl.id}/graph.json").json()
    start, page, *_ = data["nodes"]
    assert start == {
        "page": start["page"],
        "url": "http://site.test/",
        "name": "site.test",
        "title": "Start",
        "status": "200",
        "depth": 0,
        "pages": 1,
        "parent": None,
        "linked_from": 1,
        "links": 4,
        "answers": {"ok": 1},
    }
    assert (page["name"], page["parent"]) == ("a", 0)
    assert [0, 1, 1] in data["lines"]
    assert data["summary"] == "4 pages."
    assert data["pages_url"] == f"/crawls/{crawl.id}/pages/"


def test_folders_are_named_by_their_last_part(as_ann: Client, ann: User, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(graph, "MOST_PAGES", 1)
    monkeypatch.setattr(graph, "MOST_NODES", 2)
    crawl = a_crawl(ann)
    for path in ("docs/a/1", "docs/a/2", "docs/bb1", "docs/bb2"):
        a_page(crawl, f"https://example.com/{path}")
    data = as_ann.get(f"/crawls/{crawl.id}/graph.json").json()
    assert [node["name"] for node in data["nodes"]] == ["a/", "docs/bb…"]
    assert "by folder" in data["summary"]


def test_an_opened_folder_shows_the_way_back(as_ann: Client, ann: User) -> None:
    crawl = a_crawl(ann)
    html = as_ann.get(f"/crawls/{crawl.id}/graph/", {"within": "https://example.com/a&b/c/"}).content.decode()
    assert f'href="/crawls/{crawl.id}/graph/?within=https%3A%2F%2Fexample.com%2Fa%26b%2F"' in html
    assert '<span aria-current="page">c/</span>' in html


def test_what_is_typed_as_a_folder_is_only_ever_text(as_ann: Client, ann: User) -> None:
    crawl = a_crawl(ann)
    html = as_ann.get(f"/crawls/{crawl.id}/graph/", {"within": '"><script>'}).content.decode()
    assert "<script>" not in html
