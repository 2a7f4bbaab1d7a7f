"""tools/bench/README.md compares crawlers by figures that come out again."""

from pathlib import Path

import pytest

from tests.capabilities.traps.comparison import MOST, RULES, requested
from tests.capabilities.traps.crawl import crawled
from tests.capabilities.traps.sites import HONEST, TRAPS, reachable

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("real_redis"), pytest.mark.long]

PAGE = Path(__file__).resolve().parents[3] / "tools" / "bench" / "README.md"


def test_requests_on_sites_with_a_trap() -> None:
    lines = [f"| trap | this crawler | {' | '.join(RULES)} |", "|---|" + "--:|" * (1 + len(RULES))]
    for name, site in TRAPS.items():
        others = [len(requested(site, rule)) for rule in RULES.values()]
        figures = [crawled(site, MOST).requests, *others]
        lines.append(f"| {name} | {' | '.join('endless' if each >= MOST else f'{each:,}' for each in figures)} |")
    assert "\n".join(lines) in PAGE.read_text(), "\n".join(lines)


def test_lost_pages_of_honest_sites() -> None:
    lines = [f"| site | pages | this crawler | {' | '.join(RULES)} |", "|---|" + "--:|" * (2 + len(RULES))]
    for name, site in HONEST.items():
        pages = reachable(site)
        fetched = [crawled(site, MOST).fetched, *(requested(site, rule) for rule in RULES.values())]
        lines.append(f"| {name} | {len(pages):,} | {' | '.join(f'{len(pages - each):,}' for each in fetched)} |")
    assert "\n".join(lines) in PAGE.read_text(), "\n".join(lines)
