"""Random calls by users of all kinds on shared crawls, with the jobs they cause, and what must hold after each.

`Site` is at an address that the installation allows to all users. `Inner` and the canary are at private addresses: only
crawls of superusers name the start pages of `Inner`, and no user with the right ever names the canary. All three are on
loopback. Crawl number 7 requests pages below /c7/, so that each URL and title says whose it is.
"""

import json
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from random import Random
from typing import Any

from django.contrib.auth.models import User
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from rq import Queue
from rq.utils import now as rq_now

from crawler.clock import now
from crawler.core.access.permissions import Scope
from crawler.crawls.reconcile import reconcile
from crawler.crawls.schedules import run_due
from crawler.models import ApiToken, Channel, Crawl, Page, Schedule
from crawler.queueing import queues
from tests.api.calling import Caller, a_token
from tests.bench import Hands
from tests.factories import a_group, a_person
from tests.site import Reply, Request, Server, moved, page

SECRET = "Secret of the canary"
CALLS_BETWEEN_WORK = 3
MAX_JOBS = 40  # that are run at a time; the rest waits for the next time
RULES = [{"name": "heading", "selector": "title"}]

_OF_A_CRAWL = re.compile(r"(?:Title of c|/c)(\d+)[ /]")


class Recording(Server):
    """Remembers its requests."""

    def __init__(self) -> None:
        self.requests: list[Request] = []
        super().__init__()

    def answer(self, request: Request) -> Reply:
        self.requests.append(request)
        return self.respond(request.path)

    def respond(self, path: str) -> Reply:
        return Reply(page("/further", title=SECRET))

    def numbers(self) -> list[int]:
        """The crawls whose pages were requested."""
        return [int(match[1]) for request in self.requests if (match := re.match(r"/c(\d+)/", request.path))]


class Site(Recording):
    """Its pages lead to the canary by links, redirects and the sitemap of robots.txt. Two that no page links to, `door`
    and `way`, lead to `Inner`."""

    def __init__(self, canary: str, inner: str) -> None:
        self.canary, self.inner = canary, inner
        super().__init__()

    def respond(self, path: str) -> Reply:
        if path == "/robots.txt":
            return Reply(f"Sitemap: {self.canary}/sitemap.xml", headers={"Content-Type": "text/plain"})
        match path.split("/"):
            case ["", number, ""]:
                below = (f"/{number}/{name}" for name in ("a", "moved", "away", "broken"))
                return Reply(page(*below, f"{self.canary}/linked", title=f"Title of {number} "))
            case ["", _, "moved"]:
                return moved(f"{self.canary}/moved")
            case ["", number, "door"]:
                return Reply(page(f"{self.inner}/{number}/added/linked", title=f"Title of {number} "))
            case ["", number, "way"]:
                return moved(f"{self.inner}/{number}/added/moved")
            case ["", number, "broken"]:
                return Reply(page(title=f"Title of {number} "), status=500)
            case ["", number, "away"]:
                return Reply(page(f"{self.canary}/away", title=f"Title of {number} "))
            case ["", number, *_]:
                return Reply(page(title=f"Title of {number} "))
        return Reply("", status=404)


class Inner(Recording):
    """Private pages. Those below /cN/added/ are only ever named by users who may not allow private addresses."""

    def respond(self, path: str) -> Reply:
        number = path.split("/")[1]
        return Reply(page(f"/{number}/linked", title=f"Title of {number} "))


class World:
    """Users, groups, tokens, crawls, lists, schedules and shares, and the calls on them."""

    def __init__(self, seed: int, site: Site, inner: Inner, canary: Recording) -> None:
        self.chance, self.site, self.inner, self.canary = Random(seed), site, inner, canary
        self.told = [f"seed {seed}"]
        self.count = 0  # crawls that were asked for
        self.owners: dict[int, str] = {}  # number of a crawl -> who asked for it
        self.before_demotion: list[int] | None = None  # requests to private pages until rex lost the right
        names = ("root", "rex", "ann", "bob", "eve", "stan")
        self.users = {name: a_person(name, superuser=name in ("root", "rex")) for name in names}
        User.objects.filter(username="stan").update(is_staff=True)
        self.groups = {
            "editors": a_group("editors", *(self.users[name] for name in ("root", "rex", "ann", "bob"))),
            "readers": a_group("readers", *(self.users[name] for name in ("root", "ann", "eve"))),
        }
        self.tokens = {name: a_token(user, *Scope) for name, user in self.users.items()}
        self.api = {name: Caller(token) for name, token in self.tokens.items()}
        self.web = {name: Client() for name in names}
        for name, client in self.web.items():
            client.force_login(self.users[name])

    def run(self, calls: int) -> None:
        """Make random calls, with work between them; AssertionError with the story if something does not hold."""
        try:
            for name in ("root", "rex", "root", "ann"):
                self.start(name)
            for number in range(calls):
                name = self.chance.choice(list(self.users))
                call = self.chance.choice(CALLS)
                self.told.append(f"{name}: {call.__name__}")
                call(self, name)
                if number % CALLS_BETWEEN_WORK == 0:
                    self.work()
                    self.look(self.chance.choice(list(self.users)))
            self.work()
            for name in self.users:
                self.look(name)
        except AssertionError as error:
            raise AssertionError("\n".join([*self.told, str(error)])) from error

    # What holds.

    def work(self) -> None:
        """Run the jobs that wait, without the idle poller, which waits for times that are later."""
        reconcile(at_once=True)
        for _ in range(MAX_JOBS):
            waiting = [Queue(name, connection=queues.connection()) for name in ("crawl", "fetch")]
            if not any("watch" not in str(job.description) for queue in waiting for job in queue.jobs):
                break
            worker = Hands(waiting, connection=queues.connection())
            worker.last_cleaned_at = rq_now()  # as in `tests.bench`
            worker.work(burst=True, max_jobs=1, logging_level="ERROR")
        self.check_requests()

    def check_requests(self) -> None:
        assert [request.path for request in self.canary.requests] == [], "the canary was requested"
        added = [request.path for request in self.inner.requests if "/added/" in request.path]
        assert added == [], "a private page was requested that no superuser named"
        assert {self.owners[number] for number in self.inner.numbers()} <= {"root", "rex"}
        if self.before_demotion is not None:
            since = self.inner.numbers()[len(self.before_demotion) :]
            assert "rex" not in {self.owners[number] for number in since}, "rex is no superuser any more"
        for request in self.site.requests:
            number, key = re.match(r"/c(\d+)/", request.path), request.headers.get("X-Key", "")
            if number and key:
                assert key == f"key-of-{self.owners[int(number[1])]}", f"{key} was sent for {request.path}"

    def seen_by(self, name: str) -> Callable[[Crawl | Schedule], bool]:
        """Whether this user sees it, as things are now."""
        user = User.objects.get(username=name)
        groups, sees_all = {*user.groups.values_list("pk", flat=True)}, user.is_superuser or user.is_staff
        return lambda crawl: sees_all or crawl.owner_id == user.pk or crawl.group_id in groups

    def controls(self, name: str, crawl: Crawl | Schedule) -> bool:
        user = User.objects.get(username=name)
        is_member = crawl.group_id is not None and user.groups.filter(pk=crawl.group_id).exists()
        return user.is_superuser or crawl.owner_id == user.pk or (is_member and crawl.group_controls)

    def look(self, name: str) -> None:
        """The user reads some crawl in some way, and the lists."""
        for path in ("/crawls", "/schedules", "/dead-letters"):
            self.said(name, self.api[name].get(path))
        for crawl in self.chance.sample(list(Crawl.objects.order_by("created_at")), min(3, Crawl.objects.count())):
            way = self.chance.choice(WAYS)
            client = self.web[name] if way.startswith("/crawls/{}/") and way.endswith("/") else self.api[name]
            response = self.said(name, client.get(way.format(crawl.id)))
            assert (response.status_code != 404) == self.seen_by(name)(crawl), f"{name} {way} {response.status_code}"

    def said(self, name: str, response: Any, typed: Sequence[int] = ()) -> Any:
        """The response, which holds nothing of crawls that this user does not see."""
        streamed = getattr(response, "streaming_content", None)
        content = b"".join(streamed) if streamed is not None else response.content
        text = content.decode(errors="replace").replace("\\/", "/").replace("%2F", "/")
        assert response.status_code < 500, text[:500]
        assert SECRET not in text, "a user reads what the canary sent"
        assert "key-of-" not in text
        found = {int(match[1]) for match in _OF_A_CRAWL.finditer(text)} - set(typed)
        sees, items = self.seen_by(name), [*Crawl.objects.all(), *Schedule.objects.all()] if found else []
        seen = {number for item in items if sees(item) for number in numbers_of(item)}
        assert found <= seen, f"{name} reads of crawls {found - seen}: {text[:500]}"
        return response

    def a_crawl(self, name: str) -> Crawl:
        """Rather one that this user controls, and a shared one."""
        found = list(Crawl.objects.order_by("created_at"))
        controlled = [crawl for crawl in found if self.controls(name, crawl)]
        shared = [crawl for crawl in controlled if crawl.owner_id != self.users[name].pk]
        for some, chance in ((shared, 0.6), (controlled, 0.5)):
            if some and self.chance.random() < chance:
                return self.chance.choice(some)
        return self.chance.choice(found)

    def a_url(self, name: str, number: int) -> str:
        """Something to name for crawl `number`."""
        here = f"c{number}"
        own = [f"{self.site.url}/{here}/{leaf}" for leaf in ("x", "moved", "away", "y")]
        doors = [f"{self.site.url}/{here}/{leaf}" for leaf in ("door", "way")]
        if self.users[name].is_superuser:
            return self.chance.choice([*own, f"{self.inner.url}/{here}/linked"])
        port = self.canary.host.rpartition(":")[2]
        private = [
            f"{self.canary.url}/{here}/x",
            f"http://localhost:{port}/{here}/x",
            f"http://[::ffff:7f00:1]:{port}/",
        ]
        return self.chance.choice([*own, *doors, *private, f"{self.inner.url}/{here}/added/x"])

    # Calls.

    def start(self, name: str) -> None:
        number = self.count = self.count + 1
        self.owners[number] = name
        is_private = self.users[name].is_superuser and self.chance.random() < 0.8
        start = self.inner.url if is_private and self.chance.random() < 0.5 else self.site.url
        url = f"{start}/c{number}/"
        body: dict[str, Any] = {"allow_private": is_private or self.chance.random() < 0.1, "stay_open": self.flip()}
        if self.chance.random() < 0.7:
            body |= {"group": self.chance.choice(list(self.groups)), "group_controls": self.chance.random() < 0.8}
        if self.flip():
            body["headers"] = [f"X-Key: key-of-{name}"]
        if self.flip():
            body |= {"start_urls": [url], "hosts": [self.site.host, self.inner.host]}
            self.said(name, self.api[name].post("/crawls", body))
        else:
            lines = f"{url}\n{self.inner.url if is_private else self.site.url}/c{number}/more\n".encode()
            if "headers" in body:
                body["hosts"] = [self.site.host]
            upload = SimpleUploadedFile("urls.txt", lines)
            self.said(name, self.api[name].send("/crawls/list", {"list": upload, "options": json.dumps(body)}))

    def start_with_credentials_of_another(self, name: str) -> None:
        crawl = self.a_crawl(name)
        number = self.count = self.count + 1
        self.owners[number] = name
        body = {"start_urls": [f"{self.site.url}/c{number}/"], "same_credentials": str(crawl.id)}
        self.said(name, self.api[name].post("/crawls", body))

    def add(self, name: str) -> None:
        crawl = self.a_crawl(name)
        number = min(numbers_of(crawl))
        urls = [self.a_url(name, number) for _ in range(3)]
        self.told.append(f"    to {crawl} of {crawl.owner}: {urls}")
        again = self.flip()
        if self.flip():
            response = self.api[name].post(f"/crawls/{crawl.id}/urls", {"urls": urls, "again": again})
        else:
            sent = {"urls": "\n".join(urls), **({"again": "on"} if again else {})}
            response = self.web[name].post(f"/crawls/{crawl.id}/add/", sent)
        self.said(name, response, typed=[number])
        self.refused_unless(self.controls(name, crawl), response)

    def again(self, name: str) -> None:
        crawl = self.a_crawl(name)
        path, body = self.chance.choice([("again", {"all": True}), ("retry-failed", None), ("traps/release", None)])
        response = self.said(name, self.api[name].post(f"/crawls/{crawl.id}/{path}", body))
        self.refused_unless(self.controls(name, crawl), response)

    def change(self, name: str) -> None:
        crawl = self.a_crawl(name)
        hook = f"{self.site.url if self.users[name].is_superuser else self.canary.url}/hook"
        body = self.chance.choice(
            [
                {"notify_webhooks": [hook], "notify_events": ["crawl.finished", "crawl.page"]},
                {"include": ["/added/", "/c"]},
                {"max_pages": 30},
                {"login_fields": ["user=me"], "login_check": "a.me"},
            ]
        )
        response = self.said(name, self.api[name].patch(f"/crawls/{crawl.id}", body))
        self.refused_unless(self.controls(name, crawl), response)

    def move(self, name: str) -> None:
        crawl = self.a_crawl(name)
        verb = self.chance.choice(["pause", "resume", "resume", "finish", "cancel"])
        response = self.said(name, self.api[name].post(f"/crawls/{crawl.id}/{verb}"))
        self.refused_unless(self.controls(name, crawl), response)

    def share(self, name: str) -> None:
        crawl = self.a_crawl(name)
        user = User.objects.get(username=name)
        body = {"group": self.chance.choice([None, *self.groups]), "group_controls": True}
        response = self.said(name, self.api[name].post(f"/crawls/{crawl.id}/share", body))
        self.refused_unless(user.is_superuser or crawl.owner_id == user.pk, response)

    def schedule(self, name: str) -> None:
        number = self.count = self.count + 1
        self.owners[number] = name
        is_private = self.users[name].is_superuser
        start = self.inner.url if is_private else self.chance.choice([self.site.url, self.canary.url])
        body = {"start_urls": [f"{start}/c{number}/"], "rule": "every 1h", "allow_private": is_private}
        self.said(name, self.api[name].post("/schedules", body), typed=[number])
        for item in Schedule.objects.filter(group=None):
            Schedule.objects.filter(pk=item.pk).update(group=self.groups["editors"], group_controls=True)

    def run_schedules(self, name: str) -> None:
        """Of some user; then all that are due begin."""
        schedules = list(Schedule.objects.order_by("created_at"))
        if schedules:
            item = self.chance.choice(schedules)
            verb = self.chance.choice(["pause", "resume"])
            response = self.said(name, self.api[name].post(f"/schedules/{item.id}/{verb}"))
            self.refused_unless(self.controls(name, item), response)
            Schedule.objects.update(next_at=now())
            run_due(now())

    def preview(self, name: str) -> None:
        if self.users[name].is_superuser:
            return
        url = self.chance.choice([f"{self.canary.url}/x", f"{self.site.url}/c0/moved"])
        self.said(name, self.api[name].post("/extraction/preview", {"try_url": url, "fields": RULES}), typed=[0])

    def channel(self, name: str) -> None:
        if self.users[name].is_superuser:
            return
        sent = {"transport": "webhook", "address": f"{self.canary.url}/channel"}
        self.said(name, self.api[name].post("/channels", sent))
        for channel in Channel.objects.all():
            self.said(name, self.api[name].post(f"/channels/{channel.id}/test"))

    def revoke(self, name: str) -> None:
        """The user revokes some token, perhaps one of another; then gets a new one."""
        token = self.chance.choice(list(ApiToken.objects.filter(revoked_at=None).order_by("pk")))
        response = self.said(name, self.api[name].delete(f"/tokens/{token.pk}"))
        is_own = token.user.username == name
        assert is_own == (ApiToken.objects.get(pk=token.pk).revoked_at is not None), response.status_code
        if is_own:
            assert self.api[name].get("/me").status_code == 401
            self.api[name] = Caller(a_token(self.users[name], *Scope))

    def join(self, _: str) -> None:
        """A member leaves a group, or a user joins it."""
        user = self.users[self.chance.choice(["ann", "bob", "eve"])]
        group = self.groups[self.chance.choice(list(self.groups))]
        change = user.groups.remove if user.groups.filter(pk=group.pk).exists() else user.groups.add
        change(group)

    def demote(self, _: str) -> None:
        """Now and then: rex is no superuser any more."""
        if self.before_demotion is None and self.chance.random() < 0.3:
            User.objects.filter(username="rex").update(is_superuser=False)
            self.users["rex"].refresh_from_db()
            self.before_demotion = self.inner.numbers()

    def flip(self) -> bool:
        return self.chance.random() < 0.5

    def refused_unless(self, may: bool, response: Any) -> None:
        if not may:
            assert response.status_code in (403, 404), f"it was answered {response.status_code}"


CALLS: list[Callable[[World, str], None]] = [
    *[World.start] * 3,
    *[World.add] * 6,
    *[World.again] * 2,
    *[World.change] * 3,
    *[World.move] * 2,
    *(World.start_with_credentials_of_another, World.share, World.schedule, World.run_schedules, World.preview),
    *(World.channel, World.revoke, World.join, World.demote),
]

WAYS = [
    *("/crawls/{}", "/crawls/{}/pages", "/crawls/{}/receipt", "/crawls/{}/why", "/crawls/{}/notices"),
    *("/crawls/{}/exports/jsonl", "/crawls/{}/dead-letters", "/crawls/{}/reports/statuses", "/crawls/{}/graph"),
    *("/crawls/{}/", "/crawls/{}/pages/", "/crawls/{}/why/", "/crawls/{}/notices/"),
]
"""Ways to read a crawl: of the API, and those with a slash at the end of the web."""


def numbers_of(item: Crawl | Schedule) -> set[int]:
    """The numbers of the pages that belong to it."""
    urls = list(item.start_urls)
    if isinstance(item, Crawl):
        urls += Page.objects.filter(crawl=item).values_list("url", flat=True)
    return {int(match[1]) for url in urls if (match := re.search(r"/c(\d+)/", url))} or {0}


@contextmanager
def a_world(seed: int, settings: Any) -> Iterator[World]:
    canary, inner = Recording(), Inner()
    site = Site(canary.url, inner.url)
    settings.CRAWLER_PRIVATE_HOSTS = [site.host]
    with ExitStack() as stack:
        for server in (canary, inner, site):
            stack.enter_context(server.serving())
        yield World(seed, site, inner, canary)
