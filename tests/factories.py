"""Crawls, pages and people as rows: the least each test needs, the rest by name."""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from hashlib import blake2b
from typing import Any

from django.contrib.auth.models import Group, User
from django.db import transaction
from django.test import Client
from django.utils import timezone
from redis import Redis

from crawler.core.access.credentials import parse
from crawler.core.extraction.extractor import extract
from crawler.core.html.link_codec import Occurrences, keys, packed
from crawler.core.options.catalogue import CrawlOptions
from crawler.core.pages.outcomes import Outcome, of_status
from crawler.core.protocol.completion import State
from crawler.encryption import seal
from crawler.frontier.keys import CrawlKeys
from crawler.frontier.ready_queue import encode_member
from crawler.models import Allowance, Crawl, Delivery, Notice, Page, PageFacts, PageLinks
from crawler.reports.extraction_text import notes_of
from crawler.storage.content import objects
from crawler.storage.content.shelf import Shelf, named

SITE = "https://example.com/"


def a_person(name: str = "ann", *, superuser: bool = False) -> User:
    made: User = (User.objects.create_superuser if superuser else User.objects.create_user)(name, password="secret")
    return made


@contextmanager
def undone() -> Iterator[None]:
    """What is done within, to the database of a test in a transaction, is taken back."""
    before = transaction.savepoint()
    try:
        yield
    finally:
        transaction.savepoint_rollback(before)


def a_browser(person: User | None) -> Client:
    """One in which this person is logged in, or nobody."""
    browser = Client()
    if person is not None:
        browser.force_login(person)
    return browser


def a_crawl(owner: User | None = None, *, options: CrawlOptions | None = None, **fields: Any) -> Crawl:
    """A running crawl with nothing but its start URL."""
    values: dict[str, Any] = {"start_urls": [SITE], "discovered": 1, **fields}
    return Crawl.objects.create(owner=owner, options=(options or CrawlOptions()).to_plain(), **values)


def a_crawl_with_a_queue(redis: Redis, now: float, owner: User | None = None) -> Crawl:
    """Open are a page that is due for 90 s, one that a worker has for longer, and one for later; two are dead letters.
    In the last minute 300 pages came in, 90 went out, 3 were retried and 1 died; in each of the last five, at `now`
    (epoch seconds), 120, 48, 1.6 and 0.4."""
    counts = ((-400, 0, 0, 0, 0), (-300, 100, 50, 5, 1), (-60, 400, 200, 10, 2), (-1, 700, 290, 13, 3))
    crawl = a_crawl(
        owner,
        discovered=5,
        outcomes={"5xx": 2},
        statuses={"500": 2},
        round_began_at=datetime.fromtimestamp(now - 3600, UTC),
        flow=[[now + at, *pages] for at, *pages in counts],
    )
    for number, due_since in enumerate((now - 90, now - 500, now + 600)):
        url, waits = f"{SITE}{number}", {"status": Page.OPEN, "outcome": "", "http_status": None, "fetched_at": None}
        page = a_page(crawl, url, **waits, due_since=due_since)
        if number == 1:
            redis.sadd(CrawlKeys(str(crawl.id)).taken, encode_member(page.pk))
    for number in range(2):
        a_page(crawl, f"{SITE}dead/{number}", 500, given_up=True, given_up_at=now - 30)
    return crawl


def a_crawl_that_logs_in(owner: User | None = None, **fields: Any) -> Crawl:
    """Paused, as after a wrong password; it sends a header, too."""
    sealed = seal(parse(headers=["X-Key: swordfish-1"], login_fields=["user=ann", "password=swordfish-2"]))
    options = CrawlOptions(login_url=f"{SITE}login")
    return a_crawl(owner, **{"options": options, "sealed": sealed, "state": State.PAUSED, **fields})


def a_finished_crawl(owner: User | None = None, **fields: Any) -> Crawl:
    """A crawl of three pages, all well, that took 12 seconds."""
    now = timezone.now()
    values: dict[str, Any] = {
        "state": State.FINISHED,
        "created_at": now - timedelta(seconds=12),
        "finished_at": now,
        "discovered": 3,
        "outcomes": {"2xx": 3},
        "statuses": {"200": 3},
        **fields,
    }
    return a_crawl(owner, **values)


def a_cancelled_crawl(owner: User | None = None, **fields: Any) -> Crawl:
    """A crawl of ten pages that was cancelled when four had answered."""
    outcomes = {"2xx": 4, "cancelled": 6}
    values = {"state": State.CANCELLED, "discovered": 10, "outcomes": outcomes, "statuses": {"200": 4}, **fields}
    return a_finished_crawl(owner, **values)


def key_of(url: str) -> bytes:
    """Of the row of a page with this normalised URL."""
    return blake2b(url.encode(), digest_size=16).digest()


def a_page(crawl: Crawl, url: str = SITE, answer: int | Outcome = 200, **fields: Any) -> Page:
    """A closed page that answered with this status, or closed with this outcome."""
    outcome = of_status(answer) if isinstance(answer, int) else answer
    values: dict[str, Any] = {
        "key": key_of(url),
        "url": url,
        "status": Page.CLOSED,
        "outcome": outcome,
        "http_status": answer if isinstance(answer, int) else None,
        "fetched_at": timezone.now(),
        **fields,
    }
    return Page.objects.create(crawl=crawl, **values)


def a_delivery(crawl: Crawl, address: str = "me@example.com", state: str = Delivery.PENDING, **fields: Any) -> Delivery:
    notice, _ = Notice.objects.get_or_create(crawl=crawl, event="finished", defaults={"receipt": {}})
    return Delivery.objects.create(notice=notice, address=address, state=state, **{"transport": "email", **fields})


def a_group(name: str = "editors", *members: User) -> Group:
    group, _ = Group.objects.get_or_create(name=name)
    group.user_set.add(*members)
    return group


def an_allowance(user: User, **limits: int | None) -> Allowance:
    return Allowance.objects.create(user=user, **limits)


def make_crawl(url: str = "http://site.test/", **fields: Any) -> Crawl:
    return Crawl.objects.create(start_urls=[url], **fields)


def make_page(crawl: Crawl, url: str, **fields: Any) -> Page:
    """An open page."""
    return Page.objects.create(crawl=crawl, url=url, key=key_of(url), **fields)


def make_links(page: Page, *links: tuple[str, str, str]) -> None:
    """Of a page, each with target, text and rel; several may have one target."""
    targets = list(dict.fromkeys(url for url, _, _ in links))
    written = Occurrences(
        [targets.index(url) for url, _, _ in links],
        [text for _, text, _ in links],
        {place: rel for place, (_, _, rel) in enumerate(links) if rel},
    )
    PageLinks.objects.create(
        page_id=page.id, crawl=page.crawl, keys=keys(targets), packed=packed(targets, written, page.url)
    )


def make_linked_crawl(**fields: Any) -> Crawl:
    """A start page and a page below it that link to each other, to a missing page, a slow one, another site, and to
    what the crawl has no page of."""
    crawl = make_crawl(discovered=4, **fields)
    closed = {"status": Page.CLOSED, "outcome": "2xx", "http_status": 200, "content_type": "text/html"}
    start = make_page(crawl, "http://site.test/", title="Start", **closed)
    below = {"depth": 1, "parent_id": start.id}
    page = make_page(crawl, "http://site.test/a", title="A", **closed, **below)
    make_page(crawl, "http://site.test/gone", status=Page.CLOSED, outcome="4xx", http_status=404, **below)
    make_page(crawl, "http://site.test/slow", status=Page.CLOSED, outcome="timeout", depth=2, parent_id=page.id)
    make_page(crawl, "http://other.test/", status=Page.CLOSED, outcome="external", kind="external", **below)
    make_links(
        start,
        ("http://site.test/a", "To a", ""),
        ("http://site.test/gone", "Gone", "nofollow"),
        ("http://other.test/", "Other", ""),
        ("http://site.test/never-found", "Never", ""),
    )
    make_links(page, ("http://site.test/", "Home", ""), ("http://site.test/slow", "=slow", ""))
    return crawl


SHOP_RULES = [
    {"name": "name", "selector": "h1"},
    {"name": "price", "selector": ".price", "type": "number"},
    {"name": "stock", "selector": ".stock", "type": "integer"},
    {"name": "sold", "selector": ".sold", "type": "boolean"},
    {"name": "since", "selector": "time", "type": "date"},
    {"name": "link", "selector": "a", "attribute": "href", "type": "url"},
    {"name": "sizes", "selector": ".size", "type": "number", "many": True},
    {"name": "days", "selector": ".day", "type": "date", "many": True},
    {"name": "tags", "selector": ".tag", "many": True},
]
SHOP_PAGE = """<h1>Kettle</h1><p class=price>EUR {price}</p><p class=stock>7</p><p class=sold>yes</p>
<time>{since}</time><a href=/more>more</a>
<i class=size>1.5</i><i class=size>2</i><i class=day>2026-03-12</i><b class=tag>new</b><b class=tag>red</b>"""


def a_shop(*pages: str) -> Crawl:
    """A crawl of these pages, of which the fields were read."""
    crawl = make_crawl(options={"fields": SHOP_RULES})
    for number, html in enumerate(pages):
        url = f"http://site.test/{number}"
        found = extract(html.encode(), url, crawl.chosen.fields)
        page = make_page(crawl, url, status=Page.CLOSED, outcome="2xx")
        PageFacts.objects.create(page_id=page.pk, crawl=crawl, fields=found.values, notes=notes_of(found))
    return crawl


def kept_text(crawl: str) -> list[object]:
    """Where the text of a page is kept: `PageFacts.kept["text"]`."""
    shelf = Shelf(crawl, "batch")
    places = shelf.put({"text": objects.packed(b"Hello")})
    return list(named(places, shelf.clear())["text"])
