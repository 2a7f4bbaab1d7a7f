"""A crawl of the simulated web by real workers, and what came of it."""

import time
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

from tests.stack import Stack
from tools.sim.bound import bound_of, live_hosts
from tools.sim.log import Log
from tools.sim.manners import Violation, violations
from tools.sim.serving import Serving
from tools.sim.truth import Closed, Terms, asked_too_often, differences, truth_of

WORKER = ("rq", "worker", "-w", "crawler.worker.Worker", "crawl", "fetch")


def start_workers(stack: Stack, number: int) -> None:
    """Start so many of the project's own workers, and wait until they are ready to work."""
    for _ in range(number):
        stack.spawn(*WORKER)
    stack.wait_for(lambda: stack.redis.scard("rq:workers") >= number)


def start_crawl(stack: Stack, urls: Sequence[str], terms: Terms, **options: Any) -> UUID:
    """In these terms."""
    return stack.start(*urls, delay=terms.delay, concurrency=terms.concurrency, **options)


def rows_of(stack: Stack, crawl: UUID) -> dict[str, Closed]:
    """The crawl's pages; links that leave the site are no pages of it."""
    query = "SELECT url, outcome, http_status FROM crawler_page WHERE crawl_id = ? AND outcome <> 'external'"
    return {row["url"]: (row["outcome"], row["http_status"]) for row in stack.rows(query, crawl.hex)}


def began_at(stack: Stack, crawl: UUID) -> float:
    """When the crawl was started, in monotonic seconds."""
    created = datetime.fromisoformat(stack.crawl(crawl)["created_at"]).replace(tzinfo=UTC)
    return time.monotonic() - (time.time() - created.timestamp())


def seconds_until_fetched(log: Log, hosts: set[int], began: float) -> float:
    """From the start of a crawl to the last answer of these hosts."""
    return max(request.until for request in log.answered(hosts)) - began


@dataclass(frozen=True)
class Finding:
    """What came of one whole crawl of a world."""

    pages: int
    requests: int  # as the server saw them
    told_requests: int  # as the receipt says
    differences: Sequence[str]  # of the page rows from the truth
    too_often: Sequence[str]
    violations: Sequence[Violation]
    makespan: float  # seconds from the crawl's start row to "finished" committed
    bound: float  # seconds below which no polite schedule can stay
    live_makespan: float  # seconds until all was fetched from hosts that can be crawled
    live_bound: float

    @property
    def ratio(self) -> float:
        return self.makespan / self.bound

    @property
    def live_ratio(self) -> float:
        return self.live_makespan / self.live_bound


def finding(stack: Stack, served: Serving, crawl: UUID, terms: Terms) -> Finding:
    """Hold a finished crawl over all start URLs of the world against the truth."""
    world, log = served.world, served.log()
    receipt, rows, truth = stack.receipt(crawl), rows_of(stack, crawl), truth_of(world, terms)
    bound, live, began = bound_of(world, terms), live_hosts(world), began_at(stack, crawl)
    return Finding(
        pages=len(rows),
        requests=len(log.requests),
        told_requests=receipt["requests"],
        differences=differences(truth, rows),
        too_often=asked_too_often(truth, log),
        violations=violations(log, world, terms),
        makespan=receipt["seconds"],
        bound=bound.seconds,
        live_makespan=seconds_until_fetched(log, live, began),
        live_bound=bound.of(live),
    )


def crawled(stack: Stack, served: Serving, terms: Terms, patience: float, **options: Any) -> Finding:
    """Crawl the whole world, with workers that have been started."""
    crawl = start_crawl(stack, served.world.start_urls(), terms, **options)
    stack.wait_until_finished(crawl, patience)
    return finding(stack, served, crawl, terms)


def summary(found: Finding) -> str:
    """For people: a line each, and the first few of everything that is wrong."""
    lines = [
        f"pages        {found.pages}",
        f"requests     {found.requests}, the receipt says {found.told_requests}",
        f"truth        {_counted(found.differences) or 'equal'}",
        f"too often    {_counted(found.too_often) or 'none'}",
        f"violations   {_counted(found.violations) or 'none'}{_kinds(found)}",
        f"makespan     {found.makespan:.2f} s, at best {found.bound:.2f} s: {found.ratio:.2f}",
        f"live hosts   {found.live_makespan:.2f} s, at best {found.live_bound:.2f} s: {found.live_ratio:.2f}",
        f"requests/s   {found.requests / found.makespan:.0f}",
    ]
    wrong = [*found.differences[:10], *found.too_often[:10], *map(str, found.violations[:10])]
    return "\n".join([*lines, *(["wrong"] if wrong else []), *(f"  {line}" for line in wrong)])


def _counted(wrong: Sequence[object]) -> str:
    return str(len(wrong)) if wrong else ""


def _kinds(found: Finding) -> str:
    kinds = sorted({violation.wrong for violation in found.violations})
    told = [f"{sum(violation.wrong is kind for violation in found.violations)} {kind}" for kind in kinds]
    return f" ({', '.join(told)})" if told else ""
