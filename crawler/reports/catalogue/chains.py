"""Redirect chains and redirect loops."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from crawler.core.pages.graph import Chain, beginnings, chain_from
from crawler.models import Crawl
from crawler.reports import result_cache
from crawler.reports.catalogue.broken_links import redirects
from crawler.reports.catalogue.page_queries import seen_at
from crawler.reports.catalogue.report import CellType, RankedRows, Report, ReportColumn, ReportGroup, ReportRow

UNKNOWN = "not known"  # the last target is on another site, or was not requested
MIN_HOPS = 2  # of a chain

_BEGINS = ReportColumn("url", "Starts at", CellType.URL)
_HOPS = ReportColumn("hops", "Redirects", CellType.NUMBER)
_BY_WAY_OF = ReportColumn("by_way_of", "Via", CellType.URL)


def _chains(crawl: Crawl, *, loops: bool) -> list[Chain]:
    return result_cache.cached("loops" if loops else "chains", lambda: _followed(crawl, loops=loops), crawl)


def _followed(crawl: Crawl, *, loops: bool) -> list[Chain]:
    """The longest first."""
    leads_to = dict(redirects(crawl).exclude(redirect_to="").order_by("id").values_list("url", "redirect_to"))
    chains = (chain_from(url, leads_to) for url in beginnings(leads_to))
    wanted = [chain for chain in chains if chain.loops is loops and (loops or chain.hops >= MIN_HOPS)]
    return sorted(wanted, key=lambda chain: -chain.hops)


def _chain_lines(crawl: Crawl) -> RankedRows:
    return RankedRows(_chains(crawl, loops=False), partial(_ended, crawl))


def _ended(crawl: Crawl, chains: Sequence[Chain]) -> list[ReportRow]:
    seen = seen_at(crawl, (chain.urls[-1] for chain in chains))
    return [
        ReportRow((first, chain.hops, "\n".join(between), last, seen[last].answer if last in seen else UNKNOWN))
        for chain in chains
        for first, *between, last in [chain.urls]
    ]


def _loop_lines(crawl: Crawl) -> RankedRows:
    return RankedRows(_chains(crawl, loops=True), _gone_round)


def _gone_round(chains: Sequence[Chain]) -> list[ReportRow]:
    return [
        ReportRow((first, chain.hops, "\n".join(between), last))
        for chain in chains
        for first, *between, last in [chain.urls]
    ]


REDIRECT_CHAINS = Report(
    slug="redirect-chains",
    title="Redirect chains",
    group=ReportGroup.LINKS,
    about="Two or more redirects in a row, with each hop and the final response.",
    remedy="Redirect directly to the final page, and link to it. Search engines give up after a few hops, and "
    "readers wait for each.",
    praise="Every redirect reaches its target in one step.",
    noun="chain",
    columns=(
        _BEGINS,
        _HOPS,
        _BY_WAY_OF,
        ReportColumn("ends_at", "Ends at", CellType.URL),
        ReportColumn("answer", "Response there", CellType.ANSWER),
    ),
    lines=_chain_lines,
)
REDIRECT_LOOPS = Report(
    slug="redirect-loops",
    title="Redirect loops",
    group=ReportGroup.LINKS,
    about="Redirects that lead back to themselves. No browser can open these pages.",
    remedy="Check the server's redirect rules: usually two of them (https and www, a slash at the end) undo each "
    "other. A page that requires a cookie looks like this, too.",
    praise="No redirects loop.",
    noun="loop",
    columns=(_BEGINS, _HOPS, _BY_WAY_OF, ReportColumn("comes_back_to", "Returns to", CellType.URL)),
    lines=_loop_lines,
)
