"""A service of a host, and what a unit file of deploy/systemd says of it: systemd.service(5), systemd.kill(5)."""

from __future__ import annotations

import configparser
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

UNITS = Path(__file__).resolve().parents[3] / "deploy" / "systemd"
MOST = 2  # workers that an autoscaler may run
RANGE = ("--min", "0", "--max", str(MOST))

_SUPERVISED = {
    ("Service", "Restart"): "always",
    ("Service", "KillMode"): "mixed",
    ("Unit", "StartLimitIntervalSec"): "0",
}
"""What the supervisor of a host does, and so a unit must say."""


@dataclass(frozen=True)
class Unit:
    """One service, which is always started again. Its main process gets the signal to stop, and when that has ended
    the rest of it is killed. Times are in seconds."""

    name: str
    command: tuple[str, ...]
    directory: str = "/"
    environment_file: str = ""
    environment: tuple[tuple[str, str], ...] = ()
    restart_seconds: float = 0.1
    stop_signal: str = "SIGTERM"
    stop_seconds: float = 90.0  # from the signal to SIGKILL
    root: str = ""  # the folder that is its "/"; "" = that of the machine


def units_of(name: str, services: Sequence[str], values: Mapping[str, str], data: Path, folder: Path) -> list[Unit]:
    """The units of deploy/systemd that a host runs, with these settings. An autoscaler has a range of its own."""
    settings = folder / f"{name}.env"
    settings.write_text("".join(f"{key}={value}\n" for key, value in values.items()))
    moved = {"/srv/crawler": str(UNITS.parents[1]), "/etc/crawler.env": str(settings), "/var/lib/crawler": str(data)}
    return [read_unit(UNITS / f"crawler-{service}.service", moved) for service in services]


def read_unit(file: Path, moved: Mapping[str, str]) -> Unit:
    """`moved`: path as the file names it -> where that lies here. Raises ValueError where the unit says what the
    supervisor does not do."""
    parser = configparser.RawConfigParser(delimiters="=", comment_prefixes=("#", ";"))
    parser.optionxform = str  # type: ignore[assignment,method-assign]
    text = file.read_text().replace("\\\n", " ").replace("%i", "1")
    for there, here in moved.items():
        text = text.replace(there, here)
    parser.read_string(text)
    for (section, option), value in _SUPERVISED.items():
        if parser[section].get(option) != value:
            raise ValueError(f"{file.name}: the hosts of these tests know only {option}={value}")
    service = parser["Service"]
    command = tuple(shlex.split(service["ExecStart"]))
    if "autoscale" in command:
        command = (*command[: command.index("autoscale") + 1], *RANGE)
    return Unit(
        name=file.name.removesuffix(".service").replace("@", "@1"),
        command=command,
        directory=service["WorkingDirectory"],
        environment_file=service["EnvironmentFile"],
        restart_seconds=float(service["RestartSec"]),
        stop_seconds=float(service["TimeoutStopSec"]),
    )


def read_environment(text: str) -> dict[str, str]:
    """What an EnvironmentFile holds: a NAME=value a line."""
    return dict(line.split("=", 1) for line in text.splitlines())
