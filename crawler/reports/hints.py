"""Hints: what is odd about a crawl as a whole, how many pages it is about, an example, and the one thing to do."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from functools import cache
from typing import Any
from urllib.parse import urlsplit

import msgspec
from django.db.models import Count, QuerySet

from crawler import registry
from crawler.core.pages.outcomes import Outcome
from crawler.core.protocol.completion import EndReason, State, ended
from crawler.core.text.controls import Surface, by_surface, spoken
from crawler.core.text.quantities import count, counted
from crawler.core.urls.normalise import host_of
from crawler.models import Crawl, Page
from crawler.reports import result_cache
from crawler.reports.links import knows_orphans, orphans
from crawler.storage.queries import on_host, site_pages

FEW = 10  # pages; what is true of fewer may be chance
KEPT_WHILE_RUNNING_S = 30  # a hint about a running crawl is looked for again
ORPHANS_PER_LINKED_PAGE = 9  # the sitemap names ten times what links reach


class Evidence(msgspec.Struct, frozen=True):
    """The pages a hint is about."""

    pages: int
    of: int  # from among so many
    example: str  # a URL; "" = none
    words: Mapping[str, str] = msgspec.field(default_factory=dict)  # further ones of the message


class Hint(msgspec.Struct, frozen=True):
    """One that may be given. Its check reads few rows of a crawl that gives no reason for it."""

    slug: str  # in the receipt and the API
    about: str  # when it is given, for the documentation
    message: str  # with {pages}, {of} (and its noun) and the words of its evidence
    remedy: str  # to be `spoken`
    check: Callable[[Crawl], Evidence | None]
    noun: str = "page"  # what is counted


def first_of(pages: QuerySet[Page]) -> str:
    """The URL of the one that was discovered first; "" = there is none."""
    return str(pages.order_by("id").values_list("url", flat=True).first() or "")


def is_most(pages: int, of: int) -> bool:
    """At least half of them, and no few."""
    return pages >= FEW and 2 * pages >= of


def _forbidden(crawl: Crawl) -> Evidence | None:
    tallies = crawl.tallies
    pages = tallies.outcomes.get(Outcome.ROBOTS, 0)
    if not is_most(pages, tallies.discovered):
        return None
    return Evidence(pages, tallies.discovered, first_of(site_pages(crawl).filter(outcome=Outcome.ROBOTS)))


REFUSALS = (403, 429)


def _wall(crawl: Crawl) -> Evidence | None:
    """All refusals are counted by host, since the table has no column of hosts."""
    if sum(crawl.tallies.statuses.get(str(status), 0) for status in REFUSALS) < FEW:
        return None
    refused = site_pages(crawl).filter(http_status__in=REFUSALS)
    hosts = Counter(host_of(url) for url in refused.values_list("url", flat=True).iterator(chunk_size=2000))
    host, pages = hosts.most_common(1)[0] if hosts else ("", 0)
    of = site_pages(crawl).filter(on_host(host), http_status__isnull=False).count()
    if not is_most(pages, of):
        return None
    return Evidence(pages, of, first_of(refused.filter(on_host(host))), {"host": host})


def redirect_targets(crawl: Crawl) -> dict[str, int]:
    """URL without its query -> redirects that lead there; several hints ask for it."""
    return result_cache.cached("redirect-targets", lambda: _redirect_targets(crawl), crawl)


def _redirect_targets(crawl: Crawl) -> dict[str, int]:
    rows = site_pages(crawl).filter(outcome=Outcome.REDIRECT).exclude(redirect_to="").order_by()
    targets = Counter[str]()
    for url, pages in rows.values_list("redirect_to").annotate(Count("id")).iterator(chunk_size=2000):
        targets[url.partition("?")[0]] += pages
    return dict(targets)


def number_of_redirects(crawl: Crawl) -> int:
    return crawl.tallies.outcomes.get(Outcome.REDIRECT, 0)


def _lead_home(crawl: Crawl) -> Evidence | None:
    """The home pages of the hosts it began with: a site may well send its visitors to those of others."""
    of = number_of_redirects(crawl)
    if of < FEW:
        return None
    own, targets = {host_of(url) for url in crawl.start_urls}, redirect_targets(crawl)
    home = [url for url in targets if urlsplit(url).path in ("", "/") and host_of(url) in own]
    pages = sum(targets[url] for url in home)
    if not is_most(pages, of):
        return None
    return Evidence(pages, of, first_of(site_pages(crawl).filter(outcome=Outcome.REDIRECT, redirect_to__in=home)))


def _unlinked(crawl: Crawl) -> Evidence | None:
    """Only of a crawl that ended by itself: one that was cut off has not followed all links."""
    complete = (EndReason.COMPLETE, EndReason.COMPLETE_WITH_ERRORS)
    if not knows_orphans(crawl) or ended(State(crawl.state), crawl.tallies, crawl.limits) not in complete:
        return None
    found = orphans(crawl)
    pages, of = found.count(), crawl.tallies.discovered
    if pages < FEW or pages < ORPHANS_PER_LINKED_PAGE * (of - pages):
        return None
    return Evidence(pages, of, first_of(found))


_KERNEL = (
    Hint(
        "robots",
        "robots.txt forbids at least half of the pages, and ten or more.",
        "robots.txt forbids {pages} of {of}.",
        "For your own site, crawl again with "
        + by_surface(command="--ignore-robots", page="“Obey robots.txt” off", api="`obey_robots` false")
        + "; otherwise ask its owner.",
        _forbidden,
    ),
    Hint(
        "wall",
        "A host refuses at least half of its pages (403 or 429), and ten or more.",
        "{host} refused {pages} of {of}: it may block crawlers.",
        "Crawl more slowly with "
        + by_surface(command="--delay 2", page="“Delay”", api="`delay` 2")
        + ", or ask its owner to let this crawler in.",
        _wall,
        "request",
    ),
    Hint(
        "redirects-home",
        "At least half of the redirects lead to the home page, and ten or more.",
        "{pages} of {of} lead to the home page: links to missing pages look like good ones.",
        "Let the server respond to missing pages with 404, and redirect each moved page to its successor.",
        _lead_home,
        "redirect",
    ),
    Hint(
        "sitemap",
        "A finished crawl found at least nine times as many pages in sitemaps alone as by links, and ten or more.",
        "No link leads to {pages} of {of}; only a sitemap names them.",
        "Link the orphans, or remove them from the sitemap.",
        _unlinked,
    ),
)


@cache
def hints() -> tuple[Hint, ...]:
    return *_KERNEL, *registry.entries("hints", Hint)


@cache
def _by_slug() -> dict[str, Hint]:
    return {hint.slug: hint for hint in hints()}


def hints_of(crawl: Crawl) -> list[dict[str, Any]]:
    """As the receipt has them: `hint`, `pages`, `of`, `example`, `message` and `remedy`. Those of a running crawl may
    be half a minute old."""
    if crawl.is_over:
        return result_cache.cached("hints", lambda: _found(crawl), crawl)
    known: list[dict[str, Any]] | None = result_cache.cache_for(crawl).get(f"hints:{crawl.id}")
    if known is None:
        known = _found(crawl)
        result_cache.cache_for(crawl).set(f"hints:{crawl.id}", known, KEPT_WHILE_RUNNING_S)
    return known


def _found(crawl: Crawl) -> list[dict[str, Any]]:
    found = ((hint, hint.check(crawl)) for hint in hints())
    return [_plain(hint, evidence) for hint, evidence in found if evidence is not None]


def _plain(hint: Hint, evidence: Evidence) -> dict[str, Any]:
    message = hint.message.format(pages=count(evidence.pages), of=counted(evidence.of, hint.noun), **evidence.words)
    return {
        "hint": hint.slug,
        "pages": evidence.pages,
        "of": evidence.of,
        "example": evidence.example,
        "message": message,
        "remedy": spoken(hint.remedy, Surface.API),
    }


def lines_of(found: Iterable[Mapping[str, Any]], surface: Surface) -> list[str]:
    """Each as this surface shows it: what is odd, what to do, and an example. One of a newer version has the remedy it
    came with."""
    return [_line(each, _by_slug().get(each["hint"]), surface) for each in found]


def _line(told: Mapping[str, Any], hint: Hint | None, surface: Surface) -> str:
    remedy = spoken(hint.remedy, surface) if hint else told["remedy"]
    example = f" Example: {told['example']}" if told["example"] else ""
    return f"{told['message']} {remedy}{example}"
