"""What is read of processes: their CPU time, with that of all below them."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from tools.bench import processes

BUSY = 0.3  # seconds of CPU
WORK = f"import time\nwhile time.process_time() < {BUSY}: pass\n"
SAYS_SO = "print('done', flush=True); input()"

pytestmark = pytest.mark.skipif(not processes.ARE_TOLD, reason="this system does not tell")


@contextmanager
def having_worked(program: str) -> Iterator[int]:
    """The process id of a program that has done its work and waits."""
    command = [sys.executable, "-I", "-S", "-c", program + SAYS_SO]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "done\n"
        yield process.pid
        process.kill()


def test_cpu_seconds_are_those_a_process_worked() -> None:
    with having_worked(WORK) as pid:
        used = processes.cpu_seconds([pid])
        time.sleep(0.2)
        assert processes.cpu_seconds([pid]) == pytest.approx(used, abs=0.02)  # to wait is no work
    assert BUSY <= used < BUSY + 1


@pytest.mark.parametrize("is_over", [True, False], ids=["ended", "still there"])
def test_what_its_children_worked_counts(is_over: bool) -> None:
    grandchild = WORK + "print('done', flush=True)\nimport sys\nsys.stdin.read()"  # ends with its parent
    child = f"""
import sys
from subprocess import PIPE, Popen
child = Popen([sys.executable, "-I", "-S", "-c", {grandchild!r}], stdin=PIPE, stdout=PIPE)
child.stdout.readline()
if {is_over}:
    child.kill(); child.wait()
"""
    with having_worked(child) as pid:
        assert BUSY * 0.9 <= processes.cpu_seconds([pid]) < BUSY + 1  # an ended child's is told in hundredths


def test_a_process_that_is_gone_used_nothing_more() -> None:
    with having_worked("") as pid:
        pass
    assert processes.cpu_seconds([pid]) == 0
    assert processes.resident(pid) == 0


def test_memory_is_told() -> None:
    with having_worked("") as pid:
        assert 2**20 < processes.resident(pid) < 2**30


def test_a_child_that_was_waited_for_counts_among_the_ended_ones() -> None:
    before, own = processes.ended_cpu_seconds(), processes.own_cpu_seconds()
    subprocess.run([sys.executable, "-I", "-S", "-c", WORK], check=True)
    assert processes.ended_cpu_seconds() - before >= BUSY
    assert processes.own_cpu_seconds() - own >= BUSY
