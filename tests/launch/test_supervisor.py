"""Programs that exit are restarted, after growing pauses."""

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from crawler.launch.process_group import Children
from crawler.launch.supervisor import ExitedProcess, ManagedProcess, Supervisor, next_pause
from tests.launch.conftest import eventually


@pytest.mark.parametrize(
    ("ran", "pause", "expected"),
    [
        (3600.0, 0.0, 0.0),  # it did its work: at once
        (3600.0, 30.0, 0.0),  # it has recovered
        (0.2, 0.0, 1.0),
        (0.2, 1.0, 2.0),
        (0.2, 16.0, 30.0),
        (0.2, 30.0, 30.0),
    ],
)
def test_a_program_that_keeps_ending_is_started_less_and_less_often(ran: float, pause: float, expected: float) -> None:
    assert next_pause(ran, pause) == expected


def test_a_program_that_ended_is_noticed_once_and_waits_for_its_time(tmp_path: Path) -> None:
    with Children(grace=1.0) as children:
        supervisor = Supervisor(children)
        starts: list[str] = []
        supervisor.add(ManagedProcess("short", _starter(children, tmp_path, starts)))
        supervisor.fill()
        ended: list[ExitedProcess] = []
        assert eventually(lambda: bool(ended.extend(supervisor.ended()) or ended))
        assert ended == [ExitedProcess("short", 3, pause=1.0)]
        assert str(ended[0]) == "short (exit code 3)"

        supervisor.fill()
        assert starts == ["short"]  # not yet
        assert eventually(lambda: bool(supervisor.fill() or len(starts) == 2))


def _starter(children: Children, folder: Path, starts: list[str]) -> Callable[[], subprocess.Popen[bytes]]:
    def start() -> subprocess.Popen[bytes]:
        starts.append("short")
        return children.start(["sh", "-c", "exit 3"], output=subprocess.DEVNULL, directory=folder)

    return start
