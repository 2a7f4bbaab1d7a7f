"""The units in deploy/systemd: systemd takes them, they start what there is, and give it the time it takes to end."""

import re
import shutil
import subprocess
import sys
from configparser import ConfigParser
from pathlib import Path

import pytest
from django.core.management import get_commands, load_command_class
from gunicorn.config import Config
from rq.cli.cli import main as rq_command

from crawler.core.installation.deployment import STOP_SECONDS
from crawler.frontier.leases import RENEW_INTERVAL_S
from crawler.launch.supervisor import STOP_TIMEOUT_S
from crawler.queueing import queues

ROOT = Path(__file__).resolve().parent.parent
FOLDER = ROOT / "deploy" / "systemd"
DEPLOYMENT = (ROOT / "docs" / "deployment.md").read_text()
OF_A_SERVER = sorted(file for name in ("systemd", "nginx", "prometheus") for file in (ROOT / "deploy" / name).iterdir())
SERVICES = sorted(file.name for file in FOLDER.glob("*.service"))
INSTALLED = "/srv/crawler"
TO_SPARE = 2.0  # seconds systemd waits longer than the code needs, for a machine that is busy

WEB, CLOCK, WORKER, AUTOSCALE, STOCK = (
    "crawler-web.service",
    "crawler-clock.service",
    "crawler-worker@.service",
    "crawler-autoscale.service",
    "crawler-stock-worker@.service",
)
SERVICE = {
    "User": "crawler",
    "WorkingDirectory": INSTALLED,
    "EnvironmentFile": "/etc/crawler.env",
    "Restart": "always",
    "KillMode": "mixed",
    "UMask": "0077",
    "CapabilityBoundingSet": "",
    "LockPersonality": "yes",
    "NoNewPrivileges": "yes",
    "PrivateDevices": "yes",
    "ProtectKernelModules": "yes",
    "ProtectKernelTunables": "yes",
    "ReadWritePaths": "/var/lib/crawler",
    "RestrictAddressFamilies": "AF_UNIX AF_INET AF_INET6 AF_NETLINK",
    "SystemCallArchitectures": "native",
}
RUN_BROWSERS = {WORKER, AUTOSCALE}
"""Chromium's sandbox needs user namespaces and chroot, and its scripts memory that is written and executed."""
MOST_EXPOSED = {True: 3.0, False: 2.0}
"""The exposure that `systemd-analyze security` gives at most, from 0 to 10; with browsers and without."""


def unit(name: str) -> ConfigParser:
    """Raises DuplicateOptionError for a directive that stands there twice."""
    parsed = ConfigParser(interpolation=None, delimiters=("=",), comment_prefixes=("#",))
    parsed.optionxform = str  # type: ignore[assignment, method-assign]
    parsed.read_string((FOLDER / name).read_text())
    return parsed


def command(name: str) -> list[str]:
    return unit(name)["Service"]["ExecStart"].split()


def seconds_to_stop(name: str) -> float:
    return float(unit(name)["Service"]["TimeoutStopSec"])


def test_there_is_a_unit_for_each_process() -> None:
    assert set(SERVICES) == {WEB, CLOCK, WORKER, AUTOSCALE, STOCK}


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="there is no systemd-analyze on this machine")
def test_systemd_knows_every_directive(tmp_path: Path) -> None:
    for file in FOLDER.iterdir():
        text = file.read_text().replace(f"{INSTALLED}/.venv/bin", str(Path(sys.executable).parent))
        (tmp_path / file.name).write_text(text.replace(INSTALLED, str(ROOT)))
    units = sorted(str(file) for file in tmp_path.iterdir())
    verified = subprocess.run(["systemd-analyze", "verify", *units], check=False, capture_output=True, text=True)
    said = [line for line in (verified.stdout + verified.stderr).splitlines() if "crawler" in line]
    assert (verified.returncode, said) == (0, [])


@pytest.mark.parametrize("name", SERVICES)
def test_a_service_is_started_again_for_ever_and_stopped_with_the_others(name: str) -> None:
    service = unit(name)
    assert dict(service["Service"]).items() >= SERVICE.items()
    assert float(service["Service"]["RestartSec"]) > 0
    assert service["Unit"]["StartLimitIntervalSec"] == "0"
    assert (service["Unit"]["PartOf"], service["Install"]["WantedBy"]) == ("crawler.target", "crawler.target")


@pytest.mark.parametrize("name", SERVICES)
def test_only_services_with_browsers_may_do_what_a_browser_needs(name: str) -> None:
    service = unit(name)["Service"]
    restricted = {"MemoryDenyWriteExecute", "RestrictNamespaces"} & set(service)
    assert restricted == (set() if name in RUN_BROWSERS else {"MemoryDenyWriteExecute", "RestrictNamespaces"})
    assert service["SystemCallFilter"].split() == ["@system-service", *(["chroot"] if name in RUN_BROWSERS else [])]


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="there is no systemd-analyze on this machine")
@pytest.mark.parametrize("name", SERVICES)
def test_systemd_finds_little_that_is_exposed(name: str) -> None:
    command = ["systemd-analyze", "security", "--offline=true", str(FOLDER / name)]
    examined = subprocess.run(command, check=False, capture_output=True, text=True)
    found = re.search(r"exposure level for \S+: ([\d.]+)", examined.stdout)
    if found is None:
        pytest.skip("this systemd-analyze does not examine files")
    assert float(found[1]) <= MOST_EXPOSED[name in RUN_BROWSERS]


@pytest.mark.parametrize("name", SERVICES)
def test_a_service_starts_a_program_that_is_there(name: str) -> None:
    program = Path(command(name)[0])
    assert program.is_relative_to(INSTALLED)
    bin_of = ROOT if program.parent == Path(INSTALLED, "bin") else Path(sys.executable).parent.parent
    assert (bin_of / "bin" / program.name).exists()


def test_the_programs_understand_their_arguments() -> None:
    gunicorn, python, rq = command(WEB), command(CLOCK), command(STOCK)
    assert Config().parser().parse_args(gunicorn[1:]).args == ["crawler.settings.wsgi"]
    assert (python[1:2], get_commands()[python[2]]) == (["manage.py"], "crawler")
    assert rq_command.commands[rq[1]].make_context(rq[1], rq[2:]).params["queues"] == ("crawl", "fetch")
    assert command(WORKER)[1:] == []


def test_the_autoscaler_understands_its_range() -> None:
    _, manage, name, *arguments = command(AUTOSCALE)
    assert (manage, get_commands()[name]) == ("manage.py", "crawler")
    given = vars(load_command_class("crawler", name).create_parser(manage, name).parse_args(arguments))
    assert 0 <= given["min"] < given["max"]


def test_systemd_waits_as_long_as_a_worker_may_take_to_end_and_hardly_longer() -> None:
    assert seconds_to_stop(WORKER) == STOP_SECONDS + TO_SPARE
    # The job of a stock worker reads of the request when it renews its lease.
    assert 0 <= seconds_to_stop(STOCK) - (RENEW_INTERVAL_S + STOP_SECONDS + TO_SPARE) < 1


def test_systemd_waits_as_long_as_an_autoscaler_may_take_to_end_with_its_workers() -> None:
    redis_timeout_s = queues._connect("redis://127.0.0.1:1/0").connection_pool.connection_kwargs["socket_timeout"]
    assert seconds_to_stop(AUTOSCALE) == redis_timeout_s + STOP_TIMEOUT_S + TO_SPARE


def test_systemd_waits_as_long_as_gunicorn_does_for_its_requests() -> None:
    grace = Config().parser().parse_args(command(WEB)[1:]).graceful_timeout
    assert seconds_to_stop(WEB) > grace + TO_SPARE


@pytest.mark.parametrize("file", OF_A_SERVER, ids=lambda file: file.name)
def test_the_documentation_has_every_file_installed(file: Path) -> None:
    assert f"deploy/{file.parent.name}/" in DEPLOYMENT
    assert file.name in DEPLOYMENT or f"deploy/{file.parent.name}/*" in DEPLOYMENT
