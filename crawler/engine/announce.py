"""Delivers what is in the outbox, each delivery at least once, with an id the receiver can tell a second copy by."""

from __future__ import annotations

import logging
import time
from collections import Counter
from collections.abc import Sequence
from functools import partial

from django.db import DatabaseError, connection
from redis.exceptions import RedisError
from rq.timeouts import BaseTimeoutException

from crawler import clock, logs, queues
from crawler.core.lifecycle import State
from crawler.crashpoints import crash_point
from crawler.engine.deliver import close, deliver
from crawler.engine.heartbeat import Heartbeat
from crawler.engine.wake import keep_or_cut_lifeline, keep_watch
from crawler.fetching.fetcher import Limits
from crawler.models import Crawl, Delivery
from crawler.notify import outbox
from crawler.notify.outbox import TRY_SECONDS
from crawler.notify.transport import TransportError

log = logging.getLogger(__name__)

FAULT = "a fault of the crawler; its log says more"
PAGES_SECONDS = 1.0  # receivers are told of pages for so long in one go
PAGES_SHARE = 4  # then it is left for so many times as long, while a crawl wants the workers
PAGES_LIMITS = Limits(connect_seconds=3.0, read_seconds=5.0, total_seconds=5.0)  # what one receiver may hold them up


def announce() -> str:
    """Try every delivery that is due; one line saying what came of it, for the dashboard. A worker that was asked to
    end begins no other, and leaves them to the watch."""
    queues.notify_begins()
    if _is_anything_pending():
        keep_watch()  # should this worker die, somebody tries again
    came_of_it = Counter[str]()
    for delivery in outbox.due(clock.now()):
        if queues.is_stopping():
            break
        came_of_it[_try(delivery)] += 1
    came_of_it += _tell_of_pages()
    if not _is_anything_pending():
        keep_or_cut_lifeline()
    return f"delivered {came_of_it['delivered']}, failed {came_of_it['failed']}"


def _tell_of_pages() -> Counter[str]:
    """Try those that tell of pages: one worker at a time, and a fifth of its time at most while a crawl runs, so that
    no receiver, however slow, holds up what it is told of."""
    came_of_it = Counter[str]()
    due = outbox.due_pages(clock.now())
    if not due or not queues.begin_pages():
        return came_of_it
    began = time.monotonic()
    try:
        came_of_it.update(_try_for_a_while(due, began))
    finally:
        is_wanted = Crawl.objects.filter(state=State.RUNNING).exists()
        queues.end_pages(PAGES_SHARE * (time.monotonic() - began) if is_wanted else 0.0)
    return came_of_it


def _try_for_a_while(due: Sequence[Delivery], began: float) -> list[str]:
    """One that fails puts off the others to the same receiver, which then cannot be claimed."""
    done = list[str]()
    for delivery in due:
        if queues.is_stopping():
            break
        done.append(_try(delivery, PAGES_LIMITS))
        if time.monotonic() - began >= PAGES_SECONDS:
            break
    return done


def _try(delivery: Delivery, limits: Limits | None = None) -> str:
    """Try one delivery: "delivered", "failed", or "" when another process is at it, or it was put off or deleted."""
    if not outbox.claim(delivery, clock.now()):
        return ""
    close(delivery.notice)
    crash_point("notify: claimed")
    try:
        with Heartbeat(partial(_renew, delivery), every=TRY_SECONDS / 4):
            answer = deliver(delivery, limits)
    except TransportError as error:
        outbox.failed(delivery.id, clock.now(), str(error), permanent=error.permanent)
        return "failed"
    except (DatabaseError, RedisError, BaseTimeoutException):
        raise  # nothing could be noted, or RQ ends this job: the claim runs out
    except Exception:  # a fault of ours must not keep the others behind it from being told
        log.exception("delivery %s could not be made", delivery.id, extra=logs.of(delivery.notice.crawl_id))
        outbox.failed(delivery.id, clock.now(), FAULT, permanent=False)
        return "failed"
    crash_point("notify: sent")
    outbox.delivered(delivery.id, clock.now(), answer)
    return "delivered"


def _is_anything_pending() -> bool:
    return Delivery.objects.filter(state=Delivery.PENDING).exists()


def _renew(delivery: Delivery) -> bool:
    """Keep the claim on a try; called from a thread of its own, whose database connection ends with it."""
    try:
        outbox.renew(delivery.id, clock.now())
    except DatabaseError as error:
        log.warning(
            "the claim on delivery %s could not be renewed: %s",
            delivery.id,
            error,
            extra=logs.of(delivery.notice.crawl_id),
        )
    finally:
        connection.close()
    return True
