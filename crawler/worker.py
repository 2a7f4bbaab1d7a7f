"""The project's RQ worker: no fork per job, Django loaded once. `rq worker -w crawler.worker.Worker crawl fetch`."""

from __future__ import annotations

import logging

from redis.exceptions import RedisError
from rq import SimpleWorker
from rq.job import Job
from rq.queue import Queue

from crawler import jobs as _jobs  # isort: skip  # sets up Django, before anything that holds a model
from django.db import DatabaseError, close_old_connections

from crawler.engine import announce as _announce
from crawler.engine import fetch as _fetch
from crawler.engine import manage as _manage
from crawler.engine import watch as _watch
from crawler.engine.reconcile import reconcile

LOADED_ONCE = (_jobs, _announce, _fetch, _manage, _watch)
"""What the doors in `crawler.jobs` import at their first job; here it is there before."""

LOOK_EVERY = 5  # seconds; how long an idle worker waits for a job before it looks at the crawls

log = logging.getLogger(__name__)


class Worker(SimpleWorker):
    """RQ's SimpleWorker, giving database connections back after each job as Django does after each request, and
    looking at the crawls when it starts and while it is idle: it goes on even if Redis has lost every job."""

    def execute_job(self, job: Job, queue: Queue) -> None:
        close_old_connections()
        try:
            super().execute_job(job, queue)
        finally:
            close_old_connections()

    @property
    def dequeue_timeout(self) -> int:
        return LOOK_EVERY

    @property
    def should_run_maintenance_tasks(self) -> bool:
        return True  # RQ asks before each wait for a job

    def run_maintenance_tasks(self) -> None:
        if super().should_run_maintenance_tasks:
            super().run_maintenance_tasks()  # type: ignore[no-untyped-call]  # RQ gives it no types
        try:
            reconcile()
        except (DatabaseError, RedisError) as error:
            log.warning("the crawls could not be looked at: %s", error)
        finally:
            close_old_connections()
