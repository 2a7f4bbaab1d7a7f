"""Sends ticks, and sees to it that no worker falls asleep while a crawl runs.

As long as a crawl runs, at least one job waits in RQ's queues or is being worked on by somebody who will send one: a
worker that begins a batch while nothing else waits sends a tick first (it costs nothing: the batch's results would have
sent it), and a tick that ends with nothing waiting sends a watch. So after everything was killed, the next worker finds
something to do, without a scheduler. Should it be killed in the moment between popping the last job and starting it,
which RQ does not survive, the lifeline is left: a job that RQ takes for abandoned and enqueues when a worker starts.

An idle worker looks for such jobs every ten minutes or so, too. So the lifeline also stays for a crawl that is held
until midnight: that is how a stock worker comes to look at it in time.
"""

from __future__ import annotations

from collections.abc import Sequence

from django.db.models import Q
from redis.client import Pipeline

from crawler.core.crawl.completion import State
from crawler.core.crawl.messages import SliceReport, encode_report
from crawler.frontier.frontier import Frontier
from crawler.frontier.keys import CRAWLS
from crawler.frontier.results import Mark
from crawler.models import Crawl
from crawler.queueing import queues

RUNNING = Q(state=State.RUNNING)
HELD = Q(state=State.PAUSED, held_until__isnull=False)
"""Paused until a moment that is known: nobody needs to stay awake for it, but somebody to look now and then."""


def wake(frontier: Frontier, site: str, reports: Sequence[SliceReport] = (), *, is_urgent: bool = True) -> bool:
    """Leave reports, mark the crawl dirty and send a tick unless one is coming, in one step; whether one was sent."""
    job = queues.new_id("manage")

    def send_tick(pipe: Pipeline) -> None:
        pipe.sadd(CRAWLS, frontier.keys.crawl)
        queues.send_tick(pipe, frontier.keys.crawl, site, job)

    return frontier.results.push(
        [encode_report(report) for report in reports],
        frontier.now(),
        tick_job=job,
        is_coming=is_coming,
        send_tick=send_tick,
        is_urgent=is_urgent,
    )


def is_coming(mark: Mark) -> bool:
    """Whether the tick this mark speaks of still waits in RQ's queue, however long."""
    return queues.is_queued(queues.CRAWL, mark.job)


def keep_watch() -> None:
    """A crawl runs: see that whoever is idle watches over it, and that a starting worker finds something to do."""
    queues.keep_watch_last()
    queues.plant_lifeline()


def keep_or_cut_lifeline() -> None:
    """To be called when a crawl is over: the lifeline stays while another one runs, or is held."""
    if Crawl.objects.filter(RUNNING | HELD).exists():
        queues.plant_lifeline()
    else:
        queues.cut_lifeline()


def stay_awake() -> None:
    """Send a watch if nothing waits in the queues, and see that a starting worker finds one in any case; to be called
    while a crawl runs."""
    if queues.is_idle():
        queues.send_watch()
    queues.plant_lifeline()
