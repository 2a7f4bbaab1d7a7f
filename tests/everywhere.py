"""A crawl that has left something everywhere one can: rows, keys in Redis, kept content. What is left of it."""

from pathlib import Path
from typing import Any

from redis import Redis

from crawler.core.options.catalogue import CrawlOptions
from crawler.frontier.frontier import Frontier
from crawler.frontier.ready_queue import QueueItem
from crawler.models import Crawl, Notice, Page, PageFacts, PageLoad, ScriptPage
from crawler.queueing import queues
from crawler.storage.content.objects import packed
from crawler.storage.content.shelf import Shelf, named
from tests.factories import a_delivery, a_finished_crawl, a_page

NOTHING = {"pages": 0, "facts": 0, "loads": 0, "needs": 0, "notices": 0, "keys": set(), "files": []}


def a_crawl_everywhere(owner: Any = None, **fields: Any) -> Crawl:
    """Over, with a page whose text is kept, a notice, and keys that somebody who died left in Redis."""
    options = CrawlOptions(keep=("text",)).to_plain()
    crawl = a_finished_crawl(owner, **fields)
    Crawl.objects.filter(pk=crawl.pk).update(options=options)
    page = a_page(crawl)
    shelf = Shelf(str(crawl.pk), "batch")
    places = shelf.put({"text": packed(b"Hello")})
    PageFacts.objects.create(page_id=page.pk, crawl=crawl, kept=named(places, shelf.clear()))
    PageLoad.objects.create(page_id=page.pk, crawl=crawl)
    ScriptPage.objects.create(page_id=page.pk, crawl=crawl, reason="root")
    a_delivery(crawl)
    Frontier(queues.connection(), str(crawl.pk)).ready_queue.enqueue([QueueItem(page.pk, "example.com", 0.0, 5)])
    return crawl


def left_of(crawl: Crawl, redis: Redis, folder: Path) -> dict[str, Any]:
    """What there still is; `folder` is that of all kept content. That it was deleted is noted for a day."""
    keys = {key.decode() for key in redis.scan_iter(f"*{crawl.pk}*")}
    return {
        "pages": Page.objects.filter(crawl=crawl.pk).count(),
        "facts": PageFacts.objects.filter(crawl=crawl.pk).count(),
        "loads": PageLoad.objects.filter(crawl=crawl.pk).count(),
        "needs": ScriptPage.objects.filter(crawl=crawl.pk).count(),
        "notices": Notice.objects.filter(crawl=crawl.pk).count(),
        "keys": {key for key in keys if not key.endswith(":deleted")},
        "files": sorted(file.name for file in folder.glob(f"{crawl.pk}/*")),
    }
