"""Broken pages and redirects, with the pages that link to them and their anchor texts."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import groupby
from typing import Any

from django.db.models import Q, QuerySet

from crawler.core.html import link_codec
from crawler.core.pages.outcomes import ERRORS, Outcome
from crawler.core.protocol.messages import EXTERNAL
from crawler.core.text.controls import by_surface
from crawler.models import Crawl, Page
from crawler.reports import result_cache, text
from crawler.reports.catalogue.page_queries import answer
from crawler.reports.catalogue.report import (
    RESPONSE,
    Cells,
    CellType,
    RankedRows,
    Report,
    ReportColumn,
    ReportGroup,
    ReportRow,
    ReportRows,
    ReportTable,
    RowDetail,
    page_column,
)
from crawler.reports.links import Inlink, linking_pages, links_on, links_to, pages_with
from crawler.storage.bulk import chunks
from crawler.storage.queries import site_pages

_CHECKED = by_surface(
    command="--externals check", page="“Links to other sites: check each of them once”", api='`externals` "check"'
)


Of = Callable[[Crawl], QuerySet[Page]]
"""The link targets of a report."""

TARGET = (
    page_column("url"),
    RESPONSE,
    ReportColumn("note", "Details"),
    ReportColumn("linking_pages", "Linked from", CellType.NUMBER, opens=True),
)
_ON_PAGE = ReportColumn("page", "On the page", CellType.URL)
FROM = (_ON_PAGE, ReportColumn("text", "Anchor text"), ReportColumn("rel", "rel"))
FROM_PAGES = (
    _ON_PAGE,
    ReportColumn("links", "Links", CellType.NUMBER),
    ReportColumn("text", "Anchor texts"),
    ReportColumn("rel", "rel"),
)
LINKS = (ReportColumn("url", "Leads to", CellType.URL), RESPONSE, *FROM)


IS_BROKEN = Q(outcome__in=ERRORS)
IS_REDIRECT = Q(outcome=Outcome.REDIRECT)


def broken(crawl: Crawl) -> QuerySet[Page]:
    return site_pages(crawl).filter(IS_BROKEN)


def broken_externals(crawl: Crawl) -> QuerySet[Page]:
    return Page.objects.filter(crawl=crawl, kind=EXTERNAL, outcome__in=ERRORS)


def redirects(crawl: Crawl) -> QuerySet[Page]:
    return site_pages(crawl).filter(IS_REDIRECT)


def _lines(of: Of, crawl: Crawl) -> ReportRows:
    ranking = result_cache.cached(f"linked-{of.__name__}", lambda: _ranking(of, crawl), crawl)
    return RankedRows(ranking, _ranked_lines)


def _ranking(of: Of, crawl: Crawl) -> list[tuple[int, int]]:
    """Each page with the number of pages that link to it, the largest first, from one scan of the crawl's links."""
    targets = _targets(of, crawl)
    linking = linking_pages(crawl, targets) if targets else {}
    return sorted(((page, linking.get(page, 0)) for page in targets.values()), key=lambda said: (-said[1], said[0]))


def _ranked_lines(ranking: Sequence[tuple[int, int]]) -> list[ReportRow]:
    linking = dict(ranking)
    return [_line(page, linking[page.id]) for page in _in_order(list(linking))]


def _line(page: Page, linking: int) -> ReportRow:
    cells = (page.url, answer(page.outcome, page.http_status), page.redirect_to or page.error, linking)
    return ReportRow(cells, page.id, str(page.id) if linking else "")


def _part(of: Of, crawl: Crawl, key: str) -> RowDetail | None:
    target = of(crawl).filter(id=int(key)).first() if key.isdecimal() else None
    if target is None:
        return None
    short = link_codec.short_key(target.url)
    return RowDetail(
        f"Pages that link to {target.url}", FROM_PAGES, RankedRows(pages_with(crawl, short), partial(_from, short))
    )


def _from(short: bytes, pages: Sequence[int]) -> list[ReportRow]:
    """One line a page, with each anchor text of its links once."""
    found = groupby(links_on(pages, short), key=lambda found: found[0])
    return [_on_page(page, [link for _, link in links]) for page, links in found]


def _on_page(page: int, links: Sequence[Inlink]) -> ReportRow:
    texts, rels = dict.fromkeys(link.text for link in links), dict.fromkeys(link.rel for link in links)
    return ReportRow((links[0].page, len(links), " · ".join(filter(None, texts)), " · ".join(filter(None, rels))), page)


def _links(of: Of, crawl: Crawl) -> Iterator[Cells]:
    """Each link, in the order of the pages; then pages without links to them."""
    targets = _targets(of, crawl)
    unlinked = set(targets.values())
    said = {page: (url, answer(outcome, status)) for page, url, outcome, status in _targets_with_responses(of, crawl)}
    for target, link in links_to(crawl, targets) if targets else ():
        unlinked.discard(target)
        yield (*said[target], *link)
    for target in sorted(unlinked):
        yield (*said[target], None, None, None)


def _targets_with_responses(of: Of, crawl: Crawl) -> Iterator[tuple[Any, ...]]:
    return iter(of(crawl).values_list("id", "url", "outcome", "http_status").iterator())


def _targets(of: Of, crawl: Crawl) -> dict[bytes, int]:
    """Short key -> page."""
    rows = of(crawl).values_list("key", "id").iterator()
    return {bytes(key)[: link_codec.KEY_BYTES]: page for key, page in rows}


def _in_order(ids: Sequence[int]) -> list[Page]:
    found = {page.id: page for part in chunks(ids) for page in Page.objects.filter(id__in=part)}
    return [found[page] for page in ids if page in found]


def _externals_unchecked(crawl: Crawl) -> str:
    if crawl.chosen.externals == "check":
        return ""
    return f"This crawl did not check links to other sites. Crawl again with {_CHECKED}."


def _not_requested(crawl: Crawl) -> str:
    """What may be broken without standing here."""
    skipped = crawl.tallies.skipped() | {Outcome.CANCELLED: crawl.tallies.outcomes.get(Outcome.CANCELLED, 0)}
    parts = [f"{text.counted(number, 'page')} ({text.outcome(why)})" for why, number in skipped.items() if number]
    if crawl.chosen.externals == "record":
        links = Page.objects.filter(crawl=crawl, kind=EXTERNAL).count()
        parts += [f"{text.counted(links, 'link')} to other sites (see {_CHECKED})"] if links else []
    return f"Not requested, so not checked: {', '.join(parts)}." if parts else ""


def _report(of: Of, **words: Any) -> Report:
    return Report(
        group=ReportGroup.LINKS,
        columns=TARGET,
        lines=partial(_lines, of),
        part=partial(_part, of),
        whole=ReportTable(LINKS, partial(_links, of)),
        **words,
    )


BROKEN_LINKS = _report(
    broken,
    which=IS_BROKEN,
    slug="broken-links",
    not_requested=_not_requested,
    title="Broken links",
    about="Pages that responded with an error (4xx, 5xx) or not at all, and the pages that link to them.",
    remedy="Correct the link, restore the page, or redirect it. Retry temporary failures from the dead letters.",
    praise="No requested page of the site is broken.",
)
EXTERNAL_BROKEN_LINKS = _report(
    broken_externals,
    number=lambda crawl: broken_externals(crawl).count(),
    slug="external-broken-links",
    title="Broken links to other sites",
    about="Links to other sites that lead to an error or get no response, and the pages with the link.",
    remedy="Correct or remove the link. Some sites refuse crawlers but not readers: check 403, 429 and 999 yourself.",
    praise="Every link to another site works.",
    noun="link",
    lacking=_externals_unchecked,
)
REDIRECTS = _report(
    redirects,
    which=IS_REDIRECT,
    slug="redirects",
    title="Redirects",
    about="Pages that redirect the reader, and the pages that link to them.",
    remedy="Link to the target, which saves each reader a request. Keep the redirect for links from elsewhere.",
    praise="No page of the site is a redirect.",
    noun="redirect",
    is_finding=False,
)
