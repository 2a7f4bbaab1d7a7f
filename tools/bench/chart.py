"""Knows how figures are drawn: bars side by side, lines over time, or shares; as SVG that fits light and dark pages."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

WIDTH = 760
_LABEL = 210  # where bars begin
_BAR, _GAP = 20, 8
_PANEL, _MARGIN, _FOOT = 150, 70, 34
HOURS_FROM_S = 4 * 3600.0  # beyond this the chart shows hours and minutes

_STYLE = """<style>
text { font: 13px system-ui, sans-serif; fill: #1f2933; }
.title { font-weight: 600; font-size: 15px; }
.faint { fill: #66727f; font-size: 12px; }
.ours { fill: #2563eb; } .peer { fill: #aab4c0; } .grid { stroke: #dfe4ea; }
.line { fill: none; stroke: #2563eb; stroke-width: 2; } .behind { fill: none; stroke: #aab4c0; }
@media (prefers-color-scheme: dark) {
  text { fill: #e6eaf0; } .faint { fill: #97a3b0; }
  .ours { fill: #60a5fa; } .peer { fill: #5b6673; } .grid { stroke: #38424d; } .line { stroke: #60a5fa; }
  .behind { stroke: #5b6673; }
}
</style>
"""


@dataclass(frozen=True)
class Bar:
    label: str
    value: float
    is_ours: bool = False


@dataclass(frozen=True)
class Group:
    """Bars of one scale, the longest as long as there is room."""

    title: str
    bars: tuple[Bar, ...]


@dataclass(frozen=True)
class DotRow:
    label: str
    ours: float
    other: float


@dataclass(frozen=True)
class Panel:
    """One figure over the time of a run."""

    title: str
    points: tuple[tuple[float, float], ...]  # seconds, value
    behind: tuple[tuple[float, float], ...] = ()  # another figure of the same kind, in grey


def bars(groups: Sequence[Group], unit: str = "pages/s") -> str:
    """The groups below each other, the quickest of each on top."""
    parts, top = list[str](), 10
    for group in groups:
        parts.append(_text(10, top + 18, f"{group.title}, {unit}", "title"))
        top += 30
        longest = max((bar.value for bar in group.bars), default=0) or 1
        for bar in sorted(group.bars, key=lambda bar: -bar.value):
            width = (WIDTH - _LABEL - 80) * bar.value / longest
            kind = "ours" if bar.is_ours else "peer"
            parts += [
                _text(_LABEL - 10, top + 15, bar.label, anchor="end"),
                f'<rect class="{kind}" x="{_LABEL}" y="{top}" width="{max(width, 1):.1f}" height="{_BAR}" rx="2"/>',
                _text(_LABEL + width + 8, top + 15, f"{bar.value:,.0f}", "faint"),
            ]
            top += _BAR + _GAP
        top += 14
    return _drawing(top, parts)


def lines(panels: Sequence[Panel]) -> str:
    """The panels below each other, over the same time."""
    longest = max((at for panel in panels for at, _ in panel.points), default=0) or 1
    parts = list[str]()
    for number, panel in enumerate(panels):
        top = 10 + number * (_PANEL + 46)
        parts += [_text(10, top + 16, panel.title, "title"), *_panel(panel, top + 28, longest)]
    return _drawing(10 + len(panels) * (_PANEL + 46) + _FOOT, parts)


def dots(title: str, rows: Sequence[DotRow], names: tuple[str, str]) -> str:
    """A row for each pair of shares between 0 and 1, ours over the other's."""
    left, width, step = 240, WIDTH - 240 - 30, 24
    bottom = 64 + step * len(rows)
    parts = [_text(10, 26, title, "title")]
    for kind, name, x in (("ours", names[0], left), ("peer", names[1], left + 130)):
        parts += [f'<circle class="{kind}" cx="{x}" cy="42" r="5"/>', _text(x + 10, 46, name, "faint")]
    for share in (0, 0.25, 0.5, 0.75, 1):
        x = left + share * width
        parts.append(f'<line class="grid" x1="{x:.1f}" y1="56" x2="{x:.1f}" y2="{bottom}"/>')
        parts.append(_text(x, bottom + 18, f"{share:.0%}", "faint", "middle"))
    for number, row in enumerate(rows):
        y = 72 + step * number
        parts.append(_text(left - 12, y + 4, row.label, anchor="end"))
        for kind, share in (("peer", row.other), ("ours", row.ours)):
            parts.append(f'<circle class="{kind}" cx="{left + min(share, 1.0) * width:.1f}" cy="{y}" r="5"/>')
    return _drawing(bottom + _FOOT, parts)


def shortened(value: float) -> str:
    """Few figures: 950, 1.2k, 34M."""
    for size, letter in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if abs(value) >= size:
            scaled = value / size
            return f"{scaled:.1f}{letter}" if scaled < 10 else f"{scaled:.0f}{letter}"
    return f"{value:.0f}" if abs(value) >= 10 or value == int(value) else f"{value:.1f}"


def _panel(panel: Panel, top: float, longest: float) -> list[str]:
    highest = max((value for _, value in (*panel.points, *panel.behind)), default=0) or 1
    bottom, width = top + _PANEL - 20, WIDTH - _MARGIN - 20
    parts = list[str]()
    for share in (0, 0.5, 1):
        y = bottom - share * (_PANEL - 20)
        parts.append(f'<line class="grid" x1="{_MARGIN}" y1="{y:.1f}" x2="{WIDTH - 20}" y2="{y:.1f}"/>')
        parts.append(_text(_MARGIN - 8, y + 4, shortened(share * highest), "faint", "end"))
    for share in (0, 0.25, 0.5, 0.75, 1):
        parts.append(_text(_MARGIN + share * width, bottom + 16, _clock(share * longest, longest), "faint", "middle"))
    for kind, points in (("behind", panel.behind), ("line", panel.points)):
        places = (
            f"{_MARGIN + at / longest * width:.1f},{bottom - value / highest * (_PANEL - 20):.1f}"
            for at, value in points
        )
        if points or kind == "line":
            parts.append(f'<polyline class="{kind}" points="{" ".join(places)}"/>')
    return parts


def _clock(seconds: float, longest: float) -> str:
    """Minutes and seconds; of a run of many hours, hours and minutes."""
    whole = int(seconds) // (60 if longest >= HOURS_FROM_S else 1)
    return f"{whole // 60}:{whole % 60:02d}"


def _text(x: float, y: float, text: str, kind: str = "", anchor: str = "start") -> str:
    sort = f' class="{kind}"' if kind else ""
    return f'<text{sort} x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{escape(text)}</text>'


def _drawing(height: float, parts: Sequence[str]) -> str:
    head = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height:.0f}" width="{WIDTH}" role="img">\n'
    return head + _STYLE + "\n".join(parts) + "\n</svg>\n"
