"""The doors to a crawl as a picture: its page, and what is drawn there as JSON."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import get_object_or_404, render
from django.urls import NoReverseMatch, reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET

from crawler.accounts import visible_crawls
from crawler.core.picture import Answer, Node
from crawler.models import Crawl
from crawler.reports import words
from crawler.reports.graph import MOST_READ, Graph, folders, graph_of
from crawler.web.shell import page

LONGEST = 4096  # characters of a URL

ANSWERS = {
    Answer.OK: "OK",
    Answer.REDIRECT: "Redirect",
    Answer.CLIENT_ERROR: "Client error (4xx)",
    Answer.FAILED: "Server error or no answer",
    Answer.NOT_ASKED: "Not asked",
    Answer.OPEN: "Open",
}
DEEPEST = 6  # the colour for this depth is that of all below it


@never_cache
@require_GET
@page
def crawl_graph(request: HttpRequest, crawl_id: UUID) -> HttpResponse:
    """The page. With `?within` the pages alone whose URLs begin so."""
    crawl = get_object_or_404(visible_crawls(request.user), pk=crawl_id)
    within = _within(request)
    context = {
        "crawl": crawl,
        "within": within,
        "way": folders(within),
        "answers": ANSWERS.items(),
        "depths": range(DEEPEST + 1),
        "deepest": DEEPEST,
    }
    return render(request, "crawler/graph.html", context)


@never_cache
@require_GET
@page
def crawl_graph_data(request: HttpRequest, crawl_id: UUID) -> JsonResponse:
    """What the page draws.

    nodes      pages, or folders of a large crawl
    lines      [from, to, links]: places among the nodes, and how many links there are
    summary    what there is to see, in sentences
    has_links, has_counts   whether the lines are all links, and whether `linked_from` is known
    pages_url  where the pages have their own views, each by its id
    """
    crawl = get_object_or_404(visible_crawls(request.user), pk=crawl_id)
    graph = graph_of(crawl, _within(request))
    return JsonResponse(
        {
            "nodes": [_node(node, graph.titles) for node in graph.nodes],
            "lines": graph.lines,
            "summary": _summary(graph),
            "has_links": graph.has_links,
            "has_counts": graph.has_counts,
            "pages_url": _pages_url(crawl),
        }
    )


def _within(request: HttpRequest) -> str:
    return request.GET.get("within", "")[:LONGEST]


def _pages_url(crawl: Crawl) -> str:
    try:
        return reverse("page-detail", args=[crawl.id, 0]).removesuffix("0/")
    except NoReverseMatch:
        return f"{reverse('crawl-detail', args=[crawl.id])}pages/"


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


def _summary(graph: Graph) -> str:
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
