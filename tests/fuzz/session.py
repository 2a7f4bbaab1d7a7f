"""One attack: inputs are drawn, tried, and some of them made longer and longer; what came of it for each parser."""

import itertools
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from random import Random
from types import FrameType

from tests.fuzz.growth import climb
from tests.fuzz.mutation import growing, mutated
from tests.fuzz.parsers import Parser

EVERY = 4  # of so many inputs one is made longer
PATIENCE = 30.0  # seconds for one input; regular expressions can be stopped, C code of others cannot
MOST_FAULTS = 3  # of one parser, after which it is left alone


class TookTooLong(Exception):
    """Raised in the middle of a parser."""


@dataclass(frozen=True)
class Fault:
    """What a parser must not do, and with which input it did."""

    parser: str
    what: str
    data: bytes


@dataclass
class Attacked:
    """What came of one parser."""

    name: str
    inputs: int = 0
    worst: float = 0.0  # milliseconds a megabyte, of the inputs that were made long
    faults: list[Fault] = field(default_factory=list)


def attack(parser: Parser, seed: int, *, seconds: float = float("inf"), inputs: int | None = None) -> Attacked:
    """Until so many seconds or inputs are over. The same seed draws the same inputs, some of which are made long."""
    random, found = Random(f"{seed} {parser.name}"), Attacked(parser.name)
    until = time.monotonic() + seconds
    drawn = itertools.chain(parser.seeds, _drawn(parser, random))
    for number, data in enumerate(itertools.islice(drawn, inputs)):
        if time.monotonic() > until or len(found.faults) >= MOST_FAULTS:
            break
        found.inputs += 1
        fault = tried(parser, data)
        if fault is None and number % EVERY == 0:
            fault = _made_longer(parser, data, random, found)
        if fault is not None and not any(fault.what == known.what for known in found.faults):
            found.faults.append(fault)
    return found


def tried(parser: Parser, data: bytes) -> Fault | None:
    """The fault of this input, if it brings one to light."""
    said = _said(lambda: parser.read(data))
    return Fault(parser.name, said, data) if said else None


def _drawn(parser: Parser, random: Random) -> Iterator[bytes]:
    while True:
        yield mutated(parser.seeds, parser.tokens, random)


def _made_longer(parser: Parser, data: bytes, random: Random, found: Attacked) -> Fault | None:
    grown, last = growing(data[: parser.longest // 2], parser.tokens, random), b""

    def remembered(size: int) -> bytes:
        nonlocal last
        last = grown(size)[: parser.longest]
        return last

    said, climbed = "", None
    with _patience():
        try:
            climbed = climb(parser.read, remembered, parser.longest, parser.most, parser.floor)
        except Exception as error:  # noqa: BLE001 (whatever it is, it is what we look for)
            said = _told(error)
    if climbed is not None:
        said = climbed.fault and f"it takes {climbed.fault}"
        if climbed.times[-1][0] >= 8 * 1024:
            found.worst = max(found.worst, climbed.worst * 1000)
    return Fault(parser.name, said, last) if said else None


def _said(read: Callable[[], object]) -> str:
    with _patience():
        try:
            read()
        except Exception as error:  # noqa: BLE001 (whatever it is, it is what we look for)
            return _told(error)
    return ""


def _told(error: Exception) -> str:
    where, at = "", error.__traceback__
    while at is not None:
        where, at = f"{at.tb_frame.f_code.co_filename.rpartition('/')[2]}:{at.tb_lineno}", at.tb_next
    return f"{type(error).__name__} at {where}: {str(error)[:120]}"


@contextmanager
def _patience() -> Iterator[None]:
    before = signal.signal(signal.SIGALRM, _interrupt)
    signal.setitimer(signal.ITIMER_REAL, PATIENCE)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def _interrupt(number: int, frame: FrameType | None) -> None:
    raise TookTooLong(f"it was at work for more than {PATIENCE} seconds")
