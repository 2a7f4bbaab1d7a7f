"""Children end with their owner, however it ends."""

import ctypes
import os
import signal
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import pytest

from crawler.launch import process_group as children_module
from crawler.launch.process_group import Child, Children, join
from crawler.launch.watchdog import living
from tests.launch.conftest import StartOwner, eventually, first_line, is_alive
from tests.stack import ROOT


def test_a_child_is_gone_when_its_owner_was_killed(start_owner: StartOwner) -> None:
    owner = start_owner("sleeper")
    child = int(first_line(owner))
    assert is_alive(child)

    owner.kill()

    assert eventually(lambda: not is_alive(child))


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_a_child_is_gone_when_its_owner_was_ended(start_owner: StartOwner, number: signal.Signals) -> None:
    owner = start_owner("sleeper")
    child = int(first_line(owner))

    owner.send_signal(number)

    assert eventually(lambda: not is_alive(child))


def test_a_child_that_does_not_listen_goes_with_all_it_started(start_owner: StartOwner) -> None:
    owner = start_owner("stubborn")
    child, grandchild = map(int, first_line(owner).split())

    owner.kill()

    assert eventually(lambda: not is_alive(child) and not is_alive(grandchild))


def test_stopping_returns_when_all_are_gone(tmp_path: Path) -> None:
    with Children(grace=5.0) as children:
        started = [
            children.start(["sleep", "600"], output=subprocess.DEVNULL, directory=tmp_path).pid for _ in range(3)
        ]
    assert not any(is_alive(pid) for pid in started)


def test_a_child_hears_no_ctrl_c_of_its_owners_terminal(tmp_path: Path) -> None:
    with Children(grace=5.0) as children:
        child = children.start(["sleep", "600"], output=subprocess.DEVNULL, directory=tmp_path)
        assert os.getpgid(child.pid) == child.pid != os.getpgid(0)


def test_a_child_reads_nothing_from_the_watchdogs_pipe(tmp_path: Path) -> None:
    with Children(grace=5.0) as children, (tmp_path / "said").open("wb") as said:
        child = children.start(["sh", "-c", "cat; echo done"], output=said, directory=tmp_path)
        assert child.wait(10) == 0
        assert (tmp_path / "said").read_text() == "done\n"
        assert children.ended() == [child]
        assert children.ended() == []


def test_a_child_lives_as_long_as_one_of_its_owners(tmp_path: Path) -> None:
    first = Children(grace=5.0, owners_pipe=tmp_path / "owners")
    child = first.start(["sleep", "600"], output=subprocess.DEVNULL, directory=tmp_path)
    second = join(tmp_path / "owners")
    assert second is not None

    first.leave()
    assert is_alive(child.pid)

    os.close(second)
    assert eventually(lambda: child.poll() is not None)
    for process in children_module._left_to_others:
        process.wait(10)


FORKS_ONE = """
import atexit, sys, threading, time
from pathlib import Path
from crawler.launch.process_group import Children

def late():
    time.sleep(0.2)
    print("of a thread")

def work():
    atexit.register(print, "at the exit")
    threading.Thread(target=late).start()
    return 7

with Children(grace=5.0) as children:
    child = children.fork(work, output=Path(sys.argv[1]), directory=Path.cwd())
    sys.exit(child.wait())
"""


def test_a_forked_child_ends_like_a_program(tmp_path: Path) -> None:
    said = tmp_path / "said"
    owner = subprocess.run([sys.executable, "-c", FORKS_ONE, str(said)], cwd=ROOT, check=False)
    assert (owner.returncode, said.read_text()) == (7, "of a thread\nat the exit\n")


LEAVES_ONE_BEHIND = "sh -c 'trap \"exit 0\" TERM; echo > ready; while true; do sleep 0.05; done'; true"


def test_a_retired_child_has_ended_when_the_processes_it_left_to_us_have(tmp_path: Path) -> None:
    with suppress(AttributeError):  # Linux has it
        ctypes.CDLL(None).prctl(36, 1, 0, 0, 0)  # PR_SET_CHILD_SUBREAPER: as the first process of a container
    with Children(grace=5.0) as children:
        child = children.start(["/bin/sh", "-c", LEAVES_ONE_BEHIND], output=subprocess.DEVNULL, directory=tmp_path)
        assert eventually((tmp_path / "ready").exists)
        children.retire(child)
        ended = list[Child]()
        assert eventually(lambda: bool(ended.extend(children.ended()) or ended))
        assert ended == [child]


def test_nobody_can_join_where_nothing_is_guarded(tmp_path: Path) -> None:
    assert join(tmp_path / "owners") is None
    with Children(grace=1.0, owners_pipe=tmp_path / "owners"):
        pass
    assert join(tmp_path / "owners") is None


def test_the_watchdog_counts_who_came_and_did_not_go() -> None:
    assert living([b"+ 10\n", b"+ 11\n", b"- 10\n", b"+ 12\n", b"- 99\n"]) == [11, 12]
