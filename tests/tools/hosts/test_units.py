"""A unit file says to the supervisor of a host what it says to systemd."""

from __future__ import annotations

from pathlib import Path

import pytest

from tools.hosts.deployed import UNITS
from tools.hosts.units import Unit, read_environment, read_unit, seconds

MOVED = {"/srv/crawler": "/here", "/etc/crawler.env": "/here/env"}

FULL = """
[Unit]
Description=A service %i
StartLimitIntervalSec=0
[Service]
# a remark
WorkingDirectory=/srv/crawler
EnvironmentFile=/etc/crawler.env
Environment=A=1 "B=two words"
ExecStart=/srv/crawler/bin/worker --name %i \\
    --quiet
Restart=always
RestartSec=2
KillMode=mixed
KillSignal=SIGINT
TimeoutStopSec=1min 30s
"""


def unit(folder: Path, text: str, name: str = "a@.service", instance: str = "7") -> Unit:
    (folder / name).write_text(text)
    return read_unit(folder / name, MOVED, instance)


def test_every_setting_is_read(tmp_path: Path) -> None:
    assert unit(tmp_path, FULL) == Unit(
        name="a@7",
        command=("/here/bin/worker", "--name", "7", "--quiet"),
        directory="/here",
        environment_files=("/here/env",),
        environment=(("A", "1"), ("B", "two words")),
        restart="always",
        restart_seconds=2.0,
        start_limit_seconds=0.0,
        kill_mode="mixed",
        kill_signal="SIGINT",
        stop_seconds=90.0,
    )


def test_what_a_file_leaves_out_is_as_systemd_has_it(tmp_path: Path) -> None:
    bare = unit(tmp_path, "[Service]\nExecStart=/bin/true")
    assert (bare.restart, bare.restart_seconds) == ("no", 0.1)
    assert (bare.start_limit_seconds, bare.start_limit_burst) == (10.0, 5)
    assert (bare.kill_mode, bare.kill_signal, bare.stop_seconds) == ("control-group", "SIGTERM", 90.0)


def test_a_path_is_moved_as_a_whole(tmp_path: Path) -> None:
    assert unit(tmp_path, "[Service]\nExecStart=/srv/crawlers/run").command == ("/srv/crawlers/run",)


@pytest.mark.parametrize("text", ["[Service]\n", "[Service]\nExecStart=/bin/true\nKillMode=all"])
def test_what_systemd_would_refuse_is_refused(tmp_path: Path, text: str) -> None:
    with pytest.raises(ValueError, match=r"a@.service"):
        unit(tmp_path, text)


@pytest.mark.parametrize(
    ("text", "span"), [("15", 15.0), ("100ms", 0.1), ("5min 20s", 320.0), ("1h", 3600.0), ("infinity", float("inf"))]
)
def test_a_time_span_is_read(text: str, span: float) -> None:
    assert seconds(text) == span


@pytest.mark.parametrize(
    ("restart", "again"),
    [
        ("always", [0, 1, -9, -15]),
        ("on-failure", [1, -9]),
        ("on-success", [0, -15]),
        ("on-abort", [-9]),
        ("no", []),
    ],
)
def test_it_is_restarted_after(restart: str, again: list[int]) -> None:
    service = Unit("a", ("/bin/true",), restart=restart)
    assert [code for code in (0, 1, -9, -15) if service.is_restarted(code)] == again


def test_starts_in_quick_succession_are_limited_unless_the_unit_says_otherwise() -> None:
    limited = Unit("a", ("/bin/true",))
    assert limited.may_start([1, 2, 3, 4], now=5)
    assert not limited.may_start([1, 2, 3, 4, 5], now=6)
    assert limited.may_start([1, 2, 3, 4, 5], now=11.5)
    assert Unit("a", ("/bin/true",), start_limit_seconds=0).may_start([1.0] * 50, now=1)


def test_an_environment_file_is_read() -> None:
    text = "# a remark\nA=1\nURL=redis://:a@b/0?x=1\nQUOTED='s3://b?c=d&e=f'\n\nEMPTY=\n"
    assert read_environment(text) == {"A": "1", "URL": "redis://:a@b/0?x=1", "QUOTED": "s3://b?c=d&e=f", "EMPTY": ""}


@pytest.mark.parametrize("file", sorted(UNITS.glob("*.service")), ids=lambda file: file.name)
def test_the_units_of_the_project_can_be_run_here(file: Path) -> None:
    service = read_unit(file, {"/srv/crawler": "/here", "/etc/crawler.env": "/here/env"}, "1")
    assert service.command[0].startswith("/here/")
    assert service.environment_files == ("/here/env",)
    assert service.restart == "always"
    assert service.may_start([0.0] * 50, now=1.0)
