"""What a systemd unit file says of how its service is run: the part of it that the supervisor of a host honours.

systemd.service(5), systemd.unit(5), systemd.kill(5) and systemd.exec(5) describe the settings.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

_UNITS = {"": 1.0, "s": 1.0, "sec": 1.0, "ms": 0.001, "min": 60.0, "m": 60.0, "h": 3600.0}
_KILL_MODES = frozenset({"control-group", "mixed", "process", "none"})
_RESTARTS = frozenset({"no", "always", "on-failure", "on-abnormal", "on-abort", "on-success", "on-watchdog"})


@dataclass(frozen=True)
class Unit:
    """One service. Times are in seconds."""

    name: str
    command: tuple[str, ...]
    directory: str = "/"
    environment_files: tuple[str, ...] = ()
    environment: tuple[tuple[str, str], ...] = ()
    restart: str = "no"
    restart_seconds: float = 0.1
    start_limit_seconds: float = 10.0  # 0 = starts are not limited
    start_limit_burst: int = 5
    kill_mode: str = "control-group"
    kill_signal: str = "SIGTERM"
    stop_seconds: float = 90.0  # from the signal to SIGKILL
    root: str = ""  # the folder that is its "/"; "" = that of the machine

    def is_restarted(self, code: int) -> bool:
        """Whether it is started again after its main process ended, with an exit code or minus a signal's number."""
        is_clean = code in (0, -1, -2, -13, -15)  # also SIGHUP, SIGINT, SIGPIPE and SIGTERM
        match self.restart:
            case "always":
                return True
            case "on-success":
                return is_clean
            case "on-failure":
                return not is_clean
            case "on-abnormal":
                return code < 0 and not is_clean
            case "on-abort":
                return code < 0 and not is_clean
            case _:
                return False

    def may_start(self, starts: Sequence[float], now: float) -> bool:
        """Whether another start is within the limit, after `starts` at these moments."""
        if self.start_limit_seconds <= 0:
            return True
        return sum(1 for at in starts if now - at < self.start_limit_seconds) < self.start_limit_burst


def read_unit(file: Path, moved: Mapping[str, str], instance: str = "") -> Unit:
    """The service of a unit file. `moved`: path as the file names it -> where that lies here. `instance`: what stands
    behind the "@" of a template's name.

    Raises ValueError for what systemd would refuse.
    """
    name = file.name.removesuffix(".service").replace("@", f"@{instance}")
    told = list(_settings(file.read_text(), {"%i": instance, "%n": f"{name}.service", "%%": "%"}))
    last = dict(told)
    if "Service.ExecStart" not in last:
        raise ValueError(f"{file.name} has no ExecStart")
    usual = Unit("", ())
    unit = Unit(
        name=name,
        command=tuple(_here(word, moved) for word in shlex.split(last["Service.ExecStart"].lstrip("-@:+!"))),
        directory=_here(last.get("Service.WorkingDirectory", usual.directory), moved),
        environment_files=tuple(_here(path, moved) for path in _every(told, "Service.EnvironmentFile")),
        environment=tuple(
            (pair.partition("=")[0], pair.partition("=")[2])
            for line in _every(told, "Service.Environment")
            for pair in shlex.split(line)
        ),
        restart=last.get("Service.Restart", usual.restart),
        restart_seconds=seconds(last.get("Service.RestartSec", "100ms")),
        start_limit_seconds=seconds(last.get("Unit.StartLimitIntervalSec", "10")),
        start_limit_burst=int(last.get("Unit.StartLimitBurst", usual.start_limit_burst)),
        kill_mode=last.get("Service.KillMode", usual.kill_mode),
        kill_signal=last.get("Service.KillSignal", usual.kill_signal),
        stop_seconds=seconds(last.get("Service.TimeoutStopSec", last.get("Service.TimeoutSec", "90"))),
        root=last.get("Service.RootDirectory", usual.root),
    )
    if unit.kill_mode not in _KILL_MODES or unit.restart not in _RESTARTS:
        raise ValueError(f"{file.name}: KillMode={unit.kill_mode} with Restart={unit.restart} is not known")
    return unit


def seconds(text: str) -> float:
    """A time span, such as "5min 20s", "100ms" or "15"; "infinity" has no end."""
    if text.strip() == "infinity":
        return float("inf")
    parts = re.findall(r"([\d.]+)\s*([a-z]*)", text)
    if not parts:
        raise ValueError(f"{text!r} is no time span")
    return sum(float(number) * _UNITS[unit] for number, unit in parts)


def read_environment(text: str) -> dict[str, str]:
    """What an EnvironmentFile holds: a NAME=value a line, the value quoted or not."""
    found = {}
    for line in text.splitlines():
        name, sign, value = line.strip().partition("=")
        if sign and not name.startswith(("#", ";")):
            found[name.strip()] = "".join(shlex.split(value)) if value[:1] in {"'", '"'} else value.strip()
    return found


def _settings(text: str, specifiers: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """ "Section.Name" and value of each line, in order."""
    section = ""
    for line in text.replace("\\\n", " ").splitlines():
        line = line.strip()  # noqa: PLW2901 (the same line, bare)
        if line.startswith("[") and line.endswith("]"):
            section = line[1:-1]
        elif line and not line.startswith(("#", ";")):
            name, _, value = line.partition("=")
            value = re.sub(r"%[a-z%]", lambda found: specifiers.get(found[0], found[0]), value.strip())
            yield f"{section}.{name.strip()}", value


def _every(told: Sequence[tuple[str, str]], wanted: str) -> list[str]:
    """All values of a setting that may be given repeatedly; an empty one forgets those before it."""
    values: list[str] = []
    for name, value in told:
        if name == wanted:
            values = [*values, value] if value else []
    return values


def _here(text: str, moved: Mapping[str, str]) -> str:
    for there, here in moved.items():
        if text == there or text.startswith(f"{there}/"):
            return here + text[len(there) :]
    return text
