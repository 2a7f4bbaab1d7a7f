"""How long the reports of a large crawl take: makes a crawl up in the database, asks for each report, deletes it again.

CRAWLER_DATA_DIR=... python -m benchmarks.reports --pages 100000 --links 50
"""

from __future__ import annotations

import argparse
import os
import random
import time
from collections.abc import Iterable, Iterator
from itertools import islice

import django

SITE = "https://shop.example.com"
CHUNK = 2000  # rows written at a time
OTHER_STATUS = {404: 0.02, 301: 0.04, 500: 0.005, None: 0.01}
WORDS = [f"word{number}" for number in range(3000)]


def main() -> None:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "settings.development")
    django.setup()
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pages", type=int, default=100_000)
    parser.add_argument("--links", type=int, default=50, help="of each page")
    parser.add_argument("--seed", type=int, default=6)
    parser.add_argument("--keep", action="store_true", help="leave the two crawls in the database")
    typed = parser.parse_args()
    from crawler.models import Crawl  # models can be had once Django is set up

    crawls = []
    try:
        for run in range(2):
            began = time.perf_counter()
            crawls.append(made_up(typed.pages, typed.links, random.Random(f"{typed.seed}/{run}"), run))  # noqa: S311 (made up)
            print(f"crawl {crawls[-1]} made in {time.perf_counter() - began:.0f} s", flush=True)
        older, newer = (Crawl.objects.get(id=crawl) for crawl in crawls)
        time_all(newer, older)
    finally:
        if not typed.keep:
            for crawl in crawls:
                forget(crawl)


def time_all(crawl: object, other: object) -> None:
    """Print for each report how many there are and how long the count and the first page of rows took."""
    from crawler.reports.catalogue.entries import REPORTS
    from crawler.reports.comparison import CHANGES, Compared

    for report in REPORTS:
        began = time.perf_counter()
        number = report.count(crawl)
        counted = time.perf_counter()
        rows = report.lines(crawl)
        shown = list(rows[:100])
        listed = time.perf_counter()
        print(f"{report.slug:24} {number:>8,}  count {counted - began:6.2f} s  rows {listed - counted:6.2f} s", end="")
        key = next((line.part for line in shown if line.part), "")
        part = report.part(crawl, key) if key else None
        if part is not None:
            print(f"  part {len(list(part.lines[:100])):>4} in {time.perf_counter() - listed:.2f} s", end="")
        print(flush=True)
    for change in CHANGES:
        began = time.perf_counter()
        found = Compared(crawl, other, change)
        number = found.count()
        list(found[:100])
        print(f"compare {change.slug:16} {number:>8,}  {time.perf_counter() - began:6.2f} s", flush=True)


def made_up(pages: int, links: int, chance: random.Random, run: int) -> object:
    from crawler.core import linkage
    from crawler.core.options import CrawlOptions
    from crawler.models import Crawl, Page, PageFacts, PageLinks

    options = CrawlOptions(externals="check", sitemaps=True, near_duplicates=True)
    crawl = Crawl.objects.create(start_urls=[f"{SITE}/"], options=options.to_plain(), state="finished")
    urls = [f"{SITE}/{number % 97}/{WORDS[number % 3000]}/{number}" for number in range(run * pages // 50, pages)]
    short = [linkage.short_key(url) for url in urls]
    for part in chunks(range(len(urls))):
        rows = Page.objects.bulk_create(page_of(crawl, urls, place, chance) for place in part)
        answered = [row for row in rows if row.http_status is not None]
        PageFacts.objects.bulk_create(facts_of(row, urls, chance) for row in answered)
        html = [row for row in answered if row.http_status == 200]
        PageLinks.objects.bulk_create(links_of(row, urls, short, links, chance) for row in html)
    return crawl.id


def page_of(crawl: object, urls: list[str], place: int, chance: random.Random) -> object:
    from crawler.core.outcomes import Outcome, of_status
    from crawler.core.urls import key_of
    from crawler.models import Page

    status: int | None = 200
    draw = chance.random()
    for other, share in OTHER_STATUS.items():
        if draw < share:
            status = other
            break
        draw -= share
    return Page(
        crawl=crawl,
        key=key_of(urls[place]),
        url=urls[place],
        kind="external" if place % 100 == 99 else "page",
        status=1,
        depth=min(place.bit_length(), 12) // 2,
        parent_id=None,
        linked=place % 500 != 7,
        in_sitemap=place % 3 == 0,
        outcome=of_status(status) if status else chance.choice([Outcome.ROBOTS, Outcome.TIMEOUT]),
        http_status=status,
        content_type="text/html" if place % 40 else "application/pdf",
        title=f"Shop {place // chance.choice([1, 1, 1, 2, 5])}" if place % 20 else "",
        redirect_to=urls[place * 7 % len(urls)] if status == 301 else "",
        bytes=int(chance.lognormvariate(10, 1)),
        elapsed_ms=int(chance.lognormvariate(5, 1)),
        directives="noindex" if place % 50 == 3 else "",
    )


def facts_of(page: object, urls: list[str], chance: random.Random) -> object:
    from crawler.models import PageFacts

    sort = chance.random()
    is_html = page.http_status == 200 and page.content_type == "text/html"
    canonical = page.url if sort < 0.9 else chance.choice(urls)
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
        words=500,
        insecure=["http://cdn.example.com/a.png"] if sort > 0.98 else [],
    )


def links_of(page: object, urls: list[str], short: list[bytes], number: int, chance: random.Random) -> object:
    from crawler.core import linkage
    from crawler.models import PageLinks

    places = chance.choices(range(len(urls)), k=number)
    targets = [urls[place] for place in places]
    texts = [f"Go to {place}" for place in places]
    keys = b"".join(short[place] for place in places)
    packed = linkage.packed(targets, texts, {}, page.url)
    return PageLinks(page_id=page.id, crawl_id=page.crawl_id, keys=keys, packed=packed)


def chunks(places: Iterable[int]) -> Iterator[list[int]]:
    rest = iter(places)
    while chunk := list(islice(rest, CHUNK)):
        yield chunk


def forget(crawl: object) -> None:
    from crawler import pages
    from crawler.models import Crawl

    while pages.delete_rows(crawl, CHUNK * 10):
        pass
    Crawl.objects.filter(id=crawl).delete()


if __name__ == "__main__":
    main()
