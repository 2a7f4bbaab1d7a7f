"""The drawings: whole XML, with everything in them, for a light and a dark page."""

from __future__ import annotations

from xml.etree import ElementTree

import pytest

from tools.bench import chart
from tools.bench.chart import Bar, Group, Panel, shortened

SVG = "{http://www.w3.org/2000/svg}"


def test_bars_are_as_long_as_their_values_and_the_quickest_is_on_top() -> None:
    drawing = chart.bars([Group("A <manual>", (Bar("slow", 50), Bar("ours", 100, is_ours=True)))])

    root = ElementTree.fromstring(drawing)  # noqa: S314 (our own)
    rows = [(rect.get("class"), float(rect.get("width", ""))) for rect in root.iter(f"{SVG}rect")]
    assert [kind for kind, _ in rows] == ["ours", "peer"]
    assert rows[0][1] == 2 * rows[1][1]
    assert "A <manual>, pages/s" in [text.text for text in root.iter(f"{SVG}text")]
    assert "prefers-color-scheme: dark" in drawing


def test_a_line_goes_from_its_first_to_its_last_point() -> None:
    root = ElementTree.fromstring(chart.lines([Panel("Rate", ((0, 0), (30, 5), (60, 10))), Panel("None", ())]))  # noqa: S314 (our own)

    first, second = root.iter(f"{SVG}polyline")
    places = [tuple(map(float, place.split(","))) for place in first.get("points", "").split()]
    assert len(places) == 3
    assert places[0][0] < places[1][0] < places[2][0]
    assert places[0][1] > places[2][1]  # down is large in SVG
    assert second.get("points") == ""


@pytest.mark.parametrize(
    ("value", "text"),
    [(0, "0"), (0.25, "0.2"), (7, "7"), (950, "950"), (1234, "1.2k"), (34_400_000, "34M"), (2e9, "2.0G")],
)
def test_figures_of_the_scale_are_short(value: float, text: str) -> None:
    assert shortened(value) == text
