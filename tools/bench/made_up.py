"""Finished crawls made up from a seed, written straight into the database: what their pages and reports look like."""

from __future__ import annotations

import random
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import timedelta
from itertools import islice
from uuid import UUID

from django.utils import timezone

from crawler.core.html import link_codec
from crawler.core.options.catalogue import CrawlOptions
from crawler.core.pages.outcomes import Outcome, of_status
from crawler.core.urls.normalise import key_of
from crawler.models import Crawl, Page, PageFacts, PageLinks
from crawler.storage import queries, writer

SITE, BLOG = "https://shop.example.com", "https://blog.example.com"
CHUNK = 2000  # rows written at a time
OTHER_STATUS = {404: 0.02, 301: 0.04, 500: 0.005, None: 0.01}
WORDS = [f"word{number}" for number in range(3000)]
CHILDREN = 60  # pages first found on one page
CHANGED = 50  # one page of so many is new, gone or another in the crawl after
HUBS = 4  # pages that every page links to: the home page, sections


@dataclass(frozen=True)
class Site:
    """A generated site as it stood at one time."""

    pages: int
    links: int  # of each page
    seed: int
    run: int = 0  # the site of the next run is the same but for one page in CHANGED

    @property
    def numbers(self) -> range:
        """Its pages. The oldest are gone by the next run, and as many have come."""
        moved = self.run * self.pages // CHANGED
        return range(moved, moved + self.pages)

    def url(self, number: int) -> str:
        host = BLOG if number % 10 == 9 else SITE
        return f"{host}/{number % 97}/{WORDS[number % 3000]}/{number}" if number else f"{SITE}/"

    def chance(self, number: int, what: str) -> random.Random:
        """The dice for one page: the same in every run, unless it is a page that changed since."""
        is_changed = self.run and number % CHANGED == 11
        return random.Random(f"{self.seed}/{number}/{what}/{self.run if is_changed else 0}")


def made_up(site: Site) -> UUID:
    """A finished crawl of this site, with what its own view, the reports and the comparison ask for."""
    options = CrawlOptions(externals="check", sitemaps=True, near_duplicates=True)
    crawl = Crawl.objects.create(start_urls=[site.url(0)], options=options.to_plain(), state="finished")
    short = {number: link_codec.short_key(site.url(number)) for number in site.numbers}
    ids = list[int]()
    for part in chunks(site.numbers):
        rows = Page.objects.bulk_create(_page(crawl, site, number, ids) for number in part)
        ids += [row.id for row in rows]
        told = list(zip(rows, part, strict=True))
        PageFacts.objects.bulk_create(_facts(row, site, number) for row, number in told if row.http_status is not None)
        PageLinks.objects.bulk_create(
            _links(row, site, number, short) for row, number in told if row.http_status == 200
        )
    _finish(crawl, ids)
    return crawl.id


def forget(crawl: UUID) -> None:
    last: int | None = 0
    while last is not None:
        last = writer.delete_rows(crawl, last, CHUNK * 10)
    Crawl.objects.filter(id=crawl).delete()


def chunks(numbers: Iterable[int]) -> Iterator[list[int]]:
    rest = iter(numbers)
    while chunk := list(islice(rest, CHUNK)):
        yield chunk


def _finish(crawl: Crawl, ids: list[int]) -> None:
    """What the manager would have counted while the crawl went on."""
    tallies = queries.count_rows(crawl.id)
    now, seconds = time.time(), 120
    crawl.discovered, crawl.outcomes, crawl.statuses = tallies.discovered, tallies.outcomes, tallies.statuses
    crawl.requests, crawl.priorities = tallies.asked, [5]
    crawl.samples = [[now - seconds + at, *[tallies.discovered * at // seconds] * 2] for at in range(0, seconds, 2)]
    crawl.created_at, crawl.finished_at = timezone.now() - timedelta(seconds=seconds), timezone.now()
    troubled = Page.objects.filter(id__in=ids[-CHUNK:], http_status=404).values_list("id", flat=True)
    crawl.recent = {"closed": ids[:-13:-1], "troubled": list(troubled[:12])}
    crawl.save()


def _page(crawl: Crawl, site: Site, number: int, ids: list[int]) -> Page:
    chance, place = site.chance(number, "page"), number - site.numbers.start
    status, url = _status(chance), site.url(number)
    is_answer = status is not None
    outcome = of_status(status) if is_answer else chance.choice([Outcome.ROBOTS, Outcome.TIMEOUT])
    return Page(
        crawl=crawl,
        key=key_of(url),
        url=url,
        kind="external" if number % 100 == 99 else "page",
        status=Page.CLOSED,
        depth=min(place.bit_length() // 2, 8),
        parent_id=ids[parent] if 0 <= (parent := (place - 1) // CHILDREN) < len(ids) else None,
        attempts=1,
        linked=number % 500 != 7,
        in_sitemap=number % 3 == 0,
        given_up=outcome is Outcome.TIMEOUT,
        outcome=outcome,
        http_status=status,
        content_type=("text/html" if number % 40 else "application/pdf") if is_answer else "",
        title=f"Shop {number // chance.choice([1, 1, 1, 2, 5])}" if number % 20 and status == 200 else "",
        redirect_to=site.url(chance.choice(site.numbers)) if status == 301 else "",
        bytes=int(chance.lognormvariate(10, 1)) if is_answer else 0,
        elapsed_ms=int(chance.lognormvariate(5, 1)),
        fetched_at=timezone.now() if outcome is not Outcome.ROBOTS else None,
        directives="noindex" if number % 50 == 3 else "",
    )


def _status(chance: random.Random) -> int | None:
    draw = chance.random()
    for other, share in OTHER_STATUS.items():
        if draw < share:
            return other
        draw -= share
    return 200


def _facts(page: Page, site: Site, number: int) -> PageFacts:
    chance = site.chance(number, "facts")
    sort = chance.random()
    is_html = page.http_status == 200 and page.content_type == "text/html"
    canonical = page.url if sort < 0.9 else site.url(chance.choice(site.numbers))
    sketch = chance.getrandbits(64) if sort < 0.9 else 0xF0F0F0F0F0F0F0F0 ^ 1 << chance.randrange(64)
    return PageFacts(
        page=page,
        crawl_id=page.crawl_id,
        headers="Server: nginx\nContent-Type: text/html; charset=utf-8\nCache-Control: max-age=60\n" * 3,
        first_byte_ms=page.elapsed_ms // 2,
        description=f"All about {page.title}, and more of it than anybody would want to read" if sort < 0.8 else "",
        h1=page.title if is_html else "",
        h1_count=(1 if sort < 0.9 else 2) if is_html else None,
        canonical=canonical if is_html else "",
        canonicals=(1 if sort < 0.99 else 2) if is_html else 0,
        digest=(chance.randbytes(16) if sort < 0.95 else bytes([int(sort * 1e6) % 250]) * 16) if is_html else b"",
        sketch=sketch.to_bytes(8, "big") if is_html else b"",
        words=500 if is_html else None,
        insecure=["http://cdn.example.com/a.png"] if is_html and sort > 0.98 else [],
    )


def _links(page: Page, site: Site, number: int, short: dict[int, bytes]) -> PageLinks:
    chance = site.chance(number, "links")
    hubs = list(site.numbers[: min(HUBS, site.links)])
    numbers = [*hubs, *chance.choices(site.numbers, k=site.links - len(hubs))]
    targets, texts = [site.url(target) for target in numbers], [f"Go to {target}" for target in numbers]
    keys = b"".join(short[target] for target in numbers)
    return PageLinks(
        page_id=page.id,
        crawl_id=page.crawl_id,
        keys=keys,
        packed=link_codec.packed(targets, link_codec.Occurrences.once(targets, texts, {}), page.url),
    )
