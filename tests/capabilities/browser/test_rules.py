"""What a rendered page may request, and when its browser is replaced."""

import pytest

from crawler.capabilities.browser.rules import (
    BrowserLimits,
    RenderChoices,
    is_listed,
    layout_shift,
    why_blocked,
    why_replace,
)


@pytest.mark.parametrize(
    ("host", "entry", "expected"),
    [
        ("example.org", "example.org", True),
        ("EXAMPLE.org.", "example.ORG", True),
        ("www.example.org", "example.org", False),
        ("www.example.org", "*.example.org", True),
        ("a.b.example.org", "*.example.org", True),
        ("example.org", "*.example.org", True),
        ("badexample.org", "*.example.org", False),
        ("example.org", "", False),
    ],
)
def test_a_host_is_listed_by_its_name_or_that_of_a_host_above(host: str, entry: str, expected: bool) -> None:
    assert is_listed(host, ["other.example", entry]) is expected


@pytest.mark.parametrize(
    ("kind", "host", "expected"),
    [
        ("script", "", ""),
        ("image", "", "blocked: image"),
        ("ping", "", "blocked: ping"),  # in any crawl
        ("script", "ads.example", "blocked: ads.example"),
        ("script", "cdn.example", ""),
    ],
)
def test_a_request_is_blocked_by_its_kind_or_its_host(kind: str, host: str, expected: str) -> None:
    assert why_blocked(RenderChoices(blocked_hosts=("*.ads.example",)), kind, host) == expected


def test_images_may_be_wanted() -> None:
    assert why_blocked(RenderChoices(blocked_kinds=()), "image", "") == ""


@pytest.mark.parametrize(
    ("pages", "mb", "expected"),
    [(0, 0, ""), (19, 100, ""), (20, 100, "it has had 20 pages"), (1, 2001, "it uses 2001 MB"), (1, 2000, "")],
)
def test_a_browser_is_replaced_after_its_pages_or_with_its_memory(pages: int, mb: float, expected: str) -> None:
    assert why_replace(BrowserLimits(pages=20, mb=2000), pages, mb) == expected


@pytest.mark.parametrize(
    ("shifts", "expected"),
    [
        ([], 0.0),
        ([(100, 0.1), (200, 0.1)], 0.2),
        ([(100, 0.1), (1200, 0.1)], 0.1),  # a second without a shift ends a window
        ([(n * 900, 0.1) for n in range(8)], 0.6),  # and so do five seconds
    ],
)
def test_the_layout_shift_is_that_of_the_worst_five_seconds(shifts: list[tuple[float, float]], expected: float) -> None:
    assert layout_shift(shifts) == pytest.approx(expected)
