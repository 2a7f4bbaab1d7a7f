"""Health checks for load balancers, and metrics for Prometheus."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping, Sequence

from django.db import Error as DatabaseError
from django.db import connection
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.utils.crypto import constant_time_compare
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe
from redis import RedisError

from crawler import __version__, clock, conf
from crawler.command_names import as_typed
from crawler.core.errors import NotUpgradable
from crawler.core.protocol.lanes import slot_lanes
from crawler.frontier.metrics import BUCKET_BOUNDS_S
from crawler.queueing.installation import OtherInstallation, verify
from crawler.queueing.startup import skew_text
from crawler.redis_client import RedisClient
from crawler.reports import metrics as figures
from crawler.reports.metrics import CrawlQueue, FromRedis, FromTable
from crawler.storage.database import is_behind
from crawler.web.exposition import CONTENT_TYPE, Family, Sample, histogram, text_of

_migrated = threading.Event()
TIMEOUT_S = 2.0  # of the readiness check

AGREE = "The clocks agree."
NOT_COMPARED = "The clocks were not compared."
NOT_MIGRATED = as_typed("Migrations are not applied, or cannot be checked: python manage.py migrate")


@never_cache
@require_safe
def healthz(request: HttpRequest) -> HttpResponse:
    """This process answers; nothing else is checked."""
    return HttpResponse("ok", content_type="text/plain")


@never_cache
@require_safe
def readyz(request: HttpRequest) -> JsonResponse:
    """200 if the database and Redis answer and all migrations are applied, else 503; with a sentence for each. A wrong
    clock is reported, but the process is ready: crawls do not use this machine's clock."""
    database, redis_trouble = _database_answers(), _redis_trouble()
    redis = not redis_trouble
    not_migrated = _not_migrated() if database else NOT_MIGRATED
    skew = clock.measure(connection) if database and redis else None
    report = {
        "ready": database and not not_migrated and redis,
        "database": "The database responds." if database else "The database does not respond.",
        "migrations": not_migrated or "All migrations are applied.",
        "redis": redis_trouble or "Redis responds.",
        "clock": (skew_text(skew) or AGREE) if skew else NOT_COMPARED,
        "clock_skew_seconds": {name: round(seconds, 3) for name, seconds in skew.known.items()} if skew else {},
    }
    return JsonResponse(report, status=200 if report["ready"] else 503)


def _database_answers() -> bool:
    try:
        with connection.cursor() as cursor:
            cursor.execute("SELECT 1")
    except DatabaseError:
        return False
    return True


def _not_migrated() -> str | None:
    """What to do before the tables are those of this version; None if they are, which is then remembered for the life
    of this process."""
    if not _migrated.is_set():
        try:
            if is_behind(connection):
                return NOT_MIGRATED
        except DatabaseError:
            return NOT_MIGRATED
        except NotUpgradable as error:
            return str(error)
        _migrated.set()
    return None


def _redis_trouble() -> str:
    """Why Redis cannot be used; "" if it can."""
    try:
        with RedisClient.from_url(
            conf.redis_url(), socket_connect_timeout=TIMEOUT_S, socket_timeout=TIMEOUT_S
        ) as redis:
            verify(redis, conf.redis_url())
            redis.ping()
    except OtherInstallation as error:
        return str(error)
    except (RedisError, OSError, ValueError):
        return "Redis does not respond."
    return ""


BEARER = "Bearer "


@never_cache
@require_safe
def metrics(request: HttpRequest) -> HttpResponse:
    """The metrics of the installation, for staff and for clients with the token of CRAWLER_METRICS_TOKEN. A service
    that does not answer is reported as down, and its metrics are left out."""
    if not _may_read(request):
        response = HttpResponse(
            "Log in as staff, or send the token of CRAWLER_METRICS_TOKEN: Authorization: Bearer TOKEN\n",
            content_type="text/plain",
            status=401,
        )
        response["WWW-Authenticate"] = 'Bearer realm="metrics"'
        return response
    return HttpResponse(text_of(_families()), content_type=CONTENT_TYPE)


def _may_read(request: HttpRequest) -> bool:
    token, sent = conf.metrics_token(), request.headers.get("Authorization", "")
    if sent:
        return bool(token) and constant_time_compare(sent, BEARER + token)
    try:
        return request.user.is_active and request.user.is_staff
    except DatabaseError:
        return False


def _families() -> Iterator[Family]:
    """Reads all metrics; see `reports.metrics`."""
    yield _by("crawler_build_info", "This program.", "version", {__version__: 1})
    try:
        table: FromTable | None = figures.of_table()
    except DatabaseError:
        table = None
    redis = figures.of_redis(table.running if table is not None else None)
    up = {"database": int(table is not None), "redis": int(redis is not None)}
    yield _by("crawler_up", "Whether a service responds.", "service", up)
    if table is not None and redis is not None:
        means = "Seconds by which this web process's clock is ahead of another."
        yield _by("crawler_clock_skew_seconds", means, "against", clock.measure(connection).known)
    if table is not None:
        yield from _of_table(table)
        yield from _of_crawls(table.queues, clock.epoch_seconds())
    if redis is not None:
        yield from _of_redis(redis)


def _of_table(table: FromTable) -> Iterator[Family]:
    yield _by("crawler_crawls", "Crawls, by state.", "state", table.crawls)
    yield _by("crawler_pages", "Closed pages of all stored crawls, by outcome.", "outcome", table.pages)
    yield _one("crawler_open_pages", "Pages whose outcome is not known yet.", table.open_pages)
    yield _one("crawler_requests", "Requests of all stored crawls.", table.requests)
    yield _one("crawler_read_bytes", "Bytes read by all stored crawls.", table.bytes)
    yield _one("crawler_retries", "Retries of all stored crawls.", table.retries)
    yield _by("crawler_notices", "Deliveries of notices, by state.", "state", table.deliveries)
    yield _one("crawler_disagreements", "Times the checks of a crawl disagreed.", table.disagreements)
    for metric, numbers in table.further.items():
        samples = [Sample(number, dict(zip(metric.labels, labels, strict=True))) for labels, number in numbers.items()]
        yield Family(metric.name, "gauge", metric.about, samples)


def _of_crawls(queues: Sequence[CrawlQueue], now: float) -> Iterator[Family]:
    pages = [
        Sample(number, {"crawl": queue.crawl, "flow": flow}) for queue in queues for flow, number in queue.flow.items()
    ]
    yield Family("crawler_crawl_pages_total", "counter", "Pages in and out of a running crawl's queue.", pages)
    ages = {queue.crawl: 0.0 if queue.oldest_due is None else max(0.0, now - queue.oldest_due) for queue in queues}
    yield _by("crawler_crawl_oldest_due_seconds", "For how long its oldest open page is due.", "crawl", ages)


def _of_redis(redis: FromRedis) -> Iterator[Family]:
    frontier, ticks = redis.frontier, redis.ticks
    yield _by("crawler_queue_jobs", "Jobs waiting in RQ's queues.", "queue", redis.jobs)
    yield _by("crawler_workers", "Workers that listen to a queue.", "queue", redis.workers)
    if (scale := redis.scale) is not None:
        yield _one("crawler_workers_wanted", "Workers that would be useful now.", scale.wanted)
        for lane in slot_lanes():
            means = f"{lane.name.capitalize()} workers that would be useful now."
            yield _one(f"crawler_{lane.name}_workers_wanted", means, scale.lanes[lane].wanted)
    yield _one("crawler_reports_waiting", "Results of fetch jobs not processed yet.", frontier.reports)
    yield _one("crawler_leases", "Batches handed out.", frontier.leases)
    yield _one("crawler_leases_overdue", "Batches whose lease has to be checked.", frontier.overdue_leases)
    yield _one("crawler_pages_handed_out", "Pages handed out and not closed.", frontier.handed_out)
    yield _one("crawler_pages_waiting", "Pages queued in Redis.", frontier.waiting)
    yield _one("crawler_pages_past_due", "Of them, those that are due.", frontier.past_due)
    yield _one("crawler_hosts_waiting", "Hosts with queued pages.", frontier.hosts)
    yield _one("crawler_hosts_held", "Of them, those that may not be requested yet.", frontier.hosts_held)
    yield _one("crawler_host_wait_seconds", "Time until the last of them may be requested.", frontier.longest_hold)
    for lane, use in redis.slots.items():
        means = f"Pages that {lane.name} workers {lane.verb} at a time."
        yield _one(f"crawler_{lane.name}_places", means, use.slots)
        yield _one(f"crawler_{lane.name}_places_taken", "Of them, those that are taken.", use.taken)
        yield _one(f"crawler_pages_for_{lane.name}s", f"Pages that wait for a {lane.name}.", use.pages_waiting)
    yield _one("crawler_tick_last_seconds", "Duration of the last tick.", ticks.last)
    yield histogram("crawler_tick_seconds", "Duration of ticks.", BUCKET_BOUNDS_S, ticks.buckets, ticks.total)


def _one(name: str, means: str, value: float) -> Family:
    return Family(name, "gauge", means, [Sample(value)])


def _by(name: str, means: str, label: str, values: Mapping[str, float]) -> Family:
    return Family(name, "gauge", means, [Sample(value, {label: str(key)}) for key, value in values.items()])
