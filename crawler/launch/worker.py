"""`bin/worker`: RQ's worker with the settings of this project, including those in `.env`."""

from __future__ import annotations

import os
import sys
from argparse import ArgumentParser, ArgumentTypeError
from collections.abc import Mapping, Sequence
from importlib import import_module
from typing import NoReturn

import django
from django.core.exceptions import ImproperlyConfigured

from crawler.core.errors import CrawlerError
from crawler.core.installation.deployment import GRACE_SETTING, SHORT_GRACE_SECONDS
from crawler.core.protocol.lanes import FETCH, Lane, lanes
from crawler.management.parsers import new_parser
from crawler.redis_client import CONNECTION_CLASS
from crawler.settings import environment

WORKER = "crawler.worker.Worker"
NAMED_BY_HONCHO = "HONCHO_PROCESS_NAME"  # honcho sets it for each of its processes

EPILOG = """\
examples:
  bin/worker
  bin/worker -n 4
  bin/worker --burst

Further arguments are passed to RQ, such as --burst or --max-jobs 100; `rq worker --help` and, with -n,
`rq worker-pool --help` list them. Waits for Redis and the database (CRAWLER_STARTUP_TIMEOUT), then executes RQ's
program in this process, so that RQ receives the signals.

exit codes:
  0    stopped by a signal, or with --burst: no job is left
  1    invalid settings, or a kind of worker that cannot run here
  2    invalid arguments
"""


def main(arguments: list[str]) -> NoReturn:
    options, further = parser().parse_known_args(arguments)
    lane = next((lane for lane in lanes()[1:] if getattr(options, lane.queue)), FETCH)
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "crawler.settings.development")
    try:
        variables = worker_environment(os.environ)
        lane.require()
    except (ImproperlyConfigured, CrawlerError) as error:
        sys.exit(str(error))
    line = command(options.workers, further, is_verbose=options.verbose, lane=lane)
    os.execve(sys.executable, line, variables)  # noqa: S606


def command(workers: int, further: Sequence[str] = (), *, is_verbose: bool = False, lane: Lane = FETCH) -> list[str]:
    """The command line of RQ. The project's worker class waits for Redis and the database when RQ imports it."""
    kind = ["worker"] if workers == 1 else ["worker-pool", "--num-workers", str(workers)]
    loudness = "--verbose" if is_verbose else "--quiet"
    managed = ["crawl"] if lane is FETCH else []
    return [sys.executable, "-P", "-m", "rq.cli", *kind, loudness, "-w", WORKER, *further, *managed, lane.queue]


def worker_environment(given: Mapping[str, str]) -> dict[str, str]:
    """The environment for RQ: with `.env`, with the address and the client of Redis in RQ's own variables, and with a
    short grace under honcho, which kills a process that has not exited within 5 s. Raises ImproperlyConfigured for an
    invalid setting, so that the user sees a message and no traceback."""
    settings = given.get("DJANGO_SETTINGS_MODULE", "crawler.settings.development")
    if import_module(settings).IMPORTED_AT_START:
        os.environ["DJANGO_SETTINGS_MODULE"] = settings
        django.setup()  # it imports them
    url = environment.redis_url()
    grace = {GRACE_SETTING: f"{SHORT_GRACE_SECONDS:g}"} if NAMED_BY_HONCHO in given else {}
    return {**grace, **given, "REDIS_URL": url, "RQ_REDIS_URL": url, "RQ_CONNECTION_CLASS": CONNECTION_CLASS}


def parser() -> ArgumentParser:
    parser = new_parser("bin/worker", "Fetch pages and manage crawls until stopped.", EPILOG)
    parser.add_argument(
        "-n", dest="workers", type=_count, default=1, metavar="N", help="number of workers, in one pool (default: 1)"
    )
    kinds = parser.add_mutually_exclusive_group()
    for lane in lanes()[1:]:
        kinds.add_argument(f"--{lane.queue}", action="store_true", help=lane.help)
    parser.add_argument("-v", "--verbose", action="store_true", help="log a line for each job")
    return parser


def _count(typed: str) -> int:
    if not (typed.isascii() and typed.isdigit() and int(typed) >= 1):
        raise ArgumentTypeError(f"it must be a whole number, 1 or more, not {typed!r}")
    return int(typed)


if __name__ == "__main__":
    main(sys.argv[1:])
