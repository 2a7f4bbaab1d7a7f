"""Workers that are forked from a command, whose modules they share.

Python and Django take as long to load as a short crawl; a fork takes milliseconds. What only workers need, the first
one loads for itself while the command starts the crawl; then the command loads it, too, and forks the others.
"""

from __future__ import annotations

import gc
import logging
import sys
from pathlib import Path

from django.db import connections

from crawler import conf
from crawler.launch.process_group import Child, Children
from crawler.launch.workers import COMMAND
from crawler.queueing import queues
from crawler.redis_client import RedisClient
from crawler.settings.base import LOG_LEVEL
from crawler.settings.environment import ROOT


def fork_worker(children: Children, log_file: Path) -> Child:
    """A worker that behaves like one of COMMAND. This process must have no second thread."""
    queues.connection().connection_pool.disconnect()  # it may ask the database
    connections.close_all()  # last: SQLite's locks do not survive in a child that inherits its file
    gc.freeze()  # else each collection of a worker would copy the memory it shares
    return children.fork(_work, output=log_file, directory=ROOT)


def load_worker() -> None:
    """Load what only workers need, to share it with those that are forked from now on."""
    gc.disable()
    from crawler import worker  # noqa: F401 (slow to load, and a command whose workers run already does not need it)

    gc.freeze()  # as below
    gc.enable()


def _work() -> int:
    from rq.logutils import setup_loghandlers

    from crawler import worker  # see `load_worker`

    sys.orig_argv[1:] = COMMAND[1:]  # the command line it restarts with
    gc.freeze()  # what is loaded stays: the first collection need not examine it
    gc.enable()
    logging.getLogger("crawler").setLevel(LOG_LEVEL)  # the command may change it
    setup_loghandlers("WARNING")
    redis = RedisClient.from_url(conf.redis_url())
    worker.Worker([queues.CRAWL, queues.FETCH], connection=redis).work(logging_level="WARNING")
    return 0
