"""The views of a crawl's graph: the page, and its data as JSON."""

from __future__ import annotations

from uuid import UUID

from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import get_object_or_404, render
from django.urls import reverse

from crawler.accounts.permissions import visible_crawls
from crawler.core.pages.graph import NodeColor
from crawler.reports.graph import folders, graph_of, nodes, summary
from crawler.web.decorators import page_to_read

MAX_URL_CHARACTERS = 4096

ANSWERS = {
    NodeColor.OK: "OK",
    NodeColor.REDIRECT: "Redirect",
    NodeColor.CLIENT_ERROR: "Client error (4xx)",
    NodeColor.FAILED: "Server error or no response",
    NodeColor.NOT_ASKED: "Not requested",
    NodeColor.OPEN: "Open",
}
DEEPEST = 6  # this and all greater depths share a colour


@page_to_read
def crawl_graph(request: HttpRequest, crawl_id: UUID) -> HttpResponse:
    """The page. `?within` limits it to pages whose URLs begin so."""
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


@page_to_read
def crawl_graph_data(request: HttpRequest, crawl_id: UUID) -> JsonResponse:
    """The data the page draws.

    nodes      pages, or folders of a large crawl
    lines      [from, to, links]: indexes of two nodes, and the number of links
    summary    the graph in sentences
    has_links, has_counts   whether the lines are all links, and whether `linked_from` is known
    pages_url  the address before the id of a page
    """
    crawl = get_object_or_404(visible_crawls(request.user), pk=crawl_id)
    graph = graph_of(crawl, _within(request))
    return JsonResponse(
        {
            "nodes": nodes(graph),
            "lines": graph.lines,
            "summary": summary(graph),
            "has_links": graph.has_links,
            "has_counts": graph.has_counts,
            "pages_url": reverse("page-detail", args=[crawl.id, 0]).removesuffix("0/"),
        }
    )


def _within(request: HttpRequest) -> str:
    return request.GET.get("within", "")[:MAX_URL_CHARACTERS]
