"""`bin/worker`: RQ's worker with the settings of this project, those in `.env` among them."""

from __future__ import annotations

import os
import sys
from argparse import ArgumentParser, ArgumentTypeError
from collections.abc import Mapping, Sequence
from importlib import import_module
from typing import NoReturn

from django.core.exceptions import ImproperlyConfigured

from settings import environment

EPILOG = """\
Further arguments go to RQ as they are, such as --burst or --max-jobs 100; `rq worker --help` and, with -n,
`rq worker-pool --help` list them. It waits for Redis and the database, see CRAWLER_STARTUP_TIMEOUT, and becomes RQ's
program: signals reach RQ itself."""


def main(arguments: list[str]) -> NoReturn:
    options, further = _parser().parse_known_args(arguments)
    try:
        variables = surroundings(os.environ)
    except ImproperlyConfigured as error:
        sys.exit(str(error))
    os.execve(sys.executable, command(options.workers, further, is_verbose=options.verbose), variables)  # noqa: S606


def command(workers: int, further: Sequence[str] = (), *, is_verbose: bool = False) -> list[str]:
    """The command line of RQ. The project's worker class waits for what it needs, as soon as RQ imports it."""
    kind = ["worker"] if workers == 1 else ["worker-pool", "--num-workers", str(workers)]
    loudness = "--verbose" if is_verbose else "--quiet"
    base = [sys.executable, "-P", "-m", "rq.cli", *kind, loudness, "-w", "crawler.worker.Worker"]
    return [*base, *further, "crawl", "fetch"]


def surroundings(given: Mapping[str, str]) -> dict[str, str]:
    """The environment RQ runs in: with what `.env` adds, and with Redis where RQ looks for it. Raises
    ImproperlyConfigured for a setting that cannot be used, before RQ makes a traceback of it."""
    import_module(given.get("DJANGO_SETTINGS_MODULE", "settings.development"))
    url = environment.redis_url()
    return {**given, "REDIS_URL": url, "RQ_REDIS_URL": url}


def _parser() -> ArgumentParser:
    parser = ArgumentParser(
        prog="bin/worker",
        allow_abbrev=False,
        description="Fetch pages and manage crawls, until it is ended.",
        epilog=EPILOG,
    )
    parser.add_argument(
        "-n", dest="workers", type=_count, default=1, metavar="N", help="how many workers, in one pool (default: 1)"
    )
    parser.add_argument("-v", "--verbose", action="store_true", help="a line for each job")
    return parser


def _count(typed: str) -> int:
    if not (typed.isascii() and typed.isdigit() and int(typed) >= 1):
        raise ArgumentTypeError(f"it must be a whole number, 1 or more, not {typed!r}")
    return int(typed)


if __name__ == "__main__":
    main(sys.argv[1:])
