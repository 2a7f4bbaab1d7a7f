import pytest

from crawler.core.pages.graph import GraphEdge, NodeColor
from crawler.models import Crawl, Page
from crawler.reports import graph
from crawler.reports.graph import folders, graph_of
from tests.factories import make_crawl, make_linked_crawl, make_page

pytestmark = pytest.mark.django_db


def a_crawl_of_folders() -> Crawl:
    crawl = make_crawl(discovered=7)
    start = make_page(crawl, "http://site.test/")
    for folder in "ab":
        for number in range(3):
            make_page(crawl, f"http://site.test/{folder}/{number}", parent_id=start.id, depth=1, title=f"{number}")
    return crawl


def test_a_small_crawl_shows_each_page_and_every_link_between_them() -> None:
    made = graph_of(make_linked_crawl())
    assert [node.url.removeprefix("http://site.test/") for node in made.nodes] == ["", "a", "gone", "slow"]
    assert sorted(made.lines) == [GraphEdge(0, 1, 1), GraphEdge(0, 2, 1), GraphEdge(1, 0, 1), GraphEdge(1, 3, 1)]
    assert [node.status for node in made.nodes] == ["200", "200", "404", "timeout"]
    assert list(made.titles.values()) == ["Start", "A", "", ""]
    assert made.has_links


def test_a_large_crawl_is_shown_by_folder(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(graph, "MOST_PAGES", 6)
    monkeypatch.setattr(graph, "MOST_NODES", 3)
    made = graph_of(a_crawl_of_folders())
    assert [(node.url, node.pages, node.parent) for node in made.nodes] == [
        ("http://site.test/", 1, None),
        ("http://site.test/a/", 3, 0),
        ("http://site.test/b/", 3, 0),
    ]


def test_a_folder_opens_to_its_own_pages() -> None:
    made = graph_of(a_crawl_of_folders(), "http://site.test/a/")
    assert [node.url for node in made.nodes] == [f"http://site.test/a/{number}" for number in range(3)]


def test_small_and_large_letters_are_different_folders() -> None:
    assert graph_of(a_crawl_of_folders(), "http://site.test/A/").nodes == []


def test_of_a_very_large_crawl_lines_show_where_pages_were_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(graph, "MOST_LINKED", 3)
    monkeypatch.setattr(graph, "MOST_PAGES", 3)
    made = graph_of(make_linked_crawl())
    assert sorted(made.lines) == [GraphEdge(0, 1, 1), GraphEdge(0, 2, 1), GraphEdge(1, 3, 1)]
    assert (made.has_links, made.has_counts) == (False, False)


def test_a_small_folder_of_a_very_large_crawl_shows_every_link_within_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(graph, "MOST_LINKED", 3)
    made = graph_of(make_linked_crawl(), "http://site.test/")
    assert sorted(made.lines) == [GraphEdge(0, 1, 1), GraphEdge(0, 2, 1), GraphEdge(1, 0, 1), GraphEdge(1, 3, 1)]
    assert (made.has_links, made.has_counts) == (True, False)


def test_of_more_pages_than_are_looked_at_the_first_found_are_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(graph, "MOST_READ", 4)
    made = graph_of(a_crawl_of_folders())
    assert (made.pages, made.is_cut) == (4, True)
    assert not any("/b/" in node.url for node in made.nodes)


def test_links_to_other_sites_and_sitemaps_are_no_pages_of_the_site() -> None:
    crawl = make_crawl()
    make_page(crawl, "http://site.test/sitemap.xml", kind="sitemap", status=Page.CLOSED, outcome="2xx")
    make_page(crawl, "http://other.test/", kind="external", status=Page.CLOSED, outcome="external")
    assert graph_of(crawl).nodes == []


def test_an_open_page_is_shown_as_such() -> None:
    crawl = make_crawl()
    make_page(crawl, "http://site.test/")
    [node] = graph_of(crawl).nodes
    assert (node.answers, node.status) == ({NodeColor.OPEN: 1}, "")


@pytest.mark.parametrize(
    ("url", "way"),
    [
        ("http://h/a/b/c.html", [("h", "http://h/"), ("a/", "http://h/a/"), ("b/", "http://h/a/b/")]),
        ("http://h/", [("h", "http://h/")]),
        ("http://h/a?b=/c/", [("h", "http://h/")]),
        ("http://h", []),
        ("https://", []),
        ("", []),
    ],
)
def test_the_way_to_a_page_leads_over_its_folders(url: str, way: list[tuple[str, str]]) -> None:
    assert folders(url) == way
