"""A user who adds pages, requests some again, changes options and finishes, in a process of their own that is killed
now and then, also in the middle of a call."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from uuid import UUID

from tests.stack import ROOT


@dataclass
class Call:
    """`paths`: pages that it may open again; None = any."""

    number: int
    verb: str
    paths: Sequence[str] | None = ()
    added: Sequence[str] = ()  # paths that are in the table once it is answered
    answer: Mapping[str, int] | None = None  # None: not answered, or answered with an error


@dataclass
class User:
    """Calls are made one after the other. A call whose answer is missing may have been made or not."""

    folder: Path
    environment: Mapping[str, str]
    origin: str
    calls: list[Call] = field(default_factory=list)
    deaths: int = 0
    dies_after: float = 0.0  # seconds from the beginning of the next call on, unless it is over by then; 0 = never
    _process: subprocess.Popen[bytes] | None = None
    _waiting: set[int] = field(default_factory=set)  # numbers of calls
    _read: int = 0  # bytes of the answers

    def add(self, crawl: UUID, paths: Sequence[str], again: bool, **place: Any) -> Call:
        call = Call(self._next, "add", paths if again else (), paths)
        return self._send(call, crawl, [self.origin + path for path in paths], again=again, **place)

    def again(self, crawl: UUID, paths: Sequence[str] | None, **which: Any) -> Call:
        """Those at these paths, or those that a filter finds."""
        named = {"url__in": [self.origin + path for path in paths]} if paths is not None else {}
        return self._send(Call(self._next, "again", paths), crawl, **named, **which)

    def change(self, crawl: UUID, **options: Any) -> Call:
        return self._send(Call(self._next, "change"), crawl, **options)

    def finish(self, crawl: UUID) -> Call:
        return self._send(Call(self._next, "finish"), crawl)

    @property
    def _next(self) -> int:
        return len(self.calls) + 1

    def _send(self, call: Call, crawl: UUID, *given: Any, **more: Any) -> Call:
        told = {"number": call.number, "verb": call.verb, "crawl": str(crawl), "given": given, "more": more}
        told["dies_after"], self.dies_after = self.dies_after, 0.0
        line = f"{json.dumps(told)}\n".encode()
        if not self._wrote(line):  # the user has died
            self._start()
            self._wrote(line)
        self.calls.append(call)
        self._waiting.add(call.number)
        return call

    def _wrote(self, line: bytes) -> bool:
        if not self._lives() or self._process is None or self._process.stdin is None:
            return False
        try:
            self._process.stdin.write(line)
            self._process.stdin.flush()
        except BrokenPipeError:
            self._process.wait()
        return self._lives()

    def _start(self) -> None:
        with (self.folder / "user.log").open("ab") as log, (self.folder / "answers").open("ab") as answers:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "tools.chaos.one_machine.user"],
                cwd=ROOT,
                env={**self.environment, "DJANGO_SETTINGS_MODULE": "crawler.settings.development"},
                stdin=subprocess.PIPE,
                stdout=answers,
                stderr=log,
                start_new_session=True,
            )

    def has_settled(self) -> bool:
        """Whether no call waits for its answer any more."""
        with (self.folder / "answers").open("rb") as answers:
            answers.seek(self._read)
            for line in answers:
                if line.endswith(b"\n"):
                    self._read += len(line)
                    told = json.loads(line)
                    self.calls[told["number"] - 1].answer = told["answer"]
                    self._waiting.discard(told["number"])
        self._lives()
        return not self._waiting

    def _lives(self) -> bool:
        """Calls that wait for one who is dead are not answered any more."""
        if self._process is None or self._process.poll() is None:
            return self._process is not None
        self.end()
        self.deaths += 1
        self._waiting.clear()
        return False

    def end(self) -> None:
        process, self._process = self._process, None
        if process is not None:
            process.kill()
            with contextlib.suppress(BrokenPipeError):
                process.communicate()

    # What came of it

    def may_have_opened(self) -> tuple[Counter[str], int]:
        """Path -> times it may have been opened again; and how often any page may have been, beside these."""
        named = Counter(path for call in self.calls for path in call.paths or ())
        return named, sum(call.paths is None for call in self.calls)

    def opened(self) -> tuple[int, bool]:
        """Pages that answers say were opened again, and whether some calls have no answer."""
        answers = [call.answer for call in self.calls]
        return sum(answer.get("again", 0) for answer in answers if answer is not None), None in answers

    def added(self) -> set[str]:
        """Paths that answers say are in the table."""
        return {path for call in self.calls if call.answer is not None for path in call.added}

    def number_of(self, verb: str) -> int:
        return sum(call.answer is not None for call in self.calls if call.verb == verb)


def main() -> None:
    """Make the calls that come in, as lines of JSON, and write the answers."""
    import django

    django.setup()
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    for line in sys.stdin:
        told = json.loads(line)
        signal.setitimer(signal.ITIMER_REAL, told["dies_after"])  # its signal ends a process, wherever that is
        try:
            answer = _made(told)
        except Exception as error:  # noqa: BLE001 (Redis or the database may not respond: the user is told)
            print(f"{told}: {error!r}", file=sys.stderr, flush=True)
            answer = None
        signal.setitimer(signal.ITIMER_REAL, 0)
        os.write(1, f"{json.dumps({'number': told['number'], 'answer': answer})}\n".encode())


def _made(told: Mapping[str, Any]) -> Mapping[str, int]:
    from crawler.api import python
    from crawler.models import Page

    crawl, given, more = told["crawl"], told["given"], told["more"]
    match told["verb"]:
        case "add":
            done = python.add(crawl, *given, **more)
            if done.refused:
                raise ValueError(f"refused: {done.reasons}")
            return {"again": done.again}
        case "again":
            pages = Page.objects.filter(crawl=crawl, status=Page.CLOSED, **more).values_list("id", flat=True)
            return {"again": python.again(crawl, pages).again}
        case "change":
            python.change(crawl, **more)
        case "finish":
            python.finish(crawl)
    return {}


if __name__ == "__main__":
    main()
