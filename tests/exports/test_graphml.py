from typing import Any
from xml.etree import ElementTree

import pytest

from crawler.exports.graphml import lines
from crawler.models import Crawl, Page
from tests.factories import make_crawl, make_linked_crawl, make_page

pytestmark = pytest.mark.django_db

NAMES = {"g": "http://graphml.graphdrawing.org/xmlns"}


def graph(crawl: Crawl, **chosen: Any) -> tuple[dict[str, dict[str, str]], list[tuple[str, str, dict[str, str]]]]:
    """Node -> what is said of it, and the edges with their ends."""
    root = ElementTree.fromstring("".join(lines(crawl, **chosen)))  # noqa: S314 (our own)
    names = {key.get("id"): key.get("attr.name") for key in root.findall("g:key", NAMES)}

    def data(element: ElementTree.Element) -> dict[str, str]:
        return {str(names[part.get("key")]): part.text or "" for part in element.findall("g:data", NAMES)}

    nodes = {str(node.get("id")): data(node) for node in root.findall("g:graph/g:node", NAMES)}
    found = root.findall("g:graph/g:edge", NAMES)
    return nodes, [(str(edge.get("source")), str(edge.get("target")), data(edge)) for edge in found]


def test_pages_are_nodes_and_links_between_them_edges() -> None:
    nodes, edges = graph(make_linked_crawl())
    urls = {node: data["url"] for node, data in nodes.items()}
    assert sorted(urls.values()) == [f"http://site.test/{name}" for name in ("", "a", "gone", "slow")]
    assert [(urls[source], urls[target], data) for source, target, data in edges] == [
        ("http://site.test/", "http://site.test/a", {"text": "To a"}),
        ("http://site.test/", "http://site.test/gone", {"text": "Gone", "rel": "nofollow"}),
        ("http://site.test/a", "http://site.test/", {"text": "Home"}),
        ("http://site.test/a", "http://site.test/slow", {"text": "=slow"}),
    ]


def test_chosen_pages_have_the_edges_among_them_alone() -> None:
    among = Page.objects.filter(url__in=["http://site.test/", "http://site.test/a"])
    nodes, edges = graph(make_linked_crawl(), among=among)
    assert len(nodes) == len(edges) == 2


def test_text_that_is_no_xml_leaves_the_file_whole() -> None:
    crawl = make_crawl()
    make_page(crawl, "http://site.test/?a=1&b='\"<>", title="a\x01\x0b<b>&\ufffe\U0001f600")
    nodes, _ = graph(crawl)
    [page] = nodes.values()
    assert page["url"] == "http://site.test/?a=1&b='\"<>"
    assert page["title"] == "a\ufffd\ufffd<b>&\ufffd\U0001f600"
