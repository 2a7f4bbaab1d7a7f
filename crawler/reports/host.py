"""The state of one host in all crawls: whether it may be requested now, and whose pages wait for it."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime

from redis import Redis

from crawler import clock
from crawler.core.politeness.throttle import START
from crawler.core.protocol.completion import State
from crawler.core.urls.normalise import origins_of
from crawler.frontier.inspect import HostSnapshot, host_snapshots, pages_of
from crawler.frontier.robots import RobotsCache
from crawler.models import Crawl
from crawler.queueing import queues
from crawler.reports import text as words
from crawler.reports.cause_text import stop_of
from crawler.reports.diagnosis import Plain, moment, rounded
from crawler.reports.diagnosis_facts import robots_cache_of
from crawler.reports.slowdown_text import load_text


def crawls_of(redis: Redis, host: str) -> list[tuple[Crawl, int]]:
    """Running and paused crawls with pages of this host, and how many pages wait."""
    crawls = {str(crawl.id): crawl for crawl in Crawl.objects.filter(state__in=(State.RUNNING, State.PAUSED))}
    return [(crawls[crawl], waiting) for crawl, waiting in pages_of(redis, host, list(crawls)).items()]


def known_of(host: str) -> Plain | None:
    """The state as JSON values; None for an unknown host.

    `stop`        a Retry-After: until when, with which status, how often in a row
    `probe_in`    seconds to wait for the response of the one page that is requested after it
    `delay`       seconds between two requests by the automatic throttle, after `troubles` failures in a row
    `throttle`    the same in words
    `limit`       connections that the throttle allows over all crawls; None = it is not known
    `failed`      the share of the last hundred requests or so without a response, or with 429 or 503; the last `status`
    `crawl_delay` seconds, from its robots.txt
    `seconds`     the recent response time
    `asked_at`    the time of the last request
    `connections` in use: in all, and by each crawl
    `robots`      the cached robots.txt files, or that one is being fetched
    `crawls`      running and paused crawls with its pages
    """
    redis = queues.connection()
    now = clock.epoch_seconds()
    seen, crawls = host_snapshots(redis, [host], now)[host], crawls_of(redis, host)
    if not (seen.is_known or crawls):
        return None
    known = seen.state
    sites = {str(crawl.id): crawl.site for crawl in Crawl.objects.filter(pk__in=[each for each in seen.slots if each])}
    return {
        "host": host,
        "at": moment(now),
        "stop": _stop(seen, now),
        "probe_in": rounded(known.probe_until - now) if known.probe_until > now else None,
        "delay": rounded(known.throttle.delay),
        "troubles": known.throttle.failures,
        "throttle": load_text(known.throttle, max(START, known.throttle.connections)) if known.throttle.news_at else "",
        "limit": known.throttle.connections if known.throttle.news_at else None,
        "failed": round(known.throttle.failed_share, 3),
        "status": known.throttle.status,
        "crawl_delay": known.crawl_delay,
        "seconds": rounded(known.response_s),
        "asked_at": moment(seen.asked_at),
        "connections": [
            {"crawl": crawl or None, "site": sites.get(crawl, ""), "connections": number}
            for crawl, number in seen.slots.items()
        ],
        "robots": _robots(redis, host, [crawl for crawl, _ in crawls]),
        "crawls": [
            {"id": str(crawl.id), "site": crawl.site, "state": str(crawl.state), "waiting": waiting}
            for crawl, waiting in crawls
        ],
    }


def _stop(seen: HostSnapshot, now: float) -> Plain | None:
    stop = seen.state.stop
    if stop.until <= now:
        return None
    return {"until": moment(stop.until), "in": rounded(stop.until - now), "status": stop.status, "stops": stop.stops}


def _robots(redis: Redis, host: str, crawls: list[Crawl]) -> list[Plain]:
    """Each origin once, because crawls share the cache."""
    memories = {
        memory.partition: memory for memory in (RobotsCache(redis), *(robots_cache_of(redis, each) for each in crawls))
    }
    known = []
    for origin in origins_of(host):
        for memory in memories.values():
            memo, asked = memory.get(origin), memory.is_being_fetched([origin])
            if memo is not None or asked:
                status, error = (memo.status, memo.error) if memo else (None, "")
                known.append({"origin": origin, "being_asked": asked, "status": status, "error": error})
    return known


def text(known: Plain) -> str:
    """The state as text for a terminal."""
    return words.aligned(list(_lines(known)))


def _lines(known: Plain) -> Iterator[tuple[str, str]]:
    if stop := known["stop"]:
        again = f", {words.count(stop['stops'])} times in a row" if stop["stops"] > 1 else ""
        until = datetime.fromisoformat(stop["until"]).timestamp()
        yield "Wait", f"it {stop_of(stop['status'], until)} (in {words.duration(stop['in'])}){again}"
    if known["probe_in"] is not None:
        yield "Wait", f"one page is tested after a stop; others wait {words.duration(known['probe_in'])} at most"
    if known["throttle"]:
        yield "Throttle", known["throttle"]
    if known["crawl_delay"]:
        yield "Crawl-delay", words.duration(known["crawl_delay"])
    if known["seconds"] is not None:
        yield "Response time", words.duration(known["seconds"])
    if known["asked_at"] is not None:
        passed = datetime.fromisoformat(known["at"]) - datetime.fromisoformat(known["asked_at"])
        yield "Last request", f"{words.duration(max(0.0, passed.total_seconds()))} ago"
    for used in known["connections"]:
        by = f"crawl {used['crawl']} ({used['site']})" if used["site"] else used["crawl"] or "a crawl"
        yield "Connections", f"{words.count(used['connections'])} in use by {by}"
    for file in known["robots"]:
        yield "robots.txt", f"{file['origin']}: {_file(file)}"
    for crawl in known["crawls"]:
        waiting = words.counted(crawl["waiting"], "page")
        yield "Crawl", f"{crawl['id']} ({crawl['site']}, {crawl['state']}): {waiting} waiting"


def _file(file: Plain) -> str:
    if file["being_asked"]:
        return "is being fetched"
    if file["status"] is None:
        return f"could not be fetched: {file['error']}"
    return f"responded with {file['status']}"
