"""What can be seen of many crawls in Redis at once, in one round trip: for monitors."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from redis import Redis

from crawler.frontier import script
from crawler.frontier.keys import CrawlKeys


@dataclass(frozen=True)
class Crowd:
    """Over all crawls that were asked about."""

    reports: int = 0  # left by fetch jobs and not taken in yet
    leases: int = 0  # batches handed out
    overdue_leases: int = 0  # of them, those somebody should look at
    handed_out: int = 0  # pages
    waiting: int = 0  # pages, those that are due included
    past_due: int = 0  # pages whose time has come and that are not handed out
    hosts: int = 0  # with pages that wait
    hosts_held: int = 0  # of them, those that may not be asked yet
    longest_hold: float = 0.0  # seconds until the last of those may be asked


def seen(redis: Redis, crawls: Sequence[str], now: float) -> Crowd:
    """`now` in epoch seconds, by Redis's clock."""
    if not crawls:
        return Crowd()
    with redis.pipeline(transaction=False) as pipe:
        for crawl in crawls:
            keys = CrawlKeys(crawl)
            where = [keys.results, keys.leases, keys.taken, keys.known_hosts, keys.hosts]
            script.run(pipe, "crowd", where, [keys.queue(""), now])
        answers = pipe.execute()
    columns = list(zip(*answers, strict=True))
    numbers: list[int] = [sum(column) for column in columns[:-1]]
    reports, leases, overdue, handed_out, waiting, past_due, hosts, held = numbers
    longest = max(map(float, columns[-1]))
    return Crowd(reports, leases, overdue, handed_out, waiting, past_due, hosts, held, longest)
