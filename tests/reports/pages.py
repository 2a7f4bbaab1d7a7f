"""Pages with what was kept of them, made by hand."""

from collections.abc import Mapping
from typing import Any

from crawler.core.html import link_codec
from crawler.core.html.page_metadata import PageMetadata
from crawler.core.pages.outcomes import Outcome
from crawler.core.protocol.messages import PageResult
from crawler.models import Crawl, Page
from crawler.storage import page_rows, sql
from tests.factories import make_page

NO_LINKS: Mapping[str, str] = {}


def read_page(crawl: Crawl, url: str, links: Mapping[str, str] = NO_LINKS, **more: Any) -> Page:
    """A page that answered 200 with these links (URL -> words) and, in `facts`, `headers`, `rels`, `kept` and `load`,
    what else was kept of it; other names are fields of its row."""
    kept = {name: more.pop(name) for name in ("headers", "kept", "load") if name in more}
    facts, rels = more.pop("facts", PageMetadata()), more.pop("rels", {})
    row = {"status": Page.CLOSED, "outcome": Outcome.SUCCESS, "http_status": 200, "content_type": "text/html", **more}
    page = make_page(crawl, url, **row)
    result = PageResult(
        id=page.pk,
        attempt=1,
        outcome=Outcome(row["outcome"]),
        http_status=row["http_status"],
        link_keys=link_codec.keys(list(links)),
        linkage=link_codec.packed(list(links), link_codec.Occurrences.once([*links], [*links.values()], rels), url),
        facts=facts,
        first_byte_ms=12,
        **kept,
    )
    sql.store_links(crawl.pk, [result])
    sql.store_facts(crawl.pk, [result])
    page_rows.store(crawl.pk, [result], [])
    return page
