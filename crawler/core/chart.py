"""The geometry of the pictures on the pages: where a line goes, how long a bar is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

WIDTH, HEIGHT = 600, 120
"""Of a line's picture, in its own units; the page stretches it."""

_NICE = (1.0, 1.5, 2.0, 3.0, 5.0, 7.5, 10.0)


@dataclass(frozen=True)
class Line:
    """A line over time, as the attributes of SVG shapes."""

    points: str  # "x,y x,y", from left to right
    area: str  # the same, closed along the ground
    top: float  # the value at the upper edge


def line(values: Sequence[tuple[float, float]]) -> Line | None:
    """The line through (when, how much), with a round number at the upper edge; None for less than two."""
    if len(values) < 2 or values[-1][0] <= values[0][0]:
        return None
    begin, end = values[0][0], values[-1][0]
    top = nice(max(value for _, value in values))
    places = [(WIDTH * (when - begin) / (end - begin), HEIGHT * (1 - value / top)) for when, value in values]
    points = " ".join(f"{x:.1f},{y:.1f}" for x, y in places)
    return Line(points, f"0,{HEIGHT} {points} {WIDTH},{HEIGHT}", top)


def nice(most: float) -> float:
    """The least round number that is not below this, and at least 1: 1, 1.5, 2, 3, 5, 7.5, 10, 15, 20 ..."""
    scale = 1.0
    while most > 10 * scale:
        scale *= 10
    return next(step * scale for step in _NICE if step * scale >= most)


def share(part: int, most: int) -> float:
    """The length of a bar in per cent of the longest one; what is there at all can be seen."""
    if part <= 0 or most <= 0:
        return 0.0
    return max(0.5, round(100 * part / most, 1))
