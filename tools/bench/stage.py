"""What `bin/bench load` looks at: people, their running crawls, a large finished one, and queues full of jobs."""

from __future__ import annotations

import threading
import time
from argparse import Namespace
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib import import_module
from typing import Self

from django.conf import settings
from django.contrib.auth import BACKEND_SESSION_KEY, HASH_SESSION_KEY, SESSION_KEY
from django.contrib.auth.models import User
from django.utils import timezone

from crawler.accounts.tokens import make_token
from crawler.core.access.permissions import Scope
from crawler.core.options.catalogue import CrawlOptions
from crawler.core.protocol.completion import State
from crawler.core.protocol.fetch_policy import FetchPolicy
from crawler.core.protocol.messages import Batch, PageTask, Slice
from crawler.crawls.start import start_crawl
from crawler.models import Crawl
from crawler.queueing import queues
from tools.bench.load import Question
from tools.bench.made_up import Site, made_up
from tools.bench.services import LOOPBACK

AT_ONCE = 500  # jobs sent in one step
LINKS = 4  # of each page of the slow site
THINKS = 0.2  # seconds before each answer of the site that is crawled


class Stage:
    """`questions` are one person's way from page to page; `watchers` each look at a crawl of theirs."""

    def __init__(self, chosen: Namespace, site: str) -> None:
        self._chosen = chosen
        self.boss = User.objects.create_superuser("boss", password=None)
        self._people = [User.objects.create_user(f"person{number}") for number in range(min(chosen.watchers, 100))]
        self._finished = Crawl.objects.get(pk=made_up(Site(chosen.pages, 8, 7)))
        options = CrawlOptions(throttle=False)
        self._crawls = [
            start_crawl([f"{site}/{number}/"], options, owner=self._owner(number), allow_private=True)
            for number in range(chosen.crawls)
        ]
        self.keep_full()

    @classmethod
    @contextmanager
    def built(cls, chosen: Namespace) -> Iterator[Self]:
        server = ThreadingHTTPServer((LOOPBACK, 0), _Slow)
        server.daemon_threads = True
        threading.Thread(target=server.serve_forever, daemon=True).start()
        try:
            yield cls(chosen, f"http://{LOOPBACK}:{server.server_address[1]}")
        finally:
            server.shutdown()
            server.server_close()

    def watchers(self) -> list[Question]:
        asked = [self._crawls[number % len(self._crawls)] for number in range(self._chosen.watchers)]
        return [
            Question(
                "status, as an open page asks", "GET", f"/crawls/{crawl.id}/status", _cookie(crawl.owner or self.boss)
            )
            for crawl in asked
        ]

    def listeners(self) -> list[Question]:
        headers = self._token()
        path = f"/api/v1/crawls/{self._crawls[0].id}/events"
        return [Question("first event of a stream", "GET", path, headers)] * self._chosen.streams

    def questions(self) -> list[Question]:
        """Each kind of page, of a crawl that runs and of a large one that is over."""
        running, over, boss, token = self._crawls[-1], self._finished, _cookie(self.boss), self._token()
        pages = {
            "list of crawls and form": "/",
            "page of a crawl": f"/crawls/{running.id}/",
            "page of a large crawl": f"/crawls/{over.id}/",
            "table of pages": f"/crawls/{over.id}/pages/",
            "reports": f"/crawls/{over.id}/reports/",
            "report of broken links": f"/crawls/{over.id}/reports/broken-links/",
            "why": f"/crawls/{running.id}/why",
            "schedules": "/schedules/",
            "RQ in the admin": "/admin/django_rq/dashboard/",
            "metrics": "/metrics",
        }
        programs = {
            "API: list": "/api/v1/crawls",
            "API: crawl": f"/api/v1/crawls/{running.id}",
            "API: pages": f"/api/v1/crawls/{over.id}/pages",
        }
        form = f"csrfmiddlewaretoken={'c' * 32}&start_urls={self._crawls[0].start_urls[0]}&delay=1&allow_private=on"
        headers = boss | {"Content-Type": "application/x-www-form-urlencoded"}
        headers["Cookie"] += f"; csrftoken={'c' * 32}"
        return [
            *(Question(name, "GET", path, boss) for name, path in pages.items()),
            *(Question(name, "GET", path, token) for name, path in programs.items()),
            Question("login", "GET", "/login/", {}),
            Question("start of a crawl", "POST", "/crawls/", headers, form, 302),
        ]

    def kinds(self) -> set[str]:
        """Names of all that is asked."""
        return {one.name for one in (*self.watchers(), *self.listeners(), *self.questions())}

    def running(self) -> int:
        """How many of the crawls still run."""
        return Crawl.objects.filter(pk__in=[crawl.pk for crawl in self._crawls], state=State.RUNNING).count()

    def jobs(self) -> int:
        return sum(queues.waiting_jobs().values())

    def keep_full(self) -> None:
        """As many jobs as were asked for. They are batches that are in other hands by the time they are begun."""
        missing = self._chosen.jobs - self.jobs()
        for _ in range(0, missing, AT_ONCE):
            queues.send_batches([_stale(self._crawls[0]) for _ in range(AT_ONCE)])

    def _owner(self, number: int) -> User:
        return self._people[number % len(self._people)]

    def _token(self) -> dict[str, str]:
        scopes = [Scope.CRAWLS_READ, Scope.CRAWLS_WRITE]
        return {"Authorization": f"Bearer {make_token(self.boss, 'bench', scopes, now=timezone.now())[1]}"}


def _cookie(user: User) -> dict[str, str]:
    store = import_module(settings.SESSION_ENGINE).SessionStore()
    store[SESSION_KEY] = str(user.pk)
    store[BACKEND_SESSION_KEY] = settings.AUTHENTICATION_BACKENDS[0]
    store[HASH_SESSION_KEY] = user.get_session_auth_hash()
    store.save()
    return {"Cookie": f"{settings.SESSION_COOKIE_NAME}={store.session_key}"}


def _stale(crawl: Crawl) -> Batch:
    page = PageTask(1, crawl.start_urls[0], 1, None)
    policy = FetchPolicy(
        user_agent="bench", obey_robots=False, delay=0.0, concurrency=1, private_hosts=(), max_body_bytes=1
    )
    return Batch(
        crawl=str(crawl.id),
        site=crawl.site,
        id=queues.new_id("fetch"),
        token="none",  # noqa: S106 (of no lease)
        policy=policy,
        slices=(Slice("127.0.0.1", (page,)),),
    )


class _Slow(BaseHTTPRequestHandler):
    """A site without end for each crawl."""

    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        if self.path == "/robots.txt":
            return self._say(404, "")
        links: Sequence[str] = [f"<a href='{self.path}{number}/'>{number}</a>" for number in range(LINKS)]
        time.sleep(THINKS)
        return self._say(200, f"<title>{self.path}</title>{''.join(links)}")

    def _say(self, status: int, text: str) -> None:
        body = text.encode()
        self.send_response(status)
        self.send_header("Content-Type", "text/html")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing."""
