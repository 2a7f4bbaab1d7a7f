"""Bounds of URLs that need no reading."""

import pytest

from crawler.capabilities.traps import bounds
from crawler.capabilities.traps.bounds import Bound, bound_of, may_exceed
from crawler.core.pages.traps import TrapReason

SITE = "https://example.com"
DEEP = "/" + "/".join(f"s{number}" for number in range(bounds.MAX_SEGMENTS + 1))
LONG = f"/login?next={'x' * bounds.LONG_URL}"
LONG_PARENT = f"{SITE}/login?next={'x' * bounds.LONG_PARENT}"


@pytest.mark.parametrize(
    ("path", "depth", "parent", "bound"),
    [
        (DEEP, 1, f"{SITE}/", Bound(TrapReason.LONGER, "example.com/s0…")),
        (LONG, 1, LONG_PARENT, Bound(TrapReason.LONGER, "example.com/login…")),
        (LONG, 1, f"{SITE}/", None),
        ("/a/7?page=9&x=1", 1001, f"{SITE}/", Bound(TrapReason.SERIES, "example.com/a/*?page=*&x=*", 5000)),
        ("/a/b", 1001, f"{SITE}/", Bound(TrapReason.SERIES, "example.com/a/*", 5000)),
        ("/a/b", 1000, f"{SITE}/", None),
    ],
)
def test_a_url_exceeds_a_bound(path: str, depth: int, parent: str, bound: Bound | None) -> None:
    assert bound_of(SITE + path, depth, parent) == bound
    assert may_exceed(SITE + path, depth) or bound is None


def test_ordinary_urls_are_not_looked_at() -> None:
    assert not may_exceed(f"{SITE}/a/b/c?page=3", 20)
