"""One page of a crawl in full: as JSON values, and as text for its web page and the terminal."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any

from crawler.core.html import link_codec
from crawler.core.pages.outcomes import SUCCESSES
from crawler.core.pages.page_fields import label
from crawler.core.pages.traps import TrapReason
from crawler.core.protocol.messages import EXTERNAL, PAGE, SITEMAP
from crawler.core.urls.normalise import key_of
from crawler.http.fetcher import is_html
from crawler.models import Crawl, Page, PageFacts, PageLinks, Trap
from crawler.reports import page_parts, text
from crawler.reports.links import links_on, pages_with
from crawler.reports.page_parts import Known
from crawler.reports.page_table import value_words
from crawler.reports.traps import REASONS
from crawler.storage import queries

# The path to a page, and its redirects.

MAX_STEPS = 30  # of a path, those nearest to the page
MAX_HOPS = 20  # a crawl follows ten; there may be others before or after them
MAX_SOURCES = 50  # pages that redirect here, over any number of hops


def brief(page: Page) -> dict[str, Any]:
    """A page in a list: its id, URL and outcome."""
    return {"page": page.pk, "url": page.url, "outcome": page.outcome or None, "http_status": page.http_status}


def path_to(page: Page) -> dict[str, Any]:
    """The pages between a start URL and this one: each was first found on the one before it. `leads_by` is how a page
    leads to the next one: "link", "redirect" or "sitemap". `is_whole` is False when earlier pages are left out."""
    steps: list[dict[str, Any]] = []
    child = page
    while child.parent_id is not None and len(steps) < MAX_STEPS:
        parent = Page.objects.filter(crawl_id=page.crawl_id, pk=child.parent_id).first()
        if parent is None:
            break
        steps.append({**brief(parent), "leads_by": _leads_by(parent, child)})
        child = parent
    return {"steps": steps[::-1], "is_whole": child.parent_id is None}


def _leads_by(parent: Page, child: Page) -> str:
    if parent.kind == SITEMAP:
        return "sitemap"
    return "redirect" if parent.redirect_to == child.url else "link"


def redirects_of(page: Page) -> dict[str, Any]:
    """`onwards`: the chain of redirects from this page to the final response. `is_loop`: the chain leads back.
    `sources`: the pages that redirect here, directly with `hops` 1."""
    onwards, is_loop = _onwards(page)
    return {"onwards": onwards, "is_loop": is_loop, "sources": _sources(page)}


def _onwards(page: Page) -> tuple[list[dict[str, Any]], bool]:
    steps: list[dict[str, Any]] = []
    seen, url = {page.url}, page.redirect_to
    while url and len(steps) < MAX_HOPS:
        if url in seen:
            return steps, True
        seen.add(url)
        target = Page.objects.filter(crawl_id=page.crawl_id, key=key_of(url)).first()
        steps.append(brief(target) if target else {"page": None, "url": url, "outcome": None, "http_status": None})
        url = target.redirect_to if target else ""
    return steps, False


def _sources(page: Page) -> list[dict[str, Any]]:
    """Level by level. No index leads from a target to its sources, so each level reads the crawl's rows once."""
    found: dict[int, dict[str, Any]] = {}
    targets, hops = [page.url], 0
    while targets and hops < MAX_HOPS and len(found) < MAX_SOURCES:
        hops += 1
        rows = queries.all_rows(page.crawl_id).filter(redirect_to__in=targets).exclude(pk__in=[page.pk, *found])
        level = list(rows[: MAX_SOURCES - len(found)])
        found.update((source.pk, {**brief(source), "hops": hops}) for source in level)
        targets = [source.url for source in level]
    return list(found.values())


# Links from and to one page, in parts.


def links_out(page: Page, at: int, at_most: int) -> dict[str, Any]:
    """The links of this page in document order: `number` of all, and `links` from position `at` on, each with anchor
    text, rel and the outcome of its target; `page` is None for a target without a row."""
    kept = PageLinks.objects.filter(pk=page.pk).first()
    links = link_codec.unpacked(bytes(kept.packed), page.url) if kept else []
    part = links[at : at + at_most]
    targets = _targets(page.crawl_id, (link.url for link in part))
    return {"number": len(links), "from": at, "links": [{**link._asdict(), **targets[link.url]} for link in part]}


def links_in(crawl: Crawl, page: Page, at: int, at_most: int) -> dict[str, Any]:
    """The pages that link to this one, in the order of their discovery: `number` of them, and their `links` from
    position `at` on."""
    key = link_codec.short_key(page.url)
    pages = pages_with(crawl, key)
    part = pages[at : at + at_most]
    links = [
        {"page": source, "url": link.page, "text": link.text, "rel": link.rel} for source, link in links_on(part, key)
    ]
    return {"number": len(pages), "from": at, "links": links}


def _targets(crawl_id: Any, urls: Iterable[str]) -> dict[str, dict[str, Any]]:
    """URL -> page and outcome."""
    keys = {key_of(url): url for url in urls}
    unknown: dict[str, Any] = {"page": None, "outcome": None, "http_status": None}
    found = dict.fromkeys(keys.values(), unknown)
    rows = Page.objects.filter(crawl_id=crawl_id, key__in=list(keys))
    for key, page, outcome, http_status in rows.values_list("key", "id", "outcome", "http_status"):
        found[keys[bytes(key)]] = {"page": page, "outcome": outcome or None, "http_status": http_status}
    return found


LINKS = 50  # of either kind, by default


def page_report(crawl: Crawl, page: Page, *, out_at: int = 0, in_at: int = 0, links: int = LINKS) -> dict[str, Any]:
    """All values; None = not known. `said` (the metadata) is None when the page was not read, because there was no
    response, no success, or no HTML. `headers` are lines as sent, None without a response. Capabilities add what
    `page_parts` has."""
    facts = PageFacts.objects.filter(pk=page.pk).first()
    answered = page.http_status is not None
    return {
        **brief(page),
        "crawl": str(crawl.pk),
        "kind": page.kind,
        "content_type": page.content_type or None,
        "bytes": page.bytes if answered else None,
        "elapsed_ms": page.elapsed_ms if page.fetched_at and not page.reused else None,
        "first_byte_ms": facts.first_byte_ms if facts and not page.reused else None,
        "certificate_error": (facts.certificate_error if facts else "") or None,
        "fetched_at": page.fetched_at.isoformat(timespec="milliseconds") if page.fetched_at else None,
        "attempts": page.attempts,
        "deaths": page.deaths,
        "error": page.error or None,
        "reused": page.reused,
        "given_up": page.given_up,
        "depth": page.depth,
        "hops": page.hops,
        "rel": page.rel,
        "path": path_to(page),
        "sitemap": _sitemap(crawl, page),
        "trap": _trap(page),
        "redirects": redirects_of(page),
        "directives": page.directives if answered else None,
        "said": _said(page, facts),
        "headers": facts.headers.splitlines() if facts else None,
        **page_parts.values_of(page, facts),
        "meta": page.meta,
        "not_followed": page.not_followed,
        "links_out": links_out(page, out_at, links),
        "links_in": links_in(crawl, page, in_at, links),
    }


def _sitemap(crawl: Crawl, page: Page) -> dict[str, Any]:
    """`linked`: whether it is linked or a start page; both are None when the crawl read no sitemap."""
    if not crawl.chosen.uses_sitemaps:
        return {"listed": None, "linked": None, "lastmod": None}
    return {"listed": page.in_sitemap, "linked": page.linked, "lastmod": page.lastmod or None}


def _said(page: Page, facts: PageFacts | None) -> dict[str, Any] | None:
    if facts is None or not _was_read(page):
        return None
    names = ("description", "h1", "h1_count", "canonical", "canonicals", "words", "insecure")
    said = {name: getattr(facts, name) for name in names}
    return {"title": page.title, **said, "malformed": facts.malformed or {"number": 0, "links": []}}


def _was_read(page: Page) -> bool:
    read = page.outcome in SUCCESSES and page.kind != SITEMAP
    return read and is_html(page.content_type or "text/html")


def _trap(page: Page) -> dict[str, str] | None:
    trap = Trap.objects.filter(pk=page.trap_id).first() if page.trap_id else None
    return {"reason": REASONS[TrapReason(trap.reason)], "pattern": trap.pattern} if trap else None


# The same as text, for the view of a page and the terminal; with the reason where a value is missing.

KINDS = {PAGE: "a page of the site", SITEMAP: "a sitemap", EXTERNAL: "a link to another site"}
LEADS_BY = {"link": "links to", "redirect": "redirects to", "sitemap": "names"}
UNKNOWN = "not known"


def answer(page: Mapping[str, Any]) -> str:
    """The response of a page in a list: its status code, or its outcome in words."""
    if page["http_status"]:
        return str(page["http_status"])
    if page["page"] is None:
        return "not in this crawl"
    return text.outcome(page["outcome"] or "")


def answered(report: Mapping[str, Any]) -> Known:
    """The response and how long it took."""
    none = "no response" if report["outcome"] else "no response yet"
    has_answer = report["http_status"] is not None
    certificate = report["certificate_error"]
    return [
        (label("outcome"), outcome(report)),
        (label("http_status"), str(report["http_status"]) if has_answer else none),
        (label("content_type"), report["content_type"] or ("not stated by the server" if has_answer else none)),
        (label("bytes"), text.size(report["bytes"]) if has_answer else none),
        (label("first_byte_ms"), _milliseconds(report["first_byte_ms"], report)),
        (label("elapsed_ms"), _milliseconds(report["elapsed_ms"], report)),
        (label("attempts"), attempts(report)),
        *([(label("certificate_error"), certificate)] if certificate else []),
    ]


def outcome(report: Mapping[str, Any]) -> str:
    """ "no connection: connection refused"."""
    return ": ".join(filter(None, [text.outcome(report["outcome"] or ""), report["error"]]))


def attempts(report: Mapping[str, Any]) -> str:
    """How often the page was requested, and how many workers crashed on it."""
    if report["reused"]:
        return "0: the response was taken from the cache"
    number = text.count(report["attempts"])
    return f"{number}; {text.counted(report['deaths'], 'worker')} crashed on it" if report["deaths"] else number


def found(report: Mapping[str, Any]) -> Known:
    """Its type and how it was found."""
    known = [
        (label("kind"), KINDS[report["kind"]]),
        (label("depth"), f"{text.counted(report['depth'], 'link')} from a start URL"),
        (label("rel"), report["rel"] or "none"),
        *_of_sitemaps(report["sitemap"]),
    ]
    if report["trap"]:
        known.append(("Trap", f"{report['trap']['reason']}: {report['trap']['pattern']}"))
    return known


def _of_sitemaps(sitemap: Mapping[str, Any]) -> Known:
    if sitemap["listed"] is None:
        return [(label("in_sitemap"), f"{UNKNOWN}: this crawl read no sitemaps")]
    if not sitemap["listed"]:
        return [(label("in_sitemap"), "not in the sitemaps read")]
    linked = "yes" if sitemap["linked"] else "no: only a sitemap leads here"
    return [(label("in_sitemap"), "yes"), (label("lastmod"), sitemap["lastmod"] or UNKNOWN), (label("linked"), linked)]


def said(report: Mapping[str, Any]) -> Known:
    """The metadata of the page."""
    directives = report["directives"]
    to_crawlers = UNKNOWN if directives is None else directives or "nothing: it may be indexed and its links followed"
    page = report["said"]
    if page is None:
        return [(label("directives"), to_crawlers)]
    return [
        (label("title"), page["title"] or "none"),
        (label("description"), page["description"] or "none"),
        (label("h1"), _heading(page)),
        (label("canonical"), _canonical(page, report["url"])),
        (label("directives"), to_crawlers),
        (label("words"), "not counted" if page["words"] is None else text.count(page["words"])),
    ]


def unread(report: Mapping[str, Any]) -> str:
    """Why no metadata is known; "" when it is."""
    if report["said"] is not None:
        return ""
    if report["outcome"] is None:
        return "The page has not been requested yet."
    if report["http_status"] is None:
        return "No response to read."
    if report["headers"] is None:
        return "No metadata: the crawl is too old to have any, or the response was taken from the cache."
    if report["kind"] == SITEMAP or report["outcome"] in SUCCESSES:
        return "Not an HTML page, so it has no metadata."
    return "Only successful responses are read."


def meta(report: Mapping[str, Any]) -> Known:
    """What its line in the list of URLs said."""
    return [(name, value_words(value)) for name, value in (report["meta"] or {}).items()]


def fetched(report: Mapping[str, Any]) -> str:
    """ "2026-11-21 20:15:00 UTC"."""
    at = report["fetched_at"]
    return f"{datetime.fromisoformat(at):%Y-%m-%d %H:%M:%S} UTC" if at else "never"


def _milliseconds(number: int | None, report: Mapping[str, Any]) -> str:
    if number is not None:
        return f"{number:,} ms"
    return "not requested: the response was taken from the cache" if report["reused"] else UNKNOWN


def _heading(page: Mapping[str, Any]) -> str:
    number = page["h1_count"]
    if number is None:
        return page["h1"] or UNKNOWN
    more = f" (the first of {text.count(number)})" if number > 1 else ""
    return f"{page['h1'] or ('none' if number == 0 else 'without words')}{more}"


def _canonical(page: Mapping[str, Any], url: str) -> str:
    if not page["canonicals"]:
        return "none"
    stated = page["canonical"] or "one that cannot be requested"
    own = " (this page)" if stated == url else ""
    more = f" (the first of {text.count(page['canonicals'])})" if page["canonicals"] > 1 else ""
    return f"{stated}{own}{more}"
