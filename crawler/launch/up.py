"""`bin/up`: the database, the embedded Redis unless REDIS_URL names one, and the Procfile's processes, until Ctrl-C."""

from __future__ import annotations

import os
import socket
import sys
import time
from argparse import ArgumentParser, ArgumentTypeError, Namespace
from contextlib import suppress
from http.client import HTTPConnection, HTTPException
from pathlib import Path

import django
from django.core.exceptions import ImproperlyConfigured

from crawler import conf
from crawler.command_names import as_typed
from crawler.core.errors import BadInput, CrawlerError, ServiceDown
from crawler.core.protocol.lanes import lanes
from crawler.extras import DASHBOARD
from crawler.launch import procfile
from crawler.launch.autoscale import Autoscaler, useful_workers_here
from crawler.launch.embedded_redis import RedisServer
from crawler.launch.process_group import StopSignal
from crawler.launch.services import apply_migrations, ensure_redis
from crawler.launch.supervisor import AUTO, WORKER, Processes, WorkerRange
from crawler.management.parsers import new_parser
from crawler.running import announced, settings_of_workers
from crawler.settings.environment import ROOT, given_redis_url, kept_secret

LOOPBACK = "127.0.0.1"
DASHBOARD_PORT = 9181
STARTUP_TIMEOUT_S = 60.0  # until the web server first answers


def main(arguments: list[str]) -> int:
    options = parser().parse_args(arguments)
    stop = StopSignal()
    try:
        run(options, stop)
    except BadInput as error:
        print(as_typed(str(error)), file=sys.stderr)
        return 2
    except (CrawlerError, ImproperlyConfigured) as error:
        print(as_typed(str(error)), file=sys.stderr)
        return 1
    return stop.exit_code


def run(options: Namespace, stop: StopSignal) -> None:
    """1. Both ports must be free. 2. Database and Redis. 3. Start the processes; print the addresses once they answer.
    4. Restart processes that exit, until a signal stops the command."""
    _check_free(options.port, "--port")
    _choose_dashboard(options)
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "crawler.settings.development")
    os.environ.setdefault("CRAWLER_BASE_URL", _address(options.port))
    django.setup()
    apply_migrations()
    given = settings_of_workers(os.environ)
    with (
        ensure_redis(conf.data_dir(), given_redis_url()) as redis,
        announced(conf.data_dir(), _address(options.port), redis.url, given),
        Processes(
            ROOT / "Procfile", options.workers, _environment(options, redis.url), commands=_commands()
        ) as processes,
        useful_workers_here(options.workers) as useful,
    ):
        _await_answers(options, processes, stop)
        if not stop.received:
            print(_welcome(options, conf.data_dir()), flush=True)
        autoscaler = Autoscaler(options.workers, useful, processes.keep_workers)
        while not stop.wait(1.0):
            if autoscaler.check():
                print(f"Workers: {autoscaler.number}.", flush=True)
            _restart_ended(redis, processes)
        print("Stopping ...", flush=True)


DESCRIPTION = """\
Start the crawler on this machine: Redis unless REDIS_URL names one, the web server, workers, the clock and
RQ's dashboard. It prints the address and a one-time login link. Ctrl-C stops everything."""

EPILOG = """\
examples:
  bin/up
  bin/up --port 8080 --workers 0-8

exit codes:
  1    a service is down, or a process did not start
  2    invalid arguments, or a port is in use
  130  stopped by Ctrl-C (143 by SIGTERM)
"""


def parser() -> ArgumentParser:
    parser = new_parser("bin/up", DESCRIPTION, EPILOG)
    parser.add_argument("--port", type=_port, default=8000, metavar="N", help="port of the web server (default: 8000)")
    parser.add_argument(
        "--workers",
        type=WorkerRange.parse,
        default=AUTO,
        metavar="N|A-B|auto",
        help="number, or a range to scale in; auto: 1 to the number of cores (default)",
    )
    parser.add_argument(
        "--dashboard-port", type=_port, metavar="N", help=f"port of RQ's dashboard (default: {DASHBOARD_PORT})"
    )
    return parser


def _choose_dashboard(options: Namespace) -> None:
    """Leave it out if it is not installed. Raises BadInput if its port is named then, or is in use."""
    if DASHBOARD.is_installed:
        options.dashboard_port = options.dashboard_port or DASHBOARD_PORT
        _check_free(options.dashboard_port, "--dashboard-port")
    elif options.dashboard_port is not None:
        raise BadInput("--dashboard-port", DASHBOARD.missing)


def _port(typed: str) -> int:
    if not (typed.isascii() and typed.isdigit() and 1 <= int(typed) <= 65535):
        raise ArgumentTypeError(f"a port is a number from 1 to 65535, not {typed!r}")
    return int(typed)


def _check_free(port: int, option: str) -> None:
    """Raises BadInput unless this port of the loopback interface is free."""
    if _listens(port):
        raise BadInput(
            option,
            f"Port {port} of {LOOPBACK} is in use. Is bin/up running already? "
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
    """The environment of the Procfile's processes."""
    return {
        **os.environ,
        "PORT": str(options.port),
        "PYTHONUNBUFFERED": "1",
        "REDIS_URL": redis_url,
        "RQ_REDIS_URL": redis_url,
        "RQ_DASHBOARD_PORT": str(options.dashboard_port or DASHBOARD_PORT),
    }


def _commands() -> dict[str, str]:
    """The Procfile's commands of what is installed, and a worker for each lane that has here what it needs."""
    commands = procfile.commands()
    if not DASHBOARD.is_installed:
        del commands["dashboard"]
    for lane in lanes()[1:]:
        with suppress(CrawlerError):
            lane.require()
            commands[lane.name.lower()] = f"{commands[WORKER]} --{lane.queue}"
    return commands


def _await_answers(options: Namespace, processes: Processes, stop: StopSignal) -> None:
    """Wait until the web server and the dashboard answer. Raises ServiceDown if a process exits instead."""
    deadline = time.monotonic() + STARTUP_TIMEOUT_S
    ports = [options.dashboard_port] if options.dashboard_port else []
    while not (_web_answers(options.port) and all(map(_listens, ports))):
        if ended := processes.ended():
            raise ServiceDown(f"{', '.join(map(str, ended))} exited during the start; the output is above.")
        if time.monotonic() > deadline:
            raise ServiceDown(f"The web server did not respond within {STARTUP_TIMEOUT_S:g} seconds.")
        if stop.wait(0.1):
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
    from crawler.accounts.login_links import make_link  # needs Django's settings

    return (
        f"\n  The crawler:         {_address(options.port)}/"
        f"\n  Log in (once):       {make_link(_address(options.port))}"
        f"\n  RQ's dashboard:      {_dashboard(options, data_dir)}"
        f"\n  Ctrl-C stops everything.\n"
    )


def _dashboard(options: Namespace, data_dir: Path) -> str:
    """Where it is, or how to get it."""
    if not options.dashboard_port:
        return f"not installed ({DASHBOARD.install_line()})"
    file = data_dir / "dashboard_password"
    password = kept_secret(file) if sys.stdout.isatty() else f"in {file}"  # other outputs may be logs
    return f"{_address(options.dashboard_port)}/  (user admin, password {password})"


def _restart_ended(redis: RedisServer, processes: Processes) -> None:
    """Restart what exited; a program that exits again at once is restarted after growing pauses."""
    try:
        if redis.revive():
            print("Redis stopped and was restarted.", flush=True)
    except ServiceDown as error:
        print(error, file=sys.stderr)
    for end in processes.ended():
        print(f"{end} exited and is restarted{f' in {end.pause:g} s' if end.pause else ''}.", flush=True)
    processes.replace()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
