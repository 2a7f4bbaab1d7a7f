"""The graph of a crawl's pages and links, small enough to draw: of a large site the nodes are folders."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from django.db.models import QuerySet

from crawler.core.html import link_codec
from crawler.core.pages.graph import (
    Cluster,
    GraphEdge,
    GraphNode,
    Picture,
    Spot,
    answer_of,
    clustered,
    picture,
    thinned,
)
from crawler.core.pages.outcomes import Outcome
from crawler.core.protocol.messages import PAGE
from crawler.models import Crawl, Page, PageLinks
from crawler.reports import result_cache, text

MOST_PAGES = 2_000  # drawn one by one
MOST_NODES = 400  # with more pages than that
MOST_READ = 200_000  # pages read; later ones are not in the graph
MOST_LINKED = 20_000  # pages; of a larger crawl the lines are parents
MOST_LINES = 40_000
CHUNK = 2_000  # rows in memory at a time
QUERY_PAGES = 500  # pages in one query

_FIELDS = ("id", "url", "key", "parent_id", "depth", "outcome", "http_status")


@dataclass(frozen=True)
class Graph:
    """The graph to draw."""

    within: str  # the beginning of all URLs; "" = the whole crawl
    pages: int  # in the graph
    is_cut: bool  # there are more pages
    has_links: bool  # lines are all links; else only links to pages from their parents
    has_counts: bool  # links to a node from any page of the crawl are counted
    nodes: Sequence[GraphNode]
    titles: dict[int, str]  # page -> title, of nodes that are pages
    lines: Sequence[GraphEdge]
    crowded: int  # nodes without lines, because too many pages link to them


def graph_of(crawl: Crawl, within: str = "") -> Graph:
    """The graph of a crawl, or of its pages whose URLs begin with `within`."""
    return result_cache.cached(f"graph:{within}", lambda: _drawn(crawl, within), crawl)


def _drawn(crawl: Crawl, within: str) -> Graph:
    known = _spots(crawl, within)
    spots = sorted(known[:MOST_READ], key=lambda spot: spot.url)
    drawn = picture(spots, _clusters(spots))
    has_counts = crawl.discovered <= MOST_LINKED
    has_links = has_counts or len(spots) <= MOST_PAGES
    if has_counts:
        _draw_links(PageLinks.objects.filter(crawl=crawl), drawn)
    elif has_links:
        for at in range(0, len(spots), QUERY_PAGES):
            _draw_links(PageLinks.objects.filter(page_id__in=[spot.id for spot in spots[at : at + QUERY_PAGES]]), drawn)
    else:
        drawn.add_parents(spots)
    lines, crowded = thinned(drawn.lines(), MOST_LINES)
    return Graph(
        within=within,
        pages=len(spots),
        is_cut=len(known) > len(spots),
        has_links=has_links,
        has_counts=has_counts,
        nodes=drawn.nodes,
        titles=_titles(drawn.nodes),
        lines=lines,
        crowded=crowded,
    )


def folders(url: str) -> list[tuple[str, str]]:
    """The host and the folders of a URL from the top, each with its name and the beginning of its URLs."""
    parts = urlsplit(url)
    if not parts.netloc or not parts.path:
        return []
    beginning = f"{parts.scheme}://{parts.netloc}/"
    way = [(parts.netloc, beginning)]
    for name in parts.path.split("/")[1:-1]:
        beginning += f"{name}/"
        way.append((f"{name}/", beginning))
    return way


def _spots(crawl: Crawl, within: str) -> list[Spot]:
    """Pages of the site in the order of their discovery, one more than are read if there are more."""
    found = Page.objects.filter(crawl=crawl, kind=PAGE).exclude(outcome=Outcome.EXTERNAL)
    if within:
        found = found.filter(url__startswith=within)
    rows = found.order_by("id").values_list(*_FIELDS)[: MOST_READ + 1].iterator(chunk_size=CHUNK)
    return [
        Spot(page, url, link_codec.number(bytes(key)), parent, depth, answer_of(outcome), str(status or outcome))
        for page, url, key, parent, depth, outcome, status in rows
        if url.startswith(within)  # SQLite ignores case
    ]


def _clusters(spots: Sequence[Spot]) -> list[Cluster]:
    urls = [spot.url for spot in spots]
    if len(urls) <= MOST_PAGES:
        return [Cluster(url, place, place + 1) for place, url in enumerate(urls)]
    return clustered(urls, MOST_NODES)


def _draw_links(rows: QuerySet[PageLinks], drawn: Picture) -> None:
    for page, keys in rows.order_by("page_id").values_list("page_id", "keys").iterator(chunk_size=CHUNK):
        drawn.add_links(page, link_codec.numbers(bytes(keys)))


def _titles(nodes: Sequence[GraphNode]) -> dict[int, str]:
    pages = [node.page_id for node in nodes if node.page_id is not None]
    titles = dict[int, str]()
    for at in range(0, len(pages), QUERY_PAGES):
        titles.update(Page.objects.filter(id__in=pages[at : at + QUERY_PAGES]).values_list("id", "title"))
    return titles


# The graph as values to draw.


def nodes(graph: Graph) -> list[dict[str, Any]]:
    """Pages, or folders of a large crawl."""
    return [_node(node, graph.titles) for node in graph.nodes]


def summary(graph: Graph) -> str:
    """The graph in sentences."""
    pages = text.counted(graph.pages, "page")
    folded = len(graph.nodes) < graph.pages
    sentences = [f"{pages} in {text.counted(len(graph.nodes), 'group')} by folder." if folded else f"{pages}."]
    if not graph.has_links:
        sentences.append("In this large crawl, lines show where pages were first found, not every link.")
    elif not graph.has_counts:
        sentences.append("In this large crawl, links from other folders are not counted here.")
    if graph.crowded:
        sentences.append(f"Links to {text.counted(graph.crowded, 'page')} with very many incoming links are not drawn.")
    if graph.is_cut:
        sentences.append(f"Only the first {text.count(MOST_READ)} pages found are shown; open a folder to see more.")
    return " ".join(sentences)


def _node(node: GraphNode, titles: dict[int, str]) -> dict[str, Any]:
    return {
        "page": node.page_id,
        "url": node.url,
        "name": _name(node),
        "title": titles.get(node.page_id, "") if node.page_id is not None else "",
        "status": node.status,
        "depth": node.depth,
        "pages": node.pages,
        "parent": node.parent,
        "linked_from": node.linked_from,
        "links": node.links,
        "answers": node.answers,
    }


def _name(node: GraphNode) -> str:
    """A short name: the last part of the URL."""
    way = folders(node.url)
    rest = node.url.removeprefix(way[-1][1]) if way else node.url
    if node.page_id is not None:
        return rest or (way[-1][0] if way else node.url)
    return f"{way[-1][0] if way else ''}{rest and f'{rest}…'}"
