"""`bin/up`: the database, Redis if none listens, and the Procfile's processes; Ctrl-C ends all of it."""

from __future__ import annotations

import os
import socket
import sys
import time
from argparse import ArgumentParser, ArgumentTypeError, Namespace
from http.client import HTTPConnection, HTTPException
from pathlib import Path

import django
from django.core.exceptions import ImproperlyConfigured

from crawler.core.errors import BadInput, CrawlerError, ServiceDown
from crawler.launch.process_group import Ending
from crawler.launch.services import LOOPBACK, RedisServer, ensure_redis
from crawler.launch.supervisor import Processes
from settings.environment import ROOT, kept_secret

PATIENCE = 60.0  # seconds the web page has to answer for the first time


def main(arguments: list[str]) -> int:
    options = _parser().parse_args(arguments)
    ending = Ending()
    try:
        run(options, ending)
    except BadInput as error:
        print(error, file=sys.stderr)
        return 2
    except (CrawlerError, ImproperlyConfigured) as error:
        print(error, file=sys.stderr)
        return 1
    return ending.exit_code


def run(options: Namespace, ending: Ending) -> None:
    """1. Both ports must be free, or nothing is started. 2. Database and Redis. 3. The processes, and their addresses
    once they answer. 4. Until somebody ends it: replace what ended by itself."""
    _check_free(options.port, "--port")
    _check_free(options.dashboard_port, "--dashboard-port")
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "settings.development")
    os.environ.setdefault("CRAWLER_BASE_URL", _address(options.port))
    django.setup()
    # Only now, because they want Django's settings.
    from crawler import conf
    from crawler.launch.services import bring_up_to_date

    bring_up_to_date()
    with (
        ensure_redis(conf.data_dir()) as redis,
        Processes(ROOT / "Procfile", {"worker": options.workers}, _environment(options, redis.url)) as processes,
    ):
        _await_answers(options, processes, ending)
        if not ending.asked:
            print(_welcome(options, conf.data_dir()), flush=True)
        while not ending.wait(1.0):
            _look_after(redis, processes)
        print("Ending ...", flush=True)


def _parser() -> ArgumentParser:
    parser = ArgumentParser(
        prog="bin/up",
        allow_abbrev=False,
        description="Start the crawler on this machine: Redis if none listens, web page, workers, clock and RQ's "
        "dashboard. It prints the address and a one-time login link. Ctrl-C ends all of it.",
    )
    parser.add_argument("--port", type=_port, default=8000, metavar="N", help="of the web page (default: 8000)")
    parser.add_argument("--workers", type=_count, default=2, metavar="N", help="how many workers (default: 2)")
    parser.add_argument("--dashboard-port", type=_port, default=9181, metavar="N", help="RQ's (default: 9181)")
    return parser


def _port(typed: str) -> int:
    if not (typed.isascii() and typed.isdigit() and 1 <= int(typed) <= 65535):
        raise ArgumentTypeError(f"a port is a number from 1 to 65535, not {typed!r}")
    return int(typed)


def _count(typed: str) -> int:
    if not (typed.isascii() and typed.isdigit()):
        raise ArgumentTypeError(f"it must be a whole number, 0 or more, not {typed!r}")
    return int(typed)


def _check_free(port: int, option: str) -> None:
    """Raises BadInput unless we may listen on this port of the loopback interface."""
    if _listens(port):
        raise BadInput(
            option,
            f"Port {port} of {LOOPBACK} is in use. Does bin/up run already? "
            f"Otherwise choose another port, such as: bin/up {option} {port + 1 if port < 65535 else port - 1}",
        )
    with socket.socket() as trial:
        trial.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            trial.bind((LOOPBACK, port))
        except OSError as error:
            raise BadInput(
                option, f"Port {port} of {LOOPBACK} cannot be used ({error.strerror}). Choose another with {option}."
            ) from None


def _listens(port: int) -> bool:
    try:
        socket.create_connection((LOOPBACK, port), timeout=2).close()
    except OSError:
        return False
    return True


def _address(port: int) -> str:
    return f"http://{LOOPBACK}:{port}"


def _environment(options: Namespace, redis_url: str) -> dict[str, str]:
    """What the Procfile's processes see."""
    return {
        **os.environ,
        "PORT": str(options.port),
        "PYTHONUNBUFFERED": "1",
        "REDIS_URL": redis_url,
        "RQ_REDIS_URL": redis_url,
        "RQ_DASHBOARD_PORT": str(options.dashboard_port),
    }


def _await_answers(options: Namespace, processes: Processes, ending: Ending) -> None:
    """Until the web page and the dashboard answer. Raises ServiceDown when a process ends instead."""
    deadline = time.monotonic() + PATIENCE
    while not (_web_answers(options.port) and _listens(options.dashboard_port)):
        if ended := processes.ended():
            raise ServiceDown(f"{', '.join(map(str, ended))} ended while it was starting; what it said is above.")
        if time.monotonic() > deadline:
            raise ServiceDown(f"The web page did not answer within {PATIENCE:g} seconds.")
        if ending.wait(0.1):
            return


def _web_answers(port: int) -> bool:
    connection = HTTPConnection(LOOPBACK, port, timeout=5)
    try:
        connection.request("GET", "/healthz")
        return connection.getresponse().status < 500
    except (OSError, HTTPException):
        return False
    finally:
        connection.close()


def _welcome(options: Namespace, data_dir: Path) -> str:
    from crawler.accounts.login_links import make_link  # wants Django's settings

    password = kept_secret(data_dir / "dashboard_password")
    return (
        f"\n  The crawler:         {_address(options.port)}/"
        f"\n  Log in (once):       {make_link(_address(options.port))}"
        f"\n  RQ's dashboard:      {_address(options.dashboard_port)}/  (user admin, password {password})"
        f"\n  Ctrl-C ends all of it.\n"
    )


def _look_after(redis: RedisServer, processes: Processes) -> None:
    """Replace what ended by itself; one that ends again at once is tried less and less often."""
    try:
        if redis.revive():
            print("Redis had ended and was started again.", flush=True)
    except ServiceDown as error:
        print(error, file=sys.stderr)
    for end in processes.ended():
        print(f"{end} ended and is started again{f' in {end.pause:g} s' if end.pause else ''}.", flush=True)
    processes.replace()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
