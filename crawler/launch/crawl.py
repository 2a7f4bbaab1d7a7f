"""`bin/crawl`: `manage.py crawl` with everything it needs, for as long as it needs it."""

from __future__ import annotations

import gc
import os
import signal
import sys
from argparse import Namespace
from typing import TYPE_CHECKING

from crawler.launch.preload import GRACE, EarlyWorker
from crawler.launch.process_group import Children

if TYPE_CHECKING:
    from django.core.management import BaseCommand


def main(arguments: list[str]) -> int:
    for number in (signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(number) is not signal.SIG_IGN:  # as under nohup
            signal.signal(number, _leave)
    try:
        with Children(GRACE) as children:
            return _told(arguments, children, EarlyWorker(children))
    except KeyboardInterrupt:
        return 130
    finally:
        gc.freeze()  # an ending Python looks through all objects but frozen ones, for a tenth of a second


def _told(arguments: list[str], children: Children, early: EarlyWorker) -> int:
    """A worker loads while we do, so what takes long to load is loaded only now."""
    from django.core.exceptions import ImproperlyConfigured

    from crawler.core.errors import CrawlerError

    try:
        run(arguments, children, early)
    except (CrawlerError, ImproperlyConfigured) as error:
        print(error, file=sys.stderr)
        return 1
    return 0


def run(arguments: list[str], children: Children, early: EarlyWorker) -> None:
    """1. Judge the arguments, before anything is made for them. 2. Database, Redis, workers. 3. Crawl.

    Ends by SystemExit where the command does.
    """
    import django
    from django.core.management import load_command_class

    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "settings.development")
    django.setup()
    command = load_command_class("crawler", "crawl")
    options = parse(command, arguments)
    from crawler import conf
    from crawler.launch.services import bring_up_to_date, ensure_redis
    from crawler.launch.workers import Workers
    from crawler.queueing.workers import live_workers

    bring_up_to_date()
    with ensure_redis(conf.data_dir()) as redis:
        os.environ["REDIS_URL"] = os.environ["RQ_REDIS_URL"] = redis.url
        log_file = conf.data_dir() / "workers.log"
        with Workers(
            options.workers, live=live_workers, redis=redis, log_file=log_file, children=children, early=early
        ):
            command.run_from_argv(["bin/crawl", "crawl", *arguments])


def parse(command: BaseCommand, arguments: list[str]) -> Namespace:
    """Ends the process with exit code 2 when they make no sense, and with 0 after --help."""
    parser = command.create_parser("bin/crawl", "crawl")
    parser.prog = "bin/crawl"
    return parser.parse_args(arguments)


def _leave(number: int, _frame: object) -> None:
    raise SystemExit(128 + number)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
