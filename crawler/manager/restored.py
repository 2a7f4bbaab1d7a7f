"""Notices that the database was replaced by an older one while Redis was kept: by a backup that was restored, or by a
standby that lacks the last commits.

Then the seen-set knows pages that the table has lost, which would never be stored again (rule R2b). And the ids of lost
rows would be given to other pages, whose rows the results of the lost ones would close.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence

from crawler import logs
from crawler.crashpoints import crash_point
from crawler.manager.context import TickContext
from crawler.storage import queries, sql

log = logging.getLogger(__name__)


def note_watermark(context: TickContext, seen_keys: Sequence[bytes]) -> None:
    """Add the seen-keys of rows that are committed to the seen-set, and note how far the table had come by then."""
    context.frontier.note_rows(queries.watermark(context.id), seen_keys)


def detect_rollback(context: TickContext, between: Callable[[], object]) -> None:
    """If the table has not come as far as was noted, build the frontier again from it. Called by a tick that holds the
    lock, before it changes anything; it renews the lock when `between` is called.

    1. Skip the ids of lost rows: fetch jobs may still report their results, which then close nothing.
    2. Delete what Redis knows of the table, last the watermark. What fetch jobs have is requested again, unless they
       report it.
    """
    noted = context.frontier.noted_watermark()  # read first: the table may only be ahead of it
    if noted is None or not queries.watermark(context.id).is_behind(noted):
        return
    log.warning(
        "the database is older than Redis, as after a backup was restored: the frontier is built again from the table",
        extra=logs.of(context.id),
    )
    sql.skip_ids(noted.newest_row, between)
    crash_point("restored: ids skipped")
    context.frontier.forget_table()
