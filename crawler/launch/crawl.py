"""`bin/crawl`: `manage.py crawl` with the Redis and workers it needs, for its own duration."""

from __future__ import annotations

import gc
import os
import signal
import sys
from argparse import Namespace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, cast

from crawler.command_names import as_typed
from crawler.management import usage

if TYPE_CHECKING:
    from collections.abc import Callable

    from crawler.launch.embedded_redis import RedisServer
    from crawler.launch.process_group import Child, Children
    from crawler.launch.workers import Workers
    from crawler.management.commands.crawl import Command


def main(arguments: list[str]) -> int:
    """The other imports follow once the arguments are judged: help and errors must not wait for them."""
    options = usage.parse(arguments)
    gc.disable()  # saves a tenth of the imports
    from django.core.exceptions import ImproperlyConfigured

    from crawler.core.errors import CrawlerError
    from crawler.core.installation.deployment import GRACE_SETTING, SHORT_GRACE_SECONDS

    for number in (signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(number) is not signal.SIG_IGN:  # as under nohup
            signal.signal(number, _exit)
    os.environ.setdefault(GRACE_SETTING, f"{SHORT_GRACE_SECONDS:g}")  # a user who stops it waits for 5 s at most
    try:
        run(arguments, options)
    except (CrawlerError, ImproperlyConfigured) as error:
        print(as_typed(str(error)), file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130
    finally:
        gc.freeze()  # saves 0.1 s: at exit Python examines all objects that are not frozen
    return 0


def run(arguments: list[str], options: Namespace) -> None:
    """1. Redis, while modules are imported. 2. Database. 3. Workers, if none are running; they are forked here.
    4. Crawl. `options`: the arguments, which can be used.

    Raises SystemExit when the command does.
    """
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "crawler.settings.development")
    from crawler.launch.embedded_redis import EarlyStart, RedisServer
    from crawler.settings import environment

    environment.keep_files_private()
    given = environment.given_redis_url()
    if given:
        with_redis(arguments, options, lambda: RedisServer(given, owned=False))
        return
    with EarlyStart(environment.data_dir()) as starting:
        with_redis(arguments, options, starting.server)


def with_redis(arguments: list[str], options: Namespace, server: Callable[[], RedisServer]) -> None:
    """`run` from its second step on."""
    import django

    django.setup()
    from crawler import clock, conf
    from crawler.core.options.catalogue import CrawlOptions
    from crawler.core.politeness.host_rules import chosen_delay
    from crawler.core.protocol.lanes import lanes
    from crawler.launch.autoscale import useful_workers
    from crawler.launch.services import apply_migrations, checked
    from crawler.launch.workers import Workers, usual_range
    from crawler.queueing.workers import capacity, live_workers
    from crawler.redis_client import CONNECTION_CLASS

    own = () if options.detach else lanes()[1:]
    chosen = [lane for lane in own if lane.is_chosen(cast(CrawlOptions, options))]  # it has them by name
    for lane in chosen:
        lane.require()
    apply_migrations()
    with checked(server()) as redis:
        os.environ["REDIS_URL"] = os.environ["RQ_REDIS_URL"] = redis.url
        os.environ["RQ_CONNECTION_CLASS"] = CONNECTION_CLASS
        if options.detach:
            _perform(arguments)
            return
        fork = _fork if sys.platform == "linux" else None  # libraries of macOS may fail in a forked process
        with Workers(
            options.workers,
            live=live_workers,
            redis=redis,
            log_file=conf.data_dir() / "workers.log",
            fork=fork,
            usual=usual_range(chosen_delay(options.delay, options.per_minute)),
            useful=useful_workers,
            lanes=[lane for lane in chosen if not capacity(lane, clock.epoch_seconds())],
            at_first=1 if fork else None,
        ) as workers:
            _perform(arguments, partial(_complete, workers))


def _fork(children: Children, log_file: Path) -> Child:
    from crawler.launch.forked_worker import fork_worker

    return fork_worker(children, log_file)


def _complete(workers: Workers) -> None:
    """Start the other workers: the first page of a crawl is work for one."""
    if not workers.are_complete and sys.platform == "linux":
        from crawler.launch.forked_worker import load_worker

        load_worker()
    workers.complete()


def _perform(arguments: list[str], has_begun: Callable[[], None] | None = None) -> None:
    """Its modules are imported while the first worker imports its own."""
    from django.core.management import load_command_class

    command = cast("Command", load_command_class("crawler", "crawl"))
    command.has_begun = has_begun
    gc.freeze()  # what is loaded stays: the first collection need not examine it
    gc.enable()
    command.run_from_argv(["bin/crawl", "crawl", *arguments])


def _exit(number: int, _frame: object) -> None:
    raise SystemExit(128 + number)


if __name__ == "__main__":
    code = main(sys.argv[1:])
    from crawler.launch.process_group import end_process  # loaded by now

    end_process(code)
