"""The site the machine crawls: two hosts whose pages link to each other, redirect, fail for a while or for good."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from crawler.capabilities.traps.bounds import Bound
from crawler.core.options.events import DEFAULT_EVENTS, Event
from crawler.core.pages.traps import TrapReason
from crawler.core.protocol.retries import TRANSIENT_STATUSES
from tests.manager.machine.door import Door
from tests.site import Reply, Request, Site, page

HOSTS = ("north", "south")
STARTS = ("north/", "south/")
HOOK = "north/hook"  # where notices go
EVENTS = (*DEFAULT_EVENTS, Event.PAGE.value)  # of what they tell
ROBOTS = "User-agent: *\nDisallow: /secret"


@dataclass(frozen=True)
class Planned:
    """One page: what it answers in the end, and what it answers before."""

    links: tuple[str, ...] = ()  # "host/path"
    moved_to: str = ""
    status: int = 200
    trouble: tuple[int, ...] = ()  # answered first, one each time
    headers: Mapping[str, str] = field(default_factory=dict)  # with its trouble


def _leaves(host: str, first: int, last: int) -> dict[str, Planned]:
    return {f"{host}/leaf{number}": Planned() for number in range(first, last + 1)}


def _names(host: str, first: int, last: int) -> tuple[str, ...]:
    return tuple(_leaves(host, first, last))


SHOP = tuple(f"north/shop?a={number}&b=1&c=1" for number in range(4))  # a trap from the third that is found on
BOUNDS = {"north/img/": Bound(TrapReason.LONGER, "img"), "north/shop": Bound(TrapReason.SERIES, "shop", 2)}
"""The beginning of the names of a trap."""


def bound_of(name: str) -> Bound | None:
    return next((bound for begin, bound in BOUNDS.items() if name.startswith(begin)), None)


SHELLS = frozenset({"north/", "north/leaf2", "north/b", "north/busy", "north/new", "south/hub", "south/deep1"})
"""Pages that only a browser can read, in stories of crawls that look for such: their links are in scripts."""

SHELL = '<!doctype html><title>Shop</title><script src="/shop.js"></script><div id="root"></div>'

PLAN: dict[str, Planned] = {
    "north/": Planned(
        links=("north/hub", "north/a", "north/b", "south/", "north/gone", "north/broken", "north/secret")
    ),
    "north/hub": Planned(links=(*_names("north", 1, 6), "north/")),
    **_leaves("north", 1, 6),
    "north/a": Planned(links=("north/c", "north/busy", "north/leaf1")),
    "north/b": Planned(links=("north/old", "north/sick")),
    "north/c": Planned(links=("north/d", "north/round")),
    "north/d": Planned(links=("north/e", "south/deep1")),
    "north/e": Planned(links=("north/a",)),
    "north/busy": Planned(links=("north/late", "south/late"), trouble=(503,)),
    "north/late": Planned(links=("north/later",)),
    "north/later": Planned(),
    "north/sick": Planned(links=("north/healed",), trouble=(500, 503, 500, 502)),  # more often than a page is asked
    "north/healed": Planned(),
    "north/broken": Planned(links=("north/never",), status=500),
    "north/gone": Planned(status=404),
    "north/old": Planned(moved_to="north/new"),
    "north/new": Planned(links=("north/f",)),
    "north/f": Planned(links=("north/img/img/img/", *SHOP[:3])),
    "north/img/img/img/": Planned(links=("north/behind",)),  # a trap: asked for once it is released
    "north/behind": Planned(),
    **{name: Planned() for name in SHOP},
    "north/round": Planned(moved_to="north/about"),
    "north/about": Planned(moved_to="north/round"),
    "north/secret": Planned(links=("north/never",)),  # robots.txt forbids it
    "south/": Planned(links=("south/hub", "south/away", "south/slow", "south/forbidden", "north/")),
    "south/hub": Planned(links=(*_names("south", 1, 5), "north/hub")),
    **_leaves("south", 1, 5),
    "south/away": Planned(moved_to="north/new2"),
    "north/new2": Planned(links=("south/g",)),
    "south/g": Planned(links=SHOP[2:]),
    "south/slow": Planned(links=("south/late",), trouble=(503,), headers={"Retry-After": "90"}),
    "south/late": Planned(trouble=(429,)),
    "south/forbidden": Planned(status=403),
    "south/deep1": Planned(links=("south/deep2",)),
    "south/deep2": Planned(links=("south/deep3", "north/broken")),
    "south/deep3": Planned(),
}


PAGES = tuple(name for name, planned in PLAN.items() if planned.status == 200 and not planned.moved_to)
"""Those that a browser can show."""

ADDABLE = tuple(name for name in PLAN if bound_of(name) is None)
"""The pages that users add: what they add is in no trap."""

CHANGES: Mapping[str, tuple[Any, ...]] = {
    "max_pages": (6, 14, 30, None),
    "exclude": (("/leaf[1-3]$",), ("/(c|hub|away)$",), ()),
    "delay": (1.0, 0.0),
    "deadline": (60.0, 600.0, None),
    "stay_open": (True, False),
}
"""The options that users change, and to what."""


class World:
    """The two hosts. A page is called "host/path" here; its URL depends on the ports of this run."""

    def __init__(self, plan: Mapping[str, Planned]) -> None:
        self.plan = dict(plan)
        self.answered: dict[str, set[int]] = defaultdict(set)  # page -> statuses it has answered with
        self.shells: frozenset[str] = frozenset()
        self.door = Door(self.url)
        sites = sorted(
            (_Host(self) for _ in HOSTS), key=lambda site: site.host
        )  # so that their order is always the same
        self._sites = dict(zip(HOSTS, sites, strict=True))
        for name, planned in plan.items():
            host, path = self._split(name)
            self._sites[host].pages[path] = self._answer(name, planned)
        for site in self._sites.values():
            site.pages["/robots.txt"] = Reply(ROBOTS, headers={"Content-Type": "text/plain"})
        host, path = self._split(HOOK)
        self._sites[host].pages[path] = lambda before: Reply()

    @contextmanager
    def serving(self) -> Iterator[World]:
        north, south = self._sites.values()
        with north.serving(), south.serving():
            yield self

    def begin_anew(self, shells: frozenset[str] = frozenset(), members: frozenset[str] = frozenset()) -> None:
        """As if nobody had ever asked for anything."""
        self.shells = shells
        self.door.begin_anew(members)
        self.answered.clear()
        for site in self._sites.values():
            site.requests.clear()

    def url(self, name: str) -> str:
        host, path = self._split(name)
        return f"{self._sites[host].url}{path}"

    def name(self, url: str) -> str:
        for host, site in self._sites.items():
            if url.startswith(f"{site.url}/"):
                return f"{host}{url.removeprefix(site.url)}"
        return url

    def leads_to(self, name: str, http_status: int | None) -> tuple[str, ...]:
        """The pages that a page leads to when it closes with this status."""
        planned = self.plan[name]
        if http_status == 302:
            return (planned.moved_to,)
        return planned.links if http_status == 200 else ()

    def delivered(self) -> set[str]:
        """Ids of the deliveries that arrived."""
        host, path = self._split(HOOK)
        site = self._sites[host]
        return {request.headers["X-Crawler-Delivery"] for request in list(site.requests) if request.path == path}

    def _answer(self, name: str, planned: Planned) -> Callable[[int], Reply]:
        def answer(before: int) -> Reply:
            reply = self._reply(name, planned, before)
            self.answered[name].add(reply.status)
            return reply

        return answer

    def shown(self, name: str) -> str:
        """The page as a browser shows it."""
        return page(*(self.url(link) for link in self.plan[name].links))

    def _reply(self, name: str, planned: Planned, before: int) -> Reply:
        body = SHELL if name in self.shells else self.shown(name)
        if before < len(planned.trouble):
            return Reply(body, status=planned.trouble[before], headers=planned.headers)
        if planned.moved_to:
            return Reply(status=302, headers={"Location": self.url(planned.moved_to)})
        return Reply(body, status=planned.status)

    @staticmethod
    def _split(name: str) -> tuple[str, str]:
        host, _, path = name.partition("/")
        return host, f"/{path}"


class _Host(Site):
    """One of them; what is said at the door is no request of a page."""

    def __init__(self, world: World) -> None:
        super().__init__({})
        self._world = world

    def answer(self, request: Request) -> Reply:
        said = self._world.door.answer(self._world.name(f"{self.url}{request.path}"), request)
        return super().answer(request) if said is None else said


def final_status(planned: Planned) -> int:
    return 302 if planned.moved_to else planned.status


def is_transient(http_status: int | None) -> bool:
    return http_status in TRANSIENT_STATUSES
