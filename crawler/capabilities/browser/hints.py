"""That pages need their scripts, and the crawl renders none."""

from __future__ import annotations

from crawler.capabilities.browser.options import NEVER, RenderOptions
from crawler.core.text.controls import by_surface
from crawler.models import Crawl, Page, ScriptPage
from crawler.reports.hints import Evidence, Hint
from crawler.storage.queries import start_pages

_RENDERED = by_surface(command="--render auto", page="“Render in a browser”", api='`render` "auto"')
FEWEST = 3  # pages, unless a start page is one
SHARE = 10  # a tenth of the pages with a response


def _need_scripts(crawl: Crawl) -> Evidence | None:
    if RenderOptions.of(crawl.chosen).render != NEVER:
        return None
    found = ScriptPage.objects.filter(crawl=crawl).values("page_id")
    first = Page.objects.filter(pk__in=found).order_by("id").first()
    if first is None:
        return None
    pages = found.count()
    of = sum(number for status, number in crawl.tallies.statuses.items() if status.startswith("2"))
    is_start = not crawl.source and start_pages(crawl).filter(pk=first.pk).exists()
    if not is_start and (pages < FEWEST or SHARE * pages < of):
        return None
    return Evidence(pages, of, first.url)


HINTS = (
    Hint(
        "scripts",
        "A crawl without rendering found that its start page, or at least a tenth of its pages, is nearly empty "
        "without JavaScript.",
        "Nearly empty without JavaScript: {pages} of {of}.",
        f"Crawl again with {_RENDERED}.",
        _need_scripts,
    ),
)
