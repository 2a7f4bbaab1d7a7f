"""Whether this process lives, and whether what it stands on answers: for load balancers and monitors."""

from __future__ import annotations

import threading

from django.db import Error as DatabaseError
from django.db import connection
from django.db.migrations.executor import MigrationExecutor
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe
from redis import Redis, RedisError

from crawler import clock, conf
from crawler.core.clocks import AGREE, NOT_COMPARED

_migrated = threading.Event()
PATIENCE = 2.0  # seconds a service may take to answer

NOT_MIGRATED = "Migrations are not applied, or it is not known: python manage.py migrate"


@never_cache
@require_safe
def healthz(request: HttpRequest) -> HttpResponse:
    """This process answers; nothing else is asked."""
    return HttpResponse("ok", content_type="text/plain")


@never_cache
@require_safe
def readyz(request: HttpRequest) -> JsonResponse:
    """200 when the database and Redis answer and the tables are those of this version, else 503; with a sentence for
    each. A clock that is off is told, and keeps nobody from being ready: crawls do not go by this machine's."""
    database, redis = _database_answers(), _redis_answers()
    migrated = database and _is_migrated()
    skew = clock.measure(connection) if database and redis else None
    report = {
        "ready": database and migrated and redis,
        "database": "The database answers." if database else "The database does not answer.",
        "migrations": "All migrations are applied." if migrated else NOT_MIGRATED,
        "redis": "Redis answers." if redis else "Redis does not answer.",
        "clock": (skew.sentence or AGREE) if skew else NOT_COMPARED,
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


def _is_migrated() -> bool:
    """Asked of the database until it is so: what was applied stays applied while this process lives."""
    if not _migrated.is_set():
        try:
            executor = MigrationExecutor(connection)
            if not executor.migration_plan(executor.loader.graph.leaf_nodes()):
                _migrated.set()
        except DatabaseError:
            return False
    return _migrated.is_set()


def _redis_answers() -> bool:
    try:
        with Redis.from_url(conf.redis_url(), socket_connect_timeout=PATIENCE, socket_timeout=PATIENCE) as redis:
            return bool(redis.ping())
    except (RedisError, OSError, ValueError):
        return False
