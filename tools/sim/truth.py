"""Which pages a crawl of the simulated web must find, how each must close, and how often it may be asked for."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

from tools.sim.answers import statuses
from tools.sim.log import Log
from tools.sim.world import Health, Host, Link, Page, Robots, World

Closed = tuple[str, int | None]
"""Outcome and HTTP status, as the page table has them."""

PASSING = frozenset({408, 425, 429, *range(500, 600)})
"""Statuses that may be better another time."""


@dataclass(frozen=True)
class Terms:
    """What the crawl was asked to keep to, and what is known of the crawler."""

    delay: float  # seconds between two requests to one host, at least
    concurrency: int  # connections to one host at a time
    attempts: int = 3  # times a page may be asked for
    patience: float = 10.0  # seconds after which a host that says nothing is given up
    backoff: float = 1.5  # seconds before the second attempt, at least; twice as many before the third, and so on

    def gap(self, host: Host) -> float:
        """Seconds between two requests to this host, at least, for those who have read its robots.txt."""
        return max(self.delay, host.crawl_delay)

    def backoffs(self, times: int) -> float:
        """Seconds that must pass, at least, between so many attempts."""
        return float(sum(self.backoff * 2**number for number in range(times - 1)))


@dataclass(frozen=True)
class Truth:
    pages: Mapping[str, Closed]  # by URL: every page that links, redirects and start URLs lead to
    asked: Mapping[tuple[int, str], int]  # host, path -> requests an undisturbed crawl makes, where that is known


def truth_of(world: World, terms: Terms) -> Truth:
    """Follow every link from the start pages, as far as a polite crawler is told of them."""
    pages: dict[str, Closed] = {}
    asked: dict[tuple[int, str], int] = {}
    waiting: list[Link] = [(number, 0) for number in world.inside()]
    seen = set(waiting)
    while waiting:
        link = waiting.pop()
        host, page = world.hosts[link[0]], world.page(link)
        closed = unasked(host, page, terms)
        if closed is None:
            told = answers(page, terms.attempts)
            closed = f"{told[-1] // 100}xx", told[-1]
            asked[link[0], page.path] = len(told)
            found = {target for target in leads_to(page, told[-1]) if world.hosts[target[0]].inside} - seen
            seen |= found
            waiting += found
        pages[world.url(link)] = closed
    asked |= {(number, "/robots.txt"): 1 for number in world.inside() if _robots_at_once(world.hosts[number])}
    return Truth(pages, asked)


def unasked(host: Host, page: Page, terms: Terms) -> Closed | None:
    """How a page closes whose host does not let it be asked for; None when it does."""
    if host.health is Health.HANGING:
        return "timeout", None
    if host.health is Health.REFUSING:
        return "connect", None
    if page.forbidden or host.robots is Robots.DOWN or (host.robots is Robots.LATE and terms.attempts < 2):
        return "robots", None
    return None


def answers(page: Page, attempts: int) -> list[int]:
    """What a page answers, one time after another, to one who asks again while it may be better later."""
    told = statuses(page)
    said: list[int] = []
    while len(said) < attempts and (not said or said[-1] in PASSING):
        said.append(told[min(len(said), len(told) - 1)])
    return said


def leads_to(page: Page, status: int) -> tuple[Link, ...]:
    """The pages found on it once this is its final status."""
    if status == 200:
        return page.links
    return (page.target,) if status == 301 and page.target is not None else ()


def _robots_at_once(host: Host) -> bool:
    return host.health is Health.WELL and host.robots not in (Robots.LATE, Robots.DOWN)


def differences(truth: Truth, rows: Mapping[str, Closed]) -> list[str]:
    """What is not as it should be in a crawl's page rows, a line each. Rows of links that leave the site, which are
    only recorded, are not to be among them."""
    missing = [f"missing: {url} {truth.pages[url]}" for url in truth.pages.keys() - rows.keys()]
    surplus = [f"surplus: {url} {rows[url]}" for url in rows.keys() - truth.pages.keys()]
    common = truth.pages.keys() & rows.keys()
    other = [
        f"{url} is {rows[url]} and should be {truth.pages[url]}" for url in common if rows[url] != truth.pages[url]
    ]
    return sorted([*missing, *surplus, *other])


def asked_too_often(truth: Truth, log: Log) -> list[str]:
    """What was asked for more often than one undisturbed crawl needs to, a line each."""
    times = Counter((request.host, request.path) for request in log.requests)
    return [
        f"host {host}: {path} was asked for {times[host, path]} times and needed to be {needed} times"
        for (host, path), needed in truth.asked.items()
        if times[host, path] > needed
    ]
