"""The project's RQ worker: no fork per job, Django loaded once. `rq worker -w crawler.worker.Worker crawl fetch`."""

from __future__ import annotations

from rq import SimpleWorker
from rq.job import Job
from rq.queue import Queue

from crawler import jobs as _jobs  # isort: skip  # sets up Django, before anything that holds a model
from crawler.engine import announce as _announce
from crawler.engine import fetch as _fetch
from crawler.engine import manage as _manage
from crawler.engine import watch as _watch

LOADED_ONCE = (_jobs, _announce, _fetch, _manage, _watch)
"""What the doors in `crawler.jobs` import at their first job; here it is there before."""


class Worker(SimpleWorker):
    """RQ's SimpleWorker, giving database connections back after each job as Django does after each request."""

    def execute_job(self, job: Job, queue: Queue) -> None:
        from django.db import close_old_connections  # Django is set up by the import above

        close_old_connections()
        try:
            super().execute_job(job, queue)
        finally:
            close_old_connections()
