"""A crawl as a graph, as the API shows it."""

from __future__ import annotations

from typing import Any

from ninja import Schema
from pydantic import Field

from crawler.reports.graph import Graph
from crawler.reports.graph_words import nodes, summary


class Node(Schema):
    """A page, or a folder of a large crawl."""

    page: int | None = Field(description="The id of the page; null for a folder.")
    url: str = Field(description="Of the page, or what all URLs of the folder begin with.")
    name: str
    title: str
    status: str
    depth: int
    pages: int = Field(description="Pages that are in it.")
    parent: int | None = Field(description="The node it was first found on, by its place in the list.")
    linked_from: int
    links: int
    answers: dict[str, int]


class SiteGraph(Schema):
    within: str
    pages: int
    is_cut: bool = Field(description="There are more pages, which are not in it.")
    has_links: bool = Field(description="The lines are all links; else those by which pages were first found.")
    has_counts: bool = Field(description="`linked_from` is known.")
    summary: str
    nodes: list[Node]
    lines: list[tuple[int, int, int]] = Field(description="[from, to, links]: places among the nodes.")


def graph_shown(graph: Graph) -> dict[str, Any]:
    return {
        "within": graph.within,
        "pages": graph.pages,
        "is_cut": graph.is_cut,
        "has_links": graph.has_links,
        "has_counts": graph.has_counts,
        "summary": summary(graph),
        "nodes": nodes(graph),
        "lines": graph.lines,
    }


EXAMPLE: dict[str, Any] = {
    "within": "",
    "pages": 2,
    "is_cut": False,
    "has_links": True,
    "has_counts": True,
    "summary": "2 pages.",
    "nodes": [
        {
            "page": 4711,
            "url": "https://example.com/",
            "name": "example.com",
            "title": "Start",
            "status": "200",
            "depth": 0,
            "pages": 1,
            "parent": None,
            "linked_from": 1,
            "links": 1,
            "answers": {"ok": 1},
        }
    ],
    "lines": [[0, 1, 1]],
}
