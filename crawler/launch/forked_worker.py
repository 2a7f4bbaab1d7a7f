"""Workers that are forked from a command, whose modules they share.

Python and Django take as long to load as a short crawl; a fork takes milliseconds.
"""

from __future__ import annotations

import gc
import sys
from pathlib import Path

from django.db import connections
from rq.logutils import setup_loghandlers

from crawler import conf, worker
from crawler.launch.process_group import Child, Children
from crawler.launch.workers import COMMAND
from crawler.queueing import queues
from crawler.redis_client import RedisClient
from settings.environment import ROOT


def fork_worker(children: Children, log_file: Path) -> Child:
    """A worker that behaves like one of COMMAND. This process must have no second thread."""
    queues.connection().connection_pool.disconnect()  # it may ask the database
    connections.close_all()  # last: SQLite's locks do not survive in a child that inherits its file
    gc.freeze()  # else each collection of a worker would copy the memory it shares
    return children.fork(_work, output=log_file, directory=ROOT)


def _work() -> int:
    sys.orig_argv[1:] = COMMAND[1:]  # the command line it restarts with
    gc.enable()
    setup_loghandlers("WARNING")
    redis = RedisClient.from_url(conf.redis_url())
    worker.Worker([queues.CRAWL, queues.FETCH], connection=redis).work(logging_level="WARNING")
    return 0
