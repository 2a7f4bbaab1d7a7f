"""What a host of the crawler runs: units of deploy/systemd or containers of deploy/compose.yaml, and their settings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from tests.stack import ROOT
from tools.hosts.containers import read_container, secret_files
from tools.hosts.host import Host
from tools.hosts.units import Unit, read_unit

UNITS = ROOT / "deploy" / "systemd"
MOST = 2  # workers that an autoscaler may run
RANGE = ("--min", "0", "--max", str(MOST))
AUTOSCALER_STOP_SECONDS = 20.0
OF_MACHINE = ("DJANGO_SETTINGS_MODULE", "CRAWLER_DATA_DIR", "RQ_REDIS_URL")  # a container has its own
SERVICES = {"worker@": "worker", "autoscale": "worker"}  # name of a unit -> service of the compose file


def environment_of(postgresql: str, redis_url: str, data: Path) -> dict[str, str]:
    """What docs/deployment.md puts into /etc/crawler.env; containers have their own of some."""
    return {
        "DJANGO_SETTINGS_MODULE": "settings.production",
        "SECRET_KEY": "secret-1-" * 8,
        "CRAWLER_WEBHOOK_SECRET": "secret-2",
        "CRAWLER_METRICS_TOKEN": "secret-3",
        "ALLOWED_HOSTS": "*",
        "CRAWLER_BASE_URL": "https://crawler.example.com",
        "DATABASE_URL": postgresql,
        "REDIS_URL": redis_url,
        "RQ_REDIS_URL": redis_url,
        "CRAWLER_DATA_DIR": str(data),
        "CRAWLER_CONTACT": "https://example.com/about-our-crawler",
        "CRAWLER_LOG_FORMAT": "json",
    }


def in_units(host: Host, services: Sequence[str], values: Mapping[str, str], data: Path) -> None:
    """Give a host the units of deploy/systemd."""
    file = host.folder / f"{host.name}.env"
    file.write_text("".join(f"{key}={value}\n" for key, value in values.items()))
    moved = {"/srv/crawler": str(ROOT), "/etc/crawler.env": str(file), "/var/lib/crawler": str(data)}
    units = [read_unit(UNITS / f"crawler-{service}.service", moved, "1") for service in services]
    host.units = [_in_range(unit) if "autoscale" in unit.command else unit for unit in units]


def _in_range(unit: Unit) -> Unit:
    """With another range than the file's."""
    command = unit.command[: unit.command.index("autoscale") + 1]
    return replace(unit, command=(*command, *RANGE))


def in_containers(host: Host, services: Sequence[str], values: Mapping[str, str], data: Path) -> None:
    """Give a host the containers of deploy/compose.yaml; an autoscaler is one for workers with another command, which
    takes longer to end, as docs/containers.md has it."""
    secrets = host.folder / f"{host.name}-secrets"
    secrets.mkdir()
    host.root = (host.folder / host.name / "root", data, secrets)
    given = {key: value for key, value in values.items() if key not in OF_MACHINE}
    units = []
    for service in services:
        name = SERVICES.get(service, service)
        for file, value in secret_files(name, given).items():
            (secrets / file).write_text(value)
        unit = read_container(name, host.root[0], given, ["autoscale", *RANGE] if service == "autoscale" else None)
        units.append(replace(unit, stop_seconds=AUTOSCALER_STOP_SECONDS) if service == "autoscale" else unit)
    host.units = units
