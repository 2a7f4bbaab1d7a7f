"""What the pictures show: crawls of every state, a group, tokens, channels and schedules."""

from __future__ import annotations

from datetime import timedelta
from uuid import UUID

from django.contrib.auth.models import Group
from django.utils import timezone

from crawler.accounts.login_links import first_account
from crawler.accounts.tokens import make_token
from crawler.core.extraction.rules import FieldRule
from crawler.core.options.catalogue import CrawlOptions
from crawler.core.options.events import Event
from crawler.core.pages.content_formats import MARKDOWN, SCREENSHOT, TEXT
from crawler.crawls import control
from crawler.crawls.control import share
from crawler.crawls.schedules import add_schedule
from crawler.crawls.start import start_crawl
from crawler.encryption import seal_address
from crawler.models import Channel, Crawl
from tests.browser.conftest import Web
from tests.site import Site
from tools.pictures.shop import later

PATIENCE = 600.0  # seconds for a crawl of the given site
PERSON = {"username": "ada", "first_name": "Ada", "last_name": "Byron", "email": "ada@example.com"}
FIELDS = (FieldRule(name="heading", selector="h1, h2"), FieldRule(name="links", selector="a", many=True))
FAILING = "http://127.0.0.1:8/"  # nobody listens there
LONG = 150.0  # seconds
BROWSER_WORKER = ("rq", "worker", "-w", "crawler.browser.worker.BrowserWorker", "render")
RENDERED = 30  # pages


def arrive(web: Web) -> None:
    """The person who looks, with a group to share with."""

    def made() -> None:
        person = first_account()
        for name, value in PERSON.items():
            setattr(person, name, value)
        person.set_password("a kettle of tea")
        person.save()
        person.groups.add(Group.objects.create(name="Docs team"))

    web.stack.within(made)


def make_crawls(web: Web, site: str, shop: Site) -> dict[str, UUID]:
    """The crawls by name. `running` goes on for a while yet."""
    every = {"near_duplicates": True, "sitemaps": True, "externals": "check", "notify_webhooks": (f"{shop.url}/gone",)}
    whole = _start(web, site, near_duplicates=True, fields=FIELDS, keep=(TEXT, MARKDOWN))
    before = _start(web, shop.url, **every)
    failed = _start(web, FAILING)
    web.stack.spawn(*BROWSER_WORKER)
    rendered = _start(web, shop.url, render="always", keep=(SCREENSHOT,), max_pages=RENDERED)
    for crawl in (whole, before, failed, rendered):
        web.stack.wait_until_finished(crawl, PATIENCE)
    later(shop)
    faulty = _start(web, shop.url, **every)
    web.stack.wait_until_finished(faulty, PATIENCE)
    paused = _start(web, site, delay=0.1)
    web.stack.wait_for(lambda: web.stack.crawl(paused)["discovered"] > 20)
    web.stack.within(lambda: control.pause(paused))
    web.stack.within(lambda: _share(faulty))
    names = {"whole": whole, "before": before, "faulty": faulty, "failed": failed, "paused": paused}
    return names | {"rendered": rendered}


def make_running(web: Web, site: str, pages: int) -> UUID:
    """One that goes on for as long as it is looked at, and has a part of its pages by now."""
    running = _start(web, site, delay=LONG / pages, concurrency=1)
    closed = "SELECT count(*) AS pages FROM crawler_page WHERE crawl_id = ? AND status = 1"
    web.stack.wait_for(lambda: web.stack.rows(closed, running.hex)[0]["pages"] > pages / 5, PATIENCE)
    return running


def make_settings(web: Web, site: str, shop: Site) -> None:
    """Tokens, channels and schedules."""

    def made() -> None:
        person, now = first_account(), timezone.now()
        make_token(person, "nightly build", ["crawls:read", "crawls:write"], now=now)
        make_token(person, "dashboard", ["crawls:read"], now=now, expires_at=now + timedelta(days=90))
        slack = seal_address("https://hooks.slack.com/services/T0/B0/secret")
        told = [Event.FAILED.value]
        Channel.objects.create(owner=person, transport="email", address=PERSON["email"])
        Channel.objects.create(owner=person, transport="slack", address=slack, name="#website", events=told)
        add_schedule([site], CrawlOptions(), "every 6h", owner=person, allow_private=True)
        add_schedule([shop.url], CrawlOptions(), "0 3 * * 1", owner=person, allow_private=True)

    web.stack.within(made)


def _start(web: Web, url: str, **options: object) -> UUID:
    def started() -> UUID:
        told = CrawlOptions(**options)  # type: ignore[arg-type]
        return start_crawl([url], told, owner=first_account(), allow_private=True).id

    return web.stack.within(started)


def _share(crawl: UUID) -> None:
    share(Crawl.objects.get(id=crawl), first_account(), Group.objects.get(), group_controls=True)
