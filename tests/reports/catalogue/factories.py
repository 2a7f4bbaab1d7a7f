"""Crawls whose pages say what a report looks for."""

from typing import Any

from crawler.core.html import link_codec
from crawler.core.options.catalogue import CrawlOptions
from crawler.core.pages.outcomes import Outcome
from crawler.core.protocol.messages import PageResult
from crawler.core.urls.normalise import key_of
from crawler.models import Crawl, Page, PageFacts
from crawler.reports.catalogue.entries import BY_SLUG
from crawler.reports.catalogue.report import Cells
from crawler.storage import sql
from tests.factories import a_crawl, a_page

SITE = "https://site.test"


def crawl_with(**options: Any) -> Crawl:
    return a_crawl(options=CrawlOptions(**options), start_urls=[f"{SITE}/"])


def make(
    crawl: Crawl, path: str, answer: int | Outcome = 200, *, facts: dict[str, Any] | None = None, **more: Any
) -> Page:
    """A page at this path (or URL); an HTML page with a title, a description and one heading unless said otherwise."""
    url = path if "://" in path else f"{SITE}{path}"
    values = {"content_type": "text/html", "title": f"Title of {path}", "key": key_of(url), **more}
    page = a_page(crawl, url, answer, **values)
    if page.http_status is not None:
        said = {"description": f"About {path}", "h1": f"Heading of {path}", "h1_count": 1, "words": 3, **(facts or {})}
        PageFacts.objects.create(page=page, crawl=crawl, **{"digest": key_of(url), **said})
    return page


def moved(crawl: Crawl, path: str, to: str) -> Page:
    target = to if "://" in to else f"{SITE}{to}"
    return make(crawl, path, 301, redirect_to=target, title="")


def link(page: Page, **links: str) -> None:
    """Links of this page: the name of a path below the site, and the words it is written with."""
    urls = {f"{SITE}/{name}": text for name, text in links.items()}
    keep_links(page, list(urls), link_codec.Occurrences.once([*urls], [*urls.values()], {}))


def keep_links(page: Page, targets: list[str], links: link_codec.Occurrences) -> None:
    result = PageResult(
        id=page.id,
        attempt=1,
        outcome=Outcome.SUCCESS,
        link_keys=link_codec.keys(targets),
        linkage=link_codec.packed(targets, links, page.url),
    )
    sql.store_links(page.crawl_id, [result])


def told(crawl: Crawl, slug: str) -> list[Cells]:
    """The lines of a report, and that its number fits them where it counts lines."""
    return [line.cells for line in BY_SLUG[slug].lines(crawl)]


def behind(crawl: Crawl, slug: str, place: int = 0) -> list[Cells]:
    """What lies behind one line of a report."""
    report = BY_SLUG[slug]
    line = list(report.lines(crawl))[place]
    part = report.part(crawl, line.part)
    assert part is not None
    assert part.lines.count() == len(list(part.lines))
    return [line.cells for line in part.lines]


def rows(crawl: Crawl, slug: str) -> list[Cells]:
    """All of a report, as a file holds it."""
    return list(BY_SLUG[slug].rows(crawl))


def paths(lines: list[Cells]) -> list[str]:
    return [str(cells[0]).removeprefix(SITE) for cells in lines]
