"""Evaluates XPath expressions on a page, in a process that can be ended."""

from __future__ import annotations

import atexit
import os
import select
import subprocess
import sys
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import IO, Any

import msgspec

from crawler.core.extraction.xpath import Node, TookTooLong, XPathResult

PROGRAM = Path(__file__).with_name("program.py")
SECONDS_PER_PAGE = 3.0  # of CPU time, shared by its expressions
MIN_SECONDS = 0.2  # for one expression
MAX_WAIT_S = 60.0  # for an answer: on a machine so busy, or a process that was stopped


class Evaluator:
    """A process that evaluates, started by the first page and again after it was ended. It belongs to the process that
    started it: a fork starts one of its own."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[bytes] | None = None
        self._owner = 0

    def __call__(self, nodes: Sequence[Node], expressions: Sequence[str], most: int, longest: int) -> list[XPathResult]:
        """The answer to each expression on the page of these nodes: at most `most` items of it, their strings cut after
        `longest` characters."""
        seconds = max(MIN_SECONDS, SECONDS_PER_PAGE / len(expressions))
        answers: list[XPathResult] = []
        try:
            while len(answers) < len(expressions):
                rest = expressions[len(answers) :]
                answers += self._answers(msgspec.msgpack.encode((nodes, rest, seconds, most, longest)), len(rest))
        except BaseException:
            self.close()  # an answer that nobody read would be taken for the next one
            raise
        return answers

    def close(self) -> None:
        """End the process, if it runs."""
        process, self._process = self._process, None
        if process is None or self._owner != os.getpid():
            return
        process.kill()
        process.wait()
        for pipe in (process.stdin, process.stdout):
            if pipe is not None:
                with suppress(OSError):
                    pipe.close()

    def _answers(self, request: bytes, expected: int) -> list[XPathResult]:
        """The results of a request; the last one is TookTooLong if its expression took too long."""
        process = self._running()
        answers: list[XPathResult] = []
        try:
            _write(process.stdin, len(request).to_bytes(4) + request)
            while len(answers) < expected:
                answers.append(_answer(msgspec.msgpack.decode(_read(process.stdout, _length(process.stdout)))))
        except (EOFError, TimeoutError, BrokenPipeError):
            self.close()
            answers.append(TookTooLong())
        return answers

    def _running(self) -> subprocess.Popen[bytes]:
        if self._process is None or self._owner != os.getpid():
            self._process = subprocess.Popen(
                (sys.executable, "-I", str(PROGRAM)),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                bufsize=0,
                env={},
                start_new_session=True,  # Ctrl-C is for its owner; it ends with the owner's end of the pipe
            )
            self._owner = os.getpid()
        return self._process


def _answer(plain: dict[str, Any]) -> XPathResult:
    return str(plain["error"]) if "error" in plain else plain["found"]


def _write(pipe: IO[bytes] | None, message: bytes) -> None:
    left = memoryview(message)
    while left and pipe is not None:
        left = left[pipe.write(left) :]


def _length(pipe: IO[bytes] | None) -> int:
    return int.from_bytes(_read(pipe, 4))


def _read(pipe: IO[bytes] | None, length: int) -> bytes:
    parts = bytearray()
    while pipe is not None and len(parts) < length:
        waiting = select.poll()
        waiting.register(pipe, select.POLLIN)
        if not waiting.poll(MAX_WAIT_S * 1000):
            raise TimeoutError
        part = pipe.read(length - len(parts))
        if not part:
            raise EOFError
        parts += part
    return bytes(parts)


evaluate = Evaluator()
"""Of this process; ended with it."""
atexit.register(evaluate.close)
