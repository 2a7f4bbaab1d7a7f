"""Build the container image and run the services of deploy/compose.yaml on this machine, to finished crawls and back.

For root on Debian. Installs what is missing of podman and debootstrap, and makes images of PostgreSQL, Valkey and
Python from Debian's packages where they cannot be pulled. The containers have storage and a network of their own, so
that they meet no other containers or ports of this machine. Ends with code 0 if every promise was kept.
"""

import argparse
import fcntl
import os
import shutil
import signal
import sys
import time
from pathlib import Path

from tools.containers.engine import COMPOSE_FILE, Engine
from tools.containers.images import DEBIAN, MIRROR, ROOT
from tools.containers.machine import Failed, Machine, Network, missing
from tools.containers.trial import Trial, say

LOG = "deploy-try.log"
FOLDER = Path("/var/cache/site-crawler-try")
CLEANING_S = 240.0  # beyond --minutes, for removing everything
EPILOG = """\
Arguments behind -- go to `podman build`. Where pip needs a certificate of your own:

    deploy/try -- --volume=/etc/ssl/certs:/etc/ssl/certs:ro --volume=/etc/pip.conf:/etc/pip.conf:ro
"""


def main(arguments: list[str]) -> int:
    given = _parser().parse_args(arguments)
    if os.geteuid() != 0 or not shutil.which("apt-get"):
        say("deploy/try: it must be run by root on Debian, or a system derived from it.")
        return 2
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.default_int_handler)
    folder: Path = given.folder.resolve()
    folder.mkdir(parents=True, exist_ok=True)
    if any(folder.iterdir()) and not (folder / LOG).exists():
        say(f"deploy/try: {folder} has files that are not of deploy/try, which deletes the folder. Name another one.")
        return 2
    with (folder / LOG).open("a") as log:
        try:
            fcntl.flock(log, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            say(f"deploy/try: another one runs in {folder}.")
            return 2
        return _in_folder(folder, given)


def _in_folder(folder: Path, given: argparse.Namespace) -> int:
    """The exit code. In the end the folder is deleted, unless it is to be kept."""
    started = time.monotonic()
    machine = Machine(folder / LOG, given.minutes * 60)
    try:
        return _run(given, machine, folder, started)
    except Failed as error:
        say(f"deploy/try: {error}")
        return 1
    except KeyboardInterrupt:
        say("deploy/try: interrupted")
        return 130
    finally:
        if given.keep:
            say(f"Images and log are kept in {folder}.")
        else:
            shutil.rmtree(folder)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="deploy/try", description=__doc__, epilog=EPILOG, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--keep", action="store_true", help="keep images and log, for the next time")
    parser.add_argument("--folder", type=Path, default=FOLDER, help="where (%(default)s)")
    parser.add_argument("--no-pull", action="store_true", help="make all images from Debian's packages")
    parser.add_argument("--mirror", default=MIRROR, metavar="URL", help=f"of Debian {DEBIAN} (%(default)s)")
    parser.add_argument("--minutes", type=float, default=40, metavar="N", help="end after this time (%(default)s)")
    parser.add_argument("build", nargs="*", metavar="-- ARGUMENT", help="for `podman build`")
    return parser


def _run(given: argparse.Namespace, machine: Machine, folder: Path, started: float) -> int:
    if packages := missing():
        say(f"Installing {' '.join(packages)}")
        machine.variables["DEBIAN_FRONTEND"] = "noninteractive"
        machine.run("apt-get", "update", limit=180)
        machine.run("apt-get", "install", "--yes", "--no-install-recommends", *packages, limit=600)
    machine.folder = _copy(folder)
    network = Network(machine, given.minutes * 60 + CLEANING_S)
    try:
        trial = _tried(given, machine, folder, network)
    finally:
        network.end()
    broken = [check for check in trial.checks if not check.is_kept]
    kept, seconds = len(trial.checks) - len(broken), time.monotonic() - started
    say(f"{'NOT all' if broken else 'All'} promises were kept: {kept} of {len(trial.checks)}, in {seconds:.0f} s.")
    return 1 if broken else 0


def _tried(given: argparse.Namespace, machine: Machine, folder: Path, network: Network) -> Trial:
    """All steps. Whatever happens, no container is left."""
    engine = Engine(machine, folder, network)
    trial = Trial(machine, engine, network, folder)
    engine.install_compose()
    engine.remove_all()  # of a run that was killed
    try:
        trial.build(given.mirror, given.build, may_pull=not given.no_pull)
        machine.variables["CRAWLER_PRIVATE_HOSTS"] = "site"
        with engine.health_checked():
            trial.start()
            trial.confine()
            trial.crawl()
            trial.scale()
            trial.render()
            trial.stop()
    except Failed:
        trial.show_logs()
        raise
    finally:
        machine.deadline = time.monotonic() + CLEANING_S
        engine.remove_all()  # what a failed run has left
        if not given.keep:
            engine.remove_storage()
    return trial


def _copy(folder: Path) -> Path:
    """A copy of what makes the image and the services, so that the trial's secrets are in no folder of the user's."""
    copy = folder / "project"
    shutil.rmtree(copy, ignore_errors=True)
    let_through = [line[1:] for line in (ROOT / ".dockerignore").read_text().splitlines() if line.startswith("!")]
    for name in (".dockerignore", "deploy/Containerfile", COMPOSE_FILE, *let_through):
        (copy / name).parent.mkdir(parents=True, exist_ok=True)
        if (ROOT / name).is_dir():
            shutil.copytree(ROOT / name, copy / name, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy2(ROOT / name, copy / name)
    return copy


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
