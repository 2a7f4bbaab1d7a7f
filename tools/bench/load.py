"""`bin/bench load`: many people watch many crawls while the queues are long; how long does a page take to answer?"""

from __future__ import annotations

import json
import os
import statistics
import sys
import tempfile
import threading
import time
from argparse import Namespace
from collections.abc import Iterable, Mapping, Sequence
from contextlib import ExitStack
from http.client import HTTPConnection, HTTPException
from pathlib import Path
from typing import Any, NamedTuple, TextIO

import django

from crawler.launch.process_group import Children
from crawler.settings.environment import ROOT
from tools.bench.processes import cpu_seconds
from tools.bench.reports import database, migrate
from tools.bench.services import GRACE, LOOPBACK, cores, free_port, own_redis

MEDIAN_MS = NINETY_FIVE_MS = 1_000
PATIENCE = 30.0  # seconds
COME_WITHIN = 10.0  # seconds in which all have opened their page
COME_EVERY = 0.1  # seconds, if that is less
_ROW = "{:<34} {:>7} {:>7} {:>7} {:>7} {:>7}  {}"


def _of_the_page(name: str) -> float:
    """A constant of the script that keeps an open page up to date."""
    script = (ROOT / "crawler/static/crawler/pages.js").read_text()
    return float(script.partition(f"const {name} = ")[2].partition(";")[0])


EVERY = _of_the_page("POLL_MS") / 1000  # seconds between two looks of an open page
SHARE = _of_the_page("PAUSE_FACTOR")  # a pause is at least so many times as long as the look before it
SELDOM = _of_the_page("MAX_POLL_MS") / 1000  # seconds, if that is less


class Asked(NamedTuple):
    """One kind of question, asked many times."""

    name: str
    times_ms: Sequence[float]
    wrong: int  # answers with another status than was expected

    @property
    def median_ms(self) -> float:
        return statistics.median(self.times_ms)

    @property
    def ninety_five_ms(self) -> float:
        return sorted(self.times_ms)[int(0.95 * (len(self.times_ms) - 1))]

    @property
    def trouble(self) -> str:
        """What is wrong with it; "" = nothing."""
        if self.wrong:
            return f"{self.wrong} WRONG ANSWERS"
        is_slow = self.median_ms > MEDIAN_MS or self.ninety_five_ms > NINETY_FIVE_MS
        return "TOO SLOW" if is_slow else ""


class Question(NamedTuple):
    name: str
    method: str
    path: str
    headers: Mapping[str, str]
    body: str = ""
    status: int = 200


class Held(NamedTuple):
    """What there was to be a load, while it was measured."""

    jobs: int  # fewest that waited
    running: int  # crawls, at the end


def lacking(chosen: Namespace, kinds: Iterable[str], asked: Sequence[Asked], held: Held) -> list[str]:
    """Why the measurement does not count, one line each."""
    unasked = sorted(set(kinds) - {one.name for one in asked})
    lines = [f"never answered: {name}" for name in unasked]
    if held.jobs < chosen.jobs / 2:
        lines.append(f"only {held.jobs:,} of {chosen.jobs:,} jobs were in the queues at one time")
    if held.running < chosen.crawls:
        lines.append(f"only {held.running} of {chosen.crawls} crawls still ran at the end")
    return lines


class Notebook:
    """What was measured, by whichever thread."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._times = dict[str, list[float]]()
        self._wrong = dict[str, int]()

    def note(self, name: str, seconds: float, *, is_right: bool) -> None:
        with self._lock:
            self._times.setdefault(name, []).append(seconds * 1000)
            self._wrong[name] = self._wrong.get(name, 0) + (not is_right)

    def forget(self) -> None:
        with self._lock:
            self._times, self._wrong = {}, {}

    def all(self) -> list[Asked]:
        return [Asked(name, times, self._wrong[name]) for name, times in self._times.items()]


def main(chosen: Namespace) -> int:
    """1. Redis and a database of its own. 2. Crawls, jobs and people in them. 3. The programs of the Procfile. 4. Watch
    and, meanwhile, ask for each kind of page. 5. Tell; 1 when one is too slow or was not measured."""
    with tempfile.TemporaryDirectory(prefix="bench-") as name, ExitStack() as services:
        work = Path(name)
        os.environ |= {"CRAWLER_DATA_DIR": str(work), "REDIS_URL": services.enter_context(own_redis(work))}
        os.environ["DATABASE_URL"] = database(chosen, work, services)
        os.environ["DJANGO_SETTINGS_MODULE"] = "crawler.settings.development"
        os.environ["CRAWLER_API_PER_MINUTE"] = "0"
        os.environ["RQ_REDIS_URL"] = os.environ["REDIS_URL"]
        django.setup()
        migrate()
        from tools.bench.stage import Stage  # models can be imported once Django is set up

        stage = services.enter_context(Stage.built(chosen))
        port = free_port()
        children = services.enter_context(Children(GRACE))
        web = _start(chosen, children, work, port)
        notebook, fewest = _watched(chosen, stage, port)
        used = cpu_seconds([web])
        held = Held(fewest, stage.running())
    asked = notebook.all()
    _tell(chosen, asked, used, held.jobs)
    missed = lacking(chosen, stage.kinds(), asked, held)
    print(*missed, sep="\n", end="\n" if missed else "", file=sys.stderr)
    return 1 if missed or any(one.trouble for one in asked) else 0


def _start(chosen: Namespace, children: Children, work: Path, port: int) -> int:
    """The lines of the Procfile for the web and the workers, once the web answers; the process id of the web."""
    lines = dict(line.split(": ", 1) for line in (ROOT / "Procfile").read_text().splitlines() if ": " in line)
    environment = {
        **os.environ,
        "PORT": str(port),
        "WEB_CONCURRENCY": str(chosen.web),
        "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
    }
    with (work / "log").open("wb") as log:
        command = ("/bin/sh", "-c", f"exec {lines['web']}")
        web = children.start(command, output=log.fileno(), directory=ROOT, environment=environment)
        for _ in range(chosen.workers):
            command = ("/bin/sh", "-c", f"exec {lines['worker']}")
            children.start(command, output=log.fileno(), directory=ROOT, environment=environment)
    deadline = time.monotonic() + PATIENCE
    while not _answers(port):
        if time.monotonic() > deadline:
            raise TimeoutError(f"the web did not answer within {PATIENCE:g} s: {(work / 'log').read_text()[-500:]}")
        time.sleep(0.1)
    time.sleep(1.0)  # the workers are up, too
    return web.pid


def _answers(port: int) -> bool:
    try:
        return _ask(port, Question("", "GET", "/healthz", {}))[0] == 200
    except (OSError, HTTPException):
        return False


def _watched(chosen: Namespace, stage: Any, port: int) -> tuple[Notebook, int]:
    """The one who goes from page to page has been everywhere once; then the others come one by one, and when all are
    there it is measured for so many seconds. What was noted, and how many jobs waited when there were fewest."""
    for question in stage.questions():
        _ask(port, question)
    notebook, end = Notebook(), threading.Event()
    who = [threading.Thread(target=_watch, args=(port, one, notebook, end)) for one in stage.watchers()]
    who += [threading.Thread(target=listen, args=(port, one, notebook, end)) for one in stage.listeners()]
    who.append(threading.Thread(target=_ask_all, args=(port, stage.questions(), notebook, end)))
    for number, thread in enumerate(who):
        thread.daemon = True
        thread.start()
        time.sleep(min(COME_EVERY, COME_WITHIN / len(who)) if number else 0)
    notebook.forget()
    until, fewest = time.monotonic() + chosen.seconds, stage.jobs()
    while time.monotonic() < until:
        time.sleep(1.0)
        fewest = min(fewest, stage.jobs())
        stage.keep_full()
    end.set()
    for thread in who:
        thread.join(PATIENCE)
    return notebook, fewest


def _watch(port: int, question: Question, notebook: Notebook, end: threading.Event) -> None:
    """As an open page does: look, wait a second or longer where looking takes long."""
    pause = EVERY
    while not end.wait(pause):
        pause = max(EVERY, min(SELDOM, SHARE * _timed(port, question, notebook)))


def listen(port: int, question: Question, notebook: Notebook, end: threading.Event) -> None:
    """An EventSource: the time to the first event is measured; when the stream ends it comes back as it was told. A
    stream without an event, or none at all, is a wrong answer."""
    while not end.is_set():
        began = time.perf_counter()
        try:
            connection = HTTPConnection(LOOPBACK, port, timeout=PATIENCE)
            connection.request("GET", question.path, headers=dict(question.headers))
            response = connection.getresponse()
            told, back_in = False, 1.0
            while response.status == question.status and not end.is_set() and (line := response.readline()):
                if line.startswith(b"retry:"):
                    back_in = int(line[6:]) / 1000
                if line.startswith(b"data:") and not told:
                    notebook.note(question.name, time.perf_counter() - began, is_right=True)
                    told = True
            connection.close()
            if not told and not end.is_set():
                notebook.note(question.name, time.perf_counter() - began, is_right=False)
        except (OSError, HTTPException):
            notebook.note(question.name, time.perf_counter() - began, is_right=False)
            back_in = 1.0
        end.wait(back_in)


def _ask_all(port: int, questions: Sequence[Question], notebook: Notebook, end: threading.Event) -> None:
    """One person who goes from page to page."""
    while True:
        for question in questions:
            if end.wait(0.05):
                return
            _timed(port, question, notebook)


def _timed(port: int, question: Question, notebook: Notebook) -> float:
    began = time.perf_counter()
    try:
        status = _ask(port, question)[0]
    except (OSError, HTTPException):
        status = 0
    took = time.perf_counter() - began
    notebook.note(question.name, took, is_right=status == question.status)
    return took


def _ask(port: int, question: Question) -> tuple[int, bytes]:
    connection = HTTPConnection(LOOPBACK, port, timeout=PATIENCE)
    try:
        connection.request(question.method, question.path, question.body.encode() or None, dict(question.headers))
        response = connection.getresponse()
        return response.status, response.read()
    finally:
        connection.close()


def _tell(chosen: Namespace, asked: Sequence[Asked], used: float, jobs: int, to: TextIO = sys.stdout) -> None:
    print(_ROW.format("milliseconds", "asked", "median", "95th", "worst", "limit", ""), file=to)
    for one in asked:
        print(line(one), file=to)
    slow = [one for one in asked if one.trouble]
    looks = sum(len(one.times_ms) for one in asked)
    print(
        f"{chosen.watchers} watchers, {chosen.crawls} crawls, {jobs:,} jobs in the queues: {looks:,} answers in "
        f"{chosen.seconds} s, {used:.0f} s of CPU for them; {len(slow)} of {len(asked)} kinds too slow or wrong",
        file=to,
    )
    if chosen.json:
        chosen.json.parent.mkdir(parents=True, exist_ok=True)
        plain = [one._asdict() | {"median_ms": one.median_ms, "95th_ms": one.ninety_five_ms} for one in asked]
        told = {"cores": cores(), "database": "PostgreSQL" if chosen.postgres else "SQLite", "asked": plain}
        chosen.json.write_text(json.dumps(told, indent=1) + "\n")


def line(one: Asked) -> str:
    times = (one.median_ms, one.ninety_five_ms, max(one.times_ms))
    return _ROW.format(one.name, len(one.times_ms), *(f"{ms:.0f}" for ms in times), MEDIAN_MS, one.trouble)
