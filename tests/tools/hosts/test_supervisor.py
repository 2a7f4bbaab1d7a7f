"""The supervisor of a host does to real processes what their units say."""

from __future__ import annotations

import os
import signal
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tools.hosts.supervisor import Service, send
from tools.hosts.units import Unit

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="it reads /proc")

PATIENCE = 20.0  # seconds for anything to happen


@pytest.fixture
def services() -> Iterator[list[Service]]:
    made: list[Service] = []
    yield made
    for service in made:
        service.due = None
        send(service.processes() if service.invocation else [], signal.SIGKILL)
        if service.main is not None:
            os.waitpid(service.main, 0)


def begun(services: list[Service], folder: Path, script: str, **settings: object) -> Service:
    unit = Unit("a", ("/bin/sh", "-c", script), str(folder), **settings)  # type: ignore[arg-type]
    service = Service(unit, folder / "a.log", {})
    services.append(service)
    service.look(time.monotonic())
    return service


def wait_for(what: Callable[[], object], service: Service) -> None:
    until = time.monotonic() + PATIENCE
    while not what():
        assert time.monotonic() < until, service.log.read_text()
        if service.main is not None and os.waitid(os.P_PID, service.main, os.WEXITED | os.WNOHANG | os.WNOWAIT):
            code = os.waitstatus_to_exitcode(os.waitpid(service.main, 0)[1])
            service.ended(code, time.monotonic())
        service.look(time.monotonic())
        time.sleep(0.01)


def test_a_service_is_started_again_and_given_up_beyond_its_limit(services: list[Service], tmp_path: Path) -> None:
    settings = {"restart": "always", "restart_seconds": 0.0, "start_limit_burst": 3}
    service = begun(services, tmp_path, "echo here >> began; exit 1", **settings)
    wait_for(lambda: service.main is None and service.due is None, service)
    assert (tmp_path / "began").read_text() == "here\n" * 3
    assert "given up" in service.log.read_text()


def test_what_a_service_leaves_behind_is_ended_with_it(services: list[Service], tmp_path: Path) -> None:
    service = begun(services, tmp_path, "setsid sleep 60 & touch began; exec sleep 60", kill_mode="mixed")
    wait_for(lambda: (tmp_path / "began").exists() and len(service.processes()) == 2, service)
    send([service.main or 0], signal.SIGKILL)
    wait_for(lambda: not service.processes(), service)


def test_a_stop_by_mixed_asks_the_main_process_alone(services: list[Service], tmp_path: Path) -> None:
    script = "(trap 'touch asked' TERM; touch began; while :; do sleep 0.05; done) & trap 'exit 0' TERM; wait"
    service = begun(services, tmp_path, script, kill_mode="mixed")
    wait_for((tmp_path / "began").exists, service)
    service.stop()
    wait_for(lambda: service.main is None, service)
    assert not (tmp_path / "asked").exists()


def test_a_program_that_cannot_be_run_ends_as_under_systemd(services: list[Service], tmp_path: Path) -> None:
    service = Service(Unit("a", ("/no/such/program",)), tmp_path / "a.log", {})
    services.append(service)
    service.look(time.monotonic())
    wait_for(lambda: service.main is None, service)
    assert "ended with 203" in service.log.read_text()
