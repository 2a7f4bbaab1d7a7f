"""Child processes that end with their owner, even if it is killed with SIGKILL; and the signals that stop a command.

Each child leads its own process group, so Ctrl-C in the terminal reaches only the owner, which then stops the children.
A child reports its id to the watchdog *before* it executes its program: no child is missed, whenever the owner is
killed.
"""

from __future__ import annotations

import atexit
import contextlib
import os
import select
import signal
import subprocess
import sys
import threading
import time
import traceback
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import IO, NoReturn, Protocol, Self

from crawler.launch import watchdog

_left_to_others: list[object] = []  # another owner keeps them: they are not waited for here

_STOP_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)

_REPORT_THEN_BECOME = 'echo "+ $$" >&0 && exec "$@" 0</dev/null'


class Child(Protocol):
    """A process of ours, as `subprocess.Popen` has it."""

    pid: int
    returncode: int | None

    def poll(self) -> int | None: ...

    def wait(self) -> int: ...


class ForkedProcess:
    """A child that executes no program of its own."""

    def __init__(self, pid: int) -> None:
        self.pid = pid
        self.returncode: int | None = None

    def poll(self) -> int | None:
        return self._reaped(os.WNOHANG)

    def wait(self) -> int:
        code = self._reaped(0)
        assert code is not None  # noqa: S101 (waiting without WNOHANG ends with the process)
        return code

    def _reaped(self, options: int) -> int | None:
        if self.returncode is None:
            try:
                pid, status = os.waitpid(self.pid, options)
            except ChildProcessError:  # it has been waited for already
                pid, status = self.pid, 0
            self.returncode = os.waitstatus_to_exitcode(status) if pid else None
        return self.returncode


class Children:
    """The children of this process. `grace`: seconds they have to exit after SIGTERM.

    With `owners_pipe`, the path of a named pipe, other processes can become owners too (`join`); the children then
    end with the last owner. On a file system without named pipes there is only one owner. `redis`: the socket of a
    Redis among them, which need not wait for its signal.
    """

    def __init__(self, grace: float, owners_pipe: Path | None = None, redis: Path | None = None) -> None:
        self._grace = grace
        self._processes: list[Child] = []
        self._retired: list[Child] = []
        reading, self._pipe = _named_pipe(owners_pipe) if owners_pipe else os.pipe()
        self._watchdog = subprocess.Popen(
            [sys.executable, "-I", "-S", watchdog.__file__, str(grace), *([redis] if redis else [])],
            stdin=reading,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        os.close(reading)

    def start(
        self,
        command: Sequence[str | Path],
        *,
        output: int | IO[bytes],
        directory: Path,
        environment: Mapping[str, str] | None = None,
    ) -> subprocess.Popen[bytes]:
        """Start a program; stdout and stderr go to `output`; the environment is ours unless another is given."""
        process = subprocess.Popen(
            ["/bin/sh", "-c", _REPORT_THEN_BECOME, "sh", *command],
            stdin=self._pipe,
            stdout=output,
            stderr=subprocess.STDOUT,
            cwd=directory,
            env=environment,
            start_new_session=True,
        )
        self._processes.append(process)
        return process

    def fork(self, work: Callable[[], int], *, output: Path, directory: Path) -> Child:
        """Fork a child that runs `work` and exits with its result. It inherits the modules of this process, but no
        descriptor, so this process must have closed its connections, and must have no second thread."""
        sys.stdout.flush()
        sys.stderr.flush()
        reading, telling = os.pipe()
        former = signal.pthread_sigmask(signal.SIG_BLOCK, _STOP_SIGNALS)  # no handler runs where it may not return
        pid = os.fork()
        if not pid:
            _run_in_child(work, self._pipe, telling, output, directory)
        signal.pthread_sigmask(signal.SIG_SETMASK, former)
        os.close(telling)
        os.read(reading, 1)  # from here on it leads its group and the watchdog knows it, or it has exited
        os.close(reading)
        process = ForkedProcess(pid)
        self._processes.append(process)
        return process

    def retire(self, process: Child) -> None:
        """Ask a child to exit, with all processes of its group. It has ended when none of them is left: a shell exits
        at once, and may leave a program behind that takes its time."""
        self._retired.append(process)
        watchdog.send(process.pid, signal.SIGTERM)

    def ended(self) -> list[Child]:
        """The children that have exited since the last call."""
        ended = [
            process
            for process in self._processes
            if process.poll() is not None and not (process in self._retired and _lives(process))
        ]
        for process in ended:
            self._forget(process)
        return ended

    def stop(self) -> None:
        """Stop all children and the watchdog, and wait for them. Nothing can be started afterwards."""
        deadline = time.monotonic() + self._grace
        for process in self._processes:
            watchdog.send(process.pid, signal.SIGTERM)
        watchdog.wait_until(lambda: not any(_lives(process) for process in self._processes), deadline)
        for process in tuple(self._processes):
            watchdog.send(process.pid, signal.SIGKILL)
            process.wait()
            self._forget(process)
        self.leave()

    def leave(self) -> None:
        """Stop being an owner. If this was the last owner, wait until the children have ended."""
        if self._pipe < 0:
            return
        os.close(self._pipe)
        self._pipe = -1
        answer = self._watchdog.stdout
        assert answer is not None  # noqa: S101 (a pipe was asked for above)
        with answer:
            if not select.select([answer], [], [], 1.0)[0]:
                _left_to_others.extend([*self._processes, self._watchdog])
                return
            for process in self._processes:
                process.wait()  # the watchdog has stopped it within `grace`
            self._watchdog.wait()

    def _forget(self, process: Child) -> None:
        watchdog.send(process.pid, signal.SIGKILL)  # processes of its group that may be left
        self._processes.remove(process)
        if process in self._retired:
            self._retired.remove(process)
        with contextlib.suppress(BrokenPipeError):  # the watchdog itself was killed
            os.write(self._pipe, b"- %d\n" % process.pid)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *raised: object) -> None:
        self.stop()


def join(owners_pipe: Path) -> int | None:
    """Become another owner of the children behind this pipe. Returns a descriptor to keep open; None = no children."""
    try:
        return os.open(owners_pipe, os.O_WRONLY | os.O_NONBLOCK)
    except OSError:  # no such pipe, or no reader
        return None


def _run_in_child(work: Callable[[], int], watchdog_pipe: int, telling: int, output: Path, directory: Path) -> NoReturn:
    """The child of `Children.fork`: like a program that `start` has started, from its group to its exit."""
    code = 1
    try:
        os.setsid()
        os.write(watchdog_pipe, b"+ %d\n" % os.getpid())
        os.write(telling, b"1")
        for number in _STOP_SIGNALS:
            if signal.getsignal(number) is not signal.SIG_IGN:
                signal.signal(number, signal.SIG_DFL)
        _replace_descriptors(output)
        os.chdir(directory)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, _STOP_SIGNALS)
        code = work()
    except SystemExit as ended:
        code = ended.code if isinstance(ended.code, int) else int(ended.code is not None)
        if code and ended.code != code:
            print(ended.code, file=sys.stderr)
    except BaseException:  # noqa: BLE001 (there is no caller that could handle it)
        traceback.print_exc()
    finally:
        end_process(code)  # never to return: the caller's code belongs to the parent


def end_process(code: int) -> NoReturn:
    """Exit as a program does, but free no objects: that takes 30 ms when all is imported. Waits for threads, calls what
    is registered with `atexit` (as does `multiprocessing`, by the same functions), and writes what is buffered."""
    try:
        threading._shutdown()  # type: ignore[attr-defined]  # not public
        atexit._run_exitfuncs()
        sys.stdout.flush()
        sys.stderr.flush()
    except OSError:  # output is lost
        code = code or _OUTPUT_LOST
    finally:
        os._exit(code)


_OUTPUT_LOST = 120  # Python's exit code for it


def _replace_descriptors(output: Path) -> None:
    """Give this process an empty stdin, and `output` as stdout and stderr; close all others, which may be pipes that
    make it an owner."""
    with Path(os.devnull).open("rb") as nothing, output.open("ab") as file:
        os.dup2(nothing.fileno(), 0)
        os.dup2(file.fileno(), 1)
        os.dup2(file.fileno(), 2)
    for descriptor in [int(path.name) for path in Path("/proc/self/fd").iterdir()]:
        if descriptor > 2:
            with contextlib.suppress(OSError):  # that of the listing
                os.close(descriptor)


def _lives(process: Child) -> bool:
    """Whether a process of its group is left; a shell may exit before the program it started."""
    if process.poll() is not None:  # it is reaped; a zombie would count as alive
        _reap_adopted(process.pid)
    return watchdog.send(process.pid, 0)


def _reap_adopted(group: int) -> None:
    """Reap the processes of a group that exited after this process adopted them, as the first process of a container
    does."""
    with contextlib.suppress(ChildProcessError):  # none of them is ours
        while os.waitpid(-group, os.WNOHANG)[0]:
            pass


def _named_pipe(path: Path) -> tuple[int, int]:
    """Both ends of a new named pipe; of an anonymous one if the file system has no named pipes."""
    try:
        path.unlink(missing_ok=True)
        os.mkfifo(path, 0o600)
        reading = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
        writing = os.open(path, os.O_WRONLY)
    except OSError:
        return os.pipe()
    os.set_blocking(reading, True)
    return reading, writing


class StopSignal:
    """Whether this command received SIGINT (Ctrl-C), SIGTERM or SIGHUP since this object was created. A second signal
    ends the process at once; the watchdog then ends its children."""

    def __init__(self) -> None:
        self._signal: int | None = None
        for number in _STOP_SIGNALS:
            signal.signal(number, self._receive)

    @property
    def received(self) -> bool:
        return self._signal is not None

    @property
    def exit_code(self) -> int:
        return 128 + self._signal if self._signal else 0

    def wait(self, seconds: float) -> bool:
        """Wait at most this long; return whether a signal was received."""
        deadline = time.monotonic() + seconds
        while not self.received and (left := deadline - time.monotonic()) > 0:
            time.sleep(min(left, 0.1))  # short, because a signal does not interrupt sleep
        return self.received

    def _receive(self, number: int, _frame: object) -> None:
        if self.received:
            raise SystemExit(128 + number)
        self._signal = number
