"""What the simulated web consists of: hosts, their pages, and what is wrong with them. The same for the same seed."""

from __future__ import annotations

from collections.abc import Iterator
from enum import StrEnum
from random import Random

import msgspec

Link = tuple[int, int]
"""A page: the number of its host in the world, and its own number in the host."""

PAGES_A_PARENT = 6  # pages that are found first on the same page
EARLY_PAGES = 5  # behind the start page; what takes a crawler long is among them, so that it is not what it ends with
SMALL = 8  # pages of a host that has us wait for all of them, at most
LATENCIES = (0.005, 0.12)  # seconds
CRAWL_DELAYS = (0.3, 0.5)  # seconds
MODEST = 20  # pages of a host where one stays broken through all attempts, at most


class Answer(StrEnum):
    """What a page does when it is asked for."""

    PAGE = "page"  # 200
    MISSING = "missing"  # 404
    BROKEN = "broken"  # 500, always
    FLAKY = "flaky"  # 500 once, then 200
    BUSY = "busy"  # 503 with Retry-After once, then 200
    LIMITED = "limited"  # 429 with Retry-After once, then 200
    MOVED = "moved"  # 301 to another page


class Robots(StrEnum):
    """What a host has for a robots.txt."""

    MISSING = "missing"  # 404: everything is allowed
    OPEN = "open"  # rules that allow everything
    RULES = "rules"  # rules for everybody
    NAMED = "named"  # nobody may, but we may, with the same rules
    LATE = "late"  # 503 once, then as RULES
    DOWN = "down"  # 503 always: nothing is allowed


class Health(StrEnum):
    """Whether a host answers at all."""

    WELL = "well"
    HANGING = "hanging"  # takes connections and requests, and never says anything
    REFUSING = "refusing"  # takes no connection


class Page(msgspec.Struct, frozen=True, array_like=True):
    path: str
    answer: Answer = Answer.PAGE
    links: tuple[Link, ...] = ()
    target: Link | None = None  # of a page that has moved
    retry_after: int = 0  # seconds, of one that is busy or limited
    forbidden: bool = False  # by its host's robots.txt


class Host(msgspec.Struct, frozen=True, array_like=True):
    address: str
    pages: tuple[Page, ...]  # the first is the start page
    latency: float = 0.02  # seconds it thinks before an answer; one that tells us to go away comes at once
    health: Health = Health.WELL
    robots: Robots = Robots.MISSING
    crawl_delay: float = 0.0  # seconds its rules ask for; 0 = they do not
    closed_to: str = ""  # what its rules forbid: paths below this
    inside: bool = True  # belongs to the crawl; nobody may ask the others for anything


class World(msgspec.Struct, frozen=True):
    hosts: tuple[Host, ...]
    port: int = 80  # the same for all of them

    @classmethod
    def from_seed(
        cls,
        seed: int,
        *,
        hosts: int,
        port: int,
        pages: int = 10,
        largest: int = 100,
        hanging: int = 0,
        refusing: int = 0,
        outside: int = 1,
    ) -> World:
        """So many hosts, with `pages` pages each on average, of which one has `largest` and no other more.

        `hanging` and `refusing` of them are dead; `outside` more are linked to and do not belong. The size of the
        largest hosts decides how long a crawl takes: where a crawler must wait longer than for the delay, pages are
        few, or the trouble comes early.
        """
        dice = Random(seed)
        sizes = _sizes(dice, hosts, pages, largest)
        dead = [Health.HANGING] * hanging + [Health.REFUSING] * refusing
        drafts = [
            _sketched(dice, number, size, dead[number - 1] if 0 < number <= len(dead) else None)
            for number, size in enumerate(sizes)
        ]
        drafts += [Host(_address(hosts + number), (Page(_path(dice)),), inside=False) for number in range(outside)]
        return cls(tuple(_linked(dice, number, drafts) for number in range(len(drafts))), port)

    def origin(self, host: int) -> str:
        return f"http://{self.hosts[host].address}:{self.port}"

    def page(self, link: Link) -> Page:
        return self.hosts[link[0]].pages[link[1]]

    def url(self, link: Link) -> str:
        return f"{self.origin(link[0])}{self.page(link).path}"

    def inside(self) -> Iterator[int]:
        """The hosts that belong to the crawl."""
        return (number for number, host in enumerate(self.hosts) if host.inside)

    def start_urls(self) -> list[str]:
        return [self.url((number, 0)) for number in self.inside()]


def _address(number: int) -> str:
    return f"127.{10 + number // 62_500}.{number // 250 % 250 + 1}.{number % 250 + 1}"


def _path(dice: Random) -> str:
    return f"/{dice.getrandbits(48):012x}"


def _sizes(dice: Random, hosts: int, pages: int, largest: int) -> list[int]:
    """Many small hosts and few large ones, the first the largest; so many pages in all, a few more or less."""
    wishes = [dice.paretovariate(1.2) for _ in range(hosts - 1)]
    left = hosts * pages - largest
    scale = left / sum(wishes) if wishes else 0
    return [largest, *(max(1, min(largest - 1, round(wish * scale))) for wish in wishes)]


def _sketched(dice: Random, number: int, size: int, health: Health | None) -> Host:
    """A host with its pages, which do not lead anywhere yet. The largest (number 0) has nothing that slows it down."""
    robots = Robots.RULES if number == 0 else _robots(dice)
    has_rules = robots in (Robots.RULES, Robots.NAMED, Robots.LATE)
    asks_for_delay = has_rules and number > 0 and dice.random() < 0.2
    closed_to = _path(dice) + "/" if has_rules else ""
    size = min(size, SMALL) if asks_for_delay or robots is Robots.LATE else size
    return Host(
        address=_address(number),
        pages=_pages(dice, size, closed_to, may_stop=number > 0),
        latency=round(dice.uniform(*LATENCIES), 4),
        health=health or Health.WELL,
        robots=robots,
        crawl_delay=dice.choice(CRAWL_DELAYS) if asks_for_delay else 0.0,
        closed_to=closed_to,
    )


def _robots(dice: Random) -> Robots:
    kinds = [Robots.RULES, Robots.MISSING, Robots.OPEN, Robots.NAMED, Robots.LATE, Robots.DOWN]
    return dice.choices(kinds, weights=[45, 25, 10, 12, 5, 3])[0]


def _pages(dice: Random, size: int, closed_to: str, *, may_stop: bool) -> tuple[Page, ...]:
    stops_at = dice.randint(1, EARLY_PAGES) if may_stop and dice.random() < 0.25 else None
    pages = [Page(_path(dice))]
    for number in range(1, size):
        if number == stops_at:
            stop = dice.choice([Answer.BUSY, Answer.LIMITED])
            pages.append(Page(_path(dice), stop, retry_after=dice.randint(1, 2)))
        elif closed_to and dice.random() < 0.06:
            pages.append(Page(closed_to.rstrip("/") + _path(dice), forbidden=True))
        else:
            pages.append(Page(_path(dice), _answer(dice, number, size)))
    return tuple(pages)


def _answer(dice: Random, number: int, size: int) -> Answer:
    """Of page `number` of a host with `size` pages."""
    weights = {
        Answer.PAGE: 86,
        Answer.MISSING: 5,
        Answer.MOVED: 5,
        Answer.FLAKY: 5 if _is_early(number, size) else 0,
        Answer.BROKEN: 5 if number <= EARLY_PAGES and size <= MODEST else 0,
    }
    return dice.choices(list(weights), weights=list(weights.values()))[0]


def _linked(dice: Random, number: int, hosts: list[Host]) -> Host:
    """The host with links: every page is found on an earlier one of its host, and some on others of this web; those
    that have moved lead to another page of the host, or of any host."""
    host = hosts[number]
    found_on: dict[int, list[Link]] = {place: [] for place in range(len(host.pages))}
    parents = [place for place, page in enumerate(host.pages) if page.answer is Answer.PAGE and not page.forbidden]
    for place in range(1, len(host.pages)):
        earlier = [parent for parent in parents[: place // PAGES_A_PARENT + 1] if parent < place]
        found_on[earlier[-1]].append((number, place))
    for place in parents:
        found_on[place] += [(number, dice.randrange(len(host.pages))) for _ in range(dice.randrange(3))]
        if _is_early(place, len(host.pages)) and dice.random() < 0.6:
            found_on[place].append(_anywhere(dice, hosts))
    pages = [
        msgspec.structs.replace(page, links=tuple(found_on[place]), target=_target(dice, (number, place), page, hosts))
        for place, page in enumerate(host.pages)
    ]
    return msgspec.structs.replace(host, pages=tuple(pages))


def _target(dice: Random, link: Link, page: Page, hosts: list[Host]) -> Link | None:
    if page.answer is not Answer.MOVED:
        return None
    host, place = link
    size = len(hosts[host].pages)
    return _anywhere(dice, hosts) if _is_early(place, size) and dice.random() < 0.3 else (host, dice.randrange(size))


def _is_early(place: int, size: int) -> bool:
    """Whether what a page leads to has time: a page of a dead host, found last, would be what a crawl ends with."""
    return place <= max(size // 3, EARLY_PAGES)


def _anywhere(dice: Random, hosts: list[Host]) -> Link:
    host = dice.randrange(len(hosts))
    return host, dice.randrange(len(hosts[host].pages))
