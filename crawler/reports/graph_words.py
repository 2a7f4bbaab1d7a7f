"""A graph as it is told to whoever draws it: its nodes with short names, and what there is to see in sentences."""

from __future__ import annotations

from typing import Any

from crawler.core.picture import Node
from crawler.reports import words
from crawler.reports.graph import MOST_READ, Graph, folders


def nodes(graph: Graph) -> list[dict[str, Any]]:
    """Pages, or folders of a large crawl."""
    return [_node(node, graph.titles) for node in graph.nodes]


def summary(graph: Graph) -> str:
    """What there is to see, in sentences."""
    pages = words.counted(graph.pages, "page")
    folded = len(graph.nodes) < graph.pages
    told = [f"{pages} in {words.counted(len(graph.nodes), 'group')} by folder." if folded else f"{pages}."]
    if not graph.has_links:
        told.append("The crawl is large: lines show where pages were first found, not every link.")
    elif not graph.has_counts:
        told.append("The crawl is large: links from other folders are not counted here.")
    if graph.crowded:
        told.append(f"Links to {words.counted(graph.crowded, 'page')} that very many link to are not drawn.")
    if graph.is_cut:
        told.append(f"Only the first {words.count(MOST_READ)} pages found are shown; open a folder to see more of it.")
    return " ".join(told)


def _node(node: Node, titles: dict[int, str]) -> dict[str, Any]:
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


def _name(node: Node) -> str:
    """Short enough to stand beside a dot: the last part of the URL."""
    way = folders(node.url)
    rest = node.url.removeprefix(way[-1][1]) if way else node.url
    if node.page_id is not None:
        return rest or (way[-1][0] if way else node.url)
    return f"{way[-1][0] if way else ''}{rest and f'{rest}…'}"
