"""The links of a crawl as comma-separated values: an edge list, one link a line."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Unpack

from crawler.exports.csv import table
from crawler.exports.edges import Edge, edges
from crawler.exports.selection import Chosen
from crawler.models import Crawl

NAMES = ("source", "target", "text", "rel", "status", "problem")
"""`status` is the HTTP status of the target, else why it has none ("robots", "external", ...); empty = not known. A
malformed link has its target as it is written, the status "malformed" and, as `problem`, what is wrong with it."""
MALFORMED = "malformed"


def lines(crawl: Crawl, **chosen: Unpack[Chosen]) -> Iterator[str]:
    """The header and one record a link, each ending with CR LF; with `externals` those alone that leave the site."""
    found = edges(crawl, **chosen)
    return table(
        NAMES,
        ((edge.source, edge.target, edge.text, edge.rel, _status(edge), edge.problem) for edge in found),
    )


def _status(edge: Edge) -> str:
    if edge.problem:
        return MALFORMED
    return edge.leads_to.answer if edge.leads_to else ""
