"""The pages and links of a crawl as GraphML (http://graphml.graphdrawing.org/specification.html), for Gephi, yEd,
NetworkX and igraph."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Unpack
from xml.sax.saxutils import escape

from django.db.models import QuerySet

from crawler.core.pages.outcomes import Outcome
from crawler.exports.links import LinkTarget, edges
from crawler.exports.rows import ExportFilter, refuse_externals, selected
from crawler.models import Crawl, Page

_NOT_XML = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")  # https://www.w3.org/TR/xml/#charsets


def in_xml(text: str) -> str:
    """Untrusted text as the content of an element or a quoted attribute; characters that XML cannot hold are
    replaced."""
    return escape(_NOT_XML.sub("\ufffd", text), {'"': "&quot;"})


NODE_KEYS = {
    "url": "string",
    "title": "string",
    "kind": "string",
    "outcome": "string",
    "http_status": "int",
    "content_type": "string",
    "depth": "int",
    "bytes": "long",
    "elapsed_ms": "int",
}
EDGE_KEYS = {"text": "string", "rel": "string"}
"""Name -> GraphML type of the values of a page, and of a link."""

CHUNK = 1000  # pages in memory at a time


def check(crawl: Crawl, **chosen: Unpack[ExportFilter]) -> None:
    """BadInput when links to other sites are requested."""
    refuse_externals("GraphML", **chosen)


def lines(crawl: Crawl, **chosen: Unpack[ExportFilter]) -> Iterator[str]:
    """Each page as a node "nID", then each link between two of them as an edge."""
    yield '<?xml version="1.0" encoding="UTF-8"?>\n<graphml xmlns="http://graphml.graphdrawing.org/xmlns">\n'
    yield from (_declared("node", name, kind) for name, kind in NODE_KEYS.items())
    yield from (_declared("edge", name, kind) for name, kind in EDGE_KEYS.items())
    yield f'  <graph id="{crawl.id}" edgedefault="directed">\n'
    pages = selected(crawl, **chosen)
    for page in pages.values("id", *NODE_KEYS).iterator(chunk_size=CHUNK):
        yield f'    <node id="n{page["id"]}">{_data("node", page, NODE_KEYS)}</node>\n'
    is_node = _among(pages) if "among" in chosen else _is_page
    for edge in edges(crawl, **chosen):
        if edge.leads_to and is_node(edge.leads_to):
            data = _data("edge", edge._asdict(), EDGE_KEYS)
            yield f'    <edge source="n{edge.page}" target="n{edge.leads_to.id}">{data}</edge>\n'
    yield "  </graph>\n</graphml>\n"


def _declared(what: str, name: str, kind: str) -> str:
    return f'  <key id="{what}-{name}" for="{what}" attr.name="{name}" attr.type="{kind}"/>\n'


def _data(what: str, values: Mapping[str, Any], names: Mapping[str, str]) -> str:
    """The values that are neither empty nor unknown."""
    return "".join(
        f'<data key="{what}-{name}">{in_xml(str(values[name]))}</data>'
        for name in names
        if values[name] not in ("", None)
    )


def _is_page(target: LinkTarget) -> bool:
    """Links to other sites that were only recorded are no nodes."""
    return target.answer != Outcome.EXTERNAL


def _among(pages: QuerySet[Page]) -> Callable[[LinkTarget], bool]:
    ids = set(pages.order_by().values_list("id", flat=True).iterator(chunk_size=CHUNK))
    return lambda target: target.id in ids
