"""How long a parser takes for ever longer inputs, and whether that is too long."""

import time
from collections.abc import Callable
from dataclasses import dataclass

FIRST = 8 * 1024  # bytes; shorter inputs say nothing about growth
FAST = 0.1  # seconds a megabyte; what is that fast at PLAIN bytes is not followed further
PLAIN = 64 * 1024
FLOOR = 0.6  # seconds that any input may take, however short
STEEP = 24.0  # times as long for eight times as much: n log n is about 10, a square 64


@dataclass(frozen=True)
class Climb:
    """What was measured."""

    times: tuple[tuple[int, float], ...]  # bytes, seconds; each about twice as long as the one before
    most: float  # seconds a megabyte that are allowed
    floor: float = FLOOR  # seconds

    @property
    def worst(self) -> float:
        """Seconds a megabyte of the longest input."""
        size, seconds = self.times[-1]
        return seconds / size * 1e6

    @property
    def fault(self) -> str:
        """Why it takes too long; "" = it does not."""
        size, seconds = self.times[-1]
        if seconds <= self.floor:
            return ""
        if self.worst > self.most:
            return f"{seconds:.1f} s for {size:,} bytes"
        before = dict(zip([known for known, _ in self.times], self.times, strict=True))
        eighth = next((before[known] for known in reversed(before) if known * 7 < size), None)
        if eighth is not None and seconds > STEEP * max(eighth[1], 0.001):
            return f"{eighth[1]:.3f} s for {eighth[0]:,} bytes, {seconds:.1f} s for {size:,}"
        return ""


def climb(
    parse: Callable[[bytes], object], grown: Callable[[int], bytes], longest: int, most: float, floor: float = FLOOR
) -> Climb:
    """Give the parser ever longer inputs, `grown(bytes)`, until they are `longest` or it is clear that all is well, or
    that it is not. Times are of this thread alone, the better of two where the first was bad."""
    times: list[tuple[int, float]] = []
    size = min(FIRST, longest)
    while True:
        data = grown(size)
        seconds = seconds_of(parse, data)
        if seconds > floor:
            seconds = min(seconds, seconds_of(parse, data))
        times.append((max(1, len(data)), seconds))
        found = Climb(tuple(times), most, floor)
        is_fast = size >= PLAIN and found.worst < FAST
        if found.fault or is_fast or size >= longest:
            return found
        size = min(size * 2, longest)


def seconds_of(parse: Callable[[bytes], object], data: bytes) -> float:
    begun = time.thread_time()
    parse(data)
    return time.thread_time() - begun
