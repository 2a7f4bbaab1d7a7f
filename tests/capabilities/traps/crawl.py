"""Crawls a made-up site through the writer, without workers: what is handed out, is answered some rounds later."""

from collections import deque
from dataclasses import dataclass

from django.test import TestCase

from crawler.capabilities.traps.crawl_keys import LISTENING
from crawler.capabilities.traps.novelty import said_of
from crawler.capabilities.traps.result_fields import SAID
from crawler.core.options.catalogue import CrawlOptions
from crawler.core.pages.outcomes import Outcome
from crawler.core.protocol.discovery import Discovery
from crawler.core.protocol.messages import PageResult
from crawler.frontier.keys import CrawlKeys
from crawler.models import Crawl, Page, Trap
from crawler.queueing import queues
from crawler.storage import quarantine, queries, writer
from tests.capabilities.traps.sites import Shown, Site

NOW = 1_800_000_000.0
HOST = "https://example.com"
PAGES_A_ROUND = 50
ROUNDS_AHEAD = 2  # handed out before the results of a round are stored


@dataclass
class Outcomes:
    """What became of a site."""

    crawl: Crawl
    requests: int
    fetched: set[str]
    most_kept_out: int  # pages at a time
    reopened: int  # times

    @property
    def traps(self) -> dict[str, Trap]:
        return {trap.pattern: trap for trap in quarantine.shown(self.crawl)}


def new_crawl(options: CrawlOptions | None = None) -> Crawl:
    crawl = Crawl.objects.create(start_urls=[f"{HOST}/"], options=(options or CrawlOptions()).to_plain())
    writer.open_start_pages(crawl, [f"{HOST}/"], NOW)
    return crawl


def crawled(site: Site, at_most: int, crawl: Crawl | None = None) -> Outcomes:
    """Crawl a site to its end, which must come within so many requests."""
    crawl = crawl or new_crawl()
    work, requests = Work(crawl, site), 0
    while work.goes_on():
        requests += work.step()
        assert requests <= at_most, "it does not end"
    crawl.refresh_from_db()
    assert crawl.tallies == queries.count_rows(crawl.id)
    done = Page.objects.filter(crawl=crawl, outcome=Outcome.SUCCESS).values_list("url", flat=True)
    return Outcomes(crawl, requests, {url.removeprefix(HOST) for url in done}, work.most_kept_out, work.reopened)


class Work:
    """The rounds of a crawl."""

    def __init__(self, crawl: Crawl, site: Site) -> None:
        self.crawl, self.site = crawl, site
        self.most_kept_out = self.reopened = 0
        self._out = deque[list[tuple[Page, bool]]]()

    def goes_on(self) -> bool:
        return bool(self._out) or Page.objects.filter(crawl=self.crawl, status=Page.OPEN).exists()

    def step(self, times: int = 1) -> int:
        """Hand out some pages and store the results of earlier ones, so many `times`; how many were handed out."""
        taken = [page.id for batch in self._out for page, _ in batch]
        rows = Page.objects.filter(crawl=self.crawl, status=Page.OPEN).exclude(id__in=taken).order_by("depth", "id")
        listens = bool(queues.connection().exists(CrawlKeys(str(self.crawl.id)).of(LISTENING)))
        batch = [(page, listens) for page in rows[:PAGES_A_ROUND]]
        self._out += [batch] if batch else []
        if len(self._out) > ROUNDS_AHEAD or not batch:
            self._store(self._out.popleft(), times)
        return len(batch)

    def _store(self, batch: list[tuple[Page, bool]], times: int) -> None:
        results, found = list[PageResult](), dict[bytes, Discovery]()
        for page, listens in batch:
            shown = self.site(page.url.removeprefix(HOST))
            results.append(_result(page, shown, listens=listens))
            for link in shown.links:
                each = Discovery(HOST + link, page.depth + 1, 0, page.id)
                found.setdefault(each.key, each)
        known = Page.objects.filter(crawl=self.crawl, key__in=list(found)).values_list("key", flat=True)
        for key in list(map(bytes, known)):
            del found[key]
        for _ in range(times):
            with TestCase.captureOnCommitCallbacks(execute=True):
                writer.apply(self.crawl.id, results, [], list(found.values()), NOW, on_reopened=self._count_reopened)
        self.crawl.refresh_from_db()
        self.most_kept_out = max(self.most_kept_out, self.crawl.outcomes.get("trap", 0))

    def _count_reopened(self) -> None:
        self.reopened += 1


def _result(page: Page, shown: Shown, *, listens: bool) -> PageResult:
    said = said_of(page.url, "\n".join(shown.lines), shown.objects) if listens else None
    return PageResult(id=page.id, attempt=1, outcome=Outcome.SUCCESS, http_status=200, **SAID.given(said))
