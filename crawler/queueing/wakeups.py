"""Sends ticks, and guarantees at least one queued job per running crawl.

While a crawl runs, at least one job is queued, or is being run by a worker that will send one: a worker that begins a
batch while the queues are empty sends a tick first (it costs nothing: the batch's results would have sent it), and a
tick that ends with empty queues sends an idle poller. So after every process was killed, the next worker finds a job,
without a scheduler. If a worker is killed between popping the last job and starting it, RQ loses the job; then the
rescue job is left: a job that RQ takes for abandoned and enqueues when a worker starts.

An idle worker also looks for such jobs about every ten minutes. So the rescue job also stays for a crawl that is held
until midnight: that is how a stock worker resumes it in time.
"""

from __future__ import annotations

from collections.abc import Sequence

from django.db.models import Q
from redis.client import Pipeline

from crawler.core.protocol.completion import State
from crawler.core.protocol.messages import SliceReport, encode_report
from crawler.frontier.frontier import Frontier
from crawler.frontier.keys import CRAWLS
from crawler.frontier.results import Mark
from crawler.models import Crawl
from crawler.queueing import queues

RUNNING = Q(state=State.RUNNING)
HELD = Q(state=State.PAUSED, held_until__isnull=False)
"""Paused until a known time: no idle poller is needed, only the rescue job."""


def wake(frontier: Frontier, site: str, reports: Sequence[SliceReport] = (), *, is_urgent: bool = True) -> bool:
    """Push reports, mark the crawl dirty and send a tick unless one is coming, in one step; True if one was sent.
    All of it for the collector of this frontier."""
    job = queues.new_id("manage")

    def send_tick(pipe: Pipeline) -> None:
        pipe.sadd(CRAWLS, frontier.keys.crawl)
        queues.send_tick(pipe, frontier.keys.crawl, site, job, frontier.keys.collector)

    return frontier.results.push(
        [encode_report(report) for report in reports],
        frontier.now(),
        tick_job=job,
        is_coming=is_coming,
        send_tick=send_tick,
        is_urgent=is_urgent,
    )


def is_coming(mark: Mark) -> bool:
    """Whether the tick named by this mark still waits in RQ's queue, however long."""
    return queues.is_queued(queues.CRAWL, mark.job)


def ensure_poller() -> None:
    """A crawl runs: ensure that an idle poller is queued, and that a starting worker finds a job."""
    queues.keep_poller_last()
    queues.ensure_rescue_job()


def update_rescue_job() -> None:
    """Called when a crawl is over: the rescue job stays while another crawl runs or is held."""
    if Crawl.objects.filter(RUNNING | HELD).exists():
        queues.ensure_rescue_job()
    else:
        queues.remove_rescue_job()


def ensure_poller_if_idle() -> None:
    """Called while a crawl runs: send an idle poller if the queues are empty, and ensure the rescue job."""
    if queues.is_idle():
        queues.send_poller()
    queues.ensure_rescue_job()
